//! Vertices that threads share while none of them writes.

use super::batch::lanes_of;
use crate::kernel::lanes::{BATCH, Quad, VertexOffset};

/// The places of one vertex of each element of a batch; that of `spare` in the lanes that are left.
pub fn offsets_of(elements: &[u32], spare: u32, vertex: impl Fn(usize) -> u32) -> [VertexOffset; BATCH] {
    lanes_of(elements, spare, vertex).map(VertexOffset::new)
}

/// Vertices that threads read.
#[derive(Clone, Copy, Debug)]
pub struct SharedQuads {
    base: *mut Quad,
}

// SAFETY: who calls `base` sees to it that no two threads touch the same quad, or all only read.
unsafe impl Send for SharedQuads {}
// SAFETY: as above.
unsafe impl Sync for SharedQuads {}

impl SharedQuads {
    /// Shares `quads` for as long as the borrow lasts.
    pub fn new(quads: &mut [Quad]) -> Self {
        Self { base: quads.as_mut_ptr() }
    }

    /// The first quad.
    pub fn base(self) -> *mut Quad {
        self.base
    }
}
