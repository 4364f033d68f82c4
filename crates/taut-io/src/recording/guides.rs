//! Strands that follow those that were simulated: what is shown and exported of hair with guides.

use std::sync::Arc;

use glam::Vec3;
use taut::{
    Description, Hair, Shape,
    mesh::groom::{Interpolation, Skin},
};

use super::Geometry;

/// Guides that a strand follows, at most.
const NEIGHBOURS: usize = 4;

/// All strands of a hair, by those that were simulated.
#[derive(Clone, Debug)]
pub struct ShownStrands {
    all: Arc<Interpolation>,
    /// Points of the strands that were simulated.
    pub guide_points: usize,
}

impl ShownStrands {
    /// Those of `hair`; `None` if all strands were simulated.
    pub fn new(hair: &Hair) -> Option<Self> {
        let all = Interpolation::new(hair.groom.clone(), hair.full.clone()?, NEIGHBOURS)?;
        Some(Self { all: Arc::new(all), guide_points: hair.groom.positions.len() })
    }

    /// Number of points of each strand.
    pub fn counts(&self) -> &[u32] {
        &self.all.full().counts
    }

    /// Points of all strands at rest \[m\].
    pub fn rest(&self) -> &[Vec3] {
        &self.all.full().positions
    }

    /// Radius of each point \[m\], of `hair` that they are of.
    pub fn radii(&self, hair: &Hair) -> Vec<f32> {
        let full = self.all.full();
        (0..full.positions.len())
            .map(|v| full.radii.get(v).copied().unwrap_or(hair.material.radius))
            .collect()
    }

    /// All points while simulated ones are at `guides` \[m\], kept out of the obstacles of `description`,
    /// which are where `time` \[s\] has them. Rigid bodies are left out.
    pub fn points(&self, guides: &[Vec3], description: &Description, time: f32) -> Vec<Vec3> {
        let shapes: Vec<_> = description.obstacles.iter().map(|o| (o.shape, o.pose(time))).collect();
        let meshes = description.mesh_obstacles.iter();
        let meshes: Vec<Skin> =
            meshes.map(|o| Skin::mesh(o.positions_at(time), o.triangles.clone())).collect();
        let outside = |p: Vec3| {
            let of_shape = |&(shape, pose): &(Shape, taut::Pose)| {
                let (distance, normal) = shape.distance(pose.to_body(p));
                (distance, pose.rotation * normal)
            };
            let found = shapes.iter().map(of_shape).chain(meshes.iter().filter_map(|mesh| mesh.signed(p)));
            found.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f32::INFINITY, Vec3::Y))
        };
        let mut x = Vec::new();
        let has_obstacles = !shapes.is_empty() || !meshes.is_empty();
        self.all.interpolate(guides, None, has_obstacles.then_some(&outside), &mut x);
        x
    }

    /// The geometry of a frame in which simulated points are at `guides` \[m\].
    pub(super) fn geometry(
        &self,
        guides: &[Vec3],
        (description, time): (&Description, f32),
        rest: &Geometry,
    ) -> Geometry {
        Geometry { positions: self.points(guides, description, time), connections: rest.connections.clone() }
    }
}
