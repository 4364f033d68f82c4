//! Seams: pairs of vertices that are sewn together, within one cloth or between cloths.
//!
//! Vertices that are connected by pairs are *twins*: one point of the garment. A seam that starts open is
//! closed at a limited speed: in every step the allowed distance of each pair shrinks by speed times step.
//! Once all pairs of a set of twins are (almost) closed, they are merged to one position, and stay there to
//! the bit: forces, velocities and positions of twins are their mass-weighted mean from then on. Whether
//! twins are closed is a function of their positions, so that no state is stored.
//!
//! The filter treats closed twins as one vertex ([`Filter`](crate::solve::nearest::filter::Filter)) and
//! closes open ones by a term ([`seam`](crate::term::seam)); other schemes move the twins of a set in every
//! iteration (`Sewn::project`). Where a twin is held, the others follow it.

use crate::{WorldError, kernel::lanes::Quad};

/// Distance within which twins are merged, in edge lengths: the strain that this adds to the triangles around
/// must be well below tolerances.
pub const CLOSED: f32 = 0.004;

/// The same in a scene with a sewing phase, where what is strained by it has time to recover: gathers of
/// stiff cloth come nearer than this late, if ever, and a garment with one open pair is solved panel by
/// panel. With the other one, a dress with gathers at its waist had 50 of 370 pairs open when the phase
/// ended.
const CLOSED_IN_PHASE: f32 = 0.03;

/// A seam.
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    /// Its name in files and messages.
    pub name: String,
    /// Pairs of vertices that are sewn together: index of the cloth, and vertex in the order of its mesh.
    pub pairs: Vec<[(usize, u32); 2]>,
    /// Closing speed of a pair \[m/s\].
    pub speed: f32,
}

/// Part of the sewing phase in which panels may pass through other panels of their garment, though not
/// through other garments, which keep their order from the body outwards: some overlap at the start, and a
/// body that grows in it draws them apart. What intersects then is separated in the rest of it, before weight
/// pulls at it. Edges that end in other panels, of a shirt with sleeves and of a dress with gathers: 36 and 0
/// with 0.8, 2 and 136 with 0.3; with 0.1 sleeves of the shirt were caught, and stayed open.
const OVERLAPPING: f32 = 0.8;

/// Part of the sewing phase in which seams pull gently, and how much stronger they pull at its end, where
/// they have to stretch the cloth.
const GENTLE: f32 = 0.5;
const STRONGER: f32 = 10.0;

/// Default closing speed of seams \[m/s\].
pub const DEFAULT_CLOSING_SPEED: f32 = 1.0;

impl Default for Seam {
    fn default() -> Self {
        Self { name: "seam".into(), pairs: Vec::new(), speed: DEFAULT_CLOSING_SPEED }
    }
}

/// Two vertices that are sewn together, in the engine's order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stitch {
    /// The two, the lower one first.
    pub vertices: [u32; 2],
    /// Closing speed \[m/s\].
    pub speed: f32,
    /// The set of twins that it belongs to.
    pub set: u32,
}

/// All seams of a world, in the engine's order of vertices.
#[derive(Clone, Debug, Default)]
pub struct Sewing {
    pub(crate) stitches: Vec<Stitch>,
    /// Start of the members of each set of twins.
    starts: Vec<u32>,
    /// Members of sets, ascending within each.
    members: Vec<u32>,
    /// By vertex: the lowest of its twins, or itself.
    pub(crate) identity: Vec<u32>,
    /// By vertex: its set of twins.
    set_of: Vec<u32>,
    /// Distance within which twins are merged \[m\].
    closed: f32,
}

/// No set.
const NONE: u32 = u32::MAX;

