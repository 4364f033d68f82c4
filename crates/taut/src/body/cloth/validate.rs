//! What cloth cannot be simulated. Scene files are checked with lines and keys before; this is for callers of
//! the library.

use crate::{
    Cloth, Description, DevelopableModel, EdgeModel, Limit, Model, PbdModel, PbdStiffness, Scheme, Tear,
    WorldError, mesh::adjacency::is_closed, schedule,
};

/// The error that says what is wrong with `cloth`.
pub(crate) fn invalid(cloth: &Cloth, problem: String) -> WorldError {
    WorldError::Cloth { name: cloth.name.clone(), problem }
}

fn need(cloth: &Cloth, is_met: bool, problem: &str) -> Result<(), WorldError> {
    if is_met { Ok(()) } else { Err(invalid(cloth, problem.into())) }
}

/// Refuses what cannot be simulated.
pub(crate) fn check(cloth: &Cloth, description: &Description) -> Result<(), WorldError> {
    check_mesh(cloth)?;
    check_material(cloth)?;
    cloth.weave.map_or(Ok(()), |weave| weave.check()).or_else(|problem| need(cloth, false, problem))?;
    check_limits(cloth)?;
    match cloth.model {
        Model::Fem => {}
        Model::Edge(settings) => check_edge_model(cloth, settings, description)?,
        Model::Pbd(settings) => check_pbd(cloth, settings)?,
        Model::Developable(settings) => check_developable(cloth, settings, description)?,
    }
    need(
        cloth,
        cloth.midpoints.is_none() || cloth.model.developable().is_some(),
        "has midpoints, which are for model \"developable\" only",
    )?;
    check_tear(cloth, cloth.tear.as_ref())?;
    check_masses(cloth)
}

/// Whether `cloth` may tear at `tear`.
pub(crate) fn check_tear(cloth: &Cloth, tear: Option<&Tear>) -> Result<(), WorldError> {
    let problem = tear.and_then(|tear| tear.problem(cloth.mesh.positions.len()));
    problem.map_or(Ok(()), |problem| Err(invalid(cloth, problem)))
}

fn check_mesh(cloth: &Cloth) -> Result<(), WorldError> {
    let count = cloth.mesh.positions.len();
    need(cloth, !cloth.mesh.triangles.is_empty(), "its mesh has no face")?;
    need(cloth, cloth.start.len() == count, "needs one start position for each vertex")?;
    let mut positions = cloth.mesh.positions.iter().chain(&cloth.start);
    need(
        cloth,
        positions.all(|p| p.is_finite() && p.abs().max_element() <= 1e6),
        "positions must be finite and within 1e6 m",
    )?;
    need(
        cloth,
        cloth.mesh.triangles.iter().flatten().all(|&v| (v as usize) < count),
        "a face names a vertex that does not exist",
    )?;
    need(cloth, cloth.velocity.is_finite(), "velocity must be finite")?;
    need(
        cloth,
        cloth.imperfection.is_none_or(|i| (0.0..=1e6).contains(&i)),
        "imperfection must lie between 0 and 1e6 m",
    )
}

fn check_material(cloth: &Cloth) -> Result<(), WorldError> {
    cloth.material.problem().map_or(Ok(()), |(_, problem)| Err(invalid(cloth, problem)))
}

fn check_limits(cloth: &Cloth) -> Result<(), WorldError> {
    let refuse = |problem: &str| WorldError::Limit {
        kind: "cloth",
        name: cloth.name.clone(),
        problem: problem.into(),
    };
    let woven = cloth.weave.map_or([cloth.strain; 3], |w| [w.warp, w.weft, w.bias]);
    for Limit { min, max } in woven.into_iter().chain([cloth.strain, cloth.edge]) {
        let is_fine =
            min.is_none_or(|m| (-1.0..=0.0).contains(&m)) && max.is_none_or(|m| m >= 0.0 && m.is_finite());
        if !is_fine {
            return Err(refuse("a limit's min must lie between -1 and 0, its max be at least 0"));
        }
    }
    let Limit { min, max } = cloth.bend;
    if min.is_none_or(|m| m <= 0.0 && m.is_finite()) && max.is_none_or(|m| m >= 0.0 && m.is_finite()) {
        return Ok(());
    }
    Err(refuse("a bend limit's min must be at most 0, its max at least 0 degrees per centimetre"))
}

