//! The displayed surface of a body, and its measurements in every frame.

use std::collections::BTreeSet;

use glam::{Vec2, Vec3};
use taut::{
    Body, Cloth, Limit,
    measure::RestTetrahedra,
    mesh::{TriangleMesh, adjacency::Adjacency},
};
use taut_render::{
    color::{
        Coloring, fabric, hair,
        measure::{Gauge, Measured, at_vertices},
        soft::SoftGauge,
    },
    to_bytes,
};

use crate::{
    protocol::{BodyMessage, Colouring},
    wire::GivenWay,
};

/// Strains of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strains {
    /// The largest.
    pub max: f32,
    /// The smallest.
    pub min: f32,
    /// Largest residual past a limit.
    pub residual: f32,
    /// Sum of the residuals of all elements.
    pub residuals: f64,
    /// Largest residual past a lower and past an upper limit.
    pub sides: [f32; 2],
    /// Sums of these residuals.
    pub side_sums: [f64; 2],
    /// Number of elements past a limit.
    pub past: u64,
    /// Number of elements.
    pub elements: usize,
}

/// Residual from which on an element counts as past its limits.
const LEAST_PAST: f32 = 1e-6;

impl Strains {
    /// Of this and another body.
    pub fn with(self, other: Self) -> Self {
        Self {
            max: self.max.max(other.max),
            min: self.min.min(other.min),
            residual: self.residual.max(other.residual),
            residuals: self.residuals + other.residuals,
            sides: [0, 1].map(|side| self.sides[side].max(other.sides[side])),
            side_sums: [0, 1].map(|side| self.side_sums[side] + other.side_sums[side]),
            past: self.past + other.past,
            elements: self.elements + other.elements,
        }
    }

    /// Adds an element's residuals past its lower and its upper limit.
    fn add(&mut self, sides: [f32; 2]) {
        let residual = sides[0].max(sides[1]);
        self.residual = self.residual.max(residual);
        self.residuals += f64::from(residual);
        self.past += u64::from(residual > LEAST_PAST);
        for side in 0..2 {
            self.sides[side] = self.sides[side].max(sides[side]);
            self.side_sums[side] += f64::from(sides[side]);
        }
    }

    /// How far limits of `elements` elements gave way; nothing if none did.
    pub fn given_way(&self, elements: u32) -> Option<GivenWay> {
        let mean = |side: usize| (self.side_sums[side] / self.past.max(1) as f64) as f32;
        let [lower, upper] = [0, 1].map(|side| [mean(side), self.sides[side]]);
        (elements > 0).then_some(GivenWay { elements, lower, upper })
    }

    /// Mean residual.
    pub fn mean_residual(&self) -> f32 {
        if self.elements == 0 { 0.0 } else { (self.residuals / self.elements as f64) as f32 }
    }
}

/// Method of measuring a body.
#[derive(Debug)]
enum Measure {
    Cloth {
        gauge: Gauge,
        edges: Vec<([u32; 2], f32)>,
        edge: Limit,
    },
    Solid {
        rest: RestTetrahedra,
        gauge: SoftGauge,
        limit: Limit,
    },
    /// Segments with their lengths at rest, and the limit on their strain.
    Curves {
        segments: Vec<([u32; 2], f32)>,
        limit: Limit,
    },
    /// Not measured.
    None,
}

/// A displayed body.
#[derive(Debug)]
pub struct ShownBody {
    name: String,
    kind: &'static str,
    /// Which [model](taut::Model) simulates it.
    model: &'static str,
    /// The rest shape of the displayed surface.
    pub mesh: TriangleMesh,
    /// The triangles that are measured, if these are others: those of developable cloth.
    elements: Option<TriangleMesh>,
    /// The change of connectivity that it came with: 0 as it began.
    pub change: u32,
    /// Strands of hair, pieces counted.
    pub strands: usize,
    /// The body's vertex for each displayed one, if only some are displayed.
    vertices: Option<Vec<u32>>,
    measure: Measure,
    color: [u8; 4],
}

