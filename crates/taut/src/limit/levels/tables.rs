//! What is known of a body's coarse levels: their elements, limits and masses, and what they have to do with
//! the base.
//!
//! Levels of cloth have triangles, those of solids tetrahedra ([`solid`](super::solid)); `K` is the number of
//! corners, and all else is the same.

use std::ops::Range as Span;

use glam::Vec3;

use super::{
    insert::{Finer, Pinning, dent, insert},
    parts::{Altered, Bare, LevelLimits, Parts},
};
use crate::{
    boundary::grip::{Gripped, Grips},
    element::{
        colored,
        edge::EdgeLanes,
        hinge::NO_ANGLE,
        tetrahedron::{TetrahedronElement, TetrahedronLanes},
        triangle::{StrainElement, TriangleLanes},
    },
    exec::colored::Colored,
    hierarchy::{Transfer, fit::Refit},
    kernel::{lanes::Quad, strain::Range, svd2::rest_inverse},
    limit::aim::Aim,
    limit::bend_paper::{BendTriangle, bend_triangles, corner_angles},
    limit::tuning::levels::{MOVED, OUTLINE, PIN_DISTANCE, PIN_QUALITY},
    mesh::adjacency::Adjacency,
};

/// The coarse levels of one body.
#[derive(Clone, Debug)]
pub struct Levels<const K: usize = 3> {
    /// The body's vertices, of all vertices of the world.
    pub vertices: Span<usize>,
    /// Finest first.
    pub levels: Vec<LevelTables<K>>,
}

/// One coarse level.
#[derive(Clone, Debug)]
pub struct LevelTables<const K: usize = 3> {
    /// What has limits.
    pub limited: Limited,
    /// Vertices of each element.
    pub elements: Vec<[u32; K]>,
    /// Inverse masses of vertices that are not held, in units that make them about the square of an edge.
    pub inverse_masses: Vec<f32>,
    /// The pinned base vertex (within the body) that a vertex was moved onto, or inserted for.
    pub pins: Vec<Option<u32>>,
    /// Between this level and the next finer one.
    pub transfer: Transfer<K>,
    /// Sums of the weights with which vertices of the next finer level take part in each of this one.
    pub(super) sums: Vec<f32>,
    /// The same for vertices of the base, through all levels between.
    pub(super) base_sums: Vec<f32>,
    /// The vertices of the base (within the body) whose element each vertex lies in, and barycentric weights.
    sample: Transfer<K>,
}

/// Elements of a level with their limits; vertices count within the level.
#[derive(Clone, Debug, Default)]
pub struct Limited {
    /// Triangles.
    pub triangles: Vec<StrainElement>,
    /// The same in batches.
    pub strain: Colored<TriangleLanes, 3>,
    /// Triangles with limits on their angles.
    pub bend: Vec<BendTriangle>,
    /// Edges, of levels on which these are limited.
    pub edges: Colored<EdgeLanes, 2>,
    /// Tetrahedra.
    pub tetrahedra: Vec<TetrahedronElement>,
    /// The same in batches.
    pub solid: Colored<TetrahedronLanes, 4>,
}

/// Limits of the triangles of a level, in their order.
#[derive(Clone, Debug)]
pub struct ElementLimits {
    /// Allowed stretches.
    pub strain: Vec<Range<f32>>,
    /// Allowed angles \[rad\], as [`corner_angles`](crate::limit::bend_paper::corner_angles) gives them.
    pub bend: Vec<[[f32; 2]; 3]>,
}

/// Limits of the triangles of all levels of a cloth.
#[derive(Clone, Debug)]
pub struct TriangleLimits {
    /// Of each level as it was built.
    pub levels: Vec<ElementLimits>,
    /// Finds those of triangles that pins change.
    pub refit: Refit,
    /// What is aimed at within limits.
    pub aim: Aim,
}

impl LevelLimits<3> for TriangleLimits {
    fn shape(corners: [Vec3; 3]) -> (Vec3, f32) {
        shape(corners)
    }

    fn is_on_border(&self, v: u32) -> bool {
        self.refit.is_on_border(v)
    }

    fn insert(&self, pinning: Pinning<3>) {
        insert(&self.refit, pinning);
    }

