//! Vertices of cloth that follow a face of a mesh obstacle, as the collar of a shirt follows its wearer.
//!
//! The initial position of a vertex is stored as a point of the nearest face, by barycentric weights, plus an
//! offset in the frame of the face: along its first edge, its normal, and the direction perpendicular to
//! both. So the vertex translates and rotates with the face, and slides on it as far as the face itself
//! stretches.

use glam::{DVec3, Vec3};

use super::mesh_obstacle::MeshObstacle;
use crate::contact::{
    distance::vertex_triangle,
    tree::{Swept, Tree},
};

/// A position that follows a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// Index of the mesh obstacle in the world.
    pub obstacle: u32,
    /// Corners of the face, by the obstacle's vertices.
    pub corners: [u32; 3],
    /// Weights of the corners; they add up to 1.
    weights: [f64; 3],
    /// Offset from the point with these weights, in the frame of the face \[m\].
    offset: DVec3,
}

impl Attachment {
    /// Its position at `time` \[s\] \[m\]; `obstacles` are the world's.
    pub fn at(&self, obstacles: &[MeshObstacle], time: f32) -> Vec3 {
        let obstacle = &obstacles[self.obstacle as usize];
        let x = self.corners.map(|v| obstacle.vertex_at(v as usize, time).as_dvec3());
        let [along, across, normal] = axes(&x);
        let on_face = x[0] * self.weights[0] + x[1] * self.weights[1] + x[2] * self.weights[2];
        (on_face + along * self.offset.x + across * self.offset.y + normal * self.offset.z).as_vec3()
    }
}

/// The frame of a face: along its first edge, across that, and along its normal. Arbitrary axes if it has no
/// area.
fn axes(x: &[DVec3; 3]) -> [DVec3; 3] {
    let along = (x[1] - x[0]).normalize_or(DVec3::X);
    let normal =
        (x[1] - x[0]).cross(x[2] - x[0]).try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
    [along, normal.cross(along), normal]
}

/// Binds `places` \[m\] to the nearest faces of obstacle `number` at its initial position. `None` if no face
/// names three vertices.
pub(crate) fn attach(
    obstacle: &MeshObstacle,
    number: u32,
    places: impl IntoIterator<Item = Vec3>,
) -> Option<Vec<Attachment>> {
    let x = obstacle.positions_at(0.0);
    let faces: Vec<[u32; 3]> =
        obstacle.triangles.iter().copied().filter(|[a, b, c]| a != b && b != c && c != a).collect();
    let about = |face: &[u32; 3]| {
        face.iter().fold(Swept::EMPTY, |about, &v| {
            let p = x[v as usize];
            let p = [p.x, p.y, p.z, 0.0];
            about.with(&p, &p)
        })
    };
    let tree = Tree::new(&faces.iter().map(about).collect::<Vec<_>>());
    let corners = |face: u32| faces[face as usize].map(|v| x[v as usize].as_dvec3());
    let bind = |place: Vec3| {
        let p = place.as_dvec3();
        let nearest = |face: u32| {
            let [a, b, c] = corners(face);
            vertex_triangle(&[p, a, b, c])
        };
        let (face, _) = tree.nearest(&p.to_array(), f64::INFINITY, |face| nearest(face).squared)?;
        let [_, a, b, c] = nearest(face).weights;
        let (x, weights) = (corners(face), [-a, -b, -c]);
        let rest = p - (x[0] * weights[0] + x[1] * weights[1] + x[2] * weights[2]);
        let offset = DVec3::from_array(axes(&x).map(|axis| axis.dot(rest)));
        Some(Attachment { obstacle: number, corners: faces[face as usize], weights, offset })
    };
    places.into_iter().map(bind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Motion,
        boundary::{mesh_obstacle::MeshFrames, motion::Keyframe},
        mesh::generate::Generator,
    };

    /// A ball that grows to twice its size in a second, and rotates about the origin by 90 degrees in the
    /// next.
    fn ball() -> MeshObstacle {
        let mesh = Generator::Sphere { radius: 0.5, frequency: 5 }.generate().unwrap();
        let large = mesh.positions.iter().map(|&p| 2.0 * p).collect();
        let turn = |time, degrees| Keyframe { time, rotate: Vec3::Y * degrees, ..Keyframe::default() };
        MeshObstacle {
            name: "ball".into(),
            triangles: mesh.triangles,
            frames: MeshFrames::at_rate(vec![mesh.positions, large], 1.0, 0.0),
            motion: Motion {
                keys: vec![turn(1.0, 0.0), turn(2.0, 90.0)],
                pivot: Vec3::ZERO,
                ..Motion::default()
            },
            ..MeshObstacle::default()
        }
    }

    #[test]
    fn places_stay_on_the_surface_that_stretches_and_at_their_distance_from_it() {
        let ball = [ball()];
        let corner = ball[0].positions_at(0.0)[7];
        let middle = ball[0].triangles[11]
            .iter()
            .fold(Vec3::ZERO, |sum, &v| sum + ball[0].positions_at(0.0)[v as usize] / 3.0);
        let out = middle.normalize();
        let places = [corner, middle, middle + 0.1 * out, 1.3 * corner];
        let attached = attach(&ball[0], 0, places).unwrap();
        for (attached, place) in attached.iter().zip(places) {
            assert!(attached.at(&ball, 0.0).distance(place) < 1e-6);
        }
        let grown = attached.iter().map(|a| a.at(&ball, 1.0)).collect::<Vec<_>>();
        assert!(grown[0].distance(2.0 * corner) < 1e-6 && grown[1].distance(2.0 * middle) < 1e-6);
        // A vertex off the surface keeps its distance: faces grow, distances from them do not.
        assert!(grown[2].distance(2.0 * middle + 0.1 * out) < 2e-3, "{}", grown[2]);
        assert!((grown[3].distance(2.0 * corner) - 0.3 * corner.length()).abs() < 1e-6);
        let quarter = |p: Vec3| Vec3::new(p.z, p.y, -p.x);
        for (attached, grown) in attached.iter().zip(grown) {
            assert!(attached.at(&ball, 2.0).distance(quarter(grown)) < 1e-6);
        }
    }

    #[test]
    fn a_face_without_area_or_with_two_corners_gives_finite_places() {
        let mut flat = ball();
        flat.frames.positions[1].fill(Vec3::X);
        let flat = [flat];
        let attached = attach(&flat[0], 0, [Vec3::new(0.1, 0.7, 0.0)]).unwrap();
        assert!(attached[0].at(&flat, 1.0).is_finite());
        let mut empty = ball();
        empty.triangles = vec![[0, 0, 1]];
        assert_eq!(attach(&empty, 0, [Vec3::ZERO]), None);
    }
}
