//! All filters of a world in one step.

use std::ops::Range;

use glam::Vec3;

use super::{
    filter::Filter,
    memory::Memory,
    stop::Stop,
    tuning::{SHARING_COST, SHORT_STEP, VERTEX_GRAIN},
};
use crate::{
    World,
    boundary::obstacle_contacts::ObstacleContacts,
    boundary::seam::Sewn,
    contact::touching::Touching,
    kernel::lanes::Quad,
    limit::{
        Settings,
        enforce::{Draft, Enforced, bend_bound},
    },
    schedule::StepBudget,
    term::{Outcome, Scene, obstacle::Surroundings},
    world::Pace,
};

/// Memory of all filters of a world, and which tables are in force: they change with the vertices that are
/// held, and when seams close.
#[derive(Debug, Default)]
pub struct Filters {
    /// Number of the length of steps among the world's.
    pace: usize,
    memories: Vec<Memory>,
    /// What takes the place of each of the world's filters while other vertices are held than at the start.
    holding: Vec<Option<Filter>>,
    /// Whether the seams of each are closed.
    closed: Vec<bool>,
    /// The vertices of each, and its part of what is kept.
    parts: Vec<[Range<usize>; 2]>,
}

impl Filters {
    /// Memory for steps of length number `pace` of `world`.
    pub fn new(world: &World, pace: usize) -> Self {
        let filters = &world.paces[pace].filters;
        Self {
            pace,
            memories: filters.iter().map(Memory::new).collect(),
            holding: vec![None; filters.len()],
            closed: vec![false; filters.len()],
            parts: Vec::with_capacity(filters.len()),
        }
    }

