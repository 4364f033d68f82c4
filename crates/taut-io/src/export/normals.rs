//! Normals of vertices.

use glam::Vec3;

/// Unit normals: the mean of those of the triangles around each vertex, weighted with their areas. Up where there is none.
pub(super) fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        for &v in triangle {
            sums[v as usize] += normal;
        }
    }
    for sum in &mut sums {
        // Doubles, since the square of a small area may be nothing in single precision.
        *sum = sum.as_dvec3().try_normalize().map_or(Vec3::Y, |n| n.as_vec3());
    }
    sums
}
