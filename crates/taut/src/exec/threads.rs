//! Threads: loops over independent pieces, with results that do not depend on how many there are.
//!
//! A step is hundreds of loops of 10 to 100 µs each, one after the other. Handing such a loop to a general
//! task pool costs as much as the loop: sleeping threads take 10 µs and more to wake, and between two loops
//! they fall asleep. So workers here watch for the next loop for a while before they sleep, and whoever
//! starts a loop never waits for a worker to come: pieces are taken one by one, by the caller from the front
//! and by workers from the back (so that the same thread tends to get the same data), and the caller does
//! alone what nobody else has taken. On a busy machine, where a worker may not run at all, that costs nothing
//! but its help.

use std::{
    hint::spin_loop,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle, Thread},
    time::{Duration, Instant},
};

use crate::WorldError;

/// Pieces a thread that a loop is cut into: more even out unequal threads, and cost more.
const PIECES: usize = 2;

/// How long a worker watches for the next loop before it sleeps: longer than what a step does between two
/// loops.
const WATCH: Duration = Duration::from_micros(300);

/// Looks at the clock after this many looks for work.
const LOOKS: u32 = 64;

/// Looks for the end of a loop after which whoever waits lets others have its core.
const POLITE: u32 = 2000;

/// An array of which threads take different parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<T>(*mut T);

// SAFETY: who calls `part` sees to it that parts do not overlap.
unsafe impl<T: Send> Sync for Parts<T> {}

impl<T> Parts<T> {
    /// Shares `items`, which must outlive all use of it.
    pub(crate) fn new(items: &mut [T]) -> Self {
        Self(items.as_mut_ptr())
    }

    /// `length` items from `first` on.
    ///
    /// # Safety
    /// The part must be inside the array, which must not be used otherwise meanwhile, and no two parts may
    /// overlap.
    pub(crate) unsafe fn part<'a>(&self, first: usize, length: usize) -> &'a mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(first), length) }
    }
}

/// Some threads, or none.
#[derive(Debug)]
pub struct Threads {
    pool: Option<Pool>,
}

#[derive(Debug)]
struct Pool {
    board: Arc<Board>,
    /// Held while a loop runs: a second one, from inside it or from elsewhere, runs where it is.
    busy: Mutex<()>,
    sleepers: Vec<Thread>,
    workers: Vec<JoinHandle<()>>,
}

/// Where loops are posted.
#[derive(Debug, Default)]
struct Board {
    /// Number of the loop (32 bits), first piece that is not taken, and one past the last (16 bits each).
    ticket: AtomicU64,
    /// The loop's work and how to call it; they change only while no piece is left to take.
    work: AtomicPtr<()>,
    call: AtomicPtr<()>,
    /// Pieces that are done.
    done: AtomicUsize,
    /// Workers that sleep.
    sleeping: AtomicUsize,
    panicked: AtomicBool,
    closing: AtomicBool,
}

/// Calls the work behind a pointer with the number of a piece.
type Call<W> = unsafe fn(*const W, usize);

/// # Safety
/// `work` must point to a `W` that lives.
unsafe fn call<W: Fn(usize) + Sync>(work: *const W, piece: usize) {
    // SAFETY: the caller's promise.
    unsafe { (*work)(piece) }
}

fn ticket(number: u64, first: u64, end: u64) -> u64 {
    number << 32 | first << 16 | end
}

fn read(ticket: u64) -> (u64, u64, u64) {
    (ticket >> 32, ticket >> 16 & 0xffff, ticket & 0xffff)
}

