//! `taut bench --layers`: many layers of cloth on each other, the case of Offset Geometric Contact (Chen et
//! al. 2025) with 50 layers and 475K triangles.
//!
//! The paper's figures are quoted, not measured: its scene, material and machine are its own.

use std::{fmt::Write, path::Path, time::Instant};

use serde::Serialize;
use taut::{State, Stepper, World, measure::Certifier};
use taut_io::{output::outcome::median_and_worst, scene};

use super::resources::used;
use crate::{args::BenchArgs, failure::Failure, progress::Share, terminal};

/// Measured frames, by default: the pile is at rest in the last third of them.
const FRAMES: u32 = 30;

/// Length of the sides of a sheet \[m\].
const SIDE: f64 = 0.5;

/// Cells along each side of a sheet by default.
const CELLS: u32 = 69;

/// Published times of a step of 50 layers, 475K triangles \[s\]: on a processor, and on a graphics card.
const PUBLISHED: [f64; 2] = [0.21, 0.0063];

/// Measurements of a pile.
#[derive(Serialize)]
struct Report {
    layers: u32,
    triangles: usize,
    threads: usize,
    frames: usize,
    steps_per_frame: u32,
    /// Of a frame \[ms\]: median and largest.
    median_ms: f64,
    worst_ms: f64,
    /// Median of a step \[ms\].
    step_ms: f64,
    /// CPU time of all threads, of all frames \[s\].
    cpu_seconds: Option<f64>,
    /// Peak memory of the process \[bytes\].
    peak_memory: Option<u64>,
    mean_iterations: f64,
    unconverged_frames: usize,
    /// Frames with intersections, and the smallest gap between layers \[m\].
    intersecting_frames: usize,
    smallest_gap: Option<f64>,
    max_residual: f64,
    tolerance: f32,
    /// Times of the paper for a step of 50 layers, 475K triangles \[s\].
    published_step_seconds: [f64; 2],
}

/// Sheets above each other, turned by different angles, that fall on a ball on the floor.
fn pile(layers: u32, cells: u32) -> String {
    let thickness = 0.25 * SIDE / f64::from(cells);
    let apart = 1.5 * thickness + 0.003;
    let mut text = format!(
        "[scene]\ndescription = \"{layers} layers.\"\nframes = {FRAMES}\n[contact]\nthickness = {thickness:.6}\n"
    );
    for k in 0..layers {
        // Angles that differ from all before them: multiples of the golden section.
        let turn = 80.0 * ((0.618_034 * f64::from(k)).fract() - 0.5);
        let (sine, cosine) = turn.to_radians().sin_cos();
        let [x, z] = [-0.5 * SIDE * (cosine + sine), -0.5 * SIDE * (cosine - sine)];
        let y = 0.125 + apart * f64::from(k);
        let _ = write!(
            text,
            "[[cloth]]\nname = \"layer-{}\"\nmesh = {{ grid = {{ size = [{SIDE}, {SIDE}], cells = [{cells}, {cells}] }} }}\n\
             transform = {{ translate = [{x:.5}, {y:.5}, {z:.5}], rotate = [0.0, {turn:.3}, 0.0] }}\nstrain = {{ max = 0.05 }}\n",
            k + 1
        );
    }
    text + "[[obstacle]]\nname = \"ball\"\nshape = { sphere = { center = [0.0, 0.06, 0.0], radius = 0.06 } }\n\
            [[obstacle]]\nname = \"floor\"\nshape = { plane = { normal = [0.0, 1.0, 0.0] } }\n"
}

