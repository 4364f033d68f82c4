//! Figures as pictures.

use super::layout::{Anchor, EXPONENT, Figure, Shape, WIDTH, Words, width_of};
use crate::{
    Picture,
    draw::{Style, circle, dashes, strokes, text_styled, text_width},
};

/// Pixels per unit of a figure: sharp on high-resolution screens and in print.
const SCALE: f32 = 2.0;

/// The figure on white.
pub fn paint(figure: &Figure) -> Picture {
    let size = [WIDTH, figure.height.ceil()].map(|n| (n * SCALE) as usize);
    let mut picture = Picture::new(size[0], size[1], [255; 4]);
    let place = |p: &[f32; 2]| p.map(|v| v * SCALE);
    for shape in &figure.shapes {
        match shape {
            Shape::Line { pieces, width, color, dashes: pattern } => {
                for piece in pieces {
                    let points: Vec<[f32; 2]> = piece.iter().map(place).collect();
                    let parts = match *pattern {
                        // Round ends make dashes longer and gaps shorter.
                        Some([on, off]) => dashes(&points, (on - width) * SCALE, (off + width) * SCALE),
                        None => vec![points],
                    };
                    strokes(&mut picture, &parts, width * SCALE, *color);
                }
            }
            Shape::Dots { at, radius, color } => {
                at.iter().for_each(|p| circle(&mut picture, place(p), radius * SCALE, *color));
            }
            Shape::Words(words) => write(&mut picture, words),
            Shape::Chart(_) => {}
        }
    }
    picture
}

fn write(picture: &mut Picture, words: &Words) {
    let height = words.height * SCALE;
    let width = width_of(&words.label, height);
    let back = match words.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let style = Style::new(height, words.color);
    let style = if words.bold { style.bold() } else { style };
    let style = if words.upwards { style.upwards() } else { style };
    let [x, y] = words.at.map(|v| (v * SCALE).round());
    let along = |distance: f32| if words.upwards { [x, y - distance] } else { [x + distance, y] };
    text_styled(picture, along(-back), style, &words.label.text);
    let [at, up] = along(text_width(height, &words.label.text) - back);
    let [smaller, raised] = EXPONENT;
    let raised_style = Style { height: height * smaller, weight: style.weight * 1.2, ..style };
    text_styled(picture, [at, up - height * raised], raised_style, &words.label.exponent);
}
