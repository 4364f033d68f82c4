//! The folder that a run leaves: written so that a killed run can go on, and read back so that anyone can
//! check it.
//!
//! ```text
//! scene.toml            the effective scene, every default written out: runs again to the same bits
//! inputs/               copies of the mesh and map files that the scene reads
//! NAME.rest.ply         rest mesh of each piece of cloth
//! NAME.rest.vtu         rest mesh of each soft solid: tetrahedra
//! NAME.skin.ply         surface that is shown in place of each soft solid, at rest
//! frames/NAME.0000.npy  positions, float32 [n, 3], one file a frame; frame 0 is the start
//! metrics.jsonl         one line a frame: what the solver reported, and the certificate
//! checkpoint/           enough to go on to the same bits after kill -9
//! outcome.json          how it ended and why; written last
//! ```
//!
//! Every file is written under a temporary name and renamed when it is whole ([`atomic`]), so a reader never
//! meets half a frame. For one frame the order is positions, then its line in `metrics.jsonl`, then (at most
//! once a second) the checkpoint: a checkpoint therefore never speaks of a frame that is not there.
//! [`folder`] decides whether a run may write into a folder at all, [`recorder`] puts the pieces together,
//! [`verify`] reads everything back and measures it again.

pub mod atomic;
pub mod checkpoint;
pub mod folder;
pub mod layout;
pub mod metrics;
pub mod npy;
pub mod outcome;
pub mod recorder;
pub mod resume;
pub mod verify;

use std::{io, path::PathBuf};

use crate::Problem;

/// Why the folder of a run could not be used.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The system refused to read or write: a full disk, a missing permission, a file where a folder should
    /// be.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as in "could not *write* …".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder is not what the caller asked for: it holds another run, or none.
    #[error("{problem}")]
    Refused {
        /// Which folder, and why.
        problem: Problem,
        /// What the user can do about it.
        hint: String,
    },
}

impl OutputError {
    /// Wraps what the system said about `path` while it was asked to `action` it.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// A refusal to use `path`, with what the user can do about it.
    pub fn refused(path: impl Into<PathBuf>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let problem = Problem { file: Some(path.into()), message: message.into(), ..Problem::default() };
        Self::Refused { problem, hint: hint.into() }
    }
}
