//! Faces between the points of a midpoint mesh: a triangulation without gaps whose vertices are points.
//!
//! A nonconforming triangle is covered by the polygon of its points, and around an inner vertex the midpoints
//! of its edges make one more. Each is cut into the triangles whose worst one is best: midpoints lie on
//! straight lines where cells are square, and a fan would have triangles without area.

use glam::{DVec3, Vec3};

/// A polygon of points, cut into triangles; `at` says where points are, `normal` which side is the front.
pub(super) fn cut(polygon: &[u32], at: impl Fn(u32) -> Vec3, normal: DVec3) -> Vec<[u32; 3]> {
    let n = polygon.len();
    let quality = |i: usize, j: usize, k: usize| {
        let [a, b, c] = [i, j, k].map(|i| at(polygon[i]).as_dvec3());
        let around = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
        (b - a).cross(c - a).dot(normal) / around.max(f64::MIN_POSITIVE)
    };
    // By first and last corner: the worst triangle of the best cut of the part between, and its third corner.
    let mut best = vec![(f64::INFINITY, 0); n * n];
    for span in 2..n {
        for i in 0..n - span {
            let k = i + span;
            let of = |j: usize| quality(i, j, k).min(best[i * n + j].0).min(best[j * n + k].0);
            let choice = (i + 1..k).map(|j| (of(j), j)).reduce(|a, b| if b.0 > a.0 { b } else { a });
            best[i * n + k] = choice.unwrap_or((f64::INFINITY, 0));
        }
    }
    let mut faces = Vec::with_capacity(n.saturating_sub(2));
    let mut open = vec![(0, n - 1)];
    while let Some((i, k)) = open.pop() {
        if k > i + 1 {
            let j = best[i * n + k].1;
            faces.push([i, j, k].map(|i| polygon[i]));
            open.extend([(j, k), (i, j)]);
        }
    }
    faces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midpoints_on_straight_lines_are_cut_into_triangles_with_area() {
        // Around a vertex of eight square cells: corners, and midpoints of the sides between them.
        let square = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]];
        let at = |v: u32| Vec3::new(square[v as usize][0] as f32, square[v as usize][1] as f32, 0.0);
        let faces = cut(&[0, 1, 2, 3, 4, 5, 6, 7], at, DVec3::Z);
        assert_eq!(faces.len(), 6);
        let area = |f: &[u32; 3]| {
            let [a, b, c] = f.map(at);
            0.5 * (b - a).cross(c - a).z
        };
        assert!(faces.iter().all(|face| area(face) >= 0.49), "{faces:?}");
        assert_eq!(faces.iter().map(area).sum::<f32>(), 4.0);
    }
}
