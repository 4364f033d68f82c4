//! One random scene or groom: what must hold after each of its frames.

use std::time::{Duration, Instant};

use taut::{
    BodyCertificate, Certificate, Description, FrameReport, Hair, MeshObstacle, Scheme, State, Stepper,
    World,
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

/// One scene in so many is followed by the groom of its number.
const GROOMS: u64 = 4;

/// Frames of each groom, and the frame from whose snapshot it is run again.
const GROOM_FRAMES: u32 = 24;
const RESTART: u32 = 9;

/// Depth at which points of hair may be in what is closed \[m\], and the first frame of which that is asked:
/// strands may grow into what is beside their head.
const DEPTH: f64 = 5e-4;
const DEPTH_FROM: u32 = 3;

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
    /// Grooms, and strands in all of their frames that were not solved to the last.
    pub grooms: u64,
    pub unsettled: u64,
}

/// Whether what is free of intersections has to stay so: where limits and contact are one problem, and no
/// obstacle comes to where cloth cannot give way. The other schemes know nothing of contact: what they press
/// together for long comes nearer by half, step by step, until numbers cannot tell it apart.
fn keeps_apart(description: &Description) -> bool {
    description.solver.scheme == Scheme::Nearest
        && !description.mesh_obstacles.iter().any(MeshObstacle::is_moving)
        && description.contact.thickness > 0.0
}

