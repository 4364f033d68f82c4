//! Broad phase: which pairs of primitives (vertices, edges, triangles) may come close in a step.
//!
//! First, which [patches](super::patches) come near each other, and near mesh obstacles; neighbours in the
//! mesh that are proven to stay apart are left out. Then, of those patches alone, vertices are compared with
//! triangles and edges with edges, 16 at a time ([`batch`](super::batch)); of [obstacles](super::obstacles),
//! those near a patch. Each primitive reaches as far as a share of its own radius. Pairs that share a vertex
//! are excluded. The order of pairs does not depend on threads or lanes.

use super::{
    batch::{Batch, Batched, Moving, meet, moving, needed},
    continuous::Kind,
    guard::GUARDED_GAP,
    obstacles::{Obstacles, Reach},
    patches::{Claim, Patch, Patches},
    surface::Surface,
};
use crate::{
    exec::threads::Threads,
    kernel::lanes::{BATCH, LaneKind, Quad},
};

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

/// Work items that a thread takes at a time: what touches is seldom spread evenly.
pub const ITEMS_PER_PIECE: usize = 8;

/// Batches below which filling them is not parallel.
const BATCH_GRAIN: usize = 8;

/// No batch.
const NONE: u32 = u32::MAX;

/// Primitives of patches in lanes: those of patches that are needed in a query, one after the other.
#[derive(Debug, Default)]
struct Batches<const K: usize> {
    all: Vec<Batch<K>>,
    /// By batch: its patch, and which of the patch's batches it is.
    owners: Vec<[u32; 2]>,
    /// By patch: its first batch, or [`NONE`].
    first: Vec<u32>,
}

impl<const K: usize> Batches<K> {
    /// Room for patches with so many primitives.
    fn new(counts: impl Iterator<Item = usize> + Clone) -> Self {
        let most = counts.clone().map(|count| count.div_ceil(BATCH)).sum();
        Self {
            all: Vec::with_capacity(most),
            owners: Vec::with_capacity(most),
            first: vec![NONE; counts.count()],
        }
    }

    /// Fills in the primitives of all patches that are `needed`: `of` says which a patch has, in the order of
    /// `primitive`.
    fn fill<'a>(
        &mut self,
        threads: &Threads,
        needed: &[bool],
        of: impl Fn(usize) -> &'a [u32] + Sync,
        primitive: impl Fn(u32) -> Moving<K> + Sync,
    ) {
        let Self { all, owners, first } = self;
        owners.clear();
        for (patch, first) in first.iter_mut().enumerate() {
            *first = if needed[patch] { owners.len() as u32 } else { NONE };
            let count = if needed[patch] { of(patch).len().div_ceil(BATCH) } else { 0 };
            owners.extend((0..count as u32).map(|k| [patch as u32, k]));
        }
        if all.len() < owners.len() {
            all.resize_with(owners.len(), Batch::default);
        }
        let owners: &[[u32; 2]] = owners;
        threads.each(&mut all[..owners.len()], BATCH_GRAIN, |begin, batches| {
            for (batch, &[patch, k]) in batches.iter_mut().zip(&owners[begin..]) {
                let own = &of(patch as usize)[k as usize * BATCH..];
                batch.take(own.iter().map(|&i| primitive(i)));
            }
        });
    }

    /// Those of a patch with so many primitives.
    fn of(&self, patch: u32, count: usize) -> &[Batch<K>] {
        match self.first[patch as usize] {
            NONE => &[],
            first => &self.all[first as usize..][..count.div_ceil(BATCH)],
        }
    }
}

/// What a work item, some patches, has found.
#[derive(Clone, Debug, Default)]
struct Near {
    /// Patches of it, and patches that may come near them; the same twice for what is within one.
    patches: Vec<[u32; 2]>,
    /// Patches of it that may come near an obstacle.
    obstacles: Vec<u32>,
    /// The primitives of one of these.
    ways: Ways,
}

/// Primitives of a patch on their ways.
#[derive(Clone, Debug, Default)]
struct Ways {
    vertices: Vec<Moving<1>>,
    triangles: Vec<Moving<3>>,
    edges: Vec<Moving<2>>,
}

impl Ways {
    /// Takes those of this patch in place of those that it has.
    fn take(&mut self, surface: &Surface, patch: &Patch, old: &[Quad], x: &[Quad]) {
        let Self { vertices, triangles, edges } = self;
        vertices.clear();
        triangles.clear();
        edges.clear();
        vertices.extend(patch.vertices.iter().map(|&v| moving(&[surface.vertices[v as usize]], old, x)));
        triangles.extend(patch.triangles.iter().map(|&t| moving(&surface.triangles[t as usize], old, x)));
        edges.extend(patch.edges.iter().map(|&e| moving(&surface.edges[e as usize], old, x)));
    }
}

