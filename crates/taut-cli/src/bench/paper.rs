//! `taut bench --paper`: published results of the main paper next to taut's, for the scenes that taut has
//! today.
//!
//! [`published`] quotes; everything else is measured here. taut's default scheme and the published method,
//! one pass and repeated until the tolerance is met, alternate frame by frame, so that their ratio is
//! meaningful on any machine; published seconds are from the authors' machine. They start from the state of
//! the default scheme after a few frames, when limits are active. The published method takes one step per
//! frame, as published; the default scheme takes as many as the scene or taut chooses.
//!
//! The variants of figure 9 run as schemes of one scene; figure 14 is a [convergence](super::convergence)
//! that ends at its goal. Figures 12 (a chain in MATLAB) and 13 (no numbers given) are compared in the
//! engine's tests, `paper_figure_12.rs` and `paper_figure_13.rs`.

mod published;
mod table;

use std::{path::Path, process::ExitCode};

use serde::Serialize;
use taut::{State, Stepper, low_level::Snapshot};
use taut_io::scene::{self, LoadedScene};

use super::{
    Effort, NEAREST, PAPER, REPEATED, SCHEMES, compare, convergence, measure,
    measure::{Row, Subject},
};
use crate::{args::BenchArgs, failure::Failure, fit, progress::Share, terminal};
use published::{CLOTH, DUCK, Example, FIGURE_9, FIGURE_14, SOURCE, TABLE_1};

/// Frames that the default scheme simulates before the comparison: published times too are of the active
/// part.
const LEAD: u32 = 6;

/// Frames of a scene, by default.
const FRAMES: u32 = 6;

/// Frames of the variants of figure 9, by default.
const FRAMES_9: u32 = 6;

/// Time after which a scheme skips the remaining frames of a scene \[s\].
const PATIENCE: f64 = 8.0;

/// Time limit of a frame of the repeated method \[s\]; if the tolerance is not met by then, its ratio is a
/// lower bound.
const BUDGET: u32 = 10;

/// Mean residual at which figure 14 is compared.
const GOAL: f64 = 0.01;

const SHELL: &str = "shell-on-ramp";
const SIZE: &str = "cloth.sheet.mesh.grid.cells=[80,80]";

/// The whole comparison.
#[derive(Serialize)]
pub struct Comparison {
    /// Source of the published numbers.
    source: &'static str,
    threads: usize,
    table_1: Vec<Pair>,
    figure_9: Vec<Way>,
    figure_14: Races,
}

/// A row of Table 1, and taut's measurements.
#[derive(Serialize)]
struct Pair {
    published: Example,
    measured: Vec<Measured>,
    /// What shows it in taut, where it is not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_yet: Option<&'static str>,
}

/// A scene of taut: its default scheme against the published method.
#[derive(Serialize)]
struct Measured {
    scene: String,
    triangles: usize,
    strain: String,
    bend: String,
    /// taut's default scheme.
    nearest: Cost,
    /// The published method, one pass per frame.
    paper: Cost,
    /// The same until the tolerance is met, or a frame has taken 10 s.
    repeated: Cost,
    /// Times of the two divided by that of the default scheme, over the frames that both ran.
    faster_than_paper: Option<f64>,
    faster_than_paper_repeated: Option<f64>,
}

/// Cost and residuals of frames.
#[derive(Serialize)]
struct Cost {
    levels: usize,
    steps_per_frame: u32,
    frames: usize,
    /// Mean, as published \[ms\].
    mean_ms: f64,
    max_residual: f64,
    mean_residual: f64,
    /// \[degrees\]
    max_bend_excess: Option<f64>,
    unconverged_frames: usize,
}

/// One variant of figure 9.
#[derive(Serialize)]
struct Way {
    way: &'static str,
    published_seconds: Option<f64>,
    /// `None`: not measured.
    measured: Option<Cost>,
}

/// Figure 14.
#[derive(Serialize)]
struct Races {
    triangles: usize,
    /// Mean residual of the prediction, before limiting.
    start: f64,
    races: Vec<Race>,
}

