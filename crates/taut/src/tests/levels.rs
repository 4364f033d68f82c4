//! Limits on coarse levels (schemes `cycle` and `paper`): what travels, pins, obstacles, and how far each
//! scheme gets.

use glam::{Quat, Vec3};
use taut::{
    Budget, Cloth, Description, Limit, Material, Motion, Obstacle, Pin, Scheme, State, Stepper, World,
    boundary::{motion::Keyframe, obstacle::Shape, obstacle_contacts::ObstacleContacts},
    certify,
    element::hinge::NO_ANGLE,
    exec::threads::Threads,
    hierarchy::{
        self,
        fit::{Method, Refit},
    },
    kernel::{
        lanes::{LaneKind, Quad},
        strain::Range,
    },
    limit::{
        Settings,
        aim::Aim,
        levels::{
            Descent,
            parts::{Bare, Leveled, Parts},
            tables::{ElementLimits, Levels, TriangleLimits},
        },
    },
    mesh::{TriangleMesh, generate},
    term::obstacle::Surroundings,
};

use super::clock;

fn grid(cells: u32, diagonals: generate::Diagonals) -> TriangleMesh {
    generate::grid([1.0, 1.0], [cells, cells], diagonals, 3)
}

pub(super) fn levels(mesh: &TriangleMesh, pins: Vec<u32>, max: f32) -> Levels {
    let count = mesh.positions.len();
    let order: Vec<u32> = (0..count as u32).collect();
    let hierarchy = hierarchy::build(mesh, &hierarchy::Options::default()).reordered(&order);
    let limits = |level: &hierarchy::Level| ElementLimits {
        strain: vec![Range { min: 0.0, max }; level.mesh.triangles.len()],
        bend: vec![[[-NO_ANGLE, NO_ANGLE]; 3]; level.mesh.triangles.len()],
    };
    let limits = TriangleLimits {
        levels: hierarchy.levels.iter().map(limits).collect(),
        refit: Refit::new(
            mesh.positions.clone(),
            mesh.triangles.clone(),
            [Limit { min: None, max: Some(max - 1.0) }, Limit::default()],
            Method::Bounds,
        ),
        aim: Aim::default(),
    };
    let parts = Parts {
        vertices: 0..count,
        limits,
        bare: Bare::of_cloth(hierarchy, &mesh.triangles),
        rest: mesh.positions.clone(),
        masses: vec![1.0; count],
        pins,
    };
    Leveled::new(parts).levels
}

/// Calls `work` with settings and surroundings without obstacles.
pub(super) fn with_nothing_around(old: &[Quad], work: impl FnOnce(&Settings, &Surroundings)) {
    let threads = Threads::new(1).unwrap();
    let settings = Settings {
        threads: &threads,
        lanes: LaneKind::detect(),
        projection: taut::Projection::Gradient,
        relaxation: 1.0,
    };
    let obstacle_contacts = ObstacleContacts::default();
    work(&settings, &Surroundings { obstacles: &[], obstacle_contacts: &obstacle_contacts, old });
}

fn wavy(mesh: &TriangleMesh) -> Vec<Quad> {
    mesh.positions.iter().map(|p| [1.03 * p.x, 0.05 * (40.0 * p.x).sin() * p.z, p.z, 1.0]).collect()
}

#[test]
fn without_a_correction_level_0_keeps_its_bits() {
    let mesh = grid(40, generate::Diagonals::Jittered);
    let levels = levels(&mesh, vec![], 1.01);
    assert!(levels.levels.len() >= 2);
    let start = wavy(&mesh);
    for descent in [Descent::Sample, Descent::Average] {
        let mut x = start.clone();
        let mut seen = 0;
        with_nothing_around(&start, |settings, around| {
            levels.pass(settings, descent, &mut x, around, &mut levels.scratch(None), |_, _, _, _| {
                seen += 1;
                false
            });
        });
        assert_eq!(seen, levels.levels.len());
        assert!(x == start, "{descent:?}");
    }
}

