//! Limits on coarse levels of soft solids (schemes `cycle` and `paper`): what travels, pins, momentum, and
//! what they save.

use glam::{DVec3, Vec3};
use taut::{
    Description, Limit, Motion, Pin, Projection, Scheme, Solid, SolidMaterial, State, Stepper, World,
    boundary::{motion::Keyframe, obstacle_contacts::ObstacleContacts},
    certify,
    exec::threads::Threads,
    kernel::{
        lanes::{LaneKind, Quad},
        strain::Range,
    },
    limit::{
        Settings,
        levels::{
            Descent,
            parts::{Bare, Leveled, Parts},
            solid::SolidLimits,
            tables::Levels,
        },
    },
    mesh::{
        generate::{self, Generator},
        stuff::{StuffOptions, solid_levels, stuff},
        tetrahedra::TetrahedronMesh,
    },
    term::obstacle::Surroundings,
};

fn bar(cells: [u32; 3]) -> TetrahedronMesh {
    generate::bar(Vec3::new(0.8, 0.2, 0.2), cells).unwrap()
}

/// A ball, and levels of it that do not fit into each other.
fn ball() -> (TetrahedronMesh, Vec<TetrahedronMesh>) {
    let surface = Generator::Sphere { radius: 0.5, frequency: 12 }.generate().unwrap();
    let mesh = stuff(&surface, &StuffOptions { spacing: 0.05 }).unwrap().mesh;
    let levels = solid_levels(&surface, 0.05, &mesh);
    (mesh, levels)
}

fn levels(mesh: &TetrahedronMesh, levels: &[TetrahedronMesh], pins: Vec<u32>) -> Levels<4> {
    let parts = Parts {
        vertices: 0..mesh.positions.len(),
        rest: mesh.positions.clone(),
        masses: vec![1.0; mesh.positions.len()],
        pins,
        bare: Bare::of_solid(mesh, levels),
        limits: SolidLimits(Range { min: 0.95, max: 1.05 }),
    };
    Leveled::new(parts).levels
}

/// Calls `work` with settings and surroundings without obstacles.
fn with_nothing_around(old: &[Quad], work: impl FnOnce(&Settings, &Surroundings)) {
    let threads = Threads::new(1).unwrap();
    let lanes = LaneKind::detect();
    let settings = Settings { threads: &threads, lanes, projection: Projection::Gradient, relaxation: 1.0 };
    let obstacle_contacts = ObstacleContacts::default();
    work(&settings, &Surroundings { obstacles: &[], obstacle_contacts: &obstacle_contacts, old });
}

fn wavy(mesh: &TetrahedronMesh) -> Vec<Quad> {
    let wave = |p: &Vec3| [1.03 * p.x, p.y + 0.05 * (20.0 * p.x).sin() * p.z, p.z, 1.0];
    mesh.positions.iter().map(wave).collect()
}

