//! What a directive accepts, as data: messages, the schema, the reference and completion are made
//! of it.

use std::sync::OnceLock;

use crate::diagnostic::Diagnostics;
use crate::parse::parse_value;
use crate::section::plain_name;
use crate::source::SourceId;
use crate::tree::{Node, Value};

/// The values that a type accepts.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A boolean: `true` or `false`.
    Boolean,
    /// An integer; both bounds are included.
    Integer {
        /// The smallest value of the type.
        min: i128,
        /// The largest value of the type.
        max: i128,
    },
    /// A number with a fraction.
    Number,
    /// A text with a meaning.
    Text(TextShape),
    /// One of several words.
    Word(&'static [Word]),
    /// A list, or one element alone.
    List(Box<Shape>),
    /// A table whose names users choose, with values of one shape.
    Named(Box<Shape>),
    /// A table of directives.
    Section(&'static Declaration),
    /// One of several shapes.
    Either(Vec<Shape>),
}

/// A text with a meaning, such as a time.
#[derive(Clone, Copy, Debug)]
pub struct TextShape {
    /// What it is called, in the singular and without an article: `time`.
    pub noun: &'static str,
    /// An example without quotes; empty if the noun is clear enough.
    pub example: &'static str,
    /// A regular expression (ECMA 262) for editors, if there is one; the reader decides.
    pub pattern: Option<&'static str>,
}

/// A word that a directive accepts.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The word as it is typed.
    pub name: &'static str,
    /// What the word means.
    pub doc: &'static str,
}

/// A section: its directives and its documentation.
#[derive(Debug)]
pub struct Declaration {
    /// The name of its type; unique among the sections of one document.
    pub name: &'static str,
    /// The lines of its documentation.
    pub doc: &'static [&'static str],
    /// The directive that a value in place of the table stands for.
    pub short: Option<&'static str>,
    /// Whether the section, if optional, is kept if one of its directives could not be read.
    pub keeps_partial: bool,
    /// Its directives, in order.
    pub fields: &'static [Field],
}

impl Declaration {
    /// Returns the directive of a name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name() == name)
    }

    /// Returns whether any of its directives is required.
    pub fn is_required(&self) -> bool {
        self.fields.iter().any(Field::is_required)
    }
}

/// The declaration of one directive.
#[derive(Debug)]
pub struct Field {
    /// The name of the field; see [`Field::name`].
    pub identifier: &'static str,
    /// The lines of its documentation.
    pub doc: &'static [&'static str],
    /// Returns the values that it accepts.
    pub shape: fn() -> Shape,
    /// Returns whether its type has no value of its own for a missing directive.
    pub needs_value: fn() -> bool,
    /// Returns the errors in its default and bounds, given the name of its section; see
    /// [`faults`](crate::faults).
    pub check: fn(&Field, &str) -> Vec<String>,
    /// The default, used if the directive is missing.
    pub default: Option<Literal>,
    /// The smallest and the largest value.
    pub bounds: Option<(Literal, Literal)>,
}

impl Field {
    /// Returns its name in documents: a Rust keyword such as `type` is written `r#type` as a field.
    pub fn name(&self) -> &'static str {
        plain_name(self.identifier)
    }

    /// Returns whether the directive is required.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && (self.needs_value)()
    }

    /// Returns its bounds as they are written in a document.
    pub fn bounds_text(&self) -> Option<Bounds> {
        self.bounds.as_ref().map(|(low, high)| (low.text(), high.text()))
    }

    /// Returns what it accepts, with its bounds: `a time from "0s" to "1d"`.
    pub fn phrase(&self) -> String {
        (self.shape)().phrase_within(self.bounds_text())
    }
}

/// A value in a declaration, as written in a document. It is parsed once.
#[derive(Debug)]
pub struct Literal {
    text: &'static str,
    node: OnceLock<Node>,
}

impl Literal {
    /// Makes a literal of its text in a document. Parentheses around it, which join several tokens,
    /// are removed.
    pub const fn new(text: &'static str) -> Literal {
        Literal { text, node: OnceLock::new() }
    }

    /// Returns the value as a user would type it.
    pub fn text(&self) -> &'static str {
        let inner = self.text.strip_prefix('(');
        inner.and_then(|inner| inner.strip_suffix(')')).unwrap_or(self.text)
    }

    pub(crate) fn node(&self) -> &Node {
        self.node.get_or_init(|| parse_value(SourceId::NONE, self.text(), &mut Diagnostics::new()))
    }
}

/// The smallest and the largest value of a directive, as in its declaration.
pub type Bounds = (&'static str, &'static str);

/// What is added to the name of a type.
#[derive(Clone, Copy)]
enum Extent {
    /// Its own bounds, or an example.
    Own,
    /// The bounds of a directive.
    Within(Bounds),
    /// Nothing, because it is mentioned elsewhere.
    Omitted,
}

impl Shape {
    /// Returns what is expected, with its article: `a time such as "10s"`.
    pub fn phrase(&self) -> String {
        self.singular(Extent::Own)
    }

