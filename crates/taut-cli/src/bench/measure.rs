//! One scene with one scheme, frame by frame.

use std::time::Instant;

use serde::Serialize;
use taut::{State, Stepper, World, certify, low_level::Snapshot};
use taut_io::{output::outcome::median_and_worst, scene::LoadedScene};

use super::resources::used;
use crate::{failure::Failure, fit};

/// A scene that is being measured.
pub struct Subject {
    scene: String,
    label: Option<String>,
    world: World,
    stepper: Stepper,
    state: State,
    setup_ms: f64,
    /// CPU time of each frame, of all threads \[ms\]; empty where the system does not report it.
    cpu_ms: Vec<f64>,
    /// Times of frames, and of their velocity update, limiting and rest \[ms\].
    times: [Vec<f64>; 4],
    iterations: u64,
    missed: Vec<usize>,
    strain: f64,
    residual: f64,
    means: Vec<f64>,
    bend: Option<f64>,
    errors: Vec<f64>,
}

/// Measurements of one scene with one scheme.
#[derive(Serialize)]
pub struct Row {
    /// Name of the scene.
    pub scene: String,
    /// The scheme in a comparison, or the value of a varied key.
    #[serde(rename = "scheme", skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    pub triangles: usize,
    /// Of soft bodies.
    #[serde(skip_serializing_if = "is_none")]
    pub tetrahedra: usize,
    pub threads: usize,
    /// Measured frames.
    pub frames: usize,
    pub steps_per_frame: u32,
    /// Vertices of each level that the scheme works on, finest first.
    pub level_sizes: Vec<usize>,
    pub median_ms: f64,
    pub worst_ms: f64,
    pub velocity_ms: f64,
    pub limit_ms: f64,
    pub position_ms: f64,
    pub frames_per_second: f64,
    /// Setup before the first frame: mesh, levels, tables, fitted limits.
    pub setup_ms: f64,
    /// Of all threads, over all frames.
    pub cpu_seconds: Option<f64>,
    /// Of all threads, of a frame.
    pub median_cpu_ms: Option<f64>,
    /// Peak memory of the process so far \[bytes\].
    pub peak_memory: Option<u64>,
    pub mean_iterations: f64,
    /// Frames with a step that did not converge: their number, and which, counted from 1.
    pub unconverged_frames: usize,
    pub missed: Vec<usize>,
    /// Largest principal strain of an element.
    pub max_strain: f64,
    pub max_residual: f64,
    pub mean_residual: f64,
    /// Largest excess past a bend limit \[degrees\].
    pub max_bend_excess: Option<f64>,
    /// Distance to the nearest state within the limits, divided by the distance of the prediction from that
    /// state, over the sampled frames.
    pub mean_mass_metric_error: Option<f64>,
    pub worst_mass_metric_error: Option<f64>,
    /// Time of `paper`, one pass, divided by that of this scheme, over the frames that both ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faster_than_paper: Option<f64>,
    /// The same of `paper` repeated until the tolerance is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faster_than_paper_repeated: Option<f64>,
    /// Exponent of time against the number of elements, relative to the previous row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<f64>,
    /// The same of CPU time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_growth: Option<f64>,
    #[serde(skip)]
    pub frame_ms: Vec<f64>,
}

