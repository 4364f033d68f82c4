//! The signed dihedral angle of a hinge and its gradients.
//!
//! A hinge is an edge x₀x₁ with a wing vertex on either side: x₂ on the left triangle (x₀, x₁, x₂), x₃ on the
//! right one (x₁, x₀, x₃). The bend θ is 0 when flat, positive when the surface folds towards the side that
//! its normals point away from (the edge is a ridge), and lies in (−π, π]; the paper's θ is π plus or minus
//! this. Gradients as in Bridson 2003.

use super::real::{Real, V3, combine, cross, dot, scale, sub};

/// Half the bend and its gradients.
#[derive(Clone, Copy)]
pub struct Dihedral<R> {
    /// sin(θ/2), with the sign of θ.
    pub sin_half: R,
    /// cos(θ/2), never negative.
    pub cos_half: R,
    /// ∂θ/∂xᵢ \[1/m\].
    pub gradient: [V3<R>; 4],
    /// Heights of the two wings over the edge \[m\].
    pub heights: [R; 2],
}

/// Bend and gradients of a hinge; finite for collapsed wings, whose gradient is then capped.
#[inline(always)]
pub fn dihedral<R: Real>(x: &[V3<R>; 4]) -> Dihedral<R> {
    let (zero, one, half, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(0.5), R::splat(1e-30));
    let edge = sub(x[1], x[0]);
    let length = dot(edge, edge).sqrt().max(tiny);
    let axis = scale(edge, one / length);
    let (arm2, arm3) = (sub(x[2], x[0]), sub(x[3], x[0]));
    // Normals scaled to the wings' heights: twice the area over the length of the edge.
    let n1 = cross(axis, arm2);
    let n2 = cross(arm3, axis);
    let (square1, square2) = (dot(n1, n1), dot(n2, n2));
    let (h1, h2) = (square1.sqrt(), square2.sqrt());
    let scale_by = one / (h1 * h2).max(tiny);
    let cosine = (dot(n1, n2) * scale_by).clamp(-one, one);
    let sine = dot(cross(n1, n2), axis) * scale_by;
    // Of the two half-angle formulas, the one that does not cancel: the other half follows from sin θ = 2 sin
    // cos.
    let larger = ((one + cosine.abs()) * half).sqrt();
    let smaller = sine.abs() * half / larger;
    let obtuse = cosine.lt(zero);
    let sin_half = R::select(obtuse, larger, smaller);
    let cos_half = R::select(obtuse, smaller, larger);

    let (g1, g2) = (scale(n1, -(one / square1.max(tiny))), scale(n2, -(one / square2.max(tiny))));
    // Where the foot of each wing vertex lies along the edge, 0 at x₀ and 1 at x₁.
    let (t1, t2) = (dot(arm2, axis) / length, dot(arm3, axis) / length);
    Dihedral {
        sin_half: R::select(sine.lt(zero), -sin_half, sin_half),
        cos_half,
        gradient: [combine(g1, t1 - one, g2, t2 - one), combine(g1, -t1, g2, -t2), g1, g2],
        heights: [h1, h2],
    }
}

/// The bend θ \[rad\].
pub fn dihedral_angle(x: &[V3<f64>; 4]) -> f64 {
    let d = dihedral(x);
    2.0 * d.sin_half.atan2(d.cos_half)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hinge(theta: f64) -> [V3<f64>; 4] {
        // The edge along y; the left wing towards −x stays, the right wing turns down by theta.
        [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.8, 0.4, 0.0], [0.7 * theta.cos(), 0.3, -0.7 * theta.sin()]]
    }

    #[test]
    fn angle_of_a_hinge_folded_by_hand() {
        for theta in [-3.0, -1.0, -1e-4, 0.0, 1e-4, 0.5, 1.5, 3.0f64] {
            let found = dihedral_angle(&hinge(theta));
            assert!((found - theta).abs() < 1e-9, "{theta} {found}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn gradient_matches_finite_differences(x in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0))) {
            let d = dihedral(&x);
            prop_assume!(d.heights[0] > 0.05 && d.heights[1] > 0.05 && d.cos_half > 0.05);
            prop_assume!(dot(sub(x[1], x[0]), sub(x[1], x[0])) > 0.01);
            let step = 1e-6;
            for i in 0..4 {
                for k in 0..3 {
                    let shifted = |by: f64| { let mut y = x; y[i][k] += by; dihedral_angle(&y) };
                    let slope = (shifted(step) - shifted(-step)) / (2.0 * step);
                    prop_assert!((slope - d.gradient[i][k]).abs() < 1e-4 * (1.0 + slope.abs()), "{slope} {:?}", d.gradient[i]);
                }
            }
        }

        #[test]
        fn finite_for_collapsed_hinges(x in prop::array::uniform4(prop::array::uniform3(-1.0f32..1.0)), which in 0..4usize, with in 0..4usize) {
            let mut x = x;
            x[which] = x[with];
            let d = dihedral(&x);
            prop_assert!(d.sin_half.is_finite() && d.cos_half.is_finite());
        }
    }
}
