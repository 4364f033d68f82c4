//! `[[obstacle]]`: a shape or mesh that cloth may not penetrate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Even, MeshSource, MotionKey, Transform, Vector};

/// An obstacle: an analytic `shape` that cloth may not penetrate, or a triangle surface that cloth may not
/// cross from either side, given by a `mesh` or a `sequence` of meshes. Exactly one of the three is required.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Obstacle {
    /// Unique name in messages: letters, digits, - and _, at most 64. `obstacle`, `obstacle-2`, … by default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Shape and position. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Triangle mesh: open or closed; edges may have any number of faces. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<ObstacleMesh>,
    /// Animated triangle mesh, such as a character; linear between frames. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Sequence>,
    /// Growth of a closed `mesh` from a thin shape to its own, inside garments that are sewn around it. None
    /// by default: it has its own shape throughout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grow: Option<Growth>,
    /// Initial placement, applied to `shape`, `mesh` or `sequence`; with `shape`, `scale` must be one number.
    /// Identity by default.
    #[serde(default)]
    pub transform: Transform,
    /// Coulomb friction coefficient. 0.3 by default; 0 to 1000.
    #[serde(default = "friction")]
    #[schemars(range(min = 0, max = 1000))]
    pub friction: f64,
    /// Coefficient of restitution; 0 with `mesh` and `sequence`, which do not bounce. 0 by default; 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: f64,
    /// Distance that vertices keep from the surface \[m\], so that triangles between them stay outside round
    /// shapes; with a mesh, all parts of cloth keep it in addition to half their thickness. 0.001 by default;
    /// 0 to 1.
    #[serde(default = "margin")]
    #[schemars(range(min = 0, max = 1))]
    pub margin: f64,
    /// Mass \[kg\], uniform over its shape. It makes the obstacle a rigid body, which falls, pushes cloth and
    /// is pushed by it, collides with all other obstacles, and has no `motion`. Requires a sphere, box,
    /// capsule or cylinder as `shape`. `restitution` then applies to collisions with other obstacles. None by
    /// default: cloth does not move it; 0.000001 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub mass: Option<f64>,
    /// Initial velocity \[m/s\], with `mass`. At rest by default; each −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub velocity: Option<Vector>,
    /// Initial angular velocity about its centre \[degrees/s\], with `mass`. At rest by default; each
    /// −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub angular_velocity: Option<Vector>,
    /// Keyframes of its motion, relative to its initial placement. At rest by default.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub motion: Vec<MotionKey>,
    /// Pivot of the rotation \[m\]. The initial centre of its shape by default (a plane's `point`, the centre
    /// of a mesh's bounding box); each −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub pivot: Option<Vector>,
}

fn friction() -> f64 {
    0.3
}

fn margin() -> f64 {
    0.001
}

fn up() -> Vector {
    [0.0, 1.0, 0.0]
}

/// The triangles of an obstacle: a file, or a mesh source as for cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ObstacleMesh {
    /// A file (obj, ply, stl, gltf, glb, usd, usda, usdc, usdz), relative to the scene file.
    File(#[schemars(length(min = 1))] String),
    /// A generator, or a file.
    Source(MeshSource),
}

/// Growth of a body that garments are sewn around: every part of it starts thin, so that seams close without
/// meeting shoulders and arms, and grows to its own shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Growth {
    /// Fraction of the radius of every part by which it is thinner at first. 0.6 by default; 0 to 0.9.
    #[serde(default = "thinner")]
    #[schemars(range(min = 0, max = 0.9))]
    pub thinner: f64,
    /// Time at which it begins to grow \[s\]. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub start: f64,
    /// Time at which it has its own shape \[s\]; later than `start`. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub end: f64,
}

fn thinner() -> f64 {
    0.6
}

