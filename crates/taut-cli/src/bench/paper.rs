//! `taut bench --paper`: published results of the main paper next to taut's, for every row of its Table 1.
//!
//! [`published`] quotes; everything else is measured here. taut's default scheme and the published method,
//! one pass and repeated until the tolerance is met, alternate frame by frame, so that their ratio is
//! meaningful on any machine; published seconds are from the authors' machine. They start from the state of
//! the default scheme after a few frames, when limits are active. The published method takes one step per
//! frame, with the levels and iterations of the row, as published; the default scheme takes as many as the
//! scene or taut chooses.
//!
//! The variants of figure 9 run as schemes of one scene; figure 14 is a [convergence](super::convergence)
//! that ends at its goal. Figure 12 (a chain in MATLAB) is compared in the book's `chain.rs`, 13 (no numbers
//! given) in the engine's tests `paper_figure_13.rs` and `paper_figure_13_solid.rs`.

mod published;
mod table;

use std::process::ExitCode;

use serde::Serialize;
use taut::{Limit, State, Stepper, low_level::Snapshot};
use taut_io::scene::{self, LoadedScene};

use super::{
    Effort, NEAREST, PAPER, REPEATED, SCHEMES, compare, convergence, measure,
    measure::{Row, Subject},
};
use crate::{args, args::BenchArgs, failure::Failure, fit, progress::Share, terminal};
use published::{Example, FIGURE_9, FIGURE_14, SOURCE, TABLE_1};

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

/// The tolerance of the comparison: past the limits, as published results are measured.
const PAST: &str = "solver.tolerance={past=0.01}";

/// The scene of figure 9.
const DUCK: &str = "duck";
/// Material of its variant without limits, which must keep its shape by its stiffness.
const STIFF: &str = "cloth.duck.material={base=\"polyester\",stretch=4000,poisson=0.3,bend=0.004}";
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
}

impl Pair {
    /// Mean time of a frame of the default scheme, over its scenes \[s\].
    fn own_seconds(&self) -> f64 {
        let sum: f64 = self.measured.iter().map(|m| m.nearest.mean_ms).sum();
        1e-3 * sum / self.measured.len().max(1) as f64
    }
}

/// A scene of taut: its default scheme against the published method.
#[derive(Serialize)]
struct Measured {
    scene: String,
    /// Triangles, or tetrahedra of soft bodies.
    elements: usize,
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
    /// Largest principal strain.
    max_strain: f64,
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
    measured: Cost,
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
    let is_asked = |row: &Example| args.example.is_empty() || args.example.contains(&row.row);
    for published in TABLE_1.into_iter().filter(is_asked) {
        let mut measured = Vec::new();
        for scene in scenes_of(published.row) {
            measured.push(measure_scene(&published, scene, &set, args.frames, threads)?);
        }
        table_1.push(Pair { published, measured });
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

/// A scene of taut for a row of Table 1.
struct Scene {
    name: &'static str,
    overrides: &'static [&'static str],
    /// Frames that the default scheme simulates before the comparison: published times too are of the active
    /// part.
    lead: u32,
}

/// Scenes of taut for a row of Table 1, of about the published size.
fn scenes_of(row: args::Example) -> &'static [Scene] {
    match row {
        // Sheets of 12.8K triangles: the pair of figure 7, and one that just hangs.
        args::Example::Cloth => &[
            Scene { name: "bend-loose", overrides: &[SIZE], lead: 6 },
            Scene { name: "bend-tight", overrides: &[SIZE], lead: 6 },
            Scene { name: "hanging-sheet", overrides: &["cloth.sheet.strain.min=-0.05", SIZE], lead: 6 },
        ],
        args::Example::Bunny => {
            &[Scene { name: "bunny", overrides: &["cloth.bunny.mesh.bunny.triangles=58800"], lead: 6 }]
        }
        args::Example::Shirt => &[Scene { name: "shirt", overrides: &[], lead: 6 }],
        // Before the roller reaches its head, whose horns it crushes.
        args::Example::DragonHollow => &[Scene {
            name: "dragon-roller-shell",
            overrides: &["cloth.creature.bend={min=-3,max=3}"],
            lead: 8,
        }],
        args::Example::DragonSolid => &[Scene { name: "dragon-roller", overrides: &[], lead: 18 }],
        args::Example::Tori => &[Scene { name: "tori", overrides: &[], lead: 10 }],
        args::Example::Duck => &[Scene { name: DUCK, overrides: &[], lead: 6 }],
    }
}

fn load(name: &str, overrides: &[&str]) -> Result<LoadedScene, Failure> {
    Ok(scene::load(name, &compare::with(&[], overrides))?)
}

/// A scene with overrides, as a subject under a label.
fn subject(name: &str, label: &str, overrides: &[&str], threads: usize) -> Result<Subject, Failure> {
    Subject::new(&load(name, overrides)?, Some(label.into()), threads)
}

