//! Pins at places where no vertex of a coarse level can be moved onto them (T4): the level gets a vertex, its
//! triangles stay good, what travels stays right, and hanging cloth ends nearer to its limits.

use std::collections::HashMap;

use glam::Vec3;
use taut::{
    Cloth, Description, EdgeModel, Limit, Material, Model, Pin, Scheme, State, Stepper, World, certify,
    kernel::{lanes::Quad, random::Random},
    limit::{
        enforce::Scratch,
        levels::{
            Descent,
            insert::INSERTS,
            tables::{LevelTables, Levels},
        },
    },
    mesh::{
        TriangleMesh,
        adjacency::Adjacency,
        generate::{self, Generator},
    },
};

use super::levels::{levels, with_nothing_around};

/// Calls `work` while pins that cannot be snapped to are dropped.
fn dropping<T>(work: impl FnOnce() -> T) -> T {
    INSERTS.with(|inserts| inserts.set(false));
    let done = work();
    INSERTS.with(|inserts| inserts.set(true));
    done
}

fn quads(positions: &[Vec3]) -> Vec<Quad> {
    positions.iter().map(|p| [p.x, p.y, p.z, 1.0]).collect()
}

/// Rest positions of the vertices of each level.
fn rest_of(levels: &Levels, mesh: &TriangleMesh) -> Vec<Vec<Vec3>> {
    let (mut x, mut all) = (quads(&mesh.positions), vec![Vec::new(); levels.levels.len()]);
    let old = x.clone();
    with_nothing_around(&old, |settings, around| {
        levels.pass(
            settings,
            Descent::Sample,
            &mut x,
            around,
            &mut levels.scratch(None),
            |k, tables, x, _| {
                let count = tables.pins.len();
                all[k - 1] = x[..count].iter().map(|q| Vec3::new(q[0], q[1], q[2])).collect();
                false
            },
        );
    });
    all
}

/// `count` vertices that are at least `apart` from each other \[m\], at random.
fn scattered(mesh: &TriangleMesh, seed: u64, count: usize, apart: f32) -> Vec<u32> {
    let mut random = Random::new(seed, 0);
    let mut pins: Vec<u32> = Vec::new();
    for _ in 0..10_000 {
        let v = ((random.unit() * mesh.positions.len() as f32) as usize).min(mesh.positions.len() - 1);
        let at = mesh.positions[v];
        if pins.len() < count && pins.iter().all(|&p| mesh.positions[p as usize].distance(at) > apart) {
            pins.push(v as u32);
        }
    }
    pins.sort_unstable();
    pins
}

fn normal(at: &[Vec3], t: [u32; 3]) -> Vec3 {
    let [a, b, c] = t.map(|v| at[v as usize]);
    (b - a).cross(c - a)
}

/// How many pins no vertex of a level stands for, summed over levels.
fn missing(levels: &Levels, pins: &[u32]) -> usize {
    let has = |level: &LevelTables, pin: u32| level.pins.contains(&Some(pin));
    levels.levels.iter().map(|level| pins.iter().filter(|&&pin| !has(level, pin)).count()).sum()
}

/// Every pin is on every level, once, where it lies in the base; levels are manifold, no triangle is turned
/// over or a needle, and they have the topology of those without pins.
fn assert_sound(name: &str, mesh: &TriangleMesh, levels: &Levels, without: &Levels, pins: &[u32]) {
    let rest = rest_of(levels, mesh);
    for (k, (level, plain)) in levels.levels.iter().zip(&without.levels).enumerate() {
        let at = &rest[k];
        for &pin in pins {
            let own: Vec<usize> = (0..at.len()).filter(|&v| level.pins[v] == Some(pin)).collect();
            assert_eq!(own.len(), 1, "{name}: pin {pin} on level {}", k + 1);
            assert_eq!(at[own[0]], mesh.positions[pin as usize], "{name}");
        }
        let characteristic = |triangles: &[[u32; 3]], count: usize| {
            let adjacency = Adjacency::new(triangles);
            (count as i64 - adjacency.edges.len() as i64 + triangles.len() as i64, adjacency)
        };
        let (euler, adjacency) = characteristic(&level.elements, at.len());
        let (was, _) = characteristic(&plain.elements, plain.pins.len());
        assert_eq!(euler, was, "{name} level {}", k + 1);
        let mut sides: HashMap<[u32; 2], u32> = HashMap::new();
        for t in &level.elements {
            for i in 0..3 {
                *sides.entry([t[i], t[(i + 1) % 3]]).or_default() += 1;
            }
        }
        assert!(sides.values().all(|&n| n == 1), "{name}: two triangles on the same side of an edge");
        for pair in &adjacency.hinge_triangles {
            let [a, b] = pair.map(|t| normal(at, level.elements[t as usize]).normalize());
            assert!(a.dot(b) > 0.0, "{name} level {}: {pair:?} fold by {}", k + 1, a.dot(b));
        }
        for t in &level.elements {
            let [a, b, c] = t.map(|v| at[v as usize]);
            let sum = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
            let quality = 3.464 * normal(at, *t).length() / sum;
            assert!(quality > 0.05, "{name} level {}: {t:?} has a quality of {quality}", k + 1);
        }
    }
}

