//! The points of nonconforming triangles (Crouzeix and Raviart), as English and Bridson use them for
//! developable cloth (*Animating developable surfaces using nonconforming elements*, 2008).
//!
//! A linear triangle that keeps its lengths can bend only along its edges, and a mesh of such triangles has
//! too few of these to follow a surface: it locks. Triangles that agree at the midpoints of their edges alone
//! do not. So the unknowns are these midpoints, and each triangle has a position of its own at each vertex,
//! its corner; what is shown is the mean of these corners (the paper's ghost mesh).
//!
//! Midpoints leave borders to flap, and vertices cannot be held. So triangles that touch the border, or a
//! vertex that is named, are conforming as usual, with unknowns at their vertices. An edge between both kinds
//! has its midpoint at the mean of its ends, which are unknowns: such a point is a *mean*, not an unknown.
//!
//! | point | of | mass |
//! |---|---|---|
//! | vertex | conforming triangles | a third of each |
//! | midpoint | two nonconforming triangles | a third of each |
//! | mean | one of each | none: a third of the nonconforming one goes to its ends, half each |
//!
//! Faces between the points make a mesh without gaps (`faces`): what touches, and what wind blows at.

mod faces;

use std::collections::BTreeMap;

use glam::{DVec3, Vec2, Vec3};

use super::{TriangleMesh, adjacency::Adjacency};
use crate::embedding::Embedding;

/// Sine of half the angle between two faces up to which a rest shape counts as flat.
const FLAT: f64 = 1e-3;

/// A point that is the mean of two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    /// The point.
    pub point: u32,
    /// The points whose mean it is.
    pub ends: [u32; 2],
}

/// An edge between two triangles of the shown mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerEdge {
    /// Its vertices, of the shown mesh.
    pub vertices: [u32; 2],
    /// Its triangles.
    pub triangles: [u32; 2],
}

/// How a mesh and the points of its nonconforming triangles belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Midpoints {
    /// The mesh that is shown.
    pub shown: TriangleMesh,
    /// By point: the vertices of the shown mesh in whose middle it is at rest; the same twice for a vertex.
    pub between: Vec<[u32; 2]>,
    /// By triangle of the shown mesh: the points that its gradient is taken of. Its corners, if it is
    /// conforming; else the midpoints opposite of these, which make a quarter of its area.
    pub elements: Vec<[u32; 3]>,
    /// By triangle: whether it is conforming.
    pub conforming: Vec<bool>,
    /// Points that are no unknowns.
    pub means: Vec<Mean>,
    /// Edges between two triangles.
    pub edges: Vec<InnerEdge>,
    /// By vertex of the shown mesh: the point that it is.
    pub points: Vec<Option<u32>>,
    embedding: Embedding,
}

/// A weighted sum of points.
pub(crate) type Sum = Vec<(u32, f64)>;

/// Adds `weight` times point `point` to `sum`.
fn add(sum: &mut Sum, point: u32, weight: f64) {
    match sum.iter_mut().find(|(other, _)| *other == point) {
        Some((_, total)) => *total += weight,
        None => sum.push((point, weight)),
    }
}

impl Midpoints {
    /// The points of `mesh`, which must be flat, and their mesh. Triangles at the vertices `named` are
    /// conforming, so that these are points.
    ///
    /// # Errors
    /// If the mesh cannot have such triangles; says why, and what would be right.
    pub fn new(mesh: &TriangleMesh, named: &[u32]) -> Result<(TriangleMesh, Self), String> {
        let adjacency = Adjacency::new(&mesh.triangles);
        check(mesh, &adjacency)?;
        let conforming = conforming(mesh, &adjacency, named);
        let numbering = Numbering::new(mesh, &adjacency, &conforming);
        let elements = numbering.elements(mesh, &conforming);
        if numbering.means.len() + numbering.vertex_count == numbering.between.len() {
            return Err("model \"developable\" needs edges whose triangles do not touch the border or a pin: its mesh has none; make it at least 4 cells wide".into());
        }
        let positions = numbering.between.iter().map(|ends| {
            let [a, b] = ends.map(|v| mesh.positions[v as usize].as_dvec3());
            (0.5 * (a + b)).as_vec3()
        });
        let mut own = TriangleMesh { positions: positions.collect(), ..TriangleMesh::default() };
        own.triangles = numbering.faces(mesh, &own.positions, &conforming);
        own.groups = mesh.groups.iter().filter_map(|group| numbering.group(group)).collect();
        let edges = adjacency.hinges.iter().zip(&adjacency.hinge_triangles);
        let edges = edges.map(|(hinge, &triangles)| InnerEdge { vertices: [hinge[0], hinge[1]], triangles });
        let midpoints = Self {
            embedding: numbering.embedding(mesh, &conforming),
            edges: edges.collect(),
            between: numbering.between,
            means: numbering.means,
            points: numbering.points,
            shown: mesh.clone(),
            elements,
            conforming,
        };
        Ok((own, midpoints))
    }

