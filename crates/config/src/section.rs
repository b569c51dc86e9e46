//! Sections: structs whose fields are directives. [`section!`](crate::section) declares one.

use crate::diagnostic::Diagnostic;
use crate::diagnostic::{cited, unknown};
use crate::reader::{Bounded, FromConfig, Reader};
use crate::setting::Setting;
use crate::shape::{Declaration, Field, Shape};
use crate::show::ShownEntry;
use crate::source::Span;
use crate::tree::{DirectiveEntry, Key, Node, Value};

/// A struct whose fields are directives. Implemented by [`section!`](crate::section).
pub trait Section: FromConfig {
    /// Returns the directives of the section.
    fn declaration() -> &'static Declaration;

    /// Reads each field; the macro's part of [`read`].
    #[doc(hidden)]
    fn read_fields(fields: &mut Fields<'_, '_>) -> Option<Self>;

    /// Each field with its value; the macro's part of [`show`].
    #[doc(hidden)]
    fn show_fields(&self) -> Vec<ShownEntry>;
}

/// Declares a section: a structure whose fields are directives.
///
/// ```
/// use vervet_config::{Size, Text, Time};
///
/// vervet_config::section! {
///     /// What scripts of other origins may read.
///     pub struct Cors short(origins) {
///         /// Origins that may read answers; `*` for any.
///         pub origins: Vec<Text> = ["*"],
///         /// How long a browser may keep the answer to a preflight.
///         pub max_age: Time = "10m" in "0s"..="1d",
///         /// Who answers for it. Without a default it is required.
///         pub contact: Text,
///         /// The most bytes. An `Option` may be missing; `_` stands for no default.
///         pub bytes: Option<Size> = _ in "1KiB"..="1GiB",
///     }
/// }
///
/// let read = vervet_config::read_text::<Cors>("cors.toml", "contact = 'a@example.org'");
/// assert_eq!(read.value.unwrap().max_age.as_secs(), 600);
/// ```
///
/// - Defaults and bounds are values as they would stand in a document, read by the reader of
///   documents. One that is several tokens in Rust stands in parentheses: `= (-5)`. `_` is none.
/// - `short(field)`: a bare value in place of the table stands for that one field (`cors = "*"`).
/// - `in part` after the name: the section is kept if one of its directives is invalid, so that the
///   others can be checked against the rest of the document. The document is rejected all the same.
/// - Each field of the structure is a [`Setting`], which derefs to the value and has its origin.
/// - A field that is an `Option`, a `Vec`, a [`Named`](crate::Named), or a section of which nothing
///   is required may be missing without a default.
/// - A block of code in a documentation comment is shown in the reference as an example.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $doc:expr])*
        $vis:vis struct $Section:ident $(short($short:ident))? $(in $part:ident)? {
            $(
                $(#[doc = $field_doc:expr])*
                $field_vis:vis $field:ident : $type:ty
                    $(= $default:tt $(in $low:literal ..= $high:literal)?)?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $Section {
            $(
                $(#[doc = $field_doc])*
                $field_vis $field: $crate::Setting<$type>,
            )*
        }

        impl $crate::Section for $Section {
            fn declaration() -> &'static $crate::Declaration {
                const COUNT: usize = <[&str]>::len(&[$(stringify!($field)),*]);
                static FIELDS: [$crate::Field; COUNT] = [$(
                    $crate::Field {
                        identifier: stringify!($field),
                        doc: &[$($field_doc),*],
                        shape: <$type as $crate::FromConfig>::shape,
                        needs_value: <$type as $crate::FromConfig>::needs_value,
                        check: $crate::__first!(
                            $($($crate::__first!($crate::check_bounds::<$type>, $low),)?)?
                            $crate::check_default::<$type>
                        ),
                        default: $crate::__first!($($crate::__literal!($default),)? None),
                        bounds: $crate::__first!(
                            $($(Some(($crate::__bound!($low), $crate::__bound!($high))),)?)? None
                        ),
                    },
                )*];
                static DECLARATION: $crate::Declaration = $crate::Declaration {
                    name: stringify!($Section),
                    doc: &[$($doc),*],
                    short: $crate::__first!($(Some($crate::plain_name(stringify!($short))),)? None),
                    keeps_partial: !<[&str]>::is_empty(&[$(stringify!($part))?]),
                    fields: &FIELDS,
                };
                &DECLARATION
            }

            fn read_fields(fields: &mut $crate::Fields<'_, '_>) -> Option<Self> {
                $(
                    let $field = fields.read::<$type>(stringify!($field));
                    $($(
                        let $field = $crate::__first!(
                            fields.bounded::<$type>($field, stringify!($field)),
                            $low,
                            $high
                        );
                    )?)?
                )*
                Some(Self { $($field: $field?,)* })
            }

            fn show_fields(&self) -> Vec<$crate::ShownEntry> {
                vec![$($crate::show_field(stringify!($field), &self.$field),)*]
            }
        }

        impl $crate::FromConfig for $Section {
            fn shape() -> $crate::Shape {
                $crate::Shape::Section(<Self as $crate::Section>::declaration())
            }

            fn read(node: &$crate::Node, reader: &mut $crate::Reader<'_>) -> Option<Self> {
                $crate::read_section(node, reader)
            }

            fn show(&self) -> $crate::Shown {
                $crate::Shown::Table(<Self as $crate::Section>::show_fields(self))
            }

            fn needs_value() -> bool {
                <Self as $crate::Section>::declaration().is_required()
            }

            fn absent(at: $crate::Span, reader: &mut $crate::Reader<'_>) -> Option<Self> {
                $crate::absent_section(at, reader)
            }
        }
    };
}

/// Returns the name of a directive: a field for a Rust keyword such as `type` is written `r#type`.
#[doc(hidden)]
pub const fn plain_name(identifier: &'static str) -> &'static str {
    match identifier.as_bytes() {
        [b'r', b'#', ..] => identifier.split_at(2).1,
        _ => identifier,
    }
}

/// The first of some expressions.
#[doc(hidden)]
#[macro_export]
macro_rules! __first {
    ($first:expr $(, $rest:expr)* $(,)?) => {
        $first
    };
}

/// A default, or none for `_`.
#[doc(hidden)]
#[macro_export]
macro_rules! __literal {
    (_) => {
        None
    };
    ($default:tt) => {
        Some($crate::Literal::new(stringify!($default)))
    };
}

/// A bound.
#[doc(hidden)]
#[macro_export]
macro_rules! __bound {
    ($bound:literal) => {
        $crate::Literal::new(stringify!($bound))
    };
}

/// The maximum number of unknown directives of a table that are reported each.
pub const UNKNOWN_MAX: usize = 100;

/// Reads a section from a table, or from the value of its short directive.
#[doc(hidden)]
pub fn read_section<S: Section>(node: &Node, reader: &mut Reader<'_>) -> Option<S> {
    let declaration = S::declaration();
    let (entries, form) = match (&node.value, declaration.short) {
        (Value::Broken, _) => return None,
        (Value::Table(table), _) => {
            let unknown = |entry: &&DirectiveEntry| declaration.field(&entry.key.name).is_none();
            let mut unknown = table.entries().iter().filter(unknown);
            for entry in unknown.by_ref().take(UNKNOWN_MAX) {
                unknown_directive(declaration, &entry.key, reader);
            }
            if let Some(next) = unknown.next() {
                let count = 1 + unknown.count();
                let message = format!("{count} more unknown directives from here on");
                reader.report(Diagnostic::error(next.key.span, message));
            }
            let entries = table.entries().iter();
            let entries = entries.map(|entry| (entry.key.name.as_str(), &entry.node));
            (entries.collect(), Form::Table)
        }
        (value, Some(short)) if S::shape().accepts(value) => (vec![(short, node)], Form::Short),
        _ => {
            reader.mismatch(node, &S::shape());
            return None;
        }
    };
    S::read_fields(&mut Fields { reader, at: node.span, declaration, entries, form })
}

/// Returns a section that is missing, with all its defaults.
#[doc(hidden)]
pub fn absent_section<S: Section>(at: Span, reader: &mut Reader<'_>) -> Option<S> {
    S::read_fields(&mut Fields {
        reader,
        at,
        declaration: S::declaration(),
        entries: Vec::new(),
        form: Form::Table,
    })
}

/// The maximum number of sections that a finding lists for a directive that belongs to them.
const HEADERS_MAX: usize = 4;

fn unknown_directive(declaration: &'static Declaration, key: &Key, reader: &mut Reader<'_>) {
    let Key { name, span } = key;
    let known: Vec<&str> = declaration.fields.iter().map(Field::name).collect();
    let message = format!("unknown directive `{}`", cited(name));
    let mut diagnostic = unknown(*span, message, name, &known);
    if diagnostic.nearest.is_none() {
        let headers = reader.headers_of(name);
        let (named, others) = headers.split_at(HEADERS_MAX.min(headers.len()));
        let more = if others.is_empty() { "" } else { " and others" };
        if !named.is_empty() {
            let named = named.join(", ");
            diagnostic = diagnostic.note(format!("`{name}` is a directive of {named}{more}"));
        }
    }
    reader.report(diagnostic);
}

/// The directives of one section while they are read.
pub struct Fields<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// The header, or the value in place of the section.
    at: Span,
    declaration: &'static Declaration,
    entries: Vec<(&'r str, &'r Node)>,
    form: Form,
}

/// How the section is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Table,
    /// As the value of its short directive; findings use the name that is written.
    Short,
}

