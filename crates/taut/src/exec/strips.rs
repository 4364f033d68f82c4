//! Strips of vertices (strands) side by side in lanes, and loops over batches of them.
//!
//! A batch holds [`BATCH`] strips of the same number of vertices; the last of each number is filled up with
//! copies of its last strip. A vertex belongs to one batch, so batches may be worked on at the same time. A
//! thread takes the next batch when it is done with one, as some take several times as long as others; what a
//! batch does must not depend on what its thread's scratch memory holds.

use std::{
    marker::PhantomData,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::threads::{Parts, Threads};
use crate::kernel::lanes::{BATCH, Lanes, Quad, VertexOffset};

/// [`BATCH`] strips of the same number of vertices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strip {
    first: [VertexOffset; BATCH],
    numbers: [u32; BATCH],
    count: usize,
    nodes: usize,
    /// More than any vertex.
    end: usize,
}

impl Strip {
    /// How many of the lanes are not copies.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Number of vertices of each strip.
    #[cfg(test)]
    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    /// Which strip a lane holds.
    pub(crate) fn number(&self, lane: usize) -> usize {
        self.numbers[lane] as usize
    }

    /// The first vertex of a lane.
    pub(crate) fn first(&self, lane: usize) -> usize {
        self.first[lane].index()
    }

    /// The values that belong to vertex `node` of some lanes.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(&self, values: &[Quad], node: usize, at: usize) -> [L; 4] {
        assert!(node < self.nodes && self.end <= values.len(), "fewer values than vertices");
        // SAFETY: every strip ends within the values, and `node` is one of its vertices. Lanes only exist
        // where the processor has the instructions.
        unsafe { L::gather(values.as_ptr().add(node), &self.first, at) }
    }
}

/// An array of which threads use different vertices.
#[derive(Clone, Copy)]
struct Base(*mut Quad);

// SAFETY: batches share no vertex, and each is worked on by one thread.
unsafe impl Sync for Base {}

impl Base {
    fn get(&self) -> *mut Quad {
        self.0
    }
}

/// The vertices of a batch, to be read and written.
pub(crate) struct StripQuads<'a> {
    strip: &'a Strip,
    base: *mut Quad,
    whole: PhantomData<&'a mut [Quad]>,
}

impl StripQuads<'_> {
    /// The batch.
    pub(crate) fn strip(&self) -> &Strip {
        self.strip
    }

    /// Vertex `node` of some lanes.
    #[inline(always)]
    pub(crate) fn load<L: Lanes>(&self, node: usize, at: usize) -> [L; 4] {
        assert!(node < self.strip.nodes, "no such vertex");
        // SAFETY: the array was seen to hold all vertices of the batch, which nobody else uses meanwhile.
        unsafe { L::gather(self.base.add(node), &self.strip.first, at) }
    }

    /// Puts back vertex `node` of some lanes.
    #[inline(always)]
    pub(crate) fn store<L: Lanes>(&mut self, node: usize, at: usize, values: [L; 4]) {
        assert!(node < self.strip.nodes, "no such vertex");
        // SAFETY: as above.
        unsafe { L::scatter(self.base.add(node), &self.strip.first, at, values) }
    }

    /// Vertex `node` of a lane.
    pub(crate) fn get(&mut self, node: usize, lane: usize) -> &mut Quad {
        assert!(node < self.strip.nodes, "no such vertex");
        // SAFETY: as above.
        unsafe { &mut *self.base.add(self.strip.first(lane) + node) }
    }
}

/// Strips in batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Strips {
    batches: Vec<Strip>,
}

