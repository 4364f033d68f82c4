//! Broad phase: which pairs of primitives (vertices, edges, triangles) may come close in a step.
//!
//! Vertices are queried, one leaf of their tree at a time, against a tree of triangle boxes; edges against
//! their own tree. Boxes are inflated by the queried distance, rounded outwards, so that no pair is missed.
//! Pairs that share a vertex are excluded. The order of pairs does not depend on threads.

use std::ops::Range;

use super::{
    continuous::Kind,
    surface::Surface,
    tree::{Swept, Tree},
};
use crate::{exec::threads::Threads, kernel::lanes::Quad};

/// Two primitives that may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// Kind of the pair.
    pub kind: Kind,
    /// A vertex of the engine, or the index of an edge in the surface.
    pub first: u32,
    /// The index of a triangle, or of the other edge.
    pub second: u32,
}

impl Pair {
    /// Its vertices, in the order that [`Kind`] defines.
    #[inline(always)]
    pub fn vertices(&self, surface: &Surface) -> [u32; 4] {
        match self.kind {
            Kind::VertexTriangle => {
                let [a, b, c] = surface.triangles[self.second as usize];
                [self.first, a, b, c]
            }
            Kind::EdgeEdge => {
                let ([a, b], [c, d]) =
                    (surface.edges[self.first as usize], surface.edges[self.second as usize]);
                [a, b, c, d]
            }
        }
    }
}

/// Leaves per work item.
const LEAVES_PER_ITEM: usize = 32;

/// Trees of the vertices, triangles and edges of cloth, or of obstacles.
#[derive(Debug, Default)]
struct Trees {
    vertices: Tree,
    triangles: Tree,
    edges: Tree,
    /// Indices of these primitives in the surface.
    places: [Vec<u32>; 3],
}

impl Trees {
    fn new(surface: &Surface, fixed: bool, x: &[Quad]) -> Self {
        let own = |v: u32| surface.is_fixed(v) == fixed;
        let of = |count: usize, vertex: &dyn Fn(usize) -> u32| -> Vec<u32> {
            (0..count).filter(|&i| own(vertex(i))).map(|i| i as u32).collect()
        };
        let places = [
            of(surface.vertices.len(), &|i| surface.vertices[i]),
            of(surface.triangles.len(), &|i| surface.triangles[i][0]),
            of(surface.edges.len(), &|i| surface.edges[i][0]),
        ];
        let tree = |parts: Vec<Swept>| Tree::new(&parts);
        Self {
            vertices: tree(places[0].iter().map(|&i| about(&[surface.vertices[i as usize]], x, x)).collect()),
            triangles: tree(places[1].iter().map(|&i| about(&surface.triangles[i as usize], x, x)).collect()),
            edges: tree(places[2].iter().map(|&i| about(&surface.edges[i as usize], x, x)).collect()),
            places,
        }
    }

    fn refit(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], margin: f32) {
        let [vertices, triangles, edges] = &self.places;
        self.vertices.refit_on(threads, |v| {
            about(&[surface.vertices[vertices[v as usize] as usize]], old, x).grown(margin)
        });
        self.triangles.refit_on(threads, |t| {
            about(&surface.triangles[triangles[t as usize] as usize], old, x).grown(margin)
        });
        self.edges
            .refit_on(threads, |e| about(&surface.edges[edges[e as usize] as usize], old, x).grown(margin));
    }
}

/// The query of a work item.
#[derive(Clone, Copy, Debug)]
enum Search {
    /// Vertices of cloth against triangles of cloth.
    Vertices,
    /// Edges of cloth against each other.
    Edges,
    /// Vertices of cloth against triangles of obstacles.
    VerticesFixed,
    /// Vertices of obstacles against triangles of cloth.
    FixedVertices,
    /// Edges of cloth against edges of obstacles.
    EdgesFixed,
}

