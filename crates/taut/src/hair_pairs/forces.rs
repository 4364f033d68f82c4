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

use glam::Vec3;

use super::{
    grid::point,
    segment::{nearest, touching_length},
};
use crate::kernel::lanes::Quad;

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

impl NodeBlock {
    /// Adds the side of `pair` on which a node has weight `w`, which is negative on the second segment.
    #[inline(always)]
    fn add(&mut self, pair: &Response, w: f32) {
        let n = pair.normal;
        // Σ|w| of both sides is 2.
        let bound = 2.0 * w.abs();
        let (diagonal, rank) = (bound * pair.tangent, bound * (pair.stiff - pair.tangent));
        for (entry, (a, b)) in [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)].into_iter().enumerate() {
            self.h[entry] += rank * n[a] * n[b] + if a == b { diagonal } else { 0.0 };
        }
        for c in 0..3 {
            self.b[c] += w * pair.gradient[c];
        }
    }
}

/// What a pair of segments does, times `c_dt2`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    /// Unit vector from the second segment to the first.
    normal: Vec3,
    /// Gradient of the energy by the point of the first segment \[kg m\].
    pub gradient: Vec3,
    /// Stiffness along the normal \[kg\].
    stiff: f32,
    /// Stiffness across it \[kg\].
    tangent: f32,
    /// Weights of the nodes: start and end of the first, start and end of the second; positive and negative.
    pub weights: [f32; 4],
    /// Energy of the overlap, without friction and cohesion \[kg m²\].
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with the gradient"))]
    pub energy: f32,
}

/// Smallest mass of the nodes that are not held \[kg\].
fn smallest(masses: [f32; 4]) -> Option<f32> {
    let free = masses.into_iter().filter(|m| *m > 0.0 && m.is_finite());
    free.reduce(f32::min)
}

/// Some unit vector across the segments, for those that meet in a point.
fn across(u: Vec3, v: Vec3, old: Vec3) -> Vec3 {
    let both = u.cross(v).normalize_or_zero();
    let both = if both == Vec3::ZERO { u.normalize_or(Vec3::X).any_orthonormal_vector() } else { both };
    if both.dot(old) < 0.0 { -both } else { both }
}

/// What the segments after the nodes `a` < `b` do to each other, if anything. Always called in this order:
/// both sides get the same numbers.
#[inline(always)]
pub(super) fn respond(law: &PairLaw, state: &PairState<'_>, a: usize, b: usize) -> Option<Response> {
    let x = [a, b].map(|v| [point(&state.x[v]), point(&state.x[v + 1])]);
    let found = nearest(x[0], x[1]);
    let (thickness, squared) = (law.thickness, found.apart.length_squared());
    let reach = law.reach();
    if squared.is_nan() || squared >= reach * reach {
        return None;
    }
    let mass = smallest([state.mass[a], state.mass[a + 1], state.mass[b], state.mass[b + 1]])?;
    let [s, t] = found.at;
    let weights = [1.0 - s, s, t - 1.0, -t];
    let old = [a, a + 1, b, b + 1].map(|v| point(&state.old[v]));
    let old = (0..4).fold(Vec3::ZERO, |sum, k| sum + old[k] * weights[k]);
    let distance = squared.sqrt();
    let is_distinct = distance > 1e-3 * thickness;
    let (u, v) = (x[0][1] - x[0][0], x[1][1] - x[1][0]);
    let mut normal = if is_distinct { found.apart / distance } else { across(u, v, old) };
    let mut length = distance;
    // Between the ends of both, the normal is across both, and the sign along it says on which side the
    // strands are: if not where they were at the start of the step, they have passed each other.
    if is_distinct && [s, t].iter().all(|p| 0.0 < *p && *p < 1.0) && normal.dot(old) < 0.0 {
        (normal, length) = (-normal, -distance);
    }
    let stiffness = law.stiffness * mass;
    let depth = thickness - length;
    let pull = pull(law, state.c_dt2, x, length);
    let (push, stiff) = if depth > 0.0 {
        (stiffness * depth, stiffness)
    } else {
        // As far as a spring would that brings them into touch, however strong the pull is.
        let force = pull.min(stiffness * -depth);
        (-force, if force > 0.0 { force / -depth } else { 0.0 })
    };
    let moved = found.apart - old;
    let slip = moved - normal * moved.dot(normal);
    let load = push.max(0.0) + pull;
    let tangent = (law.friction * load / slip.length().max(STICK)).min(stiffness);
    let gradient = slip * tangent - normal * push;
    let energy = 0.5 * stiffness * depth.max(0.0) * depth.max(0.0);
    let response = Response { normal, gradient, stiff, tangent, weights, energy };
    gradient.is_finite().then_some(response)
}

/// Largest pull of wet segments at this distance \[m\], times `c_dt2` \[kg m\].
#[inline(always)]
fn pull(law: &PairLaw, c_dt2: f32, x: [[Vec3; 2]; 2], distance: f32) -> f32 {
    if law.cohesion <= 0.0 {
        return 0.0;
    }
    let part = (PULL - distance / law.thickness) / (PULL - FULL_PULL);
    law.cohesion * c_dt2 * touching_length(x[0], x[1], law.thickness) * part.clamp(0.0, 1.0)
}

/// Adds what the segment after node `v` gets from its partner to the blocks of its start and of its end.
#[inline(always)]
pub(super) fn add_side(
    law: &PairLaw,
    state: &PairState<'_>,
    [v, partner]: [usize; 2],
    [start, end]: [&mut NodeBlock; 2],
) {
    if let Some(response) = respond(law, state, v.min(partner), v.max(partner)) {
        let side = if v < partner { 0 } else { 2 };
        start.add(&response, response.weights[side]);
        end.add(&response, response.weights[side + 1]);
    }
}
