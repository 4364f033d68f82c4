//! The elastic law of a sheet in its plane, and its proximal map: what a triangle asks for in a step that
//! solves stiffness and limits together.
//!
//! The law is linear in the strains e = U − 1 of the stretch U = RᵀF, with R the rotation nearest to F
//! (corotated linear elasticity): W = ½ e : C : e per area. For cloth that is the same in all directions it
//! is a function of the principal stretches alone, W = ½ C₁₁ (e₁² + e₂²) + C₁₂ e₁ e₂. For woven cloth W = ½
//! C₁₁ e₁₁² + ½ C₂₂ e₂₂² + C₁₂ e₁₁ e₂₂ + 2 G e₁₂² along warp and weft.
//!
//! A step looks for p with the least W(p) + κ/2 |p − f|² among those within the limits: a quadratic in a box.
//! Isotropic: the free minimum, clamped, then each strain in turn for the other one as it is, which is the
//! exact minimum wherever one of the two is inside its limits. Woven: the same along warp and weft, shear by
//! itself; then the principal stretches of that are clamped.

use super::{
    clamp::rotation,
    real::{Real, V3, combine, cross, dot, scale},
    strain::Range,
    svd2::{cauchy, principal},
    weave::Limits,
};

/// Moduli of cloth that is the same in all directions, in the unit of κ.
#[derive(Clone, Copy, Debug)]
pub struct Isotropic<R> {
    /// C₁₁.
    pub stiffness: R,
    /// C₁₂.
    pub coupling: R,
    /// Factor on both where stress is compressive, at most 1.
    pub compression: R,
}

/// Moduli of woven cloth, in the unit of κ, and where its warp is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Woven<R> {
    /// C₁₁ and C₂₂.
    pub stiffness: [R; 2],
    /// C₁₂.
    pub coupling: R,
    /// 2 G.
    pub shear: R,
    /// Factors on C₁₁ and C₂₂, and on their coupling, where stress is compressive, at most 1.
    pub compression: [R; 2],
    /// Cosine and sine of twice the angle of the warp from the first edge at rest.
    pub axis: [R; 2],
}

impl Woven<f64> {
    /// The same with moduli `factor` times as large.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            stiffness: self.stiffness.map(|c| c * factor),
            coupling: self.coupling * factor,
            shear: self.shear * factor,
            ..*self
        }
    }

    /// Whether it is the same in all directions.
    pub fn is_isotropic(&self) -> bool {
        let [c11, c22] = self.stiffness;
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * c11.abs();
        near(c11, c22) && near(self.shear, c11 - self.coupling)
    }
}

/// The strain that minimises the energy for f's own strain `own` and the strain `other` at right angles.
/// Stress is compressive where the result is longer than `own`; there it is as much softer as `compression`
/// says.
#[inline(always)]
fn relax<R: Real>(own: R, other: R, kappa: R, [stiffness, coupling, compression]: [R; 3]) -> R {
    let stretched = (own * kappa - coupling * other) / (kappa + stiffness);
    let pressed = (own * kappa - compression * coupling * other) / (kappa + compression * stiffness);
    R::select(own.lt(stretched), pressed, stretched)
}

