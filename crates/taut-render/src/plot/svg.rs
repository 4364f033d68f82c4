//! Figures as SVG.

use std::fmt::Write;

use super::layout::{Anchor, EXPONENT, Figure, Shape, WIDTH, Words};
use crate::{draw::text_width, picture::Rgba};

/// Font size over the height of capitals, for common sans-serif fonts.
const FONT_SIZE: f32 = 1.0 / 0.716;

/// The figure as SVG text.
pub fn write(figure: &Figure) -> String {
    let height = figure.height.ceil();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"none\" stroke-linejoin=\"round\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let mut open = false;
    for shape in &figure.shapes {
        if let Shape::Chart(title) = shape {
            svg.push_str(if open { "</g>\n" } else { "" });
            open = true;
            let _ = writeln!(svg, "<g>\n<title>{}</title>", escaped(title));
        } else {
            add(&mut svg, shape);
        }
    }
    svg.push_str(if open { "</g>\n</svg>\n" } else { "</svg>\n" });
    svg
}

// Writing to a string does not fail.
fn add(svg: &mut String, shape: &Shape) {
    match shape {
        Shape::Line { pieces, width, color, dashes } => {
            if pieces.is_empty() {
                return;
            }
            let dashes =
                dashes.map_or_else(String::new, |[on, off]| format!(" stroke-dasharray=\"{on} {off}\""));
            let _ = write!(svg, "<path stroke=\"{}\" stroke-width=\"{width}\"{dashes} d=\"", hex(*color));
            pieces.iter().for_each(|piece| path(svg, piece));
            svg.push_str("\"/>\n");
        }
        Shape::Dots { at, radius, color } => {
            for &[x, y] in at {
                let (x, y) = (short(x), short(y));
                let _ =
                    writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\"/>", hex(*color));
            }
        }
        Shape::Words(words) => text(svg, words),
        Shape::Chart(_) => {}
    }
}

/// Points of a path; all but the first relative to the previous one, which is shorter.
fn path(svg: &mut String, points: &[[f32; 2]]) {
    let tenths = |p: [f32; 2]| p.map(|v| (f64::from(v) * 10.0).round() as i64);
    let mut before: Option<[i64; 2]> = None;
    for &point in points {
        let now = tenths(point);
        let [x, y] = before.map_or(now, |b| [now[0] - b[0], now[1] - b[1]]);
        if before.is_some() && x == 0 && y == 0 {
            continue;
        }
        let command = if before.is_none() { 'M' } else { 'l' };
        let _ = write!(svg, "{command}{} {}", x as f64 / 10.0, y as f64 / 10.0);
        before = Some(now);
    }
}

fn text(svg: &mut String, words: &Words) {
    if words.label.exponent.is_empty() {
        return line(svg, words.at, words.anchor, words, words.height, &words.label.text);
    }
    // Two adjacent texts: programs disagree about the position of shifted spans.
    let [smaller, raised] = EXPONENT;
    let wide = |height: f32, text: &str| text_width(height, text);
    let behind = wide(words.height * smaller, &words.label.exponent);
    let whole = wide(words.height, &words.label.text) + behind;
    let back = match words.anchor {
        Anchor::Start => behind - whole,
        Anchor::Middle => behind - whole / 2.0,
        Anchor::End => behind,
    };
    let [x, y] = words.at;
    line(svg, [x - back, y], Anchor::End, words, words.height, &words.label.text);
    let up = y - words.height * raised;
    line(svg, [x - back + 0.5, up], Anchor::Start, words, words.height * smaller, &words.label.exponent);
}

fn line(svg: &mut String, at: [f32; 2], anchor: Anchor, words: &Words, height: f32, text: &str) {
    let [x, y] = at.map(short);
    let anchor = match anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let place = if words.upwards {
        format!("transform=\"translate({x} {y})rotate(-90)\"")
    } else {
        format!("x=\"{x}\" y=\"{y}\"")
    };
    let (size, color) = (short(height * FONT_SIZE), hex(words.color));
    let weight = if words.bold { " font-weight=\"bold\"" } else { "" };
    let text = escaped(text);
    let _ =
        writeln!(svg, "<text {place}{anchor} font-size=\"{size}\"{weight} fill=\"{color}\">{text}</text>");
}

/// A number with at most one decimal.
fn short(value: f32) -> f64 {
    (f64::from(value) * 10.0).round() / 10.0
}

fn hex([r, g, b, _]: Rgba) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Escapes text for XML; invalid characters are replaced.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
