//! From strands to unknowns: one a point, in the caller's order.

use super::measure::RestHair;
use crate::{
    Hair,
    body::{BodyTables, Rest, elements::Elements},
    embedding::Embedding,
};

/// Tables of hair whose unknowns begin at `first`. It has no elements: [`strand`](crate::strand) solves it.
/// What other bodies scale by is not scaled by its short segments, unless there are no others.
pub(crate) fn add(hair: &Hair, first: usize, elements: &mut Elements) -> BodyTables {
    let count = hair.groom.positions.len();
    let rest = RestHair::new(hair, elements.gravity);
    if elements.edge_count == 0 {
        elements.edge_length_sum += rest.length();
        elements.edge_count += hair.groom.segment_count();
    }
    BodyTables {
        vertices: first..first + count,
        embedding: Embedding::Identity { order: (0..count as u32).collect() },
        masses: rest.strands.masses().iter().map(|&mass| mass.into()).collect(),
        surface: Vec::new(),
        rest: Rest::Hair(rest),
        damping: hair.material.damping,
        scraps: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::{HairMaterial, mesh::groom::Groom};

    #[test]
    fn a_strand_weighs_what_its_volume_does() {
        let positions = (0..=4).map(|k| Vec3::X * 0.25 * k as f32).collect();
        let groom = Groom { positions, counts: vec![5], radii: vec![0.01; 5] };
        let material = HairMaterial {
            name: "custom".into(),
            density: 1000.0,
            radius: 1.0,
            young: 0.0,
            shear: 0.0,
            damping: 0.0,
            source: String::new(),
        };
        let masses = Hair::new("strand", groom, material).masses();
        let whole = 1000.0 * std::f64::consts::PI * 1e-4;
        assert!((masses.iter().sum::<f64>() / whole - 1.0).abs() < 1e-6);
        assert!((masses[0] / masses[1] - 0.5).abs() < 1e-6);
    }
}
