//! Newton's method for particles and the springs between them.
//!
//! Each spring adds kr r rᵀ + kt (I − r rᵀ) to the matrix, with r its direction, kr its stiffness (that of
//! damping and of an active limit included), and kt its tension over its length, or 0 if it is compressed:
//! that keeps the matrix positive definite, and compressed springs converge linearly. A step that does not
//! decrease the energy is halved until it does.
//!
//! Limits: with λ the multiplier of a segment, its tension is λ + ρ (|l| − l_max) while that pulls (or with
//! l_min while it pushes); λ takes that value once particles have come to rest, so that what is left past a
//! limit shrinks to nothing in a few iterations.

use glam::{DMat3, DVec3};

use super::factor::{Factors, Pattern};
use crate::{
    boundary::spring::SpringTable,
    kernel::lanes::Quad,
    solve::nearest::tuning::{SPRING_LIMIT_WEIGHT, SPRING_LIMIT_WEIGHT_OF_ALL},
};

/// Stiffness that a spring has at most, in units of the inertia of its heavier end: it gives way by that much
/// less than the end would fly in a step. Beyond, rounding decides.
const MOST_STIFF: f64 = 1e9;

/// Most halvings of a step.
const MOST_HALVINGS: u32 = 30;

/// What one end of a spring between particles is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// A particle, of those of the filter.
    Node(u32),
    /// A point that does not move \[m\].
    Point(DVec3),
}

/// A spring between particles, or a particle and a point.
#[derive(Clone, Copy, Debug)]
pub struct Inner {
    /// What it joins.
    pub ends: [Place; 2],
    /// Its number among those of the world.
    pub number: u32,
    /// What it is.
    pub spring: SpringTable,
}

/// A spring in this step, in units of the mean mass.
#[derive(Clone, Copy, Debug, Default)]
pub struct InnerState {
    /// Whether it is gone.
    pub is_broken: bool,
    /// What velocities grow by with a way \[1/s\].
    pub rate: f64,
    /// l of which the velocity at the end of the step is rate (l − past) \[m\].
    pub past: DVec3,
    stiffness: f64,
    damping: f64,
    /// λ \[m\].
    pub multiplier: f64,
    /// ρ.
    weight: f64,
    /// Direction at the last assembly.
    along: DVec3,
}

/// Particles in this step; masses in units of the mean mass.
#[derive(Debug)]
pub struct Nodes {
    /// Mass with its factor; 0 if it is held.
    pub inertia: Vec<f32>,
    /// Where it would go \[m\].
    pub predicted: Vec<Quad>,
    pub goal: Vec<DVec3>,
    /// Where it is in this iteration \[m\].
    pub y: Vec<DVec3>,
    /// Weights and pulls of other terms.
    pub extra: Vec<f64>,
    pub others: Vec<DVec3>,
    /// The right-hand side of the cycle, where it was before it, and the diagonal that the cycle had.
    pub residual: Vec<DVec3>,
    pub before: Vec<DVec3>,
    pub diagonal: Vec<f64>,
    /// Bound on the stiffness of its springs.
    pub stiffest: Vec<f64>,
    step: Vec<DVec3>,
    trial: Vec<DVec3>,
}

impl Nodes {
    /// Room for `count` particles.
    pub fn new(count: usize) -> Self {
        let vectors = || vec![DVec3::ZERO; count];
        Self {
            inertia: vec![0.0; count],
            predicted: vec![[0.0; 4]; count],
            goal: vectors(),
            y: vectors(),
            extra: vec![0.0; count],
            others: vectors(),
            residual: vectors(),
            before: vectors(),
            diagonal: vec![0.0; count],
            stiffest: vec![0.0; count],
            step: vectors(),
            trial: vectors(),
        }
    }

    fn at(y: &[DVec3], place: Place) -> DVec3 {
        match place {
            Place::Node(n) => y[n as usize],
            Place::Point(point) => point,
        }
    }
}

