//! Elements in batches of lanes, batches in colours: the memory that sweeps run over.

use std::ops::Range;

use crate::{
    kernel::lanes::{BATCH, Quad, VertexOffset},
    mesh::color::color,
};

/// Batches of elements, grouped by colour. Elements of one colour share no vertex.
#[derive(Clone, Debug)]
pub struct Colored<B> {
    /// All batches, colour after colour.
    pub batches: Vec<B>,
    /// The batches of each colour.
    pub colors: Vec<Range<usize>>,
}

impl<B> Default for Colored<B> {
    fn default() -> Self {
        Self { batches: Vec::new(), colors: Vec::new() }
    }
}

impl<B> Colored<B> {
    /// Colours `elements` and packs them; `pack` gets the elements of a batch, at most [`BATCH`] of them, and
    /// fills the lanes that are left with elements that do nothing.
    pub fn new<const K: usize>(
        vertex_count: usize,
        elements: &[[u32; K]],
        pack: impl Fn(&[u32]) -> B,
    ) -> Self {
        let mut colored = Self::default();
        for class in color(vertex_count, elements) {
            let from = colored.batches.len();
            colored.batches.extend(class.chunks(BATCH).map(&pack));
            colored.colors.push(from..colored.batches.len());
        }
        colored
    }

    /// The batches of colour `color`.
    pub fn of(&self, color: usize) -> &[B] {
        &self.batches[self.colors[color].clone()]
    }
}

/// Lane by lane: `value` of each element of a batch, `fill` in the lanes that are left.
pub fn lanes_of<T: Copy>(elements: &[u32], fill: T, value: impl Fn(usize) -> T) -> [T; BATCH] {
    std::array::from_fn(|k| elements.get(k).map_or(fill, |&e| value(e as usize)))
}

/// The places of one vertex of each element of a batch; that of `spare` in the lanes that are left.
pub fn offsets_of(elements: &[u32], spare: u32, vertex: impl Fn(usize) -> u32) -> [VertexOffset; BATCH] {
    lanes_of(elements, spare, vertex).map(VertexOffset::new)
}

/// Vertices that threads share while they work on one colour.
#[derive(Clone, Copy, Debug)]
pub struct SharedQuads {
    base: *mut Quad,
}

// SAFETY: within a colour no two elements share a vertex, so threads that work on different elements of it
// never touch the same quad; between colours the threads meet. Who calls `base` keeps to that.
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
