//! The mesh that is being coarsened, and the descent from one level to the next.
//!
//! One mesh descends from the base to the coarsest level, and every level is a copy of it at that stage. Each
//! vertex stores its location on the base surface, so that every level samples the base itself and errors do
//! not accumulate. A level takes several rounds of: [collapse](super::collapse) short edges,
//! [flip](super::flip) to Delaunay, [smooth](super::smooth) along the surface and project back onto the base.

use glam::DVec3;

use super::collapse::Guard;
use super::halfedge::{HalfEdges, NONE, prev};
use super::quadric::Quadric;
use super::surface::{Surface, cross, quality};

/// Fraction of the triangles that a round keeps: small rounds keep shapes good while smoothing can still
/// help.
const ROUND_FRACTION: f64 = 0.625;
/// Rounds of flips and smoothing at the end of a level.
const FINAL_ROUNDS: usize = 4;
/// Quality below which a triangle is a sliver.
const MIN_QUALITY: f64 = 0.6;

/// Flatness below which a vertex represents an edge or a tip of the shape.
pub(super) const SHARP: f64 = 0.75;
/// Flatness below which a vertex represents a fold: its two sides almost coincide.
pub(super) const FOLD: f64 = 0.5;

/// Degrees of freedom of a vertex; of two that are merged, the less free remains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Moves on the surface.
    Inner,
    /// Moves along a boundary.
    Curve,
    /// A corner of a boundary: fixed.
    Corner,
    /// One of several fans of a vertex: fixed, and nothing is merged with it.
    Locked,
}

/// A mesh during coarsening.
pub(super) struct Coarsener<'a> {
    pub base: &'a Surface,
    pub work: Surface,
    pub kind: Vec<Kind>,
    pub quadric: Vec<Quadric>,
    /// Location of a vertex on the base: a triangle for `Inner`, else a half-edge of the boundary.
    pub home: Vec<u32>,
    /// Vertex into which each was merged since the level began; itself while it exists.
    pub parent: Vec<u32>,
    /// The last vertices are copies of these, for further fans.
    pub copies: Vec<u32>,
    pub triangle_count: usize,
    /// Neighbours of the two ends of an edge.
    pub scratch: [Vec<u32>; 2],
}

impl<'a> Coarsener<'a> {
    /// Starts with the base itself; its last vertices are copies of `copies`.
    pub fn new(base: &'a Surface, copies: Vec<u32>) -> Self {
        let count = base.positions.len();
        let mut quadric = vec![Quadric::default(); count];
        for t in 0..base.half.slots() {
            let q = Quadric::of_triangle(base.points(t));
            for v in base.half.corners(t) {
                quadric[v as usize] = quadric[v as usize].plus(&q);
            }
        }
        let mut kind: Vec<Kind> = (0..count as u32)
            .map(|v| if base.half.on_boundary(v) { Kind::Curve } else { Kind::Inner })
            .collect();
        for (k, &original) in copies.iter().enumerate() {
            kind[original as usize] = Kind::Locked;
            kind[count - copies.len() + k] = Kind::Locked;
        }
        let home = (0..count)
            .map(|v| match kind[v] {
                Kind::Inner if base.half.out[v] != NONE => base.half.out[v] / 3,
                _ => base.half.out[v],
            })
            .collect();
        Self {
            work: base.clone(),
            kind,
            quadric,
            home,
            parent: (0..count as u32).collect(),
            copies,
            triangle_count: base.half.slots() as usize,
            scratch: Default::default(),
            base,
        }
    }

    /// Coarsens to about `target` triangles, or as far as possible. Returns, for each previous vertex, the
    /// vertex into which it was merged (`NONE` if no triangle used it).
    pub fn descend(&mut self, target: usize) -> Vec<u32> {
        let spacing = self.spacing(target);
        self.find_corners(spacing);
        let strict = Guard { longest: 1.7 * spacing, cos_normal: 0.3, quality: 0.45 };
        let loose = Guard { longest: 3.0 * spacing, cos_normal: 0.1, quality: 0.15 };
        loop {
            let step = ((self.triangle_count as f64 * ROUND_FRACTION) as usize).max(target);
            self.collapse_to(step, &strict);
            self.flip_all();
            self.smooth();
            let enough = step + step / 20;
            if self.triangle_count > enough {
                self.collapse_to(step, &loose);
                self.flip_all();
            }
            if step == target || self.triangle_count > enough {
                break;
            }
        }
        self.polish(FINAL_ROUNDS);
        for _ in 0..3 {
            if !self.remove_slivers(spacing) {
                break;
            }
            self.polish(2);
        }
        self.compact()
    }

