//! A sparse direct solver for symmetric positive definite matrices of 3×3 blocks, one a particle.
//!
//! Particles that springs join are a sparse graph with hardly any structure, often long and thin: chains,
//! ropes, nets. Their stiffness spans many orders of magnitude, so that a direct solve is both the simplest
//! and the fastest. Rows are eliminated in the order of least degree, which is found once; factors fill in
//! place. Chains cost as much as their length, nets of n particles about n^1.5. Single threaded, f64.

use std::collections::BTreeSet;

use glam::{DMat3, DVec3};

/// Where factors have blocks, and in which order rows are eliminated.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The row that is eliminated k-th.
    order: Vec<u32>,
    /// The place of each row in `order`.
    place: Vec<u32>,
    /// Where the blocks below the diagonal of each column begin, in the order of elimination.
    first: Vec<u32>,
    /// Rows of these, as places, ascending in each column.
    rows: Vec<u32>,
}

impl Pattern {
    /// The pattern of a matrix of `count` rows with blocks at the pairs of `edges`.
    pub fn new(count: usize, edges: impl IntoIterator<Item = [u32; 2]>) -> Self {
        let mut around: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); count];
        for [a, b] in edges.into_iter().filter(|[a, b]| a != b) {
            around[a as usize].insert(b);
            around[b as usize].insert(a);
        }
        let mut waiting: BTreeSet<(usize, u32)> =
            around.iter().zip(0..).map(|(own, i)| (own.len(), i)).collect();
        let (mut order, mut columns) = (Vec::with_capacity(count), Vec::with_capacity(count));
        while let Some((_, i)) = waiting.pop_first() {
            let own = std::mem::take(&mut around[i as usize]);
            for &j in &own {
                let other = &mut around[j as usize];
                waiting.remove(&(other.len(), j));
                other.remove(&i);
                other.extend(own.iter().filter(|&&k| k != j));
                waiting.insert((other.len(), j));
            }
            order.push(i);
            columns.push(own);
        }
        let mut place = vec![0; count];
        order.iter().zip(0..).for_each(|(&i, k)| place[i as usize] = k);
        let (mut first, mut rows) = (vec![0], Vec::new());
        for column in columns {
            let begin = rows.len();
            rows.extend(column.into_iter().map(|i| place[i as usize]));
            rows[begin..].sort_unstable();
            first.push(rows.len() as u32);
        }
        Self { order, place, first, rows }
    }

    fn column(&self, k: usize) -> std::ops::Range<usize> {
        self.first[k] as usize..self.first[k + 1] as usize
    }
}

/// A matrix of a [`Pattern`], or its factors.
#[derive(Clone, Debug, Default)]
pub struct Factors {
    /// Diagonal blocks in the order of elimination; once factored, their lower Cholesky factors.
    diagonal: Vec<DMat3>,
    /// Blocks below, column by column.
    below: Vec<DMat3>,
    /// Scratch: the right-hand side in the order of elimination.
    rhs: Vec<DVec3>,
}

impl Factors {
    /// Room for a matrix of `pattern`.
    pub fn new(pattern: &Pattern) -> Self {
        let count = pattern.order.len();
        Self {
            diagonal: vec![DMat3::ZERO; count],
            below: vec![DMat3::ZERO; pattern.rows.len()],
            rhs: vec![DVec3::ZERO; count],
        }
    }

    /// Makes it the zero matrix.
    pub fn clear(&mut self) {
        self.diagonal.fill(DMat3::ZERO);
        self.below.fill(DMat3::ZERO);
    }

    /// Adds `block` at row `i` of the diagonal.
    pub fn add_diagonal(&mut self, pattern: &Pattern, i: usize, block: DMat3) {
        self.diagonal[pattern.place[i] as usize] += block;
    }

    /// Adds the symmetric `block` at rows `i` and `j`, which the pattern must have.
    pub fn add_pair(&mut self, pattern: &Pattern, [i, j]: [usize; 2], block: DMat3) {
        let [a, b] = [pattern.place[i], pattern.place[j]];
        let (column, row) = (a.min(b) as usize, a.max(b));
        let range = pattern.column(column);
        if let Ok(at) = pattern.rows[range.clone()].binary_search(&row) {
            self.below[range.start + at] += block;
        }
    }

    /// Factors it in place.
    pub fn factor(&mut self, pattern: &Pattern) {
        for k in 0..self.diagonal.len() {
            let lower = cholesky(self.diagonal[k]);
            self.diagonal[k] = lower;
            let range = pattern.column(k);
            let rows = &pattern.rows[range.clone()];
            self.below[range.clone()].iter_mut().for_each(|below| *below = over_transposed(*below, lower));
            for (a, &col) in rows.iter().enumerate() {
                let transposed = self.below[range.start + a].transpose();
                self.diagonal[col as usize] -= self.below[range.start + a] * transposed;
                let target = pattern.column(col as usize);
                let mut at = target.start;
                for (b, &row) in rows.iter().enumerate().skip(a + 1) {
                    while pattern.rows[at] != row {
                        at += 1;
                    }
                    let update = self.below[range.start + b] * transposed;
                    self.below[at] -= update;
                }
            }
        }
    }

