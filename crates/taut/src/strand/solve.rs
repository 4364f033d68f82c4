//! The solve of one batch: load, Newton's method, ADMM for lanes that did not converge, finish, store.
//!
//! Lanes know nothing of each other: one that is done, or became non-finite, stays where it is while others
//! go on. So a strand's result depends neither on the width of lanes nor on what shares its batch.

use glam::DVec3;

use super::{
    HEAVY, NodeForces, NodeStates, StrandStep, admm,
    batch::Rods,
    curly,
    finish::{self, StrandLimits},
    frames::{self, angle_of_half_tangent, half_twist, orthogonal, unit},
    limits::StretchBand,
    newton::{LoadRows, Setting, Stride, base_matrix, is_held},
    straight,
    work::Work,
};
use crate::{
    exec::strips::{Strip, StripQuads},
    kernel::{
        angle::sin_cos,
        lanes::{self, BATCH, Lanes, Row},
        real::{V3, dot, select3, sub},
    },
};

/// Iterations after which steps of straight strands are halved.
const FULL_STEPS: usize = 10;

/// Largest change of an edge over its length in a step.
const STRAIGHT_STRIDE: f32 = 1.0;

/// The same with frames, and of an angle \[rad\]. With 1, curls that fall take 20 to 40 iterations, with 0.3
/// they take 11; halved steps only delay them.
const CURLY_STRIDE: f32 = 0.3;

/// Numbers that make no sense, as moves \[m²\] or coordinates \[m\].
const ABSURD: f32 = 1e12;

/// What was counted over strands and batches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Solved {
    /// Newton iterations of all batches, and the most that one took.
    pub(crate) iterations: usize,
    pub(crate) largest_iterations: usize,
    /// Batches.
    pub(crate) batches: usize,
    /// Strands for which Newton's method did not converge: they are where its last iteration left them, or if
    /// that is far off, where ADMM does.
    pub(crate) fallbacks: usize,
    /// Strands whose limits took the last resort.
    pub(crate) clamped: usize,
    /// Strands that had non-finite numbers, in what was given or on the way.
    pub(crate) reset: usize,
}

impl Solved {
    /// Adds what another thread counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.iterations += other.iterations;
        self.largest_iterations = self.largest_iterations.max(other.largest_iterations);
        self.batches += other.batches;
        self.fallbacks += other.fallbacks;
        self.clamped += other.clamped;
        self.reset += other.reset;
    }
}

/// Outside forces at one iteration.
pub(super) trait Pulls<L> {
    /// Writes them for where nodes are.
    fn add(&mut self, work: &mut Work<'_, L>, iteration: usize);
}

/// Outside forces of a caller.
pub(super) struct Outside<'a, F, L> {
    pub(super) forces: &'a F,
    pub(super) strip: &'a Strip,
    pub(super) at: usize,
    /// Stiffness of one unit of mass over c dt² \[N/m\].
    pub(super) stiffness: L,
    pub(super) acts: bool,
}

impl<F: NodeForces, L: Lanes> Pulls<L> for Outside<'_, F, L> {
    #[inline(always)]
    fn add(&mut self, work: &mut Work<'_, L>, iteration: usize) {
        if !self.acts {
            return;
        }
        let nodes = work.nodes;
        work.pull[..nodes].fill([L::splat(0.0); 9]);
        self.forces.add(NodeStates {
            strip: self.strip,
            at: self.at,
            iteration,
            x: &work.x[..nodes],
            old: &work.old[..nodes],
            stiffness: self.stiffness,
            pull: &mut work.pull[..nodes],
            memory: work.memory,
        });
    }
}

