//! Legends in the corners of the picture: a colour bar with its ends and a title, a wheel of directions, a
//! caption.

use crate::{
    color::{hsv, scale::Scale},
    draw,
    picture::{Picture, Rgba},
    shade::to_bytes,
};

/// The colour of words and frames.
const INK: Rgba = [44, 48, 54, 255];

/// Text size for a picture: legible in small ones, not dominant in large ones.
fn capitals(picture: &Picture) -> f32 {
    (picture.height().min(picture.width()) as f32 / 52.0).clamp(7.0, 40.0)
}

/// Draws `scale` into the lower right corner.
pub fn scale(picture: &mut Picture, scale: &Scale) {
    let size = capitals(picture);
    let (right, bottom) = (picture.width() as f32 - 2.0 * size, picture.height() as f32 - 2.0 * size);
    let (width, height) = ((20.0 * size).min(picture.width() as f32 * 0.5), 1.1 * size);
    let left = right - width;
    let top = bottom - height - 1.9 * size;
    let (x0, x1, y0, y1) = (left as usize, right as usize, top as usize, (top + height) as usize);
    for x in x0..x1 {
        let share = (x - x0) as f32 / (x1 - x0).max(2) as f32;
        let color = to_bytes(scale.color(scale.low + share * (scale.high - scale.low)));
        for y in y0..y1 {
            picture.blend(x, y, color, 1.0);
        }
    }
    frame(picture, [x0 as f32, y0 as f32], [x1 as f32, y1 as f32], size);
    let mut ticks = vec![(scale.low, x0 as f32), (scale.high, x1 as f32)];
    ticks.insert(1, (0.5 * (scale.low + scale.high), 0.5 * (x0 + x1) as f32));
    let longest = ticks.iter().map(|(value, _)| draw::text_width(size, &percent(*value))).fold(0.0, f32::max);
    if 3.0 * longest > width {
        ticks.remove(1);
    }
    for (value, x) in ticks {
        let words = percent(value);
        let at = x - 0.5 * draw::text_width(size, &words);
        let most = picture.width() as f32 - 0.4 * size - draw::text_width(size, &words);
        draw::text(picture, at.min(most), top + height + 1.7 * size, size, INK, &words);
    }
    let wide = draw::text_width(size, scale.title);
    draw::text(picture, (right - wide).max(0.0), top - 0.7 * size, size, INK, scale.title);
}

/// Draws a half wheel of hues by direction into the lower left corner.
pub fn directions(picture: &mut Picture) {
    let size = capitals(picture);
    let radius = 3.2 * size;
    let (cx, cy) = (2.0 * size + radius, picture.height() as f32 - 3.9 * size);
    let reach = radius.ceil() as i32;
    for dy in -reach..=0 {
        for dx in -reach..=reach {
            let far = ((dx * dx + dy * dy) as f32).sqrt();
            let share = (radius - far + 0.5).clamp(0.0, 1.0) * (far - 0.45 * radius + 0.5).clamp(0.0, 1.0);
            let hue = (-dy as f32).atan2(dx as f32) / std::f32::consts::PI;
            let (x, y) = (cx as i32 + dx, cy as i32 + dy);
            if share > 0.0 && x >= 0 && y >= 0 {
                picture.blend(x as usize, y as usize, to_bytes(hsv(hue.rem_euclid(1.0), 1.0, 1.0)), share);
            }
        }
    }
    let words = "direction of strain";
    draw::text(picture, 2.0 * size, cy + 1.7 * size, size, INK, words);
}

/// Draws a title into the lower right corner, if there is no scale.
pub fn title(picture: &mut Picture, words: &str) {
    let size = capitals(picture);
    let wide = draw::text_width(size, words);
    let (x, y) = (picture.width() as f32 - 2.0 * size - wide, picture.height() as f32 - 2.0 * size);
    draw::text(picture, x.max(0.0), y, size, INK, words);
}

/// Draws a caption into the upper left corner, a line for each line of `words`.
pub fn caption(picture: &mut Picture, words: &str) {
    let size = 1.25 * capitals(picture);
    for (k, line) in words.lines().enumerate() {
        draw::text(picture, 1.6 * size, size * (2.4 + 1.9 * k as f32), size, INK, line);
    }
}

fn frame(picture: &mut Picture, [x0, y0]: [f32; 2], [x1, y1]: [f32; 2], size: f32) {
    let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]];
    draw::polyline(picture, &corners, (0.09 * size).max(1.0), INK);
}

/// A fraction as a percentage, without trailing zeros.
pub fn percent(value: f32) -> String {
    let value = 100.0 * value;
    let digits = if value == 0.0 { 0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 5.0) as usize };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{} %", text.replace('-', "−"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_short() {
        for (value, words) in [
            (0.05, "5 %"),
            (0.125, "12.5 %"),
            (0.0125, "1.25 %"),
            (0.002, "0.2 %"),
            (-0.1, "−10 %"),
            (0.0, "0 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(percent(value), words);
        }
    }

    #[test]
    fn a_bar_shows_its_colours_and_fits_pictures_of_any_size() {
        for size in [[1280, 720], [64, 64], [5, 3], [200, 900]] {
            let mut picture = Picture::new(size[0], size[1], [255; 4]);
            scale(&mut picture, &Scale::red("stretch", 0.1));
            directions(&mut picture);
            title(&mut picture, "level 3");
            caption(&mut picture, "one\ntwo");
        }
        let mut picture = Picture::new(1280, 720, [255; 4]);
        scale(&mut picture, &Scale::red("stretch", 0.1));
        let reddest = to_bytes(Scale::red("", 0.1).color(0.099));
        let near = |p: &Rgba| (0..3).all(|k| p[k].abs_diff(reddest[k]) < 12);
        assert!(picture.pixels().iter().filter(|p| near(p)).count() > 20);
    }
}
