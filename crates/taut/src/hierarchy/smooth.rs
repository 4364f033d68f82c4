//! Smoothing along the surface: each vertex moves towards the area-weighted centroid of its triangles, within
//! the tangent plane, and is projected back onto the base surface; on a boundary, towards the midpoint of its
//! neighbours, and back onto the base's boundary. Both projections are walks from the vertex's previous
//! location.

use glam::DVec3;

use super::coarsen::{Coarsener, FOLD, Kind, SHARP};
use super::halfedge::NONE;
use super::surface::{cross, quality};

/// Fraction of the displacement that a vertex moves in one round.
const STEP_FRACTION: f64 = 0.75;
/// Cosine of the largest angle by which a triangle may rotate.
const COS_NORMAL: f64 = 0.3;

impl Coarsener<'_> {
    /// One round over all vertices, each using the new positions of those before it.
    pub fn smooth(&mut self) {
        for v in 0..self.work.positions.len() as u32 {
            if self.work.half.out[v as usize] == NONE {
                continue;
            }
            let wanted = match self.kind[v as usize] {
                Kind::Inner => self.smooth_inner(v),
                Kind::Curve => self.smooth_curve(v),
                Kind::Corner | Kind::Locked => None,
            };
            if let Some((position, home)) = wanted
                && let Some(position) = self.allowed(v, position)
            {
                self.work.positions[v as usize] = position;
                self.home[v as usize] = home;
            }
        }
    }

    fn smooth_curve(&self, v: u32) -> Option<(DVec3, u32)> {
        let half = &self.work.half;
        let out = half.out[v as usize];
        let before = half.boundary_prev(out);
        if before == NONE {
            return None;
        }
        let ends = [half.head(out), half.tail[before as usize]].map(|v| self.work.positions[v as usize]);
        let p = self.work.positions[v as usize];
        let goal = p.lerp(0.5 * (ends[0] + ends[1]), STEP_FRACTION);
        let (home, point) = self.base.walk_boundary(self.home[v as usize], goal);
        Some((point, home))
    }

    fn smooth_inner(&self, v: u32) -> Option<(DVec3, u32)> {
        let p = self.work.positions[v as usize];
        let (mut center, mut normal, mut weight, mut count) = (DVec3::ZERO, DVec3::ZERO, 0.0, 0.0);
        for h in self.work.half.ring(v) {
            let corners = self.work.points(h / 3);
            let n = cross(corners);
            let area = n.length();
            center += (corners[0] + corners[1] + corners[2]) * (area / 3.0);
            normal += n;
            weight += area;
            count += 1.0;
        }
        if weight <= 0.0 {
            return None;
        }
        let way = center / weight - p;
        // Normals do not give the direction of a fold.
        if normal.length() < FOLD * weight {
            return None;
        }
        let way = if normal.length() < SHARP * weight {
            let along = self.crease(v)?;
            along * way.dot(along)
        } else {
            let n = normal.normalize_or_zero();
            way - n * way.dot(n)
        };
        let hit = self.base.walk(self.home[v as usize], p + way * STEP_FRACTION, DVec3::ZERO);
        // Edges and limbs of the shape are preserved by the planes that the vertex represents.
        let [before, after] = [p, hit.point].map(|p| self.quadric[v as usize].error(p));
        let spacing2 = weight / count;
        if after > before && after > 0.01 * spacing2 { None } else { Some((hit.point, hit.triangle)) }
    }

    /// Direction of the crease on which a sharp vertex lies; none at tips.
    fn crease(&self, v: u32) -> Option<DVec3> {
        let normals = || self.work.half.ring(v).map(|h| self.work.normal(h / 3).normalize_or_zero());
        let first = normals().next()?;
        let along = normals()
            .map(|n| first.cross(n))
            .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))?;
        let along = (along.length() > 0.3).then(|| along.normalize())?;
        normals().all(|n| n.dot(along).abs() < 0.3).then_some(along)
    }

    /// The point nearest to `wanted`, on the line from the position of `v`, at which its triangles stay
    /// valid.
    fn allowed(&self, v: u32, wanted: DVec3) -> Option<DVec3> {
        let p = self.work.positions[v as usize];
        let mut goal = wanted;
        for _ in 0..3 {
            let (mut worst_before, mut worst_after, mut turned) = (1f64, 1f64, false);
            for h in self.work.half.ring(v) {
                let before = self.work.points(h / 3);
                let mut after = before;
                after[h as usize % 3] = goal;
                let (n0, n1) = (cross(before), cross(after));
                turned |= n0.dot(n1) <= COS_NORMAL * n0.length() * n1.length();
                worst_before = worst_before.min(quality(before));
                worst_after = worst_after.min(quality(after));
            }
            if !turned && (worst_after >= 0.9 * worst_before || worst_after >= 0.6) {
                return Some(goal);
            }
            goal = 0.5 * (goal + p);
        }
        None
    }
}