impl<'r> Fields<'r, '_> {
    /// Reads a directive: its value, or its default, or the value of its type for a missing
    /// directive.
    pub fn read<T: FromConfig>(&mut self, identifier: &'static str) -> Option<Setting<T>> {
        let field = self.field(identifier)?;
        if let Some(node) = self.entry(field) {
            let read = |reader: &mut Reader<'_>| {
                let value = T::read(node, reader)?;
                Some(reader.setting(node, value))
            };
            let read = match self.form {
                Form::Table => self.reader.directive(field, read),
                Form::Short => read(self.reader),
            };
            return read.or_else(|| self.replacement(field, node));
        }
        self.missing_value(field)
    }

    /// Returns a replacement for a directive that could not be read, which has been reported, so
    /// that the rest of the document can be checked. If its type has none, the section is left out.
    fn replacement<T: FromConfig>(
        &mut self,
        field: &'static Field,
        node: &Node,
    ) -> Option<Setting<T>> {
        let is_part = matches!(T::shape(), Shape::Section(_) | Shape::List(_) | Shape::Named(_));
        if !is_part && !self.is_kept() {
            return None;
        }
        let findings = self.reader.finding_count();
        let value = self.missing_value::<T>(field);
        self.reader.truncate_findings(findings);
        Some(self.reader.setting(node, value?.into_value()))
    }

    /// Returns whether the section is kept if one of its directives could not be read.
    fn is_kept(&self) -> bool {
        self.reader.is_at_root() || self.declaration.keeps_partial
    }

    /// Returns the value of a missing directive: its default, or the value of its type for one.
    fn missing_value<T: FromConfig>(&mut self, field: &'static Field) -> Option<Setting<T>> {
        let at = self.at;
        let default = |value| Setting::default_at(value, at);
        if let Some(literal) = &field.default {
            let read = |reader: &mut Reader<'_>| reader.declared(literal, at);
            return self.reader.directive(field, read).map(default);
        }
        if T::needs_value() {
            let name = field.name();
            let message = format!("the directive `{name}` is missing");
            let expected = format!("`{name}`, {}", field.phrase());
            let problem = Diagnostic::error(at, message).expected(expected);
            self.reader.report(problem);
            return None;
        }
        self.reader.directive(field, |reader| T::absent(at, reader)).map(default)
    }

    /// Checks a value against its bounds; in a list, each valid element.
    pub fn bounded<T: Bounded>(
        &mut self,
        setting: Option<Setting<T>>,
        identifier: &'static str,
    ) -> Option<Setting<T>> {
        let field = self.field(identifier)?;
        let Some((low, high)) = &field.bounds else {
            return setting;
        };
        let at = self.at;
        let low = self.reader.declared::<T::Bound>(low, at)?;
        let high = self.reader.declared::<T::Bound>(high, at)?;
        let elements = self.entry(field).and_then(Node::elements);
        let outside: Vec<Span> = if let Some(elements) = elements {
            let is_outside = |element: &&Node| {
                let read = |reader: &mut Reader<'_>| T::Bound::read(element, reader);
                let value = self.reader.silently(read);
                value.is_some_and(|value| value.is_outside(&low, &high))
            };
            let outside = elements.iter().filter(is_outside);
            outside.map(|element| element.span).collect()
        } else {
            let outside = setting.iter().filter(|value| value.is_outside(&low, &high));
            outside.map(Setting::span).collect()
        };
        let message = format!("`{}` is out of bounds", field.name());
        for span in &outside {
            let problem = Diagnostic::error(*span, message.as_str()).expected(field.phrase());
            self.reader.report(problem);
        }
        setting.filter(|_| outside.is_empty() || self.is_kept())
    }

    fn field(&self, identifier: &str) -> Option<&'static Field> {
        let mut fields = self.declaration.fields.iter();
        fields.find(|field| field.identifier == identifier)
    }

    /// Returns the value of a directive in the document.
    fn entry(&self, field: &Field) -> Option<&'r Node> {
        let mut entries = self.entries.iter();
        let entry = entries.find(|(name, _)| *name == field.name());
        entry.map(|(_, node)| *node)
    }
}

/// Returns one directive in the form that a document has.
#[doc(hidden)]
pub fn show_field<T: FromConfig>(identifier: &'static str, setting: &Setting<T>) -> ShownEntry {
    ShownEntry {
        name: plain_name(identifier).to_owned(),
        origin: Some(setting.origin()),
        value: setting.show(),
    }
}
