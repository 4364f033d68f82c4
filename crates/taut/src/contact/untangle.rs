//! What passes through itself, through other cloth or through a mesh obstacle is drawn apart.
//!
//! A state may begin tangled, or be forced to it by an obstacle that moves into cloth which cannot give way.
//! Parts that are tangled are
//! [not kept apart](super::tangle) until they have come apart, and are moved to where they belong meanwhile:
//!
//! - Two surfaces that pass through each other have a wrong side (`sides`). Where an edge passes through a
//!   triangle, it moves along the triangle's normal to its end on the right side, and the triangle the other
//!   way. All that is wrong goes along, and as much around it.
//! - Surfaces that are cut, but not in two, slide out of each other: the rim of one that cuts into the other
//!   goes on along the cut.
//! - Cloth inside a closed mesh goes to the nearest point outside.
//!
//! Surfaces move at most at `SPEED`, shared by mass so that the centre of mass stays. What moves them is no
//! force: velocities do not gain what they were moved by. All follows from positions alone. Where nothing is
//! tangled nothing of this runs.

mod sides;

use glam::{DVec3, Vec3};

use super::{
    inside::ClosedMesh,
    intersection::{Piercing, piercings},
    surface::Surface,
    tangle::{Labels, Sets, Tangle},
};
use crate::{World, kernel::lanes::Quad};

/// Speed at which surfaces are drawn apart \[m/s\].
const SPEED: f64 = 1.0;

/// Least number of rings of vertices that go along with those at a crossing.
const RINGS: u32 = 2;

/// No place.
const NONE: u32 = u32::MAX;

/// An edge that passes through a triangle.
#[derive(Clone, Debug)]
struct Crossing {
    edge: [u32; 2],
    triangle: [u32; 3],
    /// The edge's place in the surface.
    place: u32,
    /// Pieces that the edge and the triangle belong to.
    pieces: [u32; 2],
    /// Where \[m\].
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

/// What hangs together with what on a surface.
#[derive(Debug)]
struct Tables {
    /// Ends of each edge.
    ends: Vec<[u32; 2]>,
    /// The first two triangles at each edge.
    at_edge: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// By vertex: the piece that it belongs to.
    piece: Vec<u32>,
    /// Edges and vertices by piece.
    edges: Vec<Vec<u32>>,
    vertices: Vec<Vec<u32>>,
    /// By piece: the obstacle that it is, if that is closed.
    closed: Vec<Option<usize>>,
    /// Where the neighbours of each vertex begin.
    starts: Vec<u32>,
    around: Vec<u32>,
}

impl Tables {
    fn new(world: &World, surface: &Surface) -> Self {
        let count = world.start.len();
        let mut sets = Sets::new(count);
        surface.edges.iter().for_each(|&[a, b]| sets.unite(a, b));
        // Closed meshes may have several vertices in one place, and are one piece nevertheless.
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

    /// Edges that pass through triangles, those of two pieces together.
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

/// All edges that pass through triangles, of pairs that are to be kept apart; positions `x` \[m\].
pub fn pierced(surface: &Surface, x: &[Quad]) -> Vec<Piercing> {
    let x: Vec<[f32; 3]> = x.iter().map(|q| [q[0], q[1], q[2]]).collect();
    let mut found = piercings(surface, &x);
    found.retain(|p| surface.concerns(p.edge[0], p.triangle[0]));
    found
}

/// Moves what is tangled to where it belongs.
#[derive(Debug, Default)]
pub struct Untangle {
    tables: Option<Tables>,
    closed: Vec<Option<ClosedMesh>>,
    /// By vertex: how it is moved in this step \[m\]. Empty where nothing is tangled.
    moves: Vec<DVec3>,
}

impl Untangle {
    /// Prepares a step of `dt` \[s\] that begins at `old` \[m\], where these edges pass through triangles:
    /// finds what is tangled, and how it is to be moved.
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
        let most = SPEED * f64::from(dt);
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
            } else {
                field.part(key, of_pair);
            }
        }
        labels.iter_mut().for_each(|labels| labels.grow(|v| tables.range(v), &tables.around));
        tangle.set(labels);
        for (step, x) in moves.iter_mut().zip(old) {
            *step = if x[3] > 0.0 { step.clamp_length_max(most) } else { DVec3::ZERO };
        }
    }

