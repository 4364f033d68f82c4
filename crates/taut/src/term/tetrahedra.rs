//! Principal stretches of tetrahedra as a term, with the volumes around their vertices.
//!
//! As triangles do, with three stretches in place of two: f = Bx + u, p = f with its stretches drawn to 1 by
//! what the material is worth and then clamped, pulls κ V Bᵀ(2 (p − f) + u), u ← f − p ([`local`]). The sign
//! of the smallest stretch tells which side out an element is, so that inverted ones come back the shortest
//! way. A dual is kept as the symmetric matrix S of u = R S, R the rotation of its element, as
//! [`warm`](super::strain::warm) does. Limits that cannot be met give way ([`give_way`]). Where volumes are
//! kept, pressures are found before elements are clamped ([`volume`](super::volume)).

pub mod give_way;
pub mod local;

use std::sync::Arc;

use super::{
    Block, Excess, Iteration, Stage, Step, Term,
    corners::{Corners, Pulling, Pulls},
    span,
    strain::warm::Way,
    volume::{Volumes, gain},
};
use crate::{
    element::tetrahedron::TetrahedronElement,
    exec::batch::Batches,
    hierarchy::multigrid::{Stiff, StiffTetrahedron},
    kernel::{
        lanes::{BATCH, Quad, run},
        strain::Range,
        tetrahedron::gradient3,
    },
    solve::nearest::ramp::Opening,
    solve::nearest::tuning::{
        BATCH_GRAIN, DEPTH_HARD, DEPTH_VOLUME, FIRST_STAGE_TETRAHEDRA, FIRST_STAGE_TETRAHEDRA_SOFT,
        FIRST_STAGE_TETRAHEDRA_TOUCHING, GIVE_WAY_EVERY, GIVE_WAY_FROM, SLACK_WARM_ALONE, WARM_START,
        give_way_from,
    },
};
use local::{ClampTetrahedra, NearestTetrahedron, TetrahedronState, TurnSolidDuals, columns};

/// Floats that are kept of a batch: six of a dual, and how far limits give way.
pub const DUALS: usize = 7 * BATCH;

/// Tetrahedra of the bodies of a filter. Vertices count from the filter's first.
#[derive(Clone, Debug, Default)]
pub struct Tetrahedra {
    pub(crate) batches: Batches<NearestTetrahedron, 4>,
    /// Number of tetrahedra.
    pub(crate) count: usize,
    /// Number of vertices of the filter.
    vertex_count: usize,
    /// Places of each vertex in the pulls of all batches.
    pub(super) corners: Corners,
    /// Whether any is elastic inside its limits.
    elastic: bool,
    /// The largest 2 μ + λ, in the units of κ.
    stiffest: f32,
    /// What they add to the matrix.
    pub(crate) stiff: Vec<StiffTetrahedron>,
    /// Whether the volume around its vertices is kept, of each of them.
    pub(crate) keeps_volume: Vec<bool>,
    /// How stiff each is against a change of that volume, in the units of κ.
    pub(crate) bulks: Vec<f64>,
}

/// What tetrahedra are to the filter beside their limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weight {
    /// Weight in the matrix: rest volume \[m³\]; of several bodies, such that κ is right for each.
    pub volume: f64,
    /// Lamé's second and first parameter inside the limits, in the units of κ.
    pub elastic: [f64; 2],
    /// The part of the first that acts on volumes around vertices in place of its own, in the units of κ.
    pub bulk: f64,
    /// Whether the volume around its vertices is kept.
    pub keeps_volume: bool,
}

impl Tetrahedra {
    /// Tables of `elements` with their `weights`, whose vertices count from `first`; the filter has `count`
    /// vertices.
    pub fn new(elements: &[TetrahedronElement], weights: &[Weight], first: u32, count: usize) -> Self {
        let vertices: Vec<[u32; 4]> = elements.iter().map(|e| e.vertices.map(|v| v - first)).collect();
        Self {
            batches: Batches::pack(count, 0, &vertices, |b| NearestTetrahedron::pack(b, elements, weights)),
            count: elements.len(),
            vertex_count: count,
            corners: Corners::new(count, &vertices),
            stiff: stiff_tetrahedra(elements, weights, first),
            keeps_volume: weights.iter().map(|w| w.keeps_volume).collect(),
            bulks: weights.iter().map(|w| w.bulk).collect(),
            elastic: weights.iter().any(|w| w.elastic != [0.0; 2]),
            stiffest: weights.iter().map(|w| 2.0 * w.elastic[0] + w.elastic[1]).fold(0.0, f64::max) as f32,
        }
    }

