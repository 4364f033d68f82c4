//! Bones, their joints, and their rotation over time.

use std::f64::consts::{PI, TAU};

use glam::{DAffine3, DQuat, DVec3};

/// A bone. The figure faces +z, so that its left is at x > 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bone {
    Hips,
    Waist,
    Chest,
    Neck,
    Head,
    LeftArm,
    LeftForearm,
    LeftHand,
    LeftThigh,
    LeftShin,
    LeftFoot,
    RightArm,
    RightForearm,
    RightHand,
    RightThigh,
    RightShin,
    RightFoot,
}

/// All bones, parents before their children.
pub(super) const BONES: [Bone; 17] = [
    Bone::Hips,
    Bone::Waist,
    Bone::Chest,
    Bone::Neck,
    Bone::Head,
    Bone::LeftArm,
    Bone::LeftForearm,
    Bone::LeftHand,
    Bone::LeftThigh,
    Bone::LeftShin,
    Bone::LeftFoot,
    Bone::RightArm,
    Bone::RightForearm,
    Bone::RightHand,
    Bone::RightThigh,
    Bone::RightShin,
    Bone::RightFoot,
];

/// Angle of the arms below the horizontal in the first pose \[rad\].
pub(super) const ARM_SLOPE: f64 = 40.0 / 180.0 * PI;
/// Lengths of the upper arm and the forearm \[m\].
const ARM: [f64; 2] = [0.27, 0.25];

impl Bone {
    fn parent(self) -> Option<Self> {
        Some(match self {
            Self::Hips => return None,
            Self::Waist | Self::LeftThigh | Self::RightThigh => Self::Hips,
            Self::Chest => Self::Waist,
            Self::Neck | Self::LeftArm | Self::RightArm => Self::Chest,
            Self::Head => Self::Neck,
            Self::LeftForearm => Self::LeftArm,
            Self::LeftHand => Self::LeftForearm,
            Self::LeftShin => Self::LeftThigh,
            Self::LeftFoot => Self::LeftShin,
            Self::RightForearm => Self::RightArm,
            Self::RightHand => Self::RightForearm,
            Self::RightShin => Self::RightThigh,
            Self::RightFoot => Self::RightShin,
        })
    }

    /// The same on the other side.
    pub fn mirrored(self) -> Self {
        match self {
            Self::LeftArm => Self::RightArm,
            Self::LeftForearm => Self::RightForearm,
            Self::LeftHand => Self::RightHand,
            Self::LeftThigh => Self::RightThigh,
            Self::LeftShin => Self::RightShin,
            Self::LeftFoot => Self::RightFoot,
            Self::RightArm => Self::LeftArm,
            Self::RightForearm => Self::LeftForearm,
            Self::RightHand => Self::LeftHand,
            Self::RightThigh => Self::LeftThigh,
            Self::RightShin => Self::LeftShin,
            Self::RightFoot => Self::LeftFoot,
            middle => middle,
        }
    }

    /// Its index in [`BONES`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The joint of a bone in the first pose \[m\].
pub(super) fn joint(bone: Bone) -> DVec3 {
    let along = DVec3::new(ARM_SLOPE.cos(), -ARM_SLOPE.sin(), 0.0);
    let shoulder = DVec3::new(0.165, 1.385, 0.0);
    match bone {
        Bone::Hips => DVec3::new(0.0, 0.92, 0.0),
        Bone::Waist => DVec3::new(0.0, 1.0, 0.0),
        Bone::Chest => DVec3::new(0.0, 1.15, 0.0),
        Bone::Neck => DVec3::new(0.0, 1.44, -0.01),
        Bone::Head => DVec3::new(0.0, 1.52, 0.0),
        Bone::LeftArm => shoulder,
        Bone::LeftForearm => shoulder + along * ARM[0],
        Bone::LeftHand => shoulder + along * (ARM[0] + ARM[1]),
        Bone::LeftThigh => DVec3::new(0.092, 0.88, 0.0),
        Bone::LeftShin => DVec3::new(0.115, 0.48, 0.01),
        Bone::LeftFoot => DVec3::new(0.13, 0.08, -0.015),
        right => joint(right.mirrored()) * DVec3::new(-1.0, 1.0, 1.0),
    }
}

/// How long the figure stands still before it moves \[s\].
pub(super) const REST: f64 = 0.5;

/// 0 before it moves, 1 from a second after it on, with two continuous derivatives.
fn ease(time: f64) -> f64 {
    let t = time.clamp(0.0, 1.0);
    t * t * t * (t * (6.0 * t - 15.0) + 10.0)
}

/// Transforms of all bones at `time` \[s\], from the first pose.
pub(super) fn pose(time: f64) -> [DAffine3; BONES.len()] {
    let t = time - REST;
    let ease = ease(t);
    // A step with each foot takes 1.2 s, a turn to both sides 4 s, arms go up and down in 3 s.
    let step = (TAU * t / 1.2).sin() * ease;
    let lift = |phase: f64| 0.5 * (1.0 - (TAU * t / 1.2 + phase).cos()) * ease;
    let turn = (TAU * t / 4.0).sin() * ease;
    let raise = 0.5 * (1.0 - (TAU * t / 3.0).cos()) * ease;
    let degrees = PI / 180.0;
    let mut places = [DAffine3::IDENTITY; BONES.len()];
    for bone in BONES {
        let turned = match bone {
            Bone::Hips => DQuat::from_rotation_y(5.0 * degrees * turn),
            Bone::Waist => DQuat::from_rotation_y(14.0 * degrees * turn),
            Bone::Chest => {
                DQuat::from_rotation_y(14.0 * degrees * turn) * DQuat::from_rotation_z(3.0 * degrees * step)
            }
            Bone::Neck => DQuat::from_rotation_y(-6.0 * degrees * turn),
            Bone::Head => DQuat::from_rotation_y(-8.0 * degrees * turn),
            Bone::LeftArm => {
                DQuat::from_rotation_y(-8.0 * degrees * step) * DQuat::from_rotation_z(34.0 * degrees * raise)
            }
            Bone::RightArm => {
                DQuat::from_rotation_y(-8.0 * degrees * step)
                    * DQuat::from_rotation_z(-34.0 * degrees * raise)
            }
            Bone::LeftForearm => DQuat::from_rotation_y(-25.0 * degrees * raise),
            Bone::RightForearm => DQuat::from_rotation_y(25.0 * degrees * raise),
            Bone::LeftHand | Bone::RightHand => DQuat::IDENTITY,
            Bone::LeftThigh => DQuat::from_rotation_x(-16.0 * degrees * step),
            Bone::RightThigh => DQuat::from_rotation_x(16.0 * degrees * step),
            Bone::LeftShin => DQuat::from_rotation_x(24.0 * degrees * lift(-PI / 2.0)),
            Bone::RightShin => DQuat::from_rotation_x(24.0 * degrees * lift(PI / 2.0)),
            Bone::LeftFoot => DQuat::from_rotation_x(-8.0 * degrees * lift(-PI / 2.0)),
            Bone::RightFoot => DQuat::from_rotation_x(-8.0 * degrees * lift(PI / 2.0)),
        };
        let at = joint(bone);
        let own =
            DAffine3::from_translation(at) * DAffine3::from_quat(turned) * DAffine3::from_translation(-at);
        places[bone.index()] = match bone.parent() {
            Some(parent) => places[parent.index()] * own,
            None => own,
        };
    }
    places
}
