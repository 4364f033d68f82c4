//! What cloth has torn to.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::{Cloth, mesh::split};

/// What a cloth that may tear has torn to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TearCertificate {
    /// Vertices that were split off.
    pub vertices: u64,
    /// Connected pieces of its surface.
    pub pieces: u64,
    /// Lowest and highest rest position of what was split, per axis \[m\]; none if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[[f64; 3]; 2]>,
}

impl TearCertificate {
    /// Of `cloth`, if it may tear.
    pub(crate) fn of(cloth: &Cloth) -> Option<Self> {
        cloth.tear.as_ref()?;
        let positions = &cloth.mesh.positions;
        let split = &positions[cloth.whole_count()..];
        let corners = split.iter().map(|p| [p.as_dvec3(); 2]);
        let bounds = corners.reduce(|[low, high], [a, b]: [DVec3; 2]| [low.min(a), high.max(b)]);
        let of = split::pieces(positions.len(), &cloth.mesh.triangles);
        let mut roots: Vec<u32> = cloth.mesh.triangles.iter().map(|t| of[t[0] as usize]).collect();
        roots.sort_unstable();
        roots.dedup();
        Some(Self {
            vertices: split.len() as u64,
            pieces: roots.len() as u64,
            bounds: bounds.map(|corners| corners.map(|corner| corner.to_array())),
        })
    }
}
