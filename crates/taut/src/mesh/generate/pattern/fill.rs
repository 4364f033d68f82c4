//! A polygon filled with triangles as even as its boundary.

use glam::DVec2;

use super::{constrain, delaunay::triangulate};

/// Minimum distance of an interior point from the boundary, in spacings.
const MARGIN: f64 = 0.62;
/// Rounds of re-triangulation, and moves of all interior points in each.
const ROUNDS: usize = 4;
const MOVES: usize = 6;
/// Least area of a triangle that a move may leave, in squares of the spacing.
const LEAST_AREA: f64 = 0.05;

/// Points and triangles of the inside of `boundary`, a counter-clockwise polygon with vertices about
/// `spacing` apart. Its points come first and are fixed; all its sides are edges. `None` if it crosses or
/// touches itself.
pub fn fill(boundary: &[DVec2], spacing: f64) -> Option<(Vec<DVec2>, Vec<[u32; 3]>)> {
    let low = boundary.iter().fold(DVec2::MAX, |low, p| low.min(*p));
    let high = boundary.iter().fold(DVec2::MIN, |high, p| high.max(*p));
    let mut points = boundary.to_vec();
    // Rows of equilateral triangles.
    let rise = spacing * 0.75f64.sqrt();
    for j in 0..((high.y - low.y) / rise).ceil() as u64 {
        let y = low.y + (j as f64 + 0.5) * rise;
        let near = Near::new(boundary, y, MARGIN * spacing);
        for i in 0..((high.x - low.x) / spacing).ceil() as u64 + 1 {
            let shift = if j.is_multiple_of(2) { 0.0 } else { 0.5 };
            let p = DVec2::new(low.x + (i as f64 + shift) * spacing, y);
            if near.inside(p) && near.clearance(p) > MARGIN * spacing {
                points.push(p);
            }
        }
    }
    let mut triangles = Vec::new();
    for round in 0..ROUNDS {
        triangles = constrain::inside(&points, triangulate(&points), boundary.len())?;
        if round + 1 < ROUNDS {
            for _ in 0..MOVES {
                smooth(&mut points, &triangles, boundary.len(), LEAST_AREA * spacing * spacing);
            }
        }
    }
    Some((points, triangles))
}

/// Moves all points from `first` on to the centroid of the triangles around them, unless a triangle's area
/// would be less than `least`.
fn smooth(points: &mut [DVec2], triangles: &[[u32; 3]], first: usize, least: f64) {
    let area = |t: &[u32; 3], points: &[DVec2]| {
        let [a, b, c] = t.map(|v| points[v as usize]);
        (b - a).perp_dot(c - a)
    };
    let mut sums = vec![(DVec2::ZERO, 0.0); points.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| points[v as usize]);
        let area = area(t, points);
        for v in t {
            let sum = &mut sums[*v as usize];
            *sum = (sum.0 + (a + b + c) / 3.0 * area, sum.1 + area);
        }
    }
    let before = points.to_vec();
    for (p, (sum, area)) in points.iter_mut().zip(sums).skip(first) {
        if area > 0.0 {
            *p = sum / area;
        }
    }
    // Corners of triangles that became too small go back, and so do those around them if need be.
    loop {
        let mut again = false;
        for t in triangles {
            if area(t, points) < (2.0 * least).min(area(t, &before)) {
                for v in t.map(|v| v as usize) {
                    again |= points[v] != before[v];
                    points[v] = before[v];
                }
            }
        }
        if !again {
            return;
        }
    }
}

/// Sides of a polygon that matter to a row of points.
struct Near {
    /// Those that the row crosses: where.
    crossings: Vec<f64>,
    /// Those within a distance of it.
    sides: Vec<[DVec2; 2]>,
}

