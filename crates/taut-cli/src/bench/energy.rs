//! `taut bench --energy`: what becomes of energy and momentum.

use serde::Serialize;
use taut::{Certificate, State, Stepper, World, certify};
use taut_io::scene;

use crate::{args::BenchArgs, failure::Failure, progress::Share, terminal};

/// Frames that are followed, by default.
const FRAMES: u32 = 150;

/// Energy and momentum of a scene over time.
#[derive(Serialize)]
pub struct Report {
    scene: String,
    steps_per_frame: u32,
    /// Once a second, and at the end.
    moments: Vec<Moment>,
    /// The largest rise of the whole energy between two frames, of the range of the gravity energy. Pins and
    /// obstacles that move, wind, and bodies that push may add energy.
    largest_rise: f64,
    /// How far linear momentum is from what gravity alone would have made of it, of m g t; without pins,
    /// obstacles and air that is the error of the solver.
    momentum_drift: f64,
}

/// All bodies at one time.
#[derive(Clone, Copy, Default, Serialize)]
struct Moment {
    time: f64,
    /// \[J\].
    kinetic: f64,
    gravity: f64,
    stretch: f64,
    bend: f64,
    /// Their sum, less that of the start.
    change: f64,
    /// \[kg m/s\].
    momentum: [f64; 3],
    /// About the origin \[kg m²/s\].
    angular_momentum: [f64; 3],
}

impl Moment {
    fn new(certificate: &Certificate, time: f64) -> Self {
        let mut moment = Self { time, ..Self::default() };
        for body in &certificate.bodies {
            moment.kinetic += body.energy.kinetic;
            moment.gravity += body.energy.gravity;
            moment.stretch += body.energy.stretch;
            moment.bend += body.energy.bend;
            for k in 0..3 {
                moment.momentum[k] += body.momentum[k];
                moment.angular_momentum[k] += body.angular_momentum[k];
            }
        }
        moment
    }

    fn total(&self) -> f64 {
        self.kinetic + self.gravity + self.stretch + self.bend
    }
}

/// Follows one scene.
pub fn follow(args: &BenchArgs, name: &str) -> Result<Report, Failure> {
    let scene = scene::load(name, &args.set.set)?;
    let description = scene.build()?;
    let gravity = description.gravity.as_dvec3().to_array();
    let dt = f64::from(description.frame_time);
    let refused = |error: &dyn std::fmt::Display| Failure::input(error.to_string(), "`taut check` says more");
    let world = World::new(description).map_err(|error| refused(&error))?;
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, args.threads.count()).map_err(|error| refused(&error))?;
    let (frames, progress) = (args.frames.unwrap_or(FRAMES), Share::new(false, "following"));
    let start = Moment::new(&certify(&world, &state), 0.0);
    let (mut moments, mut before, mut rise) = (vec![start], start, 0.0f64);
    let mut height = [start.gravity; 2];
    let every = (1.0 / dt).round().max(1.0) as u32;
    for frame in 1..=frames {
        progress.show(f64::from(frame) / f64::from(frames));
        stepper.advance_frame(&world, &mut state);
        let mut now = Moment::new(&certify(&world, &state), f64::from(frame) * dt);
        now.change = now.total() - start.total();
        rise = rise.max(now.total() - before.total());
        height = [height[0].min(now.gravity), height[1].max(now.gravity)];
        if frame % every == 0 || frame == frames {
            moments.push(now);
        }
        before = now;
    }
    progress.finish();
    // Mass from the weight: momentum in free fall is m g t.
    let mass: f64 = world.body_masses().iter().sum();
    let time = f64::from(frames) * dt;
    let square = |of: &dyn Fn(usize) -> f64| (0..3).map(|k| of(k).powi(2)).sum::<f64>().sqrt();
    // Velocities are means over a frame: those of half a frame before.
    let off = square(&|k| before.momentum[k] - start.momentum[k] - mass * gravity[k] * (time - 0.5 * dt));
    let weight = square(&|k| mass * gravity[k] * time).max(1e-12);
    Ok(Report {
        scene: name.into(),
        steps_per_frame: world.schedule().steps_per_frame,
        moments,
        largest_rise: rise / (height[1] - height[0]).max(1e-12),
        momentum_drift: off / weight,
    })
}

impl Report {
    pub fn text(&self) -> String {
        let heading =
            ["time [s]", "kinetic [mJ]", "gravity", "stretch", "bend", "change", "|momentum| [g m/s]"];
        let mut rows = vec![heading.map(String::from).to_vec()];
        for m in &self.moments {
            let momentum = m.momentum.iter().map(|p| p * p).sum::<f64>().sqrt();
            let numbers = [m.kinetic, m.gravity, m.stretch, m.bend, m.change, momentum];
            rows.push(
                [format!("{:.2}", m.time)]
                    .into_iter()
                    .chain(numbers.map(|n| format!("{:.4}", 1e3 * n)))
                    .collect(),
            );
        }
        format!(
            "\n{}, steps per frame: {}\n{}largest rise of the energy in a frame: {:.4} % of what gravity did\n\
             momentum off by {:.3} % of m g t (pins, obstacles and air take their part)\n",
            terminal::styled(terminal::BOLD, &self.scene),
            self.steps_per_frame,
            terminal::table(&rows),
            100.0 * self.largest_rise,
            100.0 * self.momentum_drift
        )
    }
}
