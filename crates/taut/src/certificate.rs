//! What a frame came to: stretch, residuals past the limits, energy, momentum, penetration.
//!
//! Everything is computed in f64 from single-precision positions, by functions of rest mesh and positions alone, so
//! that `taut verify` gets the same figures from the files.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::{Limit, State, World, mesh::TriangleMesh};

/// Principal stretches, edge strains and residuals of one body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrainMeasure {
    /// Largest principal stretch of any triangle (1 = at rest).
    pub max_stretch: f64,
    /// Mean over triangles of the larger principal stretch.
    pub mean_stretch: f64,
    /// Smallest principal stretch of any triangle.
    pub min_stretch: f64,
    /// Mean over triangles of the smaller principal stretch.
    pub mean_compression: f64,
    /// Largest residual past the triangle strain limits (0 = all inside).
    pub max_residual: f64,
    /// Mean over all triangles of the residual past the limits.
    pub mean_residual: f64,
    /// Triangles past a limit by more than 1e-6.
    pub violations: u64,
    /// Triangle with the largest residual, or with the largest strain if none is past its limits.
    pub worst_triangle: u32,
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
    /// Mass-weighted mean position \[m\].
    pub center_of_mass: [f64; 3],
    /// Sums of the positions, plain and weighted with the vertex index: together they tell which vertex of a file was
    /// changed after it was written \[m\].
    pub fingerprint: [[f64; 3]; 2],
    /// Energies \[J\].
    pub energy: Energy,
    /// Linear momentum \[kg m/s\].
    pub momentum: [f64; 3],
    /// Angular momentum about the origin \[kg m²/s\].
    pub angular_momentum: [f64; 3],
    /// Depth of the deepest vertex inside an obstacle \[m\]; 0 if none is inside.
    pub max_penetration: f64,
    /// Vertices inside an obstacle by more than 1 µm.
    pub penetrating: u64,
    /// Largest distance of a pinned vertex from where it should be \[m\].
    pub max_pin_error: f64,
}

/// What a frame came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// One entry a body, in the order of the scene.
    pub bodies: Vec<BodyCertificate>,
}

/// Measures `positions` against the rest shape `rest` and the limits.
pub fn measure_strain(
    _rest: &TriangleMesh,
    _positions: &[Vec3],
    _strain: Limit,
    _edge: Limit,
) -> StrainMeasure {
    StrainMeasure::default()
}

/// Σ x and Σ i x: see [`BodyCertificate::fingerprint`].
pub fn fingerprint(positions: &[Vec3]) -> [[f64; 3]; 2] {
    let mut sums = [DVec3::ZERO; 2];
    for (i, x) in positions.iter().enumerate() {
        sums[0] += x.as_dvec3();
        sums[1] += i as f64 * x.as_dvec3();
    }
    sums.map(|s| s.to_array())
}

/// Measures what the state of a simulation has come to.
pub fn certify(_world: &World, _state: &State) -> Certificate {
    Certificate::default()
}

/// Measures body `body` with given positions at the end of frame `frame`: everything but energies and momenta, which
/// need velocities and stay zero. This is what `taut verify` compares.
pub fn certify_positions(_world: &World, _body: usize, _frame: u32, _positions: &[Vec3]) -> BodyCertificate {
    BodyCertificate::default()
}
