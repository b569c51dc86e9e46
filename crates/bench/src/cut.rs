//! Keeps a log that a server writes short.
//!
//! A log that only grows takes memory that nothing has used before, and where the machine is a virtual one, the
//! hypervisor gives each page of it when it is first touched: writing 64 KiB there took up to twelve times as long as
//! into memory that had been used. That is the age of the machine, not the cost of the log. Nor do the logs of a whole
//! comparison go to the disk while the next server is measured.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::beside::Beside;

const EVERY: Duration = Duration::from_millis(100);

/// Cuts the log again and again, and removes it in the end.
pub(crate) struct Cutter {
    log: PathBuf,
    beside: Option<Beside>,
}

impl Cutter {
    /// Cuts the log of this name, whether it is there yet or not. Its writer has to append.
    pub(crate) fn start(log: &Path) -> Self {
        let path = log.to_owned();
        Self {
            log: log.to_owned(),
            beside: Some(Beside::start(EVERY, move || {
                if let Ok(file) = File::options().write(true).open(&path) {
                    // One cut that fails is made up for by the next.
                    let _ = file.set_len(0);
                }
            })),
        }
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        drop(self.beside.take());
        // It is not there if no line was written.
        let _ = fs::remove_file(&self.log);
    }
}
