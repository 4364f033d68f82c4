//! Springs as a term (S1): point masses by Newton's method, springs on cloth and soft solids by splitting.
//!
//! A step minimises ½ (x − x₀)ᵀ M (x − x₀) + c dt² W(x)
//! ([`predict`](crate::velocity::predict)), with W = ½ k (|l| − l₀)² of each spring, and the damping that the
//! integrator's own velocity v' = v + s (x' − x₀) gives: c Δv'·l/|l|.
//!
//! **Particles.** Graphs of particles are small, and their springs may be a billion times stiffer than their
//! inertia: splitting would take thousands of iterations along a chain. So all particles of a filter take one
//! step of Newton's method in each iteration, in double precision, with a sparse direct solve
//! ([`factor`]) and a line search ([`newton`]). What other terms pull at particles (obstacles, grips, rigid
//! bodies, springs to cloth) is part of the right-hand side, their weights are part of the matrix. The
//! multigrid cycle moves particles by their diagonal; its result is replaced. Limits of segments are
//! multipliers of an augmented Lagrangian inside the same steps.
//!
//! **Springs with an end on cloth or a soft solid** have a dual each, as seams have ([`cross`]).

pub mod cross;
pub mod factor;
pub mod newton;

use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::{Block, Excess, Scene, Stage, Step, Term};
use crate::{
    boundary::spring::{End, SpringTable},
    hierarchy::multigrid::Cycle,
    kernel::lanes::Quad,
    solve::nearest::{
        filter::Filter,
        tuning::{SPRING_SEEN, SPRING_SETTLED, SPRING_STILL, SPRING_TOLERANCE},
    },
};
use cross::{Cross, CrossState};
use factor::{Factors, Pattern};
use newton::{Inner, InnerState, Nodes, Place};

/// What springs need to know of a step, beside positions.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpringInputs<'a> {
    /// Predicted velocities of all vertices of the world \[m/s\]; empty: 0.
    pub v: &'a [Quad],
    /// Factor on the mass of each vertex; empty: 1.
    pub inertia: &'a [f32],
    /// Which springs of the world are broken; empty: none.
    pub broken: &'a [bool],
    /// What velocities grow by with a way \[1/s\], but for vertices with another factor on their mass.
    pub rate: f64,
}

/// The springs of a filter, and its particles.
#[derive(Clone, Debug)]
pub struct Springs {
    /// The vertex, of the filter, of each particle.
    nodes: Vec<u32>,
    inner: Vec<Inner>,
    cross: Vec<Cross>,
    pattern: Pattern,
    /// What forces \[N\] are multiplied by: way in \[m\], in units of the mean mass.
    unit: f64,
}

/// What [`Springs`] are made from.
#[derive(Debug)]
pub struct SpringParts<'a> {
    /// Number of each spring among those of the world, and the spring; vertices are those of the filter.
    pub springs: Vec<(u32, SpringTable)>,
    /// Vertices of the filter that are particles.
    pub nodes: Vec<u32>,
    /// Masses of the filter's vertices \[kg\].
    pub masses: &'a [f64],
    /// Factor times squared length of a step over the mean mass \[s²/kg\].
    pub unit: f64,
    /// Whether stiffness and damping act here.
    pub is_elastic: bool,
}

impl Springs {
    /// Tables of these springs and particles.
    pub fn new(parts: SpringParts) -> Self {
        let mut node_of = vec![u32::MAX; parts.masses.len()];
        parts.nodes.iter().zip(0..).for_each(|(&v, n)| node_of[v as usize] = n);
        let (mut inner, mut cross) = (Vec::new(), Vec::new());
        for (number, mut spring) in parts.springs {
            if !parts.is_elastic {
                (spring.stiffness, spring.damping) = (0.0, 0.0);
                if !spring.is_limited {
                    continue;
                }
            }
            let place = |end: End| match end {
                End::Point(point) => Some(Place::Point(point)),
                End::Body { .. } => None,
                End::Vertex(v) => {
                    let node = node_of[v as usize];
                    (node != u32::MAX).then_some(Place::Node(node))
                }
            };
            match spring.ends.map(place) {
                [Some(a), Some(b)] => inner.push(Inner { ends: [a, b], number, spring }),
                _ => cross.push(Cross { ends: spring.ends, number, spring }),
            }
        }
        let joined = inner.iter().filter_map(|own: &Inner| match own.ends {
            [Place::Node(a), Place::Node(b)] => Some([a, b]),
            _ => None,
        });
        Self {
            pattern: Pattern::new(parts.nodes.len(), joined),
            nodes: parts.nodes,
            inner,
            cross,
            unit: parts.unit,
        }
    }
}

impl Block for Springs {
    fn name(&self) -> &'static str {
        "springs"
    }

    /// A multiplier a segment, a dual a spring to cloth.
    fn kept(&self) -> usize {
        self.inner.len() + 3 * self.cross.len()
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        let count = self.nodes.len();
        Box::new(SpringTerm {
            nodes: Nodes::new(count),
            inner: vec![InnerState::default(); self.inner.len()],
            cross: vec![CrossState::default(); self.cross.len()],
            factors: Factors::new(&self.pattern),
            moved: f64::INFINITY,
            apart: 0.0,
            tables: self,
        })
    }
}

