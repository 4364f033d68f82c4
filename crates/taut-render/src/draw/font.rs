//! Glyphs: strokes of a round pen.
//!
//! A glyph is an advance and a path. Units: the pen moves from 0 on the baseline up to 20 for capitals and
//! digits and 14 for lowercase letters, and down to −6 for descenders; y is up. A path is a list of commands:
//! `M x y` moves the pen, `L x y` draws a straight line, `C x y x y x y` a cubic Bézier curve, `A x y rx ry
//! from to` continues along an ellipse around (x, y) from one angle to another \[°, anticlockwise from the
//! right\], `O` does the same after moving the pen to its start.

use std::{collections::HashMap, sync::OnceLock};

/// Height of capitals in units of the font.
pub const CAPITALS: f32 = 20.0;

/// Space between letters, in addition to their own side bearings.
pub const TRACKING: f32 = 0.7;

/// A glyph as polylines.
#[derive(Debug)]
pub struct Glyph {
    /// Advance to the next glyph.
    pub advance: f32,
    /// Strokes, y up.
    pub strokes: Vec<Vec<[f32; 2]>>,
}

/// The glyph of `character`, a box if the font has none.
pub fn glyph(character: char) -> &'static Glyph {
    static UNKNOWN: OnceLock<Glyph> = OnceLock::new();
    known(character).unwrap_or_else(|| UNKNOWN.get_or_init(|| trace(16.0, "M3 0 L13 0 L13 20 L3 20 L3 0")))
}

/// The glyph of `character`, if the font has one.
pub fn known(character: char) -> Option<&'static Glyph> {
    static GLYPHS: OnceLock<HashMap<char, Glyph>> = OnceLock::new();
    let glyphs = GLYPHS.get_or_init(|| TABLE.iter().map(|&(c, a, path)| (c, trace(a, path))).collect());
    let same = match character {
        '\t' | '\u{a0}' | '\u{202f}' => ' ',
        'μ' => 'µ',
        '’' | '‘' => '\'',
        '“' | '”' | '„' => '"',
        other => other,
    };
    glyphs.get(&same)
}

/// Parses a path.
fn trace(advance: f32, path: &str) -> Glyph {
    let mut strokes: Vec<Vec<[f32; 2]>> = Vec::new();
    let starts: Vec<usize> =
        path.char_indices().filter(|(_, c)| c.is_ascii_uppercase()).map(|(i, _)| i).collect();
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(path.len());
        let numbers = path[start + 1..end].split_whitespace().filter_map(|n| n.parse().ok());
        let n: Vec<f32> = numbers.collect();
        let command = path.as_bytes()[start];
        if matches!(command, b'M' | b'O') {
            strokes.push(Vec::new());
        }
        let Some(stroke) = strokes.last_mut() else { continue };
        match (command, n.as_slice()) {
            (b'M' | b'L', &[x, y]) => stroke.push([x, y]),
            (b'C', &[x1, y1, x2, y2, x3, y3]) => {
                let from = stroke.last().copied().unwrap_or_default();
                curve(stroke, [from, [x1, y1], [x2, y2], [x3, y3]]);
            }
            (b'A' | b'O', &[x, y, rx, ry, from, to]) => arc(stroke, [x, y], [rx, ry], [from, to]),
            _ => {}
        }
    }
    Glyph { advance, strokes }
}

/// Segments of a curve: at 40 pixels, chords stay within a fiftieth of a pixel of the curve.
const STEPS: usize = 14;

fn curve(stroke: &mut Vec<[f32; 2]>, p: [[f32; 2]; 4]) {
    for step in 1..=STEPS {
        let t = step as f32 / STEPS as f32;
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        stroke.push([0, 1].map(|axis| (0..4).map(|i| weights[i] * p[i][axis]).sum()));
    }
}

fn arc(stroke: &mut Vec<[f32; 2]>, center: [f32; 2], radii: [f32; 2], [from, to]: [f32; 2]) {
    // A circle takes four times the segments of a curve, which is about a quarter of one.
    let steps = (((to - from).abs() / 90.0 * STEPS as f32).ceil() as usize).max(1);
    for step in 0..=steps {
        let angle = (from + (to - from) * step as f32 / steps as f32).to_radians();
        stroke.push([center[0] + radii[0] * angle.cos(), center[1] + radii[1] * angle.sin()]);
    }
}