    /// Moves predicted positions \[m\].
    pub fn draw(&self, x: &mut [Quad]) {
        for (x, step) in x.iter_mut().zip(&self.moves) {
            for k in 0..3 {
                x[k] = (f64::from(x[k]) + step[k]) as f32;
            }
        }
    }

    /// Takes from the velocities `v` \[m/s\] after a step of `dt` \[s\] what they gained over the predicted
    /// ones by being moved.
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

/// The closed mesh of an obstacle, where its vertices are in `x` \[m\].
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

/// What moves two pieces apart.
struct Field<'a> {
    tables: &'a Tables,
    surface: &'a Surface,
    old: &'a [Quad],
    /// The furthest that surfaces move against each other \[m\].
    most: f64,
    moves: &'a mut [DVec3],
    labels: &'a mut Labels,
}

/// Where a vertex should go.
#[derive(Clone, Copy, Debug, Default)]
struct Pull {
    /// Sum of unit vectors.
    along: DVec3,
    /// Sum of the places of crossings that it comes from \[m\].
    from: DVec3,
    /// Of how many.
    count: f64,
}

impl Pull {
    fn add(&mut self, along: DVec3, from: DVec3) {
        *self = Self { along: self.along + along, from: self.from + from, count: self.count + 1.0 };
    }

    fn mean(&self) -> (DVec3, DVec3) {
        let count = self.count.max(1.0);
        ((self.along / count).clamp_length_max(1.0), self.from / count)
    }
}

