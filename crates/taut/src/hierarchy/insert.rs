//! Vertices that are inserted into a mesh, with edge flips around them so that triangles stay well shaped:
//! for pins on coarse levels (Tang et al., "Handling constraints").
//!
//! A vertex splits the triangle that it lies in (one into three) or the border edge that it lies on (one into
//! two); edges around it that are then not Delaunay are flipped, each flip followed by a look at the new ones
//! (Lawson 1977). What would turn a triangle over or make a needle is undone. Points are found by
//! [walking](super::surface) over the surface from a vertex that is known to be near.
//!
//! Triangles keep their numbers: those that change are noted, new ones come last. An insertion costs as much
//! as a copy of the mesh, which is what undoes it.

use glam::{DVec3, Vec3};

use super::{
    flip::flip,
    halfedge::{HalfEdges, NONE, next, prev},
    surface::{Hit, Surface, cross, quality},
    transfer::rounded,
};

/// Most flips after one insertion; about six are usual.
const MAX_FLIPS: usize = 64;

/// A mesh into which vertices are inserted.
#[derive(Clone, Debug)]
pub(crate) struct Remesher {
    surface: Surface,
    /// Vertices of the mesh as it was.
    count: usize,
    /// After those come copies of these, for further fans, and then what was inserted.
    copies: Vec<u32>,
    /// Triangles that changed.
    altered: Vec<bool>,
}

/// What an inserted vertex splits.
enum Split {
    Triangle(u32),
    /// A border edge.
    Edge(u32),
}

/// Where a point lies in a [`Remesher`]'s mesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    triangle: u32,
    /// Vertices of the triangle.
    pub corners: [u32; 3],
    /// Their weights, each within \[0, 1\], with sum 1.
    pub weights: [f32; 3],
}

