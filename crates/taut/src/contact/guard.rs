//! The last stage of a step: nothing passes through anything.
//!
//! Vertices move in straight lines from the start of the step, where nothing touched, to its proposed end.
//! Pairs that would collide on the way have the displacements of their vertices shortened to a safe fraction,
//! and all pairs are tested again, because a vertex that stops early may now obstruct others. Every round
//! shortens some displacement, and with all displacements at zero the step would end as it began, so the loop
//! terminates; after the first few rounds, colliding pairs stop altogether.
//!
//! Displacements are shortened towards the mean displacement of the piece of cloth that a vertex belongs to
//! and of the pieces that it meets, if nothing holds any of them ([`Drift`]). Towards none at all, vertices
//! of a scrap that flies at 10 m/s and touches itself would stop in mid-air, and the others, which do not,
//! would stretch it tenfold.
//!
//! A moving obstacle does not stop for cloth. Cloth that meets one is carried: its displacement is shortened
//! in the obstacle's frame, so that at zero it moves with the obstacle. Whatever meets carried cloth is
//! carried too.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use glam::DVec3;

use super::{
    candidates::{Candidates, ITEMS_PER_PIECE, Pair},
    continuous::{Kind, first_contact, stay_apart},
    squeeze::Squeeze,
    surface::Surface,
    tangle::{Sets, Tangle},
};
use crate::{exec::threads::Threads, kernel::lanes::Quad};

/// Fraction of the gap between two parts that is kept free in any case.
pub const GUARDED_GAP: f32 = 0.1;

/// Fraction of the displacement up to a contact that is kept.
const KEPT_FRACTION: f64 = 0.8;

/// The same for carried cloth: what it does not move, it is ahead of the obstacle.
const KEPT_FRACTION_CARRIED: f64 = 0.99;

/// No vertex.
const NONE: u32 = u32::MAX;

/// Rounds in which pairs may move by a fraction of their displacement; after these they stop.
const PARTIAL_ROUNDS: u32 = 8;

/// What the guard did in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guarded {
    /// Vertices that did not reach their proposed position.
    pub stopped: u32,
    /// Rounds used; 0 if nothing collided.
    pub rounds: u32,
    /// Whether something may still pass through something: primitives that touched at the start, and cloth
    /// that could not give way to an obstacle.
    pub unsure: bool,
}

/// Keeps the primitives of a surface from passing through each other.
#[derive(Debug)]
pub struct Guard {
    /// Allowed fraction of each vertex's displacement, 0 to 1.
    share: Vec<f32>,
    /// The same after this round, as bits, which are ordered like the floats: the minimum over all pairs,
    /// whatever their order.
    next: Vec<AtomicU32>,
    goal: Vec<Quad>,
    /// The obstacle vertex that carries each vertex, if any.
    carrier: Vec<u32>,
    /// The same after this round.
    next_carrier: Vec<AtomicU32>,
    /// Pairs that would have collided.
    met: Mutex<Vec<Pair>>,
    drift: Drift,
}

/// How pieces of cloth move as a whole: each with those that it meets.
#[derive(Debug)]
struct Drift {
    /// By piece: sum of the displacements of its vertices \[m\], and their number. Pieces are named by one of
    /// their vertices.
    sums: Vec<[f64; 4]>,
    /// Pieces that meet.
    clusters: Sets,
    /// By cluster, named by its lowest piece: whether something holds it, or is near it.
    is_held: Vec<bool>,
    /// By cluster: its mean displacement \[m\], none if it is held.
    means: Vec<[f64; 4]>,
}

impl Drift {
    fn new(count: usize) -> Self {
        Self {
            sums: vec![[0.0; 4]; count],
            clusters: Sets::new(count),
            is_held: vec![false; count],
            means: vec![[0.0; 4]; count],
        }
    }

