//! Compresses responses that are not files: pages and other text in memory.
//!
//! Small ones are compressed on the reactor, larger ones on the thread that also compresses files.
//! Files and streams are not compressed here: files have their own compression, and a stream may
//! have to be delivered at once.

use std::sync::Arc;

use bytes::Bytes;
use vervet_engine::pipe::{ContentReader, ContentSender};
use vervet_engine::{Content, Response};
use vervet_http::etag::{EntityTag, Strength};
use vervet_http::field::Known;
use vervet_http::h1::RequestHead;
use vervet_http::media_type::is_compressible;
use vervet_http::method::Method;
use vervet_http::negotiation::Encoding;

use super::{COMPRESS_BYTES_MAX, Compressed, Preference, compress, encode};
use crate::offload::Offload;

/// Up to this many bytes are compressed on the reactor's thread: some 0.2 ms.
pub const INLINE_BYTES_MAX: usize = 16 * 1024;

/// Compresses the responses of a site or route.
#[derive(Debug)]
pub struct AnswerCompression {
    min_bytes: u64,
    codings: Vec<Encoding>,
    offload: Arc<Offload>,
}

/// The content codings that a client accepts, copied from its request.
#[derive(Clone, Copy, Debug)]
pub struct AcceptedCodings {
    preference: Preference,
    method: Method,
}

impl AcceptedCodings {
    /// The codings that a request with this head accepts.
    pub fn from_head(head: &RequestHead<'_>) -> Self {
        let values: Vec<_> = head.fields.all(Known::AcceptEncoding).collect();
        Self { preference: Preference::parse(&values.join(&b", "[..])), method: head.method }
    }
}

/// Whether and how a response is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Never compressed, for any client.
    AsItIs,
    /// Not compressed for this client.
    NotHere,
    /// Compressed with this coding.
    In(Encoding),
}

impl AnswerCompression {
    /// Compresses answers of at least `min_bytes` with one of `codings`; large ones on the thread
    /// of `offload`.
    pub fn new(min_bytes: u64, codings: Vec<Encoding>, offload: Arc<Offload>) -> Self {
        Self { min_bytes, codings, offload }
    }

    /// The answer as it is sent. `pipe` makes a stream of the exchange
    /// ([`Exchange::stream`](vervet_engine::Exchange::stream)), which a large answer becomes while
    /// it is compressed.
    pub fn apply(
        &self,
        accepted: AcceptedCodings,
        mut response: Response,
        pipe: impl FnOnce() -> (ContentSender, ContentReader),
    ) -> Response {
        let encoding = match self.choose(accepted, &response) {
            Choice::AsItIs => return response,
            Choice::NotHere => {
                vary(&mut response);
                return response;
            }
            Choice::In(encoding) => encoding,
        };
        vary(&mut response);
        let Content::Bytes(content) = response.content_ref() else {
            return response;
        };
        let content = content.clone();
        if content.len() <= INLINE_BYTES_MAX {
            return match compress(&content, encoding) {
                Compressed::Smaller(smaller) => encoded(response, encoding).content(smaller),
                Compressed::NotSmaller => response,
            };
        }
        let Some(slot) = self.offload.slot() else {
            return response;
        };
        let (sender, reader) = pipe();
        self.offload.run(slot, Box::new(move || send_compressed(sender, &content, encoding)));
        encoded(response, encoding).content(Content::Stream { length: None, reader })
    }

    fn choose(&self, accepted: AcceptedCodings, response: &Response) -> Choice {
        let Content::Bytes(content) = response.content_ref() else {
            return Choice::AsItIs;
        };
        let size = content.len() as u64;
        let media_type =
            response.field_value("Content-Type").and_then(|value| str::from_utf8(value).ok());
        let fits = (self.min_bytes..=COMPRESS_BYTES_MAX).contains(&size)
            && media_type.is_some_and(is_compressible)
            && response.status().allows_content()
            && !response.has_field("Content-Encoding")
            && !response.has_field("Content-Range")
            && !forbids_transforms(response);
        if !fits {
            return Choice::AsItIs;
        }
        let best = accepted.preference.encodings().find(|encoding| self.codings.contains(encoding));
        match best {
            // What would be sent is not known without compressing it, and a head may do without
            // (RFC 9110 §9.3.2).
            Some(encoding) if accepted.method != Method::Head => Choice::In(encoding),
            _ => Choice::NotHere,
        }
    }
}

