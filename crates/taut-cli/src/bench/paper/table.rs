//! The comparison as text or Markdown.

use taut::Limit;

use super::{Comparison, Cost, Example, Measured};
use crate::terminal;

/// A table with a title and an introduction.
struct Table {
    title: String,
    about: String,
    /// The first is the heading.
    rows: Vec<Vec<String>>,
}

/// All tables.
pub fn text(found: &Comparison, markdown: bool) -> String {
    let scenes = found.table_1.iter().flat_map(|pair| pair.measured.iter().map(move |m| (pair, m)));
    let mut tables = vec![published(found)];
    tables.extend(scenes.map(|(pair, m)| measured(&pair.published, m)));
    tables.extend([figure_9(found), figure_14(found)]);
    let shown = tables.iter().map(|table| if markdown { table.markdown() } else { table.plain() });
    let mut shown: Vec<String> = shown.collect();
    let about = about(found);
    shown.insert(1, if markdown { format!("{about}\n") } else { wrapped(&about) });
    shown.join("\n")
}

/// Introduction to the measured tables.
fn about(found: &Comparison) -> String {
    let threads = if found.threads == 1 { "one thread" } else { &format!("{} threads", found.threads) };
    format!(
        "Below are taut's scenes of about the same size, with the same limits where they were published, on {threads}. Default is taut's scheme nearest. Published \
         is the scheme paper: one pass over the levels of the row, with its iterations, in one step per frame, on one thread; repeated, the same until the tolerance is met or a \
         frame has taken {} s; its time is then a lower bound. The schemes of a table alternated frame by frame, so that ratios are meaningful on any machine; they \
         cover the frames that both ran. All started from a state of the default scheme in which limits are active; a scheme stopped after {} s.",
        super::BUDGET,
        super::PATIENCE
    )
}

impl Table {
    fn markdown(&self) -> String {
        let mut text = format!("### {}\n", self.title);
        if !self.about.is_empty() {
            text += &format!("{}\n", self.about);
        }
        text.push('\n');
        for (index, row) in self.rows.iter().enumerate() {
            text += &format!("| {} |\n", row.join(" | "));
            if index == 0 {
                let right = "|---:".repeat(row.len().saturating_sub(1));
                text += &format!("|---{right}|\n");
            }
        }
        text
    }

    fn plain(&self) -> String {
        let title = terminal::styled(terminal::BOLD, &self.title);
        format!("{title}\n{}{}", wrapped(&self.about), terminal::table(&self.rows))
    }
}

/// Lines of at most 118 characters.
fn wrapped(text: &str) -> String {
    let (mut lines, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 {
            let fits = width + 1 + length <= 118;
            lines.push(if fits { ' ' } else { '\n' });
            width = if fits { width + 1 } else { 0 };
        }
        lines += word;
        width += length;
    }
    if width > 0 {
        lines.push('\n');
    }
    lines
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).to_vec()
}

/// A limit as text: one number where both sides are equal.
pub fn limit(limit: Limit, factor: f32, unit: &str) -> String {
    let number = |value: f32| format!("{}", (1e3 * factor * value).round() / 1e3);
    match (limit.min, limit.max) {
        (None, None) => "none".into(),
        (Some(min), Some(max)) if min == -max => format!("±{}{unit}", number(max)),
        (Some(min), Some(max)) => format!("{} to +{}{unit}", number(min), number(max)),
        (Some(min), None) => format!("from {}{unit}", number(min)),
        (None, Some(max)) => format!("to +{}{unit}", number(max)),
    }
}

fn percent(value: f64) -> String {
    let value = 100.0 * value;
    if value < 0.095 { format!("{value:.3} %") } else { format!("{value:.2} %") }
}

fn times(value: Option<f64>) -> String {
    value.map_or(
        "-".into(),
        |value| if value < 9.95 { format!("{value:.1}×") } else { format!("{value:.0}×") },
    )
}

fn published(found: &Comparison) -> Table {
    let mut rows = vec![row([
        "example",
        "figure",
        "elements",
        "levels",
        "iterations",
        "s/frame",
        "strain",
        "bend",
        "taut's scenes",
        "taut, s/frame",
        "published/taut",
    ])];
    for pair in &found.table_1 {
        let p = &pair.published;
        let scenes: Vec<&str> = pair.measured.iter().map(|m| m.scene.as_str()).collect();
        rows.push(vec![
            p.example.into(),
            p.figure.to_string(),
            format!("{:.1}K {}", f64::from(p.elements) / 1e3, p.mesh),
            p.levels.to_string(),
            p.iterations_per_level.to_string(),
            format!("{:.2}", p.seconds_per_frame),
            p.strain.into(),
            p.bend.into(),
            scenes.join(", "),
            format!("{:.3}", pair.own_seconds()),
            times(Some(p.seconds_per_frame / pair.own_seconds())),
        ]);
    }
    Table {
        title: "Table 1 as published".into(),
        about: format!(
            "Quoted from {}. One process at 2.26 GHz, steps of 1/30 s, iterations per level, means over the active part, without collision detection. taut's times are of its default scheme on this machine, \
             with collision detection, means over all scenes of a row.",
            found.source
        ),
        rows,
    }
}

