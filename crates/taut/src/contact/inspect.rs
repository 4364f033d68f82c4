//! Contact measurement of one frame: which primitives intersect, and the smallest distance between others.
//! Certificates report it.
//!
//! There is a tree of the boxes of all triangles of cloth, refitted in every frame, and one of those of
//! obstacles, refitted where these have moved. An edge or a vertex that several triangles share is assigned
//! to the first of them, so that every pair of primitives is tested once: with two triangles whose boxes
//! overlap. Only the tree is shared with the code by which a step
//! [finds](super::candidates) and [prevents](super::guard) contacts. Results do not depend on threads.
//!
//! Measured by `cargo bench -p taut --bench inspect`.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering},
};

use glam::DVec3;

use super::{
    continuous::{Kind, stay_apart},
    intersection::pierces,
    tree::{Swept, Tree},
};
use crate::{exec::threads::Threads, kernel::lanes::Quad};

/// The surfaces to measure: those of all cloth first, then those of mesh obstacles.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Triangles, by their vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Initial positions of the vertices \[m\].
    pub start: Vec<[f32; 3]>,
    /// By vertex: the lowest vertex that is sewn to it, or itself. Primitives that share one are neighbours.
    pub identity: Vec<u32>,
    /// Half of the thickness of each vertex's body \[m\]: the sum of two is the nominal distance of a pair.
    pub radius: Vec<f32>,
    /// Vertices from here on belong to obstacles: pairs of obstacles are not measured.
    pub fixed_from: u32,
    /// Whether pairs of cloth with cloth are measured.
    pub between_cloth: bool,
}

impl Parts {
    /// Triangles of cloth without thickness, with these initial positions \[m\].
    pub fn new(triangles: Vec<[u32; 3]>, start: &[[f32; 3]]) -> Self {
        Self {
            triangles,
            start: start.to_vec(),
            identity: (0..start.len() as u32).collect(),
            radius: vec![0.0; start.len()],
            fixed_from: start.len() as u32,
            between_cloth: true,
        }
    }

    /// Whether a triangle belongs to an obstacle.
    fn is_fixed(&self, triangle: u32) -> bool {
        self.triangles[triangle as usize][0] >= self.fixed_from
    }

    /// Whether two primitives share a vertex, or are sewn together at one.
    #[inline(always)]
    fn share(&self, first: &[u32], second: &[u32]) -> bool {
        let same = |v: u32| self.identity[v as usize];
        first.iter().any(|&v| second.iter().any(|&w| same(v) == same(w)))
    }
}

/// An edge that passes through a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    /// Vertices of the edge, in ascending order.
    pub edge: [u32; 2],
    /// The triangle, by its index in [`Parts::triangles`].
    pub triangle: u32,
}

/// Two primitives that are close to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Their distance \[m\].
    pub distance: f64,
    /// Kind of the pair.
    pub kind: Kind,
    /// Their vertices, in the order that [`Kind`] defines.
    pub vertices: [u32; 4],
}

/// Leaves of the tree per work item.
const LEAVES_PER_ITEM: usize = 32;

/// Results of one work item.
#[derive(Clone, Debug, Default)]
struct Piece {
    crossings: Vec<Crossing>,
    nearest: Option<Near>,
}

/// Measures frame after frame of the same surfaces.
#[derive(Clone, Debug)]
pub struct Inspector {
    parts: Parts,
    /// By triangle: bit k says that its edge from corner k to the next is assigned to it, bit 3 + k the same
    /// of its corner k, and bit 6 that it has a face. A triangle that names a vertex twice has no face, and
    /// is an edge of its neighbours.
    owned: Vec<u8>,
    /// Trees of cloth and of obstacles, and the triangles that these number.
    cloth: Tree,
    obstacles: Tree,
    places: [Vec<u32>; 2],
    /// Where vertices of obstacles were in the last measurement \[m\].
    seen: Vec<[f32; 3]>,
    pieces: Vec<Piece>,
    crossings: Vec<Crossing>,
    nearest: Option<Near>,
}

