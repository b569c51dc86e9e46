//! The smallest proof that any event loop can carry the engine: four functions of the C calling
//! convention around one reactor with a fixed answer. Watch [`vervet_poll_fd`] for reading, call
//! [`vervet_poll_turn`] when it is readable. The library for C programs, with handlers, is another
//! crate.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

use vervet_engine::connection::{Http, HttpOptions};
use vervet_engine::counters::Counters;
use vervet_engine::gate::Gate;
use vervet_engine::limits::Limits;
use vervet_engine::listener::{ListenOptions, Listener};
use vervet_engine::reactor::{Overload, Reactor, ReactorOptions, Tuning};
use vervet_engine::{Exchange, Outcome, Response};

type Handler = fn(Exchange<'_>) -> Outcome;

/// One server: a reactor with a listener.
pub struct Server {
    reactor: Reactor<Http<Handler>>,
    port: u16,
}

// A handler takes its exchange whole, whatever it needs of it.
#[allow(clippy::needless_pass_by_value)]
fn answer(exchange: Exchange<'_>) -> Outcome {
    let target = String::from_utf8_lossy(exchange.head().target).into_owned();
    Response::text(format!("carried by a foreign loop: {target}\n")).into()
}

fn open(address: &str) -> Option<Server> {
    let listener = Listener::bind(&address.parse().ok()?, &ListenOptions::default()).ok()?;
    let port = listener.local_address()?.port();
    let counters = Arc::new(Counters::default());
    let limits = Limits::default();
    let options = ReactorOptions {
        gate: Arc::new(Gate::of_engine(&limits, 1)),
        overload: Overload::Reject,
        tuning: Tuning::from(&limits),
        counters: Arc::clone(&counters),
    };
    let mut reactor = Reactor::new(options, |mailbox, spawner| {
        let http = Arc::new(HttpOptions::default());
        Http::new(answer as Handler, http, counters, mailbox, spawner)
    })
    .ok()?;
    reactor.listen(Arc::new(listener)).ok()?;
    Some(Server { reactor, port })
}

/// Opens a server on an address such as `127.0.0.1:0`. Null when that fails.
///
/// # Safety
/// `address` is null or a text that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vervet_poll_open(address: *const c_char) -> *mut Server {
    if address.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: not null, and the caller promises a zero byte at the end.
    let address = unsafe { CStr::from_ptr(address) };
    let server = address.to_str().ok().and_then(open);
    server.map_or(std::ptr::null_mut(), |server| Box::into_raw(Box::new(server)))
}

/// The descriptor to watch for reading.
///
/// # Safety
/// `server` comes from [`vervet_poll_open`] and was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vervet_poll_fd(server: *const Server) -> c_int {
    // SAFETY: the caller promises a live server.
    let server = unsafe { &*server };
    server.reactor.as_fd().as_raw_fd()
}

/// The port listened on.
///
/// # Safety
/// As for [`vervet_poll_fd`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vervet_poll_port(server: *const Server) -> c_int {
    // SAFETY: the caller promises a live server.
    c_int::from(unsafe { &*server }.port)
}

/// Takes one turn. Returns the number of events, or -1 if the reactor has become unusable.
///
/// # Safety
/// As for [`vervet_poll_fd`], and no other call for the same server is in progress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vervet_poll_turn(server: *mut Server) -> c_int {
    // SAFETY: the caller promises a live server that is not used elsewhere during the call.
    let server = unsafe { &mut *server };
    match server.reactor.turn() {
        Ok(turn) => c_int::try_from(turn.events).unwrap_or(c_int::MAX),
        Err(_) => -1,
    }
}

/// Closes the server.
///
/// # Safety
/// As for [`vervet_poll_turn`]; `server` is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vervet_poll_close(server: *mut Server) {
    if !server.is_null() {
        // SAFETY: it was made by Box::into_raw, and the caller gives it up.
        drop(unsafe { Box::from_raw(server) });
    }
}
