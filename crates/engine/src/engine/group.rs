//! The sockets of one listener: one that all reactors share, or one for each of them.

use std::sync::{Arc, Weak};

use crate::listener::{BindError, Endpoint, ListenOptions, Listener};

/// The sockets of one listener, in the order of the reactors.
pub(super) struct Group {
    sockets: Vec<Arc<Listener>>,
}

impl Group {
    /// Binds what the reactors beyond the first need, where each has a socket of its own.
    pub(super) fn open(listener: Listener, reactors: usize) -> Result<Group, BindError> {
        let others: Result<Vec<_>, _> = (1..reactors)
            .map_while(|_| listener.another())
            .map(|socket| socket.map(Arc::new))
            .collect();
        let mut sockets = others?;
        sockets.insert(0, Arc::new(listener));
        Ok(Group { sockets })
    }

    /// The same sockets with other options.
    pub(super) fn changed(&self, options: &ListenOptions) -> Result<Group, BindError> {
        let sockets = self.sockets.iter();
        let sockets: Result<Vec<_>, _> = sockets
            .map(|socket| socket.changed(options).map(Arc::new))
            .collect();
        Ok(Group { sockets: sockets? })
    }

    /// The socket of the reactor of this number.
    pub(super) fn socket(&self, reactor: usize) -> Arc<Listener> {
        let own = self.sockets.get(reactor);
        Arc::clone(own.unwrap_or(&self.sockets[0]))
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        self.sockets[0].endpoint()
    }

    /// A memory of it that keeps no socket open.
    pub(super) fn entry(&self) -> Entry {
        Entry {
            endpoint: Arc::clone(self.endpoint()),
            sockets: self.sockets.iter().map(Arc::downgrade).collect(),
        }
    }
}

/// A listener as the engine remembers it: the reactors alone keep its sockets open.
pub(super) struct Entry {
    pub(super) endpoint: Arc<Endpoint>,
    sockets: Vec<Weak<Listener>>,
}

impl Entry {
    /// Whether a reactor still listens there.
    pub(super) fn is_open(&self) -> bool {
        self.sockets.iter().any(|socket| socket.strong_count() > 0)
    }

    /// The sockets themselves, if all are still there.
    pub(super) fn group(&self) -> Option<Group> {
        let sockets = self.sockets.iter().map(Weak::upgrade);
        let sockets: Option<Vec<_>> = sockets.collect();
        sockets.map(|sockets| Group { sockets })
    }

    /// The socket of the reactor of this number, if it is still there.
    pub(super) fn socket(&self, reactor: usize) -> Option<Arc<Listener>> {
        let own = self.sockets.get(reactor).or(self.sockets.first())?;
        own.upgrade()
    }
}
