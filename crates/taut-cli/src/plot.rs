//! `taut plot`: residual, strain, energy and timing of a run, as a figure.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use taut::{Body, Description, measure::BodyCertificate};
use taut_io::{
    Problem, Problems,
    output::{
        layout::Layout,
        metrics::{self, FrameLine},
    },
    scene,
};
use taut_render::plot::{Axis, Chart, LimitLine, Series};

use crate::{args::PlotArgs, failure::Failure, figure::Figure, terminal};

/// Draws the runs that `args` name.
pub fn plot(args: &PlotArgs) -> Result<ExitCode, Failure> {
    let figure = Figure::new(target(args)?, args.force)?;
    let runs = args.out.iter().map(|out| Run::read(out)).collect::<Result<Vec<_>, _>>()?;
    let charts = charts(&named(runs, &args.out));
    figure.write(&charts)?;
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    terminal::print(&format!("{}: {}\n", figure.path().display(), titles.join(", ").to_lowercase()))?;
    Ok(ExitCode::SUCCESS)
}

/// The file to write.
fn target(args: &PlotArgs) -> Result<PathBuf, Failure> {
    match (&args.to, args.out.as_slice()) {
        (Some(to), _) => Ok(to.clone()),
        (None, [out]) => Ok(out.join("plot.svg")),
        (None, _) => {
            Err(Failure::input("several runs need an output file", "name one, as in `-o compared.svg`"))
        }
    }
}

/// The data of a run that is plotted.
struct Run {
    name: String,
    description: Description,
    lines: Vec<FrameLine>,
}

impl Run {
    fn read(out: &Path) -> Result<Self, Failure> {
        let files = Layout::new(out);
        let of_no_run = |problems: Problems| Failure::Input {
            problems,
            hint: Some("give a folder written by `taut run`, as in `taut plot out/hanging-sheet`".into()),
        };
        let path = files.metrics();
        let found = metrics::read(&path).map_err(|problem| of_no_run(problem.into()))?;
        let damaged = |problems: Vec<Problem>| Failure::Input {
            problems: Problems(problems),
            hint: Some(format!("`taut run --resume -o {}` repairs an unfinished run", out.display())),
        };
        let bad: Vec<Problem> = found.iter().filter_map(|line| line.as_ref().err().cloned()).collect();
        if !bad.is_empty() {
            return Err(damaged(bad));
        }
        let lines: Vec<FrameLine> = found.into_iter().flatten().collect();
        let problem = |line: usize, message: String| Problem {
            file: Some(path.clone()),
            line: Some(line),
            message,
            ..Problem::default()
        };
        if lines.is_empty() {
            return Err(damaged(vec![problem(1, "contains no frames".into())]));
        }
        if let Some((i, line)) = lines.iter().enumerate().find(|(i, line)| line.frame as usize != *i) {
            let message = format!("is frame {}, expected frame {i}", line.frame);
            return Err(damaged(vec![problem(i + 1, message)]));
        }
        let scene = scene::load(&files.scene().to_string_lossy(), &[]).map_err(of_no_run)?;
        Ok(Self { name: String::new(), description: scene.build()?, lines })
    }

    /// A curve over the frames; non-finite values leave a gap.
    fn curve(&self, name: &str, value: impl Fn(&FrameLine) -> f64) -> Series {
        let name = match (self.name.as_str(), name) {
            ("", name) | (name, "") => name.to_owned(),
            (run, name) => format!("{run}: {name}"),
        };
        let points = self.lines.iter().map(|line| [f64::from(line.frame), value(line)]).collect();
        Series { name, points, dashed: false }
    }

    /// Whether a body has such a limit.
    fn limited(&self, limit: impl Fn(&Body) -> Option<f32>) -> bool {
        self.description.bodies.iter().any(|body| limit(body).is_some())
    }

    /// The same, dashed.
    fn dashed(&self, name: &str, value: impl Fn(&FrameLine) -> f64) -> Series {
        Series { dashed: true, ..self.curve(name, value) }
    }
}

/// Curves that are omitted where they are not meaningful.
trait OnlyIf {
    /// The curve, or one without points, which keeps its colour for the same run on other charts.
    fn only_if(self, wanted: bool) -> Self;
}

