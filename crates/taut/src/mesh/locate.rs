//! Point location: the tetrahedron of a mesh that contains a point, or is nearest to it. Used for the
//! vertices of a surface embedded in a solid ([`Embedding`](crate::embedding::Embedding)), and for those of a
//! finer level in a coarser one.

use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;

use super::tetrahedra::{FACES, TetrahedronMesh};
use crate::contact::{
    distance::vertex_triangle,
    tree::{Swept, Tree},
};

/// Relative tolerance of the squared distance within which tetrahedra are equally near; the one with the
/// smallest weights is taken.
const RELATIVE_TIE: f64 = 1e-4;

/// For each of `points` \[m\] the corners of a tetrahedron of `coarse` and weights in 0 … 1 that sum to 1: of
/// the point itself, or of the nearest point of the mesh if it is outside. Empty for a mesh without
/// tetrahedra.
pub fn transfer(coarse: &TetrahedronMesh, points: &[Vec3]) -> Vec<([u32; 4], [f32; 4])> {
    let row = |found: &Found| {
        let corners = coarse.tetrahedra[found.tetrahedron as usize];
        (corners, found.clamped.map(|w| w as f32))
    };
    locate(coarse, points).iter().map(row).collect()
}

/// The tetrahedron of each of `points` \[m\]; empty if the mesh has none.
pub(crate) fn locate(mesh: &TetrahedronMesh, points: &[Vec3]) -> Vec<Found> {
    let positions: Vec<DVec3> = mesh.positions.iter().map(|x| x.as_dvec3()).collect();
    let locator = Locator::new(&positions, &mesh.tetrahedra);
    // A non-finite point gets an arbitrary tetrahedron, so that the others keep their indices.
    let place = |x: &Vec3| if x.is_finite() { x.as_dvec3() } else { DVec3::ZERO };
    points.par_iter().filter_map(|x| locator.nearest(place(x))).collect()
}

/// Finds the tetrahedron that contains a point, or is nearest to it.
pub(crate) struct Locator<'a> {
    positions: &'a [DVec3],
    tetrahedra: &'a [[u32; 4]],
    tree: Tree,
}

/// A tetrahedron, and the position of a point relative to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub tetrahedron: u32,
    /// Squared distance \[m²\]; 0 inside.
    pub squared: f64,
    /// Weights of the corners that give the point.
    pub weights: [f64; 4],
    /// Those that give the nearest point of the tetrahedron.
    clamped: [f64; 4],
}

impl<'a> Locator<'a> {
    /// For tetrahedra with corners at `positions` \[m\].
    pub fn new(positions: &'a [DVec3], tetrahedra: &'a [[u32; 4]]) -> Self {
        let about = |corners: &[u32; 4]| {
            corners.iter().fold(Swept::EMPTY, |all, &v| {
                let Vec3 { x, y, z } = positions[v as usize].as_vec3();
                all.with(&[x, y, z, 0.0], &[x, y, z, 0.0])
            })
        };
        let boxes: Vec<Swept> = tetrahedra.par_iter().map(about).collect();
        Self { positions, tetrahedra, tree: Tree::new(&boxes) }
    }

    /// The tetrahedron that contains `p` \[m\] or is nearest to it; `None` if there is none. `p` is finite.
    pub fn nearest(&self, p: DVec3) -> Option<Found> {
        let mut best: Option<Found> = None;
        let size = |found: &Found| found.weights.iter().map(|w| w.abs()).sum::<f64>();
        self.tree.nearest(&p.to_array(), f64::INFINITY, |t| {
            let found = self.about(t, p);
            let as_near = |old: &Found| {
                found.squared <= old.squared * (1.0 + RELATIVE_TIE)
                    && old.squared <= found.squared * (1.0 + RELATIVE_TIE)
            };
            let better = |old: &Found| {
                if as_near(old) { size(&found) < size(old) } else { found.squared < old.squared }
            };
            if best.as_ref().is_none_or(better) {
                best = Some(found);
            }
            // Slightly more, so that equally near ones are tested as well.
            found.squared * (1.0 + 2.0 * RELATIVE_TIE)
        });
        best
    }

    fn about(&self, t: u32, p: DVec3) -> Found {
        let corners = self.tetrahedra[t as usize].map(|v| self.positions[v as usize]);
        let weights = barycentric(corners, p);
        let mut found = Found { tetrahedron: t, squared: 0.0, weights, clamped: weights };
        if weights.iter().all(|&w| w >= 0.0) {
            return found;
        }
        found.squared = f64::INFINITY;
        for (k, face) in FACES.iter().enumerate() {
            // The nearest point is on a face that the point is beyond. A flat tetrahedron has no weights: all
            // faces then.
            if weights[k] >= 0.0 {
                continue;
            }
            let [a, b, c] = face.map(|k| corners[k]);
            let nearest = vertex_triangle(&[p, a, b, c]);
            if nearest.squared < found.squared {
                found.squared = nearest.squared;
                found.clamped = [0.0; 4];
                for (&k, w) in face.iter().zip(&nearest.weights[1..]) {
                    found.clamped[k] = -w;
                }
            }
        }
        if !weights.iter().all(|w| w.is_finite()) {
            found.weights = found.clamped;
        }
        found
    }
}

/// Weights of four corners that give `p`; NaN if they are coplanar.
fn barycentric([a, b, c, d]: [DVec3; 4], p: DVec3) -> [f64; 4] {
    let [u, v, w, q] = [b - a, c - a, d - a, p - a];
    let volume = DMat3::from_cols(u, v, w).determinant();
    let [s, t, r] = [q.dot(v.cross(w)), u.dot(q.cross(w)), u.dot(v.cross(q))].map(|x| x / volume);
    [1.0 - s - t - r, s, t, r]
}
