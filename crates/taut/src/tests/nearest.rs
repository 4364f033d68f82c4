//! The filter (`Scheme::Nearest`): it converges, it finds the nearest state and not just any, it keeps what
//! must be kept.

use glam::{DVec3, Vec3};
use taut::{
    Cloth, Description, Limit, Material, Motion, Obstacle, Pin, Projection, Scheme, State, Stepper, World,
    boundary::{motion::Keyframe, obstacle::Shape, obstacle_contacts::ObstacleContacts},
    certify,
    element::triangle::StrainElement,
    exec::threads::Threads,
    hierarchy,
    kernel::{
        clamp::clamp_stretches,
        lanes::{LaneKind, Quad},
        real::add,
        strain::Range,
        svd2::{deformation_gradient, rest_inverse},
    },
    limit::Settings,
    mesh::{TriangleMesh, generate},
    solve::nearest::{
        filter::{Filter, Parts, stiffness},
        memory::Memory,
        reference::Aim,
        stop::Stop,
    },
    term::obstacle::Surroundings,
};

fn grid(cells: u32) -> TriangleMesh {
    generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0)
}

fn limit(min: Option<f32>, max: f32) -> Limit {
    Limit { min, max: Some(max) }
}

fn described(mesh: TriangleMesh, strain: Limit, pinned: &[&str]) -> Description {
    let vertices = pinned.iter().flat_map(|c| mesh.groups[*c].clone()).collect();
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = strain;
    cloth.pins = vec![Pin { vertices, motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = Scheme::Nearest;
    description
}

const TOP: [&str; 2] = ["corner:top-left", "corner:top-right"];

#[test]
fn a_hanging_sheet_converges_in_nearly_every_frame() {
    for strain in [limit(None, 0.01), limit(Some(-0.05), 0.05)] {
        for steps in [1, 8] {
            let mut description = described(grid(64), strain, &TOP);
            description.solver.steps_per_frame = steps;
            description.solver.max_substeps = 8;
            description.solver.iterations = 120;
            let world = World::new(description).unwrap();
            let mut state = State::new(&world);
            let mut stepper = Stepper::new(&world, 2).unwrap();
            let mut within = 0;
            for _ in 0..60 {
                stepper.advance_frame(&world, &mut state);
                let body = &certify(&world, &state).bodies[0];
                within += u32::from(body.strain.max_residual <= 0.01);
                assert!(body.strain.max_residual < 0.05, "{steps} steps: {}", body.strain.max_residual);
                assert_eq!(body.max_pin_error, 0.0);
            }
            assert!(within >= 59, "{strain:?}, {steps} steps per frame: {within} of 60 frames");
        }
    }
}

#[test]
fn a_free_sheet_keeps_its_momentum() {
    let mut description = described(grid(32), limit(Some(-0.05), 0.05), &[]);
    description.gravity = Vec3::ZERO;
    description.air.density = 0.0;
    let cloth = description.bodies[0].as_cloth_mut().unwrap();
    cloth.material.damping = 0.0;
    cloth.velocity = Vec3::new(0.3, 0.1, -0.2);
    // Stretched by a fifth along x: the limits pull it together.
    cloth.start.iter_mut().for_each(|p| *p = Vec3::new(1.2 * p.x, 0.02 * (9.0 * p.x).sin(), p.z));
    let world = World::new(description).unwrap();
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 1).unwrap();
    let mass: f64 = 1.0 * f64::from(world.description().bodies[0].as_cloth().unwrap().material.density);
    let expected = DVec3::new(0.3, 0.1, -0.2) * mass;
    for _ in 0..20 {
        assert!(stepper.advance_frame(&world, &mut state).converged);
        let body = &certify(&world, &state).bodies[0];
        let momentum = DVec3::from_array(body.momentum);
        assert!(momentum.distance(expected) < 2e-3 * expected.length(), "{momentum} {expected}");
    }
}

#[test]
fn moving_pins_are_exact_and_obstacles_not_entered() {
    let shapes = [
        (Shape::Sphere { radius: 0.25 }, Vec3::new(0.52, -0.3, 0.5)),
        (Shape::Plane, Vec3::new(0.0, -0.1, 0.0)),
        (Shape::Capsule { radius: 0.1, length: 0.5 }, Vec3::new(0.4, -0.45, 0.5)),
    ];
    for (shape, position) in shapes {
        let mut description = described(grid(40), limit(None, 0.01), &["corner:top-left"]);
        let key = |time, y| Keyframe { time, translate: Vec3::new(0.0, y, 0.0), rotate: Vec3::ZERO };
        description.bodies[0].as_cloth_mut().unwrap().pins[0].motion =
            Motion { keys: vec![key(0.0, 0.0), key(1.0, 0.2)], pivot: Vec3::ZERO, ..Motion::default() };
        description.obstacles = vec![Obstacle {
            name: "solid".into(),
            shape,
            position,
            rotation: glam::Quat::IDENTITY,
            motion: Motion::default(),
            friction: 0.3,
            restitution: 0.0,
            margin: 0.001,
        }];
        description.solver.steps_per_frame = 1;
        description.solver.iterations = 120;
        let world = World::new(description).unwrap();
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 2).unwrap();
        let (mut within, mut iterations) = (0, 0);
        for _ in 0..60 {
            let report = stepper.advance_frame(&world, &mut state);
            let body = &certify(&world, &state).bodies[0];
            assert_eq!(body.penetrating, 0, "{shape:?}");
            assert!(body.max_pin_error < 1e-6, "{shape:?}: {}", body.max_pin_error);
            within += u32::from(report.converged);
            iterations += report.iterations;
        }
        println!("{shape:?}: {within} of 60 frames, {} iterations per frame", iterations / 60);
        assert!(within >= 54, "{shape:?}: {within} of 60 frames");
    }
}