/// A sequence of meshes with the same faces: numbered files, one file with all frames, or the built-in
/// figure. It is constant before the first frame and after the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sequence {
    /// Numbered files (obj, ply, stl, gltf, glb, usd, usda, usdc, usdz), relative to the scene file, with one
    /// `#` for each digit of the number, at least: `walk.####.obj`. Missing numbers are interpolated. None by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub files: Option<String>,
    /// First number of `files`. The lowest existing one by default; 0 to 1000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub first: Option<u32>,
    /// Last number of `files`. The highest existing one by default; 0 to 1000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub last: Option<u32>,
    /// One file with all frames, relative to the scene file: a point cache (pc2, mdd) with `mesh`, or an
    /// animated model: glTF (gltf, glb), whose first animation is played, with nodes, skins and morph
    /// targets, or USD (usd, usda, usdc, usdz), whose time samples of points and transforms are played. None
    /// by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub file: Option<String>,
    /// Mesh (obj, ply, stl, gltf, glb, usd, usda, usdc, usdz) whose vertices a point cache moves, in the same
    /// order. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub mesh: Option<String>,
    /// The built-in figure. It stands still for half a second, then walks on the spot, turns from side to
    /// side, and raises and lowers its arms. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Even>,
    /// Frames per second \[1/s\] at which an animation is sampled; an mdd file has its own times. 30 by
    /// default, of a USD file its own time codes per second, doubled until there are 24; 0.001 to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 100_000))]
    pub rate: Option<f64>,
    /// Time of the first frame \[s\]. 0 by default; −1000000 to 1000000.
    #[serde(default)]
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    pub start: f64,
}

impl Sequence {
    /// Frames per second.
    pub fn rate(&self) -> f64 {
        self.rate.unwrap_or(30.0)
    }
}

impl ObstacleMesh {
    /// The file it is read from, if any.
    pub fn file(&self) -> Option<&String> {
        match self {
            Self::File(file) => Some(file),
            Self::Source(source) => source.file(),
        }
    }

    /// The same, mutable.
    pub fn file_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::File(file) => Some(file),
            Self::Source(source) => source.file_mut(),
        }
    }
}

/// An analytic shape and its position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// The half-space below a plane.
    Plane(Plane),
    /// A sphere.
    Sphere(Sphere),
    /// An axis-aligned box.
    Box(Cuboid),
    /// A cylinder with hemispherical ends.
    Capsule(Rod),
    /// A cylinder with flat ends.
    Cylinder(Rod),
    /// A torus.
    Torus(Ring),
}

/// The half-space below a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PlaneShape")]
pub(crate) struct Plane {
    /// Outward normal, of any non-zero length. `[0, 1, 0]` by default; each −1000000 to 1000000.
    #[serde(default = "up")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub normal: Vector,
    /// A point on the plane \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub point: Vector,
}

/// A sphere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SphereShape")]
pub(crate) struct Sphere {
    /// Centre \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub center: Vector,
    /// Radius \[m\]. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub radius: f64,
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BoxShape")]
pub(crate) struct Cuboid {
    /// Centre \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub center: Vector,
    /// Edge lengths \[m\]. Each 0.000001 to 1000000.
    #[schemars(inner(range(min = 0.000_001, max = 1_000_000)))]
    pub size: Vector,
}

/// A rod between two points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RodShape")]
pub(crate) struct Rod {
    /// One end of its axis \[m\]; each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub from: Vector,
    /// The other end of its axis \[m\], different from `from`; each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub to: Vector,
    /// Radius \[m\]. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub radius: f64,
}

/// A torus.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TorusShape")]
pub(crate) struct Ring {
    /// Centre \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub center: Vector,
    /// Axis of symmetry, of any non-zero length. `[0, 1, 0]` by default; each −1000000 to 1000000.
    #[serde(default = "up")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub axis: Vector,
    /// Distance from the centre to the centre of the tube \[m\]. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub major: f64,
    /// Radius of the tube \[m\]; less than `major`. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub minor: f64,
}
