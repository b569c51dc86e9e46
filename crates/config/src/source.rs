//! The texts that configuration comes from, and spans of bytes in them.

use std::path::{Path, PathBuf};

/// The maximum length in bytes of one source. A file of ten thousand routes has one million.
pub const SOURCE_BYTES_MAX: usize = 64 << 20;

/// What kind of text a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A file, named by its path.
    File,
    /// The value of an environment variable, named by the variable.
    Environment,
    /// The value of a command-line flag, named as it is typed.
    Flag,
}

/// One text of a configuration, with its name.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    kind: SourceKind,
    /// The offset at which each line begins.
    lines: Vec<usize>,
}

impl Source {
    /// Returns the path of the file, the name of the variable, or the flag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what kind of text it is.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }
}

/// The position of a span as people and editors count, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The name of the source.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The number of characters up to the end of the span or of its first line.
    pub length: usize,
}

/// All texts of one reading of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    pub(crate) fn add(&mut self, name: String, text: String, kind: SourceKind) -> SourceId {
        let begins = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(begins).collect();
        let id = SourceId(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        self.0.push(Source { name, text, kind, lines });
        id
    }

    /// Returns a source; `None` for the id of a default.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize)
    }

    /// Returns the text of a span; empty for one without a source.
    pub fn slice(&self, span: Span) -> &str {
        let source = self.get(span.source());
        source.and_then(|source| source.text.get(span.start()..span.end())).unwrap_or_default()
    }

    /// Returns the position of a span; `None` for one without a source.
    pub fn position(&self, span: Span) -> Option<Position<'_>> {
        let source = self.get(span.source())?;
        let line = source.lines.partition_point(|begin| *begin <= span.start());
        let begin = *source.lines.get(line.checked_sub(1)?)?;
        let column = source.text.get(begin..span.start())?.chars().count() + 1;
        let covered = source.text.get(span.start()..span.end())?;
        let length = covered.lines().next().unwrap_or_default().chars().count();
        Some(Position { file: &source.name, line, column, length })
    }

    /// Returns the whole lines from the one at offset `first` to that at `last`: the number of the
    /// first line, its offset, and the text.
    pub(crate) fn lines(
        &self,
        id: SourceId,
        first: usize,
        last: usize,
    ) -> Option<(usize, usize, &str)> {
        let source = self.get(id)?;
        let line_at = |offset: usize| source.lines.partition_point(|begin| *begin <= offset);
        let line = line_at(first);
        let begin = *source.lines.get(line.checked_sub(1)?)?;
        let end = source.lines.get(line_at(last)).copied();
        let text = source.text.get(begin..end.unwrap_or(source.text.len()))?;
        Some((line, begin, text))
    }

    /// Returns the folder of the file that contains a span, which relative paths start from. Values
    /// of flags and variables start from the working directory.
    pub(crate) fn folder(&self, span: Span) -> PathBuf {
        let main = self.0.first();
        let source = self.get(span.source()).or(main);
        let file = source.filter(|source| source.kind == SourceKind::File);
        let folder = file.and_then(|source| Path::new(&source.name).parent());
        folder.map(Path::to_owned).unwrap_or_default()
    }
}

/// Identifies one of the texts that were read: a file, or the value of a flag or environment
/// variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub(crate) u32);

impl SourceId {
    /// No text: the source of defaults and of values made by programs.
    pub(crate) const NONE: SourceId = SourceId(u32::MAX);
}

/// A range of bytes in one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    source: SourceId,
    start: u32,
    end: u32,
}

impl Span {
    /// The span of values without a source.
    pub const NOWHERE: Span = Span { source: SourceId::NONE, start: 0, end: 0 };

    /// The bytes `start..end` of a source. Sources are bounded (`SOURCE_BYTES_MAX`), so offsets
    /// fit.
    pub(crate) fn new(source: SourceId, start: usize, end: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source, start: offset(start), end: offset(end.max(start)) }
    }

    /// Returns the source that contains the span.
    pub fn source(self) -> SourceId {
        self.source
    }

    /// Returns the offset of the first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Returns the offset after the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns a part of the span: `start` and `end` count from its beginning and are clamped to
    /// it.
    #[must_use]
    pub fn part(self, start: usize, end: usize) -> Span {
        let at = |offset: usize| (self.start() + offset).min(self.end());
        Span::new(self.source, at(start), at(end))
    }

    /// Returns whether the spans overlap.
    pub(crate) fn meets(self, other: Span) -> bool {
        let is_within = self.start < other.end && other.start < self.end;
        self.source == other.source && is_within
    }

    /// Returns the span from the beginning of this one to the end of another in the same source.
    pub(crate) fn to(self, other: Span) -> Span {
        Span::new(self.source, self.start(), other.end())
    }
}
