//! Narrow phase: which pairs touch in a step, and in which direction they must stay apart.
//!
//! Parts that begin a step near each other are kept apart along the line between their nearest points; parts
//! that meet on the way, along that line when they are about to. Either way the direction comes from a time
//! at which they had not met yet, so that it points to the right side, however fast they are.

use glam::DVec3;

use super::{
    candidates::{Candidates, Pair},
    continuous::{Kind, apart_along, first_contact, stay_apart},
    distance::combined,
    neighbours::{Neighbours, RIM},
    surface::Surface,
    tangle::Tangle,
};
use crate::{exec::threads::Threads, kernel::lanes::Quad};

/// Distances, in gaps, up to which parts are looked at.
const NEAR: f64 = 1.5;

/// Distances, in gaps, up to which parts are found: further, so that what is found still holds where limiting
/// takes vertices elsewhere.
const FOUND: f32 = 2.2;

/// Two parts that must keep a distance: Σ wᵢ n·xᵢ ≥ gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// Which parts they are.
    pub pair: Pair,
    /// Their vertices.
    pub vertices: [u32; 4],
    /// Weights of the vertices: those of one part add up to 1, those of the other to −1.
    pub weights: [f32; 4],
    /// Unit vector from the second part to the first.
    pub normal: [f32; 3],
    /// Distance along it \[m\].
    pub gap: f32,
    /// Coulomb friction coefficient.
    pub friction: f32,
}

/// Finds what touches.
#[derive(Debug)]
pub struct Finder {
    /// What is near; the guard asks for it as well.
    pub candidates: Candidates,
    /// The largest gap of any pair \[m\].
    largest_gap: f32,
    neighbours: Neighbours,
    /// By piece of work; kept so that steps need not allocate.
    found: Vec<Vec<Touching>>,
    all: Vec<Touching>,
}

impl Finder {
    /// A finder for `surface`, whose vertices start at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let mut candidates = Candidates::new(surface, x);
        let found = vec![Vec::new(); candidates.lists().len()];
        Self {
            candidates,
            largest_gap: surface.largest_gap(),
            neighbours: Neighbours::new(surface),
            found,
            all: Vec::new(),
        }
    }

    /// All pairs that must keep their distance while vertices go from `old` to `x`; less of those that were
    /// nearer than twice that at the `start`, such as neighbours in a fine mesh, and none of one `tangle`. In
    /// an order that does not depend on threads.
    pub fn find(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        tangle: &Tangle,
        [start, old, x]: [&[Quad]; 3],
    ) -> &[Touching] {
        let Self { candidates, largest_gap, neighbours, found, all } = self;
        candidates.find(threads, surface, old, x, FOUND * *largest_gap);
        let look = Look { surface, tangle, neighbours, start, old, x };
        threads.each_pair(found, candidates.lists(), 1, |_, found, lists| {
            for (found, pairs) in found.iter_mut().zip(lists) {
                found.clear();
                found.extend(pairs.iter().filter_map(|pair| look.at(pair)));
            }
        });
        all.clear();
        all.extend(found.iter().flatten());
        all
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
    /// Whether and how the parts of a pair touch.
    fn at(&self, pair: &Pair) -> Option<Touching> {
        let vertices = pair.vertices(self.surface);
        let [from, to] = [self.old, self.x].map(|x| vertices.map(|v| point(&x[v as usize])));
        let gap = f64::from(self.surface.gap(pair, &vertices));
        if stay_apart(pair.kind, &from, &to, NEAR * gap) {
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
            if apart_along(pair.kind, combined(&from, &began.weights), &from, &to, NEAR * gap) {
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
                self.neighbours.faces_vertex(self.surface, pair.second, [b, c, d], normal, at)
            }
            // Ends of edges are vertices, which meet triangles.
            Kind::EdgeEdge => {
                nearest.weights.iter().all(|w| w.abs() > RIM)
                    && self.neighbours.faces_edge(self.surface, pair.first, -normal, at)
                    && self.neighbours.faces_edge(self.surface, pair.second, normal, at)
            }
        };
        if !faces {
            return None;
        }
        // Neighbours in the mesh may be nearer than that, and must not push each other apart.
        let at_start = pair.kind.nearest(&vertices.map(|v| point(&self.start[v as usize]))).squared.sqrt();
        let gap = gap.min(0.5 * at_start);
        if end.dot(normal) > NEAR * gap {
            return None;
        }
        // What is nearer already is not thrown apart.
        let gap = gap.min(distance + 0.25 * gap);
        Some(Touching {
            pair: *pair,
            vertices,
            weights: nearest.weights.map(|w| w as f32),
            normal: normal.as_vec3().to_array(),
            gap: gap as f32,
            friction: self.surface.friction_of(&vertices, pair.kind),
        })
    }
}
