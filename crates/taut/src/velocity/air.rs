//! Air drag and wind.

use glam::Vec3;

/// The air around the cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// Density \[kg/m³\]; 0 for a vacuum.
    pub density: f32,
    /// Wind: (time \[s\], velocity \[m/s\]) with linear interpolation; sorted by time, constant outside.
    pub wind: Vec<(f32, Vec3)>,
    /// Strength of gusts as a fraction of the wind's speed, 0 to 1: seeded turbulence that varies over time and space.
    pub gust: f32,
}

impl Default for Air {
    fn default() -> Self {
        Self { density: 1.2, wind: Vec::new(), gust: 0.0 }
    }
}
