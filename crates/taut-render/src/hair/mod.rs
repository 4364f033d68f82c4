//! Strands that are thinner than a pixel, or not much wider: lit as fibres, drawn by the fraction of each
//! pixel that they cover.
//!
//! Every point of every strand is lit once ([`fiber`]): two highlights along the tangent, light that passes
//! through, and light scattered among strands. What strands leave of each other's light, and of that on
//! everything else, is in one volume of optical depth per light ([`opacity`]). Segments are then drawn from
//! front to back ([`cover`]), each pixel until nothing more can be seen through it.
//!
//! Shadow maps of depths would not do: a strand covers a small part of a texel, and light reaches far in.

mod cover;
mod fiber;
mod opacity;

use std::ops::Range;

use glam::{Vec2, Vec3};
use rayon::prelude::*;

pub use cover::{Cover, CoverTile};

use self::{fiber::Fiber, opacity::Opacity};
use crate::{
    raster::Projection,
    scene::{Color, Scene, Strands},
    shade::tone,
    shadow::Shadows,
};

/// Directions of the sky, from each of which strands shade each other: the zenith and a ring.
const SKY_VOLUMES: usize = 7;
/// Distance of the ring from the zenith: the sine of its angle.
const RING: f32 = 0.87;
/// Cells of a volume of the key light, and of the sky, along their sides and along the light.
const KEY_CELLS: [usize; 2] = [160, 64];
const SKY_CELLS: [usize; 2] = [56, 32];
/// Light that strands take from what is behind them, over what they cover: most of it is scattered forwards.
const KEY_EXTINCTION: f32 = 0.75;
const SKY_EXTINCTION: f32 = 0.5;
/// Points between those at which sky light past surfaces is measured: it varies little along a strand.
const SKY_STRIDE: usize = 8;

/// A lit point of a strand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    /// Homogeneous pixel coordinates.
    projected: Vec3,
    /// Radius in pixels at a distance of 1 m.
    radius: f32,
    color: Color,
}

/// All strands of a scene. Reused from frame to frame to avoid allocation.
#[derive(Debug, Default)]
pub struct Hair {
    positions: Vec<Vec3>,
    radii: Vec<f32>,
    points: Vec<Point>,
    /// Every segment's first point; the next is its second.
    segments: Vec<u32>,
    key: Opacity,
    sky: Vec<Opacity>,
    /// Segments on the screen.
    pub cover: Cover,
}

impl Hair {
    /// Collects the strands of `scene`, and measures what they leave of its light. Segments with a point that
    /// is not finite are not drawn.
    pub fn gather(&mut self, scene: &Scene) {
        self.positions.clear();
        self.radii.clear();
        self.segments.clear();
        for strands in &scene.strands {
            let first = self.positions.len();
            for own in strands.ranges() {
                let drawn = own
                    .clone()
                    .skip(1)
                    .filter(|&v| strands.positions[v - 1].is_finite() && strands.positions[v].is_finite());
                self.segments.extend(drawn.map(|v| (first + v - 1) as u32));
            }
            self.positions.extend_from_slice(&strands.positions);
            self.radii.extend((0..strands.positions.len()).map(|v| strands.radius(v)));
        }
        self.sky.resize_with(SKY_VOLUMES, Opacity::default);
        if self.is_empty() {
            return;
        }
        let (positions, radii, segments) = (&self.positions, &self.radii, &self.segments);
        let up = scene.lights.up;
        let (x, y) = up.any_orthonormal_pair();
        let (key, sky) = (&mut self.key, &mut self.sky);
        rayon::join(
            || key.draw(scene.lights.key, KEY_CELLS, positions, radii, segments),
            || {
                sky.par_iter_mut().enumerate().for_each(|(k, volume)| {
                    let turn = Vec2::from_angle(k as f32 * std::f32::consts::TAU / (SKY_VOLUMES - 1) as f32);
                    let out = if k == 0 { 0.0 } else { RING };
                    let toward = up * (1.0 - out * out).sqrt() + (x * turn.x + y * turn.y) * out;
                    volume.draw(toward, SKY_CELLS, positions, radii, segments);
                });
            },
        );
    }

