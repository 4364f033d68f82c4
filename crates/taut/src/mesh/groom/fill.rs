//! Strands between guides, where a groom has guides only.

use std::ops::Range;

use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;

use super::{Groom, GrowError, MAX_POINTS, Skin, places::Places, scatter::roots, skin::Root};

/// Guides that a strand is a mean of.
const GUIDES: usize = 3;
/// Distance from guides within which hair grows, over the mean distance of guides from their neighbours.
const REACH: f64 = 1.5;

/// Grows strands between `guides` on a skin: `count` in all, evenly spread where a guide is near, each a mean
/// of the guides around it, turned from their normals to its own.
///
/// Hair grows within 1½ times the mean distance that guides have from their neighbours. The strands have as
/// many segments as the guide that has most.
///
/// # Errors
/// If there are no guides, nowhere to grow, or too many strands.
pub fn fill(skin: &Skin, guides: &Groom, count: u32, seed: u64) -> Result<Groom, GrowError> {
    let most = guides.counts.iter().copied().max().unwrap_or(0);
    if most < 2 || count == 0 || !guides.problems().is_empty() {
        return Err(GrowError::None { density: 0.0, area: skin.area() });
    }
    if u64::from(count) * u64::from(most) > MAX_POINTS as u64 {
        return Err(GrowError::TooMany { strands: count.into(), points: most.into() });
    }
    let guides = guides.resampled(most - 1);
    let places = Places::new(guides.roots());
    let reach = REACH * spacing(&places);
    let roots = roots(skin, count as usize, seed, |x| places.distance(x) <= reach);
    if roots.is_empty() {
        return Err(GrowError::NoArea);
    }
    let own: Vec<Range<usize>> = guides.strands().collect();
    let normals: Vec<DVec3> = places.all().iter().map(|&x| skin.normal_near(x).as_dvec3()).collect();
    let made = |root: &Root| {
        let around = places.weights(root.position, GUIDES);
        let mut at = root.position.as_dvec3();
        let mut points = vec![root.position];
        let turn = |guide: usize| DQuat::from_rotation_arc(normals[guide], root.normal.as_dvec3());
        for i in 1..most as usize {
            let edge = |&(guide, weight): &(u32, f64)| {
                let v = own[guide as usize].start + i;
                let edge = guides.positions[v].as_dvec3() - guides.positions[v - 1].as_dvec3();
                turn(guide as usize) * edge * weight
            };
            at += around.iter().map(edge).sum::<DVec3>();
            points.push(at.as_vec3());
        }
        let first = around.first().map_or(0, |near| near.0 as usize);
        (points, guides.radii.get(own[first].clone()).unwrap_or_default().to_vec())
    };
    let strands: Vec<(Vec<Vec3>, Vec<f32>)> = roots.par_iter().map(made).collect();
    let mut groom = Groom { counts: vec![most; strands.len()], ..Groom::default() };
    for (positions, radii) in strands {
        groom.positions.extend(positions);
        groom.radii.extend(radii);
    }
    Ok(groom)
}

/// Mean distance of places from their nearest neighbour \[m\]; infinite for a single one, which has none.
fn spacing(places: &Places) -> f64 {
    let all = places.all();
    let one = |&x: &Vec3| {
        places.nearest(x, 2).into_iter().map(|k| f64::from(x.distance(all[k as usize]))).fold(0.0, f64::max)
    };
    if all.len() < 2 { f64::INFINITY } else { all.iter().map(one).sum::<f64>() / all.len() as f64 }
}
