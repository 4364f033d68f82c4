//! Rows as text that fits 120 columns: cost, then residuals.

use super::measure::Row;
use crate::terminal;

/// Tables of rows. `about` is the heading of the first column.
pub fn tables(rows: &[Row], about: &str) -> String {
    format!("{}\n{}{}", costs(rows, about), limits(rows, about), peak(rows))
}

fn name(row: &Row) -> String {
    row.label.clone().unwrap_or_else(|| row.scene.clone())
}

fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".into(), |value| format!("{value:.digits$}"))
}

fn costs(rows: &[Row], about: &str) -> String {
    let kind = match (rows.iter().any(|row| row.triangles > 0), rows.iter().any(|row| row.tetrahedra > 0)) {
        (_, false) => "triangles",
        (false, true) => "tetrahedra",
        (true, true) => "elements",
    };
    let mut lines = vec![
        [about, kind, "levels", "frames", "iterations", "median ms", "worst ms", "CPU s", "setup ms"]
            .map(String::from)
            .to_vec(),
    ];
    let compared = rows.iter().any(|row| row.faster_than_paper.is_some());
    let grown = rows.iter().any(|row| row.growth.is_some());
    if compared {
        lines[0].extend(["paper/it", "repeated/it"].map(String::from));
    }
    if grown {
        lines[0].extend(["growth", "CPU growth", "peak MB"].map(String::from));
    }
    for row in rows {
        let mut line = vec![
            name(row),
            row.elements().to_string(),
            row.level_sizes.len().to_string(),
            row.frames.to_string(),
            format!("{:.1}", row.mean_iterations),
            format!("{:.2}", row.median_ms),
            format!("{:.2}", row.worst_ms),
            optional(row.cpu_seconds, 2),
            format!("{:.0}", row.setup_ms),
        ];
        if compared {
            line.extend([row.faster_than_paper, row.faster_than_paper_repeated].map(|r| optional(r, 2)));
        }
        if grown {
            let [wall, cpu] = [row.growth, row.cpu_growth]
                .map(|growth| growth.map_or("-".into(), |growth| format!("n^{growth:.2}")));
            line.extend([wall, cpu, optional(megabytes(row), 0)]);
        }
        lines.push(line);
    }
    terminal::table(&lines)
}

fn limits(rows: &[Row], about: &str) -> String {
    let mut lines = vec![
        [about, "max residual", "mean residual", "bend excess", "frames missed", "error mean", "error worst"]
            .map(String::from)
            .to_vec(),
    ];
    for row in rows {
        lines.push(vec![
            name(row),
            format!("{:.5}", row.max_residual),
            format!("{:.7}", row.mean_residual),
            row.max_bend_excess.map_or("-".into(), |excess| format!("{excess:.2}°")),
            row.unconverged_frames.to_string(),
            optional(row.mean_mass_metric_error, 3),
            optional(row.worst_mass_metric_error, 3),
        ]);
    }
    terminal::table(&lines)
}

fn megabytes(row: &Row) -> Option<f64> {
    row.peak_memory.map(|bytes| 1e-6 * bytes as f64)
}

fn peak(rows: &[Row]) -> String {
    let peak = rows.iter().filter_map(megabytes).reduce(f64::max);
    peak.map_or(String::new(), |peak| format!("peak memory {peak:.0} MB\n"))
}
