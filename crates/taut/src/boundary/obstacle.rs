//! Solid obstacles given by formula.
use glam::{Quat, Vec3};

use super::motion::Motion;

/// A solid shape about the origin; `axis` is y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Everything below y = 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius \[m\].
        radius: f32,
    },
    /// A box.
    Box {
        /// Edge lengths \[m\].
        size: Vec3,
    },
    /// A capsule along y.
    Capsule {
        /// Radius \[m\].
        radius: f32,
        /// Distance between the centres of its two half balls \[m\].
        length: f32,
    },
    /// A cylinder along y.
    Cylinder {
        /// Radius \[m\].
        radius: f32,
        /// Height \[m\].
        height: f32,
    },
    /// A ring about y.
    Torus {
        /// Distance from the centre to the middle of the tube \[m\].
        major: f32,
        /// Radius of the tube \[m\].
        minor: f32,
    },
}

/// A solid body that cloth may not enter.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Its name in messages.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Where its origin lies at the start \[m\].
    pub position: Vec3,
    /// How it is turned at the start.
    pub rotation: Quat,
    /// How it moves.
    pub motion: Motion,
    /// Coulomb friction coefficient.
    pub friction: f32,
    /// Share of the approaching speed that is given back, 0 to 1.
    pub restitution: f32,
}
