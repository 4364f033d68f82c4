//! Nothing is allocated in a step. Counted on the thread that asks, so that other tests of this binary may
//! run beside.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use glam::{Quat, Vec3};
use taut::{
    Cloth, Description, EdgeModel, FilterSetup, Limit, Material, MeshFrames, MeshObstacle, Model, Motion,
    Obstacle, Pin, Pressure, PressureLaw, Scheme, Shape, Solid, SolidMaterial, State, Stepper,
    VelocityFilter, World, low_level::Keyframe, mesh::generate,
};

/// Counts what the thread that asks for it allocates.
struct Counting;

thread_local! {
    static COUNT: Cell<Option<u64>> = const { Cell::new(None) };
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // try_with: threads allocate after their locals are gone, too.
        let _ = COUNT.try_with(|c| c.set(c.get().map(|n| n + 1)));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

const SCHEMES: [Scheme; 6] =
    [Scheme::Sweep, Scheme::Jacobi, Scheme::Serial, Scheme::Nearest, Scheme::Cycle, Scheme::Paper];

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Three limits, two bodies, wind, a moving pin and a moving obstacle: everything that a step can do.
fn description(cells: u32) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Jittered, 3);
    let corner = mesh.groups["corner:top-left"].clone();
    let mut sheet = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
    sheet.strain = Limit { min: Some(-0.1), max: Some(0.05) };
    sheet.bend = Limit { min: Some(-5.0), max: Some(8.0) };
    let key = |time, y| Keyframe { time, translate: Vec3::new(0.0, y, 0.0), rotate: Vec3::ZERO };
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
    let ball = Obstacle {
        name: "ball".into(),
        shape: Shape::Sphere { radius: 0.2 },
        position: Vec3::new(0.5, -0.25, 0.5),
        rotation: Quat::IDENTITY,
        motion: Motion { keys: vec![key(0.0, 0.0), key(0.3, 0.1)], pivot: Vec3::ZERO, ..Motion::default() },
        friction: 0.4,
        restitution: 0.3,
        margin: 0.001,
    };
    let mut description = Description {
        bodies: vec![sheet.into(), film.into()],
        obstacles: vec![ball],
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
    let mut description = Description { bodies: vec![solid.into()], ..description(8) };
    description.obstacles[0].position = Vec3::new(0.6, -0.2, 0.1);
    description
}

#[test]
fn levels_of_solids_allocate_nothing() {
    for (scheme, cells) in [(Scheme::Cycle, [48, 12, 12]), (Scheme::Paper, [16, 4, 4])] {
        let mut description = soft(cells);
        description.solver.scheme = scheme;
        description.solver.iterations = 20;
        assert_eq!(allocated(description, 1), 0, "{scheme:?}");
    }
}

/// Allocations of the second frame, on the thread that steps.
fn allocated(description: Description, threads: usize) -> u64 {
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
    stepper.advance_frame(&world, &mut state);
    COUNT.with(|c| c.set(Some(0)));
    stepper.advance_frame(&world, &mut state);
    COUNT.with(|c| c.replace(None)).unwrap()
}

#[test]
fn allocations_are_counted() {
    COUNT.with(|c| c.set(Some(0)));
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(COUNT.with(|c| c.replace(None)), Some(1));
}

/// Seven sheets of different sizes that hang side by side, over a floor.
fn many() -> Description {
    let sheets = (0..7).map(|k| {
        let cells = 8 + 3 * k;
        let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
        let corner = mesh.groups["corner:top-left"].clone();
        let mut sheet = Cloth::new(format!("sheet-{k}"), mesh, Material::named("polyester").unwrap());
        sheet.strain.max = Some(0.05);
        sheet.pins = vec![Pin { vertices: corner, ..Pin::default() }];
        sheet.start.iter_mut().for_each(|p| *p += Vec3::new(2.0 * k as f32, 0.5, 0.0));
        sheet
    });
    let floor = Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.4,
        restitution: 0.0,
        margin: 0.001,
    };
    Description { bodies: sheets.map(Into::into).collect(), obstacles: vec![floor], ..Description::default() }
}

#[test]
fn bodies_that_threads_share_out_between_them_allocate_nothing() {
    assert_eq!(allocated(many(), 2), 0);
}

#[test]
fn pressure_allocates_nothing() {
    for law in [PressureLaw::Pascal, PressureLaw::Gas, PressureLaw::Over] {
        let mesh = generate::Generator::Sphere { radius: 0.1, frequency: 6 }.generate().unwrap();
        let mut ball = Cloth::new("ball", mesh, Material::named("latex").unwrap());
        ball.strain.max = Some(0.05);
        let value = if law == PressureLaw::Over { 1.1 } else { 2000.0 };
        ball.pressure = Some(Pressure::new(law, value));
        let description = Description { bodies: vec![ball.into()], ..Description::default() };
        assert_eq!(allocated(description, 2), 0, "{law:?}");
    }
}

