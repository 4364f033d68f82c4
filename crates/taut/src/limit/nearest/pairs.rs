//! Parts of cloth that touch each other, as a block of the filter: each pair has a dual of its own.
//!
//! f = Σ wᵢ n·xᵢ + u, p = f or the gap if that is more, pull e wᵢ n (2 (p − f) + u), u ← f − p. The weight e grows with the masses of the
//! vertices, as that of [obstacles](super::contact); to the diagonal it adds e |wᵢ| Σ |wₖ|, which bounds what the pair adds to the matrix.

use std::ops::Range;

use crate::{contact::touching::Touching, kernel::lanes::Quad};

/// Weight of a pair in units of its vertices' mass.
const WEIGHT: f32 = 300.0;

/// Factor on the weight of pairs that stay too near.
const BOOST: f32 = 4.0;

/// Largest weight, as a share of the matrix's diagonal.
const MOST: f32 = 0.3;

#[derive(Clone, Copy, Debug)]
struct PairTouch {
    /// Of the body; those of other bodies have weight 0.
    vertices: [u32; 4],
    weights: [f32; 4],
    normal: [f32; 3],
    /// What Σ wᵢ n·xᵢ over the body's own vertices must be at least \[m\].
    least: f32,
    /// Dual \[m\].
    u: f32,
    /// Mass of the lightest side.
    mass: f32,
    /// Factor on its weight.
    boost: f32,
    /// How much nearer than it may be it was when it was last looked at \[m\].
    depth: f32,
    /// Its gap \[m\].
    gap: f32,
}

/// The pairs of one body.
#[derive(Debug, Default)]
pub struct Pairs {
    list: Vec<PairTouch>,
    /// What they add to the diagonal, by vertex.
    extra: Vec<f32>,
}

impl Pairs {
    /// For a body with `count` vertices.
    pub fn new(count: usize) -> Self {
        Self { list: Vec::new(), extra: vec![0.0; count] }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes those of `touching` that the body with these `vertices` of the world has a part in. Bodies are filtered one after the
    /// other: those before it are where they are in `x`, those after it still where they began the step, in `old` \[m\].
    pub fn begin(
        &mut self,
        touching: &[Touching],
        vertices: &Range<usize>,
        [old, x]: [&[Quad]; 2],
        masses: &[f32],
    ) {
        self.list.clear();
        for touch in touching {
            let mut pair = PairTouch {
                vertices: [0; 4],
                weights: [0.0; 4],
                normal: touch.normal,
                least: touch.gap,
                u: 0.0,
                mass: 0.0,
                boost: 1.0,
                depth: 0.0,
                gap: touch.gap,
            };
            let mut compliance = 0.0;
            for i in 0..4 {
                let (v, weight) = (touch.vertices[i] as usize, touch.weights[i]);
                if vertices.contains(&v) {
                    let own = v - vertices.start;
                    if masses[own] > 0.0 {
                        compliance += weight * weight / masses[own];
                    }
                    (pair.vertices[i], pair.weights[i]) = (own as u32, weight);
                } else {
                    let there = if v < vertices.start { &x[v] } else { &old[v] };
                    pair.least -= weight * along(&pair.normal, there);
                }
            }
            if compliance > 0.0 {
                pair.mass = 1.0 / compliance;
                self.list.push(pair);
            }
        }
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

    /// One iteration: adds the pulls of all pairs to `r`. Gives how much of its gap the worst pair lacks, 0 to 1 and more.
    pub fn iterate(&mut self, x: &[Quad], r: &mut [Quad], masses: &[f32], c: f32) -> f32 {
        let mut worst = 0.0f32;
        for pair in &mut self.list {
            let mut now = 0.0;
            for i in 0..4 {
                now += pair.weights[i] * along(&pair.normal, &x[pair.vertices[i] as usize]);
            }
            pair.depth = pair.least - now;
            worst = worst.max(pair.depth / pair.gap);
            let f = now + pair.u;
            let p = f.max(pair.least);
            let pull = pair.weight(c) * (2.0 * (p - f) + pair.u);
            pair.u = f - p;
            for i in 0..4 {
                let v = pair.vertices[i] as usize;
                if masses[v] > 0.0 {
                    for k in 0..3 {
                        r[v][k] += pull * pair.weights[i] * pair.normal[k];
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
}

#[inline(always)]
fn along(normal: &[f32; 3], x: &Quad) -> f32 {
    normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2]
}