fn check_masses(cloth: &Cloth) -> Result<(), WorldError> {
    let count = cloth.mesh.positions.len();
    need(
        cloth,
        cloth
            .masses
            .as_ref()
            .is_none_or(|masses| masses.len() == count && masses.iter().all(|m| (1e-12..=1e12).contains(m))),
        "masses must be given for each vertex, and lie between 1e-12 and 1e12 kg",
    )?;
    let mut referenced = vec![false; count];
    for mean in cloth.midpoints.iter().flat_map(|midpoints| &midpoints.means) {
        referenced[mean.point as usize] = true;
    }
    for &v in cloth.mesh.triangles.iter().flatten() {
        referenced[v as usize] = true;
    }
    match referenced.iter().position(|r| !r) {
        Some(v) => Err(invalid(cloth, format!("vertex {v} belongs to no face, so it has no mass"))),
        None => Ok(()),
    }
}

/// Refuses what developable cloth cannot do.
fn check_developable(
    cloth: &Cloth,
    settings: DevelopableModel,
    description: &Description,
) -> Result<(), WorldError> {
    let of_points = cloth.midpoints.as_ref().is_some_and(|m| m.point_count() == cloth.mesh.positions.len());
    need(cloth, of_points, "model \"developable\" needs the mesh of its midpoints: use Cloth::developable")?;
    need(cloth, (0.02..=1.0).contains(&settings.jump), "jump must lie between 0.02 and 1")?;
    need(
        cloth,
        description.solver.scheme == Scheme::Nearest && schedule::is_implicit(description),
        "model \"developable\" needs the scheme nearest with the integrator bdf2 or euler; the others do not support it",
    )?;
    let limits = cloth.weave.map_or([cloth.strain; 3], |weave| [weave.warp, weave.weft, weave.bias]);
    DevelopableModel::problem(&limits).map_or(Ok(()), |problem| need(cloth, false, problem))?;
    need(
        cloth,
        !cloth.bend.is_some() && !cloth.edge.is_some(),
        "model \"developable\" has limits on strain only: `bend` and `edge` are for model \"fem\"",
    )?;
    need(cloth, cloth.masses.is_none(), "model \"developable\" supports no masses of vertices")?;
    need(cloth, cloth.tear.is_none() && cloth.torn.is_none(), "model \"developable\" does not tear")?;
    need(cloth, cloth.pressure.is_none(), "model \"developable\" supports no pressure inside")?;
    need(
        cloth,
        description.seams.is_empty(),
        "model \"developable\" cannot be combined with seams; use model \"fem\"",
    )
}

/// Refuses what position-based dynamics cannot do.
fn check_pbd(cloth: &Cloth, settings: PbdModel) -> Result<(), WorldError> {
    settings.problem().map_or(Ok(()), |problem| Err(invalid(cloth, problem)))?;
    let encloses = settings.volume.is_some_and(PbdStiffness::acts);
    let problem = "pbd.volume needs closed cloth; its mesh has a border, or faces that do not agree on which side is out";
    need(cloth, !encloses || is_closed(&cloth.mesh), problem)
}

/// Refuses what the edge model cannot do.
fn check_edge_model(cloth: &Cloth, settings: EdgeModel, description: &Description) -> Result<(), WorldError> {
    need(cloth, (1..=5).contains(&settings.levels), "model \"edge\" has 1 to 5 levels")?;
    need(
        cloth,
        (1..=10_000).contains(&settings.iterations),
        "model \"edge\" has 1 to 10000 iterations per level",
    )?;
    need(
        cloth,
        !cloth.limits_strain(),
        "model \"edge\" limits edges: give its limits as `edge`, not as `strain`, which is for triangles",
    )?;
    need(
        cloth,
        description.solids().next().is_none() && description.seams.is_empty(),
        "model \"edge\" cannot be combined with soft solids or seams; use model \"fem\"",
    )
}
