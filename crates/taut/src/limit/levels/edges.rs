//! Coarse levels whose edges are limited (T1, T3): the second paper's.
//!
//! Upper limits of coarse edges are those of the cloth, and looser where the rest shape is curved, by how
//! much longer the way over the surface is than the edge ([`fit::bounds`](crate::hierarchy::fit::bounds)
//! tells that of triangles; an edge takes the looser of its two). There are no lower ones: bending of the
//! cloth is compression of a coarse edge (figure 2).

use glam::Vec3;

use super::{
    insert::{Pinning, insert},
    parts::{Altered, Bare, LevelLimits},
    tables::{Limited, refitted, shape},
};
use crate::{
    element::{colored, edge::EdgeElement},
    hierarchy::fit::Refit,
    kernel::strain::Range,
    limit::aim::Aim,
    mesh::adjacency::Adjacency,
};

/// Largest stretch of the triangles of each level.
#[derive(Clone, Debug)]
pub struct EdgeLimits {
    /// Of each level as it was built.
    pub stretches: Vec<Vec<f32>>,
    /// Finds those of triangles that pins change.
    pub refit: Refit,
    /// What is aimed at within limits.
    pub aim: Aim,
}

impl LevelLimits<3> for EdgeLimits {
    fn shape(corners: [Vec3; 3]) -> (Vec3, f32) {
        shape(corners)
    }

    fn is_on_border(&self, v: u32) -> bool {
        self.refit.is_on_border(v)
    }

    fn insert(&self, pinning: Pinning<3>) {
        insert(&self.refit, pinning);
    }

    fn limited(&self, k: usize, level: &Bare<3>, altered: Altered) -> Limited {
        let mut stretches = self.stretches[k].clone();
        stretches.resize(level.elements.len(), 1.0);
        for (t, range) in refitted(&self.refit, self.aim, level, altered) {
            stretches[t] = range.max;
        }
        let edges = edges(level, &stretches);
        let count = level.positions.len();
        Limited { edges: colored(count, count as u32, &edges), ..Limited::default() }
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
