//! Pieces of panels that are curved at rest.
//!
//! Their patches are what is connected in the cells of a grid in space: both sides of an ear are two. The
//! patches near one are those in the cells around it that it is connected with there, and the piece around
//! them is seen from above, along their mean normal. There it is a pattern if no triangle is steep, and
//! convex by the same rule: its part in the smallest box around these patches is connected, and every vertex
//! in that box is surrounded once, or is a corner of the border that does not point inwards.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

use super::{
    NONE, Patch, Piece,
    area::Area,
    build::{INWARD, Key, Panels, Topology, add_lane, in_cells, needed, numbers_within, root},
    curved::Chart,
};
use crate::contact::surface::Surface;

/// Largest tangent of the angle between a triangle and the plane that it is seen in. With this much, λ must
/// be 0.93 already.
const MAX_SLOPE: f64 = 0.7;

/// By triangle: to which of the connected parts of its cell it belongs; 0 in flat panels.
pub(super) fn parts_of_cells(surface: &Surface, panels: &Panels, topology: &Topology) -> Vec<u32> {
    let cell_of = |t: usize| {
        let corners = surface.triangles[t];
        (panels.of[corners[0] as usize], panels.cell_of(corners))
    };
    let is_curved = |t: usize| {
        let first = surface.triangles[t][0];
        !surface.is_fixed(first) && !panels.is_flat[panels.of[first as usize] as usize]
    };
    let mut parent: Vec<u32> = (0..surface.triangles.len() as u32).collect();
    for &[s, t] in topology.sides.iter().filter(|sides| sides[1] != NONE) {
        if is_curved(s as usize) && cell_of(s as usize) == cell_of(t as usize) {
            let [s, t] = [s, t].map(|t| root(&mut parent, t));
            parent[s.max(t) as usize] = s.min(t);
        }
    }
    let mut parts = vec![0; surface.triangles.len()];
    let mut counts = BTreeMap::new();
    for t in (0..surface.triangles.len()).filter(|&t| is_curved(t)) {
        // The first triangle of a part has the lowest number.
        let first = root(&mut parent, t as u32) as usize;
        parts[t] = if first == t {
            let count = counts.entry(cell_of(t)).or_insert(0u32);
            *count += 1;
            *count - 1
        } else {
            parts[first]
        };
    }
    parts
}

/// Finds the pieces around patches of curved panels.
pub(super) struct Charts<'a> {
    surface: &'a Surface,
    topology: &'a Topology,
    patches: &'a [Patch],
    keys: &'a [Key],
    numbers: &'a BTreeMap<Key, u32>,
    /// By triangle: its patch, and its number among those of its patch.
    of: Vec<u32>,
    within: Vec<u32>,
    /// By triangle: not normalised, at rest \[m²\].
    normals: Vec<DVec3>,
    /// By triangle: the edges of [`Topology::sides`].
    edges: Vec<[u32; 3]>,
    /// By patch: those that it has an edge in common with, in ascending order.
    beside: Vec<Vec<u32>>,
    /// By triangle: the last piece that it was found in.
    seen: Vec<u32>,
    /// By vertex: the sum of its angles in the chart \[rad\].
    angles: Vec<f64>,
    count: u32,
}