/// p − f, where p minimises W(p) + κ/2 |p − f|² within limits. A triangle with a lower limit whose normal
/// points away from `facing` is inside out, and is brought to that limit.
#[inline(always)]
pub fn relax_isotropic<R: Real, M: Limits<R>>(
    f: &[V3<R>; 2],
    limits: M,
    law: Isotropic<R>,
    kappa: R,
    facing: V3<R>,
) -> [V3<R>; 2] {
    let (zero, one, half, c) = (R::splat(0.0), R::splat(1.0), R::splat(0.5), cauchy(f));
    let ranges = limits.ranges(&c);
    let turned = dot(cross(f[0], f[1]), facing).lt(zero) & zero.lt(ranges[1].min);
    let principal = principal(f, &c);
    let d = principal.directions();
    let [vx, vy] = principal.v;
    let shrink = one / (vx * vx + vy * vy);
    let s = principal.s;
    let within = |e: R, range: &Range<R>| e.clamp(range.min - one, range.max - one);
    let Isotropic { stiffness, coupling, compression } = law;
    let moduli = [stiffness, coupling, compression];
    let own = s.map(|s| s - one);
    let sum = (own[0] + own[1]) * kappa / (kappa + stiffness + coupling);
    let difference = (own[0] - own[1]) * kappa / (kappa + stiffness - coupling);
    let e0 = within((sum + difference) * half, &ranges[0]);
    let e1 = within(relax(own[1], e0, kappa, moduli), &ranges[1]);
    let e0 = within(relax(own[0], e1, kappa, moduli), &ranges[0]);
    let e1 = within(relax(own[1], e0, kappa, moduli), &ranges[1]);
    let m0 = scale(d[0], (e0 + one - s[0]) * shrink);
    let opened = R::select(turned, -ranges[1].min, e1 + one);
    let m1 = scale(d[1], (opened - s[1]) * shrink);
    [combine(m0, vx, m1, -vy), combine(m0, vy, m1, vx)]
}

/// The same for woven cloth.
#[inline(always)]
pub fn relax_woven<R: Real, M: Limits<R>>(
    f: &[V3<R>; 2],
    limits: M,
    law: Woven<R>,
    kappa: R,
    facing: V3<R>,
) -> [V3<R>; 2] {
    let (zero, one, half) = (R::splat(0.0), R::splat(1.0), R::splat(0.5));
    let ranges = limits.ranges(&cauchy(f));
    // What is inside out is taken as such only where there is a lower limit.
    let away = R::select(zero.lt(ranges[1].min), one, zero);
    let r = rotation(f, scale(facing, away));
    // U − 1 in the frame of the rest shape.
    let [xx, yy, xy] =
        [dot(r[0], f[0]) - one, dot(r[1], f[1]) - one, (dot(r[0], f[1]) + dot(r[1], f[0])) * half];
    let [e11, e22, e12] = turn([xx, yy, xy], law.axis);
    let [m1, m2] = [0, 1].map(|k| [law.stiffness[k], law.coupling, law.compression[k]]);
    let (k1, k2, c12) = (kappa + m1[0], kappa + m2[0], law.coupling);
    let p1 = (e11 * k2 - e22 * c12) * kappa / (k1 * k2 - c12 * c12);
    let p2 = relax(e22, p1, kappa, m2);
    let p1 = relax(e11, p2, kappa, m1);
    let p2 = relax(e22, p1, kappa, m2);
    let p12 = e12 * kappa / (kappa + law.shear);
    // Principal strains of that, clamped.
    let (mean, deviation) = ((p1 + p2) * half, (p1 - p2) * half);
    let radius = (deviation * deviation + p12 * p12).sqrt();
    let high = (mean + radius).clamp(ranges[0].min - one, ranges[0].max - one);
    let low = (mean - radius).clamp(ranges[1].min - one, ranges[1].max - one);
    let (mean, shrink) = ((high + low) * half, (high - low) * half / radius.max(R::splat(1e-12)));
    let (deviation, p12) = (deviation * shrink, p12 * shrink);
    let back = turn([mean + deviation, mean - deviation, p12], [law.axis[0], -law.axis[1]]);
    let [dx, dy, dxy] = [back[0] - xx, back[1] - yy, back[2] - xy];
    [combine(r[0], dx, r[1], dxy), combine(r[0], dxy, r[1], dy)]
}

/// A symmetric matrix (11, 22, 12) in axes that are turned by half the angle with cosine and sine `axis`.
#[inline(always)]
fn turn<R: Real>([xx, yy, xy]: [R; 3], [cosine, sine]: [R; 2]) -> [R; 3] {
    let half = R::splat(0.5);
    let (mean, deviation) = ((xx + yy) * half, (xx - yy) * half);
    let along = deviation * cosine + xy * sine;
    [mean + along, mean - along, xy * cosine - deviation * sine]
}

