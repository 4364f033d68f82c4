//! What is known of a body's coarse levels: their elements, limits and masses, and what they have to do with the base.

use std::ops::Range as Span;

use glam::Vec3;

use crate::{
    hierarchy::{Hierarchy, Transfer},
    kernel::{lanes::Quad, strain::Range, svd2::rest_inverse},
    limit::{
        bend_paper::{BendTriangle, bend_triangles},
        colored::Colored,
        strain_triangle::{StrainBatch, StrainElement},
    },
    mesh::TriangleMesh,
};

/// Least quality (1: equilateral) that a triangle keeps when a vertex of it is moved onto a pin, relative to before.
const SPOILED: f32 = 0.4;

/// Least distance of two pins that both get a vertex, in edges of the level: of a cluster one speaks for all.
const APART: f32 = 0.6;

/// The coarse levels of one body.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The body's vertices, of all vertices of the world.
    pub vertices: Span<usize>,
    /// Finest first.
    pub levels: Vec<LevelTables>,
}

/// One coarse level.
#[derive(Clone, Debug)]
pub struct LevelTables {
    /// Triangles with their limits; vertices count within the level.
    pub elements: Vec<StrainElement>,
    /// The same in batches.
    pub strain: Colored<StrainBatch>,
    /// Triangles with limits on their angles.
    pub bend: Vec<BendTriangle>,
    /// Inverse masses of vertices that are not held, in units that make them about the square of an edge.
    pub inverse_masses: Vec<f32>,
    /// The pinned base vertex (within the body) that a vertex was moved onto.
    pub pins: Vec<Option<u32>>,
    /// Between this level and the next finer one.
    pub transfer: Transfer,
    /// Sums of the weights with which vertices of the next finer level take part in each of this one.
    pub(super) sums: Vec<f32>,
    /// The same for vertices of the base, through all levels between.
    pub(super) base_sums: Vec<f32>,
    /// The vertices of the base (within the body) whose triangle each vertex lies on, and barycentric weights.
    sample: Transfer,
}

/// Limits of the triangles of a level, in their order.
#[derive(Clone, Debug)]
pub struct ElementLimits {
    /// Allowed stretches.
    pub strain: Vec<Range<f32>>,
    /// Allowed angles \[rad\], as [`corner_angles`](crate::limit::bend_paper::corner_angles) gives them.
    pub bend: Vec<[[f32; 2]; 3]>,
}

/// What [`Levels`] are made from.
#[derive(Debug)]
pub struct Parts {
    /// The body's vertices, of all vertices of the world.
    pub vertices: Span<usize>,
    /// Levels, with base vertices in the engine's order.
    pub hierarchy: Hierarchy,
    /// Rest positions in that order \[m\].
    pub rest: Vec<Vec3>,
    /// Triangles of the base, as they are named by the levels, of vertices in that order.
    pub triangles: Vec<[u32; 3]>,
    /// Masses in that order \[kg\].
    pub masses: Vec<f64>,
    /// Vertices within the body that are, or may be, pinned.
    pub pins: Vec<u32>,
    /// Limits of each level.
    pub limits: Vec<ElementLimits>,
}

impl Levels {
    /// Builds the tables.
    pub fn new(parts: Parts) -> Self {
        let Parts { vertices, hierarchy, rest, triangles, masses, pins, limits } = parts;
        let mut levels: Vec<LevelTables> = Vec::new();
        let mut masses = masses;
        let mut base_sums = vec![1.0; rest.len()];
        // Where the pins lie on the level: by the vertices and weights of their closest element, level after level.
        let mut closest: Vec<u32> = pins.clone();
        for (level, limits) in hierarchy.levels.into_iter().zip(limits) {
            let (mut mesh, transfer) = (level.mesh, level.transfer);
            let mut sample = Transfer {
                corners: level.on_base.iter().map(|site| triangles[site.triangle as usize]).collect(),
                weights: level.on_base.iter().map(|site| site.weights).collect(),
            };
            let count = mesh.positions.len();
            for at in &mut closest {
                *at = main_corner(&transfer, *at as usize);
            }
            let snapped = snap(&mut mesh, &closest, &pins, &rest);
            for (v, pin) in snapped.iter().enumerate() {
                if let Some(pin) = *pin {
                    (sample.corners[v], sample.weights[v]) = ([pin; 3], [1.0, 0.0, 0.0]);
                }
            }
            masses = sums(&transfer, &masses, count);
            let ones = vec![1.0; transfer.corners.len()];
            let own_sums: Vec<f32> = sums(&transfer, &ones, count).iter().map(|s| *s as f32).collect();
            base_sums = sums(&transfer, &base_sums, count);
            let elements = elements(&mesh, &limits.strain);
            let corners: Vec<_> = elements.iter().map(|e| e.vertices).collect();
            levels.push(LevelTables {
                strain: Colored::new(count, &corners, |batch| {
                    StrainBatch::pack(batch, &elements, count as u32)
                }),
                inverse_masses: inverse_masses(&mesh, &masses),
                bend: bend_triangles(&mesh.triangles, &limits.bend),
                elements,
                pins: snapped,
                transfer,
                sums: own_sums,
                base_sums: base_sums.iter().map(|s| *s as f32).collect(),
                sample,
            });
        }
        Self { vertices, levels }
    }
}

