//! Rigid bodies against each other, shapes and meshes (S4).

use glam::{DVec3, Quat, Vec3};
use taut::{
    Cloth, Description, Material, MeshFrames, MeshObstacle, Obstacle, Pin, RigidBody, Spring, SpringEnd,
    State, Stepper, World,
    boundary::obstacle::Shape,
    mesh::generate::{Diagonals, Generator, grid},
};

pub(super) fn body(name: impl Into<String>, shape: Shape, position: Vec3, mass: f32) -> RigidBody {
    let obstacle = Obstacle::new(name, shape, position).friction(0.5);
    RigidBody { obstacle, mass, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO }
}

const CUBE: Shape = Shape::Box { size: Vec3::splat(0.2) };

/// These bodies, and a small sheet that is far away.
fn scene(rigid_bodies: Vec<RigidBody>, obstacles: Vec<Obstacle>) -> Description {
    let mut cloth =
        Cloth::new("far", grid([0.1, 0.1], [2, 2], Diagonals::Alternating, 0), Material::default());
    cloth.start.iter_mut().for_each(|p| p.x += 50.0);
    cloth.strain.max = Some(0.05);
    cloth.pins = vec![Pin { vertices: vec![0, 2], ..Pin::default() }];
    let mut description =
        Description { bodies: vec![cloth.into()], rigid_bodies, obstacles, ..Description::default() };
    description.solver.steps_per_frame = 4;
    description
}

/// Runs it for so many frames; `each` sees every one.
fn run(description: Description, frames: u32, mut each: impl FnMut(u32, &World, &State)) -> (World, State) {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for frame in 1..=frames {
        stepper.advance_frame(&world, &mut state);
        each(frame, &world, &state);
    }
    (world, state)
}

