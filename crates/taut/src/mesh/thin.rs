//! A body made thin: every part shrunk towards its own middle, limbs as well as the trunk.
//!
//! Panels of a pattern are flat and stand off the body, and the straight way from one side of a seam to the
//! other often leads through a shoulder or an arm. Around a thin body seams close without meeting it; it
//! grows to its own shape afterwards, inside the sewn garment, and lifts it into place as an air bag would.
//!
//! How far a vertex may move inwards is the radius of the largest ball that touches the surface there from
//! inside, found from the points that face another way: |q − p|² / (2 n·(p − q)). Radii are reduced to the
//! least around and smoothed, since neighbours that move by different lengths would fold the surface.
//! Shrinking along normals by one length, the same everywhere, turned arms inside out before shoulders were
//! low enough; a flow by mean curvature ends arms first as well.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::adjacency::{Adjacency, Neighbors};

/// Cells in the size of the mesh of the grid that keeps one vertex a cell as a sample of the surface.
const SAMPLES: f64 = 115.0;
/// Cosine of the angle between normals past which a sample is on another side.
const OTHER_SIDE: f64 = 0.3;
/// Largest radius, in sizes of the mesh: a belly must not be shrunk to the spine.
const LARGEST_RADIUS: f64 = 0.06;
/// Passes of smoothing of normals and of radii, and rings over which the least radius is taken; for meshes
/// with edges of [`USUAL_EDGE`].
const NORMAL_PASSES: f64 = 5.0;
const RADIUS_PASSES: f64 = 15.0;
const RADIUS_RINGS: f64 = 4.0;
/// Mean edge in sizes of the mesh that the passes are meant for; finer meshes get more.
const USUAL_EDGE: f64 = 0.006;
/// Most passes.
const MOST_PASSES: f64 = 400.0;

/// Positions of the vertices of a closed surface with every part shrunk by `share` of its radius, 0 to 1.
pub fn thin(triangles: &[[u32; 3]], positions: &[Vec3], share: f64) -> Vec<Vec3> {
    // Files have several vertices at one position, along texture seams for instance: the first moves all.
    let mut first: HashMap<[u32; 3], u32> = HashMap::new();
    let same: Vec<u32> = (0..)
        .zip(positions)
        .map(|(v, p)| *first.entry(p.to_array().map(f32::to_bits)).or_insert(v))
        .collect();
    let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| same[v as usize])).collect();
    let moved = shrink(&triangles, positions, share);
    same.iter().map(|&v| moved[v as usize]).collect()
}

/// The same of a mesh whose vertices are at different positions, or unused.
fn shrink(triangles: &[[u32; 3]], positions: &[Vec3], share: f64) -> Vec<Vec3> {
    let x: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
    let low = x.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let high = x.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
    let size = (high - low).max_element();
    let edges = Adjacency::new(triangles).edges;
    if edges.is_empty() || !(size > 0.0 && size.is_finite()) {
        return positions.to_vec();
    }
    let neighbors = Neighbors::new(x.len(), &edges);
    let length: f64 = edges.iter().map(|&[a, b]| x[a as usize].distance(x[b as usize])).sum();
    let finer = USUAL_EDGE * size * edges.len() as f64 / length.max(1e-12);
    // Smoothing spreads with the root of the number of passes, the least value with the number of rings.
    let passes = |usual: f64| (usual * finer * finer).clamp(1.0, MOST_PASSES) as usize;
    let normals = normals(triangles, &x, &neighbors, passes(NORMAL_PASSES));
    let mut radii = radii(&x, &normals, low, size);
    for _ in 0..(RADIUS_RINGS * finer).clamp(1.0, MOST_PASSES) as usize {
        radii = (0..x.len())
            .map(|v| neighbors.of(v as u32).iter().fold(radii[v], |least, &w| least.min(radii[w as usize])))
            .collect();
    }
    for _ in 0..passes(RADIUS_PASSES) {
        radii = (0..x.len())
            .map(|v| {
                let around = neighbors.of(v as u32);
                let sum: f64 = around.iter().map(|&w| radii[w as usize]).sum();
                0.5 * (radii[v] + if around.is_empty() { radii[v] } else { sum / around.len() as f64 })
            })
            .collect();
    }
    x.iter().zip(&normals).zip(&radii).map(|((x, n), r)| (*x - share * *r * *n).as_vec3()).collect()
}

