//! What makes limits hold at the end of a solve, whatever came before.
//!
//! First, in lanes, up to [`PROJECTIONS`] Newton steps towards the nearest point within the limits on length
//! (in the metric of mass): tridiagonal, and enough for almost all. Then, strand by strand in double
//! precision, bends past their limit are turned back and segments are cut to length from the root on, which
//! cannot fail.

use glam::DVec3;

use super::{
    curly,
    newton::{LoadRows, Setting, is_held},
    work::Work,
};
use crate::kernel::{
    lanes::Lanes,
    real::{combine, dot, scale, select3, sub},
};

/// Most projections.
const PROJECTIONS: usize = 3;

/// Passes over segments between two held nodes.
const PASSES: usize = 50;

/// Lanes with segments out of their limits.
#[inline(always)]
pub(super) fn out_of_limits<L: Lanes>(set: &Setting<'_, L>, work: &Work<'_, L>) -> L::Mask {
    let [low, high] = set.band.held.map(|stretch| L::splat(stretch * stretch));
    let mut in_band = low.le(low);
    for j in 0..work.nodes - 1 {
        let (e, inverse) = (sub(work.x[j + 1], work.x[j]), set.inverse_length(j));
        let square = dot(e, e) * inverse * inverse;
        let both = is_held(work.mass[j]) & is_held(work.mass[j + 1]);
        in_band = in_band & (low.le(square) & square.le(high) | both);
    }
    !in_band
}

/// Lanes with joints that bend past their limit.
#[inline(always)]
pub(super) fn past_bend_limits<L: Lanes>(set: &Setting<'_, L>, work: &Work<'_, L>) -> L::Mask {
    let mut holds = L::splat(0.0).le(L::splat(0.0));
    if set.rods.limits.is_empty() {
        return !holds;
    }
    for i in 1..work.nodes - 1 {
        let unit = |j: usize| {
            let e = sub(work.x[j + 1], work.x[j]);
            scale(e, L::splat(1.0) / dot(e, e).sqrt().max(L::splat(1e-18)))
        };
        let c = sub(unit(i), unit(i - 1));
        let chord = dot(c, c).sqrt();
        let [low, high] = L::load_rows(&set.rods.limits[i].hard, set.at);
        holds = holds & low.le(chord) & chord.le(high);
    }
    !holds
}

/// Projects the lanes that are out of their limits on length; gives those that still are.
#[inline(always)]
pub(super) fn project<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>) -> L::Mask {
    let zero = L::splat(0.0);
    let mut out = out_of_limits(set, work);
    let moved = out;
    for _ in 0..PROJECTIONS {
        if !L::any(out) {
            break;
        }
        project_once(set, work, out);
        out = out & out_of_limits(set, work);
    }
    if L::any(moved) {
        for j in 0..work.nodes - 1 {
            work.edge[j] = sub(work.x[j + 1], work.x[j]);
            if set.rods.is_curly {
                curly::move_frame(work, j, zero, moved);
            }
        }
    }
    out
}

fn project_once<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, active: L::Mask) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let n = work.nodes - 1;
    let [low, high] = set.band.projected;
    let inverse_mass = |mass: L| L::select(is_held(mass), zero, one / mass);
    let mut before = (zero, zero, [zero; 3]);
    for j in 0..n {
        let (inverse, length) = (set.inverse_length(j), set.length(j));
        let e = sub(work.x[j + 1], work.x[j]);
        let square = dot(e, e) * inverse;
        let past = |stretch: f32| (square - length * L::splat(stretch * stretch)) * L::splat(0.5);
        let past = past(high).max(zero) + past(low).min(zero);
        let along = scale(e, inverse);
        let (w0, w1) = (inverse_mass(work.mass[j]), inverse_mass(work.mass[j + 1]));
        let (last_inverse, last_right, last_along) = before;
        let beside = -(dot(last_along, along) * w0);
        let factor = beside * last_inverse;
        let pivot = dot(along, along) * (w0 + w1) - factor * beside;
        // Nothing moves where both ends are held.
        let pivot = one / pivot.max(L::splat(1e-9));
        let right = past - factor * last_right;
        // Kept in arrays that are free now: pivots and what is beside them, right-hand sides, directions.
        work.matrix[j] = [pivot, beside, zero];
        work.weight[j] = right;
        work.edge[j] = along;
        before = (pivot, right, along);
    }
    let mut next = zero;
    for j in (0..n).rev() {
        let beside = if j + 1 < n { work.matrix[j + 1][1] } else { zero };
        next = (work.weight[j] - beside * next) * work.matrix[j][0];
        work.weight[j] = next;
    }
    for i in 0..=n {
        let mut d = [zero; 3];
        if i > 0 {
            d = scale(work.edge[i - 1], -work.weight[i - 1]);
        }
        if i < n {
            d = combine(d, one, work.edge[i], work.weight[i]);
        }
        let to = combine(work.x[i], one, d, inverse_mass(work.mass[i]));
        work.x[i] = select3::<L>(active & !is_held(work.mass[i]), to, work.x[i]);
    }
}

/// Where the segments of one strand must be, in double precision.
pub(super) struct StrandLimits<'a> {
    /// Least and greatest length of segment j \[m\].
    pub(super) length: &'a dyn Fn(usize) -> [f64; 2],
    /// Cosine and sine of the least and the greatest turning of joint i, if it is limited.
    pub(super) turning: Option<&'a dyn Fn(usize) -> [[f64; 2]; 2]>,
    /// Whether node i is held.
    pub(super) held: &'a dyn Fn(usize) -> bool,
}

