//! The strain limit of tetrahedra (W2, W3).

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
        strain::Range,
        strain3::{limit_strain_gradient3, limit_strain_paper3},
        tetrahedron::{RestInverse3, residual3},
    },
    limit::NO_LIMIT,
};

/// A lower limit that even an element inside out is not past.
const NO_LOWER: f32 = -1.0;

/// A tetrahedron with limits.
#[derive(Clone, Copy, Debug)]
pub struct TetrahedronElement {
    /// Vertices.
    pub vertices: [u32; 4],
    /// Columns of the inverse of its rest edges \[1/m\].
    pub rest: [[f32; 3]; 3],
    /// Allowed stretches.
    pub range: Range<f32>,
    /// What of its correction a Jacobi iteration takes.
    pub share: f32,
}

/// What a batch holds of tetrahedra.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct TetrahedronLanes {
    rest: [[f32; BATCH]; 9],
    min: [f32; BATCH],
    max: [f32; BATCH],
    share: [f32; BATCH],
}

impl TetrahedronLanes {
    #[inline(always)]
    fn rest<L: Lanes>(&self, at: usize) -> RestInverse3<L> {
        let [a, b, c, d, e, f, g, h, i]: [L; 9] = L::load_all(&self.rest, at);
        [[a, b, c], [d, e, f], [g, h, i]]
    }

    #[inline(always)]
    fn range<L: Lanes>(&self, at: usize) -> Range<L> {
        Range { min: L::load(&self.min, at), max: L::load(&self.max, at) }
    }

    /// Gives the element in lane `lane` other limits.
    pub fn set_range(&mut self, lane: usize, range: Range<f32>) {
        (self.min[lane], self.max[lane]) = (range.min, range.max);
    }
}

impl Element<4> for TetrahedronElement {
    type Lanes = TetrahedronLanes;

    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> TetrahedronLanes {
        let unit = |k: usize| if k.is_multiple_of(4) { 1.0 } else { 0.0 };
        TetrahedronLanes {
            rest: std::array::from_fn(|k| lanes_of(numbers, unit(k), |e| elements[e].rest[k / 3][k % 3])),
            // A point has stretches of 0: it is past no limit of these.
            min: lanes_of(numbers, NO_LOWER, |e| elements[e].range.min),
            max: lanes_of(numbers, NO_LIMIT, |e| elements[e].range.max),
            share: lanes_of(numbers, 0.0, |e| elements[e].share),
        }
    }
}

impl LimitLanes<4> for TetrahedronLanes {
    #[inline(always)]
    fn share<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.share, at)
    }

    #[inline(always)]
    fn project<L: Lanes, const PAPER: bool>(
        &self,
        at: usize,
        corners: &Corners<L, 4>,
        relaxation: L,
        worst: &mut L,
    ) -> Option<[V3<L>; 4]> {
        let (x, w) = (xyz(&corners.quads), weights(&corners.quads));
        let (rest, range) = (self.rest::<L>(at), self.range::<L>(at));
        let projected = if PAPER {
            limit_strain_paper3(&x, w, &rest, range, relaxation)
        } else {
            limit_strain_gradient3(&x, w, &rest, range, relaxation)
        }?;
        *worst = worst.max(projected.residual);
        Some(projected.moves)
    }

    #[inline(always)]
    fn residual<L: Lanes>(&self, at: usize, x: &[V3<L>; 4]) -> L {
        residual3(x, &self.rest(at), self.range(at))
    }
}

impl Limited<4> for TetrahedronElement {
    fn project_one(
        &self,
        x: &[V3<f32>; 4],
        w: [f32; 4],
        projection: Projection,
        relaxation: f32,
    ) -> (f32, Option<[V3<f32>; 4]>) {
        let projected = match projection {
            Projection::Gradient => limit_strain_gradient3(x, w, &self.rest, self.range, relaxation),
            Projection::Paper => limit_strain_paper3(x, w, &self.rest, self.range, relaxation),
        };
        projected.map_or((0.0, None), |projected| (projected.residual, Some(projected.moves)))
    }
}
