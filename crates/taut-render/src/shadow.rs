//! Shadow maps: depth maps from several points of the key light, whose mean is a soft shadow, and small ones
//! from all over the sky, whose mean is the ambient visibility.
//!
//! Maps of the key light share its axes and are sheared: a ray towards the point (s, t) of the light keeps
//! `x + s z` and `y + t z`, where z is the depth away from the light. All maps are fixed in space, so shadows
//! do not flicker when cloth moves.

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::{assembly::Assembly, light::Lights};

/// Points of the key light.
const KEY_MAPS: usize = 10;
/// Texels along the side of a map of the key light.
const KEY_SIZE: usize = 512;
/// Directions of the sky.
const SKY_MAPS: usize = 24;
/// Texels along the side of a map of the sky.
const SKY_SIZE: usize = 112;

/// Additional sample offsets of the key light's maps in penumbrae.
const AROUND: [[f32; 2]; 4] = [[0.9, 0.4], [-0.4, 0.9], [-0.9, -0.4], [0.4, -0.9]];

/// An orthographic depth map of a light.
#[derive(Clone, Debug)]
struct DepthMap {
    size: usize,
    depth: Vec<f32>,
    /// Rows and columns that may be occupied: `[x0, y0, x1, y1]`, without the last.
    used: [usize; 4],
    /// Scratch: vertices in texels, and their depth \[m\].
    points: Vec<Vec3>,
}

impl DepthMap {
    fn new(size: usize) -> Self {
        Self { size, depth: vec![f32::INFINITY; size * size], used: [0; 4], points: Vec::new() }
    }

    /// Draws triangles whose vertices `place` maps to texels and depth.
    fn draw(&mut self, assembly: &Assembly, place: impl Fn(Vec3) -> Vec3) {
        let [x0, y0, x1, y1] = self.used;
        for y in y0..y1 {
            self.depth[y * self.size + x0..y * self.size + x1].fill(f32::INFINITY);
        }
        self.used = [self.size, self.size, 0, 0];
        self.points.clear();
        self.points.extend(assembly.positions.iter().map(|&p| place(p)));
        for t in &assembly.triangles {
            self.triangle(t.map(|v| self.points[v as usize]));
        }
        if self.used[0] >= self.used[2] {
            self.used = [0; 4];
        }
    }

    fn triangle(&mut self, [a, b, c]: [Vec3; 3]) {
        let low = a.min(b).min(c);
        let high = a.max(b).max(c);
        // Texels whose centres are inside the bounds.
        let last = self.size as f32 - 1.0;
        let first = |v: f32| (v - 0.5).ceil().max(0.0);
        let end = |v: f32| (v - 0.5).floor().min(last);
        let (x0, y0, x1, y1) = (first(low.x), first(low.y), end(high.x), end(high.y));
        if !(x0 <= x1 && y0 <= y1) {
            return;
        }
        let (u, v) = (b - a, c - a);
        let area = u.x * v.y - u.y * v.x;
        if area == 0.0 {
            return;
        }
        let inverse = 1.0 / area;
        let (zx, zy) = ((u.z * v.y - v.z * u.y) * inverse, (v.z * u.x - u.z * v.x) * inverse);
        let sign = area.signum();
        // Slightly more than the triangle, so that rounding leaves no pinholes between neighbours.
        let slack = -1e-3 * area.abs();
        let edge = |p: Vec3, q: Vec3| {
            let (dx, dy) = (sign * (q.x - p.x), sign * (q.y - p.y));
            (dx, dy, dx * (y0 + 0.5 - p.y) - dy * (x0 + 0.5 - p.x) - slack)
        };
        let edges = [edge(a, b), edge(b, c), edge(c, a)];
        let start = a.z + zx * (x0 + 0.5 - a.x) + zy * (y0 + 0.5 - a.y);
        let (x0, y0, x1, y1) = (x0 as usize, y0 as usize, x1 as usize, y1 as usize);
        self.used =
            [self.used[0].min(x0), self.used[1].min(y0), self.used[2].max(x1 + 1), self.used[3].max(y1 + 1)];
        for y in y0..=y1 {
            let down = (y - y0) as f32;
            let mut e = edges.map(|(dx, _, e)| e + dx * down);
            let mut z = start + zy * down;
            for depth in &mut self.depth[y * self.size + x0..=y * self.size + x1] {
                if e[0] >= 0.0 && e[1] >= 0.0 && e[2] >= 0.0 {
                    let inside = z.clamp(low.z, high.z);
                    if inside < *depth {
                        *depth = inside;
                    }
                }
                for k in 0..3 {
                    e[k] -= edges[k].1;
                }
                z += zx;
            }
        }
    }

