//! Software rendering of taut's simulations, without a GPU or a display.
//!
//! A [`Scene`] describes what to draw; a [`Renderer`] draws it to a [`Picture`]. A [`film::Film`] makes
//! scenes of the frames of a run, [`encode`] writes images and video, [`draw`] draws lines and text, [`plot`]
//! charts.

mod assembly;
pub mod camera;
mod coarse;
pub mod color;
pub mod draw;
pub mod encode;
pub mod film;
mod hair;
pub mod light;
pub mod montage;
pub mod picture;
pub mod plot;
mod raster;
pub mod render;
pub mod scene;
mod shade;
mod shadow;
mod thread;

pub use camera::Camera;
pub use color::Coloring;
pub use light::Lights;
pub use montage::montage;
pub use picture::Picture;
pub use render::{Renderer, render};
pub use scene::Scene;
pub use shade::to_bytes;
