//! Numbers of particles and springs ([`term::spring`](crate::term::spring)).

/// How far a particle may go in the last iteration of a step that nothing touches, in lengths of an edge.
/// Newton's method doubles its digits: what is left after such an iteration is rounding.
pub const SPRING_TOLERANCE: f64 = 1e-6;

/// The same below which multipliers of limits are raised where something touches. With 1e-3 everywhere, a
/// chain of 40 segments at a limit of 0 took 1000 iterations in three of its first four steps.
pub const SPRING_STILL: f64 = 1e-4;

/// The same where something touches, and of springs to cloth from the length that they want.
pub const SPRING_SETTLED: f64 = 1e-3;

/// Weight of the limits of segments, in masses of their heavier end, and in masses of all particles. Chosen;
/// half and twice of it were not measured.
pub const SPRING_LIMIT_WEIGHT: f64 = 1e4;

/// See [`SPRING_LIMIT_WEIGHT`].
pub const SPRING_LIMIT_WEIGHT_OF_ALL: f64 = 1e3;

/// Most weight of a spring to cloth, in reduced masses of its ends.
pub const SPRING_WEIGHT_MOST: f32 = 8.0;

/// Most stiffness of springs that rigid bodies see, in masses and contact weights of a particle: a body moves
/// by up to a quarter too much in an iteration then.
pub const SPRING_SEEN: f32 = 4.0;
