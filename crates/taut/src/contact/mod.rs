//! Collision detection between surfaces: which primitives (vertices, edges, triangles) may touch, and when.
//!
//! | stage | module |
//! |---|---|
//! | the primitives of all surfaces | [`surface`] |
//! | broad phase: pieces of surfaces, those that neighbours are proven apart in | [`patches`] |
//! | broad phase: trees of boxes, refitted in every step; 16 primitives at a time | [`tree`], [`batch`] |
//! | broad phase: pairs of primitives | [`candidates`] |
//! | distances: vertex to triangle, edge to edge | [`distance`] |
//! | continuous detection: a conservative time of impact | [`continuous`] |
//! | whether the distance of two primitives is a local minimum on their surfaces | [`neighbours`] |
//! | narrow phase: which pairs touch, and in which direction they must stay apart | [`touching`] |
//! | cloth between faces of obstacles that meet | [`squeeze`] |
//! | signed distance to a closed mesh | [`inside`] |
//! | whether an edge pierces a triangle, exactly | [`intersection`] |
//! | intersections and smallest distance of a frame | [`inspect`] |
//! | tangles: intersecting primitives, whose contacts are disabled | [`tangle`] |
//! | how tangles are separated | [`untangle`] |
//! | the last stage of a step: displacements are shortened so that nothing passes through | [`guard`] |
//!
//! The solver enforces the contacts in [`term::pair`](crate::term::pair).

pub mod batch;
pub mod candidates;
pub mod continuous;
pub mod distance;
pub mod guard;
pub mod inside;
pub mod inspect;
pub mod intersection;
pub mod neighbours;
pub mod obstacles;
pub mod patches;
pub mod squeeze;
pub(crate) mod strands;
pub mod surface;
pub mod tangle;
pub mod touching;
pub mod tree;
pub mod untangle;
