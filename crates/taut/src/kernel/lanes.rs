//! SIMD lanes: 16 (AVX-512), 8 (AVX2) or a portable array of 8, chosen at run time.
//!
//! Vertices are four floats: a 128-bit load each, and a transpose to lanes; measured twice as fast as
//! hardware gathers. The fourth float travels along (the sweeps keep the inverse mass there).
//!
//! All widths give the same bits: the operations are the same, each lane by itself, and none is fused or
//! approximate.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::{
    ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub},
    sync::OnceLock,
};

use super::real::Real;

/// Elements in a stored batch, whatever the width of the lanes that work on it.
pub const BATCH: usize = 16;

/// Where a vertex lies in an array of [`Quad`]s, in bytes: what an address needs, without a shift for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexOffset(u32);

impl VertexOffset {
    /// Vertices that can be told apart: 268 million.
    pub const LIMIT: u32 = u32::MAX / size_of::<Quad>() as u32;

    /// The place of `vertex`, which must be below [`VertexOffset::LIMIT`].
    pub const fn new(vertex: u32) -> Self {
        Self(vertex * size_of::<Quad>() as u32)
    }

    /// The vertex.
    pub const fn index(self) -> usize {
        self.0 as usize / size_of::<Quad>()
    }
}

/// Four floats: a vertex with its inverse mass, or anything else that belongs to a vertex.
pub type Quad = [f32; 4];

/// Several floats side by side that can be fetched from and put back to vertices.
pub trait Lanes: Real {
    /// Number of lanes.
    const WIDTH: usize;

    /// `values[at..at + WIDTH]`.
    fn load(values: &[f32; BATCH], at: usize) -> Self;

    /// Puts the lanes into `values[at..at + WIDTH]`.
    fn store(self, values: &mut [f32; BATCH], at: usize);

    /// The four components of the vertices `indices[at..at + WIDTH]`.
    ///
    /// # Safety
    /// The indices must be inside the array that `base` points to, and the processor must have the
    /// instructions.
    unsafe fn gather(base: *const Quad, indices: &[VertexOffset; BATCH], at: usize) -> [Self; 4];

    /// Puts components back to the vertices `indices[at..at + WIDTH]`; where an index occurs twice, the later
    /// wins.
    ///
    /// # Safety
    /// As [`Lanes::gather`], and nobody else may use these vertices at the same time.
    unsafe fn scatter(base: *mut Quad, indices: &[VertexOffset; BATCH], at: usize, values: [Self; 4]);

    /// The largest lane.
    fn largest(self) -> f32;

    /// [`Lanes::load`] of several arrays.
    #[inline(always)]
    fn load_all<const K: usize>(values: &[[f32; BATCH]; K], at: usize) -> [Self; K] {
        let mut all = [Self::splat(0.0); K];
        for k in 0..K {
            all[k] = Self::load(&values[k], at);
        }
        all
    }

    /// The first three components of the vertices of `K`-cornered elements.
    ///
    /// # Safety
    /// As [`Lanes::gather`].
    #[inline(always)]
    unsafe fn corners<const K: usize>(
        base: *const Quad,
        vertices: &[[VertexOffset; BATCH]; K],
        at: usize,
    ) -> [[Self; 3]; K] {
        let mut corners = [[Self::splat(0.0); 3]; K];
        for k in 0..K {
            // SAFETY: the caller's promise.
            let [x, y, z, _] = unsafe { Self::gather(base, &vertices[k], at) };
            corners[k] = [x, y, z];
        }
        corners
    }
}

/// Which lanes the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// 16 lanes.
    Avx512,
    /// 8 lanes.
    Avx2,
    /// 8 lanes in an array, for any processor.
    Portable,
}

impl LaneKind {
    /// The widest lanes of this machine. The environment variable `TAUT_LANES` (`avx512`, `avx2`, `portable`)
    /// asks for narrower ones, to compare them; results do not depend on it.
    pub fn detect() -> Self {
        static KIND: OnceLock<LaneKind> = OnceLock::new();
        *KIND.get_or_init(|| {
            let asked = std::env::var("TAUT_LANES").unwrap_or_default();
            let available = Self::available();
            match asked.as_str() {
                "portable" => Self::Portable,
                "avx2" if available.contains(&Self::Avx2) => Self::Avx2,
                _ => available[0],
            }
        })
    }

    /// All lanes of this machine, widest first.
    pub fn available() -> Vec<Self> {
        let mut kinds = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                kinds.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") {
                kinds.push(Self::Avx2);
            }
        }
        kinds.push(Self::Portable);
        kinds
    }

    /// A word for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "16 lanes (AVX-512)",
            Self::Avx2 => "8 lanes (AVX2)",
            Self::Portable => "8 lanes (portable)",
        }
    }
}

/// Work on many batches that [`run`] compiles for each kind of lanes.
pub trait Work {
    /// What it gives back.
    type Output;

    /// Does the work with lanes `L`.
    ///
    /// # Safety
    /// The processor must have the instructions of `L`.
    unsafe fn run<L: Lanes>(self) -> Self::Output;
}

