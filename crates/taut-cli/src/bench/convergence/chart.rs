//! Curves as charts: largest and mean residual, against iterations and against time.

use taut_render::plot::{Axis, Chart, LimitLine, Series};

use super::{Convergence, curve::Point};
use crate::bench::PAPER;

/// Four charts with logarithmic axes.
pub fn charts(found: &Convergence) -> Vec<Chart> {
    let title = |what: &str| format!("{}, frame {}: {what}", found.scene, found.frame);
    let tolerance = || vec![LimitLine { name: "tolerance".into(), y: found.tolerance.into() }];
    let against =
        [("iterations", (|p| p.iterations.into()) as fn(&Point) -> f64), ("time on limits [ms]", |p| p.ms)];
    let residuals = [
        ("largest residual", (|p| p.residual.max_residual) as fn(&Point) -> f64, tolerance()),
        ("mean residual", |p| p.residual.mean_residual, Vec::new()),
    ];
    let mut charts = Vec::new();
    for (y_label, y, lines) in &residuals {
        for (x_label, x) in &against {
            // One pass comes last, or the repeated passes, which begin alike, would hide it.
            let (once, others): (Vec<_>, Vec<_>) = found.curves.iter().partition(|c| c.scheme == PAPER);
            let series = others.into_iter().chain(once).map(|curve| Series {
                name: curve.scheme.into(),
                points: curve.points.iter().map(|p| [x(p), y(p)]).collect(),
                dashed: false,
            });
            charts.push(Chart {
                title: title(y_label),
                x: Axis { label: (*x_label).into(), log: true },
                y: Axis { label: (*y_label).into(), log: true },
                series: series.collect(),
                lines: lines.clone(),
            });
        }
    }
    charts
}
