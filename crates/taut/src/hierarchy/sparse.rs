//! Symmetric sparse matrices during assembly: rows of entries, mass and stiffness separate, in double
//! precision.

use rayon::prelude::*;

use super::{Transfer, multigrid::Stiff};
use crate::{
    exec::sparse::{Pattern, Product},
    kernel::lanes::Quad,
};

/// Rows of a piece of parallel work.
const GRAIN: usize = 128;

/// One entry of a row: column, mass and stiffness.
pub(super) type Entry = (u32, [f64; 2]);

/// Rows with their entries sorted by column; the diagonal is among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows(pub Vec<Vec<Entry>>);

/// Lists of (index, weight), one per vertex: an interpolation or its transpose.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Weights {
    pattern: Pattern,
    values: Vec<f32>,
}

impl Weights {
    pub fn of(&self, row: usize) -> impl Iterator<Item = (usize, f32)> {
        let (places, columns) = self.pattern.of(row);
        columns.iter().map(|&i| i as usize).zip(self.values[places].iter().copied())
    }

    /// These lists times `x`.
    pub fn times<'a>(&'a self, x: &'a [Quad]) -> Product<'a> {
        self.pattern.times(&self.values, x)
    }

    /// The transpose of a transfer to `coarse` vertices; finer vertices in their order.
    pub fn transposed(transfer: &Transfer<4>, coarse: usize) -> Self {
        let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); coarse];
        for (i, (corners, weights)) in transfer.corners.iter().zip(&transfer.weights).enumerate() {
            for (&c, &w) in corners.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
                rows[c as usize].push((i as u32, w));
            }
        }
        let mut transposed = Self::default();
        for row in &rows {
            transposed.pattern.push(row.iter().map(|e| e.0));
            transposed.values.extend(row.iter().map(|e| e.1));
        }
        transposed
    }
}

impl Rows {
    /// Mass on the diagonal and the stiffness of all elements. The contribution of folds is added to the
    /// mass, that of means to their ends. Rows and columns of vertices with mass 0 are empty.
    pub fn assemble(masses: &[f32], stiff: &Stiff) -> Self {
        let mut rows: Vec<Vec<Entry>> = masses
            .iter()
            .enumerate()
            .map(|(i, &m)| if m > 0.0 { vec![(i as u32, [f64::from(m), 0.0])] } else { Vec::new() })
            .collect();
        let mut put = |i: u32, j: u32, entry: [f64; 2]| {
            if masses[i as usize] > 0.0 && masses[j as usize] > 0.0 {
                accumulate(&mut rows[i as usize], j, entry);
            }
        };
        let mut add = |vertices: &[u32], i: usize, j: usize, entry: [f64; 2]| {
            let (i, j) = (vertices[i], vertices[j]);
            let ends = |v: u32| stiff.ends.get(v as usize).copied().unwrap_or([v; 2]);
            match (ends(i), ends(j)) {
                ([a, b], [c, d]) if a == b && c == d => put(i, j, entry),
                // What acts on means acts on their ends.
                (own, others) => {
                    let quarter = entry.map(|e| 0.25 * e);
                    own.iter().for_each(|&a| others.iter().for_each(|&c| put(a, c, quarter)));
                }
            }
        };
        for (vertices, b, area) in &stiff.triangles {
            for (i, j) in pairs(3) {
                add(vertices, i, j, [0.0, area * (b[i][0] * b[j][0] + b[i][1] * b[j][1])]);
            }
        }
        for (vertices, b, volume) in stiff.tetrahedra.iter().copied().flatten() {
            for (i, j) in pairs(4) {
                let product: f64 = (0..3).map(|k| b[i][k] * b[j][k]).sum();
                add(vertices, i, j, [0.0, volume * product]);
            }
        }
        let scaled = stiff.hinges.iter().copied().flatten().map(|hinge| (hinge, [0.0, 1.0]));
        for ((vertices, map, weight), part) in
            scaled.chain(stiff.folds.iter().copied().flatten().map(|fold| (fold, [1.0, 0.0])))
        {
            for (i, j) in pairs(4) {
                let stiffness = weight * map[i] * map[j];
                add(vertices, i, j, part.map(|part| part * stiffness));
            }
        }
        for maps in &stiff.maps {
            maps.each(&mut |(vertices, map, weight)| {
                for (i, j) in pairs(6).filter(|&(i, j)| map[i] != 0.0 && map[j] != 0.0) {
                    add(&vertices, i, j, [weight * map[i] * map[j], 0.0]);
                }
            });
        }
        Self(rows).sorted()
    }

