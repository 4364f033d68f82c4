//! The coarse levels of bodies, for schemes that limit them too.

use super::{Body, Description, PinnedVertex, Scheme};
use crate::{
    hierarchy,
    kernel::strain::Range,
    limit::levels::tables::{Levels, Parts},
};

/// Levels of the paper, the finest one included.
const PAPER_LEVELS: usize = 4;

/// Coarse levels of all bodies with limits on their triangles, if the scheme asks for them.
pub(super) fn levels(description: &Description, bodies: &[Body], pins: &[PinnedVertex]) -> Vec<Levels> {
    let depth = match description.solver.scheme {
        Scheme::Cycle => usize::MAX,
        Scheme::Paper => PAPER_LEVELS - 1,
        Scheme::Sweep | Scheme::Serial | Scheme::Jacobi | Scheme::Nearest => return Vec::new(),
    };
    let mut levels = Vec::new();
    for (cloth, body) in description.cloths.iter().zip(bodies).filter(|(cloth, _)| cloth.strain.is_some()) {
        let mut hierarchy =
            hierarchy::build(&cloth.mesh, &hierarchy::Options::default()).reordered(&body.order);
        hierarchy.levels.truncate(depth);
        let range = Range { min: 0.0, ..cloth.strain.range() };
        let ranges = hierarchy.levels.iter().map(|level| vec![range; level.mesh.triangles.len()]).collect();
        levels.push(Levels::new(Parts {
            vertices: body.vertices.clone(),
            hierarchy,
            rest: body.order.iter().map(|&v| cloth.mesh.positions[v as usize]).collect(),
            masses: body.order.iter().map(|&v| body.masses[v as usize]).collect(),
            pins: pins
                .iter()
                .filter(|pin| body.vertices.contains(&(pin.vertex as usize)))
                .map(|pin| pin.vertex - body.vertices.start as u32)
                .collect(),
            ranges,
        }));
    }
    levels
}
