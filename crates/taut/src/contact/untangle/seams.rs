//! Panels that cross beside the seam that joins them.
//!
//! Panels that pass through each other while they are sewn may arrive at their seam from the wrong sides. A
//! strip along the seam is then folded over and passes through both. Its vertices are wrong in both panels,
//! and those of the seam are the same ones, so that [sides](super::sides) tell nothing: what moves one
//! panel out moves the other in. But the fold is small, and goes around the seam. So the sewn surface is
//! smoothed around it: its vertices move towards the harmonic surface between those beyond, which has no
//! fold.

use glam::DVec3;

use super::{
    super::surface::Surface,
    Crossing, Tables,
    field::{Field, contours},
    point,
};
use crate::kernel::lanes::Quad;

/// Edges of the sewn surface between an edge and the triangle that it passes through, up to which the two
/// are one fold.
const FOLD_EDGES: u32 = 8;

/// Rings of vertices around a fold that are smoothed with it, beside as many as it has edges around its seam.
const BEYOND: u32 = 2;

/// Rounds of averaging, for the square of the rings: the slowest wave of that width is then down to a third.
const ROUNDS_PER_RING_SQUARED: u32 = 1;

/// Those `crossings` of a pair of components that are folds along a closed seam, with the edges around it,
/// and the others.
pub(super) fn beside(
    tables: &Tables,
    surface: &Surface,
    x: &[Quad],
    crossings: &[Crossing],
) -> (Vec<(Crossing, u32)>, Vec<Crossing>) {
    let is_sewn = |&v: &u32| surface.identity.get(v as usize).is_some_and(|&twin| twin != v);
    let [first, second] = crossings[0].key();
    let pieces = [first, second].map(|piece| &tables.vertices[piece as usize]);
    if crossings[0].mixed || !pieces.iter().any(|of| of.iter().any(is_sewn)) {
        return (Vec::new(), crossings.to_vec());
    }
    let welded = Welded::new(tables, surface, x);
    let (mut folds, mut others) = (Vec::new(), Vec::new());
    for contour in contours(crossings, x.len()) {
        let around: Vec<Option<u32>> = contour.iter().map(|c| welded.edges_between(c)).collect();
        let is_fold = 2 * around.iter().flatten().count() > contour.len();
        let most = around.iter().flatten().max().copied().unwrap_or(0);
        if is_fold {
            folds.extend(contour.into_iter().map(|c| (c.clone(), most)));
        } else {
            others.extend(contour.into_iter().cloned());
        }
    }
    (folds, others)
}

/// Moves the surroundings of `folds` towards the smooth surface.
pub(super) fn smooth(field: &mut Field<'_>, folds: &[(Crossing, u32)]) {
    let welded = Welded::new(field.tables, field.surface, field.old);
    let widest = folds.iter().map(|(_, edges)| *edges).max().unwrap_or(0);
    let rings = widest + BEYOND;
    let mut front: Vec<u32> =
        folds.iter().flat_map(|(crossing, _)| crossing.vertices()).map(|v| welded.name(v)).collect();
    front.sort_unstable();
    front.dedup();
    let mut all = front.clone();
    let mut is_in = vec![false; field.old.len()];
    front.iter().for_each(|&v| is_in[v as usize] = true);
    for _ in 0..rings {
        let mut next = Vec::new();
        for &v in &front {
            for other in welded.around(v) {
                if !std::mem::replace(&mut is_in[other as usize], true) {
                    next.push(other);
                }
            }
        }
        all.extend(&next);
        front = next;
    }
    let is_free = |v: &u32| welded.members(*v).all(|v| field.old[v as usize][3] > 0.0);
    all.retain(is_free);
    let mut places: Vec<DVec3> = field.old.iter().map(point).collect();
    for _ in 0..ROUNDS_PER_RING_SQUARED * rings * rings {
        let means: Vec<DVec3> = all.iter().map(|&v| welded.mean_around(v, &places)).collect();
        for (&v, mean) in all.iter().zip(means) {
            places[v as usize] = mean;
        }
    }
    for &v in &all {
        let step = (places[v as usize] - point(&field.old[v as usize])).clamp_length_max(field.most);
        for member in welded.members(v) {
            field.moves[member as usize] += step;
        }
        field.labels.mark(all[0], v);
        welded.members(v).for_each(|member| field.labels.mark(v, member));
    }
}

