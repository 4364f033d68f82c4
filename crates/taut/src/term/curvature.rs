//! Bending of cloth that is flat at rest, by the curvature of every triangle, as a sparse matrix.
//!
//! The curvature of a triangle is the tensor Λ = Σ θᵢ/hᵢ nᵢ⊗nᵢ over its edges, with θᵢ the angle at edge i,
//! nᵢ the edge's normal in the plane and hᵢ the mean height of the two triangles over it. The energy is ½ A Λ
//! : D : Λ: unlike a sum over hinges it does not depend on how the mesh lies (a cantilever of hinges is up to
//! 21 % too stiff on grids), and the stiffness D may differ by direction. A border has no angle: the energy
//! is the least over what it could be.
//!
//! With θᵢ nᵢ ≈ Kᵢ x, the linear map of [bend limits](super::bend_limit), the energy is ½ Σ |m x|² with
//! constant maps m of up to six vertices, three a triangle (quadratic bending, as Bergou and others have it
//! for hinges). Summed, they are one matrix B: in each iteration a vertex is pulled by −c dt² Σ B_ij (x_j −
//! x_i), and B is part of the matrix that is solved.

use std::sync::Arc;

use super::{Block, Stage, Step, Term, bend_limit::hinge_map};
use crate::{
    hierarchy::multigrid::{Stiff, StiffMap},
    kernel::{dihedral::dihedral, lanes::Quad},
    mesh::{TriangleMesh, adjacency::Adjacency},
    solve::nearest::tuning::VERTEX_GRAIN,
};

/// Flexural rigidity of cloth \[N m\]: along the warp, along the weft, and that of torsion. Their coupling,
/// which a strip with free sides does not feel, is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigidity {
    /// D₁₁ and D₂₂.
    pub along: [f64; 2],
    /// D₆₆.
    pub torsion: f64,
}

impl Rigidity {
    /// Λᵢ : D : Λⱼ of two directions by their parts along warp and weft.
    fn product(&self, [c, s]: [f64; 2], [d, t]: [f64; 2]) -> f64 {
        let [warp, weft] = self.along;
        warp * c * c * d * d + weft * s * s * t * t + 4.0 * self.torsion * c * s * d * t
    }
}

/// One map m of the curvature of a triangle: vertices and weights \[√(N m)/m\]. Vertices beyond those that it
/// has are the first again, with weight 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvatureElement {
    /// Vertices.
    pub vertices: [u32; 6],
    /// Their weights.
    pub weights: [f64; 6],
}

impl CurvatureElement {
    /// The maps of all triangles of `mesh`, which is flat, with `rigidity` by triangle and the angle of the
    /// warp from its first edge (cosine and sine).
    pub fn all(
        mesh: &TriangleMesh,
        adjacency: &Adjacency,
        areas: &[f64],
        rigidity: impl Fn(usize) -> (Rigidity, [f64; 2]),
    ) -> Vec<Self> {
        let mut hinges_of = vec![[None; 3]; mesh.triangles.len()];
        for (hinge, (vertices, triangles)) in
            adjacency.hinges.iter().zip(&adjacency.hinge_triangles).enumerate()
        {
            for &t in triangles {
                let corners = mesh.triangles[t as usize];
                // The edge opposite of the corner that is not on it.
                if let Some(k) = (0..3).find(|&k| !vertices[..2].contains(&corners[k])) {
                    hinges_of[t as usize][k] = Some(hinge);
                }
            }
        }
        let mut all = Vec::with_capacity(3 * mesh.triangles.len());
        for (t, hinges) in hinges_of.iter().enumerate() {
            let (rigidity, warp) = rigidity(t);
            add_maps(mesh, adjacency, t, hinges, areas[t], rigidity, warp, &mut all);
        }
        all
    }

    /// ½ |m x|² \[J\].
    pub fn energy(&self, x: impl Fn(u32) -> [f64; 3]) -> f64 {
        let mut sum = [0.0; 3];
        for (&v, &weight) in self.vertices.iter().zip(&self.weights) {
            let p = x(v);
            (0..3).for_each(|k| sum[k] += weight * p[k]);
        }
        0.5 * sum.iter().map(|s| s * s).sum::<f64>()
    }
}

