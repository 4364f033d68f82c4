//! Points that are evenly spread, chosen among given ones: dart throwing with a shrinking distance.
//!
//! Candidates are taken in their order wherever none was taken within a distance of `r`; then again with a
//! smaller `r`, until there are enough. The first ones taken are thus about as evenly spread as all of them.
//! Exact counts and a fixed order matter more here than the last percent of evenness that the elimination of
//! samples (Yuksel 2015) would gain.

use glam::Vec3;

use super::skin::{Root, Skin};
use crate::kernel::random::Random;

/// Factor on the distance from one pass to the next.
const SHRINK: f32 = 0.85;
/// Passes after which everything is taken: points that coincide are never apart.
const MAX_PASSES: usize = 96;
/// Candidates for a root.
const CANDIDATES: usize = 5;
/// Candidates tried for each that is wanted, where hair grows on a part of a skin.
const MAX_TRIES: usize = 64;
/// Above this number of roots, fewer candidates, for their memory.
const MANY: usize = 1_000_000;

/// Of `points` \[m\] the indices of `count` that are evenly spread, the first ones about as evenly as all;
/// all of them if there are no more. Points that are not finite come last.
pub fn spread(points: &[Vec3], count: usize) -> Vec<u32> {
    let all = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let finite = points.iter().filter(|x| x.is_finite());
    let [low, high] = finite.fold(all, |[low, high], &x| [low.min(x), high.max(x)]);
    let size = (high - low).max(Vec3::ZERO);
    // At most the surface of their box, of which each takes a share; of points in a row its length.
    let area = 2.0 * (size.x * size.y + size.y * size.z + size.z * size.x);
    let start = apart(f64::from(area), count).max(size.max_element() / count.max(1) as f32);
    choose(points, |_, _| true, start, count)
}

/// `count` roots, evenly spread over the part of a skin where `grows` \[m\]; none if that is nowhere.
pub(super) fn roots(skin: &Skin, count: usize, seed: u64, grows: impl Fn(Vec3) -> bool) -> Vec<Root> {
    let wanted = count * if count > MANY { 2 } else { CANDIDATES };
    let mut random = Random::new(seed, ROOTS);
    let mut candidates = Vec::with_capacity(wanted);
    let mut tried = 0;
    while candidates.len() < wanted && tried < wanted * MAX_TRIES {
        let more = skin.scatter(wanted, &mut random);
        if more.is_empty() {
            break;
        }
        tried += more.len();
        candidates.extend(more.into_iter().filter(|root| grows(root.position)));
    }
    let share = candidates.len() as f64 / tried.max(1) as f64;
    candidates.truncate(wanted);
    let points: Vec<Vec3> = candidates.iter().map(|root| root.position).collect();
    // Two sides of a thin part are near each other, and not neighbours.
    let meet = |a: u32, b: u32| candidates[a as usize].normal.dot(candidates[b as usize].normal) > 0.0;
    let chosen = choose(&points, meet, apart(share * skin.area(), count), count);
    chosen.into_iter().map(|k| candidates[k as usize]).collect()
}

/// Stream of random numbers of roots; strands have their own numbers, from 0.
const ROOTS: u64 = u64::MAX;

/// Distance of `count` points from their neighbours, as evenly spread over an area \[m²\] as they can be
/// \[m\].
fn apart(area: f64, count: usize) -> f32 {
    (2.0 / 3f64.sqrt() * area / count.max(1) as f64).sqrt() as f32
}

/// Chosen points by cells, in chains of equal hashes.
struct Cells {
    size: f32,
    first: Vec<u32>,
    next: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Cells {
    fn of(x: Vec3, size: f32) -> [i64; 3] {
        x.to_array().map(|x| (f64::from(x) / f64::from(size)).floor() as i64)
    }

    fn place(&self, cell: [i64; 3]) -> usize {
        let mixed = [0x9E37_79B9_7F4A_7C15_u64, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9];
        let hash = cell.iter().zip(mixed).fold(0u64, |hash, (&c, m)| hash ^ (c as u64).wrapping_mul(m));
        (hash ^ hash >> 29) as usize & (self.first.len() - 1)
    }

    fn insert(&mut self, point: u32, x: Vec3) {
        let place = self.place(Self::of(x, self.size));
        self.next[point as usize] = self.first[place];
        self.first[place] = point;
    }

    /// Whether a point in the cells around `x` answers `found`.
    fn any(&self, x: Vec3, mut found: impl FnMut(u32) -> bool) -> bool {
        let [i, j, k] = Self::of(x, self.size);
        for cell in 0..27 {
            let cell = [
                i.saturating_add(cell % 3 - 1),
                j.saturating_add(cell / 3 % 3 - 1),
                k.saturating_add(cell / 9 - 1),
            ];
            let mut at = self.first[self.place(cell)];
            while at != NONE {
                if found(at) {
                    return true;
                }
                at = self.next[at as usize];
            }
        }
        false
    }
}

/// Chooses `count` of `points`, at least `start` \[m\] apart at first. Only those keep a distance that
/// `meet`.
fn choose(points: &[Vec3], meet: impl Fn(u32, u32) -> bool, start: f32, count: usize) -> Vec<u32> {
    let (mut waiting, odd): (Vec<u32>, Vec<u32>) =
        (0..points.len() as u32).partition(|&k| points[k as usize].is_finite());
    let mut chosen: Vec<u32> = Vec::with_capacity(count.min(points.len()));
    let mut apart = start;
    for _ in 0..MAX_PASSES {
        if chosen.len() >= count || waiting.is_empty() || !(apart > f32::MIN_POSITIVE && apart.is_finite()) {
            break;
        }
        let first = vec![NONE; (2 * count.min(points.len())).next_power_of_two()];
        let mut cells = Cells { size: apart, first, next: vec![NONE; points.len()] };
        chosen.iter().for_each(|&k| cells.insert(k, points[k as usize]));
        waiting.retain(|&k| {
            let x = points[k as usize];
            let near =
                |other: u32| points[other as usize].distance_squared(x) < apart * apart && meet(k, other);
            if chosen.len() >= count || cells.any(x, near) {
                return true;
            }
            cells.insert(k, x);
            chosen.push(k);
            false
        });
        apart *= SHRINK;
    }
    let missing = count.saturating_sub(chosen.len());
    chosen.extend(waiting.into_iter().chain(odd).take(missing));
    chosen
}
