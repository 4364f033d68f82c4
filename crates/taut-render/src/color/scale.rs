//! Colour scales.

use crate::scene::{Color, srgb};

/// A colour scale: equally spaced colours between its ends, interpolated.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Title.
    pub title: &'static str,
    /// Value of the first colour.
    pub low: f32,
    /// Value of the last colour.
    pub high: f32,
    stops: Vec<Color>,
}

impl Scale {
    fn new(title: &'static str, [low, high]: [f32; 2], stops: &[[u8; 3]]) -> Self {
        let stops = stops.iter().map(|&[r, g, b]| srgb(r, g, b)).collect();
        Self { title, low, high, stops }
    }

    /// From blue over white to red, from −`range` to `range`.
    pub fn diverging(title: &'static str, range: f32) -> Self {
        let stops = [
            [40, 62, 150],
            [76, 130, 196],
            [160, 200, 222],
            [238, 236, 230],
            [240, 176, 140],
            [208, 88, 72],
            [146, 22, 42],
        ];
        Self::new(title, [-range, range], &stops)
    }

    /// From pale over orange to dark red, from 0 to `range`.
    pub fn heat(title: &'static str, range: f32) -> Self {
        let stops = [[236, 234, 226], [250, 208, 124], [238, 130, 52], [196, 52, 36], [104, 14, 38]];
        Self::new(title, [0.0, range], &stops)
    }

    /// From pale to red, from 0 to `range`.
    pub fn red(title: &'static str, range: f32) -> Self {
        Self::new(title, [0.0, range], &[[236, 233, 226], [232, 130, 110], [206, 20, 24]])
    }

    /// From black to white, from 0 to `range`.
    pub fn value(title: &'static str, range: f32) -> Self {
        Self::new(
            title,
            [0.0, range],
            &[[0, 0, 0], [64, 64, 64], [128, 128, 128], [191, 191, 191], [255, 255, 255]],
        )
    }

    /// The colour of `value`; beyond its ends, that of the end.
    pub fn color(&self, value: f32) -> Color {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let at = if share.is_nan() { 0.0 } else { share } * (self.stops.len() - 1) as f32;
        let k = (at as usize).min(self.stops.len() - 2);
        self.stops[k].lerp(self.stops[k + 1], at - k as f32)
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `value`, for readable scale ends.
pub fn round_up(value: f32) -> f32 {
    if !(value > 0.0 && value.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powf(f64::from(value).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let fits = |step: &&f64| **step * power >= f64::from(value) * (1.0 - 1e-6);
    (steps.iter().find(fits).unwrap_or(&10.0) * power) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middle_have_their_colours() {
        let scale = Scale::diverging("", 0.1);
        assert_eq!(scale.color(-0.1), srgb(40, 62, 150));
        assert_eq!(scale.color(0.0), srgb(238, 236, 230));
        assert_eq!(scale.color(0.1), srgb(146, 22, 42));
        assert_eq!(scale.color(9.0), srgb(146, 22, 42));
        assert_eq!(scale.color(f32::NAN), srgb(40, 62, 150));
    }

    #[test]
    fn ends_are_easy_to_read() {
        for (value, rounded) in [(0.013, 0.02), (0.05, 0.05), (0.21, 0.5), (7.0, 10.0), (1.0, 1.0)] {
            assert!((round_up(value) - rounded).abs() < 1e-6, "{value}: {}", round_up(value));
        }
        assert_eq!(round_up(f32::NAN), 1.0);
        assert_eq!(round_up(0.0), 1.0);
    }
}
