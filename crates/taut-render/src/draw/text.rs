//! Text, in the built-in font.

use super::{Point, font, is_finite, strokes};
use crate::{Picture, picture::Rgba};

/// Style of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Height of capitals \[pixels\].
    pub height: f32,
    /// Stroke width over the height of capitals; 0.12 is regular, 0.17 bold.
    pub weight: f32,
    /// Whether it runs upwards instead of to the right.
    pub upwards: bool,
    /// Colour of the letters.
    pub color: Rgba,
}

impl Style {
    /// Stroke width of regular text, over the height of capitals.
    pub const REGULAR: f32 = 0.12;

    /// Regular text from left to right.
    pub fn new(height: f32, color: Rgba) -> Self {
        Self { height, weight: Self::REGULAR, upwards: false, color }
    }

    /// The same, bold.
    #[must_use]
    pub fn bold(self) -> Self {
        Self { weight: 0.17, ..self }
    }

    /// The same, running upwards.
    #[must_use]
    pub fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    /// Stroke width \[pixels\] and size of a font unit \[pixels\]: capitals including their strokes are
    /// `height` high.
    fn pen(&self) -> (f32, f32) {
        // At least two thirds of a pixel, so that small text stays legible.
        let pen = (self.weight * self.height).max(0.66).min(self.height / 2.0);
        (pen, (self.height - pen) / font::CAPITALS)
    }
}

/// Writes `text` from `x` to the right with its baseline at `baseline_y`; capitals are `height` pixels high.
/// Sharpest at integer `baseline_y`. Characters that the font lacks are drawn as boxes.
pub fn text(picture: &mut Picture, x: f32, baseline_y: f32, height: f32, color: Rgba, text: &str) {
    text_styled(picture, [x, baseline_y], Style::new(height, color), text);
}

/// Writes `text` from `start`, a point of its baseline.
pub fn text_styled(picture: &mut Picture, start: Point, style: Style, text: &str) {
    if !(is_finite(start) && style.height > 0.0 && style.height.is_finite() && style.weight.is_finite()) {
        return;
    }
    let (pen, unit) = style.pen();
    let mut along = 0.0;
    for character in text.chars() {
        let glyph = font::glyph(character);
        let place = |&[x, y]: &[f32; 2]| {
            let (right, up) = (along + x * unit, pen / 2.0 + y * unit);
            if style.upwards { [start[0] - up, start[1] - right] } else { [start[0] + right, start[1] - up] }
        };
        let placed: Vec<Vec<Point>> =
            glyph.strokes.iter().map(|stroke| stroke.iter().map(place).collect()).collect();
        strokes(picture, &placed, pen, style.color);
        along += (glyph.advance + font::TRACKING) * unit;
    }
}

/// Characters of `text` that the font lacks, each once, in order; they are drawn as boxes.
pub fn unknown_characters(text: &str) -> Vec<char> {
    let mut unknown = Vec::new();
    for c in text.lines().flat_map(str::chars) {
        if font::known(c).is_none() && !unknown.contains(&c) {
            unknown.push(c);
        }
    }
    unknown
}

