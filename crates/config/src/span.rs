//! Places in what was read. A [`Span`] names a source and a range of its bytes; what stands there is known to
//! [`Sources`](crate::Sources).

/// One of the texts that were read: a file, the value of a flag or of an environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub(crate) u32);

impl SourceId {
    /// No text at all: what defaults and values made by programs come from.
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
    /// The place of what stands in no source.
    pub const NOWHERE: Span = Span {
        source: SourceId::NONE,
        start: 0,
        end: 0,
    };

    /// The bytes `start..end` of a source. Sources are bounded (`SOURCE_BYTES_MAX`), so that offsets fit.
    pub(crate) fn new(source: SourceId, start: usize, end: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span {
            source,
            start: offset(start),
            end: offset(end.max(start)),
        }
    }

    /// The source in which it lies.
    pub fn source(self) -> SourceId {
        self.source
    }

    /// Its first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The byte behind its last.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// A part of it: `start` and `end` count from its beginning and are held within it.
    #[must_use]
    pub fn part(self, start: usize, end: usize) -> Span {
        let at = |offset: usize| (self.start() + offset).min(self.end());
        Span::new(self.source, at(start), at(end))
    }

    /// Whether both have a part of the same text.
    pub(crate) fn meets(self, other: Span) -> bool {
        let is_within = self.start < other.end && other.start < self.end;
        self.source == other.source && is_within
    }

    /// From the beginning of this one to the end of another in the same source.
    pub(crate) fn to(self, other: Span) -> Span {
        Span::new(self.source, self.start(), other.end())
    }
}
