//! Parses a condition. An error states its column, what was expected there, and the nearest known
//! name.

use std::fmt;
use std::str::FromStr;

use vervet_config::nearest;

use super::metric::{Amount, Metric, NAMES, TIMINGS};
use super::statement::{Comparison, Condition};
use crate::errors::ErrorClass;
use crate::escape::Printable;

/// Maximum length of a condition in bytes.
const CONDITION_BYTES_MAX: usize = 200;

/// Why a text is not a valid condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The condition as written.
    pub text: String,
    /// Column of the mistake, in characters from 1.
    pub column: usize,
    /// What was expected there.
    pub expected: String,
    /// The nearest known name.
    pub nearest: Option<String>,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let fail = |at: usize, expected: String, nearest| ConditionError {
            text: text.to_owned(),
            column: text.get(..at).unwrap_or(text).chars().count() + 1,
            expected,
            nearest,
        };
        if text.len() > CONDITION_BYTES_MAX {
            let expected = format!("at most {CONDITION_BYTES_MAX} bytes");
            return Err(fail(CONDITION_BYTES_MAX, expected, None));
        }
        let begin = text.len() - text.trim_start().len();
        let is_name = |letter: char| letter.is_alphanumeric() || "._-%".contains(letter);
        let name_end =
            text[begin..].find(|letter| !is_name(letter)).map_or(text.len(), |at| begin + at);
        let name = &text[begin..name_end];
        let Some(metric) = Metric::named(name) else {
            return Err(fail(begin, expected_name(name), nearest_name(name)));
        };

        let sign_at = skip_blanks(text, name_end);
        if metric == Metric::Audit && sign_at == text.len() {
            let text = text.trim().to_owned();
            return Ok(Self { metric, comparison: Comparison::Above, bound: 0.0, text });
        }
        let Some((comparison, value_at)) = comparison(text, sign_at) else {
            return Err(fail(sign_at, "one of >, >=, < and <=".to_owned(), None));
        };

        let value_at = skip_blanks(text, value_at);
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
        let unit_at = text[value_at..]
            .find(|letter| !is_number(letter))
            .map_or(text.len(), |at| value_at + at);
        let Ok(number) = text[value_at..unit_at].parse::<f64>() else {
            return Err(fail(value_at, "a number, as in 20ms or 0.1%".to_owned(), None));
        };
        let unit_at = skip_blanks(text, unit_at);
        let unit = text[unit_at..].trim_end();
        let metric = in_percent(metric, unit);
        let Some(worth) = metric.quantity().unit(unit) else {
            return Err(fail(unit_at, expected_unit(metric), None));
        };
        Ok(Self { metric, comparison, bound: number * worth, text: text.trim().to_owned() })
    }
}

fn skip_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

fn comparison(text: &str, at: usize) -> Option<(Comparison, usize)> {
    let signs = [Comparison::AtLeast, Comparison::AtMost, Comparison::Above, Comparison::Below];
    let found = signs.into_iter().find(|known| text[at..].starts_with(known.sign()))?;
    Some((found, at + found.sign().len()))
}

/// Failed requests are a share if the bound is a percentage, otherwise a number.
fn in_percent(metric: Metric, unit: &str) -> Metric {
    match metric {
        Metric::Errors(class, _) if unit == "%" => Metric::Errors(class, Amount::Percent),
        other => other,
    }
}

fn expected_unit(metric: Metric) -> String {
    match metric {
        Metric::Errors(..) => "%, nothing, k or m after the number, as in 0.1% or 10".to_owned(),
        other => other.quantity().expected().to_owned(),
    }
}

fn expected_name(name: &str) -> String {
    if name.starts_with("errors.") {
        let classes: Vec<_> = ErrorClass::ALL.iter().map(|class| class.name()).collect();
        return format!("errors. and a class: {}", classes.join(", "));
    }
    if let Some(timing) =
        TIMINGS.iter().find(|timing| name.starts_with(&format!("{}.", timing.name())))
    {
        return format!(
            "{}. and a figure of it: a percentile (p50 to p100, p99.9), min, mean, sd or max",
            timing.name()
        );
    }
    "a figure: a percentile (p50, p99.9), min, mean, sd or max, also of connect., first_byte. and service.; rate, \
     throughput, goodput, done, errors, errors.CLASS, censored or audit"
        .to_owned()
}

fn nearest_name(name: &str) -> Option<String> {
    let plain = NAMES.iter().map(|name| (*name).to_owned());
    let of_errors = ErrorClass::ALL.iter().map(|class| format!("errors.{}", class.name()));
    let of_times = TIMINGS.iter().flat_map(|timing| {
        let stats =
            NAMES.iter().filter(|name| matches!(Metric::named(name), Some(Metric::Time(..))));
        stats.map(|stat| format!("{}.{stat}", timing.name()))
    });
    let known: Vec<String> = plain.chain(of_errors).chain(of_times).collect();
    let nearest = nearest(&name.to_ascii_lowercase(), known.iter().map(String::as_str));
    nearest.map(str::to_owned)
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Printable(&self.text);
        write!(f, "`{text}`, column {}: expected {}", self.column, self.expected)?;
        match &self.nearest {
            Some(name) => write!(f, "; did you mean `{name}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConditionError {}
