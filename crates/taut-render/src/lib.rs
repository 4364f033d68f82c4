//! Pictures of what taut simulated, drawn on a machine without a GPU, a display or anything installed.
//!
//! A [`Scene`] says what is drawn; a [`Renderer`] draws it into a [`Picture`].

mod assembly;
pub mod camera;
pub mod draw;
pub mod encode;
pub mod light;
pub mod obstacle;
pub mod picture;
pub mod plot;
mod raster;
pub mod render;
pub mod scene;
mod shade;
mod shadow;
mod thread;

pub use camera::Camera;
pub use light::Lights;
pub use picture::Picture;
pub use render::{Renderer, render};
pub use scene::Scene;
