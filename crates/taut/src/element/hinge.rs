//! The bend limit of hinges (W4): how far the angle between two triangles may be from its rest angle.
//!
//! Eq. 5 of the paper makes the limit independent of the mesh: it is given in degrees per centimetre and
//! multiplied by d₁ + d₂, the heights of the two wings over their edge at rest.
//!
//! Sweeps move all four vertices of a hinge along the mass-weighted gradient of its angle (`kernel/bend.rs`),
//! which keeps momentum. The paper moves the wings alone and compensates triangle by triangle.

use super::{Element, LimitLanes, Limited};
use crate::{
    Limit, Projection,
    exec::{
        batch::{lanes_of, weights, xyz},
        colored::Corners,
    },
    kernel::{
        bend::{Allowed, bend_excess, limit_bend},
        lanes::{BATCH, Lanes},
        real::V3,
    },
};

/// Stands for "no limit" on an angle \[rad\]: beyond any that a hinge can have.
pub const NO_ANGLE: f32 = 4.0;

/// Degrees a centimetre in radians a metre.
const RADIANS_A_METRE: f64 = 100.0 * std::f64::consts::PI / 180.0;

/// One hinge with its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BendElement {
    /// Edge, then wings, as in [`dihedral`](crate::kernel::dihedral).
    pub vertices: [u32; 4],
    /// Angle at rest \[rad\].
    pub rest_angle: f32,
    /// Smallest allowed angle \[rad\]; −[`NO_ANGLE`] if there is none.
    pub min: f32,
    /// Largest allowed angle \[rad\]; [`NO_ANGLE`] if there is none.
    pub max: f32,
    /// Heights of the two wings over the edge at rest \[m\].
    pub heights: [f32; 2],
    /// Where the feet of these heights lie along the edge at rest: 0 at its first vertex, 1 at its second.
    pub feet: [f32; 2],
    /// Area of both triangles at rest \[m²\].
    pub area: f32,
    /// Weight of its correction in a Jacobi iteration.
    pub share: f32,
}

impl BendElement {
    /// Its angles as the kernels take them.
    pub fn allowed(&self) -> Allowed<f32> {
        Allowed::new(self.rest_angle, self.min, self.max)
    }
}

/// A hinge as the certificate measures it, in the caller's vertex order.
#[derive(Clone, Copy, Debug)]
pub struct RestBend {
    /// Edge, then wings.
    pub vertices: [u32; 4],
    /// Angle at rest \[rad\].
    pub rest_angle: f64,
    /// Heights of the two wings at rest \[m\].
    pub heights: [f64; 2],
}

/// Smallest and largest angle \[rad\] that Eq. 5 allows a hinge with this angle and these heights \[m\] of
/// its wings at rest; `limit` is in degrees per centimetre. What would lie beyond a half turn is not limited:
/// ±[`NO_ANGLE`].
pub fn allowed_angles(limit: Limit, rest_angle: f64, heights: [f64; 2]) -> [f64; 2] {
    let scale = RADIANS_A_METRE * (heights[0] + heights[1]);
    let side = |bound: Option<f32>, none: f64| {
        let angle = bound.map_or(none, |b| rest_angle + f64::from(b) * scale);
        if angle.abs() < std::f64::consts::PI { angle } else { none }
    };
    [side(limit.min, -f64::from(NO_ANGLE)), side(limit.max, f64::from(NO_ANGLE))]
}

/// How sharply a hinge is bent away from its rest angle \[degrees per centimetre\], from angles \[rad\] and
/// the heights \[m\] of its wings at rest.
pub fn bend_rate(angle: f64, rest_angle: f64, heights: [f64; 2]) -> f64 {
    (angle - rest_angle) / (RADIANS_A_METRE * (heights[0] + heights[1]))
}

/// The angles of the hinges of a batch, as sines and cosines of their halves: at rest, smallest, largest.
pub type AllowedLanes = [[f32; BATCH]; 6];

/// [`Allowed`] of some elements, no limits in lanes that are left.
pub fn allowed_lanes(indices: &[u32], elements: &[BendElement]) -> AllowedLanes {
    let none = Allowed::new(0.0, -NO_ANGLE, NO_ANGLE);
    let all = lanes_of(indices, none, |e| elements[e].allowed());
    let of = |value: fn(&Allowed<f32>) -> f32| std::array::from_fn(|k| value(&all[k]));
    [
        of(|a| a.rest[0]),
        of(|a| a.rest[1]),
        of(|a| a.min[0]),
        of(|a| a.min[1]),
        of(|a| a.max[0]),
        of(|a| a.max[1]),
    ]
}