/// Elastic energy per area of a triangle with gradient `f`, in the unit of the moduli. As if compression were
/// as stiff as tension.
pub fn energy(f: &[V3<f64>; 2], law: &Woven<f64>) -> f64 {
    let r = rotation(f, cross(f[0], f[1]));
    let strain = [dot(r[0], f[0]) - 1.0, dot(r[1], f[1]) - 1.0, 0.5 * (dot(r[0], f[1]) + dot(r[1], f[0]))];
    let [e11, e22, e12] = turn(strain, law.axis);
    0.5 * (law.stiffness[0] * e11 * e11 + law.stiffness[1] * e22 * e22)
        + law.coupling * e11 * e22
        + law.shear * e12 * e12
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::{real::add, svd2::svd2};

    fn isotropic(young: f64, poisson: f64) -> Isotropic<f64> {
        let plane = young / (1.0 - poisson * poisson);
        Isotropic { stiffness: plane, coupling: poisson * plane, compression: 1.0 }
    }

    /// The same law as that of woven cloth.
    fn as_woven(law: Isotropic<f64>, axis: [f64; 2]) -> Woven<f64> {
        Woven {
            stiffness: [law.stiffness; 2],
            coupling: law.coupling,
            shear: law.stiffness - law.coupling,
            compression: [law.compression; 2],
            axis,
        }
    }

    fn gradient() -> impl Strategy<Value = [V3<f64>; 2]> {
        prop::array::uniform2(prop::array::uniform3(-1.5f64..1.5)).prop_filter("flat", |f| {
            let n = cross(f[0], f[1]);
            dot(n, n) > 0.01
        })
    }

    proptest! {
        #[test]
        fn lands_where_the_energy_is_least(
            f in gradient(),
            other in gradient(),
            young in 0.01f64..30.0,
            poisson in 0.0f64..0.49,
            bounded: bool,
        ) {
            let (law, kappa) = (isotropic(young, poisson), 0.7);
            let range = if bounded { Range { min: 0.9, max: 1.05 } } else { Range { min: 0.0, max: 1e9 } };
            let normal = cross(f[0], f[1]);
            let moved = relax_isotropic(&f, range, law, kappa, normal);
            let p = [add(f[0], moved[0]), add(f[1], moved[1])];
            let s = svd2(&p, &cauchy(&p)).s;
            prop_assert!(s[0] <= range.max + 1e-9 && s[1] >= range.min - 1e-9, "{s:?}");
            let cost = |q: &[V3<f64>; 2]| {
                let way: f64 = (0..2).flat_map(|k| (0..3).map(move |j| (q[k][j] - f[k][j]).powi(2))).sum();
                energy(q, &as_woven(law, [1.0, 0.0])) + 0.5 * kappa * way
            };
            // Others within the limits: nearby, and far away.
            for share in [1e-3, 0.03, 1.0] {
                let q = [0, 1].map(|k| add(scale(p[k], 1.0 - share), scale(other[k], share)));
                let svd = svd2(&q, &cauchy(&q));
                let inside = svd.s[0] <= range.max && svd.s[1] >= range.min;
                if inside {
                    prop_assert!(cost(&p) <= cost(&q) + 1e-9, "{} {}", cost(&p), cost(&q));
                }
            }
        }

        #[test]
        fn woven_cloth_of_equal_moduli_is_isotropic(
            f in gradient(),
            young in 0.01f64..30.0,
            poisson in 0.0f64..0.49,
            turn in -3.2f64..3.2,
        ) {
            let (law, kappa) = (isotropic(young, poisson), 0.7);
            let (range, normal) = (Range { min: 0.0, max: 1e9 }, cross(f[0], f[1]));
            let one = relax_isotropic(&f, range, law, kappa, normal);
            let other = relax_woven(&f, range, as_woven(law, [turn.cos(), turn.sin()]), kappa, normal);
            for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
                prop_assert!((a - b).abs() < 1e-9, "{one:?} {other:?}");
            }
        }
    }
}