fn mesh_obstacle(name: &str, positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> MeshObstacle {
    MeshObstacle {
        name: name.into(),
        triangles,
        frames: MeshFrames::still(positions),
        friction: 0.3,
        ..MeshObstacle::default()
    }
}

#[test]
fn a_stack_of_boxes_rests() {
    // Ten are not solved to the end within the rounds that there are: they tremble.
    for (count, most_drift, most_speed) in [(5, 2e-5, 1e-4), (10, 2e-4, 5e-3)] {
        let stack: Vec<_> = (0..count)
            .map(|k| body(format!("box-{k}"), CUBE, Vec3::Y * (0.1 + 0.2 * k as f32), 1.0))
            .collect();
        let started = std::time::Instant::now();
        let mut fastest = 0.0f32;
        let (_, state) =
            run(scene(stack, vec![Obstacle::floor(0.0).friction(0.5)]), 90, |frame, _, state| {
                if frame > 60 {
                    let speeds = state
                        .rigid_bodies()
                        .iter()
                        .map(|b| b.velocity.length() + b.angular_velocity.length());
                    fastest = speeds.fold(fastest, f32::max);
                }
            });
        let drift = state
            .rigid_bodies()
            .iter()
            .enumerate()
            .map(|(k, b)| b.pose.position.distance(Vec3::Y * (0.1 + 0.2 * k as f32)));
        let drift = drift.fold(0.0, f32::max);
        println!(
            "{count} boxes: drift {:.6} mm, {fastest:.2e} m/s, {:?} a step",
            1e3 * drift,
            started.elapsed() / 360
        );
        assert!(drift < most_drift && fastest < most_speed, "{count}: {drift} m, {fastest} m/s");
    }
}

#[test]
fn a_collision_keeps_momentum_and_gives_back_what_restitution_leaves() {
    let ball = Shape::Sphere { radius: 0.1 };
    let rod = Shape::Capsule { radius: 0.05, length: 0.3 };
    let drum = Shape::Cylinder { radius: 0.1, height: 0.15 };
    for restitution in [0.0, 0.5, 1.0] {
        for (k, [a, b]) in [[ball, ball], [CUBE, ball], [CUBE, CUBE], [rod, CUBE], [drum, drum], [rod, drum]]
            .into_iter()
            .enumerate()
        {
            let mut first = body("first", a, Vec3::ZERO, 1.0);
            first.velocity = Vec3::new(3.0, 0.2, 0.0);
            first.obstacle = first.obstacle.restitution(restitution).friction(0.0);
            let mut second = body("second", b, Vec3::new(0.6, 0.05, 0.02), 3.0);
            second.obstacle = second.obstacle.restitution(restitution).friction(0.0);
            second.obstacle.rotation = Quat::from_rotation_z(0.3);
            let mut description = scene(vec![first, second], Vec::new());
            description.gravity = Vec3::ZERO;
            let total = |world: &World, state: &State| {
                let inertia = |k: usize| {
                    let turn = glam::DMat3::from_quat(state.rigid_bodies()[k].pose.rotation.as_dquat());
                    let own = world.description().rigid_bodies[k].inertia().unwrap().as_dvec3();
                    turn * glam::DMat3::from_diagonal(own) * turn.transpose()
                };
                (0..2).fold((DVec3::ZERO, DVec3::ZERO, 0.0), |(p, l, e), k| {
                    let (body, m) = (state.rigid_bodies()[k], [1.0, 3.0][k]);
                    let (x, v) = (body.pose.position.as_dvec3(), body.velocity.as_dvec3());
                    let spin = body.angular_velocity.as_dvec3();
                    let own = inertia(k) * spin;
                    (p + m * v, l + m * x.cross(v) + own, e + 0.5 * (m * v.length_squared() + own.dot(spin)))
                })
            };
            let (mut before, mut normal) = (None, None);
            let (world, state) = run(description, 12, |_, world, state| {
                before.get_or_insert_with(|| total(world, state));
                let [first, second] = [state.rigid_bodies()[0], state.rigid_bodies()[1]];
                if second.velocity != Vec3::ZERO {
                    normal.get_or_insert(second.velocity.normalize());
                }
                assert!(first.is_finite());
            });
            let (before, after) = (before.unwrap(), total(&world, &state));
            assert!(
                (after.0 - before.0).length() < 1e-6 * before.0.length(),
                "{k} {restitution}: {after:?} {before:?}"
            );
            // The rotation of a step is of second order.
            assert!((after.1 - before.1).length() < 0.01, "{k} {restitution}: {after:?} {before:?}");
            let hit = state.rigid_bodies()[1].velocity.length();
            assert!(hit > 0.3, "{k}: they did not meet, {hit}");
            if restitution == 1.0 {
                assert!((after.2 / before.2 - 1.0).abs() < 5e-3, "{k}: {after:?} {before:?}");
            } else {
                assert!(after.2 < before.2, "{k}: {after:?} {before:?}");
            }
            if k == 0 {
                // Without friction the impulse is along the line of centres: what is lost is that of the
                // approaching speed, with the reduced mass of 0.75 kg.
                let along = normal.expect("they met").as_dvec3();
                let approach = DVec3::new(3.0, 0.2, 0.0).dot(along);
                let lost = 0.5 * 0.75 * (1.0 - f64::from(restitution).powi(2)) * approach * approach;
                assert!((before.2 - after.2 - lost).abs() < 0.02 * before.2, "{lost}: {after:?} {before:?}");
            }
        }
    }
}

#[test]
fn friction_holds_and_lets_slide_on_an_incline() {
    let slope = 20f32.to_radians();
    let down = Vec3::new(slope.sin(), -slope.cos(), 0.0) * 9.81;
    for (shape, friction, expected) in [
        (CUBE, 0.5, 0.0),
        (CUBE, 0.2, 9.81 * (slope.sin() - 0.2 * slope.cos())),
        (Shape::Sphere { radius: 0.1 }, 0.5, 5.0 / 7.0 * 9.81 * slope.sin()),
        (Shape::Cylinder { radius: 0.1, height: 0.2 }, 0.5, 2.0 / 3.0 * 9.81 * slope.sin()),
    ] {
        let mut sliding = body("body", shape, Vec3::Y * 0.1, 1.0);
        sliding.obstacle.friction = friction;
        if matches!(shape, Shape::Cylinder { .. }) {
            sliding.obstacle.rotation = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        }
        let mut description = scene(vec![sliding], vec![Obstacle::floor(0.0).friction(friction)]);
        description.gravity = down;
        let (_, state) = run(description, 60, |_, _, _| ());
        let body = state.rigid_bodies()[0];
        println!(
            "{shape:?} {friction}: {} of {}, at {}",
            body.velocity.x,
            2.0 * expected,
            body.pose.position
        );
        assert!(
            (body.velocity.x - 2.0 * expected).abs() < 0.01 * 2.0 * expected + 1e-4,
            "{shape:?}: {body:?}"
        );
        assert!((body.pose.position.y - 0.1).abs() < 1e-3, "{shape:?}: {body:?}");
    }
}

#[test]
fn a_ball_stays_in_a_bowl_of_triangles_and_comes_to_rest() {
    let sphere = Generator::Sphere { radius: 1.0, frequency: 12 }.generate().unwrap();
    let is_low = |t: &[u32; 3]| t.iter().all(|&v| sphere.positions[v as usize].y < 0.1);
    let triangles = sphere.triangles.iter().copied().filter(is_low).collect();
    let bowl = mesh_obstacle("bowl", sphere.positions.clone(), triangles);
    let mut bodies = Vec::new();
    for (k, shape) in [
        Shape::Sphere { radius: 0.15 },
        CUBE,
        Shape::Capsule { radius: 0.08, length: 0.2 },
        Shape::Cylinder { radius: 0.1, height: 0.15 },
    ]
    .into_iter()
    .enumerate()
    {
        let at = Vec3::new(0.3 * (k % 2) as f32 - 0.2, 0.3 + 0.3 * k as f32, 0.25 * (k / 2) as f32 - 0.1);
        bodies.push(body(format!("body-{k}"), shape, at, 1.0));
    }
    let mut description = scene(bodies, Vec::new());
    description.mesh_obstacles = vec![bowl];
    let (_, state) = run(description, 150, |frame, _, state| {
        for (k, body) in state.rigid_bodies().iter().enumerate() {
            let out = body.pose.position.length();
            assert!(body.pose.position.y > 0.1 || out < 1.4, "frame {frame}, body {k}: {body:?}");
            assert!(body.pose.position.y > -0.95, "frame {frame}, body {k} fell through: {body:?}");
        }
    });
    for body in state.rigid_bodies() {
        println!("{body:?}");
        assert!(body.pose.position.length() < 1.0);
        // The ball rolls on, and nothing damps that.
        assert!(body.velocity.length() < 0.5, "{body:?}");
    }
}

#[test]
fn what_is_fast_does_not_pass_a_thin_wall_of_triangles() {
    let wall = |shift: f32| {
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        corners.map(|[y, z]| Vec3::new(shift, y, z)).to_vec()
    };
    for speed in [5.0, 20.0, 100.0, 1000.0] {
        for shape in [
            Shape::Sphere { radius: 0.05 },
            Shape::Box { size: Vec3::new(0.1, 0.02, 0.1) },
            Shape::Cylinder { radius: 0.05, height: 0.03 },
            Shape::Capsule { radius: 0.03, length: 0.1 },
        ] {
            let mut shot = body("shot", shape, Vec3::new(-0.7, 0.13, 0.05), 0.2);
            (shot.velocity, shot.angular_velocity) = (Vec3::X * speed, Vec3::new(3.0, 7.0, 1.0));
            let mut description = scene(vec![shot], Vec::new());
            description.gravity = Vec3::ZERO;
            description.mesh_obstacles = vec![mesh_obstacle("wall", wall(0.0), vec![[0, 1, 2], [0, 2, 3]])];
            let (_, state) = run(description.clone(), 10, |_, _, _| ());
            let x = state.rigid_bodies()[0].pose.position.x;
            assert!(x < 0.0 && x > -0.7 - 0.35 * speed, "{shape:?} at {speed} m/s: {x}");
            // The same in the frame of the ball: the wall comes.
            description.rigid_bodies[0].velocity = Vec3::ZERO;
            let seconds = 0.2;
            description.mesh_obstacles[0].frames =
                MeshFrames { positions: vec![wall(0.0), wall(-speed * seconds)], times: vec![0.0, seconds] };
            let (_, state) = run(description, 10, |frame, _, state| {
                let (x, t) = (state.rigid_bodies()[0].pose.position.x, (frame as f32 / 30.0).min(seconds));
                assert!(
                    x < -speed * t + 0.01 || speed > 100.0,
                    "{shape:?}: {x} at {t} s, wall at {speed} m/s"
                );
            });
            assert!(speed > 100.0 || state.rigid_bodies()[0].pose.position.x < -0.7 - 0.1 * speed * seconds);
        }
    }
}

#[test]
fn a_box_slides_and_a_ball_rolls_over_the_edges_of_a_flat_mesh_as_over_a_plane() {
    let floor = grid([4.0, 2.0], [37, 19], Diagonals::Alternating, 0);
    let positions = floor.positions.iter().map(|p| Vec3::new(p.x - 1.0, 0.0, p.z - 1.0)).collect();
    let mesh = MeshObstacle { friction: 0.5, ..mesh_obstacle("floor", positions, floor.triangles) };
    for shape in [CUBE, Shape::Sphere { radius: 0.1 }, Shape::Capsule { radius: 0.1, length: 0.2 }] {
        let mut sliding = body("body", shape, Vec3::new(0.0, 0.1, 0.0), 1.0);
        sliding.velocity = Vec3::X * 2.0;
        sliding.obstacle.friction = 0.1;
        if matches!(shape, Shape::Capsule { .. }) {
            sliding.obstacle.rotation = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        }
        let plane = scene(vec![sliding], vec![Obstacle::floor(0.0).friction(0.5)]);
        let mut triangles = plane.clone();
        triangles.obstacles.clear();
        triangles.mesh_obstacles = vec![mesh.clone()];
        let [on_plane, on_mesh] = [plane, triangles].map(|d| run(d, 30, |_, _, _| ()).1.rigid_bodies()[0]);
        println!("{shape:?}\n  {on_plane:?}\n  {on_mesh:?}");
        assert!(on_plane.pose.position.distance(on_mesh.pose.position) < 2e-3, "{shape:?}");
        assert!((on_plane.velocity - on_mesh.velocity).length() < 0.02, "{shape:?}");
    }
}

/// A ball on a stiff spring, and on a chain of rods: the period of a pendulum, and no energy out of nothing.
#[test]
fn a_ball_swings_on_a_spring_and_on_a_chain_of_rods() {
    let length = 1.0f32;
    let tie = |ends: [SpringEnd; 2], rest: Option<f32>| Spring {
        rest,
        damping: 100.0,
        ..Spring::new("tie", ends, 1e6)
    };
    let angle = 0.2f32;
    let way = Vec3::new(angle.sin(), -angle.cos(), 0.0);
    let ball = body("ball", Shape::Sphere { radius: 0.01 }, way * length, 10.0);
    let on = |body: usize, at: Vec3| SpringEnd::RigidBody { body, at };
    let mut single = scene(vec![ball.clone()], Vec::new());
    single.springs = vec![tie([SpringEnd::Point(Vec3::ZERO), on(0, Vec3::ZERO)], None)];
    let mut chain = scene(vec![ball], Vec::new());
    let links = 4;
    let part = length / links as f32;
    let (up, down) = (Vec3::Y * (0.5 * part), Vec3::Y * (-0.5 * part));
    for k in 0..links {
        let mut link = body(
            format!("link-{k}"),
            Shape::Capsule { radius: 0.01, length: part - 0.02 },
            way * (part * (k as f32 + 0.5)),
            0.05,
        );
        link.obstacle.rotation = Quat::from_rotation_z(angle);
        chain.rigid_bodies.push(link);
        let from = if k == 0 { SpringEnd::Point(Vec3::ZERO) } else { on(k, down) };
        chain.springs.push(tie([from, on(k + 1, up)], Some(0.0)));
    }
    chain.springs.push(tie([on(links, down), on(0, Vec3::ZERO)], Some(0.0)));
    for (name, mut description) in [("spring", single), ("chain", chain)] {
        description.solver.steps_per_frame = 8;
        let (mut last, mut crossings) = (f32::NAN, Vec::new());
        run(description, 150, |frame, _, state| {
            let ball = state.rigid_bodies()[0].pose.position;
            assert!(
                (ball.length() - length).abs() < 0.02 * length,
                "{name}, frame {frame}: {}",
                ball.length()
            );
            if last > 0.0 && ball.x <= 0.0 {
                crossings.push((frame as f32 - ball.x / (ball.x - last)) / 30.0);
            }
            last = ball.x;
        });
        // Of a pendulum of this amplitude.
        let period = std::f32::consts::TAU * (length / 9.81).sqrt() * (1.0 + angle * angle / 16.0);
        let found = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f32;
        println!("{name}: period {found} s of {period} s, swing {crossings:?}");
        assert!((found / period - 1.0).abs() < 0.02, "{name}: {found} {period}");
    }
}

#[test]
fn bits_do_not_depend_on_threads_and_a_snapshot_goes_on() {
    let bowl = Generator::Sphere { radius: 1.0, frequency: 8 }.generate().unwrap();
    let shapes = [CUBE, Shape::Sphere { radius: 0.1 }, Shape::Cylinder { radius: 0.1, height: 0.2 }];
    let bodies = (0..6).map(|k| {
        let at = Vec3::new(0.1 * (k % 2) as f32, 0.25 * k as f32 - 0.6, 0.07 * (k % 3) as f32);
        body(format!("body-{k}"), shapes[k % 3], at, 1.0 + k as f32)
    });
    let mut description = scene(bodies.collect(), Vec::new());
    description.mesh_obstacles = vec![mesh_obstacle("bowl", bowl.positions, bowl.triangles)];
    description.springs =
        vec![Spring::new("tie", [0, 3].map(|body| SpringEnd::RigidBody { body, at: Vec3::Y * 0.05 }), 500.0)];
    let world = World::new(description).unwrap();
    let fall = |threads: usize| {
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
        (0..20).for_each(|_| _ = stepper.advance_frame(&world, &mut state));
        state
    };
    let one = fall(1);
    for threads in [2, 5] {
        assert_eq!(fall(threads).rigid_bodies(), one.rigid_bodies(), "{threads} threads");
    }
    let mut again = State::restore(&world, &one.snapshot(&world)).unwrap();
    let (mut one, mut stepper) = (one, Stepper::new(&world, 1).unwrap());
    (0..10).for_each(|_| _ = stepper.advance_frame(&world, &mut one));
    let mut stepper = Stepper::new(&world, 2).unwrap();
    (0..10).for_each(|_| _ = stepper.advance_frame(&world, &mut again));
    assert_eq!(again.rigid_bodies(), one.rigid_bodies());
}

#[test]
fn springs_that_cannot_join_rigid_bodies_are_refused_by_name() {
    let says = |ends: [SpringEnd; 2], what: &str| {
        let mut description = scene(vec![body("a", CUBE, Vec3::ZERO, 1.0)], Vec::new());
        description.springs = vec![Spring::new("tie", ends, 10.0)];
        let error = World::new(description).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("\"tie\"") && error.contains(what), "{error}");
    };
    let on = |body: usize| SpringEnd::RigidBody { body, at: Vec3::ZERO };
    says([on(0), SpringEnd::Vertex { body: 0, vertex: 0 }], "joins a rigid body to a vertex");
    says([on(0), SpringEnd::RigidBody { body: 0, at: Vec3::X }], "the same rigid body");
    says([on(4), SpringEnd::Point(Vec3::ZERO)], "no rigid body 4");
    says([SpringEnd::RigidBody { body: 0, at: Vec3::NAN }, SpringEnd::Point(Vec3::ZERO)], "finite");
}

