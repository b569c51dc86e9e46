//! Where in a target a value stands, which decides what of it must be encoded.

use super::flaw::Flaw;

/// The part of a target that is being written (RFC 3986 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing stands before.
    Start,
    /// After `{scheme}`: `://` must follow.
    Scheme,
    /// After `//`, before a host.
    Host,
    /// Within host and port, of which something stands already.
    Authority,
    /// In the path.
    Path,
    /// After `?`.
    Query,
    /// After `#`.
    Fragment,
}

impl Place {
    /// The place after a literal text that begins here. `at` is where the text stands in the
    /// template.
    pub(super) fn after(self, text: &str, at: usize) -> Result<Self, Flaw> {
        let mut place = self;
        let mut rest = text;
        while !rest.is_empty() {
            let here = at + text.len() - rest.len();
            let taken;
            (place, taken) = step(place, rest, here)?;
            rest = &rest[taken..];
        }
        Ok(place)
    }
}

/// The place after the next piece of a literal text, and the length of that piece.
fn step(place: Place, rest: &str, at: usize) -> Result<(Place, usize), Flaw> {
    match place {
        Place::Start => start(rest, at),
        Place::Scheme if rest.starts_with("://") => Ok((Place::Host, 3)),
        Place::Scheme => Err(Flaw::new(at..at, "`{scheme}` must be followed by `://` and a host")),
        Place::Host if rest.starts_with(['/', '?', '#']) => {
            Err(Flaw::new(at..at, "the host is missing after `//`"))
        }
        Place::Host => Ok((Place::Authority, 0)),
        Place::Authority => Ok(up_to(
            rest,
            &[('/', Place::Path), ('?', Place::Query), ('#', Place::Fragment)],
            place,
        )),
        Place::Path => Ok(up_to(rest, &[('?', Place::Query), ('#', Place::Fragment)], place)),
        Place::Query => Ok(up_to(rest, &[('#', Place::Fragment)], place)),
        Place::Fragment => Ok((Place::Fragment, rest.len())),
    }
}

/// Skips to after the first of some characters, each of which begins a place.
fn up_to(rest: &str, ends: &[(char, Place)], place: Place) -> (Place, usize) {
    for (at, character) in rest.char_indices() {
        if let Some((_, next)) = ends.iter().find(|(end, _)| *end == character) {
            return (*next, at + 1);
        }
    }
    (place, rest.len())
}

fn start(rest: &str, at: usize) -> Result<(Place, usize), Flaw> {
    if rest.starts_with("//") {
        return Ok((Place::Host, 2));
    }
    if rest.starts_with('/') {
        return Ok((Place::Path, 1));
    }
    let scheme_end = rest
        .find(|character: char| !character.is_ascii_alphanumeric() && !"+-.".contains(character));
    let Some(colon) = scheme_end.filter(|&end| end > 0 && rest[end..].starts_with(':')) else {
        return Ok((Place::Path, 0));
    };
    let after = &rest[colon + 1..];
    if after.starts_with("//") {
        return Ok((Place::Host, colon + 3));
    }
    let scheme = &rest[..colon];
    if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
        let after = at + colon + 1;
        return Err(Flaw::new(
            after..after,
            format!("`{scheme}:` must be followed by two slashes and a host"),
        ));
    }
    // A scheme without authority, such as `mailto:`.
    Ok((Place::Path, colon + 1))
}
