//! The boxes of a step, one function each.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::Vec3;

use super::{FrameReport, Stepper};
use crate::{
    Integrator, State, World,
    boundary::{motion::Pose, rigid::RigidState, spring::break_overloaded},
    collide::Flight,
    contact::guard::GUARDED_GAP,
    exec::colored::Exec,
    exec::threads::Threads,
    kernel::lanes::{LaneKind, Quad},
    limit::{
        Settings,
        enforce::{Draft, Enforced, enforce, measure},
    },
    pbd,
    schedule::{StepBudget, square_factor},
    state::History,
    term::spring::SpringInputs,
    velocity::{
        predict::{Formula, predict},
        update,
    },
};

/// Change of speed that counts as an impact, over that of cloth which falls by its own size. A sheet that
/// starts stretched tenfold is within its limits after five frames with it, after eight without.
const VIOLENT: f32 = 10.0;

/// Vertices below which a loop is not shared between threads: these are short.
const GRAIN: usize = 8192;

/// The time that a step spans.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Its start and its end \[s\].
    pub times: [f32; 2],
    /// Its length \[s\].
    pub dt: f32,
    /// Steps that are left in the frame, this one included.
    pub left: u32,
    /// Whether it is one of cloth that nothing is near.
    pub is_alone: bool,
}

impl Stepper {
    /// Velocity update: forces inside the limits, pins, rigid bodies, grips. Gives the prediction.
    pub(super) fn update_velocity(
        &mut self,
        world: &World,
        state: &mut State,
        Span { times: [time, end], dt, left, .. }: Span,
        report: &mut FrameReport,
    ) {
        let Self {
            old, old_v, forces, steady, scratch, holds, fits, poses, flown, collider, rescued, ..
        } = self;
        let State { x, v, caught, grips, rigid, history, broken, .. } = state;
        copy(&self.threads, (x, v), (old, old_v));
        world.place_fixtures(time, old);
        world.fit_groups(end, fits);
        let targets = holds.iter().map(|hold| {
            let vertex = hold.vertex as usize;
            (vertex, hold.target(world, (caught, fits), end, &old[vertex], left))
        });
        move_pins(targets.clone(), dt, old, v);
        scratch.sewn.begin(&world.sewing, old, dt);
        scratch.sewn.enter(world.description.is_sewing(time), time, world.description.sewing);

        let exec = Exec { threads: &self.threads, lanes: self.lanes };
        if world.schedule.is_implicit() {
            report.substeps += 1;
            exec.threads.each(steady, GRAIN, |_, steady| steady.fill([0.0; 4]));
            update::add_drag(world, exec, (x, v), forces, steady, [time, dt]);
            scratch.sewn.share_forces(&world.sewing, x, steady);
            let formula = formula(world, history);
            predict(world, exec.threads, (x, v, &mut self.inertia), steady, history, (formula, time, dt));
        } else if let Some(tables) = &world.pbd {
            report.substeps += 1;
            let motion = update::Motion { x, v, forces, steady, sewn: &scratch.sewn, broken };
            pbd::predict(world, tables, exec, motion, time, dt);
        } else {
            let stretch = world.forces.largest_stretch(exec, x);
            let plan = world.forces.plan(f64::from(dt), stretch, world.max_substeps());
            let plan = plan.with_springs(world.spring_rates, dt);
            report.substeps += plan.substeps;
            let motion = update::Motion { x, v, forces, steady, sewn: &scratch.sewn, broken };
            update::update(world, exec, motion, time, dt, &plan);
        }
        place_pins(targets, x);
        world.place_fixtures(end, x);
        for i in world.fixtures.clone() {
            v[i] = std::array::from_fn(|k| (x[i][k] - old[i][k]) / dt);
        }
        let own = 0..world.fixtures.start;
        let (x_own, v_own) = (&mut x[own.clone()], &mut v[own.clone()]);
        report.rescued += rescue(exec.threads, &old[own], x_own, v_own, &mut rescued[0]);
        world.settle_means(x);
        world.settle_means(v);
        collider.fly(world, Flight { times: [time, end], old, x, broken }, rigid, flown);
        poses.clear();
        poses.extend(rigid.iter().zip(flown).map(|(state, flown)| [state.pose, flown.pose]));
        scratch.sewn.unite(&world.sewing, x, v);
        copy(&self.threads, (x, v), (&mut self.predicted, &mut self.predicted_v));
        grips.aim_springs(|pin| {
            let spring = world.pins[pin as usize].spring?;
            Some((caught.target(world, fits, pin as usize, end)?, spring.strength(end)))
        });
        let factor = square_factor(world.schedule.integrator) as f32 * stiffening(world, history);
        grips.begin(world, old, x, (dt, factor * dt * dt), left);
    }

