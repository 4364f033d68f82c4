//! The second paper's solver (model "edge"): what its levels change and what they keep, and how far it gets.

use glam::{Quat, Vec3};
use taut::{
    BodyHandle, Cloth, Description, EdgeModel, Grip, Limit, Limiter, Model, Motion, Obstacle, Pin, Seam,
    Simulation, State, Stepper, World,
    boundary::{motion::Keyframe, obstacle::Shape, obstacle_contacts::ObstacleContacts},
    certify,
    element::iterate::sweep,
    exec::threads::Threads,
    hierarchy::{
        self,
        fit::{Method, Refit},
    },
    kernel::{
        lanes::{LaneKind, Quad},
        random::Random,
    },
    limit::{
        Settings,
        aim::Aim,
        levels::{
            Descent,
            edges::EdgeLimits,
            parts::{Bare, Leveled, Parts},
        },
    },
    measure::Energy,
    mesh::{adjacency::Adjacency, generate},
    term::obstacle::Surroundings,
};

/// The second paper's sheet: 1 m, `side`² vertices, polyester, strains within ±10 %, held at two corners.
pub(super) fn sheet(side: u32, settings: EdgeModel) -> Description {
    let mesh = generate::grid([1.0, 1.0], [side - 1; 2], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, super::alike());
    let corner = |name: &str| cloth.mesh.groups[&format!("corner:{name}")][0];
    let vertices = vec![corner("top-left"), corner("top-right")];
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    cloth.model = Model::Edge(settings);
    cloth.edge = Limit { min: Some(-0.1), max: Some(0.1) };
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    // As the papers count.
    description.solver.tolerance = crate::Tolerance::Past(0.01);
    description
}

fn with(levels: u32, iterations: u32) -> EdgeModel {
    EdgeModel { levels, iterations }
}

/// Positions at the end, and the largest edge strain on the way.
fn run(description: Description, frames: u32, threads: usize, lanes: LaneKind) -> (Vec<Vec3>, f64) {
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, threads).unwrap().with_lanes(lanes);
    let mut largest = 0.0f64;
    for _ in 0..frames {
        stepper.advance_frame(&world, &mut state);
        largest = largest.max(certify(&world, &state).bodies[0].strain.max_edge_strain);
    }
    (state.positions(&world, 0), largest)
}

