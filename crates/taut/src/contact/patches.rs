//! Patches: pieces of surfaces, about two edges across, that are searched as a whole.
//!
//! Nearly all primitives that are near each other in cloth are neighbours in its mesh. In cloth that is flat
//! at rest most of them can be left out at once. Let u be a place in the pattern, F = dx/du the gradient of
//! a triangle and R a rotation. On a convex piece of the pattern, where λ is the least eigenvalue of the
//! symmetric part of Rᵀ F over all triangles,
//!
//! ```text
//! |x(p) − x(q)| ≥ (p − q)ᵀ Rᵀ (x(p) − x(q)) / |p − q| ≥ λ |p − q|
//! ```
//!
//! so that two parts of the piece are at least λ times as far from each other as in the pattern. λ is
//! concave in F, and vertices move in straight lines: if it is large enough at both ends of a step, it is on
//! the way. What this proves of the piece around a patch ([`build`] says which pieces are convex) is proven
//! of the patch and its neighbours; where that is too much to ask, of blocks of two by two patches, which
//! bend less.
//!
//! Surfaces that are curved at rest have no pattern, but every piece of them that is not too curved has one
//! of its own: what it looks like from above ([`charts`]). All of this holds for u in that plane, too, with F
//! the gradient of a triangle over it ([`curved`]).

mod area;
mod build;
mod charts;
mod curved;
mod gradients;
#[cfg(test)]
mod tests;

use self::{
    curved::{Chart, Frames, Shells},
    gradients::{Gradient, GradientBatch, Gradients, Spread, Triangles},
};
use super::{
    surface::Surface,
    tree::{Swept, Tree},
};
use crate::{
    exec::threads::Threads,
    kernel::{
        lanes::{BATCH, LaneKind, Lanes, Quad, Work, run},
        real::Real,
    },
};

/// Patches below which a loop is not shared between threads.
const PATCH_GRAIN: usize = 16;

/// A piece of a surface.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// Its triangles, of the surface.
    pub triangles: Vec<u32>,
    /// Its edges, of the surface: each belongs to one of the patches that it borders on.
    pub edges: Vec<u32>,
    /// Its vertices, by their places in the surface: likewise.
    pub vertices: Vec<u32>,
    /// All vertices of its triangles.
    corners: Vec<u32>,
    /// The blocks of patches that it is part of, or [`NONE`].
    blocks: [u32; 8],
    /// Whether it has a pattern.
    is_flat: bool,
}

/// A part of the pattern, around some patches.
#[derive(Clone, Debug, Default)]
struct Piece {
    /// These patches, in ascending order.
    near: Vec<u32>,
    /// The patches that it reaches into, in ascending order.
    reaches: Vec<u32>,
    /// Triangles of it that are not of patches near it: of which patch, which of its batches of 16, and which
    /// of these, as bits.
    extra: Vec<[u32; 3]>,
    /// What λ must be at least, so that nothing in it touches, and so that nothing collides; `None` if it is
    /// not convex or not flat at rest.
    needed: Option<[f32; 2]>,
    /// What it looks like from above, if its panel has no pattern.
    chart: Option<Chart>,
}

/// What is to be proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing touches: no two parts come as near as contact looks.
    NothingTouches,
    /// Nothing collides: none come as near as the guard lets them.
    NothingCollides,
}

/// No block.
const NONE: u32 = u32::MAX;
const NO_BLOCKS: [u32; 8] = [NONE; 8];

/// The patches of all surfaces that are not fixed.
#[derive(Debug, Default)]
pub struct Patches {
    /// The patches.
    pub all: Vec<Patch>,
    /// Triangles that have a pattern, and their gradients at both ends of the way that was last looked at.
    triangles: Triangles,
    gradients: [Gradients; 2],
    /// The same of triangles that have none.
    shells: Shells,
    frames: [Frames; 2],
    /// Where vertices are at these ends \[m\].
    seen: [Vec<Quad>; 2],
    /// By patch: the piece around it and the patches around it. Then blocks: pieces around two by two
    /// patches, in which gradients are more alike.
    pieces: Vec<Piece>,
    /// By piece: whether nothing can touch within it. Blocks whose patches are all safe count as such.
    safe: Vec<bool>,
    /// The same of the way that was last looked at.
    proven: Vec<bool>,
    /// By patch: its box on the way.
    boxes: Vec<Swept>,
    /// By patch: the largest radius of its vertices \[m\].
    radius: Vec<f32>,
    tree: Tree,
}

impl Patches {
    /// Whether nothing can touch nothing of both patches on the way that was last looked at.
    #[inline(always)]
    pub fn stay_apart(&self, a: u32, b: u32) -> bool {
        let is_near = |a: u32, b: u32| self.pieces[a as usize].near.binary_search(&b).is_ok();
        if self.safe[a as usize] && is_near(a, b) || self.safe[b as usize] && is_near(b, a) {
            return true;
        }
        let others = &self.all[b as usize].blocks;
        let own = self.all[a as usize].blocks.iter();
        let mut safe = own.filter(|&&block| block != NONE && self.safe[block as usize]);
        safe.any(|block| others.contains(block))
    }