    fn limited(&self, k: usize, level: &Bare<3>, altered: Altered) -> Limited {
        let count = level.positions.len();
        let ElementLimits { mut strain, bend } = self.levels[k].clone();
        strain.resize(level.elements.len(), Range { min: 0.0, max: 1.0 });
        for (t, range) in refitted(&self.refit, self.aim, level, altered) {
            strain[t] = range;
        }
        let bend = refitted_bend(&self.refit, level, bend, altered);
        let elements = elements(level, &strain);
        Limited {
            strain: colored(count, count as u32, &elements),
            bend: bend_triangles(&level.elements, &bend),
            triangles: elements,
            ..Limited::default()
        }
    }
}

/// What is aimed at within the limits of the triangles of a level that pins have changed, fitted again.
pub(super) fn refitted(
    refit: &Refit,
    aim: Aim,
    level: &Bare<3>,
    altered: Altered,
) -> Vec<(usize, Range<f32>)> {
    let all: Vec<usize> = (0..level.elements.len()).filter(|&t| altered.elements[t]).collect();
    let corners: Vec<_> = all.iter().map(|&t| level.elements[t].to_vec()).collect();
    let limits = refit.limits(&corners, &level.positions, &level.sample, altered.search);
    all.into_iter().zip(limits).map(|(t, [min, max])| (t, aim.inside(Range { min, max }))).collect()
}

/// The [`corner_angles`] of a level, `built` for it as it was: those of hinges at triangles that pins have
/// changed are fitted again.
fn refitted_bend(
    refit: &Refit,
    level: &Bare<3>,
    built: Vec<[[f32; 2]; 3]>,
    altered: Altered,
) -> Vec<[[f32; 2]; 3]> {
    if !refit.limits_bend() || !altered.elements.contains(&true) {
        let mut all = built;
        all.resize(level.elements.len(), [[-NO_ANGLE, NO_ANGLE]; 3]);
        return all;
    }
    let adjacency = Adjacency::new(&level.elements);
    let hinges = || adjacency.hinges.iter().zip(&adjacency.hinge_triangles);
    let is_new = |pair: &[u32; 2]| pair.iter().any(|&t| altered.elements[t as usize]);
    let new: Vec<_> = hinges().filter(|h| is_new(h.1)).map(|h| h.0.to_vec()).collect();
    let mut fitted = refit.limits(&new, &level.positions, &level.sample, altered.search).into_iter();
    let angles = hinges().map(|(hinge, pair)| {
        let old = || {
            let own = level.elements[pair[0] as usize].iter().position(|&v| v == hinge[2])?;
            Some(built[pair[0] as usize][own])
        };
        let angle = if is_new(pair) { fitted.next() } else { old() };
        angle.unwrap_or([-NO_ANGLE, NO_ANGLE])
    });
    let angles: Vec<_> = angles.collect();
    corner_angles(&level.elements, &adjacency, &angles)
}

impl<const K: usize> Levels<K> {
    /// Builds the tables, for `pins` (within the body, in ascending order). Limits of elements that they
    /// change are searched for only if that is allowed.
    pub fn new<L: LevelLimits<K>>(parts: &Parts<L, K>, pins: &[u32], search: bool) -> Self {
        let Parts { vertices, rest, bare, limits, .. } = parts;
        let mut masses = parts.masses.clone();
        let mut base_sums = vec![1.0; rest.len()];
        // Where the pins lie on the level: by the vertices and weights of their closest element, level after
        // level.
        let mut closest: Vec<u32> = pins.to_vec();
        let mut tables: Vec<LevelTables<K>> = Vec::new();
        let mut finer = Finer {
            built: rest.len(),
            positions: rest.clone(),
            pins: vec![None; rest.len()],
            moved: vec![false; rest.len()],
        };
        pins.iter().for_each(|&pin| finer.pins[pin as usize] = Some(pin));
        for (k, built) in bare.iter().enumerate() {
            let mut level = built.clone();
            let before = closest.clone();
            for at in &mut closest {
                *at = main_corner(&level.transfer, *at as usize);
            }
            let mut held = snap(&mut level, limits, &closest, pins, rest);
            let mut altered = altered(built, &level);
            limits.insert(Pinning {
                built,
                level: &mut level,
                held: &mut held,
                altered: &mut altered,
                finer: &finer,
                pins,
                near: [&before, &closest],
                rest,
            });
            let count = level.positions.len();
            level.sample.corners.resize(count, [0; K]);
            level.sample.weights.resize(count, [0.0; K]);
            for (v, pin) in held.iter().enumerate() {
                if let Some(pin) = *pin {
                    level.sample.corners[v] = [pin; K];
                    level.sample.weights[v] = [0.0; K];
                    level.sample.weights[v][0] = 1.0;
                }
            }
            masses = sums(&level.transfer, &masses, count);
            let ones = vec![1.0; level.transfer.corners.len()];
            let own_sums: Vec<f32> = sums(&level.transfer, &ones, count).iter().map(|s| *s as f32).collect();
            base_sums = sums(&level.transfer, &base_sums, count);
            finer = Finer {
                built: built.positions.len(),
                moved: level.positions.iter().zip(&built.positions).map(|(now, old)| now != old).collect(),
                positions: level.positions.clone(),
                pins: held.clone(),
            };
            tables.push(LevelTables {
                inverse_masses: inverse_masses(&level, &masses),
                limited: limits.limited(k, &level, Altered { elements: &altered, search }),
                elements: level.elements,
                pins: held,
                transfer: level.transfer,
                sums: own_sums,
                base_sums: base_sums.iter().map(|s| *s as f32).collect(),
                sample: level.sample,
            });
        }
        Self { vertices: vertices.clone(), levels: tables }
    }
}