    /// Takes the displacements of all pieces on the way from `old` to `goal` \[m\]. Pieces with a vertex that
    /// is held, sewn, or `near` an obstacle do not drift.
    fn begin(&mut self, surface: &Surface, near: &[u32], old: &[Quad], goal: &[Quad]) {
        let Self { sums, clusters, is_held, .. } = self;
        sums.fill([0.0; 4]);
        is_held.fill(false);
        clusters.part();
        for &v in surface.vertices.iter().filter(|&&v| !surface.is_fixed(v)) {
            let (k, own) = (v as usize, surface.piece[v as usize] as usize);
            let twin = surface.identity[k];
            if old[k][3] <= 0.0 || twin != v {
                is_held[own] = true;
                is_held[surface.piece[twin as usize] as usize] = true;
            }
            (0..3).for_each(|axis| sums[own][axis] += f64::from(goal[k][axis] - old[k][axis]));
            sums[own][3] += 1.0;
        }
        let pieces = near.iter().filter_map(|&v| surface.piece.get(v as usize));
        pieces.for_each(|&piece| is_held[piece as usize] = true);
        self.average(surface);
    }

    /// Whether pairs `met` join clusters, or hold one.
    fn unite(&mut self, surface: &Surface, met: &[Pair]) -> bool {
        let mut changed = false;
        for pair in met {
            let [a, b] = pair.kind.one_of_each(&pair.vertices(surface));
            let fixed = [a, b].map(|v| surface.is_fixed(v));
            let [a, b] = [a, b].map(|v| self.clusters.of(surface.piece[v as usize]));
            let held = fixed != [false; 2] || self.is_held[a as usize] || self.is_held[b as usize];
            if fixed == [false; 2] && a != b {
                self.clusters.unite(a, b);
                changed = true;
            }
            for (of, _) in [a, b].into_iter().zip(fixed).filter(|(_, is_fixed)| !is_fixed) {
                let root = self.clusters.of(of) as usize;
                changed |= held && !self.is_held[root];
                self.is_held[root] |= held;
            }
        }
        if changed {
            self.average(surface);
        }
        changed
    }

    /// Sums in the order of pieces, so that the order in which they met does not matter.
    fn average(&mut self, surface: &Surface) {
        let Self { sums, clusters, is_held, means } = self;
        means.fill([0.0; 4]);
        let pieces = surface.vertices.iter().filter(|&&v| surface.piece[v as usize] == v);
        for &piece in pieces {
            let root = clusters.of(piece) as usize;
            (0..4).for_each(|k| means[root][k] += sums[piece as usize][k]);
        }
        for (mean, is_held) in means.iter_mut().zip(is_held) {
            let count = mean[3];
            let drifts = !*is_held && count > 0.0 && mean.iter().all(|m| m.is_finite());
            *mean = if drifts { mean.map(|m| m / count) } else { [0.0; 4] };
        }
    }

    /// The mean displacement of the cluster of vertex `v` \[m\].
    fn of(&mut self, surface: &Surface, v: usize) -> [f32; 3] {
        let Some(&piece) = surface.piece.get(v) else { return [0.0; 3] };
        let [x, y, z, _] = self.means[self.clusters.of(piece) as usize];
        [x, y, z].map(|m| m as f32)
    }
}

impl Guard {
    /// A guard for a surface whose vertices are at `x` \[m\].
    pub fn new(x: &[Quad]) -> Self {
        Self {
            share: vec![1.0; x.len()],
            next: x.iter().map(|_| AtomicU32::new(0)).collect(),
            goal: x.to_vec(),
            carrier: vec![NONE; x.len()],
            next_carrier: x.iter().map(|_| AtomicU32::new(NONE)).collect(),
            met: Mutex::default(),
            drift: Drift::new(x.len()),
        }
    }

    /// Pairs that would have collided when the guard was last asked, in ascending order.
    pub fn met(&mut self) -> &[Pair] {
        let met = self.met.get_mut().unwrap_or_else(PoisonError::into_inner);
        met.sort_unstable();
        met.dedup();
        met
    }

