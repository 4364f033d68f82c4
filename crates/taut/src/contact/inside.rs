//! Signed distance to a closed mesh: how far a point is outside or inside, the nearest point of the surface,
//! and the outward direction.
//!
//! The nearest point comes from a [tree](super::tree). The sign comes from the normal there: of the face; of
//! an edge, the sum of its two faces' normals; of a vertex, the sum of its faces' normals weighted by their
//! angles (Bærentzen and Aanæs 2005). That is right wherever the surface is a manifold.
//!
//! Files often have several vertices at one position, along texture seams for instance. Vertices with the
//! same initial position are merged here.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::{
    distance::vertex_triangle,
    tree::{Swept, Tree},
};

/// Weight below which a corner does not contribute to the nearest point.
const MIN_CORNER_WEIGHT: f64 = 1e-9;

/// Position of a point relative to a closed surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signed {
    /// Distance to the surface \[m\], negative inside.
    pub distance: f64,
    /// The nearest point of the surface \[m\].
    pub nearest: DVec3,
    /// Outward unit vector there: towards the point if that is outside, away from it if inside.
    pub normal: DVec3,
    /// The face of the nearest point, by its index in the mesh.
    pub face: u32,
}

/// A closed mesh: every edge belongs to two faces with consistent orientation.
#[derive(Clone, Debug)]
pub struct ClosedMesh {
    /// Faces with three distinct corners, by merged vertices.
    triangles: Vec<[u32; 3]>,
    /// Their indices in the mesh.
    faces: Vec<u32>,
    /// By face and edge (first corner to second, and so on): the other face of the edge.
    across: Vec<[u32; 3]>,
    /// By merged vertex: the mesh vertex that represents it.
    original: Vec<u32>,
    tree: Tree,
    /// Positions by vertex \[m\].
    x: Vec<DVec3>,
    face_normals: Vec<DVec3>,
    vertex_normals: Vec<DVec3>,
    /// −1 if its faces point inwards.
    outward: f64,
}

impl ClosedMesh {
    /// The mesh of these faces with vertices at `positions` \[m\], or `None` if it is not closed.
    pub fn new(triangles: &[[u32; 3]], positions: &[Vec3]) -> Option<Self> {
        let (merged, original) = merged(positions);
        let (mut faces, mut corners) = (Vec::new(), Vec::new());
        for (t, triangle) in triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|v| merged[v as usize]);
            if a != b && b != c && c != a {
                faces.push(t as u32);
                corners.push([a, b, c]);
            }
        }
        let across = across(&corners)?;
        let mut mesh = Self {
            tree: Tree::new(&vec![Swept::EMPTY.with(&[0.0; 4], &[0.0; 4]); corners.len()]),
            x: vec![DVec3::ZERO; original.len()],
            face_normals: vec![DVec3::ZERO; corners.len()],
            vertex_normals: vec![DVec3::ZERO; original.len()],
            triangles: corners,
            faces,
            across,
            original,
            outward: 1.0,
        };
        mesh.place(positions);
        let boxes: Vec<Swept> = (0..mesh.triangles.len()).map(|t| mesh.about(t)).collect();
        mesh.tree = Tree::new(&boxes);
        Some(mesh)
    }

    /// Refits it to new `positions` of the vertices of the mesh \[m\].
    pub fn fit(&mut self, positions: &[Vec3]) {
        self.place(positions);
        let mut tree = std::mem::take(&mut self.tree);
        tree.refit(|t| self.about(t as usize));
        self.tree = tree;
    }

    /// Whether it is where the vertices of the mesh are by `position` \[m\].
    pub fn is_at(&self, position: impl Fn(usize) -> Vec3) -> bool {
        self.x.iter().zip(&self.original).all(|(x, &v)| *x == position(v as usize).as_dvec3())
    }

    fn place(&mut self, positions: &[Vec3]) {
        for (x, &v) in self.x.iter_mut().zip(&self.original) {
            *x = positions[v as usize].as_dvec3();
        }
        self.vertex_normals.fill(DVec3::ZERO);
        let mut volume = 0.0;
        let middle = self.x.iter().sum::<DVec3>() / self.x.len().max(1) as f64;
        for (triangle, face) in self.triangles.iter().zip(&mut self.face_normals) {
            let corners = triangle.map(|v| self.x[v as usize]);
            *face = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
            volume += (corners[0] - middle).dot((corners[1] - middle).cross(corners[2] - middle));
            for k in 0..3 {
                let [p, q, r] = [0, 1, 2].map(|i| corners[(k + i) % 3]);
                let (a, b) = (q - p, r - p);
                let angle = a.cross(b).length().atan2(a.dot(b));
                self.vertex_normals[triangle[k] as usize] += *face * angle;
            }
        }
        self.outward = if volume < 0.0 { -1.0 } else { 1.0 };
    }

    /// Bounding box of face `t`.
    fn about(&self, t: usize) -> Swept {
        let corners = self.triangles[t].map(|v| {
            let p = self.x[v as usize].as_vec3();
            [p.x, p.y, p.z, 0.0]
        });
        corners.iter().fold(Swept::EMPTY, |about, p| about.with(p, p))
    }

    /// Its bounding box: lowest and highest corner \[m\].
    pub fn bounds(&self) -> [DVec3; 2] {
        let all = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        self.x.iter().fold(all, |[low, high], &x| [low.min(x), high.max(x)])
    }

    /// Position of `p` \[m\] relative to it.
    #[cfg(test)]
    pub fn signed_distance(&self, p: Vec3) -> Signed {
        self.signed_distance_from(p, None)
    }

    /// The same; `guess` is a face that is probably near, from an earlier result, which saves time and does
    /// not change the result.
    pub fn signed_distance_from(&self, p: Vec3, guess: Option<u32>) -> Signed {
        let p = p.as_dvec3();
        let of = |t: u32| vertex_triangle(&self.with_corners(p, t));
        let guess = guess.and_then(|face| self.faces.binary_search(&face).ok()).unwrap_or(0) as u32;
        let (mut face, mut nearest) = (guess, of(guess));
        // Also faces that are as near: which of them is found must not depend on the guess.
        let within = 1.000_001 * nearest.squared + 1e-30;
        if let Some((t, _)) = self.tree.nearest(&p.to_array(), within, |t| of(t).squared) {
            (face, nearest) = (t, of(t));
        }
        let corners = self.with_corners(p, face);
        let weights = nearest.weights;
        let at = -(corners[1] * weights[1] + corners[2] * weights[2] + corners[3] * weights[3]);
        let side = self.outward * self.normal_at(face as usize, [-weights[1], -weights[2], -weights[3]]);
        let way = p - at;
        let sign = if way.dot(side) < 0.0 { -1.0 } else { 1.0 };
        let distance = sign * nearest.squared.sqrt();
        // On the surface itself, the difference vector has no direction.
        let normal = if distance.abs() > 1e-9 { way / distance } else { side.normalize_or(DVec3::Y) };
        Signed { distance, nearest: at, normal, face: self.faces[face as usize] }
    }

    fn with_corners(&self, p: DVec3, t: u32) -> [DVec3; 4] {
        let [a, b, c] = self.triangles[t as usize].map(|v| self.x[v as usize]);
        [p, a, b, c]
    }

    /// The normal, of any length, of the feature (face, edge or vertex) of face `t` on which the point with
    /// these weights of its corners lies.
    fn normal_at(&self, t: usize, weights: [f64; 3]) -> DVec3 {
        let out = weights.map(|w| w <= MIN_CORNER_WEIGHT);
        let corner = |k: usize| self.vertex_normals[self.triangles[t][k] as usize];
        let edge = |k: usize| self.face_normals[t] + self.face_normals[self.across[t][k] as usize];
        match out {
            [false, true, true] => corner(0),
            [true, false, true] => corner(1),
            [true, true, false] => corner(2),
            [false, false, true] => edge(0),
            [true, false, false] => edge(1),
            [false, true, false] => edge(2),
            _ => self.face_normals[t],
        }
    }
}

