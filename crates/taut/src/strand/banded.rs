//! LDLᵀ of symmetric banded matrices, row by row as they are assembled, without pivoting.
//!
//! The matrices here are saddle points: lengths are constraints. Ordered node by node, with the multiplier of
//! a segment after the node at its end, every multiplier comes when what it constrains has been eliminated,
//! so its pivot is safely negative and none has to be exchanged. A row costs B²/2 multiplications and a
//! division.

use crate::kernel::lanes::Lanes;

/// The factors of a matrix of half-bandwidth `B`, and its right-hand side.
///
/// Rows are numbered from `B` on; the `B` before them are zero, so that no row needs to ask whether it has
/// neighbours.
pub(super) struct Banded<'a, L, const B: usize> {
    /// L: entry d of row r belongs to column r − 1 − d.
    pub(super) lower: &'a mut [[L; B]],
    /// Inverses of the diagonal of D.
    pub(super) inverse: &'a mut [L],
    /// The right-hand side, then the solution.
    pub(super) right: &'a mut [L],
}

impl<L: Lanes, const B: usize> Banded<'_, L, B> {
    /// Prepares for the first row.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        let zero = L::splat(0.0);
        self.lower[..B].fill([zero; B]);
        self.inverse[..B].fill(zero);
        self.right[..B].fill(zero);
    }

    /// Adds row `r` of the matrix, whose entries left of the diagonal are `a` (the nearest first, not more
    /// than `S`), and eliminates it; `right` is its right-hand side.
    #[inline(always)]
    pub(super) fn push<const S: usize>(&mut self, r: usize, mut a: [L; B], diagonal: L, right: L) {
        let (above, own) = self.lower.split_at_mut(r);
        let above: &[[L; B]; B] = above[r - B..].try_into().expect("B rows above");
        let inverse: &[L; B] = self.inverse[r - B..r].try_into().expect("B rows above");
        let values: &[L; B] = self.right[r - B..r].try_into().expect("B rows above");
        // Terms of far columns first: the near ones are known last.
        for d in (0..S - 1).rev() {
            let row = &above[B - 1 - d];
            let mut u = a[d];
            for q in (d + 1..S).rev() {
                u = u - a[q] * row[q - d - 1];
            }
            a[d] = u;
        }
        let (mut pivot, mut value) = (diagonal, right);
        let mut lower = [L::splat(0.0); B];
        for d in (0..S).rev() {
            lower[d] = a[d] * inverse[B - 1 - d];
            pivot = pivot - a[d] * lower[d];
            value = value - lower[d] * values[B - 1 - d];
        }
        own[0] = lower;
        self.inverse[r] = L::splat(1.0) / pivot;
        self.right[r] = value;
    }

    /// Puts the solution of rows `B..end` in the place of their right-hand side.
    #[inline(always)]
    pub(super) fn solve(&mut self, end: usize) {
        let mut known = [L::splat(0.0); B];
        for r in (B..end).rev() {
            let x = self.right[r] * self.inverse[r] - known[0];
            self.right[r] = x;
            let lower = &self.lower[r];
            for d in 0..B {
                let next = if d + 1 < B { known[d + 1] } else { L::splat(0.0) };
                known[d] = next + lower[d] * x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    #[test]
    fn solves_a_saddle_point() {
        const B: usize = 3;
        let n = 40;
        let mut random = Random::new(1, 0);
        let mut unit = || f64::from(random.unit()) - 0.5;
        // Every fourth row is a constraint on the two before it.
        let rows: Vec<([f64; B], f64, f64)> = (0..n)
            .map(|r: usize| {
                let mut a: [f64; B] = std::array::from_fn(|d| if d < r { 0.3 * unit() } else { 0.0 });
                if r % 4 == 3 {
                    a = [1.0, 0.7, 0.0];
                }
                (a, if r % 4 == 3 { 0.0 } else { 2.0 }, unit())
            })
            .collect();
        let (mut lower, mut inverse, mut right) = (vec![[0.0; B]; n + B], vec![0.0; n + B], vec![0.0; n + B]);
        let mut banded = Banded { lower: &mut lower, inverse: &mut inverse, right: &mut right };
        banded.begin();
        for (r, (a, diagonal, right)) in rows.iter().enumerate() {
            banded.push::<B>(B + r, *a, *diagonal, *right);
        }
        banded.solve(n + B);
        let x = &right[B..];
        let mut product = vec![0.0; n];
        for (r, (a, diagonal, _)) in rows.iter().enumerate() {
            product[r] += diagonal * x[r];
            for d in 0..B.min(r) {
                product[r] += a[d] * x[r - 1 - d];
                product[r - 1 - d] += a[d] * x[r];
            }
        }
        for r in 0..n {
            assert!((product[r] - rows[r].2).abs() < 1e-10, "row {r}");
        }
        let negative = inverse[B..].iter().filter(|&&inverse| inverse < 0.0).count();
        assert_eq!(negative, n / 4, "as many negative pivots as constraints");
    }
}
