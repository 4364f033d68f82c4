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

use std::collections::{BTreeMap, HashMap};

use glam::{DVec2, DVec3};
use taut::mesh::{TriangleMesh, thin::thin};

use super::{Panel, Pattern, Stitch, sew::Sets};

/// How much thinner the body is taken to be, in its radii: less than it will be, for some room.
const THINNER: f64 = 0.45;
/// Distance between samples of seams and of heights \[m\].
const SAMPLE: f64 = 0.02;
/// Shifts that are tried: up to so far, in steps \[m\].
const FARTHEST: f64 = 0.4;
const STEP: f64 = 0.01;
/// Cost of a tube that is too narrow, for its largest relative lack of width; of all ways of its seams being
/// blocked; and of a shift up or down \[1/m\]: cloth sinks by itself, but does not climb, and a narrow waist
/// fits above the hips as well as around the thighs, where nothing would hold it.
const NARROW: f64 = 20.0;
const BLOCKED: f64 = 1.0;
const FAR_UP: f64 = 0.8;
const FAR_DOWN: f64 = 3.0;
/// How far sideways a group must extend from its seams, as a cosine, to be a sleeve.
const SIDEWAYS: f64 = 0.4;
/// Weight of seams above armholes: a shoulder seam that meets below the shoulder stays there, a side seam
/// that begins above an arm is drawn below it by the rest.
const SHOULDER: f64 = 5.0;
/// Steps above and below in which ways should be free as well: panels do not stay at their height.
const ROOM: i32 = 4;
/// Relative lack of width that stretch makes up for.
const STRETCH: f64 = 0.03;
/// Part of a panel's outline that must be sewn to another for the two to be moved together.
const TOGETHER: f64 = 0.1;
/// Distance within which two sides of a seam lie beside each other \[m\].
const BESIDE: f64 = 0.03;
/// Gap in the heights of side seams that ends a tube: an armhole \[m\].
const ARMHOLE: f64 = 0.05;
/// Where armpits are looked for, in heights of the body; and how much wider its section gets there, at once.
const CHEST: [f64; 2] = [0.55, 0.9];
const WITH_ARMS: f64 = 1.25;
/// Perimeter of a part of the body's section, over that of the largest, from which on it belongs to it: legs
/// do, hands beside the hips do not.
const LEG: f64 = 0.5;
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
    let groups = groups(pattern, &pairs, &outlines, middle.z);
    let mut sections = Sections::new(&body.triangles, &x, [low.y, high.y]);
    let mut names: Vec<usize> = groups.clone();
    names.sort_unstable();
    names.dedup();
    for group in names {
        let is_own = |panel: usize| groups[panel] == group;
        let own: Vec<&Pair> =
            pairs.iter().filter(|p| p.panels.iter().all(|&k| is_own(k)) && p.is_across(middle.z)).collect();
        let members: Vec<Vec<DVec3>> = (0..outlines.len())
            .filter(|&k| is_own(k))
            .map(|k| outlines[k].iter().map(|p| *p + shift[k]).collect())
            .collect();
        let widths = tube(&own, &members, middle);
        let top = widths.last().map_or(f64::INFINITY, |[height, _]| height + ARMHOLE);
        let weights: Vec<f64> =
            own.iter().map(|pair| pair.length * if pair.height() > top { SHOULDER } else { 1.0 }).collect();
        let up = best((&own, &weights), &widths, &columns, &mut sections);
        (0..outlines.len()).filter(|&k| is_own(k)).for_each(|k| shift[k].y += up);
    }
    draw_out(&pairs, &groups, &outlines, &mut shift);
    let moved = |(panel, shift): (&Panel, DVec3)| {
        let shift = (1e3 * shift).round() / 1e3 + DVec3::ZERO;
        (shift != DVec3::ZERO).then(|| (panel.name.clone(), shift))
    };
    pattern.panels.iter().zip(shift).filter_map(moved).collect()
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
fn groups(pattern: &Pattern, pairs: &[Pair], outlines: &[Vec<DVec3>], middle: f64) -> Vec<usize> {
    let mut shared: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for pair in pairs {
        let [a, b] = pair.panels;
        if a != b && (pair.is_across(middle) || pair.ends[0].distance(pair.ends[1]) < BESIDE) {
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

/// Heights of a tube around the body, from its hem to its armholes, and its width there \[m\]. None of it for
/// panels that are on one side of the body, such as sleeves.
fn tube(pairs: &[&Pair], outlines: &[Vec<DVec3>], middle: DVec3) -> Vec<[f64; 2]> {
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

/// Moves sleeves along the arm until they are beside what they are sewn to: inside it, they would have to
/// pass through it, and what intersects at an armhole when the body grows tears at the sleeve.
fn draw_out(pairs: &[Pair], groups: &[usize], outlines: &[Vec<DVec3>], shift: &mut [DVec3]) {
    let members = |group: usize| (0..groups.len()).filter(move |&k| groups[k] == group);
    for group in 0..groups.len() {
        // Seams to others, and from them the direction in which the group extends.
        let mut seam = Vec::new();
        let mut others = Vec::new();
        for pair in pairs {
            for side in 0..2 {
                let [own, other] = [pair.panels[side], pair.panels[1 - side]];
                if groups[own] == group && groups[other] != group {
                    seam.push(pair.ends[side] + DVec3::Y * (shift[own].y));
                    others.push([own, other]);
                }
            }
        }
        let count: usize = members(group).map(|k| outlines[k].len()).sum();
        if seam.is_empty() || count == 0 {
            continue;
        }
        let all = members(group).flat_map(|k| outlines[k].iter().map(move |p| (k, *p)));
        let center = all.map(|(k, p)| p + DVec3::Y * shift[k].y).sum::<DVec3>() / count as f64;
        let along = (center - seam.iter().sum::<DVec3>() / seam.len() as f64).with_z(0.0).normalize_or_zero();
        // Sleeves extend sideways; skirts and collars, up and down, are put on as they are.
        if along.x.abs() < SIDEWAYS {
            continue;
        }
        others.sort_unstable();
        others.dedup();
        // Fronts with fronts, backs with backs.
        others.retain(|&[a, b]| mean(&outlines[a]).z * mean(&outlines[b]).z > 0.0);
        let flat = |panel: usize, by: DVec3| -> Vec<DVec2> {
            outlines[panel].iter().map(|p| (*p + shift[panel] + by).truncate()).collect()
        };
        let is_free = |by: DVec3| {
            others.iter().all(|&[own, other]| !overlap(&flat(own, by), &flat(other, DVec3::ZERO)))
        };
        let ways = (0..=(FARTHEST / STEP) as i32).map(|k| along * (STEP * f64::from(k)));
        if let Some(way) = ways.clone().find(|way| is_free(*way)) {
            members(group).for_each(|k| shift[k] += way);
        }
    }
}

fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len().max(1) as f64
}

/// Whether two polygons have points in common.
fn overlap(a: &[DVec2], b: &[DVec2]) -> bool {
    let sides =
        |p: &[DVec2]| -> Vec<[DVec2; 2]> { (0..p.len()).map(|k| [p[k], p[(k + 1) % p.len()]]).collect() };
    let contains = |polygon: &[DVec2], p: DVec2| {
        let crosses = |[a, b]: &[DVec2; 2]| {
            (a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y)
        };
        sides(polygon).iter().filter(|side| crosses(side)).count() % 2 == 1
    };
    let turn = |a: DVec2, b: DVec2, c: DVec2| (b - a).perp_dot(c - a);
    let meet = |[a, b]: &[DVec2; 2], [c, d]: &[DVec2; 2]| {
        turn(*a, *b, *c) * turn(*a, *b, *d) < 0.0 && turn(*c, *d, *a) * turn(*c, *d, *b) < 0.0
    };
    let (of_a, of_b) = (sides(a), sides(b));
    of_a.iter().any(|s| of_b.iter().any(|t| meet(s, t)))
        || a.iter().any(|p| contains(b, *p))
        || b.iter().any(|p| contains(a, *p))
}

/// Width of a panel at a height \[m\]: without what its darts take.
fn width(outline: &[DVec3], height: f64) -> f64 {
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

/// The shift up that costs least \[m\].
fn best(
    (pairs, weights): (&[&Pair], &[f64]),
    tube: &[[f64; 2]],
    columns: &Columns,
    sections: &mut Sections,
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
        let cost = BLOCKED * blocked / all.max(1e-9)
            + NARROW * narrow
            + if up > 0.0 { FAR_UP * up } else { -FAR_DOWN * up };
        if cost < best.0 - 1e-9 {
            best = (cost, up);
        }
    }
    best.1
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

/// Triangles by the cell of the xy plane that they are over.
struct Columns {
    x: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    cells: HashMap<[i32; 2], Vec<u32>>,
}

impl Columns {
    fn new(triangles: &[[u32; 3]], x: Vec<DVec3>) -> Self {
        let mut cells: HashMap<[i32; 2], Vec<u32>> = HashMap::new();
        for (t, corners) in (0..).zip(triangles) {
            let corners = corners.map(|v| x[v as usize]);
            for cell in over(&corners) {
                cells.entry(cell).or_default().push(t);
            }
        }
        Self { x, triangles: triangles.to_vec(), cells }
    }

    /// Distances from `a` at which the way from `a` to `b` meets the surface \[m\].
    fn hits(&self, a: DVec3, b: DVec3) -> impl Iterator<Item = f64> {
        let length = a.distance(b);
        over(&[a, b]).into_iter().filter_map(|cell| self.cells.get(&cell)).flatten().filter_map(move |&t| {
            let [p, q, r] = self.triangles[t as usize].map(|v| self.x[v as usize]);
            crossing(a, b, [p, q, r]).map(|part| part * length)
        })
    }

    fn is_hit(&self, a: DVec3, b: DVec3) -> bool {
        self.hits(a, b).next().is_some()
    }

    fn farthest(&self, a: DVec3, b: DVec3) -> Option<f64> {
        self.hits(a, b).reduce(f64::max)
    }
}

/// Cells of the xy plane under the box of some points.
fn over(points: &[DVec3]) -> Vec<[i32; 2]> {
    let cell = |p: DVec3| [p.x, p.y].map(|k| (k / SAMPLE).floor() as i32);
    let low = cell(points.iter().fold(DVec3::INFINITY, |low, p| low.min(*p)));
    let high = cell(points.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p)));
    (low[0]..=high[0]).flat_map(|i| (low[1]..=high[1]).map(move |j| [i, j])).collect()
}

/// Where the way from `a` to `b` passes through a triangle, as a fraction of it.
fn crossing(a: DVec3, b: DVec3, [p, q, r]: [DVec3; 3]) -> Option<f64> {
    let volume = |u: DVec3, v: DVec3, w: DVec3| u.dot(v.cross(w));
    let (along, p, q, r) = (b - a, p - a, q - a, r - a);
    let parts = [volume(along, p, q), volume(along, q, r), volume(along, r, p)];
    let is_inside = parts.iter().all(|part| *part >= 0.0) || parts.iter().all(|part| *part <= 0.0);
    let normal = (q - p).cross(r - p);
    let rate = normal.dot(along);
    let part = normal.dot(p) / rate;
    (is_inside && rate != 0.0 && (0.0..=1.0).contains(&part)).then_some(part)
}

/// Sections of a body at heights.
struct Sections<'a> {
    triangles: &'a [[u32; 3]],
    x: &'a [DVec3],
    known: HashMap<i64, f64>,
    /// Height of the armpits \[m\]: above, sections have arms in them.
    armpit: f64,
}

impl<'a> Sections<'a> {
    fn new(triangles: &'a [[u32; 3]], x: &'a [DVec3], [low, high]: [f64; 2]) -> Self {
        let mut sections = Self { triangles, x, known: HashMap::new(), armpit: f64::INFINITY };
        let [from, to] = CHEST.map(|part| ((low + part * (high - low)) / STEP).round() as i64);
        let (mut last, mut armpit) = (f64::INFINITY, to);
        for key in from..to {
            let perimeter = sections.perimeter(key as f64 * STEP);
            if perimeter > WITH_ARMS * last {
                armpit = key - 1;
                break;
            }
            last = perimeter;
        }
        sections.known.retain(|key, _| *key <= armpit);
        sections.armpit = armpit as f64 * STEP;
        sections
    }

    /// Length of a tape around trunk or legs at a height \[m\], to a centimetre; 0 where there is nothing.
    /// Above the armpits, what it is there.
    fn perimeter(&mut self, height: f64) -> f64 {
        let key = (height.min(self.armpit) / STEP).round() as i64;
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let perimeter = self.measure(key as f64 * STEP);
        self.known.insert(key, perimeter);
        perimeter
    }

    fn measure(&self, height: f64) -> f64 {
        // Cut edges of the mesh, and which are cut by one triangle.
        let mut numbers: HashMap<[u32; 2], usize> = HashMap::new();
        let (mut points, mut links) = (Vec::new(), Vec::new());
        for &[a, b, c] in self.triangles {
            let mut cut = [0; 2];
            let mut count = 0;
            for [p, q] in [[a, b], [b, c], [c, a]] {
                let [from, to] = [p.min(q), p.max(q)].map(|v| self.x[v as usize]);
                if (from.y > height) != (to.y > height) && count < 2 {
                    cut[count] = *numbers.entry([p.min(q), p.max(q)]).or_insert_with(|| {
                        let point = from + (to - from) * ((height - from.y) / (to.y - from.y));
                        points.push(DVec2::new(point.x, point.z));
                        points.len() - 1
                    });
                    count += 1;
                }
            }
            if count == 2 {
                links.push(cut);
            }
        }
        let mut sets = Sets::new(points.len());
        links.iter().for_each(|&[a, b]| sets.join(a, b));
        let mut parts: BTreeMap<usize, Vec<DVec2>> = BTreeMap::new();
        for (k, point) in points.iter().enumerate() {
            parts.entry(sets.root(k)).or_default().push(*point);
        }
        let largest = parts.values().map(|part| tape(part)).fold(0.0, f64::max);
        let whole: Vec<DVec2> =
            parts.into_values().filter(|part| tape(part) >= LEG * largest).flatten().collect();
        tape(&whole)
    }
}

/// Length of the convex hull of points.
fn tape(points: &[DVec2]) -> f64 {
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let half = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut chain: Vec<DVec2> = Vec::new();
        for p in points {
            while chain.len() > 1 {
                let (a, b) = (chain[chain.len() - 2], chain[chain.len() - 1]);
                if (b - a).perp_dot(p - a) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.windows(2).map(|two| two[0].distance(two[1])).sum::<f64>()
    };
    half(&mut points.iter().copied()) + half(&mut points.iter().rev().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// A body of revolution, closed: hips, waist, chest, by height and radius \[m\].
    fn body() -> TriangleMesh {
        let rings =
            [(0.0, 0.0), (0.02, 0.1), (0.6, 0.12), (0.85, 0.16), (1.1, 0.12), (1.3, 0.15), (1.5, 0.0)];
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        let heights: Vec<(f64, f64)> = rings
            .windows(2)
            .flat_map(|two| {
                (0..8).map(|k| {
                    let part = f64::from(k) / 8.0;
                    (two[0].0 + part * (two[1].0 - two[0].0), two[0].1 + part * (two[1].1 - two[0].1))
                })
            })
            .chain([(1.5, 0.0)])
            .collect();
        let around = 24u32;
        for (height, radius) in &heights {
            for k in 0..around {
                let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / f64::from(around)).sin_cos();
                positions.push(DVec3::new(radius * sin, *height, radius * cos).as_vec3());
            }
        }
        for ring in 0..heights.len() as u32 - 1 {
            for k in 0..around {
                let [a, b] = [k, (k + 1) % around].map(|k| ring * around + k);
                triangles.extend([[a, b, b + around], [a, b + around, a + around]]);
            }
        }
        TriangleMesh { positions, triangles, ..TriangleMesh::default() }
    }

    /// Two equal panels, `widths` \[cm\] at their hem and top, 40 cm tall, hem at `y`, at ± `z` \[cm\], sewn
    /// along the sides.
    fn tube_of(widths: [f64; 2], y: f64, z: f64) -> Pattern {
        let [hem, top] = widths.map(|width| 0.5 * width);
        let panel = |z: f64| {
            format!(
                r#"{{"translation": [0, {y}, {z}], "rotation": [0, 0, 0], "vertices": [[{}, 0], [{hem}, 0], [{top}, 40], [{}, 40]],
                "edges": [{{"endpoints": [0, 1]}}, {{"endpoints": [1, 2]}}, {{"endpoints": [2, 3]}}, {{"endpoints": [3, 0]}}]}}"#,
                -hem, -top
            )
        };
        let stitch = |edge: u32| {
            format!(
                r#"[{{"panel": "front", "edge": {edge}}}, {{"panel": "back", "edge": {edge}}}, "right_wrong"]"#
            )
        };
        let text = format!(
            r#"{{"pattern": {{"panels": {{"front": {}, "back": {}}}, "stitches": [{}, {}]}},
            "properties": {{"units_in_meter": 100, "curvature_coords": "relative"}}}}"#,
            panel(z),
            panel(-z),
            stitch(1),
            stitch(3)
        );
        super::super::parse(text.as_bytes(), None).unwrap()
    }

    #[test]
    fn a_narrow_waist_starts_above_the_hips() {
        // 2π 0.12 m at the top, and wide enough for the hips 25 cm below.
        let around = 100.0 * std::f64::consts::TAU;
        let widths = [0.62 * around * 0.19, 0.5 * around * 0.12];
        let found = shifts(&tube_of(widths, 50.0, 25.0), &body());
        let [front, back] = ["front", "back"].map(|panel| found[panel]);
        assert_eq!(front, back);
        assert!((front.y - 0.2).abs() < 0.035 && front.z == 0.0, "{front}");
        // Where it fits, it stays.
        assert_eq!(shifts(&tube_of(widths, 70.0, 25.0), &body()), BTreeMap::new());
    }

    #[test]
    fn panels_that_start_inside_are_moved_out() {
        let found = shifts(&tube_of([60.0, 60.0], 70.0, 3.0), &body());
        let [front, back] = ["front", "back"].map(|panel| found[panel]);
        assert!(front.z > 0.03 && front.z < 0.15 && back.z == -front.z && front.y == 0.0, "{front} {back}");
    }

    #[test]
    fn tapes_and_darts() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]].map(DVec2::from);
        assert!((tape(&square) - 4.0).abs() < 1e-12);
        assert_eq!(tape(&[]), 0.0);
        let dart = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [3.0, 2.0], [2.5, 1.0], [2.0, 2.0], [0.0, 2.0]];
        let dart = dart.map(|[x, y]| DVec3::new(x, y, 0.0));
        assert!(
            (width(&dart, 1.5) - 3.5).abs() < 1e-12 && width(&dart, 0.5) == 4.0 && width(&dart, 3.0) == 0.0
        );
        let flat = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|p| p.as_dvec3());
        let [below, above] = [DVec3::new(0.2, 0.2, -1.0), DVec3::new(0.2, 0.2, 3.0)];
        assert_eq!(crossing(below, above, flat), Some(0.25));
        assert_eq!(crossing(below + DVec3::X, above + DVec3::X, flat), None);
    }
}
