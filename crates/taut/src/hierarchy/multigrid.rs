//! Linear multigrid for A = M + κ L: one V(1,1) cycle with three right-hand sides at once.
//!
//! M is the (lumped) mass and L the stiffness of linear triangles, a scalar matrix; x, y and z are its right-hand sides, side by side
//! in a [`Quad`]. Coarse matrices are Galerkin products Pᵀ A P along [`Transfer`]s, made once in double precision with M and L
//! apart, so that every κ in use gets its own values on one pattern. Smoothing is damped Jacobi, which took as long as
//! coloured Gauss–Seidel in prototypes, and each vertex is summed in a fixed order, so that bits do not depend on the number of threads.
//! The coarsest level is solved directly, or swept where the diagonal changes while it runs.
//!
//! Vertices without mass are held: their rows and columns are left out, and nothing is interpolated to them.
//!
//! Cost of a cycle: two products with A on each level; `benches/nearest.rs` times it as part of the filter.

use super::{
    Transfer,
    sparse::{Rows, Weights, inverse},
};
use crate::{kernel::lanes::Quad, parallel::Threads};

/// Vertices below which a loop is not shared between threads: about 5 µs of work.
const GRAIN: usize = 800;

/// Levels of up to this many vertices are inverted.
const DIRECT: usize = 400;

/// Symmetric sweeps over a coarsest level that is not inverted.
const SWEEPS: usize = 8;

/// One triangle of the finest level: vertices, gradients of its shape functions \[1/m\] and area \[m²\].
pub type StiffTriangle = ([u32; 3], [[f64; 2]; 3], f64);

/// One hinge of the finest level: vertices, weights of a linear map of their positions \[1/m\] and the weight of its square \[m²\].
pub type StiffHinge = ([u32; 4], [f64; 4], f64);

/// Matrices of all levels.
#[derive(Clone, Debug, Default)]
pub struct Multigrid {
    levels: Vec<Level>,
    /// Inverses of the coarsest matrix, one a κ, column by column; empty if it is too large.
    inverses: Vec<Vec<f32>>,
}

#[derive(Clone, Debug, Default)]
struct Level {
    /// Where the entries of each row begin.
    starts: Vec<u32>,
    /// Columns of the entries off the diagonal.
    columns: Vec<u32>,
    /// One a κ.
    matrices: Vec<Matrix>,
    /// To the next coarser level; none on the coarsest.
    up: Transfer,
    /// The transpose of `up`.
    down: Weights,
}

#[derive(Clone, Debug, Default)]
struct Matrix {
    /// 0 for vertices that are held.
    diagonal: Vec<f32>,
    values: Vec<f32>,
    /// Factor on Jacobi corrections.
    damping: f32,
}

/// Memory of a cycle.
#[derive(Clone, Debug, Default)]
pub struct Cycle {
    levels: Vec<Vectors>,
    which: usize,
    /// Whether something was added to the diagonal.
    stiffened: bool,
}

#[derive(Clone, Debug, Default)]
struct Vectors {
    r: Vec<Quad>,
    z: Vec<Quad>,
    rest: Vec<Quad>,
    /// What is added to the diagonal.
    extra: Vec<f32>,
    diagonal: Vec<f32>,
    /// Damping over diagonal; 0 for vertices that are held.
    weight: Vec<f32>,
}

impl Multigrid {
    /// Matrices for every κ of `stiffness`, on which hinges count like triangles. `masses` are 0 for vertices that are held; `transfers` go from the finest
    /// level up.
    pub fn new(
        masses: &[f32],
        triangles: &[StiffTriangle],
        hinges: &[StiffHinge],
        mut transfers: Vec<Transfer>,
        stiffness: &[f64],
    ) -> Self {
        if let Some(first) = transfers.first_mut() {
            for (weights, &mass) in first.weights.iter_mut().zip(masses) {
                if mass <= 0.0 {
                    *weights = [0.0; 3];
                }
            }
        }
        let mut rows = Rows::assemble(masses, triangles, hinges);
        let mut levels = Vec::new();
        let mut transfers = transfers.into_iter().peekable();
        while let Some(transfer) = transfers.next() {
            let coarse = transfers.peek().map_or_else(|| coarse_count(&transfer), |next| next.corners.len());
            let down = Weights::transposed(&transfer, coarse);
            let next = rows.coarsened(&transfer, &down, coarse);
            levels.push(Level { up: transfer, down, ..Level::new(&rows, stiffness) });
            rows = next;
        }
        levels.push(Level::new(&rows, stiffness));
        let n = rows.0.len();
        let inverses = if n <= DIRECT {
            stiffness
                .iter()
                .map(|kappa| {
                    let mut dense = vec![0.0; n * n];
                    for (i, row) in rows.0.iter().enumerate() {
                        for (j, [mass, stiff]) in row {
                            dense[i * n + *j as usize] = mass + kappa * stiff;
                        }
                    }
                    inverse(dense, n).into_iter().map(|v| v as f32).collect()
                })
                .collect()
        } else {
            Vec::new()
        };
        Self { levels, inverses }
    }