impl Field<'_> {
    /// Two pieces, or one and itself, that pass through each other.
    fn part(&mut self, pieces: [u32; 2], crossings: &[Crossing]) {
        let wrong = sides::wrong(self.tables, self.old, pieces, crossings);
        let mut pulls = vec![Pull::default(); self.old.len()];
        let mut seeds = Vec::new();
        let mut plant = |crossing: &Crossing, along: DVec3| {
            for (k, v) in crossing.vertices().into_iter().enumerate() {
                let pull = &mut pulls[v as usize];
                if pull.count == 0.0 {
                    seeds.push(v);
                }
                pull.add(if k < 2 { along } else { -along }, crossing.point);
            }
        };
        let tells = |c: &Crossing| c.odd && wrong[c.edge[0] as usize] != wrong[c.edge[1] as usize];
        let layers = if crossings.iter().all(tells) { None } else { self.layers(pieces, crossings) };
        if let Some(up) = layers {
            crossings.iter().zip(up).for_each(|(crossing, up)| plant(crossing, up));
            self.spread(pieces, &wrong, &mut pulls, seeds, RINGS, crossings);
            return;
        }
        for crossing in crossings.iter().filter(|c| tells(c)) {
            let first = wrong[crossing.edge[0] as usize];
            plant(crossing, if first { crossing.normal } else { -crossing.normal });
        }
        let mut rings = RINGS;
        for contour in contours(crossings, self.old.len()) {
            if contour.iter().any(|c| tells(c)) {
                continue;
            }
            let middle = contour.iter().fold(DVec3::ZERO, |sum, c| sum + c.point) / contour.len() as f64;
            for crossing in contour.iter().filter(|c| self.tables.is_border(c.place)) {
                plant(crossing, (middle - crossing.point).normalize_or_zero());
            }
            rings = rings.max(contour.len() as u32);
        }
        self.spread(pieces, &wrong, &mut pulls, seeds, rings, crossings);
    }

    /// For each crossing of two pieces that lie one over the other, where its edge should go. Nothing, if
    /// they do not.
    ///
    /// Rims of such pieces are near each other, so that it depends on little which waves of one cut the other
    /// in two. But which lies over which can be told from their middles.
    fn layers(&self, [first, second]: [u32; 2], crossings: &[Crossing]) -> Option<Vec<DVec3>> {
        if first == second || crossings[0].mixed {
            return None;
        }
        let normals = |crossing: &Crossing| {
            let edge = self.tables.normal_at(self.old, crossing.place)?;
            let triangle = normal(self.old, crossing.triangle)?;
            Some([edge, triangle])
        };
        let (mut up, mut steep) = (DVec3::ZERO, 0);
        for crossing in crossings {
            let [edge, triangle] = normals(crossing)?;
            steep += usize::from(edge.dot(triangle).abs() < sides::FLAT);
            up += if crossing.pieces[0] == first { edge } else { triangle };
        }
        let count = crossings.len();
        if 4 * steep > count || up.length() < 0.7 * count as f64 {
            return None;
        }
        let middle = |piece: u32| {
            let of = &self.tables.vertices[piece as usize];
            of.iter().fold(DVec3::ZERO, |sum, &v| sum + point(&self.old[v as usize])) / of.len() as f64
        };
        let up = if (middle(first) - middle(second)).dot(up) < 0.0 { -up } else { up };
        let along = |crossing: &Crossing| {
            let over = if crossing.pieces[0] == first { up } else { -up };
            if crossing.normal.dot(over) < 0.0 { -crossing.normal } else { crossing.normal }
        };
        Some(crossings.iter().map(along).collect())
    }

    /// Takes what is pulled at the seeds to all that is wrong and to what is around, and moves it.
    fn spread(
        &mut self,
        pieces: [u32; 2],
        wrong: &[bool],
        pulls: &mut [Pull],
        mut seeds: Vec<u32>,
        rings: u32,
        crossings: &[Crossing],
    ) {
        seeds.sort_unstable();
        let mut weights = vec![0.0f64; self.old.len()];
        seeds.iter().for_each(|&v| weights[v as usize] = 1.0);
        let mut all = seeds.clone();
        let (mut front, mut deep) = (seeds.clone(), 0);
        loop {
            front = self.ring(&front, pulls, |v| wrong[v as usize]);
            if front.is_empty() {
                break;
            }
            deep += 1;
            for &v in &front {
                weights[v as usize] = 1.0;
                let tied = self.tables.around(v).iter().find(|&&other| weights[other as usize] > 0.0);
                self.labels.mark(v, tied.copied().unwrap_or(v));
            }
            all.extend(&front);
        }
        // Each piece must go that far until all of it is right \[m\].
        let mut needed = [0.0f64; 2];
        for &v in all.iter().filter(|&&v| wrong[v as usize]) {
            let (along, from) = pulls[v as usize].mean();
            let side = usize::from(self.tables.piece[v as usize] != pieces[0]);
            needed[side] = needed[side].max((from - point(&self.old[v as usize])).dot(along));
        }
        let gap = crossings.iter().fold(0.0f32, |gap, c| {
            let radius = |v: u32| self.surface.radius[v as usize];
            gap.max(radius(c.edge[0]) + radius(c.triangle[0]))
        });
        let mut apart = needed[0] + needed[1] + f64::from(gap);
        if !all.iter().any(|&v| wrong[v as usize]) {
            apart = self.most;
        }
        let apart = apart.min(self.most);

        let reach = rings.max(deep + 1);
        front = seeds;
        for ring in 1..2 * reach {
            front = self.ring(&front, pulls, |_| true);
            let beyond = f64::from(ring.saturating_sub(reach)) / f64::from(reach);
            front.iter().for_each(|&v| weights[v as usize] = 1.0 - beyond);
            all.extend(&front);
        }
        let mut masses = [0.0f64; 2];
        for &v in &all {
            let side = usize::from(self.tables.piece[v as usize] != pieces[0]);
            let inverse = f64::from(self.old[v as usize][3]);
            masses[side] += if inverse > 0.0 { weights[v as usize] / inverse } else { 0.0 };
        }
        let total = masses[0] + masses[1];
        let shares = if pieces[0] == pieces[1] {
            [0.5; 2]
        } else {
            [0, 1].map(|side| if masses[1 - side] > 0.0 { masses[1 - side] / total } else { 1.0 })
        };
        for &v in &all {
            let side = usize::from(self.tables.piece[v as usize] != pieces[0]);
            let (along, _) = pulls[v as usize].mean();
            self.moves[v as usize] += along * (weights[v as usize] * shares[side] * apart);
        }
    }

    /// The next ring of vertices that are not pulled yet: each is pulled as its neighbours in `front` are.
    fn ring(&self, front: &[u32], pulls: &mut [Pull], takes: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut next: Vec<u32> = front
            .iter()
            .flat_map(|&v| self.tables.around(v))
            .copied()
            .filter(|&v| pulls[v as usize].count == 0.0 && takes(v))
            .collect();
        next.sort_unstable();
        next.dedup();
        let found: Vec<Pull> = next
            .iter()
            .map(|&v| {
                let mut pull = Pull::default();
                for &other in self.tables.around(v) {
                    if front.binary_search(&other).is_ok() {
                        let (along, from) = pulls[other as usize].mean();
                        pull.add(along, from);
                    }
                }
                pull
            })
            .collect();
        for (&v, pull) in next.iter().zip(found) {
            pulls[v as usize] = pull;
        }
        next
    }

    /// Cloth that is partly inside a closed mesh.
    fn leave(&mut self, mesh: Option<&ClosedMesh>, [cloth, solid]: [u32; 2], crossings: &[Crossing]) {
        let Some(mesh) = mesh else { return };
        let of_solid = &self.tables.vertices[solid as usize];
        of_solid.iter().for_each(|&v| self.labels.mark(of_solid[0], v));
        let [low, high] = mesh.bounds();
        let mut guess = None;
        let mut inside = vec![false; self.old.len()];
        for &v in &self.tables.vertices[cloth as usize] {
            let x = point(&self.old[v as usize]);
            if x.cmplt(low).any() || x.cmpgt(high).any() {
                continue;
            }
            let signed = mesh.signed_distance_from(x.as_vec3(), guess);
            guess = Some(signed.face);
            if signed.distance < 0.0 {
                inside[v as usize] = true;
                self.labels.mark(of_solid[0], v);
                let gap = self.surface.radius[v as usize] + self.surface.radius[of_solid[0] as usize];
                let way = (f64::from(gap) - signed.distance).min(self.most);
                self.moves[v as usize] += signed.normal * way;
            }
        }
        // Tips that poke through a triangle of which no corner is inside.
        let pokes = |c: &&Crossing| c.pieces[0] == solid && c.triangle.iter().all(|&v| !inside[v as usize]);
        let tips: Vec<Crossing> = crossings.iter().filter(pokes).cloned().collect();
        if !tips.is_empty() {
            self.part([cloth, solid], &tips);
        }
    }
}

/// Crossings that hang together.
fn contours(crossings: &[Crossing], count: usize) -> Vec<Vec<&Crossing>> {
    let mut sets = Sets::new(count);
    for crossing in crossings {
        let [a, others @ ..] = crossing.vertices();
        others.iter().for_each(|&v| sets.unite(a, v));
    }
    let mut sorted: Vec<(u32, &Crossing)> = crossings.iter().map(|c| (sets.of(c.edge[0]), c)).collect();
    sorted.sort_by_key(|(set, _)| *set);
    sorted.chunk_by(|a, b| a.0 == b.0).map(|of| of.iter().map(|(_, c)| *c).collect()).collect()
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
