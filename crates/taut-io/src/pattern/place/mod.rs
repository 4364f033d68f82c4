//! Where panels start: patterns are placed around a body roughly, and some so that they cannot be sewn there.
//!
//! Panels of one tube, such as front and back of a skirt, or of a sleeve, are moved up or down together.
//! Three things are looked at, on the body as thin as it is while seams close:
//! - the straight way from one side of a seam to the other should not lead through the body: shoulder seams
//!   are lifted above the shoulders, seams of sleeves lie above and below the arms;
//! - a tube must be wide enough, at every height, for the body inside it: a narrow waist that is placed at
//!   the hips would be stuck there, whatever pulls at it. This counts most, on the body as it is;
//! - the way should be short.
//!
//! Panels that start inside the body are moved out of it first, away from its middle; sleeves that start
//! inside the front and the back are drawn out along the arms in the end.

mod body;
mod fit;
mod layers;
mod sleeves;
#[cfg(test)]
mod tests;
mod tube;

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};
use taut::mesh::{TriangleMesh, thin::thin};

use self::{
    body::{Columns, Sections},
    sleeves::{SIDEWAYS, draw_out},
    tube::{ARMHOLE, best, tube},
};
pub(super) use self::{
    fit::tightest,
    layers::{Placed, over},
};
use super::{Panel, Pattern, Stitch, sew::Sets};

/// How much thinner the body is taken to be, in its radii: less than it will be, for some room.
const THINNER: f64 = 0.45;
/// Distance between samples of seams and of heights \[m\].
const SAMPLE: f64 = 0.02;
/// Shifts that are tried: up to so far, in steps \[m\].
const FARTHEST: f64 = 0.4;
const STEP: f64 = 0.01;
/// Weight of seams above armholes: a shoulder seam that meets below the shoulder stays there, a side seam
/// that begins above an arm is drawn below it by the rest.
const SHOULDER: f64 = 5.0;
/// Part of a panel's outline that must be sewn to another for the two to be moved together.
const TOGETHER: f64 = 0.1;
/// Distance within which two sides of a seam lie beside each other \[m\].
const BESIDE: f64 = 0.03;
/// Distance from the body at which panels start, and the largest way out of it \[m\].
const CLEAR: f64 = 0.02;
const WAY_OUT: f64 = 0.4;

/// A seam's two points that face each other, and their panels.
struct Pair {
    ends: [DVec3; 2],
    panels: [usize; 2],
    /// Length of the seam that it stands for \[m\].
    length: f64,
}

impl Pair {
    fn height(&self) -> f64 {
        0.5 * (self.ends[0].y + self.ends[1].y)
    }

    /// Whether the body is between its ends: one is in front of it, one behind.
    fn is_across(&self, middle: f64) -> bool {
        let [a, b] = self.ends;
        (a.z - middle) * (b.z - middle) < 0.0 && (a.z - b.z).abs() > 0.6 * a.distance(b)
    }

    /// Whether its ends are at one height, left and right of the body's middle, as those of the two halves of
    /// a front or of the legs of trousers are. Sleeves are on one side of it.
    fn is_mirrored(&self, middle: f64) -> bool {
        let [a, b] = self.ends;
        (a.y - b.y).abs() < BESIDE && (a.x - middle) * (b.x - middle) <= 0.0
    }
}

