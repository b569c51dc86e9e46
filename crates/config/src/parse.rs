//! Parsing one file into headers and directives with their spans. The tokens, the grammar and the
//! error messages are those of `toml_parser`.

use std::borrow::Cow;

use toml_parser::decoder::ScalarKind;
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace};
use toml_parser::{Expected, ParseError};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::INCLUDE;
use crate::source::{SourceId, Span};
use crate::tree::{Assembly, Header, insert_within};
use crate::tree::{Key, ListForm, Node, Table, TableForm, Value};

/// The maximum nesting depth of tables and lists, and the maximum number of parts of a dotted name.
pub const DEPTH_MAX: u32 = 32;

/// Why a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is the main file.
    Main,
    /// It is included: its own `include` adds to those of the others.
    Included,
}

/// Parses a file into the tree. Returns the value of `include` at its top level.
pub(crate) fn parse_file(
    id: SourceId,
    role: Role,
    text: &str,
    assembly: &mut Assembly,
    findings: &mut Diagnostics,
) -> Option<Node> {
    assembly.begin_file();
    let events = events(id, text, findings);
    let mut parser = Parser::new(id, text, &events, findings);
    let mut include = Table::new(TableForm::Header);
    while let Some(statement) = parser.statement() {
        match statement {
            Statement::Header { path, span, header } => {
                assembly.header(&path, span, header, parser.findings);
            }
            Statement::Directive { path, node } => {
                if assembly.is_at_top() && matches!(&*path, [key] if key.name == INCLUDE) {
                    let inserted = insert_within(&mut include, &path, node.clone());
                    // That of the main file is a directive of the document as well.
                    if role == Role::Included {
                        parser.findings.push_new(inserted.err().flatten());
                        continue;
                    }
                }
                assembly.directive(&path, node, parser.findings);
            }
        }
    }
    include.entries().last().map(|entry| entry.node.clone())
}

/// Parses one value, such as a default.
pub(crate) fn parse_value(id: SourceId, text: &str, findings: &mut Diagnostics) -> Node {
    let source = toml_parser::Source::new(text);
    let tokens = source.lex().into_vec();
    let mut events = Vec::new();
    let mut errors = Vec::new();
    let mut keep = |event: Event| events.push(event);
    toml_parser::parser::parse_value(&tokens, &mut keep, &mut errors);
    report(id, text, errors, findings);
    Parser::new(id, text, &events, findings).value()
}

fn events(id: SourceId, text: &str, findings: &mut Diagnostics) -> Vec<Event> {
    let source = toml_parser::Source::new(text);
    let tokens = source.lex().into_vec();
    let mut events = Vec::with_capacity(tokens.len());
    let mut errors = Vec::new();
    let mut keep = |event: Event| events.push(event);
    let mut strict = ValidateWhitespace::new(&mut keep, source);
    let mut bounded = RecursionGuard::new(&mut strict, DEPTH_MAX);
    toml_parser::parser::parse_document(&tokens, &mut bounded, &mut errors);
    report(id, text, errors, findings);
    events
}

enum Statement {
    Header { path: Vec<Key>, span: Span, header: Header },
    Directive { path: Vec<Key>, node: Node },
}

struct Parser<'a> {
    id: SourceId,
    source: toml_parser::Source<'a>,
    events: std::iter::Peekable<std::slice::Iter<'a, Event>>,
    findings: &'a mut Diagnostics,
}

impl<'a> Parser<'a> {
    fn new(
        id: SourceId,
        text: &'a str,
        events: &'a [Event],
        findings: &'a mut Diagnostics,
    ) -> Self {
        Parser {
            id,
            source: toml_parser::Source::new(text),
            events: events.iter().peekable(),
            findings,
        }
    }

    fn statement(&mut self) -> Option<Statement> {
        while let Some(event) = self.events.next() {
            match event.kind() {
                EventKind::StdTableOpen => return Some(self.header(event, Header::Table)),
                EventKind::ArrayTableOpen => return Some(self.header(event, Header::Element)),
                EventKind::SimpleKey => {
                    let (path, node) = self.directive(event);
                    return Some(Statement::Directive { path, node });
                }
                _ => {}
            }
        }
        None
    }

