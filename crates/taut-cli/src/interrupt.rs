//! Ctrl-C: the first stops the run after the current frame, the second exits immediately.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{failure::code, terminal};

/// Whether the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs a handler for ctrl-C and SIGTERM.
    pub fn listen() -> Self {
        let (interrupt, listening) = Self::listen_with(|| {
            terminal::note("\nstopping after this frame; ctrl-C again exits immediately")
        });
        if let Err(error) = listening {
            terminal::warning(&format!("ctrl-C will exit immediately ({error}); --resume still works"));
        }
        interrupt
    }

    /// The same without messages, for commands with nothing to finish. If the handler cannot be installed,
    /// ctrl-C still ends the program.
    pub fn listen_quietly() -> Self {
        Self::listen_with(|| {}).0
    }

    fn listen_with(tell: impl Fn() + Send + 'static) -> (Self, Result<(), ctrlc::Error>) {
        let interrupt = Self::default();
        let requested = interrupt.0.clone();
        let listening = ctrlc::set_handler(move || {
            if requested.swap(true, Ordering::SeqCst) {
                std::process::exit(code::INTERRUPTED.into());
            }
            tell();
        });
        (interrupt, listening)
    }

    /// Whether the user has asked to stop.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
