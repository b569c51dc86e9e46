//! The configuration of Vervet: TOML to typed sections, with every mistake at its place. No I/O, no
//! clock.
//!
//! A directive is declared once, as a field of a [`section!`], in the file that obeys it: its
//! documentation, its type, its default and its bounds. What reads it, and what speaks of it,
//! follows from that.
//!
//! - [`Documents`] takes files, variables and flags from the caller and gives a [`Reading`]: the
//!   root section, or all [`Diagnostics`] at once, as text ([`render_text`]) and as JSON
//!   ([`render_json`]).
//! - Each field is a [`Setting`]: a value with its [`Origin`] and its [`Span`]. [`show_text`] and
//!   [`show_json`] print them.
//! - A type is usable in a section when it implements [`FromConfig`], or [`FromText`] when it is
//!   written as text; an enumeration of words is declared by [`words!`].
//! - [`schema()`], [`reference()`] and [`manual()`] are made from the declarations, and
//!   [`faults()`] finds what is wrong with the declarations themselves.

mod diagnostic;
mod document;
mod expand;
mod faults;
mod parse;
mod reader;
mod reference;
mod render;
mod schema;
mod section;
mod setting;
mod shape;
mod show;
mod source;
mod tree;
mod value;
mod words;

pub use diagnostic::{Diagnostic, Diagnostics, Note, Severity, cited, did_you_mean, nearest};
pub use document::{Documents, ENVIRONMENT_PREFIX, FILES_MAX, Include, Reading, read_text};
pub use faults::{check_bounds, check_default, faults};
pub use parse::DEPTH_MAX;
pub use reader::{Bounded, FromConfig, Reader};
pub use reference::{Page, manual, reference};
pub use render::{Style, render_json, render_text};
pub use schema::{DIALECT, schema};
pub use section::{
    Fields, Section, UNKNOWN_MAX, absent_section, plain_name, read_section, show_field,
};
pub use setting::{Origin, Setting};
pub use shape::{
    Bounds, Declaration, Field, Literal, SectionPath, Shape, TextShape, Word, section_paths,
};
pub use show::{Shown, ShownEntry, show_json, show_text, toml_key, toml_string};
pub use source::{Position, SOURCE_BYTES_MAX, Source, SourceId, SourceKind, Sources, Span};
pub use tree::{DirectiveEntry, Key, ListForm, Node, Table, TableForm, Value};
pub use value::{FromText, Name, Named, Path, Secret, Size, Text, Time};
pub use words::read_word;
