//! A `tower` service, such as an axum `Router`, as a service of the engine.
//!
//! Each request becomes a task on the reactor's own thread; content goes through pipes both ways,
//! with their back-pressure. What a handler may await depends on the carrier: tokio's timers and
//! sockets need [`Carrier::Tokio`](crate::Carrier::Tokio). Upgrades are not passed on, and CONNECT
//! is answered with 501. A target has a form that its method allows, and the authority of an
//! absolute-form is in Host. A task whose client is gone ends at its next piece of content.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri, header};
use http_body::{Body, Frame, SizeHint};
use vervet_http::field::{FieldBlock, FieldError};
use vervet_http::h1::ContentLength;
use vervet_http::method::Method;
use vervet_http::status::Status;
use vervet_http::target::{Authority, RequestTarget};
use vervet_http::version::Version;

use crate::exchange::{Exchange, Outcome, Responder, Service};
use crate::pipe::{ContentError, ContentReader, ContentSender};
use crate::response::{Content, Response};

/// The peer's address, in the extensions of a request; missing over a unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// A `tower` service as a service of the engine. It is cloned for each request, as is usual for
/// `tower`.
#[derive(Clone, Debug)]
pub struct Tower<S>(S);

impl<S> Tower<S> {
    /// Wraps a service. An error of the service becomes a 500.
    pub fn new(service: S) -> Tower<S> {
        Tower(service)
    }
}

impl<S, B> Service for Tower<S>
where
    S: tower_service::Service<Request<RequestContent>, Response = http::Response<B>>
        + Clone
        + 'static,
    B: Body + 'static,
{
    fn call(&mut self, mut exchange: Exchange<'_>) -> Outcome {
        if exchange.head().method == Method::Connect {
            let text = "tunnels are not supported\n";
            return Response::plain(Status::NOT_IMPLEMENTED, text).into();
        }
        let Some(request) = request(&mut exchange) else {
            let text = "the request target is not a URI in a form that the method allows\n";
            return Response::plain(Status::BAD_REQUEST, text).into();
        };
        let is_head = request.method() == http::Method::HEAD;
        let pipe = exchange.stream();
        let spawner = exchange.spawner().clone();
        let (responder, outcome) = exchange.later();
        let mut service = self.0.clone();
        spawner.spawn(async move {
            if poll_fn(|cx| service.poll_ready(cx)).await.is_err() {
                return;
            }
            let Ok(response) = service.call(request).await else {
                return;
            };
            let (parts, body) = response.into_parts();
            let Some(response) = head(&parts) else {
                return;
            };
            if is_head {
                let length = declared_length(&parts.headers).or_else(|| body.size_hint().exact());
                responder.send(response.content(Content::Stream { length, reader: pipe.1 }));
                return;
            }
            deliver(responder, response, body, pipe).await;
        });
        outcome
    }
}

/// Converts the request to the `http` crate; `None` if that cannot represent its target or method.
fn request(exchange: &mut Exchange<'_>) -> Option<Request<RequestContent>> {
    let head = exchange.head();
    let target = RequestTarget::parse(head.target, head.method).ok()?;
    // An absolute-form of OPTIONS without path and query is about the server (RFC 9112 §3.2.4).
    let is_asterisk = target.raw_path() == Some(&b"*"[..]);
    let uri = if is_asterisk { &b"*"[..] } else { head.target };
    let length = head.content();
    let reader = if length == ContentLength::None { None } else { exchange.content() };
    let mut request = Request::new(RequestContent { reader, length });
    *request.method_mut() = http::Method::from_bytes(head.method_token.as_bytes()).ok()?;
    *request.uri_mut() = Uri::try_from(uri).ok()?;
    *request.version_mut() = match head.version {
        Version::Http10 => http::Version::HTTP_10,
        Version::Http11 => http::Version::HTTP_11,
    };
    let fields = request.headers_mut();
    fields.reserve(head.fields.len());
    for (name, value) in head.fields.iter() {
        append(fields, name.as_bytes(), value)?;
    }
    if let Some(authority) = target.authority() {
        // RFC 9112 §3.2.2: it replaces what Host says.
        fields.insert(header::HOST, host_value(authority)?);
    }
    if let Some(peer) = exchange.peer() {
        request.extensions_mut().insert(PeerAddress(peer));
    }
    Some(request)
}

fn host_value(authority: Authority<'_>) -> Option<HeaderValue> {
    let mut value = authority.host().to_vec();
    if let Some(port) = authority.port() {
        value.extend_from_slice(format!(":{port}").as_bytes());
    }
    HeaderValue::from_bytes(&value).ok()
}

fn append(fields: &mut HeaderMap, name: &[u8], value: &[u8]) -> Option<()> {
    let name = HeaderName::from_bytes(name).ok()?;
    fields.append(name, HeaderValue::from_bytes(value).ok()?);
    Some(())
}