/// Particles and springs of a filter in this step.
#[derive(Debug)]
struct SpringTerm {
    tables: Arc<Springs>,
    nodes: Nodes,
    inner: Vec<InnerState>,
    cross: Vec<CrossState>,
    factors: Factors,
    /// How far the farthest particle went in the last iteration \[m\].
    moved: f64,
    /// Largest distance of a spring to cloth from what it wants to be \[m\].
    apart: f64,
}

fn vector(q: &Quad) -> DVec3 {
    DVec3::new(q[0].into(), q[1].into(), q[2].into())
}

impl Term for SpringTerm {
    fn prepare(&mut self, scene: &Scene, filter: &Filter) {
        let first = filter.vertices.start;
        let SpringInputs { v, inertia, broken, rate } = scene.springs;
        let factor = |i: usize| inertia.get(first + i).copied().unwrap_or(1.0);
        for (n, &i) in self.tables.nodes.iter().enumerate() {
            let i = i as usize;
            let nodes = &mut self.nodes;
            nodes.inertia[n] = filter.masses[i] * factor(i);
            nodes.predicted[n] = scene.x[first + i];
            nodes.y[n] = vector(&scene.x[first + i]);
            nodes.goal[n] = nodes.y[n];
        }
        // Predicted place and velocity of an end, and what its velocity grows by with a way.
        let state = |end: End| match end {
            End::Point(point) => (point, DVec3::ZERO, None),
            End::Body { .. } => (DVec3::ZERO, DVec3::ZERO, None),
            End::Vertex(i) => {
                let (i, own) = (first + i as usize, i as usize);
                let s = if factor(own) == 1.0 { rate } else { 1.0 / f64::from(scene.dt) };
                let s = (filter.masses[own] > 0.0).then_some(s);
                (vector(&scene.x[i]), v.get(i).map_or(DVec3::ZERO, vector), s)
            }
        };
        let past = |spring: &SpringTable| {
            let [(a, va, sa), (b, vb, sb)] = spring.ends.map(state);
            let s = sa.unwrap_or(0.0).max(sb.unwrap_or(0.0));
            (s, if s > 0.0 { b - a - (vb - va) / s } else { b - a })
        };
        let is_broken = |number: u32| broken.get(number as usize).is_some_and(|broken| *broken);
        for (state, own) in self.inner.iter_mut().zip(&self.tables.inner) {
            *state = InnerState::default();
            state.is_broken = is_broken(own.number);
            (state.rate, state.past) = past(&own.spring);
        }
        for (state, own) in self.cross.iter_mut().zip(&self.tables.cross) {
            *state = CrossState::default();
            state.is_broken = is_broken(own.number);
            (state.rate, state.past) = past(&own.spring);
        }
        (self.moved, self.apart) = (f64::INFINITY, f64::INFINITY);
        if self.tables.nodes.is_empty() {
            self.moved = 0.0;
        }
        if self.tables.cross.is_empty() {
            self.apart = 0.0;
        }
    }

    fn enter(&mut self, step: &Step, _x: &[Quad], kept: &[f32], _stage: &Stage) {
        let unit = self.tables.unit * f64::from(step.stiffening);
        let (multipliers, duals) = kept.split_at(self.tables.inner.len());
        let total: f64 = self.nodes.inertia.iter().map(|m| f64::from(*m)).sum();
        for ((state, own), kept) in self.inner.iter_mut().zip(&self.tables.inner).zip(multipliers) {
            state.enter(own, unit, (&self.nodes, total), f64::from(*kept));
        }
        for ((state, own), kept) in self.cross.iter_mut().zip(&self.tables.cross).zip(duals.chunks_exact(3)) {
            state.enter(own, unit, &step.filter.masses, kept);
        }
    }

    fn weigh(&mut self, step: &Step, _stage: &Stage, diagonal: &mut [f32]) {
        for (state, own) in self.cross.iter().zip(&self.tables.cross) {
            own.vertices().for_each(|v| diagonal[v] += state.weight);
        }
        for (n, &i) in self.tables.nodes.iter().enumerate() {
            self.nodes.extra[n] = diagonal[i as usize].into();
        }
        if step.is_loaded {
            // Rigid bodies see particles through this diagonal. Without the stiffness of their springs bodies
            // would overshoot; with all of it, the way that they move particles would be lost in rounding.
            newton::stiffest(&self.tables.inner, &self.inner, &mut self.nodes.stiffest);
            for (n, &i) in self.tables.nodes.iter().enumerate() {
                let most = SPRING_SEEN * (step.filter.masses[i as usize] + diagonal[i as usize]);
                diagonal[i as usize] += (self.nodes.stiffest[n] as f32).min(most);
            }
        }
        for (n, &i) in self.tables.nodes.iter().enumerate() {
            self.nodes.diagonal[n] =
                f64::from(step.filter.masses[i as usize]) + f64::from(diagonal[i as usize]);
        }
    }

