//! A human figure to dress: about 1.7 m tall, one closed surface of even triangles, with a skeleton that
//! animates it.
//!
//! The body is a smooth union of swept balls and ellipsoids (`body`), meshed by `net`. Every vertex follows
//! the bones near it (`skeleton`) by linear blend skinning; weights start at the nearest bone and are
//! diffused along the surface, so that nothing leaks from one leg to the other through the air.

mod body;
mod net;
mod skeleton;
#[cfg(test)]
mod tests;

use glam::{DVec3, Vec3};

use self::{
    body::Body,
    skeleton::{ARM_SLOPE, BONES, Bone, joint, pose},
};
use super::{GenerateError, require_range};
use crate::mesh::{
    TriangleMesh,
    adjacency::{Adjacency, Neighbors},
};

/// Range of edge lengths of a figure \[m\].
const EDGE_RANGE: [f32; 2] = [0.005, 0.025];
/// How far the influence of a bone reaches across a joint \[m\].
const REACH: f64 = 0.045;
/// Maximum number of bones per vertex.
const MAX_INFLUENCES: usize = 4;

/// A human figure: faces +z, y is up, feet at y = 0, arms 40 degrees below the horizontal.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The surface in its first pose \[m\].
    mesh: TriangleMesh,
    /// Bones and skinning weights of each vertex; weights add up to 1.
    weights: Vec<[(u8, f32); MAX_INFLUENCES]>,
}

impl Figure {
    /// A figure with edges of about `edge` \[m\], 0.005 to 0.025: 0.02 gives 10K triangles.
    ///
    /// # Errors
    /// If `edge` is out of range.
    pub fn new(edge: f32) -> Result<Self, GenerateError> {
        let edge = require_range("edge", edge, EDGE_RANGE)?;
        let body = Body::new();
        // The margin keeps the surface off the outermost cells.
        let (low, high) = (DVec3::new(-0.78, -0.06, -0.2), DVec3::new(0.78, 1.78, 0.24));
        let (points, triangles) = net::mesh(&body, low, high, edge);
        let weights = weights(&body, &points, &triangles, edge);
        let positions = points.iter().map(|p| p.as_vec3()).collect();
        Ok(Self { mesh: TriangleMesh { positions, triangles, ..TriangleMesh::default() }, weights })
    }

    /// The surface in its first pose \[m\].
    pub fn mesh(&self) -> &TriangleMesh {
        &self.mesh
    }

    /// Vertex positions at `time` \[s\]. It stands still for half a second, then it walks on the spot, turns
    /// from side to side, and raises and lowers its arms.
    pub fn at(&self, time: f32) -> Vec<Vec3> {
        let places = pose(f64::from(time));
        let moved = |(&x, weights): (&Vec3, &[(u8, f32); MAX_INFLUENCES])| {
            let x = x.as_dvec3();
            let sum: DVec3 = weights
                .iter()
                .map(|&(bone, weight)| places[usize::from(bone)].transform_point3(x) * f64::from(weight))
                .sum();
            sum.as_vec3()
        };
        self.mesh.positions.iter().zip(&self.weights).map(moved).collect()
    }
}

/// The left shoulder joint \[m\], and the direction of the arm in the first pose, for garments.
pub(super) fn left_arm() -> (DVec3, DVec3) {
    (joint(Bone::LeftArm), DVec3::new(ARM_SLOPE.cos(), -ARM_SLOPE.sin(), 0.0))
}

/// Skinning weights of every vertex: all of the nearest bone, diffused along the surface by [`REACH`].
fn weights(
    body: &Body,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    edge: f64,
) -> Vec<[(u8, f32); MAX_INFLUENCES]> {
    let neighbors = Neighbors::new(points.len(), &Adjacency::new(triangles).edges);
    let mut weights: Vec<[f64; BONES.len()]> = points
        .iter()
        .map(|&p| {
            let mut row = [0.0; BONES.len()];
            row[body.bone(p).index()] = 1.0;
            row
        })
        .collect();
    // A mean over neighbours diffuses by about edge / √2 along each axis; squares of these lengths add up.
    let rounds = (2.0 * (REACH / edge).powi(2)).ceil() as usize;
    for _ in 0..rounds {
        let before = weights.clone();
        for (v, row) in weights.iter_mut().enumerate() {
            let around = neighbors.of(v as u32);
            for bone in 0..BONES.len() {
                let mean =
                    around.iter().map(|&w| before[w as usize][bone]).sum::<f64>() / around.len() as f64;
                row[bone] = 0.5 * (before[v][bone] + mean);
            }
        }
    }
    weights
        .iter()
        .map(|row| {
            let mut order: Vec<usize> = (0..BONES.len()).collect();
            order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
            let sum: f64 = order[..MAX_INFLUENCES].iter().map(|&bone| row[bone]).sum();
            std::array::from_fn(|k| (order[k] as u8, (row[order[k]] / sum) as f32))
        })
        .collect()
}
