//! Corners of boundaries, detected again on every level.
//!
//! A corner depends on the spacing: a staircase at the base is a straight line at a coarse level, and a
//! rounded corner becomes a sharp one. So the angle is measured on the base between points one spacing before
//! and after.

use glam::DVec3;

use super::coarsen::{Coarsener, Kind};
use super::collapse::Guard;
use super::halfedge::NONE;
use super::surface::Surface;

/// Cosine of the smallest angle by which a boundary turns at a corner: 40 degrees.
const COS_CORNER: f64 = 0.766;

/// One boundary loop of the base.
struct Loop {
    /// Its vertices in order.
    vertices: Vec<u32>,
    /// Arc length of each from the first, then the total length \[m\].
    arcs: Vec<f64>,
}

impl Loop {
    fn length(&self) -> f64 {
        self.arcs[self.vertices.len()]
    }

    /// The point at an arc length from the first vertex \[m\].
    fn point(&self, base: &Surface, arc: f64) -> DVec3 {
        let arc = arc.rem_euclid(self.length());
        let n = self.vertices.len();
        let k = self.arcs[1..n].partition_point(|&a| a <= arc);
        let [a, b] = [k, (k + 1) % n].map(|k| base.positions[self.vertices[k] as usize]);
        let step = self.arcs[k + 1] - self.arcs[k];
        if step > 0.0 { a.lerp(b, (arc - self.arcs[k]) / step) } else { a }
    }

    /// Arc length between two points of the loop, the shorter way \[m\].
    fn distance(&self, a: f64, b: f64) -> f64 {
        let d = (a - b).abs();
        d.min(self.length() - d)
    }

    /// Indices of its corners at a vertex spacing of `spacing` \[m\].
    fn corners(&self, base: &Surface, spacing: f64) -> Vec<usize> {
        let reach = spacing.min(self.length() / 4.0);
        let mut found: Vec<(f64, usize)> = (0..self.vertices.len())
            .filter_map(|k| {
                let p = base.positions[self.vertices[k] as usize];
                let [after, before] = [reach, -reach].map(|s| self.point(base, self.arcs[k] + s));
                let cos = (after - p).normalize_or_zero().dot((p - before).normalize_or_zero());
                (cos < COS_CORNER).then_some((cos, k))
            })
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (n, mut taken, mut corners) = (self.vertices.len(), vec![false; self.vertices.len()], Vec::new());
        for (_, k) in found {
            if taken[k] {
                continue;
            }
            corners.push(k);
            let near = |&i: &usize| self.distance(self.arcs[k], self.arcs[i]) <= 0.6 * reach;
            for i in (0..n).map(|i| (k + i) % n).take_while(near) {
                taken[i] = true;
            }
            for i in (0..n).map(|i| (k + n - i) % n).take_while(near) {
                taken[i] = true;
            }
        }
        corners
    }
}

/// All boundary loops of a surface.
fn loops(base: &Surface) -> Vec<Loop> {
    let mut seen = vec![false; base.positions.len()];
    let mut found = Vec::new();
    for v in 0..base.positions.len() as u32 {
        if seen[v as usize] || !base.half.on_boundary(v) {
            continue;
        }
        let (mut vertices, mut arcs) = (Vec::new(), vec![0.0]);
        let mut at = v;
        while !std::mem::replace(&mut seen[at as usize], true) {
            let h = base.half.out[at as usize];
            let next = base.half.head(h);
            let step = base.positions[at as usize].distance(base.positions[next as usize]);
            vertices.push(at);
            arcs.push(arcs[arcs.len() - 1] + step);
            at = next;
        }
        found.push(Loop { vertices, arcs });
    }
    found
}

impl Coarsener<'_> {
    /// Marks the boundary vertices that are corners at this spacing \[m\], and moves them there.
    pub fn find_corners(&mut self, spacing: f64) {
        let loops = loops(self.base);
        // By base vertex on a boundary: its loop, and its index in it.
        let mut place = vec![(NONE, 0.0); self.base.positions.len()];
        for (l, boundary) in loops.iter().enumerate() {
            for (k, &v) in boundary.vertices.iter().enumerate() {
                place[v as usize] = (l as u32, boundary.arcs[k]);
            }
        }
        let mut on_loop: Vec<Vec<(f64, u32)>> = vec![Vec::new(); loops.len()];
        for v in 0..self.work.positions.len() as u32 {
            if !matches!(self.kind[v as usize], Kind::Curve | Kind::Corner) || !self.work.half.on_boundary(v)
            {
                continue;
            }
            self.kind[v as usize] = Kind::Curve;
            let tail = self.base.half.tail[self.home[v as usize] as usize] as usize;
            if let (l, arc) = place[tail]
                && l != NONE
            {
                let offset = self.base.positions[tail].distance(self.work.positions[v as usize]);
                on_loop[l as usize].push((arc + offset, v));
            }
        }
        for (boundary, members) in loops.iter().zip(&mut on_loop) {
            members.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for k in boundary.corners(self.base, spacing) {
                self.mark_corner(boundary, members, k);
            }
        }
    }

    /// Makes the member nearest to the loop's vertex `k` a corner.
    fn mark_corner(&mut self, boundary: &Loop, members: &[(f64, u32)], k: usize) {
        if members.is_empty() {
            return;
        }
        let (arc, count) = (boundary.arcs[k], members.len());
        let after = members.partition_point(|&(a, _)| a < arc);
        let nearest = [after % count, (after + count - 1) % count].into_iter().min_by(|&i, &j| {
            boundary.distance(members[i].0, arc).total_cmp(&boundary.distance(members[j].0, arc))
        });
        let Some(&(_, v)) = nearest.and_then(|i| members.get(i)) else { return };
        let corner = boundary.vertices[k];
        let p = self.base.positions[corner as usize];
        let guard = Guard { longest: f64::MAX, cos_normal: 0.3, quality: 0.3 };
        self.kind[v as usize] = Kind::Corner;
        if self.accepts(v, NONE, p, &guard) {
            self.work.positions[v as usize] = p;
            self.home[v as usize] = self.base.half.out[corner as usize];
        }
    }
}
