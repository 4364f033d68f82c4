//! `pin`: vertices of a cloth or a solid that are held.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MotionKey, Vector};

/// Vertices fixed at their positions when the pin begins, or moved from there; exactly, or by springs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pin {
    /// Selected vertices: `corner:top-left` (grids), `index:3,17,40-60`, `box:x0,y0,z0,x1,y1,z1` (rest
    /// positions \[m\]), `boundary`, `group:NAME` (of the mesh file), `map:FILE` (one number per vertex,
    /// above 0.5 selects) or `all`.
    pub select: String,
    /// Keyframes of their motion, relative to their initial positions; for a pin that begins later, relative
    /// to the motion at that time. At rest by default.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub motion: Vec<MotionKey>,
    /// Name of an obstacle with a `mesh` or a `sequence`: the vertices follow its faces that are nearest
    /// initially, at their initial distance, instead of a motion. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<String>,
    /// How the vertices follow the obstacle of `attach`. `"rigid"` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<AttachedShape>,
    /// Stiffness of a spring between each vertex and its target \[N/m\], to which limits take precedence.
    /// Held exactly at the target by default; 0 to 1000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub stiffness: Option<f64>,
    /// Factor on the stiffness by vertex: `map:FILE`, one number per vertex of the mesh, 0 to 1000000. With
    /// `attach` also the weight of each vertex in the rigid shape. 1 for all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// Time after `from` over which the stiffness grows smoothly from 0 \[s\]. 0 by default; 0 to 1000000.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub fade_in: f64,
    /// Time before `until` over which the stiffness falls smoothly to 0 \[s\]. 0 by default; 0 to 1000000.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub fade_out: f64,
    /// Pivot of the rotation \[m\]. The mean of their initial positions by default; each −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub pivot: Option<Vector>,
    /// Time at which the pin begins \[s\]: the first frame at or after it, at the vertices' positions then,
    /// or, with `attach` and `stiffness`, where they would be had they been attached from the start. 0, the
    /// start, by default; 0 to 1000000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub from: f64,
    /// Time at which the pin ends \[s\]: the first frame at or after it. Never by default; 0 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub until: Option<f64>,
}

/// How the vertices of a pin follow an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AttachedShape {
    /// They keep their initial shape, translated and rotated to the points of their faces by least squares:
    /// limits hold also where the faces shear.
    Rigid,
    /// Each follows its own face.
    Skin,
}

impl AttachedShape {
    /// The engine's.
    pub fn build(self) -> taut::AttachedShape {
        match self {
            Self::Rigid => taut::AttachedShape::Rigid,
            Self::Skin => taut::AttachedShape::Skin,
        }
    }
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}
