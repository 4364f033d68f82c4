//! Reading strands: how far segments, bends and twists go, in double precision, and their energy.

use glam::DVec3;

use super::{
    Strands,
    frames::{angle_of_half_tangent, lay, unit},
};
use crate::kernel::{
    lanes::{BATCH, Quad},
    real::{V3, combine, cross, dot, sub},
};

/// What was measured of all strands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StrandMeasure {
    /// Largest and smallest strain of a segment.
    pub(crate) stretch: f64,
    pub(crate) compression: f64,
    /// Largest change of the turning of a joint past rest, over the mean length of its segments \[rad/m\].
    pub(crate) bend: f64,
    /// Largest change of twist past rest, likewise \[rad/m\]; 0 without frames.
    pub(crate) twist: f64,
    /// Vertex at which that segment or joint begins, of each of the four.
    pub(crate) vertices: [usize; 4],
}

impl StrandMeasure {
    fn see(value: &mut f64, vertex: &mut usize, found: f64, at: usize) {
        // What is not a number counts, too.
        if found > *value || found.is_nan() {
            (*value, *vertex) = (found, at);
        }
    }
}

impl Strands {
    /// Measures strands at `x` \[m\], with what is kept of them. Segments whose both ends are held count,
    /// too.
    pub(crate) fn measure(&self, x: &[Quad], kept: &[f32]) -> StrandMeasure {
        let mut all = StrandMeasure::default();
        let point = |v: usize| DVec3::new(x[v][0].into(), x[v][1].into(), x[v][2].into());
        for ((strip, rods), part) in self.strips.batches().iter().zip(&self.rods).zip(&self.parts) {
            let kept = kept[part.clone()].as_chunks::<BATCH>().0;
            for lane in 0..strip.count() {
                let first = strip.first(lane);
                let length = |j: usize| f64::from(rods.length[j].0[lane]);
                let edge = |j: usize| point(first + j + 1) - point(first + j);
                for j in 0..rods.segments() {
                    let strain = edge(j).length() / length(j) - 1.0;
                    StrandMeasure::see(&mut all.stretch, &mut all.vertices[0], strain, first + j);
                    let mut pressed = -all.compression;
                    StrandMeasure::see(&mut pressed, &mut all.vertices[1], -strain, first + j);
                    all.compression = -pressed;
                }
                for i in 1..rods.segments() {
                    let mean = 0.5 * (length(i - 1) + length(i));
                    let turning = edge(i - 1).angle_between(edge(i));
                    let rest = rods.turning.get(i).map_or(0.0, |row| f64::from(row.0[lane]));
                    let change = (turning - rest).abs() / mean;
                    StrandMeasure::see(&mut all.bend, &mut all.vertices[2], change, first + i);
                    if rods.is_curly {
                        let half = f64::from(kept[rods.segments() + i][lane]);
                        let change = (2.0 * half.atan() - f64::from(rods.rest_twist[i].0[lane])).abs() / mean;
                        StrandMeasure::see(&mut all.twist, &mut all.vertices[3], change, first + i);
                    }
                }
            }
        }
        all
    }

    /// By how much strands turn at each of `count` nodes without stress \[rad\]; 0 at ends.
    pub(crate) fn turnings(&self, count: usize) -> Vec<f64> {
        let mut turnings = vec![0.0; count];
        for (strip, rods) in self.strips.batches().iter().zip(&self.rods) {
            for lane in 0..strip.count() {
                for (i, row) in rods.turning.iter().enumerate().take(rods.segments()).skip(1) {
                    turnings[strip.first(lane) + i] = row.0[lane].into();
                }
            }
        }
        turnings
    }

    /// Energy of bending and twist \[J\].
    pub(crate) fn energy(&self, x: &[Quad], kept: &[f32]) -> f64 {
        let mut sum = 0.0;
        for ((strip, rods), part) in self.strips.batches().iter().zip(&self.rods).zip(&self.parts) {
            let kept = kept[part.clone()].as_chunks::<BATCH>().0;
            let n = rods.segments();
            let (mut frames, mut tangents) = (vec![[0.0; 3]; n], vec![[0.0; 3]; n]);
            for lane in 0..strip.count() {
                let point = |i: usize| {
                    let x = x[strip.first(lane) + i];
                    [x[0], x[1], x[2]].map(f64::from)
                };
                let edges: Vec<V3<f64>> = (0..n).map(|j| sub(point(j + 1), point(j))).collect();
                (0..n).for_each(|j| tangents[j] = unit(edges[j]));
                if rods.is_curly {
                    frames[0] = [0, 1, 2].map(|c| f64::from(kept[2 * n + c][lane]));
                    lay(&tangents, &mut frames, |j| f64::from(kept[n + j][lane]));
                }
                let unit_mass = f64::from(rods.unit.0[lane]);
                for i in 1..n {
                    let twist =
                        if rods.is_curly { angle_of_half_tangent(f64::from(kept[n + i][lane])) } else { 0.0 };
                    let pair = |of: &[V3<f64>]| [of[i - 1], of[i]];
                    let energy = rods.joint_energy(i, lane, pair(&edges), pair(&frames), twist);
                    sum += unit_mass * energy;
                }
            }
        }
        sum
    }
}

impl super::batch::Rods {
    /// Energy of joint `i` of a lane \[J / unit\], from its edges, the material directions m₁, and the twist.
    pub(super) fn joint_energy(
        &self,
        i: usize,
        lane: usize,
        [e0, e1]: [V3<f64>; 2],
        [m0, m1]: [V3<f64>; 2],
        twist: f64,
    ) -> f64 {
        let inverse = |j: usize| f64::from(self.inverse_length[j].0[lane]);
        let c = combine(e1, inverse(i), e0, -inverse(i - 1));
        let mut bent = 0.5 * dot(c, c);
        let mut energy = 0.0;
        if self.is_curly {
            let (t0, t1) = (unit(e0), unit(e1));
            let [k1, k2] = [0, 1].map(|k| f64::from(self.curvature[i][k].0[lane]));
            let a0 = combine(m0, k1, cross(t0, m0), k2);
            let a1 = combine(m1, k1, cross(t1, m1), k2);
            bent -= 0.5 * (dot(t1, a0) - dot(t0, a1));
            // The energy of the rest shape, so that this is 0 there.
            let square = k1 * k1 + k2 * k2;
            let cosine = 1.0 / (1.0 + square).sqrt();
            bent -= 1.0 - cosine - square * cosine;
            let change = twist - f64::from(self.rest_twist[i].0[lane]);
            energy = 0.5 * f64::from(self.twist[i].0[lane]) * change * change;
        }
        energy + f64::from(self.bend[i].0[lane]) * bent
    }
}
