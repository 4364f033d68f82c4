//! Contact of surfaces inside the iterations of the schemes that sweep over elements (sections 3.2 and 4.3
//! of the paper: W6, W10; T7 of the second one).
//!
//! Pairs that come near each other are found by continuous detection when a step begins, and again every
//! `solver.detect_every` iterations of the finest level (64, as in the paper) on the way to where vertices
//! are by then; those that are known stay. After every iteration each pair that is nearer than its gap is
//! moved apart along its normal, one after the other in the order in which they were found, its vertices by
//! their inverse masses, with friction by the depth (Eq. 7). Nothing here proves that nothing passes
//! through: that is the [guard](crate::contact::guard)'s part, at the end of the step.
//!
//! Coarse levels of the scheme [`paper`](super::paper) and of the [edge model](super::edge_model) collide
//! with themselves ([`LevelContacts`]): pairs of the level's own mesh, as in section 4.3. Other bodies and
//! mesh obstacles are met on the finest level.

use std::ops::Range;

use glam::Vec3;

use super::{Settings, enforce::Scratch, tuning::levels::BETWEEN_OBSTACLES};
use crate::{
    Contact, World,
    boundary::{motion::Pose, obstacle_contacts::ObstacleContacts},
    contact::{
        surface::Surface,
        tangle::Tangle,
        touching::{Finder, Touching},
    },
    exec::threads::Threads,
    kernel::lanes::Quad,
    solve::nearest::tuning::PAIR_LACKING,
};

/// How deep in a body a vertex may be so that iterations end, in mean edge lengths: it is pushed out then.
const SHALLOW: f32 = 0.01;

/// Finds the pairs of a step from `old` to the prediction `x`, unless they are known from a motion that was
/// tried before. They are then with the scratch memory's finder.
pub fn detect(
    world: &World,
    settings: &Settings,
    (old, x): (&[Quad], &[Quad]),
    obstacle_contacts: &mut ObstacleContacts,
    scratch: &mut Scratch,
) {
    let knows_contacts = std::mem::take(&mut scratch.knows_contacts);
    let (Some(finder), Some(surface)) = (&mut scratch.finder, &world.surface) else { return };
    if !knows_contacts && scratch.pace == 0 {
        // Predictions do not know of obstacles: what falls on cloth that lies on a floor would not meet it,
        // if that was sought below.
        let outside = &mut scratch.moves;
        outside.copy_from_slice(x);
        obstacle_contacts.move_outside(settings.threads, &world.description.obstacles, old, outside);
        finder.find(settings.threads, surface, &scratch.tangle, [&world.start, old, outside]);
    }
}

/// Most rounds after the last iteration in which vertices and bodies are moved apart, and the depth at which
/// they are, in mean edge lengths.
const LAST_ROUNDS: u32 = 32;
const APART: f32 = 1e-6;

/// Contacts of one step on the finest level: of surfaces, and with rigid bodies.
#[derive(Debug)]
pub struct Contacts<'a> {
    world: &'a World,
    surface: Option<&'a Surface>,
    /// Where vertices began the step.
    pub(super) old: &'a [Quad],
    /// Rigid bodies at the start of the step, and where they go.
    poses: &'a mut [[Pose; 2]],
    has_friction: bool,
}

