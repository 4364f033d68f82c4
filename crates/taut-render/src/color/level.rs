//! Colours by coarser level: each triangle of a mesh shows its triangle of the level, with different colours
//! for neighbours.

use std::collections::HashMap;

use glam::Vec3;
use taut::{
    low_level::{self, Hierarchy, LevelOptions},
    mesh::TriangleMesh,
};

use crate::{color::fabric, scene::Color};

/// The levels of a mesh as the engine builds them.
#[derive(Debug)]
pub struct Levels {
    mesh: TriangleMesh,
    hierarchy: Hierarchy,
}

impl Levels {
    /// Makes them.
    pub fn new(mesh: TriangleMesh) -> Self {
        let hierarchy = low_level::build_levels(&mesh, &LevelOptions::default());
        Self { mesh, hierarchy }
    }

    /// Number of the coarsest level; 0 if there is none but the mesh itself.
    pub fn coarsest(&self) -> usize {
        self.hierarchy.levels.len()
    }

    /// Triangles of a level.
    pub fn triangles(&self, level: usize) -> usize {
        self.at(level).triangles.len()
    }

    fn at(&self, level: usize) -> &TriangleMesh {
        if level == 0 { &self.mesh } else { &self.hierarchy.levels[level - 1].mesh }
    }

    /// For each triangle of the mesh, the triangle of `level` that it belongs to.
    pub fn members(&self, level: usize) -> Vec<u32> {
        let middles: Vec<Vec3> = self.mesh.triangles.iter().map(|t| middle(&self.mesh, *t)).collect();
        let mut members: Vec<u32> = (0..self.mesh.triangles.len() as u32).collect();
        for k in 0..level.min(self.coarsest()) {
            let finer = self.at(k);
            let coarse = &self.hierarchy.levels[k];
            // Vertices name the triangle of the coarser level that they are interpolated from by its corners.
            let sorted = |mut t: [u32; 3]| {
                t.sort_unstable();
                t
            };
            let numbers: HashMap<[u32; 3], u32> =
                coarse.mesh.triangles.iter().zip(0..).map(|(t, n)| (sorted(*t), n)).collect();
            let of_vertex = |v: u32| numbers.get(&sorted(coarse.transfer.corners[v as usize])).copied();
            for (member, &at) in members.iter_mut().zip(&middles) {
                let near = finer.triangles[*member as usize].iter().filter_map(|&v| of_vertex(v));
                let distance =
                    |n: &u32| middle(&coarse.mesh, coarse.mesh.triangles[*n as usize]).distance_squared(at);
                *member = near.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0);
            }
        }
        members
    }

    /// A colour for each triangle of the mesh by the triangle of `level` that it belongs to.
    pub fn colors(&self, level: usize) -> Vec<Color> {
        let level = level.min(self.coarsest());
        let colors = distinct(&self.at(level).triangles);
        self.members(level).iter().map(|&m| fabric(colors[m as usize])).collect()
    }
}

fn middle(mesh: &TriangleMesh, t: [u32; 3]) -> Vec3 {
    t.iter().map(|&v| mesh.positions[v as usize]).sum::<Vec3>() / 3.0
}

/// Colour indices of triangles, so that those with a common corner differ if eight colours are enough.
fn distinct(triangles: &[[u32; 3]]) -> Vec<usize> {
    let mut at_vertex: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut colors = vec![0; triangles.len()];
    for (k, t) in triangles.iter().enumerate() {
        let mut uses = [0u32; 8];
        for v in t {
            for &other in at_vertex.get(v).map_or(&[][..], Vec::as_slice) {
                uses[colors[other]] += 1;
            }
        }
        // Not always the first free one, so that all are used.
        let order = (0..8).map(|c| (c + k) % 8);
        colors[k] = order.min_by_key(|&c| uses[c]).unwrap_or(0);
        for &v in t {
            at_vertex.entry(v).or_default().push(k);
        }
    }
    colors
}

#[cfg(test)]
mod tests {
    use super::*;
    use taut::mesh::generate;

    #[test]
    fn every_coarse_triangle_has_members_near_it() {
        let mesh = generate::grid([1.0, 1.0], [32, 32], generate::Diagonals::Alternating, 0);
        let levels = Levels::new(mesh);
        assert!(levels.coarsest() >= 2);
        for level in 1..=levels.coarsest() {
            let members = levels.members(level);
            let coarse = levels.at(level);
            let mut counts = vec![0; coarse.triangles.len()];
            for (t, &m) in members.iter().enumerate() {
                counts[m as usize] += 1;
                let corners = coarse.triangles[m as usize].map(|v| coarse.positions[v as usize]);
                let size = corners[0].distance(corners[1]).max(corners[1].distance(corners[2]));
                let apart = middle(&levels.mesh, levels.mesh.triangles[t])
                    .distance(middle(coarse, coarse.triangles[m as usize]));
                assert!(apart < 1.5 * size, "level {level}, triangle {t}: {apart} {size}");
            }
            let empty = counts.iter().filter(|&&c| c == 0).count();
            assert!(10 * empty <= counts.len(), "level {level}: {empty} of {} have no members", counts.len());
        }
        assert_eq!(levels.members(0), (0..2048).collect::<Vec<_>>());
    }

    #[test]
    fn neighbours_differ() {
        let mesh = generate::grid([1.0, 1.0], [6, 6], generate::Diagonals::Alternating, 0);
        let colors = distinct(&mesh.triangles);
        let shared = |a: &[u32; 3], b: &[u32; 3]| a.iter().filter(|v| b.contains(v)).count();
        for (i, a) in mesh.triangles.iter().enumerate() {
            for (j, b) in mesh.triangles.iter().enumerate().take(i) {
                assert!(shared(a, b) < 2 || colors[i] != colors[j], "{i} {j}");
            }
        }
    }
}
