//! Position-based dynamics (S2, S3): the whole loop.

use glam::{DVec3, Vec3};
use taut::{
    Body, Cloth, Contact, Description, Limit, Model, Obstacle, Particles, PbdModel, PbdStiffness, Pin,
    Pressure, PressureLaw, Scheme, Seam, SegmentSprings, Shape, Solid, SolidMaterial, Spring, SpringEnd,
    State, Stepper, World, WorldError, certify,
    mesh::{
        TriangleMesh,
        generate::{self, Diagonals, Generator},
        lines::LineMesh,
    },
    pbd::enclosed::volume_of,
};

use super::rigid;
use PbdStiffness::{Compliance, Part};

/// A square sheet of 1 m, held at two corners.
pub(super) fn sheet(cells: u32, model: PbdModel) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells; 2], Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, super::alike());
    let corner = |name: &str| cloth.mesh.groups[&format!("corner:{name}")][0];
    let vertices = vec![corner("top-left"), corner("top-right")];
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    cloth.model = Model::Pbd(model);
    Description { bodies: vec![cloth.into()], ..Description::default() }
}

/// A ball of cloth, a soft bar, and a rope on a spring, over a ball of an obstacle.
pub(super) fn mixed() -> Description {
    let mesh = sphere();
    let mut balloon = Cloth::new("balloon", mesh, super::alike());
    balloon.start.iter_mut().for_each(|p| *p += Vec3::new(0.5, 0.6, 0.5));
    let volume = Some(Part(1.0));
    balloon.model = Model::Pbd(PbdModel { volume, damping: 0.05, iterations: 8, ..PbdModel::default() });
    let bar = generate::bar(Vec3::new(0.8, 0.2, 0.2), [8, 2, 2]).unwrap();
    let mut bar = Solid::new("bar", bar, SolidMaterial::named("silicone").unwrap());
    bar.start.iter_mut().for_each(|p| *p += Vec3::new(0.0, 1.1, 0.4));
    bar.strain = Limit { min: Some(-0.3), max: Some(0.3) };
    bar.model = Model::Pbd(PbdModel { stretch: Compliance(1e-5), ..PbdModel::default() });
    let mut sheet = sheet(20, PbdModel { bend: Compliance(10.0), ..PbdModel::default() });
    let mut rope = rope(12, PbdModel { iterations: 3, ..PbdModel::default() });
    rope.start.iter_mut().for_each(|p| *p += Vec3::new(0.5, 0.0, 0.5));
    let ends = [SpringEnd::Vertex { body: 0, vertex: 220 }, SpringEnd::Vertex { body: 3, vertex: 0 }];
    sheet.springs = vec![Spring { damping: 0.1, ..Spring::new("hook", ends, 200.0) }];
    sheet.bodies.extend([balloon.into(), bar.into(), rope.into()]);
    let ball = Obstacle { friction: 0.3, restitution: 0.4, ..ball(Vec3::new(0.5, -0.4, 0.4)) };
    Description { obstacles: vec![ball], contact: Contact { thickness: 0.01, friction: 0.3 }, ..sheet }
}

/// A rope of 0.12 kg that hangs down 0.5 m from the origin.
fn rope(segments: u32, model: PbdModel) -> Particles {
    let mesh = LineMesh::chain(Vec3::ZERO, Vec3::new(0.0, -0.5, 0.0), segments);
    let mut rope = Particles::new("rope", mesh, 0.12 / f64::from(segments + 1));
    rope.model = Model::Pbd(model);
    rope
}

fn sphere() -> TriangleMesh {
    Generator::Sphere { radius: 0.3, frequency: 8 }.generate().unwrap()
}

fn ball(position: Vec3) -> Obstacle {
    Obstacle {
        name: "ball".into(),
        shape: Shape::Sphere { radius: 0.3 },
        position,
        rotation: glam::Quat::IDENTITY,
        motion: taut::Motion::default(),
        friction: 0.0,
        restitution: 0.0,
        margin: 0.0,
    }
}

fn run(description: Description, frames: u32) -> (World, State) {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    (0..frames).for_each(|_| _ = stepper.advance_frame(&world, &mut state));
    (world, state)
}

