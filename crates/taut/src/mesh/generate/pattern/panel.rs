//! One panel: a surface over the unit strip of two parameters, flattened, and meshed evenly with given
//! vertices along its seams.

use std::ops::{Add, Mul};

use glam::{DVec2, DVec3};

use super::{
    fill::fill,
    flatten::{Rod, flatten},
};

/// Points at which lengths along a chain are compared.
const PROFILE_POINTS: usize = 400;

/// Weight of edges along seams while a panel is flattened; other edges weigh about 1.
const ROD_WEIGHT: f64 = 600.0;

/// A surface in space over a rectangle of parameters, seen from outside with the first parameter to the right
/// and the second up.
pub struct Sheet<'a> {
    /// Lines of the grid on which it is flattened: values of the first parameter, ascending.
    pub columns: Vec<f64>,
    /// Values of the second parameter, ascending.
    pub rows: Vec<f64>,
    /// The surface \[m\].
    pub surface: &'a dyn Fn(DVec2) -> DVec3,
}

/// A part of the boundary: a line of the grid.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// Where it begins.
    pub from: DVec2,
    /// Where it ends, and the next one begins.
    pub to: DVec2,
}

/// A panel that has been cut.
pub struct Panel {
    /// Positions in the pattern \[m\].
    pub flat: Vec<DVec2>,
    /// Positions in space \[m\].
    pub start: Vec<DVec3>,
    /// Triangles, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Vertices of each chain, both ends included.
    pub chains: Vec<Vec<u32>>,
}

/// Lengths in the pattern over lengths in space, at points along a chain that divide it evenly in space.
pub type Profile = [f64; PROFILE_POINTS];

/// A panel that is flattened, but not yet cut.
pub struct Blank {
    columns: Vec<f64>,
    rows: Vec<f64>,
    chains: Vec<Chain>,
    space: Vec<DVec3>,
    cells: Vec<[u32; 3]>,
    flat: Vec<DVec2>,
}

impl Blank {
    /// Flattens a surface whose boundary is `chains`, counter-clockwise.
    pub fn new(sheet: Sheet, chains: &[Chain]) -> Self {
        let columns = sheet.columns.len();
        let grid: Vec<DVec2> =
            sheet.rows.iter().flat_map(|&v| sheet.columns.iter().map(move |&u| DVec2::new(u, v))).collect();
        let space: Vec<DVec3> = grid.iter().map(|&p| (sheet.surface)(p)).collect();
        let mut cells = Vec::new();
        for j in 0..sheet.rows.len() - 1 {
            for i in 0..columns - 1 {
                let a = (j * columns + i) as u32;
                let (b, c, d) = (a + 1, a + columns as u32, a + columns as u32 + 1);
                cells.extend([[a, b, d], [a, d, c]]);
            }
        }
        let flat = flatten(&space, &cells, &[], layout(&space, columns));
        Self { columns: sheet.columns, rows: sheet.rows, chains: chains.to_vec(), space, cells, flat }
    }

