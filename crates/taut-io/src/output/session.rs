//! A run from its first frame to its outcome: what `taut run` and the Python package do around the frames.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use taut::{Description, Simulation, SimulationError, World, low_level::LaneKind};

use super::{
    OutputError,
    folder::{holds_run, read_manifest},
    layout::Layout,
    metrics::FrameLine,
    outcome::{Outcome, Status},
    recorder::{Recorder, body_sizes},
    resume,
};
use crate::{
    Problem, Problems,
    scene::{self, LoadedScene},
};

/// A run, ready to simulate its next frame.
#[derive(Debug)]
pub struct Session {
    root: PathBuf,
    scene: LoadedScene,
    recorder: Recorder,
    simulation: Simulation,
    threads: usize,
    started: Instant,
}

/// How the frames ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All of them are there.
    Complete,
    /// Somebody stopped them.
    Interrupted,
    /// They could not be written, for this reason.
    CannotWrite(String),
}

/// Why a run could not be begun or resumed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The scene or the folder is not what it should be.
    #[error("{0}")]
    Input(Problems),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(OutputError),
    /// Its first frame could not be written.
    #[error(transparent)]
    Write(OutputError),
    /// The engine refuses it.
    #[error(transparent)]
    Engine(Box<SimulationError>),
}

impl From<SimulationError> for SessionError {
    fn from(error: SimulationError) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl From<Problems> for SessionError {
    fn from(problems: Problems) -> Self {
        Self::Input(problems)
    }
}

/// A run that is begun.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Its folder.
    pub root: &'a Path,
    /// Whether an earlier run there is replaced.
    pub force: bool,
    /// Threads of the engine (0: one per core).
    pub threads: usize,
}

impl Session {
    /// Begins a run of `scene`, whose engine is `world`, and writes frame 0.
    ///
    /// # Errors
    /// If the folder may not be used, or a write fails.
    pub fn create(start: Start, scene: LoadedScene, world: World) -> Result<Self, SessionError> {
        let Start { root, force, threads } = start;
        let identity = resume::identity(&scene, root);
        let recorder = Recorder::create(root, force, &scene, &identity, &world, threads)
            .map_err(SessionError::Folder)?;
        let simulation = Simulation::resume(world, None, threads)?;
        let started = Instant::now();
        let mut session = Self { root: root.into(), scene, recorder, simulation, threads, started };
        session.record_start()?;
        Ok(session)
    }

    /// The scene of the run in `root`, to be resumed with [`Session::resume`]: up to `frames` frames, or as
    /// many as it wanted.
    ///
    /// # Errors
    /// If there is no run, or its scene cannot be read.
    pub fn stored_scene(root: &Path, frames: Option<i64>) -> Result<LoadedScene, SessionError> {
        let stored = Layout::new(root).scene();
        if !holds_run(root) || !stored.is_file() {
            let message = format!("no resumable run in {}", root.display());
            return Err(Problems::from(Problem { message, ..Problem::default() }).into());
        }
        let stored = stored.to_string_lossy().into_owned();
        let mut scene = scene::load(&stored, &[])?;
        if let Some(frames) = frames.filter(|frames| *frames != i64::from(scene.frames)) {
            scene = scene::load(&stored, &[format!("scene.frames={frames}")])?;
        }
        // The stored file is called scene.toml, so its name is not the scene's.
        scene.name = read_manifest(root).map_err(SessionError::Folder)?.scene;
        Ok(scene)
    }

    /// Goes on with the run in `root`, whose [scene](Session::stored_scene) makes `world`. Also gives what a
    /// user should be told: damaged checkpoints, missing frames.
    ///
    /// # Errors
    /// If it cannot be resumed, or a write fails.
    pub fn resume(
        root: &Path,
        scene: LoadedScene,
        world: World,
        threads: usize,
    ) -> Result<(Self, Vec<String>), SessionError> {
        let identity = resume::stored_identity(root)?;
        let resumed =
            resume::resume(root, &scene, &identity, &world, threads).map_err(SessionError::Folder)?;
        let fresh = resumed.state.is_none();
        let simulation = Simulation::resume(resumed.torn.unwrap_or(world), resumed.state, threads)?;
        let (root, started) = (root.into(), Instant::now());
        let mut session = Self { root, scene, recorder: resumed.recorder, simulation, threads, started };
        if fresh {
            session.record_start()?;
        }
        Ok((session, resumed.warnings))
    }

    fn record_start(&mut self) -> Result<(), SessionError> {
        let recorded = self.recorder.record(self.simulation.world(), self.simulation.state(), None, 0.0);
        recorded.map(drop).map_err(SessionError::Write)
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its scene.
    pub fn scene(&self) -> &LoadedScene {
        &self.scene
    }

    /// The engine.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// What is simulated.
    pub fn description(&self) -> &Description {
        self.simulation.description()
    }

    /// Whether a frame is left.
    pub fn has_next(&self) -> bool {
        self.simulation.frame() < self.scene.frames
    }

    /// Simulates the next frame, and writes it.
    ///
    /// # Errors
    /// A write error, for example a full disk. All earlier frames are complete.
    pub fn advance(&mut self) -> Result<FrameLine, OutputError> {
        let before = Instant::now();
        let report = self.simulation.step_frame();
        let frame_ms = before.elapsed().as_secs_f64() * 1e3;
        self.recorder.record(self.simulation.world(), self.simulation.state(), Some(&report), frame_ms)
    }

    /// Writes a checkpoint now.
    ///
    /// # Errors
    /// A write error.
    pub fn save(&mut self) -> Result<(), OutputError> {
        self.recorder.save_checkpoint(self.simulation.world(), self.simulation.state())
    }

    /// What the run came to if it ends like that.
    pub fn outcome(&self, end: &End) -> Outcome {
        let (status, reason, unmet) = self.judge(end);
        Outcome {
            status,
            reason,
            unmet,
            scene: self.scene.name.clone(),
            frames: self.recorder.tally().frames(),
            frames_wanted: self.scene.frames,
            bodies: body_sizes(self.simulation.world()),
            figures: self.recorder.tally().figures(),
            wall_seconds: self.started.elapsed().as_secs_f64(),
            taut: env!("CARGO_PKG_VERSION").into(),
            threads: self.threads,
            lanes: LaneKind::detect().name().into(),
        }
    }

    /// Writes the outcome.
    ///
    /// # Errors
    /// A write error.
    pub fn finish(&self, outcome: &Outcome) -> Result<(), OutputError> {
        self.recorder.finish(outcome)
    }

    /// Status, reason, and unmet expectations of the scene.
    fn judge(&self, end: &End) -> (Status, String, Vec<String>) {
        match end {
            End::CannotWrite(why) => (Status::Failed, why.clone(), Vec::new()),
            End::Interrupted => (Status::Interrupted, "stopped by the user".into(), Vec::new()),
            End::Complete => {
                let (world, state) = (self.simulation.world(), self.simulation.state());
                let bodies = 0..world.description().bodies.len();
                let last: Vec<_> = bodies.map(|body| state.positions(world, body)).collect();
                let unmet = self.scene.unmet(&self.recorder.tally().extremes(last.iter().map(Vec::as_slice)));
                let reason = match unmet.len() {
                    0 => return (Status::Done, "all frames completed".into(), unmet),
                    1 => "an expectation of the scene is not met".into(),
                    n => format!("{n} expectations of the scene are not met"),
                };
                (Status::ExpectationFailed, reason, unmet)
            }
        }
    }
}