    fn header(&mut self, open: &Event, header: Header) -> Statement {
        let mut span = self.span(open);
        let mut path = Vec::new();
        while let Some(event) = self.events.next_if(|event| event.kind() != EventKind::Newline) {
            match event.kind() {
                EventKind::SimpleKey => path = self.path(event),
                EventKind::StdTableClose | EventKind::ArrayTableClose => {
                    span = span.to(self.span(event));
                    break;
                }
                _ => {}
            }
        }
        Statement::Header { path, span, header }
    }

    fn directive(&mut self, first: &Event) -> (Vec<Key>, Node) {
        let path = self.path(first);
        self.skip_blank();
        let node = match self.take(EventKind::KeyValSep) {
            Some(_) => self.value(),
            // A name without a value, which has been reported.
            None => broken(self.span(first)),
        };
        (path, node)
    }

    /// Parses a simple or dotted name; empty if a part is invalid or it has too many, which has
    /// been reported.
    fn path(&mut self, first: &Event) -> Vec<Key> {
        let before = self.findings.len();
        let mut path = vec![self.key(first)];
        loop {
            self.skip_blank();
            if self.take(EventKind::KeySep).is_none() {
                break;
            }
            self.skip_blank();
            if let Some(next) = self.take(EventKind::SimpleKey) {
                path.push(self.key(next));
            }
        }
        if path.len() > DEPTH_MAX as usize {
            let message =
                format!("a name has at most {DEPTH_MAX} parts, this one has {}", path.len());
            self.findings.push(Diagnostic::error(path[0].span, message));
        }
        if self.findings.len() > before {
            path.clear();
        }
        path
    }

    fn key(&mut self, event: &Event) -> Key {
        let mut name = Cow::Borrowed("");
        let mut errors = Vec::new();
        if let Some(raw) = self.source.get(event) {
            raw.decode_key(&mut name, &mut errors);
        }
        report(self.id, self.source.input(), errors, self.findings);
        Key { name: name.into_owned(), span: self.span(event) }
    }

    /// Parses the next value. Its depth is bounded by the recursion guard.
    fn value(&mut self) -> Node {
        self.skip_blank();
        if let Some(event) = self.take(EventKind::Scalar) {
            self.scalar(event)
        } else if let Some(event) = self.take(EventKind::ArrayOpen) {
            self.list(event)
        } else if let Some(event) = self.take(EventKind::InlineTableOpen) {
            self.table(event)
        } else {
            let end = self.source.input().len();
            let next = self.events.peek().copied().map(|event| self.span(event));
            broken(next.unwrap_or(Span::new(self.id, end, end)))
        }
    }

    fn list(&mut self, open: &Event) -> Node {
        let mut span = self.span(open);
        let mut elements = Vec::new();
        let mut is_closed = false;
        let before = self.findings.len();
        while let Some(event) = self.events.peek().copied() {
            span = span.to(self.span(event));
            match event.kind() {
                EventKind::Scalar | EventKind::ArrayOpen | EventKind::InlineTableOpen => {
                    elements.push(self.value());
                    continue;
                }
                EventKind::ArrayClose => {
                    // The parser closes an unclosed bracket by an event without extent.
                    is_closed = !event.span().is_empty();
                    self.events.next();
                    break;
                }
                _ => {}
            }
            self.events.next();
        }
        let value = if is_closed {
            Value::List(elements, ListForm::Brackets)
        } else {
            self.unclosed(before)
        };
        Node { span, value }
    }

    fn table(&mut self, open: &Event) -> Node {
        let mut span = self.span(open);
        let mut table = Table::new(TableForm::Braces);
        let mut is_closed = false;
        let before = self.findings.len();
        while let Some(event) = self.events.next() {
            span = span.to(self.span(event));
            match event.kind() {
                EventKind::SimpleKey => {
                    let (path, node) = self.directive(event);
                    span = span.to(node.span);
                    if let Err(problem) = insert_within(&mut table, &path, node) {
                        self.findings.push_new(problem);
                    }
                }
                EventKind::InlineTableClose => {
                    is_closed = !event.span().is_empty();
                    break;
                }
                _ => {}
            }
        }
        let value = if is_closed { Value::Table(table) } else { self.unclosed(before) };
        Node { span, value }
    }