/// Adds the maps of triangle `t`, whose edges have these `hinges`, by the corner opposite of each.
#[allow(clippy::too_many_arguments)]
fn add_maps(
    mesh: &TriangleMesh,
    adjacency: &Adjacency,
    t: usize,
    hinges: &[Option<usize>; 3],
    area: f64,
    rigidity: Rigidity,
    [cosine, sine]: [f64; 2],
    all: &mut Vec<CurvatureElement>,
) {
    let corners = mesh.triangles[t];
    let p = |v: u32| mesh.positions[v as usize].as_dvec3();
    let q = corners.map(p);
    let normal = (q[1] - q[0]).cross(q[2] - q[0]).normalize_or_zero();
    let first = (q[1] - q[0]).normalize_or_zero();
    let (x, y) = (first, normal.cross(first));
    // Direction along warp and weft, and 1/h, of each edge's normal: those with hinges first.
    let mut order = [0, 1, 2];
    order.sort_by_key(|&k| hinges[k].is_none());
    let edges = order.map(|k| {
        let edge = q[(k + 2) % 3] - q[(k + 1) % 3];
        let across = edge.cross(normal).normalize_or_zero();
        let (a, b) = (across.dot(x), across.dot(y));
        let height = hinges[k].map_or(2.0 * area / edge.length(), |hinge| {
            let d = dihedral(&adjacency.hinges[hinge].map(|v| p(v).to_array()));
            0.5 * (d.heights[0] + d.heights[1])
        });
        ([a * cosine + b * sine, b * cosine - a * sine], height)
    });
    let count = hinges.iter().flatten().count();
    let mut g = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            g[i][j] = area * rigidity.product(edges[i].0, edges[j].0) / (edges[i].1 * edges[j].1);
        }
    }
    // Edges of the border are free: what is left of the energy once it is least.
    for k in (count..3).rev().filter(|_| count > 0) {
        let row = g[k];
        if row[k] > 0.0 {
            for i in 0..k {
                for j in 0..k {
                    g[i][j] -= row[i] * row[j] / row[k];
                }
            }
        }
    }
    let root = cholesky(&g, count);
    for k in 0..count {
        let (mut vertices, mut weights, mut used) = ([corners[0]; 6], [0.0; 6], 0);
        for i in k..count {
            let Some(hinge) = hinges[order[i]] else { continue };
            let hinge = adjacency.hinges[hinge];
            let own = map_of(&hinge.map(|v| p(v).to_array()));
            for (&v, w) in hinge.iter().zip(own) {
                let at = vertices[..used].iter().position(|&u| u == v).unwrap_or_else(|| {
                    vertices[used] = v;
                    used += 1;
                    used - 1
                });
                weights[at] += root[i][k] * w;
            }
        }
        if used > 0 && weights.iter().any(|w| *w != 0.0) {
            (used..6).for_each(|at| vertices[at] = vertices[0]);
            all.push(CurvatureElement { vertices, weights });
        }
    }
}

/// K of a hinge at these rest positions \[1/m\].
fn map_of(x: &[[f64; 3]; 4]) -> [f64; 4] {
    let p = x.map(glam::DVec3::from_array);
    let edge = p[1] - p[0];
    let feet = [2, 3].map(|k| ((p[k] - p[0]).dot(edge) / edge.length_squared()) as f32);
    hinge_map(feet, dihedral(x).heights.map(|h| h as f32))
}

/// The lower triangle L with L Lᵀ = g, of the first `count` rows and columns. What is not positive counts as
/// nothing.
fn cholesky(g: &[[f64; 3]; 3], count: usize) -> [[f64; 3]; 3] {
    let mut l = [[0.0f64; 3]; 3];
    for j in 0..count {
        let d = g[j][j] - (0..j).map(|k| l[j][k] * l[j][k]).sum::<f64>();
        if d <= 1e-9 * g[j][j].abs() {
            continue;
        }
        l[j][j] = d.sqrt();
        for i in j + 1..count {
            l[i][j] = (g[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>()) / l[j][j];
        }
    }
    l
}

/// Curvatures of a filter. Vertices count from the filter's first.
#[derive(Clone, Debug, Default)]
pub struct Curvature {
    /// Where the entries of each row of B begin.
    starts: Vec<u32>,
    /// Columns and values of B beside the diagonal, in units of the mean mass.
    entries: Vec<(u32, f32)>,
    /// What goes into the matrix.
    maps: Vec<StiffMap>,
}

impl Curvature {
    /// Tables of `elements`, whose vertices count from `first`, of a filter of `count` vertices; `unit` is
    /// what a squared weight is multiplied by \[s²/kg\].
    pub fn new(elements: &[CurvatureElement], first: u32, count: usize, unit: f64) -> Self {
        let maps: Vec<StiffMap> =
            elements.iter().map(|e| (e.vertices.map(|v| v - first), e.weights, unit)).collect();
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        for (vertices, weights, _) in &maps {
            for (&i, &a) in vertices.iter().zip(weights) {
                for (&j, &b) in vertices.iter().zip(weights).filter(|(j, _)| **j != i) {
                    let row = &mut rows[i as usize];
                    let value = unit * a * b;
                    match row.iter_mut().find(|(column, _)| *column == j) {
                        Some((_, sum)) => *sum += value,
                        None if value != 0.0 => row.push((j, value)),
                        None => {}
                    }
                }
            }
        }
        let mut starts = vec![0u32];
        let mut entries = Vec::new();
        for mut row in rows {
            row.sort_by_key(|(column, _)| *column);
            entries.extend(row.iter().map(|&(column, value)| (column, value as f32)));
            starts.push(entries.len() as u32);
        }
        Self { starts, entries, maps }
    }
}

impl Block for Curvature {
    fn name(&self) -> &'static str {
        "curvature"
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.maps.push(&self.maps);
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(CurvatureTerm { tables: self })
    }
}

#[derive(Debug)]
struct CurvatureTerm {
    tables: Arc<Curvature>,
}

impl Term for CurvatureTerm {
    fn allows_finish(&self) -> bool {
        true
    }

    fn pull(&mut self, step: &Step, x: &[Quad], _stage: &Stage, r: &mut [Quad]) {
        let Curvature { starts, entries, .. } = &*self.tables;
        let masses = &step.filter.masses;
        step.settings.threads.each(r, VERTEX_GRAIN, |first, part| {
            for (k, r) in part.iter_mut().enumerate() {
                let i = first + k;
                if masses[i] <= 0.0 {
                    continue;
                }
                let mut pull = [0.0; 4];
                let row = &entries[starts[i] as usize..starts[i + 1] as usize];
                for &(j, value) in row {
                    let other = &x[j as usize];
                    (0..4).for_each(|c| pull[c] += value * (other[c] - x[i][c]));
                }
                (0..3).for_each(|c| r[c] -= step.stiffening * pull[c]);
            }
        });
    }
}
