//! A polygon filled with triangles as even as its boundary.

use glam::DVec2;

use super::delaunay::triangulate;

/// Minimum distance of an interior point from the boundary, in spacings.
const MARGIN: f64 = 0.62;
/// Rounds of re-triangulation, and moves of all interior points in each.
const ROUNDS: usize = 4;
const MOVES: usize = 6;

/// Points and triangles of the inside of `boundary`, a counter-clockwise polygon with vertices about
/// `spacing` apart. Its points come first and are fixed.
pub fn fill(boundary: &[DVec2], spacing: f64) -> (Vec<DVec2>, Vec<[u32; 3]>) {
    let low = boundary.iter().fold(DVec2::MAX, |low, p| low.min(*p));
    let high = boundary.iter().fold(DVec2::MIN, |high, p| high.max(*p));
    let mut points = boundary.to_vec();
    // Rows of equilateral triangles.
    let rise = spacing * 0.75f64.sqrt();
    for j in 0..((high.y - low.y) / rise).ceil() as u64 {
        for i in 0..((high.x - low.x) / spacing).ceil() as u64 + 1 {
            let shift = if j.is_multiple_of(2) { 0.0 } else { 0.5 };
            // Every other row backwards, so that consecutive points are near each other.
            let p = low + DVec2::new((i as f64 + shift) * spacing, (j as f64 + 0.5) * rise);
            if inside(boundary, p) && clearance(boundary, p) > MARGIN * spacing {
                points.push(p);
            }
        }
    }
    let mut triangles = Vec::new();
    for round in 0..ROUNDS {
        triangles = triangulate(&points);
        triangles.retain(|t| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            t.iter().any(|&v| v as usize >= boundary.len()) || inside(boundary, (a + b + c) / 3.0)
        });
        if round + 1 < ROUNDS {
            for _ in 0..MOVES {
                smooth(&mut points, &triangles, boundary.len());
            }
        }
    }
    (points, triangles)
}

/// Moves all points from `first` on to the centroid of the triangles around them.
fn smooth(points: &mut [DVec2], triangles: &[[u32; 3]], first: usize) {
    let mut sums = vec![(DVec2::ZERO, 0.0); points.len()];
    for t in triangles {
        let [a, b, c] = t.map(|v| points[v as usize]);
        let area = (b - a).perp_dot(c - a);
        for v in t {
            let sum = &mut sums[*v as usize];
            *sum = (sum.0 + (a + b + c) / 3.0 * area, sum.1 + area);
        }
    }
    for (p, (sum, area)) in points.iter_mut().zip(sums).skip(first) {
        *p = sum / area;
    }
}

/// Whether a point is inside a polygon.
fn inside(polygon: &[DVec2], p: DVec2) -> bool {
    let mut inside = false;
    for (k, &b) in polygon.iter().enumerate() {
        let a = polygon[(k + polygon.len() - 1) % polygon.len()];
        if (a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y) {
            inside = !inside;
        }
    }
    inside
}

/// Distance of a point from the sides of a polygon.
fn clearance(polygon: &[DVec2], p: DVec2) -> f64 {
    let mut least = f64::MAX;
    for (k, &b) in polygon.iter().enumerate() {
        let a = polygon[(k + polygon.len() - 1) % polygon.len()];
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        least = least.min((p - a.lerp(b, t)).length_squared());
    }
    least.sqrt()
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
        let (points, triangles) = fill(&boundary, spacing);
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
}