impl<const K: usize> Levels<K> {
    /// Elements of the level that has most.
    pub fn largest(&self) -> usize {
        self.levels.iter().map(|level| level.elements.len()).max().unwrap_or(0)
    }
}

/// Elements of a level of which a vertex was moved.
fn altered<const K: usize>(built: &Bare<K>, level: &Bare<K>) -> Vec<bool> {
    let least = MOVED * mean_square_edge(built).sqrt() as f32;
    let moved = |&v: &u32| built.positions[v as usize].distance(level.positions[v as usize]) > least;
    level.elements.iter().map(|corners| corners.iter().any(moved)).collect()
}

impl<const K: usize> LevelTables<K> {
    /// Where vertex `i` of the level is while the base is at `x`.
    #[inline(always)]
    pub(super) fn sampled(&self, i: usize, x: &[Quad]) -> Quad {
        super::interpolated(x, self.sample.corners[i], self.sample.weights[i])
    }

    /// How many vertices of the base vertex `i` of the level stands for; at least 1.
    pub fn stands_for(&self, i: usize) -> f32 {
        self.base_sums[i].max(1.0)
    }

    /// Makes vertices of the level, which is at `x`, heavier that stand for corners of grips; `first` is the
    /// body's first vertex.
    pub(crate) fn weigh(&self, grips: &Grips, first: usize, x: &mut [Quad]) {
        for (v, heavier, _) in grips.iter().flat_map(Gripped::corners) {
            for (i, pin) in self.pins.iter().enumerate() {
                if pin.is_some_and(|pin| first + pin as usize == v) {
                    x[i][3] /= 1.0 + heavier / self.stands_for(i);
                }
            }
        }
    }

    /// Whether vertex `i` of the level is held while the base is at `x`: the pin that it was moved onto is,
    /// or it lies in a solid between vertices that all are.
    #[inline(always)]
    pub(super) fn is_held(&self, i: usize, x: &[Quad]) -> bool {
        let held = |v: u32| x[v as usize][3] == 0.0;
        let (corners, weights) = (self.sample.corners[i], self.sample.weights[i]);
        self.pins[i].is_some_and(held) || K == 4 && (0..K).all(|k| weights[k] == 0.0 || held(corners[k]))
    }
}

/// Which way a triangle faces, and its quality.
pub(super) fn shape([a, b, c]: [Vec3; 3]) -> (Vec3, f32) {
    let sum = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
    let normal = (b - a).cross(c - a);
    (normal, 3.464 * normal.length() / sum)
}

