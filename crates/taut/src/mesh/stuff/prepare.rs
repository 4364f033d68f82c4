//! Preprocesses a surface for filling at any spacing: merged vertices, faces with an area, outward
//! orientation.

use glam::{DVec3, Vec3};

use super::{
    MAX_POINTS, MIN_RELATIVE_SPACING, StuffError,
    field::Enclosed,
    lattice::{Grid, Lattice},
    mend::{mend, pieces, volume},
    shown,
    stencil::Filling,
    winding::WindingTree,
};
use crate::{
    contact::{
        distance::vertex_triangle,
        inside::merged,
        intersection::piercings,
        surface::Surface,
        tangle::Sets,
        tree::{Swept, Tree},
    },
    mesh::{
        TriangleMesh,
        check::{MAX_COORDINATE, MeshProblem},
        tetrahedra::TetrahedronMesh,
    },
};

/// Tetrahedra that a surface area of one squared spacing adds: an estimate that fits spheres, tori and
/// animals.
const TETRAHEDRA_PER_SURFACE_SQUARE: f64 = 6.0;

/// The surface.
pub(in crate::mesh) struct Prepared {
    /// Vertex positions \[m\].
    pub positions: Vec<Vec3>,
    /// Triangles with three different corners, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    pub tree: WindingTree,
    /// Edges that do not have equally many faces in both directions.
    pub open: usize,
    turned: bool,
    /// Enclosed volume, if it is closed and does not intersect itself \[m³\].
    pub volume: f64,
    /// \[m²\].
    area: f64,
    pub low: DVec3,
    pub high: DVec3,
}

/// Tetrahedra, still in double precision.
pub(in crate::mesh) struct Filled {
    pub positions: Vec<DVec3>,
    pub tetrahedra: Vec<[u32; 4]>,
    pub warnings: Vec<String>,
}

impl Prepared {
    pub fn new(surface: &TriangleMesh) -> Result<Self, StuffError> {
        check(surface)?;
        let (place, original) = merged(&surface.positions);
        let positions: Vec<Vec3> = original.iter().map(|&v| surface.positions[v as usize]).collect();
        let corners = surface.triangles.iter().map(|t| t.map(|v| place[v as usize]));
        let mut triangles: Vec<[u32; 3]> = corners.filter(|&[a, b, c]| a != b && b != c && c != a).collect();
        let used = || triangles.iter().flatten().map(|&v| positions[v as usize].as_dvec3());
        let [low, high] =
            used().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[l, h], x| [l.min(x), h.max(x)]);
        if triangles.is_empty() {
            return Err(StuffError::EnclosesNothing { open: 0 });
        }
        let open = open_edges(&triangles);
        let middle = used().sum::<DVec3>() / (3 * triangles.len()) as f64;
        let (mut volume, mut area) = (0.0, 0.0);
        for triangle in &triangles {
            let [a, b, c] = triangle.map(|v| positions[v as usize].as_dvec3() - middle);
            volume += a.dot(b.cross(c)) / 6.0;
            area += 0.5 * (b - a).cross(c - a).length();
        }
        let turned = volume < 0.0;
        if turned {
            triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        let tree =
            WindingTree::new(triangles.iter().map(|t| t.map(|v| positions[v as usize].as_dvec3())).collect());
        Ok(Self { positions, triangles, tree, open, turned, volume: volume.abs(), area, low, high })
    }

