//! Pictures of what taut simulated, drawn on a machine without a GPU, a display or anything installed.

pub mod draw;
pub mod encode;
pub mod picture;
pub mod plot;

pub use picture::Picture;
