//! Garments over others: their panels start further out, so that seams close around what is below.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3};

use super::{
    outline,
    sleeves::{mean, overlap},
};
use crate::pattern::Pattern;

/// Distance of panels from those below them, and how much higher they start, so that shoulder seams close
/// above those of the garment below \[m\].
const OVER: f64 = 0.05;
const ABOVE: f64 = 0.015;

/// Outlines of the panels of garments that have been placed \[m\].
#[derive(Default)]
pub(crate) struct Placed(Vec<Vec<DVec3>>);

impl Placed {
    /// Adds the panels of a garment.
    pub fn add(&mut self, pattern: &Pattern) {
        self.0.extend(pattern.panels.iter().map(|panel| outline(pattern, panel)));
    }
}

/// By panel of a garment over those in `below`: its shift \[m\]. Fronts move to the front and backs to the
/// back, those of them that overlap panels below; all move up a little.
pub(crate) fn over(pattern: &Pattern, below: &Placed, middle: DVec3) -> BTreeMap<String, DVec3> {
    if below.0.is_empty() {
        return BTreeMap::new();
    }
    let flat = |points: &[DVec3]| -> Vec<DVec2> { points.iter().map(|p| p.truncate()).collect() };
    let side = |points: &[DVec3]| if mean(points).z < middle.z { -1.0 } else { 1.0 };
    let mut shifts = BTreeMap::new();
    for panel in &pattern.panels {
        let own = outline(pattern, panel);
        let out = side(&own);
        let nearest = own.iter().map(|p| out * p.z).fold(f64::INFINITY, f64::min);
        let under = below.0.iter().filter(|other| side(other) == out && overlap(&flat(&own), &flat(other)));
        let farthest = under.flatten().map(|p| out * p.z).fold(f64::NEG_INFINITY, f64::max);
        // Panels that face sideways, as those of hoods do, have no clear way out.
        let depth = own.iter().map(|p| out * p.z).fold(f64::NEG_INFINITY, f64::max) - nearest;
        let way = if depth < OVER { (farthest + OVER - nearest).max(0.0) } else { 0.0 };
        let shift = DVec3::new(0.0, ABOVE, out * (1e3 * way).round() / 1e3);
        shifts.insert(panel.name.clone(), shift);
    }
    shifts
}
