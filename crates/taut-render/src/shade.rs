//! Shading of pixels.
//!
//! Samples on connected triangles are lit once, at their mean position, with their mean colour; this makes
//! eight samples per pixel affordable. Groups are tone-mapped before they are blended, so that edges in front
//! of bright light stay smooth.

use std::sync::LazyLock;

use glam::Vec3;

use crate::{
    assembly::{Assembly, Look},
    hair::Hair,
    picture::Rgba,
    raster::{FRONT, NOTHING, Projection, Raster, SAMPLES, middle},
    scene::{Color, Floor, Paint, Scene},
    shadow::{Shadows, SkyLight},
    thread::SIDES,
};

/// Fraction of the key light transmitted by cloth.
const THROUGH: f32 = 0.16;
/// Fraction of what is behind strands below which it does not show.
const HIDDEN: f32 = 1.0 / 512.0;
/// Cells along a side of the grid of sky light on the floor.
const FLOOR_CELLS: usize = 80;
/// Half extent of that grid, in radii of the scene.
const FLOOR_REACH: f32 = 1.7;

/// Sky light on the floor around the scene. Reused from frame to frame to avoid allocation.
#[derive(Debug, Default)]
pub struct FloorLight {
    axes: [Vec3; 2],
    open: Vec<f32>,
    scratch: Vec<f32>,
}

impl FloorLight {
    /// Measures it for `floor`.
    pub fn measure(&mut self, floor: &Floor, scene: &Scene, shadows: &Shadows, hair: &Hair) {
        use rayon::prelude::*;
        let (x, y) = floor.normal.any_orthonormal_pair();
        self.axes = [x, y];
        let reach = FLOOR_REACH * scene.lights.radius;
        let center = on_floor(floor, scene.lights.center);
        let at = |k: usize| (2.0 * k as f32 / (FLOOR_CELLS - 1) as f32 - 1.0) * reach;
        self.open.resize(FLOOR_CELLS * FLOOR_CELLS, 1.0);
        self.open.par_iter_mut().enumerate().for_each(|(k, open)| {
            let p = center + x * at(k % FLOOR_CELLS) + y * at(k / FLOOR_CELLS);
            *open = shadows.sky(p, floor.normal).sides[0] * hair.sky(p, Some(floor.normal));
        });
        for _ in 0..2 {
            self.blur(1);
            self.blur(FLOOR_CELLS);
        }
    }

    /// Blurs along rows (`step` 1) or columns, so that shadows of the few sky directions do not show
    /// individually.
    fn blur(&mut self, step: usize) {
        self.scratch.clone_from(&self.open);
        let (last, along) = (FLOOR_CELLS - 1, |k: usize| k / step % FLOOR_CELLS);
        for (k, open) in self.open.iter_mut().enumerate() {
            let before = self.scratch[if along(k) == 0 { k } else { k - step }];
            let after = self.scratch[if along(k) == last { k } else { k + step }];
            *open = 0.25 * before + 0.5 * *open + 0.25 * after;
        }
    }

    /// Sky light at `offset` from the centre of the scene, in radii; 1 outside the grid.
    fn at(&self, offset: Vec3) -> f32 {
        let cell = |axis: Vec3| (offset.dot(axis) / FLOOR_REACH + 1.0) * 0.5 * (FLOOR_CELLS - 1) as f32;
        let (x, y) = (cell(self.axes[0]), cell(self.axes[1]));
        let last = (FLOOR_CELLS - 1) as f32;
        if !(x >= 0.0 && y >= 0.0 && x < last && y < last) {
            return 1.0;
        }
        let (i, j) = (x as usize, y as usize);
        let (fx, fy) = (x - i as f32, y - j as f32);
        let row = |j: usize| {
            let at = j * FLOOR_CELLS + i;
            self.open[at] * (1.0 - fx) + self.open[at + 1] * fx
        };
        row(j) * (1.0 - fy) + row(j + 1) * fy
    }
}

fn on_floor(floor: &Floor, p: Vec3) -> Vec3 {
    p - floor.normal * (floor.normal.dot(p) - floor.height)
}

