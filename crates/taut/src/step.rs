//! One step: the pipeline of the main paper's figure 2, and nothing else.
//!
//! | box | where |
//! |---|---|
//! | velocity update, level 0 | [`velocity::update`](crate::velocity::update) |
//! | limiting, boundary conditions inside every iteration | [`limit::enforce`](crate::limit::enforce) |
//! | contact: what passes through what is drawn apart | [`contact::untangle`](crate::contact::untangle) |
//! | contact: what a step may not end with | [`contact::guard`](crate::contact::guard) |
//! | position update | `update_velocities` here, [`Solids::respond`] |
//! | certificate | [`certify`](crate::certify), once a frame, by the caller |

use std::time::Instant;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::{
    Budget, Description, State, World, WorldError,
    boundary::{hold::Hold, motion::Pose, rigid::RigidState, solids::Solids},
    contact::{
        guard::Guard,
        untangle::{Untangle, pierced},
    },
    exec::colored::Exec,
    kernel::{
        bend::excess_angle,
        lanes::{LaneKind, Quad},
    },
    limit::{
        Settings,
        enforce::{Draft, Scratch, StepBudget, enforce, measure},
    },
    parallel::Threads,
    velocity::update,
};

/// What of the gap between two parts is kept free in any case.
const GUARDED: f32 = 0.1;

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
    /// Vertices that were stopped short because they would have passed through cloth, over all steps of the
    /// frame.
    #[serde(default)]
    pub stopped: u32,
    /// Edges that still pass through a triangle at the end of the frame, each counted with each such
    /// triangle: what is left of a tangled start, or what an obstacle forced on cloth that could not give
    /// way.
    #[serde(default)]
    pub tangled: u32,
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
    predicted: Vec<Quad>,
    predicted_v: Vec<Quad>,
    forces: Vec<Quad>,
    steady: Vec<Quad>,
    solids: Solids,
    scratch: Scratch,
    /// Vertices that are held during the frame.
    holds: Vec<Hold>,
    guard: Option<Guard>,
    /// Rigid bodies: where the step finds them, and where it takes them.
    poses: Vec<[Pose; 2]>,
    /// How they would fly.
    flown: Vec<RigidState>,
    untangle: Untangle,
    /// Vertices and rigid bodies that were reset in the frame.
    rescued: [Vec<u32>; 2],
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
        Self {
            threads,
            lanes,
            old: quads(),
            predicted: quads(),
            predicted_v: quads(),
            forces: quads(),
            steady: quads(),
            solids: Solids::with_capacity(world.vertex_count, world.description.obstacles.len()),
            scratch: Scratch::new(world),
            holds: Vec::with_capacity(world.pins.len()),
            guard: world.surface.as_ref().map(|surface| Guard::new(surface, &world.start)),
            poses: Vec::with_capacity(world.description.rigid_bodies.len()),
            flown: Vec::with_capacity(world.description.rigid_bodies.len()),
            untangle: Untangle::default(),
            rescued: Default::default(),
        }
    }

    /// The same for another world, with the threads that there are.
    pub(crate) fn adapt(&mut self, world: &World) {
        let threads = std::mem::replace(&mut self.threads, Threads::alone());
        *self = Self::with_threads(world, threads, self.lanes);
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
    /// Whatever the scheme is. `None` without limited triangles, or if they were all within their limits.
    ///
    /// Compares with a converged [reference](crate::solve::nearest::reference), which knows nothing of
    /// obstacles; takes seconds.
    pub fn mass_metric_error(&self, world: &World, state: &State) -> Option<f64> {
        let position = |q: &Quad| [q[0], q[1], q[2]].map(f64::from);
        let (mut missed, mut needed) = (0.0, 0.0);
        for (k, filter) in world.judges().iter().enumerate() {
            let filter = self.scratch.filters.in_place_of(world, k).unwrap_or(filter);
            let range = filter.vertices.clone();
            let goal: Vec<_> = self.predicted[range.clone()].iter().map(position).collect();
            let nearest = filter.nearest(&self.threads, &goal);
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
        let prepared = self.old.len() == world.start.len() && self.scratch.filters.fits(world);
        assert!(prepared, "this stepper was prepared for another world");
        assert!(state.fits(world), "state and world do not belong together");
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
        let (steps, iterations) = (world.steps_per_frame(), world.description.solver.iterations);
        let begun = budget.now();
        self.rescued.iter_mut().for_each(Vec::clear);
        state.begin_frame(world, &mut self.holds);
        self.scratch.hold(world, &state.x, &state.grips);
        for k in 0..steps {
            let step = u64::from(state.frame) * u64::from(steps) + u64::from(k);
            let share = (k + 1) as f32 / steps as f32;
            let deadline = budget.deadline(begun, share);
            let turn = StepBudget {
                step,
                iterations,
                deadline,
                min_iterations_past_deadline: budget.min_iterations(),
            };
            self.step(world, state, turn, steps - k, &mut report);
        }
        state.frame += 1;
        report
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
        let steps = world.steps_per_frame();
        state.begin_frame(world, &mut self.holds);
        self.scratch.hold(world, &state.x, &state.grips);
        let step = u64::from(state.frame) * u64::from(steps);
        let turn = StepBudget {
            step,
            iterations: iterations.max(1),
            deadline: None,
            min_iterations_past_deadline: 0,
        };
        self.step(world, &mut state, turn, steps, &mut report);
        if iterations == 0 {
            state.x.copy_from_slice(&self.predicted);
            (report.iterations, report.converged, report.limit_ms) = (0, false, 0.0);
        }
        (report, state)
    }

    /// One step of the pipeline; `left` steps of the frame are left, this one included.
    fn step(
        &mut self,
        world: &World,
        state: &mut State,
        budget: StepBudget,
        left: u32,
        report: &mut FrameReport,
    ) {
        let Self {
            threads,
            lanes,
            old,
            predicted,
            predicted_v,
            forces,
            steady,
            solids,
            scratch,
            holds,
            guard,
            poses,
            flown,
            untangle,
            rescued: [rescued_vertices, rescued_bodies],
        } = self;
        let (threads, lanes): (&Threads, _) = (threads, *lanes);
        let exec = Exec { threads, lanes };
        let description = &world.description;
        let dt = world.step_time();
        let (time, end) = (world.time_of_step(budget.step), world.time_of_step(budget.step + 1));
        let State { x, v, mean_v, duals, caught, grips, rigid, mean_rigid, piercings, .. } = state;
        let begun = Instant::now();
        old.copy_from_slice(x);
        world.place_fixtures(time, old);
        let targets = holds.iter().map(|hold| {
            let vertex = hold.vertex as usize;
            (vertex, hold.target(world, caught, end, &old[vertex], left))
        });
        move_pins(targets.clone(), dt, old, v);
        scratch.sewn.begin(&world.sewing, old, dt);

        // Velocity update: forces inside the limits.
        let stretch = world.forces.largest_stretch(exec, x);
        let plan = world.forces.plan(f64::from(dt), stretch, world.max_substeps());
        let motion = update::Motion { x, v, forces, steady, sewn: &scratch.sewn };
        update::update(world, exec, motion, time, dt, &plan);
        place_pins(targets, x);
        world.place_fixtures(end, x);
        for i in world.fixtures.clone() {
            v[i] = std::array::from_fn(|k| (x[i][k] - old[i][k]) / dt);
        }
        let cloth = 0..world.fixtures.start;
        report.rescued +=
            rescue(&old[cloth.clone()], &mut x[cloth.clone()], &mut v[cloth.clone()], rescued_vertices);
        fly(world, [time, end], rigid, flown, poses);
        scratch.sewn.unite(&world.sewing, x, v);
        predicted.copy_from_slice(x);
        predicted_v.copy_from_slice(v);
        grips.begin(world, old, x, dt, left);

        let velocity_done = Instant::now();

        // What passes through what is drawn apart, and let pass meanwhile.
        if let Some(surface) = &world.surface {
            let found = piercings.get_or_insert_with(|| pierced(surface, old));
            untangle.begin(world, surface, found, old, dt, &mut scratch.tangle);
            untangle.draw(x);
            if !scratch.tangle.is_empty() {
                scratch.sewn.unite(&world.sewing, x, v);
            }
        }
        let apart_done = Instant::now();

        // Limiting: elements clamped, boundary conditions inside every iteration.
        solids.begin(&description.obstacles, [time, end], old, x, 2.0 * world.edge_length);
        let settings = Settings {
            threads,
            lanes,
            projection: description.solver.projection,
            relaxation: description.solver.relaxation,
        };
        let mut enforced =
            enforce(world, &settings, Draft { x, old, duals, poses, grips }, solids, scratch, budget);

        if solids.hold_back(dt, old, predicted, x) {
            enforced = measure(world, &settings, x, enforced);
        }

        let limit_done = Instant::now();

        // Contact: what the step may not end with.
        if let (Some(guard), Some(surface), Some(finder)) = (guard, &world.surface, &mut scratch.finder) {
            let near = (&scratch.tangle, &mut finder.candidates);
            let guarded = guard.hold(threads, surface, near, old, x, GUARDED);
            report.stopped += guarded.stopped;
            if guarded.stopped > 0 {
                enforced = measure(world, &settings, x, enforced);
            }
            if guarded.unsure || !scratch.tangle.is_empty() {
                *piercings = Some(pierced(surface, x));
            }
            report.tangled = piercings.as_ref().map_or(0, |found| found.len() as u32);
        }
        grips.end(world, x);
        let contact_done = Instant::now();

        // Position update: what limiting changed changes velocities.
        let rescued = rescue(&old[cloth.clone()], &mut x[cloth.clone()], &mut v[cloth], rescued_vertices);
        report.rescued += rescued;
        if rescued > 0 {
            *piercings = None;
        }
        update_velocities(dt, old, predicted, x, v, mean_v);
        untangle.calm(dt, predicted_v, v);
        solids.calm(predicted_v, v);
        solids.respond(&description.obstacles, dt, old, x, predicted_v, v);
        for (k, (state, flown)) in rigid.iter_mut().zip(flown.iter()).enumerate() {
            if !land(state, flown, poses[k], dt) {
                report.rescued += 1;
                rescued_bodies.push(k as u32);
            }
            mean_rigid[k] = state.mean(&poses[k][0], dt);
        }
        let position_done = Instant::now();

        let ms = |from: Instant, to: Instant| (to - from).as_secs_f32() * 1e3;
        report.iterations += enforced.iterations;
        report.substeps += plan.substeps;
        report.converged &= enforced.converged;
        report.residual = enforced.residual;
        report.bend_excess = excess_angle(enforced.bend).to_degrees();
        report.velocity_ms += ms(begun, velocity_done);
        report.limit_ms += ms(apart_done, limit_done);
        report.contact_ms += ms(velocity_done, apart_done) + ms(limit_done, contact_done);
        report.position_ms += ms(contact_done, position_done);
    }
}

/// Where rigid bodies go by themselves.
fn fly(
    world: &World,
    times: [f32; 2],
    rigid: &[RigidState],
    flown: &mut Vec<RigidState>,
    poses: &mut Vec<[Pose; 2]>,
) {
    let Description { rigid_bodies, obstacles, gravity, .. } = &world.description;
    flown.clear();
    flown.extend(rigid_bodies.iter().zip(rigid).map(|(body, state)| {
        let mut flown = body.fly(state, *gravity, world.step_time());
        body.meet(&mut flown, obstacles, times, *gravity);
        flown
    }));
    poses.clear();
    poses.extend(rigid.iter().zip(flown).map(|(state, flown)| [state.pose, flown.pose]));
}

/// Takes a rigid body that would have `flown` to the end of a step. One that is not finite then stays where
/// it was, at rest: false.
fn land(state: &mut RigidState, flown: &RigidState, [start, end]: [Pose; 2], dt: f32) -> bool {
    *state = *flown;
    state.end_step(&flown.pose, end, dt);
    let finite = state.is_finite();
    if !finite {
        *state = RigidState { pose: start, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO };
    }
    finite
}

/// Gives held vertices the velocity that takes them where they must be at the end of a step of `dt`.
fn move_pins(targets: impl Iterator<Item = (usize, Vec3)>, dt: f32, old: &[Quad], v: &mut [Quad]) {
    for (vertex, target) in targets {
        for k in 0..3 {
            v[vertex][k] = (target[k] - old[vertex][k]) / dt;
        }
    }
}

/// Puts held vertices exactly where they must be at the end of the step: summing velocities rounds.
fn place_pins(targets: impl Iterator<Item = (usize, Vec3)>, x: &mut [Quad]) {
    for (vertex, target) in targets {
        x[vertex][..3].copy_from_slice(&target.to_array());
    }
}

/// The last line of defence: a vertex that is not a finite number goes back to where it was, at rest. Gives
/// their count, and adds them to `found`.
fn rescue(old: &[Quad], x: &mut [Quad], v: &mut [Quad], found: &mut Vec<u32>) -> u32 {
    let mut rescued = 0;
    for (vertex, ((old, x), v)) in (0..).zip(old.iter().zip(x).zip(v)) {
        if !(x[0] + x[1] + x[2] + v[0] + v[1] + v[2]).is_finite() {
            x[..3].copy_from_slice(&old[..3]);
            *v = [0.0; 4];
            rescued += 1;
            found.push(vertex);
        }
    }
    rescued
}

/// v ← v + (x − predicted) / dt: limiting as a velocity filter.
fn update_velocities(
    dt: f32,
    old: &[Quad],
    predicted: &[Quad],
    x: &[Quad],
    v: &mut [Quad],
    mean_v: &mut [Quad],
) {
    let rate = 1.0 / dt;
    for i in 0..x.len() {
        for k in 0..3 {
            v[i][k] += (x[i][k] - predicted[i][k]) * rate;
            mean_v[i][k] = (x[i][k] - old[i][k]) * rate;
        }
    }
}
