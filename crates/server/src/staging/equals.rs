//! What is made from equal sections of many places is one thing: a thousand routes that give the same fields share them.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// The most different sections of a kind that are compared with another. Those beyond share nothing, so that a plan of which
/// every section differs is staged in time.
const SECTIONS_MAX: usize = 64;

/// A section, and what was made from it.
type Pair<'p> = (&'p dyn Any, Arc<dyn Any + Send + Sync>);

/// The things of one plan by the sections that they were made from. Only for what remembers nothing of its place.
#[derive(Debug, Default)]
pub(super) struct Equals<'p>(HashMap<(TypeId, TypeId), Vec<Pair<'p>>>);

impl<'p> Equals<'p> {
    /// What was made from an equal section, or else is made from this one.
    pub(super) fn one<S, T, E>(
        &mut self,
        section: &'p S,
        make: impl FnOnce(&'p S) -> Result<T, E>,
    ) -> Result<Arc<T>, E>
    where
        S: Any + PartialEq,
        T: Any + Send + Sync,
    {
        let kind = (TypeId::of::<S>(), TypeId::of::<T>());
        let known = self.0.entry(kind).or_default();
        let is_equal = |pair: &&Pair<'p>| pair.0.downcast_ref::<S>() == Some(section);
        let equal = known.iter().find(is_equal).map(|(_, thing)| thing);
        if let Some(Ok(thing)) = equal.map(|thing| Arc::clone(thing).downcast()) {
            return Ok(thing);
        }
        let thing = Arc::new(make(section)?);
        if known.len() < SECTIONS_MAX {
            known.push((section, Arc::<T>::clone(&thing)));
        }
        Ok(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sections_share_until_there_are_too_many() {
        let sections: Vec<usize> = (0..=SECTIONS_MAX).chain(0..=SECTIONS_MAX).collect();
        let mut equals = Equals::default();
        let things: Vec<Arc<String>> = sections
            .iter()
            .map(|section| equals.one(section, |section| Ok::<_, ()>(section.to_string())))
            .map(Result::unwrap)
            .collect();
        let (first, second) = things.split_at(SECTIONS_MAX + 1);
        for (number, (one, other)) in first.iter().zip(second).enumerate() {
            assert_eq!(one, other);
            assert_eq!(Arc::ptr_eq(one, other), number < SECTIONS_MAX, "{number}");
        }
    }

    #[test]
    fn what_cannot_be_made_is_tried_for_each_section() {
        let mut equals = Equals::default();
        for _ in 0..2 {
            assert_eq!(equals.one(&1, |_| Err::<u8, _>("no")), Err("no"));
        }
        assert_eq!(equals.one(&1, |_| Ok::<_, ()>(2)).as_deref(), Ok(&2));
    }
}
