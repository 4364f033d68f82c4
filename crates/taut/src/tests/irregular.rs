//! The filter (`Scheme::Nearest`) on meshes that are not regular sheets: limits hold in every frame, and odd
//! meshes and starts neither break it nor keep it busy for ever.

use glam::{DVec3, Vec3};
use taut::{
    Cloth, Description, Limit, Material, Motion, Pin, Scheme, State, Stepper, Tolerance, World,
    boundary::motion::Keyframe,
    certify,
    mesh::{
        TriangleMesh,
        generate::{self, Diagonals, Generator},
    },
};

const UPPER: Limit = Limit { min: None, max: Some(0.01) };
const BOTH: Limit = Limit { min: Some(-0.05), max: Some(0.05) };

fn cloth(mesh: TriangleMesh, strain: Limit, pinned: Vec<u32>) -> Cloth {
    let mut cloth = Cloth::new("cloth", mesh, Material::named("polyester").unwrap());
    cloth.strain = strain;
    if !pinned.is_empty() {
        cloth.pins = vec![Pin { vertices: pinned, motion: Motion::default(), ..Pin::default() }];
    }
    cloth
}

fn describe(cloth: Cloth, steps: u32) -> Description {
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = Scheme::Nearest;
    description.solver.steps_per_frame = steps;
    description.solver.max_substeps = 8;
    description.solver.iterations = 120;
    description
}

fn sheet(cells: u32, diagonals: Diagonals) -> TriangleMesh {
    generate::grid([1.0, 1.0], [cells, cells], diagonals, 1)
}

fn top(mesh: &TriangleMesh) -> Vec<u32> {
    let height = |v: &u32| mesh.positions[*v as usize].y;
    (0..mesh.positions.len() as u32).max_by(|a, b| height(a).total_cmp(&height(b))).into_iter().collect()
}

fn near(mesh: &TriangleMesh, [x, z]: [f32; 2]) -> u32 {
    let distance = |v: &u32| mesh.positions[*v as usize].distance(Vec3::new(x, 0.0, z));
    (0..mesh.positions.len() as u32).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
}

/// Largest residual of each frame. Pins are exact, nothing had to be rescued, iterations stay within the cap.
fn residuals(description: Description, frames: u32) -> Vec<f64> {
    let (cap, name) = (description.solver.iterations, description.bodies[0].as_cloth().unwrap().name.clone());
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 2).unwrap();
    (0..frames)
        .map(|_| {
            let report = stepper.advance_frame(&world, &mut state);
            assert_eq!(report.rescued, 0, "{name}");
            assert!(report.iterations <= cap * world.steps_per_frame());
            let certificate = certify(&world, &state);
            for body in &certificate.bodies {
                assert!(body.max_pin_error < 1e-6, "{name}: {}", body.max_pin_error);
                assert!(body.center_of_mass.iter().all(|x| x.is_finite()), "{name}");
            }
            certificate.bodies.iter().map(|b| b.strain.max_residual).fold(0.0, f64::max)
        })
        .collect()
}

fn held(residuals: &[f64]) -> (usize, f64) {
    (residuals.iter().filter(|r| **r <= 0.01).count(), residuals.iter().fold(0.0, |a, &b| a.max(b)))
}

