//! Constraints of position-based dynamics: functions C of a few positions that projections bring to 0, and
//! the moves that do (S2, S3).
//!
//! With inverse masses w, a projection moves vertex i by wᵢ Δλ ∇ᵢC, with
//! Δλ = k' (−C − α̃ λ) / (Σ wⱼ |∇ⱼC|² + α̃).
//! α̃ = 0 is the lecture's, which has no λ; k' = 1 is that of XPBD (Macklin 2016), with α̃ the compliance
//! over dt², and λ the sum of Δλ since the step began. Gradients of the functions sum up to 0 and have no
//! moment, so that both momenta are kept.
//!
//! The lecture's bend constraint is acos(n₁·n₂) − φ₀, with φ = π when flat. Its derivative is singular there,
//! which is where cloth mostly is, and a mirror image of the rest shape has the same φ. So C is the *signed*
//! angle less that at rest, θ − θ₀ with φ = π − |θ|, from the sine and cosine of half of it: along the same
//! gradients but for their sign, as a test shows against Müller's formulas, and exact near ±1.

use super::{
    angle::angle_of_half,
    bend::near_rest,
    dihedral::dihedral,
    real::{Real, V3, cross, dot, scale, sub},
};

/// Largest angle by which one projection bends a hinge \[rad\]: its linear step stretches wings by a tenth
/// then, which a step of half a turn would by 3.
const MOST_BEND: f32 = 0.5;

/// Part of the gradient that vertices which are not held must have: an end of an edge between two wings that
/// are held bends the hinge only by going far, where their feet are at its other end, and would fly away.
const LEVERAGE: f32 = 0.01;

/// Moves beyond this \[m\] are the debris of numbers that overflowed.
const DEBRIS: f32 = 1e9;

/// How stiff a constraint is.
#[derive(Clone, Copy, Debug)]
pub struct Stiff<R> {
    /// k', from 0 to 1.
    pub part: R,
    /// α̃ in the units of C and of inverse masses.
    pub compliance: R,
}

/// Δλ of a constraint that is at `c` and has had `had` in this step; `weight` is Σ w |∇C|².
#[inline(always)]
fn multiplier<R: Real>(c: R, weight: R, stiff: Stiff<R>, had: R) -> R {
    let (zero, tiny) = (R::splat(0.0), R::splat(1e-30));
    let sum = (weight + stiff.compliance).max(tiny);
    let step = -(stiff.part * (c + stiff.compliance * had) / sum);
    // What is held at all its vertices does not move.
    R::select(tiny.lt(weight), step, zero)
}

/// Moves of the two vertices of an edge towards its length at rest, Δλ, and its stretch (1 = at rest).
#[inline(always)]
pub fn project_distance<R: Real>(
    x: [V3<R>; 2],
    w: [R; 2],
    rest: R,
    stiff: Stiff<R>,
    had: R,
) -> ([V3<R>; 2], R, R) {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let d = sub(x[1], x[0]);
    let length = dot(d, d).sqrt();
    let step = multiplier(length - rest, w[0] + w[1], stiff, had);
    // A collapsed edge has no direction of its own: it opens along x.
    let point = length.le(rest * R::splat(1e-6));
    let factor = step / R::select(point, one, length);
    let along = [R::select(point, one, d[0]), R::select(point, zero, d[1]), R::select(point, zero, d[2])];
    ([scale(along, -(factor * w[0])), scale(along, factor * w[1])], step, length / rest)
}

