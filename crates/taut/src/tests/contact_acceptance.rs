//! Contact where it is hard: what is fast, what is thin, and what sticks or slides.

use glam::{Quat, Vec3};
use taut::{
    Certificate, Cloth, Contact, Description, Limit, MeshObstacle, Motion, Obstacle, Pin, State, Stepper,
    World,
    boundary::{
        mesh_obstacle::MeshFrames,
        motion::{Keyframe, rotation_of_degrees},
        obstacle::Shape,
    },
    measure::Certifier,
    mesh::{TriangleMesh, generate},
};

/// A flat sheet of squares about the origin, in the plane y = 0, with a limit of 5 %.
fn sheet(name: &str, size: [f32; 2], cells: [u32; 2]) -> Cloth {
    let mut mesh = generate::grid(size, cells, generate::Diagonals::Alternating, 0);
    mesh.positions.iter_mut().for_each(|p| *p -= Vec3::new(0.5 * size[0], 0.0, 0.5 * size[1]));
    let mut cloth = Cloth::new(name, mesh, super::alike());
    cloth.strain = Limit { min: None, max: Some(0.05) };
    cloth
}

fn mesh_obstacle(name: &str, mesh: TriangleMesh, place: impl Fn(Vec3) -> Vec3) -> MeshObstacle {
    MeshObstacle {
        name: name.into(),
        triangles: mesh.triangles,
        frames: MeshFrames::still(mesh.positions.into_iter().map(place).collect()),
        ..MeshObstacle::default()
    }
}

/// Runs `frames` frames, and shows each with its certificate.
fn watch(world: &World, frames: u32, mut each: impl FnMut(&State, &Certificate)) -> State {
    let (mut state, mut stepper) = (State::new(world), Stepper::new(world, 2).unwrap());
    let mut certifier = Certifier::new(world, 2).unwrap();
    for _ in 0..frames {
        stepper.advance_frame(world, &mut state);
        each(&state, &certifier.certify(world, &state));
    }
    state
}

/// Radius of the ball \[m\].
const BALL: f32 = 0.15;

/// A curtain in the plane z = 0 and a ball that comes at it along z from `from` \[m\] at 100 m/s, for a
/// thirtieth of a second, in so many steps.
fn thrown(from: f32, pinned: bool, as_mesh: bool, steps: u32) -> World {
    let mut curtain = sheet("curtain", [1.0, 1.0], [24, 24]);
    let upright = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    curtain.start.iter_mut().for_each(|p| *p = upright * *p);
    if pinned {
        let top = curtain.start.iter().map(|p| p.y).fold(f32::MIN, f32::max);
        let is_top = |v: &u32| curtain.start[*v as usize].y > top - 1e-4;
        let vertices = (0..curtain.start.len() as u32).filter(is_top).collect();
        curtain.pins.push(Pin { vertices, ..Pin::default() });
    }
    let keys = vec![
        Keyframe::default(),
        Keyframe { time: 1.0 / 30.0, translate: Vec3::Z * (100.0 / 30.0), ..Keyframe::default() },
    ];
    let motion = Motion { keys, pivot: Vec3::ZERO, ..Motion::default() };
    // A little off the middle, so that nothing is met head on.
    let place = Vec3::new(0.013, -0.007, from);
    let mut description = Description {
        bodies: vec![curtain.into()],
        contact: Contact { thickness: 0.002, ..Contact::default() },
        ..Description::default()
    };
    if as_mesh {
        let ball = generate::Generator::Sphere { radius: BALL, frequency: 8 }.generate().unwrap();
        let ball = mesh_obstacle("ball", ball, |p| p + place);
        description.mesh_obstacles.push(MeshObstacle { motion, friction: 0.3, margin: 0.002, ..ball });
    } else {
        description.obstacles.push(Obstacle {
            name: "ball".into(),
            shape: Shape::Sphere { radius: BALL },
            position: place,
            rotation: Quat::IDENTITY,
            motion,
            friction: 0.3,
            restitution: 0.0,
            margin: 0.002,
        });
    }
    description.solver.steps_per_frame = steps;
    World::new(description).unwrap()
}

