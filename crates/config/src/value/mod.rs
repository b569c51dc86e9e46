//! The types of directives that several sections use.

mod collection;
mod number;
mod quantity;
mod text;

pub use collection::{Name, Named};
pub use quantity::{Size, Time};
pub use text::{FromText, Path, Secret, Text};
