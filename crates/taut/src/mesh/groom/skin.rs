//! Surfaces that hair grows on.

use glam::{DVec3, Vec3};

use super::super::{
    generate::{GenerateError, Generator},
    normals::vertex_normals,
};
use crate::{
    contact::{
        distance::vertex_triangle,
        inside::ClosedMesh,
        tree::{Swept, Tree},
    },
    kernel::random::Random,
};

/// Tries for a point of a face where hair is thick enough, by its vertices' weights.
const MAX_TRIES: usize = 16;

/// Faces between the edges of a sphere's icosahedron: roots are then even to a few percent.
const FREQUENCY: u32 = 24;

/// A surface that hair grows on: any triangle mesh, or a sphere.
#[derive(Clone, Debug)]
pub struct Skin {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<Vec3>,
    /// How much hair grows at each vertex, from 0 to 1; everywhere alike if empty.
    weights: Vec<f32>,
    /// Centre and radius, if it is a sphere: roots are exactly on it.
    sphere: Option<(Vec3, f32)>,
    tree: Tree,
    closed: Option<ClosedMesh>,
}

/// Where a strand begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Root {
    /// Position \[m\].
    pub position: Vec3,
    /// Outward unit normal of the skin there.
    pub normal: Vec3,
}

impl Skin {
    /// The surface of a triangle mesh. Faces that name missing vertices, or that have no area, grow nothing.
    pub fn mesh(positions: Vec<Vec3>, mut triangles: Vec<[u32; 3]>) -> Self {
        let is_fine = |v: &u32| positions.get(*v as usize).is_some_and(|x| x.is_finite());
        triangles.retain(|triangle| triangle.iter().all(is_fine));
        let about = |triangle: &[u32; 3]| {
            triangle.iter().fold(Swept::EMPTY, |all, &v| {
                let Vec3 { x, y, z } = positions[v as usize];
                all.with(&[x, y, z, 0.0], &[x, y, z, 0.0])
            })
        };
        let boxes: Vec<Swept> = triangles.iter().map(about).collect();
        Self {
            normals: vertex_normals(&positions, triangles.iter().copied()),
            weights: Vec::new(),
            sphere: None,
            tree: Tree::new(&boxes),
            closed: if triangles.is_empty() { None } else { ClosedMesh::new(&triangles, &positions) },
            positions,
            triangles,
        }
    }

    /// A sphere of radius `radius` \[m\] around `center` \[m\].
    ///
    /// # Errors
    /// If the radius is not positive and finite.
    pub fn sphere(center: Vec3, radius: f32) -> Result<Self, GenerateError> {
        let mut mesh = Generator::Sphere { radius, frequency: FREQUENCY }.generate()?;
        mesh.positions.iter_mut().for_each(|x| *x += center);
        Ok(Self { sphere: Some((center, radius)), ..Self::mesh(mesh.positions, mesh.triangles) })
    }

    /// The same with hair only where `weights`, one for each vertex, are above 0: 1 for the full density, ½
    /// for half of it. They are clamped to 0 … 1; a missing one is 0.
    pub fn weighted(mut self, weights: &[f32]) -> Self {
        let weight = |v: usize| weights.get(v).map_or(0.0, |weight| weight.clamp(0.0, 1.0));
        self.weights = (0..self.positions.len()).map(weight).map(|w| if w > 0.0 { w } else { 0.0 }).collect();
        self
    }

    /// Positions of its vertices \[m\].
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Its faces.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Area that hair grows on, by weight \[m²\].
    pub fn area(&self) -> f64 {
        self.triangles.iter().map(|t| self.area_of(t)).sum()
    }

    /// Distance of `p` \[m\] from the surface \[m\]; infinite if that has no faces or `p` is not finite.
    pub fn distance(&self, p: Vec3) -> f32 {
        if let Some((center, radius)) = self.sphere {
            return (p.distance(center) - radius).abs();
        }
        let p = p.as_dvec3();
        let squared = |t: u32| {
            let [a, b, c] = self.corners(&self.triangles[t as usize]);
            vertex_triangle(&[p, a, b, c]).squared
        };
        let found = self.tree.nearest(&p.to_array(), f64::INFINITY, squared);
        found.map_or(f32::INFINITY, |(_, squared)| squared.sqrt() as f32)
    }

