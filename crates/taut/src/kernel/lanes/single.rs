//! One `f64` as lanes: tests run whole solvers with it, as their reference.

use super::{BATCH, Lanes, Quad, Row, VertexOffset};

impl Lanes for f64 {
    const WIDTH: usize = 1;

    #[inline(always)]
    fn view(rows: &mut [Row]) -> &mut [Self] {
        let count = size_of_val(rows) / size_of::<Self>();
        // SAFETY: rows are aligned more strictly and hold that many bytes; any bits are an f64.
        unsafe { std::slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), count) }
    }

    #[inline(always)]
    fn load(values: &[f32; BATCH], at: usize) -> Self {
        values[at].into()
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; BATCH], at: usize) {
        values[at] = self as f32;
    }

    #[inline(always)]
    unsafe fn gather(base: *const Quad, indices: &[VertexOffset; BATCH], at: usize) -> [Self; 4] {
        // SAFETY: the caller vouches for the index.
        unsafe { *base.add(indices[at].index()) }.map(f64::from)
    }

    #[inline(always)]
    unsafe fn scatter(base: *mut Quad, indices: &[VertexOffset; BATCH], at: usize, values: [Self; 4]) {
        // SAFETY: the caller vouches for the index and for sole use.
        unsafe { *base.add(indices[at].index()) = values.map(|value| value as f32) };
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn bits(mask: bool) -> u32 {
        mask.into()
    }
}
