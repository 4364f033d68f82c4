//! The deformation of a tetrahedron, and the nearest one within its limits (W2, section 3.1.3 of the paper).
//!
//! F is 3×3: it takes the rest shape to space. Its principal stretches are its singular values, the smallest
//! counted as negative where the element is inside out ([`jacobi3`](super::jacobi3)), so that clamping turns
//! it right side out along the direction in which it is thinnest. A lower limit of 0 is none for stretches,
//! but still keeps elements from being inside out.
//!
//! **Early out.** Whether all stretches are within [min, max] needs none of them: it is so where max² − FᵀF
//! and FᵀF − min² are positive definite, which three minors each tell, and det F > 0.

use super::{
    jacobi3::{Decomposed, decompose},
    real::{Real, V3, cross, dot, scale, select3, sub},
    strain::Range,
};

pub use super::jacobi3::M3;

/// The columns of the inverse of \[x₁ − x₀, x₂ − x₀, x₃ − x₀\] at rest \[1/m\].
pub type RestInverse3<R> = [V3<R>; 3];

/// The rest inverse and volume \[m³\] of a tetrahedron, or `None` if it is flat, inside out or not finite.
pub fn rest_inverse3(corners: [[f64; 3]; 4]) -> Option<(RestInverse3<f64>, f64)> {
    let [a, b, c] = [1, 2, 3].map(|k| sub(corners[k], corners[0]));
    let determinant = dot(a, cross(b, c));
    let rows = [cross(b, c), cross(c, a), cross(a, b)].map(|row| row.map(|entry| entry / determinant));
    let inverse = [0, 1, 2].map(|k| rows.map(|row| row[k]));
    let good =
        determinant > 0.0 && determinant.is_finite() && inverse.iter().flatten().all(|i| i.is_finite());
    good.then_some((inverse, determinant / 6.0))
}

/// The columns of the deformation gradient F.
#[inline(always)]
pub fn gradient3<R: Real>(x: &[V3<R>; 4], rest: &RestInverse3<R>) -> M3<R> {
    let edges = [sub(x[1], x[0]), sub(x[2], x[0]), sub(x[3], x[0])];
    let mut f = [[R::splat(0.0); 3]; 3];
    for k in 0..3 {
        for j in 0..3 {
            f[k][j] = edges[0][j] * rest[k][0] + edges[1][j] * rest[k][1] + edges[2][j] * rest[k][2];
        }
    }
    f
}

/// p − f, where p is f with its principal stretches clamped to `range`; `None` if all lanes are inside.
#[inline(always)]
pub fn clamp_stretches3<R: Real>(f: &M3<R>, range: Range<R>) -> Option<M3<R>> {
    let inside = surely_inside(f, range);
    if !R::any(!inside) {
        return None;
    }
    let d = decompose(f);
    let mut change = [R::splat(0.0); 3];
    for k in 0..3 {
        change[k] = d.s[k].clamp(range.min, range.max) - d.s[k];
    }
    Some(changed(&d, change, inside))
}

/// Rounds in which the trace of the strain is found: each settles which stretches are at a limit, of three.
const ROUNDS: usize = 4;

/// p − f, where p is where an elastic tetrahedron that is held at f by a spring of stiffness `kappa` comes to
/// rest within its limits: the least of μ|p − R|² + λ/2 tr²(S − 1) + κ/2 |p − f|², with `mu` and `lambda`
/// (Lamé) in the units of `kappa`, over all p with stretches in `range`.
///
/// With t the trace of p's strain, stretches are 1 + (κ (s − 1) − λ t) / (κ + 2 μ), clamped; so t is the root
/// of a function that falls all the way in straight pieces, and Newton's method finds it. (To ease without
/// limits and clamp afterwards is not the least where λ is large: iterations around it did not settle.)
#[inline(always)]
pub fn ease_stretches3<R: Real>(f: &M3<R>, range: Range<R>, mu: R, lambda: R, kappa: R) -> M3<R> {
    let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
    let d = decompose(f);
    let sheared = (kappa + mu + mu).max(tiny);
    let (free, swelling) = (kappa / sheared, lambda / sheared);
    let (low, high) = (range.min - one, range.max - one);
    let mut strain = [zero; 3];
    for k in 0..3 {
        strain[k] = (d.s[k] - one) * free;
    }
    let mut trace = (strain[0] + strain[1] + strain[2]) / (one + swelling + swelling + swelling);
    for _ in 0..ROUNDS {
        let (mut sum, mut slope) = (zero, one);
        for k in 0..3 {
            let eased = strain[k] - swelling * trace;
            sum = sum + eased.clamp(low, high);
            let inside = low.lt(eased) & eased.lt(high);
            slope = slope + R::select(inside, swelling, zero);
        }
        trace = trace + (sum - trace) / slope;
    }
    let mut change = [zero; 3];
    for k in 0..3 {
        let eased = one + (strain[k] - swelling * trace).clamp(low, high);
        change[k] = eased - d.s[k];
    }
    changed(&d, change, zero.lt(zero))
}

