//! Lines, polylines, rectangles and discs.

use super::{Mask, Point, is_finite, pixels_between};
use crate::{Picture, picture::Rgba};

/// Draws a straight line with round ends, `width` pixels wide.
pub fn line(picture: &mut Picture, from: Point, to: Point, width: f32, color: Rgba) {
    polyline(picture, &[from, to], width, color);
}

/// Draws straight lines from each point to the next, with round corners and ends, `width` pixels wide. A
/// non-finite point leaves a gap.
pub fn polyline(picture: &mut Picture, points: &[Point], width: f32, color: Rgba) {
    strokes(picture, &[points], width, color);
}

/// Draws several polylines as one shape: where they cross, a translucent colour is blended once.
pub fn strokes(picture: &mut Picture, polylines: &[impl AsRef<[Point]>], width: f32, color: Rgba) {
    if !(width > 0.0 && width.is_finite()) {
        return;
    }
    let finite = || polylines.iter().flat_map(|points| points.as_ref()).filter(|&&p| is_finite(p));
    let reach = width / 2.0 + 1.0;
    let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for point in finite() {
        for axis in 0..2 {
            low[axis] = low[axis].min(point[axis] - reach);
            high[axis] = high[axis].max(point[axis] + reach);
        }
    }
    if low[0] > high[0] {
        return;
    }
    let mut mask = Mask::new(picture, low, high);
    for points in polylines {
        let points = points.as_ref();
        for (i, &point) in points.iter().enumerate().filter(|(_, p)| is_finite(**p)) {
            match points.get(i + 1).filter(|p| is_finite(**p)) {
                Some(&next) => mask.stroke(point, next, width / 2.0),
                // An isolated point is a dot; the end of a line is on the line already.
                None if i == 0 || !is_finite(points[i - 1]) => mask.stroke(point, point, width / 2.0),
                None => {}
            }
        }
    }
    mask.paint(picture, color);
}

/// The dashes of a polyline: `on` pixels drawn, `off` not, and so on along it.
pub fn dashes(points: &[Point], on: f32, off: f32) -> Vec<Vec<Point>> {
    if !(on > 0.0 && off > 0.0 && on.is_finite() && off.is_finite()) {
        return vec![points.to_vec()];
    }
    let (mut parts, mut part) = (Vec::new(), Vec::new());
    let (mut drawing, mut left) = (true, on);
    for pair in points.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        if !is_finite(a) || !is_finite(b) {
            parts.push(std::mem::take(&mut part));
            (drawing, left) = (true, on);
            continue;
        }
        let length = (b[0] - a[0]).hypot(b[1] - a[1]);
        let mut done = 0.0;
        if drawing && part.is_empty() {
            part.push(a);
        }
        while length - done > left {
            done += left;
            let at = [a[0] + (b[0] - a[0]) * done / length, a[1] + (b[1] - a[1]) * done / length];
            part.push(at);
            if drawing {
                parts.push(std::mem::take(&mut part));
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
            if !drawing {
                part.clear();
            }
        }
        left -= length - done;
        if drawing {
            part.push(b);
        }
    }
    parts.push(part);
    parts.retain(|part| part.len() > 1);
    parts
}

/// Fills the rectangle between two opposite corners. Edges between pixels are antialiased by coverage.
pub fn rectangle(picture: &mut Picture, corner: Point, opposite: Point, color: Rgba) {
    if !is_finite(corner) || !is_finite(opposite) {
        return;
    }
    let low = [corner[0].min(opposite[0]), corner[1].min(opposite[1])];
    let high = [corner[0].max(opposite[0]), corner[1].max(opposite[1])];
    let covered = |pixel: usize, axis: usize| {
        (high[axis].min(pixel as f32 + 1.0) - low[axis].max(pixel as f32)).clamp(0.0, 1.0)
    };
    for y in pixels_between(low[1], high[1], picture.height()) {
        for x in pixels_between(low[0], high[0], picture.width()) {
            picture.blend(x, y, color, covered(x, 0) * covered(y, 1));
        }
    }
}

