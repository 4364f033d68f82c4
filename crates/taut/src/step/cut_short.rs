//! Steps that would end far past their limits: those whose time ran out, which end where the solver was, and
//! those in which the guard has stopped some vertices of a triangle but not the others. The motion of
//! vertices is shortened until nothing is far past its upper limit.
//!
//! That is always possible, without iterations that converge. A vertex goes from x₀, where the step began, to
//! x₀ + d + s (x − x₀ − d), with s its share, and d the motion of all that it flies with, none for cloth that
//! something holds. Where the corners of a triangle have the same share, its deformation gradient is
//! (1 − s) F₀ + s F, and the largest stretch is a convex function of it: with less of its way, a triangle
//! comes nearer to how far it was stretched at the start. So shares of the corners that go further are
//! lowered towards the least, then all of them together, triangle by triangle, until none is past what it may
//! be. Shares only ever fall, and with all of them 0 all cloth would keep its shape. Contact is guarded again
//! afterwards, which lowers shares as well, and so on until neither has anything to say.
//!
//! Cloth that is cut short lags, as on a machine that is too slow; it goes on from there in the next step.
//! What is moved by the scene cannot wait, so that steps in which obstacles or bodies move end as they are.
//! So do those in which pins move, unless cloth has torn: where a tear opens, flanks catch on each other, far
//! from all pins. Then the shortened motion is taken if it is guarded, and nearer to the limits.

use super::{FrameReport, Stepper, boxes::Span};
use crate::{
    World,
    element::{set::Triangles, triangle::StrainElement},
    kernel::lanes::Quad,
    limit::{NO_LIMIT, enforce::Enforced},
    schedule::StepBudget,
    state::State,
};

/// How far past its upper limit a triangle may be at the end of a step whose time ran out (strain). Nearer,
/// the next steps do better by themselves: shortened motion is lost.
pub(crate) const FAR_PAST: f32 = 0.03;

/// Times that motion is shortened and contact guarded again before the whole step is put off.
const ROUNDS: u32 = 8;

/// Passes over all triangles in which shares are lowered by as much as is needed; then those of a triangle
/// that is still past become 0.
const GRADUAL_PASSES: u32 = 24;

/// All passes, after which all shares become 0.
const PASSES: u32 = 48;

/// Halvings of how much further some corners of a triangle go, before all go as far as the one that goes
/// least.
const HALVINGS: u32 = 4;

/// What the scene moves in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    Nothing,
    /// Held vertices alone.
    Pins,
    /// Obstacles, or seams that close.
    Others,
}

/// Memory of shortened steps.
#[derive(Debug)]
pub(super) struct CutShort {
    /// Where vertices were to go \[m\].
    goal: Vec<Quad>,
    /// Where the step ended before it was cut short \[m\].
    uncut: Vec<Quad>,
    /// Which part of their way they go, 0 to 1.
    share: Vec<f32>,
    /// How far past its upper limit a triangle may be (strain).
    most: f32,
    /// Where they go without any of it \[m\].
    stay: Vec<Quad>,
    /// The motion of what they fly with \[m\].
    drift: Vec<[f32; 3]>,
}

impl CutShort {
    /// For `count` vertices.
    pub fn new(count: usize) -> Self {
        let quads = || vec![[0.0; 4]; count];
        let drift = vec![[0.0; 3]; count];
        Self { goal: quads(), uncut: quads(), share: vec![1.0; count], most: FAR_PAST, stay: quads(), drift }
    }

    /// Shortens the ways of vertices from `old` to `x` \[m\] until no triangle is far past its upper limit,
    /// or more stretched than in `old` if that is further. Says whether it had to.
    fn shorten(&mut self, triangles: &Triangles, old: &[Quad], x: &mut [Quad]) -> bool {
        self.goal.copy_from_slice(x);
        self.stay(old);
        self.share.fill(1.0);
        let mut any = false;
        for pass in 0..PASSES {
            let mut past = false;
            for triangle in triangles.elements() {
                past |= self.relieve(triangle, x, pass < GRADUAL_PASSES);
            }
            any |= past;
            if !past {
                return any;
            }
        }
        put_off(&self.stay, x);
        any
    }

