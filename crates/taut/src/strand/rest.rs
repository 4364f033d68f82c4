//! The shape of a strand without stress: straight, as it is styled, or so that its own weight bends it into
//! how it is styled (sag-free), in closed form from the tip to the root.
//!
//! With R the frame of a segment turned by a small rotation ω, the energy of a joint changes by M·(ω₁ − ω₀).
//! In equilibrium the moments are M_j = M_{j+1} + e_j × F_j, with F_j the weight beyond segment j: known from
//! the styled shape alone. For frames without twist, the unit normals n₀ and n₁ = b × t of the plane of a
//! joint, its binormal b, and the cosine c and sine s of its turning,
//!
//!   M = k_b [(s − α c) b + ½ β (n₀ + n₁)] − g_t τ̄ (t₀ + t₁)/(1 + c),
//!
//! where the rest curvature is α n₁ + β b: three products give α, β and the rest twist τ̄. Without weight
//! this is the styled shape itself, so one code does both. The bending stiffness holds a cosine of the rest
//! turning (see [`stiffness`]), found by repeated substitution.
//!
//! Equilibrium is not stability: a strand too weak for its style falls over.
//! [`holds`](super::stability::holds) tells, and those that do not hold are made stiffer, within what is
//! allowed.

use std::ops::Range;

use glam::DVec3;

use super::stability;
use crate::HairRest;

/// Largest tangent of the turning of a joint at rest: 80°. The energy needs less than 90°.
const SHARPEST: f64 = 5.67;

/// Largest twist of a joint at rest \[rad\]: 80°, too. Twists are known up to half a turn only, so that what
/// is far from its rest twist must not come to that from the other side.
const MOST_TWISTED: f64 = 1.396;

/// Substitutions for the stiffness of joints.
const SUBSTITUTIONS: usize = 6;

/// Shortest segment \[m\]: shorter ones would have no direction.
const SHORTEST: f64 = 1e-6;

/// Sine of a turning below which the plane of a joint is taken at will.
const FLAT: f64 = 1e-9;

/// A strand without stress.
#[derive(Clone, Debug, Default)]
pub(super) struct StrandRest {
    /// Masses of nodes \[kg\].
    pub(super) mass: Vec<f64>,
    /// Lengths of segments \[m\].
    pub(super) length: Vec<f64>,
    /// Curvature of joints in the material frame (|κ| = tan φ̄), and twist \[rad\]; by node, as what follows.
    pub(super) curvature: Vec<[f64; 2]>,
    pub(super) twist: Vec<f64>,
    /// Stiffness of joints k_b and g_t \[N m\].
    pub(super) bend_stiffness: Vec<f64>,
    pub(super) twist_stiffness: Vec<f64>,
    /// Direction m₁ of the first segment as it is styled.
    pub(super) frame: DVec3,
}

/// What a strand is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// Mass per volume \[kg/m³\].
    pub(super) density: f64,
    /// Young's modulus \[Pa\].
    pub(super) young: f64,
    /// Shear modulus \[Pa\].
    pub(super) shear: f64,
    /// Gravity \[m/s²\].
    pub(super) gravity: DVec3,
}

/// What became of rest shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestReport {
    /// Joints that turn by more than 80° and were given that.
    pub(crate) sharp_joints: usize,
    /// Strands that were made stiffer to stay as they are styled.
    pub(crate) stiffened: usize,
    /// Strands that will not stay as they are styled.
    pub(crate) unstable: usize,
}

impl RestReport {
    /// Both together.
    pub(super) fn with(self, other: &Self) -> Self {
        Self {
            sharp_joints: self.sharp_joints + other.sharp_joints,
            stiffened: self.stiffened + other.stiffened,
            unstable: self.unstable + other.unstable,
        }
    }
}

/// Stiffness k_b and g_t of a joint from EI and GJ over its length \[N m\] and the square of its rest
/// curvature: the second derivative of the energy at rest is that over cos φ̄, and bending adds to that of
/// twist.
fn stiffness(bend: f64, twist: f64, curvature: f64) -> (f64, f64) {
    let cosine = 1.0 / (1.0 + curvature).sqrt();
    (bend * cosine, (twist - 0.5 * (1.0 - cosine) * bend).max(0.1 * twist))
}

