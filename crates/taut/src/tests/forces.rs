//! Forces are the gradients of the textbook energies (W11): finite differences, balance, and rest.

use proptest::prelude::*;
use taut::{
    Material,
    kernel::svd2::{cauchy, deformation_gradient, rest_inverse, svd2},
    velocity::{
        bending::{hinge_energy, hinge_forces, sine_moment},
        fem::{membrane_energy, membrane_forces, moduli, principal_stress},
    },
};

type V = [f64; 3];

/// −∂W/∂x by central differences.
fn slope<const K: usize>(x: [V; K], energy: impl Fn(&[V; K]) -> f64) -> [V; K] {
    let step = 1e-5;
    let mut forces = [[0.0; 3]; K];
    for i in 0..K {
        for k in 0..3 {
            let at = |by: f64| {
                let mut y = x;
                y[i][k] += by;
                energy(&y)
            };
            forces[i][k] = (at(-step) - at(step)) / (2.0 * step);
        }
    }
    forces
}

fn assert_close<const K: usize>(forces: [V; K], expected: [V; K]) -> Result<(), TestCaseError> {
    let size = expected.iter().flatten().fold(1e-3f64, |m, f| m.max(f.abs()));
    for i in 0..K {
        for k in 0..3 {
            let error = (forces[i][k] - expected[i][k]).abs();
            prop_assert!(error < 1e-5 * size, "vertex {i}: {:?} {:?}", forces[i], expected[i]);
        }
    }
    Ok(())
}

/// The energy of St. Venant–Kirchhoff straight from the textbook: A (½ λ tr(E)² + μ E:E), with plane-stress
/// λ.
fn textbook_membrane(x: &[V; 3], r: &[V; 3], young: f64, poisson: f64) -> f64 {
    let m = |p: &[V; 3]| nalgebra::Matrix3x2::from_fn(|i, j| p[j + 1][i] - p[0][i]);
    let flat = m(r).fixed_view::<2, 2>(0, 0).into_owned();
    let Some(inverse) = flat.try_inverse() else { return 0.0 };
    let f = m(x) * inverse;
    let e = (f.transpose() * f - nalgebra::Matrix2::identity()) * 0.5;
    let (lambda, mu) = (young * poisson / (1.0 - poisson * poisson), young / (2.0 * (1.0 + poisson)));
    0.5 * flat.determinant().abs() * (0.5 * lambda * e.trace().powi(2) + mu * e.component_mul(&e).sum())
}

