//! A panic anywhere is a bug: it is said with its trace, and the process ends, since a server that has lost a worker
//! and goes on looks healthy from outside.

use std::backtrace::Backtrace;
use std::panic;

use crate::talk;

/// Prints the place and the trace of any panic, then aborts, so that there is a core where the system keeps them.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|info| {
        let trace = Backtrace::force_capture();
        talk::say(format_args!("a bug: {info}\n{trace}"));
        std::process::abort();
    }));
}
