//! Boundary conditions: pins, grips, seams and obstacles.
pub mod attachment;
pub mod bag;
pub mod grip;
pub mod hold;
pub mod mesh_obstacle;
pub mod motion;
pub mod obstacle;
pub mod obstacle_contacts;
pub mod pin;
pub mod rigid;
pub(crate) mod rigid_side;
pub(crate) mod root;
pub mod seam;
pub mod spring;
pub mod tangent_plane;
