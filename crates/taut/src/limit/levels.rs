//! Limits on the coarser levels of a body: what the schemes [`cycle`](super::cycle) and
//! [`paper`](super::paper) share (W10).
//!
//! Every coarse vertex is a point of the base mesh: of its surface, or of a solid's inside. On the way down a
//! level reads its positions off the base: sampled there ([`Descent::Sample`]), or carried along by averaged
//! displacements as in the paper ([`Descent::Average`]). The level is brought within its own limits, and only
//! what that *changed* goes up to the next finer level and in the end to the base: detail that a coarse level
//! cannot see stays, and where nothing changed, level 0 keeps its bits (T6).
//!
//! **Pins (T4).** The coarse vertex next to a pinned base vertex is moved onto it, in the rest shape too
//! ([`tables`]): it then *is* that vertex, is held while that one is held, and moves with it. Where that
//! would spoil a triangle of cloth, a vertex is inserted ([`insert`]). Limits of elements that change are
//! fitted again ([`Refit`](crate::hierarchy::fit::Refit)). What is held by someone else than the scene, while
//! it runs (T5), gets levels of its own ([`parts`]). Of solids, vertices that lie among held ones alone are
//! held too.
//!
//! **Obstacles** meet the base mesh at every level: what the level changed so far is carried to the base,
//! vertices of the base that would be inside an obstacle are put back with friction, and each coarse vertex
//! takes the average of the pushes around it. (The paper too takes collisions from the base mesh.) A level
//! meets itself with its own mesh ([`contact`](super::contact)).

pub mod edges;
pub mod insert;
pub mod parts;
pub mod solid;
pub mod tables;

use glam::Vec3;

use super::{
    Settings,
    contact::{LevelContacts, LevelGap},
};
use crate::{hierarchy::Transfer, kernel::lanes::Quad, term::obstacle::Surroundings};
use tables::{LevelTables, Levels};

/// Vertices below which a loop is not shared between threads.
const GRAIN: usize = 2000;

/// How positions come down to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descent {
    /// Read off the base mesh.
    Sample,
    /// Where the vertex was when the step began, plus the average displacement around it since then: the
    /// paper downsamples velocities with the weights that it upsamples with (section 4.1).
    Average,
}

/// Memory that one level needs.
#[derive(Debug, Default)]
struct LevelScratch {
    /// Positions, and inverse mass as fourth component; a spare vertex at the end.
    x: Vec<Quad>,
    /// Where they were before anything of this pass reached them.
    before: Vec<Quad>,
    /// Displacements, changes or pushes on their way.
    travelling: Vec<Quad>,
    /// What keeps it from itself.
    contacts: Option<LevelContacts>,
}

/// Memory that the levels of one body need, kept between steps.
#[derive(Debug, Default)]
pub struct Scratch {
    levels: Vec<LevelScratch>,
    /// What travels from or to the base.
    base: Vec<Quad>,
}

impl<const K: usize> Levels<K> {
    /// Memory for [`Levels::pass`]; levels of triangles collide with themselves if they have a `gap`.
    pub fn scratch(&self, gap: Option<LevelGap>) -> Scratch {
        let level = |l: &LevelTables<K>| {
            let count = l.inverse_masses.len();
            let quads = || vec![[0.0; 4]; count + 1];
            let contacts = gap.filter(|_| K == 3).map(|gap| {
                let triangles = l.elements.iter().map(|t| [t[0], t[1], t[2]]).collect();
                LevelContacts::new(gap, self.vertices.clone(), (triangles, count), |i, x| l.sampled(i, x))
            });
            LevelScratch { x: quads(), before: quads(), travelling: quads(), contacts }
        };
        Scratch { levels: self.levels.iter().map(level).collect(), base: vec![[0.0; 4]; self.vertices.len()] }
    }

