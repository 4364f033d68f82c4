//! Boxes in the plane of a pattern.

use glam::DVec2;

/// A box in the pattern \[m\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    /// Lowest corner.
    pub low: DVec2,
    /// Highest corner.
    pub high: DVec2,
}

impl Area {
    /// The empty box.
    pub const EMPTY: Self = Self { low: DVec2::INFINITY, high: DVec2::NEG_INFINITY };

    /// The smallest box that contains this one and the point `p`.
    pub fn with(self, p: DVec2) -> Self {
        Self { low: self.low.min(p), high: self.high.max(p) }
    }

    /// Inflated by `by` on every side.
    pub fn grown(self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by }
    }

    /// Whether it contains the point `p`.
    pub fn contains(&self, p: DVec2) -> bool {
        p.cmpge(self.low).all() && p.cmple(self.high).all()
    }

    /// Whether it meets another box.
    pub fn meets(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }

    /// Whether it meets the triangle or, if two corners are the same, the edge between `points`: no line
    /// along an axis or an edge is between them.
    pub fn meets_hull(&self, points: [DVec2; 3]) -> bool {
        if points.iter().any(|p| self.contains(*p)) {
            return true;
        }
        let about = points.iter().fold(Self::EMPTY, |about, p| about.with(*p));
        let corners =
            [self.low, self.high, DVec2::new(self.low.x, self.high.y), DVec2::new(self.high.x, self.low.y)];
        self.meets(&about)
            && (0..3).all(|k| {
                let (from, way) = (points[k], points[(k + 1) % 3] - points[k]);
                let range = |points: &[DVec2]| {
                    points.iter().fold([f64::MAX, f64::MIN], |[low, high], p| {
                        let off = way.perp_dot(*p - from);
                        [low.min(off), high.max(off)]
                    })
                };
                let ([low, high], [own_low, own_high]) = (range(&points), range(&corners));
                low <= own_high && own_low <= high
            })
    }
}
