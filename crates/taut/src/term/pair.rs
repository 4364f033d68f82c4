//! Contacts between primitives of cloth and of mesh obstacles, as a term: each pair has a dual.
//!
//! With d = Σ wᵢ xᵢ the line between the nearest points of a pair: f = d + u; p = f with at least the gap
//! along the normal, and with its tangential displacement since the start of the step shortened by μ times
//! the missing distance (Eq. 7, as for [obstacles](super::obstacle)); pull e wᵢ (2 (p − f) + u), u ← f − p.
//! The weight e grows with the masses of the vertices, not with κ, and falls where many pairs pull at one
//! vertex; to the diagonal it adds e |wᵢ| Σ |wₖ|, which bounds the pair's contribution to the matrix.

use std::sync::Arc;

use glam::Vec3;

use super::{Block, Scene, Stage, Step, Term};
use crate::{
    contact::touching::Touching,
    kernel::lanes::Quad,
    solve::nearest::{
        filter::Filter,
        tuning::{
            DEPTH_IN_GAPS, PAIR_BOOST, PAIR_CROWD, PAIR_GRAIN, PAIR_LACKING, PAIR_NEAR, PAIR_WEIGHT_MOST,
            VERTEX_GRAIN,
        },
    },
};

#[derive(Clone, Copy, Debug)]
struct PairTouch {
    /// Of the filter; those of others, and those that are held, have weight 0.
    vertices: [u32; 4],
    weights: [f32; 4],
    normal: Vec3,
    /// What the filter's own vertices add to d where they began the step, so that d is what it was then
    /// \[m\].
    anchor: Vec3,
    /// What their part in d must be at least, along the normal \[m\].
    least: f32,
    friction: f32,
    /// Dual \[m\].
    u: Vec3,
    /// Its weight, before any factor.
    weight: f32,
    /// Factor on its weight.
    boost: f32,
    /// How much nearer than it may be it was when it was last looked at \[m\].
    depth: f32,
    /// Its gap \[m\].
    gap: f32,
}

/// Pairs of touching parts, for a filter of so many vertices. Contact detection says in every step which
/// there are.
#[derive(Clone, Copy, Debug)]
pub struct Pairs {
    /// Number of vertices of the filter.
    pub count: usize,
}

impl Block for Pairs {
    fn name(&self) -> &'static str {
        "pairs"
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(PairTerm {
            list: Vec::new(),
            pulls: Vec::new(),
            starts: vec![0; self.count + 1],
            places: Vec::new(),
            extra: vec![0.0; self.count],
            lacking: 0.0,
        })
    }
}

/// The pairs of one filter in this step.
#[derive(Debug)]
struct PairTerm {
    list: Vec<PairTouch>,
    /// What each pulls in this iteration: apart from the rest, which vertices would have to read as well.
    pulls: Vec<Quad>,
    /// Start of the pairs of each vertex in `places`.
    starts: Vec<u32>,
    /// Their places in the list, in ascending order, and the weight of the vertex in each.
    places: Vec<(u32, f32)>,
    /// What they add to the diagonal, by vertex.
    extra: Vec<f32>,
    /// How much of its gap the worst pair lacked in the last iteration, 0 to 1 and more.
    lacking: f32,
}

impl Term for PairTerm {
    fn prepare(&mut self, scene: &Scene, filter: &Filter) {
        self.list.clear();
        self.list.extend(scene.touching.iter().filter_map(|touch| PairTouch::new(touch, scene, filter)));
        self.pulls.clear();
        self.pulls.resize(self.list.len(), [0.0; 4]);
        self.lacking = 0.0;
        self.relieve_crowds(filter);
        self.sort_by_vertex();
    }

    fn touches(&self) -> bool {
        !self.list.is_empty()
    }

    fn is_between_surfaces(&self) -> bool {
        self.touches()
    }

    fn depth_allowed(&self, so_far: f32, _edge: f32, _tolerance: f32) -> f32 {
        let widest = self.list.iter().map(|pair| pair.gap).reduce(f32::max).unwrap_or(f32::INFINITY);
        so_far.min(DEPTH_IN_GAPS * widest)
    }

    fn allows_finish(&self) -> bool {
        self.list.is_empty()
    }