/// The surface with closed seams welded: a set of twins at one position is a vertex, named by its lowest.
struct Welded<'a> {
    tables: &'a Tables,
    surface: &'a Surface,
    x: &'a [Quad],
    /// Start of the members of each set of twins, by its lowest.
    starts: Vec<u32>,
    twins: Vec<u32>,
}

impl<'a> Welded<'a> {
    fn new(tables: &'a Tables, surface: &'a Surface, x: &'a [Quad]) -> Self {
        let mut starts = vec![0u32; x.len() + 1];
        for &twin in &surface.identity {
            starts[twin as usize + 1] += 1;
        }
        for v in 0..x.len() {
            starts[v + 1] += starts[v];
        }
        let (mut next, mut twins) = (starts.clone(), vec![0; surface.identity.len()]);
        for (v, &twin) in (0..).zip(&surface.identity) {
            twins[next[twin as usize] as usize] = v;
            next[twin as usize] += 1;
        }
        Self { tables, surface, x, starts, twins }
    }

    /// The name of the welded vertex that `v` is part of: itself, where its seam is open.
    fn name(&self, v: u32) -> u32 {
        match self.surface.identity.get(v as usize) {
            Some(&twin) if self.x[twin as usize][..3] == self.x[v as usize][..3] => twin,
            _ => v,
        }
    }

    /// The vertices that a welded one consists of.
    fn members(&self, v: u32) -> impl Iterator<Item = u32> {
        let range = self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize;
        let twins = self.twins.get(range).unwrap_or_default();
        let others = twins.iter().copied().filter(move |&twin| twin != v && self.name(twin) == v);
        std::iter::once(v).chain(others)
    }

    /// Welded neighbours of a welded vertex; those across a seam's end may come twice.
    fn around(&self, v: u32) -> impl Iterator<Item = u32> {
        self.members(v).flat_map(|member| self.tables.around(member)).map(|&other| self.name(other))
    }

    /// Mean of `places` around a welded vertex.
    fn mean_around(&self, v: u32, places: &[DVec3]) -> DVec3 {
        let (sum, count) = self
            .around(v)
            .fold((DVec3::ZERO, 0.0), |(sum, count), other| (sum + places[other as usize], count + 1.0));
        if count > 0.0 { sum / count } else { places[v as usize] }
    }

    /// Number of welded edges from the edge of a crossing to its triangle, if there are few, on a way
    /// through a seam.
    fn edges_between(&self, crossing: &Crossing) -> Option<u32> {
        let goal = crossing.triangle.map(|v| self.name(v));
        let mut front: Vec<(u32, bool)> = crossing.edge.map(|v| (self.name(v), self.is_seam(v))).to_vec();
        let mut seen = std::collections::BTreeMap::new();
        front.iter().for_each(|&(v, through)| {
            seen.insert(v, through);
        });
        for edges in 1..=FOLD_EDGES {
            let mut next = Vec::new();
            for &(v, through) in &front {
                for other in self.around(v) {
                    let through = through || self.is_seam(other);
                    // Once more where a way through a seam comes later.
                    if seen.get(&other).is_none_or(|&known| through && !known) {
                        seen.insert(other, through);
                        next.push((other, through));
                    }
                }
            }
            if next.iter().any(|(v, through)| *through && goal.contains(v)) {
                return Some(edges);
            }
            front = next;
        }
        None
    }

    /// Whether a vertex is part of a closed seam.
    fn is_seam(&self, v: u32) -> bool {
        self.members(self.name(v)).nth(1).is_some()
    }
}
