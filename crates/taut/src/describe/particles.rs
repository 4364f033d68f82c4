//! Point masses: what a caller says of them.

use glam::Vec3;

use super::{Limit, Model};
use crate::{Pin, mesh::lines::LineMesh};

/// What the segments of a [`Particles`] body are as springs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentSprings {
    /// Stiffness \[N/m\] of each segment, whatever its length.
    pub stiffness: f32,
    /// Damping of motion along each segment \[N s/m\].
    pub damping: f32,
    /// Length at which a segment has no tension, over its length in the rest shape.
    pub rest: f32,
    /// Force at the end of a step, pull or push, beyond which a segment breaks \[N\].
    pub breaking_force: Option<f32>,
}

impl Default for SegmentSprings {
    fn default() -> Self {
        Self { stiffness: 0.0, damping: 0.0, rest: 1.0, breaking_force: None }
    }
}

/// A body of point masses, some of them joined by segments: chains, ropes, nets, or single particles.
///
/// ```
/// use taut::{Description, Particles, SegmentSprings, mesh::lines::LineMesh};
///
/// let rope = LineMesh::chain([0.0, 1.0, 0.0].into(), [0.5, 1.0, 0.0].into(), 10);
/// let mut rope = Particles::new("rope", rope, 0.01);
/// rope.springs = SegmentSprings { stiffness: 1e4, ..SegmentSprings::default() };
/// rope.pins.push(taut::Pin { vertices: vec![0], ..taut::Pin::default() });
/// let description = Description { bodies: vec![rope.into()], ..Description::default() };
/// let world = taut::World::new(description)?;
/// assert_eq!(world.ruler().spring_count(), 10);
/// # Ok::<(), taut::WorldError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Particles {
    /// Its name in files and messages.
    pub name: String,
    /// Rest shape: where particles are, and which of them segments join.
    pub mesh: LineMesh,
    /// Where particles start \[m\]; as many as `mesh.positions`.
    pub start: Vec<Vec3>,
    /// Velocity at the start \[m/s\].
    pub velocity: Vec3,
    /// Mass of each particle \[kg\].
    pub masses: Vec<f64>,
    /// Radius with which particles and segments are drawn \[m\].
    pub radius: f32,
    /// Rate at which motion dies away \[1/s\].
    pub damping: f32,
    /// How its segments are simulated: [`Model::Fem`], as springs and limits of the scheme's own solve; or
    /// [`Model::Pbd`], as constraints on their lengths, or as springs if these have a stiffness.
    pub model: Model,
    /// Its segments as springs.
    pub springs: SegmentSprings,
    /// Limits on the strain of its segments, of their length in the rest shape: a rope that does not stretch.
    pub edge: Limit,
    /// Particles that are held.
    pub pins: Vec<Pin>,
}

impl Particles {
    /// Particles of `mass` \[kg\] each, at rest in their rest shape; segments neither pull nor limit.
    pub fn new(name: impl Into<String>, mesh: LineMesh, mass: f64) -> Self {
        Self {
            name: name.into(),
            start: mesh.positions.clone(),
            masses: vec![mass; mesh.positions.len()],
            mesh,
            velocity: Vec3::ZERO,
            radius: 0.0,
            damping: 0.0,
            model: Model::Fem,
            springs: SegmentSprings::default(),
            edge: Limit::default(),
            pins: Vec::new(),
        }
    }
}
