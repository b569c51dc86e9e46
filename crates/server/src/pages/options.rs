//! What a page is made from: one struct of plain choices, each with its default.

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

/// Tells a line about a page. What a visitor has sent may be in it: it stays one line, and no
/// terminal obeys it.
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
    /// The folder that templates come from and never leave.
    pub folder: PathBuf,
    /// The template, by its path from the folder on.
    pub template: String,
    /// What visitors may send.
    pub parameters: Arc<[Parameter]>,
    /// Whether templates may be symbolic links.
    pub symlinks: Symlinks,
    /// For whom it is served.
    pub mode: Mode,
    /// What one rendering may cost.
    pub limits: PageLimits,
    /// The value of the Server field.
    pub server: String,
    /// Where problems are reported.
    pub journal: Arc<dyn ProblemLog>,
    /// Where looks at what is compiled are counted.
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