/// Trees of a surface, and the pairs of the last query.
#[derive(Debug, Default)]
pub struct Candidates {
    cloth: Trees,
    fixed: Trees,
    /// By work item: the query, and its leaves.
    pieces: Vec<(Search, Range<usize>)>,
    /// By work item; kept so that steps do not allocate.
    found: Vec<Vec<Pair>>,
    /// End positions and reach \[m\] of the last query; `None` after [`Candidates::forget`].
    asked: Vec<Quad>,
    reach: Option<f32>,
}

impl Candidates {
    /// Trees of `surface`, whose vertices are at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let (cloth, fixed) = (Trees::new(surface, false, x), Trees::new(surface, true, x));
        let mut pieces = Vec::new();
        let mut add = |search: Search, leaves: usize| {
            for first in (0..leaves).step_by(LEAVES_PER_ITEM) {
                pieces.push((search, first..(first + LEAVES_PER_ITEM).min(leaves)));
            }
        };
        if surface.between_cloth {
            add(Search::Vertices, cloth.vertices.leaf_count());
            add(Search::Edges, cloth.edges.leaf_count());
        }
        if !fixed.triangles.is_empty() {
            add(Search::VerticesFixed, cloth.vertices.leaf_count());
            add(Search::FixedVertices, fixed.vertices.leaf_count());
            add(Search::EdgesFixed, cloth.edges.leaf_count());
        }
        let found = vec![Vec::new(); pieces.len()];
        Self { cloth, fixed, pieces, found, asked: x.to_vec(), reach: None }
    }

    /// Finds all pairs that may come closer than `reach` \[m\] on their path to `x`. Reuses the pairs of an
    /// earlier query of the same step if the end positions have moved by less than the extra reach of that
    /// query.
    pub fn find_or_keep(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        old: &[Quad],
        x: &[Quad],
        reach: f32,
    ) {
        let room = self.reach.map_or(-1.0, |known| 0.5 * (known - reach) * (1.0 - 1e-5));
        let within = |(a, b): (&Quad, &Quad)| (0..3).all(|k| (a[k] - b[k]).abs() <= room);
        if !self.asked.iter().zip(x).all(within) {
            self.find(threads, surface, old, x, reach);
        }
    }

    /// Invalidates the cached pairs: a new step begins.
    pub fn forget(&mut self) {
        self.reach = None;
    }

    /// Finds all pairs that may come closer than `reach` \[m\] on their path from `old` to `x` \[m\].
    pub fn find(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], reach: f32) {
        // Each of the two boxes grows by half of the reach.
        let margin = (0.5 * reach).next_up();
        let Self { cloth, fixed, pieces, found, asked, reach: known } = self;
        asked.copy_from_slice(x);
        *known = Some(reach);
        cloth.refit(threads, surface, old, x, margin);
        fixed.refit(threads, surface, old, x, margin);
        let (cloth, fixed): (&Trees, &Trees) = (cloth, fixed);
        threads.each(found, 1, |first, lists| {
            for (list, (search, leaves)) in lists.iter_mut().zip(&pieces[first..]) {
                list.clear();
                for leaf in leaves.clone() {
                    match search {
                        Search::Vertices => vertices_near(surface, [cloth, cloth], leaf, list),
                        Search::VerticesFixed => vertices_near(surface, [cloth, fixed], leaf, list),
                        Search::FixedVertices => vertices_near(surface, [fixed, cloth], leaf, list),
                        Search::Edges => cloth.edges.meet_later(leaf, |e, f| {
                            let [e, f] = [e, f].map(|e| cloth.places[2][e as usize]);
                            list.extend(edge_edge(surface, e, f));
                        }),
                        Search::EdgesFixed => cloth.edges.meet(leaf, &fixed.edges, |e, f| {
                            let (e, f) = (cloth.places[2][e as usize], fixed.places[2][f as usize]);
                            list.extend(edge_edge(surface, e, f));
                        }),
                    }
                }
            }
        });
    }

    /// The pairs of the last query, by work item.
    pub fn lists(&mut self) -> &mut [Vec<Pair>] {
        &mut self.found
    }

    /// The pairs of the last query.
    #[cfg(test)]
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.found.iter().flatten()
    }
}

