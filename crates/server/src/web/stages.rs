//! The one place where the newest stage stands, for reactors to fetch.

use std::sync::{Arc, Mutex, PoisonError};

use super::stage::Stage;

/// A handle on the newest stage of a server.
#[derive(Clone, Debug, Default)]
pub struct Stages(Arc<Mutex<Arc<Stage>>>);

impl Stages {
    /// Begins with a stage.
    pub fn new(stage: Stage) -> Self {
        Self(Arc::new(Mutex::new(Arc::new(stage))))
    }

    /// The newest stage.
    pub fn newest(&self) -> Arc<Stage> {
        // A pointer is whole whatever happened to who held the lock.
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another one in its place. Reactors fetch it when they are told to refresh.
    pub fn replace(&self, stage: Stage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(stage);
    }
}
