//! Merges vertices of equal position: STL and glTF repeat a vertex for each face or texture seam.
//!
//! Positions must be exactly equal. A tolerance would have to guess the model's scale, and would merge
//! adjacent layers of cloth; exporters write the same vertex with the same bits.

use std::collections::HashMap;

use glam::Vec3;

/// Positions so far and their vertices.
#[derive(Default)]
pub(super) struct Weld {
    index: HashMap<[u32; 3], u32>,
}

impl Weld {
    /// The vertex at `position`, added at the end of `positions` if it is new to this weld.
    pub fn vertex(&mut self, position: Vec3, positions: &mut Vec<Vec3>) -> u32 {
        // Adding zero turns −0 into 0: they are the same place.
        let key = (position + Vec3::ZERO).to_array().map(f32::to_bits);
        *self.index.entry(key).or_insert_with(|| {
            positions.push(position);
            (positions.len() - 1) as u32
        })
    }
}
