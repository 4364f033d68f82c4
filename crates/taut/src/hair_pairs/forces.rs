//! Forces between strands that touch.
//!
//! A pair of segments whose nearest points are l apart has, with h the thickness, the energy ½k(h − l)² for
//! l < h, Coulomb friction against sliding since the start of the step, and, wet, a pull between h and
//! [`PULL`] h. k is [`PairLaw::stiffness`] times the smallest mass of the four nodes over `c_dt2`: a multiple
//! of what inertia has, so that how deep strands sink in does not depend on the step.
//!
//! Strands are solved one by one while the others stay, but all of them at once. Each side of a contact would
//! then correct all of it, and nodes of one segment each would too. So the matrix of a node is not its block
//! of the Hessian k wᵢ² nnᵀ, but k |wᵢ| Σ|wⱼ| nnᵀ with the weights w of the nearest points, Σ|wⱼ| = 2: that
//! bounds the whole Hessian from above (Cauchy–Schwarz), so all strands may move at once and the energy of
//! pairs with these normals does not increase. The price: two strands in contact hold each other where they
//! are, along the normal, until an update. Hence start from a guess in which strands have moved already.
//!
//! The part of the Hessian that is not along the normal is negative (it lets segments slide off each other)
//! and left out; friction has its own, with a stiffness that stays as it is until the next update.

#[cfg(test)]
use glam::Vec3;

use super::{
    NONE, Partners,
    segment::{Closest, Ends, closest, touching},
};
use crate::kernel::{
    lanes::{BATCH, Lanes, Quad, Work},
    real::{Real, V3, add, cross, dot, perpendicular, scale, select3, sub},
};

/// Slip below which friction grows with it \[m\].
const STICK: f32 = 1e-4;

/// Distance up to which wet strands pull each other, in thicknesses.
pub(crate) const PULL: f32 = 1.5;

/// Distance up to which they do with all their force, in thicknesses.
const FULL_PULL: f32 = 1.25;

/// How strands act on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairLaw {
    /// Distance that the axes of strands keep \[m\].
    pub thickness: f32,
    /// Coulomb friction coefficient.
    pub friction: f32,
    /// Force between strands that touch, over their length \[N/m\].
    pub cohesion: f32,
    /// Stiffness of contact, in masses of a node over `c_dt2`.
    pub stiffness: f32,
}

impl PairLaw {
    /// What tests take for [`PairLaw::stiffness`].
    #[cfg(test)]
    pub(crate) const STIFFNESS: f32 = 1000.0;

    /// Distance from which on segments act on each other \[m\].
    pub(crate) fn reach(&self) -> f32 {
        if self.cohesion > 0.0 { PULL * self.thickness } else { self.thickness }
    }
}

/// Where nodes are and how heavy: the solver minimises ½ m |x − x₀|² + `c_dt2` E.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairState<'a> {
    /// Positions \[m\]; the fourth component is not used.
    pub x: &'a [Quad],
    /// Positions at the start of the step \[m\].
    pub old: &'a [Quad],
    /// Masses \[kg\]; 0 or infinite for held nodes.
    pub mass: &'a [f32],
    /// Square of the time step, times the factors of the integrator \[s²\].
    pub c_dt2: f32,
}

/// What the contacts of a node add to the system of its strand, times `c_dt2`: the gradient at x is
/// H (x − x_ref) + b, with x_ref the position at which it was computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NodeBlock {
    /// H: xx, xy, yy, xz, yz, zz \[kg\].
    pub h: [f32; 6],
    /// b \[kg m\].
    pub b: [f32; 3],
}

/// What pairs of segments do, times `c_dt2`.
#[derive(Clone, Copy, Debug)]
struct Force<R: Real> {
    /// Whether they do anything; if not, the rest may be anything.
    acts: R::Mask,
    /// Unit vector from the second segment to the first.
    normal: V3<R>,
    /// Gradient of the energy by the point of the first segment \[kg m\].
    gradient: V3<R>,
    /// Stiffness along the normal \[kg\].
    stiff: R,
    /// Stiffness across it \[kg\].
    tangent: R,
    /// Where the points are: 0 at the start of a segment, 1 at its end.
    at: [R; 2],
    /// Overlap \[m\], negative for a gap.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests take the energy from it"))]
    depth: R,
}

