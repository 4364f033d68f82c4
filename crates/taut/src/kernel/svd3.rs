//! Singular values of a 3×3 matrix: how much, and along which directions, a tetrahedron is stretched.
//!
//! `F = U diag(s) Vᵀ` in the convention of Irving 2004 that the tetrahedron limit needs (W2, section 3.1.3 of
//! the paper): `U` and `V` are rotations, `s` is sorted by magnitude, and if `det F < 0` the *smallest* value
//! is negative. An inverted element is then turned right side out along the direction in which it is
//! thinnest.
//!
//! The method is one-sided Jacobi (Hestenes 1958): columns of `F` are rotated against each other until they
//! are orthogonal; their lengths are the singular values. Closed forms and two-sided Jacobi work on `FᵀF`,
//! whose condition is the square of `F`'s, and lose half of the digits of a flat element's thickness, which
//! is the very value that decides whether the element is inverted. The sign needs no determinant: `U` is
//! completed by a cross product, and the last value is measured along it. Cost: three to six sweeps of three
//! rotations, no allocation.

use glam::{DMat3, DVec3};
#[cfg(any(test, feature = "internals"))]
use glam::{Mat3, Vec3};

/// The parts of `F = U diag(s) Vᵀ`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svd3<Matrix, Vector> {
    /// Rotation; its columns are the directions after the deformation.
    pub u: Matrix,
    /// Principal stretches (without unit): `s.x ≥ s.y ≥ |s.z|`, and `s.z < 0` exactly if the element is
    /// inverted.
    pub s: Vector,
    /// Rotation; its columns are the directions before the deformation.
    pub v: Matrix,
}

/// Written once for both precisions: glam's matrices share no trait that has these operations.
macro_rules! define_svd3 {
    ($name:ident, $number:ty, $matrix:ty, $vector:ty, $precision:literal) => {
        #[doc = concat!("Singular value decomposition in ", $precision, " precision.")]
        ///
        /// Never panics and never returns a value that is not finite: a matrix with an infinite entry or a
        /// NaN is taken for zero, and singular values too large for the number type are cut off at its
        /// largest value.
        pub fn $name(f: $matrix) -> Svd3<$matrix, $vector> {
            // Columns are left alone below this cosine. It is as small as rounding of the dot product lets it
            // be measured: a smaller one would keep turning noise until the sweeps run out.
            const ORTHOGONAL: $number = 4.0 * <$number>::EPSILON;
            // Convergence is quadratic: six sweeps are the most seen, the rest is for inputs nobody thought
            // of.
            const MAX_SWEEPS: usize = 16;

            let entries = f.to_cols_array();
            let scale = entries.iter().fold(0.0, |largest: $number, x| largest.max(x.abs()));
            if scale == 0.0 || !entries.iter().all(|x| x.is_finite()) {
                return Svd3 { u: <$matrix>::IDENTITY, s: <$vector>::ZERO, v: <$matrix>::IDENTITY };
            }
            // Entries of magnitude one: squares neither overflow nor vanish. By division, since the
            // reciprocal of a subnormal number is infinite.
            let scaled = entries.map(|x| x / scale);
            let column = |i: usize| <$vector>::new(scaled[i], scaled[i + 1], scaled[i + 2]);
            let mut b = [column(0), column(3), column(6)];
            let mut v = [<$vector>::X, <$vector>::Y, <$vector>::Z];

            for _ in 0..MAX_SWEEPS {
                let mut rotated = false;
                for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                    let (alpha, beta, gamma) = (b[p].length_squared(), b[q].length_squared(), b[p].dot(b[q]));
                    if gamma.abs() <= ORTHOGONAL * (alpha * beta).sqrt() {
                        continue;
                    }
                    let zeta = (beta - alpha) / (2.0 * gamma);
                    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                    let c = 1.0 / (1.0 + t * t).sqrt();
                    let s = c * t;
                    for columns in [&mut b, &mut v] {
                        let (x, y) = (columns[p], columns[q]);
                        columns[p] = x * c - y * s;
                        columns[q] = x * s + y * c;
                    }
                    rotated = true;
                }
                if !rotated {
                    break;
                }
            }

            let mut length = b.map(|column| column.length());
            for (p, q) in [(0, 1), (1, 2), (0, 1)] {
                if length[p] < length[q] {
                    length.swap(p, q);
                    // One of a swapped pair is negated, so that V stays a rotation.
                    for columns in [&mut b, &mut v] {
                        columns.swap(p, q);
                        columns[p] = -columns[p];
                    }
                }
            }

            // Rounding in the rotations adds up over sweeps; one Gram–Schmidt pass makes V orthonormal again.
            let v0 = v[0].normalize();
            let v1 = (v[1] - v0 * v0.dot(v[1])).normalize();
            let v2 = v0.cross(v1);
            let u0 = b[0] / length[0];
            let rest = b[1] - u0 * u0.dot(b[1]);
            // Below rounding the second direction is noise (rank 1): any direction orthogonal to the first is
            // as good.
            let u1 = if rest.length() > <$number>::EPSILON * length[0] {
                let once = rest.normalize();
                (once - u0 * u0.dot(once)).normalize()
            } else {
                u0.any_orthonormal_vector()
            };
            let u2 = u0.cross(u1);
            let s1 = b[1].dot(u1).abs().min(length[0]);
            let s2 = b[2].dot(u2).clamp(-s1, s1);
            let unscale = |s: $number| (s * scale).clamp(-<$number>::MAX, <$number>::MAX);
            Svd3 {
                u: <$matrix>::from_cols(u0, u1, u2),
                s: <$vector>::new(unscale(length[0]), unscale(s1), unscale(s2)),
                v: <$matrix>::from_cols(v0, v1, v2),
            }
        }
    };
}

