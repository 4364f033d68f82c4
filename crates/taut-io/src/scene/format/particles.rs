//! `[[particles]]`: point masses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Limits, Pbd, Pin, Transform, Vector};

/// Point masses, some of them joined by segments: chains, ropes, nets, or single particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Particles {
    /// Unique name in files and messages: letters, digits, - and _, at most 64. `particles`, `particles-2`, …
    /// by default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Rest shape, before `transform.scale`.
    pub mesh: ParticleMesh,
    /// Initial placement. The mesh's own by default.
    #[serde(default)]
    pub transform: Transform,
    /// Mass of each particle \[kg\]. 0.01 by default, unless `mass_per_length` is given; 0.000000001 to
    /// 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_000_001, max = 1_000_000))]
    pub mass: Option<f64>,
    /// Mass of segments \[kg/m\], half of it at each end, instead of `mass`. None by default; 0.000000001 to
    /// 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_000_001, max = 1_000_000))]
    pub mass_per_length: Option<f64>,
    /// Radius with which segments are drawn \[m\]. Contact keeps the `margin` of each obstacle. 0.005 by
    /// default; 0 to 1000.
    #[serde(default = "radius")]
    #[schemars(range(min = 0, max = 1000))]
    pub radius: f64,
    /// Simulation model. `"fem"` by default.
    #[serde(default, skip_serializing_if = "ParticlesModel::is_fem")]
    pub model: ParticlesModel,
    /// Settings of the model `"pbd"`. Its defaults by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pbd: Option<Pbd>,
    /// Segments as springs. With the model `"fem"` segments do not pull by default, with `"pbd"` they keep
    /// their lengths by `pbd.stretch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<SegmentSpring>,
    /// Limits on the strain of segments. None by default.
    #[serde(default)]
    pub edge: Limits,
    /// Rate at which motion dies away \[1/s\]. 0 by default; 0 to 1000000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub damping: f64,
    /// Initial velocity \[m/s\]. `[0, 0, 0]` by default; each −1000 to 1000.
    #[serde(default)]
    #[schemars(inner(range(min = -1000, max = 1000)))]
    pub velocity: Vector,
    /// Pinned particles, fixed or moving. None by default.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub pin: Vec<Pin>,
}

fn radius() -> f64 {
    0.005
}

/// Simulation model of point masses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ParticlesModel {
    /// Springs and limits of segments are solved by `solver.scheme`, with the other bodies.
    #[default]
    Fem,
    /// Position-based dynamics: constraints on the lengths of segments, with a stiffness from 0 to 1 or a
    /// compliance (`pbd`), as for cloth; or springs, if `spring` is given.
    Pbd,
}

impl ParticlesModel {
    fn is_fem(&self) -> bool {
        *self == Self::Fem
    }
}

impl Particles {
    /// The engine's model.
    pub fn engine_model(&self) -> taut::Model {
        match self.model {
            ParticlesModel::Fem => taut::Model::Fem,
            ParticlesModel::Pbd => taut::Model::Pbd(self.pbd.unwrap_or_default().build()),
        }
    }
}

/// The rest shape of point masses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ParticleMesh {
    /// A straight row of segments; `corner:start` and `corner:end` select its ends.
    Chain(Chain),
    /// A flat net of rectangular meshes in the x–y plane, centred at the origin; `corner:top-left` and so on
    /// select its corners, `boundary` its border.
    Net(Net),
    /// Single particles without segments \[m\]. Each −1000000 to 1000000.
    Points(
        #[schemars(length(min = 1, max = 1_000_000), inner(inner(range(min = -1_000_000, max = 1_000_000))))]
        Vec<Vector>,
    ),
    /// An OBJ file, relative to the scene file: its vertices (`v`), and its lines (`l`) as segments.
    File(#[schemars(length(min = 1))] String),
}

/// A straight row of segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ChainMesh")]
pub(crate) struct Chain {
    /// First particle \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub from: Vector,
    /// Last particle \[m\]. Each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub to: Vector,
    /// Number of segments. 1 to 100000.
    #[schemars(range(min = 1, max = 100_000))]
    pub segments: u32,
}

/// A flat net.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NetMesh")]
pub(crate) struct Net {
    /// Lengths along x and y \[m\]. Each 0.0001 to 100000.
    #[schemars(inner(range(min = 0.000_1, max = 100_000)))]
    pub size: [f64; 2],
    /// Number of meshes along x and y. Each 1 to 1000.
    #[schemars(inner(range(min = 1, max = 1000)))]
    pub cells: [u32; 2],
}

/// Segments as springs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SegmentSpring {
    /// Stiffness of each segment \[N/m\]. 0 to 1000000000.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub stiffness: f64,
    /// Damping along each segment \[N s/m\]. 0 by default; 0 to 1000000000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub damping: f64,
    /// Length without tension, over the length in the rest shape. 1 by default; 0 to 1000.
    #[serde(default = "rest")]
    #[schemars(range(min = 0, max = 1000))]
    pub rest: f64,
    /// Force at the end of a step, pull or push, beyond which a segment breaks \[N\]. None by default;
    /// 0.000000001 to 1000000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_000_001, max = 1_000_000_000_000_u64))]
    pub breaking_force: Option<f64>,
}

fn rest() -> f64 {
    1.0
}
