//! Linear multigrid for A = M + κ L: one V(0,1) cycle with three right-hand sides at once.
//!
//! M is the (lumped) mass and L the stiffness of linear triangles, a scalar matrix; x, y and z are its
//! right-hand sides, side by side in a [`Quad`]. Coarse matrices are Galerkin products Pᵀ A P along
//! [`Transfer`]s, precomputed in double precision with M and L separate, so that every κ in use gets its own
//! values on one pattern.
//!
//! Smoothing is damped Jacobi after the coarse correction only. That fuses it with the interpolation: z = P
//! z_c + ω D⁻¹ (r − A P z_c) = S z_c + ω D⁻¹ r with S = (I − ω D⁻¹ A) P precomputed, so that each level is
//! read once on the way down (Pᵀ r) and once on the way up, and A itself is no longer needed. A filter needs
//! a tenth more iterations than with V(1,1) at less than half the cost of a cycle.
//!
//! Each vertex is summed in a fixed order, so that bits do not depend on the number of threads. The coarsest
//! level is solved directly, or by sweeps where the diagonal changes during the run.
//!
//! Vertices without mass are held: their rows and columns are excluded, and nothing is interpolated to them.

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    Transfer,
    matrix::Matrix,
    sparse::{Rows, Weights, inverse},
};
use crate::{
    exec::{
        sparse::{Pattern, Product},
        threads::Threads,
    },
    kernel::lanes::Quad,
};

/// Vertices below which a loop is serial: about 2 µs of work.
const GRAIN: usize = 300;

/// The same for vertices of a coarser level, each of which sums about a dozen finer ones.
const COARSE_GRAIN: usize = 100;

/// Maximum number of vertices of a level that is inverted.
const MAX_DIRECT_VERTICES: usize = 400;

/// ω times the largest eigenvalue of D⁻¹A.
const DAMPING: f64 = 4.0 / 3.0;

/// The same where there are nonconforming triangles, or narrow limits. With 4/3 a cycle answers some
/// residuals by 4/3 of what they ask for, which two-sided limits of 0.1 % turn into divergence within a
/// hundred iterations.
const DAMPING_NARROW: f64 = 1.0;

/// Symmetric sweeps over a coarsest level that is not inverted.
const COARSEST_SWEEPS: usize = 8;

/// One triangle of the finest level: vertices, gradients of its shape functions \[1/m\] and area \[m²\].
pub type StiffTriangle = ([u32; 3], [[f64; 2]; 3], f64);

/// One hinge of the finest level: vertices, weights of a linear map of their positions \[1/m\] and the weight
/// of its square \[m²\].
pub type StiffHinge = ([u32; 4], [f64; 4], f64);

/// One linear map of the finest level that counts like the mass: vertices, weights and the weight of its
/// square.
pub type StiffMap = ([u32; 6], [f64; 6], f64);

/// Such maps, made when they are asked for: together they take more memory than all else.
pub trait StiffMaps: std::fmt::Debug {
    /// Calls `f` with each of them.
    fn each(&self, f: &mut dyn FnMut(StiffMap));
}

/// One tetrahedron of the finest level: vertices, gradients of its shape functions \[1/m\] and volume \[m³\].
pub type StiffTetrahedron = ([u32; 4], [[f64; 3]; 4], f64);

/// Elements with stiffness on the finest level.
#[derive(Clone, Debug, Default)]
pub struct Stiff<'a> {
    /// Triangles.
    pub triangles: Vec<StiffTriangle>,
    /// Tetrahedra, list after list.
    pub tetrahedra: Vec<&'a [StiffTetrahedron]>,
    /// Hinges, which scale with κ like triangles.
    pub hinges: Vec<&'a [StiffHinge]>,
    /// Hinges that are added to the mass, independent of κ.
    pub folds: Vec<&'a [StiffHinge]>,
    /// Maps that are.
    pub maps: Vec<&'a dyn StiffMaps>,
    /// By vertex: the two whose mean it is, or itself twice. Empty if no vertex is a mean.
    pub ends: &'a [[u32; 2]],
    /// Whether limits on strain leave so little room that a cycle must not answer more than it is asked for.
    pub is_narrow: bool,
}

/// Matrices of all levels.
#[derive(Clone, Debug, Default)]
pub struct Multigrid {
    /// From each level to the next coarser one, finest first.
    steps: Vec<Step>,
    coarsest: Coarsest,
}

