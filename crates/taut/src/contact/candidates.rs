//! Broad phase: which pairs of parts are near enough in a step to be looked at.
//!
//! Vertices are looked up, a leaf of their tree at a time, in a tree of boxes about the triangles, edges in their own. Boxes reach further by the distance that
//! is asked for, rounded outwards, so that no pair is missed. Pairs that share a vertex are left out. The order of pairs does not depend
//! on threads.

use super::{
    continuous::Kind,
    surface::Surface,
    tree::{Swept, Tree},
};
use crate::{kernel::lanes::Quad, parallel::Threads};

/// Two parts that may touch, by their vertices as [`Kind`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// Which parts they are.
    pub kind: Kind,
    /// Their vertices.
    pub vertices: [u32; 4],
}

/// Leaves that one piece of work is made of.
const PIECE: usize = 32;

/// Trees about a surface, and the pairs that were found last.
#[derive(Debug, Default)]
pub struct Candidates {
    vertices: Tree,
    triangles: Tree,
    edges: Tree,
    /// By piece of work; kept so that steps need not allocate.
    found: Vec<Vec<Pair>>,
}

impl Candidates {
    /// Trees about `surface`, whose vertices are at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let tree = |parts: Vec<Swept>| Tree::new(&parts);
        let vertices = tree(surface.vertices.iter().map(|&v| about(&[v], x, x)).collect());
        let triangles = tree(surface.triangles.iter().map(|t| about(t, x, x)).collect());
        let edges = tree(surface.edges.iter().map(|e| about(e, x, x)).collect());
        let pieces = vertices.leaf_count().div_ceil(PIECE) + edges.leaf_count().div_ceil(PIECE);
        Self { vertices, triangles, edges, found: vec![Vec::new(); pieces] }
    }

    /// Finds all pairs that may come nearer than `reach` \[m\] on their way from `old` to `x` \[m\].
    pub fn find(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], reach: f32) {
        // Each of the two grows by half of it.
        let margin = (0.5 * reach).next_up();
        let Self { vertices, triangles, edges, found } = self;
        vertices.refit(|v| about(&[surface.vertices[v as usize]], old, x).grown(margin));
        triangles.refit(|t| about(&surface.triangles[t as usize], old, x).grown(margin));
        edges.refit(|e| about(&surface.edges[e as usize], old, x).grown(margin));
        let of_vertices = vertices.leaf_count().div_ceil(PIECE);
        let (vertices, triangles, edges): (&Tree, &Tree, &Tree) = (vertices, triangles, edges);
        threads.each(found, 1, |first, lists| {
            for (k, list) in lists.iter_mut().enumerate() {
                list.clear();
                let piece = first + k;
                if piece < of_vertices {
                    for leaf in leaves(piece, vertices.leaf_count()) {
                        vertices.meet(leaf, triangles, |v, t| list.extend(vertex_triangle(surface, v, t)));
                    }
                } else {
                    for leaf in leaves(piece - of_vertices, edges.leaf_count()) {
                        edges.meet_later(leaf, |e, f| list.extend(edge_edge(surface, e, f)));
                    }
                }
            }
        });
    }

    /// The pairs that were found last, by piece of work.
    pub fn lists(&mut self) -> &mut [Vec<Pair>] {
        &mut self.found
    }

    /// The pairs that were found last.
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.found.iter().flatten()
    }
}

fn leaves(piece: usize, count: usize) -> std::ops::Range<usize> {
    piece * PIECE..((piece + 1) * PIECE).min(count)
}

/// The pair of a vertex and a triangle, by their places in `surface`, unless it is one of its corners.
#[inline(always)]
fn vertex_triangle(surface: &Surface, vertex: u32, triangle: u32) -> Option<Pair> {
    let (v, [a, b, c]) = (surface.vertices[vertex as usize], surface.triangles[triangle as usize]);
    (surface.concerns(v, a) && v != a && v != b && v != c)
        .then_some(Pair { kind: Kind::VertexTriangle, vertices: [v, a, b, c] })
}

/// The pair of two edges, by their places in `surface`, unless they share a vertex.
#[inline(always)]
fn edge_edge(surface: &Surface, first: u32, second: u32) -> Option<Pair> {
    let ([a, b], [c, d]) =
        (surface.edges[first.min(second) as usize], surface.edges[first.max(second) as usize]);
    let apart = surface.concerns(a, c) && a != c && a != d && b != c && b != d;
    apart.then_some(Pair { kind: Kind::EdgeEdge, vertices: [a, b, c, d] })
}

/// Vertices on their way from `old` to `x`.
#[inline(always)]
fn about<const N: usize>(vertices: &[u32; N], old: &[Quad], x: &[Quad]) -> Swept {
    vertices.iter().fold(Swept::EMPTY, |part, &v| part.with(&old[v as usize], &x[v as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    /// All pairs by trying all.
    fn tried(surface: &Surface, old: &[Quad], x: &[Quad], reach: f32) -> Vec<Pair> {
        let margin = (0.5 * reach).next_up();
        let mut pairs = Vec::new();
        for &v in &surface.vertices {
            for &[a, b, c] in &surface.triangles {
                let near = about(&[v], old, x).grown(margin).meets(&about(&[a, b, c], old, x).grown(margin));
                if near && ![a, b, c].contains(&v) {
                    pairs.push(Pair { kind: Kind::VertexTriangle, vertices: [v, a, b, c] });
                }
            }
        }
        for (i, e) in surface.edges.iter().enumerate() {
            for f in &surface.edges[i + 1..] {
                let near = about(e, old, x).grown(margin).meets(&about(f, old, x).grown(margin));
                if near && !e.contains(&f[0]) && !e.contains(&f[1]) {
                    pairs.push(Pair { kind: Kind::EdgeEdge, vertices: [e[0], e[1], f[0], f[1]] });
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn trees_find_what_trying_all_finds_for_any_number_of_threads() {
        let mut random = Random::new(23, 0);
        for count in [1, 7, 60, 400] {
            let triangles = (0..count).map(|t| [t, t + 1, t + 2 + t % 3]).collect();
            let surface = Surface::new(triangles);
            let mut place = |size: f32| -> Vec<Quad> {
                (0..count + 5).map(|_| [(); 4].map(|()| size * random.unit())).collect()
            };
            let (rest, old) = (place(1.0), place(1.0));
            let x: Vec<Quad> =
                old.iter().zip(place(0.1)).map(|(a, b)| std::array::from_fn(|k| a[k] + b[k])).collect();
            let mut candidates = Candidates::new(&surface, &rest);
            let mut orders = Vec::new();
            for threads in [1, 2, 5] {
                let threads = Threads::new(threads).unwrap();
                candidates.find(&threads, &surface, &old, &x, 0.02);
                orders.push(candidates.pairs().copied().collect::<Vec<_>>());
            }
            assert!(orders.windows(2).all(|w| w[0] == w[1]));
            let mut found = orders.swap_remove(0);
            found.sort_unstable();
            assert_eq!(found, tried(&surface, &old, &x, 0.02));
        }
    }
}