/// Two segments: where they are, where they were at the start of the step, and the smallest mass of their
/// nodes that are not held \[kg\], infinite if all are.
#[derive(Clone, Copy, Debug)]
struct Pair<R> {
    now: [Ends<R>; 2],
    old: [Ends<R>; 2],
    mass: R,
}

/// Some unit vector across the segments, for those that meet in a point.
#[inline(always)]
fn across<R: Real>(u: V3<R>, v: V3<R>, old: V3<R>) -> V3<R> {
    let (zero, one, least) = (R::splat(0.0), R::splat(1.0), R::splat(1e-36));
    let (both, uu) = (cross(u, v), dot(u, u));
    let squared = dot(both, both);
    let along = select3::<R>(least.lt(uu), scale(u, one / uu.max(least).sqrt()), [one, zero, zero]);
    let across =
        select3::<R>(least.lt(squared), scale(both, one / squared.max(least).sqrt()), perpendicular(along));
    select3::<R>(dot(across, old).lt(zero), scale(across, -one), across)
}

/// What pairs of segments do to each other. The first must be the one with the lower index: both sides then
/// get the same numbers.
#[inline(always)]
fn force<R: Real>(law: &PairLaw, c_dt2: f32, pair: Pair<R>) -> Force<R> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let Closest { at, apart } = closest(pair.now[0], pair.now[1]);
    let [s, t] = at;
    let (thickness, squared) = (R::splat(law.thickness), dot(apart, apart));
    let reach = law.reach();
    let is_near = squared.lt(R::splat(reach * reach)) & pair.mass.le(R::splat(f32::MAX));
    let [first, second] = pair.old;
    let (u, v) = (first.along(), second.along());
    let old = sub(add(first.start, scale(u, s)), add(second.start, scale(v, t)));
    let distance = squared.sqrt();
    let is_distinct = R::splat(1e-3 * law.thickness).lt(distance);
    let mut normal = scale(apart, one / distance.max(R::splat(f32::MIN_POSITIVE)));
    if R::any(is_near & !is_distinct) {
        let some = across(pair.now[0].along(), pair.now[1].along(), old);
        normal = select3::<R>(is_distinct, normal, some);
    }
    // Between the ends of both, the normal is across both, and the sign along it says on which side the
    // strands are: if not where they were at the start of the step, they have passed each other.
    let is_between = zero.lt(s) & s.lt(one) & zero.lt(t) & t.lt(one);
    let has_passed = is_distinct & is_between & dot(normal, old).lt(zero);
    let side = R::select(has_passed, -one, one);
    let (normal, length) = (scale(normal, side), distance * side);
    let stiffness = R::splat(law.stiffness) * pair.mass;
    let depth = thickness - length;
    let pull = if law.cohesion > 0.0 { pull(law, c_dt2, pair.now, length) } else { zero };
    // As far as a spring would that brings them into touch, however strong the pull is.
    let gap = (-depth).max(R::splat(f32::MIN_POSITIVE));
    let back = pull.min(stiffness * gap);
    let is_pressed = zero.lt(depth);
    let push = R::select(is_pressed, stiffness * depth, -back);
    let stiff = R::select(is_pressed, stiffness, back / gap);
    let moved = sub(apart, old);
    let slip = sub(moved, scale(normal, dot(moved, normal)));
    let load = push.max(zero) + pull;
    let slid = dot(slip, slip).sqrt().max(R::splat(STICK));
    let tangent = (R::splat(law.friction) * load / slid).min(stiffness);
    let gradient = sub(scale(slip, tangent), scale(normal, push));
    let largest = R::splat(f32::MAX);
    let is_finite =
        gradient[0].abs().le(largest) & gradient[1].abs().le(largest) & gradient[2].abs().le(largest);
    Force { acts: is_near & is_finite, normal, gradient, stiff, tangent, at, depth }
}

/// Largest pull of wet segments at this distance \[m\], times `c_dt2` \[kg m\].
#[inline(always)]
fn pull<R: Real>(law: &PairLaw, c_dt2: f32, [a, b]: [Ends<R>; 2], distance: R) -> R {
    let part = (R::splat(PULL) - distance / R::splat(law.thickness)) / R::splat(PULL - FULL_PULL);
    let most = R::splat(law.cohesion * c_dt2) * touching(a, b, R::splat(law.thickness));
    most * part.clamp(R::splat(0.0), R::splat(1.0))
}