/// Moves of the four vertices of a hinge, as in [`dihedral`](super::dihedral), towards its angle at rest, of
/// which `rest` has the sine and cosine of a half; and Δλ.
#[inline(always)]
pub fn project_bend<R: Real>(
    x: &[V3<R>; 4],
    w: [R; 4],
    rest: [R; 2],
    stiff: Stiff<R>,
    had: R,
) -> ([V3<R>; 4], R) {
    let zero = R::splat(0.0);
    let d = dihedral(x);
    let ([sin, cos], _) = near_rest(&d, rest);
    let c = angle_of_half(sin * rest[1] - cos * rest[0], (cos * rest[1] + sin * rest[0]).max(zero));
    let (mut weight, mut lightest, mut all) = (zero, zero, zero);
    for k in 0..4 {
        let square = dot(d.gradient[k], d.gradient[k]);
        weight = weight + w[k] * square;
        (lightest, all) = (lightest.max(w[k]), all + square);
    }
    let weight = weight.max(R::splat(LEVERAGE) * (lightest * all));
    let most = R::splat(MOST_BEND) / weight.max(R::splat(1e-30));
    let step = multiplier(c, weight, stiff, had).clamp(-most, most);
    let mut moves = [[zero; 3]; 4];
    let mut size = zero;
    for k in 0..4 {
        moves[k] = scale(d.gradient[k], w[k] * step);
        size = size + moves[k][0].abs() + moves[k][1].abs() + moves[k][2].abs();
    }
    let sane = size.le(R::splat(DEBRIS));
    for k in 0..4 {
        for j in 0..3 {
            moves[k][j] = R::select(sane, moves[k][j], zero);
        }
    }
    (moves, R::select(sane, step, zero))
}

/// Moves of the four vertices of a tetrahedron towards its volume at rest, and Δλ. The constraint is measured
/// in units of `unit` \[1/m²\] times the volume, `rest` at rest: with unit = V₀^(−2/3) it is a length, and
/// gradients are about 1.
#[inline(always)]
pub fn project_volume<R: Real>(
    x: &[V3<R>; 4],
    w: [R; 4],
    (unit, rest): (R, R),
    stiff: Stiff<R>,
    had: R,
) -> ([V3<R>; 4], R) {
    let [a, b, c] = [sub(x[1], x[0]), sub(x[2], x[0]), sub(x[3], x[0])];
    let sixth = unit * R::splat(1.0 / 6.0);
    let sides = [scale(cross(b, c), sixth), scale(cross(c, a), sixth), scale(cross(a, b), sixth)];
    let volume = dot(a, sides[0]);
    let first = [
        -(sides[0][0] + sides[1][0] + sides[2][0]),
        -(sides[0][1] + sides[1][1] + sides[2][1]),
        -(sides[0][2] + sides[1][2] + sides[2][2]),
    ];
    let gradient = [first, sides[0], sides[1], sides[2]];
    let mut weight = R::splat(0.0);
    for k in 0..4 {
        weight = weight + w[k] * dot(gradient[k], gradient[k]);
    }
    let step = multiplier(volume - rest, weight, stiff, had);
    let mut moves = gradient;
    for k in 0..4 {
        moves[k] = scale(gradient[k], w[k] * step);
    }
    (moves, step)
}

