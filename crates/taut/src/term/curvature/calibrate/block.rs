//! The steps of the fit for [`BATCH`] triangles side by side.

use std::f64::consts::FRAC_1_SQRT_2;

use super::{
    super::{Form, HingeShape, cholesky},
    Units, out_of,
};
use crate::kernel::{
    lanes::{BATCH, Lanes, Quad, Work},
    real::Real,
};

/// Length of a step along the gradient, and what is left of the step before.
const RATE: f32 = 0.4;
const MOMENTUM: f32 = 0.75;
/// Largest norm of X.
const MAX_CHANGE: f32 = 1.0;

/// Moments of the triangles of a block at each of their hinges: in the axes of the hinge, and, last, the
/// square of how much a change can do about them.
pub(super) type Moments = [[Quad; BATCH]; 3];

/// Where the moments of triangle `t` at its hinge `slot` lie among those of all blocks.
pub(super) fn row(t: u32, slot: usize) -> u32 {
    let (block, lane) = (t as usize / BATCH, t as usize % BATCH);
    ((3 * block + slot) * BATCH + lane) as u32
}

/// [`BATCH`] triangles. Matrices are by rows.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Block {
    /// R.
    root: [[f32; BATCH]; 9],
    /// X before it is limited: xx, yy, zz, xy, xz, yz.
    change: [[f32; BATCH]; 6],
    /// θ(H) of the hinges, by rows.
    angles: [[f32; BATCH]; 9],
    /// Cosine and sine of twice the angle of each hinge from the triangle's first edge.
    directions: [[f32; BATCH]; 6],
    /// The hinges; edges without one have the place after the last.
    hinges: [[u32; BATCH]; 3],
}

impl Block {
    /// The block of up to [`BATCH`] forms.
    pub(super) fn new(forms: &[Form], hinges: &[HingeShape], units: Units) -> Self {
        let mut block = Self {
            root: [[0.0; BATCH]; 9],
            change: [[0.0; BATCH]; 6],
            angles: [[0.0; BATCH]; 9],
            directions: [[0.0; BATCH]; 6],
            hinges: [[hinges.len() as u32; BATCH]; 3],
        };
        for (lane, form) in forms.iter().enumerate() {
            let root = cholesky(&form.stiffness.map(|row| row.map(|c| c / units.rigidity)), form.count);
            for i in 0..form.count {
                let HingeShape { length, heights, feet } = &hinges[form.hinges[i] as usize];
                let bulge = |k: usize| feet[k] * (1.0 - feet[k]) / heights[k];
                let along = -0.5 * length * length * (bulge(0) + bulge(1));
                let height = 0.5 * (heights[0] + heights[1]);
                let angle = [along + height, along - height, length * (feet[0] - feet[1])];
                let angle = out_of(form.directions[i], angle.map(|a| a * FRAC_1_SQRT_2 / units.length));
                for k in 0..3 {
                    block.root[3 * i + k][lane] = root[i][k] as f32;
                    block.angles[3 * i + k][lane] = angle[k] as f32;
                }
                (0..2).for_each(|k| block.directions[2 * i + k][lane] = form.directions[i][k] as f32);
                block.hinges[i][lane] = form.hinges[i];
            }
        }
        block
    }

    /// Gives the forms what was found. Where that is not finite they stay as they are.
    pub(super) fn give(&self, forms: &mut [Form], units: Units) {
        for (lane, form) in forms.iter_mut().enumerate() {
            let root = |i: usize, k: usize| f64::from(self.root[3 * i + k][lane]);
            let entry = |i, j| units.rigidity * (0..3).map(|k| root(i, k) * root(j, k)).sum::<f64>();
            let mut found = [[0.0; 3]; 3];
            for i in 0..form.count {
                for j in 0..form.count {
                    found[i][j] = entry(i, j);
                }
            }
            if found.as_flattened().iter().all(|c| c.is_finite()) {
                form.stiffness = found;
            }
        }
    }
}

/// One step, unless there are no pulls yet, and the moments after it.
pub(super) struct Advance<'a> {
    pub(super) block: &'a mut Block,
    /// What pulls at each hinge, in its axes.
    pub(super) pulls: Option<&'a [Quad]>,
    pub(super) moments: &'a mut Moments,
}

