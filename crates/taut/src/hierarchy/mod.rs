//! Coarser versions of a mesh, and the transfer between them (Wang et al. 2010, section 4.1; Tang et al.,
//! section 4).
//!
//! Each level is a re-triangulation of the base mesh itself with about a quarter of the triangles of the
//! previous one, for any manifold triangle mesh, open or closed, of one component or several: evenly spaced,
//! well-shaped triangles; boundary curves, their corners and the topology are preserved. The order of
//! operations is in `coarsen.rs`.
//!
//! The paper re-triangulates by point repulsion and switches manually to quadric decimation where that loses
//! too much. Here one edge cost (squared length plus quadric error) does both. Points are tracked on the
//! surface and never looked up by distance in space, so that layers close to each other are not confused.
//!
//! One descent costs about 5 µs per triangle of the base; it runs on one thread, and the result depends on
//! the mesh alone.

mod coarsen;
mod collapse;
mod corner;
pub mod fit;
mod flip;
mod halfedge;
pub(crate) mod insert;
pub mod lattice;
mod matrix;
pub mod multigrid;
mod order;
mod quadric;
mod smooth;
pub mod solid;
mod sparse;
mod surface;
mod transfer;

use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{DVec3, Vec3};

use crate::mesh::TriangleMesh;
use coarsen::Coarsener;
use surface::Surface;

pub(crate) use flip::flip;
pub(crate) use halfedge::{HalfEdges, NONE, prev};
pub use transfer::Transfer;

/// Minimum fraction of triangles that a level must remove; a level that removes less is not worth its cost
/// and ends the hierarchy.
const MIN_REDUCTION: f64 = 0.15;

/// See [`levels_built`].
static BUILT: AtomicUsize = AtomicUsize::new(0);

/// How often this process has built levels of a mesh, lattices of a solid or matrices over them. A test asks,
/// since opening a finished run must build none.
pub fn levels_built() -> usize {
    BUILT.load(Ordering::Relaxed)
}

/// Counts what [`levels_built`] tells.
fn count_build() {
    BUILT.fetch_add(1, Ordering::Relaxed);
}

/// One coarser level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Positions \[m\] on the base surface, and triangles; no texture coordinates, no groups.
    pub mesh: TriangleMesh,
    /// Transfer between this level and the next finer one.
    pub transfer: Transfer,
    /// Locations of its vertices on the base mesh.
    pub on_base: Vec<Site>,
    /// Locations of its vertices on the next finer level (of level 1: on the base mesh again).
    pub on_finer: Vec<Site>,
}

/// A point of a mesh: a triangle and barycentric weights of its corners, each within \[0, 1\], with sum 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Site {
    /// Triangle.
    pub triangle: u32,
    /// Weights of its corners.
    pub weights: [f32; 3],
}

/// Levels 1, 2, … (level 0 is the mesh itself), each coarser than the previous one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hierarchy {
    /// Finest first.
    pub levels: Vec<Level>,
}

/// Depth and coarsening ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Ratio of triangles of a level to those of the next coarser one; at least 1.5.
    pub ratio: f32,
    /// Approximate number of vertices of the coarsest level, over all components.
    pub coarsest: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { ratio: 4.0, coarsest: 100 }
    }
}

/// Builds the levels of `mesh`.
///
/// A component stops coarsening when it cannot without changing its topology or shape; the hierarchy ends
/// when nothing gets coarser. Vertices with several fans of triangles are kept on all levels. A mesh with
/// indices out of range or non-finite positions ([`check`](crate::mesh::check::check) finds them) has no
/// levels.
pub fn build(mesh: &TriangleMesh, options: &Options) -> Hierarchy {
    count_build();
    let mut hierarchy = Hierarchy::default();
    if !is_usable(mesh) {
        return hierarchy;
    }
    let ratio = if options.ratio.is_finite() { f64::from(options.ratio.max(1.5)) } else { 4.0 };
    let center = center(&mesh.positions);
    let (half, copies) = HalfEdges::new(mesh.positions.len(), &mesh.triangles);
    let mut positions: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3() - center).collect();
    positions.extend(copies.iter().map(|&v| mesh.positions[v as usize].as_dvec3() - center));
    let base = Surface { half, positions };
    let mut coarsener = Coarsener::new(&base, copies);
    let least = (options.coarsest / 2).max(1) as f64;
    loop {
        let count = coarsener.work.positions.len() - coarsener.copies.len();
        let triangles = coarsener.triangle_count;
        if (count as f64) < ratio * least {
            return hierarchy;
        }
        let fine = coarsener.work.clone();
        let seeds = coarsener.descend((triangles as f64 / ratio).round() as usize);
        if coarsener.triangle_count as f64 > (1.0 - MIN_REDUCTION) * triangles as f64 {
            return hierarchy;
        }
        let transfer = Transfer::new(&fine, count, &seeds, &coarsener);
        hierarchy.levels.push(Level {
            mesh: output(&coarsener, center),
            transfer,
            on_base: sites(&coarsener, &base, |v| coarsener.home_triangle(v)),
            on_finer: sites_on_finer(&coarsener, &fine, &seeds),
        });
    }
}

/// Locations of the vertices of the mesh being coarsened on `surface`, searched from the triangles that
/// `start` names.
fn sites(coarsener: &Coarsener, surface: &Surface, start: impl Fn(usize) -> u32) -> Vec<Site> {
    let count = coarsener.work.positions.len() - coarsener.copies.len();
    (0..count)
        .map(|v| {
            let facing = coarsener.work.normals_around(v as u32).0;
            let hit = surface.walk(start(v), coarsener.work.positions[v], facing);
            Site { triangle: hit.triangle, weights: hit.weights.map(|w| w as f32) }
        })
        .collect()
}

/// The same on the finer level, whose vertices were merged into `seeds`: the search starts at the first of
/// them.
fn sites_on_finer(coarsener: &Coarsener, fine: &Surface, seeds: &[u32]) -> Vec<Site> {
    let mut first = vec![0u32; coarsener.work.positions.len()];
    for (v, &seed) in seeds.iter().enumerate().rev() {
        if seed != NONE && fine.half.out[v] != NONE {
            first[seed as usize] = fine.half.out[v] / 3;
        }
    }
    sites(coarsener, fine, |v| first[v])
}

/// Whether indices and positions are valid.
fn is_usable(mesh: &TriangleMesh) -> bool {
    let count = mesh.positions.len();
    mesh.positions.iter().all(|p| p.is_finite())
        && mesh.triangles.len() < (u32::MAX / 3) as usize
        && mesh
            .triangles
            .iter()
            .all(|&[a, b, c]| a != b && b != c && c != a && [a, b, c].iter().all(|&v| (v as usize) < count))
}

/// Centre of the bounding box \[m\]: quadrics lose precision far from the origin.
fn center(positions: &[Vec3]) -> DVec3 {
    let [low, high] = [Vec3::min, Vec3::max].map(|pick| positions.iter().copied().reduce(pick));
    0.5 * (low.unwrap_or_default().as_dvec3() + high.unwrap_or_default().as_dvec3())
}

/// The current mesh, with the fans of one vertex joined again.
fn output(coarsener: &Coarsener, center: DVec3) -> TriangleMesh {
    let Coarsener { work, copies, .. } = coarsener;
    let count = work.positions.len() - copies.len();
    TriangleMesh {
        positions: work.positions[..count].iter().map(|&p| (p + center).as_vec3()).collect(),
        triangles: (0..work.half.slots())
            .map(|t| work.half.corners(t).map(|v| coarsener.original(v)))
            .collect(),
        ..TriangleMesh::default()
    }
}
