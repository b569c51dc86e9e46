//! A page and its files: when they are checked for changes, and which edition is served meanwhile.
//!
//! All reactors share one value. A hit costs two loads: whether a check is due, and whether there
//! is a newer edition. The reactor that finds a check due does it and compiles what has changed;
//! the others follow by the number of the edition.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vervet_engine::reactor::Now;

use crate::caches::{CacheCounts, CacheName};
use crate::pages::edition::Edition;
use crate::pages::effects::ScopeFunction;
use crate::pages::folder::TemplateFolder;
use crate::pages::limits::LOOK_MS;
use crate::pages::options::{Mode, PageOptions, report_problem};
use crate::pages::parameters::BadParameter;
use crate::pages::problem::PageProblem;
use crate::pages::scope::ScopeVariable;
use crate::pages::sources::{Sources, is_settled};

/// A page, shared by all reactors.
#[derive(Debug)]
pub struct Page {
    pub(crate) options: PageOptions,
    watch: Mutex<Watch>,
    /// Counts the states of the page, so that reactors see a new one without a lock.
    generation: AtomicU64,
    looked_ms: AtomicU64,
    pub(crate) counts: Counts,
    compiled: Arc<CacheCounts>,
}

/// Counters of failed renderings of a page, in all reactors.
#[derive(Debug, Default)]
pub struct Counts {
    pub(crate) failed: AtomicU64,
    pub(crate) cut: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl Counts {
    /// Returns the number of renderings that failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Number of renderings that exceeded a limit.
    pub fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// Number of requests with invalid parameters or forms.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

/// The result of checking the files of a page for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recheck {
    /// The files have not changed.
    Nothing,
    /// The files were compiled again.
    Compiled,
}

/// The last known state of the files.
#[derive(Debug, Default)]
struct Watch {
    folder: Option<Arc<TemplateFolder>>,
    sources: Sources,
    edition: Option<Arc<Edition>>,
    problems: Arc<[PageProblem]>,
}

/// The state of a page that a reactor serves.
#[derive(Debug, Clone)]
pub(crate) struct Latest {
    pub(crate) generation: u64,
    /// The last valid edition.
    pub(crate) edition: Option<Arc<Edition>>,
    /// The problems of the current files.
    pub(crate) problems: Arc<[PageProblem]>,
}

/// Why the options of a page are invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageError {
    /// The default of a parameter does not fit its type.
    Default(BadParameter),
    /// The name of a parameter is invalid or already in use.
    Name(String),
}

impl std::fmt::Display for PageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default(bad) => {
                write!(formatter, "the default of {} must be {}", bad.name, bad.expected)
            }
            Self::Name(name) => write!(
                formatter,
                "invalid parameter name {name:?}: expected letters, digits and _, and a name that templates do not have already"
            ),
        }
    }
}

impl std::error::Error for PageError {}

impl Page {
    /// Creates a page and reads its templates. If they have problems, see [`Page::problems`], the
    /// page answers 500 until they are fixed.
    pub fn new(options: PageOptions, now: Now) -> Result<Arc<Self>, PageError> {
        for (at, parameter) in options.parameters.iter().enumerate() {
            let is_repeated =
                options.parameters[..at].iter().any(|other| other.name == parameter.name);
            if is_repeated || !is_free_name(&parameter.name) {
                return Err(PageError::Name(parameter.name.clone()));
            }
            parameter.check_default().map_err(PageError::Default)?;
        }
        let compiled = options.caches.counts(CacheName::Templates);
        let page = Self {
            options,
            watch: Mutex::default(),
            generation: AtomicU64::new(0),
            looked_ms: AtomicU64::new(now.monotonic_ms),
            counts: Counts::default(),
            compiled,
        };
        page.look(now);
        Ok(Arc::new(page))
    }

    /// The problems of the current templates.
    pub fn problems(&self) -> Arc<[PageProblem]> {
        Arc::clone(&self.watch().problems)
    }

    /// The problems after a check of the files, even if none is due.
    pub fn problems_now(&self, now: Now) -> Arc<[PageProblem]> {
        self.look(now);
        self.problems()
    }

    /// The counters of failed renderings.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The folder of the templates.
    pub fn folder(&self) -> &Path {
        &self.options.folder
    }

    /// Updates the state of a reactor.
    pub(crate) fn refresh(&self, mine: &mut Latest, now: Now) -> Recheck {
        let work = if self.takes_look(now) { self.look(now) } else { Recheck::Nothing };
        if self.generation.load(Ordering::Acquire) != mine.generation {
            *mine = self.latest();
        }
        work
    }

