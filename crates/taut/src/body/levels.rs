//! What the coarser levels of all kinds of bodies share.

use super::{BodyTables, PinnedVertex};
use crate::{Scheme, Solver};

/// Levels of the paper, the finest one included.
const PAPER_LEVELS: usize = 4;

/// Most coarse levels that the scheme limits; `None`: it limits none.
pub(crate) fn depth(solver: &Solver) -> Option<usize> {
    match (solver.scheme, solver.levels) {
        (Scheme::Cycle, 0) => Some(usize::MAX),
        (Scheme::Paper, 0) => Some(PAPER_LEVELS - 1),
        (Scheme::Cycle | Scheme::Paper, levels) => Some(levels as usize - 1),
        (Scheme::Sweep | Scheme::Serial | Scheme::Jacobi | Scheme::Nearest, _) => None,
    }
}

/// Vertices within the body that are, or may be, pinned.
pub(crate) fn own_pins(body: &BodyTables, pins: &[PinnedVertex]) -> Vec<u32> {
    let own = pins.iter().filter(|pin| body.vertices.contains(&(pin.vertex as usize)));
    let mut pins: Vec<u32> = own.map(|pin| pin.vertex - body.vertices.start as u32).collect();
    pins.dedup();
    pins
}

/// Where each of the caller's vertices is within the body.
pub(crate) fn places(body: &BodyTables) -> Vec<u32> {
    let mut place = vec![0; body.order().len()];
    for (k, &v) in body.order().iter().enumerate() {
        place[v as usize] = k as u32;
    }
    place
}