impl Row {
    /// Triangles and tetrahedra.
    pub fn elements(&self) -> usize {
        self.triangles + self.tetrahedra
    }
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Subject {
    /// Sets up a scene.
    pub fn new(scene: &LoadedScene, label: Option<String>, threads: usize) -> Result<Self, Failure> {
        let begun = Instant::now();
        let world = fit::build_world(scene, threads, false)?;
        let stepper = Stepper::new(&world, threads)?;
        let state = State::new(&world);
        let has_bends = world.description().bodies.iter().any(|b| b.bend().is_some());
        Ok(Self {
            scene: scene.name.clone(),
            label,
            setup_ms: 1e3 * begun.elapsed().as_secs_f64(),
            bend: has_bends.then_some(0.0),
            world,
            stepper,
            state,
            cpu_ms: Vec::new(),
            times: Default::default(),
            iterations: 0,
            missed: Vec::new(),
            strain: 0.0,
            residual: 0.0,
            means: Vec::new(),
            errors: Vec::new(),
        })
    }

    /// The same, starting from the state of another scheme.
    pub fn begun_at(self, snapshot: &Snapshot) -> Result<Self, Failure> {
        Ok(Self { state: restore(&self.world, snapshot)?, ..self })
    }

    /// Time of its frames so far \[s\].
    pub fn seconds(&self) -> f64 {
        1e-3 * self.times[0].iter().sum::<f64>()
    }

    /// Advances by a frame and measures it; `sample` also measures the mass-metric error, which is slow.
    pub fn advance(&mut self, sample: bool) {
        let (cpu, begun) = (used().cpu_seconds, Instant::now());
        let report = self.stepper.advance_frame(&self.world, &mut self.state);
        let frame = 1e3 * begun.elapsed().as_secs_f64();
        self.cpu_ms.extend(used().cpu_seconds.zip(cpu).map(|(after, before)| 1e3 * (after - before)));
        let stages = [report.velocity_ms, report.limit_ms, report.position_ms].map(f64::from);
        for (series, value) in self.times.iter_mut().zip([frame, stages[0], stages[1], stages[2]]) {
            series.push(value);
        }
        self.iterations += u64::from(report.iterations);
        if !report.converged {
            self.missed.push(self.times[0].len());
        }
        for body in &certify(&self.world, &self.state).bodies {
            self.strain = self.strain.max(body.strain.max_stretch - 1.0);
            self.residual = self.residual.max(body.strain.max_residual).max(body.strain.max_edge_residual);
            self.means.push(body.strain.mean_residual);
            self.bend = self.bend.map(|bend| bend.max(body.bend.max_bend_excess));
        }
        if sample && self.has_reference() {
            self.errors.extend(self.stepper.mass_metric_error(&self.world, &self.state));
        }
    }

    /// Whether the reference supports all limits of the scene.
    fn has_reference(&self) -> bool {
        let description = self.world.description();
        description.obstacles.is_empty()
            && description.mesh_obstacles.is_empty()
            && description.bodies.iter().all(|b| !b.bend().is_some() && !b.edge().is_some())
    }

    /// The measurements.
    pub fn row(self) -> Row {
        let count = self.times[0].len();
        let [(median_ms, worst_ms), velocity, limit, position] =
            self.times.each_ref().map(|series| median_and_worst(series));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let seconds = self.seconds();
        let cpu = (!self.cpu_ms.is_empty()).then(|| median_and_worst(&self.cpu_ms).0);
        let [frame_ms, ..] = self.times;
        Row {
            scene: self.scene,
            label: self.label,
            triangles: self.world.triangle_count(),
            tetrahedra: self.world.tetrahedron_count(),
            threads: self.stepper.threads(),
            frames: count,
            steps_per_frame: self.world.steps_per_frame(),
            level_sizes: self.world.level_sizes(),
            median_ms,
            worst_ms,
            velocity_ms: velocity.0,
            limit_ms: limit.0,
            position_ms: position.0,
            frames_per_second: count as f64 / seconds.max(1e-9),
            setup_ms: self.setup_ms,
            cpu_seconds: cpu.map(|_| 1e-3 * self.cpu_ms.iter().sum::<f64>()),
            median_cpu_ms: cpu,
            peak_memory: used().peak_memory,
            mean_iterations: self.iterations as f64 / count.max(1) as f64,
            unconverged_frames: self.missed.len(),
            missed: self.missed,
            max_strain: self.strain,
            max_residual: self.residual,
            mean_residual: if self.means.is_empty() { 0.0 } else { mean(&self.means) },
            max_bend_excess: self.bend,
            mean_mass_metric_error: (!self.errors.is_empty()).then(|| mean(&self.errors)),
            worst_mass_metric_error: self.errors.iter().copied().reduce(f64::max),
            faster_than_paper: None,
            faster_than_paper_repeated: None,
            growth: None,
            cpu_growth: None,
            frame_ms,
        }
    }
}

/// A state of `world` at a snapshot of another scheme, without that scheme's warm start.
pub fn restore(world: &World, snapshot: &Snapshot) -> Result<State, Failure> {
    let mut snapshot = snapshot.clone();
    if snapshot.duals.len() != State::new(world).snapshot(world).duals.len() {
        snapshot.duals.clear();
    }
    // Other schemes have steps of one length.
    snapshot.is_alone &= world.schedule().alone.is_some();
    State::restore(world, &snapshot).ok_or_else(|| {
        Failure::input(
            format!("frame {} has non-finite values", snapshot.frame),
            "inspect the scene with taut check and taut run",
        )
    })
}
