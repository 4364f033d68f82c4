//! The body as a smooth union of simple shapes, each of which belongs to a bone.

use glam::DVec3;

use super::skeleton::{BONES, Bone, joint};

/// A simple shape.
#[derive(Clone, Copy, Debug)]
enum Solid {
    /// A ball swept from one point to another with varying radius \[m\].
    Cone { from: DVec3, to: DVec3, radii: [f64; 2] },
    /// An ellipsoid with axes along x, y and z \[m\].
    Ellipsoid { centre: DVec3, radii: DVec3 },
}

impl Solid {
    /// Approximate signed distance \[m\], and its gradient.
    fn sample(&self, p: DVec3) -> (f64, DVec3) {
        match *self {
            Self::Cone { from, to, radii } => {
                let along = to - from;
                let t = ((p - from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                let off = p - from - along * t;
                // The gradient ignores that the radius changes along the sweep: Newton's method tolerates it.
                (off.length() - (radii[0] + (radii[1] - radii[0]) * t), off.normalize_or(DVec3::Y))
            }
            Self::Ellipsoid { centre, radii } => {
                let q = (p - centre) / radii;
                let slope = q / radii;
                let steep = slope.length();
                if steep < 1e-9 {
                    return (-radii.min_element(), DVec3::Y);
                }
                let k = q.length();
                (k * (k - 1.0) / steep, slope / steep)
            }
        }
    }
}

/// Blend widths: differences of distance \[m\] below which parts of the trunk, parts of a limb, and limbs
/// with the trunk are blended.
const TRUNK_BLEND: f64 = 0.06;
const LIMB_BLEND: f64 = 0.012;
const ROOT_BLEND: f64 = 0.03;

/// The union of two distances with their gradients, rounded where they differ by less than `width` \[m\].
fn melt(a: (f64, DVec3), b: (f64, DVec3), width: f64) -> (f64, DVec3) {
    let (near, far) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let h = (1.0 - (far.0 - near.0) / width).max(0.0);
    (near.0 - h * h * h * width / 6.0, near.1.lerp(far.1, h * h / 2.0))
}

/// The body in its first pose, standing at the origin.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// Shapes of the trunk with the head.
    trunk: Vec<(Bone, Solid)>,
    /// Shapes of each arm and leg.
    limbs: Vec<Vec<(Bone, Solid)>>,
}

impl Body {
    pub fn new() -> Self {
        let v = DVec3::new;
        let ball = |centre, radii| Solid::Ellipsoid { centre, radii };
        let mut trunk = vec![
            (Bone::Hips, ball(v(0.0, 0.92, 0.0), v(0.165, 0.14, 0.11))),
            (Bone::Waist, ball(v(0.0, 1.06, 0.0), v(0.138, 0.2, 0.098))),
            (Bone::Chest, ball(v(0.0, 1.25, 0.0), v(0.158, 0.2, 0.108))),
            (
                Bone::Chest,
                Solid::Cone { from: v(-0.15, 1.385, 0.0), to: v(0.15, 1.385, 0.0), radii: [0.05; 2] },
            ),
            (
                Bone::Neck,
                Solid::Cone { from: v(0.0, 1.4, -0.01), to: v(0.0, 1.53, 0.01), radii: [0.056, 0.05] },
            ),
            (Bone::Head, ball(v(0.0, 1.6, 0.015), v(0.077, 0.112, 0.095))),
        ];
        let mut limbs = Vec::new();
        for side in [Side::Left, Side::Right] {
            let at = |bone: Bone| joint(side.of(bone));
            let out = side.sign();
            trunk.push((
                Bone::Chest,
                Solid::Cone {
                    from: v(0.04 * out, 1.435, -0.01),
                    to: v(0.14 * out, 1.39, 0.0),
                    radii: [0.045, 0.045],
                },
            ));
            let arm = (at(Bone::LeftForearm) - at(Bone::LeftArm)).normalize();
            let (heel, toe) = (v(0.135 * out, 0.042, -0.03), v(0.15 * out, 0.034, 0.13));
            let cone = |bone: Bone, from, to, radii| (side.of(bone), Solid::Cone { from, to, radii });
            let wrist = at(Bone::LeftHand);
            // Two cones side by side: a palm that is wider than it is thick.
            let palm = |z: f64| {
                let across = v(0.0, 0.0, z);
                cone(Bone::LeftHand, wrist + arm * 0.03 + across, wrist + arm * 0.14 + across, [0.031, 0.026])
            };
            limbs.push(vec![
                cone(Bone::LeftArm, at(Bone::LeftArm), at(Bone::LeftForearm), [0.055, 0.044]),
                cone(Bone::LeftForearm, at(Bone::LeftForearm), wrist, [0.044, 0.032]),
                palm(-0.016),
                palm(0.016),
            ]);
            limbs.push(vec![
                cone(Bone::LeftThigh, at(Bone::LeftThigh), at(Bone::LeftShin), [0.086, 0.057]),
                cone(Bone::LeftShin, at(Bone::LeftShin), at(Bone::LeftFoot), [0.057, 0.042]),
                cone(Bone::LeftFoot, heel, toe, [0.042, 0.034]),
            ]);
        }
        Self { trunk, limbs }
    }

    /// Approximate signed distance from the surface \[m\], smooth across it, and its gradient.
    pub fn sample(&self, p: DVec3) -> (f64, DVec3) {
        let far = (f64::MAX, DVec3::ZERO);
        let union = |parts: &[(Bone, Solid)], width| {
            parts.iter().fold(far, |d, (_, part)| melt(d, part.sample(p), width))
        };
        let trunk = union(&self.trunk, TRUNK_BLEND);
        self.limbs.iter().fold(trunk, |d, limb| melt(d, union(limb, LIMB_BLEND), ROOT_BLEND))
    }

    /// A point of the surface near `p`, by a few steps of Newton's method.
    pub fn project(&self, mut p: DVec3, steps: usize) -> DVec3 {
        for _ in 0..steps {
            let (distance, slope) = self.sample(p);
            p -= slope * (distance / slope.length_squared().max(0.01));
        }
        p
    }

    /// The bone whose shapes are nearest to a point.
    pub fn bone(&self, p: DVec3) -> Bone {
        let mut nearest = (f64::MAX, BONES[0]);
        for (bone, part) in self.trunk.iter().chain(self.limbs.iter().flatten()) {
            let distance = part.sample(p).0;
            if distance < nearest.0 {
                nearest = (distance, *bone);
            }
        }
        nearest.1
    }
}

/// A side of the body; the figure's own left is at x > 0, since it faces +z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    /// The direction outward along x.
    pub fn sign(self) -> f64 {
        match self {
            Self::Left => 1.0,
            Self::Right => -1.0,
        }
    }

    /// The bone of this side that corresponds to one of the left.
    fn of(self, left: Bone) -> Bone {
        match self {
            Self::Left => left,
            Self::Right => left.mirrored(),
        }
    }
}
