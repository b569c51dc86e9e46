//! An axum router on the engine: content both ways, as it comes and as a whole, and what happens
//! when either side fails.
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Router};
use vervet_engine::pipe::{Closed, ContentError, ContentReader, ContentSender, pipe};
use vervet_engine::tower_adapter::{PeerAddress, Tower};
use vervet_engine::{Carrier, Engine, Running};
use vervet_testkit::{Framing, PATIENCE, RawClient};

const STREAM_BYTES: usize = 3_000_000;
const CONTENT_WINDOW_BYTES: usize = 64 * 1024;

/// A pipe filled by a thread of its own.
fn produced(produce: impl FnOnce(ContentSender) + Send + 'static) -> ContentReader {
    let (sender, reader) = pipe(CONTENT_WINDOW_BYTES, Arc::new(|| {}));
    thread::spawn(move || produce(sender));
    reader
}

/// Byte `index` of long content.
fn pattern(index: usize) -> u8 {
    u8::try_from(index % 251).unwrap()
}

fn long() -> Body {
    let all: Vec<u8> = (0..STREAM_BYTES).map(pattern).collect();
    Body::from_stream(produced(move |mut sender| {
        for chunk in all.chunks(10_007) {
            if sender.send_blocking(Bytes::copy_from_slice(chunk)).is_err() {
                return;
            }
        }
        sender.finish(None);
    }))
}

fn broken() -> Body {
    Body::from_stream(produced(|mut sender| {
        let _ = sender.send_blocking(Bytes::from_static(b"half"));
        sender.abort(ContentError::ProducerFailed);
    }))
}

/// Produces endlessly and reports when the reader is gone.
fn endless(told: Sender<Closed>) -> Body {
    Body::from_stream(produced(move |mut sender| {
        loop {
            if let Err(closed) = sender.send_blocking(Bytes::from_static(&[b'x'; 4096])) {
                let _ = told.send(closed);
                return;
            }
        }
    }))
}

async fn describe(
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    Extension(PeerAddress(peer)): Extension<PeerAddress>,
    fields: HeaderMap,
) -> String {
    let test = fields.get("x-test").map(|value| value.to_str().unwrap());
    format!("{name} {query:?} {test:?} {}", peer.ip())
}

/// The host and the target that reach a handler.
async fn host(uri: Uri, fields: HeaderMap) -> String {
    let hosts: Vec<_> = fields.get_all(header::HOST).iter().collect();
    format!("{hosts:?} {}", uri.path())
}

async fn headed() -> impl IntoResponse {
    let fields = [(header::DATE, "never"), (header::CONNECTION, "close"), (header::ETAG, "\"7\"")];
    (StatusCode::CREATED, fields, "made")
}