/// Fills a disc.
pub fn circle(picture: &mut Picture, center: Point, radius: f32, color: Rgba) {
    line(picture, center, center, 2.0 * radius, color);
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Rgba = [255; 4];
    const BLACK: Rgba = [0, 0, 0, 255];

    /// Total ink, in pixels of pure black.
    fn ink(picture: &Picture) -> f64 {
        picture.pixels().iter().map(|p| 1.0 - f64::from(p[0]) / 255.0).sum()
    }

    #[test]
    fn a_line_has_as_much_ink_as_its_area() {
        for (to, width) in [([80.0f32, 20.0f32], 3.0f32), ([70.3, 77.7], 1.0), ([20.5, 90.0], 0.4)] {
            let mut picture = Picture::new(100, 100, WHITE);
            line(&mut picture, [10.0, 10.0], to, width, BLACK);
            let length = f64::from((to[0] - 10.0).hypot(to[1] - 10.0));
            let area = length * f64::from(width);
            let found = ink(&picture);
            assert!((found / area - 1.0).abs() < 0.12, "{width} wide: {found} for {area}");
        }
    }

    #[test]
    fn rectangles_are_exact() {
        let mut picture = Picture::new(20, 20, WHITE);
        rectangle(&mut picture, [12.25, 3.0], [2.0, 7.5], BLACK);
        assert!((ink(&picture) - 10.25 * 4.5).abs() < 0.05);
        assert_eq!(picture.get(5, 5), BLACK);
        assert_eq!(picture.get(13, 5), WHITE);
    }

    #[test]
    fn crossing_strokes_are_mixed_in_once() {
        let mut picture = Picture::new(40, 40, WHITE);
        let half = [0, 0, 0, 128];
        polyline(&mut picture, &[[5.0, 5.0], [35.0, 35.0], [35.0, 5.0], [5.0, 35.0]], 4.0, half);
        let darkest = picture.pixels().iter().map(|p| p[0]).min().unwrap();
        assert_eq!(darkest, 127);
    }

    #[test]
    fn what_is_outside_or_not_finite_is_left_out() {
        let mut picture = Picture::new(10, 10, WHITE);
        let far = [1e30, -1e30];
        line(&mut picture, [-50.0, -50.0], [-20.0, -90.0], 5.0, BLACK);
        line(&mut picture, [f32::NAN, 1.0], [5.0, f32::INFINITY], 5.0, BLACK);
        line(&mut picture, [1.0, 1.0], [2.0, 2.0], f32::NAN, BLACK);
        line(&mut picture, [1.0, 1.0], [2.0, 2.0], -3.0, BLACK);
        rectangle(&mut picture, [f32::NAN, 0.0], [5.0, 5.0], BLACK);
        rectangle(&mut picture, [20.0, 20.0], far, BLACK);
        circle(&mut picture, [-9.0, 4.0], 3.0, BLACK);
        assert_eq!(ink(&picture), 0.0);
        line(&mut picture, [-1e6, 5.0], [1e6, 5.0], 2.0, BLACK);
        assert!((ink(&picture) - 20.0).abs() < 0.5, "{}", ink(&picture));
        polyline(&mut Picture::new(0, 0, WHITE), &[[0.0; 2], far], 1.0, BLACK);
    }

    #[test]
    fn a_gap_in_a_polyline_stays_empty() {
        let mut picture = Picture::new(60, 10, WHITE);
        let points = [[5.0, 5.0], [15.0, 5.0], [f32::NAN, 5.0], [45.0, 5.0], [55.0, 5.0]];
        polyline(&mut picture, &points, 2.0, BLACK);
        assert_eq!(picture.get(30, 5), WHITE);
        assert_ne!(picture.get(10, 5), WHITE);
        assert_ne!(picture.get(50, 5), WHITE);
        assert_eq!(dashes(&points, 100.0, 10.0).len(), 2);
    }

    #[test]
    fn dashes_draw_their_share_of_the_length() {
        let points = [[0.0, 0.0], [33.0, 0.0], [33.0, 44.0], [90.0, 44.0]];
        let length =
            |p: &[Point]| p.windows(2).map(|w| (w[1][0] - w[0][0]).hypot(w[1][1] - w[0][1])).sum::<f32>();
        let parts = dashes(&points, 6.0, 4.0);
        let drawn: f32 = parts.iter().map(|part| length(part)).sum();
        assert!((drawn / length(&points) - 0.6).abs() < 0.05, "{drawn}");
        assert!(parts.iter().all(|part| length(part) <= 6.0 + 1e-3));
    }
}
