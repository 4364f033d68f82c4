//! What point masses cannot be simulated.

use crate::{Description, Limit, Model, Particles, WorldError};

/// The error that says what is wrong with `particles`.
fn invalid(particles: &Particles, problem: String) -> WorldError {
    WorldError::Particles { name: particles.name.clone(), problem }
}

/// Refuses what cannot be simulated.
pub(crate) fn check(particles: &Particles, _description: &Description) -> Result<(), WorldError> {
    let need = |ok: bool, problem: &str| if ok { Ok(()) } else { Err(invalid(particles, problem.into())) };
    let count = particles.mesh.positions.len();
    need(count > 0, "has no particle; at least one is needed")?;
    if let Some(problem) = particles.mesh.problem() {
        return Err(invalid(particles, problem));
    }
    need(particles.start.len() == count, "needs one start position for each particle")?;
    let fine = |p: &glam::Vec3| p.is_finite() && p.abs().max_element() <= 1e6;
    need(particles.start.iter().all(fine), "positions must be finite and within 1e6 m")?;
    need(particles.velocity.is_finite(), "velocity must be finite")?;
    need(particles.masses.len() == count, "needs one mass for each particle")?;
    need(
        particles.masses.iter().all(|m| (1e-12..=1e12).contains(m)),
        "masses must lie between 1e-12 and 1e12 kg",
    )?;
    let at_least_0 = |v: f32| v.is_finite() && v >= 0.0;
    need(at_least_0(particles.radius), "radius must be finite and at least 0")?;
    need(at_least_0(particles.damping), "damping must be finite and at least 0")?;
    match particles.model {
        Model::Fem => {}
        Model::Developable(_) => {
            need(false, "model \"developable\" is for cloth; particles have \"fem\" or \"pbd\"")?
        }
        Model::Edge(_) => need(false, "model \"edge\" is for cloth; particles have \"fem\" or \"pbd\"")?,
        Model::Pbd(settings) => {
            if let Some(problem) = settings.problem() {
                return Err(invalid(particles, problem));
            }
        }
    }
    let springs = &particles.springs;
    need(at_least_0(springs.stiffness), "stiffness of springs must be finite and at least 0")?;
    need(at_least_0(springs.damping), "damping of springs must be finite and at least 0")?;
    need(at_least_0(springs.rest), "rest of springs must be finite and at least 0")?;
    need(
        springs.breaking_force.is_none_or(|force| force.is_finite() && force > 0.0),
        "breaking_force of springs must be finite and above 0",
    )?;
    need(
        springs.breaking_force.is_none() || springs.stiffness > 0.0 || particles.model.pbd().is_none(),
        "breaking_force of springs needs a stiffness above 0 with model \"pbd\"",
    )?;
    let Limit { min, max } = particles.edge;
    if !(min.is_none_or(|m| (-1.0..=0.0).contains(&m)) && max.is_none_or(|m| m >= 0.0 && m.is_finite())) {
        let problem = "a limit's min must lie between -1 and 0, its max be at least 0".into();
        return Err(WorldError::Limit { kind: "particles", name: particles.name.clone(), problem });
    }
    need(
        !particles.edge.is_some() || springs.breaking_force.is_none(),
        "breaking_force cannot be combined with limits of segments, which hold whatever the force",
    )?;
    let short = (0..particles.mesh.segments.len()).find(|&k| particles.mesh.length(k) < 1e-9);
    match short.filter(|_| particles.edge.is_some()) {
        Some(k) => {
            Err(invalid(particles, format!("segment {k} has no length, so that it cannot be limited")))
        }
        None => Ok(()),
    }
}