/// Weights are within \[0, 1\] with sum 1; on flat levels with inserted vertices they reproduce positions.
fn assert_transfers(name: &str, mesh: &TriangleMesh, levels: &Levels, without: &Levels, is_flat: bool) {
    let rest = rest_of(levels, mesh);
    for (k, (level, plain)) in levels.levels.iter().zip(&without.levels).enumerate() {
        let fine = if k == 0 { &mesh.positions } else { &rest[k - 1] };
        assert_eq!(level.transfer.corners.len(), fine.len(), "{name}");
        let is_remeshed = level.elements.len() > plain.elements.len();
        for (f, (corners, weights)) in level.transfer.corners.iter().zip(&level.transfer.weights).enumerate()
        {
            let sum: f32 = weights.iter().sum();
            assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)) && (sum - 1.0).abs() < 1e-5, "{name}");
            let at: Vec3 = (0..3).map(|i| weights[i] * rest[k][corners[i] as usize]).sum();
            let off = at.distance(fine[f]);
            assert!(
                !is_flat || !is_remeshed || off < 1e-5,
                "{name} level {}: vertex {f} off by {off}",
                k + 1
            );
        }
    }
}

fn check(name: &str, mesh: &TriangleMesh, pins: &[u32], is_flat: bool) -> usize {
    let without = levels(mesh, vec![], 1.01);
    let dropped = dropping(|| missing(&levels(mesh, pins.to_vec(), 1.01), pins));
    let levels = levels(mesh, pins.to_vec(), 1.01);
    let inserted: Vec<usize> =
        levels.levels.iter().zip(&without.levels).map(|(a, b)| a.pins.len() - b.pins.len()).collect();
    println!("{name}: {} pins, {dropped} missing if dropped, inserted {inserted:?}", pins.len());
    assert_sound(name, mesh, &levels, &without, pins);
    assert_transfers(name, mesh, &levels, &without, is_flat);
    inserted.iter().sum()
}

fn flat_meshes() -> Vec<(&'static str, TriangleMesh)> {
    let grid = |diagonals| generate::grid([1.0, 1.0], [40, 40], diagonals, 3);
    vec![
        ("regular", grid(generate::Diagonals::Regular)),
        ("alternating", grid(generate::Diagonals::Alternating)),
        ("jittered", grid(generate::Diagonals::Jittered)),
        ("irregular", grid(generate::Diagonals::Delaunay)),
        ("disc", Generator::Disc { radius: 0.5, rings: 24 }.generate().unwrap()),
    ]
}

#[test]
fn scattered_pins_are_on_every_level_of_flat_cloth() {
    let mut inserted = 0;
    for (name, mesh) in flat_meshes() {
        for seed in 0..6 {
            let pins = scattered(&mesh, seed, 12, 0.12);
            inserted += check(name, &mesh, &pins, name != "disc");
        }
    }
    assert!(inserted > 0, "these are awkward places");
}

#[test]
fn scattered_pins_are_on_every_level_of_curved_shells() {
    let shells = [
        ("cylinder", Generator::Cylinder { radius: 0.3, height: 1.0, segments: [48, 24] }),
        ("sphere", Generator::Sphere { radius: 0.5, frequency: 16 }),
    ];
    let mut inserted = 0;
    for (name, shell) in shells {
        let mesh = shell.generate().unwrap();
        for seed in 0..4 {
            inserted += check(name, &mesh, &scattered(&mesh, seed, 10, 0.2), false);
        }
    }
    assert!(inserted > 0);
}

/// A vertex nearest to a point of the sheet of 1 m.
fn nearest(mesh: &TriangleMesh, x: f32, z: f32) -> u32 {
    let far = |v: &u32| mesh.positions[*v as usize].distance_squared(Vec3::new(x, 0.0, z));
    (0..mesh.positions.len() as u32).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
}

