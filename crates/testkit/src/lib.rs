//! For tests only: children, raw sockets, rivals, temporary trees, and the blocks of the
//! documentation.
//!
//! Whatever goes wrong in here is a test that fails, so everything panics with a sentence that
//! names the thing, at the line of the test that asked for it. Nothing in here uses the server's
//! own parser: a test of conformance must not agree with the server by construction.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

mod cgroup;
mod child;
mod corpus;
pub mod docs;
mod hash;
mod net;
mod own_process;
mod process;
mod raw;
pub mod recipes;
mod response;
mod rival;
mod skip;
mod terminal;
mod tree;
mod vervet;
mod wait;

pub use cgroup::Cgroup;
pub use child::{Child, Line, Stream};
pub use corpus::check_corpus;
pub use hash::sha256_hex;
pub use net::free_port;
pub use own_process::is_own_process;
pub use process::{cpu_time, open_fds, rss_bytes};
pub use raw::RawClient;
pub use response::{Framing, Response};
pub use rival::{Rival, RivalKind};
pub use rustix::process::Signal;
pub use skip::{find_program, find_python, skipped};
pub use terminal::at_terminal;
pub use tree::TempTree;
pub use vervet::Vervet;
pub use wait::{PATIENCE, wait_for, wait_until};
