//! `taut bench`: simulation time and residuals of scenes, as tables and as JSON. One file per mode.
//!
//! Schemes are compared in the same run, on the same machine, and alternate frame by frame: only ratios of
//! such figures are meaningful. Each scheme has its own state and continues from its own earlier frames.

mod compare;
mod convergence;
mod energy;
mod layers;
mod measure;
mod paper;
mod resources;
mod table;
mod vary;

use std::process::ExitCode;

use taut_io::scene;

use crate::{args::BenchArgs, failure::Failure, progress::Share, terminal};
use measure::{Row, Subject};

/// The compared schemes: label and overrides.
const SCHEMES: [(&str, &[&str]); 7] = [
    ("sweep", &["solver.scheme=\"sweep\""]),
    ("serial", &["solver.scheme=\"serial\""]),
    ("jacobi", &["solver.scheme=\"jacobi\""]),
    (NEAREST, &["solver.scheme=\"nearest\""]),
    ("cycle", &["solver.scheme=\"cycle\""]),
    (PAPER, &["solver.scheme=\"paper\""]),
    // One pass is the published method; this measures the time to reach the same residual.
    (REPEATED, &["solver.scheme=\"paper\"", "solver.passes=100", "solver.iterations=100000"]),
];
const NEAREST: &str = "nearest";
const PAPER: &str = "paper";
const REPEATED: &str = "paper, repeated";

/// Measured frames, by default.
const FRAMES: u32 = 30;

/// Frames of a comparison in which the mass-metric error is measured, by default.
const SAMPLES: u32 = 2;

/// Measures scenes.
pub fn bench(args: &BenchArgs) -> Result<ExitCode, Failure> {
    if args.convergence {
        return convergence::convergence(args);
    }
    if args.paper {
        return paper::paper(args);
    }
    // The parser does not require what conflicts with scenes.
    if args.cells.is_some() && args.layers.is_none() {
        return Err(Failure::input("--cells is for --layers", "taut bench --layers 50 --cells 69"));
    }
    if let Some(layers) = args.layers {
        layers::layers(args, layers)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut scenes = args.scenes.clone();
    if scenes.is_empty() {
        scenes = scene::built_in().iter().map(|built_in| built_in.name.to_string()).collect();
    }
    if args.energy {
        let reports =
            scenes.iter().map(|scene| energy::follow(args, scene)).collect::<Result<Vec<_>, _>>()?;
        if args.json {
            terminal::print_json(&reports)?;
        } else {
            let text: String = reports.iter().map(energy::Report::text).collect();
            terminal::print(text.trim_start_matches('\n'))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Vec::new();
    let mut text = String::new();
    if let Some(vary) = &args.vary {
        for scene in &scenes {
            let rows = vary::vary(args, scene, vary)?;
            text += &headed(&rows, &format!("{vary}\n{}", table::tables(&rows, "value")));
            all.extend(rows);
        }
    } else if args.compare {
        for scene in &scenes {
            let rows = compare::compare(args, scene)?;
            text += &headed(&rows, &table::tables(&rows, "scheme"));
            all.extend(rows);
        }
    } else {
        for scene in &scenes {
            let subject = Subject::new(&scene::load(scene, &args.set.set)?, None, args.threads.count())?;
            all.extend(measure(vec![subject], &effort(args)));
        }
        text = table::tables(&all, "scene");
    }
    if args.json {
        terminal::print_json(&all)?
    } else {
        terminal::print(text.trim_start_matches('\n'))?
    }
    Ok(ExitCode::SUCCESS)
}

/// Tables under a heading.
fn headed(rows: &[Row], tables: &str) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let how = terms(row.threads, row.steps_per_frame);
    format!("\n{}, {how}\n{tables}", terminal::styled(terminal::BOLD, &row.scene))
}

/// Number of threads and of steps per frame, as text.
fn terms(threads: usize, steps: u32) -> String {
    let steps = if steps == 1 { "1 step" } else { &format!("{steps} steps") };
    let threads = if threads == 1 { "1 thread" } else { &format!("{threads} threads") };
    format!("{threads}, {steps} per frame")
}

/// Amount of work to measure.
struct Effort {
    frames: u32,
    /// Frames in which the mass-metric error is measured.
    samples: u32,
    /// Time after which a scheme skips the remaining frames of a comparison \[s\].
    patience: f64,
}

/// The amount of work that the arguments request.
fn effort(args: &BenchArgs) -> Effort {
    let samples = args.faithfulness.unwrap_or(if args.compare { SAMPLES } else { 0 });
    Effort { frames: args.frames.unwrap_or(FRAMES), samples, patience: compare::PATIENCE }
}

/// Runs the frames of all subjects, alternating.
fn measure(mut subjects: Vec<Subject>, effort: &Effort) -> Vec<Row> {
    let progress = Share::new(false, "measuring");
    let &Effort { frames, samples, patience } = effort;
    let count = subjects.len();
    for frame in 0..frames {
        // Samples are spread evenly over the frames.
        let so_far = |frame: u32| u64::from(frame) * u64::from(samples) / u64::from(frames);
        let sample = so_far(frame + 1) > so_far(frame);
        for (k, subject) in subjects.iter_mut().enumerate() {
            if count == 1 || subject.seconds() < patience {
                subject.advance(sample);
            }
            let done = f64::from(frame) + (k + 1) as f64 / count as f64;
            progress.show(done / f64::from(frames));
        }
    }
    progress.finish();
    subjects.into_iter().map(Subject::row).collect()
}