impl<'a> Charts<'a> {
    /// For these patches of a surface.
    pub fn new(
        surface: &'a Surface,
        panels: &Panels,
        topology: &'a Topology,
        patches: &'a [Patch],
        (keys, numbers): (&'a [Key], &'a BTreeMap<Key, u32>),
    ) -> Self {
        let count = surface.triangles.len();
        let is_curved = |p: &&Patch| !p.is_flat && !surface.rest.is_empty();
        let has_any = patches.iter().any(|p| is_curved(&p));
        let mut of = vec![NONE; count];
        for (p, patch) in (0..).zip(patches).filter(|(_, patch)| is_curved(patch)) {
            patch.triangles.iter().for_each(|&t| of[t as usize] = p);
        }
        let mut beside = vec![Vec::new(); patches.len()];
        let sides = topology.sides.iter().filter(|sides| has_any && sides[1] != NONE);
        for [p, q] in sides.map(|sides| sides.map(|t| of[t as usize])) {
            if p != q && p != NONE && q != NONE {
                beside[p as usize].push(q);
                beside[q as usize].push(p);
            }
        }
        for patches in &mut beside {
            patches.sort_unstable();
            patches.dedup();
        }
        let triangles = || surface.triangles.iter().filter(|_| has_any);
        let edges = triangles().map(|&[a, b, c]| {
            [[a, b], [b, c], [c, a]].map(|[a, b]| {
                surface.edges.binary_search(&[a.min(b), a.max(b)]).map_or(NONE, |edge| edge as u32)
            })
        });
        let normal = |t: &[u32; 3]| match surface.is_fixed(t[0]) {
            true => DVec3::ZERO,
            false => {
                let [a, b, c] = t.map(|v| surface.rest[v as usize].as_dvec3());
                (b - a).cross(c - a)
            }
        };
        Self {
            surface,
            topology,
            patches,
            keys,
            numbers,
            of,
            within: numbers_within(surface, patches),
            normals: triangles().map(normal).collect(),
            edges: edges.collect(),
            beside,
            seen: vec![NONE; count],
            angles: vec![0.0; panels.of.len()],
            count: 0,
        }
    }

    /// Sets the pieces around patches in `around`, and gives more, numbered after these: around two by two by
    /// two cells. `blocks` says which of these each patch is in.
    pub fn pieces(mut self, around: &mut [Piece], blocks: &mut [[u32; 8]]) -> Vec<Piece> {
        let (first, mut more) = (around.len() as u32, Vec::new());
        let mut done = std::collections::BTreeSet::new();
        for (p, patch) in self.patches.iter().enumerate().filter(|(_, patch)| !patch.is_flat) {
            let [panel, x, y, z, _] = self.keys[p];
            if self.surface.rest.is_empty() {
                around[p].near = vec![p as u32];
                continue;
            }
            debug_assert!(!patch.triangles.is_empty());
            let near = in_cells(self.numbers, panel, [x - 1, y - 1, z - 1], [x + 1, y + 1, z + 1]);
            around[p] = self.piece(self.connected(&near, p as u32));
            for corner in 0..8i64 {
                let low = [x - (corner & 1), y - (corner >> 1 & 1), z - (corner >> 2)];
                if !done.insert((panel, low)) {
                    continue;
                }
                let mut left = in_cells(self.numbers, panel, low, low.map(|cell| cell + 1));
                while let Some(&next) = left.first() {
                    let part = self.connected(&left, next);
                    left.retain(|p| part.binary_search(p).is_err());
                    for &p in &part {
                        if let Some(free) = blocks[p as usize].iter_mut().find(|block| **block == NONE) {
                            *free = first + more.len() as u32;
                        }
                    }
                    more.push(self.piece(part));
                }
            }
        }
        more
    }

    /// Those of `patches` that `first` is connected with by them, in ascending order.
    fn connected(&self, patches: &[u32], first: u32) -> Vec<u32> {
        let (mut found, mut next) = (vec![first], 0);
        while next < found.len() {
            for &q in &self.beside[found[next] as usize] {
                if patches.binary_search(&q).is_ok() && !found.contains(&q) {
                    found.push(q);
                }
            }
            next += 1;
        }
        found.sort_unstable();
        found
    }