    /// Contact: what passes through is separated, and let pass meanwhile.
    pub(super) fn separate(&mut self, world: &World, state: &mut State, span: Span) {
        let Self { old, scratch, untangle, pierced, threads, .. } = self;
        let State { x, v, piercings, .. } = state;
        if let Some(surface) = &world.surface {
            let found = piercings.get_or_insert_with(|| pierced.find(threads, surface, old));
            scratch.tangle.lets_cloth_pass = scratch.sewn.is_overlapping;
            if scratch.sewn.is_overlapping {
                found.retain(|p| !surface.are_panels(p.edge[0], p.triangle[0]));
            }
            untangle.begin(world, surface, found, old, span.dt, &mut scratch.tangle);
            untangle.draw(x);
            if !scratch.tangle.is_empty() {
                scratch.sewn.unite(&world.sewing, x, v);
            }
        }
    }

    /// Limiting: elements clamped, boundary conditions inside every iteration. `None` if that is no step of
    /// cloth that nothing is near, as it should be.
    pub(super) fn limit(
        &mut self,
        world: &World,
        state: &mut State,
        span: Span,
        budget: StepBudget,
    ) -> Option<Enforced> {
        let settings = settings(world, &self.threads, self.lanes);
        let Self { old, old_v, predicted, drawn, obstacle_contacts, scratch, poses, inertia, .. } = self;
        let State { x, v, duals, grips, history, broken, .. } = state;
        let stiffening = stiffening(world, history);
        self.stiffening = stiffening;
        // Strands meet obstacles in a solve of their own.
        let others = ..world.strands.start;
        obstacle_contacts.begin(
            &self.threads,
            &world.description.obstacles,
            span.times,
            &old[others],
            &mut x[others],
            2.0 * world.edge_length,
        );
        let is_near = !obstacle_contacts.candidates().is_empty() || !scratch.tangle.is_empty();
        if span.is_alone && is_near {
            return None;
        }
        drawn.copy_from_slice(x);
        let rate = f64::from(formula(world, history).rate()) / f64::from(span.dt);
        let springs = SpringInputs { v, inertia, broken, rate };
        let draft = Draft { x, old, duals, poses, grips, stiffening, old_v, inertia, springs };
        let enforced = enforce(world, &settings, draft, obstacle_contacts, scratch, budget);
        if obstacle_contacts.hold_back(span.dt, old, predicted, &mut x[others]) {
            return Some(measure(world, &settings, x, enforced));
        }
        Some(enforced)
    }

    /// Contact: what the step may not end with. Gives the number of vertices that it stopped.
    pub(super) fn guard(
        &mut self,
        world: &World,
        state: &mut State,
        enforced: &mut Enforced,
        report: &mut FrameReport,
    ) -> u32 {
        let Self { old, scratch, guard, pierced, obstacle_contacts, .. } = self;
        let State { x, piercings, .. } = state;
        let mut stopped = 0;
        if let (Some(guard), Some(surface), Some(finder)) = (guard, &world.surface, &mut scratch.finder) {
            let near = (&scratch.tangle, &finder.squeeze, &mut finder.candidates);
            let start = (&old[..], obstacle_contacts.candidates());
            let guarded = guard.hold(&self.threads, surface, near, start, x, GUARDED_GAP);
            stopped = guarded.stopped;
            if guarded.stopped > 0 {
                let settings = settings(world, &self.threads, self.lanes);
                *enforced = measure(world, &settings, x, *enforced);
            }
            if guarded.unsure || !scratch.tangle.is_empty() || finder.squeeze.count() > 0 {
                *piercings = Some(pierced.find(&self.threads, surface, x));
            }
            report.tangled = piercings.as_ref().map_or(0, |found| found.len() as u32);
            if scratch.sewn.is_overlapping {
                // Cloth passed through cloth, which nobody has counted.
                *piercings = None;
            }
        }
        stopped
    }

    /// Measures again how far limits are from being met.
    pub(super) fn measure(&mut self, world: &World, state: &mut State, enforced: &mut Enforced) {
        let settings = settings(world, &self.threads, self.lanes);
        *enforced = measure(world, &settings, &mut state.x, *enforced);
    }

    /// Contact: the pairs that the limited motion meets, beside those of the prediction. Goes back to where
    /// limiting began; says whether there are any that it did not know.
    pub(super) fn detect_again(&mut self, world: &World, state: &mut State) -> bool {
        let Self { old, drawn, scratch, guard, poses, flown, .. } = self;
        let (Some(guard), Some(surface), Some(finder)) = (guard, &world.surface, &mut scratch.finder) else {
            return false;
        };
        let goal = &mut scratch.moves;
        goal.copy_from_slice(guard.goal());
        let ways: [&[Quad]; 3] = [&world.start, old, goal];
        let found = finder.find_more(&self.threads, surface, &scratch.tangle, ways, guard.met());
        if found {
            scratch.knows_contacts = true;
            state.x.copy_from_slice(drawn);
            poses.iter_mut().zip(flown).for_each(|(pose, flown)| pose[1] = flown.pose);
        }
        found
    }