    /// Number of vertices of each level, finest first.
    pub fn sizes(&self) -> Vec<usize> {
        self.levels.iter().map(Level::size).collect()
    }

    /// Memory for cycles.
    pub fn scratch(&self) -> Cycle {
        let vectors = |level: &Level| {
            let (n, quads) = (level.size(), || vec![[0.0; 4]; level.size()]);
            let numbers = || vec![0.0; n];
            let [extra, diagonal, weight] = [numbers(), numbers(), numbers()];
            Vectors { r: quads(), z: quads(), rest: quads(), extra, diagonal, weight }
        };
        let mut cycle =
            Cycle { levels: self.levels.iter().map(vectors).collect(), which: 0, stiffened: false };
        self.choose(&mut cycle, 0, |_| 0.0);
        cycle
    }

    /// Chooses the κ with index `which`, and adds `extra` (of a vertex of the finest level) to the diagonal: as it is
    /// there, lumped on coarser levels.
    pub fn choose(&self, cycle: &mut Cycle, which: usize, extra: impl Fn(usize) -> f32) {
        cycle.which = which;
        cycle.stiffened = false;
        for (i, e) in cycle.levels[0].extra.iter_mut().enumerate() {
            *e = extra(i);
            cycle.stiffened |= *e > 0.0;
        }
        for (k, level) in self.levels.iter().enumerate() {
            let (finer, here) = cycle.levels.split_at_mut(k);
            let here = &mut here[0];
            if let (Some(finer), true) = (finer.last(), cycle.stiffened) {
                let down = &self.levels[k - 1].down;
                for (c, e) in here.extra.iter_mut().enumerate() {
                    *e = down.of(c).map(|(i, w)| w * finer.extra[i]).sum();
                }
            } else if k > 0 {
                here.extra.fill(0.0);
            }
            let matrix = &level.matrices[which];
            for i in 0..level.size() {
                let diagonal = matrix.diagonal[i] + here.extra[i];
                here.diagonal[i] = diagonal;
                here.weight[i] = if matrix.diagonal[i] > 0.0 { matrix.damping / diagonal } else { 0.0 };
            }
        }
    }

    /// The diagonal of the finest matrix with index `which`.
    pub fn diagonal(&self, which: usize) -> &[f32] {
        &self.levels[0].matrices[which].diagonal
    }

