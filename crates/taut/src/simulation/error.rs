//! Why a simulation refuses something.

use crate::{WorldError, boundary::motion::Pose};

/// Why a [`Simulation`](super::Simulation) refuses something. It goes on as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// What the handle named has been removed, or belongs to another simulation.
    #[error("stale handle: this {what} has been removed, or belongs to another simulation")]
    StaleHandle {
        /// What it was: `body`, `obstacle`, `rigid body` or `grip`.
        what: &'static str,
    },
    /// A pose that is not finite and within 1e6 m, or whose rotation is not one.
    #[error(
        "the pose of an obstacle must be finite and within 1e6 m, with a rotation of length 1; it is {0:?}"
    )]
    InvalidPose(Pose),
    /// A time step that cannot be simulated.
    #[error("the time step is {0} s; it must be positive and at most 1e3 s")]
    InvalidTimeStep(f32),
    /// A limit that nothing can have.
    #[error("{body}: {problem}")]
    LimitOutOfRange {
        /// Kind and name of the body.
        body: String,
        /// What is wrong, and what is allowed.
        problem: &'static str,
    },
    /// There is no such vertex.
    #[error("{body} has no vertex {vertex}; it has {count}")]
    NoSuchVertex {
        /// Kind and name of the body.
        body: String,
        /// Which vertex was asked for.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// What a body of this kind does not support.
    #[error("{body} {problem}")]
    Unsupported {
        /// Kind and name of the body.
        body: String,
        /// What it does not support.
        problem: &'static str,
    },
    /// A number that is out of range.
    #[error("{what} is {value}; it must {allowed}")]
    OutOfRange {
        /// What the number is.
        what: &'static str,
        /// What it was, in words.
        value: String,
        /// What it may be, in words.
        allowed: &'static str,
    },
    /// A state that does not have the vertices, duals and rigid bodies of the world.
    #[error("state and world do not match")]
    StateOfAnotherWorld,
    /// What the engine refuses: a mesh, a material, a setting.
    #[error(transparent)]
    World(#[from] WorldError),
}
