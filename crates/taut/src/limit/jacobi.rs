//! Jacobi iterations: all elements from the same positions, corrections summed with constant weights (W5).
//!
//! An element's whole correction is scaled by one weight, one over the largest number of elements at any of
//! its vertices: each correction keeps momentum, so their sum does, and no vertex is moved by more than an
//! average. (Dividing by the number of *active* corrections at each vertex loses momentum.)

use super::{
    Settings,
    bend::SweepBends,
    colored::SharedQuads,
    edge::{EdgeWork, SweepEdges},
    strain_tetrahedron::SweepTetrahedra,
    strain_triangle::AccumulateStrain,
    sweep::GRAIN,
};
use crate::{
    World,
    kernel::lanes::{Quad, run},
};

/// One iteration over all triangles, tetrahedra, edges and hinges with limits. `moves` is scratch of the
/// length of `x`. Gives the largest residual, and the largest excess of a bend.
pub(crate) fn iterate(settings: &Settings, world: &World, x: &mut [Quad], moves: &mut [Quad]) -> [f32; 2] {
    let &Settings { threads, lanes, projection, relaxation } = settings;
    let World { strain, woven, tetrahedra, edges, bends, .. } = world;
    moves.fill([0.0; 4]);
    let (mut worst, mut excess) = (0.0f32, 0.0f32);
    {
        let (x, moves) = (SharedQuads::new(x), SharedQuads::new(moves));
        for color in 0..strain.colors.len() {
            worst = worst.max(threads.largest(strain.of(color), GRAIN, |batches| {
                run(lanes, AccumulateStrain { batches, x, moves, projection, relaxation })
            }));
        }
        for color in 0..woven.colors.len() {
            worst = worst.max(threads.largest(woven.of(color), GRAIN, |batches| {
                run(lanes, AccumulateStrain { batches, x, moves, projection, relaxation })
            }));
        }
        for color in 0..tetrahedra.colors.len() {
            let work = EdgeWork::Accumulate(moves);
            worst = worst.max(threads.largest(tetrahedra.of(color), GRAIN, |batches| {
                run(lanes, SweepTetrahedra { batches, x, work, projection, relaxation })
            }));
        }
        for color in 0..edges.colors.len() {
            worst = worst.max(threads.largest(edges.of(color), GRAIN, |batches| {
                run(lanes, SweepEdges { batches, x, work: EdgeWork::Accumulate(moves), relaxation })
            }));
        }
        for color in 0..bends.colors.len() {
            excess = excess.max(threads.largest(bends.of(color), GRAIN, |batches| {
                run(lanes, SweepBends { batches, x, work: EdgeWork::Accumulate(moves), relaxation })
            }));
        }
    }
    for (x, moved) in x.iter_mut().zip(moves.iter()) {
        for k in 0..3 {
            x[k] += moved[k];
        }
    }
    [worst, excess]
}

/// The weight of each element: one over the largest number of elements at one of its vertices.
pub fn shares<const K: usize>(vertex_count: usize, elements: &[[u32; K]]) -> Vec<f32> {
    let mut counts = vec![0u32; vertex_count];
    for &v in elements.iter().flatten() {
        counts[v as usize] += 1;
    }
    elements.iter().map(|e| 1.0 / e.iter().map(|&v| counts[v as usize]).max().unwrap_or(1) as f32).collect()
}
