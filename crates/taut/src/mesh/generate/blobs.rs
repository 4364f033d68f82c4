//! Closed surfaces around smooth unions of simple parts: tapered limbs, plates, and carved parts.
//!
//! The parts define an implicit function, negative inside. Its surface is the boundary of the
//! [stuffed](crate::mesh::stuff) solid, which is a manifold; then vertices move to the centre of their
//! neighbours, along the surface, and are projected back onto it, so that triangles are even.

use glam::DVec3;
use rayon::prelude::*;

use super::GenerateError;
use crate::{
    contact::distance::vertex_triangle,
    mesh::{
        TriangleMesh,
        stuff::{Field, boundary_of},
    },
};

/// Rounds of smoothing.
const ROUNDS: usize = 12;
/// Minimum number of triangles that show the shape.
const MIN_TRIANGLES: u32 = 500;
/// Maximum number of triangles.
const MAX_TRIANGLES: u32 = 2_000_000;
/// Cells along the longest side, each of which lists the parts that contribute in it.
const CELLS: f64 = 48.0;
/// Iterations from both ends of a segment to the surface.
const STEPS: usize = 8;

/// Shape of a part. Lengths in the units of the whole.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// The sweep of one ball to another.
    Limb { from: DVec3, to: DVec3, radii: [f64; 2] },
    /// A thick triangle.
    Plate { corners: [DVec3; 3], radius: f64 },
}

#[derive(Clone, Copy, Debug)]
struct Part {
    form: Form,
    /// Distance from the intersection with the previous parts within which the surface is rounded.
    blend: f64,
    /// Subtracted instead of added.
    carved: bool,
}

/// Parts in the order in which they are combined.
#[derive(Clone, Debug, Default)]
pub(super) struct Blobs {
    parts: Vec<Part>,
    low: DVec3,
    high: DVec3,
}

impl Blobs {
    /// Adds limbs through points, each with its radius.
    pub fn chain(&mut self, blend: f64, points: &[([f64; 3], f64)]) {
        for pair in points.windows(2) {
            let [(from, r), (to, s)] = [pair[0], pair[1]];
            self.add(Form::Limb { from: from.into(), to: to.into(), radii: [r, s] }, blend);
        }
    }

    /// The same, and its mirror image on the other side of z = 0.
    pub fn chains(&mut self, blend: f64, points: &[([f64; 3], f64)]) {
        self.chain(blend, points);
        let mirrored: Vec<_> = points.iter().map(|&([x, y, z], r)| ([x, y, -z], r)).collect();
        self.chain(blend, &mirrored);
    }

    /// A ball.
    pub fn ball(&mut self, blend: f64, centre: [f64; 3], radius: f64) {
        let centre = DVec3::from(centre);
        self.add(Form::Limb { from: centre, to: centre, radii: [radius; 2] }, blend);
    }

    /// Two balls, one on either side of z = 0.
    pub fn balls(&mut self, blend: f64, [x, y, z]: [f64; 3], radius: f64) {
        self.ball(blend, [x, y, z], radius);
        self.ball(blend, [x, y, -z], radius);
    }

    /// Two plates, one on either side of z = 0.
    pub fn plates(&mut self, blend: f64, corners: [[f64; 3]; 3], radius: f64) {
        for side in [1.0, -1.0] {
            let corners = corners.map(|[x, y, z]| DVec3::new(x, y, side * z));
            self.add(Form::Plate { corners, radius }, blend);
        }
    }

    /// Subtracts limbs on both sides of z = 0.
    pub fn carve(&mut self, blend: f64, points: &[([f64; 3], f64)]) {
        let first = self.parts.len();
        self.chains(blend, points);
        self.parts[first..].iter_mut().for_each(|part| part.carved = true);
    }

    fn add(&mut self, form: Form, blend: f64) {
        let (points, radius) = match form {
            Form::Limb { from, to, radii } => (vec![from, to], radii[0].max(radii[1])),
            Form::Plate { corners, radius } => (corners.to_vec(), radius),
        };
        for x in points {
            // Blending swells by less than a quarter of its reach.
            let reach = DVec3::splat(radius + blend);
            self.low = self.low.min(x - reach);
            self.high = self.high.max(x + reach);
        }
        self.parts.push(Part { form, blend, carved: false });
    }

