//! `[expect]`: expectations checked after a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Vector;
use crate::scene::{RunExtremes, tree::show};

/// Expectations checked after a run; `taut run` exits with 1 if one is not met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Expect {
    /// Upper bound of the principal strain of any triangle in any frame after frame 0. None by default; −1 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 1_000_000))]
    pub max_strain: Option<f64>,
    /// Lower bound of the principal strain of any triangle in any frame after frame 0. None by default; −1 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1, max = 1_000_000))]
    pub min_strain: Option<f64>,
    /// Upper bound of the residual past strain and edge limits. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_residual: Option<f64>,
    /// Upper bound of the excess past bend limits \[°\]. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_bend_excess: Option<f64>,
    /// Upper bound of the penetration of any vertex into an obstacle \[m\]. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_penetration: Option<f64>,
    /// Upper bound of the opening of any seam in the last frame \[m\]. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub final_opening: Option<f64>,
    /// Lower bound of the volume of any closed cloth with pressure in the last frame \[m³\]. None by default;
    /// 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub final_min_volume: Option<f64>,
    /// Upper bound of the volume of any closed cloth with pressure in the last frame \[m³\]. None by default;
    /// 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub final_max_volume: Option<f64>,
    /// Lower bound of the number of vertices of cloth that tearing has split off by the last frame. None by
    /// default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub min_torn: Option<u32>,
    /// Upper bound of that number. None by default; 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_torn: Option<u32>,
    /// Box of rest positions that all vertices lie in that tearing has split: x0, y0, z0, x1, y1, z1 \[m\].
    /// None by default; each −1000000 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub torn_within: Option<[f64; 6]>,
    /// Number of connected pieces of all cloth that may tear, in the last frame. None by default; 1 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub final_pieces: Option<u32>,
    /// Lower bound of vertex positions in the last frame, per axis \[m\]. None by default; each −1000000 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub final_min: Option<Vector>,
    /// Upper bound of vertex positions in the last frame, per axis \[m\]. None by default; each −1000000 to
    /// 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub final_max: Option<Vector>,
}

impl Expect {
    /// Unmet expectations, one line each. NaN never meets an expectation.
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
        // Without a closed bag nothing is met.
        let [smallest, largest] = extremes.final_volumes.unwrap_or([f64::NAN; 2]);
        let what = "the largest volume of a closed cloth at the last frame [m³]";
        upper("final_max_volume", what, self.final_max_volume, largest);
        let torn = extremes.torn.vertices as f64;
        upper("max_torn", "the number of vertices split off", self.max_torn.map(f64::from), torn);
        let pieces = extremes.torn.pieces as f64;
        upper("final_pieces", "the number of pieces", self.final_pieces.map(f64::from), pieces);
        if let (Some(within), Some([_, high])) = (self.torn_within, extremes.torn.bounds) {
            for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
                let what = format!("the highest {name} of what tore, at rest [m]");
                upper("torn_within", &what, Some(within[axis + 3]), high[axis]);
            }
        }
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
        lower("min_torn", "the number of vertices split off", self.min_torn.map(f64::from), torn);
        lower("final_pieces", "the number of pieces", self.final_pieces.map(f64::from), pieces);
        if let (Some(within), Some([low, _])) = (self.torn_within, extremes.torn.bounds) {
            for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
                let what = format!("the lowest {name} of what tore, at rest [m]");
                lower("torn_within", &what, Some(within[axis]), low[axis]);
            }
        }
        lower("min_strain", "the smallest strain", self.min_strain, extremes.min_strain);
        let what = "the smallest volume of a closed cloth at the last frame [m³]";
        lower("final_min_volume", what, self.final_min_volume, smallest);
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let what = format!("the lowest {name} at the last frame [m]");
            lower("final_min", &what, self.final_min.map(|min| min[axis]), extremes.final_bounds[0][axis]);
        }
        unmet
    }
}
