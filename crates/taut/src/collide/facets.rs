//! The faces of mesh obstacles, and who their neighbours are.
//!
//! Each triangle is met by itself. Where one meets a neighbour, what touches the neighbour must not stumble
//! over the edge between them: a contact at an edge or corner counts only if its normal points out of all
//! faces there ([`Facets::is_outermost`]).

use glam::DVec3;

use super::manifold::weights;
use crate::{Description, kernel::lanes::Quad};

/// Sine of the angle by which a neighbour may rise above a contact.
const FLAT: f64 = 1e-3;

/// Weight below which a corner has no part in a point of a triangle.
const NO_PART: f64 = 1e-6;

/// The faces of one mesh obstacle.
#[derive(Clone, Debug)]
pub(super) struct Facets {
    /// Vertices, in the arrays of the engine.
    pub triangles: Vec<[u32; 3]>,
    first: usize,
    /// By vertex of the obstacle: where its neighbours begin in `ring`.
    starts: Vec<u32>,
    ring: Vec<u32>,
    /// Edges, smaller vertex first, each with the far corner of one of its faces; sorted.
    wings: Vec<[u32; 3]>,
    /// Distance that is kept from them \[m\].
    pub margin: f64,
    pub friction: f64,
}

impl Facets {
    /// Those of all mesh obstacles, whose vertices begin at `first` in the arrays of the engine.
    pub fn all(description: &Description, mut first: usize) -> Vec<Self> {
        let of = |obstacle: &crate::MeshObstacle| {
            let triangles: Vec<_> = obstacle.triangles.iter().map(|t| t.map(|v| v + first as u32)).collect();
            let mut wings: Vec<_> = triangles
                .iter()
                .flat_map(|&[a, b, c]| {
                    [[a, b, c], [b, c, a], [c, a, b]].map(|[p, q, far]| [p.min(q), p.max(q), far])
                })
                .collect();
            wings.sort_unstable();
            let mut pairs: Vec<_> = wings.iter().flat_map(|&[p, q, _]| [[p, q], [q, p]]).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let count = obstacle.vertex_count();
            let starts =
                (0..=count).map(|v| pairs.partition_point(|[p, _]| (*p as usize) < first + v) as u32);
            let facets = Self {
                first,
                starts: starts.collect(),
                ring: pairs.iter().map(|[_, q]| *q).collect(),
                triangles,
                wings,
                margin: obstacle.margin.into(),
                friction: obstacle.friction.into(),
            };
            first += count;
            facets
        };
        description.mesh_obstacles.iter().map(of).collect()
    }

    /// Corners of the box around them during a step from `old` to `x` \[m\].
    pub fn bounds(&self, old: &[Quad], x: &[Quad]) -> [DVec3; 2] {
        let places = self.triangles.iter().flatten().flat_map(|&v| [0.0, 1.0].map(|t| between(old, x, v, t)));
        places.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
    }

    /// Whether no face around the point `at` of triangle `triangle` rises above the plane through it with
    /// this `normal`, at a part of the step from `old` to `x`.
    pub fn is_outermost(
        &self,
        triangle: usize,
        at: DVec3,
        normal: DVec3,
        (old, x, part): (&[Quad], &[Quad], f64),
    ) -> bool {
        let corners = self.triangles[triangle];
        let place = |v: u32| between(old, x, v, part);
        let is_in = weights(at, corners.map(place)).map(|weight| weight > NO_PART);
        let rises = |way: DVec3| way.dot(normal) > FLAT * way.length();
        match is_in.iter().filter(|is_in| **is_in).count() {
            1 => {
                let corner = corners[is_in.iter().position(|is_in| *is_in).unwrap_or(0)];
                let own = corner as usize - self.first;
                let ring = &self.ring[self.starts[own] as usize..self.starts[own + 1] as usize];
                !ring.iter().any(|&v| rises(place(v) - place(corner)))
            }
            2 => {
                let k = is_in.iter().position(|is_in| !is_in).unwrap_or(0);
                let (p, q) = (corners[(k + 1) % 3], corners[(k + 2) % 3]);
                let edge = [p.min(q), p.max(q)];
                let from = self.wings.partition_point(|w| [w[0], w[1]] < edge);
                let along = (place(q) - place(p)).normalize_or_zero();
                let wings = self.wings[from..].iter().take_while(|w| [w[0], w[1]] == edge);
                !wings.map(|w| place(w[2]) - place(p)).any(|way| rises(way - along * way.dot(along)))
            }
            _ => true,
        }
    }
}

/// Where vertex `v` is at the part `t` of a step from `old` to `x` \[m\].
pub(super) fn between(old: &[Quad], x: &[Quad], v: u32, t: f64) -> DVec3 {
    let place = |q: &Quad| DVec3::new(q[0].into(), q[1].into(), q[2].into());
    place(&old[v as usize]).lerp(place(&x[v as usize]), t)
}
