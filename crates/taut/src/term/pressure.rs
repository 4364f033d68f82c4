//! Pressure inside closed cloth as a term (S5 of the lecture).
//!
//! A bag of volume V adds −∫ p dV to the energy of a step: vertices are pushed by p ∇V, made anew from the
//! positions of every iteration. The lecture keeps V = k V₀ by projections; here the pressure is one more
//! unknown of the linear solve, for all three laws alike: with V(x) the volume, V the cycle and g = ∇V, an
//! iteration moves x by V (r + p g), then takes
//!
//! ```text
//! w = V g,  h = gᵀ w                        one more cycle every few iterations, for all bags together
//! p' with V' + h (p' − p) = V(p')           kept volume: V(p') = k V₀; gas: (p' + p₀) V(p') = N
//! x ← x + w (p' − p)
//! ```
//!
//! which is the elimination of p from the matrix with −1/h on its diagonal, as [`rigid`](super::rigid) does
//! with its six unknowns a body. Without it a kept volume would be approached by a tiny step an iteration,
//! and a stiff gas would overshoot. A given pressure needs none of that.
//!
//! Limits win: they are hard, and pressure is a force, bounded where a kept volume cannot be reached
//! ([`PressureTable::most`]). Loads are thousands of times the weight of cloth, so κ grows with them, as with
//! the mass of rigid bodies ([`PressureTable::load`]), and steps keep to the last stage of the ramp: duals
//! stay of the order of [`PRESSED_DUAL`], whatever the pressure. The load's own stiffness, p ∇²V, is left
//! out of the matrix: against κ it is as small as that.
//!
//! The gas has no mass, fills its bag evenly and acts only while all seams of the bag are closed.

use std::sync::Arc;

use super::{Block, Excess, Scene, Stage, Step, Term, corners::Corners};
use crate::{
    AMBIENT, Pressure, PressureLaw,
    hierarchy::multigrid::Cycle,
    kernel::{
        lanes::{BATCH, Quad},
        real::{cross, dot, sub},
    },
    solve::nearest::{
        filter::Filter,
        ramp::Opening,
        tuning::{
            PRESSED_STAGE, PRESSURE_COLUMN_EVERY, PRESSURE_PATIENCE, PRESSURE_SETTLED, PRESSURE_TOLERANCE,
            VERTEX_GRAIN,
        },
    },
};

/// A bag of a filter.
#[derive(Clone, Debug)]
pub struct PressureTable {
    /// Whether seams close it.
    pub is_sewn: bool,
    /// Triangles facing outwards, with vertices of the world.
    pub triangles: Vec<[u32; 3]>,
    /// What is inside.
    pub pressure: Pressure,
    /// Reference volume \[m³\].
    pub volume: f64,
    /// Volume of a sphere of its area \[m³\]: what errors are measured by where the bag is flat.
    pub roundest: f64,
    /// Largest pressure, either way \[Pa\].
    pub most: f64,
}

/// Bags of a filter that are closed.
#[derive(Clone, Debug)]
pub struct Bags {
    tables: Vec<PressureTable>,
    /// Number of each among all bags of the filter, and how many there would be if all seams were closed.
    slots: Vec<usize>,
    count: usize,
    /// Triangles of all bags, one bag after the other, with vertices of the filter.
    triangles: Vec<[u32; 3]>,
    /// Triangles at each vertex.
    corners: Corners,
    /// By vertex: its bag.
    bag_of: Vec<u32>,
    /// Length of a step \[s\].
    dt: f64,
    /// What pressures are multiplied by: the square of a step over the mean mass \[s²/kg\].
    unit: f64,
}

/// Name of the term.
pub(crate) const PRESSURE: &str = "pressure";

/// No bag.
const NONE: u32 = u32::MAX;