/// Brings a strand within its limits, from its first held node (or its root) on both ways. Between two held
/// nodes lengths alone are brought in, which fails only if these are too far apart.
pub(super) fn clamp(x: &mut [DVec3], limits: &StrandLimits<'_>) {
    let nodes = x.len();
    let held = |i: usize| (limits.held)(i);
    let first = (0..nodes).find(|&i| held(i)).unwrap_or(0);
    for i in (0..first).rev() {
        x[i] = placed(x, [i + 1, i], (limits.length)(i));
    }
    let mut from = first;
    while let Some(to) = (from + 1..nodes).find(|&i| held(i)) {
        between(x, from, to, limits);
        from = to;
    }
    for i in from + 1..nodes {
        if let (Some(turning), true) = (limits.turning, i >= 2) {
            turn_back(x, i, turning(i - 1));
        }
        // What follows keeps its directions.
        let moved = placed(x, [i - 1, i], (limits.length)(i - 1)) - x[i];
        if moved != DVec3::ZERO {
            x[i..].iter_mut().for_each(|x| *x += moved);
        }
    }
}

/// Where node `to` must be for its distance from node `from` to be within `room`.
fn placed(x: &[DVec3], [from, to]: [usize; 2], [low, high]: [f64; 2]) -> DVec3 {
    let e = x[to] - x[from];
    let length = e.length();
    if (low..=high).contains(&length) {
        return x[to];
    }
    if length > 1e-12 {
        return x[from] + e * (length.clamp(low, high) / length);
    }
    // No direction of its own: that of the segment before, or down.
    let before = from.wrapping_add(from).wrapping_sub(to);
    let e = x.get(before).map_or(DVec3::ZERO, |&before| x[from] - before);
    x[from] + e.try_normalize().unwrap_or(DVec3::NEG_Y) * low.max(1e-9)
}

/// Lengths between the held nodes `from` and `to`: to and fro, so that both stay where they are.
fn between(x: &mut [DVec3], from: usize, to: usize, limits: &StrandLimits<'_>) {
    let is_out = |x: &[DVec3]| {
        (from..to).any(|j| {
            let [low, high] = (limits.length)(j);
            !(low..=high).contains(&(x[j + 1] - x[j]).length())
        })
    };
    for _ in 0..PASSES {
        if to == from + 1 || !is_out(x) {
            return;
        }
        for i in from + 1..to {
            x[i] = placed(x, [i - 1, i], (limits.length)(i - 1));
        }
        for i in (from + 1..to).rev() {
            x[i] = placed(x, [i + 1, i], (limits.length)(i));
        }
    }
}

/// Turns the segment before node `i`, and all that follows with it in parallel, so that the joint at `i − 1`
/// turns within `room`, as cosines and sines.
fn turn_back(x: &mut [DVec3], i: usize, room: [[f64; 2]; 2]) {
    let (e0, e1) = (x[i - 1] - x[i - 2], x[i] - x[i - 1]);
    let (Some(t0), Some(t1)) = (e0.try_normalize(), e1.try_normalize()) else { return };
    let cosine = t0.dot(t1);
    let [low, high] = room;
    let [c, s] = if cosine < high[0] {
        high
    } else if cosine > low[0] && low[1] > 0.0 {
        low
    } else {
        return;
    };
    let across = (t1 - t0 * cosine).try_normalize().unwrap_or_else(|| t0.any_orthonormal_vector());
    let moved = (t0 * c + across * s) * e1.length() - e1;
    x[i..].iter_mut().for_each(|x| *x += moved);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    #[test]
    fn clamping_always_succeeds() {
        let mut random = Random::new(5, 0);
        for held in [vec![], vec![0], vec![0, 1], vec![7], vec![0, 12], vec![3, 9, 10]] {
            let mut x: Vec<DVec3> = (0..20)
                .map(|_| DVec3::new(random.unit().into(), random.unit().into(), random.unit().into()))
                .collect();
            // Held nodes must be within reach of each other.
            for (&i, &j) in held.iter().zip(held.iter().skip(1)) {
                x[j] = x[i] + DVec3::X * (0.085 * (j - i) as f64);
            }
            x[15] = x[14];
            let before = x.clone();
            let limits =
                StrandLimits { length: &|_| [0.099, 0.101], turning: None, held: &|i| held.contains(&i) };
            clamp(&mut x, &limits);
            for j in 0..19 {
                let length = (x[j + 1] - x[j]).length();
                // Passes between held nodes end where rounding does.
                let slack = 1e-6;
                let both = held.contains(&j) && held.contains(&(j + 1));
                assert!(both || (length - 0.1).abs() < 1e-3 + slack, "{held:?} {j}: {length}");
            }
            assert!(held.iter().all(|&i| x[i] == before[i]), "{held:?}");
        }
    }

    #[test]
    fn bends_are_turned_back_at_the_same_length() {
        let mut x: Vec<DVec3> =
            (0..10).map(|k| DVec3::new(f64::from(k % 2), f64::from(k / 2), 0.0)).collect();
        let (s, c) = 0.3f64.sin_cos();
        let limits = StrandLimits {
            length: &|_| [0.5, 2.0],
            turning: Some(&|_| [[1.0, 0.0], [c, s]]),
            held: &|i| i < 2,
        };
        let lengths: Vec<f64> = x.windows(2).map(|x| x[0].distance(x[1])).collect();
        clamp(&mut x, &limits);
        for i in 1..9 {
            let turning = (x[i] - x[i - 1]).angle_between(x[i + 1] - x[i]);
            assert!(turning < 0.3 + 1e-7, "{turning}");
        }
        for (x, length) in x.windows(2).zip(lengths) {
            assert!((x[0].distance(x[1]) - length).abs() < 1e-12);
        }
    }
}
