//! Tables whose names the user chooses: `[log.main]`, `[app.web]`.

use crate::diagnostic::Diagnostic;
use crate::faults::Faults;
use crate::reader::{FromConfig, Reader};
use crate::setting::Setting;
use crate::shape::Shape;
use crate::show::{Shown, ShownEntry};
use crate::span::Span;
use crate::tree::{Node, Value};

/// A name that the user has chosen, and where.
pub type Name = Setting<String>;

/// Values under names of the user's choice, in the order of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(Vec<(Name, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter()
            .find(|(known, _)| known.as_str() == name)
            .map(|(_, value)| value)
    }

    /// Each name with its value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &T)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> FromIterator<(Name, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (Name, T)>>(iter: I) -> Self {
        Named(iter.into_iter().collect())
    }
}

impl<T: FromConfig> FromConfig for Named<T> {
    fn shape() -> Shape {
        Shape::Named(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            reader.mismatch(node, &Self::shape());
            return None;
        };
        let mut read = Vec::with_capacity(table.entries.len());
        for entry in &table.entries {
            if entry.key.name.is_empty() {
                reader.report(Diagnostic::error(entry.key.span, "a name cannot be empty"));
            }
            let at = Node {
                span: entry.key.span,
                value: Value::Broken,
            };
            let name = reader.setting(&at, entry.key.name.clone());
            let value = reader.within(entry.key.name.clone(), |reader| {
                T::read(&entry.node, reader)
            });
            // One that is wrong has been told, and is left out.
            read.extend(value.map(|value| (name, value)));
        }
        Some(Named(read))
    }

    fn show(&self) -> Shown {
        let entry = |(name, value): (&Name, &T)| ShownEntry {
            name: name.to_string(),
            origin: None,
            value: value.show(),
        };
        Shown::Table(self.iter().map(entry).collect())
    }

    fn insists() -> bool {
        false
    }

    fn absent(_: Span, _: &mut Reader<'_>) -> Option<Self> {
        Some(Named::default())
    }

    fn faults(faults: &mut Faults) {
        T::faults(faults);
    }
}
