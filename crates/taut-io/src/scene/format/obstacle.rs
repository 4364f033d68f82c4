//! `[[obstacle]]`: a solid body that cloth may not enter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MotionKey, Transform, Vector};

/// A solid body that cloth may not enter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Obstacle {
    /// Its name in messages: letters, digits, - and _, at most 64; no two alike. `obstacle`, `obstacle-2`, … by default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Its shape and place.
    pub shape: Shape,
    /// Where it starts, after the place that `shape` gives it; `scale` must be one number. As `shape` says by default.
    #[serde(default)]
    pub transform: Transform,
    /// Coulomb friction coefficient. 0.3 by default; 0 to 1000.
    #[serde(default = "friction")]
    #[schemars(range(min = 0, max = 1000))]
    pub friction: f64,
    /// Share of the approaching speed that is given back. 0 by default; 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub restitution: f64,
    /// Distance from the surface at which vertices are held \[m\], so that triangles between them stay outside of round
    /// shapes. 0.001 by default; 0 to 1.
    #[serde(default = "margin")]
    #[schemars(range(min = 0, max = 1))]
    pub margin: f64,
    /// Keyframes of its motion, relative to where it starts. At rest by default.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub motion: Vec<MotionKey>,
    /// Point about which the motion turns it \[m\]. The middle of its shape, where it starts, by default (a plane's
    /// `point`); each −1000000 to 1000000.
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
    /// Direction that points out of the solid side; of any length but zero. `[0, 1, 0]` by default; each −1000000 to
    /// 1000000.
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
