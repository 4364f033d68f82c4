//! The same bits for any number of threads, with any lanes, and across a resume from a snapshot: one suite
//! over scenes and schemes. A scene belongs here if it has something in it that no other has.

use glam::{Quat, Vec3};
use taut::{
    Cloth, Description, EdgeModel, FrameReport, Limit, Material, Model, Motion, Obstacle, PbdModel, Pin,
    Scheme, Solid, SolidMaterial, State, Stepper, World,
    boundary::{motion::Keyframe, obstacle::Shape},
    certify,
    kernel::lanes::LaneKind,
    mesh::generate,
    state::Snapshot,
};

use super::{
    alone, anisotropic, bend, contact, edge_model, pbd, pins, pressure, rigid, seams, solids, tangled, volume,
};

const SCHEMES: [Scheme; 6] =
    [Scheme::Sweep, Scheme::Jacobi, Scheme::Serial, Scheme::Nearest, Scheme::Cycle, Scheme::Paper];

/// A scene, and the runs of it that must agree.
struct Case {
    description: Description,
    schemes: Vec<Scheme>,
    frames: u32,
    /// Numbers of threads beside one.
    threads: Vec<usize>,
    /// Frames after which a run is stopped and resumed from its snapshot.
    resumed: Vec<u32>,
    /// What must hold after every frame: that the scene does what it is here for.
    check: fn(&World, &State, &FrameReport),
}

impl Case {
    fn new(description: Description, frames: u32) -> Self {
        Self {
            schemes: vec![description.solver.scheme],
            description,
            frames,
            threads: vec![2, 5],
            resumed: vec![frames / 2],
            check: |_, _, _| {},
        }
    }

    fn schemes(self, schemes: &[Scheme]) -> Self {
        Self { schemes: schemes.into(), ..self }
    }

    fn threads(self, threads: &[usize]) -> Self {
        Self { threads: threads.into(), ..self }
    }

    fn resumed(self, resumed: &[u32]) -> Self {
        Self { resumed: resumed.into(), ..self }
    }

    fn check(self, check: fn(&World, &State, &FrameReport)) -> Self {
        Self { check, ..self }
    }

    /// Runs every scheme in every way.
    fn hold(self) {
        assert!(!self.schemes.is_empty() && !self.threads.is_empty());
        for &scheme in &self.schemes {
            let mut description = self.description.clone();
            description.solver.scheme = scheme;
            let world = World::new(description).unwrap();
            let widest = LaneKind::available()[0];
            let expected = self.run(&world, 1, widest, None);
            assert!(expected.0.iter().all(|&bits| f32::from_bits(bits).is_finite()));
            for &threads in &self.threads {
                let found = self.run(&world, threads, widest, None);
                assert!(found == expected, "{scheme:?}: {threads} threads differ from one");
            }
            // The widest on two threads were among the others.
            let done = self.threads.contains(&2);
            for &lanes in LaneKind::available().iter().skip(usize::from(done)) {
                let found = self.run(&world, 2, lanes, None);
                assert!(found == expected, "{scheme:?}: {lanes:?} differs from {widest:?}");
            }
            for &frame in &self.resumed {
                let found = self.run(&world, 2, widest, Some(frame));
                assert!(found == expected, "{scheme:?}: resumed after frame {frame}");
            }
        }
    }

    /// The bits of everything that a run ends with, and how each frame went.
    fn run(
        &self,
        world: &World,
        threads: usize,
        lanes: LaneKind,
        resumed: Option<u32>,
    ) -> (Vec<u32>, Snapshot, Vec<FrameReport>) {
        let stepper = |threads| Stepper::new(world, threads).unwrap().with_lanes(lanes);
        let (mut state, mut advance) = (State::new(world), stepper(threads));
        let mut reports = Vec::new();
        for frame in 1..=self.frames {
            let report = advance.advance_frame(world, &mut state);
            (self.check)(world, &state, &report);
            // Times are not part of it.
            let none = FrameReport::default();
            let FrameReport { velocity_ms, limit_ms, contact_ms, position_ms, .. } = none;
            reports.push(FrameReport { velocity_ms, limit_ms, contact_ms, position_ms, ..report });
            if Some(frame) == resumed {
                state = State::restore(world, &state.snapshot(world)).unwrap();
                advance = stepper(1);
            }
        }
        let snapshot = state.snapshot(world);
        let points = snapshot.positions.iter().chain(&snapshot.velocities).chain(&snapshot.caught);
        let numbers = points.flat_map(|p| p.to_array()).chain(snapshot.duals.iter().copied());
        (numbers.map(f32::to_bits).collect(), snapshot, reports)
    }
}