    /// The box of a patch.
    #[inline(always)]
    pub fn box_of(&self, patch: u32) -> &Swept {
        &self.boxes[patch as usize]
    }

    /// The largest radius of the vertices of a patch \[m\].
    #[inline(always)]
    pub fn radius_of(&self, patch: u32) -> f32 {
        self.radius[patch as usize]
    }

    /// Calls `found` with patches whose boxes patch `patch` may meet.
    #[inline(always)]
    pub fn meet(&self, patch: u32, found: impl FnMut(u32)) {
        self.tree.search(&self.boxes[patch as usize], found);
    }

    /// Looks at the way from `old` to `x` \[m\], and which pieces `claim` holds for. Boxes grow by `share` of
    /// the radii of vertices.
    pub fn look(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        old: &[Quad],
        x: &[Quad],
        (share, claim): (f32, Claim),
    ) {
        self.fit(threads, old, x, share);
        if surface.between_cloth {
            self.prove(threads, surface, old, x, claim);
            self.proven.copy_from_slice(&self.safe);
        }
    }

    /// Fits the boxes to the way from `old` to `x` \[m\]; they grow by `share` of the radii of vertices.
    pub fn fit(&mut self, threads: &Threads, old: &[Quad], x: &[Quad], share: f32) {
        let Self { all, tree, boxes, radius, .. } = self;
        let (patches, radius): (&[Patch], &[f32]) = (all, radius);
        threads.each(boxes, PATCH_GRAIN, |first, boxes| {
            for ((patch, radius), about) in patches[first..].iter().zip(&radius[first..]).zip(boxes) {
                let mut way = Swept::EMPTY;
                for &v in &patch.corners {
                    way = way.with(&old[v as usize], &x[v as usize]);
                }
                *about = way.grown((share * radius).next_up());
            }
        });
        let boxes: &[Swept] = boxes;
        tree.refit(|patch| boxes[patch as usize]);
    }

    /// Whether nothing was said to touch in a piece or block around this patch when it was last
    /// [looked](Patches::look) at, and that has not been proven now.
    pub fn has_lost_proof(&self, patch: u32) -> bool {
        let is_lost = |piece: u32| self.proven[piece as usize] && !self.safe[piece as usize];
        let blocks = self.all[patch as usize].blocks;
        is_lost(patch) || blocks.iter().any(|&block| block != NONE && is_lost(block))
    }

    /// All vertices of its triangles.
    pub fn corners(&self, patch: u32) -> &[u32] {
        &self.all[patch as usize].corners
    }

    /// Proves for which pieces `claim` holds on the way from `old` to `x` \[m\].
    pub fn prove(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], claim: Claim) {
        let cloth = (surface.fixed_from as usize).min(x.len());
        let ends = [&old[..cloth], &x[..cloth]];
        // A way often begins where the last one did, or where that ended.
        if self.seen[0] != ends[0] && self.seen[1] == ends[0] {
            self.seen.swap(0, 1);
            self.gradients.swap(0, 1);
            self.frames.swap(0, 1);
        }
        for (end, now) in ends.into_iter().enumerate() {
            if self.seen[end] == now {
                continue;
            }
            self.seen[end].clear();
            self.seen[end].extend_from_slice(now);
            self.gradients[end].take(threads, &self.triangles, now);
            self.frames[end].take(threads, &self.shells, now);
        }
        let Self { all, pieces, triangles, gradients, shells, frames, safe, .. } = self;
        let gradients = Known { triangles, ends: gradients, shells, frames };
        let pieces: &[Piece] = pieces;
        let lanes = LaneKind::detect();
        let (around, blocks) = safe.split_at_mut(all.len());
        let (of_patches, of_blocks) = pieces.split_at(all.len());
        threads.each(around, PATCH_GRAIN, |first, safe| {
            run(lanes, Proof { pieces: &of_patches[first..], gradients, claim, known: &[], safe });
        });
        let known: &[bool] = around;
        threads.each(blocks, PATCH_GRAIN, |first, safe| {
            run(lanes, Proof { pieces: &of_blocks[first..], gradients, claim, known, safe });
        });
    }
}

/// Gradients at both ends of a way.
#[derive(Clone, Copy)]
struct Known<'a> {
    triangles: &'a Triangles,
    ends: &'a [Gradients; 2],
    shells: &'a Shells,
    frames: &'a [Frames; 2],
}

/// Proves that pieces are safe, in lanes.
struct Proof<'a> {
    pieces: &'a [Piece],
    gradients: Known<'a>,
    claim: Claim,
    /// By patch: whether the piece around it is safe, if that is known.
    known: &'a [bool],
    /// Of these pieces.
    safe: &'a mut [bool],
}

