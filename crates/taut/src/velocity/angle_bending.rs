//! The second paper's bending energy (T2; its Eq. 3): W = k_B (θ − θ̄)² |ē| of each hinge, θ̄ its angle and ē
//! its edge at rest.
//!
//! The paper prints ‖θ̄‖ as the last factor, which is 0 for flat cloth: the length of the edge is meant, as
//! in its Eq. 2 and in Grinspun 2003, from which it takes the energy. The paper leaves k_B to the user. As
//! for [springs](super::spring), each hinge has the value that gives the sheet the stiffness of its
//! material, whatever the size of its triangles: 2 k_B |ē| = k |ē|² / (A₁ + A₂), with k the flexural
//! rigidity and A the areas beside the edge. So small bends cost as much as with
//! [Bridson's form](super::bending), and folds more: π²/8 times as much when they are closed. Steps that
//! cannot carry that soften bending, as [`update`](super::update) says.

use crate::kernel::{
    dihedral::{Dihedral, dihedral},
    real::{Real, V3},
};

/// The angle of a hinge \[rad\], to single precision.
#[inline(always)]
pub fn angle<R: Real>(d: &Dihedral<R>) -> R {
    let (zero, two, tiny) = (R::splat(0.0), R::splat(2.0), R::splat(1e-30));
    let (sine, cosine) = (d.sin_half.abs(), d.cos_half);
    // The arc tangent of at most 1, of that of at most tan(π/8), by a polynomial (Cephes).
    let (less, more) = (sine.min(cosine), sine.max(cosine));
    let steep = (more * R::splat(0.414_213_56)).lt(less);
    let ratio = R::select(steep, (less - more) / (less + more).max(tiny), less / more.max(tiny));
    let z = ratio * ratio;
    let series = R::splat(8.053_744_5e-2) * z - R::splat(1.387_768_6e-1);
    let series = (series * z + R::splat(1.997_771_1e-1)) * z - R::splat(3.333_295e-1);
    let turn = R::select(steep, R::splat(std::f32::consts::FRAC_PI_4), zero);
    let half = series * z * ratio + ratio + turn;
    let half = R::select(cosine.lt(sine), R::splat(std::f32::consts::FRAC_PI_2) - half, half);
    let theta = two * half;
    R::select(d.sin_half.lt(zero), -theta, theta)
}

/// Energy of a hinge \[J\]; `stiffness` is 2 k_B |ē| \[N m\], `rest` the angle at rest \[rad\].
pub fn angle_energy(x: &[V3<f64>; 4], stiffness: f64, rest: f64) -> f64 {
    let d = dihedral(x);
    let bent = 2.0 * d.sin_half.atan2(d.cos_half) - rest;
    0.5 * stiffness * bent * bent
}

/// Moment of a hinge \[N m\]: −∂W/∂θ.
#[inline(always)]
pub fn angle_moment<R: Real>(d: &Dihedral<R>, stiffness: R, rest: R) -> R {
    -(stiffness * (angle(d) - rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::velocity::bending::hinge_forces;

    /// An edge along y; the right wing is turned down by `theta`.
    fn hinge(theta: f64) -> [V3<f64>; 4] {
        [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.8, 0.4, 0.0], [0.7 * theta.cos(), 0.3, -0.7 * theta.sin()]]
    }

    #[test]
    fn angles_are_those_of_the_arc_tangent() {
        for k in -314..=314 {
            let theta = f64::from(k) / 100.0;
            let found = angle(&dihedral(&hinge(theta)));
            assert!((found - theta).abs() < 5e-7, "{theta}: {found}");
            let single = hinge(theta).map(|p| p.map(|c| c as f32));
            assert!(
                (f64::from(angle(&dihedral(&single))) - theta).abs() < 3e-6,
                "{theta} in single precision"
            );
        }
    }

    #[test]
    fn a_hinge_at_rest_has_no_force_however_it_is_bent() {
        for rest in [-2.5, -0.4, 0.0, 0.1, 1.3, 3.0f64] {
            let x = hinge(rest).map(|p| p.map(|c| c as f32));
            let forces = hinge_forces(&x, |d| angle_moment(d, 3.0, rest as f32), [1e-6; 2]);
            assert!(forces.iter().flatten().all(|f| f.abs() < 3e-5), "{rest}: {forces:?}");
        }
    }

    proptest! {
        #[test]
        fn forces_are_the_slope_of_the_energy_and_keep_momentum(
            x in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0)),
            rest in -2.0f64..2.0,
        ) {
            let d = dihedral(&x);
            prop_assume!(d.heights[0] > 0.1 && d.heights[1] > 0.1 && d.cos_half > 0.05);
            prop_assume!((0..3).map(|k| (x[1][k] - x[0][k]).powi(2)).sum::<f64>() > 0.04);
            let forces = hinge_forces(&x, |d| angle_moment(d, 3.0, rest), [1e-6; 2]);
            for i in 0..4 {
                for k in 0..3 {
                    let at = |step: f64| {
                        let mut moved = x;
                        moved[i][k] += step;
                        angle_energy(&moved, 3.0, rest)
                    };
                    let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                    prop_assert!((forces[i][k] + slope).abs() < 1e-4 * (1.0 + slope.abs()), "{i} {k}");
                }
            }
            for k in 0..3 {
                let (p, q) = ((k + 1) % 3, (k + 2) % 3);
                let force: f64 = forces.iter().map(|f| f[k]).sum();
                let torque: f64 = (0..4).map(|i| x[i][p] * forces[i][q] - x[i][q] * forces[i][p]).sum();
                prop_assert!(force.abs() < 1e-8 && torque.abs() < 1e-8, "{force} {torque}");
            }
        }
    }
}
