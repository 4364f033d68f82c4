//! Coarse levels of soft solids: larger tetrahedra ([how they are made](crate::hierarchy::solid)), with the
//! limits of the finest (section 4.2 of the paper).
//!
//! The levels are meshes of their own, which need not fit into each other. Every vertex is drawn to the
//! nearest point of the finest mesh before anything is measured: so a level is at rest where the finest is,
//! and what it finds to correct is real. A vertex of the next finer level follows the tetrahedron that
//! contains it, or the nearest one. Limits need no fit: tetrahedra have no folds that a larger one would take
//! for stretch.

use glam::Vec3;

use super::{
    insert::Pinning,
    parts::{Altered, Bare, LevelLimits},
    tables::Limited,
};
use crate::{
    element::{colored, tetrahedron::TetrahedronElement},
    hierarchy::Transfer,
    kernel::{strain::Range, tetrahedron::rest_inverse3},
    limit::tuning::levels::TETRAHEDRON_QUALITY,
    mesh::{locate, reorder::locality_order, tetrahedra::TetrahedronMesh},
};

/// Weights below this are none: what lies on a vertex is that vertex.
const NONE: f32 = 1e-5;

impl Bare<4> {
    /// Levels of a solid from coarser meshes of its shape, finest first; `mesh` is its rest shape, with
    /// vertices in the engine's order.
    pub fn of_solid(mesh: &TetrahedronMesh, levels: &[TetrahedronMesh]) -> Vec<Self> {
        let mut bare: Vec<Self> = Vec::new();
        for level in levels {
            let (level, sample) = drawn_to(mesh, reordered(level));
            let finer = bare.last().map_or(&mesh.positions, |finer| &finer.positions);
            let transfer = located(&level, finer);
            bare.push(Self { positions: level.positions, elements: level.tetrahedra, transfer, sample });
        }
        bare
    }
}

/// Allowed stretches, on every level.
#[derive(Clone, Copy, Debug)]
pub struct SolidLimits(pub Range<f32>);

impl LevelLimits<4> for SolidLimits {
    fn shape(corners: [Vec3; 4]) -> (Vec3, f32) {
        shape(corners)
    }

    fn is_on_border(&self, _: u32) -> bool {
        false
    }

    /// None: limits of tetrahedra need no fit, but ways to split them and to flip between them would have to
    /// keep all neighbours from becoming flat.
    fn insert(&self, _: Pinning<4>) {}

    fn limited(&self, _: usize, level: &Bare<4>, _: Altered) -> Limited {
        limited(level, self.0)
    }
}

/// With vertices in an order that keeps neighbours close in memory, and tetrahedra in that of their vertices.
fn reordered(level: &TetrahedronMesh) -> TetrahedronMesh {
    let order = locality_order(level.positions.len(), &level.edges());
    let mut place = vec![0; order.len()];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = k as u32;
    }
    let mut tetrahedra: Vec<[u32; 4]> =
        level.tetrahedra.iter().map(|t| t.map(|v| place[v as usize])).collect();
    tetrahedra.sort_by_key(|t| t.iter().copied().min());
    TetrahedronMesh { positions: order.iter().map(|&v| level.positions[v as usize]).collect(), tetrahedra }
}

/// The level with each vertex at the nearest point of `mesh`, and where that is.
fn drawn_to(mesh: &TetrahedronMesh, mut level: TetrahedronMesh) -> (TetrahedronMesh, Transfer<4>) {
    let sample = located(mesh, &level.positions);
    for (at, (corners, weights)) in level.positions.iter_mut().zip(sample.corners.iter().zip(&sample.weights))
    {
        let weighed = |k: usize| weights[k] * mesh.positions[corners[k] as usize];
        *at = weighed(0) + weighed(1) + weighed(2) + weighed(3);
    }
    (level, sample)
}

/// Where `points` lie in `mesh`, or in which tetrahedron the nearest place is.
fn located(mesh: &TetrahedronMesh, points: &[Vec3]) -> Transfer<4> {
    let mut transfer = Transfer::default();
    for (corners, weights) in locate::transfer(mesh, points) {
        let kept = weights.map(|w| if w < NONE { 0.0 } else { w });
        let sum: f32 = kept.iter().sum();
        transfer.corners.push(corners);
        // Where a flat tetrahedron is the nearest there may be no weights: any corner will do.
        let fine = sum.is_finite() && sum > 0.0;
        transfer.weights.push(if fine { kept.map(|w| w / sum) } else { [1.0, 0.0, 0.0, 0.0] });
    }
    transfer
}

/// Which way round a tetrahedron is, and its quality.
fn shape([a, b, c, d]: [Vec3; 4]) -> (Vec3, f32) {
    let volume = (b - a).cross(c - a).dot(d - a);
    let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
    let mean = edges.iter().map(|e| e.length_squared()).sum::<f32>() / 6.0;
    (Vec3::X * volume, 1.414 * volume.abs() / (mean * mean.sqrt()))
}

/// Tetrahedra that moving vertices has made flat or turned inside out are left out.
fn limited(level: &Bare<4>, range: Range<f32>) -> Limited {
    let element = |vertices: [u32; 4]| {
        let (_, quality) = shape(vertices.map(|v| level.positions[v as usize]));
        if quality < TETRAHEDRON_QUALITY {
            return None;
        }
        let corners = vertices.map(|v| level.positions[v as usize].as_dvec3().to_array());
        let (rest, _) = rest_inverse3(corners)?;
        let rest = rest.map(|column| column.map(|r| r as f32));
        Some(TetrahedronElement { vertices, rest, range, share: 1.0 })
    };
    let tetrahedra: Vec<_> = level.elements.iter().filter_map(|t| element(*t)).collect();
    let count = level.positions.len();
    Limited { solid: colored(count, count as u32, &tetrahedra), tetrahedra, ..Limited::default() }
}
