//! Pressure inside closed cloth (S5): radii by formula, limits that win, the mylar balloon, gas.

use glam::{Quat, Vec3};
use taut::{
    AMBIENT, Certificate, Cloth, Description, Limit, Material, Motion, Obstacle, Pressure, PressureLaw,
    Scheme, Seam, Simulation, State, Stepper, World, WorldError,
    boundary::{motion::Keyframe, obstacle::Shape},
    certify,
    mesh::{TriangleMesh, generate::Generator},
};

/// Radius of balloons at rest \[m\].
const RADIUS: f32 = 0.1;

fn ball(frequency: u32, fabric: &str, pressure: Pressure) -> Cloth {
    let mesh = Generator::Sphere { radius: RADIUS, frequency }.generate().unwrap();
    let mut cloth = Cloth::new("ball", mesh, Material::named(fabric).unwrap());
    cloth.pressure = Some(pressure);
    cloth
}

/// Without gravity, and with the air of a vacuum.
fn afloat(bodies: Vec<Cloth>) -> Description {
    let mut description = Description { gravity: Vec3::ZERO, ..Description::default() };
    description.air.density = 0.0;
    Description { bodies: bodies.into_iter().map(Into::into).collect(), ..description }
}

fn pascal(value: f32) -> Pressure {
    Pressure::new(PressureLaw::Pascal, value)
}

/// Calls `look` after each of `frames` frames.
fn run(world: &World, frames: u32, mut look: impl FnMut(u32, &State, &Certificate)) {
    let (mut state, mut stepper) = (State::new(world), Stepper::new(world, 1).unwrap());
    for frame in 1..=frames {
        let report = stepper.advance_frame(world, &mut state);
        assert!(report.converged, "frame {frame}: {} iterations", report.iterations);
        look(frame, &state, &certify(world, &state));
    }
}

/// Mean distance of vertices from their middle \[m\], and the middle.
fn radius(positions: &[Vec3]) -> (f32, Vec3) {
    let middle = positions.iter().sum::<Vec3>() / positions.len() as f32;
    (positions.iter().map(|x| x.distance(middle)).sum::<f32>() / positions.len() as f32, middle)
}

/// Half a sphere of radius λ r is pulled apart by p π (λ r)² and held by its rim, of length 2 π r at rest,
/// with the force K (λ − 1) a length at rest, K = E h / (1 − ν): p = 2 K (λ − 1) / (r λ²).
#[test]
fn a_latex_balloon_has_the_radius_of_the_thin_wall_formula() {
    for (value, frames) in [(200.0, 50), (600.0, 60)] {
        let mut cloth = ball(8, "latex", pascal(value));
        cloth.material.damping = 3.0;
        let modulus = cloth.material.stretch.warp / (1.0 - cloth.material.poisson);
        let mut stretch = 1.0f32;
        (0..100).for_each(|_| stretch = 1.0 + value * RADIUS * stretch * stretch / (2.0 * modulus));
        let world = World::new(afloat(vec![cloth])).unwrap();
        // Compressed latex may be softer; nothing is compressed here.
        assert!(world.carried_stiffness().iter().all(|carried| carried.tension >= 0.999));
        let mut last = 0.0;
        run(&world, frames, |_, state, _| last = radius(&state.positions(&world, 0)).0 / RADIUS);
        let error = (last - stretch).abs() / (stretch - 1.0);
        assert!(error < 0.02, "{value} Pa: {last}, by formula {stretch}");
    }
}

#[test]
fn a_limit_of_5_percent_holds_at_any_pressure_in_every_frame() {
    for value in [1e3, 1e4, 1e5] {
        let mut cloth = ball(8, "latex", pascal(value));
        cloth.strain.max = Some(0.05);
        let world = World::new(afloat(vec![cloth])).unwrap();
        run(&world, 10, |frame, state, certificate| {
            let (mean, _) = radius(&state.positions(&world, 0));
            let error = mean / (1.05 * RADIUS) - 1.0;
            assert!(error.abs() < 0.002, "{value} Pa, frame {frame}: {error}");
            assert_eq!(certificate.bodies[0].strain.violations, 0, "{value} Pa, frame {frame}");
            assert_eq!(certificate.bags[0].pressure.unwrap().round(), f64::from(value));
        });
    }
}

