//! The velocity update: forces inside the limits.
pub mod air;
pub mod material;
