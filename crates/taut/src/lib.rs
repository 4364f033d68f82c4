//! taut simulates cloth and soft solids that *hold their limits*: soft up to a chosen stretch or compression,
//! and not beyond.
//!
//! This crate is the engine: no files, no window. A [`Description`] says what is wanted, [`World`] is what
//! does not change while it runs, [`State`] what does, [`Stepper`] advances one by the other, and [`certify`]
//! measures what came out. [`step`] shows one step from top to bottom. [`VelocityFilter`] is the limiter by
//! itself, for other simulators.
//!
//! ```
//! use taut::{Cloth, Description, Material, State, Stepper, World, certify, mesh::generate};
//!
//! let mesh = generate::grid([1.0, 1.0], [8, 8], generate::Diagonals::Alternating, 0);
//! let mut sheet = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
//! sheet.strain.max = Some(0.05);
//! let world = World::new(Description { bodies: vec![sheet.into()], ..Description::default() })?;
//! let mut state = State::new(&world);
//! let mut stepper = Stepper::new(&world, 1)?;
//! let report = stepper.advance_frame(&world, &mut state);
//! assert!(report.converged && certify(&world, &state).bodies[0].strain.max_stretch < 1.06);
//! # Ok::<(), taut::WorldError>(())
//! ```
//!
//! Units are SI throughout: metres, kilograms, seconds; angles are radians inside the engine.

#[cfg(test)]
extern crate self as taut;

pub mod boundary;
mod budget;
pub mod certificate;
pub mod contact;
pub mod element;
pub mod exec;
pub mod hierarchy;
pub mod kernel;
pub mod limit;
pub mod live;
pub mod mesh;
pub mod state;
pub mod step;
#[cfg(test)]
mod tests;
pub mod velocity;
pub mod velocity_filter;
pub mod world;

pub use boundary::{
    grip::{Grip, GripId},
    mesh_obstacle::{MeshFrames, MeshObstacle},
    motion::Motion,
    obstacle::Obstacle,
    pin::Pin,
    rigid::{RigidBody, RigidState},
    seam::Seam,
};
pub use budget::{Budget, Clock};
pub use certificate::{Certificate, certify};
pub use exec::threads as parallel;
pub use live::{Limiter, Live};
pub use state::State;
pub use step::{FrameReport, Stepper};
pub use velocity::{air::Air, material::Material, solid_material::SolidMaterial};
pub use velocity_filter::{FilterError, FilterSetup, Filtered, VelocityFilter};
pub use world::{
    Body, Cloth, Contact, Description, Direction, EdgeModel, IMPERFECTION, Limit, Model, Projection, Scheme,
    Solid, Solver, Weave, World, WorldError,
};