/// How many times the curtain lies across the ball's axis, in front of the middle of the ball at z = `middle`
/// \[m\] and behind it.
fn across(world: &World, state: &State, middle: f32) -> [usize; 2] {
    let x = state.positions(world, 0);
    let axis = Vec3::new(0.013, -0.007, 0.0);
    let mut counts = [0, 0];
    for t in &world.description().bodies[0].as_cloth().unwrap().mesh.triangles {
        let [a, b, c] = t.map(|v| x[v as usize] - axis);
        let turn = |a: Vec3, b: Vec3| a.x * b.y - a.y * b.x;
        let [u, v, w] = [turn(b, c), turn(c, a), turn(a, b)];
        if (u > 0.0) == (v > 0.0) && (v > 0.0) == (w > 0.0) {
            let z = (a.z * u + b.z * v + c.z * w) / (u + v + w);
            counts[usize::from(z < middle)] += 1;
        }
    }
    counts
}

/// A ball thrown at a curtain at 100 m/s is caught: in the step in which it comes, and in those after it, the
/// curtain is in front of it.
#[test]
#[ignore = "full tier: long"]
fn a_ball_at_a_hundred_metres_a_second_is_caught_by_a_curtain() {
    // It ends as far behind the curtain as that can swing, or takes a loose one along.
    for (from, pinned, as_mesh) in [(-3.2, true, false), (-3.2, true, true), (-1.2, false, true)] {
        let world = thrown(from, pinned, as_mesh, 1);
        let end = from + 100.0 / 30.0;
        watch(&world, 3, |state, certificate| {
            let contact = certificate.contact.as_ref().unwrap();
            let (body, [front, behind]) = (&certificate.bodies[0], across(&world, state, end));
            let (depth, residual) = (body.max_penetration, body.strain.max_residual);
            let what = format!("from {from} m, mesh: {as_mesh}, frame {}", state.frame());
            let x = state.positions(&world, 0);
            let (least, most) =
                x.iter().fold((Vec3::MAX, Vec3::MIN), |(least, most), p| (least.min(*p), most.max(*p)));
            println!(
                "{what}: {front} in front, {behind} behind, {depth} m deep, residual {residual}, from {least} to {most}"
            );
            // None of it is left behind. How often it lies across the axis in all changes from odd to even
            // only where its border crosses the axis, which that of a pinned curtain does as it swings on.
            assert!(behind % 2 == 0, "{what}: {front} {behind}");
            assert!(front % 2 == 1 || pinned && state.frame() > 1, "{what}: {front} {behind}");
            assert_eq!(contact.intersections, 0, "{what}: {:?}", contact.first);
            assert!(body.max_pin_error < 1e-5, "{what}");
            // Then the ball stands still all at once, and the curtain goes on at 100 m/s.
            if state.frame() == 1 {
                assert!(depth < 1e-4, "{what}: {depth}");
            }
        });
    }
}

/// Loose cloth is taken along by a ball at 100 m/s, if that goes no further in a step than half its radius:
/// none of it is left behind, and limits hold in every frame. A formula ball that goes further passes
/// through: limits pull what it has met back across it.
#[test]
#[ignore = "full tier: long"]
fn a_ball_at_a_hundred_metres_a_second_takes_loose_cloth_along_within_its_limits() {
    for as_mesh in [false, true] {
        let world = thrown(-1.2, false, as_mesh, 48);
        watch(&world, 3, |state, certificate| {
            let contact = certificate.contact.as_ref().unwrap();
            let (body, [front, behind]) =
                (&certificate.bodies[0], across(&world, state, -1.2 + 100.0 / 30.0));
            let (frame, residual) = (state.frame(), body.strain.max_residual);
            println!("mesh: {as_mesh}, frame {frame}: {front} {behind}, residual {residual}");
            assert!(front % 2 == 1 && behind % 2 == 0, "mesh: {as_mesh}, frame {frame}: {front} {behind}");
            assert_eq!(contact.intersections, 0, "mesh: {as_mesh}, frame {frame}: {:?}", contact.first);
            assert!(residual <= 0.0101 || frame == 1, "mesh: {as_mesh}, frame {frame}: {residual}");
        });
    }
}

/// What cannot be held by pins, limits and a ball at once: nothing is pierced, and the limit gives way.
#[test]
#[ignore = "full tier: long"]
fn a_ball_that_goes_further_than_the_curtain_reaches_does_not_pierce_it() {
    let world = thrown(-1.2, true, true, 1);
    let mut worst = 0.0f64;
    watch(&world, 3, |state, certificate| {
        let contact = certificate.contact.as_ref().unwrap();
        let body = &certificate.bodies[0];
        let [front, behind] = across(&world, state, -1.2 + 100.0 / 30.0);
        println!(
            "too far: front {front} behind {behind} intersections {} residual {} pin {}",
            contact.intersections, body.strain.max_residual, body.max_pin_error
        );
        worst = worst.max(body.strain.max_residual);
        assert_eq!(contact.intersections, 0, "{:?}", contact.first);
        assert!(front % 2 == 1 && behind % 2 == 0, "{front} {behind}");
    });
    assert!(worst > 0.01, "a curtain that is 1 m long does not reach 2 m: {worst}");
}

