//! The types of directives that are not particular to one of them.

mod address;
mod auto;
mod list;
mod named;
mod number;
mod path;
mod quantity;
mod secret;
mod text;

pub use auto::Auto;
pub use named::{Name, Named};
pub use path::Path;
pub use quantity::{Size, Time};
pub use secret::Secret;
pub use text::{FromText, Text};