    /// Approximate signed distance from the surface, negative inside.
    fn value(&self, p: DVec3) -> f64 {
        self.parts.iter().fold(f64::INFINITY, |value, part| part.joined(value, part.form.distance(p)))
    }

    /// The surface with about `triangles` triangles, its lowest point at y = 0, `size` metres long along axis
    /// `axis`.
    pub fn surface(&self, triangles: u32, axis: usize, size: f64) -> Result<TriangleMesh, GenerateError> {
        if !(MIN_TRIANGLES..=MAX_TRIANGLES).contains(&triangles) {
            let (least, most) = (MIN_TRIANGLES as f32, MAX_TRIANGLES as f32);
            return Err(GenerateError::Range { name: "triangles", value: triangles as f32, least, most });
        }
        let sorted = Sorted::new(self);
        let mut spacing = (self.high - self.low).max_element() / 60.0;
        let mut best: Option<(f64, TriangleMesh)> = None;
        for _ in 0..5 {
            let Some(mesh) = boundary_of(&sorted, self.low, self.high, spacing) else { break };
            let ratio = mesh.triangles.len() as f64 / f64::from(triangles);
            if best.as_ref().is_none_or(|(off, _)| ratio.ln().abs() < *off) {
                best = Some((ratio.ln().abs(), mesh));
            }
            if ratio.ln().abs() < 0.02 {
                break;
            }
            spacing *= ratio.sqrt();
        }
        let Some((_, mut mesh)) = best else { return Err(GenerateError::TooLarge { vertices: u64::MAX }) };
        let x = sorted.smooth(&mesh);
        let all = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = x.iter().fold(all, |[low, high], &x| [low.min(x), high.max(x)]);
        let scale = size / (high - low)[axis];
        mesh.positions = x.iter().map(|&x| ((x - DVec3::new(0.0, low.y, 0.0)) * scale).as_vec3()).collect();
        Ok(mesh)
    }
}

impl Part {
    /// The value of all parts up to this one, from the previous value and the distance from this part.
    fn joined(&self, value: f64, distance: f64) -> f64 {
        if self.carved {
            -smooth_min(-value, distance, self.blend)
        } else {
            smooth_min(value, distance, self.blend)
        }
    }
}

/// The same parts, sorted into cells. Values are bit-identical to those of all parts together.
struct Sorted<'a> {
    blobs: &'a Blobs,
    origin: DVec3,
    side: f64,
    cubes: [usize; 3],
    /// By cell: the parts that contribute in it, in their order.
    lists: Vec<Vec<Part>>,
}

impl<'a> Sorted<'a> {
    fn new(blobs: &'a Blobs) -> Self {
        let size = blobs.high - blobs.low;
        let side = size.max_element() / CELLS;
        let cubes = (size / side).ceil().max(DVec3::ONE).to_array().map(|n| n as usize);
        let place = |n: usize| {
            let at = [n % cubes[0], n / cubes[0] % cubes[1], n / (cubes[0] * cubes[1])];
            blobs.low + (DVec3::from(at.map(|k| k as f64)) + 0.5) * side
        };
        let count = cubes.iter().product();
        let lists = (0..count).into_par_iter().map(|n| blobs.near(place(n), 0.87 * side)).collect();
        Self { blobs, origin: blobs.low, side, cubes, lists }
    }

    fn value(&self, p: DVec3) -> f64 {
        let at = ((p - self.origin) / self.side).floor();
        let [x, y, z] = at.to_array().map(|k| if k >= 0.0 { k as usize } else { usize::MAX });
        if x >= self.cubes[0] || y >= self.cubes[1] || z >= self.cubes[2] {
            return self.blobs.value(p);
        }
        let list = &self.lists[(z * self.cubes[1] + y) * self.cubes[0] + x];
        list.iter().fold(f64::INFINITY, |value, part| part.joined(value, part.form.distance(p)))
    }

    /// Outward directions.
    fn gradient(&self, p: DVec3) -> DVec3 {
        let step = 1e-5;
        let along = |axis: DVec3| (self.value(p + axis * step) - self.value(p - axis * step)) / (2.0 * step);
        DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
    }

