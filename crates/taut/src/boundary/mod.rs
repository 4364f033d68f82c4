//! Boundary conditions: what holds the cloth and what it may not enter.
pub mod attachment;
pub mod grip;
pub mod hold;
pub mod landing;
pub mod mesh_obstacle;
pub mod motion;
pub mod obstacle;
pub mod pin;
pub mod rigid;
pub mod seam;
pub mod solids;
