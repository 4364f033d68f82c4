//! The patch of a finer mesh that a coarse element covers, and a little more (figure 6 of the paper).
//!
//! Triangles are collected from neighbour to neighbour, starting at the element's corners, so that a layer
//! close in space is not included. A triangle belongs to the patch if its centre, projected along the
//! element's normal, lies inside the element or at most half an edge of the finer mesh outside.

use glam::DVec3;

use super::{LevelLimits, angle_and_heights, angles};
use crate::{
    Limit,
    hierarchy::Site,
    kernel::strain::Range,
    mesh::{TriangleMesh, adjacency::Adjacency},
};

const NONE: u32 = u32::MAX;
/// How far outside the element a triangle may lie, in edges of the finer mesh.
const MARGIN: f64 = 0.5;

/// A triangle (three corners) or a hinge (edge, then wings) of a level.
pub(super) struct Element {
    /// Its corners at rest \[m\].
    pub points: Vec<DVec3>,
    /// Their locations on the finer mesh.
    pub sites: Vec<Site>,
}

impl Element {
    pub fn is_triangle(&self) -> bool {
        self.points.len() == 3
    }

    /// Its triangles.
    pub fn triangles(&self) -> impl Iterator<Item = [DVec3; 3]> + '_ {
        let p = &self.points;
        let second = (!self.is_triangle()).then(|| [p[1], p[0], p[3]]);
        std::iter::once([p[0], p[1], p[2]]).chain(second)
    }

    /// Its longest edge \[m\].
    pub fn size(&self) -> f64 {
        let edges = self.triangles().flat_map(|[a, b, c]| [a.distance(b), b.distance(c), c.distance(a)]);
        edges.fold(0.0, f64::max)
    }

    /// Its mean normal, of unit length.
    pub fn normal(&self) -> DVec3 {
        self.triangles().map(|[a, b, c]| (b - a).cross(c - a)).sum::<DVec3>().normalize_or_zero()
    }
}

/// A finer mesh with its limits.
#[derive(Debug)]
pub(super) struct Fine {
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    pub hinges: Vec<[u32; 4]>,
    hinge_triangles: Vec<[u32; 2]>,
    /// Hinges of each triangle, or `NONE`.
    hinges_of: Vec<[u32; 3]>,
    /// Allowed stretches of each triangle.
    pub strain: Vec<Range<f32>>,
    /// Allowed angles of each hinge \[rad\].
    pub bend: Vec<[f32; 2]>,
    /// Angle of each hinge at rest \[rad\].
    pub rest_angle: Vec<f32>,
}

impl Fine {
    /// The base mesh.
    pub fn new(mesh: &TriangleMesh, strain: Limit, bend: Limit) -> Self {
        let adjacency = Adjacency::new(&mesh.triangles);
        let (bend, rest_angle) = angles(mesh, &adjacency.hinges, bend).into_iter().unzip();
        Self::assemble(mesh, adjacency, vec![strain.range(); mesh.triangles.len()], bend, rest_angle)
    }

    /// A level with its fitted limits.
    pub fn with_limits(mesh: &TriangleMesh, limits: &LevelLimits) -> Self {
        let adjacency = Adjacency::new(&mesh.triangles);
        let rest = |hinge: &[u32; 4]| {
            angle_and_heights(hinge.map(|v| mesh.positions[v as usize].as_dvec3())).0 as f32
        };
        let rest_angle = adjacency.hinges.iter().map(rest).collect();
        Self::assemble(mesh, adjacency, limits.strain.clone(), limits.bend.clone(), rest_angle)
    }

    fn assemble(
        mesh: &TriangleMesh,
        adjacency: Adjacency,
        strain: Vec<Range<f32>>,
        bend: Vec<[f32; 2]>,
        rest_angle: Vec<f32>,
    ) -> Self {
        let mut hinges_of = vec![[NONE; 3]; mesh.triangles.len()];
        for (h, triangles) in adjacency.hinge_triangles.iter().enumerate() {
            for &t in triangles {
                if let Some(free) = hinges_of[t as usize].iter_mut().find(|slot| **slot == NONE) {
                    *free = h as u32;
                }
            }
        }
        Self {
            positions: mesh.positions.iter().map(|p| p.as_dvec3()).collect(),
            triangles: mesh.triangles.clone(),
            hinges: adjacency.hinges,
            hinge_triangles: adjacency.hinge_triangles,
            hinges_of,
            strain,
            bend,
            rest_angle,
        }
    }

