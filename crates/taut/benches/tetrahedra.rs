//! What tetrahedra cost: `cargo bench -p taut --bench tetrahedra`.
//!
//! Every figure is the best of many short rounds that take turns, so that a busy neighbour slows all of them
//! alike. Fails (exit code 1) where a promise is not kept.

use std::{hint::black_box, time::Instant};

use nalgebra::Matrix3;
use taut::{
    exec::batch::Batches,
    kernel::{
        lanes::{BATCH, LaneKind, Lanes, Quad, Work, run},
        random::Random,
        strain::Range,
        tetrahedron::{clamp_stretches3, gradient3, residual3, rest_inverse3},
    },
};

fn main() {
    // `cargo test --benches` runs benches to see that they start.
    let quick = !std::env::args().any(|a| a == "--bench");
    let rounds = if quick { 2 } else { 60 };
    let kept = clamping(rounds);
    if !quick && !kept {
        std::process::exit(1);
    }
}

const RANGE: Range<f32> = Range { min: 0.95, max: 1.05 };

/// Nine numbers of each of [`BATCH`] tetrahedra side by side.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Nine([[f32; BATCH]; 9]);

/// Tetrahedra that are all past their limits, and as many vertices as they would share in a mesh.
struct Heap {
    /// Inverses of rest edges.
    batches: Batches<Nine, 4>,
    changes: Vec<Nine>,
    x: Vec<Quad>,
}

impl Heap {
    /// Stretched shapes, or, if `torn`, any: half of them inside out.
    fn violating(count: usize, torn: bool) -> Self {
        let mut random = Random::new(5, 0);
        let changes = vec![Nine([[0.0; BATCH]; 9]); count / BATCH];
        let mut heap = Self { batches: Batches::new(4 * count), changes, x: Vec::new() };
        for b in 0..count / BATCH {
            let mut inverses = Nine([[0.0; BATCH]; 9]);
            for lane in 0..BATCH {
                let corner = |random: &mut Random, size: f32| [0; 3].map(|_| size * (random.unit() - 0.5));
                let unit = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                let shape = unit.map(|c: [f32; 3]| {
                    let by = corner(&mut random, 0.3);
                    [0, 1, 2].map(|j| f64::from(c[j] + by[j]))
                });
                let rest = rest_inverse3(shape).expect("not flat").0;
                for k in 0..9 {
                    inverses.0[k][lane] = rest[k / 3][k % 3] as f32;
                }
                let moved = loop {
                    let moved = shape.map(|c| {
                        let by = corner(&mut random, if torn { 3.0 } else { 0.2 });
                        let stretch = [1.25, 0.9, 1.0];
                        [0, 1, 2].map(|j| stretch[j] * c[j] as f32 + by[j])
                    });
                    let rest = rest.map(|column| column.map(|r| r as f32));
                    if residual3(&moved, &rest, RANGE) > 0.0 {
                        break moved;
                    }
                };
                for k in 0..4 {
                    heap.x.push([moved[k][0], moved[k][1], moved[k][2], 1.0]);
                }
            }
            let numbers: Vec<u32> = (0..BATCH).map(|lane| (b * BATCH + lane) as u32).collect();
            let vertices = |e: usize| [0, 1, 2, 3].map(|k| (4 * e + k) as u32);
            heap.batches.push(&numbers, 0, vertices, inverses);
        }
        heap
    }
}

/// Change of the gradient of every tetrahedron, as the filter wants it.
struct Clamp<'a>(&'a mut Heap);

impl Work for Clamp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let range = Range { min: L::splat(RANGE.min), max: L::splat(RANGE.max) };
        let Heap { batches, changes, x } = self.0;
        for (batch, changed) in batches.over(x).iter().zip(changes) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x = batch.corners(at);
                let [a, b, c, d, e, f, g, h, i]: [L; 9] = L::load_all(&batch.0, at);
                let f = gradient3(&x, &[[a, b, c], [d, e, f], [g, h, i]]);
                let Some(change) = clamp_stretches3(&f, range) else { continue };
                for k in 0..9 {
                    change[k / 3][k % 3].store(&mut changed.0[k], at);
                }
            }
        }
    }
}

/// The same with a decomposition by nalgebra, one at a time.
fn library(heap: &mut Heap) {
    for (batch, changed) in heap.batches.iter().zip(&mut heap.changes) {
        for lane in 0..BATCH {
            let q = batch.vertices(lane).map(|v| heap.x[v]);
            let edges = Matrix3::from_fn(|i, j| q[j + 1][i] - q[0][i]);
            let f = edges * Matrix3::from_fn(|i, j| batch.0[3 * j + i][lane]);
            let mut svd = f.svd(true, true);
            let inverted = f.determinant() < 0.0;
            svd.singular_values.apply(|s| *s = s.clamp(RANGE.min, RANGE.max));
            if inverted {
                svd.singular_values[2] = -RANGE.min;
            }
            let Ok(clamped) = svd.recompose() else { continue };
            for k in 0..9 {
                changed.0[k][lane] = clamped[(k % 3, k / 3)] - f[(k % 3, k / 3)];
            }
        }
    }
}

/// Nanoseconds an element of the best round.
fn best(best: &mut f64, elements: usize, repeat: usize, mut work: impl FnMut()) {
    let begun = Instant::now();
    for _ in 0..repeat {
        work();
    }
    *best = best.min(begun.elapsed().as_secs_f64() * 1e9 / (elements * repeat) as f64);
}

/// One thread, cache-resident, every tetrahedron past its limits.
fn clamping(rounds: usize) -> bool {
    const COUNT: usize = 2048;
    let lanes = LaneKind::available();
    let mut heaps = [false, true].map(|torn| Heap::violating(COUNT, torn));
    let mut times = vec![[f64::INFINITY; 2]; lanes.len()];
    let mut libraries = [f64::INFINITY; 2];
    for _ in 0..rounds {
        for (torn, heap) in heaps.iter_mut().enumerate() {
            for (&lanes, times) in lanes.iter().zip(&mut times) {
                best(&mut times[torn], COUNT, 20, || run(lanes, Clamp(black_box(heap))));
            }
            best(&mut libraries[torn], COUNT, 1, || library(black_box(heap)));
        }
    }
    println!("stretches clamped, ns a tetrahedron, {COUNT} tetrahedra, all past their limits, one thread");
    let line = |name: &str, [plain, torn]: [f64; 2]| {
        println!("  {name:22} stretched {plain:7.2}   any shape, half inside out {torn:7.2}");
    };
    for (lanes, &times) in lanes.iter().zip(&times) {
        line(lanes.name(), times);
    }
    line("nalgebra's SVD", libraries);
    let ns = times[0][0].max(times[0][1]);
    let ratio = (libraries[0] / times[0][0]).min(libraries[1] / times[0][1]);
    let kept = ns <= 25.0 && ratio >= 20.0;
    println!(
        "  promised: at most 25 ns, at least 20 times nalgebra; measured {ns:.2} ns, {ratio:.0} times: {}",
        if kept { "kept" } else { "NOT KEPT" }
    );
    kept
}
