//! The front door: handles, bodies and obstacles that come and go, poses, events, budgets, errors by name.

use std::time::Duration;

use glam::{Quat, Vec3};
use taut::{
    Budget, Cloth, Contact, Description, Event, Grip, Limit, Material, MeshFrames, MeshObstacle, Motion,
    Obstacle, Pin, Pose, RigidBody, Seam, Simulation, SimulationError, World, low_level::Keyframe,
    mesh::generate,
};

const DT: f32 = 1.0 / 60.0;

/// A sheet of 1 m, `cells` × `cells`, that may stretch by 5 %, at `at`, not held.
fn sheet(name: &str, cells: u32, at: Vec3) -> Cloth {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    Cloth::new(name, mesh, Material::default()).stretch(..=0.05).placed(Pose::at(at))
}

fn empty() -> Simulation {
    Simulation::builder().time_step(DT).threads(1).build().unwrap()
}

fn steps(simulation: &mut Simulation, count: u32) {
    for _ in 0..count {
        simulation.step(DT, Budget::unlimited()).unwrap();
    }
}

fn is_stale<T>(result: Result<T, SimulationError>) -> bool {
    matches!(result, Err(SimulationError::StaleHandle { .. }))
}

#[test]
fn handles_of_what_was_removed_are_stale_and_those_of_others_are_not() {
    let mut simulation = empty();
    let first = simulation.insert(sheet("first", 4, Vec3::ZERO)).unwrap();
    let second = simulation.insert(sheet("second", 6, Vec3::Y)).unwrap();
    let ball = simulation.insert_obstacle(Obstacle::sphere(Vec3::ZERO, 0.1)).unwrap();
    let grip = simulation.grip(first, [0; 3], [1.0, 0.0, 0.0], Grip::Hard).unwrap();
    simulation.remove(first).unwrap();
    simulation.remove_obstacle(ball).unwrap();
    assert!(is_stale(simulation.positions(first)) && is_stale(simulation.remove(first)));
    assert!(is_stale(simulation.set_stretch_limit(first, ..=0.1)) && is_stale(simulation.pin(first, 0)));
    assert!(is_stale(simulation.set_next_pose(ball, Pose::IDENTITY)) && is_stale(simulation.pose(ball)));
    assert!(is_stale(simulation.move_grip(grip, Vec3::ZERO)) && is_stale(simulation.release(grip)));
    assert_eq!(simulation.positions(second).unwrap().len(), 49);
    let third = simulation.insert(sheet("third", 5, Vec3::ZERO)).unwrap();
    assert!(is_stale(simulation.positions(first)), "its slot is used again");
    assert_eq!(simulation.positions(third).unwrap().len(), 36);
    assert_eq!(simulation.bodies().collect::<Vec<_>>(), [second, third]);
    assert!(is_stale(empty().positions(third)), "of another simulation");
}

#[test]
fn what_cannot_be_is_an_error_by_name_and_changes_nothing() {
    let mut simulation = empty();
    let cloth = simulation.insert(sheet("sheet", 4, Vec3::ZERO)).unwrap();
    let ball = simulation.insert_obstacle(Obstacle::sphere(Vec3::NEG_Y, 0.1)).unwrap();
    for limit in [Limit::from(..=-0.1), (0.2..).into(), (-2.0..=0.1).into(), (..=f32::NAN).into()] {
        let refused = simulation.set_stretch_limit(cloth, limit);
        assert!(matches!(refused, Err(SimulationError::LimitOutOfRange { .. })), "{limit:?}");
        let refused = simulation.set_bend_limit(cloth, ..=-3.0);
        assert!(matches!(refused, Err(SimulationError::LimitOutOfRange { .. })));
    }
    assert_eq!(simulation.stretch_limit(cloth).unwrap(), (..=0.05).into());
    let turned = |rotation| Pose { rotation, position: Vec3::ZERO };
    for pose in [
        Pose::at(Vec3::NAN),
        Pose::at(Vec3::splat(2e6)),
        turned(Quat::from_xyzw(f32::INFINITY, 0.0, 0.0, 1.0)),
        turned(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
    ] {
        let refused = simulation.set_next_pose(ball, pose);
        assert!(matches!(refused, Err(SimulationError::InvalidPose(_))), "{pose:?}");
    }
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let refused = simulation.step(dt, Budget::unlimited());
        assert!(matches!(refused, Err(SimulationError::InvalidTimeStep(_))), "{dt}");
    }
    let refused = simulation.pin(cloth, 25);
    assert!(matches!(refused, Err(SimulationError::NoSuchVertex { vertex: 25, count: 25, .. })));
    let refused = simulation.insert(sheet("bad", 2, Vec3::NAN));
    assert!(matches!(refused, Err(SimulationError::World(_))));
    assert_eq!((simulation.bodies().len(), simulation.frame()), (1, 0));
    assert!(World::new(Description::default()).is_err(), "a world of no bodies, one level below");
}

