//! Limiting must not bend motion to its convenience: a run should move like one whose steps all end in the
//! nearest state within the limits, in the mass metric.
//!
//! The nearest state is that of [`taut::solve::nearest::reference`], which `tests/nearest.rs` checks against
//! an independent solver.

use glam::{DVec3, Vec3};
use taut::{
    Cloth, Description, Integrator, Limit, Material, Pin, Scheme, State, Stepper, World,
    boundary::hold::Caught,
    element::triangle::StrainElement,
    exec::threads::Threads,
    hierarchy,
    kernel::svd2::rest_inverse,
    measure::certify_positions,
    mesh::generate,
    solve::nearest::{
        filter::{Filter, Parts, stiffness},
        reference::Aim,
    },
    state::Snapshot,
};

const BOTH: Limit = Limit { min: Some(-0.05), max: Some(0.05) };
const UPPER: Limit = Limit { min: None, max: Some(0.01) };
const FRAMES: u32 = 60;

fn sheet(cells: u32, strain: Limit) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let vertices =
        ["corner:top-left", "corner:top-right"].iter().flat_map(|c| mesh.groups[*c].clone()).collect();
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = strain;
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = Scheme::Nearest;
    // The reference predicts with explicit forces.
    description.solver.integrator = Some(Integrator::LeapFrog);
    description.solver.steps_per_frame = 1;
    description.solver.max_substeps = 8;
    description
}

/// Centre of mass \[m\] and energy \[J\] of a frame.
#[derive(Clone, Copy)]
struct Motions {
    center: DVec3,
    energy: f64,
}

/// Measures a frame from its positions and those of the frame before. Elastic energy is that of the stiffness
/// that the substeps carry.
fn measure(world: &World, frame: u32, [before, now]: [&[Vec3]; 2]) -> Motions {
    let cloth = world.description().bodies[0].as_cloth().unwrap();
    let dt = f64::from(world.description().frame_time);
    let mut kinetic = 0.0;
    for t in &cloth.mesh.triangles {
        let [a, b, c] = t.map(|v| cloth.mesh.positions[v as usize].as_dvec3());
        let mass = f64::from(cloth.material.density) * 0.5 * (b - a).cross(c - a).length() / 3.0;
        for &v in t {
            let moved = now[v as usize].as_dvec3() - before[v as usize].as_dvec3();
            kinetic += 0.5 * mass * moved.length_squared() / (dt * dt);
        }
    }
    let certificate = certify_positions(world, 0, frame, now, &Caught::new(world));
    let (energy, plan) = (certificate.energy, world.plan());
    let elastic = f64::from(plan.stretch) * energy.stretch + f64::from(plan.bend) * energy.bend;
    Motions { center: certificate.center_of_mass.into(), energy: kinetic + energy.gravity + elastic }
}

/// The same cloth, pins and forces with every step ended in the nearest state.
fn reference(description: &Description) -> Vec<Motions> {
    // No iteration: what remains of a step is its prediction.
    let mut predicting = description.clone();
    predicting.solver.scheme = Scheme::Serial;
    predicting.solver.iterations = 0;
    let world = World::new(predicting).unwrap();
    let filter = filter(description);
    let threads = Threads::new(1).unwrap();
    let mut stepper = Stepper::new(&world, 1).unwrap();
    let mut state = State::new(&world);
    let mut measured = Vec::new();
    for frame in 1..=FRAMES {
        let before = state.positions(&world, 0);
        stepper.advance_frame(&world, &mut state);
        let Snapshot {
            frame: count,
            positions: predicted,
            mut velocities,
            history,
            duals,
            caught,
            pin_overrides,
            rigid,
            is_alone,
            broken,
        } = state.snapshot(&world);
        let goal: Vec<[f64; 3]> = predicted.iter().map(|p| p.as_dvec3().to_array()).collect();
        let nearest = filter.nearest(&threads, Aim::at(&goal));
        assert!(
            nearest.residual < 1e-3 && nearest.imbalance < 0.02,
            "frame {frame}: {} {}",
            nearest.residual,
            nearest.imbalance
        );
        let positions: Vec<Vec3> = nearest.x.iter().map(|x| DVec3::from(*x).as_vec3()).collect();
        for ((v, x), p) in velocities.iter_mut().zip(&positions).zip(&predicted) {
            *v += (x - p) / world.description().frame_time;
        }
        measured.push(measure(&world, frame, [&before, &positions]));
        state = State::restore(
            &world,
            &Snapshot {
                frame: count,
                positions,
                velocities,
                history,
                duals,
                caught,
                pin_overrides,
                rigid,
                broken,
                is_alone,
            },
        )
        .unwrap();
    }
    measured
}