/// Input of the shading of a pixel.
pub struct Shader<'a> {
    /// What is drawn.
    pub scene: &'a Scene,
    /// All its triangles.
    pub assembly: &'a Assembly,
    /// Where they are on the screen.
    pub raster: &'a Raster,
    /// Where the screen is.
    pub projection: &'a Projection,
    /// What the lights see.
    pub shadows: &'a Shadows,
    /// Strands, which shade everything else.
    pub hair: &'a Hair,
    /// Sky light, by vertex.
    pub sky: &'a [SkyLight],
    /// Sky light on the floor.
    pub floor_light: &'a FloorLight,
    /// The floor, if it is seen from above.
    pub floor: Option<Floor>,
    /// Rows of the picture.
    pub height: usize,
}

/// Samples of a pixel on connected triangles.
#[derive(Clone, Copy, Default)]
struct Group {
    id: u32,
    samples: [bool; SAMPLES],
    count: u32,
}

/// A lit surface point.
struct Lit {
    /// Where it is \[m\].
    p: Vec3,
    /// Unit normal, towards the viewer.
    normal: Vec3,
    /// Direction towards the viewer.
    view: Vec3,
    /// Sky light.
    sky: f32,
    /// Fraction of the sky that is visible.
    open: f32,
}

impl Shader<'_> {
    /// The colour of the pixel in column `x` of row `y` of the picture, whose samples see `ids` behind
    /// strands of colour `veil`, which leave a fraction of `through`.
    pub fn pixel(&self, x: usize, y: usize, ids: &[u32; SAMPLES], (veil, through): (Color, f32)) -> Rgba {
        let at = [x as f32, y as f32];
        let color = if through < HIDDEN {
            Vec3::ZERO
        } else if ids.iter().all(|&id| id == NOTHING) {
            self.background(at[0] + 0.5, at[1] + 0.5)
        } else {
            let (groups, count) = self.group(ids);
            let mut sum = Vec3::ZERO;
            for group in &groups[..count] {
                let [dx, dy] = middle((0..SAMPLES).filter(|&s| group.samples[s]));
                let color = if group.id == NOTHING {
                    self.background(at[0] + dx, at[1] + dy)
                } else {
                    self.lit(at[0] + dx, at[1] + dy, group, ids)
                };
                sum += color * group.count as f32;
            }
            sum / SAMPLES as f32
        };
        encode(veil + color * through, x, y)
    }

    fn group(&self, ids: &[u32; SAMPLES]) -> ([Group; SAMPLES], usize) {
        let mut groups = [Group::default(); SAMPLES];
        let mut count = 0;
        for (s, &id) in ids.iter().enumerate() {
            let found = groups[..count].iter().position(|group| self.hangs_together(group.id, id));
            let k = found.unwrap_or_else(|| {
                groups[count].id = id;
                count += 1;
                count - 1
            });
            groups[k].samples[s] = true;
            groups[k].count += 1;
        }
        (groups, count)
    }

    /// Whether two triangles show the same side of the same surface and have a corner in common.
    fn hangs_together(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        if a == NOTHING || b == NOTHING || (a ^ b) & FRONT != 0 {
            return false;
        }
        let [p, q] = [a, b].map(|id| self.assembly.triangles[(id & !FRONT) as usize]);
        p.iter().any(|v| q.contains(v))
    }

    /// The colour of a group of samples with mean position `x` and `y`.
    fn lit(&self, x: f32, y: f32, group: &Group, ids: &[u32; SAMPLES]) -> Color {
        let Assembly { triangles, positions, normals, parts, part_of, .. } = self.assembly;
        let triangle = (group.id & !FRONT) as usize;
        let front = group.id & FRONT != 0;
        let part = &parts[part_of[triangle] as usize];
        let corners = triangles[triangle].map(|v| v as usize);
        let share = self.shares(corners, x, y);
        let mix = |values: &[Vec3]| {
            values[corners[0]] * share[0] + values[corners[1]] * share[1] + values[corners[2]] * share[2]
        };
        let p = mix(positions);
        let view = (self.projection.eye() - p).normalize_or(Vec3::Y);
        let mut normal = mix(normals).normalize_or(Vec3::Y);
        let side = usize::from(part.thin && !front);
        if side == 1 {
            normal = -normal;
        }
        // Smooth normals that face away although the triangle does not are rotated to the silhouette.
        let facing = normal.dot(view);
        if facing < 0.0 {
            normal = (normal - view * facing).normalize_or(view);
        }
        let sky = |k: usize| self.sky[corners[k]];
        let sky_light: f32 = (0..3).map(|k| sky(k).sides[side] * share[k]).sum();
        let open: f32 = (0..3).map(|k| sky(k).open * share[k]).sum();
        let albedo = self.albedo(group, ids, x, y);
        let at = Lit { p, normal, view, sky: sky_light, open };
        let light = self.light(&at, part.thin);
        let natural = tone(albedo * light.0 + light.1);
        natural.lerp(albedo, 1.0 - part.shading)
    }

    /// Light on a surface: a factor on its colour, and added sheen.
    fn light(&self, at: &Lit, thin: bool) -> (Vec3, Vec3) {
        let &Lit { p, normal, view, sky, open } = at;
        let lights = &self.scene.lights;
        let cosine = normal.dot(lights.key);
        let mut sum = Vec3::ZERO;
        if cosine > 0.0 || thin {
            let visible = self.shadows.key(p, if cosine < 0.0 { -normal } else { normal });
            let visible = visible * self.hair.key(p, lights.softness);
            let through = if thin { THROUGH * (-cosine).max(0.0) } else { 0.0 };
            sum += lights.key_color * (visible * (cosine.max(0.0) + through));
        }
        let rise = normal.dot(lights.up);
        let around = 0.35 + 0.65 * open;
        sum += lights.fill_color * (0.5 + 0.5 * normal.dot(lights.fill)).powi(2) * around;
        sum += lights.sky_color * sky;
        sum += lights.bounce_color * (0.5 - 0.5 * rise) * open;
        // Fibres catch light at grazing angles.
        let grazing = (1.0 - normal.dot(view).clamp(0.0, 1.0)).powi(3);
        let sheen = if thin { 0.055 } else { 0.03 };
        (sum, lights.sky_color * (sheen * grazing * around))
    }

    fn albedo(&self, group: &Group, ids: &[u32; SAMPLES], x: f32, y: f32) -> Color {
        let of = |id: u32| {
            let triangle = (id & !FRONT) as usize;
            let part = &self.assembly.parts[self.assembly.part_of[triangle] as usize];
            let surface = match part.look {
                Look::Plain(color) => return color,
                Look::Ring(first) => {
                    let corners = self.assembly.triangles[triangle].map(|v| v as usize);
                    let share = self.shares(corners, x, y);
                    let color = |k: usize| {
                        let ring = (corners[k] - part.first_vertex as usize) / SIDES as usize;
                        self.assembly.ring_colors[first + ring]
                    };
                    return (0..3).map(|k| color(k) * share[k]).sum();
                }
                Look::Surface(k) => &self.scene.surfaces[k],
            };
            match &surface.paint {
                Paint::Plain { front, back } => {
                    if id & FRONT != 0 {
                        *front
                    } else {
                        *back
                    }
                }
                Paint::Triangles(colors) => colors[self.assembly.number[triangle] as usize],
                Paint::Vertices(colors) => {
                    let corners = self.assembly.triangles[triangle].map(|v| v as usize);
                    let share = self.shares(corners, x, y);
                    let color = |k: usize| colors.get(corners[k] - part.first_vertex as usize).copied();
                    (0..3).map(|k| color(k).unwrap_or_default() * share[k]).sum()
                }
            }
        };
        if ids.iter().all(|&id| id == group.id) {
            return of(group.id);
        }
        let sum: Vec3 = (0..SAMPLES).filter(|&s| group.samples[s]).map(|s| of(ids[s])).sum();
        sum / group.count as f32
    }

    /// Barycentric weights of the point seen at `x` and `y`, perspective-correct; each within 0 to 1.
    fn shares(&self, corners: [usize; 3], x: f32, y: f32) -> [f32; 3] {
        let at = Vec3::new(x, y, 1.0);
        let [a, b, c] = corners.map(|v| self.raster.projected[v]);
        // Relative to the pixel, so that little is lost to rounding.
        let [a, b, c] = [a, b, c].map(|v| Vec3::new(v.x - at.x * v.z, v.y - at.y * v.z, v.z));
        let cross = |p: Vec3, q: Vec3| p.x * q.y - p.y * q.x;
        let [s, t, u] = [cross(b, c), cross(c, a), cross(a, b)];
        let sum = s + t + u;
        if sum == 0.0 || !sum.is_finite() {
            return [1.0 / 3.0; 3];
        }
        let shares = [s, t, u].map(|v| (v / sum).clamp(0.0, 1.0));
        let sum: f32 = shares.iter().sum();
        shares.map(|v| v / sum)
    }

    /// The floor or the background.
    fn background(&self, x: f32, y: f32) -> Color {
        let backdrop = &self.scene.backdrop;
        let height = y / self.height as f32;
        let plain = backdrop.top.lerp(backdrop.bottom, height * height * (3.0 - 2.0 * height));
        let Some(floor) = &self.floor else { return plain };
        let (eye, ray) = (self.projection.eye(), self.projection.ray(x, y));
        let fall = -floor.normal.dot(ray);
        if fall <= 0.0 {
            return plain;
        }
        let p = eye + ray * ((floor.normal.dot(eye) - floor.height) / fall);
        let lights = &self.scene.lights;
        let offset = (p - on_floor(floor, lights.center)) / lights.radius;
        let far = offset.length();
        let fade = 1.0 - smooth((far - 2.5) / 4.0);
        if fade <= 0.0 {
            return plain;
        }
        let key = lights.key_color * lights.key.dot(floor.normal).max(0.0);
        let visible = self.shadows.key(p, floor.normal) * self.hair.key(p, lights.softness);
        let open = self.floor_light.at(offset);
        let whole = key + lights.sky_color;
        // Light comes from the rest of the room too.
        let open = 0.3 + 0.7 * open;
        let share = (key * visible + lights.sky_color * open) / whole;
        let share = Vec3::ONE - 0.82 * (Vec3::ONE - share);
        // A pool of light around the action.
        let pool = 1.0 + 0.05 * (1.0 - smooth(far / 2.5));
        plain * (Vec3::ONE.lerp(share * pool, fade))
    }
}

fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Tone mapping: linear up to the knee, then compressed towards white.
pub fn tone(color: Color) -> Color {
    const KNEE: f32 = 0.6;
    let bend = |v: f32| {
        if v <= KNEE { v } else { 1.0 - (1.0 - KNEE) * (-(v - KNEE) / (1.0 - KNEE)).exp() }
    };
    Vec3::new(bend(color.x), bend(color.y), bend(color.z))
}

/// Ordered dither over 4×4 pixels, against banding.
const DITHER: [[f32; 4]; 4] =
    [[0.0, 8.0, 2.0, 10.0], [12.0, 4.0, 14.0, 6.0], [3.0, 11.0, 1.0, 9.0], [15.0, 7.0, 13.0, 5.0]];

/// As stored: sRGB.
fn encode(color: Color, x: usize, y: usize) -> Rgba {
    let threshold = (DITHER[y % 4][x % 4] + 0.5) / 16.0;
    let [r, g, b] = color.to_array().map(|v| (stored_quickly(v) * 255.0 + threshold) as u8);
    [r, g, b, 255]
}

/// The nearest colour that can be stored.
pub fn to_bytes(color: Color) -> Rgba {
    let [r, g, b] = color.to_array().map(|v| (stored(v) * 255.0).round() as u8);
    [r, g, b, 255]
}

fn stored(v: f32) -> f32 {
    let v = v.clamp(0.0, 1.0);
    if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

/// Steps of the table of [`stored_quickly`].
const STEPS: usize = 1024;

/// [`stored`] from a table over the square root of the value, where it is nearly linear; a power per pixel
/// would take as long as its lighting.
fn stored_quickly(v: f32) -> f32 {
    static TABLE: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let root = |k: usize| k as f32 / STEPS as f32;
        (0..=STEPS + 1).map(|k| stored(root(k) * root(k))).collect()
    });
    let at = v.clamp(0.0, 1.0).sqrt() * STEPS as f32;
    let k = at as usize;
    TABLE[k] + (TABLE[k + 1] - TABLE[k]) * (at - k as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_as_good_as_what_it_stands_for() {
        for k in 0..=100_000 {
            let v = k as f32 / 100_000.0;
            assert!((stored_quickly(v) - stored(v)).abs() < 2e-4, "{v}");
        }
        assert_eq!(stored_quickly(-1.0), 0.0);
        assert!((stored_quickly(7.0) - 1.0).abs() < 1e-6);
    }
}
