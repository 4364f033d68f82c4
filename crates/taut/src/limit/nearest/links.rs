//! Open seams as a block of the filter: each pair of vertices that is drawn together has a dual of its own.
//!
//! With d = xᵢ − xⱼ: f = d + u; p = f shortened to what the pair may be apart at the end of the step (0 once
//! it is closed); pull ± e (2 (p − f) + u), u ← f − p. The map is linear and does not change, so it goes into
//! the matrix like hinges do, with e = κ A / ℓ², A the area around the two vertices and ℓ the length of an
//! edge: as stiff as the triangles beside it.
//!
//! Seams that are closed need none of this: their twins are one vertex of the filter
//! ([`tables`](super::tables)).

use glam::Vec3;

use crate::{
    boundary::seam::{CLOSED, Sewn, Stitch},
    hierarchy::multigrid::StiffHinge,
    kernel::lanes::Quad,
};

/// Weight of a pair against triangles.
const WEIGHT: f32 = 1.0;

/// Opening of closed twins with which a step may end, as a share of what is put in one place.
const OPEN: f32 = 0.5;

/// Iterations in which pairs that may close in this step are waited for. Something may be in between.
const PATIENCE: u32 = 60;

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

/// What links add to the matrix.
pub fn stiff_links(links: &[Link]) -> impl Iterator<Item = StiffHinge> {
    links.iter().map(|link| {
        let [a, b] = link.vertices;
        ([a, b, a, b], [1.0, -1.0, 0.0, 0.0], f64::from(WEIGHT * link.weight))
    })
}

#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    /// Dual \[m\].
    u: Vec3,
    /// What it may be apart \[m\].
    allowed: f32,
    /// Whether it began the step closed.
    closed: bool,
}

/// The open seams of one filter.
#[derive(Debug, Default)]
pub struct Links {
    states: Vec<LinkState>,
}

impl Links {
    /// For a filter with `count` links.
    pub fn new(count: usize) -> Self {
        Self { states: vec![LinkState::default(); count] }
    }

    /// Begins a step: takes from `sewn` how far apart the links may be.
    pub(crate) fn begin(&mut self, links: &[Link], stitches: &[Stitch], sewn: &Sewn) {
        for (state, link) in self.states.iter_mut().zip(links) {
            let stitch = link.stitch as usize;
            state.allowed = sewn.allowed[stitch];
            state.closed = sewn.was_closed(&stitches[stitch]);
        }
    }

    /// Takes the duals that were kept, times `factor`.
    pub fn take(&mut self, kept: &[f32], factor: f32) {
        for (state, kept) in self.states.iter_mut().zip(kept.chunks_exact(3)) {
            state.u = factor * Vec3::from_slice(kept);
        }
    }

    /// Keeps the duals, times `factor`.
    pub fn keep(&self, kept: &mut [f32], factor: f32) {
        for (state, kept) in self.states.iter().zip(kept.chunks_exact_mut(3)) {
            (factor * state.u).write_to_slice(kept);
        }
    }

    /// After the ramp's factor has grown by `growth`.
    pub fn rescale(&mut self, growth: f32) {
        self.states.iter_mut().for_each(|state| state.u /= growth);
    }

    /// Whether pairs that began the step closed are almost so, in a mesh with edges of length `edge` \[m\];
    /// for some iterations, those too that may close now.
    pub fn are_closed(&self, links: &[Link], x: &[Quad], edge: f32, iteration: u32) -> bool {
        let most = OPEN * CLOSED * edge;
        let counts = |state: &LinkState| state.closed || state.allowed <= 0.0 && iteration < PATIENCE;
        links.iter().zip(&self.states).all(|(link, state)| !counts(state) || link.apart(x).length() <= most)
    }

    /// One iteration: adds the pulls of all links to `r`, with stiffness `kappa`.
    pub fn iterate(&mut self, links: &[Link], x: &[Quad], r: &mut [Quad], masses: &[f32], kappa: f32) {
        for (link, state) in links.iter().zip(&mut self.states) {
            let f = link.apart(x) + state.u;
            let length = f.length();
            let moved = if length > state.allowed { f * (state.allowed / length - 1.0) } else { Vec3::ZERO };
            let moved = if moved.is_finite() { moved } else { Vec3::ZERO };
            let pull = kappa * WEIGHT * link.weight * (2.0 * moved + state.u);
            state.u = -moved;
            for (v, sign) in link.vertices.into_iter().zip([1.0, -1.0]) {
                let v = v as usize;
                if masses[v] > 0.0 {
                    for k in 0..3 {
                        r[v][k] += sign * pull[k];
                    }
                }
            }
        }
    }
}

impl Link {
    fn apart(&self, x: &[Quad]) -> Vec3 {
        let [a, b] = self.vertices.map(|v| &x[v as usize]);
        Vec3::new(a[0] - b[0], a[1] - b[1], a[2] - b[2])
    }
}
