//! Coarser levels of the first body, if that is cloth, as the engine builds them, for display. They are built
//! when a viewer first asks to see them: of a large mesh that takes seconds.

use glam::Vec3;
use taut::{
    Body, Description,
    low_level::{self, Hierarchy, LevelOptions},
};

use crate::wire::{self, MeshOf};

/// Coarser levels of a mesh, once they have been asked for.
#[derive(Debug, Default)]
pub struct ShownLevels {
    built: Option<Levels>,
}

#[derive(Debug)]
struct Levels {
    hierarchy: Hierarchy,
}

impl ShownLevels {
    /// Whether there is a mesh that may have levels.
    pub fn are_possible(description: &Description) -> bool {
        // Developable cloth has levels of the mesh that is shown elsewhere.
        let cloth = description.bodies.first().and_then(Body::as_cloth);
        cloth.is_some_and(|cloth| cloth.midpoints.is_none())
    }

    /// Builds the levels of the first body, if they have not been built.
    ///
    /// # Errors
    /// If there are none.
    pub fn build(&mut self, description: &Description) -> Result<(), String> {
        if self.built.is_none() {
            let cloth = description.bodies.first().and_then(Body::as_cloth);
            let cloth = cloth.ok_or("only cloth has coarser levels, and the first body is none")?;
            if cloth.midpoints.is_some() {
                return Err("levels of developable cloth are not shown".into());
            }
            // Those of the whole, whatever has torn.
            let whole = cloth.torn.as_ref().map_or(&cloth.mesh, |torn| &torn.whole);
            let hierarchy = low_level::build_levels(whole, &LevelOptions::default());
            self.built = Some(Levels { hierarchy });
        }
        match &self.built {
            Some(levels) if !levels.hierarchy.levels.is_empty() => Ok(()),
            _ => Err("the first cloth is too coarse to have coarser levels".into()),
        }
    }

    /// Messages with the rest shapes of those that have been built, finest first.
    pub fn messages(&self, epoch: u32) -> Vec<bytes::Bytes> {
        let levels = self.built.iter().flat_map(|levels| &levels.hierarchy.levels).enumerate();
        let message = |(k, level): (usize, &low_level::Level)| {
            wire::mesh(epoch, MeshOf::Level, k, &level.mesh.positions, &level.mesh.triangles, None)
        };
        levels.map(message).collect()
    }

    /// Positions of the vertices of those that have been built when those of the mesh are at `x` \[m\]; its
    /// `triangles` may have torn, which leaves their numbers.
    pub fn positions(&self, x: &[Vec3], triangles: &[[u32; 3]]) -> Vec<(u32, Vec<Vec3>)> {
        let Some(Levels { hierarchy }) = &self.built else { return Vec::new() };
        let place = |site: &low_level::Site| -> Vec3 {
            let corners = triangles[site.triangle as usize];
            corners.iter().zip(site.weights).map(|(&v, weight)| x[v as usize] * weight).sum()
        };
        let level = |level: &low_level::Level| level.on_base.iter().map(place).collect();
        hierarchy.levels.iter().zip(1..).map(|(l, number)| (number, level(l))).collect()
    }
}
