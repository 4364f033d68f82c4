//! Starts that pass through themselves, other cloth or an obstacle: they come apart, and stay apart.

use glam::{Quat, Vec3};
use taut::{
    Cloth, Contact, Description, FrameReport, Limit, Material, State, Stepper, World,
    boundary::{
        mesh_obstacle::{MeshFrames, MeshObstacle},
        motion::{Keyframe, Motion},
        obstacle::{Obstacle, Shape},
        pin::Pin,
    },
    certify,
    contact::{intersection::piercings, surface::Surface},
    mesh::{TriangleMesh, generate},
};

/// Frames within which everything has come apart.
const FRAMES: usize = 60;

/// Frames that are looked at after that.
const AFTER: usize = 20;

/// Speed that nothing may reach \[m/s\].
const FAST: f32 = 4.0;

fn sheet(name: &str, size: f32, cells: u32, at: impl Fn(Vec3) -> Vec3) -> Cloth {
    let mesh = generate::grid([size, size], [cells, cells], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new(name, mesh, Material::named("polyester").unwrap());
    cloth.strain = Limit { min: None, max: Some(0.05) };
    let middle = 0.5 * Vec3::new(size, 0.0, size);
    cloth.start.iter_mut().for_each(|x| *x = at(*x - middle));
    cloth
}

fn mesh_obstacle(name: &str, mesh: TriangleMesh) -> MeshObstacle {
    MeshObstacle {
        name: name.into(),
        triangles: mesh.triangles,
        frames: MeshFrames::still(mesh.positions),
        motion: Motion::default(),
        friction: 0.3,
        margin: 0.002,
    }
}

/// Without gravity, so that nothing comes apart by falling.
fn afloat(cloths: Vec<Cloth>) -> Description {
    Description {
        bodies: cloths.into_iter().map(Into::into).collect(),
        gravity: Vec3::ZERO,
        contact: Contact { thickness: 0.004, ..Contact::default() },
        ..Description::default()
    }
}

/// What passes through what, counted in the positions that a caller sees.
fn pierced(world: &World, state: &State) -> usize {
    let (mut x, mut triangles, mut fixed) = (Vec::new(), Vec::new(), Vec::new());
    for (body, cloth) in world.description().cloths().enumerate() {
        let first = x.len() as u32;
        triangles.extend(cloth.mesh.triangles.iter().map(|t| t.map(|v| first + v)));
        x.extend(state.positions(world, body).iter().map(|x| x.to_array()));
    }
    let cloth = x.len() as u32;
    for obstacle in &world.description().mesh_obstacles {
        let first = x.len() as u32;
        fixed.extend(obstacle.triangles.iter().map(|t| t.map(|v| first + v)));
        let time = world.time_of_frame(state.frame());
        x.extend(obstacle.positions_at(time).iter().map(|x| x.to_array()));
    }
    triangles.extend(fixed);
    let found = piercings(&Surface::new(triangles), &x);
    found.iter().filter(|p| p.edge[0] < cloth || p.triangle[0] < cloth).count()
}

struct Told {
    /// What passes through what, frame by frame, the start among them.
    pierced: Vec<usize>,
    /// Largest speed \[m/s\].
    fastest: f32,
    /// Past the limit, at the end.
    residual: f64,
    positions: Vec<Vec3>,
    centres: [Vec3; 2],
}

fn run(description: Description, threads: usize, frames: usize) -> Told {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
    let bodies = world.description().bodies.len();
    let centre = |state: &State| {
        let all: Vec<Vec3> = (0..bodies).flat_map(|b| state.positions(&world, b)).collect();
        all.iter().sum::<Vec3>() / all.len() as f32
    };
    let start = centre(&state);
    let mut told = Told {
        pierced: vec![pierced(&world, &state)],
        fastest: 0.0,
        residual: 0.0,
        positions: Vec::new(),
        centres: [start; 2],
    };
    for _ in 0..frames {
        let report: FrameReport = stepper.advance_frame(&world, &mut state);
        let found = pierced(&world, &state);
        assert_eq!(report.tangled as usize, found, "what is told is what there is");
        told.pierced.push(found);
        for body in 0..bodies {
            let speeds = state.velocities(&world, body).into_iter().map(Vec3::length);
            told.fastest = speeds.fold(told.fastest, f32::max);
        }
    }
    let certificate = certify(&world, &state);
    told.residual = certificate.bodies.iter().fold(0.0, |worst, b| worst.max(b.strain.max_residual));
    told.positions = (0..bodies).flat_map(|b| state.positions(&world, b)).collect();
    told.centres[1] = centre(&state);
    told
}

/// Runs it, and checks that it comes apart, stays apart, keeps its limits and is not thrown.
fn comes_apart(description: Description) -> Told {
    let told = run(description, 2, FRAMES + AFTER);
    assert!(told.pierced[0] > 0, "it starts tangled");
    assert_eq!(told.pierced[FRAMES..], [0; AFTER + 1], "{:?}", told.pierced);
    let apart = told.pierced.iter().position(|&count| count == 0).unwrap_or(0);
    assert!(
        told.pierced[apart..].iter().all(|&count| count == 0),
        "what is apart stays so: {:?}",
        told.pierced
    );
    assert!(told.residual <= 0.01, "residual {}", told.residual);
    assert!(told.fastest < FAST, "{} m/s", told.fastest);
    told
}

/// Two sheets that pass through each other in a cross.
pub(super) fn cross() -> Description {
    let tilt = Quat::from_rotation_x(80f32.to_radians());
    afloat(vec![
        sheet("level", 0.4, 12, |x| x),
        sheet("upright", 0.4, 12, |x| tilt * x + Vec3::new(0.003, 0.02, 0.04)),
    ])
}

/// A sheet that is folded, one half through the other.
pub(super) fn folded_through() -> Description {
    let fold = |x: Vec3| {
        // Bent along a part of a circle, so that the second half comes back through the first.
        let (radius, turn) = (0.03f32, 225f32.to_radians());
        let along = x.x + 0.05;
        let angle = (along / radius).clamp(0.0, turn);
        let rest = (along - angle * radius).max(0.0) + along.min(0.0);
        let tangent = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let arc = Vec3::new(angle.sin(), 1.0 - angle.cos(), 0.0) * radius;
        arc + tangent * rest + Vec3::Z * x.z
    };
    afloat(vec![sheet("sheet", 0.4, 20, fold)])
}

/// Two sheets one above the other, whose waves pass through each other.
fn waves() -> Description {
    let wave = |x: Vec3, sign: f32| {
        let height = 0.015 * (20.0 * x.x).sin() * (14.0 * x.z + 0.5).cos();
        Vec3::new(0.9 * x.x, sign * (0.004 + height), 0.9 * x.z)
    };
    afloat(vec![
        sheet("lower", 0.5, 20, |x| wave(x, -1.0)),
        sheet("upper", 0.5, 20, |x| wave(x, 1.0) + Vec3::new(0.004, 0.0, 0.003)),
    ])
}

/// A corner of one sheet through the middle of another.
fn corner() -> Description {
    let turn = Quat::from_rotation_x(70f32.to_radians()) * Quat::from_rotation_y(45f32.to_radians());
    afloat(vec![
        sheet("level", 0.4, 14, |x| x),
        sheet("corner", 0.3, 10, |x| turn * x + Vec3::new(0.01, 0.14, 0.0)),
    ])
}

/// Two sheets that are slid into each other like cards with slits.
fn slits() -> Description {
    let up = Quat::from_rotation_x(85f32.to_radians());
    afloat(vec![
        sheet("level", 0.4, 14, |x| x),
        sheet("upright", 0.4, 14, |x| up * x + Vec3::new(0.25, 0.02, 0.01)),
    ])
}

/// A level sheet that is half inside a ball.
pub(super) fn half_in_ball() -> Description {
    let ball = generate::Generator::Sphere { radius: 0.12, frequency: 6 }.generate().unwrap();
    let mut description = afloat(vec![sheet("sheet", 0.4, 16, |x| x + Vec3::new(0.15, 0.03, 0.0))]);
    description.mesh_obstacles = vec![mesh_obstacle("ball", ball)];
    description
}

/// A sheet that passes through an open mesh.
fn through_panel() -> Description {
    let mut panel = generate::grid([0.3, 0.3], [3, 3], generate::Diagonals::Alternating, 0);
    panel.positions.iter_mut().for_each(|x| *x -= Vec3::new(0.15, 0.0, 0.15));
    let tilt = Quat::from_rotation_x(60f32.to_radians());
    let mut description = afloat(vec![sheet("sheet", 0.4, 14, |x| tilt * x + Vec3::new(0.0, 0.06, 0.01))]);
    description.mesh_obstacles = vec![mesh_obstacle("panel", panel)];
    description
}

/// A sheet that is half inside a ball that is given by formula.
fn half_in_formula() -> Description {
    let mut description = afloat(vec![sheet("sheet", 0.4, 16, |x| x + Vec3::new(0.15, 0.03, 0.0))]);
    description.obstacles = vec![Obstacle {
        name: "ball".into(),
        shape: Shape::Sphere { radius: 0.12 },
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.3,
        restitution: 0.0,
        margin: 0.002,
    }];
    description
}

#[test]
fn sheets_in_a_cross_come_apart() {
    let told = comes_apart(cross());
    let drift = (told.centres[1] - told.centres[0]).length();
    assert!(drift < 0.02, "the centre of mass stays: {drift}");
}

#[test]
fn a_sheet_folded_through_itself_comes_apart() {
    comes_apart(folded_through());
}

#[test]
fn waves_that_pass_through_each_other_come_apart() {
    comes_apart(waves());
}

#[test]
fn a_corner_through_a_sheet_comes_out() {
    comes_apart(corner());
}

#[test]
fn sheets_slit_into_each_other_slide_out() {
    comes_apart(slits());
}

#[test]
fn a_sheet_half_in_a_ball_comes_out() {
    comes_apart(half_in_ball());
}

#[test]
fn a_sheet_through_an_open_mesh_comes_out() {
    comes_apart(through_panel());
}

/// Sheets of one size in one place, whose waves pass through each other: rims cross too.
pub(super) fn layers() -> Description {
    let wave = |x: Vec3, k: f32| {
        let height = 0.01 * (20.0 * x.x + k).sin() * (17.0 * x.z + 2.0 * k).sin();
        Vec3::new(0.9 * x.x, 0.003 * k + height, 0.9 * x.z)
    };
    afloat([0.0, 1.0, 2.0].map(|k| sheet("sheet", 0.4, 14, |x| wave(x, k))).to_vec())
}

#[test]
fn layers_of_one_size_come_apart() {
    comes_apart(layers());
}

#[test]
fn a_sheet_half_in_a_ball_given_by_formula_comes_out() {
    // Through the very middle there is no near way out.
    for (height, fast) in [(0.03, FAST), (-0.05, FAST), (0.0, 5.0)] {
        let mut description = half_in_formula();
        description.bodies = vec![sheet("sheet", 0.4, 16, |x| x + Vec3::new(0.02, height, 0.0)).into()];
        let inside = |told: &Told| told.positions.iter().filter(|x| x.length() < 0.12 - 1e-4).count();
        assert!(inside(&run(description.clone(), 2, 0)) > 10);
        let told = run(description, 2, FRAMES);
        assert_eq!(inside(&told), 0);
        assert!(told.pierced.iter().all(|&count| count == 0), "{:?}", told.pierced);
        assert!(told.residual <= 0.01, "{}", told.residual);
        assert!(told.fastest < fast, "height {height}: {} m/s", told.fastest);
    }
}

/// A sheet all of which is held, through the middle of which a ball is pushed: it is carried along rather
/// than pierced, for passing through comes before pins.
#[test]
fn held_cloth_is_carried_rather_than_pierced() {
    let mut cloth = sheet("sheet", 0.3, 10, |x| x);
    let vertices = (0..cloth.start.len() as u32).collect();
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    let mut ball =
        mesh_obstacle("ball", generate::Generator::Sphere { radius: 0.05, frequency: 3 }.generate().unwrap());
    let key = |time: f32, height: f32| Keyframe {
        time,
        translate: Vec3::new(0.01, height, 0.0),
        ..Keyframe::default()
    };
    ball.motion = Motion { keys: vec![key(0.0, -0.1), key(0.5, 0.3)], ..Motion::default() };
    let mut description = afloat(vec![cloth]);
    description.mesh_obstacles = vec![ball];
    let told = run(description, 2, FRAMES);
    assert!(told.pierced.iter().all(|&count| count == 0), "{:?}", told.pierced);
}