    /// Smooths triangles; returns the new positions.
    fn smooth(&self, mesh: &TriangleMesh) -> Vec<DVec3> {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
        for &[a, b, c] in &mesh.triangles {
            // Every edge of a closed surface is traversed once in each direction.
            for [from, to] in [[a, b], [b, c], [c, a]] {
                neighbours[from as usize].push(to);
            }
        }
        let mut x: Vec<DVec3> = mesh.positions.iter().map(|x| x.as_dvec3()).collect();
        for _ in 0..ROUNDS {
            let place = |(v, around): (usize, &Vec<u32>)| {
                let middle = around.iter().map(|&n| x[n as usize]).sum::<DVec3>() / around.len() as f64;
                let normal = self.gradient(x[v]).normalize_or_zero();
                let way = middle - x[v];
                self.onto(x[v] + 0.7 * (way - normal * way.dot(normal)))
            };
            x = neighbours.par_iter().enumerate().map(place).collect();
        }
        x
    }

    /// The point of the surface near `p`.
    fn onto(&self, mut p: DVec3) -> DVec3 {
        for _ in 0..2 {
            let gradient = self.gradient(p);
            // Between parts the function is flatter than a distance; a step is never longer than that.
            p -= gradient * (self.value(p) / gradient.length_squared().max(0.25));
        }
        p
    }
}

impl Blobs {
    /// The parts that contribute anywhere within `reach` of `centre`.
    fn near(&self, centre: DVec3, reach: f64) -> Vec<Part> {
        let (mut list, mut low, mut high) = (Vec::new(), f64::INFINITY, f64::INFINITY);
        for part in &self.parts {
            let distance = part.form.distance(centre);
            let way = part.form.steepness() * reach;
            let [near, far] = [distance - way, distance + way];
            if near >= part.blend + if part.carved { -low } else { high } {
                continue;
            }
            // Only this part contributes where all previous ones are further away.
            if !part.carved && low >= far + part.blend {
                list.clear();
            }
            list.push(*part);
            let [for_low, for_high] = if part.carved { [far, near] } else { [near, far] };
            (low, high) = (part.joined(low, for_low), part.joined(high, for_high));
        }
        list
    }
}

impl Field for Sorted<'_> {
    fn is_inside(&self, p: DVec3) -> bool {
        self.value(p) < 0.0
    }

    /// By secants; an end that stays is weighted by half each time (the Illinois rule).
    fn leaving(&self, inside: DVec3, outside: DVec3) -> f64 {
        let at = |t: f64| self.value(inside.lerp(outside, t));
        let (mut from, mut to) = ((0.0, at(0.0)), (1.0, at(1.0)));
        let mut last = 0;
        for _ in 0..STEPS {
            let t = from.0 + (to.0 - from.0) * (from.1 / (from.1 - to.1)).clamp(0.0, 1.0);
            let value = at(t);
            if value < 0.0 {
                to.1 *= if last < 0 { 0.5 } else { 1.0 };
                (from, last) = ((t, value), -1);
            } else {
                from.1 *= if last > 0 { 0.5 } else { 1.0 };
                (to, last) = ((t, value), 1);
            }
            if value == 0.0 {
                break;
            }
        }
        if last < 0 { from.0 } else { to.0 }
    }
}

impl Form {
    /// Lipschitz bound of the distance along a segment.
    fn steepness(&self) -> f64 {
        match *self {
            Self::Limb { from, to, radii: [r, s] } => 1.0 + (s - r).abs() / from.distance(to).max(1e-6),
            Self::Plate { .. } => 1.0,
        }
    }

    fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Self::Limb { from, to, radii: [r, s] } => {
                let way = to - from;
                let t = ((p - from).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
                p.distance(from + way * t) - (r + (s - r) * t)
            }
            Self::Plate { corners: [a, b, c], radius } => {
                vertex_triangle(&[p, a, b, c]).squared.sqrt() - radius
            }
        }
    }
}

/// The smooth minimum of both, rounded where they differ by less than `reach`.
fn smooth_min(a: f64, b: f64, reach: f64) -> f64 {
    if a.is_infinite() || reach <= 0.0 {
        return a.min(b);
    }
    let near = (reach - (a - b).abs()).max(0.0) / reach;
    a.min(b) - 0.25 * reach * near * near
}
