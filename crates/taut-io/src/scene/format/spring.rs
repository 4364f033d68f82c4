//! `[[spring]]`: springs between vertices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Vector;

/// Springs with damping between vertices of one body or of two, between vertices and points in space, or
/// between obstacles with mass, or these and points. If
/// both ends select as many vertices, the first is joined to the first, and so on; if one end is a single
/// vertex or point, it is joined to all of the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spring {
    /// Unique name in messages: letters, digits, - and _, at most 64. `spring`, `spring-2`, … by default.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub name: Option<String>,
    /// One end.
    pub from: SpringEnd,
    /// The other end.
    pub to: SpringEnd,
    /// Length without tension \[m\]. The initial distance of the ends by default; 0 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub rest_length: Option<f64>,
    /// Stiffness \[N/m\]. 0 to 1000000000.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub stiffness: f64,
    /// Damping of motion along the spring \[N s/m\]. 0 by default; 0 to 1000000000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub damping: f64,
    /// Force at the end of a step, pull or push, beyond which it breaks \[N\]. None by default; 0.000000001
    /// to 1000000000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_000_001, max = 1_000_000_000_000_u64))]
    pub breaking_force: Option<f64>,
}

/// An end of a spring: `body` with `select`, `body` and `at` on an obstacle with mass, or `point`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpringEnd {
    /// Name of a cloth, a solid, particles, or an obstacle with `mass`. This or `point`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub body: Option<String>,
    /// Its vertices, in the syntax of a pin's `select`; `index:` in the order as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// Point of an obstacle with `mass`, where it is at the start \[m\]; it moves with the obstacle. Its
    /// centre by default; each −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub at: Option<Vector>,
    /// A fixed point in space \[m\]. Each −1000000 to 1000000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub point: Option<Vector>,
}
