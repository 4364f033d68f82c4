//! What the filter knows of a body.

use std::{ops::Range, sync::Arc};

use super::{
    RAMP,
    bend::{Bends, stiff_hinges},
    fold::{FoldElement, Folds, stiff_folds},
    links::{Link, stiff_links},
    local::NearestBatch,
    tetrahedra::{Tetrahedra, Weight, stiff_tetrahedra},
    volume::{Ring, rings_of},
};
use crate::{
    hierarchy::{
        Transfer,
        multigrid::{Multigrid, Stiff, StiffHinge, StiffTetrahedron, StiffTriangle},
    },
    kernel::{
        lanes::{BATCH, Quad},
        strain::{self, strain_residual},
        weave::WeaveRange,
    },
    limit::{
        bend::BendElement, strain_tetrahedron::TetrahedronElement, strain_triangle::StrainElement,
        weave::WeaveLanes,
    },
};

/// Tables of one body whose triangles have limits, or of several that touch or are sewn to each other and so
/// must be filtered together. Copies share all that does not depend on which vertices are held.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Its vertices, of all vertices of the world.
    pub vertices: Range<usize>,
    /// Vertices of each of the bodies that are filtered together, counted from the first of them.
    pub(super) bodies: Vec<Range<usize>>,
    pub(super) batches: Arc<Vec<NearestBatch>>,
    /// Limits of the batches along warp, weft and bias; empty if the body has none such.
    weaves: Arc<Vec<WeaveLanes>>,
    pub(super) triangle_count: usize,
    /// Whether any triangle has a lower limit.
    pub(super) two_sided: bool,
    /// Whether triangles are elastic inside their limits.
    pub(super) elastic: bool,
    /// Corners of triangles at each vertex.
    pub(super) corners: Arc<Corners>,
    pub(super) tetrahedra: Arc<Tetrahedra>,
    pub(super) bends: Arc<Bends>,
    pub(super) folds: Arc<Folds>,
    /// Seams that it draws together.
    pub(crate) links: Arc<Vec<Link>>,
    /// How many it would have if none of its seams were closed.
    pub(super) link_count: usize,
    /// By vertex of the filter: the one that stands for it and its twins. Empty if there are none.
    pub(crate) welds: Arc<Vec<u32>>,
    /// Masses in units of their mean; 0 for vertices that are held, and for those that another stands for.
    pub(crate) masses: Vec<f32>,
    /// κ of each factor of the ramp.
    pub(super) stiffness: [f32; RAMP.len()],
    /// Mean length of an edge \[m\].
    pub(super) edge_length: f32,
    /// Volumes around vertices, if any is kept.
    pub(super) rings: Vec<Ring>,
    pub(super) multigrid: Multigrid,
    matrix: Arc<MatrixParts>,
}

/// What the matrices are made from.
#[derive(Debug)]
struct MatrixParts {
    /// Masses of all vertices while they are not held, in units of their mean.
    masses: Vec<f32>,
    /// Rest areas of the triangles \[m²\].
    areas: Vec<f64>,
    tetrahedra: Vec<StiffTetrahedron>,
    /// Whether the volume around its vertices is kept, of each of them.
    keeps_volume: Vec<bool>,
    hinges: Vec<StiffHinge>,
    folds: Vec<StiffHinge>,
    transfers: Vec<Transfer<4>>,
    stiffness: [f64; RAMP.len()],
}

