//! What the solve of one filter remembers, and the two things it does with all terms at once: gather their
//! pulls, and weigh them in the matrix.

use super::{filter::Filter, tuning::VERTEX_GRAIN};
use crate::{
    hierarchy::multigrid::Cycle,
    kernel::lanes::Quad,
    limit::{Settings, enforce::Enforced},
    term::{Stage, Step, Term, corners::Pulling},
};

/// Most terms of a filter whose pulls wait at corners of elements.
const MOST_PULLING: usize = 8;

/// Memory that the solve of one filter needs, kept between steps.
#[derive(Debug)]
pub struct Memory {
    /// Its terms, in the order in which they are called.
    pub terms: Vec<Box<dyn Term>>,
    /// Number of floats that each of them keeps.
    pub(super) kept: Vec<usize>,
    pub(super) goal: Vec<Quad>,
    /// Factor on the mass of each vertex in this step.
    pub(super) inertia: Vec<f32>,
    /// What terms add to the diagonal of the matrix, by vertex.
    diagonal: Vec<f32>,
    /// Vertices that touch something.
    pub(super) touched: Vec<bool>,
    /// Vertices that are pushed out of obstacles, and from where, in case it does not work out.
    moved: Vec<(u32, Quad)>,
    pub(super) cycle: Cycle,
    /// How the last step ended.
    pub ended: Enforced,
}

impl Memory {
    /// Memory for `filter`.
    pub fn new(filter: &Filter) -> Self {
        let count = filter.vertices.len();
        let terms: Vec<_> = filter.blocks.iter().map(|block| block.clone().term()).collect();
        let x = vec![[0.0; 4]; count];
        let pulling = terms.iter().filter(|term| term.pulling(&x).is_some()).count();
        assert!(pulling <= MOST_PULLING, "{pulling} terms pull at corners; make MOST_PULLING larger");
        Self {
            terms,
            kept: filter.blocks.iter().map(|block| block.kept()).collect(),
            goal: vec![[0.0; 4]; count],
            inertia: vec![1.0; count],
            diagonal: vec![0.0; count],
            touched: vec![false; count],
            moved: Vec::with_capacity(count),
            cycle: filter.multigrid.scratch(),
            ended: Enforced::default(),
        }
    }

    /// Tolerance of a step that may end with `tolerance`, with what terms ask for; 0 stays 0.
    pub(super) fn tolerance(&self, tolerance: f32) -> f32 {
        let factor = self.terms.iter().map(|term| term.tolerance_factor()).fold(1.0, f32::min);
        let least = self.terms.iter().map(|term| term.least_tolerance()).fold(0.0, f32::max);
        if tolerance > 0.0 { (tolerance * factor).max(least) } else { 0.0 }
    }

    /// The least number of iterations: `others`, or more if a term asks for it.
    pub(super) fn least_iterations(&self, step: &Step, others: u32) -> u32 {
        self.terms.iter().map(|term| term.least_iterations(step)).fold(others, u32::max)
    }

    /// Whether contact is settled enough to end the step at `x`. Where all limits are `met`, vertices that
    /// are a little too deep in obstacles are pushed out, if what they belong to stays within its limits: the
    /// last ones come out slowly by themselves.
    pub(super) fn is_settled(&mut self, step: &Step, x: &mut [Quad], met: bool) -> bool {
        let Self { terms, moved, .. } = self;
        if !met {
            return terms.iter().all(|term| term.is_settled(step));
        }
        moved.clear();
        let is_within = terms.iter().all(|term| term.push_out(step, x, moved))
            && terms.iter().all(|term| term.is_within(step, x, moved));
        if !is_within {
            moved.iter().for_each(|&(v, from)| x[v as usize] = from);
        }
        is_within
    }

    /// Takes only a part of the residual where there is `stiffening` times the stiffness that the matrix has:
    /// its whole answer would be too much.
    pub(super) fn soften(&mut self, stiffening: f32) {
        if stiffening > 1.0 {
            let part = 1.0 / stiffening;
            self.cycle.residual().as_flattened_mut().iter_mut().for_each(|r| *r *= part);
        }
    }

    /// Calls `f` of each term with its part of what all of them keep.
    pub(super) fn each_kept(&mut self, kept: &mut [f32], mut f: impl FnMut(&mut dyn Term, &mut [f32])) {
        let mut rest = kept;
        for (term, &count) in self.terms.iter_mut().zip(&self.kept) {
            let (own, others) = rest.split_at_mut(count);
            f(term.as_mut(), own);
            rest = others;
        }
    }
}

impl Filter {
    /// r: the way to the goal, and the pulls at corners of elements, vertex by vertex in a fixed order.
    pub(super) fn gather(&self, settings: &Settings, x: &[Quad], memory: &mut Memory) {
        let Memory { terms, goal, inertia, cycle, .. } = memory;
        let mut all = [None; MOST_PULLING];
        let mut count = 0;
        for pulling in terms.iter().filter_map(|term| term.pulling(x)) {
            all[count] = Some(pulling);
            count += 1;
        }
        let all: &[Option<Pulling>] = &all[..count];
        settings.threads.each(cycle.residual(), VERTEX_GRAIN, |first, part| {
            for (k, r) in part.iter_mut().enumerate() {
                let i = first + k;
                let mass = self.masses[i] * inertia[i];
                *r = [0.0; 4];
                if mass > 0.0 || self.means.is_mean(i) {
                    let mut sum = [0.0; 4];
                    for k in 0..3 {
                        sum[k] = mass * (goal[i][k] - x[i][k]);
                    }
                    all.iter().flatten().for_each(|pulling| pulling.add(i, &mut sum));
                    *r = sum;
                }
            }
        });
    }

    /// Moves `x` by about the answer to the residual.
    pub(super) fn follow(&self, step: &Step, stage: &Stage, x: &mut [Quad], memory: &mut Memory) {
        self.means.hand_on(memory.cycle.residual(), &self.masses);
        memory.soften(step.stiffening);
        self.multigrid.cycle(step.settings.threads, &mut memory.cycle, x);
        for term in &mut memory.terms {
            term.after_cycle(step, stage, &mut memory.cycle, x);
        }
        self.means.follow(x);
    }

    /// Takes the matrices of a stage of the ramp, with the weights of all terms.
    pub(super) fn weigh(&self, step: &Step, stage: &Stage, memory: &mut Memory) {
        let Memory { terms, diagonal, cycle, .. } = memory;
        diagonal.fill(0.0);
        terms.iter_mut().for_each(|term| term.weigh(step, stage, diagonal));
        self.multigrid.choose(cycle, stage.index, |i| diagonal[i]);
    }
}