/// RFC 9110 §7.7, RFC 9111 §5.2.2.6.
fn forbids_transforms(response: &Response) -> bool {
    let value = response.field_value("Cache-Control").unwrap_or_default();
    let mut members = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    members.any(|member| member.eq_ignore_ascii_case(b"no-transform"))
}

/// Says that the answer depends on Accept-Encoding (RFC 9110 §12.5.5).
fn vary(response: &mut Response) {
    let value = response.field_value("Vary").unwrap_or_default();
    let mut members = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let says_so =
        members.any(|member| member == b"*" || member.eq_ignore_ascii_case(b"Accept-Encoding"));
    if !says_so {
        let _ = response.add_field("Vary", b"Accept-Encoding");
    }
}

/// The fields of an answer whose content is in another coding: other bytes, so its tag promises the
/// meaning alone (RFC 9110 §8.8.1), and parts of the original cannot be asked for.
fn encoded(mut response: Response, encoding: Encoding) -> Response {
    let _ = response.set_field("Content-Encoding", encoding.token().as_bytes());
    response.remove_field("Accept-Ranges");
    let tag = response.field_value("ETag").and_then(EntityTag::parse);
    if let Some(tag) = tag.filter(|tag| tag.strength() == Strength::Strong) {
        let mut weak = b"W/".to_vec();
        tag.write(&mut weak);
        let _ = response.set_field("ETag", &weak);
    }
    response
}

/// Sends the content in one piece: a pipe that is empty takes it, so nobody waits for a slow client
/// here.
fn send_compressed(mut sender: ContentSender, content: &Bytes, encoding: Encoding) {
    if sender.is_closed() {
        return;
    }
    let coded = encode(content, encoding);
    match coded {
        Ok(coded) => {
            if sender.try_send(coded).is_ok() {
                sender.finish(None);
            }
        }
        // The head has promised the coding: nothing can be sent in its place.
        Err(_) => drop(sender),
    }
}

#[cfg(test)]
mod tests {
    use vervet_engine::pipe::{Read, pipe};
    use vervet_http::status::Status;

    use super::*;

    /// The configured codings, and what a client accepts.
    struct Case(&'static [Encoding], &'static str, Method);

    const MIN_BYTES: u64 = 1024;
    const ALL: &[Encoding] = &[Encoding::Zstd, Encoding::Brotli, Encoding::Gzip];
    const GZIP: &[Encoding] = &[Encoding::Gzip];

    fn text(bytes: usize) -> Vec<u8> {
        let words = (0..).flat_map(|number: u32| format!("word {number}\n").into_bytes());
        words.take(bytes).collect()
    }

    fn page(bytes: usize) -> Response {
        let mut response = Response::new(Status::OK).content(text(bytes));
        response.add_field("Content-Type", b"text/html; charset=utf-8").unwrap();
        response
    }

    fn apply(case: &Case, response: Response) -> Response {
        let accepted =
            AcceptedCodings { preference: Preference::parse(case.1.as_bytes()), method: case.2 };
        let compression = AnswerCompression::new(MIN_BYTES, case.0.to_vec(), Arc::default());
        compression.apply(accepted, response, || pipe(1024, Arc::new(|| {})))
    }

    /// The coding and Vary of an answer.
    #[track_caller]
    fn check(
        case: &Case,
        response: Response,
        coding: Option<&str>,
        vary: Option<&str>,
    ) -> Response {
        let answer = apply(case, response);
        let shown = |name: &str| {
            answer.field_value(name).map(|value| String::from_utf8_lossy(value).into_owned())
        };
        assert_eq!(
            (shown("Content-Encoding").as_deref(), shown("Vary").as_deref()),
            (coding, vary),
            "{}",
            case.1
        );
        answer
    }

    const BROWSER: Case = Case(ALL, "gzip, deflate, br, zstd", Method::Get);
    const VARY: Option<&str> = Some("Accept-Encoding");

