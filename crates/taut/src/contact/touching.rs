//! Narrow phase: which pairs touch in a step, and the direction in which they must stay apart.
//!
//! Primitives that begin a step close to each other are separated along the line between their nearest
//! points; primitives that meet during the step, along that line just before the time of impact. Either way
//! the direction comes from a time before they met, so that it points to the right side, however fast they
//! move.

use glam::DVec3;

use super::{
    candidates::{Candidates, ITEMS_PER_PIECE, Pair},
    continuous::{Kind, apart_along, first_contact, stay_apart},
    distance::combined,
    neighbours::{Neighbours, RIM},
    patches::Claim,
    squeeze::Squeeze,
    surface::Surface,
    tangle::Tangle,
};
use crate::{exec::threads::Threads, kernel::lanes::Quad};

/// Distance, in gaps, within which pairs are tested.
const TEST_DISTANCE_IN_GAPS: f64 = 1.5;

/// Distance, in gaps, within which pairs are found: larger, so that the pairs remain valid when limiting
/// moves vertices.
const SEARCH_DISTANCE_IN_GAPS: f32 = 1.7;

/// Part of their gap at which pairs that the guard found to collide are said to meet, and part of their
/// distance at the start of the step that they keep: more than what the guard asks for.
const MET_GAP: f64 = 0.2;
const MET_DISTANCE: f64 = 0.8;

/// Part of their gap below which two primitives that started apart by no more are the sides of a tear or a
/// cut: these keep what distance they have, but are not pushed apart, which would stretch the cloth beside
/// them.
const TORN_GAP: f64 = 0.1;

/// Two primitives that must keep a distance: Σ wᵢ n·xᵢ ≥ gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// Kind of the pair.
    pub pair: Pair,
    /// Their vertices.
    pub vertices: [u32; 4],
    /// Weights of the vertices: those of one primitive add up to 1, those of the other to −1.
    pub weights: [f32; 4],
    /// Unit vector from the second primitive to the first.
    pub normal: [f32; 3],
    /// Distance along it \[m\].
    pub gap: f32,
    /// Coulomb friction coefficient.
    pub friction: f32,
}

/// Finds touching pairs.
#[derive(Debug)]
pub struct Finder {
    /// The broad phase; the guard queries it as well.
    pub candidates: Candidates,
    /// What is pinched between obstacles in this step, and passes through them.
    pub squeeze: Squeeze,
    neighbours: Neighbours,
    /// By work item; kept so that steps do not allocate.
    found: Vec<Vec<Touching>>,
    all: Vec<Touching>,
    /// Those that were known before more were found, and their pairs in ascending order.
    known: Vec<Touching>,
    sorted: Vec<Pair>,
}

impl Finder {
    /// A narrow phase for `surface`, whose vertices start at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let mut candidates = Candidates::new(surface, x);
        let found = vec![Vec::new(); candidates.lists()[0].len()];
        Self {
            candidates,
            squeeze: Squeeze::default(),
            neighbours: Neighbours::new(surface),
            found,
            all: Vec::new(),
            known: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// The pairs that were last found.
    pub fn touching(&self) -> &[Touching] {
        &self.all
    }

    /// All pairs that must keep their gap while vertices move from `old` to `x`. Pairs that were closer than
    /// twice that at the `start`, such as neighbours in a fine mesh, keep less, and so do those that are
    /// squeezed; pairs of one `tangle` are excluded. The order does not depend on threads.
    pub fn find(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        tangle: &Tangle,
        ways: [&[Quad]; 3],
    ) -> &[Touching] {
        self.squeeze.clear();
        self.look(threads, surface, tangle, ways);
        &self.all
    }

    /// The same, with what is pinched already.
    fn look(&mut self, threads: &Threads, surface: &Surface, tangle: &Tangle, [start, old, x]: [&[Quad]; 3]) {
        let Self { candidates, neighbours, found, all, squeeze, .. } = self;
        candidates.find(threads, surface, old, x, (SEARCH_DISTANCE_IN_GAPS, Claim::NothingTouches));
        let look = Look { surface, tangle, neighbours, start, old, x };
        let [lists, _] = candidates.lists();
        threads.each_pair_piece(found, lists, ITEMS_PER_PIECE, |_, found, lists| {
            for (found, pairs) in found.iter_mut().zip(lists) {
                found.clear();
                found.extend(pairs.iter().filter_map(|pair| look.at(pair)));
            }
        });
        all.clear();
        all.extend(found.iter().flatten());
        squeeze.relieve(surface, old, x, all);
    }

    /// Adds the pairs of another way from `old` to `x` to those that are known, which stay first and as they
    /// are, and those that have `met` on it even so, whether or not their distance is a local minimum. Says
    /// whether there are any.
    pub fn find_more(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        tangle: &Tangle,
        ways: [&[Quad]; 3],
        met: &[Pair],
    ) -> bool {
        std::mem::swap(&mut self.known, &mut self.all);
        self.look(threads, surface, tangle, ways);
        let Self { all, known, sorted, neighbours, squeeze, .. } = self;
        let [start, old, x] = ways;
        let look = Look { surface, tangle, neighbours, start, old, x };
        // One that is known and met all the same is known with another direction.
        let is_met = |touch: &Touching| met.binary_search(&touch.pair).is_ok();
        all.retain(|touch| !is_met(touch));
        all.extend(met.iter().filter_map(|pair| look.met(pair)));
        if squeeze.count() > 0 {
            for list in [&mut *all, &mut *known] {
                list.retain(|touch| !squeeze.ignores(surface, &touch.vertices));
            }
        }
        sorted.clear();
        sorted.extend(known.iter().map(|touch| touch.pair));
        sorted.sort_unstable();
        let count = known.len();
        let is_new = |touch: &&Touching| is_met(touch) || sorted.binary_search(&touch.pair).is_err();
        known.extend(all.iter().filter(is_new));
        std::mem::swap(known, all);
        all.len() > count
    }
}

#[inline(always)]
fn point(q: &Quad) -> DVec3 {
    DVec3::new(q[0].into(), q[1].into(), q[2].into())
}

struct Look<'a> {
    surface: &'a Surface,
    tangle: &'a Tangle,
    neighbours: &'a Neighbours,
    start: &'a [Quad],
    old: &'a [Quad],
    x: &'a [Quad],
}

