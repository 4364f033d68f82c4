//! Open seams as a term: each pair of vertices that is drawn together has a dual of its own.
//!
//! With d = xᵢ − xⱼ: f = d + u; p = f shortened to what the pair may be apart at the end of the step (0 once
//! it is closed); pull ± e (2 (p − f) + u), u ← f − p. The map is linear and does not change, so it goes into
//! the matrix like hinges do, with e = κ A / ℓ², A the area around the two vertices and ℓ the length of an
//! edge: as stiff as the triangles beside it.
//!
//! Where there is a sewing phase, the pull on an open pair is bounded ([`SEAM_PULL`]): f is shortened by no
//! more than the bound over e, which is the same iteration for a pull of constant strength. A body may be
//! between two panels, and triangles at their limits; without the bound, duals of pairs that cannot follow
//! grow until they tear the cloth apart.
//!
//! Seams that are closed need none of this: their twins are one vertex of the filter
//! ([`Filter`]).

use std::sync::Arc;

use glam::Vec3;

use super::{Block, Excess, Scene, Stage, Step, Term};
use crate::{
    boundary::seam::CLOSED,
    hierarchy::multigrid::{Stiff, StiffHinge},
    kernel::lanes::Quad,
    solve::nearest::{
        filter::Filter,
        tuning::{SEAM_LEAST_TOLERANCE, SEAM_OPEN, SEAM_PATIENCE, SEAM_PULL, SEAM_TOLERANCE, WARM_START},
    },
};

/// Two vertices of a filter that are sewn together.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Of the filter.
    pub vertices: [u32; 2],
    /// A / ℓ².
    pub weight: f32,
    /// Its number among all stitches.
    pub stitch: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    /// Dual \[m\].
    u: Vec3,
    /// What it may be apart \[m\].
    allowed: f32,
    /// Whether it began the step closed.
    closed: bool,
    /// Largest pull, in masses of a mean vertex times \[m\].
    strongest: f32,
}

/// The seams of a filter.
#[derive(Clone, Debug, Default)]
pub struct Seams {
    /// Those that it draws together: none of them once they are closed.
    pub(crate) links: Vec<Link>,
    /// How many there would be if none were closed.
    pub(crate) link_count: usize,
    /// What they add to the matrix.
    stiff: Vec<StiffHinge>,
}

impl Seams {
    /// `links`, of `link_count` that there would be if none were closed.
    pub fn new(links: Vec<Link>, link_count: usize) -> Self {
        let stiff = |link: &Link| {
            let [a, b] = link.vertices;
            ([a, b, a, b], [1.0, -1.0, 0.0, 0.0], f64::from(link.weight))
        };
        Self { stiff: links.iter().map(stiff).collect(), links, link_count }
    }
}

impl Block for Seams {
    fn name(&self) -> &'static str {
        "seams"
    }

    fn kept(&self) -> usize {
        3 * self.link_count
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.hinges.push(&self.stiff);
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(SeamTerm { states: vec![LinkState::default(); self.link_count], tables: self })
    }
}

/// Duals of the open seams of a filter.
#[derive(Debug)]
struct SeamTerm {
    tables: Arc<Seams>,
    states: Vec<LinkState>,
}

impl Term for SeamTerm {
    fn prepare(&mut self, scene: &Scene, filter: &Filter) {
        let pull = SEAM_PULL * scene.sewn.strength;
        let strongest = pull * scene.dt * scene.dt * filter.size / filter.edge_length;
        for (state, link) in self.states.iter_mut().zip(&self.tables.links) {
            let stitch = link.stitch as usize;
            state.allowed = scene.sewn.allowed[stitch];
            state.closed = scene.sewn.was_closed(&scene.sewing.stitches[stitch]);
            state.strongest = if state.closed { f32::INFINITY } else { strongest };
        }
    }

    fn tolerance_factor(&self) -> f32 {
        if self.tables.links.is_empty() { 1.0 } else { SEAM_TOLERANCE }
    }

    fn least_tolerance(&self) -> f32 {
        if self.tables.links.is_empty() { 0.0 } else { SEAM_LEAST_TOLERANCE }
    }

    fn allows_finish(&self) -> bool {
        self.tables.links.is_empty()
    }

    fn enter(&mut self, _step: &Step, _x: &[Quad], kept: &[f32], stage: &Stage) {
        let factor = WARM_START / stage.c;
        for (state, kept) in self.states.iter_mut().zip(kept.chunks_exact(3)) {
            state.u = factor * Vec3::from_slice(kept);
        }
    }

    fn rescale(&mut self, growth: f32) {
        self.states.iter_mut().for_each(|state| state.u /= growth);
    }

    fn pull(&mut self, step: &Step, x: &[Quad], stage: &Stage, r: &mut [Quad]) {
        for (link, state) in self.tables.links.iter().zip(&mut self.states) {
            let f = link.apart(x) + state.u;
            let length = f.length();
            let moved = if length > state.allowed { f * (state.allowed / length - 1.0) } else { Vec3::ZERO };
            let moved = if moved.is_finite() { moved } else { Vec3::ZERO };
            let most = state.strongest / (stage.kappa * link.weight);
            let moved = if moved.length() > most { moved.normalize_or_zero() * most } else { moved };
            let pull = stage.kappa * link.weight * (2.0 * moved + state.u);
            state.u = -moved;
            for (v, sign) in link.vertices.into_iter().zip([1.0, -1.0]) {
                let v = v as usize;
                if step.filter.masses[v] > 0.0 {
                    for k in 0..3 {
                        r[v][k] += sign * pull[k];
                    }
                }
            }
        }
    }

    /// Pairs that began the step closed must be almost so; for some iterations, those too that may close now.
    fn measure(&self, step: &Step, x: &[Quad], iteration: u32, excess: &mut Excess) {
        let most = SEAM_OPEN * CLOSED * step.filter.edge_length;
        let counts = |state: &LinkState| state.closed || state.allowed <= 0.0 && iteration < SEAM_PATIENCE;
        let mut links = self.tables.links.iter().zip(&self.states);
        excess.unmet |= !links.all(|(link, state)| !counts(state) || link.apart(x).length() <= most);
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], stage: &Stage, kept: &mut [f32]) {
        let factor = if self.tables.links.is_empty() { 0.0 } else { stage.c };
        for (state, kept) in self.states.iter().zip(kept.chunks_exact_mut(3)) {
            (factor * state.u).write_to_slice(kept);
        }
    }
}

impl Link {
    fn apart(&self, x: &[Quad]) -> Vec3 {
        let [a, b] = self.vertices.map(|v| &x[v as usize]);
        Vec3::new(a[0] - b[0], a[1] - b[1], a[2] - b[2])
    }
}
