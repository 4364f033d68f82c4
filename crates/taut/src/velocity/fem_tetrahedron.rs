//! Linear tetrahedra with Green's strain and a linear law (St. Venant–Kirchhoff; W11).
//!
//! Energy of a tetrahedron: V (½ λ tr(E)² + μ E:E) with E = ½ (FᵀF − I). As with triangles
//! ([`fem`](super::fem)) the force is its exact gradient up to a strain norm `cap`; beyond, the stress stays
//! constant.

use super::fem::LargestStretch;
use crate::{
    element::{
        Element,
        force::{ForceLanes, Scaled},
    },
    exec::{batch::lanes_of, colored::Measure},
    kernel::{
        lanes::{BATCH, Lanes},
        real::{Real, V3, add, dot, scale},
        tetrahedron::{M3, RestInverse3, gradient3},
    },
};

/// One tetrahedron of a soft solid.
#[derive(Clone, Copy, Debug)]
pub struct SolidElement {
    /// Vertices.
    pub vertices: [u32; 4],
    /// Columns of the inverse of its rest edges \[1/m\].
    pub rest: [[f32; 3]; 3],
    /// Rest volume times Lamé's parameters λ and μ \[J\].
    pub moduli: [f32; 2],
    /// Stiffness-proportional damping \[s\].
    pub viscosity: f32,
}

/// Lamé's parameters λ and μ \[Pa\] of Young's modulus \[Pa\] and Poisson's ratio.
pub fn lame(young: f64, poisson: f64) -> [f64; 2] {
    [young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), 0.5 * young / (1.0 + poisson)]
}

/// Green's strain: xx, yy, zz, yz, xz, xy.
#[inline(always)]
fn green<R: Real>(f: &M3<R>) -> [R; 6] {
    let (half, one) = (R::splat(0.5), R::splat(1.0));
    [
        (dot(f[0], f[0]) - one) * half,
        (dot(f[1], f[1]) - one) * half,
        (dot(f[2], f[2]) - one) * half,
        dot(f[1], f[2]) * half,
        dot(f[0], f[2]) * half,
        dot(f[0], f[1]) * half,
    ]
}

/// Stress times volume of a strain.
#[inline(always)]
fn stress<R: Real>(e: &[R; 6], [lambda, mu]: [R; 2]) -> [R; 6] {
    let trace = (e[0] + e[1] + e[2]) * lambda;
    let twice = mu + mu;
    [
        trace + twice * e[0],
        trace + twice * e[1],
        trace + twice * e[2],
        twice * e[3],
        twice * e[4],
        twice * e[5],
    ]
}

/// Elastic energy of a tetrahedron \[J\]; `moduli` are times its volume.
pub fn solid_energy<R: Real>(x: &[V3<R>; 4], rest: &RestInverse3<R>, moduli: [R; 2]) -> R {
    let e = green(&gradient3(x, rest));
    let s = stress(&e, moduli);
    let shear = s[3] * e[3] + s[4] * e[4] + s[5] * e[5];
    (s[0] * e[0] + s[1] * e[1] + s[2] * e[2] + shear + shear) * R::splat(0.5)
}

/// Forces of a tetrahedron on its vertices \[N\]. `damping` is the velocities of the vertices \[m/s\] and the
/// viscosity \[s\].
#[inline(always)]
pub fn solid_forces<R: Real>(
    x: &[V3<R>; 4],
    damping: Option<(&[V3<R>; 4], R)>,
    rest: &RestInverse3<R>,
    moduli: [R; 2],
    cap: R,
) -> [V3<R>; 4] {
    let f = gradient3(x, rest);
    let mut e = green(&f);
    if let Some((v, viscosity)) = damping {
        let (rate, half) = (gradient3(v, rest), viscosity * R::splat(0.5));
        for k in 0..3 {
            e[k] = e[k] + viscosity * dot(f[k], rate[k]);
        }
        e[3] = e[3] + half * (dot(f[1], rate[2]) + dot(f[2], rate[1]));
        e[4] = e[4] + half * (dot(f[0], rate[2]) + dot(f[2], rate[0]));
        e[5] = e[5] + half * (dot(f[0], rate[1]) + dot(f[1], rate[0]));
    }
    let shear = e[3] * e[3] + e[4] * e[4] + e[5] * e[5];
    let norm = (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + shear + shear).sqrt();
    let held = cap / norm.max(cap);
    let s = stress(&e, [moduli[0] * held, moduli[1] * held]);
    // P = F S; the force on corner i + 1 is −P times row i of the inverse.
    let symmetric = [[s[0], s[5], s[4]], [s[5], s[1], s[3]], [s[4], s[3], s[2]]];
    let mut p = [[R::splat(0.0); 3]; 3];
    for k in 0..3 {
        let [a, b, c] = symmetric[k];
        p[k] = add(add(scale(f[0], a), scale(f[1], b)), scale(f[2], c));
    }
    let mut forces = [[R::splat(0.0); 3]; 4];
    for i in 0..3 {
        let pull = add(add(scale(p[0], rest[0][i]), scale(p[1], rest[1][i])), scale(p[2], rest[2][i]));
        forces[i + 1] = scale(pull, R::splat(-1.0));
        forces[0] = add(forces[0], pull);
    }
    forces
}

