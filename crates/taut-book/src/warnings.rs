//! Captures the log of mdBook, so that warnings can be errors.

use std::{
    fmt::{Debug, Write},
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

/// Calls `work`, and returns what it returned beside every warning and error that was logged meanwhile, one
/// line each.
pub fn gather<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let logged = Arc::new(Mutex::new(Vec::new()));
    let result = tracing::subscriber::with_default(Listener { logged: logged.clone() }, work);
    // A panic while one line was added leaves the others as they are.
    let logged = std::mem::take(&mut *logged.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    (result, logged)
}

/// Keeps warnings and errors; spans mean nothing to it.
struct Listener {
    logged: Arc<Mutex<Vec<String>>>,
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{}: ", event.metadata().level().as_str().to_lowercase()));
        event.record(&mut line);
        self.logged.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The text of an event.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _ = if field.name() == "message" {
            write!(self.0, "{value:?}")
        } else {
            write!(self.0, " {} = {value:?}", field.name())
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_and_errors_are_caught_and_the_rest_is_not() {
        let (answer, logged) = gather(|| {
            tracing::info!("hello");
            tracing::warn!("page {} is odd", 3);
            tracing::error!("page 4 is wrong");
            5
        });
        assert_eq!(answer, 5);
        assert_eq!(logged, ["warn: page 3 is odd", "error: page 4 is wrong"]);
    }
}
