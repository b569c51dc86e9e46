//! Errors in declarations. A default is parsed when it is used, so an invalid one would be found by
//! a user; a test that calls [`faults`] finds it first.

use crate::diagnostic::Diagnostics;
use crate::reader::{Bounded, FromConfig, Reader};
use crate::schema::prose;
use crate::section::Section;
use crate::shape::{Declaration, Field, Literal, Shape};
use crate::source::Sources;
use crate::source::Span;

/// Returns the errors in the declaration of a document and of all sections in it: invalid defaults
/// and bounds, defaults out of bounds, short forms without a directive, and missing documentation.
pub fn faults<S: Section>() -> Vec<String> {
    let mut faults = Vec::new();
    check_section(S::declaration(), &mut Vec::new(), &mut faults);
    faults
}

fn check_section(
    section: &'static Declaration,
    checked: &mut Vec<&'static Declaration>,
    faults: &mut Vec<String>,
) {
    if checked.iter().any(|one| std::ptr::eq(*one, section)) {
        return;
    }
    checked.push(section);
    let name = section.name;
    if section.short.is_some() && section.short_field().is_none() {
        faults.push(format!("{name} is short for a directive that it does not have"));
    }
    if prose(section.doc).is_empty() {
        faults.push(format!("{name} has no documentation"));
    }
    let undocumented = section.fields.iter();
    let undocumented = undocumented.filter(|field| prose(field.doc).is_empty());
    faults
        .extend(undocumented.map(|field| format!("{name}.{} has no documentation", field.name())));
    for field in section.fields {
        for fault in (field.check)(field, name) {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        if let Some(inner) = section_of(&(field.shape)()) {
            check_section(inner, checked, faults);
        }
    }
}

fn section_of(shape: &Shape) -> Option<&'static Declaration> {
    match shape {
        Shape::Section(section) => Some(section),
        Shape::List(element) | Shape::Named(element) => section_of(element),
        Shape::Either(shapes) => shapes.iter().find_map(section_of),
        _ => None,
    }
}

/// Returns the errors in the default of a directive.
#[doc(hidden)]
pub fn check_default<T: FromConfig>(field: &Field, section: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(default) = &field.default {
        read_literal::<T>(field, section, default, &mut faults);
    }
    faults
}

/// Returns the errors in the default and the bounds of a directive.
#[doc(hidden)]
pub fn check_bounds<T: Bounded>(field: &Field, section: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut read = |literal| read_literal::<T::Bound>(field, section, literal, &mut faults);
    let bounds = field.bounds.as_ref();
    let bounds = bounds.and_then(|(low, high)| read(low).zip(read(high)));
    let default = field.default.as_ref();
    let default =
        default.and_then(|default| read_literal::<T>(field, section, default, &mut faults));
    let name = field.name();
    if let Some((low, high)) = bounds {
        if low.is_outside(&low, &high) {
            faults.push(format!("{section}.{name}: the bounds are the wrong way round"));
        }
        if default.is_some_and(|default| default.is_outside(&low, &high)) {
            faults.push(format!("{section}.{name}: the default is out of bounds"));
        }
    }
    faults
}

fn read_literal<T: FromConfig>(
    field: &Field,
    section: &str,
    literal: &Literal,
    faults: &mut Vec<String>,
) -> Option<T> {
    let (sources, mut findings) = (Sources::default(), Diagnostics::new());
    let mut reader = Reader::new(&sources, &|_| None, &mut findings);
    let value = reader.within(field.name(), |reader| reader.declared::<T>(literal, Span::NOWHERE));
    let text = literal.text();
    let messages = findings.iter().map(|finding| &finding.message);
    faults.extend(messages.map(|message| format!("{section}: `{text}`: {message}")));
    if value.is_none() && findings.is_empty() {
        faults.push(format!("{section}.{}: `{text}` is not a TOML value", field.name()));
    }
    value
}
