//! Rasteriser: eight samples per pixel, a depth buffer, and a fill rule without gaps or overlaps.
//!
//! Corners are rounded to 1/256 of a pixel and edge functions are exact integers, so that two triangles with
//! a common edge cover each sample on it exactly once. Depth is 1/distance, which is linear on the screen and
//! precise near the camera. Triangles are binned into tiles in order; each tile is drawn by one thread, so
//! pixels do not depend on the number of threads.

use glam::Vec3;

use crate::{assembly::Assembly, camera::Camera, scene::Floor};

/// Samples per pixel.
pub const SAMPLES: usize = 8;
/// No triangle.
pub const NOTHING: u32 = u32::MAX;
/// Set in the id of a front-facing triangle.
pub const FRONT: u32 = 1 << 31;
/// Size of a tile \[pixels\].
pub const TILE: [usize; 2] = [64, 16];

/// Subpixel steps per pixel.
const UNIT: i32 = 256;
/// Sample positions in a pixel, in steps: no two in one row or column.
const AT: [[i32; 2]; SAMPLES] =
    [[144, 80], [112, 176], [208, 144], [48, 112], [80, 208], [16, 48], [176, 240], [240, 16]];
/// Depth bias of cloth, so that it does not sink into what it lies on.
const CLOTH_FIRST: f32 = 1.0 + 1e-4;

/// The projection of a camera for an image size.
#[derive(Clone, Copy, Debug)]
pub struct Projection {
    rows: [Vec3; 3],
    eye: Vec3,
    size: [f32; 2],
    focal: f32,
    near: f32,
    /// The ray through the top left corner of the image, and its change per pixel to the right and down.
    ray: [Vec3; 3],
}

impl Projection {
    /// The projection of `camera` on a picture of `size` pixels.
    pub fn new(camera: &Camera, size: [usize; 2]) -> Self {
        let axes = camera.axes();
        let size = size.map(|s| s as f32);
        let tangent = (0.5 * camera.field_of_view).to_radians().tan();
        let focal = 0.5 * size[1] / tangent;
        let rows = [
            axes.right * focal + axes.forward * (0.5 * size[0]),
            -axes.up * focal + axes.forward * (0.5 * size[1]),
            axes.forward,
        ];
        let near = 1e-4 * (camera.target - camera.eye).length();
        let step = [axes.right / focal, -axes.up / focal];
        let corner = axes.forward - step[0] * (0.5 * size[0]) - step[1] * (0.5 * size[1]);
        Self { rows, eye: camera.eye, size, focal, near, ray: [corner, step[0], step[1]] }
    }

    /// Homogeneous pixel coordinates; the third is the distance along the view \[m\].
    pub fn project(&self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        Vec3::new(d.dot(self.rows[0]), d.dot(self.rows[1]), d.dot(self.rows[2]))
    }

    /// The ray through a pixel coordinate, of unit length along the view \[m\].
    pub fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.ray[0] + self.ray[1] * x + self.ray[2] * y
    }

    /// Columns and rows of the picture.
    pub fn size(&self) -> [usize; 2] {
        self.size.map(|size| size as usize)
    }

    /// Pixels of 1 m at a distance of 1 m.
    pub fn focal(&self) -> f32 {
        self.focal
    }

    /// Distance along the view of what is too close to be drawn \[m\].
    pub fn near(&self) -> f32 {
        self.near
    }

    /// Position of the camera \[m\].
    pub fn eye(&self) -> Vec3 {
        self.eye
    }

    /// 1/distance of a floor at the corner of the picture, and its change per pixel to the right and down;
    /// none if it is seen from below.
    pub fn floor(&self, floor: &Floor) -> Option<[f32; 3]> {
        let above = floor.normal.dot(self.eye) - floor.height;
        (above > 0.0).then(|| self.ray.map(|r| -floor.normal.dot(r) / above))
    }
}

/// A triangle on the screen.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// Corners in steps, ordered so that the area is positive.
    x: [i32; 3],
    y: [i32; 3],
    /// 1/distance of the corners.
    depth: [f32; 3],
    id: u32,
}

/// Screen triangles of a frame, binned by tile. Reused from frame to frame to avoid allocation.
#[derive(Debug, Default)]
pub struct Raster {
    /// Homogeneous pixel coordinates of all vertices.
    pub projected: Vec<Vec3>,
    placed: Vec<Placed>,
    tiles: Vec<Vec<u32>>,
    across: usize,
    size: [usize; 2],
}