/// As [`ease_stretches3`] with `moduli` μ, λ and κ, for an element under a `pressure` in the same units,
/// which adds pressure · det p to what is least, to first order.
#[inline(always)]
pub fn press_stretches3<R: Real>(f: &M3<R>, range: Range<R>, moduli: [R; 3], pressure: R) -> M3<R> {
    let zero = R::splat(0.0);
    let d = decompose(f);
    let [mu, lambda, kappa] = moduli;
    let p = pressed(&eased(&d.s, mu, lambda, kappa), range, pressure / bulk(moduli));
    let mut change = [zero; 3];
    for k in 0..3 {
        change[k] = p[k] - d.s[k];
    }
    changed(&d, change, zero.lt(zero))
}

/// Stretches of [`press_stretches3`] with no pressure, before they are clamped.
#[inline(always)]
pub fn eased_stretches3<R: Real>(f: &M3<R>, [mu, lambda, kappa]: [R; 3]) -> [R; 3] {
    eased(&decompose(f).s, mu, lambda, kappa)
}

/// det p − 1 of [`press_stretches3`], from what [`eased_stretches3`] gives. Stretches beyond `SWOLLEN` count
/// as that.
#[inline(always)]
pub fn pressed_gain3<R: Real>(eased: &[R; 3], range: Range<R>, moduli: [R; 3], pressure: R) -> R {
    let (p, most) = (pressed(eased, range, pressure / bulk(moduli)), R::splat(SWOLLEN));
    p[0].min(most) * p[1].min(most) * p[2].min(most) - R::splat(1.0)
}

/// Eased stretches that `shrink` by so much each where they are 1, along the gradient of their product, and
/// clamped.
#[inline(always)]
fn pressed<R: Real>(eased: &[R; 3], range: Range<R>, shrink: R) -> [R; 3] {
    let mut near = [R::splat(0.0); 3];
    for k in 0..3 {
        // The gradient at elements that are flat yet would say nothing.
        near[k] = eased[k].clamp(range.min, range.max).clamp(R::splat(1.0 / SWOLLEN), R::splat(SWOLLEN));
    }
    let cofactors = [near[1] * near[2], near[2] * near[0], near[0] * near[1]];
    let mut p = near;
    for k in 0..3 {
        p[k] = (eased[k] - shrink * cofactors[k]).clamp(range.min, range.max);
    }
    p
}

/// Stretch beyond which volume counts no further.
const SWOLLEN: f32 = 2.0;

/// What resists a change of all three stretches by the same amount, for each, with moduli μ, λ and κ: κ + 2 μ
/// + 3 λ.
#[inline(always)]
pub fn bulk<R: Real>([mu, lambda, kappa]: [R; 3]) -> R {
    (kappa + mu + mu + lambda + lambda + lambda).max(R::splat(1e-30))
}

/// Stretches where an elastic tetrahedron comes to rest.
#[inline(always)]
fn eased<R: Real>(s: &[R; 3], mu: R, lambda: R, kappa: R) -> [R; 3] {
    let (one, tiny) = (R::splat(1.0), R::splat(1e-30));
    let sheared = kappa + mu + mu;
    let trace = (s[0] - one) + (s[1] - one) + (s[2] - one);
    let swollen = kappa * trace / (sheared + lambda + lambda + lambda).max(tiny);
    let mut eased = [one; 3];
    for k in 0..3 {
        eased[k] = one + (kappa * (s[k] - one) - lambda * swollen) / sheared.max(tiny);
    }
    eased
}

/// How far the worst principal stretch is past its limit; 0 inside. An inverted element is past its lower
/// limit by its negative stretch too.
#[inline(always)]
pub fn residual3<R: Real>(x: &[V3<R>; 4], rest: &RestInverse3<R>, range: Range<R>) -> R {
    let zero = R::splat(0.0);
    let f = gradient3(x, rest);
    let inside = surely_inside(&f, range);
    if !R::any(!inside) {
        return zero;
    }
    R::select(inside, zero, past3(decompose(&f).s, range))
}