impl Board {
    /// Takes a piece, from the front or from the back, and does it. Says whether there was one.
    fn take(&self, front: bool) -> bool {
        let seen = self.ticket.load(Ordering::Acquire);
        let (number, first, end) = read(seen);
        if first >= end {
            return false;
        }
        let (work, how) = (self.work.load(Ordering::Relaxed), self.call.load(Ordering::Relaxed));
        let (piece, left) = if front {
            (first, ticket(number, first + 1, end))
        } else {
            (end - 1, ticket(number, first, end - 1))
        };
        if self.ticket.compare_exchange(seen, left, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return true;
        }
        // SAFETY: the exchange succeeded, so the loop with this number still had pieces when `work` and
        // `call` were read: they are its own, and its caller waits until this piece is done.
        let done = catch_unwind(AssertUnwindSafe(|| unsafe {
            let how: Call<()> = std::mem::transmute(how);
            how(work, piece as usize);
        }));
        if done.is_err() {
            self.panicked.store(true, Ordering::Relaxed);
        }
        self.done.fetch_add(1, Ordering::Release);
        true
    }

    /// What a worker does all day.
    fn serve(&self) {
        let mut idle_since = Instant::now();
        let mut looks = 0;
        while !self.closing.load(Ordering::Relaxed) {
            if self.take(false) {
                (looks, idle_since) = (0, Instant::now());
                continue;
            }
            spin_loop();
            looks += 1;
            if looks % LOOKS == 0 && idle_since.elapsed() > WATCH {
                self.sleeping.fetch_add(1, Ordering::SeqCst);
                let (_, first, end) = read(self.ticket.load(Ordering::SeqCst));
                if first >= end && !self.closing.load(Ordering::SeqCst) {
                    thread::park();
                }
                self.sleeping.fetch_sub(1, Ordering::SeqCst);
                idle_since = Instant::now();
            }
        }
    }
}

impl Pool {
    /// Calls `work` for all of `pieces`, of which there may be at most 65535.
    fn share<W: Fn(usize) + Sync>(&self, pieces: usize, work: &W) {
        let Ok(_busy) = self.busy.try_lock() else {
            return (0..pieces).for_each(work);
        };
        let board = &*self.board;
        let how: Call<W> = call::<W>;
        board.done.store(0, Ordering::Relaxed);
        board.work.store(std::ptr::from_ref(work).cast_mut().cast(), Ordering::Relaxed);
        board.call.store(how as *mut (), Ordering::Relaxed);
        let (number, ..) = read(board.ticket.load(Ordering::Relaxed));
        let number = (number + 1) & 0xffff_ffff;
        board.ticket.store(ticket(number, 0, pieces as u64), Ordering::SeqCst);
        if board.sleeping.load(Ordering::SeqCst) > 0 {
            self.sleepers.iter().for_each(Thread::unpark);
        }
        while board.take(true) {}
        let mut looks = 0u32;
        while board.done.load(Ordering::Acquire) < pieces {
            looks += 1;
            if looks < POLITE { spin_loop() } else { thread::yield_now() }
        }
        if board.panicked.swap(false, Ordering::Relaxed) {
            resume_unwind(Box::new("a piece of a loop panicked"));
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.board.closing.store(true, Ordering::SeqCst);
        self.sleepers.iter().for_each(Thread::unpark);
        for worker in self.workers.drain(..) {
            // It has nothing to say: panics of pieces were handed to their callers.
            let _ = worker.join();
        }
    }
}

impl Threads {
    /// `count` threads, the caller's own among them; 0 means one per core.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(count: usize) -> Result<Self, WorldError> {
        let count = if count == 0 { thread::available_parallelism().map_or(1, usize::from) } else { count };
        if count == 1 {
            return Ok(Self::alone());
        }
        let board = Arc::new(Board::default());
        let mut pool = Pool { board, busy: Mutex::new(()), sleepers: Vec::new(), workers: Vec::new() };
        for k in 1..count {
            let board = Arc::clone(&pool.board);
            let worker = thread::Builder::new()
                .name(format!("taut {k}"))
                .spawn(move || board.serve())
                .map_err(|error| WorldError::Threads(count, error.to_string()))?;
            pool.sleepers.push(worker.thread().clone());
            pool.workers.push(worker);
        }
        Ok(Self { pool: Some(pool) })
    }

