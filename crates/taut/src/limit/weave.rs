//! Limits along warp, weft and bias in batches of lanes (W13), beside the triangles that they belong to.

use super::{NO_LIMIT, colored::lanes_of, strain_triangle::StrainElement};
use crate::kernel::{
    lanes::{BATCH, Lanes},
    strain::Range,
    weave::WeaveRange,
};

/// Limits of [`BATCH`] triangles side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct WeaveLanes {
    /// Smallest stretch along warp, weft and bias.
    min: [[f32; BATCH]; 3],
    /// Largest stretch along warp, weft and bias.
    max: [[f32; BATCH]; 3],
    /// Cosine and sine of twice the angle of the warp from the first edge.
    axis: [[f32; BATCH]; 2],
}

impl WeaveLanes {
    /// Packs the limits of elements, an isotropic one as three that are equal. Lanes that are left get none.
    pub fn pack(indices: &[u32], elements: &[StrainElement]) -> Self {
        let weave = |e: usize| {
            let range = elements[e].range;
            elements[e].weave.unwrap_or(WeaveRange {
                warp: range,
                weft: range,
                bias: range,
                axis: [1.0, 0.0],
            })
        };
        let of = |k: usize, e: usize| {
            let WeaveRange { warp, weft, bias, .. } = weave(e);
            [warp, weft, bias][k]
        };
        Self {
            min: [0, 1, 2].map(|k| lanes_of(indices, 0.0, |e| of(k, e).min)),
            max: [0, 1, 2].map(|k| lanes_of(indices, NO_LIMIT, |e| of(k, e).max)),
            axis: [0, 1].map(|k| lanes_of(indices, 0.0, |e| weave(e).axis[k])),
        }
    }

    /// Limits of some lanes.
    #[inline(always)]
    pub fn limits<L: Lanes>(&self, at: usize) -> WeaveRange<L> {
        let (min, max): ([L; 3], [L; 3]) = (L::load_all(&self.min, at), L::load_all(&self.max, at));
        WeaveRange {
            warp: Range { min: min[0], max: max[0] },
            weft: Range { min: min[1], max: max[1] },
            bias: Range { min: min[2], max: max[2] },
            axis: L::load_all(&self.axis, at),
        }
    }

    /// Limits of one lane.
    pub fn lane(&self, lane: usize) -> WeaveRange<f32> {
        let range = |k: usize| Range { min: self.min[k][lane], max: self.max[k][lane] };
        WeaveRange {
            warp: range(0),
            weft: range(1),
            bias: range(2),
            axis: [self.axis[0][lane], self.axis[1][lane]],
        }
    }
}

impl WeaveRange<f32> {
    /// The same in double precision.
    pub fn doubled(self) -> WeaveRange<f64> {
        let wide = |r: Range<f32>| Range { min: f64::from(r.min), max: f64::from(r.max) };
        let Self { warp, weft, bias, axis } = self;
        WeaveRange { warp: wide(warp), weft: wide(weft), bias: wide(bias), axis: axis.map(f64::from) }
    }

    /// The same with every limit widened by `slack`.
    pub fn widened(self, slack: f32) -> Self {
        let Self { warp, weft, bias, axis } = self;
        Self { warp: warp.widened(slack), weft: weft.widened(slack), bias: bias.widened(slack), axis }
    }
}

impl Range<f32> {
    /// The same, widened by `slack`; none stays none.
    pub fn widened(self, slack: f32) -> Self {
        let Self { min, max } = self;
        Self { min: (min - slack).max(0.0), max: if max < NO_LIMIT { max + slack } else { max } }
    }
}
