//! Keyframed rigid motion.
use glam::Vec3;

/// Where something is at one moment, relative to where it started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Keyframe {
    /// Time \[s\].
    pub time: f32,
    /// Displacement \[m\].
    pub translate: Vec3,
    /// Rotation about the x, then y, then z axis through the pivot \[degrees\]; angles beyond 360 turn several times.
    pub rotate: Vec3,
}

/// Rigid motion by keyframes, interpolated linearly, constant before the first and after the last. Empty: at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Keyframes with strictly increasing times.
    pub keys: Vec<Keyframe>,
    /// Point about which it turns \[m\].
    pub pivot: Vec3,
}