/// A sheet with edges of 2 cm comes down on a wire of 1 mm at 3 m/s, 5 cm a step, and hangs over it.
#[test]
#[ignore = "full tier: long"]
fn a_wire_of_a_millimetre_is_not_missed() {
    let mut cloth = sheet("sheet", [0.5, 0.5], [25, 25]);
    // Across the wire in a direction of no edge.
    let turn = Quat::from_rotation_y(0.3);
    cloth.start.iter_mut().for_each(|p| *p = turn * *p + Vec3::Y * 0.12);
    cloth.velocity = Vec3::NEG_Y * 3.0;
    let wire =
        generate::Generator::Cylinder { radius: 0.0005, height: 1.0, segments: [6, 10] }.generate().unwrap();
    let along = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let wire = MeshObstacle { friction: 0.5, ..mesh_obstacle("wire", wire, |p| along * p) };
    let world = World::new(Description {
        bodies: vec![cloth.into()],
        mesh_obstacles: vec![wire],
        contact: Contact { thickness: 0.001, ..Contact::default() },
        ..Description::default()
    })
    .unwrap();
    let mut worst = 0.0f64;
    let state = watch(&world, 45, |state, certificate| {
        let contact = certificate.contact.as_ref().unwrap();
        worst = worst.max(certificate.bodies[0].strain.max_residual);
        assert_eq!(contact.intersections, 0, "frame {}: {:?}", state.frame(), contact.first);
    });
    let x = state.positions(&world, 0);
    let (low, high) = x.iter().fold((f32::MAX, f32::MIN), |(low, high), p| (low.min(p.y), high.max(p.y)));
    assert!(high > 0.0 && high < 0.02, "it lies on the wire, not above: {high}");
    assert!(low < -0.15, "both halves hang down: {low}");
    let sides = x
        .iter()
        .filter(|p| p.y < -0.1)
        .fold([0, 0], |[a, b], p| if p.z < 0.0 { [a + 1, b] } else { [a, b + 1] });
    assert!(sides.iter().all(|&n| n > 50), "{sides:?}");
    assert!(worst <= 0.01, "{worst}");
}

/// Two sheets of half a millimetre, one falls on the other, which lies on the floor.
#[test]
#[ignore = "full tier: long"]
fn cloth_of_half_a_millimetre_stays_apart_by_it() {
    let thickness = 0.0005;
    let mut upper = sheet("upper", [0.3, 0.3], [20, 20]);
    let turn = Quat::from_rotation_y(0.4);
    upper.start.iter_mut().for_each(|p| *p = turn * *p + Vec3::Y * 0.1);
    let mut lower = sheet("lower", [0.4, 0.4], [24, 24]);
    lower.start.iter_mut().for_each(|p| p.y += 0.01);
    let floor = Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.3,
        restitution: 0.0,
        margin: 0.0,
    };
    let world = World::new(Description {
        bodies: vec![upper.into(), lower.into()],
        obstacles: vec![floor],
        contact: Contact { thickness, ..Contact::default() },
        ..Description::default()
    })
    .unwrap();
    let mut smallest = f64::INFINITY;
    let state = watch(&world, 30, |state, certificate| {
        let contact = certificate.contact.as_ref().unwrap();
        assert_eq!(contact.intersections, 0, "frame {}: {:?}", state.frame(), contact.first);
        smallest = smallest.min(contact.smallest_gap.unwrap_or(f64::INFINITY));
    });
    let highest = state.positions(&world, 0).iter().map(|p| p.y).fold(f32::MIN, f32::max);
    assert!(highest < 0.02, "it has fallen: {highest}");
    println!("smallest gap {} mm", 1e3 * smallest);
    // What of its gap a pair may lack at the end of a step.
    assert!(smallest >= 0.7 * f64::from(thickness), "{smallest}");
}

/// What a sheet lies on.
#[derive(Clone, Copy, Debug)]
enum Slope {
    Plane,
    Mesh,
    Cloth,
}

