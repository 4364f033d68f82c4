//! Strands that move through the shipped lanes: prediction, solve, velocity.

use glam::{Quat, Vec3};

use crate::{
    HairRest, Limit,
    exec::{strips::Strip, threads::Threads},
    kernel::{
        lanes::{LaneKind, Lanes, Quad},
        real::{V3, combine, dot, scale, sub},
    },
    strand::{NodeForces, NodeStates, Solved, StrandScratch, StrandSetup, StrandStep, Strands},
};

/// A ball with friction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    pub(super) centre: Vec3,
    pub(super) radius: f32,
    pub(super) friction: f32,
    /// Stiffness of contact, in units of inertia.
    pub(super) stiffness: f32,
    /// How it turned about its centre in this step.
    pub(super) turned: Quat,
    pub(super) acts: bool,
}

impl Ball {
    pub(super) fn none() -> Self {
        Self { acts: false, ..Self::new(Vec3::ZERO, 1.0, 0.0) }
    }

    pub(super) fn new(centre: Vec3, radius: f32, friction: f32) -> Self {
        Self { centre, radius, friction, stiffness: 1000.0, turned: Quat::IDENTITY, acts: true }
    }
}

/// Smallest slip that friction is divided by \[m\], and iterations after which its stiffness is frozen.
const SLIP: f32 = 1e-4;
const FROZEN: usize = 8;

impl NodeForces for Ball {
    fn memory(&self) -> usize {
        1
    }

    fn acts_on(&self, _: &Strip) -> bool {
        self.acts
    }

    #[inline(always)]
    fn add<L: Lanes>(&self, nodes: NodeStates<'_, L>) {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let centre: V3<L> = self.centre.to_array().map(L::splat);
        let turn = glam::Mat3::from_quat(self.turned);
        let stiff = nodes.stiffness * L::splat(self.stiffness);
        for (i, pull) in nodes.pull.iter_mut().enumerate() {
            let d = sub(nodes.x[i], centre);
            let distance = dot(d, d).sqrt();
            let n = scale(d, one / distance.max(L::splat(1e-9)));
            let force = (stiff * (L::splat(self.radius) - distance)).max(zero);
            let on = L::select(zero.lt(force), stiff, zero);
            let old = sub(nodes.old[i], centre);
            let row = |r: usize| dot([turn.x_axis[r], turn.y_axis[r], turn.z_axis[r]].map(L::splat), old);
            let slip = sub(d, [row(0), row(1), row(2)]);
            let slip = combine(slip, one, n, -dot(slip, n));
            if nodes.iteration < FROZEN {
                let size = dot(slip, slip).sqrt().max(L::splat(SLIP));
                nodes.memory[i] = (L::splat(self.friction) * force / size).min(stiff);
            }
            let hold = nodes.memory[i];
            let gradient = combine(slip, hold, n, -force);
            let q = on - hold;
            (0..3).for_each(|c| pull[c] = pull[c] + gradient[c]);
            let mut k = 3;
            for r in 0..3 {
                for c in 0..=r {
                    let v = q * n[r] * n[c];
                    pull[k] = pull[k] + if r == c { v + hold } else { v };
                    k += 1;
                }
            }
        }
    }
}

/// Strands, their state, and a ball.
pub(super) struct Scene {
    pub(super) strands: Strands,
    pub(super) x: Vec<Quad>,
    pub(super) v: Vec<Vec3>,
    pub(super) kept: Vec<f32>,
    pub(super) kind: LaneKind,
    pub(super) ball: Ball,
    pub(super) gravity: Vec3,
    pub(super) damping: f32,
    pub(super) iterations: usize,
    /// Second-order steps, and the state before the last one.
    pub(super) is_bdf2: bool,
    before: Option<(Vec<Quad>, Vec<Vec3>)>,
    threads: Threads,
    scratch: StrandScratch,
    counts: Vec<u32>,
    styled: Vec<Vec3>,
    held: usize,
    pulled: Option<(usize, Vec3)>,
    /// Turn of the head so far.
    pub(super) turned: Quat,
}