    /// Whether nothing is drawn.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Fraction of the key light that strands leave at `p`; `softness` is the tangent of half the angular
    /// size of the light.
    pub fn key(&self, p: Vec3, softness: f32) -> f32 {
        if self.is_empty() { 1.0 } else { self.key.transmittance(p, KEY_EXTINCTION, softness) }
    }

    /// Fraction of the sky light that strands leave at `p` on a surface with this normal; with none, of that
    /// from all around.
    pub fn sky(&self, p: Vec3, normal: Option<Vec3>) -> f32 {
        if self.is_empty() {
            return 1.0;
        }
        let (mut sum, mut whole) = (0.0, 0.0);
        for volume in &self.sky {
            let weight = normal.map_or(1.0, |normal| normal.dot(volume.toward()).max(0.0));
            if weight > 0.0 {
                whole += weight;
                sum += weight * volume.transmittance(p, SKY_EXTINCTION, 0.0);
            }
        }
        if whole > 0.0 { sum / whole } else { 1.0 }
    }

    /// Lights all points, and places all segments on the screen. `shadows` are those of everything else, if
    /// there is anything.
    pub fn light(&mut self, scene: &Scene, shadows: Option<&Shadows>, projection: &Projection) {
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        for strands in &scene.strands {
            let start = points.len();
            let ranges: Vec<Range<usize>> = strands.ranges().collect();
            let lit = ranges.par_iter().enumerate().flat_map_iter(|(number, own)| {
                self.light_strand(scene, strands, (number, own.clone()), shadows, projection)
            });
            points.par_extend(lit);
            points.resize(start + strands.positions.len(), Point::default());
        }
        self.points = points;
        self.cover.place(&self.points, &self.segments, projection);
    }

    /// The points `own` of the strand `number`.
    fn light_strand(
        &self,
        scene: &Scene,
        strands: &Strands,
        (number, own): (usize, Range<usize>),
        shadows: Option<&Shadows>,
        projection: &Projection,
    ) -> Vec<Point> {
        let lights = &scene.lights;
        let points = &strands.positions[own.clone()];
        let fiber = Fiber::new(number as u32, strands.shading);
        let open = |p: Vec3| shadows.map_or(1.0, |shadows| shadows.sky(p, lights.up).open);
        // Sky light past surfaces, before and after the point.
        let mut around = [open(points[0]); 2];
        let light = |(k, &p): (usize, &Vec3)| {
            if k % SKY_STRIDE == 0 {
                let next = points[(k + SKY_STRIDE).min(points.len() - 1)];
                around = [around[1], open(next)];
            }
            let share = (k % SKY_STRIDE) as f32 / SKY_STRIDE as f32;
            let open = around[0] + (around[1] - around[0]) * share;
            let lit_by_key = shadows.map_or(1.0, |shadows| shadows.key(p, lights.key));
            let key = lit_by_key * self.key(p, 0.0);
            let sky = open * self.sky(p, None);
            let albedo = strands.color(own.start + k);
            let view = (projection.eye() - p).normalize_or(lights.up);
            let natural = fiber.light(lights, tangent(points, k), view, albedo, [key, sky]);
            Point {
                projected: projection.project(p),
                radius: strands.radius(own.start + k) * projection.focal(),
                color: tone(natural).lerp(albedo, 1.0 - strands.shading),
            }
        };
        points.iter().enumerate().map(light).collect()
    }

    /// Draws the tile `out` over what `raster` has in it.
    pub fn draw(&self, [column, row]: [usize; 2], under: &crate::raster::Tile, out: &mut CoverTile) {
        self.cover.draw([column, row], &self.points, under, out);
    }
}

/// Direction of a strand at its point `k`, towards its tip.
fn tangent(points: &[Vec3], k: usize) -> Vec3 {
    (points[(k + 1).min(points.len() - 1)] - points[k.saturating_sub(1)]).normalize_or(Vec3::Y)
}