impl Look<'_> {
    /// How the primitives of a pair that meet are to be kept apart.
    fn met(&self, pair: &Pair) -> Option<Touching> {
        let vertices = pair.vertices(self.surface);
        let [from, to] = [self.old, self.x].map(|x| vertices.map(|v| point(&x[v as usize])));
        let gap = f64::from(self.surface.gap(pair, &vertices));
        let distance = pair.kind.nearest(&from).squared.sqrt();
        let time = first_contact(pair.kind, &from, &to, MET_GAP * gap)?;
        let x: [DVec3; 4] = std::array::from_fn(|i| from[i] + (to[i] - from[i]) * time);
        let nearest = pair.kind.nearest(&x);
        let normal = combined(&x, &nearest.weights).try_normalize()?;
        let gap = (2.0 * MET_GAP * gap).min(MET_DISTANCE * distance);
        Some(self.touching(pair, vertices, nearest.weights, normal, gap))
    }

    fn touching(
        &self,
        pair: &Pair,
        vertices: [u32; 4],
        weights: [f64; 4],
        normal: DVec3,
        gap: f64,
    ) -> Touching {
        Touching {
            pair: *pair,
            vertices,
            weights: weights.map(|w| w as f32),
            normal: normal.as_vec3().to_array(),
            gap: gap as f32,
            friction: self.surface.friction_of(&vertices, pair.kind),
        }
    }

    /// Whether and how the primitives of a pair touch.
    fn at(&self, pair: &Pair) -> Option<Touching> {
        let vertices = pair.vertices(self.surface);
        let from = vertices.map(|v| point(&self.old[v as usize]));
        let gap = f64::from(self.surface.gap(pair, &vertices));
        if pair.kind == Kind::EdgeEdge && meets_beside_an_end(&from, 2.0 * gap) {
            return None;
        }
        let to = vertices.map(|v| point(&self.x[v as usize]));
        if stay_apart(pair.kind, &from, &to, TEST_DISTANCE_IN_GAPS * gap) {
            return None;
        }
        if self.tangle.ignores(self.surface, pair, &vertices) {
            return None;
        }
        let began = pair.kind.nearest(&from);
        let distance = began.squared.sqrt();
        let (time, nearest) = if distance <= 2.0 * gap {
            (0.0, began)
        } else {
            if apart_along(
                pair.kind,
                combined(&from, &began.weights),
                &from,
                &to,
                TEST_DISTANCE_IN_GAPS * gap,
            ) {
                return None;
            }
            let time = first_contact(pair.kind, &from, &to, gap)?;
            (time, pair.kind.nearest(&std::array::from_fn(|i| from[i] + (to[i] - from[i]) * time)))
        };
        let [start, end] = [&from, &to].map(|x| combined(x, &nearest.weights));
        let line = start * (1.0 - time) + end * time;
        let normal = line.try_normalize()?;
        let at = |v: u32| {
            let [from, to] = [self.old, self.x].map(|x| point(&x[v as usize]));
            from + (to - from) * time
        };
        let [_, b, c, d] = nearest.weights.map(|w| -w);
        let faces = match pair.kind {
            Kind::VertexTriangle => {
                let which = [pair.second, pair.first];
                self.neighbours.faces_vertex(self.surface, which, [b, c, d], normal, at)
            }
            // End points of edges are vertices, which collide with triangles.
            Kind::EdgeEdge => {
                nearest.weights.iter().all(|w| w.abs() > RIM)
                    && self.neighbours.faces_edge(self.surface, pair.first, -normal, at)
                    && self.neighbours.faces_edge(self.surface, pair.second, normal, at)
            }
        };
        if !faces {
            return None;
        }
        // Neighbours in the mesh may be closer than that, and must not push each other apart.
        let at_start = pair.kind.nearest(&vertices.map(|v| point(&self.start[v as usize]))).squared.sqrt();
        let mut kept = 0.5 * at_start;
        if at_start < TORN_GAP * gap {
            kept = kept.max((2.0 * MET_GAP * gap).min(MET_DISTANCE * distance));
        }
        let gap = gap.min(kept);
        if end.dot(normal) > TEST_DISTANCE_IN_GAPS * gap {
            return None;
        }
        // Pairs that are closer already are not thrown apart.
        let gap = gap.min(distance + 0.25 * gap);
        Some(self.touching(pair, vertices, nearest.weights, normal, gap))
    }
}