impl ShownBody {
    /// Number `index` of the bodies of a description, whose surface is `surface`.
    ///
    /// # Errors
    /// If a triangle has no threads where limits need them.
    pub fn new(body: &Body, index: usize, surface: &[[u32; 3]]) -> Result<Self, String> {
        let (mesh, vertices, measure) = match body {
            Body::Cloth(cloth) => {
                let x = |v: u32| cloth.mesh.positions[v as usize];
                let edges = Adjacency::new(&cloth.mesh.triangles).edges;
                let edges = edges.into_iter().map(|[a, b]| ([a, b], x(a).distance(x(b)))).collect();
                let gauge = Gauge::new(&cloth.element_mesh(), Some(cloth))?;
                (cloth.mesh.clone(), None, Measure::Cloth { gauge, edges, edge: edge_limit(cloth) })
            }
            Body::Solid(solid) => {
                let mut own = vec![u32::MAX; solid.mesh.positions.len()];
                let mut vertices = Vec::new();
                let mut number = |v: u32| {
                    if own[v as usize] == u32::MAX {
                        own[v as usize] = vertices.len() as u32;
                        vertices.push(v);
                    }
                    own[v as usize]
                };
                let triangles = surface.iter().map(|t| t.map(&mut number)).collect();
                let positions = vertices.iter().map(|&v| solid.mesh.positions[v as usize]).collect();
                let mesh = TriangleMesh { positions, triangles, ..TriangleMesh::default() };
                let rest = RestTetrahedra::new(&solid.mesh);
                let gauge = SoftGauge::new(&solid.mesh, Some(solid));
                (mesh, Some(vertices), Measure::Solid { rest, gauge, limit: solid.strain })
            }
            Body::Particles(particles) => {
                let (mesh, segments) = (&particles.mesh, particles.mesh.segments.iter().copied());
                let (mesh, measure) = curves(mesh.positions.clone(), segments, particles.edge);
                (mesh, None, measure)
            }
            Body::Hair(hair) => {
                let positions = hair.groom.positions.clone();
                let whole = hair.whole.as_deref().unwrap_or(&hair.groom.counts);
                let segments = cut_segments(whole, &hair.groom.counts);
                let (mesh, measure) = curves(positions, segments.into_iter(), hair.stretch);
                (mesh, None, measure)
            }
        };
        let model = match body {
            Body::Cloth(cloth) if cloth.model.edge().is_some() => "edge",
            Body::Cloth(cloth) if cloth.midpoints.is_some() => "developable",
            _ if body.pbd().is_some() => "pbd",
            _ => "fem",
        };
        let (name, kind) = (body.name().to_owned(), body.kind());
        let developable = body.as_cloth().filter(|cloth| cloth.midpoints.is_some());
        let elements = developable.map(|cloth| cloth.element_mesh().into_owned());
        let strands = body.as_hair().map_or(0, |hair| hair.groom.counts.len());
        Ok(Self {
            name,
            kind,
            model,
            mesh,
            elements,
            change: 0,
            strands,
            vertices,
            measure,
            color: to_bytes(fabric(index)),
        })
    }

    /// The same, as it came with a change of connectivity.
    #[must_use]
    pub fn with_change(self, change: u32) -> Self {
        Self { change, ..self }
    }

    /// A body with only a surface.
    pub fn plain(name: &str, kind: &'static str, index: usize, mesh: TriangleMesh) -> Self {
        let color = to_bytes(fabric(index));
        let (name, model, measure) = (name.into(), "fem", Measure::None);
        Self {
            name,
            kind,
            model,
            mesh,
            elements: None,
            change: 0,
            strands: 0,
            vertices: None,
            measure,
            color,
        }
    }

    /// A body of curves: `positions` at rest, and the pairs of them that segments join, with a limit on their
    /// strain.
    pub fn curves(
        name: &str,
        kind: &'static str,
        index: usize,
        (positions, segments): (Vec<Vec3>, Vec<[u32; 2]>),
        limit: Limit,
    ) -> Self {
        let (mesh, measure) = curves(positions, segments.into_iter(), limit);
        let color = to_bytes(if kind == "hair" { hair(index) } else { fabric(index) });
        Self { measure, color, ..Self::plain(name, kind, index, mesh) }
    }

    /// Updates changed limits.
    pub fn update(&mut self, body: &Body) {
        match (&mut self.measure, body) {
            (Measure::Cloth { gauge, edge, .. }, Body::Cloth(cloth)) => {
                // A body that was measured before can be measured again.
                if let Ok(new) = Gauge::new(&cloth.element_mesh(), Some(cloth)) {
                    *gauge = new;
                }
                *edge = edge_limit(cloth);
            }
            (Measure::Solid { gauge, limit, .. }, Body::Solid(solid)) => {
                *gauge = SoftGauge::new(&solid.mesh, Some(solid));
                *limit = solid.strain;
            }
            (Measure::Curves { limit, .. }, body) => *limit = body.edge(),
            _ => {}
        }
    }