fn measure_scene(
    published: &Example,
    scene: &Scene,
    set: &[&str],
    frames: Option<u32>,
    threads: usize,
) -> Result<Measured, Failure> {
    let (name, overrides) = (scene.name, &[scene.overrides, &[PAST], set].concat()[..]);
    let start = lead(&load(name, overrides)?, scene.lead, threads)?;
    let one = "solver.steps_per_frame=1";
    let levels = format!("solver.levels={}", published.levels);
    let iterations = format!("solver.level_iterations={}", published.iterations_per_level);
    let budget = format!("solver.budget_ms={}", 1000 * BUDGET);
    let mut subjects = Vec::new();
    for (label, settings) in SCHEMES.into_iter().filter(|s| [NEAREST, PAPER, REPEATED].contains(&s.0)) {
        let more: &[&str] = match label {
            NEAREST => &[],
            PAPER => &[one, &levels, &iterations],
            _ => &[one, &levels, &iterations, &budget],
        };
        let subject = subject(name, label, &[overrides, settings, more].concat(), threads)?;
        subjects.push(subject.begun_at(&start)?);
    }
    let effort = Effort { frames: frames.unwrap_or(FRAMES), samples: 0, patience: PATIENCE };
    let mut rows = measure(subjects, &effort);
    compare::add_ratios(&mut rows);
    let description = load(name, overrides)?.build()?;
    let of_cloth = description.cloths().next().map(|cloth| (cloth.strain, cloth.bend));
    let of_solid = description.solids().next().map(|solid| (solid.strain, Limit::default()));
    let limits = of_cloth.or(of_solid).unwrap_or_default();
    // In the order of the subjects.
    let [nearest, paper, repeated] = [0, 1, 2].map(|k| Cost::of(&rows[k]));
    let own = &rows[0];
    Ok(Measured {
        scene: name.into(),
        elements: if own.tetrahedra > 0 { own.tetrahedra } else { own.triangles },
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
fn lead(scene: &LoadedScene, frames: u32, threads: usize) -> Result<Snapshot, Failure> {
    let world = fit::build_world(scene, threads, false)?;
    let (mut stepper, mut state) = (Stepper::new(&world, threads)?, State::new(&world));
    let progress = Share::new(false, "simulating preceding frames");
    for frame in 0..frames {
        stepper.advance_frame(&world, &mut state);
        progress.show(f64::from(frame + 1) / f64::from(frames));
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
            max_strain: row.max_strain,
            max_residual: row.max_residual,
            mean_residual: row.mean_residual,
            max_bend_excess: row.max_bend_excess,
            unconverged_frames: row.unconverged_frames,
        }
    }
}

/// The duck with the paper's variants, and with taut's default scheme.
fn figure_9(set: &[&str], frames: Option<u32>, threads: usize) -> Result<Vec<Way>, Failure> {
    let one = "solver.steps_per_frame=1";
    let serial = "solver.scheme=\"serial\"";
    let settings: [&[&str]; 5] = [
        &["solver.scheme=\"paper\"", one],
        &[serial, one, "solver.iterations=128"],
        &[serial, one, "solver.iterations=2048"],
        &["solver.steps_per_frame=100", "cloth.duck.strain={}", "cloth.duck.bend={}", STIFF],
        &[],
    ];
    let ways = FIGURE_9.map(|(way, seconds)| (way, Some(seconds))).into_iter();
    let ways = ways.chain([("taut's default scheme", None)]);
    let mut subjects = Vec::new();
    for ((way, _), settings) in ways.clone().zip(settings) {
        subjects.push(subject(DUCK, way, &[set, settings].concat(), threads)?);
    }
    let effort = Effort { frames: frames.unwrap_or(FRAMES_9), samples: 0, patience: PATIENCE };
    let rows = measure(subjects, &effort);
    let measured = ways.zip(&rows).map(|((way, published_seconds), row)| Way {
        way,
        published_seconds,
        measured: Cost::of(row),
    });
    Ok(measured.collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_scenes_of_its_size_that_take_its_levels() {
        for row in TABLE_1 {
            let scenes = scenes_of(row.row);
            assert!(!scenes.is_empty(), "{}", row.example);
            for scene in scenes {
                let levels = format!("solver.levels={}", row.levels);
                let iterations = format!("solver.level_iterations={}", row.iterations_per_level);
                let paper = ["solver.scheme=\"paper\"", &levels, &iterations, "solver.fit=bounds"];
                let loaded = load(scene.name, &[scene.overrides, &paper].concat()).unwrap();
                let solver = loaded.build().unwrap().solver;
                assert_eq!([solver.levels, solver.level_iterations], [row.levels, row.iterations_per_level]);
            }
        }
    }
}