/// Newton's method on the lanes of `work`, for at most `cap` iterations. Gives the lanes that did not
/// converge and the number of iterations.
#[inline(always)]
pub(super) fn converge<L: Lanes>(
    set: &Setting<'_, L>,
    work: &mut Work<'_, L>,
    pulls: &mut impl Pulls<L>,
    (cap, tolerance): (usize, L),
) -> (L::Mask, usize) {
    let one = L::splat(1.0);
    let mut active = one.le(one);
    let mut failed = !active;
    let mut done = 0;
    if !set.rods.is_curly {
        base_matrix(set, work);
    }
    let (full, longest) = if set.rods.is_curly { (cap, CURLY_STRIDE) } else { (FULL_STEPS, STRAIGHT_STRIDE) };
    for iteration in 0..cap {
        pulls.add(work, iteration);
        let damping = if iteration < full { one } else { L::splat(0.5) };
        let stride = Stride { cap: L::splat(longest), damping, active };
        let moved = if set.rods.is_curly {
            curly::newton(set, work, stride)
        } else {
            straight::newton(set, work, stride)
        };
        done = iteration + 1;
        let is_finite = moved.sum.le(L::splat(ABSURD));
        failed = failed | (active & !is_finite);
        active = active & is_finite & !(moved.largest.le(tolerance) & moved.in_band);
        if !L::any(active) {
            break;
        }
    }
    (failed | active, done)
}

/// Scratch memory of a thread.
#[derive(Debug)]
pub(super) struct ThreadScratch {
    pub(super) rows: Vec<Row>,
    pub(super) points: Vec<DVec3>,
    pub(super) solved: Solved,
}

/// A batch to solve.
pub(super) struct BatchSolve<'a, 'q, F> {
    pub(super) rods: &'a Rods,
    pub(super) band: &'a StretchBand,
    pub(super) step: &'a StrandStep<'a, F>,
    pub(super) x: StripQuads<'q>,
    pub(super) kept: &'a mut [f32],
    pub(super) scratch: &'a mut ThreadScratch,
}

/// Lanes that need the last resort.
struct Left {
    /// For their lengths or bends, as bits.
    clamp: u32,
    /// As they became non-finite, as bits.
    reset: u32,
}

impl<F: NodeForces> lanes::Work for BatchSolve<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let first = self.leading_held();
        let count = self.x.strip().count();
        let mut most = 0;
        // Copies beyond the strands are worked on only beside these: they would begin with the result.
        for at in (0..count).step_by(L::WIDTH) {
            let (left, iterations) = self.solve_lanes::<L>(at, first);
            most = most.max(iterations);
            for lane in at..count.min(at + L::WIDTH) {
                let bit = 1 << (lane - at);
                if (left.clamp | left.reset) & bit != 0 {
                    self.clamp_strand(lane);
                    self.scratch.solved.clamped += 1;
                }
                self.scratch.solved.reset += usize::from(left.reset & bit != 0);
            }
        }
        // Copies stay such.
        for row in self.kept.as_chunks_mut::<BATCH>().0 {
            let last = row[count - 1];
            row[count..].fill(last);
        }
        let solved = &mut self.scratch.solved;
        solved.iterations += most;
        solved.largest_iterations = solved.largest_iterations.max(most);
        solved.batches += 1;
    }
}

impl<F: NodeForces> BatchSolve<'_, '_, F> {
    /// Leading nodes that are held in all strands.
    fn leading_held(&mut self) -> usize {
        let nodes = self.rods.nodes;
        let x = &mut self.x;
        (0..nodes).find(|&i| (0..BATCH).any(|lane| x.get(i, lane)[3] > 0.0)).unwrap_or(nodes)
    }

