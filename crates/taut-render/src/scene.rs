//! The scene to draw: surfaces, obstacles, a floor, lights and a camera.

use std::ops::Range;

use glam::Vec3;
use taut::{Pose, Shape};

use crate::{camera::Camera, light::Lights};

/// A colour in linear light: red, green and blue, 0 to 1 each.
pub type Color = Vec3;

/// A linear colour from sRGB components, 0 to 255 each.
pub fn srgb(red: u8, green: u8, blue: u8) -> Color {
    Vec3::new(to_linear(red), to_linear(green), to_linear(blue))
}

fn to_linear(value: u8) -> f32 {
    let v = f32::from(value) / 255.0;
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// Colours of a surface.
#[derive(Clone, Debug, PartialEq)]
pub enum Paint {
    /// One colour for each side; the front is where triangles are counter-clockwise.
    Plain {
        /// Of the front.
        front: Color,
        /// Of the back.
        back: Color,
    },
    /// One colour per vertex, the same on both sides.
    Vertices(Vec<Color>),
    /// One colour per triangle, the same on both sides.
    Triangles(Vec<Color>),
}

/// A thin two-sided surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Vertex indices of each triangle. Triangles with an index out of range or a non-finite position are not
    /// drawn.
    pub triangles: Vec<[u32; 3]>,
    /// Colours.
    pub paint: Paint,
    /// Strength of shading: 1 full, 0 none, so that a colour can be compared with a colour bar.
    pub shading: f32,
}

impl Surface {
    /// A surface of one colour, its back a bit darker.
    pub fn plain(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>, front: Color) -> Self {
        let paint = Paint::Plain { front, back: back_of(front) };
        Self { positions, triangles, paint, shading: 1.0 }
    }
}

/// The colour of the back of cloth: darker and greyer, to distinguish the sides.
pub fn back_of(front: Color) -> Color {
    let grey = Vec3::splat(front.dot(Vec3::new(0.2126, 0.7152, 0.0722)));
    0.62 * front.lerp(grey, 0.35)
}

/// An obstacle.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its shape. A plane is drawn as a square about its origin, with half edge `extent`; for an infinite
    /// floor use [`Floor`].
    pub shape: Shape,
    /// Pose.
    pub pose: Pose,
    /// Its colour.
    pub color: Color,
    /// Half the edge of a plane's square \[m\]; other shapes do not use it.
    pub extent: f32,
}

/// Strands, drawn as round threads: for those that are wider than a pixel.
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
    /// Colours of vertices instead, if there are any.
    pub colors: Vec<Color>,
    /// Strength of shading, as of surfaces.
    pub shading: f32,
}

/// Strands, drawn as hair: lit as fibres, and by the part of a pixel that they cover.
#[derive(Clone, Debug, PartialEq)]
pub struct Strands {
    /// Points of all strands, one strand after the other, from its root to its tip \[m\].
    pub positions: Vec<Vec3>,
    /// Number of points of each strand.
    pub counts: Vec<u32>,
    /// Radius at each point \[m\]; missing ones are 0.
    pub radii: Vec<f32>,
    /// Colours of points; those of triangles do not apply.
    pub paint: Paint,
    /// Strength of shading, as of surfaces. With 1, strands differ a little from each other.
    pub shading: f32,
}

impl Strands {
    /// Indices of the points of each strand. Strands end where points do.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let ranges = self.counts.iter().scan(0, |first: &mut usize, &count| {
            let own = *first..(*first + count as usize).min(self.positions.len());
            *first = own.end;
            Some(own)
        });
        ranges.filter(|own| !own.is_empty())
    }

    /// Radius at point `v` \[m\].
    pub fn radius(&self, v: usize) -> f32 {
        self.radii.get(v).copied().filter(|radius| *radius > 0.0).unwrap_or(0.0)
    }

    /// Colour of point `v`.
    pub fn color(&self, v: usize) -> Color {
        match &self.paint {
            Paint::Plain { front, .. } => *front,
            Paint::Vertices(colors) => colors.get(v).copied().unwrap_or_default(),
            Paint::Triangles(_) => Color::default(),
        }
    }
}

/// An infinite floor that fades into the background. It is visible only from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Unit normal, towards the scene.
    pub normal: Vec3,
    /// Height: the plane is where normal · p is this \[m\].
    pub height: f32,
}

/// The background colours.
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

/// A complete scene.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Cloth.
    pub surfaces: Vec<Surface>,
    /// Strands as round threads.
    pub threads: Vec<Threads>,
    /// Strands as hair.
    pub strands: Vec<Strands>,
    /// Bodies.
    pub solids: Vec<Solid>,
    /// Floor.
    pub floor: Option<Floor>,
    /// Camera.
    pub camera: Camera,
    /// Lights.
    pub lights: Lights,
    /// Background.
    pub backdrop: Backdrop,
}
