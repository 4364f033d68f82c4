//! The bend limit of hinges (W4): how far the angle between two triangles may be from its rest angle.
//!
//! Eq. 5 of the paper makes the limit independent of the mesh: it is given in degrees a centimetre and multiplied by d₁ + d₂, the
//! heights of the two wings over their edge at rest.

use crate::Limit;

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
}

/// Smallest and largest angle \[rad\] that Eq. 5 allows a hinge with this angle and these heights \[m\] of its wings at rest;
/// `limit` is in degrees a centimetre. What would lie beyond a half turn is not limited: ±[`NO_ANGLE`].
pub fn allowed_angles(limit: Limit, rest_angle: f64, heights: [f64; 2]) -> [f64; 2] {
    let scale = RADIANS_A_METRE * (heights[0] + heights[1]);
    let side = |bound: Option<f32>, none: f64| {
        let angle = bound.map_or(none, |b| rest_angle + f64::from(b) * scale);
        if angle.abs() < std::f64::consts::PI { angle } else { none }
    };
    [side(limit.min, -f64::from(NO_ANGLE)), side(limit.max, f64::from(NO_ANGLE))]
}

/// How sharply a hinge is bent away from its rest angle \[degrees a centimetre\], from angles \[rad\] and the heights \[m\] of its
/// wings at rest.
pub fn bend_rate(angle: f64, rest_angle: f64, heights: [f64; 2]) -> f64 {
    (angle - rest_angle) / (RADIANS_A_METRE * (heights[0] + heights[1]))
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