    #[inline(always)]
    fn solve_lanes<L: Lanes>(&mut self, at: usize, first: usize) -> (Left, usize) {
        let (rods, step) = (self.rods, self.step);
        let strip = self.x.strip().clone();
        let mut rows = std::mem::take(&mut self.scratch.rows);
        let acts = step.forces.acts_on(&strip);
        let mut work = Work::<L>::new(&mut rows, step.forces.memory(), rods.nodes, rods.is_curly);
        let c_dt2 = L::splat(step.c_dt2);
        let unit_mass = L::of(&rods.unit, at);
        let force = c_dt2 / unit_mass;
        let set = Setting { rods, band: self.band, at, first, c_dt2, force, is_pulled: acts };
        let was_bad = self.load(&set, &mut work);
        self.load_kept(&set, &mut work);
        let stiffness = unit_mass / c_dt2;
        let mut pulls = Outside { forces: step.forces, strip: &strip, at, stiffness, acts };
        if acts {
            work.memory.fill(L::splat(0.0));
        }
        let tolerance = L::of(&rods.settled, at);
        let (failed, iterations) = converge(&set, &mut work, &mut pulls, (step.iterations, tolerance));
        if step.is_last && L::any(failed) {
            let real = real_lanes(&strip, at, L::bits(failed));
            self.scratch.solved.fallbacks += real.count_ones() as usize;
            // The last iterate is better than what ADMM finds (tips 1 mm from the solution in place of 3,
            // with contact), unless it is far off.
            let lost = failed & !is_near(&set, &work);
            if L::any(lost) {
                rescue(&set, &mut work, &mut pulls, lost);
                give_up(&set, &mut work, lost);
            }
        }
        let mut reset = was_bad;
        for i in 0..rods.nodes {
            let bad = !is_finite3(work.x[i]);
            work.x[i] = select3::<L>(bad, work.guess[i], work.x[i]);
            reset = reset | bad;
        }
        let out = finish::project(&set, &mut work) | finish::past_bend_limits(&set, &work);
        self.store(&set, &mut work);
        self.scratch.rows = rows;
        (Left { clamp: L::bits(out), reset: L::bits(reset) }, iterations)
    }

    /// Reads nodes; gives the lanes of which something is not finite, which is replaced.
    #[inline(always)]
    fn load<L: Lanes>(&self, set: &Setting<'_, L>, work: &mut Work<'_, L>) -> L::Mask {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let (step, strip) = (self.step, self.x.strip());
        let mut bad = one.lt(zero);
        for i in 0..work.nodes {
            let [x, y, z, w] = self.x.load::<L>(i, set.at);
            let goal = strip.gather::<L>(step.goal, i, set.at);
            let old = strip.gather::<L>(step.old, i, set.at);
            let (x, goal, old) = ([x, y, z], [goal[0], goal[1], goal[2]], [old[0], old[1], old[2]]);
            let (x_good, goal_good, old_good) = (is_finite3(x), is_finite3(goal), is_finite3(old));
            bad = bad | !(x_good & goal_good & old_good);
            let spare = select3::<L>(old_good, old, select3::<L>(x_good, x, [zero; 3]));
            let goal = select3::<L>(goal_good, goal, spare);
            let held = w.le(zero);
            work.x[i] = select3::<L>(!held & x_good, x, goal);
            work.goal[i] = goal;
            work.old[i] = select3::<L>(old_good, old, goal);
            work.guess[i] = work.x[i];
            let mut mass = L::of(&set.rods.mass[i], set.at);
            if !step.inertia.is_empty() {
                let mut factors = [1.0; BATCH];
                for lane in 0..BATCH {
                    factors[lane] = step.inertia[strip.first(lane) + i];
                }
                let factor = L::load(&factors, set.at);
                let sound = zero.lt(factor) & factor.le(L::splat(ABSURD));
                mass = mass * L::select(sound, factor, one);
            }
            work.mass[i] = L::select(held, L::splat(HEAVY), mass);
        }
        for j in 0..work.nodes - 1 {
            work.edge[j] = sub(work.x[j + 1], work.x[j]);
        }
        bad
    }

