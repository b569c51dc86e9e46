//! What filters answer with when they refuse: the short page of every failure. An error page of the
//! site replaces it.

use vervet_engine::Response;
use vervet_http::status::Status;

use crate::response::{HTML, page};

/// The answer for a request that is refused.
pub(crate) fn refusal(status: Status) -> Response {
    let mut response = Response::new(status).content(page(status));
    // A constant that is a field value.
    let _ = response.set_field("Content-Type", HTML);
    response
}

/// As [`refusal`], for a client that may come again after so many seconds.
pub(crate) fn refusal_for(status: Status, retry_after_s: u64) -> Response {
    let mut response = refusal(status);
    // A number is always a field value.
    let _ = response.set_field("Retry-After", retry_after_s.to_string().as_bytes());
    response
}
