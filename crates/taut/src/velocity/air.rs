//! Air drag and wind.
//!
//! Every triangle meets the air as a plate: pressure ½ ρ C |u·n| u·n along its normal, u the velocity
//! relative to the air. It is taken once a step, and divided by one plus its own rate times the step, so that
//! strong wind on light film brings the film to the wind's speed instead of beyond it.

use glam::Vec3;

use super::fem::{MembraneLanes, area_vector};
use crate::{
    exec::{
        batch::xyz,
        colored::{Corners, Kernel},
    },
    kernel::{
        lanes::{BATCH, Lanes, Quad, Work},
        random::Random,
        real::{V3, add, combine, dot, scale},
    },
};

/// Drag coefficient of a plate across the flow.
const PLATE: f32 = 1.28;

/// The air around the cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// Density \[kg/m³\]; 0 for a vacuum.
    pub density: f32,
    /// Wind: (time \[s\], velocity \[m/s\]) with linear interpolation; sorted by time, constant outside.
    pub wind: Vec<(f32, Vec3)>,
    /// Strength of gusts as a fraction of the wind's speed, 0 to 1: seeded turbulence that varies over time
    /// and space.
    pub gust: f32,
}

impl Default for Air {
    fn default() -> Self {
        Self { density: 1.2, wind: Vec::new(), gust: 0.0 }
    }
}

impl Air {
    /// The wind at `time`, without gusts \[m/s\].
    pub fn wind(&self, time: f32) -> Vec3 {
        let next = self.wind.partition_point(|(t, _)| *t <= time);
        match (next.checked_sub(1).and_then(|k| self.wind.get(k)), self.wind.get(next)) {
            (Some(a), Some(b)) => a.1.lerp(b.1, (time - a.0) / (b.0 - a.0)),
            (Some(k), None) | (None, Some(k)) => k.1,
            (None, None) => Vec3::ZERO,
        }
    }
}

/// Gusts: a few waves of random direction, length and phase that the wind carries along.
#[derive(Clone, Debug)]
pub struct Gusts {
    waves: Vec<(Vec3, f32, f32)>,
}

impl Gusts {
    /// The gusts of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 0x6057);
        let waves = (0..6)
            .map(|k| {
                let direction = Vec3::new(random.unit() - 0.5, random.unit() - 0.5, random.unit() - 0.5);
                // Waves of 4 m down to 0.4 m, the shorter the quicker.
                let number = 1.6 * 1.6f32.powi(k);
                (
                    direction.normalize_or(Vec3::X) * number,
                    1.5 * 1.5f32.powi(k),
                    random.unit() * std::f32::consts::TAU,
                )
            })
            .collect();
        Self { waves }
    }

    /// Strength at a place and time, about −1 to 1.
    pub fn at(&self, p: Vec3, time: f32) -> f32 {
        let sum: f32 =
            self.waves.iter().map(|(k, omega, phase)| (k.dot(p) - omega * time + phase).sin()).sum();
        sum / 3.0
    }
}

/// Viscosity of air \[Pa s\].
const VISCOSITY: f32 = 1.8e-5;

/// 1 / ∛x² of a positive number to 4e-6, in a third of the time of `powf`: a guess from the exponent, and
/// three steps of Newton's method.
#[inline(always)]
fn inverse_two_thirds(x: f32) -> f32 {
    let x = x.clamp(1e-30, 1e30);
    let mut y = f32::from_bits(0x54a2_fa8c - x.to_bits() / 3);
    for _ in 0..3 {
        y *= 4.0 / 3.0 - x * y * y * y * (1.0 / 3.0);
    }
    y * y
}

/// A piece of a strand in the air: half of the segments at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PieceInAir {
    /// From the point before to the next one \[m\].
    pub way: Vec3,
    /// Velocity relative to the air \[m/s\].
    pub velocity: Vec3,
    /// Length and radius \[m\].
    pub length: f32,
    pub radius: f32,
    /// Inverse mass \[1/kg\].
    pub inverse_mass: f32,
}

