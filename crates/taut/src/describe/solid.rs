//! Soft solids: what a caller says of them.

use glam::Vec3;

use super::{Limit, Model};
use crate::{
    Pin, SolidMaterial,
    hierarchy::solid::{SolidLevels, levels_of},
    mesh::{TriangleMesh, tetrahedra::TetrahedronMesh},
};

/// How coarser levels of a solid are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelKind {
    /// The surface is filled again at twice the spacing, four times and so on.
    Lattice,
    /// The surface is coarsened, and each coarse surface is filled, as in the main paper.
    #[default]
    Surface,
}

/// A soft solid: tetrahedra that stretch and compress up to their limits.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Its name in files and messages.
    pub name: String,
    /// Rest shape.
    pub mesh: TetrahedronMesh,
    /// Where its vertices start \[m\]; as many as `mesh.positions`.
    pub start: Vec<Vec3>,
    /// Velocity at the start \[m/s\].
    pub velocity: Vec3,
    /// What it is made of.
    pub material: SolidMaterial,
    /// How it is simulated: [`Model::Fem`] or [`Model::Pbd`].
    pub model: Model,
    /// Limits on the three principal strains of every tetrahedron.
    pub strain: Limit,
    /// Whether the volume around every vertex is kept, that of the tetrahedra that share it (W13), to within
    /// the solver's tolerance.
    /// Not for solids that obstacles press together by more than their limits allow: both cannot be met then,
    /// pressure builds up, and the solid is thrown out. Needs scheme `nearest`.
    pub preserve_volume: bool,
    /// Coarser meshes of the same rest shape, finest first, for [`Scheme::Cycle`](crate::Scheme::Cycle) and
    /// [`Scheme::Paper`](crate::Scheme::Paper), which limit their tetrahedra as they do those of `mesh`;
    /// [`make_levels`](Self::make_levels) makes them. With none, both limit the finest level
    /// alone, which takes far longer. [`Scheme::Nearest`](crate::Scheme::Nearest) makes levels of its own,
    /// and other schemes have none.
    pub levels: Vec<TetrahedronMesh>,
    /// The surface that is shown in its place and follows it, at rest; none: the faces of its tetrahedra on
    /// the outside. Of no consequence to the simulation.
    pub skin: Option<TriangleMesh>,
    /// Vertices that are held.
    pub pins: Vec<Pin>,
    /// Mass of each vertex \[kg\]; `None` takes a quarter of the mass of each tetrahedron around it.
    pub masses: Option<Vec<f64>>,
}

impl Solid {
    /// A solid at rest in its rest shape, with no limits and no pins.
    pub fn new(name: impl Into<String>, mesh: TetrahedronMesh, material: SolidMaterial) -> Self {
        Self {
            name: name.into(),
            start: mesh.positions.clone(),
            mesh,
            velocity: Vec3::ZERO,
            material,
            model: Model::Fem,
            strain: Limit::default(),
            preserve_volume: false,
            levels: Vec::new(),
            skin: None,
            pins: Vec::new(),
            masses: None,
        }
    }

    /// Makes its [levels](Self::levels) from its mesh, or for lattices from the skin that it was
    /// [stuffed](crate::mesh::stuff::stuff) into at `spacing` \[m\], if that is known. They end before one
    /// that would lose parts or have fewer than 150 vertices: small solids have none. Returns sentences for
    /// the user: which levels are lattices although `kind` says otherwise, and why.
    pub fn make_levels(&mut self, kind: LevelKind, spacing: Option<f32>) -> Vec<String> {
        let SolidLevels { meshes, notes } = levels_of(&self.mesh, self.skin.as_ref().zip(spacing), kind);
        self.levels = meshes;
        notes
    }

    /// The surface that is shown in its place: its [skin](Self::skin), or the faces of its tetrahedra on the
    /// outside with the vertices that these have.
    pub fn shown_surface(&self) -> TriangleMesh {
        self.skin.clone().unwrap_or_else(|| self.mesh.surface())
    }
}