    /// Signed distance of `p` \[m\] from the surface \[m\], negative inside, and the outward unit normal;
    /// none if the surface is not closed.
    pub fn signed(&self, p: Vec3) -> Option<(f32, Vec3)> {
        if let Some((center, radius)) = self.sphere {
            let (direction, length) =
                (p - center).try_normalize().map_or((Vec3::Y, 0.0), |unit| (unit, (p - center).length()));
            return Some((length - radius, direction));
        }
        let signed = self.closed.as_ref().filter(|_| p.is_finite())?.signed_distance_from(p, None);
        Some((signed.distance as f32, signed.normal.as_vec3()))
    }

    /// Outward unit normal at the nearest face of the surface; up if there is none.
    pub(super) fn normal_near(&self, p: Vec3) -> Vec3 {
        if let Some((center, _)) = self.sphere {
            return (p - center).try_normalize().unwrap_or(Vec3::Y);
        }
        let x = p.as_dvec3();
        let nearest = |t: u32| {
            let [a, b, c] = self.corners(&self.triangles[t as usize]);
            vertex_triangle(&[x, a, b, c])
        };
        let found = self.tree.nearest(&x.to_array(), f64::INFINITY, |t| nearest(t).squared);
        let Some((t, _)) = found else { return Vec3::Y };
        let weights = nearest(t).weights;
        let corners = self.triangles[t as usize].iter().zip(&weights[1..]);
        let mean: Vec3 = corners.map(|(&v, &w)| self.normals[v as usize] * -w as f32).sum();
        mean.try_normalize().unwrap_or(Vec3::Y)
    }

    /// Whether it has an inside.
    pub fn is_closed(&self) -> bool {
        self.sphere.is_some() || self.closed.is_some()
    }

    fn corners(&self, triangle: &[u32; 3]) -> [DVec3; 3] {
        triangle.map(|v| self.positions[v as usize].as_dvec3())
    }

    fn weight(&self, v: u32) -> f64 {
        self.weights.get(v as usize).map_or(1.0, |&weight| f64::from(weight))
    }

    /// Area of a face, by weight \[m²\].
    fn area_of(&self, triangle: &[u32; 3]) -> f64 {
        let [a, b, c] = self.corners(triangle);
        let weight = triangle.iter().map(|&v| self.weight(v)).sum::<f64>() / 3.0;
        0.5 * (b - a).cross(c - a).length() * weight
    }

    /// Random points of the surface, as dense as its weights say.
    pub(super) fn scatter(&self, count: usize, random: &mut Random) -> Vec<Root> {
        let mut sums = Vec::with_capacity(self.triangles.len());
        let mut sum = 0.0;
        for triangle in &self.triangles {
            sum += self.area_of(triangle);
            sums.push(sum);
        }
        if !(sum > 0.0 && sum.is_finite()) {
            return Vec::new();
        }
        let pick = |random: &mut Random| {
            let wanted = unit(random) * sum;
            let face = sums.partition_point(|&sum| sum <= wanted).min(sums.len() - 1);
            self.root(&self.triangles[face], random)
        };
        (0..count).map(|_| pick(random)).collect()
    }

    /// A random point of a face.
    fn root(&self, triangle: &[u32; 3], random: &mut Random) -> Root {
        let most = triangle.iter().map(|&v| self.weight(v)).fold(0.0, f64::max);
        let mut weights = [0.0; 3];
        for _ in 0..MAX_TRIES {
            let (r, s) = (unit(random).sqrt(), unit(random));
            weights = [1.0 - r, r * (1.0 - s), r * s];
            let here: f64 = triangle.iter().zip(weights).map(|(&v, w)| w * self.weight(v)).sum();
            if unit(random) * most < here {
                break;
            }
        }
        let mean = |of: &dyn Fn(u32) -> DVec3| triangle.iter().zip(weights).map(|(&v, w)| w * of(v)).sum();
        let position: DVec3 = mean(&|v| self.positions[v as usize].as_dvec3());
        let normal: DVec3 = mean(&|v| self.normals[v as usize].as_dvec3());
        let [a, b, c] = self.corners(triangle);
        let own = (b - a).cross(c - a).normalize_or(DVec3::Y);
        // At a fold the mean of its vertices' normals may point along the face or behind it.
        let normal = normal.try_normalize().filter(|n| n.dot(own) > 0.1).unwrap_or(own);
        match self.sphere {
            Some((center, radius)) => {
                let out = (position - center.as_dvec3()).normalize_or(DVec3::Y).as_vec3();
                Root { position: center + radius * out, normal: out }
            }
            None => Root { position: position.as_vec3(), normal: normal.as_vec3() },
        }
    }
}

/// A number from 0 up to, not including, 1, to the last digit of f64.
pub(super) fn unit(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
