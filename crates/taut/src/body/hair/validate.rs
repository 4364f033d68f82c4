//! What hair cannot be simulated.

use std::collections::BTreeSet;

use glam::Vec3;

use crate::{
    Description, Hair, HairModel, HairRest, Limit, Roots, Tear, WorldError, mesh::groom::strands_of, schedule,
};

/// Most points of a groom.
const MOST_POINTS: usize = 10_000_000;

/// Shortest segment \[m\].
const SHORTEST: f64 = 1e-7;

/// The error that says what is wrong with `hair`.
fn invalid(hair: &Hair, problem: String) -> WorldError {
    WorldError::Hair { name: hair.name.clone(), problem }
}

/// Refuses what cannot be simulated.
pub(crate) fn check(hair: &Hair, description: &Description) -> Result<(), WorldError> {
    check_groom(hair)?;
    let need = |ok: bool, problem: &str| if ok { Ok(()) } else { Err(invalid(hair, problem.into())) };
    need(hair.velocity.is_finite(), "velocity must be finite")?;
    let material = &hair.material;
    let within = |value: f32, low: f32, high: f32| (low..=high).contains(&value);
    need(within(material.density, 1e-3, 1e6), "density must lie between 0.001 and 1e6 kg/m³")?;
    need(within(material.radius, 1e-7, 1.0), "radius must lie between 1e-7 and 1 m")?;
    need(within(material.young, 0.0, 1e13), "Young's modulus must lie between 0 and 1e13 Pa")?;
    need(within(material.shear, 0.0, 1e13), "the shear modulus must lie between 0 and 1e13 Pa")?;
    need(within(material.damping, 0.0, 1e6), "damping must lie between 0 and 1e6 1/s")?;
    let contact = &hair.contact;
    need(within(contact.thickness, 0.0, 1.0), "the thickness of contact must lie between 0 and 1 m")?;
    need(within(contact.friction, 0.0, 1e3), "friction must lie between 0 and 1000")?;
    need(within(contact.cohesion, 0.0, 1e6), "cohesion must lie between 0 and 1e6 N/m")?;
    need(within(hair.air_drag, 0.0, 1e3), "air_drag must lie between 0 and 1000")?;
    let positive = |limit: Option<f32>| limit.is_none_or(|most| within(most, 0.0, 1e6));
    need(positive(hair.bend), "the limit on bend must lie between 0 and 1e6 °/cm")?;
    need(positive(hair.twist), "the limit on twist must lie between 0 and 1e6 °/cm")?;
    if let HairRest::SagFree { stiffen } = hair.rest {
        need(within(stiffen, 1.0, 1e6), "strands may be stiffened by a factor between 1 and 1e6")?;
    }
    check_stretch(hair)?;
    check_tear(hair, hair.tear.as_ref())?;
    check_whole(hair)?;
    check_roots(hair, description)?;
    let is_implicit = schedule::is_implicit(description) || hair.model == HairModel::Springs;
    need(is_implicit, "needs the integrator bdf2 or euler, or the model \"springs\"; leap-frog is explicit")
}

fn check_groom(hair: &Hair) -> Result<(), WorldError> {
    let (groom, refuse) = (&hair.groom, |problem: String| Err(invalid(hair, problem)));
    let count = groom.positions.len();
    if groom.counts.is_empty() {
        return refuse("has no strand; at least one is needed".into());
    }
    if count > MOST_POINTS {
        return refuse(format!("has {count} points; at most {MOST_POINTS} can be simulated"));
    }
    if let Some(k) = groom.counts.iter().position(|&count| count < 2) {
        let points = groom.counts[k];
        return refuse(format!("strand {k} has {points} points; at least 2 are needed"));
    }
    let named: u64 = groom.counts.iter().map(|&count| u64::from(count)).sum();
    if named != count as u64 {
        return refuse(format!("its strands have {named} points, its groom {count}"));
    }
    let is_fine = |p: &Vec3| p.is_finite() && p.abs().max_element() <= 1e6;
    if let Some(v) = groom.positions.iter().position(|p| !is_fine(p)) {
        return refuse(format!("point {v} is not finite and within 1e6 m"));
    }
    if let Some([a, b]) = groom.segments().find(|segment| groom.length(*segment) < SHORTEST) {
        return refuse(format!(
            "points {a} and {b} of a strand are at the same place; each segment needs a length"
        ));
    }
    if !(groom.radii.is_empty() || groom.radii.len() == count) {
        return refuse(format!("has {} radii for {count} points", groom.radii.len()));
    }
    if let Some(v) = groom.radii.iter().position(|radius| !(1e-7..=1.0).contains(radius)) {
        return refuse(format!("the radius of point {v} does not lie between 1e-7 and 1 m"));
    }
    if hair.start.len() != count || !hair.start.iter().all(is_fine) {
        return refuse("needs one start position for each point, finite and within 1e6 m".into());
    }
    Ok(())
}

fn check_stretch(hair: &Hair) -> Result<(), WorldError> {
    let Limit { min, max } = hair.stretch;
    if min.is_none_or(|m| (-1.0..=0.0).contains(&m)) && max.is_none_or(|m| (0.0..=1e3).contains(&m)) {
        return Ok(());
    }
    let problem = "a limit's min must lie between -1 and 0, its max between 0 and 1000".into();
    Err(WorldError::Limit { kind: "hair", name: hair.name.clone(), problem })
}

/// Refuses what `hair` cannot tear at.
pub(crate) fn check_tear(hair: &Hair, tear: Option<&Tear>) -> Result<(), WorldError> {
    let Some(tear) = tear else { return Ok(()) };
    let refuse = |problem: &str| Err(invalid(hair, problem.into()));
    if hair.model == HairModel::Springs {
        return refuse("tear needs the model \"rod\"; the lecture's springs do not tear");
    }
    if hair.full.is_some() {
        return refuse("tear cannot be combined with guides: what follows a guide would not tear with it");
    }
    tear.problem(hair.groom.positions.len()).map_or(Ok(()), |problem| Err(invalid(hair, problem)))
}

/// Refuses pieces that are none of the whole.
fn check_whole(hair: &Hair) -> Result<(), WorldError> {
    let Some(whole) = &hair.whole else { return Ok(()) };
    let starts = |counts: &[u32]| strands_of(counts).map(|own| own.start).collect::<BTreeSet<usize>>();
    let total: u64 = whole.iter().map(|&count| u64::from(count)).sum();
    let is_fine = total == hair.groom.positions.len() as u64
        && whole.iter().all(|&count| count >= 2)
        && starts(whole).is_subset(&starts(&hair.groom.counts));
    if is_fine {
        return Ok(());
    }
    Err(invalid(hair, "its strands are not pieces of those that it had whole".into()))
}

fn check_roots(hair: &Hair, description: &Description) -> Result<(), WorldError> {
    let (what, number, count) = match hair.roots {
        Roots::Free | Roots::Fixed => return Ok(()),
        Roots::Obstacle(number) => ("obstacle", number, description.obstacles.len()),
        Roots::MeshObstacle(number) => ("mesh obstacle", number, description.mesh_obstacles.len()),
        Roots::RigidBody(number) => ("rigid body", number, description.rigid_bodies.len()),
    };
    if number < count {
        return Ok(());
    }
    Err(invalid(hair, format!("its roots are on {what} {number}; there are {count}")))
}
