//! How far up or down the panels of one tube are moved.

use glam::DVec3;

use super::{
    FARTHEST, Pair, SAMPLE, STEP,
    body::{Columns, Sections},
};

/// Cost of a tube that is too narrow, for its largest relative lack of width; of all ways of its seams being
/// blocked; and of a shift up or down \[1/m\]: cloth sinks by itself, but does not climb, and a narrow waist
/// fits above the hips as well as around the thighs, where nothing would hold it.
const NARROW: f64 = 20.0;
const BLOCKED: f64 = 1.0;
const FAR_UP: f64 = 0.8;
const FAR_DOWN: f64 = 3.0;
/// Steps above and below in which ways should be free as well: panels do not stay at their height.
const ROOM: i32 = 4;
/// Relative lack of width that stretch makes up for.
const STRETCH: f64 = 0.03;
/// Gap in the heights of side seams that ends a tube: an armhole \[m\].
pub(super) const ARMHOLE: f64 = 0.05;

/// Heights of a tube around the body, from its hem to its armholes, and its width there \[m\]. None of it for
/// panels that are on one side of the body, such as sleeves.
pub(super) fn tube(pairs: &[&Pair], outlines: &[Vec<DVec3>], middle: DVec3) -> Vec<[f64; 2]> {
    let side = |is_left: bool| {
        let mut heights: Vec<f64> = pairs
            .iter()
            .filter(|pair| (0.5 * (pair.ends[0].x + pair.ends[1].x) < middle.x) == is_left)
            .map(|pair| pair.height())
            .collect();
        heights.sort_by(f64::total_cmp);
        let end = heights.windows(2).find(|two| two[1] - two[0] > ARMHOLE).map(|two| two[0]);
        Some([*heights.first()?, end.or(heights.last().copied())?])
    };
    let (Some(left), Some(right)) = (side(true), side(false)) else { return Vec::new() };
    let (from, to) = (left[0].max(right[0]), left[1].min(right[1]));
    // Just inside the ends, where outlines have corners.
    let count = ((to - from) / SAMPLE).ceil().clamp(0.0, 1000.0) as usize;
    let at = |k: usize| from + (to - from) * (0.02 + 0.96 * k as f64 / count as f64);
    (0..=count)
        .filter(|_| count > 0)
        .map(|k| [at(k), outlines.iter().map(|outline| width(outline, at(k))).sum()])
        .collect()
}

/// Width of a panel at a height \[m\]: without what its darts take.
pub(super) fn width(outline: &[DVec3], height: f64) -> f64 {
    let mut cuts: Vec<DVec3> = Vec::new();
    for (k, a) in outline.iter().enumerate() {
        let b = outline[(k + 1) % outline.len()];
        if (a.y > height) != (b.y > height) {
            cuts.push(*a + (b - *a) * ((height - a.y) / (b.y - a.y)));
        }
    }
    cuts.sort_by(|a, b| (a.x, a.z).partial_cmp(&(b.x, b.z)).unwrap_or(std::cmp::Ordering::Equal));
    cuts.chunks_exact(2).map(|two| two[0].distance(two[1])).sum()
}

/// The shift up that costs least \[m\]; `level` is the one that costs nothing by itself.
pub(super) fn best(
    (pairs, weights): (&[&Pair], &[f64]),
    tube: &[[f64; 2]],
    columns: &Columns,
    sections: &mut Sections,
    level: f64,
) -> f64 {
    let steps = (FARTHEST / STEP).round() as i32;
    let mut best = (f64::INFINITY, 0.0);
    let all: f64 = pairs.iter().map(|pair| pair.length).sum();
    let blocked = |k: i32| {
        let moved = DVec3::new(0.0, STEP * f64::from(k), 0.0);
        let is_hit = |pair: &Pair| columns.is_hit(pair.ends[0] + moved, pair.ends[1] + moved);
        pairs.iter().zip(weights).filter(|(pair, _)| is_hit(pair)).map(|(_, weight)| weight).sum::<f64>()
    };
    let blocked: Vec<f64> = (-steps - ROOM..=steps + ROOM).map(blocked).collect();
    // The nearest first, up before down.
    for k in (0..=2 * steps).map(|k| if k % 2 == 1 { (k + 1) / 2 } else { -(k / 2) }) {
        let up = STEP * f64::from(k);
        let around = &blocked[(k + steps) as usize..=(k + steps + 2 * ROOM) as usize];
        let blocked = around.iter().sum::<f64>() / around.len() as f64;
        let lack = tube.iter().map(|&[height, width]| {
            sections.perimeter(height + up) / (width.max(1e-3) * (1.0 + STRETCH)) - 1.0
        });
        let narrow = lack.fold(0.0, f64::max).min(1.0);
        let far = up - level;
        let cost = BLOCKED * blocked / all.max(1e-9)
            + NARROW * narrow
            + if far > 0.0 { FAR_UP * far } else { -FAR_DOWN * far };
        if cost < best.0 - 1e-9 {
            best = (cost, up);
        }
    }
    best.1
}