    /// The present state.
    pub(crate) fn latest(&self) -> Latest {
        let watch = self.watch();
        Latest {
            // Read under the lock, under which it is written.
            generation: self.generation.load(Ordering::Acquire),
            edition: watch.edition.clone(),
            problems: Arc::clone(&watch.problems),
        }
    }

    /// Whether a check of the files is due and this reactor does it.
    fn takes_look(&self, now: Now) -> bool {
        if self.options.mode == Mode::Development {
            return true;
        }
        let looked_ms = self.looked_ms.load(Ordering::Relaxed);
        if now.monotonic_ms.saturating_sub(looked_ms) < LOOK_MS {
            return false;
        }
        let taken = self.looked_ms.compare_exchange(
            looked_ms,
            now.monotonic_ms,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        taken.is_ok()
    }

    /// Checks the files and compiles the page if they have changed.
    fn look(&self, now: Now) -> Recheck {
        let mut watch = self.watch();
        let folder = match TemplateFolder::open(&self.options.folder, self.options.symlinks) {
            Ok(folder) => folder,
            Err(error) => {
                let problem = PageProblem::in_file(
                    &self.options.folder,
                    "",
                    format!("cannot open the template folder: {error}"),
                );
                watch.folder = None;
                self.take_over(&mut watch, Err(vec![problem]));
                return Recheck::Nothing;
            }
        };
        let known = watch.folder.as_ref().filter(|known| known.is_same(&folder));
        let folder = known.map_or_else(|| Arc::new(folder), Arc::clone);
        let is_other = !watch.folder.as_ref().is_some_and(|known| Arc::ptr_eq(known, &folder));
        let open_changed =
            watch.edition.as_ref().is_some_and(|edition| !found_stands(edition, &folder, now));
        let all_stand = || watch.sources.witnesses.iter().all(|witness| folder.stands(witness));
        if !is_other && !open_changed && watch.sources.is_settled && all_stand() {
            return Recheck::Nothing;
        }
        let sources = Sources::gather(&folder, &self.options.template, now.unix_seconds);
        let is_news = is_other
            || open_changed
            || sources.texts != watch.sources.texts
            || sources.problems != watch.sources.problems;
        watch.folder = Some(Arc::clone(&folder));
        watch.sources = sources;
        if !is_news {
            return Recheck::Nothing;
        }
        self.compiled.miss();
        let compiled = Edition::compile(&self.options, &folder, &watch.sources);
        self.take_over(&mut watch, compiled);
        Recheck::Compiled
    }

    fn take_over(&self, watch: &mut Watch, compiled: Result<Edition, Vec<PageProblem>>) {
        match compiled {
            Ok(edition) => {
                if !watch.problems.is_empty() {
                    self.report("valid again");
                }
                watch.edition = Some(Arc::new(edition));
                self.compiled.holds(1, watch.sources.bytes());
                watch.problems = Arc::default();
            }
            Err(problems) if *watch.problems == *problems => return,
            Err(problems) => {
                let goes_on = if watch.edition.is_some() {
                    " (the last valid version stays in use)"
                } else {
                    ""
                };
                for problem in &problems {
                    self.report(&format!("{problem}{goes_on}"));
                }
                watch.problems = problems.into();
            }
        }
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Reports what has changed. Errors at the beginning are reported by the caller that made the
    /// page.
    fn report(&self, text: &str) {
        if self.generation.load(Ordering::Relaxed) > 0 {
            report_problem(&*self.options.journal, &self.options.template, text);
        }
    }

    // A panic in the template engine leaves the watch as it was before or after: each change is one
    // assignment.
    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the templates that were named by expressions are as they were, and old enough for that
/// to be certain.
fn found_stands(edition: &Edition, folder: &TemplateFolder, now: Now) -> bool {
    let found = edition.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
    found.iter().all(|witness| is_settled(witness, now.unix_seconds) && folder.stands(witness))
}

fn is_free_name(name: &str) -> bool {
    let begins =
        name.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_');
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let reserved = [
        "loop", "self", "super", "caller", "true", "false", "none", "not", "and", "or", "in", "is",
        "if", "else",
    ];
    let is_taken = ScopeVariable::ALL.iter().any(|variable| variable.name() == name)
        || ScopeFunction::ALL.iter().any(|function| function.name() == name)
        || reserved.contains(&name);
    begins && is_plain && !is_taken
}
