//! Segments of strands on the screen, drawn from front to back by the area of each pixel that they cover.
//!
//! The coverage of a pixel is that of its square by a strip of the segment's width, exactly across the strip
//! (the integral of a trapezoid), and along it by overlap, so that what a segment covers in total is its
//! length times its width, however thin or short it is and wherever it lies: a strand has the same strength
//! all along, and does not flicker when it moves. Strands of a pixel cover each other as if at random.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use super::Point;
use crate::raster::{Projection, SAMPLES, TILE, Tile};

/// Fraction of light through a pixel below which nothing more is drawn there.
const OPAQUE: f32 = 1.0 / 512.0;
/// Smallest coverage that is drawn.
const FAINTEST: f32 = 1e-4;
/// Depth bias, so that roots do not sink into what they grow on.
const STRANDS_FIRST: f32 = 1.0 + 3e-4;
/// Widest strand \[pixels\]: those closer to the camera are cut to it.
const WIDEST: f32 = 200.0;

/// Segments of a frame in the order of their distance, binned by tile. Reused from frame to frame to avoid
/// allocation.
#[derive(Debug, Default)]
pub struct Cover {
    order: Vec<(u32, u32)>,
    tiles: Vec<Vec<u32>>,
    across: usize,
}

/// What strands show in a tile.
#[derive(Debug)]
pub struct CoverTile {
    /// Colour of each pixel, times what is covered, and the fraction that is not.
    pixels: Vec<(Vec3, f32)>,
}

impl Default for CoverTile {
    fn default() -> Self {
        Self { pixels: vec![(Vec3::ZERO, 1.0); TILE[0] * TILE[1]] }
    }
}

impl CoverTile {
    /// Colour of a pixel of the tile, times what is covered of it, and the fraction that is not.
    pub fn at(&self, x: usize, y: usize) -> (Vec3, f32) {
        self.pixels[y * TILE[0] + x]
    }
}

impl Cover {
    /// Sorts `segments`, each from a point to the next, and bins those in the picture.
    pub fn place(&mut self, points: &[Point], segments: &[u32], projection: &Projection) {
        let size = projection.size();
        self.across = size[0].div_ceil(TILE[0]);
        let rows = size[1].div_ceil(TILE[1]);
        self.tiles.resize_with(self.across * rows, Vec::new);
        self.tiles.iter_mut().for_each(Vec::clear);
        self.order.clear();
        self.order.par_extend(segments.par_iter().filter_map(|&v| {
            let (a, b) = (&points[v as usize].projected, &points[v as usize + 1].projected);
            let is_in_front = a.z > projection.near() && b.z > projection.near();
            // Distances are positive: their bits are in the same order.
            is_in_front.then(|| ((a.z + b.z).to_bits(), v))
        }));
        self.order.par_sort_unstable();
        for &(_, v) in &self.order {
            let line = Line::new(points, v);
            let margin = line.half.max_element() + 1.0;
            let low = line.a.min(line.b) - margin;
            let high = line.a.max(line.b) + margin;
            let tiles = |low: f32, high: f32, size: usize, tile: usize| {
                let inside = high >= 0.0 && low < size as f32;
                let first = low.max(0.0) as usize / tile;
                inside.then(|| first..=(high.min(size as f32 - 1.0) as usize / tile))
            };
            let columns = tiles(low.x, high.x, size[0], TILE[0]);
            let (Some(columns), Some(rows)) = (columns, tiles(low.y, high.y, size[1], TILE[1])) else {
                continue;
            };
            for row in rows {
                self.tiles[row * self.across + columns.start()..=row * self.across + columns.end()]
                    .iter_mut()
                    .for_each(|tile| tile.push(v));
            }
        }
    }

    /// Draws the tile in this column and row of tiles, in front of `under`.
    pub fn draw(&self, [column, row]: [usize; 2], points: &[Point], under: &Tile, out: &mut CoverTile) {
        out.pixels.fill((Vec3::ZERO, 1.0));
        for &v in &self.tiles[row * self.across + column] {
            Line::new(points, v).draw(under, &mut out.pixels);
        }
    }
}

/// A segment on the screen: its ends \[pixels\], half its width there, 1/distance and colour.
struct Line {
    a: Vec2,
    b: Vec2,
    half: Vec2,
    depth: [f32; 2],
    color: [Vec3; 2],
}

impl Line {
    fn new(points: &[Point], v: u32) -> Self {
        let [p, q] = [&points[v as usize], &points[v as usize + 1]];
        let (near, far) = (1.0 / p.projected.z, 1.0 / q.projected.z);
        Self {
            a: p.projected.truncate() * near,
            b: q.projected.truncate() * far,
            half: Vec2::new(p.radius * near, q.radius * far).min(Vec2::splat(0.5 * WIDEST)),
            depth: [near, far],
            color: [p.color, q.color],
        }
    }

