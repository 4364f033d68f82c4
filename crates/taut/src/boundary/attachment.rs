//! Vertices of cloth that follow a face of a mesh obstacle, as the collar of a shirt follows its wearer.
//!
//! The initial position of a vertex is stored as a point of the nearest face, by barycentric weights, plus an
//! offset in the frame of the face: along its first edge, its normal, and the direction perpendicular to
//! both. So the vertex translates and rotates with the face, and slides on it as far as the face itself
//! stretches.
//!
//! Faces of skin shear against each other, and vertices that follow one each shear with them: limits of the
//! triangles between cannot be met. So the vertices of a pin keep the shape that they start with by default:
//! their targets are that shape, rotated and translated to the points of their faces as well as possible in
//! the sense of least squares ([`RigidGroup`]; Kabsch 1976).

use glam::{DMat3, DVec3, Vec3};

use super::mesh_obstacle::MeshObstacle;
use crate::{
    contact::{
        distance::vertex_triangle,
        tree::{Swept, Tree},
    },
    kernel::svd3::svd3_f64,
};

/// Weight of the rotation of the faces in the fit, in those of the points: it decides only what
/// the points leave open, as a line of them does the rotation about itself.
const FACES_WEIGHT: f64 = 1e-9;

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
        self.point_and_frame(obstacles, time).0.as_vec3()
    }

    /// Its position \[m\] and the frame of its face at `time` \[s\].
    pub(crate) fn point_and_frame(&self, obstacles: &[MeshObstacle], time: f32) -> (DVec3, DMat3) {
        let obstacle = &obstacles[self.obstacle as usize];
        let x = self.corners.map(|v| obstacle.vertex_at(v as usize, time).as_dvec3());
        let [along, across, normal] = axes(&x);
        let on_face = x[0] * self.weights[0] + x[1] * self.weights[1] + x[2] * self.weights[2];
        let point = on_face + along * self.offset.x + across * self.offset.y + normal * self.offset.z;
        (point, DMat3::from_cols(along, across, normal))
    }
}

/// Vertices of one pin that keep the shape that they start with.
#[derive(Clone, Debug)]
pub(crate) struct RigidGroup {
    members: Vec<Member>,
    /// Mean of the start positions \[m\].
    centre: DVec3,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    attachment: Attachment,
    /// Start position, relative to the mean \[m\].
    start: DVec3,
    /// Frame of its face at the start.
    frame: DMat3,
    /// Fraction of the sum of all weights.
    weight: f64,
}

/// A rotation and translation in double precision, from start positions to those at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    rotation: DMat3,
    from: DVec3,
    to: DVec3,
}

impl Fit {
    /// Nothing moves.
    pub const IDENTITY: Self = Self { rotation: DMat3::IDENTITY, from: DVec3::ZERO, to: DVec3::ZERO };

    /// Where it takes a start position \[m\].
    pub fn place(&self, start: Vec3) -> Vec3 {
        (self.rotation * (start.as_dvec3() - self.from) + self.to).as_vec3()
    }
}

impl RigidGroup {
    /// `attached` vertices that start at `places` \[m\]. Those with a larger weight decide more; `weights`
    /// that are missing, or all 0, are equal.
    pub fn new(
        obstacles: &[MeshObstacle],
        attached: &[Attachment],
        places: impl Iterator<Item = Vec3>,
        weights: &[f32],
    ) -> Self {
        let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        let even = 1.0 / attached.len().max(1) as f64;
        let weight = |k: usize| match weights.get(k) {
            Some(&weight) if sum > 0.0 => f64::from(weight) / sum,
            _ => even,
        };
        let members = attached.iter().zip(places).enumerate().map(|(k, (attachment, place))| Member {
            attachment: *attachment,
            start: place.as_dvec3(),
            frame: attachment.point_and_frame(obstacles, 0.0).1,
            weight: weight(k),
        });
        let mut members: Vec<_> = members.collect();
        let centre = members.iter().map(|m| m.weight * m.start).sum();
        members.iter_mut().for_each(|m| m.start -= centre);
        Self { members, centre }
    }

    /// The fit at `time` \[s\].
    pub fn fit(&self, obstacles: &[MeshObstacle], time: f32) -> Fit {
        // The start positions have their mean at 0, so that the mean of the points need not be known first.
        let (mut to, mut points, mut faces, mut size) = (DVec3::ZERO, DMat3::ZERO, DMat3::ZERO, 0.0);
        for member in &self.members {
            let (point, frame) = member.attachment.point_and_frame(obstacles, time);
            let arm = point - self.centre;
            to += member.weight * arm;
            points += outer(member.weight * arm, member.start);
            faces += member.weight * (frame * member.frame.transpose());
            size += member.weight * member.start.length_squared();
        }
        let svd = svd3_f64(points + faces * (FACES_WEIGHT * size));
        Fit { rotation: svd.u * svd.v.transpose(), from: self.centre, to: self.centre + to }
    }
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
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

