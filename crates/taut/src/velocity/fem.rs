//! Linear triangles with Green's strain and a linear law (St. Venant–Kirchhoff; W11).
//!
//! Energy of a triangle: A/2 E:C:E with E = ½ (FᵀF − I) and the plane-stress moduli of a sheet, which may
//! differ by direction. The force is its exact gradient up to a strain norm `cap`; beyond that the
//! stress stays constant, since a prediction may overshoot the limit by several edge lengths before the
//! limiter acts, where the cubic law would blow up. Inside the limits the cap is never reached.

use crate::{
    Material,
    element::{
        Element,
        force::{ForceLanes, Scaled},
    },
    exec::{batch::lanes_of, colored::Measure},
    kernel::{
        lanes::{BATCH, Lanes},
        membrane::Woven,
        real::{Real, V3, add, combine, dot, scale, sub},
        svd2::{RestInverse, cauchy, deformation_gradient},
    },
};

/// One triangle of the membrane.
#[derive(Clone, Copy, Debug)]
pub struct MembraneElement {
    /// Vertices.
    pub vertices: [u32; 3],
    /// Inverse of the rest edge matrix \[1/m\].
    pub rest: [f32; 3],
    /// Rest area times the moduli \[N m\]: M of ½ qᵀ M q with q = (E₁₁, E₂₂, E₁₂), by rows from the
    /// diagonal on.
    pub moduli: [f32; 6],
    /// Stiffness-proportional damping \[s\].
    pub viscosity: f32,
    /// Mass per area \[kg/m²\].
    pub density: f32,
}

/// The moduli of `material` in axes along the first edge of a triangle \[N/m\]; `axis` is the cosine and sine
/// of twice the angle of the warp from there.
pub fn moduli(material: &Material, axis: [f32; 2]) -> [f64; 6] {
    material.law().along(axis).matrix()
}

/// Green's strain: xx, yy, xy.
#[inline(always)]
fn green<R: Real>(f: &[V3<R>; 2]) -> [R; 3] {
    let (half, one) = (R::splat(0.5), R::splat(1.0));
    [(dot(f[0], f[0]) - one) * half, (dot(f[1], f[1]) - one) * half, dot(f[0], f[1]) * half]
}

/// Stress times area of a strain.
#[inline(always)]
fn stress<R: Real>(e: [R; 3], m: [R; 6]) -> [R; 3] {
    [
        m[0] * e[0] + m[1] * e[1] + m[2] * e[2],
        m[1] * e[0] + m[3] * e[1] + m[4] * e[2],
        (m[2] * e[0] + m[4] * e[1] + m[5] * e[2]) * R::splat(0.5),
    ]
}

/// Principal values of the second Piola–Kirchhoff stress \[N/m\] of a triangle, the larger first, for its
/// [`moduli`]. Without the cap, and without softening.
pub fn principal_stress(x: &[V3<f64>; 3], rest: RestInverse<f64>, moduli: [f64; 6]) -> [f64; 2] {
    let [xx, yy, xy] = stress(green(&deformation_gradient(x, rest)), moduli);
    let (mean, radius) = (0.5 * (xx + yy), (0.25 * (xx - yy) * (xx - yy) + xy * xy).sqrt());
    [mean + radius, mean - radius]
}

/// Elastic energy of a triangle \[J\]; `moduli` are times its area.
pub fn membrane_energy<R: Real>(x: &[V3<R>; 3], rest: RestInverse<R>, moduli: [R; 6]) -> R {
    let e = green(&deformation_gradient(x, rest));
    let s = stress(e, moduli);
    (s[0] * e[0] + s[1] * e[1] + s[2] * e[2] * R::splat(2.0)) * R::splat(0.5)
}

