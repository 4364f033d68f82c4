//! Grooms: strands of hair, each a row of points from its root to its tip.

use std::ops::Range;

use glam::Vec3;

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
        self.counts.iter().scan(0, |first, &count| {
            let own = *first..*first + count as usize;
            *first = own.end;
            Some(own)
        })
    }

    /// Number of segments of all strands.
    pub fn segment_count(&self) -> usize {
        self.positions.len() - self.counts.len()
    }

    /// Points of each segment, strand by strand.
    pub fn segments(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.strands().flat_map(|own| (own.start + 1..own.end).map(|v| [v as u32 - 1, v as u32]))
    }

    /// Length of the segment between two of its points \[m\].
    pub fn length(&self, [a, b]: [u32; 2]) -> f64 {
        self.positions[a as usize].as_dvec3().distance(self.positions[b as usize].as_dvec3())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_join_neighbours_of_the_same_strand() {
        let positions = (0..5).map(|k| Vec3::X * k as f32).collect();
        let groom = Groom { positions, counts: vec![3, 2], radii: Vec::new() };
        assert_eq!(groom.segments().collect::<Vec<_>>(), [[0, 1], [1, 2], [3, 4]]);
        assert_eq!((groom.segment_count(), groom.length([3, 4])), (3, 1.0));
    }
}
