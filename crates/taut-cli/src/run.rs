//! `taut run`: simulates a scene into a folder, or resumes an earlier run.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

use taut::{Simulation, World, low_level::LaneKind};
use taut_io::{
    output::{
        OutputError,
        folder::{holds_run, read_manifest},
        layout::Layout,
        outcome::{Outcome, Status},
        recorder::{Recorder, body_sizes},
        resume,
    },
    scene::{self, LoadedScene},
};

use crate::{
    args::RunArgs,
    export,
    failure::{Failure, code},
    fit,
    interrupt::Interrupt,
    progress::Progress,
    summary, terminal,
};

/// A run, ready to simulate its next frame.
struct Session {
    root: PathBuf,
    scene: LoadedScene,
    recorder: Recorder,
    simulation: Simulation,
}

/// How the frames ended.
enum End {
    Complete,
    Interrupted,
    CannotWrite(OutputError),
}

/// Runs a scene.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let formats = export::formats(&args.export)?;
    let mut session = open(args)?;
    let threads = args.threads.count();
    let interrupt = Interrupt::listen();
    let end = session.simulate(&interrupt, args.quiet);

    let (status, reason, unmet) = session.judge(&end);
    let outcome = Outcome {
        status,
        reason,
        unmet,
        scene: session.scene.name.clone(),
        frames: session.recorder.tally().frames(),
        frames_wanted: session.scene.frames,
        bodies: body_sizes(session.world()),
        figures: session.recorder.tally().figures(),
        wall_seconds: started.elapsed().as_secs_f64(),
        taut: env!("CARGO_PKG_VERSION").into(),
        threads,
        lanes: LaneKind::detect().name().into(),
    };
    let written = session.recorder.finish(&outcome);
    if let End::CannotWrite(error) = end {
        if args.json {
            terminal::print_json(&outcome)?;
        }
        return Err(session.cannot_write(&error));
    }
    written.map_err(|error| session.cannot_write(&error))?;
    let code = session.report(args, &outcome)?;
    if outcome.status != Status::Interrupted && !formats.is_empty() {
        // Exports of an earlier run at the same path are out of date now.
        let done = export::export_run(&session.root, &formats, &interrupt, args.quiet || args.json)?;
        if !done {
            return Ok(code::INTERRUPTED.into());
        }
    }
    Ok(code)
}

/// Opens the folder and builds the engine.
fn open(args: &RunArgs) -> Result<Session, Failure> {
    let mut overrides = args.set.set.clone();
    overrides.extend(args.frames.map(|n| format!("scene.frames={n}")));
    let given = args.scene.as_ref().map(|name| scene::load(name, &overrides)).transpose()?;
    let root = match (&args.out, &given) {
        (Some(out), _) => out.clone(),
        (None, Some(scene)) => Path::new("out").join(&scene.name),
        (None, None) => {
            let hint = "name the folder, as in `taut run --resume -o out/hanging-sheet`";
            return Err(Failure::input("--resume requires SCENE or -o OUT", hint));
        }
    };
    match (given, &args.scene) {
        (Some(scene), Some(name)) if !(args.resume && holds_run(&root)) => {
            if args.resume {
                terminal::note(&format!("no run in {} yet: starting one", root.display()));
            }
            open_new(args, root, scene, name)
        }
        (given, _) => open_stopped(args, root, given.map_or(1, |scene| scene.frames)),
    }
}

fn open_new(args: &RunArgs, root: PathBuf, scene: LoadedScene, name: &str) -> Result<Session, Failure> {
    let world = fit::build_world(&scene, args.threads.count(), args.quiet)?;
    let tangled = match world.tangled_at_start() {
        0 => None,
        1 => Some("the initial state has 1 self-intersection, which will be separated".into()),
        count => Some(format!("the initial state has {count} self-intersections, which will be separated")),
    };
    warn(scene.warnings().iter().map(ToString::to_string).chain(world.warnings()).chain(tangled));
    let identity = resume::identity(name, &args.set.set, &root)?;
    let recorder = Recorder::create(&root, args.force, &scene, &identity, &world, args.threads.count())
        .map_err(Failure::at_start)?;
    let simulation = Simulation::resume(world, None, args.threads.count())?;
    let mut session = Session { root, scene, recorder, simulation };
    session.record_start()?;
    Ok(session)
}

