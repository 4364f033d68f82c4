//! Strands with another number of segments, on smooth curves through their points.

use std::ops::Range;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::Groom;

/// Samples of the curve between two points, by which its length is measured.
const SAMPLES: usize = 8;

impl Groom {
    /// The same strands with `segments` segments each, evenly spaced along a Catmull–Rom curve through their
    /// points; strands that have as many stay as they are. Roots and tips stay where they are, and curves
    /// keep their shape as far as `segments` can show it. Radii follow linearly.
    pub fn resampled(&self, segments: u32) -> Self {
        let count = segments.max(1) as usize + 1;
        let strands: Vec<Range<usize>> = self.strands().collect();
        let one = |own: &Range<usize>| {
            let positions = &self.positions[own.clone()];
            let radii = self.radii.get(own.clone()).unwrap_or_default();
            if positions.len() == count || positions.len() < 2 {
                return (positions.to_vec(), radii.to_vec());
            }
            let places = places(positions, count);
            let radius = |&(k, t): &(usize, f64)| {
                let [a, b] = [k, (k + 1).min(positions.len() - 1)].map(|v| f64::from(radii[v]));
                (a + (b - a) * t) as f32
            };
            let radii = if radii.is_empty() { Vec::new() } else { places.iter().map(radius).collect() };
            (places.iter().map(|&(k, t)| at(positions, k, t).as_vec3()).collect(), radii)
        };
        let made: Vec<(Vec<Vec3>, Vec<f32>)> = strands.par_iter().map(one).collect();
        let mut groom = Self { counts: Vec::with_capacity(made.len()), ..Self::default() };
        for (positions, radii) in made {
            groom.counts.push(positions.len() as u32);
            groom.positions.extend(positions);
            groom.radii.extend(radii);
        }
        groom
    }
}

/// Where `count` points are that are evenly spaced along the curve: after which point, and how far to the
/// next.
fn places(positions: &[Vec3], count: usize) -> Vec<(usize, f64)> {
    // Arc length at samples of the curve.
    let mut along = vec![0.0];
    let mut last = positions[0].as_dvec3();
    for k in 0..positions.len() - 1 {
        for sample in 1..=SAMPLES {
            let x = at(positions, k, sample as f64 / SAMPLES as f64);
            along.push(along[along.len() - 1] + x.distance(last));
            last = x;
        }
    }
    let total = along[along.len() - 1];
    let place = |i: usize| {
        if i == 0 {
            return (0, 0.0);
        }
        if i + 1 == count {
            return (positions.len() - 2, 1.0);
        }
        let wanted = total * i as f64 / (count - 1) as f64;
        let sample = along.partition_point(|&s| s < wanted).clamp(1, along.len() - 1);
        let (from, to) = (along[sample - 1], along[sample]);
        let part = if to > from { ((wanted - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        let at = (sample - 1) as f64 + part;
        let k = ((at / SAMPLES as f64) as usize).min(positions.len() - 2);
        (k, at / SAMPLES as f64 - k as f64)
    };
    (0..count).map(place).collect()
}

/// The Catmull–Rom curve through `positions`, `t` (0 … 1) of the way from point `k` to the next \[m\].
fn at(positions: &[Vec3], k: usize, t: f64) -> DVec3 {
    let x = |v: usize| positions[v].as_dvec3();
    let (b, c) = (x(k), x(k + 1));
    if t <= 0.0 {
        return b;
    }
    if t >= 1.0 {
        return c;
    }
    // Beyond its ends the strand goes on by a parabola, and where there are two points straight on.
    let (before, after) = (k.checked_sub(1).map(x), (k + 2 < positions.len()).then(|| x(k + 2)));
    let (a, d) = match (before, after) {
        (Some(a), Some(d)) => (a, d),
        (Some(a), None) => (a, 3.0 * (c - b) + a),
        (None, Some(d)) => (3.0 * (b - c) + d, d),
        (None, None) => (2.0 * b - c, 2.0 * c - b),
    };
    let cubic = 3.0 * (b - c) + d - a;
    let square = 2.0 * a - 5.0 * b + 4.0 * c - d;
    b + 0.5 * t * ((c - a) + t * (square + t * cubic))
}