    /// Whether `vertex` was stopped short when the guard was last asked.
    pub fn has_stopped(&self, vertex: usize) -> bool {
        self.share.get(vertex).is_some_and(|share| *share < 1.0)
    }

    /// Where vertices were to go when the guard was last asked \[m\].
    pub fn goal(&self) -> &[Quad] {
        &self.goal
    }

    /// The displacement to which that of each vertex would be shortened \[m\], when the guard was last asked
    /// with the same `old` and `beside`: that of what it flies with.
    pub fn drift(&mut self, surface: &Surface, (old, beside): (&[Quad], &[u32]), ways: &mut [[f32; 3]]) {
        if self.met().is_empty() {
            self.drift.begin(surface, beside, old, &self.goal);
        }
        (0..).zip(ways).for_each(|(v, way)| *way = self.drift.of(surface, v));
    }

    /// Shortens the displacements of vertices from `old` to `x` \[m\] where necessary, so that no two
    /// primitives come closer than a fraction of their gap, or than half their initial distance if that is
    /// less. Obstacles, pairs of one `tangle` and what they `squeeze` move freely. `candidates` may hold the
    /// pairs found earlier in the step; they are invalidated. Vertices `beside` are near formula obstacles.
    pub fn hold(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        (tangle, squeeze, candidates): (&Tangle, &Squeeze, &mut Candidates),
        (old, beside): (&[Quad], &[u32]),
        x: &mut [Quad],
        share_of_gap: f32,
    ) -> Guarded {
        self.goal.copy_from_slice(x);
        self.share.fill(1.0);
        self.next.iter_mut().for_each(|next| *next.get_mut() = 1.0f32.to_bits());
        self.carrier.fill(NONE);
        self.next_carrier.iter_mut().for_each(|next| *next.get_mut() = NONE);
        self.met.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        let (mut rounds, mut unsure) = (0, AtomicBool::new(false));
        loop {
            *unsure.get_mut() = false;
            candidates.find_or_keep(threads, surface, old, x, share_of_gap);
            let before: (&[f32], &[AtomicU32], &[Quad]) = (&self.share, &self.next, x);
            let carriers: (&[u32], &[AtomicU32]) = (&self.carrier, &self.next_carrier);
            let (unsure, met): (&AtomicBool, &Mutex<_>) = (&unsure, &self.met);
            let look = |_: usize, lists: &mut [Vec<Pair>]| {
                let ((share, next, x), (carrier, next_carrier)) = (before, carriers);
                for pair in lists.iter().flatten() {
                    let vertices = pair.vertices(surface);
                    if tangle.ignores(surface, pair, &vertices) || squeeze.ignores(surface, &vertices) {
                        continue;
                    }
                    let gap = share_of_gap * surface.gap(pair, &vertices);
                    let Some(time) = contact_of(pair.kind, &vertices, old, x, gap) else { continue };
                    unsure.store(true, Ordering::Relaxed);
                    // Primitives that touch at the start have no side to be kept on; stopping them would only
                    // freeze them in mid-air.
                    if time <= 0.0 {
                        continue;
                    }
                    met.lock().unwrap_or_else(PoisonError::into_inner).push(*pair);
                    // Obstacles at rest carry nothing.
                    let carried_by = vertices.iter().map(|&v| match surface.is_fixed(v) {
                        true if x[v as usize] == old[v as usize] => NONE,
                        true => v,
                        false => carrier[v as usize],
                    });
                    let carried_by = carried_by.fold(NONE, u32::min);
                    let short = if carried_by == NONE { KEPT_FRACTION } else { KEPT_FRACTION_CARRIED };
                    let part = if rounds < PARTIAL_ROUNDS { short * time } else { 0.0 };
                    for &v in vertices.iter().filter(|v| !surface.is_fixed(**v)) {
                        let asked = share[v as usize] * part as f32;
                        // Twins of seams move together.
                        let own = surface.identity[v as usize] as usize;
                        next[own].fetch_min(asked.to_bits(), Ordering::Relaxed);
                        next_carrier[own].fetch_min(carried_by, Ordering::Relaxed);
                    }
                }
            };
            for lists in candidates.lists() {
                threads.each_piece(lists, ITEMS_PER_PIECE, look);
            }
            let Self { drift, goal, met, .. } = &mut *self;
            let met = met.get_mut().unwrap_or_else(PoisonError::into_inner);
            if rounds == 0 && !met.is_empty() {
                drift.begin(surface, beside, old, goal);
            }
            let united = drift.unite(surface, met);
            if !self.shorten(surface, old, x) && !united {
                break;
            }
            rounds += 1;
        }
        candidates.forget();
        Guarded {
            stopped: self.share.iter().filter(|&&share| share < 1.0).count() as u32,
            rounds,
            unsure: unsure.into_inner(),
        }
    }

