//! The points that are joined: those of the surface, and a body-centred cubic lattice inside.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::{
    contact::{
        distance::vertex_triangle,
        tree::{Swept, Tree},
    },
    kernel::random::Random,
    mesh::stuff::prepare::{Prepared, quad},
};

/// Least distance of inner points from the surface, in longest edges of the nearest triangle: closer ones
/// would make flat tetrahedra, and tear the triangle out of the Delaunay tetrahedra.
const CLEARANCE: f64 = 0.5;
/// All points are moved by up to this, in spacings: points in one plane or on one sphere have no unique
/// Delaunay tetrahedra, and their flat ones have no orientation.
const JITTER: f64 = 1e-4;
/// Most places of the lattice.
const MAX_PLACES: f64 = 1e8;

/// Vertices of the surface that triangles use, and then inner points at about `spacing` \[m\]; and where the
/// latter begin. `None` if there would be too many.
pub(super) fn points(prepared: &Prepared, spacing: f64) -> Option<(Vec<DVec3>, usize)> {
    let mut is_used = vec![false; prepared.positions.len()];
    prepared.triangles.iter().flatten().for_each(|&v| is_used[v as usize] = true);
    let corners = prepared.positions.iter().zip(is_used).filter(|(_, used)| *used);
    let mut points: Vec<DVec3> = corners.map(|(x, _)| x.as_dvec3()).collect();
    let inner = points.len();
    points.extend(lattice(prepared, spacing)?);
    let mut random = Random::new(0, 1);
    let mut jitter = || JITTER * spacing * (2.0 * f64::from(random.unit()) - 1.0);
    points.iter_mut().for_each(|x| *x += DVec3::new(jitter(), jitter(), jitter()));
    Some((points, inner))
}

/// Points of the lattice that are inside, and not too near to the surface.
fn lattice(prepared: &Prepared, spacing: f64) -> Option<Vec<DVec3>> {
    let low = prepared.low;
    let counts = ((prepared.high - low) / spacing).ceil() + 1.0;
    if counts.x * counts.y * counts.z * 2.0 > MAX_PLACES {
        return None;
    }
    let [nx, ny, nz] = counts.to_array().map(|n| n as u32);
    let corners = |t: u32| prepared.triangles[t as usize].map(|v| prepared.positions[v as usize]);
    let about = |t: u32| corners(t).iter().fold(Swept::EMPTY, |all, p| all.with(&quad(*p), &quad(*p)));
    let tree = Tree::new(&(0..prepared.triangles.len() as u32).map(about).collect::<Vec<_>>());
    let is_clear = |x: DVec3| {
        let squared = |t: u32| {
            let [a, b, c] = corners(t).map(Vec3::as_dvec3);
            vertex_triangle(&[x, a, b, c]).squared
        };
        tree.nearest(&x.to_array(), f64::INFINITY, squared).is_some_and(|(t, squared)| {
            let [a, b, c] = corners(t).map(Vec3::as_dvec3);
            let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
            squared >= CLEARANCE * CLEARANCE * longest && prepared.tree.winding(x) > 0.5
        })
    };
    let place = |k: u32| {
        let (cell, second) = (k / 2, k % 2);
        let at = DVec3::new((cell % nx).into(), (cell / nx % ny).into(), (cell / nx / ny).into());
        low + spacing * (at + 0.5 * f64::from(second))
    };
    Some((0..2 * nx * ny * nz).into_par_iter().map(place).filter(|x| is_clear(*x)).collect())
}
