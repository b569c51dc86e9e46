//! From the options to listeners: what was typed, what a parent left, or the default.

use vervet_server::engine::Builder;
use vervet_server::engine::listener::{
    BindError, Inherited, ListenAddress, ListenOptions, Listener,
};

use super::arguments::{ListenArguments, SocketArguments};
use crate::failure::Failure;
use crate::unasked::{DEFAULT_PORT, Unasked, local};

/// A listener to be, and what to say of it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) address: ListenAddress,
    /// Where it comes from, when that is not plain: `(...)` behind the address.
    pub(super) note: Option<String>,
}

/// Adds all listeners, and gives their notes in the same order.
pub(super) fn listen(
    mut builder: Builder,
    arguments: &ListenArguments,
    sockets: &SocketArguments,
) -> Result<(Builder, Vec<Option<String>>), Failure> {
    let options = options(arguments, sockets);
    let variable = |name: &str| std::env::var(name).ok();
    let mut inherited = Inherited::from_environment(&variable, std::process::id())?;
    let places = if arguments.listen.is_empty() {
        unasked(&inherited)?
    } else {
        let typed = arguments.listen.iter().cloned();
        typed
            .map(|address| Place {
                address,
                note: None,
            })
            .collect()
    };
    let mut notes = Vec::new();
    for place in places {
        builder = if place.address.is_inherited() {
            builder.adopt(Listener::open(&place.address, &options, &mut inherited)?)
        } else {
            builder.listen_with(&place.address, &options)?
        };
        notes.push(place.note);
    }
    Ok((builder, notes))
}

fn options(arguments: &ListenArguments, sockets: &SocketArguments) -> ListenOptions {
    let defaults = ListenOptions::default();
    ListenOptions {
        backlog: sockets.backlog,
        reuse_port: sockets.reuse_port,
        defer_accept_s: if sockets.no_defer_accept {
            0
        } else {
            defaults.defer_accept_s
        },
        fastopen_queue: sockets.fastopen,
        congestion: sockets.congestion.clone(),
        unix_mode: arguments.unix_mode,
        proxy_protocol_from: arguments.proxy_protocol.clone(),
        ..defaults
    }
}

/// Nothing was typed.
fn unasked(inherited: &Inherited) -> Result<Vec<Place>, Failure> {
    let plain = |address| Place {
        address,
        note: None,
    };
    Ok(match Unasked::find(inherited)? {
        Unasked::Inherited(left) => {
            let left = left.into_iter();
            left.map(|(name, number)| Place {
                address: ListenAddress::Descriptor(number),
                note: Some(format!("inherited as {name}")),
            })
            .collect()
        }
        Unasked::Default => vec![default_place()?],
        port @ Unasked::Port(_) => port.addresses().into_iter().map(plain).collect(),
    })
}

/// The default port, or a free one where another program has it.
fn default_place() -> Result<Place, Failure> {
    let address = local(DEFAULT_PORT);
    // A try, closed at once: the builder binds in its own way.
    match Listener::bind(&address, &ListenOptions::default()) {
        Ok(_) => Ok(Place {
            address,
            note: None,
        }),
        Err(BindError::Address { .. }) => Ok(Place {
            address: local(0),
            note: Some(format!("port {DEFAULT_PORT} is taken")),
        }),
        Err(error) => Err(error.into()),
    }
}
