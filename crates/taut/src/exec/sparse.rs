//! Rows of sparse matrices times vectors of [`Quad`]s: each row is summed in its own order, so that bits do
//! not depend on threads.

use std::ops::Range;

use crate::kernel::lanes::Quad;

/// Where the entries of a sparse matrix are.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Where the entries of each row begin; not beyond the end of `columns`, and never less than before.
    starts: Vec<u32>,
    columns: Vec<u32>,
    /// More than any column.
    width: usize,
}

impl Default for Pattern {
    fn default() -> Self {
        Self { starts: vec![0], columns: Vec::new(), width: 0 }
    }
}

impl Pattern {
    /// Adds a row.
    pub fn push(&mut self, columns: impl Iterator<Item = u32>) {
        self.columns.extend(columns);
        let begin = self.starts[self.starts.len() - 1] as usize;
        let largest = self.columns[begin..].iter().max().map_or(0, |&c| c as usize + 1);
        self.width = self.width.max(largest);
        self.starts.push(u32::try_from(self.columns.len()).expect("fewer than 2^32 entries"));
    }

    /// Places and columns of the entries of row `i`.
    pub fn of(&self, i: usize) -> (Range<usize>, &[u32]) {
        let places = self.starts[i] as usize..self.starts[i + 1] as usize;
        (places.clone(), &self.columns[places])
    }

    /// Number of entries.
    pub fn entry_count(&self) -> usize {
        self.columns.len()
    }

    /// A matrix of this pattern with `values`, times `x`.
    ///
    /// # Panics
    /// If there are fewer values than entries, or fewer vectors than columns.
    pub fn times<'a>(&'a self, values: &'a [f32], x: &'a [Quad]) -> Product<'a> {
        assert!(values.len() >= self.columns.len() && x.len() >= self.width);
        Product { pattern: self, values, x }
    }
}

/// A sparse matrix times a vector, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    pattern: &'a Pattern,
    /// As many as the pattern has entries.
    values: &'a [f32],
    /// As many as the pattern is wide.
    x: &'a [Quad],
}

impl Product<'_> {
    /// Σ a_ij x_j.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Quad {
        self.sum(i, [0.0; 4])
    }

    /// Σ a_ij (x_j − x_i).
    #[inline(always)]
    pub fn differences(&self, i: usize) -> Quad {
        self.sum(i, self.x[i])
    }

    #[inline(always)]
    fn sum(&self, i: usize, from: Quad) -> Quad {
        let (begin, end) = (self.pattern.starts[i] as usize, self.pattern.starts[i + 1] as usize);
        // SAFETY: `Pattern::push` lets no row end beyond the columns and is wider than all of them;
        // `Pattern::times` has checked that there is a value for each and a vector for the widest.
        let entry = |k: usize| unsafe {
            let column = *self.pattern.columns.get_unchecked(k);
            (*self.values.get_unchecked(k), self.x.get_unchecked(column as usize))
        };
        let add = |sum: &mut Quad, (value, x): (f32, &Quad)| {
            (0..4).for_each(|c| sum[c] += value * (x[c] - from[c]));
        };
        // Two sums, since one would wait for each addition.
        let (mut even, mut odd, mut k) = ([0.0; 4], [0.0; 4], begin);
        while k + 1 < end {
            add(&mut even, entry(k));
            add(&mut odd, entry(k + 1));
            k += 2;
        }
        if k < end {
            add(&mut even, entry(k));
        }
        std::array::from_fn(|c| even[c] + odd[c])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_summed() {
        let mut pattern = Pattern::default();
        [vec![0, 2, 1], vec![], vec![1]].into_iter().for_each(|row| pattern.push(row.into_iter()));
        let x = [[1.0, 2.0, 3.0, 0.0], [10.0, 0.0, 0.0, 0.0], [100.0, 1.0, 0.0, 0.0]];
        let product = pattern.times(&[1.0, 2.0, 3.0, 4.0], &x);
        assert_eq!(product.row(0), [231.0, 4.0, 3.0, 0.0]);
        assert_eq!(product.row(1), [0.0; 4]);
        assert_eq!(product.row(2), [40.0, 0.0, 0.0, 0.0]);
        assert_eq!(product.differences(0), [225.0, -8.0, -15.0, 0.0]);
        assert_eq!(pattern.entry_count(), 4);
    }

    #[test]
    #[should_panic(expected = "width")]
    fn vectors_that_are_too_short_are_refused() {
        let mut pattern = Pattern::default();
        pattern.push([3].into_iter());
        pattern.times(&[1.0], &[[0.0; 4]; 3]);
    }
}
