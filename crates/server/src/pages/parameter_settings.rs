//! `parameters = { n = "integer" }`: the directives of one parameter.

use std::fmt::Display;
use std::str::FromStr;

use vervet_config::{
    Diagnostic, FromConfig, Node, Reader, Setting, Shape, Shown, Text, TextShape, Value, section,
    words,
};

use crate::pages::parameters::{Absent, Parameter, ParameterType, Source, day};

/// The default of `length_max`, in characters.
const LENGTH_MAX: u32 = 10_000;

words! {
    /// The type of a parameter.
    pub enum ParameterKind {
        /// Any text.
        Text = "text",
        /// A decimal number.
        Number = "number",
        /// A whole number of 64 bits.
        Integer = "integer",
        /// `true`, `yes`, `on` or `1`; `false`, `no`, `off` or `0`.
        Boolean = "boolean",
        /// A date such as `2026-11-21`.
        Date = "date",
        /// One of the words in `choices`.
        Choice = "choice",
    }
}

section! {
    /// A parameter that clients may send, with its type and bounds.
    ///
    /// ```toml
    /// [site.route.page.parameters]
    /// page = { type = "integer", default = 1, min = 1 }
    /// name = { type = "text", length_max = 100, optional = true }
    /// sort = { choices = ["name", "age"], default = "name" }
    /// ```
    pub struct ParameterSettings short(r#type) {
        /// The type; if not set, `"choice"` with `choices`, else `"text"`.
        pub r#type: Option<ParameterKind>,
        /// Which part of the request it is read from.
        pub from: Source = "any",
        /// The value if the client sends none. A parameter with neither `default` nor `optional` is
        /// required.
        pub default: Option<Plain>,
        /// The value is `none` if the client sends none.
        pub optional: bool = false,
        /// The smallest number or first date that is allowed.
        pub min: Option<Plain>,
        /// The largest number or last date that is allowed.
        pub max: Option<Plain>,
        /// The minimum length of a text, in characters.
        pub length_min: Option<u32>,
        /// The maximum length of a text, in characters; if not set, 10,000.
        pub length_max: Option<u32>,
        /// The allowed words of a choice.
        pub choices: Vec<Text>,
    }
}

/// A number, a boolean, a date or a text, as a client would send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain(pub String);

impl FromConfig for Plain {
    fn shape() -> Shape {
        Shape::Either(vec![
            Shape::Number,
            Shape::Boolean,
            Shape::Text(TextShape { noun: "text", example: "2026-11-21", pattern: None }),
        ])
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self(match &node.value {
            Value::Integer(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Boolean(truth) => truth.to_string(),
            Value::Date(text) => text.clone(),
            _ => reader.text(node, &Self::shape())?.into_owned(),
        }))
    }

    fn show(&self) -> Shown {
        Shown::Text(self.0.clone())
    }
}

impl ParameterSettings {
    /// The parameter, or all errors of its directives.
    pub(crate) fn parameter(&self, name: &str) -> Result<Parameter, Vec<Diagnostic>> {
        let mut found = Vec::new();
        let kind = self.kind();
        self.refuse_strangers(kind, &mut found);
        let read = self.read_type(name, kind, &mut found);
        if let (Some(default), true) = (self.default.value(), *self.optional) {
            let text =
                format!("`{name}` has both `optional` and the default {}: remove one", default.0);
            found.push(Diagnostic::error(self.optional.span(), text));
        }
        match (read, found.is_empty()) {
            (Some(kind), true) => Ok(Parameter {
                name: name.to_owned(),
                from: *self.from,
                kind,
                absent: match (self.default.value(), *self.optional) {
                    (Some(default), _) => Absent::Default(default.0.clone()),
                    (None, true) => Absent::None,
                    (None, false) => Absent::Refused,
                },
            }),
            _ => Err(found),
        }
    }

