//! Tearing (S6): a notched strip, what tears and what holds.

use std::collections::BTreeSet;

use glam::Vec3;

use crate::{
    Air, Cloth, Contact, Description, Event, Limit, Material, Motion, Pin, Simulation, Tear, TearMeasure,
    boundary::motion::Keyframe,
    kernel::random::Random,
    mesh::{adjacency::Adjacency, cut::cut, generate, split},
};

/// Cells of the strip.
const CELLS: [u32; 2] = [32, 8];
/// Its size \[m\].
const SIZE: [f32; 2] = [0.4, 0.1];

/// A strip in the x direction whose ends are pulled apart at 0.1 m/s, with a notch of `cells` cells at the
/// middle of one side.
fn strip(seed: u64, cells: u32, tear: Tear, strain: Limit) -> Description {
    let whole = generate::grid(SIZE, CELLS, generate::Diagonals::Jittered, seed);
    let [nx, nz] = CELLS;
    let ends =
        |right: bool| (0..=nz).map(|z| z * (nx + 1) + if right { nx } else { 0 }).collect::<Vec<u32>>();
    let (mesh, start) = if cells == 0 {
        (whole.clone(), whole.positions.clone())
    } else {
        let depth = SIZE[1] * cells as f32 / nz as f32;
        let middle = |z: f32| Vec3::new(0.5 * SIZE[0], 0.0, z);
        let (mesh, _) = cut(&whole, middle(0.0), middle(depth)).unwrap();
        // The sides of the notch start a little apart.
        let at = |v: u32| mesh.positions[v as usize];
        let ways = split::into_own_triangles(mesh.positions.len(), &mesh.triangles, at);
        let is_beside = |v: usize| {
            let p = mesh.positions[v];
            p.z < depth * 0.99 && (p.x - 0.5 * SIZE[0]).abs() < 0.26 * SIZE[0] / nx as f32
        };
        let start = |v: usize| mesh.positions[v] + if is_beside(v) { 2e-3 * ways[v] } else { Vec3::ZERO };
        let start = (0..mesh.positions.len()).map(start).collect();
        (mesh, start)
    };
    let pull = |speed: f32| {
        let keys = [0.0f32, 10.0].map(|time| Keyframe {
            time,
            translate: Vec3::X * speed * time,
            ..Keyframe::default()
        });
        Motion { keys: keys.to_vec(), ..Motion::default() }
    };
    let pin = |right: bool, speed: f32| Pin { vertices: ends(right), motion: pull(speed), ..Pin::default() };
    let mut cloth = Cloth::new("strip", mesh, Material::named("polyester").unwrap());
    (cloth.tear, cloth.strain, cloth.start) = (Some(tear), strain, start);
    cloth.pins = vec![pin(false, -0.05), pin(true, 0.05)];
    let contact = Contact { thickness: 0.002, ..Contact::default() };
    Description { bodies: vec![cloth.into()], gravity: Vec3::ZERO, contact, ..Description::default() }
}

fn simulation(description: Description, threads: usize) -> Simulation {
    Simulation::from_description(description, threads).unwrap()
}

fn cloth(simulation: &Simulation) -> &Cloth {
    simulation.description().cloths().next().unwrap()
}

fn most_stretched(simulation: &mut Simulation) -> f64 {
    simulation.certificate().bodies[0].strain.max_stretch - 1.0
}

/// Every edge has at most two triangles, and those around a vertex hang together.
fn assert_manifold(cloth: &Cloth, context: &str) {
    let triangles = &cloth.mesh.triangles;
    let adjacency = Adjacency::new(triangles);
    let borders = adjacency.edges.len() - adjacency.hinges.len();
    assert_eq!(2 * adjacency.hinges.len() + borders, 3 * triangles.len(), "{context}: edges");
    let mut ends = vec![0; cloth.mesh.positions.len()];
    let inner: BTreeSet<[u32; 2]> =
        adjacency.hinges.iter().map(|h| [h[0].min(h[1]), h[0].max(h[1])]).collect();
    for edge in adjacency.edges.iter().filter(|edge| !inner.contains(*edge)) {
        edge.iter().for_each(|&v| ends[v as usize] += 1);
    }
    // Two fans at a vertex have four ends.
    assert!(ends.iter().all(|&ends| ends == 0 || ends == 2), "{context}: vertices");
}

