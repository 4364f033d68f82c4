//! Principal stretches of triangles as a term: W1, W3 of the main paper as a block of the splitting.
//!
//! One iteration of a triangle, in lanes: f = Bx + u, p = f clamped, pulls κ A Bᵀ(2 (p − f) + u), u ← f − p
//! ([`local`]). Duals go from step to step turned with their triangles ([`warm`]); the side that crushed
//! triangles open to is that of the start of the step ([`facing`]); the last few are settled one by one
//! ([`finish`]). Limits that cannot be met give way ([`give_way`]). Where the solve is elastic, stretches are
//! drawn to 1 by what the material is worth before they are clamped.

pub mod facing;
pub mod finish;
pub mod give_way;
pub mod law;
pub mod local;
pub mod warm;

use std::sync::Arc;

use super::{
    Block, Excess, Iteration, Stage, Step, Term,
    corners::{Corners, Pulling, Pulls},
    span,
};
use crate::{
    element::{
        triangle::{StrainElement, StrainLimits},
        woven::WeaveLanes,
    },
    exec::batch::Batches,
    hierarchy::multigrid::{Stiff, share},
    kernel::{
        lanes::{BATCH, Quad, run},
        membrane::Woven,
        strain::{self, strain_residual},
        weave::WeaveRange,
    },
    limit::NO_LIMIT,
    solve::nearest::{
        ramp::{Opening, Ramp, Tightness},
        tuning::{
            BATCH_GRAIN, CLOTH_GIVES_WAY_EVERY, CLOTH_ON_ITS_WAY, DEPTH_ELASTIC, DEPTH_HARD, NARROW, TIGHT,
            WARM_START, WARM_START_SHORT, cloth_gives_way_from, cloth_stretches_from,
        },
    },
};
use finish::Finish;
pub use law::LawKind;
use law::Laws;
use local::{BatchState, ClampTriangles, Held, NearestBatch};
use warm::{TurnDuals, Way};

/// Floats that are kept of a batch: duals, and by how much lower and upper limits have given way.
const KEPT: usize = 5 * BATCH;

/// Triangles of a filter. Vertices count from the filter's first.
#[derive(Clone, Debug)]
pub struct Strain {
    pub(crate) batches: Arc<Batches<NearestBatch, 3>>,
    /// Limits of the batches along warp, weft and bias; empty if no triangle has such.
    weaves: Arc<Vec<WeaveLanes>>,
    /// Number of triangles.
    pub(crate) count: usize,
    /// Number of vertices of the filter.
    vertex_count: usize,
    /// Whether any triangle has a lower limit.
    two_sided: bool,
    /// What limits triangles have.
    limits: Tightness,
    /// Whether any triangle has [narrow](is_narrow) limits.
    is_narrow: bool,
    /// Laws of triangles inside their limits.
    laws: Laws,
    /// Rest areas \[m²\]; of several bodies, such that one κ is right for each.
    areas: Arc<Vec<f64>>,
    /// Corners of triangles at each vertex.
    corners: Arc<Corners>,
}

impl Strain {
    /// Tables of `elements`, whose vertices count from `first`, of a filter of `count` vertices. `areas` are
    /// their weights in the matrix \[m²\], `laws` their moduli inside the limits in the units of κ, which may
    /// be empty. What is the same as in `like` is shared with it.
    pub fn new(
        elements: &[StrainElement],
        areas: &[f64],
        (kind, laws): (LawKind, &[Woven<f64>]),
        first: u32,
        count: usize,
        like: Option<&Self>,
    ) -> Self {
        let indices: Vec<u32> = (0..elements.len() as u32).collect();
        let woven = elements.iter().any(|e| e.weave.is_some());
        let pack = |batch: &[u32]| NearestBatch::pack(batch, elements, areas);
        let corners: Vec<[u32; 3]> = elements.iter().map(|e| e.vertices.map(|v| v - first)).collect();
        let batches = Batches::pack(count, 0, &corners, pack);
        let weaves = indices.chunks(BATCH).filter(|_| woven).map(|batch| WeaveLanes::pack(batch, elements));
        Self {
            batches: share(batches, like.map(|like| &like.batches)),
            weaves: share(weaves.collect(), like.map(|like| &like.weaves)),
            count: elements.len(),
            vertex_count: count,
            two_sided: elements.iter().any(StrainElement::has_lower_limit),
            limits: tightness(elements.iter().map(|e| e.range)),
            is_narrow: elements.iter().any(|e| is_narrow(e.range)),
            laws: Laws::pack(kind, laws),
            areas: share(areas.to_vec(), like.map(|like| &like.areas)),
            corners: share(Corners::new(count, &corners), like.map(|like| &like.corners)),
        }
    }

