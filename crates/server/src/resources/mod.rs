//! What the directives of a plan are opened with: open folders, the error log, and what outlives
//! plans.
//!
//! An action or a filter gets [`Resources`] when a stage is prepared. Before, it adds to [`Needs`]
//! which files and folders it reads, so that a sandbox can allow them.

mod kept;
mod needs;

use std::sync::Arc;

use vervet_config::Diagnostics;
use vervet_engine::reactor::Now;

use crate::error_log::ErrorLog;
use crate::files::FilesPool;
use crate::files::options::CacheLimits;

pub use kept::{Keeper, Kept};
pub(crate) use needs::{Access, Needs};

/// The result of opening a directive: what it is at run time, or all of its mistakes.
pub(crate) type Opened<T = ()> = Result<T, Diagnostics>;

/// What the actions and filters of one plan are opened with.
#[derive(Debug)]
pub struct Resources<'r> {
    /// The value of the Server field.
    pub server: &'r str,
    /// Open folders: equal ones are opened once.
    pub pool: &'r Arc<FilesPool>,
    /// Bounds of the file cache of each reactor.
    pub cache_limits: CacheLimits,
    /// Media types by extension, before the built-in table.
    pub media_types: &'r [(String, String)],
    /// Media type of files with an unknown extension.
    pub default_media_type: &'r str,
    /// The log for problems that occur while requests are answered.
    pub error_log: &'r ErrorLog,
    /// The time at which the plan is opened.
    pub now: Now,
    /// What equal sections share, and what the last plan has left.
    pub keeper: Keeper<'r>,
}
