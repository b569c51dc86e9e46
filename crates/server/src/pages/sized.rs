//! Filters with a size argument, such as a width, with a maximum for that size. Otherwise a page
//! that passes on a number of the client would let the client allocate all memory.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};

/// The maximum width, count or indentation of a filter.
pub(crate) const SIZE_MAX: i64 = 1_000;

/// Replaces the engine's filters by bounded ones.
pub(crate) fn add(environment: &mut Environment<'static>) {
    let to_json = Value::from_function(filters::tojson);
    for (name, filter) in [
        ("indent", Value::from_function(filters::indent)),
        ("batch", Value::from_function(filters::batch)),
        ("slice", Value::from_function(filters::slice)),
        ("tojson", to_json.clone()),
        ("json", to_json),
    ] {
        environment.add_filter(
            name,
            move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                let args = args.into_values();
                check_sizes(name, &args)?;
                filter.call(state, &args)
            },
        );
    }
    let format = Value::from_function(filters::format);
    environment.add_filter(
        "format",
        move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            check_format(args.first().and_then(Value::as_str).unwrap_or_default())?;
            format.call(state, &args)
        },
    );
}

/// Checks the arguments after the value itself.
fn check_sizes(name: &str, args: &[Value]) -> Result<(), Error> {
    for value in args.iter().skip(1) {
        match Kwargs::try_from(value.clone()) {
            Ok(named) => {
                for key in named.args() {
                    check_size(name, &named.peek(key)?)?;
                }
            }
            Err(_) => check_size(name, value)?,
        }
    }
    Ok(())
}

fn check_size(name: &str, value: &Value) -> Result<(), Error> {
    let is_number = value.kind() == ValueKind::Number;
    if is_number && value.as_i64().is_none_or(|size| size > SIZE_MAX) {
        return Err(too_large(name));
    }
    Ok(())
}

/// Widths and precisions in a format, such as `%10.2f`. One that comes from an argument (`*`) is
/// refused.
fn check_format(format: &str) -> Result<(), Error> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if let Some(key) = rest.strip_prefix('(') {
            rest = key.split_once(')').map_or("", |(_, after)| after);
        }
        let is_part =
            |character: char| character.is_ascii_digit() || " #+-.,_*".contains(character);
        let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        let numbers = rest[..end].split(|character: char| !character.is_ascii_digit());
        let mut sizes = numbers.filter(|number| !number.is_empty());
        let is_large = |number: &str| number.parse().map_or(true, |size: i64| size > SIZE_MAX);
        if rest[..end].contains('*') || sizes.any(is_large) {
            return Err(too_large("format"));
        }
        // `%%`: the second does not begin one.
        rest = rest
            .get(end..)
            .and_then(|after| after.strip_prefix('%').or(Some(after)))
            .unwrap_or_default();
    }
    Ok(())
}

fn too_large(name: &str) -> Error {
    let text = format!("{name} accepts a width or count of at most {SIZE_MAX}");
    Error::new(ErrorKind::InvalidOperation, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: Option<&str>) {
        let mut environment = Environment::new();
        add(&mut environment);
        let rendered = environment.render_str(&format!("{{{{ {expression} }}}}"), ());
        assert_eq!(rendered.ok().as_deref(), expected, "{expression}");
    }

    #[test]
    fn large_sizes_are_refused() {
        for expression in [
            "'x'|indent(1001)",
            "'x'|indent(width=1001)",
            "'x'|indent(99999999999999999999)",
            "[1]|batch(1001, 0)",
            "[1]|slice(1001)",
            "[1]|json(1001)",
            "[1]|tojson(indent=1001)",
            "'%1001d'|format(1)",
            "'%.1001f'|format(1)",
            "'%-*d'|format(9, 1)",
            "'%%%99999999999999999999d'|format(1)",
            "'%(a)1001d'|format(a=1)",
        ] {
            check(expression, None);
        }
    }

    #[test]
    fn what_is_usual_is_as_ever() {
        check("'a\nb'|indent(2)", Some("a\n  b"));
        check("'a'|indent(width=2, first=true)", Some("  a"));
        check("[1, 2, 3]|batch(2, 0)", Some("[[1, 2], [3, 0]]"));
        check("[1, 2, 3]|slice(2)", Some("[[1, 2], [3]]"));
        check("{'a': 5000}|json", Some("{\"a\": 5000}"));
        check("'%5.1f|%s 99999 %d%% %(5000)'|format(1.25, 'x', 5000)", None);
        check("'%5.1f|%s 99999 %d%%'|format(1.25, 'x', 5000)", Some("  1.2|x 99999 5000%"));
        check("'%(a)s 5000'|format(a=1)", Some("1 5000"));
    }
}
