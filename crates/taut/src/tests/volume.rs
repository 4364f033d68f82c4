//! Volumes around vertices are kept (W13).

use glam::{Quat, Vec3};
use taut::{
    Contact, Description, Limit, Motion, Obstacle, Pin, Scheme, Solid, SolidMaterial, State, Stepper, World,
    boundary::obstacle::Shape, certify, mesh::tetrahedra::TetrahedronMesh,
};

/// A box of cells with edges of `size`.
fn cells(n: [u32; 3], size: f32) -> TetrahedronMesh {
    let id = |c: [u32; 3]| (c[0] * (n[1] + 1) + c[1]) * (n[2] + 1) + c[2];
    let mut mesh = TetrahedronMesh::default();
    for i in 0..=n[0] {
        for j in 0..=n[1] {
            mesh.positions.extend((0..=n[2]).map(|k| Vec3::new(i as f32, j as f32, k as f32) * size));
        }
    }
    for cell in 0..n[0] * n[1] * n[2] {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut c = [cell / (n[1] * n[2]), cell / n[2] % n[1], cell % n[2]];
            let mut corners = [id(c); 4];
            for (k, &axis) in order.iter().enumerate() {
                c[axis] += 1;
                corners[k + 1] = id(c);
            }
            mesh.tetrahedra.push(corners);
            if mesh.volume(mesh.tetrahedra.len() - 1) < 0.0 {
                corners.swap(2, 3);
                *mesh.tetrahedra.last_mut().unwrap() = corners;
            }
        }
    }
    mesh
}

fn solid(mesh: TetrahedronMesh, poisson: f32, limit: f32) -> Solid {
    let material = SolidMaterial { young: 1e5, poisson, ..SolidMaterial::named("flesh").unwrap() };
    let mut solid = Solid::new("soft", mesh, material);
    solid.strain = Limit { min: Some(-limit), max: Some(limit) };
    solid.preserve_volume = true;
    solid
}

/// A bar of 4n × n × n cells, clamped at one end.
pub(super) fn bar(n: u32, poisson: f32, limit: f32) -> Description {
    let mut solid = solid(cells([4 * n, n, n], 0.25 / n as f32), poisson, limit);
    let vertices = (0..(n + 1) * (n + 1)).collect();
    solid.pins = vec![Pin { vertices, ..Pin::default() }];
    Description { bodies: vec![solid.into()], ..Description::default() }
}

/// Two bars, one across the other, that fall on the ground.
pub(super) fn cross() -> Description {
    let mut bodies = Vec::new();
    for (k, turn) in [0.0, 1.2].into_iter().enumerate() {
        let mut solid = solid(cells([9, 3, 3], 0.04), 0.3, 0.05);
        let turn = Quat::from_rotation_y(turn) * Quat::from_rotation_x(0.3);
        let at = Vec3::new(0.0, 0.12 + 0.16 * k as f32, 0.0);
        let middle = Vec3::new(0.18, 0.06, 0.06);
        solid.start = solid.mesh.positions.iter().map(|p| turn * (*p - middle) + at).collect();
        bodies.push(solid.into());
    }
    let floor = Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.5,
        restitution: 0.0,
        margin: 0.001,
    };
    let contact = Contact { thickness: 0.004, friction: 0.4 };
    Description { bodies, obstacles: vec![floor], contact, ..Description::default() }
}

/// What a run came to.
struct Outcome {
    /// Largest error of a ring over all frames.
    worst: f64,
    /// Frames that did not converge.
    missed: u32,
    /// Root mean square of the speeds at the end \[m/s\].
    speed: f32,
    /// The first body at the end.
    end: Vec<Vec3>,
}

fn run(description: Description, frames: u32, threads: usize) -> Outcome {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
    let (mut worst, mut missed) = (0.0f64, 0);
    for _ in 0..frames {
        missed += u32::from(!stepper.advance_frame(&world, &mut state).converged);
        for body in &certify(&world, &state).bodies {
            worst = worst.max(body.solid.unwrap().max_ring_volume_error);
        }
    }
    let velocities = state.velocities(&world, 0);
    let sum: f32 = velocities.iter().map(|v| v.length_squared()).sum();
    let speed = (sum / velocities.len() as f32).sqrt();
    Outcome { worst, missed, speed, end: state.positions(&world, 0) }
}

#[test]
fn a_sagging_bar_keeps_its_rings_and_comes_to_rest() {
    let mut free = bar(4, 0.3, 0.05);
    free.bodies[0].as_solid_mut().unwrap().preserve_volume = false;
    let free = run(free, 40, 1);
    let kept = run(bar(4, 0.3, 0.05), 40, 1);
    assert!(free.worst > 0.02, "{}", free.worst);
    assert!(kept.worst <= 0.0101 && kept.missed == 0, "{} {}", kept.worst, kept.missed);
    assert!(kept.speed <= 0.02, "{}", kept.speed);
    let tips = [&free, &kept].map(|o| o.end.last().unwrap().y);
    assert!((tips[0] - tips[1]).abs() < 0.015, "{tips:?}");
}

#[test]
fn nearly_incompressible_bars_and_tight_limits_work() {
    for (poisson, limit) in [(0.45, 0.05), (0.3, 0.01)] {
        let kept = run(bar(4, poisson, limit), 20, 1);
        assert!(kept.worst <= 0.0101 && kept.missed == 0, "{poisson} {limit} {} {}", kept.worst, kept.missed);
    }
}

#[test]
fn solids_that_fall_on_each_other_keep_their_rings() {
    let kept = run(cross(), 24, 1);
    // Where they strike, limits may give way for a moment.
    assert!(kept.worst <= 0.0101 && kept.missed <= 2, "{} {}", kept.worst, kept.missed);
}

#[test]
fn other_schemes_refuse() {
    let mut description = bar(1, 0.3, 0.05);
    description.solver.scheme = Scheme::Sweep;
    let error = World::new(description).unwrap_err().to_string();
    assert!(error.contains("volume = \"preserve\"") && error.contains("nearest"), "{error}");
}