fn measured(published: &Example, measured: &Measured) -> Table {
    let Example { example, mesh, .. } = published;
    let heading = ["scheme"].into_iter().chain(COST).chain(["time/default's"]);
    let mut rows = vec![heading.map(String::from).collect::<Vec<_>>()];
    for (scheme, cost, ratio) in [
        ("default", &measured.nearest, Some(1.0)),
        ("published", &measured.paper, measured.faster_than_paper),
        ("published, repeated", &measured.repeated, measured.faster_than_paper_repeated),
    ] {
        let cut = scheme == "published, repeated" && cost.unconverged_frames > 0;
        let ratio = format!("{}{}", if cut { "over " } else { "" }, times(ratio));
        let cells = std::iter::once(scheme.to_string()).chain(cells(cost)).chain([ratio]);
        rows.push(cells.collect());
    }
    let Measured { scene, elements, strain, bend, .. } = measured;
    Table {
        title: format!("{example}: {scene}, {elements} {mesh}, strain {strain}, bend {bend}"),
        about: String::new(),
        rows,
    }
}

/// Headings of [`cells`].
const COST: [&str; 8] =
    ["levels", "steps", "frames", "ms/frame", "largest residual", "mean residual", "bend excess", "missed"];

/// Levels, steps, frames, time, residuals.
fn cells(cost: &Cost) -> [String; 8] {
    [
        cost.levels.to_string(),
        cost.steps_per_frame.to_string(),
        cost.frames.to_string(),
        format!("{:.1}", cost.mean_ms),
        percent(cost.max_residual),
        percent(cost.mean_residual),
        cost.max_bend_excess.map_or("-".into(), |excess| format!("{excess:.1}°")),
        cost.unconverged_frames.to_string(),
    ]
}

fn figure_9(found: &Comparison) -> Table {
    let heading = ["variant", "published s"].into_iter().chain(COST).chain(["largest strain"]);
    let mut rows = vec![heading.map(String::from).collect::<Vec<_>>()];
    for way in &found.figure_9 {
        let seconds = way.published_seconds.map_or("-".into(), |seconds| format!("{seconds:.3}"));
        let strain = percent(way.measured.max_strain);
        let cells = cells(&way.measured);
        rows.push([way.way.to_string(), seconds].into_iter().chain(cells).chain([strain]).collect());
    }
    Table {
        title: "Figure 9: a hollow duck slides down a ramp".into(),
        about: "A procedural duck with the same limits. (d) has none, so that its largest strain stands for its residual; its material is stiff: 4000 N/m and 0.004 N m.".into(),
        rows,
    }
}

fn figure_14(found: &Comparison) -> Table {
    let mut rows = vec![row(["scheme", "in the paper", "published s", "iterations", "ms"])];
    for race in &found.figure_14.races {
        rows.push(vec![
            race.scheme.into(),
            race.published.map_or("-", |(name, _)| name).into(),
            race.published.map_or("-".into(), |(_, seconds)| format!("{seconds:.3}")),
            race.iterations.map_or("not reached".into(), |iterations| iterations.to_string()),
            race.ms.map_or("-".into(), |ms| format!("{ms:.2}")),
        ]);
    }
    Table {
        title: "Figure 14: a noisy sheet, to a mean residual of 1 %".into(),
        about: format!(
            "A free sheet of {} triangles, distorted by noise to a mean residual of {} past ±5 %. Iterations are those on the finest level: the \
             first of 1, 2, 3, 4, 6, 8, 11, … that suffice. The paper does not give the spectrum of its noise: compare schemes, not seconds.",
            found.figure_14.triangles,
            percent(found.figure_14.start)
        ),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_between_words() {
        assert_eq!(wrapped(""), "");
        let text = "residual ".repeat(40);
        let lines = wrapped(&text);
        assert!(lines.lines().all(|line| line.len() <= 118 && !line.ends_with(' ')));
        assert_eq!(lines.split_whitespace().count(), 40);
    }

    #[test]
    fn limits_in_words() {
        let words = |min, max| limit(Limit { min, max }, 100.0, " %");
        assert_eq!(words(Some(-0.05), Some(0.05)), "±5 %");
        assert_eq!(words(Some(-0.2), Some(0.015)), "-20 to +1.5 %");
        assert_eq!(words(None, Some(0.01)), "to +1 %");
        assert_eq!(words(None, None), "none");
    }
}
