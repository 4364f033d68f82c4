//! The last few triangles: where all but a handful are within tolerance, those are projected one by one.
//!
//! Iterations bring the mean down fast, and then work on the whole mesh for the sake of its last few triangles, mostly where
//! the load is greatest. Moving their corners by some thousandths of an edge does instead, as long as neighbours have
//! room; so a few rounds of Gauss–Seidel over them and whatever they push out. It is serial, and its cost does not depend
//! on the size of the mesh.

use super::{Filter, local::BatchState};
use crate::{
    kernel::{
        lanes::{BATCH, Quad},
        real::{V3, add},
        strain::{Range, limit_strain_gradient, strain_residual},
    },
    limit::strain_triangle::StrainElement,
};

/// Worst residual, in tolerances, from which on it is tried.
const WORST: f32 = 2.5;

/// Most triangles that are looked at in a round.
const MOST: usize = 256;

/// Rounds before it is left to iterations again.
const ROUNDS: usize = 12;

/// Where triangles are brought to, in tolerances past their limits.
const GOAL: f32 = 0.85;

/// Lists of triangles: those of this round and of the next.
#[derive(Debug)]
pub struct Lists([Vec<u32>; 2]);

impl Default for Lists {
    fn default() -> Self {
        Self([Vec::with_capacity(MOST), Vec::with_capacity(MOST)])
    }
}

impl Filter {
    /// Tries to bring all triangles of `x` within `tolerance`, of which `states` have the residuals. Gives whether that worked.
    pub(super) fn polish(
        &self,
        x: &mut [Quad],
        states: &[BatchState],
        lists: &mut Lists,
        tolerance: f32,
    ) -> bool {
        let [now, next] = &mut lists.0;
        now.clear();
        for (b, _) in states.iter().enumerate().filter(|(_, s)| s.worst > tolerance) {
            if states[b].worst > WORST * tolerance || now.len() + BATCH > MOST {
                return false;
            }
            let first = b * BATCH;
            now.extend((first..self.elements.len().min(first + BATCH)).map(|t| t as u32));
        }
        for _ in 0..ROUNDS {
            next.clear();
            for &t in now.iter() {
                if !self.project(x, &self.elements[t as usize], tolerance) {
                    continue;
                }
                for v in self.corners_of(t) {
                    let around = &self.corners[self.starts[v] as usize..self.starts[v + 1] as usize];
                    let triangles = around
                        .iter()
                        .map(|&c| (c as usize / (3 * BATCH) * BATCH + c as usize % BATCH) as u32);
                    if next.len() + around.len() > MOST {
                        return false;
                    }
                    next.extend(triangles);
                }
            }
            if next.is_empty() {
                return true;
            }
            next.sort_unstable();
            next.dedup();
            std::mem::swap(now, next);
        }
        false
    }

    fn corners_of(&self, t: u32) -> [usize; 3] {
        self.elements[t as usize].vertices.map(|v| v as usize - self.vertices.start)
    }

    /// Brings one triangle back if it is further out than `tolerance`. Says whether it was.
    fn project(&self, x: &mut [Quad], element: &StrainElement, tolerance: f32) -> bool {
        let corners = element.vertices.map(|v| v as usize - self.vertices.start);
        let position = |v: usize| -> V3<f32> { [x[v][0], x[v][1], x[v][2]] };
        let positions = corners.map(position);
        let Range { min, max } = element.range;
        if strain_residual(&positions, element.rest, element.range) <= tolerance {
            return false;
        }
        let slack = GOAL * tolerance;
        let range = Range { min: if min > 0.0 { min - slack } else { min }, max: max + slack };
        // About the square of an edge, as the projection wants it.
        let unit = self.edge_length * self.edge_length;
        let w = corners.map(|v| if self.masses[v] > 0.0 { unit / self.masses[v] } else { 0.0 });
        if let Some(projected) = limit_strain_gradient(&positions, w, element.rest, range, 1.0) {
            for (v, (position, moved)) in corners.into_iter().zip(positions.into_iter().zip(projected.moves))
            {
                let to = add(position, moved);
                if to.iter().all(|c| c.is_finite()) {
                    x[v][..3].copy_from_slice(&to);
                }
            }
        }
        true
    }
}