#[test]
#[ignore = "full tier: long"]
fn limits_hold_on_irregular_meshes_and_crushed_shells() {
    let made = |generator: Generator| generator.generate().unwrap();
    let delaunay = sheet(45, Diagonals::Delaunay);
    let corners = ["corner:top-left", "corner:top-right"].map(|c| delaunay.groups[c][0]).to_vec();
    let inside = [[0.25, 0.3], [0.8, 0.35], [0.45, 0.8]].map(|p| near(&delaunay, p)).to_vec();
    let ell = made(Generator::Ell { size: [1.0, 1.0], cells: [53, 53], seed: 1 });
    let ends = ["corner:top-left", "corner:bottom-right"].map(|c| ell.groups[c][0]).to_vec();
    let tube = made(Generator::Cylinder { radius: 0.2, height: 0.8, segments: [56, 36] });
    let sphere = made(Generator::Sphere { radius: 0.35, frequency: 14 });
    let torus = made(Generator::Torus { major: 0.3, minor: 0.1, segments: [77, 26] });
    let shapes = [
        ("Delaunay", corners, delaunay.clone()),
        ("interior pins", inside, delaunay),
        ("L with a hole", ends, ell),
        ("tube", top(&tube), tube),
        ("sphere", top(&sphere), sphere),
        ("torus", top(&torus), torus),
    ];
    for (name, pinned, mesh) in shapes {
        for (strain, frames) in [(UPPER, 30), (BOTH, 45)] {
            let mut cloth = cloth(mesh.clone(), strain, pinned.clone());
            cloth.name = name.into();
            let mut description = describe(cloth, 1);
            // As published: aimed inside the limits, 120 iterations are too few in single frames of the
            // sphere and the tube.
            description.solver.tolerance = Tolerance::Past(0.01);
            let (within, worst) = held(&residuals(description, frames));
            println!("{name}, {strain:?}: {within} of {frames}, {worst:.4}");
            if strain == UPPER {
                assert_eq!(within, frames as usize, "{name}, upper 1 %: {worst}");
            } else {
                assert!(within * 100 >= 97 * frames as usize, "{name}, ±5 %: {within} of {frames}");
                assert!(worst <= 0.05, "{name}, ±5 %: {worst}");
            }
        }
    }
}

/// A flat sheet without gravity whose right edge moves as `keys` say, about the middle of the sheet.
fn driven(keys: Vec<Keyframe>, strain: Limit) -> Description {
    let mesh = sheet(45, Diagonals::Alternating);
    let edge = |x: f32| -> Vec<u32> {
        (0..mesh.positions.len() as u32).filter(|v| mesh.positions[*v as usize].x == x).collect()
    };
    let mut sheet = cloth(mesh.clone(), strain, edge(0.0));
    let pivot = Vec3::new(0.5, 0.0, 0.5);
    sheet.pins.push(Pin {
        vertices: edge(1.0),
        motion: Motion { keys, pivot, ..Motion::default() },
        ..Pin::default()
    });
    let mut description = describe(sheet, 1);
    description.gravity = Vec3::ZERO;
    description
}

fn key(time: f32, x: f32, turn: f32) -> Keyframe {
    Keyframe { time, translate: Vec3::new(x, 0.0, 0.0), rotate: Vec3::new(turn, 0.0, 0.0) }
}

#[test]
fn a_flat_sheet_whose_edges_are_pushed_together_buckles() {
    let pushed = || driven(vec![key(0.0, 0.0, 0.0), key(1.5, -0.3, 0.0)], BOTH);
    let (within, worst) = held(&residuals(pushed(), 50));
    assert_eq!(within, 50, "{worst}");

    // What the imperfection is for.
    let mut perfect = pushed();
    perfect.bodies[0].as_cloth_mut().unwrap().imperfection = Some(0.0);
    let (within, worst) = held(&residuals(perfect, 50));
    assert!(within < 50 && worst > 0.05, "a perfectly flat sheet buckles by itself: {within}, {worst}");
}

#[test]
fn a_sheet_twisted_by_90_degrees_and_shortened_holds_its_limits() {
    let (within, worst) = held(&residuals(driven(vec![key(0.0, 0.0, 0.0), key(2.0, -0.35, 90.0)], BOTH), 60));
    assert_eq!(within, 60, "{worst}");
}

