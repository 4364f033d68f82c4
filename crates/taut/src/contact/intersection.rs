//! Whether a surface passes through itself: which edges pierce which triangles, decided exactly.
//!
//! An edge pierces a triangle if its ends are on different sides of the triangle's plane, and the line through it passes all three sides
//! of the triangle on the same side. Both are signs of determinants, which are computed exactly (adaptive precision), so that
//! the answer is right to the last bit. An end that lies on the triangle pierces it; parts
//! that lie in one plane do not.

use robust::{Coord3D, orient3d};

use super::{
    surface::Surface,
    tree::{Swept, Tree},
};

/// An edge that pierces a triangle, by their vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piercing {
    /// The edge.
    pub edge: [u32; 2],
    /// The triangle.
    pub triangle: [u32; 3],
}

/// All edges of `surface` that pierce a triangle which they share no vertex with and are not sewn to; positions `x` \[m\]. By edge.
pub fn piercings(surface: &Surface, x: &[[f32; 3]]) -> Vec<Piercing> {
    let point = |v: u32| {
        let [a, b, c] = x[v as usize];
        [a, b, c, 0.0]
    };
    let about =
        |vertices: &[u32]| vertices.iter().fold(Swept::EMPTY, |part, &v| part.with(&point(v), &point(v)));
    let boxes: Vec<Swept> = surface.triangles.iter().map(|t| about(t)).collect();
    let tree = Tree::new(&boxes);
    let mut found = Vec::new();
    for &edge in &surface.edges {
        let before = found.len();
        tree.search(&about(&edge), |t| {
            let triangle = surface.triangles[t as usize];
            let (ends, corners) = (surface.identities(edge), surface.identities(triangle));
            if !corners.contains(&ends[0])
                && !corners.contains(&ends[1])
                && pierces(edge.map(|v| x[v as usize]), triangle.map(|v| x[v as usize]))
            {
                found.push(Piercing { edge, triangle });
            }
        });
        found[before..].sort_unstable();
    }
    found
}

/// Whether the edge pierces the triangle.
pub fn pierces(edge: [[f32; 3]; 2], triangle: [[f32; 3]; 3]) -> bool {
    let coordinate = |[x, y, z]: [f32; 3]| Coord3D { x: f64::from(x), y: f64::from(y), z: f64::from(z) };
    let [p, q] = edge.map(coordinate);
    let [a, b, c] = triangle.map(coordinate);
    let (above, below) = (orient3d(a, b, c, p), orient3d(a, b, c, q));
    let one_side = above > 0.0 && below > 0.0 || above < 0.0 && below < 0.0;
    if one_side || above == 0.0 && below == 0.0 {
        return false;
    }
    let sides = [orient3d(p, q, a, b), orient3d(p, q, b, c), orient3d(p, q, c, a)];
    sides.iter().all(|&side| side >= 0.0) || sides.iter().all(|&side| side <= 0.0)
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
        assert!(!pierces([[-1.0, 0.0, 0.2], [1.0, 0.0, 0.2]], TRIANGLE), "within its plane");
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
            assert_eq!(piercings(&surface, &x), all);
            assert!(triangles < 40 || !all.is_empty());
        }
    }
}
