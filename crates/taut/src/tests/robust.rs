//! Whatever a caller describes ends in finite numbers or in an error that says what is wrong.

use glam::{Quat, Vec3};
use proptest::prelude::*;
use taut::{
    Budget, Cloth, Description, Integrator, Limit, Material, Motion, Obstacle, Pin, Projection, Scheme,
    State, Stepper, World,
    boundary::{motion::Keyframe, obstacle::Shape},
    certify,
    mesh::{TriangleMesh, generate},
};

use super::clock;

fn run(description: Description, frames: u32) -> (World, State) {
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    for _ in 0..frames {
        stepper.advance_frame(&world, &mut state);
        for body in 0..world.description().bodies.len() {
            assert!(state.positions(&world, body).iter().all(|p| p.is_finite()), "frame {}", state.frame());
        }
    }
    (world, state)
}

fn grid(cells: u32) -> TriangleMesh {
    generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Absurd materials, sizes, gravity, limits, starts and obstacles: finite throughout.
    #[test]
    fn anything_ends_in_finite_numbers(
        log_size in -3.0f32..3.0,
        log_density in -4.0f32..4.0,
        log_stretch in -6.0f32..9.0,
        log_bend in -12.0f32..3.0,
        poisson in -0.95f32..0.49,
        viscosity in prop::sample::select(vec![0.0f32, 1e-4, 1.0]),
        log_gravity in -2.0f32..5.0,
        limits in prop::sample::select(vec![(None, None), (None, Some(0.0)), (Some(0.0), Some(0.0)), (Some(-0.05), Some(0.05)), (Some(-1.0), None), (Some(0.0), None)]),
        edge_limited in any::<bool>(),
        bends in prop::sample::select(vec![(None, None), (Some(0.0), Some(0.0)), (Some(-5.0), Some(5.0)), (None, Some(0.01))]),
        start in 0..4,
        scheme in prop::sample::select(vec![Scheme::Sweep, Scheme::Serial, Scheme::Jacobi, Scheme::Nearest, Scheme::Cycle, Scheme::Paper]),
        projection in prop::sample::select(vec![Projection::Gradient, Projection::Paper]),
        pinned in prop::collection::vec(0u32..49, 0..6),
        seed in 0u64..1000,
    ) {
        let size = 10.0f32.powf(log_size);
        let mut mesh = grid(6);
        mesh.positions.iter_mut().for_each(|p| *p *= size);
        let mut material = Material::named("denim").unwrap();
        material.density = 10.0f32.powf(log_density);
        material.stretch = 10.0f32.powf(log_stretch).into();
        material.bend = 10.0f32.powf(log_bend).into();
        (material.poisson, material.viscosity) = (poisson, viscosity);
        let mut cloth = Cloth::new("c", mesh, material);
        let limit = Limit { min: limits.0, max: limits.1 };
        if edge_limited { cloth.edge = limit } else { cloth.strain = limit }
        cloth.bend = Limit { min: bends.0, max: bends.1 };
        let mut random = taut::kernel::random::Random::new(seed, 0);
        match start {
            1 => cloth.start.fill(Vec3::splat(size)),
            2 => cloth.start.iter_mut().for_each(|p| p.z = 0.0),
            3 => cloth.start.iter_mut().for_each(|p| *p = Vec3::new(random.unit(), random.unit(), random.unit()) * 20.0 * size),
            _ => {}
        }
        let far = Keyframe { time: 0.05, translate: Vec3::new(30.0 * size, 0.0, 0.0), rotate: Vec3::new(0.0, 900.0, 0.0) };
        cloth.pins = vec![Pin { vertices: pinned, motion: Motion { keys: vec![Keyframe::default(), far], pivot: Vec3::ZERO, ..Motion::default() }, ..Pin::default() }];
        let mut description = Description { bodies: vec![cloth.into()], gravity: Vec3::NEG_Y * 10.0f32.powf(log_gravity), ..Description::default() };
        description.obstacles = vec![Obstacle {
            name: "o".into(), shape: Shape::Torus { major: size, minor: 0.3 * size }, position: Vec3::ZERO, rotation: Quat::IDENTITY,
            motion: Motion { keys: vec![Keyframe::default(), far], pivot: Vec3::ZERO, ..Motion::default() }, friction: 2.0, restitution: 1.0, margin: 0.01 * size,
        }];
        description.solver.scheme = scheme;
        description.solver.projection = projection;
        description.solver.iterations = 20;
        description.solver.steps_per_frame = 2;
        description.air.wind = vec![(0.0, Vec3::new(50.0, 0.0, 0.0))];
        run(description, 5);
    }
}