/// Whether the groom of this number is run with the scene of this number.
pub fn has_groom(number: u64) -> bool {
    number.is_multiple_of(GROOMS)
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

/// Runs a groom, and says what is wrong with it. From a snapshot it is run again, on one thread.
pub fn run_groom(number: u64, tally: &mut Tally) -> Result<(), String> {
    let world = World::new(Dice::new(number).groom(number)).map_err(|error| error.to_string())?;
    let stepper = |threads| Stepper::new(&world, threads).map_err(|error| error.to_string());
    let (mut state, mut two) = (State::new(&world), stepper(2)?);
    let mut certifier = Certifier::new(&world, 1).map_err(|error| error.to_string())?;
    let mut snapshot = None;
    let started = Instant::now();
    tally.grooms += 1;
    for _ in 0..GROOM_FRAMES {
        if started.elapsed() > PATIENCE {
            tally.slow.push(format!("groom {number}: stopped after frame {}", state.frame()));
            return Ok(());
        }
        let begun = Instant::now();
        let report = two.advance_frame(&world, &mut state);
        let (took, frame) = (begun.elapsed(), state.frame());
        if took > SLOW {
            tally.slow.push(format!("groom {number}, frame {frame}: {:.1} s", took.as_secs_f64()));
        }
        tally.frames += 1;
        tally.unsettled += u64::from(report.unsettled);
        let certificate = certifier.certify(&world, &state);
        check_hair(&world, &state, &report, &certificate)
            .map_err(|why| format!("frame {frame}: {why} ({})", said(world.description())))?;
        if frame == RESTART {
            snapshot = Some(state.snapshot(&world));
        }
    }
    let restored = snapshot.and_then(|snapshot| State::restore(&world, &snapshot));
    let (mut again, mut one) = (restored.ok_or("its snapshot does not fit")?, stepper(1)?);
    (RESTART..GROOM_FRAMES).for_each(|_| _ = one.advance_frame(&world, &mut again));
    if again.snapshot(&world) != state.snapshot(&world) {
        return Err(format!("differs when it goes on from frame {RESTART}, on one thread"));
    }
    Ok(())
}

/// What a groom is, in a few words.
fn said(description: &Description) -> String {
    let hairs = description.bodies.iter().filter_map(|body| body.as_hair());
    let of = |hair: &Hair| {
        let Hair { roots, rest, stretch, bend, twist, contact, .. } = hair;
        let (strands, points) = (hair.groom.counts.len(), hair.groom.positions.len());
        let thickness = contact.thickness;
        format!(
            "{strands} strands of {points} points, {roots:?}, {rest:?}, stretch {:?} to {:?}, bend {bend:?}, \
             twist {twist:?}, thickness {thickness}",
            stretch.min, stretch.max
        )
    };
    let bodies: Vec<&str> = description.bodies.iter().map(taut::Body::kind).collect();
    let shapes: Vec<&str> = description.obstacles.iter().map(|obstacle| obstacle.name.as_str()).collect();
    let hairs: Vec<String> = hairs.map(of).collect();
    format!("{}; {}; {}", hairs.join("; "), bodies.join(", "), shapes.join(", "))
}

/// What must hold of hair after every frame.
fn check_hair(
    world: &World,
    state: &State,
    report: &FrameReport,
    certificate: &Certificate,
) -> Result<(), String> {
    // Cloth between what shakes and its pins has troubles of its own.
    let has_cloth = world.description().bodies.iter().any(|body| body.as_cloth().is_some());
    if report.rescued > 0 && !has_cloth {
        return Err(format!("{} were put back", report.rescued));
    }
    let bodies = &world.description().bodies;
    for (body, (described, certified)) in bodies.iter().zip(&certificate.bodies).enumerate() {
        let name = &certified.name;
        let x = state.positions(world, body);
        if let Some(v) = x.iter().position(|p| !p.is_finite()) {
            return Err(format!("{name}: vertex {v} is not finite"));
        }
        if let Some(hair) = described.as_hair() {
            check_lengths(hair, &x)?;
            check_certified(hair, certified, &x, state.frame())?;
        }
    }
    // Twists are not among positions.
    let twist = |term: &&taut::measure::TermCertificate| term.name.starts_with("twist") && term.excess > 1e-2;
    if let Some(term) = certificate.terms.iter().find(twist) {
        return Err(format!("{}: {} past its limit", term.name, term.excess));
    }
    Ok(())
}

/// Lengths of segments against the groom, from positions alone.
fn check_lengths(hair: &Hair, x: &[glam::Vec3]) -> Result<(), String> {
    let [low, high] = [hair.stretch.min.unwrap_or(-1.0), hair.stretch.max.unwrap_or(f32::INFINITY)];
    for [a, b] in hair.groom.segments() {
        let length = x[a as usize].as_dvec3().distance(x[b as usize].as_dvec3());
        let strain = length / hair.groom.length([a, b]) - 1.0;
        if !(f64::from(low)..=f64::from(high)).contains(&strain) {
            let Hair { name, .. } = hair;
            return Err(format!("{name}: strain {strain} from {a} to {b}, allowed {low} to {high}"));
        }
    }
    Ok(())
}

/// How well angles between segments can be known from positions in single precision \[°\].
fn rounding(hair: &Hair, x: &[glam::Vec3]) -> f64 {
    let far = x.iter().map(|p| p.abs().max_element()).fold(0.0, f32::max);
    let shortest = hair.groom.segments().map(|segment| hair.groom.length(segment)).fold(1.0, f64::min);
    1e-3 + (4.0 * f64::from(f32::EPSILON * far) / shortest).to_degrees()
}

/// What the certificate says of hair.
fn check_certified(
    hair: &Hair,
    certified: &BodyCertificate,
    x: &[glam::Vec3],
    frame: u32,
) -> Result<(), String> {
    let BodyCertificate { name, strain, bend, max_penetration: depth, .. } = certified;
    if strain.edge_violations > 0 || !certified.energy.kinetic.is_finite() {
        let (count, residual) = (strain.edge_violations, strain.max_edge_residual);
        return Err(format!("{name}: {count} segments past their limit by {residual}"));
    }
    if bend.max_bend_excess > rounding(hair, x) {
        let (count, most) = (bend.bend_violations, bend.max_bend_excess);
        return Err(format!("{name}: {count} joints past their limit by {most}°"));
    }
    // A limit on bend comes before depth.
    if hair.bend.is_none() && frame >= DEPTH_FROM && !(..=DEPTH).contains(depth) {
        return Err(format!("{name}: {:.2} mm deep", 1e3 * depth));
    }
    Ok(())
}