#[test]
fn without_a_coarse_correction_the_cloth_keeps_its_bits() {
    let mesh = generate::grid([1.0, 1.0], [32, 32], generate::Diagonals::Jittered, 3);
    let count = mesh.positions.len();
    let order: Vec<u32> = (0..count as u32).collect();
    let options = hierarchy::Options { coarsest: 16, ..hierarchy::Options::default() };
    let levels = hierarchy::build(&mesh, &options).reordered(&order);
    let stretches = levels.levels.iter().map(|level| vec![1.05; level.mesh.triangles.len()]);
    let tables = Leveled::new(Parts {
        vertices: 0..count,
        limits: EdgeLimits {
            stretches: stretches.collect(),
            refit: Refit::new(
                mesh.positions.clone(),
                mesh.triangles.clone(),
                [Limit { min: None, max: Some(0.05) }, Limit::default()],
                Method::Bounds,
            ),
            aim: Aim::default(),
        },
        bare: Bare::of_cloth(levels, &mesh.triangles),
        rest: mesh.positions.clone(),
        masses: vec![1.0; count],
        pins: vec![0, 32],
    })
    .levels;
    assert!(tables.levels.len() >= 3, "{} coarse levels", tables.levels.len());
    // Folds that no coarse level can see, and that only shorten what it sees.
    let folded = |amount: f32| -> Vec<Quad> {
        let fold = |p: &Vec3| [p.x * amount, 0.01 * (60.0 * p.x).sin(), p.z, 1e-3];
        mesh.positions.iter().map(fold).collect()
    };
    let threads = Threads::alone();
    let settings = Settings {
        threads: &threads,
        lanes: LaneKind::detect(),
        projection: taut::Projection::Gradient,
        relaxation: 1.0,
    };
    let obstacle_contacts = ObstacleContacts::default();
    let (mut random, mut order, mut memory) = (Random::new(1, 1), Vec::new(), tables.scratch(None));
    let mut pass = |x: &mut [Quad]| {
        let old = x.to_vec();
        let around = Surroundings { obstacles: &[], obstacle_contacts: &obstacle_contacts, old: &old };
        tables.pass(&settings, Descent::Sample, x, &around, &mut memory, |_, level, x, round| {
            sweep(&settings, &level.limited.edges, x, &mut random, &mut order);
            round < 10
        });
    };
    let bits = |x: &[Quad]| -> Vec<[u32; 4]> { x.iter().map(|q| q.map(f32::to_bits)).collect() };
    let mut x = folded(0.9);
    let before = bits(&x);
    pass(&mut x);
    assert_eq!(bits(&x), before);
    // And where there is one, folds are carried along.
    let mut x = folded(1.3);
    let before = x.clone();
    pass(&mut x);
    let width =
        |x: &[Quad]| x.iter().map(|q| q[0]).fold(0.0, f32::max) - x.iter().map(|q| q[0]).fold(9.0, f32::min);
    assert!(width(&x) < 1.15, "drawn together to {}", width(&x));
    let moved: f32 = x.iter().zip(&before).map(|(a, b)| (a[1] - b[1]).abs()).sum();
    let folds: f32 = before.iter().map(|q| q[1].abs()).sum();
    assert!(moved < 0.4 * folds, "{} of the folds have gone", moved / folds);
}

#[test]
fn four_levels_of_50_fold_like_a_single_mesh_of_200() {
    // Figure 11: at the settings that the limit on time is for, and with forces of the material's own
    // stiffness rather than what one substep can carry.
    let lanes = LaneKind::detect();
    for (substeps, allowed) in [(0, [0.012, 0.04]), (24, [0.005, 0.025])] {
        let sheet = |settings| {
            let mut description = sheet(40, settings);
            description.solver.max_substeps = substeps;
            description
        };
        let (levels, held) = run(sheet(with(4, 50)), 90, 2, lanes);
        let (single, _) = run(sheet(with(1, 200)), 90, 2, lanes);
        let (_, stretched) = run(sheet(with(1, 50)), 90, 2, lanes);
        let distances: Vec<f32> = levels.iter().zip(&single).map(|(a, b)| a.distance(*b)).collect();
        let mean = distances.iter().sum::<f32>() / distances.len() as f32;
        let most = distances.iter().fold(0.0f32, |most, d| most.max(*d));
        println!(
            "figure 11: mean {mean} m, at most {most} m; largest strain {held}, of a single mesh of 50 {stretched}"
        );
        assert!(mean < allowed[0] && most < allowed[1], "mean {mean} m, at most {most} m");
        assert!(held < 0.13, "levels hold {held}");
        assert!(stretched > held, "without levels {stretched}");
    }
}

