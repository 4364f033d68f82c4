//! Hair that tears: which segments are cut, and what hair is after that.
//!
//! A strand that is cut is two strands, of the same points in the same order: the segment between them is
//! gone, its mass stays with its ends. Pieces keep the rest shape that they had in the whole, and only that
//! with the root is held. So cuts alone say what hair has torn to, and points keep their numbers.

use std::collections::BTreeSet;

use crate::{Hair, mesh::groom::strands_of};

/// Least number of points of a piece: fewer would be no strand.
const LEAST: usize = 2;

/// Strain past an upper limit from which on that limit cannot be met. Lengths end within rounding of it.
const PAST_LIMIT: f64 = 1e-3;

/// What strands are under at the end of a frame, by point.
pub(crate) struct Load<'a> {
    /// Positions \[m\].
    pub x: &'a [glam::Vec3],
    /// Tension of the segment before the point \[N\]; 0 if it has none.
    pub tension: &'a [f32],
    /// Points that are held.
    pub is_held: &'a [bool],
}

impl Hair {
    /// Numbers of points of its strands before any of them was cut.
    pub(crate) fn whole_counts(&self) -> &[u32] {
        self.whole.as_deref().unwrap_or(&self.groom.counts)
    }

    /// By strand: the strand of the whole whose root it has, if it has one.
    pub(crate) fn rooted(&self) -> Vec<Option<u32>> {
        let mut wholes = strands_of(self.whole_counts()).map(|own| own.start).zip(0..).peekable();
        self.groom
            .strands()
            .map(|own| wholes.next_if(|(start, _)| *start == own.start).map(|(_, k)| k))
            .collect()
    }

    /// The points before which its strands are cut, ascending.
    pub fn cuts(&self) -> Vec<u32> {
        let starts = self.groom.strands().map(|own| own.start as u32);
        starts.zip(self.rooted()).filter(|(_, root)| root.is_none()).map(|(start, _)| start).collect()
    }

    /// This hair with the segments before `points` cut. Each piece has two points or more: the first and the
    /// last segment of a strand cannot be cut.
    ///
    /// `None` if one of them has no segment before it, or one that cannot be cut.
    pub fn cut(&self, points: &[u32]) -> Option<Self> {
        let (cut, count) = self.cut_some(points);
        (count == points.len()).then_some(cut)
    }

    /// The same without those of `points` that are to be refused, and how many were cut.
    pub(crate) fn cut_some(&self, points: &[u32]) -> (Self, usize) {
        let count = self.groom.positions.len();
        let mut starts: BTreeSet<usize> = self.groom.strands().map(|own| own.start).collect();
        let mut cuts = 0;
        for v in points.iter().map(|&v| v as usize).filter(|&v| v < count) {
            let before = starts.range(..=v).next_back().map_or(0, |start| v - start);
            let behind = starts.range(v + 1..).next().unwrap_or(&count) - v;
            cuts += usize::from(before >= LEAST && behind >= LEAST && starts.insert(v));
        }
        let mut cut = self.clone();
        if cuts > 0 {
            cut.whole = Some(self.whole.clone().unwrap_or_else(|| self.groom.counts.clone().into()));
            let ends = starts.iter().skip(1).copied().chain([count]);
            cut.groom.counts = starts.iter().zip(ends).map(|(start, end)| (end - start) as u32).collect();
        }
        (cut, cuts)
    }

    /// This hair without its cuts.
    pub(crate) fn mended(mut self) -> Self {
        if let Some(whole) = self.whole.take() {
            self.groom.counts = whole.to_vec();
        }
        self
    }
}

/// A segment that is to be cut.
struct Overload {
    /// The point behind it.
    at: usize,
    /// What it is stretched by, over its threshold.
    load: f64,
}

/// The points before which `hair` tears next, one a strand at most, or `None`. Limits that could not be met
/// are a reason if `at_limits`.
pub(crate) fn tear(hair: &Hair, load: &Load<'_>, at_limits: bool) -> Option<Vec<u32>> {
    let tear = hair.tear.as_ref()?;
    let limit =
        hair.stretch.max.filter(|_| at_limits).map_or(f64::INFINITY, |max| f64::from(max) + PAST_LIMIT);
    let distance = |[a, b]: [usize; 2]| load.x[a].as_dvec3().distance(load.x[b].as_dvec3());
    let length = |v: usize| hair.groom.length([v as u32 - 1, v as u32]);
    let threshold = |v: usize| f64::from(tear.threshold(v as u32 - 1).min(tear.threshold(v as u32)));
    let stiffness = |v: usize| {
        let radius = 0.5 * f64::from(hair.radius(v - 1) + hair.radius(v));
        std::f64::consts::PI * radius * radius * f64::from(hair.material.young)
    };
    let segment = |v: usize| {
        let strain = distance([v - 1, v]) / length(v) - 1.0;
        let pulled = f64::from(load.tension[v]) / stiffness(v);
        // Hair without stiffness has no such strain.
        let pulled = if pulled.is_finite() { pulled } else { 0.0 };
        let is_over = strain > limit.min(threshold(v)) || pulled > threshold(v);
        is_over.then(|| Overload { at: v, load: strain.max(pulled) / threshold(v) })
    };
    // What is held too far apart tears where it is weakest in between, whichever segment the solve left long.
    let between = |[a, b]: [usize; 2], most: usize| {
        let rest: f64 = (a + 1..=b).map(length).sum();
        let strain = distance([a, b]) / rest - 1.0;
        let may = (a + 1).max(LEAST + most)..=b;
        let weakest = may.min_by(|&u, &v| threshold(u).total_cmp(&threshold(v)))?;
        (strain > limit.min(threshold(weakest)))
            .then(|| Overload { at: weakest, load: strain / threshold(weakest) })
    };
    let mut cuts = Vec::new();
    for own in hair.groom.strands().filter(|own| own.len() >= 2 * LEAST) {
        let held: Vec<usize> = own.clone().filter(|&v| load.is_held[v]).collect();
        let spans = held.windows(2).filter(|w| w[1] > w[0] + 1);
        let worst = spans
            .filter_map(|w| between([w[0], w[1]], own.start))
            .chain((own.start + 1..own.end).filter_map(segment))
            .reduce(|a, b| if b.load > a.load { b } else { a });
        cuts.extend(worst.map(|over| over.at.clamp(own.start + LEAST, own.end - LEAST) as u32));
    }
    (!cuts.is_empty()).then_some(cuts)
}
