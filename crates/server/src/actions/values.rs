//! The values of a request that targets ask for.

use vervet_http::target::Scheme;

use crate::matching::Values;
use crate::web::Request;

/// The values of a request.
pub(super) fn values<'v>(request: &'v Request<'_>) -> Values<'v> {
    Values {
        captures: &request.captures,
        path: &request.path,
        raw_path: &request.raw_path,
        query: request.query.as_deref(),
        rest: request.rest.as_deref(),
        host: &request.host,
        scheme: match request.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        },
        method: request.head.method_token,
    }
}
