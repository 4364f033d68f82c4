//! Strands through the shipped lanes: limits, bits, robustness, starts without sag, friction.

use glam::{Quat, Vec3};

use super::{
    lone::line,
    scene::{Ball, RADIUS, Scene, head, helix, setup, shake},
};
use crate::{
    HairRest, Limit,
    exec::threads::Threads,
    kernel::{lanes::LaneKind, random::Random},
    strand::{NoForces, StrandStep},
};

const DT: f32 = 1.0 / 30.0;

/// Strands of mixed lengths and counts, at random places.
fn random_strands(count: usize, seed: u64) -> (Vec<Vec3>, Vec<u32>, Vec<f32>) {
    let mut random = Random::new(seed, 0);
    let (mut positions, mut counts) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let n = 1 + random.below(30);
        let l = 0.001 + 0.006 * f64::from(random.unit());
        let points = if random.below(2) == 0 {
            line(n as usize, l * f64::from(n), Vec3::Y)
        } else {
            helix(n as usize, l, 0.003 + 0.005 * f64::from(random.unit()), 0.01)
        };
        let mut unit = || random.unit() - 0.5;
        let at = Vec3::new(unit(), unit(), unit());
        let turn = Quat::from_scaled_axis(4.0 * Vec3::new(unit(), unit(), unit()));
        positions.extend(points.iter().map(|&x| at + turn * x));
        counts.push(n + 1);
    }
    let radii = vec![RADIUS; positions.len()];
    (positions, counts, radii)
}

#[test]
fn limits_hold_in_every_step_of_violent_shaking() {
    let (positions, counts, radii) = random_strands(300, 3);
    for (min, max, bend) in [
        (Some(-0.01), Some(0.01), None),
        (Some(-0.01), Some(0.01), Some(60.0)),
        (None, Some(0.2), None),
        (Some(-0.1), Some(0.3), None),
        (Some(-0.001), Some(0.02), None),
    ] {
        let mut setup = setup(&positions, &counts, &radii);
        setup.stretch = Limit { min, max };
        setup.bend = bend;
        let mut scene = Scene::new(&setup, if bend.is_some() { 0 } else { 1 }, 2, LaneKind::detect());
        scene.ball = Ball::new(Vec3::ZERO, 0.3, 0.5);
        let mut random = Random::new(9, 0);
        for step in 0..40 {
            let mut unit = || 4.0 * (random.unit() - 0.5);
            scene.step(DT, Quat::from_scaled_axis(Vec3::new(unit(), unit(), unit())));
            assert!(scene.x.iter().flatten().all(|x| x.is_finite()), "step {step}");
            let found = scene.strands.measure(&scene.x, &scene.kept);
            let room = 1.0 + 1e-9;
            assert!(found.stretch <= f64::from(max.unwrap_or(1e3)) * room, "step {step}: {found:?}");
            assert!(found.compression >= f64::from(min.unwrap_or(-1.0)) * room, "step {step}: {found:?}");
            if let Some(bend) = bend {
                assert!(found.bend <= f64::from(bend).to_radians() * 100.0, "step {step}: {found:?}");
            }
        }
    }
}

#[test]
fn bits_depend_neither_on_threads_nor_on_lanes() {
    let (positions, counts, radii) = random_strands(90, 4);
    let mut setup = setup(&positions, &counts, &radii);
    setup.bend = Some(80.0);
    setup.twist = Some(300.0);
    let result = |threads: usize, kind: LaneKind| {
        let mut scene = Scene::new(&setup, 2, threads, kind);
        scene.ball = Ball::new(Vec3::ZERO, 0.3, 0.3);
        for step in 0..12 {
            scene.step(DT, Quat::from_rotation_y(shake(1.0 + step as f32 * DT, 2.0, 2.0)));
        }
        let bits: Vec<u32> = scene.x.iter().flatten().chain(&scene.kept).map(|x| x.to_bits()).collect();
        bits
    };
    let first = result(1, LaneKind::PORTABLE);
    for kind in LaneKind::available() {
        for threads in [1, 2, 5] {
            assert!(result(threads, kind) == first, "{kind:?}, {threads} threads");
        }
    }
}

#[test]
fn numbers_that_are_not_stay_where_they_are() {
    let (positions, counts, radii) = head(32, 20, false);
    let curls = head(32, 20, true).0;
    for positions in [positions, curls] {
        let setup = setup(&positions, &counts, &radii);
        let run = |poison: bool| {
            let mut scene = Scene::new(&setup, 2, 1, LaneKind::detect());
            for step in 0..5 {
                if poison && step == 2 {
                    scene.x[7][1] = f32::NAN;
                    scene.v[4] = Vec3::splat(f32::INFINITY);
                    scene.kept[3] = f32::NAN;
                }
                scene.step(DT, Quat::IDENTITY);
            }
            scene
        };
        let (sound, poisoned) = (run(false), run(true));
        assert!(poisoned.x.iter().flatten().chain(&poisoned.kept).all(|x| x.is_finite()));
        // Strands 0 (nodes) and 3 (tension) were poisoned, and no other.
        for k in (0..32).filter(|k| ![0, 3].contains(k)) {
            assert_eq!(sound.x[21 * k..21 * (k + 1)], poisoned.x[21 * k..21 * (k + 1)], "strand {k}");
        }
        let found = poisoned.strands.measure(&poisoned.x, &poisoned.kept);
        assert!(found.stretch <= 0.01 && found.compression >= -0.01);
    }
}