impl Bags {
    /// `tables`, of a filter of `count` vertices of which the first is `first`, for steps of `dt` \[s\] whose
    /// square over the mean mass is `unit` \[s²/kg\]. `is_welded`: seams are closed.
    pub fn new(
        tables: &[PressureTable],
        (first, count): (u32, usize),
        [dt, unit]: [f64; 2],
        is_welded: bool,
    ) -> Self {
        let slots: Vec<usize> =
            (0..tables.len()).filter(|&slot| is_welded || !tables[slot].is_sewn).collect();
        let own: Vec<PressureTable> = slots.iter().map(|&slot| tables[slot].clone()).collect();
        let mut triangles = Vec::new();
        let mut bag_of = vec![NONE; count];
        for (number, table) in (0..).zip(&own) {
            triangles.extend(table.triangles.iter().map(|t| t.map(|v| v - first)));
            table.triangles.iter().flatten().for_each(|&v| bag_of[(v - first) as usize] = number);
        }
        Self {
            count: tables.len(),
            tables: own,
            slots,
            corners: Corners::new(count, &triangles),
            triangles,
            bag_of,
            dt,
            unit,
        }
    }

    /// The gradient of the volume at vertex `i`, and with `origin` its share of the volume.
    fn gradient(&self, i: usize, x: &[Quad], origins: &[[f64; 3]]) -> [f64; 4] {
        let mut sum = [0.0; 3];
        for &place in self.corners.of(i) {
            let (block, lane) = (place as usize / BATCH, place as usize % BATCH);
            let [a, b, c] = self.triangles[block / 3 * BATCH + lane].map(|v| at(&x[v as usize]));
            let n = cross(sub(b, a), sub(c, a));
            (0..3).for_each(|k| sum[k] += n[k] / 6.0);
        }
        let arm = sub(at(&x[i]), origins[self.bag_of[i] as usize]);
        [sum[0], sum[1], sum[2], dot(arm, sum) / 3.0]
    }
}

impl Block for Bags {
    fn name(&self) -> &'static str {
        PRESSURE
    }

    fn kept(&self) -> usize {
        self.count
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        let (count, bags) = (self.bag_of.len(), self.tables.len());
        let held = if bags > 0 { count } else { 0 };
        Box::new(PressureTerm {
            states: vec![BagState::default(); bags],
            origins: vec![[0.0; 3]; bags],
            gradients: vec![[0.0; 4]; held],
            before: vec![[0.0; 4]; held],
            column: vec![[0.0; 4]; held],
            since: 0,
            tables: self,
        })
    }
}

/// What changes of a bag.
#[derive(Clone, Copy, Debug, Default)]
struct BagState {
    /// The value of its law at the end of the step.
    value: f64,
    /// Pressure \[Pa\].
    pressure: f64,
    /// Volume in this iteration \[m³\].
    volume: f64,
    /// By how much it changed in the last one, over the volume or the tenth of that of a sphere.
    changed: f64,
    /// Volume that a pascal adds \[m³/Pa\].
    yields: f64,
    /// Pressure that the last iteration added \[Pa\].
    added: f64,
}

/// Pressures of a filter.
#[derive(Debug)]
struct PressureTerm {
    tables: Arc<Bags>,
    states: Vec<BagState>,
    /// Where volumes are measured from \[m\].
    origins: Vec<[f64; 3]>,
    /// By vertex: ∇V \[m²\], and its share of the volume \[m³\].
    gradients: Vec<[f64; 4]>,
    /// Positions before the cycle.
    before: Vec<Quad>,
    /// V g.
    column: Vec<Quad>,
    /// Iterations since it was made.
    since: u32,
}