fn key(time: f32, y: f32) -> Keyframe {
    Keyframe { time, translate: Vec3::new(0.0, y, 0.0), rotate: Vec3::ZERO }
}

fn ball() -> Obstacle {
    Obstacle {
        name: "ball".into(),
        shape: Shape::Sphere { radius: 0.2 },
        position: Vec3::new(0.5, -0.25, 0.5),
        rotation: Quat::IDENTITY,
        motion: Motion { keys: vec![key(0.0, 0.0), key(0.3, 0.1)], pivot: Vec3::ZERO, ..Motion::default() },
        friction: 0.4,
        restitution: 0.3,
        margin: 0.001,
    }
}

/// Three limits, two bodies, wind, a moving pin and a moving obstacle.
fn sheets(cells: u32) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Jittered, 3);
    let corner = mesh.groups["corner:top-left"].clone();
    let mut sheet = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
    sheet.strain = Limit { min: Some(-0.1), max: Some(0.05) };
    sheet.bend = Limit { min: Some(-5.0), max: Some(8.0) };
    sheet.pins = vec![Pin {
        vertices: corner,
        motion: Motion { keys: vec![key(0.0, 0.0), key(0.5, 0.3)], pivot: Vec3::ZERO, ..Motion::default() },
        ..Pin::default()
    }];
    let mut film = Cloth::new(
        "film",
        generate::grid([0.5, 0.5], [cells / 2, cells / 2], generate::Diagonals::Regular, 0),
        Material::named("jersey").unwrap(),
    );
    film.edge = Limit { min: Some(-0.05), max: Some(0.05) };
    film.bend = Limit { min: None, max: Some(3.0) };
    film.start.iter_mut().for_each(|p| *p += Vec3::new(0.2, 0.4, 0.2));
    let mut description = Description {
        bodies: vec![sheet.into(), film.into()],
        obstacles: vec![ball()],
        ..Description::default()
    };
    description.air.wind = vec![(0.0, Vec3::new(2.0, 0.0, 1.0))];
    description.air.gust = 0.5;
    description.solver.iterations = 60;
    description.solver.steps_per_frame = 4;
    description
}

/// A soft bar with coarser levels that is held at one end, stretched, and meets the ball.
fn soft(cells: [u32; 3]) -> Description {
    let bar = |cells: [u32; 3]| generate::bar(Vec3::new(0.8, 0.2, 0.2), cells).unwrap();
    let mut solid = Solid::new("bar", bar(cells), SolidMaterial::named("silicone").unwrap());
    solid.strain = Limit { min: Some(-0.05), max: Some(0.05) };
    solid.levels = [2, 4].map(|part| bar(cells.map(|n| n / part))).to_vec();
    let end = (0..solid.mesh.positions.len() as u32).filter(|&v| solid.mesh.positions[v as usize].x < 1e-6);
    solid.pins = vec![Pin { vertices: end.collect(), motion: Motion::default(), ..Pin::default() }];
    solid.start.iter_mut().for_each(|x| x.x *= 1.2);
    let mut description = Description { bodies: vec![solid.into()], ..sheets(8) };
    description.obstacles[0].position = Vec3::new(0.6, -0.2, 0.1);
    description.solver.iterations = 20;
    description
}