    /// Numbers of the tetrahedra of the vertices `vertices`, which belong to whole bodies.
    pub(crate) fn span(&self, vertices: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        span(self.count, vertices, |t| self.batches[t / BATCH].vertices(t % BATCH)[0])
    }

    /// The same, of which the tetrahedra `span` have other limits.
    pub(crate) fn with_range(&self, span: std::ops::Range<usize>, range: Range<f32>) -> Self {
        let mut changed = self.clone();
        for t in span {
            changed.batches.data_mut(t / BATCH).set_range(t % BATCH, range);
        }
        changed
    }

    /// Whether any volume is kept.
    pub(crate) fn keeps_any_volume(&self) -> bool {
        self.keeps_volume.contains(&true)
    }

    /// Number of volumes with a pressure: one a vertex, or none.
    pub(super) fn ring_count(&self) -> usize {
        let is_used = self.keeps_any_volume() || self.bulks.iter().any(|bulk| *bulk > 0.0);
        if is_used { self.vertex_count } else { 0 }
    }

    /// How much volume tetrahedron `t` has gained, weighted as in the matrix.
    pub(super) fn gain(&self, t: usize, x: &[Quad]) -> f32 {
        let (batch, lane) = (&self.batches[t / BATCH], t % BATCH);
        let corners = batch.vertices(lane).map(|v| [x[v][0], x[v][1], x[v][2]]);
        gain(&gradient3(&corners, &columns(batch.rest.map(|r| r[lane]))), batch.volume[lane])
    }
}

/// What tetrahedra add to the matrix.
fn stiff_tetrahedra(
    elements: &[TetrahedronElement],
    weights: &[Weight],
    first: u32,
) -> Vec<StiffTetrahedron> {
    let gradients = |e: &TetrahedronElement| {
        // Rows of the inverse are the gradients of the last three shape functions.
        let row = |i: usize| [0, 1, 2].map(|k| f64::from(e.rest[k][i]));
        let rows = [row(0), row(1), row(2)];
        let first = [0, 1, 2].map(|k| -(rows[0][k] + rows[1][k] + rows[2][k]));
        [first, rows[0], rows[1], rows[2]]
    };
    elements
        .iter()
        .zip(weights)
        .map(|(e, w)| (e.vertices.map(|v| v - first), gradients(e), w.volume))
        .collect()
}

impl Block for Tetrahedra {
    fn name(&self) -> &'static str {
        "tetrahedra"
    }

    fn kept(&self) -> usize {
        self.batches.len() * DUALS + self.ring_count()
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.tetrahedra.push(&self.stiff);
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(TetrahedraTerm {
            states: vec![TetrahedronState::default(); self.batches.len()],
            pulls: vec![[[[0.0; 4]; BATCH]; 4]; self.batches.len()],
            around: vec![0.0; self.vertex_count],
            volumes: Volumes::new(self.ring_count()),
            rescale: 1.0,
            tables: self,
        })
    }
}

/// Duals and memory of the tetrahedra of a filter.
#[derive(Debug)]
pub(super) struct TetrahedraTerm {
    pub(super) tables: Arc<Tetrahedra>,
    pub(super) states: Vec<TetrahedronState>,
    pulls: Vec<Pulls<4>>,
    /// Room for a number a vertex.
    around: Vec<f32>,
    pub(super) volumes: Volumes,
    /// Factor on the duals in the next iteration.
    rescale: f32,
}

impl TetrahedraTerm {
    /// Takes the duals that are kept, or keeps them, and measures residuals. `slack` is the factor on how far
    /// limits gave way, on the way in.
    fn turn(&mut self, step: &Step, x: &mut [Quad], kept: &mut [f32], way: Way, [factor, slack]: [f32; 2]) {
        let Self { tables, states, .. } = self;
        let (tetrahedra, settings) = (tables.batches.over(x), step.settings);
        let (kept, _) = kept.as_chunks_mut::<DUALS>();
        settings.threads.each_pair(states, kept, BATCH_GRAIN, |first, states, kept| {
            let batches = tetrahedra.part(first..first + states.len());
            let kept = kept.as_flattened_mut();
            run(settings.lanes, TurnSolidDuals { batches, states, kept, way, factor, slack });
        });
    }

    /// Where the duals of elements end and pressures begin in what is kept.
    fn split<'a>(&self, kept: &'a mut [f32]) -> (&'a mut [f32], &'a mut [f32]) {
        kept.split_at_mut(self.tables.batches.len() * DUALS)
    }
}

