//! The sockets of one listener: one shared by all reactors, or one for each.

use std::sync::{Arc, Weak};

use crate::listener::{BindError, Endpoint, ListenOptions, Listener};

/// The sockets of one listener, in the order of the reactors.
pub(super) struct Group {
    sockets: Vec<Arc<Listener>>,
}

impl Group {
    /// Binds further sockets for the other reactors, if each has a socket of its own.
    pub(super) fn open(listener: Listener, reactors: usize) -> Result<Group, BindError> {
        let others: Result<Vec<_>, _> = (1..reactors)
            .map_while(|_| listener.another())
            .map(|socket| socket.map(Arc::new))
            .collect();
        let mut sockets = others?;
        sockets.insert(0, Arc::new(listener));
        Ok(Group { sockets })
    }

    /// Returns the same sockets with other options.
    pub(super) fn changed(&self, options: &ListenOptions) -> Result<Group, BindError> {
        let sockets = self.sockets.iter();
        let sockets: Result<Vec<_>, _> = sockets
            .map(|socket| socket.changed(options).map(Arc::new))
            .collect();
        Ok(Group { sockets: sockets? })
    }

    /// Returns the socket of the reactor with this number.
    pub(super) fn socket(&self, reactor: usize) -> Arc<Listener> {
        let own = self.sockets.get(reactor);
        Arc::clone(own.unwrap_or(&self.sockets[0]))
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        self.sockets[0].endpoint()
    }

    /// Returns weak references to the sockets.
    pub(super) fn downgrade(&self) -> WeakGroup {
        WeakGroup {
            endpoint: Arc::clone(self.endpoint()),
            sockets: self.sockets.iter().map(Arc::downgrade).collect(),
        }
    }
}

/// Weak references to the sockets of a listener: only the reactors keep them open.
pub(super) struct WeakGroup {
    pub(super) endpoint: Arc<Endpoint>,
    sockets: Vec<Weak<Listener>>,
}

impl WeakGroup {
    /// Returns whether a reactor still listens on it.
    pub(super) fn is_open(&self) -> bool {
        self.sockets.iter().any(|socket| socket.strong_count() > 0)
    }

    /// Returns the sockets, if all of them are still open.
    pub(super) fn group(&self) -> Option<Group> {
        let sockets = self.sockets.iter().map(Weak::upgrade);
        let sockets: Option<Vec<_>> = sockets.collect();
        sockets.map(|sockets| Group { sockets })
    }

    /// Returns the socket of the reactor with this number, if it is still open.
    pub(super) fn socket(&self, reactor: usize) -> Option<Arc<Listener>> {
        let own = self.sockets.get(reactor).or(self.sockets.first())?;
        own.upgrade()
    }
}
