//! What a frame came to in contact: what passes through what, and the smallest gap. From positions alone, as
//! the caller numbers them.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::Ruler;
use crate::{
    contact::inspect::{Crossing, Inspector, Parts},
    exec::threads::Threads,
    mesh::TriangleMesh,
};

/// The part of a certificate that is about contact: of cloth with itself, with other cloth and with mesh
/// obstacles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactCertificate {
    /// Edges that pass through a face which they share no vertex with, each counted with each such face.
    /// Exact; touching counts.
    pub intersections: u64,
    /// Whether they are what is left of a start that was tangled: every frame so far, the start among them,
    /// had some. [`certify`](crate::certify) knows one frame alone, and says so of a start; who records frame
    /// after frame carries it on.
    pub tangled: bool,
    /// The first of them, by body, edge and face.
    pub first: Option<Intersection>,
    /// Smallest distance of a vertex from a face, or of an edge from an edge, that are no neighbours \[m\]; 0
    /// if something passes through something. None: everything is as far apart as thickness and margins ask
    /// for. Neighbours share a vertex, or were as near as that at the start.
    pub smallest_gap: Option<f64>,
}

/// An edge that passes through a face, in the caller's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intersection {
    /// Body or obstacle that the edge belongs to.
    pub edge_body: String,
    /// Its vertices.
    pub edge: [u32; 2],
    /// Body or obstacle that the face belongs to.
    pub face_body: String,
    /// The face.
    pub face: u32,
}

impl std::fmt::Display for Intersection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { edge_body, edge: [a, b], face_body, face } = self;
        write!(f, "edge {a}, {b} of {edge_body} passes through face {face} of {face_body}")
    }
}

/// A body or obstacle among all that are looked at.
#[derive(Clone, Debug)]
struct Object {
    name: String,
    first_vertex: u32,
    first_face: u32,
}

/// Looks at the contact of frame after frame of the same bodies.
#[derive(Clone, Debug)]
pub struct Examiner {
    objects: Vec<Object>,
    inspector: Inspector,
    x: Vec<[f32; 3]>,
}

/// Bodies one after the other.
#[derive(Default)]
struct Gathered {
    objects: Vec<Object>,
    parts: Parts,
}

impl Gathered {
    fn add(&mut self, name: &str, triangles: &[[u32; 3]], start: &[Vec3], radius: f32) {
        let Self { objects, parts } = self;
        let (first_vertex, first_face) = (parts.start.len() as u32, parts.triangles.len() as u32);
        objects.push(Object { name: name.into(), first_vertex, first_face });
        parts.triangles.extend(triangles.iter().map(|t| t.map(|v| first_vertex + v)));
        parts.start.extend(start.iter().map(Vec3::to_array));
        parts.identity.extend(first_vertex..parts.start.len() as u32);
        parts.radius.resize(parts.start.len(), radius);
    }

    /// Takes vertices for one that seams sew together; the bodies are those of `ruler`, in their order.
    fn sew(&mut self, ruler: &Ruler) {
        let Self { objects, parts } = self;
        let places = ruler.bodies.iter().zip(objects);
        let mut by_engine = vec![0; ruler.bodies.last().map_or(0, |body| body.vertices.end)];
        for (body, object) in places {
            for (k, &v) in body.order().iter().enumerate() {
                by_engine[body.vertices.start + k] = object.first_vertex + v;
            }
        }
        for (engine, &twin) in ruler.sewing.identity.iter().enumerate() {
            parts.identity[by_engine[engine] as usize] = by_engine[twin as usize];
        }
    }

    fn examiner(self) -> Examiner {
        let x = self.parts.start.clone();
        Examiner { objects: self.objects, inspector: Inspector::new(self.parts), x }
    }
}

impl Examiner {
    /// One for the contact that `ruler` keeps; none if it lets everything pass.
    pub fn new(ruler: &Ruler) -> Option<Self> {
        let between_cloth = ruler.description.contact.thickness > 0.0;
        let touches = between_cloth || !ruler.description.mesh_obstacles.is_empty();
        touches.then(|| Self::gather(ruler, between_cloth))
    }

    /// One for all that could touch in `ruler`, also where it lets it pass.
    pub fn of_all(ruler: &Ruler) -> Self {
        Self::gather(ruler, true)
    }