impl Term for TetrahedraTerm {
    fn depth_allowed(&self, _so_far: f32, edge: f32, tolerance: f32) -> f32 {
        edge * (if self.tables.keeps_any_volume() { DEPTH_VOLUME } else { DEPTH_HARD } * tolerance)
    }

    fn begin(&mut self, step: &Step, x: &mut [Quad], kept: &mut [f32]) {
        let (duals, pressures) = self.split(kept);
        let slack = if step.touching { WARM_START } else { SLACK_WARM_ALONE };
        self.turn(step, x, duals, Way::Begin, [WARM_START, slack]);
        self.volumes.take(pressures, WARM_START, step);
    }

    fn opening(&self, step: &Step, _x: &[Quad]) -> Option<Opening> {
        if step.touching {
            return Some(Opening::Stage(FIRST_STAGE_TETRAHEDRA_TOUCHING));
        }
        let filter = step.filter;
        let is_soft = self.tables.stiffest <= filter.stiffness[FIRST_STAGE_TETRAHEDRA_SOFT];
        let is_inside = self.states.iter().all(|state| !state.is_near);
        let is_bdf2 = filter.square_factor < 1.0;
        Some(Opening::Stage(if is_bdf2 && is_soft && is_inside {
            FIRST_STAGE_TETRAHEDRA_SOFT
        } else {
            FIRST_STAGE_TETRAHEDRA
        }))
    }

    fn enter(&mut self, _step: &Step, _x: &[Quad], _kept: &[f32], stage: &Stage) {
        self.rescale = 1.0 / stage.c;
    }

    fn has_given_way(&self) -> bool {
        self.states.iter().any(|state| state.slack != [0.0; BATCH])
    }

    fn come_back(&mut self, touched: &[bool]) {
        let Self { tables, states, around, .. } = self;
        tables.come_back(states, around, SLACK_WARM_ALONE / WARM_START, touched);
    }

    fn rescale(&mut self, growth: f32) {
        self.rescale = 1.0 / growth;
    }

    fn local(&mut self, step: &Step, x: &mut [Quad], stage: &Stage, measure: bool) {
        let settings = step.settings;
        let (stiffness, rescale) = (stage.kappa, std::mem::replace(&mut self.rescale, 1.0));
        self.press(step, x, [stiffness, rescale], measure);
        let Self { tables, states, pulls, volumes, .. } = self;
        let tetrahedra = tables.batches.over(x).with(volumes.pressures());
        settings.threads.each_pair(states, pulls, BATCH_GRAIN, |first, states, pulls| {
            let batches = tetrahedra.part(first..first + states.len());
            let work = ClampTetrahedra {
                batches,
                states,
                pulls,
                stiffness,
                rescale,
                elastic: tables.elastic,
                stiffening: step.stiffening,
                measure,
            };
            run(settings.lanes, work);
        });
    }

    fn pulling<'a>(&'a self, _x: &'a [Quad]) -> Option<Pulling<'a>> {
        Some(Pulling::new(&self.tables.corners, &self.pulls))
    }

    fn measure(&self, step: &Step, _x: &[Quad], iteration: u32, excess: &mut Excess) {
        excess.count += self.tables.count;
        excess.can_give_way |= iteration > give_way_from(step.touching);
        for state in &self.states {
            excess.worst = excess.worst.max(state.worst);
            excess.beyond = excess.beyond.max(state.beyond);
            excess.sum += f64::from(state.sum);
        }
        excess.unmet |= self.volumes.worst() > self.volumes.tolerance(step);
    }

    fn give_way(&mut self, step: &Step, iteration: Iteration) -> bool {
        let Iteration { number, within } = iteration;
        if number < give_way_from(step.touching) || !number.is_multiple_of(GIVE_WAY_EVERY) {
            return false;
        }
        if !within {
            let Self { tables, states, around, .. } = self;
            tables.give_way(states, around, step.tolerance, number >= GIVE_WAY_FROM);
        }
        self.volumes.note_progress(number);
        false
    }

    fn given_way(&self, _step: &Step) -> u32 {
        let of = |state: &TetrahedronState| state.slack.iter().filter(|slack| **slack > 0.0).count();
        self.states.iter().map(of).sum::<usize>() as u32
    }

    fn is_exhausted(&self, step: &Step) -> bool {
        self.volumes.is_exhausted(step)
    }

    fn end(&mut self, step: &Step, x: &mut [Quad], stage: &Stage, kept: &mut [f32]) {
        let (duals, pressures) = self.split(kept);
        self.turn(step, x, duals, Way::End, [stage.c, 1.0]);
        self.volumes.keep(pressures);
    }
}
