//! Bend limits over a mesh as published (W4): triangle by triangle in random order, on one thread.

use crate::element::hinge::NO_ANGLE;
use crate::{
    kernel::{bend_paper::limit_bend_paper, lanes::Quad, random::Random, real::add},
    mesh::adjacency::Adjacency,
};

/// A triangle with limits on the angles over its edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BendTriangle {
    /// Its vertices.
    pub vertices: [u32; 3],
    /// The vertices beyond the edges opposite to them; where there is none, the vertex itself.
    pub wings: [u32; 3],
    /// Allowed angles over those edges \[rad\], smallest and largest; ±[`NO_ANGLE`] if there is no limit.
    pub ranges: [[f32; 2]; 3],
}

/// Allowed angles \[rad\] over the edges opposite to each corner of each triangle, from those of the hinges
/// of `adjacency`.
pub fn corner_angles(
    triangles: &[[u32; 3]],
    adjacency: &Adjacency,
    angles: &[[f32; 2]],
) -> Vec<[[f32; 2]; 3]> {
    let mut all = vec![[[-NO_ANGLE, NO_ANGLE]; 3]; triangles.len()];
    for ((hinge, pair), range) in adjacency.hinges.iter().zip(&adjacency.hinge_triangles).zip(angles) {
        for (t, own) in [(pair[0], hinge[2]), (pair[1], hinge[3])] {
            if let Some(k) = triangles[t as usize].iter().position(|&v| v == own) {
                all[t as usize][k] = *range;
            }
        }
    }
    all
}

/// The triangles of a mesh that have a limited angle, from the [`corner_angles`] of all of them.
pub fn bend_triangles(triangles: &[[u32; 3]], angles: &[[[f32; 2]; 3]]) -> Vec<BendTriangle> {
    let adjacency = Adjacency::new(triangles);
    let mut all: Vec<BendTriangle> = triangles
        .iter()
        .zip(angles)
        .map(|(&vertices, &ranges)| BendTriangle { vertices, wings: vertices, ranges })
        .collect();
    for (hinge, pair) in adjacency.hinges.iter().zip(&adjacency.hinge_triangles) {
        for (t, own, wing) in [(pair[0], hinge[2], hinge[3]), (pair[1], hinge[3], hinge[2])] {
            let BendTriangle { vertices, wings, .. } = &mut all[t as usize];
            if let Some(k) = vertices.iter().position(|&v| v == own) {
                wings[k] = wing;
            }
        }
    }
    let unlimited = |range: &[f32; 2]| range[0] <= -std::f32::consts::PI && range[1] >= std::f32::consts::PI;
    all.retain(|triangle| !triangle.ranges.iter().all(unlimited));
    all
}

/// One iteration over all triangles. `order` is scratch. Gives the largest excess met \[rad\].
pub fn iterate(
    triangles: &[BendTriangle],
    x: &mut [Quad],
    relaxation: f32,
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    order.clear();
    order.extend(0..triangles.len() as u32);
    random.shuffle(order);
    let mut worst = 0.0f32;
    for &t in order.iter() {
        let BendTriangle { vertices: [a, b, c], wings: [d, e, f], ranges } = triangles[t as usize];
        let quads = [a, b, c, d, e, f].map(|v| x[v as usize]);
        let p = quads.map(|q| [q[0], q[1], q[2]]);
        let (moves, excess) = limit_bend_paper(&p, quads.map(|q| q[3]), ranges, relaxation);
        worst = worst.max(excess);
        if excess > 0.0 {
            for (k, v) in [a, b, c].into_iter().enumerate() {
                x[v as usize][..3].copy_from_slice(&add(p[k], moves[k]));
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;

    fn excess(triangles: &[BendTriangle], x: &[Quad]) -> f32 {
        triangles.iter().fold(0.0, |worst, t| {
            let [[a, b, c], [d, e, f]] = [t.vertices, t.wings];
            let p = [a, b, c, d, e, f].map(|v| [0, 1, 2].map(|k| x[v as usize][k]));
            worst.max(limit_bend_paper(&p, [1.0; 6], t.ranges, 1.0).1)
        })
    }

    /// A strip folded in zigzag is unfolded to its limit, and its centre stays.
    #[test]
    fn a_folded_sheet_comes_within_its_limits_and_stays_in_place() {
        let mesh = generate::grid([1.0, 1.0], [8, 8], generate::Diagonals::Alternating, 0);
        let adjacency = Adjacency::new(&mesh.triangles);
        let angles = vec![[-0.3, 0.3]; adjacency.hinges.len()];
        let triangles = bend_triangles(&mesh.triangles, &corner_angles(&mesh.triangles, &adjacency, &angles));
        assert_eq!(triangles.len(), mesh.triangles.len());
        let mut x: Vec<Quad> =
            mesh.positions.iter().map(|p| [p.x, 0.12 * (9.0 * p.x).sin(), p.z, 1.0]).collect();
        let center = |x: &[Quad], k: usize| x.iter().map(|q| f64::from(q[k])).sum::<f64>();
        let before = [0, 1, 2].map(|k| center(&x, k));
        let folded = excess(&triangles, &x);
        assert!(folded > 0.5, "{folded}");
        let mut random = Random::new(1, 0);
        for _ in 0..200 {
            iterate(&triangles, &mut x, 1.0, &mut random, &mut Vec::new());
        }
        let left = excess(&triangles, &x);
        assert!(left < 0.02, "{left}");
        for k in 0..3 {
            assert!((center(&x, k) - before[k]).abs() < 1e-3);
        }
    }

    #[test]
    fn triangles_without_limits_are_left_out() {
        let mesh = generate::grid([1.0, 1.0], [4, 4], generate::Diagonals::Alternating, 0);
        let adjacency = Adjacency::new(&mesh.triangles);
        let mut angles = vec![[-NO_ANGLE, NO_ANGLE]; adjacency.hinges.len()];
        let limited = |angles: &[[f32; 2]]| {
            bend_triangles(&mesh.triangles, &corner_angles(&mesh.triangles, &adjacency, angles))
        };
        assert!(limited(&angles).is_empty());
        angles[3] = [-0.1, 0.2];
        let limited = limited(&angles);
        assert_eq!(limited.len(), 2);
        for triangle in limited {
            let k = triangle.ranges.iter().position(|r| *r == [-0.1, 0.2]).unwrap();
            assert!(triangle.wings[k] != triangle.vertices[k]);
        }
    }
}
