//! Sparse matrices of the levels: one pattern, values for every κ.

use super::{
    multigrid::{minus, times},
    sparse::Rows,
};
use crate::kernel::lanes::Quad;

/// Pattern of a matrix without its diagonal.
#[derive(Clone, Debug, Default)]
pub(super) struct Matrix {
    starts: Vec<u32>,
    columns: Vec<u32>,
}

impl Matrix {
    pub fn new(rows: &Rows) -> Self {
        let mut matrix = Self { starts: vec![0], columns: Vec::new() };
        for (i, row) in rows.0.iter().enumerate() {
            matrix.columns.extend(row.iter().map(|e| e.0).filter(|&j| j as usize != i));
            matrix.starts.push(matrix.columns.len() as u32);
        }
        matrix
    }

    pub fn size(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Off-diagonal values, and the diagonal.
    pub fn values(&self, rows: &Rows, kappa: f64) -> (Vec<f32>, Vec<f32>) {
        let (mut values, mut diagonal) = (Vec::with_capacity(self.columns.len()), vec![0.0; self.size()]);
        for (i, row) in rows.0.iter().enumerate() {
            for (j, [mass, stiff]) in row {
                let value = (mass + kappa * stiff) as f32;
                if *j as usize == i { diagonal[i] = value } else { values.push(value) }
            }
        }
        (values, diagonal)
    }

    /// ω for every κ: `factor` over the largest eigenvalue of D⁻¹A, which a power iteration approaches from
    /// below, four κ at once.
    pub fn dampings(&self, rows: &Rows, stiffness: &[f64], factor: f64) -> Vec<f32> {
        let four = |kappas: &[f64]| {
            let at = |mass: f64, stiff: f64| -> Quad {
                std::array::from_fn(|k| kappas.get(k).map_or(0.0, |kappa| (mass + kappa * stiff) as f32))
            };
            let mut values = Vec::with_capacity(self.columns.len());
            let mut diagonal = vec![[0.0; 4]; self.size()];
            for (i, row) in rows.0.iter().enumerate() {
                for (j, [mass, stiff]) in row {
                    let value = at(*mass, *stiff);
                    if *j as usize == i { diagonal[i] = value } else { values.push(value) }
                }
            }
            let largest = self.largest_eigenvalues(&values, &diagonal);
            largest.into_iter().take(kappas.len()).map(|largest| (factor / (1.05 * largest)) as f32)
        };
        stiffness.chunks(4).flat_map(four).collect()
    }

    /// About the largest eigenvalue of D⁻¹A of four matrices of this pattern, side by side.
    fn largest_eigenvalues(&self, values: &[Quad], diagonal: &[Quad]) -> [f64; 4] {
        let n = self.size();
        let scramble = |i: usize| (i.wrapping_mul(2_654_435_761) % 1000) as f32 / 1000.0 - 0.5;
        let mut x: Vec<Quad> = (0..n).map(|i| [scramble(i); 4]).collect();
        let mut y = x.clone();
        let (mut largest, mut is_done) = ([1.0; 4], [false; 4]);
        let norms = |v: &[Quad]| -> [f64; 4] {
            let mut sums = [0.0; 4];
            for q in v {
                (0..4).for_each(|k| sums[k] += f64::from(q[k]) * f64::from(q[k]));
            }
            sums.map(f64::sqrt)
        };
        for _ in 0..15 {
            for (i, y) in y.iter_mut().enumerate() {
                let entries = self.starts[i] as usize..self.starts[i + 1] as usize;
                let (own, d) = (x[i], diagonal[i]);
                let mut product: Quad = std::array::from_fn(|k| own[k] * d[k]);
                for (&c, v) in self.columns[entries.clone()].iter().zip(&values[entries]) {
                    let other = x[c as usize];
                    (0..4).for_each(|k| product[k] += other[k] * v[k]);
                }
                *y = std::array::from_fn(|k| product[k] * if d[k] > 0.0 { 1.0 / d[k] } else { 0.0 });
            }
            let (before, after) = (norms(&x), norms(&y));
            for k in 0..4 {
                is_done[k] |= before[k] <= 0.0 || after[k] <= 0.0;
                if !is_done[k] {
                    largest[k] = after[k] / before[k];
                }
            }
            let scale = after.map(|after| if after > 0.0 { (1.0 / after) as f32 } else { 0.0 });
            for (x, y) in x.iter_mut().zip(&y) {
                *x = std::array::from_fn(|k| y[k] * scale[k]);
            }
        }
        largest
    }

    /// r − A z in row `i`.
    #[inline(always)]
    pub fn residual(&self, values: &[f32], diagonal: &[f32], r: &[Quad], z: &[Quad], i: usize) -> Quad {
        let entries = self.starts[i] as usize..self.starts[i + 1] as usize;
        let mut sum = minus(r[i], times(z[i], diagonal[i]));
        for (&c, &v) in self.columns[entries.clone()].iter().zip(&values[entries]) {
            sum = minus(sum, times(z[c as usize], v));
        }
        sum
    }
}
