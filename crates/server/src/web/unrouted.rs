//! Responses to requests that no action answers: no route matches, the method or the trailing slash
//! differs, or the routes form a loop.

use vervet_engine::{Content, Response};
use vervet_http::field::Known;
use vervet_http::method::Method;
use vervet_http::status::Status;
use vervet_http::target::percent_encode_path;

use super::request::Request;
use crate::matching::{MethodSet, SlashForm};
use crate::response::{Head, error_answer, error_answer_with};

/// 404: no route fits.
pub(crate) fn not_found(server: &str) -> Response {
    error_answer(Status::NOT_FOUND, server)
}

/// 204 to `OPTIONS *`, which is about the server and none of its paths (RFC 9110 §9.3.7): what
/// works whatever a site is made of.
pub(super) fn server_options(server: &str) -> Response {
    let mut head = Head::new(Status::NO_CONTENT, server);
    head.field(Known::Allow, b"GET, HEAD, OPTIONS");
    head.into_response(Status::NO_CONTENT, Content::Empty)
}

/// 405: routes fit but for the method (RFC 9110 §15.5.6).
pub(super) fn method_not_allowed(methods: &MethodSet, server: &str) -> Response {
    let allow = methods.allow();
    let allow = [(Known::Allow, allow.as_bytes())];
    error_answer_with(Status::METHOD_NOT_ALLOWED, server, &allow)
}

/// To the form of the path that the route has: 301, or 308 where the method must stay what it is.
pub(crate) fn slash_redirect(request: &Request<'_>, form: SlashForm, server: &str) -> Response {
    let status = match request.head.method {
        Method::Get | Method::Head => Status::MOVED_PERMANENTLY,
        _ => Status::PERMANENT_REDIRECT,
    };
    // From the decoded path, which has one slash at its beginning, so that it cannot become
    // `//host`.
    let mut location = percent_encode_path(&request.path).into_owned().into_bytes();
    match form {
        SlashForm::AsIs => {}
        SlashForm::Add => location.push(b'/'),
        SlashForm::Remove => {
            location.pop();
        }
    }
    if let Some(query) = &request.query {
        location.push(b'?');
        location.extend_from_slice(query);
    }
    let mut head = Head::new(status, server);
    head.field(Known::Location, &location);
    head.into_response(status, Content::Empty)
}

/// 500: a request was rewritten [`REWRITES_MAX`](super::REWRITES_MAX) times. The caller logs it.
pub(super) fn too_many_rewrites(server: &str) -> Response {
    error_answer(Status::INTERNAL_SERVER_ERROR, server)
}
