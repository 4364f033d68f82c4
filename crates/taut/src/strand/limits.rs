//! Limits of strands: on the strain of segments, and on the change of angles at joints.

use super::rest::StrandRest;
use crate::{
    Limit,
    kernel::lanes::{BATCH, Row},
};

/// Largest width of limits on strain that are solved as one fixed length: as wide as ±2.5 %.
const NARROW: f32 = 0.05;

/// Share of the width of limits that results keep away from them, so that rounding does not carry them past.
const INSET: f32 = 0.1;

/// The same for projections, which end where they enter.
const PROJECTED: f32 = 0.3;

/// Smallest length of a segment over its rest length where no limit says otherwise: shorter ones would have
/// no direction.
const SHORTEST: f32 = 0.1;

/// Longest, likewise.
const LONGEST: f32 = 1e3;

/// Rounding of a strain that is measured in single precision.
const ROUNDING: f32 = 1e-6;

/// Share of the allowed change of an angle from which on it stiffens.
const STIFF_FROM: f64 = 0.9;

/// Share of the allowed change of an angle that it is brought back to.
const BACK_TO: f64 = 0.98;

/// How much stiffer a joint gets towards its limit, over its own stiffness.
pub(super) const STIFFENING: f32 = 30.0;

/// Lengths of segments over their rest length: where they may be, and where solvers aim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StretchBand {
    /// The length that segments are solved for, if the limits are narrow: then it is an equality.
    pub(super) fixed: Option<f32>,
    /// What Newton's method keeps active rows at.
    pub(super) aim: [f32; 2],
    /// What projections bring segments to.
    pub(super) projected: [f32; 2],
    /// The limits less the rounding of a measurement in single precision.
    pub(super) held: [f32; 2],
}

impl StretchBand {
    /// From limits on strain.
    pub(super) fn new(limit: Limit) -> Self {
        let low = limit.min.map_or(SHORTEST, |min| 1.0 + min).clamp(SHORTEST, 1.0);
        let high = limit.max.map_or(LONGEST, |max| 1.0 + max).max(low);
        let width = high - low;
        let inset = |share: f32| {
            // A missing limit does not make the room beside the other one larger.
            let inset = share * width.min(NARROW);
            [(low + inset).min(0.5 * (low + high)), (high - inset).max(0.5 * (low + high))]
        };
        let aim = inset(INSET);
        let fixed = (width <= NARROW).then(|| 1.0f32.clamp(aim[0], aim[1]));
        let rounding = ROUNDING.min(0.25 * width);
        Self { fixed, aim, projected: inset(PROJECTED), held: [low + rounding, high - rounding] }
    }
}

/// Limits on the change of the angles at a joint of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointLimits {
    /// Distances of the ends of unit tangents beyond which a joint stiffens, and which are allowed.
    pub(super) soft: [Row; 2],
    pub(super) hard: [Row; 2],
    /// Cosine and sine of the turning that a joint is brought back to, the smaller one first.
    pub(super) back: [[Row; 2]; 2],
    /// Change of twist \[rad\] beyond which it stiffens, and which is allowed.
    pub(super) twist: [Row; 2],
}

impl JointLimits {
    /// Of joint `i`, from limits on bend and twist \[°/cm\].
    pub(super) fn new(strands: [&StrandRest; BATCH], i: usize, [bend, twist]: [Option<f32>; 2]) -> Self {
        let row = |value: &dyn Fn(&StrandRest) -> f64| Row(strands.map(|strand| value(strand) as f32));
        let turning = |strand: &StrandRest, share: f64, side: f64| {
            let room = allowed_change(strand, i, bend) * share;
            (strand.turning(i) + side * room).clamp(0.0, std::f64::consts::PI)
        };
        let chords = |share: f64| {
            [-1.0, 1.0].map(|side| row(&|strand| 2.0 * (0.5 * turning(strand, share, side)).sin()))
        };
        let back = |side: f64| {
            [
                row(&|strand| turning(strand, BACK_TO, side).cos()),
                row(&|strand| turning(strand, BACK_TO, side).sin()),
            ]
        };
        let room = |share: f64| row(&|strand| share * allowed_change(strand, i, twist));
        Self {
            soft: chords(STIFF_FROM),
            hard: chords(1.0 - 1e-4),
            back: [back(-1.0), back(1.0)],
            twist: [room(STIFF_FROM), room(1.0)],
        }
    }
}

/// How much an angle at joint `i` may change \[rad\] by a limit \[°/cm\]; ends have no joint.
pub(super) fn allowed_change(strand: &StrandRest, i: usize, limit: Option<f32>) -> f64 {
    let last = strand.length.len();
    match limit {
        Some(limit) if i > 0 && i < last => {
            let length = 0.5 * (strand.length[i - 1] + strand.length[i]);
            f64::from(limit).to_radians() * 100.0 * length
        }
        _ => 10.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_limits_fix_the_length() {
        let band = StretchBand::new(Limit { min: Some(-0.01), max: Some(0.01) });
        assert_eq!(band.fixed, Some(1.0));
        assert!(band.held[1] < 1.01 && band.aim[1] < band.held[1] && band.projected[1] < band.aim[1]);
        let band = StretchBand::new(Limit { min: Some(-0.001), max: Some(0.02) });
        assert!(band.fixed.is_some_and(|s| s > 0.999 && s < 1.002));
    }

    #[test]
    fn wide_limits_do_not() {
        let band = StretchBand::new(Limit { min: None, max: Some(0.2) });
        assert_eq!(band.fixed, None);
        assert!((band.aim[1] - 1.195).abs() < 1e-6 && band.aim[0] > SHORTEST);
        assert!(StretchBand::new(Limit { min: Some(-0.1), max: None }).held[1] > 100.0);
    }
}