    #[test]
    fn what_cannot_shrink_or_may_not_be_touched_stays() {
        let with = |name: &str, value: &str| {
            let mut response = page(4000);
            response.set_field(name, value.as_bytes()).unwrap();
            response
        };
        check(&BROWSER, page(1023), None, None);
        check(&BROWSER, page(5 * 1024 * 1024), None, None);
        check(&BROWSER, with("Content-Type", "image/png"), None, None);
        check(&BROWSER, with("Content-Encoding", "gzip"), Some("gzip"), None);
        check(&BROWSER, with("Content-Range", "bytes 0-3999/9000"), None, None);
        check(&BROWSER, with("Cache-Control", "public, No-Transform"), None, None);
        let mut untyped = page(4000);
        untyped.remove_field("Content-Type");
        check(&BROWSER, untyped, None, None);
        let mut empty = page(4000);
        empty.set_status(Status::NOT_MODIFIED);
        check(&BROWSER, empty, None, None);
        let (_, reader) = pipe(10, Arc::new(|| {}));
        check(&BROWSER, page(0).content(Content::Stream { length: None, reader }), None, None);
    }

    #[test]
    fn the_client_chooses_and_caches_are_told() {
        let get = |accept| Case(ALL, accept, Method::Get);
        check(&get(""), page(4000), None, VARY);
        check(&get("identity"), page(4000), None, VARY);
        check(&get("gzip;q=0, *;q=0"), page(4000), None, VARY);
        check(&get("gzip"), page(4000), Some("gzip"), VARY);
        check(&get("gzip;q=1, br;q=0.5"), page(4000), Some("gzip"), VARY);
        check(&get("gzip;q=0.5, br"), page(4000), Some("br"), VARY);
        check(&BROWSER, page(4000), Some("zstd"), VARY);
        check(&Case(GZIP, "br, zstd", Method::Get), page(4000), None, VARY);
        check(&Case(GZIP, "br, gzip;q=0.1", Method::Get), page(4000), Some("gzip"), VARY);
        check(&Case(ALL, "gzip", Method::Head), page(4000), None, VARY);
    }

    #[test]
    fn vary_is_said_once() {
        for (vary, expected) in [("*", "*"), ("origin, accept-encoding", "origin, accept-encoding")]
        {
            let mut response = page(4000);
            response.set_field("Vary", vary.as_bytes()).unwrap();
            check(&BROWSER, response, Some("zstd"), Some(expected));
        }
        let mut response = page(4000);
        response.set_field("Vary", b"Origin").unwrap();
        let answer = apply(&BROWSER, response);
        let head = String::from_utf8(answer.head_bytes().to_vec()).unwrap();
        assert!(
            head.contains("\r\nVary: Origin\r\n") && head.contains("\r\nVary: Accept-Encoding\r\n"),
            "{head}"
        );
    }

    #[test]
    fn tags_promise_the_meaning_alone() {
        for (tag, expected) in
            [("\"a\"", "W/\"a\""), ("W/\"a\"", "W/\"a\""), ("nonsense", "nonsense")]
        {
            let mut response = page(4000);
            response.set_field("ETag", tag.as_bytes()).unwrap();
            response.set_field("Accept-Ranges", b"bytes").unwrap();
            let answer = check(&BROWSER, response, Some("zstd"), VARY);
            assert_eq!(answer.field_value("ETag"), Some(expected.as_bytes()));
            assert!(!answer.has_field("Accept-Ranges"));
        }
    }

    #[test]
    fn small_answers_are_compressed_at_once() {
        let answer = apply(&BROWSER, page(INLINE_BYTES_MAX));
        let Content::Bytes(content) = answer.content_ref() else { panic!("{answer:?}") };
        assert_eq!(zstd::bulk::decompress(content, 1 << 20).unwrap(), text(INLINE_BYTES_MAX));
    }

    #[test]
    fn large_answers_arrive_when_they_are_ready() {
        let (sender, mut reader) = pipe(1024, Arc::new(|| {}));
        let plain = Bytes::from(text(300_000));
        send_compressed(sender, &plain, Encoding::Zstd);
        let Read::Data(chunk) = reader.try_read() else { panic!("nothing came") };
        assert_eq!(zstd::bulk::decompress(&chunk, 1 << 20).unwrap(), plain);
        assert_eq!(reader.try_read(), Read::End);
        let answer = check(&BROWSER, page(300_000), Some("zstd"), VARY);
        assert!(matches!(answer.content_ref(), Content::Stream { length: None, .. }));
    }
}
