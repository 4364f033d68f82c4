//! From developable cloth to its elements and rest tables: [`Midpoints`] where other cloth has vertices.
//!
//! The gradient of a nonconforming triangle is that of the triangle between the midpoints of its edges, with
//! four times the area: strain needs nothing new. Bending is ½ D Σ (K x)ₑ² / Wₑ over inner edges, K the
//! stiffness of nonconforming triangles and Wₑ = (A₁ + A₂)/3 (English and Bridson, section 5; their Eq. 9 has
//! the opposite sign). Edges of the border have no such energy, and so no moment. It is the same in all
//! directions: D is the mean of the material's over all of them.

use std::sync::Arc;

use super::{
    measure::{RestCloth, RestShape},
    validate::invalid,
};
use crate::{
    Cloth, WorldError,
    body::{BodyTables, Rest, elements::Elements, in_order},
    element::{hinge::RestBend, triangle::StrainElement},
    embedding::Embedding,
    kernel::{dihedral::dihedral, svd2::rest_inverse},
    measure::midpoints::ShownShape,
    mesh::{adjacency::Adjacency, midpoints::Midpoints, reorder::locality_order},
    term::{curvature::CurvatureElement, jump::JumpElement},
    velocity::fem::MembraneElement,
};

/// Adds the elements of `cloth`, whose points begin at `first`.
pub(super) fn add(
    cloth: &Cloth,
    midpoints: &Midpoints,
    first: usize,
    elements: &mut Elements,
) -> Result<BodyTables, WorldError> {
    let count = cloth.mesh.positions.len();
    let faces = Adjacency::new(&cloth.mesh.triangles);
    // Means belong to no face.
    let tied = midpoints.means.iter().flat_map(|mean| mean.ends.map(|end| [mean.point, end]));
    let ties: Vec<[u32; 2]> = faces.edges.iter().copied().chain(tied).collect();
    let order = locality_order(count, &ties);
    let place = in_order(&order, first);
    add_triangles(cloth, midpoints, &place, elements)?;
    add_air(cloth, &place, elements)?;
    add_jumps(cloth, midpoints, &place, elements);
    let rigidity = rigidity(cloth);
    let curvatures = if rigidity > 0.0 { curvatures(midpoints) } else { Vec::new() };
    let (damping, root) = (cloth.material.bend_damping, rigidity.sqrt());
    elements.curvatures.extend(curvatures.iter().map(|e| CurvatureElement {
        vertices: e.vertices.map(|v| place[v as usize]),
        weights: e.weights.map(|weight| root * weight),
        damping,
    }));
    for &[a, b] in &faces.edges {
        let [a, b] = [a, b].map(|v| cloth.mesh.positions[v as usize].as_dvec3());
        elements.edge_length_sum += a.distance(b);
        elements.edge_count += 1;
    }
    let refuse = |problem| invalid(cloth, problem);
    let shape = RestShape::of_midpoints(cloth, midpoints).map_err(refuse)?;
    let means = midpoints.means.iter();
    let means = means.map(|m| (place[m.point as usize], m.ends.map(|end| place[end as usize])));
    elements.means.extend(means);
    Ok(BodyTables {
        vertices: first..first + count,
        embedding: Embedding::Identity { order },
        masses: midpoints.masses(f64::from(cloth.material.density)),
        surface: cloth.mesh.triangles.clone(),
        rest: Rest::Cloth(RestCloth {
            shape,
            hinges: Vec::new(),
            law: Some(Box::new(cloth.material.law())),
            curvatures: Arc::new(curvatures),
            rigidity,
            springs: Vec::new(),
            bends: bends(cloth, &faces),
            shown: Some(Arc::new(ShownShape::new(midpoints))),
        }),
        damping: cloth.material.damping,
        scraps: Vec::new(),
    })
}

/// The flexural rigidity of `cloth` \[N m\]: the mean over all directions.
fn rigidity(cloth: &Cloth) -> f64 {
    f64::from(cloth.material.bend.mean())
}