/// Trees of a surface, and the pairs of the last query.
#[derive(Debug, Default)]
pub struct Candidates {
    patches: Patches,
    /// By patch: whether it may come near anything.
    needed: Vec<bool>,
    triangles: Batches<3>,
    edges: Batches<2>,
    obstacles: Obstacles,
    /// By work item; kept so that steps do not allocate.
    near: Vec<Near>,
    found: Vec<Vec<Pair>>,
    /// By patch: whether its pairs are to be looked for again; and these pairs.
    stale: Vec<bool>,
    again: Vec<Vec<Pair>>,
    /// End positions \[m\] and share of gaps of the last query; `None` after [`Candidates::forget`].
    asked: Vec<Quad>,
    share: Option<f32>,
}

impl Candidates {
    /// Trees of `surface`, whose vertices are at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let patches = Patches::new(surface, x);
        let count = patches.all.len();
        let items = count.div_ceil(PATCHES_PER_ITEM);
        Self {
            needed: vec![false; count],
            triangles: Batches::new(patches.all.iter().map(|patch| patch.triangles.len())),
            edges: Batches::new(patches.all.iter().map(|patch| patch.edges.len())),
            patches,
            obstacles: Obstacles::new(surface, x),
            near: vec![Near::default(); items],
            found: vec![Vec::new(); items],
            stale: vec![false; count],
            again: vec![Vec::new(); items],
            asked: x.to_vec(),
            share: None,
        }
    }

    /// Finds all pairs that may collide on their path to `x`: come closer than `share` of their gaps, at most
    /// [`GUARDED_GAP`]. Keeps the pairs of an earlier query of the same step; those of patches whose end
    /// positions have moved by more than the extra reach of that query, or that were proven to stay apart
    /// and may not now, are looked for again.
    pub fn find_or_keep(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        old: &[Quad],
        x: &[Quad],
        share: f32,
    ) {
        debug_assert!(share <= GUARDED_GAP);
        let more = self.share.map_or(-1.0, |known| (known - share) * (1.0 - 1e-5));
        let from = (surface.fixed_from as usize).min(x.len());
        if more < 0.0 || self.asked[from..] != x[from..] {
            return self.find(threads, surface, old, x, (share, Claim::NothingCollides));
        }
        self.again.iter_mut().for_each(Vec::clear);
        if surface.between_cloth {
            self.patches.prove(threads, surface, old, x, Claim::NothingCollides);
        }
        let Self { patches, stale, asked, .. } = self;
        let (patches, asked): (&Patches, &[Quad]) = (patches, asked);
        threads.each(stale, PATCHES_PER_ITEM, |first, stale| {
            for (patch, stale) in (first as u32..).zip(stale) {
                *stale = surface.between_cloth && patches.has_lost_proof(patch)
                    || patches.corners(patch).iter().any(|&v| {
                        let (a, b, room) =
                            (&asked[v as usize], &x[v as usize], more * surface.radius[v as usize]);
                        let moved: f32 = (0..3).map(|k| (a[k] - b[k]) * (a[k] - b[k])).sum();
                        moved > room * room
                    });
            }
        });
        if self.stale.contains(&true) {
            self.patches.fit(threads, old, x, share);
            self.find_patches(threads, surface, true);
            self.find_pairs(threads, surface, old, x, share, true);
        }
    }

    /// Invalidates the cached pairs: a new step begins.
    pub fn forget(&mut self) {
        self.share = None;
    }

    /// Finds all pairs that may come closer than `share` of their gaps on their path from `old` to `x` \[m\],
    /// but those of neighbours that `claim` holds for.
    pub fn find(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        old: &[Quad],
        x: &[Quad],
        (share, claim): (f32, Claim),
    ) {
        self.obstacles.refit(threads, surface, [&self.asked, old, x], share);
        self.asked.copy_from_slice(x);
        self.share = Some(share);
        self.patches.look(threads, surface, old, x, (share, claim));
        self.find_patches(threads, surface, false);
        self.find_pairs(threads, surface, old, x, share, false);
        self.again.iter_mut().for_each(Vec::clear);
    }

    /// Pairs of the patches that [`Candidates::find_patches`] found: all, or those looked for `again`.
    fn find_pairs(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        old: &[Quad],
        x: &[Quad],
        share: f32,
        again: bool,
    ) {
        self.fill(threads, surface, old, x);
        let Self { patches, triangles, edges, obstacles, near, .. } = self;
        let search = Search {
            surface,
            patches,
            triangles,
            edges,
            obstacles,
            old,
            x,
            share,
            lanes: LaneKind::detect(),
        };
        let found = if again { &mut self.again } else { &mut self.found };
        threads.each_pair_piece(found, near, ITEMS_PER_PIECE, |_, lists, near| {
            for (list, near) in lists.iter_mut().zip(near) {
                list.clear();
                near.patches.iter().for_each(|&[a, b]| search.pairs_of(a, b, list));
                let Near { obstacles, ways, .. } = near;
                obstacles.iter().for_each(|&a| search.pairs_with_obstacles(a, ways, list));
            }
        });
    }

    /// Fills in the primitives of all patches that may come near anything.
    fn fill(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad]) {
        let Self { patches, needed, triangles, edges, .. } = self;
        let all = &patches.all;
        triangles.fill(
            threads,
            needed,
            |patch| &all[patch].triangles,
            |t| moving(&surface.triangles[t as usize], old, x),
        );
        edges.fill(
            threads,
            needed,
            |patch| &all[patch].edges,
            |e| moving(&surface.edges[e as usize], old, x),
        );
    }

    /// Which patches may come near which, and near obstacles: all, or those that are to be looked for `again`
    /// and what is near them.
    fn find_patches(&mut self, threads: &Threads, surface: &Surface, again: bool) {
        let Self { patches, needed, obstacles, near, stale, .. } = self;
        let (patches, obstacles, stale): (&Patches, &Obstacles, &[bool]) = (patches, obstacles, stale);
        let is_asked = |patch: u32| !again || stale[patch as usize];
        threads.each_piece(near, ITEMS_PER_PIECE, |first, items| {
            for (item, Near { patches: pairs, obstacles: by_obstacles, .. }) in items.iter_mut().enumerate() {
                pairs.clear();
                by_obstacles.clear();
                let begin = (first + item) * PATCHES_PER_ITEM;
                let all = begin as u32..(begin + PATCHES_PER_ITEM).min(patches.all.len()) as u32;
                for a in all.filter(|&a| is_asked(a)) {
                    if surface.between_cloth {
                        patches.meet(a, |b| {
                            // Once, if both are asked for.
                            if (b >= a || !is_asked(b)) && !patches.stay_apart(a, b) {
                                pairs.push([a, b]);
                            }
                        });
                    }
                    if obstacles.triangles.meets_any(patches.box_of(a)) {
                        by_obstacles.push(a);
                    }
                }
            }
        });
        needed.fill(false);
        let pairs = near.iter().flat_map(|near| &near.patches);
        pairs.flatten().for_each(|&patch| needed[patch as usize] = true);
    }

    /// The pairs of the last query, by work item; some may be there twice, once as looked for again.
    pub fn lists(&mut self) -> [&mut [Vec<Pair>]; 2] {
        [&mut self.found, &mut self.again]
    }

    /// The pairs of the last query.
    #[cfg(test)]
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.found.iter().flatten()
    }
}

