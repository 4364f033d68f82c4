//! Hair as a mass-spring system, as the lecture gives it (Selle, Lentine and Fedkiw 2008, "A Mass Spring
//! Model for Hair Simulation"): springs of edges, bending, torsion and altitude, by explicit steps.
//!
//! 1. [`chain`]: each strand becomes a row of particles; straight ones are subdivided and perturbed, so that
//!    four particles in a row span a tetrahedron.
//! 2. [`build`]: springs between particles one, two and three apart, whose stiffness is that of a rod, and
//!    [altitude](`altitude`) springs, which keep tetrahedra from turning inside out.
//! 3. [`plan`]: the number of substeps that the stiffest spring needs, or softer springs for fewer.
//! 4. [`advance`]: symplectic Euler in [`substep`]s, with the lecture's limit on the strain of segments from
//!    root to tip ([`limit`]).
//!
//! It is a reference for the direct solve of `strand`: springs of real hair need steps of about 1 µs, since a
//! hair is tens of thousands of times as stiff along itself as across. The paper takes springs by
//! half-implicit steps; the lecture says nothing of time steps, and explicit ones show what the stiffness
//! costs.
//!
//! Positions are two `f32` each, a value and what its rounding lost: a substep moves a particle by less than
//! the rounding of one. Lanes are strands, so that each strand is computed by itself, and the same bits come
//! out on any number of threads and lanes. A strand that becomes non-finite is reset, alone.

mod advance;
mod altitude;
mod build;
mod chain;
mod limit;
mod plan;
mod substep;
#[cfg(test)]
mod tests;

use std::ops::Range;

use glam::{Quat, Vec3};

use crate::{
    kernel::{
        lanes::{BATCH, Lanes, Quad},
        real::V3,
    },
    mesh::groom::Groom,
};

pub use plan::Plan;

/// What strands are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrandMaterial {
    /// Mass per volume \[kg/m³\].
    pub density: f64,
    /// Young's modulus \[Pa\].
    pub young: f64,
    /// Shear modulus \[Pa\].
    pub shear: f64,
    /// Radius where the groom gives none \[m\].
    pub radius: f64,
}

impl StrandMaterial {
    /// Radius at point `v` of `groom` \[m\].
    fn radius_of(&self, groom: &Groom, v: usize) -> f64 {
        groom.radii.get(v).map_or(self.radius, |&radius| radius.into())
    }
}

/// How springs are built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringSetup {
    /// What strands are made of.
    pub material: StrandMaterial,
    /// Damping of each spring along itself, by what would damp its two particles critically.
    pub damping_ratio: f64,
    /// Whether the first two points of each strand are held (of a strand of two points, the first).
    pub is_rooted: bool,
    /// Seed of the perturbation of straight strands.
    pub seed: u64,
}

/// Springs of many strands: what does not change from step to step.
#[derive(Clone, Debug)]
pub struct SpringModel {
    batches: Vec<build::Batch>,
    /// Of each batch: its part of the kept state and of the scratch \[floats\].
    parts: Vec<[Range<usize>; 2]>,
    /// Of each point of the groom: where the kept state has its x \[floats\]; `u32::MAX` if nowhere.
    places: Vec<u32>,
    /// Number of the first segment of each strand.
    first_segments: Vec<u32>,
    strand_count: usize,
    is_rooted: bool,
    bounds: plan::Bounds,
}

/// Where the root of a strand is at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootTarget {
    /// Its first two points \[m\].
    pub points: [Vec3; 2],
    /// How it has turned since [`SpringModel::begin`].
    pub rotation: Quat,
}

/// Limits on the strain of segments, and where they break.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentLimits {
    /// Least strain (−0.1 is a tenth shorter than at rest); none if `None`.
    pub min: Option<f32>,
    /// Largest strain.
    pub max: Option<f32>,
    /// Strain past which a segment is cut, measured before limits.
    pub break_strain: Option<f32>,
}

/// A step to take.
#[derive(Clone, Copy, Debug)]
pub struct SpringStep<'a> {
    /// Its length \[s\].
    pub dt: f32,
    /// Gravity \[m/s²\].
    pub gravity: Vec3,
    /// Rate at which motion dies away \[1/s\].
    pub drag: f32,
    /// Where roots go, at constant velocity, strand by strand; `None` if they stay where they are.
    pub roots: Option<&'a [RootTarget]>,
    /// Most substeps; springs are softened for fewer than they need.
    pub max_substeps: u32,
    /// Limits on segments.
    pub limits: SegmentLimits,
}

/// What changes from step to step.
#[derive(Debug)]
pub struct SpringState<'a> {
    /// Points of all strands \[m\], as in the groom; the fourth component is left alone.
    pub x: &'a mut [Quad],
    /// Their velocities \[m/s\].
    pub v: &'a mut [Quad],
    /// The rest of the state: [`SpringModel::kept_count`] floats, filled by [`SpringModel::begin`]. It has
    /// the extra particles, what rounding lost, and which segments are cut.
    pub kept: &'a mut [f32],
}

/// Memory for a step, so that none is allocated in it.
#[derive(Clone, Debug)]
pub struct SpringScratch {
    /// The kept state at the start of the step.
    before: Vec<f32>,
    tallies: Vec<advance::Tally>,
    broken: Vec<u32>,
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringReport<'a> {
    /// Substeps, and how springs were softened for them.
    pub plan: Plan,
    /// Strands that became non-finite and were put back to where they were at the start of the step.
    pub resets: u32,
    /// Segments that were cut in this step, by their numbers in the groom, in ascending order.
    pub broken: &'a [u32],
}

/// Which particles an outside force is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Strand of each lane of the batch, of which the lanes from `at` on are meant; `u32::MAX` for none.
    pub strands: &'a [u32; BATCH],
    /// First lane.
    pub at: usize,
    /// Number of the point in its strand, if it is one and not an extra particle.
    pub point: Option<usize>,
    /// Time since the start of the step \[s\].
    pub time: f32,
}

/// Forces from outside on particles: contact with bodies, wind. Extra particles feel them too.
pub trait OutsideForces: Sync {
    /// Acceleration of the particles of `site` at positions `x` \[m\] with velocities `v` \[m/s\] and inverse
    /// masses `w` \[1/kg\] (0 where held or none: what is given there is not used) \[m/s²\]. It is called
    /// once for each particle in each substep. To be inlined; closures in it (also in `map`) are not
    /// compiled for the lanes' instructions, and slow.
    fn acceleration<L: Lanes>(&self, site: Site, x: V3<L>, v: V3<L>, w: L) -> V3<L>;
}

/// No forces from outside.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub struct NoForces;

#[cfg(test)]
impl OutsideForces for NoForces {
    #[inline(always)]
    fn acceleration<L: Lanes>(&self, _: Site, _: V3<L>, _: V3<L>, _: L) -> V3<L> {
        [L::splat(0.0); 3]
    }
}
