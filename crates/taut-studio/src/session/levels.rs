//! Coarser levels of the first cloth, as the engine builds them, for display.

use glam::Vec3;
use taut::{
    low_level::{self, Hierarchy, LevelOptions},
    mesh::TriangleMesh,
};

use crate::protocol::LevelMessage;

/// Coarser levels of a mesh.
#[derive(Debug, Default)]
pub struct ShownLevels {
    base: Vec<[u32; 3]>,
    hierarchy: Hierarchy,
}

impl ShownLevels {
    /// The levels of `mesh`.
    pub fn new(mesh: &TriangleMesh) -> Self {
        Self {
            base: mesh.triangles.clone(),
            hierarchy: low_level::build_levels(mesh, &LevelOptions::default()),
        }
    }

    /// Their description for the page.
    pub fn messages(&self) -> Vec<LevelMessage> {
        let message = |(k, mesh): (usize, &TriangleMesh)| LevelMessage {
            level: k + 1,
            vertices: mesh.positions.len(),
            triangles: mesh.triangles.len(),
        };
        self.meshes().enumerate().map(message).collect()
    }

    /// Their rest shapes, finest first.
    pub fn meshes(&self) -> impl Iterator<Item = &TriangleMesh> {
        self.hierarchy.levels.iter().map(|level| &level.mesh)
    }

    /// Positions of their vertices when those of the mesh are at `x` \[m\].
    pub fn positions(&self, x: &[Vec3]) -> Vec<(u32, Vec<Vec3>)> {
        let place = |site: &low_level::Site| -> Vec3 {
            let corners = self.base[site.triangle as usize];
            corners.iter().zip(site.weights).map(|(&v, weight)| x[v as usize] * weight).sum()
        };
        let level = |level: &low_level::Level| level.on_base.iter().map(place).collect();
        self.hierarchy.levels.iter().zip(1..).map(|(l, number)| (number, level(l))).collect()
    }
}