#[test]
fn a_notched_strip_tears_from_its_notch_and_nowhere_else() {
    for seed in 0..20 {
        let mut sim = simulation(strip(seed, 3, Tear::at(0.05), Limit::default()), 2);
        let whole: f64 = sim.world().body_masses()[0];
        let count = cloth(&sim).mesh.positions.len();
        let mut torn_in = Vec::new();
        for frame in 1..=10 {
            sim.step_frame();
            let context = format!("seed {seed}, frame {frame}");
            assert_manifold(cloth(&sim), &context);
            let mass = sim.world().body_masses()[0];
            assert!((mass - whole).abs() <= 1e-14 * whole * count as f64, "{context}: {whole} to {mass} kg");
            let torn = sim.drain_events().any(|event| matches!(event, Event::Torn { .. }));
            torn_in.extend(torn.then_some(frame));
            let stretch = most_stretched(&mut sim);
            assert!(stretch <= 0.05 + 1e-6, "{context}: {stretch}");
            assert_eq!(sim.certificate().contact.map(|c| c.intersections), Some(0), "{context}");
        }
        let torn = sim.certificate().bodies[0].tear.unwrap();
        assert_eq!(torn.pieces, 2, "seed {seed}: {torn:?}");
        let [low, high] = torn.bounds.unwrap();
        // Two cells beside the line of the notch, and from its tip to the other side.
        let cell = f64::from(SIZE[0]) / f64::from(CELLS[0]);
        assert!(low[0] > 0.2 - 2.6 * cell && high[0] < 0.2 + 2.6 * cell, "seed {seed}: {low:?} to {high:?}");
        assert!(low[2] > 2.0 * cell && high[2] > 0.0999, "seed {seed}: {low:?} to {high:?}");
        assert!(torn.vertices <= 12, "seed {seed}: {torn:?}");
    }
}

#[test]
fn what_cannot_keep_its_limit_tears_where_it_is_weakest() {
    // The threshold is never reached: the limit is. A column of vertices is weaker.
    let mut tear = Tear::at(0.5);
    let description = strip(4, 0, tear.clone(), Limit { max: Some(0.03), ..Limit::default() });
    let positions = &description.cloths().next().unwrap().mesh.positions;
    tear.factors = positions.iter().map(|p| if (p.x - 0.1).abs() < 0.008 { 0.2 } else { 1.0 }).collect();
    let mut sim = simulation(strip(4, 0, tear, Limit { max: Some(0.03), ..Limit::default() }), 2);
    for frame in 1..=12 {
        sim.step_frame();
        assert_manifold(cloth(&sim), &format!("frame {frame}"));
    }
    let torn = sim.certificate().bodies[0].tear.unwrap();
    assert!(torn.pieces >= 2, "{torn:?}");
    let [low, high] = torn.bounds.unwrap();
    assert!(low[0] > 0.05 && high[0] < 0.15, "{low:?} to {high:?}");
    // What is left keeps it.
    let stretch = most_stretched(&mut sim);
    assert!(stretch <= 0.03 + 1e-6, "{stretch}");
}

#[test]
fn edges_that_are_stretched_too_far_tear_too() {
    let tear = Tear { measure: TearMeasure::Edges, ..Tear::at(0.05) };
    let mut sim = simulation(strip(7, 3, tear, Limit::default()), 2);
    (0..10).for_each(|_| _ = sim.step_frame());
    assert_eq!(sim.certificate().bodies[0].tear.unwrap().pieces, 2);
}