impl StrandRest {
    /// Stiffness k_b and g_t of joint `i` \[N m\].
    pub(super) fn stiffness(&self, i: usize) -> (f64, f64) {
        (self.bend_stiffness[i], self.twist_stiffness[i])
    }

    /// How much joint `i` turns at rest \[rad\].
    pub(super) fn turning(&self, i: usize) -> f64 {
        let [a, b] = self.curvature[i];
        a.hypot(b).atan()
    }

    /// The piece of its points `own`, which are styled at `x` \[m\]. Masses stay as they are.
    pub(super) fn piece(&self, x: &[DVec3], own: Range<usize>) -> Self {
        if own.len() == self.mass.len() {
            return self.clone();
        }
        let tangent = |j: usize| (x[j + 1] - x[j]).try_normalize();
        let (mut frame, mut t0) = (self.frame, tangent(0).unwrap_or(DVec3::X));
        for j in 1..=own.start {
            let t1 = tangent(j).unwrap_or(t0);
            (frame, t0) = (carried(frame, t0, t1), t1);
        }
        let (first, last) = (own.start, own.end - 1);
        let mut piece = Self {
            mass: self.mass[own.clone()].to_vec(),
            length: self.length[first..last].to_vec(),
            curvature: self.curvature[own.clone()].to_vec(),
            twist: self.twist[own.clone()].to_vec(),
            bend_stiffness: self.bend_stiffness[own.clone()].to_vec(),
            twist_stiffness: self.twist_stiffness[own].to_vec(),
            frame,
        };
        // Ends have no joint.
        for end in [0, last - first] {
            (piece.curvature[end], piece.twist[end]) = ([0.0; 2], 0.0);
            (piece.bend_stiffness[end], piece.twist_stiffness[end]) = (0.0, 0.0);
        }
        piece
    }

    /// The strand whose points are at `x` with radii `radius` \[m\]. `report` is added to.
    pub(super) fn new(
        x: &[DVec3],
        radius: &[f64],
        made: &Made,
        rest: HairRest,
        report: &mut RestReport,
    ) -> Self {
        let styled = Styled::new(x, radius, made);
        let mut sharp = 0;
        let (found, holds) = match rest {
            HairRest::Straight => (styled.straight(), true),
            HairRest::Groom => (styled.bent_by(DVec3::ZERO, 1.0, &mut sharp), true),
            HairRest::SagFree { stiffen } => {
                let most = f64::from(stiffen).max(1.0);
                let mut factor = 1.0;
                loop {
                    sharp = 0;
                    let found = styled.bent_by(made.gravity, factor, &mut sharp);
                    let holds = sharp == styled.sharp_joints()
                        && stability::holds(&found, &styled.tangents, &styled.frames, made.gravity);
                    if holds || factor >= most {
                        report.stiffened += usize::from(factor > 1.0);
                        break (found, holds);
                    }
                    factor = (2.0 * factor).min(most);
                }
            }
        };
        report.sharp_joints += sharp;
        report.unstable += usize::from(!holds);
        found
    }
}

/// A strand as it is styled.
struct Styled {
    mass: Vec<f64>,
    length: Vec<f64>,
    tangents: Vec<DVec3>,
    /// Bishop frames: m₁ of segments, without twist.
    frames: Vec<DVec3>,
    /// EI and GJ over the length of joints \[N m\], by node.
    bend: Vec<f64>,
    twist: Vec<f64>,
}

