//! Narrow phase: which pairs touch in a step, and in which direction they must stay apart.
//!
//! Parts that begin a step near each other are kept apart along the line between their nearest points; parts that meet on the way, along
//! that line when they are about to. Either way the direction comes from a time at which they had not met yet, so that it points to the
//! right side, however fast they are.

use glam::DVec3;

use super::{
    candidates::{Candidates, Pair},
    continuous::first_contact,
    surface::Surface,
};
use crate::{kernel::lanes::Quad, parallel::Threads};

/// Two parts that must keep a distance: Σ wᵢ n·xᵢ ≥ gap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touching {
    /// Their vertices.
    pub vertices: [u32; 4],
    /// Weights of the vertices: those of one part add up to 1, those of the other to −1.
    pub weights: [f32; 4],
    /// Unit vector from the second part to the first.
    pub normal: [f32; 3],
    /// Distance along it \[m\].
    pub gap: f32,
}

/// Finds what touches.
#[derive(Debug)]
pub struct Finder {
    candidates: Candidates,
    /// By piece of work; kept so that steps need not allocate.
    found: Vec<Vec<Touching>>,
    all: Vec<Touching>,
}

impl Finder {
    /// A finder for `surface`, whose vertices start at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let mut candidates = Candidates::new(surface, x);
        let found = vec![Vec::new(); candidates.lists().len()];
        Self { candidates, found, all: Vec::new() }
    }

    /// All pairs that must keep a distance of `thickness` \[m\] while vertices go from `old` to `x`; less of those that were nearer
    /// than twice that at the `start`, such as neighbours in a fine mesh. In an order that does not depend on threads.
    pub fn find(
        &mut self,
        threads: &Threads,
        surface: &Surface,
        [start, old, x]: [&[Quad]; 3],
        thickness: f32,
    ) -> &[Touching] {
        let Self { candidates, found, all } = self;
        candidates.find(threads, surface, old, x, 1.5 * thickness);
        threads.each_pair(found, candidates.lists(), 1, |_, found, lists| {
            for (found, pairs) in found.iter_mut().zip(lists) {
                found.clear();
                found.extend(pairs.iter().filter_map(|pair| look(pair, [start, old, x], thickness)));
            }
        });
        all.clear();
        all.extend(found.iter().flatten());
        all
    }
}

fn points(pair: &Pair, x: &[Quad]) -> [DVec3; 4] {
    pair.vertices.map(|v| {
        let q = &x[v as usize];
        DVec3::new(q[0].into(), q[1].into(), q[2].into())
    })
}

/// Whether and how the parts of a pair touch.
fn look(pair: &Pair, [start, old, x]: [&[Quad]; 3], thickness: f32) -> Option<Touching> {
    let (from, to) = (points(pair, old), points(pair, x));
    let began = pair.kind.nearest(&from);
    let distance = began.squared.sqrt();
    let thickness = f64::from(thickness);
    let (at, nearest) = if distance <= 2.0 * thickness {
        (from, began)
    } else {
        let time = first_contact(pair.kind, &from, &to, thickness)?;
        let at: [DVec3; 4] = std::array::from_fn(|i| from[i] + (to[i] - from[i]) * time);
        (at, pair.kind.nearest(&at))
    };
    let combined = |x: &[DVec3; 4]| (0..4).fold(DVec3::ZERO, |sum, i| sum + x[i] * nearest.weights[i]);
    let normal = combined(&at).try_normalize()?;
    // Neighbours in the mesh may be nearer than that, and must not push each other apart.
    let at_start = pair.kind.nearest(&points(pair, start)).squared.sqrt();
    let gap = thickness.min(0.5 * at_start);
    if combined(&to).dot(normal) > 1.5 * gap {
        return None;
    }
    // What is nearer already is not thrown apart.
    let gap = gap.min(distance + 0.25 * gap);
    Some(Touching {
        vertices: pair.vertices,
        weights: nearest.weights.map(|w| w as f32),
        normal: normal.as_vec3().to_array(),
        gap: gap as f32,
    })
}
