//! Grips as a term (T5): corners of gripped points are heavier, and have targets
//! ([`grip`](crate::boundary::grip)).
//!
//! They need no dual: limits take precedence. Their weight is added to the diagonal of the matrix, like that
//! of contacts.

use std::sync::Arc;

use super::{Block, Iteration, Outcome, Scene, Stage, Step, Term};
use crate::{
    boundary::grip::Gripped,
    kernel::lanes::Quad,
    solve::nearest::{
        filter::Filter,
        ramp::{Opening, Ramp, Tightness},
        tuning::{GRIP_GIVES_WAY_EVERY, GRIP_GIVES_WAY_FROM},
    },
};

/// Number of grips without allocation.
const ROOM: usize = 16;

/// Points that a pointer pulls, for a filter of `count` vertices. Users grip and release during the run.
#[derive(Clone, Copy, Debug)]
pub struct Gripping {
    /// Number of vertices of the filter.
    pub count: usize,
}

impl Block for Gripping {
    fn name(&self) -> &'static str {
        "grips"
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(GripTerm { own: Vec::with_capacity(ROOM), heavier: vec![0.0; self.count], first: 0 })
    }
}

/// Grips on the bodies of one filter in this step.
#[derive(Debug)]
struct GripTerm {
    own: Vec<Gripped>,
    /// By vertex: added weight in units of its mass.
    heavier: Vec<f32>,
    /// The filter's first vertex.
    first: usize,
}

impl Term for GripTerm {
    fn prepare(&mut self, scene: &Scene, filter: &Filter) {
        self.first = filter.vertices.start;
        self.own.clear();
        self.own.extend(scene.grips.of(filter.vertices.clone()));
    }

    fn set_goal(&self, filter: &Filter, goal: &mut [Quad]) {
        for (v, _, [from, _]) in self.own.iter().flat_map(Gripped::corners) {
            goal[filter.stand_in(v - self.first)][..3].copy_from_slice(&from.to_array());
        }
    }

    fn allows_finish(&self) -> bool {
        true
    }

    /// What is gripped follows its pointer more slowly through the stages of cloth with limits.
    fn opening(&self, step: &Step, _x: &[Quad]) -> Option<Opening> {
        let is_cloth = step.filter.strain.is_implicit() && !step.filter.has_tetrahedra();
        (is_cloth && !self.own.is_empty()).then(|| Ramp::opening_implicit(step, Tightness::Free))
    }

    fn weigh(&mut self, step: &Step, _stage: &Stage, diagonal: &mut [f32]) {
        if self.own.is_empty() {
            return;
        }
        self.heavier.fill(0.0);
        for (v, heavier, _) in self.own.iter().flat_map(Gripped::corners) {
            self.heavier[step.filter.stand_in(v - self.first)] += heavier;
        }
        for ((d, heavier), mass) in diagonal.iter_mut().zip(&self.heavier).zip(&step.filter.masses) {
            *d += mass * heavier;
        }
    }

    fn pull(&mut self, step: &Step, x: &[Quad], _stage: &Stage, r: &mut [Quad]) {
        for (v, heavier, [_, to]) in self.own.iter().flat_map(Gripped::corners) {
            let i = step.filter.stand_in(v - self.first);
            for k in 0..3 {
                r[i][k] += step.filter.masses[i] * heavier * (to[k] - x[i][k]);
            }
        }
    }

    fn give_way(&mut self, _step: &Step, iteration: Iteration) -> bool {
        let Iteration { number, within } = iteration;
        if within || number < GRIP_GIVES_WAY_FROM || !number.is_multiple_of(GRIP_GIVES_WAY_EVERY) {
            return false;
        }
        let mut weaker = false;
        for gripped in &mut self.own {
            weaker |= gripped.give_way();
        }
        weaker
    }

    fn report(&self, filter: &Filter, outcome: &mut Outcome) {
        for (gripped, own) in outcome.grips.of_mut(filter.vertices.clone()).zip(&self.own) {
            *gripped = *own;
        }
    }
}
