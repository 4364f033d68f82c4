//! Grips as a part of what the filter minimises: corners of gripped points are heavier, and have a place to
//! be ([`grip`](crate::boundary::grip)).
//!
//! They need no dual: limits are to win. What they weigh goes on the diagonal of the matrix, like that of
//! contacts.

use super::tables::Filter;
use crate::{
    boundary::grip::{Gripped, Grips},
    kernel::lanes::Quad,
};

/// Grips for which there is room without allocation.
const ROOM: usize = 16;

/// Grips on the bodies of one filter.
#[derive(Debug)]
pub struct Held {
    own: Vec<Gripped>,
    /// By vertex: how much heavier than its own mass it is.
    heavier: Vec<f32>,
    /// The filter's first vertex.
    first: usize,
}

impl Held {
    /// For a filter with `count` vertices.
    pub fn new(count: usize) -> Self {
        Self { own: Vec::with_capacity(ROOM), heavier: vec![0.0; count], first: 0 }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// Begins a step: takes from all grips those on the bodies of `filter`.
    pub(crate) fn begin(&mut self, grips: &mut Grips, filter: &Filter) {
        self.first = filter.vertices.start;
        self.own.clear();
        self.own.extend(grips.of(filter.vertices.clone()).map(|gripped| *gripped));
        self.weigh(filter);
    }

    /// Tells the grips what is left of their strength.
    pub(crate) fn keep(&self, grips: &mut Grips, filter: &Filter) {
        for (gripped, own) in grips.of(filter.vertices.clone()).zip(&self.own) {
            *gripped = *own;
        }
    }

    /// How much heavier each vertex is.
    fn weigh(&mut self, filter: &Filter) {
        self.heavier.fill(0.0);
        for (v, heavier, _) in self.own.iter().flat_map(Gripped::corners) {
            self.heavier[filter.stand_in(v - self.first)] += heavier;
        }
    }

    /// What vertex `i` gets on the diagonal, in units of its mass.
    pub fn extra(&self, i: usize) -> f32 {
        if self.own.is_empty() { 0.0 } else { self.heavier[i] }
    }

    /// Sets the goals of corners to where they would be without the grips.
    pub fn free(&self, filter: &Filter, goal: &mut [Quad]) {
        for (v, _, [from, _]) in self.own.iter().flat_map(Gripped::corners) {
            goal[filter.stand_in(v - self.first)][..3].copy_from_slice(&from.to_array());
        }
    }

    /// One iteration: adds the pulls of all grips to `r`.
    pub fn iterate(&self, filter: &Filter, x: &[Quad], r: &mut [Quad]) {
        for (v, heavier, [_, to]) in self.own.iter().flat_map(Gripped::corners) {
            let i = filter.stand_in(v - self.first);
            for k in 0..3 {
                r[i][k] += filter.masses[i] * heavier * (to[k] - x[i][k]);
            }
        }
    }

    /// Weakens all grips, because limits are not met. Says whether that changed something.
    pub(crate) fn give_way(&mut self, filter: &Filter) -> bool {
        let mut given = false;
        for gripped in &mut self.own {
            given |= gripped.give_way();
        }
        if given {
            self.weigh(filter);
        }
        given
    }
}