    /// Reads tensions and frames.
    #[inline(always)]
    fn load_kept<L: Lanes>(&self, set: &Setting<'_, L>, work: &mut Work<'_, L>) {
        let n = set.rods.segments();
        let kept = self.kept.as_chunks::<BATCH>().0;
        for j in 0..n {
            work.tension[j] = sound(L::load(&kept[j], set.at) * set.force);
        }
        if !set.rods.is_curly {
            return;
        }
        for j in 0..n {
            work.tangent[j] = unit(work.edge[j]);
        }
        let mut root = [L::splat(0.0); 3];
        for c in 0..3 {
            root[c] = sound(L::load(&kept[2 * n + c], set.at));
        }
        if let Some(frames) = self.step.root_frames {
            let mut given = [[0.0; BATCH]; 3];
            for lane in 0..BATCH {
                let frame = frames[self.x.strip().number(lane)];
                (0..3).for_each(|c| given[c][lane] = frame[c]);
            }
            let [x, y, z] = given.map(|row| sound(L::load(&row, set.at)));
            let is_free = (x.abs() + y.abs() + z.abs()).le(L::splat(0.0));
            root = select3::<L>(is_free, root, [x, y, z]);
        }
        work.frame[0] = orthogonal(root, work.tangent[0]);
        frames::lay(&work.tangent[..n], &mut work.frame[..n], |j| sound(L::load(&kept[n + j], set.at)));
    }

    /// Writes nodes, tensions and frames.
    #[inline(always)]
    fn store<L: Lanes>(&mut self, set: &Setting<'_, L>, work: &mut Work<'_, L>) {
        let n = set.rods.segments();
        for i in 0..work.nodes {
            let w = self.x.load::<L>(i, set.at)[3];
            let [x, y, z] = work.x[i];
            self.x.store(i, set.at, [x, y, z, w]);
        }
        let kept = self.kept.as_chunks_mut::<BATCH>().0;
        for j in 0..n {
            sound(work.tension[j] / set.force).store(&mut kept[j], set.at);
        }
        if !set.rods.is_curly {
            return;
        }
        for j in 1..n {
            let before = (work.tangent[j - 1], work.frame[j - 1]);
            let twist = half_twist(before, (work.tangent[j], work.frame[j]));
            sound(limited_twist(set, j, twist)).store(&mut kept[n + j], set.at);
        }
        for c in 0..3 {
            sound(work.frame[0][c]).store(&mut kept[2 * n + c], set.at);
        }
    }

    /// Brings the strand of a lane within its limits, in double precision.
    fn clamp_strand(&mut self, lane: usize) {
        let rods = self.rods;
        let points = &mut self.scratch.points;
        points.clear();
        let mut held = [0u64; 64];
        for i in 0..rods.nodes {
            let x = self.x.get(i, lane);
            points.push(DVec3::new(x[0].into(), x[1].into(), x[2].into()));
            if x[3] <= 0.0 && i < 64 * held.len() {
                held[i / 64] |= 1 << (i % 64);
            }
        }
        let value = |row: &Row| f64::from(row.0[lane]);
        // Far inside: positions are rounded when they are stored.
        let stretch = self.band.projected.map(f64::from);
        // Cosines of small angles say little in single precision.
        let cosine = |c: f64, s: f64| if c > 0.5 { (1.0 - s * s).sqrt() } else { c };
        let pair = |[c, s]: [Row; 2]| [cosine(value(&c), value(&s)), value(&s)];
        let turning = |i: usize| rods.limits[i].back.map(pair);
        let limits = StrandLimits {
            length: &|j| stretch.map(|stretch| stretch * value(&rods.length[j])),
            turning: (!rods.limits.is_empty()).then_some(&turning),
            held: &|i| i < 64 * held.len() && held[i / 64] >> (i % 64) & 1 == 1,
        };
        finish::clamp(points, &limits);
        for (i, point) in points.iter().enumerate() {
            let x = self.x.get(i, lane);
            if x[3] > 0.0 {
                x[..3].copy_from_slice(&point.as_vec3().to_array());
            }
        }
    }
}

/// ADMM for the lanes that `failed`, and the first guess for those where that fails, too.
#[inline(always)]
fn rescue<L: Lanes>(
    set: &Setting<'_, L>,
    work: &mut Work<'_, L>,
    pulls: &mut impl Pulls<L>,
    failed: L::Mask,
) {
    let n = work.nodes - 1;
    // Tensions of lanes that converged are not ADMM's to change.
    for j in 0..n {
        work.spare[j] = work.tension[j];
    }
    admm::solve(set, work, pulls, failed);
    for j in 0..n {
        work.tension[j] = L::select(failed, work.tension[j], work.spare[j]);
        work.edge[j] = sub(work.x[j + 1], work.x[j]);
    }
}