impl PressureTerm {
    /// Gradients and volumes at `x`.
    fn look(&mut self, step: &Step, x: &[Quad]) {
        let Self { tables, states, origins, gradients, .. } = self;
        for (state, table) in origins.iter_mut().zip(&tables.tables) {
            let first = table.triangles[0][0] as usize - step.filter.vertices.start;
            *state = at(&x[first]);
        }
        let (tables, origins) = (&**tables, &*origins);
        step.settings.threads.each(gradients, VERTEX_GRAIN, |first, part| {
            for (k, gradient) in part.iter_mut().enumerate() {
                let i = first + k;
                if tables.bag_of[i] != NONE {
                    *gradient = tables.gradient(i, x, origins);
                }
            }
        });
        for (number, state) in (0..).zip(states.iter_mut()) {
            let own = gradients.iter().zip(&tables.bag_of).filter(|(_, bag)| **bag == number);
            let volume: f64 = own.map(|(gradient, _)| gradient[3]).sum();
            let scale = volume.abs().max(0.1 * tables.tables[number as usize].roundest);
            state.changed = (volume - state.volume).abs() / scale;
            state.volume = volume;
        }
    }

    /// Whether some pressure depends on the volume.
    fn follows_volumes(&self) -> bool {
        self.tables.tables.iter().any(|table| table.pressure.law != PressureLaw::Pascal)
    }
}

/// The pressure of a bag whose volume is `volume` \[m³\] with a pressure of `now` \[Pa\], and grows by
/// `yields` with each pascal.
fn solve(table: &PressureTable, value: f64, [volume, now, yields]: [f64; 3]) -> f64 {
    let pressure = match table.pressure.law {
        PressureLaw::Pascal => value,
        PressureLaw::Over if yields > 0.0 => now + (value * table.volume - volume) / yields,
        PressureLaw::Over => now,
        PressureLaw::Gas => {
            // (p + p₀) (V + h (p − now)) = N; the positive root of h P² + b P = N.
            let amount = (AMBIENT + value) * table.volume;
            let b = volume - yields * (now + AMBIENT);
            let root = (b * b + 4.0 * yields * amount).sqrt();
            // Written so that nothing cancels.
            let absolute = if b > 0.0 { 2.0 * amount / (b + root) } else { (root - b) / (2.0 * yields) };
            absolute - AMBIENT
        }
    };
    if pressure.is_finite() { pressure.clamp(-table.most, table.most) } else { now }
}

impl PressureTable {
    /// How far `pressure` \[Pa\] and `volume` \[m³\] are from its law, without unit.
    pub fn error(&self, value: f64, pressure: f64, volume: f64) -> f64 {
        match self.pressure.law {
            PressureLaw::Pascal => 0.0,
            // Limits do not let it go further.
            PressureLaw::Over if pressure.abs() >= self.most => 0.0,
            PressureLaw::Over => (volume / (value * self.volume) - 1.0).abs(),
            PressureLaw::Gas if pressure >= self.most => 0.0,
            PressureLaw::Gas => {
                ((pressure + AMBIENT) * volume / ((AMBIENT + value) * self.volume) - 1.0).abs()
            }
        }
    }
}

impl Term for PressureTerm {
    fn prepare(&mut self, scene: &Scene, _filter: &Filter) {
        for (state, table) in self.states.iter_mut().zip(&self.tables.tables) {
            state.value = table.pressure.at(scene.time).into();
        }
        self.since = u32::MAX;
    }

    /// What gave way would let the bag burst.
    fn is_load(&self) -> bool {
        !self.states.is_empty()
    }

    fn allows_finish(&self) -> bool {
        true
    }

    fn begin(&mut self, step: &Step, x: &mut [Quad], kept: &mut [f32]) {
        if self.states.is_empty() {
            return;
        }
        self.look(step, x);
        let square = self.tables.dt * self.tables.dt;
        let Bags { tables, slots, .. } = &*self.tables;
        for ((state, table), &slot) in self.states.iter_mut().zip(tables).zip(slots) {
            let before = f64::from(kept[slot]) / square;
            let before = if before.is_finite() { before.clamp(-table.most, table.most) } else { 0.0 };
            state.pressure = solve(table, state.value, [state.volume, before, 0.0]);
            state.changed = f64::INFINITY;
        }
    }