impl<'a> Contacts<'a> {
    /// Finds the pairs of a step from `old` to the prediction `x`, as [`detect`] does.
    pub fn begin(
        world: &'a World,
        settings: &Settings,
        (old, x): (&'a [Quad], &[Quad]),
        (poses, obstacle_contacts): (&'a mut [[Pose; 2]], &mut ObstacleContacts),
        scratch: &mut Scratch,
    ) -> Self {
        detect(world, settings, (old, x), obstacle_contacts, scratch);
        Self::known(world, (old, x), poses, scratch)
    }

    /// The same with the pairs that were found last.
    pub fn known(
        world: &'a World,
        (old, x): (&'a [Quad], &[Quad]),
        poses: &'a mut [[Pose; 2]],
        scratch: &mut Scratch,
    ) -> Self {
        scratch.rigid.begin(world, poses, (old, x), world.paces[scratch.pace].dt);
        // Frames in which cloth may come near something are not those that are taken alone.
        let surface = world.surface.as_ref().filter(|_| scratch.pace == 0);
        Self { world, surface, old, poses, has_friction: !scratch.sewn.is_phase }
    }

    /// Moves pairs at `x`, and bodies, apart after iteration number `iteration`, counted from 1. Says whether
    /// all have about their gaps.
    pub fn meet(
        &mut self,
        settings: &Settings,
        scratch: &mut Scratch,
        iteration: u32,
        x: &mut [Quad],
    ) -> bool {
        let is_apart = self.meet_surfaces(settings, scratch, iteration, x);
        let depth = scratch.rigid.separate(self.world, self.poses, self.old, x);
        is_apart && depth <= SHALLOW * self.world.edge_length
    }

    /// Moves vertices and rigid bodies apart at the end of the iterations, so that momentum is kept; what
    /// is left then, a part of a micrometre, vertices alone. Says whether there are any near.
    pub fn end(&mut self, scratch: &mut Scratch, x: &mut [Quad]) -> bool {
        for _ in 0..LAST_ROUNDS {
            if scratch.rigid.separate(self.world, self.poses, self.old, x) <= APART * self.world.edge_length {
                break;
            }
        }
        scratch.rigid.expel(self.world, self.poses, x);
        !scratch.rigid.is_empty()
    }

    fn meet_surfaces(
        &self,
        settings: &Settings,
        scratch: &mut Scratch,
        iteration: u32,
        x: &mut [Quad],
    ) -> bool {
        let (Some(surface), Some(finder)) = (self.surface, &mut scratch.finder) else { return true };
        if iteration.is_multiple_of(self.world.description.solver.detect_every) {
            let ways = [&self.world.start[..], self.old, x];
            finder.find_more(settings.threads, surface, &scratch.tangle, ways, &[]);
        }
        separate(finder.touching(), self.has_friction, self.old, x) <= PAIR_LACKING
    }
}

/// How coarse levels collide with themselves.
#[derive(Clone, Copy, Debug)]
pub struct LevelGap<'a> {
    /// Where the vertices of the world start \[m\].
    start: &'a [Quad],
    /// Thickness of cloth \[m\], and its friction.
    thickness: f32,
    friction: f32,
    /// Rounds of iterations between two detections.
    rounds: u32,
}

impl<'a> LevelGap<'a> {
    /// Those of `world`, if its cloth collides with cloth.
    pub fn of(world: &'a World) -> Option<Self> {
        let Contact { thickness, friction } = world.description.contact;
        let rounds = world.description.solver.detect_every.div_ceil(BETWEEN_OBSTACLES);
        (thickness > 0.0).then_some(Self { start: &world.start, thickness, friction, rounds })
    }
}

/// What a coarse level of a cloth needs to collide with itself.
#[derive(Debug)]
pub struct LevelContacts {
    rounds: u32,
    surface: Surface,
    finder: Finder,
    /// Where its vertices were at the start of the run, and at the start of the step \[m\].
    start: Vec<Quad>,
    pub(super) old: Vec<Quad>,
}

impl LevelContacts {
    /// For a level with these triangles of a body with these `vertices`; `sampled` says where a vertex of
    /// it is while those of the body are at given positions \[m\].
    pub fn new(
        gap: LevelGap,
        vertices: Range<usize>,
        (triangles, count): (Vec<[u32; 3]>, usize),
        sampled: impl Fn(usize, &[Quad]) -> Quad,
    ) -> Self {
        let start: Vec<Quad> = (0..count).map(|i| sampled(i, &gap.start[vertices.clone()])).collect();
        let mut surface = Surface::new(triangles);
        surface.radius.fill(0.5 * gap.thickness);
        surface.friction.fill(gap.friction);
        let finder = Finder::new(&surface, &start);
        Self { rounds: gap.rounds, surface, finder, old: start.clone(), start }
    }

    /// Moves its pairs at `x` apart after round number `round` of iterations, counted from 1.
    pub fn meet(&mut self, threads: &Threads, round: u32, x: &mut [Quad]) {
        let Self { rounds, surface, finder, start, old } = self;
        let count = start.len();
        if (round - 1).is_multiple_of(*rounds) {
            finder.find(threads, surface, &Tangle::default(), [start, old, &x[..count]]);
        }
        separate(finder.touching(), true, old, &mut x[..count]);
    }
}

/// Moves pairs apart that are nearer than their gap, one after the other. Gives the largest part of a gap
/// that was missing.
fn separate(pairs: &[Touching], has_friction: bool, old: &[Quad], x: &mut [Quad]) -> f32 {
    pairs.iter().fold(0.0, |lacking, pair| lacking.max(separate_pair(pair, has_friction, old, x)))
}

fn separate_pair(pair: &Touching, has_friction: bool, old: &[Quad], x: &mut [Quad]) -> f32 {
    let vertices = pair.vertices.map(|v| v as usize);
    let normal = Vec3::from_array(pair.normal);
    let between = |x: &[Quad]| -> Vec3 { (0..4).map(|i| pair.weights[i] * position(&x[vertices[i]])).sum() };
    let now = between(x);
    let depth = pair.gap - now.dot(normal);
    if depth <= 0.0 {
        return 0.0;
    }
    let compliance: f32 = (0..4).map(|i| pair.weights[i] * pair.weights[i] * x[vertices[i]][3]).sum();
    if compliance > 0.0 {
        let slip = now - between(old);
        let slip = slip - normal * slip.dot(normal);
        let (length, hold) = (slip.length(), if has_friction { pair.friction * depth } else { 0.0 });
        let back = if length <= hold { slip } else { slip * (hold / length) };
        let apart = (normal * depth - back) / compliance;
        for (i, &v) in vertices.iter().enumerate() {
            let share = pair.weights[i] * x[v][3];
            for k in 0..3 {
                x[v][k] += share * apart[k];
            }
        }
    }
    depth / pair.gap
}

#[inline(always)]
fn position(x: &Quad) -> Vec3 {
    Vec3::new(x[0], x[1], x[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{candidates::Pair, continuous::Kind};

    /// A vertex above the middle of a triangle, 2 mm where 5 are asked for.
    fn pair(friction: f32) -> Touching {
        let third = -1.0 / 3.0;
        Touching {
            pair: Pair { kind: Kind::VertexTriangle, first: 0, second: 0 },
            vertices: [0, 1, 2, 3],
            weights: [1.0, third, third, third],
            normal: [0.0, 1.0, 0.0],
            gap: 0.005,
            friction,
        }
    }

    fn places(slip: f32) -> Vec<Quad> {
        let corners = [[-0.1, 0.0, -0.1, 2.0], [0.2, 0.0, -0.1, 1.0], [-0.1, 0.0, 0.2, 4.0]];
        [vec![[slip, 0.002, 0.0, 0.5]], corners.to_vec()].concat()
    }

    #[test]
    fn one_projection_leaves_the_gap_and_momentum() {
        for slip in [0.0, 0.001, 0.05] {
            let (old, start) = (places(0.0), places(slip));
            let mut x = start.clone();
            let lacking = separate(&[pair(0.3)], true, &old, &mut x);
            assert!((lacking - 0.6).abs() < 1e-5);
            let apart = x[0][1] - (x[1][1] + x[2][1] + x[3][1]) / 3.0;
            assert!((apart - 0.005).abs() < 1e-7, "{apart}");
            for k in 0..3 {
                let moved: f32 = x.iter().zip(&start).map(|(x, s)| (x[k] - s[k]) / x[3]).sum();
                assert!(moved.abs() < 1e-7, "{moved}");
            }
            // Friction takes back 0.3 times the 3 mm that were missing, or all of the slip.
            let left = x[0][0] - (x[1][0] + x[2][0] + x[3][0]) / 3.0;
            assert!((left - (slip - 0.0009).max(0.0)).abs() < 1e-6, "{slip}: {left}");
            assert!(separate(&[pair(0.3)], true, &old, &mut x) < 1e-4);
        }
    }

    #[test]
    fn what_is_held_stays() {
        let mut x = places(0.0);
        (1..4).for_each(|v| x[v][3] = 0.0);
        let before = x.clone();
        separate(&[pair(0.0)], true, &before, &mut x);
        assert_eq!(x[1..], before[1..]);
        assert!((x[0][1] - 0.005).abs() < 1e-7);
        x.iter_mut().for_each(|x| x[3] = 0.0);
        let before = x.clone();
        assert!(separate(&[pair(0.0)], true, &before, &mut x) < 1e-4);
        assert_eq!(x, before);
    }
}
