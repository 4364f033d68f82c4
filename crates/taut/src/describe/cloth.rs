//! Cloth: what a caller says of it.

use glam::Vec3;

use std::{borrow::Cow, sync::Arc};

use super::{DevelopableModel, Direction, Limit, PbdModel, Pressure, Tear, Torn, Weave};
use crate::{
    Material, Pin,
    hierarchy::{self, Hierarchy, fit::CoarseLimits},
    mesh::{TriangleMesh, midpoints::Midpoints},
};

/// One piece of cloth.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Its name in files and messages.
    pub name: String,
    /// Rest shape.
    pub mesh: TriangleMesh,
    /// Where its vertices start \[m\]; as many as `mesh.positions`.
    pub start: Vec<Vec3>,
    /// Velocity at the start \[m/s\].
    pub velocity: Vec3,
    /// What it is made of.
    pub material: Material,
    /// How it is simulated.
    pub model: Model,
    /// Limits on the principal strains of every triangle (isotropic).
    pub strain: Limit,
    /// Limits on the principal strains of every triangle by their direction; these take the place of
    /// `strain`.
    pub weave: Option<Weave>,
    /// Where its warp runs, for a material that is not the same in all directions. `None`: as `weave` says,
    /// else along the second texture coordinate; where there is none, along y, or along z if it lies in a
    /// horizontal plane.
    pub warp: Option<Direction>,
    /// Limits on the strain of every edge.
    pub edge: Limit,
    /// Limits on the bend of every hinge \[°/cm\].
    pub bend: Limit,
    /// Limits of its coarser levels, for schemes that enforce limits there; `None`: the closed-form bounds.
    pub coarse: Option<CoarseLimits>,
    /// Vertices that are held.
    pub pins: Vec<Pin>,
    /// Mass of each vertex \[kg\]; `None` takes a third of the mass of each triangle around it.
    pub masses: Option<Vec<f64>>,
    /// How far the start of vertices that are not held is displaced at random along the normals, at most
    /// \[m\]; `None` takes [`IMPERFECTION`] of the mean length of an edge. No real cloth is perfectly flat,
    /// and one that is does not know which way to buckle: pushed together, it stays flat and cannot meet a
    /// lower limit.
    pub imperfection: Option<f32>,
    /// Pressure inside it, if it is closed, or closed by seams; only for
    /// [`Scheme::Nearest`](crate::Scheme::Nearest) with an implicit integrator.
    pub pressure: Option<Pressure>,
    /// Where it tears; `None`: nowhere. A [`Simulation`](crate::Simulation) tears it; a bare
    /// [`Stepper`](crate::Stepper) does not.
    pub tear: Option<Tear>,
    /// What it was, if it has torn ([`Cloth::torn`]).
    pub torn: Option<Torn>,
    /// How its vertices belong to those of the mesh that is shown, if it is
    /// [developable](Cloth::developable).
    pub midpoints: Option<Arc<Midpoints>>,
}

/// What [`Cloth::imperfection`] is by default, in mean lengths of an edge: far below what can be seen, far
/// above rounding.
pub const IMPERFECTION: f32 = 1e-4;

impl Cloth {
    /// Cloth at rest in its rest shape, with no limits and no pins.
    pub fn new(name: impl Into<String>, mesh: TriangleMesh, material: Material) -> Self {
        let start = mesh.positions.clone();
        Self {
            name: name.into(),
            mesh,
            start,
            velocity: Vec3::ZERO,
            material,
            model: Model::Fem,
            strain: Limit::default(),
            weave: None,
            warp: None,
            edge: Limit::default(),
            bend: Limit::default(),
            coarse: None,
            pins: Vec::new(),
            masses: None,
            imperfection: None,
            pressure: None,
            tear: None,
            torn: None,
            midpoints: None,
        }
    }

    /// The triangles that its strain is measured on: its mesh, but for developable cloth.
    pub fn element_mesh(&self) -> Cow<'_, TriangleMesh> {
        match &self.midpoints {
            Some(midpoints) => Cow::Owned(midpoints.element_mesh(&self.mesh.positions)),
            None => Cow::Borrowed(&self.mesh),
        }
    }

    /// Vertices of these triangles.
    pub fn elements(&self) -> &[[u32; 3]] {
        self.midpoints.as_ref().map_or(&self.mesh.triangles, |midpoints| &midpoints.elements)
    }
}

/// How a cloth is simulated: its forces inside the limits, and how these are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Model {
    /// Linear triangles; limits as the [`Scheme`](crate::Scheme) has it.
    #[default]
    Fem,
    /// The second paper's (T1 to T4, T6): energy of edges and hinges, limits on edges and hinges alone,
    /// enforced over a few levels with so many iterations on each, whatever the scheme. Quick, and as exact
    /// as its iterations make it.
    Edge(EdgeModel),
    /// Position-based dynamics (S2, S3): constraints on edges, hinges and volumes that a fixed number of
    /// projections a step brings nearer to their rest values, whatever the scheme; limits act inside. For
    /// solids too. All bodies of a world must be of this model.
    Pbd(PbdModel),
    /// Nonconforming triangles with unknowns at the midpoints of edges, for what bends and hardly stretches:
    /// paper, leather, tarpaulin. Cloth becomes so by [`Cloth::developable`]. For
    /// [`Scheme::Nearest`](crate::Scheme::Nearest) with an implicit integrator.
    Developable(DevelopableModel),
}

/// Settings of [`Model::Edge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeModel {
    /// Levels, the cloth itself included: 1 to 5. Small meshes may have fewer.
    pub levels: u32,
    /// Iterations on each level in a frame, 1 to 10000, shared out between its steps; fewer where limits
    /// hold.
    pub iterations: u32,
}

impl EdgeModel {
    /// Vertices that its coarsest level may have at the least.
    const COARSEST: usize = 16;

    /// How deep its levels are, the cloth itself not counted: at most [`EdgeModel::levels`] less one of what
    /// this makes.
    pub(crate) fn options() -> hierarchy::Options {
        hierarchy::Options { coarsest: Self::COARSEST, ..hierarchy::Options::default() }
    }

    /// Its levels of `mesh`, the mesh itself not counted.
    pub fn hierarchy(self, mesh: &TriangleMesh) -> Hierarchy {
        let mut hierarchy = hierarchy::build(mesh, &Self::options());
        hierarchy.levels.truncate((self.levels as usize).saturating_sub(1));
        hierarchy
    }
}

impl Default for EdgeModel {
    fn default() -> Self {
        Self { levels: 4, iterations: 50 }
    }
}

impl Model {
    /// The settings of the edge model, if it is that.
    pub fn edge(self) -> Option<EdgeModel> {
        match self {
            Self::Edge(settings) => Some(settings),
            Self::Fem | Self::Pbd(_) | Self::Developable(_) => None,
        }
    }

    /// The settings of position-based dynamics, if it is that.
    pub fn pbd(self) -> Option<PbdModel> {
        match self {
            Self::Pbd(settings) => Some(settings),
            Self::Fem | Self::Edge(_) | Self::Developable(_) => None,
        }
    }

    /// The settings of developable cloth, if it is that.
    pub fn developable(self) -> Option<DevelopableModel> {
        match self {
            Self::Developable(settings) => Some(settings),
            Self::Fem | Self::Edge(_) | Self::Pbd(_) => None,
        }
    }
}
