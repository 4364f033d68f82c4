//! Lines, rectangles and text on a [`Picture`], with smooth edges.
//!
//! Coordinates are in pixels from the top left corner of the picture, x to the right and y down; pixel (0, 0)
//! covers 0 to 1, so that its centre is at (0.5, 0.5). Shapes are clipped to the picture. Text uses a
//! built-in font ([`font`](self::text())), so that nothing must be installed.

mod font;
mod stroke;
mod text;

pub use stroke::{circle, dashes, line, polyline, rectangle, strokes};
pub use text::{Style, text, text_styled, text_width, unknown_characters};

use crate::Picture;

/// A point of a picture: x to the right, y down \[pixels\].
pub type Point = [f32; 2];

/// Whether `point` can be drawn at all.
fn is_finite(point: Point) -> bool {
    point[0].is_finite() && point[1].is_finite()
}

/// The pixels of a row or column of `length` between `low` and `high`.
fn pixels_between(low: f32, high: f32, length: usize) -> std::ops::Range<usize> {
    // Casts saturate: coordinates left of the picture become 0, those right of it its last pixel.
    let start = (low.floor() as usize).min(length);
    start..(high.ceil() as usize).clamp(start, length)
}

/// Coverage of the pixels of a region of a picture, 0 to 1. Overlapping shapes in one mask are one shape: a
/// translucent colour is blended once.
struct Mask {
    columns: std::ops::Range<usize>,
    rows: std::ops::Range<usize>,
    share: Vec<f32>,
}

impl Mask {
    /// An empty mask over the pixels of `picture` between two corners.
    fn new(picture: &Picture, low: Point, high: Point) -> Self {
        let columns = pixels_between(low[0], high[0], picture.width());
        let rows = pixels_between(low[1], high[1], picture.height());
        let share = vec![0.0; columns.len() * rows.len()];
        Self { columns, rows, share }
    }

    /// Adds the straight stroke of radius `radius` with round ends from `a` to `b`.
    fn stroke(&mut self, a: Point, b: Point, radius: f32) {
        // A stroke thinner than a pixel is scaled by its coverage.
        let densest = (2.0 * radius).min(1.0);
        let reach = radius + 0.5;
        let along = [b[0] - a[0], b[1] - a[1]];
        let squared = along[0] * along[0] + along[1] * along[1];
        let low = [a[0].min(b[0]) - reach, a[1].min(b[1]) - reach];
        let high = [a[0].max(b[0]) + reach, a[1].max(b[1]) + reach];
        let rows = pixels_between(low[1], high[1], self.rows.end);
        for y in rows.start.max(self.rows.start)..rows.end {
            let columns = pixels_between(low[0], high[0], self.columns.end);
            let row = (y - self.rows.start) * self.columns.len();
            for x in columns.start.max(self.columns.start)..columns.end {
                let p = [x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]];
                let t = if squared > 0.0 { (p[0] * along[0] + p[1] * along[1]) / squared } else { 0.0 };
                let t = t.clamp(0.0, 1.0);
                let away = [p[0] - t * along[0], p[1] - t * along[1]];
                let distance = (away[0] * away[0] + away[1] * away[1]).sqrt();
                let share = (reach - distance).clamp(0.0, densest);
                let pixel = &mut self.share[row + x - self.columns.start];
                *pixel = pixel.max(share);
            }
        }
    }

    /// Blends `color` into `picture` where the mask covers it.
    fn paint(&self, picture: &mut Picture, color: crate::picture::Rgba) {
        for (y, row) in self.rows.clone().zip(self.share.chunks_exact(self.columns.len().max(1))) {
            for (x, &share) in self.columns.clone().zip(row) {
                if share > 0.0 {
                    picture.blend(x, y, color, share);
                }
            }
        }
    }
}
