//! Levels with their vertices in another order.

use super::{Hierarchy, Level, Transfer};
use crate::mesh::{adjacency::Adjacency, reorder::locality_order};

impl Hierarchy {
    /// The same levels with vertices in an order that keeps neighbours close in memory; `base` is that of the
    /// base mesh: `base[k]` is the old index of the vertex that comes k-th. Triangles keep their order.
    pub fn reordered(self, base: &[u32]) -> Self {
        let mut order = base.to_vec();
        let mut levels = Vec::with_capacity(self.levels.len());
        for Level { mut mesh, transfer, on_base, on_finer } in self.levels {
            let coarse = locality_order(mesh.positions.len(), &Adjacency::new(&mesh.triangles).edges);
            let place = places(&coarse);
            mesh.positions = coarse.iter().map(|&v| mesh.positions[v as usize]).collect();
            for v in mesh.triangles.iter_mut().flatten() {
                *v = place[*v as usize];
            }
            let transfer = Transfer {
                corners: order
                    .iter()
                    .map(|&v| transfer.corners[v as usize].map(|c| place[c as usize]))
                    .collect(),
                weights: order.iter().map(|&v| transfer.weights[v as usize]).collect(),
            };
            let [on_base, on_finer] =
                [on_base, on_finer].map(|sites| coarse.iter().map(|&v| sites[v as usize]).collect());
            levels.push(Level { mesh, transfer, on_base, on_finer });
            order = coarse;
        }
        Self { levels }
    }
}

/// New index of each vertex.
fn places(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = k as u32;
    }
    place
}