impl OnlyIf for Series {
    fn only_if(self, wanted: bool) -> Self {
        if wanted { self } else { Self { points: Vec::new(), ..self } }
    }
}

/// Labels runs by the names of their folders if there are several.
fn named(mut runs: Vec<Run>, folders: &[PathBuf]) -> Vec<Run> {
    if runs.len() < 2 {
        return runs;
    }
    let last = |folder: &Path| folder.file_name().map(|name| name.to_string_lossy().into_owned());
    for (run, folder) in runs.iter_mut().zip(folders) {
        let alike = folders.iter().filter(|other| last(other) == last(folder)).count();
        let whole = || folder.display().to_string();
        run.name = last(folder).filter(|_| alike == 1).unwrap_or_else(whole);
    }
    runs
}

/// The largest of `value` over the bodies of a frame.
fn largest(line: &FrameLine, value: impl Fn(&BodyCertificate) -> f64) -> f64 {
    line.certificate.bodies.iter().map(value).fold(f64::NAN, f64::max)
}

fn total(line: &FrameLine, value: impl Fn(&BodyCertificate) -> f64) -> f64 {
    line.certificate.bodies.iter().map(value).sum()
}

fn charts(runs: &[Run]) -> Vec<Chart> {
    let mut charts = vec![residual(runs), stretch(runs)];
    charts.extend(compression(runs));
    charts.extend(bends(runs));
    charts.extend([energy(runs), times(runs)]);
    charts
}

fn chart(title: &str, y: &str, log: bool, series: Vec<Series>, lines: Vec<LimitLine>) -> Chart {
    let axis = |label: &str, log| Axis { label: label.into(), log };
    Chart { title: title.into(), x: axis("frame", false), y: axis(y, log), series, lines }
}

/// One line for each distinct value, labelled by its runs or bodies.
fn limits(what: &str, values: impl Iterator<Item = (String, f32)>) -> Vec<LimitLine> {
    let mut found: Vec<(f32, Vec<String>)> = Vec::new();
    for (name, value) in values {
        match found.iter_mut().find(|(other, _)| *other == value) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => found.push((value, vec![name])),
        }
    }
    let alone = found.len() == 1;
    let line = |(value, names): (f32, Vec<String>)| {
        let names = names.join(", ");
        let name = if alone || names.is_empty() { what.to_owned() } else { format!("{what}: {names}") };
        // As the user wrote it: 0.05, not its nearest f32.
        LimitLine { name, y: value.to_string().parse().unwrap_or(f64::from(value)) }
    };
    found.into_iter().map(line).collect()
}

/// Limits of all bodies \[%\].
fn strain_limits(runs: &[Run], of: impl Fn(&taut::Limit) -> Option<f32>) -> Vec<LimitLine> {
    let mut values = Vec::new();
    for run in runs {
        for body in run.description.bodies.iter() {
            let name = match (run.name.as_str(), run.description.bodies.len()) {
                ("", _) => body.name().to_owned(),
                (name, 1) => name.to_owned(),
                (name, _) => format!("{name}: {}", body.name()),
            };
            let limits = [strain(body), body.edge()];
            let limits = limits.iter().filter_map(&of);
            values.extend(limits.map(|limit| (name.clone(), limit)));
        }
    }
    let lines = limits("limit", values.into_iter());
    lines.into_iter().map(|line| LimitLine { y: 100.0 * line.y, ..line }).collect()
}

/// Isotropic strain limits.
fn strain(body: &Body) -> taut::Limit {
    match body {
        Body::Cloth(cloth) => cloth.strain,
        Body::Solid(solid) => solid.strain,
        Body::Particles(particles) => particles.edge,
        Body::Hair(hair) => hair.stretch,
    }
}

fn residual(runs: &[Run]) -> Chart {
    let series = runs.iter().flat_map(|run| {
        [
            run.curve("largest", |l| largest(l, |b| b.strain.max_residual.max(b.strain.max_edge_residual))),
            run.dashed("mean", |l| largest(l, |b| b.strain.mean_residual.max(b.strain.mean_edge_residual))),
        ]
    });
    let tolerances = runs.iter().map(|run| (run.name.clone(), run.description.solver.tolerance.past()));
    let tolerances = tolerances.filter(|(_, past)| *past > 0.0);
    chart("Residual past limits", "residual", true, series.collect(), limits("tolerance", tolerances))
}

