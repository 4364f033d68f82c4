//! What one world can take over from another that was built before it.

use std::sync::{Arc, Mutex};

use crate::{
    describe::weave::Warps,
    hierarchy::{self, Hierarchy, Options, Transfer},
    mesh::TriangleMesh,
    term::curvature::{CurvatureElement, Rigidity},
};

/// Most meshes whose transfers are remembered.
const MAX_ORDERED: usize = 32;

/// What takes most of the time that it takes to build a world: levels of meshes, and curvatures that are
/// fitted to them.
#[derive(Debug, Default)]
pub(crate) struct HierarchyCache {
    levels: Mutex<Vec<(TriangleMesh, Options, Hierarchy)>>,
    transfers: Mutex<Vec<Ordered>>,
    curvatures: Mutex<Vec<Fitted>>,
}

/// Transfers between the levels of a mesh whose vertices are in an order.
#[derive(Debug)]
struct Ordered {
    mesh: TriangleMesh,
    order: Vec<u32>,
    transfers: Arc<Vec<Transfer>>,
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

    /// Transfers between the levels of `mesh` with the vertices of each in an order that keeps neighbours
    /// close; `order` is that of the finest. A few are remembered: while meshes tear, those of the whole are
    /// asked for again and again.
    pub fn transfers(&self, mesh: &TriangleMesh, order: &[u32]) -> Arc<Vec<Transfer>> {
        let build = || {
            let levels = self.hierarchy(mesh, &Options::default()).reordered(order).levels;
            Arc::new(levels.into_iter().map(|level| level.transfer).collect::<Vec<_>>())
        };
        let Ok(mut known) = self.transfers.lock() else { return build() };
        let same = |ordered: &&Ordered| ordered.order == order && has_shape(&ordered.mesh, mesh);
        if let Some(ordered) = known.iter().find(same) {
            return ordered.transfers.clone();
        }
        let transfers = build();
        known.truncate(MAX_ORDERED - 1);
        known.insert(0, Ordered { mesh: shape(mesh), order: order.to_vec(), transfers: transfers.clone() });
        transfers
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
