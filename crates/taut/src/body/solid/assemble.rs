//! From a soft solid to its elements: tetrahedra with limits, tetrahedra with forces, masses, the order of
//! vertices.

use super::{measure::RestTetrahedra, validate::invalid};
use crate::{
    Solid, WorldError,
    body::{BodyTables, Rest, elements::Elements, in_order},
    element::tetrahedron::TetrahedronElement,
    embedding::Embedding,
    kernel::tetrahedron::rest_inverse3,
    mesh::reorder::locality_order,
    velocity::fem_tetrahedron::{SolidElement, lame, solid_frequency},
};

/// Adds the elements of one solid whose vertices begin at `first`; `is_elastic`: it is elastic inside the
/// filter.
pub(crate) fn add(
    solid: &Solid,
    first: usize,
    is_elastic: bool,
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
        if solid.strain.is_some() || is_elastic {
            let range = solid.strain.range();
            elements.tetrahedra.push(TetrahedronElement { vertices, rest: rest_single, range, share: 1.0 });
            elements.volumes.push(volume);
        }
        if solid.model.pbd().is_some() {
            continue;
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
        embedding: Embedding::Identity { order },
        masses,
        surface: mesh.boundary(),
        rest: Rest::Solid(RestTetrahedra::new(mesh)),
        damping: material.damping,
        scraps: Vec::new(),
    })
}
