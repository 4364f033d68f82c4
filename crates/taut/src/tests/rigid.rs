//! Rigid bodies that cloth pushes (S4).

use glam::{DVec3, Quat, Vec3};
use taut::{
    Cloth, Description, EdgeModel, Limit, Material, Model, Motion, Obstacle, Pin, RigidBody, Scheme, State,
    Stepper, World,
    boundary::obstacle::Shape,
    certify,
    mesh::generate::{Diagonals, grid},
};

fn body(shape: Shape, position: Vec3, mass: f32) -> RigidBody {
    RigidBody {
        obstacle: Obstacle {
            name: "body".into(),
            shape,
            position,
            rotation: Quat::IDENTITY,
            motion: Motion::default(),
            friction: 0.3,
            restitution: 0.0,
            margin: 0.001,
        },
        mass,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
    }
}

fn ball(position: Vec3, mass: f32) -> RigidBody {
    body(Shape::Sphere { radius: 0.1 }, position, mass)
}

/// A sheet of 1 m in the plane y = 0, with `cells` a side.
fn sheet(cells: u32) -> Cloth {
    let mesh = grid([1.0, 1.0], [cells, cells], Diagonals::Alternating, 0);
    let mut sheet = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    sheet.strain.max = Some(0.05);
    sheet
}

fn pinned_rim(mut sheet: Cloth) -> Cloth {
    let on_rim = |p: &Vec3| p.x.abs().max(p.z.abs()) > 0.499;
    let middle = sheet.start.iter().sum::<Vec3>() / sheet.start.len() as f32;
    let vertices = (0..sheet.start.len() as u32).filter(|&v| on_rim(&(sheet.start[v as usize] - middle)));
    sheet.pins = vec![Pin { vertices: vertices.collect(), ..Pin::default() }];
    sheet
}

fn middle(sheet: &Cloth) -> Vec3 {
    sheet.start.iter().sum::<Vec3>() / sheet.start.len() as f32
}

/// A ball dropped from `height` above the middle of a sheet that is pinned at its rim.
pub(super) fn trampoline(cells: u32, mass: f32, height: f32) -> Description {
    let sheet = pinned_rim(sheet(cells));
    let above = middle(&sheet) + Vec3::Y * (0.1 + height);
    Description {
        rigid_bodies: vec![ball(above, mass)],
        bodies: vec![sheet.into()],
        ..Description::default()
    }
}

#[test]
fn a_heavy_ball_stays_on_a_trampoline_that_holds_its_limit() {
    // 3, 44 and 440 times the mass of the sheet.
    for mass in [0.3, 5.0, 50.0] {
        let world = World::new(trampoline(24, mass, 0.5)).unwrap();
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 2).unwrap();
        let (mut lowest, mut highest_after) = (f32::INFINITY, f32::NEG_INFINITY);
        for frame in 1..=60 {
            let report = stepper.advance_frame(&world, &mut state);
            let sheet = &certify(&world, &state).bodies[0];
            assert!(
                sheet.strain.max_residual < 0.0101,
                "{mass} kg, frame {frame}: {}",
                sheet.strain.max_residual
            );
            assert!(report.converged && sheet.max_penetration < 1e-4, "{mass} kg, frame {frame}: {report:?}");
            let height = state.rigid_bodies()[0].pose.position.y;
            lowest = lowest.min(height);
            if frame > 20 {
                highest_after = highest_after.max(height);
            }
        }
        // As deep as 5 % of stretch and the tolerance let it, and no higher than it fell from.
        assert!(
            (-0.1..-0.03).contains(&lowest) && highest_after < 0.5,
            "{mass} kg: {lowest}, {highest_after}"
        );
    }
}

/// What the tolerance lets cloth stretch past its limit in one step throws no ball in the next, be steps as
/// short as they are.
#[test]
fn a_ball_takes_no_energy_from_the_tolerance() {
    for steps_per_frame in [4, 8] {
        let mut description = trampoline(24, 5.0, 0.5);
        description.solver.steps_per_frame = steps_per_frame;
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 2).unwrap();
        let energy = |state: &State| {
            let ball = &certify(&world, state).rigid_bodies[0];
            ball.kinetic + ball.gravity
        };
        let (start, mut lowest) = (energy(&state), f64::INFINITY);
        for frame in 1..=40 {
            stepper.advance_frame(&world, &mut state);
            let now = energy(&state);
            lowest = lowest.min(now);
            assert!(now < 1.001 * start, "{steps_per_frame} steps, frame {frame}: {start} J, then {now} J");
        }
        assert!(lowest < 0.8 * start, "{steps_per_frame} steps: it met nothing");
    }
}

