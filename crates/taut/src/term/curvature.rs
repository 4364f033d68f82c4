//! Bending of cloth that is flat at rest, by the curvature of every triangle, as a sparse matrix.
//!
//! The curvature of a triangle is the tensor Λ = Σ θᵢ/hᵢ nᵢ⊗nᵢ over its edges, with θᵢ the angle at edge i,
//! nᵢ the edge's normal in the plane and hᵢ the mean height of the two triangles over it. The energy is ½ A Λ
//! : D : Λ, a form ½ θᵀ C θ: the stiffness D may differ by direction, and on grids it is exact, where a sum
//! over hinges is up to 21 % too stiff. A border has no angle: the energy is the least over what it could be.
//!
//! On irregular meshes this is too stiff as well, by 7 to 17 %. So the forms C are fitted (`calibrate`) to
//! bending of constant curvature, once, when the world is built. After that clamped strips sag as the
//! elastica does, to 1 % at one step a frame, on regular, jittered and Delaunay meshes and on grids at an
//! angle to the strip. What is left: alternating diagonals are 13 % too stiff in pure twist along the grid
//! (they were 100 %) and a few per cent too soft where cells are long and of unequal size.
//!
//! With θᵢ nᵢ ≈ Kᵢ x, the linear map of [bend limits](super::bend_limit), the energy is ½ Σ |m x|² with
//! constant maps m of up to six vertices, three a triangle (quadratic bending, as Bergou and others have it
//! for hinges). Summed, they are one matrix B: in each iteration a vertex is pulled by −c dt² Σ B_ij (x_j −
//! x_i), and B is part of the matrix that is solved. Damping adds B (x − x_old) τ/dt, with τ the time by
//! which the moment runs ahead of the curvature; whoever turns or moves as a whole is not damped.

mod calibrate;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rayon::prelude::*;

use self::calibrate::calibrate;
use super::{Block, Stage, Step, Term, bend_limit::hinge_map, corners::Pulling};
use crate::{
    exec::sparse::{Pattern, Product},
    hierarchy::multigrid::{Stiff, StiffMap, StiffMaps, share},
    kernel::{dihedral::dihedral, lanes::Quad},
    mesh::{TriangleMesh, adjacency::Adjacency},
    solve::nearest::tuning::{BENDING_LAG, BENDING_LAG_MOST, STIFFEST_BENDING, VERTEX_GRAIN},
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
    /// The same as a number \[N m\], the largest of the three, times rigidities by direction. These are
    /// rounded to 16 bits, an error of 8e-6, so that they do not change with a factor on the stiffness.
    pub(crate) fn split(&self) -> (f64, Self) {
        let [warp, weft] = self.along;
        let largest = warp.max(weft).max(self.torsion);
        let part = |rigidity: f64| if largest > 0.0 { rounded(rigidity / largest) } else { 0.0 };
        (largest, Self { along: self.along.map(part), torsion: part(self.torsion) })
    }

    /// Λᵢ : D : Λⱼ of two directions by their parts along warp and weft.
    fn product(&self, [c, s]: [f64; 2], [d, t]: [f64; 2]) -> f64 {
        let [warp, weft] = self.along;
        warp * c * c * d * d + weft * s * s * t * t + 4.0 * self.torsion * c * s * d * t
    }
}

/// `number`, which is at least 0, with 16 bits of its fraction.
fn rounded(number: f64) -> f64 {
    const LEFT_OUT: u32 = 52 - 16;
    f64::from_bits((number.to_bits() + (1 << (LEFT_OUT - 1))) >> LEFT_OUT << LEFT_OUT)
}

/// One map m of the curvature of a triangle: vertices and weights \[√(N m)/m\]. Vertices beyond those that it
/// has are the first again, with weight 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvatureElement {
    /// Vertices.
    pub vertices: [u32; 6],
    /// Their weights.
    pub weights: [f64; 6],
    /// The time by which the moment runs ahead of the curvature \[s\].
    pub damping: f32,
}

impl CurvatureElement {
    /// The maps of all triangles of `mesh`, which is flat, with `rigidity` by triangle and the angle of the
    /// warp from its first edge (cosine and sine).
    pub fn all(
        mesh: &TriangleMesh,
        adjacency: &Adjacency,
        areas: &[f64],
        rigidity: impl Fn(usize) -> (Rigidity, [f64; 2]) + Sync,
    ) -> Vec<Self> {
        let hinges: Vec<HingeShape> =
            adjacency.hinges.par_iter().map(|&vertices| HingeShape::new(mesh, vertices)).collect();
        let mut forms: Vec<Form> = hinges_of(mesh, adjacency)
            .into_par_iter()
            .enumerate()
            .map(|(t, own)| Form::new(mesh, &hinges, t, own, areas[t], rigidity(t)))
            .collect();
        calibrate(&mut forms, &hinges, &adjacency.hinge_triangles, rigidity);
        let mut all = Vec::with_capacity(3 * mesh.triangles.len());
        for (form, corners) in forms.iter().zip(&mesh.triangles) {
            form.add_maps(adjacency, &hinges, corners[0], &mut all);
        }
        all
    }

