//! Normals of vertices.

use glam::Vec3;

/// Sums of the normals of the triangles around each vertex, each as long as twice its area \[m²\], in the
/// order of the triangles.
pub fn normal_sums(positions: &[Vec3], triangles: impl IntoIterator<Item = [u32; 3]>) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        for v in triangle {
            sums[v as usize] += normal;
        }
    }
    sums
}

/// Unit normals: the area-weighted mean of the triangle normals around each vertex. Up where there is none.
pub fn vertex_normals(positions: &[Vec3], triangles: impl IntoIterator<Item = [u32; 3]>) -> Vec<Vec3> {
    let mut normals = normal_sums(positions, triangles);
    for normal in &mut normals {
        // In double precision, since the square of a small area may underflow in single precision.
        *normal = normal.as_dvec3().try_normalize().map_or(Vec3::Y, |n| n.as_vec3());
    }
    normals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_are_of_unit_length_and_up_where_there_are_no_triangles() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
        let found = vertex_normals(&positions, [[0, 1, 2], [0, 3, 1]]);
        let both = (Vec3::Z + Vec3::Y).normalize();
        assert_eq!(found, [both, both, Vec3::Z, Vec3::Y, Vec3::Y]);
    }
}