/// By panel that has to move: its shift \[m\].
pub(super) fn shifts(pattern: &Pattern, body: &TriangleMesh) -> BTreeMap<String, DVec3> {
    let x: Vec<DVec3> = body.positions.iter().map(|p| p.as_dvec3()).collect();
    let slim = thin(&body.triangles, &body.positions, THINNER);
    let columns = Columns::new(&body.triangles, slim.iter().map(|p| p.as_dvec3()).collect());
    let low = x.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let high = x.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
    let middle = 0.5 * (low + high);
    let outlines: Vec<Vec<DVec3>> = pattern.panels.iter().map(|panel| outline(pattern, panel)).collect();
    let mut shift: Vec<DVec3> = outlines.iter().map(|outline| way_out(outline, &columns, middle)).collect();
    let pairs = pairs(pattern, &shift);
    let groups = groups(pattern, &pairs, &outlines, middle);
    let mut sections = Sections::new(&body.triangles, &x, [low.y, high.y]);
    let mut parts: Vec<Part> = (0..outlines.len())
        .filter(|&k| groups[k] == k)
        .map(|group| Part::new(group, &groups, &pairs, &outlines, &shift, middle))
        .collect();
    // What hangs on the shoulders first, then from the top down, each beside what it is sewn to.
    parts.sort_by(|a, b| b.has_shoulders.cmp(&a.has_shoulders).then(b.height.total_cmp(&a.height)));
    let mut is_placed = vec![false; outlines.len()];
    for part in parts {
        let extent = sleeves::extent(part.group, &pairs, &groups, &outlines, &shift);
        let level = match extent {
            Some(along) if along.x.abs() < SIDEWAYS => {
                let above = along.y > 0.0;
                let level = level(part.group, above, &pairs, &groups, &is_placed, &shift);
                // Collars and hoods are not lowered into the shoulders.
                if above { level.max(0.0) } else { level }
            }
            _ => 0.0,
        };
        let up = best((&part.pairs, &part.weights), &part.widths, &columns, &mut sections, level);
        for k in (0..outlines.len()).filter(|&k| groups[k] == part.group) {
            shift[k].y += up;
            is_placed[k] = true;
        }
    }
    draw_out(&pairs, &groups, &outlines, &mut shift);
    let moved = |(panel, shift): (&Panel, DVec3)| {
        let shift = (1e3 * shift).round() / 1e3 + DVec3::ZERO;
        (shift != DVec3::ZERO).then(|| (panel.name.clone(), shift))
    };
    pattern.panels.iter().zip(shift).filter_map(moved).collect()
}

/// Panels that are moved together.
struct Part<'a> {
    group: usize,
    /// Pairs of its seams around the body, and how much each counts.
    pairs: Vec<&'a Pair>,
    weights: Vec<f64>,
    /// Heights of its tube and widths there \[m\].
    widths: Vec<[f64; 2]>,
    has_shoulders: bool,
    /// Mean height of its outlines \[m\].
    height: f64,
}

impl<'a> Part<'a> {
    fn new(
        group: usize,
        groups: &[usize],
        all: &'a [Pair],
        outlines: &[Vec<DVec3>],
        shift: &[DVec3],
        middle: DVec3,
    ) -> Self {
        let is_own = |panel: usize| groups[panel] == group;
        let pairs: Vec<&Pair> =
            all.iter().filter(|p| p.panels.iter().all(|&k| is_own(k)) && p.is_across(middle.z)).collect();
        let members: Vec<Vec<DVec3>> = (0..outlines.len())
            .filter(|&k| is_own(k))
            .map(|k| outlines[k].iter().map(|p| *p + shift[k]).collect())
            .collect();
        let widths = tube(&pairs, &members, middle);
        let top = widths.last().map_or(f64::INFINITY, |[height, _]| height + ARMHOLE);
        let weights =
            pairs.iter().map(|pair| pair.length * if pair.height() > top { SHOULDER } else { 1.0 }).collect();
        let has_shoulders = pairs.iter().any(|pair| pair.height() > top);
        let points = members.iter().flatten();
        let height = points.clone().map(|p| p.y).sum::<f64>() / points.count().max(1) as f64;
        Self { group, pairs, weights, widths, has_shoulders, height }
    }
}

/// How far a group moves up to begin where what it is sewn to, and what is placed already, ends \[m\]: its
/// seams would pull that down otherwise, a dress off its shoulders. Nowhere above it, or below it if it is
/// `above`, since panels that overlap at a seam intersect when it is closed.
fn level(
    group: usize,
    above: bool,
    pairs: &[Pair],
    groups: &[usize],
    is_placed: &[bool],
    shift: &[DVec3],
) -> f64 {
    let mut ways = Vec::new();
    for pair in pairs {
        for side in 0..2 {
            let [own, other] = [pair.panels[side], pair.panels[1 - side]];
            if groups[own] == group && groups[other] != group && is_placed[other] {
                ways.push(pair.ends[1 - side].y + shift[other].y - pair.ends[side].y);
            }
        }
    }
    let way = if above { ways.into_iter().reduce(f64::max) } else { ways.into_iter().reduce(f64::min) };
    way.unwrap_or(0.0).clamp(-FARTHEST, FARTHEST)
}