/// How far the worst of sorted stretches is past its limit; 0 inside.
#[inline(always)]
pub(super) fn past3<R: Real>(s: [R; 3], range: Range<R>) -> R {
    (s[0] - range.max).max(range.min - s[2]).max(R::splat(0.0))
}

/// U diag(change) Vᵀ; nothing in lanes that are `inside`.
#[inline(always)]
fn changed<R: Real>(d: &Decomposed<R>, change: [R; 3], inside: R::Mask) -> M3<R> {
    let zero = R::splat(0.0);
    // Finite sums, even of numbers at the end of a float's range.
    let most = R::splat(1e37);
    let mut along = [[zero; 3]; 3];
    for k in 0..3 {
        along[k] = scale(d.u[k], change[k].clamp(-most, most));
    }
    let mut moved = [[zero; 3]; 3];
    for k in 0..3 {
        for j in 0..3 {
            // Lanes that wait for others may turn −0 into 0: the sum with 0 is the same for both.
            moved[k][j] = along[0][j] * d.v[0][k] + along[1][j] * d.v[1][k] + along[2][j] * d.v[2][k] + zero;
        }
        moved[k] = select3::<R>(inside, [zero; 3], moved[k]);
    }
    moved
}

/// Limits beyond which the test by minors is not tried, so that products of six stretches stay in a float's
/// range.
const TESTED: f32 = 1e4;

/// Lanes where all principal stretches are within `range` and the element is not inside out, up to rounding.
#[inline(always)]
pub(super) fn surely_inside<R: Real>(f: &M3<R>, range: Range<R>) -> R::Mask {
    let zero = R::splat(0.0);
    let max = range.max.min(R::splat(TESTED));
    let (low, high) = (range.min * range.min, max * max);
    let diagonal = [dot(f[0], f[0]), dot(f[1], f[1]), dot(f[2], f[2])];
    let off = [dot(f[1], f[2]), dot(f[2], f[0]), dot(f[0], f[1])];
    let below = [high - diagonal[0], high - diagonal[1], high - diagonal[2]];
    let above = [diagonal[0] - low, diagonal[1] - low, diagonal[2] - low];
    let across = [zero - off[0], zero - off[1], zero - off[2]];
    positive(below, across) & positive(above, off) & zero.lt(dot(f[0], cross(f[1], f[2])))
}