    fn stay(&mut self, old: &[Quad]) {
        for ((stay, old), drift) in self.stay.iter_mut().zip(old).zip(&self.drift) {
            *stay = moved(old, drift);
        }
    }

    /// Moves everything on by the motion of what it flies with alone.
    fn put_off(&mut self, old: &[Quad], x: &mut [Quad]) {
        self.stay(old);
        put_off(&self.stay, x);
    }

    /// Lowers the shares of the corners of a triangle, if it is past what it may be. Says whether it was.
    fn relieve(&mut self, triangle: &StrainElement, x: &mut [Quad], gradual: bool) -> bool {
        let corners = triangle.vertices.map(|v| v as usize);
        let is_held = |v: usize| x[v][3] <= 0.0;
        if triangle.range.max >= NO_LIMIT || corners.into_iter().all(is_held) {
            return false;
        }
        let most = triangle.range.max + self.most;
        let now = stretch(triangle, corners.map(|v| x[v]));
        if now <= most {
            return false;
        }
        let before = stretch(triangle, corners.map(|v| self.stay[v]));
        // What was further past at the start, or is not a number, is not made worse; a little for rounding.
        let most = most.max(before * (1.0 + 1e-5));
        if now <= most {
            return false;
        }
        let shares = corners.map(|v| if is_held(v) { f32::INFINITY } else { self.share[v] });
        let least = shares.into_iter().fold(f32::INFINITY, f32::min);
        let mut lowered = shares.map(|_| 0.0);
        if gradual && least > 0.0 {
            let mut further = 1.0;
            for halving in 0..=HALVINGS {
                further = if halving < HALVINGS { 0.5 * further } else { 0.0 };
                lowered = shares.map(|s| if s.is_finite() { least + further * (s - least) } else { s });
                let at = std::array::from_fn(|k| {
                    on_its_way(&self.stay[corners[k]], &self.goal[corners[k]], lowered[k])
                });
                if stretch(triangle, at) <= most {
                    further = -1.0;
                    break;
                }
            }
            if further == 0.0 {
                // All go equally far: the largest stretch is below the chord between its ends.
                let part = ((most - before) / (now - before)).clamp(0.0, 1.0);
                lowered = lowered.map(|s| 0.9 * part * s);
            }
        } else if gradual {
            lowered = shares.map(|s| 0.5 * s);
        }
        for (k, v) in corners.into_iter().enumerate().filter(|&(k, _)| shares[k].is_finite()) {
            self.share[v] = if lowered[k] < 1e-3 { 0.0 } else { lowered[k] };
            let inverse_mass = x[v][3];
            x[v] = on_its_way(&self.stay[v], &self.goal[v], self.share[v]);
            x[v][3] = inverse_mass;
        }
        true
    }
}

impl Stepper {
    /// Shortens the motion of a step that ends far past its limits because its time ran out, or because
    /// contact `stopped` vertices.
    pub(super) fn cut_short(
        &mut self,
        world: &World,
        state: &mut State,
        (span, budget, stopped): (Span, StepBudget, u32),
        enforced: &mut Enforced,
        report: &mut FrameReport,
    ) {
        // Without iterations past the deadline, nothing else is done past it either.
        let may = match budget.deadline {
            Some(_) => budget.min_iterations_past_deadline > 0,
            None => stopped > 0,
        };
        // What contact stops may not be past its limit at all: there is time to do better.
        let most = if budget.deadline.is_some() { FAR_PAST } else { world.aim.tolerance };
        if !may || enforced.residual <= most {
            return;
        }
        let has_torn = || world.bodies.iter().any(|body| !body.scraps.is_empty());
        let is_best_effort = match self.moves(world, state, span) {
            Moves::Nothing => false,
            Moves::Pins if has_torn() => true,
            Moves::Pins | Moves::Others => return,
        };
        self.cut_short.most = 0.999 * most;
        self.cut_short.uncut.copy_from_slice(&state.x);
        let (uncut, before) = (*enforced, *report);
        let is_guarded = self.shorten(world, state, enforced, report);
        if is_best_effort && !(is_guarded && enforced.residual < uncut.residual) {
            state.x.copy_from_slice(&self.cut_short.uncut);
            (*enforced, *report) = (uncut, before);
        }
    }