impl Near {
    /// For points of height `y`, and distances up to `reach`.
    fn new(polygon: &[DVec2], y: f64, reach: f64) -> Self {
        let (mut crossings, mut sides) = (Vec::new(), Vec::new());
        for (k, &b) in polygon.iter().enumerate() {
            let a = polygon[(k + polygon.len() - 1) % polygon.len()];
            if (a.y > y) != (b.y > y) {
                crossings.push(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
            }
            if a.y.min(b.y) <= y + reach && a.y.max(b.y) >= y - reach {
                sides.push([a, b]);
            }
        }
        Self { crossings, sides }
    }

    /// Whether a point of the row is inside.
    fn inside(&self, p: DVec2) -> bool {
        self.crossings.iter().filter(|&&x| p.x < x).count() % 2 == 1
    }

    /// Distance of a point of the row from the sides within reach.
    fn clearance(&self, p: DVec2) -> f64 {
        let distance = |[a, b]: &[DVec2; 2]| {
            let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            (p - a.lerp(*b, t)).length_squared()
        };
        self.sides.iter().map(distance).fold(f64::MAX, f64::min).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_a_polygon_with_a_bay_evenly() {
        // A square with a round bay in its upper side.
        let spacing = 0.05;
        let mut boundary: Vec<DVec2> = (0..20).map(|k| DVec2::new(f64::from(k) * 0.05, 0.0)).collect();
        boundary.extend((0..20).map(|k| DVec2::new(1.0, f64::from(k) * 0.05)));
        boundary.extend((0..5).map(|k| DVec2::new(1.0 - f64::from(k) * 0.05, 1.0)));
        boundary.extend((0..=16).map(|k| {
            let angle = std::f64::consts::PI * f64::from(k) / 16.0;
            DVec2::new(0.5 + 0.25 * angle.cos(), 1.0 - 0.25 * angle.sin())
        }));
        boundary.extend((1..6).map(|k| DVec2::new(0.25 - f64::from(k) * 0.05, 1.0)));
        boundary.extend((1..20).map(|k| DVec2::new(0.0, 1.0 - f64::from(k) * 0.05)));
        let (points, triangles) = fill(&boundary, spacing).unwrap();
        assert_eq!(points[..boundary.len()], boundary[..]);
        let mut area = 0.0;
        for t in &triangles {
            let p = t.map(|v| points[v as usize]);
            let sides = [0, 1, 2].map(|k| (p[(k + 1) % 3] - p[k]).length() / spacing);
            assert!(sides.iter().all(|s| (0.6..1.65).contains(s)), "{sides:?} at {}", p[0]);
            let twice = (p[1] - p[0]).perp_dot(p[2] - p[0]);
            assert!(twice > 0.4 * spacing * spacing, "{p:?}");
            area += twice / 2.0;
        }
        let sides = boundary.iter().enumerate();
        let twice: f64 = sides.map(|(k, a)| a.perp_dot(boundary[(k + 1) % boundary.len()])).sum();
        assert!((area - twice / 2.0).abs() < 1e-9, "{area} {}", twice / 2.0);
    }

    #[test]
    fn sides_nearer_to_each_other_than_their_vertices_are_edges() {
        // A square with a dart: 18 cm deep, 3 mm wide, its sides sampled differently.
        let mut boundary = vec![DVec2::new(0.0, 0.0), DVec2::new(0.3, 0.0), DVec2::new(0.3, 0.3)];
        let (tip, count) = (DVec2::new(0.15, 0.12), [9, 13]);
        for (side, count) in [0.1515, 0.1485].into_iter().zip(count) {
            let mouth = DVec2::new(side, 0.3);
            let along = |k: i32| mouth.lerp(tip, f64::from(k) / f64::from(count));
            if side > 0.15 {
                boundary.extend((0..=count).map(along))
            } else {
                boundary.extend((0..count).rev().map(along))
            }
        }
        boundary.push(DVec2::new(0.0, 0.3));
        let (points, triangles) = fill(&boundary, 0.02).unwrap();
        let edges: std::collections::BTreeSet<(u32, u32)> =
            triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
        let count = boundary.len() as u32;
        assert!((0..count).all(|k| edges.contains(&(k, (k + 1) % count))));
        let area: f64 = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| points[v as usize]);
                (b - a).perp_dot(c - a) / 2.0
            })
            .sum();
        assert!((area - (0.09 - 0.5 * 0.003 * 0.18)).abs() < 1e-9, "{area}");
        // A polygon that crosses itself is refused.
        let bow = [DVec2::ZERO, DVec2::new(1.0, 1.0), DVec2::new(1.0, 0.0), DVec2::new(0.0, 1.0)];
        assert!(fill(&bow, 0.5).is_none());
    }
}
