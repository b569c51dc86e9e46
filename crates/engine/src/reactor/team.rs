//! Several reactors on one listener: who takes a new connection.
//!
//! The kernel wakes any sleeping reactor, and in a burst one of them accepts most of the queue. So
//! a reactor with clearly more connections than another passes a new one on, as one mailbox item.
//! This keeps the cores evenly loaded without a lock for each accepted connection.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::mailbox::Mailbox;
use crate::listener::Endpoint;

/// A connection that is passed to another reactor.
#[derive(Debug)]
pub(super) struct Handover {
    pub(super) fd: OwnedFd,
    pub(super) peer: Option<SocketAddr>,
    pub(super) listener: Arc<Endpoint>,
}

/// One reactor as seen by the others.
#[derive(Debug)]
pub(super) struct Member<M> {
    pub(super) mailbox: Arc<Mailbox<M>>,
    /// Its open connections, and those being passed to it.
    pub(super) open: Arc<AtomicUsize>,
}

/// The membership of a reactor in a [`Team`].
#[derive(Debug)]
pub struct Membership<M>(pub(super) Member<M>);

impl<M> Membership<M> {
    /// Returns the number of open connections of the reactor, and those being passed to it, as a
    /// live counter.
    pub fn load(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0.open)
    }
}

/// The reactors that accept from the same listeners. Set once, when all of them exist.
#[derive(Debug)]
pub struct Team<M>(Arc<OnceLock<Vec<Member<M>>>>);

impl<M> Clone for Team<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> Default for Team<M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

/// This many connections more than the idlest reactor are not an imbalance.
const SLACK: usize = 2;

impl<M> Team<M> {
    /// Sets the members, once all of them exist. Until then each keeps what it accepts.
    pub fn assemble(&self, members: impl IntoIterator<Item = Membership<M>>) {
        let members = members.into_iter().map(|membership| membership.0).collect();
        // Set twice only if it is called twice; the first call wins.
        let _ = self.0.set(members);
    }

    /// Returns the member that should get a new connection instead of one that has `own` of them,
    /// if any.
    pub(super) fn least_loaded(&self, own: usize) -> Option<&Member<M>> {
        let members = self.0.get()?;
        let load = |member: &&Member<M>| member.open.load(Ordering::Relaxed);
        let idlest = members.iter().min_by_key(load)?;
        (own > idlest.open.load(Ordering::Relaxed) + SLACK).then_some(idlest)
    }
}