/// All glyphs: character, advance, path.
#[rustfmt::skip]
pub const TABLE: &[(char, f32, &str)] = &[
    (' ', 7.0, ""),
    ('!', 6.6, "M3.3 20 L3.3 6.2 O3.3 .4 .35 .35 0 360"),
    ('"', 10.4, "M3.2 20 L3.2 14.6 M7.2 20 L7.2 14.6"),
    ('#', 19.6, "M6 0 L8.6 20 M11.4 0 L14 20 M2.4 6.6 L16.4 6.6 M3.4 13.4 L17.4 13.4"),
    ('$', 17.0, "M14 16.4 C13 18.8 11 20 8.6 20 C5.2 20 2.9 18 2.9 15.2 C2.9 8.8 15 11.6 15 5 C15 2 12.4 0 8.8 0 C5.6 0 3.2 1.5 2.3 4.2 M8.7 22.8 L8.7 -2.8"),
    ('%', 24.0, "O6.2 15.2 3.8 4.8 0 360 O17.8 4.8 3.8 4.8 0 360 M18 20 L6 0"),
    ('&', 18.4, "M16.4 0 L5.2 13.2 C4.2 14.4 3.8 15.3 3.8 16.3 C3.8 18.6 5.5 20 7.8 20 C10.1 20 11.7 18.6 11.7 16.5 C11.7 14 9.6 12.6 7 11 C4 9.2 2.2 7.6 2.2 4.9 C2.2 2 4.4 0 7.4 0 C11.6 0 15 3.8 15.8 9.6"),
    ('\'', 6.4, "M3.2 20 L3.2 14.6"),
    ('(', 8.2, "M6.6 22.5 C1.4 15 1.4 2 6.6 -5.5"),
    (')', 8.2, "M1.6 22.5 C6.8 15 6.8 2 1.6 -5.5"),
    ('*', 12.0, "M6 20 L6 11.6 M2.4 17.9 L9.6 13.7 M9.6 17.9 L2.4 13.7"),
    ('+', 16.0, "M8 2.4 L8 15 M1.7 8.7 L14.3 8.7"),
    (',', 6.6, "M3.6 .4 L2.1 -4"),
    ('-', 10.4, "M2.2 7.4 L8.2 7.4"),
    ('.', 6.6, "O3.3 .4 .35 .35 0 360"),
    ('/', 10.4, "M1.4 -3 L9 22.5"),
    ('0', 15.0, "O7.5 10 5.3 10 0 360"),
    ('1', 15.0, "M3.4 15.8 L8.6 20 L8.6 0"),
    ('2', 15.0, "M2.4 14.6 C2.4 18 4.6 20 7.5 20 C10.6 20 12.6 18 12.6 15.1 C12.6 10.6 6 6.8 2.2 0 L13 0"),
    ('3', 15.0, "M2.5 16.5 C3.4 18.8 5.2 20 7.4 20 C10.2 20 12.2 18.1 12.2 15.3 C12.2 12.5 10 10.7 7 10.7 L5.8 10.7 M7 10.7 C10.5 10.7 12.8 8.6 12.8 5.4 C12.8 2.2 10.5 0 7.4 0 C4.8 0 2.8 1.4 2 4"),
    ('4', 15.0, "M10.2 0 L10.2 20 L1.6 5.8 L13.6 5.8"),
    ('5', 15.0, "M11.9 20 L4 20 L3 10.8 C4.2 12.1 5.8 12.8 7.5 12.8 C10.7 12.8 12.8 10.2 12.8 6.5 C12.8 2.7 10.5 0 7.3 0 C4.7 0 2.8 1.3 2 3.8"),
    ('6', 15.0, "O7.6 6.3 5.2 6.3 0 360 M10.6 20 C5.6 17 2.4 12 2.4 6.3"),
    ('7', 15.0, "M2.2 20 L12.8 20 L5.8 0"),
    ('8', 15.0, "O7.5 15.2 4.5 4.8 0 360 O7.5 5.2 5.3 5.2 0 360"),
    ('9', 15.0, "O7.4 13.7 5.2 6.3 0 360 M4.4 0 C9.4 3 12.6 8 12.6 13.7"),
    (':', 6.6, "O3.3 .4 .35 .35 0 360 O3.3 11 .35 .35 0 360"),
    (';', 6.6, "M3.6 .4 L2.1 -4 O3.4 11 .35 .35 0 360"),
    ('<', 16.0, "M14 15 L2.4 8.7 L14 2.4"),
    ('=', 16.0, "M2 11.6 L14 11.6 M2 5.8 L14 5.8"),
    ('>', 16.0, "M2 15 L13.6 8.7 L2 2.4"),
    ('?', 14.0, "M2.4 15.4 C2.6 18.4 4.6 20 7.2 20 C10 20 12 18.2 12 15.4 C12 11.4 7.2 11 7.2 6.2 O7.2 .4 .35 .35 0 360"),
    ('@', 23.6, "O11.4 7.5 4 4.6 0 360 M15.4 12.1 L15.4 6.4 C15.4 1.8 21.4 1.6 21.4 8 C21.4 15 17.4 19 11.8 19 C6 19 2 14.5 2 7.6 C2 .6 6 -4 12 -4 C14.6 -4 16.6 -3.4 18.4 -2.2"),
    ('A', 18.2, "M1 0 L9.1 20 L17.2 0 M3.8 6.8 L14.4 6.8"),
    ('B', 17.2, "M3 0 L3 20 L9 20 A9 15.3 4.8 4.7 90 -90 L3 10.6 M9 10.6 A9.3 5.3 5.5 5.3 90 -90 L3 0"),
    ('C', 18.6, "O10.8 10 8.6 10 42 318"),
    ('D', 19.2, "M3 0 L3 20 L8 20 A8 10 8.8 10 90 -90 L3 0"),
    ('E', 15.8, "M13.8 20 L3 20 L3 0 L13.8 0 M3 10.5 L12.4 10.5"),
    ('F', 15.0, "M13.6 20 L3 20 L3 0 M3 10.2 L12 10.2"),
    ('G', 20.4, "O10.8 10 8.6 10 42 318 L17.6 9.4 L11.4 9.4"),
    ('H', 18.6, "M3 0 L3 20 M15.6 0 L15.6 20 M3 10.4 L15.6 10.4"),
    ('I', 6.4, "M3.2 0 L3.2 20"),
    ('J', 13.4, "M10.4 20 L10.4 5.2 A5.8 5.2 4.6 5.2 0 -165"),
    ('K', 16.0, "M3 0 L3 20 M14.4 20 L3 7.6 M7 11.95 L15 0"),
    ('L', 13.8, "M3 20 L3 0 L12.8 0"),
    ('M', 22.0, "M3 0 L3 20 L11 3.4 L19 20 L19 0"),
    ('N', 18.6, "M3 0 L3 20 L15.6 0 L15.6 20"),
    ('O', 22.0, "O11 10 8.8 10 0 360"),
    ('P', 16.4, "M3 0 L3 20 L9.4 20 A9.4 14.6 5.2 5.4 90 -90 L3 9.2"),
    ('Q', 22.0, "O11 10 8.8 10 0 360 M12.8 5.4 L19 -1.6"),
    ('R', 17.2, "M3 0 L3 20 L9.4 20 A9.4 14.7 5.2 5.3 90 -90 L3 9.4 M9.2 9.4 L15.4 0"),
    ('S', 17.0, "M14 16.4 C13 18.8 11 20 8.6 20 C5.2 20 2.9 18 2.9 15.2 C2.9 8.8 15 11.6 15 5 C15 2 12.4 0 8.8 0 C5.6 0 3.2 1.5 2.3 4.2"),
    ('T', 16.0, "M1.2 20 L14.8 20 M8 20 L8 0"),
    ('U', 18.4, "M3 20 L3 6.4 A9.2 6.4 6.2 6.4 180 360 L15.4 20"),
    ('V', 17.6, "M1 20 L8.8 0 L16.6 20"),
    ('W', 25.6, "M1 20 L6.9 0 L12.8 20 L18.7 0 L24.6 20"),
    ('X', 16.6, "M1.4 0 L15.2 20 M1.4 20 L15.2 0"),
    ('Y', 16.8, "M1 20 L8.4 9.2 L15.8 20 M8.4 9.2 L8.4 0"),
    ('Z', 16.6, "M2 20 L14.2 20 L2 0 L14.8 0"),
    ('[', 8.4, "M7 22.5 L3 22.5 L3 -5.5 L7 -5.5"),
    ('\\', 10.4, "M1.4 22.5 L9 -3"),
    (']', 8.4, "M1.4 22.5 L5.4 22.5 L5.4 -5.5 L1.4 -5.5"),
    ('^', 14.0, "M2 11.4 L7 20 L12 11.4"),
    ('_', 14.0, "M.8 -3 L13.2 -3"),
    ('`', 8.4, "M2.6 20 L5.6 16.4"),
    ('a', 15.4, "M3.2 10.9 C4 12.9 5.7 14 8 14 C11 14 12.6 12.4 12.6 9.6 L12.6 0 M12.6 8.2 C5.6 8.2 2.4 7 2.4 3.8 C2.4 1.4 4.2 0 6.6 0 C9.8 0 12.6 2.2 12.6 5.6"),
    ('b', 16.4, "M3 20 L3 0 O8.5 7 5.5 7 0 360"),
    ('c', 14.0, "O8.2 7 5.8 7 45 315"),
    ('d', 16.4, "M13.4 20 L13.4 0 O7.9 7 5.5 7 0 360"),
    ('e', 15.8, "M2.5 7.3 L13.7 7.3 A8 7 5.7 7 3 316"),
    ('f', 9.8, "M10 19.7 C9.4 19.9 8.8 20 8.2 20 C5.8 20 4.8 18.6 4.8 16 L4.8 0 M1.2 13.8 L9.2 13.8"),
    ('g', 16.4, "O7.9 7 5.5 7 0 360 M13.4 14 L13.4 -.8 C13.4 -4.2 11.2 -6 8 -6 C5.8 -6 4 -5.3 3 -3.8"),
    ('h', 15.6, "M3 20 L3 0 M3 8.2 C3 11.6 5 14 8.1 14 C11.1 14 12.6 12.2 12.6 9 L12.6 0"),
    ('i', 6.4, "M3.2 14 L3.2 0 O3.2 19.2 .35 .35 0 360"),
    ('j', 7.0, "M3.8 14 L3.8 -2 C3.8 -4.8 2.4 -6 .2 -5.8 O3.8 19.2 .35 .35 0 360"),
    ('k', 13.6, "M3 20 L3 0 M12 14 L3 5.2 M6.4 8.5 L12.8 0"),
    ('l', 7.4, "M3.2 20 L3.2 3.2 C3.2 1 4.2 0 6.2 0"),
    ('m', 23.2, "M3 14 L3 0 M3 8.4 C3 11.8 4.8 14 7.5 14 C10.2 14 11.6 12.3 11.6 9.2 L11.6 0 M11.6 8.4 C11.6 11.8 13.4 14 16.1 14 C18.8 14 20.2 12.3 20.2 9.2 L20.2 0"),
    ('n', 15.6, "M3 14 L3 0 M3 8.2 C3 11.6 5 14 8.1 14 C11.1 14 12.6 12.2 12.6 9 L12.6 0"),
    ('o', 16.4, "O8.2 7 5.8 7 0 360"),
    ('p', 16.4, "M3 14 L3 -6 O8.5 7 5.5 7 0 360"),
    ('q', 16.4, "M13.4 14 L13.4 -6 O7.9 7 5.5 7 0 360"),
    ('r', 10.2, "M3 14 L3 0 M3 7.8 C3 11.6 5.2 14 9.2 13.8"),
    ('s', 13.8, "M11.2 11.6 C10.4 13.2 8.9 14 7 14 C4.4 14 2.8 12.7 2.8 10.6 C2.8 6 11.6 8.4 11.6 3.6 C11.6 1.4 9.8 0 7.2 0 C4.8 0 3 1 2.2 2.9"),
    ('t', 10.4, "M4.8 18.6 L4.8 4 C4.8 1.4 6 0 8.2 0 C8.9 0 9.4 .1 9.8 .3 M1.2 13.8 L9.4 13.8"),
    ('u', 15.6, "M3 14 L3 5 C3 1.8 4.5 0 7.5 0 C10.6 0 12.6 2.4 12.6 5.8 M12.6 14 L12.6 0"),
    ('v', 13.8, "M1.2 14 L6.9 0 L12.6 14"),
    ('w', 20.4, "M1.2 14 L5.7 0 L10.2 14 L14.7 0 L19.2 14"),
    ('x', 13.4, "M1.5 14 L11.9 0 M11.9 14 L1.5 0"),
    ('y', 13.8, "M1.2 14 L7 0 M12.6 14 L5.8 -3 C5 -5 3.8 -6 2 -6"),
    ('z', 13.6, "M2 14 L11.4 14 L2 0 L11.8 0"),
    ('{', 9.0, "M7.6 22.5 C2.6 22.5 6.8 8.5 1.6 8.5 C6.8 8.5 2.6 -5.5 7.6 -5.5"),
    ('|', 6.4, "M3.2 23 L3.2 -6"),
    ('}', 9.0, "M1.4 22.5 C6.4 22.5 2.2 8.5 7.4 8.5 C2.2 8.5 6.4 -5.5 1.4 -5.5"),
    ('~', 16.0, "M2 7.4 C3.4 10.8 5.8 10.6 8 8.7 C10.2 6.8 12.6 6.6 14 10"),
    ('°', 9.6, "O4.8 16.6 3.2 3.4 0 360"),
    ('±', 16.0, "M8 5.6 L8 17 M2 11.3 L14 11.3 M2 1 L14 1"),
    ('²', 9.4, "M1.6 17.4 C1.8 19.2 3 20 4.6 20 C6.4 20 7.6 19 7.6 17.4 C7.6 15 3.6 13 1.6 10 L7.8 10"),
    ('³', 9.4, "M1.8 18.4 C2.4 19.5 3.4 20 4.6 20 C6.3 20 7.4 19.1 7.4 17.7 C7.4 16.2 6.2 15.3 4.2 15.3 C6.4 15.3 7.8 14.3 7.8 12.7 C7.8 11 6.5 10 4.6 10 C3.1 10 2 10.7 1.5 11.9"),
    ('µ', 15.6, "M3 14 L3 -6 M3 5 C3 1.8 4.5 0 7.5 0 C10.6 0 12.6 2.4 12.6 5.8 M12.6 14 L12.6 0"),
    ('·', 6.6, "O3.3 8.6 .35 .35 0 360"),
    ('×', 16.0, "M3.2 3.9 L12.8 13.5 M3.2 13.5 L12.8 3.9"),
    ('–', 14.4, "M1.4 7.4 L13 7.4"),
    ('—', 23.0, "M1.4 7.4 L21.6 7.4"),
    ('…', 19.8, "O3.3 .4 .35 .35 0 360 O9.9 .4 .35 .35 0 360 O16.5 .4 .35 .35 0 360"),
    ('−', 16.0, "M1.9 8.7 L14.1 8.7"),
    ('≤', 16.0, "M14 17 L2.4 11.4 L14 5.8 M14 1 L2.4 1"),
    ('≥', 16.0, "M2 17 L13.6 11.4 L2 5.8 M2 1 L13.6 1"),
    ('→', 20.0, "M2 8.7 L18 8.7 M12.4 14.2 L18 8.7 L12.4 3.2"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The lowest and highest pen position in any glyph.
    const EXTENT: [f32; 2] = [-6.0, 23.0];

    #[test]
    fn every_path_is_understood() {
        for &(character, advance, path) in TABLE {
            let glyph = trace(advance, path);
            let counts = |c: &str| path.matches(|p: char| c.contains(p)).count();
            assert_eq!(glyph.strokes.len(), counts("MO"), "{character}");
            for part in path.split_inclusive(|c: char| c.is_ascii_uppercase()).skip(1) {
                let n = part.split_whitespace().filter(|n| n.parse::<f32>().is_ok()).count();
                assert!(matches!(n, 2 | 6), "{character}: {part}");
            }
            for &[x, y] in glyph.strokes.iter().flatten() {
                assert!((0.0..=advance + 0.3).contains(&x), "{character}: x {x}");
                assert!((EXTENT[0] - 0.01..=EXTENT[1] + 0.01).contains(&y), "{character}: y {y}");
            }
        }
    }

    #[test]
    fn no_character_is_there_twice() {
        let mut seen = std::collections::HashSet::new();
        assert!(TABLE.iter().all(|&(character, ..)| seen.insert(character)));
    }
}