impl LevelTables {
    /// Where vertex `i` of the level is while the base is at `x`.
    #[inline(always)]
    pub(super) fn sampled(&self, i: usize, x: &[Quad]) -> Quad {
        super::interpolated(x, self.sample.corners[i], self.sample.weights[i])
    }
}

/// Triangles in the order of their vertices, so that neighbours in memory are neighbours in the mesh.
fn elements(mesh: &TriangleMesh, ranges: &[Range<f32>]) -> Vec<StrainElement> {
    let mut by_place: Vec<usize> = (0..mesh.triangles.len()).collect();
    by_place.sort_by_key(|&t| mesh.triangles[t].into_iter().min());
    by_place
        .into_iter()
        .filter_map(|t| {
            let vertices = mesh.triangles[t];
            let (rest, _) = rest_inverse(vertices.map(|v| mesh.positions[v as usize].as_dvec3().to_array()))?;
            Some(StrainElement {
                vertices,
                rest: rest.map(|r| r as f32),
                range: ranges[t],
                weave: None,
                share: 1.0,
            })
        })
        .collect()
}

/// Fine values summed by the weights with which fine vertices take part in coarse ones.
fn sums(transfer: &Transfer, fine: &[f64], count: usize) -> Vec<f64> {
    let mut coarse = vec![0.0; count];
    for ((value, corners), weights) in fine.iter().zip(&transfer.corners).zip(&transfer.weights) {
        for (c, w) in corners.iter().zip(weights) {
            coarse[*c as usize] += value * f64::from(*w);
        }
    }
    coarse
}

/// Inverse masses times mean mass times mean squared edge. A vertex in which no finer one takes part gets a tenth of the mean mass.
fn inverse_masses(mesh: &TriangleMesh, masses: &[f64]) -> Vec<f32> {
    let mean = masses.iter().sum::<f64>() / masses.len().max(1) as f64;
    let square = mean_square_edge(mesh);
    masses.iter().map(|m| (mean * square / m.max(0.1 * mean)) as f32).collect()
}

/// \[m²\]
fn mean_square_edge(mesh: &TriangleMesh) -> f64 {
    let at = |v: u32| mesh.positions[v as usize];
    let squares: f32 = mesh.triangles.iter().map(|t| at(t[0]).distance_squared(at(t[1]))).sum();
    f64::from(squares) / mesh.triangles.len().max(1) as f64
}

/// The corner of its closest element that vertex `v` is nearest to.
fn main_corner(transfer: &Transfer, v: usize) -> u32 {
    let (corners, weights) = (transfer.corners[v], transfer.weights[v]);
    let most = (0..3).max_by(|&a, &b| weights[a].total_cmp(&weights[b]).then(b.cmp(&a))).unwrap_or(0);
    corners[most]
}

/// Moves vertices of a level onto pins, the nearest of those for which they are `closest`, unless that would spoil a
/// triangle. Gives the pin of each.
fn snap(mesh: &mut TriangleMesh, closest: &[u32], pins: &[u32], rest: &[Vec3]) -> Vec<Option<u32>> {
    let mut chosen: Vec<Option<u32>> = vec![None; mesh.positions.len()];
    for (&v, &pin) in closest.iter().zip(pins) {
        let from = |pin: u32| mesh.positions[v as usize].distance_squared(rest[pin as usize]);
        let best = &mut chosen[v as usize];
        if best.is_none_or(|best| from(pin) < from(best)) {
            *best = Some(pin);
        }
    }
    let edge = mean_square_edge(mesh).sqrt() as f32;
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for &v in corners {
            around[v as usize].push(t as u32);
        }
    }
    let shape = |mesh: &TriangleMesh, t: u32| {
        let [a, b, c] = mesh.triangles[t as usize].map(|v| mesh.positions[v as usize]);
        let sum = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
        let normal = (b - a).cross(c - a);
        (normal, 3.464 * normal.length() / sum)
    };
    let mut taken: Vec<Vec3> = Vec::new();
    for v in 0..chosen.len() {
        let Some(pin) = chosen[v] else { continue };
        let at = rest[pin as usize];
        if taken.iter().any(|p| p.distance(at) < APART * edge) {
            chosen[v] = None;
            continue;
        }
        let before: Vec<_> = around[v].iter().map(|&t| shape(mesh, t)).collect();
        let old = std::mem::replace(&mut mesh.positions[v], at);
        let spoiled = around[v].iter().zip(before).any(|(&t, (normal, quality))| {
            let (turned, now) = shape(mesh, t);
            turned.dot(normal) <= 0.0 || now < SPOILED * quality
        });
        if spoiled {
            mesh.positions[v] = old;
            chosen[v] = None;
        } else {
            taken.push(at);
        }
    }
    chosen
}