/// Two discs of radius [`RADIUS`] sewn along the rim, with a hair's breadth between them, which face the same
/// way: one of them has to be turned.
pub(super) fn discs(rings: u32) -> Description {
    let disc = Generator::Disc { radius: RADIUS, rings }.generate().unwrap();
    let is_rim = |x: &Vec3| x.length() > 0.999 * RADIUS;
    let panel = |name: &str, side: f32| {
        let mut cloth = Cloth::new(name, disc.clone(), Material::named("mylar").unwrap());
        for x in cloth.start.iter_mut().filter(|x| !is_rim(x)) {
            x.y = side * 0.02 * RADIUS * (1.0 - (x.length() / RADIUS).powi(2));
        }
        cloth.strain = Limit { min: None, max: Some(0.001) };
        cloth.material.damping = 3.0;
        cloth
    };
    let mut front = panel("front", 1.0);
    let values = vec![(0.0, 0.0), (0.5, 2000.0)];
    front.pressure = Some(Pressure { values, with: vec!["back".into()], ..pascal(0.0) });
    let rim = (0..disc.positions.len() as u32).filter(|&v| is_rim(&disc.positions[v as usize]));
    let seams = vec![Seam { pairs: rim.map(|v| [(0, v), (1, v)]).collect(), ..Seam::default() }];
    Description { seams, ..afloat(vec![front, panel("back", -1.0)]) }
}

/// Paulsen, *What is the shape of a mylar balloon?*, Amer. Math. Monthly 101 (1994): from flat discs of
/// radius r, inflated radius 0.7627 r and thickness 0.599 times the inflated diameter.
#[test]
fn a_mylar_balloon_has_the_shape_that_paulsen_calculated() {
    let world = World::new(discs(16)).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for _ in 0..30 {
        stepper.advance_frame(&world, &mut state);
    }
    let certificate = certify(&world, &state);
    let front = state.positions(&world, 0);
    let pairs = &world.description().seams[0].pairs;
    let rim: Vec<Vec3> = pairs.iter().map(|[(_, v), _]| front[*v as usize]).collect();
    let middle = rim.iter().sum::<Vec3>() / rim.len() as f32;
    let across = |x: &Vec3| Vec3::new(x.x - middle.x, 0.0, x.z - middle.z).length();
    let inflated = rim.iter().map(across).sum::<f32>() / rim.len() as f32;
    let height = |body: usize, side: f32| {
        let all = state.positions(&world, body);
        all.iter().map(|x| side * x.y).fold(f32::MIN, f32::max)
    };
    let thickness = height(0, 1.0) + height(1, -1.0);
    let (wide, thick) = (inflated / (0.7627 * RADIUS), thickness / (2.0 * 0.599 * inflated));
    assert!((wide - 1.0).abs() < 0.03 && (thick - 1.0).abs() < 0.03, "{wide} {thick}");
    assert!(certificate.bodies.iter().all(|body| body.strain.max_residual < 1e-5));
    assert!(certificate.bags.len() == 1 && certificate.bags[0].volume.unwrap() > 1e-3);
}

