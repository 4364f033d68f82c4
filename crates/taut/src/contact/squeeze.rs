//! Cloth between two parts of a body that meet: an arm against a torso, a closing armpit, two bodies.
//!
//! Obstacles do not stop for cloth. Where two faces close in on it from both sides, nothing keeps both gaps,
//! and a solver that is asked to would use all its iterations, tear at the cloth around, and end with what
//! the guard stops in mid-air. So pairs that cannot both be kept share the room that is left between the
//! faces. Where that is less than [`PINCHED`] of the gaps, the vertex is pinched: it is let pass through
//! obstacles in this step. What has passed is [tangled](super::tangle), and comes out when the faces part.
//!
//! A function of the positions at both ends of a step. Layers of cloth between faces are not looked through:
//! each of them must be squeezed by itself.

use glam::Vec3;

use super::{surface::Surface, touching::Touching};
use crate::kernel::lanes::Quad;

/// Part of its gap below which a pair that is squeezed is not kept: more than what the guard asks for.
const PINCHED: f32 = 0.25;

/// Cosine of the angle between normals from which on two faces are opposite each other. Cloth between others
/// slips out.
const OPPOSITE: f32 = -0.8;

/// How far a face may move in a step, in gaps, to count: faster ones pass, and all sides of a ball that flies
/// by are opposite each other on its way.
const MOST_MOVED: f32 = 16.0;

/// Weight from which on a vertex counts as one of a contact.
const LEAST_WEIGHT: f32 = 0.1;

/// No entry.
const NONE: u32 = u32::MAX;

/// What one pair with an obstacle asks of a vertex: to move by `needed` and its gap along `normal`, at least.
#[derive(Clone, Copy, Debug)]
struct Demand {
    normal: Vec3,
    /// \[m\]
    needed: f32,
    /// Its place in the list of pairs.
    pair: u32,
    vertex: u32,
    /// The next of the same vertex.
    next: u32,
}

/// The vertices that are pinched in a step.
#[derive(Clone, Debug, Default)]
pub struct Squeeze {
    demands: Vec<Demand>,
    /// By vertex: its last demand.
    last: Vec<u32>,
    /// By vertex.
    pinched: Vec<bool>,
    count: u32,
}

impl Squeeze {
    /// Nothing is pinched: a new step begins.
    pub fn clear(&mut self) {
        if self.count > 0 {
            self.pinched.fill(false);
        }
        self.count = 0;
    }

    /// Number of pinched vertices.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether a pair with these vertices is one of a pinched vertex with an obstacle.
    #[inline(always)]
    pub fn ignores(&self, surface: &Surface, vertices: &[u32; 4]) -> bool {
        self.count > 0
            && vertices.iter().any(|&v| surface.is_fixed(v))
            && vertices.iter().any(|&v| !surface.is_fixed(v) && self.pinched[v as usize])
    }

    /// Reduces the gaps of pairs that cannot all be kept while vertices move from `old` to `x` \[m\], and
    /// removes those of vertices that are pinched, which it adds to those that are known.
    pub fn relieve(&mut self, surface: &Surface, old: &[Quad], x: &[Quad], pairs: &mut Vec<Touching>) {
        if !surface.obstacles_move {
            return;
        }
        self.gather(surface, old, x, pairs);
        self.pinched.resize(old.len(), false);
        for demand in &self.demands {
            let mut k = demand.next;
            while k != NONE {
                let other = self.demands[k as usize];
                k = other.next;
                let places = [demand.pair, other.pair].map(|pair| pair as usize);
                let gaps = places.map(|place| pairs[place].gap);
                let lacking = demand.needed + other.needed + gaps[0] + gaps[1];
                if lacking <= 0.0 || demand.normal.dot(other.normal) > OPPOSITE {
                    continue;
                }
                let kept = 1.0 - lacking / (gaps[0] + gaps[1]);
                for (place, gap) in places.into_iter().zip(gaps) {
                    let touch = &mut pairs[place];
                    touch.gap = (kept * gap).max(0.0);
                    if touch.gap < PINCHED * surface.gap(&touch.pair, &touch.vertices) {
                        self.count += u32::from(!self.pinched[demand.vertex as usize]);
                        self.pinched[demand.vertex as usize] = true;
                    }
                }
            }
        }
        if self.count > 0 {
            pairs.retain(|touch| !self.ignores(surface, &touch.vertices));
        }
    }