    fn kind(&self) -> ParameterKind {
        let of_choices =
            if self.choices.is_empty() { ParameterKind::Text } else { ParameterKind::Choice };
        self.r#type.unwrap_or(of_choices)
    }

    /// Rejects directives that do not apply to the type.
    fn refuse_strangers(&self, kind: ParameterKind, found: &mut Vec<Diagnostic>) {
        use ParameterKind::{Choice, Date, Integer, Number, Text};
        let ordered = [Number, Integer, Date].as_slice();
        for (name, span, is_given, kinds) in [
            ("min", self.min.span(), self.min.is_some(), ordered),
            ("max", self.max.span(), self.max.is_some(), ordered),
            ("length_min", self.length_min.span(), self.length_min.is_some(), &[Text]),
            ("length_max", self.length_max.span(), self.length_max.is_some(), &[Text]),
            ("choices", self.choices.span(), !self.choices.is_empty(), &[Choice]),
        ] {
            if is_given && !kinds.contains(&kind) {
                let words: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
                let text = format!("`{name}` does not apply to the type `{kind}`");
                found.push(
                    Diagnostic::error(span, text)
                        .note(format!("it applies to: {}", words.join(", "))),
                );
            }
        }
    }

    fn read_type(
        &self,
        name: &str,
        kind: ParameterKind,
        found: &mut Vec<Diagnostic>,
    ) -> Option<ParameterType> {
        Some(match kind {
            ParameterKind::Text => {
                let (min, max) =
                    (self.length_min.unwrap_or(0), self.length_max.unwrap_or(LENGTH_MAX));
                self.order(Some(&min), Some(&max), found)?;
                ParameterType::Text { length_min: min as usize, length_max: max as usize }
            }
            ParameterKind::Number => {
                let (min, max) = self.bounds(parsed::<f64>, "a number", found)?;
                ParameterType::Number { min, max }
            }
            ParameterKind::Integer => {
                let (min, max) = self.bounds(parsed::<i64>, "a whole number", found)?;
                ParameterType::Integer { min, max }
            }
            ParameterKind::Date => {
                let (min, max) = self.bounds(day, "a date such as 2026-11-21", found)?;
                ParameterType::Date { min, max }
            }
            ParameterKind::Boolean => ParameterType::Boolean,
            ParameterKind::Choice if self.choices.is_empty() => {
                let text = format!("`{name}` has the type `choice` and no `choices`");
                found.push(Diagnostic::error(self.r#type.span(), text));
                return None;
            }
            ParameterKind::Choice => {
                ParameterType::Choice(self.choices.iter().map(ToString::to_string).collect())
            }
        })
    }

    fn bounds<T: PartialOrd + Display>(
        &self,
        read: impl Fn(&str) -> Option<T>,
        what: &str,
        found: &mut Vec<Diagnostic>,
    ) -> Option<(Option<T>, Option<T>)> {
        let mut bound = |name: &str, setting: &Setting<Option<Plain>>| match setting.value() {
            None => Some(None),
            Some(plain) => {
                let value = read(&plain.0);
                if value.is_none() {
                    let text = format!("`{name}` is not {what}");
                    found.push(Diagnostic::error(setting.span(), text).expected(what));
                }
                value.map(Some)
            }
        };
        let (min, max) = (bound("min", &self.min), bound("max", &self.max));
        let (min, max) = (min?, max?);
        self.order(min.as_ref(), max.as_ref(), found)?;
        Some((min, max))
    }

    fn order<T: PartialOrd + Display>(
        &self,
        min: Option<&T>,
        max: Option<&T>,
        found: &mut Vec<Diagnostic>,
    ) -> Option<()> {
        let (Some(min), Some(max)) = (min, max) else {
            return Some(());
        };
        if min <= max {
            return Some(());
        }
        let span = if self.min.is_some() { self.min.span() } else { self.length_min.span() };
        found.push(Diagnostic::error(
            span,
            format!("the minimum {min} is greater than the maximum {max}"),
        ));
        None
    }
}

fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}
