//! Improves the shapes of tetrahedra, in the manner of Stellar (Klingner and Shewchuk 2007): edges are
//! removed, faces swapped and inner vertices moved, each only if that makes the worst tetrahedron it touches
//! better. Flat tetrahedra at the boundary are removed.
//!
//! Vertices of the surface keep their places. Stellar also inserts vertices and contracts edges; what those
//! would gain here is little, since the points are evenly spaced to begin with.

use glam::DVec3;

use super::complex::Complex;
use crate::mesh::tetrahedra::{EDGES, FACES};

/// Rounds of swaps and moves.
const ROUNDS: usize = 8;
/// Tetrahedra below this quality are worth swaps.
const SWAP_BELOW: f64 = 0.6;
/// Tetrahedra at the boundary below this quality are removed where that keeps the boundary a manifold.
const PEEL_BELOW: f64 = 0.15;
/// Most tetrahedra around an edge that is removed.
const MAX_RING: usize = 8;
/// Least gain of quality that is a gain: less is rounding, and would go on for ever.
const LEAST_GAIN: f64 = 1e-6;

/// Improves `complex`; vertices from `surface` on are inside and may move.
pub(super) fn improve(complex: &mut Complex, surface: usize) {
    for _ in 0..ROUNDS {
        let mut changed = swap_all(complex);
        changed |= peel_all(complex);
        for v in surface..complex.positions.len() {
            changed |= smooth(complex, v as u32);
        }
        if !changed {
            break;
        }
    }
    peel_all(complex);
}

/// Swaps around bad tetrahedra. Returns whether there were any.
fn swap_all(complex: &mut Complex) -> bool {
    let mut changed = false;
    // New ones are appended, and are looked at in the same round.
    let mut t = 0;
    while t < complex.tetrahedra.len() {
        if complex.alive[t] && complex.quality(t as u32) < SWAP_BELOW {
            changed |= swap(complex, t as u32);
        }
        t += 1;
    }
    changed
}

/// Removes an edge of `t`, or else swaps one of its faces.
fn swap(complex: &mut Complex, t: u32) -> bool {
    let corners = complex.tetrahedra[t as usize];
    EDGES.iter().any(|[i, j]| remove_edge(complex, corners[*i], corners[*j]))
        || (0..4).any(|k| swap_face(complex, t, k))
}

/// Replaces the tetrahedra around an inner edge by two for each triangle of its ring: the triangulation with
/// the best worst tetrahedron (Klincsek 1980).
fn remove_edge(complex: &mut Complex, a: u32, b: u32) -> bool {
    let about = complex.about_edge(a, b);
    if !(3..=MAX_RING).contains(&about.len()) {
        return false;
    }
    let Some(ring) = complex.ring(a, b, &about) else { return false };
    let n = ring.len();
    let pair =
        |i: usize, j: usize, k: usize| [[ring[i], ring[j], ring[k], b], [ring[i], ring[k], ring[j], a]];
    // best[i][j]: the worst quality over the part of the ring from i to j, and the third corner at that side.
    let mut best = [[(f64::INFINITY, 0); MAX_RING]; MAX_RING];
    for length in 2..n {
        for i in 0..n - length {
            let j = i + length;
            best[i][j] = (f64::NEG_INFINITY, 0);
            for k in i + 1..j {
                let [above, below] = pair(i, k, j).map(|corners| complex.quality_of(corners));
                let worst = above.min(below).min(best[i][k].0).min(best[k][j].0);
                if worst > best[i][j].0 {
                    best[i][j] = (worst, k);
                }
            }
        }
    }
    if best[0][n - 1].0 <= complex.least(&about) + LEAST_GAIN {
        return false;
    }
    let (mut new, mut parts) = (Vec::with_capacity(2 * n), vec![(0, n - 1)]);
    while let Some((i, j)) = parts.pop() {
        if j - i >= 2 {
            let k = best[i][j].1;
            new.extend(pair(i, k, j));
            parts.extend([(i, k), (k, j)]);
        }
    }
    complex.replace(&about, &new);
    true
}