/// A balloon of gas between a floor and a plate that comes down by 0.6 of its radius.
pub(super) fn squeezed(frequency: u32) -> Description {
    let mut cloth = ball(frequency, "cotton", Pressure::new(PressureLaw::Gas, 2000.0));
    cloth.strain.max = Some(0.05);
    cloth.material.damping = 2.0;
    let key = |time, y| Keyframe { time, translate: Vec3::new(0.0, y, 0.0), rotate: Vec3::ZERO };
    let plane = |name: &str, y: f32, rotation: Quat, keys: Vec<Keyframe>| Obstacle {
        name: name.into(),
        shape: Shape::Plane,
        position: Vec3::new(0.0, y, 0.0),
        rotation,
        motion: Motion { keys, ..Motion::default() },
        friction: 0.3,
        restitution: 0.0,
        margin: 0.001,
    };
    let over = Quat::from_rotation_x(std::f32::consts::PI);
    let obstacles = vec![
        plane("floor", -1.06 * RADIUS, Quat::IDENTITY, Vec::new()),
        plane("plate", 1.06 * RADIUS, over, vec![key(0.2, 0.0), key(1.0, -0.6 * RADIUS)]),
    ];
    Description { obstacles, ..afloat(vec![cloth]) }
}

#[test]
fn squeezing_a_gas_raises_its_pressure() {
    let world = World::new(squeezed(8)).unwrap();
    let amount = (AMBIENT + 2000.0) * world.bags[0].volume;
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    let mut pressures = Vec::new();
    for frame in 1..=32 {
        stepper.advance_frame(&world, &mut state);
        let certificate = certify(&world, &state);
        let bag = &certificate.bags[0];
        let error = (bag.pressure.unwrap() + AMBIENT) * bag.volume.unwrap() / amount - 1.0;
        assert!(error.abs() < 0.002, "frame {frame}: p V is off by {error}");
        let body = &certificate.bodies[0];
        assert!(body.max_penetration < 0.002 && body.strain.max_residual < 0.005, "frame {frame}: {body:?}");
        pressures.push(bag.pressure.unwrap());
    }
    assert!(pressures[31] > 2.0 * pressures[5], "{pressures:?}");
}

#[test]
fn a_volume_is_kept_where_limits_allow_it() {
    for (factor, limit, expected) in [(1.2, None, 1.2), (1.1, Some(0.05), 1.1), (2.0, Some(0.05), 1.157)] {
        let mut cloth = ball(8, "latex", Pressure::new(PressureLaw::Over, factor));
        cloth.strain.max = limit;
        cloth.material.damping = 2.0;
        let world = World::new(afloat(vec![cloth])).unwrap();
        run(&world, 12, |frame, _, certificate| {
            let found = certificate.bags[0].volume_factor.unwrap();
            assert!((found / expected - 1.0).abs() < 0.01, "{factor} {limit:?}, frame {frame}: {found}");
            assert_eq!(certificate.bodies[0].strain.violations, 0);
        });
    }
}

#[test]
fn a_balloon_does_not_move_by_itself() {
    for law in [pascal(1e4), Pressure::new(PressureLaw::Gas, 5e3), Pressure::new(PressureLaw::Over, 1.1)] {
        let name = law.law.name();
        let mut cloth = ball(7, "latex", law);
        cloth.strain.max = Some(0.05);
        let world = World::new(afloat(vec![cloth])).unwrap();
        let mass: f64 = world.body_masses().iter().sum();
        run(&world, 20, |frame, state, certificate| {
            let (_, middle) = radius(&state.positions(&world, 0));
            let momentum = Vec3::from_array(certificate.bodies[0].momentum.map(|p| (p / mass) as f32));
            let moved = middle.length();
            assert!(moved < 1e-4 && momentum.length() < 1e-3, "{name}, frame {frame}: {moved} {momentum}");
        });
    }
}

