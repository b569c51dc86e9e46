//! The types of directives that are not particular to one of them.

mod address;
mod auto;
mod list;
mod named;
mod number;
mod path;
mod secret;
mod size;
mod text;
mod time;

pub use auto::Auto;
pub use named::{Name, Named};
pub use path::Path;
pub use secret::Secret;
pub use size::Size;
pub use text::{FromText, Text};
pub use time::Time;
