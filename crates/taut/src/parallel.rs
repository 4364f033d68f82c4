//! Threads: loops over independent pieces, with results that do not depend on how many there are.
//!
//! Plain tasks of rayon. Pieces below a threshold of work run where they are: handing over costs a few microseconds.

use rayon::prelude::*;

use crate::WorldError;

/// A pool of threads, or none.
#[derive(Debug)]
pub struct Threads {
    pool: Option<rayon::ThreadPool>,
}

impl Threads {
    /// `count` threads; 0 means one per core.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(count: usize) -> Result<Self, WorldError> {
        let count =
            if count == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { count };
        if count == 1 {
            return Ok(Self { pool: None });
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|k| format!("taut {k}"))
            .build()
            .map(|pool| Self { pool: Some(pool) })
            .map_err(|error| WorldError::Threads(count, error.to_string()))
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Runs `work` inside the pool, so that loops in it need not wake it each time.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// The largest of `work` over pieces of `items`; pieces smaller than `grain` are not split off.
    pub fn largest<T: Sync>(&self, items: &[T], grain: usize, work: impl Fn(&[T]) -> f32 + Sync) -> f32 {
        if self.pool.is_none() || items.len() < 2 * grain {
            return work(items);
        }
        let piece = items.len().div_ceil(self.count()).max(grain);
        items.par_chunks(piece).map(&work).reduce(|| 0.0, f32::max)
    }

    /// Calls `work` with pieces of `items` and the index of their first; pieces smaller than `grain` are not split off.
    pub fn each<T: Send>(&self, items: &mut [T], grain: usize, work: impl Fn(usize, &mut [T]) + Sync) {
        if self.pool.is_none() || items.len() < 2 * grain {
            return work(0, items);
        }
        let piece = items.len().div_ceil(self.count()).max(grain);
        items.par_chunks_mut(piece).enumerate().for_each(|(k, part)| work(k * piece, part));
    }

    /// The same with pieces of two arrays of the same length that belong together.
    pub fn each_pair<A: Send, B: Send>(
        &self,
        first: &mut [A],
        second: &mut [B],
        grain: usize,
        work: impl Fn(usize, &mut [A], &mut [B]) + Sync,
    ) {
        if self.pool.is_none() || first.len() < 2 * grain {
            return work(0, first, second);
        }
        let piece = first.len().div_ceil(self.count()).max(grain);
        let pairs = first.par_chunks_mut(piece).zip(second.par_chunks_mut(piece));
        pairs.enumerate().for_each(|(k, (a, b))| work(k * piece, a, b));
    }
}
