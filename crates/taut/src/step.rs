//! One step: the pipeline of the main paper's figure 2, box by box (`Stepper::step`).
//!
//! | box | where |
//! |---|---|
//! | velocity update, level 0 | [`velocity::update`](crate::velocity::update) |
//! | contact: what passes through is separated | [`contact::untangle`](crate::contact::untangle) |
//! | limiting, boundary conditions inside every iteration | [`limit::enforce`](crate::limit::enforce) |
//! | small pieces of torn cloth whose solve went astray | [`scraps`] |
//! | contact: what a step may not end with | [`contact::guard`](crate::contact::guard) |
//! | time: what a step that runs out of it, or is stopped, may not end with | [`cut_short`] |
//! | hair, strand by strand | [`strands`] |
//! | position update | [`boxes`], [`ObstacleContacts::respond`] |
//! | certificate | [`certify`](crate::certify), once a frame, by the caller |

mod alone;
mod boxes;
mod cut_short;
mod scraps;
mod strands;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::{
    Budget, Schedule, Scheme, State, World, WorldError,
    boundary::{
        attachment::Fit, hold::Hold, motion::Pose, obstacle_contacts::ObstacleContacts, rigid::RigidState,
    },
    collide::Collider,
    contact::{
        guard::Guard,
        untangle::{Piercings, Untangle},
    },
    exec::threads::Threads,
    kernel::{
        bend::excess_angle,
        lanes::{LaneKind, Quad},
    },
    limit::enforce::Scratch,
    schedule::StepBudget,
    solve::nearest::{filter::Filter, reference::Aim},
    world::Pace,
};
use alone::FrameStart;
use boxes::Span;
use cut_short::CutShort;
use scraps::Scraps;
use strands::StrandBox;

/// How often contacts are detected anew, at most, in a step that the guard would cut short. Limits break
/// where it does; with the contacts of the limited motion they seldom have to.
const MOST_NEW_DETECTIONS: u32 = 3;

/// How a frame went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameReport {
    /// Iterations of the limiter, over all steps of the frame.
    pub iterations: u32,
    /// Substeps of the velocity update, over all steps of the frame.
    pub substeps: u32,
    /// Whether every step ended within the tolerance.
    pub converged: bool,
    /// Largest residual past a limit at the end of the frame, as the limiter saw it.
    pub residual: f32,
    /// Largest excess past a bend limit at the end of the frame, as the limiter saw it \[°\].
    #[serde(default)]
    pub bend_excess: f32,
    /// Elements whose limits had given way at the end of the frame, because they could not be met.
    #[serde(default)]
    pub given_way: u32,
    /// Vertices that were stopped short because they would have passed through cloth, over all steps of the
    /// frame.
    #[serde(default)]
    pub stopped: u32,
    /// Edges that still pass through a triangle at the end of the frame, each counted with each such
    /// triangle: what is left of a tangled start, or what an obstacle forced on cloth that could not give
    /// way.
    #[serde(default)]
    pub tangled: u32,
    /// Springs that broke in the frame.
    #[serde(default)]
    pub broken: u32,
    /// Vertices that were split off because cloth tore, and strands that were cut.
    #[serde(default)]
    pub torn: u32,
    /// Strands of hair whose equilibrium was not found to the last, over all steps of the frame; their limits
    /// hold all the same.
    #[serde(default)]
    pub unsettled: u32,
    /// Vertices whose prediction was not a finite number and was put back.
    pub rescued: u32,
    /// Time spent in the velocity update \[ms\].
    pub velocity_ms: f32,
    /// Time spent limiting \[ms\].
    pub limit_ms: f32,
    /// Time spent on contact beside limiting: drawing apart what is tangled, and what a step may not end with
    /// \[ms\].
    #[serde(default)]
    pub contact_ms: f32,
    /// Time spent on the rest of the step \[ms\].
    pub position_ms: f32,
}

