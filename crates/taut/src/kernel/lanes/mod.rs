//! SIMD lanes: 16 (AVX-512), 8 (AVX2) or a portable array of 8, chosen at run time.
//!
//! Vertices are four floats: a 128-bit load each, and a transpose to lanes; measured twice as fast as
//! hardware gathers. The fourth float travels along (the sweeps keep the inverse mass there).
//!
//! All widths give the same bits: the operations are the same, each lane by itself, and none is fused or
//! approximate.

mod portable;
#[cfg(test)]
mod single;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use super::real::Real;
use portable::Array8;
#[cfg(target_arch = "x86_64")]
use x86::{Avx2, Avx512};

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

/// The places of the quads of a batch.
const IN_ORDER: [VertexOffset; BATCH] = {
    let mut offsets = [VertexOffset::new(0); BATCH];
    let mut k = 0;
    while k < BATCH {
        offsets[k] = VertexOffset::new(k as u32);
        k += 1;
    }
    offsets
};

/// Four floats: a vertex with its inverse mass, or anything else that belongs to a vertex.
pub type Quad = [f32; 4];

/// [`BATCH`] floats, aligned as the widest lanes: tables and scratch memory of batches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Row(pub [f32; BATCH]);

impl Row {
    /// The same value in every lane.
    pub const fn splat(value: f32) -> Self {
        Self([value; BATCH])
    }
}

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

    /// The four components of `quads` at `indices[at..at + WIDTH]`, which are checked.
    #[inline(always)]
    fn fetch(quads: &[Quad], indices: &[u32; BATCH], at: usize) -> [Self; 4] {
        let (mut offsets, mut largest) = (IN_ORDER, 0);
        for lane in at..at + Self::WIDTH {
            largest = largest.max(indices[lane]);
            offsets[lane] = VertexOffset::new(indices[lane]);
        }
        assert!((largest as usize) < quads.len() && largest < VertexOffset::LIMIT, "an index is outside");
        // SAFETY: all indices are inside, and lanes only exist where the processor has the instructions.
        unsafe { Self::gather(quads.as_ptr(), &offsets, at) }
    }

    /// Puts components back to the vertices `indices[at..at + WIDTH]`; where an index occurs twice, the later
    /// wins.
    ///
    /// # Safety
    /// As [`Lanes::gather`], and nobody else may use these vertices at the same time.
    unsafe fn scatter(base: *mut Quad, indices: &[VertexOffset; BATCH], at: usize, values: [Self; 4]);

    /// The largest lane.
    fn largest(self) -> f32;

    /// The mask as bits, the first lane lowest.
    fn bits(mask: Self::Mask) -> u32;

    /// The lanes `at..at + WIDTH` of a row.
    #[inline(always)]
    fn of(row: &Row, at: usize) -> Self {
        Self::load(&row.0, at)
    }

    /// Scratch memory as values of these lanes: as many as fit.
    fn view(rows: &mut [Row]) -> &mut [Self];

    /// Puts components into `quads[at..at + WIDTH]`.
    #[inline(always)]
    fn store_quads(quads: &mut [Quad; BATCH], at: usize, values: [Self; 4]) {
        // SAFETY: the places are those of these quads, and lanes only exist where the processor has the
        // instructions.
        unsafe { Self::scatter(quads.as_mut_ptr(), &IN_ORDER, at, values) }
    }

    /// [`Lanes::load`] of several arrays.
    #[inline(always)]
    fn load_all<const K: usize>(values: &[[f32; BATCH]; K], at: usize) -> [Self; K] {
        let mut all = [Self::splat(0.0); K];
        for k in 0..K {
            all[k] = Self::load(&values[k], at);
        }
        all
    }
}

/// Lanes that this processor has. Only [`LaneKind::available`] and [`LaneKind::PORTABLE`] give any, so that
/// `run` can rely on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneKind(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl LaneKind {
    /// 8 lanes in an array, for any processor.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// The widest lanes of this machine. The environment variable `TAUT_LANES` (`avx512`, `avx2`, `portable`)
    /// asks for narrower ones, to compare them; results do not depend on it.
    pub fn detect() -> Self {
        static KIND: OnceLock<LaneKind> = OnceLock::new();
        *KIND.get_or_init(|| {
            let asked = std::env::var("TAUT_LANES").unwrap_or_default();
            let available = Self::available();
            available.iter().copied().find(|kind| kind.word() == asked).unwrap_or(available[0])
        })
    }

    /// All lanes of this machine, widest first.
    pub fn available() -> Vec<Self> {
        let mut kinds = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2");
            let has_wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if has_avx2 && has_wide {
                kinds.push(Self(Kind::Avx512));
            }
            if has_avx2 {
                kinds.push(Self(Kind::Avx2));
            }
        }
        kinds.push(Self::PORTABLE);
        kinds
    }

    /// What `TAUT_LANES` calls them.
    fn word(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            Kind::Portable => "portable",
        }
    }

    /// A word for reports.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "16 lanes (AVX-512)",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "8 lanes (AVX2)",
            Kind::Portable => "8 lanes (portable)",
        }
    }
}

/// Work on many batches that [`run`] compiles for each kind of lanes.
pub trait Work {
    /// What it gives back.
    type Output;

    /// Does the work with lanes `L`. To be inlined, with all that it calls, so that it is compiled for them.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Does `work` with the lanes `kind`.
#[inline]
pub fn run<W: Work>(kind: LaneKind, work: W) -> W::Output {
    match kind.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: such a kind is only made by `available`, where the processor has the instructions.
        Kind::Avx512 => unsafe { run_avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx2 => unsafe { run_avx2(work) },
        Kind::Portable => work.run::<Array8>(),
    }
}

/// # Safety
/// The processor must have AVX-512 F, DQ and VL, and AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
unsafe fn run_avx512<W: Work>(work: W) -> W::Output {
    work.run::<Avx512>()
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn run_avx2<W: Work>(work: W) -> W::Output {
    work.run::<Avx2>()
}
