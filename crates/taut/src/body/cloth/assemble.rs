//! From cloth to its elements and rest tables.

use std::sync::Arc;

use super::{
    measure::{FLAT, RestCloth, RestShape},
    validate::invalid,
};
use crate::{
    Cloth, Model, WorldError,
    body::{BodyTables, Rest, elements::Elements, in_order},
    describe::weave::Warps,
    element::{
        edge::EdgeElement,
        hinge::{BendElement, RestBend, allowed_angles},
        triangle::StrainElement,
    },
    embedding::Embedding,
    kernel::{
        dihedral::{Dihedral, dihedral},
        svd2::rest_inverse,
        weave::WeaveRange,
    },
    mesh::{adjacency::Adjacency, reorder::locality_order},
    term::{bending::FoldElement, curvature::CurvatureElement},
    velocity::{
        bending::{HingeElement, RestHinge, hinge_frequency},
        fem::{MembraneElement, membrane_frequency, moduli},
        spring::{RestSpring, SpringElement, spring_frequency, spring_stiffness},
    },
    world::HierarchyCache,
};

/// Adds the elements of `cloth`, whose vertices begin at `first`; `is_elastic`: it stretches and bends inside
/// the filter.
pub(crate) fn add(
    cloth: &Cloth,
    first: usize,
    is_elastic: bool,
    elements: &mut Elements,
    cache: &HierarchyCache,
) -> Result<BodyTables, WorldError> {
    if let Some(midpoints) = &cloth.midpoints {
        return super::nonconforming::add(cloth, midpoints, first, elements);
    }
    let mesh = &cloth.mesh;
    let count = mesh.positions.len();
    let adjacency = Adjacency::new(&mesh.triangles);
    let order = order(cloth, &adjacency);
    let place = in_order(&order, first);
    let scraps = super::tear::scraps(cloth, &order);
    let weaves = cloth.weave_ranges().map_err(|problem| invalid(cloth, problem))?;
    let warps = cloth.warps().map_err(|problem| invalid(cloth, problem))?;
    let (masses, areas) = add_triangles(cloth, &place, (&weaves, &warps), is_elastic, elements)?;
    let first_fold = elements.folds.len();
    let (hinges, bends) = add_hinges(cloth, &place, &adjacency, &areas, is_elastic, elements);
    let (rigidity, curvatures) =
        if elements.is_implicit && hinges.iter().all(|hinge| hinge.rest_sin_half.abs() <= FLAT) {
            elements.folds.truncate(first_fold);
            add_curvatures(cloth, &place, (&adjacency, &warps), &areas, elements, cache)
        } else {
            Default::default()
        };
    let springs = add_edges(cloth, &place, &adjacency, &areas, elements);
    Ok(BodyTables {
        vertices: first..first + count,
        embedding: Embedding::Identity { order },
        masses: cloth.masses.clone().unwrap_or(masses),
        surface: mesh.triangles.clone(),
        rest: Rest::Cloth(RestCloth {
            shape: RestShape::new(mesh, adjacency.edges).woven(weaves).with_warps(warps),
            hinges,
            law: elements.is_implicit.then(|| Box::new(cloth.material.law())),
            curvatures,
            rigidity,
            springs,
            bends,
            shown: None,
        }),
        damping: cloth.material.damping,
        scraps,
    })
}

/// The order of its vertices in the engine. Torn cloth keeps that of the whole, with what was split off
/// behind it, so that what is kept by vertex or by triangle stays where it is.
fn order(cloth: &Cloth, adjacency: &Adjacency) -> Vec<u32> {
    let count = cloth.mesh.positions.len();
    let Some(torn) = &cloth.torn else { return locality_order(count, &adjacency.edges) };
    let whole = cloth.whole_count();
    let mut order = locality_order(whole, &Adjacency::new(&torn.whole.triangles).edges);
    order.extend(whole as u32..count as u32);
    order
}