#[test]
fn coarse_limits_and_not_iterations_keep_levels_away_from_a_single_mesh() {
    // Figure 11: the sheet of `tang-sheet` after 4 s, against a single mesh of 200 iterations. A single mesh
    // of 50 is nearer to it than four levels of 50, and four levels of 200 are no nearer.
    let lanes = LaneKind::detect();
    let hung = |settings| {
        let mut description = sheet(40, settings);
        let cloth = description.bodies[0].as_cloth_mut().unwrap();
        cloth.material = taut::Material { stretch: 0.5.into(), poisson: 0.3, ..taut::Material::default() };
        run(description, 120, 2, lanes).0
    };
    let goal = hung(with(1, 200));
    // Mean distance, and how much higher the mean vertex is [m].
    let [single, levels, iterated] = [with(1, 50), with(4, 50), with(4, 200)].map(|settings| {
        let x = hung(settings);
        let count = x.len() as f32;
        let mean = x.iter().zip(&goal).map(|(a, b)| a.distance(*b)).sum::<f32>() / count;
        (mean, x.iter().zip(&goal).map(|(a, b)| a.y - b.y).sum::<f32>() / count)
    });
    println!("single mesh of 50 {single:?}, four levels of 50 {levels:?}, of 200 {iterated:?}");
    assert!(single.0 < 0.8 * levels.0, "single {single:?}, levels {levels:?}");
    assert!(iterated.0 > 0.8 * levels.0, "levels of 50 {levels:?}, of 200 {iterated:?}");
    // Levels hold the cloth shorter than its own edges do; few iterations on a single mesh hold it longer.
    assert!(levels.1 > 0.004 && iterated.1 > 0.004 && single.1 < 0.0, "{single:?} {levels:?} {iterated:?}");
}

#[test]
fn limits_hold_at_pins_and_the_more_the_more_iterations_there_are() {
    // Figure 4: what is past the limit gets less and less.
    let lanes = LaneKind::detect();
    let excess = [1, 5, 10, 20, 50].map(|n| run(sheet(40, with(4, n)), 60, 2, lanes).1 - 0.1);
    println!("past ±10 %: {excess:?}");
    assert!(excess.windows(2).all(|two| two[1] < 0.8 * two[0]), "{excess:?}");
    assert!(excess[4] < 0.03, "{excess:?}");
}

#[test]
fn tighter_limits_stretch_less_with_20_iterations_a_level() {
    // Figures 5 and 12: the sheet at rest.
    let measured = [0.2, 0.1, 0.05, 0.02, 0.01].map(|limit| {
        let mut description = sheet(40, with(4, 20));
        description.bodies[0].as_cloth_mut().unwrap().edge = Limit { min: Some(-limit), max: Some(limit) };
        let world = World::new(description).unwrap();
        let mesh = &world.description().bodies[0].as_cloth().unwrap().mesh;
        let edges = Adjacency::new(&mesh.triangles).edges;
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let (mut most, mut mean) = (0.0f32, 0.0);
        for frame in 0..90 {
            stepper.advance_frame(&world, &mut state);
            if frame >= 60 {
                let x = state.positions(&world, 0);
                let length = |x: &[Vec3], [a, b]: [u32; 2]| x[a as usize].distance(x[b as usize]);
                let strain = |&e: &[u32; 2]| length(&x, e) / length(&mesh.positions, e) - 1.0;
                most = edges.iter().map(strain).fold(most, f32::max);
                mean += edges.iter().map(|e| strain(e).max(0.0)).sum::<f32>() / (30 * edges.len()) as f32;
            }
        }
        (limit, most, mean)
    });
    println!("limits, largest strains, mean stretches: {measured:?}");
    assert!(measured.windows(2).all(|two| two[1].2 < 0.75 * two[0].2), "{measured:?}");
    assert!(measured.windows(2).all(|two| two[1].1 < 1.02 * two[0].1), "{measured:?}");
    for (limit, most, _) in measured {
        assert!(most < limit + 0.075, "within ±{limit}: {most}");
    }
    assert!(measured[4].2 < 0.008, "within ±1 %: {measured:?}");
}

#[test]
fn cloth_that_is_limited_falls_and_swings_like_any() {
    // Against the scheme `nearest`: pulls that are kept and heavier vertices at pins must neither freeze nor
    // drive it.
    let lanes = LaneKind::detect();
    let other = || {
        let mut description = sheet(40, EdgeModel::default());
        let cloth = description.bodies[0].as_cloth_mut().unwrap();
        (cloth.model, cloth.strain, cloth.edge) = (Model::Fem, cloth.edge, Limit::default());
        description.solver.integrator = Some(taut::Integrator::LeapFrog);
        description
    };
    let height = |(positions, _): (Vec<Vec3>, f64)| {
        positions.iter().map(|p| f64::from(p.y)).sum::<f64>() / positions.len() as f64
    };
    for frames in [6, 12, 20, 90] {
        let edges = height(run(sheet(40, EdgeModel::default()), frames, 2, lanes));
        let nearest = height(run(other(), frames, 2, lanes));
        println!("after {frames} frames: {edges} m, {nearest} m");
        assert!((edges / nearest - 1.0).abs() < 0.08, "after {frames} frames: {edges} m, {nearest} m");
    }
}

