//! From one world to the next: what a state is in a world that was built again with bodies inserted or
//! removed, other settings, or frames of another length.
//!
//! Positions, velocities, pins and grips of bodies that are in both are the same bits. What the filters keep
//! from one step to the next is taken along for those that filter the same bodies.

use std::ops::Range;

use crate::{Ruler, State, World, boundary::hold::PinOverride};

/// What a new world has taken over from an old one: for each of its bodies and rigid bodies, which it was.
#[derive(Clone, Debug)]
pub(super) struct Origins {
    pub bodies: Vec<Option<usize>>,
    pub rigid: Vec<Option<usize>>,
    /// Which spring of the description each was.
    pub springs: Vec<usize>,
    /// By body of the new world: for each vertex that a tear has added, behind the others, the vertex of its
    /// body that it was split from; both are places in the engine's order.
    pub splits: Vec<Vec<u32>>,
}

impl Origins {
    /// What vertex `vertex` of body `body` was, in the engine's order of that body, which had `count`.
    fn vertex(&self, body: usize, vertex: usize, count: usize) -> usize {
        match vertex.checked_sub(count) {
            None => vertex,
            Some(copy) => self.splits[body][copy] as usize,
        }
    }
}

impl Origins {
    /// All of them, in the same order.
    pub fn all(world: &World) -> Self {
        let description = world.description();
        let same = |count: usize| (0..count).map(Some).collect();
        Self {
            bodies: same(world.bodies.len()),
            rigid: same(description.rigid_bodies.len()),
            springs: (0..description.springs.len()).collect(),
            splits: vec![Vec::new(); world.bodies.len()],
        }
    }
}

/// Moves `frames`, during which a pin holds, to a clock by which it would be `new`: what has begun by frame
/// `now` has begun there, what has ended has ended.
fn moved(old: &Range<u32>, new: Range<u32>, now: u32) -> Range<u32> {
    let start = match old.start {
        0 => 0,
        begun if begun < now => new.start.clamp(1, now - 1),
        _ => new.start.max(now),
    };
    let end = match old.end {
        u32::MAX => u32::MAX,
        ended if ended <= now => new.end.min(now),
        _ => new.end.max(now + 1),
    };
    start..end
}

impl World {
    /// Goes on with frame `frame` at `time` \[s\], from the world `from` of which it has `origins`.
    pub(super) fn resume_at(&mut self, time: f64, frame: u32, from: &World, origins: &Origins) {
        self.ruler.origin = if frame == 0 { time } else { time - f64::from(frame) * self.frame_length() };
        if self.origin == from.origin && self.frame_length() == from.frame_length() && self.origin == 0.0 {
            self.hold_new_bodies(frame, origins);
            return;
        }
        let described: Vec<_> = self.description.bodies.iter().flat_map(|body| body.pins()).collect();
        let frames = self.pins.iter().enumerate().map(|(k, pin)| {
            let new = described[pin.motion as usize].frames_after(self.origin, self.description.frame_time);
            match same_pin(from, self, origins, k) {
                Some(old) => moved(&from.pins[old].frames, new, frame),
                None => new,
            }
        });
        let frames: Vec<_> = frames.collect();
        self.ruler.pins.iter_mut().zip(frames).for_each(|(pin, frames)| pin.frames = frames);
        self.hold_new_bodies(frame, origins);
    }

    /// Length of a frame as the clock counts it \[s\].
    pub(super) fn frame_length(&self) -> f64 {
        f64::from(self.steps_per_frame()) * f64::from(self.step_time())
    }

    /// Pins of bodies that are new in frame `frame` and should have begun before hold from their start.
    fn hold_new_bodies(&mut self, frame: u32, origins: &Origins) {
        let Ruler { bodies, pins, .. } = &mut self.ruler;
        for (body, origin) in bodies.iter().zip(&origins.bodies) {
            let pins = pins.iter_mut().filter(|pin| body.vertices.contains(&(pin.vertex as usize)));
            for pin in pins.filter(|pin| origin.is_none() && pin.frames.start <= frame) {
                pin.frames.start = 0;
            }
        }
    }
}