/// How far a sheet slips in two seconds down a slope of so many degrees \[m\], and how much faster it gets
/// \[m/s²\].
fn slip(slope: Slope, friction: f32, degrees: f32) -> [f32; 2] {
    let tilt = rotation_of_degrees(Vec3::new(0.0, 0.0, -degrees));
    let thickness = 0.002;
    let mut patch = sheet("patch", [0.2, 0.2], [8, 8]);
    // Turned about the normal of the slope, so that no edge runs down.
    let turn = tilt * Quat::from_rotation_y(0.35);
    patch.start.iter_mut().for_each(|p| *p = turn * *p + tilt * Vec3::Y * 2.5 * thickness);
    patch.material.damping = 0.0;
    let mut description = Description { contact: Contact { thickness, friction }, ..Description::default() };
    description.solver.steps_per_frame = 4;
    description.air.density = 0.0;
    let down = |p: Vec3| tilt * (p + Vec3::X * 4.6);
    match slope {
        Slope::Plane => description.obstacles.push(Obstacle {
            name: "slope".into(),
            shape: Shape::Plane,
            position: Vec3::ZERO,
            rotation: tilt,
            motion: Motion::default(),
            friction,
            restitution: 0.0,
            margin: thickness,
        }),
        Slope::Mesh => {
            let mesh = sheet("", [10.0, 0.6], [100, 6]).mesh;
            let mesh = mesh_obstacle("slope", mesh, down);
            description.mesh_obstacles.push(MeshObstacle { friction, margin: 0.001, ..mesh });
        }
        Slope::Cloth => {
            let mut cloth = sheet("slope", [10.0, 0.6], [100, 6]);
            cloth.start.iter_mut().for_each(|p| *p = down(*p));
            let vertices = (0..cloth.start.len() as u32).collect();
            cloth.pins.push(Pin { vertices, ..Pin::default() });
            description.bodies.push(cloth.into());
        }
    }
    description.bodies.insert(0, patch.into());
    let world = World::new(description).unwrap();
    let center =
        |certificate: &Certificate| Vec3::from_array(certificate.bodies[0].center_of_mass.map(|c| c as f32));
    let mut path = Vec::new();
    watch(&world, 65, |_, certificate| {
        path.push((tilt.inverse() * center(certificate)).x);
        assert!(certificate.contact.as_ref().is_none_or(|contact| contact.intersections == 0));
    });
    let time = 25.0 * world.description().frame_time;
    [path[64] - path[4], (path[64] - 2.0 * path[39] + path[14]) / (time * time)]
}

/// Coulomb: it sticks below the angle whose tangent is the coefficient of friction, and slides above it,
/// within two degrees.
#[test]
#[ignore = "full tier: long"]
fn friction_holds_up_to_its_angle_and_no_further() {
    for slope in [Slope::Plane, Slope::Mesh, Slope::Cloth] {
        for friction in [0.3f32, 0.6] {
            let angle = friction.atan().to_degrees();
            let [held, _] = slip(slope, friction, angle - 2.0);
            let [slid, _] = slip(slope, friction, angle + 2.0);
            // No faster than if friction held three degrees less.
            let steep = (angle + 2.0).to_radians();
            let most = 0.5 * 9.81 * (steep.sin() - (angle - 3.0).to_radians().tan() * steep.cos()) * 4.0;
            println!("{slope:?}, {friction}: slipped {held} m below, slid {slid} m above");
            assert!(held.abs() < 0.01, "{slope:?}, {friction}: {held}");
            assert!(slid > 0.1 && slid < most, "{slope:?}, {friction}: {slid}, at most {most}");
        }
    }
}

/// Sliding friction takes μ of the load, no more, with four steps a frame: g (sin − μ cos). On a plane that
/// is exact. On a mesh at 25° a sheet lacks up to 16 % of it, less by the luck of the order of pairs; at 40°
/// and 0.6, where it gets faster than an edge a step, and on cloth, up to a third.
#[test]
#[ignore = "full tier: long"]
fn what_slides_gets_faster_as_coulomb_says() {
    let steep = (0.6f32, 40.0f32, 0.05);
    for (slope, slopes) in [
        (Slope::Plane, &[(0.0, 8.0, 0.05), (0.3, 25.0, 0.05), steep][..]),
        (Slope::Mesh, &[(0.0, 8.0, 0.05), (0.3, 25.0, 0.18)]),
    ] {
        for &(friction, degrees, within) in slopes {
            let [_, rate] = slip(slope, friction, degrees);
            let tilt = degrees.to_radians();
            let wanted = 9.81 * (tilt.sin() - friction * tilt.cos());
            println!("{slope:?}, {friction}, {degrees}°: {rate} m/s², wanted {wanted}");
            assert!((rate / wanted - 1.0).abs() < within, "{slope:?}, {friction}: {rate}, wanted {wanted}");
        }
    }
}
