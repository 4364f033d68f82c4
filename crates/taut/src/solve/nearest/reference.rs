//! The nearest state to (almost) any accuracy: what the filter's result is measured against.
//!
//! The same splitting in double precision with one stiffness, iterated until the conditions of a minimum
//! hold: every triangle within its limits, and M (x − x₀) balanced by what the active limits pull. The linear
//! solve is the filter's own cycle, as a correction: single precision is enough for that. Lower limits make
//! the set of feasible states nonconvex; what is found then is the minimum that this iteration leads to from
//! the prediction.

use super::filter::Filter;
use crate::{
    exec::threads::Threads,
    kernel::{
        clamp::clamp_stretches,
        lanes::{BATCH, Quad},
        real::{add, combine, scale},
        strain::{Range, strain_residual},
        svd2::deformation_gradient,
        weave::WeaveRange,
    },
    term::strain::local::NearestBatch,
};

/// Factor of the ramp that it iterates with: stiffer ones find limits sooner and the balance later.
const STAGE: usize = 1;

/// Most iterations.
const MOST: u32 = 1500;

/// The nearest state, and how well it is one.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// Positions of the body's vertices \[m\].
    pub x: Vec<[f64; 3]>,
    /// Largest residual past a limit (strain).
    pub residual: f64,
    /// Forces that are not balanced, over M (x − x₀).
    pub imbalance: f64,
    /// Iterations that it took.
    pub iterations: u32,
}

impl Filter {
    /// The state within the limits of triangles (obstacles do not count) that is nearest to `goal` in the
    /// mass metric.
    pub fn nearest(&self, threads: &Threads, goal: &[[f64; 3]]) -> Nearest {
        let kappa = f64::from(self.stiffness[STAGE]);
        let mut cycle = self.multigrid.scratch();
        self.multigrid.choose(&mut cycle, STAGE, |_| 0.0);
        let mut duals = vec![[[0.0f64; 3]; 2]; self.strain.count];
        let mut found = Nearest { x: goal.to_vec(), residual: 0.0, imbalance: 0.0, iterations: 0 };
        let mut correction: Vec<Quad> = vec![[0.0; 4]; goal.len()];
        let mut forces = vec![[0.0f64; 3]; goal.len()];
        let mut balance = vec![[0.0f64; 3]; goal.len()];
        while found.iterations < MOST {
            forces.fill([0.0; 3]);
            balance.fill([0.0; 3]);
            found.residual = 0.0;
            let lanes =
                self.strain.batches.iter().flat_map(|batch| (0..BATCH).map(move |lane| (batch, lane)));
            for (t, ((batch, lane), u)) in lanes.zip(&mut duals).enumerate() {
                let (vertices, (rest, area, range)) = (batch.vertices(lane), batch.triangle(lane));
                let x = vertices.map(|v| found.x[v]);
                let f = deformation_gradient(&x, rest);
                let f = [add(f[0], u[0]), add(f[1], u[1])];
                let (residual, moved) = match self.strain.weave_of(t as u32).map(WeaveRange::doubled) {
                    None => (strain_residual(&x, rest, range), clamp_stretches(&f, range)),
                    Some(weave) => (strain_residual(&x, rest, weave), clamp_stretches(&f, weave)),
                };
                found.residual = found.residual.max(residual);
                let moved = moved.unwrap_or([[0.0; 3]; 2]);
                let both = [0, 1].map(|k| add(scale(moved[k], 2.0), u[k]));
                pull(&mut forces, vertices, rest, both, kappa * area);
                pull(&mut balance, vertices, rest, moved, kappa * area);
                *u = moved.map(|m| scale(m, -1.0));
            }
            let (mut off, mut all) = (0.0, 0.0);
            for (i, r) in cycle.residual().iter_mut().enumerate() {
                let mass = f64::from(self.masses[i]);
                *r = [0.0; 4];
                if mass > 0.0 {
                    for k in 0..3 {
                        let inertia = mass * (goal[i][k] - found.x[i][k]);
                        r[k] = (inertia + forces[i][k]) as f32;
                        off += (inertia + balance[i][k]).powi(2) / mass;
                        all += inertia.powi(2) / mass;
                    }
                }
            }
            found.imbalance = (off / all.max(1e-30)).sqrt();
            if found.iterations > 20 && found.residual < 1e-5 && found.imbalance < 1e-3 {
                break;
            }
            correction.fill([0.0; 4]);
            self.multigrid.cycle(threads, &mut cycle, &mut correction);
            for (x, c) in found.x.iter_mut().zip(&correction) {
                *x = add(*x, [c[0], c[1], c[2]].map(f64::from));
            }
            found.iterations += 1;
        }
        found
    }
}

impl NearestBatch {
    /// Inverse rest matrix, area and limits of one lane, in double precision.
    fn triangle(&self, lane: usize) -> ([f64; 3], f64, Range<f64>) {
        (
            self.rest.map(|r| f64::from(r[lane])),
            f64::from(self.area[lane]),
            Range { min: f64::from(self.min[lane]), max: f64::from(self.max[lane]) },
        )
    }
}

/// Adds what a gradient times `weight` pulls at the three corners.
fn pull(sums: &mut [[f64; 3]], vertices: [usize; 3], rest: [f64; 3], gradient: [[f64; 3]; 2], weight: f64) {
    let second = scale(combine(gradient[0], rest[0], gradient[1], rest[1]), weight);
    let third = scale(gradient[1], rest[2] * weight);
    let first = scale(add(second, third), -1.0);
    for (v, p) in vertices.into_iter().zip([first, second, third]) {
        sums[v] = add(sums[v], p);
    }
}