    /// Warnings about the surface itself.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.open > 0 {
            warnings.push(format!(
                "{} edges of the surface are open, or their faces have inconsistent orientations: holes are closed by the winding number",
                self.open
            ));
        }
        if self.turned {
            warnings.push("the faces of the surface look inwards: they are turned".into());
        }
        let pierced = self.piercings();
        if pierced > 0 {
            warnings.push(format!(
                "the surface passes through itself ({pierced} times an edge through a face): what is inside any part of it is filled"
            ));
        }
        warnings
    }

    /// How often an edge passes through a face.
    pub fn piercings(&self) -> usize {
        let x: Vec<[f32; 3]> = self.positions.iter().map(Vec3::to_array).collect();
        piercings(&Surface::new(self.triangles.clone()), &x).len()
    }

    /// The mean thickness \[m\].
    pub fn thickness(&self) -> f64 {
        2.0 * self.volume / self.area
    }

    /// Estimated number of tetrahedra at a spacing \[m\]: 12 per cube of it, and those that the surface
    /// splits.
    pub fn estimate(&self, spacing: f64) -> f64 {
        12.0 * self.volume / spacing.powi(3) + TETRAHEDRA_PER_SURFACE_SQUARE * self.area / spacing.powi(2)
    }

    /// The spacing with this estimated number \[m\].
    pub fn spacing_for(&self, tetrahedra: f64) -> Result<f64, StuffError> {
        let size = (self.high - self.low).max_element();
        // Flat surfaces, and open ones whose volume is meaningless.
        if (12.0 * self.volume / tetrahedra).cbrt() <= 1e-6 * size {
            return Err(StuffError::EnclosesNothing { open: self.open });
        }
        // By bisection: the estimate falls with the spacing, and each of its two terms alone bounds the
        // spacing.
        let parts = [
            (12.0 * self.volume / tetrahedra).cbrt(),
            (TETRAHEDRA_PER_SURFACE_SQUARE * self.area / tetrahedra).sqrt(),
        ];
        let (mut low, mut high) = (parts[0].max(parts[1]), parts[0] + parts[1]);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            *(if self.estimate(middle) > tetrahedra { &mut low } else { &mut high }) = middle;
        }
        Ok(0.5 * (low + high))
    }

    fn grid(&self, spacing: f64) -> Result<Grid, StuffError> {
        let reach = self.low.abs().max(self.high.abs()).max_element();
        let grid = Grid::new(self.low, self.high, spacing);
        let points = grid.count().unwrap_or(u64::MAX);
        if points <= MAX_POINTS && spacing >= f64::from(MIN_RELATIVE_SPACING) * reach {
            return Ok(grid);
        }
        let mut smallest = spacing.max(f64::from(MIN_RELATIVE_SPACING) * reach);
        while Grid::new(self.low, self.high, smallest).count().is_none_or(|points| points > MAX_POINTS) {
            smallest *= 1.01;
        }
        Err(StuffError::TooFine { spacing: spacing as f32, smallest: (1.0001 * smallest) as f32 })
    }

    /// The tetrahedra at a spacing \[m\].
    pub fn fill(&self, spacing: f64) -> Result<Filled, StuffError> {
        let inside = Enclosed { tree: &self.tree, closed: self.open == 0 };
        let lattice = Lattice::new(self.grid(spacing)?, &inside);
        let Filling { positions, mut tetrahedra, .. } = Filling::new(&lattice);
        // Rounding must not invert tetrahedra, however far from the origin they are.
        let rounded: Vec<DVec3> = positions.iter().map(|x| x.as_vec3().as_dvec3()).collect();
        tetrahedra.retain(|corners| volume(corners, &rounded) > 0.0);
        let mut warnings = Vec::new();
        let whole = total(&tetrahedra, &rounded);
        let Some(dropped) = mend(&mut tetrahedra, &rounded) else {
            return Err(StuffError::NonManifold { spacing: spacing as f32, right: 0.5 * spacing as f32 });
        };
        if dropped > 0 {
            let lost = 100.0 * (1.0 - total(&tetrahedra, &rounded) / whole);
            warnings.push(format!(
                "{dropped} tetrahedra hung on by an edge or a vertex alone and are dropped, {lost:.2} % of the volume: a smaller spacing than {} m would join them",
                shown(spacing)
            ));
        }
        self.drop_pieces(&mut tetrahedra, &rounded, &mut warnings);
        if tetrahedra.is_empty() {
            let size = (self.high - self.low).max_element();
            // Below that, it is flat.
            let right = 0.5 * self.thickness();
            return Err(if self.open > 0 || right < 1e-6 * size {
                StuffError::EnclosesNothing { open: self.open }
            } else {
                StuffError::TooCoarse { spacing: spacing as f32, right: right as f32 }
            });
        }
        let (positions, tetrahedra) = used(&rounded, tetrahedra);
        Ok(Filled { positions, tetrahedra, warnings })
    }

    /// Drops detached components: those that only touch parts of the surface that a larger component also
    /// touches.
    fn drop_pieces(&self, tetrahedra: &mut Vec<[u32; 4]>, positions: &[DVec3], warnings: &mut Vec<String>) {
        let pieces = pieces(tetrahedra, positions);
        if pieces.len() < 2 {
            return;
        }
        let mut sets = Sets::new(self.positions.len());
        self.triangles.iter().for_each(|&[a, b, c]| (sets.unite(a, b), sets.unite(b, c)).0);
        let corners = |t: u32| self.triangles[t as usize].map(|v| self.positions[v as usize]);
        let about = |t: u32| corners(t).iter().fold(Swept::EMPTY, |all, p| all.with(&quad(*p), &quad(*p)));
        let tree = Tree::new(&(0..self.triangles.len() as u32).map(about).collect::<Vec<_>>());
        let mut owner = vec![usize::MAX; self.positions.len()];
        let mut dropped = vec![false; tetrahedra.len()];
        let (mut count, mut gone) = (0, 0);
        for (k, piece) in pieces.iter().enumerate() {
            let mut fresh = false;
            for &t in piece {
                for v in tetrahedra[t as usize] {
                    let x = positions[v as usize];
                    let squared = |t: u32| {
                        let [a, b, c] = corners(t).map(Vec3::as_dvec3);
                        vertex_triangle(&[x, a, b, c]).squared
                    };
                    let Some((t, _)) = tree.nearest(&x.to_array(), f64::INFINITY, squared) else { continue };
                    let part = sets.of(self.triangles[t as usize][0]) as usize;
                    if owner[part] == usize::MAX {
                        owner[part] = k;
                    }
                    fresh |= owner[part] == k;
                }
            }
            if !fresh {
                (count, gone) = (count + 1, gone + piece.len());
                piece.iter().for_each(|&t| dropped[t as usize] = true);
            }
        }
        if count > 0 {
            warnings.push(format!(
                "{count} pieces of {gone} tetrahedra together came off where the surface is thinner than a cell, and are dropped"
            ));
            let mut dropped = dropped.into_iter();
            tetrahedra.retain(|_| dropped.next() == Some(false));
        }
    }
}

