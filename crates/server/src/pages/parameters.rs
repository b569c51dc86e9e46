//! Typed parameters of a page, which clients send in a query, a form or the path.
//!
//! A value that does not match is the client's fault: 400, with a page that names the parameter.

use std::fmt;

use chrono::NaiveDate;
use minijinja::Value;
use vervet_config::words;

use crate::pages::moment::When;

words! {
    /// Which part of the request a parameter is read from.
    pub enum Source {
        /// The first of path, form and query that has it.
        Any = "any",
        /// The query string.
        Query = "query",
        /// The form in the body.
        Form = "form",
        /// The variables of the route's path.
        Path = "path",
    }
}

/// The type of a parameter and its bounds.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterType {
    /// Any text within the bounds.
    Text {
        /// The least number of characters.
        length_min: usize,
        /// The greatest number of characters.
        length_max: usize,
    },
    /// A decimal number within the bounds.
    Number {
        /// The least value that is accepted.
        min: Option<f64>,
        /// The greatest value that is accepted.
        max: Option<f64>,
    },
    /// A whole number of 64 bits.
    Integer {
        /// The least value that is accepted.
        min: Option<i64>,
        /// The greatest value that is accepted.
        max: Option<i64>,
    },
    /// `true`, `yes`, `on` or `1`; `false`, `no`, `off` or `0`.
    Boolean,
    /// A date, such as `2026-11-21`.
    Date {
        /// The first day that is accepted.
        min: Option<NaiveDate>,
        /// The last day that is accepted.
        max: Option<NaiveDate>,
    },
    /// One of these words.
    Choice(Vec<String>),
}

/// How a missing parameter is handled.
#[derive(Debug, Clone, PartialEq)]
pub enum Absent {
    /// The answer is 400.
    Refused,
    /// The value is `none` in the template.
    None,
    /// The value is this text, parsed like a value of the client.
    Default(String),
}

/// A parameter of a page, which templates use as a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The name in requests and templates.
    pub name: String,
    /// Which part of the request the parameter is read from.
    pub from: Source,
    /// The type of the parameter.
    pub kind: ParameterType,
    /// How a missing value is handled.
    pub absent: Absent,
}

/// A missing or invalid parameter in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadParameter {
    /// The name of the parameter.
    pub name: String,
    /// Whether there is no value at all.
    pub is_missing: bool,
    /// The expected value, as text after "must be".
    pub expected: String,
}

impl fmt::Display for BadParameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, is_missing, expected } = self;
        match is_missing {
            true => write!(formatter, "the parameter {name} is missing; it must be {expected}"),
            false => write!(formatter, "the parameter {name} must be {expected}"),
        }
    }
}

impl std::error::Error for BadParameter {}

impl Parameter {
    /// Parses the value of the client. An empty value counts as missing, except for a text: forms
    /// send empty fields.
    pub(crate) fn read(&self, sent: Option<&str>) -> Result<Value, BadParameter> {
        let is_text = matches!(self.kind, ParameterType::Text { .. });
        let sent = sent.filter(|text| is_text || !text.trim().is_empty());
        let bad = |is_missing| BadParameter {
            name: self.name.clone(),
            is_missing,
            expected: self.kind.to_string(),
        };
        match (sent, &self.absent) {
            (Some(text), _) => self.kind.read(text).ok_or_else(|| bad(false)),
            (None, Absent::Refused) => Err(bad(true)),
            (None, Absent::None) => Ok(Value::from(())),
            (None, Absent::Default(text)) => self.kind.read(text).ok_or_else(|| bad(false)),
        }
    }

    /// Whether the default fits the type.
    pub(crate) fn check_default(&self) -> Result<(), BadParameter> {
        match &self.absent {
            Absent::Default(_) => self.read(None).map(|_| ()),
            Absent::None | Absent::Refused => Ok(()),
        }
    }
}

impl ParameterType {
    fn read(&self, text: &str) -> Option<Value> {
        match self {
            Self::Text { length_min, length_max } => {
                let length = text.chars().count();
                (*length_min..=*length_max).contains(&length).then(|| Value::from(text))
            }
            Self::Number { min, max } => {
                let number = decimal(text.trim())?;
                is_within(&number, min.as_ref(), max.as_ref()).then(|| shown(number, text.trim()))
            }
            Self::Integer { min, max } => {
                let number = text.trim().parse::<i64>().ok()?;
                is_within(&number, min.as_ref(), max.as_ref()).then(|| Value::from(number))
            }
            Self::Boolean => boolean(text.trim()).map(Value::from),
            Self::Date { min, max } => {
                let day = day(text.trim())?;
                is_within(&day, min.as_ref(), max.as_ref())
                    .then(|| Value::from_object(When::Day(day)))
            }
            Self::Choice(words) => {
                words.iter().find(|word| *word == text).map(|word| Value::from(word.as_str()))
            }
        }
    }
}

fn is_within<T: PartialOrd>(value: &T, min: Option<&T>, max: Option<&T>) -> bool {
    min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
}

/// A decimal number as people write it: no `inf`, no `nan`.
fn decimal(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.filter(|_| is_plain)
}

/// A number that was written without a fraction shows without one.
fn shown(number: f64, text: &str) -> Value {
    match text.parse::<i64>() {
        Ok(whole) => Value::from(whole),
        Err(_) => Value::from(number),
    }
}

fn boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match (is(["true", "yes", "on", "1"]), is(["false", "no", "off", "0"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// A day of the Gregorian calendar, as `2026-11-21` and in no other form.
pub(crate) fn day(text: &str) -> Option<NaiveDate> {
    let is_form = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    is_form.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for ParameterType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { length_min: 0, length_max } => {
                write!(formatter, "a text of at most {length_max} characters")
            }
            Self::Text { length_min, length_max } => {
                write!(formatter, "a text of {length_min} to {length_max} characters")
            }
            Self::Number { min, max } => bounded(formatter, "a number", min.as_ref(), max.as_ref()),
            Self::Integer { min, max } => {
                bounded(formatter, "a whole number", min.as_ref(), max.as_ref())
            }
            Self::Boolean => formatter.write_str("true or false"),
            Self::Date { min, max } => {
                bounded(formatter, "a date such as 2026-11-21", min.as_ref(), max.as_ref())
            }
            Self::Choice(words) => match words.as_slice() {
                [only] => write!(formatter, "{only}"),
                [first @ .., last] => write!(formatter, "one of {} and {last}", first.join(", ")),
                [] => formatter.write_str("left out"),
            },
        }
    }
}

fn bounded<T: fmt::Display>(
    formatter: &mut fmt::Formatter<'_>,
    what: &str,
    min: Option<&T>,
    max: Option<&T>,
) -> fmt::Result {
    match (min, max) {
        (None, None) => formatter.write_str(what),
        (Some(min), None) => write!(formatter, "{what} of at least {min}"),
        (None, Some(max)) => write!(formatter, "{what} of at most {max}"),
        (Some(min), Some(max)) => write!(formatter, "{what} from {min} to {max}"),
    }
}