    /// Attaches `places` to the ball as a rigid group.
    fn group(ball: &[MeshObstacle], places: &[Vec3], weights: &[f32]) -> RigidGroup {
        let attached = attach(&ball[0], 0, places.iter().copied()).unwrap();
        RigidGroup::new(ball, &attached, places.iter().copied(), weights)
    }

    #[test]
    fn a_rigid_group_keeps_its_shape_and_rotates_with_the_surface() {
        let ball = [ball()];
        let x = ball[0].positions_at(0.0);
        let places: Vec<Vec3> = x[..12].iter().map(|p| 1.05 * *p).collect();
        let group = group(&ball, &places, &[]);
        let at = |time: f32| places.iter().map(|p| group.fit(&ball, time).place(*p)).collect::<Vec<_>>();
        for (time, label) in [(0.0, "start"), (0.5, "growing"), (1.7, "turning")] {
            for (k, (p, q)) in at(time).iter().zip(&places).enumerate() {
                let (now, start) = (p.distance(at(time)[0]), q.distance(places[0]));
                assert!((now - start).abs() < 1e-6, "{label}, vertex {k}: {now} {start}");
            }
        }
        for (p, q) in at(0.0).iter().zip(&places) {
            assert!(p.distance(*q) < 1e-7, "{p} {q}");
        }
        let quarter = |p: Vec3| Vec3::new(p.z, p.y, -p.x);
        for (before, after) in at(1.0).iter().zip(at(2.0)) {
            assert!(after.distance(quarter(*before)) < 1e-6);
        }
    }

    #[test]
    fn a_fit_is_the_best_rigid_motion() {
        let mut ball = ball();
        // Sheared, so that no rigid motion fits.
        ball.frames.positions[1] =
            ball.frames.positions[0].iter().map(|p| *p + Vec3::new(0.4 * p.y, 0.3 * p.z, 0.0)).collect();
        let ball = [ball];
        let places: Vec<Vec3> = ball[0].positions_at(0.0)[..20].to_vec();
        let weights: Vec<f32> = (0..20).map(|k| 0.1 + k as f32).collect();
        let group = group(&ball, &places, &weights);
        let fit = group.fit(&ball, 1.0);
        let error = |fit: &Fit| -> f64 {
            let members = group.members.iter().zip(&places);
            let distance = |(m, p): (&Member, &Vec3)| {
                let target = fit.rotation * (p.as_dvec3() - fit.from) + fit.to;
                m.weight * m.attachment.point_and_frame(&ball, 1.0).0.distance_squared(target)
            };
            members.map(distance).sum()
        };
        let best = error(&fit);
        assert!(best > 1e-6 && (fit.rotation.determinant() - 1.0).abs() < 1e-12);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            for sign in [-1.0, 1.0] {
                let turned = DMat3::from_axis_angle(axis, 1e-3 * sign) * fit.rotation;
                assert!(error(&Fit { rotation: turned, ..fit }) > best);
                assert!(error(&Fit { to: fit.to + 1e-3 * sign * axis, ..fit }) > best);
            }
        }
    }

    #[test]
    fn points_lines_and_collapsed_groups_are_fitted() {
        let ball = [ball()];
        let p = 1.1 * ball[0].positions_at(0.0)[7];
        let along = p.any_orthonormal_vector();
        for count in [1, 2, 5] {
            let places: Vec<Vec3> = (0..count).map(|k| p + 0.01 * k as f32 * along).collect();
            let group = group(&ball, &places, &[]);
            let fit = group.fit(&ball, 1.6);
            assert!((fit.rotation.determinant() - 1.0).abs() < 1e-12);
            let attached = attach(&ball[0], 0, places.iter().copied()).unwrap();
            for (attached, place) in attached.iter().zip(&places) {
                let off = attached.at(&ball, 1.6).distance(fit.place(*place));
                assert!(off < if count == 1 { 1e-6 } else { 0.03 }, "{count} points: off by {off} m");
            }
        }
        // All weights 0 are as good as equal ones, and a surface that shrinks to a point leaves a rotation.
        let places = [p, p + 0.01 * along, 1.05 * p];
        let group = group(&ball, &places, &[0.0; 3]);
        assert_eq!(group.members[0].weight, 1.0 / 3.0);
        let mut shrunk = ball;
        shrunk[0].frames.positions[1].fill(Vec3::X);
        let fit = group.fit(&shrunk, 1.0);
        assert!((fit.rotation.determinant() - 1.0).abs() < 1e-9 && fit.to.is_finite(), "{fit:?}");
    }
}
