//! From a text with variables to the pieces that are put together again and again.

use std::fmt;

use super::escape::Escape;
use super::values::Values;
use crate::finding::did_you_mean;

/// What a text is part of: it decides how values are written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateContext {
    /// A request target. Values are percent-encoded, and so is of the text what no target can hold.
    Target,
    /// The value of a field. Control bytes of values are percent-encoded.
    Field,
    /// Content. Values are written as they are.
    Content,
    /// A name or value of a form: text and values are percent-encoded.
    Form,
}

/// The names of variables in addition to the predefined ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// Columns of the feed.
    pub columns: &'a [String],
    /// What the scenario captures.
    pub captures: &'a [String],
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFault {
    /// At which byte of it.
    pub offset: usize,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for TemplateFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

/// The variables that are always there.
const BUILT_IN: [&str; 4] = ["seq", "random", "uuid", "user"];

/// A compiled text with variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Value(Variable, Escape),
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// The number of the request over all users.
    Sequence,
    /// The number of the user.
    User,
    /// A random UUID, the same throughout a request.
    Uuid,
    /// A random number from one to the other, both included.
    Random(u64, u64),
    /// A column of the row, by its number.
    Column(usize),
    /// What was captured, by its number.
    Capture(usize),
}

impl Template {
    /// Text that is sent as it is.
    pub fn fixed(text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        let pieces = if text.is_empty() { Vec::new() } else { vec![Piece::Text(text)] };
        Self { pieces }
    }

    /// Compiles `text`, or returns all errors.
    pub fn compile(
        text: &str,
        context: TemplateContext,
        names: &Names<'_>,
    ) -> Result<Self, Vec<TemplateFault>> {
        let mut template = Self::default();
        let mut faults = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let brace = memchr::memchr(b'{', rest.as_bytes()).unwrap_or(rest.len());
            let (plain, rest) = rest.split_at(brace);
            template.push_text(plain, context);
            at += brace;
            match rest.as_bytes() {
                [] => {}
                [b'{', b'{', ..] => {
                    template.push_text("{", context);
                    at += 2;
                }
                [b'{', first, ..] if is_name_start(*first) => match read(rest, context, names) {
                    Ok((piece, length)) => {
                        template.pieces.push(piece);
                        at += length;
                    }
                    Err(message) => {
                        faults.push(TemplateFault { offset: at, message });
                        at += 1;
                    }
                },
                _ => {
                    template.push_text("{", context);
                    at += 1;
                }
            }
        }
        if faults.is_empty() { Ok(template) } else { Err(faults) }
    }

    /// Appends the pieces of another template.
    pub fn append(&mut self, other: Self) {
        for piece in other.pieces {
            match piece {
                Piece::Text(text) => self.push_bytes(&text),
                Piece::Value(..) => self.pieces.push(piece),
            }
        }
    }

    /// Appends the text with its values.
    pub fn render(&self, values: &mut Values, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Value(variable, escape) => {
                    values.with(*variable, |value| escape.push(out, value));
                }
            }
        }
    }

    /// The text, if it has no variables.
    pub fn as_fixed(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(b""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The indexes of the columns in it.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(Variable::Column(column), _) => Some(*column),
            _ => None,
        })
    }

    fn push_text(&mut self, text: &str, context: TemplateContext) {
        let mut bytes = Vec::with_capacity(text.len());
        let escape = match context {
            TemplateContext::Target => Escape::Target,
            TemplateContext::Form => Escape::Component,
            TemplateContext::Field | TemplateContext::Content => Escape::None,
        };
        escape.push(&mut bytes, text.as_bytes());
        self.push_bytes(&bytes);
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.extend_from_slice(bytes),
            _ if bytes.is_empty() => {}
            _ => self.pieces.push(Piece::Text(bytes.to_vec())),
        }
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a name of a column or a capture can be written in braces.
pub(crate) fn is_name(name: &str) -> bool {
    let continues = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    name.bytes().next().is_some_and(is_name_start) && name.bytes().all(continues)
}

/// Reads the variable that `text` begins with: the piece and its length.
fn read(text: &str, context: TemplateContext, names: &Names<'_>) -> Result<(Piece, usize), String> {
    let literal = "write a literal brace as {{";
    let Some(end) = text.find('}') else {
        return Err(format!("unclosed variable; {literal}"));
    };
    let inside = &text[1..end];
    let (name, argument) = match inside.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (inside, None),
    };
    if !is_name(name) {
        return Err(format!("unknown variable {{{inside}}}: {literal}"));
    }
    let variable = variable(name, names)
        .ok_or_else(|| format!("{}; {literal}", unknown_variable(name, names)))?;
    let default = match context {
        TemplateContext::Target | TemplateContext::Form => Escape::Component,
        TemplateContext::Field => Escape::Field,
        TemplateContext::Content => Escape::None,
    };
    let piece = match (variable, argument) {
        (variable, None) => Piece::Value(variable, default),
        (Variable::Random(..), Some(argument)) => {
            let (low, high) = range(argument).ok_or_else(|| {
                format!(
                    "{{{inside}}}: expected two numbers, the smaller first, as in {{random:1-100}}"
                )
            })?;
            Piece::Value(Variable::Random(low, high), default)
        }
        (variable, Some(form)) => Piece::Value(variable, escape(form, context, inside)?),
    };
    Ok((piece, end + 1))
}

fn variable(name: &str, names: &Names<'_>) -> Option<Variable> {
    let number = |list: &[String]| list.iter().position(|known| known == name);
    if let Some(capture) = number(names.captures) {
        return Some(Variable::Capture(capture));
    }
    if let Some(column) = number(names.columns) {
        return Some(Variable::Column(column));
    }
    match name {
        "seq" => Some(Variable::Sequence),
        "random" => Some(Variable::Random(0, u64::from(u32::MAX))),
        "uuid" => Some(Variable::Uuid),
        "user" => Some(Variable::User),
        _ => None,
    }
}

fn unknown_variable(name: &str, names: &Names<'_>) -> String {
    let others = names.captures.iter().chain(names.columns);
    let known: Vec<&str> = BUILT_IN.into_iter().chain(others.map(String::as_str)).collect();
    let hint = did_you_mean(name, known.iter().copied());
    if hint.is_empty() {
        return format!("unknown variable {name}: expected one of {}", known.join(", "));
    }
    format!("unknown variable {name}{hint}")
}

/// `1-100`, the smaller first.
fn range(text: &str) -> Option<(u64, u64)> {
    let (low, high) = text.split_once('-')?;
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    let (low, high) = (number(low)?, number(high)?);
    (low <= high).then_some((low, high))
}

/// The escaping that a form means in its context.
fn escape(form: &str, context: TemplateContext, inside: &str) -> Result<Escape, String> {
    match (form, context) {
        ("raw", TemplateContext::Target) => Ok(Escape::Target),
        ("raw", TemplateContext::Field) => Ok(Escape::Field),
        ("raw", TemplateContext::Content | TemplateContext::Form) => Ok(Escape::None),
        ("url", _) => Ok(Escape::Component),
        ("json", TemplateContext::Content) => Ok(Escape::Json),
        ("json", _) => Err(format!("{{{inside}}}: :json is for bodies only")),
        _ => {
            let hint = did_you_mean(form, ["raw", "url", "json"]);
            Err(format!("{{{inside}}}: unknown form \"{form}\"{hint}: expected raw, url or json"))
        }
    }
}
