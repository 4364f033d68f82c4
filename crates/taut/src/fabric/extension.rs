//! Extension of strips: by their own weight, and pulled along warp, weft and bias, or both ways at once.

use glam::Vec3;
use serde::Serialize;

use super::{Cut, GRAVITY, described, mean, settle, strip};
use crate::{Direction, Material, WorldError, certify, mesh::generate};

/// Strain that the weight of a strip is raised to, where its own would stretch it less \[1\]: below that,
/// single precision shows.
const LEAST: f64 = 1e-3;

/// What a strip of 1 m that hangs did.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Hanging {
    /// How the strip was cut.
    pub cut: Cut,
    /// Strain in its middle by its own weight.
    pub strain: f64,
    /// How much it narrows there, of what it lengthens.
    pub narrowing: f64,
    /// Both by the material's own law.
    pub expected: [f64; 2],
    /// How many times its own weight it hung with; the strain is that part of what was seen.
    pub weights: f64,
}

/// Hangs a strip of 1 m by its upper edge.
///
/// # Errors
/// If the material cannot be simulated.
pub fn hanging(material: &Material, cut: Cut) -> Result<Hanging, WorldError> {
    let [young, poisson] = cut.stretching(material);
    let expected = 0.5 * GRAVITY * f64::from(material.density) / young;
    let weights = (LEAST / expected).max(1.0);
    let density = (weights * f64::from(material.density)) as f32;
    let loaded = Material { density, damping: 2.0, ..material.clone() };
    let mut description = strip(&loaded, cut, [0.1, 1.0], [4, 40], 1e-6);
    for cloth in description.cloths_mut() {
        cloth.start = cloth.mesh.positions.iter().map(|p| Vec3::new(p.x, -p.z, 0.0)).collect();
    }
    description.solver.steps_per_frame = steps(&loaded);
    let (world, state) = settle(description, [120, 480], 1e-4, 1)?;
    let [above, below] = [0.3, 0.7].map(|at: f32| mean(&world, &state, |p| (p.z - at).abs() < 1e-4));
    let middle = |p: Vec3| p.z > 0.29 && p.z < 0.71;
    let [left, right] =
        [0.0, 0.1].map(|at: f32| mean(&world, &state, |p| middle(p) && (p.x - at).abs() < 1e-4));
    // Across the strip, which may lean.
    let across = f64::from((right - left).reject_from(above - below).length());
    let strain = f64::from(above.distance(below)) / 0.4 - 1.0;
    let narrowing = (1.0 - across / 0.1) / strain;
    Ok(Hanging { cut, strain: strain / weights, narrowing, expected: [expected, poisson], weights })
}

/// Steps per frame that carry the stiffness of a strip whose warp, weft and bias may differ by much.
fn steps(material: &Material) -> u32 {
    let stretch = material.stretch;
    let stiffest = f64::from(stretch.warp.max(stretch.weft));
    // The speed of sound, in strips of 1 m a frame.
    let waves = (stiffest / f64::from(material.density)).sqrt() / 30.0;
    ((waves / 4.0).ceil() as u32).clamp(1, 16)
}

/// How a specimen is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pull {
    /// A strip along its length, free to narrow.
    Along(Cut),
    /// A square, along warp and weft at once.
    Both,
}

/// One point of a curve of force and strain.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Extension {
    /// Strain in the middle of the specimen.
    pub strain: f64,
    /// Force by width \[N/m\]; pulled both ways, the mean of warp and weft.
    pub force: f64,
    /// How much a strip has narrowed.
    pub narrowing: f64,
}

/// Pulls a specimen to `points` strains up to `most`, without weight.
///
/// # Errors
/// If the material cannot be simulated.
pub fn extension(
    material: &Material,
    pull: Pull,
    most: f64,
    points: u32,
) -> Result<Vec<Extension>, WorldError> {
    (1..=points).map(|k| pulled(material, pull, most * f64::from(k) / f64::from(points))).collect()
}

fn pulled(material: &Material, pull: Pull, strain: f64) -> Result<Extension, WorldError> {
    let (size, cells, warp) = match pull {
        Pull::Along(cut) => ([0.025, 0.5], [4, 80], cut.warp()),
        Pull::Both => ([0.1, 0.1], [10, 10], Direction::Along(Vec3::Z)),
    };
    let mesh = generate::grid(size, cells, generate::Diagonals::Alternating, 0);
    let is_rim = |p: Vec3| p.x < 1e-5 || p.x > size[0] - 1e-5;
    let is_end = |p: Vec3| p.z < 1e-5 || p.z > size[1] - 1e-5;
    // Its mass does not matter where it rests: heavy enough that long steps carry its stiffness.
    let stiffest = material.stretch.warp.max(material.stretch.weft);
    let density = material.density.max(stiffest / 1e4);
    let damped = Material { density, damping: 10.0, ..material.clone() };
    let held = |p: Vec3| is_end(p) || (pull == Pull::Both && is_rim(p));
    let mut description = described(&damped, warp, mesh, held);
    description.gravity = Vec3::ZERO;
    description.solver.steps_per_frame = steps(&damped);
    let stretch = 1.0 + strain as f32;
    for cloth in description.cloths_mut() {
        let across = if pull == Pull::Both { stretch } else { 1.0 };
        cloth.start =
            cloth.mesh.positions.iter().map(|p| Vec3::new(p.x * across, p.y, p.z * stretch)).collect();
        cloth.imperfection = Some(0.0);
    }
    let (world, state) = settle(description, [120, 480], 1e-6, 1)?;
    let middle = |p: Vec3| (p.z - 0.5 * size[1]).abs() < 0.2 * size[1];
    let [left, right] =
        [0.0, size[0]].map(|at| mean(&world, &state, |p| middle(p) && (p.x - at).abs() < 1e-5));
    let narrowing = 1.0 - f64::from((right - left).length() / size[0]);
    // Rows that both meshes have.
    let [near, far] =
        [0.2, 0.8].map(|share: f32| mean(&world, &state, |p| (p.z - share * size[1]).abs() < 0.01 * size[1]));
    // The energy is a square of the extension: the force is twice of it by that.
    let energy = certify(&world, &state).bodies[0].energy.stretch / f64::from(size[0] * size[1]);
    let sides = if pull == Pull::Both { 2.0 } else { 1.0 };
    Ok(Extension {
        strain: f64::from(near.distance(far) / (0.6 * size[1])) - 1.0,
        force: 2.0 * energy / (strain * sides),
        narrowing,
    })
}
