//! Curves as text: residuals at a few numbers of iterations, and the cost of reaching the tolerance.

use super::{
    Convergence,
    curve::{Curve, Point, Residual},
};
use crate::{bench::terms, terminal};

/// Iterations whose residuals are shown.
const COLUMNS: [u32; 6] = [1, 4, 16, 64, 256, 1024];

/// Tables of all schemes.
pub fn tables(found: &Convergence) -> String {
    let Residual { max_residual, mean_residual, max_bend_excess } = found.prediction;
    let bend = max_bend_excess.map_or(String::new(), |excess| format!(", bend excess {excess:.2}°"));
    let mut text = format!(
        "{}, first step of frame {}, {} triangles, {}\nprediction: largest residual {}, mean {}{bend}\n\n",
        terminal::styled(terminal::BOLD, &found.scene),
        found.frame,
        found.triangles,
        terms(found.threads, found.steps_per_frame),
        short(max_residual),
        short(mean_residual),
    );
    text += &residuals(found, "largest residual after", |r| short(r.max_residual));
    text.push('\n');
    text += &residuals(found, "mean residual after", |r| short(r.mean_residual));
    if max_bend_excess.is_some() {
        text.push('\n');
        let degrees = |r: &Residual| r.max_bend_excess.map_or("-".into(), |excess| format!("{excess:.2}°"));
        text += &residuals(found, "bend excess after", degrees);
    }
    text.push('\n');
    text += &goals(found);
    text
}

fn residuals(found: &Convergence, about: &str, show: impl Fn(&Residual) -> String) -> String {
    let heading = COLUMNS.map(|iterations| iterations.to_string());
    let mut lines = vec![std::iter::once(about.to_string()).chain(heading).collect::<Vec<_>>()];
    for curve in &found.curves {
        let at = |iterations| curve.at(iterations).map_or("-".into(), |p: &Point| show(&p.residual));
        lines.push(std::iter::once(curve.scheme.to_string()).chain(COLUMNS.map(at)).collect());
    }
    terminal::table(&lines)
}

/// When each scheme is first within the tolerance, and where it ends.
fn goals(found: &Convergence) -> String {
    let mut lines = vec![
        ["scheme", "within after", "ms", "ends after", "ms", "largest residual", "ms per iteration"]
            .map(String::from)
            .to_vec(),
    ];
    for curve in &found.curves {
        let [first, ms] = cells(curve.first(|point| point.within));
        let last = curve.points.last();
        let [end, end_ms] = cells(last);
        lines.push(vec![
            curve.scheme.into(),
            first,
            ms,
            if curve.ended { end } else { format!("stopped at {end}") },
            end_ms,
            last.map_or("-".into(), |p| short(p.residual.max_residual)),
            pace(curve),
        ]);
    }
    let bend = found.prediction.max_bend_excess;
    let bend = bend.map_or(String::new(), |_| format!(", bend {}°", found.bend_tolerance));
    format!("tolerance {}{bend}\n{}", found.tolerance, terminal::table(&lines))
}

/// Iterations and milliseconds.
fn cells(point: Option<&Point>) -> [String; 2] {
    point.map_or(["-".into(), "-".into()], |p| [p.iterations.to_string(), format!("{:.3}", p.ms)])
}

fn pace(curve: &Curve) -> String {
    let last = curve.points.last().filter(|p| p.iterations > 0);
    last.map_or("-".into(), |p| format!("{:.4}", p.ms / f64::from(p.iterations)))
}

/// Three significant digits.
fn short(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.2e}") }
}
