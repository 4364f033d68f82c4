//! taut simulates cloth and soft solids that *hold their limits*: soft up to a chosen stretch, compression or
//! bend, and not beyond.
//!
//! This crate is the engine: no files, no window. [`Simulation`] is the front door:
//!
//! ```
//! use glam::Vec3;
//! use taut::{Budget, Cloth, Material, Obstacle, Pose, Simulation, mesh::generate};
//!
//! // A sheet of 1 m × 1 m that stretches by 5 % at most, held along one edge.
//! let mesh = generate::grid([1.0, 1.0], [16, 16], generate::Diagonals::Alternating, 0);
//! let sheet = Cloth::new("sheet", mesh, Material::default()).stretch(..=0.05).pin(0..17);
//!
//! let dt = 1.0 / 60.0;
//! let mut simulation = Simulation::builder().time_step(dt).build()?;
//! let sheet = simulation.insert(sheet)?;
//! let ball = simulation.insert_obstacle(Obstacle::sphere(Vec3::new(0.5, -0.5, 0.8), 0.15))?;
//! for frame in 0..10 {
//!     // Where the ball is at the end of this step: cloth feels its velocity.
//!     simulation.set_next_pose(ball, Pose::at(Vec3::new(0.5, -0.5 + 0.01 * frame as f32, 0.8)))?;
//!     simulation.step(dt, Budget::millis(4.0))?;
//! }
//! let lowest = simulation.positions(sheet)?.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
//! assert!(lowest < -0.05);
//! assert!(simulation.body_certificate(sheet)?.strain.max_stretch < 1.1);
//! # Ok::<(), taut::SimulationError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | set up, step, read | [`Simulation`], [`SimulationBuilder`], [`Budget`], [`FrameReport`], [`Vectors`] |
//! | describe bodies | [`Cloth`], [`Solid`], their [`Material`] and [`SolidMaterial`], meshes in [`mesh`] |
//! | say how far they may go | [`Limit`], or a range: `..=0.05`, `-0.02..=0.05`; [`Weave`] by direction |
//! | add obstacles | [`Obstacle`], [`MeshObstacle`], [`RigidBody`], moved by [`Pose`] or [`Motion`] |
//! | hold and pull | [`Simulation::pin`], [`Simulation::grip`], [`Pin`], [`Grip`] |
//! | hear what happened | [`Event`], [`BodyCertificate`] |
//! | limit another simulator's cloth | [`VelocityFilter`] |
//!
//! One level below, for programs that record and resume: a [`Description`] says what is wanted, [`World`] is
//! what does not change while it runs, [`State`] what does, [`Stepper`] advances one by the other, and
//! [`certify`] measures what came out. [`low_level`] has the rest of it.
//!
//! Units are SI throughout: metres, kilograms, seconds; angles are radians inside the engine. The same
//! input gives the same bits at any number of threads, unless a time budget cuts a step short.
//!
//! Examples: `game_loop` (a moving capsule, 4 ms a frame), `own_mesh`, `limiter` (for another simulator).

#[cfg(test)]
extern crate self as taut;

mod body;
#[cfg(not(feature = "internals"))]
mod boundary;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod boundary;
mod budget;
mod collide;
#[cfg(not(feature = "internals"))]
mod contact;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod contact;
mod describe;
#[cfg(not(feature = "internals"))]
mod element;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod element;
mod embedding;
#[cfg(not(feature = "internals"))]
mod exec;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod exec;
pub mod fabric;
mod hair_pairs;
#[cfg(not(feature = "internals"))]
mod hierarchy;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod hierarchy;
#[cfg(not(feature = "internals"))]
mod kernel;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod kernel;
#[cfg(not(feature = "internals"))]
mod limit;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod limit;
pub mod low_level;
pub mod measure;
pub mod mesh;
mod pbd;
mod schedule;
mod simulation;
mod solve;
mod state;
mod step;
// Hair bodies will use all of it.
#[allow(dead_code, unused_imports)]
mod strand;
mod strand_springs;
mod term;
#[cfg(test)]
mod tests;
mod velocity;
mod velocity_filter;
mod world;

pub use boundary::{
    grip::{Grip, GripId},
    mesh_obstacle::{MeshFrames, MeshObstacle},
    motion::{Motion, Pose},
    obstacle::{Obstacle, Shape},
    pin::{AttachedShape, Pin},
    rigid::{RigidBody, RigidState},
    seam::Seam,
};
pub use budget::{Budget, Clock};
pub use describe::{
    AMBIENT, Body, Cloth, Contact, Description, DevelopableModel, Direction, EdgeModel, Hair, HairContact,
    HairMaterial, HairModel, HairRest, IMPERFECTION, Integrator, LevelKind, Limit, Model, Particles,
    PbdModel, PbdStiffness, Pressure, PressureLaw, Projection, Roots, Scheme, SegmentSprings, Solid, Solver,
    Spring, SpringEnd, Tear, TearMeasure, Tolerance, Torn, Weave, WorldError,
};
pub use measure::{BodyCertificate, Certificate, Ruler, certify};
pub use schedule::{Alone, Schedule};
pub use simulation::{
    AnyObstacle, BodyHandle, BrokenSpring, Element, Event, GripHandle, Limiter, ObstacleHandle,
    RigidBodyHandle, Simulation, SimulationBuilder, SimulationError, VectorIter, Vectors,
};
pub use state::State;
pub use step::{FrameReport, Stepper};
pub use velocity::{
    air::Air,
    material::{Bending, Material, Stretching},
    solid_material::SolidMaterial,
};
pub use velocity_filter::{FilterError, FilterSetup, Filtered, VelocityFilter};
pub use world::{CarriedStiffness, World};