impl Inner {
    /// How far a segment of this length \[m\] is past its limits (strain).
    pub fn past(&self, length: f64) -> f32 {
        let stretch = length / self.spring.length;
        let range = self.spring.range;
        (stretch - f64::from(range.max)).max(f64::from(range.min) - stretch).max(0.0) as f32
    }

    fn length(&self, y: &[DVec3]) -> f64 {
        Nodes::at(y, self.ends[0]).distance(Nodes::at(y, self.ends[1]))
    }
}

/// How far a segment is past its limits (strain) at `y`.
pub fn residual(own: &Inner, y: &[DVec3]) -> f32 {
    own.past(own.length(y))
}

impl InnerState {
    /// Stiffness of the step: forces are multiplied by `unit`; particles have `total` mass.
    pub fn enter(&mut self, own: &Inner, unit: f64, (nodes, total): (&Nodes, f64), kept: f64) {
        let of = |place: Place| match place {
            Place::Node(n) => f64::from(nodes.inertia[n as usize]),
            Place::Point(_) => 0.0,
        };
        let heavier = of(own.ends[0]).max(of(own.ends[1]));
        let most = if self.is_broken { 0.0 } else { MOST_STIFF * heavier };
        self.stiffness = (unit * own.spring.stiffness).min(most);
        self.damping = (unit * own.spring.damping * self.rate).min(most);
        self.weight = if own.spring.is_limited && !self.is_broken {
            (SPRING_LIMIT_WEIGHT * heavier).max(SPRING_LIMIT_WEIGHT_OF_ALL * total)
        } else {
            0.0
        };
        self.multiplier = if self.weight > 0.0 && kept.is_finite() { kept } else { 0.0 };
    }

    /// The tension of its limits at `length` \[m\], and whether they act.
    fn limit(&self, spring: &SpringTable, length: f64) -> f64 {
        if self.weight <= 0.0 {
            return 0.0;
        }
        let most = spring.length * f64::from(spring.range.max);
        let least = spring.length * f64::from(spring.range.min);
        let pull = self.multiplier + self.weight * (length - most);
        let push = self.multiplier + self.weight * (length - least);
        if pull > 0.0 { pull } else { push.min(0.0) }
    }

    /// Its energy at `l`, with the direction of damping as it was last assembled.
    fn energy(&self, spring: &SpringTable, l: DVec3) -> f64 {
        let length = l.length();
        let limit = self.limit(spring, length);
        let of_limit = if self.weight > 0.0 { 0.5 * limit * limit / self.weight } else { 0.0 };
        0.5 * self.stiffness * (length - spring.rest).powi(2)
            + 0.5 * self.damping * self.along.dot(l - self.past).powi(2)
            + of_limit
    }
}

/// Energy of a step at `y`.
fn energy(nodes: &Nodes, y: &[DVec3], springs: (&[Inner], &[InnerState])) -> f64 {
    let mut sum = 0.0;
    for n in 0..y.len() {
        let way = y[n] - nodes.y[n];
        sum += 0.5 * f64::from(nodes.inertia[n]) * (y[n] - nodes.goal[n]).length_squared();
        sum += 0.5 * nodes.extra[n] * way.length_squared() - nodes.others[n].dot(way);
    }
    for (own, state) in springs.0.iter().zip(springs.1) {
        sum += state.energy(&own.spring, Nodes::at(y, own.ends[1]) - Nodes::at(y, own.ends[0]));
    }
    sum
}