impl Inspector {
    /// Prepares to measure `parts`.
    pub fn new(parts: Parts) -> Self {
        let mut edges = HashSet::with_capacity(2 * parts.triangles.len());
        let mut seen = vec![false; parts.start.len()];
        let owned = parts.triangles.iter().map(|t| {
            let has_face = t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
            (0..3).fold(u8::from(has_face) << 6, |owned, k| {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                let edge = u8::from(a != b && edges.insert([a.min(b), a.max(b)]));
                let corner = u8::from(!std::mem::replace(&mut seen[a as usize], true));
                owned | edge << k | corner << (3 + k)
            })
        });
        let owned = owned.collect();
        let places = [false, true].map(|fixed| -> Vec<u32> {
            let all = 0..parts.triangles.len() as u32;
            all.filter(|&t| parts.is_fixed(t) == fixed).collect()
        });
        let [cloth, obstacles] = [0, 1].map(|kind: usize| {
            let boxes = places[kind].iter().map(|&t| about(&parts, &parts.start, t));
            Tree::new(&boxes.collect::<Vec<Swept>>())
        });
        let seen = parts.start[(parts.fixed_from as usize).min(parts.start.len())..].to_vec();
        let pieces = vec![Piece::default(); cloth.leaf_count().div_ceil(LEAVES_PER_ITEM)];
        Self { parts, owned, cloth, obstacles, places, seen, pieces, crossings: Vec::new(), nearest: None }
    }

    /// The surfaces that it measures.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Measures the surfaces with their vertices at `x` \[m\].
    ///
    /// # Panics
    /// If there are not as many positions as vertices.
    pub fn look(&mut self, threads: &Threads, x: &[[f32; 3]]) {
        let Self { parts, owned, cloth, obstacles, places, seen, pieces, crossings, nearest } = self;
        assert_eq!(x.len(), parts.start.len(), "one position a vertex");
        let (parts, [of_cloth, of_obstacles]): (&Parts, &[Vec<u32>; 2]) = (parts, places);
        cloth.refit_on(threads, |t| about(parts, x, of_cloth[t as usize]));
        let now = &x[x.len() - seen.len()..];
        if now != seen.as_slice() {
            seen.copy_from_slice(now);
            obstacles.refit_on(threads, |t| about(parts, x, of_obstacles[t as usize]));
        }
        let view = View { parts, owned, x, smallest: AtomicU64::new(f64::INFINITY.to_bits()) };
        let (cloth, obstacles): (&Tree, &Tree) = (cloth, obstacles);
        threads.each_piece(pieces, 1, |first, some| {
            for (k, piece) in some.iter_mut().enumerate() {
                piece.crossings.clear();
                piece.nearest = None;
                let leaves = (first + k) * LEAVES_PER_ITEM
                    ..((first + k + 1) * LEAVES_PER_ITEM).min(cloth.leaf_count());
                for leaf in leaves {
                    if parts.between_cloth {
                        let both = |s: u32, t: u32| [s, t].map(|t| of_cloth[t as usize]);
                        cloth.meet_later(leaf, |s, t| view.look(both(s, t), piece));
                    }
                    cloth.meet_leaf(leaf, obstacles, |s, t| {
                        view.look([of_cloth[s as usize], of_obstacles[t as usize]], piece);
                    });
                }
            }
        });
        crossings.clear();
        crossings.extend(pieces.iter().flat_map(|piece| &piece.crossings));
        crossings.sort_unstable();
        *nearest = pieces.iter().filter_map(|piece| piece.nearest).reduce(nearer);
    }

    /// Edges that passed through triangles in the last measurement, in ascending order.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// The two nearest primitives that are not neighbours, in the last measurement. `None` if all were
    /// further apart than their nominal distance. Neighbours share a vertex, or were as near as that at the
    /// start.
    pub fn nearest(&self) -> Option<Near> {
        self.nearest
    }
}

/// The nearer of two pairs; on a tie the first in order, whichever thread found it.
fn nearer(a: Near, b: Near) -> Near {
    let key = |near: &Near| (near.kind, near.vertices);
    let second = b.distance < a.distance || b.distance == a.distance && key(&b) < key(&a);
    if second { b } else { a }
}

/// Bounding box of triangle `t`, inflated by its half of the distance within which pairs are measured.
#[inline(always)]
fn about(parts: &Parts, x: &[[f32; 3]], t: u32) -> Swept {
    let corners = parts.triangles[t as usize];
    let mut part = Swept::EMPTY;
    for v in corners {
        let [a, b, c] = x[v as usize];
        let point: Quad = [a, b, c, 0.0];
        part = part.with(&point, &point);
    }
    part.grown(radius(parts, corners).next_up())
}