#[test]
fn without_a_correction_level_0_keeps_its_bits() {
    let (mesh, coarse) = ball();
    let levels = levels(&mesh, &coarse, vec![]);
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

/// What a level changes arrives at level 0, and nothing else: a shift of every coarse vertex shifts the ball,
/// its waves kept.
#[test]
fn only_corrections_go_up() {
    let (mesh, coarse) = ball();
    let levels = levels(&mesh, &coarse, vec![]);
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

/// A level is at rest where the finest is: nothing is to be corrected, also where its vertices stand out of
/// the finest mesh.
#[test]
fn at_rest_every_level_is_at_rest() {
    let (mesh, coarse) = ball();
    let levels = levels(&mesh, &coarse, vec![]);
    let start: Vec<Quad> = mesh.positions.iter().map(|p| [p.x, p.y, p.z, 1.0]).collect();
    let mut x = start.clone();
    with_nothing_around(&start, |settings, around| {
        levels.pass(
            settings,
            Descent::Sample,
            &mut x,
            around,
            &mut levels.scratch(None),
            |level, tables, x, _| {
                let given = coarse[level - 1].tetrahedra.len();
                let limited = &tables.limited.tetrahedra;
                assert!(limited.len() * 100 >= given * 99, "level {level}: {} of {given}", limited.len());
                for element in limited {
                    let corners = element.vertices.map(|v| x[v as usize]).map(|q| [q[0], q[1], q[2]]);
                    let past = taut::kernel::tetrahedron::residual3(
                        &corners,
                        &element.rest,
                        Range { min: 0.999, max: 1.001 },
                    );
                    assert!(past <= 0.0, "level {level}: {past}");
                }
                false
            },
        );
    });
}

#[test]
fn pins_are_held_on_every_level() {
    let (mesh, coarse) = ball();
    let nearest = |p: Vec3| {
        let far = |v: &usize| mesh.positions[*v].distance_squared(p);
        (0..mesh.positions.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap() as u32
    };
    // One alone, and a whole cap.
    let alone = nearest(Vec3::new(0.0, -0.5, 0.0));
    let cap = (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].y > 0.3);
    let mut pins: Vec<u32> = cap.chain([alone]).collect();
    pins.sort_unstable();
    let levels = levels(&mesh, &coarse, pins.clone());
    let mut x = wavy(&mesh);
    pins.iter().for_each(|&pin| x[pin as usize][3] = 0.0);
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
                    let at: Vec<usize> =
                        (0..tables.pins.len()).filter(|&v| tables.pins[v] == Some(alone)).collect();
                    assert_eq!(at.len(), 1, "level {level}");
                    assert_eq!(x[at[0]], start[alone as usize], "level {level}");
                    // Well inside the cap all are held; well outside none but that one.
                    let [mut inside, mut held] = [0, 0];
                    for (v, q) in x[..tables.pins.len()].iter().enumerate() {
                        if q[1] > 0.42 {
                            assert_eq!(q[3], 0.0, "level {level}, vertex {v} at {q:?}");
                            inside += 1;
                        }
                        held += usize::from(q[1] < 0.2 && q[3] == 0.0);
                    }
                    assert!(inside > 0 && held == 1, "level {level}: {inside} {held}");
                    false
                },
            );
        }
    });
    assert!(x == start);
}

/// Vertices of a bar's left end.
fn end(mesh: &TetrahedronMesh) -> Vec<u32> {
    (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].x < 1e-6).collect()
}

/// A bar of 12,288 tetrahedra that is held at one end and starts stretched, and its coarser levels.
fn stretched(stretch: f32, with_levels: bool) -> Solid {
    let mut solid = Solid::new("bar", bar([32, 8, 8]), SolidMaterial::named("silicone").unwrap());
    solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
    if with_levels {
        solid.levels = [[16, 4, 4], [8, 2, 2]].map(bar).to_vec();
    }
    solid.start.iter_mut().for_each(|x| x.x *= stretch);
    solid.pins = vec![Pin { vertices: end(&solid.mesh), motion: Motion::default(), ..Pin::default() }];
    solid
}

fn described(solid: Solid, scheme: Scheme) -> Description {
    let mut description = Description { bodies: vec![solid.into()], ..Description::default() };
    description.solver.scheme = scheme;
    description.solver.iterations = 1000;
    description.solver.steps_per_frame = 1;
    description
}

#[test]
fn levels_save_sweeps_of_the_finest() {
    let mut sweeps = [0, 0];
    for (count, with_levels) in sweeps.iter_mut().zip([false, true]) {
        let world = World::new(described(stretched(1.3, with_levels), Scheme::Cycle)).unwrap();
        assert_eq!(world.level_sizes().len(), if with_levels { 3 } else { 1 });
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        *count = stepper.advance_frame(&world, &mut state).iterations;
        let strain = certify(&world, &state).bodies[0].strain.max_residual;
        assert!(strain <= 0.01, "{strain}");
    }
    println!("sweeps of the finest level: {} alone, {} with levels", sweeps[0], sweeps[1]);
    assert!(sweeps[0] > 10 * sweeps[1], "{sweeps:?}");
}