pub(super) const RADIUS: f32 = 4e-5;
pub(super) const DENSITY: f32 = 1300.0;
pub(super) const YOUNG: f32 = 3e9;

pub(super) fn setup<'a>(positions: &'a [Vec3], counts: &'a [u32], radii: &'a [f32]) -> StrandSetup<'a> {
    StrandSetup {
        positions,
        counts,
        whole: counts,
        radii,
        density: DENSITY,
        young: YOUNG,
        shear: YOUNG / 2.7,
        stretch: Limit { min: Some(-0.01), max: Some(0.01) },
        bend: None,
        twist: None,
        rest: HairRest::Groom,
        gravity: Vec3::new(0.0, -9.81, 0.0),
    }
}

impl Scene {
    /// The first `held` nodes of every strand are held.
    pub(super) fn new(setup: &StrandSetup<'_>, held: usize, threads: usize, kind: LaneKind) -> Self {
        let strands = Strands::new(setup);
        let mut kept = vec![0.0; strands.kept_count()];
        strands.begin(&mut kept);
        let mut x: Vec<Quad> = setup.positions.iter().map(|x| [x.x, x.y, x.z, 1.0]).collect();
        let mut first = 0;
        for &count in setup.counts {
            x[first..first + held].iter_mut().for_each(|x| x[3] = 0.0);
            first += count as usize;
        }
        let threads = Threads::new(threads).unwrap();
        let scratch = strands.scratch(threads.count(), 1);
        Self {
            v: vec![Vec3::ZERO; x.len()],
            x,
            kept,
            kind,
            ball: Ball::none(),
            gravity: setup.gravity,
            damping: 0.0,
            iterations: StrandStep::<Ball>::ITERATIONS,
            is_bdf2: false,
            before: None,
            threads,
            scratch,
            counts: setup.counts.to_vec(),
            styled: setup.positions.to_vec(),
            held,
            pulled: None,
            turned: Quat::IDENTITY,
            strands,
        }
    }

    pub(super) fn position(&self, v: usize) -> Vec3 {
        Vec3::from_slice(&self.x[v][..3])
    }

    /// Advances by `dt`; the head turns to `to` about the origin.
    pub(super) fn step(&mut self, dt: f32, to: Quat) -> Solved {
        let turn = to * self.turned.inverse();
        self.turned = to;
        self.ball.turned = turn;
        let old = self.x.clone();
        let old_v = self.v.clone();
        let (rate, c) = if self.is_bdf2 && self.before.is_some() { (1.5, 4.0 / 9.0) } else { (1.0, 1.0) };
        let drag = 1.0 + self.damping * dt / rate;
        let mut goal = self.x.clone();
        let mut hats = Vec::new();
        for i in 0..self.x.len() {
            let at = self.position(i);
            let (mut hat, mut speed) = (at, self.v[i]);
            if let (true, Some((x, v))) = (rate > 1.0, &self.before) {
                hat = at + (at - Vec3::from_slice(&x[i][..3])) / 3.0;
                speed = self.v[i] + (self.v[i] - v[i]) / 3.0;
            }
            hats.push(hat);
            let pulled = self.pulled.filter(|&(v, _)| v == i).map_or(Vec3::ZERO, |(_, a)| a);
            let mut to = hat + dt / rate * (speed + dt / rate * (self.gravity + pulled)) / drag;
            let mut guess = if self.held > 0 { turn * at } else { at };
            if self.x[i][3] == 0.0 {
                to = self.turned * self.styled[i];
                guess = to;
            }
            goal[i][..3].copy_from_slice(&to.to_array());
            self.x[i][..3].copy_from_slice(&guess.to_array());
        }
        let frames: Vec<Quad> = (0..self.counts.len())
            .map(|k| (self.turned * self.strands.root_frame(k)).extend(0.0).to_array())
            .collect();
        let step = StrandStep {
            goal: &goal,
            old: &old,
            inertia: &[],
            c_dt2: c * dt * dt / drag,
            root_frames: (self.held >= 2).then_some(&frames),
            forces: &self.ball,
            iterations: self.iterations,
            is_last: true,
        };
        let state = (&mut self.x[..], &mut self.kept[..]);
        let solved = self.strands.solve(&self.threads, self.kind, &step, state, &mut self.scratch);
        for i in 0..self.x.len() {
            self.v[i] = (self.position(i) - hats[i]) * (rate / dt);
        }
        if self.is_bdf2 {
            self.before = Some((old, old_v));
        }
        solved
    }

