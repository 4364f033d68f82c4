//! A step of all strands: where roots go, substeps of every batch on all threads, resets, and results.

use glam::{Quat, Vec3};

use super::{
    OutsideForces, SpringModel, SpringReport, SpringScratch, SpringState, SpringStep,
    build::{Batch, PADDING, PARTICLE_ROWS, Row},
    chain::Layout,
    plan::Plan,
    substep::{LOW, ParticleRows, Substeps, V},
};
use crate::{
    exec::threads::Threads,
    kernel::lanes::{BATCH, LaneKind, Quad, run},
};

/// Speed beyond which a strand counts as non-finite \[m/s\].
const MAX_SPEED: f32 = 1e5;

/// Points below which results are not shared between threads.
const POINT_GRAIN: usize = 4096;

/// What a step of one batch did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Strands that were reset.
    resets: u32,
    /// Whether a segment was cut.
    has_cuts: bool,
}

/// The kept state of one batch.
struct Kept<'a> {
    particles: &'a mut [ParticleRows],
    /// 1 for each edge that is whole, by its first particle.
    whole: &'a mut [Row],
    /// From the first point of each strand to its third held particle, as it was at the beginning \[m\].
    offset: &'a mut [Row],
}

impl<'a> Kept<'a> {
    fn new(batch: &Batch, part: &'a mut [f32]) -> Self {
        let count = batch.len() + PADDING;
        let (particles, rest) = part.as_chunks_mut::<BATCH>().0.split_at_mut(count * PARTICLE_ROWS);
        let (whole, offset) = rest.split_at_mut(count);
        Self { particles: particles.as_chunks_mut().0, whole, offset }
    }

    /// Position of a particle \[m\], without its low part.
    fn place(&self, particle: usize, lane: usize) -> Vec3 {
        Vec3::from_array([0, 1, 2].map(|c| self.particles[particle][c][lane]))
    }

    /// Puts three numbers of a particle, and zeros for their low parts.
    fn put(&mut self, particle: usize, first: usize, lane: usize, value: Vec3) {
        for c in 0..3 {
            self.particles[particle][first + c][lane] = value[c];
            self.particles[particle][first + LOW + c][lane] = 0.0;
        }
    }

    /// Takes over the points of strands where they are not those that the last step left.
    fn read(&mut self, batch: &Batch, x: &[Quad], v: &[Quad]) {
        for (lane, &(first, count)) in batch.points.iter().enumerate() {
            for k in 0..count as usize {
                let particle = batch.layout.first + k * batch.layout.stride;
                let point = first as usize + k;
                for (from, value) in [(0, &x[point]), (V, &v[point])] {
                    let rows = &self.particles[particle][from..];
                    if (0..3).any(|c| rows[c][lane].to_bits() != value[c].to_bits()) {
                        self.put(particle, from, lane, Vec3::new(value[0], value[1], value[2]));
                    }
                }
            }
        }
    }
}

impl Batch {
    /// Which of the first three particles are held in a lane.
    fn held(&self, lane: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.len().min(3)).filter(move |&p| {
            let count = self.points[lane].1 as usize;
            let last = self.layout.first + count.saturating_sub(1) * self.layout.stride;
            count > 0 && p <= last && self.inverse_mass[p][lane] == 0.0
        })
    }

    /// The particle of the first three that is no point: beside the first segment, or before it.
    fn third(&self) -> usize {
        1 - self.layout.first
    }

    /// Particles of a lane that are no points.
    fn extras(&self, lane: usize) -> impl Iterator<Item = usize> + '_ {
        let count = (self.points[lane].1 as usize).max(1);
        let end = self.layout.first + (count - 1) * self.layout.stride;
        (0..end).filter(|&p| self.layout.point(p).is_none())
    }
}

impl SpringModel {
    /// Number of floats of state beside positions and velocities of points.
    pub fn kept_count(&self) -> usize {
        self.parts.last().map_or(0, |part| part[0].end)
    }

    /// Memory for steps.
    pub fn scratch(&self) -> SpringScratch {
        let segments: usize = self.batches.iter().flat_map(|b| b.points).map(|(_, n)| n as usize).sum();
        SpringScratch {
            before: vec![0.0; self.kept_count()],
            tallies: vec![Tally::default(); self.batches.len()],
            broken: Vec::with_capacity(segments),
        }
    }

