//! The options of a page, with their defaults.

use std::path::PathBuf;
use std::sync::Arc;

use vervet_config::words;

use crate::caches::Caches;
use crate::error_log::ProblemLog;
use crate::files::root::Symlinks;
use crate::pages::limits::PageLimits;
use crate::pages::parameters::Parameter;

words! {
    /// How changes and errors of templates are handled.
    pub enum Mode {
        /// Changes take effect within a second. If a changed template is invalid, the error is
        /// logged and the last valid version stays in use.
        Production = "production",
        /// Changes take effect with the next request, and errors are shown in the browser.
        Development = "development",
    }
}

/// Reports a problem of a page. The text may contain client input, so control characters are
/// replaced.
pub(crate) fn report_problem(journal: &dyn ProblemLog, template: &str, text: &str) {
    let shown = text.replace(char::is_control, "\u{fffd}");
    journal.report(&format!("page {template}: {shown}"));
}

/// The standard error stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct StandardError;

impl ProblemLog for StandardError {
    fn report(&self, line: &str) {
        // Nobody is left to tell when this fails.
        let _ = rustix::io::write(rustix::stdio::stderr(), format!("{line}\n").as_bytes());
    }
}

/// The options of one page.
#[derive(Debug, Clone)]
pub struct PageOptions {
    /// The folder that all templates must be in.
    pub folder: PathBuf,
    /// The path of the template, relative to the folder.
    pub template: String,
    /// Parameters that clients may send.
    pub parameters: Arc<[Parameter]>,
    /// Whether templates may be symbolic links.
    pub symlinks: Symlinks,
    /// How changes and errors of templates are handled.
    pub mode: Mode,
    /// Limits of one rendering.
    pub limits: PageLimits,
    /// The value of the Server field.
    pub server: String,
    /// The log for problems of the page.
    pub journal: Arc<dyn ProblemLog>,
    /// Counters of the template cache.
    pub caches: Caches,
}

impl PageOptions {
    /// The page `template` of `folder` with the defaults.
    pub fn new(folder: impl Into<PathBuf>, template: impl Into<String>) -> Self {
        Self {
            folder: folder.into(),
            template: template.into(),
            parameters: Arc::default(),
            symlinks: Symlinks::Refuse,
            mode: Mode::Production,
            limits: PageLimits::default(),
            server: "Vervet".to_owned(),
            journal: Arc::new(StandardError),
            caches: Caches::default(),
        }
    }
}
