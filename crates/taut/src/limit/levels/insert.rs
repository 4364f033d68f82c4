//! Pins that no vertex of a level of cloth can be moved onto get one of their own (T4; Tang et al.,
//! "Handling constraints").
//!
//! A pin is found on a level by walking over it from the vertex that the transfers name. It gets no vertex
//! where that would change nothing: where it lies among held vertices of the level, by all but a tenth of
//! its weight, as in a row of pins along a border. Nor where a held vertex is nearer than a quarter of an
//! edge: that one stands for both. Else the corner next to it is moved onto it if that spoils no triangle,
//! or a vertex is inserted, with edges flipped around it (`hierarchy/insert.rs`): on the border if the pin
//! is on that of the base. A pin inside, but too near to a border for a triangle between, splits the
//! border too. What is left, a pin for which both would turn a triangle over, is dropped on that level.
//!
//! Where a vertex is inserted, vertices of the finer level that lie in triangles that changed are located
//! again, so that weights are those of the new triangles. Levels on which vertices are only moved keep
//! theirs. Inserted vertices come last: those of the finer level follow, on this one, the vertex of their
//! pin, or the triangle that the pin lies in.
//!
//! Different from the paper: it inserts where the nearest vertex is too far, here where moving it would
//! spoil triangles or the outline; it does not say how vertices follow inserted ones. Levels of solids do
//! not get vertices: a pin is dropped there where no vertex can be moved onto it.

use glam::Vec3;

use super::{
    parts::Bare,
    tables::{mean_square_edge, shape},
};
use crate::{
    hierarchy::{fit::Refit, insert::Remesher},
    limit::tuning::levels::{COVERED, INSERT_DISTANCE, INSERT_QUALITY, OUTLINE, PIN_QUALITY},
};

/// The next finer level, as it is with its pins.
#[derive(Debug)]
pub struct Finer {
    /// Vertices that it was built with; what was inserted comes after.
    pub built: usize,
    /// Rest positions \[m\].
    pub positions: Vec<Vec3>,
    /// Pins that vertices were moved onto, or were inserted for.
    pub pins: Vec<Option<u32>>,
    /// Whether a vertex was moved.
    pub moved: Vec<bool>,
}

/// A level while pins get vertices.
#[derive(Debug)]
pub struct Pinning<'a, const K: usize> {
    /// As it was built.
    pub built: &'a Bare<K>,
    /// With vertices moved onto pins.
    pub level: &'a mut Bare<K>,
    /// The pin of each of its vertices.
    pub held: &'a mut Vec<Option<u32>>,
    /// Elements whose limits are no longer those that it was built with.
    pub altered: &'a mut Vec<bool>,
    /// The next finer level.
    pub finer: &'a Finer,
    /// Pins in ascending order, vertices of the base.
    pub pins: &'a [u32],
    /// For each, a vertex near it of the finer level and of this one, as they were built.
    pub near: [&'a [u32]; 2],
    /// Rest positions of the base \[m\].
    pub rest: &'a [Vec3],
}

/// Gives pins that have no vertex of a level of cloth one, and vertices that were inserted into the finer one
/// a place. The base is that of `refit`.
pub fn insert(refit: &Refit, pinning: Pinning<3>) {
    let Pinning { built, level, held, altered, finer, pins, near, rest } = pinning;
    let mut has: Vec<(u32, u32)> = (0u32..).zip(&*held).filter_map(|(v, pin)| Some(((*pin)?, v))).collect();
    has.sort_unstable();
    let is_missing = |i: &usize| has.binary_search_by_key(&pins[*i], |h| h.0).is_err();
    let missing: Vec<usize> = (0..pins.len()).filter(is_missing).collect();
    if level.elements.is_empty() || missing.is_empty() && finer.positions.len() == finer.built {
        return;
    }
    let edge = mean_square_edge(built).sqrt() as f32;
    let facing = |v: u32| shape(built.transfer.corners[v as usize].map(|c| built.positions[c as usize])).0;
    let mut mesh = Remesher::new(&level.positions, &level.elements, std::mem::take(altered));
    for i in missing.into_iter().filter(|_| inserts()) {
        let (pin, at) = (pins[i], rest[pins[i] as usize]);
        let Some(place) = mesh.locate(near[1][i], at, facing(near[0][i])) else { continue };
        let is_held = |v: u32| held[v as usize].is_some();
        let free: f32 = (0..3).filter(|&k| !is_held(place.corners[k])).map(|k| place.weights[k]).sum();
        let is_near = |v: &u32| is_held(*v) && mesh.position(*v).distance(at) < INSERT_DISTANCE * edge;
        if free < COVERED || mesh.around(&place).iter().any(is_near) {
            continue;
        }
        let is_on_border = refit.is_on_border(pin);
        let main = (0..3).max_by(|&a, &b| place.weights[a].total_cmp(&place.weights[b])).unwrap_or(0);
        let main = place.corners[main];
        let border = mesh.border_neighbors(main);
        let moves = !is_held(main)
            && border.is_some() == is_on_border
            && border.is_none_or(|ends| dent(level.positions[main as usize], at, ends) <= OUTLINE * edge)
            && mesh.try_move(main, at, f64::from(PIN_QUALITY));
        if moves {
            level.positions[main as usize] = at;
            held[main as usize] = Some(pin);
        } else if mesh.insert(&place, at, is_on_border, f64::from(INSERT_QUALITY)).is_some() {
            level.positions.push(at);
            held.push(Some(pin));
        }
    }
    follow(&mesh, level, held, &Around { built, finer, pins, near, rest }, facing);
    level.elements = mesh.triangles();
    *altered = mesh.altered().to_vec();
}

