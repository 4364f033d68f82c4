//! Bending stiffness that makes a material do what a fabric did in the laboratory.

use serde::Serialize;

use super::{Cut, GRAVITY, cantilever, drape};
use crate::{Material, WorldError};

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Bending length of a strip \[m\].
    BendingLength(Cut, f64),
    /// Drape coefficient, 0 to 1.
    Drape(f64),
}

/// A material that was fitted.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    /// The material.
    pub material: Material,
    /// Factor on its bending stiffness.
    pub factor: f64,
    /// What it does now: a bending length \[m\] or a drape coefficient.
    pub reached: f64,
    /// Whether that is what was measured, to a hundredth of it (bending length) or of all (drape).
    pub met: bool,
}

/// Largest and smallest factor on the bending stiffness that is tried for a drape.
const FACTORS: [f64; 2] = [1e-3, 1e3];

/// Drapes that are tried at most.
const TRIES: u32 = 12;

/// Scales the bending stiffness of `material` until it does what `target` says; other numbers stay. `rings`
/// of a drape as for [`drape`].
///
/// # Errors
/// If the material cannot be simulated.
pub fn fit(material: &Material, target: Target, rings: u32, threads: usize) -> Result<Fitted, WorldError> {
    match target {
        Target::BendingLength(cut, length) => fit_length(material, cut, length),
        Target::Drape(coefficient) => fit_drape(material, coefficient, rings, threads),
    }
}

fn scaled(material: &Material, factor: f64) -> Material {
    Material { name: "custom".into(), bend: material.bend.scaled(factor as f32), ..material.clone() }
}

/// By Peirce's formula, and once more by what the strip then does.
fn fit_length(material: &Material, cut: Cut, length: f64) -> Result<Fitted, WorldError> {
    let asked = f64::from(material.density) * GRAVITY * length.powi(3);
    let mut factor = asked / cut.rigidity(material).max(1e-30);
    let first = cantilever(&scaled(material, factor), cut)?.bending_length;
    factor *= (length / first).powi(3).clamp(0.5, 2.0);
    let material = scaled(material, factor);
    let reached = cantilever(&material, cut)?.bending_length;
    Ok(Fitted { material, factor, reached, met: (reached / length - 1.0).abs() < 0.01 })
}

/// By bisection of the logarithm, since stiffer cloth drapes less, with a few points of scatter from folds
/// that come and go.
fn fit_drape(
    material: &Material,
    coefficient: f64,
    rings: u32,
    threads: usize,
) -> Result<Fitted, WorldError> {
    let reached = |factor: f64| Ok(drape(&scaled(material, factor), rings, threads)?.coefficient);
    let mut best = (1.0, reached(1.0)?);
    let (mut low, mut high) = (FACTORS[0].ln(), FACTORS[1].ln());
    let mut at = 0.0f64;
    // Outwards first, to bracket it.
    let mut step = 1.0;
    for _ in 1..TRIES {
        if (best.1 - coefficient).abs() < 0.01 {
            break;
        }
        let found = reached_at(&mut best, coefficient, at, &reached)?;
        if found < coefficient {
            low = at
        } else {
            high = at
        }
        let bracketed = low > FACTORS[0].ln() && high < FACTORS[1].ln();
        at = if bracketed {
            0.5 * (low + high)
        } else {
            step *= 1.5;
            (if found < coefficient { at + step } else { at - step }).clamp(FACTORS[0].ln(), FACTORS[1].ln())
        };
    }
    let (factor, reached) = best;
    Ok(Fitted {
        material: scaled(material, factor),
        factor,
        reached,
        met: (reached - coefficient).abs() < 0.01,
    })
}

/// The drape at the logarithm `at` of a factor; keeps the best one.
fn reached_at(
    best: &mut (f64, f64),
    coefficient: f64,
    at: f64,
    reached: &impl Fn(f64) -> Result<f64, WorldError>,
) -> Result<f64, WorldError> {
    let found = if at == 0.0 { best.1 } else { reached(at.exp())? };
    if (found - coefficient).abs() < (best.1 - coefficient).abs() {
        *best = (at.exp(), found);
    }
    Ok(found)
}
