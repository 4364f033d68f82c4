//! `[[solid]]`: a soft body, made of tetrahedra.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Limits, MeshSource, Pbd, Pin, SolidMaterial, Transform, Vector,
    mesh::{Ball, Bunny, Creature, Cuboid, Duck, Even, Ring, Tube},
};

/// A soft body: flesh, rubber, foam. It is made of tetrahedra, none of which is stretched or compressed past
/// its limits in any direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SoftSolid")]
pub(crate) struct Solid {
    /// Unique name in files and messages: letters, digits, - and _, at most 64. `solid`, `solid-2`, … by
    /// default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Rest shape, before `transform.scale`: a closed surface to fill with tetrahedra, or tetrahedra.
    pub mesh: SolidMesh,
    /// Size of the tetrahedra that fill a surface \[m\], after `transform.scale`; this or `tetrahedra`. None
    /// by default; 0.000001 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub spacing: Option<f64>,
    /// Approximate number of tetrahedra that fill a surface, instead of `spacing`. None by default; 100 to
    /// 50000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 50_000_000))]
    pub tetrahedra: Option<u32>,
    /// Initial placement. The mesh's own by default.
    #[serde(default)]
    pub transform: Transform,
    /// Material. `"silicone"` by default.
    #[serde(default)]
    pub material: SolidMaterial,
    /// Simulation model. `"fem"` by default.
    #[serde(default, skip_serializing_if = "SolidModel::is_fem")]
    pub model: SolidModel,
    /// Settings of the model `"pbd"`. Its defaults by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pbd: Option<Pbd>,
    /// Limits on the three principal strains of every tetrahedron. None by default.
    #[serde(default)]
    pub strain: Limits,
    /// Whether the volume around every vertex is preserved. `"free"` by default.
    #[serde(default)]
    pub volume: Volume,
    /// How coarser levels are made, for schemes `cycle` and `paper`, which limit those too; other schemes
    /// refuse it. `"surface"` by default; `"lattice"` for a `bar`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<SolidLevels>,
    /// Initial velocity \[m/s\]. `[0, 0, 0]` by default; each −1000 to 1000.
    #[serde(default)]
    #[schemars(inner(range(min = -1000, max = 1000)))]
    pub velocity: Vector,
    /// Pinned tetrahedral vertices, fixed or moving; `boundary` selects those on the surface, `group:NAME`
    /// those nearest to the group of a surface's file. None by default.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub pin: Vec<Pin>,
}

/// The rest shape of a soft body: a closed surface, which requires `spacing` or `tetrahedra`, or tetrahedra.
/// The surface keeps its full detail: it follows the tetrahedra, and exports and images show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SolidMesh {
    /// A bar of cubes, each split into tetrahedra: x, y and z from 0 to `size`. Needs no `spacing`.
    Bar(Bar),
    /// A sphere about the origin.
    Sphere(Ball),
    /// A torus around the y axis, centred at the origin.
    Torus(Ring),
    /// A rod along y with half-spheres at both ends, centred at the origin.
    Capsule(Tube),
    /// A box centred at the origin; unlike those of `bar`, its corners and edges are rounded by the size of
    /// the tetrahedra.
    Box(Cuboid),
    /// A human figure, 1.7 m tall: faces z, stands on y = 0, arms out. Edges of 0.005 to 0.025 m.
    Figure(Even),
    /// A dragon-like creature, half as high as it is long: faces x, stands on y = 0.
    Creature(Creature),
    /// A rabbit with two long ears: faces x, stands on y = 0.
    Bunny(Bunny),
    /// A bath duck: faces x, stands on y = 0.
    Duck(Duck),
    /// A file, relative to the scene file: a closed surface (obj, ply, stl, gltf, glb, usd, usda, usdc,
    /// usdz), or tetrahedra (msh, mesh, vtk, vtu, or node with ele beside it), which need no `spacing`.
    File(#[schemars(length(min = 1))] String),
}

/// A bar of cubes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BarMesh")]
pub(crate) struct Bar {
    /// Lengths along x, y and z \[m\]. Each 0.0001 to 100000.
    #[schemars(inner(range(min = 0.000_1, max = 100_000)))]
    pub size: [f64; 3],
    /// Number of cubes along x, y and z. Each 1 to 10000.
    #[schemars(inner(range(min = 1, max = 10_000)))]
    pub cells: [u32; 3],
}

/// Simulation model of a soft body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SolidModel {
    /// Finite elements: linear tetrahedra. Limits are enforced by `solver.scheme`.
    #[default]
    Fem,
    /// Position-based dynamics: constraints on edges and on the volume of every tetrahedron, with a stiffness
    /// from 0 to 1 or a compliance (`pbd`), as for cloth. Of the material, only density and damping count.
    Pbd,
}

impl SolidModel {
    fn is_fem(&self) -> bool {
        *self == Self::Fem
    }
}

impl Solid {
    /// The engine's model.
    pub fn engine_model(&self) -> taut::Model {
        match self.model {
            SolidModel::Fem => taut::Model::Fem,
            SolidModel::Pbd => taut::Model::Pbd(self.pbd.unwrap_or_default().build()),
        }
    }
}

/// Volume preservation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Volume {
    /// The volume changes as the material and the limits allow.
    #[default]
    Free,
    /// The volume of the tetrahedra around every vertex is preserved.
    Preserve,
}

/// Coarser levels of a soft body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SolidLevels {
    /// The surface is filled again at twice the spacing, four times and so on; a `bar` has half as many boxes
    /// along every side, a quarter and so on.
    Lattice,
    /// The surface is coarsened like that of a cloth, and each coarse surface is filled; where that is not
    /// possible a level is a lattice, with a warning.
    Surface,
}

impl SolidMesh {
    /// The key that selects it: `bar`, `file`, …
    pub fn tag(&self) -> &'static str {
        match self {
            Self::Bar(_) => "bar",
            Self::File(_) => "file",
            _ => self.surface().map_or("mesh", |surface| surface.tag()),
        }
    }

    /// The generator of the surface, if it is generated.
    pub fn surface(&self) -> Option<MeshSource> {
        Some(match self {
            Self::Bar(_) | Self::File(_) => return None,
            Self::Sphere(ball) => MeshSource::Sphere(*ball),
            Self::Torus(ring) => MeshSource::Torus(*ring),
            Self::Capsule(tube) => MeshSource::Capsule(*tube),
            Self::Box(cuboid) => MeshSource::Box(*cuboid),
            Self::Figure(even) => MeshSource::Figure(*even),
            Self::Creature(creature) => MeshSource::Creature(*creature),
            Self::Bunny(bunny) => MeshSource::Bunny(*bunny),
            Self::Duck(duck) => MeshSource::Duck(*duck),
        })
    }
}