#[test]
fn imperfection_is_seeded_small_and_spares_pins() {
    let start = |seed, imperfection, pinned: Vec<u32>| {
        let mut cloth = cloth(sheet(10, Diagonals::Alternating), BOTH, pinned);
        cloth.imperfection = imperfection;
        let mut description = describe(cloth, 1);
        description.seed = seed;
        let world = World::new(description).unwrap();
        State::new(&world).positions(&world, 0)
    };
    let flat = sheet(10, Diagonals::Alternating).positions;
    assert_eq!(start(1, Some(0.0), vec![]), flat);
    let free = start(1, None, vec![]);
    assert_eq!(free, start(1, None, vec![]));
    assert_ne!(free, start(2, None, vec![]));
    // The mean edge is between 0.1 and 0.142 m.
    let most = free.iter().map(|p| p.y.abs()).fold(0.0, f32::max);
    assert!(most > 0.5e-5 && most < 1.42e-5, "{most}");
    assert!(free.iter().zip(&flat).all(|(a, b)| a.x == b.x && a.z == b.z));
    let pinned = start(1, None, vec![0, 60]);
    for v in 0..flat.len() {
        assert_eq!(pinned[v], if v == 0 || v == 60 { flat[v] } else { free[v] });
    }
    let mut wrong = describe(cloth(sheet(2, Diagonals::Regular), BOTH, vec![]), 1);
    wrong.bodies[0].as_cloth_mut().unwrap().imperfection = Some(f32::NAN);
    assert!(World::new(wrong).unwrap_err().to_string().contains("imperfection"));
}

/// Angular momentum after some frames of a free sheet that starts with ten turns a second about an axis in
/// its plane, over that of the start; and the worst residual. The sheet turns by up to 120 degrees a step.
fn spun(strain: Limit) -> (f64, f64) {
    let mut description = describe(cloth(sheet(24, Diagonals::Delaunay), strain, vec![]), 1);
    description.gravity = Vec3::ZERO;
    description.air.density = 0.0;
    description.bodies[0].as_cloth_mut().unwrap().material.damping = 0.0;
    let world = World::new(description).unwrap();
    let mut stepper = Stepper::new(&world, 1).unwrap();
    let spin = Vec3::new(0.0, 0.0, std::f32::consts::TAU * 10.0);
    let mut snapshot = State::new(&world).snapshot(&world);
    snapshot.velocities =
        snapshot.positions.iter().map(|x| spin.cross(*x - Vec3::new(0.5, 0.0, 0.5))).collect();
    let mut state = State::restore(&world, &snapshot).unwrap();
    let angular = |state: &State| DVec3::from_array(certify(&world, state).bodies[0].angular_momentum).z;
    let before = angular(&state);
    let mut worst = 0.0f64;
    for _ in 0..10 {
        stepper.advance_frame(&world, &mut state);
        worst = worst.max(certify(&world, &state).bodies[0].strain.max_residual);
    }
    (angular(&state) / before, worst)
}

#[test]
fn a_lower_limit_does_not_brake_a_sheet_that_spins_fast() {
    // Long steps along straight lines brake anything; the lower limit, which knows which way triangles face,
    // must not add to that.
    let ((free, _), (limited, worst)) = (spun(UPPER), spun(BOTH));
    assert!(worst <= 0.01, "{worst}");
    assert!((limited / free - 1.0).abs() < 0.1, "{free} {limited}");
}

