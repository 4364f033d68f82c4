//! One random scene: what must hold after each of its frames.

use std::time::{Duration, Instant};

use taut::{
    Certificate, Description, FrameReport, MeshObstacle, Scheme, State, Stepper, World,
    low_level::Threads,
    measure::{Certifier, Examiner},
};

use super::scenes::Dice;

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
pub struct Tally {
    /// What failed, and which frames were slow.
    pub failures: Vec<String>,
    pub slow: Vec<String>,
    /// Scenes that began free of intersections and had to stay so.
    pub free: u64,
    /// Scenes that were run with one and two threads.
    pub compared: u64,
    /// Frames in all.
    pub frames: u64,
    /// Frames in which limits gave way, or a step did not converge.
    pub unmet: u64,
}

/// Whether what is free of intersections has to stay so: where limits and contact are one problem, and no
/// obstacle comes to where cloth cannot give way. The other schemes know nothing of contact: what they press
/// together for long comes nearer by half, step by step, until numbers cannot tell it apart.
fn keeps_apart(description: &Description) -> bool {
    description.solver.scheme == Scheme::Nearest
        && !description.mesh_obstacles.iter().any(MeshObstacle::is_moving)
        && description.contact.thickness > 0.0
}

/// Runs a scene, and says what is wrong with it.
pub fn run(number: u64, tally: &mut Tally) -> Result<(), String> {
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
    let tolerance = f64::from(description.solver.tolerance.past());
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