    /// Shortens motion and guards contact in turns, until neither has anything to say. Says whether contact
    /// is guarded in the end also where pins move: there, cloth that does not move at all is no way out.
    fn shorten(
        &mut self,
        world: &World,
        state: &mut State,
        enforced: &mut Enforced,
        report: &mut FrameReport,
    ) -> bool {
        for round in 0..=ROUNDS {
            let Self { old, cut_short, guard, obstacle_contacts, .. } = self;
            match (guard, &world.surface) {
                (Some(guard), Some(surface)) => {
                    let start = (&old[..], obstacle_contacts.candidates());
                    guard.drift(surface, start, &mut cut_short.drift);
                }
                _ => cut_short.drift.fill([0.0; 3]),
            }
            if round == ROUNDS {
                put_off(old, &mut state.x);
            } else if round + 1 == ROUNDS {
                cut_short.put_off(old, &mut state.x);
            } else if !cut_short.shorten(&world.elements.triangles, old, &mut state.x) {
                return true;
            }
            self.measure(world, state, enforced);
            if self.guard(world, state, enforced, report) == 0 {
                return round + 1 < ROUNDS;
            }
        }
        false
    }

    /// What the scene moves in this step.
    fn moves(&self, world: &World, state: &State, Span { times, .. }: Span) -> Moves {
        let is_still = |(old, x): (&Quad, &Quad)| x[3] > 0.0 || old[..3] == x[..3];
        let rests = |fixture: usize| self.old[fixture][..3] == state.x[fixture][..3];
        let others_rest = world.sewing.is_empty()
            && self.poses.is_empty()
            && world.description.obstacles.iter().all(|o| o.pose(times[0]) == o.pose(times[1]))
            && world.fixtures().all(rests);
        match others_rest {
            false => Moves::Others,
            true if self.old.iter().zip(&state.x).all(is_still) => Moves::Nothing,
            true => Moves::Pins,
        }
    }
}

/// Ends the step as it began, or all of it moved on.
fn put_off(stay: &[Quad], x: &mut [Quad]) {
    for (x, stay) in x.iter_mut().zip(stay).filter(|(x, _)| x[3] > 0.0) {
        x[..3].copy_from_slice(&stay[..3]);
    }
}

/// A vertex that moves on with what it flies with.
fn moved(old: &Quad, drift: &[f32; 3]) -> Quad {
    [old[0] + drift[0], old[1] + drift[1], old[2] + drift[2], old[3]]
}

/// Where a vertex is that goes `share` of its way from where it would `stay`; held ones have none.
fn on_its_way(stay: &Quad, goal: &Quad, share: f32) -> Quad {
    let share = share.min(1.0);
    std::array::from_fn(|k| if share < 1.0 { stay[k] + share * (goal[k] - stay[k]) } else { goal[k] })
}

/// The largest stretch of a triangle with these corners.
pub(super) fn stretch(triangle: &StrainElement, [p, q, r]: [Quad; 3]) -> f32 {
    let [a, b, c] = triangle.rest;
    let (mut first, mut second, mut both) = (0.0, 0.0, 0.0);
    for k in 0..3 {
        let (e, f) = (q[k] - p[k], r[k] - p[k]);
        let (along, across) = (a * e, b * e + c * f);
        first += along * along;
        second += across * across;
        both += along * across;
    }
    let half = 0.5 * (first - second);
    (0.5 * (first + second) + (half * half + both * both).sqrt()).sqrt()
}
