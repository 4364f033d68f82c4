//! Vertices, edges and triangles of mesh obstacles that may come near a patch of cloth.
//!
//! Obstacles may be far finer than cloth: scans are. So it is their primitives that are compared 16 at a
//! time, a leaf of a tree of boxes each, and those of the patch one by one. Obstacles that stand still are
//! laid out once.

use super::{
    batch::{Batch, Batched, Moving, meet, moving, needed},
    surface::Surface,
    tree::{Swept, Tree},
};
use crate::{
    exec::threads::Threads,
    kernel::lanes::{BATCH, LaneKind, Quad},
};

/// Leaves below which filling them is not parallel.
const LEAF_GRAIN: usize = 64;

/// Primitives of K vertices of all obstacles.
#[derive(Debug, Default)]
pub struct Leaves<const K: usize> {
    /// By number in the tree: index in the surface, and vertices.
    places: Vec<u32>,
    vertices: Vec<[u32; K]>,
    tree: Tree,
    /// By leaf: its primitives side by side, and the largest radius of their vertices \[m\].
    batches: Vec<Batch<K>>,
    radius: Vec<f32>,
}

impl<const K: usize> Leaves<K> {
    /// Those of `all` primitives of a surface that belong to obstacles, with vertices at `x` \[m\].
    pub fn new(surface: &Surface, all: impl Iterator<Item = [u32; K]>, x: &[Quad]) -> Self {
        let fixed = all.enumerate().filter(|(_, vertices)| surface.is_fixed(vertices[0]));
        let (places, vertices): (Vec<u32>, Vec<[u32; K]>) = fixed.map(|(i, own)| (i as u32, own)).unzip();
        let boxes: Vec<Swept> = vertices.iter().map(|own| about(own, x, x)).collect();
        let tree = Tree::with_leaves_of(&boxes, BATCH);
        let radius = (0..tree.leaf_count())
            .map(|leaf| tree.leaf(leaf).iter().map(|&i| radius_of(surface, &vertices[i as usize])))
            .map(|radii| radii.fold(0.0, f32::max))
            .collect();
        Self { places, vertices, batches: vec![Batch::default(); tree.leaf_count()], radius, tree }
    }

    /// Fits boxes, grown by a `share` of radii, and lays primitives out for a way from `old` to `x` \[m\].
    pub fn refit(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], share: f32) {
        let Self { vertices, tree, batches, .. } = self;
        let vertices: &[[u32; K]] = vertices;
        tree.refit_on(threads, |i| {
            let own = &vertices[i as usize];
            about(own, old, x).grown((share * radius_of(surface, own)).next_up())
        });
        let tree: &Tree = tree;
        threads.each(batches, LEAF_GRAIN, |first, batches| {
            for (leaf, batch) in (first..).zip(batches) {
                batch.take(tree.leaf(leaf).iter().map(|&i| moving(&vertices[i as usize], old, x)));
            }
        });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// Whether one of them may come near what is in this box, which has grown by its own reach.
    pub fn meets_any(&self, about: &Swept) -> bool {
        self.tree.meets_any(about)
    }

    /// Calls `found` with the number of one of the `others` and the index in the surface of each primitive
    /// that may come near it.
    pub fn meet<const J: usize>(
        &self,
        lanes: LaneKind,
        reach: &Reach,
        others: &[Moving<J>],
        mut found: impl FnMut(usize, u32),
    ) {
        self.tree.search_leaves(reach.about, |leaf, bounds| {
            let radius = self.radius[leaf];
            let needed = needed(reach.share * (radius + reach.radius), reach.about, bounds);
            let batches = std::slice::from_ref(&self.batches[leaf]);
            let batched = Batched { batches, needed, about: bounds.grown(needed - reach.share * radius) };
            let own = self.tree.leaf(leaf);
            meet(lanes, batched, others.iter().copied(), |other, k| {
                found(other, self.places[own[k] as usize]);
            });
        });
    }
}

/// How far a patch reaches.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a> {
    /// The patch's box, grown by its own reach.
    pub about: &'a Swept,
    /// The largest radius of its vertices \[m\].
    pub radius: f32,
    /// Share of radii that it is looked for within.
    pub share: f32,
}

/// Vertices, triangles and edges of all obstacles.
#[derive(Debug, Default)]
pub struct Obstacles {
    /// Vertices.
    pub vertices: Leaves<1>,
    /// Triangles.
    pub triangles: Leaves<3>,
    /// Edges.
    pub edges: Leaves<2>,
    /// The share of radii that boxes have grown by, if obstacles did not move in the last query.
    still: Option<f32>,
}

impl Obstacles {
    /// Those of `surface`, whose vertices are at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        Self {
            vertices: Leaves::new(surface, surface.vertices.iter().map(|&v| [v]), x),
            triangles: Leaves::new(surface, surface.triangles.iter().copied(), x),
            edges: Leaves::new(surface, surface.edges.iter().copied(), x),
            still: None,
        }
    }

    /// Fits them to the way from `old` to `x` \[m\], unless they are still where they were at the end of the
    /// last query, `asked`.
    pub fn refit(&mut self, threads: &Threads, surface: &Surface, [asked, old, x]: [&[Quad]; 3], share: f32) {
        if self.triangles.is_empty() {
            return;
        }
        let from = surface.fixed_from as usize;
        let is_still = old[from..] == x[from..];
        let is_same = is_still && asked[from..] == x[from..];
        // Boxes that are too large do no harm.
        let share = self.still.map_or(share, |grown| grown.max(share));
        if !(is_same && self.still == Some(share)) {
            self.vertices.refit(threads, surface, old, x, share);
            self.triangles.refit(threads, surface, old, x, share);
            self.edges.refit(threads, surface, old, x, share);
        }
        self.still = is_still.then_some(share);
    }
}

/// Vertices that move from `old` to `x`.
#[inline(always)]
pub fn about<const N: usize>(vertices: &[u32; N], old: &[Quad], x: &[Quad]) -> Swept {
    vertices.iter().fold(Swept::EMPTY, |part, &v| part.with(&old[v as usize], &x[v as usize]))
}

/// The largest of their radii \[m\].
#[inline(always)]
fn radius_of<const N: usize>(surface: &Surface, vertices: &[u32; N]) -> f32 {
    vertices.iter().fold(0.0f32, |radius, &v| radius.max(surface.radius[v as usize]))
}