/// One step of Newton's method. Gives how far the farthest particle went \[m\].
pub fn advance(
    nodes: &mut Nodes,
    (table, states): (&[Inner], &mut [InnerState]),
    (pattern, factors): (&Pattern, &mut Factors),
) -> f64 {
    assemble(nodes, (table, states), (pattern, factors));
    let mut slope = 0.0;
    let Nodes { trial, step, .. } = nodes;
    trial.copy_from_slice(step);
    factors.factor(pattern);
    factors.solve(pattern, &mut nodes.step);
    for (r, step) in nodes.trial.iter().zip(&nodes.step) {
        slope += r.dot(*step);
    }
    let longest = nodes.step.iter().map(|step| step.length()).fold(0.0, f64::max);
    if !longest.is_finite() {
        return 0.0;
    }
    let before = energy(nodes, &nodes.y, (table, states));
    let mut part = 1.0;
    for _ in 0..MOST_HALVINGS {
        for n in 0..nodes.y.len() {
            nodes.trial[n] = nodes.y[n] + part * nodes.step[n];
        }
        let now = energy(nodes, &nodes.trial, (table, states));
        if now <= before - 1e-4 * part * slope + 1e-13 * before.abs() {
            break;
        }
        part *= 0.5;
    }
    std::mem::swap(&mut nodes.y, &mut nodes.trial);
    part * longest
}

/// The matrix, and the right-hand side in `nodes.step`.
fn assemble(
    nodes: &mut Nodes,
    (table, states): (&[Inner], &mut [InnerState]),
    (pattern, factors): (&Pattern, &mut Factors),
) {
    factors.clear();
    for n in 0..nodes.y.len() {
        let inertia = f64::from(nodes.inertia[n]);
        let is_free = inertia > 0.0;
        let own = if is_free { inertia + nodes.extra[n] } else { 1.0 };
        factors.add_diagonal(pattern, n, DMat3::from_diagonal(DVec3::splat(own)));
        nodes.step[n] =
            if is_free { inertia * (nodes.goal[n] - nodes.y[n]) + nodes.others[n] } else { DVec3::ZERO };
    }
    for (own, state) in table.iter().zip(states) {
        if state.is_broken {
            continue;
        }
        let l = Nodes::at(&nodes.y, own.ends[1]) - Nodes::at(&nodes.y, own.ends[0]);
        let length = l.length();
        let is_point = length <= 1e-12;
        state.along = if is_point { DVec3::ZERO } else { l / length };
        let limit = state.limit(&own.spring, length);
        let of_limit = if limit != 0.0 { state.weight } else { 0.0 };
        let along = state.along;
        let tension =
            state.stiffness * (length - own.spring.rest) + state.damping * along.dot(l - state.past) + limit;
        let radial = state.stiffness + state.damping + of_limit;
        let (across, pull) =
            if is_point { (radial, DVec3::ZERO) } else { ((tension / length).max(0.0), tension * along) };
        let square = DMat3::from_cols(along * along.x, along * along.y, along * along.z);
        let block = across * DMat3::IDENTITY + (radial - across) * square;
        let mut free = [usize::MAX; 2];
        for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
            if let Place::Node(n) = own.ends[k]
                && nodes.inertia[n as usize] > 0.0
            {
                let n = n as usize;
                factors.add_diagonal(pattern, n, block);
                nodes.step[n] += sign * pull;
                free[k] = n;
            }
        }
        if free.iter().all(|n| *n != usize::MAX) {
            factors.add_pair(pattern, free, -block);
        }
    }
}

/// Takes the tension of limits for their multipliers. Says whether one has changed by much.
pub fn raise_multipliers(table: &[Inner], states: &mut [InnerState], nodes: &Nodes) -> bool {
    let mut changed = false;
    for (own, state) in table.iter().zip(states).filter(|(_, state)| state.weight > 0.0) {
        let tension = state.limit(&own.spring, own.length(&nodes.y));
        changed |= (tension - state.multiplier).abs() > 1e-6 * state.weight * own.spring.length;
        state.multiplier = tension;
    }
    changed
}

/// A bound on the stiffness that springs give each particle.
pub fn stiffest(table: &[Inner], states: &[InnerState], stiffest: &mut [f64]) {
    stiffest.fill(0.0);
    for (own, state) in table.iter().zip(states) {
        for end in own.ends {
            if let Place::Node(n) = end {
                stiffest[n as usize] += state.stiffness + state.damping + state.weight;
            }
        }
    }
}
