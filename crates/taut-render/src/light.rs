//! Studio lighting: a soft key light, a weak fill light from the other side, and a dome of sky light.

use glam::Vec3;

use crate::{camera::Camera, scene::Color};

/// The lights of a scene, fixed for all frames of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lights {
    /// Direction towards the key light, of unit length.
    pub key: Vec3,
    /// Colour and strength of the key light.
    pub key_color: Color,
    /// Tangent of half the angular size of the key light, which softens shadows. 0 is a distant point.
    pub softness: f32,
    /// Direction towards the fill light, which casts no shadow.
    pub fill: Vec3,
    /// Colour and strength of the fill light.
    pub fill_color: Color,
    /// Unit vector towards the zenith.
    pub up: Vec3,
    /// Colour and strength of the dome.
    pub sky_color: Color,
    /// Light reflected from the floor.
    pub bounce_color: Color,
    /// Centre of the shadow casters \[m\].
    pub center: Vec3,
    /// Radius of the shadow casters \[m\].
    pub radius: f32,
}

impl Lights {
    /// A soft studio light for `camera`: the key light from the upper left, grazing the surfaces, so that
    /// wrinkles show.
    pub fn studio(camera: &Camera, up: Vec3, center: Vec3, radius: f32) -> Self {
        let toward = (camera.eye - camera.target).normalize_or(Vec3::Z);
        let flat = (toward - up * toward.dot(up)).normalize_or(up.any_orthonormal_vector());
        let right = up.cross(flat);
        let at = |azimuth: f32, elevation: f32| {
            let (s, c) = azimuth.to_radians().sin_cos();
            let (es, ec) = elevation.to_radians().sin_cos();
            ec * (c * flat + s * right) + es * up
        };
        Self {
            key: at(-62.0, 48.0),
            key_color: Vec3::new(1.13, 1.08, 1.0),
            softness: 0.06,
            fill: at(50.0, 15.0),
            fill_color: Vec3::new(0.12, 0.14, 0.17),
            up,
            sky_color: Vec3::new(0.31, 0.33, 0.37),
            bounce_color: Vec3::new(0.17, 0.165, 0.155),
            center,
            radius: radius.max(1e-6),
        }
    }
}
