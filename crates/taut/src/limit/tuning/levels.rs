//! Every tuned number of the schemes that sweep over elements, on one level
//! ([`enforce`](crate::limit::enforce)) or on several ([`cycle`](crate::limit::cycle),
//! [`paper`](crate::limit::paper)).

// ---- sweeps of any number of levels -------------------------------------------------------------------

/// Iteration from which on grips give way to limits that are not met.
pub const LOOSEN_FROM: u32 = 16;

/// Iterations between two times that grips give way.
pub const LOOSEN_EVERY: u32 = 4;

/// Iterations of a coarse level between two projections out of obstacles.
///
/// Half or twice: no change without obstacles.
pub const BETWEEN_OBSTACLES: u32 = 8;

// ---- scheme `cycle` -----------------------------------------------------------------------------------

/// Factor on corrections, on top of `solver.relaxation`.
///
/// `swinging-sheet`: 37 iterations a frame with half of it, 47 with twice (capped), in place of 42.5; the
/// best depends on the scene.
pub const CYCLE_RELAXATION: f32 = 1.5;

/// Largest factor on corrections; from 2 on nothing converges.
///
/// The same scene: 38 with half of it; twice is never reached.
pub const CYCLE_RELAXATION_MOST: f32 = 1.95;

/// Sweeps of level 0 in a cycle.
///
/// The same scene: 38 and 44 in place of 42.5.
pub const CYCLE_SWEEPS: u32 = 4;

/// Sweeps of a level over those of the next finer one.
///
/// The same scene, half or twice: no change, since its coarse levels end early.
pub const CYCLE_GROWTH: u32 = 3;

/// Most sweeps of a level in a cycle.
///
/// The same scene, half or twice: no change.
pub const CYCLE_SWEEPS_MOST: u32 = 108;

// ---- coarse meshes ------------------------------------------------------------------------------------

/// Least quality (1: equilateral) that an element keeps when a vertex of it is moved onto a pin, relative to
/// before.
///
/// Half or twice: no change in `swinging-sheet`.
pub const PIN_QUALITY: f32 = 0.4;

/// Least distance of two pins that both get a vertex, in edges of the level: one of a cluster stands for all.
///
/// Half or twice: no change in `swinging-sheet`.
pub const PIN_DISTANCE: f32 = 0.6;

/// How far the outline of a level of cloth may move when a vertex of it is moved onto a pin, in edges of the
/// level; one that does not lie on the border of the base never moves it.
pub const OUTLINE: f32 = 0.1;

/// Part of the weight of a pin on a level that may belong to vertices that are not held, so that it needs no
/// vertex of its own.
pub const COVERED: f32 = 0.1;

/// Least distance of a vertex that is inserted for a pin from those of other pins, in edges of the level.
pub const INSERT_DISTANCE: f32 = 0.25;

/// Least quality (1: equilateral) of triangles around a vertex that is inserted for a pin.
pub const INSERT_QUALITY: f32 = 0.08;

/// How far a vertex must be moved so that limits of elements around it are fitted again, in edges of the
/// level: less is rounding.
pub const MOVED: f32 = 1e-4;

/// Least quality (1: equilateral) of a tetrahedron that is limited. Stuffing leaves none below 0.2.
///
/// Half or twice: no change in `bar`, whose tetrahedra are better than that.
pub const TETRAHEDRON_QUALITY: f32 = 0.05;
