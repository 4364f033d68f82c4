//! Scene files, meshes in, frames out: everything of taut that touches a file.

pub mod cache;
pub mod export;
pub mod mesh;
pub mod output;
pub mod problem;
pub mod recording;
pub mod scene;

pub use problem::{Problem, Problems};
