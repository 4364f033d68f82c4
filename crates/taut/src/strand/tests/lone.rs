//! One strand in double precision, through the same code as the lanes.

use glam::Vec3;

use crate::{
    kernel::{
        lanes::Row,
        real::{V3, dot, perpendicular, scale, sub},
    },
    strand::{
        HEAVY, StrandSetup, Strands, curly,
        frames::{angle_of_half_tangent, half_twist, lay, unit},
        newton::Setting,
        solve::{Pulls, converge},
        straight,
        work::{self, Work},
    },
};

/// No outside forces.
struct Nothing;

impl Pulls<f64> for Nothing {
    fn add(&mut self, _: &mut Work<'_, f64>, _: usize) {}
}

/// One strand and its state.
pub(super) struct Lone {
    pub(super) strands: Strands,
    pub(super) x: Vec<V3<f64>>,
    pub(super) v: Vec<V3<f64>>,
    pub(super) frames: Vec<V3<f64>>,
    pub(super) tension: Vec<f64>,
    pub(super) held: Vec<bool>,
    before: Option<[Vec<V3<f64>>; 2]>,
    rows: Vec<Row>,
}

impl Lone {
    /// The strand of a setup, whose nodes at these places are held.
    pub(super) fn new(setup: &StrandSetup<'_>, held: &[usize]) -> Self {
        let strands = Strands::new(setup);
        let x: Vec<V3<f64>> = setup.positions.iter().map(|x| x.as_dvec3().to_array()).collect();
        let tangents: Vec<V3<f64>> = x.windows(2).map(|x| unit(sub(x[1], x[0]))).collect();
        let mut frames = vec![perpendicular(tangents[0]); tangents.len()];
        frames[0] = strands.roots[0].as_dvec3().to_array();
        lay(&tangents, &mut frames, |_| 0.0);
        let n = x.len();
        Self {
            v: vec![[0.0; 3]; n],
            tension: vec![0.0; n - 1],
            held: (0..n).map(|i| held.contains(&i)).collect(),
            before: None,
            rows: vec![Row::splat(0.0); work::rows(n, 0)],
            strands,
            frames,
            x,
        }
    }

    fn with_work<T>(
        &mut self,
        c_dt2: f64,
        then: impl FnOnce(&Setting<'_, f64>, &mut Work<'_, f64>) -> T,
    ) -> T {
        let rods = &self.strands.rods[0];
        let n = rods.segments();
        let mut work = Work::<f64>::new(&mut self.rows, 0, rods.nodes, rods.is_curly);
        for i in 0..=n {
            work.x[i] = self.x[i];
            work.goal[i] = self.x[i];
            work.mass[i] = if self.held[i] { f64::from(HEAVY) } else { rods.mass[i].0[0].into() };
        }
        for j in 0..n {
            work.edge[j] = sub(self.x[j + 1], self.x[j]);
            work.tension[j] = self.tension[j] * c_dt2 / f64::from(rods.unit.0[0]);
            if rods.is_curly {
                work.tangent[j] = unit(work.edge[j]);
                work.frame[j] = self.frames[j];
            }
        }
        let first = self.held.iter().position(|&held| !held).unwrap_or(n + 1);
        let force = c_dt2 / f64::from(rods.unit.0[0]);
        let band = &self.strands.band;
        let set = Setting { rods, band, at: 0, first, c_dt2, force, is_pulled: false };
        then(&set, &mut work)
    }

    /// Minimises with `goal`; gives the number of iterations.
    pub(super) fn solve(&mut self, goal: &[V3<f64>], c_dt2: f64, tolerance: f64) -> usize {
        let (x, frames, tension, iterations) = self.with_work(c_dt2, |set, work| {
            for i in 0..goal.len() {
                if is_held(work.mass[i]) {
                    work.x[i] = goal[i];
                }
                work.goal[i] = goal[i];
            }
            for j in 0..goal.len() - 1 {
                work.edge[j] = sub(work.x[j + 1], work.x[j]);
            }
            let (_, iterations) = converge(set, work, &mut Nothing, (60, tolerance));
            let n = goal.len() - 1;
            let frames = if set.rods.is_curly { work.frame[..n].to_vec() } else { vec![[0.0; 3]; n] };
            let tension = work.tension[..n].iter().map(|t| t / set.force).collect();
            (work.x[..=n].to_vec(), frames, tension, iterations)
        });
        (self.x, self.frames, self.tension) = (x, frames, tension);
        iterations
    }

