//! Cloth against solids (W6): nothing inside at the end of a frame, friction that holds and slides as it
//! should, bounces, and starts inside an obstacle.

use glam::{Quat, Vec3};
use taut::{
    Cloth, Description, Limit, Material, Motion, Obstacle, State, Stepper, World,
    boundary::{motion::Keyframe, motion::rotation_of_degrees, obstacle::Shape},
    certify,
    mesh::generate,
};

fn obstacle(shape: Shape, position: Vec3, rotation: Quat, friction: f32, restitution: f32) -> Obstacle {
    Obstacle {
        name: "o".into(),
        shape,
        position,
        rotation,
        motion: Motion::default(),
        friction,
        restitution,
        margin: 0.0,
    }
}

/// A small sheet with limits, its centre at `center`, turned by `rotation`.
fn patch(size: f32, cells: u32, center: Vec3, rotation: Quat) -> Cloth {
    let mesh = generate::grid([size, size], [cells, cells], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("patch", mesh, Material::named("denim").unwrap());
    cloth.strain = Limit { min: None, max: Some(0.05) };
    cloth.material.damping = 0.0;
    for p in &mut cloth.start {
        *p = rotation * (*p - Vec3::new(0.5 * size, 0.0, 0.5 * size)) + center;
    }
    cloth
}

fn simulate(cloth: Cloth, obstacles: Vec<Obstacle>, frames: u32, mut each: impl FnMut(&World, &State)) {
    let mut description = Description { bodies: vec![cloth.into()], obstacles, ..Description::default() };
    description.air.density = 0.0;
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    for _ in 0..frames {
        stepper.advance_frame(&world, &mut state);
        let body = &certify(&world, &state).bodies[0];
        assert!(body.max_penetration < 1e-5, "frame {}: {} m deep", state.frame(), body.max_penetration);
        each(&world, &state);
    }
}

#[test]
fn friction_on_a_slope_holds_or_slides_as_coulomb_says() {
    let angle = 20.0f32;
    let slope = rotation_of_degrees(Vec3::new(0.0, 0.0, -angle));
    let slide = |friction: f32| {
        let cloth = patch(0.2, 6, slope * Vec3::new(0.0, 1e-5, 0.0), slope);
        let plane = obstacle(Shape::Plane, Vec3::ZERO, slope, friction, 0.0);
        let mut way = 0.0;
        simulate(cloth, vec![plane], 60, |world, state| {
            let center = certify(world, state).bodies[0].center_of_mass;
            way = Vec3::new(center[0] as f32, center[1] as f32, center[2] as f32).length();
        });
        way
    };
    let held = slide(0.5);
    assert!(held < 2e-3, "μ = 0.5 > tan 20° must hold: slid {held} m");
    let slid = slide(0.2);
    let expected = 0.5 * 9.81 * (angle.to_radians().sin() - 0.2 * angle.to_radians().cos()) * 4.0;
    assert!((slid / expected - 1.0).abs() < 0.03, "μ = 0.2: slid {slid} m, Coulomb says {expected} m");
    let free = slide(0.0);
    let expected = 0.5 * 9.81 * angle.to_radians().sin() * 4.0;
    assert!((free / expected - 1.0).abs() < 0.02, "no friction: slid {free} m, Newton says {expected} m");
}

#[test]
fn restitution_gives_back_its_share_of_the_height() {
    let height = |restitution: f32| {
        let cloth = patch(0.1, 4, Vec3::new(0.0, 0.5, 0.0), Quat::IDENTITY);
        let plane = obstacle(Shape::Plane, Vec3::ZERO, Quat::IDENTITY, 0.0, restitution);
        let (mut hit, mut top) = (false, 0.0f64);
        simulate(cloth, vec![plane], 30, |world, state| {
            let y = certify(world, state).bodies[0].center_of_mass[1];
            hit |= y < 0.05;
            if hit {
                top = top.max(y);
            }
        });
        top
    };
    let bounce = height(0.8);
    assert!((bounce - 0.64 * 0.5).abs() < 0.06, "rose to {bounce} m");
    assert!(height(0.0) < 0.06);
}

#[test]
fn no_shape_is_entered_and_none_is_jumped_across() {
    let shapes = [
        Shape::Sphere { radius: 0.2 },
        Shape::Box { size: Vec3::new(0.4, 0.3, 0.4) },
        Shape::Capsule { radius: 0.1, length: 0.3 },
        Shape::Cylinder { radius: 0.15, height: 0.3 },
        Shape::Torus { major: 0.2, minor: 0.06 },
        Shape::Plane,
    ];
    for shape in shapes {
        // At 20 m/s it moves by more than a torus's tube is thick in each of eight steps.
        let mut cloth = patch(0.6, 20, Vec3::new(0.0, 0.6, 0.0), Quat::IDENTITY);
        cloth.velocity = Vec3::new(0.0, -20.0, 0.0);
        let mut lowest = f64::INFINITY;
        simulate(cloth, vec![obstacle(shape, Vec3::ZERO, Quat::IDENTITY, 0.5, 0.0)], 6, |world, state| {
            let middle = state.positions(world, 0)[10 * 21 + 10].y;
            lowest = lowest.min(f64::from(middle));
        });
        if !matches!(shape, Shape::Torus { .. }) {
            assert!(lowest > -0.01, "{shape:?}: the middle went through to {lowest}");
        }
    }
}

#[test]
fn a_moving_obstacle_carries_cloth_by_friction() {
    let cloth = patch(0.2, 6, Vec3::new(0.0, 1e-4, 0.0), Quat::IDENTITY);
    let mut belt = obstacle(Shape::Plane, Vec3::ZERO, Quat::IDENTITY, 0.8, 0.0);
    let key = |time, x| Keyframe { time, translate: Vec3::new(x, 0.0, 0.0), rotate: Vec3::ZERO };
    belt.motion.keys = vec![key(0.0, 0.0), key(2.0, 2.0)];
    let mut x = 0.0;
    simulate(cloth, vec![belt], 60, |world, state| x = certify(world, state).bodies[0].center_of_mass[0]);
    assert!((x - 2.0).abs() < 0.1, "carried by {x} m of 2 m");
}

#[test]
fn cloth_that_starts_inside_is_pushed_out_and_not_thrown() {
    let cloth = patch(0.3, 12, Vec3::new(0.0, 0.1, 0.0), Quat::IDENTITY);
    let ball = obstacle(Shape::Sphere { radius: 0.2 }, Vec3::ZERO, Quat::IDENTITY, 0.3, 0.0);
    let world = World::new(Description {
        bodies: vec![cloth.clone().into()],
        obstacles: vec![ball.clone()],
        ..Description::default()
    })
    .unwrap();
    assert!(
        world.warnings().iter().any(|w| w.contains("patch") && w.contains("starts inside")),
        "{:?}",
        world.warnings()
    );
    let mut fastest = 0.0f64;
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    for frame in 1..=20 {
        stepper.advance_frame(&world, &mut state);
        let body = &certify(&world, &state).bodies[0];
        fastest = fastest.max((2.0 * body.energy.kinetic / (0.324 * 0.09)).sqrt());
        // 10 cm deep at the start, and 2 m/s.
        assert!(frame < 3 || body.max_penetration < 1e-5, "frame {frame}: {} m deep", body.max_penetration);
    }
    assert!(fastest < 3.0, "rms speed {fastest} m/s");
}
