//! Lanes of x86 processors: 16 (AVX-512) or 8 (AVX2).
//!
//! SAFETY of every intrinsic here: no other module can name these types, so their functions are only ever
//! instantiated by [`run`](super::run), inside functions that are compiled for the instructions and called
//! only where [`LaneKind`](super::LaneKind) found them in the processor.

use std::{
    arch::x86_64::*,
    ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub},
};

use super::{BATCH, Lanes, Quad, Row, VertexOffset};
use crate::kernel::real::Real;

/// Operators of a lane type from intrinsics. SAFETY of all of them: see the module.
macro_rules! operators {
    ($lanes:ident, $($trait:ident $method:ident $intrinsic:ident),*) => {$(
        impl $trait for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: see the module.
                unsafe { Self($intrinsic(self.0, other.0)) }
            }
        }
    )*};
}

/// One vertex.
///
/// # Safety
/// `index` must be inside the array.
#[inline(always)]
unsafe fn quad(base: *const Quad, index: VertexOffset) -> __m128 {
    // SAFETY: the caller's promise.
    unsafe { _mm_loadu_ps(base.byte_add(index.0 as usize).cast()) }
}

/// Puts back one vertex.
///
/// # Safety
/// `index` must be inside the array, and nobody else may use it.
#[inline(always)]
unsafe fn put(base: *mut Quad, index: VertexOffset, value: __m128) {
    // SAFETY: the caller's promise.
    unsafe { _mm_storeu_ps(base.byte_add(index.0 as usize).cast(), value) }
}

/// 16 lanes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Avx512(__m512);

operators!(Avx512, Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);

impl Neg for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm512_xor_ps(self.0, _mm512_set1_ps(-0.0))) }
    }
}

impl Real for Avx512 {
    type Mask = u16;
    const EPSILON: f32 = f32::EPSILON;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see the module; likewise below.
        unsafe { Self(_mm512_set1_ps(value)) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm512_sqrt_ps(self.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm512_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm512_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm512_abs_ps(self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> u16 {
        // SAFETY: see the module.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> u16 {
        // SAFETY: see the module.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn select(mask: u16, yes: Self, no: Self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm512_mask_blend_ps(mask, no.0, yes.0)) }
    }
    #[inline(always)]
    fn any(mask: u16) -> bool {
        mask != 0
    }
}

impl Avx512 {
    /// Between four registers of four vertices each (one in every 128-bit part) and four components.
    #[inline(always)]
    unsafe fn transpose(q: [__m512; 4]) -> [__m512; 4] {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let (t0, t1) = (_mm512_unpacklo_ps(q[0], q[1]), _mm512_unpackhi_ps(q[0], q[1]));
            let (t2, t3) = (_mm512_unpacklo_ps(q[2], q[3]), _mm512_unpackhi_ps(q[2], q[3]));
            [
                _mm512_shuffle_ps::<0x44>(t0, t2),
                _mm512_shuffle_ps::<0xEE>(t0, t2),
                _mm512_shuffle_ps::<0x44>(t1, t3),
                _mm512_shuffle_ps::<0xEE>(t1, t3),
            ]
        }
    }
}

impl Lanes for Avx512 {
    const WIDTH: usize = 16;

    #[inline(always)]
    fn view(rows: &mut [Row]) -> &mut [Self] {
        let count = size_of_val(rows) / size_of::<Self>();
        // SAFETY: rows are aligned as the widest lanes and hold that many floats of any bits, which lanes
        // are.
        unsafe { std::slice::from_raw_parts_mut(rows.as_mut_ptr().cast(), count) }
    }

    #[inline(always)]
    fn load(values: &[f32; BATCH], _at: usize) -> Self {
        // SAFETY: 16 floats are there.
        unsafe { Self(_mm512_loadu_ps(values.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; BATCH], _at: usize) {
        // SAFETY: 16 floats are there.
        unsafe { _mm512_storeu_ps(values.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    unsafe fn gather(base: *const Quad, indices: &[VertexOffset; BATCH], _at: usize) -> [Self; 4] {
        // SAFETY: the caller vouches for indices and instructions.
        unsafe {
            let mut parts = [_mm512_setzero_ps(); 4];
            for j in 0..4 {
                let q = _mm512_castps128_ps512(quad(base, indices[j]));
                let q = _mm512_insertf32x4::<1>(q, quad(base, indices[j + 4]));
                let q = _mm512_insertf32x4::<2>(q, quad(base, indices[j + 8]));
                parts[j] = _mm512_insertf32x4::<3>(q, quad(base, indices[j + 12]));
            }
            let [x, y, z, w] = Self::transpose(parts);
            [Self(x), Self(y), Self(z), Self(w)]
        }
    }

    #[inline(always)]
    unsafe fn scatter(base: *mut Quad, indices: &[VertexOffset; BATCH], _at: usize, values: [Self; 4]) {
        // SAFETY: the caller vouches for indices, instructions and sole use.
        unsafe {
            let quads = Self::transpose([values[0].0, values[1].0, values[2].0, values[3].0]);
            for j in 0..4 {
                put(base, indices[j], _mm512_castps512_ps128(quads[j]));
                put(base, indices[j + 4], _mm512_extractf32x4_ps::<1>(quads[j]));
                put(base, indices[j + 8], _mm512_extractf32x4_ps::<2>(quads[j]));
                put(base, indices[j + 12], _mm512_extractf32x4_ps::<3>(quads[j]));
            }
        }
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        // SAFETY: see the module.
        unsafe { _mm512_reduce_max_ps(self.0) }
    }

    #[inline(always)]
    fn bits(mask: u16) -> u32 {
        mask.into()
    }
}

/// 8 lanes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Avx2(__m256);

operators!(Avx2, Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

impl Neg for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm256_xor_ps(self.0, _mm256_set1_ps(-0.0))) }
    }
}

/// All bits of a lane set, or none.
#[derive(Clone, Copy)]
pub(super) struct Mask8(__m256);

operators!(Mask8, BitAnd bitand _mm256_and_ps, BitOr bitor _mm256_or_ps);

impl Not for Mask8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm256_xor_ps(self.0, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))) }
    }
}

