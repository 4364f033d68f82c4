//! Elements of `K` vertices in batches of lanes, and how their vertices are read.
//!
//! The sweeps fetch 16 vertices at once without looking at each index. Indices are checked when a batch is
//! packed, against a count of vertices that the list of batches remembers; an array of positions is checked
//! once, against that count, before a loop begins. Nobody else can put an index into a batch.

use std::ops::{Deref, Range};

use crate::kernel::{
    lanes::{BATCH, Lanes, Quad, VertexOffset},
    real::V3,
};

/// [`BATCH`] elements of `K` vertices side by side, and what belongs to each.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Batch<D, const K: usize> {
    vertices: [[VertexOffset; BATCH]; K],
    data: D,
}

impl<D, const K: usize> Deref for Batch<D, K> {
    type Target = D;

    #[inline(always)]
    fn deref(&self) -> &D {
        &self.data
    }
}

impl<D, const K: usize> Batch<D, K> {
    /// The vertices of lane `lane`, for work on single elements.
    pub fn vertices(&self, lane: usize) -> [usize; K] {
        self.vertices.map(|corner| corner[lane].index())
    }

    /// All components of the vertices of some lanes.
    ///
    /// # Safety
    /// `base` must point to as many quads as the list of this batch knows vertices, and nobody may write to
    /// those of this batch meanwhile.
    #[inline(always)]
    pub(super) unsafe fn gather<L: Lanes>(&self, base: *const Quad, at: usize) -> [[L; 4]; K] {
        let mut quads = [[L::splat(0.0); 4]; K];
        for k in 0..K {
            // SAFETY: the caller's promise, and indices are below the count of the list. Lanes only exist
            // where the processor has the instructions.
            quads[k] = unsafe { L::gather(base, &self.vertices[k], at) };
        }
        quads
    }

    /// Puts back vertex `k` of some lanes.
    ///
    /// # Safety
    /// As [`Batch::gather`], and nobody may read them meanwhile, either.
    #[inline(always)]
    pub(super) unsafe fn scatter<L: Lanes>(&self, base: *mut Quad, k: usize, at: usize, values: [L; 4]) {
        // SAFETY: as above.
        unsafe { L::scatter(base, &self.vertices[k], at, values) }
    }

    /// Adds to the first three components of vertex `k` of some lanes.
    ///
    /// # Safety
    /// As [`Batch::scatter`].
    #[inline(always)]
    pub(super) unsafe fn add<L: Lanes>(&self, base: *mut Quad, k: usize, at: usize, value: V3<L>) {
        // SAFETY: the caller's promise.
        unsafe {
            let [x, y, z, w] = L::gather(base, &self.vertices[k], at);
            L::scatter(base, &self.vertices[k], at, [x + value[0], y + value[1], z + value[2], w]);
        }
    }
}

/// Batches whose vertices are all below a count.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches<D, const K: usize> {
    list: Vec<Batch<D, K>>,
    count: usize,
}

impl<D, const K: usize> Default for Batches<D, K> {
    fn default() -> Self {
        Self { list: Vec::new(), count: 0 }
    }
}

impl<D, const K: usize> Deref for Batches<D, K> {
    type Target = [Batch<D, K>];

    fn deref(&self) -> &[Batch<D, K>] {
        &self.list
    }
}

impl<D, const K: usize> Batches<D, K> {
    /// None, for elements of `count` vertices, at most [`VertexOffset::LIMIT`].
    pub fn new(count: usize) -> Self {
        assert!(count <= VertexOffset::LIMIT as usize, "more vertices than can be told apart");
        Self { list: Vec::new(), count }
    }

    /// The elements in their order, [`BATCH`] to a batch; `pack` gets the numbers of those of a batch. Lanes
    /// that are left get `spare` for all their vertices.
    pub fn pack(count: usize, spare: u32, elements: &[[u32; K]], pack: impl Fn(&[u32]) -> D) -> Self {
        let mut batches = Self::new(count);
        let numbers: Vec<u32> = (0..elements.len() as u32).collect();
        for numbers in numbers.chunks(BATCH) {
            batches.push(numbers, spare, |e| elements[e], pack(numbers));
        }
        batches
    }

    /// One more: `elements` are the numbers of its elements, at most [`BATCH`], of which `vertices` gives the
    /// vertices; lanes that are left get `spare` for all of them.
    pub fn push(&mut self, elements: &[u32], spare: u32, vertices: impl Fn(usize) -> [u32; K], data: D) {
        let lanes = lanes_of(elements, [spare; K], vertices);
        let inside = lanes.iter().flatten().all(|&v| (v as usize) < self.count);
        assert!(inside, "an element has a vertex that does not exist");
        let vertices = std::array::from_fn(|k| lanes.map(|corners| VertexOffset::new(corners[k])));
        self.list.push(Batch { vertices, data });
    }

    /// What batch `b` holds beside its vertices, to change it.
    pub fn data_mut(&mut self, b: usize) -> &mut D {
        &mut self.list[b].data
    }

    /// Calls `change` with the vertices of every element, what its batch holds, and its lane there.
    pub fn change(&mut self, mut change: impl FnMut([usize; K], &mut D, usize)) {
        for batch in &mut self.list {
            for lane in 0..BATCH {
                let vertices = batch.vertices(lane);
                // Lanes that are left have one vertex at all corners.
                if vertices.iter().any(|v| *v != vertices[0]) {
                    change(vertices, &mut batch.data, lane);
                }
            }
        }
    }

    /// Checks that `x` has a quad for every vertex, once for a whole loop.
    #[inline]
    pub(super) fn check(&self, x: &[Quad]) {
        assert!(self.list.is_empty() || self.count <= x.len(), "positions and elements do not match");
    }

