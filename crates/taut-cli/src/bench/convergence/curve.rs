//! One step, repeated with more and more iterations.

use serde::Serialize;
use taut::{Body, Certificate, State, Stepper, World, certify};

use crate::progress::Share;

/// How often a step is timed that takes at most so long \[ms\]; noise matters less in longer ones. The
/// minimum counts, because other load can only add time.
const REPEATS: [(f64, usize); 2] = [(20.0, 7), (200.0, 3)];

/// A scheme stops when a step took this long \[ms\], or at this many iterations.
const LONG: f64 = 2000.0;
const MOST_ITERATIONS: u32 = 1 << 14;

/// How far a state is past its limits.
#[derive(Clone, Copy, Serialize)]
pub struct Residual {
    /// Of any triangle or edge.
    pub max_residual: f64,
    /// Over all triangles.
    pub mean_residual: f64,
    /// Of any hinge \[degrees\]; `None` without limits on bends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bend_excess: Option<f64>,
}

/// Result of a step.
#[derive(Serialize)]
pub struct Point {
    /// Iterations allowed.
    #[serde(skip)]
    most: u32,
    /// Iterations done.
    pub iterations: u32,
    /// Time spent on limiting \[ms\].
    pub ms: f64,
    #[serde(flatten)]
    pub residual: Residual,
    /// Whether all limits are within their tolerances.
    pub within: bool,
}

/// How one scheme converges.
#[derive(Serialize)]
pub struct Curve {
    pub scheme: &'static str,
    /// In order of iterations.
    pub points: Vec<Point>,
    /// Whether the scheme terminated by itself at its last point; otherwise it was stopped there.
    pub ended: bool,
}

/// A scheme and the state before the step.
pub struct Runner {
    label: &'static str,
    world: World,
    stepper: Stepper,
    state: State,
}

impl Residual {
    /// The residual of all bodies of a certificate.
    pub fn of(certificate: &Certificate, world: &World) -> Self {
        let bodies = || world.description().bodies.iter();
        let mut residual = Self {
            max_residual: 0.0,
            mean_residual: 0.0,
            max_bend_excess: bodies().any(|b| b.bend().is_some()).then_some(0.0),
        };
        let all = bodies().map(Body::element_count).sum::<usize>().max(1) as f64;
        for (body, about) in certificate.bodies.iter().zip(bodies()) {
            let worst = body.strain.max_residual.max(body.strain.max_edge_residual);
            residual.max_residual = residual.max_residual.max(worst);
            residual.mean_residual += body.strain.mean_residual * about.element_count() as f64 / all;
            residual.max_bend_excess = residual.max_bend_excess.map(|e| e.max(body.bend.max_bend_excess));
        }
        residual
    }
}

impl Curve {
    /// The first point that satisfies `holds`.
    pub fn first(&self, holds: impl Fn(&Point) -> bool) -> Option<&Point> {
        self.points.iter().find(|point| holds(point))
    }

    /// The last point with at most so many iterations; `None` past the point where it was stopped.
    pub fn at(&self, iterations: u32) -> Option<&Point> {
        let last = self.points.last()?;
        if iterations > last.iterations && !self.ended {
            return None;
        }
        self.points.iter().rev().find(|point| point.iterations <= iterations)
    }
}

impl Runner {
    /// `label` with its world, and the state before the step.
    pub fn new(label: &'static str, stepper: Stepper, world: World, state: State) -> Self {
        Self { label, world, stepper, state }
    }

    /// Runs the step with at most so many iterations.
    fn step(&mut self, iterations: u32) -> Point {
        let (report, after) = self.stepper.attempt(&self.world, &self.state, iterations);
        Point {
            most: iterations,
            iterations: report.iterations,
            ms: report.limit_ms.into(),
            residual: Residual::of(&certify(&self.world, &after), &self.world),
            within: report.converged,
        }
    }

    /// Its curve, each time measured once; it may end at a mean residual of `goal`.
    fn curve(&mut self, goal: Option<f64>) -> Curve {
        // The first step warms up caches and threads.
        self.step(1);
        let mut points: Vec<Point> = Vec::new();
        let mut most = 1;
        loop {
            let point = self.step(most);
            let (ended, long) = (point.iterations < most, point.ms > LONG);
            let there = goal.is_some_and(|goal| point.residual.mean_residual <= goal);
            if points.last().is_none_or(|last| last.iterations < point.iterations) {
                points.push(point);
            }
            if ended || long || there || most >= MOST_ITERATIONS {
                return Curve { scheme: self.label, points, ended };
            }
            most = next(most);
        }
    }
}

/// Powers of two and one number between each pair: 1, 2, 3, 4, 6, 8, 11, 16, …
fn next(iterations: u32) -> u32 {
    let half_steps = (2.0 * f64::from(iterations).log2()).round();
    ((0.5 * (half_steps + 1.0)).exp2().round() as u32).max(iterations + 1)
}

/// Curves of all schemes, which may end at a mean residual of `goal`. Schemes alternate in repeated timings.
pub fn trace(runners: &mut [Runner], goal: Option<f64>) -> Vec<Curve> {
    let progress = Share::new(false, "measuring");
    let most = REPEATS.iter().map(|r| r.1).max().unwrap_or(1);
    let turns = (runners.len() * most) as f64;
    let mut curves: Vec<Curve> = Vec::new();
    for runner in &mut *runners {
        curves.push(runner.curve(goal));
        progress.show(curves.len() as f64 / turns);
    }
    let count = curves.len();
    for round in 1..most {
        for (k, (runner, curve)) in runners.iter_mut().zip(&mut curves).enumerate() {
            for point in &mut curve.points {
                if REPEATS.iter().any(|&(short, repeats)| point.ms <= short && round < repeats) {
                    point.ms = point.ms.min(runner.step(point.most).ms);
                }
            }
            progress.show((round * count + k + 1) as f64 / turns);
        }
    }
    progress.finish();
    curves
}