#[test]
fn held_nodes_are_at_their_goals() {
    let (positions, counts, radii) = random_strands(40, 6);
    let setup = setup(&positions, &counts, &radii);
    let mut scene = Scene::new(&setup, 0, 1, LaneKind::detect());
    let held: Vec<usize> = (0..scene.x.len()).step_by(17).collect();
    held.iter().for_each(|&v| scene.x[v][3] = 0.0);
    for step in 0..10 {
        let turn = Quat::from_rotation_z(0.05 * step as f32);
        scene.step(DT, turn);
        for &v in &held {
            assert_eq!(scene.position(v), turn * positions[v]);
        }
    }
}

#[test]
fn sag_free_curls_stay() {
    let (positions, counts, radii) = head(64, 50, true);
    let mut setup = setup(&positions, &counts, &radii);
    setup.rest = HairRest::SagFree { stiffen: 64.0 };
    let mut scene = Scene::new(&setup, 2, 1, LaneKind::detect());
    assert_eq!(scene.strands.report().unstable, 0);
    scene.damping = 1.0;
    let mut drift = 0.0f32;
    for _ in 0..90 {
        scene.step(DT, Quat::IDENTITY);
        let moved = (0..positions.len()).map(|v| scene.position(v).distance(positions[v]));
        drift = moved.fold(drift, f32::max);
    }
    assert!(drift < 1e-4, "{drift}");
}

#[test]
fn a_shaken_head_is_not_entered() {
    let (positions, counts, radii) = head(200, 50, false);
    let setup = setup(&positions, &counts, &radii);
    let mut scene = Scene::new(&setup, 2, 2, LaneKind::detect());
    scene.damping = 2.0;
    scene.ball = Ball::new(Vec3::ZERO, 0.1, 0.3);
    for f in 0..120 {
        scene.step(DT, Quat::from_rotation_y(shake((f + 1) as f32 * DT, 0.9, 1.2)));
        assert!(scene.depth() < 5e-4, "frame {f}: {}", scene.depth());
    }
}

#[test]
fn a_strand_without_forces_stays_and_one_segment_swings() {
    let (positions, counts, radii) = (line(1, 0.01, Vec3::X), [2], [RADIUS; 2]);
    let setup = setup(&positions, &counts, &radii);
    let mut scene = Scene::new(&setup, 1, 1, LaneKind::detect());
    for _ in 0..60 {
        scene.step(1.0 / 300.0, Quat::IDENTITY);
    }
    assert!(scene.position(1).y < -1e-3);
    let strands = &scene.strands;
    let (x, mut moved) = (scene.x.clone(), scene.x.clone());
    let step = StrandStep {
        goal: &x,
        old: &x,
        inertia: &[1.0, 1.0],
        c_dt2: 1e-3,
        root_frames: None,
        forces: &NoForces,
        iterations: 20,
        is_last: true,
    };
    let mut scratch = strands.scratch(1, 0);
    let state = (&mut moved[..], &mut scene.kept[..]);
    strands.solve(&Threads::alone(), LaneKind::detect(), &step, state, &mut scratch);
    assert!((0..3).all(|c| (moved[1][c] - x[1][c]).abs() < 1e-5));
}

/// A strand drawn over the upper half of a drum: while it slides, the tensions on both sides are as e^{μφ}.
#[test]
fn friction_on_a_drum_follows_the_capstan() {
    let (n, radius, friction) = (120, 0.02f32, 0.3f32);
    // From the held end up, over the drum, and down.
    let l = 0.001f32;
    let arc = std::f32::consts::PI * radius;
    let points: Vec<Vec3> = (0..=n)
        .map(|i| l * i as f32)
        .map(|s| {
            let (up, over) = (s - 0.02, s - 0.02 - arc);
            if up < 0.0 {
                Vec3::new(-radius, up, 0.0)
            } else if over < 0.0 {
                let a = up / radius;
                Vec3::new(-radius * a.cos(), radius * a.sin(), 0.0)
            } else {
                Vec3::new(radius, -over, 0.0)
            }
        })
        .collect();
    let (counts, radii) = ([n as u32 + 1], vec![RADIUS; points.len()]);
    let mut setup = setup(&points, &counts, &radii);
    setup.rest = HairRest::Straight;
    // Soft, so that bending carries nothing; without weight, pulled by the inertia of a heavy end.
    setup.young *= 1e-6;
    let mut scene = Scene::new(&setup, 1, 1, LaneKind::detect());
    scene.gravity = Vec3::ZERO;
    scene.ball = Ball::new(Vec3::ZERO, radius, friction);
    scene.ball.stiffness = 1000.0;
    let last = points.len() - 1;
    // The held end draws the strand over the drum, against an even pull at the other: by more in a step
    // than the slip that friction is made smooth over.
    let pull = 2e-5;
    let mass = scene.strands.masses()[last];
    for step in 0..80 {
        scene.pull_end(last, Vec3::NEG_Y * pull / mass);
        scene.lower_root(Vec3::NEG_Y * 1.5e-4 * f32::from(u8::from(step > 20)));
        scene.damping = 2.0;
        scene.step(1.0 / 300.0, Quat::IDENTITY);
    }
    let tension = |j: usize| scene.kept[16 * j];
    let ratio = tension(2) / tension(n - 2);
    let edge = |j: usize| (scene.position(j + 1) - scene.position(j)).normalize();
    let angle = edge(n - 2).angle_between(edge(2));
    let exact = (friction * angle).exp();
    assert!((ratio / exact - 1.0).abs() < 0.03, "{ratio} {exact}, angle {angle}");
}