#[test]
fn several_in_one_triangle_at_borders_and_beside_corners() {
    for (name, mesh) in flat_meshes().into_iter().filter(|(name, _)| !["disc", "irregular"].contains(name)) {
        let edge = {
            let levels = levels(&mesh, vec![], 1.01);
            let (at, last) = (rest_of(&levels, &mesh).pop().unwrap(), levels.levels.len() - 1);
            let [a, b, _] = levels.levels[last].elements[0].map(|v| at[v as usize]);
            a.distance(b)
        };
        // Three in a triangle of the coarsest level, half an edge apart.
        let (x, z, d) = (0.47, 0.52, 0.5 * edge);
        let mut inside = [nearest(&mesh, x, z), nearest(&mesh, x + d, z), nearest(&mesh, x + 0.5 * d, z + d)];
        inside.sort_unstable();
        check(name, &mesh, &inside, true);
        // Along two borders, not at vertices of the levels, one beside a corner that is pinned too.
        let mut border: Vec<u32> =
            [(0.0, 0.0), (0.5 * edge, 0.0), (0.31, 0.0), (0.62, 0.0), (1.0, 0.43), (1.0, 1.0 - 0.4 * edge)]
                .map(|(x, z)| nearest(&mesh, x, z))
                .to_vec();
        border.sort_unstable();
        border.dedup();
        check(name, &mesh, &border, true);
    }
}

#[test]
fn a_row_of_pins_needs_no_further_vertices() {
    let (_, mesh) = flat_meshes().swap_remove(1);
    let border: Vec<u32> =
        (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].z == 0.0).collect();
    let with = levels(&mesh, border.clone(), 1.01);
    let dropped = dropping(|| levels(&mesh, border.clone(), 1.01));
    for (k, (a, b)) in with.levels.iter().zip(&dropped.levels).enumerate() {
        let of_row = |v: usize| rest_of(&with, &mesh)[k][v].z == 0.0;
        let row = (0..a.pins.len()).filter(|&v| of_row(v)).collect::<Vec<_>>();
        assert!(row.iter().all(|&v| a.pins[v].is_some()), "all of the row is held");
        assert_eq!(a.pins.len(), b.pins.len(), "what lies between held vertices is");
    }
}

#[test]
fn without_a_correction_level_0_keeps_its_bits_where_vertices_were_inserted() {
    let (_, mesh) = flat_meshes().swap_remove(2);
    let pins = scattered(&mesh, 1, 12, 0.12);
    let levels = levels(&mesh, pins.clone(), 1.01);
    let mut start = quads(&mesh.positions);
    start.iter_mut().for_each(|q| q[1] = 0.05 * (40.0 * q[0]).sin() * q[2]);
    pins.iter().for_each(|&pin| start[pin as usize][3] = 0.0);
    for descent in [Descent::Sample, Descent::Average] {
        let mut x = start.clone();
        with_nothing_around(&start, |settings, around| {
            levels.pass(settings, descent, &mut x, around, &mut levels.scratch(None), |_, tables, x, _| {
                let held = x.iter().filter(|q| q[3] == 0.0).count();
                assert_eq!(held, pins.len() + 1, "the pins and a spare one");
                assert!(tables.pins.len() + 1 == x.len());
                false
            });
        });
        assert!(x == start, "{descent:?}");
    }
}

/// Largest strain of hanging sheets.
const MAX: f32 = 0.02;

/// A sheet of 1 m with `cells`² cells that hangs by scattered vertices.
fn hanging(cells: u32, seed: u64, scheme: Scheme, is_edge_model: bool) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Delaunay, 3);
    let vertices = scattered(&mesh, seed, 5, 0.3);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    let limit = Limit { min: None, max: Some(MAX) };
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    let mut description = Description::default();
    if is_edge_model {
        (cloth.model, cloth.edge) = (Model::Edge(EdgeModel::default()), limit);
    } else {
        (cloth.strain, description.solver.scheme) = (limit, scheme);
    }
    description.solver.tolerance = crate::Tolerance::Past(0.01);
    description.solver.iterations = 400;
    description.bodies = vec![cloth.into()];
    description
}

/// Mean over frames of how far the worst element is past its limit, and iterations on the cloth itself.
fn excess(description: Description, frames: u32) -> (f64, u32) {
    let world = World::new(description).unwrap();
    let is_edge_model = !world.edge_model.bodies.is_empty();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    let (mut sum, mut iterations) = (0.0, 0);
    for _ in 0..frames {
        iterations += stepper.advance_frame(&world, &mut state).iterations;
        let body = certify(&world, &state).bodies.swap_remove(0);
        assert_eq!(body.max_pin_error, 0.0);
        let past = (body.strain.max_edge_strain - f64::from(MAX)).max(0.0);
        sum += if is_edge_model { past } else { body.strain.max_residual };
    }
    (sum / f64::from(frames), iterations)
}

