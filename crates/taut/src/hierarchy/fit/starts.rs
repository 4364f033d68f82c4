//! Starts of searches, and their push directions.
//!
//! The paper's search starts from the rest shape. A sheet that is compressed from there finds the nearest
//! wrinkle, and misses how far it can shrink by curling up. So most lanes start rolled up, about several axes
//! and to either side. The others start at rest, with seeded noise along the normal.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::patch::Element;
use crate::kernel::{lanes::BATCH, random::Random};

/// Angles between the axis of a roll and the edge of a hinge \[rad\].
const TURNS: [f64; 3] = [-0.45, 0.0, 0.45];
/// Amplitude of the noise, in edges of the finer mesh.
const NOISE: f64 = 0.02;
/// Isotropic strain.
const EVERYWHERE: [f32; 3] = [1.0, 0.0, 1.0];

/// Push direction of a lane.
#[derive(Clone, Copy)]
pub(super) enum Drive {
    /// To a larger (1) or smaller (−1) angle.
    Bend(f32),
    /// To grow (1) or shrink (−1) by this symmetric matrix (xx, xy, yy) in the triangle's rest frame.
    Strain(f32, [f32; 3]),
}

/// One start.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub drive: Drive,
    /// Direction in which the surface is rolled, of unit length.
    along: DVec3,
    normal: DVec3,
    /// In radians per edge of the finer mesh; positive makes ridges.
    curvature: f64,
    /// Seed of noise, if any.
    noise: Option<u64>,
}

/// Starts of a search.
pub(super) struct Starts {
    /// Rolled to the curvature that the closed-form bound assumes. That counts every hinge crossed, and no
    /// roll uses them all.
    pub rolled: [Start; 6],
    /// Not rolled.
    pub at_rest: [Start; 4],
}

impl Start {
    /// With the fraction of the curvature of step `k`, from 0, of `count`.
    pub fn part(&self, k: usize, count: usize) -> Self {
        self.bent((k + 1) as f64 / count as f64)
    }

    /// With `factor` times the curvature.
    pub fn bent(&self, factor: f64) -> Self {
        Self { curvature: factor * self.curvature, ..*self }
    }

    /// 1 if the measured value should grow, −1 if it should shrink.
    pub fn sign(&self) -> f32 {
        match self.drive {
            Drive::Bend(sign) | Drive::Strain(sign, _) => sign,
        }
    }

    /// Positions of vertices with the rest positions `rest`.
    pub fn positions<'a>(&'a self, rest: &'a [DVec3]) -> impl Iterator<Item = [f64; 3]> + 'a {
        let mut random = self.noise.map(|seed| Random::new(seed, 0));
        rest.iter().map(move |&p| {
            let rolled = if self.curvature == 0.0 { p } else { self.roll(p) };
            let height = random.as_mut().map_or(0.0, |r| NOISE * (2.0 * f64::from(r.unit()) - 1.0));
            (rolled + self.normal * height).to_array()
        })
    }

    /// Rolls the plane perpendicular to the normal onto a cylinder.
    fn roll(&self, p: DVec3) -> DVec3 {
        let (place, height) = (p.dot(self.along), p.dot(self.normal));
        // Ridges have their centre behind the surface.
        let radius = 1.0 / self.curvature;
        let (sin, cos) = (place * self.curvature).sin_cos();
        let (x, z) = ((radius + height) * sin, (radius + height) * cos - radius);
        p + self.along * (x - place) + self.normal * (z - height)
    }
}

/// Rest frame of a triangle: along its first edge, across, and its normal.
fn frame(element: &Element) -> [DVec3; 3] {
    let x = (element.points[1] - element.points[0]).normalize_or_zero();
    let normal = element.normal();
    [x, normal.cross(x), normal]
}

/// Strain in one direction.
fn strain_along(direction: DVec3, [x, y, _]: [DVec3; 3]) -> [f32; 3] {
    let (a, b) = (direction.dot(x) as f32, direction.dot(y) as f32);
    [a * a, a * b, b * b]
}

/// Starts of a triangle that should shrink: rolled along each edge, to either side; and at rest, to shrink
/// along each edge and uniformly. `shrink` is its closed-form bound by bending alone, and `edge` the edge
/// length of the finer mesh \[m\].
pub(super) fn shrinking(element: &Element, edge: f64, shrink: f64) -> Starts {
    let frame = frame(element);
    let turning = 2.0 * inverse_sinc(shrink) * edge / element.size();
    let along = |k: usize| (element.points[(k + 1) % 3] - element.points[k % 3]).normalize_or_zero();
    let start = |k: usize, curvature: f64, noise: Option<u64>| Start {
        drive: Drive::Strain(-1.0, if k == 3 { EVERYWHERE } else { strain_along(along(k), frame) }),
        along: along(k),
        normal: frame[2],
        curvature,
        noise,
    };
    Starts {
        rolled: std::array::from_fn(|k| start(k % 3, if k < 3 { turning } else { -turning }, None)),
        at_rest: std::array::from_fn(|k| start(k, 0.0, Some(k as u64))),
    }
}

/// Starts of a triangle that should stretch: at rest, in six directions and uniformly, with and without
/// noise.
pub(super) fn stretching(element: &Element) -> [Start; BATCH] {
    let frame = frame(element);
    std::array::from_fn(|lane| {
        let strain = if lane % 8 < 6 {
            let (sin, cos) = (PI * (lane % 8) as f64 / 6.0).sin_cos();
            strain_along(frame[0] * cos + frame[1] * sin, frame)
        } else {
            EVERYWHERE
        };
        let noise = (lane >= 8).then_some(lane as u64);
        Start { drive: Drive::Strain(1.0, strain), along: frame[0], normal: frame[2], curvature: 0.0, noise }
    })
}

/// Starts of a hinge that should bend down and up: rolled about its edge and obliquely, and at rest. `bend`
/// are its closed-form bounds \[rad\], and `edge` the edge length of the finer mesh \[m\].
pub(super) fn bending(element: &Element, edge: f64, bend: [f32; 2]) -> Starts {
    let normal = element.normal();
    let axis = (element.points[1] - element.points[0]).normalize_or_zero();
    let across = axis.cross(normal).normalize_or_zero();
    let width = (element.points[2] - element.points[3]).dot(across).abs().max(edge) / edge;
    let start = |up: usize, turn: f64, noise: Option<u64>| {
        let sign = [-1.0, 1.0][up];
        // Beyond a full turn a roll intersects itself.
        let turning = f64::from(bend[up]).abs().min(TAU);
        let (sin, cos) = turn.sin_cos();
        Start {
            drive: Drive::Bend(sign as f32),
            along: across * cos + axis * sin,
            normal,
            curvature: if noise.is_some() { 0.0 } else { sign * turning / width },
            noise,
        }
    };
    Starts {
        rolled: std::array::from_fn(|k| start(k / 3, TURNS[k % 3], None)),
        at_rest: std::array::from_fn(|k| start(k % 2, 0.0, Some(k as u64))),
    }
}

/// The x in \[0, π\] with sin(x) / x = `value`.
fn inverse_sinc(value: f64) -> f64 {
    let (mut low, mut high) = (0.0, PI);
    for _ in 0..40 {
        let x: f64 = 0.5 * (low + high);
        if x.sin() > value * x { low = x } else { high = x }
    }
    0.5 * (low + high)
}