    /// Pulls of springs to cloth. It is the last term: what all others pull at particles is known here.
    fn pull(&mut self, step: &Step, x: &[Quad], _stage: &Stage, r: &mut [Quad]) {
        self.apart = 0.0;
        for (state, own) in self.cross.iter_mut().zip(&self.tables.cross) {
            let apart = state.pull(own, x, &step.filter.masses, r);
            self.apart = self.apart.max(apart);
        }
        let nodes = &mut self.nodes;
        for (n, &i) in self.tables.nodes.iter().enumerate() {
            let i = i as usize;
            // Where another term has moved a particle itself.
            if nodes.y[n].as_vec3().to_array() != x[i][..3] {
                nodes.y[n] = vector(&x[i]);
                self.moved = f64::INFINITY;
            }
            let own = |k: usize| nodes.inertia[n] * (nodes.predicted[n][k] - x[i][k]);
            nodes.others[n] = if nodes.inertia[n] > 0.0 {
                DVec3::from_array(std::array::from_fn(|k| f64::from(r[i][k] - own(k))))
            } else {
                DVec3::ZERO
            };
            nodes.residual[n] = vector(&r[i]);
            nodes.before[n] = vector(&x[i]);
        }
    }

    fn after_cycle(&mut self, step: &Step, _stage: &Stage, _cycle: &mut Cycle, x: &mut [Quad]) {
        let Self { tables, nodes, inner, factors, .. } = self;
        if tables.nodes.is_empty() {
            return;
        }
        if step.is_loaded {
            // What rigid bodies have moved particles by, as a pull.
            let part = 1.0 / f64::from(step.stiffening);
            for (n, &i) in tables.nodes.iter().enumerate().filter(|(n, _)| nodes.inertia[*n] > 0.0) {
                let way = vector(&x[i as usize]) - nodes.before[n];
                nodes.others[n] += nodes.diagonal[n] * way - part * nodes.residual[n];
            }
        }
        let still = nodes.others.iter().all(|pull| *pull == DVec3::ZERO);
        if !(still && self.moved <= 0.0) {
            self.moved = newton::advance(nodes, (&tables.inner, inner), (&tables.pattern, factors));
            let still_enough = if step.touching { SPRING_STILL } else { SPRING_TOLERANCE };
            let is_at_rest = self.moved <= still_enough * f64::from(step.filter.edge_length);
            if is_at_rest && newton::raise_multipliers(&tables.inner, inner, nodes) {
                self.moved = self.moved.max(f64::MIN_POSITIVE);
            } else if still && self.moved <= 1e-3 * SPRING_TOLERANCE * f64::from(step.filter.edge_length) {
                self.moved = 0.0;
            }
        }
        for (n, &i) in tables.nodes.iter().enumerate() {
            x[i as usize][..3].copy_from_slice(&nodes.y[n].as_vec3().to_array());
        }
    }

    fn measure(&self, step: &Step, _x: &[Quad], _iteration: u32, excess: &mut Excess) {
        let edge = f64::from(step.filter.edge_length);
        for (state, own) in self.inner.iter().zip(&self.tables.inner) {
            if own.spring.is_limited && !state.is_broken {
                let residual = newton::residual(own, &self.nodes.y);
                excess.worst = excess.worst.max(residual);
                excess.sum += f64::from(residual);
                excess.count += 1;
            }
        }
        let most = if step.touching { SPRING_SETTLED } else { SPRING_TOLERANCE };
        excess.unmet |= self.moved > most * edge || self.apart > SPRING_SETTLED * edge;
    }

    fn is_settled(&self, step: &Step) -> bool {
        self.moved <= SPRING_SETTLED * f64::from(step.filter.edge_length)
    }

    fn is_within(&self, step: &Step, x: &[Quad], moved: &[(u32, Quad)]) -> bool {
        let limited = |own: &&Inner| own.spring.is_limited && !moved.is_empty();
        let at = |place: Place| match place {
            Place::Point(point) => point,
            Place::Node(n) => vector(&x[self.tables.nodes[n as usize] as usize]),
        };
        let mut limited = self.tables.inner.iter().filter(limited);
        limited.all(|own| own.past(at(own.ends[1]).distance(at(own.ends[0]))) <= step.tolerance)
    }

    fn remainders(&self, add: &mut dyn FnMut(usize, Vec3)) {
        for (&i, y) in self.tables.nodes.iter().zip(&self.nodes.y) {
            add(i as usize, (*y - y.as_vec3().as_dvec3()).as_vec3());
        }
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], _stage: &Stage, kept: &mut [f32]) {
        let (multipliers, duals) = kept.split_at_mut(self.inner.len());
        for (state, kept) in self.inner.iter().zip(multipliers) {
            *kept = state.multiplier as f32;
        }
        for (state, kept) in self.cross.iter().zip(duals.chunks_exact_mut(3)) {
            (state.weight * state.u).write_to_slice(kept);
        }
    }
}