/// Which pin of `from` number `pin` of `to` was: the one of the same vertex, in the same order.
fn same_pin(from: &World, to: &World, origins: &Origins, pin: usize) -> Option<usize> {
    let vertex = to.pins[pin].vertex;
    let first = to.pins.partition_point(|other| other.vertex < vertex);
    let body = to.bodies.partition_point(|b| b.vertices.end <= vertex as usize);
    let old_body = &from.bodies[origins.bodies[body]?];
    let own = vertex as usize - to.bodies[body].vertices.start;
    let old = (old_body.vertices.start + origins.vertex(body, own, old_body.vertices.len())) as u32;
    let old_first = from.pins.partition_point(|other| other.vertex < old);
    let found = old_first + pin - first;
    from.pins.get(found).is_some_and(|other| other.vertex == old).then_some(found)
}

impl State {
    /// This state of `from` as one of `to`, which has `origins` of it, and is [at](World::resume_at) the same
    /// time. What is new there begins.
    pub(super) fn carried(&self, from: &World, to: &World, origins: &Origins) -> Self {
        let mut state = Self::new(to);
        for (number, (body, &origin)) in to.bodies.iter().zip(&origins.bodies).enumerate() {
            let Some(old) = origin.map(|origin| from.bodies[origin].vertices.clone()) else {
                state.begin_anew(body.vertices.clone());
                continue;
            };
            for (k, new) in body.vertices.clone().enumerate() {
                let old = old.start + origins.vertex(number, k, old.len());
                state.x[new][..3].copy_from_slice(&self.x[old][..3]);
                (state.v[new], state.mean_v[new]) = (self.v[old], self.mean_v[old]);
                state.history.steps[new] = self.history.steps[old];
            }
        }
        // A step of another length cannot be continued.
        let same = |alone: bool| to.pace(alone).dt == from.pace(self.is_alone).dt;
        state.is_alone = to.has_alone() && (same(true) || !same(false));
        state.history.is_known = self.history.is_known && same(state.is_alone);
        state.frame = self.frame;
        state.caught = self.caught.carried(from, to, |pin| same_pin(from, to, origins, pin));
        let place = |vertex: u32| place_in(from, to, origins, vertex);
        for &(old, PinOverride { vertex, target }) in &self.pin_overrides {
            let old_body = from.bodies.partition_point(|b| b.vertices.end <= old as usize);
            let (Some((body, new)), first) = (place(old), from.bodies[old_body].vertices.start as u32) else {
                continue;
            };
            let number = to.bodies[body as usize].vertices.start as u32 + vertex - first;
            state.override_pin((number, new), target);
        }
        state.grips = self.grips.carried(|_, vertex| place(vertex));
        for (k, origin) in origins.rigid.iter().enumerate() {
            if let Some(origin) = *origin {
                (state.rigid[k], state.mean_rigid[k]) = (self.rigid[origin], self.mean_rigid[origin]);
            }
        }
        carry_broken((from, &self.broken), (to, &mut state.broken), origins);
        carry_duals((from, &self.duals), (to, &mut state.duals), origins);
        carry_strands((from, self), (to, &mut state), origins);
        to.place_fixtures(to.time_of_frame(state.frame), &mut state.x);
        state
    }
}

/// Body and vertex of `to` that vertex `vertex` of `from` is there; `None` if its body is not.
fn place_in(from: &World, to: &World, origins: &Origins, vertex: u32) -> Option<(u32, u32)> {
    let old = from.bodies.partition_point(|b| b.vertices.end <= vertex as usize);
    let new = origins.bodies.iter().position(|origin| *origin == Some(old))?;
    let shift = vertex as usize - from.bodies[old].vertices.start;
    Some((new as u32, (to.bodies[new].vertices.start + shift) as u32))
}

