//! What strands keep from step to step, taken from strands that were cut otherwise; and their tensions.

use super::{
    Strands,
    frames::{orthogonal, twisted, unit},
};
use crate::kernel::{
    lanes::{BATCH, Quad},
    real::{V3, sub},
};

/// Where what a strand keeps is: its first number, and whether it has frames.
struct Place {
    first_point: usize,
    nodes: usize,
    /// In what all keep; numbers of a strand are [`BATCH`] apart.
    at: usize,
    is_curly: bool,
}

impl Strands {
    /// All strands by their first points.
    fn kept_places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for ((strip, rods), part) in self.strips.batches().iter().zip(&self.rods).zip(&self.parts) {
            places.extend((0..strip.count()).map(|lane| Place {
                first_point: strip.first(lane),
                nodes: rods.nodes,
                at: part.start + lane,
                is_curly: rods.is_curly,
            }));
        }
        places.sort_unstable_by_key(|place| place.first_point);
        places
    }

    /// Tensions that are `kept`, by point of all strands: of the segment before it \[N\], 0 of a first point.
    pub(crate) fn tensions(&self, kept: &[f32]) -> Vec<f32> {
        let mut tensions = vec![0.0; self.masses.len()];
        for place in self.kept_places() {
            for j in 0..place.nodes - 1 {
                tensions[place.first_point + j + 1] = kept[place.at + j * BATCH];
            }
        }
        tensions
    }

    /// Takes what the strands `before` kept, `old`, to `kept`, which was [begun](Self::begin): of segments
    /// and joints that both have. Points are the same, at `x` \[m\].
    pub(crate) fn carry(&self, (before, old): (&Self, &[f32]), x: &[Quad], kept: &mut [f32]) {
        let places = before.kept_places();
        for ((strip, rods), part) in self.strips.batches().iter().zip(&self.rods).zip(&self.parts) {
            for lane in 0..BATCH {
                // Lanes beyond the strands are copies of the last.
                let first = strip.first(lane);
                let found = places.partition_point(|place| place.first_point <= first);
                let Some(from) = found.checked_sub(1).map(|k| &places[k]) else { continue };
                let (n, at) = (rods.segments(), part.start + lane);
                // Of a segment that the strand before had: its number there.
                let there = |j: usize| Some(first + j - from.first_point).filter(|k| k + 1 < from.nodes);
                for j in 0..n {
                    let Some(k) = there(j) else { continue };
                    kept[at + j * BATCH] = old[from.at + k * BATCH];
                    if rods.is_curly && from.is_curly && j > 0 {
                        kept[at + (n + j) * BATCH] = old[from.at + (from.nodes - 1 + k) * BATCH];
                    }
                }
                if rods.is_curly && from.is_curly && there(0).is_some() {
                    let frame = from.frame(first - from.first_point, old, x);
                    (0..3).for_each(|c| kept[at + (2 * n + c) * BATCH] = frame[c]);
                }
            }
        }
    }
}

impl Place {
    /// The direction m₁ of segment `segment` of this strand, whose points are among `x` \[m\].
    fn frame(&self, segment: usize, old: &[f32], x: &[Quad]) -> V3<f32> {
        let n = self.nodes - 1;
        let kept = |k: usize| old[self.at + k * BATCH];
        let point = |v: usize| -> V3<f32> { [x[v][0], x[v][1], x[v][2]] };
        let tangent = |j: usize| {
            let v = self.first_point + j;
            unit(sub(point(v + 1), point(v)))
        };
        let mut t = tangent(0);
        let mut m = orthogonal([0, 1, 2].map(|c| kept(2 * n + c)), t);
        for j in 1..=segment {
            let next = tangent(j);
            m = twisted((t, m), next, kept(n + j));
            t = next;
        }
        m
    }
}