fn refused(description: Description) -> String {
    match World::new(description) {
        Err(WorldError::Cloth { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_closed_is_refused_with_its_borders() {
    let tube = Generator::Cylinder { radius: 0.1, height: 0.3, segments: [12, 4] }.generate().unwrap();
    let mut cloth = Cloth::new("tube", tube, Material::default());
    cloth.pressure = Some(pascal(100.0));
    let problem = refused(afloat(vec![cloth]));
    assert!(problem.contains("2 borders: one of 12 edges at vertex "), "{problem}");
    let mut alone = discs(4);
    alone.cloths_mut().for_each(|cloth| cloth.pressure.iter_mut().for_each(|p| p.with.clear()));
    assert!(refused(alone).contains("1 border: one of 24 edges"));
    let mut flat = discs(4);
    for cloth in flat.cloths_mut() {
        cloth.start = cloth.mesh.positions.clone();
        cloth.pressure.iter_mut().for_each(|p| (p.law, p.values) = (PressureLaw::Over, vec![(0.0, 1.2)]));
    }
    assert!(refused(flat.clone()).contains("give pressure.volume"));
    let volume = |p: &mut Pressure| p.volume = Some(1e-3);
    flat.cloths_mut().for_each(|cloth| cloth.pressure.iter_mut().for_each(volume));
    assert!(World::new(flat).is_ok());
}

#[test]
fn what_cannot_have_a_pressure_is_refused_by_name() {
    let with = |names: &[&str]| {
        let mut description = discs(4);
        let names: Vec<String> = names.iter().map(|name| (*name).into()).collect();
        description.cloths_mut().for_each(|c| c.pressure.iter_mut().for_each(|p| p.with.clone_from(&names)));
        refused(description)
    };
    assert!(with(&["nobody"]).contains("no such cloth"));
    assert!(with(&["back", "back"]).contains("twice"));
    let mut sweep = afloat(vec![ball(3, "latex", pascal(1.0))]);
    sweep.solver.scheme = Scheme::Sweep;
    assert!(refused(sweep).contains("scheme nearest"));
    assert!(refused(afloat(vec![ball(3, "latex", pascal(f32::NAN))])).contains("pressure.pascal is NaN"));
    // The projective plane: half of an icosahedron, whose opposite points are one.
    let mut triangles: Vec<[u32; 3]> = (0..5).map(|k| [0, 1 + k, 1 + (k + 1) % 5]).collect();
    triangles.extend((0..5).map(|k| [1 + k, 1 + (k + 1) % 5, 1 + (k + 3) % 5]));
    let turn = |k: u32| std::f32::consts::TAU * k as f32 / 5.0;
    let ring = (0..5).map(|k| Vec3::new(turn(k).cos(), 0.1 * turn(2 * k).cos(), turn(k).sin()));
    let positions = std::iter::once(Vec3::new(0.1, 1.0, 0.2)).chain(ring).collect();
    let mesh = TriangleMesh { positions, triangles, ..TriangleMesh::default() };
    let mut plane = Cloth::new("plane", mesh, Material::default());
    plane.pressure = Some(pascal(1.0));
    let problem = refused(afloat(vec![plane]));
    assert!(problem.contains("two sides"), "{problem}");
}

#[test]
fn pressure_changes_while_it_runs() {
    let mut cloth = ball(6, "latex", pascal(300.0));
    (cloth.strain.max, cloth.material.damping) = (Some(0.05), 3.0);
    let mut simulation = Simulation::builder().gravity(Vec3::ZERO).build().unwrap();
    let body = simulation.insert(cloth).unwrap();
    let factor = |pressure: Option<f32>, simulation: &mut Simulation| {
        simulation.set_pressure(body, pressure.map(pascal)).unwrap();
        (0..25).for_each(|_| _ = simulation.step_frame());
        f64::from(radius(&simulation.positions(body).unwrap().to_vec()).0 / RADIUS)
    };
    let (low, high) = (factor(Some(300.0), &mut simulation), factor(Some(5e4), &mut simulation));
    assert!((1.01..1.03).contains(&low) && (high - 1.05).abs() < 0.0021, "{low} {high}");
    let none = factor(None, &mut simulation);
    // It springs back, and nothing keeps it from collapsing.
    assert!(none < 1.03 && simulation.certificate().bags.is_empty(), "{none}");
    assert!(simulation.set_pressure(body, Some(pascal(f32::INFINITY))).is_err());
}
