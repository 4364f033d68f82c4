//! Whether a garment is wide enough for the body: rings around the trunk, at waists and hems, against a tape
//! around the body at the same height.
//!
//! A ring consists of the edges of a part of the garment that are sewn to another part or to nothing: darts
//! and side seams, within a part, do not belong to it, but join its edges. Where a garment is placed, and
//! where it settles, differ by some centimetres: the narrowest place of the body within these counts.

use std::collections::BTreeMap;

use glam::DVec3;
use taut::mesh::TriangleMesh;

use super::{STEP, body::Sections, groups, outline, pairs};
use crate::pattern::{Pattern, Side, sew::Sets};

/// How far above and below its start a ring may settle \[m\].
const SETTLES: f64 = 0.05;
/// How far to both sides of the body's middle a ring around the trunk extends at least \[m\].
const ASIDE: f64 = 0.05;

/// A ring of a garment around the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ring {
    /// Its height \[m\].
    pub height: f64,
    /// Its length \[m\].
    pub length: f64,
    /// Length of a tape around the body there \[m\].
    pub body: f64,
}

impl Ring {
    /// Strain that it needs to be worn.
    pub fn strain(&self) -> f64 {
        self.body / self.length - 1.0
    }
}

/// The ring of a placed pattern that needs the largest strain, if cloth keeps `distance` \[m\] from the body.
pub(crate) fn tightest(pattern: &Pattern, body: &TriangleMesh, distance: f64) -> Option<Ring> {
    let x: Vec<DVec3> = body.positions.iter().map(|p| p.as_dvec3()).collect();
    let low = x.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let high = x.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
    let middle = 0.5 * (low + high);
    let mut sections = Sections::new(&body.triangles, &x, [low.y, high.y]);
    let mut tightest: Option<Ring> = None;
    for edges in rings(pattern, middle) {
        let points: Vec<DVec3> = edges.iter().flat_map(|&side| placed(pattern, side)).collect();
        let least = points.iter().fold(DVec3::INFINITY, |least, p| least.min(*p));
        let most = points.iter().fold(DVec3::NEG_INFINITY, |most, p| most.max(*p));
        let height = points.iter().map(|p| p.y).sum::<f64>() / points.len() as f64;
        let is_around = least.x < middle.x - ASIDE
            && most.x > middle.x + ASIDE
            && least.z < middle.z
            && most.z > middle.z
            && height < sections.armpit;
        if !is_around {
            continue;
        }
        let steps = (SETTLES / STEP).round() as i32;
        let tape = (-steps..=steps).map(|k| sections.perimeter(height + STEP * f64::from(k)));
        let tape = tape.filter(|tape| *tape > 0.0).fold(f64::INFINITY, f64::min);
        let length: f64 = edges.iter().map(|&side| pattern.length(side)).sum();
        let ring = Ring { height, length, body: tape + std::f64::consts::TAU * distance };
        if tape.is_finite() && tightest.is_none_or(|other| ring.strain() > other.strain()) {
            tightest = Some(ring);
        }
    }
    tightest
}

/// Edges of closed rings.
fn rings(pattern: &Pattern, middle: DVec3) -> Vec<Vec<Side>> {
    let outlines: Vec<Vec<DVec3>> = pattern.panels.iter().map(|panel| outline(pattern, panel)).collect();
    let pairs = pairs(pattern, &vec![DVec3::ZERO; outlines.len()]);
    let groups = groups(pattern, &pairs, &outlines, middle);
    // Corners that are sewn together within a group.
    let mut firsts = vec![0];
    for panel in &pattern.panels {
        let count = panel.edges.iter().flat_map(|edge| edge.ends).max().map_or(0, |most| most + 1);
        firsts.push(firsts[firsts.len() - 1] + count);
    }
    let corners = |side: Side| {
        pattern.panels[side.panel].edges[side.edge].ends.map(|corner| firsts[side.panel] + corner)
    };
    let mut corner_sets = Sets::new(firsts[pattern.panels.len()]);
    let mut inner = std::collections::BTreeSet::new();
    for stitch in &pattern.stitches {
        let [a, b] = stitch.sides;
        if groups[a.panel] != groups[b.panel] {
            continue;
        }
        let ([p, q], [mut r, mut s]) = (corners(a), corners(b));
        if !stitch.is_right_wrong {
            std::mem::swap(&mut r, &mut s);
        }
        corner_sets.join(p, r);
        corner_sets.join(q, s);
        inner.extend([a, b]);
    }
    let all = pattern.panels.iter().enumerate();
    let outer: Vec<Side> = all
        .flat_map(|(panel, own)| (0..own.edges.len()).map(move |edge| Side { panel, edge }))
        .filter(|side| !inner.contains(side))
        .collect();
    let mut degrees: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ring_sets = Sets::new(firsts[pattern.panels.len()]);
    for &side in &outer {
        let [a, b] = corners(side).map(|corner| corner_sets.root(corner));
        *degrees.entry(a).or_default() += 1;
        *degrees.entry(b).or_default() += 1;
        ring_sets.join(a, b);
    }
    let mut rings: BTreeMap<usize, (Vec<Side>, bool)> = BTreeMap::new();
    for &side in &outer {
        let ends = corners(side).map(|corner| corner_sets.root(corner));
        let ring = rings.entry(ring_sets.root(ends[0])).or_insert((Vec::new(), true));
        ring.0.push(side);
        ring.1 &= ends.iter().all(|end| degrees[end] == 2);
    }
    rings.into_values().filter(|(_, is_closed)| *is_closed).map(|(edges, _)| edges).collect()
}

/// Points of a placed edge \[m\].
fn placed(pattern: &Pattern, side: Side) -> Vec<DVec3> {
    let panel = &pattern.panels[side.panel];
    panel.edges[side.edge].curve.points(8).iter().map(|p| panel.place(*p) / pattern.units).collect()
}
