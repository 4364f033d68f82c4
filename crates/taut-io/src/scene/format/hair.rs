//! `[[hair]]`: strands of hair.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HairMaterial, HairTear, MeshSource, Pin, Transform, Vector};

/// Strands of hair: a groom from a file, or grown on a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hair {
    /// Unique name in files and messages: letters, digits, - and _, at most 64. `hair`, `hair-2`, … by
    /// default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Strands as they are styled, before `transform`: a file, or how they are grown.
    pub mesh: HairMesh,
    /// Placement of the groom; `scale` must be one number, and scales radii too. Its own by default; with
    /// `grow.on` it must be omitted, since the hair is where the obstacle is.
    #[serde(default)]
    pub transform: Transform,
    /// Segments that every strand is given, along smooth curves through its points. Those of the groom by
    /// default; 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_535))]
    pub segments: Option<u32>,
    /// Which strands are simulated. All of the groom by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guides: Option<Guides>,
    /// Material. `"european"` by default.
    #[serde(default)]
    pub material: HairMaterial,
    /// Simulation model. `"rod"` by default.
    #[serde(default)]
    pub model: HairModel,
    /// Shape in which strands have no stress. `"groom"` by default.
    #[serde(default)]
    pub rest: Rest,
    /// How roots are held: `"fixed"` where they are, `"free"`, or moved by an obstacle. The obstacle of
    /// `grow.on`, else `"fixed"`, by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Root>,
    /// Limits on the strain of segments. ±1 % by default.
    #[serde(default)]
    pub stretch: StretchRange,
    /// Largest bend past the rest shape \[°/cm\]. No limit by default; 0.001 to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 100_000))]
    pub bend: Option<f64>,
    /// Largest twist past the rest shape \[°/cm\]. No limit by default; 0.001 to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 100_000))]
    pub twist: Option<f64>,
    /// Contact of strands with each other.
    #[serde(default)]
    pub contact: HairContact,
    /// Fraction of the drag that the air has on a single strand; strands of a head shield each other. 0.1 by
    /// default; 0 to 1000.
    #[serde(default = "air_drag")]
    #[schemars(range(min = 0, max = 1000))]
    pub air_drag: f64,
    /// Initial velocity \[m/s\]. `[0, 0, 0]` by default; each −1000 to 1000.
    #[serde(default)]
    #[schemars(inner(range(min = -1000, max = 1000)))]
    pub velocity: Vector,
    /// Points that are held in addition to roots, fixed or moving; `corner:root` and `corner:tip` select the
    /// ends of all simulated strands. None by default.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub pin: Vec<Pin>,
    /// Where strands tear. Nowhere by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tear: Option<HairTear>,
}

fn air_drag() -> f64 {
    super::decimal(taut::Hair::AIR_DRAG)
}

/// Where strands come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HairMesh {
    /// A file (hair, ply, obj, gltf, glb, usd, usda, usdc, usdz), relative to the scene file: strands of a
    /// `.hair` file, edges of a PLY file, lines (`l`) of an OBJ file, lines of a glTF file, `BasisCurves` of
    /// a USD file.
    File(#[schemars(length(min = 1))] String),
    /// Strands grown on a surface.
    Grow(Box<Grow>),
}

