//! Many strands that few guides move.
//!
//! Each strand is a mean of the guides whose roots are nearest to its own, by inverse distances that vanish
//! at the distance of the first guide that is left out (Franke and Little's form of Shepard's weights), so
//! that weights are smooth where one guide takes over from another. Not points are averaged but turns: every
//! segment of a strand is turned as the guides' segments beside it have turned since the rest state, and
//! segments are then joined from the root on. Strands thus keep their lengths and curls however their guides
//! bend, where means of points shorten strands between guides that part. A guide itself comes out as it is.
//!
//! A turn is known from two directions; a segment shows one. The turn of a root, with the twist about its
//! strand, is that of the roots around it, by a least-squares fit, unless the caller knows it; along a guide
//! it is carried on by the smallest turns that take its tangents along.

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};
use rayon::prelude::*;

use super::{Groom, Outside, places::Places, style::keep_out};
use crate::kernel::svd3::svd3_f64;

/// Roots that the turn of a root is fitted to.
const ROOTS: usize = 7;
/// Share of the smallest turn in a fit, by which one of roots in a row is not left open.
const BIAS: f64 = 1e-6;

/// How strands follow guides.
#[derive(Clone, Debug)]
pub struct Interpolation {
    guides: Groom,
    full: Groom,
    /// Guides of each strand and their weights, which sum to 1, the largest first.
    around: Vec<Vec<(u32, f64)>>,
    /// Guides whose roots are around that of each guide, and itself.
    beside: Vec<Vec<u32>>,
    /// First segment of each guide.
    first: Vec<u32>,
}

impl Interpolation {
    /// Strands `full` that follow `guides`, both at rest on the same surface, each strand `neighbours` of
    /// them at most. None if there are no guides or strands without segments.
    pub fn new(guides: Groom, full: Groom, neighbours: usize) -> Option<Self> {
        let is_sound = |groom: &Groom| !groom.counts.is_empty() && groom.problems().is_empty();
        if !is_sound(&guides) || !is_sound(&full) || neighbours == 0 {
            return None;
        }
        let places = Places::new(guides.roots());
        let mut first = Vec::with_capacity(guides.counts.len());
        let mut sum = 0;
        for &count in &guides.counts {
            first.push(sum);
            sum += count - 1;
        }
        Some(Self {
            around: full.roots().par_iter().map(|&x| places.weights(x, neighbours)).collect(),
            beside: places.all().par_iter().map(|&x| places.nearest(x, ROOTS)).collect(),
            first,
            guides,
            full,
        })
    }

    /// The strands at rest.
    pub fn full(&self) -> &Groom {
        &self.full
    }

    /// Guides of a strand and their weights, which sum to 1, the largest first.
    pub fn guides_of(&self, strand: usize) -> &[(u32, f64)] {
        self.around.get(strand).map_or(&[], Vec::as_slice)
    }

    /// Positions of all strands \[m\] where the points of the guides are at `now` \[m\], into `x`.
    ///
    /// `turns` are the rotations of the guides' roots since the rest state, if the caller knows them. Points
    /// stay out of the body that `outside` describes, by the radius of the strand.
    ///
    /// # Panics
    /// If there is not one position for each point of the guides, or not one turn for each guide.
    pub fn interpolate(
        &self,
        now: &[Vec3],
        turns: Option<&[Quat]>,
        outside: Option<&Outside<'_>>,
        x: &mut Vec<Vec3>,
    ) {
        assert_eq!(now.len(), self.guides.positions.len(), "one position for each point of the guides");
        let roots: Vec<DQuat> = match turns {
            Some(turns) => {
                assert_eq!(turns.len(), self.first.len(), "one turn for each guide");
                turns.iter().map(|turn| turn.as_dquat()).collect()
            }
            None => self.root_turns(now),
        };
        let turns = self.turns(now, &roots);
        let guides: Vec<_> = self.guides.strands().collect();
        let strands: Vec<_> = self.full.strands().collect();
        let one = |(strand, own): (usize, &std::ops::Range<usize>)| {
            let rest = &self.full.positions[own.clone()];
            let around = &self.around[strand];
            let root = around.iter().map(|&(guide, weight)| {
                let start = guides[guide as usize].start;
                let offset = rest[0].as_dvec3() - self.guides.positions[start].as_dvec3();
                weight * (now[start].as_dvec3() + turns[self.first[guide as usize] as usize].1 * offset)
            });
            let mut at: DVec3 = root.sum();
            let mut points = vec![at.as_vec3()];
            let count = rest.len() - 1;
            for i in 0..count {
                let (turn, stretch) = self.turn(around, &turns, (i as f64 + 0.5) / count as f64);
                at += turn * (rest[i + 1].as_dvec3() - rest[i].as_dvec3()) * stretch;
                points.push(at.as_vec3());
            }
            if let Some(outside) = outside {
                let radii = self.full.radii.get(own.clone()).unwrap_or_default();
                keep_out(&mut points, radii.iter().copied().fold(0.0, f32::max), outside);
            }
            points
        };
        let made: Vec<Vec<Vec3>> = strands.par_iter().enumerate().map(one).collect();
        x.clear();
        x.extend(made.into_iter().flatten());
    }

