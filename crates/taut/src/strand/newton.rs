//! What Newton steps of straight and of curly strands share: the rows of lengths, the pentadiagonal matrix of
//! bending without frames, and how far a step goes.

use super::{
    HEAVY,
    batch::Rods,
    limits::{STIFFENING, StretchBand},
    work::Work,
};
use crate::kernel::{
    lanes::Lanes,
    real::{V3, combine, dot, scale, select3, sub},
};

/// Compliance of lengths: none, but for rounding.
const COMPLIANCE: f32 = -1e-9;

/// What stays the same during a solve.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a, L> {
    pub(super) rods: &'a Rods,
    pub(super) band: &'a StretchBand,
    /// The first of the lanes.
    pub(super) at: usize,
    /// Leading nodes that are held in all lanes of the batch.
    pub(super) first: usize,
    /// c dt² \[s²\].
    pub(super) c_dt2: L,
    /// The same over the unit of mass, which forces are multiplied with.
    pub(super) force: L,
    /// Whether outside forces act.
    pub(super) is_pulled: bool,
}

/// How a step went, lane by lane.
pub(super) struct Moved<L: Lanes> {
    /// Largest move of a full step \[m\].
    pub(super) largest: L,
    /// Sum of the squares of all moves: not finite if any of them is not.
    pub(super) sum: L,
    /// Whether all lengths are in their band now.
    pub(super) in_band: L::Mask,
}

/// How far steps may go.
#[derive(Clone, Copy)]
pub(super) struct Stride<L: Lanes> {
    /// Largest change of an edge over its length, and of an angle \[rad\].
    pub(super) cap: L,
    /// Factor on steps.
    pub(super) damping: L,
    /// Lanes that are not done.
    pub(super) active: L::Mask,
}

impl<L: Lanes> Setting<'_, L> {
    #[inline(always)]
    pub(super) fn length(&self, j: usize) -> L {
        L::of(&self.rods.length[j], self.at)
    }

    #[inline(always)]
    pub(super) fn inverse_length(&self, j: usize) -> L {
        L::of(&self.rods.inverse_length[j], self.at)
    }

    /// Bending stiffness of joint `i`, times c dt².
    #[inline(always)]
    pub(super) fn bend(&self, i: usize) -> L {
        L::of(&self.rods.bend[i], self.at) * self.c_dt2
    }

    /// Force along c and stiffness that the limit on the bend of joint `i` adds, over c; c is the difference
    /// of the tangents.
    #[inline(always)]
    pub(super) fn stiffen(&self, i: usize, c: V3<L>) -> (L, L) {
        let zero = L::splat(0.0);
        let limits = &self.rods.limits[i];
        let [low, high] = L::load_rows(&limits.soft, self.at);
        let chord = dot(c, c).sqrt();
        let stiffness = L::splat(STIFFENING) * self.bend(i);
        let past = (chord - high).max(zero) - (low - chord).max(zero);
        let stiff = L::select(high.lt(chord) | chord.lt(low), stiffness, zero);
        (stiffness * past / chord.max(L::splat(1e-12)), stiff)
    }
}

/// Reading several rows of a table.
pub(super) trait LoadRows: Lanes {
    /// The lanes from `at` on of both rows.
    #[inline(always)]
    fn load_rows<const K: usize>(rows: &[crate::kernel::lanes::Row; K], at: usize) -> [Self; K] {
        let mut all = [Self::splat(0.0); K];
        for k in 0..K {
            all[k] = Self::of(&rows[k], at);
        }
        all
    }
}

impl<L: Lanes> LoadRows for L {}

/// Whether a mass is that of a held node.
#[inline(always)]
pub(super) fn is_held<L: Lanes>(mass: L) -> L::Mask {
    L::splat(0.5 * HEAVY).lt(mass)
}

/// The matrix of masses and of bending about straight shapes, ⊗ 1₃, into `work.base`.
#[inline(always)]
pub(super) fn base_matrix<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>) {
    let zero = L::splat(0.0);
    for i in 0..work.nodes {
        work.base[i] = [work.mass[i], zero, zero];
    }
    for i in 1..work.nodes - 1 {
        let (a, b) = (set.inverse_length(i - 1), set.inverse_length(i));
        add_joint(work.base, i, set.bend(i), a, b);
    }
}

/// Adds ½ k |e_i b − e_{i−1} a|² to a pentadiagonal matrix.
#[inline(always)]
pub(super) fn add_joint<L: Lanes>(matrix: &mut [[L; 3]], i: usize, k: L, a: L, b: L) {
    let c = -(a + b);
    let (ka, kb, kc) = (k * a, k * b, k * c);
    matrix[i - 1][0] = matrix[i - 1][0] + ka * a;
    matrix[i][0] = matrix[i][0] + kc * c;
    matrix[i + 1][0] = matrix[i + 1][0] + kb * b;
    matrix[i][1] = matrix[i][1] + ka * c;
    matrix[i + 1][1] = matrix[i + 1][1] + kb * c;
    matrix[i + 1][2] = matrix[i + 1][2] + ka * b;
}

