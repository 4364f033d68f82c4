//! How long a step may take, by which clock.
//!
//! A budget ends iterations early, so what comes out depends on the machine. The clock is part of the budget,
//! so that what depends on it can be tested without waiting.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use crate::schedule::MIN_ITERATIONS_PAST_DEADLINE;

/// Time since a moment that does not change while the program runs.
pub type Clock = fn() -> Duration;

/// Longest budget \[s\]; more than that is no budget.
const LONGEST_S: f32 = 1e6;

/// How long [`Simulation::step`](crate::Simulation::step) may take.
///
/// ```
/// use std::time::Duration;
/// use taut::Budget;
///
/// let smooth = Budget::millis(4.0);
/// assert_eq!(smooth.limit(), Some(Duration::from_millis(4)));
/// assert_eq!(Budget::unlimited().limit(), None);
/// // A clock that a test turns by hand.
/// let tested = smooth.with_clock(|| Duration::from_millis(5)).with_min_iterations(0);
/// assert_eq!(tested.limit(), smooth.limit());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    limit: Option<Duration>,
    min_iterations: u32,
    clock: Clock,
}

impl Budget {
    /// As long as it needs: until limits are met, or the solver's most iterations are done. The result does
    /// not depend on the machine.
    pub fn unlimited() -> Self {
        Self { limit: None, min_iterations: 0, clock: system_clock }
    }

    /// At most about `ms` milliseconds. A step whose limits are not met by then takes 64 iterations in any
    /// case; see [`Budget::with_min_iterations`]. If it is still far past upper limits on strain then (by
    /// 0.03), what moves there moves less far, unless pins or obstacles move in that step. What is negative
    /// or not a number counts as 0, what is longer than 1e6 s as that.
    pub fn millis(ms: f32) -> Self {
        let seconds = (1e-3 * ms).clamp(0.0, LONGEST_S);
        let seconds = if seconds.is_nan() { 0.0 } else { seconds };
        Self {
            limit: Some(Duration::from_secs_f32(seconds)),
            min_iterations: MIN_ITERATIONS_PAST_DEADLINE,
            clock: system_clock,
        }
    }

    /// The same with another number of iterations that a step may take past the deadline, if its limits are
    /// not met before. With 0 it ends as it is.
    pub fn with_min_iterations(self, min_iterations: u32) -> Self {
        Self { min_iterations, ..self }
    }

    /// The same by another clock: for tests, and for games with a clock of their own.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// How long it is; `None`: unlimited.
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Iterations that a step may take past the deadline.
    pub(crate) fn min_iterations(&self) -> u32 {
        self.min_iterations
    }

    /// When the clock is now.
    pub(crate) fn now(&self) -> Duration {
        (self.clock)()
    }

    /// When `share` of it is spent, of 1, if it began at `begun`.
    pub(crate) fn deadline(&self, begun: Duration, share: f32) -> Option<Deadline> {
        let limit = self.limit?;
        Some(Deadline { at: begun + limit.mul_f32(share), clock: self.clock })
    }
}

/// A moment to end by.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Duration,
    clock: Clock,
}

impl Deadline {
    /// `time` from now, by the system's clock.
    pub(crate) fn after(time: Duration) -> Self {
        Self { at: system_clock() + time, clock: system_clock }
    }

    /// Whether it is past.
    pub fn is_past(&self) -> bool {
        (self.clock)() >= self.at
    }
}

/// The system's monotonic clock.
fn system_clock() -> Duration {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    ORIGIN.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_are_shares_of_the_budget_by_its_own_clock() {
        let budget = Budget::millis(8.0).with_clock(|| Duration::from_millis(100));
        let is_past = |ms: u64, share: f32| {
            budget.deadline(Duration::from_millis(ms), share).is_some_and(|deadline| deadline.is_past())
        };
        assert_eq!(budget.now(), Duration::from_millis(100));
        assert!(is_past(92, 1.0) && !is_past(93, 1.0), "8 ms after it began");
        assert!(is_past(95, 0.5) && !is_past(97, 0.5), "half of it: 4 ms after");
        assert!(Budget::unlimited().deadline(Duration::ZERO, 1.0).is_none());
    }

    #[test]
    fn what_is_no_time_is_none() {
        for ms in [f32::NAN, -1.0, f32::NEG_INFINITY] {
            assert_eq!(Budget::millis(ms).limit(), Some(Duration::ZERO), "{ms}");
        }
        assert_eq!(Budget::millis(f32::INFINITY).limit(), Some(Duration::from_secs(1_000_000)));
    }
}