    /// One V-cycle: adds about A⁻¹ r to `x`, where r is what [`Cycle::residual`] holds.
    pub fn cycle(&self, threads: &Threads, cycle: &mut Cycle, x: &mut [Quad]) {
        let which = cycle.which;
        let last = self.levels.len() - 1;
        for k in 0..last {
            let (here, coarser) = cycle.levels.split_at_mut(k + 1);
            let (level, matrix) = (&self.levels[k], &self.levels[k].matrices[which]);
            let Vectors { r, z, rest, weight, diagonal, .. } = &mut here[k];
            threads.each(z, 4 * GRAIN, |first, z| {
                for (i, z) in z.iter_mut().enumerate() {
                    *z = times(r[first + i], weight[first + i]);
                }
            });
            threads.each(rest, GRAIN, |first, rest| {
                for (i, rest) in rest.iter_mut().enumerate() {
                    *rest = level.residual(matrix, diagonal, r, z, first + i);
                }
            });
            threads.each(&mut coarser[0].r, GRAIN, |first, coarse| {
                for (c, coarse) in coarse.iter_mut().enumerate() {
                    let mut sum = [0.0; 4];
                    for (i, w) in level.down.of(first + c) {
                        sum = plus(sum, times(rest[i], w));
                    }
                    *coarse = sum;
                }
            });
        }
        self.solve_coarsest(cycle);
        for k in (0..last).rev() {
            let (here, coarser) = cycle.levels.split_at_mut(k + 1);
            let (level, matrix) = (&self.levels[k], &self.levels[k].matrices[which]);
            let Vectors { r, z, rest, weight, diagonal, .. } = &mut here[k];
            let coarse = &coarser[0].z;
            threads.each(z, GRAIN, |first, z| {
                let Transfer { corners, weights } = &level.up;
                for (i, z) in z.iter_mut().enumerate() {
                    let ([a, b, c], w) = (corners[first + i].map(|c| coarse[c as usize]), weights[first + i]);
                    *z = plus(*z, plus(plus(times(a, w[0]), times(b, w[1])), times(c, w[2])));
                }
            });
            let smooth = |i: usize| plus(z[i], times(level.residual(matrix, diagonal, r, z, i), weight[i]));
            if k > 0 {
                threads.each(rest, GRAIN, |first, rest| {
                    for (i, rest) in rest.iter_mut().enumerate() {
                        *rest = smooth(first + i);
                    }
                });
                std::mem::swap(z, rest);
            } else {
                threads.each(x, GRAIN, |first, x| {
                    for (i, x) in x.iter_mut().enumerate() {
                        *x = plus(*x, smooth(first + i));
                    }
                });
            }
        }
        if last == 0 {
            for (x, z) in x.iter_mut().zip(&cycle.levels[0].z) {
                *x = plus(*x, *z);
            }
        }
    }

    fn solve_coarsest(&self, cycle: &mut Cycle) {
        let last = self.levels.len() - 1;
        let Vectors { r, z, diagonal, .. } = &mut cycle.levels[last];
        z.fill([0.0; 4]);
        match self.inverses.get(cycle.which) {
            Some(inverse) if !cycle.stiffened => {
                for (column, r) in inverse.chunks_exact(z.len().max(1)).zip(r.iter()) {
                    for (z, &w) in z.iter_mut().zip(column) {
                        *z = plus(*z, times(*r, w));
                    }
                }
            }
            _ => {
                let (level, matrix) = (&self.levels[last], &self.levels[last].matrices[cycle.which]);
                let n = z.len();
                for sweep in 0..2 * SWEEPS {
                    for k in 0..n {
                        let i = if sweep % 2 == 0 { k } else { n - 1 - k };
                        if diagonal[i] > 0.0 {
                            let rest = level.residual(matrix, diagonal, r, z, i);
                            z[i] = plus(z[i], times(rest, 1.0 / diagonal[i]));
                        }
                    }
                }
            }
        }
    }
}

impl Cycle {
    /// The right-hand side of the finest level, to be filled before a cycle; 0 for vertices that are held.
    pub fn residual(&mut self) -> &mut [Quad] {
        &mut self.levels[0].r
    }
}

impl Level {
    fn new(rows: &Rows, stiffness: &[f64]) -> Self {
        let mut level = Self { starts: vec![0], ..Self::default() };
        for (i, row) in rows.0.iter().enumerate() {
            level.columns.extend(row.iter().map(|e| e.0).filter(|&j| j as usize != i));
            level.starts.push(level.columns.len() as u32);
        }
        for &kappa in stiffness {
            let mut matrix = Matrix::default();
            for (i, row) in rows.0.iter().enumerate() {
                let mut diagonal = 0.0;
                for (j, [mass, stiff]) in row {
                    let value = (mass + kappa * stiff) as f32;
                    if *j as usize == i { diagonal = value } else { matrix.values.push(value) }
                }
                matrix.diagonal.push(diagonal);
            }
            matrix.damping = level.damping(&matrix);
            level.matrices.push(matrix);
        }
        level
    }

    fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// 4/3 over the largest eigenvalue of D⁻¹A, which a power iteration approaches from below.
    fn damping(&self, matrix: &Matrix) -> f32 {
        let n = self.size();
        let scramble = |i: usize| (i.wrapping_mul(2_654_435_761) % 1000) as f32 / 1000.0 - 0.5;
        let mut x: Vec<Quad> = (0..n).map(|i| [scramble(i), 0.0, 0.0, 0.0]).collect();
        let zero = vec![[0.0; 4]; n];
        let mut largest = 1.0;
        for _ in 0..15 {
            let y: Vec<Quad> = (0..n)
                .map(|i| {
                    let d = matrix.diagonal[i];
                    let product = self.residual(matrix, &matrix.diagonal, &zero, &x, i);
                    times(product, if d > 0.0 { -1.0 / d } else { 0.0 })
                })
                .collect();
            let norm = |v: &[Quad]| v.iter().map(|q| f64::from(q[0]) * f64::from(q[0])).sum::<f64>().sqrt();
            let (before, after) = (norm(&x), norm(&y));
            if before <= 0.0 || after <= 0.0 {
                break;
            }
            largest = after / before;
            x = y.into_iter().map(|q| times(q, (1.0 / after) as f32)).collect();
        }
        (4.0 / 3.0 / (1.05 * largest)) as f32
    }

    /// r − A z in row `i`.
    #[inline(always)]
    fn residual(&self, matrix: &Matrix, diagonal: &[f32], r: &[Quad], z: &[Quad], i: usize) -> Quad {
        let entries = self.starts[i] as usize..self.starts[i + 1] as usize;
        let mut sum = minus(r[i], times(z[i], diagonal[i]));
        for (&c, &v) in self.columns[entries.clone()].iter().zip(&matrix.values[entries]) {
            sum = minus(sum, times(z[c as usize], v));
        }
        sum
    }
}

/// Number of coarse vertices that take part: one more than the largest that is named.
fn coarse_count(transfer: &Transfer) -> usize {
    transfer.corners.iter().flatten().map(|&c| c as usize + 1).max().unwrap_or(0)
}

#[inline(always)]
fn plus(a: Quad, b: Quad) -> Quad {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

#[inline(always)]
fn minus(a: Quad, b: Quad) -> Quad {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
}

#[inline(always)]
fn times(a: Quad, s: f32) -> Quad {
    [a[0] * s, a[1] * s, a[2] * s, a[3] * s]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hierarchy, kernel::svd2::rest_inverse, mesh::generate};

    /// How much a cycle leaves of the residual, once the first few are over.
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
        let transfers = levels.into_iter().map(|l| l.transfer).collect();
        let multigrid = Multigrid::new(&masses, &triangles, &[], transfers, &[0.1 * n as f64, n as f64]);
        assert!(*multigrid.sizes().last().unwrap() <= 200);
        let threads = Threads::new(1).unwrap();
        let mut cycle = multigrid.scratch();
        multigrid.choose(&mut cycle, 1, |i| if i % 3 == 0 && masses[i] > 0.0 { extra } else { 0.0 });
        let goal: Vec<Quad> =
            (0..n)
                .map(|i| {
                    if masses[i] > 0.0 { [(i as f32).sin(), mesh.positions[i].x, 1.0, 0.0] } else { [0.0; 4] }
                })
                .collect();
        let (level, matrix) = (&multigrid.levels[0], &multigrid.levels[0].matrices[1]);
        let zero = vec![[0.0; 4]; n];
        let b: Vec<Quad> = (0..n)
            .map(|i| times(level.residual(matrix, &cycle.levels[0].diagonal, &zero, &goal, i), -1.0))
            .collect();
        let mut x = vec![[0.0; 4]; n];
        let mut norms = Vec::new();
        for _ in 0..6 {
            for i in 0..n {
                let rest = level.residual(matrix, &cycle.levels[0].diagonal, &b, &x, i);
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
            assert!(rate < 0.4, "{cells} cells: {rate}");
        }
    }

    #[test]
    fn pins_jitter_and_a_changed_diagonal_slow_it_little() {
        let rate = contraction(64, generate::Diagonals::Jittered, &[0, 64, 2000], 0.0);
        assert!(rate < 0.45, "pins: {rate}");
        let rate = contraction(64, generate::Diagonals::Alternating, &[0, 64], 1000.0);
        assert!(rate < 0.6, "contact: {rate}");
    }
}
