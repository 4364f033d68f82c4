//! Rigid motion: by keyframes, or from pose to pose as a caller sets them.

use glam::{EulerRot, Quat, Vec3};

/// A placement at one moment, relative to the initial one.
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
    /// Centre of rotation \[m\].
    pub pivot: Vec3,
    /// Replaces the keyframes once a caller has set a pose
    /// ([`Simulation::set_next_pose`](crate::Simulation::set_next_pose)).
    pub driven: Option<Driven>,
}

/// The motion from one pose to the next: linear for the origin, along the shortest arc for the rotation.
/// Before its first time the keyframes apply; after its last it stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Driven {
    /// Start and end time \[s\].
    pub times: [f32; 2],
    /// Poses at those times.
    pub poses: [Pose; 2],
    /// Initial placement: motions are relative to it.
    pub start: Pose,
}

/// A rigid placement: p ↦ rotation p + position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// How it is turned.
    pub rotation: Quat,
    /// Image of the origin \[m\].
    pub position: Vec3,
}

impl Pose {
    /// The identity.
    pub const IDENTITY: Self = Self { rotation: Quat::IDENTITY, position: Vec3::ZERO };

    /// A translation to `position` \[m\].
    pub fn at(position: Vec3) -> Self {
        Self { rotation: Quat::IDENTITY, position }
    }

    /// Whether all of it is finite, its position within 1e6 m, and its rotation normalized.
    pub fn is_valid(&self) -> bool {
        let Self { rotation, position } = self;
        let near = position.is_finite() && position.abs().max_element() <= 1e6;
        near && rotation.is_finite() && (rotation.length_squared() - 1.0).abs() < 1e-3
    }

    /// Interpolates between this (0) and `other` (1).
    fn between(&self, other: &Self, share: f32) -> Self {
        Self {
            rotation: self.rotation.slerp(other.rotation, share),
            position: self.position.lerp(other.position, share),
        }
    }

    /// Maps a point of the body to space.
    pub fn to_world(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.position
    }

    /// Maps a point of space to the body.
    pub fn to_body(&self, p: Vec3) -> Vec3 {
        self.rotation.conjugate() * (p - self.position)
    }
}

impl Driven {
    /// Pose at `time` \[s\].
    pub(crate) fn at(&self, time: f32) -> Pose {
        let [from, to] = self.times;
        if time >= to {
            return self.poses[1];
        }
        self.poses[0].between(&self.poses[1], ((time - from) / (to - from)).clamp(0.0, 1.0))
    }

    /// The same, relative to the initial placement.
    fn relative(&self, time: f32) -> Pose {
        let Pose { rotation, position } = self.at(time);
        let turn = rotation * self.start.rotation.conjugate();
        Pose { rotation: turn, position: position - turn * self.start.position }
    }
}

/// A rotation about the x, then y, then z axis \[degrees\].
pub fn rotation_of_degrees(degrees: Vec3) -> Quat {
    let r = degrees * (std::f32::consts::PI / 180.0);
    Quat::from_euler(EulerRot::ZYX, r.z, r.y, r.x)
}

impl Motion {
    /// Whether it is unspecified: the body stays at its initial placement.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.driven.is_none()
    }

    /// Whether anything ever moves.
    pub fn is_moving(&self) -> bool {
        if self.driven.is_some_and(|driven| driven.poses[0] != driven.poses[1]) {
            return true;
        }
        self.keys.windows(2).any(|k| (k[0].translate, k[0].rotate) != (k[1].translate, k[1].rotate))
    }

    /// The largest speed between keyframes of what is no further than `reach` \[m\] from the pivot \[m/s\].
    pub(crate) fn speed(&self, reach: f32) -> f32 {
        let between = |keys: &[Keyframe]| {
            let turn = (keys[1].rotate - keys[0].rotate).length().to_radians();
            let way = keys[1].translate.distance(keys[0].translate) + turn * reach;
            way / (keys[1].time - keys[0].time)
        };
        self.keys.windows(2).map(between).fold(0.0, f32::max)
    }

    /// Displacement and rotation at `time` \[s\].
    pub fn at(&self, time: f32) -> Pose {
        if let Some(driven) = self.driven.filter(|driven| time >= driven.times[0]) {
            return driven.relative(time);
        }
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
        let motion = Motion {
            keys: vec![key(1.0, 0.0, 0.0), key(2.0, 4.0, 180.0)],
            pivot: Vec3::X,
            ..Motion::default()
        };
        assert_eq!(motion.at(0.5).to_world(Vec3::Y), Vec3::Y);
        let half = motion.at(1.5).to_world(Vec3::new(2.0, 0.0, 0.0));
        assert!((half - Vec3::new(3.0, 1.0, 0.0)).length() < 1e-6, "{half}");
        let end = motion.at(9.0).to_world(Vec3::new(2.0, 0.0, 0.0));
        assert!((end - Vec3::new(4.0, 0.0, 0.0)).length() < 1e-6, "{end}");
    }

    #[test]
    fn driven_motion_ends_exactly_where_it_was_told_and_leaves_the_start_to_the_keyframes() {
        let start = Pose { rotation: Quat::from_rotation_x(0.4), position: Vec3::new(1.0, 2.0, 3.0) };
        let next = Pose { rotation: Quat::from_rotation_x(1.0), position: Vec3::new(1.0, 3.0, 3.0) };
        let driven = Driven { times: [1.0, 2.0], poses: [start, next], start };
        let motion = Motion { driven: Some(driven), ..Motion::default() };
        let obstacle = |time: f32| {
            let motion = motion.at(time);
            Pose { rotation: motion.rotation * start.rotation, position: motion.to_world(start.position) }
        };
        assert_eq!(obstacle(0.0), start);
        let near = |a: Pose, b: Pose| {
            assert!(
                a.position.distance(b.position) < 1e-6 && a.rotation.dot(b.rotation) > 1.0 - 1e-6,
                "{a:?}"
            );
        };
        near(obstacle(1.0), start);
        near(
            obstacle(1.5),
            Pose { rotation: Quat::from_rotation_x(0.7), position: Vec3::new(1.0, 2.5, 3.0) },
        );
        near(obstacle(2.0), next);
        near(obstacle(9.0), next);
        assert!(motion.is_moving() && !motion.is_empty());
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
            ..Motion::default()
        }
        .at(0.0);
        let p = Vec3::new(0.3, -2.0, 1.0);
        assert!((pose.to_body(pose.to_world(p)) - p).length() < 1e-5);
    }
}
