//! Closed-form singular value decomposition of a triangle's deformation gradient (W1, W3).
//!
//! F is 3×2: it takes the triangle's flat rest shape to space. Its singular values are the square roots of
//! the eigenvalues of the 2×2 matrix FᵀF, and come with the principal directions v (in the rest shape) and u
//! (in space). The rest frame has the first edge along x, as in section 3.1.5 of the paper, so that the
//! inverse of the rest edge matrix is upper triangular: three numbers a triangle.

use super::real::{Real, V3, combine, cross, dot, perpendicular, scale, select3, sub};

/// The inverse of the rest edge matrix: `[i00, i01, i11]`, upper triangular.
pub type RestInverse<R> = [R; 3];

/// The rest inverse and area \[m²\] of a triangle, or `None` if it is flat or not finite.
pub fn rest_inverse(r: [V3<f64>; 3]) -> Option<(RestInverse<f64>, f64)> {
    let (d1, d2) = (sub(r[1], r[0]), sub(r[2], r[0]));
    let a = dot(d1, d1).sqrt();
    let n = cross(d1, d2);
    let doubled_area = dot(n, n).sqrt();
    let (b, c) = (dot(d1, d2) / a, doubled_area / a);
    let inverse = [1.0 / a, -b / (a * c), 1.0 / c];
    (doubled_area > 0.0 && inverse.iter().all(|i| i.is_finite())).then_some((inverse, 0.5 * doubled_area))
}

/// The columns of the deformation gradient F.
#[inline(always)]
pub fn deformation_gradient<R: Real>(x: &[V3<R>; 3], rest: RestInverse<R>) -> [V3<R>; 2] {
    let (e1, e2) = (sub(x[1], x[0]), sub(x[2], x[0]));
    [scale(e1, rest[0]), combine(e1, rest[1], e2, rest[2])]
}

/// FᵀF and its eigenvalues: what the early-out (W3) needs.
#[derive(Clone, Copy)]
pub struct Cauchy<R> {
    half_difference: R,
    off_diagonal: R,
    radius: R,
    /// The larger eigenvalue: the square of the larger principal stretch.
    pub larger: R,
    /// The smaller eigenvalue; loses digits where the triangle is nearly flat.
    pub smaller: R,
}

impl<R: Real> Cauchy<R> {
    /// The sum of the eigenvalues.
    #[inline(always)]
    pub fn trace(&self) -> R {
        self.larger + self.smaller
    }

    /// The root U of FᵀF, whose determinant is given: 11, 22 and 12. Not where that is 0.
    #[inline(always)]
    pub fn root(&self, determinant: R) -> [R; 3] {
        let (half, tiny) = (R::splat(0.5), R::splat(1e-30));
        let mean = self.trace() * half + determinant;
        let inverse = R::splat(1.0) / (mean + mean).max(tiny).sqrt();
        [
            (mean + self.half_difference) * inverse,
            (mean - self.half_difference) * inverse,
            self.off_diagonal * inverse,
        ]
    }

    /// The cosine of twice the angle between the first principal direction in the rest shape and an axis,
    /// which is given by the cosine and sine of twice its own angle from the first edge. Any number from −1
    /// to 1 where all directions are principal.
    #[inline(always)]
    pub fn turn_from(&self, axis: [R; 2]) -> R {
        let (one, tiny) = (R::splat(1.0), R::splat(1e-30));
        let along = self.half_difference * axis[0] + self.off_diagonal * axis[1];
        (along / self.radius.max(tiny)).clamp(-one, one)
    }
}

/// Eigenvalues of FᵀF.
#[inline(always)]
pub fn cauchy<R: Real>(f: &[V3<R>; 2]) -> Cauchy<R> {
    let half = R::splat(0.5);
    let (a, b, c) = (dot(f[0], f[0]), dot(f[0], f[1]), dot(f[1], f[1]));
    let (mean, half_difference) = ((a + c) * half, (a - c) * half);
    let radius = (half_difference * half_difference + b * b).sqrt();
    Cauchy {
        half_difference,
        off_diagonal: b,
        radius,
        larger: mean + radius,
        smaller: (mean - radius).max(R::splat(0.0)),
    }
}

/// Principal stretches and directions: F vₖ = sₖ |v| uₖ with s₀ ≥ s₁ ≥ 0; v₁ is v₀ turned left: (−v₀y, v₀x).
///
/// Directions are not of unit length, since most uses can do without, and roots and divisions are what a
/// projection waits for.
#[derive(Clone, Copy)]
pub struct Principal<R: Real> {
    /// Principal stretches.
    pub s: [R; 2],
    /// F v₀ and F v₁: the principal directions in space.
    pub p: [V3<R>; 2],
    /// The first principal direction in the rest shape; its larger component is 1.
    pub v: [R; 2],
    /// Where the triangle has (nearly) collapsed, and F v₁ is partly or wholly rounding.
    pub flat: R::Mask,
}