#[test]
fn an_empty_simulation_steps_obstacles_and_rigid_bodies() {
    let mut simulation = empty();
    steps(&mut simulation, 3);
    let ball = simulation.insert_obstacle(Obstacle::sphere(Vec3::ZERO, 0.1)).unwrap();
    let mass = RigidBody {
        obstacle: Obstacle::sphere(Vec3::Y, 0.1),
        mass: 1.0,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
    };
    let falling = simulation.insert_rigid_body(mass).unwrap();
    simulation.set_next_pose(ball, Pose::at(Vec3::X)).unwrap();
    steps(&mut simulation, 6);
    assert_eq!(simulation.pose(ball).unwrap().position, Vec3::X);
    let (time, fallen) = (6.0 * DT, 1.0 - simulation.rigid_body(falling).unwrap().pose.position.y);
    assert!((fallen - 0.5 * 9.81 * time * time).abs() < 1e-4, "{fallen}");
    assert!((simulation.time() - 9.0 * DT).abs() < 1e-5 && simulation.frame() == 9);
    let cloth = simulation.insert(sheet("late", 4, Vec3::ZERO)).unwrap();
    steps(&mut simulation, 1);
    assert!(simulation.positions(cloth).unwrap().at(0).y < 0.0);
}

#[test]
fn others_go_on_bit_for_bit_when_bodies_come_and_go() {
    let mut alone = empty();
    let mut busy = empty();
    let pinned = || sheet("flag", 12, Vec3::ZERO).pin([0, 12]);
    let (a, b) = (alone.insert(pinned()).unwrap(), busy.insert(pinned()).unwrap());
    let same = |alone: &Simulation, busy: &Simulation, what: &str| {
        assert_eq!(alone.positions(a).unwrap().to_vec(), busy.positions(b).unwrap().to_vec(), "{what}");
        assert_eq!(alone.velocities(a).unwrap().to_vec(), busy.velocities(b).unwrap().to_vec(), "{what}");
    };
    steps(&mut alone, 10);
    steps(&mut busy, 10);
    // A twin far away, falling freely, leaves units, steps and substeps as they are.
    let other = busy.insert(sheet("other", 12, Vec3::new(50.0, 0.0, 0.0))).unwrap();
    same(&alone, &busy, "inserted");
    steps(&mut alone, 10);
    steps(&mut busy, 10);
    same(&alone, &busy, "ten steps beside another");
    assert!(busy.positions(other).unwrap().at(80).y < -0.01, "which falls too");
    busy.remove(other).unwrap();
    same(&alone, &busy, "removed");
    steps(&mut alone, 10);
    steps(&mut busy, 10);
    same(&alone, &busy, "ten steps after");
}

#[test]
fn removing_a_body_keeps_pins_and_grips_of_those_behind_it() {
    let mut simulation = empty();
    let gone = simulation.insert(sheet("gone", 3, Vec3::Y)).unwrap();
    let stays = simulation.insert(sheet("stays", 8, Vec3::ZERO).pin([0])).unwrap();
    simulation.pin(stays, 8).unwrap();
    let grip = simulation.grip(stays, [80; 3], [1.0, 0.0, 0.0], Grip::Hard).unwrap();
    let start = simulation.grip_point(grip).unwrap();
    simulation.remove(gone).unwrap();
    let mut pins: Vec<_> = simulation.pins().collect();
    pins.sort_unstable();
    assert_eq!(pins, [(stays, 0), (stays, 8)]);
    let target = start + Vec3::new(0.0, 0.01, 0.0);
    simulation.move_grip(grip, target).unwrap();
    steps(&mut simulation, 3);
    assert!(simulation.grip_point(grip).unwrap().distance(target) < 1e-3);
    simulation.pin_to(stays, 8, Vec3::new(1.0, 0.05, 0.0)).unwrap();
    steps(&mut simulation, 1);
    assert_eq!(simulation.positions(stays).unwrap().at(8), Vec3::new(1.0, 0.05, 0.0));
    // At rest there before it is let go: it moves on with the velocity that it has.
    steps(&mut simulation, 3);
    simulation.unpin(stays, 8).unwrap();
    simulation.release(grip).unwrap();
    steps(&mut simulation, 15);
    assert!(simulation.positions(stays).unwrap().at(8).y < 0.04, "it falls");
}

