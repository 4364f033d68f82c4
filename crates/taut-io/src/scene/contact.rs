//! `contact`: how thick cloth is where a scene does not say.

use super::format::{Contact, Material, Scene, Scheme};

/// Part of the mean length of its edges that cloth is thick by default. Neighbours in a mesh that are drawn
/// to a half of their distance still keep it.
const PART_OF_EDGE: f64 = 0.25;

/// Contact of the scene with these cloths.
pub(super) fn contact(scene: &Scene, cloths: &[taut::Cloth]) -> taut::Contact {
    let table = match &scene.contact {
        Contact::Switch(_) => Default::default(),
        Contact::Table(table) => table.clone(),
    };
    let thickness = match scene.contact {
        Contact::Switch(false) => 0.0,
        _ => table.thickness.unwrap_or_else(|| thinnest(scene, cloths)),
    };
    taut::Contact { thickness: thickness as f32, friction: table.friction as f32 }
}

/// The thickness of the thinnest cloth \[m\]; 0 where contact is off by default.
fn thinnest(scene: &Scene, cloths: &[taut::Cloth]) -> f64 {
    let of_edges = cloths.iter().any(|cloth| cloth.model.edge().is_some() || cloth.model.pbd().is_some());
    let has_bodies = scene.obstacle.iter().any(|obstacle| obstacle.mass.is_some());
    if of_edges || has_bodies || scene.solver.scheme != Scheme::Nearest {
        return 0.0;
    }
    let of_material = |material: &Material| match material {
        Material::Table(table) => table.thickness,
        Material::Named(_) => None,
    };
    let all = cloths.iter().zip(&scene.cloth).map(|(cloth, described)| {
        of_material(&described.material).unwrap_or_else(|| PART_OF_EDGE * mean_edge(&cloth.mesh))
    });
    all.reduce(f64::min).map_or(0.0, |thickness| thickness.min(1.0))
}

/// The mean length of the edges of a mesh \[m\]; those of two triangles count twice.
fn mean_edge(mesh: &taut::mesh::TriangleMesh) -> f64 {
    let at = |v: u32| mesh.positions[v as usize].as_dvec3();
    let around =
        |&[a, b, c]: &[u32; 3]| at(a).distance(at(b)) + at(b).distance(at(c)) + at(c).distance(at(a));
    mesh.triangles.iter().map(around).sum::<f64>() / (3 * mesh.triangles.len()).max(1) as f64
}
