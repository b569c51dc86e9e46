//! A file handler without a socket, and a clock that the test owns.

#![allow(dead_code, unreachable_pub)] // each test file uses its part

pub mod filtered;
pub mod heads;
pub mod log_writer;
pub mod routed;
pub mod served;
pub mod wire;

use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use vervet_engine::http::field::FieldSlots;
use vervet_engine::http::method::Method;
use vervet_engine::reactor::Now;
use vervet_engine::{Content, Piece, Response};
use vervet_server::{Decision, FileRequest, Files, FilesOptions, FilesShared};
use vervet_testkit::TempTree;

use heads::fields_of;

/// The last second of the test's clock; files are dated a day before, so that they count as
/// settled.
pub const NOW_S: u64 = 1_800_000_000;

pub struct Site {
    pub tree: TempTree,
    pub files: Files,
    pub now: Now,
}

pub struct Shown {
    pub status: u16,
    pub head: String,
    pub content: Vec<u8>,
    pub later: bool,
}

impl Site {
    pub fn new(tree: TempTree) -> Self {
        Self::with(tree, |_| {})
    }

    pub fn with(tree: TempTree, change: impl FnOnce(&mut FilesOptions)) -> Self {
        age(tree.path());
        let mut options = FilesOptions::new(tree.path());
        change(&mut options);
        let files = Files::new(&FilesShared::new(options).unwrap());
        Self { tree, files, now: Now { monotonic_ms: 5_000, unix_seconds: NOW_S } }
    }

    pub fn pass_ms(&mut self, ms: u64) {
        self.now.monotonic_ms += ms;
        self.now.unix_seconds += ms / 1000;
    }

    pub fn get(&mut self, path: &str) -> Shown {
        self.ask(path, &[])
    }

    /// GET with fields; a query may follow the path.
    pub fn ask(&mut self, target: &str, fields: &[(&str, &str)]) -> Shown {
        self.request(Method::Get, target, fields)
    }

    pub fn request(&mut self, method: Method, target: &str, fields: &[(&str, &str)]) -> Shown {
        match self.decide(method, target, fields) {
            Decision::Done(response) => shown(&response, false),
            Decision::Whole(whole) => shown(&whole.into_response(), false),
            Decision::Later(job) => shown(&job.run(), true),
        }
    }

    pub fn decide(&mut self, method: Method, target: &str, fields: &[(&str, &str)]) -> Decision {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.as_bytes())),
            None => (target, None),
        };
        let lines = fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect::<Vec<_>>()
            .concat();
        let head = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n");
        let mut slots = FieldSlots::new();
        let fields = fields_of(&head, &mut slots);
        let request = FileRequest::new(method, path.as_bytes(), &fields).with_query(query);
        self.files.answer(&request, self.now)
    }
}

impl Shown {
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.head.split("\r\n").skip(1).filter_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        });
        let first = values.next();
        assert_eq!(values.next(), None, "{name} twice in {}", self.head);
        first
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.content).unwrap()
    }

    pub fn etag(&self) -> &str {
        self.field("etag").unwrap()
    }
}

fn shown(response: &Response, later: bool) -> Shown {
    let head = String::from_utf8(response.head_bytes().to_vec()).unwrap();
    let line = format!("HTTP/1.1 {} ", response.status().code());
    assert!(head.starts_with(&line) && head.ends_with("\r\n"), "{head}");
    assert!(!head.contains("\r\n\r\n"), "{head}");
    let content = content(response.content_ref());
    assert_eq!(response.content_ref().length(), Some(content.len() as u64));
    Shown { status: response.status().code(), head, content, later }
}

fn content(content: &Content) -> Vec<u8> {
    match content {
        Content::Empty => Vec::new(),
        Content::Bytes(bytes) => bytes.to_vec(),
        Content::File(slice) => piece(&Piece::File(slice.clone())),
        Content::Pieces(pieces) => pieces.iter().flat_map(piece).collect(),
        Content::Stream { .. } => panic!("files are not streamed"),
    }
}

fn piece(piece: &Piece) -> Vec<u8> {
    match piece {
        Piece::Bytes(bytes) => bytes.to_vec(),
        Piece::File(slice) => {
            assert!(slice.length < 1 << 24, "too much to compare");
            let mut bytes = vec![0; usize::try_from(slice.length).unwrap()];
            slice.file.read_exact_at(&mut bytes, slice.offset).unwrap();
            bytes
        }
    }
}

/// Dates everything beneath `path` a day before [`NOW_S`].
pub fn age(path: &Path) {
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            age(&entry.path());
        }
        if kind.is_file() {
            date(&entry.path(), NOW_S - 86_400);
        }
    }
}

pub fn date(path: &Path, unix_seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(unix_seconds);
    std::fs::File::open(path).unwrap().set_modified(time).unwrap();
}

pub fn unpacked(bytes: &[u8], coding: &str) -> Vec<u8> {
    let mut content = Vec::new();
    let read = match coding {
        "gzip" => flate2::read::GzDecoder::new(bytes).read_to_end(&mut content),
        "br" => brotli::Decompressor::new(bytes, 4096).read_to_end(&mut content),
        "zstd" => zstd::Decoder::new(bytes).unwrap().read_to_end(&mut content),
        other => panic!("no coding {other}"),
    };
    read.unwrap();
    content
}

/// Bytes without a repeated line, the same in each run.
pub fn text(bytes: usize) -> Vec<u8> {
    (0..).flat_map(|line: u32| format!("line {line}\n").into_bytes()).take(bytes).collect()
}

/// The field with these credentials (`name:password`), and its line end.
pub fn basic(credentials: &str) -> String {
    let encoded = <base64ct::Base64 as base64ct::Encoding>::encode_string(credentials.as_bytes());
    format!("Authorization: Basic {encoded}\r\n")
}
