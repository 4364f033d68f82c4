//! How the parts of a vertex that was split move apart, so that torn edges have two sides.
//!
//! Each part moves a little towards the middle of its own triangles. Where cloth is folded at a tear, that
//! can put one flank through another: there the parts are set one above the other in place of that, the one
//! way or the other, and where nothing of this is free of intersections the vertex is not split yet.

use std::collections::{BTreeMap, BTreeSet};

use glam::Vec3;

use super::carry::Origins;
use crate::{Description, State, World, contact::intersection::pierces, mesh::split};

/// Fraction of the way to the middle of its triangles by which each part moves.
const OPENING: f32 = 2e-3;

/// The same where parts are set one above the other.
const LESS_OPENING: f32 = 2e-4;

/// Where a split vertex may go: into its triangles, less far, above and below.
const CHOICES: u32 = 4;

/// Rounds of choosing; what is not free of intersections by then is not split.
const MAX_ROUNDS: u32 = 12;

/// A vertex of a body, in the caller's order.
pub(super) type BodyVertex = (usize, u32);

/// Where vertices of torn bodies are after their tears have opened \[m\].
pub(super) type Opened = Vec<(BodyVertex, Vec3)>;

/// The parts of a vertex that was split.
#[derive(Debug, Default)]
struct Group {
    /// Its parts that are free to move, with the way to the middle of the triangles of each \[m\].
    parts: Vec<(u32, Vec3)>,
    normal: Vec3,
    choice: u32,
}

impl Group {
    /// Where its parts go from `at` \[m\].
    fn places(&self, at: Vec3) -> impl Iterator<Item = (u32, Vec3)> {
        let size = self.parts.iter().map(|(_, way)| way.length()).fold(0.0, f32::max);
        let middle = 0.5 * (self.parts.len() as f32 - 1.0);
        (0..).zip(&self.parts).map(move |(rank, &(v, way))| {
            let rank = if self.parts.len() > 1 { rank as f32 - middle } else { 1.0 };
            let above = OPENING * size * rank * self.normal;
            let moved = match self.choice {
                0 => OPENING * way,
                1 => LESS_OPENING * way,
                2 => LESS_OPENING * way + above,
                _ => LESS_OPENING * way - above,
            };
            (v, at + moved)
        })
    }
}

/// All vertices and triangles after a tear, numbered body by body in the caller's order.
struct Flanks<'a> {
    world: &'a World,
    state: &'a State,
    /// By body: its first vertex.
    first: Vec<u32>,
    x: Vec<Vec3>,
    /// By vertex: what it was in the engine before.
    before: Vec<u32>,
    /// By vertex: whether it was there before.
    is_old: Vec<bool>,
    triangles: Vec<[u32; 3]>,
}

/// Opens all tears of `torn`, which the bodies of `world` become, at `state`; `places` are the engine's
/// places of all vertices by body. `Err` names vertices that cannot be split without an intersection.
pub(super) fn open(
    (world, state): (&World, &State),
    places: &[Vec<u32>],
    torn: &Description,
    origins: &Origins,
) -> Result<Opened, Vec<BodyVertex>> {
    let mut flanks = Flanks::new((world, state), places, torn, origins);
    let mut groups = flanks.groups(torn, origins);
    let moved: BTreeMap<u32, u32> =
        groups.iter().flat_map(|(&key, group)| group.parts.iter().map(move |part| (part.0, key))).collect();
    // By their vertices, `first` says which body.
    let named = |v: u32| {
        let body = flanks.first.partition_point(|&first| first <= v) - 1;
        (body, v - flanks.first[body])
    };
    let mut stuck = BTreeSet::new();
    for round in 0.. {
        for (&before, group) in &groups {
            for (v, x) in group.places(Vec3::from_slice(&state.x[before as usize])) {
                flanks.x[v as usize] = x;
            }
        }
        let crossed: BTreeSet<u32> = flanks.crossed(&moved).into_iter().collect();
        if crossed.is_empty() {
            break;
        }
        for before in crossed {
            let Some(group) = groups.get_mut(&before) else { continue };
            group.choice += 1;
            if group.choice == CHOICES || round == MAX_ROUNDS {
                stuck.insert(group.parts[0].0);
            }
        }
        if !stuck.is_empty() {
            let split = |v: u32| {
                let (body, _) = named(v);
                let tables = &world.bodies[body];
                let place = flanks.before[v as usize] as usize - tables.vertices.start;
                (body, tables.order()[place])
            };
            return Err(stuck.into_iter().map(split).collect());
        }
    }
    Ok(moved.keys().map(|&v| (named(v), flanks.x[v as usize])).collect())
}