    /// Position update: what limiting changed changes velocities; obstacles respond.
    pub(super) fn update_position(
        &mut self,
        world: &World,
        state: &mut State,
        Span { dt, .. }: Span,
        report: &mut FrameReport,
    ) {
        let Self {
            old,
            old_v,
            predicted,
            predicted_v,
            obstacle_contacts,
            poses,
            flown,
            untangle,
            rescued,
            broken_springs,
            ..
        } = self;
        let State { x, v, mean_v, duals, rigid, mean_rigid, piercings, history, broken, .. } = state;
        // What shortened the motion of their ends did not look at them.
        world.settle_means(x);
        let is_implicit = world.schedule.is_implicit();
        let [rescued_vertices, rescued_bodies] = rescued;
        let own = 0..world.fixtures.start;
        let threads = &self.threads;
        let (x_own, v_own) = (&mut x[own.clone()], &mut v[own.clone()]);
        let rescued = rescue(threads, &old[own], x_own, v_own, rescued_vertices);
        report.rescued += rescued;
        if rescued > 0 {
            // Where they are now is neither where limits were met nor where the guard looked.
            report.converged = false;
            let is_guarded = self.guard.is_some() && !self.scratch.sewn.is_overlapping;
            let surface = world.surface.as_ref().filter(|_| is_guarded);
            *piercings = surface.map(|surface| self.pierced.find(&self.threads, surface, x));
            report.tangled = piercings.as_ref().map_or(0, |found| found.len() as u32);
            duals.fill(0.0);
        }
        let usual = if is_implicit { formula(world, history).rate() / dt } else { 1.0 / dt };
        // Those with another factor on their mass have had a step of backward Euler.
        let inertia = &self.inertia;
        let rate = |i: usize| if inertia[i] == 1.0 { usual } else { 1.0 / dt };
        update_velocities(threads, rate, predicted, x, v);
        if is_implicit {
            self.touched.fill(false);
            self.scratch.filters[self.scratch.pace].mark_touched(world, &mut self.touched);
            self.strands.mark_touched(world, &mut self.touched);
            stop_rebound(threads, dt, (old, x), v, &self.touched);
        }
        set_mean_velocities(threads, dt, (old, x), mean_v);
        untangle.calm(dt, predicted_v, v);
        obstacle_contacts.calm(predicted_v, &mut v[..world.strands.start]);
        obstacle_contacts.respond(&world.description.obstacles, dt, old, x, predicted_v, v);
        world.settle_means(v);
        for (k, (state, flown)) in rigid.iter_mut().zip(flown.iter()).enumerate() {
            if !land(state, flown, poses[k], dt) {
                report.rescued += 1;
                rescued_bodies.push(k as u32);
            }
            mean_rigid[k] = state.mean(&poses[k][0], dt);
        }
        let c_dt2 = square_factor(world.schedule.integrator) as f32 * self.stiffening * dt * dt;
        self.strands.push_back(world, (x, v, rigid), (c_dt2, dt));
        report.broken += break_overloaded(&world.springs, (x, v, rigid), broken, broken_springs);
        if world.schedule.integrator == Integrator::Bdf2 {
            let ends = (&x[..], &v[..]);
            let began = (&old[..], &old_v[..]);
            let fall = world.fall_speed();
            // Springs take what they pull further than that in every step.
            let violent =
                if fall > 0.0 && world.springs.is_empty() { VIOLENT * dt * fall } else { f32::INFINITY };
            let predicted = (&**predicted, &**predicted_v);
            remember(threads, history, (began, ends, predicted), (&self.touched, violent), rate);
        }
        if is_implicit {
            // Else every rounding of a place would be a change of momentum. After what compares velocities
            // with places.
            self.scratch.filters[self.scratch.pace].remainders(world, &mut |i, rest| {
                let rate = rate(i);
                (0..3).for_each(|k| v[i][k] += rate * rest[k]);
            });
        }
    }
}

/// How iterations are done.
fn settings<'a>(world: &World, threads: &'a Threads, lanes: LaneKind) -> Settings<'a> {
    let solver = &world.description.solver;
    Settings { threads, lanes, projection: solver.projection, relaxation: solver.relaxation }
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

/// Copies positions and velocities on all threads.
fn copy(threads: &Threads, from: (&[Quad], &[Quad]), to: (&mut [Quad], &mut [Quad])) {
    threads.each_pair(to.0, to.1, GRAIN, |first, x, v| {
        x.copy_from_slice(&from.0[first..first + x.len()]);
        v.copy_from_slice(&from.1[first..first + v.len()]);
    });
}

