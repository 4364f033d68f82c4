//! What strands have come to: strains of their segments, and turns at their joints.

use std::sync::Arc;

use glam::Vec3;

use crate::{
    Hair, Limit,
    body::particles::measure::RestSegments,
    measure::{BendMeasure, BodyCertificate, StrainMeasure, TearCertificate},
    strand::{StrandSetup, Strands},
};

/// A joint of two segments of a strand.
#[derive(Clone, Copy, Debug)]
struct Joint {
    /// The point between two segments.
    at: u32,
    /// By how much the strand turns there at rest \[rad\].
    angle: f64,
    /// Mean length of the two segments \[cm\].
    length: f64,
}

/// The piece of a strand around a point.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Piece {
    /// Half the length of the segments at the point \[m\].
    pub length: f32,
    /// \[m\]
    pub radius: f32,
    /// Points of the strand next to it, 0 or 1: before and behind it.
    pub before: usize,
    pub after: usize,
}

/// The rest shape of hair, prepared for measuring.
#[derive(Clone, Debug)]
pub struct RestHair {
    pub(crate) strands: Arc<Strands>,
    segments: RestSegments,
    joints: Vec<Joint>,
    /// By point.
    pub(crate) pieces: Vec<Piece>,
}

/// By how much a strand turns at the middle of three points \[rad\].
fn turn(points: [Vec3; 3]) -> f64 {
    let [a, b, c] = points.map(|p| p.as_dvec3());
    let [u, v] = [b - a, c - b];
    u.cross(v).length().atan2(u.dot(v))
}

impl RestHair {
    /// Prepares `hair`, which is fine, under `gravity` \[m/s²\].
    pub fn new(hair: &Hair, gravity: Vec3) -> Self {
        let groom = &hair.groom;
        let segments: Vec<[u32; 2]> = groom.segments().collect();
        let lengths: Vec<f64> = segments.iter().map(|segment| groom.length(*segment)).collect();
        let piece = |v: usize| Piece { radius: hair.radius(v), ..Piece::default() };
        let mut pieces: Vec<Piece> = (0..groom.positions.len()).map(piece).collect();
        for (&[a, b], length) in segments.iter().zip(&lengths) {
            pieces[a as usize].length += 0.5 * *length as f32;
            pieces[b as usize].length += 0.5 * *length as f32;
            (pieces[a as usize].after, pieces[b as usize].before) = (1, 1);
        }
        let radii: Vec<f32> = pieces.iter().map(|piece| piece.radius).collect();
        let strands = Strands::new(&StrandSetup {
            positions: &groom.positions,
            counts: &groom.counts,
            whole: hair.whole_counts(),
            radii: &radii,
            density: hair.material.density,
            young: hair.material.young,
            shear: hair.material.shear,
            stretch: hair.stretch,
            bend: hair.bend,
            twist: hair.twist,
            rest: hair.rest,
            gravity,
        });
        let turnings = strands.turnings(groom.positions.len());
        let mut joints = Vec::with_capacity(groom.segment_count() - groom.counts.len());
        for own in groom.strands() {
            for at in own.start + 1..own.end - 1 {
                let angle = turnings[at];
                let sides = [[at - 1, at], [at, at + 1]].map(|s| groom.length(s.map(|v| v as u32)));
                joints.push(Joint { at: at as u32, angle, length: 50.0 * (sides[0] + sides[1]) });
            }
        }
        let strands = Arc::new(strands);
        Self { strands, segments: RestSegments::of(segments, lengths, longest(hair)), joints, pieces }
    }

    /// The length of its longest strand \[m\].
    pub(crate) fn size(&self) -> f64 {
        self.segments.size()
    }

    /// The length of all its segments \[m\].
    pub(crate) fn length(&self) -> f64 {
        self.segments.length()
    }

    /// Strains of its segments at `positions` \[m\], as those of edges.
    pub fn measure(&self, positions: &[Vec3], stretch: Limit) -> StrainMeasure {
        self.segments.measure(positions, stretch)
    }

    /// How far its joints turn beyond those at rest, against the limit `most` \[°/cm\].
    pub fn measure_bends(&self, positions: &[Vec3], most: Option<f32>) -> BendMeasure {
        let mut m = BendMeasure::default();
        let mut worst = (-1.0, -1.0);
        for joint in &self.joints {
            let at = joint.at as usize;
            let past = (turn([at - 1, at, at + 1].map(|v| positions[v])) - joint.angle).abs().to_degrees();
            let excess = most.map_or(0.0, |most| (past - f64::from(most) * joint.length).max(0.0));
            let bend = past / joint.length;
            m.max_bend = m.max_bend.max(bend);
            m.max_bend_excess = m.max_bend_excess.max(excess);
            m.mean_bend_excess += excess;
            m.bend_violations += u64::from(excess > 1e-3);
            if (excess, bend) > worst {
                (worst, m.worst_hinge) = ((excess, bend), [joint.at, joint.at + 1]);
            }
        }
        m.mean_bend_excess /= self.joints.len().max(1) as f64;
        m
    }

    /// Strains and bends of `positions` \[m\].
    pub(crate) fn certify(&self, hair: &Hair, positions: &[Vec3]) -> BodyCertificate {
        BodyCertificate {
            name: hair.name.clone(),
            strain: self.measure(positions, hair.stretch),
            bend: self.measure_bends(positions, hair.bend),
            tear: TearCertificate::of_hair(hair),
            ..BodyCertificate::default()
        }
    }
}

/// The length of the longest strand \[m\].
fn longest(hair: &Hair) -> f64 {
    let groom = &hair.groom;
    let length = |own: std::ops::Range<usize>| {
        (own.start + 1..own.end).map(|v| groom.length([v as u32 - 1, v as u32])).sum::<f64>()
    };
    groom.strands().map(length).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HairMaterial, mesh::groom::Groom};

    #[test]
    fn a_strand_that_is_bent_and_stretched_is_measured() {
        let material = HairMaterial {
            name: "custom".into(),
            density: 1000.0,
            radius: 1e-4,
            young: 1e9,
            shear: 1e9,
            damping: 0.0,
            source: String::new(),
        };
        let positions = vec![Vec3::ZERO, Vec3::X * 0.01, Vec3::X * 0.02];
        let hair = Hair::new("strand", Groom { positions, counts: vec![3], radii: Vec::new() }, material);
        let rest = RestHair::new(&hair, Vec3::NEG_Y);
        let bent = [Vec3::ZERO, Vec3::X * 0.01, Vec3::new(0.01, 0.0102, 0.0)];
        let strain = rest.measure(&bent, hair.stretch);
        assert!((strain.max_edge_strain - 0.02).abs() < 1e-5 && strain.edge_violations == 1, "{strain:?}");
        let bend = rest.measure_bends(&bent, Some(80.0));
        assert!(
            (bend.max_bend - 90.0).abs() < 1e-3 && (bend.max_bend_excess - 10.0).abs() < 1e-3,
            "{bend:?}"
        );
        assert_eq!((rest.size(), bend.worst_hinge), (0.02f32.into(), [1, 2]));
    }
}
