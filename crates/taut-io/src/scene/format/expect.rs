//! `[expect]`: what must hold when the scene has run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Vector;
use crate::scene::{RunExtremes, tree::show};

/// What must hold when the scene has run; `taut run` exits with 1 otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Expect {
    /// No principal strain of any triangle in any frame after the start is above this. None by default; −1 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 1_000_000))]
    pub max_strain: Option<f64>,
    /// No principal strain of any triangle in any frame after the start is below this. None by default; −1 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 1_000_000))]
    pub min_strain: Option<f64>,
    /// No residual past a strain or edge limit is above this. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_residual: Option<f64>,
    /// No hinge is further past its bend limit than this \[°\]. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_bend_excess: Option<f64>,
    /// No vertex is deeper inside an obstacle than this \[m\]. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_penetration: Option<f64>,
    /// No two vertices that are sewn together are further apart at the last frame than this \[m\]. None by
    /// default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub final_opening: Option<f64>,
    /// No vertex of the last frame is below this on any axis \[m\]. None by default; each −1000000 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub final_min: Option<Vector>,
    /// No vertex of the last frame is above this on any axis \[m\]. None by default; each −1000000 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub final_max: Option<Vector>,
}

impl Expect {
    /// What does not hold, one line each. A figure that is not a number does not hold.
    pub fn unmet(&self, extremes: &RunExtremes) -> Vec<String> {
        let mut unmet = Vec::new();
        let mut upper = |key: &str, what: &str, limit: Option<f64>, figure: f64| {
            // Written so that NaN is unmet.
            let holds = limit.is_none_or(|limit| figure <= limit);
            if let (false, Some(limit)) = (holds, limit) {
                unmet.push(format!(
                    "expect.{key}: {what} is {}, expected at most {}",
                    show(figure),
                    show(limit)
                ));
            }
        };
        upper("max_strain", "the largest strain", self.max_strain, extremes.max_strain);
        upper("max_residual", "the largest residual past a limit", self.max_residual, extremes.max_residual);
        upper(
            "max_bend_excess",
            "the largest excess past a bend limit [°]",
            self.max_bend_excess,
            extremes.max_bend_excess,
        );
        upper(
            "max_penetration",
            "the deepest penetration [m]",
            self.max_penetration,
            extremes.max_penetration,
        );
        upper(
            "final_opening",
            "the largest opening of a seam at the last frame [m]",
            self.final_opening,
            extremes.final_opening,
        );
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let what = format!("the highest {name} at the last frame [m]");
            upper("final_max", &what, self.final_max.map(|max| max[axis]), extremes.final_bounds[1][axis]);
        }
        let mut lower = |key: &str, what: &str, limit: Option<f64>, figure: f64| {
            let holds = limit.is_none_or(|limit| figure >= limit);
            if let (false, Some(limit)) = (holds, limit) {
                unmet.push(format!(
                    "expect.{key}: {what} is {}, expected at least {}",
                    show(figure),
                    show(limit)
                ));
            }
        };
        lower("min_strain", "the smallest strain", self.min_strain, extremes.min_strain);
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let what = format!("the lowest {name} at the last frame [m]");
            lower("final_min", &what, self.final_min.map(|min| min[axis]), extremes.final_bounds[0][axis]);
        }
        unmet
    }
}
