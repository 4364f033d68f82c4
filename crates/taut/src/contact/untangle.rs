//! Separates cloth that passes through itself, through other cloth or through a mesh obstacle.
//!
//! A state may begin tangled, or become so when an obstacle moves into cloth that cannot give way. Contacts
//! between tangled primitives are [disabled](super::tangle) until they are separated; meanwhile they are
//! moved to the right side:
//!
//! - Two surfaces that intersect have a wrong side (`sides`). Where an edge passes through a triangle, it
//!   moves along the triangle's normal towards its end on the right side, and the triangle moves the other
//!   way. The whole wrong side moves along, and an equal region around it.
//! - Surfaces that are cut, but not in two, slide out of each other: the boundary of one that cuts into the
//!   other moves on along the cut.
//! - Cloth inside a closed mesh moves to the nearest point outside.
//! - Panels that cross beside the seam that joins them are smoothed (`seams`).
//!
//! Surfaces move at `SEPARATION_SPEED` at most, distributed by mass so that the centre of mass stays. This
//! motion is not a force: velocities do not gain from it. It is a function of positions alone. Nothing of
//! this runs while nothing is tangled.

mod field;
mod seams;
mod sides;

use glam::{DVec3, Vec3};

use super::{
    inside::ClosedMesh,
    inspect::{Inspector, Parts},
    intersection::{Piercing, by_vertices},
    surface::Surface,
    tangle::{Labels, Sets, Tangle},
};
use crate::{World, exec::threads::Threads, kernel::lanes::Quad};
use field::Field;

/// Speed at which surfaces are separated \[m/s\].
const SEPARATION_SPEED: f64 = 1.0;

/// Minimum number of rings of vertices that move along with those at a crossing.
const MIN_RINGS: u32 = 2;

/// No index.
const NONE: u32 = u32::MAX;

/// An edge that passes through a triangle.
#[derive(Clone, Debug)]
struct Crossing {
    edge: [u32; 2],
    triangle: [u32; 3],
    /// The edge's index in the surface.
    place: u32,
    /// Connected components of the edge and of the triangle.
    pieces: [u32; 2],
    /// Intersection point \[m\].
    point: DVec3,
    /// Unit normal of the triangle, towards the second end of the edge.
    normal: DVec3,
    /// Whether the edge changes sides: it passes through an odd number of triangles of that piece.
    odd: bool,
    /// Whether one of the two belongs to an obstacle.
    mixed: bool,
}

impl Crossing {
    fn key(&self) -> [u32; 2] {
        let [a, b] = self.pieces;
        [a.min(b), a.max(b)]
    }

    fn vertices(&self) -> [u32; 5] {
        let ([a, b], [c, d, e]) = (self.edge, self.triangle);
        [a, b, c, d, e]
    }
}

/// Connectivity of a surface.
#[derive(Debug)]
struct Tables {
    /// End points of each edge.
    ends: Vec<[u32; 2]>,
    /// The first two triangles at each edge.
    at_edge: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// By vertex: the component that it belongs to.
    piece: Vec<u32>,
    /// Edges and vertices by component.
    edges: Vec<Vec<u32>>,
    vertices: Vec<Vec<u32>>,
    /// By component: the obstacle that it is, if that is closed.
    closed: Vec<Option<usize>>,
    /// Start of the neighbours of each vertex.
    starts: Vec<u32>,
    around: Vec<u32>,
}

