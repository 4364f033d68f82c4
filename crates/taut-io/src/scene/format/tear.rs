//! `tear` of `[[cloth]]` and `[[hair]]`: where they tear.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Vector;

/// Where a cloth tears. In every frame, what would be stretched past its threshold is split, and the frame is
/// computed again, so that no frame shows more. Cloth with an upper limit on strain tears at the latest where
/// that limit cannot be met. Pinned and sewn vertices are not split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tear {
    /// Strain beyond which cloth tears: 0.2 is 20 %. 0.000001 to 1000.
    #[schemars(range(min = 0.000_001, max = 1000))]
    pub stretch: f64,
    /// Which strain counts. `"triangles"` by default.
    #[serde(default, skip_serializing_if = "TearMeasure::is_triangles")]
    pub by: TearMeasure,
    /// A map with one factor on `stretch` per vertex, `"map:FILE"`; the least of its corners counts for a
    /// triangle. None by default; each 0.000001 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Weaker or stronger places, such as a seam line or a row of holes. None by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10_000))]
    pub weak: Vec<Weak>,
    /// Random field: the threshold of each vertex varies by up to this fraction up and down, seeded by
    /// `scene.seed`. 0 by default; 0 to 0.99.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 0.99))]
    pub random: f64,
}

/// Where strands tear. A segment that would be stretched past its threshold is cut: by its strain, or by what
/// its tension would stretch it by if its length were not limited. At the latest strands tear where their
/// limit on stretch cannot be met. What is cut off goes on as a strand without a root. Needs `model = "rod"`,
/// and no `guides`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HairTear {
    /// Strain beyond which a segment tears: 0.2 is 20 %. 0.000001 to 1000.
    #[schemars(range(min = 0.000_001, max = 1000))]
    pub stretch: f64,
    /// A map with one factor on `stretch` per point, `"map:FILE"`; the lesser of its ends counts for a
    /// segment. None by default; each 0.000001 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// Weaker or stronger points: `corner:root`, `corner:tip`, `index:…`, `box:…`, `map:FILE` or `all`. None
    /// by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10_000))]
    pub weak: Vec<Weak>,
    /// Random field: the threshold of each point varies by up to this fraction up and down, seeded by
    /// `scene.seed`. 0 by default; 0 to 0.99.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 0.99))]
    pub random: f64,
}

impl HairTear {
    /// The same as a table of cloth.
    pub fn thresholds(&self) -> Tear {
        let Self { stretch, factor, weak, random } = self.clone();
        Tear { stretch, by: TearMeasure::default(), factor, weak, random }
    }

    /// Its texts that may name a map.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        self.factor.iter().chain(self.weak.iter().map(|weak| &weak.select))
    }

    /// The same, to be changed.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.factor.iter_mut().chain(self.weak.iter_mut().map(|weak| &mut weak.select))
    }
}

/// A cut that a cloth has from the start: a notch, a slit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cut {
    /// Rest position near the vertex where the cut begins \[m\]. Each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub from: Vector,
    /// Rest position near the vertex where it ends \[m\]. Each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub to: Vector,
}

/// The strain that is compared with the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TearMeasure {
    /// The larger principal strain of each triangle.
    #[default]
    Triangles,
    /// The strain of each edge.
    Edges,
}

impl TearMeasure {
    fn is_triangles(&self) -> bool {
        *self == Self::Triangles
    }

    /// The engine's.
    pub fn build(self) -> taut::TearMeasure {
        match self {
            Self::Triangles => taut::TearMeasure::Triangles,
            Self::Edges => taut::TearMeasure::Edges,
        }
    }
}

/// A factor on the threshold of some vertices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Weak {
    /// Vertices: `corner:NAME`, `index:3,17,40-60`, `box:x0,y0,z0,x1,y1,z1` (rest positions), `boundary`,
    /// `group:NAME`, `map:FILE` or `all`.
    pub select: String,
    /// Factor on `stretch` there. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    pub factor: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