    /// Returns what is expected within the bounds of a directive: `a time from "0s" to "1d"`.
    pub fn phrase_within(&self, bounds: Option<Bounds>) -> String {
        self.singular(bounds.map_or(Extent::Own, Extent::Within))
    }

    /// Returns what is expected without bounds and examples: `a time`.
    pub(crate) fn bare_phrase(&self) -> String {
        self.singular(Extent::Omitted)
    }

    fn singular(&self, extent: Extent) -> String {
        match self {
            Shape::Section(declaration) => match declaration.short_field() {
                Some(field) => format!("a table, or {}", field.phrase()),
                None => "a table".to_owned(),
            },
            Shape::Boolean => "`true` or `false`".to_owned(),
            Shape::Word([word]) => typed(word),
            Shape::Word(words) => format!("one of {}", words_of(words)),
            Shape::Named(_) => "a table of named entries".to_owned(),
            Shape::List(element) => format!("a list of {}", element.plural(extent)),
            Shape::Either(shapes) => either(shapes, ", or ", extent, Shape::singular),
            Shape::Integer { .. } | Shape::Number | Shape::Text(_) => {
                format!("{}{}", with_article(self.noun()), self.extent(extent))
            }
        }
    }

    /// Returns the plural: `times`.
    fn plural(&self, extent: Extent) -> String {
        match self {
            Shape::Boolean => "booleans".to_owned(),
            Shape::Word(words) => format!("words out of {}", words_of(words)),
            Shape::List(element) => format!("lists of {}", element.plural(extent)),
            Shape::Named(_) | Shape::Section(_) => "tables".to_owned(),
            Shape::Either(shapes) => either(shapes, " or ", extent, Shape::plural),
            Shape::Integer { .. } | Shape::Number | Shape::Text(_) => {
                format!("{}{}", plural_of(self.noun()), self.extent(extent))
            }
        }
    }

    /// Returns the name of a value without structure.
    fn noun(&self) -> &'static str {
        match self {
            Shape::Integer { .. } => "integer",
            Shape::Number => "number",
            Shape::Text(text) => text.noun,
            _ => "value",
        }
    }

    /// Returns what follows the noun.
    fn extent(&self, extent: Extent) -> String {
        match (self, extent) {
            (_, Extent::Within((low, high))) => format!(" from {low} to {high}"),
            (Shape::Integer { min, max }, Extent::Own) => match (*min, *max) {
                (0, max) if max >= i128::from(u32::MAX) => ", 0 or more".to_owned(),
                (_, max) if max >= i128::from(i32::MAX) => String::new(),
                (min, max) => format!(" from {min} to {max}"),
            },
            (Shape::Text(text), Extent::Own) if !text.example.is_empty() => {
                format!(" such as \"{}\"", text.example)
            }
            _ => String::new(),
        }
    }

    /// Returns whether a flag or an environment variable can set it: a value without structure, a
    /// list of such, or a section that such a value stands for.
    pub fn is_plain(&self) -> bool {
        match self {
            Shape::Boolean
            | Shape::Integer { .. }
            | Shape::Number
            | Shape::Text(_)
            | Shape::Word(_) => true,
            Shape::List(element) => element.is_plain(),
            Shape::Section(declaration) => {
                let short = declaration.short_field();
                short.is_some_and(|field| (field.shape)().is_plain())
            }
            Shape::Named(_) => false,
            Shape::Either(shapes) => shapes.iter().any(Shape::is_plain),
        }
    }

    /// Returns whether a value has the right type, whatever its content.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        let is_text = matches!(value, Value::Text(_) | Value::Bare(_));
        let is_variable = matches!(value, Value::Text(text) | Value::Bare(text) if text.contains("${"))
            || matches!(value, Value::Bare(_));
        match self {
            Shape::Boolean => is_variable || matches!(value, Value::Boolean(_)),
            Shape::Integer { .. } => is_variable || matches!(value, Value::Integer(_)),
            Shape::Number => is_variable || matches!(value, Value::Number(_) | Value::Integer(_)),
            Shape::Text(_) | Shape::Word(_) => is_text,
            Shape::List(element) => matches!(value, Value::List(..)) || element.accepts(value),
            Shape::Named(_) => matches!(value, Value::Table(_)),
            Shape::Section(declaration) => {
                let short = declaration.short_field();
                matches!(value, Value::Table(_))
                    || short.is_some_and(|field| (field.shape)().accepts(value))
            }
            Shape::Either(shapes) => shapes.iter().any(|shape| shape.accepts(value)),
        }
    }
}

impl Declaration {
    /// Returns the directive that a value in place of the table stands for.
    pub(crate) fn short_field(&self) -> Option<&'static Field> {
        self.field(self.short?)
    }
}

/// Returns several shapes in one phrase. Bounds hold for all of them and are written once.
fn either(shapes: &[Shape], or: &str, extent: Extent, say: fn(&Shape, Extent) -> String) -> String {
    let (each, bounds) = match extent {
        Extent::Within((low, high)) => (Extent::Omitted, format!(", from {low} to {high}")),
        other => (other, String::new()),
    };
    let phrases: Vec<String> = shapes.iter().map(|shape| say(shape, each)).collect();
    format!("{}{bounds}", phrases.join(or))
}

