//! Which primitives belong to which patch, and around which patches the pattern is convex.
//!
//! A surface falls into panels: parts that are connected by triangles. A panel that is flat at rest has a
//! pattern, its rest shape seen along its normal, and patches are the cells of a grid in it; those of others
//! are what is connected in cells in space ([`charts`](super::charts)). The piece around a patch is the part
//! of the panel in the smallest box around the patches near it. It is convex if it is connected, and its
//! border has no corner that points inwards: a connected closed set that is locally convex is convex (Tietze,
//! Nakajima). So holes, slits, darts and hollow outlines are found, and patches at such places are searched
//! in full.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use super::{
    NO_BLOCKS, NONE, Patch, Patches, Piece,
    area::Area,
    charts::{self, Charts},
    curved::{Frames, Shells},
    gradients::{Gradients, Triangles},
};
use crate::{
    contact::{
        guard::GUARDED_GAP,
        surface::Surface,
        tree::{Swept, Tree},
    },
    kernel::lanes::{BATCH, Quad},
};

/// Size of a patch in mean lengths of an edge of its panel.
const PATCH_EDGES: f64 = 2.0;

/// Cosine of the largest angle between a triangle and its panel, if the panel is to count as flat.
const FLAT_COSINE: f64 = 0.99;

/// How much an angle of the border may point inwards \[rad\].
pub(super) const INWARD: f64 = 1e-3;

/// Distances within a piece are tested up to this many gaps, and against this part of what they were at the
/// start, whichever is less ([`touching`](crate::contact::touching)).
const TESTED: [f32; 2] = [1.5, 0.75];

/// What rounding may take from λ, and the least that is asked of it: where nothing is to touch, and where
/// nothing is to collide.
const ROUNDING: f32 = 0.01;
const LEAST_NEEDED: f32 = 0.4;
const LEAST_GUARDED: f32 = 0.15;

/// Pieces of a piece of parallel work.
const GRAIN: usize = 32;

/// A patch by its panel, its cell, and its number among the parts of that cell.
pub(super) type Key = [i64; 5];

/// Panels of a surface.
pub(super) struct Panels {
    /// By vertex.
    pub(super) of: Vec<u32>,
    /// By vertex: its place in the pattern \[m\], or at rest in space.
    pub(super) places: Vec<DVec3>,
    /// By panel.
    pub(super) is_flat: Vec<bool>,
    /// By panel: the side of its cells \[m\].
    pub(super) cells: Vec<f64>,
}

/// What is known of the mesh.
pub(super) struct Topology {
    /// By edge: the triangles at it.
    pub(super) sides: Vec<[u32; 2]>,
    /// By triangle: the edges from each of its corners to the next; [`NONE`] of what is fixed.
    edges: Vec<[u32; 3]>,
    /// By vertex: whether the border points inwards there, or is none of a surface.
    is_inward: Vec<bool>,
    /// By vertex: edges of the border there; `None` if it is none of a surface.
    pub(super) borders: Vec<Option<u32>>,
}

