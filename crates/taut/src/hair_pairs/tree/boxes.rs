//! Boxes and cylinders that many others are compared with, side by side.

use super::{Block, Boxes, NO_BOX};
use crate::kernel::{
    lanes::{BATCH, Lanes, Quad},
    real::dot,
};

/// One of 16.
#[inline(always)]
pub(super) fn column(rows: &[[f32; BATCH]; 6], lane: usize) -> [f32; 6] {
    [rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane], rows[4][lane], rows[5][lane]]
}

/// The box around the first points, of one block at most.
#[inline(always)]
pub(super) fn around_points(points: &[Quad]) -> [f32; 6] {
    let mut corners = NO_BOX;
    for point in &points[..points.len().min(2 * BATCH)] {
        for c in 0..3 {
            corners[c] = if point[c] < corners[c] { point[c] } else { corners[c] };
            corners[3 + c] = if point[c] > corners[3 + c] { point[c] } else { corners[3 + c] };
        }
    }
    corners
}

/// The box around 16.
pub(super) fn around_boxes(boxes: &Boxes) -> [f32; 6] {
    let mut corners = NO_BOX;
    for c in 0..3 {
        corners[c] = boxes[c].iter().fold(f32::MAX, |a, b| a.min(*b));
        corners[3 + c] = boxes[3 + c].iter().fold(f32::MIN, |a, b| a.max(*b));
    }
    corners
}

/// A box and what is within `reach` of it \[m\].
#[inline(always)]
pub(super) fn grown([x, y, z, p, q, r]: [f32; 6], reach: f32, slack: f32) -> [f32; 6] {
    let by = reach + slack;
    [x - by, y - by, z - by, p + by, q + by, r + by]
}

/// A box that others are compared with.
pub(super) struct Window<L>([L; 6]);

impl<L: Lanes> Window<L> {
    #[inline(always)]
    pub(super) fn new(corners: &[f32; 6]) -> Self {
        let mut all = [L::splat(0.0); 6];
        for c in 0..6 {
            all[c] = L::splat(corners[c]);
        }
        Self(all)
    }

    /// Which boxes overlap it, as bits.
    #[inline(always)]
    pub(super) fn overlaps(&self, boxes: &Boxes) -> u32 {
        let own = &self.0;
        let mut bits = 0;
        for at in (0..BATCH).step_by(L::WIDTH) {
            let [x, y, z, p, q, r] = L::load_all(boxes, at);
            let low = x.le(own[3]) & y.le(own[4]) & z.le(own[5]);
            let high = own[0].le(p) & own[1].le(q) & own[2].le(r);
            bits |= L::bits(low & high) << at;
        }
        bits
    }
}

/// A segment that others are compared with.
pub(super) struct Probe<L> {
    middle: [L; 3],
    /// Unit vector along it, or 0.
    along: [L; 3],
    /// Half its length \[m\].
    half: L,
    /// What rounding may add to a distance \[m\].
    slack: f32,
}

impl<L: Lanes> Probe<L> {
    #[inline(always)]
    pub(super) fn new(middle: [f32; 3], half: [f32; 3], length: f32, slack: f32) -> Self {
        let inverse = if length > 1e-18 { 1.0 / length } else { 0.0 };
        Self {
            middle: [L::splat(middle[0]), L::splat(middle[1]), L::splat(middle[2])],
            along: [L::splat(half[0] * inverse), L::splat(half[1] * inverse), L::splat(half[2] * inverse)],
            half: L::splat(length),
            slack,
        }
    }

    /// Which of the segments `block[..][at..at + WIDTH]` reach into the cylinder of radius `reach` \[m\]
    /// around this one, as bits: the others are further away. Strands mostly lie side by side, and then
    /// hardly any gets through that is not near.
    #[inline(always)]
    pub(super) fn touches(&self, block: &Block, at: usize, reach: f32) -> u32 {
        let [x, y, z, hx, hy, hz] = L::load_all(block, at);
        let apart = [x - self.middle[0], y - self.middle[1], z - self.middle[2]];
        let half = [hx, hy, hz];
        let (apart_squared, half_squared) = (dot(apart, apart), dot(half, half));
        let (along, half_along) = (dot(apart, self.along), dot(half, self.along));
        let reach = L::splat(reach + self.slack);
        let [zero, rounding] = [L::splat(0.0), L::splat(1e-6)];
        let half_across =
            ((half_squared - half_along * half_along).max(zero) + half_squared * rounding).sqrt();
        let across = apart_squared - along * along - (apart_squared + half_squared) * rounding;
        let limit = reach + half_across;
        L::bits(across.le(limit * limit) & along.abs().le(self.half + half_along.abs() + reach))
    }
}
