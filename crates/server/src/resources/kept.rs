//! Objects that several routes share, or that outlive a plan.
//!
//! Equal sections of one plan share the object made from them: a thousand routes that set the same
//! headers have one filter. Objects with state, such as rate meters and verified passwords, belong
//! to their site or route, and are kept by the next plan if their section is the same.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use vervet_config::Diagnostics;

/// Sections of a kind that are compared with another. Further ones share nothing, so that a plan of
/// which every section differs is prepared in linear time.
const SECTIONS_MAX: usize = 64;

/// Objects of the last plan, by the place where they are used.
#[derive(Debug, Default)]
pub struct Kept(Mutex<HashMap<String, KeptObject>>);

/// A section, and the object made from it.
#[derive(Debug)]
struct KeptObject {
    section: Box<dyn Any + Send + Sync>,
    object: Arc<dyn Any + Send + Sync>,
}

impl KeptObject {
    fn new<S, T>(section: &S, object: &Arc<T>) -> Self
    where
        S: Any + Clone + Send + Sync,
        T: Any + Send + Sync,
    {
        Self { section: Box::new(section.clone()), object: Arc::<T>::clone(object) }
    }

    /// The object, if it was made from an equal section.
    fn if_made_from<S, T>(&self, section: &S) -> Option<Arc<T>>
    where
        S: Any + PartialEq,
        T: Any + Send + Sync,
    {
        let is_same = self.section.downcast_ref::<S>() == Some(section);
        is_same.then(|| Arc::clone(&self.object).downcast().ok())?
    }
}

impl Kept {
    /// Begins the next plan.
    pub(crate) fn begin(&self) -> Keeper<'_> {
        Keeper { before: self, now: HashMap::new(), equal: HashMap::new(), place: String::new() }
    }
}

/// Objects that a plan shares, or keeps from the last plan, while its stage is prepared.
#[derive(Debug)]
pub struct Keeper<'k> {
    before: &'k Kept,
    now: HashMap<String, KeptObject>,
    equal: HashMap<(TypeId, TypeId), Vec<KeptObject>>,
    place: String,
}

impl Keeper<'_> {
    /// Sets the site or route of the next directives.
    pub(crate) fn set_place(&mut self, place: String) {
        self.place = place;
    }

    /// The object of an equal section of this plan, or a new one. Only for objects without state.
    pub(crate) fn share<T, S>(
        &mut self,
        section: &S,
        make: impl FnOnce(&S) -> Result<T, Diagnostics>,
    ) -> Result<Arc<T>, Diagnostics>
    where
        T: Any + Send + Sync,
        S: Any + Clone + PartialEq + Send + Sync,
    {
        let kind = (TypeId::of::<S>(), TypeId::of::<T>());
        let known = self.equal.entry(kind).or_default();
        if let Some(object) = known.iter().find_map(|known| known.if_made_from(section)) {
            return Ok(object);
        }
        let object = Arc::new(make(section)?);
        if known.len() < SECTIONS_MAX {
            known.push(KeptObject::new(section, &object));
        }
        Ok(object)
    }

    /// The object that the directive `name` of this site or route made in this plan or the last
    /// one, if its section is the same; otherwise a new one.
    pub(crate) fn keep<T, S>(
        &mut self,
        name: &str,
        section: &S,
        make: impl FnOnce() -> Result<T, Diagnostics>,
    ) -> Result<Arc<T>, Diagnostics>
    where
        T: Any + Send + Sync,
        S: Any + Clone + PartialEq + Send + Sync,
    {
        self.keep_at(format!("{} {name}", self.place), section, make)
    }

    /// Like [`Self::keep`], for objects that several sites and routes share, by `key`.
    pub(crate) fn keep_at<T, S>(
        &mut self,
        key: String,
        section: &S,
        make: impl FnOnce() -> Result<T, Diagnostics>,
    ) -> Result<Arc<T>, Diagnostics>
    where
        T: Any + Send + Sync,
        S: Any + Clone + PartialEq + Send + Sync,
    {
        let object = match self.known(&key, section) {
            Some(object) => object,
            None => Arc::new(make()?),
        };
        self.now.insert(key, KeptObject::new(section, &object));
        Ok(object)
    }

    fn known<T, S>(&self, key: &str, section: &S) -> Option<Arc<T>>
    where
        T: Any + Send + Sync,
        S: Any + PartialEq,
    {
        let before = self.before.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.now.get(key).or_else(|| before.get(key))?.if_made_from(section)
    }

    /// Drops objects that the plan does not have, now that it is in use.
    pub(crate) fn settle(self) {
        *self.before.0.lock().unwrap_or_else(PoisonError::into_inner) = self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sections_share_until_there_are_too_many() {
        let kept = Kept::default();
        let mut keeper = kept.begin();
        let objects: Vec<Arc<String>> = (0..=SECTIONS_MAX)
            .chain(0..=SECTIONS_MAX)
            .map(|section| keeper.share(&section, |section| Ok(section.to_string())))
            .map(Result::unwrap)
            .collect();
        let (first, second) = objects.split_at(SECTIONS_MAX + 1);
        for (number, (one, other)) in first.iter().zip(second).enumerate() {
            assert_eq!(one, other);
            assert_eq!(Arc::ptr_eq(one, other), number < SECTIONS_MAX, "{number}");
        }
    }

    #[test]
    fn a_failed_section_is_tried_again() {
        let kept = Kept::default();
        let mut keeper = kept.begin();
        for _ in 0..2 {
            let failed = keeper.share(&1, |_| Err::<u8, _>(Diagnostics::new()));
            assert!(failed.is_err());
        }
        assert_eq!(*keeper.share(&1, |_| Ok(2)).unwrap(), 2);
    }
}
