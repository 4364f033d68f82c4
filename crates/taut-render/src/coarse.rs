//! A cloth drawn as one of its coarser levels: fewer triangles, whose vertices are points of the cloth.

use std::sync::Arc;

use glam::Vec3;
use taut::{Cloth, low_level, mesh::TriangleMesh};
use taut_io::recording::{Connections, Geometry};

/// A level of a mesh that is displayed instead of it.
#[derive(Debug)]
pub struct Coarse {
    /// Rest shape.
    pub mesh: TriangleMesh,
    /// Connectivity of the mesh itself.
    fine: Vec<[u32; 3]>,
    /// Embedding of the level's vertices: triangle of the mesh and barycentric weights.
    sites: Vec<low_level::Site>,
    connections: Arc<Connections>,
}

impl Coarse {
    /// Level `level` of `mesh`, as the engine builds levels of `cloth`; 1 is the first coarser than the mesh.
    ///
    /// # Errors
    /// The number of the coarsest level, if `level` does not exist.
    pub fn new(mesh: &TriangleMesh, cloth: Option<&Cloth>, level: usize) -> Result<Self, usize> {
        let mut levels = match cloth.and_then(|cloth| cloth.model.edge()) {
            Some(model) => model.hierarchy(mesh),
            None => low_level::build_levels(mesh, &low_level::LevelOptions::default()),
        };
        let coarsest = levels.levels.len();
        if level == 0 || level > coarsest {
            return Err(coarsest);
        }
        let level = levels.levels.swap_remove(level - 1);
        let connections = Arc::new(Connections::Triangles(level.mesh.triangles.clone()));
        Ok(Self { mesh: level.mesh, fine: mesh.triangles.clone(), sites: level.on_base, connections })
    }

    /// The level in a frame in which the mesh is `geometry`. None for a torn body: its levels are not those
    /// of the whole, and what connects its pieces is not there.
    pub fn of(&self, geometry: &Geometry) -> Option<Geometry> {
        if geometry.connections.triangles() != self.fine {
            return None;
        }
        let at = |site: &low_level::Site| -> Vec3 {
            let corners = self.fine[site.triangle as usize].iter().zip(site.weights);
            corners.map(|(&v, weight)| weight * geometry.positions[v as usize]).sum()
        };
        Some(Geometry {
            positions: self.sites.iter().map(at).collect(),
            connections: self.connections.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taut::mesh::generate;

    #[test]
    fn a_level_lies_on_the_cloth_and_moves_with_it() {
        let mesh = generate::grid([1.0, 1.0], [32, 32], generate::Diagonals::Alternating, 0);
        let coarse = Coarse::new(&mesh, None, 1).unwrap();
        assert!(coarse.mesh.triangles.len() < mesh.triangles.len() / 2);
        let moved = |p: &Vec3| Vec3::new(2.0 * p.x, p.z + 0.5, -p.x);
        let joined = |triangles: &[[u32; 3]]| Arc::new(Connections::Triangles(triangles.to_vec()));
        let frame = |triangles: &[[u32; 3]]| Geometry {
            positions: mesh.positions.iter().map(moved).collect(),
            connections: joined(triangles),
        };
        let shown = coarse.of(&frame(&mesh.triangles)).unwrap();
        assert_eq!(shown.connections.triangles(), coarse.mesh.triangles);
        for (p, rest) in shown.positions.iter().zip(&coarse.mesh.positions) {
            assert!(p.distance(moved(rest)) < 1e-5, "{p} {rest}");
        }
        assert!(coarse.of(&frame(&mesh.triangles[1..])).is_none(), "torn");
    }

    #[test]
    fn levels_that_are_not_there_are_told() {
        let mesh = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Alternating, 0);
        let coarsest = Coarse::new(&mesh, None, 99).unwrap_err();
        assert!(coarsest < 99 && Coarse::new(&mesh, None, coarsest + 1).is_err());
    }
}
