//! Reads, filters and sorts a directory. [`crate::files::listing_page`] and
//! [`crate::files::listing_json`] format it.

use std::cmp::Ordering;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType};
use vervet_engine::Response;
use vervet_http::field::Known;
use vervet_http::negotiation::choose_media_type;
use vervet_http::status::Status;
use vervet_http::target::query_pairs;

use crate::files::FileRequest;
use crate::files::options::{DotFiles, FilesOptions};
use crate::files::root::{Kind, OpenError, Root, Stat, Symlinks, stat_of};
use crate::files::{listing_json, listing_page};
use crate::response::Head;
use crate::response::{error_answer, error_answer_with};

/// Entries listed; a note says so where a directory has more. Reading and sorting them takes some
/// 20 ms.
pub const LISTING_ENTRIES_MAX: usize = 10_000;

/// The sort key of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    Name,
    Size,
    Time,
}

/// The sort order of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    Ascending,
    Descending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Format {
    Page,
    Json,
}

/// An entry of a directory listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
    /// Bytes; of no meaning for a directory.
    pub(crate) size: u64,
    /// Seconds since 1970.
    pub(crate) modified: i64,
}

/// A directory as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Relative to the root, without slashes at its ends.
    pub(crate) path: Box<[u8]>,
    /// The URL path of the root, percent-encoded and without a slash at its end.
    pub(crate) mount: Box<[u8]>,
    pub(crate) entries: Vec<ListedEntry>,
    pub(crate) completeness: Completeness,
    pub(crate) sort: Sort,
    pub(crate) order: Order,
}

/// Whether all entries are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completeness {
    All,
    Cut,
}

/// Which directory is listed, and how: equal shapes of the same state have equal responses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// Relative to the root, without slashes at its ends.
    pub(crate) path: Box<[u8]>,
    mount: Box<[u8]>,
    format: Format,
    sort: Sort,
    order: Order,
}

impl Shape {
    /// Memory of its texts.
    pub(crate) fn bytes(&self) -> usize {
        self.path.len() + self.mount.len()
    }
}

/// A directory to be listed.
#[derive(Debug)]
pub(crate) struct ListJob {
    pub(crate) root: Arc<Root>,
    pub(crate) shape: Shape,
    pub(crate) options: Arc<FilesOptions>,
}

impl ListJob {
    pub(crate) fn new(
        root: &Arc<Root>,
        path: &[u8],
        request: &FileRequest<'_>,
        options: &Arc<FilesOptions>,
    ) -> Self {
        let accepted = choose_media_type(
            request.value(Known::Accept).as_deref(),
            &["text/html", "application/json"],
        );
        let mut shape = Shape {
            path: Box::from(path),
            mount: Box::from(request.mount),
            format: if accepted == Some(1) { Format::Json } else { Format::Page },
            sort: Sort::Name,
            order: Order::Ascending,
        };
        for (key, value) in query_pairs(request.query.unwrap_or_default()) {
            match (&*key, &*value) {
                (b"json", _) => shape.format = Format::Json,
                (b"sort", b"name") => shape.sort = Sort::Name,
                (b"sort", b"size") => shape.sort = Sort::Size,
                (b"sort", b"time") => shape.sort = Sort::Time,
                (b"order", b"asc") => shape.order = Order::Ascending,
                (b"order", b"desc") => shape.order = Order::Descending,
                _ => {}
            }
        }
        Self { root: Arc::clone(root), shape, options: Arc::clone(options) }
    }

    /// The response if the queue for listings is full.
    pub(crate) fn decline(&self) -> Response {
        let retry: (Known, &[u8]) = (Known::RetryAfter, b"1");
        error_answer_with(Status::SERVICE_UNAVAILABLE, &self.options.server, &[retry])
    }

    pub(crate) fn run(self) -> Response {
        let server = &self.options.server;
        let listed = match self.list() {
            Ok(listed) => listed,
            Err(OpenError::Unreadable) => return error_answer(Status::FORBIDDEN, server),
            Err(OpenError::Exhausted) => return error_answer(Status::SERVICE_UNAVAILABLE, server),
            Err(OpenError::System(_)) => {
                return error_answer(Status::INTERNAL_SERVER_ERROR, server);
            }
            Err(_) => return error_answer(Status::NOT_FOUND, server),
        };
        let mut head = Head::new(Status::OK, server);
        head.field(Known::CacheControl, b"no-cache");
        head.field(Known::Vary, b"Accept");
        head.line("X-Content-Type-Options", b"nosniff");
        match self.shape.format {
            Format::Json => {
                head.field(Known::ContentType, b"application/json");
                head.into_response(Status::OK, listing_json::write(&listed))
            }
            Format::Page => {
                head.field(Known::ContentType, b"text/html; charset=utf-8");
                // Names are the work of anyone who writes files; should one get past the escaping,
                // it still cannot act.
                let policy = b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
                head.line("Content-Security-Policy", policy);
                head.into_response(Status::OK, listing_page::write(&listed))
            }
        }
    }