/// Width of [`text()`] \[pixels\].
pub fn text_width(height: f32, text: &str) -> f32 {
    let (_, unit) = Style::new(height, [0; 4]).pen();
    text.chars().map(|character| (font::glyph(character).advance + font::TRACKING) * unit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Rgba = [255; 4];
    const BLACK: Rgba = [0, 0, 0, 255];

    /// Columns and rows from the first to behind the last with ink; none if there is no ink.
    fn ink(picture: &Picture) -> Option<[usize; 4]> {
        let dark =
            |&(i, p): &(usize, &Rgba)| (p[0] < 128).then_some((i % picture.width(), i / picture.width()));
        let inked: Vec<_> = picture.pixels().iter().enumerate().filter_map(|p| dark(&p)).collect();
        let (left, right) = (inked.iter().map(|p| p.0).min()?, inked.iter().map(|p| p.0).max()?);
        let (top, bottom) = (inked.iter().map(|p| p.1).min()?, inked.iter().map(|p| p.1).max()?);
        Some([left, right + 1, top, bottom + 1])
    }

    #[test]
    fn capitals_stand_on_the_baseline_and_are_as_high_as_asked() {
        for height in [10.0, 16.0, 33.0] {
            let mut picture = Picture::new(400, 100, WHITE);
            text(&mut picture, 20.0, 70.0, height, BLACK, "HEXIT");
            let [left, right, top, bottom] = ink(&picture).unwrap();
            assert_eq!((top, bottom), (70 - height as usize, 70), "{height}");
            let width = text_width(height, "HEXIT");
            assert!(
                left >= 20 && right as f32 <= 20.0 + width + 1.0 && right - left > width as usize * 4 / 5
            );
        }
    }

    #[test]
    fn text_stays_in_its_box() {
        let all: String = font::TABLE.iter().map(|g| g.0).collect();
        for height in [8.0f32, 21.5] {
            let width = text_width(height, &all);
            let mut picture = Picture::new(width as usize + 40, 120, WHITE);
            text(&mut picture, 20.0, 60.0, height, BLACK, &all);
            let [left, right, top, bottom] = ink(&picture).unwrap();
            assert!(left >= 20 && right as f32 <= 21.0 + width);
            assert!(top as f32 >= 60.0 - 1.25 * height && bottom as f32 <= 61.0 + 0.4 * height);
        }
    }

    #[test]
    fn every_character_has_ink_and_a_shape_of_its_own() {
        let shape = |character: char| {
            let mut picture = Picture::new(40, 40, WHITE);
            text(&mut picture, 4.0, 28.0, 20.0, BLACK, &character.to_string());
            picture
        };
        let printable: Vec<char> = (33u8..127).map(char::from).chain("°±µ×–—…−²³·≤≥→".chars()).collect();
        let shapes: Vec<Picture> = printable.iter().map(|&c| shape(c)).collect();
        let unknown = shape('\u{1f9f5}');
        for (i, a) in shapes.iter().enumerate() {
            assert!(ink(a).is_some(), "{} has no ink", printable[i]);
            assert!(*a != unknown, "{} is a box", printable[i]);
            for (j, b) in shapes.iter().enumerate().skip(i + 1) {
                let differ = a.pixels().iter().zip(b.pixels()).filter(|(p, q)| p[0].abs_diff(q[0]) > 60);
                assert!(differ.count() >= 6, "{} and {} look the same", printable[i], printable[j]);
            }
        }
        assert!(ink(&unknown).is_some());
        assert!(ink(&shape(' ')).is_none());
    }

    #[test]
    fn upwards_is_a_quarter_turn() {
        let (mut level, mut up) = (Picture::new(60, 60, WHITE), Picture::new(60, 60, WHITE));
        let style = Style::new(14.0, BLACK);
        text_styled(&mut level, [5.0, 40.0], style, "aRg");
        text_styled(&mut up, [40.0, 55.0], style.upwards(), "aRg");
        for y in 0..60 {
            for x in 0..60 {
                assert!(level.get(x, y)[0].abs_diff(up.get(y, 59 - x)[0]) <= 1, "{x} {y}");
            }
        }
    }

    #[test]
    fn odd_sizes_and_places_do_no_harm() {
        let mut picture = Picture::new(30, 30, WHITE);
        for size in [0.0, -3.0, f32::NAN, f32::INFINITY, 1e-9] {
            text(&mut picture, 3.0, 20.0, size, BLACK, "x");
        }
        text(&mut picture, f32::NAN, 20.0, 10.0, BLACK, "x");
        text(&mut picture, -500.0, 20.0, 10.0, BLACK, "x");
        text(&mut picture, 500.0, 1e30, 10.0, BLACK, "x");
        assert!(ink(&picture).is_none());
    }
}
