//! What cloth and hair have torn to.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::{Cloth, Hair, mesh::split};

/// What a cloth or hair that may tear has torn to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TearCertificate {
    /// Vertices that were split off, or segments of hair that were cut.
    pub vertices: u64,
    /// Connected pieces of its surface; strands of hair.
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
        let bounds = bounds(split.iter().map(|p| p.as_dvec3()));
        let of = split::pieces(positions.len(), &cloth.mesh.triangles);
        let mut roots: Vec<u32> = cloth.mesh.triangles.iter().map(|t| of[t[0] as usize]).collect();
        roots.sort_unstable();
        roots.dedup();
        Some(Self { vertices: split.len() as u64, pieces: roots.len() as u64, bounds })
    }

    /// Of `hair`, if it may tear or was cut.
    pub(crate) fn of_hair(hair: &Hair) -> Option<Self> {
        if hair.tear.is_none() && hair.whole.is_none() {
            return None;
        }
        let cuts = hair.cuts();
        let ends = cuts.iter().flat_map(|&v| [v - 1, v]).map(|v| hair.groom.positions[v as usize].as_dvec3());
        Some(Self {
            vertices: cuts.len() as u64,
            pieces: hair.groom.counts.len() as u64,
            bounds: bounds(ends),
        })
    }
}

/// The box of points.
fn bounds(points: impl Iterator<Item = DVec3>) -> Option<[[f64; 3]; 2]> {
    let corners = points.map(|p| [p; 2]).reduce(|[low, high], [a, b]| [low.min(a), high.max(b)]);
    corners.map(|corners| corners.map(|corner| corner.to_array()))
}
