//! `taut run`: simulates a scene into a folder, or resumes an earlier run.

use std::{path::Path, process::ExitCode};

use taut_io::{
    output::{
        OutputError,
        folder::holds_run,
        layout::Layout,
        outcome::{Outcome, Status},
        resume,
        session::{End, Session, SessionError, Start},
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

/// Runs a scene.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    let formats = export::formats(&args.export)?;
    let mut session = open(args)?;
    let interrupt = Interrupt::listen();
    let ended = simulate(&mut session, &interrupt, args.quiet);
    let end = match &ended {
        Ok(end) => end.clone(),
        Err(error) => End::CannotWrite(error.to_string()),
    };
    let outcome = session.outcome(&end);
    let written = session.finish(&outcome);
    if let Err(error) = ended {
        if args.json {
            terminal::print_json(&outcome)?;
        }
        return Err(cannot_write(session.root(), outcome.frames, &error));
    }
    written.map_err(|error| cannot_write(session.root(), outcome.frames, &error))?;
    let code = report(&session, args, &outcome)?;
    if outcome.status != Status::Interrupted && !formats.is_empty() {
        // Exports of an earlier run at the same path are out of date now.
        let done = export::export_run(session.root(), &formats, &interrupt, args.quiet || args.json)?;
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
    match given {
        Some(scene) if !(args.resume && holds_run(&root)) => {
            if args.resume {
                terminal::note(&format!("no run in {} yet: starting one", root.display()));
            }
            open_new(args, &root, scene)
        }
        given => open_stopped(args, &root, given.as_ref()),
    }
}

fn open_new(args: &RunArgs, root: &Path, scene: LoadedScene) -> Result<Session, Failure> {
    let threads = args.threads.count();
    let world = fit::build_world(&scene, threads, args.quiet)?;
    let tangled = match world.tangled_at_start() {
        0 => None,
        1 => Some("the initial state has 1 self-intersection, which will be separated".into()),
        count => Some(format!("the initial state has {count} self-intersections, which will be separated")),
    };
    warn(scene.warnings().iter().map(ToString::to_string).chain(world.warnings()).chain(tangled));
    let start = Start { root, force: args.force, threads };
    Session::create(start, scene, world).map_err(|error| failure(root, error))
}

/// Opens a stopped run, of the scene `given` beside `--resume`, if any.
fn open_stopped(args: &RunArgs, root: &Path, given: Option<&LoadedScene>) -> Result<Session, Failure> {
    let stored = Layout::new(root).scene();
    if !holds_run(root) || !stored.exists() {
        let message = format!("no resumable run in {}", root.display());
        return Err(Failure::input(message, "name a scene to start one, as in `taut run hanging-sheet`"));
    }
    let overridden = || scene::load(&stored.to_string_lossy(), &args.set.set);
    let given = given.cloned().map_or_else(overridden, Ok)?;
    if let Some(difference) = resume::difference(&given, root)? {
        let message = format!("{} contains a run of a different scene: {difference}", root.display());
        let hint = "omit SCENE and --set to resume that run, or choose another folder with -o";
        return Err(Failure::input(message, hint));
    }
    let wanted = match (args.frames, &args.scene) {
        (Some(frames), _) => Some(frames),
        (None, Some(_)) => Some(given.frames.max(scene::load(&stored.to_string_lossy(), &[])?.frames).into()),
        (None, None) => None,
    };
    let scene = Session::stored_scene(root, wanted).map_err(|error| failure(root, error))?;
    let threads = args.threads.count();
    let world = fit::build_world(&scene, threads, args.quiet)?;
    let (session, warnings) =
        Session::resume(root, scene, world, threads).map_err(|error| failure(root, error))?;
    warn(warnings);
    if !args.quiet {
        let (frame, wanted) = (session.simulation().frame(), session.scene().frames);
        terminal::note(&format!("resuming from frame {frame} of {wanted}"));
    }
    Ok(session)
}

fn failure(root: &Path, error: SessionError) -> Failure {
    match error {
        SessionError::Input(problems) => problems.into(),
        SessionError::Folder(error) => Failure::at_start(error),
        SessionError::Write(error) => cannot_write(root, 0, &error),
        SessionError::Engine(error) => (*error).into(),
    }
}

fn warn(warnings: impl IntoIterator<Item = String>) {
    warnings.into_iter().for_each(|warning| terminal::warning(&warning));
}

/// Simulates until the last frame or ctrl-C, and saves a checkpoint.
fn simulate(session: &mut Session, interrupt: &Interrupt, quiet: bool) -> Result<End, OutputError> {
    let mut progress = Progress::new(quiet, session.simulation().frame(), session.scene().frames);
    let mut end = Ok(End::Complete);
    while session.has_next() {
        if interrupt.is_requested() {
            end = Ok(End::Interrupted);
            break;
        }
        match session.advance() {
            Ok(line) => progress.show(&line),
            Err(error) => {
                end = Err(error);
                break;
            }
        }
    }
    progress.finish();
    let end = end?;
    session.save()?;
    Ok(end)
}

/// A write error of the run in `root`, which has so many frames.
fn cannot_write(root: &Path, frames: u32, error: &OutputError) -> Failure {
    let hint = format!(
        "frames up to {frames} are complete; once writing is possible, resume with `taut run --resume -o {}`",
        root.display()
    );
    Failure::Write { message: error.to_string(), hint: Some(hint) }
}

/// Prints how the run ended.
fn report(session: &Session, args: &RunArgs, outcome: &Outcome) -> Result<ExitCode, Failure> {
    let (root, world) = (session.root(), session.simulation().world());
    let shown = if args.json {
        terminal::print_json(outcome)
    } else if !args.quiet {
        terminal::print(&summary::summary(outcome, world, root, session.scene().expects()))
    } else {
        Ok(())
    };
    match outcome.status {
        Status::Interrupted => {
            let resume = format!("resume with `taut run --resume -o {}`", root.display());
            terminal::note(&format!("stopped after frame {}; {resume}", outcome.frames));
            Ok(code::INTERRUPTED.into())
        }
        Status::ExpectationFailed => {
            outcome.unmet.iter().for_each(|line| terminal::error(&format!("expectation not met: {line}")));
            Ok(code::CHECK_FAILED.into())
        }
        // A closed pipe does not change the outcome, but a full disk behind standard output is an error.
        Status::Done | Status::Failed => shown.map(|()| ExitCode::SUCCESS),
    }
}