#[test]
fn stiffness_is_that_of_the_material() {
    // A strip of 1 m under 10 N/m along it, nothing limited: it stretches by a tenth of what 100 N/m would
    // take.
    let mesh = generate::grid([1.0, 0.2], [40, 8], generate::Diagonals::Alternating, 0);
    let mut material = super::alike();
    (material.stretch, material.bend, material.density, material.damping) =
        (100.0.into(), 0.0.into(), 1.0, 4.0);
    let mut cloth = Cloth::new("strip", mesh, material);
    let left = |p: &Vec3| p.x < 1e-4;
    let of = |side: &dyn Fn(&Vec3) -> bool| -> Vec<u32> {
        (0..cloth.mesh.positions.len() as u32).filter(|&v| side(&cloth.mesh.positions[v as usize])).collect()
    };
    let vertices = of(&left);
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    cloth.model = Model::Edge(EdgeModel::default());
    let description = Description {
        bodies: vec![cloth.into()],
        // Its own weight: 1 kg/m² × g × 1 m = 10 N/m at the pins, half of that on average.
        gravity: Vec3::new(10.0, 0.0, 0.0),
        air: taut::Air { density: 0.0, ..taut::Air::default() },
        solver: taut::Solver { max_substeps: 100, ..taut::Solver::default() },
        ..Description::default()
    };
    let (positions, _) = run(description, 150, 2, LaneKind::detect());
    let end = positions.iter().map(|p| p.x).fold(0.0, f32::max) - 1.0;
    assert!((0.035..0.07).contains(&end), "stretched by {end} m; a sheet by 0.05 m");
}

#[test]
fn it_is_dragged_pinned_and_changed_while_it_runs() {
    let mut live = Simulation::from_description(sheet(40, EdgeModel::default()), 2).unwrap();
    assert_eq!(live.limiter(first(&live)).unwrap(), Limiter::Edge);
    let corner = live.description().bodies[0].as_cloth().unwrap().mesh.groups["corner:bottom-right"][0];
    let id = live.grip(first(&live), [corner; 3], [1.0, 0.0, 0.0], Grip::Hard).unwrap();
    let start = live.grip_point(id).unwrap();
    let strain = |live: &Simulation| live.certificate().bodies[0].strain.max_edge_strain;
    let (mut behind, mut largest) = (0.0f32, [0.0f64; 3]);
    for k in 0..60 {
        // Down and to the front, in reach.
        let pointer = start + Vec3::new(-0.2, -0.3, -0.2) * (k.min(20) as f32 / 20.0);
        live.move_grip(id, pointer).unwrap();
        live.step_frame();
        behind = behind.max(live.grip_point(id).unwrap().distance(pointer));
        largest[0] = largest[0].max(strain(&live));
    }
    assert!(behind < 0.03, "{behind} m behind");
    for _ in 0..60 {
        live.move_grip(id, start + Vec3::new(0.0, 0.0, 2.0)).unwrap();
        live.step_frame();
        largest[1] = largest[1].max(strain(&live));
    }
    live.release(id).unwrap();
    live.pin(first(&live), corner).unwrap();
    let place = live.positions(first(&live)).unwrap().to_vec()[corner as usize];
    for _ in 0..20 {
        live.step_frame();
        assert_eq!(live.positions(first(&live)).unwrap().to_vec()[corner as usize], place);
    }
    live.unpin(first(&live), corner).unwrap();
    live.set_stretch_limit(first(&live), Limit { min: None, max: Some(0.02) }).unwrap();
    live.set_stiffness(first(&live), 2.0).unwrap();
    advance(&mut live, 60);
    largest[2] = strain(&live);
    println!("in reach, out of reach, after a tighter limit: {largest:?}");
    assert!(largest[0] < 0.15 && largest[1] < 0.5 && largest[2] < 0.06, "{largest:?}");
    assert!(live.set_limiter(first(&live), Limiter::Isotropic).is_err());
}

