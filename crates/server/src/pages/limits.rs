//! Limits of a rendering. A page that exceeds one is stopped.

use std::time::Duration;

/// Bytes of one template file: 1 MiB. A template is read and compiled on the thread that notices
/// its change.
pub const TEMPLATE_BYTES_MAX: u64 = 1024 * 1024;

/// Files that one page may be made of, with its parents, includes and imports.
pub const TEMPLATES_MAX: usize = 256;

/// Pairs of one form. Looking a name up costs a pass over the form, so their number is bounded.
pub const FORM_PAIRS_MAX: usize = 1_000;

/// Interval of checking templates for changes in production mode, in milliseconds: changes take
/// effect within a second.
pub const LOOK_MS: u64 = 900;

/// Depth of the calls of templates, blocks, macros and loops. A recursion runs into this one before
/// it has used up the stack of a thread (2 MiB), in a debug build too.
pub const NESTING_MAX: usize = 100;

/// Limits of one rendering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// Steps of the template engine. A step takes some 20 to 50 ns; a text, an output or a call
    /// takes one or two.
    pub steps_max: u64,
    /// Bytes of the page.
    pub output_bytes_max: usize,
    /// Processor time of a rendering from its first writes on. It is looked at when the page
    /// writes.
    pub time_max: Duration,
    /// Bytes of a form.
    pub form_bytes_max: u64,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            steps_max: 1_000_000,
            output_bytes_max: 8 * 1024 * 1024,
            time_max: Duration::from_millis(500),
            form_bytes_max: 1024 * 1024,
        }
    }
}
