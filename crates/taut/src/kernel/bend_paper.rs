//! The bend limit of hinges as published (W4, section 3.1.4 of the paper).
//!
//! A triangle at a time: each of its vertices turns about the edge opposite to it, by this triangle's part of
//! the excess of that edge's angle (Eq. 6), and then all three are shifted so that their centre of mass stays
//! (Eq. 4). It reads the three vertices around the triangle too and writes its own three. A hinge is put
//! right by its two triangles, one after the other.
//!
//! Angles are as in [`dihedral`](super::dihedral): 0 is flat. The scheme keeps linear momentum, not angular:
//! edges stay where they are while wings turn.

use super::{
    angle::{angle_of_half, sin_cos},
    dihedral::dihedral,
    real::{Real, V3, add, combine, cross, dot, scale, select3, sub},
};

/// Moves of a triangle's three vertices \[m\] as published, and the largest excess of its angles \[rad\].
///
/// `x` and `w` are positions and inverse masses of its vertices, then of the wings beyond the edges opposite
/// to them; `ranges` the allowed angles \[rad\], smallest and largest, over those edges. An edge without a
/// wing has no limits.
#[inline(always)]
pub fn limit_bend_paper<R: Real>(
    x: &[V3<R>; 6],
    w: [R; 6],
    ranges: [[R; 2]; 3],
    relaxation: R,
) -> ([V3<R>; 3], R) {
    let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
    let mut moves = [[zero; 3]; 3];
    let mut worst = zero;
    for k in 0..3 {
        let (from, to) = (x[(k + 1) % 3], x[(k + 2) % 3]);
        let d = dihedral(&[from, to, x[k], x[k + 3]]);
        let angle = angle_of_half(d.sin_half, d.cos_half);
        let excess = angle - angle.clamp(ranges[k][0], ranges[k][1]);
        worst = worst.max(excess.abs());
        // Eq. 6 with inverse masses: a vertex that is held does not turn.
        let own = w[k] * d.heights[1] * d.heights[1];
        let other = w[k + 3] * d.heights[0] * d.heights[0];
        let part = R::select((own + other).le(tiny), zero, own / (own + other).max(tiny));
        let edge = sub(to, from);
        let axis = scale(edge, one / dot(edge, edge).sqrt().max(tiny));
        let arm = sub(x[k], from);
        let arm = sub(arm, scale(axis, dot(arm, axis)));
        // Turning about the axis by an angle lowers the bend by as much.
        let (sine, cosine) = sin_cos(excess * part * relaxation);
        let turned = combine(arm, cosine - one, cross(axis, arm), sine);
        let idle = excess.abs().le(zero);
        moves[k] = select3::<R>(idle, [zero; 3], turned);
    }
    // Mass fractions from inverse masses: a vertex that is held takes the whole weight.
    let products = [w[1] * w[2], w[2] * w[0], w[0] * w[1]];
    let share = one / (products[0] + products[1] + products[2]).max(tiny);
    let mut shift = [zero; 3];
    for k in 0..3 {
        shift = sub(shift, scale(moves[k], products[k] * share));
    }
    for k in 0..3 {
        moves[k] = select3::<R>(w[k].le(zero), [zero; 3], add(moves[k], shift));
    }
    (moves, worst)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::dihedral::dihedral_angle;

    const FREE: [f64; 2] = [-10.0, 10.0];

    /// Triangle (0, 1, 2) in the plane z = 0 with the edge 1–2 along y, and a wing over that edge folded by
    /// `theta`.
    fn folded(theta: f64) -> [V3<f64>; 6] {
        let own = [[-0.8, 0.4, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let wing = [0.7 * theta.cos(), 0.3, -0.7 * theta.sin()];
        [own[0], own[1], own[2], wing, own[1], own[2]]
    }

    fn hinge(x: &[V3<f64>; 6]) -> f64 {
        dihedral_angle(&[x[1], x[2], x[0], x[3]])
    }

    /// Both triangles of a hand-folded hinge, each by its own part (Eq. 6), take it to the limit.
    #[test]
    fn a_hinge_folded_by_hand_is_turned_by_its_part() {
        for theta in [-2.5, -1.0, 0.4, 1.2, 2.0f64] {
            let x = folded(theta);
            assert!((hinge(&x) - theta).abs() < 1e-9);
            let limit = 0.5 * theta;
            let ranges = [[-limit.abs(), limit.abs()], FREE, FREE];
            // All the other masses are huge: the wing vertex of the triangle turns alone.
            let (moves, worst) = limit_bend_paper(&x, [1.0, 1e-9, 1e-9, 1e-9, 1.0, 1.0], ranges, 1.0);
            assert!((worst - limit.abs()).abs() < 1e-6);
            let mut after = x;
            for k in 0..3 {
                after[k] = add(x[k], moves[k]);
            }
            assert!((hinge(&after) - limit).abs() < 1e-6, "{theta}: {}", hinge(&after));
            // Equal masses: the nearer wing turns further, by m d² of the other over their sum.
            let (moves, _) = limit_bend_paper(&x, [1.0; 6], ranges, 1.0);
            let d = [0.8f64, 0.7];
            let part = d[1] * d[1] / (d[0] * d[0] + d[1] * d[1]);
            let shift = moves[1];
            let own = sub(moves[0], shift);
            let turned = (dot(own, own).sqrt() / (2.0 * d[0])).asin() * 2.0;
            assert!((turned - part * limit.abs()).abs() < 1e-6, "{theta}: {turned}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_papers_keeps_the_centre_of_mass(
            x in prop::array::uniform6(prop::array::uniform3(-1.0f64..1.0)),
            w in prop::array::uniform6(0.1f64..10.0),
            limit in 0.0f64..1.0,
        ) {
            let (moves, _) = limit_bend_paper(&x, w, [[-limit, limit]; 3], 1.0);
            for c in 0..3 {
                let momentum: f64 = (0..3).map(|k| moves[k][c] / w[k]).sum();
                prop_assert!(momentum.abs() < 1e-9, "{momentum}");
            }
        }

        #[test]
        fn held_vertices_stay(
            x in prop::array::uniform6(prop::array::uniform3(-1.0f32..1.0)),
            held in prop::array::uniform6(prop::bool::ANY),
        ) {
            let w = held.map(|h| if h { 0.0 } else { 1.0 });
            let (moves, worst) = limit_bend_paper(&x, w, [[-0.1, 0.1]; 3], 1.0);
            prop_assert!(worst.is_finite());
            for k in 0..3 {
                prop_assert!(moves[k].iter().all(|m| m.is_finite()));
                prop_assert!(!held[k] || moves[k] == [0.0; 3]);
            }
        }
    }
}