    /// The caller's thread, and no other.
    pub fn alone() -> Self {
        Self { pool: None }
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.workers.len() + 1)
    }

    /// How many pieces to make of `len` items, none of which is to be smaller than `grain`, and how long they
    /// are.
    fn cut(&self, len: usize, grain: usize) -> (usize, usize) {
        let most = (PIECES * self.count()).min(len / grain.max(1)).clamp(1, 0xffff);
        let piece = len.div_ceil(most).max(1);
        (len.div_ceil(piece), piece)
    }

    /// The largest of `work` over pieces of `items`, at least 0; pieces smaller than `grain` are not split
    /// off.
    pub fn largest<T: Sync>(&self, items: &[T], grain: usize, work: impl Fn(&[T]) -> f32 + Sync) -> f32 {
        let (pieces, length) = self.cut(items.len(), grain);
        match &self.pool {
            Some(pool) if pieces > 1 => {
                // The bits of floats that are not negative are in the order of the floats.
                let largest = AtomicU64::new(0);
                pool.share(pieces, &|k| {
                    let end = items.len().min((k + 1) * length);
                    let value = work(&items[k * length..end]).max(0.0);
                    largest.fetch_max(u64::from(value.to_bits()), Ordering::Relaxed);
                });
                f32::from_bits(largest.into_inner() as u32)
            }
            _ => work(items),
        }
    }

    /// The same over pieces of `items` and of what belongs to them, of which there must be as many.
    pub fn largest_beside<T: Sync, B: Send>(
        &self,
        items: &[T],
        beside: &mut [B],
        grain: usize,
        work: impl Fn(&[T], &mut [B]) -> f32 + Sync,
    ) -> f32 {
        let (pieces, length) = self.cut(items.len(), grain);
        match &self.pool {
            Some(pool) if pieces > 1 => {
                let (len, base) = (items.len().min(beside.len()), Parts::new(beside));
                let largest = AtomicU64::new(0);
                pool.share(pieces, &|k| {
                    let [from, to] = [k * length, (k + 1) * length].map(|end| end.min(len));
                    // SAFETY: pieces do not overlap, and each is done once.
                    let value = work(&items[from..to], unsafe { base.part(from, to - from) }).max(0.0);
                    largest.fetch_max(u64::from(value.to_bits()), Ordering::Relaxed);
                });
                f32::from_bits(largest.into_inner() as u32)
            }
            _ => work(items, beside),
        }
    }

    /// Calls `work` with pieces of `items` and the index of their first; pieces smaller than `grain` are not
    /// split off.
    pub fn each<T: Send>(&self, items: &mut [T], grain: usize, work: impl Fn(usize, &mut [T]) + Sync) {
        let (pieces, length) = self.cut(items.len(), grain);
        self.pieces_of(items, pieces, length, work);
    }

    /// The same in pieces of `length`, for work of which some pieces take much longer than others.
    pub fn each_piece<T: Send>(&self, items: &mut [T], length: usize, work: impl Fn(usize, &mut [T]) + Sync) {
        let length = length.max(items.len().div_ceil(0xffff)).max(1);
        self.pieces_of(items, items.len().div_ceil(length), length, work);
    }

    fn pieces_of<T: Send>(
        &self,
        items: &mut [T],
        pieces: usize,
        length: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        match &self.pool {
            Some(pool) if pieces > 1 => {
                let (len, base) = (items.len(), Parts::new(items));
                pool.share(pieces, &|k| {
                    let first = k * length;
                    // SAFETY: pieces do not overlap, and each is done once.
                    work(first, unsafe { base.part(first, length.min(len - first)) });
                });
            }
            _ => work(0, items),
        }
    }

    /// [`Threads::each`] with pieces of two arrays of the same length that belong together.
    pub fn each_pair<A: Send, B: Send>(
        &self,
        first: &mut [A],
        second: &mut [B],
        grain: usize,
        work: impl Fn(usize, &mut [A], &mut [B]) + Sync,
    ) {
        let (pieces, length) = self.cut(first.len(), grain);
        self.pairs_of(first, second, (pieces, length), work);
    }

    /// The same in pieces of `length`, for work of which some pieces take much longer than others.
    pub fn each_pair_piece<A: Send, B: Send>(
        &self,
        first: &mut [A],
        second: &mut [B],
        length: usize,
        work: impl Fn(usize, &mut [A], &mut [B]) + Sync,
    ) {
        let length = length.max(first.len().div_ceil(0xffff)).max(1);
        self.pairs_of(first, second, (first.len().div_ceil(length), length), work);
    }

    fn pairs_of<A: Send, B: Send>(
        &self,
        first: &mut [A],
        second: &mut [B],
        (pieces, length): (usize, usize),
        work: impl Fn(usize, &mut [A], &mut [B]) + Sync,
    ) {
        match &self.pool {
            Some(pool) if pieces > 1 => {
                let len = first.len().min(second.len());
                let (a, b) = (Parts::new(first), Parts::new(second));
                pool.share(pieces, &|k| {
                    let at = (k * length).min(len);
                    let length = length.min(len - at);
                    // SAFETY: pieces do not overlap, and each is done once.
                    let (a, b) = unsafe { (a.part(at, length), b.part(at, length)) };
                    work(at, a, b);
                });
            }
            _ => work(0, first, second),
        }
    }
}

