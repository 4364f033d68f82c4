//! Soft solids of a recording: tetrahedra, and the surface that is shown in their place.

use std::collections::HashMap;

use glam::Vec3;
use taut::mesh::{TriangleMesh, embed::Embedding, tetrahedra::TetrahedronMesh};

use crate::{Problem, mesh, output::layout::Layout};

/// A soft solid of a recording. Its [rest shape](super::Body::rest) is the surface that is shown, which
/// follows the tetrahedra.
#[derive(Debug)]
pub struct SoftBody {
    /// Its tetrahedra at rest, whose vertices the frames hold.
    pub mesh: TetrahedronMesh,
    skin: Skin,
}

/// How the surface follows the tetrahedra.
#[derive(Debug)]
enum Skin {
    /// It is made of their vertices.
    Vertices(Vec<u32>),
    /// Its vertices lie anywhere.
    Embedded(Embedding, usize),
}

impl SoftBody {
    /// Reads the rest shape of the solid `name`, and the surface that is shown.
    pub(super) fn open(files: &Layout, name: &str) -> Result<(Self, TriangleMesh), Problem> {
        let mesh = mesh::read_tetrahedra(&files.rest_tetrahedra(name))?.mesh;
        let shown = mesh::read(&files.skin(name))?;
        let skin = match vertices_of(&mesh.positions, &shown.positions) {
            Some(vertices) => Skin::Vertices(vertices),
            None => Skin::Embedded(Embedding::new(&mesh, &shown.positions), shown.positions.len()),
        };
        Ok((Self { mesh, skin }, shown))
    }

    /// Carries vectors of the vertices of tetrahedra, such as positions, over to the vertices of the surface.
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

/// The one of `positions` that each of `points` is, to the bit; nothing if one is none of them.
fn vertices_of(positions: &[Vec3], points: &[Vec3]) -> Option<Vec<u32>> {
    let bits = |x: &Vec3| x.to_array().map(f32::to_bits);
    let places: HashMap<[u32; 3], u32> = positions.iter().map(bits).zip(0..).collect();
    points.iter().map(|x| places.get(&bits(x)).copied()).collect()
}