impl<'a> Flanks<'a> {
    fn new(
        (world, state): (&'a World, &'a State),
        places: &[Vec<u32>],
        torn: &Description,
        origins: &Origins,
    ) -> Self {
        let mut flanks = Self {
            world,
            state,
            first: Vec::new(),
            x: Vec::new(),
            before: Vec::new(),
            is_old: Vec::new(),
            triangles: Vec::new(),
        };
        for (index, body) in world.bodies.iter().enumerate() {
            let (start, first) = (body.vertices.start as u32, flanks.x.len() as u32);
            let splits = &origins.splits[index];
            let triangles = match torn.bodies[index].as_cloth() {
                Some(cloth) => &cloth.mesh.triangles,
                None => &body.surface,
            };
            flanks.triangles.extend(triangles.iter().map(|t| t.map(|v| first + v)));
            flanks.first.push(first);
            flanks.before.extend(places[index].iter().chain(splits).map(|&place| start + place));
            flanks.is_old.extend(places[index].iter().map(|_| true));
            flanks.is_old.extend(splits.iter().map(|_| false));
            flanks.x.resize(flanks.before.len(), Vec3::ZERO);
        }
        flanks.first.push(flanks.x.len() as u32);
        if let Some(surface) = &world.surface {
            // Mesh obstacles behind the bodies.
            let (from, first) = (surface.fixed_from, flanks.x.len() as u32);
            let fixed = surface.triangles.iter().filter(|t| t[0] >= from);
            flanks.triangles.extend(fixed.map(|t| t.map(|v| first + v - from)));
            flanks.before.extend(from..state.x.len() as u32);
            flanks.is_old.resize(flanks.before.len(), true);
        }
        flanks.x = flanks.before.iter().map(|&v| Vec3::from_slice(&state.x[v as usize])).collect();
        flanks
    }

    /// The parts of all vertices that were split, by what these are in the engine.
    fn groups(&self, torn: &Description, origins: &Origins) -> BTreeMap<u32, Group> {
        let mut groups = BTreeMap::<u32, Group>::new();
        for (index, splits) in origins.splits.iter().enumerate().filter(|(_, splits)| !splits.is_empty()) {
            let Some(cloth) = torn.bodies[index].as_cloth() else { continue };
            let [first, end] = [self.first[index], self.first[index + 1]];
            let at = |v: u32| self.x[(first + v) as usize];
            let ways = split::into_own_triangles((end - first) as usize, &cloth.mesh.triangles, at);
            let is_split: BTreeSet<u32> =
                splits.iter().map(|&place| self.world.bodies[index].vertices.start as u32 + place).collect();
            for v in first..end {
                let before = self.before[v as usize];
                if !is_split.contains(&before) {
                    continue;
                }
                let is_held = self.is_old[v as usize] && self.state.x[before as usize][3] == 0.0;
                let group = groups.entry(before).or_default();
                if !is_held {
                    group.parts.push((v, ways[(v - first) as usize]));
                }
            }
            for t in &cloth.mesh.triangles {
                for v in t.map(|v| self.before[(first + v) as usize]) {
                    if let Some(group) = groups.get_mut(&v) {
                        let [a, b, c] = t.map(at);
                        group.normal += (b - a).cross(c - a);
                    }
                }
            }
        }
        groups.retain(|_, group| {
            group.normal = group.normal.normalize_or_zero();
            !group.parts.is_empty()
        });
        groups
    }

    /// The split vertices at which something newly intersects; `moved` says what each part was split from.
    fn crossed(&self, moved: &BTreeMap<u32, u32>) -> Vec<u32> {
        let Some(surface) = &self.world.surface else { return Vec::new() };
        let corners = |t: [u32; 3]| t.map(|v| self.x[v as usize]);
        let bounds = |t: [u32; 3]| {
            let [a, b, c] = corners(t);
            [a.min(b).min(c), a.max(b).max(c)]
        };
        let is_moved = |t: &[u32; 3]| t.iter().any(|v| moved.contains_key(v));
        let own: Vec<[u32; 3]> = self.triangles.iter().copied().filter(is_moved).collect();
        let own_bounds: Vec<[Vec3; 2]> = own.iter().map(|&t| bounds(t)).collect();
        let meet = |a: &[Vec3; 2], b: &[Vec3; 2]| a[0].cmple(b[1]).all() && b[0].cmple(a[1]).all();
        let all = own_bounds.iter().copied().reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let Some(all) = all else { return Vec::new() };
        let is_fixed = |t: [u32; 3]| surface.is_fixed(self.before[t[0] as usize]);
        let mut crossed = Vec::new();
        for &other in &self.triangles {
            let about = bounds(other);
            if !meet(&all, &about) || !surface.between_cloth && !is_fixed(other) {
                continue;
            }
            for (&t, _) in own.iter().zip(&own_bounds).filter(|(_, bounds)| meet(bounds, &about)) {
                if self.cross(t, other) || self.cross(other, t) {
                    let parts = t.iter().chain(&other).filter_map(|v| moved.get(v));
                    crossed.extend(parts.copied());
                }
            }
        }
        crossed
    }

    /// Whether an edge of the triangle `a` pierces `b`, and did not before the tear.
    fn cross(&self, a: [u32; 3], b: [u32; 3]) -> bool {
        let identity = |v: u32| {
            let before = self.before[v as usize];
            let same = self.world.surface.as_ref().map_or(before, |s| s.identity[before as usize]);
            if self.is_old[v as usize] { [same, 0] } else { [v, 1] }
        };
        let x = |v: u32| self.x[v as usize].to_array();
        let old = |v: u32| {
            let [x, y, z, _] = self.state.x[self.before[v as usize] as usize];
            [x, y, z]
        };
        [[a[0], a[1]], [a[1], a[2]], [a[2], a[0]]].into_iter().any(|edge| {
            let share = edge.iter().any(|&v| b.iter().any(|&w| identity(v) == identity(w)));
            if share || !pierces(edge.map(x), b.map(x)) {
                return false;
            }
            let before = |v: u32| self.before[v as usize];
            let shared = edge.iter().any(|&v| b.iter().any(|&w| before(v) == before(w)));
            shared || !pierces(edge.map(old), b.map(old))
        })
    }
}
