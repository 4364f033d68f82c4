//! The first level of developable cloth: linear triangles on the mesh that is shown.
//!
//! A midpoint is the mean of the ends of its edge, a vertex itself. Nonconforming triangles hold all that
//! linear ones do, so that Pᵀ K P is the stiffness of linear triangles, and the levels below are theirs.

use super::Together;
use crate::{
    Cloth,
    body::BodyTables,
    hierarchy::Transfer,
    mesh::{TriangleMesh, adjacency::Adjacency, reorder::locality_order},
};

/// What the levels of a cloth begin with.
pub(super) struct Levels {
    /// The mesh that they are of.
    pub mesh: TriangleMesh,
    /// Its vertices, in an order that keeps neighbours close.
    pub order: Vec<u32>,
    /// By vertex of the cloth in the engine's order: in the middle of which numbers in `order` it is.
    pub between: Vec<[u32; 2]>,
}

impl Levels {
    pub fn of(cloth: &Cloth, body: &BodyTables) -> Self {
        let Some(midpoints) = &cloth.midpoints else {
            let count = body.order().len() as u32;
            let between = (0..count).map(|v| [v; 2]).collect();
            return Self { mesh: cloth.mesh.clone(), order: body.order().to_vec(), between };
        };
        let mesh = midpoints.shown.clone();
        let count = mesh.positions.len();
        let order = locality_order(count, &Adjacency::new(&mesh.triangles).edges);
        let mut place = vec![0; count];
        (0..).zip(&order).for_each(|(k, &v)| place[v as usize] = k);
        let of = |point: &u32| midpoints.between[*point as usize].map(|v| place[v as usize]);
        let between = body.order().iter().map(of).collect();
        Self { mesh, order, between }
    }
}

/// From vertices of cloth to those of its levels.
pub(super) fn transfer(between: &[[u32; 2]]) -> Transfer {
    let weights = |&[a, b]: &[u32; 2]| if a == b { [1.0, 0.0, 0.0] } else { [0.5, 0.5, 0.0] };
    Transfer {
        corners: between.iter().map(|&[a, b]| [a, b, a]).collect(),
        weights: between.iter().map(weights).collect(),
    }
}

impl Together {
    /// Which vertices of the levels are held, where `held` says which of the filter are. Those of developable
    /// cloth are not: what is held there is left out on the finest level.
    pub(super) fn holds_of_levels(&self, held: &[bool]) -> Vec<bool> {
        let mut is_held = vec![false; self.order.len()];
        for (&v, &[a, b]) in self.cloth.iter().zip(&self.between).filter(|(_, [a, b])| a == b) {
            is_held[a as usize] |= !self.is_developable && a == b && held[v as usize];
        }
        is_held
    }

    /// Means by vertices of the filter.
    pub(super) fn means_of_filter(&self) -> Vec<(u32, [u32; 2])> {
        let first = self.vertices.start as u32;
        self.means.iter().map(|(mean, ends)| (mean - first, ends.map(|end| end - first))).collect()
    }
}
