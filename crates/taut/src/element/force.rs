//! Sums of the forces of elements at their vertices, generic over what they are.

use crate::{
    exec::{
        batch::xyz,
        colored::{Colored, Corners, Exec, Kernel},
    },
    kernel::{
        lanes::{Lanes, Quad},
        real::V3,
    },
};

use super::iterate::nothing_beside;

/// A batch of elements with forces.
pub trait ForceLanes<const K: usize> {
    /// Forces on the vertices of some lanes \[N\] at positions `x` \[m\] and velocities `v` \[m/s\], if these
    /// matter.
    fn forces<L: Lanes>(
        &self,
        at: usize,
        x: &[V3<L>; K],
        v: Option<&[V3<L>; K]>,
        scaled: &Scaled<L>,
    ) -> [V3<L>; K];
}

/// How a material is altered so that a step of some length stays stable.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<R> {
    /// Factor on the stiffness.
    pub softening: R,
    /// Strain beyond which stress stays constant.
    pub cap: R,
}

struct Forces(Scaled<f32>);

impl<D: ForceLanes<K>, const K: usize> Kernel<D, K> for Forces {
    type Beside = ();

    #[inline(always)]
    fn apply<L: Lanes>(
        &self,
        data: &D,
        (): &mut (),
        at: usize,
        corners: &Corners<L, K>,
        _worst: &mut L,
    ) -> Option<[V3<L>; K]> {
        let scaled = Scaled { softening: L::splat(self.0.softening), cap: L::splat(self.0.cap) };
        Some(data.forces(at, &xyz(&corners.quads), corners.second.as_ref(), &scaled))
    }
}

/// Adds the forces of all elements of a set to `forces` \[N\], at positions `x` \[m\] and, if any material is
/// viscous, velocities `v` \[m/s\].
pub fn add_forces<D: ForceLanes<K> + Sync, const K: usize>(
    exec: Exec,
    colored: &Colored<D, K>,
    (x, v): (&[Quad], Option<&[Quad]>),
    forces: &mut [Quad],
    scaled: Scaled<f32>,
) {
    accumulate(exec, colored, (x, v), forces, &Forces(scaled));
}

/// Adds what `kernel` gives for all elements of a set to `sums`, colour by colour.
pub fn accumulate<D: Sync, W: Kernel<D, K, Beside = ()>, const K: usize>(
    exec: Exec,
    colored: &Colored<D, K>,
    from: (&[Quad], Option<&[Quad]>),
    sums: &mut [Quad],
    kernel: &W,
) -> f32 {
    let mut beside = nothing_beside(colored.batch_count());
    (0..colored.color_count())
        .map(|color| colored.accumulate_color(exec, color, from, sums, &mut beside, kernel))
        .fold(0.0, f32::max)
}