    /// Solves for the right-hand side `x`, in place, once it is factored.
    pub fn solve(&mut self, pattern: &Pattern, x: &mut [DVec3]) {
        let Self { diagonal, below, rhs } = self;
        for (own, &i) in rhs.iter_mut().zip(&pattern.order) {
            *own = x[i as usize];
        }
        for k in 0..diagonal.len() {
            let range = pattern.column(k);
            let value = forward(diagonal[k], rhs[k]);
            rhs[k] = value;
            for (&row, block) in pattern.rows[range.clone()].iter().zip(&below[range]) {
                rhs[row as usize] -= *block * value;
            }
        }
        for k in (0..diagonal.len()).rev() {
            let range = pattern.column(k);
            let mut value = rhs[k];
            for (&row, block) in pattern.rows[range.clone()].iter().zip(&below[range]) {
                value -= block.transpose() * rhs[row as usize];
            }
            rhs[k] = backward(diagonal[k], value);
        }
        for (own, &i) in rhs.iter().zip(&pattern.order) {
            x[i as usize] = *own;
        }
    }
}

/// The lower Cholesky factor C of a symmetric positive definite block C Cᵀ. Stiff springs make blocks of
/// condition numbers with which inverses, or factors without square roots, lose all digits of what is soft.
fn cholesky(a: DMat3) -> DMat3 {
    let tiny = 1e-14 * (a.x_axis.x + a.y_axis.y + a.z_axis.z).max(f64::MIN_POSITIVE);
    let l00 = a.x_axis.x.max(tiny).sqrt();
    let [l10, l20] = [a.x_axis.y / l00, a.x_axis.z / l00];
    let l11 = (a.y_axis.y - l10 * l10).max(tiny).sqrt();
    let l21 = (a.y_axis.z - l20 * l10) / l11;
    let l22 = (a.z_axis.z - l20 * l20 - l21 * l21).max(tiny).sqrt();
    DMat3::from_cols(DVec3::new(l00, l10, l20), DVec3::new(0.0, l11, l21), DVec3::new(0.0, 0.0, l22))
}

/// A C⁻ᵀ of a lower C.
fn over_transposed(a: DMat3, c: DMat3) -> DMat3 {
    let x = a.x_axis / c.x_axis.x;
    let y = (a.y_axis - x * c.x_axis.y) / c.y_axis.y;
    let z = (a.z_axis - x * c.x_axis.z - y * c.y_axis.z) / c.z_axis.z;
    DMat3::from_cols(x, y, z)
}

/// C⁻¹ b of a lower C.
fn forward(c: DMat3, b: DVec3) -> DVec3 {
    let x = b.x / c.x_axis.x;
    let y = (b.y - c.x_axis.y * x) / c.y_axis.y;
    DVec3::new(x, y, (b.z - c.x_axis.z * x - c.y_axis.z * y) / c.z_axis.z)
}

/// C⁻ᵀ b of a lower C.
fn backward(c: DMat3, b: DVec3) -> DVec3 {
    let z = b.z / c.z_axis.z;
    let y = (b.y - c.y_axis.z * z) / c.y_axis.y;
    DVec3::new((b.x - c.x_axis.y * y - c.x_axis.z * z) / c.x_axis.x, y, z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    #[test]
    fn a_matrix_times_its_solution_is_the_right_hand_side() {
        let mut random = Random::new(3, 1);
        let mut number = || f64::from(random.below(1000)) / 500.0 - 1.0;
        let count = 40usize;
        let edges: Vec<[u32; 2]> =
            (0..count as u32).flat_map(|i| [[i, (i + 1) % 40], [i, (7 * i + 3) % 40]]).collect();
        let pattern = Pattern::new(count, edges.iter().copied());
        let mut factors = Factors::new(&pattern);
        factors.clear();
        let mut dense = vec![vec![DMat3::ZERO; count]; count];
        for i in 0..count {
            let own = DMat3::from_diagonal(DVec3::splat(0.1));
            factors.add_diagonal(&pattern, i, own);
            dense[i][i] += own;
        }
        for &[a, b] in edges.iter().filter(|[a, b]| a != b) {
            let [a, b] = [a as usize, b as usize];
            let d = DVec3::new(number(), number(), number());
            let block = 1e6 * DMat3::from_cols(d * d.x, d * d.y, d * d.z);
            for i in [a, b] {
                factors.add_diagonal(&pattern, i, block);
                dense[i][i] += block;
            }
            factors.add_pair(&pattern, [a, b], -block);
            dense[a][b] -= block;
            dense[b][a] -= block;
        }
        let wanted: Vec<DVec3> = (0..count).map(|_| DVec3::new(number(), number(), number())).collect();
        let mut x: Vec<DVec3> =
            dense.iter().map(|row| row.iter().zip(&wanted).map(|(a, x)| *a * *x).sum()).collect();
        factors.factor(&pattern);
        factors.solve(&pattern, &mut x);
        let error = x.iter().zip(&wanted).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(error < 1e-6, "{error}");
    }

    #[test]
    fn a_chain_fills_nothing_in() {
        let pattern = Pattern::new(100, (0..99).map(|i| [i, i + 1]));
        assert_eq!(pattern.rows.len(), 99);
    }
}
