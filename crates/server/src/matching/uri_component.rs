//! Tracks the component of a URI in a template, which decides how values are encoded.

use super::flaw::Flaw;

/// The component of a URI that is being parsed (RFC 3986 §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Component {
    /// At the beginning.
    Start,
    /// After `{scheme}`: `://` must follow.
    Scheme,
    /// After `//`, before a host.
    Host,
    /// Within host and port, after their first character.
    Authority,
    /// In the path.
    Path,
    /// After `?`.
    Query,
    /// After `#`.
    Fragment,
}

impl Component {
    /// The component after a literal text that begins here. `at` is where the text stands in the
    /// template.
    pub(super) fn after(self, text: &str, at: usize) -> Result<Self, Flaw> {
        let mut component = self;
        let mut rest = text;
        while !rest.is_empty() {
            let here = at + text.len() - rest.len();
            let taken;
            (component, taken) = step(component, rest, here)?;
            rest = &rest[taken..];
        }
        Ok(component)
    }
}

/// The component after the next piece of a literal text, and the length of that piece.
fn step(component: Component, rest: &str, at: usize) -> Result<(Component, usize), Flaw> {
    match component {
        Component::Start => start(rest, at),
        Component::Scheme if rest.starts_with("://") => Ok((Component::Host, 3)),
        Component::Scheme => {
            Err(Flaw::new(at..at, "`{scheme}` must be followed by `://` and a host"))
        }
        Component::Host if rest.starts_with(['/', '?', '#']) => {
            Err(Flaw::new(at..at, "the host is missing after `//`"))
        }
        Component::Host => Ok((Component::Authority, 0)),
        Component::Authority => Ok(up_to(
            rest,
            &[('/', Component::Path), ('?', Component::Query), ('#', Component::Fragment)],
            component,
        )),
        Component::Path => {
            Ok(up_to(rest, &[('?', Component::Query), ('#', Component::Fragment)], component))
        }
        Component::Query => Ok(up_to(rest, &[('#', Component::Fragment)], component)),
        Component::Fragment => Ok((Component::Fragment, rest.len())),
    }
}

/// Skips to after the first of some characters, each of which begins a component.
fn up_to(rest: &str, ends: &[(char, Component)], component: Component) -> (Component, usize) {
    for (at, character) in rest.char_indices() {
        if let Some((_, next)) = ends.iter().find(|(end, _)| *end == character) {
            return (*next, at + 1);
        }
    }
    (component, rest.len())
}

/// The message for a target that is neither a path nor a URL.
fn unrooted(target: &str) -> String {
    let host = target.split(['/', '?', '#']).next().unwrap_or_default();
    let example = if host.contains('.') { target } else { "example.org" };
    format!(
        "a target must begin with `/` or a scheme: `https://{example}` is another host, \
         `/{target}` a path on this one"
    )
}

fn start(rest: &str, at: usize) -> Result<(Component, usize), Flaw> {
    if rest.starts_with("//") {
        return Ok((Component::Host, 2));
    }
    if rest.starts_with('/') {
        return Ok((Component::Path, 1));
    }
    let scheme_end = rest
        .find(|character: char| !character.is_ascii_alphanumeric() && !"+-.".contains(character));
    let Some(colon) = scheme_end.filter(|&end| end > 0 && rest[end..].starts_with(':')) else {
        if rest.starts_with(['?', '#']) || rest.starts_with("./") || rest.starts_with("../") {
            return Ok((Component::Path, 0));
        }
        return Err(Flaw::new(at..at + rest.len(), unrooted(rest)));
    };
    let after = &rest[colon + 1..];
    if after.starts_with("//") {
        return Ok((Component::Host, colon + 3));
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
    Ok((Component::Path, colon + 1))
}