impl Threads {
    /// Calls `work` with each of `items` and the one of `targets` at the place that belongs to it; gives the
    /// largest of what it gives, at least 0. `places` must be in ascending order, each another.
    pub fn largest_at<T: Send, X: Send>(
        &self,
        items: &mut [T],
        (places, targets): (&[u32], &mut [X]),
        grain: usize,
        work: impl Fn(usize, &mut T, &mut X) -> f32 + Sync,
    ) -> f32 {
        let ascending = places.is_sorted_by(|a, b| a < b);
        let inside = places.last().is_none_or(|&last| (last as usize) < targets.len());
        assert!(ascending && inside && places.len() >= items.len(), "no place for each item");
        let (targets, largest) = (Parts::new(targets), AtomicU64::new(0));
        self.each(items, grain, |first, items| {
            let mut worst = 0.0f32;
            for (k, item) in items.iter_mut().enumerate() {
                let place = places[first + k] as usize;
                // SAFETY: the last place, and so each, is inside; each is another, and is visited once.
                let target = unsafe { &mut targets.part(place, 1)[0] };
                worst = worst.max(work(place, item, target));
            }
            // The bits of floats that are not negative are in the order of the floats.
            largest.fetch_max(u64::from(worst.to_bits()), Ordering::Relaxed);
        });
        f32::from_bits(largest.into_inner() as u32)
    }

    /// Calls `work` with each of `items`, its number, and its own `parts` of two arrays. The parts of an
    /// array must follow each other in the order of the items. `shared`: on all threads, an item at a time;
    /// else here, one after the other.
    pub fn each_with_parts<T: Send, A: Send, B: Send>(
        &self,
        shared: bool,
        items: &mut [T],
        parts: &[[Range<usize>; 2]],
        (first, second): (&mut [A], &mut [B]),
        work: impl Fn(usize, &mut T, &mut [A], &mut [B]) + Sync,
    ) {
        let mut ends = [0, 0];
        for part in parts {
            for (part, end) in part.iter().zip(&mut ends) {
                assert!(*end <= part.start && part.start <= part.end, "parts of an array overlap");
                *end = part.end;
            }
        }
        let inside = ends[0] <= first.len() && ends[1] <= second.len();
        assert!(inside && parts.len() == items.len(), "state and world do not match");
        let arrays = (Parts::new(first), Parts::new(second));
        let one = |k: usize, item: &mut T| {
            let [a, b] = parts[k].clone();
            // SAFETY: parts are inside their arrays and, as was seen above, do not overlap; each is visited
            // once.
            let (a, b) = unsafe { (arrays.0.part(a.start, a.len()), arrays.1.part(b.start, b.len())) };
            work(k, item, a, b);
        };
        if shared {
            self.each_piece(items, 1, |start, items| {
                items.iter_mut().enumerate().for_each(|(k, item)| one(start + k, item));
            });
        } else {
            items.iter_mut().enumerate().for_each(|(k, item)| one(k, item));
        }
    }
}

#[cfg(test)]
mod tests;