    /// Its tables, open and welded.
    fn tables<'a>(
        &self,
        world: &'a World,
    ) -> impl Iterator<Item = (&'a Filter, &'a Option<Filter>)> + use<'a> {
        let Pace { filters, welded, .. } = &world.paces[self.pace];
        filters.iter().zip(welded)
    }

    /// Takes the limits of `world`, which have changed, into tables and terms. Between steps a term has
    /// nothing that is not among what is kept.
    pub fn take_limits(&mut self, world: &World) {
        for (k, (open, welded)) in self.tables(world).enumerate() {
            let base = welded.as_ref().filter(|_| self.closed[k]).unwrap_or(open);
            if let Some(holding) = &mut self.holding[k] {
                holding.take_limits(base);
            }
            self.memories[k] = Memory::new(base);
        }
    }

    /// Whether it is memory for `world`.
    pub fn fits(&self, world: &World) -> bool {
        self.memories.len() == world.paces[self.pace].filters.len()
    }

    /// Takes the tables for the vertices that are held now: those with no inverse mass in `x`. Allocates only
    /// where they are others than before.
    pub fn hold(&mut self, world: &World, x: &[Quad]) {
        for (k, (open, welded)) in self.tables(world).enumerate() {
            let closed = welded.is_some() && world.sewing.is_closed(&open.vertices, x);
            let base = welded.as_ref().filter(|_| closed).unwrap_or(open);
            if closed != self.closed[k] {
                // Between steps a term has nothing that is not among what is kept.
                self.memories[k] = Memory::new(base);
                self.closed[k] = closed;
            }
            let first = base.vertices.start;
            let held = |i: usize| {
                if closed {
                    base.stands_behind(i) || world.sewing.holds(first + i, x)
                } else {
                    x[first + i][3] <= 0.0
                }
            };
            let fits = |filter: &Filter| (0..filter.vertices.len()).all(|i| filter.holds(i) == held(i));
            let own = &mut self.holding[k];
            if fits(base) {
                *own = None;
            } else if !own.as_ref().is_some_and(|own| own.welds.is_empty() != closed && fits(own)) {
                *own = Some(base.holding(held));
            }
        }
    }

    /// The tables in force in place of the world's filter with number `k`, if there are others.
    pub fn in_place_of<'a>(&'a self, world: &'a World, k: usize) -> Option<&'a Filter> {
        let closed = self.closed.get(k).is_some_and(|closed| *closed);
        let welded = world.paces[self.pace].welded.get(k).and_then(Option::as_ref).filter(|_| closed);
        self.holding.get(k).and_then(Option::as_ref).or(welded)
    }

    /// Whether a seam is still open that will be one vertex once it is closed: filters change places between
    /// frames, and one that closes within a frame is still drawn together.
    pub fn has_open_seams(&self, world: &World) -> bool {
        self.tables(world).zip(&self.closed).any(|((_, welded), closed)| welded.is_some() && !closed)
    }

    /// Marks the vertices of `world` that touch something at the end of the last step.
    pub fn mark_touched(&self, world: &World, touched: &mut [bool]) {
        for (filter, memory) in world.paces[self.pace].filters.iter().zip(&self.memories) {
            let own = &mut touched[filter.vertices.clone()];
            memory.terms.iter().for_each(|term| term.mark_touched(own));
        }
    }

    /// Calls `add` with the vertices of `world` that the last step has put at places which single precision
    /// does not resolve, and with what is left out there \[m\].
    pub fn remainders(&self, world: &World, add: &mut dyn FnMut(usize, Vec3)) {
        for (filter, memory) in world.paces[self.pace].filters.iter().zip(&self.memories) {
            let first = filter.vertices.start;
            memory.terms.iter().for_each(|term| term.remainders(&mut |i, rest| add(first + i, rest)));
        }
    }

    /// Moves the bodies of all filters to about the nearest state within their limits.
    pub fn solve(
        &mut self,
        world: &World,
        settings: &Settings,
        draft: Draft,
        (obstacle_contacts, touching, sewn): (&ObstacleContacts, &[Touching], &Sewn),
        budget: StepBudget,
    ) -> Enforced {
        let Draft { x, old, duals, poses, grips, stiffening, old_v, inertia, springs } = draft;
        let pace = &world.paces[self.pace];
        let Self { memories, holding, closed, parts, .. } = self;
        let in_force = |k: usize| {
            let welded = pace.welded[k].as_ref().filter(|_| closed[k]);
            holding[k].as_ref().or(welded).unwrap_or(&pace.filters[k])
        };
        let scene = Scene {
            old,
            x,
            touching,
            sewing: &world.sewing,
            springs,
            sewn,
            grips,
            poses,
            near_obstacles: obstacle_contacts.candidates(),
            mean_mass: world.mean_mass(),
            dt: pace.dt,
            time: obstacle_contacts.end_time(),
            reach: 2.0 * world.edge_length,
        };
        let mut kept = 0;
        parts.clear();
        for (k, memory) in memories.iter_mut().enumerate() {
            let filter = in_force(k);
            memory.terms.iter_mut().for_each(|term| term.prepare(&scene, filter));
            let first = kept;
            kept += filter.kept_count();
            parts.push([filter.vertices.clone(), first..kept]);
        }
        let (obstacles, stop) = (&world.description.obstacles, stop(world, pace, budget, stiffening));
        // Filters know nothing of each other. Where every thread takes whole ones, the loops inside run where
        // they are.
        let whole = poses.is_empty() && is_best_whole(&pace.filters, settings.threads.count());
        settings.threads.each_with_parts(whole, memories, parts, (x, duals), |k, memory, x, kept| {
            let filter = in_force(k);
            let around = Surroundings { obstacles, obstacle_contacts, old: &old[filter.vertices.clone()] };
            if let Some(inertia) = inertia.get(filter.vertices.clone()) {
                memory.inertia.copy_from_slice(inertia);
            }
            let is_calm = filter.is_calm(old_v, world.description.gravity.length());
            let stop = Stop { is_calm, ..stop };
            memory.ended = filter.solve(settings, x, around, kept, memory, stop);
            filter.spread(x);
        });
        let mut enforced = Enforced { converged: true, ..Enforced::default() };
        let mut outcome = Outcome { grips, poses };
        for (k, memory) in memories.iter().enumerate() {
            memory.terms.iter().for_each(|term| term.report(in_force(k), &mut outcome));
            enforced = enforced.with(memory.ended);
        }
        enforced
    }
}

/// When filters end.
fn stop(world: &World, pace: &Pace, budget: StepBudget, stiffening: f32) -> Stop {
    let solver = &world.description.solver;
    // Without limits there is nothing else to end for.
    let all = world.schedule.is_implicit() && world.aim.tolerance <= 0.0;
    let least = if all { budget.iterations } else { pace.schedule.min_iterations };
    Stop {
        tolerance: world.aim.bound(),
        bend: bend_bound(solver.bend_tolerance),
        // Matrices that are made for other stiffness take longer.
        least: if stiffening > 1.0 { 2 * least } else { least },
        stiffening,
        is_calm: false,
        is_short: pace.dt < SHORT_STEP,
        iterations: budget.iterations,
        deadline: budget.deadline,
        min_iterations_past_deadline: budget.min_iterations_past_deadline,
    }
}

/// Whether `filters` are done sooner if each is done by one of `threads` threads than if all threads do one
/// after the other.
fn is_best_whole(filters: &[Filter], threads: usize) -> bool {
    let sizes = || filters.iter().map(|filter| filter.vertices.len());
    let (total, largest) = (sizes().sum::<usize>(), sizes().max().unwrap_or(0).max(1));
    let whole = largest * total.div_ceil(largest * threads);
    let shared = |size: usize| SHARING_COST * size as f32 / threads.min(size / VERTEX_GRAIN).max(1) as f32;
    (whole as f32) < sizes().map(shared).sum()
}