/// The drag of pieces of strands: cylinders across a slow flow, whose coefficient is about 1 + 10 Re^(−2/3)
/// (White, *Viscous Fluid Flow*), and half of that along it. As that of triangles it is divided by one plus
/// its own rate times the step `dt` \[s\].
pub(super) struct StrandDrag<'a> {
    /// Of the air \[kg/m³\].
    pub density: f32,
    /// Length of the step \[s\].
    pub dt: f32,
    pub pieces: &'a [PieceInAir; BATCH],
    /// Forces \[N\]; fourth components are 0.
    pub drag: &'a mut [Quad; BATCH],
}

impl Work for StrandDrag<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let mut rows = [[0.0f32; BATCH]; 9];
        for (lane, piece) in self.pieces.iter().enumerate() {
            for c in 0..3 {
                rows[c][lane] = piece.way[c];
                rows[3 + c][lane] = piece.velocity[c];
            }
            (rows[6][lane], rows[7][lane], rows[8][lane]) = (piece.length, piece.radius, piece.inverse_mass);
        }
        let mut coefficients = [0.0f32; BATCH];
        for lane in 0..BATCH {
            let [x, y, z] = [rows[3][lane], rows[4][lane], rows[5][lane]];
            let speed = (x * x + y * y + z * z).sqrt();
            let reynolds = self.density * speed * 2.0 * rows[7][lane] / VISCOSITY;
            coefficients[lane] = 1.0 + 10.0 * inverse_two_thirds(reynolds);
        }
        for at in (0..BATCH).step_by(L::WIDTH) {
            let [w0, w1, w2, u0, u1, u2, length, radius, inverse_mass] = L::load_all(&rows, at);
            let (way, u) = ([w0, w1, w2], [u0, u1, u2]);
            let speed = dot(u, u).sqrt();
            let coefficient = L::load(&coefficients, at);
            let rate = L::splat(self.density) * coefficient * radius * length * speed;
            let along = scale(way, dot(u, way) / dot(way, way).max(L::splat(1e-30)));
            let factor = rate / (one + rate * inverse_mass * L::splat(self.dt));
            let factor = L::select(L::splat(1e-6).lt(speed), factor, zero);
            let [a, b, c] = combine(along, factor * L::splat(0.5), u, -factor);
            L::store_quads(self.drag, at, [a, b, c, zero]);
        }
    }
}

/// The drag of triangles, whose second corners are velocities relative to the air \[m/s\].
pub struct Drag {
    /// Density of the air \[kg/m³\].
    pub density: f32,
    /// Length of the step \[s\].
    pub dt: f32,
}

impl Kernel<MembraneLanes, 3> for Drag {
    type Beside = ();

    #[inline(always)]
    fn apply<L: Lanes>(
        &self,
        data: &MembraneLanes,
        (): &mut (),
        at: usize,
        corners: &Corners<L, 3>,
        _worst: &mut L,
    ) -> Option<[V3<L>; 3]> {
        let (third, tiny, one) = (L::splat(1.0 / 3.0), L::splat(1e-30), L::splat(1.0));
        let factor = L::splat(0.5 * PLATE * self.density);
        let (x, u) = (xyz(&corners.quads), corners.second?);
        let mean = scale(add(add(u[0], u[1]), u[2]), third);
        let area = area_vector(&x);
        let doubled = dot(area, area).sqrt().max(tiny);
        let across = dot(mean, area) / doubled;
        let rate = factor * across.abs();
        let pressure = rate * across / (one + L::splat(self.dt) * rate * L::load(&data.inverse_density, at));
        // Half of the area vector is the area times the normal; a third goes to each vertex.
        let force = scale(area, -(pressure * L::splat(0.5) * third));
        Some([force; 3])
    }
}
