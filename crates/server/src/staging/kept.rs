//! What outlives a plan: filters that remember something (who was blocked, how often who came, which passwords are
//! right) go on into the next plan where their section is the same.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The things of the last plan, by their places.
#[derive(Debug, Default)]
pub struct Kept(Mutex<HashMap<String, Thing>>);

#[derive(Debug)]
struct Thing {
    section: Box<dyn Any + Send + Sync>,
    thing: Arc<dyn Any + Send + Sync>,
}

/// The things of one plan while its stage is made.
#[derive(Debug)]
pub(super) struct Keeping<'k> {
    before: &'k Kept,
    now: HashMap<String, Thing>,
}

impl Kept {
    /// Begins the next plan.
    pub(super) fn begin(&self) -> Keeping<'_> {
        Keeping {
            before: self,
            now: HashMap::new(),
        }
    }
}

impl Keeping<'_> {
    /// The thing at a place, made from this section: that of this plan or of the last one where the section is the same, or a
    /// new one.
    pub(super) fn keep<T, S, E>(
        &mut self,
        place: &str,
        section: &S,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E>
    where
        T: Any + Send + Sync,
        S: Any + Clone + PartialEq + Send + Sync,
    {
        let thing = match self.known::<T, S>(place, section) {
            Some(thing) => thing,
            None => Arc::new(make()?),
        };
        let kept = Thing {
            section: Box::new(section.clone()),
            thing: Arc::<T>::clone(&thing),
        };
        self.now.insert(place.to_owned(), kept);
        Ok(thing)
    }

    fn known<T, S>(&self, place: &str, section: &S) -> Option<Arc<T>>
    where
        T: Any + Send + Sync,
        S: Any + PartialEq,
    {
        let before = self.before.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.now.get(place).or_else(|| before.get(place))?;
        let is_same = known.section.downcast_ref::<S>() == Some(section);
        let thing = Arc::clone(&known.thing);
        is_same.then(|| thing.downcast().ok())?
    }

    /// The plan is taken: what it does not have is forgotten.
    pub(super) fn settle(self) {
        *self.before.0.lock().unwrap_or_else(PoisonError::into_inner) = self.now;
    }
}
