//! Singular values of a 3×3 matrix in lanes: what [`svd3`](super::svd3) does for one matrix, for many side by
//! side.
//!
//! The convention is the same (Irving 2004): `F = U diag(s) Vᵀ` with rotations U and V, values sorted by
//! magnitude, the smallest negative where `det F < 0`. The method is the same too, one-sided Jacobi, for the
//! same reason: what works on FᵀF alone loses half of the digits of a flat element's thickness.
//!
//! A lane that has converged is left alone, to the bit, while others go on; so its result does not depend on
//! its neighbours. Cost: see `benches/kernels.rs`.

use super::real::{Real, V3, combine, cross, dot, perpendicular, scale, select3, sub};

/// The columns of a 3×3 matrix.
pub type M3<R> = [V3<R>; 3];

/// F = U diag(s) Vᵀ.
#[derive(Clone, Copy, Debug)]
pub struct Decomposed<R> {
    /// Columns of a rotation: the directions after the deformation.
    pub u: M3<R>,
    /// Principal stretches (without unit): s₀ ≥ s₁ ≥ |s₂|, and s₂ < 0 where the element is inverted.
    pub s: [R; 3],
    /// Columns of a rotation: the directions before the deformation.
    pub v: M3<R>,
}

/// Sweeps of three rotations at most. Convergence is quadratic: six is the most seen.
const SWEEPS: usize = 10;

/// Sizes between which squares of squares neither overflow nor lose digits; what is outside is scaled.
const SIZES: [f32; 2] = [1e-2, 1e6];

/// Decomposes `f`. Finite entries give finite results, whatever they are; an entry that is not a number, or
/// infinite, makes a zero matrix of its lane. Values too large for an `f32` are cut off at its largest.
#[inline(always)]
pub fn decompose<R: Real>(f: &M3<R>) -> Decomposed<R> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let mut b = *f;
    // A sum and no maximum, so that one NaN is enough; a sixteenth, so that it is finite if the entries are.
    let mut size = zero;
    for k in 0..3 {
        for j in 0..3 {
            size = size + b[k][j].abs() * R::splat(0.0625);
        }
    }
    let usual = R::splat(SIZES[0]).le(size) & size.le(R::splat(SIZES[1]));
    let mut unit = one;
    if R::any(!usual) {
        let finite = zero.lt(size) & size.le(R::splat(f32::MAX));
        unit = R::select(usual | !finite, one, size);
        for k in 0..3 {
            // By division, since the reciprocal of a subnormal number is infinite.
            b[k] = select3::<R>(usual | finite, [b[k][0] / unit, b[k][1] / unit, b[k][2] / unit], [zero; 3]);
        }
    }

    let mut v = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
    for _ in 0..SWEEPS {
        let first = rotate::<R, 0, 1>(&mut b, &mut v);
        let second = rotate::<R, 0, 2>(&mut b, &mut v);
        let third = rotate::<R, 1, 2>(&mut b, &mut v);
        if !(first | second | third) {
            break;
        }
    }

    let mut squares = [dot(b[0], b[0]), dot(b[1], b[1]), dot(b[2], b[2])];
    order::<R, 0, 1>(&mut squares, &mut b, &mut v);
    order::<R, 1, 2>(&mut squares, &mut b, &mut v);
    order::<R, 0, 1>(&mut squares, &mut b, &mut v);
    let (u, mut s) = directions(&b, squares[0]);
    if R::any(!usual) {
        let most = R::splat(f32::MAX);
        for k in 0..3 {
            s[k] = R::select(usual, s[k], (s[k] * unit).clamp(-most, most));
        }
    }
    Decomposed { u, s, v }
}