impl Real for Avx2 {
    type Mask = Mask8;
    const EPSILON: f32 = f32::EPSILON;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see the module; likewise below.
        unsafe { Self(_mm256_set1_ps(value)) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm256_sqrt_ps(self.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm256_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm256_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask8 {
        // SAFETY: see the module.
        unsafe { Mask8(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask8 {
        // SAFETY: see the module.
        unsafe { Mask8(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) }
    }
    #[inline(always)]
    fn select(mask: Mask8, yes: Self, no: Self) -> Self {
        // SAFETY: see the module.
        unsafe { Self(_mm256_blendv_ps(no.0, yes.0, mask.0)) }
    }
    #[inline(always)]
    fn any(mask: Mask8) -> bool {
        // SAFETY: see the module.
        unsafe { _mm256_movemask_ps(mask.0) != 0 }
    }
}

impl Avx2 {
    /// Between four registers of two vertices each and four components.
    #[inline(always)]
    unsafe fn transpose(q: [__m256; 4]) -> [__m256; 4] {
        // SAFETY: the caller has AVX2.
        unsafe {
            let (t0, t1) = (_mm256_unpacklo_ps(q[0], q[1]), _mm256_unpackhi_ps(q[0], q[1]));
            let (t2, t3) = (_mm256_unpacklo_ps(q[2], q[3]), _mm256_unpackhi_ps(q[2], q[3]));
            [
                _mm256_shuffle_ps::<0x44>(t0, t2),
                _mm256_shuffle_ps::<0xEE>(t0, t2),
                _mm256_shuffle_ps::<0x44>(t1, t3),
                _mm256_shuffle_ps::<0xEE>(t1, t3),
            ]
        }
    }
}

impl Lanes for Avx2 {
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
        // SAFETY: `at & 8` is 0 or 8 (as `at` is), and 16 floats are there.
        unsafe { Self(_mm256_loadu_ps(values.as_ptr().add(at & 8))) }
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; BATCH], at: usize) {
        // SAFETY: `at & 8` is 0 or 8 (as `at` is), and 16 floats are there.
        unsafe { _mm256_storeu_ps(values.as_mut_ptr().add(at & 8), self.0) }
    }

    #[inline(always)]
    unsafe fn gather(base: *const Quad, indices: &[VertexOffset; BATCH], at: usize) -> [Self; 4] {
        // SAFETY: the caller vouches for indices and instructions.
        unsafe {
            let mut parts = [_mm256_setzero_ps(); 4];
            for j in 0..4 {
                let q = _mm256_castps128_ps256(quad(base, indices[at + j]));
                parts[j] = _mm256_insertf128_ps::<1>(q, quad(base, indices[at + j + 4]));
            }
            let [x, y, z, w] = Self::transpose(parts);
            [Self(x), Self(y), Self(z), Self(w)]
        }
    }

    #[inline(always)]
    unsafe fn scatter(base: *mut Quad, indices: &[VertexOffset; BATCH], at: usize, values: [Self; 4]) {
        // SAFETY: the caller vouches for indices, instructions and sole use.
        unsafe {
            let quads = Self::transpose([values[0].0, values[1].0, values[2].0, values[3].0]);
            for j in 0..4 {
                put(base, indices[at + j], _mm256_castps256_ps128(quads[j]));
                put(base, indices[at + j + 4], _mm256_extractf128_ps::<1>(quads[j]));
            }
        }
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        let mut values = [0.0f32; 8];
        // SAFETY: 8 floats of room.
        unsafe { _mm256_storeu_ps(values.as_mut_ptr(), self.0) };
        values.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }

    #[inline(always)]
    fn bits(mask: Mask8) -> u32 {
        // SAFETY: see the module.
        unsafe { _mm256_movemask_ps(mask.0) as u32 }
    }
}
