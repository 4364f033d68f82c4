//! What a frame of a hanging sheet costs with the filter and with the sweeps, in one run:
//! `cargo bench -p taut --bench nearest`.
//!
//! Frames of both take turns, so that a busy neighbour slows them alike. Times are of the limiter alone and
//! of whole frames.

use taut::{
    Cloth, Description, FrameReport, Limit, Material, Motion, Pin, Scheme, State, Stepper, World, certify,
    mesh::generate,
};

const FRAMES: usize = 60;

fn sheet(cells: u32, strain: Limit, scheme: Scheme, steps: u32, substeps: u32) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let corners = ["corner:top-left", "corner:top-right"].map(|c| mesh.groups[c].clone()).concat();
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").expect("it is in the table"));
    cloth.strain = strain;
    cloth.pins = vec![Pin { vertices: corners, motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
    description.solver.scheme = scheme;
    description.solver.steps_per_frame = steps;
    description.solver.max_substeps = substeps;
    if scheme == Scheme::Sweep {
        description.solver.iterations = 200;
    }
    description
}

struct Run {
    world: World,
    state: State,
    stepper: Stepper,
    reports: Vec<FrameReport>,
    residuals: Vec<f64>,
    means: Vec<f64>,
}

impl Run {
    fn new(description: Description, threads: usize) -> Self {
        let world = World::new(description).expect("a sheet can be simulated");
        let (state, stepper) = (State::new(&world), Stepper::new(&world, threads).expect("threads start"));
        Self { world, state, stepper, reports: Vec::new(), residuals: Vec::new(), means: Vec::new() }
    }

    fn frame(&mut self) {
        self.reports.push(self.stepper.advance_frame(&self.world, &mut self.state));
        let strain = &certify(&self.world, &self.state).bodies[0].strain;
        self.residuals.push(strain.max_residual);
        self.means.push(strain.mean_residual);
    }

    fn print(&self, what: &str) {
        let sorted = |value: fn(&FrameReport) -> f32| {
            let mut values: Vec<f32> = self.reports.iter().map(value).collect();
            values.sort_by(f32::total_cmp);
            values
        };
        let limit = sorted(|r| r.limit_ms);
        let all = sorted(|r| r.limit_ms + r.velocity_ms + r.position_ms);
        let iterations = sorted(|r| r.iterations as f32);
        let (middle, last) = (limit.len() / 2, limit.len() - 1);
        let failed = self.reports.iter().filter(|r| !r.converged).count();
        let worst = self.residuals.iter().fold(0.0f64, |a, &b| a.max(b));
        let mean = self.means.iter().fold(0.0f64, |a, &b| a.max(b));
        println!(
            "  {what:28} limit {:7.2} /{:7.2} ms   frame {:7.2} /{:7.2} ms   iterations {:4} /{:4}   failed {failed:2}   residual {:.4} mean {:.5}  centre {:.4}",
            limit[middle],
            limit[last],
            all[middle],
            all[last],
            iterations[middle],
            iterations[last],
            worst,
            mean,
            certify(&self.world, &self.state).bodies[0].center_of_mass[1],
        );
    }
}

fn main() {
    let quick = !std::env::args().any(|a| a == "--bench");
    let only = std::env::var("ONLY").unwrap_or_default();
    let limits = [
        ("upper 1 %", Limit { min: None, max: Some(0.01) }),
        ("±5 %", Limit { min: Some(-0.05), max: Some(0.05) }),
        ("±1 %", Limit { min: Some(-0.01), max: Some(0.01) }),
    ];
    println!("median / worst of {FRAMES} frames");
    for cells in if quick { vec![8] } else { vec![64, 128] } {
        for (name, limit) in limits {
            for (steps, substeps) in [(1, 8), (1, 32), (8, 4)] {
                let title = format!("{cells}x{cells} {name}, {steps} steps, {substeps} substeps");
                if !title.contains(&only) {
                    continue;
                }
                println!("{title}");
                let description = |scheme| sheet(cells, limit, scheme, steps, substeps);
                let mut runs = vec![
                    ("nearest, 1 thread", Run::new(description(Scheme::Nearest), 1)),
                    ("nearest, 2 threads", Run::new(description(Scheme::Nearest), 2)),
                ];
                if std::env::var("NOSWEEP").is_err() {
                    runs.push(("sweep (cap 200), 2 threads", Run::new(description(Scheme::Sweep), 2)));
                }
                for _ in 0..if quick { 2 } else { FRAMES } {
                    runs.iter_mut().for_each(|(_, run)| run.frame());
                }
                runs.iter().for_each(|(what, run)| run.print(what));
            }
        }
    }
}
