//! Validation of grooms: reports problems before the simulation starts, and names strand and point.

use std::ops::Range;

use glam::Vec3;

use super::{
    super::check::{MAX_COORDINATE, MAX_LISTED_PER_KIND},
    Groom, GroomProblem,
};

/// Maximum number of points of a groom.
pub const MAX_POINTS: usize = 10_000_000;
/// Maximum number of segments of a strand: as many as `.hair` files can count.
pub const MAX_SEGMENTS: usize = 65_535;
/// Shortest segment \[m\]: in f32, one a metre from the origin has a direction only above.
pub(super) const MIN_LENGTH: f64 = 1e-6;

impl Groom {
    /// All problems of the groom, in a fixed order: by kind, then by strand. Empty if it can be simulated.
    ///
    /// At most [`MAX_LISTED_PER_KIND`] problems of a kind are listed, followed by [`GroomProblem::More`].
    pub fn problems(&self) -> Vec<GroomProblem> {
        let points = self.positions.len();
        if self.counts.is_empty() {
            return vec![GroomProblem::Empty];
        }
        if points.max(self.counts.len()) > MAX_POINTS {
            return vec![GroomProblem::TooMany { strands: self.counts.len(), points }];
        }
        let mut found = Vec::new();
        let sum: usize = self.counts.iter().map(|&count| count as usize).sum();
        if sum != points {
            found.push(GroomProblem::Counts { sum, points });
        }
        if !self.radii.is_empty() && self.radii.len() != points {
            found.push(GroomProblem::RadiusCount { radii: self.radii.len(), points });
        }
        // Without these, strands have no points to speak of.
        if !found.is_empty() {
            return found;
        }
        let counts = || self.counts.iter().copied().enumerate();
        let few = counts().filter(|(_, count)| *count < 2);
        let few = few.map(|(strand, points)| GroomProblem::FewPoints { strand, points });
        list(&mut found, "strands of fewer than two points", few);
        let many = counts().filter(|(_, count)| *count as usize > MAX_SEGMENTS + 1);
        let many =
            many.map(|(strand, count)| GroomProblem::ManySegments { strand, segments: count as usize - 1 });
        list(&mut found, "strands of too many segments", many);
        self.check_points(&mut found);
        found
    }

    /// Positions, lengths and radii.
    fn check_points(&self, found: &mut Vec<GroomProblem>) {
        let points = || {
            let strands = self.strands().enumerate();
            strands.flat_map(|(strand, own)| own.clone().map(move |v| (strand, v - own.start, v)))
        };
        let x = |v: usize| self.positions[v];
        let not_finite = points().filter(|&(.., v)| !x(v).is_finite());
        list(
            found,
            "points that are not finite",
            not_finite.map(|(strand, point, v)| GroomProblem::NonFinite { strand, point, position: x(v) }),
        );
        let far = points().filter(|&(.., v)| x(v).is_finite() && x(v).abs().max_element() > MAX_COORDINATE);
        list(
            found,
            "points that are too far away",
            far.map(|(strand, point, v)| GroomProblem::TooFar { strand, point, position: x(v) }),
        );
        let short = points().filter_map(|(strand, point, v)| {
            let length = self.length([v.checked_sub(1).filter(|_| point > 0)? as u32, v as u32]);
            (length < MIN_LENGTH).then(|| GroomProblem::ShortSegment { strand, point: point - 1, length })
        });
        list(found, "segments without length", short);
        let radius = |v: usize| self.radii.get(v).copied().unwrap_or(1.0);
        let bad = points().filter(|&(.., v)| !(radius(v) > 0.0 && radius(v).is_finite()));
        list(
            found,
            "radii that are not positive",
            bad.map(|(strand, point, v)| GroomProblem::Radius { strand, point, radius: radius(v) }),
        );
    }

    /// Strands of a sound groom whose roots are farther than `tolerance` \[m\] from a surface, and those
    /// whose tip is on it instead; `distance` gives the distance of a point from the surface \[m\], of
    /// either sign.
    pub fn problems_on(&self, distance: impl Fn(Vec3) -> f32, tolerance: f32) -> Vec<GroomProblem> {
        let ends = |own: Range<usize>| {
            let [root, tip] = [own.start, own.end - 1].map(|v| distance(self.positions[v]).abs());
            (root, tip)
        };
        let off: Vec<(usize, f32, f32)> = self
            .strands()
            .enumerate()
            .filter(|(_, own)| !own.is_empty())
            .map(|(strand, own)| (strand, ends(own)))
            .filter(|(_, (root, _))| *root > tolerance || root.is_nan())
            .map(|(strand, (root, tip))| (strand, root, tip))
            .collect();
        let mut found = Vec::new();
        let is_reversed = |tip: f32| tip <= tolerance;
        let reversed = off.iter().filter(|(.., tip)| is_reversed(*tip));
        let reversed = reversed.map(|&(strand, root, tip)| GroomProblem::Reversed { strand, root, tip });
        list(&mut found, "strands that begin with their tip", reversed);
        let off = off.iter().filter(|(.., tip)| !is_reversed(*tip));
        let off = off.map(|&(strand, distance, _)| GroomProblem::RootOff { strand, distance, tolerance });
        list(&mut found, "roots off the surface", off);
        found
    }
}

/// Adds problems of one kind: lists the first ones, counts the rest.
fn list(found: &mut Vec<GroomProblem>, what: &'static str, mut problems: impl Iterator<Item = GroomProblem>) {
    found.extend(problems.by_ref().take(MAX_LISTED_PER_KIND));
    let count = problems.count();
    if count > 0 {
        found.push(GroomProblem::More { count, what });
    }
}