    /// Where the vertices of the shown mesh are, for points there: vectors such as positions \[m\].
    ///
    /// # Panics
    /// If there are fewer vectors than points.
    pub fn to_shown(&self, points: &[Vec3]) -> Vec<Vec3> {
        self.embedding.points(points)
    }

    /// Where the points are, for vertices there, as long as no triangle has come apart from its neighbours.
    ///
    /// # Panics
    /// If there are fewer vectors than vertices.
    pub fn of_shown(&self, vertices: &[Vec3]) -> Vec<Vec3> {
        let middle = |[a, b]: [u32; 2]| 0.5 * (vertices[a as usize] + vertices[b as usize]);
        self.between
            .iter()
            .map(|&[a, b]| if a == b { vertices[a as usize] } else { middle([a, b]) })
            .collect()
    }

    /// Number of points.
    pub fn point_count(&self) -> usize {
        self.between.len()
    }

    /// Number of vertices that are points.
    pub fn vertex_count(&self) -> usize {
        self.points.iter().flatten().count()
    }

    /// Puts means in the middle of their ends.
    pub(crate) fn settle(&self, points: &mut [Vec3]) {
        for mean in &self.means {
            let [a, b] = mean.ends.map(|end| points[end as usize]);
            points[mean.point as usize] = 0.5 * (a + b);
        }
    }

    /// Triangles that strain is measured on, with their texture coordinates: [`elements`](Self::elements) of
    /// points at `positions`.
    pub(crate) fn element_mesh(&self, positions: &[Vec3]) -> TriangleMesh {
        let middle = |uv: &[Vec2; 3]| [0.5 * (uv[1] + uv[2]), 0.5 * (uv[2] + uv[0]), 0.5 * (uv[0] + uv[1])];
        let of = |(uv, &conforming): (&[Vec2; 3], &bool)| if conforming { *uv } else { middle(uv) };
        TriangleMesh {
            positions: positions.to_vec(),
            triangles: self.elements.clone(),
            uvs: self.shown.uvs.as_ref().map(|uvs| uvs.iter().zip(&self.conforming).map(of).collect()),
            ..TriangleMesh::default()
        }
    }

    /// The area of triangle `t` over that between its points.
    pub(crate) fn area_factor(&self, t: usize) -> f64 {
        if self.conforming[t] { 1.0 } else { 4.0 }
    }

    /// The middle of the side opposite of corner `k` of triangle `t`, as a sum of points.
    fn side(&self, t: usize, k: usize) -> Sum {
        if !self.conforming[t] {
            return vec![(self.elements[t][k], 1.0)];
        }
        let corners = self.elements[t];
        vec![(corners[(k + 1) % 3], 0.5), (corners[(k + 2) % 3], 0.5)]
    }

    /// How far the corners of the triangles at the second vertex of inner edge `edge` are apart: at the first
    /// it is the same the other way. Nothing where both triangles are conforming.
    pub(crate) fn jump(&self, edge: &InnerEdge) -> Option<Sum> {
        let [first, second] = edge.triangles.map(|t| t as usize);
        if self.conforming[first] && self.conforming[second] {
            return None;
        }
        let mut sum = Sum::new();
        for (t, sign) in [(first, 1.0), (second, -1.0)] {
            let corner = |v: u32| self.shown.triangles[t].iter().position(|&c| c == v);
            let [p, q] = edge.vertices.map(|v| corner(v).unwrap_or_default());
            if self.conforming[t] {
                add(&mut sum, self.elements[t][q], 0.5 * sign);
                add(&mut sum, self.elements[t][p], -0.5 * sign);
            } else {
                // The side opposite of p ends at q, and the other way round.
                add(&mut sum, self.elements[t][p], sign);
                add(&mut sum, self.elements[t][q], -sign);
            }
        }
        Some(sum)
    }

