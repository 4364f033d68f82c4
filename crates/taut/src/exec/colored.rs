//! Batches of elements by colour: elements of one colour share no vertex, so that lanes and threads may move
//! the vertices of all of them at the same time.
//!
//! There are three ways over them, each with the loop, the lanes and the threads in it: vertices moved in
//! place ([`Colored::sweep_color`]), what would move them summed elsewhere ([`Colored::accumulate_color`]),
//! and nothing moved at all ([`Colored::measure`]). What is done to an element is a [`Kernel`] or a
//! [`Measure`], compiled into the loop for each kind of lanes.

use std::ops::Range;

use super::{
    batch::{Batch, Batches, xyz},
    color::color,
    threads::Threads,
};
use crate::kernel::{
    lanes::{BATCH, LaneKind, Lanes, Quad, Work, run},
    real::V3,
};

/// Batches below which a colour is not shared between threads: about 2 µs of work.
pub const GRAIN: usize = 16;

/// Batches of elements, grouped by colour.
///
/// Elements of one colour share no vertex, but for the spare one that fills lanes which are left: all who
/// fill up with it must be in one batch of a colour, its last, and so are.
#[derive(Clone, Debug)]
pub struct Colored<D, const K: usize> {
    batches: Batches<D, K>,
    colors: Vec<Range<usize>>,
}

impl<D, const K: usize> Default for Colored<D, K> {
    fn default() -> Self {
        Self { batches: Batches::default(), colors: Vec::new() }
    }
}

/// What is done to the elements of some lanes of a batch.
pub trait Kernel<D, const K: usize>: Sync {
    /// What belongs to each batch beside its data, and changes; `()` if nothing does.
    type Beside: Send;

    /// By what the vertices move, or what else is to be added to them; `None` if no lane wants anything. What
    /// it measures on the way goes into `worst`, of which the largest lane is given back in the end.
    fn apply<L: Lanes>(
        &self,
        data: &D,
        beside: &mut Self::Beside,
        at: usize,
        corners: &Corners<L, K>,
        worst: &mut L,
    ) -> Option<[V3<L>; K]>;
}

/// The vertices of some lanes of a batch.
#[derive(Clone, Copy)]
pub struct Corners<L, const K: usize> {
    /// Positions \[m\], and inverse mass as fourth component.
    pub quads: [[L; 4]; K],
    /// Something else of them, velocities for example, if the loop was given such.
    pub second: Option<[V3<L>; K]>,
}

/// What is measured of the elements of some lanes of a batch.
pub trait Measure<D, const K: usize>: Sync {
    /// At least 0.
    fn measure<L: Lanes>(&self, data: &D, at: usize, x: &[V3<L>; K]) -> L;
}

/// Who does a loop, and with what lanes.
#[derive(Clone, Copy, Debug)]
pub struct Exec<'a> {
    /// Threads that share it.
    pub threads: &'a Threads,
    /// Lanes.
    pub lanes: LaneKind,
}

impl<D, const K: usize> Colored<D, K> {
    /// Colours elements of these vertices and packs them. `pack` gets the numbers of the elements of a batch,
    /// at most [`BATCH`] of them, and fills the lanes that are left with what does nothing at `spare`, a
    /// vertex that no element has.
    pub fn new(vertex_count: usize, spare: u32, elements: &[[u32; K]], pack: impl Fn(&[u32]) -> D) -> Self {
        assert!(!elements.iter().flatten().any(|&v| v == spare), "the spare vertex belongs to an element");
        let mut batches = Batches::new(vertex_count.max(spare as usize + 1));
        let mut colors = Vec::new();
        for class in color(vertex_count, elements) {
            let from = batches.len();
            for numbers in class.chunks(BATCH) {
                batches.push(numbers, spare, |e| elements[e], pack(numbers));
            }
            colors.push(from..batches.len());
        }
        Self { batches, colors }
    }

    /// How many colours there are.
    pub fn color_count(&self) -> usize {
        self.colors.len()
    }

    /// How many batches there are.
    pub fn batch_count(&self) -> usize {
        self.batches.len()
    }

    /// Calls `change` with the vertices of every element, what its batch holds, and its lane there.
    pub fn change(&mut self, change: impl FnMut([usize; K], &mut D, usize)) {
        self.batches.change(change);
    }
}