/// Does `work` with the lanes `kind`, which must be [available](LaneKind::available).
#[inline]
pub fn run<W: Work>(kind: LaneKind, work: W) -> W::Output {
    match kind {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `kind` is only made by `available`, which asks the processor.
        LaneKind::Avx512 => unsafe { run_avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        LaneKind::Avx2 => unsafe { run_avx2(work) },
        // SAFETY: portable lanes need no special instructions.
        _ => unsafe { work.run::<Array8>() },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
unsafe fn run_avx512<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller has checked for AVX-512.
    unsafe { work.run::<Avx512>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn run_avx2<W: Work>(work: W) -> W::Output {
    // SAFETY: the caller has checked for AVX2.
    unsafe { work.run::<Avx2>() }
}

/// Operators of a lane type from intrinsics. SAFETY of all of them: a value of the type only exists where the
/// processor has the instructions, since only [`run`] makes any.
#[cfg(target_arch = "x86_64")]
macro_rules! operators {
    ($lanes:ident, $($trait:ident $method:ident $intrinsic:ident),*) => {$(
        impl $trait for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: see the macro.
                unsafe { Self($intrinsic(self.0, other.0)) }
            }
        }
    )*};
}

/// One vertex.
///
/// # Safety
/// `index` must be inside the array.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn quad(base: *const Quad, index: VertexOffset) -> __m128 {
    // SAFETY: the caller's promise.
    unsafe { _mm_loadu_ps(base.byte_add(index.0 as usize).cast()) }
}

/// Puts back one vertex.
///
/// # Safety
/// `index` must be inside the array, and nobody else may use it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn put(base: *mut Quad, index: VertexOffset, value: __m128) {
    // SAFETY: the caller's promise.
    unsafe { _mm_storeu_ps(base.byte_add(index.0 as usize).cast(), value) }
}

/// 16 lanes.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx512(__m512);

#[cfg(target_arch = "x86_64")]
operators!(Avx512, Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);

#[cfg(target_arch = "x86_64")]
impl Neg for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm512_xor_ps(self.0, _mm512_set1_ps(-0.0))) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Real for Avx512 {
    type Mask = u16;
    const EPSILON: f32 = f32::EPSILON;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `operators`; likewise below.
        unsafe { Self(_mm512_set1_ps(value)) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm512_sqrt_ps(self.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm512_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm512_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm512_abs_ps(self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> u16 {
        // SAFETY: see `operators`.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> u16 {
        // SAFETY: see `operators`.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn select(mask: u16, yes: Self, no: Self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm512_mask_blend_ps(mask, no.0, yes.0)) }
    }
    #[inline(always)]
    fn any(mask: u16) -> bool {
        mask != 0
    }
}

#[cfg(target_arch = "x86_64")]
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

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx512 {
    const WIDTH: usize = 16;

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
        // SAFETY: see `operators`.
        unsafe { _mm512_reduce_max_ps(self.0) }
    }
}

/// 8 lanes.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx2(__m256);

#[cfg(target_arch = "x86_64")]
operators!(Avx2, Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

#[cfg(target_arch = "x86_64")]
impl Neg for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm256_xor_ps(self.0, _mm256_set1_ps(-0.0))) }
    }
}

/// All bits of a lane set, or none.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Mask8(__m256);

#[cfg(target_arch = "x86_64")]
operators!(Mask8, BitAnd bitand _mm256_and_ps, BitOr bitor _mm256_or_ps);

#[cfg(target_arch = "x86_64")]
impl Not for Mask8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm256_xor_ps(self.0, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Real for Avx2 {
    type Mask = Mask8;
    const EPSILON: f32 = f32::EPSILON;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `operators`; likewise below.
        unsafe { Self(_mm256_set1_ps(value)) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm256_sqrt_ps(self.0)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm256_min_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm256_max_ps(self.0, other.0)) }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask8 {
        // SAFETY: see `operators`.
        unsafe { Mask8(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) }
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask8 {
        // SAFETY: see `operators`.
        unsafe { Mask8(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) }
    }
    #[inline(always)]
    fn select(mask: Mask8, yes: Self, no: Self) -> Self {
        // SAFETY: see `operators`.
        unsafe { Self(_mm256_blendv_ps(no.0, yes.0, mask.0)) }
    }
    #[inline(always)]
    fn any(mask: Mask8) -> bool {
        // SAFETY: see `operators`.
        unsafe { _mm256_movemask_ps(mask.0) != 0 }
    }
}

#[cfg(target_arch = "x86_64")]
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

#[cfg(target_arch = "x86_64")]
impl Lanes for Avx2 {
    const WIDTH: usize = 8;

    #[inline(always)]
    fn load(values: &[f32; BATCH], at: usize) -> Self {
        // SAFETY: `at` is 0 or 8, and 16 floats are there.
        unsafe { Self(_mm256_loadu_ps(values.as_ptr().add(at))) }
    }

    #[inline(always)]
    fn store(self, values: &mut [f32; BATCH], at: usize) {
        // SAFETY: `at` is 0 or 8, and 16 floats are there.
        unsafe { _mm256_storeu_ps(values.as_mut_ptr().add(at), self.0) }
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
}

/// 8 lanes in an array.
#[derive(Clone, Copy)]
pub struct Array8([f32; 8]);

/// One truth value a lane of [`Array8`].
#[derive(Clone, Copy)]
pub struct ArrayMask8([bool; 8]);

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
}