    /// Turn and stretch of each segment of the guides since the rest state.
    fn turns(&self, now: &[Vec3], roots: &[DQuat]) -> Vec<(f64, DQuat)> {
        let mut turns = Vec::with_capacity(self.guides.segment_count());
        for (own, root) in self.guides.strands().zip(roots) {
            let mut turn = *root;
            for v in own.start + 1..own.end {
                let edge = |x: &[Vec3]| x[v].as_dvec3() - x[v - 1].as_dvec3();
                let (from, to) = (edge(&self.guides.positions), edge(now));
                let stretch = to.length() / from.length();
                if let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) {
                    turn = (DQuat::from_rotation_arc((turn * from).normalize(), to) * turn).normalize();
                }
                turns.push((if stretch.is_finite() { stretch } else { 1.0 }, turn));
            }
        }
        turns
    }

    /// Turn and stretch at a part of the way along a strand, by those of the guides around it.
    fn turn(&self, around: &[(u32, f64)], turns: &[(f64, DQuat)], part: f64) -> (DQuat, f64) {
        let (mut sum, mut stretch) = (DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), 0.0);
        let mut add = |(own, turn): (f64, DQuat), weight: f64| {
            // The two quaternions of a turn have opposite signs.
            let sign = if sum.dot(turn) < 0.0 { -weight } else { weight };
            sum += turn * sign;
            stretch += weight * own;
        };
        for &(guide, weight) in around {
            let count = self.guides.counts[guide as usize] as usize - 1;
            let own = &turns[self.first[guide as usize] as usize..][..count];
            // Segments have their turn in their middle.
            let at = (part * count as f64 - 0.5).clamp(0.0, (count - 1) as f64);
            let (low, high) = (at.floor() as usize, at.ceil() as usize);
            let share = at - low as f64;
            add(own[low], weight * (1.0 - share));
            if share > 0.0 {
                add(own[high], weight * share);
            }
        }
        let length = sum.length();
        (if length > 1e-9 { sum / length } else { DQuat::IDENTITY }, stretch)
    }

    /// The turn of each guide's root, fitted to the roots around it and its first segment.
    fn root_turns(&self, now: &[Vec3]) -> Vec<DQuat> {
        let starts: Vec<usize> = self.guides.strands().map(|own| own.start).collect();
        let fit = |guide: usize| {
            let start = starts[guide];
            let from = |x: &[Vec3], v: usize| x[v].as_dvec3() - x[start].as_dvec3();
            let rest = &self.guides.positions;
            let others = || self.beside[guide].iter().filter(|&&near| near as usize != guide);
            let mut sum = DMat3::ZERO;
            let mut spacing = 0.0;
            for &other in others() {
                let v = starts[other as usize];
                sum += outer(from(now, v), from(rest, v));
                spacing += from(rest, v).length_squared();
            }
            let tangent = |x: &[Vec3]| from(x, start + 1).normalize_or(DVec3::Y);
            let arc = DQuat::from_rotation_arc(tangent(rest), tangent(now));
            if spacing <= 0.0 {
                return arc;
            }
            // The first segment counts as much as all roots.
            sum += outer(tangent(now), tangent(rest)) * spacing;
            sum += DMat3::from_quat(arc) * (BIAS * spacing);
            let parts = svd3_f64(sum);
            DQuat::from_mat3(&(parts.u * parts.v.transpose())).normalize()
        };
        (0..starts.len()).into_par_iter().map(fit).collect()
    }
}

/// `a bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
