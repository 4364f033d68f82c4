//! One projection of one triangle (acceptance of W1): it lands on the limit, whatever is pinned; it keeps
//! momentum; it does not care how the triangle is turned; it leaves alone what is inside.

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use taut::kernel::{
    real::Real,
    strain::{Projected, Range, angular_impulse, limit_strain_gradient, limit_strain_paper},
    svd2::{RestInverse, cauchy, deformation_gradient, rest_inverse, svd2},
};

type Triangle<R> = [[R; 3]; 3];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Gradient,
    Paper,
}

fn project<R: Real>(
    kind: Kind,
    x: &Triangle<R>,
    w: [R; 3],
    rest: RestInverse<R>,
    range: Range<R>,
) -> Option<Projected<R>> {
    let one = R::splat(1.0);
    match kind {
        Kind::Gradient => limit_strain_gradient(x, w, rest, range, one),
        Kind::Paper => limit_strain_paper(x, w, rest, range, one),
    }
}

fn moved<R: Real>(x: &Triangle<R>, moves: &Triangle<R>) -> Triangle<R> {
    [0, 1, 2].map(|i| [0, 1, 2].map(|k| x[i][k] + moves[i][k]))
}

fn stretches<R: Real>(x: &Triangle<R>, rest: RestInverse<R>) -> [R; 2] {
    let f = deformation_gradient(x, rest);
    svd2(&f, &cauchy(&f)).s
}

/// A rest triangle with no angle under 20°, and its inverse. (Single precision measures a needle's stretch no
/// better than to its aspect ratio times 1e-6.)
fn rest_triangle() -> impl Strategy<Value = (Triangle<f64>, RestInverse<f64>)> {
    (0.3f64..1.5, -0.8f64..1.8, 0.3f64..1.5).prop_filter_map("needle", |(a, b, c)| {
        let corner = |p: [f64; 2], q: [f64; 2]| (p[0] * q[1] - p[1] * q[0]).atan2(p[0] * q[0] + p[1] * q[1]);
        let angles = [corner([a, 0.0], [b, c]), corner([b - a, c], [-a, 0.0])];
        let smallest = angles[0].min(angles[1]).min(std::f64::consts::PI - angles[0] - angles[1]);
        if smallest.to_degrees() < 20.0 {
            return None;
        }
        let r = [[0.0; 3], [a, 0.0, 0.0], [b, c, 0.0]];
        Some((r, rest_inverse(r)?.0))
    })
}

/// Inverse masses with `pinned` of them zero, at a random place.
fn weights(pinned: usize) -> impl Strategy<Value = [f64; 3]> {
    (prop::array::uniform3(0.3f64..3.0), 0..3usize).prop_map(move |(mut w, from)| {
        for k in 0..pinned {
            w[(from + k) % 3] = 0.0;
        }
        w
    })
}

fn limits() -> impl Strategy<Value = Range<f64>> {
    prop_oneof![
        (0.5f64..0.99, 1.01f64..1.3).prop_map(|(min, max)| Range { min, max }),
        (1.0f64..1.2).prop_map(|max| Range { min: 0.0, max }),
        (0.7f64..1.0).prop_map(|min| Range { min, max: 1e9 }),
    ]
}

/// Stretches the rest triangle by `s` along an axis at `angle`, and turns and shifts it in space.
fn deform(r: &Triangle<f64>, s: [f64; 2], angle: f64, turn: [f64; 3]) -> Triangle<f64> {
    let (sin, cos) = angle.sin_cos();
    let rotation = DQuat::from_scaled_axis(DVec3::from(turn));
    r.map(|p| {
        let (u, v) = (cos * p[0] + sin * p[1], -sin * p[0] + cos * p[1]);
        (rotation * DVec3::new(s[0] * u, s[1] * v, 0.0) + DVec3::new(0.1, -0.2, 0.3)).to_array()
    })
}

/// Whether some place of the free vertices meets the limits: always, unless two or three are pinned.
fn reachable(x: &Triangle<f64>, r: &Triangle<f64>, w: [f64; 3], range: Range<f64>) -> bool {
    let pinned: Vec<usize> = (0..3).filter(|&i| w[i] == 0.0).collect();
    match pinned[..] {
        [i, j] => {
            let length = |p: &Triangle<f64>| (DVec3::from(p[j]) - DVec3::from(p[i])).length();
            let stretch = length(x) / length(r);
            stretch > range.min * 1.02 && stretch < range.max * 0.98
        }
        [_, _, _] => false,
        _ => true,
    }
}

