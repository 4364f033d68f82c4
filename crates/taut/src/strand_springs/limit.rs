//! Limits on the strain of segments, from root to tip, and their tear.
//!
//! As in the lecture's model, each segment in turn is brought back between its limits by moving its outer
//! point, and the outer point loses the part of its velocity that would lead past the limit. One pass leaves
//! all segments within limits, however far the springs were off, so that strands stay together where their
//! stretch is softened. Extra particles move by half of what the points beside them do.
//!
//! The inner point does not feel what its neighbour was moved by: momentum goes to the root. A strand without
//! one gets its linear momentum and its centre of mass back; its angular momentum is kept only roughly, and
//! pieces of a cut strand share what they get back.
//!
//! A segment that springs stretched past the break strain, before limits, is cut behind its extra particle.

use super::{
    OutsideForces, SegmentLimits,
    substep::{Substeps, Twofold, V},
};
use crate::kernel::{
    lanes::Lanes,
    real::{V3, add, dot, scale, select3, sub},
};

/// Length below which a segment has no direction \[m\].
const TINY: f32 = 1e-20;

/// Stretch that is none \[1\]: not infinite, since it is multiplied by lengths of 0.
const HUGE: f32 = 1e30;

/// Brings the segments of the lanes from `at` between their limits, and cuts those that were stretched too
/// far.
#[inline(always)]
pub(super) fn limit_segments<L: Lanes, F: OutsideForces>(step: &mut Substeps<F>, at: usize) {
    let layout = step.batch.layout;
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let SegmentLimits { min, max, break_strain } = step.limits;
    let min = L::splat(min.map_or(0.0, |min| 1.0 + min));
    let max = L::splat(max.map_or(HUGE, |max| 1.0 + max));
    let tear = L::splat(break_strain.map_or(HUGE, |strain| 1.0 + strain));
    let mut before = Twofold::<L>::load(&step.particles[layout.first], 0, at);
    let mut inner = (before, Twofold::<L>::load(&step.particles[layout.first], V, at));
    let mut inner_move = [zero; 3];
    let mut lost = Lost::<L>::none();
    for a in (layout.first..step.batch.len()).step_by(layout.stride) {
        let (b, edge) = (a + layout.stride, a + layout.stride - 1);
        let rest = L::load(&step.batch.anchors[a].sides[layout.stride - 1].length, at);
        let x = Twofold::<L>::load(&step.particles[b], 0, at);
        let v = Twofold::<L>::load(&step.particles[b], V, at);
        let w = L::load(&step.batch.inverse_mass[b], at);
        let stretched = x.minus(before);
        let has_torn = zero.lt(rest) & (tear * rest).lt(dot(stretched, stretched).sqrt());
        let whole = L::select(has_torn, zero, L::load(&step.whole[edge], at));
        whole.store(&mut step.whole[edge], at);

        let along = x.minus(inner.0);
        let length = dot(along, along).sqrt().max(L::splat(TINY));
        let direction = scale(along, one / length);
        let wanted = length.clamp(min * rest, max * rest);
        let is_limited = zero.lt(rest) & zero.lt(whole) & zero.lt(w);
        let moved = select3::<L>(is_limited, scale(direction, wanted - length), [zero; 3]);
        let rate = dot(direction, sub(v.high, inner.1.high));
        let outwards = L::select(wanted.lt(length), rate.max(zero), zero);
        let inwards = L::select(length.lt(wanted), rate.min(zero), zero);
        let slowed = select3::<L>(is_limited, scale(direction, -(outwards + inwards)), [zero; 3]);
        before = x;
        inner = (x.plus(moved), v.plus(slowed));
        inner.0.store(&mut step.particles[b], 0, at);
        inner.1.store(&mut step.particles[b], V, at);
        lost.add(w, moved, slowed);
        if layout.stride == 2 {
            let w = L::load(&step.batch.inverse_mass[edge], at);
            let half = scale(add(inner_move, moved), L::splat(0.5));
            let half = select3::<L>(zero.lt(w), half, [zero; 3]);
            let extra = Twofold::<L>::load(&step.particles[edge], 0, at);
            extra.plus(half).store(&mut step.particles[edge], 0, at);
            lost.add(w, half, [zero; 3]);
        }
        inner_move = moved;
    }
    if !step.is_rooted {
        lost.give_back(step, at);
    }
}

/// Mass-weighted sums of what limits moved.
struct Lost<L> {
    /// \[kg·m\]
    moved: V3<L>,
    /// \[kg·m/s\]
    slowed: V3<L>,
}

impl<L: Lanes> Lost<L> {
    #[inline(always)]
    fn none() -> Self {
        Self { moved: [L::splat(0.0); 3], slowed: [L::splat(0.0); 3] }
    }

    #[inline(always)]
    fn add(&mut self, w: L, moved: V3<L>, slowed: V3<L>) {
        let mass = mass(w);
        self.moved = add(self.moved, scale(moved, mass));
        self.slowed = add(self.slowed, scale(slowed, mass));
    }

    /// Shifts all free particles back.
    #[inline(always)]
    fn give_back<F: OutsideForces>(self, step: &mut Substeps<F>, at: usize) {
        let zero = L::splat(0.0);
        let mut total = zero;
        for w in &step.batch.inverse_mass {
            total = total + mass(L::load(w, at));
        }
        let part = L::select(zero.lt(total), L::splat(-1.0) / total, zero);
        for (rows, w) in step.particles.iter_mut().zip(&step.batch.inverse_mass) {
            let is_free = zero.lt(L::load(w, at));
            for (first, lost) in [(0, self.moved), (V, self.slowed)] {
                let back = select3::<L>(is_free, scale(lost, part), [zero; 3]);
                Twofold::<L>::load(rows, first, at).plus(back).store(rows, first, at);
            }
        }
    }
}

/// Mass of this inverse \[kg\]; 0 for what is held.
#[inline(always)]
fn mass<L: Lanes>(w: L) -> L {
    let zero = L::splat(0.0);
    L::select(zero.lt(w), L::splat(1.0) / w, zero)
}