    fn corners(&self, t: u32) -> [DVec3; 3] {
        self.triangles[t as usize].map(|v| self.positions[v as usize])
    }
}

/// The part of a finer mesh that belongs to an element.
#[derive(Default)]
pub(super) struct Patch {
    pub triangles: Vec<u32>,
    /// Hinges between two of its triangles.
    pub hinges: Vec<u32>,
    /// Vertices of its triangles.
    pub vertices: Vec<u32>,
    /// Approximate edge length \[m\].
    pub edge: f64,
}

/// Scratch in which patches are collected.
pub(super) struct Scratch {
    patch: Patch,
    /// The last element for which each triangle, hinge and vertex was collected.
    triangles: Vec<u32>,
    hinges: Vec<u32>,
    /// And its index in the patch.
    vertices: Vec<(u32, u32)>,
    turn: u32,
}

/// Indices of vertices in a patch.
pub(super) struct Places<'a>(&'a [(u32, u32)]);

impl Places<'_> {
    /// Index of vertex `v`, which must be in the patch.
    pub fn of(&self, v: u32) -> u32 {
        self.0[v as usize].1
    }
}

impl Scratch {
    pub fn new(fine: &Fine) -> Self {
        Self {
            patch: Patch::default(),
            triangles: vec![0; fine.triangles.len()],
            hinges: vec![0; fine.hinges.len()],
            vertices: vec![(0, 0); fine.positions.len()],
            turn: 0,
        }
    }

    /// The patch of `element`.
    pub fn patch(&mut self, fine: &Fine, element: &Element) -> (&Patch, Places<'_>) {
        self.turn += 1;
        self.patch.triangles.clear();
        self.patch.hinges.clear();
        self.patch.vertices.clear();
        let mut area = 0.0;
        for site in &element.sites {
            let [a, b, c] = fine.corners(site.triangle);
            area += 0.5 * (b - a).cross(c - a).length() / element.sites.len() as f64;
            self.take(site.triangle);
        }
        // That of an equilateral triangle of that area.
        self.patch.edge = (4.0 * area / 3f64.sqrt()).sqrt();
        let outline = Outline::new(element, MARGIN * self.patch.edge);
        let mut next = 0;
        while next < self.patch.triangles.len() {
            let t = self.patch.triangles[next];
            next += 1;
            for h in fine.hinges_of[t as usize].into_iter().filter(|&h| h != NONE) {
                for other in fine.hinge_triangles[h as usize] {
                    let [a, b, c] = fine.corners(other);
                    if self.triangles[other as usize] != self.turn && outline.holds((a + b + c) / 3.0) {
                        self.take(other);
                    }
                }
            }
        }
        // An order that does not depend on where the search began.
        self.patch.triangles.sort_unstable();
        for k in 0..self.patch.triangles.len() {
            let t = self.patch.triangles[k] as usize;
            for v in fine.triangles[t] {
                if self.vertices[v as usize].0 != self.turn {
                    self.vertices[v as usize] = (self.turn, self.patch.vertices.len() as u32);
                    self.patch.vertices.push(v);
                }
            }
            for h in fine.hinges_of[t].into_iter().filter(|&h| h != NONE) {
                let both = fine.hinge_triangles[h as usize].iter();
                if self.hinges[h as usize] != self.turn
                    && both.into_iter().all(|&t| self.triangles[t as usize] == self.turn)
                {
                    self.hinges[h as usize] = self.turn;
                    self.patch.hinges.push(h);
                }
            }
        }
        (&self.patch, Places(&self.vertices))
    }

    fn take(&mut self, t: u32) {
        if self.triangles[t as usize] != self.turn {
            self.triangles[t as usize] = self.turn;
            self.patch.triangles.push(t);
        }
    }
}

/// The prism over an element's triangles, widened by a margin.
struct Outline {
    triangles: Vec<[DVec3; 3]>,
    margin: f64,
    depth: f64,
}

impl Outline {
    fn new(element: &Element, margin: f64) -> Self {
        Self { triangles: element.triangles().collect(), margin, depth: element.size() }
    }

    fn holds(&self, p: DVec3) -> bool {
        self.triangles.iter().any(|&[a, b, c]| {
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let height = (p - a).dot(normal);
            let foot = p - normal * height;
            height.abs() <= self.depth
                && [(a, b), (b, c), (c, a)].iter().all(|&(from, to)| {
                    let inward = normal.cross(to - from).normalize_or_zero();
                    (foot - from).dot(inward) >= -self.margin
                })
        })
    }
}