impl Patches {
    /// Patches of what is not fixed in `surface`, whose vertices start at `x` \[m\].
    pub fn new(surface: &Surface, x: &[Quad]) -> Self {
        let panels = Panels::new(surface, x);
        let topology = Topology::new(surface, &panels);
        let parts = charts::parts_of_cells(surface, &panels, &topology);
        let mut cells = BTreeMap::<Key, Patch>::new();
        let mut rest = vec![[0.0; 4]; surface.triangles.len()];
        let mut taken = (vec![false; surface.edges.len()], vec![false; x.len()]);
        for (t, &corners) in surface.triangles.iter().enumerate() {
            if surface.is_fixed(corners[0]) {
                continue;
            }
            let panel = panels.of[corners[0] as usize] as usize;
            let p = corners.map(|v| panels.places[v as usize]);
            let [x, y, z] = panels.cell_of(corners);
            let patch = cells.entry([panel as i64, x, y, z, parts[t].into()]).or_default();
            patch.is_flat = panels.is_flat[panel];
            if patch.is_flat {
                rest[t] = inverse(p.map(DVec3::truncate)).unwrap_or_default();
            }
            patch.add(surface, t as u32, corners, &mut taken);
        }
        let numbers: BTreeMap<Key, u32> = cells.keys().copied().zip(0..).collect();
        let keys: Vec<Key> = cells.keys().copied().collect();
        let mut all: Vec<Patch> = cells.into_values().collect();
        for patch in &mut all {
            patch.corners.sort_unstable();
            patch.corners.dedup();
        }
        let pieces = Pieces::new(surface, &panels, &topology, &rest, &all, (&keys, &numbers));
        let patches = (0..all.len()).into_par_iter().with_min_len(GRAIN);
        let mut found: Vec<Piece> = patches.map(|patch| pieces.around(patch)).collect();
        let (blocks, mut of_patches) = pieces.blocks(found.len() as u32);
        found.extend(blocks);
        let shells = Shells::new(surface, &all);
        let curved = Charts::new(surface, &panels, &topology, &all, (&keys, &numbers));
        let more = curved.pieces(&mut found, &mut of_patches);
        found.extend(more);
        for (patch, blocks) in all.iter_mut().zip(of_patches) {
            patch.blocks = blocks;
        }
        let about = |patch: &Patch| {
            let corners = patch.corners.iter();
            corners.fold(Swept::EMPTY, |about, &v| about.with(&x[v as usize], &x[v as usize]))
        };
        let boxes: Vec<Swept> = all.iter().map(about).collect();
        let radius_of = |patch: &Patch| {
            patch.corners.iter().fold(0.0f32, |most, &v| most.max(surface.radius[v as usize]))
        };
        let triangles = Triangles::new(surface, &all, &rest);
        Self {
            tree: Tree::new(&boxes),
            gradients: [(); 2].map(|()| Gradients::new(&triangles)),
            triangles,
            frames: [(); 2].map(|()| Frames::new(&shells)),
            shells,
            seen: [(); 2].map(|()| Vec::with_capacity(x.len())),
            safe: vec![false; found.len()],
            proven: vec![false; found.len()],
            pieces: found,
            radius: all.iter().map(radius_of).collect(),
            boxes,
            all,
        }
    }
}

impl Patch {
    fn add(
        &mut self,
        surface: &Surface,
        t: u32,
        corners: [u32; 3],
        (edges, vertices): &mut (Vec<bool>, Vec<bool>),
    ) {
        self.triangles.push(t);
        self.corners.extend(corners);
        for k in 0..3 {
            let [a, b] = [corners[k], corners[(k + 1) % 3]];
            if let Ok(e) = surface.edges.binary_search(&[a.min(b), a.max(b)])
                && !std::mem::replace(&mut edges[e], true)
            {
                self.edges.push(e as u32);
            }
            if let Ok(v) = surface.vertices.binary_search(&a)
                && !std::mem::replace(&mut vertices[a as usize], true)
            {
                self.vertices.push(v as u32);
            }
        }
    }
}

impl Panels {
    fn new(surface: &Surface, x: &[Quad]) -> Self {
        let own = || surface.triangles.iter().filter(|t| !surface.is_fixed(t[0]));
        let at = |v: u32| match surface.rest.get(v as usize) {
            Some(rest) => rest.as_dvec3(),
            None => Vec3::from_slice(&x[v as usize]).as_dvec3(),
        };
        let of = panels_of(x.len(), own().map(|t| t.as_slice()));
        let count = of.iter().copied().filter(|&p| p != NONE).max().map_or(0, |p| p as usize + 1);
        // The normal of its largest triangle is that of a flat panel.
        let mut normals = vec![DVec3::ZERO; count];
        let mut lengths = vec![(0.0, 0.0f64); count];
        let cross = |t: &[u32; 3]| {
            let [a, b, c] = t.map(at);
            (b - a).cross(c - a)
        };
        for t in own() {
            let (panel, normal) = (of[t[0] as usize] as usize, cross(t));
            if normal.length_squared() > normals[panel].length_squared() {
                normals[panel] = normal;
            }
            for k in 0..3 {
                lengths[panel].0 += at(t[k]).distance(at(t[(k + 1) % 3]));
                lengths[panel].1 += 1.0;
            }
        }
        let mut is_flat = vec![!surface.rest.is_empty(); count];
        for t in own() {
            let panel = of[t[0] as usize] as usize;
            let (normal, own) = (normals[panel], cross(t));
            // Slivers face anywhere, and are no pattern either.
            is_flat[panel] &=
                own.dot(normal) >= FLAT_COSINE * own.length() * normal.length() && own.length_squared() > 0.0;
        }
        let axes: Vec<[DVec3; 2]> = normals
            .iter()
            .map(|normal| {
                let along = normal.try_normalize().unwrap_or(DVec3::Y).any_orthonormal_vector();
                [along, normal.normalize_or(DVec3::Y).cross(along)]
            })
            .collect();
        let place = |(v, &panel): (usize, &u32)| match panel {
            NONE => DVec3::ZERO,
            panel if is_flat[panel as usize] => {
                let [along, across] = axes[panel as usize];
                let p = at(v as u32);
                DVec3::new(p.dot(along), p.dot(across), 0.0)
            }
            _ => at(v as u32),
        };
        let places = of.iter().enumerate().map(place).collect();
        let cells = lengths.iter().map(|&(sum, n)| (PATCH_EDGES * sum / n.max(1.0)).max(1e-12)).collect();
        Self { of, places, is_flat, cells }
    }

