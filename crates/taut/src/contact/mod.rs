//! What may touch what, and when: detection of contacts between surfaces.
//!
//! | box | where |
//! |---|---|
//! | which vertices, edges and triangles there are | [`surface`] |
//! | broad phase: boxes in a tree that is refitted every step | [`tree`], [`candidates`] |
//! | distance of a vertex from a triangle, of an edge from an edge | [`distance`] |
//! | continuous detection: when a moving pair comes together, conservatively | [`continuous`] |
//! | whether two parts are nearest to each other among all around | [`neighbours`] |
//! | narrow phase: which pairs touch, and in which direction they must stay apart | [`touching`] |
//! | how far a point is inside a closed mesh | [`inside`] |
//! | whether an edge pierces a triangle, exactly | [`intersection`] |
//! | which parts of a frame do, and how near others are | [`inspect`] |
//! | what is tangled: it passes through, and is not kept apart | [`tangle`] |
//! | how that is drawn apart | [`untangle`] |
//! | the last word of a step: ways are shortened so that nothing passes through anything | [`guard`] |
//!
//! How touching parts are kept apart while limits are met is in
//! [`term::pair`](crate::term::pair).

pub mod candidates;
pub mod continuous;
pub mod distance;
pub mod guard;
pub mod inside;
pub mod inspect;
pub mod intersection;
pub mod neighbours;
pub mod surface;
pub mod tangle;
pub mod touching;
pub mod tree;
pub mod untangle;
