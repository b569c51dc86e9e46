//! Times and days in templates: what they show, their parts, and how they are formatted. All in UTC; no clock is read.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime;
use jiff::tz::{Offset, TimeZone};
use minijinja::value::{Enumerator, Object, ObjectRepr, from_args};
use minijinja::{Error, ErrorKind, State, Value};

/// A moment or a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Moment(Timestamp),
    Day(Date),
}

const PARTS: &[&str] = &[
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "weekday",
    "day_of_year",
    "unix",
];

impl When {
    /// The moment `seconds` after the beginning of 1970; the last that can be said, where that is later.
    pub(crate) fn of_unix(seconds: i64) -> Self {
        Self::Moment(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
    }

    /// What a value given to a filter stands for: a moment, a day, seconds since 1970, or a day as text.
    fn of_value(value: &Value) -> Option<Self> {
        if let Some(when) = value.downcast_object_ref::<Self>() {
            return Some(*when);
        }
        if let Some(seconds) = value.as_i64() {
            return Timestamp::from_second(seconds).ok().map(Self::Moment);
        }
        let text = value.as_str()?;
        let day = crate::pages::parameters::day(text).map(Self::Day);
        day.or_else(|| text.parse().ok().map(Self::Moment))
    }

    fn date_time(self) -> DateTime {
        match self {
            Self::Moment(moment) => Offset::UTC.to_datetime(moment),
            Self::Day(day) => day.to_datetime(jiff::civil::Time::midnight()),
        }
    }

    fn part(self, name: &str) -> Option<i64> {
        let at = self.date_time();
        Some(match name {
            "year" => at.year().into(),
            "month" => at.month().into(),
            "day" => at.day().into(),
            "hour" => at.hour().into(),
            "minute" => at.minute().into(),
            "second" => at.second().into(),
            "weekday" => at.date().weekday().to_monday_one_offset().into(),
            "day_of_year" => at.date().day_of_year().into(),
            "unix" => Offset::UTC.to_timestamp(at).ok()?.as_second(),
            _ => return None,
        })
    }

    fn formatted(self, format: &str) -> Result<String, Error> {
        let formatted = match self {
            Self::Moment(moment) => strtime::format(format, &moment.to_zoned(TimeZone::UTC)),
            Self::Day(day) => strtime::format(format, day),
        };
        formatted.map_err(|why| {
            let text = format!("{format:?} is no format of dates: {why}");
            Error::new(ErrorKind::InvalidOperation, text)
        })
    }
}

impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moment(moment) => moment.fmt(formatter),
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
    let Some(when) = When::of_value(value) else {
        let text = format!(
            "date takes a moment, a day or seconds since 1970, not {}",
            value.kind()
        );
        return Err(Error::new(ErrorKind::InvalidOperation, text));
    };
    when.formatted(format.unwrap_or("%Y-%m-%d"))
}