impl Sewing {
    /// The seams of a world of `count` vertices. `place` maps a vertex of a cloth to the engine's; `edge` is
    /// the mean edge length \[m\], with whether there is a sewing phase.
    ///
    /// # Errors
    /// If a pair names a vertex that does not exist, or the same one twice.
    pub(crate) fn new(
        seams: &[Seam],
        count: usize,
        (edge, has_phase): (f32, bool),
        place: impl Fn(usize, u32) -> Option<u32>,
    ) -> Result<Self, WorldError> {
        let mut stitches = Vec::new();
        for seam in seams {
            let wrong = |problem: String| WorldError::Seam { name: seam.name.clone(), problem };
            if !(seam.speed > 0.0 && seam.speed.is_finite()) {
                return Err(wrong("speed must be positive".into()));
            }
            for (number, pair) in seam.pairs.iter().enumerate() {
                let mut vertices = [0; 2];
                for (to, &(cloth, vertex)) in vertices.iter_mut().zip(pair) {
                    *to = place(cloth, vertex).ok_or_else(|| {
                        wrong(format!("pair {number}: there is no vertex {vertex} of cloth number {cloth}"))
                    })?;
                }
                if vertices[0] == vertices[1] {
                    let vertex = pair[0].1;
                    return Err(wrong(format!("pair {number} sews vertex {vertex} to itself")));
                }
                vertices.sort_unstable();
                stitches.push(Stitch { vertices, speed: seam.speed, set: NONE });
            }
        }
        // The faster of two seams that sew the same two vertices.
        stitches.sort_by(|a, b| a.vertices.cmp(&b.vertices).then(b.speed.total_cmp(&a.speed)));
        stitches.dedup_by_key(|stitch| stitch.vertices);
        let identity = lowest(count, &stitches);
        let mut sewing = Self {
            starts: vec![0],
            members: Vec::new(),
            set_of: vec![NONE; count],
            closed: edge * if has_phase { CLOSED_IN_PHASE } else { CLOSED },
            identity,
            stitches,
        };
        let mut sewn: Vec<u32> = sewing.stitches.iter().flat_map(|stitch| stitch.vertices).collect();
        sewn.sort_unstable_by_key(|&v| (sewing.identity[v as usize], v));
        sewn.dedup();
        for set in sewn.chunk_by(|&a, &b| sewing.identity[a as usize] == sewing.identity[b as usize]) {
            let number = sewing.starts.len() as u32 - 1;
            set.iter().for_each(|&v| sewing.set_of[v as usize] = number);
            sewing.members.extend(set);
            sewing.starts.push(sewing.members.len() as u32);
        }
        for stitch in &mut sewing.stitches {
            stitch.set = sewing.set_of[stitch.vertices[0] as usize];
        }
        Ok(sewing)
    }

    /// Whether there are no seams.
    pub fn is_empty(&self) -> bool {
        self.stitches.is_empty()
    }

    /// Number of sets of twins.
    pub(crate) fn set_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Vertices of a set of twins, ascending.
    #[inline(always)]
    pub(crate) fn twins(&self, set: usize) -> &[u32] {
        &self.members[self.starts[set] as usize..self.starts[set + 1] as usize]
    }

    /// Sets of twins of the vertices in `range`; no set crosses its ends.
    fn sets_in(&self, range: &std::ops::Range<usize>) -> impl Iterator<Item = &[u32]> {
        let range = range.clone();
        (0..self.set_count())
            .map(|set| self.twins(set))
            .filter(move |twins| range.contains(&(twins[0] as usize)))
    }

    /// Whether the twins of each set among the vertices in `range` are at one position, to the bit.
    pub(crate) fn is_closed(&self, range: &std::ops::Range<usize>, x: &[Quad]) -> bool {
        self.sets_in(range).all(|twins| in_one_place(twins, x))
    }

    /// Whether the vertex is held, or one of its twins is.
    pub(crate) fn holds(&self, vertex: usize, x: &[Quad]) -> bool {
        match self.set_of.get(vertex) {
            Some(&set) if set != NONE => self.twins(set as usize).iter().any(|&v| x[v as usize][3] <= 0.0),
            _ => x[vertex][3] <= 0.0,
        }
    }

    /// Merges twins that are close enough to each other. Held ones stay.
    pub(crate) fn close(&self, x: &mut [Quad]) {
        let mut near = vec![true; self.set_count()];
        self.mark_near(x, &mut near);
        for (set, near) in near.into_iter().enumerate() {
            if near {
                bring_together(self.twins(set), x, None);
            }
        }
    }

