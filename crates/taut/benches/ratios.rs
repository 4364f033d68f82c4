//! The ratios that taut promises, measured in one run: `cargo bench -p taut --bench ratios`.
//!
//! Every figure is the best of many short rounds that take turns, so that a busy neighbour slows all of them
//! alike. Fails (exit code 1) where a promise is not kept.

use std::time::Instant;

use nalgebra::Matrix3x2;
use taut::{
    Projection,
    element::{iterate::sweep, triangle::StrainElement},
    exec::threads::Threads,
    kernel::{
        lanes::LaneKind,
        random::Random,
        strain::{limit_strain_gradient, strain_residual},
    },
    limit::Settings,
};

mod scene;
use scene::Sheet;

fn main() {
    // `cargo test --benches` runs benches to see that they start.
    let quick = !std::env::args().any(|a| a == "--bench");
    let rounds = if quick { 2 } else { 60 };
    let kept = [projection(rounds), threads(rounds)];
    if !quick && kept.contains(&false) {
        std::process::exit(1);
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

/// One thread, cache-resident, every triangle past its limits.
fn projection(rounds: usize) -> bool {
    let lanes = LaneKind::available();
    let mut single = Sheet::violating(40, false);
    let mut mixed = Sheet::violating(40, true);
    assert_eq!(
        (count_inside(&single), count_inside(&mixed)),
        (0, 0),
        "every triangle is to be past its limits"
    );
    let count = single.elements.len();
    let mut times = vec![f64::INFINITY; 2 * lanes.len()];
    let (mut scalar, mut library) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        for (k, &lanes) in lanes.iter().enumerate() {
            best(&mut times[2 * k], count, 20, || {
                std::hint::black_box(single.project_all(lanes, Projection::Gradient));
            });
            best(&mut times[2 * k + 1], count, 20, || {
                std::hint::black_box(mixed.project_all(lanes, Projection::Gradient));
            });
        }
        best(&mut scalar, count, 4, || scalar_projection(&mut single));
        best(&mut library, count, 1, || library_projection(&mut single));
    }
    println!("strain projection, ns a triangle, {count} triangles, all past their limits, one thread");
    for (k, lanes) in lanes.iter().enumerate() {
        println!(
            "  {:22} one stretch clamped {:6.2}   both {:6.2}",
            lanes.name(),
            times[2 * k],
            times[2 * k + 1]
        );
    }
    println!("  {:22} one stretch clamped {scalar:6.2}", "one lane");
    println!("  {:22} one stretch clamped {library:6.2}", "nalgebra's SVD");
    let (ns, ratio) = (times[0], library / times[0]);
    let kept = ns <= 8.0 && ratio >= 20.0;
    println!(
        "  promised: at most 8 ns, at least 20 times nalgebra; measured {ns:.2} ns, {ratio:.0} times: {}",
        word(kept)
    );
    kept
}

/// Triangles that are not past a limit.
fn count_inside(sheet: &Sheet) -> usize {
    let corner = |v: u32| {
        let [x, y, z, _] = sheet.x[v as usize];
        [x, y, z]
    };
    let inside = |e: &&StrainElement| strain_residual(&e.vertices.map(corner), e.rest, e.range) <= 0.0;
    sheet.elements.iter().filter(inside).count()
}

/// The same projection, one triangle at a time.
fn scalar_projection(sheet: &mut Sheet) {
    let mut worst = 0.0f32;
    for e in &sheet.elements {
        let quads = e.vertices.map(|v| sheet.x[v as usize]);
        let p = quads.map(|q| [q[0], q[1], q[2]]);
        if let Some(projected) = limit_strain_gradient(&p, quads.map(|q| q[3]), e.rest, e.range, 0.0) {
            worst = worst.max(projected.residual);
            for k in 0..3 {
                for c in 0..3 {
                    sheet.x[e.vertices[k] as usize][c] += projected.moves[k][c];
                }
            }
        }
    }
    std::hint::black_box(worst);
}

/// The projection of Eq. 4 with a decomposition by nalgebra.
fn library_projection(sheet: &mut Sheet) {
    for e in &sheet.elements {
        let q = e.vertices.map(|v| sheet.x[v as usize]);
        let d = Matrix3x2::from_fn(|i, j| q[j + 1][i] - q[0][i]);
        let inverse = nalgebra::Matrix2::new(e.rest[0], e.rest[1], 0.0, e.rest[2]);
        let mut svd = (d * inverse).svd(true, true);
        svd.singular_values.apply(|s| *s = s.clamp(e.range.min, e.range.max));
        let rest = nalgebra::Matrix2::new(
            1.0 / e.rest[0],
            -e.rest[1] / (e.rest[0] * e.rest[2]),
            0.0,
            1.0 / e.rest[2],
        );
        let Ok(f) = svd.recompose() else { continue };
        let moved = (f * rest - d) * 0.0;
        let m = q.map(|q| 1.0 / q[3]);
        let sum = m[0] + m[1] + m[2];
        for c in 0..3 {
            let x0 = -(m[1] * moved[(c, 0)] + m[2] * moved[(c, 1)]) / sum;
            sheet.x[e.vertices[0] as usize][c] += x0;
            sheet.x[e.vertices[1] as usize][c] += x0 + moved[(c, 0)];
            sheet.x[e.vertices[2] as usize][c] += x0 + moved[(c, 1)];
        }
    }
}

/// Coloured sweeps over 131K triangles with one and two threads.
fn threads(rounds: usize) -> bool {
    let mut sheet = Sheet::violating(256, false);
    let count = sheet.elements.len();
    let pools = [1, 2].map(|n| Threads::new(n).expect("threads"));
    let mut times = [f64::INFINITY; 2];
    let mut random = Random::new(0, 0);
    let mut order = Vec::new();
    for _ in 0..rounds {
        for (pool, time) in pools.iter().zip(&mut times) {
            let settings = Settings {
                threads: pool,
                lanes: LaneKind::detect(),
                projection: Projection::Gradient,
                relaxation: 0.0,
            };
            let Sheet { colored, x, .. } = &mut sheet;
            best(time, count, 4, || {
                sweep(&settings, colored, x, &mut random, &mut order);
            });
        }
    }
    let ratio = times[0] / times[1];
    let kept = ratio >= 1.6;
    println!(
        "coloured sweep, {count} triangles: {:.2} ns a triangle on one thread, {:.2} on two",
        times[0], times[1]
    );
    println!("  promised: at least 1.6 times; measured {ratio:.2} times: {}", word(kept));
    kept
}

fn word(kept: bool) -> &'static str {
    if kept { "kept" } else { "NOT KEPT" }
}