/// Two pinned vertices leave the paper's projection one degree of freedom, along which there may be no
/// solution.
fn paper_reachable(x: &Triangle<f64>, r: &Triangle<f64>, w: [f64; 3], range: Range<f64>) -> bool {
    let pinned: Vec<usize> = (0..3).filter(|&i| w[i] == 0.0).collect();
    let [i, j] = pinned[..] else { return true };
    let tip = 3 - i - j;
    let foot = |p: &Triangle<f64>| {
        let (from, to, tip) = (DVec3::from(p[i]), DVec3::from(p[j]), DVec3::from(p[tip]));
        let axis = (to - from).normalize();
        let arm = tip - from;
        (arm.dot(axis), (arm - axis * arm.dot(axis)).length(), (to - from).length())
    };
    let ((reach, height, length), (rest_reach, rest_height, rest_length)) = (foot(x), foot(r));
    let a = length / rest_length;
    let b = (reach - a * rest_reach) / rest_height;
    let square = |t: f64| t * t * (t * t - a * a - b * b) / (t * t - a * a);
    let (low, high) = (square(range.min), square(range.max));
    a < range.max * 0.99
        && a > range.min * 1.01
        && low >= 0.0
        && high >= 1e-3
        && low < 0.98 * high
        && height > 0.0
}

#[derive(Clone, Debug)]
struct Case {
    r: Triangle<f64>,
    rest: RestInverse<f64>,
    x: Triangle<f64>,
    w: [f64; 3],
    range: Range<f64>,
}

fn case(pinned: usize) -> impl Strategy<Value = Case> {
    let stretch = prop_oneof![4 => 0.4f64..2.0, 1 => Just(0.0), 1 => 2.0f64..4.0, 1 => 0.001f64..0.1];
    (
        rest_triangle(),
        [stretch.clone(), stretch],
        0.0f64..3.2,
        prop::array::uniform3(-3.0f64..3.0),
        weights(pinned),
        limits(),
    )
        .prop_map(|((r, rest), s, angle, turn, w, range)| Case {
            r,
            rest,
            x: deform(&r, s, angle, turn),
            w,
            range,
        })
}

fn single(c: &Case) -> (Triangle<f32>, [f32; 3], RestInverse<f32>, Range<f32>) {
    (
        c.x.map(|p| p.map(|v| v as f32)),
        c.w.map(|v| v as f32),
        c.rest.map(|v| v as f32),
        Range { min: c.range.min as f32, max: c.range.max as f32 },
    )
}

/// Projects once in single precision and returns how far the worse stretch is outside afterwards, measured in
/// double precision, so that it is the projection that is judged and not the measuring.
fn residual_after(kind: Kind, c: &Case) -> f64 {
    let (x, w, rest, range) = single(c);
    let Some(p) = project(kind, &x, w, rest, range) else { return 0.0 };
    let s = stretches(&moved(&x, &p.moves).map(|p| p.map(f64::from)), c.rest);
    (s[0] - c.range.max).max(c.range.min - s[1]).max(0.0)
}

/// What the project promises of one projection.
const LANDS: f64 = 1e-5;

macro_rules! lands {
    ($($name:ident $kind:ident $pinned:literal),* $(,)?) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 6000, max_global_rejects: 60_000, failure_persistence: None, ..ProptestConfig::default() })]
            $(#[test]
            fn $name(c in case($pinned)) {
                prop_assume!(reachable(&c.x, &c.r, c.w, c.range));
                prop_assume!(Kind::$kind == Kind::Gradient || paper_reachable(&c.x, &c.r, c.w, c.range));
                let residual = residual_after(Kind::$kind, &c);
                prop_assert!(residual <= LANDS, "residual {residual:e}, stretches {:?}", stretches(&c.x, c.rest));
            })*
        }
    };
}