fn words_of(words: &[Word]) -> String {
    let words: Vec<String> = words.iter().map(typed).collect();
    words.join(", ")
}

/// A word as it is typed, quotes included.
fn typed(word: &Word) -> String {
    format!("`\"{}\"`", word.name)
}

/// Chosen by the first letter. A noun with `u` gets `a`: a URL, a user.
fn with_article(noun: &str) -> String {
    if noun.to_ascii_lowercase().starts_with(['a', 'e', 'i', 'o']) {
        format!("an {noun}")
    } else {
        format!("a {noun}")
    }
}

/// The plural of a noun, or of the noun before its attribute: `modes in octal`.
fn plural_of(noun: &str) -> String {
    let attribute = [" in ", " of ", " on ", " for ", " to ", " with "];
    let begins = attribute.iter().filter_map(|word| noun.find(word));
    let (noun, attribute) = noun.split_at(begins.min().unwrap_or(noun.len()));
    match noun.as_bytes() {
        [stem @ .., b'y'] if !stem.ends_with(b"e") => {
            format!("{}ies{attribute}", &noun[..noun.len() - 1])
        }
        [.., b's' | b'x'] | [.., b's' | b'c', b'h'] => format!("{noun}es{attribute}"),
        _ => format!("{noun}s{attribute}"),
    }
}

/// Returns names as code, separated by commas.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Stands for the name that a user chooses.
pub(crate) const PLACEHOLDER: &str = "NAME";

/// One of the paths at which a section occurs in a document.
#[derive(Clone, Debug)]
pub struct SectionPath {
    /// The names that lead to it from the top level, whose path is empty.
    pub path: Vec<&'static str>,
    /// Whether it occurs once or any number of times.
    pub count: Count,
    /// The declaration of the section.
    pub declaration: &'static Declaration,
}

/// How often a section may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Once, under one header.
    One,
    /// Any number of times, in a list.
    Many,
}

impl SectionPath {
    /// Returns its header in a document as code; words for the top level.
    pub fn header(&self) -> String {
        let path = self.path.join(".");
        match (path.as_str(), self.count) {
            ("", _) => "the top level".to_owned(),
            (path, Count::One) => format!("`[{path}]`"),
            (path, Count::Many) => format!("`[[{path}]]`"),
        }
    }
}

/// Returns all sections of a document in the order of their declarations. A section that contains
/// itself is listed once there.
pub fn section_paths(root: &'static Declaration) -> Vec<SectionPath> {
    let mut sections = vec![SectionPath { path: Vec::new(), count: Count::One, declaration: root }];
    collect(root, &mut Vec::new(), &mut vec![root], &mut sections);
    sections
}

fn collect(
    declaration: &'static Declaration,
    path: &mut Vec<&'static str>,
    above: &mut Vec<&'static Declaration>,
    sections: &mut Vec<SectionPath>,
) {
    for field in declaration.fields {
        path.push(field.name());
        let depth = path.len();
        if let Some((inner, count)) = section_of(&(field.shape)(), path) {
            sections.push(SectionPath { path: path.clone(), count, declaration: inner });
            if !above.iter().any(|one| std::ptr::eq(*one, inner)) {
                above.push(inner);
                collect(inner, path, above, sections);
                above.pop();
            }
        }
        path.truncate(depth - 1);
    }
}

/// Returns the section that a shape consists of; names that users choose are added to the path.
fn section_of(
    shape: &Shape,
    path: &mut Vec<&'static str>,
) -> Option<(&'static Declaration, Count)> {
    match shape {
        Shape::Section(declaration) => Some((*declaration, Count::One)),
        Shape::List(element) => section_of(element, path).map(|(inner, _)| (inner, Count::Many)),
        Shape::Named(element) => {
            path.push(PLACEHOLDER);
            section_of(element, path)
        }
        Shape::Either(shapes) => shapes.iter().find_map(|shape| section_of(shape, path)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(noun: &'static str, singular: &str, plural: &str) {
        let text = TextShape { noun, example: "", pattern: None };
        assert_eq!(Shape::Text(text).phrase(), singular);
        let list = Shape::List(Box::new(Shape::Text(text)));
        assert_eq!(list.phrase(), format!("a list of {plural}"));
    }

    #[test]
    fn nouns_have_their_article_and_plural() {
        check("time", "a time", "times");
        check("IP address", "an IP address", "IP addresses");
        check("entry", "an entry", "entries");
        check("key", "a key", "keys");
        check("path", "a path", "paths");
        check("hash", "a hash", "hashes");
        check("mode in octal", "a mode in octal", "modes in octal");
        check("address to listen on", "an address to listen on", "addresses to listen on");
    }

    #[test]
    fn one_word_is_said_without_a_choice() {
        const WORDS: &[Word] = &[Word { name: "auto", doc: "" }, Word { name: "off", doc: "" }];
        assert_eq!(Shape::Word(&WORDS[..1]).phrase(), "`\"auto\"`");
        assert_eq!(Shape::Word(WORDS).phrase(), "one of `\"auto\"`, `\"off\"`");
    }
}
