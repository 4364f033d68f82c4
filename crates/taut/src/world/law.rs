//! Stiffness inside the limits in the units of a filter: by the integrator, and by what iterations carry.

use serde::Serialize;

use super::filters::size;
use crate::{
    Cloth, Description, Integrator, Material,
    body::{BodyTables, cloths},
    kernel::membrane::Woven,
    measure::Ruler,
    schedule::square_factor,
    solve::nearest::{
        filter::stiffness,
        tuning::{STIFFEST, STIFFEST_COMPRESSED},
    },
    term::strain::LawKind,
    velocity::predict::{Formula, drag_factor},
};

/// Length of a step and how it is integrated.
#[derive(Clone, Copy)]
pub(super) struct TimeStep {
    /// \[s\].
    pub dt: f64,
    pub integrator: Option<Integrator>,
}

impl TimeStep {
    pub fn of(ruler: &Ruler) -> Self {
        let dt = f64::from(ruler.description.frame_time) / f64::from(ruler.steps_per_frame());
        Self { dt, integrator: ruler.schedule.integrator }
    }

    /// What stiffness is multiplied by \[s²\].
    pub fn square(self) -> f64 {
        square_factor(self.integrator) * self.dt * self.dt
    }

    /// Masses of a body in the engine's order \[kg\], heavier by what implicit damping adds.
    pub fn masses(self, body: &BodyTables) -> Vec<f64> {
        let damping = f64::from(body.damping);
        let factor = match self.integrator {
            Some(Integrator::Bdf2) => drag_factor(Formula::Bdf2, damping, self.dt),
            Some(Integrator::Euler) => drag_factor(Formula::Euler, damping, self.dt),
            Some(Integrator::LeapFrog) | None => 1.0,
        };
        body.order().iter().map(|&v| factor * body.masses[v as usize]).collect()
    }
}

/// How much of its stiffness against stretching a cloth has, with an implicit integrator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CarriedStiffness {
    /// Name of the cloth.
    pub cloth: String,
    /// Fraction of the material's stiffness that it has in tension.
    pub tension: f64,
    /// The same in compression.
    pub compression: f64,
}

/// What each cloth has less than all of.
pub(super) fn carried_stiffness(
    description: &Description,
    bodies: &[BodyTables],
    time: TimeStep,
) -> Vec<CarriedStiffness> {
    let of = |(cloth, body): (&Cloth, &BodyTables)| {
        let masses = time.masses(body);
        let mean = masses.iter().sum::<f64>() / masses.len() as f64;
        let kappa = stiffness(masses.len(), size(&cloth.mesh.positions), &[body.size().powi(2)], &[]);
        let used = law(&cloth.material, time.integrator, [time.square(), mean, kappa]);
        let whole = cloth.material.law().scaled(time.square() / mean);
        let tension = used.stiffness[0] / whole.stiffness[0];
        let compression = tension * used.compression[0];
        (compression < 1.0).then(|| CarriedStiffness { cloth: cloth.name.clone(), tension, compression })
    };
    cloths(description, bodies).filter_map(of).collect()
}

/// The kind of law that all of `laws` are of.
pub(super) fn law_kind(laws: &[Woven<f64>], integrator: Option<Integrator>) -> LawKind {
    if laws.is_empty() {
        LawKind::Free
    } else if integrator.is_none() {
        LawKind::Simple
    } else if laws.iter().all(Woven::is_isotropic) {
        LawKind::Isotropic
    } else {
        LawKind::Woven
    }
}

/// The law of `material` in units of a mass of `mean` \[kg\]: `square` is the square of a step \[s²\],
/// `kappa` κ of the ramp's factor 1. For an implicit integrator no stiffer than its iterations carry.
pub(super) fn law(
    material: &Material,
    integrator: Option<Integrator>,
    [square, mean, kappa]: [f64; 3],
) -> Woven<f64> {
    if integrator.is_none() {
        let young = square * f64::from(material.stretch) / mean;
        return Woven {
            stiffness: [young; 2],
            coupling: 0.0,
            shear: young,
            compression: [1.0; 2],
            axis: [1.0, 0.0],
        };
    }
    let law = material.law().scaled(square / mean);
    let stiffest = law.stiffness[0].max(law.stiffness[1]);
    let law = law.scaled((STIFFEST * kappa / stiffest).min(1.0));
    Woven { compression: law.stiffness.map(|c| (STIFFEST_COMPRESSED * kappa / c).min(1.0)), ..law }
}