/// The nearest state by the same splitting, in double precision with a banded Cholesky factor, iterated until
/// nothing moves any more.
struct Reference {
    triangles: Vec<([u32; 3], [f64; 3], f64)>,
    masses: Vec<f64>,
    range: Range<f64>,
    stiffness: f64,
    band: usize,
    factor: Vec<f64>,
}

impl Reference {
    fn new(mesh: &TriangleMesh, masses: &[f64], strain: Limit, band: usize) -> Self {
        let count = mesh.positions.len();
        // Soft: a stiff splitting meets limits soon, and takes very long to find the nearest of the states
        // that do.
        let stiffness = 0.05 * count as f64;
        let triangles: Vec<_> = mesh
            .triangles
            .iter()
            .map(|&t| {
                let (rest, area) =
                    rest_inverse(t.map(|v| mesh.positions[v as usize].as_dvec3().to_array())).unwrap();
                (t, rest, area)
            })
            .collect();
        // Row i holds columns i − band to i.
        let mut a = vec![0.0; count * (band + 1)];
        for i in 0..count {
            a[i * (band + 1) + band] = if masses[i] > 0.0 { masses[i] } else { 1.0 };
        }
        for (t, r, area) in &triangles {
            let b = [[-r[0], -(r[1] + r[2])], [r[0], r[1]], [0.0, r[2]]];
            for i in 0..3 {
                for j in 0..3 {
                    let (p, q) = (t[i] as usize, t[j] as usize);
                    if q <= p && masses[p] > 0.0 && masses[q] > 0.0 {
                        a[p * (band + 1) + band + q - p] +=
                            stiffness * area * (b[i][0] * b[j][0] + b[i][1] * b[j][1]);
                    }
                }
            }
        }
        for i in 0..count {
            for j in i.saturating_sub(band)..=i {
                let mut sum = a[i * (band + 1) + band + j - i];
                for k in i.saturating_sub(band)..j {
                    if k + band >= j {
                        sum -= a[i * (band + 1) + band + k - i] * a[j * (band + 1) + band + k - j];
                    }
                }
                a[i * (band + 1) + band + j - i] =
                    if i == j { sum.sqrt() } else { sum / a[j * (band + 1) + band] };
            }
        }
        let range = Range {
            min: 1.0 + f64::from(strain.min.unwrap_or(-1.0)),
            max: 1.0 + f64::from(strain.max.unwrap()),
        };
        Self { triangles, masses: masses.to_vec(), range, stiffness, band, factor: a }
    }

