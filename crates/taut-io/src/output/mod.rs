//! The run folder: written so that a killed run can resume, and read back for verification.
//!
//! ```text
//! scene.toml            the effective scene with all defaults; running it gives the same bits
//! inputs/               copies of the mesh and map files of the scene
//! NAME.rest.ply         rest mesh of each cloth
//! NAME.rest.vtu         rest mesh of each soft body: tetrahedra
//! NAME.skin.ply         display surface of each soft body, at rest
//! NAME.points.ply       points of developable cloth at rest, with the triangles that are measured
//! frames/NAME.0000.npy  positions, float32 [n, 3], one file per frame; frame 0 is the initial state
//! metrics.jsonl         one line per frame: the solver's report, and the certificate
//! checkpoint/           state to resume from, to the same bits, after kill -9
//! outcome.json          status and reason; written last
//! ```
//!
//! Every file is written under a temporary name and renamed when complete ([`atomic`]), so readers never see
//! a partial frame. Per frame, positions are written first, then the line in `metrics.jsonl`, then (at most
//! once a second) the checkpoint: a checkpoint therefore never refers to a missing frame. [`folder`] decides
//! whether a run may write to a folder, [`recorder`] writes the files, [`verify`] reads everything back and
//! measures it again.

pub mod atomic;
pub mod checkpoint;
pub mod folder;
pub mod layout;
pub mod metrics;
pub mod npy;
pub mod outcome;
pub mod recorder;
pub mod resume;
pub mod session;
pub(crate) mod tears;
pub mod verify;

use std::{io, path::PathBuf};

use crate::Problem;

/// Why a run folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// An I/O error: a full disk, a missing permission, a file instead of a folder.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// The attempted action, as in "could not *write* …".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder is refused: it contains another run, or none.
    #[error("{problem}")]
    Refused {
        /// The folder, and the reason.
        problem: Problem,
        /// What the user can do about it.
        hint: String,
    },
}

impl OutputError {
    /// Wraps a system error of `action` on `path`.
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