/// Scratch memory and threads that advance a [`State`]. Nothing is allocated after the first step.
#[derive(Debug)]
pub struct Stepper {
    threads: Threads,
    lanes: LaneKind,
    old: Vec<Quad>,
    old_v: Vec<Quad>,
    predicted: Vec<Quad>,
    predicted_v: Vec<Quad>,
    /// What limiting begins with: predictions, where tangles have been separated.
    drawn: Vec<Quad>,
    forces: Vec<Quad>,
    steady: Vec<Quad>,
    obstacle_contacts: ObstacleContacts,
    scratch: Scratch,
    /// Vertices that are held during the frame.
    holds: Vec<Hold>,
    /// Where rigid groups of them are at the end of the step.
    fits: Vec<Fit>,
    guard: Option<Guard>,
    /// Rigid bodies: where the step finds them, and where it takes them.
    poses: Vec<[Pose; 2]>,
    /// How they would fly.
    flown: Vec<RigidState>,
    collider: Collider,
    untangle: Untangle,
    /// Finds what passes through what.
    pierced: Piercings,
    /// Vertices and rigid bodies that were reset in the frame.
    rescued: [Vec<u32>; 2],
    /// Springs that broke in the frame.
    broken_springs: Vec<u32>,
    /// Vertices that something touches.
    touched: Vec<bool>,
    /// Factor on the mass of each vertex in this step, for an implicit integrator.
    inertia: Vec<f32>,
    /// Factor on stiffness in this step.
    stiffening: f32,
    /// What the frame began with.
    frame_start: FrameStart,
    /// Shortens steps whose time ran out.
    cut_short: CutShort,
    /// Small pieces of torn cloth.
    scraps: Scraps,
    /// Hair.
    strands: StrandBox,
}

impl Stepper {
    /// Prepares to step `world` with `threads` threads (0: one per core).
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(world: &World, threads: usize) -> Result<Self, WorldError> {
        Ok(Self::with_threads(world, Threads::new(threads)?, LaneKind::detect()))
    }

    fn with_threads(world: &World, threads: Threads, lanes: LaneKind) -> Self {
        let quads = || vec![[0.0; 4]; world.start.len()];
        let strands = StrandBox::new(world, threads.count());
        Self {
            threads,
            lanes,
            old: quads(),
            old_v: quads(),
            predicted: quads(),
            predicted_v: quads(),
            drawn: quads(),
            forces: quads(),
            steady: quads(),
            obstacle_contacts: ObstacleContacts::with_capacity(
                world.vertex_count,
                world.description.obstacles.len(),
            ),
            scratch: Scratch::new(world),
            holds: Vec::with_capacity(world.pins.len()),
            fits: Vec::with_capacity(world.rigid_groups.len()),
            guard: world.surface.as_ref().map(|_| Guard::new(&world.start)),
            poses: Vec::with_capacity(world.description.rigid_bodies.len()),
            flown: Vec::with_capacity(world.description.rigid_bodies.len()),
            collider: Collider::new(world),
            untangle: Untangle::default(),
            pierced: Piercings::default(),
            rescued: Default::default(),
            broken_springs: Vec::with_capacity(world.springs.len()),
            touched: vec![false; world.start.len()],
            inertia: vec![1.0; world.start.len()],
            stiffening: 1.0,
            frame_start: FrameStart::default(),
            cut_short: CutShort::new(world.start.len()),
            scraps: Scraps::new(world),
            strands,
        }
    }

    /// The same for another world, with the threads that there are.
    pub(crate) fn adapt(&mut self, world: &World) {
        let threads = std::mem::replace(&mut self.threads, Threads::alone());
        *self = Self::with_threads(world, threads, self.lanes);
    }

    /// Takes the limits of `world`, which have changed in place.
    pub(crate) fn take_limits(&mut self, world: &World) {
        self.scratch.take_limits(world);
    }

    /// Goes on with `threads` threads (0: one per core). Results do not depend on it.
    pub(crate) fn set_threads(&mut self, threads: usize) -> Result<(), WorldError> {
        self.threads = Threads::new(threads)?;
        Ok(())
    }

    /// Vertices of the engine, and rigid bodies, that were reset in the last frame; a vertex that was reset
    /// twice is there twice.
    pub(crate) fn rescued(&self) -> [&[u32]; 2] {
        [&self.rescued[0], &self.rescued[1]]
    }

