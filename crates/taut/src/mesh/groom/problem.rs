//! Problems of a groom, with messages that name strand and point and what would be right.

use glam::Vec3;

use super::{
    super::check::MAX_COORDINATE,
    check::{MAX_POINTS, MAX_SEGMENTS, MIN_LENGTH},
};

/// One problem of a groom. Strands are numbered from 0, and so are the points of each, from its root.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GroomProblem {
    /// There is nothing to simulate.
    #[error("the groom has no strands: at least one is needed")]
    Empty,
    /// There are more points than can be simulated.
    #[error("the groom has {strands} strands of {points} points: at most {MAX_POINTS} points are supported")]
    TooMany {
        /// Number of strands.
        strands: usize,
        /// Number of points.
        points: usize,
    },
    /// The numbers of points do not match the points.
    #[error("the strands have {sum} points together, the groom {points}: they must be the same")]
    Counts {
        /// Sum over strands.
        sum: usize,
        /// Number of positions.
        points: usize,
    },
    /// There is not one radius for each point.
    #[error("the groom has {radii} radii and {points} points: it needs one for each, or none")]
    RadiusCount {
        /// Number of radii.
        radii: usize,
        /// Number of points.
        points: usize,
    },
    /// A strand is too short to have a segment.
    #[error("strand {strand} (from 0) has {points} points: it must have at least two")]
    FewPoints {
        /// The strand.
        strand: usize,
        /// Its number of points.
        points: u32,
    },
    /// A strand has too many segments.
    #[error("strand {strand} (from 0) has {segments} segments: at most {MAX_SEGMENTS} are supported")]
    ManySegments {
        /// The strand.
        strand: usize,
        /// Its number of segments.
        segments: usize,
    },
    /// A position is not finite.
    #[error("strand {strand}, point {point} (from 0) is at {position}: coordinates must be finite numbers")]
    NonFinite {
        /// The strand.
        strand: usize,
        /// The point.
        point: usize,
        /// Its position \[m\].
        position: Vec3,
    },
    /// A position is absurdly large.
    #[error(
        "strand {strand}, point {point} (from 0) is at {position}: coordinates must be within ±{MAX_COORDINATE} m; is the unit right?"
    )]
    TooFar {
        /// The strand.
        strand: usize,
        /// The point.
        point: usize,
        /// Its position \[m\].
        position: Vec3,
    },
    /// A segment has no length.
    #[error(
        "strand {strand}, points {point} and {} (from 0) are {length:e} m apart: they must be at least {MIN_LENGTH:e} m apart",
        point + 1
    )]
    ShortSegment {
        /// The strand.
        strand: usize,
        /// The first of the two points.
        point: usize,
        /// Their distance \[m\].
        length: f64,
    },
    /// A radius is not positive.
    #[error(
        "strand {strand}, point {point} (from 0) has the radius {radius} m: it must be above 0 and finite"
    )]
    Radius {
        /// The strand.
        strand: usize,
        /// The point.
        point: usize,
        /// Its radius \[m\].
        radius: f32,
    },
    /// A strand begins with its tip.
    #[error(
        "strand {strand} (from 0) begins {root} m off the surface and ends {tip} m off it: it must begin with its root; reverse it"
    )]
    Reversed {
        /// The strand.
        strand: usize,
        /// Distance of its first point from the surface \[m\].
        root: f32,
        /// Distance of its last point from the surface \[m\].
        tip: f32,
    },
    /// A root is not on the surface.
    #[error(
        "strand {strand} (from 0) begins {distance} m off the surface: roots must be within {tolerance} m of it"
    )]
    RootOff {
        /// The strand.
        strand: usize,
        /// Distance of its first point from the surface \[m\].
        distance: f32,
        /// Distance that is allowed \[m\].
        tolerance: f32,
    },
    /// More problems of one kind than are listed.
    #[error("and {count} more {what}")]
    More {
        /// Number of the others.
        count: usize,
        /// What they are.
        what: &'static str,
    },
}
