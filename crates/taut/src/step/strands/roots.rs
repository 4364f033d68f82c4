//! Roots of strands in a step: where they go, and what goes with them as a first guess.

use glam::Vec3;

use super::{GRAIN, StrandBox};
use crate::{
    State, World,
    boundary::{motion::Pose, root::RootPlace},
    exec::threads::Threads,
    kernel::lanes::Quad,
    step::{Stepper, boxes::Span},
    strand_springs::RootTarget,
};

impl Stepper {
    /// Puts roots where they are at the end of the step.
    pub(super) fn place_roots(&mut self, world: &World, state: &mut State, span: Span) {
        let Self { strands, poses, predicted, predicted_v, old, .. } = self;
        let poses: &[[Pose; 2]] = poses;
        for ((hair, one), table) in world.hair.iter().zip(&mut strands.hair).zip(&world.roots) {
            let Some(table) = table else { continue };
            let places = |k: usize| {
                let pose = move |body: usize| -> Option<Pose> { Some(poses.get(body)?[k]) };
                table.places(&world.description, span.times[k], pose)
            };
            let [Some(before), Some(after)] = [places(0), places(1)] else { continue };
            one.roots.clear();
            one.roots.extend((0..table.count()).map(|k| [before(k), after(k)]));
            one.turns.clear();
            let turn = |[before, after]: &[RootPlace; 2]| after.rotation * before.rotation.inverse();
            one.turns.extend(one.roots.iter().map(turn));
            one.frames.clear();
            one.targets.clear();
            for (strand, root) in one.rooted.iter().enumerate() {
                let place = root.and_then(|k| one.roots.get(k as usize));
                let turned = |[_, place]: &[RootPlace; 2]| place.rotation * hair.strands.root_frame(strand);
                let frame = place.map_or(Vec3::ZERO, turned);
                one.frames.push([frame.x, frame.y, frame.z, 0.0]);
            }
            for (k, [_, place]) in one.roots.iter().enumerate() {
                one.targets.push(RootTarget { points: place.points, rotation: place.rotation });
                for (v, point) in table.held(k).zip(place.points) {
                    state.x[v][..3].copy_from_slice(&point.to_array());
                    predicted[v][..3].copy_from_slice(&point.to_array());
                    let speed: [f32; 3] = std::array::from_fn(|c| (state.x[v][c] - old[v][c]) / span.dt);
                    state.v[v][..3].copy_from_slice(&speed);
                    predicted_v[v][..3].copy_from_slice(&speed);
                }
            }
        }
    }
}

impl StrandBox {
    /// The first guess: where points were, carried with their roots; free strands go where they would.
    pub(super) fn guess(&self, world: &World, threads: &Threads, old: &[Quad], x: &mut [Quad]) {
        for (tables, one) in world.hair.iter().zip(&self.hair).filter(|(_, one)| !one.roots.is_empty()) {
            let own = tables.vertices.start - world.strands.start..tables.vertices.end - world.strands.start;
            let begin = own.start;
            threads.each(&mut x[own], GRAIN, |from, x| {
                for (v, x) in (begin + from..).zip(x).filter(|(_, x)| x[3] > 0.0) {
                    let k = self.root[v] as usize;
                    let Some([before, after]) = one.roots.get(k) else { continue };
                    let at = Vec3::from_slice(&old[v][..3]);
                    let guess = after.points[0] + one.turns[k] * (at - before.points[0]);
                    x[..3].copy_from_slice(&guess.to_array());
                }
            });
        }
    }
}