impl Work for Proof<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (piece, safe) in self.pieces.iter().zip(self.safe) {
            let is_known = piece.near.iter().all(|&p| self.known.get(p as usize).is_some_and(|safe| *safe));
            // No closure: what is in one is not compiled for the lanes.
            *safe = match (piece.needed, &piece.chart) {
                _ if is_known => true,
                (None, _) => false,
                (Some(needed), None) => piece.is_safe::<L>(self.gradients, needed[self.claim as usize]),
                (Some(needed), Some(chart)) => {
                    let Known { shells, frames, .. } = self.gradients;
                    chart.is_safe::<L>(piece, (shells, frames), needed[self.claim as usize])
                }
            };
        }
    }
}

impl Piece {
    /// Whether its gradients are so much alike that λ is at least `needed`.
    #[inline(always)]
    fn is_safe<L: Lanes>(&self, gradients: Known, needed: f32) -> bool {
        let Known { triangles, ends, .. } = gradients;
        let of = |&patch: &u32| ends.iter().map(move |end| &end.spread[patch as usize]);
        let mut mean = [0.0; 6];
        for own in self.near.iter().flat_map(of) {
            for k in 0..6 {
                mean[k] += own.mean[k] / (2 * self.near.len()) as f32;
            }
        }
        let spread = |most: f32, own: &Spread| most.max(apart(&own.mean, &mean) + own.largest);
        // λ of a gradient is at least the smaller stretch of the mean less its distance from that.
        let enough = smaller_stretch(&mean) - self.reaches.iter().flat_map(of).fold(0.0, spread);
        if enough >= needed {
            return true;
        }
        let Some(r) = rotation(&mean) else { return false };
        // Loops, not iterators: what takes a closure is not compiled for the lanes.
        let mut lanes = [L::splat(0.0); 6];
        for k in 0..6 {
            lanes[k] = L::splat(r[k]);
        }
        for end in ends {
            for &p in &self.near {
                for batch in &end.all[triangles.of(p)] {
                    if fall_short::<L>(&lanes, batch, needed) != 0 {
                        return false;
                    }
                }
            }
            for &[p, batch, own] in &self.extra {
                let batch = &end.all[triangles.of(p).start + batch as usize];
                if fall_short::<L>(&lanes, batch, needed) & own != 0 {
                    return false;
                }
            }
        }
        true
    }
}

/// Which gradients of a batch have a λ of less than `needed`, as bits.
#[inline(always)]
fn fall_short<L: Lanes>(r: &[L; 6], batch: &GradientBatch, needed: f32) -> u32 {
    let mut short = 0;
    for at in (0..BATCH).step_by(L::WIDTH) {
        let least = least_eigenvalue(r, &L::load_all(batch, at));
        short |= L::bits(!L::splat(needed).le(least)) << at;
    }
    short
}

/// The distance of two gradients, which is at least that of their stretches.
fn apart(a: &Gradient, b: &Gradient) -> f32 {
    let mut sum = 0.0;
    for k in 0..6 {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
    sum.sqrt()
}

/// Entries of FᵀF: first, second, mixed.
fn squares(g: &Gradient) -> [f32; 3] {
    let dot = |i: usize, j: usize| g[i] * g[j] + g[i + 1] * g[j + 1] + g[i + 2] * g[j + 2];
    [dot(0, 0), dot(3, 3), dot(0, 3)]
}

/// The smaller principal stretch of a gradient.
fn smaller_stretch(g: &Gradient) -> f32 {
    let [a, c, b] = squares(g);
    let half = (0.25 * (a - c) * (a - c) + b * b).sqrt();
    (0.5 * (a + c) - half).max(0.0).sqrt()
}

/// The rotation nearest to a gradient; `None` where it is crushed.
fn rotation(g: &Gradient) -> Option<Gradient> {
    let [a, d, b] = squares(g);
    let area = (a * d - b * b).max(0.0).sqrt();
    if area < 0.2 {
        return None;
    }
    let trace = (a + d + 2.0 * area).sqrt();
    let [first, mixed, second] = [d + area, -b, a + area].map(|m| m / (area * trace));
    Some(std::array::from_fn(|k| {
        if k < 3 { g[k] * first + g[k + 3] * mixed } else { g[k - 3] * mixed + g[k] * second }
    }))
}

/// The least eigenvalue of the symmetric part of Rᵀ F.
#[inline(always)]
fn least_eigenvalue<R: Real>(r: &[R; 6], g: &[R; 6]) -> R {
    let half = R::splat(0.5);
    let (a, d) = (product(r, 0, g, 0), product(r, 3, g, 3));
    let b = half * (product(r, 0, g, 3) + product(r, 3, g, 0));
    let off = half * (a - d);
    half * (a + d) - (off * off + b * b).sqrt()
}

#[inline(always)]
fn product<R: Real>(r: &[R; 6], i: usize, g: &[R; 6], j: usize) -> R {
    r[i] * g[j] + r[i + 1] * g[j + 1] + r[i + 2] * g[j + 2]
}
