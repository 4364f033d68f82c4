//! `taut bench --convergence`: the residual of one step against iterations and time, for each scheme.
//!
//! Frames before it are simulated with `nearest`. Then every scheme repeats the same step from the same state
//! with at most 1, 2, 3, 4, 6, 8, 11, … iterations ([`curve`]): each point is the result and the time of a
//! complete step. The residual is measured outside the timed section.

mod chart;
pub mod curve;
mod table;

use std::{path::Path, process::ExitCode};

use serde::Serialize;
use taut::{State, Stepper, certify};
use taut_io::{export::Target, output::OutputError, scene};

use super::{NEAREST, SCHEMES, compare, measure::restore};
use crate::{args::BenchArgs, failure::Failure, figure::Figure, fit, progress::Share, terminal};
use curve::{Curve, Residual, Runner};

/// The curves of one step.
#[derive(Serialize)]
pub struct Convergence {
    /// Name of the scene.
    pub scene: String,
    /// The frame whose first step it is.
    pub frame: u32,
    pub triangles: usize,
    pub threads: usize,
    pub steps_per_frame: u32,
    /// Largest residual with which a step may end.
    pub tolerance: f32,
    /// Largest excess past a bend limit with which a step may end \[degrees\].
    pub bend_tolerance: f32,
    /// The residual of the prediction, before limiting.
    pub prediction: Residual,
    pub curves: Vec<Curve>,
}

/// Measures, prints, and draws if requested.
pub fn convergence(args: &BenchArgs) -> Result<ExitCode, Failure> {
    let [name] = &args.scenes[..] else {
        let count = args.scenes.len();
        return Err(Failure::input(
            format!("--convergence takes one scene, {count} given"),
            "name one, as in: taut bench hanging-sheet --convergence",
        ));
    };
    let figure = args.out.as_deref().map(|path| planned(path, args.force)).transpose()?;
    let found = measure(&Task {
        scene: name,
        overrides: &args.set.set,
        frame: args.frame,
        threads: args.threads.count(),
        schemes: &SCHEMES.map(|(label, _)| label),
        goal: None,
    })?;
    if let Some(figure) = figure {
        figure.write(&chart::charts(&found))?;
    }
    if args.json {
        terminal::print_json(&found)?;
    } else {
        terminal::print(&table::tables(&found))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks that the figure can be written before time is spent on measuring.
fn planned(path: &Path, force: bool) -> Result<Figure, Failure> {
    Target::refuse_folder(path).map_err(Failure::at_start)?;
    let figure = Figure::new(path.into(), force)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let hint = "create the folder first, or choose another with -o";
        return Err(Failure::at_start(OutputError::refused(path, "its folder does not exist", hint)));
    }
    Ok(figure)
}

/// The measurement to make.
pub struct Task<'a> {
    pub scene: &'a str,
    pub overrides: &'a [String],
    /// The frame whose first step is measured; default the middle one.
    pub frame: Option<u32>,
    pub threads: usize,
    /// Labels of schemes.
    pub schemes: &'a [&'static str],
    /// Mean residual at which a curve may end.
    pub goal: Option<f64>,
}

/// The curves of one step.
pub fn measure(task: &Task) -> Result<Convergence, Failure> {
    let &Task { scene: name, overrides, frame, threads, schemes, goal } = task;
    let shared = compare::shared_settings(name, overrides)?;
    let settings = |label: &str| {
        let settings = SCHEMES.into_iter().find(|scheme| scheme.0 == label).map_or(&[][..], |s| s.1);
        compare::with(&shared, settings)
    };
    let scene = scene::load(name, &settings(NEAREST))?;
    let frame = frame.unwrap_or(scene.frames.div_ceil(2));
    if frame > scene.frames {
        return Err(Failure::input(
            format!("--frame {frame}: the scene has {} frames", scene.frames),
            "choose one of them, counted from 1, or extend the scene with --set scene.frames=N",
        ));
    }
    let world = fit::build_world(&scene, threads, false)?;
    let description = world.description();
    if !description
        .bodies
        .iter()
        .any(|b| b.strain_bounds().is_some() || b.edge().is_some() || b.bend().is_some())
    {
        return Err(Failure::input(
            format!("{}: no body has limits, nothing to converge", scene.name),
            "set a limit, for example with --set cloth.sheet.strain.max=0.05",
        ));
    }
    let mut stepper = Stepper::new(&world, threads)?;
    let mut state = State::new(&world);
    let progress = Share::new(false, "simulating preceding frames");
    for done in 1..frame {
        stepper.advance_frame(&world, &mut state);
        progress.show(f64::from(done) / f64::from(frame - 1));
    }
    progress.finish();
    let prediction = Residual::of(&certify(&world, &stepper.attempt(&world, &state, 0).1), &world);
    let mut found = Convergence {
        scene: scene.name.clone(),
        frame,
        triangles: world.triangle_count(),
        threads: stepper.threads(),
        steps_per_frame: world.steps_per_frame(),
        tolerance: description.solver.tolerance.past(),
        bend_tolerance: description.solver.bend_tolerance,
        prediction,
        curves: Vec::new(),
    };

    let mut runners = Vec::new();
    let snapshot = state.snapshot(&world);
    let mut own = Some((stepper, world, state));
    for &label in schemes {
        if let Some((stepper, world, state)) = own.take_if(|_| label == NEAREST) {
            runners.push(Runner::new(label, stepper, world, state));
            continue;
        }
        let scene = scene::load(name, &settings(label))?;
        let world = fit::build_world(&scene, threads, false)?;
        let state = restore(&world, &snapshot)?;
        runners.push(Runner::new(label, Stepper::new(&world, threads)?, world, state));
    }
    found.curves = curve::trace(&mut runners, goal);
    Ok(found)
}