/// Triangles in the order of their vertices, so that neighbours in memory are neighbours in the mesh.
fn elements(level: &Bare<3>, ranges: &[Range<f32>]) -> Vec<StrainElement> {
    let mut by_place: Vec<usize> = (0..level.elements.len()).collect();
    by_place.sort_by_key(|&t| level.elements[t].into_iter().min());
    by_place
        .into_iter()
        .filter_map(|t| {
            let vertices = level.elements[t];
            let (rest, _) =
                rest_inverse(vertices.map(|v| level.positions[v as usize].as_dvec3().to_array()))?;
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
fn sums<const K: usize>(transfer: &Transfer<K>, fine: &[f64], count: usize) -> Vec<f64> {
    let mut coarse = vec![0.0; count];
    for ((value, corners), weights) in fine.iter().zip(&transfer.corners).zip(&transfer.weights) {
        for (c, w) in corners.iter().zip(weights) {
            coarse[*c as usize] += value * f64::from(*w);
        }
    }
    coarse
}

/// Inverse masses times mean mass times mean squared edge. A vertex in which no finer one takes part gets a
/// tenth of the mean mass.
fn inverse_masses<const K: usize>(level: &Bare<K>, masses: &[f64]) -> Vec<f32> {
    let mean = masses.iter().sum::<f64>() / masses.len().max(1) as f64;
    let square = mean_square_edge(level);
    masses.iter().map(|m| (mean * square / m.max(0.1 * mean)) as f32).collect()
}

/// \[m²\]
pub(super) fn mean_square_edge<const K: usize>(level: &Bare<K>) -> f64 {
    let at = |v: u32| level.positions[v as usize];
    let squares: f32 = level.elements.iter().map(|t| at(t[0]).distance_squared(at(t[1]))).sum();
    f64::from(squares) / level.elements.len().max(1) as f64
}

/// The corner of its closest element that vertex `v` is nearest to.
fn main_corner<const K: usize>(transfer: &Transfer<K>, v: usize) -> u32 {
    let (corners, weights) = (transfer.corners[v], transfer.weights[v]);
    let most = (0..K).max_by(|&a, &b| weights[a].total_cmp(&weights[b]).then(b.cmp(&a))).unwrap_or(0);
    corners[most]
}

/// Neighbours of vertex `v` along the border of a level of triangles, where they are \[m\]; `around` are the
/// triangles around it.
fn border_neighbors<const K: usize>(level: &Bare<K>, around: &[u32], v: u32) -> Option<[Vec3; 2]> {
    if K != 3 {
        return None;
    }
    let others = || around.iter().flat_map(|&t| level.elements[t as usize]).filter(|&u| u != v);
    let mut once = others().filter(|&u| others().filter(|&w| w == u).count() == 1);
    let ends = [once.next()?, once.next()?];
    Some(ends.map(|u| level.positions[u as usize]))
}

/// Moves vertices of a level onto pins, the nearest of those for which they are `closest`, unless that would
/// spoil an element or the outline of cloth. Gives the pin of each.
fn snap<L: LevelLimits<K>, const K: usize>(
    level: &mut Bare<K>,
    limits: &L,
    closest: &[u32],
    pins: &[u32],
    rest: &[Vec3],
) -> Vec<Option<u32>> {
    let mut chosen: Vec<Option<u32>> = vec![None; level.positions.len()];
    for (&v, &pin) in closest.iter().zip(pins) {
        let from = |pin: u32| level.positions[v as usize].distance_squared(rest[pin as usize]);
        let best = &mut chosen[v as usize];
        if best.is_none_or(|best| from(pin) < from(best)) {
            *best = Some(pin);
        }
    }
    let edge = mean_square_edge(level).sqrt() as f32;
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); level.positions.len()];
    for (t, corners) in level.elements.iter().enumerate() {
        for &v in corners {
            around[v as usize].push(t as u32);
        }
    }
    let shape =
        |level: &Bare<K>, t: u32| L::shape(level.elements[t as usize].map(|v| level.positions[v as usize]));
    let mut taken: Vec<Vec3> = Vec::new();
    for v in 0..chosen.len() {
        let Some(pin) = chosen[v] else { continue };
        let at = rest[pin as usize];
        if taken.iter().any(|p| p.distance(at) < PIN_DISTANCE * edge) {
            chosen[v] = None;
            continue;
        }
        let before: Vec<_> = around[v].iter().map(|&t| shape(level, t)).collect();
        let old = std::mem::replace(&mut level.positions[v], at);
        let spoiled = around[v].iter().zip(before).any(|(&t, (normal, quality))| {
            let (turned, now) = shape(level, t);
            turned.dot(normal) <= 0.0 || now < PIN_QUALITY * quality
        });
        let border = border_neighbors(level, &around[v], v as u32);
        let leaves = |ends| !limits.is_on_border(pin) || dent(old, at, ends) > OUTLINE * edge;
        let dents = old != at && border.is_some_and(leaves);
        if spoiled || dents {
            level.positions[v] = old;
            chosen[v] = None;
        } else {
            taken.push(at);
        }
    }
    chosen
}