    /// The value of brackets that are never closed. They have been reported; findings within them
    /// follow from that and are dropped.
    fn unclosed(&mut self, before: usize) -> Value {
        self.findings.truncate(before);
        Value::Broken
    }

    fn scalar(&mut self, event: &Event) -> Node {
        let span = self.span(event);
        if span.start() == span.end() {
            // The parser inserts an empty scalar for a missing value.
            let missing = Diagnostic::error(span, "missing value").expected("value");
            self.findings.push(missing);
            return broken(span);
        }
        let mut text = Cow::Borrowed("");
        let mut errors = Vec::new();
        let kind = self.source.get(event).map(|raw| raw.decode_scalar(&mut text, &mut errors));
        let is_broken = !errors.is_empty();
        report(self.id, self.source.input(), errors, self.findings);
        let value = match kind {
            _ if is_broken => Value::Broken,
            None => Value::Broken,
            Some(ScalarKind::String) => Value::Text(text.into_owned()),
            Some(ScalarKind::Boolean(value)) => Value::Boolean(value),
            Some(ScalarKind::DateTime) => Value::Date(text.into_owned()),
            Some(ScalarKind::Float) => self.number(&text, span),
            Some(ScalarKind::Integer(radix)) => match i128::from_str_radix(&text, radix.value()) {
                Ok(value) => Value::Integer(value),
                Err(_) => self.refuse(span, "the number is too large for any directive"),
            },
        };
        Node { span, value }
    }

    fn number(&mut self, text: &str, span: Span) -> Value {
        match text.parse::<f64>() {
            Ok(value) => Value::Number(value),
            Err(_) => self.refuse(span, "invalid number"),
        }
    }

    fn refuse(&mut self, span: Span, message: &str) -> Value {
        self.findings.push(Diagnostic::error(span, message));
        Value::Broken
    }

    /// Takes the next event, if it is of this kind.
    fn take(&mut self, kind: EventKind) -> Option<&'a Event> {
        self.events.next_if(|event| event.kind() == kind)
    }

    fn skip_blank(&mut self) {
        while self.take(EventKind::Whitespace).is_some() {}
    }

    fn span(&self, event: &Event) -> Span {
        Span::new(self.id, event.span().start(), event.span().end())
    }
}

/// A value that was reported as invalid.
fn broken(span: Span) -> Node {
    Node { span, value: Value::Broken }
}

/// Turns the errors of the parser into findings. Errors within brackets that are never closed
/// follow from that and are dropped; the brackets themselves are underlined.
fn report(id: SourceId, text: &str, errors: Vec<ParseError>, findings: &mut Diagnostics) {
    let opened = |error: &ParseError| {
        let is_unclosed = matches!(error.description(), "unclosed array" | "unclosed inline table");
        error.context().filter(|_| is_unclosed)
    };
    let outermost = errors.iter().filter_map(opened).map(|span| span.start()).min();
    for error in errors {
        let at = error.unexpected().or(error.context()).unwrap_or_default();
        let at = match (opened(&error), outermost) {
            (Some(open), Some(begin)) if open.start() == begin => open,
            (_, Some(begin)) if at.start() > begin => continue,
            _ => at,
        };
        let end = at.end().min(text.len());
        let span = Span::new(id, at.start().min(end), end);
        let mut diagnostic = Diagnostic::error(span, error.description());
        diagnostic.expected = error.expected().and_then(expectation);
        findings.push(diagnostic);
    }
}

/// The alternatives that the parser expects, or nothing where the text should end.
fn expectation(expected: &[Expected]) -> Option<String> {
    let named = expected.iter().map(|one| match one {
        Expected::Literal("\n") => "newline".to_owned(),
        Expected::Literal(text) => format!("`{}`", text.trim_matches('`')),
        Expected::Description(text) => (*text).to_owned(),
        _ => "another token".to_owned(),
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| named.join(" or "))
}
