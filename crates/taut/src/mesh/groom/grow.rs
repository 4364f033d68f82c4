//! Generator of grooms: strands on a skin, evenly spread, with a length, a direction and a style.

use glam::Vec3;
use rayon::prelude::*;

use super::{
    Groom, MAX_POINTS, Skin,
    check::MAX_SEGMENTS,
    places::Places,
    scatter::{roots, spread},
    skin::unit,
    style::{keep_out, strand},
};
use crate::kernel::random::Random;

/// Segments in a turn of a curl, at least.
pub(super) const SEGMENTS_IN_TURN: f64 = 6.0;

/// How many strands grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many.
    Count(u32),
    /// So many on each area \[1/m²\].
    Density(f32),
}

/// Curls: helices around what the strand would be without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curl {
    /// Radius \[m\].
    pub radius: f32,
    /// Length of a turn along the helix's axis \[m\].
    pub pitch: f32,
}

/// Clumps: strands that come together towards their tips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clump {
    /// Number of clumps.
    pub count: u32,
    /// How close their tips come: 0 not at all, 1 to one point.
    pub strength: f32,
}

/// A groom to be grown.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// How many strands.
    pub amount: Amount,
    /// Length of strands, measured along them \[m\].
    pub length: f32,
    /// Fraction by which a strand is shorter at most; strands are shorter by random parts of it. 0 to 1.
    pub length_variation: f32,
    /// Segments of each strand.
    pub segments: u32,
    /// Radius at the root and at the tip \[m\].
    pub radius: [f32; 2],
    /// Where strands are combed to, added to the outward unit normal: their direction at the root is that of
    /// the sum. Its part into the skin is left out.
    pub comb: Vec3,
    /// How far strands bend down towards their tips: `down` × `droop` is added to their direction, growing
    /// from nothing at the root.
    pub droop: f32,
    /// Direction of gravity; its length does not matter.
    pub down: Vec3,
    /// Curls.
    pub curl: Option<Curl>,
    /// Clumps.
    pub clump: Option<Clump>,
    /// How far tips are displaced at random \[m\]; less towards the root.
    pub noise: f32,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Growth {
    /// Straight strands of `length` \[m\] with 16 segments, 0.04 mm thick at the root.
    pub fn new(amount: Amount, length: f32) -> Self {
        Self {
            amount,
            length,
            length_variation: 0.0,
            segments: 16,
            radius: [4e-5, 4e-5],
            comb: Vec3::ZERO,
            droop: 0.0,
            down: Vec3::NEG_Y,
            curl: None,
            clump: None,
            noise: 0.0,
            seed: 0,
        }
    }

    /// Length of a helix over that of its axis: 1 without curls.
    pub(super) fn winding(&self) -> f64 {
        self.curl.map_or(1.0, |curl| {
            (std::f64::consts::TAU * f64::from(curl.radius) / f64::from(curl.pitch)).hypot(1.0)
        })
    }
}

/// Why a groom cannot be grown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GrowError {
    /// There is nowhere to grow.
    #[error("hair has no area to grow on: the surface has no faces with area, or none is selected")]
    NoArea,
    /// The density gives no strand.
    #[error("{density} strands/m² on {area} m² are none: increase the density")]
    None {
        /// The density \[1/m²\].
        density: f32,
        /// Area \[m²\].
        area: f64,
    },
    /// There would be too many points.
    #[error(
        "{strands} strands of {points} points would have more than {MAX_POINTS} points together: reduce them"
    )]
    TooMany {
        /// Number of strands.
        strands: u64,
        /// Points of each.
        points: u64,
    },
    /// A number is not one that hair can have.
    #[error("{what} is {value}: must be {allowed}")]
    Range {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f32,
        /// What is allowed.
        allowed: &'static str,
    },
    /// There are too few segments to show the curls.
    #[error("{segments} segments are too few for {turns:.1} turns of the curl: at least {needed} are needed")]
    FewSegments {
        /// Segments of a strand.
        segments: u32,
        /// Turns of the longest strand.
        turns: f64,
        /// Segments that show them.
        needed: u64,
    },
}

