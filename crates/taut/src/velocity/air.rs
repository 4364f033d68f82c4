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
        lanes::Lanes,
        random::Random,
        real::{V3, add, dot, scale},
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

/// The drag of a piece of a strand \[N\]: a cylinder across a slow flow, whose coefficient is about 1 + 10
/// Re^(−2/3) (White, *Viscous Fluid Flow*), and half of that along it. `u` is its velocity relative to the
/// air \[m/s\], `tangent` its direction, `size` its length and radius \[m\], `w` its inverse mass \[1/kg\].
/// As that of triangles it is divided by one plus its own rate times the step `dt` \[s\].
pub(super) fn strand_drag(
    density: f32,
    u: Vec3,
    tangent: Vec3,
    [length, radius]: [f32; 2],
    (w, dt): (f32, f32),
) -> Vec3 {
    let speed = u.length();
    if speed <= 1e-6 {
        return Vec3::ZERO;
    }
    let reynolds = density * speed * 2.0 * radius / VISCOSITY;
    let coefficient = 1.0 + 10.0 * reynolds.powf(-2.0 / 3.0);
    let drag = density * coefficient * radius * length * speed;
    let along = tangent * u.dot(tangent);
    (0.5 * along - u) * (drag / (1.0 + drag * w * dt))
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
