//! What may touch what, and when: detection of contacts between surfaces.
//!
//! | box | where |
//! |---|---|
//! | which vertices, edges and triangles there are | [`surface`] |
//! | broad phase: boxes in a tree that is refitted every step | [`tree`], [`candidates`] |
//! | distance of a vertex from a triangle, of an edge from an edge | [`distance`] |
//! | continuous detection: when a moving pair comes together, conservatively | [`continuous`] |
//! | whether an edge pierces a triangle, exactly | [`intersection`] |
//!
//! Everything here works on positions that are given, and changes none.

pub mod candidates;
pub mod continuous;
pub mod distance;
pub mod intersection;
pub mod surface;
pub mod tree;
