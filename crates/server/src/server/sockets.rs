//! The sockets of a plan. They are bound before privileges are dropped, and live as long as plans
//! name them.

use vervet_config::{Diagnostic, Diagnostics};
use vervet_engine::listener::{
    BindError, Inherited, ListenAddress, ListenOptions, Listener, ListenerKey,
};

use crate::plan::{Plan, PlannedListener};

/// A listener of a plan, and its key in the engine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) address: ListenAddress,
    /// Without the key.
    pub(super) options: ListenOptions,
    pub(super) key: ListenerKey,
}

/// The sockets of the first plan.
#[derive(Debug, Default)]
pub struct Sockets {
    pub(super) named: Vec<Named>,
    pub(super) listeners: Vec<Listener>,
}

impl Sockets {
    /// Binds all sockets, or returns an error for each that cannot be bound.
    pub fn bind(plan: &Plan, inherited: &mut Inherited) -> Result<Self, Diagnostics> {
        let mut sockets = Self::default();
        let mut found = Diagnostics::new();
        for (number, planned) in plan.listeners.iter().enumerate() {
            let key = ListenerKey(u32::try_from(number).unwrap_or(u32::MAX));
            match open(planned, key, inherited) {
                Ok(listener) => sockets.listeners.push(listener),
                Err(error) => found.push(Diagnostic::error(planned.span, error.to_string())),
            }
            sockets.named.push(Named::new(planned, key));
        }
        if found.is_empty() { Ok(sockets) } else { Err(found) }
    }

    /// The keys of the listeners in the engine, in the order of the plan.
    pub fn keys(&self) -> Vec<ListenerKey> {
        self.named.iter().map(|named| named.key).collect()
    }
}

impl Named {
    pub(super) fn new(planned: &PlannedListener, key: ListenerKey) -> Self {
        Self {
            name: planned.name.clone(),
            address: planned.address.clone(),
            options: planned.options.clone(),
            key,
        }
    }
}

/// Opens one socket.
pub(super) fn open(
    planned: &PlannedListener,
    key: ListenerKey,
    inherited: &mut Inherited,
) -> Result<Listener, BindError> {
    let options = ListenOptions { key, ..planned.options.clone() };
    Listener::open(&planned.address, &options, inherited)
}
