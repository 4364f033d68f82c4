//! What pressure inside closed cloth means for the tables of a filter: how much it loads κ, and its bags.

use std::ops::Range;

use crate::{
    Cloth, Description, PressureLaw,
    boundary::{bag::Bag, seam::Sewing},
    solve::nearest::tuning::{MOST_PRESSED, PRESSED_DUAL},
    term::pressure::PressureTable,
};

/// Pressure that a gas may reach beyond what it has at its reference volume, where something squeezes it,
/// that κ is prepared for \[Pa\].
const GAS_RESERVE: f64 = 10_000.0;

/// Least strain that κ is prepared for where a volume is kept.
const LEAST_STRAIN: f64 = 0.02;

/// Most and least pressure that κ is prepared for where a volume is kept \[Pa\].
const KEPT: [f64; 2] = [1000.0, 100_000.0];

/// How many times that pressure keeps a volume, at most: no pressure reaches a volume that limits forbid.
const KEPT_MOST: f64 = 2.0;

/// Largest pressure of a gas, either way \[Pa\].
const GAS_MOST: f64 = 1e7;

/// The pressure that κ is prepared for \[Pa\].
fn strongest(description: &Description, bag: &Bag) -> f64 {
    let values = bag.pressure.values.iter().map(|(_, value)| f64::from(*value));
    match bag.pressure.law {
        PressureLaw::Pascal => values.map(f64::abs).fold(0.0, f64::max),
        PressureLaw::Gas => values.map(f64::abs).fold(0.0, f64::max) + GAS_RESERVE,
        PressureLaw::Over => {
            // Tension of a sphere of the same area that grows to the largest volume, or to the limit.
            let largest = values.fold(0.0, f64::max) * bag.volume;
            let strain = ((largest / bag.roundest()).cbrt() - 1.0).max(LEAST_STRAIN);
            let of = |cloth: &Cloth| {
                let limit = cloth.strain.max.map_or(f64::INFINITY, f64::from);
                let law = cloth.material.law();
                (law.stiffness[0].max(law.stiffness[1]) + law.coupling) * strain.min(limit)
            };
            let tension = bag.bodies.iter().filter_map(|&body| description.bodies[body].as_cloth()).map(of);
            (2.0 * tension.fold(0.0, f64::max) / bag.radius()).clamp(KEPT[0], KEPT[1])
        }
    }
}

/// The tension of cloth number `body` under the pressure inside it \[N/m\]; 0 if there is none.
pub(super) fn tension(description: &Description, bags: &[Bag], body: usize) -> f64 {
    let own = bags.iter().find(|bag| bag.bodies.contains(&body));
    own.map_or(0.0, |bag| strongest(description, bag) * bag.radius())
}

/// Factor on κ of cloth under a `tension` \[N/m\]: `square` is the square of a step \[s²\], `mean` the mean
/// mass of its vertices \[kg\], `kappa` κ of the ramp's factor 1 without it.
pub(super) fn load(tension: f64, [square, mean, kappa]: [f64; 3]) -> f64 {
    (1.0 + tension * square / (mean * kappa * PRESSED_DUAL)).min(MOST_PRESSED)
}

/// The bags of a filter with these vertices of the world; with twins as one if it is `welded`.
pub(super) fn tables(
    description: &Description,
    bags: &[Bag],
    sewing: &Sewing,
    vertices: &Range<usize>,
    welded: bool,
) -> Vec<PressureTable> {
    let own = |bag: &&Bag| vertices.contains(&(bag.triangles[0][0] as usize));
    let table = |bag: &Bag| {
        let weld = |t: &[u32; 3]| if welded { sewing.welded(*t) } else { *t };
        PressureTable {
            is_sewn: bag.triangles.iter().any(|t| sewing.welded(*t) != *t),
            triangles: bag.triangles.iter().map(weld).collect(),
            pressure: bag.pressure.clone(),
            volume: bag.volume,
            roundest: bag.roundest(),
            most: match bag.pressure.law {
                PressureLaw::Over => KEPT_MOST * strongest(description, bag),
                PressureLaw::Pascal | PressureLaw::Gas => GAS_MOST,
            },
        }
    };
    bags.iter().filter(own).map(table).collect()
}