/// Its only body.
fn first(live: &Simulation) -> BodyHandle {
    live.bodies().next().unwrap()
}

fn advance(live: &mut Simulation, frames: u32) {
    for _ in 0..frames {
        live.step_frame();
    }
}

#[test]
fn a_soft_grip_pulls_as_it_does_at_other_cloth() {
    let lag = |model: Model| {
        let mut description = sheet(20, EdgeModel::default());
        let cloth = description.bodies[0].as_cloth_mut().unwrap();
        cloth.model = model;
        if model == Model::Fem {
            (cloth.strain, cloth.edge) = (cloth.edge, Limit::default());
        }
        let mut live = Simulation::from_description(description, 1).unwrap();
        advance(&mut live, 90);
        let corner = live.description().bodies[0].as_cloth().unwrap().mesh.groups["corner:bottom-right"][0];
        let id =
            live.grip(first(&live), [corner; 3], [1.0, 0.0, 0.0], Grip::Soft { stiffness: 10.0 }).unwrap();
        let pointer = live.grip_point(id).unwrap() + Vec3::new(-0.1, 0.2, 0.3);
        live.move_grip(id, pointer).unwrap();
        advance(&mut live, 90);
        live.grip_point(id).unwrap().distance(pointer)
    };
    let lags = [lag(Model::Edge(EdgeModel::default())), lag(Model::Fem)];
    println!("soft grips, behind the pointer by {lags:?} m");
    assert!(lags.iter().all(|lag| *lag < 0.1) && (lags[0] - lags[1]).abs() < 0.03, "{lags:?}");
}