    /// The row of inner edge `edge` in the stiffness of nonconforming triangles, Σ ∇φ · ∇φ A: by how much the
    /// slopes of its triangles differ across it, times its length.
    pub(crate) fn bending(&self, edge: &InnerEdge) -> Sum {
        let mut sum = Sum::new();
        for t in edge.triangles.map(|t| t as usize) {
            let corners = self.shown.triangles[t];
            let x = corners.map(|v| self.shown.positions[v as usize].as_dvec3());
            let double_area = (x[1] - x[0]).cross(x[2] - x[0]).length();
            let side = |k: usize| x[(k + 2) % 3] - x[(k + 1) % 3];
            let own = (0..3).find(|&k| !edge.vertices.contains(&corners[k])).unwrap_or_default();
            for k in 0..3 {
                // 4 A ∇λ · ∇λ, with ∇λ the side turned by a right angle over 2 A.
                let stiffness = 2.0 * side(own).dot(side(k)) / double_area;
                for (point, weight) in self.side(t, k) {
                    add(&mut sum, point, weight * stiffness);
                }
            }
        }
        self.in_ends(edge, sum)
    }

    /// `sum` with the mean in the middle of `edge`, if there is one, by its ends: one of the triangles of the
    /// edge has these anyway.
    fn in_ends(&self, edge: &InnerEdge, mut sum: Sum) -> Sum {
        let conforming = edge.triangles.map(|t| self.conforming[t as usize]);
        if conforming == [true, false] || conforming == [false, true] {
            let t = edge.triangles[usize::from(conforming[0])] as usize;
            let corners = self.shown.triangles[t];
            let own = (0..3).find(|&k| !edge.vertices.contains(&corners[k])).unwrap_or_default();
            let mean = self.elements[t][own];
            if let Some(at) = sum.iter().position(|(point, _)| *point == mean) {
                let (_, weight) = sum.swap_remove(at);
                for end in edge.vertices.map(|v| self.points[v as usize]).into_iter().flatten() {
                    add(&mut sum, end, 0.5 * weight);
                }
            }
        }
        sum.sort_by_key(|(point, _)| *point);
        sum
    }

    /// The area of triangle `t` \[m²\].
    pub(crate) fn area(&self, t: u32) -> f64 {
        let [a, b, c] = self.shown.triangles[t as usize].map(|v| self.shown.positions[v as usize].as_dvec3());
        0.5 * (b - a).cross(c - a).length()
    }

    /// The length of an edge \[m\].
    pub(crate) fn length(&self, edge: &InnerEdge) -> f64 {
        let [a, b] = edge.vertices.map(|v| self.shown.positions[v as usize].as_dvec3());
        a.distance(b)
    }

    /// The masses of points \[kg\], of cloth with `density` \[kg/m²\]; means have none.
    pub(crate) fn masses(&self, density: f64) -> Vec<f64> {
        let mut masses = vec![0.0; self.point_count()];
        for (t, points) in self.elements.iter().enumerate() {
            let third = density * self.area(t as u32) / 3.0;
            points.iter().for_each(|&point| masses[point as usize] += third);
        }
        for mean in &self.means {
            let mass = std::mem::take(&mut masses[mean.point as usize]);
            mean.ends.iter().for_each(|&end| masses[end as usize] += 0.5 * mass);
        }
        masses
    }
}