impl Filled {
    pub fn mesh(self) -> TetrahedronMesh {
        let positions = self.positions.iter().map(|x| x.as_vec3()).collect();
        TetrahedronMesh { positions, tetrahedra: self.tetrahedra }
    }

    /// \[m³\].
    pub fn volume(&self) -> f64 {
        total(&self.tetrahedra, &self.positions)
    }
}

/// A point in the type that boxes use.
pub(in crate::mesh) fn quad(p: Vec3) -> [f32; 4] {
    [p.x, p.y, p.z, 0.0]
}

fn total(tetrahedra: &[[u32; 4]], positions: &[DVec3]) -> f64 {
    tetrahedra.iter().map(|corners| volume(corners, positions)).sum()
}

/// Only the vertices that are used, in their order.
pub(in crate::mesh) fn used(
    positions: &[DVec3],
    mut tetrahedra: Vec<[u32; 4]>,
) -> (Vec<DVec3>, Vec<[u32; 4]>) {
    let mut number = vec![u32::MAX; positions.len()];
    tetrahedra.iter().flatten().for_each(|&v| number[v as usize] = 0);
    let mut kept = Vec::new();
    for (number, &x) in number.iter_mut().zip(positions) {
        if *number == 0 {
            *number = kept.len() as u32;
            kept.push(x);
        }
    }
    tetrahedra.iter_mut().flatten().for_each(|v| *v = number[*v as usize]);
    (kept, tetrahedra)
}

/// Indices and positions must be valid; shapes may be anything.
fn check(surface: &TriangleMesh) -> Result<(), MeshProblem> {
    let vertices = surface.positions.len();
    if vertices == 0 || surface.triangles.is_empty() {
        return Err(MeshProblem::Empty { vertices, faces: surface.triangles.len() });
    }
    for (face, triangle) in surface.triangles.iter().enumerate() {
        if let Some(&index) = triangle.iter().find(|&&v| v as usize >= vertices) {
            return Err(MeshProblem::FaceIndex { face, index, vertices });
        }
    }
    for (vertex, &position) in surface.positions.iter().enumerate() {
        if !position.is_finite() {
            return Err(MeshProblem::NonFinite { vertex, position });
        }
        if position.abs().max_element() > MAX_COORDINATE {
            return Err(MeshProblem::TooFar { vertex, position });
        }
    }
    Ok(())
}

/// Edges that are traversed in one direction more often than in the other.
fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let mut edges: Vec<([u32; 2], i32)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| ([a.min(b), a.max(b)], if a < b { 1 } else { -1 }))
        .collect();
    edges.sort_unstable();
    let is_open = |same: &&[([u32; 2], i32)]| same.iter().map(|(_, way)| way).sum::<i32>() != 0;
    edges.chunk_by(|a, b| a.0 == b.0).filter(is_open).count()
}
