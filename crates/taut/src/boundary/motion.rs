//! Keyframed rigid motion.

use glam::{EulerRot, Quat, Vec3};

/// Where something is at one moment, relative to where it started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Keyframe {
    /// Time \[s\].
    pub time: f32,
    /// Displacement \[m\].
    pub translate: Vec3,
    /// Rotation about the x, then y, then z axis through the pivot \[degrees\]; angles beyond 360 turn
    /// several times.
    pub rotate: Vec3,
}

/// Rigid motion by keyframes, interpolated linearly, constant before the first and after the last. Empty: at
/// rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Keyframes with strictly increasing times.
    pub keys: Vec<Keyframe>,
    /// Point about which it turns \[m\].
    pub pivot: Vec3,
}

/// A rigid placement: p ↦ rotation p + position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// How it is turned.
    pub rotation: Quat,
    /// Where the origin goes \[m\].
    pub position: Vec3,
}

impl Pose {
    /// Takes a point of the body to space.
    pub fn to_world(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.position
    }

    /// Takes a point of space to the body.
    pub fn to_body(&self, p: Vec3) -> Vec3 {
        self.rotation.conjugate() * (p - self.position)
    }
}

/// A rotation about the x, then y, then z axis \[degrees\].
pub fn rotation_of_degrees(degrees: Vec3) -> Quat {
    let r = degrees * (std::f32::consts::PI / 180.0);
    Quat::from_euler(EulerRot::ZYX, r.z, r.y, r.x)
}

impl Motion {
    /// Whether anything ever moves.
    pub fn is_moving(&self) -> bool {
        self.keys.windows(2).any(|k| (k[0].translate, k[0].rotate) != (k[1].translate, k[1].rotate))
    }

    /// Displacement and rotation at `time` \[s\].
    pub fn at(&self, time: f32) -> Pose {
        let (translate, rotate) = self.interpolate(time);
        let rotation = rotation_of_degrees(rotate);
        Pose { rotation, position: self.pivot + translate - rotation * self.pivot }
    }

    fn interpolate(&self, time: f32) -> (Vec3, Vec3) {
        let next = self.keys.partition_point(|k| k.time <= time);
        match (next.checked_sub(1).and_then(|k| self.keys.get(k)), self.keys.get(next)) {
            (Some(a), Some(b)) => {
                let t = (time - a.time) / (b.time - a.time);
                (a.translate.lerp(b.translate, t), a.rotate.lerp(b.rotate, t))
            }
            (Some(k), None) | (None, Some(k)) => (k.translate, k.rotate),
            (None, None) => (Vec3::ZERO, Vec3::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_about_the_pivot_and_keeps_still_outside_its_keys() {
        let key = |time, x, turn| Keyframe {
            time,
            translate: Vec3::new(x, 0.0, 0.0),
            rotate: Vec3::new(0.0, 0.0, turn),
        };
        let motion = Motion { keys: vec![key(1.0, 0.0, 0.0), key(2.0, 4.0, 180.0)], pivot: Vec3::X };
        assert_eq!(motion.at(0.5).to_world(Vec3::Y), Vec3::Y);
        let half = motion.at(1.5).to_world(Vec3::new(2.0, 0.0, 0.0));
        assert!((half - Vec3::new(3.0, 1.0, 0.0)).length() < 1e-6, "{half}");
        let end = motion.at(9.0).to_world(Vec3::new(2.0, 0.0, 0.0));
        assert!((end - Vec3::new(4.0, 0.0, 0.0)).length() < 1e-6, "{end}");
    }

    #[test]
    fn rotations_go_x_then_y_then_z() {
        let p = rotation_of_degrees(Vec3::new(90.0, 90.0, 0.0)) * Vec3::Y;
        assert!((p - Vec3::X).length() < 1e-6, "y to z by x, z to x by y: {p}");
    }

    #[test]
    fn pose_goes_there_and_back() {
        let pose = Motion {
            keys: vec![Keyframe { time: 0.0, translate: Vec3::ONE, rotate: Vec3::new(10.0, 20.0, 30.0) }],
            pivot: Vec3::Z,
        }
        .at(0.0);
        let p = Vec3::new(0.3, -2.0, 1.0);
        assert!((pose.to_body(pose.to_world(p)) - p).length() < 1e-5);
    }
}