    /// Edges of the grid along a chain, with the fractions of its length in space at which each begins and
    /// ends.
    fn edges_along(&self, chain: Chain) -> Vec<([u32; 2], [f64; 2])> {
        let Self { columns, rows, .. } = self;
        let way = chain.to - chain.from;
        let on = |v: &u32| {
            let p = DVec2::new(columns[*v as usize % columns.len()], rows[*v as usize / columns.len()]);
            let part = (p - chain.from).dot(way) / way.length_squared();
            let off = p - chain.from - way * part;
            ((-1e-9..=1.0 + 1e-9).contains(&part) && off.length() < 1e-9).then_some((part, *v))
        };
        let mut all: Vec<(f64, u32)> = (0..self.space.len() as u32).filter_map(|v| on(&v)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut edges = Vec::new();
        let mut length = 0.0;
        for pair in all.windows(2) {
            let ends = [pair[0].1, pair[1].1];
            let own = (self.space[ends[0] as usize] - self.space[ends[1] as usize]).length();
            edges.push((ends, [length, length + own]));
            length += own;
        }
        edges.iter_mut().for_each(|(_, parts)| *parts = parts.map(|part| part / length));
        edges
    }

    /// How long chain `chain` is in the pattern, compared to space.
    pub fn profile(&self, chain: usize) -> Profile {
        let edges = self.edges_along(self.chains[chain]);
        std::array::from_fn(|k| {
            let part = (k as f64 + 0.5) / PROFILE_POINTS as f64;
            let at = edges.partition_point(|(_, parts)| parts[1] < part).min(edges.len() - 1);
            let [i, j] = edges[at].0.map(|v| v as usize);
            (self.flat[i] - self.flat[j]).length() / (self.space[i] - self.space[j]).length()
        })
    }

    /// Flattens it again, with chains of the given lengths.
    pub fn lengthen(&mut self, wanted: &[(usize, Profile)]) {
        let mut rods = Vec::new();
        for (chain, profile) in wanted {
            for (ends, parts) in self.edges_along(self.chains[*chain]) {
                let [first, last] = parts.map(|part| part * PROFILE_POINTS as f64);
                let range = first.round() as usize..(last.round() as usize).max(first.round() as usize + 1);
                let range = range.start.min(PROFILE_POINTS - 1)..range.end.min(PROFILE_POINTS);
                let ratio = profile[range.clone()].iter().sum::<f64>() / range.len() as f64;
                let [i, j] = ends.map(|v| v as usize);
                let length = ratio * (self.space[i] - self.space[j]).length();
                rods.push(Rod { ends, length, weight: ROD_WEIGHT });
            }
        }
        self.flat = flatten(&self.space, &self.cells, &rods, std::mem::take(&mut self.flat));
    }

    /// Cuts it, with edges of about `edge` \[m\].
    pub fn cut(&self, edge: f64) -> Panel {
        let Self { chains, space, cells, flat, .. } = self;
        let mut boundary = Vec::new();
        let mut vertices = Vec::new();
        for chain in chains {
            let places = self.along(*chain, edge);
            let first = boundary.len() as u32;
            vertices.push((first..=first + places.len() as u32 - 1).collect::<Vec<u32>>());
            boundary.extend_from_slice(&places[..places.len() - 1]);
        }
        if let Some(last) = vertices.last_mut().and_then(|chain| chain.last_mut()) {
            *last = 0;
        }
        // Interpolated in the grid's triangles both flat and in space: the remaining strain is that of
        // flattening.
        let polygon: Vec<DVec2> = boundary.iter().map(|&p| self.interpolate(flat, p)).collect();
        // The generated outlines do not cross themselves: a panel without triangles would fail every test.
        let (points, triangles) = fill(&polygon, edge).unwrap_or_else(|| (polygon, Vec::new()));
        let finder = Finder::new(flat, cells, edge.max(0.01));
        let mut start: Vec<DVec3> = boundary.iter().map(|&p| self.interpolate(space, p)).collect();
        start.extend(points[boundary.len()..].iter().map(|&p| {
            let (t, weights) = finder.find(p);
            let [a, b, c] = cells[t].map(|v| space[v as usize]);
            a * weights[0] + b * weights[1] + c * weights[2]
        }));
        Panel { flat: points, start, triangles, chains: vertices }
    }

    /// Parameters of points along a chain, evenly spaced on the surface.
    fn along(&self, chain: Chain, edge: f64) -> Vec<DVec2> {
        const FINE: usize = 2000;
        let at = |t: f64| chain.from.lerp(chain.to, t);
        let points: Vec<DVec3> =
            (0..=FINE).map(|k| self.interpolate(&self.space, at(k as f64 / FINE as f64))).collect();
        let mut lengths = vec![0.0];
        for pair in points.windows(2) {
            lengths.push(lengths[lengths.len() - 1] + (pair[1] - pair[0]).length());
        }
        let whole = lengths[FINE];
        let count = (whole / edge - 1e-6).round().max(1.0) as usize;
        (0..=count)
            .map(|k| {
                let wanted = whole * k as f64 / count as f64;
                let after = lengths.partition_point(|&l| l < wanted).clamp(1, FINE);
                let part =
                    ((wanted - lengths[after - 1]) / (lengths[after] - lengths[after - 1])).clamp(0.0, 1.0);
                at((after as f64 - 1.0 + part) / FINE as f64)
            })
            .collect()
    }

    /// Interpolates values at the grid's corners.
    fn interpolate<T>(&self, values: &[T], p: DVec2) -> T
    where
        T: Copy + Add<Output = T> + Mul<f64, Output = T>,
    {
        let find = |lines: &[f64], x: f64| {
            let k = lines.partition_point(|&line| line <= x).clamp(1, lines.len() - 1) - 1;
            (k, (x - lines[k]) / (lines[k + 1] - lines[k]))
        };
        let ((i, s), (j, t)) = (find(&self.columns, p.x), find(&self.rows, p.y));
        let at = |i: usize, j: usize| values[j * self.columns.len() + i];
        // The cell's diagonal runs from its lower left to its upper right.
        let (third, weight) = if s >= t { (at(i + 1, j), s - t) } else { (at(i, j + 1), t - s) };
        at(i, j) * (1.0 - s.max(t)) + third * weight + at(i + 1, j + 1) * s.min(t)
    }
}

/// Initial layout: distances along the lowest row, and along the columns from there.
fn layout(space: &[DVec3], columns: usize) -> Vec<DVec2> {
    let mut places = vec![DVec2::ZERO; space.len()];
    for v in 1..space.len() {
        places[v] = match v.checked_sub(columns) {
            None => DVec2::new(places[v - 1].x + (space[v] - space[v - 1]).length(), 0.0),
            Some(below) => places[below] + DVec2::new(0.0, (space[v] - space[below]).length()),
        };
    }
    places
}

/// Finds triangles of a flat mesh.
struct Finder<'a> {
    flat: &'a [DVec2],
    triangles: &'a [[u32; 3]],
    low: DVec2,
    cell: f64,
    count: [usize; 2],
    /// Triangles whose box overlaps each cell.
    cells: Vec<Vec<u32>>,
}