    /// Elastic gradients by edges and angles \[1 / unit\], for c dt² = 1.
    pub(super) fn gradient(&mut self) -> (Vec<V3<f64>>, Vec<f64>) {
        self.with_work(1.0, |set, work| {
            let n = set.rods.segments();
            if set.rods.is_curly {
                curly::gradient(set, work);
                (work.gradient[..n].to_vec(), work.angle_gradient[..n].to_vec())
            } else {
                straight::gradient(set, work);
                (work.gradient[..n].to_vec(), vec![0.0; n])
            }
        })
    }

    /// Elastic energy in units of mass.
    pub(super) fn energy(&self) -> f64 {
        let rods = &self.strands.rods[0];
        let edges: Vec<V3<f64>> = self.x.windows(2).map(|x| sub(x[1], x[0])).collect();
        (1..edges.len())
            .map(|i| {
                let m = [self.frames[i - 1], self.frames[i]];
                let twist = half_twist((unit(edges[i - 1]), m[0]), (unit(edges[i]), m[1]));
                rods.joint_energy(i, 0, [edges[i - 1], edges[i]], m, angle_of_half_tangent(twist))
            })
            .sum()
    }

    /// Advances by `dt`, by BDF2 from the second step on.
    pub(super) fn step(&mut self, dt: f64, gravity: V3<f64>, is_bdf2: bool, tolerance: f64) -> usize {
        let (rate, c) = if is_bdf2 && self.before.is_some() { (1.5, 4.0 / 9.0) } else { (1.0, 1.0) };
        let mut hats = self.x.clone();
        let mut goal = self.x.clone();
        for i in 0..self.x.len() {
            if self.held[i] {
                continue;
            }
            for k in 0..3 {
                let mut speed = self.v[i][k];
                if let (true, Some([x, v])) = (rate > 1.0, &self.before) {
                    hats[i][k] += (self.x[i][k] - x[i][k]) / 3.0;
                    speed += (self.v[i][k] - v[i][k]) / 3.0;
                }
                goal[i][k] = hats[i][k] + dt / rate * (speed + dt / rate * gravity[k]);
            }
        }
        let old = [self.x.clone(), self.v.clone()];
        let iterations = self.solve(&goal, c * dt * dt, tolerance);
        for i in 0..self.x.len() {
            self.v[i] = scale(sub(self.x[i], hats[i]), rate / dt);
        }
        self.before = Some(old);
        iterations
    }

    /// Finds the equilibrium under gravity and a force on the tip \[N\].
    pub(super) fn settle(&mut self, gravity: V3<f64>, tip: V3<f64>) {
        let c_dt2 = 1.0;
        let last = self.x.len() - 1;
        for _ in 0..300 {
            let before = self.x.clone();
            let mut goal = self.x.clone();
            for i in 0..=last {
                for k in 0..3 {
                    let pull = if i == last { tip[k] / f64::from(self.strands.masses[i]) } else { 0.0 };
                    if !self.held[i] {
                        goal[i][k] += c_dt2 * (gravity[k] + pull);
                    }
                }
            }
            self.solve(&goal, c_dt2, 1e-12);
            let moved = self.x.iter().zip(&before).map(|(a, b)| dot(sub(*a, *b), sub(*a, *b)));
            if moved.fold(0.0, f64::max) < 1e-18 {
                return;
            }
        }
    }
}

fn is_held(mass: f64) -> bool {
    mass > 0.5 * f64::from(HEAVY)
}

/// Points of a straight strand.
pub(super) fn line(n: usize, length: f64, direction: Vec3) -> Vec<Vec3> {
    (0..=n).map(|i| direction * (length * i as f64 / n as f64) as f32).collect()
}