    fn solve(&self, r: &mut [[f64; 3]]) {
        let (band, n) = (self.band, r.len());
        let at = |i: usize, j: usize| self.factor[i * (band + 1) + band + j - i];
        for i in 0..n {
            for j in i.saturating_sub(band)..i {
                for k in 0..3 {
                    r[i][k] -= at(i, j) * r[j][k];
                }
            }
            r[i] = r[i].map(|v| v / at(i, i));
        }
        for i in (0..n).rev() {
            r[i] = r[i].map(|v| v / at(i, i));
            for j in i.saturating_sub(band)..i {
                for k in 0..3 {
                    r[j][k] -= at(i, j) * r[i][k];
                }
            }
        }
    }

    fn nearest(&self, goal: &[[f64; 3]], iterations: usize) -> Vec<[f64; 3]> {
        let mut x = goal.to_vec();
        let mut u = vec![[[0.0; 3]; 2]; self.triangles.len()];
        for _ in 0..iterations {
            let mut r: Vec<[f64; 3]> =
                (0..x.len()).map(|i| [0, 1, 2].map(|k| self.masses[i] * (goal[i][k] - x[i][k]))).collect();
            for ((t, rest, area), u) in self.triangles.iter().zip(&mut u) {
                let f = deformation_gradient(&t.map(|v| x[v as usize]), *rest);
                let f = [add(f[0], u[0]), add(f[1], u[1])];
                let moved = clamp_stretches(&f, self.range).unwrap_or([[0.0; 3]; 2]);
                for k in 0..3 {
                    let pull = [0, 1].map(|c| self.stiffness * area * (2.0 * moved[c][k] + u[c][k]));
                    let (b, c) = (pull[0] * rest[0] + pull[1] * rest[1], pull[1] * rest[2]);
                    r[t[0] as usize][k] -= b + c;
                    r[t[1] as usize][k] += b;
                    r[t[2] as usize][k] += c;
                }
                *u = moved.map(|m| m.map(|v| -v));
            }
            for (r, m) in r.iter_mut().zip(&self.masses) {
                if *m <= 0.0 {
                    *r = [0.0; 3];
                }
            }
            self.solve(&mut r);
            let largest = r.iter().flatten().fold(0.0f64, |a, b| a.max(b.abs()));
            for (x, r) in x.iter_mut().zip(&r) {
                *x = add(*x, *r);
            }
            if largest < 1e-8 {
                break;
            }
        }
        x
    }
}

/// What a run was like, in the mass metric, relative to |predicted − nearest|.
struct Faithfulness {
    /// |x − nearest|, mean over the frames.
    mean: f64,
    worst: f64,
    /// |nearest state of the engine's reference − nearest|, largest of the frames.
    disagreement: f64,
}