impl<'a> Finder<'a> {
    fn new(flat: &'a [DVec2], triangles: &'a [[u32; 3]], cell: f64) -> Self {
        let low = flat.iter().fold(DVec2::MAX, |low, p| low.min(*p));
        let high = flat.iter().fold(DVec2::MIN, |high, p| high.max(*p));
        let count = ((high - low) / cell).to_array().map(|n| n as usize + 1);
        let mut cells = vec![Vec::new(); count[0] * count[1]];
        for (t, corners) in triangles.iter().enumerate() {
            let [a, b, c] = corners.map(|v| (flat[v as usize] - low) / cell);
            let (first, last) = (a.min(b).min(c), a.max(b).max(c));
            for j in first.y as usize..=(last.y as usize).min(count[1] - 1) {
                for i in first.x as usize..=(last.x as usize).min(count[0] - 1) {
                    cells[j * count[0] + i].push(t as u32);
                }
            }
        }
        Self { flat, triangles, low, cell, count, cells }
    }

    /// The triangle that contains a point, or is nearest to doing so among those around, and the weights of
    /// its corners.
    fn find(&self, p: DVec2) -> (usize, [f64; 3]) {
        let at = ((p - self.low) / self.cell).max(DVec2::ZERO);
        let (i, j) = ((at.x as usize).min(self.count[0] - 1), (at.y as usize).min(self.count[1] - 1));
        let mut best = (f64::MIN, 0, [1.0, 0.0, 0.0]);
        for &t in &self.cells[j * self.count[0] + i] {
            let [a, b, c] = self.triangles[t as usize].map(|v| self.flat[v as usize]);
            let area = (b - a).perp_dot(c - a);
            let weights = [
                (b - p).perp_dot(c - p) / area,
                (c - p).perp_dot(a - p) / area,
                (a - p).perp_dot(b - p) / area,
            ];
            let least = weights[0].min(weights[1]).min(weights[2]);
            if least > best.0 {
                best = (least, t as usize, weights);
            }
        }
        (best.1, best.2)
    }
}
