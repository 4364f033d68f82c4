//! The drape test (Cusick, BS 5058, ISO 9073-9): a round specimen of 30 cm is held between two discs of
//! 18 cm, and what hangs over casts a shadow.

use std::f64::consts::PI;

use glam::Vec3;
use serde::Serialize;

use super::{described, settle};
use crate::{Direction, Material, WorldError, mesh::TriangleMesh};

/// Radius of the specimen \[m\].
pub const SPECIMEN: f64 = 0.15;

/// Radius of the discs that hold it \[m\].
pub const DISC: f64 = 0.09;

/// Steps per frame. Fewer carry less of the stiffness against compression, and folds come easier: a
/// stiffer cotton (14 and 9 µN m) draped to 63 % with 2, 69 % with 8 and 76 % with 16 steps. Not all is
/// carried yet: silk drapes to 37 % with 16 and to 47 % with 32.
const STEPS: u32 = 16;

/// Size of a cell of the grid that shadows are measured with \[m\].
const PIXEL: f64 = 0.0005;

/// What a drape test found.
#[derive(Clone, Debug, Serialize)]
pub struct Drape {
    /// The share of the ring around the disc that is in shadow: 1 is rigid, 0 hangs straight down.
    pub coefficient: f64,
    /// Folds around the edge.
    pub nodes: u32,
    /// The specimen at rest.
    #[serde(skip)]
    pub mesh: TriangleMesh,
    /// How it drapes \[m\].
    #[serde(skip)]
    pub positions: Vec<Vec3>,
}

/// Drapes a specimen whose overhang is divided into `rings`.
///
/// # Errors
/// If the material cannot be simulated.
pub fn drape(material: &Material, rings: u32, threads: usize) -> Result<Drape, WorldError> {
    drape_of(material, disc(rings), overhang_held(rings), threads)
}

/// Drapes `mesh`, whose vertices up to `held` \[m\] from the middle are held.
///
/// # Errors
/// If the material cannot be simulated.
pub fn drape_of(
    material: &Material,
    mesh: TriangleMesh,
    held: f64,
    threads: usize,
) -> Result<Drape, WorldError> {
    let inside = |p: Vec3| f64::from(p.x.hypot(p.z)) <= held * (1.0 + 1e-5);
    let damped = Material { damping: 2.0, ..material.clone() };
    let mut description = described(&damped, Direction::Along(Vec3::Z), mesh.clone(), inside);
    description.solver.steps_per_frame = STEPS;
    let (world, state) = settle(description, [150, 600], 5e-4, threads)?;
    let positions = state.positions(&world, 0);
    let shadow = shadow(&mesh, &positions);
    let [whole, disc] = [SPECIMEN, DISC].map(|r| PI * r * r);
    Ok(Drape {
        coefficient: (shadow - disc) / (whole - disc),
        nodes: nodes(&mesh, &positions),
        mesh,
        positions,
    })
}

/// Radius up to which vertices of [`disc`] are held \[m\]: the cloth bends between the last two rings of
/// those too, so that the edge of the disc is half a cell further in.
fn overhang_held(rings: u32) -> f64 {
    DISC + 0.5 * cell(rings)
}

fn cell(rings: u32) -> f64 {
    (SPECIMEN - DISC) / (f64::from(rings) + 0.5)
}

/// A round specimen in the plane y = 0 around the origin: rings of triangles that are about equilateral, with
/// `rings` of them outside of what is held.
pub fn disc(rings: u32) -> TriangleMesh {
    let rings = rings.max(2);
    let (cell, held) = (cell(rings), overhang_held(rings));
    let inner = (held / cell).round().max(1.0) as u32;
    let radius = |k: u32| {
        if k <= inner { held * f64::from(k) / f64::from(inner) } else { held + f64::from(k - inner) * cell }
    };
    let (mut positions, mut triangles) = (vec![Vec3::ZERO], Vec::new());
    // Ring k has 6 k vertices; the first one of each begins at the same angle.
    let first = |k: u32| if k == 0 { 0 } else { 1 + 3 * k * (k - 1) };
    for k in 1..=inner + rings {
        for j in 0..6 * k {
            let (sine, cosine) = (2.0 * PI * f64::from(j) / f64::from(6 * k)).sin_cos();
            positions.push(Vec3::new((radius(k) * cosine) as f32, 0.0, (radius(k) * sine) as f32));
        }
        let outer = |side: u32, j: u32| first(k) + (side * k + j) % (6 * k);
        let inside =
            |side: u32, j: u32| if k == 1 { 0 } else { first(k - 1) + (side * (k - 1) + j) % (6 * (k - 1)) };
        for side in 0..6 {
            for j in 0..k {
                triangles.push([inside(side, j), outer(side, j + 1), outer(side, j)]);
                if j + 1 < k {
                    triangles.push([inside(side, j), inside(side, j + 1), outer(side, j + 1)]);
                }
            }
        }
    }
    TriangleMesh { positions, triangles, ..TriangleMesh::default() }
}

/// Area of the shadow on the ground \[m²\].
fn shadow(mesh: &TriangleMesh, x: &[Vec3]) -> f64 {
    let side = (2.4 * SPECIMEN / PIXEL) as usize;
    let mut dark = vec![false; side * side];
    let place = |p: Vec3| [p.x, p.z].map(|c| f64::from(c) / PIXEL + 0.5 * side as f64);
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|v| place(x[v as usize]));
        let low = [0, 1].map(|k| a[k].min(b[k]).min(c[k]).floor().clamp(0.0, side as f64) as usize);
        let high = [0, 1].map(|k| a[k].max(b[k]).max(c[k]).ceil().clamp(0.0, side as f64) as usize);
        let turn = |p: [f64; 2], q: [f64; 2], r: [f64; 2]| {
            (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
        };
        for row in low[1]..high[1] {
            for column in low[0]..high[0] {
                let p = [column as f64 + 0.5, row as f64 + 0.5];
                let [u, v, w] = [turn(a, b, p), turn(b, c, p), turn(c, a, p)];
                if (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0) {
                    dark[row * side + column] = true;
                }
            }
        }
    }
    dark.iter().filter(|dark| **dark).count() as f64 * PIXEL * PIXEL
}

/// Folds around the edge: how often its distance from the middle rises above the mean.
fn nodes(mesh: &TriangleMesh, x: &[Vec3]) -> u32 {
    let mut edge: Vec<(f32, f32)> = mesh
        .positions
        .iter()
        .zip(x)
        .filter(|(p, _)| f64::from(p.x.hypot(p.z)) > SPECIMEN * (1.0 - 1e-4))
        .map(|(p, x)| (p.z.atan2(p.x), x.x.hypot(x.z)))
        .collect();
    edge.sort_by(|a, b| a.0.total_cmp(&b.0));
    let radii: Vec<f32> = edge.iter().map(|e| e.1).collect();
    let (least, most) = radii.iter().fold((f32::MAX, 0.0f32), |(a, b), &r| (a.min(r), b.max(r)));
    if most - least < 0.01 * SPECIMEN as f32 {
        return 0;
    }
    // With a band around the mean, so that ripples do not count.
    let (low, high) = (least + 0.4 * (most - least), least + 0.6 * (most - least));
    let start = radii.iter().position(|&r| r < low).unwrap_or(0);
    let (mut count, mut above) = (0, false);
    for k in 0..=radii.len() {
        let r = radii[(start + k) % radii.len()];
        if !above && r > high {
            (count, above) = (count + 1, true);
        } else if above && r < low {
            above = false;
        }
    }
    count
}