/// How far a sheet that lies on `obstacle` has gone along x when that has gone 0.3 m, and the obstacle.
fn carried(obstacle: impl Into<taut::AnyObstacle>, lift: f32) -> (f32, f32) {
    let mut simulation = empty();
    let plate = simulation.insert_obstacle(obstacle).unwrap();
    let cloth = simulation.insert(sheet("sheet", 6, Vec3::new(-0.5, lift, -0.5))).unwrap();
    steps(&mut simulation, 20);
    let middle = |simulation: &Simulation| simulation.positions(cloth).unwrap().at(24).x;
    let (start, before) = (simulation.pose(plate).unwrap(), middle(&simulation));
    for k in 1..=30 {
        let shift = Vec3::new(0.01 * k as f32, 0.0, 0.0);
        simulation.set_next_pose(plate, Pose { position: start.position + shift, ..start }).unwrap();
        steps(&mut simulation, 1);
        assert_eq!(simulation.pose(plate).unwrap().position, start.position + shift);
    }
    (middle(&simulation) - before, simulation.positions(cloth).unwrap().at(24).y)
}

#[test]
fn an_obstacle_that_is_moved_drags_cloth_along_with_friction() {
    let plate =
        |friction| Obstacle::cuboid(Vec3::ZERO, Vec3::new(4.0, 0.2, 4.0)).friction(friction).margin(0.002);
    let ((rough, y), (smooth, _)) = (carried(plate(0.8), 0.104), carried(plate(0.0), 0.104));
    assert!((0.25..0.31).contains(&rough), "dragged by {rough} m of 0.3 m");
    assert!(smooth.abs() < 0.02, "without friction it stays: {smooth} m");
    assert!((y - 0.102).abs() < 0.01, "it lies on the plate: {y}");
}

#[test]
fn a_mesh_obstacle_that_is_moved_drags_cloth_along_too() {
    let plate = generate::grid([4.0, 4.0], [4, 4], generate::Diagonals::Regular, 0);
    let positions = plate.positions.iter().map(|&x| x - Vec3::new(2.0, 0.0, 2.0)).collect();
    let obstacle = MeshObstacle {
        name: "plate".into(),
        triangles: plate.triangles,
        frames: MeshFrames::still(positions),
        friction: 0.8,
        margin: 0.005,
        ..MeshObstacle::default()
    };
    let (dragged, y) = carried(obstacle, 0.008);
    assert!((0.2..0.32).contains(&dragged), "dragged by {dragged} m of 0.3 m");
    assert!(y > 0.0, "it lies on the plate: {y}");
}

#[test]
fn limits_that_are_changed_hold_and_give_what_building_anew_gives() {
    let mut simulation = empty();
    let cloth = simulation.insert(sheet("sheet", 16, Vec3::ZERO).pin([0, 16])).unwrap();
    steps(&mut simulation, 30);
    for max in [0.01, 0.1, 0.02] {
        simulation.set_stretch_limit(cloth, ..=max).unwrap();
        steps(&mut simulation, 20);
        let stretch = simulation.body_certificate(cloth).unwrap().strain.max_stretch;
        assert!(stretch <= 1.0 + f64::from(max) + 0.0101, "{max}: {stretch}");
    }
    steps(&mut simulation, 60);
    let mut anew = empty();
    let other = anew.insert(sheet("sheet", 16, Vec3::ZERO).stretch(..=0.02).pin([0, 16])).unwrap();
    steps(&mut anew, 170);
    let lowest = |simulation: &Simulation, body| {
        simulation.positions(body).unwrap().iter().map(|x| x.y).fold(f32::INFINITY, f32::min)
    };
    let [changed, built] = [lowest(&simulation, cloth), lowest(&anew, other)];
    assert!((changed - built).abs() < 0.03, "hangs down to {changed} m, and {built} m");
    // Both sides, where there was one: the tables are built again.
    simulation.set_stretch_limit(cloth, -0.05..=0.05).unwrap();
    steps(&mut simulation, 5);
    let residual = simulation.body_certificate(cloth).unwrap().strain.max_residual;
    assert!(residual <= 0.0101, "{residual}");
}

#[test]
fn a_limit_that_is_not_met_in_time_is_an_event() {
    for (iterations, frames) in [(1, 20), (10, 60)] {
        let mut simulation = empty();
        let cloth = simulation.insert(sheet("sheet", 20, Vec3::ZERO).pin([0, 20])).unwrap();
        // A clock that stands past every deadline: no time at all.
        let late = Budget::millis(0.0).with_clock(|| Duration::from_secs(1));
        let hurried = late.with_min_iterations(iterations);
        let mut found = 0;
        for _ in 0..frames {
            let report = simulation.step(DT, hurried).unwrap();
            assert_eq!(report.rescued, 0);
            let events: Vec<_> = simulation.drain_events().collect();
            assert_eq!(events.is_empty(), report.converged, "{events:?}");
            for event in events {
                let Event::LimitNotMet { body, element, excess } = event else { panic!("{event:?}") };
                assert!(body == cloth && matches!(element, taut::Element::Triangle(_)) && excess > 1e-5);
                assert!(excess < if iterations == 1 { 1.0 } else { 0.2 }, "{iterations}: {excess}");
                found += 1;
            }
        }
        assert!(found > 0 && simulation.drain_events().next().is_none());
        // A clock that stands still lets it iterate as long as it needs.
        let patient = Budget::millis(1.0).with_clock(|| Duration::ZERO);
        let ended = (0..20).map(|_| simulation.step(DT, patient).unwrap()).last().unwrap();
        assert!(ended.converged && simulation.drain_events().next().is_none());
    }
}