fn router(told: Sender<Closed>) -> Router {
    Router::new()
        .route("/hello", get(|| async { "hello" }))
        .route("/empty", get(|| async { StatusCode::NO_CONTENT }))
        .route("/headed", get(headed))
        .route("/describe/{name}", get(describe))
        .route("/host", get(host))
        .fallback(|uri: Uri, fields: HeaderMap| async move {
            (StatusCode::NOT_FOUND, host(uri, fields).await)
        })
        .route("/echo", post(|content: Body| async { content }))
        .route("/length", post(|content: Bytes| async move { content.len().to_string() }))
        .route("/long", get(|| async { long() }))
        .route("/broken", get(|| async { broken() }))
        .route("/endless", get(move || async move { endless(told) }))
        .route("/never", get(std::future::pending::<&'static str>))
        .route(
            "/timed",
            get(|| async {
                let never = std::future::pending::<()>();
                let waited = tokio::time::timeout(Duration::from_millis(5), never).await;
                waited.map_or("timed out", |()| "never")
            }),
        )
}

fn start(carrier: Carrier, told: Sender<Closed>) -> (Running, SocketAddr) {
    let running = Engine::builder()
        .listen("127.0.0.1:0")
        .unwrap()
        .carrier(carrier)
        .start(move |_| Tower::new(router(told.clone())))
        .unwrap();
    let address = running.address().unwrap();
    (running, address)
}

/// Runs a check against the router on both carriers.
fn with_router(check: impl Fn(&mut RawClient, SocketAddr)) {
    for carrier in [Carrier::Thread, Carrier::Tokio] {
        let (running, address) = start(carrier, channel().0);
        check(&mut RawClient::connect(address), address);
        running.control().stop();
        running.wait().unwrap();
    }
}

fn request(line: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: h\r\n\r\n")
}

#[test]
fn an_answer_of_one_piece_has_its_length() {
    with_router(|client, _| {
        let response = client.exchange(request("GET /hello"));
        assert_eq!(
            (response.status, response.text(), response.framing),
            (200, "hello", Framing::Length(5))
        );
        assert_eq!(response.field("content-type"), Some("text/plain; charset=utf-8"));
        let response = client.exchange(request("GET /empty"));
        assert_eq!((response.status, response.framing), (204, Framing::NoContent));
        assert_eq!(client.exchange(request("GET /missing")).status, 404);
        assert_eq!(client.exchange(request("POST /hello")).status, 405);
    });
}

#[test]
fn framing_and_date_stay_with_the_engine() {
    with_router(|client, _| {
        let response = client.exchange(request("GET /headed"));
        assert_eq!((response.status, response.text()), (201, "made"));
        assert_eq!(response.field_values("content-length"), ["4"]);
        assert_eq!(response.field_values("connection"), [""; 0]);
        assert_eq!(response.field_values("etag"), ["\"7\""]);
        assert_eq!(response.field_values("date").len(), 1);
        assert_ne!(response.field("date"), Some("never"));
    });
}

#[test]
fn a_head_answer_has_the_length_of_the_get() {
    with_router(|client, _| {
        client.send(request("HEAD /hello"));
        let response = client.read_head_response();
        assert_eq!((response.status, response.field("content-length")), (200, Some("5")));
        assert_eq!(client.exchange(request("GET /hello")).text(), "hello");
    });
}

#[test]
fn target_fields_and_peer_reach_the_handler() {
    with_router(|client, _| {
        let response =
            client.exchange("GET /describe/a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-Test: 1\r\n\r\n");
        assert_eq!(response.text(), "a b Some(\"c=d\") Some(\"1\") 127.0.0.1");
    });
}

#[test]
fn a_target_that_is_not_a_uri_is_400() {
    with_router(|client, _| {
        for line in ["GET /a<b>", "GET *", "GET h:443", "GET ftp://h/hello", "POST hello"] {
            assert_eq!(client.exchange(request(line)).status, 400, "{line}");
        }
        assert_eq!(client.exchange(request("CONNECT h:443")).status, 501);
        assert_eq!(client.exchange(request("GET /hello")).status, 200);
    });
}

/// RFC 9112 §3.2.2: "the origin server MUST ignore the received Host header field (if any) and
/// instead use the host information of the request-target".
#[test]
fn the_authority_of_an_absolute_form_replaces_the_host() {
    with_router(|client, _| {
        for (line, expected) in [
            ("GET /host", "[\"h\"] /host"),
            ("GET http://other.example/host", "[\"other.example\"] /host"),
            ("GET http://[::1]:8080/host?a", "[\"[::1]:8080\"] /host"),
            ("OPTIONS *", "[\"h\"] *"),
            ("OPTIONS http://other.example:80", "[\"other.example:80\"] *"),
        ] {
            assert_eq!(client.exchange(request(line)).text(), expected, "{line}");
        }
    });
}

#[test]
fn request_content_by_length_and_by_chunks_comes_back() {
    let content: Vec<u8> = (0..600_000).map(pattern).collect();
    with_router(|client, _| {
        client.send(format!(
            "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n",
            content.len()
        ));
        client.send(&content);
        let response = client.read_response();
        assert_eq!((response.status, response.content == content), (200, true));
        client.send("POST /length HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
        for chunk in content.chunks(7_001) {
            client.send(format!("{:x}\r\n", chunk.len()));
            client.send(chunk);
            client.send("\r\n");
        }
        client.send("0\r\n\r\n");
        assert_eq!(client.read_response().text(), "600000");
    });
}

#[test]
fn content_of_unknown_length_goes_in_chunks() {
    let expected: Vec<u8> = (0..STREAM_BYTES).map(pattern).collect();
    with_router(|client, _| {
        let response = client.exchange(request("GET /long"));
        assert_eq!((response.status, response.framing), (200, Framing::Chunked));
        assert!(response.content == expected, "{} bytes differ", response.content.len());
        assert_eq!(client.exchange(request("GET /hello")).text(), "hello");
    });
}

#[test]
fn content_that_fails_has_no_end() {
    with_router(|client, _| {
        client.send(request("GET /broken"));
        let bytes = client.read_to_close();
        assert!(!bytes.ends_with(b"0\r\n\r\n"), "{}", bytes.escape_ascii());
    });
}

#[test]
fn a_client_that_leaves_stops_the_producer() {
    for carrier in [Carrier::Thread, Carrier::Tokio] {
        let (told, gone) = channel();
        let (running, address) = start(carrier, told);
        let mut client = RawClient::connect(address);
        client.send(request("GET /endless"));
        client.read_exact(1000);
        drop(client);
        assert_eq!(gone.recv_timeout(PATIENCE), Ok(Closed));
        running.control().stop();
        running.wait().unwrap();
    }
}

#[test]
fn a_handler_that_never_answers_holds_up_nobody() {
    with_router(|client, address| {
        client.send(request("GET /never"));
        assert_eq!(RawClient::connect(address).exchange(request("GET /hello")).text(), "hello");
    });
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    with_router(|client, _| {
        let all: String =
            (0..100).map(|index| request(&format!("GET /describe/{index}"))).collect();
        client.send(all);
        for index in 0..100 {
            assert!(client.read_response().text().starts_with(&format!("{index} ")));
        }
    });
}

#[test]
fn tokio_is_available_on_its_carrier() {
    let (running, address) = start(Carrier::Tokio, channel().0);
    assert_eq!(RawClient::connect(address).exchange(request("GET /timed")).text(), "timed out");
    running.control().stop();
    running.wait().unwrap();
}

#[test]
fn a_service_that_fails_is_500() {
    #[derive(Clone)]
    struct Failing;
    impl<R> tower_service::Service<R> for Failing {
        type Response = axum::http::Response<Body>;
        type Error = &'static str;
        type Future = std::future::Ready<Result<Self::Response, Self::Error>>;
        fn poll_ready(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), Self::Error>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn call(&mut self, _: R) -> Self::Future {
            std::future::ready(Err("no"))
        }
    }
    let running =
        Engine::builder().listen("127.0.0.1:0").unwrap().start(|_| Tower::new(Failing)).unwrap();
    let mut client = RawClient::connect(running.address().unwrap());
    assert_eq!(client.exchange(request("GET /")).status, 500);
    running.control().stop();
    running.wait().unwrap();
}
