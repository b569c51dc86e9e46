//! Waiting for something that another process does: a condition and a deadline, never a fixed
//! pause.

use std::time::{Duration, Instant};

/// How long a test waits for another process before it fails, in all waits that name no time of
/// their own. Long, because it is only ever used up by a test that fails, and a shared machine may
/// be slow.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The time between two looks at a condition. Short against anything a test measures, long against
/// the look itself.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Looks at `condition` until it holds; false when `patience` has passed and it never did.
pub fn wait_until(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    wait_for(patience, || condition().then_some(())).is_some()
}

/// Looks until `find` gives something; none when `patience` has passed. The condition is looked at
/// at least once.
pub fn wait_for<T>(patience: Duration, mut find: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = find() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_up_at_the_deadline() {
        let begin = Instant::now();
        assert!(!wait_until(Duration::from_millis(20), || false));
        assert!(begin.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn looks_once_even_without_patience() {
        assert!(wait_until(Duration::ZERO, || true));
    }

    #[test]
    fn looks_until_the_condition_holds() {
        let mut looks = 0;
        let found = wait_for(PATIENCE, || {
            looks += 1;
            (looks == 3).then_some("there")
        });
        assert_eq!(found, Some("there"));
    }
}