/// k' of the lecture: what n iterations project by, each, so that together they move a constraint by the
/// part `k` of its error.
pub fn part_of_iteration(k: f64, iterations: u32) -> f64 {
    1.0 - (1.0 - k).powf(1.0 / f64::from(iterations))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::{dihedral::dihedral_angle, real::add};

    type Hinge = [V3<f64>; 4];

    const RIGID: Stiff<f64> = Stiff { part: 1.0, compliance: 0.0 };

    /// Müller 2006, appendix A: the moves of one projection of acos(n₁·n₂) − φ₀, and φ.
    fn as_published(x: &Hinge, w: [f64; 4], rest: f64) -> (Hinge, f64) {
        let [p2, p3, p4] = [sub(x[1], x[0]), sub(x[2], x[0]), sub(x[3], x[0])];
        let length = |a: V3<f64>| dot(a, a).sqrt();
        let (c3, c4) = (cross(p2, p3), cross(p2, p4));
        let (n1, n2) = (scale(c3, 1.0 / length(c3)), scale(c4, 1.0 / length(c4)));
        let d = dot(n1, n2).clamp(-1.0, 1.0);
        let part = |p: V3<f64>, n: V3<f64>, m: V3<f64>, area: f64| {
            scale(add(cross(p, n), scale(cross(m, p), d)), 1.0 / area)
        };
        let q3 = part(p2, n2, n1, length(c3));
        let q4 = part(p2, n1, n2, length(c4));
        let q2 = scale(add(part(p3, n2, n1, length(c3)), part(p4, n1, n2, length(c4))), -1.0);
        let q = [scale(add(q2, add(q3, q4)), -1.0), q2, q3, q4];
        let sum: f64 = (0..4).map(|k| w[k] * dot(q[k], q[k])).sum();
        let by = -(1.0 - d * d).sqrt() * (d.acos() - rest) / sum;
        ([0, 1, 2, 3].map(|k| scale(q[k], w[k] * by)), d.acos())
    }

    fn half(angle: f64) -> [f64; 2] {
        [(0.5 * angle).sin(), (0.5 * angle).cos()]
    }

    fn volume(x: &Hinge) -> f64 {
        dot(cross(sub(x[1], x[0]), sub(x[2], x[0])), sub(x[3], x[0])) / 6.0
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn a_hinge_moves_as_published_and_its_gradient_is_that_of_finite_differences(
            x in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0)),
            w in prop::array::uniform4(0.1f64..2.0),
            change in -0.4f64..0.4,
        ) {
            let d = dihedral(&x);
            prop_assume!(d.heights[0] > 0.1 && d.heights[1] > 0.1);
            prop_assume!(dot(sub(x[1], x[0]), sub(x[1], x[0])) > 0.05);
            let theta = dihedral_angle(&x);
            // Where the published formulas are not singular, and the rest angle is on the same side.
            prop_assume!((0.5..2.6).contains(&theta.abs()));
            let (published, phi) = as_published(&x, w, std::f64::consts::PI - theta.abs() - change);
            prop_assert!((phi - (std::f64::consts::PI - theta.abs())).abs() < 1e-9, "flat is pi");
            let rest = theta + change * theta.signum();
            let (moves, step) = project_bend(&x, w, half(rest), RIGID, 0.0);
            for k in 0..4 {
                for j in 0..3 {
                    prop_assert!((moves[k][j] - published[k][j]).abs() < 1e-6, "{moves:?} {published:?}");
                    let shifted = |by: f64| { let mut y = x; y[k][j] += by; dihedral_angle(&y) };
                    let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                    prop_assert!((moves[k][j] - w[k] * step * slope).abs() < 1e-6 * (1.0 + slope.abs()));
                }
            }
        }

        #[test]
        fn projections_keep_both_momenta(
            x in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0)),
            w in prop::array::uniform4(0.1f64..2.0),
            compliance in 0.0f64..2.0,
        ) {
            let d = dihedral(&x);
            prop_assume!(d.heights[0] > 0.1 && d.heights[1] > 0.1);
            let stiff = Stiff { part: 0.7, compliance };
            let ([a, b], _, _) = project_distance([x[0], x[1]], [w[0], w[1]], 0.5, stiff, 0.1);
            let edge = [a, b, [0.0; 3], [0.0; 3]];
            let bend = project_bend(&x, w, half(0.3), stiff, 0.1).0;
            let volumes = project_volume(&x, w, (2.0, 0.3), stiff, 0.1).0;
            for moves in [edge, bend, volumes] {
                let (mut linear, mut angular) = ([0.0; 3], [0.0; 3]);
                for k in 0..4 {
                    let impulse = scale(moves[k], 1.0 / w[k]);
                    linear = add(linear, impulse);
                    angular = add(angular, cross(x[k], impulse));
                }
                prop_assert!(linear.iter().chain(&angular).all(|m| m.abs() < 1e-8), "{linear:?} {angular:?}");
            }
        }

        #[test]
        fn collapsed_and_held_elements_stay_finite(
            x in prop::array::uniform4(prop::array::uniform3(-1.0f32..1.0)), which in 0..4usize, with in 0..4usize,
        ) {
            let mut x = x;
            x[which] = x[with];
            let stiff = Stiff { part: 1.0, compliance: 0.0 };
            for w in [[1.0; 4], [0.0; 4], [0.0, 0.0, 1.0, 0.0]] {
                let ([a, b], _, _) = project_distance([x[0], x[1]], [w[0], w[1]], 0.5, stiff, 0.0);
                let bend = project_bend(&x, w, [0.1, 0.99], stiff, 0.0).0;
                let volume = project_volume(&x, w, (2.0, 0.3), stiff, 0.0).0;
                let mut all = [a, b].into_iter().chain(bend).chain(volume).flatten();
                prop_assert!(all.all(f32::is_finite), "{x:?} {w:?}");
            }
        }
    }

    /// What is left of an error after `iterations` projections with stiffness k.
    fn left(
        k: f64,
        iterations: u32,
        mut x: Hinge,
        project: impl Fn(&Hinge, Stiff<f64>) -> Hinge,
        c: impl Fn(&Hinge) -> f64,
    ) -> f64 {
        let before = c(&x);
        let stiff = Stiff { part: part_of_iteration(k, iterations), compliance: 0.0 };
        for _ in 0..iterations {
            let moves = project(&x, stiff);
            x = std::array::from_fn(|i| add(x[i], moves[i]));
        }
        c(&x) / before
    }

    /// One end of the edge is free, and the feet of both wings are next to the other.
    #[test]
    fn a_vertex_that_hardly_bends_a_hinge_does_not_fly_away() {
        let x = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.9999, 0.0], [1.0, 0.9999, -0.2]];
        let stiff = Stiff { part: 1.0, compliance: 0.0 };
        let (moves, _) = project_bend(&x, [1.0, 0.0, 0.0, 0.0], [0.0, 1.0], stiff, 0.0);
        assert!(moves.iter().all(|m| dot(*m, *m) < 0.01 * 0.01), "{moves:?}");
        // Free wings do all that is asked for.
        let (moves, _) = project_bend(&x, [1.0, 1.0, 1.0, 1.0], [0.0, 1.0], stiff, 0.0);
        let bent: [V3<f64>; 4] = std::array::from_fn(|k| std::array::from_fn(|j| x[k][j] + moves[k][j]));
        assert!(dihedral_angle(&bent).abs() < 0.1 * dihedral_angle(&x).abs(), "{moves:?}");
    }

    #[test]
    fn stiffness_does_not_depend_on_the_iterations() {
        let x: Hinge = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.8, 0.4, 0.0], [0.7, 0.3, -0.005]];
        let solid: Hinge = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 1.0, 0.0], [0.1, 0.2, 0.9]];
        let w = [1.0, 0.5, 2.0, 0.7];
        for k in [0.1, 0.5, 0.9] {
            for iterations in [1, 5, 20, 100] {
                let edge = |x: &Hinge, stiff| {
                    let ([a, b], _, _) = project_distance([x[0], x[1]], [w[0], w[1]], 0.6, stiff, 0.0);
                    [a, b, [0.0; 3], [0.0; 3]]
                };
                let length = |x: &Hinge| dot(sub(x[1], x[0]), sub(x[1], x[0])).sqrt() - 0.6;
                let bend = |x: &Hinge, stiff| project_bend(x, w, half(0.0), stiff, 0.0).0;
                let rest = 0.9998 * volume(&solid);
                let of_volume = |x: &Hinge, stiff| project_volume(x, w, (1.0, rest), stiff, 0.0).0;
                for left in [
                    left(k, iterations, x, edge, length),
                    left(k, iterations, x, bend, dihedral_angle),
                    left(k, iterations, solid, of_volume, |x| volume(x) - rest),
                ] {
                    assert!((left - (1.0 - k)).abs() < 0.01 * (1.0 - k), "{k} {iterations}: {left}");
                }
            }
        }
        assert_eq!([part_of_iteration(1.0, 7), part_of_iteration(0.0, 7)], [1.0, 0.0]);
    }

    #[test]
    fn a_compliant_edge_carries_a_load_by_its_stiffness_whatever_step_and_iterations() {
        let (alpha, mass, gravity) = (0.02, 0.5, 9.81);
        for (dt, iterations) in [(0.02, 1), (0.02, 20), (0.005, 5), (0.001, 100)] {
            let stiff = Stiff { part: 1.0, compliance: alpha / (dt * dt) };
            let (mut y, mut v) = (1.0f64, 0.0f64);
            for _ in 0..(20.0 / dt) as u32 {
                v = v * (1.0 - dt) + dt * gravity;
                let (old, mut multiplier) = (y, 0.0);
                y += dt * v;
                for _ in 0..iterations {
                    let x = [[0.0; 3], [0.0, y, 0.0]];
                    let ([_, b], step, _) = project_distance(x, [0.0, 1.0 / mass], 1.0, stiff, multiplier);
                    multiplier += step;
                    y += b[1];
                }
                v = (y - old) / dt;
            }
            let expected = alpha * mass * gravity;
            assert!((y - 1.0 - expected).abs() < 0.01 * expected, "{dt} {iterations}: {y}");
        }
    }
}
