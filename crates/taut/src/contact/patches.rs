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
//! of the patch and its neighbours.

mod build;
#[cfg(test)]
mod tests;

use super::{
    surface::Surface,
    tree::{Swept, Tree},
};
use crate::{exec::threads::Threads, kernel::lanes::Quad};

/// A deformation gradient: where the two directions of the pattern lead.
type Gradient = [f32; 6];

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
    /// The patches around it in the pattern and itself, in ascending order.
    near: Vec<u32>,
    /// The patches that the piece around it reaches into, in ascending order.
    reaches: Vec<u32>,
    /// Triangles of the piece that are not of patches near it: of which patch, and which of its triangles.
    extra: Vec<[u32; 2]>,
    /// Whether it has a pattern.
    is_flat: bool,
    /// What λ must be at least, so that nothing in the piece touches; `None` if it is not convex or not flat
    /// at rest.
    needed: Option<f32>,
}

/// Gradients of the triangles of a patch at both ends of a step.
#[derive(Clone, Debug, Default)]
struct Gradients {
    all: Vec<Gradient>,
    mean: Gradient,
    /// Largest distance of one from the mean.
    spread: f32,
}

/// The patches of all surfaces that are not fixed.
#[derive(Debug, Default)]
pub struct Patches {
    /// The patches.
    pub all: Vec<Patch>,
    /// By triangle of the surface: the inverse of its two edges in the pattern \[1/m\].
    rest: Vec<[f32; 4]>,
    gradients: Vec<Gradients>,
    /// By patch: whether nothing can touch within the piece around it.
    safe: Vec<bool>,
    /// The same of the way before.
    safe_before: Vec<bool>,
    /// By patch: its box on the way.
    boxes: Vec<Swept>,
    tree: Tree,
}

impl Patches {
    /// Whether nothing can touch nothing of both patches on the way that was last looked at.
    #[inline(always)]
    pub fn stay_apart(&self, a: u32, b: u32) -> bool {
        let is_safe = self.safe[a as usize] || self.safe[b as usize];
        is_safe && self.all[a as usize].near.binary_search(&b).is_ok()
    }

    /// The box of a patch.
    #[inline(always)]
    pub fn box_of(&self, patch: u32) -> &Swept {
        &self.boxes[patch as usize]
    }

    /// Calls `found` with patches whose boxes patch `patch` may meet.
    #[inline(always)]
    pub fn meet(&self, patch: u32, found: impl FnMut(u32)) {
        self.tree.search(&self.boxes[patch as usize], found);
    }

    /// Looks at the way from `old` to `x` \[m\]. Boxes grow by `share` of the radii of vertices.
    pub fn look(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad], share: f32) {
        let Self { all, tree, boxes, .. } = self;
        let patches: &[Patch] = all;
        threads.each(boxes, PATCH_GRAIN, |first, boxes| {
            for (patch, about) in patches[first..].iter().zip(boxes) {
                let mut radius = 0.0f32;
                let mut way = Swept::EMPTY;
                for &v in &patch.corners {
                    way = way.with(&old[v as usize], &x[v as usize]);
                    radius = radius.max(surface.radius[v as usize]);
                }
                *about = way.grown((share * radius).next_up());
            }
        });
        let boxes: &[Swept] = boxes;
        tree.refit(|patch| boxes[patch as usize]);
        if surface.between_cloth {
            self.prove(threads, surface, old, x);
        }
    }

    /// Whether all patches that were safe on the way that was last looked at are so on the way to `x`.
    pub fn stay_safe(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad]) -> bool {
        self.safe_before.copy_from_slice(&self.safe);
        self.prove(threads, surface, old, x);
        self.safe_before.iter().zip(&self.safe).all(|(before, now)| *now || !*before)
    }

    fn prove(&mut self, threads: &Threads, surface: &Surface, old: &[Quad], x: &[Quad]) {
        let Self { all, rest, gradients, safe, .. } = self;
        let (patches, rest): (&[Patch], &[[f32; 4]]) = (all, rest);
        threads.each(gradients, PATCH_GRAIN, |first, gradients| {
            for (patch, gradients) in patches[first..].iter().zip(gradients) {
                gradients.take(patch, surface, rest, [old, x]);
            }
        });
        let gradients: &[Gradients] = gradients;
        threads.each(safe, PATCH_GRAIN, |first, safe| {
            for (patch, safe) in patches[first..].iter().zip(safe) {
                *safe = patch.needed.is_some_and(|needed| patch.is_safe(gradients, needed));
            }
        });
    }
}

impl Gradients {
    fn take(&mut self, patch: &Patch, surface: &Surface, rest: &[[f32; 4]], ends: [&[Quad]; 2]) {
        self.all.clear();
        for &t in patch.triangles.iter().filter(|_| patch.is_flat) {
            let corners = surface.triangles[t as usize];
            for x in ends {
                self.all.push(gradient(corners.map(|v| &x[v as usize]), &rest[t as usize]));
            }
        }
        let mut mean = [0.0; 6];
        for g in &self.all {
            for k in 0..6 {
                mean[k] += g[k];
            }
        }
        self.mean = mean.map(|sum| sum / self.all.len().max(1) as f32);
        self.spread = self.all.iter().fold(0.0f32, |most, g| most.max(apart(g, &self.mean)));
    }
}

impl Patch {
    /// Whether the gradients of the piece around it are so much alike that λ is at least `needed`.
    fn is_safe(&self, gradients: &[Gradients], needed: f32) -> bool {
        let mut mean = [0.0; 6];
        for &p in &self.near {
            for k in 0..6 {
                mean[k] += gradients[p as usize].mean[k] / self.near.len() as f32;
            }
        }
        let spread = |most: f32, &p: &u32| {
            let Gradients { mean: own, spread, .. } = &gradients[p as usize];
            most.max(apart(own, &mean) + spread)
        };
        // λ of a gradient is at least the smaller stretch of the mean less its distance from that.
        let enough = smaller_stretch(&mean) - self.reaches.iter().fold(0.0, spread);
        if enough >= needed {
            return true;
        }
        let Some(r) = rotation(&mean) else { return false };
        let holds = |g: &Gradient| least_eigenvalue(&r, g) >= needed;
        self.near.iter().all(|&p| gradients[p as usize].all.iter().all(holds))
            && self.extra.iter().all(|&[p, t]| {
                let all = &gradients[p as usize].all;
                holds(&all[2 * t as usize]) && holds(&all[2 * t as usize + 1])
            })
    }
}

fn gradient(x: [&Quad; 3], rest: &[f32; 4]) -> Gradient {
    let mut g = [0.0; 6];
    for k in 0..3 {
        let (a, b) = (x[1][k] - x[0][k], x[2][k] - x[0][k]);
        g[k] = a * rest[0] + b * rest[2];
        g[3 + k] = a * rest[1] + b * rest[3];
    }
    g
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
fn least_eigenvalue(r: &Gradient, g: &Gradient) -> f32 {
    let dot = |i: usize, j: usize| r[i] * g[j] + r[i + 1] * g[j + 1] + r[i + 2] * g[j + 2];
    let (a, d, b) = (dot(0, 0), dot(3, 3), 0.5 * (dot(0, 3) + dot(3, 0)));
    0.5 * (a + d) - (0.25 * (a - d) * (a - d) + b * b).sqrt()
}
