//! Obstacles as a block of the filter: each vertex near one has a dual of its own.
//!
//! f = x + w, p = f put outside with friction, pull e (2 (p − f) + w), w ← f − p. The weight e = 1000 c m
//! grows with the vertex's mass, so that it means the same at every resolution; vertices that stay inside get
//! more of it.

use glam::Vec3;

use crate::{
    boundary::{obstacle::Obstacle, solids::Solids},
    kernel::lanes::Quad,
};

/// Weight of a contact in units of the vertex's mass.
const WEIGHT: f32 = 1000.0;

/// Factor on the weight of vertices that stay inside.
const BOOST: f32 = 4.0;

/// Largest weight, as a share of the matrix's diagonal.
const MOST: f32 = 0.1;

/// What one vertex has to do with obstacles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touch {
    /// Dual \[m\].
    w: [f32; 3],
    /// Factor on the weight; 0 while it does not touch.
    boost: f32,
    /// Whether it may meet an obstacle in this step.
    candidate: bool,
    /// How deep it may be inside at the end of the step \[m\].
    sunk: f32,
    /// Where it was when it was last looked at \[m\].
    seen: Vec3,
    /// How much deeper than it may be it was then \[m\].
    pub depth: f32,
}

/// Obstacles as the vertices of one body see them.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Obstacles.
    pub obstacles: &'a [Obstacle],
    /// Their poses in this step.
    pub solids: &'a Solids,
    /// Where the body's vertices began the step \[m\].
    pub old: &'a [Quad],
}

impl Touch {
    /// At the start of a step; `dual` is what [`Touch::dual`] gave at the end of the last, `near` \[m\] how
    /// close a surface must be to count as touched, `c` the ramp's factor.
    pub fn begin(
        around: &Surroundings,
        candidate: bool,
        [old, x]: [&Quad; 2],
        dual: [f32; 3],
        near: f32,
        c: f32,
    ) -> Self {
        let mut touch = Self { candidate, depth: f32::NEG_INFINITY, ..Self::default() };
        if !candidate {
            return touch;
        }
        touch.sunk = around.solids.sunk(around.obstacles, position(old));
        touch.look(around, x);
        if touch.depth > -near {
            touch.boost = 1.0;
            let sane = dual.iter().all(|w| w.is_finite());
            touch.w = if sane { dual.map(|w| w / c) } else { [0.0; 3] };
        }
        touch
    }

    /// The dual in units that do not depend on weights.
    pub fn dual(&self, c: f32) -> [f32; 3] {
        self.w.map(|w| w * (self.boost * c))
    }

    /// What it adds to the diagonal.
    pub fn weight(&self, mass: f32, c: f32) -> f32 {
        WEIGHT * c * mass * self.boost
    }

    /// After the ramp's factor has grown by `growth`.
    pub fn rescale(&mut self, growth: f32) {
        self.w = self.w.map(|w| w / growth);
    }

    /// More weight if it is deeper inside than `shallow` \[m\]. Says whether that changed.
    pub fn strengthen(&mut self, mass: f32, c: f32, diagonal: f32, shallow: f32) -> bool {
        if self.boost <= 0.0 || self.depth <= shallow {
            return false;
        }
        let most = MOST * diagonal / (WEIGHT * c * mass);
        let boost = (self.boost * BOOST).min(most).max(self.boost);
        self.w = self.w.map(|w| w * (self.boost / boost));
        let grown = boost > self.boost;
        self.boost = boost;
        grown
    }

    /// One iteration of vertex `i` at `x`; gives its pull. It starts to touch where it is inside.
    pub fn iterate(&mut self, around: &Surroundings, i: usize, x: &Quad, mass: f32, c: f32) -> [f32; 3] {
        if !self.candidate {
            return [0.0; 3];
        }
        // Most do not touch, and have not moved so far that they could.
        if self.boost <= 0.0 && self.depth + 1.001 * (position(x) - self.seen).length() < 0.0 {
            return [0.0; 3];
        }
        self.look(around, x);
        if self.boost <= 0.0 {
            if self.depth <= 0.0 {
                return [0.0; 3];
            }
            self.boost = 1.0;
        }
        let old = position(&around.old[i]);
        let w = Vec3::from_array(self.w);
        let f = position(x) + w;
        let moved = around.solids.nearest_outside(around.obstacles, old, self.sunk, f) - f;
        self.w = (-moved).to_array();
        ((moved + moved + w) * self.weight(mass, c)).to_array()
    }

    /// Sees how deep it is inside at `x`.
    fn look(&mut self, around: &Surroundings, x: &Quad) {
        self.seen = position(x);
        self.depth = around.solids.depth(around.obstacles, self.seen) - self.sunk;
    }

    /// Whether it touches.
    pub fn touches(&self) -> bool {
        self.boost > 0.0
    }
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