    /// Whether triangles have the law of an implicit integrator inside their limits.
    pub(crate) fn is_implicit(&self) -> bool {
        self.laws.are_implicit()
    }

    /// Vertices of triangle `t`, of the filter's.
    pub(crate) fn vertices_of(&self, t: u32) -> [usize; 3] {
        let (b, lane) = (t as usize / BATCH, t as usize % BATCH);
        self.batches[b].vertices(lane)
    }

    /// Inverse rest matrix of triangle `t`.
    fn rest_of(&self, t: u32) -> [f32; 3] {
        let (b, lane) = (t as usize / BATCH, t as usize % BATCH);
        self.batches[b].rest.map(|r| r[lane])
    }

    /// Limits of triangle `t`, unless it has some along warp, weft and bias.
    fn range_of(&self, t: u32) -> strain::Range<f32> {
        let (batch, lane) = (&self.batches[t as usize / BATCH], t as usize % BATCH);
        strain::Range { min: batch.min[lane], max: batch.max[lane] }
    }

    /// Limits of triangle `t` along warp, weft and bias, if it has such.
    pub(crate) fn weave_of(&self, t: u32) -> Option<WeaveRange<f32>> {
        self.weaves.get(t as usize / BATCH).map(|weaves| weaves.lane(t as usize % BATCH))
    }

    /// The law of triangle `t` inside its limits, if stiffness is part of the solve.
    pub(crate) fn law_of(&self, t: u32) -> Option<Woven<f64>> {
        self.laws.of(t)
    }

    /// Limits of `count` batches along warp, weft and bias, if there are such.
    fn weaves(&self, first: usize, count: usize) -> Option<&[WeaveLanes]> {
        self.weaves.get(first..first + count).filter(|weaves| !weaves.is_empty())
    }

    /// Numbers of the triangles of the vertices `vertices`, which belong to whole bodies.
    pub(crate) fn span(&self, vertices: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        span(self.count, vertices, |t| self.vertices_of(t as u32)[0])
    }

    /// The same, of which the triangles `span` have other limits of the same kind.
    pub(crate) fn with_limits(&self, span: std::ops::Range<usize>, limits: StrainLimits) -> Self {
        let StrainLimits { loosest, woven } = limits;
        let mut changed = self.clone();
        let (batches, weaves) = (Arc::make_mut(&mut changed.batches), Arc::make_mut(&mut changed.weaves));
        for t in span {
            let (batch, lane) = (batches.data_mut(t / BATCH), t % BATCH);
            (batch.min[lane], batch.max[lane]) = (loosest.min, loosest.max);
            if let Some(weaves) = weaves.get_mut(t / BATCH) {
                weaves.set_ranges(lane, woven.unwrap_or([loosest; 3]));
            }
        }
        let lanes = changed.batches.iter().flat_map(|batch| batch.min.iter().zip(&batch.max));
        changed.limits = tightness(lanes.map(|(&min, &max)| strain::Range { min, max }));
        changed
    }

    /// How far triangle `t` is past its limits.
    fn residual_of(&self, t: u32, x: &[Quad]) -> f32 {
        let (corners, rest) = (self.vertices_of(t).map(|v| [x[v][0], x[v][1], x[v][2]]), self.rest_of(t));
        match self.weave_of(t) {
            None => strain_residual(&corners, rest, self.range_of(t)),
            Some(weave) => strain_residual(&corners, rest, weave),
        }
    }
}

/// Whether limits leave little room on both sides.
fn is_narrow(range: strain::Range<f32>) -> bool {
    range.max - range.min < NARROW
}

/// Whether limits that a caller gives become [narrow](is_narrow), or nearly: the solver aims inside them.
pub fn may_be_narrow(range: strain::Range<f32>) -> bool {
    range.max - range.min < 1.3 * NARROW
}