#[test]
fn a_body_that_meets_nothing_flies_on_a_parabola() {
    let mut description = trampoline(8, 1.0, 0.5);
    let thrown = &mut description.rigid_bodies[0];
    thrown.obstacle.position = Vec3::new(5.0, 0.0, 0.0);
    (thrown.velocity, thrown.angular_velocity) = (Vec3::new(1.0, 3.0, -0.5), Vec3::Y * 2.0);
    let (start, velocity) = (thrown.obstacle.position, thrown.velocity);
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    for frame in 1..=60 {
        stepper.advance_frame(&world, &mut state);
        let t = frame as f32 / 30.0;
        let exact = start + velocity * t + 0.5 * Vec3::new(0.0, -9.81, 0.0) * t * t;
        let body = state.rigid_bodies()[0];
        assert!(
            (body.pose.position - exact).length() < 1e-4,
            "frame {frame}: {} {exact}",
            body.pose.position
        );
        let turned = Quat::from_rotation_y(2.0 * t);
        assert!(body.pose.rotation.dot(turned).abs() > 1.0 - 1e-5, "frame {frame}");
    }
}

#[test]
fn a_ball_that_is_dropped_on_a_floor_bounces_and_comes_to_rest() {
    let mut description = trampoline(8, 1.0, 0.5);
    let floor = Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::new(0.0, -1.0, 0.0),
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.5,
        restitution: 0.5,
        margin: 0.001,
    };
    description.obstacles = vec![floor];
    let mut brick = body(Shape::Box { size: Vec3::new(0.4, 0.2, 0.3) }, Vec3::new(8.0, -0.6, 0.0), 2.0);
    brick.obstacle.rotation = Quat::from_rotation_z(0.5);
    description.rigid_bodies[0].obstacle.position = Vec3::new(5.0, 0.1, 0.0);
    description.rigid_bodies[0].velocity = Vec3::new(0.3, 0.0, 0.0);
    description.rigid_bodies.push(brick);
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    let mut highest = f32::NEG_INFINITY;
    for frame in 1..=150 {
        stepper.advance_frame(&world, &mut state);
        let ball = state.rigid_bodies()[0];
        assert!(ball.pose.position.y > -0.91, "frame {frame}: {}", ball.pose.position);
        if (18..40).contains(&frame) {
            highest = highest.max(ball.pose.position.y);
        }
    }
    // From 1 m, half the speed: a quarter of the height.
    assert!((highest + 0.9 - 0.25).abs() < 0.04, "{highest}");
    let [ball, brick] = [state.rigid_bodies()[0], state.rigid_bodies()[1]];
    assert!(ball.velocity.y.abs() < 0.1 && (ball.pose.position.y + 0.9).abs() < 0.005, "{ball:?}");
    // It rolls: what it had lost two sevenths of.
    assert!((ball.velocity.x / 0.3 - 5.0 / 7.0).abs() < 0.05, "{ball:?}");
    assert!(brick.velocity.length() < 0.05, "{brick:?}");
    assert!((brick.pose.position.y + 0.9).abs() < 0.01, "lies on its largest face: {brick:?}");
}

#[test]
fn a_snapshot_without_its_rigid_bodies_is_refused() {
    let world = World::new(trampoline(16, 5.0, 0.05)).unwrap();
    let mut snapshot = State::new(&world).snapshot(&world);
    assert!(State::restore(&world, &snapshot).is_some());
    snapshot.rigid.clear();
    assert!(State::restore(&world, &snapshot).is_none());
}

#[test]
fn what_cannot_be_a_rigid_body_is_refused() {
    let refused = |change: &dyn Fn(&mut Description)| {
        let mut description = trampoline(4, 1.0, 0.5);
        change(&mut description);
        World::new(description).unwrap_err().to_string()
    };
    let message = refused(&|d| d.rigid_bodies[0].mass = 0.0);
    assert!(message.contains("obstacle \"body\"") && message.contains("mass must be positive"), "{message}");
    let message = refused(&|d| d.rigid_bodies[0].obstacle.shape = Shape::Plane);
    assert!(message.contains("sphere, box, capsule or cylinder"), "{message}");
}

/// `description` with every scheme but the default, and with the edge model.
fn sweeping(description: &Description) -> impl Iterator<Item = (String, Description)> {
    let schemes = [Scheme::Sweep, Scheme::Jacobi, Scheme::Serial, Scheme::Cycle, Scheme::Paper];
    let of_scheme = schemes.map(|scheme| {
        let mut description = description.clone();
        description.solver.scheme = scheme;
        (format!("{scheme:?}"), description)
    });
    let mut of_edges = description.clone();
    let cloth = of_edges.bodies[0].as_cloth_mut().unwrap();
    (cloth.model, cloth.edge, cloth.strain) =
        (Model::Edge(EdgeModel { levels: 3, iterations: 60 }), cloth.strain, Limit::default());
    of_scheme.into_iter().chain([("edge model".into(), of_edges)])
}