    /// One pass over the coarse levels, the coarsest first; the body's vertices `x` get what it changed.
    ///
    /// `limit` gets the number of a level (1 is the finest of them), its tables, its positions, and how often
    /// it was called for it. It brings them nearer to the level's limits and says whether it wants to go on
    /// after obstacles have been met.
    pub fn pass(
        &self,
        settings: &Settings,
        descent: Descent,
        x: &mut [Quad],
        around: &Surroundings,
        scratch: &mut Scratch,
        mut limit: impl FnMut(usize, &LevelTables<K>, &mut [Quad], u32) -> bool,
    ) {
        let near = self.candidates(around);
        self.descend(settings, descent, x, around, scratch);
        for k in (0..self.levels.len()).rev() {
            let (finer, coarser) = scratch.levels.split_at_mut(k + 1);
            let at = &mut finer[k];
            if let (Some(from), Some(coarse)) = (self.levels.get(k + 1), coarser.first()) {
                raise(settings, &from.transfer, &coarse.travelling, &mut at.x);
            }
            let mut round = 0;
            while limit(k + 1, &self.levels[k], &mut scratch.levels[k].x, round) {
                round += 1;
                if !near.is_empty() {
                    self.meet_obstacles(k, x, around, near, scratch);
                }
                let LevelScratch { x, contacts, .. } = &mut scratch.levels[k];
                if let Some(contacts) = contacts {
                    contacts.meet(settings.threads, round, x);
                }
            }
            note_change(&mut scratch.levels[k]);
        }
        if let (Some(level), Some(from)) = (self.levels.first(), scratch.levels.first()) {
            raise(settings, &level.transfer, &from.travelling, x);
        }
    }

    /// The positions of all levels.
    fn descend(
        &self,
        settings: &Settings,
        descent: Descent,
        x: &[Quad],
        around: &Surroundings,
        scratch: &mut Scratch,
    ) {
        let Scratch { levels, base } = scratch;
        if descent == Descent::Average {
            for (moved, (x, old)) in base.iter_mut().zip(x.iter().zip(around.old)) {
                *moved = [x[0] - old[0], x[1] - old[1], x[2] - old[2], 0.0];
            }
        }
        for k in 0..levels.len() {
            let (finer, this) = levels.split_at_mut(k);
            let (tables, LevelScratch { x: own, before, travelling, contacts }) =
                (&self.levels[k], &mut this[0]);
            if let Some(contacts) = contacts {
                let old = contacts.old.iter_mut().enumerate();
                old.for_each(|(i, old)| *old = tables.sampled(i, around.old));
            }
            if descent == Descent::Average {
                let fine = finer.last().map_or(&base[..], |f| &f.travelling);
                lower(&tables.transfer, fine, travelling);
                for (moved, sum) in travelling.iter_mut().zip(&tables.sums) {
                    let share = if *sum > 0.0 { 1.0 / sum } else { 0.0 };
                    *moved = moved.map(|m| m * share);
                }
            }
            let moved = &*travelling;
            let count = tables.inverse_masses.len();
            settings.threads.each(&mut own[..count], GRAIN, |first, part| {
                for (j, to) in part.iter_mut().enumerate() {
                    let i = first + j;
                    let held = tables.is_held(i, x);
                    let sampled = held || descent == Descent::Sample || tables.sums[i] <= 0.0;
                    let mut quad = tables.sampled(i, if sampled { x } else { around.old });
                    if !sampled {
                        for k in 0..3 {
                            quad[k] += moved[i][k];
                        }
                    }
                    quad[3] = if held { 0.0 } else { tables.inverse_masses[i] };
                    *to = quad;
                }
            });
            before.copy_from_slice(own);
        }
    }