impl<D: Sync, const K: usize> Colored<D, K> {
    /// Moves the vertices `x` of all elements of a colour. `beside` has what belongs to each batch of all
    /// colours. Gives the largest of what `kernel` measured.
    pub fn sweep_color<W: Kernel<D, K>>(
        &self,
        exec: Exec,
        color: usize,
        x: &mut [Quad],
        beside: &mut [W::Beside],
        kernel: &W,
    ) -> f32 {
        self.batches.check(x);
        let (x, own) = (SharedQuads(x.as_mut_ptr()), self.colors[color].clone());
        exec.threads.largest_beside(&self.batches[own.clone()], &mut beside[own], GRAIN, |batches, beside| {
            run(exec.lanes, Sweep { batches, beside, x, kernel })
        })
    }

    /// Adds what `kernel` gives for all elements of a colour to `sums`, of which there is one for each of
    /// `x`. `second` is something else of the vertices that it is to see. Gives the largest of what it
    /// measured.
    pub fn accumulate_color<W: Kernel<D, K>>(
        &self,
        exec: Exec,
        color: usize,
        (x, second): (&[Quad], Option<&[Quad]>),
        sums: &mut [Quad],
        beside: &mut [W::Beside],
        kernel: &W,
    ) -> f32 {
        self.batches.check(x);
        self.batches.check(sums);
        if let Some(second) = second {
            self.batches.check(second);
        }
        let (sums, own) = (SharedQuads(sums.as_mut_ptr()), self.colors[color].clone());
        exec.threads.largest_beside(&self.batches[own.clone()], &mut beside[own], GRAIN, |batches, beside| {
            run(exec.lanes, Accumulate { batches, beside, x, second, sums, kernel })
        })
    }

    /// The largest of what `kernel` measures of all elements; nothing moves.
    pub fn measure<W: Measure<D, K>>(&self, exec: Exec, x: &[Quad], kernel: &W) -> f32 {
        self.batches.check(x);
        exec.threads
            .largest(&self.batches, GRAIN, |batches| run(exec.lanes, MeasureAll { batches, x, kernel }))
    }
}

/// Vertices that threads share while they work on one colour.
#[derive(Clone, Copy)]
struct SharedQuads(*mut Quad);

// SAFETY: it is used only while a colour is swept, of whose elements each thread takes others: these share no
// vertex, so no two threads touch the same quad. The spare vertex is in the last batch of the colour alone,
// which one thread takes.
unsafe impl Send for SharedQuads {}
// SAFETY: as above.
unsafe impl Sync for SharedQuads {}

/// Batches of one colour whose vertices move.
struct Sweep<'a, D, W: Kernel<D, K>, const K: usize> {
    batches: &'a [Batch<D, K>],
    beside: &'a mut [W::Beside],
    x: SharedQuads,
    kernel: &'a W,
}

impl<D, W: Kernel<D, K>, const K: usize> Work for Sweep<'_, D, W, K> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let mut worst = L::splat(0.0);
        for (batch, beside) in self.batches.iter().zip(self.beside) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: `sweep_color` has seen that there is a quad for every vertex of the list, and
                // elements of a colour share none.
                let quads = unsafe { batch.gather::<L>(self.x.0, at) };
                let corners = Corners { quads, second: None };
                let Some(moves) = self.kernel.apply(batch, beside, at, &corners, &mut worst) else {
                    continue;
                };
                for k in 0..K {
                    let [x, y, z, w] = quads[k];
                    let moved = [x + moves[k][0], y + moves[k][1], z + moves[k][2], w];
                    // SAFETY: as above.
                    unsafe { batch.scatter(self.x.0, k, at, moved) };
                }
            }
        }
        worst.largest()
    }
}

/// Batches of one colour that add to sums.
struct Accumulate<'a, D, W: Kernel<D, K>, const K: usize> {
    batches: &'a [Batch<D, K>],
    beside: &'a mut [W::Beside],
    x: &'a [Quad],
    second: Option<&'a [Quad]>,
    sums: SharedQuads,
    kernel: &'a W,
}