/// What pairs are looked for in.
struct Search<'a> {
    surface: &'a Surface,
    patches: &'a Patches,
    triangles: &'a Batches<3>,
    edges: &'a Batches<2>,
    obstacles: &'a Obstacles,
    old: &'a [Quad],
    x: &'a [Quad],
    share: f32,
    lanes: LaneKind,
}

impl Search<'_> {
    /// Pairs of vertices, by their places in the surface, and triangles of a patch.
    fn vertices_with(&self, vertices: &[u32], patch: u32, needed: f32, list: &mut Vec<Pair>) {
        let own = &self.patches.all[patch as usize].triangles;
        let batches = self.triangles.of(patch, own.len());
        let batches = Batched { batches, needed, about: self.patches.box_of(patch).grown(needed) };
        let others = vertices.iter().map(|&v| moving(&[self.surface.vertices[v as usize]], self.old, self.x));
        meet(self.lanes, batches, others, |v, t| {
            list.extend(vertex_triangle(self.surface, vertices[v], own[t]));
        });
    }

    /// Pairs of edges and edges of a patch; those of the same patch once.
    fn edges_with(&self, edges: &[u32], patch: u32, needed: f32, same: bool, list: &mut Vec<Pair>) {
        let own = &self.patches.all[patch as usize].edges;
        let batches = self.edges.of(patch, own.len());
        let batches = Batched { batches, needed, about: self.patches.box_of(patch).grown(needed) };
        let others = edges.iter().map(|&e| moving(&self.surface.edges[e as usize], self.old, self.x));
        meet(self.lanes, batches, others, |e, f| {
            if f > e || !same {
                list.extend(edge_edge(self.surface, edges[e], own[f]));
            }
        });
    }

    /// Pairs of primitives of two patches, or within one if they are the same.
    fn pairs_of(&self, a: u32, b: u32, list: &mut Vec<Pair>) {
        let [first, second] = [a, b].map(|p| &self.patches.all[p as usize]);
        let reach = self.share * (self.patches.radius_of(a) + self.patches.radius_of(b));
        let needed = needed(reach, self.patches.box_of(a), self.patches.box_of(b));
        self.vertices_with(&first.vertices, b, needed, list);
        if a != b {
            self.vertices_with(&second.vertices, a, needed, list);
        }
        self.edges_with(&first.edges, b, needed, a == b, list);
    }

    /// Pairs of primitives of a patch and of obstacles. `ways` is scratch.
    fn pairs_with_obstacles(&self, patch: u32, ways: &mut Ways, list: &mut Vec<Pair>) {
        let &Self { surface, obstacles, patches, old, x, share, lanes, .. } = self;
        let own = &patches.all[patch as usize];
        let reach = Reach { about: patches.box_of(patch), radius: patches.radius_of(patch), share };
        ways.take(surface, own, old, x);
        obstacles.vertices.meet(lanes, &reach, &ways.triangles, |t, v| {
            list.extend(vertex_triangle(surface, v, own.triangles[t]));
        });
        obstacles.edges.meet(lanes, &reach, &ways.edges, |e, f| {
            list.extend(edge_edge(surface, own.edges[e], f));
        });
        obstacles.triangles.meet(lanes, &reach, &ways.vertices, |v, t| {
            list.extend(vertex_triangle(surface, own.vertices[v], t));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contact::obstacles::about, kernel::random::Random};

    /// All pairs without a common vertex that matter.
    fn all_pairs(surface: &Surface) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for &v in &surface.vertices {
            for (t, corners) in (0..).zip(&surface.triangles) {
                if !corners.contains(&v) && surface.concerns(v, corners[0]) {
                    pairs.push(Pair { kind: Kind::VertexTriangle, first: v, second: t });
                }
            }
        }
        for (i, e) in (0..).zip(&surface.edges) {
            for (k, f) in (0..).zip(&surface.edges).skip(i as usize + 1) {
                if !e.contains(&f[0]) && !e.contains(&f[1]) && surface.concerns(e[0], f[0]) {
                    pairs.push(Pair { kind: Kind::EdgeEdge, first: i, second: k });
                }
            }
        }
        pairs
    }

    /// The smallest distance of a pair at some times of a step.
    fn distance(surface: &Surface, pair: &Pair, old: &[Quad], x: &[Quad]) -> f64 {
        let point = |q: &Quad| glam::DVec3::new(q[0].into(), q[1].into(), q[2].into());
        let v = pair.vertices(surface).map(|v| v as usize);
        let at = |time: f64| v.map(|v| point(&old[v]).lerp(point(&x[v]), time));
        (0..=16).map(|k| pair.kind.nearest(&at(f64::from(k) / 16.0)).squared.sqrt()).fold(f64::MAX, f64::min)
    }

    /// Whether boxes of a pair, both grown by `margin`, meet.
    fn boxes_meet(surface: &Surface, pair: &Pair, old: &[Quad], x: &[Quad], margin: f32) -> bool {
        let [a, b, c, d] = pair.vertices(surface);
        let [first, second] = match pair.kind {
            Kind::VertexTriangle => [about(&[a], old, x), about(&[b, c, d], old, x)],
            Kind::EdgeEdge => [about(&[a, b], old, x), about(&[c, d], old, x)],
        };
        first.grown(margin).meets(&second.grown(margin))
    }

    #[test]
    fn nothing_near_is_missed_and_nothing_far_is_found_for_any_number_of_threads() {
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
                    candidates.find(&threads, &surface, &old, &x, (2.0, Claim::NothingTouches));
                    orders.push(candidates.pairs().copied().collect::<Vec<_>>());
                }
                assert!(orders.windows(2).all(|w| w[0] == w[1]));
                let mut found = orders.swap_remove(0);
                found.sort_unstable();
                let all = all_pairs(&surface);
                for pair in &all {
                    let gap = f64::from(surface.gap(pair, &pair.vertices(&surface)));
                    let is_near = distance(&surface, pair, &old, &x) <= 2.0 * gap;
                    let is_found = found.binary_search(pair).is_ok();
                    assert!(is_found || !is_near, "{pair:?} is missed");
                    assert!(!is_found || boxes_meet(&surface, pair, &old, &x, 0.0201), "{pair:?} is far");
                }
                assert!(found.iter().all(|pair| all.binary_search(pair).is_ok()));
                assert!(found.windows(2).all(|w| w[0] != w[1]));
            }
        }
    }
}