    /// A P; rows of held vertices are empty.
    pub fn times(&self, transfer: &Transfer<4>) -> Self {
        let coarse = transfer.corners.iter().flatten().map(|&c| c as usize + 1).max().unwrap_or(0);
        let row = |places: &mut Places, entries: &Vec<Entry>| {
            let mut row = Vec::new();
            for &(j, [mass, stiffness]) in entries {
                let (corners, weights) = (transfer.corners[j as usize], transfer.weights[j as usize]);
                for k in 0..4 {
                    let w = f64::from(weights[k]);
                    if w != 0.0 {
                        places.accumulate(&mut row, corners[k], [w * mass, w * stiffness]);
                    }
                }
            }
            places.forget(&row);
            row.sort_by_key(|e| e.0);
            row
        };
        let places = || Places::new(coarse);
        Self(self.0.par_iter().with_min_len(GRAIN).map_init(places, row).collect())
    }

    /// Pᵀ A P.
    pub fn coarsened(&self, transfer: &Transfer<4>, down: &Weights, coarse: usize) -> Self {
        let row = |places: &mut Places, c: usize| {
            let mut row = Vec::new();
            for (i, w) in down.of(c) {
                for &(j, [mass, stiffness]) in &self.0[i] {
                    let (corners, weights) = (transfer.corners[j as usize], transfer.weights[j as usize]);
                    for k in 0..4 {
                        let both = f64::from(w) * f64::from(weights[k]);
                        if both != 0.0 {
                            places.accumulate(&mut row, corners[k], [both * mass, both * stiffness]);
                        }
                    }
                }
            }
            places.forget(&row);
            row
        };
        let places = || Places::new(coarse);
        Self((0..coarse).into_par_iter().with_min_len(GRAIN).map_init(places, row).collect()).sorted()
    }

    /// Sorts entries and drops those that are only rounding error: at right angles stiffness cancels.
    fn sorted(mut self) -> Self {
        for (i, row) in self.0.iter_mut().enumerate() {
            row.sort_by_key(|e| e.0);
            let size = row.iter().find(|e| e.0 as usize == i).map_or([0.0; 2], |e| e.1);
            row.retain(|(j, v)| *j as usize == i || (0..2).any(|k| v[k].abs() > 1e-6 * size[k]));
        }
        self
    }
}

/// Where the entry of each column is in a row that is being summed.
struct Places(Vec<u32>);

impl Places {
    fn new(columns: usize) -> Self {
        Self(vec![u32::MAX; columns])
    }

    fn accumulate(&mut self, row: &mut Vec<Entry>, column: u32, value: [f64; 2]) {
        let place = &mut self.0[column as usize];
        match row.get_mut(*place as usize) {
            Some((_, sum)) => {
                sum[0] += value[0];
                sum[1] += value[1];
            }
            None => {
                *place = row.len() as u32;
                row.push((column, value));
            }
        }
    }

    /// Ends `row`.
    fn forget(&mut self, row: &[Entry]) {
        row.iter().for_each(|(column, _)| self.0[*column as usize] = u32::MAX);
    }
}

/// All ordered pairs of numbers below `count`.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (0..count).map(move |j| (i, j)))
}

fn accumulate(row: &mut Vec<Entry>, column: u32, value: [f64; 2]) {
    match row.iter_mut().find(|e| e.0 == column) {
        Some((_, sum)) => {
            sum[0] += value[0];
            sum[1] += value[1];
        }
        None => row.push((column, value)),
    }
}

/// Fraction of its diagonal below which a pivot is rounding: that row depends on the rows before it. A small
/// piece of torn cloth has more coarse vertices than vertices.
const DEPENDENT: f64 = 1e-10;

/// The inverse of a symmetric positive definite matrix, row by row, by Gauss–Jordan without pivoting. Rows
/// without a diagonal, and those that depend on others, stay 0: their unknowns are 0 in the solution.
pub(super) fn inverse(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    let mut b = vec![0.0; n * n];
    for i in 0..n {
        b[i * n + i] = 1.0;
    }
    let least: Vec<f64> = (0..n).map(|i| (DEPENDENT * a[i * n + i].abs()).max(1e-300)).collect();
    for p in 0..n {
        let pivot = a[p * n + p];
        if pivot.abs() < least[p] {
            a[p * n..(p + 1) * n].fill(0.0);
            b[p * n..(p + 1) * n].fill(0.0);
            continue;
        }
        for k in 0..n {
            a[p * n + k] /= pivot;
            b[p * n + k] /= pivot;
        }
        let (row_a, row_b) = (a[p * n..(p + 1) * n].to_vec(), b[p * n..(p + 1) * n].to_vec());
        for i in (0..n).filter(|&i| i != p) {
            let factor = a[i * n + p];
            if factor != 0.0 {
                for k in 0..n {
                    a[i * n + k] -= factor * row_a[k];
                    b[i * n + k] -= factor * row_b[k];
                }
            }
        }
    }
    b
}