    /// Accelerates one node in the next steps \[m/s²\], beside gravity.
    pub(super) fn pull_end(&mut self, v: usize, acceleration: Vec3) {
        self.pulled = Some((v, acceleration));
    }

    /// Moves where the held nodes are.
    pub(super) fn lower_root(&mut self, by: Vec3) {
        self.styled.iter_mut().for_each(|x| *x += by);
    }

    /// How deep nodes that are not held are in the ball \[m\].
    pub(super) fn depth(&self) -> f32 {
        let free = (0..self.x.len()).filter(|&i| self.x[i][3] > 0.0);
        free.map(|i| self.ball.radius - self.position(i).distance(self.ball.centre)).fold(0.0, f32::max)
    }
}

/// Points of `n` segments of length `l` of a helix along y, from the origin on.
pub(super) fn helix(n: usize, l: f64, radius: f64, pitch: f64) -> Vec<Vec3> {
    let rise = pitch / std::f64::consts::TAU;
    let mut angle = l / radius.hypot(rise);
    for _ in 0..50 {
        let chord = (2.0 * radius * (0.5 * angle).sin()).hypot(rise * angle);
        angle *= l / chord;
    }
    (0..=n)
        .map(|i| angle * i as f64)
        .map(|a| glam::DVec3::new(radius * a.cos() - radius, rise * a, radius * a.sin()).as_vec3())
        .collect()
}

/// Hair on a head of 0.1 m about the origin: straight up from its surface, or curls.
pub(super) fn head(count: usize, segments: usize, is_curly: bool) -> (Vec<Vec3>, Vec<u32>, Vec<f32>) {
    let mut positions = Vec::new();
    for k in 0..count {
        let y = 1.0 - 1.1 * (k as f32 + 0.5) / count as f32;
        let r = (1.0 - y * y).sqrt();
        let a = (k as f64 * 2.399963 % std::f64::consts::TAU) as f32;
        let up = Vec3::new(r * a.cos(), y, r * a.sin());
        let length = 0.20 + 0.05 * ((k * 7919 % 1000) as f64 / 1000.0);
        let l = length / segments as f64;
        let turn = Quat::from_rotation_arc(Vec3::Y, up);
        let points = if is_curly {
            helix(segments, l, 0.005 + 0.003 * (k % 97) as f64 / 97.0, 0.015)
        } else {
            (0..=segments).map(|i| Vec3::Y * (l * i as f64) as f32).collect()
        };
        positions.extend(points.iter().map(|&x| 0.1 * up + turn * x));
    }
    let counts = vec![segments as u32 + 1; count];
    let radii = vec![RADIUS; positions.len()];
    (positions, counts, radii)
}

/// Angle of a shaken head \[rad\] at a time \[s\].
pub(super) fn shake(time: f32, amplitude: f32, frequency: f32) -> f32 {
    if !(1.0..=3.0).contains(&time) {
        return 0.0;
    }
    let fade = ((time - 1.0) / 0.2).min((3.0 - time) / 0.2).min(1.0);
    amplitude * fade * (std::f32::consts::TAU * frequency * (time - 1.0)).sin()
}
