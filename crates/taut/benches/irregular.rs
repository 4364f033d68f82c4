//! What limits cost and whether they hold on meshes that are not regular sheets, in one run:
//! `cargo bench -p taut --bench irregular`.
//!
//! Every shape has about 15K triangles. The regular sheet comes first in each table; the last column is the
//! time a triangle over its. Frames of all shapes take turns, so that a busy neighbour slows them alike.
//! `ONLY=text` keeps the tables and shapes whose names contain it; `SEED=number` takes other imperfections of
//! the start, and so other motions.

use glam::{Vec2, Vec3};
use taut::{
    Cloth, Description, FrameReport, Limit, Material, Motion, Pin, Scheme, State, Stepper, World, certify,
    mesh::{
        TriangleMesh,
        generate::{self, Diagonals, Generator},
    },
};

const FRAMES: usize = 60;

/// A mesh, and the vertices that hold it.
struct Shape {
    name: &'static str,
    mesh: TriangleMesh,
    pinned: Vec<u32>,
}

fn shapes(cells: u32) -> Vec<Shape> {
    let sheet = |diagonals| generate::grid([1.0, 1.0], [cells, cells], diagonals, 1);
    let corners =
        |mesh: &TriangleMesh| ["corner:top-left", "corner:top-right"].map(|c| mesh.groups[c][0]).to_vec();
    let made = |generator: Generator| generator.generate().expect("the shape can be made");
    let around = |length: f32, of: f32| (cells as f32 * length / of).round().max(3.0) as u32;
    let nearest = |mesh: &TriangleMesh, p: Vec2| {
        let distance = |v: &u32| mesh.positions[*v as usize].distance(Vec3::new(p.x, 0.0, p.y));
        (0..mesh.positions.len() as u32).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    let top = |mesh: &TriangleMesh| {
        let height = |v: &u32| mesh.positions[*v as usize].y;
        (0..mesh.positions.len() as u32).max_by(|a, b| height(a).total_cmp(&height(b))).into_iter().collect()
    };
    let (regular, delaunay) = (sheet(Diagonals::Alternating), sheet(Diagonals::Delaunay));
    // The L keeps three quarters of its square, less the hole.
    let ell_cells = (cells as f32 / 0.7f32.sqrt()).round() as u32;
    let ell = made(Generator::Ell { size: [1.0, 1.0], cells: [ell_cells; 2], seed: 1 });
    let tube = made(Generator::Cylinder {
        radius: 0.2,
        height: 0.8,
        segments: [around(1.25, 1.0), around(0.8, 1.0)],
    });
    let sphere = made(Generator::Sphere { radius: 0.35, frequency: around(0.316, 1.0) });
    let torus =
        made(Generator::Torus { major: 0.3, minor: 0.1, segments: [around(1.72, 1.0), around(0.575, 1.0)] });
    let mut shapes = vec![
        Shape { name: "regular sheet", pinned: corners(&regular), mesh: regular },
        Shape { name: "Delaunay sheet", pinned: corners(&delaunay), mesh: delaunay.clone() },
        Shape {
            name: "Delaunay, interior pins",
            pinned: [[0.25, 0.3], [0.8, 0.35], [0.45, 0.8]]
                .map(|p| nearest(&delaunay, Vec2::from_array(p)))
                .to_vec(),
            mesh: delaunay,
        },
        Shape { name: "L with a hole", pinned: corners_of_ell(&ell), mesh: ell },
    ];
    for (name, mesh) in [("tube", tube), ("sphere", sphere), ("torus", torus)] {
        shapes.push(Shape { name, pinned: top(&mesh), mesh });
    }
    shapes
}

fn corners_of_ell(mesh: &TriangleMesh) -> Vec<u32> {
    ["corner:top-left", "corner:bottom-right"].map(|c| mesh.groups[c][0]).to_vec()
}

fn describe(shape: &Shape, strain: Limit, steps: u32) -> Description {
    let material = Material::named("polyester").expect("it is in the table");
    let mut cloth = Cloth::new(shape.name, shape.mesh.clone(), material);
    cloth.strain = strain;
    cloth.pins = vec![Pin { vertices: shape.pinned.clone(), motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = Scheme::Nearest;
    description.solver.steps_per_frame = steps;
    description.solver.max_substeps = 8;
    description.solver.iterations = 120;
    description.seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    description
}

struct Run {
    name: &'static str,
    world: World,
    state: State,
    stepper: Stepper,
    reports: Vec<FrameReport>,
    residuals: Vec<f64>,
}

impl Run {
    fn new(shape: &Shape, strain: Limit, steps: u32) -> Self {
        let world = World::new(describe(shape, strain, steps)).expect("the shape can be simulated");
        let (state, stepper) = (State::new(&world), Stepper::new(&world, 1).expect("a thread starts"));
        Self { name: shape.name, world, state, stepper, reports: Vec::new(), residuals: Vec::new() }
    }

    fn frame(&mut self) {
        self.reports.push(self.stepper.advance_frame(&self.world, &mut self.state));
        self.residuals.push(certify(&self.world, &self.state).bodies[0].strain.max_residual);
    }

    fn sorted(&self, value: fn(&FrameReport) -> f32) -> Vec<f32> {
        let mut values: Vec<f32> = self.reports.iter().map(value).collect();
        values.sort_by(f32::total_cmp);
        values
    }

    /// Median time of limiting a frame over the number of triangles \[ns\].
    fn per_triangle(&self) -> f32 {
        let limit = self.sorted(|r| r.limit_ms);
        1e6 * limit[limit.len() / 2] / self.world.triangle_count() as f32
    }

    fn print(&self, regular: f32) {
        let (limit, iterations) = (self.sorted(|r| r.limit_ms), self.sorted(|r| r.iterations as f32));
        let (middle, last) = (limit.len() / 2, limit.len() - 1);
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        let failed = self.residuals.iter().filter(|r| **r > 0.01).count();
        let worst = self.residuals.iter().fold(0.0f64, |a, &b| a.max(b));
        println!(
            "  {:24}{:6} triangles   failed {failed:2}   residual {worst:.4}   limit {:6.2} /{:6.2} /{:7.2} ms   iterations {:4} /{:4}   {:6.0} ns/triangle   x {:.2} (mean {:.2})",
            self.name,
            self.world.triangle_count(),
            limit[middle],
            mean(&limit),
            limit[last],
            iterations[middle],
            iterations[last],
            self.per_triangle(),
            self.per_triangle() / regular,
            mean(&limit) / self.world.triangle_count() as f32 * 1e6 / regular,
        );
    }
}

fn main() {
    let quick = !std::env::args().any(|a| a == "--bench");
    let only = std::env::var("ONLY").unwrap_or_default();
    let limits = [
        ("upper 1 %", Limit { min: None, max: Some(0.01) }),
        ("±5 %", Limit { min: Some(-0.05), max: Some(0.05) }),
    ];
    let shapes = shapes(if quick { 12 } else { 87 });
    println!("median / mean / worst of {FRAMES} frames, one thread");
    for (name, limit) in limits {
        for steps in [1, 3] {
            let title = format!("{name}, {steps} steps per frame");
            let chosen = |shape: &&Shape| {
                shape.name == "regular sheet" || format!("{title}, {}", shape.name).contains(&only)
            };
            if shapes.iter().filter(chosen).count() == 1 {
                continue;
            }
            println!("{title}");
            let mut runs: Vec<Run> =
                shapes.iter().filter(chosen).map(|s| Run::new(s, limit, steps)).collect();
            for _ in 0..if quick { 2 } else { FRAMES } {
                runs.iter_mut().for_each(Run::frame);
            }
            let regular = runs[0].per_triangle();
            runs.iter().for_each(|run| run.print(regular));
        }
    }
}
