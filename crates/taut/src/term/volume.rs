//! One-ring volumes, kept by the term of [tetrahedra](super::tetrahedra) (W13; Irving, Schroeder and Fedkiw
//! 2007): the volume around every vertex, that of the tetrahedra that share it, stays what it is at rest.
//!
//! Volumes of single tetrahedra cannot all be kept: there are more of them than unknowns, and the body would
//! lock. There is one ring a vertex, with a pressure π for its multiplier. Rings are kept by p, what elements
//! are drawn to, as the limits are, not by x: then nothing is added to the matrix, and how stiff volumes are
//! plays no role. Of p, only stretches change with pressure. Before elements are clamped in an iteration,
//! twice:
//!
//! ```text
//! s = eased stretches − π̄ cof s / (κ + 2 μ + 3 λ), clamped   π̄: mean of the corners of a tetrahedron
//! π ← π + c e, and nearer to 0 by c b, but not past it        e: mean of s₁ s₂ s₃ − 1 around the vertex,
//!                                                             in a fixed order; c = 0.7 (κ + 2 μ + 3 λ) / 3
//! ```
//!
//! which is steepest ascent of the dual of the projection onto limits and rings, with the step that its
//! largest curvature allows: the mean over a ring of the means of its tetrahedra has no eigenvalue above 1.
//! Forces along the gradient of volume at x instead, or pressures from the p of the last iteration, leave an
//! oscillation that nothing damps.
//!
//! The paper projects velocities, by a solve of its own in every step. Here pressures settle while strains
//! do. They go from step to step with the other duals; they are scalars: nothing turns them. A step has
//! converged when the rings of x are within the tolerance. Rings are free within b, a part of it: kept to the
//! letter, a bar or a cube at rest took up to three times the iterations, with errors at the tolerance.
//!
//! **Nearly incompressible solids** have such pressures too, with a compliance: where λ is split
//! (`RING_POISSON_FROM`), π is λ times the error e of its ring, not what makes e vanish, and nothing is kept
//! or measured: π ← π + (c e − c π / λ) λ / (λ + c / 0.7), which is the same ascent of a dual that is curved
//! by 1 / λ more. Bonet and Burton's average nodal pressure (1998), of the nodes' λ/2 (J̄ − 1)², beside the
//! law of each tetrahedron.
//!
//! Pressure ends where limits have given way, and a step ends when rings come no nearer.
//!
//! **What does not work:** a cube of few elements, hardly compressible, between plates that press it by more
//! than its limits allow. Volume and limits contradict each other; while both are still within a few percent,
//! duals of elements grow for as long as steps go on, and the cube bursts at the start of a later step.
//! Bounds on pressures, other rules of which rings count, and rings that give way as limits do have been
//! tried, and do not prevent that; rings that are free within twice the tolerance do.

use super::{
    Step,
    tetrahedra::{
        Tetrahedra, TetrahedraTerm,
        local::{NearestTetrahedron, TetrahedronState, columns},
    },
};
use crate::{
    exec::batch::Over,
    hierarchy::multigrid::StiffTetrahedron,
    kernel::{
        lanes::{BATCH, Lanes, Quad, Work, run},
        real::{Real, V3, add, cross, dot, scale},
        tetrahedron::{M3, bulk, eased_stretches3, gradient3, pressed_gain3},
    },
    solve::nearest::tuning::{
        BATCH_GRAIN, GIVE_WAY_FROM, VERTEX_GRAIN, VOLUME_BAND, VOLUME_ERROR_MOST, VOLUME_SHARE,
        VOLUME_STALLED, VOLUME_SWEEPS, VOLUME_TOLERANCE, VOLUME_TOUCHING, VOLUME_YIELDED,
    },
};

/// Largest relative error of a volume at which a step may end, where nothing touches: none where steps take
/// all their iterations.
fn volume_tolerance(step: &Step) -> f32 {
    if step.tolerance > 0.0 { VOLUME_TOLERANCE } else { 0.0 }
}

