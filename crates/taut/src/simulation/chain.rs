//! Bodies in one expression: `Cloth::new("flag", mesh, material).stretch(..=0.05).pin(corners)`. Each of
//! these sets a plain field.

use std::ops::{RangeFrom, RangeFull, RangeInclusive, RangeToInclusive};

use glam::Vec3;

use crate::{Cloth, Limit, Model, Pin, Solid, Weave, boundary::motion::Pose};

impl From<RangeToInclusive<f32>> for Limit {
    fn from(range: RangeToInclusive<f32>) -> Self {
        Self { min: None, max: Some(range.end) }
    }
}

impl From<RangeInclusive<f32>> for Limit {
    fn from(range: RangeInclusive<f32>) -> Self {
        Self { min: Some(*range.start()), max: Some(*range.end()) }
    }
}

impl From<RangeFrom<f32>> for Limit {
    fn from(range: RangeFrom<f32>) -> Self {
        Self { min: Some(range.start), max: None }
    }
}

impl From<RangeFull> for Limit {
    fn from(_: RangeFull) -> Self {
        Self::default()
    }
}

impl Cloth {
    /// The same with limits on the principal strains of every triangle: `..=0.05` lets it stretch by 5 %,
    /// `-0.02..=0.05` be compressed by 2 %, too.
    pub fn stretch(self, limit: impl Into<Limit>) -> Self {
        Self { strain: limit.into(), ..self }
    }

    /// The same with limits on the strain of every edge.
    pub fn edges(self, limit: impl Into<Limit>) -> Self {
        Self { edge: limit.into(), ..self }
    }

    /// The same with limits on the bend of every hinge \[°/cm\].
    pub fn bending(self, limit: impl Into<Limit>) -> Self {
        Self { bend: limit.into(), ..self }
    }

    /// The same with limits by direction.
    pub fn weave(self, weave: Weave) -> Self {
        Self { weave: Some(weave), ..self }
    }

    /// The same, simulated in another way.
    pub fn model(self, model: Model) -> Self {
        Self { model, ..self }
    }

    /// The same with `vertices` held where they start.
    pub fn pin(mut self, vertices: impl IntoIterator<Item = u32>) -> Self {
        self.pins.push(held(vertices));
        self
    }

    /// The same, starting elsewhere: its start moved by `pose`.
    pub fn placed(mut self, pose: Pose) -> Self {
        self.start.iter_mut().for_each(|x| *x = pose.to_world(*x));
        self
    }

    /// The same with its vertices starting at `start` \[m\], as many as its mesh has.
    pub fn starting_at(self, start: Vec<Vec3>) -> Self {
        Self { start, ..self }
    }

    /// The same with a velocity at the start \[m/s\].
    pub fn moving(self, velocity: Vec3) -> Self {
        Self { velocity, ..self }
    }
}

impl Solid {
    /// The same with limits on the principal strains of every tetrahedron.
    pub fn stretch(self, limit: impl Into<Limit>) -> Self {
        Self { strain: limit.into(), ..self }
    }

    /// The same with `vertices` held where they start.
    pub fn pin(mut self, vertices: impl IntoIterator<Item = u32>) -> Self {
        self.pins.push(held(vertices));
        self
    }

    /// The same, starting elsewhere: its start moved by `pose`.
    pub fn placed(mut self, pose: Pose) -> Self {
        self.start.iter_mut().for_each(|x| *x = pose.to_world(*x));
        self
    }

    /// The same with its vertices starting at `start` \[m\], as many as its mesh has.
    pub fn starting_at(self, start: Vec<Vec3>) -> Self {
        Self { start, ..self }
    }

    /// The same with a velocity at the start \[m/s\].
    pub fn moving(self, velocity: Vec3) -> Self {
        Self { velocity, ..self }
    }
}

fn held(vertices: impl IntoIterator<Item = u32>) -> Pin {
    Pin { vertices: vertices.into_iter().collect(), ..Pin::default() }
}