/// Transfer from one level to the next coarser one and back. Matrices of the same levels share what does not
/// depend on κ.
#[derive(Clone, Debug, Default)]
struct Step {
    up: Arc<Transfer<4>>,
    /// The transpose of `up`.
    down: Arc<Weights>,
    /// Where S has entries.
    pattern: Arc<Pattern>,
    /// One per κ; nothing for those that are not in use.
    smooth: Vec<Smooth>,
}

/// Interpolation with smoothing, for one κ.
#[derive(Clone, Debug, Default)]
struct Smooth {
    /// Entries of S.
    values: Vec<f32>,
    /// Diagonal of A; 0 for held vertices.
    diagonal: Vec<f32>,
    /// ω.
    damping: f32,
}

#[derive(Clone, Debug, Default)]
struct Coarsest {
    matrix: Matrix,
    /// Values and diagonals of `matrix`, one per κ.
    values: Vec<(Vec<f32>, Vec<f32>)>,
    /// Inverses, one per κ, column by column; empty if the level is too large.
    inverses: Vec<Vec<f32>>,
}

/// Scratch of a cycle.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    levels: Vec<Vectors>,
    which: usize,
    /// Whether a diagonal term was added.
    stiffened: bool,
}

#[derive(Clone, Debug, Default)]
struct Vectors {
    r: Vec<Quad>,
    z: Vec<Quad>,
    /// Added diagonal term.
    extra: Vec<f32>,
    /// ω over the diagonal; 0 for held vertices. On the coarsest level the diagonal.
    weight: Vec<f32>,
}

impl Multigrid {
    /// Matrices for every κ of `stiffness` that is in use (`None`: it is not). `masses` are 0 for held
    /// vertices; `transfers` start at the finest level. What is the same as in `like` is shared with it.
    pub fn new(
        masses: &[f32],
        stiff: &Stiff,
        transfers: &[Arc<Transfer<4>>],
        stiffness: &[Option<f64>],
        like: Option<&Self>,
    ) -> Self {
        super::count_build();
        let mut transfers = transfers.to_vec();
        if let Some(first) = transfers.first_mut().filter(|_| masses.iter().any(|mass| *mass <= 0.0)) {
            let mut held = Transfer::clone(first);
            for (weights, &mass) in held.weights.iter_mut().zip(masses) {
                if mass <= 0.0 {
                    *weights = [0.0; 4];
                }
            }
            *first = Arc::new(held);
        }
        let mut rows = Rows::assemble(masses, stiff);
        let factor = if stiff.ends.is_empty() && !stiff.is_narrow { DAMPING } else { DAMPING_NARROW };
        let mut steps = Vec::new();
        let mut transfers = transfers.into_iter().peekable();
        while let Some(transfer) = transfers.next() {
            let coarse = transfers.peek().map_or_else(|| coarse_count(&transfer), |next| next.corners.len());
            let like = like.and_then(|like| like.steps.get(steps.len()));
            let up = share_arc(transfer, like.map(|like| &like.up));
            let down = share(Weights::transposed(&up, coarse), like.map(|like| &like.down));
            let next = rows.coarsened(&up, &down, coarse);
            steps.push(Step::new(&rows, (up, down), (stiffness, factor), like));
            rows = next;
        }
        Self { steps, coarsest: Coarsest::new(&rows, stiffness) }
    }

    /// Number of vertices of each level, finest first.
    pub fn sizes(&self) -> Vec<usize> {
        self.steps.iter().map(|s| s.up.corners.len()).chain([self.coarsest.matrix.size()]).collect()
    }

    /// Scratch for cycles.
    pub fn scratch(&self) -> Cycle {
        let vectors = |n: usize| {
            let (quads, numbers) = (|| vec![[0.0; 4]; n], || vec![0.0; n]);
            Vectors { r: quads(), z: quads(), extra: numbers(), weight: numbers() }
        };
        let levels = self.sizes().into_iter().map(vectors).collect();
        let mut cycle = Cycle { levels, which: 0, stiffened: false };
        let first = self.coarsest.values.iter().position(|(_, diagonal)| !diagonal.is_empty());
        self.choose(&mut cycle, first.unwrap_or(0), |_| 0.0);
        cycle
    }