    /// What all pairs with obstacles ask of their vertices.
    fn gather(&mut self, surface: &Surface, old: &[Quad], x: &[Quad], pairs: &[Touching]) {
        self.demands.clear();
        self.last.clear();
        self.last.resize(old.len(), NONE);
        for (place, touch) in pairs.iter().enumerate() {
            let is_fixed = touch.vertices.map(|v| surface.is_fixed(v));
            if is_fixed == [false; 4] {
                continue;
            }
            let most = MOST_MOVED * surface.gap(&touch.pair, &touch.vertices);
            let moved = |v: u32| {
                let [from, to] = [old, x].map(|x| x[v as usize]);
                Vec3::new(to[0] - from[0], to[1] - from[1], to[2] - from[2]).length_squared()
            };
            if (0..4).any(|i| is_fixed[i] && moved(touch.vertices[i]) > most * most) {
                continue;
            }
            let normal = Vec3::from_array(touch.normal);
            let mut needed = 0.0;
            for i in 0..4 {
                let q = if is_fixed[i] { x } else { old }[touch.vertices[i] as usize];
                needed -= touch.weights[i] * Vec3::new(q[0], q[1], q[2]).dot(normal);
            }
            // Towards the cloth.
            let [first, _] = touch.pair.kind.one_of_each(&touch.vertices);
            let normal = if surface.is_fixed(first) { -normal } else { normal };
            for i in (0..4).filter(|&i| !is_fixed[i] && touch.weights[i].abs() > LEAST_WEIGHT) {
                let vertex = touch.vertices[i];
                let last = &mut self.last[vertex as usize];
                let next = std::mem::replace(last, self.demands.len() as u32);
                self.demands.push(Demand { normal, needed, pair: place as u32, vertex, next });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{candidates::Pair, continuous::Kind};

    /// A triangle between two faces, `room` \[m\] apart at the end of a step, with gaps of 2 mm.
    fn between(room: f32) -> (Surface, Vec<Touching>, [Vec<Quad>; 2]) {
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let at = |heights: [f32; 3]| -> Vec<Quad> {
            heights.iter().flat_map(|&y| corners.map(|[x, z]| [x, y, z, 1.0])).collect()
        };
        let mut surface = Surface::new(vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
        surface.radius.fill(0.001);
        (surface.fixed_from, surface.obstacles_move) = (3, true);
        let touch = |second: u32, y: f32| Touching {
            pair: Pair { kind: Kind::VertexTriangle, first: 0, second },
            vertices: [0, 3 * second, 3 * second + 1, 3 * second + 2],
            weights: [1.0, -1.0, 0.0, 0.0],
            normal: [0.0, y, 0.0],
            gap: 0.002,
            friction: 0.0,
        };
        let pairs = vec![touch(1, 1.0), touch(2, -1.0)];
        (surface, pairs, [at([0.0, -0.003, 0.003]), at([0.0, -0.5 * room, 0.5 * room])])
    }

    #[test]
    fn faces_that_close_share_the_room_and_pinch_what_is_left_none() {
        for (room, kept, pinched) in [(0.005, 0.002, 0), (0.002, 0.001, 0), (0.0005, 0.0, 1), (-0.01, 0.0, 1)]
        {
            let (surface, mut pairs, [old, x]) = between(room);
            let mut squeeze = Squeeze::default();
            squeeze.relieve(&surface, &old, &x, &mut pairs);
            assert_eq!(squeeze.count(), pinched, "{room}");
            assert_eq!(pairs.len(), if pinched == 0 { 2 } else { 0 }, "{room}");
            assert!(pairs.iter().all(|touch| (touch.gap - kept).abs() < 1e-6), "{room}: {pairs:?}");
            assert_eq!(squeeze.ignores(&surface, &[0, 3, 4, 5]), pinched == 1);
            assert!(!squeeze.ignores(&surface, &[1, 3, 4, 5]) && !squeeze.ignores(&surface, &[0, 1, 2, 0]));
            squeeze.clear();
            assert!(!squeeze.ignores(&surface, &[0, 3, 4, 5]));
        }
    }

    #[test]
    fn faces_that_fly_by_change_nothing() {
        let (surface, mut pairs, [old, mut x]) = between(-0.01);
        x[3..].iter_mut().for_each(|q| q[2] += 1.0);
        let before = pairs.clone();
        Squeeze::default().relieve(&surface, &old, &x, &mut pairs);
        assert_eq!(pairs, before);
    }

    #[test]
    fn faces_that_are_not_opposite_or_stand_still_change_nothing() {
        let (mut surface, mut pairs, [old, x]) = between(-0.01);
        pairs[1].normal = [1.0, 0.0, 0.0];
        let before = pairs.clone();
        Squeeze::default().relieve(&surface, &old, &x, &mut pairs);
        assert_eq!(pairs, before);
        surface.obstacles_move = false;
        pairs = between(-0.01).1;
        Squeeze::default().relieve(&surface, &old, &x, &mut pairs);
        assert_eq!(pairs.len(), 2);
    }
}
