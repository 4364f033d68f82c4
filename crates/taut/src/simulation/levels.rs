//! Coarser levels of cloth, for those who want to see them.

use glam::Vec3;

use super::{BodyHandle, Simulation, SimulationError};
use crate::{
    EdgeModel,
    hierarchy::{Hierarchy, Options},
    mesh::TriangleMesh,
};

impl Simulation {
    /// Coarser levels of a cloth at rest, the finest of them first; none of soft solids.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn level_meshes(&mut self, body: BodyHandle) -> Result<Vec<TriangleMesh>, SimulationError> {
        let index = self.bodies.index(body.0)?;
        let meshes =
            self.levels_of(index).map(|levels| levels.levels.iter().map(|l| l.mesh.clone()).collect());
        Ok(meshes.unwrap_or_default())
    }

    /// Where the vertices of level `level` of a cloth are now \[m\]; 0 is the cloth itself, 1 the first of
    /// [`Simulation::level_meshes`]. Empty if there is no such level.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn level_positions(&mut self, body: BodyHandle, level: usize) -> Result<Vec<Vec3>, SimulationError> {
        let index = self.bodies.index(body.0)?;
        let Some(coarse) = level.checked_sub(1) else { return Ok(self.positions(body)?.to_vec()) };
        self.levels_of(index);
        let positions = self.positions(body)?;
        let cloth = self.description().bodies[index].as_cloth();
        let levels = self.levels[index].as_ref().and_then(|hierarchy| hierarchy.levels.get(coarse));
        let (Some(cloth), Some(level)) = (cloth, levels) else { return Ok(Vec::new()) };
        let place = |site: &crate::hierarchy::Site| -> Vec3 {
            let corners = cloth.mesh.triangles[site.triangle as usize].iter().zip(site.weights);
            corners.map(|(&v, w)| w * positions.at(v as usize)).sum()
        };
        Ok(level.on_base.iter().map(place).collect())
    }

    fn levels_of(&mut self, body: usize) -> Option<&Hierarchy> {
        let cloth = self.world.description.bodies.get(body)?.as_cloth()?;
        let (usual, cache) = (Options::default(), &self.cache);
        Some(self.levels.get_mut(body)?.get_or_insert_with(|| match cloth.model.edge() {
            None => cache.hierarchy(&cloth.mesh, &usual),
            Some(model) => {
                let mut hierarchy = cache.hierarchy(&cloth.mesh, &EdgeModel::options());
                hierarchy.levels.truncate(model.levels as usize - 1);
                hierarchy
            }
        }))
    }
}
