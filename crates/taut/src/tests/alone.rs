//! Cloth that nothing is near moves as if there were nothing, and goes over to contact and back.

use glam::{Quat, Vec3};
use taut::{
    Cloth, Contact, Description, Motion, Obstacle, Pin, Ruler, State, Stepper, World,
    boundary::{
        mesh_obstacle::{MeshFrames, MeshObstacle},
        motion::Keyframe,
        obstacle::Shape,
    },
    mesh::generate,
};

/// Side of the sheet \[m\].
const SIZE: f32 = 1.0;

/// Puts something at a place into a description.
type Change = fn(&mut Description, Vec3);

/// A sheet that begins level and swings by two corners.
pub fn swinging(cells: u32) -> Description {
    let mesh = generate::grid([SIZE, SIZE], [cells, cells], generate::Diagonals::Alternating, 0);
    let mut sheet = Cloth::new("sheet", mesh, super::alike());
    sheet.strain.max = Some(0.05);
    sheet.pins.push(Pin { vertices: vec![0, cells], ..Pin::default() });
    Description { bodies: vec![sheet.into()], ..Description::default() }
}

fn obstacle(shape: Shape, position: Vec3, motion: Motion) -> Obstacle {
    Obstacle {
        name: "obstacle".into(),
        shape,
        position,
        rotation: Quat::IDENTITY,
        motion,
        friction: 0.3,
        restitution: 0.0,
        margin: 0.001,
    }
}

/// A ball that comes as near as `nearest` \[m\] to a pinned corner of the sheet from the side, and leaves.
pub fn with_ball_that_passes(cells: u32, nearest: f32) -> Description {
    let key = |time: f32, x: f32| Keyframe { time, translate: Vec3::X * x, ..Keyframe::default() };
    let keys = vec![key(0.0, 0.0), key(0.4, 0.0), key(0.6, -2.0), key(0.8, 0.0)];
    let motion = Motion { keys, ..Motion::default() };
    let mut description = swinging(cells);
    let position = Vec3::new(SIZE + nearest + 2.1, -0.1, 0.0);
    description.obstacles.push(obstacle(Shape::Sphere { radius: 0.1 }, position, motion));
    description
}

fn advanced(description: Description, frames: u32) -> (World, State) {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    (0..frames).for_each(|_| {
        stepper.advance_frame(&world, &mut state);
    });
    (world, state)
}

/// Largest distance between vertices of two states \[m\].
fn difference(a: &(World, State), b: &(World, State)) -> f32 {
    let [a, b] = [a, b].map(|(world, state)| state.positions(world, 0));
    a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn what_is_far_away_changes_nothing() {
    let without = advanced(swinging(16), 90);
    let far = Vec3::new(0.0, -30.0, 0.0);
    let changes: [(&str, Change); 4] = [
        ("plane", |d, far| d.obstacles.push(obstacle(Shape::Plane, far, Motion::default()))),
        ("sphere", |d, far| {
            d.obstacles.push(obstacle(Shape::Sphere { radius: 1.0 }, far, Motion::default()))
        }),
        ("mesh", |d, far| {
            let mesh = generate::Generator::Sphere { radius: 1.0, frequency: 4 }.generate().unwrap();
            let positions = mesh.positions.iter().map(|p| *p + far).collect();
            d.mesh_obstacles.push(MeshObstacle {
                name: "ball".into(),
                triangles: mesh.triangles,
                frames: MeshFrames::still(positions),
                ..MeshObstacle::default()
            });
        }),
        ("thickness", |d, _| d.contact = Contact { thickness: 0.002, ..Contact::default() }),
    ];
    for (what, change) in changes {
        let mut description = swinging(16);
        change(&mut description, far);
        assert!(Ruler::new(description.clone()).unwrap().schedule().alone.is_some(), "{what}");
        let with = advanced(description, 90);
        assert!(with.1.is_alone, "{what}: nothing is near after 3 s");
        let moved = difference(&with, &without);
        assert!(moved <= 1e-3 * SIZE, "{what}: {moved} m");
        assert_eq!(moved, 0.0, "{what}: the same steps have the same bits");
    }
}

#[test]
fn a_ball_that_comes_near_shortens_steps_until_it_has_left() {
    let description = with_ball_that_passes(12, 0.05);
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    let alone: Vec<bool> = (0..40)
        .map(|_| {
            stepper.advance_frame(&world, &mut state);
            state.is_alone
        })
        .collect();
    let shown: String = alone.iter().map(|&alone| if alone { '1' } else { '4' }).collect();
    assert!(alone[..8].iter().all(|alone| *alone), "{shown}");
    assert!(alone[12..24].iter().any(|alone| !alone), "{shown}");
    assert!(alone[32..].iter().all(|alone| *alone), "{shown}");
    let switches = alone.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(switches <= 6, "{shown}");
}

#[test]
fn going_over_to_short_steps_and_back_hardly_changes_motion() {
    let without = advanced(swinging(12), 40);
    let with = advanced(with_ball_that_passes(12, 0.05), 40);
    let moved = difference(&with, &without);
    assert!(moved > 0.0 && moved < 0.03 * SIZE, "{moved} m");
}
