//! What soft solids cannot be simulated.

use crate::{
    Limit, Model, Scheme, Solid, WorldError, kernel::tetrahedron::rest_inverse3,
    mesh::tetrahedra::TetrahedronMesh,
};

/// The error that says what is wrong with `solid`.
pub(crate) fn invalid(solid: &Solid, problem: String) -> WorldError {
    WorldError::Solid { name: solid.name.clone(), problem }
}

/// What is wrong with a coarser level.
fn check_level(level: &TetrahedronMesh) -> Result<(), String> {
    let fine = |p: &glam::Vec3| p.is_finite() && p.abs().max_element() <= 1e6;
    if level.tetrahedra.is_empty() {
        return Err("has no tetrahedron".into());
    }
    if !level.positions.iter().all(fine) {
        return Err("has positions that are not finite and within 1e6 m".into());
    }
    for (t, corners) in level.tetrahedra.iter().enumerate() {
        if corners.iter().any(|&v| v as usize >= level.positions.len()) {
            return Err(format!("has a tetrahedron ({t}) that names a vertex that does not exist"));
        }
        let at = |v: u32| level.positions[v as usize].as_dvec3().to_array();
        if rest_inverse3(corners.map(at)).is_none() {
            return Err(format!("has a tetrahedron ({t}) that is flat or inside out"));
        }
    }
    Ok(())
}

/// Refuses what cannot be simulated.
pub(crate) fn check(solid: &Solid, scheme: Scheme) -> Result<(), WorldError> {
    let need = |ok: bool, problem: &str| if ok { Ok(()) } else { Err(invalid(solid, problem.into())) };
    let positive = |v: f32| v.is_finite() && v > 0.0;
    let (material, count) = (&solid.material, solid.mesh.positions.len());
    need(!solid.mesh.tetrahedra.is_empty(), "its mesh has no tetrahedron")?;
    need(
        !solid.preserve_volume || scheme == Scheme::Nearest,
        "volume = \"preserve\" needs solver.scheme = \"nearest\"; no other scheme keeps volumes",
    )?;
    match solid.model {
        Model::Fem => {}
        Model::Developable(_) => {
            need(false, "model \"developable\" is for cloth; solids have \"fem\" or \"pbd\"")?
        }
        Model::Edge(_) => need(false, "model \"edge\" is for cloth; solids have \"fem\" or \"pbd\"")?,
        Model::Pbd(settings) => {
            settings.problem().map_or(Ok(()), |problem| Err(invalid(solid, problem)))?;
            let problem = "volume = \"preserve\" is not for model \"pbd\", which keeps volumes by pbd.volume";
            need(!solid.preserve_volume, problem)?;
        }
    }
    need(solid.start.len() == count, "needs one start position for each vertex")?;
    let fine = |p: &glam::Vec3| p.is_finite() && p.abs().max_element() <= 1e6;
    need(
        solid.mesh.positions.iter().chain(&solid.start).all(fine),
        "positions must be finite and within 1e6 m",
    )?;
    need(
        solid.mesh.tetrahedra.iter().flatten().all(|&v| (v as usize) < count),
        "a tetrahedron names a vertex that does not exist",
    )?;
    for (k, level) in solid.levels.iter().enumerate() {
        check_level(level).or_else(|problem| need(false, &format!("level {} {problem}", k + 1)))?;
    }
    need(solid.velocity.is_finite(), "velocity must be finite")?;
    need(positive(material.density), "density must be positive")?;
    need(material.young >= 0.0 && material.young.is_finite(), "Young's modulus must be at least 0")?;
    need(
        material.poisson > -1.0 && material.poisson < 0.5,
        "Poisson's ratio must lie between -1 and 0.5, both excluded",
    )?;
    let damping = [material.damping, material.viscosity];
    need(damping.iter().all(|d| *d >= 0.0 && d.is_finite()), "damping and viscosity must be at least 0")?;
    let Limit { min, max } = solid.strain;
    if !(min.is_none_or(|m| (-1.0..=0.0).contains(&m)) && max.is_none_or(|m| m >= 0.0 && m.is_finite())) {
        let problem = "a limit's min must lie between -1 and 0, its max be at least 0".into();
        return Err(WorldError::Limit { kind: "solid", name: solid.name.clone(), problem });
    }
    need(
        solid
            .masses
            .as_ref()
            .is_none_or(|masses| masses.len() == count && masses.iter().all(|m| (1e-12..=1e12).contains(m))),
        "masses must be given for each vertex, and lie between 1e-12 and 1e12 kg",
    )?;
    let mut referenced = vec![false; count];
    for &v in solid.mesh.tetrahedra.iter().flatten() {
        referenced[v as usize] = true;
    }
    match referenced.iter().position(|r| !r) {
        Some(v) => Err(invalid(solid, format!("vertex {v} belongs to no tetrahedron, so it has no mass"))),
        None => Ok(()),
    }
}