#[test]
fn tangles_and_closed_seams_are_events() {
    let contact = Contact { thickness: 0.01, friction: 0.3 };
    let mut simulation = Simulation::builder().contact(contact).threads(1).build().unwrap();
    let flat = sheet("flat", 6, Vec3::ZERO);
    let upright = sheet("upright", 6, Vec3::ZERO)
        .placed(Pose { rotation: Quat::from_rotation_x(1.5), position: Vec3::new(0.03, 0.48, 0.52) });
    let [flat, upright] = [simulation.insert(flat).unwrap(), simulation.insert(upright).unwrap()];
    simulation.step(DT, Budget::unlimited()).unwrap();
    let tangled = |event: Event| match event {
        Event::Tangled { body, edges, .. } => (body == flat || body == upright) && edges > 0,
        _ => false,
    };
    assert!(simulation.drain_events().any(tangled), "one passes through the other");

    let (left, right) = (sheet("left", 6, Vec3::ZERO), sheet("right", 6, Vec3::new(1.02, 0.0, 0.0)));
    let pairs = (0..7).map(|k| [(0, 7 * k + 6), (1, 7 * k)]).collect();
    let seam = Seam { name: "middle".into(), pairs, ..Seam::default() };
    let description =
        Description { bodies: vec![left.into(), right.into()], seams: vec![seam], ..Description::default() };
    let mut simulation = Simulation::from_description(description, 1).unwrap();
    let closed: Vec<Event> = (0..10)
        .flat_map(|_| {
            simulation.step_frame();
            simulation.drain_events().collect::<Vec<_>>()
        })
        .filter(|event| matches!(event, Event::SeamClosed { .. }))
        .collect();
    let bodies: Vec<_> = simulation.bodies().collect();
    assert_eq!(closed, [Event::SeamClosed { seam: "middle".into(), bodies: [bodies[0], bodies[1]] }]);
}

#[test]
fn time_goes_on_when_the_step_changes_its_length() {
    let key = |time, x| Keyframe { time, translate: Vec3::new(x, 0.0, 0.0), ..Keyframe::default() };
    let motion = Motion { keys: vec![key(0.0, 0.0), key(2.0, 2.0)], ..Motion::default() };
    let late = Pin { vertices: vec![4], motion: motion.clone(), from: 0.1, ..Pin::default() };
    let mut cloth = sheet("sheet", 4, Vec3::ZERO).pin([0]);
    cloth.pins.push(late);
    let mut simulation = empty();
    let cloth = simulation.insert(cloth).unwrap();
    let ball = Obstacle { motion, ..Obstacle::sphere(Vec3::new(0.0, 5.0, 0.0), 0.1) };
    let ball = simulation.insert_obstacle(ball).unwrap();
    let mut time = 0.0;
    let mut last = None;
    for dt in [0.02, 0.02, 0.05, 0.03, 0.007, 0.007, 0.05, 0.011, 0.02] {
        simulation.step(dt, Budget::unlimited()).unwrap();
        time += dt;
        assert!((simulation.time() - time).abs() < 1e-5, "{} {time}", simulation.time());
        let x = simulation.pose(ball).unwrap().position.x;
        assert!((x - time).abs() < 1e-4, "the obstacle is where its keyframes have it: {x} m at {time} s");
        let pinned = simulation.positions(cloth).unwrap().at(4);
        if time > 0.14 {
            // Caught, and carried along at 1 m/s.
            let (then, before): (f32, Vec3) = last.unwrap_or((time, pinned));
            assert!((pinned.x - before.x - (time - then)).abs() < 1e-4, "{pinned} at {time} s");
            assert!((pinned.y - before.y).abs() < 1e-6);
            last = Some((time, pinned));
        }
    }
    assert!(last.is_some());
    simulation.reset();
    assert_eq!((simulation.time(), simulation.frame()), (0.0, 0));
    assert!(simulation.positions(cloth).unwrap().at(24).y.abs() < 1e-3);
}