    /// Its description for the page.
    pub fn message(&self, limited: bool) -> BodyMessage<'_> {
        let [r, g, b, _] = self.color;
        BodyMessage {
            name: &self.name,
            kind: self.kind,
            model: self.model,
            vertices: self.mesh.positions.len(),
            triangles: self.mesh.triangles.len(),
            color: format!("#{r:02x}{g:02x}{b:02x}"),
            limited,
        }
    }

    /// Texture coordinates of vertices, if every vertex has the same in all of its triangles.
    pub fn uvs(&self) -> Option<Vec<Vec2>> {
        let corners = self.mesh.uvs.as_ref()?;
        let mut uvs = vec![Vec2::NAN; self.mesh.positions.len()];
        for (t, corners) in self.mesh.triangles.iter().zip(corners) {
            for (&v, &uv) in t.iter().zip(corners) {
                let known = &mut uvs[v as usize];
                if !known.is_nan() && *known != uv {
                    return None;
                }
                *known = uv;
            }
        }
        uvs.iter().all(|uv| uv.is_finite()).then_some(uvs)
    }

    /// The body's vertex displayed as `vertex`, if any.
    pub fn vertex(&self, vertex: u32) -> Option<u32> {
        match &self.vertices {
            Some(vertices) => vertices.get(vertex as usize).copied(),
            None => (vertex as usize).lt(&self.mesh.positions.len()).then_some(vertex),
        }
    }

    /// The displayed vertex of the body's `vertex`, if any.
    pub fn shown(&self, vertex: u32) -> Option<u32> {
        match &self.vertices {
            Some(vertices) => vertices.iter().position(|&v| v == vertex).map(|v| v as u32),
            None => Some(vertex),
        }
    }

    /// The displayed positions, out of those of the body.
    pub fn positions(&self, all: Vec<Vec3>) -> Vec<Vec3> {
        match &self.vertices {
            Some(vertices) => vertices.iter().map(|&v| all[v as usize]).collect(),
            None => all,
        }
    }

    /// Measures the body at the positions `all`, and colours the displayed surface.
    pub fn measure(&self, all: &[Vec3], colouring: Colouring, range: f32) -> (Strains, Option<Vec<[u8; 4]>>) {
        match &self.measure {
            Measure::None => (Strains::default(), self.unmeasured(colouring)),
            Measure::Cloth { gauge, edges, edge } => {
                let Some(measured) = gauge.measure(all) else {
                    return (Strains::default(), self.unmeasured(colouring));
                };
                let strains = if *edge == Limit::default() {
                    strains(&measured)
                } else {
                    strains_of_edges(edges, all, *edge)
                };
                (strains, self.paint(&measured, colouring, range))
            }
            Measure::Curves { segments, limit } => {
                let strains = strains_of_edges(segments, all, *limit);
                (strains, self.paint_curves(segments, *limit, all, colouring, range))
            }
            Measure::Solid { rest, gauge, limit } => {
                let measured = rest.measure(all, *limit);
                let strains = Strains {
                    max: measured.max_stretch as f32 - 1.0,
                    min: measured.min_stretch as f32 - 1.0,
                    residual: measured.max_residual as f32,
                    residuals: measured.mean_residual * rest.len() as f64,
                    sides: [measured.max_compression_residual, measured.max_stretch_residual]
                        .map(|past| past as f32),
                    // An element is seldom past both: what is past one limit is not past the other.
                    side_sums: [
                        measured.mean_compression_residual,
                        measured.mean_residual - measured.mean_compression_residual,
                    ]
                    .map(|mean| mean.max(0.0) * rest.len() as f64),
                    past: measured.violations,
                    elements: rest.len(),
                };
                let colours = coloring(colouring).map(|coloring| {
                    let values = gauge.at_vertices(all, coloring);
                    let scale = coloring.scale(range);
                    let color =
                        |value| scale.as_ref().map_or(self.color, |scale| to_bytes(scale.color(value)));
                    let paint = |&v: &u32| color(values[v as usize]);
                    self.vertices.iter().flatten().map(paint).collect()
                });
                (strains, colours)
            }
        }
    }

    fn unmeasured(&self, colouring: Colouring) -> Option<Vec<[u8; 4]>> {
        coloring(colouring).map(|_| vec![self.color; self.mesh.positions.len()])
    }

    /// Colours of points: of the segment at each that is furthest from rest.
    fn paint_curves(
        &self,
        segments: &[([u32; 2], f32)],
        limit: Limit,
        x: &[Vec3],
        colouring: Colouring,
        range: f32,
    ) -> Option<Vec<[u8; 4]>> {
        let coloring = coloring(colouring)?;
        let mut measured = vec![Measured::default(); self.mesh.positions.len()];
        for &([a, b], rest) in segments {
            let [below, above, strain] = strain_of_edge([a, b].map(|v| x[v as usize]), rest, limit);
            let residual = below.max(above);
            // One strain stands for both: it has no direction in a surface.
            let own = Measured { strains: [strain; 2], residual, residuals: [below, above], angle: 0.0 };
            for v in [a, b] {
                let point = &mut measured[v as usize];
                if strain.abs() > point.strains[0].abs() {
                    *point = own;
                }
            }
        }
        Some(measured.iter().map(|m| to_bytes(coloring.color(m, range))).collect())
    }

    fn paint(&self, measured: &[Measured], colouring: Colouring, range: f32) -> Option<Vec<[u8; 4]>> {
        let coloring = coloring(colouring)?;
        let elements = self.elements.as_ref().unwrap_or(&self.mesh);
        if coloring == Coloring::Hsv {
            let colors: Vec<Vec3> = measured.iter().map(|m| coloring.color(m, range)).collect();
            let part = |k: usize| at_vertices(&colors.iter().map(|c| c[k]).collect::<Vec<_>>(), elements);
            let [r, g, b] = [part(0), part(1), part(2)];
            return Some((0..r.len()).map(|v| to_bytes(Vec3::new(r[v], g[v], b[v]))).collect());
        }
        let scale = coloring.scale(range)?;
        let values: Vec<f32> = measured.iter().map(|m| coloring.value(m)).collect();
        Some(at_vertices(&values, elements).into_iter().map(|v| to_bytes(scale.color(v))).collect())
    }
}

