//! The texts that were read, and what line and column a byte of them has. Reading files is the caller's part.

use std::path::{Path, PathBuf};

use crate::span::{SourceId, Span};

/// The most bytes of one source. A file of ten thousand routes has one million.
pub const SOURCE_BYTES_MAX: usize = 64 << 20;

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A file, named by its path.
    File,
    /// The value of an environment variable, named by it.
    Environment,
    /// The value of a flag of the command line, named as it is typed.
    Flag,
}

/// One text.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    kind: SourceKind,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl Source {
    /// The path of the file, the name of the variable, the flag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stands in it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it is.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }
}

/// Where a span begins, as people and editors count, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The name of the source.
    pub file: &'a str,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The number of characters up to the end of the span or of its first line.
    pub length: usize,
}

/// All texts that one reading has seen.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    pub(crate) fn add(&mut self, name: String, text: String, kind: SourceKind) -> SourceId {
        let begins = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(begins).collect();
        let id = SourceId(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        self.0.push(Source {
            name,
            text,
            kind,
            lines,
        });
        id
    }

    /// A source, or nothing for the place of a default.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize)
    }

    /// What stands at a span: empty for one that lies nowhere.
    pub fn slice(&self, span: Span) -> &str {
        let source = self.get(span.source());
        source
            .and_then(|source| source.text.get(span.start()..span.end()))
            .unwrap_or_default()
    }

    /// The position of a span, or nothing for one that lies nowhere.
    pub fn position(&self, span: Span) -> Option<Position<'_>> {
        let source = self.get(span.source())?;
        let line = source.lines.partition_point(|begin| *begin <= span.start());
        let begin = *source.lines.get(line.checked_sub(1)?)?;
        let column = source.text.get(begin..span.start())?.chars().count() + 1;
        let covered = source.text.get(span.start()..span.end())?;
        let length = covered.lines().next().unwrap_or_default().chars().count();
        Some(Position {
            file: &source.name,
            line,
            column,
            length,
        })
    }

    /// The whole lines from the one of the offset `first` to that of `last`: the number of the first line, where it
    /// begins, and their text.
    pub(crate) fn lines(
        &self,
        id: SourceId,
        first: usize,
        last: usize,
    ) -> Option<(usize, usize, &str)> {
        let source = self.get(id)?;
        let behind = |offset: usize| source.lines.partition_point(|begin| *begin <= offset);
        let line = behind(first);
        let begin = *source.lines.get(line.checked_sub(1)?)?;
        let end = source.lines.get(behind(last)).copied();
        let text = source.text.get(begin..end.unwrap_or(source.text.len()))?;
        Some((line, begin, text))
    }

    /// The folder of the file in which a span lies: what relative paths there start from. The values of flags and
    /// variables start from the working directory.
    pub(crate) fn folder(&self, span: Span) -> PathBuf {
        let main = self.0.first();
        let source = self.get(span.source()).or(main);
        let file = source.filter(|source| source.kind == SourceKind::File);
        let folder = file.and_then(|source| Path::new(&source.name).parent());
        folder.map(Path::to_owned).unwrap_or_default()
    }
}