fn filter(description: &Description) -> Filter {
    let cloth = description.bodies[0].as_cloth().unwrap();
    let mesh = &cloth.mesh;
    let count = mesh.positions.len();
    let mut held = vec![false; count];
    cloth.pins[0].vertices.iter().for_each(|&v| held[v as usize] = true);
    let (mut areas, mut masses) = (Vec::new(), vec![0.0; count]);
    let mut elements = Vec::new();
    for &vertices in &mesh.triangles {
        let corners = vertices.map(|v| mesh.positions[v as usize].as_dvec3().to_array());
        let (rest, area) = rest_inverse(corners).unwrap();
        areas.push(area);
        vertices.iter().for_each(|&v| masses[v as usize] += area / 3.0);
        let rest = rest.map(|r| r as f32);
        elements.push(StrainElement { vertices, rest, range: cloth.strain.range(), weave: None, share: 1.0 });
    }
    let levels = hierarchy::build(mesh, &hierarchy::Options::default()).levels;
    Filter::new(
        Parts {
            springs: Vec::new(),
            particles: Vec::new(),
            is_elastic: false,
            vertices: 0..count,
            bodies: std::iter::once(0..count).collect(),
            elements: &elements,
            areas: &areas,
            laws: (taut::term::strain::LawKind::Free, &[]),
            tetrahedra: (&[], &[]),
            bends: &[],
            links: Vec::new(),
            link_count: 0,
            welds: Vec::new(),
            folds: &[],
            curvatures: &[],
            jumps: &[],
            means: Vec::new(),
            size: 1.0,
            dt: 0.0,
            square_factor: 1.0,
            masses,
            held,
            transfers: levels.into_iter().map(|l| l.transfer.into()).collect(),
            stiffness: stiffness(count, 1.0, &areas, &[]),
            edge_length: 1.0 / (count as f32).sqrt(),
            has_obstacles: false,
            rigid_bodies: &[],
            bags: &[],
            load: 1.0,
        },
        None,
    )
}

/// Compares a run with the reference, each with what it ranges over.
fn follow(strain: Limit) {
    let description = sheet(32, strain);
    let expected = reference(&description);
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    let (mut off, mut energy_off) = (0.0f64, 0.0f64);
    for (k, expected) in expected.iter().enumerate() {
        let before = state.positions(&world, 0);
        stepper.advance_frame(&world, &mut state);
        let found = measure(&world, k as u32 + 1, [&before, &state.positions(&world, 0)]);
        off = off.max(found.center.distance(expected.center));
        energy_off = energy_off.max((found.energy - expected.energy).abs());
    }
    let first = expected[0].center;
    let path = expected.iter().map(|e| e.center.distance(first)).fold(0.0, f64::max);
    let energies = expected.iter().map(|e| e.energy);
    let range = energies.clone().fold(f64::MIN, f64::max) - energies.fold(f64::MAX, f64::min);
    println!(
        "{strain:?}: centre of mass off by {:.2} % of {path:.3} m, energy by {:.2} % of {range:.3} J",
        100.0 * off / path,
        100.0 * energy_off / range
    );
    assert!(path > 0.3 && range > 0.1, "it hardly moved: {path} m, {range} J");
    assert!(off <= 0.03 * path, "{strain:?}: centre of mass off by {off} of {path} m");
    assert!(energy_off <= 0.03 * range, "{strain:?}: energy off by {energy_off} of {range} J");
}

#[test]
#[ignore = "full tier: long"]
fn motion_follows_the_reference_both_5_percent() {
    follow(BOTH);
}

#[test]
#[ignore = "full tier: long"]
fn motion_follows_the_reference_upper_1_percent() {
    follow(UPPER);
}
