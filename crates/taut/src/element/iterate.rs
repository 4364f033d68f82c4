//! Ways through the elements of a mesh, generic over what they are (W5).
//!
//! [`sweep`] is coloured Gauss–Seidel: colours one after the other in random order, their batches over lanes
//! and threads. It converges like the randomised serial one ([`serial`], the paper's own way: one element at
//! a time, in a random order anew each iteration) at an eighth of the cost. A fixed order of colours would
//! pull a symmetric sheet to one side, so the order is shuffled before every sweep. [`accumulate`] is one
//! Jacobi iteration: all elements from the same positions.

use super::{LimitLanes, Limited};
use crate::{
    Projection,
    exec::colored::{Colored, Corners, Kernel, Measure},
    kernel::{
        lanes::{Lanes, Quad},
        random::Random,
        real::{V3, add},
    },
    limit::Settings,
};

/// Projects elements in lanes; `SHARED`: with their weights in a Jacobi iteration.
struct Project<const PAPER: bool, const SHARED: bool> {
    relaxation: f32,
}

impl<D: LimitLanes<K>, const K: usize, const PAPER: bool, const SHARED: bool> Kernel<D, K>
    for Project<PAPER, SHARED>
{
    type Beside = ();

    #[inline(always)]
    fn apply<L: Lanes>(
        &self,
        data: &D,
        (): &mut (),
        at: usize,
        corners: &Corners<L, K>,
        worst: &mut L,
    ) -> Option<[V3<L>; K]> {
        let mut relaxation = L::splat(self.relaxation);
        if SHARED {
            relaxation = relaxation * data.share(at);
        }
        data.project::<L, PAPER>(at, corners, relaxation, worst)
    }
}

/// Measures how far elements are past their limits.
struct Residual;

impl<D: LimitLanes<K>, const K: usize> Measure<D, K> for Residual {
    #[inline(always)]
    fn measure<L: Lanes>(&self, data: &D, at: usize, x: &[V3<L>; K]) -> L {
        data.residual(at, x)
    }
}

/// What belongs to each batch where nothing does. It takes no memory.
pub(crate) fn nothing_beside(count: usize) -> Vec<()> {
    vec![(); count]
}

/// One sweep over all elements of a set. `order` is scratch. Gives the largest residual met on the way.
pub fn sweep<D: LimitLanes<K> + Sync, const K: usize>(
    settings: &Settings,
    colored: &Colored<D, K>,
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    let &Settings { projection, relaxation, .. } = settings;
    let mut beside = nothing_beside(colored.batch_count());
    shuffled(order, colored.color_count(), random);
    order.iter().fold(0.0, |worst, &color| {
        let (exec, color) = (settings.exec(), color as usize);
        worst.max(match projection {
            Projection::Gradient => {
                colored.sweep_color(exec, color, x, &mut beside, &Project::<false, false> { relaxation })
            }
            Projection::Paper => {
                colored.sweep_color(exec, color, x, &mut beside, &Project::<true, false> { relaxation })
            }
        })
    })
}

/// Adds the weighted corrections of all elements of a set to `moves`. Gives the largest residual.
pub fn accumulate<D: LimitLanes<K> + Sync, const K: usize>(
    settings: &Settings,
    colored: &Colored<D, K>,
    x: &[Quad],
    moves: &mut [Quad],
) -> f32 {
    let &Settings { projection, relaxation, .. } = settings;
    let mut beside = nothing_beside(colored.batch_count());
    (0..colored.color_count()).fold(0.0, |worst, color| {
        let (exec, from) = (settings.exec(), (x, None));
        worst.max(match projection {
            Projection::Gradient => {
                let kernel = Project::<false, true> { relaxation };
                colored.accumulate_color(exec, color, from, moves, &mut beside, &kernel)
            }
            Projection::Paper => {
                let kernel = Project::<true, true> { relaxation };
                colored.accumulate_color(exec, color, from, moves, &mut beside, &kernel)
            }
        })
    })
}

/// The largest residual of all elements of a set; nothing moves.
pub fn residual<D: LimitLanes<K> + Sync, const K: usize>(
    settings: &Settings,
    colored: &Colored<D, K>,
    x: &[Quad],
) -> f32 {
    colored.measure(settings.exec(), x, &Residual)
}

/// One iteration over all elements, one at a time, on one thread and without lanes. `order` is scratch. Gives
/// the largest residual met on the way.
pub fn serial<E: Limited<K>, const K: usize>(
    settings: &Settings,
    elements: &[E],
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    let &Settings { projection, relaxation, .. } = settings;
    let mut worst = 0.0f32;
    shuffled(order, elements.len(), random);
    for &e in order.iter() {
        let element = &elements[e as usize];
        let vertices = element.vertices();
        let quads = vertices.map(|v| x[v as usize]);
        let p = quads.map(|q| [q[0], q[1], q[2]]);
        let (residual, moves) = element.project_one(&p, quads.map(|q| q[3]), projection, relaxation);
        worst = worst.max(residual);
        let Some(moves) = moves else { continue };
        for k in 0..K {
            x[vertices[k] as usize][..3].copy_from_slice(&add(p[k], moves[k]));
        }
    }
    worst
}

/// The numbers below `count` in random order.
pub(crate) fn shuffled(order: &mut Vec<u32>, count: usize, random: &mut Random) {
    order.clear();
    order.extend(0..count as u32);
    random.shuffle(order);
}