/// What a [`Filter`] is made from.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The body's vertices, of all vertices of the world; those of several bodies, one after the other.
    pub vertices: Range<usize>,
    /// Vertices of each of these bodies, counted from the first of them.
    pub bodies: Vec<Range<usize>>,
    /// Its triangles, with vertices of the world.
    pub elements: &'a [StrainElement],
    /// Their weights in the matrix: rest areas \[m²\]; of several bodies, such that `stiffness` is right for
    /// each.
    pub areas: &'a [f64],
    /// Their stiffness inside the limits, in the units of κ; empty if that is left to the velocity update.
    pub elastic: &'a [f64],
    /// Its tetrahedra, with vertices of the world, and what they weigh.
    pub tetrahedra: (&'a [TetrahedronElement], &'a [Weight]),
    /// Its hinges with limits, with vertices of the world.
    pub bends: &'a [BendElement],
    /// Its hinges that bend inside the filter, with vertices of the world, and the length of a step \[s\].
    pub folds: (&'a [FoldElement], f64),
    /// Pairs of vertices that are drawn together.
    pub links: Vec<Link>,
    /// How many there would be if no seam were closed.
    pub link_count: usize,
    /// By vertex, within `vertices`: the one that stands for it, where twins of closed seams are one; no
    /// element names another. Empty: each stands for itself.
    pub welds: Vec<u32>,
    /// Masses \[kg\] in the order of `vertices`.
    pub masses: Vec<f64>,
    /// Whether each vertex is held.
    pub held: Vec<bool>,
    /// Levels, finest first; vertices in the order of `vertices`.
    pub transfers: Vec<Transfer<4>>,
    /// κ of the ramp's factor 1: see [`stiffness`].
    pub stiffness: f64,
    /// Mean length of an edge \[m\].
    pub edge_length: f32,
}

