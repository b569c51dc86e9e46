//! Lists of requests in a file.
