//! Hair (S7) in whole simulations: limits in every frame, contact, bits, restarts.

use glam::Vec3;

use crate::{
    Cloth, Contact, Description, Hair, HairContact, HairMaterial, HairRest, Limit, Material, Motion,
    Obstacle, Pin, RigidBody, Roots, Simulation, State, Stepper, World, WorldError,
    boundary::motion::Keyframe,
    mesh::{
        generate,
        groom::{Amount, Curl, Growth, Skin, grow},
    },
};

const HEAD: f32 = 0.1;

/// Hair on a ball that shakes by 1.5 rad, 3 times a second.
fn head(count: u32, curl: Option<Curl>, change: impl Fn(&mut Hair)) -> Description {
    let growth =
        Growth { segments: 30, curl, comb: Vec3::Y * 0.5, ..Growth::new(Amount::Count(count), 0.15) };
    let groom = grow(&Skin::sphere(Vec3::ZERO, HEAD).unwrap(), &growth).unwrap();
    let mut hair = Hair::new("hair", groom, HairMaterial::named("european").unwrap());
    hair.roots = Roots::Obstacle(0);
    change(&mut hair);
    let mut ball = Obstacle::sphere(Vec3::ZERO, HEAD - 1e-3);
    let turn = |k: usize| {
        let time = k as f32 / 60.0;
        let angle = 86.0 * (std::f32::consts::TAU * 3.0 * time).sin();
        Keyframe { time, rotate: Vec3::Y * angle, ..Keyframe::default() }
    };
    ball.motion = Motion { keys: (0..90).map(turn).collect(), ..Motion::default() };
    ball.friction = 0.4;
    Description { bodies: vec![hair.into()], obstacles: vec![ball], ..Description::default() }
}

/// Largest strain of a segment of the first hair, either way.
fn worst_strain(world: &World, state: &State) -> f64 {
    let number = world.description().bodies.iter().position(|b| b.as_hair().is_some()).unwrap();
    let groom = &world.description().bodies[number].as_hair().unwrap().groom;
    let x = state.positions(world, number);
    let strain = |s: [u32; 2]| {
        let [a, b] = s.map(|v| x[v as usize].as_dvec3());
        (a.distance(b) / groom.length(s) - 1.0).abs()
    };
    groom.segments().map(strain).fold(0.0, f64::max)
}

fn deepest(world: &World, state: &State) -> f64 {
    let certificate = crate::certify(world, state);
    certificate.bodies.iter().map(|body| body.max_penetration).fold(0.0, f64::max)
}

#[test]
fn violent_shaking_leaves_every_segment_within_its_limit_and_nothing_deep_inside() {
    let curl = Curl { radius: 0.004, pitch: 0.02 };
    for (curl, most) in [(None, 0.01f32), (Some(curl), 0.01), (None, 0.001)] {
        let limit = Limit { min: Some(-most), max: Some(most) };
        let world = World::new(head(150, curl, |hair| hair.stretch = limit)).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        for frame in 0..30 {
            let report = stepper.advance_frame(&world, &mut state);
            let strain = worst_strain(&world, &state);
            assert!(strain <= f64::from(most) && report.rescued == 0, "frame {frame}: {strain} of {most}");
            let depth = deepest(&world, &state);
            assert!(depth <= 5e-4, "frame {frame}: {depth} m");
        }
    }
}

#[test]
fn threads_and_restarts_leave_no_bit() {
    let curl = Curl { radius: 0.004, pitch: 0.02 };
    let contact = HairContact { thickness: 0.001, cohesion: 1e-3, ..HairContact::default() };
    let world = World::new(head(60, Some(curl), |hair| hair.contact = contact)).unwrap();
    let run = |threads: usize, frames: u32, state: &mut State| {
        let mut stepper = Stepper::new(&world, threads).unwrap();
        (0..frames).for_each(|_| _ = stepper.advance_frame(&world, state));
    };
    let mut whole = State::new(&world);
    run(1, 8, &mut whole);
    for threads in [2, 5] {
        let mut part = State::new(&world);
        run(threads, 3, &mut part);
        let mut again = State::restore(&world, &part.snapshot(&world)).unwrap();
        run(threads, 5, &mut again);
        assert_eq!(again.snapshot(&world), whole.snapshot(&world), "{threads} threads");
    }
}

#[test]
fn hair_free_of_sag_stays_as_it_is_styled() {
    let curl = Curl { radius: 0.004, pitch: 0.02 };
    let mut description = head(40, Some(curl), |hair| hair.rest = HairRest::SagFree { stiffen: 100.0 });
    description.obstacles[0].motion = Motion::default();
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    let before = state.positions(&world, 0);
    (0..45).for_each(|_| _ = stepper.advance_frame(&world, &mut state));
    let after = state.positions(&world, 0);
    let drift = before.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(drift < 1e-4, "{drift} m");
}