/// The last line of defence: a vertex that is not a finite number goes back to where it was, at rest. Gives
/// their count, and adds them to `found`.
fn rescue(threads: &Threads, old: &[Quad], x: &mut [Quad], v: &mut [Quad], found: &mut Vec<u32>) -> u32 {
    let is_lost = |x: &Quad, v: &Quad| !(x[0] + x[1] + x[2] + v[0] + v[1] + v[2]).is_finite();
    let any = AtomicBool::new(false);
    threads.each_pair(x, v, GRAIN, |_, x, v| {
        if x.iter().zip(v.iter()).any(|(x, v)| is_lost(x, v)) {
            any.store(true, Ordering::Relaxed);
        }
    });
    if !any.into_inner() {
        return 0;
    }
    let mut rescued = 0;
    for (vertex, ((old, x), v)) in (0..).zip(old.iter().zip(x).zip(v)) {
        if is_lost(x, v) {
            x[..3].copy_from_slice(&old[..3]);
            *v = [0.0; 4];
            rescued += 1;
            found.push(vertex);
        }
    }
    rescued
}

/// The formula of the next step of an implicit integrator.
fn formula(world: &World, history: &History) -> Formula {
    match world.schedule.integrator {
        Integrator::Bdf2 if history.is_known => Formula::Bdf2,
        _ => Formula::Euler,
    }
}

/// Factor on stiffness in the next step: tables are made for the formula of the integrator, whose first step
/// is one of backward Euler.
fn stiffening(world: &World, history: &History) -> f32 {
    match (world.schedule.integrator, formula(world, history)) {
        (bdf2 @ Integrator::Bdf2, Formula::Euler) => (1.0 / square_factor(bdf2)) as f32,
        _ => 1.0,
    }
}

/// v ← v + rate (x − predicted): limiting as a velocity filter.
fn update_velocities(
    threads: &Threads,
    rate: impl Fn(usize) -> f32 + Sync,
    predicted: &[Quad],
    x: &[Quad],
    v: &mut [Quad],
) {
    threads.each(v, GRAIN, |first, v| {
        for (i, v) in (first..).zip(v) {
            let rate = rate(i);
            for k in 0..3 {
                v[k] += (x[i][k] - predicted[i][k]) * rate;
            }
        }
    });
}

/// Mean velocities of the step: what the certificate reports.
fn set_mean_velocities(threads: &Threads, dt: f32, (old, x): (&[Quad], &[Quad]), mean_v: &mut [Quad]) {
    let rate = 1.0 / dt;
    threads.each(mean_v, GRAIN, |first, mean_v| {
        for (i, mean) in (first..).zip(mean_v) {
            for k in 0..3 {
                mean[k] = (x[i][k] - old[i][k]) * rate;
            }
        }
    });
}

/// Vertices that touch something get the velocity of the way that they went: BDF2 would throw what is stopped
/// back with half of its speed.
fn stop_rebound(threads: &Threads, dt: f32, (old, x): (&[Quad], &[Quad]), v: &mut [Quad], touched: &[bool]) {
    threads.each(v, GRAIN, |first, v| {
        for (i, v) in (first..).zip(v).filter(|(i, _)| touched[*i]) {
            for k in 0..3 {
                v[k] = (x[i][k] - old[i][k]) / dt;
            }
        }
    });
}

/// Positions and velocities.
type Moving<'a> = (&'a [Quad], &'a [Quad]);

/// Keeps a step for the next one. Vertices that touch something, or whose velocity is another than the step's
/// own (after an impact), or were taken further than `violent` \[m\] from where they were going, begin anew
/// with a step of backward Euler.
fn remember(
    threads: &Threads,
    history: &mut History,
    ((old, old_v), (x, v), (predicted, predicted_v)): (Moving<'_>, Moving<'_>, Moving<'_>),
    (touched, violent): (&[bool], f32),
    rate: impl Fn(usize) -> f32 + Sync,
) {
    threads.each(&mut history.steps, GRAIN, |first, steps| {
        for (i, step) in (first..).zip(steps) {
            let own = |k: usize| v[i][k] == predicted_v[i][k] + (x[i][k] - predicted[i][k]) * rate(i);
            let way: f32 = (0..3).map(|k| (x[i][k] - predicted[i][k]).powi(2)).sum();
            let goes_on = !touched[i] && x[i][3] > 0.0 && way <= violent * violent && (0..3).all(own);
            *step = if goes_on { [old[i], old_v[i]] } else { History::anew(&x[i], &v[i]) };
        }
    });
    history.is_known = true;
}