/// Adds triangles; gives the masses of vertices \[kg\] and the areas of triangles \[m²\], both in the
/// caller's order.
fn add_triangles(
    cloth: &Cloth,
    place: &[u32],
    (weaves, warps): (&[WeaveRange<f32>], &Warps),
    is_elastic: bool,
    elements: &mut Elements,
) -> Result<(Vec<f64>, Vec<f64>), WorldError> {
    let (mesh, material) = (&cloth.mesh, &cloth.material);
    let p = |v: u32| mesh.positions[v as usize].as_dvec3().to_array();
    let density = f64::from(material.density);
    let has_forces = cloth.model == Model::Fem;
    let bounds = cloth.strain_bounds();
    // In the order of their vertices, so that neighbours in memory are neighbours in the mesh.
    let mut by_place: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
    // Torn or not: in that of the whole.
    let whole = cloth.torn.as_ref().map_or(&mesh.triangles, |torn| &torn.whole.triangles);
    by_place.sort_by_key(|&t| whole[t as usize].map(|v| place[v as usize]).into_iter().min());
    let mut masses = vec![0.0; mesh.positions.len()];
    let mut areas = vec![0.0; mesh.triangles.len()];
    for &t in &by_place {
        let corners = mesh.triangles[t as usize];
        let Some((rest, area)) = rest_inverse(corners.map(p)) else {
            return Err(invalid(cloth, format!("face {t} has no area")));
        };
        areas[t as usize] = area;
        for v in corners {
            masses[v as usize] += density * area / 3.0;
        }
        let vertices = corners.map(|v| place[v as usize]);
        let rest_single = rest.map(|r| r as f32);
        if bounds.is_some() || is_elastic {
            elements.strain.push(StrainElement {
                vertices,
                rest: rest_single,
                range: bounds.range(),
                weave: weaves.get(t as usize).copied(),
                share: 1.0,
            });
            elements.areas.push(area);
            elements.warps.push(warps.double_angle(t as usize));
        }
        let area_moduli = moduli(material, warps.double_angle(t as usize));
        elements.membrane.push(MembraneElement {
            vertices,
            rest: rest_single,
            moduli: area_moduli.map(|m| if has_forces { (m * area) as f32 } else { 0.0 }),
            viscosity: material.viscosity,
            density: material.density,
        });
        if has_forces {
            let frequency = membrane_frequency(rest, material);
            elements.membrane_frequency = elements.membrane_frequency.max(frequency);
        }
    }
    Ok((masses, areas))
}

/// Adds hinges; gives those with stiffness and all of them, as they are measured.
fn add_hinges(
    cloth: &Cloth,
    place: &[u32],
    adjacency: &Adjacency,
    areas: &[f64],
    is_elastic: bool,
    elements: &mut Elements,
) -> (Vec<RestHinge>, Vec<RestBend>) {
    let mesh = &cloth.mesh;
    let [density, bend] = [cloth.material.density, cloth.material.bend.mean()].map(f64::from);
    let is_by_angle = cloth.model.edge().is_some();
    let (mut hinges, mut bends) = (Vec::new(), Vec::new());
    let (first_bend, first_fold) = (elements.bends.len(), elements.folds.len());
    for (hinge, triangles) in adjacency.hinges.iter().zip(&adjacency.hinge_triangles) {
        let x = hinge.map(|v| mesh.positions[v as usize].as_dvec3().to_array());
        let d = dihedral(&x);
        let [a1, a2] = triangles.map(|t| areas[t as usize]);
        let rest_angle = 2.0 * d.sin_half.atan2(d.cos_half);
        bends.push(RestBend { vertices: *hinge, rest_angle, heights: d.heights });
        let edge = (mesh.positions[hinge[1] as usize] - mesh.positions[hinge[0] as usize]).as_dvec3();
        let foot = |wing: u32| {
            let arm = (mesh.positions[wing as usize] - mesh.positions[hinge[0] as usize]).as_dvec3();
            (arm.dot(edge) / edge.length_squared()) as f32
        };
        let feet = [foot(hinge[2]), foot(hinge[3])];
        let vertices = hinge.map(|v| place[v as usize]);
        if cloth.bend.is_some() {
            let bends = if is_by_angle { &mut elements.model_bends } else { &mut elements.bends };
            bends.push(limited(cloth, vertices, &d, rest_angle, feet, a1 + a2));
        }
        let stiffness = bend * edge.length_squared() / (a1 + a2);
        if stiffness <= 0.0 || cloth.model.pbd().is_some() {
            continue;
        }
        hinges.push(RestHinge { vertices: *hinge, stiffness, rest_sin_half: d.sin_half, is_by_angle });
        let element = HingeElement {
            vertices,
            stiffness: stiffness as f32,
            rest_sin_half: d.sin_half as f32,
            is_by_angle,
            heights: d.heights.map(|h| h as f32),
        };
        if is_elastic {
            elements.folds.push(FoldElement { hinge: element, feet });
            continue;
        }
        elements.hinges.push(element);
        // A third of each triangle's mass belongs to each of its hinges, a third of that to each of its
        // vertices.
        let (m1, m2) = (density * a1 / 9.0, density * a2 / 9.0);
        let frequency = hinge_frequency(&x, stiffness, [m1 + m2, m1 + m2, m1, m2]);
        elements.hinge_frequency = elements.hinge_frequency.max(frequency);
    }
    elements.folds[first_fold..].sort_by_key(|e| (e.hinge.vertices.into_iter().min(), e.hinge.vertices));
    elements.bends[first_bend..].sort_by_key(|e| (e.vertices.into_iter().min(), e.vertices));
    (hinges, bends)
}