#[test]
fn unlimited_stiff_cloth_does_not_blow_up() {
    let mut cloth = Cloth::new("c", grid(12), Material::named("paper").unwrap());
    cloth.pins = vec![Pin { vertices: vec![0, 12], motion: Motion::default(), ..Pin::default() }];
    for integrator in [None, Some(Integrator::LeapFrog)] {
        let mut description = Description { bodies: vec![cloth.clone().into()], ..Description::default() };
        description.solver.integrator = integrator;
        let (world, state) = run(description, 90);
        let body = &certify(&world, &state).bodies[0];
        assert!(body.energy.kinetic < 1.0, "{:?}", body.energy);
        // Only explicit forces are softened.
        let softened = world.warnings().iter().any(|w| w.contains("softened"));
        assert_eq!(softened, integrator.is_some(), "{:?}", world.warnings());
    }
}

#[test]
fn free_fall_is_exact_and_keeps_shape() {
    let mut description = Description {
        bodies: vec![Cloth::new("c", grid(8), Material::named("denim").unwrap()).into()],
        ..Description::default()
    };
    description.bodies[0].as_cloth_mut().unwrap().strain = Limit { min: Some(-0.01), max: Some(0.01) };
    description.bodies[0].as_cloth_mut().unwrap().material.damping = 0.0;
    description.air.density = 0.0;
    let (world, state) = run(description, 30);
    let body = &certify(&world, &state).bodies[0];
    let fallen = body.center_of_mass[1];
    assert!((fallen + 0.5 * 9.81).abs() < 0.03, "{fallen}");
    assert!((body.strain.max_stretch - 1.0).abs() < 1e-3);
}

#[test]
fn momentum_of_a_free_sheet_is_kept_while_limits_work() {
    for (projection, scheme) in [
        (Projection::Gradient, Scheme::Sweep),
        (Projection::Gradient, Scheme::Jacobi),
        (Projection::Paper, Scheme::Sweep),
    ] {
        let mut cloth = Cloth::new("c", grid(16), Material::named("polyester").unwrap());
        cloth.strain = Limit { min: Some(-0.05), max: Some(0.05) };
        let mut random = taut::kernel::random::Random::new(5, 0);
        for p in &mut cloth.start {
            *p = *p * 1.3 + Vec3::new(random.unit(), random.unit(), random.unit()) * 0.05;
        }
        cloth.material.damping = 0.0;
        let mut description =
            Description { bodies: vec![cloth.into()], gravity: Vec3::ZERO, ..Description::default() };
        description.air.density = 0.0;
        description.solver.projection = projection;
        description.solver.scheme = scheme;
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        let center = certify(&world, &state).bodies[0].center_of_mass;
        let mut stepper = Stepper::new(&world, 1).unwrap();
        stepper.advance_frame(&world, &mut state);
        let body = &certify(&world, &state).bodies[0];
        let speed = (2.0 * body.energy.kinetic / 0.113).sqrt();
        let drift = (0..3).map(|k| (body.center_of_mass[k] - center[k]).abs()).fold(0.0, f64::max);
        let spin = body.angular_momentum.iter().map(|l| l.abs()).fold(0.0, f64::max) / (0.113 * speed);
        assert!(speed > 0.05, "the limits must have worked: {speed}");
        // Rounding of single precision over thousands of iterations.
        assert!(drift < 2e-5, "{projection:?} {scheme:?}: centre of mass moved by {drift}");
        println!("{projection:?} {scheme:?}: spin {spin:.5}, drift {drift:.1e}");
        // Each projection keeps angular momentum; the area that a vertex sweeps over many of them is left.
        let allowed = if projection == Projection::Gradient { 0.005 } else { 0.2 };
        assert!(spin < allowed, "{projection:?} {scheme:?}: spin {spin}");
    }
}

