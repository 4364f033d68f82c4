//! A T-shirt: a pattern of four flat panels, sewn and placed around the [figure](super::figure).
//!
//! In space it consists of simple surfaces: a tube of rounded cross-section up to the armpits, a front and a
//! back that close over the shoulders, and two round sleeves along the arms, cut off where they meet the
//! body. Sleeves and tube can be flattened without strain, the shoulders nearly so; the remaining strain is
//! distributed by [`flatten`](super::pattern::flatten). Edges of panels that are sewn together have the same
//! number of vertices, at the same positions, and the same length in the pattern.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    f64::consts::{FRAC_PI_2, PI},
};

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::{
    Garment, GenerateError,
    figure::left_arm,
    pattern::panel::{Blank, Chain, Panel, Profile, Sheet},
    require_range,
};
use crate::mesh::TriangleMesh;

/// Range of edge lengths of a shirt \[m\].
const EDGE_RANGE: [f32; 2] = [0.002, 0.03];
/// Half the width and the depth of the body \[m\], an ellipse.
const WIDTH: f64 = 0.212;
const DEPTH: f64 = 0.15;
/// Height of the hem \[m\].
const HEM: f64 = 0.82;
/// Radius of the sleeves \[m\], offset of their axis below the arm's, and distance of their end from the
/// shoulder joint.
const SLEEVE: f64 = 0.082;
const SLEEVE_DROP: f64 = 0.015;
const SLEEVE_END: f64 = 0.24;
/// Inward lean of the armholes per metre of height.
const LEAN: f64 = 0.12;
/// Height of the shoulders in the middle above their tips \[m\].
const RISE: f64 = 0.043;
/// Half the width of the neck \[m\].
const NECK: f64 = 0.088;
/// Height of the necklines in the middle, in front and behind; 1 is the height of the shoulders.
const NECKLINES: [f64; 2] = [0.64, 0.78];
/// The second parameter of front and back at the height of the armpits.
const ARMPIT: f64 = 0.5;
/// Distance of the panels from each other in the pattern \[m\].
const GAP: f64 = 0.05;

/// Front, back, left and right sleeve.
const FRONT: usize = 0;
const BACK: usize = 1;
const LEFT: usize = 2;
const RIGHT: usize = 3;
/// The chain of front and back along the neck.
const NECKLINE: usize = 4;
/// Seams: a chain of one panel and one of another, in opposite directions.
const SEAMS: [[(usize, usize); 2]; 10] = [
    // Seen from outside, the right of the front is the figure's left, and so is the left of the back.
    [(FRONT, 1), (BACK, 7)],
    [(FRONT, 7), (BACK, 1)],
    [(FRONT, 3), (BACK, 5)],
    [(FRONT, 5), (BACK, 3)],
    [(LEFT, 0), (LEFT, 2)],
    [(RIGHT, 0), (RIGHT, 2)],
    // The left sleeve's front is where its first parameter is above 0, the right one's where it is below.
    [(FRONT, 2), (LEFT, 4)],
    [(BACK, 6), (LEFT, 3)],
    [(FRONT, 6), (RIGHT, 3)],
    [(BACK, 2), (RIGHT, 4)],
];

/// Intersection of sleeve and body: the armhole lies in the plane x + lean y = `plane`, between two heights.
struct Armhole {
    /// Axis of the sleeve: a point \[m\] and its direction, and the direction away from the armpit.
    axis: DVec3,
    along: DVec3,
    up: DVec3,
    plane: f64,
    /// Heights of the armpit and of the shoulder's tip \[m\].
    low: f64,
    high: f64,
}

impl Armhole {
    fn new() -> Self {
        let (shoulder, along) = left_arm();
        let up = DVec3::new(-along.y, along.x, 0.0);
        let axis = shoulder - up * SLEEVE_DROP;
        // The armpit is where the lowest line of the sleeve is as far out as the body.
        let lowest = axis - up * SLEEVE;
        let armpit = lowest + along * ((WIDTH - lowest.x) / along.x);
        let mut hole =
            Self { axis, along, up, plane: armpit.x + LEAN * armpit.y, low: armpit.y, high: armpit.y };
        hole.high = hole.sleeve(0.0, 0.0).y;
        hole
    }

    /// Where along the axis the sleeve begins at an angle from its top \[rad\].
    fn begin(&self, angle: f64) -> f64 {
        let p = self.axis + self.up * (SLEEVE * angle.cos());
        (self.plane - p.x - LEAN * p.y) / (self.along.x + LEAN * self.along.y)
    }

    /// A point of the left sleeve; `part` is 0 at the armhole and 1 at the end.
    fn sleeve(&self, angle: f64, part: f64) -> DVec3 {
        let begin = self.begin(angle);
        let (sin, cos) = angle.sin_cos();
        self.axis
            + self.along * (begin + (SLEEVE_END - begin) * part)
            + self.up * (SLEEVE * cos)
            + DVec3::Z * (SLEEVE * sin)
    }

