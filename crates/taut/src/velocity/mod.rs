//! The velocity update on level 0: forces inside the limits, integrated explicitly (W11), or where an
//! implicit step starts from.

pub mod air;
pub mod angle_bending;
pub mod bending;
pub mod fabrics;
pub mod fem;
pub mod fem_tetrahedron;
mod hair_material;
pub mod material;
pub mod predict;
pub mod solid_material;
pub mod spring;
pub mod update;