    /// Clears `near` for sets with a pair that is too far apart to be closed.
    fn mark_near(&self, x: &[Quad], near: &mut [bool]) {
        near.fill(true);
        for stitch in &self.stitches {
            near[stitch.set as usize] &= length(difference(stitch, x)) <= self.closed;
        }
    }

    /// A welded copy of elements' vertices: each becomes the lowest of its twins.
    pub(crate) fn welded<const K: usize>(&self, vertices: [u32; K]) -> [u32; K] {
        vertices.map(|v| self.identity.get(v as usize).copied().unwrap_or(v))
    }
}

/// By vertex: the lowest vertex that is connected to it by stitches.
fn lowest(count: usize, stitches: &[Stitch]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..count as u32).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for stitch in stitches {
        let [a, b] = stitch.vertices.map(|v| root(&mut parent, v));
        parent[a.max(b) as usize] = a.min(b);
    }
    (0..count as u32).map(|v| root(&mut parent, v)).collect()
}

/// State of the seams in a step.
#[derive(Clone, Debug, Default)]
pub struct Sewn {
    /// By set of twins: whether they began the step at one position.
    closed: Vec<bool>,
    /// By set of twins: whether they can be merged at its end.
    closing: Vec<bool>,
    near: Vec<bool>,
    /// By stitch: its allowed distance at the end \[m\].
    pub(crate) allowed: Vec<f32>,
    /// Whether all sets began it closed.
    pub(crate) all_closed: bool,
    /// Whether it is a step of the sewing phase, in which panels have to find their way around a body:
    /// without friction.
    pub(crate) is_phase: bool,
    /// Whether it is one of those in which cloth may pass through cloth.
    pub(crate) is_overlapping: bool,
    /// Factor on the strongest pull of open seams; infinite without a sewing phase.
    pub(crate) strength: f32,
}

impl Sewn {
    /// Memory for `sewing`.
    pub(crate) fn new(sewing: &Sewing) -> Self {
        let sets = || vec![false; sewing.set_count()];
        Self {
            closed: sets(),
            closing: sets(),
            near: sets(),
            allowed: vec![0.0; sewing.stitches.len()],
            all_closed: false,
            is_phase: false,
            is_overlapping: false,
            strength: f32::INFINITY,
        }
    }

    /// Learns where in a sewing phase of `sewing` \[s\] a step begins that starts at `time` \[s\].
    pub(crate) fn enter(&mut self, is_phase: bool, time: f32, sewing: f32) {
        let part = if sewing > 0.0 { time / sewing } else { f32::INFINITY };
        self.is_phase = is_phase;
        self.is_overlapping = is_phase && part < OVERLAPPING;
        let late = ((part - GENTLE) / (1.0 - GENTLE)).clamp(0.0, 1.0);
        let stronger = 1.0 + (STRONGER - 1.0) * late * late;
        self.strength = if sewing > 0.0 { stronger } else { f32::INFINITY };
    }

    /// Begins a step of `dt` \[s\] from positions `old`.
    pub(crate) fn begin(&mut self, sewing: &Sewing, old: &[Quad], dt: f32) {
        for (set, (closed, closing)) in self.closed.iter_mut().zip(&mut self.closing).enumerate() {
            *closed = in_one_place(sewing.twins(set), old);
            *closing = true;
        }
        self.all_closed = self.closed.iter().all(|closed| *closed);
        for (stitch, allowed) in sewing.stitches.iter().zip(&mut self.allowed) {
            *allowed = (length(difference(stitch, old)) - stitch.speed * dt).max(0.0);
            self.closing[stitch.set as usize] &= *allowed <= 0.0;
        }
    }

    /// Whether the twins of `stitch` began the step at one position.
    pub(crate) fn was_closed(&self, stitch: &Stitch) -> bool {
        self.closed[stitch.set as usize]
    }