/// Loads what [`allowed_lanes`] made.
#[inline(always)]
pub fn load_allowed<L: Lanes>(lanes: &AllowedLanes, at: usize) -> Allowed<L> {
    let [a, b, c, d, e, f]: [L; 6] = L::load_all(lanes, at);
    Allowed { rest: [a, b], min: [c, d], max: [e, f] }
}

/// What a batch holds of hinges.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct HingeLimitLanes {
    allowed: AllowedLanes,
    share: [f32; BATCH],
}

/// Writes other limits \[rad\] of one hinge into lane `lane`.
pub fn set_allowed(lanes: &mut AllowedLanes, lane: usize, [min, max]: [f32; 2]) {
    let Allowed { min, max, .. } = Allowed::new(0.0, min, max);
    for (lanes, value) in lanes[2..].iter_mut().zip([min[0], min[1], max[0], max[1]]) {
        lanes[lane] = value;
    }
}

impl HingeLimitLanes {
    /// Gives the hinge in lane `lane` other limits \[rad\].
    pub fn set_angles(&mut self, lane: usize, angles: [f32; 2]) {
        set_allowed(&mut self.allowed, lane, angles);
    }
}

impl Element<4> for BendElement {
    type Lanes = HingeLimitLanes;

    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> HingeLimitLanes {
        HingeLimitLanes {
            allowed: allowed_lanes(numbers, elements),
            share: lanes_of(numbers, 0.0, |e| elements[e].share),
        }
    }
}

/// Residuals of hinges are excesses, as [`bend_excess`] measures them.
impl LimitLanes<4> for HingeLimitLanes {
    #[inline(always)]
    fn share<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.share, at)
    }

    #[inline(always)]
    fn project<L: Lanes, const PAPER: bool>(
        &self,
        at: usize,
        corners: &Corners<L, 4>,
        relaxation: L,
        worst: &mut L,
    ) -> Option<[V3<L>; 4]> {
        let (x, allowed) = (xyz(&corners.quads), load_allowed(&self.allowed, at));
        let excess = bend_excess(&x, &allowed);
        *worst = worst.max(excess);
        if !L::any(L::splat(0.0).lt(excess)) {
            return None;
        }
        Some(limit_bend(&x, weights(&corners.quads), &allowed, relaxation).0)
    }

    #[inline(always)]
    fn residual<L: Lanes>(&self, at: usize, x: &[V3<L>; 4]) -> L {
        bend_excess(x, &load_allowed(&self.allowed, at))
    }
}

impl Limited<4> for BendElement {
    fn project_one(
        &self,
        x: &[V3<f32>; 4],
        w: [f32; 4],
        _projection: Projection,
        relaxation: f32,
    ) -> (f32, Option<[V3<f32>; 4]>) {
        let (moves, excess) = limit_bend(x, w, &self.allowed(), relaxation);
        (excess, Some(moves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eq_5_scales_with_the_heights_of_the_wings() {
        let limit = Limit { min: Some(-30.0), max: Some(10.0) };
        let [low, high] = allowed_angles(limit, 0.0, [0.01, 0.005]);
        assert!((low.to_degrees() + 45.0).abs() < 1e-9 && (high.to_degrees() - 15.0).abs() < 1e-9);
        // Half the heights, half the angle; a curved rest shape moves both.
        let [low, high] = allowed_angles(limit, 0.5, [0.005, 0.0025]);
        assert!((low - 0.5 + 22.5f64.to_radians()).abs() < 1e-9);
        assert!((high - 0.5 - 7.5f64.to_radians()).abs() < 1e-9);
    }

    #[test]
    fn beyond_a_half_turn_there_is_no_limit() {
        let none = f64::from(NO_ANGLE);
        assert_eq!(allowed_angles(Limit { min: Some(-100.0), max: None }, 0.0, [0.01, 0.01]), [-none, none]);
        let limit = Limit { min: Some(-60.0), max: Some(60.0) };
        let [low, high] = allowed_angles(limit, 3.0, [0.01, 0.01]);
        assert!((low - 3.0 + 120.0f64.to_radians()).abs() < 1e-9);
        assert_eq!(high, none);
    }

    #[test]
    fn a_hinge_at_its_limit_is_bent_by_it() {
        let limit = Limit { min: Some(-12.0), max: Some(20.0) };
        for rest in [-0.4, 0.0, 0.7] {
            let heights = [0.01, 0.02];
            let [low, high] = allowed_angles(limit, rest, heights);
            assert!((bend_rate(low, rest, heights) + 12.0).abs() < 1e-9);
            assert!((bend_rate(high, rest, heights) - 20.0).abs() < 1e-9);
        }
    }
}
