//! Random scenes, a thousand by default: whatever is described ends in finite numbers, limits hold or are
//! reported, and what is free of intersections stays so. `cargo xtask soak` runs it.
//!
//! `soak [--scenes N] [--from NUMBER]`: scene NUMBER and those after it. A scene that fails is printed with
//! its number, and can be run alone by `--from NUMBER --scenes 1`.

mod scenes;

use std::{
    io::{IsTerminal, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use scenes::Dice;
use taut::{
    Certificate, Description, FrameReport, MeshObstacle, Scheme, State, Stepper, World,
    low_level::Threads,
    measure::{Certifier, Examiner},
};

/// Frames of each scene.
const FRAMES: u32 = 20;

/// Time after which a scene is not continued, and reported as slow: heaps of cloth that extreme loads have
/// pressed flat.
const PATIENCE: Duration = Duration::from_secs(20);

/// One scene in so many is run with one thread as well, to the same bits.
const COMPARED: u64 = 8;

/// Time above which a frame is reported as slow, which is no failure.
const SLOW: Duration = Duration::from_secs(5);

/// What a run of scenes came to.
#[derive(Default)]
struct Tally {
    failures: Vec<String>,
    slow: Vec<String>,
    /// Scenes that began free of intersections and had to stay so.
    free: u64,
    /// Scenes that were run with one and two threads.
    compared: u64,
    frames: u64,
    /// Frames in which limits gave way, or a step did not converge.
    unmet: u64,
}

fn main() {
    let (scenes, from) = arguments(std::env::args().skip(1)).unwrap_or_else(|why| {
        eprintln!("error: {why}\nusage: soak [--scenes N] [--from NUMBER]");
        std::process::exit(2);
    });
    let (begun, mut tally) = (Instant::now(), Tally::default());
    for number in from..from + scenes {
        show(number - from, scenes, begun, &tally);
        let ran = catch_unwind(AssertUnwindSafe(|| run(number, &mut tally)));
        let failed = ran.unwrap_or_else(|panic| {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("of unknown cause");
            Err(format!("panic: {words}"))
        });
        if let Err(why) = failed {
            println!("\rscene {number}: {why}");
            tally.failures.push(format!("scene {number}: {why}"));
        }
    }
    let Tally { failures, slow, free, compared, frames, unmet } = tally;
    println!(
        "\r{scenes} scenes, {frames} frames in {:.0} s: {free} had to stay free of intersections, {compared} ran with one \
         thread as well, limits gave way or were not met in {unmet} frames, and it was reported",
        begun.elapsed().as_secs_f64()
    );
    slow.iter().for_each(|slow| println!("slow: {slow}"));
    failures.iter().for_each(|failure| println!("FAILED {failure}"));
    if !failures.is_empty() {
        println!("{} scenes failed", failures.len());
        std::process::exit(1);
    }
    if scenes >= 25 && free * 10 < scenes {
        println!("few scenes say anything of contact: {free}");
        std::process::exit(1);
    }
}

/// Number of scenes, and the first.
fn arguments(mut words: impl Iterator<Item = String>) -> Result<(u64, u64), String> {
    let (mut scenes, mut from) = (1000, 0);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a number"))?;
        let value = value.parse().map_err(|_| format!("{word}: {value} is no number"))?;
        match word.as_str() {
            "--scenes" => scenes = value,
            "--from" => from = value,
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok((scenes, from))
}

/// The progress bar; without a terminal, one line for every tenth.
fn show(done: u64, all: u64, begun: Instant, tally: &Tally) {
    let (part, failed) = (40 * done / all.max(1), tally.failures.len());
    let seconds = begun.elapsed().as_secs();
    if std::io::stderr().is_terminal() {
        let bar: String = (0..40).map(|k| if k < part { '=' } else { ' ' }).collect();
        eprint!("\r[{bar}] {done}/{all}, {failed} failed, {seconds} s ");
        std::io::stderr().flush().ok();
    } else if done.is_multiple_of((all / 10).max(1)) {
        eprintln!("{done} of {all} scenes, {failed} failed, {seconds} s");
    }
}

/// Whether what is free of intersections has to stay so: where limits and contact are one problem, and no
/// obstacle comes to where cloth cannot give way. The other schemes know nothing of contact: what they press
/// together for long comes nearer by half, step by step, until numbers cannot tell it apart.
fn keeps_apart(description: &Description) -> bool {
    description.solver.scheme == Scheme::Nearest
        && !description.mesh_obstacles.iter().any(MeshObstacle::is_moving)
        && description.contact.thickness > 0.0
}

fn run(number: u64, tally: &mut Tally) -> Result<(), String> {
    let world = World::new(Dice::new(number).scene(number)).map_err(|error| error.to_string())?;
    let begins_free = Examiner::new(&world)
        .is_some_and(|mut examiner| examiner.examine_start(&Threads::alone()).intersections == 0);
    let stays_free = begins_free && keeps_apart(world.description());
    tally.free += u64::from(stays_free);
    let (mut state, mut stepper) =
        (State::new(&world), Stepper::new(&world, 2).map_err(|error| error.to_string())?);
    let mut certifier = Certifier::new(&world, 2).map_err(|error| error.to_string())?;
    let started = Instant::now();
    for _ in 0..FRAMES {
        if started.elapsed() > PATIENCE {
            tally.slow.push(format!("scene {number}: stopped after frame {}", state.frame()));
            return Ok(());
        }
        let begun = Instant::now();
        let report = stepper.advance_frame(&world, &mut state);
        let took = begun.elapsed();
        let certificate = certifier.certify(&world, &state);
        let frame = state.frame();
        if took > SLOW {
            tally.slow.push(format!("scene {number}, frame {frame}: {:.1} s", took.as_secs_f64()));
        }
        tally.frames += 1;
        tally.unmet += u64::from(!report.converged || report.given_way > 0);
        check(&world, &state, &report, &certificate, stays_free).map_err(|why| {
            let Description { solver, contact, .. } = world.description();
            let (scheme, thickness) = (solver.scheme, contact.thickness);
            format!(
                "frame {frame}: {why} ({scheme:?}, thickness {thickness}, free at the start: {begins_free})"
            )
        })?;
    }
    if number.is_multiple_of(COMPARED) {
        tally.compared += 1;
        let (mut alone, mut stepper) =
            (State::new(&world), Stepper::new(&world, 1).map_err(|error| error.to_string())?);
        for _ in 0..FRAMES {
            stepper.advance_frame(&world, &mut alone);
        }
        for body in 0..world.description().bodies.len() {
            if alone.positions(&world, body) != state.positions(&world, body) {
                return Err(format!("body {body} differs with one thread and with two"));
            }
        }
    }
    Ok(())
}

/// What must hold after every frame.
fn check(
    world: &World,
    state: &State,
    report: &FrameReport,
    certificate: &Certificate,
    stays_free: bool,
) -> Result<(), String> {
    for (body, described) in certificate.bodies.iter().enumerate() {
        if let Some(v) = state.positions(world, body).iter().position(|p| !p.is_finite()) {
            return Err(format!("{}: vertex {v} is not finite", described.name));
        }
        let figures = [described.strain.max_stretch, described.energy.kinetic, described.max_penetration];
        if figures.iter().any(|figure| !figure.is_finite()) {
            return Err(format!("{}: {figures:?}", described.name));
        }
    }
    let description = world.description();
    let tolerance = f64::from(description.solver.tolerance);
    let worst = certificate.bodies.iter().map(|body| body.strain.max_residual).fold(0.0, f64::max);
    let is_said = !report.converged || report.given_way > 0;
    if description.solver.scheme == Scheme::Nearest && !is_said && worst > 1.01 * tolerance + 1e-4 {
        return Err(format!("residual {worst} is not reported; tolerance {tolerance}"));
    }
    let Some(contact) = &certificate.contact else { return Ok(()) };
    match &contact.first {
        Some(first) if stays_free => Err(format!("{} intersections, {first}", contact.intersections)),
        Some(first) if report.tangled == 0 && description.solver.scheme == Scheme::Nearest => {
            Err(format!("{first} is not reported"))
        }
        _ => Ok(()),
    }
}