/// Pressures of the volumes around vertices.
#[derive(Clone, Debug, Default)]
pub struct Volumes {
    /// By vertex: π, the relative error of its ring as it was last measured, and the same again, or 0 where
    /// limits around it have given way.
    rings: Vec<Quad>,
    /// Relative error up to which nothing presses.
    band: f32,
    /// Largest error where no limit has given way, when progress was last noted.
    before: f32,
    /// Whether errors come no nearer to the tolerance: volumes contradict what touches.
    stalled: bool,
}

impl Volumes {
    /// For a filter of `count` vertices.
    pub fn new(count: usize) -> Self {
        Self { rings: vec![[0.0; 4]; count], band: 0.0, before: f32::MAX, stalled: false }
    }

    /// Whether no volume is kept.
    pub fn is_empty(&self) -> bool {
        self.rings.is_empty()
    }

    /// Largest relative error at which a step may end.
    pub fn tolerance(&self, step: &Step) -> f32 {
        volume_tolerance(step) * if step.touching { VOLUME_TOUCHING } else { 1.0 }
    }

    /// Begins a step with `factor` times what was kept of the last step's pressures.
    pub fn take(&mut self, kept: &[f32], factor: f32, step: &Step) {
        (self.before, self.stalled) = (f32::MAX, false);
        self.band = VOLUME_BAND * volume_tolerance(step);
        for (ring, kept) in self.rings.iter_mut().zip(kept) {
            ring[0] = if kept.is_finite() { factor * kept } else { 0.0 };
        }
    }

    /// Keeps the pressures.
    pub fn keep(&self, kept: &mut [f32]) {
        for (ring, kept) in self.rings.iter().zip(kept) {
            *kept = ring[0];
        }
    }

    /// Largest relative error of a ring, as it was last measured.
    pub fn worst(&self) -> f32 {
        self.rings.iter().fold(0.0f32, |worst, ring| worst.max(ring[1].abs()))
    }

    /// The same of rings around which no limit has given way: with such, it may not be possible to keep them.
    pub fn worst_possible(&self) -> f32 {
        self.rings.iter().fold(0.0f32, |worst, ring| worst.max(ring[2].abs()))
    }

    /// Notes whether errors have become smaller since this was last called. Volumes that are merely late are
    /// waited for; those that come no nearer contradict what touches.
    pub fn note_progress(&mut self, iteration: u32) {
        let now = self.worst_possible();
        self.stalled = now > VOLUME_STALLED * self.before || iteration >= GIVE_WAY_FROM;
        self.before = now;
    }

    /// Whether all that can be met is met, or nothing comes any nearer.
    pub fn is_exhausted(&self, step: &Step) -> bool {
        self.worst_possible() <= self.tolerance(step) || self.stalled
    }

    /// Pressures of all vertices; none where no volume is kept.
    pub fn pressures(&self) -> Option<&[Quad]> {
        (!self.rings.is_empty()).then_some(&self.rings)
    }
}

/// What belongs to a ring.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ring {
    /// Inverse of the weighted volume around its vertex; 0 where it is not kept, or nothing can change it.
    pub inverse: f32,
    /// Mean of 2 μ + 3 λ around it, in the units of κ.
    pub stiffness: f32,
    /// How stiff it is against a change of volume, in the units of κ; 0 where volume is kept.
    pub bulk: f32,
}

/// A tetrahedron, to rings.
struct RingPart {
    vertices: [u32; 4],
    /// Weighted as in the matrix.
    volume: f64,
    /// 2 μ + 3 λ.
    stiffness: f64,
    /// Infinite where volume is kept, 0 where it has no pressure.
    bulk: f64,
}