fn stretch(runs: &[Run]) -> Chart {
    let percent = |line: &FrameLine| 100.0 * (largest(line, |b| b.strain.max_stretch) - 1.0);
    let name = if runs.len() > 1 { "" } else { "stretch" };
    let series = runs.iter().map(|run| run.curve(name, percent)).collect();
    chart("Largest stretch", "strain [%]", false, series, strain_limits(runs, |limit| limit.max))
}

/// Only where compression is limited: without a limit, wrinkled triangles collapse, which says nothing.
fn compression(runs: &[Run]) -> Option<Chart> {
    let lines = strain_limits(runs, |limit| limit.min);
    let percent = |line: &FrameLine| 100.0 * (-largest(line, |b| -b.strain.min_stretch) - 1.0);
    let name = if runs.len() > 1 { "" } else { "compression" };
    let limited = |run: &Run| run.limited(|body| strain(body).min.or(body.edge().min));
    let series = runs.iter().map(|run| run.curve(name, percent).only_if(limited(run))).collect();
    (!lines.is_empty()).then(|| chart("Largest compression", "strain [%]", false, series, lines))
}

fn bends(runs: &[Run]) -> Option<Chart> {
    let limited = |run: &Run| run.limited(|body| body.bend().min.or(body.bend().max));
    let series = runs.iter().flat_map(|run| {
        [
            run.curve("largest", |l| largest(l, |b| b.bend.max_bend_excess)).only_if(limited(run)),
            run.dashed("mean", |l| largest(l, |b| b.bend.mean_bend_excess)).only_if(limited(run)),
        ]
    });
    let those = runs.iter().filter(|run| limited(run));
    let tolerances = those.map(|run| (run.name.clone(), run.description.solver.bend_tolerance));
    runs.iter().any(limited).then(|| {
        chart("Excess past bend limits", "angle [°]", true, series.collect(), limits("tolerance", tolerances))
    })
}

fn energy(runs: &[Run]) -> Chart {
    let stored = |line: &FrameLine| total(line, |b| b.energy.stretch + b.energy.bend);
    let kinetic = |line: &FrameLine| total(line, |b| b.energy.kinetic);
    let series = match runs {
        [run] => {
            // Gravity is relative to the start: the height of the ground does not matter.
            let start = run.lines.first().map_or(0.0, |line| total(line, |b| b.energy.gravity));
            vec![
                run.curve("kinetic", kinetic),
                run.curve("gravity, from start", |line| total(line, |b| b.energy.gravity) - start),
                run.curve("stretch", |line| total(line, |b| b.energy.stretch)),
                run.curve("bend", |line| total(line, |b| b.energy.bend)),
            ]
        }
        runs => {
            let both = |run: &Run| [run.curve("kinetic", kinetic), run.dashed("stretch, bend", stored)];
            runs.iter().flat_map(both).collect()
        }
    };
    chart("Energy", "energy [J]", false, series, Vec::new())
}

fn times(runs: &[Run]) -> Chart {
    // Frame 0 takes no time: nothing was simulated.
    let all = |line: &FrameLine| if line.report.is_some() { line.frame_ms } else { f64::NAN };
    let stage = |line: &FrameLine, ms: fn(&taut::FrameReport) -> f32| {
        line.report.as_ref().map_or(f64::NAN, |report| f64::from(ms(report)))
    };
    let series = match runs {
        [run] => vec![
            run.curve("all", all),
            run.curve("limiting", |line| stage(line, |report| report.limit_ms)),
            run.curve("velocities", |line| stage(line, |report| report.velocity_ms)),
            run.curve("other", |line| stage(line, |report| report.contact_ms + report.position_ms)),
        ],
        runs => runs.iter().map(|run| run.curve("", all)).collect(),
    };
    chart("Time per frame", "time [ms]", false, series, Vec::new())
}