/// Refuses what cannot have nonconforming triangles.
fn check(mesh: &TriangleMesh, adjacency: &Adjacency) -> Result<(), String> {
    let mut sides: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for t in &mesh.triangles {
        for k in 0..3 {
            let [a, b] = [t[k], t[(k + 1) % 3]];
            *sides.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    let inner = sides.values().filter(|count| **count > 1).count();
    if let Some(([a, b], count)) = sides.iter().find(|(_, count)| **count > 2) {
        return Err(format!(
            "model \"developable\" needs at most two triangles an edge: edge {a}–{b} of its mesh has {count}"
        ));
    }
    if inner != adjacency.hinges.len() {
        return Err(
            "model \"developable\" needs triangles that agree on their front: some of its mesh do not".into(),
        );
    }
    for hinge in &adjacency.hinges {
        let d = crate::kernel::dihedral::dihedral(
            &hinge.map(|v| mesh.positions[v as usize].as_dvec3().to_array()),
        );
        if d.sin_half.abs() > FLAT {
            let [a, b] = [hinge[0], hinge[1]];
            return Err(format!(
                "model \"developable\" needs a mesh that is flat at rest: the faces at edge {a}–{b} meet at an angle; use model \"fem\""
            ));
        }
    }
    Ok(())
}

/// By triangle: whether it is conforming.
fn conforming(mesh: &TriangleMesh, adjacency: &Adjacency, named: &[u32]) -> Vec<bool> {
    let mut is_fixed = vec![false; mesh.positions.len()];
    adjacency.boundary.iter().chain(named).for_each(|&v| is_fixed[v as usize] = true);
    let touches: Vec<bool> = mesh.triangles.iter().map(|t| t.iter().any(|&v| is_fixed[v as usize])).collect();
    // One among three such would have nothing of its own.
    let mut others = vec![0; mesh.triangles.len()];
    for &[s, t] in &adjacency.hinge_triangles {
        others[s as usize] += u32::from(touches[t as usize]);
        others[t as usize] += u32::from(touches[s as usize]);
    }
    touches.iter().zip(others).map(|(&touches, others)| touches || others == 3).collect()
}

/// Points while they are numbered: vertices first, in their order, then midpoints of edges in theirs.
struct Numbering {
    between: Vec<[u32; 2]>,
    vertex_count: usize,
    points: Vec<Option<u32>>,
    means: Vec<Mean>,
    /// By edge: its midpoint.
    middles: BTreeMap<[u32; 2], u32>,
}

impl Numbering {
    fn new(mesh: &TriangleMesh, adjacency: &Adjacency, conforming: &[bool]) -> Self {
        let mut is_point = vec![false; mesh.positions.len()];
        for (t, _) in mesh.triangles.iter().zip(conforming).filter(|(_, conforming)| **conforming) {
            t.iter().for_each(|&v| is_point[v as usize] = true);
        }
        let mut between: Vec<[u32; 2]> = Vec::new();
        let points = is_point.iter().enumerate().map(|(v, &is_point)| {
            is_point.then(|| {
                between.push([v as u32; 2]);
                between.len() as u32 - 1
            })
        });
        let points: Vec<Option<u32>> = points.collect();
        let vertex_count = between.len();
        let (mut means, mut middles) = (Vec::new(), BTreeMap::new());
        for (hinge, triangles) in adjacency.hinges.iter().zip(&adjacency.hinge_triangles) {
            let count = triangles.iter().filter(|t| conforming[**t as usize]).count();
            if count == 2 {
                continue;
            }
            let (edge, point) = ([hinge[0], hinge[1]], between.len() as u32);
            between.push(edge);
            middles.insert(edge, point);
            if count == 1 {
                let ends = edge.map(|v| points[v as usize].unwrap_or_default());
                means.push(Mean { point, ends });
            }
        }
        Self { between, vertex_count, points, means, middles }
    }

    fn middle(&self, a: u32, b: u32) -> Option<u32> {
        self.middles.get(&[a.min(b), a.max(b)]).copied()
    }

    fn elements(&self, mesh: &TriangleMesh, conforming: &[bool]) -> Vec<[u32; 3]> {
        let of = |(t, &conforming): (&[u32; 3], &bool)| -> [u32; 3] {
            std::array::from_fn(|k| match conforming {
                true => self.points[t[k] as usize].unwrap_or_default(),
                false => self.middle(t[(k + 1) % 3], t[(k + 2) % 3]).unwrap_or_default(),
            })
        };
        mesh.triangles.iter().zip(conforming).map(of).collect()
    }

    /// Faces between points, but for means.
    fn faces(&self, mesh: &TriangleMesh, positions: &[Vec3], conforming: &[bool]) -> Vec<[u32; 3]> {
        let at = |point: u32| positions[point as usize];
        let mut is_mean = vec![false; self.between.len()];
        self.means.iter().for_each(|mean| is_mean[mean.point as usize] = true);
        let free = |a: u32, b: u32| self.middle(a, b).filter(|&m| !is_mean[m as usize]);
        let mut faces = Vec::new();
        // Around each vertex that is no point: from the middle of the edge that a triangle comes in by to
        // that of the one it leaves by.
        let mut around: BTreeMap<u32, (DVec3, Vec<[u32; 2]>)> = BTreeMap::new();
        for (t, &conforming) in mesh.triangles.iter().zip(conforming) {
            let normal = normal_of(mesh, t);
            if conforming {
                faces.push(t.map(|v| self.points[v as usize].unwrap_or_default()));
                continue;
            }
            let mut polygon = Vec::with_capacity(6);
            for k in 0..3 {
                let [before, v, after] = [t[(k + 2) % 3], t[k], t[(k + 1) % 3]];
                polygon.extend(self.points[v as usize]);
                polygon.extend(free(v, after));
                if self.points[v as usize].is_none()
                    && let (Some(first), Some(second)) = (free(v, after), free(before, v))
                {
                    around.entry(v).or_insert_with(|| (normal, Vec::new())).1.push([first, second]);
                }
            }
            faces.extend(faces::cut(&polygon, at, normal));
        }
        for (normal, steps) in around.into_values() {
            let next: BTreeMap<u32, u32> = steps.iter().map(|&[a, b]| (a, b)).collect();
            let mut polygon = vec![steps[0][0]];
            while let Some(&point) = next.get(&polygon[polygon.len() - 1])
                && point != polygon[0]
                && polygon.len() < steps.len()
            {
                polygon.push(point);
            }
            faces.extend(faces::cut(&polygon, at, normal));
        }
        faces
    }

    fn embedding(&self, mesh: &TriangleMesh, conforming: &[bool]) -> Embedding {
        let mut rows: Vec<Sum> = self.points.iter().map(|p| p.iter().map(|&p| (p, 1.0)).collect()).collect();
        let mut counts = vec![0u32; rows.len()];
        for (t, _) in mesh.triangles.iter().zip(conforming).filter(|(_, conforming)| !**conforming) {
            let sides = [0, 1, 2].map(|k| self.middle(t[(k + 1) % 3], t[(k + 2) % 3]).unwrap_or_default());
            for (k, &v) in t.iter().enumerate().filter(|(_, v)| self.points[**v as usize].is_none()) {
                counts[v as usize] += 1;
                for (j, &side) in sides.iter().enumerate() {
                    add(&mut rows[v as usize], side, if j == k { -1.0 } else { 1.0 });
                }
            }
        }
        for (row, count) in rows.iter_mut().zip(counts).filter(|(_, count)| *count > 0) {
            row.iter_mut().for_each(|(_, weight)| *weight /= f64::from(count));
        }
        Embedding::sparse(&rows, self.between.len())
    }

    /// A group of vertices as points: those that are, and midpoints of edges between two of them.
    fn group(&self, (name, vertices): (&String, &Vec<u32>)) -> Option<(String, Vec<u32>)> {
        let has = |v: &u32| vertices.binary_search(v).is_ok();
        let of = |ends: &[u32; 2]| ends.iter().all(has);
        let points = (0..).zip(&self.between).filter(|(_, ends)| of(ends)).map(|(point, _)| point);
        let points: Vec<u32> = points.collect();
        (!points.is_empty()).then(|| (name.clone(), points))
    }
}

fn normal_of(mesh: &TriangleMesh, t: &[u32; 3]) -> DVec3 {
    let [a, b, c] = t.map(|v| mesh.positions[v as usize].as_dvec3());
    (b - a).cross(c - a).normalize_or_zero()
}

#[cfg(test)]
mod tests;
