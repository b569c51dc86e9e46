//! Values on their way back to a document: what `config show` prints.

use crate::setting::Origin;

/// A value as a document would give it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A directive that is not given and has no default.
    Nothing,
    /// Text, without quotes.
    Text(String),
    /// Text that is not to be seen.
    Hidden,
    /// A number.
    Integer(i128),
    /// A number with a fraction.
    Number(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// Several values.
    List(Vec<Shown>),
    /// A section, or a table of named ones.
    Table(Vec<ShownEntry>),
}

/// One directive of a section, or one name of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownEntry {
    /// Its name.
    pub name: String,
    /// Who said so; nobody for a name of a table, whose directives have their own origins.
    pub origin: Option<Origin>,
    /// Its value.
    pub value: Shown,
}