impl Work for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { block, pulls, moments } = self;
        let mut pulled = [[0.0; BATCH]; 9];
        if let Some(pulls) = pulls {
            for (slot, hinges) in block.hinges.iter().enumerate() {
                for (lane, &hinge) in hinges.iter().enumerate() {
                    let pull = pulls[hinge as usize];
                    for k in 0..3 {
                        pulled[3 * slot + k][lane] = pull[k];
                    }
                }
            }
        }
        let mut at = 0;
        while at < BATCH {
            let angles: [L; 9] = L::load_all(&block.angles, at);
            let directions: [L; 6] = L::load_all(&block.directions, at);
            let mut root: [L; 9] = L::load_all(&block.root, at);
            if pulls.is_some() {
                let pull = turned_back(&directions, L::load_all(&pulled, at));
                let mut change: [L; 6] = L::load_all(&block.change, at);
                improve(&mut root, &mut change, &angles, &pull);
                // Closures would not be compiled for the lanes.
                for k in 0..9 {
                    root[k].store(&mut block.root[k], at);
                }
                for k in 0..6 {
                    change[k].store(&mut block.change[k], at);
                }
            }
            let stretched = transposed_times(&root, &angles);
            let square = sum_of_squares(&stretched);
            let own = turned(&directions, times(&root, &stretched));
            for i in 0..3 {
                let row = [root[3 * i], root[3 * i + 1], root[3 * i + 2]];
                let reach = (row[0] * row[0] + row[1] * row[1] + row[2] * row[2]) * square;
                L::store_quads(&mut moments[i], at, [own[3 * i], own[3 * i + 1], own[3 * i + 2], reach]);
            }
            at += L::WIDTH;
        }
    }
}

/// R ← R (1 + X/2), with X along the gradient and its momentum.
#[inline(always)]
fn improve<R: Real>(root: &mut [R; 9], change: &mut [R; 6], angles: &[R; 9], pull: &[R; 9]) {
    let stretched = transposed_times(root, angles);
    let pulled = transposed_times(root, pull);
    let g = times_transposed(&pulled, &stretched);
    let half = R::splat(0.5);
    let gradient = [g[0], g[4], g[8], half * (g[1] + g[3]), half * (g[2] + g[6]), half * (g[5] + g[7])];
    for k in 0..6 {
        change[k] = R::splat(MOMENTUM) * change[k] + R::splat(RATE) * gradient[k];
    }
    let [xx, yy, zz, xy, xz, yz] = *change;
    let square = xx * xx + yy * yy + zz * zz + R::splat(2.0) * (xy * xy + xz * xz + yz * yz);
    // What has overflowed is given up; nothing else is near this.
    let is_sound = square.le(R::splat(1e30));
    let scale = half * (R::splat(MAX_CHANGE) / square.max(R::splat(1e-30)).sqrt()).min(R::splat(1.0));
    let mut limited = *change;
    for k in 0..6 {
        change[k] = R::select(is_sound, change[k], R::splat(0.0));
        limited[k] = R::select(is_sound, scale * change[k], R::splat(0.0));
    }
    let [xx, yy, zz, xy, xz, yz] = limited;
    let by = times(root, &[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
    for k in 0..9 {
        root[k] = root[k] + by[k];
    }
}

/// Rows of tensors in the axes of the hinges, from those of the triangle.
#[inline(always)]
fn turned<R: Real>(directions: &[R; 6], mut rows: [R; 9]) -> [R; 9] {
    for i in 0..3 {
        let ([c, s], [y, z]) =
            ([directions[2 * i], directions[2 * i + 1]], [rows[3 * i + 1], rows[3 * i + 2]]);
        (rows[3 * i + 1], rows[3 * i + 2]) = (c * y + s * z, c * z - s * y);
    }
    rows
}

/// Rows of tensors in the axes of the triangle, from those of the hinges.
#[inline(always)]
fn turned_back<R: Real>(directions: &[R; 6], mut rows: [R; 9]) -> [R; 9] {
    for i in 0..3 {
        let ([c, s], [y, z]) =
            ([directions[2 * i], directions[2 * i + 1]], [rows[3 * i + 1], rows[3 * i + 2]]);
        (rows[3 * i + 1], rows[3 * i + 2]) = (c * y - s * z, c * z + s * y);
    }
    rows
}

#[inline(always)]
fn sum_of_squares<R: Real>(a: &[R; 9]) -> R {
    let mut sum = a[0] * a[0];
    for &x in &a[1..] {
        sum = sum + x * x;
    }
    sum
}

/// A B.
#[inline(always)]
fn times<R: Real>(a: &[R; 9], b: &[R; 9]) -> [R; 9] {
    let mut c = [R::splat(0.0); 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
    c
}

/// Aᵀ B.
#[inline(always)]
fn transposed_times<R: Real>(a: &[R; 9], b: &[R; 9]) -> [R; 9] {
    let mut c = [R::splat(0.0); 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
        }
    }
    c
}

/// A Bᵀ.
#[inline(always)]
fn times_transposed<R: Real>(a: &[R; 9], b: &[R; 9]) -> [R; 9] {
    let mut c = [R::splat(0.0); 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
        }
    }
    c
}
