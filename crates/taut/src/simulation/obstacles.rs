//! Obstacles come, go, and are moved from pose to pose.

use super::{ObstacleHandle, Simulation, SimulationError, carry::Origins, handle::ObstacleKind};
use crate::{MeshObstacle, Motion, Obstacle, Pose, boundary::motion::Driven};

/// Poses that have been set for the next step.
pub(super) type NextPoses = Vec<(ObstacleHandle, Pose)>;

/// An obstacle that can be put into a [`Simulation`]: a shape, or a triangle mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyObstacle {
    /// A shape that is given by formula.
    Shape(Obstacle),
    /// A triangle mesh.
    Mesh(MeshObstacle),
}

impl From<Obstacle> for AnyObstacle {
    fn from(obstacle: Obstacle) -> Self {
        Self::Shape(obstacle)
    }
}

impl From<MeshObstacle> for AnyObstacle {
    fn from(obstacle: MeshObstacle) -> Self {
        Self::Mesh(obstacle)
    }
}

impl Simulation {
    /// Puts an obstacle in: an [`Obstacle`] that is given by formula, or a [`MeshObstacle`].
    ///
    /// # Errors
    /// If it cannot be simulated. Nothing has changed then.
    pub fn insert_obstacle(
        &mut self,
        obstacle: impl Into<AnyObstacle>,
    ) -> Result<ObstacleHandle, SimulationError> {
        let mut description = self.description().clone();
        let kind = match obstacle.into() {
            AnyObstacle::Shape(obstacle) => {
                description.obstacles.push(obstacle);
                ObstacleKind::Shape
            }
            AnyObstacle::Mesh(obstacle) => {
                description.mesh_obstacles.push(obstacle);
                ObstacleKind::Mesh
            }
        };
        self.rebuild(description, &Origins::all(&self.world))?;
        let slots = if kind == ObstacleKind::Shape { &mut self.shapes } else { &mut self.meshes };
        Ok(ObstacleHandle { handle: slots.push(), kind })
    }

    /// Takes an obstacle out. Vertices that were attached to it are free from now on.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn remove_obstacle(&mut self, obstacle: ObstacleHandle) -> Result<(), SimulationError> {
        let index = self.obstacle_index(obstacle)?;
        let mut description = self.description().clone();
        match obstacle.kind {
            ObstacleKind::Shape => drop(description.obstacles.remove(index)),
            ObstacleKind::Mesh => {
                description.mesh_obstacles.remove(index);
                let now = self.time();
                for pin in description.bodies.iter_mut().flat_map(|body| body.pins_mut()) {
                    match pin.attach {
                        Some(own) if own == index => (pin.attach, pin.until) = (None, Some(now)),
                        Some(own) if own > index => pin.attach = Some(own - 1),
                        _ => {}
                    }
                }
            }
        }
        self.rebuild(description, &Origins::all(&self.world))?;
        match obstacle.kind {
            ObstacleKind::Shape => self.shapes.remove(index),
            ObstacleKind::Mesh => self.meshes.remove(index),
        }
        self.poses.retain(|(other, _)| *other != obstacle);
        Ok(())
    }

    /// All obstacles: shapes in the order in which they were inserted, then meshes.
    pub fn obstacles(&self) -> impl Iterator<Item = ObstacleHandle> {
        let of = |kind| move |handle| ObstacleHandle { handle, kind };
        let shapes = self.shapes.handles().map(of(ObstacleKind::Shape));
        shapes.chain(self.meshes.handles().map(of(ObstacleKind::Mesh)))
    }

    /// Where an obstacle is to be at the end of the next step. On the way there its origin goes straight and
    /// it turns by the shortest arc; cloth feels the velocity that this makes, and friction with it. It then
    /// stays until it is given another pose. Its keyframes, if it has any, count no more.
    ///
    /// The pose of a shape is where its origin is, y its axis; that of a mesh moves the positions that it was
    /// given.
    ///
    /// # Errors
    /// If the handle is stale, or the pose is not finite and within 1e6 m, with a rotation of length 1.
    pub fn set_next_pose(&mut self, obstacle: ObstacleHandle, pose: Pose) -> Result<(), SimulationError> {
        self.obstacle_index(obstacle)?;
        if !pose.is_valid() {
            return Err(SimulationError::InvalidPose(pose));
        }
        match self.poses.iter_mut().find(|(other, _)| *other == obstacle) {
            Some((_, next)) => *next = pose,
            None => self.poses.push((obstacle, pose)),
        }
        Ok(())
    }

    /// Where an obstacle is.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn pose(&self, obstacle: ObstacleHandle) -> Result<Pose, SimulationError> {
        let (index, time) = (self.obstacle_index(obstacle)?, self.time());
        Ok(match obstacle.kind {
            ObstacleKind::Shape => self.world.description.obstacles[index].pose(time),
            ObstacleKind::Mesh => self.world.description.mesh_obstacles[index].motion.at(time),
        })
    }

    fn obstacle_index(&self, obstacle: ObstacleHandle) -> Result<usize, SimulationError> {
        match obstacle.kind {
            ObstacleKind::Shape => self.shapes.index(obstacle.handle),
            ObstacleKind::Mesh => self.meshes.index(obstacle.handle),
        }
    }

    /// Sends every obstacle with a next pose on its way there; those that had one before stay.
    pub(super) fn begin_poses(&mut self) {
        let frame = self.state.frame;
        let times = [self.world.time_of_frame(frame), self.world.time_of_frame(frame + 1)];
        let description = &mut self.world.ruler.description;
        let shapes =
            description.obstacles.iter_mut().map(|o| (o.pose(times[0]), o.placement(), &mut o.motion));
        for (now, start, motion) in shapes {
            stay(motion, now, start, times);
        }
        for obstacle in &mut description.mesh_obstacles {
            let now = obstacle.motion.at(times[0]);
            stay(&mut obstacle.motion, now, Pose::IDENTITY, times);
        }
        for k in 0..self.poses.len() {
            let (obstacle, next) = self.poses[k];
            // Of what has been removed there is no next pose.
            let (Ok(index), Ok(now)) = (self.obstacle_index(obstacle), self.pose(obstacle)) else { continue };
            let description = &mut self.world.ruler.description;
            let (motion, start) = match obstacle.kind {
                ObstacleKind::Shape => {
                    let obstacle = &mut description.obstacles[index];
                    let start = obstacle.placement();
                    (&mut obstacle.motion, start)
                }
                ObstacleKind::Mesh => (&mut description.mesh_obstacles[index].motion, Pose::IDENTITY),
            };
            motion.driven = Some(Driven { times, poses: [now, next], start });
        }
    }

    /// Poses that were set have been reached.
    pub(super) fn end_poses(&mut self) {
        self.poses.clear();
    }

    /// Obstacles are where they were placed.
    pub(super) fn forget_poses(&mut self) {
        self.poses.clear();
        let description = &mut self.world.ruler.description;
        description.obstacles.iter_mut().for_each(|obstacle| obstacle.motion.driven = None);
        description.mesh_obstacles.iter_mut().for_each(|obstacle| obstacle.motion.driven = None);
    }
}

/// Keeps what has been driven where it is, `now`, between two `times`.
fn stay(motion: &mut Motion, now: Pose, start: Pose, times: [f32; 2]) {
    if motion.driven.is_some() {
        motion.driven = Some(Driven { times, poses: [now; 2], start });
    }
}
