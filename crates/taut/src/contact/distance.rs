//! Distances between primitives (vertices, edges, triangles), with their nearest points. In double precision:
//! the inputs are single precision, and the result decides whether cloth passes through cloth.

use glam::DVec3;

/// The nearest points of two primitives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Square of their distance \[m²\].
    pub squared: f64,
    /// Weights of the four vertices: positive on one side, negative on the other, so that the sum of weights
    /// times positions leads from the second point to the first \[m\].
    pub weights: [f64; 4],
}

/// The nearest points of a vertex (`x[0]`) and a triangle.
#[inline]
pub fn vertex_triangle(x: &[DVec3; 4]) -> Nearest {
    let [p, a, b, c] = *x;
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    let on = |wa: f64, wb: f64, wc: f64| {
        let weights = [1.0, -wa, -wb, -wc];
        Nearest { squared: combined(x, &weights).length_squared(), weights }
    };
    if d1 <= 0.0 && d2 <= 0.0 {
        return on(1.0, 0.0, 0.0);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return on(0.0, 1.0, 0.0);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return on(1.0 - t, t, 0.0);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return on(0.0, 0.0, 1.0);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return on(1.0 - t, 0.0, t);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return on(0.0, 1.0 - t, t);
    }
    let sum = va + vb + vc;
    if sum <= 0.0 || !sum.is_finite() {
        // A triangle without area: the nearest of its edges.
        let edges = [segment(p, a, b), segment(p, b, c), segment(p, a, c)];
        let [s, t, u] = edges;
        let candidates = [on(1.0 - s, s, 0.0), on(0.0, 1.0 - t, t), on(1.0 - u, 0.0, u)];
        return candidates.into_iter().fold(candidates[0], nearer);
    }
    let (wb, wc) = (vb / sum, vc / sum);
    let inside = on(1.0 - wb - wc, wb, wc);
    let (bb, bc, cc) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
    if sum > SLIVER_SINE_SQUARED * bb * cc {
        return inside;
    }
    // Weights in a sliver have a large rounding error: solve again from there; its edges may also be nearer.
    let rest = combined(x, &inside.weights);
    let (rb, rc) = (ab.dot(rest), ac.dot(rest));
    let (wb, wc) = (wb + (cc * rb - bc * rc) / sum, wc + (bb * rc - bc * rb) / sum);
    let (s, t, u) = (segment(p, a, b), segment(p, b, c), segment(p, a, c));
    let mut best = inside;
    if wb >= 0.0 && wc >= 0.0 && wb + wc <= 1.0 {
        best = nearer(best, on(1.0 - wb - wc, wb, wc));
    }
    for edge in [on(1.0 - s, s, 0.0), on(0.0, 1.0 - t, t), on(1.0 - u, 0.0, u)] {
        best = nearer(best, edge);
    }
    best
}

/// Squared sine of the angle below which a triangle is a sliver.
const SLIVER_SINE_SQUARED: f64 = 1e-6;

/// The nearest points of two edges, `x[0]` to `x[1]` and `x[2]` to `x[3]`.
#[inline]
pub fn edge_edge(x: &[DVec3; 4]) -> Nearest {
    let [a, b, c, d] = *x;
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, uv, vv, uw, vw) = (u.dot(u), u.dot(v), v.dot(v), u.dot(w), v.dot(w));
    let at = |s: f64, t: f64| {
        let weights = [1.0 - s, s, t - 1.0, -t];
        Nearest { squared: combined(x, &weights).length_squared(), weights }
    };
    // On the boundary of the parameter square: an end point against the other edge. For parallel edges that
    // is enough; otherwise it is right unless both nearest points are interior. In the interior, the
    // parameter of the first edge has a large rounding error if they are nearly parallel, so the second edge
    // is projected onto that point.
    let ends = [
        at(0.0, segment(a, c, d)),
        at(1.0, segment(b, c, d)),
        at(segment(c, a, b), 0.0),
        at(segment(d, a, b), 1.0),
    ];
    let best = ends.into_iter().fold(ends[0], nearer);
    let determinant = uu * vv - uv * uv;
    if determinant > 0.0 {
        let s = ((uv * vw - vv * uw) / determinant).clamp(0.0, 1.0);
        return nearer(best, at(s, segment(a + u * s, c, d)));
    }
    best
}

/// Parameter, from `a` (0) to `b` (1), of the point of an edge nearest to `p`.
fn segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let edge = b - a;
    let squared = edge.length_squared();
    if squared > 0.0 { (edge.dot(p - a) / squared).clamp(0.0, 1.0) } else { 0.0 }
}

fn nearer(a: Nearest, b: Nearest) -> Nearest {
    if b.squared < a.squared { b } else { a }
}

/// The sum of weights times positions.
#[inline]
pub fn combined(x: &[DVec3; 4], weights: &[f64; 4]) -> DVec3 {
    x[0] * weights[0] + x[1] * weights[1] + x[2] * weights[2] + x[3] * weights[3]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    fn point(random: &mut Random) -> DVec3 {
        DVec3::from_array([(); 3].map(|()| f64::from(random.unit())))
    }

    /// The smallest distance over a fine grid of both primitives.
    fn tried(x: &[DVec3; 4], weights: impl Fn(f64, f64) -> Option<[f64; 4]>) -> f64 {
        let mut best = f64::INFINITY;
        for i in 0..=60 {
            for j in 0..=60 {
                if let Some(weights) = weights(i as f64 / 60.0, j as f64 / 60.0) {
                    best = best.min(combined(x, &weights).length());
                }
            }
        }
        best
    }

    #[test]
    fn nothing_on_a_fine_grid_is_nearer() {
        let mut random = Random::new(3, 0);
        for round in 0..400 {
            let mut x = [(); 4].map(|()| point(&mut random));
            match round % 4 {
                1 => x[3] = x[2],
                2 => x[3] = x[2] + (x[1] - x[0]) * 0.5,
                3 => x[3] = 0.3 * x[1] + 0.7 * x[2],
                _ => {}
            }
            let (vt, ee) = (vertex_triangle(&x), edge_edge(&x));
            let grid = tried(&x, |s, t| (s + t <= 1.0).then_some([1.0, s + t - 1.0, -s, -t]));
            assert!(
                vt.squared.sqrt() <= grid + 1e-12 && vt.squared.sqrt() > grid - 0.04,
                "{round}: {vt:?} {grid}"
            );
            let grid = tried(&x, |s, t| Some([1.0 - s, s, t - 1.0, -t]));
            assert!(
                ee.squared.sqrt() <= grid + 1e-12 && ee.squared.sqrt() > grid - 0.04,
                "{round}: {ee:?} {grid}"
            );
        }
    }

    #[test]
    fn weights_add_up_to_nothing() {
        let mut random = Random::new(5, 0);
        for _ in 0..1000 {
            let x = [(); 4].map(|()| point(&mut random));
            for nearest in [vertex_triangle(&x), edge_edge(&x)] {
                assert!(nearest.weights.iter().sum::<f64>().abs() < 1e-12);
                assert!(nearest.squared.is_finite());
            }
        }
    }
}