/// Strands grown on a surface: evenly spread, with a length, a direction and a style. Exactly one of `on` and
/// `mesh`, and exactly one of `count` and `density`, is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GrowHair")]
pub(crate) struct Grow {
    /// Name of the obstacle that the hair grows on, where that is at the start: a mesh, a sequence, or any
    /// shape but a plane. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Surface that the hair grows on, without an obstacle: a generator or a file. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshSource>,
    /// Vertices of the surface that hair grows around, as in `pin.select`: `group:scalp`, `box:…`,
    /// `map:FILE`. All by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Density by vertex of the surface: `map:FILE`, one number per vertex, 0 for bald to 1 for the full
    /// density. 1 for all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// Number of strands. None by default; 1 to 5000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 5_000_000))]
    pub count: Option<u32>,
    /// Strands per area \[1/m²\]; a head has about 2000000. None by default; 0.001 to 10000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 10_000_000_000_u64))]
    pub density: Option<f64>,
    /// Length of strands, measured along them \[m\]. 0.0001 to 1000.
    #[schemars(range(min = 0.000_1, max = 1000))]
    pub length: f64,
    /// Fraction by which a strand is shorter at most; each is shorter by a random part of it. 0 by default; 0
    /// to 0.99.
    #[serde(default)]
    #[schemars(range(min = 0, max = 0.99))]
    pub length_variation: f64,
    /// Segments of each strand; curls need at least 6 a turn. 16 by default; 1 to 65535.
    #[serde(default = "segments")]
    #[schemars(range(min = 1, max = 65_535))]
    pub segments: u32,
    /// Radius at the root \[m\]. That of the material by default; 0.000000001 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_000_001, max = 1))]
    pub radius: Option<f64>,
    /// Fraction by which the radius at the tip is smaller. 0 by default; 0 to 0.99.
    #[serde(default)]
    #[schemars(range(min = 0, max = 0.99))]
    pub taper: f64,
    /// Where strands are combed to: added to the outward unit normal, which gives their direction at the
    /// root. `[0, 0, 0]`, along the normal, by default; each −100 to 100.
    #[serde(default)]
    #[schemars(inner(range(min = -100, max = 100)))]
    pub comb: Vector,
    /// How far strands bend down towards their tips: added to their direction there, along gravity. 0,
    /// straight, by default; 0 to 100.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub droop: f64,
    /// Curls. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curl: Option<Curl>,
    /// Clumps: strands that come together towards their tips. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clump: Option<Clump>,
    /// Largest random displacement of tips \[m\]; less towards the root. 0 by default; 0 to 1000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1000))]
    pub noise: f64,
    /// Seed of random choices. `scene.seed` by default; 0 to 2⁶³ − 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: Option<u64>,
}

fn segments() -> u32 {
    16
}

/// Curls: helices around what strands would be without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Curl {
    /// Radius \[m\]. 0.00001 to 1.
    #[schemars(range(min = 0.000_01, max = 1))]
    pub radius: f64,
    /// Length of a turn along the helix's axis \[m\]. 0.0001 to 10.
    #[schemars(range(min = 0.000_1, max = 10))]
    pub pitch: f64,
}

/// Clumps: strands that come together towards their tips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clump {
    /// Number of clumps. 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// How close tips come: 0 not at all, 1 to one point. 0.8 by default; 0 to 1.
    #[serde(default = "strength")]
    #[schemars(range(min = 0, max = 1))]
    pub strength: f64,
}

fn strength() -> f64 {
    0.8
}

/// Which strands are simulated; the others follow those beside them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Guides {
    /// So many strands of the groom, evenly spread; the others follow. 1 to 5000000.
    Count(#[schemars(range(min = 1, max = 5_000_000))] u32),
    /// This fraction of the strands, evenly spread; the others follow. 0.00001 to 1.
    Fraction(#[schemars(range(min = 0.000_01, max = 1))] f64),
    /// All strands of the groom are guides; so many strands grow between them and follow, on the obstacle of
    /// `root` or the surface of `grow`. 1 to 5000000.
    Interpolate(#[schemars(range(min = 1, max = 5_000_000))] u32),
}

/// Simulation model of hair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HairModel {
    /// Elastic rods that bend and twist, whose limits hold.
    #[default]
    Rod,
    /// Springs of edges, bending, torsion and altitude, as in the lecture, by explicit steps: for reference.
    Springs,
}

/// Shape in which strands have no stress.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Rest {
    /// One of the words.
    Word(RestWord),
    /// The shape that gravity bends into the groom, with its settings.
    SagFree(RestTable),
}

/// Shape in which strands have no stress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RestWord {
    /// That of the groom: strands sag as soon as gravity acts.
    #[default]
    Groom,
    /// Straight.
    Straight,
    /// The one that gravity bends into the groom: strands hang as they were styled from the first frame on.
    SagFree,
}

/// The shape that gravity bends into the groom.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "SagFreeRest")]
pub(crate) struct RestTable {
    /// Its settings.
    pub sag_free: SagFree,
}

/// Strands that hang as they were styled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SagFree {
    /// Largest factor by which strands that would not hold their style are stiffer. 1, the stiffness of the
    /// material, by default; 1 to 1000.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    pub stiffen: f64,
}

fn one() -> f64 {
    1.0
}

impl Default for Rest {
    fn default() -> Self {
        Self::Word(RestWord::Groom)
    }
}

/// How roots are held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Root {
    /// One of the words.
    Word(RootWord),
    /// By an obstacle.
    Table(RootTable),
}

/// How roots are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RootWord {
    /// They stay where they are, with their direction.
    Fixed,
    /// Strands are free.
    Free,
}

/// Roots that an obstacle moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RootOn")]
pub(crate) struct RootTable {
    /// Name of the obstacle: roots follow its shape, or the faces of its mesh that are nearest at the start.
    pub obstacle: String,
}