impl Raster {
    /// Collects the triangles of `assembly` as seen by `projection`.
    pub fn place(&mut self, assembly: &Assembly, projection: &Projection) {
        self.size = projection.size.map(|s| s as usize);
        self.across = self.size[0].div_ceil(TILE[0]);
        let count = self.across * self.size[1].div_ceil(TILE[1]);
        self.tiles.resize_with(count, Vec::new);
        self.tiles.iter_mut().for_each(Vec::clear);
        self.placed.clear();
        self.projected.clear();
        self.projected.extend(assembly.positions.iter().map(|&p| projection.project(p)));
        for (k, t) in assembly.triangles.iter().enumerate() {
            let corners = t.map(|v| self.projected[v as usize]);
            let scale = if assembly.parts[assembly.part_of[k] as usize].thin { CLOTH_FIRST } else { 1.0 };
            self.place_triangle(&corners, k as u32, scale, projection);
        }
    }

    fn place_triangle(&mut self, corners: &[Vec3; 3], id: u32, scale: f32, projection: &Projection) {
        // Far outside the picture, coordinates would overflow.
        let [width, height] = projection.size;
        let [wide, high] = [8.0 * width, 8.0 * height];
        let borders = [
            |c: Vec3, near: f32, _: f32, _: f32| c.z - near,
            |c: Vec3, _: f32, wide: f32, _: f32| c.x + wide * c.z,
            |c: Vec3, _: f32, wide: f32, _: f32| wide * c.z - c.x,
            |c: Vec3, _: f32, _: f32, high: f32| c.y + high * c.z,
            |c: Vec3, _: f32, _: f32, high: f32| high * c.z - c.y,
        ];
        let near = projection.near;
        let inside = corners.iter().all(|&c| borders.iter().all(|border| border(c, near, wide, high) >= 0.0));
        if inside {
            self.place_inside(corners, id, scale);
            return;
        }
        // Sutherland and Hodgman: each border may add a corner.
        let mut polygon = [Vec3::ZERO; 12];
        polygon[..3].copy_from_slice(corners);
        let mut count = 3;
        for border in borders {
            let mut kept = [Vec3::ZERO; 12];
            let mut kept_count = 0;
            for k in 0..count {
                let (a, b) = (polygon[k], polygon[(k + 1) % count]);
                let (da, db) = (border(a, near, wide, high), border(b, near, wide, high));
                if da >= 0.0 {
                    kept[kept_count] = a;
                    kept_count += 1;
                }
                if (da >= 0.0) != (db >= 0.0) {
                    // The same from both ends, so that neighbours agree.
                    kept[kept_count] = (a * db - b * da) / (db - da);
                    kept_count += 1;
                }
            }
            (polygon, count) = (kept, kept_count);
        }
        for k in 2..count {
            self.place_inside(&[polygon[0], polygon[k - 1], polygon[k]], id, scale);
        }
    }

    fn place_inside(&mut self, corners: &[Vec3; 3], id: u32, scale: f32) {
        let steps = |v: f32| (v * UNIT as f32).round() as i32;
        let mut x = corners.map(|c| steps(c.x / c.z));
        let mut y = corners.map(|c| steps(c.y / c.z));
        let mut depth = corners.map(|c| scale / c.z);
        let area = area(&x, &y);
        if area == 0 {
            return;
        }
        // The screen's y points down: counter-clockwise in space is a negative area.
        let mut id = id | FRONT;
        if area < 0 {
            x.swap(1, 2);
            y.swap(1, 2);
            depth.swap(1, 2);
        } else {
            id &= !FRONT;
        }
        let bounds = |v: &[i32; 3], size: usize| {
            let [low, high] = [v.iter().min().unwrap(), v.iter().max().unwrap()];
            (high.div_euclid(UNIT) >= 0 && low.div_euclid(UNIT) < size as i32).then(|| {
                [low.div_euclid(UNIT).max(0) as usize, (high.div_euclid(UNIT) as usize).min(size - 1)]
            })
        };
        let (Some(columns), Some(rows)) = (bounds(&x, self.size[0]), bounds(&y, self.size[1])) else {
            return;
        };
        let number = self.placed.len() as u32;
        self.placed.push(Placed { x, y, depth, id });
        for row in rows[0] / TILE[1]..=rows[1] / TILE[1] {
            for column in columns[0] / TILE[0]..=columns[1] / TILE[0] {
                self.tiles[row * self.across + column].push(number);
            }
        }
    }

