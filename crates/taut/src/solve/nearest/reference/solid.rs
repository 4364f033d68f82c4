//! Tetrahedra of the reference: their law inside the limits, and the limits, in double precision.

use super::Sums;
use crate::{
    kernel::{
        lanes::BATCH,
        real::{V3, add, dot, scale, sub},
        strain::Range,
        tetrahedron::{
            M3, ease_stretches3, eased_stretches3, gradient3, press_stretches3, pressed_gain3, residual3,
        },
    },
    term::tetrahedra::{self, local::columns},
};

/// One of them.
struct Tetrahedron {
    vertices: [usize; 4],
    /// Columns of the inverse rest matrix.
    rest: M3<f64>,
    /// Weight in the matrix.
    volume: f64,
    range: Range<f64>,
    /// Lamé's second and first parameter, in the units of κ.
    elastic: [f64; 2],
    dual: M3<f64>,
}

impl Tetrahedron {
    /// Its gradient at `x`, and its dual.
    fn shape(&self, x: &[V3<f64>]) -> M3<f64> {
        let has = gradient3(&self.vertices.map(|v| x[v]), &self.rest);
        [0, 1, 2].map(|k| add(has[k], self.dual[k]))
    }

    fn moduli(&self, kappa: f64) -> [f64; 3] {
        [self.elastic[0], self.elastic[1], kappa]
    }

    fn pressure(&self, rings: &[Ring]) -> f64 {
        self.vertices.iter().map(|&v| rings[v].pressure).sum::<f64>() / 4.0
    }
}

/// All of a filter, with their duals.
pub(super) struct Tetrahedra {
    list: Vec<Tetrahedron>,
    rings: Vec<Ring>,
}

/// The volume around a vertex, which resists changes where solids are nearly incompressible.
#[derive(Clone, Default)]
struct Ring {
    /// Weighted volume.
    volume: f64,
    /// How stiff it is, in the units of κ; 0: not at all.
    bulk: f64,
    /// Weighted sum of 2 μ + 3 λ.
    stiffness: f64,
    pressure: f64,
}

/// Sweeps over pressures in an iteration.
const SWEEPS: usize = 4;

impl Tetrahedra {
    pub fn new(tables: &tetrahedra::Tetrahedra, vertex_count: usize, stiffening: f64) -> Self {
        let tetrahedron = |t: usize| {
            let (batch, lane) = (&tables.batches[t / BATCH], t % BATCH);
            let [min, max] = batch.range.map(|limits| f64::from(limits[lane]));
            Tetrahedron {
                vertices: batch.vertices(lane),
                rest: columns(batch.rest.map(|r| f64::from(r[lane]))),
                volume: f64::from(batch.volume[lane]),
                range: Range { min, max },
                elastic: batch.elastic.map(|modulus| stiffening * f64::from(modulus[lane])),
                dual: [[0.0; 3]; 3],
            }
        };
        let list: Vec<Tetrahedron> = (0..tables.count).map(tetrahedron).collect();
        if tables.bulks.iter().all(|bulk| *bulk <= 0.0) {
            return Self { list, rings: Vec::new() };
        }
        let mut rings = vec![Ring::default(); vertex_count];
        for (t, bulk) in list.iter().zip(&tables.bulks).filter(|(_, bulk)| **bulk > 0.0) {
            for v in t.vertices {
                rings[v].volume += t.volume;
                rings[v].bulk = stiffening * bulk;
                rings[v].stiffness += t.volume * (2.0 * t.elastic[0] + 3.0 * t.elastic[1]);
            }
        }
        Self { list, rings }
    }

    /// New pressures, by steepest ascent. Gives how far they are from what volumes ask for (relative volume,
    /// root of the mean square).
    fn press(&mut self, x: &[V3<f64>], kappa: f64) -> f64 {
        let mut off = 0.0;
        for _ in 0..SWEEPS {
            let mut gains = vec![0.0; self.rings.len()];
            for t in &self.list {
                let eased = eased_stretches3(&t.shape(x), t.moduli(kappa));
                let pressure = t.pressure(&self.rings);
                let gain = t.volume * pressed_gain3(&eased, t.range, t.moduli(kappa), pressure);
                t.vertices.iter().for_each(|&v| gains[v] += gain);
            }
            let (mut sum, mut count) = (0.0, 0.0);
            for (ring, gain) in self.rings.iter_mut().zip(gains).filter(|(ring, _)| ring.bulk > 0.0) {
                let miss = gain / ring.volume - ring.pressure / ring.bulk;
                let third = (kappa + ring.stiffness / ring.volume) / 3.0;
                ring.pressure += 0.7 * miss / (1.0 / third + 1.0 / ring.bulk);
                sum += miss * miss;
                count += 1.0;
            }
            off = (sum / f64::max(count, 1.0)).sqrt();
        }
        off
    }

    /// Adds what they pull at `x`, with their new duals. Gives the largest residual past a limit, and what
    /// they ask for less what they have.
    pub fn add(&mut self, x: &[V3<f64>], kappa: f64, sums: &mut Sums) -> [f64; 2] {
        let (mut worst, mut gap, mut volume) = (0.0f64, 0.0, 0.0);
        let off = if self.rings.is_empty() { 0.0 } else { self.press(x, kappa) };
        for t in &mut self.list {
            let corners = t.vertices.map(|v| x[v]);
            worst = worst.max(residual3(&corners, &t.rest, t.range));
            let u = t.dual;
            let f = t.shape(x);
            let moved = if self.rings.is_empty() {
                ease_stretches3(&f, t.range, t.elastic[0], t.elastic[1], kappa)
            } else {
                press_stretches3(&f, t.range, t.moduli(kappa), t.pressure(&self.rings))
            };
            let both = [0, 1, 2].map(|k| add(scale(moved[k], 2.0), u[k]));
            let weight = kappa * t.volume;
            pull(&mut sums.forces, t, both, weight);
            pull(&mut sums.balance, t, moved, weight);
            t.dual = moved.map(|m| scale(m, -1.0));
            // p − Bx = (p − f) + u.
            gap += t.volume * (0..3).map(|k| add(moved[k], u[k])).map(|g| dot(g, g)).sum::<f64>();
            volume += t.volume;
        }
        [worst, (gap / volume.max(1e-30)).sqrt().max(off)]
    }
}

/// Adds what a gradient times `weight` pulls at the four corners.
fn pull(sums: &mut [V3<f64>], t: &Tetrahedron, gradient: M3<f64>, weight: f64) {
    let mut first = [0.0; 3];
    for i in 0..3 {
        let along = (0..3).fold([0.0; 3], |sum, k| add(sum, scale(gradient[k], t.rest[k][i])));
        let corner = scale(along, weight);
        first = sub(first, corner);
        let v = t.vertices[i + 1];
        sums[v] = add(sums[v], corner);
    }
    sums[t.vertices[0]] = add(sums[t.vertices[0]], first);
}