    fn opening(&self, _step: &Step, _x: &[Quad]) -> Option<Opening> {
        (!self.states.is_empty()).then_some(Opening::Stage(PRESSED_STAGE))
    }

    fn pull(&mut self, step: &Step, x: &[Quad], _stage: &Stage, r: &mut [Quad]) {
        if self.states.is_empty() {
            return;
        }
        self.look(step, x);
        let Self { tables, states, gradients, before, .. } = self;
        before.copy_from_slice(x);
        let unit = tables.unit * f64::from(step.stiffening);
        for (i, gradient) in gradients.iter().enumerate() {
            let bag = tables.bag_of[i];
            if bag == NONE || step.filter.masses[i] <= 0.0 {
                continue;
            }
            let strength = unit * states[bag as usize].pressure;
            for k in 0..3 {
                r[i][k] += (strength * gradient[k]) as f32;
            }
        }
    }

    fn weigh(&mut self, _step: &Step, _stage: &Stage, _diagonal: &mut [f32]) {
        self.since = u32::MAX;
    }

    fn after_cycle(&mut self, step: &Step, _stage: &Stage, cycle: &mut Cycle, x: &mut [Quad]) {
        if !self.follows_volumes() {
            return;
        }
        let filter = step.filter;
        let Self { tables, states, gradients, before, column, since, .. } = self;
        let unit = tables.unit;
        if *since >= PRESSURE_COLUMN_EVERY {
            *since = 0;
            for (i, (r, gradient)) in cycle.residual().iter_mut().zip(gradients.iter()).enumerate() {
                *r = [0.0; 4];
                if tables.bag_of[i] != NONE && filter.masses[i] > 0.0 {
                    (0..3).for_each(|k| r[k] = gradient[k] as f32);
                }
            }
            column.fill([0.0; 4]);
            filter.multigrid.cycle(step.settings.threads, cycle, column);
        }
        *since += 1;
        states.iter_mut().for_each(|state| state.yields = 0.0);
        for (i, gradient) in gradients.iter().enumerate().filter(|(i, _)| tables.bag_of[*i] != NONE) {
            let state = &mut states[tables.bag_of[i] as usize];
            let way = sub(at(&x[i]), at(&before[i]));
            let gradient = [gradient[0], gradient[1], gradient[2]];
            state.volume += dot(gradient, way);
            state.yields += unit * dot(gradient, at(&column[i]));
        }
        for (state, table) in states.iter_mut().zip(&tables.tables) {
            let yields = state.yields.max(0.0);
            let pressure = solve(table, state.value, [state.volume, state.pressure, yields]);
            state.added = pressure - state.pressure;
            state.volume += yields * state.added;
            state.pressure = pressure;
        }
        for (i, x) in x.iter_mut().enumerate().filter(|(i, _)| tables.bag_of[*i] != NONE) {
            let moved = unit * states[tables.bag_of[i] as usize].added;
            for k in 0..3 {
                x[k] += (moved * f64::from(column[i][k])) as f32;
            }
        }
    }

    fn measure(&self, _step: &Step, _x: &[Quad], iteration: u32, excess: &mut Excess) {
        let unmet = |(state, table): (&BagState, &PressureTable)| {
            let error = table.error(state.value, state.pressure, state.volume);
            state.changed > PRESSURE_SETTLED || error > PRESSURE_TOLERANCE
        };
        let mut all = self.states.iter().zip(&self.tables.tables);
        excess.unmet |= iteration > 0 && iteration < PRESSURE_PATIENCE && all.any(unmet);
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], _stage: &Stage, kept: &mut [f32]) {
        kept.fill(0.0);
        let square = self.tables.dt * self.tables.dt;
        for (&slot, state) in self.tables.slots.iter().zip(&self.states) {
            kept[slot] = (state.pressure * square) as f32;
        }
    }
}

#[inline(always)]
fn at(x: &Quad) -> [f64; 3] {
    [x[0].into(), x[1].into(), x[2].into()]
}