    fn mark_touched(&self, touched: &mut [bool]) {
        for pair in &self.list {
            for i in (0..4).filter(|&i| pair.weights[i] != 0.0) {
                touched[pair.vertices[i] as usize] = true;
            }
        }
    }

    fn weigh(&mut self, _step: &Step, _stage: &Stage, diagonal: &mut [f32]) {
        if self.list.is_empty() {
            return;
        }
        self.extra.fill(0.0);
        for pair in &self.list {
            let e = pair.weight();
            let total: f32 = pair.weights.iter().map(|w| w.abs()).sum();
            for i in 0..4 {
                self.extra[pair.vertices[i] as usize] += e * pair.weights[i].abs() * total;
            }
        }
        diagonal.iter_mut().zip(&self.extra).for_each(|(d, extra)| *d += extra);
    }

    fn strengthen(&mut self, _step: &Step, _stage: &Stage, diagonal: &[f32]) -> bool {
        let mut grown = false;
        for pair in &mut self.list {
            if pair.depth <= PAIR_NEAR * pair.gap {
                continue;
            }
            let own = (0..4).filter(|&i| pair.weights[i] != 0.0);
            let smallest = own.map(|i| diagonal[pair.vertices[i] as usize]).fold(f32::INFINITY, f32::min);
            let most = PAIR_WEIGHT_MOST * smallest / pair.weight;
            let boost = (pair.boost * PAIR_BOOST).min(most).max(pair.boost);
            pair.u *= pair.boost / boost;
            grown |= boost > pair.boost;
            pair.boost = boost;
        }
        grown
    }

    fn pull(&mut self, step: &Step, x: &[Quad], _stage: &Stage, r: &mut [Quad]) {
        let (masses, threads) = (&step.filter.masses, step.settings.threads);
        if self.list.is_empty() {
            return;
        }
        let Self { list, pulls, starts, places, .. } = self;
        threads.each_pair(list, pulls, PAIR_GRAIN, |_, pairs, pulls| {
            for (pair, pull) in pairs.iter_mut().zip(pulls) {
                let [a, b, c] = pair.iterate(x).to_array();
                *pull = [a, b, c, pair.depth / pair.gap];
            }
        });
        let pulls: &[Quad] = pulls;
        self.lacking = threads.largest(pulls, PAIR_GRAIN, |pulls| {
            pulls.iter().map(|&[.., lacking]| lacking).fold(0.0, f32::max)
        });
        // By vertex, each in the order of its pairs, whatever the threads.
        threads.each(r, VERTEX_GRAIN, |first, r| {
            for (r, v) in r.iter_mut().zip(first..).filter(|(_, v)| masses[*v] > 0.0) {
                for &(place, weight) in &places[starts[v] as usize..starts[v + 1] as usize] {
                    for k in 0..3 {
                        r[k] += pulls[place as usize][k] * weight;
                    }
                }
            }
        });
    }

    fn is_settled(&self, _step: &Step) -> bool {
        self.lacking <= PAIR_LACKING
    }

    fn is_within(&self, _step: &Step, x: &[Quad], moved: &[(u32, Quad)]) -> bool {
        if self.list.is_empty() {
            return true;
        }
        let at =
            |v: u32| &self.places[self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize];
        let keeps_gap = |place: u32| {
            let pair = &self.list[place as usize];
            pair.depth_at(pair.between(x)) <= PAIR_LACKING * pair.gap
        };
        moved.iter().all(|&(v, _)| at(v).iter().all(|&(place, _)| keeps_gap(place)))
    }
}

impl PairTerm {
    /// Divides the weights of pairs among them where many pull at one vertex: those of an obstacle that is
    /// finer than the cloth. A vertex that is too heavy hardly moves in an iteration.
    fn relieve_crowds(&mut self, filter: &Filter) {
        let Self { list, extra, .. } = self;
        extra.fill(0.0);
        for pair in list.iter() {
            let total: f32 = pair.weights.iter().map(|w| w.abs()).sum();
            for i in 0..4 {
                extra[pair.vertices[i] as usize] += pair.weight * pair.weights[i].abs() * total;
            }
        }
        let unit = filter.contact_weights()[1];
        for pair in list.iter_mut() {
            let own = (0..4).filter(|&i| pair.weights[i] != 0.0).map(|i| pair.vertices[i] as usize);
            let crowd = own.map(|v| extra[v] / (unit * filter.masses[v])).fold(0.0, f32::max);
            pair.weight *= (PAIR_CROWD / crowd).min(1.0);
        }
    }