/// Moduli of a sheet of 40 N/m that is the same in all directions.
fn sheet(poisson: f64) -> [f64; 6] {
    let material = Material { stretch: 40.0.into(), poisson: poisson as f32, ..Material::default() };
    moduli(&material, [1.0, 0.0])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn membrane_forces_are_the_slope_of_the_textbook_energy(
        x in prop::array::uniform3(prop::array::uniform3(-1.0f64..1.0)),
        (a, b, c) in (0.5f64..1.5, -0.5f64..1.0, 0.5f64..1.5),
        poisson in -0.3f64..0.6,
    ) {
        let poisson = f64::from(poisson as f32);
        let r = [[0.0; 3], [a, 0.0, 0.0], [b, c, 0.0]];
        let (rest, area) = rest_inverse(r).unwrap();
        let m = sheet(poisson).map(|m| m * area);
        let textbook = |x: &[V; 3]| textbook_membrane(x, &r, 40.0, poisson);
        prop_assert!((membrane_energy(&x, rest, m) - textbook(&x)).abs() < 1e-9 * (1.0 + textbook(&x)));
        assert_close(membrane_forces(&x, None, rest, m, 1e9), slope(x, textbook))?;
    }

    #[test]
    fn principal_stresses_are_the_slope_of_the_energy_by_greens_strain(
        (a, b, c) in (0.5f64..1.5, -0.5f64..1.0, 0.5f64..1.5),
        x in prop::array::uniform3(prop::array::uniform3(-1.0f64..1.0)),
        poisson in -0.3f64..0.6,
    ) {
        // Of a triangle stretched along two axes, energy per area by ½ (s² − 1) is the stress.
        let (rest, area) = rest_inverse([[0.0; 3], [a, 0.0, 0.0], [b, c, 0.0]]).unwrap();
        let f = deformation_gradient(&x, rest);
        let s = svd2(&f, &cauchy(&f)).s;
        let energy = |s: [f64; 2]| {
            let stretched = [[0.0; 3], [a * s[0], 0.0, 0.0], [b * s[0], c * s[1], 0.0]];
            membrane_energy(&stretched, rest, sheet(poisson))
        };
        let strain = s.map(|s| 0.5 * (s * s - 1.0));
        let at = |k: usize, by: f64| {
            let mut e = strain;
            e[k] += by;
            energy(e.map(|e| (1.0 + 2.0 * e).max(0.0).sqrt()))
        };
        prop_assume!(s[1] > 0.05);
        let stress = principal_stress(&x, rest, sheet(poisson));
        // The larger strain has the larger stress.
        for k in 0..2 {
            let slope = (at(k, 1e-4) - at(k, -1e-4)) / 2e-4;
            prop_assert!((stress[k] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{stress:?} {slope}");
        }
        // And of any triangle, turned however.
        let whole = membrane_energy(&x, rest, sheet(poisson).map(|m| m * area));
        let halves = 0.5 * area * (stress[0] * strain[0] + stress[1] * strain[1]);
        prop_assert!((whole - halves).abs() < 1e-9 * (1.0 + whole));
    }

    #[test]
    fn beyond_the_cap_stress_points_the_same_way_and_stays_bounded(
        x in prop::array::uniform3(prop::array::uniform3(-9.0f64..9.0)),
    ) {
        let (rest, area) = rest_inverse([[0.0; 3], [1.0, 0.0, 0.0], [0.2, 1.0, 0.0]]).unwrap();
        let m = sheet(0.3).map(|m| m * area);
        let (free, capped) = (membrane_forces(&x, None, rest, m, 1e9), membrane_forces(&x, None, rest, m, 0.2));
        let size = |f: &[V; 3]| f.iter().flatten().map(|v| v * v).sum::<f64>().sqrt();
        let dot: f64 = free.iter().flatten().zip(capped.iter().flatten()).map(|(a, b)| a * b).sum();
        prop_assert!((dot - size(&free) * size(&capped)).abs() <= 1e-9 * (1.0 + size(&free) * size(&capped)));
        prop_assert!(size(&capped) <= size(&free) * (1.0 + 1e-12));
    }

    #[test]
    fn hinge_forces_are_the_slope_of_the_energy_and_turn_nothing(
        x in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0)),
        rest_sin_half in -0.8f64..0.8,
    ) {
        let d = taut::kernel::dihedral::dihedral(&x);
        prop_assume!(d.heights[0] > 0.1 && d.heights[1] > 0.1 && d.cos_half > 0.05);
        let edge: f64 = (0..3).map(|k| (x[1][k] - x[0][k]).powi(2)).sum();
        prop_assume!(edge > 0.04);
        let forces = hinge_forces(&x, |d| sine_moment(d, 3.0, rest_sin_half), [1e-6, 1e-6]);
        assert_close(forces, slope(x, |x| hinge_energy(x, 3.0, rest_sin_half)))?;
        for k in 0..3 {
            let (p, q) = ((k + 1) % 3, (k + 2) % 3);
            let force: f64 = forces.iter().map(|f| f[k]).sum();
            let torque: f64 = (0..4).map(|i| x[i][p] * forces[i][q] - x[i][q] * forces[i][p]).sum();
            prop_assert!(force.abs() < 1e-9 && torque.abs() < 1e-8, "{force} {torque}");
        }
    }
}

#[test]
fn small_bends_cost_half_k_c_theta_squared() {
    for theta in [1e-3f64, 0.05, -0.05] {
        let x = [[0.0; 3], [0.0, 1.0, 0.0], [-0.8, 0.4, 0.0], [0.7 * theta.cos(), 0.3, -0.7 * theta.sin()]];
        let energy = hinge_energy(&x, 3.0, 0.0);
        assert!((energy / (0.5 * 3.0 * theta * theta) - 1.0).abs() < 1e-3, "{theta} {energy}");
    }
}