    /// Moves vertices back along their displacements to the fractions of this round; returns whether there
    /// were any.
    fn shorten(&mut self, surface: &Surface, old: &[Quad], x: &mut [Quad]) -> bool {
        let Self { share, next, goal, carrier, next_carrier, drift, .. } = self;
        let mut shortened = false;
        for v in 0..x.len() {
            let own = surface.identity.get(v).map_or(v, |&v| v as usize);
            let (next, by) = (f32::from_bits(*next[own].get_mut()), *next_carrier[own].get_mut());
            let lifted = carrier[v] == NONE && by != NONE;
            shortened |= next < share[v] || lifted;
            share[v] = share[v].min(next);
            // By the first obstacle vertex that it meets.
            if lifted {
                carrier[v] = by;
            }
            // Also those of earlier rounds: they may fly with something else by now.
            if share[v] < 1.0 || lifted {
                let way = match carrier[v] {
                    NONE => drift.of(surface, v),
                    by => std::array::from_fn(|k| x[by as usize][k] - old[by as usize][k]),
                };
                for k in 0..3 {
                    x[v][k] = old[v][k] + way[k] + share[v] * (goal[v][k] - old[v][k] - way[k]);
                }
            }
        }
        shortened
    }
}

/// The time of impact of a pair within `gap` \[m\] on its path from `old` to `x`, if any.
fn contact_of(kind: Kind, vertices: &[u32; 4], old: &[Quad], x: &[Quad], gap: f32) -> Option<f64> {
    let point = |q: &Quad| DVec3::new(q[0].into(), q[1].into(), q[2].into());
    let [from, to] = [old, x].map(|x| vertices.map(|v| point(&x[v as usize])));
    if stay_apart(kind, &from, &to, gap.into()) {
        return None;
    }
    first_contact(kind, &from, &to, gap.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contact::intersection::piercings, kernel::random::Random, mesh::generate};

    /// Gap that primitives keep \[m\].
    const GAP: f32 = 1e-3;

    fn positions(x: &[Quad]) -> Vec<[f32; 3]> {
        x.iter().map(|q| [q[0], q[1], q[2]]).collect()
    }

    /// Sheets one above the other, `apart` \[m\].
    fn stack(sheets: u32, cells: u32, apart: f32) -> (Surface, Vec<Quad>) {
        let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
        let (mut x, mut triangles) = (Vec::new(), Vec::new());
        for sheet in 0..sheets {
            let first = x.len() as u32;
            triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| first + v)));
            x.extend(
                mesh.positions.iter().map(|p| [p.x + 0.01 * sheet as f32, apart * sheet as f32, p.z, 1.0]),
            );
        }
        let mut surface = Surface::new(triangles);
        surface.radius.fill(0.5 * GAP);
        (surface, x)
    }

    #[test]
    fn whatever_is_asked_for_nothing_is_pierced_and_threads_do_not_matter() {
        let (surface, start) = stack(3, 6, 0.02);
        let mut random = Random::new(29, 0);
        for speed in [0.01, 0.1, 1.0, 30.0] {
            let mut ends: Vec<Vec<Quad>> = Vec::new();
            let goals: Vec<Vec<Quad>> = (0..6)
                .map(|_| {
                    start
                        .iter()
                        .map(|q| std::array::from_fn(|k| q[k] + speed * (random.unit() - 0.5)))
                        .collect()
                })
                .collect();
            for threads in [1, 3] {
                let threads = Threads::new(threads).unwrap();
                let (mut guard, mut near) = (Guard::new(&start), Candidates::new(&surface, &start));
                let (mut old, mut x) = (start.clone(), start.clone());
                for goal in &goals {
                    x.copy_from_slice(goal);
                    guard.hold(
                        &threads,
                        &surface,
                        (&Tangle::default(), &Squeeze::default(), &mut near),
                        (&old, &[]),
                        &mut x,
                        0.1,
                    );
                    assert_eq!(piercings(&surface, &positions(&x)), []);
                    old.copy_from_slice(&x);
                }
                ends.push(x);
            }
            assert_eq!(ends[0], ends[1]);
        }
    }

    #[test]
    fn what_touches_from_the_start_is_not_held_in_mid_air() {
        let (surface, start) = stack(2, 5, 0.0);
        let start: Vec<Quad> = start
            .iter()
            .enumerate()
            .map(|(i, q)| {
                // Both sheets at the same position.
                let twin = start[i % (start.len() / 2)];
                [twin[0], q[1], twin[2], q[3]]
            })
            .collect();
        let mut x: Vec<Quad> = start.iter().map(|q| [q[0], q[1] - 0.1, q[2], q[3]]).collect();
        let half = x.len() / 2;
        x[half..].iter_mut().for_each(|q| q[1] -= 0.1);
        let goal = x.clone();
        let threads = Threads::new(1).unwrap();
        let mut near = Candidates::new(&surface, &start);
        Guard::new(&start).hold(
            &threads,
            &surface,
            (&Tangle::default(), &Squeeze::default(), &mut near),
            (&start, &[]),
            &mut x,
            0.1,
        );
        assert_eq!(x, goal);
    }

    #[test]
    fn what_moves_freely_or_together_is_left_alone() {
        let (surface, start) = stack(2, 5, 0.002);
        let threads = Threads::new(1).unwrap();
        let (mut guard, mut near) = (Guard::new(&start), Candidates::new(&surface, &start));
        let mut x: Vec<Quad> = start.iter().map(|q| [q[0] + 3.0, q[1] - 5.0, q[2] + 1.0, q[3]]).collect();
        let goal = x.clone();
        assert_eq!(
            guard.hold(
                &threads,
                &surface,
                (&Tangle::default(), &Squeeze::default(), &mut near),
                (&start, &[]),
                &mut x,
                0.1
            ),
            Guarded::default()
        );
        assert_eq!(x, goal);
    }

    #[test]
    fn a_sheet_that_falls_on_another_is_stopped_above_it() {
        let (surface, start) = stack(2, 5, 0.1);
        let threads = Threads::new(2).unwrap();
        let (mut guard, mut near) = (Guard::new(&start), Candidates::new(&surface, &start));
        let half = start.len() / 2;
        let mut x = start.clone();
        x[half..].iter_mut().for_each(|q| q[1] -= 2.0);
        let guarded = guard.hold(
            &threads,
            &surface,
            (&Tangle::default(), &Squeeze::default(), &mut near),
            (&start, &[]),
            &mut x,
            1.0,
        );
        assert!(guarded.stopped > 0 && guarded.rounds > 0);
        assert!(x[half..].iter().any(|q| q[1] < 0.05), "it falls most of the way");
        assert_eq!(piercings(&surface, &positions(&x)), []);
    }

    /// Two strips of one piece, folded over each other, with a sheet of another piece below; `way` and
    /// `speed` say where all of it flies, and how far the upper layer falls onto the lower one.
    fn flight(way: [f32; 3], falls: f32, meets: bool) -> (Surface, Vec<Quad>, Vec<Quad>) {
        let strip = generate::grid([1.0, 0.25], [12, 3], generate::Diagonals::Alternating, 0);
        let fold = |p: glam::Vec3| {
            // A hairpin: out at the bottom, back 0.1 m above.
            let (angle, radius) = (std::f32::consts::PI, 0.05);
            match p.x {
                x if x < 0.4 => [x, 0.0, p.z, 1.0],
                x if x > 0.6 => [1.0 - x, 2.0 * radius, p.z, 1.0],
                x => {
                    let (sin, cos) = (angle * (x - 0.4) / 0.2).sin_cos();
                    [0.4 + radius * sin, radius * (1.0 - cos), p.z, 1.0]
                }
            }
        };
        let mut start: Vec<Quad> = strip.positions.iter().map(|&p| fold(p)).collect();
        let mut triangles = strip.triangles.clone();
        let first = start.len() as u32;
        let below = if meets { -0.02 } else { -5.0 };
        triangles.extend(strip.triangles.iter().map(|t| t.map(|v| first + v)));
        start.extend(strip.positions.iter().map(|p| [p.x, below, p.z, 1.0]));
        let mut surface = Surface::new(triangles);
        surface.radius.fill(0.5 * GAP);
        let goal = start.iter().zip(0..).map(|(q, v): (&Quad, u32)| {
            let sinks = if v < first && q[1] > 0.08 { falls } else { 0.0 };
            let rises = if meets && v >= first { 0.1 } else { 0.0 };
            [q[0] + way[0], q[1] + way[1] - sinks + rises, q[2] + way[2], q[3]]
        });
        let goal = goal.collect();
        (surface, start, goal)
    }

    #[test]
    fn what_flies_and_touches_itself_or_another_piece_flies_on() {
        let threads = Threads::new(2).unwrap();
        for meets in [false, true] {
            let guarded = |way: [f32; 3]| {
                let (surface, start, goal) = flight(way, 0.3, meets);
                let (mut guard, mut near) = (Guard::new(&start), Candidates::new(&surface, &start));
                let mut x = goal;
                let near = (&Tangle::default(), &Squeeze::default(), &mut near);
                let guarded = guard.hold(&threads, &surface, near, (&start, &[]), &mut x, 0.1);
                assert!(guarded.stopped > 0, "{meets}");
                assert_eq!(piercings(&surface, &positions(&x)), []);
                x
            };
            let (at_rest, in_flight) = (guarded([0.0; 3]), guarded([2.0, -1.0, 0.5]));
            for (a, b) in at_rest.iter().zip(&in_flight) {
                for (k, way) in [2.0, -1.0, 0.5].into_iter().enumerate() {
                    assert!((a[k] + way - b[k]).abs() < 1e-3, "{meets}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_held_or_near_an_obstacle_stops_where_it_is() {
        let threads = Threads::new(1).unwrap();
        let stopped = |is_pinned: bool, beside: &[u32]| {
            let (surface, mut start, mut goal) = flight([2.0, 0.0, 0.0], 0.3, false);
            if is_pinned {
                (start[0][3], goal[0]) = (0.0, start[0]);
            }
            let (mut guard, mut near) = (Guard::new(&start), Candidates::new(&surface, &start));
            let near = (&Tangle::default(), &Squeeze::default(), &mut near);
            guard.hold(&threads, &surface, near, (&start, beside), &mut goal, 0.1);
            let mut ways = vec![[1.0; 3]; start.len()];
            guard.drift(&surface, (&start, beside), &mut ways);
            ways[5][0]
        };
        assert!(stopped(false, &[]) > 1.9);
        assert_eq!([stopped(true, &[]), stopped(false, &[3])], [0.0; 2]);
    }
}
