//! The strain limit of woven triangles (W13): along warp, weft and bias.

use super::{
    Element, LimitLanes, Limited,
    triangle::{StrainElement, TriangleLanes, project},
};
use crate::{
    Projection,
    exec::{batch::lanes_of, colored::Corners},
    kernel::{
        lanes::{BATCH, Lanes},
        real::V3,
        strain::{Range, strain_residual},
        weave::WeaveRange,
    },
    limit::NO_LIMIT,
};

/// Limits of [`BATCH`] triangles side by side.
#[derive(Clone, Debug, PartialEq)]
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

    /// Gives the triangle in lane `lane` other limits along warp, weft and bias.
    pub fn set_ranges(&mut self, lane: usize, ranges: [Range<f32>; 3]) {
        for (k, range) in ranges.into_iter().enumerate() {
            (self.min[k][lane], self.max[k][lane]) = (range.min, range.max);
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

/// A triangle whose limits differ by direction.
#[derive(Clone, Copy, Debug)]
pub struct WovenElement(pub StrainElement);

/// What a batch holds of woven triangles.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct WovenLanes {
    triangles: TriangleLanes,
    weave: WeaveLanes,
}

impl WovenLanes {
    /// Gives the triangle in lane `lane` other limits: along warp, weft and bias, and the loosest of them.
    pub fn set_ranges(&mut self, lane: usize, loosest: Range<f32>, ranges: [Range<f32>; 3]) {
        self.triangles.set_range(lane, loosest);
        self.weave.set_ranges(lane, ranges);
    }
}

impl Element<3> for WovenElement {
    type Lanes = WovenLanes;

    fn vertices(&self) -> [u32; 3] {
        self.0.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> WovenLanes {
        let plain: Vec<StrainElement> = numbers.iter().map(|&e| elements[e as usize].0).collect();
        let numbers: Vec<u32> = (0..plain.len() as u32).collect();
        WovenLanes {
            triangles: StrainElement::pack(&numbers, &plain),
            weave: WeaveLanes::pack(&numbers, &plain),
        }
    }
}

impl LimitLanes<3> for WovenLanes {
    #[inline(always)]
    fn share<L: Lanes>(&self, at: usize) -> L {
        self.triangles.share(at)
    }

    #[inline(always)]
    fn project<L: Lanes, const PAPER: bool>(
        &self,
        at: usize,
        corners: &Corners<L, 3>,
        relaxation: L,
        worst: &mut L,
    ) -> Option<[V3<L>; 3]> {
        project::<L, _, PAPER>(corners, self.triangles.rest(at), self.weave.limits(at), relaxation, worst)
    }

    #[inline(always)]
    fn residual<L: Lanes>(&self, at: usize, x: &[V3<L>; 3]) -> L {
        strain_residual(x, self.triangles.rest(at), self.weave.limits(at))
    }
}

impl Limited<3> for WovenElement {
    fn project_one(
        &self,
        x: &[V3<f32>; 3],
        w: [f32; 3],
        projection: Projection,
        relaxation: f32,
    ) -> (f32, Option<[V3<f32>; 3]>) {
        self.0.project_one(x, w, projection, relaxation)
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