    /// Distance of the armhole in front at a height between armpit and tip \[m\].
    fn depth(&self, y: f64) -> f64 {
        let off = (2.0 * y - self.low - self.high) / (self.high - self.low);
        SLEEVE * (1.0 - off * off).max(0.0).sqrt()
    }

    /// A point of the front, whose neckline is at `neckline` in the middle. Parameters: −1 to 1 from side to
    /// side, 0 to 1 upward.
    fn front(&self, p: DVec2, neckline: f64) -> DVec3 {
        let (across, round) = (FRAC_PI_2 * p.x).sin_cos();
        let u = across.abs();
        if p.y < ARMPIT {
            let y = HEM + (self.low - HEM) * p.y / ARMPIT;
            return DVec3::new(WIDTH * across, y, DEPTH * round);
        }
        // Upward, each column is a quarter of an ellipse, which ends at the shoulder or at the neckline, a
        // parabola.
        let neck = NECK / self.width(self.high);
        let cut = (FRAC_PI_2 - neckline.asin()) * (1.0 - (u / neck).powi(2)).max(0.0);
        // Squared, because armholes begin with the slope of a square root.
        let (part, bend) = ((FRAC_PI_2 - cut) * ((p.y - ARMPIT) / (1.0 - ARMPIT)).powi(2)).sin_cos();
        let y = self.low + part * (self.high + RISE * (1.0 - u * u) - self.low);
        // The armhole shapes its surroundings, and less so near the armpit.
        let near = (1.0 - round).powf(1.0 + 0.05 / (part + 0.02));
        let side = near * self.depth(self.low + part * (self.high - self.low));
        DVec3::new(across * self.width(y), y, DEPTH * bend * round + side)
    }

    /// Half the width of front and back at a height \[m\].
    fn width(&self, y: f64) -> f64 {
        self.plane - LEAN * y
    }

    /// The first parameter of front and back where shoulder and neckline meet.
    fn neck(&self) -> f64 {
        (NECK / self.width(self.high)).asin() / FRAC_PI_2
    }
}

/// A shirt with edges of about `edge` \[m\]: the pattern, and its initial shape around the figure.
pub(super) fn generate(edge: f32) -> Result<Garment, GenerateError> {
    let edge = require_range("edge", edge, EDGE_RANGE)?;
    let hole = Armhole::new();
    let neck = hole.neck();
    let p = DVec2::new;
    let chain = |from, to| Chain { from, to };

    // One column runs through each end of the neckline.
    let mut columns: Vec<f64> = (0..=56)
        .map(|k| f64::from(k) / 28.0 - 1.0)
        .filter(|u| (u.abs() - neck).abs() > 0.01)
        .chain([-neck, neck])
        .collect();
    columns.sort_by(f64::total_cmp);
    let rows: Vec<f64> = (0..30)
        .map(|k| ARMPIT * f64::from(k) / 30.0)
        .chain((0..=40).map(|k| ARMPIT + (1.0 - ARMPIT) * (f64::from(k) / 40.0).powf(0.7)))
        .collect();
    // Hem, right side, right armhole, right shoulder, neckline, left shoulder, left armhole, left side; right
    // as seen from outside.
    let body_chains = [
        chain(p(-1.0, 0.0), p(1.0, 0.0)),
        chain(p(1.0, 0.0), p(1.0, ARMPIT)),
        chain(p(1.0, ARMPIT), p(1.0, 1.0)),
        chain(p(1.0, 1.0), p(neck, 1.0)),
        chain(p(neck, 1.0), p(-neck, 1.0)),
        chain(p(-neck, 1.0), p(-1.0, 1.0)),
        chain(p(-1.0, 1.0), p(-1.0, ARMPIT)),
        chain(p(-1.0, ARMPIT), p(-1.0, 0.0)),
    ];
    let body = |neckline: f64, turn: f64| {
        let surface = |q: DVec2| hole.front(q, neckline) * DVec3::new(turn, 1.0, turn);
        Blank::new(Sheet { columns: columns.clone(), rows: rows.clone(), surface: &surface }, &body_chains)
    };

    // Cut open along its lowest line. Underarm, end, underarm, armhole from the armpit to the tip and down
    // again; from outside, the left sleeve's end is up and its front to the right.
    let sleeve_chains = [
        chain(p(1.0, 0.0), p(1.0, 1.0)),
        chain(p(1.0, 1.0), p(-1.0, 1.0)),
        chain(p(-1.0, 1.0), p(-1.0, 0.0)),
        chain(p(-1.0, 0.0), p(0.0, 0.0)),
        chain(p(0.0, 0.0), p(1.0, 0.0)),
    ];
    let sleeve = |side: f64| {
        let surface = |q: DVec2| hole.sleeve(side * PI * q.x, q.y) * DVec3::new(side, 1.0, 1.0);
        let columns = (0..=48).map(|k| f64::from(k) / 24.0 - 1.0).collect();
        let rows = (0..=16).map(|k| f64::from(k) / 16.0).collect();
        Blank::new(Sheet { columns, rows, surface: &surface }, &sleeve_chains)
    };
    let mut blanks = [body(NECKLINES[0], 1.0), body(NECKLINES[1], -1.0), sleeve(1.0), sleeve(-1.0)];
    equalize(&mut blanks);

    let mut work = Work::default();
    let panels = blanks.map(|blank| work.place(blank.cut(edge)));
    for [(panel, chain), (other, with)] in SEAMS {
        work.sew(&panels[panel][chain], &panels[other][with]);
    }
    let [front, back, left, right] = panels;
    work.group("hem", &[&front[0], &back[0]]);
    work.group("neckline", &[&front[4], &back[4]]);
    work.group("cuff:left", &[&left[1]]);
    work.group("cuff:right", &[&right[1]]);
    Ok(work.finish())
}

