//! The bytes of a request.