/// Smoothed outward unit normals of vertices.
fn normals(triangles: &[[u32; 3]], x: &[DVec3], neighbors: &Neighbors, passes: usize) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; x.len()];
    let mut volume = 0.0;
    for t in triangles {
        let [a, b, c] = t.map(|v| x[v as usize]);
        let normal = (b - a).cross(c - a);
        volume += a.dot(normal);
        t.iter().for_each(|&v| normals[v as usize] += normal);
    }
    // Faces may point inwards.
    let outward = if volume < 0.0 { -1.0 } else { 1.0 };
    for _ in 0..passes {
        normals = (0..x.len())
            .map(|v| {
                let around = neighbors.of(v as u32);
                let sum: DVec3 = around.iter().map(|&w| normals[w as usize]).sum();
                0.5 * (normals[v] + sum / around.len().max(1) as f64)
            })
            .collect();
    }
    normals.iter().map(|n| outward * n.normalize_or_zero()).collect()
}

/// Radius of the largest ball inside that touches the surface at each vertex.
fn radii(x: &[DVec3], normals: &[DVec3], low: DVec3, size: f64) -> Vec<f64> {
    let cell = size / SAMPLES;
    let mut samples: Vec<([i64; 3], u32)> = (0..x.len())
        .map(|v| (((x[v] - low) / cell).floor().to_array().map(|k| k as i64), v as u32))
        .collect();
    samples.sort_unstable();
    samples.dedup_by_key(|(cell, _)| *cell);
    let most = LARGEST_RADIUS * size;
    let radius = |v: usize| {
        let (p, n) = (x[v], normals[v]);
        samples.iter().fold(most, |least, &(_, q)| {
            let to = x[q as usize] - p;
            let depth = -n.dot(to);
            if depth > 0.0 && n.dot(normals[q as usize]) < OTHER_SIDE {
                least.min(to.length_squared() / (2.0 * depth))
            } else {
                least
            }
        })
    };
    (0..x.len()).map(radius).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::figure::Figure;

    /// Six times the volume.
    fn volume(triangles: &[[u32; 3]], x: &[Vec3]) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| x[v as usize].as_dvec3());
            a.dot(b.cross(c))
        };
        triangles.iter().map(of).sum()
    }

    #[test]
    fn a_figure_gets_thin_everywhere_and_stays_upright() {
        let mesh = Figure::new(0.025).unwrap().mesh().clone();
        let same = thin(&mesh.triangles, &mesh.positions, 0.0);
        assert_eq!(same, mesh.positions);
        let x = thin(&mesh.triangles, &mesh.positions, 0.6);
        let [before, after] = [&mesh.positions, &x].map(|x| volume(&mesh.triangles, x));
        assert!(after > 0.05 * before && after < 0.5 * before, "{}", after / before);
        // Nothing is moved by more than the largest radius, and nothing turns inside out on a large scale.
        let way = x.iter().zip(&mesh.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(way > 0.02 && way < 0.12, "{way}");
        let inverted: Vec<[u32; 3]> = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        let turned = thin(&inverted, &mesh.positions, 0.6);
        let apart = x.iter().zip(&turned).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(apart < 1e-5, "inwards whatever the faces say: {apart}");
    }

    #[test]
    fn what_has_no_size_stays() {
        assert_eq!(thin(&[], &[Vec3::ONE], 0.5), [Vec3::ONE]);
        let same = [Vec3::ONE; 3];
        assert_eq!(thin(&[[0, 1, 2]], &same, 0.5), same);
    }
}
