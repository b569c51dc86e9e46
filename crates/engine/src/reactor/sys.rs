//! The only place of this crate for `unsafe`: calls whose contract the compiler cannot see.
#![allow(unsafe_code)]

#[cfg(feature = "tokio")]
use std::{io, os::fd::OwnedFd};

#[cfg(feature = "tokio")]
use tokio::io::{Interest, unix::AsyncFd};

/// Registers a descriptor for reading with the tokio runtime of this thread.
#[cfg(feature = "tokio")]
pub(crate) fn watch_for_reading(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd is a valid descriptor that stays open, for the same file, until it is dropped; the
    // AsyncFd owns it and gives out no way to replace it here.
    unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }
        .map_err(io::Error::from)
}