impl Tables {
    fn new(world: &World, surface: &Surface) -> Self {
        let count = world.start.len();
        let mut sets = Sets::new(count);
        surface.edges.iter().for_each(|&[a, b]| sets.unite(a, b));
        // Closed meshes may have several vertices at one position, and still be one component.
        let mut first = world.fixtures.start;
        let mut ranges = Vec::new();
        for (obstacle, closed) in world.description.mesh_obstacles.iter().zip(&world.insides) {
            let range = first..first + obstacle.vertex_count();
            first = range.end;
            if closed.is_some() {
                range.clone().for_each(|v| sets.unite(range.start as u32, v as u32));
            }
            ranges.push(range);
        }
        let mut piece = vec![NONE; count];
        let (mut numbers, mut vertices) = (vec![NONE; count], Vec::new());
        for &v in &surface.vertices {
            let root = sets.of(v) as usize;
            if numbers[root] == NONE {
                numbers[root] = vertices.len() as u32;
                vertices.push(Vec::new());
            }
            piece[v as usize] = numbers[root];
            vertices[numbers[root] as usize].push(v);
        }
        let mut edges = vec![Vec::new(); vertices.len()];
        let mut starts = vec![0u32; count + 1];
        for (place, &[a, b]) in surface.edges.iter().enumerate() {
            edges[piece[a as usize] as usize].push(place as u32);
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for v in 0..count {
            starts[v + 1] += starts[v];
        }
        let (mut next, mut around) = (starts.clone(), vec![0; 2 * surface.edges.len()]);
        for &[a, b] in &surface.edges {
            for (v, other) in [(a, b), (b, a)] {
                around[next[v as usize] as usize] = other;
                next[v as usize] += 1;
            }
        }
        let mut at_edge = vec![[NONE; 2]; surface.edges.len()];
        for (t, &[a, b, c]) in surface.triangles.iter().enumerate() {
            for [a, b] in [[a, b], [b, c], [c, a]] {
                if let Ok(place) = surface.edges.binary_search(&[a.min(b), a.max(b)]) {
                    let sides = &mut at_edge[place];
                    if let Some(free) = sides.iter().position(|&side| side == NONE) {
                        sides[free] = t as u32;
                    }
                }
            }
        }
        let closed = vertices.iter().map(|of: &Vec<u32>| {
            let is_in = |range: &std::ops::Range<usize>| range.contains(&(of[0] as usize));
            ranges.iter().position(is_in).filter(|&k| world.insides[k].is_some())
        });
        let closed = closed.collect();
        let (ends, triangles) = (surface.edges.clone(), surface.triangles.clone());
        Self { ends, at_edge, triangles, piece, edges, vertices, closed, starts, around }
    }

    fn range(&self, v: u32) -> std::ops::Range<usize> {
        self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize
    }

    fn around(&self, v: u32) -> &[u32] {
        &self.around[self.range(v)]
    }

    fn is_border(&self, edge: u32) -> bool {
        self.at_edge[edge as usize][1] == NONE
    }

    /// Unit normal of a triangle at an edge.
    fn normal_at(&self, x: &[Quad], edge: u32) -> Option<DVec3> {
        normal(x, *self.triangles.get(self.at_edge[edge as usize][0] as usize)?)
    }

    /// Edges that pass through triangles, grouped by pair of components.
    fn crossings(&self, surface: &Surface, x: &[Quad], found: &[Piercing]) -> Vec<Crossing> {
        let crossing = |piercing: &Piercing| {
            let Piercing { edge, triangle } = *piercing;
            let place = surface.edges.binary_search(&edge).ok()?;
            let [p, q] = edge.map(|v| point(&x[v as usize]));
            let [a, b, c] = triangle.map(|v| point(&x[v as usize]));
            let normal = (b - a).cross(c - a).try_normalize()?;
            let (from, to) = ((p - a).dot(normal), (q - a).dot(normal));
            let share = if from == to { 0.5 } else { (from / (from - to)).clamp(0.0, 1.0) };
            let [fixed, other] = [edge[0], triangle[0]].map(|v| surface.is_fixed(v));
            Some(Crossing {
                edge,
                triangle,
                place: place as u32,
                pieces: [edge[0], triangle[0]].map(|v| self.piece[v as usize]),
                point: p + (q - p) * share,
                normal: if to < from { -normal } else { normal },
                odd: true,
                mixed: fixed != other,
            })
        };
        let mut crossings: Vec<Crossing> = found.iter().filter_map(crossing).collect();
        crossings.sort_by_key(|c| (c.key(), c.place, c.pieces, c.triangle));
        for same in crossings.chunk_by_mut(|a, b| a.place == b.place && a.pieces == b.pieces) {
            let odd = same.len() % 2 == 1;
            same.iter_mut().for_each(|c| c.odd = odd);
        }
        crossings
    }
}

/// Finds edges that pass through triangles, of pairs that must be kept apart, again and again.
#[derive(Debug, Default)]
pub struct Piercings {
    inspector: Option<Inspector>,
    x: Vec<[f32; 3]>,
}

impl Piercings {
    /// All of them, with vertices at `x` \[m\].
    pub fn find(&mut self, threads: &Threads, surface: &Surface, x: &[Quad]) -> Vec<Piercing> {
        self.x.clear();
        self.x.extend(x.iter().map(|q| [q[0], q[1], q[2]]));
        let inspector = self.inspector.get_or_insert_with(|| {
            let mut parts = Parts::new(surface.triangles.clone(), &self.x);
            parts.identity[..surface.identity.len()].copy_from_slice(&surface.identity);
            parts.fixed_from = surface.fixed_from.min(x.len() as u32);
            parts.between_cloth = surface.between_cloth;
            Inspector::new(parts)
        });
        inspector.look(threads, &self.x);
        by_vertices(surface, inspector)
    }
}

/// Moves tangled vertices to the right side.
#[derive(Debug, Default)]
pub struct Untangle {
    tables: Option<Tables>,
    closed: Vec<Option<ClosedMesh>>,
    /// By vertex: its displacement in this step \[m\]. Empty where nothing is tangled.
    moves: Vec<DVec3>,
}

impl Untangle {
    /// Prepares a step of `dt` \[s\] that begins at `old` \[m\], where these edges pass through triangles:
    /// finds what is tangled, and its displacement.
    pub fn begin(
        &mut self,
        world: &World,
        surface: &Surface,
        found: &[Piercing],
        old: &[Quad],
        dt: f32,
        tangle: &mut Tangle,
    ) {
        self.moves.clear();
        tangle.clear();
        if found.is_empty() {
            return;
        }
        self.moves.resize(old.len(), DVec3::ZERO);
        let Self { tables, closed, moves } = self;
        let tables: &Tables = tables.get_or_insert_with(|| Tables::new(world, surface));
        closed.resize(world.insides.len(), None);
        let most = SEPARATION_SPEED * f64::from(dt);
        let mut labels = [Labels::new(old.len()), Labels::new(old.len())];
        let crossings = tables.crossings(surface, old, found);
        for of_pair in crossings.chunk_by(|a, b| a.key() == b.key()) {
            let labels = &mut labels[usize::from(of_pair[0].mixed)];
            for crossing in of_pair {
                let [a, others @ ..] = crossing.vertices();
                others.iter().for_each(|&v| labels.mark(a, v));
            }
            let key = of_pair[0].key();
            let mut field = Field { tables, surface, old, most, moves, labels };
            if let [None, Some(obstacle)] = key.map(|piece| tables.closed[piece as usize]) {
                let mesh = fitted(&mut closed[obstacle], world, obstacle, old);
                field.leave(mesh, key, of_pair);
                continue;
            }
            let (folded, others) = seams::beside(tables, surface, old, of_pair);
            if !folded.is_empty() {
                seams::smooth(&mut field, &folded);
            }
            if !others.is_empty() {
                field.part(key, &others);
            }
        }
        labels.iter_mut().for_each(|labels| labels.grow(|v| tables.range(v), &tables.around));
        tangle.set(labels);
        for (step, x) in moves.iter_mut().zip(old) {
            *step = if x[3] > 0.0 { step.clamp_length_max(most) } else { DVec3::ZERO };
        }
    }

