//! Why something cannot be simulated.

/// Why a [`Description`](crate::Description), or a change of a running simulation, is refused. One variant a
/// thing that can be wrong, with its name, so that callers can match on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// There is nothing to simulate.
    #[error("description: no cloth, no solid, no particles and no hair; at least one is needed")]
    NoBodies,
    /// There are more vertices than the engine can address.
    #[error("description: {count} vertices in all; at most {limit} can be simulated")]
    TooManyVertices {
        /// Vertices of all bodies and mesh obstacles.
        count: usize,
        /// Most that can be simulated.
        limit: usize,
    },
    /// A number of the description itself, such as gravity, is out of range.
    #[error("description: {problem}")]
    Setting {
        /// The field, as in `gravity`.
        key: &'static str,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A setting of the solver is out of range.
    #[error("description: {problem}")]
    Solver {
        /// The field of [`Solver`](crate::Solver).
        key: &'static str,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A piece of cloth cannot be simulated.
    #[error("cloth \"{name}\": {problem}")]
    Cloth {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A soft solid cannot be simulated.
    #[error("solid \"{name}\": {problem}")]
    Solid {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// Point masses cannot be simulated.
    #[error("particles \"{name}\": {problem}")]
    Particles {
        /// Name of the body.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// Hair cannot be simulated.
    #[error("hair \"{name}\": {problem}")]
    Hair {
        /// Name of the body.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A spring cannot be simulated.
    #[error("spring \"{name}\": {problem}")]
    Spring {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A limit on strain or bend is out of range.
    #[error("{kind} \"{name}\": {problem}")]
    Limit {
        /// Kind of the body: `cloth` or `solid`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What is allowed.
        problem: String,
    },
    /// Pins of a body cannot be simulated.
    #[error("{kind} \"{name}\": {problem}")]
    Pin {
        /// Kind of the body: `cloth` or `solid`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// An obstacle that is given by formula cannot be simulated.
    #[error("description: {problem}")]
    Obstacle {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A mesh obstacle cannot be simulated.
    #[error("obstacle \"{name}\": {problem}")]
    MeshObstacle {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A rigid body cannot be simulated.
    #[error("obstacle \"{name}\": {problem}")]
    RigidBody {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A seam cannot be simulated.
    #[error("seam \"{name}\": {problem}")]
    Seam {
        /// Its name.
        name: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// There is no body with that number.
    #[error("body {body}: there is none; the world has {count}")]
    NoSuchBody {
        /// The number.
        body: usize,
        /// Bodies that there are.
        count: usize,
    },
    /// A body has no vertex with that number.
    #[error("{kind} \"{name}\": has no vertex {vertex}; it has {count}")]
    NoSuchVertex {
        /// Kind of the body: `cloth` or `solid`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The number.
        vertex: u32,
        /// Vertices that it has.
        count: usize,
    },
    /// A change of a running simulation is out of range.
    #[error("{what}: {problem}")]
    Invalid {
        /// The thing, for instance `gravity`.
        what: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// The thread pool could not be started.
    #[error("could not start {0} threads: {1}")]
    Threads(usize, String),
}
