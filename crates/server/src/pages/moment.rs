//! Times and dates in templates: their text, their parts, and their formats. All are in UTC; no
//! clock is read.

use std::fmt::{self, Write};
use std::sync::Arc;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, SecondsFormat, Timelike, Utc};
use minijinja::value::{Enumerator, Object, ObjectRepr, from_args};
use minijinja::{Error, ErrorKind, State, Value};

/// A moment or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Moment(DateTime<Utc>),
    Day(NaiveDate),
}

const PARTS: &[&str] =
    &["year", "month", "day", "hour", "minute", "second", "weekday", "day_of_year", "unix"];

impl When {
    /// The moment `seconds` after the beginning of 1970; the last that can be said, where that is
    /// later.
    pub(crate) fn from_unix(seconds: i64) -> Self {
        Self::Moment(crate::timestamp::utc(seconds))
    }

    /// Reads a value: a time, a date, seconds since 1970, or a date as text.
    fn from_value(value: &Value) -> Option<Self> {
        if let Some(when) = value.downcast_object_ref::<Self>() {
            return Some(*when);
        }
        if let Some(seconds) = value.as_i64() {
            return DateTime::from_timestamp(seconds, 0).map(Self::Moment);
        }
        let text = value.as_str()?;
        let day = crate::pages::parameters::day(text).map(Self::Day);
        day.or_else(|| text.parse().ok().map(Self::Moment))
    }

    /// The moment, or the first one of the day.
    fn begin(self) -> DateTime<Utc> {
        match self {
            Self::Moment(moment) => moment,
            Self::Day(day) => day.and_time(NaiveTime::MIN).and_utc(),
        }
    }

    fn part(self, name: &str) -> Option<i64> {
        let at = self.begin();
        Some(match name {
            "year" => at.year().into(),
            "month" => at.month().into(),
            "day" => at.day().into(),
            "hour" => at.hour().into(),
            "minute" => at.minute().into(),
            "second" => at.second().into(),
            "weekday" => at.weekday().number_from_monday().into(),
            "day_of_year" => at.ordinal().into(),
            "unix" => at.timestamp(),
            _ => return None,
        })
    }

    fn formatted(self, format: &str) -> Result<String, Error> {
        let mut out = String::new();
        // Writing to a text fails for nothing but the format.
        write!(out, "{}", self.begin().format(format)).map_err(|_| {
            let text = format!("invalid date format {format:?}");
            Error::new(ErrorKind::InvalidOperation, text)
        })?;
        Ok(out)
    }
}

impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moment(moment) => {
                formatter.write_str(&moment.to_rfc3339_opts(SecondsFormat::Secs, true))
            }
            Self::Day(day) => day.fmt(formatter),
        }
    }
}

impl Object for When {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.part(key).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(PARTS)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "format" => {
                let (format,): (&str,) = from_args(args)?;
                self.formatted(format).map(Value::from)
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }

    fn render(self: &Arc<Self>, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, formatter)
    }
}

/// The filter `date`: a moment by a format of `strftime`, in UTC; `2026-11-21` without one.
pub(crate) fn date(value: &Value, format: Option<&str>) -> Result<String, Error> {
    let Some(when) = When::from_value(value) else {
        let text =
            format!("date expects a time, a date or seconds since 1970, not {}", value.kind());
        return Err(Error::new(ErrorKind::InvalidOperation, text));
    };
    when.formatted(format.unwrap_or("%Y-%m-%d"))
}