    /// Fills the kept state for points at `state.x`: extra particles go where they are at rest beside their
    /// segments, turned with these on the shortest way. Also for points that were moved far by other means.
    pub fn begin(&self, state: SpringState) {
        state.kept.fill(0.0);
        for (batch, part) in self.batches.iter().zip(&self.parts) {
            let mut kept = Kept::new(batch, &mut state.kept[part[0].clone()]);
            kept.whole.fill([1.0; BATCH]);
            kept.read(batch, state.x, state.v);
            for lane in 0..BATCH {
                for extra in batch.extras(lane) {
                    let [a, b] = if batch.layout.first == 1 { [1, 2] } else { [extra - 1, extra + 1] };
                    let rest = |p: usize| Vec3::from_array([0, 1, 2].map(|c| batch.rest[p][c][lane]));
                    let from = rest(b) - rest(a);
                    let to = kept.place(b, lane) - kept.place(a, lane);
                    let arc = Quat::from_rotation_arc(from.normalize_or(Vec3::Y), to.normalize_or(Vec3::Y));
                    // An anchor is beside its first point, an extra particle beside the middle of two.
                    let part = if batch.layout.first == 1 { 0.0 } else { 0.5 };
                    let offset = arc * (rest(extra) - rest(a).lerp(rest(b), part));
                    let place = kept.place(a, lane).lerp(kept.place(b, lane), part) + offset;
                    let speed =
                        [a, b].map(|p| Vec3::from_array([0, 1, 2].map(|c| kept.particles[p][V + c][lane])));
                    kept.put(extra, 0, lane, place);
                    kept.put(extra, V, lane, speed[0].lerp(speed[1], part));
                }
                if batch.points[lane].1 > 1 {
                    let third = batch.third().min(batch.len() - 1);
                    let root = kept.place(batch.layout.first, lane);
                    let offset = kept.place(third, lane) - root;
                    (0..3).for_each(|c| kept.offset[c][lane] = offset[c]);
                }
            }
        }
    }

    /// Advances all strands by a step.
    ///
    /// # Panics
    /// If the state or the roots are not those of this model.
    pub fn advance<'a, F: OutsideForces>(
        &self,
        (threads, lanes): (&Threads, LaneKind),
        state: SpringState,
        step: &SpringStep,
        outside: &F,
        scratch: &'a mut SpringScratch,
    ) -> SpringReport<'a> {
        let roots_match = step.roots.is_none_or(|roots| roots.len() == self.strand_count);
        assert!(roots_match && state.x.len() == self.places.len(), "state and springs do not match");
        let plan = self.bounds.plan(step.dt.into(), step.drag.into(), step.max_substeps);
        let SpringScratch { before, tallies, broken } = scratch;
        let (x, v) = (&*state.x, &*state.v);
        let arrays = (&mut *state.kept, before.as_mut_slice());
        threads.each_with_parts(true, tallies, &self.parts, arrays, |k, tally, kept, before| {
            let batch = &self.batches[k];
            Kept::new(batch, &mut *kept).start(batch, (x, v), step);
            before.copy_from_slice(kept);
            let mut kept = Kept::new(batch, kept);
            run(lanes, substeps(batch, &mut kept, plan, (step, self.is_rooted), outside));
            *tally = kept.finish(batch, &Kept::new(batch, before), step);
        });
        self.write(threads, (&mut *state.x, &mut *state.v), state.kept);
        self.list_broken(tallies, state.kept, before, broken);
        SpringReport { plan, resets: tallies.iter().map(|tally| tally.resets).sum(), broken }
    }

    /// Copies points from the kept state.
    fn write(&self, threads: &Threads, (x, v): (&mut [Quad], &mut [Quad]), kept: &[f32]) {
        threads.each_pair(x, v, POINT_GRAIN, |first, x, v| {
            for ((x, v), &place) in x.iter_mut().zip(v).zip(&self.places[first..]) {
                for c in 0..3 {
                    x[c] = kept[place as usize + c * BATCH];
                    v[c] = kept[place as usize + (V + c) * BATCH];
                }
            }
        });
    }

    /// Lists segments that are cut in `kept` and were not `before`.
    fn list_broken(&self, tallies: &[Tally], kept: &[f32], before: &[f32], broken: &mut Vec<u32>) {
        broken.clear();
        for ((batch, part), _) in
            self.batches.iter().zip(&self.parts).zip(tallies).filter(|(_, t)| t.has_cuts)
        {
            let Layout { first, stride } = batch.layout;
            let count = batch.len() + PADDING;
            let flags = part[0].start + count * PARTICLE_ROWS * BATCH;
            for k in 0..count * BATCH {
                let (edge, lane) = (k / BATCH, k % BATCH);
                if kept[flags + k] != before[flags + k] && edge >= first {
                    let strand = batch.strands[lane] as usize;
                    broken.push(self.first_segments[strand] + ((edge - first) / stride) as u32);
                }
            }
        }
        broken.sort_unstable();
    }
}

