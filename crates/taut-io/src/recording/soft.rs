//! Soft bodies of a recording: tetrahedra, and their display surface.

use glam::Vec3;
use taut::{low_level::Embedding, mesh::TriangleMesh, mesh::tetrahedra::TetrahedronMesh};

use crate::{Problem, mesh, output::layout::Layout};

/// A soft body of a recording. Its [rest shape](super::Body::rest) is the display surface, which follows the
/// tetrahedra.
#[derive(Debug)]
pub struct SoftBody {
    /// Its tetrahedra at rest; frames contain their vertices.
    pub mesh: TetrahedronMesh,
    /// How the surface follows the tetrahedra.
    skin: Embedding,
}

impl SoftBody {
    /// Reads the rest shape of the soft body `name`, and its display surface.
    pub(super) fn open(files: &Layout, name: &str) -> Result<(Self, TriangleMesh), Problem> {
        let mesh = mesh::read_tetrahedra(&files.rest_tetrahedra(name))?.mesh;
        let shown = mesh::read(&files.skin(name))?;
        let skin = Embedding::of_surface(&mesh, &shown.positions);
        Ok((Self { mesh, skin }, shown))
    }

    /// Interpolates per-vertex vectors of the tetrahedra, such as positions, to the vertices of the surface.
    pub fn to_surface(&self, vectors: &[Vec3]) -> Vec<Vec3> {
        self.skin.points(vectors)
    }
}