impl Strips {
    /// Strips of `counts` vertices each, which follow one after the other; those without vertices are left
    /// out. Those of the same number come in the order of `keys`: a batch takes as long as the slowest of its
    /// strips, so that similar ones should share one. No key: 0.
    pub(crate) fn new(counts: &[u32], keys: &[u32]) -> Self {
        let mut firsts = Vec::with_capacity(counts.len());
        let mut end = 0;
        for &count in counts {
            firsts.push(VertexOffset::new(end));
            end = end.checked_add(count).filter(|&end| end < VertexOffset::LIMIT).expect("too many vertices");
        }
        let mut order: Vec<u32> = (0..counts.len() as u32).filter(|&k| counts[k as usize] > 0).collect();
        order.sort_by_key(|&k| (counts[k as usize], keys.get(k as usize).copied().unwrap_or(0)));
        let same = order.chunk_by(|&a, &b| counts[a as usize] == counts[b as usize]);
        let batches = same.flat_map(|same| same.chunks(BATCH)).map(|chunk| {
            let numbers: [u32; BATCH] = std::array::from_fn(|k| chunk[k.min(chunk.len() - 1)]);
            let first = numbers.map(|k| firsts[k as usize]);
            let nodes = counts[chunk[0] as usize] as usize;
            let end = first.map(|first| first.index() + nodes).into_iter().fold(0, usize::max);
            Strip { first, numbers, count: chunk.len(), nodes, end }
        });
        Self { batches: batches.collect() }
    }

    /// The batches.
    pub(crate) fn batches(&self) -> &[Strip] {
        &self.batches
    }

    /// Calls `work` with the number of each batch, one of `scratch`, the vertices of the batch in `x`, and
    /// its own part of `kept`. Parts must be in the order of batches. As many threads as there are `scratch`.
    pub(crate) fn each<S: Send>(
        &self,
        threads: &Threads,
        scratch: &mut [S],
        x: &mut [Quad],
        (kept, parts): (&mut [f32], &[Range<usize>]),
        work: impl Fn(usize, &mut S, StripQuads<'_>, &mut [f32]) + Sync,
    ) {
        let inside = self.batches.iter().all(|strip| strip.end <= x.len());
        let mut end = 0;
        for part in parts {
            assert!(end <= part.start && part.start <= part.end, "parts overlap");
            end = part.end;
        }
        let fits = end <= kept.len() && parts.len() == self.batches.len();
        assert!(inside && fits && !scratch.is_empty(), "arrays do not match the strips");
        let (base, kept, next) = (Base(x.as_mut_ptr()), Parts::new(kept), AtomicUsize::new(0));
        threads.each_piece(scratch, 1, |_, scratch| {
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                let Some(strip) = self.batches.get(k) else { break };
                // SAFETY: parts are inside and do not overlap, as was seen above, and each is taken once.
                let own = unsafe { kept.part(parts[k].start, parts[k].len()) };
                work(k, &mut scratch[0], StripQuads { strip, base: base.get(), whole: PhantomData }, own);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strip_is_in_one_batch_with_others_of_its_length() {
        let counts: Vec<u32> = (0..70).map(|k| 2 + k % 3).chain([0, 2]).collect();
        let strips = Strips::new(&counts, &[]);
        let mut seen = vec![0; counts.len()];
        for strip in strips.batches() {
            for lane in 0..BATCH {
                let number = strip.number(lane);
                assert_eq!(counts[number] as usize, strip.nodes());
                assert_eq!(strip.first(lane), counts[..number].iter().sum::<u32>() as usize);
                seen[number] += usize::from(lane < strip.count());
            }
        }
        assert!(seen.iter().zip(&counts).all(|(&seen, &count)| seen == usize::from(count > 0)));
    }

    #[test]
    fn all_vertices_are_visited_once() {
        let counts = [3, 5, 3, 2];
        let strips = Strips::new(&counts, &[]);
        let mut x = vec![[0.0; 4]; 13];
        let parts = vec![0..0; strips.batches().len()];
        let threads = Threads::new(2).unwrap();
        strips.each(&threads, &mut [(), ()], &mut x, (&mut [], &parts), |_, (), mut quads, _| {
            for lane in 0..quads.strip().count() {
                (0..quads.strip().nodes()).for_each(|node| quads.get(node, lane)[0] += 1.0);
            }
        });
        assert!(x.iter().all(|x| x[0] == 1.0));
    }
}