    /// Displaces predicted positions \[m\].
    pub fn draw(&self, x: &mut [Quad]) {
        for (x, step) in x.iter_mut().zip(&self.moves) {
            for k in 0..3 {
                x[k] = (f64::from(x[k]) + step[k]) as f32;
            }
        }
    }

    /// Subtracts from the velocities `v` \[m/s\] after a step of `dt` \[s\] what they gained over the
    /// predicted ones by the displacement.
    pub fn calm(&self, dt: f32, predicted: &[Quad], v: &mut [Quad]) {
        for ((v, predicted), step) in v.iter_mut().zip(predicted).zip(&self.moves) {
            let length = step.length();
            if length > 0.0 {
                let along = *step / length;
                let gained = (point(v) - point(predicted)).dot(along).clamp(0.0, length / f64::from(dt));
                for k in 0..3 {
                    v[k] = (f64::from(v[k]) - gained * along[k]) as f32;
                }
            }
        }
    }
}

/// The closed mesh of an obstacle, with its vertices at `x` \[m\].
fn fitted<'a>(
    own: &'a mut Option<ClosedMesh>,
    world: &World,
    obstacle: usize,
    x: &[Quad],
) -> Option<&'a ClosedMesh> {
    let before: usize = world.description.mesh_obstacles[..obstacle].iter().map(|o| o.vertex_count()).sum();
    let first = world.fixtures.start + before;
    let range = first..first + world.description.mesh_obstacles[obstacle].vertex_count();
    let positions: Vec<Vec3> = x[range].iter().map(|q| Vec3::new(q[0], q[1], q[2])).collect();
    if own.is_none() {
        own.clone_from(&world.insides[obstacle]);
    }
    let mesh = own.as_mut()?;
    mesh.fit(&positions);
    Some(mesh)
}

/// Unit normal of a triangle.
fn normal(x: &[Quad], triangle: [u32; 3]) -> Option<DVec3> {
    let [a, b, c] = triangle.map(|v| point(&x[v as usize]));
    (b - a).cross(c - a).try_normalize()
}

#[inline(always)]
fn point(q: &Quad) -> DVec3 {
    DVec3::new(q[0].into(), q[1].into(), q[2].into())
}