    /// Fraction of the light that reaches the point at `x` and `y` in texels, at depth `z`: over the four
    /// texels around it, 0 to 1.
    #[inline(always)]
    fn visible(&self, x: f32, y: f32, z: f32) -> f32 {
        let (x, y) = (x - 0.5, y - 0.5);
        let [x0, y0, x1, y1] = self.used.map(|v| v as f32);
        if !(x >= x0 - 1.0 && y >= y0 - 1.0 && x < x1 && y < y1) {
            return 1.0;
        }
        let last = self.size as f32 - 1.001;
        let (x, y) = (x.clamp(0.0, last), y.clamp(0.0, last));
        let (i, j) = (x as usize, y as usize);
        let (fx, fy) = (x - i as f32, y - j as f32);
        let at = j * self.size + i;
        let lit = |depth: f32| if z <= depth { 1.0 } else { 0.0 };
        let top = lit(self.depth[at]) * (1.0 - fx) + lit(self.depth[at + 1]) * fx;
        let below = &self.depth[at + self.size..at + self.size + 2];
        let bottom = lit(below[0]) * (1.0 - fx) + lit(below[1]) * fx;
        top * (1.0 - fy) + bottom * fy
    }
}

impl DepthMap {
    /// Distance of the shadow caster in front of the point \[m\]; none if it is not above 0.
    fn gap(&self, x: f32, y: f32, z: f32) -> f32 {
        let texel = |v: f32| (v.max(0.0) as usize).min(self.size - 1);
        let depth = self.depth[texel(y) * self.size + texel(x)];
        if depth.is_finite() { z - depth } else { 0.0 }
    }
}

/// Axes of a distant light, and the scale of its maps.
#[derive(Clone, Copy, Debug)]
struct View {
    x: Vec3,
    y: Vec3,
    /// Away from the light.
    z: Vec3,
    center: Vec3,
    /// Texels per metre.
    scale: f32,
    half: f32,
}

impl View {
    fn new(toward: Vec3, center: Vec3, radius: f32, size: usize) -> Self {
        let z = -toward.normalize_or(Vec3::Y);
        let (x, y) = z.any_orthonormal_pair();
        Self { x, y, z, center, scale: 0.5 * size as f32 / radius, half: 0.5 * size as f32 }
    }

    fn place(&self, p: Vec3) -> Vec3 {
        let d = p - self.center;
        Vec3::new(
            d.dot(self.x) * self.scale + self.half,
            d.dot(self.y) * self.scale + self.half,
            d.dot(self.z),
        )
    }

    /// Length of a texel \[m\].
    fn texel(&self) -> f32 {
        1.0 / self.scale
    }
}

/// Depth maps of all lights. Reused from frame to frame to avoid allocation.
#[derive(Debug)]
pub struct Shadows {
    key: View,
    /// Shear of each map, in texels per metre.
    shears: Vec<Vec2>,
    /// The largest of these.
    shear: f32,
    /// Their spacing, in texels per metre.
    spacing: f32,
    /// Occupied bounds of all maps of the key light: `[x0, y0, x1, y1]`.
    used: [f32; 4],
    key_maps: Vec<DepthMap>,
    sky: Vec<View>,
    /// Light from each direction of the sky, normalized so that an unoccluded upward surface gets 1 in total.
    sky_weights: Vec<f32>,
    sky_maps: Vec<DepthMap>,
}

/// Sky light on both sides of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkyLight {
    /// On the front and on the back; 1 for an unoccluded surface that faces up.
    pub sides: [f32; 2],
    /// Fraction of the sky that is visible, 0 to 1.
    pub open: f32,
}

impl Default for Shadows {
    fn default() -> Self {
        let view = View::new(Vec3::Y, Vec3::ZERO, 1.0, KEY_SIZE);
        Self {
            key: view,
            shears: vec![Vec2::ZERO; KEY_MAPS],
            shear: 0.0,
            spacing: 0.0,
            used: [0.0; 4],
            key_maps: vec![DepthMap::new(KEY_SIZE); KEY_MAPS],
            sky: vec![view; SKY_MAPS],
            sky_weights: vec![0.0; SKY_MAPS],
            sky_maps: vec![DepthMap::new(SKY_SIZE); SKY_MAPS],
        }
    }
}

