//! What cannot be simulated, whatever the bodies. Scene files are checked with lines and keys before; this is
//! for callers of the library.

use crate::{
    Body, Contact, Description, Model, Obstacle, PressureLaw, Scheme, WorldError, body,
    kernel::lanes::VertexOffset, schedule,
};

/// Refuses a description without a body.
pub(crate) fn check_not_empty(description: &Description) -> Result<(), WorldError> {
    if description.bodies.is_empty() { Err(WorldError::NoBodies) } else { Ok(()) }
}

/// Refuses more vertices than the engine can address; `counts` are those of bodies and mesh obstacles.
pub(crate) fn check_vertex_count(counts: impl IntoIterator<Item = usize>) -> Result<(), WorldError> {
    let count = counts.into_iter().fold(0, usize::saturating_add);
    let limit = VertexOffset::LIMIT as usize - 1;
    if count > limit { Err(WorldError::TooManyVertices { count, limit }) } else { Ok(()) }
}

/// Refuses what cannot be simulated. There may be no body.
pub(crate) fn check(description: &Description) -> Result<(), WorldError> {
    check_settings(description)?;
    check_solver(description)?;
    check_obstacles(description)?;
    check_pressures(description)?;
    check_position_based(description)?;
    check_order(description)?;
    for described in &description.bodies {
        body::validate(described, description)?;
        body::check_pins(described)?;
    }
    for spring in &description.springs {
        spring.check(description)?;
    }
    Ok(())
}

/// Hair comes last: filters span the vertices of other bodies.
fn check_order(description: &Description) -> Result<(), WorldError> {
    let mut bodies = description.bodies.iter().skip_while(|body| body.as_hair().is_none());
    let Some(hair) = bodies.next() else { return Ok(()) };
    let Some(after) = bodies.find(|body| body.as_hair().is_none()) else { return Ok(()) };
    let problem =
        format!("must come after all other bodies; {} \"{}\" follows it", after.kind(), after.name());
    Err(WorldError::Hair { name: hair.name().into(), problem })
}

fn check_settings(description: &Description) -> Result<(), WorldError> {
    let need = |is_met: bool, key: &'static str, problem: &str| {
        if is_met { Ok(()) } else { Err(WorldError::Setting { key, problem: problem.into() }) }
    };
    need(description.gravity.is_finite(), "gravity", "gravity must be finite")?;
    let sewing = description.sewing;
    need(sewing >= 0.0 && sewing.is_finite(), "sewing", "sewing must be at least 0")?;
    let frame_time = description.frame_time;
    need(frame_time.is_finite() && frame_time > 0.0, "frame_time", "frame_time must be positive")?;
    let density = description.air.density;
    need(density >= 0.0 && density.is_finite(), "air", "air density must be at least 0")?;
    let is_wind = |(time, wind): &(f32, glam::Vec3)| time.is_finite() && wind.is_finite();
    need(description.air.wind.iter().all(is_wind), "air", "times and speeds of wind must be finite")?;
    let at_least_0 = |v: f32| v >= 0.0 && v.is_finite();
    need(at_least_0(description.air.gust), "air", "gust must be at least 0")?;
    let Contact { thickness, friction } = description.contact;
    need(at_least_0(thickness), "contact", "thickness must be at least 0")?;
    need(at_least_0(friction), "contact", "friction must be at least 0")
}

fn check_solver(description: &Description) -> Result<(), WorldError> {
    let solver = &description.solver;
    let need = |is_met: bool, key: &'static str, problem: &str| {
        if is_met { Ok(()) } else { Err(WorldError::Solver { key, problem: problem.into() }) }
    };
    need(
        solver.tolerance.number().is_none_or(|number| number.is_finite() && number >= 0.0),
        "tolerance",
        "tolerance must be at least 0",
    )?;
    need(
        solver.passes == 0 || matches!(solver.scheme, Scheme::Cycle | Scheme::Paper),
        "passes",
        "passes must be 0 unless the scheme is cycle or paper: others do not pass over levels",
    )?;
    need(
        solver.levels == 0 || matches!(solver.scheme, Scheme::Cycle | Scheme::Paper),
        "levels",
        "levels must be 0 unless the scheme is cycle or paper: others choose their own, or have none",
    )?;
    need(solver.level_iterations > 0, "level_iterations", "there must be at least 1 iteration per level")?;
    need(solver.detect_every > 0, "detect_every", "detect_every must be at least 1")?;
    need(
        solver.bend_tolerance.is_finite() && solver.bend_tolerance >= 0.0,
        "bend_tolerance",
        "bend_tolerance must be at least 0",
    )?;
    need(
        solver.relaxation > 0.0 && solver.relaxation < 2.0,
        "relaxation",
        "relaxation must lie between 0 and 2",
    )?;
    need(
        solver.budget_ms.is_none_or(|ms| (0.0..=1e9).contains(&ms)),
        "budget_ms",
        "budget_ms must be at least 0 and at most 1e9",
    )?;
    let is_implicit = schedule::is_implicit(description);
    need(
        !is_implicit || solver.scheme == Scheme::Nearest,
        "integrator",
        "integrators bdf2 and euler need the scheme nearest; the other schemes support leap-frog only",
    )?;
    need(
        !is_implicit || !description.cloths().any(|cloth| cloth.model.edge().is_some()),
        "integrator",
        "integrators bdf2 and euler cannot be combined with cloth of the model edge, which supports leap-frog only",
    )?;
    need(
        solver.integrator.is_none() || !description.is_position_based(),
        "integrator",
        "the model pbd has an integration of its own; leave the integrator out",
    )?;
    need(solver.steps_per_frame <= 100_000, "steps_per_frame", "there can be at most 100000 steps per frame")
}

