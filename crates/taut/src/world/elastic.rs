//! From a soft solid to its elements: tetrahedra with limits, tetrahedra with forces, masses, the order of
//! vertices.

use super::{
    BodyTables, Limit, Scheme, Solid, WorldError,
    build::{Elements, in_order},
};
use crate::{
    certificate::{RestShape, RestTetrahedra},
    kernel::tetrahedron::rest_inverse3,
    limit::strain_tetrahedron::TetrahedronElement,
    mesh::{TriangleMesh, reorder::locality_order, tetrahedra::TetrahedronMesh},
    velocity::fem_tetrahedron::{SolidElement, lame, solid_frequency},
};

/// Adds the elements of one solid whose vertices begin at `first`; `implicit`: it is elastic inside the
/// filter.
pub(super) fn add_solid(
    solid: &Solid,
    first: usize,
    implicit: bool,
    elements: &mut Elements,
) -> Result<BodyTables, WorldError> {
    let mesh = &solid.mesh;
    let count = mesh.positions.len();
    let edges = mesh.edges();
    let order = locality_order(count, &edges);
    let place = in_order(&order, first);
    let p = |v: u32| mesh.positions[v as usize].as_dvec3().to_array();
    let material = &solid.material;
    let [density, young, poisson] = [material.density, material.young, material.poisson].map(f64::from);
    let moduli = lame(young, poisson);

    // In the order of their vertices, so that neighbours in memory are neighbours in the mesh.
    let mut by_place: Vec<u32> = (0..mesh.tetrahedra.len() as u32).collect();
    by_place.sort_by_key(|&t| mesh.tetrahedra[t as usize].map(|v| place[v as usize]).into_iter().min());
    let mut masses = vec![0.0; count];
    for &t in &by_place {
        let corners = mesh.tetrahedra[t as usize];
        let Some((rest, volume)) = rest_inverse3(corners.map(p)) else {
            return Err(invalid(solid, format!("tetrahedron {t} is flat or inside out")));
        };
        for v in corners {
            masses[v as usize] += 0.25 * density * volume;
        }
        let vertices = corners.map(|v| place[v as usize]);
        let rest_single = rest.map(|column| column.map(|r| r as f32));
        if solid.strain.is_some() || implicit {
            let range = solid.strain.range();
            elements.tetrahedra.push(TetrahedronElement { vertices, rest: rest_single, range, share: 1.0 });
            elements.volumes.push(volume);
        }
        elements.solids.push(SolidElement {
            vertices,
            rest: rest_single,
            moduli: moduli.map(|m| (m * volume) as f32),
            viscosity: material.viscosity,
        });
        elements.membrane_frequency =
            elements.membrane_frequency.max(solid_frequency(&rest, moduli, density));
    }
    if let Some(given) = &solid.masses {
        masses.clone_from(given);
    }
    for &[a, b] in &edges {
        let length = mesh.positions[a as usize].as_dvec3().distance(mesh.positions[b as usize].as_dvec3());
        elements.edge_length_sum += length;
        elements.edge_count += 1;
    }
    Ok(BodyTables {
        vertices: first..first + count,
        order,
        masses,
        surface: mesh.boundary(),
        rest: RestShape::new(&TriangleMesh::default(), Vec::new()),
        solid: Some(RestTetrahedra::new(mesh)),
        hinges: Vec::new(),
        springs: Vec::new(),
        bends: Vec::new(),
        damping: material.damping,
    })
}

pub(super) fn invalid(solid: &Solid, problem: String) -> WorldError {
    WorldError::Invalid { what: format!("solid \"{}\"", solid.name), problem }
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
pub(super) fn check(solid: &Solid, scheme: Scheme) -> Result<(), WorldError> {
    let need = |ok: bool, problem: &str| if ok { Ok(()) } else { Err(invalid(solid, problem.into())) };
    let positive = |v: f32| v.is_finite() && v > 0.0;
    let (material, count) = (&solid.material, solid.mesh.positions.len());
    need(!solid.mesh.tetrahedra.is_empty(), "its mesh has no tetrahedron")?;
    need(
        !solid.preserve_volume || scheme == Scheme::Nearest,
        "volume = \"preserve\" needs solver.scheme = \"nearest\"; no other scheme keeps volumes",
    )?;
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
    need(
        min.is_none_or(|m| (-1.0..=0.0).contains(&m)) && max.is_none_or(|m| m >= 0.0 && m.is_finite()),
        "a limit's min must lie between -1 and 0, its max be at least 0",
    )?;
    super::build::check_pins(&solid.pins, count).or_else(|problem| need(false, problem))?;
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