    /// Selects the κ with index `which`, and adds `extra` (by vertex of the finest level) to the diagonal:
    /// exactly there, lumped on coarser levels.
    pub fn choose(&self, cycle: &mut Cycle, which: usize, extra: impl Fn(usize) -> f32) {
        cycle.which = which;
        cycle.stiffened = false;
        for (i, e) in cycle.levels[0].extra.iter_mut().enumerate() {
            *e = extra(i);
            cycle.stiffened |= *e > 0.0;
        }
        for k in 0..cycle.levels.len() {
            let (finer, here) = cycle.levels.split_at_mut(k);
            let here = &mut here[0];
            if let (Some(finer), true) = (finer.last(), cycle.stiffened) {
                let down = &self.steps[k - 1].down;
                for (c, e) in here.extra.iter_mut().enumerate() {
                    *e = down.of(c).map(|(i, w)| w * finer.extra[i]).sum();
                }
            } else if k > 0 {
                here.extra.fill(0.0);
            }
            let Vectors { extra, weight, .. } = here;
            match self.steps.get(k).map(|step| &step.smooth[which]) {
                Some(Smooth { diagonal, damping, .. }) => {
                    for ((weight, d), e) in weight.iter_mut().zip(diagonal).zip(extra) {
                        *weight = if *d > 0.0 { damping / (d + *e) } else { 0.0 };
                    }
                }
                None => {
                    for ((weight, d), e) in weight.iter_mut().zip(&self.coarsest.values[which].1).zip(extra) {
                        *weight = d + *e;
                    }
                }
            }
        }
    }

    /// The diagonal of the finest matrix with index `which`.
    pub fn diagonal(&self, which: usize) -> &[f32] {
        self.steps.first().map_or(&self.coarsest.values[which].1, |step| &step.smooth[which].diagonal)
    }

    /// One cycle: adds about A⁻¹ r to `x`, with r in [`Cycle::residual`].
    pub fn cycle(&self, threads: &Threads, cycle: &mut Cycle, x: &mut [Quad]) {
        for (k, step) in self.steps.iter().enumerate() {
            let (here, coarser) = cycle.levels.split_at_mut(k + 1);
            let restricted = step.down.times(&here[k].r);
            threads.each(&mut coarser[0].r, COARSE_GRAIN, |first, coarse| {
                for (c, coarse) in coarse.iter_mut().enumerate() {
                    *coarse = restricted.row(first + c);
                }
            });
        }
        self.coarsest.solve(cycle);
        for (k, step) in self.steps.iter().enumerate().rev() {
            let (here, coarser) = cycle.levels.split_at_mut(k + 1);
            let Vectors { r, z, extra, weight } = &mut here[k];
            let smooth = &step.smooth[cycle.which];
            let back = Back {
                step,
                smooth,
                interpolated: step.pattern.times(&smooth.values, &coarser[0].z),
                r,
                extra: cycle.stiffened.then_some(extra),
                weight,
                coarse: &coarser[0].z,
            };
            if k > 0 {
                threads.each(z, GRAIN, |first, z| {
                    for (i, z) in z.iter_mut().enumerate() {
                        *z = back.correction(first + i);
                    }
                });
            } else {
                threads.each(x, GRAIN, |first, x| {
                    for (i, x) in x.iter_mut().enumerate() {
                        *x = plus(*x, back.correction(first + i));
                    }
                });
            }
        }
        if self.steps.is_empty() {
            for (x, z) in x.iter_mut().zip(&cycle.levels[0].z) {
                *x = plus(*x, *z);
            }
        }
    }
}

/// Prolongation from one level to the next finer one.
struct Back<'a> {
    step: &'a Step,
    smooth: &'a Smooth,
    /// S z_c.
    interpolated: Product<'a>,
    r: &'a [Quad],
    extra: Option<&'a Vec<f32>>,
    weight: &'a [f32],
    coarse: &'a [Quad],
}

impl Back<'_> {
    /// S z_c + ω D⁻¹ r at vertex `i`.
    #[inline(always)]
    fn correction(&self, i: usize) -> Quad {
        let sum = self.interpolated.row(i);
        if let Some(extra) = self.extra
            && extra[i] > 0.0
            && self.weight[i] > 0.0
        {
            // S is for the diagonal without `extra`, but P − S gives A P.
            let (corners, w) = (self.step.up.corners[i], self.step.up.weights[i]);
            let mut interpolated = [0.0; 4];
            for k in 0..4 {
                interpolated = plus(interpolated, times(self.coarse[corners[k] as usize], w[k]));
            }
            let pulled = times(minus(interpolated, sum), self.smooth.diagonal[i] / self.smooth.damping);
            let rest = minus(minus(self.r[i], pulled), times(interpolated, extra[i]));
            return plus(interpolated, times(rest, self.weight[i]));
        }
        plus(sum, times(self.r[i], self.weight[i]))
    }
}

