//! The nearest state to (almost) any accuracy: what the filter's result is measured against.
//!
//! The same splitting in double precision with one stiffness, iterated until the conditions of a minimum
//! hold: every element within its limits, what it asks for equal to what it has, and M (x − x₀) balanced by
//! what active limits and stresses pull. The linear solve is the filter's own cycle, as a correction: single
//! precision is enough for that. Lower limits make the set of feasible states nonconvex; what is found then
//! is the minimum that this iteration leads to from the prediction. Tetrahedra are in [`solid`].

mod solid;

use super::{filter::Filter, tuning::RAMP};
use crate::{
    exec::threads::Threads,
    kernel::{
        clamp::clamp_stretches,
        lanes::{BATCH, Quad},
        membrane::{Woven, relax_woven},
        real::{V3, add, combine, cross, scale},
        strain::{Range, strain_residual},
        svd2::deformation_gradient,
        weave::{Limits, WeaveRange},
    },
    term::strain::local::NearestBatch,
};
use solid::Tetrahedra;

/// Factor of the ramp that it iterates with: stiffer ones find limits sooner and the balance later.
const STAGE: usize = 1;

/// The same where there are tetrahedra: with softer ones limits are never met, in a circle of states.
const STAGE_TETRAHEDRA: usize = RAMP.len() - 1;

/// Most iterations.
const MOST: u32 = 1500;

/// The same where there are tetrahedra.
const MOST_TETRAHEDRA: u32 = 5000;

/// Largest residual past a limit (strain) with which it ends.
const RESIDUAL: f64 = 1e-5;

/// Largest part of the forces that may be out of balance.
const IMBALANCE: f64 = 1e-3;

/// Largest difference (strain, root of the mean square) between what tetrahedra ask for and what they have.
const GAP: f64 = 1e-6;

/// The nearest state, and how well it is one.
#[derive(Clone, Debug)]
pub struct Nearest {
    /// Positions of the body's vertices \[m\].
    pub x: Vec<[f64; 3]>,
    /// Largest residual past a limit (strain).
    pub residual: f64,
    /// Forces that are not balanced, over M (x − x₀).
    pub imbalance: f64,
    /// What tetrahedra ask for less what they have (strain, root of the mean square): 0 where their stress
    /// is that of their strain.
    pub gap: f64,
    /// Iterations that it took.
    pub iterations: u32,
}

impl Nearest {
    /// Whether it is good enough to measure against, where there are tetrahedra. Impacts on limits may have
    /// no state that the iteration settles in.
    pub fn is_settled(&self) -> bool {
        self.residual < 1e-3 && self.imbalance < 0.01 && self.gap < 1e-4
    }
}

/// What a step looks for.
#[derive(Clone, Copy, Debug)]
pub struct Aim<'a> {
    /// Where bodies would go without limits and stiffness \[m\].
    pub goal: &'a [[f64; 3]],
    /// Where the step began \[m\].
    pub old: &'a [Quad],
    /// Factor on the mass of each vertex; empty: 1.
    pub inertia: &'a [f32],
    /// Factor on stiffness.
    pub stiffening: f32,
}

#[cfg(test)]
impl<'a> Aim<'a> {
    /// The nearest state to `goal`, with the masses and the stiffness of the tables.
    pub fn at(goal: &'a [[f64; 3]]) -> Self {
        Self { goal, old: &[], inertia: &[], stiffening: 1.0 }
    }
}

/// Sums at vertices of what elements pull.
struct Sums {
    /// What the iteration goes by.
    forces: Vec<[f64; 3]>,
    /// What balances M (x − x₀) in the end.
    balance: Vec<[f64; 3]>,
}

