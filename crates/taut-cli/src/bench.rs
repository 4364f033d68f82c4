//! `taut bench`: how long scenes take and how well limits are met, as tables and as JSON.
//!
//! Schemes are compared in the same run, on the same machine, and take turns frame by frame: only ratios of such figures mean
//! anything. Each has its own state, so that it lives with what its earlier frames came to.

mod measure;
mod resources;
mod table;

use std::process::ExitCode;

use taut_io::scene;

use crate::{args::BenchArgs, failure::Failure, progress::Share, terminal};
use measure::{Row, Subject};

/// What is compared: a label, and what to set.
const SCHEMES: [(&str, &[&str]); 7] = [
    ("sweep", &["solver.scheme=\"sweep\""]),
    ("serial", &["solver.scheme=\"serial\""]),
    ("jacobi", &["solver.scheme=\"jacobi\""]),
    ("nearest", &["solver.scheme=\"nearest\""]),
    ("cycle", &["solver.scheme=\"cycle\""]),
    (PAPER, &["solver.scheme=\"paper\""]),
    // One pass is what was published; this tells what the same residual takes.
    (REPEATED, &["solver.scheme=\"paper\"", "solver.passes=100", "solver.iterations=100000"]),
];
const PAPER: &str = "paper";
const REPEATED: &str = "paper, repeated";

/// Time that a scheme may take in a comparison before it sits out the remaining frames \[s\].
const PATIENCE: f64 = 60.0;

/// Frames of a comparison that are held against the nearest state, unless said otherwise.
const SAMPLES: u32 = 2;

/// Measures scenes.
pub fn bench(args: &BenchArgs) -> Result<ExitCode, Failure> {
    let mut scenes = args.scenes.clone();
    if scenes.is_empty() {
        scenes = scene::built_in().iter().map(|built_in| built_in.name.to_string()).collect();
    }
    let mut all = Vec::new();
    let mut text = String::new();
    if let Some(vary) = &args.vary {
        for scene in &scenes {
            let rows = vary_one(args, scene, vary)?;
            text += &headed(&rows, &format!("{vary}\n{}", table::tables(&rows, "value")));
            all.extend(rows);
        }
    } else if args.compare {
        for scene in &scenes {
            let rows = compare(args, scene)?;
            text += &headed(&rows, &table::tables(&rows, "scheme"));
            all.extend(rows);
        }
    } else {
        for scene in &scenes {
            let subject = Subject::new(scene, None, &args.set.set, args.threads.count())?;
            all.extend(measure(args, vec![subject]));
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

/// Tables under a line that says what they are of.
fn headed(rows: &[Row], tables: &str) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let steps = if row.steps_per_frame == 1 { "1 step" } else { &format!("{} steps", row.steps_per_frame) };
    let threads = if row.threads == 1 { "1 thread" } else { &format!("{} threads", row.threads) };
    format!("\n{}, {threads}, {steps} a frame\n{tables}", terminal::styled(terminal::BOLD, &row.scene))
}

/// Frames of all subjects, in turns.
fn measure(args: &BenchArgs, mut subjects: Vec<Subject>) -> Vec<Row> {
    let samples = args.faithfulness.unwrap_or(if args.compare { SAMPLES } else { 0 });
    let progress = Share::new(false, "measuring");
    let count = subjects.len();
    for frame in 0..args.frames {
        // Evenly over the frames: those in which their number, so far, goes up.
        let so_far = |frames: u32| u64::from(frames) * u64::from(samples) / u64::from(args.frames);
        let sample = so_far(frame + 1) > so_far(frame);
        for (k, subject) in subjects.iter_mut().enumerate() {
            if count == 1 || subject.seconds() < PATIENCE {
                subject.advance(sample);
            }
            let done = f64::from(frame) + (k + 1) as f64 / count as f64;
            progress.show(done / f64::from(args.frames));
        }
    }
    progress.finish();
    subjects.into_iter().map(Subject::row).collect()
}

/// All schemes on one scene, with the same number of steps a frame: the scene's own, or one, as published.
fn compare(args: &BenchArgs, name: &str) -> Result<Vec<Row>, Failure> {
    let mut shared = args.set.set.clone();
    if scene::load(name, &shared)?.build()?.solver.steps_per_frame == 0 {
        shared.push("solver.steps_per_frame=1".into());
    }
    let mut subjects = Vec::new();
    for (label, settings) in SCHEMES {
        let mut overrides = shared.clone();
        overrides.extend(settings.iter().map(ToString::to_string));
        subjects.push(Subject::new(name, Some(label.into()), &overrides, args.threads.count())?);
    }
    let mut rows = measure(args, subjects);
    for (base, repeated) in [(PAPER, false), (REPEATED, true)] {
        let base = rows.iter().find(|row| row.label.as_deref() == Some(base));
        let base = base.map_or(Vec::new(), |row| row.frame_ms.clone());
        for row in &mut rows {
            let frames = base.len().min(row.frame_ms.len());
            let [of_base, own] = [&base, &row.frame_ms].map(|times| times[..frames].iter().sum::<f64>());
            let ratio = (own > 0.0).then(|| of_base / own);
            if repeated {
                row.faster_than_paper_repeated = ratio;
            } else {
                row.faster_than_paper = ratio;
            }
        }
    }
    Ok(rows)
}

/// One scene with several values of one setting, one after the other.
fn vary_one(args: &BenchArgs, name: &str, vary: &str) -> Result<Vec<Row>, Failure> {
    let Some((key, values)) = vary.split_once('=') else {
        return Err(Failure::input(
            format!("--vary {vary}: no '=' in it"),
            "write KEY=VALUE;VALUE;VALUE, for instance 'cloth.sheet.strain.max=0.01;0.05'",
        ));
    };
    let mut rows: Vec<Row> = Vec::new();
    for value in values.split(';').map(str::trim) {
        let mut overrides = args.set.set.clone();
        overrides.push(format!("{key}={value}"));
        let subject = Subject::new(name, Some(value.into()), &overrides, args.threads.count())?;
        let mut found = measure(args, vec![subject]);
        for row in &mut found {
            if let Some(last) = rows.last() {
                let larger = row.triangles as f64 / last.triangles as f64;
                row.growth = growth(larger, row.median_ms / last.median_ms);
                let cpu = row.median_cpu_ms.zip(last.median_cpu_ms);
                row.cpu_growth = cpu.and_then(|(now, before)| growth(larger, now / before));
            }
        }
        rows.append(&mut found);
    }
    Ok(rows)
}

/// The power of `larger` that `slower` is.
fn growth(larger: f64, slower: f64) -> Option<f64> {
    let power = slower.ln() / larger.ln();
    power.is_finite().then_some(power)
}
