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
        let interrupt = Self::default();
        let asked = interrupt.0.clone();
        let listening = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::SeqCst) {
                std::process::exit(code::INTERRUPTED.into());
            }
            terminal::note("\nstopping after this frame; ctrl-C again ends at once");
        });
        if let Err(error) = listening {
            terminal::warning(&format!(
                "ctrl-C will end the run at once ({error}); --resume goes on all the same"
            ));
        }
        interrupt
    }

    /// Whether the user has asked to stop.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
