//! `[[cloth]]`: one piece of cloth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Material, MeshSource, MotionKey, Transform, Vector};

/// One piece of cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cloth {
    /// Its name in files and messages: letters, digits, - and _, at most 64; no two alike. `cloth`,
    /// `cloth-2`, … by default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Its shape at rest, before `transform.scale`: a generator or a file.
    pub mesh: MeshSource,
    /// Where it starts. As the mesh lies by default.
    #[serde(default)]
    pub transform: Transform,
    /// What it is made of. `"polyester"` by default.
    #[serde(default)]
    pub material: Material,
    /// How it is simulated. `"fem"` by default.
    #[serde(default, skip_serializing_if = "Model::is_fem")]
    pub model: Model,
    /// Levels of the model `"edge"`, the cloth itself included; small meshes may have fewer. 4 by default; 1
    /// to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 5))]
    pub levels: Option<u32>,
    /// Iterations of the model `"edge"` on each level in a frame; fewer where limits hold. 50 by default; 1
    /// to 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub iterations: Option<u32>,
    /// Limits on the principal strains of every triangle: the same in all directions, or apart along warp,
    /// weft and bias. None by default.
    #[serde(default)]
    pub strain: StrainLimits,
    /// Limits on the strain of every edge: with the model `"edge"` in place of `strain`. None by default.
    #[serde(default)]
    pub edge: Limits,
    /// Limits on the bend of every hinge, the edge between two triangles. None by default.
    #[serde(default)]
    pub bend: BendLimits,
    /// Velocity at the start \[m/s\]. `[0, 0, 0]` by default; each −1000 to 1000.
    #[serde(default)]
    #[schemars(inner(range(min = -1000, max = 1000)))]
    pub velocity: Vector,
    /// Vertices that are held or carried along. None by default.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub pin: Vec<Pin>,
    /// Seeded noise that displaces the start. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// How far the start of vertices that are not held is displaced at random along the normals, at most
    /// \[m\]: perfectly flat cloth that is pushed together would not know which way to buckle. 0 turns it
    /// off. A ten-thousandth of the mean length of an edge by default; 0 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub imperfection: Option<f64>,
}

/// How a piece of cloth is simulated: its forces inside the limits, and how these are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Model {
    /// Finite elements: linear triangles. Limits as `solver.scheme` has it.
    #[default]
    Fem,
    /// Energy of edges and hinges, and limits on these alone (`edge`, `bend`), enforced on a few coarser
    /// levels too with a fixed number of iterations on each: quick, and as exact as that makes it.
    /// `solver.scheme` is not asked. Without contact of cloth with cloth, mesh obstacles, obstacles with
    /// mass, soft solids and seams.
    Edge,
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
            Model::Edge => taut::Model::Edge(taut::EdgeModel {
                levels: self.levels.unwrap_or(usual.levels),
                iterations: self.iterations.unwrap_or(usual.iterations),
            }),
        }
    }
}

/// A lower and an upper limit on strain, the relative change of length. Either may be left out: no limit on
/// that side.
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
/// `bias` for three, with `direction`. Between these, limits change smoothly; warp and weft themselves never
/// stretch past theirs. What is left out is not limited.
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
    /// Limits along the warp, in place of `min` and `max`; `weft`, `bias` and `direction` have to be there
    /// too. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<Limits>,
    /// Limits along the weft, at right angles to the warp. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weft: Option<Limits>,
    /// Limits at 45 degrees to both. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Limits>,
    /// Where the warp runs at rest: a vector, before `transform` turns the cloth, or `"u"` or `"v"`, where
    /// that texture coordinate grows and the other stays. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<WarpDirection>,
}

/// Where the warp runs at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WarpDirection {
    /// Along a texture coordinate.
    Texture(TextureAxis),
    /// Along a vector, projected to each triangle; each −1000000 to 1000000.
    Vector(#[schemars(inner(range(min = -1_000_000, max = 1_000_000)))] Vector),
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

/// A lower and an upper limit on bend, the angle between two neighbouring triangles, in degrees a centimetre:
/// a hinge may fold that many degrees past its rest angle for each centimetre of the summed heights of its
/// two triangles over their edge. Either may be left out: no limit on that side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BendLimits {
    /// Largest allowed bend towards the side that normals point to: valleys \[°/cm\]. None by default;
    /// −1000000 to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1_000_000, max = 0))]
    pub min: Option<f64>,
    /// Largest allowed bend away from it: ridges \[°/cm\]. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max: Option<f64>,
}

/// Vertices that are held where they are when the pin begins, or carried along by a motion from there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pin {
    /// Which vertices: `corner:top-left` (grids), `index:3,17,40-60`, `box:x0,y0,z0,x1,y1,z1` (where they are
    /// at rest \[m\]), `boundary`, `group:NAME` (of the mesh file), `map:FILE` (a number for each vertex,
    /// above 0.5 selects) or `all`.
    pub select: String,
    /// Keyframes of their motion, relative to where they start; for a pin that begins later, what the motion
    /// changes from then on. At rest by default.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub motion: Vec<MotionKey>,
    /// Name of an obstacle with a `mesh` or a `sequence`: every vertex follows the face that is nearest at
    /// the start, at the distance that it has there, in place of a motion. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<String>,
    /// Point about which the motion turns them \[m\]. The mean of their start positions by default; each
    /// −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub pivot: Option<Vector>,
    /// When it begins to hold \[s\]: with the first frame that is not before, where the vertices are then. 0,
    /// the start, by default; 0 to 1000000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub from: f64,
    /// When it lets go \[s\]: with the first frame that is not before. Never by default; 0 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub until: Option<f64>,
}

/// Noise of several octaves that displaces the start along the normals and in the plane alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noise {
    /// Largest displacement of the lowest octave along each axis \[m\]; each further octave has half of it. 0
    /// to 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub amplitude: f64,
    /// Number of octaves. 4 by default; 1 to 16.
    #[serde(default = "octaves")]
    #[schemars(range(min = 1, max = 16))]
    pub octaves: u32,
    /// Spatial frequency of the lowest octave \[1/m\]; each further octave has twice that. 1 by default;
    /// 0.000001 to 1000000.
    #[serde(default = "frequency")]
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub frequency: f64,
    /// Its own seed. The scene's by default; 0 to 2⁶³ − 1.
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
    /// The engine's limits that are the same in all directions.
    pub fn build(self) -> taut::Limit {
        Limits { min: self.min, max: self.max }.build()
    }

    /// The engine's limits along warp, weft and bias. The rules see to it that either all or none are there.
    pub fn weave(self) -> Option<taut::Weave> {
        let direction = match self.direction? {
            WarpDirection::Texture(TextureAxis::U) => taut::Direction::U,
            WarpDirection::Texture(TextureAxis::V) => taut::Direction::V,
            WarpDirection::Vector(vector) => {
                taut::Direction::Along(glam::DVec3::from_array(vector).as_vec3())
            }
        };
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