#[test]
fn every_scheme_and_projection_reaches_the_tolerance_on_a_small_sheet() {
    for scheme in [Scheme::Sweep, Scheme::Serial, Scheme::Jacobi] {
        for projection in [Projection::Gradient, Projection::Paper] {
            let mut cloth = Cloth::new("c", grid(8), Material::named("polyester").unwrap());
            cloth.strain = Limit { min: Some(-0.2), max: Some(0.05) };
            cloth.edge = Limit { min: None, max: Some(0.05) };
            cloth.pins = vec![Pin { vertices: vec![0, 8], motion: Motion::default(), ..Pin::default() }];
            let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
            description.solver.scheme = scheme;
            description.solver.projection = projection;
            let (world, state) = run(description, 20);
            let strain = &certify(&world, &state).bodies[0].strain;
            assert!(
                strain.max_residual <= 0.01 && strain.max_edge_residual <= 0.01,
                "{scheme:?} {projection:?} {strain:?}"
            );
        }
    }
}

#[test]
fn a_budget_ends_a_frame_in_time() {
    let mut cloth = Cloth::new("c", grid(64), Material::named("polyester").unwrap());
    cloth.strain = Limit { min: Some(-0.001), max: Some(0.001) };
    cloth.pins = vec![Pin { vertices: vec![0, 64], motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.tolerance = crate::Tolerance::Past(0.0);
    description.solver.iterations = 1_000_000;
    description.solver.steps_per_frame = 2;
    description.solver.max_substeps = 4;
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    clock::reset();
    let budget = Budget::millis(60.0).with_clock(clock::ticking).with_min_iterations(0);
    let report = stepper.advance_within(&world, &mut state, &budget);
    assert!(!report.converged && report.iterations > 2);
    // Without a budget it would be read a million times, and this would take minutes.
    assert!((60..200).contains(&clock::read()), "read {} times", clock::read());
}

/// A cycle that answers some residuals by more than they ask for diverges within such limits.
#[test]
fn narrow_limits_converge_however_long_it_takes() {
    for room in [0.001, 0.003] {
        let mut cloth = Cloth::new("c", grid(24), Material::named("polyester").unwrap());
        cloth.strain = Limit { min: Some(-room), max: Some(room) };
        cloth.pins = vec![Pin { vertices: vec![0, 24], motion: Motion::default(), ..Pin::default() }];
        let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
        description.solver.steps_per_frame = 1;
        description.solver.iterations = 400;
        let (world, state) = run(description, 20);
        let certificate = certify(&world, &state);
        let strain = &certificate.bodies[0].strain;
        assert!(strain.max_residual <= 0.2 * f64::from(room), "±{room}: {strain:?}");
        let lowest = state.positions(&world, 0).iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
        assert!((-1.5..-0.1).contains(&lowest), "±{room}: {lowest}");
    }
}

/// Bad descriptions are refused by name.
#[test]
fn what_cannot_be_simulated_is_refused() {
    let good = || Description {
        bodies: vec![Cloth::new("flag", grid(2), Material::named("denim").unwrap()).into()],
        ..Description::default()
    };
    let message = |change: fn(&mut Description)| {
        let mut description = good();
        change(&mut description);
        World::new(description).expect_err("refused").to_string()
    };
    assert!(World::new(good()).is_ok());
    assert!(message(|d| d.bodies.clear()).contains("no cloth"));
    assert!(message(|d| d.bodies[0].as_cloth_mut().unwrap().material.density = 0.0).contains("density"));
    assert!(message(|d| d.bodies[0].as_cloth_mut().unwrap().strain.min = Some(-1.5)).contains("limit"));
    assert!(message(|d| d.bodies[0].as_cloth_mut().unwrap().start[3].x = f32::NAN).contains("finite"));
    assert!(
        message(|d| d.bodies[0].as_cloth_mut().unwrap().mesh.triangles[0] = [0, 1, 99])
            .contains("vertex that does not exist")
    );
    assert!(
        message(|d| d.bodies[0].as_cloth_mut().unwrap().mesh.triangles[0] = [0, 1, 1])
            .contains("face 0 has no area")
    );
    assert!(
        message(|d| d.bodies[0].as_cloth_mut().unwrap().pins =
            vec![Pin { vertices: vec![77], motion: Motion::default(), ..Pin::default() }])
        .contains("pin")
    );
    assert!(message(|d| d.frame_time = -1.0).contains("frame_time"));
    assert!(
        message(|d| d.bodies[0].as_cloth_mut().unwrap().mesh.positions.push(Vec3::ONE))
            .contains("start position")
    );
    assert!(
        message(|d| d.bodies[0].as_cloth_mut().unwrap().material.density = -1.0).contains("cloth \"flag\"")
    );
}