/// Seven sheets of different sizes that hang side by side, over a floor: threads share out bodies.
fn many() -> Description {
    let sheets = (0..7).map(|k| {
        let cells = 8 + 3 * k;
        let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
        let corner = mesh.groups["corner:top-left"].clone();
        let mut sheet = Cloth::new(format!("sheet-{k}"), mesh, Material::named("polyester").unwrap());
        sheet.strain.max = Some(0.05);
        sheet.pins = vec![Pin { vertices: corner, ..Pin::default() }];
        sheet.start.iter_mut().for_each(|p| *p += Vec3::new(2.0 * k as f32, 0.5, 0.0));
        sheet.into()
    });
    let floor = Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::ZERO,
        motion: Motion::default(),
        restitution: 0.0,
        ..ball()
    };
    Description { bodies: sheets.collect(), obstacles: vec![floor], ..Description::default() }
}

/// The sheet of the edge model, over a ball, with bend limits.
fn edges() -> Description {
    let mut description = edge_model::sheet(24, EdgeModel { levels: 3, iterations: 20 });
    let cloth = description.bodies[0].as_cloth_mut().unwrap();
    assert!(matches!(cloth.model, Model::Edge(_)));
    cloth.bend = Limit { min: Some(-40.0), max: Some(40.0) };
    description.obstacles = vec![Obstacle {
        position: Vec3::new(0.5, -0.4, 0.4),
        motion: Motion::default(),
        friction: 0.3,
        restitution: 0.0,
        margin: 0.0,
        ..ball()
    }];
    description
}

