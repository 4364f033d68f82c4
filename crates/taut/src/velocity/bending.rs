//! Hinge bending in the form of Bridson 2003 (W11).
//!
//! Force on vertex i: −2 k c (sin(θ/2) − sin(θ₀/2)) ∂θ/∂xᵢ with c = |e|²/(A₁ + A₂) of the rest shape, which
//! makes it the gradient of W = 2 k c (2 cos(θ₀/2) − 2 cos(θ/2) − (θ − θ₀) sin(θ₀/2)). For small bends W is ½
//! k c (θ − θ₀)², which on a mesh of equilateral triangles is the bending energy of a plate of flexural
//! rigidity k (Seung and Nelson 1988).
//!
//! Where a wing has collapsed to a quarter of its height or less, the force fades out with the square of the
//! height: ∂θ/∂x grows without bound there.
//!
//! Cloth of the edge model has the second paper's energy instead ([`angle_bending`](super::angle_bending)).

use super::angle_bending::{angle_energy, angle_moment};
use crate::{
    element::{
        Element,
        force::{ForceLanes, Scaled},
    },
    exec::batch::lanes_of,
    kernel::{
        dihedral::{Dihedral, dihedral},
        lanes::{BATCH, Lanes},
        real::{Real, V3, scale},
    },
};

/// One hinge.
#[derive(Clone, Copy, Debug)]
pub struct HingeElement {
    /// Edge, then wings.
    pub vertices: [u32; 4],
    /// k c \[N m\].
    pub stiffness: f32,
    /// sin(θ₀/2).
    pub rest_sin_half: f32,
    /// Whether the moment is that of the second paper.
    pub is_by_angle: bool,
    /// Rest heights of the two wings \[m\].
    pub heights: [f32; 2],
}

/// A hinge as the certificate measures it, in the caller's vertex order.
#[derive(Clone, Copy, Debug)]
pub struct RestHinge {
    /// Edge, then wings.
    pub vertices: [u32; 4],
    /// k c \[N m\].
    pub stiffness: f64,
    /// sin(θ₀/2).
    pub rest_sin_half: f64,
    /// Whether the energy is that of the second paper.
    pub is_by_angle: bool,
}

impl RestHinge {
    /// Bending energy at `x` \[J\].
    pub fn energy(&self, x: &[V3<f64>; 4]) -> f64 {
        if self.is_by_angle {
            angle_energy(x, self.stiffness, 2.0 * self.rest_sin_half.clamp(-1.0, 1.0).asin())
        } else {
            hinge_energy(x, self.stiffness, self.rest_sin_half)
        }
    }
}

/// Bending energy of a hinge \[J\]; `stiffness` is k c.
pub fn hinge_energy(x: &[V3<f64>; 4], stiffness: f64, rest_sin_half: f64) -> f64 {
    let d = dihedral(x);
    let (theta, rest) = (2.0 * d.sin_half.atan2(d.cos_half), 2.0 * rest_sin_half.clamp(-1.0, 1.0).asin());
    let rest_cos_half = (1.0 - rest_sin_half * rest_sin_half).max(0.0).sqrt();
    2.0 * stiffness * (2.0 * rest_cos_half - 2.0 * d.cos_half - (theta - rest) * rest_sin_half)
}

/// Moment of a hinge \[N m\]: −∂W/∂θ.
#[inline(always)]
pub fn sine_moment<R: Real>(d: &Dihedral<R>, stiffness: R, rest_sin_half: R) -> R {
    R::splat(-2.0) * stiffness * (d.sin_half - rest_sin_half)
}

/// Forces of a hinge with this `moment` \[N m\] on its vertices \[N\]. `quarter_heights` are a quarter of the
/// wings' rest heights.
#[inline(always)]
pub fn hinge_forces<R: Real>(
    x: &[V3<R>; 4],
    moment: impl FnOnce(&Dihedral<R>) -> R,
    quarter_heights: [R; 2],
) -> [V3<R>; 4] {
    let d = dihedral(x);
    let fade = (d.heights[0] / quarter_heights[0]).min(d.heights[1] / quarter_heights[1]).min(R::splat(1.0));
    let moment = moment(&d) * fade * fade;
    let g = d.gradient;
    [scale(g[0], moment), scale(g[1], moment), scale(g[2], moment), scale(g[3], moment)]
}

/// What a batch holds of hinges.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct HingeLanes {
    stiffness: [f32; BATCH],
    rest_sin_half: [f32; BATCH],
    /// The rest angle \[rad\] of those with the second paper's moment; [`BY_SINE`] of others.
    rest_angle: [f32; BATCH],
    quarter_heights: [[f32; BATCH]; 2],
}

/// No angle \[rad\]: the moment is that of Bridson 2003.
const BY_SINE: f32 = 100.0;

impl Element<4> for HingeElement {
    type Lanes = HingeLanes;

    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> HingeLanes {
        HingeLanes {
            stiffness: lanes_of(numbers, 0.0, |e| elements[e].stiffness),
            rest_sin_half: lanes_of(numbers, 0.0, |e| elements[e].rest_sin_half),
            rest_angle: lanes_of(numbers, BY_SINE, |e| {
                let rest = f64::from(elements[e].rest_sin_half).clamp(-1.0, 1.0);
                if elements[e].is_by_angle { 2.0 * rest.asin() as f32 } else { BY_SINE }
            }),
            quarter_heights: [0, 1].map(|k| lanes_of(numbers, 1.0, |e| 0.25 * elements[e].heights[k])),
        }
    }
}

/// Without a cap and without viscosity.
impl ForceLanes<4> for HingeLanes {
    #[inline(always)]
    fn forces<L: Lanes>(
        &self,
        at: usize,
        x: &[V3<L>; 4],
        _v: Option<&[V3<L>; 4]>,
        scaled: &Scaled<L>,
    ) -> [V3<L>; 4] {
        let stiffness = L::load(&self.stiffness, at) * scaled.softening;
        let rest_angle = L::load(&self.rest_angle, at);
        let is_by_angle = rest_angle.lt(L::splat(BY_SINE));
        let moment = |d: &Dihedral<L>| {
            let by_sine = sine_moment(d, stiffness, L::load(&self.rest_sin_half, at));
            if !L::any(is_by_angle) {
                return by_sine;
            }
            L::select(is_by_angle, angle_moment(d, stiffness, rest_angle), by_sine)
        };
        hinge_forces(x, moment, L::load_all(&self.quarter_heights, at))
    }
}

/// ω² of the stiffest mode that a hinge can have by itself \[1/s²\]; `masses` are the shares of its four
/// vertices' mass \[kg\]. Twice the Gauss–Newton part, for the curvature of θ itself.
pub fn hinge_frequency(x: &[V3<f64>; 4], stiffness: f64, masses: [f64; 4]) -> f64 {
    let d = dihedral(x);
    let sum: f64 = (0..4).map(|i| d.gradient[i].iter().map(|g| g * g).sum::<f64>() / masses[i]).sum();
    2.0 * stiffness * sum
}