    fn list(&self) -> Result<Listed, OpenError> {
        let node = self.root.open_node(&self.shape.path)?;
        if node.stat.kind != Kind::Directory {
            return Err(OpenError::Missing);
        }
        let mut entries = Vec::new();
        let mut completeness = Completeness::All;
        let directory = Dir::read_from(&node.descriptor).map_err(unreadable)?;
        for found in directory {
            let found = found.map_err(unreadable)?;
            let name = found.file_name().to_bytes();
            if !self.shows(name) {
                continue;
            }
            if entries.len() == LISTING_ENTRIES_MAX {
                completeness = Completeness::Cut;
                break;
            }
            if let Some(stat) = self.stat(&node.descriptor, name, found.file_type()) {
                entries.push(ListedEntry {
                    name: name.to_vec(),
                    kind: stat.kind,
                    size: stat.fingerprint.size,
                    modified: stat.fingerprint.modified_ns.div_euclid(1_000_000_000),
                });
            }
        }
        let Shape { path, mount, sort, order, .. } = self.shape.clone();
        sorted(&mut entries, sort, order);
        Ok(Listed { path, mount, entries, completeness, sort, order })
    }

    fn shows(&self, name: &[u8]) -> bool {
        let is_self = matches!(name, b"." | b"..");
        !is_self && (self.options.dot_files == DotFiles::Serve || !name.starts_with(b"."))
    }

    /// The file or directory that a request for the entry would serve; `None` if there is none.
    fn stat(&self, directory: &OwnedFd, name: &[u8], file_type: FileType) -> Option<Stat> {
        if file_type == FileType::Symlink {
            return match self.options.symlinks {
                Symlinks::Refuse => None,
                Symlinks::Follow if self.shape.path.is_empty() => self.root.stat(name).ok(),
                Symlinks::Follow => {
                    self.root.stat(&[&self.shape.path, &b"/"[..], name].concat()).ok()
                }
            };
        }
        stat_of(&rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?)
    }
}

fn unreadable(_: rustix::io::Errno) -> OpenError {
    OpenError::Unreadable
}

/// Directories first, whatever the order; then by the key; then by name, so that equal keys have an
/// order too.
fn sorted(entries: &mut [ListedEntry], sort: Sort, order: Order) {
    entries.sort_by(|one, other| {
        let by_name = || natural(&one.name, &other.name).then_with(|| one.name.cmp(&other.name));
        let by_key = match sort {
            Sort::Name => by_name(),
            Sort::Size if one.kind == Kind::File => one.size.cmp(&other.size),
            Sort::Size => Ordering::Equal,
            Sort::Time => one.modified.cmp(&other.modified),
        };
        let by_key = if order == Order::Descending { by_key.reverse() } else { by_key };
        one.kind.cmp(&other.kind).then(by_key).then_with(by_name)
    });
}

/// As people order names: case aside, and `page9` before `page10`.
fn natural(mut one: &[u8], mut other: &[u8]) -> Ordering {
    loop {
        let (Some(first), Some(second)) = (one.first(), other.first()) else {
            return one.len().cmp(&other.len());
        };
        let ordering = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (left, right) = (take_number(&mut one), take_number(&mut other));
            left.len().cmp(&right.len()).then_with(|| left.cmp(right))
        } else {
            let ordering = first.to_ascii_lowercase().cmp(&second.to_ascii_lowercase());
            (one, other) = (&one[1..], &other[1..]);
            ordering
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
}

/// The digits at the beginning, without leading zeros.
fn take_number<'a>(from: &mut &'a [u8]) -> &'a [u8] {
    let end = from.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(from.len());
    let (digits, rest) = from.split_at(end);
    *from = rest;
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: Kind, size: u64, modified: i64) -> ListedEntry {
        ListedEntry { name: name.as_bytes().to_vec(), kind, size, modified }
    }

    fn check(by: Sort, order: Order, expected: &[&str]) {
        let mut entries = vec![
            entry("page10", Kind::File, 10, 3),
            entry("Zoo", Kind::Directory, 4096, 1),
            entry("page9", Kind::File, 900, 1),
            entry("alpha", Kind::Directory, 8192, 2),
            entry("Page09b", Kind::File, 10, 2),
        ];
        sorted(&mut entries, by, order);
        let names: Vec<_> =
            entries.iter().map(|entry| str::from_utf8(&entry.name).unwrap()).collect();
        assert_eq!(names, expected, "{by:?} {order:?}");
    }

    #[test]
    fn directories_come_first_in_every_order() {
        check(Sort::Name, Order::Ascending, &["alpha", "Zoo", "page9", "Page09b", "page10"]);
        check(Sort::Name, Order::Descending, &["Zoo", "alpha", "page10", "Page09b", "page9"]);
        check(Sort::Size, Order::Ascending, &["alpha", "Zoo", "Page09b", "page10", "page9"]);
        check(Sort::Size, Order::Descending, &["alpha", "Zoo", "page9", "Page09b", "page10"]);
        check(Sort::Time, Order::Ascending, &["Zoo", "alpha", "page9", "Page09b", "page10"]);
        check(Sort::Time, Order::Descending, &["alpha", "Zoo", "page10", "Page09b", "page9"]);
    }
}