fn momenta(world: &World, state: &State) -> [DVec3; 2] {
    let vector = |q: &[f32; 4]| Vec3::new(q[0], q[1], q[2]).as_dvec3();
    let each = state.x.iter().zip(&state.v).take(world.vertex_count).map(|(x, v)| {
        let p = vector(v) / (f64::from(x[3]) * f64::from(world.inverse_mass_unit));
        [p, vector(x).cross(p)]
    });
    each.fold([DVec3::ZERO; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
}

#[test]
fn the_loop_keeps_both_momenta_and_damping_leaves_rigid_motion() {
    for damping in [0.0, 1.0] {
        let model = PbdModel { damping, ..PbdModel::default() };
        let mut description = sheet(10, model);
        description.gravity = Vec3::ZERO;
        description.air.density = 0.0;
        let cloth = description.bodies[0].as_cloth_mut().unwrap();
        cloth.pins.clear();
        cloth.material.damping = 0.0;
        // Stretched along one side and folded up along another: constraints pull at all of it.
        for p in &mut cloth.start {
            (p.x, p.y) = (1.2 * p.x, 0.3 * p.x * p.z);
        }
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let turning = |p: Vec3| Vec3::new(0.4, 0.1, 0.0) + Vec3::new(0.5, 1.0, -0.3).cross(p);
        for (v, x) in state.v.iter_mut().zip(&state.x).take(world.vertex_count) {
            v[..3].copy_from_slice(&turning(Vec3::new(x[0], x[1], x[2])).to_array());
        }
        let before = momenta(&world, &state);
        (0..10).for_each(|_| _ = stepper.advance_frame(&world, &mut state));
        let after = momenta(&world, &state);
        // Projections keep both at the positions that they begin with; a step moves these, so that it keeps
        // angular momentum to the first order of its length.
        for ((a, b), part) in before.iter().zip(after).zip([2e-3, 0.05]) {
            assert!((*a - b).length() < part * a.length(), "damping {damping}: {a} {b}");
        }
        let strain = &certify(&world, &state).bodies[0].strain;
        let largest = strain.max_edge_strain.max(-strain.min_edge_strain);
        assert!(damping == 0.0 || largest < 0.01, "of 20 % at the start: {largest}");
    }
}

#[test]
fn softer_constraints_give_way_further_and_limits_hold_inside() {
    let hung = |stretch: PbdStiffness, edge: Limit| {
        let mut description = sheet(16, PbdModel { stretch, damping: 0.02, ..PbdModel::default() });
        let cloth = description.bodies[0].as_cloth_mut().unwrap();
        (cloth.edge, cloth.material.damping) = (edge, 2.0);
        let (world, state) = run(description, 60);
        certify(&world, &state).bodies[0].strain.max_edge_strain
    };
    let all = [1.0, 0.5, 0.05].map(|k| hung(Part(k), Limit::default()));
    assert!(all[0] < 0.1 && all[0] < all[1] && 2.0 * all[1] < all[2], "{all:?}");
    let limited = hung(Part(0.05), Limit { min: None, max: Some(0.1) });
    assert!(limited < 0.5 * all[2], "{limited} {all:?}");
}

#[test]
fn compliance_gives_the_same_sag_whatever_steps_and_iterations() {
    let sag = |stretch: PbdStiffness, steps: u32, iterations: u32| {
        let mesh = generate::grid([0.1, 0.8], [1, 8], Diagonals::Alternating, 0);
        let mut strip = Cloth::new("strip", mesh, super::alike());
        let top = (0..2).collect();
        strip.pins = vec![Pin { vertices: top, ..Pin::default() }];
        strip.material.damping = 3.0;
        let bend = Part(0.0);
        strip.model = Model::Pbd(PbdModel { stretch, bend, iterations, ..PbdModel::default() });
        let mut description = Description { bodies: vec![strip.into()], ..Description::default() };
        description.air.density = 0.0;
        description.solver.steps_per_frame = steps;
        let (world, state) = run(description, 240);
        let lowest = state.positions(&world, 0).iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        -lowest - 0.8
    };
    let soft = Compliance(0.5);
    let expected = sag(soft, 10, 200);
    assert!(expected > 0.01, "{expected}");
    for (steps, iterations) in [(4, 200), (10, 60), (30, 60)] {
        let found = sag(soft, steps, iterations);
        assert!((found - expected).abs() < 0.01 * expected, "{steps} {iterations}: {found} {expected}");
    }
    // What k alone does not: that is why there is a compliance.
    let [few, many] = [4, 30].map(|steps| sag(Part(0.2), steps, 20));
    assert!(many < 0.5 * few, "{few} {many}");
}

#[test]
fn closed_cloth_and_tetrahedra_keep_their_volume() {
    let mesh = sphere();
    let triangles = mesh.triangles.clone();
    let volume = |at: &[Vec3]| volume_of(&triangles, |v| at[v as usize].as_dvec3());
    let rest = volume(&mesh.positions);
    let left = [None, Some(Part(1.0)), Some(Compliance(0.0))].map(|volume_stiffness| {
        let mut cloth = Cloth::new("balloon", mesh.clone(), super::alike());
        cloth.start.iter_mut().for_each(|p| p.y += 0.35);
        let bend = Part(0.0);
        cloth.model = Model::Pbd(PbdModel { volume: volume_stiffness, bend, ..PbdModel::default() });
        let floor = Obstacle { shape: Shape::Plane, ..ball(Vec3::ZERO) };
        let description =
            Description { bodies: vec![cloth.into()], obstacles: vec![floor], ..Description::default() };
        let (world, state) = run(description, 60);
        volume(&state.positions(&world, 0)) / rest
    });
    assert!(left[0] < 0.8, "{left:?}");
    assert!(left[1..].iter().all(|part| (part - 1.0).abs() < 0.01), "{left:?}");

    let pressed = |volume| {
        let mesh = generate::bar(Vec3::new(0.8, 0.2, 0.2), [12, 3, 3]).unwrap();
        let mut bar = Solid::new("bar", mesh, SolidMaterial::named("silicone").unwrap());
        bar.start.iter_mut().for_each(|p| *p += Vec3::new(-0.4, 0.31, -0.1));
        let stretch = Part(0.02);
        bar.model = Model::Pbd(PbdModel { volume, stretch, ..PbdModel::default() });
        let description = Description {
            bodies: vec![bar.into()],
            obstacles: vec![ball(Vec3::ZERO)],
            ..Description::default()
        };
        let (world, state) = run(description, 12);
        let solid = certify(&world, &state).bodies[0].solid.unwrap();
        (solid.inverted, solid.mean_ring_volume_error)
    };
    let [kept, free] = [None, Some(Part(0.0))].map(pressed);
    assert!(kept.0 == 0 && kept.1 < 0.02 && 4.0 * kept.1 < free.1, "{kept:?} {free:?}");
}

#[test]
fn balloons_follow_a_factor_on_their_volume() {
    let mesh = sphere();
    let triangles = mesh.triangles.clone();
    let volume = |at: &[Vec3]| volume_of(&triangles, |v| at[v as usize].as_dvec3());
    let rest = volume(&mesh.positions);
    let swollen = |law: PressureLaw| {
        let mut cloth = Cloth::new("balloon", mesh.clone(), super::alike());
        cloth.model = Model::Pbd(PbdModel { stretch: Part(0.01), damping: 1.0, ..PbdModel::default() });
        cloth.pressure = Some(Pressure { values: vec![(0.0, 1.0), (0.5, 1.3)], ..Pressure::new(law, 1.0) });
        let bodies = vec![cloth.into()];
        World::new(Description { bodies, gravity: Vec3::ZERO, ..Description::default() })
    };
    let world = swollen(PressureLaw::Over).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for frame in 1..=30 {
        stepper.advance_frame(&world, &mut state);
        let factor = 1.0 + 0.6 * (f64::from(frame) / 30.0).min(0.5);
        let found = volume(&state.positions(&world, 0)) / rest;
        assert!((found - factor).abs() < 0.01, "frame {frame}: {found}, wanted {factor}");
    }
    let refused = swollen(PressureLaw::Pascal).unwrap_err().to_string();
    assert!(refused.contains("must be `over`"), "{refused}");
}

#[test]
fn nothing_passes_through() {
    let (world, state) = run(mixed(), 40);
    let certificate = certify(&world, &state);
    assert!(state.x.iter().flatten().all(|x| x.is_finite()));
    for body in 0..3 {
        let inside = |p: &Vec3| p.distance(Vec3::new(0.5, -0.4, 0.4)) < 0.3 - 1e-4;
        assert!(!state.positions(&world, body).iter().any(inside), "body {body} is inside the ball");
    }
    let contact = certificate.contact.expect("cloth has a thickness");
    assert_eq!(contact.intersections, 0, "{contact:?}");
}

#[test]
fn what_cannot_be_simulated_is_refused_by_name() {
    let problem = |change: &dyn Fn(&mut Description)| {
        let mut description = sheet(4, PbdModel::default());
        change(&mut description);
        World::new(description).map(|_| ()).unwrap_err()
    };
    let set = |model: PbdModel| {
        move |d: &mut Description| d.bodies[0].as_cloth_mut().unwrap().model = Model::Pbd(model)
    };
    let usual = PbdModel::default();
    for (model, named) in [
        (PbdModel { stretch: Part(-0.1), ..usual }, "pbd.stretch"),
        (PbdModel { bend: Compliance(f32::NAN), ..usual }, "pbd.compliance.bend"),
        (PbdModel { iterations: 0, ..usual }, "pbd.iterations"),
        (PbdModel { volume: Some(Part(1.0)), ..usual }, "pbd.volume needs closed cloth"),
    ] {
        let error = problem(&set(model)).to_string();
        assert!(error.contains("cloth \"sheet\"") && error.contains(named), "{error}");
    }
    let other = |d: &mut Description| {
        let mut other = d.bodies[0].as_cloth().unwrap().clone();
        (other.name, other.model) = ("other".into(), Model::Fem);
        d.bodies.push(Body::Cloth(other));
    };
    assert!(problem(&other).to_string().contains("cloth \"other\": must be of the model \"pbd\""));
    let scheme = problem(&|d| d.solver.scheme = Scheme::Cycle);
    assert!(matches!(scheme, WorldError::Solver { key: "scheme", .. }), "{scheme}");
    let integrator = problem(&|d| d.solver.integrator = Some(taut::Integrator::LeapFrog));
    assert!(matches!(integrator, WorldError::Solver { key: "integrator", .. }), "{integrator}");
    let particles = problem(&|d| d.bodies.push(Particles { model: Model::Fem, ..rope(2, usual) }.into()));
    assert!(
        particles.to_string().contains("particles \"rope\": must be of the model \"pbd\""),
        "{particles}"
    );
    let breaking = problem(&|d| {
        let springs = SegmentSprings { breaking_force: Some(1.0), ..SegmentSprings::default() };
        d.bodies.push(Particles { springs, ..rope(2, usual) }.into());
    });
    assert!(breaking.to_string().contains("needs a stiffness above 0"), "{breaking}");
    let edge = problem(&|d| {
        let model = Model::Edge(taut::EdgeModel::default());
        d.bodies = vec![Particles { model, ..rope(2, usual) }.into()];
    });
    assert!(edge.to_string().contains("model \"edge\" is for cloth"), "{edge}");
}

#[test]
fn a_ball_hands_its_momentum_over_to_rounding() {
    for mass in [0.02, 0.3, 5.0] {
        let mut description = sheet(16, PbdModel { bend: Part(0.1), ..PbdModel::default() });
        let cloth = description.bodies[0].as_cloth_mut().unwrap();
        cloth.pins.clear();
        cloth.material.damping = 0.0;
        let mut thrown = rigid::trampoline(4, mass, 0.1).rigid_bodies.remove(0);
        thrown.obstacle.position = Vec3::new(0.53, 0.15, 0.46);
        (thrown.velocity, thrown.angular_velocity) = (Vec3::new(0.4, -3.0, 0.0), Vec3::Y);
        (description.rigid_bodies, description.gravity) = (vec![thrown], Vec3::ZERO);
        description.air.density = 0.0;
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let total = |state: &State| {
            momenta(&world, state)[0] + f64::from(mass) * state.rigid_bodies()[0].velocity.as_dvec3()
        };
        let before = total(&state);
        for frame in 1..=15 {
            stepper.advance_frame(&world, &mut state);
            let lost = (total(&state) - before).length();
            // Positions are rounded by 6e-8 m, velocities by 7e-6 m/s: those of all vertices, some 0.1 kg,
            // with every projection, that of the ball once a step.
            let rounding = 5e-5 + 2e-4 * f64::from(mass);
            assert!(lost < rounding, "{mass} kg, frame {frame}: {lost} kg m/s");
        }
        assert!(
            momenta(&world, &state)[0].length() > 0.2 * f64::from(mass.min(0.1)),
            "{mass} kg: it met nothing"
        );
    }
}

/// A taut sheet stops balls of 0.2 to 3 times its mass: they come to lie on it, and do not spin.
#[test]
fn a_ball_comes_to_lie_on_a_sheet() {
    for mass in [0.02, 0.3] {
        let mut description = rigid::trampoline(16, mass, 0.05);
        let cloth = description.bodies[0].as_cloth_mut().unwrap();
        cloth.model = Model::Pbd(PbdModel { damping: 0.05, ..PbdModel::default() });
        cloth.strain = Limit::default();
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let start = state.rigid_bodies()[0].pose.position.y;
        for frame in 1..=120 {
            stepper.advance_frame(&world, &mut state);
            let ball = state.rigid_bodies()[0];
            if frame % 10 == 0 {
                println!("{mass} kg, frame {frame}: {:?}", ball);
            }
            assert!(
                ball.pose.position.y < start + 0.01 && ball.pose.position.y > start - 0.4,
                "{mass} kg, frame {frame}: {ball:?}"
            );
            assert!(ball.angular_velocity.length() < 3.0, "{mass} kg, frame {frame}: {ball:?}");
        }
        assert!(state.rigid_bodies()[0].velocity.length() < 0.3, "{mass} kg: {:?}", state.rigid_bodies()[0]);
    }
}

/// How far below its start the last particle of `rope` hangs after it has come to rest.
fn sag(mut rope: Particles, springs: Vec<Spring>) -> f64 {
    rope.damping = 8.0;
    let (start, last) = (rope.start.clone(), rope.start.len() - 1);
    let description = Description { bodies: vec![rope.into()], springs, ..Description::default() };
    let (world, state) = run(description, 150);
    f64::from(start[last].y - state.positions(&world, 0)[last].y)
}

#[test]
fn ropes_hang_by_their_weight_over_the_stiffness() {
    let model = PbdModel { iterations: 60, ..PbdModel::default() };
    let weight = 9.81 * 0.12;
    // Segments as springs, as compliant constraints, and one spring to a point that holds a rigid rope.
    let held =
        |rope: Particles| Particles { pins: vec![Pin { vertices: vec![0], ..Pin::default() }], ..rope };
    let springs = SegmentSprings { stiffness: 400.0, damping: 1.0, ..SegmentSprings::default() };
    let compliant = PbdModel { stretch: Compliance(1.0 / 400.0), ..model };
    // Each segment carries the particles below it.
    let expected: f64 = (1..=4).map(|below| weight * f64::from(below) / 5.0 / 400.0).sum();
    for rope in [Particles { springs, ..rope(4, model) }, rope(4, compliant)] {
        let found = sag(held(rope), Vec::new());
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }
    let ends = [SpringEnd::Vertex { body: 0, vertex: 0 }, SpringEnd::Point(Vec3::new(0.0, 0.2, 0.0))];
    let found = sag(rope(4, model), vec![Spring { damping: 1.0, ..Spring::new("hook", ends, 400.0) }]);
    assert!((found / (weight / 400.0) - 1.0).abs() < 0.01, "{found}");
    // Rigid segments keep their length, and limits theirs.
    let rigid = sag(held(rope(4, model)), Vec::new());
    assert!(rigid.abs() < 1e-4, "{rigid}");
    let soft = Particles { springs: SegmentSprings { stiffness: 40.0, ..springs }, ..rope(4, model) };
    let limited = Particles { edge: Limit { min: None, max: Some(0.02) }, ..soft };
    let found = sag(held(limited), Vec::new());
    assert!((0.009..0.0101).contains(&found), "{found}");
}

#[test]
fn a_rope_breaks_where_it_carries_too_much() {
    // The first segment carries 0.94 N, the second 0.71 N; up to twice that while the rope falls into it.
    for (force, broken) in [(2.0, 0), (0.8, 1)] {
        let springs = SegmentSprings {
            stiffness: 400.0,
            damping: 2.0,
            breaking_force: Some(force),
            ..SegmentSprings::default()
        };
        let mut rope = Particles { springs, damping: 8.0, ..rope(4, PbdModel::default()) };
        rope.pins = vec![Pin { vertices: vec![0], ..Pin::default() }];
        let (world, state) = run(Description { bodies: vec![rope.into()], ..Description::default() }, 60);
        let found = certify(&world, &state).springs.map(|springs| springs.broken);
        assert_eq!(found, Some(broken), "{force} N");
        let lowest = state.positions(&world, 0)[4].y;
        assert!((lowest < -2.0) == (broken > 0), "{force} N: {lowest}");
    }
}

#[test]
fn springs_between_bodies_keep_both_momenta() {
    let mut description = sheet(8, PbdModel::default());
    let cloth = description.bodies[0].as_cloth_mut().unwrap();
    cloth.pins.clear();
    cloth.material.damping = 0.0;
    description.gravity = Vec3::ZERO;
    description.air.density = 0.0;
    let mut rope = rope(6, PbdModel::default());
    rope.velocity = Vec3::new(0.3, -1.0, 0.5);
    description.bodies.push(rope.into());
    let ends = [SpringEnd::Vertex { body: 0, vertex: 3 }, SpringEnd::Vertex { body: 1, vertex: 0 }];
    description.springs = vec![Spring { damping: 0.2, ..Spring::new("hook", ends, 500.0) }];
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    let before = momenta(&world, &state);
    for _ in 0..30 {
        stepper.advance_frame(&world, &mut state);
    }
    let after = momenta(&world, &state);
    let size = before[0].length();
    // As closely as the loop without springs does, above.
    assert!((after[0] - before[0]).length() < 2e-3 * size, "{before:?} {after:?}");
    assert!((after[1] - before[1]).length() < 0.05 * size, "{before:?} {after:?}");
    // The sheet has got some of it.
    let sheet = certify(&world, &state).bodies[0].momentum;
    assert!(sheet[1] < 0.1 * before[0].y, "{sheet:?}");
}

#[test]
fn sewn_sheets_close_and_hang_as_one() {
    let mut description = sheet(10, PbdModel { damping: 0.02, ..PbdModel::default() });
    let mut below = description.bodies[0].as_cloth().unwrap().clone();
    below.name = "below".into();
    below.pins.clear();
    below.start.iter_mut().for_each(|p| p.z += 1.05);
    description.bodies.push(below.into());
    // The last row of the first to the first row of the second.
    let pairs = (0..11).map(|k| [(0, 110 + k), (1, k)]).collect();
    description.seams = vec![Seam { name: "hem".into(), pairs, speed: 1.0 }];
    description.contact = Contact { thickness: 0.005, friction: 0.3 };
    let (world, state) = run(description, 60);
    let certificate = certify(&world, &state);
    assert_eq!(certificate.seams[0].max_opening, 0.0);
    assert_eq!(certificate.contact.as_ref().unwrap().intersections, 0);
    let lowest = state.positions(&world, 1).iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    assert!(lowest < -1.2, "{lowest}");
    assert!(certificate.bodies.iter().all(|body| body.strain.max_edge_strain < 0.3), "{certificate:?}");
}
