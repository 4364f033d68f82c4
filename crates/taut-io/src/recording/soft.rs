//! Soft bodies of a recording: tetrahedra, and their display surface.

use std::collections::HashMap;

use glam::Vec3;
use taut::mesh::{TriangleMesh, embed::Embedding, tetrahedra::TetrahedronMesh};

use crate::{Problem, mesh, output::layout::Layout};

/// A soft body of a recording. Its [rest shape](super::Body::rest) is the display surface, which follows the
/// tetrahedra.
#[derive(Debug)]
pub struct SoftBody {
    /// Its tetrahedra at rest; frames contain their vertices.
    pub mesh: TetrahedronMesh,
    skin: Skin,
}

/// How the surface follows the tetrahedra.
#[derive(Debug)]
enum Skin {
    /// It consists of their vertices.
    Vertices(Vec<u32>),
    /// Its vertices are embedded in the tetrahedra.
    Embedded(Embedding, usize),
}

impl SoftBody {
    /// Reads the rest shape of the soft body `name`, and its display surface.
    pub(super) fn open(files: &Layout, name: &str) -> Result<(Self, TriangleMesh), Problem> {
        let mesh = mesh::read_tetrahedra(&files.rest_tetrahedra(name))?.mesh;
        let shown = mesh::read(&files.skin(name))?;
        let skin = match vertices_of(&mesh.positions, &shown.positions) {
            Some(vertices) => Skin::Vertices(vertices),
            None => Skin::Embedded(Embedding::new(&mesh, &shown.positions), shown.positions.len()),
        };
        Ok((Self { mesh, skin }, shown))
    }

    /// Interpolates per-vertex vectors of the tetrahedra, such as positions, to the vertices of the surface.
    pub fn to_surface(&self, vectors: &[Vec3]) -> Vec<Vec3> {
        match &self.skin {
            Skin::Vertices(vertices) => vertices.iter().map(|&v| vectors[v as usize]).collect(),
            Skin::Embedded(embedding, count) => {
                let mut out = vec![Vec3::ZERO; *count];
                embedding.apply(vectors, &mut out);
                out
            }
        }
    }
}

/// The index in `positions` that is bitwise equal to each of `points`; `None` if one has no match.
fn vertices_of(positions: &[Vec3], points: &[Vec3]) -> Option<Vec<u32>> {
    let bits = |x: &Vec3| x.to_array().map(f32::to_bits);
    let places: HashMap<[u32; 3], u32> = positions.iter().map(bits).zip(0..).collect();
    points.iter().map(|x| places.get(&bits(x)).copied()).collect()
}