/// How tight limits are.
fn tightness(ranges: impl Iterator<Item = strain::Range<f32>>) -> Tightness {
    let mut tightest = Tightness::Free;
    for strain::Range { min, max } in ranges {
        if max <= 1.0 + TIGHT {
            return Tightness::Tight;
        }
        if min > 0.0 || max < NO_LIMIT {
            tightest = Tightness::Loose;
        }
    }
    tightest
}

impl Block for Strain {
    fn name(&self) -> &'static str {
        "strain"
    }

    fn kept(&self) -> usize {
        self.batches.len() * KEPT
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.is_narrow |= self.is_narrow;
        stiff.triangles.extend((0..self.count as u32).zip(self.areas.iter()).map(|(t, &area)| {
            let [a, b, c] = self.rest_of(t).map(f64::from);
            (self.vertices_of(t).map(|v| v as u32), [[-a, -(b + c)], [a, b], [0.0, c]], area)
        }));
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(StrainTerm {
            states: vec![BatchState::default(); self.batches.len()],
            pulls: vec![[[[0.0; 4]; BATCH]; 3]; self.batches.len()],
            turned: vec![[0.0; 4]; if self.two_sided { self.vertex_count } else { 0 }],
            finish: Finish::new(self.count),
            rescale: 1.0,
            held: Held::Dual,
            given_way: false,
            lost: f64::INFINITY,
            around: vec![[0.0; 2]; self.vertex_count],
            tables: self,
        })
    }
}

/// Duals and memory of the triangles of a filter.
#[derive(Debug)]
struct StrainTerm {
    tables: Arc<Strain>,
    states: Vec<BatchState>,
    pulls: Vec<Pulls>,
    /// Where bodies would be had they only turned since the start of the step \[m\].
    turned: Vec<Quad>,
    finish: Finish,
    /// Factor on the duals in the next iteration.
    rescale: f32,
    /// In what form the last iteration left the duals.
    held: Held,
    /// Whether any limits have given way.
    given_way: bool,
    /// Sum of residuals when limits might last have given way.
    lost: f64,
    /// Room for two numbers a vertex.
    around: Vec<[f32; 2]>,
}

impl StrainTerm {
    /// Takes the duals that are kept, or keeps them, and measures residuals.
    fn turn(&mut self, step: &Step, x: &mut [Quad], kept: &mut [f32], way: Way, factor: f32) {
        let Self { tables, states, .. } = self;
        let (triangles, settings) = (tables.batches.over(x), step.settings);
        let (kept, _) = kept.as_chunks_mut::<KEPT>();
        settings.threads.each_pair(states, kept, BATCH_GRAIN, |first, states, kept| {
            let batches = triangles.part(first..first + states.len());
            let (kept, weaves) = (kept.as_flattened_mut(), tables.weaves(first, batches.len()));
            run(settings.lanes, TurnDuals { batches, weaves, states, kept, way, factor });
        });
    }
}

impl Term for StrainTerm {
    fn depth_allowed(&self, _so_far: f32, edge: f32, tolerance: f32) -> f32 {
        let is_easy = self.tables.is_implicit() && !self.tables.two_sided;
        edge * tolerance * if is_easy { DEPTH_ELASTIC } else { DEPTH_HARD }
    }

    fn begin(&mut self, step: &Step, x: &mut [Quad], kept: &mut [f32]) {
        if self.tables.two_sided {
            self.face(step, x);
        }
        let is_short = self.tables.is_implicit() && step.is_short;
        let factor = if is_short { WARM_START_SHORT } else { WARM_START };
        self.turn(step, x, kept, Way::Begin, factor);
        self.lost = f64::INFINITY;
        self.given_way = self.states.iter().any(|state| state.slack != [[0.0; BATCH]; 2]);
    }

    fn allows_finish(&self) -> bool {
        true
    }

    fn opening(&self, step: &Step, _x: &[Quad]) -> Option<Opening> {
        if step.filter.means.any() {
            return Some(Opening::Nonconforming { is_short: step.is_short });
        }
        self.tables.is_implicit().then(|| Ramp::opening_implicit(step, self.tables.limits))
    }