/// Smallest mass of the nodes of a segment that are not held \[kg\], infinite if both are.
#[inline(always)]
pub(super) fn smallest(a: f32, b: f32) -> f32 {
    let a = if a > 0.0 { a } else { f32::INFINITY };
    if b > 0.0 && b < a { b } else { a }
}

/// Numbers of a [`NodeBlock`].
const NUMBERS: usize = 9;

/// What pairs do to the nodes of the segments that start at the nodes of a piece, and at the one before.
pub(super) struct Evaluation<'a> {
    pub law: &'a PairLaw,
    pub c_dt2: f32,
    /// Positions \[m\], and in the fourth component the smallest mass of the segment that starts there.
    pub x: &'a [Quad],
    pub old: &'a [Quad],
    pub partners: &'a [Partners],
    /// The first node of the piece, and the blocks of all of its nodes.
    pub first: usize,
    pub blocks: &'a mut [NodeBlock],
}

impl Work for Evaluation<'_> {
    type Output = ();

    /// Neighbouring segments side by side, each with its nearest partner, then with the next: sums then need
    /// no order but that of the partners, whatever the lanes.
    #[inline(always)]
    fn run<L: Lanes>(self) {
        self.blocks.fill(NodeBlock::default());
        let (first, end) = (self.first, self.first + self.blocks.len());
        // The segment that ends at the first node is evaluated here too, for that end.
        for base in (first.saturating_sub(1)..end).step_by(BATCH) {
            let count = BATCH.min(end - base);
            let mut sums = [[[0.0f32; BATCH]; NUMBERS]; 2];
            if !self.sides::<L>(base, count, &mut sums) {
                continue;
            }
            for lane in 0..count {
                let v = base + lane;
                if self.partners[v][0] == NONE {
                    continue;
                }
                for (node, sums) in [v, v + 1].into_iter().zip(&sums) {
                    if (first..end).contains(&node) {
                        let block = &mut self.blocks[node - first];
                        for k in 0..6 {
                            block.h[k] += sums[k][lane];
                        }
                        for k in 0..3 {
                            block.b[k] += sums[6 + k][lane];
                        }
                    }
                }
            }
        }
    }
}

impl Evaluation<'_> {
    /// Sums up what the segments from `base` on get from their partners, at their starts and at their ends.
    /// Says whether any has one.
    #[inline(always)]
    fn sides<L: Lanes>(&self, base: usize, count: usize, sums: &mut [[[f32; BATCH]; NUMBERS]; 2]) -> bool {
        let last = self.x.len() as u32 - 1;
        let (mut starts, mut ends) = ([0u32; BATCH], [0u32; BATCH]);
        for lane in 0..BATCH {
            starts[lane] = (base as u32 + lane as u32).min(last);
            ends[lane] = (starts[lane] + 1).min(last);
        }
        let mut has_any = false;
        for at in (0..BATCH).step_by(L::WIDTH) {
            let (own, own_mass) = self.ends::<L>(self.x, &starts, &ends, at);
            let (own_old, _) = self.ends::<L>(self.old, &starts, &ends, at);
            let mut sum = [[L::splat(0.0); NUMBERS]; 2];
            for rank in 0..super::MAX_PARTNERS {
                let (mut other_starts, mut other_ends) = (starts, ends);
                let (mut is_there, mut is_first) = ([0.0f32; BATCH], [0.0f32; BATCH]);
                let mut left = 0;
                for lane in at..(at + L::WIDTH).min(count) {
                    let other = self.partners[base + lane][rank];
                    if other != NONE {
                        (other_starts[lane], other_ends[lane]) = (other, other + 1);
                        is_there[lane] = 1.0;
                        is_first[lane] = if starts[lane] < other { 1.0 } else { 0.0 };
                        left += 1;
                    }
                }
                if left == 0 {
                    break;
                }
                has_any = true;
                let (other, other_mass) = self.ends::<L>(self.x, &other_starts, &other_ends, at);
                let (other_old, _) = self.ends::<L>(self.old, &other_starts, &other_ends, at);
                let zero = L::splat(0.0);
                let is_there = zero.lt(L::load(&is_there, at));
                let is_first = zero.lt(L::load(&is_first, at));
                let pair = Pair {
                    now: in_order::<L>(is_first, own, other),
                    old: in_order::<L>(is_first, own_old, other_old),
                    mass: own_mass.min(other_mass),
                };
                let force = force(self.law, self.c_dt2, pair);
                let acts = is_there & force.acts;
                let (one, [s, t]) = (L::splat(1.0), force.at);
                let start = L::select(is_first, one - s, t - one);
                let end = L::select(is_first, s, -t);
                add_weighted::<L>(acts, &force, start, &mut sum[0]);
                add_weighted::<L>(acts, &force, end, &mut sum[1]);
            }
            for side in 0..2 {
                for k in 0..NUMBERS {
                    sum[side][k].store(&mut sums[side][k], at);
                }
            }
        }
        has_any
    }

    /// Segments, and the fourth component of their starts.
    #[inline(always)]
    fn ends<L: Lanes>(
        &self,
        x: &[Quad],
        starts: &[u32; BATCH],
        ends: &[u32; BATCH],
        at: usize,
    ) -> (Ends<L>, L) {
        let [x0, y0, z0, w] = L::fetch(x, starts, at);
        let [x1, y1, z1, _] = L::fetch(x, ends, at);
        (Ends { start: [x0, y0, z0], end: [x1, y1, z1] }, w)
    }
}

