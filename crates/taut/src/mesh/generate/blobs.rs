//! Closed surfaces around smooth unions of simple parts: limbs that taper, plates, and what is carved out of them.
//!
//! The parts give one function of space, negative inside. Its surface is the boundary of the [stuffed](crate::mesh::stuff) solid, which is
//! a manifold; then vertices move to the middle of their neighbours, along the surface, and back onto it, so that triangles are even.

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
/// Fewest triangles that show the shape.
const FEWEST: u32 = 500;
/// Most triangles that are made.
const MOST: u32 = 2_000_000;

/// What a part is made of. Lengths in the units of the whole.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// From one ball to another, with all between.
    Limb { from: DVec3, to: DVec3, radii: [f64; 2] },
    /// A triangle of some thickness.
    Plate { corners: [DVec3; 3], radius: f64 },
}

#[derive(Clone, Copy, Debug)]
struct Part {
    form: Form,
    /// How far from the meeting with the parts before it the surface is rounded.
    blend: f64,
    /// Taken away instead.
    carved: bool,
    /// A ball around it: what is outside is at least as far from it as from the ball.
    middle: DVec3,
    radius: f64,
}

/// Parts in the order in which they are joined.
#[derive(Clone, Debug, Default)]
pub(super) struct Blobs {
    parts: Vec<Part>,
    low: DVec3,
    high: DVec3,
}

impl Blobs {
    /// Joins limbs through points, each with its radius.
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

    /// Takes away limbs on both sides of z = 0.
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
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        let around = points.iter().map(|x| x.distance(middle)).fold(0.0, f64::max) + radius;
        for x in points {
            // Blending swells by less than a quarter of its reach.
            let reach = DVec3::splat(radius + blend);
            self.low = self.low.min(x - reach);
            self.high = self.high.max(x + reach);
        }
        self.parts.push(Part { form, blend, carved: false, middle, radius: around });
    }

    /// About the distance from the surface, negative inside.
    fn value(&self, p: DVec3) -> f64 {
        let mut value = f64::INFINITY;
        for part in &self.parts {
            // Further away than the blend reaches, it changes nothing.
            let reach = if part.carved { -value } else { value } + part.blend + part.radius;
            if reach < 0.0 || p.distance_squared(part.middle) > reach * reach {
                continue;
            }
            let distance = part.form.distance(p);
            value = if part.carved {
                -smooth_min(-value, distance, part.blend)
            } else {
                smooth_min(value, distance, part.blend)
            };
        }
        value
    }

    /// Points straight out.
    fn gradient(&self, p: DVec3) -> DVec3 {
        let step = 1e-5;
        let along = |axis: DVec3| (self.value(p + axis * step) - self.value(p - axis * step)) / (2.0 * step);
        DVec3::new(along(DVec3::X), along(DVec3::Y), along(DVec3::Z))
    }

    /// The surface with about so many triangles, `scale` metres for each unit.
    pub fn surface(&self, triangles: u32, scale: f64) -> Result<TriangleMesh, GenerateError> {
        if !(FEWEST..=MOST).contains(&triangles) {
            let (least, most) = (FEWEST as f32, MOST as f32);
            return Err(GenerateError::Range { name: "triangles", value: triangles as f32, least, most });
        }
        let size = self.high - self.low;
        let mut spacing = size.max_element() / 60.0;
        let mut best: Option<(f64, TriangleMesh)> = None;
        for _ in 0..5 {
            let Some(mesh) = boundary_of(self, self.low, self.high, spacing) else { break };
            let ratio = mesh.triangles.len() as f64 / f64::from(triangles);
            if best.as_ref().is_none_or(|(off, _)| ratio.ln().abs() < *off) {
                best = Some((ratio.ln().abs(), mesh));
            }
            if ratio.ln().abs() < 0.01 {
                break;
            }
            spacing *= ratio.sqrt();
        }
        let Some((_, mut mesh)) = best else { return Err(GenerateError::TooLarge { vertices: u64::MAX }) };
        self.smooth(&mut mesh);
        mesh.positions.iter_mut().for_each(|x| *x = (x.as_dvec3() * scale).as_vec3());
        Ok(mesh)
    }

    /// Evens triangles out.
    fn smooth(&self, mesh: &mut TriangleMesh) {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
        for &[a, b, c] in &mesh.triangles {
            // Every edge of a closed surface is passed once in each direction.
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
        mesh.positions = x.iter().map(|x| x.as_vec3()).collect();
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

impl Field for Blobs {
    fn is_inside(&self, p: DVec3) -> bool {
        self.value(p) < 0.0
    }
}

impl Form {
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

/// The smaller of both, rounded where they differ by less than `reach`.
fn smooth_min(a: f64, b: f64, reach: f64) -> f64 {
    if a.is_infinite() || reach <= 0.0 {
        return a.min(b);
    }
    let near = (reach - (a - b).abs()).max(0.0) / reach;
    a.min(b) - 0.25 * reach * near * near
}