/// Whether two edges are nearer than `within` \[m\] and nearest at an end of one of them, or beside it: most
/// edges near each other are, and their ends are vertices, which collide with triangles. The nearest points
/// of lines decide: a pair of segments has its nearest points inside both where these are.
#[inline(always)]
fn meets_beside_an_end(&[a, b, c, d]: &[DVec3; 4], within: f64) -> bool {
    let (first, second, apart) = (b - a, d - c, a - c);
    let (aa, ab, bb) = (first.dot(first), first.dot(second), second.dot(second));
    let (pa, pb) = (first.dot(apart), second.dot(apart));
    let area = aa * bb - ab * ab;
    // Nearly parallel, or a point.
    if area <= 1e-9 * aa * bb {
        return false;
    }
    let [s, t] = [(ab * pb - bb * pa) / area, (aa * pb - ab * pa) / area];
    let is_inside = |at: f64| at > 0.5 * RIM && at < 1.0 - 0.5 * RIM;
    if is_inside(s) && is_inside(t) {
        return false;
    }
    // Points of both, not quite the nearest.
    let line = apart + first * s.clamp(0.0, 1.0) - second * t.clamp(0.0, 1.0);
    line.length_squared() <= within * within
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_another_way_are_added_and_those_that_met_whatever_their_distance_is() {
        // Two triangles, one above the other, 1 cm thick; the lower one is to rise.
        let mut surface = Surface::new(vec![[0, 1, 2], [3, 4, 5]]);
        surface.radius.fill(0.005);
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let at = |heights: [f32; 2]| -> Vec<Quad> {
            heights.iter().flat_map(|&y| corners.map(|[x, z]| [x, y, z + 0.01 * y, 1.0])).collect()
        };
        let (old, still, risen) = (at([0.0, 0.5]), at([0.0, 0.5]), at([0.6, 0.5]));
        let threads = Threads::alone();
        let mut finder = Finder::new(&surface, &old);
        let tangle = Tangle::default();
        assert!(finder.find(&threads, &surface, &tangle, [&old, &old, &still]).is_empty());
        assert!(finder.find_more(&threads, &surface, &tangle, [&old, &old, &risen], &[]));
        let known = finder.touching().len();
        assert!(known > 0);
        // The same way once more has nothing new, but for what has met all the same.
        assert!(!finder.find_more(&threads, &surface, &tangle, [&old, &old, &risen], &[]));
        assert_eq!(finder.touching().len(), known);
        let met = Pair { kind: Kind::VertexTriangle, first: 0, second: 1 };
        assert!(finder.find_more(&threads, &surface, &tangle, [&old, &old, &risen], &[met]));
        let last = finder.touching()[known];
        assert_eq!(last.pair, met);
        assert!(last.gap > 0.0 && last.gap < 0.01 && last.normal[1] < -0.9, "{last:?}");
    }
}
