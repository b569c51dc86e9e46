//! When requests are due in open load. A pacer says two things: how many should have been sent by a
//! time, and when a request is due; each follows from the other. Every shape of load is a pacer,
//! and the generator knows no shape.
//!
//! The idea of two methods is that of vegeta's `lib/pacer.go`. Chance is not a shape: [`Arrival`]
//! spreads the requests of any.

mod arrival;
mod constant;
mod ramp;
mod stages;

pub use arrival::Arrival;
pub(crate) use arrival::Schedule;
pub use constant::Constant;
pub use ramp::Ramp;
pub use stages::{STAGES_MAX, Stage, Stages, StagesError};

use std::fmt;
use std::time::Duration;

/// The highest rate that may be asked for, in requests per second; above, a due time would be less
/// than a nanosecond apart.
pub const RATE_MAX: f64 = 1e9;

/// A shape of open load. Displays as people say it: `5000/s`.
pub trait Pacer: fmt::Debug + fmt::Display + Send + Sync {
    /// How many requests should have been sent `elapsed` after the beginning. Never falls.
    fn sent_by(&self, elapsed: Duration) -> f64;

    /// When the request with this number is due, counted from 0; `None` if never. The inverse of
    /// [`Pacer::sent_by`].
    fn due_at(&self, number: f64) -> Option<Duration>;

    /// The highest rate that is asked for at any time, in requests per second.
    fn rate_max(&self) -> f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pacer: &dyn Pacer, points: &[(f64, f64)]) {
        for &(seconds, number) in points {
            let sent = pacer.sent_by(Duration::from_secs_f64(seconds));
            assert!(
                (sent - number).abs() < 1e-6,
                "{pacer}: {sent} by {seconds} s"
            );
            let due = pacer.due_at(number).unwrap().as_secs_f64();
            assert!((due - seconds).abs() < 1e-6, "{pacer}: {number} at {due} s");
        }
    }

    #[test]
    fn each_shape_is_its_own_inverse() {
        check(&Constant::per_second(50.0), &[(0.0, 0.0), (2.0, 100.0)]);
        let over = Duration::from_secs(10);
        check(
            &Ramp::new(0.0, 100.0, over),
            &[(0.0, 0.0), (10.0, 500.0), (12.0, 700.0)],
        );
        check(
            &Ramp::new(100.0, 20.0, over),
            &[(5.0, 400.0), (10.0, 600.0), (11.0, 620.0)],
        );
        check(&Ramp::new(30.0, 30.0, over), &[(5.0, 150.0)]);
        let stages = "10s 100\n 10s 0..100 \n# comment\n5s 10"
            .parse::<Stages>()
            .unwrap();
        check(
            &stages,
            &[
                (10.0, 1000.0),
                (20.0, 1500.0),
                (25.0, 1550.0),
                (26.0, 1560.0),
            ],
        );
        assert!((stages.rate_max() - 100.0).abs() < 1e-9);
        let steps = Stages::steps(10.0, 10.0, 30.0, Duration::from_secs(1)).unwrap();
        check(&steps, &[(1.0, 10.0), (2.0, 30.0), (3.0, 60.0)]);
    }

    #[test]
    fn a_zero_rate_is_never_due() {
        assert_eq!(Constant::per_second(0.0).due_at(0.0), None);
        let silence = "1s 10\n1s 0".parse::<Stages>().unwrap();
        assert_eq!(silence.due_at(11.0), None);
        // A pause in between is passed over.
        let pause = "1s 10\n1s 0\n1s 10".parse::<Stages>().unwrap();
        check(&pause, &[(0.5, 5.0), (2.5, 15.0)]);
    }

    #[test]
    fn says_which_line_of_stages_is_wrong() {
        for (text, line) in [
            ("", 0),
            ("10s 5\n10s", 2),
            ("soon 5", 1),
            ("10s five", 1),
            ("10s -5", 1),
            ("10s 2e9", 1),
            ("10s 5 6", 1),
            ("0s 5", 1),
        ] {
            let error = text.parse::<Stages>().unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error}");
        }
    }
}