    /// Draws the tile in `column` and `row` of tiles into `tile`, above a floor with this depth.
    pub fn draw(&self, column: usize, row: usize, floor: Option<[f32; 3]>, tile: &mut Tile) {
        let origin = [column * TILE[0], row * TILE[1]];
        let size = [TILE[0].min(self.size[0] - origin[0]), TILE[1].min(self.size[1] - origin[1])];
        tile.clear(origin, size, floor);
        for &k in &self.tiles[row * self.across + column] {
            let placed = &self.placed[k as usize];
            let span = |v: &[i32; 3]| v.iter().max().unwrap() - v.iter().min().unwrap();
            // Products of two spans must fit.
            if span(&placed.x).max(span(&placed.y)) <= 64 * UNIT {
                tile.triangle_i32(placed);
            } else {
                tile.triangle_i64(placed);
            }
        }
    }
}

fn area(x: &[i32; 3], y: &[i32; 3]) -> i64 {
    let d = |v: &[i32; 3], k: usize| i64::from(v[k]) - i64::from(v[0]);
    d(x, 1) * d(y, 2) - d(x, 2) * d(y, 1)
}

/// Visibility in a tile: depth and triangle of each sample.
#[derive(Debug)]
pub struct Tile {
    origin: [usize; 2],
    size: [usize; 2],
    depth: Vec<[f32; SAMPLES]>,
    ids: Vec<[u32; SAMPLES]>,
}

impl Default for Tile {
    fn default() -> Self {
        let count = TILE[0] * TILE[1];
        Self {
            origin: [0; 2],
            size: [0; 2],
            depth: vec![[0.0; SAMPLES]; count],
            ids: vec![[NOTHING; SAMPLES]; count],
        }
    }
}

macro_rules! draw_triangle {
    ($name:ident, $int:ty) => {
        fn $name(&mut self, t: &Placed) {
            let wide = |v: i32| <$int>::from(v);
            let unit = wide(UNIT);
            // Bounds within the tile, in its pixels.
            let range = |v: &[i32; 3], k: usize| {
                let (low, high) = (v.iter().min().unwrap(), v.iter().max().unwrap());
                let (origin, last) = (self.origin[k] as i32, self.size[k] as i32 - 1);
                [(low.div_euclid(UNIT) - origin).max(0), (high.div_euclid(UNIT) - origin).min(last)]
            };
            let ([x0, x1], [y0, y1]) = (range(&t.x, 0), range(&t.y, 1));
            if x0 > x1 || y0 > y1 {
                return;
            }
            let start = [(self.origin[0] as i32 + x0) * UNIT, (self.origin[1] as i32 + y0) * UNIT];
            let mut row = [<$int>::default(); 3];
            let mut step = [[<$int>::default(); 2]; 3];
            let mut offset = [[<$int>::default(); SAMPLES]; 3];
            for k in 0..3 {
                let (a, b) = (k, (k + 1) % 3);
                let (dx, dy) = (wide(t.x[b] - t.x[a]), wide(t.y[b] - t.y[a]));
                // Samples on an edge belong to one of its two triangles.
                let own = dy < 0 || (dy == 0 && dx > 0);
                row[k] = dx * wide(start[1] - t.y[a]) - dy * wide(start[0] - t.x[a]) - <$int>::from(!own);
                step[k] = [-dy * unit, dx * unit];
                for s in 0..SAMPLES {
                    offset[k][s] = dx * wide(AT[s][1]) - dy * wide(AT[s][0]);
                }
            }
            let plane = DepthPlane::new(t, start);
            for y in y0..=y1 {
                let mut edge = row;
                for x in x0..=x1 {
                    let mut outside = [<$int>::default(); SAMPLES];
                    let mut any = <$int>::default() - 1;
                    for s in 0..SAMPLES {
                        outside[s] =
                            (edge[0] + offset[0][s]) | (edge[1] + offset[1][s]) | (edge[2] + offset[2][s]);
                        any &= outside[s];
                    }
                    if any >= 0 {
                        let at = y as usize * TILE[0] + x as usize;
                        let (depth, ids) = (&mut self.depth[at], &mut self.ids[at]);
                        let base = plane.at((x - x0) as f32, (y - y0) as f32);
                        for s in 0..SAMPLES {
                            let z = (base + plane.offset[s]).clamp(plane.low, plane.high);
                            let seen = outside[s] >= 0 && z > depth[s];
                            depth[s] = if seen { z } else { depth[s] };
                            ids[s] = if seen { t.id } else { ids[s] };
                        }
                    }
                    for k in 0..3 {
                        edge[k] += step[k][0];
                    }
                }
                for k in 0..3 {
                    row[k] += step[k][1];
                }
            }
        }
    };
}

