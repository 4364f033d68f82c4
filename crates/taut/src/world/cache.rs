//! What one world can take over from another that was built before it.

use std::sync::{Arc, Mutex};

use crate::{
    describe::weave::Warps,
    hierarchy::{self, Hierarchy, Options},
    mesh::TriangleMesh,
    term::curvature::{CurvatureElement, Rigidity},
};

/// What takes most of the time that it takes to build a world: levels of meshes, and curvatures that are
/// fitted to them.
#[derive(Debug, Default)]
pub(crate) struct HierarchyCache {
    levels: Mutex<Vec<(TriangleMesh, Options, Hierarchy)>>,
    curvatures: Mutex<Vec<Fitted>>,
}

/// Curvatures of a mesh, by where its warp runs and its rigidity by direction.
#[derive(Debug)]
struct Fitted {
    mesh: TriangleMesh,
    warps: Warps,
    rigidity: Rigidity,
    curvatures: Arc<Vec<CurvatureElement>>,
}

impl HierarchyCache {
    /// Levels of `mesh`.
    pub fn hierarchy(&self, mesh: &TriangleMesh, options: &Options) -> Hierarchy {
        let build = || hierarchy::build(mesh, options);
        // What another thread left behind when it panicked is not worth asking about.
        let Ok(mut known) = self.levels.lock() else { return build() };
        let same = |(other, with, _): &&(TriangleMesh, Options, Hierarchy)| {
            with == options && has_shape(other, mesh)
        };
        if let Some((_, _, levels)) = known.iter().find(same) {
            return levels.clone();
        }
        let levels = build();
        known.push((shape(mesh), *options, levels.clone()));
        levels
    }

    /// Curvatures of `mesh`, which `build` makes. Those that no world has any more are dropped when others
    /// are made.
    pub fn curvatures(
        &self,
        mesh: &TriangleMesh,
        warps: &Warps,
        rigidity: Rigidity,
        build: impl FnOnce() -> Vec<CurvatureElement>,
    ) -> Arc<Vec<CurvatureElement>> {
        let Ok(mut known) = self.curvatures.lock() else { return Arc::new(build()) };
        let same = |fitted: &&Fitted| {
            fitted.rigidity == rigidity && fitted.warps == *warps && has_shape(&fitted.mesh, mesh)
        };
        if let Some(fitted) = known.iter().find(same) {
            return fitted.curvatures.clone();
        }
        known.retain(|fitted| Arc::strong_count(&fitted.curvatures) > 1);
        let curvatures = Arc::new(build());
        let (mesh, warps) = (shape(mesh), warps.clone());
        known.push(Fitted { mesh, warps, rigidity, curvatures: curvatures.clone() });
        curvatures
    }
}

/// Whether both have the same vertices and triangles.
fn has_shape(mesh: &TriangleMesh, other: &TriangleMesh) -> bool {
    mesh.triangles == other.triangles && mesh.positions == other.positions
}

/// Vertices and triangles of `mesh`.
fn shape(mesh: &TriangleMesh) -> TriangleMesh {
    let (positions, triangles) = (mesh.positions.clone(), mesh.triangles.clone());
    TriangleMesh { positions, triangles, ..TriangleMesh::default() }
}
