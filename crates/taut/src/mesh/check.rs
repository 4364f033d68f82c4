//! Mesh validation: reports problems before the simulation starts, and names the element.
//!
//! Models from the usual collections have faces without area, edges shared by three faces, duplicate faces
//! and unused vertices. Each of these ends, hours later, as a limit that cannot be met or a hierarchy that
//! cannot be built; here, it is one line that names the face to fix.
//!
//! Everything is found by sorting: half-edges by their two vertices, faces by their three. The cost is O(n
//! log n), and the order of problems depends on the mesh alone, at any number of threads.

mod degenerate;
mod problem;
#[cfg(test)]
mod tests;
mod topology;

use glam::Vec3;

use super::TriangleMesh;

pub use degenerate::{MIN_EDGE, MIN_RELATIVE_HEIGHT};
pub use problem::{Kind, MeshProblem};

/// Maximum number of problems of one kind that are listed; the rest are only counted.
pub const MAX_LISTED_PER_KIND: usize = 20;
/// Coordinates beyond this are treated as a mistake in units \[m\]: at 1000 km, the resolution of f32 is 6
/// cm.
pub const MAX_COORDINATE: f32 = 1e6;

/// All problems of `mesh`, in a fixed order: by kind, then by element. Empty if it can be simulated.
///
/// At most [`MAX_LISTED_PER_KIND`] problems of a kind are listed, followed by [`MeshProblem::More`] with the
/// number of the others.
pub fn check(mesh: &TriangleMesh) -> Vec<MeshProblem> {
    let mut found = Vec::new();
    if mesh.positions.is_empty() || mesh.triangles.is_empty() {
        found.push(MeshProblem::Empty { vertices: mesh.positions.len(), faces: mesh.triangles.len() });
    }
    check_tables(mesh, &mut found);
    check_positions(&mesh.positions, &mut found);
    let sound = degenerate::check(mesh, &mut found);
    topology::check(mesh, sound, &mut found);
    found
}

/// Indices and tables that are inconsistent.
fn check_tables(mesh: &TriangleMesh, found: &mut Vec<MeshProblem>) {
    let vertices = mesh.positions.len();
    let outside = |index: u32| index as usize >= vertices;
    list(
        found,
        Kind::FaceIndex,
        mesh.triangles.iter().enumerate().filter_map(|(face, triangle)| {
            let index = triangle.iter().copied().find(|&index| outside(index))?;
            Some(MeshProblem::FaceIndex { face, index, vertices })
        }),
    );
    if let Some(uvs) = &mesh.uvs
        && uvs.len() != mesh.triangles.len()
    {
        found.push(MeshProblem::UvCount { uvs: uvs.len(), faces: mesh.triangles.len() });
    }
    list(
        found,
        Kind::GroupIndex,
        mesh.groups.iter().filter_map(|(group, members)| {
            let index = members.iter().copied().find(|&index| outside(index))?;
            Some(MeshProblem::GroupIndex { group: group.clone(), index, vertices })
        }),
    );
}

/// Positions that are not finite, or absurdly large.
fn check_positions(positions: &[Vec3], found: &mut Vec<MeshProblem>) {
    let numbered = || positions.iter().copied().enumerate();
    list(
        found,
        Kind::NonFinite,
        numbered()
            .filter(|(_, position)| !position.is_finite())
            .map(|(vertex, position)| MeshProblem::NonFinite { vertex, position }),
    );
    list(
        found,
        Kind::TooFar,
        numbered()
            .filter(|(_, position)| position.is_finite() && position.abs().max_element() > MAX_COORDINATE)
            .map(|(vertex, position)| MeshProblem::TooFar { vertex, position }),
    );
}

/// Adds problems of one kind: lists the first ones, counts the rest.
fn list(found: &mut Vec<MeshProblem>, kind: Kind, mut problems: impl Iterator<Item = MeshProblem>) {
    found.extend(problems.by_ref().take(MAX_LISTED_PER_KIND));
    let count = problems.count();
    if count > 0 {
        found.push(MeshProblem::More { kind, count });
    }
}
