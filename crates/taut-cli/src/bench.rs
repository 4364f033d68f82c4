//! `taut bench`: how long scenes take and how well limits are met, as a table and as JSON.
//!
//! Schemes are compared in the same run, on the same machine, one after the other: only ratios of such figures mean
//! anything.

use std::{process::ExitCode, time::Instant};

use serde::Serialize;
use taut::{State, Stepper, certify};
use taut_io::{output::outcome::median_and_worst, scene};

use crate::{args::BenchArgs, failure::Failure, fit, terminal};

/// What is compared: a label, and what to set.
const SCHEMES: [(&str, &[&str]); 7] = [
    ("sweep", &["solver.scheme=\"sweep\""]),
    ("serial", &["solver.scheme=\"serial\""]),
    ("jacobi", &["solver.scheme=\"jacobi\""]),
    ("nearest", &["solver.scheme=\"nearest\""]),
    ("cycle", &["solver.scheme=\"cycle\""]),
    ("paper", &["solver.scheme=\"paper\""]),
    // One pass is what was published; this tells what the same residual takes.
    ("paper, repeated", &["solver.scheme=\"paper\"", "solver.passes=100", "solver.iterations=100000"]),
];

/// What was measured of one scene with one scheme.
#[derive(Serialize)]
struct Row {
    scene: String,
    scheme: Option<&'static str>,
    triangles: usize,
    threads: usize,
    frames: u32,
    median_ms: f64,
    worst_ms: f64,
    velocity_ms: f64,
    limit_ms: f64,
    position_ms: f64,
    frames_per_second: f64,
    mean_iterations: f64,
    unconverged_frames: u32,
    max_residual: f64,
    mean_residual: f64,
    /// Median time over that of the first scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ratio: Option<f64>,
    /// Largest residual over that of the first scheme.
    #[serde(skip_serializing_if = "Option::is_none")]
    residual_ratio: Option<f64>,
}

/// Measures scenes.
pub fn bench(args: &BenchArgs) -> Result<ExitCode, Failure> {
    let mut scenes = args.scenes.clone();
    if scenes.is_empty() {
        scenes = scene::built_in().iter().map(|built_in| built_in.name.to_string()).collect();
    }
    let mut rows: Vec<Row> = Vec::new();
    for scene in &scenes {
        if !args.compare {
            rows.push(measure(args, scene, None, &[])?);
            continue;
        }
        let first = rows.len();
        for (scheme, settings) in SCHEMES {
            let mut row = measure(args, scene, Some(scheme), settings)?;
            let base = rows.get(first).unwrap_or(&row);
            let ratio = |value: f64, base: f64| (base > 0.0).then(|| value / base);
            let ratios = (ratio(row.median_ms, base.median_ms), ratio(row.max_residual, base.max_residual));
            (row.time_ratio, row.residual_ratio) = ratios;
            rows.push(row);
        }
    }
    if args.json {
        terminal::print_json(&rows)?
    } else {
        terminal::print(&table(&rows, args.compare))?
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(
    args: &BenchArgs,
    name: &str,
    scheme: Option<&'static str>,
    settings: &[&str],
) -> Result<Row, Failure> {
    let mut overrides = args.set.set.clone();
    overrides.push(format!("scene.frames={}", args.frames));
    overrides.extend(settings.iter().map(ToString::to_string));
    let scene = scene::load(name, &overrides)?;
    let world = fit::build_world(&scene, args.threads.count(), false)?;
    let threads = args.threads.count();
    let mut stepper = Stepper::new(&world, threads)?;
    let mut state = State::new(&world);
    let mut times: [Vec<f64>; 4] = Default::default();
    let (mut iterations, mut unconverged, mut largest, mut mean, mut means) = (0u64, 0, 0.0f64, 0.0, 0.0);
    for _ in 0..args.frames {
        let before = Instant::now();
        let report = stepper.advance_frame(&world, &mut state);
        let frame_ms = before.elapsed().as_secs_f64() * 1e3;
        let stages = [report.velocity_ms, report.limit_ms, report.position_ms].map(f64::from);
        for (series, value) in times.iter_mut().zip([frame_ms, stages[0], stages[1], stages[2]]) {
            series.push(value);
        }
        iterations += u64::from(report.iterations);
        unconverged += u32::from(!report.converged);
        for body in &certify(&world, &state).bodies {
            largest = largest.max(body.strain.max_residual).max(body.strain.max_edge_residual);
            mean += body.strain.mean_residual;
            means += 1.0;
        }
    }
    let [(median_ms, worst_ms), velocity, limit, position] =
        times.each_ref().map(|series| median_and_worst(series));
    Ok(Row {
        scene: scene.name.clone(),
        scheme,
        triangles: world.description().cloths.iter().map(|cloth| cloth.mesh.triangles.len()).sum(),
        threads,
        frames: args.frames,
        median_ms,
        worst_ms,
        velocity_ms: velocity.0,
        limit_ms: limit.0,
        position_ms: position.0,
        frames_per_second: 1e3 * f64::from(args.frames) / times[0].iter().sum::<f64>().max(1e-9),
        mean_iterations: iterations as f64 / f64::from(args.frames),
        unconverged_frames: unconverged,
        max_residual: largest,
        mean_residual: if means > 0.0 { mean / means } else { 0.0 },
        time_ratio: None,
        residual_ratio: None,
    })
}

fn table(rows: &[Row], compare: bool) -> String {
    let heading = [
        "scene",
        "triangles",
        "threads",
        "median ms",
        "worst ms",
        "velocity",
        "limit",
        "rest",
        "frames/s",
        "iterations",
        "unconverged",
        "max residual",
        "mean residual",
    ];
    let mut lines = vec![heading.map(String::from).to_vec()];
    if compare {
        lines[0].extend(["time ratio", "residual ratio"].map(String::from));
    }
    for row in rows {
        let name = row.scheme.map_or(row.scene.clone(), |scheme| format!("{} ({scheme})", row.scene));
        let mut line = vec![
            name,
            row.triangles.to_string(),
            row.threads.to_string(),
            format!("{:.2}", row.median_ms),
            format!("{:.2}", row.worst_ms),
            format!("{:.2}", row.velocity_ms),
            format!("{:.2}", row.limit_ms),
            format!("{:.2}", row.position_ms),
            format!("{:.1}", row.frames_per_second),
            format!("{:.1}", row.mean_iterations),
            row.unconverged_frames.to_string(),
            format!("{:.5}", row.max_residual),
            format!("{:.7}", row.mean_residual),
        ];
        if compare {
            line.extend(
                [row.time_ratio, row.residual_ratio].map(|r| r.map_or("-".into(), |r| format!("{r:.2}"))),
            );
        }
        lines.push(line);
    }
    terminal::table(&lines)
}
