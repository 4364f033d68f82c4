//! Parts of cloth that touch each other or an obstacle's mesh, as a block of the filter: each pair has a dual
//! of its own.
//!
//! With d = Σ wᵢ xᵢ the line between the nearest points of a pair: f = d + u; p = f with at least the gap
//! along the normal, and with its way along the surface since the start of the step shortened by μ times what
//! was missing (Eq. 7, as for [obstacles](super::contact)); pull e wᵢ (2 (p − f) + u), u ← f − p. The weight
//! e grows with the masses of the vertices; to the diagonal it adds e |wᵢ| Σ |wₖ|, which bounds what the pair
//! adds to the matrix.

use glam::Vec3;

use super::tables::Filter;
use crate::{contact::touching::Touching, kernel::lanes::Quad};

/// Weight of a pair in units of its vertices' mass.
const WEIGHT: f32 = 300.0;

/// Factor on the weight of pairs that stay too near.
const BOOST: f32 = 4.0;

/// Largest weight, as a share of the matrix's diagonal.
const MOST: f32 = 0.3;

#[derive(Clone, Copy, Debug)]
struct PairTouch {
    /// Of the filter; those of others, and those that are held, have weight 0.
    vertices: [u32; 4],
    weights: [f32; 4],
    normal: Vec3,
    /// What the filter's own vertices add to d where they began the step, so that d is what it was then
    /// \[m\].
    anchor: Vec3,
    /// What their part in d must be at least, along the normal \[m\].
    least: f32,
    friction: f32,
    /// Dual \[m\].
    u: Vec3,
    /// Mass of the lightest side.
    mass: f32,
    /// Factor on its weight.
    boost: f32,
    /// How much nearer than it may be it was when it was last looked at \[m\].
    depth: f32,
    /// Its gap \[m\].
    gap: f32,
}

/// The pairs of one filter.
#[derive(Debug, Default)]
pub struct Pairs {
    list: Vec<PairTouch>,
    /// What they add to the diagonal, by vertex.
    extra: Vec<f32>,
}

impl Pairs {
    /// For a filter of `count` vertices.
    pub fn new(count: usize) -> Self {
        Self { list: Vec::new(), extra: vec![0.0; count] }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes those of `touching` that `filter` has a part in. Vertices that are not its own, or held, go
    /// from `old` to `x` \[m\].
    pub fn begin(&mut self, touching: &[Touching], filter: &Filter, [old, x]: [&[Quad]; 2]) {
        let (vertices, masses) = (&filter.vertices, &filter.masses);
        self.list.clear();
        for touch in touching {
            let normal = Vec3::from_array(touch.normal);
            let mut pair = PairTouch {
                vertices: [0; 4],
                weights: [0.0; 4],
                normal,
                anchor: Vec3::ZERO,
                least: touch.gap,
                friction: touch.friction,
                u: Vec3::ZERO,
                mass: 0.0,
                boost: 1.0,
                depth: 0.0,
                gap: touch.gap,
            };
            let mut compliance = 0.0;
            for i in 0..4 {
                let (v, weight) = (touch.vertices[i] as usize, touch.weights[i]);
                pair.anchor += weight * position(&old[v]);
                // What is held is where it will be, as what is not the filter's own.
                let own =
                    if vertices.contains(&v) { Some(filter.stand_in(v - vertices.start)) } else { None };
                if let Some(own) = own.filter(|&own| masses[own] > 0.0) {
                    compliance += weight * weight / masses[own];
                    (pair.vertices[i], pair.weights[i]) = (own as u32, weight);
                } else {
                    let there = weight * position(&x[v]);
                    pair.anchor -= there;
                    pair.least -= there.dot(normal);
                }
            }
            if compliance > 0.0 {
                pair.mass = 1.0 / compliance;
                self.list.push(pair);
            }
        }
    }

    /// The largest gap of any pair \[m\]; infinite if there are none.
    pub fn widest_gap(&self) -> f32 {
        self.list.iter().map(|pair| pair.gap).reduce(f32::max).unwrap_or(f32::INFINITY)
    }

    /// What the pairs add to the diagonal of the matrix at vertex `i`; up to date after [`Pairs::weigh`].
    pub fn extra(&self, i: usize) -> f32 {
        if self.list.is_empty() { 0.0 } else { self.extra[i] }
    }

    /// Sums what the pairs add to the diagonal, with the ramp's factor `c`.
    pub fn weigh(&mut self, c: f32) {
        if self.list.is_empty() {
            return;
        }
        self.extra.fill(0.0);
        for pair in &self.list {
            let e = pair.weight(c);
            let total: f32 = pair.weights.iter().map(|w| w.abs()).sum();
            for i in 0..4 {
                self.extra[pair.vertices[i] as usize] += e * pair.weights[i].abs() * total;
            }
        }
    }

    /// After the ramp's factor has grown by `growth`.
    pub fn rescale(&mut self, growth: f32) {
        self.list.iter_mut().for_each(|pair| pair.u /= growth);
    }

    /// More weight for pairs that are nearer than nine tenths of their gap. Says whether that changed.
    pub fn strengthen(&mut self, c: f32, diagonal: &[f32]) -> bool {
        let mut grown = false;
        for pair in &mut self.list {
            if pair.depth <= 0.1 * pair.gap {
                continue;
            }
            let smallest = (0..4).filter(|&i| pair.weights[i] != 0.0);
            let diagonal =
                smallest.map(|i| diagonal[pair.vertices[i] as usize]).fold(f32::INFINITY, f32::min);
            let most = MOST * diagonal / (WEIGHT * c * pair.mass);
            let boost = (pair.boost * BOOST).min(most).max(pair.boost);
            pair.u *= pair.boost / boost;
            grown |= boost > pair.boost;
            pair.boost = boost;
        }
        grown
    }

    /// One iteration: adds the pulls of all pairs to `r`. Gives how much of its gap the worst pair lacks, 0
    /// to 1 and more.
    pub fn iterate(&mut self, x: &[Quad], r: &mut [Quad], masses: &[f32], c: f32) -> f32 {
        let mut worst = 0.0f32;
        for pair in &mut self.list {
            let mut now = Vec3::ZERO;
            for i in 0..4 {
                now += pair.weights[i] * position(&x[pair.vertices[i] as usize]);
            }
            pair.depth = pair.least - now.dot(pair.normal);
            worst = worst.max(pair.depth / pair.gap);
            let moved = pair.settled(now + pair.u);
            let pull = pair.weight(c) * (2.0 * moved + pair.u);
            pair.u = -moved;
            for i in 0..4 {
                let v = pair.vertices[i] as usize;
                if masses[v] > 0.0 {
                    for k in 0..3 {
                        r[v][k] += pull[k] * pair.weights[i];
                    }
                }
            }
        }
        worst
    }
}

impl PairTouch {
    fn weight(&self, c: f32) -> f32 {
        WEIGHT * c * self.mass * self.boost
    }

    /// What takes `f` \[m\] to where it keeps the gap, with friction.
    #[inline(always)]
    fn settled(&self, f: Vec3) -> Vec3 {
        let depth = self.least - f.dot(self.normal);
        if depth <= 0.0 {
            return Vec3::ZERO;
        }
        let slip = f - self.anchor;
        let slip = slip - self.normal * slip.dot(self.normal);
        let (length, hold) = (slip.length(), self.friction * depth);
        let back = if length <= hold { slip } else { slip * (hold / length) };
        self.normal * depth - back
    }
}

#[inline(always)]
fn position(x: &Quad) -> Vec3 {
    Vec3::new(x[0], x[1], x[2])
}