impl Styled {
    fn new(x: &[DVec3], radius: &[f64], made: &Made) -> Self {
        let n = x.len() - 1;
        let edges: Vec<DVec3> = (0..n).map(|j| x[j + 1] - x[j]).collect();
        let length: Vec<f64> = edges.iter().map(|e| e.length().max(SHORTEST)).collect();
        let mut tangents: Vec<DVec3> = Vec::with_capacity(n);
        for e in &edges {
            let before = tangents.last().copied().unwrap_or(DVec3::X);
            tangents.push(e.try_normalize().unwrap_or(before));
        }
        let mut frames = vec![tangents[0].any_orthonormal_vector()];
        for j in 1..n {
            frames.push(carried(frames[j - 1], tangents[j - 1], tangents[j]));
        }
        let half = |i: usize, j: usize| {
            let r = 0.5 * (radius[i] + radius[j]);
            made.density * std::f64::consts::PI * r * r * 0.5 * length[i.min(j)]
        };
        let mass = |i: usize| {
            let before = if i > 0 { half(i, i - 1) } else { 0.0 };
            before + if i < n { half(i, i + 1) } else { 0.0 }
        };
        let over_length = |i: usize| {
            if i == 0 || i == n {
                return 0.0;
            }
            0.25 * std::f64::consts::PI * radius[i].powi(4) / (0.5 * (length[i - 1] + length[i]))
        };
        Self {
            mass: (0..=n).map(mass).collect(),
            bend: (0..=n).map(|i| made.young * over_length(i)).collect(),
            twist: (0..=n).map(|i| 2.0 * made.shear * over_length(i)).collect(),
            length,
            tangents,
            frames,
        }
    }

    fn straight(&self) -> StrandRest {
        let nodes = self.mass.len();
        StrandRest {
            mass: self.mass.clone(),
            length: self.length.clone(),
            curvature: vec![[0.0; 2]; nodes],
            twist: vec![0.0; nodes],
            bend_stiffness: self.bend.clone(),
            twist_stiffness: self.twist.clone(),
            frame: self.frames[0],
        }
    }

    /// How many joints are too sharp as they are styled.
    fn sharp_joints(&self) -> usize {
        let too_sharp = |t: &[DVec3]| t[0].dot(t[1]) * (1.0 + SHARPEST * SHARPEST).sqrt() < 1.0;
        self.tangents.windows(2).filter(|t| too_sharp(t)).count()
    }

    /// The rest shape that `gravity` bends into the style, of a strand that is stiffer by `factor`.
    fn bent_by(&self, gravity: DVec3, factor: f64, sharp: &mut usize) -> StrandRest {
        let mut rest = self.straight();
        let (mut force, mut moment) = (DVec3::ZERO, DVec3::ZERO);
        for i in (1..self.length.len()).rev() {
            force += self.mass[i + 1] * gravity;
            moment += self.length[i] * self.tangents[i].cross(force);
            self.joint(i, moment, factor, &mut rest, sharp);
        }
        rest
    }

    /// The rest shape of joint `i` that balances `moment`.
    fn joint(&self, i: usize, moment: DVec3, factor: f64, rest: &mut StrandRest, sharp: &mut usize) {
        let (t0, t1, m1) = (self.tangents[i - 1], self.tangents[i], self.frames[i]);
        let (axis, cosine) = (t0.cross(t1), t0.dot(t1));
        let mut sine = axis.length();
        let binormal = if sine > FLAT { axis / sine } else { t1.cross(m1) };
        let (n0, n1) = (binormal.cross(t0), binormal.cross(t1));
        let (bend, twist) = (factor * self.bend[i], factor * self.twist[i]);
        let mut curvature = [0.0; 2];
        let mut is_sharp = cosine * (1.0 + SHARPEST * SHARPEST).sqrt() < 1.0;
        let mut cosine = cosine;
        if is_sharp {
            cosine = 1.0 / (1.0 + SHARPEST * SHARPEST).sqrt();
            sine = SHARPEST * cosine;
        }
        let square = |k: [f64; 2]| k[0] * k[0] + k[1] * k[1];
        let mut found = (1.0 - cosine * cosine) / (cosine * cosine);
        for _ in 0..SUBSTITUTIONS {
            let (k, _) = stiffness(bend, twist, found);
            let alpha = (sine - moment.dot(binormal) / k) / cosine;
            let beta = moment.dot(n0 + n1) / (k * (1.0 + cosine));
            let bent = alpha * n1 + beta * binormal;
            curvature = [bent.dot(m1), bent.dot(t1.cross(m1))];
            (rest.bend_stiffness[i], rest.twist_stiffness[i]) = stiffness(bend, twist, found);
            found = square(curvature).min(SHARPEST * SHARPEST);
        }
        let over = square(curvature).sqrt() / SHARPEST;
        if over > 1.0 {
            is_sharp = true;
            curvature = curvature.map(|k| k / over);
        }
        // Without stiffness any twist would do.
        let twisted = -moment.dot(t0 + t1) / (2.0 * rest.twist_stiffness[i]).max(f64::MIN_POSITIVE);
        *sharp += usize::from(is_sharp || twisted.abs() > MOST_TWISTED);
        rest.curvature[i] = curvature;
        rest.twist[i] = twisted.clamp(-MOST_TWISTED, MOST_TWISTED);
    }
}