/// What a level changes arrives at level 0, and nothing else: a shift of every coarse vertex shifts the
/// sheet, its waves kept.
#[test]
fn only_corrections_go_up() {
    let mesh = grid(40, generate::Diagonals::Jittered);
    let levels = levels(&mesh, vec![], 1.01);
    let start = wavy(&mesh);
    let mut x = start.clone();
    with_nothing_around(&start, |settings, around| {
        levels.pass(
            settings,
            Descent::Sample,
            &mut x,
            around,
            &mut levels.scratch(None),
            |level, _, x, _| {
                if level == 2 {
                    x.iter_mut().for_each(|q| q[1] += 0.5);
                }
                false
            },
        );
    });
    for (x, start) in x.iter().zip(&start) {
        assert!((x[1] - start[1] - 0.5).abs() < 1e-5 && (x[0] - start[0]).abs() < 1e-5, "{x:?} {start:?}");
    }
}

#[test]
fn every_pin_has_a_vertex_of_its_own_on_every_level() {
    let mesh = grid(48, generate::Diagonals::Jittered);
    let nearest = |p: Vec3| {
        let far = |v: &usize| mesh.positions[*v].distance_squared(p);
        (0..mesh.positions.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap() as u32
    };
    let pins: Vec<u32> =
        [Vec3::ZERO, Vec3::new(0.31, 0.0, 0.42), Vec3::new(0.7, 0.0, 0.55), Vec3::new(0.5, 0.0, 1.0)]
            .map(nearest)
            .to_vec();
    let levels = levels(&mesh, pins.clone(), 1.01);
    let mut x = wavy(&mesh);
    for &pin in &pins {
        x[pin as usize] = [3.0 + pin as f32, 1.0, 2.0, 0.0];
    }
    let start = x.clone();
    with_nothing_around(&start, |settings, around| {
        for descent in [Descent::Sample, Descent::Average] {
            levels.pass(
                settings,
                descent,
                &mut x,
                around,
                &mut levels.scratch(None),
                |level, tables, x, _| {
                    for &pin in &pins {
                        let at: Vec<usize> =
                            (0..tables.pins.len()).filter(|&v| tables.pins[v] == Some(pin)).collect();
                        assert_eq!(at.len(), 1, "pin {pin} on level {level}");
                        assert_eq!(x[at[0]], start[pin as usize], "level {level}");
                    }
                    assert_eq!(x.iter().filter(|q| q[3] == 0.0).count(), pins.len() + 1, "one spare");
                    false
                },
            );
        }
    });
    // Once it is let go, the vertex is free again.
    for &pin in &pins {
        x[pin as usize][3] = 1.0;
    }
    with_nothing_around(&start, |settings, around| {
        levels.pass(settings, Descent::Sample, &mut x, around, &mut levels.scratch(None), |_, _, x, _| {
            assert_eq!(x.iter().filter(|q| q[3] == 0.0).count(), 1, "the spare alone");
            false
        });
    });
}

fn described(mesh: TriangleMesh, strain: Limit, scheme: Scheme) -> Description {
    let vertices =
        ["corner:top-left", "corner:top-right"].iter().flat_map(|c| mesh.groups[*c].clone()).collect();
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = strain;
    cloth.pins = vec![Pin { vertices, motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = scheme;
    // As the papers count.
    description.solver.tolerance = crate::Tolerance::Past(0.01);
    description.solver.steps_per_frame = 1;
    description.solver.max_substeps = 8;
    description
}

/// Frames within the tolerance, largest residual, iterations on level 0.
fn run(description: Description, frames: u32) -> (u32, f64, u32) {
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 2).unwrap();
    let (mut within, mut worst, mut iterations) = (0, 0.0f64, 0);
    for _ in 0..frames {
        iterations += stepper.advance_frame(&world, &mut state).iterations;
        let body = &certify(&world, &state).bodies[0];
        within += u32::from(body.strain.max_residual <= 0.01);
        worst = worst.max(body.strain.max_residual);
        assert!(body.max_pin_error < 1e-6);
        assert_eq!(body.penetrating, 0);
    }
    (within, worst, iterations)
}

#[test]
fn cycles_hold_a_hanging_sheet_where_one_published_pass_does_not() {
    for strain in [Limit { min: None, max: Some(0.01) }, Limit { min: Some(-0.05), max: Some(0.05) }] {
        let sheet = || grid(64, generate::Diagonals::Alternating);
        let (within, worst, iterations) = run(described(sheet(), strain, Scheme::Cycle), 40);
        println!("cycle {strain:?}: {within} of 40, worst {worst:.4}, {iterations} iterations");
        assert_eq!(within, 40);
        assert!(iterations < 40 * 100);
        let (within, worst, iterations) = run(described(sheet(), strain, Scheme::Paper), 10);
        println!("paper {strain:?}: {within} of 10, worst {worst:.4}, {iterations} iterations");
        assert!(within < 10 && worst < 0.5);
        assert!(iterations <= 10 * 128, "one pass has 128 iterations on level 0");
    }
}

#[test]
fn passes_of_the_paper_can_be_repeated_until_the_limits_hold() {
    let limit = Limit { min: None, max: Some(0.01) };
    let mut description = described(grid(32, generate::Diagonals::Alternating), limit, Scheme::Paper);
    description.solver.passes = 100;
    description.solver.iterations = 100_000;
    let (within, worst, iterations) = run(description, 10);
    println!("{iterations} iterations, worst {worst}");
    assert_eq!(within, 10);
}

#[test]
fn passes_are_refused_where_there_are_no_levels() {
    let limit = Limit { min: None, max: Some(0.01) };
    let mut description = described(grid(8, generate::Diagonals::Alternating), limit, Scheme::Sweep);
    description.solver.passes = 2;
    assert!(World::new(description).unwrap_err().to_string().contains("cycle or paper"));
}

#[test]
fn moving_pins_inside_and_obstacles_at_every_level() {
    let mesh = grid(48, generate::Diagonals::Jittered);
    let far = |v: &u32| mesh.positions[*v as usize].distance_squared(Vec3::new(0.3, 0.0, 0.3));
    let inside: Vec<u32> =
        (0..mesh.positions.len() as u32).min_by(|a, b| far(a).total_cmp(&far(b))).into_iter().collect();
    for scheme in [Scheme::Cycle, Scheme::Paper] {
        let mut description = described(mesh.clone(), Limit { min: None, max: Some(0.02) }, scheme);
        let key = |time, x| Keyframe { time, translate: Vec3::new(x, 0.0, 0.0), rotate: Vec3::ZERO };
        description.bodies[0].as_cloth_mut().unwrap().pins = vec![Pin {
            vertices: inside.clone(),
            motion: Motion {
                keys: vec![key(0.0, 0.0), key(1.0, 0.1)],
                pivot: Vec3::ZERO,
                ..Motion::default()
            },
            ..Pin::default()
        }];
        description.obstacles = vec![Obstacle {
            name: "ball".into(),
            shape: Shape::Sphere { radius: 0.2 },
            position: Vec3::new(0.7, -0.3, 0.7),
            rotation: Quat::IDENTITY,
            motion: Motion::default(),
            friction: 0.3,
            restitution: 0.0,
            margin: 0.001,
        }];
        let frames = if scheme == Scheme::Cycle { 45 } else { 15 };
        let (within, worst, iterations) = run(description, frames);
        println!("{scheme:?}: {within} of {frames}, worst {worst:.4}, {iterations} iterations");
        assert!(scheme == Scheme::Paper || within * 10 >= frames * 9);
        assert!(worst < 0.6, "{worst}");
    }
}

#[test]
fn a_budget_ends_both_early() {
    for scheme in [Scheme::Cycle, Scheme::Paper] {
        let limit = Limit { min: Some(-0.001), max: Some(0.001) };
        let mut description = described(grid(64, generate::Diagonals::Alternating), limit, scheme);
        description.solver.passes = 1000;
        description.solver.iterations = 1_000_000;
        description.solver.tolerance = crate::Tolerance::Past(0.0);
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 1).unwrap();
        clock::reset();
        let budget = Budget::millis(20.0).with_clock(clock::ticking).with_min_iterations(0);
        let report = stepper.advance_within(&world, &mut state, &budget);
        assert!(!report.converged && report.residual > 0.0);
        assert!((20..100).contains(&clock::read()), "{scheme:?}: read {} times", clock::read());
    }
}