/// Gives both sides of every seam the mean of their lengths in the pattern. They differed by up to 8 %.
fn equalize(blanks: &mut [Blank; 4]) {
    let mut wanted: [Vec<(usize, Profile)>; 4] = Default::default();
    for [(panel, chain), (other, with)] in SEAMS {
        // They run in opposite directions.
        let (own, mut twin) = (blanks[panel].profile(chain), blanks[other].profile(with));
        twin.reverse();
        let mut mean: Profile = std::array::from_fn(|k| (own[k] + twin[k]) / 2.0);
        wanted[panel].push((chain, mean));
        mean.reverse();
        wanted[other].push((with, mean));
    }
    // The necklines, which nothing else holds, would take up what the shoulders change.
    for panel in [FRONT, BACK] {
        let own = blanks[panel].profile(NECKLINE);
        wanted[panel].push((NECKLINE, own.map(|ratio| (1.0 + ratio) / 2.0)));
    }
    for (blank, wanted) in blanks.iter_mut().zip(&wanted) {
        blank.lengthen(wanted);
    }
}

/// Panels side by side, and their seams.
#[derive(Default)]
struct Work {
    flat: Vec<DVec2>,
    start: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    seams: Vec<[u32; 2]>,
    groups: BTreeMap<String, Vec<u32>>,
    /// Start of the next panel \[m\].
    right: f64,
}

impl Work {
    /// Places a panel next to the others; returns the vertices of its chains.
    fn place(&mut self, panel: Panel) -> Vec<Vec<u32>> {
        let first = self.flat.len() as u32;
        let low = panel.flat.iter().fold(DVec2::MAX, |low, p| low.min(*p));
        let shift = DVec2::new(self.right, 0.0) - low;
        self.flat.extend(panel.flat.iter().map(|p| *p + shift));
        self.right = self.flat.iter().fold(0.0, |right: f64, p| right.max(p.x)) + GAP;
        self.start.extend(panel.start);
        self.triangles.extend(panel.triangles.iter().map(|t| t.map(|v| v + first)));
        panel.chains.iter().map(|chain| chain.iter().map(|v| v + first).collect()).collect()
    }

    /// Sews two chains that run in opposite directions: pairs of vertices with the same initial position.
    fn sew(&mut self, a: &[u32], b: &[u32]) {
        debug_assert_eq!(a.len(), b.len());
        for (&v, &w) in a.iter().zip(b.iter().rev()) {
            self.seams.push([v, w]);
            let middle = (self.start[v as usize] + self.start[w as usize]) / 2.0;
            self.start[v as usize] = middle;
            self.start[w as usize] = middle;
        }
    }

    fn group(&mut self, name: &str, chains: &[&[u32]]) {
        let mut vertices: Vec<u32> = chains.iter().flat_map(|chain| chain.iter().copied()).collect();
        vertices.sort_unstable();
        vertices.dedup();
        self.groups.insert(name.to_owned(), vertices);
    }

    fn finish(mut self) -> Garment {
        self.seams.sort_unstable();
        self.seams.dedup();
        // Vertices at which several seams meet have been moved more than once, by rounding: all get the
        // position of the first.
        for _ in 0..4 {
            for &[v, w] in &self.seams {
                self.start[w as usize] = self.start[v as usize];
            }
        }
        let high = self.flat.iter().fold(DVec2::ZERO, |high, p| high.max(*p));
        let uv = |v: u32| {
            let p = self.flat[v as usize] / high.max_element();
            Vec2::new(p.x as f32, p.y as f32)
        };
        let uvs = self.triangles.iter().map(|t| t.map(uv)).collect();
        // Flat, facing up: the pattern's upward direction is −z.
        let positions = self.flat.iter().map(|p| Vec3::new(p.x as f32, 0.0, -p.y as f32)).collect();
        let start = self.start.iter().map(|p| p.as_vec3()).collect();
        let mesh = TriangleMesh { positions, triangles: self.triangles, uvs: Some(uvs), groups: self.groups };
        Garment { mesh, start, seams: self.seams }
    }
}
