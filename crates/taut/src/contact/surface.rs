//! The primitives of all surfaces that may touch: vertices, edges, triangles.

use std::collections::BTreeSet;

use glam::Vec3;

use super::{candidates::Pair, continuous::Kind, tangle::Sets};

/// Vertices, edges and triangles of all surfaces that may touch, indexed as in the engine's arrays.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Vertices that belong to a triangle or an edge.
    pub vertices: Vec<u32>,
    /// Edges, each once, by their vertices in ascending order.
    pub edges: Vec<[u32; 2]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Vertices from this one on belong to mesh obstacles. Pairs of obstacles are ignored.
    pub fixed_from: u32,
    /// Whether cloth collides with cloth.
    pub between_cloth: bool,
    /// Whether some mesh obstacle ever moves.
    pub obstacles_move: bool,
    /// By vertex \[m\]: half the thickness of cloth, or the margin of an obstacle. Two primitives keep apart
    /// by the sum of theirs.
    pub radius: Vec<f32>,
    /// By vertex: the lowest vertex that is sewn to it, or itself. Primitives that share one touch always.
    pub identity: Vec<u32>,
    /// By vertex: the piece of connected triangles that it belongs to. Seams do not connect: a panel is one.
    pub piece: Vec<u32>,
    /// By vertex: the garment that it belongs to, bodies that seams join.
    pub garment: Vec<u32>,
    /// Rest positions of vertices that are not fixed \[m\]; empty if they are not known.
    pub rest: Vec<Vec3>,
    /// Coulomb friction coefficient by vertex. That of an obstacle applies to all its pairs.
    pub friction: Vec<f32>,
}

impl Surface {
    /// The primitives of these triangles: cloth that collides with itself, without thickness or friction.
    pub fn new(triangles: Vec<[u32; 3]>) -> Self {
        let mut edges: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let vertices: BTreeSet<u32> = triangles.iter().flatten().copied().collect();
        let count = vertices.last().map_or(0, |&v| v as usize + 1);
        let mut pieces = Sets::new(count);
        edges.iter().for_each(|&[a, b]| pieces.unite(a, b));
        Self {
            vertices: vertices.into_iter().collect(),
            edges,
            triangles,
            fixed_from: u32::MAX,
            between_cloth: true,
            obstacles_move: false,
            radius: vec![0.0; count],
            identity: (0..count as u32).collect(),
            piece: (0..count as u32).map(|v| pieces.of(v)).collect(),
            garment: vec![0; count],
            rest: Vec::new(),
            friction: vec![0.0; count],
        }
    }

    /// `vertices` with the twins of seams merged.
    #[inline(always)]
    pub fn identities<const N: usize>(&self, vertices: [u32; N]) -> [u32; N] {
        vertices.map(|v| self.identity[v as usize])
    }

    /// Whether `vertex` belongs to a mesh obstacle.
    #[inline(always)]
    pub fn is_fixed(&self, vertex: u32) -> bool {
        vertex >= self.fixed_from
    }

    /// Whether a pair of this kind with these vertices is one of two panels.
    #[inline(always)]
    pub fn is_between_panels(&self, kind: Kind, vertices: &[u32; 4]) -> bool {
        let [a, b] = kind.one_of_each(vertices);
        self.are_panels(a, b)
    }

    /// Whether two vertices belong to different pieces of cloth of one garment.
    #[inline(always)]
    pub fn are_panels(&self, a: u32, b: u32) -> bool {
        let [i, j] = [a as usize, b as usize];
        !self.is_fixed(a)
            && !self.is_fixed(b)
            && self.piece[i] != self.piece[j]
            && self.garment[i] == self.garment[j]
    }

    /// Whether contact of two primitives matters, one with vertex `a`, the other with `b`: never for two
    /// obstacles, and for two of cloth only if cloth collides with cloth. What tests compare searches with.
    #[cfg(test)]
    pub fn concerns(&self, a: u32, b: u32) -> bool {
        match (self.is_fixed(a), self.is_fixed(b)) {
            (true, true) => false,
            (false, false) => self.between_cloth,
            _ => true,
        }
    }

    /// The gap of a pair with these vertices \[m\].
    #[inline(always)]
    pub fn gap(&self, pair: &Pair, vertices: &[u32; 4]) -> f32 {
        let [a, b] = pair.kind.one_of_each(vertices);
        self.radius[a as usize] + self.radius[b as usize]
    }

    /// The friction coefficient of a pair of this kind with these vertices.
    #[inline(always)]
    pub fn friction_of(&self, vertices: &[u32; 4], kind: Kind) -> f32 {
        let [a, b] = kind.one_of_each(vertices);
        self.friction[if self.is_fixed(b) { b } else { a } as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_obstacles_are_of_no_interest_and_pairs_of_cloth_if_they_pass() {
        let mut surface = Surface::new(vec![[0, 1, 2], [4, 5, 6]]);
        assert!(surface.concerns(0, 1) && surface.concerns(0, 5) && surface.concerns(5, 6));
        surface.fixed_from = 4;
        assert!(surface.concerns(0, 1) && surface.concerns(5, 0) && !surface.concerns(5, 6));
        surface.between_cloth = false;
        assert!(!surface.concerns(0, 1) && surface.concerns(0, 5));
    }
}
