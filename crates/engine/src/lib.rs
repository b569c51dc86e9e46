//! The pollable HTTP engine: a server that any event loop can drive.
//!
//! [`Engine`] starts reactors on threads; [`reactor::Reactor`] with [`connection::Http`] is what
//! runs in each.

pub mod capacity;
pub mod carrier;
pub mod connection;
pub mod counters;
mod engine;
pub mod exchange;
mod executor;
pub mod gate;
pub mod limits;
pub mod listener;
pub mod pipe;
pub mod proxy_protocol;
pub mod reactor;
pub mod response;
#[cfg(feature = "tower")]
pub mod tower_adapter;
pub mod wheel;

pub use carrier::Carrier;
pub use engine::{Builder, Engine, EngineControl, EngineError, Running};
pub use exchange::{Admit, Exchange, Outcome, Responder, Resume, Service};
pub use executor::Spawner;
pub use response::{Content, Piece, Response};
pub use vervet_http as http;
