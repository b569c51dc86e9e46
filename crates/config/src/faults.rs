//! Errors in declarations. A default is parsed when it is used, so an invalid one would be found by
//! a user; a test that calls [`faults`] finds it first.

use crate::diagnostic::Diagnostics;
use crate::reader::{Bounded, FromConfig, Reader};
use crate::schema::prose;
use crate::section::Section;
use crate::shape::{Declaration, Literal};
use crate::source::Sources;
use crate::source::Span;

/// Returns the errors in the declaration of a document and of all sections in it: invalid defaults
/// and bounds, defaults out of bounds, short forms without a directive, and missing documentation.
pub fn faults<S: Section>() -> Vec<String> {
    let mut faults = Faults::default();
    S::faults(&mut faults);
    faults.found
}

/// The errors found so far, and the sections that were checked.
#[derive(Debug, Default)]
pub struct Faults {
    found: Vec<String>,
    seen: Vec<&'static Declaration>,
}

impl Faults {
    /// Checks a section; `false` if it was checked before.
    pub fn enter(&mut self, declaration: &'static Declaration) -> bool {
        if self
            .seen
            .iter()
            .any(|seen| std::ptr::eq(*seen, declaration))
        {
            return false;
        }
        self.seen.push(declaration);
        let name = declaration.name;
        if declaration.short.is_some() && declaration.short_field().is_none() {
            self.found.push(format!(
                "{name} is short for a directive that it does not have"
            ));
        }
        if prose(declaration.doc).is_empty() {
            self.found.push(format!("{name} has no documentation"));
        }
        for field in declaration
            .fields
            .iter()
            .filter(|field| prose(field.doc).is_empty())
        {
            self.found
                .push(format!("{name}.{} has no documentation", field.name()));
        }
        true
    }

    /// Checks the default of a directive, and the sections in its type.
    pub fn directive<T: FromConfig>(
        &mut self,
        declaration: &'static Declaration,
        identifier: &str,
    ) {
        let field = declaration
            .fields
            .iter()
            .find(|field| field.identifier == identifier);
        if let Some(default) = field.and_then(|field| field.default.as_ref()) {
            self.literal::<T>(declaration, identifier, default);
        }
        T::faults(self);
    }

    /// Checks the bounds of a directive.
    pub fn bounds<T: Bounded>(&mut self, declaration: &'static Declaration, identifier: &str) {
        let field = declaration
            .fields
            .iter()
            .find(|field| field.identifier == identifier);
        let Some((field, (low, high))) =
            field.and_then(|field| Some((field, field.bounds.as_ref()?)))
        else {
            return;
        };
        let lowest = self.literal::<T::Bound>(declaration, identifier, low);
        let highest = self.literal::<T::Bound>(declaration, identifier, high);
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            return;
        };
        let place = format!("{}.{}", declaration.name, field.name());
        if lowest.is_outside(&lowest, &highest) {
            self.found
                .push(format!("{place}: the bounds are the wrong way round"));
        }
        let default = field.default.as_ref();
        let default =
            default.and_then(|default| self.literal::<T>(declaration, identifier, default));
        if default.is_some_and(|default| default.is_outside(&lowest, &highest)) {
            self.found
                .push(format!("{place}: the default is out of bounds"));
        }
    }

    fn literal<T: FromConfig>(
        &mut self,
        declaration: &'static Declaration,
        identifier: &str,
        literal: &Literal,
    ) -> Option<T> {
        let (sources, mut found) = (Sources::default(), Diagnostics::new());
        let mut reader = Reader::new(&sources, &|_| None, &mut found);
        let value = reader.within(identifier.to_owned(), |reader| {
            reader.declared::<T>(literal, Span::NOWHERE)
        });
        let section = declaration.name;
        for one in &found {
            let fault = format!("{section}: `{}`: {}", literal.text(), one.message);
            if !self.found.contains(&fault) {
                self.found.push(fault);
            }
        }
        if value.is_none() && found.is_empty() {
            self.found.push(format!(
                "{section}.{identifier}: `{}` is not a TOML value",
                literal.text()
            ));
        }
        value
    }
}
