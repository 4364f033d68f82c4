//! `[[seam]]`: vertices that are sewn together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Vertices of one cloth or of two that are sewn together. Which: one of `pairs`, `from` with `to`, or
/// `within`. A seam that starts open is drawn together and then stays closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seam {
    /// Its name in messages: letters, digits, - and _, at most 64; no two alike. `seam`, `seam-2`, … by
    /// default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// The two cloths that it sews together, by their names. This or `cloth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloths: Option<[String; 2]>,
    /// The cloth of which it sews vertices together, by its name. This or `cloths`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub cloth: Option<String>,
    /// Pairs of vertices, the first of the first cloth, the second of the second. Each 0 to 4294967295.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000_000), inner(inner(range(min = 0, max = 4_294_967_295_u32))))]
    pub pairs: Option<Vec<[u32; 2]>>,
    /// Vertices of the first cloth, as `select` of a pin has them: `index:` in the order in which they are
    /// written, `group:` in that of the group, others by their index. The first of them is sewn to the first
    /// of `to`, and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// As many vertices of the second cloth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Sews vertices on borders together that start no further apart than this \[m\]: of two cloths each to
    /// the nearest of the other, of one cloth all that are so near and not joined by an edge. 0 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub within: Option<f64>,
    /// How fast the two vertices of a pair are drawn together while they are apart \[m/s\]. 1 by default;
    /// 0.0001 to 1000.
    #[serde(default = "speed")]
    #[schemars(range(min = 0.000_1, max = 1000))]
    pub speed: f64,
}

fn speed() -> f64 {
    super::decimal(taut::boundary::seam::SPEED)
}
