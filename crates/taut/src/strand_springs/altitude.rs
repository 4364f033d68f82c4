//! Altitudes of tetrahedra: of the seven, the shortest.
//!
//! A tetrahedron has four altitudes from a point to the opposite face and three between opposite edges. Each
//! is 6V/|m| with the signed volume V and m = u × v, the vectors of the face or of the two edges (the
//! lecture's formula). So the shortest is that of the longest m, and it is the one whose feet lie inside the
//! face or the edges: its weights are not negative, so that forces stay bounded.
//!
//! With c_j = ∂(6V)/∂x_j, which is the area vector of the face opposite of j, the weight of j is
//! c_j·m / |m|² for every one of the seven: the projected area of that face, by the whole. That is 1 for the
//! point and −1 times the barycentric coordinates for its face, and likewise for edges. It does not depend on
//! the sign of m. One formula thus serves all seven, and lanes need no branches.

use crate::kernel::real::{Real, V3, add, cross, dot, scale, select3};

/// An altitude of a tetrahedron.
#[derive(Clone, Copy, Debug)]
pub(super) struct Altitude<R> {
    /// Its length, with the sign of the volume \[m\].
    pub height: R,
    /// How `height` grows as each of the four points moves along `normal`: at most 1 each way; they sum to 0.
    pub weights: [R; 4],
    /// Its direction, a unit vector; zero if all points are on a line.
    pub normal: V3<R>,
}

/// The shortest altitude of the tetrahedron of the points 0, `u`, `v`, `w` \[m\].
#[inline(always)]
pub(super) fn shortest<R: Real>(u: V3<R>, v: V3<R>, w: V3<R>) -> Altitude<R> {
    let (c1, c2, c3) = (cross(v, w), cross(w, u), cross(u, v));
    let (s12, s23, s13) = (add(c1, c2), add(c2, c3), add(c1, c3));
    let c0 = scale(add(s12, c3), R::splat(-1.0));
    // Faces opposite of the points, then the pairs of edges (01, 23), (02, 13), (03, 12).
    let mut longest = c0;
    let mut square = dot(c0, c0);
    for m in [c1, c2, c3, s23, s13, s12] {
        let other = dot(m, m);
        let longer = square.lt(other);
        longest = select3::<R>(longer, m, longest);
        square = R::select(longer, other, square);
    }
    let square = square.max(R::splat(TINY));
    let normal = scale(longest, R::splat(1.0) / square.sqrt());
    let share = scale(longest, R::splat(1.0) / square);
    let weights = [dot(c0, share), dot(c1, share), dot(c2, share), dot(c3, share)];
    // 6V = u·c1 along the altitude; by weights, since u·c1 loses digits in flat tetrahedra.
    let heights = [dot(u, normal), dot(v, normal), dot(w, normal)];
    let height = heights[0] * weights[1] + heights[1] * weights[2] + heights[2] * weights[3];
    Altitude { height, weights, normal }
}

/// Square of an area that counts as none \[m⁴\].
const TINY: f32 = 1e-32;

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use proptest::prelude::*;

    use super::*;

    /// All seven altitudes, each from its own construction.
    fn all(p: [DVec3; 4]) -> Vec<f64> {
        let sign = (p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])).signum();
        let faces = (0..4).map(|k| {
            let [a, b, c] = [1, 2, 3].map(|d| p[(k + d) % 4]);
            (p[k] - a).dot((b - a).cross(c - a).normalize()).abs() * sign
        });
        let edges = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]]
            .map(|[a, b, c, d]| (p[c] - p[a]).dot((p[b] - p[a]).cross(p[d] - p[c]).normalize()).abs() * sign);
        faces.chain(edges).collect()
    }

    proptest! {
        #[test]
        fn the_shortest_of_seven_is_found_and_has_its_feet_inside(
            x in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0)),
        ) {
            let p = x.map(DVec3::from_array);
            let [u, v, w] = [1, 2, 3].map(|k| (p[k] - p[0]).to_array());
            prop_assume!((p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])).abs() > 1e-4);
            let found = shortest(u, v, w);
            let least = all(p).into_iter().fold(f64::MAX, |a, b| if b.abs() < a.abs() { b } else { a });
            prop_assert!((found.height - least).abs() < 1e-10, "{} and {least}", found.height);
            prop_assert!(found.weights.iter().sum::<f64>().abs() < 1e-9);
            prop_assert!(found.weights.iter().all(|w| w.abs() < 1.0 + 1e-9));
            // Both feet are inside: what pulls one way weighs 1 in all.
            let along: f64 = found.weights.iter().filter(|w| **w > 0.0).sum();
            prop_assert!((along - 1.0).abs() < 1e-8, "{:?}", found.weights);
            // The feet lie on one line along the normal: forces have no torque.
            let torque: DVec3 = (0..4)
                .map(|k| p[k].cross(DVec3::from_array(found.normal) * found.weights[k]))
                .sum();
            prop_assert!(torque.length() < 1e-8, "{torque}");
        }

        #[test]
        fn weights_are_the_gradient_of_the_altitude(
            x in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0)),
            d in prop::array::uniform4(prop::array::uniform3(-1.0f64..1.0)),
        ) {
            let p = x.map(DVec3::from_array);
            prop_assume!((p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])).abs() > 1e-2);
            let at = |s: f64| {
                let q: [DVec3; 4] = std::array::from_fn(|k| p[k] + s * DVec3::from_array(d[k]));
                let [u, v, w] = [1, 2, 3].map(|k| (q[k] - q[0]).to_array());
                shortest(u, v, w)
            };
            let (here, [before, after]) = (at(0.0), [-1e-6, 1e-6].map(at));
            // Not where another altitude becomes the shortest.
            prop_assume!((before.normal[0] - after.normal[0]).abs() < 1e-3);
            let slope = (after.height - before.height) / 2e-6;
            let normal = DVec3::from_array(here.normal);
            let rate: f64 = (0..4).map(|k| here.weights[k] * normal.dot(DVec3::from_array(d[k]))).sum();
            prop_assert!((slope - rate).abs() < 1e-3 * (1.0 + rate.abs()), "{slope} and {rate}");
        }
    }

    #[test]
    fn points_on_a_line_give_no_altitude_and_no_nan() {
        let u = [1.0f32, 0.0, 0.0];
        let flat = shortest(u, scale(u, 2.0), scale(u, 3.0));
        assert_eq!((flat.height, flat.weights, flat.normal), (0.0, [0.0; 4], [0.0; 3]));
    }
}