    /// Replaces the values of closed twins by their mass-weighted mean, so that they move as one.
    pub(crate) fn share_forces(&self, sewing: &Sewing, x: &[Quad], forces: &mut [Quad]) {
        for set in (0..self.closed.len()).filter(|&set| self.closed[set]) {
            let twins = sewing.twins(set);
            if twins.iter().any(|&v| x[v as usize][3] <= 0.0) {
                continue;
            }
            let (mut sum, mut masses) = ([0.0; 3], 0.0);
            for &v in twins {
                masses += 1.0 / x[v as usize][3];
                for k in 0..3 {
                    sum[k] += forces[v as usize][k];
                }
            }
            for &v in twins {
                let share = 1.0 / (x[v as usize][3] * masses);
                for k in 0..3 {
                    forces[v as usize][k] = sum[k] * share;
                }
            }
        }
    }

    /// Merges closed twins to one position and one velocity.
    pub(crate) fn unite(&self, sewing: &Sewing, x: &mut [Quad], v: &mut [Quad]) {
        for set in (0..self.closed.len()).filter(|&set| self.closed[set]) {
            bring_together(sewing.twins(set), x, Some(v));
        }
    }

    /// Moves twins so that they are no further apart than allowed; those that can be merged, to one position.
    pub(crate) fn project(&self, sewing: &Sewing, x: &mut [Quad]) {
        for set in (0..self.closing.len()).filter(|&set| self.closing[set]) {
            bring_together(sewing.twins(set), x, None);
        }
        for (stitch, &allowed) in sewing.stitches.iter().zip(&self.allowed) {
            if self.closing[stitch.set as usize] {
                continue;
            }
            let apart = difference(stitch, x);
            let length = length(apart);
            let [a, b] = stitch.vertices.map(|v| v as usize);
            let weights = x[a][3] + x[b][3];
            if length > allowed && weights > 0.0 {
                let part = (length - allowed) / (length * weights);
                let (to_a, to_b) = (x[a][3] * part, x[b][3] * part);
                for k in 0..3 {
                    x[a][k] -= to_a * apart[k];
                    x[b][k] += to_b * apart[k];
                }
            }
        }
    }

    /// At the end of a step: merges twins that are close enough.
    pub(crate) fn close(&mut self, sewing: &Sewing, x: &mut [Quad]) {
        sewing.mark_near(x, &mut self.near);
        for set in (0..self.near.len()).filter(|&set| self.near[set]) {
            bring_together(sewing.twins(set), x, None);
        }
    }
}

/// From the second vertex of a stitch to the first \[m\].
#[inline(always)]
pub(crate) fn difference(stitch: &Stitch, x: &[Quad]) -> [f32; 3] {
    let [a, b] = stitch.vertices.map(|v| &x[v as usize]);
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn length(d: [f32; 3]) -> f32 {
    (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
}

fn in_one_place(twins: &[u32], x: &[Quad]) -> bool {
    let first = &x[twins[0] as usize][..3];
    twins[1..].iter().all(|&v| x[v as usize][..3] == *first)
}

/// Moves `twins` to their mass-weighted mean, or to the first that is held; held ones stay. The same with
/// their velocities, if there are any.
fn bring_together(twins: &[u32], x: &mut [Quad], mut v: Option<&mut [Quad]>) {
    let held = twins.iter().find(|&&t| x[t as usize][3] <= 0.0).map(|&t| t as usize);
    let mean = |values: &[Quad], x: &[Quad]| -> [f32; 3] {
        if let Some(held) = held {
            return [values[held][0], values[held][1], values[held][2]];
        }
        // Relative to the first, which rounds less.
        let first = values[twins[0] as usize];
        let (mut sum, mut masses) = ([0.0; 3], 0.0);
        for &t in twins {
            let mass = 1.0 / x[t as usize][3];
            masses += mass;
            for k in 0..3 {
                sum[k] += mass * (values[t as usize][k] - first[k]);
            }
        }
        std::array::from_fn(|k| first[k] + sum[k] / masses)
    };
    let place = mean(x, x);
    let velocity = v.as_deref().map(|v| mean(v, x));
    for t in twins.iter().map(|&t| t as usize) {
        if x[t][3] > 0.0 {
            x[t][..3].copy_from_slice(&place);
            if let (Some(v), Some(velocity)) = (&mut v, velocity) {
                v[t][..3].copy_from_slice(&velocity);
            }
        }
    }
}
