//! Tetrahedra that change while they are improved: which are around a vertex, an edge or a face.

use glam::DVec3;

use crate::mesh::tetrahedra::FACES;

/// Tetrahedra of positive volume, and those around each vertex.
pub(super) struct Complex {
    /// \[m\]
    pub positions: Vec<DVec3>,
    /// Removed ones stay in their places.
    pub tetrahedra: Vec<[u32; 4]>,
    pub alive: Vec<bool>,
    around: Vec<Vec<u32>>,
}

/// Shape of a tetrahedron: 1 if it is regular, 0 if it is flat, negative if it is inside out. The volume
/// relative to that of a regular one with the same root mean square of edges.
pub fn quality([a, b, c, d]: [DVec3; 4]) -> f64 {
    let determinant = (b - a).cross(c - a).dot(d - a);
    let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
    let mean = edges.iter().map(|e| e.length_squared()).sum::<f64>() / 6.0;
    if mean > 0.0 { std::f64::consts::SQRT_2 * determinant / (mean * mean.sqrt()) } else { 0.0 }
}

impl Complex {
    pub fn new(positions: Vec<DVec3>, tetrahedra: Vec<[u32; 4]>) -> Self {
        let mut around = vec![Vec::new(); positions.len()];
        for (t, corners) in (0..).zip(&tetrahedra) {
            corners.iter().for_each(|&v| around[v as usize].push(t));
        }
        Self { alive: vec![true; tetrahedra.len()], positions, tetrahedra, around }
    }

    /// The tetrahedra that are left.
    pub fn remaining(&self) -> Vec<[u32; 4]> {
        self.tetrahedra.iter().zip(&self.alive).filter(|(_, alive)| **alive).map(|(t, _)| *t).collect()
    }

    pub fn around(&self, v: u32) -> &[u32] {
        &self.around[v as usize]
    }

    pub fn quality_of(&self, corners: [u32; 4]) -> f64 {
        quality(corners.map(|v| self.positions[v as usize]))
    }

    pub fn quality(&self, t: u32) -> f64 {
        self.quality_of(self.tetrahedra[t as usize])
    }

    /// The smallest quality of `tetrahedra`.
    pub fn least(&self, tetrahedra: &[u32]) -> f64 {
        tetrahedra.iter().map(|&t| self.quality(t)).fold(f64::INFINITY, f64::min)
    }

    pub fn remove(&mut self, t: u32) {
        self.alive[t as usize] = false;
        for v in self.tetrahedra[t as usize] {
            self.around[v as usize].retain(|&other| other != t);
        }
    }

    /// Replaces `old` by `new`.
    pub fn replace(&mut self, old: &[u32], new: &[[u32; 4]]) {
        old.iter().for_each(|&t| self.remove(t));
        for &corners in new {
            let t = self.tetrahedra.len() as u32;
            corners.iter().for_each(|&v| self.around[v as usize].push(t));
            self.tetrahedra.push(corners);
            self.alive.push(true);
        }
    }

    /// Tetrahedra with an edge.
    pub fn about_edge(&self, a: u32, b: u32) -> Vec<u32> {
        let has = |t: &u32| self.tetrahedra[*t as usize].contains(&b);
        self.around(a).iter().copied().filter(has).collect()
    }

    /// The tetrahedron across the face opposite corner `k` of `t`.
    pub fn across(&self, t: u32, k: usize) -> Option<u32> {
        let [a, b, c] = FACES[k].map(|k| self.tetrahedra[t as usize][k]);
        let has = |other: &&u32| {
            let corners = &self.tetrahedra[**other as usize];
            **other != t && corners.contains(&b) && corners.contains(&c)
        };
        self.around(a).iter().find(has).copied()
    }

    /// Corners of the faces of `t` on the boundary, by the corners opposite.
    pub fn bare(&self, t: u32) -> impl Iterator<Item = usize> {
        (0..4).filter(move |&k| self.across(t, k).is_none())
    }

    /// Whether vertex `v` has a face on the boundary.
    pub fn on_boundary(&self, v: u32) -> bool {
        let is_bare = |&t: &u32| self.bare(t).any(|k| self.tetrahedra[t as usize][k] != v);
        self.around(v).iter().any(is_bare)
    }

    /// The vertices around the edge from `a` to `b`, counter-clockwise seen from `b`, if the edge is inside.
    pub fn ring(&self, a: u32, b: u32, about: &[u32]) -> Option<Vec<u32>> {
        let links: Vec<[u32; 2]> = about.iter().map(|&t| link(self.tetrahedra[t as usize], a, b)).collect();
        let mut ring = vec![links.first()?[0]];
        while ring.len() < links.len() {
            let last = ring[ring.len() - 1];
            let next = links.iter().find(|[from, _]| *from == last)?[1];
            if ring.contains(&next) {
                return None;
            }
            ring.push(next);
        }
        let last = ring[ring.len() - 1];
        links.contains(&[last, ring[0]]).then_some(ring)
    }
}

/// The edge of tetrahedron `corners` opposite the edge from `a` to `b`, so that all four in this order have a
/// positive volume.
fn link(corners: [u32; 4], a: u32, b: u32) -> [u32; 2] {
    for [i, j, k, l] in [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]] {
        if [corners[i], corners[j]] == [a, b] {
            return [corners[k], corners[l]];
        }
        if [corners[i], corners[j]] == [b, a] {
            return [corners[l], corners[k]];
        }
    }
    [a, b]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_tetrahedron_has_quality_1() {
        let corners =
            [[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]].map(DVec3::from);
        let [a, b, c, d] = corners;
        assert!((quality(corners).abs() - 1.0).abs() < 1e-12);
        assert_eq!(quality([a, b, c, d]), -quality([b, a, c, d]));
        assert_eq!(quality([a; 4]), 0.0);
    }

    #[test]
    fn links_keep_the_orientation() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let corners = [0, 1, 2, 3];
        for a in 0..4 {
            for b in (0..4).filter(|b| *b != a) {
                let [c, d] = link(corners, a, b);
                assert!(quality([a, b, c, d].map(|v| x[v as usize])) > 0.0, "{a} {b} {c} {d}");
            }
        }
    }
}