    fn enter(&mut self, _step: &Step, _x: &[Quad], _kept: &[f32], stage: &Stage) {
        self.rescale = 1.0 / stage.c;
        self.held = Held::Dual;
    }

    fn rescale(&mut self, growth: f32) {
        self.rescale = 1.0 / growth;
    }

    fn local(&mut self, step: &Step, x: &mut [Quad], stage: &Stage, measure: bool) {
        let Self { tables, states, pulls, rescale, held, given_way, .. } = self;
        let (triangles, settings) = (tables.batches.over(x), step.settings);
        let rescale = std::mem::replace(rescale, 1.0);
        // The duals themselves are needed where κ changes, and where the step may end.
        let leaves = match stage.over_relaxation {
            1.0 => Held::Dual,
            _ if measure || stage.is_last => Held::Both,
            _ => Held::Mixed,
        };
        let found = std::mem::replace(held, leaves);
        settings.threads.each_pair(states, pulls, BATCH_GRAIN, |first, states, pulls| {
            let batches = triangles.part(first..first + states.len());
            let work = ClampTriangles {
                batches,
                weaves: tables.weaves(first, batches.len()),
                states,
                pulls,
                stiffness: stage.kappa,
                rescale,
                faced: tables.two_sided,
                laws: tables.laws.over(first, batches.len()),
                stiffening: step.stiffening,
                measure,
                given_way: *given_way,
                over_relaxation: stage.over_relaxation,
                found,
                leaves,
            };
            run(settings.lanes, work);
        });
    }

    fn pulling<'a>(&'a self, _x: &'a [Quad]) -> Option<Pulling<'a>> {
        (self.tables.count > 0).then(|| Pulling::new(&self.tables.corners, &self.pulls))
    }

    fn measure(&self, _step: &Step, _x: &[Quad], _iteration: u32, excess: &mut Excess) {
        excess.count += self.tables.count;
        for state in &self.states {
            excess.worst = excess.worst.max(state.worst);
            excess.beyond = excess.beyond.max(state.beyond);
            excess.sum += f64::from(state.sum);
        }
        excess.can_give_way |= self.given_way;
    }

    fn give_way(&mut self, step: &Step, iteration: Iteration) -> bool {
        let Iteration { number, within } = iteration;
        let is_time = number >= cloth_gives_way_from(step);
        // Developable cloth that nothing touches can meet its limits, but takes its time where it buckles.
        let may_give_way = step.touching || !step.filter.means.any();
        if may_give_way && !within && is_time && number.is_multiple_of(CLOTH_GIVES_WAY_EVERY) {
            let lost: f64 = self.states.iter().map(|state| f64::from(state.sum)).sum();
            let is_on_its_way = lost < f64::from(CLOTH_ON_ITS_WAY) * self.lost;
            self.lost = lost;
            if !is_on_its_way {
                let Self { tables, states, around, .. } = self;
                let also_upper = number >= cloth_stretches_from(step);
                self.given_way = tables.give_way(states, around, step.tolerance, also_upper);
            }
        }
        false
    }

    fn given_way(&self, step: &Step) -> u32 {
        let of = |state: &BatchState| {
            let is_past = |lane: &usize| {
                state.residuals[0][*lane] > step.tolerance && state.slack.iter().any(|side| side[*lane] > 0.0)
            };
            (0..BATCH).filter(is_past).count()
        };
        if self.given_way { self.states.iter().map(of).sum::<usize>() as u32 } else { 0 }
    }

    fn is_within(&self, step: &Step, x: &[Quad], moved: &[(u32, Quad)]) -> bool {
        let Strain { corners, .. } = &*self.tables;
        let at = |v: u32| corners.of(v as usize).iter().map(|&corner| finish::triangle_of(corner));
        moved.iter().all(|&(v, _)| at(v).all(|t| self.tables.residual_of(t, x) <= step.tolerance))
    }

    fn finish(&mut self, step: &Step, x: &mut [Quad], iteration: u32) -> bool {
        self.settle_last(step, x, iteration)
    }

    fn end(&mut self, step: &Step, x: &mut [Quad], stage: &Stage, kept: &mut [f32]) {
        self.turn(step, x, kept, Way::End, stage.c);
    }
}