#[test]
fn a_step_allocates_nothing() {
    for scheme in SCHEMES {
        let mut description = description(30);
        description.solver.scheme = scheme;
        assert_eq!(allocated(description, 1), 0, "{scheme:?}");
    }
}

#[test]
fn vertices_that_follow_a_mesh_rigidly_or_by_springs_allocate_nothing() {
    let mut description = description(20);
    let lid = generate::grid([1.0, 1.0], [2, 2], generate::Diagonals::Regular, 0);
    let above = |y: f32| lid.positions.iter().map(|p| *p + Vec3::new(0.0, y, 0.0)).collect();
    description.mesh_obstacles = vec![MeshObstacle {
        name: "lid".into(),
        triangles: lid.triangles.clone(),
        frames: MeshFrames::at_rate(vec![above(5.0), above(5.5)], 1.0, 0.0),
        ..MeshObstacle::default()
    }];
    let attached = |vertices: Vec<u32>, stiffness: Option<f32>| Pin {
        vertices,
        attach: Some(0),
        stiffness,
        ..Pin::default()
    };
    let sheet = description.bodies[0].as_cloth_mut().unwrap();
    sheet.pins = vec![attached((0..15).collect(), None), attached((100..140).collect(), Some(30.0))];
    assert_eq!(allocated(description, 1), 0);
}

#[test]
fn a_step_of_the_edge_model_allocates_nothing() {
    let mut description = description(30);
    for cloth in description.cloths_mut() {
        (cloth.model, cloth.edge) = (Model::Edge(EdgeModel::default()), cloth.strain);
        cloth.strain = Limit::default();
    }
    assert_eq!(allocated(description, 1), 0);
}

#[test]
fn a_step_of_position_based_dynamics_allocates_nothing() {
    use taut::{Body, PbdModel, PbdStiffness};
    let mut description = description(30);
    description.bodies.push(Body::Solid(Solid { levels: Vec::new(), ..soft_bar() }));
    let model = PbdModel { bend: PbdStiffness::Compliance(1.0), damping: 0.1, ..PbdModel::default() };
    description.cloths_mut().for_each(|cloth| cloth.model = Model::Pbd(model));
    description.solids_mut().for_each(|solid| solid.model = Model::Pbd(model));
    assert_eq!(allocated(description, 1), 0);
}

fn soft_bar() -> Solid {
    soft([8, 4, 4]).solids().next().unwrap().clone()
}

#[test]
fn nothing_is_allocated_in_a_call_of_the_filter_nor_while_a_hand_moves() {
    for scheme in SCHEMES {
        let mut description = description(12);
        description.solver.scheme = scheme;
        description.solver.iterations = 40;
        let mesh = description.bodies[0].as_cloth().unwrap().mesh.clone();
        let mut setup = FilterSetup::new(mesh.clone(), vec![1e-3; mesh.positions.len()]);
        setup.strain = description.bodies[0].as_cloth().unwrap().strain;
        setup.bend = description.bodies[0].as_cloth().unwrap().bend;
        setup.obstacles = description.obstacles.clone();
        setup.solver = description.solver;
        let mut filter = VelocityFilter::new(setup).unwrap();
        let falling = |p: &Vec3| Vec3::new(3.0 * p.x, -4.0, -2.0 * p.z);
        let mut velocities: Vec<Vec3> = mesh.positions.iter().map(falling).collect();
        filter.apply(&mesh.positions, &mut velocities, 0.01).unwrap();
        velocities.iter_mut().zip(&mesh.positions).for_each(|(v, p)| *v = falling(p));
        COUNT.with(|c| c.set(Some(0)));
        filter.apply(&mesh.positions, &mut velocities, 0.01).unwrap();
        assert_eq!(COUNT.with(|c| c.replace(None)), Some(0), "{scheme:?}: filter");

        let world = World::new(description).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
        let mut target = state.positions(&world, 0)[80];
        state.pin(&world, 0, 80, target).unwrap();
        stepper.advance_frame(&world, &mut state);
        target.y += 0.01;
        COUNT.with(|c| c.set(Some(0)));
        state.pin(&world, 0, 80, target).unwrap();
        stepper.advance_frame(&world, &mut state);
        assert_eq!(COUNT.with(|c| c.replace(None)), Some(0), "{scheme:?}: pin");
    }
}