/// Rings of a filter from its tetrahedra. Empty if none has a pressure.
fn rings_of(tetrahedra: &[RingPart], masses: &[f32]) -> Vec<Ring> {
    if !tetrahedra.iter().any(|part| part.bulk > 0.0) {
        return Vec::new();
    }
    let mut rings = vec![([0.0; 3], false); masses.len()];
    for RingPart { vertices, volume, stiffness, bulk } in tetrahedra.iter().filter(|part| part.bulk > 0.0) {
        let free = vertices.iter().any(|&v| masses[v as usize] > 0.0);
        for &v in vertices {
            let (sums, moves) = &mut rings[v as usize];
            sums[0] += volume;
            sums[1] += volume * stiffness;
            sums[2] += volume * bulk;
            *moves |= free;
        }
    }
    let ring = |([sum, stiff, bulk], moves): ([f64; 3], bool)| {
        if !moves {
            return Ring::default();
        }
        let bulk = if bulk.is_finite() { (bulk / sum) as f32 } else { 0.0 };
        Ring { inverse: (1.0 / sum) as f32, stiffness: (stiff / sum) as f32, bulk }
    };
    rings.into_iter().map(ring).collect()
}

impl TetrahedraTerm {
    /// New pressures of all rings, with stiffness κ and duals that are still to be rescaled; and errors of
    /// rings at `x`, if these are to be measured.
    pub(super) fn press(&mut self, step: &Step, x: &[Quad], [stiffness, rescale]: [f32; 2], measure: bool) {
        let (settings, of_rings) = (step.settings, &step.filter.rings);
        let Self { tables, states, volumes, .. } = self;
        for sweep in 0..VOLUME_SWEEPS {
            if volumes.is_empty() {
                return;
            }
            let (tetrahedra, first_time) = (tables.batches.over(x).with(volumes.pressures()), sweep == 0);
            settings.threads.each(states, BATCH_GRAIN, |first, states| {
                let batches = tetrahedra.part(first..first + states.len());
                let stiffening = step.stiffening;
                run(settings.lanes, Swell { batches, states, stiffness, rescale, stiffening, first_time });
            });
            let (states, band): (&[TetrahedronState], f32) = (states, volumes.band);
            settings.threads.each(&mut volumes.rings, VERTEX_GRAIN, |first, rings| {
                for (k, ring) in rings.iter_mut().enumerate() {
                    let i = first + k;
                    let lacks =
                        VOLUME_SHARE * tables.around(of_rings, i, |batch, lane| states[batch].lacks[lane]);
                    let third = (stiffness + step.stiffening * of_rings[i].stiffness) / 3.0;
                    let bulk = step.stiffening * of_rings[i].bulk;
                    if bulk > 0.0 {
                        let given = VOLUME_SHARE * third * ring[0] / bulk;
                        ring[0] += (lacks - given) * (bulk / (bulk + third));
                        continue;
                    }
                    let pressure = ring[0] + lacks;
                    let free = (VOLUME_SHARE * band * third).max(0.0);
                    ring[0] = pressure - pressure.clamp(-free, free);
                    if first_time && measure {
                        ring[1] = tables.around(of_rings, i, |batch, lane| states[batch].gains[lane]);
                        let mut places = tables.corners.of(i).iter().map(|c| *c as usize);
                        let yielded =
                            places.any(|c| states[c / (4 * BATCH)].slack[c % BATCH] > VOLUME_YIELDED);
                        ring[2] = if yielded { 0.0 } else { ring[1] };
                    }
                }
            });
        }
    }
}

impl Tetrahedra {
    /// Volumes around vertices, of which those without mass are held; empty if none is kept.
    pub(crate) fn rings(&self, masses: &[f32]) -> Vec<Ring> {
        let stiffness = |t: usize| {
            let [mu, lambda] = self.batches[t / BATCH].elastic.map(|e| f64::from(e[t % BATCH]));
            2.0 * mu + 3.0 * lambda
        };
        let of_tetrahedron = |(t, (vertices, _, volume)): (usize, &StiffTetrahedron)| {
            let bulk = if self.keeps_volume[t] { f64::INFINITY } else { self.bulks[t] };
            RingPart { vertices: *vertices, volume: *volume, stiffness: stiffness(t), bulk }
        };
        let tetrahedra = self.stiff.iter().enumerate().map(of_tetrahedron);
        rings_of(&tetrahedra.collect::<Vec<_>>(), masses)
    }