/// Measures a pile of so many layers.
pub fn layers(args: &BenchArgs, layers: u32) -> Result<(), Failure> {
    let text = pile(layers, args.cells.unwrap_or(CELLS));
    let description = scene::parse(&text, "layers", Path::new("."), &args.set.set)?.build()?;
    let tolerance = description.solver.tolerance.past();
    let world = World::new(description)?;
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, args.threads.count())?);
    let mut certifier = Certifier::new(&world, args.threads.count())?;
    let (frames, progress) = (args.frames.unwrap_or(FRAMES), Share::new(false, "measuring"));
    let (mut times, mut cpu, mut iterations) = (Vec::new(), 0.0, 0u64);
    let (mut unconverged, mut intersecting, mut residual) = (0, 0, 0.0f64);
    let mut smallest_gap: Option<f64> = None;
    for frame in 1..=frames {
        let (before, begun) = (used().cpu_seconds, Instant::now());
        let report = stepper.advance_frame(&world, &mut state);
        times.push(1e3 * begun.elapsed().as_secs_f64());
        cpu += used().cpu_seconds.zip(before).map_or(f64::NAN, |(after, before)| after - before);
        iterations += u64::from(report.iterations);
        unconverged += usize::from(!report.converged);
        let certificate = certifier.certify(&world, &state);
        for body in &certificate.bodies {
            residual = residual.max(body.strain.max_residual);
        }
        if let Some(contact) = certificate.contact {
            intersecting += usize::from(contact.intersections > 0);
            smallest_gap = smallest_gap.into_iter().chain(contact.smallest_gap).reduce(f64::min);
        }
        progress.show(f64::from(frame) / f64::from(frames));
    }
    progress.finish();
    let (median_ms, worst_ms) = median_and_worst(&times);
    let report = Report {
        layers,
        triangles: world.triangle_count(),
        threads: stepper.threads(),
        frames: times.len(),
        steps_per_frame: world.steps_per_frame(),
        median_ms,
        worst_ms,
        step_ms: median_ms / f64::from(world.steps_per_frame()),
        cpu_seconds: Some(cpu).filter(|cpu| cpu.is_finite()),
        peak_memory: used().peak_memory,
        mean_iterations: iterations as f64 / times.len().max(1) as f64,
        unconverged_frames: unconverged,
        intersecting_frames: intersecting,
        smallest_gap,
        max_residual: residual,
        tolerance,
        published_step_seconds: PUBLISHED,
    };
    if args.json {
        terminal::print_json(&report)?
    } else {
        terminal::print(&report.text())?
    }
    Ok(())
}

impl Report {
    fn text(&self) -> String {
        let how = super::terms(self.threads, self.steps_per_frame);
        let memory = self.peak_memory.map_or(String::new(), |bytes| {
            let each = bytes as f64 / self.triangles.max(1) as f64;
            format!("  memory       {:.0} MB, {each:.0} bytes per triangle\n", 1e-6 * bytes as f64)
        });
        let cpu = self.cpu_seconds.map_or(String::new(), |cpu| {
            format!("  CPU time     {:.2} s per frame, of all threads\n", cpu / self.frames.max(1) as f64)
        });
        let gap =
            self.smallest_gap.map_or(String::new(), |gap| format!(", smallest gap {:.3} mm", 1e3 * gap));
        format!(
            "{} layers, {} triangles, {} frames, {how}\n\
             \x20 time         median {:.2} s per frame, worst {:.2} s; {:.2} s per step\n{cpu}{memory}\
             \x20 iterations   {:.0} per frame; {} frames had a step that did not converge\n\
             \x20 residual     largest {:.5}, tolerance {}\n\
             \x20 contact      {} frames with intersections{gap}\n\
             \x20 published    {} s per step of 50 layers, 475K triangles, on a CPU, {} s on a GPU (Offset Geometric\n\
             \x20              Contact, Chen et al. 2025). Not the same scene, material or machine; a step of taut\n\
             \x20              ends when limits hold and nothing intersects\n",
            self.layers,
            self.triangles,
            self.frames,
            1e-3 * self.median_ms,
            1e-3 * self.worst_ms,
            1e-3 * self.step_ms,
            self.mean_iterations,
            self.unconverged_frames,
            self.max_residual,
            self.tolerance,
            self.intersecting_frames,
            self.published_step_seconds[0],
            self.published_step_seconds[1],
        )
    }
}