#[cfg(any(test, feature = "internals"))]
define_svd3!(svd3, f32, Mat3, Vec3, "single");
define_svd3!(svd3_f64, f64, DMat3, DVec3, "double");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything the convention promises, with errors relative to the largest singular value.
    fn verify(f: Mat3) -> Result<(), TestCaseError> {
        let Svd3 { u, s, v } = svd3(f);
        let (u, v, s) = (u.as_dmat3(), v.as_dmat3(), s.as_dvec3());
        prop_assert!(s.x >= s.y && s.y >= s.z.abs(), "order {s}");
        for (name, r) in [("u", u), ("v", v)] {
            prop_assert!((r.determinant() - 1.0).abs() < 1e-5, "det {name} = {}", r.determinant());
            let off = r.transpose() * r - DMat3::IDENTITY;
            prop_assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-5), "{name} is no rotation");
        }
        let f = f.as_dmat3();
        let back = u * DMat3::from_diagonal(s) * v.transpose();
        let worst = (back - f).to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        prop_assert!(worst <= 1e-5 * s.x, "off by {worst} of {}", s.x);

        let oracle = nalgebra::Matrix3::from_column_slice(&f.to_cols_array()).singular_values();
        let mut oracle = [oracle[0], oracle[1], oracle[2]];
        oracle.sort_by(|a, b| b.total_cmp(a));
        for (ours, theirs) in [s.x, s.y, s.z.abs()].into_iter().zip(oracle) {
            prop_assert!((ours - theirs).abs() <= 1e-5 * oracle[0], "{s} against {oracle:?}");
        }
        let det = f.determinant();
        if det.abs() > 1e-5 * s.x * s.x * s.x {
            prop_assert!((det < 0.0) == (s.z < 0.0), "det {det}, s {s}");
        }
        Ok(())
    }

    fn rotation() -> impl Strategy<Value = Mat3> {
        (-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0).prop_map(|(x, y, z, w)| {
            let q = glam::Quat::from_xyzw(x, y, z, w);
            Mat3::from_quat(if q.length() < 1e-3 { glam::Quat::IDENTITY } else { q.normalize() })
        })
    }

    /// Singular values that are hard: zero, one, repeated, tiny, and any sign.
    fn value() -> impl Strategy<Value = f32> {
        prop_oneof![
            Just(0.0f32),
            Just(1.0),
            Just(-1.0),
            Just(1.0 + f32::EPSILON),
            -2.0f32..2.0,
            (-30.0f32..0.0).prop_map(|e| 10f32.powf(e)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn random(entries in prop::array::uniform9(-10.0f32..10.0)) {
            verify(Mat3::from_cols_array(&entries))?;
        }

        #[test]
        fn composed_of_hard_values(u in rotation(), v in rotation(), s in prop::array::uniform3(value())) {
            verify(u * Mat3::from_diagonal(s.into()) * v.transpose())?;
        }

        #[test]
        fn any_scale(entries in prop::array::uniform9(-1.0f32..1.0), exponent in -36.0f32..37.0) {
            verify(Mat3::from_cols_array(&entries.map(|x| x * 10f32.powf(exponent))))?;
        }

        #[test]
        fn entries_of_mixed_scale(entries in prop::array::uniform9((-1.0f32..1.0, -30i32..10))) {
            verify(Mat3::from_cols_array(&entries.map(|(x, e)| x * 10f32.powi(e))))?;
        }

        #[test]
        fn any_bits(bits in prop::array::uniform9(any::<u32>())) {
            let Svd3 { u, s, v } = svd3(Mat3::from_cols_array(&bits.map(f32::from_bits)));
            prop_assert!(u.is_finite() && s.is_finite() && v.is_finite());
            prop_assert!((u.as_dmat3().determinant() - 1.0).abs() < 1e-5);
            prop_assert!((v.as_dmat3().determinant() - 1.0).abs() < 1e-5);
        }

        #[test]
        fn double_precision(entries in prop::array::uniform9(-10.0f64..10.0)) {
            let f = DMat3::from_cols_array(&entries);
            let Svd3 { u, s, v } = svd3_f64(f);
            let back = u * DMat3::from_diagonal(s) * v.transpose();
            prop_assert!((back - f).to_cols_array().iter().all(|x| x.abs() < 1e-13 * s.x));
            prop_assert!((u.determinant() - 1.0).abs() < 1e-13 && (v.determinant() - 1.0).abs() < 1e-13);
            prop_assert!((f.determinant() < 0.0) == (s.z < 0.0));
        }
    }

    #[test]
    fn a_mirror_negates_the_smallest_value() {
        let s = svd3(Mat3::from_diagonal(Vec3::new(-3.0, 2.0, 1.0))).s;
        assert!((s - Vec3::new(3.0, 2.0, -1.0)).length() < 1e-6, "{s}");
    }

    #[test]
    fn the_thickness_of_a_flat_element_keeps_its_digits() {
        // Through FᵀF in f32 this value would be lost: 1e-5² is below rounding of 1.
        let r = Mat3::from_rotation_y(0.7);
        let s = svd3(r * Mat3::from_diagonal(Vec3::new(1.0, 1.0, -1e-5))).s;
        assert!((s.z + 1e-5).abs() < 2e-7, "{s}");
    }

    #[test]
    fn huge_and_tiny_entries_stay_finite() {
        let huge = svd3(Mat3::from_cols_array(&[f32::MAX; 9]));
        assert_eq!(huge.s.x, f32::MAX);
        let tiny = svd3(Mat3::from_diagonal(Vec3::splat(f32::from_bits(1))));
        assert_eq!(tiny.s, Vec3::splat(f32::from_bits(1)));
        assert_eq!(svd3(Mat3::from_diagonal(Vec3::new(f32::NAN, 1.0, 1.0))).s, Vec3::ZERO);
    }
}
