//! A clock for budgets that goes on by a millisecond whenever it is read, so that what depends on time is
//! tested without any.

use std::{cell::Cell, time::Duration};

thread_local! {
    static READ: Cell<u32> = const { Cell::new(0) };
}

/// Sets the clock of this thread to 0.
pub fn reset() {
    READ.set(0);
}

/// How often it was read since, which is what it shows \[ms\].
pub fn read() -> u32 {
    READ.get()
}

/// The clock.
pub fn ticking() -> Duration {
    READ.set(READ.get() + 1);
    Duration::from_millis(READ.get().into())
}
