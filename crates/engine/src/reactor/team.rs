//! Several reactors on one listener: who takes a new connection.
//!
//! The kernel wakes whichever reactor sleeps, and under a burst one of them accepts most of the queue. So a
//! reactor that has clearly more connections than another passes a new one on, by one letter. Rules out the
//! uneven cores that a shared listener is known for, without a lock on the way.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::mailbox::Mailbox;
use crate::listener::Endpoint;

/// A connection on its way to another reactor.
#[derive(Debug)]
pub(super) struct Passed {
    pub(super) fd: OwnedFd,
    pub(super) peer: Option<SocketAddr>,
    pub(super) listener: Arc<Endpoint>,
}

/// One reactor as the others see it.
#[derive(Debug)]
pub(super) struct Member<M> {
    pub(super) mailbox: Arc<Mailbox<M>>,
    /// Connections it has now, and those on their way to it.
    pub(super) open: Arc<AtomicUsize>,
}

/// A reactor's place in a [`Team`].
#[derive(Debug)]
pub struct Membership<M>(pub(super) Member<M>);

impl<M> Membership<M> {
    /// Connections that the reactor has now, and those on their way to it; goes on counting.
    pub fn load(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0.open)
    }
}

/// The reactors that accept from the same listeners. Filled once, when all of them exist.
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

/// So many connections more than the idlest are no imbalance yet.
const SLACK: usize = 2;

impl<M> Team<M> {
    /// Says who they are, once all of them exist. Until then each keeps what it accepts.
    pub fn assemble(&self, members: impl IntoIterator<Item = Membership<M>>) {
        let members = members.into_iter().map(|membership| membership.0).collect();
        // Filled twice only if somebody assembles twice; the first stands.
        let _ = self.0.set(members);
    }

    /// The member that should have a new connection instead of one that has `own` of them; `None`: none.
    pub(super) fn idler(&self, own: usize) -> Option<&Member<M>> {
        let members = self.0.get()?;
        let load = |member: &&Member<M>| member.open.load(Ordering::Relaxed);
        let idlest = members.iter().min_by_key(load)?;
        (own > idlest.open.load(Ordering::Relaxed) + SLACK).then_some(idlest)
    }
}