fn triangles(positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> TriangleMesh {
    let positions = positions.into_iter().map(Vec3::from_array).collect();
    TriangleMesh { positions, triangles, ..TriangleMesh::default() }
}

fn scaled(mut mesh: TriangleMesh, factor: f32) -> TriangleMesh {
    mesh.positions.iter_mut().for_each(|p| *p *= factor);
    mesh
}

#[test]
#[ignore = "full tier: long"]
fn odd_meshes_hold_their_limits() {
    let one = triangles(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], vec![[0, 2, 1]]);
    let mut two = one.clone();
    two.positions.push(Vec3::new(1.0, 0.0, 1.0));
    two.triangles.push([1, 2, 3]);
    // Two sheets, one above the other, in one cloth.
    let mut pieces = sheet(12, Diagonals::Delaunay);
    let count = pieces.positions.len() as u32;
    pieces.positions.extend_from_within(..);
    pieces.positions[count as usize..].iter_mut().for_each(|p| p.y += 0.01);
    pieces.triangles.extend_from_within(..);
    let half = pieces.triangles.len() / 2;
    pieces.triangles[half..].iter_mut().for_each(|t| *t = t.map(|v| v + count));
    // Cells 57 times longer than wide: angles of one degree.
    let needles = generate::grid([1.0, 1.0], [57, 1], Diagonals::Regular, 0);
    let grid = sheet(12, Diagonals::Delaunay);
    let all = (0..grid.positions.len() as u32).collect::<Vec<_>>();
    let cases = [
        ("one triangle, free", one.clone(), vec![]),
        ("one triangle, hung", one.clone(), vec![0]),
        ("one triangle, held", one, vec![0, 1, 2]),
        ("two triangles", two, vec![0]),
        ("two pieces, one hung", pieces.clone(), vec![0]),
        ("two pieces, both hung", pieces, vec![0, count + 5]),
        ("needles", needles.clone(), vec![0]),
        ("needles at both ends", needles, vec![0, 57]),
        ("1 mm", scaled(grid.clone(), 1e-3), vec![0, 12]),
        ("1 km", scaled(grid.clone(), 1e3), vec![0, 12]),
        ("all held", grid.clone(), all),
        ("free", grid, vec![]),
    ];
    for (name, mesh, pinned) in cases {
        for strain in [UPPER, BOTH] {
            for steps in [1, 4, 0] {
                let mut cloth = cloth(mesh.clone(), strain, pinned.clone());
                cloth.name = name.into();
                let (within, worst) = held(&residuals(describe(cloth, steps), 30));
                println!("{name}, {strain:?}, {steps} steps: {within} of 30, {worst:.4}");
                // With one step a frame, a millimetre of cloth falls ten times its size between two looks.
                assert!(
                    within == 30 || (name, steps) == ("1 mm", 1),
                    "{name}, {strain:?}, {steps} steps: {within} of 30, {worst}"
                );
            }
        }
    }
}

#[test]
fn interior_pins_may_move() {
    let mesh = sheet(40, Diagonals::Delaunay);
    let mut sheet = cloth(mesh.clone(), BOTH, vec![near(&mesh, [0.3, 0.3])]);
    let keys = vec![key(0.0, 0.0, 0.0), key(0.5, -0.2, 0.0), key(1.0, 0.0, 0.0)];
    sheet.pins.push(Pin {
        vertices: vec![near(&mesh, [0.7, 0.6])],
        motion: Motion { keys, pivot: Vec3::ZERO, ..Motion::default() },
        ..Pin::default()
    });
    let mut description = describe(sheet, 1);
    // The frame in which the pin turns round takes longer.
    description.solver.iterations = 400;
    let (within, worst) = held(&residuals(description, 40));
    assert!(within >= 39 && worst <= 0.05, "{within} of 40, {worst}");
}

/// A name, and where a vertex starts.
type Start = (&'static str, fn(Vec3) -> Vec3);

#[test]
fn starts_far_outside_the_limits_come_back_within_five_frames() {
    let mesh = sheet(16, Diagonals::Delaunay);
    let starts: [Start; 4] = [
        ("folded flat on itself", |p| Vec3::new(p.x.min(1.0 - p.x), 0.0, p.z)),
        ("in a line", |p| Vec3::new(p.x, 0.0, 0.0)),
        ("in one point", |_| Vec3::ONE),
        ("stretched tenfold", |p| 10.0 * p),
    ];
    for (name, start) in starts {
        for strain in [UPPER, BOTH] {
            let mut cloth = cloth(mesh.clone(), strain, vec![0]);
            cloth.name = name.into();
            cloth.start.iter_mut().for_each(|p| *p = start(*p));
            let residuals = residuals(describe(cloth, 4), 40);
            let (within, _) = held(&residuals[5..]);
            assert_eq!(within, 35, "{name}, {strain:?}: {residuals:.3?}");
        }
    }
}