/// Springs that were broken still are.
fn carry_broken((from, old): (&World, &[bool]), (to, new): (&World, &mut [bool]), origins: &Origins) {
    let firsts = |world: &World| {
        let counts = world
            .description
            .bodies
            .iter()
            .map(|body| body.as_particles().map_or(0, |particles| particles.mesh.segments.len()));
        let mut firsts = vec![0];
        counts.for_each(|count| firsts.push(firsts[firsts.len() - 1] + count));
        firsts
    };
    let [of_old, of_new] = [firsts(from), firsts(to)];
    for (body, origin) in origins.bodies.iter().enumerate() {
        if let Some(origin) = *origin {
            let own = &old[of_old[origin]..of_old[origin + 1]];
            new[of_new[body]..of_new[body + 1]].copy_from_slice(own);
        }
    }
    let [first_old, first_new] = [of_old[from.bodies.len()], of_new[to.bodies.len()]];
    for (k, &origin) in origins.springs.iter().enumerate() {
        new[first_new + k] = old[first_old + origin];
    }
}

/// Takes along what filters keep, term by term, for those that filter the same bodies.
fn carry_duals((from, old): (&World, &[f32]), (to, new): (&World, &mut [f32]), origins: &Origins) {
    let mut first = 0;
    for filter in to.filters() {
        let range = place_back(from, to, origins, &filter.vertices);
        let mut other = 0;
        for before in from.filters() {
            if range.as_ref() == Some(&before.vertices) {
                let old = &old[other..other + before.kept_count()];
                filter.carry(before, old, &mut new[first..first + filter.kept_count()]);
            }
            other += before.kept_count();
        }
        first += filter.kept_count();
    }
    let pulls = [from.pull_count(), to.pull_count()];
    if pulls[0] == pulls[1] && first + pulls[1] == new.len() {
        new[first..].copy_from_slice(&old[old.len() - pulls[0]..]);
    }
}

/// Takes along what strands keep, of hair with the same points; else it begins where it is.
fn carry_strands((from, old): (&World, &State), (to, new): (&World, &mut State), origins: &Origins) {
    for hair in &to.hair {
        let Some(origin) = origins.bodies[hair.body] else { continue };
        let before = from.hair.iter().find(|before| before.body == origin);
        let counts = |world: &World, body: usize| {
            world.description.bodies[body].as_hair().map_or(Vec::new(), |hair| hair.groom.counts.clone())
        };
        let are_same = counts(from, origin) == counts(to, hair.body);
        match before.filter(|before| before.springs.is_some() == hair.springs.is_some()) {
            Some(before) if are_same && before.kept.len() == hair.kept.len() => {
                new.strands[hair.kept.clone()].copy_from_slice(&old.strands[before.kept.clone()]);
            }
            Some(before) if hair.springs.is_none() && before.vertices.len() == hair.vertices.len() => {
                new.begin_strands(&to.hair, Some(hair.body));
                let kept = (&*before.strands, &old.strands[before.kept.clone()]);
                let own = &mut new.strands[hair.kept.clone()];
                hair.strands.carry(kept, &old.x[before.vertices.clone()], own);
            }
            _ => new.begin_strands(&to.hair, Some(hair.body)),
        }
    }
}

/// What the vertices `range` of whole bodies of `to` were in `from`, if these followed each other there, too.
fn place_back(from: &World, to: &World, origins: &Origins, range: &Range<usize>) -> Option<Range<usize>> {
    let mut all: Option<Range<usize>> = None;
    for (body, origin) in to.bodies.iter().zip(&origins.bodies) {
        if !range.contains(&body.vertices.start) {
            continue;
        }
        let old = from.bodies[(*origin)?].vertices.clone();
        all = match all {
            None => Some(old),
            Some(before) if before.end == old.start => Some(before.start..old.end),
            Some(_) => return None,
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_begun_or_ended_by_one_clock_has_by_the_other() {
        // Frames of half the length from frame 10 on: frame 10 is now.
        assert_eq!(moved(&(0..u32::MAX), 0..u32::MAX, 10), 0..u32::MAX);
        assert_eq!(moved(&(4..20), 0..30, 10), 1..30);
        assert_eq!(moved(&(10..12), 9..14, 10), 10..14);
        assert_eq!(moved(&(12..u32::MAX), 14..u32::MAX, 10), 14..u32::MAX);
        assert_eq!(moved(&(2..10), 0..11, 10), 1..10);
    }
}
