//! Coarse levels whose edges are limited (T1, T3): the second paper's.
//!
//! Upper limits of coarse edges are those of the cloth, and looser where the rest shape is curved, by how much longer the way over the surface is than
//! the edge ([`fit::bounds`](crate::hierarchy::fit::bounds) tells that of triangles; an edge takes the looser of its two). There are no lower ones: bending of the cloth is compression of a coarse edge (figure 2).

use std::ops::Range as Span;

use glam::Vec3;

use super::tables::{Bare, Base, Levels, Limited, shape};
use crate::{
    hierarchy::{Hierarchy, Transfer},
    kernel::strain::Range,
    limit::{
        colored::Colored,
        edge::{EdgeBatch, EdgeElement},
    },
    mesh::adjacency::Adjacency,
};

/// What levels with limited edges are made from.
#[derive(Clone, Debug)]
pub struct EdgeParts {
    /// The body's vertices, of all vertices of the world.
    pub vertices: Span<usize>,
    /// Levels, with base vertices in the engine's order.
    pub hierarchy: Hierarchy,
    /// Rest positions in that order \[m\].
    pub rest: Vec<Vec3>,
    /// Triangles of the base, as they are named by the levels, of vertices in that order.
    pub triangles: Vec<[u32; 3]>,
    /// Masses in that order \[kg\].
    pub masses: Vec<f64>,
    /// Largest stretch of the triangles of each level.
    pub stretches: Vec<Vec<f32>>,
    /// Vertices within the body that are, or may be, pinned by the scene.
    pub pins: Vec<u32>,
}

impl EdgeParts {
    /// Builds the tables, for `pins` (within the body).
    pub fn levels(&self, pins: &[u32]) -> Levels {
        let bare = self.hierarchy.levels.iter().map(|level| Bare {
            positions: level.mesh.positions.clone(),
            elements: level.mesh.triangles.clone(),
            transfer: level.transfer.clone(),
            sample: Transfer {
                corners: level.on_base.iter().map(|site| self.triangles[site.triangle as usize]).collect(),
                weights: level.on_base.iter().map(|site| site.weights).collect(),
            },
        });
        let base = Base {
            vertices: self.vertices.clone(),
            rest: self.rest.clone(),
            masses: self.masses.clone(),
            pins: pins.to_vec(),
        };
        Levels::build(base, bare.collect(), shape, |k, level| {
            let edges = edges(level, &self.stretches[k]);
            let (count, corners) =
                (level.positions.len(), edges.iter().map(|e| e.vertices).collect::<Vec<_>>());
            Limited {
                edges: Colored::new(count, &corners, |batch| EdgeBatch::pack(batch, &edges, count as u32)),
                ..Limited::default()
            }
        })
    }
}

/// Edges of a level with the looser of the limits of the triangles beside each.
fn edges(level: &Bare<3>, stretches: &[f32]) -> Vec<EdgeElement> {
    let edges = Adjacency::new(&level.elements).edges;
    let mut most = vec![1.0f32; edges.len()];
    for (triangle, &stretch) in level.elements.iter().zip(stretches) {
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
            if let Ok(edge) = edges.binary_search(&[a.min(b), a.max(b)]) {
                most[edge] = most[edge].max(stretch);
            }
        }
    }
    let length = |[a, b]: [u32; 2]| level.positions[a as usize].distance(level.positions[b as usize]);
    let element = |(&vertices, &max): (&[u32; 2], &f32)| EdgeElement {
        vertices,
        rest: length(vertices),
        range: Range { min: 0.0, max },
        share: 1.0,
    };
    edges.iter().zip(&most).map(element).filter(|e| e.rest > 0.0).collect()
}
