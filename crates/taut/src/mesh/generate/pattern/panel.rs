//! One panel: a surface over the unit strip of two parameters, flattened, and meshed evenly with given
//! vertices along its seams.

use std::ops::{Add, Mul};

use glam::{DVec2, DVec3};

use super::{fill::fill, flatten::flatten};

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

/// A part of the boundary: a straight line in the parameters.
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

/// Cuts a panel whose boundary is `chains`, counter-clockwise, with edges of about `edge` \[m\].
pub fn cut(sheet: &Sheet, chains: &[Chain], edge: f64) -> Panel {
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
    let flat = flatten(&space, &cells, layout(&space, columns));

    let mut boundary = Vec::new();
    let mut vertices = Vec::new();
    for chain in chains {
        let places = along(sheet, &space, *chain, edge);
        let first = boundary.len() as u32;
        vertices.push((first..=first + places.len() as u32 - 1).collect::<Vec<u32>>());
        boundary.extend_from_slice(&places[..places.len() - 1]);
    }
    if let Some(last) = vertices.last_mut().and_then(|chain| chain.last_mut()) {
        *last = 0;
    }
    // Interpolated in the grid's triangles both flat and in space: the remaining strain is that of
    // flattening.
    let polygon: Vec<DVec2> = boundary.iter().map(|&p| sheet.interpolate(&flat, p)).collect();
    // The generated outlines do not cross themselves: a panel without triangles would fail every test.
    let (points, triangles) = fill(&polygon, edge).unwrap_or_else(|| (polygon, Vec::new()));
    let finder = Finder::new(&flat, &cells, edge.max(0.01));
    let mut start: Vec<DVec3> = boundary.iter().map(|&p| sheet.interpolate(&space, p)).collect();
    start.extend(points[boundary.len()..].iter().map(|&p| {
        let (t, weights) = finder.find(p);
        let [a, b, c] = cells[t].map(|v| space[v as usize]);
        a * weights[0] + b * weights[1] + c * weights[2]
    }));
    Panel { flat: points, start, triangles, chains: vertices }
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

/// Parameters of points along a chain, evenly spaced on the surface.
fn along(sheet: &Sheet, space: &[DVec3], chain: Chain, edge: f64) -> Vec<DVec2> {
    const FINE: usize = 2000;
    let at = |t: f64| chain.from.lerp(chain.to, t);
    let points: Vec<DVec3> =
        (0..=FINE).map(|k| sheet.interpolate(space, at(k as f64 / FINE as f64))).collect();
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

impl Sheet<'_> {
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