lands! {
    gradient_lands_with_all_free Gradient 0,
    gradient_lands_with_one_pinned Gradient 1,
    paper_lands_with_all_free Paper 0,
    paper_lands_with_one_pinned Paper 1,
    paper_lands_with_two_pinned Paper 2,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, max_global_rejects: 60_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// With two pinned vertices a state inside may be out of reach of a move along one gradient; where the
    /// move says that it lands, it does, and it never makes things worse.
    #[test]
    fn gradient_lands_with_two_pinned(c in case(2)) {
        prop_assume!(reachable(&c.x, &c.r, c.w, c.range));
        let (x, _, rest, range) = single(&c);
        let before = stretches(&x, rest);
        let before = (before[0] - range.max).max(range.min - before[1]).max(0.0);
        let residual = residual_after(Kind::Gradient, &c);
        prop_assert!(residual <= LANDS, "residual {residual:e} from {before}");
    }

    #[test]
    fn pinned_vertices_stay(c in (1..4usize).prop_flat_map(case)) {
        let (x, w, rest, range) = single(&c);
        for kind in [Kind::Gradient, Kind::Paper] {
            if let Some(p) = project(kind, &x, w, rest, range) {
                for i in 0..3 {
                    prop_assert!(p.moves[i].iter().all(|v| v.is_finite()));
                    if w[i] == 0.0 {
                        prop_assert_eq!(p.moves[i], [0.0; 3]);
                    }
                }
            }
        }
    }

    #[test]
    fn three_pinned_do_nothing(c in case(3)) {
        let (x, w, rest, range) = single(&c);
        for kind in [Kind::Gradient, Kind::Paper] {
            if let Some(p) = project(kind, &x, w, rest, range) {
                prop_assert_eq!(p.moves, [[0.0; 3]; 3]);
            }
        }
    }

    #[test]
    fn momentum_is_kept(c in case(0)) {
        for kind in [Kind::Gradient, Kind::Paper] {
            let Some(p) = project(kind, &c.x, c.w, c.rest, c.range) else { continue };
            let size = p.moves.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
            for k in 0..3 {
                let linear: f64 = (0..3).map(|i| p.moves[i][k] / c.w[i]).sum();
                prop_assert!(linear.abs() <= 1e-12 + 1e-11 * size, "{kind:?} {linear:e}");
            }
            if kind == Kind::Gradient {
                let angular = angular_impulse(&c.x, c.w, &p.moves);
                for a in angular {
                    prop_assert!(a.abs() <= 1e-11 + 1e-9 * size, "{a:e} {:?}", stretches(&c.x, c.rest));
                }
            }
        }
    }

    #[test]
    fn turning_the_triangle_turns_the_moves(c in (0..3usize).prop_flat_map(case), turn in prop::array::uniform3(-3.0f64..3.0)) {
        let s = stretches(&c.x, c.rest);
        // Round and collapsed shapes have no principal direction of their own.
        prop_assume!(s[0] - s[1] > 1e-3 && s[1] > 2e-3 * s[0]);
        let rotation = DQuat::from_scaled_axis(DVec3::from(turn));
        let turned = c.x.map(|p| (rotation * DVec3::from(p)).to_array());
        for kind in [Kind::Gradient, Kind::Paper] {
            let (a, b) = (project(kind, &c.x, c.w, c.rest, c.range), project(kind, &turned, c.w, c.rest, c.range));
            prop_assert_eq!(a.is_some(), b.is_some());
            if let (Some(a), Some(b)) = (a, b) {
                for i in 0..3 {
                    let error = (rotation * DVec3::from(a.moves[i]) - DVec3::from(b.moves[i])).length();
                    prop_assert!(error < 1e-7 * (1.0 + s[0]), "{kind:?} {error:e}");
                }
            }
        }
    }

    #[test]
    fn inside_is_left_alone(c in (0..4usize).prop_flat_map(case)) {
        let s = stretches(&c.x, c.rest);
        let inside = s[0] <= c.range.max * (1.0 - 1e-9) && s[1] >= c.range.min * (1.0 + 1e-9);
        for kind in [Kind::Gradient, Kind::Paper] {
            let p = project(kind, &c.x, c.w, c.rest, c.range);
            if inside {
                prop_assert!(p.is_none());
            } else if s[0] > c.range.max * (1.0 + 1e-9) || s[1] < c.range.min * (1.0 - 1e-9) {
                prop_assert!(p.is_some());
            }
        }
    }
}

/// On the whole the gradient projection moves less in the mass metric than the paper's, which is what keeps a
/// filter made of it near the nearest feasible state. (Not for every single triangle: the gradient is only
/// the way to set out.)
#[test]
fn gradient_moves_less_than_the_paper() {
    let mut random = taut::kernel::random::Random::new(3, 0);
    let mut between = |low: f64, high: f64| low + (high - low) * f64::from(random.unit());
    let (mut gradient, mut paper) = (0.0, 0.0);
    for _ in 0..20_000 {
        let r = [[0.0; 3], [between(0.5, 1.5), 0.0, 0.0], [between(-0.2, 1.0), between(0.5, 1.5), 0.0]];
        let (rest, _) = rest_inverse(r).unwrap();
        let w = [0; 3].map(|_| between(0.3, 3.0));
        let x = deform(&r, [between(0.9, 1.15), between(0.85, 1.1)], between(0.0, 3.2), [0.0; 3]);
        let range = Range { min: 0.95, max: 1.05 };
        let cost = |p: Projected<f64>| -> f64 {
            (0..3).map(|i| p.moves[i].iter().map(|v| v * v).sum::<f64>() / w[i]).sum()
        };
        gradient += project(Kind::Gradient, &x, w, rest, range).map_or(0.0, cost);
        paper += project(Kind::Paper, &x, w, rest, range).map_or(0.0, cost);
    }
    println!("squared moves: gradient {gradient:.3}, paper {paper:.3}");
    assert!(gradient < 0.95 * paper, "{gradient} {paper}");
}
