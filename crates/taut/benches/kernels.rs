//! Time of single kernels, sweeps and steps: `cargo bench -p taut --bench kernels`.
//!
//! Figures of a shared machine are good as ratios within one run; `ratios` prints those that taut promises.

use divan::{Bencher, counter::ItemsCount};
use taut::{
    Cloth, Description, Limit, Material, Motion, Pin, Projection, State, Stepper, World, certify,
    element::iterate::sweep,
    exec::threads::Threads,
    kernel::{dihedral::dihedral, lanes::LaneKind, svd3::svd3},
    limit::Settings,
    mesh::generate,
};

mod scene;
use scene::Sheet;

fn main() {
    divan::main();
}

/// Projection of every triangle of a cache-resident sheet, all past their limits, one thread.
#[divan::bench(args = [false, true])]
fn project_strain_gradient(bencher: Bencher, both_clamped: bool) {
    let mut sheet = Sheet::violating(40, both_clamped);
    bencher
        .counter(ItemsCount::new(sheet.elements.len()))
        .bench_local(|| sheet.project_all(LaneKind::detect(), Projection::Gradient));
}

#[divan::bench]
fn project_strain_paper(bencher: Bencher) {
    let mut sheet = Sheet::violating(40, false);
    bencher
        .counter(ItemsCount::new(sheet.elements.len()))
        .bench_local(|| sheet.project_all(LaneKind::detect(), Projection::Paper));
}

#[divan::bench]
fn dihedral_with_gradients(bencher: Bencher) {
    let x = [[0.0f32, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.8, 0.4, 0.1], [0.7, 0.3, -0.2]];
    bencher.bench_local(|| dihedral(&divan::black_box(x)).sin_half);
}

#[divan::bench]
fn decompose_3x3(bencher: Bencher) {
    let f = glam::Mat3::from_cols_array(&[1.1, 0.2, -0.1, 0.0, 0.9, 0.3, 0.2, -0.2, 1.2]);
    bencher.bench_local(|| svd3(divan::black_box(f)));
}

/// Coloured sweeps over a sheet of 130K triangles.
#[divan::bench(args = [1, 2])]
fn sweep_130k(bencher: Bencher, threads: usize) {
    let mut sheet = Sheet::violating(256, false);
    let threads = Threads::new(threads).expect("threads");
    let settings = Settings {
        threads: &threads,
        lanes: LaneKind::detect(),
        projection: Projection::Gradient,
        relaxation: 0.0,
    };
    let mut random = taut::kernel::random::Random::new(0, 0);
    let mut order = Vec::new();
    let Sheet { colored, x, elements, .. } = &mut sheet;
    bencher
        .counter(ItemsCount::new(elements.len()))
        .bench_local(|| sweep(&settings, colored, x, &mut random, &mut order));
}

fn hanging(cells: u32) -> World {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let corners = ["corner:top-left", "corner:top-right"].map(|c| mesh.groups[c].clone()).concat();
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").expect("in the table"));
    cloth.strain = Limit { min: None, max: Some(0.05) };
    cloth.pins = vec![Pin { vertices: corners, motion: Motion::default(), ..Pin::default() }];
    World::new(Description { bodies: vec![cloth.into()], ..Description::default() })
        .expect("a good description")
}

/// A frame of the hanging sheet (3200 triangles) in full swing.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn frame_of_hanging_sheet(bencher: Bencher) {
    let world = hanging(40);
    let mut state = State::new(&world);
    let mut stepper = Stepper::new(&world, 0).expect("threads");
    bencher.bench_local(|| stepper.advance_frame(&world, &mut state));
}

/// The certificate of 33K triangles.
#[divan::bench]
fn certificate_33k(bencher: Bencher) {
    let world = hanging(128);
    let state = State::new(&world);
    bencher.bench_local(|| certify(&world, &state));
}

/// The checks of a mesh of a million triangles.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn check_1m(bencher: Bencher) {
    let mesh = generate::grid([1.0, 1.0], [710, 710], generate::Diagonals::Jittered, 0);
    bencher.bench_local(|| taut::mesh::check::check(&mesh));
}