/// Puts lanes of which ADMM made nothing sound back to the first guess.
#[inline(always)]
fn give_up<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, lost: L::Mask) {
    // Lengths are for the finish.
    let band = StretchBand { held: [0.0, f32::MAX.sqrt() * 1e-3], ..*set.band };
    let loose = Setting { band: &band, ..*set };
    let lost = lost & !is_near(&loose, work);
    for i in 0..work.nodes {
        work.x[i] = select3::<L>(lost, work.guess[i], work.x[i]);
    }
}

/// Twist within its limit, as the tangent of its half.
#[inline(always)]
fn limited_twist<L: Lanes>(set: &Setting<'_, L>, j: usize, twist: L) -> L {
    if set.rods.limits.is_empty() {
        return twist;
    }
    let rest = L::of(&set.rods.rest_twist[j], set.at);
    let [_, room] = L::load_rows(&set.rods.limits[j].twist, set.at);
    // What is no number becomes that at rest.
    let change = sound(angle_of_half_tangent(twist) - rest);
    let (sine, cosine) = sin_cos(rest + change.clamp(-room, room));
    let limited = sine / (L::splat(1.0) + cosine).max(L::splat(1e-6));
    L::select(twist.abs().le(L::splat(ABSURD)) & change.abs().le(room), twist, limited)
}

/// Those bits of lanes from `at` on that are not copies.
fn real_lanes(strip: &Strip, at: usize, bits: u32) -> u32 {
    let count = strip.count().saturating_sub(at);
    if count >= 32 { bits } else { bits & ((1 << count) - 1) }
}

/// Lengths over the limits, or below, by which a strand counts as far off.
const FAR: f32 = 1.1;

/// Moves by which it does, over how far its goal is away and how long it is.
const AWAY: f32 = 3.0;

/// Lanes in which all positions are numbers, lengths are not far from their limits, and no node is farther
/// from the first guess than goals and length explain.
#[inline(always)]
fn is_near<L: Lanes>(set: &Setting<'_, L>, work: &Work<'_, L>) -> L::Mask {
    let [low, high] = set.band.held;
    let [low, high] = [low / FAR, high * FAR].map(|stretch| L::splat(stretch * stretch));
    let mut near = is_finite3(work.x[0]);
    let (mut wanted, mut moved, mut length) = (L::splat(0.0), L::splat(0.0), L::splat(0.0));
    for i in 0..work.nodes {
        let (d, m) = (sub(work.goal[i], work.guess[i]), sub(work.x[i], work.guess[i]));
        wanted = dot(d, d).max(wanted);
        moved = dot(m, m).max(moved);
        near = near & is_finite3(work.x[i]);
    }
    for j in 0..work.nodes - 1 {
        let (e, inverse) = (sub(work.x[j + 1], work.x[j]), set.inverse_length(j));
        let square = dot(e, e) * inverse * inverse;
        let both = is_held(work.mass[j]) & is_held(work.mass[j + 1]);
        near = near & (low.le(square) & square.le(high) | both);
        length = length + set.length(j);
    }
    near & moved.sqrt().le(L::splat(AWAY) * (wanted.sqrt() + length))
}

/// A number, or 0 if it is none, or an absurd one.
#[inline(always)]
fn sound<L: Lanes>(value: L) -> L {
    L::select(value.abs().le(L::splat(ABSURD)), value, L::splat(0.0))
}

/// Lanes in which all three are numbers, and not absurd ones.
#[inline(always)]
fn is_finite3<L: Lanes>(x: V3<L>) -> L::Mask {
    let most = L::splat(ABSURD);
    x[0].abs().le(most) & x[1].abs().le(most) & x[2].abs().le(most)
}
