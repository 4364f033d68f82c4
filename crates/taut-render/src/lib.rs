//! Pictures of what taut simulated, drawn on a machine without a GPU, a display or anything installed.

pub mod picture;

pub use picture::Picture;