/// Whether a symmetric matrix is positive definite (Sylvester). `off` are the entries (1, 2), (2, 0), (0, 1).
#[inline(always)]
fn positive<R: Real>(diagonal: [R; 3], off: [R; 3]) -> R::Mask {
    let zero = R::splat(0.0);
    let [a, b, c] = diagonal;
    let [d, e, f] = off;
    let minor = a * b - f * f;
    let determinant = minor * c + (f * e - a * d) * d + (f * d - b * e) * e;
    zero.lt(a) & zero.lt(minor) & zero.lt(determinant)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::{
        lanes::{BATCH, LaneKind, Lanes, Work, run},
        random::Random,
        real::add,
    };

    const RANGE: Range<f32> = Range { min: 0.95, max: 1.05 };

    fn stretches(f: &M3<f64>) -> [f64; 3] {
        decompose(f).s
    }

    fn moved(f: &M3<f32>, by: &M3<f32>) -> M3<f64> {
        [0, 1, 2].map(|k| [0, 1, 2].map(|j| f64::from(f[k][j]) + f64::from(by[k][j])))
    }

    /// Matrices as elements meet them: near a rotation, crushed, flat, inside out, points.
    fn shapes(count: usize) -> Vec<M3<f32>> {
        let mut random = Random::new(3, 0);
        let mut entry = |size: f32| (random.unit() - 0.5) * 2.0 * size;
        (0..count)
            .map(|k| {
                let mut f = [[0.0; 3]; 3].map(|column: [f32; 3]| column.map(|_| entry(1.0)));
                match k % 6 {
                    0 => (0..3)
                        .for_each(|i| f[i] = [0, 1, 2].map(|j| 0.05 * f[i][j] + f32::from(u8::from(i == j)))),
                    1 => f[2] = f[1],
                    2 => f = [f[0]; 3],
                    3 => f = f.map(|column| column.map(|x| x * 1e-3)),
                    4 if k % 24 == 4 => f = [[0.0; 3]; 3],
                    _ => {}
                }
                f
            })
            .collect()
    }

    #[test]
    fn clamped_stretches_are_at_their_limits() {
        for f in shapes(6000) {
            let by = clamp_stretches3(&f, RANGE).unwrap_or_default();
            let s = stretches(&moved(&f, &by));
            assert!(s[0] < 1.05 + 1e-5 && s[2] > 0.95 - 1e-5, "{f:?} {s:?}");
        }
    }

    #[test]
    fn the_early_out_agrees_with_the_stretches() {
        let mut outs = 0;
        for f in shapes(6000) {
            let s = stretches(&f.map(|column| column.map(f64::from)));
            let inside = s[2] > 0.95 && s[0] < 1.05;
            let near = (s[2] - 0.95).abs() < 1e-5 || (s[0] - 1.05).abs() < 1e-5;
            assert!(near || surely_inside(&f, RANGE) == inside, "{f:?} {s:?}");
            outs += usize::from(inside);
        }
        assert!(outs > 100, "{outs}");
    }

    #[test]
    fn no_upper_limit_only_turns_right_side_out() {
        let range = Range { min: 0.0, max: crate::limit::NO_LIMIT };
        assert!(clamp_stretches3(&[[3.0f32, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.01]], range).is_none());
        let f = [[3.0f32, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, -0.5]];
        let s = stretches(&moved(&f, &clamp_stretches3(&f, range).expect("inside out")));
        assert!((s[0] - 3.0).abs() < 1e-6 && (s[1] - 2.0).abs() < 1e-6 && s[2].abs() < 1e-6, "{s:?}");
    }

    #[test]
    fn rest_shapes_invert() {
        let corners = [[0.1, 0.2, 0.3], [1.3, 0.1, 0.2], [0.4, 1.1, 0.5], [0.2, 0.3, 0.9]];
        let (rest, volume) = rest_inverse3(corners).expect("a good shape");
        let f = gradient3(&corners, &rest);
        for k in 0..3 {
            for j in 0..3 {
                assert!((f[k][j] - f64::from(u8::from(k == j))).abs() < 1e-12, "{f:?}");
            }
        }
        assert!((volume - 0.646 / 6.0).abs() < 1e-12, "{volume}");
        let [a, b, c, d] = corners;
        assert!(rest_inverse3([a, c, b, d]).is_none(), "inside out");
        assert!(rest_inverse3([a, b, c, b]).is_none(), "flat");
        assert!(rest_inverse3([a, b, c, [f64::NAN; 3]]).is_none());
    }

    /// The energy that [`ease_stretches3`] is said to minimise, by its stretches.
    fn energy(s: [f64; 3], from: [f64; 3], [mu, lambda, kappa]: [f64; 3]) -> f64 {
        let trace: f64 = s.iter().map(|s| s - 1.0).sum();
        let shear: f64 = s.iter().map(|s| (s - 1.0) * (s - 1.0)).sum();
        let spring: f64 = s.iter().zip(from).map(|(s, t)| (s - t) * (s - t)).sum();
        mu * shear + 0.5 * lambda * trace * trace + 0.5 * kappa * spring
    }

    proptest! {
        #[test]
        fn eased_stretches_have_the_least_energy(
            f in prop::array::uniform3(prop::array::uniform3(-1.5f64..1.5)),
            weights in prop::array::uniform3(0.1f64..10.0),
            nudge in prop::array::uniform3(-0.01f64..0.01),
        ) {
            let free = Range { min: -100.0, max: 100.0 };
            let [mu, lambda, kappa] = weights;
            let by = ease_stretches3(&f, free, mu, lambda, kappa);
            let from = stretches(&f);
            let sheared = kappa + 2.0 * mu;
            let trace = kappa * from.iter().map(|s| s - 1.0).sum::<f64>() / (sheared + 3.0 * lambda);
            let s = from.map(|s| 1.0 + (kappa * (s - 1.0) - lambda * trace) / sheared);
            let d = decompose(&f);
            for k in 0..3 {
                for j in 0..3 {
                    let p: f64 = (0..3).map(|i| d.u[i][j] * s[i] * d.v[i][k]).sum();
                    prop_assert!((p - (f[k][j] + by[k][j])).abs() < 1e-9);
                }
            }
            let other = [0, 1, 2].map(|k| s[k] + nudge[k]);
            prop_assert!(energy(s, from, weights) <= energy(other, from, weights) + 1e-12);
        }

        #[test]
        fn no_bits_give_a_nan(bits in prop::array::uniform9(any::<u32>()), stiff in prop::array::uniform3(0.0f32..1e9)) {
            let numbers = bits.map(f32::from_bits).map(|x| if x.is_finite() { x } else { 1.0 });
            let f = [0, 3, 6].map(|k| [numbers[k], numbers[k + 1], numbers[k + 2]]);
            let clamped = clamp_stretches3(&f, RANGE).unwrap_or_default();
            let eased = ease_stretches3(&f, RANGE, stiff[0], stiff[1], stiff[2]);
            prop_assert!(clamped.iter().chain(&eased).flatten().all(|x| x.is_finite()), "{clamped:?} {eased:?}");
            let x = [[0.0; 3], f[0], f[1], f[2]].map(|x| x.map(|x| x * 0.1));
            let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            prop_assert!(!residual3(&x, &unit, RANGE).is_nan());
        }

        #[test]
        fn rotations_change_nothing(
            f in prop::array::uniform3(prop::array::uniform3(-1.5f64..1.5)),
            axis in prop::array::uniform3(-3.0f64..3.0),
        ) {
            let range = Range { min: 0.9, max: 1.1 };
            let s = stretches(&f);
            // Where two stretches are alike up to sign, which direction is turned is a matter of rounding.
            prop_assume!(s[1] + s[2] > 1e-3);
            let turn = glam::DQuat::from_scaled_axis(axis.into());
            let turned = |m: M3<f64>| m.map(|column| (turn * glam::DVec3::from(column)).to_array());
            let plain = clamp_stretches3(&f, range).map_or(f, |by| [0, 1, 2].map(|k| add(f[k], by[k])));
            let g = turned(f);
            let other = clamp_stretches3(&g, range).map_or(g, |by| [0, 1, 2].map(|k| add(g[k], by[k])));
            let expected = turned(plain);
            for k in 0..3 {
                for j in 0..3 {
                    prop_assert!((other[k][j] - expected[k][j]).abs() < 1e-9, "{other:?} {expected:?}");
                }
            }
        }
    }

    /// What all functions make of 16 matrices side by side.
    struct Side<'a>(&'a [M3<f32>]);

    impl Work for Side<'_> {
        type Output = Vec<[f32; BATCH]>;

        fn run<L: Lanes>(self) -> Vec<[f32; BATCH]> {
            let mut results = vec![[0.0; BATCH]; 19];
            let (unit, zero) = (L::splat(1.0), L::splat(0.0));
            let rest = [[unit, zero, zero], [zero, unit, zero], [zero, zero, unit]];
            let range = Range { min: L::splat(RANGE.min), max: L::splat(RANGE.max) };
            for at in (0..BATCH).step_by(L::WIDTH) {
                let f: M3<L> = [0, 1, 2]
                    .map(|k| [0, 1, 2].map(|j| L::load(&std::array::from_fn(|lane| self.0[lane][k][j]), at)));
                let clamped = clamp_stretches3(&f, range).unwrap_or([[zero; 3]; 3]);
                let eased = ease_stretches3(&f, range, L::splat(2.0), L::splat(3.0), L::splat(5.0));
                for i in 0..9 {
                    clamped[i / 3][i % 3].store(&mut results[i], at);
                    eased[i / 3][i % 3].store(&mut results[9 + i], at);
                }
                residual3(&[[zero; 3], f[0], f[1], f[2]], &rest, range).store(&mut results[18], at);
            }
            results
        }
    }

    #[test]
    fn lanes_do_not_depend_on_their_width_or_their_neighbours() {
        let shapes = shapes(16 * 60);
        for (b, batch) in shapes.chunks(BATCH).enumerate() {
            let alone: Vec<_> = batch.iter().map(|&f| run(LaneKind::PORTABLE, Side(&[f; BATCH]))).collect();
            for kind in LaneKind::available() {
                let together = run(kind, Side(batch));
                for (i, values) in together.iter().enumerate() {
                    for lane in 0..BATCH {
                        let (here, there) = (values[lane], alone[lane][i][0]);
                        assert_eq!(
                            here.to_bits(),
                            there.to_bits(),
                            "{kind:?} {b} {lane} {i}: {here} {there}"
                        );
                    }
                }
            }
        }
    }
}
