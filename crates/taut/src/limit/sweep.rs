//! Coloured Gauss–Seidel: colours one after the other in random order, their batches over lanes and threads.
//!
//! It converges like the randomised serial one (W5) at an eighth of the cost. A fixed order of colours would
//! pull a symmetric sheet to one side, so the order is shuffled before every sweep.

use super::{
    Settings,
    bend::{BendBatch, SweepBends},
    colored::{Colored, SharedQuads},
    edge::{EdgeBatch, EdgeWork, SweepEdges},
    edge_pull::{PullEdges, PullWork, Pulls},
    strain_tetrahedron::{SweepTetrahedra, TetrahedronBatch},
    strain_triangle::{CheckStrain, LimitedBatch, SweepStrain},
};
use crate::{
    World,
    kernel::{
        lanes::{Quad, run},
        random::Random,
    },
};

/// Batches below which a colour is not shared between threads: about 2 µs of work.
pub(super) const GRAIN: usize = 16;

/// One sweep over all triangles of a world, those with limits along warp, weft and bias last, then over its
/// tetrahedra. Gives the largest residual met on the way.
pub(crate) fn sweep_elements(
    settings: &Settings,
    world: &World,
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    let plain = sweep_strain(settings, &world.strain, x, random, order);
    let woven = sweep_strain(settings, &world.woven, x, random, order);
    plain.max(woven).max(sweep_tetrahedra(settings, &world.tetrahedra, x, random, order))
}

/// One sweep over triangles. Gives the largest residual met on the way.
pub fn sweep_strain<B: LimitedBatch>(
    settings: &Settings,
    colored: &Colored<B>,
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    let &Settings { threads, lanes, projection, relaxation } = settings;
    let x = SharedQuads::new(x);
    shuffled(order, colored.colors.len(), random);
    order.iter().fold(0.0, |worst, &color| {
        let residual = threads.largest(colored.of(color as usize), GRAIN, |batches| {
            run(lanes, SweepStrain { batches, x, projection, relaxation })
        });
        worst.max(residual)
    })
}

/// One sweep over tetrahedra. Gives the largest residual met on the way.
pub fn sweep_tetrahedra(
    settings: &Settings,
    colored: &Colored<TetrahedronBatch>,
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    let &Settings { threads, lanes, projection, relaxation } = settings;
    let x = SharedQuads::new(x);
    shuffled(order, colored.colors.len(), random);
    order.iter().fold(0.0, |worst, &color| {
        let residual = threads.largest(colored.of(color as usize), GRAIN, |batches| {
            run(lanes, SweepTetrahedra { batches, x, work: EdgeWork::Sweep, projection, relaxation })
        });
        worst.max(residual)
    })
}

/// One sweep over all edges. Gives the largest residual met on the way.
pub fn sweep_edges(
    settings: &Settings,
    colored: &Colored<EdgeBatch>,
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    let &Settings { threads, lanes, relaxation, .. } = settings;
    let x = SharedQuads::new(x);
    shuffled(order, colored.colors.len(), random);
    order.iter().fold(0.0, |worst, &color| {
        let residual = threads.largest(colored.of(color as usize), GRAIN, |batches| {
            run(lanes, SweepEdges { batches, x, work: EdgeWork::Sweep, relaxation })
        });
        worst.max(residual)
    })
}

/// One sweep over all edges whose pulls are kept, colours in random order. Gives the largest residual met on
/// the way.
pub fn sweep_pulls(
    settings: &Settings,
    colored: &Colored<EdgeBatch>,
    pulls: &mut [Pulls],
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    shuffled(order, colored.colors.len(), random);
    order.iter().fold(0.0, |worst, &color| {
        let work = PullWork::Sweep(settings.relaxation);
        worst.max(pull_color(settings, colored, pulls, x, color as usize, work))
    })
}

