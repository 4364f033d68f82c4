//! A piece of cloth against itself: it folds, holds its limit, and nothing is pierced.

use glam::{Quat, Vec3};
use taut::{
    Cloth, Contact, Description, Limit, Material, State, Stepper, World,
    boundary::{
        motion::Motion,
        obstacle::{Obstacle, Shape},
    },
    certify,
    contact::{intersection::piercings, surface::Surface},
    mesh::generate,
};

/// A sheet that is dropped on its edge, and piles up.
fn folding(thickness: f32) -> World {
    let mesh = generate::grid([0.4, 0.4], [20, 20], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = Limit { min: None, max: Some(0.05) };
    let turn = Quat::from_rotation_x(85f32.to_radians());
    cloth.start.iter_mut().for_each(|x| *x = turn * *x + Vec3::new(0.0, 0.45, 0.0));
    let floor = Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.3,
        restitution: 0.0,
        margin: 0.001,
    };
    World::new(Description {
        cloths: vec![cloth],
        obstacles: vec![floor],
        contact: Contact { thickness, ..Contact::default() },
        ..Description::default()
    })
    .unwrap()
}

struct Fallen {
    /// Edges that pierce triangles, over all frames.
    pierced: usize,
    residual: f64,
    last: Vec<Vec3>,
}

fn fall(thickness: f32, threads: usize) -> Fallen {
    let world = folding(thickness);
    let surface = Surface::new(world.description().cloths[0].mesh.triangles.clone());
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
    let (mut pierced, mut residual) = (0, 0.0f64);
    for _ in 0..30 {
        stepper.advance_frame(&world, &mut state);
        let x: Vec<[f32; 3]> = state.positions(&world, 0).iter().map(|x| x.to_array()).collect();
        pierced += piercings(&surface, &x).len();
        residual = residual.max(certify(&world, &state).bodies[0].strain.max_residual);
    }
    Fallen { pierced, residual, last: state.positions(&world, 0) }
}

#[test]
fn a_sheet_that_folds_up_never_pierces_itself_and_holds_its_limit() {
    let through = fall(0.0, 2);
    assert!(through.pierced > 0, "without contact it passes through itself");
    let held = fall(0.004, 2);
    assert_eq!(held.pierced, 0);
    assert!(held.residual <= 0.01, "{}", held.residual);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    assert_eq!(fall(0.004, 1).last, fall(0.004, 3).last);
}
