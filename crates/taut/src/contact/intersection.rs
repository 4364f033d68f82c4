//! Whether a surface intersects itself: which edges pierce which triangles, decided exactly.
//!
//! An edge pierces a triangle if they share a point, even if an end only lies on the triangle, or both lie in
//! one plane. The end points of a piercing edge are on different sides of the triangle's plane, and its line
//! passes all three sides of the triangle on the same side. These are signs of determinants, which are
//! computed exactly (adaptive precision), so that the answer is exact. Triangles without area are never
//! pierced; their edges pierce others.

use robust::{Coord, Coord3D, orient2d, orient3d};

use super::{
    inspect::{Crossing, Inspector, Parts},
    surface::Surface,
};
use crate::exec::threads::Threads;

/// An edge that pierces a triangle, by their vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piercing {
    /// The edge.
    pub edge: [u32; 2],
    /// The triangle.
    pub triangle: [u32; 3],
}

/// All edges of `surface` that pierce a triangle with which they share no vertex and to which they are not
/// sewn; positions `x` \[m\]. By edge.
///
/// An [`Inspector`] does the same repeatedly without rebuilding its tree.
pub fn piercings(surface: &Surface, x: &[[f32; 3]]) -> Vec<Piercing> {
    let mut parts = Parts::new(surface.triangles.clone(), x);
    parts.identity[..surface.identity.len()].copy_from_slice(&surface.identity);
    let mut inspector = Inspector::new(parts);
    inspector.look(&Threads::alone(), x);
    by_vertices(surface, &inspector)
}

/// What `inspector` found last in `surface`, by edge.
pub(super) fn by_vertices(surface: &Surface, inspector: &Inspector) -> Vec<Piercing> {
    let by_vertices = |crossing: &Crossing| Piercing {
        edge: crossing.edge,
        triangle: surface.triangles[crossing.triangle as usize],
    };
    let mut found: Vec<Piercing> = inspector.crossings().iter().map(by_vertices).collect();
    found.sort_unstable();
    found
}

/// Whether the edge and the triangle share a point.
pub fn pierces(edge: [[f32; 3]; 2], triangle: [[f32; 3]; 3]) -> bool {
    let at = |[x, y, z]: [f32; 3]| Coord3D { x: f64::from(x), y: f64::from(y), z: f64::from(z) };
    let (p, q) = (at(edge[0]), at(edge[1]));
    let (a, b, c) = (at(triangle[0]), at(triangle[1]), at(triangle[2]));
    let (above, below) = (orient3d(a, b, c, p), orient3d(a, b, c, q));
    if above > 0.0 && below > 0.0 || above < 0.0 && below < 0.0 {
        return false;
    }
    if above == 0.0 && below == 0.0 {
        return meets_within_plane(edge, triangle);
    }
    let sides = [orient3d(p, q, a, b), orient3d(p, q, b, c), orient3d(p, q, c, a)];
    sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0)
}

/// Whether a coplanar edge and triangle share a point: projected along an axis along which the triangle has
/// an area.
fn meets_within_plane(edge: [[f32; 3]; 2], triangle: [[f32; 3]; 3]) -> bool {
    for [i, j] in [[0, 1], [1, 2], [2, 0]] {
        let flat = |x: [f32; 3]| Coord { x: f64::from(x[i]), y: f64::from(x[j]) };
        let [p, q] = edge.map(flat);
        let [a, b, c] = triangle.map(flat);
        let turn = orient2d(a, b, c);
        if turn == 0.0 {
            continue;
        }
        let [b, c] = if turn > 0.0 { [b, c] } else { [c, b] };
        let sides = [[a, b], [b, c], [c, a]];
        // A separating line: a side of the triangle, or the edge itself.
        let beyond = sides.iter().any(|&[a, b]| orient2d(a, b, p) < 0.0 && orient2d(a, b, q) < 0.0);
        let of_edge = [a, b, c].map(|corner| orient2d(p, q, corner));
        let beside = of_edge.iter().all(|&side| side > 0.0) || of_edge.iter().all(|&side| side < 0.0);
        return !beyond && !beside;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn through_beside_short_of_and_within() {
        let through = [[0.2, 1.0, 0.2], [0.2, -1.0, 0.2]];
        assert!(pierces(through, TRIANGLE));
        assert!(pierces([through[1], through[0]], TRIANGLE));
        assert!(!pierces([[0.7, 1.0, 0.7], [0.7, -1.0, 0.7]], TRIANGLE), "beside");
        assert!(!pierces([[0.2, 1.0, 0.2], [0.2, 0.1, 0.2]], TRIANGLE), "short of it");
        assert!(pierces([[0.2, 1.0, 0.2], [0.2, 0.0, 0.2]], TRIANGLE), "ends on it");
    }

    #[test]
    fn within_the_plane_of_the_triangle() {
        assert!(pierces([[-1.0, 0.0, 0.2], [1.0, 0.0, 0.2]], TRIANGLE), "across");
        assert!(pierces([[0.1, 0.0, 0.1], [0.2, 0.0, 0.3]], TRIANGLE), "inside");
        assert!(pierces([[-1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], TRIANGLE), "along a side");
        assert!(pierces([[-1.0, 0.0, 1.0], [1.0, 0.0, -1.0]], TRIANGLE), "through a corner");
        assert!(!pierces([[-1.0, 0.0, 0.9], [0.9, 0.0, -1.0]], TRIANGLE), "short of a corner");
        assert!(!pierces([[0.9, 0.0, 0.9], [0.8, 0.0, 0.3]], TRIANGLE), "in a corner of its box");
        assert!(!pierces([[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]], TRIANGLE), "on the line of a side");
        // The same in a tilted plane, whose coordinates are exact.
        let tilted = |[x, _, z]: [f32; 3]| [x, x + 2.0 * z, z];
        let triangle = TRIANGLE.map(tilted);
        assert!(pierces([[-1.0, 0.0, 0.25], [1.0, 0.0, 0.25]].map(tilted), triangle));
        assert!(!pierces([[-1.0, 0.0, 0.75], [0.75, 0.0, -1.0]].map(tilted), triangle));
        let nothing = [TRIANGLE[0], TRIANGLE[1], TRIANGLE[1]];
        assert!(!pierces([[0.5, 0.0, -1.0], [0.5, 0.0, 1.0]], nothing), "no area");
    }

    #[test]
    fn the_tree_finds_what_trying_all_finds() {
        let mut random = Random::new(17, 0);
        for triangles in [1, 5, 40, 120] {
            let mut x = Vec::new();
            let mut soup = Vec::new();
            for t in 0..triangles {
                let middle = [(); 3].map(|()| random.unit());
                for _ in 0..3 {
                    x.push(middle.map(|m| m + 0.3 * random.unit()));
                }
                soup.push([3 * t, 3 * t + 1, 3 * t + 2]);
            }
            let surface = Surface::new(soup);
            let mut all = Vec::new();
            for &edge in &surface.edges {
                for &triangle in &surface.triangles {
                    let apart = edge.iter().all(|v| !triangle.contains(v));
                    if apart && pierces(edge.map(|v| x[v as usize]), triangle.map(|v| x[v as usize])) {
                        all.push(Piercing { edge, triangle });
                    }
                }
            }
            all.sort_unstable();
            assert_eq!(piercings(&surface, &x), all);
            assert!(triangles < 40 || !all.is_empty());
        }
    }
}