/// Converts status and fields of a response. The engine writes `Date` and the framing fields.
fn head(parts: &http::response::Parts) -> Option<Response> {
    let mut block = FieldBlock::new();
    for (name, value) in &parts.headers {
        if name == header::DATE {
            continue;
        }
        match block.push(name.as_str().as_bytes(), value.as_bytes()) {
            Ok(()) | Err(FieldError::Framing) => {}
            Err(_) => return None,
        }
    }
    Some(Response::new(Status::new(parts.status.as_u16())?).fields(&block))
}

fn declared_length(fields: &HeaderMap) -> Option<u64> {
    fields.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Sends head and content: in one piece if all content is available, otherwise as a stream.
async fn deliver<B: Body>(
    responder: Responder,
    response: Response,
    body: B,
    pipe: (ContentSender, ContentReader),
) {
    let mut body = pin!(body);
    let length = body.size_hint().exact();
    if body.is_end_stream() {
        return responder.send(response);
    }
    // One poll without waiting: a head must not wait for content that comes later.
    let first = poll_fn(|cx| Poll::Ready(body.as_mut().poll_frame(cx))).await;
    let (sender, reader) = pipe;
    let frame = match first {
        Poll::Ready(None) => return responder.send(response),
        Poll::Ready(Some(Ok(frame))) => Some(frame),
        // Nothing was sent yet: dropping the responder responds with 500.
        Poll::Ready(Some(Err(_))) => return,
        Poll::Pending => None,
    };
    let frame = match frame.map(Frame::into_data) {
        Some(Ok(mut data)) if body.is_end_stream() => {
            let whole = data.copy_to_bytes(data.remaining());
            return responder.send(response.content(whole));
        }
        Some(Ok(data)) => Some(Frame::data(data)),
        Some(Err(other)) => Some(other),
        None => None,
    };
    responder.send(response.content(Content::Stream { length, reader }));
    stream(sender, frame, body).await;
}

/// Sends frame after frame through the pipe, until the body ends, fails, or the reader is gone.
async fn stream<B: Body>(
    mut sender: ContentSender,
    first: Option<Frame<B::Data>>,
    mut body: Pin<&mut B>,
) {
    let mut next = first.map(Ok);
    loop {
        let frame = match next.take() {
            Some(frame) => Some(frame),
            None => poll_fn(|cx| body.as_mut().poll_frame(cx)).await,
        };
        match frame.map(|frame| frame.map(Frame::into_data)) {
            None => return sender.finish(None),
            Some(Err(_)) => return sender.abort(ContentError::ProducerFailed),
            Some(Ok(Ok(mut data))) => {
                if sender.send(data.copy_to_bytes(data.remaining())).await.is_err() {
                    return;
                }
            }
            Some(Ok(Err(other))) => {
                let trailers = other.into_trailers().ok().and_then(|fields| trailer_block(&fields));
                return sender.finish(trailers);
            }
        }
    }
}

fn trailer_block(fields: &HeaderMap) -> Option<FieldBlock> {
    let mut block = FieldBlock::new();
    for (name, value) in fields {
        block.push(name.as_str().as_bytes(), value.as_bytes()).ok()?;
    }
    Some(block)
}

/// The content of a request, as a body of the `http-body` crate.
#[derive(Debug)]
pub struct RequestContent {
    /// `None` if there is no content, or after its end.
    reader: Option<ContentReader>,
    /// How much content is still to come.
    length: ContentLength,
}

impl RequestContent {
    fn take_length(&mut self, bytes: usize) {
        if let ContentLength::Length(left) = &mut self.length {
            *left = left.saturating_sub(bytes as u64);
        }
    }
}

impl Body for RequestContent {
    type Data = Bytes;
    type Error = ContentError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ContentError>>> {
        let Some(reader) = &mut self.reader else {
            return Poll::Ready(None);
        };
        match std::task::ready!(reader.poll_read(cx)) {
            Some(Ok(chunk)) => {
                self.take_length(chunk.len());
                Poll::Ready(Some(Ok(Frame::data(chunk))))
            }
            Some(Err(error)) => {
                self.reader = None;
                Poll::Ready(Some(Err(error)))
            }
            None => {
                let trailers = reader.take_trailers();
                self.reader = None;
                let fields = trailers.as_ref().and_then(trailer_map);
                Poll::Ready(fields.map(|fields| Ok(Frame::trailers(fields))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.reader.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.reader, self.length) {
            (None, _) => SizeHint::with_exact(0),
            (Some(_), ContentLength::Length(left)) => SizeHint::with_exact(left),
            (Some(_), _) => SizeHint::default(),
        }
    }
}

/// Returns the lines of a block that was validated when it was made; `None` without any.
fn trailer_map(block: &FieldBlock) -> Option<HeaderMap> {
    let mut fields = HeaderMap::new();
    let lines =
        block.as_bytes().split(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\r"));
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        append(&mut fields, &line[..colon], line[colon + 1..].trim_ascii())?;
    }
    (!fields.is_empty()).then_some(fields)
}
