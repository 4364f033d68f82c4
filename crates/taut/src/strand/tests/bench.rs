//! Times, printed: `cargo test --release -p taut --lib strand::tests::bench -- --ignored --nocapture`.

use std::time::Instant;

use glam::{Quat, Vec3};

use super::scene::{Ball, Scene, head, setup, shake};
use crate::{HairRest, kernel::lanes::LaneKind};

/// CPU time of this process \[s\].
fn cpu_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |k: usize| after.split_whitespace().nth(k).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn shaken(name: &str, count: usize, segments: usize, is_curly: bool, has_ball: bool) {
    let (positions, counts, radii) = head(count, segments, is_curly);
    let mut setup = setup(&positions, &counts, &radii);
    setup.rest = if is_curly { HairRest::Groom } else { HairRest::Straight };
    let mut scene = Scene::new(&setup, 2, 2, LaneKind::detect());
    // The same with converged steps, for every hundredth strand.
    let few: Vec<usize> = (0..count).step_by(count / 16).collect();
    let nodes = segments + 1;
    let own: Vec<Vec3> = few.iter().flat_map(|&k| positions[k * nodes..(k + 1) * nodes].to_vec()).collect();
    let few_counts = vec![nodes as u32; few.len()];
    let few_setup =
        crate::strand::StrandSetup { positions: &own, counts: &few_counts, whole: &few_counts, ..setup };
    let mut exact = Scene::new(&few_setup, 2, 1, LaneKind::detect());
    exact.iterations = 200;
    exact.strands.rods.iter_mut().for_each(|rods| rods.settled = crate::kernel::lanes::Row::splat(1e-6));
    // SETTLED=0.3: steps end at 0.3 of the move at which they do.
    let settled = std::env::var("SETTLED").ok().and_then(|f| f.parse::<f32>().ok()).unwrap_or(1.0);
    scene.strands.rods.iter_mut().flat_map(|rods| &mut rods.settled.0).for_each(|s| *s *= settled);
    for scene in [&mut scene, &mut exact] {
        scene.damping = 2.0;
        if has_ball {
            scene.ball = Ball::new(Vec3::ZERO, 0.1, 0.3);
        }
    }
    let (mut wall, mut cpu, mut iterations, mut batches, mut most) = (0.0, 0.0, 0, 0, 0);
    let (mut fallbacks, mut clamped, mut error, mut worst, mut depth) = (0, 0, 0.0, 0.0f32, 0.0f32);
    let frames: u32 = std::env::var("FRAMES").ok().and_then(|f| f.parse().ok()).unwrap_or(120);
    let (mut stretch, mut measured) = (0.0f64, 0);
    for f in 0..frames {
        let f = f as usize;
        let turn = Quat::from_rotation_y(shake((f + 1) as f32 / 30.0, 0.9, 1.2));
        let (t, c) = (Instant::now(), cpu_time());
        let solved = scene.step(1.0 / 30.0, turn);
        wall += t.elapsed().as_secs_f64();
        cpu += cpu_time() - c;
        iterations += solved.iterations;
        batches += solved.batches;
        most = most.max(solved.largest_iterations);
        fallbacks += solved.fallbacks;
        clamped += solved.clamped;
        exact.step(1.0 / 30.0, turn);
        for (q, &k) in few.iter().enumerate() {
            let tip = |scene: &Scene, k: usize| scene.position((k + 1) * nodes - 1);
            let e = tip(&scene, k).distance(tip(&exact, q));
            error += e;
            worst = worst.max(e);
            measured += 1;
        }
        depth = depth.max(scene.depth());
        if f % 10 == 9 {
            let m = scene.strands.measure(&scene.x, &scene.kept);
            stretch = stretch.max(m.stretch).max(-m.compression);
        }
    }
    let ms = 1e3 / f64::from(frames);
    println!(
        "{name}: with the driver {:.1} ms a frame, {:.1} CPU-ms; iterations {:.2} mean, {most} most; \
         fallbacks {fallbacks}, clamped {clamped} of {} strand-steps; tip error {:.3} mm mean, {:.2} worst; \
         depth {:.2} mm; strain {stretch:.5}",
        wall * ms,
        cpu * ms,
        iterations as f64 / batches as f64,
        count * frames as usize,
        1e3 * error / measured as f32,
        1e3 * worst,
        1e3 * depth,
    );
}

#[test]
#[ignore = "prints times"]
fn times() {
    let scale =
        |n: usize| std::env::var("DIVIDE").ok().and_then(|f| f.parse().ok()).map_or(n, |d: usize| n / d);
    shaken("10,000 x 50 straight", scale(10_000), 50, false, false);
    shaken("10,000 x 50 straight, head", scale(10_000), 50, false, true);
    shaken("5,000 x 50 curly", scale(5_000), 50, true, false);
    shaken("5,000 x 50 curly, head", scale(5_000), 50, true, true);
    shaken("1,900 x 100 straight", scale(1_900), 100, false, false);
}

#[test]
#[ignore = "prints times"]
fn fit_time() {
    let (positions, counts, radii) = head(10_000, 50, false);
    let mut setup = setup(&positions, &counts, &radii);
    setup.rest = HairRest::SagFree { stiffen: 1.0 };
    for stiffen in [1.0, 32.0] {
        setup.rest = HairRest::SagFree { stiffen };
        let t = Instant::now();
        let strands = crate::strand::Strands::new(&setup);
        println!(
            "fit 10,000 x 50, factor {stiffen}: {:.3} s, {:?}",
            t.elapsed().as_secs_f64(),
            strands.report()
        );
    }
}
