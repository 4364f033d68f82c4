//! Scratch memory of a solve: what belongs to the nodes and segments of a batch while it is solved.

use super::banded::Banded;
use crate::kernel::{
    lanes::{Lanes, Row},
    real::V3,
};

/// Half-bandwidth of straight strands: a node, the multiplier before it, and two nodes back.
pub(super) const STRAIGHT: usize = 8;

/// Half-bandwidth of strands with material frames.
pub(super) const CURLY: usize = 12;

/// What acts on a node beside elasticity: the gradient of an energy \[N\] (minus the force), then its Hessian
/// \[N/m\], positive semidefinite, as xx, xy, yy, xz, yz, zz.
pub(crate) type Pull<L> = [L; 9];

/// Share of an edge in the Hessian of strands with frames: of its vector with itself (xx, xy, yy, xz, yz,
/// zz), of the angle with it, of the angle with itself.
pub(super) type EdgeBlock<L> = [L; 10];

/// Of an edge and the one before it: row `r` (vector and angle of the one before), column `c`, at 4 r + c.
pub(super) type JointBlock<L> = [L; 16];

/// Arrays of a batch. By node, segment j runs from node j to j + 1, joint i is at node i. Masses are in units
/// of the mean mass of a strand's nodes, so that numbers are near 1; energies come times c dt².
pub(super) struct Work<'a, L> {
    pub(super) nodes: usize,
    /// Positions \[m\], where they are pulled to, where they were before the step, and the first guess.
    pub(super) x: &'a mut [V3<L>],
    pub(super) goal: &'a mut [V3<L>],
    pub(super) old: &'a mut [V3<L>],
    pub(super) guess: &'a mut [V3<L>],
    /// Masses with inertia factors; [`HEAVY`](super::HEAVY) where held.
    pub(super) mass: &'a mut [L],
    /// Multipliers of lengths.
    pub(super) tension: &'a mut [L],
    /// Edge vectors \[m\].
    pub(super) edge: &'a mut [V3<L>],
    /// Gradient by edge vectors.
    pub(super) gradient: &'a mut [V3<L>],
    /// Shared by both axes and all directions: the pentadiagonal matrix, on the diagonal, beside it, next to
    /// that.
    pub(super) base: &'a mut [[L; 3]],
    pub(super) matrix: &'a mut [[L; 3]],
    /// Outside forces.
    pub(super) pull: &'a mut [Pull<L>],
    /// What outside forces keep from iteration to iteration.
    pub(super) memory: &'a mut [L],
    /// Unit tangents and material directions m₁ of segments, and gradients by their angles; of curly strands.
    pub(super) tangent: &'a mut [V3<L>],
    pub(super) frame: &'a mut [V3<L>],
    pub(super) angle_gradient: &'a mut [L],
    pub(super) own: &'a mut [EdgeBlock<L>],
    pub(super) joint: &'a mut [JointBlock<L>],
    /// Duals and weights of segments in ADMM.
    pub(super) dual: &'a mut [V3<L>],
    pub(super) weight: &'a mut [L],
    pub(super) spare: &'a mut [L],
    lower: &'a mut [L],
    inverse: &'a mut [L],
    right: &'a mut [L],
}

/// Floats in every lane that [`Work`] takes for a node, at most, beside the memory of outside forces.
const PER_NODE: usize = 200;

/// Nodes in excess of those of the strand: neighbours of the ends.
const MARGIN: usize = 4;

/// Rows of memory that a strand of `nodes` needs, with `memory` numbers a node for outside forces.
pub(super) fn rows(nodes: usize, memory: usize) -> usize {
    (PER_NODE + memory) * (nodes + MARGIN)
}

/// Cuts memory into arrays.
struct Carver<'a, L>(&'a mut [L]);

impl<'a, L> Carver<'a, L> {
    fn one(&mut self, count: usize) -> &'a mut [L] {
        self.0.split_off_mut(..count).expect("enough scratch memory")
    }

    fn many<const K: usize>(&mut self, count: usize) -> &'a mut [[L; K]] {
        self.one(K * count).as_chunks_mut().0
    }
}

impl<'a, L: Lanes> Work<'a, L> {
    /// Lays out arrays in memory.
    pub(super) fn new(rows: &'a mut [Row], memory: usize, nodes: usize, is_curly: bool) -> Self {
        let mut carver = Carver(L::view(rows));
        let count = nodes + 1;
        let (per_node, band) = if is_curly { (5, CURLY) } else { (4, STRAIGHT) };
        let frames = if is_curly { count } else { 0 };
        let unknowns = per_node * count + band;
        Self {
            nodes,
            x: carver.many(count),
            goal: carver.many(count),
            old: carver.many(count),
            guess: carver.many(count),
            mass: carver.one(count),
            tension: carver.one(count),
            edge: carver.many(count),
            gradient: carver.many(count),
            base: carver.many(count + 2),
            matrix: carver.many(count + 2),
            pull: carver.many(count),
            memory: carver.one(memory * count),
            tangent: carver.many(frames),
            frame: carver.many(frames),
            angle_gradient: carver.one(frames),
            own: carver.many(frames),
            joint: carver.many(frames + 1),
            dual: carver.many(count),
            weight: carver.one(count),
            spare: carver.one(count),
            lower: carver.one(band * unknowns),
            inverse: carver.one(unknowns),
            right: carver.one(unknowns),
        }
    }

    /// The matrix of the Newton step.
    #[inline(always)]
    pub(super) fn banded<const B: usize>(&mut self) -> Banded<'_, L, B> {
        Banded { lower: self.lower.as_chunks_mut().0, inverse: self.inverse, right: self.right }
    }
}
