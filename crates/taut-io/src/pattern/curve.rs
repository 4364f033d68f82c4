//! One edge of a panel: a straight line, a Bézier curve, a circular arc or a polyline.

use glam::DVec2;

/// Parts of the polyline that stands for a Bézier curve when lengths are measured.
const PARTS: usize = 400;

/// An edge, in the coordinates of its panel.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// A straight line between two points.
    Line([DVec2; 2]),
    /// A quadratic Bézier curve: start, control point, end.
    Quadratic([DVec2; 3]),
    /// A cubic Bézier curve: start, two control points, end.
    Cubic([DVec2; 4]),
    /// A circular arc.
    Arc {
        /// Start and end.
        ends: [DVec2; 2],
        /// Its centre.
        center: DVec2,
        /// Its radius.
        radius: f64,
        /// Angle of the start \[rad\], and the angle to the end, positive counter-clockwise.
        angles: [f64; 2],
    },
    /// Straight lines through points, at least two, and the length up to each.
    Polyline {
        /// The points.
        points: Vec<DVec2>,
        /// Rising from 0.
        lengths: Vec<f64>,
    },
}

impl Curve {
    /// Straight lines through `points`, which are at least two.
    pub fn polyline(points: Vec<DVec2>) -> Self {
        let mut sum = 0.0;
        let mut lengths = vec![0.0];
        for pair in points.windows(2) {
            sum += pair[0].distance(pair[1]);
            lengths.push(sum);
        }
        Self::Polyline { points, lengths }
    }

    /// The arc of `radius` from start to end: the longer one of the two on that side if `is_large`, and to
    /// the right of the edge if `to_right`. A radius below half the distance becomes that, as in SVG.
    pub fn arc(ends: [DVec2; 2], radius: f64, is_large: bool, to_right: bool) -> Self {
        let chord = ends[1] - ends[0];
        let radius = radius.abs().max(0.5 * chord.length());
        let height = (radius * radius - 0.25 * chord.length_squared()).max(0.0).sqrt();
        // An arc to the right runs counter-clockwise; less than half a circle of it has its centre on the
        // left.
        let side = if is_large == to_right { -1.0 } else { 1.0 };
        let center = 0.5 * (ends[0] + ends[1]) + side * height * chord.perp().normalize_or_zero();
        let angle = |p: DVec2| (p - center).to_angle();
        let mut turn = (angle(ends[1]) - angle(ends[0])).rem_euclid(std::f64::consts::TAU);
        if !to_right {
            turn -= std::f64::consts::TAU;
        }
        Self::Arc { ends, center, radius, angles: [angle(ends[0]), turn] }
    }

    /// Start and end.
    pub fn ends(&self) -> [DVec2; 2] {
        match self {
            Self::Line(p) => *p,
            Self::Quadratic([a, _, b]) | Self::Cubic([a, _, _, b]) => [*a, *b],
            Self::Arc { ends, .. } => *ends,
            Self::Polyline { points, .. } => {
                let end = |point: Option<&DVec2>| point.copied().unwrap_or_default();
                [end(points.first()), end(points.last())]
            }
        }
    }

    /// The point at `t` from 0 to 1; exact at both ends.
    pub fn at(&self, t: f64) -> DVec2 {
        let [start, end] = self.ends();
        if t <= 0.0 {
            return start;
        }
        if t >= 1.0 {
            return end;
        }
        match self {
            Self::Line([a, b]) => a.lerp(*b, t),
            Self::Quadratic([a, b, c]) => a.lerp(*b, t).lerp(b.lerp(*c, t), t),
            Self::Cubic([a, b, c, d]) => {
                let middle = b.lerp(*c, t);
                let (left, right) = (a.lerp(*b, t).lerp(middle, t), middle.lerp(c.lerp(*d, t), t));
                left.lerp(right, t)
            }
            Self::Arc { center, radius, angles: [first, turn], .. } => {
                *center + *radius * DVec2::from_angle(first + turn * t)
            }
            // By length, so that equal steps are equal ways.
            Self::Polyline { points, lengths } => {
                let wanted = t * self.length();
                let after = lengths.partition_point(|&length| length < wanted).clamp(1, points.len() - 1);
                let part = lengths[after] - lengths[after - 1];
                points[after - 1].lerp(points[after], (wanted - lengths[after - 1]) / part.max(1e-300))
            }
        }
    }

    /// Its length.
    pub fn length(&self) -> f64 {
        match self {
            Self::Line([a, b]) => a.distance(*b),
            Self::Arc { radius, angles, .. } => radius * angles[1].abs(),
            Self::Polyline { lengths, .. } => lengths.last().copied().unwrap_or(0.0),
            _ => self.lengths().last().copied().unwrap_or(0.0),
        }
    }

    /// Lengths up to the ends of [`PARTS`] parts, from 0.
    fn lengths(&self) -> Vec<f64> {
        let (mut last, mut sum) = (self.at(0.0), 0.0);
        let mut lengths = vec![0.0];
        for k in 1..=PARTS {
            let next = self.at(k as f64 / PARTS as f64);
            sum += last.distance(next);
            lengths.push(sum);
            last = next;
        }
        lengths
    }

    /// `count` + 1 points at equal distances along the curve, both ends included.
    pub fn points(&self, count: usize) -> Vec<DVec2> {
        let even = |k: usize| k as f64 / count.max(1) as f64;
        if matches!(self, Self::Line(_) | Self::Arc { .. } | Self::Polyline { .. }) {
            return (0..=count).map(|k| self.at(even(k))).collect();
        }
        let lengths = self.lengths();
        let whole = lengths[PARTS];
        let at = |k: usize| {
            if k == 0 || k == count {
                return self.at(even(k));
            }
            let wanted = whole * even(k);
            let after = lengths.partition_point(|&l| l < wanted).clamp(1, PARTS);
            let part = (wanted - lengths[after - 1]) / (lengths[after] - lengths[after - 1]).max(1e-300);
            self.at((after as f64 - 1.0 + part.clamp(0.0, 1.0)) / PARTS as f64)
        };
        (0..=count).map(at).collect()
    }
}
