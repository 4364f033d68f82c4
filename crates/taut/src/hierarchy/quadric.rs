//! Quadric errors (Garland and Heckbert 1997): mean squared distance to the planes of the triangles that a
//! vertex represents. Weighted by area and normalized by it, so that the error is a squared length that can
//! be added to the squared length of an edge.

use glam::DVec3;

/// Sum of squared distances to planes, and of their weights.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quadric {
    /// Upper half of Σ w n nᵀ: xx, xy, xz, yy, yz, zz \[m²\].
    square: [f64; 6],
    /// Σ w d n \[m³\].
    linear: DVec3,
    /// Σ w d² \[m⁴\].
    constant: f64,
    /// Σ w \[m²\].
    weight: f64,
}

impl Quadric {
    /// The plane of a triangle, weighted by its area.
    pub fn of_triangle([a, b, c]: [DVec3; 3]) -> Self {
        let cross = (b - a).cross(c - a);
        let n = cross.normalize_or_zero();
        let (weight, d) = (0.5 * cross.length(), -n.dot(a));
        Self {
            square: [n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z].map(|s| weight * s),
            linear: weight * d * n,
            constant: weight * d * d,
            weight,
        }
    }

    /// The sum of both.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            square: std::array::from_fn(|k| self.square[k] + other.square[k]),
            linear: self.linear + other.linear,
            constant: self.constant + other.constant,
            weight: self.weight + other.weight,
        }
    }

    /// Mean squared distance of `p` to the planes \[m²\]; 0 without planes.
    pub fn error(&self, p: DVec3) -> f64 {
        if self.weight <= 0.0 {
            return 0.0;
        }
        let [xx, xy, xz, yy, yz, zz] = self.square;
        let square = xx * p.x * p.x
            + yy * p.y * p.y
            + zz * p.z * p.z
            + 2.0 * (xy * p.x * p.y + xz * p.x * p.z + yz * p.y * p.z);
        ((square + 2.0 * self.linear.dot(p) + self.constant) / self.weight).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_the_mean_squared_distance_to_both_planes() {
        let floor = Quadric::of_triangle([DVec3::ZERO, DVec3::Z, DVec3::X]);
        let wall = Quadric::of_triangle([DVec3::ZERO, DVec3::Y, DVec3::Z]);
        let p = DVec3::new(3.0, 4.0, 5.0);
        assert!((floor.error(p) - 16.0).abs() < 1e-12);
        assert!((floor.plus(&wall).error(p) - 12.5).abs() < 1e-12);
    }
}