/// All substeps of a batch.
fn substeps<'a, F: OutsideForces>(
    batch: &'a Batch,
    kept: &'a mut Kept,
    plan: Plan,
    (step, is_rooted): (&SpringStep, bool),
    outside: &'a F,
) -> Substeps<'a, F> {
    Substeps {
        batch,
        particles: kept.particles,
        whole: kept.whole,
        plan,
        h: step.dt / plan.substeps as f32,
        gravity: step.gravity.to_array(),
        drag: step.drag,
        limits: step.limits,
        is_rooted,
        outside,
    }
}

impl Kept<'_> {
    /// Where the held particle `p` is at the end of the step \[m\].
    fn target(&self, batch: &Batch, lane: usize, p: usize, step: &SpringStep) -> Vec3 {
        let Some(roots) = step.roots else { return self.place(p, lane) };
        let root = &roots[batch.strands[lane] as usize];
        match batch.layout.point(p) {
            Some(k) => root.points[k],
            None => {
                root.points[0] + root.rotation * Vec3::from_array([0, 1, 2].map(|c| self.offset[c][lane]))
            }
        }
    }

    /// Takes over points, and gives held particles the velocity that carries them to where they are to be.
    fn start(&mut self, batch: &Batch, (x, v): (&[Quad], &[Quad]), step: &SpringStep) {
        self.read(batch, x, v);
        for lane in 0..BATCH {
            for p in batch.held(lane) {
                let low = Vec3::from_array([0, 1, 2].map(|c| self.particles[p][LOW + c][lane]));
                let way = match step.roots {
                    Some(_) => self.target(batch, lane, p, step) - self.place(p, lane) - low,
                    None => Vec3::ZERO,
                };
                self.put(p, V, lane, way / step.dt);
            }
        }
    }

    /// Puts held particles exactly where they are to be, and resets strands that are not finite.
    fn finish(&mut self, batch: &Batch, before: &Kept, step: &SpringStep) -> Tally {
        let mut tally = Tally::default();
        for lane in (0..BATCH).filter(|&lane| batch.strands[lane] != u32::MAX) {
            let is_fine = |rows: &ParticleRows| {
                let is_slow = rows[V..V + 3].iter().all(|row| row[lane].abs() < MAX_SPEED);
                is_slow && rows.iter().all(|row| row[lane].is_finite())
            };
            if !self.particles.iter().all(is_fine) {
                tally.resets += 1;
                self.reset(batch, before, lane);
            }
            for p in batch.held(lane) {
                let target = before.target(batch, lane, p, step);
                self.put(p, 0, lane, target);
            }
            tally.has_cuts |= self.whole.iter().zip(&*before.whole).any(|(a, b)| a[lane] != b[lane]);
        }
        tally
    }

    /// Puts the free particles of a strand where they were before, at rest.
    fn reset(&mut self, batch: &Batch, before: &Kept, lane: usize) {
        for p in 0..self.particles.len() {
            for row in 0..PARTICLE_ROWS {
                let is_velocity = row >= V && batch.inverse_mass[p][lane] > 0.0;
                self.particles[p][row][lane] = if is_velocity { 0.0 } else { before.particles[p][row][lane] };
            }
        }
        for (whole, before) in self.whole.iter_mut().zip(&*before.whole) {
            whole[lane] = before[lane];
        }
    }
}