    /// The batches with the positions of their vertices, to be read.
    #[inline]
    pub fn over<'a>(&'a self, x: &'a [Quad]) -> Over<'a, D, K> {
        self.check(x);
        Over { list: &self.list, count: self.count, x, second: None }
    }
}

/// Some batches with the positions of their vertices: as many as the list of the batches knows vertices, as
/// [`Batches::over`] has checked.
#[derive(Debug)]
pub struct Over<'a, D, const K: usize> {
    list: &'a [Batch<D, K>],
    /// Vertices that the list knows.
    count: usize,
    x: &'a [Quad],
    second: Option<&'a [Quad]>,
}

impl<D, const K: usize> Clone for Over<'_, D, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D, const K: usize> Copy for Over<'_, D, K> {}

impl<'a, D, const K: usize> Over<'a, D, K> {
    /// The same with a second array, if there is one, that has a quad for every vertex, too.
    pub fn with(self, second: Option<&'a [Quad]>) -> Self {
        let long = self.list.is_empty() || second.is_none_or(|second| self.count <= second.len());
        assert!(long, "positions and elements do not match");
        Self { second, ..self }
    }

    /// Some of the batches.
    #[inline]
    pub fn part(self, range: Range<usize>) -> Self {
        Self { list: &self.list[range], ..self }
    }

    /// How many batches.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// What belongs to batch number `b`.
    #[inline(always)]
    pub fn data(&self, b: usize) -> &'a D {
        &self.list[b].data
    }

    /// One by one.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = Reader<'a, D, K>> {
        let Self { list, x, second, .. } = self;
        list.iter().map(move |batch| Reader { batch, x, second })
    }
}

/// One batch of [`Over`].
#[derive(Debug)]
pub struct Reader<'a, D, const K: usize> {
    batch: &'a Batch<D, K>,
    x: &'a [Quad],
    second: Option<&'a [Quad]>,
}

impl<D, const K: usize> Deref for Reader<'_, D, K> {
    type Target = D;

    #[inline(always)]
    fn deref(&self) -> &D {
        &self.batch.data
    }
}

impl<D, const K: usize> Reader<'_, D, K> {
    /// Positions of the vertices of some lanes.
    #[inline(always)]
    pub fn corners<L: Lanes>(&self, at: usize) -> [V3<L>; K] {
        // SAFETY: `Batches::over` has seen that the array has a quad for every vertex of the list; it is
        // borrowed, so nobody writes.
        let quads = unsafe { self.batch.gather::<L>(self.x.as_ptr(), at) };
        xyz(&quads)
    }

    /// What the second array has for them, if there is one.
    #[inline(always)]
    pub fn second_corners<L: Lanes>(&self, at: usize) -> Option<[V3<L>; K]> {
        let second = self.second?;
        // SAFETY: as above; `Over::with` has seen the same of the second array.
        let quads = unsafe { self.batch.gather::<L>(second.as_ptr(), at) };
        Some(xyz(&quads))
    }
}

/// The first three components of quads.
#[inline(always)]
pub fn xyz<L: Lanes, const K: usize>(quads: &[[L; 4]; K]) -> [V3<L>; K] {
    let mut corners = [[L::splat(0.0); 3]; K];
    for k in 0..K {
        corners[k] = [quads[k][0], quads[k][1], quads[k][2]];
    }
    corners
}

/// The fourth component of quads: inverse masses.
#[inline(always)]
pub fn weights<L: Lanes, const K: usize>(quads: &[[L; 4]; K]) -> [L; K] {
    let mut w = [L::splat(0.0); K];
    for k in 0..K {
        w[k] = quads[k][3];
    }
    w
}

/// Lane by lane: `value` of each element of a batch, `fill` in the lanes that are left.
pub fn lanes_of<T: Copy>(elements: &[u32], fill: T, value: impl Fn(usize) -> T) -> [T; BATCH] {
    std::array::from_fn(|k| elements.get(k).map_or(fill, |&e| value(e as usize)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::{LaneKind, Work, run};

    struct Sum<'a>(Over<'a, (), 2>);

    impl Work for Sum<'_> {
        type Output = f32;

        #[inline(always)]
        fn run<L: Lanes>(self) -> f32 {
            let mut worst = L::splat(0.0);
            for batch in self.0.iter() {
                for at in (0..BATCH).step_by(L::WIDTH) {
                    let [a, b] = batch.corners::<L>(at);
                    worst = worst.max(b[0] - a[0]);
                }
            }
            worst.largest()
        }
    }

    #[test]
    fn elements_are_read_where_their_vertices_are() {
        let batches = Batches::pack(4, 3, &[[0, 1], [1, 2]], |_| ());
        let x = [[0.0; 4], [1.0; 4], [3.0; 4], [0.0; 4]];
        for lanes in LaneKind::available() {
            assert_eq!(run(lanes, Sum(batches.over(&x))), 2.0, "{lanes:?}");
        }
        assert_eq!(batches[0].vertices(1), [1, 2]);
        assert_eq!(batches[0].vertices(2), [3, 3]);
    }

    #[test]
    #[should_panic(expected = "a vertex that does not exist")]
    fn an_index_out_of_range_is_not_packed() {
        Batches::pack(3, 2, &[[0, 3]], |_| ());
    }

    #[test]
    #[should_panic(expected = "do not match")]
    fn an_array_that_is_too_short_is_not_read() {
        let batches = Batches::pack(4, 3, &[[0, 1]], |_| ());
        batches.over(&[[0.0; 4]; 3]);
    }
}
