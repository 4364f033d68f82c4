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
//! exact minimum wherever one of the two is inside its limits. Woven: the free minimum along warp and weft,
//! shear by itself; where that is outside, the least along its own principal directions, in the same way.

use super::{
    clamp::rotation,
    real::{Real, V3, combine, cross, dot, scale, select3},
    strain::Range,
    svd2::{Cauchy, cauchy, principal},
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

impl<R: Real> Woven<R> {
    /// Moduli of strains along two directions at right angles, and their coupling; cosine and sine of twice
    /// the angle of the first from the warp.
    #[inline(always)]
    fn in_frame(&self, [cosine, sine]: [R; 2]) -> [R; 3] {
        let (one, half) = (R::splat(1.0), R::splat(0.5));
        let (c, s, h) = ((one + cosine) * half, (one - cosine) * half, sine * half);
        let [c11, c22] = self.stiffness;
        let (cross, shear) = (c * s, (self.shear + self.shear) * h * h);
        let both = (self.coupling + self.coupling) * cross + shear;
        [
            c11 * c * c + c22 * s * s + both,
            c11 * s * s + c22 * c * c + both,
            (c11 + c22) * cross + self.coupling * (c * c + s * s) - shear,
        ]
    }
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

    /// The law of warp that lies along `axis`: cosine and sine of twice its angle from the first edge.
    pub fn along(self, axis: [f32; 2]) -> Self {
        Self { axis: axis.map(f64::from), ..self }
    }

    /// M of W = ½ qᵀ M q for strains q = (e₁₁, e₂₂, e₁₂) in axes along the first edge: 11, 12, 13, 22, 23,
    /// 33.
    pub fn matrix(&self) -> [f64; 6] {
        // Columns: strains along warp and weft of a unit of each entry.
        let unit = |k: usize| turn([0, 1, 2].map(|j| f64::from(u8::from(j == k))), self.axis);
        let q = [unit(0), unit(1), unit(2)];
        let ([c11, c22], c12) = (self.stiffness, self.coupling);
        let entry = |a: [f64; 3], b: [f64; 3]| {
            c11 * a[0] * b[0]
                + c22 * a[1] * b[1]
                + c12 * (a[0] * b[1] + a[1] * b[0])
                + 2.0 * self.shear * a[2] * b[2]
        };
        [
            entry(q[0], q[0]),
            entry(q[0], q[1]),
            entry(q[0], q[2]),
            entry(q[1], q[1]),
            entry(q[1], q[2]),
            entry(q[2], q[2]),
        ]
    }

    /// Whether it is the same in all directions.
    pub fn is_isotropic(&self) -> bool {
        let [c11, c22] = self.stiffness;
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * c11.abs();
        near(c11, c22) && near(self.shear, c11 - self.coupling)
    }
}

/// A law for one κ, with all divisions done that do not depend on the strain.
#[derive(Clone, Copy)]
pub struct IsotropicAt<R> {
    axis: Axis<R>,
    /// κ/(κ + C₁₁ + C₁₂) and κ/(κ + C₁₁ − C₁₂).
    free: [R; 2],
}

/// The same of woven cloth.
#[derive(Clone, Copy)]
pub struct WovenAt<R> {
    kappa: R,
    law: Woven<R>,
    axes: [Axis<R>; 2],
    /// κ/((κ + C₁₁)(κ + C₂₂) − C₁₂²).
    free: R,
    /// κ/(κ + 2 G).
    sheared: R,
}

/// The strain along one direction: κ over κ + C in tension and in compression, and C₁₂ over these.
#[derive(Clone, Copy)]
struct Axis<R> {
    stretched: [R; 2],
    pressed: [R; 2],
}

impl<R: Real> Axis<R> {
    #[inline(always)]
    fn new(kappa: R, [stiffness, coupling, compression]: [R; 3]) -> Self {
        let stretched = R::splat(1.0) / (kappa + stiffness);
        let pressed = R::splat(1.0) / (kappa + compression * stiffness);
        Self {
            stretched: [kappa * stretched, coupling * stretched],
            pressed: [kappa * pressed, compression * coupling * pressed],
        }
    }

    /// The strain that minimises the energy for f's own strain `own` and the strain `other` at right angles.
    /// Stress is compressive where the result is longer than `own`; there it is as much softer as the law's
    /// compression says.
    #[inline(always)]
    fn relax(&self, own: R, other: R) -> R {
        let stretched = own * self.stretched[0] - other * self.stretched[1];
        let pressed = own * self.pressed[0] - other * self.pressed[1];
        R::select(own.lt(stretched), pressed, stretched)
    }
}

impl<R: Real> Isotropic<R> {
    /// The law for κ.
    #[inline(always)]
    pub fn at(self, kappa: R) -> IsotropicAt<R> {
        let Self { stiffness, coupling, compression } = self;
        let stiff = kappa + stiffness;
        IsotropicAt {
            axis: Axis::new(kappa, [stiffness, coupling, compression]),
            free: [kappa / (stiff + coupling), kappa / (stiff - coupling)],
        }
    }
}

impl<R: Real> IsotropicAt<R> {
    /// The principal strains asked for, of those of f, the larger first.
    #[inline(always)]
    fn relax(&self, own: [R; 2], ranges: &[Range<R>; 2]) -> [R; 2] {
        let half = R::splat(0.5);
        let sum = (own[0] + own[1]) * self.free[0];
        let difference = (own[0] - own[1]) * self.free[1];
        let e0 = within((sum + difference) * half, &ranges[0]);
        let e1 = within(self.axis.relax(own[1], e0), &ranges[1]);
        let e0 = within(self.axis.relax(own[0], e1), &ranges[0]);
        [e0, within(self.axis.relax(own[1], e0), &ranges[1])]
    }
}

impl<R: Real> Woven<R> {
    /// The law for κ.
    #[inline(always)]
    pub fn at(self, kappa: R) -> WovenAt<R> {
        let ([k1, k2], c12) = (self.stiffness.map(|c| kappa + c), self.coupling);
        let axis = |k: usize| Axis::new(kappa, [self.stiffness[k], self.coupling, self.compression[k]]);
        WovenAt {
            kappa,
            law: self,
            axes: [axis(0), axis(1)],
            free: kappa / (k1 * k2 - c12 * c12),
            sheared: kappa / (kappa + self.shear),
        }
    }
}

impl<R: Real> WovenAt<R> {
    /// The strain asked for, of that of f, both in the frame of the rest shape: 11, 22, 12.
    #[inline(always)]
    fn relax(&self, strain: [R; 3], axis: [R; 2], ranges: &[Range<R>; 2]) -> [R; 3] {
        let (one, half, kappa) = (R::splat(1.0), R::splat(0.5), self.kappa);
        let [e11, e22, e12] = turn(strain, axis);
        let p1 = (e11 * (kappa + self.law.stiffness[1]) - e22 * self.law.coupling) * self.free;
        let p2 = self.axes[1].relax(e22, p1);
        let p1 = self.axes[0].relax(e11, p2);
        let p2 = self.axes[1].relax(e22, p1);
        let mut p12 = e12 * self.sheared;
        let (mut mean, mut deviation) = ((p1 + p2) * half, (p1 - p2) * half);
        let radius = (deviation * deviation + p12 * p12).sqrt();
        let free = [mean + radius, mean - radius];
        let inside = free[0].le(ranges[0].max - one) & (ranges[1].min - one).le(free[1]);
        if R::any(!inside) {
            // Principal strains, clamped; then each for the other one as it is, along the same directions.
            let inverse = one / radius.max(R::splat(1e-12));
            let high = within(free[0], &ranges[0]);
            let [along, across, between] = self.law.in_frame([deviation * inverse, p12 * inverse]);
            let (slope0, slope1) = (between / (kappa + along), between / (kappa + across));
            let low = within(free[1] - slope1 * (high - free[0]), &ranges[1]);
            let high = within(free[0] - slope0 * (low - free[1]), &ranges[0]);
            let low = within(free[1] - slope1 * (high - free[0]), &ranges[1]);
            let shrink = (high - low) * half * inverse;
            mean = R::select(inside, mean, (high + low) * half);
            deviation = R::select(inside, deviation, deviation * shrink);
            p12 = R::select(inside, p12, p12 * shrink);
        }
        turn([mean + deviation, mean - deviation, p12], [axis[0], -axis[1]])
    }
}

/// A strain brought between limits of stretch.
#[inline(always)]
fn within<R: Real>(strain: R, range: &Range<R>) -> R {
    let one = R::splat(1.0);
    strain.clamp(range.min - one, range.max - one)
}

/// Where a triangle is neither crushed nor inside out, the stretch U with F = R U in closed form; elsewhere
/// anything.
#[inline(always)]
fn stretch<R: Real>(f: &[V3<R>; 2], c: &Cauchy<R>, facing: V3<R>) -> (Stretch<R>, R::Mask) {
    let normal = cross(f[0], f[1]);
    let determinant = dot(normal, normal).sqrt();
    let is_plain = (c.trace() * R::splat(CRUSHED)).le(determinant) & R::splat(1e-30).lt(determinant);
    let plain = is_plain & R::splat(0.0).le(dot(normal, facing));
    (Stretch { u: c.root(determinant), determinant }, plain)
}

/// Ratio of area to the sum of squared stretches below which the rotation of a triangle is taken from its
/// principal directions: one stretch is a tenth of the other.
const CRUSHED: f32 = 0.1;

/// The stretch U of a triangle, 11, 22 and 12, and its determinant.
struct Stretch<R> {
    u: [R; 3],
    determinant: R,
}

impl<R: Real> Stretch<R> {
    /// R D, with D a change of U: 11, 22 and 12.
    #[inline(always)]
    fn moved(&self, f: &[V3<R>; 2], [dx, dy, dxy]: [R; 3]) -> [V3<R>; 2] {
        let inverse = R::splat(1.0) / self.determinant;
        let [xx, yy, xy] = self.u.map(|u| u * inverse);
        [
            combine(f[0], yy * dx - xy * dxy, f[1], xx * dxy - xy * dx),
            combine(f[0], yy * dxy - xy * dy, f[1], xx * dy - xy * dxy),
        ]
    }
}

/// p − f, where p minimises W(p) + κ/2 |p − f|² within limits. A triangle with a lower limit whose normal
/// points away from `facing` is inside out, and is brought to that limit.
#[inline(always)]
pub fn relax_isotropic<R: Real, M: Limits<R>>(
    f: &[V3<R>; 2],
    limits: M,
    law: &IsotropicAt<R>,
    facing: V3<R>,
) -> [V3<R>; 2] {
    let (zero, one, half, c) = (R::splat(0.0), R::splat(1.0), R::splat(0.5), cauchy(f));
    let ranges = limits.ranges(&c);
    let bounded = zero.lt(ranges[1].min);
    // What is inside out is taken as such only where there is a lower limit.
    let facing = scale(facing, R::select(bounded, one, zero));
    let (tensor, plain) = stretch(f, &c, facing);
    let [xx, yy, xy] = tensor.u;
    let (mean, deviation) = ((xx + yy) * half - one, (xx - yy) * half);
    let radius = (deviation * deviation + xy * xy).sqrt();
    let e = law.relax([mean + radius, mean - radius], &ranges);
    let less = (e[0] - e[1]) * half / radius.max(R::splat(1e-12)) - one;
    let (middle, apart) = ((e[0] + e[1]) * half - mean, deviation * less);
    let moved = tensor.moved(f, [middle + apart, middle - apart, xy * less]);
    if !R::any(!plain) {
        return moved;
    }
    let turned = dot(cross(f[0], f[1]), facing).lt(zero);
    let principal = principal(f, &c);
    let d = principal.directions();
    let [vx, vy] = principal.v;
    let shrink = one / (vx * vx + vy * vy);
    let s = principal.s;
    let e = law.relax(s.map(|s| s - one), &ranges);
    let m0 = scale(d[0], (e[0] + one - s[0]) * shrink);
    let opened = R::select(turned, -ranges[1].min, e[1] + one);
    let m1 = scale(d[1], (opened - s[1]) * shrink);
    let other = [combine(m0, vx, m1, -vy), combine(m0, vy, m1, vx)];
    [0, 1].map(|k| select3::<R>(plain, moved[k], other[k]))
}

/// The same for woven cloth, whose warp has this `axis`: see [`Woven::axis`].
#[inline(always)]
pub fn relax_woven<R: Real, M: Limits<R>>(
    f: &[V3<R>; 2],
    limits: M,
    (law, axis): (&WovenAt<R>, [R; 2]),
    facing: V3<R>,
) -> [V3<R>; 2] {
    let (zero, one, half, c) = (R::splat(0.0), R::splat(1.0), R::splat(0.5), cauchy(f));
    let ranges = limits.ranges(&c);
    // What is inside out is taken as such only where there is a lower limit.
    let facing = scale(facing, R::select(zero.lt(ranges[1].min), one, zero));
    let (tensor, plain) = stretch(f, &c, facing);
    let [xx, yy, xy] = tensor.u;
    let strain = [xx - one, yy - one, xy];
    let asked = law.relax(strain, axis, &ranges);
    let moved = tensor.moved(f, [0, 1, 2].map(|k| asked[k] - strain[k]));
    if !R::any(!plain) {
        return moved;
    }
    let r = rotation(f, facing);
    let strain = [dot(r[0], f[0]) - one, dot(r[1], f[1]) - one, (dot(r[0], f[1]) + dot(r[1], f[0])) * half];
    let asked = law.relax(strain, axis, &ranges);
    let [dx, dy, dxy] = [0, 1, 2].map(|k| asked[k] - strain[k]);
    let other = [combine(r[0], dx, r[1], dxy), combine(r[0], dxy, r[1], dy)];
    [0, 1].map(|k| select3::<R>(plain, moved[k], other[k]))
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
    use crate::kernel::{clamp::clamp_stretches, real::add, svd2::svd2};

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
            let moved = relax_isotropic(&f, range, &law.at(kappa), normal);
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
        fn woven_cloth_lands_within_its_limits_and_lower_than_clamped(
            f in gradient(),
            moduli in prop::array::uniform2(0.01f64..30.0),
            shear in 0.01f64..5.0,
            poisson in -0.6f64..0.6,
            turn in -3.2f64..3.2,
        ) {
            let coupling = poisson * (moduli[0] * moduli[1]).sqrt();
            let axis = [turn.cos(), turn.sin()];
            let law = Woven { stiffness: moduli, coupling, shear, compression: [1.0; 2], axis };
            let (kappa, normal) = (0.7, cross(f[0], f[1]));
            let at = |range: Range<f64>| {
                let moved = relax_woven(&f, range, (&law.at(kappa), law.axis), normal);
                [add(f[0], moved[0]), add(f[1], moved[1])]
            };
            let range = Range { min: 0.9, max: 1.05 };
            let (free, p) = (at(Range { min: 0.0, max: 1e9 }), at(range));
            let s = svd2(&p, &cauchy(&p)).s;
            prop_assert!(s[0] <= range.max + 1e-9 && s[1] >= range.min - 1e-9, "{s:?}");
            let cost = |q: &[V3<f64>; 2]| {
                let way: f64 = (0..2).flat_map(|k| (0..3).map(move |j| (q[k][j] - f[k][j]).powi(2))).sum();
                energy(q, &law) + 0.5 * kappa * way
            };
            prop_assume!(dot(cross(free[0], free[1]), normal) > 0.0);
            let clamped = clamp_stretches(&free, range).unwrap_or_default();
            let clamped = [add(free[0], clamped[0]), add(free[1], clamped[1])];
            prop_assert!(cost(&p) <= cost(&clamped) + 1e-9, "{} {}", cost(&p), cost(&clamped));
            prop_assert!(cost(&free) <= cost(&p) + 1e-9, "{} {}", cost(&free), cost(&p));
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
            let one = relax_isotropic(&f, range, &law.at(kappa), normal);
            let woven = as_woven(law, [turn.cos(), turn.sin()]);
            let other = relax_woven(&f, range, (&woven.at(kappa), woven.axis), normal);
            for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
                prop_assert!((a - b).abs() < 1e-9, "{one:?} {other:?}");
            }
        }
    }
}
