//! The outline of a template: which templates, blocks, names, filters and tests it uses, with their
//! positions. [`super::outline_walk`] collects it.

use std::collections::BTreeSet;

use minijinja::Error;
use minijinja::machinery::parse;
use minijinja::syntax::SyntaxConfig;

use crate::pages::outline_walk::Walker;

/// A name and the byte at which it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) offset: usize,
}

/// Whether a referenced template is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// The template must exist.
    Required,
    /// `ignore missing`, or one of a list of which the first that exists is taken.
    Optional,
}

/// A block, where it is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockOutline {
    pub(crate) at: Named,
    /// Whether it stands in another block, and so may be new in a template that extends another.
    pub(crate) is_nested: bool,
    pub(crate) is_required: bool,
    /// Where it calls `super()`.
    pub(crate) supers: Vec<usize>,
}

/// The parent of a template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Parent {
    #[default]
    None,
    One(Named),
    /// An expression, which is known only during rendering.
    Open,
}

/// The names, blocks and references of a template.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outline {
    pub(crate) parent: Parent,
    /// All templates named by a literal, the parent among them.
    pub(crate) references: Vec<(Named, Requirement)>,
    /// Whether a template is named by an expression.
    pub(crate) has_open_references: bool,
    pub(crate) blocks: Vec<BlockOutline>,
    /// Blocks called as `self.name()`.
    pub(crate) block_calls: Vec<Named>,
    /// Names that are used and must be defined.
    pub(crate) names: Vec<Named>,
    /// All names that are used, including those that may be undefined (`is defined`, `default`).
    pub(crate) used: BTreeSet<String>,
    /// Names that the template defines.
    pub(crate) assigned: BTreeSet<String>,
    pub(crate) filters: Vec<Named>,
    pub(crate) tests: Vec<Named>,
    /// Where `autoescape` stands.
    pub(crate) autoescapes: Vec<usize>,
}

impl Outline {
    /// Reads a template; an error is one of its syntax.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let tree = parse(text, name, SyntaxConfig::default())?;
        let mut walker = Walker::new(text);
        walker.statement(&tree);
        Ok(walker.outline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[Named]) -> Vec<&str> {
        of.iter().map(|named| named.name.as_str()).collect()
    }

    fn outline(text: &str) -> Outline {
        Outline::parse("a.html", text).unwrap()
    }

    fn check_used(text: &str, expected: &[&str]) {
        let used: Vec<_> = outline(text).used.into_iter().collect();
        assert_eq!(used, expected, "{text}");
    }

    #[test]
    fn names_are_found_wherever_they_are_read() {
        check_used("a", &[]);
        check_used("{{ a.b[c](d, e=f)|g(h) is i(j) }}", &["a", "c", "d", "f", "h", "j"]);
        check_used(
            "{{ a if b else c }}{{ -d + e ~ f }}{{ g < h < i }}",
            &["a", "b", "c", "d", "e", "f", "g", "h", "i"],
        );
        check_used(
            "{{ [a, (b, c)] }}{{ {d: e} }}{{ f[g:h:i] }}",
            &["a", "b", "c", "d", "e", "f", "g", "h", "i"],
        );
        check_used(
            "{% for x in a if b %}{{ c }}{% else %}{{ d }}{% endfor %}",
            &["a", "b", "c", "d"],
        );
        check_used(
            "{% if a %}{{ b }}{% elif c %}{{ d }}{% else %}{{ e }}{% endif %}",
            &["a", "b", "c", "d", "e"],
        );
        check_used(
            "{% with x = a %}{{ b }}{% endwith %}{% set x = c %}{% set y %}{{ d }}{% endset %}",
            &["a", "b", "c", "d"],
        );
        check_used("{% filter upper %}{{ a }}{% endfilter %}{% do b(c) %}", &["a", "b", "c"]);
        check_used(
            "{% macro m(x=a) %}{{ b }}{% endmacro %}{% call c(d) %}{{ e }}{% endcall %}",
            &["a", "b", "c", "d", "e"],
        );
        check_used(
            "{% include a %}{% import b as x %}{% from c import y %}{% extends d %}",
            &["a", "b", "c", "d"],
        );
        check_used(
            "{% block x %}{{ a }}{% endblock %}{% autoescape a %}{{ b }}{% endautoescape %}",
            &["a", "b"],
        );
        check_used("{{ a is defined }}{{ b|default(c) }}{{ d|d }}", &["a", "b", "c", "d"]);
    }

    #[test]
    fn names_that_may_mean_nothing_are_told_apart() {
        let outline =
            outline("{{ a is defined and b is undefined }}{{ c|default(1) }}{{ d is string }}");
        assert_eq!(names(&outline.names), ["d"]);
    }

    #[test]
    fn templates_are_found() {
        let outline = outline(
            "{% extends 'p' %}{% include 'a' %}{% include ['b', 'c'] %}{% include 'd' ignore missing %}{% import 'e' as e %}",
        );
        let references: Vec<_> =
            outline.references.iter().map(|(named, need)| (named.name.as_str(), *need)).collect();
        let (must, may) = (Requirement::Required, Requirement::Optional);
        assert_eq!(
            references,
            [("p", must), ("a", must), ("b", may), ("c", may), ("d", may), ("e", must)]
        );
        assert!(matches!(&outline.parent, Parent::One(named) if named.name == "p"));
        assert!(!outline.has_open_references);
    }

    #[test]
    fn what_is_known_later_is_said_to_be() {
        assert!(outline("{% include a ~ '.html' %}").has_open_references);
        assert_eq!(outline("{% extends a %}").parent, Parent::Open);
        assert_eq!(outline("{% if a %}{% extends 'p' %}{% endif %}").parent, Parent::Open);
    }

    #[test]
    fn places_are_those_of_the_names() {
        let text = "{{ a|b is c }}\n{% block d %}{{ super() }}{% endblock %}{{ self.e() }}";
        let outline = outline(text);
        let found = [
            &outline.filters[0],
            &outline.tests[0],
            &outline.blocks[0].at,
            &outline.block_calls[0],
        ];
        for named in found {
            assert_eq!(text[named.offset..].chars().next(), named.name.chars().next(), "{named:?}");
        }
        assert_eq!(outline.blocks[0].supers.len(), 1);
    }
}