/// The radius of a primitive.
#[inline(always)]
fn radius<const N: usize>(parts: &Parts, vertices: [u32; N]) -> f32 {
    vertices.iter().fold(0.0, |largest: f32, &v| largest.max(parts.radius[v as usize]))
}

/// One frame.
struct View<'a> {
    parts: &'a Parts,
    owned: &'a [u8],
    x: &'a [[f32; 3]],
    /// The smallest distance found so far by any thread, as bits: pairs further apart need not be measured,
    /// which does not change the final minimum.
    smallest: AtomicU64,
}

/// A triangle in a frame.
struct Side {
    place: u32,
    corners: [u32; 3],
    x: [DVec3; 3],
    low: DVec3,
    high: DVec3,
    owned: u8,
}

impl Side {
    #[inline(always)]
    fn edge(&self, k: usize) -> Edge {
        // In one direction, whichever triangle it is seen from.
        let [k, next] =
            if self.corners[k] < self.corners[(k + 1) % 3] { [k, (k + 1) % 3] } else { [(k + 1) % 3, k] };
        let (a, b) = (self.x[k], self.x[next]);
        Edge { vertices: [self.corners[k], self.corners[next]], x: [a, b], low: a.min(b), high: a.max(b) }
    }

    fn owns_edge(&self, k: usize) -> bool {
        self.owned >> k & 1 == 1
    }

    fn owns_corner(&self, k: usize) -> bool {
        self.owned >> (3 + k) & 1 == 1
    }

    /// Whether it is further from `other` than `gap` \[m\] along the line between their centres: a cheap test
    /// that settles most pairs.
    #[inline(always)]
    fn is_clear_of(&self, other: &Self, gap: f64) -> bool {
        let line = (self.x[0] + self.x[1] + self.x[2]) - (other.x[0] + other.x[1] + other.x[2]);
        let along = |x: DVec3| (x - other.x[0]).dot(line);
        let [a, b, c] = [along(self.x[0]), along(self.x[1]), along(self.x[2])];
        let least = a.min(b).min(c) - 0f64.max(along(other.x[1])).max(along(other.x[2]));
        // Slightly more than the gap and than zero: far more than the rounding error.
        let size = (self.high.max(other.high) - self.low.min(other.low)).max_element();
        let enough = 1.000_001 * gap * gap + 1e-20 * size * size;
        least > 0.0 && least * least > enough * line.length_squared()
    }

    fn has_face(&self) -> bool {
        self.owned >> 6 == 1
    }
}

/// An edge in a frame.
struct Edge {
    vertices: [u32; 2],
    x: [DVec3; 2],
    low: DVec3,
    high: DVec3,
}

/// Whether two boxes are further apart than `reach` along some axis.
#[inline(always)]
fn apart(low: [DVec3; 2], high: [DVec3; 2], reach: f64) -> bool {
    let far = DVec3::splat(reach);
    (low[0] - high[1]).cmpgt(far).any() || (low[1] - high[0]).cmpgt(far).any()
}

#[inline(always)]
fn point([x, y, z]: [f32; 3]) -> DVec3 {
    DVec3::new(x.into(), y.into(), z.into())
}