impl Filter {
    /// The state within the limits of elements (obstacles do not count) that is nearest to the goal of `aim`
    /// in the mass metric, or, where stiffness is part of the solve, the one of least inertia and energy.
    pub fn nearest(&self, threads: &Threads, aim: Aim) -> Nearest {
        let Aim { goal, old, inertia, stiffening } = aim;
        let stiffening = f64::from(stiffening);
        let mut tetrahedra = self.tetrahedra.as_ref().map(|own| Tetrahedra::new(own, goal.len(), stiffening));
        let stage = if tetrahedra.is_some() { STAGE_TETRAHEDRA } else { STAGE };
        let kappa = f64::from(self.stiffness[stage]);
        let mut cycle = self.multigrid.scratch();
        self.multigrid.choose(&mut cycle, stage, |_| 0.0);
        let mut duals = vec![[[0.0f64; 3]; 2]; self.strain.count];
        let mut found = Nearest { x: goal.to_vec(), residual: 0.0, imbalance: 0.0, gap: 0.0, iterations: 0 };
        let mut correction: Vec<Quad> = vec![[0.0; 4]; goal.len()];
        let zeros = || vec![[0.0f64; 3]; goal.len()];
        let mut sums = Sums { forces: zeros(), balance: zeros() };
        let most = if tetrahedra.is_some() { MOST_TETRAHEDRA } else { MOST };
        while found.iterations < most {
            sums.forces.fill([0.0; 3]);
            sums.balance.fill([0.0; 3]);
            found.residual = self.add_triangles(&found.x, &mut duals, [kappa, stiffening], &mut sums);
            if let Some(tetrahedra) = &mut tetrahedra {
                let [residual, gap] = tetrahedra.add(&found.x, kappa, &mut sums);
                (found.residual, found.gap) = (found.residual.max(residual), gap);
            }
            self.add_curvature(&found.x, old, stiffening, &mut sums);
            let (mut off, mut all) = (0.0, 0.0);
            for (i, r) in cycle.residual().iter_mut().enumerate() {
                let mass = f64::from(self.masses[i]) * f64::from(*inertia.get(i).unwrap_or(&1.0));
                *r = [0.0; 4];
                if mass > 0.0 {
                    for k in 0..3 {
                        let way = mass * (goal[i][k] - found.x[i][k]);
                        r[k] = ((way + sums.forces[i][k]) / stiffening.max(1.0)) as f32;
                        off += (way + sums.balance[i][k]).powi(2) / mass;
                        all += way.powi(2) / mass;
                    }
                }
            }
            found.imbalance = (off / all.max(1e-30)).sqrt();
            if found.iterations > 20
                && found.residual < RESIDUAL
                && found.imbalance < IMBALANCE
                && found.gap < GAP
            {
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

    /// Adds what triangles pull, with their new duals. Gives the largest residual past a limit.
    fn add_triangles(
        &self,
        x: &[[f64; 3]],
        duals: &mut [[V3<f64>; 2]],
        [kappa, stiffening]: [f64; 2],
        sums: &mut Sums,
    ) -> f64 {
        let mut worst = 0.0f64;
        let lanes = self.strain.batches.iter().flat_map(|batch| (0..BATCH).map(move |lane| (batch, lane)));
        for (t, ((batch, lane), u)) in lanes.zip(duals).enumerate() {
            let (vertices, (rest, area, range)) = (batch.vertices(lane), batch.triangle(lane));
            let x = vertices.map(|v| x[v]);
            let f = deformation_gradient(&x, rest);
            let f = [add(f[0], u[0]), add(f[1], u[1])];
            let law = self.strain.law_of(t as u32).map(|law| law.scaled(stiffening));
            let (residual, moved) = match self.strain.weave_of(t as u32).map(WeaveRange::doubled) {
                None => (strain_residual(&x, rest, range), asked(&f, range, law, kappa)),
                Some(weave) => (strain_residual(&x, rest, weave), asked(&f, weave, law, kappa)),
            };
            worst = worst.max(residual);
            let both = [0, 1].map(|k| add(scale(moved[k], 2.0), u[k]));
            pull(&mut sums.forces, vertices, rest, both, kappa * area);
            pull(&mut sums.balance, vertices, rest, moved, kappa * area);
            *u = moved.map(|m| scale(m, -1.0));
        }
        worst
    }

    /// Adds what flat cloth that bends in the solve pulls.
    fn add_curvature(&self, x: &[[f64; 3]], old: &[Quad], stiffening: f64, sums: &mut Sums) {
        let Some(curvature) = &self.curvature else { return };
        let single: Vec<Quad> = x.iter().map(|x| [x[0] as f32, x[1] as f32, x[2] as f32, 0.0]).collect();
        for i in 0..x.len() {
            let [a, b, c, _] = curvature.pull(i, &single, old).map(f64::from);
            let pull = scale([a, b, c], stiffening);
            sums.forces[i] = add(sums.forces[i], pull);
            sums.balance[i] = add(sums.balance[i], pull);
        }
    }
}

/// p − f, where p is what a triangle of gradient `f` asks for.
fn asked<M: Limits<f64>>(f: &[V3<f64>; 2], limits: M, law: Option<Woven<f64>>, kappa: f64) -> [V3<f64>; 2] {
    match law {
        Some(law) => relax_woven(f, limits, (&law.at(kappa), law.axis), cross(f[0], f[1])),
        None => clamp_stretches(f, limits).unwrap_or([[0.0; 3]; 2]),
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