/// Opens a stopped run; `frames` is the number of frames of the scene given beside `--resume`, if any.
fn open_stopped(args: &RunArgs, root: PathBuf, frames: u32) -> Result<Session, Failure> {
    let stored = Layout::new(&root).scene().to_string_lossy().into_owned();
    if holds_run(&root) && Path::new(&stored).exists() {
        let named = args.scene.as_deref().unwrap_or(&stored);
        if let Some(difference) = resume::difference(named, &args.set.set, &root)? {
            let message = format!("{} contains a run of a different scene: {difference}", root.display());
            let hint = "omit SCENE and --set to resume that run, or choose another folder with -o";
            return Err(Failure::input(message, hint));
        }
    } else {
        let message = format!("no resumable run in {}", root.display());
        return Err(Failure::input(message, "name a scene to start one, as in `taut run hanging-sheet`"));
    }
    let mut scene = scene::load(&stored, &[])?;
    let wanted = args.frames.unwrap_or_else(|| i64::from(frames.max(scene.frames)));
    if wanted != i64::from(scene.frames) {
        scene = scene::load(&stored, &[format!("scene.frames={wanted}")])?;
    }
    // The stored file is called scene.toml, so its name is not the scene's.
    scene.name = read_manifest(&root).map_err(Failure::at_start)?.scene;
    let world = fit::build_world(&scene, args.threads.count(), args.quiet)?;
    let identity = resume::stored_identity(&root)?;
    let resumed =
        resume::resume(&root, &scene, &identity, &world, args.threads.count()).map_err(Failure::at_start)?;
    warn(resumed.warnings);
    let fresh = resumed.state.is_none();
    let world = resumed.torn.unwrap_or(world);
    let simulation = Simulation::resume(world, resumed.state, args.threads.count())?;
    if !args.quiet {
        terminal::note(&format!("resuming from frame {} of {}", simulation.frame(), scene.frames));
    }
    let mut session = Session { root, scene, recorder: resumed.recorder, simulation };
    if fresh {
        session.record_start()?;
    }
    Ok(session)
}

fn warn(warnings: impl IntoIterator<Item = String>) {
    warnings.into_iter().for_each(|warning| terminal::warning(&warning));
}

impl Session {
    fn world(&self) -> &World {
        self.simulation.world()
    }

    fn record_start(&mut self) -> Result<(), Failure> {
        let recorded = self.recorder.record(self.simulation.world(), self.simulation.state(), None, 0.0);
        recorded.map(drop).map_err(|error| self.cannot_write(&error))
    }

    fn simulate(&mut self, interrupt: &Interrupt, quiet: bool) -> End {
        let mut progress = Progress::new(quiet, self.simulation.frame(), self.scene.frames);
        let mut end = End::Complete;
        for _ in self.simulation.frame()..self.scene.frames {
            if interrupt.is_requested() {
                end = End::Interrupted;
                break;
            }
            let before = Instant::now();
            let report = self.simulation.step_frame();
            let frame_ms = before.elapsed().as_secs_f64() * 1e3;
            let (world, state) = (self.simulation.world(), self.simulation.state());
            match self.recorder.record(world, state, Some(&report), frame_ms) {
                Ok(line) => progress.show(&line),
                Err(error) => {
                    end = End::CannotWrite(error);
                    break;
                }
            }
        }
        progress.finish();
        if matches!(end, End::CannotWrite(_)) {
            return end;
        }
        match self.recorder.save_checkpoint(self.simulation.world(), self.simulation.state()) {
            Ok(()) => end,
            Err(error) => End::CannotWrite(error),
        }
    }

    /// Status, reason, and unmet expectations of the scene.
    fn judge(&self, end: &End) -> (Status, String, Vec<String>) {
        match end {
            End::CannotWrite(error) => (Status::Failed, error.to_string(), Vec::new()),
            End::Interrupted => (Status::Interrupted, "stopped by the user".into(), Vec::new()),
            End::Complete => {
                let bodies = self.world().description().bodies.len();
                let last: Vec<_> =
                    (0..bodies).map(|body| self.simulation.state().positions(self.world(), body)).collect();
                let unmet = self.scene.unmet(&self.recorder.tally().extremes(last.iter().map(Vec::as_slice)));
                match unmet.len() {
                    0 => (Status::Done, "all frames completed".into(), unmet),
                    1 => (Status::ExpectationFailed, "an expectation of the scene is not met".into(), unmet),
                    n => (
                        Status::ExpectationFailed,
                        format!("{n} expectations of the scene are not met"),
                        unmet,
                    ),
                }
            }
        }
    }

    fn cannot_write(&self, error: &OutputError) -> Failure {
        let frames = self.recorder.tally().frames();
        let hint = format!(
            "frames up to {frames} are complete; once writing is possible, resume with `taut run --resume -o {}`",
            self.root.display()
        );
        Failure::Write { message: error.to_string(), hint: Some(hint) }
    }

    /// Prints how the run ended.
    fn report(&self, args: &RunArgs, outcome: &Outcome) -> Result<ExitCode, Failure> {
        let shown = if args.json {
            terminal::print_json(outcome)
        } else if !args.quiet {
            terminal::print(&summary::summary(outcome, self.world(), &self.root, self.scene.expects()))
        } else {
            Ok(())
        };
        match outcome.status {
            Status::Interrupted => {
                let resume = format!("resume with `taut run --resume -o {}`", self.root.display());
                terminal::note(&format!("stopped after frame {}; {resume}", outcome.frames));
                Ok(code::INTERRUPTED.into())
            }
            Status::ExpectationFailed => {
                outcome
                    .unmet
                    .iter()
                    .for_each(|line| terminal::error(&format!("expectation not met: {line}")));
                Ok(code::CHECK_FAILED.into())
            }
            // A closed pipe does not change the outcome, but a full disk behind standard output is an error.
            Status::Done | Status::Failed => shown.map(|()| ExitCode::SUCCESS),
        }
    }
}