impl Tile {
    /// Makes it the tile of this size at `origin`, with nothing but a floor of this depth.
    pub fn clear(&mut self, origin: [usize; 2], size: [usize; 2], floor: Option<[f32; 3]>) {
        (self.origin, self.size) = (origin, size);
        for ids in &mut self.ids {
            *ids = [NOTHING; SAMPLES];
        }
        let Some([corner, right, down]) = floor else {
            self.depth.iter_mut().for_each(|depth| *depth = [0.0; SAMPLES]);
            return;
        };
        for y in 0..size[1] {
            for x in 0..size[0] {
                let (px, py) = ((origin[0] + x) as f32, (origin[1] + y) as f32);
                for s in 0..SAMPLES {
                    let at = AT[s].map(|v| v as f32 / UNIT as f32);
                    self.depth[y * TILE[0] + x][s] =
                        (corner + right * (px + at[0]) + down * (py + at[1])).max(0.0);
                }
            }
        }
    }

    draw_triangle!(triangle_i32, i32);
    draw_triangle!(triangle_i64, i64);

    /// Columns and rows.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Column and row of its first pixel in the picture.
    pub fn origin(&self) -> [usize; 2] {
        self.origin
    }

    /// 1/distance of what is visible in the samples of a pixel of the tile.
    pub fn depths(&self, x: usize, y: usize) -> &[f32; SAMPLES] {
        &self.depth[y * TILE[0] + x]
    }

    /// The triangles that are visible in a pixel of the tile, each with [`FRONT`] if its front is.
    pub fn ids(&self, x: usize, y: usize) -> &[u32; SAMPLES] {
        &self.ids[y * TILE[0] + x]
    }
}

/// The mean position of some samples of a pixel.
pub fn middle(samples: impl Iterator<Item = usize>) -> [f32; 2] {
    let (mut sum, mut count) = ([0; 2], 0);
    for s in samples {
        sum = [sum[0] + AT[s][0], sum[1] + AT[s][1]];
        count += 1;
    }
    sum.map(|v| v as f32 / (UNIT * count.max(1)) as f32)
}

/// 1/distance over a triangle on the screen.
struct DepthPlane {
    start: f32,
    step: [f32; 2],
    offset: [f32; SAMPLES],
    low: f32,
    high: f32,
}

impl DepthPlane {
    /// Per pixel from `start`, which is in steps.
    fn new(t: &Placed, start: [i32; 2]) -> Self {
        let area = area(&t.x, &t.y) as f64;
        let d = |v: &[i32; 3], k: usize| f64::from(v[k] - v[0]);
        let dz = |k: usize| f64::from(t.depth[k]) - f64::from(t.depth[0]);
        let across = (dz(1) * d(&t.y, 2) - dz(2) * d(&t.y, 1)) / area;
        let down = (d(&t.x, 1) * dz(2) - d(&t.x, 2) * dz(1)) / area;
        let from = [f64::from(start[0] - t.x[0]), f64::from(start[1] - t.y[0])];
        let unit = f64::from(UNIT);
        Self {
            start: (f64::from(t.depth[0]) + across * from[0] + down * from[1]) as f32,
            step: [(across * unit) as f32, (down * unit) as f32],
            offset: AT.map(|[x, y]| (across * f64::from(x) + down * f64::from(y)) as f32),
            low: t.depth.iter().copied().fold(f32::INFINITY, f32::min),
            high: t.depth.iter().copied().fold(0.0, f32::max),
        }
    }

    fn at(&self, x: f32, y: f32) -> f32 {
        self.start + self.step[0] * x + self.step[1] * y
    }
}
