//! Conversion of per-corner texture coordinates.

use std::collections::HashMap;

use glam::Vec2;

/// Unique texture coordinates, and the index of each corner.
pub(super) struct Table {
    /// The coordinates, v upwards.
    pub values: Vec<Vec2>,
    /// Index of each corner of each triangle.
    pub corners: Vec<[u32; 3]>,
}

impl Table {
    /// The table of the corners `uvs`.
    pub fn new(uvs: &[[Vec2; 3]]) -> Self {
        let mut values = Vec::new();
        let mut known = HashMap::new();
        let mut index = |uv: Vec2| {
            *known.entry(uv.to_array().map(f32::to_bits)).or_insert_with(|| {
                values.push(uv);
                values.len() as u32 - 1
            })
        };
        let corners = uvs.iter().map(|corners| corners.map(&mut index)).collect();
        Self { values, corners }
    }
}

/// Vertices with one texture coordinate each. The first are those of the mesh, in order; copies of vertices
/// on texture seams follow.
pub(super) struct Split {
    /// Index in the mesh of each vertex.
    pub sources: Vec<u32>,
    /// Texture coordinates, v upwards; zero for a vertex without triangles. Empty if the mesh has none.
    pub uvs: Vec<Vec2>,
    /// Triangles over them.
    pub triangles: Vec<[u32; 3]>,
}

impl Split {
    /// Splits `vertices` vertices under `triangles`, whose corners have `uvs`, where there are such.
    pub fn new(vertices: usize, triangles: &[[u32; 3]], uvs: Option<&[[Vec2; 3]]>) -> Self {
        let mut sources: Vec<u32> = (0..vertices as u32).collect();
        let Some(corners) = uvs else {
            return Self { sources, uvs: Vec::new(), triangles: triangles.to_vec() };
        };
        let mut first: Vec<Option<Vec2>> = vec![None; vertices];
        let mut copies = Vec::new();
        let mut known = HashMap::new();
        let mut index = |v: u32, uv: Vec2| {
            if *first[v as usize].get_or_insert(uv) == uv {
                return v;
            }
            *known.entry((v, uv.to_array().map(f32::to_bits))).or_insert_with(|| {
                sources.push(v);
                copies.push(uv);
                sources.len() as u32 - 1
            })
        };
        let triangles = triangles
            .iter()
            .zip(corners)
            .map(|(t, uv)| [index(t[0], uv[0]), index(t[1], uv[1]), index(t[2], uv[2])])
            .collect();
        let uvs = first.into_iter().map(Option::unwrap_or_default).chain(copies).collect();
        Self { sources, uvs, triangles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_on_a_seam_are_split_and_others_are_not() {
        let (a, b, c, d, e) = (Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE, Vec2::new(0.5, 0.25));
        let triangles = [[0, 1, 2], [2, 1, 3]];
        let smooth = [[a, b, c], [c, b, d]];
        assert_eq!(Split::new(4, &triangles, Some(&smooth)).sources, [0, 1, 2, 3]);
        assert_eq!(Table::new(&smooth).corners, [[0, 1, 2], [2, 1, 3]]);
        let seam = [[a, b, c], [e, b, d]];
        let split = Split::new(4, &triangles, Some(&seam));
        assert_eq!((split.sources, split.triangles), (vec![0, 1, 2, 3, 2], vec![[0, 1, 2], [4, 1, 3]]));
        assert_eq!(split.uvs, [a, b, c, d, e]);
    }
}