/// Measures `frames` of a hanging sheet without stiffness.
fn faithfulness(cells: u32, strain: Limit, frames: u32) -> Faithfulness {
    let mesh = grid(cells);
    let count = mesh.positions.len();
    let held: Vec<bool> =
        (0..count).map(|v| TOP.iter().any(|c| mesh.groups[*c].contains(&(v as u32)))).collect();
    let mut areas = Vec::new();
    let mut masses = vec![0.0; count];
    let elements: Vec<StrainElement> = mesh
        .triangles
        .iter()
        .map(|&vertices| {
            let (rest, area) =
                rest_inverse(vertices.map(|v| mesh.positions[v as usize].as_dvec3().to_array())).unwrap();
            areas.push(area);
            vertices.iter().for_each(|&v| masses[v as usize] += area / 3.0);
            StrainElement {
                vertices,
                rest: rest.map(|r| r as f32),
                range: strain.range(),
                weave: None,
                share: 1.0,
            }
        })
        .collect();
    let mean = masses.iter().sum::<f64>() / count as f64;
    let levels = hierarchy::build(&mesh, &hierarchy::Options::default()).levels;
    let filter = Filter::new(
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
            masses: masses.clone(),
            held: held.clone(),
            transfers: levels.into_iter().map(|l| l.transfer.into()).collect(),
            stiffness: stiffness(count, 1.0, &areas, &[]),
            edge_length: 1.0 / cells as f32,
            has_obstacles: false,
            rigid_bodies: &[],
            bags: &[],
            load: 1.0,
        },
        None,
    );
    let masses: Vec<f64> = masses.iter().zip(&held).map(|(m, h)| if *h { 0.0 } else { m / mean }).collect();
    let reference = Reference::new(&mesh, &masses, strain, cells as usize + 2);

    let threads = Threads::new(1).unwrap();
    let settings = Settings {
        threads: &threads,
        lanes: LaneKind::detect(),
        projection: Projection::Gradient,
        relaxation: 1.0,
    };
    let stop = Stop {
        least: 16,
        tolerance: 0.01,
        bend: 0.0,
        iterations: 120,
        deadline: None,
        min_iterations_past_deadline: 0,
        stiffening: 1.0,
        is_calm: false,
        is_short: false,
    };
    let mut memory = Memory::new(&filter);
    let mut duals = vec![0.0; filter.kept_count()];
    let mut x: Vec<Quad> = mesh.positions.iter().map(|p| [p.x, p.y, p.z, 1.0]).collect();
    let mut v = vec![[0.0f32; 3]; count];
    let (dt, mut sum, mut worst, mut iterations) = (1.0f32 / 30.0, 0.0, 0.0f64, 0);
    let mut disagreement = 0.0f64;
    for _ in 0..frames {
        let old = x.clone();
        for i in (0..count).filter(|&i| !held[i]) {
            v[i][1] -= 9.81 * dt;
            for k in 0..3 {
                x[i][k] += dt * v[i][k];
            }
        }
        let predicted: Vec<[f64; 3]> = x.iter().map(|q| [q[0], q[1], q[2]].map(f64::from)).collect();
        let around =
            Surroundings { obstacles: &[], obstacle_contacts: &ObstacleContacts::default(), old: &old };
        let enforced = filter.solve(&settings, &mut x, around, &mut duals, &mut memory, stop);
        assert!(enforced.converged);
        iterations += enforced.iterations;
        let nearest = reference.nearest(&predicted, 3000);
        let distance = |from: &dyn Fn(usize) -> [f64; 3]| {
            (0..count)
                .map(|i| {
                    masses[i] * DVec3::from_array(from(i)).distance_squared(DVec3::from_array(nearest[i]))
                })
                .sum::<f64>()
                .sqrt()
        };
        let error = distance(&|i| [x[i][0], x[i][1], x[i][2]].map(f64::from))
            / distance(&|i| predicted[i]).max(1e-12);
        let engine = filter.nearest(&threads, Aim::at(&predicted));
        disagreement = disagreement.max(distance(&|i| engine.x[i]) / distance(&|i| predicted[i]).max(1e-12));
        sum += error;
        worst = worst.max(error);
        for i in 0..count {
            for k in 0..3 {
                v[i][k] = (x[i][k] - old[i][k]) / dt;
            }
        }
    }
    println!(
        "{cells} cells, {strain:?}: error {:.3} mean, {worst:.3} worst; references differ by {disagreement:.4}; {:.1} iterations per frame",
        sum / f64::from(frames),
        f64::from(iterations) / f64::from(frames)
    );
    Faithfulness { mean: sum / f64::from(frames), worst, disagreement }
}

#[test]
fn the_result_is_near_the_nearest_state_and_so_is_the_reference() {
    for strain in [limit(None, 0.01), limit(Some(-0.05), 0.05)] {
        let Faithfulness { mean, worst, disagreement } = faithfulness(24, strain, 14);
        assert!(mean <= 0.2 && worst <= 0.5, "{strain:?}: {mean:.3} {worst:.3}");
        assert!(disagreement <= 0.02, "{strain:?}: the references differ by {disagreement:.4}");
    }
}