    /// The cell of the triangle with these `corners`.
    pub(super) fn cell_of(&self, corners: [u32; 3]) -> [i64; 3] {
        let size = self.cells[self.of[corners[0] as usize] as usize];
        let sum: DVec3 = corners.iter().map(|&v| self.places[v as usize]).sum();
        // Coordinates of any size stay numbers, also a few cells further.
        let cell = (sum / (3.0 * size)).floor().clamp(DVec3::splat(-1e15), DVec3::splat(1e15));
        cell.to_array().map(|c| c as i64)
    }
}

/// The panel of each of `count` vertices: those of one element are of one panel.
fn panels_of<'a>(count: usize, elements: impl Iterator<Item = &'a [u32]>) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..count as u32).collect();
    let mut used = vec![false; count];
    for element in elements {
        for &v in element {
            used[v as usize] = true;
            let [a, b] = [element[0], v].map(|v| root(&mut parent, v));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut numbers = vec![NONE; count];
    let mut next = 0;
    for v in (0..count as u32).filter(|&v| used[v as usize]) {
        let first = root(&mut parent, v) as usize;
        if numbers[first] == NONE {
            numbers[first] = next;
            next += 1;
        }
        numbers[v as usize] = numbers[first];
    }
    numbers
}

pub(super) fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        parent[v as usize] = parent[parent[v as usize] as usize];
        v = parent[v as usize];
    }
    v
}

/// Patches of a panel in the cells from `low` to `high`, in ascending order.
pub(super) fn in_cells(numbers: &BTreeMap<Key, u32>, panel: i64, low: [i64; 3], high: [i64; 3]) -> Vec<u32> {
    let mut found = Vec::new();
    for x in low[0]..=high[0] {
        for y in low[1]..=high[1] {
            for z in low[2]..=high[2] {
                let parts = numbers.range([panel, x, y, z, 0]..=[panel, x, y, z, i64::MAX]);
                found.extend(parts.map(|(_, patch)| *patch));
            }
        }
    }
    found.sort_unstable();
    found
}

/// The inverse of the two edges of a triangle in the pattern, if it has an area.
fn inverse([a, b, c]: [DVec2; 3]) -> Option<[f32; 4]> {
    let (e, f) = (b - a, c - a);
    let area = e.perp_dot(f);
    let inverse = [f.y / area, -f.x / area, -e.y / area, e.x / area].map(|r| r as f32);
    inverse.iter().all(|r| r.is_finite()).then_some(inverse)
}

impl Topology {
    fn new(surface: &Surface, panels: &Panels) -> Self {
        let count = panels.of.len();
        let (mut sides, mut odd) = (vec![[NONE; 2]; surface.edges.len()], vec![false; count]);
        let mut edges = vec![[NONE; 3]; surface.triangles.len()];
        let mut angles = vec![0.0; count];
        for (t, corners) in surface.triangles.iter().enumerate().filter(|(_, t)| !surface.is_fixed(t[0])) {
            for k in 0..3 {
                let [v, a, b] = [corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]];
                let [o, p, q] = [v, a, b].map(|v| panels.places[v as usize]);
                angles[v as usize] += (p - o).angle_between(q - o);
                let Ok(e) = surface.edges.binary_search(&[v.min(a), v.max(a)]) else { continue };
                edges[t][k] = e as u32;
                match sides[e].iter().position(|side| *side == NONE) {
                    Some(free) => sides[e][free] = t as u32,
                    None => [v, a].iter().for_each(|&v| odd[v as usize] = true),
                }
            }
        }
        let mut borders = vec![0u32; count];
        for (edge, sides) in surface.edges.iter().zip(&sides).filter(|(_, sides)| sides[1] == NONE) {
            if sides[0] != NONE {
                edge.iter().for_each(|&v| borders[v as usize] += 1);
            }
        }
        let is_inward = |v: usize| {
            let turn = std::f64::consts::PI;
            odd[v]
                || match borders[v] {
                    0 => (angles[v] - 2.0 * turn).abs() > INWARD,
                    2 => angles[v] > turn + INWARD || angles[v].is_nan(),
                    _ => true,
                }
        };
        let is_inward = (0..count).map(is_inward).collect();
        let borders = odd.iter().zip(borders).map(|(odd, count)| (!odd).then_some(count)).collect();
        Self { is_inward, sides, edges, borders }
    }
}

