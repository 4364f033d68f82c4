//! Hinge bending in the form of Bridson 2003 (W11).
//!
//! Force on vertex i: −2 k c (sin(θ/2) − sin(θ₀/2)) ∂θ/∂xᵢ with c = |e|²/(A₁ + A₂) of the rest shape, which
//! makes it the gradient of W = 2 k c (2 cos(θ₀/2) − 2 cos(θ/2) − (θ − θ₀) sin(θ₀/2)). For small bends W is ½
//! k c (θ − θ₀)², which on a mesh of equilateral triangles is the bending energy of a plate of flexural
//! rigidity k (Seung and Nelson 1988).
//!
//! Where a wing has collapsed to a quarter of its height or less, the force fades out with the square of the
//! height: ∂θ/∂x grows without bound there.

use super::fem::add_to;
use crate::{
    kernel::{
        dihedral::dihedral,
        lanes::{BATCH, Lanes, VertexOffset, Work},
        real::{Real, V3, scale},
    },
    limit::colored::{SharedQuads, lanes_of, offsets_of},
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
}

/// Bending energy of a hinge \[J\]; `stiffness` is k c.
pub fn hinge_energy(x: &[V3<f64>; 4], stiffness: f64, rest_sin_half: f64) -> f64 {
    let d = dihedral(x);
    let (theta, rest) = (2.0 * d.sin_half.atan2(d.cos_half), 2.0 * rest_sin_half.clamp(-1.0, 1.0).asin());
    let rest_cos_half = (1.0 - rest_sin_half * rest_sin_half).max(0.0).sqrt();
    2.0 * stiffness * (2.0 * rest_cos_half - 2.0 * d.cos_half - (theta - rest) * rest_sin_half)
}

/// Forces of a hinge on its vertices \[N\]. `heights` are a quarter of the wings' rest heights.
#[inline(always)]
pub fn hinge_forces<R: Real>(
    x: &[V3<R>; 4],
    stiffness: R,
    rest_sin_half: R,
    quarter_heights: [R; 2],
) -> [V3<R>; 4] {
    let one = R::splat(1.0);
    let d = dihedral(x);
    let fade = (d.heights[0] / quarter_heights[0]).min(d.heights[1] / quarter_heights[1]).min(one);
    let moment = R::splat(-2.0) * stiffness * (d.sin_half - rest_sin_half) * fade * fade;
    let g = d.gradient;
    [scale(g[0], moment), scale(g[1], moment), scale(g[2], moment), scale(g[3], moment)]
}

/// [`BATCH`] hinges side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct HingeBatch {
    vertices: [[VertexOffset; BATCH]; 4],
    stiffness: [f32; BATCH],
    rest_sin_half: [f32; BATCH],
    quarter_heights: [[f32; BATCH]; 2],
}

impl HingeBatch {
    /// Packs elements; lanes that are left get a hinge of the vertex `spare` without stiffness.
    pub fn pack(indices: &[u32], elements: &[HingeElement], spare: u32) -> Self {
        Self {
            vertices: [0, 1, 2, 3].map(|k| offsets_of(indices, spare, |e| elements[e].vertices[k])),
            stiffness: lanes_of(indices, 0.0, |e| elements[e].stiffness),
            rest_sin_half: lanes_of(indices, 0.0, |e| elements[e].rest_sin_half),
            quarter_heights: [0, 1].map(|k| lanes_of(indices, 1.0, |e| 0.25 * elements[e].heights[k])),
        }
    }
}

/// Adds the forces of some batches of one colour.
pub struct AddHingeForces<'a> {
    /// Batches of one colour.
    pub batches: &'a [HingeBatch],
    /// Positions \[m\].
    pub x: SharedQuads,
    /// Where forces are summed \[N\].
    pub forces: SharedQuads,
    /// Factor on the stiffness.
    pub softening: f32,
}

impl Work for AddHingeForces<'_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        let softening = L::splat(self.softening);
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and elements of a colour share none.
                let x = unsafe { L::corners(self.x.base(), &batch.vertices, at) };
                let forces = hinge_forces(
                    &x,
                    L::load(&batch.stiffness, at) * softening,
                    L::load(&batch.rest_sin_half, at),
                    L::load_all(&batch.quarter_heights, at),
                );
                for k in 0..4 {
                    // SAFETY: as above.
                    unsafe { add_to(self.forces, &batch.vertices[k], at, forces[k]) };
                }
            }
        }
        0.0
    }
}

/// ω² of the stiffest mode that a hinge can have by itself \[1/s²\]; `masses` are the shares of its four
/// vertices' mass \[kg\]. Twice the Gauss–Newton part, for the curvature of θ itself.
pub fn hinge_frequency(x: &[V3<f64>; 4], stiffness: f64, masses: [f64; 4]) -> f64 {
    let d = dihedral(x);
    let sum: f64 = (0..4).map(|i| d.gradient[i].iter().map(|g| g * g).sum::<f64>() / masses[i]).sum();
    2.0 * stiffness * sum
}