impl Cycle {
    /// The right-hand side of the finest level, to be filled before a cycle; 0 for held vertices.
    pub fn residual(&mut self) -> &mut [Quad] {
        &mut self.levels[0].r
    }
}

impl Step {
    fn new(
        rows: &Rows,
        (up, down): (Arc<Transfer<4>>, Arc<Weights>),
        (stiffness, factor): (&[Option<f64>], f64),
        like: Option<&Self>,
    ) -> Self {
        let matrix = Matrix::new(rows);
        let product = rows.times(&up);
        let mut pattern = Pattern::default();
        product.0.iter().for_each(|row| pattern.push(row.iter().map(|e| e.0)));
        let pattern = share(pattern, like.map(|like| &like.pattern));
        let mut step = Self { up, down, pattern, ..Self::default() };
        let used: Vec<f64> = stiffness.iter().copied().flatten().collect();
        let mut dampings = matrix.dampings(rows, &used, factor).into_iter();
        let dampings: Vec<Option<(f64, f32)>> =
            stiffness.iter().map(|kappa| Some(((*kappa)?, dampings.next()?))).collect();
        let smooth = |used: &Option<(f64, f32)>| {
            let Some((kappa, damping)) = *used else { return Smooth::default() };
            let diagonal = matrix.values(rows, kappa).1;
            let mut entries = Vec::with_capacity(step.pattern.entry_count());
            for (i, row) in product.0.iter().enumerate() {
                let weight =
                    if diagonal[i] > 0.0 { f64::from(damping) / f64::from(diagonal[i]) } else { 0.0 };
                let (corners, weights) = (step.up.corners[i], step.up.weights[i]);
                entries.extend(row.iter().map(|(c, [mass, stiff])| {
                    let plain: f64 =
                        (0..4).filter(|&k| corners[k] == *c).map(|k| f64::from(weights[k])).sum();
                    (plain - weight * (mass + kappa * stiff)) as f32
                }));
            }
            Smooth { values: entries, diagonal, damping }
        };
        step.smooth = dampings.par_iter().map(smooth).collect();
        step
    }
}

impl Coarsest {
    fn new(rows: &Rows, stiffness: &[Option<f64>]) -> Self {
        let n = rows.0.len();
        let matrix = Matrix::new(rows);
        let dense = |kappa: &Option<f64>| {
            let Some(kappa) = kappa else { return Vec::new() };
            let mut dense = vec![0.0; n * n];
            for (i, row) in rows.0.iter().enumerate() {
                for (j, [mass, stiff]) in row {
                    dense[i * n + *j as usize] = mass + kappa * stiff;
                }
            }
            inverse(dense, n).into_iter().map(|v| v as f32).collect()
        };
        Self {
            values: stiffness
                .iter()
                .map(|kappa| kappa.map_or_else(Default::default, |kappa| matrix.values(rows, kappa)))
                .collect(),
            inverses: if n <= MAX_DIRECT_VERTICES {
                stiffness.par_iter().map(dense).collect()
            } else {
                Vec::new()
            },
            matrix,
        }
    }

    fn solve(&self, cycle: &mut Cycle) {
        let Cycle { levels, which, stiffened } = cycle;
        let Some(Vectors { r, z, weight: diagonal, .. }) = levels.last_mut() else { return };
        z.fill([0.0; 4]);
        match self.inverses.get(*which) {
            Some(inverse) if !*stiffened => {
                for (column, r) in inverse.chunks_exact(z.len().max(1)).zip(r.iter()) {
                    for (z, &w) in z.iter_mut().zip(column) {
                        *z = plus(*z, times(*r, w));
                    }
                }
            }
            _ => {
                let values = &self.values[*which].0;
                let n = z.len();
                for sweep in 0..2 * COARSEST_SWEEPS {
                    for k in 0..n {
                        let i = if sweep % 2 == 0 { k } else { n - 1 - k };
                        if diagonal[i] > 0.0 {
                            let rest = self.matrix.residual(values, diagonal, r, z, i);
                            z[i] = plus(z[i], times(rest, 1.0 / diagonal[i]));
                        }
                    }
                }
            }
        }
    }
}

/// `new`, or what `like` has if that is the same.
pub fn share<T: PartialEq>(new: T, like: Option<&Arc<T>>) -> Arc<T> {
    like.filter(|like| ***like == new).cloned().unwrap_or_else(|| Arc::new(new))
}

/// The same of what is shared already.
fn share_arc<T: PartialEq>(new: Arc<T>, like: Option<&Arc<T>>) -> Arc<T> {
    like.filter(|like| **like == new).cloned().unwrap_or(new)
}