    /// Whether `vertex` of the engine was stopped short in the last step, because it would have passed
    /// through something: what is stretched there is not so by its load.
    pub(crate) fn has_stopped(&self, vertex: usize) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.has_stopped(vertex))
    }

    /// Springs of the world that broke in the last frame.
    pub(crate) fn broken_springs(&self) -> &[u32] {
        &self.broken_springs
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }

    /// The lanes in use.
    pub fn lanes(&self) -> LaneKind {
        self.lanes
    }

    /// The same with other lanes, which must be [available](LaneKind::available): for comparisons.
    pub fn with_lanes(mut self, lanes: LaneKind) -> Self {
        self.lanes = lanes;
        self
    }

    /// How far the last step ended from the nearest state within the limits, over how far its prediction was
    /// from it, in the mass metric: 0 is perfect, 1 means that limiting went as far astray as it had to go.
    /// Whatever the scheme is. With an implicit integrator that state is the one of least inertia and energy.
    /// `None` without limited elements, or if they were all within their limits; also where curved shells
    /// bend in the solve, or where volumes are kept, which have no such reference, and where that of solids
    /// did not converge.
    ///
    /// Compares with a converged reference (`solve::nearest::reference`), which knows nothing of
    /// obstacles; takes seconds.
    pub fn mass_metric_error(&self, world: &World, state: &State) -> Option<f64> {
        if world.schedule.is_implicit() && !world.judges().iter().all(Filter::has_reference) {
            return None;
        }
        // Their stiffness is part of the reference, but not of other schemes.
        let solver = &world.description.solver;
        if solver.scheme != Scheme::Nearest && world.description.solids().next().is_some() {
            return None;
        }
        let position = |q: &Quad| [q[0], q[1], q[2]].map(f64::from);
        let (mut missed, mut needed) = (0.0, 0.0);
        let pace = self.scratch.pace;
        let judges = if pace == 0 { world.judges() } else { &world.paces[pace].filters };
        for (k, filter) in judges.iter().enumerate() {
            let filter = self.scratch.filters[pace].in_place_of(world, k).unwrap_or(filter);
            let range = filter.vertices.clone();
            let goal: Vec<_> = self.predicted[range.clone()].iter().map(position).collect();
            let aim = Aim {
                goal: &goal,
                old: &self.old[range.clone()],
                inertia: &self.inertia[range.clone()],
                stiffening: self.stiffening,
            };
            let nearest = filter.nearest(&self.threads, aim);
            if filter.has_tetrahedra() && !nearest.is_settled() {
                return None;
            }
            let x = state.x[range].iter().map(position);
            for (i, (x, goal)) in x.zip(&goal).enumerate() {
                for k in 0..3 {
                    missed += f64::from(filter.masses[i]) * (x[k] - nearest.x[i][k]).powi(2);
                    needed += f64::from(filter.masses[i]) * (goal[k] - nearest.x[i][k]).powi(2);
                }
            }
        }
        (needed > 0.0).then(|| (missed / needed).sqrt())
    }

    /// # Panics
    /// If `state` is not one of `world`, or `world` not what this was prepared for.
    fn expect_fitting(&self, world: &World, state: &State) {
        let prepared =
            self.old.len() == world.start.len() && self.scratch.filters.iter().all(|f| f.fits(world));
        assert!(prepared, "this stepper was prepared for another world");
        assert!(state.fits(world), "state and world do not match");
    }

    /// Advances by one frame, within the time budget of the world's solver.
    ///
    /// # Panics
    /// If `state` is not one of `world`, or `world` not what this was prepared for.
    pub fn advance_frame(&mut self, world: &World, state: &mut State) -> FrameReport {
        let budget = world.description.solver.budget_ms.map_or_else(Budget::unlimited, Budget::millis);
        self.advance_within(world, state, &budget.with_min_iterations(0))
    }

    /// Advances by one frame within `budget`.
    ///
    /// # Panics
    /// If `state` is not one of `world`, or `world` not what this was prepared for.
    pub fn advance_within(&mut self, world: &World, state: &mut State, budget: &Budget) -> FrameReport {
        self.expect_fitting(world, state);
        let mut report = FrameReport { converged: true, ..FrameReport::default() };
        let begun = budget.now();
        self.rescued.iter_mut().for_each(Vec::clear);
        self.broken_springs.clear();
        state.begin_frame(world, &mut self.holds);
        if world.has_alone() {
            self.frame_start.keep(state);
        }
        let was_alone = state.is_alone;
        let mut is_near = self.take_steps(world, state, (budget, begun), &mut report);
        if is_near && was_alone {
            self.begin_again(world, state, &mut report);
            is_near = self.take_steps(world, state, (budget, begun), &mut report);
        }
        // After a frame that was tried alone in vain, the next one is not.
        if world.has_alone() && !was_alone && !is_near {
            state.set_alone(world, true, &self.frame_start.places);
        }
        state.frame += 1;
        report
    }

    /// All steps of a frame. Says whether cloth came near anything; if the state is one of cloth that nothing
    /// is near, only those until then.
    fn take_steps(
        &mut self,
        world: &World,
        state: &mut State,
        (budget, begun): (&Budget, Duration),
        report: &mut FrameReport,
    ) -> bool {
        let schedule = self.begin_steps(world, state);
        let mut is_near = false;
        for k in 0..schedule.steps_per_frame {
            let turn = schedule.step_budget(state.frame, k, budget, begun);
            is_near |= self.step(world, state, turn, schedule.steps_per_frame - k, report);
            if is_near && state.is_alone {
                break;
            }
        }
        is_near
    }

    /// Takes the tables for the vertices that are held, and for the length of the steps to come.
    fn begin_steps(&mut self, world: &World, state: &State) -> Schedule {
        self.scratch.pace = world.pace_number(state.is_alone);
        self.scratch.hold(world, &state.x, &state.grips);
        world.pace(state.is_alone).schedule
    }

    /// The first step of the next frame once more, from a copy of `state`, with at most `iterations`
    /// iterations in place of the solver's and no time budget: how it went, and where it led. With 0
    /// iterations that is the prediction, before anything is limited.
    ///
    /// To see how a step converges: the state that it gives lies inside a frame, so measure it but do not go
    /// on from it.
    ///
    /// # Panics
    /// If `state` is not one of `world`, or `world` not what this was prepared for.
    pub fn attempt(&mut self, world: &World, state: &State, iterations: u32) -> (FrameReport, State) {
        self.expect_fitting(world, state);
        let mut state = state.clone();
        let mut report = FrameReport { converged: true, ..FrameReport::default() };
        state.begin_frame(world, &mut self.holds);
        if world.has_alone() {
            self.frame_start.keep(&state);
        }
        let first_step = |stepper: &mut Self, state: &mut State, report: &mut FrameReport| {
            let schedule = stepper.begin_steps(world, state);
            let whole = schedule.step_budget(state.frame, 0, &Budget::unlimited(), Duration::ZERO);
            let turn = StepBudget { iterations: iterations.max(1), ..whole };
            stepper.step(world, state, turn, schedule.steps_per_frame, report)
        };
        if first_step(self, &mut state, &mut report) && state.is_alone {
            self.begin_again(world, &mut state, &mut report);
            report.iterations = 0;
            first_step(self, &mut state, &mut report);
        }
        if iterations == 0 {
            state.x.copy_from_slice(&self.predicted);
            (report.iterations, report.converged, report.limit_ms) = (0, false, 0.0);
        }
        (report, state)
    }

    /// One step of the pipeline; `left` steps of the frame are left, this one included. Says whether cloth
    /// comes near anything in it; if it is one of cloth that nothing is near, it ends there.
    fn step(
        &mut self,
        world: &World,
        state: &mut State,
        budget: StepBudget,
        left: u32,
        report: &mut FrameReport,
    ) -> bool {
        let Pace { dt, schedule, .. } = world.pace(state.is_alone);
        let times = [budget.step, budget.step + 1].map(|step| world.time_after(step, *dt));
        let span = Span { times, dt: *dt, left, is_alone: state.is_alone };
        let ms = |from: Instant, to: Instant| (to - from).as_secs_f32() * 1e3;
        let begun = Instant::now();
        self.update_velocity(world, state, span, report);
        let velocity_done = Instant::now();
        self.separate(world, state, span);
        let separate_done = Instant::now();
        let Some(mut enforced) = self.limit(world, state, span, budget) else { return true };
        if self.settle_scraps(world, state, report) {
            self.measure(world, state, &mut enforced);
        }
        let limit_done = Instant::now();
        report.iterations += enforced.iterations;
        report.limit_ms += ms(separate_done, limit_done);
        let is_near = self.is_near(world, state, span);
        if is_near && span.is_alone {
            report.contact_ms += ms(limit_done, Instant::now());
            return true;
        }
        let mut stopped = self.guard(world, state, &mut enforced, report);
        for _ in 0..MOST_NEW_DETECTIONS {
            if stopped == 0 || budget.is_over() || !self.detect_again(world, state) {
                break;
            }
            let Some(again) = self.limit(world, state, span, budget) else { break };
            report.iterations += again.iterations;
            enforced = again;
            stopped = self.guard(world, state, &mut enforced, report);
        }
        report.stopped += stopped;
        self.cut_short(world, state, (span, budget, stopped), &mut enforced, report);
        self.solve_strands(world, state, span, budget, (&mut enforced, report));
        state.grips.end(world, &mut state.x);
        let contact_done = Instant::now();
        self.update_position(world, state, span, report);
        if !enforced.converged && enforced.iterations < schedule.min_iterations {
            state.forget_step(world, enforced.iterations as f32 / schedule.min_iterations as f32);
        }
        let position_done = Instant::now();

        // Steps of open seams may end past their limits.
        report.converged &= enforced.converged && enforced.residual <= world.aim.tolerance;
        report.residual = world.aim.past_limit(enforced.residual);
        report.bend_excess = excess_angle(enforced.bend).to_degrees();
        report.given_way = enforced.given_way;
        report.velocity_ms += ms(begun, velocity_done);
        report.contact_ms += ms(velocity_done, separate_done) + ms(limit_done, contact_done);
        report.position_ms += ms(contact_done, position_done);
        is_near || report.stopped > 0
    }
}
