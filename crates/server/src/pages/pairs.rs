//! Names and values of queries and forms (`application/x-www-form-urlencoded`), decoded when they
//! are used.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, from_args};
use minijinja::{Error, ErrorKind, State, Value};

/// The pairs of a query or a form, as they came. A page that asks for one name decodes that one.
#[derive(Debug, Default, Clone)]
pub(crate) struct Pairs {
    raw: Vec<u8>,
}

impl Pairs {
    /// Takes other pairs, in the memory that it has.
    pub(crate) fn refill(&mut self, raw: &[u8]) {
        self.raw.clear();
        self.raw.extend_from_slice(raw);
    }

    /// The value of the first pair of this name. `+` is a space; bytes that are not UTF-8 show as
    /// U+FFFD.
    pub(crate) fn first(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut pairs = self.raw.split(|&byte| byte == b'&');
        pairs.find_map(|pair| {
            let Some((own, value)) = plain(pair) else {
                let (own, value) = form_urlencoded::parse(pair).next()?;
                return (own == name).then_some(value);
            };
            let value = (own == name.as_bytes()).then_some(value)?;
            str::from_utf8(value).ok().map(Cow::Borrowed)
        })
    }

    fn iter(&self) -> form_urlencoded::Parse<'_> {
        form_urlencoded::parse(&self.raw)
    }

    /// The values of all pairs of this name, in order.
    fn all(&self, name: &str) -> Value {
        let of_name = self.iter().filter(|(own, _)| own == name);
        of_name.map(|(_, value)| Value::from(value)).collect()
    }

    /// Each name once, in the order of first appearance.
    fn names(&self) -> Vec<Value> {
        let mut seen = BTreeSet::new();
        let names = self.iter().map(|(name, _)| name);
        names.filter(|name| seen.insert(name.clone())).map(Value::from).collect()
    }
}

/// Name and value of a pair that stands for itself, as most do: ASCII without `+` and `%`.
fn plain(pair: &[u8]) -> Option<(&[u8], &[u8])> {
    if pair.is_empty() {
        return None;
    }
    let mut end = pair.len();
    for (at, byte) in pair.iter().enumerate() {
        match byte {
            b'+' | b'%' | 0x80.. => return None,
            b'=' => end = end.min(at),
            _ => {}
        }
    }
    let value = pair.get(end + 1..).unwrap_or_default();
    Some((&pair[..end], value))
}

impl Object for Pairs {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.first(key).map(Value::from)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.names())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.iter().next().is_some()
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "all" => {
                let (name,): (&str,) = from_args(args)?;
                Ok(self.all(name))
            }
            "pairs" => {
                let () = from_args(args)?;
                let pairs = self
                    .iter()
                    .map(|(name, value)| Value::from(vec![Value::from(name), Value::from(value)]));
                Ok(pairs.collect())
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(raw: &str, name: &str, expected: Option<&str>) {
        let mut pairs = Pairs::default();
        pairs.refill(raw.as_bytes());
        assert_eq!(pairs.first(name).as_deref(), expected, "{raw}");
    }

    #[test]
    fn names_that_are_not_there_have_no_value() {
        check("", "a", None);
        check("b=1", "a", None);
        check("A=1", "a", None);
        check("&&", "a", None);
    }

    #[test]
    fn the_first_pair_of_a_name_counts() {
        check("a=1&a=2", "a", Some("1"));
        check("b=0&a=1", "a", Some("1"));
    }

    #[test]
    fn values_are_decoded() {
        check("a", "a", Some(""));
        check("a=", "a", Some(""));
        check("a=b=c", "a", Some("b=c"));
        check("a=x+y%20z", "a", Some("x y z"));
        check("a=%C3%BC&b", "a", Some("ü"));
        check("n%61me=1", "name", Some("1"));
        check("a=%ff", "a", Some("\u{fffd}"));
        check("a=%zz%4", "a", Some("%zz%4"));
        check("a=%00", "a", Some("\0"));
    }

    proptest! {
        #[test]
        fn a_value_is_that_of_the_whole_list(
            raw in prop::collection::vec(prop::sample::select(b"ab=&+%2061\xc3\xbc\xff".to_vec()), 0..24),
            name in prop::sample::select(vec!["", "a", "b", "ab", "a b", "a=", "\u{fc}", "\u{fffd}"]),
        ) {
            let mut pairs = Pairs::default();
            pairs.refill(&raw);
            let listed = pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value);
            prop_assert_eq!(pairs.first(name), listed);
        }
    }

    #[test]
    fn each_name_is_listed_once() {
        let mut pairs = Pairs::default();
        pairs.refill(b"b=1&a=2&b=3");
        assert_eq!(pairs.names(), vec![Value::from("b"), Value::from("a")]);
        assert_eq!(pairs.all("b").to_string(), "['1', '3']");
    }
}