/// Triangles with limits and a law.
fn add_triangles(
    cloth: &Cloth,
    midpoints: &Midpoints,
    place: &[u32],
    elements: &mut Elements,
) -> Result<(), WorldError> {
    let refuse = |problem| invalid(cloth, problem);
    let weaves = cloth.weave_ranges().map_err(refuse)?;
    let warps = cloth.warps().map_err(refuse)?;
    let at = |v: u32| cloth.mesh.positions[v as usize].as_dvec3().to_array();
    let range = cloth.strain_bounds().range();
    let mut by_place: Vec<u32> = (0..midpoints.elements.len() as u32).collect();
    by_place.sort_by_key(|&t| midpoints.elements[t as usize].map(|v| place[v as usize]).into_iter().min());
    for t in by_place.into_iter().map(|t| t as usize) {
        let corners = midpoints.elements[t];
        let (rest, area) =
            rest_inverse(corners.map(at)).ok_or_else(|| refuse(format!("face {t} has no area")))?;
        elements.strain.push(StrainElement {
            vertices: corners.map(|v| place[v as usize]),
            rest: rest.map(|r| r as f32),
            range,
            weave: weaves.get(t).copied(),
            share: 1.0,
        });
        elements.areas.push(midpoints.area_factor(t) * area);
        elements.warps.push(warps.double_angle(t));
    }
    Ok(())
}

/// Faces that meet the air; they have no forces of their own.
fn add_air(cloth: &Cloth, place: &[u32], elements: &mut Elements) -> Result<(), WorldError> {
    let at = |v: u32| cloth.mesh.positions[v as usize].as_dvec3().to_array();
    for (number, corners) in cloth.mesh.triangles.iter().enumerate() {
        let Some((rest, _)) = rest_inverse(corners.map(at)) else {
            let problem =
                format!("face {number} between its midpoints has no area: its triangles are too uneven");
            return Err(invalid(cloth, problem));
        };
        elements.membrane.push(MembraneElement {
            vertices: corners.map(|v| place[v as usize]),
            rest: rest.map(|r| r as f32),
            moduli: [0.0; 6],
            viscosity: 0.0,
            density: cloth.material.density,
        });
    }
    Ok(())
}

fn add_jumps(cloth: &Cloth, midpoints: &Midpoints, place: &[u32], elements: &mut Elements) {
    let Some(settings) = cloth.model.developable() else { return };
    let mut own = Vec::with_capacity(midpoints.edges.len());
    for edge in &midpoints.edges {
        let Some(sum) = midpoints.jump(edge) else { continue };
        // Those that it has not are the first again, with weight 0.
        let filler = sum.first().map_or(0, |(point, _)| *point);
        let term = |k: usize| sum.get(k).copied().unwrap_or((filler, 0.0));
        let length = midpoints.length(edge);
        let area: f64 = edge.triangles.iter().map(|&t| midpoints.area(t)).sum();
        own.push(JumpElement {
            vertices: [0, 1, 2, 3].map(|k| place[term(k).0 as usize]),
            map: [0, 1, 2, 3].map(|k| term(k).1 as f32),
            most: settings.jump * length as f32,
            weight: (area / (3.0 * length * length)) as f32,
        });
    }
    own.sort_by_key(|e| (e.vertices.into_iter().min(), e.vertices));
    elements.jumps.append(&mut own);
}

/// One curvature an inner edge, of cloth with a rigidity of 1 N m, in the caller's order.
fn curvatures(midpoints: &Midpoints) -> Vec<CurvatureElement> {
    let of = |edge| {
        let sum = midpoints.bending(edge);
        let area: f64 = edge.triangles.iter().map(|&t| midpoints.area(t)).sum();
        let root = (3.0 / area).sqrt();
        let first = sum.first().map_or(0, |(point, _)| *point);
        let term = |k: usize| sum.get(k).copied().unwrap_or((first, 0.0));
        CurvatureElement {
            vertices: std::array::from_fn(|k| term(k).0),
            weights: std::array::from_fn(|k| root * term(k).1),
            damping: 0.0,
        }
    };
    midpoints.edges.iter().map(of).collect()
}

/// Angles between the faces of its points.
fn bends(cloth: &Cloth, faces: &Adjacency) -> Vec<RestBend> {
    let of = |hinge: &[u32; 4]| {
        let d = dihedral(&hinge.map(|v| cloth.mesh.positions[v as usize].as_dvec3().to_array()));
        let rest_angle = 2.0 * d.sin_half.atan2(d.cos_half);
        RestBend { vertices: *hinge, rest_angle, heights: d.heights }
    };
    faces.hinges.iter().map(of).collect()
}
