//! What is to be drawn: surfaces, solid bodies, a floor, lights and a camera.

use glam::Vec3;
use taut::boundary::{motion::Pose, obstacle::Shape};

use crate::{camera::Camera, light::Lights};

/// A colour in linear light: red, green and blue, 0 to 1 each.
pub type Color = Vec3;

/// A linear colour of sRGB components, 0 to 255 each, as colour pickers show them.
pub fn srgb(red: u8, green: u8, blue: u8) -> Color {
    Vec3::new(to_linear(red), to_linear(green), to_linear(blue))
}

fn to_linear(value: u8) -> f32 {
    let v = f32::from(value) / 255.0;
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// How a surface is coloured.
#[derive(Clone, Debug, PartialEq)]
pub enum Paint {
    /// One colour for each side; the front is where triangles are counter-clockwise.
    Plain {
        /// Of the front.
        front: Color,
        /// Of the back.
        back: Color,
    },
    /// One colour a vertex, the same on both sides.
    Vertices(Vec<Color>),
    /// One colour a triangle, the same on both sides.
    Triangles(Vec<Color>),
}

/// A thin surface that is seen from both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Vertex indices of each triangle. Triangles with an index out of range or a position that is no number
    /// are not drawn.
    pub triangles: Vec<[u32; 3]>,
    /// Colours.
    pub paint: Paint,
    /// How much light and shadow change the colours: 1 as in nature, 0 not at all, so that a colour can be
    /// compared with a colour bar.
    pub shading: f32,
}

impl Surface {
    /// A surface of one colour, its back a bit darker.
    pub fn plain(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>, front: Color) -> Self {
        let paint = Paint::Plain { front, back: back_of(front) };
        Self { positions, triangles, paint, shading: 1.0 }
    }
}

/// The colour of the other side of cloth: darker and greyer, so that sides can be told apart.
pub fn back_of(front: Color) -> Color {
    let grey = Vec3::splat(front.dot(Vec3::new(0.2126, 0.7152, 0.0722)));
    0.62 * front.lerp(grey, 0.35)
}

/// A solid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its shape. A plane is drawn as a square about its origin, `extent` to each side; for a floor without
    /// end take [`Floor`].
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
    /// Its colour.
    pub color: Color,
    /// Half the edge of a plane's square \[m\]; other shapes do not use it.
    pub extent: f32,
}

/// Strands that are drawn as round threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Threads {
    /// Vertices of all strands, one after the other \[m\].
    pub positions: Vec<Vec3>,
    /// Number of vertices of each strand.
    pub strands: Vec<u32>,
    /// Radius \[m\].
    pub radius: f32,
    /// Colour.
    pub color: Color,
}

/// A floor without end that fades into the background. It is seen from above only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Unit normal, towards where the action is.
    pub normal: Vec3,
    /// Height: the plane is where normal · p is this \[m\].
    pub height: f32,
}

/// The colours behind everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backdrop {
    /// At the top of the picture.
    pub top: Color,
    /// At its bottom.
    pub bottom: Color,
}

impl Default for Backdrop {
    fn default() -> Self {
        Self { top: srgb(203, 209, 216), bottom: srgb(236, 236, 234) }
    }
}

/// Everything in a picture.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Cloth.
    pub surfaces: Vec<Surface>,
    /// Strands.
    pub threads: Vec<Threads>,
    /// Bodies.
    pub solids: Vec<Solid>,
    /// What shadows fall on.
    pub floor: Option<Floor>,
    /// Where it is seen from.
    pub camera: Camera,
    /// What it is lit by.
    pub lights: Lights,
    /// What is behind.
    pub backdrop: Backdrop,
}
