//! Grooms: strands of hair, each a row of points from its root to its tip.
//!
//! [`Groom::problems`] says what is wrong with one, [`grow`](grow()) makes one on a [`Skin`],
//! [`Groom::resampled`] gives its strands another number of segments, and [`Interpolation`] moves many
//! strands with few guides.

mod check;
mod fill;
mod grow;
mod guide;
mod places;
mod problem;
mod resample;
mod scatter;
mod skin;
mod style;
#[cfg(test)]
mod tests;

use std::ops::Range;

use glam::Vec3;

pub use check::{MAX_POINTS, MAX_SEGMENTS};
pub use fill::fill;
pub use grow::{Amount, Clump, Curl, GrowError, Growth, grow};
pub use guide::Interpolation;
pub use problem::GroomProblem;
pub use scatter::spread;
pub use skin::Skin;

/// Where a point is relative to a body: its signed distance to the surface \[m\], negative inside, and the
/// outward unit normal there.
pub type Outside<'a> = dyn Fn(Vec3) -> (f32, Vec3) + Sync + 'a;

/// Strands, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groom {
    /// Points of all strands \[m\]; of each strand from its root to its tip.
    pub positions: Vec<Vec3>,
    /// Number of points of each strand, at least two.
    pub counts: Vec<u32>,
    /// Radius at each point \[m\]; empty if none is known.
    pub radii: Vec<f32>,
}

impl Groom {
    /// The points of each strand, by their indices.
    pub fn strands(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        strands_of(&self.counts)
    }

    /// Number of segments of all strands.
    pub fn segment_count(&self) -> usize {
        self.positions.len() - self.counts.len()
    }

    /// Points of each segment, strand by strand.
    pub fn segments(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.strands().flat_map(|own| (own.start + 1..own.end).map(|v| [v as u32 - 1, v as u32]))
    }

    /// The strands of these numbers.
    pub fn subset(&self, strands: &[u32]) -> Self {
        let all: Vec<Range<usize>> = self.strands().collect();
        let mut subset = Self::default();
        for own in strands.iter().filter_map(|&strand| all.get(strand as usize)) {
            subset.counts.push(own.len() as u32);
            subset.positions.extend(self.positions.get(own.clone()).unwrap_or_default());
            subset.radii.extend(self.radii.get(own.clone()).unwrap_or_default());
        }
        subset
    }

    /// Length of each strand \[m\].
    pub fn strand_lengths(&self) -> impl Iterator<Item = f64> + '_ {
        self.strands()
            .map(|own| (own.start + 1..own.end).map(|v| self.length([v as u32 - 1, v as u32])).sum())
    }

    /// First point of each strand \[m\].
    pub fn roots(&self) -> Vec<Vec3> {
        self.strands().filter_map(|own| self.positions.get(own.start).copied()).collect()
    }

    /// Length of the segment between two of its points \[m\].
    pub fn length(&self, [a, b]: [u32; 2]) -> f64 {
        self.positions[a as usize].as_dvec3().distance(self.positions[b as usize].as_dvec3())
    }
}

/// The points of each strand, by their indices, of strands with so many points each.
pub(crate) fn strands_of(counts: &[u32]) -> impl Iterator<Item = Range<usize>> + '_ {
    counts.iter().scan(0, |first, &count| {
        let own = *first..*first + count as usize;
        *first = own.end;
        Some(own)
    })
}