/// Number of coarse vertices in use: one more than the largest index.
fn coarse_count(transfer: &Transfer<4>) -> usize {
    transfer.corners.iter().flatten().map(|&c| c as usize + 1).max().unwrap_or(0)
}

#[inline(always)]
fn plus(a: Quad, b: Quad) -> Quad {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

#[inline(always)]
pub(super) fn minus(a: Quad, b: Quad) -> Quad {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
}

#[inline(always)]
pub(super) fn times(a: Quad, s: f32) -> Quad {
    [a[0] * s, a[1] * s, a[2] * s, a[3] * s]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hierarchy, kernel::svd2::rest_inverse, mesh::generate};

    /// Convergence factor of the residual per cycle, after the first few.
    fn contraction(cells: u32, diagonals: generate::Diagonals, pins: &[usize], extra: f32) -> f64 {
        let mesh = generate::grid([1.0, 1.0], [cells, cells], diagonals, 2);
        let n = mesh.positions.len();
        let triangles: Vec<StiffTriangle> = mesh
            .triangles
            .iter()
            .map(|&t| {
                let corners = t.map(|v| mesh.positions[v as usize].as_dvec3().to_array());
                let (r, area) = rest_inverse(corners).unwrap();
                (t, [[-r[0], -(r[1] + r[2])], [r[0], r[1]], [0.0, r[2]]], area)
            })
            .collect();
        let mut masses = vec![1.0; n];
        pins.iter().for_each(|&p| masses[p] = 0.0);
        let levels = hierarchy::build(&mesh, &hierarchy::Options::default()).levels;
        let transfers: Vec<_> = levels.into_iter().map(|l| Arc::new(l.transfer.into())).collect();
        let stiff = Stiff { triangles, ..Stiff::default() };
        let stiffness = [Some(0.1 * n as f64), None, Some(n as f64)];
        let multigrid = Multigrid::new(&masses, &stiff, &transfers, &stiffness, None);
        assert!(*multigrid.sizes().last().unwrap() <= 200);
        let threads = Threads::new(1).unwrap();
        let mut cycle = multigrid.scratch();
        multigrid.choose(&mut cycle, 2, |i| if i % 3 == 0 && masses[i] > 0.0 { extra } else { 0.0 });
        let goal: Vec<Quad> =
            (0..n)
                .map(|i| {
                    if masses[i] > 0.0 { [(i as f32).sin(), mesh.positions[i].x, 1.0, 0.0] } else { [0.0; 4] }
                })
                .collect();
        let rows = Rows::assemble(&masses, &stiff);
        let matrix = Matrix::new(&rows);
        let (values, mut diagonal) = matrix.values(&rows, n as f64);
        diagonal.iter_mut().zip(&cycle.levels[0].extra).for_each(|(d, e)| *d += e);
        let zero = vec![[0.0; 4]; n];
        let b: Vec<Quad> =
            (0..n).map(|i| times(matrix.residual(&values, &diagonal, &zero, &goal, i), -1.0)).collect();
        let mut x = vec![[0.0; 4]; n];
        let mut norms = Vec::new();
        for _ in 0..6 {
            for i in 0..n {
                let rest = matrix.residual(&values, &diagonal, &b, &x, i);
                cycle.residual()[i] = if masses[i] > 0.0 { rest } else { [0.0; 4] };
            }
            let square = |q: &Quad| q.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
            norms.push(cycle.residual().iter().map(square).sum::<f64>().sqrt());
            multigrid.cycle(&threads, &mut cycle, &mut x);
        }
        assert!(pins.iter().all(|&p| x[p] == [0.0; 4]));
        (norms[4] / norms[1]).powf(1.0 / 3.0)
    }

    #[test]
    fn a_cycle_contracts_whatever_the_size() {
        for cells in [16, 32, 64, 128] {
            let rate = contraction(cells, generate::Diagonals::Alternating, &[], 0.0);
            assert!(rate < 0.55, "{cells} cells: {rate}");
        }
    }

    #[test]
    fn pins_jitter_and_a_changed_diagonal_slow_it_little() {
        let rate = contraction(64, generate::Diagonals::Jittered, &[0, 64, 2000], 0.0);
        assert!(rate < 0.6, "pins: {rate}");
        let rate = contraction(64, generate::Diagonals::Alternating, &[0, 64], 1000.0);
        assert!(rate < 0.6, "contact: {rate}");
    }
}
