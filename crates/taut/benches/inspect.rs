//! How long it takes to say of a frame what passes through what, and how near things are:
//! `cargo bench -p taut --bench inspect`.

use divan::{Bencher, black_box};
use taut::{
    contact::inspect::{Inspector, Parts},
    exec::threads::Threads,
    mesh::generate,
};

fn main() {
    divan::main();
}

/// A sheet of 1 m that is folded up in five layers a few millimetres apart, with ripples.
fn folded(cells: u32) -> (Parts, Vec<[f32; 3]>) {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let start: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.to_array()).collect();
    let fold = |&[x, _, z]: &[f32; 3]| {
        let layer = ((x + 0.5) * 5.0).floor().min(4.0);
        let along = (x + 0.5) * 5.0 - layer;
        let forth = (layer as u32).is_multiple_of(2);
        let back = if forth { along } else { 1.0 - along };
        let height = 0.005 * (layer + along);
        [0.2 * back, height + 0.01 * (30.0 * back).sin() * (20.0 * z).cos(), z]
    };
    let x = start.iter().map(fold).collect();
    (Parts { radius: vec![0.17 / cells as f32; start.len()], ..Parts::new(mesh.triangles, &start) }, x)
}

/// Cells along a side: 33K and 500K triangles.
const CELLS: [u32; 2] = [128, 500];

#[divan::bench(args = CELLS, consts = [1, 2])]
fn a_frame<const THREADS: usize>(bencher: Bencher, cells: u32) {
    let (parts, x) = folded(cells);
    let threads = Threads::new(THREADS).expect("threads start");
    let mut inspector = Inspector::new(parts);
    bencher.bench_local(|| inspector.look(&threads, black_box(&x)));
}

/// Without thickness: piercings alone.
#[divan::bench(args = CELLS, consts = [1, 2])]
fn piercings_alone<const THREADS: usize>(bencher: Bencher, cells: u32) {
    let (mut parts, x) = folded(cells);
    parts.radius.fill(0.0);
    let threads = Threads::new(THREADS).expect("threads start");
    let mut inspector = Inspector::new(parts);
    bencher.bench_local(|| inspector.look(&threads, black_box(&x)));
}

/// A flat sheet, where all that is near are neighbours.
#[divan::bench(args = CELLS, consts = [1, 2])]
fn a_flat_frame<const THREADS: usize>(bencher: Bencher, cells: u32) {
    let (mut parts, _) = folded(cells);
    // As thick as half an edge is long.
    parts.radius.fill(0.25 / cells as f32);
    let threads = Threads::new(THREADS).expect("threads start");
    let x = parts.start.clone();
    let mut inspector = Inspector::new(parts);
    bencher.bench_local(|| inspector.look(&threads, black_box(&x)));
}