/// `m` turned by the smallest rotation that takes `t0` to `t1`, and at right angles to that.
fn carried(m: DVec3, t0: DVec3, t1: DVec3) -> DVec3 {
    let (axis, cosine) = (t0.cross(t1), t0.dot(t1));
    let moved = m * cosine + axis.cross(m) + axis * (axis.dot(m) / (1.0 + cosine).max(1e-9));
    (moved - t1 * moved.dot(t1)).try_normalize().unwrap_or_else(|| t1.any_orthonormal_vector())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(gravity: f64) -> Made {
        Made { density: 1300.0, young: 3e9, shear: 1.1e9, gravity: DVec3::new(0.0, -gravity, 0.0) }
    }

    #[test]
    fn a_groom_at_rest_has_its_turning() {
        let x: Vec<DVec3> =
            (0..20).map(|k| f64::from(k) * 0.4).map(|a| DVec3::new(a.cos(), 0.1 * a, a.sin())).collect();
        let mut report = RestReport::default();
        let rest = StrandRest::new(&x, &[4e-5; 20], &made(0.0), HairRest::Groom, &mut report);
        for i in 1..19 {
            let turning = (x[i] - x[i - 1]).angle_between(x[i + 1] - x[i]);
            assert!((rest.turning(i) - turning).abs() < 1e-9);
        }
        assert_eq!(report, RestReport::default());
    }

    #[test]
    fn sharp_joints_are_cut_and_counted() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::new(0.5, -0.5, 0.0)];
        let mut report = RestReport::default();
        let rest = StrandRest::new(&x, &[4e-5; 3], &made(0.0), HairRest::Groom, &mut report);
        assert_eq!(report.sharp_joints, 1);
        assert!((rest.turning(1).tan() - SHARPEST).abs() < 1e-9);
    }

    #[test]
    fn twists_that_soft_strands_would_need_are_cut_and_counted() {
        // A hook whose tip twists it, of a material that has next to nothing against that.
        let x = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::new(2.0, 0.0, 1.0)].map(|x| 0.01 * x);
        let soft = Made { shear: 1e6, ..made(9.81) };
        for (stiffen, stiffened) in [(1.0, 0), (1e6, 1)] {
            let mut report = RestReport::default();
            let rest = HairRest::SagFree { stiffen };
            let found = StrandRest::new(&x, &[4e-5; 4], &soft, rest, &mut report);
            assert!(found.twist.iter().all(|twist| twist.abs() <= MOST_TWISTED), "{:?}", found.twist);
            // Its right angle is sharper than a joint may be at rest, however stiff.
            assert_eq!([report.unstable, report.stiffened], [1, stiffened], "{report:?}");
        }
    }

    #[test]
    fn weak_strands_styled_sideways_are_stiffened_or_reported() {
        let x: Vec<DVec3> = (0..51).map(|k| DVec3::X * (0.0044 * f64::from(k))).collect();
        let fit = |stiffen: f32| {
            let mut report = RestReport::default();
            let rest = HairRest::SagFree { stiffen };
            let rest = StrandRest::new(&x, &[4e-5; 51], &made(9.81), rest, &mut report);
            (report, rest.bend_stiffness[25])
        };
        let (report, soft) = fit(1.0);
        assert_eq!((report.stiffened, report.unstable), (0, 1));
        let (report, stiff) = fit(32.0);
        assert_eq!((report.stiffened, report.unstable), (1, 0));
        assert!(stiff > 1.9 * soft, "{stiff} {soft}");
    }
}
