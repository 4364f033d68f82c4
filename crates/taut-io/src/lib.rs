//! All file input and output of taut: scene files, mesh readers, run folders, exports.

pub mod cache;
pub mod export;
pub mod mesh;
pub mod output;
pub mod pattern;
pub mod problem;
pub mod recording;
pub mod scene;

pub use problem::{Problem, Problems};