/// Finds the pieces around patches.
struct Pieces<'a> {
    surface: &'a Surface,
    panels: &'a Panels,
    topology: &'a Topology,
    rest: &'a [[f32; 4]],
    patches: &'a [Patch],
    keys: &'a [Key],
    numbers: &'a BTreeMap<Key, u32>,
    areas: Vec<Area>,
    /// Patches that reach further out of their cells than a cell.
    wide: Vec<u32>,
    /// By triangle: its number among those of its patch.
    within: Vec<u32>,
}

impl<'a> Pieces<'a> {
    fn new(
        surface: &'a Surface,
        panels: &'a Panels,
        topology: &'a Topology,
        rest: &'a [[f32; 4]],
        patches: &'a [Patch],
        (keys, numbers): (&'a [Key], &'a BTreeMap<Key, u32>),
    ) -> Self {
        let place = |v: u32| panels.places[v as usize].truncate();
        let area = |p: &Patch| p.corners.iter().fold(Area::EMPTY, |area, &v| area.with(place(v)));
        let areas: Vec<Area> = patches.iter().map(area).collect();
        let is_wide = |&p: &u32| {
            let (key, area) = (keys[p as usize], areas[p as usize]);
            let size = panels.cells[key[0] as usize];
            let low = DVec2::new(key[1] as f64, key[2] as f64) * size;
            patches[p as usize].is_flat
                && !(area.low.cmpge(low - size).all() && area.high.cmple(low + 2.0 * size).all())
        };
        let within = numbers_within(surface, patches);
        let wide = (0..patches.len() as u32).filter(is_wide).collect();
        Self { surface, panels, topology, rest, patches, keys, numbers, areas, wide, within }
    }

    /// The piece around a patch and the patches around it, if its panel is flat.
    fn around(&self, patch: usize) -> Piece {
        if !self.patches[patch].is_flat {
            return Piece::default();
        }
        let [panel, x, y, ..] = self.keys[patch];
        self.piece(panel, [x - 1, y - 1], [x + 1, y + 1])
    }

    /// The pieces around two by two patches, numbered from `first` on, and which of them each patch is in.
    fn blocks(&self, first: u32) -> (Vec<Piece>, Vec<[u32; 8]>) {
        let mut numbers = BTreeMap::<[i64; 3], u32>::new();
        let mut places = Vec::new();
        let mut of_patches = vec![NO_BLOCKS; self.keys.len()];
        for (patch, &[panel, x, y, ..]) in self.keys.iter().enumerate() {
            if !self.patches[patch].is_flat {
                continue;
            }
            for (k, low) in [[x - 1, y - 1], [x, y - 1], [x - 1, y], [x, y]].into_iter().enumerate() {
                of_patches[patch][k] = *numbers.entry([panel, low[0], low[1]]).or_insert_with(|| {
                    places.push((panel, low));
                    first + places.len() as u32 - 1
                });
            }
        }
        let block = |&(panel, low): &(i64, [i64; 2])| self.piece(panel, low, low.map(|cell| cell + 1));
        (places.par_iter().with_min_len(GRAIN).map(block).collect(), of_patches)
    }

