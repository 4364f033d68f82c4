//! `[[cloth]]`: one cloth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cut, Material, MeshSource, Pbd, Pin, Tear, Transform, Vector, pressure::Pressure};

/// One cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cloth {
    /// Unique name in files and messages: letters, digits, - and _, at most 64. `cloth`, `cloth-2`, … by
    /// default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Rest shape, before `transform.scale`: a generator or a file.
    pub mesh: MeshSource,
    /// Initial placement. The mesh's own by default.
    #[serde(default)]
    pub transform: Transform,
    /// Material. `"polyester"` by default.
    #[serde(default)]
    pub material: Material,
    /// Simulation model. `"fem"` by default.
    #[serde(default, skip_serializing_if = "Model::is_fem")]
    pub model: Model,
    /// Levels of the model `"edge"`, including the cloth itself; small meshes may have fewer. 4 by default; 1
    /// to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 5))]
    pub levels: Option<u32>,
    /// Iterations of the model `"edge"` per level and frame; fewer where limits are met. 50 by default; 1 to
    /// 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub iterations: Option<u32>,
    /// Settings of the model `"pbd"`. Its defaults by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pbd: Option<Pbd>,
    /// How far the corners of two triangles of the model `"developable"` may be apart at the ends of their
    /// edge, over its length. Less makes folds smoother and cloth stiffer. 0.1 by default; 0.02 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.02, max = 1))]
    pub jump: Option<f64>,
    /// Limits on the principal strains of every triangle: isotropic, or separate along warp, weft and bias.
    /// None by default; ±0.001 for the model `"developable"`, which holds limits of 0.0001 or more.
    #[serde(default)]
    pub strain: StrainLimits,
    /// Direction of the warp at rest, for a material that is not the same in all directions: a vector, before
    /// `transform`, or `"u"` or `"v"`, the direction in which only that texture coordinate grows. By default
    /// `strain.direction`, else `"v"`; without texture coordinates along y, or along z if the cloth lies in a
    /// horizontal plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp: Option<WarpDirection>,
    /// Limits on the strain of every edge; the model `"edge"` uses them instead of `strain`. None by default.
    #[serde(default)]
    pub edge: Limits,
    /// Limits on the bend of every hinge, the edge between two triangles. None by default.
    #[serde(default)]
    pub bend: BendLimits,
    /// Initial velocity \[m/s\]. `[0, 0, 0]` by default; each −1000 to 1000.
    #[serde(default)]
    #[schemars(inner(range(min = -1000, max = 1000)))]
    pub velocity: Vector,
    /// Pinned vertices, fixed or moving. None by default.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub pin: Vec<Pin>,
    /// Seeded noise that displaces the initial positions. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// Largest random displacement of the initial positions of unpinned vertices along the normals \[m\], so
    /// that perfectly flat cloth buckles when compressed. 0 turns it off. A ten-thousandth of the mean edge
    /// length by default; 0 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub imperfection: Option<f64>,
    /// Pressure inside, if the cloth is closed, or closed by seams. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// Cuts that it has from the start, along edges of its mesh: notches, slits. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub cut: Vec<Cut>,
    /// Where the cloth tears. Nowhere by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tear: Option<Tear>,
}

/// Simulation model of a cloth: its forces inside the limits, and how limits are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Model {
    /// Finite elements: linear triangles. Limits are enforced by `solver.scheme`.
    #[default]
    Fem,
    /// Energy of edges and hinges, with limits on these alone (`edge`, `bend`), enforced on a few levels with
    /// a fixed number of iterations on each: fast, with an accuracy that depends on the iterations.
    /// `solver.scheme` is ignored. Does not support obstacles with mass, soft bodies and seams.
    Edge,
    /// Position-based dynamics: constraints on edges, hinges and, of closed cloth, the volume, with a
    /// stiffness from 0 to 1 or a compliance (`pbd`), projected a fixed number of times in each step. Limits
    /// act inside, as inequalities. Of the material, only density, damping and thickness count. All bodies
    /// of a scene must be of this model.
    Pbd,
    /// Nonconforming triangles with unknowns at the midpoints of edges, for cloth that bends and hardly
    /// stretches: paper, leather, tarpaulin. It does not lock, as linear triangles do, and bends alike in all
    /// directions. Requires `solver.scheme = "nearest"` with an implicit integrator, and a mesh that is flat
    /// at rest. Does not support limits on `bend` and `edge`, tearing, pressure, seams and springs.
    Developable,
}

impl Model {
    fn is_fem(&self) -> bool {
        *self == Self::Fem
    }
}

