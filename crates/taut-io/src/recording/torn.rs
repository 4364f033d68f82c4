//! Torn bodies: triangles keep their number and the order of their corners, so that what stands at a corner
//! of the rest mesh tells what a later vertex was split from. Then the rest shape, texture coordinates and
//! everything else of the whole apply to the torn body as well.

use glam::Vec3;
use taut::mesh::{TriangleMesh, split};

use super::{Body, Connections, Geometry};

impl Body {
    /// The vertex of the rest mesh that each vertex of `geometry`, a frame of this body, was split from;
    /// itself for those of the whole. `None` if its triangles are not those of the rest mesh with vertices
    /// split.
    pub fn origins(&self, geometry: &Geometry) -> Option<Vec<u32>> {
        let count = geometry.positions.len();
        if self.starts_with(geometry) {
            return Some((0..count as u32).collect());
        }
        if let [Connections::Curves(_), Connections::Curves(_)] =
            [&*self.rest.connections, &*geometry.connections]
        {
            // Strands that were cut keep their points.
            return (count == self.rest.positions.len()).then(|| (0..count as u32).collect());
        }
        let [whole, torn] = [&self.rest, geometry].map(|shape| shape.connections.triangles());
        if whole.is_empty() {
            return None;
        }
        split::origins(whole, torn, self.rest.positions.len()).filter(|origins| origins.len() == count)
    }

    /// Rest positions of the vertices of `geometry`, a frame of this body. `None` as with
    /// [`origins`](Self::origins).
    pub fn rest_positions_of(&self, geometry: &Geometry) -> Option<Vec<Vec3>> {
        Some(gather(&self.rest.positions, &self.origins(geometry)?))
    }

    /// The rest shape with the vertices and triangles of `geometry`, a frame of this body: what is torn
    /// there is torn here. `None` as with [`origins`](Self::origins).
    pub fn rest_of(&self, geometry: &Geometry) -> Option<TriangleMesh> {
        if self.rest.connections.triangles().is_empty() {
            return None;
        }
        Some(TriangleMesh {
            positions: self.rest_positions_of(geometry)?,
            triangles: geometry.connections.triangles().to_vec(),
            uvs: self.uvs.clone(),
            ..TriangleMesh::default()
        })
    }

    /// Whether a frame of this body with `connections` may have `count` vertices.
    ///
    /// # Errors
    /// Why not; the name of the file of its triangles must follow.
    pub(super) fn fits(&self, connections: &Connections, count: usize) -> Result<(), String> {
        if let Connections::Curves(counts) = connections {
            let points = counts.iter().sum::<u32>() as usize;
            let message = || format!("has {count} points, expected the {points} of the strands in");
            return if points == count { Ok(()) } else { Err(message()) };
        }
        let (whole, torn) = (self.rest.connections.triangles(), connections.triangles());
        let origins = split::origins(whole, torn, self.rest.positions.len()).filter(|_| !whole.is_empty());
        match (origins, torn.iter().flatten().max()) {
            (Some(origins), _) if origins.len() != count => {
                Err(format!("has {count} vertices, expected the {} of the torn triangles in", origins.len()))
            }
            (None, Some(highest)) if *highest as usize >= count => {
                Err(format!("contains {count} vertices, too few for vertex {highest} of the triangles in"))
            }
            _ => Ok(()),
        }
    }
}

impl Geometry {
    /// The vertex of this frame at which each vertex of `later`, a frame of the same body, was: what is split
    /// off in between is where it will be split from. `None` if `later` is not torn from this.
    pub fn origins_of(&self, later: &Self) -> Option<Vec<u32>> {
        let count = later.positions.len();
        let are_curves = [self, later].map(|shape| matches!(*shape.connections, Connections::Curves(_)));
        if self.connections == later.connections || are_curves == [true; 2] {
            return (self.positions.len() == count).then(|| (0..count as u32).collect());
        }
        let [before, after] = [self, later].map(|shape| shape.connections.triangles());
        split::origins(before, after, self.positions.len()).filter(|origins| origins.len() == count)
    }
}

/// The vectors `vectors` at the vertices `origins`.
pub fn gather(vectors: &[Vec3], origins: &[u32]) -> Vec<Vec3> {
    origins.iter().map(|&v| vectors[v as usize]).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn shape(count: usize, triangles: &[[u32; 3]]) -> Geometry {
        Geometry {
            positions: (0..count).map(|k| Vec3::splat(k as f32)).collect(),
            connections: Arc::new(Connections::Triangles(triangles.to_vec())),
        }
    }

    #[test]
    fn vertices_of_torn_triangles_have_origins_and_others_none() {
        let rest = shape(4, &[[0, 1, 2], [2, 1, 3]]);
        let uvs = vec![[glam::Vec2::ZERO, glam::Vec2::X, glam::Vec2::Y]; 2];
        let body = Body {
            name: "quad".into(),
            rest: rest.clone(),
            uvs: Some(uvs.clone()),
            changes: vec![5, 7],
            described: None,
            soft: None,
            midpoints: None,
            lines: None,
            strands: None,
            radii: None,
        };
        assert_eq!(body.origins(&rest).unwrap(), [0, 1, 2, 3]);
        let half = shape(5, &[[0, 1, 2], [4, 1, 3]]);
        let torn = shape(6, &[[0, 1, 2], [4, 5, 3]]);
        assert_eq!(body.origins(&torn).unwrap(), [0, 1, 2, 3, 2, 1]);
        assert_eq!(half.origins_of(&torn).unwrap(), [0, 1, 2, 3, 4, 1]);
        let mesh = body.rest_of(&torn).unwrap();
        assert_eq!(mesh.positions[4..], [Vec3::splat(2.0), Vec3::splat(1.0)]);
        assert_eq!((mesh.triangles, mesh.uvs), (vec![[0, 1, 2], [4, 5, 3]], Some(uvs)));
        // Not torn backwards, one vertex too many, other corners, another number of triangles.
        assert!(torn.origins_of(&half).is_none());
        for other in
            [shape(7, &[[0, 1, 2], [4, 5, 3]]), shape(4, &[[0, 2, 1], [2, 1, 3]]), shape(4, &[[0, 1, 2]])]
        {
            assert!(body.origins(&other).is_none() && body.rest_of(&other).is_none());
        }
    }
}