/// By vertex: the index of its merged vertex. By merged vertex: the first vertex at that position.
pub(crate) fn merged(positions: &[Vec3]) -> (Vec<u32>, Vec<u32>) {
    let mut places = HashMap::with_capacity(positions.len());
    let mut original = Vec::new();
    let merged = positions
        .iter()
        .enumerate()
        .map(|(v, p)| {
            // Adding 0 turns −0 into 0.
            *places.entry((*p + Vec3::ZERO).to_array().map(f32::to_bits)).or_insert_with(|| {
                original.push(v as u32);
                original.len() as u32 - 1
            })
        })
        .collect();
    (merged, original)
}

/// By triangle and edge: the triangle on the other side. `None` if an edge does not belong to exactly two
/// triangles with consistent orientation.
fn across(triangles: &[[u32; 3]]) -> Option<Vec<[u32; 3]>> {
    let mut owner = HashMap::with_capacity(3 * triangles.len());
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        for edge in [[a, b], [b, c], [c, a]] {
            if owner.insert(edge, t as u32).is_some() {
                return None;
            }
        }
    }
    let other = |a: u32, b: u32| owner.get(&[b, a]).copied();
    let across = triangles.iter().map(|&[a, b, c]| Some([other(a, b)?, other(b, c)?, other(c, a)?]));
    across.collect::<Option<Vec<_>>>().filter(|across| !across.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kernel::random::Random,
        mesh::{TriangleMesh, generate::Generator},
    };

    fn meshes() -> Vec<TriangleMesh> {
        [
            Generator::Sphere { radius: 0.5, frequency: 4 },
            Generator::Torus { major: 0.5, minor: 0.2, segments: [12, 7] },
            Generator::Box { size: [1.0, 0.4, 0.7], cells: [1, 1, 1] },
            Generator::Capsule { radius: 0.2, height: 0.6, segments: [8, 3] },
        ]
        .map(|generator| generator.generate().unwrap())
        .into()
    }

    fn point(random: &mut Random) -> Vec3 {
        Vec3::from_array([(); 3].map(|()| 1.6 * random.unit() - 0.8))
    }

    /// The winding number at `p`: 1 inside, 0 outside, from the solid angles of the faces (van Oosterom and
    /// Strackee 1983).
    fn winding(mesh: &TriangleMesh, p: Vec3) -> f64 {
        let mut sum = 0.0;
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| (mesh.positions[v as usize] - p).as_dvec3());
            let [x, y, z] = [a, b, c].map(DVec3::length);
            let below = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
            sum += 2.0 * a.dot(b.cross(c)).atan2(below);
        }
        sum / (4.0 * std::f64::consts::PI)
    }

    #[test]
    fn distance_and_side_are_what_trying_all_faces_and_solid_angles_say() {
        let mut random = Random::new(31, 0);
        for mesh in meshes() {
            let closed = ClosedMesh::new(&mesh.triangles, &mesh.positions).unwrap();
            let (mut inside, mut guess) = (0, None);
            for round in 0..1500 {
                let mut p = point(&mut random);
                let corner = mesh.positions[random.below(mesh.positions.len() as u32) as usize];
                match round % 3 {
                    // Directly away from a vertex, to either side, where the vertex normal decides.
                    1 => p = corner * (1.0 + 0.2 * (random.unit() - 0.5)),
                    2 => p = corner + 0.02 * p,
                    _ => {}
                }
                let signed = closed.signed_distance_from(p, guess);
                guess = Some(signed.face);
                let tried = mesh.triangles.iter().map(|t| {
                    let [a, b, c] = t.map(|v| mesh.positions[v as usize].as_dvec3());
                    vertex_triangle(&[p.as_dvec3(), a, b, c]).squared.sqrt()
                });
                let tried = tried.fold(f64::INFINITY, f64::min);
                assert!((signed.distance.abs() - tried).abs() < 1e-12, "{signed:?} {tried}");
                assert!((closed.signed_distance(p).distance - signed.distance).abs() < 1e-12);
                if tried > 1e-5 {
                    assert_eq!(signed.distance < 0.0, winding(&mesh, p) > 0.5, "{p} {signed:?}");
                    assert!((signed.normal.length() - 1.0).abs() < 1e-6);
                    let back = p.as_dvec3() - signed.normal * signed.distance;
                    assert!(back.distance(signed.nearest) < 1e-9, "{signed:?}");
                    inside += usize::from(signed.distance < 0.0);
                }
            }
            assert!(inside > 100, "{inside}");
        }
    }

    #[test]
    fn a_fine_sphere_is_nearly_the_formula_also_when_it_is_elsewhere_and_inside_out() {
        let mesh = Generator::Sphere { radius: 1.0, frequency: 24 }.generate().unwrap();
        let inward: Vec<_> = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        let mut random = Random::new(37, 0);
        for triangles in [&mesh.triangles, &inward] {
            let mut closed = ClosedMesh::new(triangles, &mesh.positions).unwrap();
            let moved: Vec<Vec3> = mesh.positions.iter().map(|&p| 0.5 * p + Vec3::X).collect();
            closed.fit(&moved);
            assert!((closed.bounds()[0] - DVec3::new(0.5, -0.5, -0.5)).length() < 1e-2);
            for _ in 0..500 {
                let p = point(&mut random);
                let signed = closed.signed_distance(p + Vec3::X);
                let exact = f64::from(p.length()) - 0.5;
                assert!((signed.distance - exact).abs() < 1e-3, "{signed:?} {exact}");
                // Far inside, all of the surface is equally near.
                if p.length() > 0.2 {
                    let turned = signed.normal.dot(p.as_dvec3().normalize());
                    assert!(turned > 0.99, "{signed:?} {p}");
                }
            }
        }
    }

    #[test]
    fn seams_are_closed_and_holes_fins_and_turned_faces_are_not() {
        let sphere = meshes().swap_remove(0);
        let TriangleMesh { triangles, positions, .. } = sphere;
        // Every face with separate vertices.
        let apart: Vec<Vec3> = triangles.iter().flatten().map(|&v| positions[v as usize]).collect();
        let own: Vec<[u32; 3]> = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let split = ClosedMesh::new(&own, &apart).unwrap();
        let whole = ClosedMesh::new(&triangles, &positions).unwrap();
        let p = Vec3::new(0.2, 0.1, -0.3);
        assert_eq!(split.signed_distance(p).distance, whole.signed_distance(p).distance);
        assert!(ClosedMesh::new(&triangles[1..], &positions).is_none(), "a hole");
        let mut fin = triangles.clone();
        fin.push([fin[0][0], fin[0][1], fin[9][2]]);
        assert!(ClosedMesh::new(&fin, &positions).is_none(), "a fin");
        let mut turned = triangles.clone();
        turned[3].swap(0, 1);
        assert!(ClosedMesh::new(&turned, &positions).is_none(), "a face that looks the other way");
        assert!(ClosedMesh::new(&[], &positions).is_none(), "nothing");
    }
}
