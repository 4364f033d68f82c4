//! Flattens a surface with as little strain as possible: as rigid as possible (Liu et al. 2008), alternating
//! between the best rotation of every triangle and the best positions of the vertices.
//!
//! Chosen edges are drawn to given lengths more strictly than to anything else, so that panels which are sewn
//! together have edges of equal length.

use glam::{DMat2, DVec2, DVec3};

/// Alternations, and steps of conjugate gradients in each.
const TURNS: usize = 60;
const STEPS: usize = 60;

/// An edge of given length.
#[derive(Clone, Copy, Debug)]
pub struct Rod {
    /// Its ends.
    pub ends: [u32; 2],
    /// Its length \[m\].
    pub length: f64,
    /// Its weight; sides of triangles weigh about 1.
    pub weight: f64,
}

/// Planar positions of the vertices of a surface in space, starting at `guess`, a layout without inverted
/// triangles. Edges `rods` are drawn to their lengths.
pub fn flatten(surface: &[DVec3], triangles: &[[u32; 3]], rods: &[Rod], guess: Vec<DVec2>) -> Vec<DVec2> {
    // Each triangle flattened by itself, and the cotangents of its angles: weights of the opposite sides.
    let tables: Vec<([DVec2; 3], [f64; 3])> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| surface[v as usize]);
            let along = (b - a).normalize();
            let up = (c - a).reject_from_normalized(along);
            let flat =
                [DVec2::ZERO, DVec2::new((b - a).length(), 0.0), DVec2::new((c - a).dot(along), up.length())];
            let cotangent = |k: usize| {
                let (p, q) = (flat[(k + 1) % 3] - flat[k], flat[(k + 2) % 3] - flat[k]);
                (p.dot(q) / p.perp_dot(q)).max(0.02)
            };
            (flat, [cotangent(0), cotangent(1), cotangent(2)])
        })
        .collect();
    let mut places = guess;
    let mut diagonal = vec![0.0; places.len()];
    for (t, (_, weights)) in triangles.iter().zip(&tables) {
        for k in 0..3 {
            diagonal[t[(k + 1) % 3] as usize] += weights[k];
            diagonal[t[(k + 2) % 3] as usize] += weights[k];
        }
    }
    for rod in rods {
        rod.ends.iter().for_each(|&v| diagonal[v as usize] += rod.weight);
    }
    let product = |x: &[DVec2]| {
        let mut y = vec![DVec2::ZERO; x.len()];
        for (t, (_, weights)) in triangles.iter().zip(&tables) {
            for k in 0..3 {
                let (i, j) = (t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize);
                let pull = (x[i] - x[j]) * weights[k];
                y[i] += pull;
                y[j] -= pull;
            }
        }
        for rod in rods {
            let [i, j] = rod.ends.map(|v| v as usize);
            let pull = (x[i] - x[j]) * rod.weight;
            y[i] += pull;
            y[j] -= pull;
        }
        y
    };
    for _ in 0..TURNS {
        let mut wanted = vec![DVec2::ZERO; places.len()];
        for (t, (flat, weights)) in triangles.iter().zip(&tables) {
            // The rotation that fits the sides best: its angle follows from sums of products.
            let (mut cos, mut sin) = (0.0, 0.0);
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                let (rest, now) = (flat[i] - flat[j], places[t[i] as usize] - places[t[j] as usize]);
                cos += weights[k] * rest.dot(now);
                sin += weights[k] * rest.perp_dot(now);
            }
            let turn = DVec2::new(cos, sin).normalize_or(DVec2::X);
            let rotation = DMat2::from_cols(turn, turn.perp());
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                let pull = rotation * (flat[i] - flat[j]) * weights[k];
                wanted[t[i] as usize] += pull;
                wanted[t[j] as usize] -= pull;
            }
        }
        for rod in rods {
            let [i, j] = rod.ends.map(|v| v as usize);
            let pull = (places[i] - places[j]).normalize_or_zero() * (rod.length * rod.weight);
            wanted[i] += pull;
            wanted[j] -= pull;
        }
        solve(&mut places, &wanted, &diagonal, product);
    }
    places
}

/// Conjugate gradients for both coordinates, starting at `x`.
fn solve(x: &mut [DVec2], wanted: &[DVec2], diagonal: &[f64], product: impl Fn(&[DVec2]) -> Vec<DVec2>) {
    let mut r: Vec<DVec2> = product(x).iter().zip(wanted).map(|(y, b)| *b - *y).collect();
    let scaled = |r: &[DVec2]| -> Vec<DVec2> { r.iter().zip(diagonal).map(|(r, d)| *r / *d).collect() };
    // One sum per coordinate.
    let dot = |a: &[DVec2], b: &[DVec2]| a.iter().zip(b).fold(DVec2::ZERO, |sum, (p, q)| sum + *p * *q);
    let divide = |a: DVec2, b: DVec2| {
        let part = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        DVec2::new(part(a.x, b.x), part(a.y, b.y))
    };
    let mut z = scaled(&r);
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    let goal = rz * 1e-10;
    for _ in 0..STEPS {
        let q = product(&p);
        let step = divide(rz, dot(&p, &q));
        for v in 0..x.len() {
            x[v] += step * p[v];
            r[v] -= step * q[v];
        }
        z = scaled(&r);
        let before = rz;
        rz = dot(&r, &z);
        if rz.x <= goal.x && rz.y <= goal.y {
            break;
        }
        let keep = divide(rz, before);
        for v in 0..p.len() {
            p[v] = z[v] + keep * p[v];
        }
    }
}
