//! `[[seam]]`: sewn vertices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sewn vertices of one cloth or of two, selected by one of `pairs`, `from` with `to`, or `within`. An open
/// seam is pulled together and then stays closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seam {
    /// Unique name in messages: letters, digits, - and _, at most 64. `seam`, `seam-2`, … by default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// Names of the two sewn cloths. This or `cloth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloths: Option<[String; 2]>,
    /// Name of a cloth that is sewn to itself. This or `cloths`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub cloth: Option<String>,
    /// Pairs of vertices: one of the first cloth, one of the second. Each 0 to 4294967295.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1_000_000), inner(inner(range(min = 0, max = 4_294_967_295_u32))))]
    pub pairs: Option<Vec<[u32; 2]>>,
    /// Vertices of the first cloth, in the syntax of a pin's `select`: `index:` in the order as written,
    /// `group:` in the order of the group, others by index. The first is sewn to the first of `to`, and so
    /// on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The same number of vertices of the second cloth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Sews boundary vertices that are initially within this distance \[m\]: of two cloths, each to the
    /// nearest of the other; of one cloth, all that are so near and not connected by an edge. 0 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000))]
    pub within: Option<f64>,
    /// Speed at which the vertices of an open pair are pulled together \[m/s\]. 1 by default; 0.0001 to 1000.
    #[serde(default = "speed")]
    #[schemars(range(min = 0.000_1, max = 1000))]
    pub speed: f64,
}

fn speed() -> f64 {
    super::decimal(taut::low_level::SEAM_SPEED)
}
