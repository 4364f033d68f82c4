//! The cantilever test (ASTM D1388, BS 3356): how far a strip hangs over an edge when its tip is seen from
//! there at 41.5 degrees.

use glam::Vec3;
use serde::Serialize;

use super::{Cut, GRAVITY, mean, settle, strip};
use crate::{Material, WorldError};

/// The angle of the tip below the edge at which the overhang is read \[°\].
pub const ANGLE: f64 = 41.5;

/// Cells along the overhang.
const CELLS: u32 = 40;

/// Width of a strip \[m\].
const WIDTH: f64 = 0.025;

/// What a cantilever test found.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cantilever {
    /// How the strip was cut.
    pub cut: Cut,
    /// Overhang at 41.5 degrees \[m\].
    pub overhang: f64,
    /// Bending length: half of that \[m\].
    pub bending_length: f64,
    /// The bending length by Peirce's formula, (D/ρg)^⅓, of the material's own rigidity \[m\].
    pub expected: f64,
    /// Flexural rigidity that a laboratory would compute from it, ρ g c³ \[N m\].
    pub rigidity: f64,
}

/// Lets strips of different lengths hang over an edge until one is at 41.5 degrees.
///
/// # Errors
/// If the material cannot be simulated.
pub fn cantilever(material: &Material, cut: Cut) -> Result<Cantilever, WorldError> {
    let weight = f64::from(material.density) * GRAVITY;
    let expected = (cut.rigidity(material) / weight).cbrt();
    let target = ANGLE.to_radians();
    // The angle grows about with the square root of the length near there; then secants.
    let mut tried = [(2.0 * expected, 0.0); 2];
    tried[0].1 = angle(material, cut, tried[0].0)?;
    tried[1].0 = tried[0].0 * (target / tried[0].1.max(0.05)).sqrt().clamp(0.5, 2.0);
    for _ in 0..4 {
        tried[1].1 = angle(material, cut, tried[1].0)?;
        let [(l0, a0), (l1, a1)] = tried;
        if (a1 - target).abs() < 1e-3 || (a1 - a0).abs() < 1e-6 {
            break;
        }
        let next = (l1 + (target - a1) * (l1 - l0) / (a1 - a0)).clamp(0.5 * l1, 2.0 * l1);
        tried = [tried[1], (next, 0.0)];
        tried[1].1 = angle(material, cut, next)?;
        if (tried[1].1 - target).abs() < 1e-3 {
            break;
        }
    }
    let overhang = tried[1].0;
    let bending_length = 0.5 * overhang;
    Ok(Cantilever { cut, overhang, bending_length, expected, rigidity: weight * bending_length.powi(3) })
}

/// The angle of the tip of a strip that hangs `overhang` \[m\] over an edge \[rad\].
fn angle(material: &Material, cut: Cut, overhang: f64) -> Result<f64, WorldError> {
    // Held by two rows of vertices, the strip bends between these too: the edge is half a cell inside.
    let cell = overhang / (f64::from(CELLS) + 0.5);
    let across = ((WIDTH / cell).round() as u32).clamp(2, 2 * CELLS);
    let size = [cell * f64::from(across), cell * f64::from(CELLS + 1)].map(|length| length as f32);
    let damped = Material { damping: 4.0, ..material.clone() };
    let description = strip(&damped, cut, size, [across, CELLS + 1], 1.01 * cell as f32);
    let (world, state) = settle(description, [60, 600], 2e-4, 1)?;
    let tip = mean(&world, &state, |p| p.z > size[1] - 0.01 * cell as f32);
    let edge = Vec3::new(tip.x, 0.0, 0.5 * cell as f32);
    let way = tip - edge;
    Ok(f64::from((-way.y).atan2(way.z)))
}