/// Diagonal and right-hand side of the row of the length of segment `j`.
///
/// In a narrow band the length is fixed. Else the row is active while its multiplier, or the length itself,
/// is past an end of the band; if not, it brings the multiplier to 0. Where both ends are held, it says
/// nothing.
#[inline(always)]
pub(super) fn length_row<L: Lanes>(set: &Setting<'_, L>, work: &Work<'_, L>, j: usize) -> (L, L) {
    let (zero, heavy) = (L::splat(0.0), L::splat(HEAVY));
    let (e, length) = (work.edge[j], set.length(j));
    let square = dot(e, e) * set.inverse_length(j);
    let past = |stretch: f32| (square - length * L::splat(stretch * stretch)) * L::splat(0.5);
    let held = is_held(work.mass[j]) & is_held(work.mass[j + 1]);
    if let Some(stretch) = set.band.fixed {
        let (diagonal, right) = (L::splat(COMPLIANCE), -past(stretch));
        return (L::select(held, -heavy, diagonal), L::select(held, zero, right));
    }
    let (low, high) = (past(set.band.aim[0]), past(set.band.aim[1]));
    let tension = work.tension[j];
    let (is_long, is_short) = (zero.lt(tension + high), (tension + low).lt(zero));
    let is_active = (is_long | is_short) & !held;
    let past = L::select(is_long, high, low);
    (L::select(is_active, L::splat(COMPLIANCE), -heavy), L::select(is_active, -past, heavy * tension))
}

/// Moves nodes and multipliers by a solved step, whose unknowns are `P` a node, with the position at `at_x`
/// and the multiplier after it, from row `start` on. `angles` is the largest change of an angle. Gives the
/// factor that the step was multiplied with, too.
#[inline(always)]
pub(super) fn advance<L: Lanes, const B: usize, const P: usize>(
    set: &Setting<'_, L>,
    work: &mut Work<'_, L>,
    stride: Stride<L>,
    (at_x, angles): (usize, L),
) -> (Moved<L>, L) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (nodes, first) = (work.nodes, set.first);
    let (mut largest, mut sum, mut turn) = (zero, zero, zero);
    let mut before = [zero; 3];
    for i in first..nodes {
        let r = B + P * (i - first) + at_x;
        let right = &work.banded::<B>().right[r..r + 3];
        let d = [right[0], right[1], right[2]];
        let square = dot(d, d);
        largest = largest.max(square);
        sum = sum + square;
        if i > 0 {
            let change = sub(d, before);
            let inverse = set.inverse_length(i - 1);
            turn = turn.max(dot(change, change) * inverse * inverse);
        }
        before = d;
    }
    let turn = turn.sqrt().max(angles);
    let factor = (stride.cap / turn.max(L::splat(1e-20))).min(one) * stride.damping;
    let mut in_band = zero.le(zero);
    let [low, high] = if set.band.fixed.is_some() { set.band.aim } else { set.band.held };
    let (low, high) = (L::splat(low * low), L::splat(high * high));
    for i in first..nodes {
        let r = B + P * (i - first) + at_x;
        let right = &work.banded::<B>().right[r..r + 4];
        let (d, multiplier) = ([right[0], right[1], right[2]], right[3]);
        let moves = stride.active & !is_held(work.mass[i]);
        work.x[i] = select3::<L>(moves, combine(work.x[i], one, d, factor), work.x[i]);
        if i == 0 {
            continue;
        }
        let j = i - 1;
        let tension = work.tension[j] + factor * multiplier;
        work.tension[j] = L::select(stride.active, tension, work.tension[j]);
        work.edge[j] = sub(work.x[i], work.x[j]);
        let inverse = set.inverse_length(j);
        let square = dot(work.edge[j], work.edge[j]) * inverse * inverse;
        let both = is_held(work.mass[j]) & is_held(work.mass[i]);
        in_band = in_band & (low.le(square) & square.le(high) | both);
    }
    (Moved { largest: largest.sqrt(), sum: sum + angles, in_band }, factor)
}

/// The pull towards the goal and of outside forces on node `i`, with the gradients of the edges beside it.
#[inline(always)]
pub(super) fn node_gradient<L: Lanes>(set: &Setting<'_, L>, work: &Work<'_, L>, i: usize) -> V3<L> {
    let one = L::splat(1.0);
    let mut g = scale(sub(work.x[i], work.goal[i]), work.mass[i]);
    if i > 0 {
        g = combine(g, one, work.gradient[i - 1], one);
    }
    if i + 1 < work.nodes {
        g = sub(g, work.gradient[i]);
    }
    if set.is_pulled {
        let pull = &work.pull[i];
        g = combine(g, one, [pull[0], pull[1], pull[2]], set.force);
    }
    g
}
