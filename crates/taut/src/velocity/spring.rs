//! Edge membrane energy (T2; Eq. 2 of the second paper): W = k (1 − |x|/L)² L of each edge, L its length at
//! rest.
//!
//! The paper leaves k to the user. Here each edge has K = 2 k = Y (A₁ + A₂) / L, with Y the stretch stiffness
//! of the material and A the areas of the triangles beside it: on equilateral triangles the network then
//! stretches like a sheet of that stiffness (with Poisson's ratio ⅓, which a network of springs has by
//! nature), whatever the size of its triangles.

use super::fem::add_to;
use crate::{
    kernel::{
        lanes::{BATCH, Lanes, VertexOffset, Work},
        real::{Real, V3, dot, scale, sub},
    },
    limit::colored::{SharedQuads, lanes_of, offsets_of},
};

/// One edge.
#[derive(Clone, Copy, Debug)]
pub struct SpringElement {
    /// Vertices.
    pub vertices: [u32; 2],
    /// Length at rest \[m\].
    pub rest: f32,
    /// K: tension per strain \[N\].
    pub stiffness: f32,
    /// Time constant of its damping \[s\].
    pub viscosity: f32,
}

/// An edge as the certificate measures it, in the caller's vertex order.
#[derive(Clone, Copy, Debug)]
pub struct RestSpring {
    /// Vertices.
    pub vertices: [u32; 2],
    /// Length at rest \[m\].
    pub rest: f64,
    /// K \[N\].
    pub stiffness: f64,
}

/// K of an edge of length `rest` \[m\] beside triangles of `area` \[m²\] in all, of cloth with stretch
/// stiffness `stretch` \[N/m\].
pub fn spring_stiffness(stretch: f64, area: f64, rest: f64) -> f64 {
    stretch * area / rest
}

/// Energy of an edge \[J\].
pub fn spring_energy(x: [V3<f64>; 2], rest: f64, stiffness: f64) -> f64 {
    let d = sub(x[1], x[0]);
    let strain = dot(d, d).sqrt() / rest - 1.0;
    0.5 * stiffness * strain * strain * rest
}

/// Force of an edge on its second vertex \[N\]; on the first it is the opposite. `damping` is the velocities
/// of the vertices \[m/s\] and the viscosity \[s\]; tension does not grow beyond a strain of `cap`.
#[inline(always)]
pub fn spring_force<R: Real>(
    x: [V3<R>; 2],
    damping: Option<([V3<R>; 2], R)>,
    rest: R,
    stiffness: R,
    cap: R,
) -> V3<R> {
    let (one, tiny) = (R::splat(1.0), R::splat(1e-30));
    let d = sub(x[1], x[0]);
    let length = dot(d, d).sqrt();
    let mut strain = (length / rest - one).min(cap);
    if let Some((v, viscosity)) = damping {
        let rate = dot(sub(v[1], v[0]), d) / (length * rest).max(tiny);
        strain = (strain + viscosity * rate).min(cap).max(-cap);
    }
    // A collapsed edge has no direction, and pulls at nothing.
    scale(d, -(stiffness * strain / length.max(tiny)))
}

/// [`BATCH`] edges side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct SpringBatch {
    vertices: [[VertexOffset; BATCH]; 2],
    rest: [f32; BATCH],
    stiffness: [f32; BATCH],
    viscosity: [f32; BATCH],
}

impl SpringBatch {
    /// Packs elements; lanes that are left get an edge of the vertex `spare` without stiffness.
    pub fn pack(indices: &[u32], elements: &[SpringElement], spare: u32) -> Self {
        Self {
            vertices: [0, 1].map(|k| offsets_of(indices, spare, |e| elements[e].vertices[k])),
            rest: lanes_of(indices, 1.0, |e| elements[e].rest),
            stiffness: lanes_of(indices, 0.0, |e| elements[e].stiffness),
            viscosity: lanes_of(indices, 0.0, |e| elements[e].viscosity),
        }
    }
}

/// Adds the forces of some batches of one colour.
pub struct AddSpringForces<'a> {
    /// Batches of one colour.
    pub batches: &'a [SpringBatch],
    /// Positions \[m\].
    pub x: SharedQuads,
    /// Velocities \[m/s\], if any material is viscous.
    pub v: Option<SharedQuads>,
    /// Where forces are summed \[N\].
    pub forces: SharedQuads,
    /// Factor on the stiffness.
    pub softening: f32,
    /// Largest strain that makes tension.
    pub cap: f32,
}

impl Work for AddSpringForces<'_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        let (cap, softening) = (L::splat(self.cap), L::splat(self.softening));
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and elements of a colour share none.
                let x = unsafe { L::corners(self.x.base(), &batch.vertices, at) };
                let damping = match self.v {
                    None => None,
                    Some(v) => {
                        // SAFETY: as above.
                        let v = unsafe { L::corners(v.base(), &batch.vertices, at) };
                        Some((v, L::load(&batch.viscosity, at)))
                    }
                };
                let stiffness = L::load(&batch.stiffness, at) * softening;
                let force = spring_force(x, damping, L::load(&batch.rest, at), stiffness, cap);
                // SAFETY: as above.
                unsafe {
                    add_to(self.forces, &batch.vertices[1], at, force);
                    add_to(self.forces, &batch.vertices[0], at, scale(force, L::splat(-1.0)));
                }
            }
        }
        0.0
    }
}

/// ω² of the stiffest mode that an edge can have by itself \[1/s²\]: its stiffness against its share of mass.
/// Of each triangle's mass a third belongs to each vertex, and half of that to each edge there.
pub fn spring_frequency(stiffness: f64, rest: f64, area: f64, density: f64) -> f64 {
    12.0 * stiffness / (rest * density * area)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn forces_are_the_gradient_of_the_energy(
            x in prop::array::uniform2(prop::array::uniform3(-1.0f64..1.0)),
            rest in 0.3f64..1.5,
        ) {
            let d = sub(x[1], x[0]);
            prop_assume!(dot(d, d) > 0.01);
            let force = spring_force(x, None, rest, 7.0, 1e9);
            for k in 0..3 {
                let at = |step: f64| {
                    let mut moved = x;
                    moved[1][k] += step;
                    spring_energy(moved, rest, 7.0)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                prop_assert!((force[k] + slope).abs() < 1e-4 * (1.0 + slope.abs()), "{k}: {} {slope}", force[k]);
            }
        }
    }

    #[test]
    fn a_collapsed_edge_pulls_at_nothing() {
        let force = spring_force([[0.5f32; 3]; 2], Some(([[1.0, 0.0, 0.0], [0.0; 3]], 0.1)), 1.0, 7.0, 1.0);
        assert_eq!(force, [0.0; 3]);
    }
}
