//! The strain limit of triangles (W1, W3), the same in all directions.

use super::{Element, LimitLanes, Limited};
use crate::{
    Projection,
    exec::{
        batch::{lanes_of, weights, xyz},
        colored::Corners,
    },
    kernel::{
        lanes::{BATCH, Lanes},
        real::V3,
        strain::{Range, limit_strain_gradient, limit_strain_paper, strain_residual},
        weave::{Limits, WeaveRange},
    },
    limit::NO_LIMIT,
};

/// One triangle with its limits.
#[derive(Clone, Copy, Debug)]
pub struct StrainElement {
    /// Vertices.
    pub vertices: [u32; 3],
    /// Inverse of the rest edge matrix \[1/m\].
    pub rest: [f32; 3],
    /// Allowed stretches in all directions, unless `weave` says otherwise.
    pub range: Range<f32>,
    /// Allowed stretches along warp, weft and bias.
    pub weave: Option<WeaveRange<f32>>,
    /// Weight of its correction in a Jacobi iteration.
    pub share: f32,
}

/// Limits on the strain of all triangles, or tetrahedra, of a body.
#[derive(Clone, Copy, Debug)]
pub struct StrainLimits {
    /// Allowed stretches, the loosest where they differ by direction.
    pub loosest: Range<f32>,
    /// Allowed stretches along warp, weft and bias, if there are such.
    pub woven: Option<[Range<f32>; 3]>,
}

impl StrainElement {
    /// Whether there is a lower limit in any direction.
    pub fn has_lower_limit(&self) -> bool {
        match &self.weave {
            None => self.range.min > 0.0,
            Some(weave) => [weave.warp, weave.weft, weave.bias].iter().any(|range| range.min > 0.0),
        }
    }
}

/// What a batch holds of triangles.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct TriangleLanes {
    rest: [[f32; BATCH]; 3],
    min: [f32; BATCH],
    max: [f32; BATCH],
    share: [f32; BATCH],
}

impl TriangleLanes {
    /// Inverses of the rest edge matrices \[1/m\].
    #[inline(always)]
    pub fn rest<L: Lanes>(&self, at: usize) -> [L; 3] {
        L::load_all(&self.rest, at)
    }

    /// Gives the element in lane `lane` other limits.
    pub fn set_range(&mut self, lane: usize, range: Range<f32>) {
        (self.min[lane], self.max[lane]) = (range.min, range.max);
    }
}

impl Element<3> for StrainElement {
    type Lanes = TriangleLanes;

    fn vertices(&self) -> [u32; 3] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> TriangleLanes {
        let rest = |k: usize, fill: f32| lanes_of(numbers, fill, |e| elements[e].rest[k]);
        TriangleLanes {
            rest: [rest(0, 1.0), rest(1, 0.0), rest(2, 1.0)],
            min: lanes_of(numbers, 0.0, |e| elements[e].range.min),
            max: lanes_of(numbers, NO_LIMIT, |e| elements[e].range.max),
            share: lanes_of(numbers, 0.0, |e| elements[e].share),
        }
    }
}

impl LimitLanes<3> for TriangleLanes {
    #[inline(always)]
    fn share<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.share, at)
    }

    #[inline(always)]
    fn project<L: Lanes, const PAPER: bool>(
        &self,
        at: usize,
        corners: &Corners<L, 3>,
        relaxation: L,
        worst: &mut L,
    ) -> Option<[V3<L>; 3]> {
        let range = Range { min: L::load(&self.min, at), max: L::load(&self.max, at) };
        project::<L, _, PAPER>(corners, self.rest(at), range, relaxation, worst)
    }

    #[inline(always)]
    fn residual<L: Lanes>(&self, at: usize, x: &[V3<L>; 3]) -> L {
        strain_residual(x, self.rest(at), Range { min: L::load(&self.min, at), max: L::load(&self.max, at) })
    }
}

/// Moves of triangles with limits of some kind.
#[inline(always)]
pub(super) fn project<L: Lanes, M: Limits<L>, const PAPER: bool>(
    corners: &Corners<L, 3>,
    rest: [L; 3],
    limits: M,
    relaxation: L,
    worst: &mut L,
) -> Option<[V3<L>; 3]> {
    let (x, w) = (xyz(&corners.quads), weights(&corners.quads));
    let projected = if PAPER {
        limit_strain_paper(&x, w, rest, limits, relaxation)
    } else {
        limit_strain_gradient(&x, w, rest, limits, relaxation)
    }?;
    *worst = worst.max(projected.residual);
    Some(projected.moves)
}

impl Limited<3> for StrainElement {
    fn project_one(
        &self,
        x: &[V3<f32>; 3],
        w: [f32; 3],
        projection: Projection,
        relaxation: f32,
    ) -> (f32, Option<[V3<f32>; 3]>) {
        let &Self { rest, range, .. } = self;
        let projected = match (projection, self.weave) {
            (Projection::Gradient, None) => limit_strain_gradient(x, w, rest, range, relaxation),
            (Projection::Gradient, Some(weave)) => limit_strain_gradient(x, w, rest, weave, relaxation),
            (Projection::Paper, None) => limit_strain_paper(x, w, rest, range, relaxation),
            (Projection::Paper, Some(weave)) => limit_strain_paper(x, w, rest, weave, relaxation),
        };
        projected.map_or((0.0, None), |projected| (projected.residual, Some(projected.moves)))
    }
}