impl<D, W: Kernel<D, K>, const K: usize> Work for Accumulate<'_, D, W, K> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let mut worst = L::splat(0.0);
        for (batch, beside) in self.batches.iter().zip(self.beside) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: `accumulate_color` has seen that there is a quad for every vertex of the list in
                // each array; these two are borrowed, so nobody writes.
                let (quads, second) = unsafe {
                    let second = match self.second {
                        Some(second) => Some(xyz(&batch.gather::<L>(second.as_ptr(), at))),
                        None => None,
                    };
                    (batch.gather::<L>(self.x.as_ptr(), at), second)
                };
                let corners = Corners { quads, second };
                let Some(values) = self.kernel.apply(batch, beside, at, &corners, &mut worst) else {
                    continue;
                };
                for k in 0..K {
                    // SAFETY: as above, and elements of a colour share no vertex.
                    unsafe { batch.add(self.sums.0, k, at, values[k]) };
                }
            }
        }
        worst.largest()
    }
}

/// Batches that are measured.
struct MeasureAll<'a, D, W, const K: usize> {
    batches: &'a [Batch<D, K>],
    x: &'a [Quad],
    kernel: &'a W,
}

impl<D, W: Measure<D, K>, const K: usize> Work for MeasureAll<'_, D, W, K> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: `measure` has seen that there is a quad for every vertex of the list.
                let quads = unsafe { batch.gather::<L>(self.x.as_ptr(), at) };
                worst = worst.max(self.kernel.measure(batch, at, &xyz(&quads)));
            }
        }
        worst.largest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the two ends of each element together by half of what lies between them.
    struct Meet;

    impl Kernel<(), 2> for Meet {
        type Beside = u32;

        #[inline(always)]
        fn apply<L: Lanes>(
            &self,
            (): &(),
            beside: &mut u32,
            _at: usize,
            corners: &Corners<L, 2>,
            worst: &mut L,
        ) -> Option<[V3<L>; 2]> {
            *beside += L::WIDTH as u32;
            let [a, b] = xyz(&corners.quads);
            let half = [0, 1, 2].map(|k| (b[k] - a[k]) * L::splat(0.5));
            *worst = worst.max(half[0]);
            Some([half, half.map(|h| -h)])
        }
    }

    fn chain(count: u32) -> (Colored<(), 2>, Vec<Quad>) {
        let edges: Vec<[u32; 2]> = (1..count).map(|v| [v - 1, v]).collect();
        let x = (0..=count).map(|v| [v as f32, 0.0, 0.0, 7.0]).collect();
        (Colored::new(count as usize, count, &edges, |_| ()), x)
    }

    #[test]
    fn every_element_of_a_color_is_done_once_whatever_the_threads_and_lanes() {
        let (colored, start) = chain(2000);
        assert_eq!(colored.color_count(), 2);
        for threads in [1, 3] {
            let threads = Threads::new(threads).unwrap();
            for lanes in LaneKind::available() {
                let (exec, mut x) = (Exec { threads: &threads, lanes }, start.clone());
                let mut beside = vec![0; colored.batch_count()];
                assert_eq!(colored.sweep_color(exec, 0, &mut x, &mut beside, &Meet), 0.5);
                let met = |v: usize| (v / 2 * 2) as f32 + 0.5;
                assert!((0..2000).all(|v| x[v] == [met(v), 0.0, 0.0, 7.0]), "{lanes:?}");
                assert_eq!(beside.iter().sum::<u32>() as usize, 63 * BATCH);

                let mut sums = vec![[1.0; 4]; x.len()];
                colored.accumulate_color(exec, 0, (&start, None), &mut sums, &mut beside, &Meet);
                assert!((0..2000).all(|v| sums[v][0] == if v % 2 == 0 { 1.5 } else { 0.5 }));
            }
        }
    }

    #[test]
    #[should_panic(expected = "do not match")]
    fn an_array_that_is_too_short_is_not_swept() {
        let (colored, mut x) = chain(40);
        x.truncate(30);
        let exec = Exec { threads: &Threads::alone(), lanes: LaneKind::detect() };
        colored.sweep_color(exec, 0, &mut x, &mut vec![0; colored.batch_count()], &Meet);
    }

    #[test]
    #[should_panic(expected = "the spare vertex belongs to an element")]
    fn the_spare_vertex_is_nobodys() {
        Colored::new(3, 2, &[[0, 1], [1, 2]], |_| ());
    }
}
