//! The memory of a program after its start.

use crate::reactor::sys;

/// Lets go of the code that this process has touched so far, its libraries' too.
///
/// Reading options and a configuration takes more code than serving does, and each touch brings 64
/// KiB of it into the process. The kernel keeps the files' pages as long as it likes; what is still
/// needed comes back from there, at a few microseconds a piece. To be called once, when everything
/// has started.
pub fn forget_code() {
    sys::forget_code();
}
