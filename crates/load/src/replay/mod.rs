//! Access logs as timed requests.
