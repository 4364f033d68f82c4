//! Limits of cloth that cannot be met: lower ones give way first, steps end early, and all comes back.

use glam::Vec3;
use taut::{
    Cloth, Description, Limit, Material, MeshFrames, MeshObstacle, Motion, Pin, State, Stepper, World,
    boundary::motion::Keyframe, certify, mesh::generate,
};

/// A sheet of 0.4 m between two plates, so that it cannot buckle. Its left and right edges are
/// pushed towards each other until it is shorter by `by`, and back.
fn between_plates(by: f32) -> World {
    let mesh = generate::grid([0.4, 0.4], [20, 20], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
    cloth.strain = Limit { min: Some(-0.01), max: Some(0.01) };
    let pin = |cloth: &Cloth, left: bool| {
        let on = |v: &u32| {
            let x = cloth.mesh.positions[*v as usize].x;
            if left { x < 1e-4 } else { x > 0.4 - 1e-4 }
        };
        let key = |time: f32, way: f32| Keyframe {
            time,
            translate: Vec3::X * if left { 0.2 * way } else { -0.2 * way },
            ..Keyframe::default()
        };
        let keys = vec![key(0.1, 0.0), key(0.5, by), key(0.7, by), key(1.0, 0.0)];
        let vertices = (0..cloth.mesh.positions.len() as u32).filter(on).collect();
        Pin { vertices, motion: Motion { keys, ..Motion::default() }, ..Pin::default() }
    };
    cloth.pins = vec![pin(&cloth, true), pin(&cloth, false)];
    // 1 mm of room on each side.
    let plate = |side: f32| {
        let mesh = generate::grid([0.6, 0.6], [6, 6], generate::Diagonals::Regular, 0);
        let places = mesh.positions.iter().map(|p| *p + Vec3::new(-0.1, 0.002 * side, -0.1)).collect();
        MeshObstacle {
            name: format!("plate {side}"),
            triangles: mesh.triangles,
            frames: MeshFrames::at_rate(vec![places], 1.0, 0.0),
            margin: 0.001,
            ..MeshObstacle::default()
        }
    };
    let mesh_obstacles = vec![plate(1.0), plate(-1.0)];
    World::new(Description { bodies: vec![cloth.into()], mesh_obstacles, ..Description::default() }).unwrap()
}

#[test]
fn compression_gives_way_before_stretch_and_comes_back() {
    let world = between_plates(0.08);
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    let mut given_way = 0;
    for frame in 1..=60 {
        let report = stepper.advance_frame(&world, &mut state);
        let found = &certify(&world, &state).bodies[0].strain;
        // Without it, steps go on to their cap of thousands. Contacts that the guard finds are solved for
        // again, up to three times in each of four steps.
        assert!(report.iterations < 1600, "frame {frame}: {} iterations", report.iterations);
        // Single triangles stretch where the guard stops a vertex: there is 1 mm of room.
        assert!(found.max_stretch_residual < 0.06, "frame {frame}: {}", found.max_stretch_residual);
        given_way += u32::from(report.given_way > 0);
        // Shorter by 8 % in all, within 1 %: what is lost is spread.
        if frame == 20 {
            assert!(report.given_way > 400, "{}", report.given_way);
            assert!((0.05..0.09).contains(&found.mean_compression_residual), "{found:?}");
            assert!(found.max_compression_residual < 0.4, "{found:?}");
        }
    }
    assert!((5..50).contains(&given_way), "in {given_way} frames");
    let found = &certify(&world, &state).bodies[0].strain;
    assert!(found.max_residual < 0.011, "{found:?}");
}

#[test]
fn what_gave_way_is_part_of_a_snapshot() {
    let world = between_plates(0.08);
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    for _ in 0..16 {
        stepper.advance_frame(&world, &mut state);
    }
    let mut again = State::restore(&world, &state.snapshot(&world)).unwrap();
    let mut other = Stepper::new(&world, 1).unwrap();
    for _ in 0..4 {
        let report = stepper.advance_frame(&world, &mut state);
        assert!(report.given_way > 0);
        assert_eq!(other.advance_frame(&world, &mut again).given_way, report.given_way);
    }
    assert_eq!(state.positions(&world, 0), again.positions(&world, 0));
}