/// Two segments, the one with the lower index first.
#[inline(always)]
fn in_order<R: Real>(is_first: R::Mask, own: Ends<R>, other: Ends<R>) -> [Ends<R>; 2] {
    let first = Ends {
        start: select3::<R>(is_first, own.start, other.start),
        end: select3::<R>(is_first, own.end, other.end),
    };
    let second = Ends {
        start: select3::<R>(is_first, other.start, own.start),
        end: select3::<R>(is_first, other.end, own.end),
    };
    [first, second]
}

/// Adds what a pair does to a node with weight `w`, which is negative on the second segment.
#[inline(always)]
fn add_weighted<R: Real>(acts: R::Mask, force: &Force<R>, w: R, sum: &mut [R; NUMBERS]) {
    let (zero, n) = (R::splat(0.0), force.normal);
    // Σ|w| of both sides is 2.
    let bound = R::splat(2.0) * w.abs();
    let diagonal = R::select(acts, bound * force.tangent, zero);
    let rank = R::select(acts, bound * (force.stiff - force.tangent), zero);
    let n = select3::<R>(acts, n, [zero; 3]);
    let m = scale(n, rank);
    sum[0] = sum[0] + (m[0] * n[0] + diagonal);
    sum[1] = sum[1] + m[0] * n[1];
    sum[2] = sum[2] + (m[1] * n[1] + diagonal);
    sum[3] = sum[3] + m[0] * n[2];
    sum[4] = sum[4] + m[1] * n[2];
    sum[5] = sum[5] + (m[2] * n[2] + diagonal);
    for c in 0..3 {
        sum[6 + c] = sum[6 + c] + R::select(acts, force.gradient[c] * w, zero);
    }
}

/// What one pair does, for tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    /// Gradient of the energy by the point of the first segment \[kg m\].
    pub gradient: Vec3,
    /// Weights of the nodes: start and end of the first, start and end of the second; positive and negative.
    pub weights: [f32; 4],
    /// Energy of the overlap, without friction and cohesion \[kg m²\].
    pub energy: f32,
}

/// What the segments after the nodes `a` < `b` do to each other, if anything.
#[cfg(test)]
pub(super) fn respond(law: &PairLaw, state: &PairState<'_>, a: usize, b: usize) -> Option<Response> {
    let ends = |x: &[Quad]| [a, b].map(|v| Ends::<f32>::splat([x[v], x[v + 1]]));
    let mass = [a, b].map(|v| smallest(state.mass[v], state.mass[v + 1]));
    let pair = Pair { now: ends(state.x), old: ends(state.old), mass: mass[0].min(mass[1]) };
    let force = force(law, state.c_dt2, pair);
    let ([s, t], depth) = (force.at, force.depth.max(0.0));
    let energy = 0.5 * law.stiffness * pair.mass * depth * depth;
    let weights = [1.0 - s, s, t - 1.0, -t];
    force.acts.then(|| Response { gradient: Vec3::from_array(force.gradient), weights, energy })
}
