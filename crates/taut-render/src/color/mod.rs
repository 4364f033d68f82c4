//! Colouring by body, level, strain or residual.

pub mod bar;
pub mod level;
pub mod measure;
pub mod scale;
pub mod soft;

use std::str::FromStr;

use glam::Vec3;

use crate::scene::{Color, srgb};
use measure::Measured;
use scale::Scale;

/// Colouring of cloth and soft bodies. For soft bodies, values of tetrahedra are shown on the display
/// surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coloring {
    /// One colour per body.
    #[default]
    Fabric,
    /// The triangles of a coarser level (level 1 is the first), each in its own colour, shown on the mesh
    /// itself. Soft bodies, whose levels are not surfaces, are grey.
    Level,
    /// The larger principal strain of each triangle: blue where both directions are compressed, red where one
    /// is stretched. For soft bodies, the one of larger magnitude.
    Strain,
    /// The excess of the worse principal strain of each triangle past its limit.
    Residual,
    /// Figure 14 of the main paper. Hue: direction in the rest shape of the larger of both principal strains.
    /// Value: excess of the worse strain past its limit, so that triangles within their limits are black.
    /// Saturation: difference of the two strains, 1 − smaller / larger; where both are equal, there is no
    /// direction, and the colour is white. For soft bodies it shows the strain of the surface.
    Hsv,
    /// Tang's colouring: the redder, the more a triangle is stretched.
    Overstretch,
}

impl Coloring {
    /// All, with their names on the command line.
    pub const ALL: [(&'static str, Self); 6] = [
        ("fabric", Self::Fabric),
        ("level", Self::Level),
        ("strain", Self::Strain),
        ("residual", Self::Residual),
        ("hsv", Self::Hsv),
        ("overstretch", Self::Overstretch),
    ];

    /// Whether it shows a measure of strain.
    pub fn measures(self) -> bool {
        !matches!(self, Self::Fabric | Self::Level)
    }

    /// Its colour scale, if any; `range` is the upper end.
    pub fn scale(self, range: f32) -> Option<Scale> {
        match self {
            Self::Fabric | Self::Level => None,
            Self::Strain => Some(Scale::diverging("largest principal strain", range)),
            Self::Residual => Some(Scale::heat("strain past the limit", range)),
            Self::Hsv => Some(Scale::value("strain past the limit", range)),
            Self::Overstretch => Some(Scale::red("stretch", range)),
        }
    }

    /// The value of a triangle on the scale.
    pub fn value(self, measured: &Measured) -> f32 {
        match self {
            Self::Strain => measured.strains[0],
            Self::Overstretch => measured.strains[0].max(0.0),
            _ => measured.residual,
        }
    }

    /// The colour of a triangle; `range` is the upper end of the scale.
    pub fn color(self, measured: &Measured, range: f32) -> Color {
        let Some(scale) = self.scale(range) else { return NEUTRAL };
        if self != Self::Hsv {
            return scale.color(self.value(measured));
        }
        let [a, b] = measured.strains.map(f32::abs);
        let saturation = if a.max(b) > 0.0 { 1.0 - a.min(b) / a.max(b) } else { 0.0 };
        let hue = (measured.angle / std::f32::consts::PI).rem_euclid(1.0);
        hsv(hue, saturation, (measured.residual / range).clamp(0.0, 1.0))
    }

    /// Strength of shading: weak for colours that are compared with a scale.
    pub fn shading(self) -> f32 {
        match self {
            Self::Fabric => 1.0,
            Self::Level => 0.8,
            Self::Strain | Self::Residual | Self::Overstretch => 0.55,
            Self::Hsv => 0.12,
        }
    }
}

impl FromStr for Coloring {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|&(_, coloring)| coloring).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("colourings are {}", names.join(", "))
        })
    }
}

/// Colour of bodies without a measurement.
pub const NEUTRAL: Color = Vec3::new(0.45, 0.45, 0.44);

/// The colour of fabric number `k`.
pub fn fabric(k: usize) -> Color {
    let palette = [
        srgb(196, 88, 66),
        srgb(52, 118, 132),
        srgb(214, 162, 74),
        srgb(116, 134, 92),
        srgb(120, 82, 116),
        srgb(76, 96, 148),
        srgb(186, 116, 124),
        srgb(150, 126, 102),
    ];
    palette[k % palette.len()]
}

/// The colour of hair of body number `k`.
pub fn hair(k: usize) -> Color {
    let palette = [
        srgb(104, 68, 42),
        srgb(190, 150, 96),
        srgb(58, 44, 38),
        srgb(146, 74, 38),
        srgb(128, 122, 118),
        srgb(84, 52, 58),
    ];
    palette[k % palette.len()]
}

/// The colour of an obstacle.
pub fn obstacle() -> Color {
    srgb(214, 209, 201)
}

/// A colour from hue, saturation and value, 0 to 1 each.
pub fn hsv(hue: f32, saturation: f32, value: f32) -> Color {
    let part = |shift: f32| {
        let k = (shift + 6.0 * hue).rem_euclid(6.0);
        let v = value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0);
        (255.0 * v).round() as u8
    };
    srgb(part(5.0), part(3.0), part(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hues_go_round() {
        assert_eq!(hsv(0.0, 1.0, 1.0), srgb(255, 0, 0));
        assert_eq!(hsv(1.0 / 3.0, 1.0, 1.0), srgb(0, 255, 0));
        assert_eq!(hsv(2.0 / 3.0, 1.0, 1.0), srgb(0, 0, 255));
        assert_eq!(hsv(0.5, 1.0, 1.0), srgb(0, 255, 255));
        assert_eq!(hsv(0.3, 0.0, 1.0), srgb(255, 255, 255));
        assert_eq!(hsv(0.3, 1.0, 0.0), srgb(0, 0, 0));
    }

    #[test]
    fn names_are_read() {
        for (name, coloring) in Coloring::ALL {
            assert_eq!(name.parse(), Ok(coloring));
        }
        assert!("plaid".parse::<Coloring>().unwrap_err().contains("overstretch"));
    }
}