const KINDS: [(&str, Scheme, bool); 3] =
    [("paper", Scheme::Paper, false), ("cycle", Scheme::Cycle, false), ("edge", Scheme::Nearest, true)];

/// In the edge model, whose cloth keeps pulls and weighs more near pins, single edges decide: it gains
/// nothing, and must not lose much.
#[test]
fn hanging_cloth_ends_nearer_to_its_limits_than_with_pins_dropped() {
    for (name, scheme, is_edge_model) in KINDS {
        let mut sums = [(0.0, 0); 2];
        for seed in [0] {
            let run = || excess(hanging(48, seed, scheme, is_edge_model), 30);
            let both = [run(), dropping(run)];
            println!("{name} seed {seed}: inserted {:?}, dropped {:?}", both[0], both[1]);
            for (sum, one) in sums.iter_mut().zip(both) {
                *sum = (sum.0 + one.0, sum.1 + one.1);
            }
        }
        println!("{name}: inserted {:?}, dropped {:?}", sums[0], sums[1]);
        let most = if is_edge_model { 1.25 * sums[1].0 } else { sums[1].0 };
        assert!(sums[0].0 < most, "{name}");
    }
}

#[test]
fn awkward_pins_give_the_same_bits_on_any_number_of_threads() {
    for (name, scheme, is_edge_model) in KINDS {
        let run = |threads: usize| {
            let world = World::new(hanging(32, 2, scheme, is_edge_model)).unwrap();
            let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, threads).unwrap());
            (0..4).for_each(|_| advance(&mut stepper, &world, &mut state));
            state.positions(&world, 0)
        };
        let first = run(1);
        assert!([2, 5].iter().all(|&threads| run(threads) == first), "{name}");
    }
}

fn advance(stepper: &mut Stepper, world: &World, state: &mut State) {
    stepper.advance_frame(world, state);
}

/// The levels that a step uses.
fn used(world: &World, scratch: &Scratch) -> Levels {
    match world.edge_model.bodies.first() {
        Some(body) => scratch.edge_model[0].holding().of(&body.leveled).clone(),
        None => scratch.levels[0].1.of(&world.levels[0]).clone(),
    }
}

#[test]
fn what_a_user_pins_is_on_every_level_and_gone_when_it_is_let_go() {
    for (name, scheme, is_edge_model) in KINDS {
        let mut description = hanging(40, 5, scheme, is_edge_model);
        description.contact.thickness = 0.002;
        let pinned = description.bodies[0].as_cloth().unwrap().pins[0].vertices.clone();
        let mesh = description.bodies[0].as_cloth().unwrap().mesh.clone();
        let world = World::new(description).unwrap();
        let (mut state, mut scratch) = (State::new(&world), Scratch::new(&world));
        let mut stepper = Stepper::new(&world, 2).unwrap();
        let own = used(&world, &scratch);
        let far = |v: u32| {
            let from = |p: &u32| mesh.positions[*p as usize].distance(mesh.positions[v as usize]);
            pinned.iter().all(|p| from(p) > 0.12)
        };
        let mut remeshed = 0;
        for v in scattered(&mesh, 9, 20, 0.05).into_iter().filter(|&v| far(v)) {
            let at = state.positions(&world, 0)[v as usize];
            state.pin(&world, 0, v, at).unwrap();
            state.begin_frame(&world, &mut Vec::new());
            scratch.hold(&world, &state.x, &state.grips);
            let levels = used(&world, &scratch);
            let place = world.numbered(0, v).unwrap().1;
            assert_eq!(missing(&levels, &[place]), 0, "{name}: vertex {v}");
            let is_other = |(a, b): (&LevelTables, &LevelTables)| a.elements != b.elements;
            remeshed += usize::from(levels.levels.iter().zip(&own.levels).any(is_other));
            (0..2).for_each(|_| advance(&mut stepper, &world, &mut state));
            assert_eq!(state.positions(&world, 0)[v as usize], at, "{name}");
            state.unpin(&world, 0, v).unwrap();
            (0..2).for_each(|_| advance(&mut stepper, &world, &mut state));
            scratch.hold(&world, &state.x, &state.grips);
            let levels = used(&world, &scratch);
            assert!(levels.levels.iter().zip(&own.levels).all(|(a, b)| a.elements == b.elements
                && a.transfer == b.transfer
                && a.pins == b.pins
                && a.inverse_masses == b.inverse_masses));
        }
        println!("{name}: levels were remeshed for {remeshed} pins");
        assert!(state.positions(&world, 0).iter().all(|p| p.is_finite()));
    }
}