impl Shadows {
    /// Draws the depth maps of `assembly`. Runs on the threads of the calling pool.
    pub fn draw(&mut self, assembly: &Assembly, lights: &Lights) {
        let golden = std::f32::consts::PI * (3.0 - 5f32.sqrt());
        self.key = View::new(lights.key, lights.center, lights.radius * (1.0 + lights.softness), KEY_SIZE);
        for (k, shear) in self.shears.iter_mut().enumerate() {
            let reach = lights.softness * ((k as f32 + 0.5) / KEY_MAPS as f32).sqrt();
            *shear = Vec2::from_angle(k as f32 * golden) * (reach * self.key.scale);
        }
        self.shear = lights.softness * self.key.scale;
        self.spacing = 0.8 * lights.softness * self.key.scale / (KEY_MAPS as f32).sqrt();
        let (up, across) = (lights.up, lights.up.any_orthonormal_pair());
        for k in 0..SKY_MAPS {
            // Evenly over the sky, from just above the horizon.
            let rise = 1.0 - 0.94 * (k as f32 + 0.5) / SKY_MAPS as f32;
            let out = Vec2::from_angle(k as f32 * golden) * (1.0 - rise * rise).sqrt();
            let direction = up * rise + across.0 * out.x + across.1 * out.y;
            self.sky[k] = View::new(direction, lights.center, lights.radius, SKY_SIZE);
            self.sky_weights[k] = 0.4 + 0.6 * rise;
        }
        let whole: f32 = (0..SKY_MAPS).map(|k| -self.sky[k].z.dot(up) * self.sky_weights[k]).sum();
        self.sky_weights.iter_mut().for_each(|w| *w /= whole);

        let (key, shears, sky) = (self.key, &self.shears, &self.sky);
        let key_maps = self.key_maps.par_iter_mut().enumerate();
        let sky_maps = self.sky_maps.par_iter_mut().enumerate();
        key_maps.for_each(|(k, map)| {
            map.draw(assembly, |p| {
                let q = key.place(p);
                Vec3::new(q.x + shears[k].x * q.z, q.y + shears[k].y * q.z, q.z)
            });
        });
        sky_maps.for_each(|(k, map)| map.draw(assembly, |p| sky[k].place(p)));
        let filled = self
            .key_maps
            .iter()
            .filter(|map| map.used[0] < map.used[2])
            .map(|map| map.used.map(|v| v as f32));
        let nothing = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        self.used =
            filled.fold(nothing, |a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]);
    }

    /// Fraction of the key light that reaches the point `p` of a surface with this normal, towards the light,
    /// 0 to 1.
    pub fn key(&self, p: Vec3, normal: Vec3) -> f32 {
        // Offset from the surface against self-shadowing: the more grazing the light, the further.
        let slope = 1.0 + 1.5 * (1.0 - normal.dot(self.key.z).abs());
        let p = p + normal * (1.2 * slope * self.key.texel()) - self.key.z * (0.8 * self.key.texel());
        let q = self.key.place(p);
        // Most of a floor is far from any shadow.
        let [x0, y0, x1, y1] = self.used;
        let shift = self.shear * q.z.abs() + 2.0;
        if q.x < x0 - shift || q.y < y0 - shift || q.x > x1 + shift || q.y > y1 + shift {
            return 1.0;
        }
        let (mut sum, mut apart, mut blocked) = (0.0, 0.0, 0.0);
        for (map, shear) in self.key_maps.iter().zip(&self.shears) {
            let (x, y) = (q.x + shear.x * q.z, q.y + shear.y * q.z);
            let visible = map.visible(x, y, q.z);
            sum += visible;
            if visible < 1.0 {
                let gap = map.gap(x, y, q.z);
                apart += gap.max(0.0);
                blocked += f32::from(u8::from(gap > 0.0));
            }
        }
        let count = KEY_MAPS as f32;
        if sum == 0.0 || sum == count || blocked == 0.0 {
            return sum / count;
        }
        // In a penumbra the edges of single maps must not show: each is sampled at more offsets, spaced about
        // like neighbouring points of the light, seen from the shadow caster.
        let spacing = self.spacing * apart / blocked;
        for offset in AROUND.map(|[x, y]| Vec2::new(x, y) * spacing) {
            for (map, shear) in self.key_maps.iter().zip(&self.shears) {
                sum += map.visible(q.x + shear.x * q.z + offset.x, q.y + shear.y * q.z + offset.y, q.z);
            }
        }
        sum / (count * (1 + AROUND.len()) as f32)
    }

    /// Sky light on both sides of a surface at `p`.
    pub fn sky(&self, p: Vec3, normal: Vec3) -> SkyLight {
        let mut light = SkyLight::default();
        for k in 0..SKY_MAPS {
            let view = &self.sky[k];
            let cosine = -normal.dot(view.z);
            let side = if cosine < 0.0 { -1.0 } else { 1.0 };
            let q = view.place(p + normal * (side * 1.5 * view.texel()) - view.z * view.texel());
            let visible = self.sky_maps[k].visible(q.x, q.y, q.z);
            light.sides[usize::from(cosine < 0.0)] += self.sky_weights[k] * cosine.abs() * visible;
            light.open += visible / SKY_MAPS as f32;
        }
        light
    }
}