/// Begins a step with the pulls that the last one ended with: most of them, all at once, from where vertices
/// are now. `moves` is scratch of the length of `x`.
pub fn begin_pulls(
    settings: &Settings,
    colored: &Colored<EdgeBatch>,
    pulls: &mut [Pulls],
    x: &mut [Quad],
    moves: &mut [Quad],
) {
    moves.fill([0.0; 4]);
    let sums = SharedQuads::new(moves);
    for color in 0..colored.colors.len() {
        pull_color(settings, colored, pulls, x, color, PullWork::Begin(sums));
    }
    for (x, moved) in x.iter_mut().zip(moves.iter()) {
        if moved[..3] != [0.0; 3] {
            for k in 0..3 {
                x[k] += moved[k];
            }
        }
    }
}

fn pull_color(
    settings: &Settings,
    colored: &Colored<EdgeBatch>,
    pulls: &mut [Pulls],
    x: &mut [Quad],
    color: usize,
    work: PullWork,
) -> f32 {
    let &Settings { threads, lanes, .. } = settings;
    let x = SharedQuads::new(x);
    let own = &mut pulls[colored.colors[color].clone()];
    threads.largest_beside(colored.of(color), own, GRAIN, |batches, pulls| {
        run(lanes, PullEdges { batches, pulls, x, work })
    })
}

/// One sweep over all hinges with limits. Gives the largest excess met on the way, as [`SweepBends`] does.
pub fn sweep_bends(
    settings: &Settings,
    colored: &Colored<BendBatch>,
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    let &Settings { threads, lanes, relaxation, .. } = settings;
    let x = SharedQuads::new(x);
    shuffled(order, colored.colors.len(), random);
    order.iter().fold(0.0, |worst, &color| {
        let excess = threads.largest(colored.of(color as usize), GRAIN, |batches| {
            run(lanes, SweepBends { batches, x, work: EdgeWork::Sweep, relaxation })
        });
        worst.max(excess)
    })
}

/// The largest excess of all hinges with limits; nothing moves.
pub fn bend_excess(settings: &Settings, hinges: &Colored<BendBatch>, x: &mut [Quad]) -> f32 {
    let &Settings { threads, lanes, .. } = settings;
    let x = SharedQuads::new(x);
    threads.largest(&hinges.batches, GRAIN, |batches| {
        run(lanes, SweepBends { batches, x, work: EdgeWork::Check, relaxation: 0.0 })
    })
}

/// The largest residual of all triangles, tetrahedra and edges of a world; nothing moves.
pub(crate) fn residual(settings: &Settings, world: &World, x: &mut [Quad]) -> f32 {
    let &Settings { threads, lanes, projection, .. } = settings;
    let x = SharedQuads::new(x);
    let World { strain, woven, tetrahedra, edges, .. } = world;
    let strain = threads.largest(&strain.batches, GRAIN, |batches| run(lanes, CheckStrain { batches, x }));
    let woven = threads.largest(&woven.batches, GRAIN, |batches| run(lanes, CheckStrain { batches, x }));
    let solid = threads.largest(&tetrahedra.batches, GRAIN, |batches| {
        run(lanes, SweepTetrahedra { batches, x, work: EdgeWork::Check, projection, relaxation: 0.0 })
    });
    strain.max(woven).max(solid).max(edge_residual(settings, edges, x))
}

/// The largest residual of some edges; nothing moves.
pub(crate) fn edge_residual(settings: &Settings, edges: &Colored<EdgeBatch>, x: SharedQuads) -> f32 {
    let &Settings { threads, lanes, .. } = settings;
    threads.largest(&edges.batches, GRAIN, |batches| {
        run(lanes, SweepEdges { batches, x, work: EdgeWork::Check, relaxation: 0.0 })
    })
}

fn shuffled(order: &mut Vec<u32>, count: usize, random: &mut Random) {
    order.clear();
    order.extend(0..count as u32);
    random.shuffle(order);
}