    fn draw(&self, under: &Tile, pixels: &mut [(Vec3, f32)]) {
        let origin = Vec2::from_array(under.origin().map(|v| v as f32));
        let a = self.a - origin;
        let length = (self.b - self.a).length();
        let along = if length > 1e-4 { (self.b - self.a) / length } else { Vec2::X };
        let square = Square::new(along);
        let reach = self.half.max_element() + square.outer;
        // Pixel by pixel along the longer side, a few to each side of the line.
        let major = usize::from(along.y.abs() > along.x.abs());
        let minor = 1 - major;
        let size = under.size();
        let ends = [a[major], a[major] + length * along[major]];
        let margin = square.outer * along[major].abs() + reach * along[minor].abs();
        let range = |low: f32, high: f32, size: usize| {
            ((low - 0.5).ceil().max(0.0) as usize)..((high + 0.5).floor().clamp(0.0, size as f32) as usize)
        };
        let slope = along[minor] / along[major];
        let spread = reach / along[major].abs();
        for m in range(ends[0].min(ends[1]) - margin, ends[0].max(ends[1]) + margin, size[major]) {
            let middle = a[minor] + (m as f32 + 0.5 - a[major]) * slope;
            for n in range(middle - spread, middle + spread, size[minor]) {
                let [x, y] = if major == 0 { [m, n] } else { [n, m] };
                let (color, through) = &mut pixels[y * TILE[0] + x];
                if *through < OPAQUE {
                    continue;
                }
                let d = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - a;
                let t = d.dot(along);
                let overlap = (t + square.outer).min(length) - (t - square.outer).max(0.0);
                let share = (t / length.max(1e-4)).clamp(0.0, 1.0);
                let half = self.half.x + (self.half.y - self.half.x) * share;
                let aside = d.perp_dot(along);
                let across = square.integral(aside + half) - square.integral(aside - half);
                let covered = across * (overlap / (2.0 * square.outer)).clamp(0.0, 1.0);
                if covered < FAINTEST {
                    continue;
                }
                let depth = (self.depth[0] + (self.depth[1] - self.depth[0]) * share) * STRANDS_FIRST;
                let hidden = under.depths(x, y).iter().filter(|&&other| other > depth).count();
                let covered = covered * (SAMPLES - hidden) as f32 / SAMPLES as f32;
                *color += self.color[0].lerp(self.color[1], share) * (*through * covered);
                *through *= 1.0 - covered;
            }
        }
    }
}

/// The square of a pixel, seen along a line: how long the chord is at each distance from its centre, a
/// trapezoid.
struct Square {
    /// Distance at which it begins to shrink, and at which it ends.
    inner: f32,
    outer: f32,
}

impl Square {
    fn new(along: Vec2) -> Self {
        let [x, y] = along.abs().to_array();
        Self { inner: 0.5 * (x - y).abs(), outer: 0.5 * (x + y) }
    }

    /// Area of the square from its centre to the distance `d`, at most 0.5; negative to the other side.
    fn integral(&self, d: f32) -> f32 {
        let Self { inner, outer } = *self;
        let longest = 1.0 / (inner + outer);
        let far = d.abs();
        let area = if far <= inner {
            longest * far
        } else {
            let rest = (outer - far).max(0.0);
            0.5 - 0.5 * longest * rest * rest / (outer - inner).max(1e-6)
        };
        area.copysign(d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Area that a segment covers in a tile, if it is a front of nothing.
    fn covered(a: Vec2, b: Vec2, half: f32) -> f32 {
        let line = Line { a, b, half: Vec2::splat(half), depth: [1.0; 2], color: [Vec3::ONE; 2] };
        let mut out = CoverTile::default();
        let mut under = Tile::default();
        under.clear([0, 0], TILE, None);
        line.draw(&under, &mut out.pixels);
        out.pixels.iter().map(|(_, through)| 1.0 - through).sum()
    }

    #[test]
    fn a_segment_covers_its_length_times_its_width_wherever_it_lies() {
        for half in [0.01, 0.1, 0.5, 1.5] {
            for k in 0..40 {
                let turn = Vec2::from_angle(0.157 * k as f32);
                let length = 0.05 + 0.23 * (k % 20) as f32;
                let a = Vec2::new(24.0 + 0.37 * k as f32, 8.0 + 0.031 * k as f32);
                let area = covered(a, a + turn * length, half);
                let wanted = 2.0 * half * length;
                let tolerance = 0.15 * wanted + 0.3 * half.min(0.5);
                assert!((area - wanted).abs() < tolerance, "{half} {length} {turn}: {area}, not {wanted}");
            }
        }
    }

    #[test]
    fn a_strand_is_as_strong_all_along() {
        // A thin line in any direction covers as much of each pixel row as of the next.
        for k in 1..20 {
            let slope = 0.05 * k as f32;
            let line = Line {
                a: Vec2::new(-3.0, 0.3),
                b: Vec2::new(67.0, 0.3 + 70.0 * slope * 0.2),
                half: Vec2::splat(0.05),
                depth: [1.0; 2],
                color: [Vec3::ONE; 2],
            };
            let mut out = CoverTile::default();
            let mut under = Tile::default();
            under.clear([0, 0], TILE, None);
            line.draw(&under, &mut out.pixels);
            let columns: Vec<f32> =
                (0..TILE[0]).map(|x| (0..TILE[1]).map(|y| out.at(x, y).0.x).sum()).collect();
            let (low, high) =
                (1..60).map(|x| columns[x]).fold((9f32, 0f32), |(a, b), c| (a.min(c), b.max(c)));
            assert!(high < 1.02 * low, "{slope}: {low} to {high}");
        }
    }
}
