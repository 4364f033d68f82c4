//! Closed forms, in double precision: the cantilever, the elastica, Michell's ring, the hanging chain, the
//! spring.

use std::f64::consts::{PI, TAU};

use glam::Vec3;

use super::{
    lone::{Lone, line},
    scene::{DENSITY, RADIUS, YOUNG, helix, setup},
};
use crate::{HairRest, strand::StrandSetup};

/// Bending stiffness of a hair \[N m²\], and mass over length \[kg/m\].
fn hair() -> (f64, f64) {
    let r = f64::from(RADIUS);
    (f64::from(YOUNG) * PI * r.powi(4) / 4.0, f64::from(DENSITY) * PI * r * r)
}

fn straight(
    n: usize,
    length: f64,
    direction: Vec3,
    held: &[usize],
    change: impl Fn(&mut StrandSetup<'_>),
) -> Lone {
    let points = line(n, length, direction);
    let (counts, radii) = ([n as u32 + 1], vec![RADIUS; n + 1]);
    let mut setup = setup(&points, &counts, &radii);
    setup.rest = HairRest::Straight;
    change(&mut setup);
    Lone::new(&setup, held)
}

#[test]
fn a_cantilever_sags_by_q_l4_over_8_ei() {
    let (ei, line_mass) = hair();
    for n in [25, 50] {
        let length = 0.02;
        let mut lone = straight(n, length, Vec3::X, &[0, 1], |_| {});
        lone.settle([0.0, -9.81, 0.0], [0.0; 3]);
        // The clamp acts at the middle of the first segment.
        let free = length - 0.5 * length / n as f64;
        let exact = line_mass * 9.81 * free.powi(4) / (8.0 * ei);
        let found = -lone.x[n][1];
        assert!((found / exact - 1.0).abs() < 0.01, "{n}: {found} {exact}");
    }
}

#[test]
fn the_elastica_bends_as_tabulated() {
    let (ei, _) = hair();
    for (load, exact) in [(1.0, 0.302), (2.0, 0.493), (5.0, 0.714), (10.0, 0.811)] {
        for with_frames in [false, true] {
            let (n, length) = (50, 0.1);
            let whole = length * n as f64 / (n as f64 - 0.5);
            let frames = with_frames.then_some(1e6);
            let mut lone = straight(n, whole, Vec3::X, &[0, 1], |setup| setup.twist = frames);
            lone.settle([0.0; 3], [0.0, -load * ei / (length * length), 0.0]);
            let found = -lone.x[n][1] / length;
            assert!((found / exact - 1.0).abs() < 0.01, "{load}: {found} {exact}");
        }
    }
}

/// Height that a ring leaves its plane by, early and late, with this share of the critical twist.
fn ring(share: f64, ratio: f64) -> [f64; 2] {
    let (n, radius, dt) = (30, 0.01, 5e-4);
    let points: Vec<Vec3> = (0..=n + 1)
        .map(|i| TAU * f64::from(i) / f64::from(n))
        .map(|a| Vec3::new((radius * a.cos()) as f32, 0.0, (radius * a.sin()) as f32))
        .collect();
    let n = n as usize;
    let (counts, radii) = ([n as u32 + 2], vec![RADIUS; n + 2]);
    let mut setup = setup(&points, &counts, &radii);
    setup.rest = HairRest::Straight;
    setup.twist = Some(1e6);
    // GJ / EI is 2 G / E.
    setup.shear = (0.5 * ratio) as f32 * setup.young;
    let mut lone = Lone::new(&setup, &[0, 1, n, n + 1]);
    let critical = TAU * 3f64.sqrt() / ratio;
    for j in 0..=n {
        let a = TAU * (j as f64 + 0.5) / n as f64;
        let (s, c) = (share * critical * j as f64 / n as f64).sin_cos();
        // Tangent (−sin a, 0, cos a); the frame turns about it from up.
        let across = [-a.cos(), 0.0, -a.sin()];
        lone.frames[j] = [s * across[0], c, s * across[2]];
    }
    let mut heights = [0.0; 2];
    for k in 0..1500 {
        if k < 20 {
            for i in 2..n {
                lone.v[i][1] += 1e-8 / dt * (2.0 * TAU * i as f64 / n as f64 + 0.3).sin();
            }
        }
        lone.step(dt, [0.0; 3], false, 1e-12);
        let height = lone.x.iter().map(|x| x[1].abs()).fold(0.0, f64::max);
        if k == 300 {
            heights[0] = height;
        }
        heights[1] = height;
    }
    heights
}

#[test]
fn a_ring_buckles_at_michells_twist() {
    for ratio in [0.5, 1.0, 1.5] {
        let [early, late] = ring(0.97, ratio);
        assert!(late < 2.0 * early, "{ratio}, below: {early} {late}");
        let [early, late] = ring(1.03, ratio);
        assert!(late > 3.0 * early || late > 1e-3, "{ratio}, above: {early} {late}");
    }
}

#[test]
fn a_hanging_chain_swings_with_its_period() {
    let (n, length, dt) = (50, 0.22, 1.0 / 500.0);
    let mut lone = straight(n, length, Vec3::NEG_Y, &[0], |setup| setup.young *= 1e-6);
    let angle = 0.02f64;
    for i in 0..=n {
        let s = length * i as f64 / n as f64;
        lone.x[i] = [s * angle.sin(), -s * angle.cos(), 0.0];
    }
    let (mut crossings, mut before, mut time) = (Vec::new(), 0.0, 0.0);
    while crossings.len() < 10 && time < 8.0 {
        lone.step(dt, [0.0, -9.81, 0.0], true, 1e-12);
        time += dt;
        let x: f64 = lone.x.iter().map(|x| x[0]).sum();
        if x * before < 0.0 {
            crossings.push(time - dt * x.abs() / (x.abs() + f64::abs(before)));
        }
        before = x;
    }
    let period = 2.0 * (crossings[9] - crossings[1]) / 8.0;
    let exact = 5.226 * (length / 9.81).sqrt();
    assert!((period / exact - 1.0).abs() < 0.01, "{period} {exact}");
}

#[test]
fn a_helix_is_a_spring_of_its_torsional_stiffness() {
    let (ei, _) = hair();
    for factor in [0.5, 1.0, 2.0] {
        let (turns, per_turn, radius) = (5, 20, 0.006);
        let pitch = 0.3 * radius;
        let n = turns * per_turn + 1;
        let angle = TAU / per_turn as f64;
        let rise = pitch / TAU;
        let l = (2.0 * radius * (0.5 * angle).sin()).hypot(rise * angle);
        let points = helix(n, l, radius, pitch);
        let (counts, radii) = ([n as u32 + 1], vec![RADIUS; n + 1]);
        let mut setup = setup(&points, &counts, &radii);
        setup.shear *= factor as f32;
        let gj = 2.0 * f64::from(setup.shear) / f64::from(YOUNG) * ei;
        let mut lone = Lone::new(&setup, &[0, 1, n - 1, n]);
        let before = lone.energy();
        let pulled = 0.02 * rise * angle * n as f64;
        let start = lone.x.clone();
        for step in 1..=20 {
            let mut goal = lone.x.clone();
            for i in [n - 1, n] {
                goal[i][1] = start[i][1] + pulled * f64::from(step) / 20.0;
            }
            lone.solve(&goal, 1e-3, 1e-12);
        }
        lone.settle([0.0; 3], [0.0; 3]);
        let unit = f64::from(lone.strands.rods[0].unit.0[0]);
        let found = 2.0 * unit * (lone.energy() - before) / (pulled * pulled);
        let exact = gj / (TAU * radius.powi(3) * f64::from(turns as u32));
        assert!((found / exact - 1.0).abs() < 0.05, "{factor}: {found} {exact}");
    }
}
