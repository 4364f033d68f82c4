//! Ctrl-C: the first asks the run to stop after its frame, the second ends the program at once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{failure::code, terminal};

/// Whether the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts to listen for ctrl-C, and for a polite request to terminate.
    pub fn listen() -> Self {
        let (interrupt, listening) =
            Self::listen_with(|| terminal::note("\nstopping after this frame; ctrl-C again ends at once"));
        if let Err(error) = listening {
            terminal::warning(&format!(
                "ctrl-C will end the run at once ({error}); --resume goes on all the same"
            ));
        }
        interrupt
    }

    /// The same for what has nothing to finish, without words. Where it cannot listen, ctrl-C ends the
    /// program all the same.
    pub fn listen_quietly() -> Self {
        Self::listen_with(|| {}).0
    }

    fn listen_with(tell: impl Fn() + Send + 'static) -> (Self, Result<(), ctrlc::Error>) {
        let interrupt = Self::default();
        let asked = interrupt.0.clone();
        let listening = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
                std::process::exit(code::INTERRUPTED.into());
            }
            tell();
        });
        (interrupt, listening)
    }

    /// Whether the user has asked to stop.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
