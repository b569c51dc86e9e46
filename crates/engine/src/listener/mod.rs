//! Listeners: addresses, sockets that are bound or inherited, and their options.

mod address;
mod bind;
mod endpoint;
mod error;
mod inherited;
mod options;
mod unix;

pub use address::{AddressError, ListenAddress, UNIX_PATH_BYTES_MAX};
pub use bind::Listener;
pub use endpoint::{Endpoint, ListenerKey};
pub use error::BindError;
pub use inherited::{INHERITED_MAX, Inherited};
pub use options::{BACKLOG, ListenOptions};
