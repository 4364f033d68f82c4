//! Values of metadata and attributes.

use std::borrow::Cow;

use glam::{DVec3, Quat, Vec2, Vec3};

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value from this time on, until the next sample with one.
    Blocked,
    /// `bool`
    Bool(bool),
    /// `token`
    Token(Cow<'static, str>),
    /// `string`
    Text(String),
    /// `double`
    Double(f64),
    /// `double3`
    Double3(DVec3),
    /// `float3`
    Float3(Vec3),
    /// `quatf`
    Quat(Quat),
    /// `dictionary`, of strings alone.
    Dictionary(Vec<(&'static str, String)>),
    /// `token[]`
    Tokens(Vec<&'static str>),
    /// `int[]`
    Ints(Vec<i32>),
    /// `float[]`
    Floats(Vec<f32>),
    /// Arrays of two floats, whatever their role.
    Vec2s(Vec<Vec2>),
    /// Arrays of three floats, whatever their role.
    Vec3s(Vec<Vec3>),
}

impl Value {
    /// A token.
    pub fn token(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Token(text.into())
    }

    /// A box around points, as the two corners that USD calls an extent.
    pub fn extent(points: &[Vec3], margin: f32) -> Self {
        let Some(&first) = points.first() else { return Self::Vec3s(vec![Vec3::ZERO; 2]) };
        let low = points.iter().fold(first, |a, &b| a.min(b));
        let high = points.iter().fold(first, |a, &b| a.max(b));
        Self::Vec3s(vec![low - Vec3::splat(margin), high + Vec3::splat(margin)])
    }
    /// An extent around balls with these centres and radii.
    pub fn extent_of_balls(centers: &[Vec3], radii: &[f32]) -> Self {
        let mut balls = centers.iter().zip(radii).map(|(&x, &radius)| [x - radius, x + radius]);
        let Some(first) = balls.next() else { return Self::extent(centers, 0.0) };
        let [low, high] = balls.fold(first, |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        Self::Vec3s(vec![low, high])
    }
}
