//! Hosts, paths, methods and headers as directives, with the position of errors in them.

use std::fmt;

use vervet_config::{
    Diagnostic, FromConfig, FromText, Node, Reader, Setting, Shape, Shown, Text, TextShape, section,
};

use super::field_rule::{FieldRule, FieldTest};
use super::flaw::Flaw;
use super::hosts::HostPattern;
use super::methods::MethodSet;
use super::path_regex::PathRegex;
use super::pattern::Pattern;

/// Reads a text; a mistake is underlined where it is in the text.
fn read<T>(
    node: &Node,
    reader: &mut Reader<'_>,
    shape: &Shape,
    parse: impl FnOnce(&str) -> Result<T, Flaw>,
) -> Option<T> {
    let text = reader.text(node, shape)?;
    match parse(&text) {
        Ok(value) => Some(value),
        Err(flaw) => {
            let mut diagnostic = flaw.at(node.span, &text);
            diagnostic.message = format!("{} cannot be `{text}`: {flaw}", reader.subject());
            reader.report(diagnostic.expected(shape.phrase()));
            None
        }
    }
}

impl FromConfig for HostPattern {
    fn shape() -> Shape {
        Shape::Text(TextShape { noun: "host", example: "*.example.org", pattern: None })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read(node, reader, &Self::shape(), Self::parse)
    }

    fn show(&self) -> Shown {
        Shown::Text(self.to_string())
    }
}

impl FromConfig for Pattern {
    fn shape() -> Shape {
        Shape::Text(TextShape { noun: "path", example: "/u/:id(number)", pattern: Some("^/") })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read(node, reader, &Self::shape(), Self::parse)
    }

    fn show(&self) -> Shown {
        Shown::Text(self.as_str().to_owned())
    }
}

impl FromConfig for PathRegex {
    fn shape() -> Shape {
        Shape::Text(TextShape {
            noun: "regular expression",
            example: "^/x/(?<n>\\d+)$",
            pattern: None,
        })
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read(node, reader, &Self::shape(), Self::parse)
    }

    fn show(&self) -> Shown {
        Shown::Text(self.as_str().to_owned())
    }
}

/// The name of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodName(Box<str>);

impl FromText for MethodName {
    const SHAPE: TextShape = TextShape { noun: "method", example: "GET", pattern: None };

    fn from_text(text: &str) -> Result<Self, String> {
        let known = MethodSet::new().insert(text);
        known.map_err(|flaw| flaw.message)?;
        Ok(Self(Box::from(text)))
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl MethodSet {
    /// The set of these methods; `None`, which means all, if there are none.
    pub fn from_settings(names: &[MethodName]) -> Option<Self> {
        let mut methods = Self::new();
        for name in names {
            // A name was found good when it was read.
            let _ = methods.insert(&name.0);
        }
        (!methods.is_empty()).then_some(methods)
    }
}

section! {
    /// A condition on a request header.
    ///
    /// ```toml
    /// [[site.route]]
    /// path = "/api/*"
    /// field = { X-API = "2", User-Agent = { matches = "^curl/" }, Cookie = { present = false } }
    /// status = 204
    /// ```
    pub struct FieldCondition short(is) {
        /// A line of the header has exactly this value.
        pub is: Option<Text>,
        /// This regular expression matches somewhere in a line of the header.
        pub matches: Option<Text>,
        /// Whether the request must have the header (`true`) or must not have it (`false`).
        pub present: Option<bool>,
    }
}

impl FieldRule {
    /// The rule for the field `name`.
    pub fn from_settings(
        name: &Setting<String>,
        condition: &FieldCondition,
    ) -> Result<Self, Diagnostic> {
        let (is, matches, present) = (&condition.is, &condition.matches, &condition.present);
        let test = match (is.value(), matches.value(), present.value()) {
            (Some(value), None, None) => FieldTest::Is(Box::from(value.as_bytes())),
            (None, Some(regex), None) => {
                FieldTest::matching(regex).map_err(|flaw| flaw.at(matches.span(), regex))?
            }
            (None, None, Some(true)) => FieldTest::Present,
            (None, None, Some(false)) => FieldTest::Absent,
            _ => {
                let message = format!("the condition on `{}` needs one test", name.value());
                let expected = "one of `is`, `matches` and `present`";
                return Err(Diagnostic::error(name.span(), message).expected(expected));
            }
        };
        Self::new(name.value(), test).map_err(|flaw| flaw.at(name.span(), name.value()))
    }
}