/// What a batch holds of the tetrahedra of soft solids.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct SolidLanes {
    rest: [[f32; BATCH]; 9],
    moduli: [[f32; BATCH]; 2],
    viscosity: [f32; BATCH],
}

impl SolidLanes {
    #[inline(always)]
    fn rest<L: Lanes>(&self, at: usize) -> RestInverse3<L> {
        let m: [L; 9] = L::load_all(&self.rest, at);
        [[m[0], m[1], m[2]], [m[3], m[4], m[5]], [m[6], m[7], m[8]]]
    }
}

impl Element<4> for SolidElement {
    type Lanes = SolidLanes;

    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> SolidLanes {
        SolidLanes {
            rest: std::array::from_fn(|k| lanes_of(numbers, 0.0, |e| elements[e].rest[k / 3][k % 3])),
            moduli: [0, 1].map(|k| lanes_of(numbers, 0.0, |e| elements[e].moduli[k])),
            viscosity: lanes_of(numbers, 0.0, |e| elements[e].viscosity),
        }
    }
}

/// Strains beyond the cap are norms of Green's.
impl ForceLanes<4> for SolidLanes {
    #[inline(always)]
    fn forces<L: Lanes>(
        &self,
        at: usize,
        x: &[V3<L>; 4],
        v: Option<&[V3<L>; 4]>,
        scaled: &Scaled<L>,
    ) -> [V3<L>; 4] {
        let rest = self.rest::<L>(at);
        let [lambda, mu]: [L; 2] = L::load_all(&self.moduli, at);
        let moduli = [lambda * scaled.softening, mu * scaled.softening];
        match v {
            None => solid_forces(x, None, &rest, moduli, scaled.cap),
            Some(v) => solid_forces(x, Some((v, L::load(&self.viscosity, at))), &rest, moduli, scaled.cap),
        }
    }
}

/// Gershgorin's bound, which is exact at rest.
impl Measure<SolidLanes, 4> for LargestStretch {
    #[inline(always)]
    fn measure<L: Lanes>(&self, data: &SolidLanes, at: usize, x: &[V3<L>; 4]) -> L {
        let f = gradient3(x, &data.rest::<L>(at));
        let [xx, yy, zz] = [dot(f[0], f[0]), dot(f[1], f[1]), dot(f[2], f[2])];
        let [xy, xz, yz] = [dot(f[0], f[1]).abs(), dot(f[0], f[2]).abs(), dot(f[1], f[2]).abs()];
        (xx + xy + xz).max(yy + xy + yz).max(zz + xz + yz)
    }
}

/// ω² of the stiffest mode that a tetrahedron can have by itself \[1/s²\], per unit of squared stretch: its
/// own stiffness against its own share of mass bounds the whole mesh (Irons and Treharne 1971).
pub fn solid_frequency(rest: &[[f64; 3]; 3], [lambda, mu]: [f64; 2], density: f64) -> f64 {
    let row = |i: usize| [0, 1, 2].map(|k| rest[k][i]);
    let rows = [row(0), row(1), row(2)];
    let first = [0, 1, 2].map(|k| -(rows[0][k] + rows[1][k] + rows[2][k]));
    // The trace bounds the largest eigenvalue of Σ b bᵀ.
    let largest: f64 = [first, rows[0], rows[1], rows[2]].iter().flatten().map(|b| b * b).sum();
    // The moduli's largest eigenvalue on symmetric matrices is 3 λ + 2 μ or 2 μ; a quarter of the mass is at
    // each corner.
    4.0 * (3.0 * lambda.max(0.0) + 2.0 * mu) * largest / density
}