impl Cloth {
    /// The engine's model.
    pub fn engine_model(&self) -> taut::Model {
        let usual = taut::EdgeModel::default();
        match self.model {
            Model::Fem => taut::Model::Fem,
            Model::Pbd => taut::Model::Pbd(self.pbd.unwrap_or_default().build()),
            Model::Developable => {
                let usual = taut::DevelopableModel::default();
                taut::Model::Developable(taut::DevelopableModel {
                    jump: self.jump.map_or(usual.jump, |jump| jump as f32),
                })
            }
            Model::Edge => taut::Model::Edge(taut::EdgeModel {
                levels: self.levels.unwrap_or(usual.levels),
                iterations: self.iterations.unwrap_or(usual.iterations),
            }),
        }
    }
}

/// A lower and an upper limit on strain, the relative change of length. Both are optional: no limit on an
/// omitted side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    /// Largest allowed compression: −0.05 keeps every stretch above 0.95. None by default; −1 to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 0))]
    pub min: Option<f64>,
    /// Largest allowed stretch: 0.05 keeps every stretch below 1.05. None by default; 0 to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub max: Option<f64>,
}

/// Limits on strain, the relative change of length: `min` and `max` for all directions, or `warp`, `weft` and
/// `bias` with `direction`. Limits vary smoothly between these directions; warp and weft themselves never
/// exceed theirs. An omitted side is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StrainLimits {
    /// Largest allowed compression in any direction: −0.05 keeps every stretch above 0.95. None by default;
    /// −1 to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 0))]
    pub min: Option<f64>,
    /// Largest allowed stretch in any direction: 0.05 keeps every stretch below 1.05. None by default; 0 to
    /// 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub max: Option<f64>,
    /// Limits along the warp, instead of `min` and `max`; requires `weft`, `bias` and `direction`. None by
    /// default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<Limits>,
    /// Limits along the weft, perpendicular to the warp. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weft: Option<Limits>,
    /// Limits at 45 degrees to both. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Limits>,
    /// Direction of the warp at rest: a vector, before `transform`, or `"u"` or `"v"`, the direction in which
    /// only that texture coordinate grows. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<WarpDirection>,
}

/// Direction of the warp at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WarpDirection {
    /// Along a texture coordinate.
    Texture(TextureAxis),
    /// Along a vector, projected to each triangle; each −1000000 to 1000000.
    Vector(#[schemars(inner(range(min = -1_000_000, max = 1_000_000)))] Vector),
}

impl WarpDirection {
    /// The engine's.
    pub fn build(self) -> taut::Direction {
        match self {
            Self::Texture(TextureAxis::U) => taut::Direction::U,
            Self::Texture(TextureAxis::V) => taut::Direction::V,
            Self::Vector(vector) => taut::Direction::Along(glam::DVec3::from_array(vector).as_vec3()),
        }
    }
}

/// A texture coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TextureAxis {
    /// The first.
    U,
    /// The second.
    V,
}

/// A lower and an upper limit on bend, the angle between two adjacent triangles, in degrees per centimetre: a
/// hinge may fold that many degrees past its rest angle for each centimetre of the summed heights of its two
/// triangles over their edge. Both are optional: no limit on an omitted side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BendLimits {
    /// Largest allowed bend towards the normals: valleys \[°/cm\]. None by default;
    /// −1000000 to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1_000_000, max = 0))]
    pub min: Option<f64>,
    /// Largest allowed bend away from the normals: ridges \[°/cm\]. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max: Option<f64>,
}

/// Noise of several octaves that displaces the initial positions, both along the normals and in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noise {
    /// Largest displacement of the lowest octave along each axis \[m\]; it halves with each further octave. 0
    /// to 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub amplitude: f64,
    /// Number of octaves. 4 by default; 1 to 16.
    #[serde(default = "octaves")]
    #[schemars(range(min = 1, max = 16))]
    pub octaves: u32,
    /// Spatial frequency of the lowest octave \[1/m\]; it doubles with each further octave. 1 by default;
    /// 0.000001 to 1000000.
    #[serde(default = "frequency")]
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub frequency: f64,
    /// Seed. The scene's by default; 0 to 2⁶³ − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: Option<u64>,
}

fn octaves() -> u32 {
    4
}

fn frequency() -> f64 {
    1.0
}

impl BendLimits {
    /// The engine's limits.
    pub fn build(self) -> taut::Limit {
        taut::Limit { min: self.min.map(|min| min as f32), max: self.max.map(|max| max as f32) }
    }
}

impl StrainLimits {
    /// The engine's isotropic limits.
    pub fn build(self) -> taut::Limit {
        Limits { min: self.min, max: self.max }.build()
    }

    /// The engine's limits along warp, weft and bias. The rules ensure that all or none are present.
    pub fn weave(self) -> Option<taut::Weave> {
        let direction = self.direction?.build();
        let [warp, weft, bias] = [self.warp?, self.weft?, self.bias?].map(Limits::build);
        Some(taut::Weave { warp, weft, bias, direction })
    }
}

impl Limits {
    /// The engine's limits.
    pub fn build(self) -> taut::Limit {
        taut::Limit { min: self.min.map(|min| min as f32), max: self.max.map(|max| max as f32) }
    }
}