/// Turns columns P and Q until they are orthogonal; whether any lane was not.
#[inline(always)]
fn rotate<R: Real, const P: usize, const Q: usize>(b: &mut M3<R>, v: &mut M3<R>) -> bool {
    let (one, zero) = (R::splat(1.0), R::splat(0.0));
    // Below this cosine columns count as orthogonal: rounding of the dot product, with room for that of the
    // rotation.
    let orthogonal = R::splat(8.0 * R::EPSILON);
    // Squares below this have no digits left. Sizes are of the order of 1, so nothing is lost.
    let nothing = R::splat(1e-36);
    let (p, q) = (b[P], b[Q]);
    let (alpha, beta, gamma) = (dot(p, p), dot(q, q), dot(p, q));
    let square = gamma * gamma;
    let turns = (orthogonal * alpha * (orthogonal * beta)).max(nothing).lt(square);
    if !R::any(turns) {
        return false;
    }
    // tan 2θ = 2γ / (β − α), by the half-angle that is at most a right angle.
    let difference = beta - alpha;
    let double = gamma + gamma;
    let hypotenuse = (difference * difference + double * double).sqrt();
    let adjacent = difference.abs() + hypotenuse;
    let opposite = R::select(difference.lt(zero), -double, double);
    let inverse = one / (adjacent * adjacent + opposite * opposite).sqrt();
    let c = R::select(turns, adjacent * inverse, one);
    let s = R::select(turns, opposite * inverse, zero);
    b[P] = combine(p, c, q, -s);
    b[Q] = combine(p, s, q, c);
    let (p, q) = (v[P], v[Q]);
    v[P] = combine(p, c, q, -s);
    v[Q] = combine(p, s, q, c);
    true
}

/// Puts the longer of columns P and Q first. One of a swapped pair is negated, so that V stays a rotation.
#[inline(always)]
fn order<R: Real, const P: usize, const Q: usize>(squares: &mut [R; 3], b: &mut M3<R>, v: &mut M3<R>) {
    let swaps = squares[P].lt(squares[Q]);
    let (first, second) = (squares[P], squares[Q]);
    squares[P] = R::select(swaps, second, first);
    squares[Q] = R::select(swaps, first, second);
    for columns in [b, v] {
        let (p, q) = (columns[P], columns[Q]);
        columns[P] = select3::<R>(swaps, q, p);
        columns[Q] = select3::<R>(swaps, [-p[0], -p[1], -p[2]], q);
    }
}