/// Forces of a triangle on its vertices \[N\]. `damping` is the velocities of the vertices \[m/s\] and the
/// viscosity \[s\].
#[inline(always)]
pub fn membrane_forces<R: Real>(
    x: &[V3<R>; 3],
    damping: Option<(&[V3<R>; 3], R)>,
    rest: RestInverse<R>,
    moduli: [R; 6],
    cap: R,
) -> [V3<R>; 3] {
    let f = deformation_gradient(x, rest);
    let mut e = green(&f);
    if let Some((v, viscosity)) = damping {
        let rate = deformation_gradient(v, rest);
        let half = R::splat(0.5);
        e = [
            e[0] + viscosity * dot(f[0], rate[0]),
            e[1] + viscosity * dot(f[1], rate[1]),
            e[2] + viscosity * half * (dot(f[0], rate[1]) + dot(f[1], rate[0])),
        ];
    }
    let norm = (e[0] * e[0] + e[1] * e[1] + R::splat(2.0) * e[2] * e[2]).sqrt();
    let held = cap / norm.max(cap);
    let s = scale(stress(e, moduli), held);
    // P = F S; f₁ = −P b₁, f₂ = −P b₂ with b₁ = (i00, i01), b₂ = (0, i11).
    let p0 = combine(f[0], s[0], f[1], s[2]);
    let p1 = combine(f[0], s[2], f[1], s[1]);
    let f1 = combine(p0, -rest[0], p1, -rest[1]);
    let f2 = scale(p1, -rest[2]);
    [scale(add(f1, f2), R::splat(-1.0)), f1, f2]
}

/// What a batch holds of the triangles of a membrane.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct MembraneLanes {
    rest: [[f32; BATCH]; 3],
    moduli: [[f32; BATCH]; 6],
    viscosity: [f32; BATCH],
    pub(super) inverse_density: [f32; BATCH],
}

impl Element<3> for MembraneElement {
    type Lanes = MembraneLanes;

    fn vertices(&self) -> [u32; 3] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> MembraneLanes {
        let rest = |k: usize, fill: f32| lanes_of(numbers, fill, |e| elements[e].rest[k]);
        MembraneLanes {
            rest: [rest(0, 1.0), rest(1, 0.0), rest(2, 1.0)],
            moduli: [0, 1, 2, 3, 4, 5].map(|k| lanes_of(numbers, 0.0, |e| elements[e].moduli[k])),
            viscosity: lanes_of(numbers, 0.0, |e| elements[e].viscosity),
            inverse_density: lanes_of(numbers, 0.0, |e| 1.0 / elements[e].density),
        }
    }
}

/// Strains beyond the cap are norms of Green's.
impl ForceLanes<3> for MembraneLanes {
    #[inline(always)]
    fn forces<L: Lanes>(
        &self,
        at: usize,
        x: &[V3<L>; 3],
        v: Option<&[V3<L>; 3]>,
        scaled: &Scaled<L>,
    ) -> [V3<L>; 3] {
        let rest = L::load_all(&self.rest, at);
        let moduli: [L; 6] = L::load_all(&self.moduli, at);
        let moduli = moduli.map(|m| m * scaled.softening);
        match v {
            None => membrane_forces(x, None, rest, moduli, scaled.cap),
            Some(v) => membrane_forces(x, Some((v, L::load(&self.viscosity, at))), rest, moduli, scaled.cap),
        }
    }
}

/// Measures the square of the largest principal stretch, or of a bound on it.
pub struct LargestStretch;

impl Measure<MembraneLanes, 3> for LargestStretch {
    #[inline(always)]
    fn measure<L: Lanes>(&self, data: &MembraneLanes, at: usize, x: &[V3<L>; 3]) -> L {
        cauchy(&deformation_gradient(x, L::load_all(&data.rest, at))).larger
    }
}

/// ω² of the stiffest mode that a triangle can have by itself \[1/s²\], per unit of squared stretch: its own
/// stiffness against its own share of mass bounds the whole mesh (Irons and Treharne 1971).
pub fn membrane_frequency(rest: RestInverse<f64>, material: &Material) -> f64 {
    let b = [[-rest[0], -(rest[1] + rest[2])], [rest[0], rest[1]], [0.0, rest[2]]];
    let sum = |i: usize, j: usize| b.iter().map(|b| b[i] * b[j]).sum::<f64>();
    let (a, d, c) = (sum(0, 0), sum(0, 1), sum(1, 1));
    let largest = 0.5 * (a + c) + (0.25 * (a - c) * (a - c) + d * d).sqrt();
    // A bound on the moduli's largest eigenvalue on symmetric matrices.
    let Woven { stiffness: [c11, c22], coupling, shear, .. } = material.law();
    let stiffness = (c11.max(c22) + coupling.abs()).max(shear);
    3.0 * stiffness * largest / f64::from(material.density)
}

/// Twice the area of a triangle as a vector along its normal.
#[inline(always)]
pub(super) fn area_vector<R: Real>(x: &[V3<R>; 3]) -> V3<R> {
    crate::kernel::real::cross(sub(x[1], x[0]), sub(x[2], x[0]))
}
