//! Rigid bodies that cloth pushes (S4).

use glam::{DVec3, Quat, Vec3};
use taut::{
    Cloth, Description, Material, Motion, Obstacle, Pin, RigidBody, State, Stepper, World,
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
fn trampoline(cells: u32, mass: f32, height: f32) -> World {
    let sheet = pinned_rim(sheet(cells));
    let above = middle(&sheet) + Vec3::Y * (0.1 + height);
    World::new(Description {
        rigid_bodies: vec![ball(above, mass)],
        cloths: vec![sheet],
        ..Description::default()
    })
    .unwrap()
}

#[test]
fn a_heavy_ball_stays_on_a_trampoline_that_holds_its_limit() {
    for mass in [0.3, 5.0, 50.0] {
        let world = trampoline(32, mass, 0.5);
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 2).unwrap();
        let (mut lowest, mut most, mut worst) = (f32::INFINITY, 0, 0.0f64);
        for frame in 0..120 {
            let report = stepper.advance_frame(&world, &mut state);
            let certificate = certify(&world, &state);
            let (sheet, ball) = (&certificate.bodies[0], &certificate.rigid_bodies[0]);
            lowest = lowest.min(state.rigid_bodies()[0].pose.position.y);
            most = most.max(report.iterations);
            worst = worst.max(sheet.strain.max_residual);
            if std::env::var("SHOW").is_ok() {
                eprintln!(
                    "{mass} {frame} y {:.4} v {:.3} iterations {} residual {:.4} depth {:.2e} converged {}",
                    ball.position[1],
                    ball.velocity[1],
                    report.iterations,
                    sheet.strain.max_residual,
                    sheet.max_penetration,
                    report.converged
                );
            }
        }
        eprintln!("{mass} kg: lowest {lowest}, most iterations {most}, worst residual {worst}");
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
        let sheet = sheet(24);
        let mut ball = ball(middle(&sheet) + Vec3::new(0.03, 0.2, 0.05), mass);
        ball.velocity = Vec3::new(0.0, -3.0, 0.0);
        let mut description =
            Description { cloths: vec![sheet], rigid_bodies: vec![ball], ..Description::default() };
        (description.gravity, description.air.density) = (Vec3::ZERO, 0.0);
        description.cloths[0].material.damping = 0.0;
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 2).unwrap();
        let [before, turning] = momentum(&world, &state);
        for frame in 0..30 {
            let report = stepper.advance_frame(&world, &mut state);
            let [now, turned] = momentum(&world, &state);
            if std::env::var("SHOW").is_ok() {
                eprintln!(
                    "{mass} {frame} p {:.4} of {:.4}; L {:.4} of {:.4} iterations {} v {:.3}",
                    now.y,
                    before.y,
                    turned,
                    turning,
                    report.iterations,
                    state.rigid_bodies()[0].velocity.y
                );
            }
            assert!(
                (now - before).length() < 0.02 * before.length(),
                "{mass} kg, frame {frame}: {now} of {before}"
            );
        }
    }
}