macro_rules! same_bits {
    ($($name:ident: $case:expr;)*) => {
        $(#[test] fn $name() { $case.hold() })*
    };
}

same_bits! {
    // Large enough that colours are split between threads.
    sheets_by_sweeps: Case::new(sheets(140), 6).schemes(&[Scheme::Sweep]).resumed(&[]);
    sheets_by_jacobi: Case::new(sheets(140), 6).schemes(&[Scheme::Jacobi]).resumed(&[]);
    sheets_by_the_nearest_state: Case::new(sheets(140), 6).schemes(&[Scheme::Nearest]).resumed(&[]);
    sheets_by_cycles: Case::new(sheets(100), 6).schemes(&[Scheme::Cycle]).resumed(&[]);
    sheets_by_serial_schemes: Case::new(sheets(24), 6).schemes(&[Scheme::Serial, Scheme::Paper]);
    sheets_resumed: Case::new(sheets(30), 6).schemes(&SCHEMES).threads(&[2]);
    many_bodies: Case::new(many(), 6).threads(&[2, 3, 8]);
    // In the middle of a pin, at the frame in which one begins, and one after another has ended.
    pins_that_switch: Case::new(pins::taking_turns(), 12)
        .schemes(&[Scheme::Nearest, Scheme::Cycle, Scheme::Sweep, Scheme::Paper])
        .resumed(&[5, 3, 8, 10]);
    // Before the ball comes near, while it is, and after.
    steps_of_two_lengths: Case::new(alone::with_ball_that_passes(12, -0.1), 32)
        .threads(&[2])
        .resumed(&[6, 13, 14, 15, 16, 17, 18, 24, 29])
        .check(|_, state, _| assert!(state.frame() != 8 && state.frame() != 32 || state.is_alone));
    woven_cloth: Case::new(anisotropic::woven(), 3).schemes(&SCHEMES);
    bend_limits: Case::new(bend::sheet(20, 3.0), 11).resumed(&[8]);
    the_edge_model: Case::new(edges(), 40).check(|world, state, _| {
        let largest = certify(world, state).bodies[0].strain.max_edge_strain;
        assert!(largest < 0.2, "{largest}");
        let far = |p: &Vec3| p.distance(Vec3::new(0.5, -0.4, 0.4)) >= 0.2 - 1e-4;
        assert!(state.positions(world, 0).iter().all(far), "vertices inside the ball");
    });
    position_based_sheets: Case::new(pbd::sheet(140, PbdModel::default()), 2).resumed(&[]);
    position_based_bodies: Case::new(pbd::mixed(), 16).threads(&[2, 3]);
    open_seams_with_contact: Case::new(seams::busy(), 20).threads(&[2, 3]).check(|world, state, _| {
        let openings: Vec<f64> = certify(world, state).seams.iter().map(|s| s.max_opening).collect();
        assert!(state.frame() < 20 || openings == [0.0; 2], "{openings:?}");
    });
    open_seams_by_sweeps: Case::new(seams::busy(), 6).threads(&[2, 3]).schemes(&[Scheme::Sweep]);
    cloth_that_folds_on_itself: Case::new(contact::folding(0.004), 30).threads(&[3]);
    cloth_that_folds_on_itself_by_sweeps: Case::new(contact::folding(0.004), 16).threads(&[3]).schemes(&[
        Scheme::Sweep,
        Scheme::Jacobi,
        Scheme::Cycle,
        Scheme::Paper,
    ]);
    cloth_of_edges_that_folds_on_itself: Case::new(contact::folding_edges(0.004), 16).threads(&[3]);
    tangled_cross: Case::new(tangled::cross(), 21).resumed(&[1]).check(tangled_at_first);
    tangled_in_a_ball: Case::new(tangled::half_in_ball(), 21).threads(&[3]).resumed(&[1]).check(tangled_at_first);
    tangled_with_itself: Case::new(tangled::folded_through(), 6).threads(&[3]);
    tangled_layers: Case::new(tangled::layers(), 6).threads(&[3]);
    squeezed_gas: Case::new(pressure::squeezed(8), 14).check(|world, state, _| {
        assert!(certify(world, state).bags[0].pressure.is_some_and(|pressure| pressure > 100.0));
    });
    sewn_bag: Case::new(pressure::discs(8), 8).threads(&[2, 5]);
    rigid_bodies: Case::new(rigid::trampoline(16, 5.0, 0.05), 16).threads(&[2, 3]).check(|_, state, _| {
        let ball = state.rigid_bodies()[0].pose.position;
        assert!(state.frame() < 16 || ball.y < 0.1, "it touches: {ball}");
    });
    soft_bodies_with_contact: Case::new(solids::beam_on_a_ball(), 12).resumed(&[7]);
    soft_bodies_that_keep_their_volume: Case::new(volume::bar(3, 0.3, 0.05), 12).threads(&[2, 3]);
    soft_bodies_that_fall_on_each_other: Case::new(volume::cross(), 24).threads(&[2]).resumed(&[]);
    soft_bodies_by_elements: Case::new(soft([8, 4, 4]), 4)
        .schemes(&[Scheme::Sweep, Scheme::Jacobi, Scheme::Serial]);
    levels_of_soft_bodies_by_cycles: Case::new(soft([48, 12, 12]), 6).schemes(&[Scheme::Cycle]);
    levels_of_soft_bodies_as_published: Case::new(soft([16, 4, 4]), 6).schemes(&[Scheme::Paper]);
}

fn tangled_at_first(_: &World, state: &State, report: &FrameReport) {
    assert!(state.frame() > 1 || report.tangled > 0);
}

#[test]
fn the_seed_matters() {
    let run = |seed| {
        let case = Case::new(Description { seed, ..sheets(24) }, 6);
        let world = World::new(case.description.clone()).unwrap();
        case.run(&world, 1, LaneKind::available()[0], None)
    };
    assert!(run(0) != run(1));
}

#[test]
fn levels_of_soft_bodies_are_used() {
    for cells in [[48, 12, 12], [16, 4, 4]] {
        let mut description = soft(cells);
        description.solver.scheme = Scheme::Cycle;
        assert_eq!(World::new(description).unwrap().level_sizes().len(), 3);
    }
}

#[test]
fn a_broken_snapshot_is_refused() {
    let world = World::new(sheets(12)).unwrap();
    let mut broken = State::new(&world).snapshot(&world);
    assert!(State::restore(&world, &broken).is_some());
    broken.positions[5].x = f32::NAN;
    assert!(State::restore(&world, &broken).is_none());
    broken.positions.pop();
    assert!(State::restore(&world, &broken).is_none());
}