/// Grows hair on a skin. The same for the same seed, on any number of threads.
///
/// Strands that would enter a closed skin lie along it instead, by a radius off it.
///
/// # Errors
/// If a number of `growth` is out of range, or there would be no strands or too many.
pub fn grow(skin: &Skin, growth: &Growth) -> Result<Groom, GrowError> {
    check(growth)?;
    let area = skin.area();
    if !(area > 0.0 && area.is_finite()) {
        return Err(GrowError::NoArea);
    }
    let count = match growth.amount {
        Amount::Count(count) => f64::from(count),
        Amount::Density(density) => (f64::from(density) * area).round(),
    };
    if count < 1.0 {
        let density = if let Amount::Density(density) = growth.amount { density } else { 0.0 };
        return Err(GrowError::None { density, area });
    }
    let points = u64::from(growth.segments) + 1;
    if count * points as f64 > MAX_POINTS as f64 {
        return Err(GrowError::TooMany { strands: count as u64, points });
    }
    let roots = roots(skin, count as usize, growth.seed, |_| true);
    let clumps = growth.clump.map(|clump| {
        let positions: Vec<Vec3> = roots.iter().map(|root| root.position).collect();
        let centres = spread(&positions, clump.count as usize);
        let places = Places::new(centres.iter().map(|&k| positions[k as usize]).collect());
        let own = |x: &Vec3| places.nearest(*x, 1).first().map_or(0, |&k| centres[k as usize] as usize);
        positions.par_iter().map(own).collect::<Vec<_>>()
    });
    let own = |index: usize| {
        let centre = clumps.as_ref().map(|clumps| (clumps[index], &roots[clumps[index]]));
        let mut points = strand(growth, index, &roots[index], centre);
        keep_outside(skin, growth, &mut points);
        points
    };
    let strands: Vec<Vec<Vec3>> = (0..roots.len()).into_par_iter().map(own).collect();
    let [root, tip] = growth.radius;
    let radius = |i: u32| root + (tip - root) * i as f32 / growth.segments as f32;
    Ok(Groom {
        counts: vec![growth.segments + 1; strands.len()],
        radii: strands.iter().flat_map(|_| (0..=growth.segments).map(radius)).collect(),
        positions: strands.into_iter().flatten().collect(),
    })
}

fn keep_outside(skin: &Skin, growth: &Growth, points: &mut [Vec3]) {
    if skin.is_closed() {
        let outside = |p: Vec3| skin.signed(p).unwrap_or((f32::INFINITY, Vec3::Y));
        keep_out(points, growth.radius[0].max(growth.radius[1]), &outside);
    }
}

fn check(growth: &Growth) -> Result<(), GrowError> {
    let range = |what, value: f32, is_allowed: bool, allowed| {
        if is_allowed && value.is_finite() { Ok(()) } else { Err(GrowError::Range { what, value, allowed }) }
    };
    let positive = |what, value: f32| range(what, value, value > 0.0, "above 0");
    positive("length", growth.length)?;
    positive("radius at the root", growth.radius[0])?;
    positive("radius at the tip", growth.radius[1])?;
    let variation = growth.length_variation;
    range("length variation", variation, (0.0..1.0).contains(&variation), "from 0 up to, not including, 1")?;
    range("noise", growth.noise, growth.noise >= 0.0, "at least 0")?;
    range("droop", growth.droop, growth.droop >= 0.0, "at least 0")?;
    range("comb", growth.comb.length(), true, "finite")?;
    range("down", growth.down.length(), true, "finite")?;
    let segments = growth.segments as usize;
    range(
        "number of segments",
        growth.segments as f32,
        (1..=MAX_SEGMENTS).contains(&segments),
        "from 1 to 65535",
    )?;
    if let Amount::Density(density) = growth.amount {
        positive("density", density)?;
    }
    if let Some(clump) = growth.clump {
        range("number of clumps", clump.count as f32, clump.count > 0, "at least 1")?;
        range("clump strength", clump.strength, (0.0..=1.0).contains(&clump.strength), "from 0 to 1")?;
    }
    if let Some(curl) = growth.curl {
        positive("radius of the curl", curl.radius)?;
        positive("pitch of the curl", curl.pitch)?;
        let turns = f64::from(growth.length) / growth.winding() / f64::from(curl.pitch);
        let needed = (SEGMENTS_IN_TURN * turns).ceil();
        if f64::from(growth.segments) < needed {
            let segments = growth.segments;
            return Err(GrowError::FewSegments { segments, turns, needed: needed as u64 });
        }
    }
    Ok(())
}

/// Random numbers of a strand.
pub(super) fn random_of(growth: &Growth, index: usize) -> Random {
    Random::new(growth.seed, index as u64)
}

/// Length of strand `index` \[m\].
pub(super) fn length_of(growth: &Growth, index: usize) -> f64 {
    let shorter = f64::from(growth.length_variation) * unit(&mut random_of(growth, index));
    f64::from(growth.length) * (1.0 - shorter)
}