/// One method of figure 14.
#[derive(Serialize)]
struct Race {
    scheme: &'static str,
    /// Its name in the paper, and the published seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<(&'static str, f64)>,
    /// To a mean residual of 1 %; `None` if not reached.
    iterations: Option<u32>,
    ms: Option<f64>,
}

/// Measures and prints.
pub fn paper(args: &BenchArgs) -> Result<ExitCode, Failure> {
    let threads = args.threads.count();
    let set: Vec<&str> = args.set.set.iter().map(String::as_str).collect();
    let mut table_1 = Vec::new();
    for published in TABLE_1 {
        let (scenes, not_yet) = beside(published.example);
        let mut measured = Vec::new();
        for (name, overrides) in scenes {
            let overrides = [overrides, &set[..]].concat();
            measured.push(measure_scene(name, &overrides, args.frames, threads)?);
        }
        table_1.push(Pair { published, measured, not_yet });
    }
    let comparison = Comparison {
        source: SOURCE,
        threads,
        table_1,
        figure_9: figure_9(&set, args.frames, threads)?,
        figure_14: figure_14(&set, threads)?,
    };
    if args.json {
        terminal::print_json(&comparison)?;
    } else {
        terminal::print(&table::text(&comparison, args.markdown))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A scene name and overrides.
type Scene = (&'static str, &'static [&'static str]);

/// Sheets of 12.8K triangles: the pair of figure 7, and one that just hangs.
const SHEETS: [Scene; 3] = [
    ("bend-loose", &[SIZE]),
    ("bend-tight", &[SIZE]),
    ("hanging-sheet", &["cloth.sheet.strain.min=-0.05", SIZE]),
];

/// Scenes of taut for a row of Table 1, or the missing feature.
fn beside(example: &str) -> (&'static [Scene], Option<&'static str>) {
    match example {
        CLOTH => (&SHEETS, None),
        DUCK => (&[(SHELL, &[])], None),
        "Bunny" => (&[], Some("scene bunny")),
        "Shirt" => (&[], Some("scene shirt")),
        "Dragon, hollow" => (&[], Some("scene dragon-roller-shell")),
        "Dragon, solid" => (&[], Some("scene dragon-roller")),
        "Tori" => (&[], Some("scene tori")),
        _ => (&[], Some("no scene")),
    }
}

/// A built-in scene, or the shell.
fn load(name: &str, overrides: &[&str]) -> Result<LoadedScene, Failure> {
    let overrides = compare::with(&[], overrides);
    Ok(if name == SHELL {
        scene::parse(include_str!("paper/shell.toml"), name, Path::new("."), &overrides)?
    } else {
        scene::load(name, &overrides)?
    })
}

/// A scene with overrides, as a subject under a label.
fn subject(name: &str, label: &str, overrides: &[&str], threads: usize) -> Result<Subject, Failure> {
    Subject::new(&load(name, overrides)?, Some(label.into()), threads)
}

fn measure_scene(
    name: &str,
    overrides: &[&str],
    frames: Option<u32>,
    threads: usize,
) -> Result<Measured, Failure> {
    let start = lead(&load(name, overrides)?, threads)?;
    let mut subjects = Vec::new();
    for (label, settings) in SCHEMES.into_iter().filter(|s| [NEAREST, PAPER, REPEATED].contains(&s.0)) {
        let one = "solver.steps_per_frame=1";
        let more: &[&str] = match label {
            NEAREST => &[],
            PAPER => &[one],
            _ => &[one, &format!("solver.budget_ms={}", 1000 * BUDGET)],
        };
        let subject = subject(name, label, &[overrides, settings, more].concat(), threads)?;
        subjects.push(subject.begun_at(&start)?);
    }
    let effort = Effort { frames: frames.unwrap_or(FRAMES), samples: 0, patience: PATIENCE };
    let mut rows = measure(subjects, &effort);
    compare::add_ratios(&mut rows);
    let description = load(name, overrides)?.build()?;
    let limits = description.cloths().next().map(|cloth| (cloth.strain, cloth.bend)).unwrap_or_default();
    // In the order of the subjects.
    let [nearest, paper, repeated] = [0, 1, 2].map(|k| Cost::of(&rows[k]));
    let own = &rows[0];
    Ok(Measured {
        scene: name.into(),
        triangles: own.triangles,
        strain: table::limit(limits.0, 100.0, " %"),
        bend: table::limit(limits.1, 1.0, " °/cm"),
        faster_than_paper: own.faster_than_paper,
        faster_than_paper_repeated: own.faster_than_paper_repeated,
        nearest,
        paper,
        repeated,
    })
}

/// The state of the default scheme at which the comparison starts.
fn lead(scene: &LoadedScene, threads: usize) -> Result<Snapshot, Failure> {
    let world = fit::build_world(scene, threads, false)?;
    let (mut stepper, mut state) = (Stepper::new(&world, threads)?, State::new(&world));
    let progress = Share::new(false, "simulating preceding frames");
    for frame in 0..LEAD {
        stepper.advance_frame(&world, &mut state);
        progress.show(f64::from(frame + 1) / f64::from(LEAD));
    }
    progress.finish();
    Ok(state.snapshot(&world))
}

impl Cost {
    fn of(row: &Row) -> Self {
        Self {
            levels: row.level_sizes.len(),
            steps_per_frame: row.steps_per_frame,
            frames: row.frames,
            mean_ms: row.frame_ms.iter().sum::<f64>() / row.frame_ms.len().max(1) as f64,
            max_residual: row.max_residual,
            mean_residual: row.mean_residual,
            max_bend_excess: row.max_bend_excess,
            unconverged_frames: row.unconverged_frames,
        }
    }
}

/// The shell with the paper's variants, and with taut's default scheme.
fn figure_9(set: &[&str], frames: Option<u32>, threads: usize) -> Result<Vec<Way>, Failure> {
    let one = "solver.steps_per_frame=1";
    let serial = "solver.scheme=\"serial\"";
    let settings: [&[&str]; 4] = [
        &["solver.scheme=\"paper\"", one],
        &[serial, one, "solver.iterations=128"],
        &[serial, one, "solver.iterations=2048"],
        &[],
    ];
    let [a, b, c, d] = FIGURE_9;
    let ways = [a, b, c].map(|(way, seconds)| (way, Some(seconds))).into_iter();
    let ways = ways.chain([("taut's default scheme", None)]);
    let mut subjects = Vec::new();
    for ((way, _), settings) in ways.clone().zip(settings) {
        subjects.push(subject(SHELL, way, &[set, settings].concat(), threads)?);
    }
    let effort = Effort { frames: frames.unwrap_or(FRAMES_9), samples: 0, patience: PATIENCE };
    let rows = measure(subjects, &effort);
    let measured = ways.zip(&rows).map(|((way, published_seconds), row)| Way {
        way,
        published_seconds,
        measured: Some(Cost::of(row)),
    });
    let mut ways: Vec<Way> = measured.collect();
    ways.insert(3, Way { way: d.0, published_seconds: Some(d.1), measured: None });
    Ok(ways)
}

/// The noisy sheet, to a mean residual of 1 %.
fn figure_14(set: &[&str], threads: usize) -> Result<Races, Failure> {
    let [levels, finest] = FIGURE_14;
    let schemes = [PAPER, "serial", "sweep", "cycle", NEAREST];
    let found = convergence::measure(&convergence::Task {
        scene: "noisy-sheet",
        overrides: &compare::with(&[SIZE.into()], set),
        frame: Some(1),
        threads,
        schemes: &schemes,
        goal: Some(GOAL),
    })?;
    let race = |curve: &convergence::curve::Curve| {
        let there = curve.first(|point| point.residual.mean_residual <= GOAL);
        Race {
            scheme: curve.scheme,
            published: match curve.scheme {
                PAPER => Some(levels),
                "serial" => Some(finest),
                _ => None,
            },
            iterations: there.map(|point| point.iterations),
            ms: there.map(|point| point.ms),
        }
    };
    Ok(Races {
        triangles: found.triangles,
        start: found.prediction.mean_residual,
        races: found.curves.iter().map(race).collect(),
    })
}
