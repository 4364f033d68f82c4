//! The shape of one strand: its direction, its clump, its curl and its noise, in this order.
//!
//! Positions are relative to the root until the end, in f64. What clumps and noise do to the length is undone
//! by scaling the strand about its root, so that every strand has the length that it is to have.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3, Vec3};

use super::{
    Growth, Outside,
    grow::{length_of, random_of},
    skin::{Root, unit},
};

/// Waves of the noise from root to tip, at most.
const WAVES: f64 = 1.5;
/// Random part of the phases of curls in one clump, of a turn.
const PHASE_IN_CLUMP: f64 = 0.08;
/// Passes by which a point is brought out of a body at its distance from the last one.
const PASSES: usize = 3;

/// Points of strand `index`, from its root; `clump` is the strand that its clump follows, with its root.
pub(super) fn strand(growth: &Growth, index: usize, root: &Root, clump: Option<(usize, &Root)>) -> Vec<Vec3> {
    let length = length_of(growth, index);
    let mut random = random_of(growth, index);
    random.next_u64(); // That of the length.
    let mut points = axis(growth, root, length / growth.winding());
    let mut phase = unit(&mut random);
    if let (Some(style), Some((leader, its_root))) = (growth.clump, clump) {
        // All curls of a clump wind alike: they hold together.
        let mut shared = random_of(growth, leader);
        shared.next_u64();
        phase = unit(&mut shared) + PHASE_IN_CLUMP * (phase - 0.5);
        let to = its_root.position.as_dvec3() - root.position.as_dvec3();
        let theirs = axis(growth, its_root, length_of(growth, leader) / growth.winding());
        for (i, (x, y)) in points.iter_mut().zip(theirs).enumerate() {
            let part = i as f64 / f64::from(growth.segments);
            *x = x.lerp(y + to, f64::from(style.strength) * smooth(part));
        }
    }
    curl(growth, &mut points, phase);
    noise(growth, &mut points, &mut random);
    let now: f64 = points.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    let scale = if now > 0.0 { length / now } else { 1.0 };
    points.iter().map(|x| (root.position.as_dvec3() + scale * *x).as_vec3()).collect()
}

fn smooth(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

/// The strand without curls, clumps and noise, relative to its root \[m\].
fn axis(growth: &Growth, root: &Root, length: f64) -> Vec<DVec3> {
    let normal = root.normal.as_dvec3();
    let comb = growth.comb.as_dvec3();
    let comb = comb - normal * comb.dot(normal).min(0.0);
    let down = growth.down.as_dvec3().normalize_or_zero() * f64::from(growth.droop);
    let mut at = DVec3::ZERO;
    let mut points = vec![at];
    for i in 0..growth.segments {
        let part = (f64::from(i) + 0.5) / f64::from(growth.segments);
        let direction = (normal + comb + part * down).normalize_or(normal);
        at += direction * length / f64::from(growth.segments);
        points.push(at);
    }
    points
}

/// Winds a strand around itself. The helix widens over its first turn, so that roots stay where they are.
fn curl(growth: &Growth, points: &mut [DVec3], phase: f64) {
    let Some(style) = growth.curl else { return };
    let (radius, pitch) = (f64::from(style.radius), f64::from(style.pitch));
    let Some(first) = points.windows(2).find_map(|pair| (pair[1] - pair[0]).try_normalize()) else { return };
    let mut tangent = first;
    let mut side = first.any_orthonormal_vector();
    let axis = points.to_vec();
    let mut along = 0.0;
    for i in 1..axis.len() {
        let edge = axis[i] - axis[i - 1];
        along += edge.length();
        let next = edge.normalize_or(tangent);
        side = DQuat::from_rotation_arc(tangent, next) * side;
        tangent = next;
        let (sin, cos) = (TAU * (phase + along / pitch)).sin_cos();
        let wide = radius * smooth((along / pitch).min(1.0));
        points[i] += wide * (cos * side + sin * tangent.cross(side));
    }
}

/// Displaces a strand by two waves in random directions, which grow towards its tip.
fn noise(growth: &Growth, points: &mut [DVec3], random: &mut crate::kernel::random::Random) {
    let mut wave = || {
        let mut next = || unit(random);
        let direction = DVec3::new(next() - 0.5, next() - 0.5, next() - 0.5).normalize_or(DVec3::X);
        (direction, WAVES * next(), next())
    };
    let waves = [wave(), wave()];
    let count = points.len().max(2) - 1;
    for (i, x) in points.iter_mut().enumerate() {
        let part = i as f64 / count as f64;
        for (direction, frequency, phase) in waves {
            let wave = (TAU * (frequency * part + phase)).sin();
            *x += direction * (0.5 * f64::from(growth.noise) * part * wave);
        }
    }
}

/// Keeps the points of a strand `clearance` \[m\] out of a body, but for its root; segments keep their length
/// and, where nothing is in the way, their direction.
///
/// A body that a strand would have to turn back from may be entered: the length comes first.
pub(super) fn keep_out(points: &mut [Vec3], clearance: f32, outside: &Outside<'_>) {
    let edges: Vec<Vec3> = points.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (i, edge) in edges.into_iter().enumerate() {
        let (from, length) = (points[i], edge.length());
        let mut to = from + edge;
        for _ in 0..PASSES {
            let (distance, normal) = outside(to);
            if distance >= clearance || distance.is_nan() {
                break;
            }
            let out = to + (clearance - distance) * normal;
            to = (out - from).try_normalize().map_or(out, |unit| from + length * unit);
        }
        points[i + 1] = to;
    }
}
