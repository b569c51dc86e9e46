//! The sockets of a plan. They are bound before privileges are dropped, and live as long as plans
//! name them.

use vervet_config::{Diagnostic, Diagnostics};
use vervet_engine::listener::{Inherited, ListenAddress, ListenOptions, Listener, ListenerKey};

use crate::plan::{Plan, PlannedListener};

/// A listener as a plan names it, and what the engine knows it by.
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
    /// Binds all of them, or says which cannot be bound.
    pub fn bind(plan: &Plan, inherited: &mut Inherited) -> Result<Self, Diagnostics> {
        let mut sockets = Self::default();
        let mut found = Diagnostics::new();
        for (number, planned) in plan.listeners.iter().enumerate() {
            let key = ListenerKey(u32::try_from(number).unwrap_or(u32::MAX));
            match open(planned, key, inherited) {
                Ok(listener) => sockets.listeners.push(listener),
                Err(problem) => found.push(problem),
            }
            sockets.named.push(Named::new(planned, key));
        }
        if found.is_empty() { Ok(sockets) } else { Err(found) }
    }

    /// What the engine is to know the listeners by, in the order of the plan.
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

/// One socket; its directive is named where it cannot be bound.
pub(super) fn open(
    planned: &PlannedListener,
    key: ListenerKey,
    inherited: &mut Inherited,
) -> Result<Listener, Diagnostic> {
    let options = ListenOptions { key, ..planned.options.clone() };
    Listener::open(&planned.address, &options, inherited)
        .map_err(|error| Diagnostic::error(planned.span, error.to_string()))
}