    /// Its share of the matrix in steps of `dt` \[s\], with damping; vertices count from `first`, and `unit`
    /// is what a squared weight is multiplied by \[s²/kg\].
    fn map(&self, first: u32, unit: f64, dt: f64) -> StiffMap {
        let lag = f64::from(self.damping) / dt;
        (self.vertices.map(|v| v - first), self.weights, unit * (1.0 + lag))
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

/// The hinges at the edges of each triangle, by the corner opposite of each.
fn hinges_of(mesh: &TriangleMesh, adjacency: &Adjacency) -> Vec<[Option<u32>; 3]> {
    let mut all = vec![[None; 3]; mesh.triangles.len()];
    for (hinge, (vertices, triangles)) in adjacency.hinges.iter().zip(&adjacency.hinge_triangles).enumerate()
    {
        for &t in triangles {
            let corners = mesh.triangles[t as usize];
            // The edge opposite of the corner that is not on it.
            if let Some(k) = (0..3).find(|&k| !vertices[..2].contains(&corners[k])) {
                all[t as usize][k] = Some(hinge as u32);
            }
        }
    }
    all
}

/// A hinge at rest: length \[m\], and heights \[m\] and feet (from 0 to 1 along the edge) of its wings.
struct HingeShape {
    length: f64,
    heights: [f64; 2],
    feet: [f64; 2],
}

impl HingeShape {
    fn new(mesh: &TriangleMesh, vertices: [u32; 4]) -> Self {
        let p = vertices.map(|v| mesh.positions[v as usize].as_dvec3());
        let edge = p[1] - p[0];
        Self {
            length: edge.length(),
            heights: dihedral(&p.map(|p| p.to_array())).heights,
            feet: [2, 3].map(|k| (p[k] - p[0]).dot(edge) / edge.length_squared()),
        }
    }

    /// The mean height of its wings \[m\].
    fn height(&self) -> f64 {
        0.5 * (self.heights[0] + self.heights[1])
    }

    /// K \[1/m\].
    fn map(&self) -> [f64; 4] {
        hinge_map(self.feet.map(|f| f as f32), self.heights.map(|h| h as f32))
    }
}

/// The energy ½ θᵀ C θ of a triangle over the angles θ of its hinges.
struct Form {
    /// Its hinges; fewer than three at a border.
    hinges: [u32; 3],
    count: usize,
    /// C \[N m\], its first `count` rows and columns.
    stiffness: [[f64; 3]; 3],
    /// Twice the angle of each edge from the first, as cosine and sine: the `count` with hinges, then those
    /// of the border.
    directions: [[f64; 2]; 3],
}

impl Form {
    /// The form of triangle `t`, whose edges have these hinges, by the corner opposite of each.
    fn new(
        mesh: &TriangleMesh,
        shapes: &[HingeShape],
        t: usize,
        hinges: [Option<u32>; 3],
        area: f64,
        (rigidity, [cosine, sine]): (Rigidity, [f64; 2]),
    ) -> Self {
        let q = mesh.triangles[t].map(|v| mesh.positions[v as usize].as_dvec3());
        let normal = (q[1] - q[0]).cross(q[2] - q[0]).normalize_or_zero();
        let first = (q[1] - q[0]).normalize_or_zero();
        let (x, y) = (first, normal.cross(first));
        // Direction along warp and weft, and 1/h, of each edge's normal: those with hinges first.
        let mut order = [0, 1, 2];
        order.sort_by_key(|&k| hinges[k].is_none());
        let mut directions = [[0.0; 2]; 3];
        let edges = [0, 1, 2].map(|i| {
            let k = order[i];
            let edge = q[(k + 2) % 3] - q[(k + 1) % 3];
            let across = edge.cross(normal).normalize_or_zero();
            let (a, b) = (across.dot(x), across.dot(y));
            // The edge is at right angles to its normal (a, b).
            directions[i] = [b * b - a * a, -2.0 * a * b];
            let height =
                hinges[k].map_or(2.0 * area / edge.length(), |hinge| shapes[hinge as usize].height());
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
        let hinges = order.map(|k| hinges[k].unwrap_or(u32::MAX));
        Self { hinges, count, stiffness: g, directions }
    }

    /// Adds the maps of the triangle, which has this corner.
    fn add_maps(
        &self,
        adjacency: &Adjacency,
        shapes: &[HingeShape],
        corner: u32,
        all: &mut Vec<CurvatureElement>,
    ) {
        let root = cholesky(&self.stiffness, self.count);
        for k in 0..self.count {
            let (mut vertices, mut weights, mut used) = ([corner; 6], [0.0; 6], 0);
            for i in k..self.count {
                let hinge = self.hinges[i] as usize;
                for (&v, w) in adjacency.hinges[hinge].iter().zip(shapes[hinge].map()) {
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
                all.push(CurvatureElement { vertices, weights, damping: 0.0 });
            }
        }
    }
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

/// The part of the stiffness that single precision carries: all of it, but for cloth with cells of less than
/// about a millimetre.
fn carried(elements: &[CurvatureElement], first: u32, count: usize, [unit, dt]: [f64; 2]) -> f64 {
    let mut diagonal = vec![0.0f64; count];
    for e in elements {
        for (&v, w) in e.vertices.iter().zip(e.weights) {
            diagonal[(v - first) as usize] += unit * (1.0 + f64::from(e.damping) / dt) * w * w;
        }
    }
    let largest = diagonal.into_iter().fold(0.0, f64::max);
    if largest > STIFFEST_BENDING { STIFFEST_BENDING / largest } else { 1.0 }
}

/// Curvatures of a filter. Vertices count from the filter's first.
#[derive(Clone, Debug, Default)]
pub struct Curvature {
    /// Where B has entries beside the diagonal.
    pattern: Arc<Pattern>,
    /// These, in units of the mean mass.
    values: Vec<f32>,
    /// What it is made of; vertices count from `first`.
    elements: Arc<Vec<CurvatureElement>>,
    first: u32,
    /// What a squared weight is multiplied by \[s²/kg\], and the length of a step \[s\].
    unit: f64,
    dt: f64,
    /// By vertex: the fraction of B that damping has added to it.
    damping: Vec<f32>,
    /// The diagonal of B, in units of the mean mass.
    diagonal: Vec<f32>,
}

impl Curvature {
    /// Tables of `elements`, whose vertices count from `first`, of a filter of `count` vertices; `unit` is
    /// what a squared weight is multiplied by \[s²/kg\], `dt` the length of a step \[s\]. What is the same as
    /// in `like` is shared with it.
    pub fn new(
        elements: &[CurvatureElement],
        first: u32,
        count: usize,
        [unit, dt]: [f64; 2],
        like: Option<&Self>,
    ) -> Self {
        let unit = unit * carried(elements, first, count, [unit, dt]);
        let elements = match like.map(|like| &like.elements) {
            Some(same) if same.as_slice() == elements => same.clone(),
            _ => Arc::new(elements.to_vec()),
        };
        let mut damping = vec![0.0; count];
        for e in elements.iter() {
            let lag = f64::from(e.damping) / dt;
            e.vertices.iter().for_each(|v| damping[(v - first) as usize] = (lag / (1.0 + lag)) as f32);
        }
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        for (vertices, weights, unit) in elements.iter().map(|e| e.map(first, unit, dt)) {
            for (&i, &a) in vertices.iter().zip(&weights) {
                for (&j, &b) in vertices.iter().zip(&weights).filter(|(j, _)| **j != i) {
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
        let (mut pattern, mut values) = (Pattern::default(), Vec::new());
        // Rows sum to nothing: what moves as a whole does not bend.
        let diagonal =
            rows.iter().map(|row| -row.iter().map(|(_, value)| value).sum::<f64>() as f32).collect();
        for mut row in rows {
            row.sort_by_key(|(column, _)| *column);
            pattern.push(row.iter().map(|(column, _)| *column));
            values.extend(row.iter().map(|&(_, value)| value as f32));
        }
        values.shrink_to_fit();
        let pattern = share(pattern, like.map(|like| &like.pattern));
        Self { pattern, values, elements, first, unit, dt, damping, diagonal }
    }
}

impl StiffMaps for Curvature {
    fn each(&self, f: &mut dyn FnMut(StiffMap)) {
        self.elements.iter().for_each(|e| f(e.map(self.first, self.unit, self.dt)));
    }
}

impl Block for Curvature {
    fn name(&self) -> &'static str {
        "curvature"
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.maps.push(self);
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        let is_damped = self.damping.iter().any(|share| *share > 0.0);
        Box::new(CurvatureTerm {
            held: vec![[0.0; 4]; if is_damped { self.damping.len() } else { 0 }],
            pulls: vec![[0.0; 4]; self.damping.len()],
            age: None,
            lag: 1,
            tables: self,
            stiffening: 1.0,
        })
    }
}

#[derive(Debug)]
struct CurvatureTerm {
    tables: Arc<Curvature>,
    /// What damping pulls because of where vertices began the step: that share of B times their positions.
    /// Empty if there is no damping.
    held: Vec<Quad>,
    /// What vertices are pulled by, if that may be some iterations old.
    pulls: Vec<Quad>,
    /// How many iterations old it is; none where it is of another step, or made anew in each.
    age: Option<u32>,
    /// After how many it is made anew.
    lag: u32,
    /// Factor on the stiffness in this step.
    stiffening: f32,
}

/// What vertices are pulled by, while a step goes on.
#[derive(Clone, Copy, Debug)]
pub struct CurvaturePulls<'a> {
    product: Product<'a>,
    held: &'a [Quad],
    stiffening: f32,
}

impl CurvaturePulls<'_> {
    /// Adds what vertex `i` is pulled by to `sum`.
    #[inline(always)]
    pub fn add(&self, i: usize, sum: &mut Quad) {
        let (pull, held) = (self.product.differences(i), self.held.get(i).unwrap_or(&[0.0; 4]));
        // The fourth component of x is no position.
        (0..3).for_each(|c| sum[c] -= self.stiffening * (pull[c] - held[c]));
    }
}

impl Curvature {
    /// How many iterations may go by with the same pulls, where the matrix has this `diagonal`.
    pub(crate) fn lag(&self, diagonal: &[f32]) -> u32 {
        let share = |(own, all): (&f32, &f32)| if *all > 0.0 { own / all } else { 0.0 };
        let largest = self.diagonal.iter().zip(diagonal).map(share).fold(0.0, f32::max);
        ((BENDING_LAG / largest.max(1e-6)) as u32).clamp(1, BENDING_LAG_MOST)
    }

    /// What vertex `i` is pulled by at `x`, in a step that began at `old`.
    pub(crate) fn pull(&self, i: usize, x: &[Quad], old: &[Quad]) -> Quad {
        let (now, before) = (self.times(x).differences(i), self.times(old).differences(i));
        std::array::from_fn(|c| self.damping[i] * before[c] - now[c])
    }

    /// B times `x`.
    fn times<'a>(&'a self, x: &'a [Quad]) -> Product<'a> {
        self.pattern.times(&self.values, x)
    }
}

impl Term for CurvatureTerm {
    fn allows_finish(&self) -> bool {
        true
    }

    fn begin(&mut self, step: &Step, _x: &mut [Quad], _kept: &mut [f32]) {
        (self.stiffening, self.age) = (step.stiffening, None);
        let (tables, old) = (&*self.tables, step.around.old);
        let before = tables.times(old);
        step.settings.threads.each(&mut self.held, VERTEX_GRAIN, |first, part| {
            for (k, held) in part.iter_mut().enumerate() {
                let share = tables.damping[first + k];
                *held = before.differences(first + k).map(|pull| share * pull);
            }
        });
    }

    fn local(&mut self, step: &Step, x: &mut [Quad], stage: &Stage, _measure: bool) {
        // Where nothing else holds cloth up, or something touches it, bending is not to wait.
        self.lag = if stage.over_relaxation > 1.0 { step.filter.bending_lag[stage.index] } else { 1 };
        if self.lag == 1 {
            self.age = None;
            return;
        }
        if let Some(age) = self.age.as_mut().filter(|age| **age + 1 < self.lag) {
            *age += 1;
            return;
        }
        self.age = Some(0);
        let Self { tables, held, pulls, stiffening, .. } = self;
        let rows = CurvaturePulls { product: tables.times(x), held, stiffening: *stiffening };
        step.settings.threads.each(pulls, VERTEX_GRAIN, |first, part| {
            for (k, pull) in part.iter_mut().enumerate() {
                *pull = [0.0; 4];
                rows.add(first + k, pull);
            }
        });
    }

    fn pulling<'a>(&'a self, x: &'a [Quad]) -> Option<Pulling<'a>> {
        let Self { tables, held, pulls, lag, stiffening, .. } = self;
        Some(match lag {
            1 => Pulling::Rows(CurvaturePulls { product: tables.times(x), held, stiffening: *stiffening }),
            _ => Pulling::Vertices(pulls),
        })
    }
}
