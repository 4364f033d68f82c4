//! What a frame came to: stretch, residuals past the limits, energy, momentum, penetration, contact.
//!
//! Everything is computed in f64 from single-precision positions, by functions of rest mesh and positions
//! alone, so that `taut verify` gets the same figures from the files: with a [`Ruler`], which has rest tables
//! and nothing of the solver.

mod bag;
mod certify;
mod contact;
pub(crate) mod midpoints;
mod rigid;
mod ruler;
mod seam;
mod spring;
mod tear;

use serde::{Deserialize, Serialize};

use crate::{Limit, element::set::ElementCertificate};

pub use crate::body::{
    cloth::measure::{RestShape, TriangleMeasure, measure_bends},
    solid::measure::{RestTetrahedra, SolidMeasure, TetrahedronMeasure},
};
pub use bag::{BagCertificate, measure_bags};
pub(crate) use certify::certify_body;
pub use certify::{Certifier, certify, certify_positions, fingerprint};
pub use contact::{ContactCertificate, Examiner, Intersection};
pub use midpoints::MidpointCertificate;
pub use rigid::RigidCertificate;
pub use ruler::Ruler;
pub use seam::{SeamCertificate, measure_seams};
pub use spring::SpringCertificate;
pub use tear::TearCertificate;

/// Principal stretches, edge strains and residuals of one body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrainMeasure {
    /// Largest principal stretch of any triangle (1 = at rest).
    pub max_stretch: f64,
    /// Triangle that it belongs to.
    pub most_stretched: u32,
    /// Mean over triangles of the larger principal stretch.
    pub mean_stretch: f64,
    /// Smallest principal stretch of any triangle.
    pub min_stretch: f64,
    /// Triangle that it belongs to.
    pub most_compressed: u32,
    /// Mean over triangles of the smaller principal stretch.
    pub mean_compression: f64,
    /// Largest residual past the triangle strain limits (0 = all inside).
    pub max_residual: f64,
    /// Mean over all triangles of the residual past the limits.
    pub mean_residual: f64,
    /// Largest residual past the lower limits alone.
    #[serde(default)]
    pub max_compression_residual: f64,
    /// Mean over all triangles of the residual past the lower limits alone.
    #[serde(default)]
    pub mean_compression_residual: f64,
    /// Largest residual past the upper limits alone.
    #[serde(default)]
    pub max_stretch_residual: f64,
    /// Triangles past a limit by more than 1e-6.
    pub violations: u64,
    /// Triangle or tetrahedron with the largest residual, or with the largest strain if none is past its
    /// limits.
    #[serde(alias = "worst_triangle")]
    pub worst_element: u32,
    /// Largest edge strain (0 = at rest).
    pub max_edge_strain: f64,
    /// Smallest edge strain.
    pub min_edge_strain: f64,
    /// Largest residual past the edge limits.
    pub max_edge_residual: f64,
    /// Mean over edges of the residual past the edge limits.
    pub mean_edge_residual: f64,
    /// Edges past a limit by more than 1e-6.
    pub edge_violations: u64,
    /// Vertices of the worst edge.
    pub worst_edge: [u32; 2],
}

/// Bends and excesses of one body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BendMeasure {
    /// Largest bend of any hinge away from its rest angle, either way \[°/cm\].
    pub max_bend: f64,
    /// Largest excess past the bend limits \[°\]; 0 if all are inside.
    pub max_bend_excess: f64,
    /// Mean over all hinges of the excess \[°\].
    pub mean_bend_excess: f64,
    /// Hinges past a limit by more than 0.001°.
    pub bend_violations: u64,
    /// Vertices of the edge with the largest excess, or with the largest bend if none is past its limits.
    pub worst_hinge: [u32; 2],
}

/// Energies \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// ½ m v².
    pub kinetic: f64,
    /// −m g·x.
    pub gravity: f64,
    /// Stored in stretched triangles.
    pub stretch: f64,
    /// Stored in bent hinges.
    pub bend: f64,
}

/// The part of a certificate that belongs to one body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyCertificate {
    /// The body's name.
    pub name: String,
    /// Stretches and residuals.
    #[serde(flatten)]
    pub strain: StrainMeasure,
    /// Bends and excesses.
    #[serde(flatten)]
    pub bend: BendMeasure,
    /// What belongs to soft solids alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solid: Option<SolidMeasure>,
    /// What belongs to developable cloth alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub midpoints: Option<MidpointCertificate>,
    /// What belongs to cloth alone that may tear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tear: Option<TearCertificate>,
    /// Mass-weighted mean position \[m\].
    pub center_of_mass: [f64; 3],
    /// Sums of the positions, plain and weighted with the vertex index: together they tell which vertex of a
    /// file was changed after it was written \[m\].
    pub fingerprint: [[f64; 3]; 2],
    /// Energies \[J\].
    pub energy: Energy,
    /// Linear momentum \[kg m/s\].
    pub momentum: [f64; 3],
    /// Angular momentum about the origin \[kg m²/s\].
    pub angular_momentum: [f64; 3],
    /// Depth of the deepest vertex inside an obstacle \[m\]; 0 if none is inside. Of mesh obstacles closed
    /// ones alone have an inside.
    pub max_penetration: f64,
    /// Vertices inside an obstacle by more than 1 µm.
    pub penetrating: u64,
    /// Largest distance of a vertex from where a pin that holds it in this frame has it \[m\].
    pub max_pin_error: f64,
}

/// What a frame came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// One entry a body, in the order of the scene.
    pub bodies: Vec<BodyCertificate>,
    /// One entry a seam, in the order of the scene.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seams: Vec<SeamCertificate>,
    /// Closed cloth with pressure inside, in the order of the scene.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bags: Vec<BagCertificate>,
    /// Springs, segments of particles among them; none where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub springs: Option<SpringCertificate>,
    /// What passes through what, and how near things are; none where everything is let pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactCertificate>,
    /// Rigid bodies, in the order of the scene.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rigid_bodies: Vec<RigidCertificate>,
    /// Elements with limits that belong to no body alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<ElementCertificate>,
    /// Terms of the solver that no other part of a certificate measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<TermCertificate>,
}

/// How well a term of the solver is met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TermCertificate {
    /// Its name.
    pub name: String,
    /// How far it is from being met, in its own unit; 0 if it is met.
    pub excess: f64,
}

/// How far stretches are past a lower and an upper limit, each at least 0. Limits are those that the engine
/// has, in single precision.
pub(crate) fn past(limit: Limit, larger: f64, smaller: f64) -> [f64; 2] {
    let range = limit.range();
    let above = if limit.max.is_some() { larger - f64::from(range.max) } else { 0.0 };
    let below = if limit.min.is_some() { f64::from(range.min) - smaller } else { 0.0 };
    [below.max(0.0), above.max(0.0)]
}

impl StrainMeasure {
    /// Adds the residuals of an element past its lower and its upper limit; means are sums until the end.
    pub(crate) fn add_residuals(&mut self, [below, above]: [f64; 2]) {
        let residual = below.max(above);
        self.max_residual = self.max_residual.max(residual);
        self.mean_residual += residual;
        self.max_compression_residual = self.max_compression_residual.max(below);
        self.mean_compression_residual += below;
        self.max_stretch_residual = self.max_stretch_residual.max(above);
        self.violations += u64::from(residual > 1e-6);
    }
}