/// Vertices of a leaf of the first trees against triangles of the others.
#[inline(always)]
fn vertices_near(surface: &Surface, [own, others]: [&Trees; 2], leaf: usize, list: &mut Vec<Pair>) {
    own.vertices.meet(leaf, &others.triangles, |v, t| {
        list.extend(vertex_triangle(surface, own.places[0][v as usize], others.places[1][t as usize]));
    });
}

/// The pair of a vertex and a triangle, by their indices in `surface`, unless the vertex is a corner of the
/// triangle or sewn to one.
#[inline(always)]
fn vertex_triangle(surface: &Surface, vertex: u32, triangle: u32) -> Option<Pair> {
    let (v, [a, b, c]) = (surface.vertices[vertex as usize], surface.triangles[triangle as usize]);
    let [w, a, b, c] = surface.identities([v, a, b, c]);
    (w != a && w != b && w != c).then_some(Pair { kind: Kind::VertexTriangle, first: v, second: triangle })
}

/// The pair of two edges, by their indices in `surface`, unless they share a vertex or are sewn together at
/// one.
#[inline(always)]
fn edge_edge(surface: &Surface, first: u32, second: u32) -> Option<Pair> {
    let (first, second) = (first.min(second), first.max(second));
    let ([a, b], [c, d]) = (surface.edges[first as usize], surface.edges[second as usize]);
    let [a, b, c, d] = surface.identities([a, b, c, d]);
    let apart = a != c && a != d && b != c && b != d;
    apart.then_some(Pair { kind: Kind::EdgeEdge, first, second })
}

/// Vertices that move from `old` to `x`.
#[inline(always)]
fn about<const N: usize>(vertices: &[u32; N], old: &[Quad], x: &[Quad]) -> Swept {
    vertices.iter().fold(Swept::EMPTY, |part, &v| part.with(&old[v as usize], &x[v as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    /// All pairs, by brute force.
    fn tried(surface: &Surface, old: &[Quad], x: &[Quad], reach: f32) -> Vec<Pair> {
        let margin = (0.5 * reach).next_up();
        let mut pairs = Vec::new();
        for &v in &surface.vertices {
            for (t, &[a, b, c]) in surface.triangles.iter().enumerate() {
                let near = about(&[v], old, x).grown(margin).meets(&about(&[a, b, c], old, x).grown(margin));
                if near && ![a, b, c].contains(&v) && surface.concerns(v, a) {
                    pairs.push(Pair { kind: Kind::VertexTriangle, first: v, second: t as u32 });
                }
            }
        }
        for (i, e) in surface.edges.iter().enumerate() {
            for (k, f) in surface.edges.iter().enumerate().skip(i + 1) {
                let near = about(e, old, x).grown(margin).meets(&about(f, old, x).grown(margin));
                if near && !e.contains(&f[0]) && !e.contains(&f[1]) && surface.concerns(e[0], f[0]) {
                    pairs.push(Pair { kind: Kind::EdgeEdge, first: i as u32, second: k as u32 });
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
            let mut surface = Surface::new(triangles);
            let mut place = |size: f32| -> Vec<Quad> {
                (0..count + 5).map(|_| [(); 4].map(|()| size * random.unit())).collect()
            };
            let (rest, old) = (place(1.0), place(1.0));
            let x: Vec<Quad> =
                old.iter().zip(place(0.1)).map(|(a, b)| std::array::from_fn(|k| a[k] + b[k])).collect();
            // All cloth; then the last vertices as obstacles, which share no triangle with cloth; then an
            // obstacle that passes through cloth.
            for fixed in [0, count / 3, count / 3] {
                surface.triangles.retain(|t| {
                    let fixed = t.map(|v| v >= count + 5 - fixed);
                    fixed[0] == fixed[1] && fixed[1] == fixed[2]
                });
                surface = Surface {
                    between_cloth: surface.fixed_from == u32::MAX,
                    ..Surface::new(surface.triangles)
                };
                if fixed > 0 {
                    surface.fixed_from = count + 5 - fixed;
                }
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
}