impl Remesher {
    /// A mesh of which triangles are `altered` already.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], altered: Vec<bool>) -> Self {
        let (half, copies) = HalfEdges::new(positions.len(), triangles);
        let at = |v: usize| positions[v].as_dvec3();
        let originals = (0..positions.len()).chain(copies.iter().map(|&v| v as usize));
        Self {
            surface: Surface { half, positions: originals.map(at).collect() },
            count: positions.len(),
            copies,
            altered,
        }
    }

    /// The vertex of which `v` is a copy, and numbers without copies.
    fn outer(&self, v: u32) -> u32 {
        match (v as usize).checked_sub(self.count) {
            None => v,
            Some(k) => self.copies.get(k).copied().unwrap_or(v - self.copies.len() as u32),
        }
    }

    /// The vertices of the surface that are vertex `v`: one for each fan.
    fn inner(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        let (count, copies) = (self.count as u32, self.copies.len() as u32);
        let own = if v < count { v } else { v + copies };
        let further = (0..copies).filter(move |&k| self.copies[k as usize] == v).map(move |k| count + k);
        std::iter::once(own).chain(further)
    }

    /// Whether `v` has several fans.
    fn is_locked(&self, v: u32) -> bool {
        (v as usize) < self.count + self.copies.len() && !self.copies.is_empty() && {
            let outer = self.outer(v);
            self.copies.contains(&outer)
        }
    }

    /// Triangles, those that were there before first.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let half = &self.surface.half;
        (0..half.slots()).map(|t| half.corners(t).map(|v| self.outer(v))).collect()
    }

    /// Which of them changed.
    pub fn altered(&self) -> &[bool] {
        &self.altered
    }

    /// Position of vertex `v` \[m\].
    pub fn position(&self, v: u32) -> Vec3 {
        self.inner(v).next().map_or(Vec3::ZERO, |v| self.surface.positions[v as usize].as_vec3())
    }

    /// Vertices around the corners of the triangle of `place`, the corners too.
    pub fn around(&self, place: &Place) -> Vec<u32> {
        let (half, mut all, mut ring) = (&self.surface.half, Vec::new(), Vec::new());
        for v in half.corners(place.triangle) {
            half.neighbors(v, &mut ring);
            all.extend(ring.iter().chain([&v]).map(|&v| self.outer(v)));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Where `point` \[m\] lies, searched from vertex `start` and not over triangles that face away from
    /// `facing`. `None` where no triangle uses that vertex.
    pub fn locate(&self, start: u32, point: Vec3, facing: Vec3) -> Option<Place> {
        let (p, facing) = (point.as_dvec3(), facing.as_dvec3());
        let around = || self.inner(start).flat_map(|v| self.surface.half.ring(v)).map(|h| h / 3);
        let nearest = |all: &mut dyn Iterator<Item = u32>| {
            all.map(|t| self.surface.hit(t, p)).min_by(|a, b| a.distance2.total_cmp(&b.distance2))
        };
        let facing_right = nearest(&mut around().filter(|&t| self.surface.faces(t, facing)));
        let first = facing_right.or_else(|| nearest(&mut around()))?;
        Some(self.place(self.surface.walk(first.triangle, p, facing)))
    }

    fn place(&self, hit: Hit) -> Place {
        let corners = self.surface.half.corners(hit.triangle).map(|v| self.outer(v));
        Place { triangle: hit.triangle, corners, weights: rounded(hit.weights) }
    }

    /// Where the neighbours of `v` along the border are \[m\], if it is on one.
    pub fn border_neighbors(&self, v: u32) -> Option<[Vec3; 2]> {
        let half = &self.surface.half;
        let own = self.inner(v).next().filter(|&own| half.on_boundary(own))?;
        let mut ring = Vec::new();
        half.neighbors(own, &mut ring);
        let at = |v: u32| self.surface.positions[v as usize].as_vec3();
        Some([at(*ring.first()?), at(*ring.last()?)])
    }

    /// Moves vertex `v` to `point` \[m\], unless a triangle would turn over or keep less than `share` of its
    /// quality. Says whether it did.
    pub fn try_move(&mut self, v: u32, point: Vec3, share: f64) -> bool {
        let Some(own) = self.inner(v).next().filter(|&own| !self.is_locked(own)) else { return false };
        let around: Vec<u32> = self.surface.half.ring(own).map(|h| h / 3).collect();
        let shape = |surface: &Surface, t: u32| (surface.normal(t), quality(surface.points(t)));
        let before: Vec<_> = around.iter().map(|&t| shape(&self.surface, t)).collect();
        let old = std::mem::replace(&mut self.surface.positions[own as usize], point.as_dvec3());
        let spoils = around.iter().zip(before).any(|(&t, (normal, was))| {
            let (turned, now) = shape(&self.surface, t);
            turned.dot(normal) <= 0.0 || now < share * was
        });
        if spoils || around.is_empty() {
            self.surface.positions[own as usize] = old;
            return false;
        }
        around.iter().for_each(|&t| self.altered[t as usize] = true);
        true
    }

    /// Inserts a vertex at `point` \[m\], which lies at `place`; on the border if it is to be on one. `None`
    /// where a triangle would turn over or have less than a quality of `least`.
    pub fn insert(&mut self, place: &Place, point: Vec3, is_on_border: bool, least: f64) -> Option<u32> {
        let (p, facing) = (point.as_dvec3(), self.surface.normal(place.triangle));
        let inside = Some(Split::Triangle(place.triangle));
        // Inside too where the border is out of reach, and on it what is too near for a triangle between.
        let ways = if is_on_border {
            [self.border_near(place, p).map(Split::Edge), inside]
        } else {
            [inside, self.border_of(place.triangle).map(Split::Edge)]
        };
        for way in ways.into_iter().flatten() {
            let before = self.clone();
            let v = match way {
                Split::Edge(h) => self.split_edge(h, p),
                Split::Triangle(t) => self.split_triangle(t, p),
            };
            self.flip_around(v);
            let is_good = |triangle| cross(triangle).dot(facing) > 0.0 && quality(triangle) >= least;
            if self.surface.half.ring(v).map(|h| self.surface.points(h / 3)).all(is_good) {
                return Some(self.outer(v));
            }
            *self = before;
        }
        None
    }

    /// A border edge of triangle `t`.
    fn border_of(&self, t: u32) -> Option<u32> {
        (3 * t..3 * t + 3).find(|&h| self.surface.half.twin[h as usize] == NONE)
    }

    /// The border edge nearest to `p`, walked to along the border from the triangle of `place`.
    fn border_near(&self, place: &Place, p: DVec3) -> Option<u32> {
        let half = &self.surface.half;
        let start = self.border_of(place.triangle).or_else(|| {
            let corner = half.corners(place.triangle).into_iter().find(|&v| half.on_boundary(v))?;
            Some(half.out[corner as usize])
        })?;
        Some(self.surface.walk_boundary(start, p).0)
    }

    fn add_vertex(&mut self, p: DVec3) -> u32 {
        self.surface.positions.push(p);
        self.surface.half.out.push(NONE);
        self.surface.positions.len() as u32 - 1
    }

    fn add_triangle(&mut self, corners: [u32; 3]) -> u32 {
        self.surface.half.tail.extend(corners);
        self.surface.half.twin.extend([NONE; 3]);
        self.altered.push(true);
        self.surface.half.slots() - 1
    }

    fn link(&mut self, a: u32, b: u32) {
        let twin = &mut self.surface.half.twin;
        twin[a as usize] = b;
        if b != NONE {
            twin[b as usize] = a;
        }
    }

    /// One triangle becomes three.
    fn split_triangle(&mut self, t: u32, p: DVec3) -> u32 {
        let [a, b, c] = self.surface.half.corners(t);
        let v = self.add_vertex(p);
        let (second, third) = (self.add_triangle([b, c, v]), self.add_triangle([c, a, v]));
        let [beyond_bc, beyond_ca] = [1, 2].map(|k| self.surface.half.twin[3 * t as usize + k]);
        self.altered[t as usize] = true;
        self.surface.half.tail[3 * t as usize + 2] = v;
        self.link(3 * second, beyond_bc);
        self.link(3 * third, beyond_ca);
        self.link(3 * t + 1, 3 * second + 2);
        self.link(3 * second + 1, 3 * third + 2);
        self.link(3 * third + 1, 3 * t + 2);
        for h in [3 * t, 3 * second, 3 * third, 3 * t + 2] {
            self.surface.half.settle(h);
        }
        v
    }

    /// Splits a border edge: one triangle becomes two.
    fn split_edge(&mut self, h: u32, p: DVec3) -> u32 {
        let (y, c) = (self.surface.half.head(h), self.surface.half.tail[prev(h) as usize]);
        let v = self.add_vertex(p);
        let second = self.add_triangle([v, y, c]);
        let beyond = self.surface.half.twin[next(h) as usize];
        self.altered[h as usize / 3] = true;
        self.surface.half.tail[next(h) as usize] = v;
        self.link(3 * second + 1, beyond);
        self.link(next(h), 3 * second + 2);
        for h in [h, 3 * second + 1, prev(h), 3 * second] {
            self.surface.half.settle(h);
        }
        v
    }

    /// Flips edges opposite to `v` until all are Delaunay.
    fn flip_around(&mut self, v: u32) {
        for _ in 0..MAX_FLIPS {
            let half = &self.surface.half;
            let flippable = |h: &u32| {
                let twin = half.twin[*h as usize];
                twin != NONE
                    && self.surface.wants_flip(*h)
                    && !self.is_locked(half.tail[prev(*h) as usize])
                    && !self.is_locked(half.tail[prev(twin) as usize])
            };
            let Some(h) = half.ring(v).map(next).find(flippable) else { return };
            let twin = half.twin[h as usize];
            self.altered[h as usize / 3] = true;
            self.altered[twin as usize / 3] = true;
            flip(&mut self.surface.half, h);
        }
    }
}
