//! Lanes in an array, for any processor.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{BATCH, Lanes, Quad, Row, VertexOffset};
use crate::kernel::real::Real;

/// 8 lanes in an array.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Array8([f32; 8]);

/// One truth value a lane of [`Array8`].
#[derive(Clone, Copy)]
pub(super) struct ArrayMask8([bool; 8]);

macro_rules! array_operators {
    ($lanes:ident, $($trait:ident $method:ident $operator:tt),*) => {$(
        impl $trait for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(std::array::from_fn(|k| self.0[k] $operator other.0[k]))
            }
        }
    )*};
}

array_operators!(Array8, Add add +, Sub sub -, Mul mul *, Div div /);
array_operators!(ArrayMask8, BitAnd bitand &, BitOr bitor |);

impl Neg for Array8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|v| -v))
    }
}

impl Not for ArrayMask8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|v| !v))
    }
}

impl Array8 {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|k| f(self.0[k], other.0[k])))
    }
}

impl Real for Array8 {
    type Mask = ArrayMask8;
    const EPSILON: f32 = f32::EPSILON;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; 8])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, <f32 as Real>::min)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, <f32 as Real>::max)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f32::abs))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> ArrayMask8 {
        ArrayMask8(std::array::from_fn(|k| self.0[k] < other.0[k]))
    }
    #[inline(always)]
    fn le(self, other: Self) -> ArrayMask8 {
        ArrayMask8(std::array::from_fn(|k| self.0[k] <= other.0[k]))
    }
    #[inline(always)]
    fn select(mask: ArrayMask8, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|k| if mask.0[k] { yes.0[k] } else { no.0[k] }))
    }
    #[inline(always)]
    fn any(mask: ArrayMask8) -> bool {
        mask.0.into_iter().any(|v| v)
    }
}

impl Lanes for Array8 {
    const WIDTH: usize = 8;

    #[inline(always)]
    fn view(rows: &mut [Row]) -> &mut [Self] {
        let count = size_of_val(rows) / size_of::<Self>();
        // SAFETY: rows are aligned as the widest lanes and hold that many floats of any bits, which lanes
        // are.
        unsafe { std::slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), count) }
    }

    #[inline(always)]
    fn load(values: &[f32; BATCH], at: usize) -> Self {
        Self(std::array::from_fn(|k| values[at + k]))
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; BATCH], at: usize) {
        values[at..at + 8].copy_from_slice(&self.0);
    }

    #[inline(always)]
    unsafe fn gather(base: *const Quad, indices: &[VertexOffset; BATCH], at: usize) -> [Self; 4] {
        let mut out = [[0.0; 8]; 4];
        for k in 0..8 {
            // SAFETY: the caller vouches for the indices.
            let quad = unsafe { *base.byte_add(indices[at + k].0 as usize) };
            for c in 0..4 {
                out[c][k] = quad[c];
            }
        }
        out.map(Self)
    }

    #[inline(always)]
    unsafe fn scatter(base: *mut Quad, indices: &[VertexOffset; BATCH], at: usize, values: [Self; 4]) {
        for k in 0..8 {
            // SAFETY: the caller vouches for the indices and for sole use.
            unsafe { *base.byte_add(indices[at + k].0 as usize) = [0, 1, 2, 3].map(|c| values[c].0[k]) };
        }
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        self.0.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }

    #[inline(always)]
    fn bits(mask: ArrayMask8) -> u32 {
        (0..).zip(mask.0).map(|(lane, set)| u32::from(set) << lane).sum()
    }
}