/// What a body carries that lies on cloth itself is a step behind it, and sinks into it: by 17 mm when both
/// land on the sheet, by 4 mm at rest. It stays on it, and at rest.
#[test]
fn a_box_on_a_box_on_a_sheet_stays_there() {
    let mut description = super::rigid::trampoline(16, 1.0, 0.0);
    let middle = description.rigid_bodies[0].obstacle.position - Vec3::Y * 0.1;
    let slab = Shape::Box { size: Vec3::new(0.3, 0.06, 0.3) };
    description.rigid_bodies = vec![
        body("lower", slab, middle + Vec3::Y * 0.035, 1.0),
        body("upper", CUBE, middle + Vec3::Y * 0.165, 0.5),
    ];
    let (mut deepest, mut fastest) = (0.0f32, 0.0f32);
    let (_, state) = run(description, 90, |frame, _, state| {
        let [lower, upper] = [state.rigid_bodies()[0], state.rigid_bodies()[1]];
        deepest = deepest.max(0.13 - lower.pose.to_body(upper.pose.position).y);
        if frame > 60 {
            let speeds = [0, 1].map(|k| state.rigid_velocities(k)[0].length());
            fastest = fastest.max(speeds[0]).max(speeds[1]);
        }
    });
    let at = state.rigid_bodies()[0].pose.to_body(state.rigid_bodies()[1].pose.position);
    println!("overlap {:.2} mm, {fastest:.4} m/s in the last second, upper at {at}", 1e3 * deepest);
    assert!(at.x.abs().max(at.z.abs()) < 0.02 && (at.y - 0.13).abs() < 0.01, "{at}");
    assert!(deepest < 0.02 && fastest < 0.01, "{deepest} m, {fastest} m/s");
}
