//! Lists in field values (RFC 9110 §5.6.1): splitting at commas and semicolons outside quoted
//! strings. Callers interpret the members.

/// Returns the members of a list field value, trimmed, without empty ones (RFC 9110 §5.6.1.2).
pub(crate) fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    Split { rest: Some(value), separator: b',' }.filter(|member| !member.is_empty())
}

/// Returns a list member up to its first semicolon, and its parameters `name=value`; those without
/// `=` have an empty value. Quoted values keep their quotes: see [`unquoted`].
pub(crate) fn parameters(member: &[u8]) -> (&[u8], impl Iterator<Item = (&[u8], &[u8])>) {
    let mut parts = Split { rest: Some(member), separator: b';' };
    let head = parts.next().unwrap_or_default();
    let parameters = parts.filter(|part| !part.is_empty()).map(|part| {
        let equals = memchr::memchr(b'=', part).unwrap_or(part.len());
        (&part[..equals], part.get(equals + 1..).unwrap_or_default())
    });
    (head, parameters)
}

/// Returns the value without the quotes of a quoted string. Escapes are not decoded: no compared
/// value has any.
pub(crate) fn unquoted(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] => inner,
        _ => value,
    }
}

struct Split<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Iterator for Split<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let end = separator_outside_quotes(rest, self.separator);
        self.rest = end.map(|end| &rest[end + 1..]);
        Some(rest[..end.unwrap_or(rest.len())].trim_ascii())
    }
}

fn separator_outside_quotes(bytes: &[u8], separator: u8) -> Option<usize> {
    let mut quoted = false;
    let mut escaped = false;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if byte == separator && !quoted => return Some(at),
            _ => {}
        }
    }
    None
}
