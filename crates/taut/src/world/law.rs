//! Stiffness inside the limits in the units of a filter: by the integrator, and by what iterations carry.

use glam::Vec3;
use serde::Serialize;

use super::pressure;
use crate::{
    Cloth, Description, Integrator, Material, Schedule, Solid,
    body::{BodyTables, cloths},
    boundary::bag::Bag,
    kernel::membrane::Woven,
    schedule::square_factor,
    solve::nearest::{
        filter::stiffness,
        tuning::{RING_POISSON_FROM, RING_POISSON_OWN, STIFFEST, STIFFEST_COMPRESSED},
    },
    term::strain::LawKind,
    velocity::{
        fem_tetrahedron::lame,
        predict::{Formula, drag_factor},
    },
};

/// Length of a step and how it is integrated.
#[derive(Clone, Copy)]
pub(super) struct TimeStep {
    /// \[s\].
    pub dt: f64,
    pub integrator: Integrator,
}

impl TimeStep {
    pub fn new(description: &Description, schedule: &Schedule) -> Self {
        let dt = f64::from(description.frame_time) / f64::from(schedule.steps_per_frame);
        Self { dt, integrator: schedule.integrator }
    }

    /// What stiffness is multiplied by \[s²\].
    pub fn square(self) -> f64 {
        square_factor(self.integrator) * self.dt * self.dt
    }

    /// Masses of a body in the engine's order \[kg\], heavier by what implicit damping adds.
    pub fn masses(self, body: &BodyTables) -> Vec<f64> {
        let damping = f64::from(body.damping);
        let factor = match self.integrator {
            Integrator::Bdf2 => drag_factor(Formula::Bdf2, damping, self.dt),
            Integrator::Euler => drag_factor(Formula::Euler, damping, self.dt),
            Integrator::LeapFrog => 1.0,
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
    (bodies, bags): (&[BodyTables], &[Bag]),
    time: TimeStep,
) -> Vec<CarriedStiffness> {
    let of = |(cloth, body): (&Cloth, &BodyTables)| {
        let number = bodies.iter().position(|other| std::ptr::eq(other, body));
        let tension = number.map_or(0.0, |number| pressure::tension(description, bags, number));
        let masses = time.masses(body);
        let mean = masses.iter().sum::<f64>() / masses.len() as f64;
        let kappa = stiffness(masses.len(), size(&cloth.mesh.positions), &[body.size().powi(2)], &[]);
        let kappa = kappa * pressure::load(tension, [time.square(), mean, kappa]);
        let used = law(&cloth.material, [time.square(), mean, kappa]);
        let whole = cloth.material.law().scaled(time.square() / mean);
        // Of the direction that has less.
        let share = |k: usize| {
            let tension = used.stiffness[k] / whole.stiffness[k];
            [tension, tension * used.compression[k]]
        };
        let [tension, compression] = [0, 1].map(|k| share(0)[k].min(share(1)[k]));
        (compression < 1.0).then(|| CarriedStiffness { cloth: cloth.name.clone(), tension, compression })
    };
    cloths(description, bodies).filter_map(of).collect()
}

/// The kind of law that all of `laws` are of.
pub(super) fn law_kind(laws: &[Woven<f64>]) -> LawKind {
    if laws.is_empty() {
        LawKind::Free
    } else if laws.iter().all(Woven::is_isotropic) {
        LawKind::Isotropic
    } else {
        LawKind::Woven
    }
}

/// The law of `material` in units of a mass of `mean` \[kg\]: `square` is the square of a step \[s²\],
/// `kappa` κ of the ramp's factor 1. No stiffer than iterations carry.
pub(super) fn law(material: &Material, [square, mean, kappa]: [f64; 3]) -> Woven<f64> {
    let law = material.law().scaled(square / mean);
    let cap = |modulus: f64, most: f64| (most * kappa / modulus).min(1.0);
    // Each direction by itself.
    let [warp, weft] = law.stiffness.map(|c| cap(c, STIFFEST));
    let law = Woven {
        stiffness: [law.stiffness[0] * warp, law.stiffness[1] * weft],
        coupling: law.coupling * (warp * weft).sqrt(),
        ..law
    };
    // What is the same in all directions stays so; the shear of woven cloth needs no cap.
    let [c11, c22] = law.stiffness;
    let most = if warp.min(weft) < 1.0 { (c11 * c22).sqrt() - law.coupling } else { 2.0 * STIFFEST * kappa };
    let law = Woven { shear: law.shear.min(most), ..law };
    Woven { compression: law.stiffness.map(|c| cap(c, STIFFEST_COMPRESSED)), ..law }
}

/// The largest extent of a rest shape \[m\].
pub(super) fn size(positions: &[Vec3]) -> f64 {
    let (low, high) = positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
    f64::from((high - low).max_element())
}

/// μ and λ of the law of each tetrahedron, and the part of λ that acts on volumes around vertices \[Pa\]:
/// nearly incompressible tetrahedra would lock.
pub(super) fn moduli(solid: &Solid) -> [f64; 3] {
    let [young, poisson] = [solid.material.young, solid.material.poisson].map(f64::from);
    let [lambda, mu] = lame(young, poisson);
    if solid.preserve_volume || poisson <= RING_POISSON_FROM {
        return [mu, lambda, 0.0];
    }
    let own = 2.0 * mu * RING_POISSON_OWN / (1.0 - 2.0 * RING_POISSON_OWN);
    [mu, own, lambda - own]
}
