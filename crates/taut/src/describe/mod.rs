//! What a user says: bodies, what they touch, and how they are simulated. Nothing here is prepared for the
//! solver; [`World`](crate::World) does that.

mod body;
mod cloth;
mod developable;
mod error;
mod hair;
mod limit;
mod particles;
mod pbd;
mod pressure;
mod solid;
mod solver;
mod spring;
mod tear;
pub(crate) mod weave;

use glam::Vec3;

use crate::{Air, MeshObstacle, Obstacle, RigidBody, Seam};

pub use body::Body;
pub use cloth::{Cloth, EdgeModel, IMPERFECTION, Model};
pub use developable::DevelopableModel;
pub use error::WorldError;
pub use hair::{Hair, HairContact, HairMaterial, HairModel, HairRest, Roots};
pub use limit::Limit;
pub use particles::{Particles, SegmentSprings};
pub use pbd::{PbdModel, PbdStiffness};
pub use pressure::{AMBIENT, Pressure, PressureLaw};
pub use solid::{LevelKind, Solid};
pub use solver::{Integrator, Projection, Scheme, Solver, Tolerance};
pub use spring::{Spring, SpringEnd};
pub use tear::{Tear, TearMeasure, Torn};
pub use weave::{Direction, Weave};

/// Contact of cloth with itself and with other cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Distance that pieces of cloth keep from each other and from themselves \[m\]; 0 lets cloth pass
    /// through cloth.
    pub thickness: f32,
    /// Coulomb friction coefficient of cloth on cloth.
    pub friction: f32,
}

impl Default for Contact {
    fn default() -> Self {
        Self { thickness: 0.0, friction: 0.3 }
    }
}

/// Everything that a simulation is made from.
#[derive(Clone, Debug)]
pub struct Description {
    /// Cloth, soft solids and particles, in any order. Pins, seams, certificates and files count them in this
    /// order.
    pub bodies: Vec<Body>,
    /// Vertices of cloth that are sewn together.
    pub seams: Vec<Seam>,
    /// Springs between vertices of any bodies.
    pub springs: Vec<Spring>,
    /// Solid bodies that cloth may not enter.
    pub obstacles: Vec<Obstacle>,
    /// Triangle meshes that cloth may not pass through.
    pub mesh_obstacles: Vec<MeshObstacle>,
    /// Solid bodies with mass, which cloth pushes; for [`Scheme::Nearest`] only.
    pub rigid_bodies: Vec<RigidBody>,
    /// Gravity \[m/s²\].
    pub gravity: Vec3,
    /// Duration of the sewing phase at the start \[s\], in which seams are drawn together where their panels
    /// were placed: without gravity and friction on meshes, and with motion strongly damped. For three
    /// quarters of it cloth may pass through cloth; what intersects then is separated.
    pub sewing: f32,
    /// Air around it.
    pub air: Air,
    /// Length of a frame \[s\].
    pub frame_time: f32,
    /// Settings of the limiter.
    pub solver: Solver,
    /// Contact of cloth with cloth.
    pub contact: Contact,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Description {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            seams: Vec::new(),
            springs: Vec::new(),
            obstacles: Vec::new(),
            mesh_obstacles: Vec::new(),
            rigid_bodies: Vec::new(),
            gravity: Vec3::new(0.0, -9.81, 0.0),
            sewing: 0.0,
            air: Air::default(),
            frame_time: 1.0 / 30.0,
            solver: Solver::default(),
            contact: Contact::default(),
            seed: 0,
        }
    }
}

impl Description {
    /// Whether a step that begins at `time` \[s\] belongs to the sewing phase. Steps begin at sums of rounded
    /// times, so that one which begins a thousandth of a frame before the end does not.
    pub(crate) fn is_sewing(&self, time: f32) -> bool {
        self.sewing > 0.0 && time < self.sewing - 1e-3 * self.frame_time
    }

    /// Gravity in a step that begins at `time` \[s\] \[m/s²\].
    pub(crate) fn gravity_at(&self, time: f32) -> Vec3 {
        if self.is_sewing(time) { Vec3::ZERO } else { self.gravity }
    }
}
