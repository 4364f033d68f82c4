//! What one world can take over from another that was built before it.

use std::sync::Mutex;

use crate::{
    hierarchy::{self, Hierarchy, Options},
    mesh::TriangleMesh,
};

/// Levels of meshes that have been made: most of the time that it takes to build a world.
#[derive(Debug, Default)]
pub(crate) struct HierarchyCache {
    levels: Mutex<Vec<(TriangleMesh, Options, Hierarchy)>>,
}

impl HierarchyCache {
    /// Levels of `mesh`.
    pub fn hierarchy(&self, mesh: &TriangleMesh, options: &Options) -> Hierarchy {
        let build = || hierarchy::build(mesh, options);
        // What another thread left behind when it panicked is not worth asking about.
        let Ok(mut known) = self.levels.lock() else { return build() };
        let same = |(other, with, _): &&(TriangleMesh, Options, Hierarchy)| {
            with == options && other.triangles == mesh.triangles && other.positions == mesh.positions
        };
        if let Some((_, _, levels)) = known.iter().find(same) {
            return levels.clone();
        }
        let levels = build();
        let mesh = TriangleMesh {
            positions: mesh.positions.clone(),
            triangles: mesh.triangles.clone(),
            ..TriangleMesh::default()
        };
        known.push((mesh, *options, levels.clone()));
        levels
    }
}
