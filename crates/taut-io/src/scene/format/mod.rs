//! The types of a scene file: the single source of the schema, the checks and the written-out scene.
//!
//! Every key is documented with unit, default and range, because the JSON Schema and the reference are
//! generated from here. Numbers are f64, so that a scene keeps the digits its author wrote; they are
//! converted to f32 when the engine's description is built. Every number has a range: a value that passes the
//! schema is also finite in f32.

mod air;
mod cloth;
mod contact;
mod expect;
mod hair;
mod hair_material;
mod light;
mod material;
mod mesh;
mod obstacle;
mod particles;
mod pbd;
mod pin;
mod pressure;
mod seam;
mod solid;
mod solid_material;
mod solver;
mod spring;
mod tear;
mod transform;

pub(crate) use air::{Air, Wind};
pub(crate) use cloth::{Cloth, Limits};
pub(crate) use contact::Contact;
pub(crate) use expect::Expect;
pub(crate) use hair::{Grow, Guides, Hair, HairMesh, Root, RootWord};
pub(crate) use hair_material::HairMaterial;
pub(crate) use light::Light;
pub(crate) use material::Material;
pub(crate) use mesh::{BuiltInPattern, Even, FromFile, MeshSource, PatternMesh, PatternSource};
pub(crate) use obstacle::{Obstacle, ObstacleMesh, Sequence, Shape};
pub(crate) use particles::{ParticleMesh, Particles};
pub(crate) use pbd::Pbd;
pub(crate) use pin::Pin;
pub(crate) use seam::Seam;
pub(crate) use solid::{Solid, SolidLevels, SolidMesh, Volume};
pub(crate) use solid_material::SolidMaterial;
pub(crate) use solver::{Scheme, Solver};
pub(crate) use spring::{Spring, SpringEnd};
pub(crate) use tear::{Cut, HairTear, Tear};
pub(crate) use transform::{MotionKey, Transform, Vector};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A taut scene: cloth and soft bodies with limits, pins and obstacles.
///
/// Units are SI (metres, kilograms, seconds), angles are in degrees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "taut scene")]
pub(crate) struct Scene {
    /// Length of the simulation, gravity, seed.
    #[serde(default)]
    pub scene: Settings,
    /// The air around the cloth: drag and wind.
    #[serde(default)]
    pub air: Air,
    /// How limits are enforced, and to which tolerance.
    #[serde(default)]
    pub solver: Solver,
    /// Contact of cloth with itself, other cloth and mesh obstacles.
    #[serde(default)]
    pub contact: Contact,
    /// Cloths, one `[[cloth]]` each; at least one cloth, solid, particles or hair is required. None by
    /// default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub cloth: Vec<Cloth>,
    /// Soft bodies, one `[[solid]]` each. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub solid: Vec<Solid>,
    /// Point masses, one `[[particles]]` each. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub particles: Vec<Particles>,
    /// Strands of hair, one `[[hair]]` each. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub hair: Vec<Hair>,
    /// Springs between vertices, one `[[spring]]` each. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10_000))]
    pub spring: Vec<Spring>,
    /// Seams of cloth, one `[[seam]]` each. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub seam: Vec<Seam>,
    /// Obstacles and rigid bodies, one `[[obstacle]]` each. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub obstacle: Vec<Obstacle>,
    /// Lamps, one `[[light]]` each. None by default: the viewer uses its own light.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub light: Vec<Light>,
    /// Expectations checked after a run; `taut run` exits with 1 if one is not met. None by default.
    #[serde(default)]
    pub expect: Expect,
}

/// Length of the simulation, gravity, seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Description of the scene, in one sentence. Empty by default.
    pub description: String,
    /// Number of frames to simulate after frame 0, the initial state. 90 by default; 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub frames: u32,
    /// Frames per second \[1/s\]. 30 by default; 1 to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub frame_rate: f64,
    /// Gravity \[m/s²\]. `[0, -9.81, 0]` by default; each −10000 to 10000.
    #[schemars(inner(range(min = -10_000, max = 10_000)))]
    pub gravity: Vector,
    /// Duration of the sewing phase at the start \[s\], in which open seams are drawn together: without
    /// gravity and friction on meshes, with strongly damped motion, and for three quarters of it without
    /// contact of cloth with cloth. 0 by default; 0 to 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub sewing: f64,
    /// Seed of all random choices: order of colours, gusts, noise, imperfection, irregular meshes. 0 by
    /// default; 0 to 2⁶³ − 1.
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        let description = taut::Description::default();
        Self {
            description: String::new(),
            frames: 90,
            frame_rate: 30.0,
            gravity: decimals(description.gravity.to_array()),
            sewing: 0.0,
            seed: description.seed,
        }
    }
}

/// The shortest decimal for `number`: 0.01 for the f32 nearest to it, not 0.009999999776….
pub(crate) fn decimal(number: f32) -> f64 {
    format!("{number}").parse().unwrap_or(f64::from(number))
}

/// [`decimal`] of each.
pub(crate) fn decimals<const N: usize>(numbers: [f32; N]) -> [f64; N] {
    numbers.map(decimal)
}
