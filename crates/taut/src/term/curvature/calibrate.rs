//! Fits the forms of triangles to bending of constant curvature.
//!
//! A sheet of constant curvature H has the angle θₑ(H) at hinge e (K applied to a quadratic), and across the
//! edge it carries the moment lₑ nₑ·(D : H)·nₑ. So the patch test asks of the forms C of the two triangles at
//! every hinge
//!
//! ```text
//! Σ (C θ(H))ₑ = lₑ nₑ·(D : H)·nₑ   for every H,
//! ```
//!
//! which is that a sheet under constant moments is in equilibrium as it is. The tensor form meets it on grids
//! whose diagonals are parallel. On others it does not: since a triangle's own angles are not those of H, it
//! is too stiff, by 8 % on Delaunay meshes and by 17 % across a grid at 30°.
//!
//! Here C = R Rᵀ is multiplied step by step, R ← R (1 + X/2), which keeps it from ever becoming negative,
//! with X along the gradient of the squared residual (each hinge's scaled by what its own rows could do about
//! it), and momentum. Only neighbours are needed, so a step is two passes, over triangles and over hinges.
//!
//! * At a free border only those H count that have no moment there: others cannot be constant.
//! * On alternating diagonals the condition cannot be met: cells of one diagonal are too stiff in twist along
//!   the grid and all that is left is to soften everything. So the residual of that twist counts less
//!   ([`TWIST`]), and the number of steps is fixed: more of them do not improve what is feasible and make
//!   softer what is not. The axes of the grid are found from the edges around a hinge, by the direction of Σ
//!   e^{4iφ}; on irregular meshes they are arbitrary, which only costs some convergence.
//! * Tried and left: solving for the least change of C by conjugate gradients, which takes dot products over
//!   the mesh and has no better result; curvatures fitted to six points, which are too soft (25 % on
//!   alternating diagonals).
//!
//! The steps are in single precision, with lanes, in units of the mean edge and the largest rigidity: a
//! million triangles take about a second of one core.
//!
//! Tensors are triples ((xx + yy)/√2, (xx − yy)/√2, √2 xy), an orthonormal basis in which turning the axes by
//! φ turns the last two components by 2φ. Each triangle has its own axes, along its first edge, and each
//! hinge its own, along its edge, so that pieces may lie in any plane and the warp may run anywhere.

mod block;

use std::f64::consts::FRAC_1_SQRT_2;

use rayon::prelude::*;

use self::block::{Advance, Block, row};
use super::{Form, HingeShape, Rigidity};
use crate::kernel::lanes::{self, BATCH, LaneKind, Quad};

/// Steps of the fit.
const STEPS: usize = 24;
/// How much the residual of twist along the axes of a grid counts.
const TWIST: f64 = 0.3;
/// Largest residual, relative to what a hinge's rows can do about it, that is left as it is: positions in
/// single precision are no better than this.
const NEGLIGIBLE: f32 = 1e-3;
/// Hinges of a piece of parallel work, and blocks.
const GRAIN: usize = 2048;
const BLOCK_GRAIN: usize = GRAIN / BATCH;

type Vector = [f64; 3];
type Matrix = [[f64; 3]; 3];

/// What lengths \[m\] and rigidities \[N m\] are divided by.
#[derive(Clone, Copy)]
struct Units {
    length: f64,
    rigidity: f64,
}

/// A triangle at a hinge: its number, its form, its rigidity and its warp.
type Side<'a> = (u32, &'a Form, (Rigidity, [f64; 2]));

/// What a hinge asks for, in its axes.
struct Condition {
    /// lₑ nₑ·D·nₑ.
    target: [f32; 3],
    /// Which curvatures count, and how much: xx, yy, zz, xy, xz, yz of a symmetric matrix.
    filter: [f32; 6],
    /// Places of its two triangles' rows in the moments.
    rows: [u32; 2],
}

