//! A body as placement sees it: what is in the way of a seam, and how far around it is at a height.

use std::collections::{BTreeMap, HashMap};

use glam::{DVec2, DVec3};

use super::{SAMPLE, STEP};
use crate::pattern::sew::Sets;

/// Where armpits are looked for, in heights of the body; and how much wider its section gets there, at once.
const CHEST: [f64; 2] = [0.55, 0.9];
const WITH_ARMS: f64 = 1.25;
/// Perimeter of a part of the body's section, over that of the largest, from which on it belongs to it: legs
/// do, hands beside the hips do not.
const LEG: f64 = 0.5;

/// Triangles by the cell of the xy plane that they are over.
pub(super) struct Columns {
    x: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    cells: HashMap<[i32; 2], Vec<u32>>,
}

impl Columns {
    pub fn new(triangles: &[[u32; 3]], x: Vec<DVec3>) -> Self {
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
    pub fn hits(&self, a: DVec3, b: DVec3) -> impl Iterator<Item = f64> {
        let length = a.distance(b);
        over(&[a, b]).into_iter().filter_map(|cell| self.cells.get(&cell)).flatten().filter_map(move |&t| {
            let [p, q, r] = self.triangles[t as usize].map(|v| self.x[v as usize]);
            crossing(a, b, [p, q, r]).map(|part| part * length)
        })
    }

    pub fn is_hit(&self, a: DVec3, b: DVec3) -> bool {
        self.hits(a, b).next().is_some()
    }

    pub fn farthest(&self, a: DVec3, b: DVec3) -> Option<f64> {
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
pub(super) fn crossing(a: DVec3, b: DVec3, [p, q, r]: [DVec3; 3]) -> Option<f64> {
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
pub(super) struct Sections<'a> {
    triangles: &'a [[u32; 3]],
    x: &'a [DVec3],
    known: HashMap<i64, f64>,
    /// Height of the armpits \[m\]: above, sections have arms in them.
    pub armpit: f64,
}

impl<'a> Sections<'a> {
    pub fn new(triangles: &'a [[u32; 3]], x: &'a [DVec3], [low, high]: [f64; 2]) -> Self {
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
    pub fn perimeter(&mut self, height: f64) -> f64 {
        let key = (height.min(self.armpit) / STEP).round() as i64;
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let perimeter = self.measure(key as f64 * STEP);
        self.known.insert(key, perimeter);
        perimeter
    }

    pub fn measure(&self, height: f64) -> f64 {
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
pub(super) fn tape(points: &[DVec2]) -> f64 {
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