#[test]
fn pins_hold_and_move_in_both_schemes() {
    for scheme in [Scheme::Cycle, Scheme::Paper] {
        let mut solid = Solid::new("bar", bar([16, 4, 4]), SolidMaterial::named("silicone").unwrap());
        solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
        solid.levels = [[8, 2, 2], [4, 1, 1]].map(bar).to_vec();
        let vertices = end(&solid.mesh);
        let key = |time, y| Keyframe { time, translate: Vec3::new(0.0, y, 0.0), rotate: Vec3::ZERO };
        let motion =
            Motion { keys: vec![key(0.0, 0.0), key(0.5, 0.1)], pivot: Vec3::ZERO, ..Motion::default() };
        solid.pins = vec![Pin { vertices, motion, ..Pin::default() }];
        let world = World::new(described(solid, scheme)).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        for _ in 0..10 {
            stepper.advance_frame(&world, &mut state);
            let body = &certify(&world, &state).bodies[0];
            assert!(body.max_pin_error < 1e-6, "{scheme:?} {}", body.max_pin_error);
            assert_eq!(body.solid.as_ref().unwrap().inverted, 0, "{scheme:?}");
            if scheme == Scheme::Cycle {
                assert!(body.strain.max_residual <= 0.01, "{}", body.strain.max_residual);
            }
        }
    }
}

/// The centre of mass goes on as it would without limits.
#[test]
fn levels_keep_momentum() {
    for scheme in [Scheme::Cycle, Scheme::Paper] {
        let mut solid = Solid::new("bar", bar([16, 4, 4]), SolidMaterial::named("silicone").unwrap());
        solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
        solid.levels = [[8, 2, 2], [4, 1, 1]].map(bar).to_vec();
        solid.start.iter_mut().for_each(|x| x.x *= 1.0 + 0.6 * x.x);
        solid.velocity = Vec3::new(0.3, 0.2, -0.1);
        solid.material.damping = 0.0;
        let mut masses = vec![0.0; solid.mesh.positions.len()];
        for (t, corners) in solid.mesh.tetrahedra.iter().enumerate() {
            corners.iter().for_each(|&v| masses[v as usize] += solid.mesh.volume(t));
        }
        let mut description = described(solid, scheme);
        description.gravity = Vec3::ZERO;
        description.air.density = 0.0;
        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let center = |state: &State| {
            let x = state.positions(&world, 0);
            let sum: DVec3 = masses.iter().zip(&x).map(|(m, x)| *m * x.as_dvec3()).sum();
            sum / masses.iter().sum::<f64>()
        };
        let before = center(&state);
        for frame in 1..=5 {
            stepper.advance_frame(&world, &mut state);
            let passed = f64::from(frame) * f64::from(world.description().frame_time);
            let drift = center(&state) - before - passed * DVec3::new(0.3, 0.2, -0.1);
            // Limits move the ends by more than a decimetre.
            assert!(drift.length() < 1e-4, "{scheme:?}, frame {frame}: {drift}");
        }
    }
}

#[test]
fn levels_that_are_no_meshes_are_refused_by_name() {
    let with = |spoil: fn(&mut TetrahedronMesh)| {
        let mut solid = stretched(1.0, true);
        spoil(&mut solid.levels[1]);
        World::new(described(solid, Scheme::Cycle)).unwrap_err().to_string()
    };
    for (message, part) in [
        (with(|level| level.tetrahedra.clear()), "level 2 has no tetrahedron"),
        (with(|level| level.tetrahedra[7][1] = 1_000_000), "(7) that names a vertex"),
        (with(|level| level.tetrahedra[7].swap(0, 1)), "(7) that is flat or inside out"),
        (with(|level| level.positions[3].y = f32::NAN), "positions that are not finite"),
    ] {
        assert!(message.contains(part) && message.contains("bar"), "{message}");
    }
}
