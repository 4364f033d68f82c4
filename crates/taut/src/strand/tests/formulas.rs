//! The gradient against finite differences of the energy.

use super::{
    lone::Lone,
    scene::{RADIUS, helix, setup},
};
use crate::{
    kernel::real::{add, combine, cross, scale, sub},
    strand::frames::{orthogonal, transport, unit},
};

/// A helix that was shaken and turned, with its frames.
fn crumpled(twist: Option<f32>) -> Lone {
    let points = helix(8, 0.004, 0.006, 0.015);
    let radii = [RADIUS; 9];
    let mut setup = setup(&points, &[9], &radii);
    setup.twist = twist;
    let mut lone = Lone::new(&setup, &[]);
    for i in 0..9 {
        let x = lone.x[i];
        let noise = [0, 1, 2].map(|k| 1e-3 * ((i * 7 + k * 3) as f64).sin());
        moved(&mut lone, i, sub(add(x, noise), x));
    }
    for j in 0..8 {
        turned(&mut lone, j, 0.3 * (j as f64 * 2.3).cos());
    }
    lone
}

/// Moves a node, and frames with it.
fn moved(lone: &mut Lone, i: usize, d: [f64; 3]) {
    let tangent = |lone: &Lone, j: usize| unit(sub(lone.x[j + 1], lone.x[j]));
    let n = lone.x.len() - 1;
    let beside = i.saturating_sub(1)..(i + 1).min(n);
    let before: Vec<_> = beside.clone().map(|j| tangent(lone, j)).collect();
    lone.x[i] = add(lone.x[i], d);
    for (j, t0) in beside.zip(before) {
        let t1 = tangent(lone, j);
        lone.frames[j] = orthogonal(transport(lone.frames[j], t0, t1), t1);
    }
}

fn turned(lone: &mut Lone, j: usize, angle: f64) {
    let t = unit(sub(lone.x[j + 1], lone.x[j]));
    let (s, c) = angle.sin_cos();
    lone.frames[j] = combine(lone.frames[j], c, cross(t, lone.frames[j]), s);
}

#[test]
fn the_gradient_is_that_of_the_energy() {
    for twist in [None, Some(1e5)] {
        let mut lone = crumpled(twist);
        assert!(lone.strands.has_frames());
        let (edges, angles) = lone.gradient();
        let (mut worst, mut largest) = (0.0f64, 0.0f64);
        let h = 1e-7;
        for i in 0..9 {
            for k in 0..3 {
                let mut energies = [0.0; 2];
                for (s, energy) in energies.iter_mut().enumerate() {
                    let mut other = crumpled(twist);
                    let mut d = [0.0; 3];
                    d[k] = if s == 0 { h } else { -h };
                    moved(&mut other, i, d);
                    *energy = other.energy();
                }
                let mut exact = if i > 0 { edges[i - 1] } else { [0.0; 3] };
                if i < 8 {
                    exact = combine(exact, 1.0, edges[i], -1.0);
                }
                largest = largest.max(exact[k].abs());
                worst = worst.max((exact[k] - (energies[0] - energies[1]) / (2.0 * h)).abs());
            }
        }
        assert!(worst < 1e-5 * largest, "positions: {worst} of {largest}");
        for j in 0..8 {
            let energies = [1e-6, -1e-6].map(|h| {
                let mut other = crumpled(twist);
                turned(&mut other, j, h);
                other.energy()
            });
            let found = (energies[0] - energies[1]) / 2e-6;
            let size = angles.iter().fold(0.0f64, |a, b| a.max(b.abs()));
            assert!((angles[j] - found).abs() < 1e-5 * size, "angle {j}: {} {found}", angles[j]);
        }
    }
}

#[test]
fn the_rest_shape_has_no_energy_and_no_gradient() {
    let points = helix(20, 0.004, 0.006, 0.015);
    let radii = [RADIUS; 21];
    let mut lone = Lone::new(&setup(&points, &[21], &radii), &[]);
    let before = scale(lone.gradient().0[3], 1.0);
    assert!(lone.energy().abs() < 1e-6, "{}", lone.energy());
    let large = crumpled(None).gradient().0[3];
    let size = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    // What is left lies along segments, where lengths hold it.
    let t = unit(sub(lone.x[4], lone.x[3]));
    let across = size(cross(before, t));
    assert!(across < 1e-4 * size(large), "{across} {}", size(large));
}
