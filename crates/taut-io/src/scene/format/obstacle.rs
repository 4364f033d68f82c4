//! `[[obstacle]]`: a solid body that cloth may not enter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Even, MeshSource, MotionKey, Transform, Vector};

/// A solid body that cloth may not enter, given by its `shape`, or a surface of triangles that cloth may not
/// pass through from either side, given by a `mesh` or a `sequence` of meshes; one of these three must be
/// there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Obstacle {
    /// Its name in messages: letters, digits, - and _, at most 64; no two alike. `obstacle`, `obstacle-2`, …
    /// by default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Its shape and place. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Its triangles: open or closed, thin, with edges of any number of faces. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<ObstacleMesh>,
    /// Triangles that move from frame to frame, such as an animated character; straight on between frames.
    /// None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Sequence>,
    /// Where it starts, after the place that `shape`, `mesh` or `sequence` gives it; with `shape`, `scale`
    /// must be one number. As these say by default.
    #[serde(default)]
    pub transform: Transform,
    /// Coulomb friction coefficient. 0.3 by default; 0 to 1000.
    #[serde(default = "friction")]
    #[schemars(range(min = 0, max = 1000))]
    pub friction: f64,
    /// Share of the approaching speed that is given back; 0 with `mesh` and `sequence`, which do not bounce.
    /// 0 by default; 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: f64,
    /// Distance from the surface at which vertices are held \[m\], so that triangles between them stay
    /// outside of round shapes; from a mesh all parts of cloth keep it, beside half their thickness. 0.001 by
    /// default; 0 to 1.
    #[serde(default = "margin")]
    #[schemars(range(min = 0, max = 1))]
    pub margin: f64,
    /// Its mass \[kg\], which fills its shape evenly: it then falls, pushes cloth and is pushed by it, and
    /// has no `motion`. For a `shape` that is a sphere, box, capsule or cylinder, with the scheme `nearest`.
    /// `restitution` is then what it gives back when it hits other obstacles. None by default: cloth does not
    /// move it; 0.000001 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub mass: Option<f64>,
    /// Velocity at the start \[m/s\], with `mass`. At rest by default; each −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub velocity: Option<Vector>,
    /// Angular velocity at the start, about its middle \[degrees/s\], with `mass`. At rest by default; each
    /// −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub angular_velocity: Option<Vector>,
    /// Keyframes of its motion, relative to where it starts. At rest by default.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub motion: Vec<MotionKey>,
    /// Point about which the motion turns it \[m\]. The middle of its shape, where it starts, by default (a
    /// plane's `point`, the middle of the box about a mesh); each −1000000 to 1000000.
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

/// The triangles of an obstacle: a file, or as those of cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ObstacleMesh {
    /// A file (obj, ply, stl, gltf, glb), relative to the scene file.
    File(#[schemars(length(min = 1))] String),
    /// A generator, or a file.
    Source(MeshSource),
}

/// A sequence of meshes with the same faces: numbered files, one file with all frames, or the figure that
/// comes with taut. Before the first frame it is as in the first, after the last as in the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sequence {
    /// Numbered files (obj, ply, stl, gltf, glb), relative to the scene file, with `#` where the number is,
    /// as many as it has digits at least: `walk.####.obj`. Numbers left out are bridged. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub files: Option<String>,
    /// The first number of `files`. The lowest that there is by default; 0 to 1000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub first: Option<u32>,
    /// The last number of `files`. The highest that there is by default; 0 to 1000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub last: Option<u32>,
    /// One file with all frames, relative to the scene file: a point cache (pc2, mdd) with `mesh`, or a model
    /// with an animation (gltf, glb), of which the first is played: nodes, skins and morph targets. None by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub file: Option<String>,
    /// The mesh (obj, ply, stl, gltf, glb) whose vertices a point cache moves, in the same order. None by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub mesh: Option<String>,
    /// The figure that comes with taut. It stands still for half a second, then it walks on the spot, turns
    /// from side to side, and raises and lowers its arms. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Even>,
    /// Frames a second \[1/s\], at which an animation is sampled; an mdd file has its own times. 30 by
    /// default; 0.001 to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 100_000))]
    pub rate: Option<f64>,
    /// When the first frame is \[s\]. 0 by default; −1000000 to 1000000.
    #[serde(default)]
    #[schemars(range(min = -1_000_000, max = 1_000_000))]
    pub start: f64,
}

impl Sequence {
    /// Frames a second.
    pub fn rate(&self) -> f64 {
        self.rate.unwrap_or(30.0)
    }
}

impl ObstacleMesh {
    /// The file it is read from, if it is.
    pub fn file(&self) -> Option<&String> {
        match self {
            Self::File(file) | Self::Source(MeshSource::File(file)) => Some(file),
            Self::Source(_) => None,
        }
    }

    /// The same, to be changed.
    pub fn file_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::File(file) | Self::Source(MeshSource::File(file)) => Some(file),
            Self::Source(_) => None,
        }
    }
}

/// A solid shape and where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// Everything below a plane.
    Plane(Plane),
    /// A ball.
    Sphere(Sphere),
    /// A box along the axes.
    Box(Cuboid),
    /// A cylinder with half balls at its ends.
    Capsule(Rod),
    /// A cylinder with flat ends.
    Cylinder(Rod),
    /// A ring.
    Torus(Ring),
}

/// Everything below a plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PlaneShape")]
pub(crate) struct Plane {
    /// Direction that points out of the solid side; of any length but zero. `[0, 1, 0]` by default; each
    /// −1000000 to 1000000.
    #[serde(default = "up")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub normal: Vector,
    /// A point of the plane \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub point: Vector,
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SphereShape")]
pub(crate) struct Sphere {
    /// Its middle \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub center: Vector,
    /// Radius \[m\]. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub radius: f64,
}

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BoxShape")]
pub(crate) struct Cuboid {
    /// Its middle \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
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
    /// The other end of its axis \[m\], elsewhere than `from`; each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub to: Vector,
    /// Radius \[m\]. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub radius: f64,
}

/// A ring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TorusShape")]
pub(crate) struct Ring {
    /// Its middle \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub center: Vector,
    /// Direction through its hole; of any length but zero. `[0, 1, 0]` by default; each −1000000 to 1000000.
    #[serde(default = "up")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub axis: Vector,
    /// Distance from the centre to the middle of the tube \[m\]. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub major: f64,
    /// Radius of the tube \[m\]; less than `major`. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub minor: f64,
}