    /// The piece around the patches of a flat panel in the cells from `low` to `high`.
    fn piece(&self, panel: i64, low: [i64; 2], high: [i64; 2]) -> Piece {
        let cells = |more: i64| {
            let [low, high] = [low.map(|cell| cell - more), high.map(|cell| cell + more)];
            in_cells(self.numbers, panel, [low[0], low[1], 0], [high[0], high[1], 0])
        };
        let near = cells(0);
        let area = near.iter().fold(Area::EMPTY, |all, &p| {
            all.with(self.areas[p as usize].low).with(self.areas[p as usize].high)
        });
        let area = area.grown(1e-6 * (area.high - area.low).max_element());
        let mut reaches = cells(1);
        let others = self.wide.iter().filter(|&&p| self.keys[p as usize][0] == panel);
        reaches.extend(others);
        reaches.sort_unstable();
        reaches.dedup();
        // Large triangles may be in cells that are further away, but those are wide patches.
        let place = |v: u32| self.panels.places[v as usize].truncate();
        let (mut triangles, mut extra) = (Vec::new(), Vec::<[u32; 3]>::new());
        reaches.retain(|&p| {
            let before = triangles.len();
            let own = self.patches[p as usize].triangles.iter();
            triangles
                .extend(own.filter(|&&t| area.meets_hull(self.surface.triangles[t as usize].map(place))));
            if near.binary_search(&p).is_err() {
                triangles[before..].iter().for_each(|&t| add_lane(&mut extra, p, self.within[t as usize]));
            }
            triangles.len() > before
        });
        let needed = self.is_convex(&triangles, &area).then(|| needed(self.surface, &triangles, 1.0, place));
        Piece { near, reaches, extra, needed, chart: None }
    }

    /// Whether the part of the panel in `area`, which these triangles are in, is convex.
    fn is_convex(&self, triangles: &[u32], area: &Area) -> bool {
        let place = |v: u32| self.panels.places[v as usize].truncate();
        let bad = |&&t: &&u32| {
            let corners = self.surface.triangles[t as usize];
            let inward = |v: &u32| self.topology.is_inward[*v as usize] && area.contains(place(*v));
            self.rest[t as usize] == [0.0; 4] || corners.iter().any(inward)
        };
        if triangles.iter().any(|t| bad(&t)) {
            return false;
        }
        let mut order = triangles.to_vec();
        order.sort_unstable();
        let mut parent: Vec<u32> = (0..order.len() as u32).collect();
        let mut parts = order.len();
        for (k, &t) in order.iter().enumerate() {
            let corners = self.surface.triangles[t as usize];
            for side in 0..3 {
                let [a, b] = [corners[side], corners[(side + 1) % 3]];
                let Some(sides) = self.topology.sides.get(self.topology.edges[t as usize][side] as usize)
                else {
                    continue;
                };
                let other = sides.iter().copied().find(|&other| other != t && other != NONE);
                let Some(other) = other.and_then(|other| order.binary_search(&other).ok()) else { continue };
                if area.meets_hull([place(a), place(b), place(b)]) {
                    let [a, b] = [k as u32, other as u32].map(|t| root(&mut parent, t));
                    parts -= usize::from(a != b);
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
        parts == 1
    }
}

/// By triangle: its number among those of its patch.
pub(super) fn numbers_within(surface: &Surface, patches: &[Patch]) -> Vec<u32> {
    let mut within = vec![0; surface.triangles.len()];
    for patch in patches {
        (0..).zip(&patch.triangles).for_each(|(k, &t)| within[t as usize] = k);
    }
    within
}

/// Adds triangle `number` of patch `patch` to [`Piece::extra`].
pub(super) fn add_lane(extra: &mut Vec<[u32; 3]>, patch: u32, number: u32) {
    let (batch, lane) = (number / BATCH as u32, number % BATCH as u32);
    match extra.last_mut().filter(|last| last[..2] == [patch, batch]) {
        Some(last) => last[2] |= 1 << lane,
        None => extra.push([patch, batch, 1 << lane]),
    }
}

/// What λ must be, so that no two primitives without a common vertex touch, or collide: in the pattern they
/// are at least the least height of a triangle apart, and at rest at most `steepest` times as far as there.
pub(super) fn needed(
    surface: &Surface,
    triangles: &[u32],
    steepest: f32,
    place: impl Fn(u32) -> DVec2,
) -> [f32; 2] {
    let (mut height, mut radius) = (f64::INFINITY, 0.0f32);
    for &t in triangles {
        let corners = surface.triangles[t as usize];
        let [a, b, c] = corners.map(&place);
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        height = height.min((b - a).perp_dot(c - a).abs() / longest);
        radius = corners.iter().fold(radius, |most, &v| most.max(surface.radius[v as usize]));
    }
    let [gaps, share] = TESTED;
    let touching = (gaps * 2.0 * radius / height as f32).clamp(LEAST_NEEDED, share * steepest);
    let colliding = (GUARDED_GAP * 2.0 * radius / height as f32).max(LEAST_GUARDED);
    [touching, colliding].map(|needed| needed + ROUNDING)
}