/// What vertices of the finer level are located by.
struct Around<'a> {
    built: &'a Bare<3>,
    finer: &'a Finer,
    pins: &'a [u32],
    near: [&'a [u32]; 2],
    rest: &'a [Vec3],
}

/// Locates vertices of the finer level on this one: those that were inserted there, and all that changed if
/// any was inserted here.
fn follow(
    mesh: &Remesher,
    level: &mut Bare<3>,
    held: &[Option<u32>],
    around: &Around,
    facing: impl Fn(u32) -> Vec3,
) {
    let Around { built, finer, pins, near, rest } = *around;
    let mut has: Vec<(u32, u32)> = (0u32..).zip(held).filter_map(|(v, pin)| Some(((*pin)?, v))).collect();
    has.sort_unstable();
    let own = |pin: u32| has.binary_search_by_key(&pin, |h| h.0).ok().map(|k| has[k].1);
    let at_vertex = |v: u32| ([v; 3], [1.0, 0.0, 0.0]);
    let located = |start: u32, at: Vec3, facing: Vec3| {
        mesh.locate(start, at, facing)
            .map_or_else(|| at_vertex(start), |place| (place.corners, place.weights))
    };
    if level.positions.len() > built.positions.len() {
        let mut gone: Vec<[u32; 3]> = Vec::new();
        for (corners, _) in built.elements.iter().zip(mesh.altered()).filter(|(_, altered)| **altered) {
            gone.push(sorted(*corners));
        }
        gone.sort_unstable();
        for f in 0..finer.built {
            let (corners, weights) = (built.transfer.corners[f], built.transfer.weights[f]);
            if weights == [0.0; 3] || !finer.moved[f] && gone.binary_search(&sorted(corners)).is_err() {
                continue;
            }
            let main = (0..3).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
            let (corners, weights) = match finer.pins[f].and_then(own) {
                Some(v) => at_vertex(v),
                None => located(corners[main], finer.positions[f], facing(f as u32)),
            };
            (level.transfer.corners[f], level.transfer.weights[f]) = (corners, weights);
        }
    }
    for pin in finer.pins[finer.built..].iter().flatten() {
        let i = pins.partition_point(|p| p < pin);
        let place = match own(*pin) {
            Some(v) => at_vertex(v),
            None => located(near[1][i], rest[*pin as usize], facing(near[0][i])),
        };
        level.transfer.corners.push(place.0);
        level.transfer.weights.push(place.1);
    }
}

fn sorted(mut corners: [u32; 3]) -> [u32; 3] {
    corners.sort_unstable();
    corners
}

/// How far a vertex of the border at `old` lies from the border if it moves to `new` between its two
/// neighbours there \[m\].
pub(super) fn dent(old: Vec3, new: Vec3, ends: [Vec3; 2]) -> f32 {
    let from = |end: Vec3| {
        let along = end - new;
        let part = (old - new).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
        old.distance(new + part.clamp(0.0, 1.0) * along)
    };
    from(ends[0]).min(from(ends[1]))
}

#[cfg(not(test))]
const fn inserts() -> bool {
    true
}

/// Whether pins get vertices of their own: tests compare with levels that drop pins.
#[cfg(test)]
pub(crate) fn inserts() -> bool {
    INSERTS.with(std::cell::Cell::get)
}

#[cfg(test)]
std::thread_local! {
    /// What [`inserts`] says on this thread.
    pub(crate) static INSERTS: std::cell::Cell<bool> = const { std::cell::Cell::new(true) };
}