    /// Lists the pairs of each vertex.
    fn sort_by_vertex(&mut self) {
        let Self { list, starts, places, .. } = self;
        let own = |pair: &PairTouch| {
            let vertices = pair.vertices;
            let weights = pair.weights;
            (0..4).filter(move |&i| weights[i] != 0.0).map(move |i| (weights[i], vertices[i]))
        };
        starts.fill(0);
        for (_, v) in list.iter().flat_map(own) {
            starts[v as usize] += 1;
        }
        // To the end of each, from which they are filled.
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += *start;
            *start = sum;
        }
        places.clear();
        places.resize(sum as usize, (0, 0.0));
        for (place, pair) in list.iter().enumerate().rev() {
            for (weight, v) in own(pair).rev() {
                let start = &mut starts[v as usize];
                *start -= 1;
                places[*start as usize] = (place as u32, weight);
            }
        }
    }
}

impl PairTouch {
    /// What `filter` has to do with a pair: nothing, if all its vertices there are held. Vertices that are
    /// not the filter's own, or held, go from where they began the step to where they are predicted.
    fn new(touch: &Touching, scene: &Scene, filter: &Filter) -> Option<Self> {
        let (vertices, masses) = (&filter.vertices, &filter.masses);
        let normal = Vec3::from_array(touch.normal);
        let mut pair = Self {
            vertices: [0; 4],
            weights: [0.0; 4],
            normal,
            anchor: Vec3::ZERO,
            least: touch.gap,
            friction: if scene.sewn.is_phase { 0.0 } else { touch.friction },
            u: Vec3::ZERO,
            weight: 0.0,
            boost: 1.0,
            depth: 0.0,
            gap: touch.gap,
        };
        let mut compliance = 0.0;
        for i in 0..4 {
            let (v, weight) = (touch.vertices[i] as usize, touch.weights[i]);
            pair.anchor += weight * position(&scene.old[v]);
            // What is held is where it will be, as what is not the filter's own.
            let own = if vertices.contains(&v) { Some(filter.stand_in(v - vertices.start)) } else { None };
            if let Some(own) = own.filter(|&own| masses[own] > 0.0) {
                compliance += weight * weight / masses[own];
                (pair.vertices[i], pair.weights[i]) = (own as u32, weight);
            } else {
                let there = weight * position(&scene.x[v]);
                pair.anchor -= there;
                pair.least -= there.dot(normal);
            }
        }
        pair.weight = filter.contact_weights()[1] / compliance;
        (compliance > 0.0).then_some(pair)
    }

    fn weight(&self) -> f32 {
        self.weight * self.boost
    }

    /// What the filter's own vertices add to d at `x` \[m\].
    #[inline(always)]
    fn between(&self, x: &[Quad]) -> Vec3 {
        let mut now = Vec3::ZERO;
        for i in 0..4 {
            now += self.weights[i] * position(&x[self.vertices[i] as usize]);
        }
        now
    }

    /// How much nearer than it may be the pair is where they add `now` \[m\].
    #[inline(always)]
    fn depth_at(&self, now: Vec3) -> f32 {
        self.least - now.dot(self.normal)
    }

    /// One iteration of the pair at `x`: what it pulls.
    fn iterate(&mut self, x: &[Quad]) -> Vec3 {
        let now = self.between(x);
        self.depth = self.depth_at(now);
        let moved = self.settled(now + self.u);
        let pull = self.weight() * (2.0 * moved + self.u);
        self.u = -moved;
        pull
    }

    /// What takes `f` \[m\] to where it keeps the gap, with friction.
    #[inline(always)]
    fn settled(&self, f: Vec3) -> Vec3 {
        let depth = self.least - f.dot(self.normal);
        if depth <= 0.0 {
            return Vec3::ZERO;
        }
        let slip = f - self.anchor;
        let slip = slip - self.normal * slip.dot(self.normal);
        let (length, hold) = (slip.length(), self.friction * depth);
        let back = if length <= hold { slip } else { slip * (hold / length) };
        self.normal * depth - back
    }
}

#[inline(always)]
fn position(x: &Quad) -> Vec3 {
    Vec3::new(x[0], x[1], x[2])
}