    fn polish(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.flip_all();
            self.smooth();
        }
        self.flip_all();
    }

    /// Edge length at which `target` triangles cover the mesh \[m\]. Triangles that are already larger than
    /// that are kept, and their area is not counted: a coarse region next to a fine one does not make the
    /// fine one coarser.
    fn spacing(&self, target: usize) -> f64 {
        let areas: Vec<f64> = (0..self.work.half.slots())
            .filter(|&t| self.work.half.is_alive(t))
            .map(|t| 0.5 * self.work.normal(t).length())
            .collect();
        let total: f64 = areas.iter().sum();
        let (mut low, mut high) = (0.0, total);
        for _ in 0..50 {
            let area = 0.5 * (low + high);
            let count: f64 = areas.iter().map(|a| (a / area).min(1.0)).sum();
            if count > target as f64 { low = area } else { high = area }
        }
        (4.0 * high / 3f64.sqrt()).sqrt()
    }

    /// Collapses the shortest edge of triangles of bad shape. Returns whether there were any.
    fn remove_slivers(&mut self, spacing: f64) -> bool {
        let mut found = false;
        for t in 0..self.work.half.slots() {
            if !self.work.half.is_alive(t) {
                continue;
            }
            let p = self.work.points(t);
            let before = quality(p);
            if before >= MIN_QUALITY {
                continue;
            }
            let lengths = [0, 1, 2].map(|k| p[k].distance_squared(p[(k + 1) % 3]));
            let shortest = (0..3).min_by(|&a, &b| lengths[a].total_cmp(&lengths[b])).unwrap_or(0);
            let guard = Guard { longest: 2.0 * spacing, cos_normal: 0.2, quality: before.max(0.3) };
            found |= self.collapse(3 * t + shortest as u32, &guard).is_some();
        }
        found
    }

    /// The vertex of the input that `v` represents: itself, or the one it is a copy of.
    pub fn original(&self, v: u32) -> u32 {
        let originals = self.work.positions.len() - self.copies.len();
        (v as usize).checked_sub(originals).map_or(v, |k| self.copies[k])
    }

    /// Triangle of the base on which `v` lies, or next to whose boundary it lies.
    pub fn home_triangle(&self, v: usize) -> u32 {
        match self.kind[v] {
            Kind::Inner => self.home[v],
            Kind::Curve | Kind::Corner | Kind::Locked => self.home[v] / 3,
        }
    }

    /// Whether `v` and `u` are fans of one vertex. An edge from a third vertex to both would have four
    /// triangles.
    pub fn are_copies(&self, v: u32, u: u32) -> bool {
        v != u && self.kind[v as usize] == Kind::Locked && self.original(v) == self.original(u)
    }

    /// Flatness of the surface around `v`: from 1 where it is flat to 0 in a fold.
    pub fn flatness(&self, v: u32) -> f64 {
        let (sum, weight) = self.work.normals_around(v);
        if weight > 0.0 { sum.length() / weight } else { 1.0 }
    }

    /// Whether the triangles of `v`, except those that also use `without`, keep their orientation and are of
    /// sufficient quality when `v` moves to `p`.
    pub fn accepts(&self, v: u32, without: u32, p: DVec3, guard: &Guard) -> bool {
        let longest2 = guard.longest * guard.longest;
        let half = &self.work.half;
        half.ring(v).all(|h| {
            let (x, y) = (half.head(h), half.tail[prev(h) as usize]);
            if x == without || y == without {
                return true;
            }
            let at = |v: u32| self.work.positions[v as usize];
            let (px, py) = (at(x), at(y));
            if p.distance_squared(px) > longest2 || p.distance_squared(py) > longest2 {
                return false;
            }
            let (old, new) = ([at(v), px, py], [p, px, py]);
            let (n0, n1) = (cross(old), cross(new));
            let (q0, q1) = (quality(old), quality(new));
            // The normal of a sliver is unreliable: that of the surrounding surface is used.
            let turned = if q0 > 0.15 {
                n0.dot(n1) <= guard.cos_normal * n0.length() * n1.length()
            } else {
                n1.dot(self.work.normals_around(v).0) <= 0.0
            };
            !turned && (q1 >= guard.quality || q1 >= q0)
        })
    }

    /// Removes deleted elements and renumbers the rest in the same order. Returns the new index of each
    /// vertex.
    fn compact(&mut self) -> Vec<u32> {
        let count = self.parent.len();
        let mut new = vec![NONE; count];
        let mut kept = Vec::new();
        for v in 0..count {
            if self.work.half.out[v] != NONE {
                new[v] = kept.len() as u32;
                kept.push(v);
            }
        }
        let seeds = (0..count)
            .map(|v| {
                let mut v = v;
                while self.parent[v] as usize != v {
                    v = self.parent[v] as usize;
                }
                new[v]
            })
            .collect();
        let old = &self.work.half;
        let mut slot = vec![NONE; old.slots() as usize];
        let alive: Vec<u32> = (0..old.slots()).filter(|&t| old.is_alive(t)).collect();
        for (k, &t) in alive.iter().enumerate() {
            slot[t as usize] = k as u32;
        }
        let moved = |h: u32| if h == NONE { NONE } else { 3 * slot[h as usize / 3] + h % 3 };
        let sides = || alive.iter().flat_map(|&t| 3 * t as usize..3 * t as usize + 3);
        self.work.half = HalfEdges {
            tail: sides().map(|h| new[old.tail[h] as usize]).collect(),
            twin: sides().map(|h| moved(old.twin[h])).collect(),
            out: kept.iter().map(|&v| moved(old.out[v])).collect(),
        };
        self.work.positions = kept.iter().map(|&v| self.work.positions[v]).collect();
        self.kind = kept.iter().map(|&v| self.kind[v]).collect();
        self.quadric = kept.iter().map(|&v| self.quadric[v]).collect();
        self.home = kept.iter().map(|&v| self.home[v]).collect();
        self.parent = (0..kept.len() as u32).collect();
        for original in &mut self.copies {
            *original = new[*original as usize];
        }
        seeds
    }
}