/// U and the stretches, from orthogonal columns, the longest first. The second direction is made orthogonal
/// to the first, or chosen where the matrix has rank one; the third completes them, and the last stretch is
/// measured along it, with its sign.
#[inline(always)]
fn directions<R: Real>(b: &M3<R>, square: R) -> (M3<R>, [R; 3]) {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let s0 = square.sqrt();
    // Where all is zero any direction does.
    let point = s0.le(R::splat(1e-18));
    let mut u0 = scale(b[0], one / R::select(point, one, s0));
    u0 = select3::<R>(point, [one, zero, zero], u0);
    let rest = sub(b[1], scale(u0, dot(u0, b[1])));
    let length = dot(rest, rest).sqrt();
    let thin = length.le(s0 * R::splat(1e-4)) | point;
    let mut u1 = scale(rest, one / R::select(thin, one, length));
    if R::any(thin) {
        // What was orthogonal to rounding of the first column is not to rounding of its own length: once
        // more.
        let lost = length.le((s0 * R::splat(R::EPSILON)).max(R::splat(1e-18))) | point;
        let once = scale(rest, one / R::select(lost, one, length));
        let again = sub(once, scale(u0, dot(u0, once)));
        let unit = scale(again, one / R::select(lost, one, dot(again, again).sqrt()));
        u1 = select3::<R>(thin, select3::<R>(lost, perpendicular(u0), unit), u1);
    }
    let u2 = cross(u0, u1);
    let s1 = dot(b[1], u1).max(zero).min(s0);
    let s2 = dot(b[2], u2).clamp(-s1, s1);
    ([u0, u1, u2], [s0, s1, s2])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Everything that the convention promises, with errors relative to the largest singular value.
    fn verify(f: M3<f32>) -> Result<(), TestCaseError> {
        let d = decompose(&f);
        let wide = |m: M3<f32>| m.map(|column| column.map(f64::from));
        let (u, v, s, f) = (wide(d.u), wide(d.v), d.s.map(f64::from), wide(f));
        prop_assert!(s[0] >= s[1] && s[1] >= s[2].abs(), "order {s:?}");
        for (name, r) in [("u", u), ("v", v)] {
            prop_assert!((dot(r[0], cross(r[1], r[2])) - 1.0).abs() < 1e-5, "{name} {r:?}");
            for i in 0..3 {
                for j in 0..3 {
                    let expected = f64::from(u8::from(i == j));
                    prop_assert!((dot(r[i], r[j]) - expected).abs() < 1e-5, "{name} is no rotation: {r:?}");
                }
            }
        }
        for k in 0..3 {
            for j in 0..3 {
                let back: f64 = (0..3).map(|i| u[i][j] * s[i] * v[i][k]).sum();
                prop_assert!((back - f[k][j]).abs() <= 1e-5 * s[0], "{back} for {} of {}", f[k][j], s[0]);
            }
        }
        let m = nalgebra::Matrix3::from_fn(|i, j| f[j][i]);
        let oracle = m.singular_values();
        let mut oracle = [oracle[0], oracle[1], oracle[2]];
        oracle.sort_by(|a, b| b.total_cmp(a));
        for (ours, theirs) in [s[0], s[1], s[2].abs()].into_iter().zip(oracle) {
            prop_assert!((ours - theirs).abs() <= 1e-5 * oracle[0], "{s:?} against {oracle:?}");
        }
        let det = dot(f[0], cross(f[1], f[2]));
        if det.abs() > 1e-5 * s[0] * s[0] * s[0] {
            prop_assert!((det < 0.0) == (s[2] < 0.0), "det {det}, s {s:?}");
        }
        Ok(())
    }

    fn columns<T: Copy>(entries: [T; 9]) -> M3<T> {
        [0, 3, 6].map(|k| [entries[k], entries[k + 1], entries[k + 2]])
    }

    fn rotation() -> impl Strategy<Value = glam::Mat3> {
        prop::array::uniform3(-4.0f32..4.0)
            .prop_map(|axis| glam::Mat3::from_quat(glam::Quat::from_scaled_axis(axis.into())))
    }

    /// Singular values that are hard: zero, one, repeated, tiny, and any sign.
    fn value() -> impl Strategy<Value = f32> {
        prop_oneof![
            Just(0.0f32),
            Just(1.0),
            Just(-1.0),
            Just(1.0 + f32::EPSILON),
            -2.0f32..2.0,
            0.9f32..1.1,
            (-30.0f32..0.0).prop_map(|e| 10f32.powf(e)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn random(entries in prop::array::uniform9(-10.0f32..10.0)) {
            verify(columns(entries))?;
        }

        #[test]
        fn composed_of_hard_values(u in rotation(), v in rotation(), s in prop::array::uniform3(value())) {
            verify((u * glam::Mat3::from_diagonal(s.into()) * v.transpose()).to_cols_array_2d())?;
        }

        #[test]
        fn any_scale(entries in prop::array::uniform9(-1.0f32..1.0), exponent in -36.0f32..37.0) {
            verify(columns(entries.map(|x| x * 10f32.powf(exponent))))?;
        }

        #[test]
        fn entries_of_mixed_scale(entries in prop::array::uniform9((-1.0f32..1.0, -30i32..10))) {
            verify(columns(entries.map(|(x, e)| x * 10f32.powi(e))))?;
        }

        #[test]
        fn any_bits(bits in prop::array::uniform9(any::<u32>())) {
            let d = decompose(&columns(bits.map(f32::from_bits)));
            prop_assert!(d.u.iter().chain(&d.v).chain([&d.s]).flatten().all(|x| x.is_finite()), "{d:?}");
            for r in [d.u, d.v] {
                prop_assert!((dot(r[0], cross(r[1], r[2])) - 1.0).abs() < 1e-5, "{r:?}");
            }
        }

        #[test]
        fn double_precision(entries in prop::array::uniform9(-10.0f64..10.0)) {
            let f = columns(entries);
            let d = decompose(&f);
            for k in 0..3 {
                for j in 0..3 {
                    let back: f64 = (0..3).map(|i| d.u[i][j] * d.s[i] * d.v[i][k]).sum();
                    prop_assert!((back - f[k][j]).abs() <= 2e-14 * d.s[0], "{back} for {}", f[k][j]);
                }
            }
            prop_assert!((dot(f[0], cross(f[1], f[2])) < 0.0) == (d.s[2] < 0.0));
        }
    }

    #[test]
    fn the_thickness_of_a_flat_element_keeps_its_digits() {
        // Through FᵀF in f32 this value would be lost: 1e-5² is below rounding of 1.
        let turn = glam::Mat3::from_quat(glam::Quat::from_scaled_axis(glam::vec3(0.3, -1.1, 0.7)));
        let f = turn * glam::Mat3::from_diagonal(glam::vec3(1.0, 0.9, -1e-5));
        let s = decompose(&f.to_cols_array_2d()).s;
        assert!((s[2] + 1e-5).abs() < 1e-7, "{s:?}");
    }
}
