//! Convex polyhedra: boxes, cylinders and triangles as corners, faces and edge directions, for the separating
//! axes of [`manifold`](super::manifold).
//!
//! A cylinder is a prism of [`SIDES`] sides that is turned about its axis so that one of its edges faces what
//! it touches: it then rolls on its true radius.

use glam::{DMat3, DVec3};

use crate::boundary::obstacle::Shape;

/// Sides of the prism that stands for a cylinder.
pub(super) const SIDES: usize = 16;

/// Most corners of a hull.
pub(super) const MAX_CORNERS: usize = 2 * SIDES;

const MAX_FACES: usize = SIDES + 2;
const MAX_EDGES: usize = SIDES / 2 + 1;

/// A shape at a place, in double precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid<'a> {
    pub shape: &'a Shape,
    pub rotation: DMat3,
    pub position: DVec3,
}

impl Solid<'_> {
    pub fn to_world(self, p: DVec3) -> DVec3 {
        self.rotation * p + self.position
    }

    pub fn to_body(self, p: DVec3) -> DVec3 {
        self.rotation.transpose() * (p - self.position)
    }

    /// Signed distance from the point `p` of space \[m\], and the outward normal.
    pub fn distance(&self, p: DVec3) -> (f64, DVec3) {
        let (distance, normal) = self.shape.distance(self.to_body(p).as_vec3());
        (distance.into(), self.rotation * normal.as_dvec3())
    }
}

/// A convex polyhedron in space; a triangle is one with two faces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    corners: [DVec3; MAX_CORNERS],
    corner_count: usize,
    /// Outward normals.
    faces: [DVec3; MAX_FACES],
    face_count: usize,
    edges: [DVec3; MAX_EDGES],
    edge_count: usize,
    /// Its smallest thickness \[m\]; infinite for a triangle.
    pub thickness: f64,
}

impl Hull {
    fn new(corners: &[DVec3], faces: &[DVec3], edges: &[DVec3], thickness: f64) -> Self {
        let mut hull = Self {
            corners: [DVec3::ZERO; MAX_CORNERS],
            corner_count: corners.len(),
            faces: [DVec3::ZERO; MAX_FACES],
            face_count: faces.len(),
            edges: [DVec3::ZERO; MAX_EDGES],
            edge_count: edges.len(),
            thickness,
        };
        hull.corners[..corners.len()].copy_from_slice(corners);
        hull.faces[..faces.len()].copy_from_slice(faces);
        hull.edges[..edges.len()].copy_from_slice(edges);
        hull
    }

    /// Of a box or cylinder; a cylinder is turned so that an edge of its prism faces along `toward`. `None`
    /// for shapes that are no polyhedra.
    pub fn of(solid: &Solid, toward: DVec3) -> Option<Self> {
        let axes = [solid.rotation.x_axis, solid.rotation.y_axis, solid.rotation.z_axis];
        match *solid.shape {
            Shape::Box { size } => {
                let half = 0.5 * size.as_dvec3();
                let sign = |k: usize, bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                let corners: [DVec3; 8] = std::array::from_fn(|k| {
                    solid.to_world(half * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)))
                });
                let faces: [DVec3; 6] = std::array::from_fn(|k| axes[k / 2] * sign(k, 0));
                Some(Self::new(&corners, &faces, &axes, solid.shape.thickness().into()))
            }
            Shape::Cylinder { radius, height } => {
                let local = solid.rotation.transpose() * toward;
                let first = local.x.atan2(local.z);
                let angle = |k: f64| first + std::f64::consts::TAU * k / SIDES as f64;
                let (radius, half) = (f64::from(radius), 0.5 * f64::from(height));
                let out = |k: f64| DVec3::new(angle(k).sin(), 0.0, angle(k).cos());
                let corners: [DVec3; MAX_CORNERS] = std::array::from_fn(|k| {
                    let end = if k < SIDES { half } else { -half };
                    solid.to_world(radius * out((k % SIDES) as f64) + end * DVec3::Y)
                });
                let faces: [DVec3; MAX_FACES] = std::array::from_fn(|k| match k {
                    0 => axes[1],
                    1 => -axes[1],
                    k => solid.rotation * out((k - 2) as f64 + 0.5),
                });
                let edges: [DVec3; MAX_EDGES] = std::array::from_fn(|k| match k {
                    0 => axes[1],
                    // At a right angle to the normal of a side.
                    k => solid.rotation * DVec3::Y.cross(out(k as f64 - 0.5)),
                });
                Some(Self::new(&corners, &faces, &edges, solid.shape.thickness().into()))
            }
            Shape::Plane | Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Torus { .. } => None,
        }
    }

    /// Of a triangle; `None` if it has no area.
    pub fn triangle(corners: [DVec3; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).try_normalize()?;
        let edges = [b - a, c - b, a - c].map(DVec3::normalize_or_zero);
        Some(Self::new(&corners, &[normal, -normal], &edges, f64::INFINITY))
    }

    pub fn corners(&self) -> &[DVec3] {
        &self.corners[..self.corner_count]
    }

    pub fn faces(&self) -> &[DVec3] {
        &self.faces[..self.face_count]
    }

    pub fn edges(&self) -> &[DVec3] {
        &self.edges[..self.edge_count]
    }

    /// Its least and greatest coordinate along `axis` \[m\].
    pub fn span(&self, axis: DVec3) -> [f64; 2] {
        self.corners().iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], p| {
            let at = p.dot(axis);
            [low.min(at), high.max(at)]
        })
    }

    /// The corners that lie within `slack` \[m\] of the farthest along `axis`, in order around it, and how
    /// many.
    pub fn feature(&self, axis: DVec3, slack: f64) -> ([DVec3; MAX_CORNERS], usize) {
        let [_, high] = self.span(axis);
        let (mut loop_, mut count) = ([DVec3::ZERO; MAX_CORNERS], 0);
        for p in self.corners().iter().filter(|p| p.dot(axis) >= high - slack) {
            loop_[count] = *p;
            count += 1;
        }
        let middle = loop_[..count].iter().sum::<DVec3>() / count.max(1) as f64;
        let [u, w] = super::manifold::across(axis);
        let angle = |p: &DVec3| (*p - middle).dot(w).atan2((*p - middle).dot(u));
        loop_[..count].sort_unstable_by(|a, b| angle(a).total_cmp(&angle(b)));
        (loop_, count)
    }
}