#[test]
fn tears_do_not_depend_on_threads() {
    let run = |threads| {
        let mut sim = simulation(strip(2, 3, Tear::at(0.05), Limit::default()), threads);
        (0..10).for_each(|_| _ = sim.step_frame());
        let x = sim.state().positions(sim.world(), 0);
        let bits: Vec<[u32; 3]> = x.iter().map(|p| p.to_array().map(f32::to_bits)).collect();
        (cloth(&sim).mesh.triangles.clone(), bits)
    };
    let one = run(1);
    assert!(one.1.len() > (CELLS[0] as usize + 1) * (CELLS[1] as usize + 1) + 6);
    assert_eq!(run(2), one);
    assert_eq!(run(5), one);
}

#[test]
fn scraps_in_the_wind_keep_their_shape() {
    // A stiff sheet that is torn to pieces at once: single triangles, slivers, pieces that hang at pins.
    let mesh = generate::grid([0.6, 0.4], [24, 16], generate::Diagonals::Jittered, 5);
    let around = split::Around::new(mesh.positions.len(), &mesh.triangles);
    let mut splitter = split::Splitter::new(&mesh.positions, &mesh.triangles, &around);
    let mut random = Random::new(5, 0);
    let mut triangles = mesh.triangles.clone();
    let pinned: Vec<u32> = (0..17).map(|z| z * 25).collect();
    for v in (0..mesh.positions.len() as u32).filter(|v| !pinned.contains(v)) {
        let angle = random.unit() * std::f32::consts::TAU;
        splitter.split(v, glam::DVec3::new(angle.cos().into(), 0.0, angle.sin().into()));
    }
    splitter.separate_fans();
    triangles.copy_from_slice(&splitter.triangles);
    let mut cloth = Cloth::new("flag", mesh, Material::named("ripstop").unwrap());
    cloth.tear = Some(Tear::at(100.0));
    cloth.strain = Limit { max: Some(0.05), ..Limit::default() };
    cloth.pins = vec![Pin { vertices: pinned, ..Pin::default() }];
    let cloth = cloth.torn(&triangles).unwrap();
    let air = Air { wind: vec![(0.0, Vec3::new(12.0, 0.0, 3.0))], ..Air::default() };
    let mut sim = simulation(Description { bodies: vec![cloth.into()], air, ..Description::default() }, 2);
    assert!(sim.certificate().bodies[0].tear.unwrap().pieces > 1);
    for frame in 1..=60 {
        sim.step_frame();
        let stretch = most_stretched(&mut sim);
        assert!(stretch <= 0.05 + 1e-6, "frame {frame}: {stretch}");
    }
}

#[test]
fn a_flag_that_a_storm_shreds_keeps_its_limit_and_crosses_itself_nowhere() {
    for seed in 0..4 {
        let mesh = generate::grid([1.0, 0.7], [16, 11], generate::Diagonals::Jittered, seed);
        let pole = (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].x == 0.0);
        let pins = vec![Pin { vertices: pole.collect(), ..Pin::default() }];
        let material = Material { stretch: 1500.0.into(), ..Material::named("tablecloth").unwrap() };
        let mut flag = Cloth::new("flag", mesh, material);
        flag.start.iter_mut().for_each(|x| *x = Vec3::new(x.x, 3.0 - x.z, 0.0));
        (flag.tear, flag.strain, flag.pins) = (Some(Tear::at(0.02)), (..=0.05).into(), pins);
        let air = Air { wind: vec![(0.0, Vec3::new(14.0, 0.0, 1.5))], gust: 0.3, ..Air::default() };
        let contact = Contact { thickness: 0.015, ..Contact::default() };
        let bodies = vec![flag.into()];
        let mut sim = simulation(Description { bodies, air, contact, seed, ..Description::default() }, 2);
        for frame in 1..=30 {
            sim.step_frame();
            let context = format!("seed {seed}, frame {frame}");
            assert_manifold(cloth(&sim), &context);
            let certificate = sim.certificate();
            assert_eq!(certificate.contact.map(|c| c.intersections), Some(0), "{context}");
            let stretch = certificate.bodies[0].strain.max_stretch - 1.0;
            assert!(stretch <= 0.05 + 1e-5, "{context}: {stretch}");
        }
        let pieces = sim.certificate().bodies[0].tear.unwrap().pieces;
        assert!(pieces > 5, "seed {seed}: {pieces} pieces");
    }
}