/// The placed outline of a panel \[m\].
fn outline(pattern: &Pattern, panel: &Panel) -> Vec<DVec3> {
    let mut points = Vec::new();
    for &number in &panel.order {
        let curve = &panel.edges[number].curve;
        let count = (curve.length() / pattern.units / SAMPLE).ceil().clamp(1.0, 1000.0) as usize;
        points.extend(curve.points(count)[..count].iter().map(|p| panel.place(*p) / pattern.units));
    }
    points
}

/// Points of all seams that face each other, with panels moved by `shift` \[m\].
fn pairs(pattern: &Pattern, shift: &[DVec3]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for Stitch { sides, is_right_wrong } in &pattern.stitches {
        let length = 0.5 * sides.iter().map(|side| pattern.length(*side)).sum::<f64>();
        let count = (length / SAMPLE).ceil().clamp(1.0, 1000.0) as usize;
        let [a, mut b] = sides.map(|side| {
            let panel = &pattern.panels[side.panel];
            let points = panel.edges[side.edge].curve.points(count);
            let place = |p: &DVec2| panel.place(*p) / pattern.units + shift[side.panel];
            points.iter().map(place).collect::<Vec<DVec3>>()
        });
        if !is_right_wrong {
            b.reverse();
        }
        let panels = sides.map(|side| side.panel);
        let ends = a.into_iter().zip(b);
        pairs.extend(ends.map(|(a, b)| Pair { ends: [a, b], panels, length: length / (count + 1) as f64 }));
    }
    pairs
}

/// By panel: the lowest of those that it is moved together with.
fn groups(pattern: &Pattern, pairs: &[Pair], outlines: &[Vec<DVec3>], middle: DVec3) -> Vec<usize> {
    let mut shared: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for pair in pairs {
        let [a, b] = pair.panels;
        let is_near = pair.ends[0].distance(pair.ends[1]) < BESIDE;
        if a != b && (pair.is_across(middle.z) || pair.is_mirrored(middle.x) || is_near) {
            *shared.entry([a.min(b), a.max(b)]).or_default() += pair.length;
        }
    }
    let perimeter = |panel: usize| {
        let points = &outlines[panel];
        (0..points.len()).map(|k| points[k].distance(points[(k + 1) % points.len()])).sum::<f64>()
    };
    let mut sets = Sets::new(pattern.panels.len());
    for ([a, b], length) in shared {
        if length > TOGETHER * perimeter(a).min(perimeter(b)) {
            sets.join(a, b);
        }
    }
    (0..pattern.panels.len()).map(|panel| sets.root(panel)).collect()
}

/// How far a panel must move to start outside the body \[m\], away from its `middle` along the panel's
/// normal.
fn way_out(outline: &[DVec3], columns: &Columns, middle: DVec3) -> DVec3 {
    let center = outline.iter().sum::<DVec3>() / outline.len().max(1) as f64;
    let turn: DVec3 = (0..outline.len())
        .map(|k| (outline[k] - center).cross(outline[(k + 1) % outline.len()] - center))
        .sum();
    // Only fronts and backs: panels that face sideways have no clear way out.
    let out = DVec3::new(0.0, 0.0, if center.z < middle.z { -1.0 } else { 1.0 });
    if turn.normalize_or_zero().z.abs() < 0.7 {
        return DVec3::ZERO;
    }
    let far = |p: DVec3| columns.farthest(p, p + WAY_OUT * out).map_or(0.0, |hit| hit + CLEAR);
    // Points between the middle and the outline stand for the panel.
    let samples = outline.iter().flat_map(|p| [0.0, 0.33, 0.66, 1.0].map(|s| center + s * (*p - center)));
    out * samples.map(far).fold(0.0, f64::max).min(WAY_OUT)
}
