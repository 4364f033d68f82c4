//! Limits of coarser levels (Wang et al. 2010, section 4.2, W9): how far a coarse element can shrink, stretch and bend
//! while the base mesh keeps its own limits.

use crate::kernel::strain::Range;

/// Limits of one level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelLimits {
    /// Allowed principal stretches of each triangle of the level's mesh.
    pub strain: Vec<Range<f32>>,
    /// Allowed dihedral angles \[rad\], smallest and largest, of each hinge of the level's mesh, in the order of
    /// [`Adjacency::hinges`](crate::mesh::adjacency::Adjacency::hinges); −π and π where nothing limits them.
    pub bend: Vec<[f32; 2]>,
}

/// Limits of all coarser levels of a cloth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoarseLimits {
    /// One for each of [`Hierarchy::levels`](super::Hierarchy::levels).
    pub levels: Vec<LevelLimits>,
}