#[test]
fn a_ball_stays_on_a_trampoline_in_every_scheme() {
    for (name, description) in sweeping(&trampoline(16, 0.3, 0.2)) {
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        for frame in 1..=60 {
            let report = stepper.advance_frame(&world, &mut state);
            let sheet = &certify(&world, &state).bodies[0];
            let past = sheet.strain.max_residual.max(sheet.strain.max_edge_residual);
            let height = state.rigid_bodies()[0].pose.position.y;
            assert!(sheet.max_penetration < 1e-4, "{name}, frame {frame}: {}", sheet.max_penetration);
            // Taut cloth of 5 % sags by 16 cm, and the ball has a radius of 10.
            assert!(height > -0.2, "{name}, frame {frame}: the ball is at {height}");
            // What is not met is reported.
            assert!(past <= 1e-5 || !report.converged, "{name}, frame {frame}: {past} past the limit");
        }
        let height = state.rigid_bodies()[0].pose.position.y;
        println!("{name}: {height} after 60 frames");
        assert!(height < 0.1, "{name}: it did not come to lie in the sheet, at {height}");
    }
}

#[test]
fn momentum_goes_from_a_body_to_cloth_in_every_scheme() {
    let mut sheet = sheet(12);
    (sheet.material, sheet.material.damping) = (super::alike(), 0.0);
    let mut ball = ball(middle(&sheet) + Vec3::new(0.03, 0.2, 0.05), 0.2);
    ball.velocity = Vec3::new(0.0, -3.0, 0.0);
    let mut description =
        Description { bodies: vec![sheet.into()], rigid_bodies: vec![ball], ..Description::default() };
    (description.gravity, description.air.density) = (Vec3::ZERO, 0.0);
    for (name, description) in sweeping(&description) {
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let [before, _] = momentum(&world, &state);
        for frame in 1..=15 {
            stepper.advance_frame(&world, &mut state);
            let [now, _] = momentum(&world, &state);
            let lost = (now - before).length() / before.length();
            assert!(lost < 0.05, "{name}, frame {frame}: {now} of {before}");
        }
        assert!(state.rigid_bodies()[0].velocity.y > -2.9, "{name}: cloth did not slow the ball");
    }
}

#[test]
fn a_fast_ball_does_not_pass_through_in_one_step() {
    let mut description = trampoline(32, 0.05, 0.5);
    description.rigid_bodies[0].velocity = Vec3::new(0.0, -100.0, 0.0);
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 2).unwrap();
    for frame in 1..=10 {
        stepper.advance_frame(&world, &mut state);
        let height = state.rigid_bodies()[0].pose.position.y;
        let strain = certify(&world, &state).bodies[0].strain.max_residual;
        assert!(height > -0.25 && strain < 0.0101, "frame {frame}: {height}, {strain} past the limit");
    }
}

fn momentum(world: &World, state: &State) -> [DVec3; 2] {
    let certificate = certify(world, state);
    let cloth = certificate.bodies.iter().map(|b| (b.momentum, b.angular_momentum));
    let bodies = certificate.rigid_bodies.iter().map(|b| (b.momentum, b.angular_momentum));
    cloth.chain(bodies).fold([DVec3::ZERO; 2], |[p, l], (q, m)| [p + DVec3::from(q), l + DVec3::from(m)])
}

#[test]
fn a_ball_thrown_at_a_floating_sheet_hands_over_its_momentum() {
    for mass in [0.02, 0.2, 20.0] {
        let mut sheet = sheet(24);
        sheet.material = super::alike();
        let mut ball = ball(middle(&sheet) + Vec3::new(0.03, 0.2, 0.05), mass);
        ball.velocity = Vec3::new(0.0, -3.0, 0.0);
        let mut description =
            Description { bodies: vec![sheet.into()], rigid_bodies: vec![ball], ..Description::default() };
        (description.gravity, description.air.density) = (Vec3::ZERO, 0.0);
        description.bodies[0].as_cloth_mut().unwrap().material.damping = 0.0;
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 2).unwrap();
        let [before, turning] = momentum(&world, &state);
        for frame in 0..30 {
            stepper.advance_frame(&world, &mut state);
            let [now, turned] = momentum(&world, &state);
            assert!(
                (now - before).length() < 0.02 * before.length(),
                "{mass} kg, frame {frame}: {now} of {before}"
            );
            assert!(
                (turned - turning).length() < 0.02 * turning.length(),
                "{mass} kg, frame {frame}: {turned} of {turning}"
            );
        }
    }
}
