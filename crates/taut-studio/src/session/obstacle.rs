//! Displayed obstacles: shapes, meshes and rigid bodies, with their poses.

use glam::{Mat3, Vec3};
use taut::{Description, MeshObstacle, Motion, Obstacle, Pose, Shape};

use crate::protocol::ObstacleMessage;

/// A displayed obstacle.
#[derive(Clone, Debug)]
pub struct ShownObstacle {
    name: String,
    kind: &'static str,
    /// Vertices about its origin \[m\].
    pub positions: Vec<Vec3>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    place: Place,
}

/// Source of an obstacle's pose.
#[derive(Clone, Debug)]
enum Place {
    /// Its own motion.
    Moved(Box<Obstacle>),
    /// The simulation: index of the rigid body.
    Rigid(usize),
    /// A motion of a mesh.
    Mesh(Motion),
    /// Frames of a deforming mesh.
    Deforming(Box<MeshObstacle>),
}

/// All obstacles of a description, in the order of the page: shapes, rigid bodies, meshes. Planes have the
/// half extent `reach` \[m\].
pub fn shown_obstacles(description: &Description, reach: f32) -> Vec<ShownObstacle> {
    let shape = |obstacle: &Obstacle, place: Place| {
        let surface = obstacle.shape.surface(reach);
        let (positions, triangles) = (surface.positions, surface.triangles);
        ShownObstacle {
            name: obstacle.name.clone(),
            kind: kind(&obstacle.shape),
            positions,
            triangles,
            place,
        }
    };
    let fixed = description.obstacles.iter().map(|o| shape(o, Place::Moved(Box::new(o.clone()))));
    let rigid = description.rigid_bodies.iter().enumerate().map(|(k, b)| shape(&b.obstacle, Place::Rigid(k)));
    let meshes = description.mesh_obstacles.iter().map(|mesh| {
        let deforms = mesh.frames.positions.len() > 1;
        let place =
            if deforms { Place::Deforming(Box::new(mesh.clone())) } else { Place::Mesh(mesh.motion.clone()) };
        let positions = mesh.frames.positions.first().cloned().unwrap_or_default();
        ShownObstacle {
            name: mesh.name.clone(),
            kind: "mesh",
            positions,
            triangles: mesh.triangles.clone(),
            place,
        }
    });
    fixed.chain(rigid).chain(meshes).collect()
}

fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Plane => "plane",
        Shape::Sphere { .. } => "sphere",
        Shape::Box { .. } => "box",
        Shape::Capsule { .. } => "capsule",
        Shape::Cylinder { .. } => "cylinder",
        Shape::Torus { .. } => "torus",
    }
}

impl ShownObstacle {
    /// Its description for the page.
    pub fn message(&self) -> ObstacleMessage<'_> {
        ObstacleMessage { name: &self.name, kind: self.kind, triangles: self.triangles.len() }
    }

    /// Its pose at `time` \[s\], as rows of a 3×4 matrix; `rigid` has the poses of rigid bodies.
    pub fn matrix(&self, time: f32, rigid: impl Fn(usize) -> Pose) -> [f32; 12] {
        match &self.place {
            Place::Moved(obstacle) => rows(&obstacle.pose(time)),
            Place::Rigid(body) => rows(&rigid(*body)),
            Place::Mesh(motion) if !motion.is_empty() => rows(&motion.at(time)),
            Place::Mesh(_) | Place::Deforming(_) => {
                rows(&Pose { rotation: glam::Quat::IDENTITY, position: Vec3::ZERO })
            }
        }
    }

    /// Its vertices at `time` \[s\], if it deforms \[m\].
    pub fn deformed(&self, time: f32) -> Option<Vec<Vec3>> {
        match &self.place {
            Place::Deforming(mesh) => Some(mesh.positions_at(time)),
            _ => None,
        }
    }
}

fn rows(pose: &Pose) -> [f32; 12] {
    let [x, y, z] = Mat3::from_quat(pose.rotation).transpose().to_cols_array_2d();
    let p = pose.position;
    [x[0], x[1], x[2], p.x, y[0], y[1], y[2], p.y, z[0], z[1], z[2], p.z]
}