/// Fits `forms` to the rigidity of their triangles, whose warp has the given angle (cosine and sine) from the
/// first edge. `sides` has the triangles of each hinge.
pub(super) fn calibrate(
    forms: &mut [Form],
    hinges: &[HingeShape],
    sides: &[[u32; 2]],
    rigidity: impl Fn(usize) -> (Rigidity, [f64; 2]) + Sync,
) {
    let largest = |t: usize| {
        let Rigidity { along: [warp, weft], torsion } = rigidity(t).0;
        warp.max(weft).max(torsion)
    };
    let units = Units {
        length: hinges.iter().map(|hinge| hinge.length).sum::<f64>() / hinges.len().max(1) as f64,
        rigidity: (0..forms.len()).into_par_iter().map(largest).reduce(|| 0.0, f64::max),
    };
    if !(units.length > 0.0 && units.rigidity > 0.0) {
        return;
    }
    let conditions: Vec<Condition> = hinges
        .par_iter()
        .zip(sides)
        .enumerate()
        .with_min_len(GRAIN)
        .map(|(e, (shape, sides))| {
            let sides = sides.map(|t| (t, &forms[t as usize], rigidity(t as usize)));
            Condition::new(shape, e as u32, sides, units)
        })
        .collect();
    let mut blocks: Vec<Block> = forms
        .par_chunks(BATCH)
        .with_min_len(BLOCK_GRAIN)
        .map(|forms| Block::new(forms, hinges, units))
        .collect();
    if fit(&mut blocks, &conditions) {
        forms
            .par_chunks_mut(BATCH)
            .zip(&blocks)
            .with_min_len(BLOCK_GRAIN)
            .for_each(|(forms, block)| block.give(forms, units));
    }
}

/// Does the steps; says whether any was needed.
fn fit(blocks: &mut [Block], conditions: &[Condition]) -> bool {
    let lanes = LaneKind::detect();
    let mut moments = vec![[[[0.0; 4]; BATCH]; 3]; blocks.len()];
    // The last one is that of edges without a hinge.
    let mut pulls: Vec<Quad> = vec![[0.0; 4]; conditions.len() + 1];
    for step in 0..=STEPS {
        (blocks.par_iter_mut(), moments.par_iter_mut()).into_par_iter().with_min_len(BLOCK_GRAIN).for_each(
            |(block, moments)| {
                let pulls = (step > 0).then_some(&pulls[..]);
                lanes::run(lanes, Advance { block, pulls, moments });
            },
        );
        if step == STEPS {
            break;
        }
        let moments = moments.as_flattened().as_flattened();
        let worst = pulls
            .par_iter_mut()
            .zip(conditions)
            .with_min_len(GRAIN)
            .map(|(pull, condition)| {
                let (found, residual) = condition.pull(moments);
                *pull = found;
                residual
            })
            .reduce(|| 0.0, f32::max);
        if step == 0 && worst < NEGLIGIBLE {
            return false;
        }
    }
    true
}

impl Condition {
    /// The condition of hinge `e` between two triangles.
    fn new(shape: &HingeShape, e: u32, sides: [Side; 2], units: Units) -> Self {
        let length = shape.length / (units.length * units.rigidity);
        // n ⊗ n of the hinge, in its axes.
        let across = [FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0];
        let (mut target, mut rows) = ([0.0; 3], [0; 2]);
        let mut free = identity();
        // The edges around the hinge, whose own is met twice.
        let mut axes = [-1.0, 0.0];
        for (k, (t, form, (rigidity, warp))) in sides.into_iter().enumerate() {
            let slot = form.hinges[..form.count].iter().position(|&hinge| hinge == e).unwrap_or(0);
            rows[k] = row(t, slot);
            let own = form.directions[slot];
            // Twice the angle of the hinge from the warp.
            let turn = between(double(warp), own);
            let product = |v: Vector| into(turn, rigidity.times(out_of(turn, v)));
            let weight = length * shape.heights[k] / (shape.heights[0] + shape.heights[1]);
            let moment = product(across);
            (0..3).for_each(|i| target[i] += weight * moment[i]);
            for &border in &form.directions[form.count..] {
                constrain(&mut free, product(out_of(between(own, border), across)));
            }
            for &edge in &form.directions {
                let four = double(between(own, edge));
                (0..2).for_each(|i| axes[i] += four[i]);
            }
        }
        let mut filter = twist_filter(axes);
        if free != identity() {
            filter = times(&times(&free, &filter), &free);
        }
        let entries = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
        Self { target: target.map(|m| m as f32), filter: entries.map(|(i, j)| filter[i][j] as f32), rows }
    }

