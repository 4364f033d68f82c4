//! Roots of hair: the first two points of each strand, carried by what the hair grows on.
//!
//! A root keeps its place and its direction in the frame of what carries it: of an obstacle or a rigid body,
//! of the nearest face of a mesh obstacle, or of the world. Two points are held, so that a strand leaves the
//! skin as it was styled, and the [rotation](RootPlace::rotation) carries the material frame of the segment
//! between them. A strand of two points is held by the first alone.

use glam::{DMat3, Quat, Vec3};

use super::{
    attachment::{Attachment, attach},
    motion::Pose,
};
use crate::{Description, Hair, Roots, WorldError, mesh::groom::strands_of};

/// Roots of one hair.
#[derive(Clone, Debug)]
pub(crate) struct RootTable {
    carrier: Carrier,
    /// By strand as it was before any was cut: the first of its points among all vertices, and how many are
    /// held.
    held: Vec<(u32, u32)>,
    /// By strand: its first two points at the start \[m\].
    start: Vec<[Vec3; 2]>,
}

/// What carries roots.
#[derive(Clone, Debug)]
enum Carrier {
    Fixed,
    Obstacle(u32),
    /// By strand: its face, and the frame of that at the start.
    Faces(Vec<(Attachment, DMat3)>),
    RigidBody(u32),
}

/// Where a strand is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootPlace {
    /// Its first two points \[m\].
    pub points: [Vec3; 2],
    /// How it has turned since the start.
    pub rotation: Quat,
}

impl RootTable {
    /// Roots of `hair`, whose vertices begin at `first`. `None` if its strands are free.
    pub fn new(hair: &Hair, first: usize, description: &Description) -> Result<Option<Self>, WorldError> {
        let strands = || strands_of(hair.whole_counts());
        let start: Vec<[Vec3; 2]> =
            strands().map(|own| [hair.start[own.start], hair.start[own.start + 1]]).collect();
        let carrier = match hair.roots {
            Roots::Free => return Ok(None),
            Roots::Fixed => Carrier::Fixed,
            Roots::Obstacle(number) => Carrier::Obstacle(number as u32),
            Roots::RigidBody(number) => Carrier::RigidBody(number as u32),
            Roots::MeshObstacle(number) => {
                let obstacles = &description.mesh_obstacles;
                let places = start.iter().map(|points| points[0]);
                let Some(attached) = attach(&obstacles[number], number as u32, places) else {
                    let problem = format!(
                        "its roots are on obstacle \"{}\", which has no face with three corners",
                        obstacles[number].name
                    );
                    return Err(WorldError::Hair { name: hair.name.clone(), problem });
                };
                let frame = |on: &Attachment| on.point_and_frame(obstacles, 0.0).1;
                Carrier::Faces(attached.into_iter().map(|on| (on, frame(&on))).collect())
            }
        };
        let held = strands().map(|own| ((first + own.start) as u32, (own.len() as u32 - 1).min(2))).collect();
        Ok(Some(Self { carrier, held, start }))
    }

    /// Number of strands.
    pub fn count(&self) -> usize {
        self.held.len()
    }

    /// Its held vertices, of all vertices.
    pub fn vertices(&self) -> impl Iterator<Item = usize> + '_ {
        self.held.iter().flat_map(|&(first, count)| first as usize..(first + count) as usize)
    }

    /// Held vertices of strand `k`, of all vertices.
    pub fn held(&self, k: usize) -> std::ops::Range<usize> {
        let (first, count) = self.held[k];
        first as usize..(first + count) as usize
    }

    /// Where the roots are at `time` \[s\]; `poses` are those of rigid bodies then. `None` if one of them
    /// carries the roots and its pose is not known.
    pub fn places<'a>(
        &'a self,
        description: &'a Description,
        time: f32,
        pose_of: impl Fn(usize) -> Option<Pose>,
    ) -> Option<impl Fn(usize) -> RootPlace + 'a> {
        let poses = match self.carrier {
            Carrier::Fixed | Carrier::Faces(_) => None,
            Carrier::Obstacle(number) => {
                let obstacle = &description.obstacles[number as usize];
                Some([obstacle.pose(0.0), obstacle.pose(time)])
            }
            Carrier::RigidBody(number) => {
                let start = description.rigid_bodies[number as usize].start().pose;
                Some([start, pose_of(number as usize)?])
            }
        };
        Some(move |k: usize| {
            let start = self.start[k];
            match (&self.carrier, poses) {
                (Carrier::Faces(faces), _) => {
                    let (on, before) = &faces[k];
                    let (point, now) = on.point_and_frame(&description.mesh_obstacles, time);
                    let turned = now * before.transpose();
                    let arm = turned * (start[1] - start[0]).as_dvec3();
                    let rotation = glam::DQuat::from_mat3(&turned).normalize().as_quat();
                    RootPlace { points: [point.as_vec3(), (point + arm).as_vec3()], rotation }
                }
                (_, Some([from, to])) if from != to => RootPlace {
                    points: start.map(|p| to.to_world(from.to_body(p))),
                    rotation: (to.rotation * from.rotation.inverse()).normalize(),
                },
                _ => RootPlace { points: start, rotation: Quat::IDENTITY },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HairMaterial, Motion, Obstacle, boundary::motion::Keyframe, mesh::groom::Groom};

    fn hair(roots: Roots) -> Hair {
        let positions = vec![Vec3::Y, Vec3::Y * 1.1, Vec3::Y * 1.2, Vec3::X, Vec3::X * 1.1];
        let groom = Groom { positions, counts: vec![3, 2], radii: Vec::new() };
        let material = HairMaterial {
            name: "custom".into(),
            density: 1300.0,
            radius: 4e-5,
            young: 3e9,
            shear: 1e9,
            damping: 0.0,
            source: String::new(),
        };
        Hair { roots, ..Hair::new("hair", groom, material) }
    }

    #[test]
    fn roots_turn_with_what_carries_them() {
        let mut ball = Obstacle::sphere(Vec3::ZERO, 1.0);
        let turn = |time, degrees| Keyframe { time, rotate: Vec3::Z * degrees, ..Keyframe::default() };
        ball.motion = Motion { keys: vec![turn(0.0, 0.0), turn(1.0, 90.0)], ..Motion::default() };
        let description = Description { obstacles: vec![ball], ..Description::default() };
        let table = RootTable::new(&hair(Roots::Obstacle(0)), 7, &description).unwrap().unwrap();
        assert_eq!(table.vertices().collect::<Vec<_>>(), [7, 8, 10]);
        let places = table.places(&description, 1.0, |_| None).unwrap();
        let [first, second] = places(0).points;
        assert!(
            first.distance(-Vec3::X) < 1e-6 && second.distance(Vec3::X * -1.1) < 1e-6,
            "{first} {second}"
        );
        assert!((places(1).rotation * Vec3::X).distance(Vec3::Y) < 1e-6);
        assert!(RootTable::new(&hair(Roots::Free), 0, &description).unwrap().is_none());
    }
}