#[test]
fn cloth_holds_hair_up_and_feels_its_weight() {
    let sheet = generate::grid([0.3, 0.3], [12, 12], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", sheet, Material::named("denim").unwrap()).stretch(..=0.02);
    let rim = |p: &Vec3| p.x < 1e-4 || p.z < 1e-4 || p.x > 0.2999 || p.z > 0.2999;
    let held = cloth.mesh.positions.iter().zip(0..).filter(|(p, _)| rim(p)).map(|(_, v)| v).collect();
    cloth.pins = vec![Pin { vertices: held, ..Pin::default() }];
    // A bundle of 200 thick strands falls on the sheet.
    let growth = Growth { segments: 10, radius: [5e-4; 2], ..Growth::new(Amount::Count(200), 0.06) };
    let mut groom = grow(&Skin::sphere(Vec3::ZERO, 0.02).unwrap(), &growth).unwrap();
    groom.positions.iter_mut().for_each(|p| *p += Vec3::new(0.15, 0.085, 0.15));
    let mut hair = Hair::new("bundle", groom, HairMaterial::named("european").unwrap());
    hair.roots = Roots::Free;
    let mass = hair.mass();
    let contact = Contact { thickness: 0.002, friction: 0.4 };
    let ended = |bodies| {
        let description = Description { bodies, contact, ..Description::default() };
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        (0..60).for_each(|_| _ = stepper.advance_frame(&world, &mut state));
        let count = world.description().bodies.len();
        (0..count).map(|b| state.positions(&world, b)).collect::<Vec<_>>()
    };
    let lowest = |points: &[Vec3]| points.iter().map(|p| p.y).fold(f32::MAX, f32::min);
    let alone = lowest(&ended(vec![cloth.clone().into()])[0]);
    let both = ended(vec![cloth.into(), hair.into()]);
    let sheet = lowest(&both[0]);
    // Some strands roll off over the rim.
    let below = both[1].iter().filter(|p| p.y < sheet - 2e-3).count();
    assert!(mass > 1e-3, "{mass} kg");
    assert!(33 * below < both[1].len(), "{below} points of hair fell through the sheet");
    assert!(sheet < alone - 1e-3, "the sheet does not feel it: {alone} {sheet}");
}

#[test]
fn hair_on_a_body_with_mass_goes_with_it() {
    let growth = Growth { segments: 8, ..Growth::new(Amount::Count(50), 0.03) };
    let groom = grow(&Skin::sphere(Vec3::Y, 0.05).unwrap(), &growth).unwrap();
    let mut hair = Hair::new("fur", groom, HairMaterial::named("wool").unwrap());
    hair.roots = Roots::RigidBody(0);
    let ball = RigidBody {
        obstacle: Obstacle::sphere(Vec3::Y, 0.049),
        mass: 0.2,
        velocity: Vec3::X,
        angular_velocity: Vec3::Y * 3.0,
    };
    let description =
        Description { bodies: vec![hair.into()], rigid_bodies: vec![ball], ..Description::default() };
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for frame in 0..15 {
        stepper.advance_frame(&world, &mut state);
        assert!(worst_strain(&world, &state) <= 0.01, "frame {frame}");
    }
    let centre = state.rigid_bodies()[0].pose.position;
    let x = state.positions(&world, 0);
    let groom = &world.description().bodies[0].as_hair().unwrap().groom;
    let off = groom.strands().map(|own| (x[own.start].distance(centre) - 0.05).abs()).fold(0.0, f32::max);
    assert!(off < 1e-5 && (centre.x - 0.5).abs() < 0.02, "{off} {centre}");
}

#[test]
fn hair_goes_behind_all_bodies_whenever_it_is_put_in() {
    let mut description = head(10, None, |_| {});
    let hair = description.bodies.remove(0);
    let mut simulation = Simulation::from_description(description, 1).unwrap();
    let hair = simulation.insert(hair).unwrap();
    (0..3).for_each(|_| _ = simulation.step_frame());
    let sheet = generate::grid([0.3, 0.3], [4, 4], generate::Diagonals::Alternating, 0);
    let sheet = simulation.insert(Cloth::new("sheet", sheet, Material::default())).unwrap();
    (0..3).for_each(|_| _ = simulation.step_frame());
    let kinds: Vec<_> = simulation.description().bodies.iter().map(crate::Body::kind).collect();
    assert_eq!(kinds, ["cloth", "hair"]);
    assert_eq!(simulation.positions(hair).unwrap().len(), 310);
    simulation.remove(sheet).unwrap();
    simulation.step_frame();
    assert!(simulation.positions(hair).unwrap().iter().all(|p| p.is_finite()));
}

#[test]
fn what_cannot_be_simulated_is_refused_by_name() {
    type Change = fn(&mut Description);
    let said = |change: Change| {
        let mut description = head(3, None, |_| {});
        change(&mut description);
        match World::new(description) {
            Err(error) => error.to_string(),
            Ok(_) => "nothing".into(),
        }
    };
    fn hair(d: &mut Description) -> &mut Hair {
        match &mut d.bodies[0] {
            crate::Body::Hair(hair) => hair,
            _ => unreachable!(),
        }
    }
    let cases: [(Change, &str); 7] = [
        (|d| hair(d).groom.counts = vec![75, 0], "strand 1 has 0 points"),
        (|d| hair(d).groom.positions[7].x = f32::NAN, "point 7 is not finite"),
        (|d| hair(d).groom.positions[8] = hair(d).groom.positions[7], "at the same place"),
        (|d| hair(d).material.young = f32::NAN, "Young's modulus must lie between"),
        (|d| hair(d).roots = Roots::MeshObstacle(2), "its roots are on mesh obstacle 2; there are 0"),
        (|d| hair(d).stretch.max = Some(-1.0), "its max between 0 and 1000"),
        (|d| d.solver.integrator = Some(crate::Integrator::LeapFrog), "needs the integrator bdf2 or euler"),
    ];
    for (change, wanted) in cases {
        let said = said(change);
        assert!(said.contains("hair \"hair\": ") && said.contains(wanted), "{said}");
    }
    let sheet = generate::grid([0.3, 0.3], [2, 2], generate::Diagonals::Alternating, 0);
    let mut description = head(3, None, |_| {});
    description.bodies.push(Cloth::new("sheet", sheet, Material::default()).into());
    let error = World::new(description).unwrap_err();
    assert!(matches!(error, WorldError::Hair { .. }) && error.to_string().contains("after all other bodies"));
}