/// Principal stretches and directions of F, whose [`cauchy`] is `c`.
#[inline(always)]
pub fn principal<R: Real>(f: &[V3<R>; 2], c: &Cauchy<R>) -> Principal<R> {
    let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
    // Of the two formulas for the eigenvector, the one that adds and never cancels. A round triangle gets an
    // axis.
    let wide = zero.le(c.half_difference);
    let slope = c.off_diagonal / (c.radius + c.half_difference.abs()).max(tiny);
    let (vx, vy) = (R::select(wide, one, slope), R::select(wide, slope, one));
    let p0 = combine(f[0], vx, f[1], vy);
    let p1 = combine(f[1], vx, f[0], -vy);
    let s0 = c.larger.sqrt();
    let mut s1 = c.smaller.sqrt();
    let flat = s1.le(s0 * R::splat(0.15)) | s0.le(tiny);
    if R::any(flat) {
        // The area keeps the digits that the smaller eigenvalue loses.
        let normal = cross(f[0], f[1]);
        s1 = R::select(flat, dot(normal, normal).sqrt() / s0.max(tiny), s1);
    }
    Principal { s: [s0, s1], p: [p0, p1], v: [vx, vy], flat }
}

/// F = u₀ s₀ v₀ᵀ + u₁ s₁ v₁ᵀ.
#[derive(Clone, Copy)]
pub struct Svd2<R> {
    /// Principal stretches, the larger first.
    pub s: [R; 2],
    /// Principal directions in space; unit length and at right angles even where a stretch is zero.
    pub u: [V3<R>; 2],
    /// The first principal direction in the rest shape, of unit length; the second is it turned left.
    pub v: [R; 2],
}

/// The whole decomposition of F, whose [`cauchy`] is `c`.
#[inline(always)]
pub fn svd2<R: Real>(f: &[V3<R>; 2], c: &Cauchy<R>) -> Svd2<R> {
    principal(f, c).svd()
}

impl<R: Real> Principal<R> {
    /// The principal directions in space, |v| long and at right angles even where a stretch is zero.
    #[inline(always)]
    pub fn directions(&self) -> [V3<R>; 2] {
        let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
        let [s0, s1] = self.s;
        let mut d0 = scale(self.p[0], one / s0.max(tiny));
        let mut d1 = scale(self.p[1], one / s1.max(tiny));
        if R::any(self.flat) {
            // d₁ is made orthogonal to d₀, or chosen.
            let point = s0.le(tiny);
            let length = (self.v[0] * self.v[0] + self.v[1] * self.v[1]).sqrt();
            d0 = select3::<R>(point, [length, zero, zero], d0);
            let u0 = scale(d0, one / length);
            let rest = sub(self.p[1], scale(u0, dot(u0, self.p[1])));
            let rest_length = dot(rest, rest).sqrt();
            let lost = rest_length.le(s0 * R::splat(1e-6)) | point;
            let orthogonal = select3::<R>(lost, perpendicular(u0), scale(rest, one / rest_length.max(tiny)));
            d1 = select3::<R>(self.flat, scale(orthogonal, length), d1);
        }
        [d0, d1]
    }

    /// The whole decomposition.
    #[inline(always)]
    pub fn svd(&self) -> Svd2<R> {
        let [vx, vy] = self.v;
        let inverse = R::splat(1.0) / (vx * vx + vy * vy).sqrt();
        let [d0, d1] = self.directions();
        Svd2 { s: self.s, u: [scale(d0, inverse), scale(d1, inverse)], v: [vx * inverse, vy * inverse] }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reconstruct(svd: &Svd2<f32>) -> [V3<f32>; 2] {
        let [vx, vy] = svd.v;
        [
            combine(svd.u[0], svd.s[0] * vx, svd.u[1], -svd.s[1] * vy),
            combine(svd.u[0], svd.s[0] * vy, svd.u[1], svd.s[1] * vx),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn decomposes_any_gradient(
            f in prop::array::uniform2(prop::array::uniform3(-3.0f32..3.0)),
            flatten in 0..4,
            scale_by in prop::sample::select(vec![1.0f32, 1e-3, 1e3]),
        ) {
            let mut f = f.map(|c| c.map(|v| v * scale_by));
            match flatten {
                1 => f[1] = scale(f[0], 0.7),
                2 => f[1] = [0.0; 3],
                3 => f = [[0.0; 3]; 2],
                _ => {}
            }
            let svd = svd2(&f, &cauchy(&f));
            let size = svd.s[0].max(1e-20);
            let back = reconstruct(&svd);
            for k in 0..2 {
                for j in 0..3 {
                    prop_assert!((back[k][j] - f[k][j]).abs() <= 4e-6 * size, "{f:?} {back:?}");
                }
            }
            prop_assert!((dot(svd.u[0], svd.u[0]) - 1.0).abs() < 1e-4);
            prop_assert!((dot(svd.u[1], svd.u[1]) - 1.0).abs() < 1e-4);
            prop_assert!(dot(svd.u[0], svd.u[1]).abs() < 2e-3);
        }

        #[test]
        fn agrees_with_nalgebra(f in prop::array::uniform2(prop::array::uniform3(-3.0f64..3.0))) {
            let svd = svd2(&f, &cauchy(&f));
            let m = nalgebra::Matrix3x2::from_fn(|i, j| f[j][i]);
            let reference = m.svd(false, false).singular_values;
            prop_assert!((svd.s[0] - reference[0]).abs() < 1e-12 * (1.0 + reference[0]));
            prop_assert!((svd.s[1] - reference[1]).abs() < 1e-9 * (1.0 + reference[0]));
        }
    }
}