/// Replaces the two tetrahedra at a face by three around the edge between their tips.
fn swap_face(complex: &mut Complex, t: u32, k: usize) -> bool {
    let Some(other) = complex.across(t, k) else { return false };
    let corners = complex.tetrahedra[t as usize];
    let face = FACES[k].map(|k| corners[k]);
    let from = corners[k];
    let Some(&to) = complex.tetrahedra[other as usize].iter().find(|v| !face.contains(v)) else {
        return false;
    };
    let [a, b, c] = face;
    let new = [[from, to, a, b], [from, to, b, c], [from, to, c, a]];
    let worst = new.iter().map(|&corners| complex.quality_of(corners)).fold(f64::INFINITY, f64::min);
    if worst <= complex.least(&[t, other]) + LEAST_GAIN {
        return false;
    }
    complex.replace(&[t, other], &new);
    true
}

/// Removes flat tetrahedra at the boundary. Returns whether there were any.
fn peel_all(complex: &mut Complex) -> bool {
    let mut changed = false;
    for t in 0..complex.tetrahedra.len() as u32 {
        if complex.alive[t as usize] && complex.quality(t) < PEEL_BELOW && may_peel(complex, t) {
            complex.remove(t);
            changed = true;
        }
    }
    changed
}

/// Whether the boundary stays a manifold without `t`.
fn may_peel(complex: &Complex, t: u32) -> bool {
    let corners = complex.tetrahedra[t as usize];
    let bare: Vec<usize> = complex.bare(t).collect();
    match bare[..] {
        [k] => !complex.on_boundary(corners[k]),
        [k, l] => {
            // The edge between the two faces goes; the one opposite comes to the boundary, once.
            let [a, b] = [corners[k], corners[l]];
            let gone: Vec<u32> = (0..4).filter(|i| *i != k && *i != l).map(|i| corners[i]).collect();
            let about = complex.about_edge(a, b);
            complex.about_edge(gone[0], gone[1]).len() == 1 && complex.ring(a, b, &about).is_some()
        }
        // A tip of which nothing else is left, or a tetrahedron alone.
        [_, _, _] => (0..4).filter(|k| !bare.contains(k)).all(|k| complex.around(corners[k]).len() == 1),
        _ => bare.len() == 4,
    }
}

/// Moves an inner vertex to where the worst tetrahedron around it is best, of a few places. Returns whether
/// it moved.
fn smooth(complex: &mut Complex, v: u32) -> bool {
    let around = complex.around(v).to_vec();
    if around.is_empty() || complex.on_boundary(v) {
        return false;
    }
    let at = complex.positions[v as usize];
    let before = complex.least(&around);
    let mut best = (before + LEAST_GAIN, at);
    for target in targets(complex, v, &around) {
        for part in [1.0, 0.5, 0.2] {
            complex.positions[v as usize] = at.lerp(target, part);
            let worst = complex.least(&around);
            if worst > best.0 {
                best = (worst, complex.positions[v as usize]);
            }
        }
    }
    complex.positions[v as usize] = best.1;
    best.1 != at
}

/// Where a vertex might be better: the mean of its neighbours, that of its tetrahedra by volume, and away
/// from the opposite face of the worst.
fn targets(complex: &Complex, v: u32, around: &[u32]) -> [DVec3; 3] {
    let at = complex.positions[v as usize];
    let (mut mean, mut centre, mut volumes) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    let mut worst = (f64::INFINITY, DVec3::ZERO);
    for &t in around {
        let corners = complex.tetrahedra[t as usize];
        let [a, b, c, d] = corners.map(|v| complex.positions[v as usize]);
        let volume = (b - a).cross(c - a).dot(d - a).abs();
        let middle = 0.25 * (a + b + c + d);
        (centre, volumes) = (centre + volume * middle, volumes + volume);
        mean += (4.0 * middle - at) / 3.0;
        let quality = complex.quality(t);
        if quality < worst.0
            && let Some(k) = corners.iter().position(|&corner| corner == v)
        {
            let [a, b, c] = FACES[k].map(|k| complex.positions[corners[k] as usize]);
            // The face looks outwards, away from `v`; as far as its edges are long.
            let normal = -(b - a).cross(c - a);
            worst = (quality, normal.normalize_or_zero() * normal.length().sqrt());
        }
    }
    let centre = if volumes > 0.0 { centre / volumes } else { at };
    [mean / around.len() as f64, centre, at + 0.5 * worst.1]
}