/// Adds the curvatures of cloth that is flat at rest, in place of its hinges; gives its rigidity \[N m\], and
/// those of cloth with a rigidity of 1 N m in the caller's order.
fn add_curvatures(
    cloth: &Cloth,
    place: &[u32],
    (adjacency, warps): (&Adjacency, &Warps),
    areas: &[f64],
    elements: &mut Elements,
    cache: &HierarchyCache,
) -> (f64, Arc<Vec<CurvatureElement>>) {
    let (rigidity, by_direction) = cloth.material.rigidity().split();
    if rigidity <= 0.0 {
        return Default::default();
    }
    let all = cache.curvatures(&cloth.mesh, warps, by_direction, || {
        CurvatureElement::all(&cloth.mesh, adjacency, areas, |t| (by_direction, warps.direction(t)))
    });
    let (damping, root) = (cloth.material.bend_damping, rigidity.sqrt());
    let moved = |e: &CurvatureElement| CurvatureElement {
        vertices: e.vertices.map(|v| place[v as usize]),
        weights: e.weights.map(|weight| root * weight),
        damping,
    };
    elements.curvatures.extend(all.iter().map(moved));
    (rigidity, all)
}

/// A hinge with the limits of `cloth`; `area` is that of both triangles \[m²\].
fn limited(
    cloth: &Cloth,
    vertices: [u32; 4],
    d: &Dihedral<f64>,
    rest_angle: f64,
    feet: [f32; 2],
    area: f64,
) -> BendElement {
    let [min, max] = allowed_angles(cloth.bend, rest_angle, d.heights).map(|a| a as f32);
    BendElement {
        vertices,
        rest_angle: rest_angle as f32,
        min,
        max,
        heights: d.heights.map(|h| h as f32),
        feet,
        area: area as f32,
        share: 1.0,
    }
}

/// Adds edges; gives those with energy as they are measured.
fn add_edges(
    cloth: &Cloth,
    place: &[u32],
    adjacency: &Adjacency,
    areas: &[f64],
    elements: &mut Elements,
) -> Vec<RestSpring> {
    let mesh = &cloth.mesh;
    let [density, stretch] = [cloth.material.density, cloth.material.stretch.mean()].map(f64::from);
    let of_edges = cloth.model.edge().is_some();
    let beside = areas_beside(&adjacency.edges, &mesh.triangles, areas);
    let mut springs = Vec::new();
    for (&[a, b], &area) in adjacency.edges.iter().zip(&beside) {
        let length = (mesh.positions[a as usize] - mesh.positions[b as usize]).as_dvec3().length();
        elements.edge_length_sum += length;
        elements.edge_count += 1;
        let vertices = [a, b].map(|v| place[v as usize]);
        if of_edges {
            let stiffness = spring_stiffness(stretch, area, length);
            springs.push(RestSpring { vertices: [a, b], rest: length, stiffness });
            elements.springs.push(SpringElement {
                vertices,
                rest: length as f32,
                stiffness: stiffness as f32,
                viscosity: cloth.material.viscosity,
            });
            let frequency = spring_frequency(stiffness, length, area, density);
            elements.membrane_frequency = elements.membrane_frequency.max(frequency);
        }
        if cloth.edge.is_some() {
            let edges = if of_edges { &mut elements.model_edges } else { &mut elements.edges };
            edges.push(EdgeElement { vertices, rest: length as f32, range: cloth.edge.range(), share: 1.0 });
        }
    }
    elements.edges.sort_by_key(|e| e.vertices);
    elements.model_edges.sort_by_key(|e| e.vertices);
    elements.springs.sort_by_key(|e| e.vertices);
    springs
}

/// The areas of the triangles beside each of `edges`, which are sorted \[m²\].
fn areas_beside(edges: &[[u32; 2]], triangles: &[[u32; 3]], areas: &[f64]) -> Vec<f64> {
    let mut beside = vec![0.0; edges.len()];
    for (triangle, area) in triangles.iter().zip(areas) {
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
            if let Ok(edge) = edges.binary_search(&[a.min(b), a.max(b)]) {
                beside[edge] += area;
            }
        }
    }
    beside
}