impl View<'_> {
    #[inline(always)]
    fn side(&self, place: u32) -> Side {
        let corners = self.parts.triangles[place as usize];
        let at = |k: usize| point(self.x[corners[k] as usize]);
        let x = [at(0), at(1), at(2)];
        let (low, high) = (x[0].min(x[1]).min(x[2]), x[0].max(x[1]).max(x[2]));
        Side { place, corners, x, low, high, owned: self.owned[place as usize] }
    }

    /// Measures the primitives that are assigned to two triangles.
    fn look(&self, triangles: [u32; 2], piece: &mut Piece) {
        // Individually: an array of them would be copied.
        let (s, t) = (self.side(triangles[0]), self.side(triangles[1]));
        let reach = f64::from(radius(self.parts, s.corners) + radius(self.parts, t.corners));
        if s.is_clear_of(&t, self.within(reach)) {
            return;
        }
        self.cross(&s, &t, piece);
        self.cross(&t, &s, piece);
        if reach > 0.0 && !apart([s.low, t.low], [s.high, t.high], self.within(reach)) {
            self.corners_near(&s, &t, reach, piece);
            self.corners_near(&t, &s, reach, piece);
            self.edges_near(&s, &t, reach, piece);
        }
    }

    /// The distance within which primitives must be measured that count as near within `reach` \[m\].
    #[inline(always)]
    fn within(&self, reach: f64) -> f64 {
        reach.min(f64::from_bits(self.smallest.load(Ordering::Relaxed)))
    }

    /// Finds the edges of `s` that pass through `t`.
    fn cross(&self, s: &Side, t: &Side, piece: &mut Piece) {
        if !t.has_face() {
            return;
        }
        for k in (0..3).filter(|&k| s.owns_edge(k)) {
            let edge = s.edge(k);
            let [a, b] = edge.vertices;
            if self.parts.share(&[a, b], &t.corners) || apart([edge.low, t.low], [edge.high, t.high], 0.0) {
                continue;
            }
            let at = |v: u32| self.x[v as usize];
            let [c, d, e] = t.corners;
            if pierces([at(a), at(b)], [at(c), at(d), at(e)]) {
                piece.crossings.push(Crossing { edge: [a.min(b), a.max(b)], triangle: t.place });
            }
        }
    }

    /// Measures the corners of `s` against `t`.
    fn corners_near(&self, s: &Side, t: &Side, reach: f64, piece: &mut Piece) {
        let within = self.within(reach);
        for k in (0..3).filter(|&k| s.owns_corner(k)) {
            let (v, x) = (s.corners[k], s.x[k]);
            let [a, b, c] = t.corners;
            if !self.parts.share(&[v], &t.corners) && !apart([x, t.low], [x, t.high], within) {
                let x = [x, t.x[0], t.x[1], t.x[2]];
                self.measure(Kind::VertexTriangle, [v, a, b, c], &x, reach, piece);
            }
        }
    }

    /// Measures the edges of `s` against the edges of `t`.
    fn edges_near(&self, s: &Side, t: &Side, reach: f64, piece: &mut Piece) {
        let within = self.within(reach);
        for k in (0..3).filter(|&k| s.owns_edge(k)) {
            let e = s.edge(k);
            if apart([e.low, t.low], [e.high, t.high], within) {
                continue;
            }
            for l in (0..3).filter(|&l| t.owns_edge(l)) {
                let f = t.edge(l);
                let shared = self.parts.share(&e.vertices, &f.vertices);
                if shared || apart([e.low, f.low], [e.high, f.high], within) {
                    continue;
                }
                // In an order that does not depend on which triangle came first.
                let [e, f] = if e.vertices < f.vertices { [&e, &f] } else { [&f, &e] };
                let vertices = [e.vertices[0], e.vertices[1], f.vertices[0], f.vertices[1]];
                self.measure(Kind::EdgeEdge, vertices, &[e.x[0], e.x[1], f.x[0], f.x[1]], reach, piece);
            }
        }
    }

    /// Measures two primitives, unless they are neighbours.
    fn measure(&self, kind: Kind, vertices: [u32; 4], x: &[DVec3; 4], reach: f64, piece: &mut Piece) {
        let within = self.within(reach);
        if stay_apart(kind, x, x, within) {
            return;
        }
        let squared = kind.nearest(x).squared;
        if squared > within * within * (1.0 + 1e-9) {
            return;
        }
        let distance = squared.sqrt();
        let start = vertices.map(|v| point(self.parts.start[v as usize]));
        if distance <= within && kind.nearest(&start).squared.sqrt() > reach {
            let near = Near { distance, kind, vertices };
            piece.nearest = Some(piece.nearest.map_or(near, |nearest| nearer(nearest, near)));
            self.smallest.fetch_min(distance.to_bits(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kernel::random::Random, mesh::generate};

    /// Sheets one above the other, `apart` \[m\], with the radius \[m\].
    fn stack(sheets: usize, cells: u32, apart: f32, radius: f32) -> Parts {
        let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
        let (mut x, mut triangles) = (Vec::new(), Vec::new());
        for sheet in 0..sheets {
            let first = x.len() as u32;
            triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| first + v)));
            x.extend(mesh.positions.iter().map(|p| [p.x, apart * sheet as f32, p.z]));
        }
        Parts { radius: vec![radius; x.len()], ..Parts::new(triangles, &x) }
    }

    /// The same by brute force.
    fn tried(parts: &Parts, x: &[[f32; 3]]) -> (Vec<Crossing>, Option<Near>) {
        let surface = super::super::surface::Surface::new(parts.triangles.clone());
        let wanted = |a: u32, b: u32| match [a, b].map(|v| v >= parts.fixed_from) {
            [true, true] => false,
            [false, false] => parts.between_cloth,
            _ => true,
        };
        let (mut crossings, mut nearest) = (Vec::new(), None);
        let mut measure = |kind: Kind, vertices: [u32; 4], reach: f64| {
            let at = |x: &[[f32; 3]]| kind.nearest(&vertices.map(|v| point(x[v as usize]))).squared.sqrt();
            let near = Near { distance: at(x), kind, vertices };
            if near.distance <= reach && at(&parts.start) > reach {
                nearest = Some(nearest.map_or(near, |nearest| nearer(nearest, near)));
            }
        };
        for (t, &[a, b, c]) in parts.triangles.iter().enumerate() {
            for &v in surface.vertices.iter().filter(|&v| wanted(*v, a) && ![a, b, c].contains(v)) {
                let reach = f64::from(parts.radius[v as usize] + parts.radius[a as usize]);
                measure(Kind::VertexTriangle, [v, a, b, c], reach);
            }
            for &edge in surface.edges.iter().filter(|e| wanted(e[0], a)) {
                let shared = edge.iter().any(|v| [a, b, c].contains(v));
                let at = |v: u32| x[v as usize];
                if !shared && pierces(edge.map(at), [a, b, c].map(at)) {
                    crossings.push(Crossing { edge, triangle: t as u32 });
                }
            }
        }
        for (k, &[a, b]) in surface.edges.iter().enumerate() {
            for &[c, d] in surface.edges[k + 1..].iter().filter(|f| wanted(a, f[0])) {
                if ![c, d].contains(&a) && ![c, d].contains(&b) {
                    let reach = f64::from(parts.radius[a as usize] + parts.radius[c as usize]);
                    measure(Kind::EdgeEdge, [a, b, c, d], reach);
                }
            }
        }
        crossings.sort_unstable();
        (crossings, nearest)
    }

    #[test]
    fn it_finds_what_trying_all_pairs_finds_with_any_number_of_threads() {
        let mut random = Random::new(31, 0);
        let (mut crossed, mut measured) = (0, 0);
        for round in 0..24 {
            let mut parts = stack(2, 5, 0.1, 0.008);
            match round % 4 {
                1 => parts.fixed_from /= 2,
                2 => (parts.fixed_from, parts.between_cloth) = (parts.fixed_from / 2, false),
                3 => parts.radius[36..].fill(0.04),
                _ => {}
            }
            let size = [0.02, 0.05, 0.1, 0.3][round / 6];
            let x: Vec<[f32; 3]> =
                parts.start.iter().map(|x| x.map(|x| x + size * (random.unit() - 0.5))).collect();
            let (crossings, nearest) = tried(&parts, &x);
            let mut inspector = Inspector::new(parts);
            for threads in [1, 2, 5] {
                inspector.look(&Threads::new(threads).unwrap(), &x);
                assert_eq!(inspector.crossings(), crossings, "round {round}");
                let named = |near: Option<Near>| near.map(|n| (n.distance, n.kind));
                assert_eq!(named(inspector.nearest()), named(nearest), "round {round}");
            }
            crossed += usize::from(!crossings.is_empty());
            measured += usize::from(nearest.is_some());
        }
        assert!(crossed > 4 && crossed < 20 && measured > 6, "{crossed} {measured}");
    }

    #[test]
    fn the_gap_between_sheets_is_measured_once_they_were_apart() {
        let threads = Threads::alone();
        let mut inspector = Inspector::new(stack(2, 6, 0.05, 0.001));
        let start = inspector.parts().start.clone();
        inspector.look(&threads, &start);
        assert_eq!(inspector.nearest(), None, "further apart than two millimetres");
        let half = start.len() / 2;
        let mut x = start.clone();
        x[half..].iter_mut().for_each(|x| x[1] = 0.0015);
        inspector.look(&threads, &x);
        let near = inspector.nearest().unwrap();
        assert!((near.distance - 0.0015).abs() < 1e-9, "{near:?}");
        let mut inspector = Inspector::new(Parts { start: x.clone(), ..inspector.parts().clone() });
        inspector.look(&threads, &x);
        assert_eq!(inspector.nearest(), None, "neighbours from the start");
        assert_eq!(inspector.crossings(), []);
    }
}
