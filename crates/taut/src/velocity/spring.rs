//! Edge membrane energy (T2; Eq. 2 of the second paper): W = k (1 − |x|/L)² L of each edge, L its length at
//! rest.
//!
//! The paper leaves k to the user. Here each edge has K = 2 k = Y (A₁ + A₂) / L, with Y the stretch stiffness
//! of the material and A the areas of the triangles beside it: on equilateral triangles the network then
//! stretches like a sheet of that stiffness (with Poisson's ratio ⅓, which a network of springs has by
//! nature), whatever the size of its triangles.

use crate::{
    element::{
        Element,
        force::{ForceLanes, Scaled},
    },
    exec::batch::lanes_of,
    kernel::{
        lanes::{BATCH, Lanes},
        real::{Real, V3, dot, scale, sub},
    },
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

/// What a batch holds of edges.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct SpringLanes {
    rest: [f32; BATCH],
    stiffness: [f32; BATCH],
    viscosity: [f32; BATCH],
}

impl Element<2> for SpringElement {
    type Lanes = SpringLanes;

    fn vertices(&self) -> [u32; 2] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> SpringLanes {
        SpringLanes {
            rest: lanes_of(numbers, 1.0, |e| elements[e].rest),
            stiffness: lanes_of(numbers, 0.0, |e| elements[e].stiffness),
            viscosity: lanes_of(numbers, 0.0, |e| elements[e].viscosity),
        }
    }
}

impl ForceLanes<2> for SpringLanes {
    #[inline(always)]
    fn forces<L: Lanes>(
        &self,
        at: usize,
        x: &[V3<L>; 2],
        v: Option<&[V3<L>; 2]>,
        scaled: &Scaled<L>,
    ) -> [V3<L>; 2] {
        let damping = v.map(|v| (*v, L::load(&self.viscosity, at)));
        let stiffness = L::load(&self.stiffness, at) * scaled.softening;
        let force = spring_force(*x, damping, L::load(&self.rest, at), stiffness, scaled.cap);
        [scale(force, L::splat(-1.0)), force]
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