    /// The piece around the patches `near`.
    fn piece(&mut self, near: Vec<u32>) -> Piece {
        let patches = self.patches;
        let own = || near.iter().flat_map(|&p| &patches[p as usize].triangles);
        let up: DVec3 = own().map(|&t| self.normals[t as usize]).sum();
        let none = |near| Piece { near, ..Piece::default() };
        let Some(up) = up.try_normalize() else { return none(near) };
        let along = up.any_orthonormal_vector();
        let axes = [along, up.cross(along)];
        let rest = &self.surface.rest;
        let place = |v: u32| DVec2::from(axes.map(|axis| rest[v as usize].as_dvec3().dot(axis)));
        let corners = near.iter().flat_map(|&p| &patches[p as usize].corners);
        let area = corners.fold(Area::EMPTY, |area, &v| area.with(place(v)));
        let area = area.grown(1e-6 * (area.high - area.low).max_element());
        let Some((mut triangles, slope)) =
            self.flood(patches[near[0] as usize].triangles[0], up, &area, place)
        else {
            return none(near);
        };
        if own().any(|&t| self.seen[t as usize] != self.count) || !self.is_convex(&triangles, &area, place) {
            return none(near);
        }
        triangles.sort_unstable_by_key(|&t| [self.of[t as usize], self.within[t as usize]]);
        let mut extra = Vec::new();
        let mut reaches: Vec<u32> = triangles.iter().map(|&t| self.of[t as usize]).collect();
        for &t in triangles.iter().filter(|&&t| near.binary_search(&self.of[t as usize]).is_err()) {
            add_lane(&mut extra, self.of[t as usize], self.within[t as usize]);
        }
        reaches.dedup();
        let needed = needed(self.surface, &triangles, slope.hypot(1.0) as f32, place);
        let axes = [axes[0], axes[1], up].map(|axis| axis.as_vec3().to_array());
        let chart = Chart { axes, slope: slope as f32 };
        // What nothing can fulfil is not worth a look.
        let needed = needed.iter().any(|&needed| needed < 1.0).then_some(needed);
        Piece { near, reaches, extra, needed, chart: Some(chart) }
    }

    /// What is connected with triangle `first` in `area`, and the largest slope; `None` if that is too much.
    fn flood(
        &mut self,
        first: u32,
        up: DVec3,
        area: &Area,
        place: impl Fn(u32) -> DVec2,
    ) -> Option<(Vec<u32>, f64)> {
        self.count += 1;
        let (mut found, mut next, mut steepest) = (vec![first], 0, 0.0f64);
        self.seen[first as usize] = self.count;
        while let Some(&t) = found.get(next) {
            next += 1;
            let normal = self.normals[t as usize];
            let slope = normal.cross(up).length() / normal.dot(up);
            // Also where it faces down, or has no area.
            if !(0.0..=MAX_SLOPE).contains(&slope) {
                return None;
            }
            steepest = steepest.max(slope);
            for edge in self.edges[t as usize] {
                let sides = self.topology.sides.get(edge as usize)?;
                let [a, b] = self.surface.edges[edge as usize].map(&place);
                for &other in sides.iter().filter(|&&other| other != NONE) {
                    if self.seen[other as usize] != self.count && area.meets_hull([a, b, b]) {
                        self.seen[other as usize] = self.count;
                        found.push(other);
                    }
                }
            }
        }
        Some((found, steepest))
    }

    /// Whether every vertex of these triangles that is in `area` is surrounded once, or is a corner of the
    /// border that does not point inwards.
    fn is_convex(&mut self, triangles: &[u32], area: &Area, place: impl Fn(u32) -> DVec2) -> bool {
        let corners = |t: &u32| self.surface.triangles[*t as usize];
        triangles.iter().flat_map(corners).for_each(|v| self.angles[v as usize] = 0.0);
        for &t in triangles {
            let corners = self.surface.triangles[t as usize];
            let [a, b, c] = corners.map(&place);
            for (v, [o, p, q]) in corners.into_iter().zip([[a, b, c], [b, c, a], [c, a, b]]) {
                self.angles[v as usize] += (p - o).angle_to(q - o);
            }
        }
        let turn = std::f64::consts::PI;
        triangles.iter().flat_map(|t| self.surface.triangles[*t as usize]).all(|v| {
            let angle = self.angles[v as usize];
            !area.contains(place(v))
                || match self.topology.borders[v as usize] {
                    Some(0) => (angle - 2.0 * turn).abs() <= INWARD,
                    Some(2) => angle <= turn + INWARD,
                    _ => false,
                }
        })
    }
}
