//! From strands to chains of particles that have no flat tetrahedra.
//!
//! Four particles in a row span a tetrahedron, whose six sides are three edges, two bending springs and one
//! torsion spring. Where it is flat, those springs resist bending or twist only in second order. So a strand
//! with flat tetrahedra (a straight one, or a curl of many short segments) is subdivided: each segment gets a
//! particle beside its middle, [`PERTURBATION`] of its length away. From one segment to the next the
//! direction of that particle turns by a right angle, one way or the other at random: then the two torsion
//! springs across a joint resist bending in two directions at right angles, alike.
//!
//! Differs from the lecture, which says "straight" and "curly": what decides is the shortest altitude. A curl
//! with held roots gets one more particle, the *anchor* before its first, without which it could turn freely
//! about its first segment.

use glam::{DQuat, DVec3};

use super::StrandMaterial;
use crate::{
    kernel::{random::Random, real::V3},
    mesh::groom::Groom,
};

/// Distance of an extra particle from the middle of its segment, by the length of the segment.
pub const PERTURBATION: f64 = 0.1;

/// Shortest altitude below which a tetrahedron counts as flat, by the mean length of the strand's segments.
const FLAT: f64 = 0.05;

/// Particles of one strand, in a row.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Number of the strand in the groom.
    pub strand: u32,
    /// How its own points lie among its particles.
    pub layout: Layout,
    /// Particles at rest \[m\].
    pub rest: Vec<DVec3>,
    /// Mass of each \[kg\].
    pub mass: Vec<f64>,
    /// Radius of the strand at each \[m\].
    pub radius: Vec<f64>,
    /// How many of the first are held.
    pub held: usize,
}

/// Point k of a strand is particle `first + k stride` of its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Layout {
    /// 1 if there is an anchor before the first point, else 0.
    pub first: usize,
    /// 2 if the strand is subdivided, else 1.
    pub stride: usize,
}

impl Layout {
    /// The point of the strand that `particle` is, if it is one.
    pub fn point(self, particle: usize) -> Option<usize> {
        let from = particle.checked_sub(self.first)?;
        from.is_multiple_of(self.stride).then_some(from / self.stride)
    }
}

/// The chains of all strands.
pub(super) fn chains(groom: &Groom, material: &StrandMaterial, rooted: bool, seed: u64) -> Vec<Chain> {
    let strands = groom.strands().enumerate().filter(|(_, own)| !own.is_empty());
    strands
        .map(|(strand, own)| {
            let points: Vec<DVec3> = groom.positions[own.clone()].iter().map(|p| p.as_dvec3()).collect();
            let radius: Vec<f64> = own.map(|v| material.radius_of(groom, v)).collect();
            let mut chain = if has_flat_tetrahedron(&points) {
                subdivided(&points, &radius, &mut Random::new(seed, strand as u64))
            } else {
                as_it_is(points, radius, rooted)
            };
            chain.strand = strand as u32;
            chain.held = match (rooted, chain.rest.len()) {
                (false, _) => 0,
                // Two points, subdivided: held by the first alone.
                (true, 0..=3) => 1,
                (true, _) => 3,
            };
            chain.mass = masses(&chain, material.density);
            chain
        })
        .collect()
}

/// Whether some four points in a row span less than a tetrahedron; also if there are no four.
fn has_flat_tetrahedron(points: &[DVec3]) -> bool {
    let length: f64 = points.windows(2).map(|w| w[0].distance(w[1])).sum();
    let floor = FLAT * length / (points.len() as f64 - 1.0);
    let shortest = |w: &[DVec3]| {
        let [u, v, w]: [V3<f64>; 3] = [1, 2, 3].map(|k| (w[k] - w[0]).to_array());
        super::altitude::shortest(u, v, w).height.abs()
    };
    points.len() < 4 || !points.windows(4).all(|w| shortest(w) > floor)
}

/// A strand whose points are its particles, behind an anchor if it is rooted.
fn as_it_is(mut rest: Vec<DVec3>, mut radius: Vec<f64>, rooted: bool) -> Chain {
    if rooted {
        // At right angles to the plane of the first three points, where the torsion spring from it to the
        // third feels a turn about the first segment most.
        let along = rest[1] - rest[0];
        let across = along.cross(rest[2] - rest[1]).normalize_or(along.any_orthonormal_vector());
        rest.insert(0, rest[0] + across * along.length());
        radius.insert(0, radius[0]);
    }
    let layout = Layout { first: rooted.into(), stride: 1 };
    Chain { strand: 0, layout, rest, mass: Vec::new(), radius, held: 0 }
}

/// A strand with a particle beside the middle of each segment.
fn subdivided(points: &[DVec3], radius: &[f64], random: &mut Random) -> Chain {
    let layout = Layout { first: 0, stride: 2 };
    let mut chain = Chain {
        strand: 0,
        layout,
        rest: vec![points[0]],
        mass: Vec::new(),
        radius: vec![radius[0]],
        held: 0,
    };
    let mut tangent = DVec3::ZERO;
    let mut side = DVec3::ZERO;
    for (k, pair) in points.windows(2).enumerate() {
        let along = pair[1] - pair[0];
        let next = along.normalize_or(DVec3::Y);
        if k == 0 {
            let turn = std::f64::consts::TAU * f64::from(random.unit());
            side = DQuat::from_axis_angle(next, turn) * next.any_orthonormal_vector();
        } else {
            let turn = if random.below(2) == 0 { 0.5 } else { -0.5 } * std::f64::consts::PI;
            side = DQuat::from_axis_angle(next, turn) * (DQuat::from_rotation_arc(tangent, next) * side);
            side = side.reject_from_normalized(next).normalize_or(next.any_orthonormal_vector());
        }
        tangent = next;
        chain.rest.push(0.5 * (pair[0] + pair[1]) + side * (PERTURBATION * along.length()));
        chain.radius.push(0.5 * (radius[k] + radius[k + 1]));
        chain.rest.push(pair[1]);
        chain.radius.push(radius[k + 1]);
    }
    chain
}

/// Mass of each particle \[kg\]: half of each edge at it, where the two edges of a subdivided segment share
/// what that weighs. An anchor weighs as much as its neighbour: it is held.
fn masses(chain: &Chain, density: f64) -> Vec<f64> {
    let Layout { first, stride } = chain.layout;
    let mut mass = vec![0.0; chain.rest.len()];
    for a in (first..chain.rest.len() - 1).step_by(stride) {
        let b = a + stride;
        let [ra, rb] = [a, b].map(|p| chain.radius[p]);
        let section = std::f64::consts::PI * (ra * ra + ra * rb + rb * rb) / 3.0;
        let half = 0.5 * density * section * chain.rest[a].distance(chain.rest[b]) / stride as f64;
        for edge in a..b {
            mass[edge] += half;
            mass[edge + 1] += half;
        }
    }
    if first == 1 {
        mass[0] = mass[1];
    }
    mass
}