fn check_pressures(description: &Description) -> Result<(), WorldError> {
    for cloth in description.cloths().filter(|cloth| cloth.pressure.is_some()) {
        let refuse = |problem: &str| Err(body::cloth::validate::invalid(cloth, problem.into()));
        if description.solver.scheme != Scheme::Nearest {
            return refuse("pressure needs the scheme nearest; the other schemes do not support it");
        }
        let Some(pressure) = &cloth.pressure else { continue };
        match cloth.model {
            Model::Fem if schedule::is_implicit(description) => {}
            Model::Fem => {
                return refuse("pressure needs the integrator bdf2 or euler; leap-frog does not support it");
            }
            Model::Pbd(_) if pressure.law == PressureLaw::Over => {}
            Model::Pbd(_) => {
                return refuse("in the model pbd, pressure must be `over`: a factor on the volume");
            }
            _ => return refuse("pressure needs the model fem or pbd; the others do not support it"),
        }
        if let Some(problem) = pressure.problem() {
            return refuse(&problem);
        }
    }
    Ok(())
}

/// One solver projects the constraints of all bodies, so that all must have some.
fn check_position_based(description: &Description) -> Result<(), WorldError> {
    if !description.is_position_based() {
        return Ok(());
    }
    let solver = &description.solver;
    let refuse = |key: &'static str, problem: &str| Err(WorldError::Solver { key, problem: problem.into() });
    if !matches!(solver.scheme, Scheme::Nearest | Scheme::Sweep) {
        return refuse("scheme", "the model pbd has a solver of its own; leave the scheme at its default");
    }
    if let Some(body) = description.bodies.iter().find(|body| body.pbd().is_none()) {
        let problem = "must be of the model \"pbd\" too: all bodies share one solver".to_owned();
        let name = body.name().to_owned();
        return Err(match body {
            Body::Cloth(_) => WorldError::Cloth { name, problem },
            Body::Solid(_) => WorldError::Solid { name, problem },
            Body::Particles(_) => WorldError::Particles { name, problem },
            Body::Hair(_) => WorldError::Hair { name, problem },
        });
    }
    Ok(())
}

fn check_obstacles(description: &Description) -> Result<(), WorldError> {
    let is_fine = |o: &&Obstacle| {
        o.position.is_finite()
            && o.rotation.is_finite()
            && o.friction >= 0.0
            && o.margin >= 0.0
            && o.margin.is_finite()
            && (0.0..=1.0).contains(&o.restitution)
    };
    let mut all = description.obstacles.iter().chain(description.rigid_bodies.iter().map(|b| &b.obstacle));
    if let Some(obstacle) = all.find(|o| !is_fine(o)) {
        let problem = "an obstacle's placement must be finite, its friction and margin at least 0, its restitution between 0 and 1";
        return Err(WorldError::Obstacle { name: obstacle.name.clone(), problem: problem.into() });
    }
    for obstacle in &description.mesh_obstacles {
        let name = || obstacle.name.clone();
        obstacle.check().map_err(|problem| WorldError::MeshObstacle { name: name(), problem })?;
    }
    for body in &description.rigid_bodies {
        if let Some(problem) = body.problem() {
            let name = body.obstacle.name.clone();
            return Err(WorldError::RigidBody { name, problem: problem.into() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_vertices_than_can_be_addressed_are_refused_by_name() {
        let limit = VertexOffset::LIMIT as usize - 1;
        assert!(check_vertex_count([limit - 7, 7]).is_ok());
        for counts in [vec![1 << 31], vec![limit, 1], vec![usize::MAX, usize::MAX]] {
            let refused = check_vertex_count(counts.iter().copied());
            let Err(WorldError::TooManyVertices { count, limit: named }) = refused else {
                panic!("{counts:?}: {refused:?}")
            };
            assert!(count > limit && named == limit, "{counts:?}");
        }
        assert!(matches!(check_not_empty(&Description::default()), Err(WorldError::NoBodies)));
    }
}