    fn gather(ruler: &Ruler, between_cloth: bool) -> Self {
        let thickness = ruler.description.contact.thickness;
        let mut all = Gathered::default();
        for (body, described) in ruler.description.bodies.iter().enumerate() {
            let positions = ruler.start_positions(body);
            all.add(described.name(), ruler.surface_of(body), &positions, 0.5 * thickness);
        }
        all.sew(ruler);
        all.parts.fixed_from = all.parts.start.len() as u32;
        all.parts.between_cloth = between_cloth;
        for obstacle in &ruler.description.mesh_obstacles {
            all.add(&obstacle.name, &obstacle.triangles, &obstacle.positions_at(0.0), obstacle.margin);
        }
        all.examiner()
    }

    /// One for a mesh by itself.
    pub fn of_mesh(name: &str, mesh: &TriangleMesh) -> Self {
        let mut all = Gathered::default();
        all.add(name, &mesh.triangles, &mesh.positions, 0.0);
        all.parts.fixed_from = all.parts.start.len() as u32;
        all.parts.between_cloth = true;
        all.examiner()
    }

    /// Looks at frame `frame` of `ruler`, with the vertices of its cloth at `positions`, one list a body
    /// \[m\]; mesh obstacles are where the time of the frame has them. What is left of a tangled start one
    /// frame alone does not tell: `tangled` is set in a start only.
    ///
    /// # Panics
    /// If there are not as many positions as vertices.
    pub fn examine<'a>(
        &mut self,
        threads: &Threads,
        ruler: &Ruler,
        frame: u32,
        positions: impl IntoIterator<Item = &'a [Vec3]>,
    ) -> ContactCertificate {
        self.x.clear();
        self.x.extend(positions.into_iter().flatten().map(Vec3::to_array));
        let time = ruler.time_of_frame(frame);
        for obstacle in &ruler.description.mesh_obstacles {
            self.x.extend(obstacle.positions_at(time).iter().map(Vec3::to_array));
        }
        let mut found = self.look(threads);
        found.tangled = frame == 0 && found.intersections > 0;
        found
    }

    /// Looks at the bodies as they start.
    pub fn examine_start(&mut self, threads: &Threads) -> ContactCertificate {
        self.x.clone_from(&self.inspector.parts().start);
        let mut found = self.look(threads);
        found.tangled = found.intersections > 0;
        found
    }

    fn look(&mut self, threads: &Threads) -> ContactCertificate {
        self.inspector.look(threads, &self.x);
        let intersections = self.inspector.crossings().len() as u64;
        ContactCertificate {
            intersections,
            tangled: false,
            first: self.intersections().next(),
            smallest_gap: match intersections {
                0 => self.inspector.nearest().map(|near| near.distance),
                _ => Some(0.0),
            },
        }
    }

    /// What was found to pass through what.
    pub fn intersections(&self) -> impl Iterator<Item = Intersection> {
        self.inspector.crossings().iter().map(|crossing| self.named(crossing))
    }

    /// All vertices where they were looked at last \[m\].
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.x
    }

    /// All faces, with whether something passes through them or one of their own edges passes through
    /// something.
    pub fn tangled_faces(&self) -> Vec<([u32; 3], bool)> {
        let crossings = self.inspector.crossings();
        let faces: std::collections::BTreeSet<u32> = crossings.iter().map(|c| c.triangle).collect();
        let edges: std::collections::BTreeSet<[u32; 2]> = crossings.iter().map(|c| c.edge).collect();
        let is_tangled = |(place, t): (usize, &[u32; 3])| {
            let [a, b, c] = *t;
            let of_edge =
                [[a, b], [b, c], [c, a]].iter().any(|&[a, b]| edges.contains(&[a.min(b), a.max(b)]));
            (*t, of_edge || faces.contains(&(place as u32)))
        };
        self.inspector.parts().triangles.iter().enumerate().map(is_tangled).collect()
    }

    fn named(&self, crossing: &Crossing) -> Intersection {
        let of_vertex = |v: u32| self.objects.iter().rev().find(|object| object.first_vertex <= v);
        let of_face = |t: u32| self.objects.iter().rev().find(|object| object.first_face <= t);
        let (edge, face) = (of_vertex(crossing.edge[0]), of_face(crossing.triangle));
        Intersection {
            edge_body: edge.map_or_else(String::new, |object| object.name.clone()),
            edge: crossing.edge.map(|v| v - edge.map_or(0, |object| object.first_vertex)),
            face_body: face.map_or_else(String::new, |object| object.name.clone()),
            face: crossing.triangle - face.map_or(0, |object| object.first_face),
        }
    }
}