/// Limits on the strain of segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "HairStretch")]
pub(crate) struct StretchRange {
    /// Smallest strain. −0.01 by default; −0.9 to 0.
    #[schemars(range(min = -0.9, max = 0))]
    pub min: f64,
    /// Largest strain. 0.01 by default; 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    pub max: f64,
}

impl Default for StretchRange {
    fn default() -> Self {
        let limit = super::decimal(taut::Hair::STRETCH);
        Self { min: -limit, max: limit }
    }
}

/// Contact of strands with each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HairContact {
    /// Distance that segments of different strands keep \[m\]. 0, strands pass through each other, by
    /// default; 0 to 0.1.
    #[schemars(range(min = 0, max = 0.1))]
    pub thickness: f64,
    /// Coulomb friction coefficient of hair on hair. 0.3 by default; 0 to 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub friction: f64,
    /// Force over their length that holds strands together which touch \[N/m\]: wet hair. 0 by default; 0 to
    /// 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub cohesion: f64,
}

impl Default for HairContact {
    fn default() -> Self {
        let taut::HairContact { thickness, friction, cohesion } = taut::HairContact::default();
        let [thickness, friction, cohesion] = super::decimals([thickness, friction, cohesion]);
        Self { thickness, friction, cohesion }
    }
}

impl HairContact {
    /// The engine's.
    pub fn build(self) -> taut::HairContact {
        taut::HairContact {
            thickness: self.thickness as f32,
            friction: self.friction as f32,
            cohesion: self.cohesion as f32,
        }
    }
}

impl HairModel {
    /// The engine's.
    pub fn build(self) -> taut::HairModel {
        match self {
            Self::Rod => taut::HairModel::Rod,
            Self::Springs => taut::HairModel::Springs,
        }
    }
}

impl Rest {
    /// The engine's.
    pub fn build(self) -> taut::HairRest {
        match self {
            Self::Word(RestWord::Groom) => taut::HairRest::Groom,
            Self::Word(RestWord::Straight) => taut::HairRest::Straight,
            Self::Word(RestWord::SagFree) => taut::HairRest::SagFree { stiffen: 1.0 },
            Self::SagFree(table) => taut::HairRest::SagFree { stiffen: table.sag_free.stiffen as f32 },
        }
    }
}

impl Hair {
    /// The obstacle that moves its roots, if one does.
    pub fn obstacle(&self) -> Option<&str> {
        match (&self.root, &self.mesh) {
            (Some(Root::Table(table)), _) => Some(&table.obstacle),
            (Some(Root::Word(_)), _) => None,
            (None, HairMesh::Grow(grow)) => grow.on.as_deref(),
            (None, HairMesh::File(_)) => None,
        }
    }

    /// The files that it reads, without those of selections.
    pub fn file(&self) -> Option<&String> {
        match &self.mesh {
            HairMesh::File(file) => Some(file),
            HairMesh::Grow(grow) => grow.mesh.as_ref().and_then(MeshSource::file),
        }
    }

    /// The same, mutable.
    pub fn file_mut(&mut self) -> Option<&mut String> {
        match &mut self.mesh {
            HairMesh::File(file) => Some(file),
            HairMesh::Grow(grow) => grow.mesh.as_mut().and_then(MeshSource::file_mut),
        }
    }

    /// Texts that may name a map.
    pub fn maps(&self) -> Vec<&String> {
        let pins = self.pin.iter().flat_map(|pin| [Some(&pin.select), pin.weight.as_ref()]);
        let grow = match &self.mesh {
            HairMesh::Grow(grow) => [grow.select.as_ref(), grow.weight.as_ref()],
            HairMesh::File(_) => [None, None],
        };
        let tear = self.tear.iter().flat_map(HairTear::texts);
        pins.chain(grow).flatten().chain(tear).collect()
    }

    /// The same, mutable.
    pub fn maps_mut(&mut self) -> Vec<&mut String> {
        let pins = self.pin.iter_mut().flat_map(|pin| [Some(&mut pin.select), pin.weight.as_mut()]);
        let grow = match &mut self.mesh {
            HairMesh::Grow(grow) => [grow.select.as_mut(), grow.weight.as_mut()],
            HairMesh::File(_) => [None, None],
        };
        let tear = self.tear.iter_mut().flat_map(HairTear::texts_mut);
        pins.chain(grow).flatten().chain(tear).collect()
    }
}
