//! The neighbourhood of the primitives of a surface, and with it: whether the nearest points of two
//! primitives are a local minimum of the distance between the surfaces, or only between those two primitives.
//!
//! A vertex above a sheet is near many of its triangles, and the nearest points of all but one lie on their
//! boundaries, towards the vertex. Separated along those slanted lines, cloth could neither slide on cloth
//! nor fold. So a pair counts only if the distance has a local minimum between its nearest points, with the
//! neighbours of both taken into account (the blocks of Offset Geometric Contact, Chen et al. 2025).

use glam::DVec3;

use super::surface::Surface;

/// No vertex.
const NONE: u32 = u32::MAX;

/// Sine of the angle by which a line between two edges may lean over their neighbours. Between flat sheets
/// all crossing edges are equally near.
const MAX_LEAN_SINE_EDGE: f64 = 0.1;

/// The same for vertices, whose nearest points lie on the boundaries of triangles.
const MAX_LEAN_SINE_VERTEX: f64 = 0.01;

/// Weights below this belong to a point on the boundary of a triangle.
pub const RIM: f64 = 1e-6;

/// Adjacency of a surface.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// By triangle and corner: the opposite corner of the first other triangle at the edge across from that
    /// corner; and whether this triangle is the first at that edge.
    across: Vec<[(u32, bool); 3]>,
    /// Corners opposite each edge, at most two.
    wings: Vec<[u32; 2]>,
    /// Start of the neighbours of each vertex.
    starts: Vec<u32>,
    around: Vec<u32>,
    /// The first triangle of each vertex.
    first: Vec<u32>,
}

impl Neighbours {
    /// The adjacency of `surface`.
    pub fn new(surface: &Surface) -> Self {
        let same = |v: u32| surface.identity[v as usize];
        // Edges that are sewn together are one: the first of them.
        let mut by_identity: Vec<([u32; 2], u32)> = surface
            .edges
            .iter()
            .zip(0..)
            .map(|(&[a, b], e)| {
                let (a, b) = (same(a), same(b));
                ([a.min(b), a.max(b)], e)
            })
            .collect();
        by_identity.sort_unstable();
        let place = |a: u32, b: u32| {
            let (a, b) = (same(a), same(b));
            let edge = [a.min(b), a.max(b)];
            let at = by_identity.partition_point(|other| other.0 < edge);
            by_identity.get(at).filter(|other| other.0 == edge).map(|other| other.1 as usize)
        };
        let mut at_edges: Vec<Vec<(u32, u32)>> = vec![Vec::new(); surface.edges.len()];
        let count = surface.vertices.last().map_or(0, |&v| v as usize + 1);
        let mut first = vec![NONE; count];
        for (t, &[a, b, c]) in surface.triangles.iter().enumerate() {
            for (corner, p, q) in [(a, b, c), (b, c, a), (c, a, b)] {
                if let Some(edge) = place(p, q) {
                    at_edges[edge].push((t as u32, corner));
                }
                let first = &mut first[same(corner) as usize];
                *first = (*first).min(t as u32);
            }
        }
        let across = surface.triangles.iter().enumerate().map(|(t, &[a, b, c])| {
            [(b, c), (c, a), (a, b)].map(|(p, q)| {
                let sides: &[(u32, u32)] = place(p, q).map_or(&[], |edge| &at_edges[edge]);
                let other = sides.iter().find(|side| side.0 != t as u32).map_or(NONE, |side| side.1);
                (other, sides.first().is_some_and(|side| side.0 == t as u32))
            })
        });
        let mut starts = vec![0u32; count + 1];
        for v in surface.edges.iter().flatten() {
            starts[same(*v) as usize + 1] += 1;
        }
        for v in 0..count {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut around = vec![0; 2 * surface.edges.len()];
        for &[a, b] in &surface.edges {
            for (v, other) in [(same(a) as usize, b), (same(b) as usize, a)] {
                around[next[v] as usize] = other;
                next[v] += 1;
            }
        }
        let wings = surface.edges.iter().map(|&[a, b]| {
            let sides: &[(u32, u32)] = place(a, b).map_or(&[], |edge| &at_edges[edge]);
            [0, 1].map(|k| sides.get(k).map_or(NONE, |side| side.1))
        });
        Self { across: across.collect(), wings: wings.collect(), starts, around, first }
    }

    /// Whether the point of `triangle` with these `weights` of its corners `x` \[m\] is, in the direction
    /// `up` from it to a vertex, the point nearest to that vertex in its neighbourhood; of triangles that
    /// share the point, true only for the first. `at` gives the positions of other vertices.
    ///
    /// Above the border of a surface any direction will do for the triangle. So the neighbours of `vertex`
    /// must lead away from it there: a sheet that slides on another would else be held back by all vertices
    /// just ahead of its border.
    #[inline(always)]
    pub fn faces_vertex(
        &self,
        surface: &Surface,
        [triangle, vertex]: [u32; 2],
        weights: [f64; 3],
        up: DVec3,
        at: impl Fn(u32) -> DVec3,
    ) -> bool {
        let corners = surface.triangles[triangle as usize];
        let on_rim = weights.map(|w| w < RIM);
        match on_rim.iter().filter(|on| **on).count() {
            0 => true,
            1 => {
                let k = usize::from(on_rim[1]) + 2 * usize::from(on_rim[2]);
                let (other, first) = self.across[triangle as usize][k];
                if !first {
                    return false;
                }
                if other == NONE {
                    return self.leads_away(surface, vertex, -up, at);
                }
                let (a, b) = (at(corners[(k + 1) % 3]), at(corners[(k + 2) % 3]));
                let into = inwards(a, b, at(other));
                up.dot(into) <= MAX_LEAN_SINE_VERTEX * up.length() * into.length()
            }
            _ => {
                let k = (0..3).fold(0, |best, k| if weights[k] > weights[best] { k } else { best });
                let corner = surface.identity[corners[k] as usize] as usize;
                if self.first[corner] != triangle {
                    return false;
                }
                self.leads_away(surface, corners[k], up, &at) && self.leads_away(surface, vertex, -up, at)
            }
        }
    }

    /// Whether all neighbours of `vertex` lead away from a point at `up` from it.
    #[inline(always)]
    fn leads_away(&self, surface: &Surface, vertex: u32, up: DVec3, at: impl Fn(u32) -> DVec3) -> bool {
        let (here, own) = (at(vertex), surface.identity[vertex as usize] as usize);
        let around = &self.around[self.starts[own] as usize..self.starts[own + 1] as usize];
        around.iter().all(|&other| {
            let along = at(other) - here;
            up.dot(along) <= MAX_LEAN_SINE_VERTEX * up.length() * along.length()
        })
    }

    /// Whether the neighbours of `edge` lead away from a point at `up` from one of its interior points.
    #[inline(always)]
    pub fn faces_edge(&self, surface: &Surface, edge: u32, up: DVec3, at: impl Fn(u32) -> DVec3) -> bool {
        let [a, b] = surface.edges[edge as usize].map(&at);
        self.wings[edge as usize].iter().filter(|wing| **wing != NONE).all(|&wing| {
            let into = inwards(a, b, at(wing));
            up.dot(into) <= MAX_LEAN_SINE_EDGE * up.length() * into.length()
        })
    }
}

/// From the edge between `a` and `b` to `corner`, perpendicular to the edge.
#[inline(always)]
fn inwards(a: DVec3, b: DVec3, corner: DVec3) -> DVec3 {
    let (edge, arm) = (b - a, corner - a);
    arm - edge * (arm.dot(edge) / edge.length_squared().max(f64::MIN_POSITIVE))
}
