//! Broad phase: which pairs of primitives (vertices, edges, triangles) may come close in a step.
//!
//! First, which [patches](super::patches) come near each other, and near mesh obstacles; neighbours in the
//! mesh that are proven to stay apart are left out. Then, of those patches alone, vertices are queried, one
//! leaf of their tree at a time, against a tree of triangle boxes; edges against their own tree. Each box is
//! inflated by a share of its own radius, rounded outwards, so that no pair is missed. Pairs that share a
//! vertex are excluded. The order of pairs does not depend on threads.

use super::{
    continuous::Kind,
    patches::{Patch, Patches},
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

/// Patches per work item.
const PATCHES_PER_ITEM: usize = 8;

/// Trees of the vertices, triangles and edges of a patch, or of all obstacles.
#[derive(Clone, Debug, Default)]
struct Trees {
    vertices: Tree,
    triangles: Tree,
    edges: Tree,
    /// Indices of these primitives in the surface.
    places: [Vec<u32>; 3],
}

impl Trees {
    fn new(surface: &Surface, places: [Vec<u32>; 3], x: &[Quad]) -> Self {
        let tree = |parts: Vec<Swept>| Tree::new(&parts);
        Self {
            vertices: tree(places[0].iter().map(|&i| about(&[surface.vertices[i as usize]], x, x)).collect()),
            triangles: tree(places[1].iter().map(|&i| about(&surface.triangles[i as usize], x, x)).collect()),
            edges: tree(places[2].iter().map(|&i| about(&surface.edges[i as usize], x, x)).collect()),
            places,
        }
    }

    /// Those of all obstacles.
    fn fixed(surface: &Surface, x: &[Quad]) -> Self {
        let of = |count: usize, vertex: &dyn Fn(usize) -> u32| -> Vec<u32> {
            (0..count).filter(|&i| surface.is_fixed(vertex(i))).map(|i| i as u32).collect()
        };
        let places = [
            of(surface.vertices.len(), &|i| surface.vertices[i]),
            of(surface.triangles.len(), &|i| surface.triangles[i][0]),
            of(surface.edges.len(), &|i| surface.edges[i][0]),
        ];
        Self::new(surface, places, x)
    }

    fn refit(&mut self, threads: Option<&Threads>, surface: &Surface, old: &[Quad], x: &[Quad], share: f32) {
        let [vertices, triangles, edges] = &self.places;
        let vertex =
            |v: u32| grown(surface, &[surface.vertices[vertices[v as usize] as usize]], old, x, share);
        let triangle =
            |t: u32| grown(surface, &surface.triangles[triangles[t as usize] as usize], old, x, share);
        let edge = |e: u32| grown(surface, &surface.edges[edges[e as usize] as usize], old, x, share);
        match threads {
            Some(threads) => {
                self.vertices.refit_on(threads, vertex);
                self.triangles.refit_on(threads, triangle);
                self.edges.refit_on(threads, edge);
            }
            None => {
                self.vertices.refit(vertex);
                self.triangles.refit(triangle);
                self.edges.refit(edge);
            }
        }
    }
}

/// What a work item, some patches, has found.
#[derive(Clone, Debug, Default)]
struct Near {
    /// Patches of it, and patches that may come near them; the same twice for what is within one.
    patches: Vec<[u32; 2]>,
    /// Patches of it that may come near an obstacle.
    fixed: Vec<u32>,
}

/// Trees of a surface, and the pairs of the last query.
#[derive(Debug, Default)]
pub struct Candidates {
    patches: Patches,
    /// By patch; up to date only where they are needed.
    trees: Vec<Trees>,
    needed: Vec<bool>,
    fixed: Trees,
    /// The share of radii that boxes of obstacles have grown by, if these did not move in the last query.
    fixed_still: Option<f32>,
    /// By work item; kept so that steps do not allocate.
    near: Vec<Near>,
    found: Vec<Vec<Pair>>,
    /// End positions \[m\] and share of gaps of the last query; `None` after [`Candidates::forget`].
    asked: Vec<Quad>,
    share: Option<f32>,
}

impl Candidates {
    /// Trees of `surface`, whose vertices are at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let patches = Patches::new(surface, x);
        let trees = |patch: &Patch| {
            let Patch { vertices, triangles, edges, .. } = patch;
            Trees::new(surface, [vertices, triangles, edges].map(Clone::clone), x)
        };
        let items = patches.all.len().div_ceil(PATCHES_PER_ITEM);
        Self {
            trees: patches.all.iter().map(trees).collect(),
            needed: vec![false; patches.all.len()],
            patches,
            fixed: Trees::fixed(surface, x),
            fixed_still: None,
            near: vec![Near::default(); items],
            found: vec![Vec::new(); items],
            asked: x.to_vec(),
            share: None,
        }
    }

    /// Finds all pairs that may come closer than `share` of their gaps on their path to `x`. Reuses the pairs
    /// of an earlier query of the same step if the end positions have moved by less than the extra reach of
    /// that query, and what was proven to stay apart still does.
    pub fn find_or_keep(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        old: &[Quad],
        x: &[Quad],
        share: f32,
    ) {
        let more = self.share.map_or(-1.0, |known| (known - share) * (1.0 - 1e-5));
        let within = |(v, (a, b)): (usize, (&Quad, &Quad))| {
            let room = if more < 0.0 { more } else { more * surface.radius.get(v).copied().unwrap_or(0.0) };
            (0..3).all(|k| (a[k] - b[k]).abs() <= room)
        };
        let keep = self.asked.iter().zip(x).enumerate().all(within)
            && (!surface.between_cloth || self.patches.stay_safe(threads, surface, old, x));
        if !keep {
            self.find(threads, surface, old, x, share);
        }
    }

    /// Invalidates the cached pairs: a new step begins.
    pub fn forget(&mut self) {
        self.share = None;
    }

    /// Finds all pairs that may come closer than `share` of their gaps on their path from `old` to `x`
    /// \[m\].
    pub fn find(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], share: f32) {
        self.refit_fixed(threads, surface, old, x, share);
        self.asked.copy_from_slice(x);
        self.share = Some(share);
        self.patches.look(threads, surface, old, x, share);
        self.find_patches(threads, surface);
        let Self { trees, needed, fixed, near, found, .. } = self;
        let needed: &[bool] = needed;
        threads.each(trees, PATCHES_PER_ITEM, |first, trees| {
            for (trees, _) in trees.iter_mut().zip(&needed[first..]).filter(|(_, needed)| **needed) {
                trees.refit(None, surface, old, x, share);
            }
        });
        let (trees, fixed, near): (&[Trees], &Trees, &[Near]) = (trees, fixed, near);
        threads.each(found, 1, |first, lists| {
            for (list, Near { patches: pairs, fixed: by_fixed }) in lists.iter_mut().zip(&near[first..]) {
                list.clear();
                for &[a, b] in pairs {
                    pairs_of(surface, [a, b].map(|p| &trees[p as usize]), a == b, list);
                }
                for &a in by_fixed {
                    pairs_of(surface, [&trees[a as usize], fixed], false, list);
                }
            }
        });
    }

    /// Boxes of obstacles, unless they are still where they were.
    fn refit_fixed(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], share: f32) {
        if self.fixed.triangles.is_empty() {
            return;
        }
        let from = surface.fixed_from as usize;
        let is_still = old[from..] == x[from..];
        let is_same = is_still && self.asked[from..] == x[from..];
        // Boxes that are too large do no harm.
        let share = self.fixed_still.map_or(share, |grown| grown.max(share));
        if !(is_same && self.fixed_still == Some(share)) {
            self.fixed.refit(Some(threads), surface, old, x, share);
        }
        self.fixed_still = is_still.then_some(share);
    }

    /// Which patches may come near which, and near obstacles.
    fn find_patches(&mut self, threads: &Threads, surface: &Surface) {
        let Self { patches, needed, fixed, near, .. } = self;
        let (patches, fixed): (&Patches, &Trees) = (patches, fixed);
        threads.each(near, 1, |first, items| {
            for (item, Near { patches: pairs, fixed: by_fixed }) in items.iter_mut().enumerate() {
                pairs.clear();
                by_fixed.clear();
                let begin = (first + item) * PATCHES_PER_ITEM;
                for a in begin as u32..(begin + PATCHES_PER_ITEM).min(patches.all.len()) as u32 {
                    if surface.between_cloth {
                        patches.meet(a, |b| {
                            if b >= a && !patches.stay_apart(a, b) {
                                pairs.push([a, b]);
                            }
                        });
                    }
                    if fixed.triangles.meets_any(patches.box_of(a)) {
                        by_fixed.push(a);
                    }
                }
            }
        });
        needed.fill(false);
        for Near { patches, fixed } in near.iter() {
            patches.iter().flatten().chain(fixed).for_each(|&p| needed[p as usize] = true);
        }
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

/// Pairs of primitives of `a` and `b`, or within one patch if they are the `same`.
fn pairs_of(surface: &Surface, [a, b]: [&Trees; 2], same: bool, list: &mut Vec<Pair>) {
    for leaf in 0..a.vertices.leaf_count() {
        a.vertices.meet(leaf, &b.triangles, |v, t| {
            list.extend(vertex_triangle(surface, a.places[0][v as usize], b.places[1][t as usize]));
        });
    }
    if same {
        for leaf in 0..a.edges.leaf_count() {
            a.edges.meet_later(leaf, |e, f| {
                let [e, f] = [e, f].map(|e| a.places[2][e as usize]);
                list.extend(edge_edge(surface, e, f));
            });
        }
        return;
    }
    // Obstacles may have any number of primitives: queries start from the first, a patch.
    for leaf in 0..a.triangles.leaf_count() {
        a.triangles.meet(leaf, &b.vertices, |t, v| {
            list.extend(vertex_triangle(surface, b.places[0][v as usize], a.places[1][t as usize]));
        });
    }
    for leaf in 0..a.edges.leaf_count() {
        a.edges.meet(leaf, &b.edges, |e, f| {
            list.extend(edge_edge(surface, a.places[2][e as usize], b.places[2][f as usize]));
        });
    }
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

/// The same with the box grown by a share of the radius of the vertices.
#[inline(always)]
fn grown<const N: usize>(
    surface: &Surface,
    vertices: &[u32; N],
    old: &[Quad],
    x: &[Quad],
    share: f32,
) -> Swept {
    let radius = vertices.iter().fold(0.0f32, |radius, &v| radius.max(surface.radius[v as usize]));
    about(vertices, old, x).grown((share * radius).next_up())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    /// All pairs, by brute force.
    fn tried(surface: &Surface, old: &[Quad], x: &[Quad], share: f32) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for &v in &surface.vertices {
            for (t, &[a, b, c]) in surface.triangles.iter().enumerate() {
                let near =
                    grown(surface, &[v], old, x, share).meets(&grown(surface, &[a, b, c], old, x, share));
                if near && ![a, b, c].contains(&v) && surface.concerns(v, a) {
                    pairs.push(Pair { kind: Kind::VertexTriangle, first: v, second: t as u32 });
                }
            }
        }
        for (i, e) in surface.edges.iter().enumerate() {
            for (k, f) in surface.edges.iter().enumerate().skip(i + 1) {
                let near = grown(surface, e, old, x, share).meets(&grown(surface, f, old, x, share));
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
                surface.radius = (0..count + 5).map(|v| 0.005 * (v % 3) as f32).collect();
                let mut candidates = Candidates::new(&surface, &rest);
                let mut orders = Vec::new();
                for threads in [1, 2, 5] {
                    let threads = Threads::new(threads).unwrap();
                    candidates.find(&threads, &surface, &old, &x, 2.0);
                    orders.push(candidates.pairs().copied().collect::<Vec<_>>());
                }
                assert!(orders.windows(2).all(|w| w[0] == w[1]));
                let mut found = orders.swap_remove(0);
                found.sort_unstable();
                assert_eq!(found, tried(&surface, &old, &x, 2.0));
            }
        }
    }
}
