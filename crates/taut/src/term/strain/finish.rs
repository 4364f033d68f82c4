//! The last few triangles, one by one.
//!
//! Most triangles are within their limits after a few iterations; many more go on the few at pins. Every
//! triangle around those has the tolerance to give, so a handful of projections settles them without
//! disturbing the rest: Gauss–Seidel over the triangles that are past the tolerance, and over those that
//! their vertices belong to. Momentum is kept, since each projection keeps it.

use super::{super::Step, Strain, StrainTerm};
use crate::{
    kernel::{
        lanes::{BATCH, Quad},
        real::add,
        strain::limit_strain_gradient,
    },
    solve::nearest::{
        filter::Filter,
        tuning::{FINISH_FEW, FINISH_LEAVES, FINISH_LONG, FINISH_MOVES, FINISH_PATIENCE},
    },
};

/// Memory of the last projections.
#[derive(Clone, Debug)]
pub struct Finish {
    /// Triangles to look at.
    waiting: Vec<u32>,
    /// Whether each is among those.
    queued: Vec<bool>,
    /// Vertices that were moved, and from where, in case it does not work out.
    moved: Vec<(u32, Quad)>,
}

impl Finish {
    /// For a body of `triangles`.
    pub fn new(triangles: usize) -> Self {
        Self {
            waiting: Vec::with_capacity(2 * triangles + 2000),
            queued: vec![false; triangles],
            moved: Vec::with_capacity(FINISH_MOVES),
        }
    }
}

impl StrainTerm {
    /// Brings the few triangles that are past the tolerance within it. Says whether that worked, and leaves
    /// `x` as it was if not; `worst` of each batch must have been measured at `x`. After a long time there
    /// may be ten times as many: they are stuck then.
    pub(super) fn settle_last(&mut self, step: &Step, x: &mut [Quad], iteration: u32) -> bool {
        let Self { tables, states, finish: Finish { waiting, queued, moved }, .. } = self;
        let (tolerance, long) = (step.tolerance, iteration >= FINISH_LONG);
        waiting.clear();
        moved.clear();
        for b in (0..states.len()).filter(|&b| states[b].worst > tolerance) {
            for lane in 0..BATCH.min(tables.count - b * BATCH) {
                let t = (b * BATCH + lane) as u32;
                if tables.residual_of(t, x) > tolerance {
                    waiting.push(t);
                    queued[t as usize] = true;
                }
            }
        }
        let few = waiting.len() as f64
            <= if long { 10.0 * FINISH_FEW } else { FINISH_FEW } * tables.count as f64 + 2.0;
        let mut left = if few { FINISH_PATIENCE * waiting.len() } else { 0 };
        let mut next = 0;
        while next < waiting.len() && left > 0 {
            let t = waiting[next];
            next += 1;
            queued[t as usize] = false;
            if tables.residual_of(t, x) > tolerance {
                left = if moved.len() + 6 > FINISH_MOVES { 0 } else { left - 1 };
                moved.extend(tables.vertices_of(t).map(|v| (v as u32, x[v])));
                tables.project(step.filter, t, x, FINISH_LEAVES * tolerance);
                for v in tables.vertices_of(t) {
                    for &corner in tables.corners.of(v) {
                        let other = triangle_of(corner);
                        if !queued[other as usize] {
                            queued[other as usize] = true;
                            waiting.push(other);
                        }
                    }
                }
            }
            if next == waiting.len() / 2 && next > 1000 {
                waiting.drain(..next);
                next = 0;
            }
        }
        let done = next == waiting.len() && moved.len() + 3 <= FINISH_MOVES;
        if !done {
            moved.iter().rev().for_each(|&(v, from)| x[v as usize] = from);
        }
        for &t in &waiting[next..] {
            queued[t as usize] = false;
        }
        done
    }
}

impl Strain {
    fn project(&self, filter: &Filter, t: u32, x: &mut [Quad], slack: f32) {
        let (vertices, rest) = (self.vertices_of(t), self.rest_of(t));
        let quads = vertices.map(|v| x[v]);
        let p = quads.map(|q| [q[0], q[1], q[2]]);
        let w = if filter.welds.is_empty() {
            quads.map(|q| q[3])
        } else {
            vertices.map(|v| filter.inverse_mass(v))
        };
        let projected = match self.weave_of(t) {
            None => limit_strain_gradient(&p, w, rest, self.range_of(t).widened(slack), 1.0),
            Some(weave) => limit_strain_gradient(&p, w, rest, weave.widened(slack), 1.0),
        };
        if let Some(projected) = projected {
            for k in 0..3 {
                x[vertices[k]][..3].copy_from_slice(&add(p[k], projected.moves[k]));
            }
        }
    }
}

/// The triangle that a place in the pulls belongs to.
pub(super) fn triangle_of(corner: u32) -> u32 {
    let (block, lane) = (corner as usize / BATCH, corner as usize % BATCH);
    (block / 3 * BATCH + lane) as u32
}