/// Corners of elements at each vertex, as places in the pulls of all batches.
#[derive(Clone, Debug, Default)]
pub struct Corners {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Corners {
    /// Corners of `elements` at each of `count` vertices.
    pub fn new<const K: usize>(count: usize, elements: &[[u32; K]]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for v in elements.iter().flatten() {
            starts[*v as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut places = vec![0; K * elements.len()];
        for (e, vertices) in elements.iter().enumerate() {
            for (k, v) in vertices.iter().enumerate() {
                let at = &mut next[*v as usize];
                places[*at as usize] = ((e / BATCH * K + k) * BATCH + e % BATCH) as u32;
                *at += 1;
            }
        }
        Self { starts, places }
    }

    /// Places of vertex `i`.
    #[inline(always)]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.places[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// κ of the ramp's factor 1 for a body of `count` vertices, whose rest shape has the largest extent `size`
/// \[m\], in units of its mean mass. Bodies without limited triangles have limited hinges.
pub fn stiffness(count: usize, size: f64, areas: &[f64], bends: &[BendElement]) -> f64 {
    // Each triangle belongs to three hinges, but for borders.
    let area: f64 = match areas {
        [] => bends.iter().map(|e| f64::from(e.area) / 3.0).sum(),
        areas => areas.iter().sum(),
    };
    size * size * count as f64 / area
}

impl Filter {
    /// Builds the tables.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            vertices,
            bodies,
            elements,
            areas,
            elastic,
            tetrahedra,
            bends,
            folds,
            links,
            link_count,
            welds,
            masses,
            held,
            transfers,
            stiffness,
            edge_length,
        } = parts;
        let (first, count) = (vertices.start as u32, vertices.len());
        let mean = masses.iter().sum::<f64>() / count as f64;
        let stiffness = RAMP.map(|c| f64::from(c) * stiffness);

        let indices: Vec<u32> = (0..elements.len() as u32).collect();
        let batches: Vec<_> =
            indices.chunks(BATCH).map(|b| NearestBatch::pack(b, elements, [areas, elastic], first)).collect();
        let woven = elements.iter().any(|e| e.weave.is_some());
        let weaves: Vec<_> =
            indices.chunks(BATCH).filter(|_| woven).map(|b| WeaveLanes::pack(b, elements)).collect();
        let corners: Vec<[u32; 3]> = elements.iter().map(|e| e.vertices.map(|v| v - first)).collect();
        let matrix = MatrixParts {
            masses: masses.iter().map(|m| (m / mean) as f32).collect(),
            areas: areas.to_vec(),
            tetrahedra: stiff_tetrahedra(tetrahedra.0, tetrahedra.1, first),
            keeps_volume: tetrahedra.1.iter().map(|w| w.keeps_volume).collect(),
            hinges: stiff_hinges(bends, first).into_iter().chain(stiff_links(&links)).collect(),
            folds: stiff_folds(folds.0, first, folds.1 * folds.1 / mean),
            transfers,
            stiffness,
        };
        let mut filter = Self {
            multigrid: Multigrid::default(),
            tetrahedra: Arc::new(Tetrahedra::new(tetrahedra.0, tetrahedra.1, first, count)),
            bends: Arc::new(Bends::new(bends, first, count)),
            folds: Arc::new(Folds::new(folds.0, first, count, folds.1 * folds.1 / mean)),
            links: Arc::new(links),
            link_count,
            welds: Arc::new(welds),
            vertices,
            bodies,
            batches: Arc::new(batches),
            weaves: Arc::new(weaves),
            triangle_count: elements.len(),
            two_sided: elements.iter().any(StrainElement::has_lower_limit),
            elastic: !elastic.is_empty(),
            corners: Arc::new(Corners::new(count, &corners)),
            masses: Vec::new(),
            rings: Vec::new(),
            stiffness: stiffness.map(|k| k as f32),
            edge_length,
            matrix: Arc::new(matrix),
        };
        filter.hold(|i| held[i]);
        filter
    }

    /// Gives the triangles of the vertices `vertices` of the world other limits of the same kind, the same in
    /// all directions. Not for filters with twins: theirs may be vertices of another body.
    pub(crate) fn set_range(&mut self, vertices: &Range<usize>, range: strain::Range<f32>) {
        let first = self.vertices.start;
        let count = self.triangle_count;
        for (b, batch) in Arc::make_mut(&mut self.batches).iter_mut().enumerate() {
            for lane in 0..BATCH.min(count - b * BATCH) {
                if vertices.contains(&(first + batch.vertices[0][lane].index())) {
                    (batch.min[lane], batch.max[lane]) = (range.min, range.max);
                }
            }
        }
    }

    /// The same body with other vertices held: those (within the body) that `held` says. Makes new matrices.
    pub fn holding(&self, held: impl Fn(usize) -> bool) -> Self {
        let mut filter = Self {
            vertices: self.vertices.clone(),
            bodies: self.bodies.clone(),
            batches: self.batches.clone(),
            weaves: self.weaves.clone(),
            triangle_count: self.triangle_count,
            two_sided: self.two_sided,
            elastic: self.elastic,
            corners: self.corners.clone(),
            tetrahedra: self.tetrahedra.clone(),
            bends: self.bends.clone(),
            folds: self.folds.clone(),
            links: self.links.clone(),
            link_count: self.link_count,
            welds: self.welds.clone(),
            masses: Vec::new(),
            rings: Vec::new(),
            stiffness: self.stiffness,
            edge_length: self.edge_length,
            multigrid: Multigrid::default(),
            matrix: self.matrix.clone(),
        };
        filter.hold(held);
        filter
    }

    fn hold(&mut self, held: impl Fn(usize) -> bool) {
        let matrix = &self.matrix;
        let masses = matrix.masses.iter().enumerate();
        self.masses = masses.map(|(i, mass)| if held(i) { 0.0 } else { *mass }).collect();
        let kept = matrix.tetrahedra.iter().zip(&matrix.keeps_volume);
        let stiffness = |t: usize| {
            let [mu, lambda] = self.tetrahedra.batches[t / BATCH].elastic.map(|e| f64::from(e[t % BATCH]));
            2.0 * mu + 3.0 * lambda
        };
        let tetrahedra: Vec<_> =
            kept.enumerate().map(|(t, ((v, _, volume), kept))| (*v, *volume, stiffness(t), *kept)).collect();
        self.rings = rings_of(&tetrahedra, &self.masses);
        let triangles: Vec<StiffTriangle> = (0..self.triangle_count)
            .zip(&matrix.areas)
            .map(|(t, &area)| {
                let [a, b, c] = self.rest_of(t as u32).map(f64::from);
                let vertices = self.vertices_of(t as u32).map(|v| v as u32);
                (vertices, [[-a, -(b + c)], [a, b], [0.0, c]], area)
            })
            .collect();
        self.multigrid = Multigrid::new(
            &self.masses,
            &Stiff {
                triangles: &triangles,
                tetrahedra: &matrix.tetrahedra,
                hinges: &matrix.hinges,
                folds: &matrix.folds,
            },
            matrix.transfers.clone(),
            &matrix.stiffness,
        );
    }

    /// Number of bodies that are filtered together.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// Whether vertex `i` of the body is held, or another stands for it.
    pub fn holds(&self, i: usize) -> bool {
        self.masses[i] <= 0.0
    }

    /// Whether another vertex stands for vertex `i` of the body.
    pub fn stands_behind(&self, i: usize) -> bool {
        self.welds.get(i).is_some_and(|&v| v as usize != i)
    }

    /// The vertex that stands for vertex `i` of the body: itself, but for twins of closed seams.
    #[inline(always)]
    pub fn stand_in(&self, i: usize) -> usize {
        self.welds.get(i).map_or(i, |&v| v as usize)
    }

    /// The inverse mass of vertex `i` of the body with all for which it stands, in about the units of the
    /// engine; 0 if it is held.
    pub(super) fn inverse_mass(&self, i: usize) -> f32 {
        if self.masses[i] > 0.0 { self.edge_length * self.edge_length / self.masses[i] } else { 0.0 }
    }

    /// Puts the vertices for which others stand where those are, unless they are held.
    pub fn spread(&self, x: &mut [Quad]) {
        for (i, &stand_in) in self.welds.iter().enumerate() {
            if stand_in as usize != i && x[i][3] > 0.0 {
                let place = x[stand_in as usize];
                x[i][..3].copy_from_slice(&place[..3]);
            }
        }
    }

    /// Vertices of triangle `t`, of the body's.
    pub(super) fn vertices_of(&self, t: u32) -> [usize; 3] {
        let (b, lane) = (t as usize / BATCH, t as usize % BATCH);
        self.batches[b].vertices.map(|v| v[lane].index())
    }

    /// Inverse rest matrix of triangle `t`.
    pub(super) fn rest_of(&self, t: u32) -> [f32; 3] {
        let (b, lane) = (t as usize / BATCH, t as usize % BATCH);
        self.batches[b].rest.map(|r| r[lane])
    }

    /// Limits of triangle `t`, unless it has some along warp, weft and bias.
    pub(super) fn range_of(&self, t: u32) -> strain::Range<f32> {
        let (batch, lane) = (&self.batches[t as usize / BATCH], t as usize % BATCH);
        strain::Range { min: batch.min[lane], max: batch.max[lane] }
    }

    /// Limits of triangle `t` along warp, weft and bias, if it has such.
    pub(super) fn weave_of(&self, t: u32) -> Option<WeaveRange<f32>> {
        self.weaves.get(t as usize / BATCH).map(|weaves| weaves.lane(t as usize % BATCH))
    }

    /// Limits of `count` batches along warp, weft and bias, if the body has such.
    pub(super) fn weaves(&self, first: usize, count: usize) -> Option<&[WeaveLanes]> {
        self.weaves.get(first..first + count).filter(|weaves| !weaves.is_empty())
    }

    /// How far triangle `t` is past its limits.
    pub(super) fn residual_of(&self, t: u32, x: &[Quad]) -> f32 {
        let (corners, rest) = (self.vertices_of(t).map(|v| [x[v][0], x[v][1], x[v][2]]), self.rest_of(t));
        match self.weave_of(t) {
            None => strain_residual(&corners, rest, self.range_of(t)),
            Some(weave) => strain_residual(&corners, rest, weave),
        }
    }

    /// Number of vertices of each level, finest first.
    pub fn level_sizes(&self) -> Vec<usize> {
        self.multigrid.sizes()
    }
}

/// The triangle that a place in the pulls belongs to.
pub(super) fn triangle_of(corner: u32) -> u32 {
    let (block, lane) = (corner as usize / BATCH, corner as usize % BATCH);
    (block / 3 * BATCH + lane) as u32
}