/// Edge limits, if only these limit strain.
fn edge_limit(cloth: &Cloth) -> Limit {
    if cloth.strain_bounds() == Limit::default() { cloth.edge } else { Limit::default() }
}

/// The renderer's name for it.
pub fn coloring(colouring: Colouring) -> Option<Coloring> {
    match colouring {
        Colouring::None => None,
        Colouring::Strain => Some(Coloring::Strain),
        Colouring::Residual => Some(Coloring::Residual),
        Colouring::Hsv => Some(Coloring::Hsv),
    }
}

fn strains(measured: &[Measured]) -> Strains {
    let mut all = Strains { elements: measured.len(), ..Strains::default() };
    for m in measured {
        all.max = all.max.max(m.strains[0]);
        all.min = all.min.min(m.strains[1]);
        all.add(m.residuals);
    }
    all
}

fn strains_of_edges(edges: &[([u32; 2], f32)], x: &[Vec3], limit: Limit) -> Strains {
    let mut all = Strains { elements: edges.len(), ..Strains::default() };
    for &([a, b], rest) in edges {
        let [below, above, strain] = strain_of_edge([a, b].map(|v| x[v as usize]), rest, limit);
        all.max = all.max.max(strain);
        all.min = all.min.min(strain);
        all.add([below, above]);
    }
    all
}

/// Strain past the lower and the upper limit, and the strain itself.
fn strain_of_edge([a, b]: [Vec3; 2], rest: f32, limit: Limit) -> [f32; 3] {
    let strain = a.distance(b) / rest - 1.0;
    let above = limit.max.map_or(0.0, |max| strain - max);
    let below = limit.min.map_or(0.0, |min| min - strain);
    [below.max(0.0), above.max(0.0), strain]
}

/// The segments of strands with `whole` points each. Those that are cut, so that strands have `counts`
/// points, join the point behind them with itself: others keep their numbers.
pub fn cut_segments(whole: &[u32], counts: &[u32]) -> Vec<[u32; 2]> {
    let starts = |counts: &[u32]| -> BTreeSet<u32> {
        let ends = counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        [0].into_iter().chain(ends).collect()
    };
    let (roots, cuts) = (starts(whole), starts(counts));
    let points = whole.iter().sum::<u32>();
    let ends = (0..points).filter(|v| !roots.contains(v));
    ends.map(|v| if cuts.contains(&v) { [v, v] } else { [v - 1, v] }).collect()
}

/// Curves as triangles without area, which the page shows as lines, and how they are measured. Segments
/// without length are not.
fn curves(
    positions: Vec<Vec3>,
    segments: impl Iterator<Item = [u32; 2]> + Clone,
    limit: Limit,
) -> (TriangleMesh, Measure) {
    let length = |[a, b]: [u32; 2]| positions[a as usize].distance(positions[b as usize]);
    let measured = segments.clone().map(|segment| (segment, length(segment)));
    let measure = Measure::Curves { segments: measured.filter(|(_, length)| *length > 0.0).collect(), limit };
    let triangles = segments.map(|[a, b]| [a, b, b]).collect();
    (TriangleMesh { positions, triangles, ..TriangleMesh::default() }, measure)
}