    /// The mean around vertex `i` of what is given by tetrahedron; 0 where it does not count.
    #[inline(always)]
    fn around(&self, rings: &[Ring], i: usize, weighted: impl Fn(usize, usize) -> f32) -> f32 {
        let inverse = rings[i].inverse;
        if inverse <= 0.0 {
            return 0.0;
        }
        let mut sum = 0.0;
        for &place in self.corners.of(i) {
            sum += weighted(place as usize / (4 * BATCH), place as usize % BATCH);
        }
        sum * inverse
    }

    /// Largest relative error of one of `rings` at `x`, measured anew.
    pub(crate) fn ring_error(&self, rings: &[Ring], x: &[Quad]) -> f32 {
        (0..rings.len()).fold(0.0, |worst, i| {
            if rings[i].bulk > 0.0 {
                return worst;
            }
            let gain = self.around(rings, i, |batch, lane| self.gain(batch * BATCH + lane, x));
            <f32 as Real>::max(worst, gain.abs())
        })
    }
}

/// V₀ (det F − 1).
#[inline(always)]
pub(super) fn gain<R: Real>(f: &M3<R>, volume: R) -> R {
    (dot(f[0], cross(f[1], f[2])) - R::splat(1.0)) * volume
}

/// What volumes come to under the pressures that there are, and the pressures that would mend them.
struct Swell<'a> {
    /// Tetrahedra, with pressures as second corners.
    batches: Over<'a, NearestTetrahedron, 4>,
    states: &'a mut [TetrahedronState],
    stiffness: f32,
    rescale: f32,
    /// Factor on moduli.
    stiffening: f32,
    /// Whether stretches are not known yet.
    first_time: bool,
}

impl Work for Swell<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (rescale, kappa) = (L::splat(self.rescale), L::splat(self.stiffness));
        let (most, third) = (L::splat(VOLUME_ERROR_MOST), L::splat(1.0 / 3.0));
        for (batch, state) in self.batches.iter().zip(self.states) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                let volume = L::load(&batch.volume, at);
                let mut elastic: [L; 2] = L::load_all(&batch.elastic, at);
                if self.stiffening > 1.0 {
                    elastic = elastic.map(|modulus| modulus * L::splat(self.stiffening));
                }
                let moduli = [elastic[0], elastic[1], kappa];
                if self.first_time {
                    let x: [V3<L>; 4] = batch.corners(at);
                    let mut f = gradient3(&x, &batch.rest::<L>(at));
                    gain(&f, volume).store(&mut state.gains, at);
                    let u = columns(L::load_all(&state.dual, at));
                    for k in 0..3 {
                        f[k] = add(f[k], scale(u[k], rescale));
                    }
                    let eased = eased_stretches3(&f, moduli);
                    for k in 0..3 {
                        eased[k].store(&mut state.eased[k], at);
                    }
                }
                let Some(pressures) = batch.second_corners(at) else { continue };
                let pressure = mean(&pressures);
                let (eased, limits) =
                    (L::load_all(&state.eased, at), state.given_way(batch.limits::<L>(at), at));
                let off =
                    pressed_gain3(&eased, limits, moduli, pressure).clamp(L::splat(-VOLUME_ERROR_MOST), most);
                let kept = L::load(&state.slack, at).le(L::splat(VOLUME_YIELDED));
                let lack = L::select(kept, off * (bulk(moduli) * third), -pressure);
                (lack * volume).store(&mut state.lacks, at);
            }
        }
    }
}

/// Mean pressure of the corners of an element.
#[inline(always)]
pub(super) fn mean<R: Real>(rings: &[V3<R>; 4]) -> R {
    ((rings[0][0] + rings[1][0]) + (rings[2][0] + rings[3][0])) * R::splat(0.25)
}
