//! A fixed surface on which points are tracked by walking.
//!
//! The closest point of a surface, searched in space, jumps between layers that lie close to each other. Here
//! the search starts at a triangle that is known to be near *on the surface*, and steps to a neighbour only
//! while that is closer: it ends in the nearest local minimum and never leaves the component or crosses to
//! another layer. Its cost is the number of triangles crossed.

use glam::DVec3;

use super::halfedge::{HalfEdges, NONE};

/// Half-edges with positions.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub half: HalfEdges,
    /// \[m\], relative to the mesh's centre.
    pub positions: Vec<DVec3>,
}

/// A point of a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub triangle: u32,
    /// Barycentric weights of the triangle's corners, each within \[0, 1\].
    pub weights: [f64; 3],
    /// \[m\]
    pub point: DVec3,
    /// Squared distance to the query point \[m²\].
    pub distance2: f64,
}

impl Surface {
    /// Positions of triangle `t`'s corners \[m\].
    pub fn points(&self, t: u32) -> [DVec3; 3] {
        self.half.corners(t).map(|v| self.positions[v as usize])
    }

    /// Twice the area times the normal of triangle `t` \[m²\].
    pub fn normal(&self, t: u32) -> DVec3 {
        cross(self.points(t))
    }

    /// Closest point of triangle `t` to `p`.
    pub fn hit(&self, t: u32, p: DVec3) -> Hit {
        let corners = self.points(t);
        let weights = closest_weights(corners, p);
        let point = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
        Hit { triangle: t, weights, point, distance2: point.distance_squared(p) }
    }

    /// Walks from triangle `start` to a local minimum of the distance to `p`.
    ///
    /// Triangles that face away from `facing` are not entered; a zero vector allows all.
    pub fn walk(&self, start: u32, p: DVec3, facing: DVec3) -> Hit {
        let mut best = self.hit(start, p);
        loop {
            let from = best;
            let mut consider = |h: u32| {
                if h != NONE && h / 3 != from.triangle {
                    let hit = self.hit(h / 3, p);
                    if hit.distance2 < best.distance2 * (1.0 - 1e-12) && self.faces(h / 3, facing) {
                        best = hit;
                    }
                }
            };
            let h = 3 * from.triangle;
            match from.weights.map(|w| w == 0.0) {
                [false, false, false] => {}
                // One weight is zero: the point lies on the edge opposite to that corner.
                [true, false, false] => consider(self.half.twin[h as usize + 1]),
                [false, true, false] => consider(self.half.twin[h as usize + 2]),
                [false, false, true] => consider(self.half.twin[h as usize]),
                zero => {
                    let corner = zero.iter().position(|&zero| !zero).unwrap_or(0);
                    self.half.ring(self.half.tail[h as usize + corner]).for_each(&mut consider);
                }
            }
            if best.triangle == from.triangle {
                return best;
            }
        }
    }

    /// Whether triangle `t` does not face away from `facing`.
    pub fn faces(&self, t: u32, facing: DVec3) -> bool {
        facing == DVec3::ZERO || self.normal(t).dot(facing) > 0.0
    }

    /// Walks along the boundary from its half-edge `start` to a local minimum of the distance to `p`. Returns
    /// the half-edge and the point on it \[m\].
    pub fn walk_boundary(&self, start: u32, p: DVec3) -> (u32, DVec3) {
        let mut at = start;
        let mut best = self.on_edge(at, p);
        loop {
            let (t, ..) = best;
            let other = match t {
                0.0 => self.half.boundary_prev(at),
                1.0 => self.half.boundary_next(at),
                _ => return (at, best.1),
            };
            if other == NONE {
                return (at, best.1);
            }
            let found = self.on_edge(other, p);
            if found.2 >= best.2 * (1.0 - 1e-12) {
                return (at, best.1);
            }
            (at, best) = (other, found);
        }
    }

    /// Closest point of half-edge `h` to `p`: fraction of its length, point \[m\], squared distance \[m²\].
    fn on_edge(&self, h: u32, p: DVec3) -> (f64, DVec3, f64) {
        let a = self.positions[self.half.tail[h as usize] as usize];
        let along = self.positions[self.half.head(h) as usize] - a;
        let length2 = along.length_squared();
        let t = if length2 > 0.0 { ((p - a).dot(along) / length2).clamp(0.0, 1.0) } else { 0.0 };
        let point = a + along * t;
        (t, point, point.distance_squared(p))
    }

    /// Sum of the normals around `v`, and of their lengths \[m²\].
    pub fn normals_around(&self, v: u32) -> (DVec3, f64) {
        self.half.ring(v).fold((DVec3::ZERO, 0.0), |(sum, weight), h| {
            let n = self.normal(h / 3);
            (sum + n, weight + n.length())
        })
    }
}

/// Twice the area times the normal \[m²\].
pub(super) fn cross([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// Quality of a triangle: 1 if equilateral, 0 without area (4 √3 area over the sum of squared edges).
pub(super) fn quality([a, b, c]: [DVec3; 3]) -> f64 {
    let sum = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    if sum > 0.0 { 2.0 * 3f64.sqrt() * cross([a, b, c]).length() / sum } else { 0.0 }
}

/// Barycentric weights of the closest point of a triangle (Ericson 2005, 5.1.5); zeros are exact.
fn closest_weights([a, b, c]: [DVec3; 3], p: DVec3) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    if sum > 0.0 { [va / sum, vb / sum, vc / sum] } else { [1.0, 0.0, 0.0] }
}