#[test]
fn what_it_cannot_do_is_refused() {
    let refused = |change: &dyn Fn(&mut Description), words: &str| {
        let mut description = sheet(6, EdgeModel::default());
        change(&mut description);
        let error = World::new(description).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(&|d| d.bodies[0].as_cloth_mut().unwrap().strain.max = Some(0.1), "give its limits as `edge`");
    refused(&|d| d.seams.push(Seam { pairs: vec![[(0, 0), (0, 1)]], ..Seam::default() }), "or seams");
    refused(&|d| d.bodies[0].as_cloth_mut().unwrap().model = Model::Edge(with(0, 50)), "1 to 5 levels");
    refused(&|d| d.bodies[0].as_cloth_mut().unwrap().model = Model::Edge(with(6, 50)), "1 to 5 levels");
    refused(&|d| d.bodies[0].as_cloth_mut().unwrap().model = Model::Edge(with(4, 0)), "iterations");
}

#[test]
fn both_models_run_side_by_side() {
    let mut description = sheet(16, EdgeModel::default());
    let mut other = description.bodies[0].as_cloth().unwrap().clone();
    (other.name, other.model, other.edge) = ("other".into(), Model::Fem, Limit::default());
    other.strain.max = Some(0.05);
    description.bodies.push(other.into());
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    for _ in 0..30 {
        stepper.advance_frame(&world, &mut state);
    }
    let bodies = certify(&world, &state).bodies;
    assert!(bodies[0].strain.max_edge_strain < 0.13, "{}", bodies[0].strain.max_edge_strain);
    assert!(bodies[1].strain.max_stretch < 1.06 + 1e-6, "{}", bodies[1].strain.max_stretch);
    assert!(bodies.iter().all(|body| body.center_of_mass[1] < -0.2));
}

#[test]
fn coarser_levels_of_the_star_are_stretched_no_more_than_the_cloth() {
    // Figure 10: four corners held, a sphere below, 20 iterations on each level.
    let mut description = sheet(40, with(4, 20));
    let cloth = description.bodies[0].as_cloth_mut().unwrap();
    let corners = ["top-left", "top-right", "bottom-left", "bottom-right"];
    let vertices = corners.map(|name| cloth.mesh.groups[&format!("corner:{name}")][0]).to_vec();
    cloth.pins = vec![Pin { vertices, ..Pin::default() }];
    let key = |time, y| Keyframe { time, translate: Vec3::new(0.0, y, 0.0), rotate: Vec3::ZERO };
    description.obstacles = vec![Obstacle {
        name: "ball".into(),
        shape: Shape::Sphere { radius: 0.2 },
        position: Vec3::new(0.5, -0.26, 0.5),
        rotation: Quat::IDENTITY,
        motion: Motion { keys: vec![key(0.0, 0.0), key(2.0, 0.24)], pivot: Vec3::ZERO, ..Motion::default() },
        friction: 0.2,
        restitution: 0.0,
        margin: 0.0,
    }];
    let mut live = Simulation::from_description(description, 2).unwrap();
    (0..120).for_each(|_| {
        live.step_frame();
    });
    let rest = live.level_meshes(first(&live)).unwrap();
    assert_eq!(rest.len(), 3);
    let base = live.description().bodies[0].as_cloth().unwrap().mesh.clone();
    let strains: Vec<(f32, f32)> = (0..4)
        .map(|level| {
            let mesh = if level == 0 { &base } else { &rest[level - 1] };
            let x = live.level_positions(first(&live), level).unwrap();
            let length = |x: &[Vec3], [a, b]: [u32; 2]| x[a as usize].distance(x[b as usize]);
            let edges = Adjacency::new(&mesh.triangles).edges;
            let strain = |e: &[u32; 2]| length(&x, *e) / length(&mesh.positions, *e) - 1.0;
            let most = edges.iter().map(strain).fold(0.0, f32::max);
            (most, edges.iter().map(|e| strain(e).max(0.0)).sum::<f32>() / edges.len() as f32)
        })
        .collect();
    println!("levels of the star, largest and mean stretch: {strains:?}");
    assert!(strains.windows(2).all(|two| two[1].0 < two[0].0), "{strains:?}");
    // 16.5 % were measured with the paper's bending; the bound was 16 % with that of Bridson 2003.
    assert!(strains[0].0 < 0.17 && strains[3].0 < 0.11, "{strains:?}");
}

#[test]
fn a_closed_fold_opens_without_gaining_energy() {
    let mut description = sheet(16, with(2, 20));
    (description.gravity, description.air.density) = (Vec3::ZERO, 0.0);
    let cloth = description.bodies[0].as_cloth_mut().unwrap();
    (cloth.pins, cloth.material.damping, cloth.material.viscosity) = (vec![], 0.0, 0.0);
    // Bending is all that there is.
    cloth.material.bend = 2e-3.into();
    let turn = Quat::from_rotation_z(170f32.to_radians());
    let middle = Vec3::new(0.5, 0.0, 0.0);
    for x in cloth.start.iter_mut().filter(|x| x.x > 0.5) {
        *x = middle + turn * (*x - middle);
    }
    let world = World::new(description).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
    let energy = |state: &State| {
        let Energy { kinetic, bend, stretch, .. } = certify(&world, state).bodies[0].energy;
        kinetic + bend + stretch
    };
    let start = energy(&state);
    for frame in 1..=60 {
        stepper.advance_frame(&world, &mut state);
        let now = energy(&state);
        assert!(now < 1.05 * start, "frame {frame}: {now} J of {start}");
    }
    assert!(certify(&world, &state).bodies[0].energy.bend < 0.5 * start, "it has not opened");
}