    /// What pulls at its triangles' forms, and how large the residual is.
    fn pull(&self, moments: &[Quad]) -> (Quad, f32) {
        let [a, b] = self.rows.map(|row| moments[row as usize]);
        let [x, y, z] = self.target;
        let [x, y, z] = [x - a[0] - b[0], y - a[1] - b[1], z - a[2] - b[2]];
        let [xx, yy, zz, xy, xz, yz] = self.filter;
        let [x, y, z] = [xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z];
        let reach = (a[3] + b[3]) / 3.0;
        let pull = [x / reach, y / reach, z / reach, 0.0];
        if reach > 0.0 && pull.iter().all(|p| p.is_finite()) {
            (pull, ((x * x + y * y + z * z) / reach).sqrt())
        } else {
            ([0.0; 4], 0.0)
        }
    }
}

impl Rigidity {
    /// D : v in the axes of the warp.
    fn times(&self, v: Vector) -> Vector {
        let [warp, weft] = self.along;
        let (mean, half) = (0.5 * (warp + weft), 0.5 * (warp - weft));
        [mean * v[0] + half * v[1], half * v[0] + mean * v[1], 2.0 * self.torsion * v[2]]
    }
}

/// Takes the direction of `moment` out of the curvatures that are `free`, unless it is (nearly) already.
fn constrain(free: &mut Matrix, moment: Vector) {
    let length = dot(&moment, &moment).sqrt();
    let unit = moment.map(|m| m / length);
    let left = [dot(&free[0], &unit), dot(&free[1], &unit), dot(&free[2], &unit)];
    let square = dot(&left, &left);
    // False also where there is no moment.
    if square > 0.5 {
        for i in 0..3 {
            for j in 0..3 {
                free[i][j] -= left[i] * left[j] / square;
            }
        }
    }
}

/// How much curvatures count in a grid whose axes have four times this angle (cosine and sine, times
/// anything).
fn twist_filter(axes: [f64; 2]) -> Matrix {
    let mut filter = identity();
    let length = (axes[0] * axes[0] + axes[1] * axes[1]).sqrt();
    if length > 1e-6 {
        let [cosine, sine] = axes.map(|a| a / length);
        let less = 0.5 * (1.0 - TWIST);
        filter[1][1] -= less * (1.0 - cosine);
        filter[2][2] -= less * (1.0 + cosine);
        filter[1][2] += less * sine;
        filter[2][1] += less * sine;
    }
    filter
}

/// Twice an angle.
fn double([cosine, sine]: [f64; 2]) -> [f64; 2] {
    [cosine * cosine - sine * sine, 2.0 * cosine * sine]
}

/// The angle from one direction to another.
fn between(from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
    [from[0] * to[0] + from[1] * to[1], from[0] * to[1] - from[1] * to[0]]
}

/// A tensor in axes at half this angle.
fn into([cosine, sine]: [f64; 2], v: Vector) -> Vector {
    [v[0], cosine * v[1] + sine * v[2], cosine * v[2] - sine * v[1]]
}

/// A tensor from axes at half this angle.
fn out_of([cosine, sine]: [f64; 2], v: Vector) -> Vector {
    [v[0], cosine * v[1] - sine * v[2], cosine * v[2] + sine * v[1]]
}

fn identity() -> Matrix {
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A B.
fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    c
}
