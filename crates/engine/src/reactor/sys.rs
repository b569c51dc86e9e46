//! The system calls that no safe crate offers, each wrapped in a safe function. The only `unsafe`
//! of this crate.
#![allow(unsafe_code, reason = "the one place for it; a few calls, each with its argument")]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::{ptr, slice};

use rustix::event::{Timespec, epoll::Event};
use rustix::io::Errno;
use rustix::net::sockopt::socket_acceptconn;
#[cfg(feature = "tokio")]
use tokio::io::{Interest, unix::AsyncFd};

/// Descriptors below this one are the standard streams and never adopted.
const FIRST_ADOPTABLE: RawFd = 3;

/// `TCP_DEFER_ACCEPT`: a connection is accepted with its first bytes, or after about `seconds`. 0
/// turns it off.
pub(crate) fn set_tcp_defer_accept(socket: BorrowedFd<'_>, seconds: u32) -> io::Result<()> {
    set_tcp_option(socket, libc::TCP_DEFER_ACCEPT, seconds)
}

/// `TCP_FASTOPEN`: requests may come with the SYN; at most `queue` such connections wait for their
/// handshake.
pub(crate) fn set_tcp_fastopen(socket: BorrowedFd<'_>, queue: u32) -> io::Result<()> {
    set_tcp_option(socket, libc::TCP_FASTOPEN, queue)
}

/// `IP_BIND_ADDRESS_NO_PORT`: the port is chosen when the socket connects, not when it is bound, so
/// that one port can serve connections to several peers.
pub(crate) fn bind_without_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &on)
}

fn set_tcp_option(socket: BorrowedFd<'_>, option: libc::c_int, value: u32) -> io::Result<()> {
    let value = libc::c_int::try_from(value).map_err(|_| io::ErrorKind::InvalidInput)?;
    set_option(socket, libc::IPPROTO_TCP, option, &value)
}

/// Makes a listening TCP socket ignore SYN: no new handshakes begin, those in progress complete.
pub(crate) fn drop_handshakes(socket: BorrowedFd<'_>) -> io::Result<()> {
    /// Instructions of `linux/bpf_common.h`: load a byte of the packet, jump by a mask, return.
    const LOAD_BYTE: u16 = 0x30;
    const JUMP_IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    /// Offset of the flags in a TCP header, and the flag (RFC 9293 §3.1).
    const FLAGS_OFFSET: u32 = 13;
    const SYN: u32 = 0x02;
    const LENGTH: u16 = 4;
    let instruction = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut program: [libc::sock_filter; LENGTH as usize] = [
        instruction(LOAD_BYTE, 0, 0, FLAGS_OFFSET),
        instruction(JUMP_IF_SET, 0, 1, SYN),
        instruction(RETURN, 0, 0, 0),
        instruction(RETURN, 0, 0, u32::MAX),
    ];
    let filter = libc::sock_fprog { len: LENGTH, filter: program.as_mut_ptr() };
    set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)
}

fn set_option<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length =
        libc::socklen_t::try_from(size_of::<T>()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the pointer and the length describe `value`, which outlives the call and is only
    // read. What a `sock_fprog` points to lives in the caller, with the length it states; the
    // kernel copies and verifies it.
    outcome(unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, ptr::from_ref(value).cast(), length)
    })
}

/// `epoll_pwait2`: waits for events until this time has passed, which it takes in nanoseconds. The
/// events replace those in the buffer, up to its capacity.
pub(crate) fn epoll_pwait2(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<Event>,
    time: &Timespec,
) -> Result<usize, Errno> {
    const {
        // `struct __kernel_timespec`, and `struct epoll_event`.
        assert!(
            size_of::<Timespec>() == 16 && size_of::<Event>() == size_of::<libc::epoll_event>()
        );
    }
    events.clear();
    let room = libc::c_int::try_from(events.capacity()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the buffer has room for so many events, and nothing else is written. The kernel reads
    // `time`, which has the layout of its own type, and no signal mask.
    let count = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            room,
            ptr::from_ref(time),
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
    let Ok(count) = usize::try_from(count) else {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
    };
    // SAFETY: the kernel has written so many events, which are within the capacity.
    unsafe { events.set_len(count) };
    Ok(count)
}

/// Takes over a listening socket that a parent process announced by its number. Any other open
/// descriptor is an error and stays with its owner.
pub(crate) fn adopt_listening(number: RawFd) -> io::Result<OwnedFd> {
    if number < FIRST_ADOPTABLE {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: no pointer is passed; a number that is not open gives EBADF.
    outcome(unsafe { libc::fcntl(number, libc::F_GETFD) })?;
    // SAFETY: the number is open, as just seen, and not -1.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    if !socket_acceptconn(borrowed)? {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the number is an open listening socket, and no value of this process owns it: sockets
    // opened here are never named by a number, and inherited ones have no owner until they are
    // taken here, by a caller that takes each once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Unmaps the resident pages of all loaded code; code that runs again is read from the kernel's
/// page cache.
pub(crate) fn release_code_pages() {
    // SAFETY: the callback has the required type and does not read through the passed pointer.
    unsafe { libc::dl_iterate_phdr(Some(release_code_pages_of), ptr::null_mut()) };
}

/// Unmaps the code of one program or library.
unsafe extern "C" fn release_code_pages_of(
    object: *mut libc::dl_phdr_info,
    _bytes: libc::size_t,
    _nothing: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: `dl_iterate_phdr` describes a loaded object for the length of this call, with so many
    // headers at its table.
    let (base, headers) = unsafe {
        let object = &*object;
        let headers = slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
        (object.dlpi_addr, headers)
    };
    let page = rustix::param::page_size() as u64;
    for header in headers {
        let access = header.p_flags & (libc::PF_X | libc::PF_W);
        if header.p_type != libc::PT_LOAD || access != libc::PF_X {
            continue;
        }
        let start = (base + header.p_vaddr) & !(page - 1);
        let end = (base + header.p_vaddr + header.p_memsz) & !(page - 1);
        let bytes = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
        // SAFETY: whole pages of a segment that is executed and never written equal those of its
        // file, from which the kernel reads them again. The segment stays mapped during the call:
        // the loader holds its lock.
        let _ = unsafe { libc::madvise(start as *mut libc::c_void, bytes, libc::MADV_DONTNEED) };
    }
    0
}

fn outcome(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Registers a descriptor for reading with the tokio runtime of this thread.
#[cfg(feature = "tokio")]
pub(crate) fn watch_for_reading(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd is a valid descriptor that stays open, for the same file, until it is
    // dropped; the AsyncFd owns it and gives out no way to replace it here.
    unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }
        .map_err(io::Error::from)
}
