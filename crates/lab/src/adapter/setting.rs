//! What a lab file may set of an adapter.

use std::collections::BTreeMap;

/// One setting of an adapter.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its value where the lab file says nothing.
    pub default: &'static str,
    /// Which values there are.
    pub kind: Kind,
    /// One line for people.
    pub about: &'static str,
}

/// Which values a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number within these bounds.
    Count(u32, u32),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text.
    Text,
}

impl Row {
    /// Why a text is no value of the setting, as the end of a sentence.
    pub fn refusal(&self, value: &str) -> Option<String> {
        match self.kind {
            Kind::Text => None,
            Kind::Word(words) if words.contains(&value) => None,
            Kind::Word(words) => Some(format!("is one of {}", words.join(", "))),
            Kind::Count(low, high) => {
                let number = value.parse().ok();
                let fits = number.is_some_and(|number| (low..=high).contains(&number));
                (!fits).then(|| format!("is a number from {low} to {high}"))
            }
        }
    }
}

/// The values of one subject: those of the lab file, and the defaults of the adapter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// The defaults of `rows`, and what `given` puts in their place.
    pub fn new<'a>(rows: &[Row], given: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let defaults = rows.iter().map(|row| (row.name, row.default));
        let all = defaults.chain(given);
        Self(
            all.map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }

    /// The value of a setting; empty for one that the adapter has not declared.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Each setting with its value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Row] = &[
        Row {
            name: "kind",
            default: "sync",
            kind: Kind::Word(&["sync", "gevent"]),
            about: "how",
        },
        Row {
            name: "workers",
            default: "1",
            kind: Kind::Count(1, 64),
            about: "how many",
        },
    ];

    #[test]
    fn what_is_given_goes_before_the_default() {
        let settings = Settings::new(ROWS, [("workers", "4")].into_iter());
        assert_eq!(
            (settings.get("kind"), settings.get("workers")),
            ("sync", "4")
        );
        assert_eq!(settings.get("other"), "");
    }

    #[test]
    fn refuses_other_words_and_numbers() {
        assert_eq!(
            ROWS[0].refusal("fast"),
            Some("is one of sync, gevent".to_owned())
        );
        let bounds = Some("is a number from 1 to 64".to_owned());
        for value in ["0", "65", "-1", "many", ""] {
            assert_eq!(ROWS[1].refusal(value), bounds, "{value}");
        }
        assert_eq!((ROWS[1].refusal("1"), ROWS[1].refusal("64")), (None, None));
    }
}