    /// Vertices of the body that may meet an obstacle in this step, of all vertices.
    fn candidates<'a>(&self, around: &'a Surroundings) -> &'a [u32] {
        let all = around.obstacle_contacts.candidates();
        let [from, to] =
            [self.vertices.start, self.vertices.end].map(|end| all.partition_point(|&v| (v as usize) < end));
        &all[from..to]
    }

    /// Moves level `k` (counted from 0) so that the base, `x` plus what the level changed, is not inside
    /// obstacles.
    fn meet_obstacles(
        &self,
        k: usize,
        x: &[Quad],
        around: &Surroundings,
        near: &[u32],
        scratch: &mut Scratch,
    ) {
        let Scratch { levels, base } = scratch;
        note_change(&mut levels[k]);
        for j in (0..=k).rev() {
            let (finer, this) = levels.split_at_mut(j);
            let fine = finer.last_mut().map_or(&mut base[..], |f| &mut f.travelling);
            let transfer = &self.levels[j].transfer;
            for ((to, corners), weights) in fine.iter_mut().zip(&transfer.corners).zip(&transfer.weights) {
                *to = interpolated(&this[0].travelling, *corners, *weights);
            }
        }
        let (mut after, mut pushed) = (0, false);
        for v in near.iter().map(|&v| v as usize - self.vertices.start) {
            base[after..v].fill([0.0; 4]);
            after = v + 1;
            let at = position(&x[v]) + position(&base[v]);
            let old = position(&around.old[v]);
            let sunk = around.obstacle_contacts.sunk(around.obstacles, old);
            let push = around.obstacle_contacts.nearest_outside(around.obstacles, old, sunk, at) - at;
            base[v] = [push.x, push.y, push.z, f32::from(push != Vec3::ZERO)];
            pushed |= push != Vec3::ZERO;
        }
        base[after..].fill([0.0; 4]);
        if !pushed {
            return;
        }
        for j in 0..=k {
            let (finer, this) = levels.split_at_mut(j);
            let fine = finer.last().map_or(&base[..], |f| &f.travelling);
            lower(&self.levels[j].transfer, fine, &mut this[0].travelling);
        }
        let LevelScratch { x: own, travelling, .. } = &mut levels[k];
        for ((to, push), all) in own.iter_mut().zip(travelling.iter()).zip(&self.levels[k].base_sums) {
            // Where little of what the vertex stands for touches, it takes part of the push only.
            let share = 1.0 / push[3].max(0.5 * all).max(1e-6);
            if to[3] > 0.0 && push[3] > 0.0 {
                for c in 0..3 {
                    to[c] += push[c] * share;
                }
            }
        }
    }
}

/// What a level changed.
fn note_change(level: &mut LevelScratch) {
    for (to, (x, before)) in level.travelling.iter_mut().zip(level.x.iter().zip(&level.before)) {
        *to = [x[0] - before[0], x[1] - before[1], x[2] - before[2], 0.0];
    }
}

/// Adds interpolated changes to vertices that are not held; where there is none, bits stay.
fn raise<const K: usize>(settings: &Settings, transfer: &Transfer<K>, changes: &[Quad], fine: &mut [Quad]) {
    let count = transfer.corners.len();
    settings.threads.each(&mut fine[..count], GRAIN, |first, part| {
        for (j, to) in part.iter_mut().enumerate() {
            let change = interpolated(changes, transfer.corners[first + j], transfer.weights[first + j]);
            if to[3] > 0.0 && change[..3] != [0.0; 3] {
                for k in 0..3 {
                    to[k] += change[k];
                }
            }
        }
    });
}

/// Sums of the values of the finer level, by the weights with which it takes part in the coarser one.
fn lower<const K: usize>(transfer: &Transfer<K>, fine: &[Quad], coarse: &mut [Quad]) {
    coarse.fill([0.0; 4]);
    for ((value, corners), weights) in fine.iter().zip(&transfer.corners).zip(&transfer.weights) {
        for (c, w) in corners.iter().zip(weights) {
            let sum = &mut coarse[*c as usize];
            for k in 0..4 {
                sum[k] += w * value[k];
            }
        }
    }
}

#[inline(always)]
fn interpolated<const K: usize>(values: &[Quad], corners: [u32; K], weights: [f32; K]) -> Quad {
    let mut sum = values[corners[0] as usize].map(|value| value * weights[0]);
    for j in 1..K {
        let value = values[corners[j] as usize];
        for k in 0..4 {
            sum[k] += value[k] * weights[j];
        }
    }
    sum
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
