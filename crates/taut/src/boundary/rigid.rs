//! Rigid bodies with mass: obstacles that fall, and that cloth pushes (S4).
//!
//! A body first moves to its position without cloth ([`RigidBody::fly`]), unless an obstacle or another body
//! is in its way ([`collide`](crate::collide)); the filter then moves it together with the cloth that it
//! touches ([`term::rigid`](crate::term::rigid)), and that correction updates its velocities, as it does
//! those of vertices ([`RigidState::end_step`]).

use glam::{Mat3, Quat, Vec3};

use super::{
    motion::Pose,
    obstacle::{Obstacle, Shape},
};

/// An analytic obstacle with mass: it falls, it pushes cloth, and cloth pushes it.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidBody {
    /// Its shape, initial placement, friction and margin. It has no motion; `restitution` applies when it
    /// hits other obstacles.
    pub obstacle: Obstacle,
    /// Its mass \[kg\], uniform over its volume.
    pub mass: f32,
    /// Initial velocity \[m/s\].
    pub velocity: Vec3,
    /// Initial angular velocity, about its centre \[rad/s\].
    pub angular_velocity: Vec3,
}

/// Pose and velocities of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidState {
    /// Where it is.
    pub pose: Pose,
    /// Velocity of its centre \[m/s\].
    pub velocity: Vec3,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: Vec3,
}

impl RigidState {
    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.pose.position.is_finite()
            && self.pose.rotation.is_finite()
            && self.velocity.is_finite()
            && self.angular_velocity.is_finite()
    }

    /// Updates its velocities after a step of `dt` \[s\] that ended at `end`, with `predicted` its state
    /// without contact.
    pub fn end_step(&mut self, predicted: &Pose, end: Pose, dt: f32) {
        self.velocity += (end.position - predicted.position) / dt;
        self.angular_velocity += turn_between(predicted.rotation, end.rotation) / dt;
        self.pose = end;
    }

    /// Mean velocity \[m/s\] and angular velocity \[rad/s\] of a step of `dt` \[s\] that began at `from` and
    /// ended here.
    pub fn mean(&self, from: &Pose, dt: f32) -> [Vec3; 2] {
        [(self.pose.position - from.position) / dt, turn_between(from.rotation, self.pose.rotation) / dt]
    }
}

impl RigidBody {
    /// Its initial state.
    pub fn start(&self) -> RigidState {
        RigidState {
            pose: Pose { rotation: self.obstacle.rotation, position: self.obstacle.position },
            velocity: self.velocity,
            angular_velocity: self.angular_velocity,
        }
    }

    /// Moments of inertia about the axes of its shape \[kg m²\]; `None` for shapes that cannot have a mass.
    pub fn inertia(&self) -> Option<Vec3> {
        let m = self.mass;
        Some(match self.obstacle.shape {
            Shape::Sphere { radius } => Vec3::splat(0.4 * m * radius * radius),
            Shape::Box { size } => {
                let s = size * size;
                Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (m / 12.0)
            }
            Shape::Cylinder { radius, height } => {
                let across = m * (3.0 * radius * radius + height * height) / 12.0;
                Vec3::new(across, 0.5 * m * radius * radius, across)
            }
            Shape::Capsule { radius, length } => {
                // Volumes of the cylinder and of the two hemispheres, divided by π r².
                let (rod, balls) = (length, 4.0 / 3.0 * radius);
                let (rod, balls) = (m * rod / (rod + balls), m * balls / (rod + balls));
                let square = radius * radius;
                let across = rod * (3.0 * square + length * length) / 12.0
                    + balls * (0.4 * square + 0.25 * length * length + 0.375 * length * radius);
                Vec3::new(across, 0.5 * rod * square + 0.4 * balls * square, across)
            }
            Shape::Plane | Shape::Torus { .. } => return None,
        })
    }

    /// Its inertia in world space at `rotation` \[kg m²\].
    pub(crate) fn inertia_in_space(&self, rotation: Quat) -> Mat3 {
        let turn = Mat3::from_quat(rotation);
        turn * Mat3::from_diagonal(self.inertia().unwrap_or(Vec3::ONE)) * turn.transpose()
    }

    /// Free flight for `dt` \[s\] under `gravity` \[m/s²\]: a parabola, and a rotation that conserves angular
    /// momentum.
    pub fn fly(&self, state: &RigidState, gravity: Vec3, dt: f32) -> RigidState {
        let spin = state.angular_velocity;
        let inertia = |rotation: Quat| self.inertia_in_space(rotation);
        let momentum = inertia(state.pose.rotation) * spin;
        let half = turned(state.pose.rotation, spin * (0.5 * dt));
        let middle = inertia(half).inverse() * momentum;
        let rotation = turned(state.pose.rotation, middle * dt);
        RigidState {
            pose: Pose {
                rotation,
                position: state.pose.position + (state.velocity + 0.5 * dt * gravity) * dt,
            },
            velocity: state.velocity + gravity * dt,
            angular_velocity: if matches!(self.obstacle.shape, Shape::Sphere { .. }) {
                spin
            } else {
                inertia(rotation).inverse() * momentum
            },
        }
    }

    /// The problem with it, and what would be right.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if !(self.mass > 0.0 && self.mass.is_finite()) {
            return Some("mass must be positive and finite");
        }
        if !self.velocity.is_finite() || !self.angular_velocity.is_finite() {
            return Some("velocity and angular_velocity must be finite");
        }
        if !self.obstacle.motion.is_empty() {
            return Some("it has a mass and a motion; a body with mass moves by itself");
        }
        match self.inertia() {
            None => Some("only a sphere, box, capsule or cylinder can have a mass"),
            Some(inertia) if !(inertia.min_element() > 0.0 && inertia.is_finite()) => {
                Some("its shape must have a size in every direction")
            }
            Some(_) => None,
        }
    }
}

/// `rotation`, followed by a rotation about the axis `turn` by its length \[rad\].
pub(crate) fn turned(rotation: Quat, turn: Vec3) -> Quat {
    (Quat::from_scaled_axis(turn) * rotation).normalize()
}

/// The rotation vector from rotation `from` to `to`, the shorter way \[rad\].
pub(crate) fn turn_between(from: Quat, to: Quat) -> Vec3 {
    let turn = to * from.conjugate();
    // For small angles the vector part is exact where the cosine is rounded away.
    let sine = Vec3::new(turn.x, turn.y, turn.z) * turn.w.signum();
    let length = sine.length();
    if length < 1e-12 { 2.0 * sine } else { sine * (2.0 * length.atan2(turn.w.abs()) / length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::motion::Motion;

    fn body(shape: Shape) -> RigidBody {
        let obstacle = Obstacle {
            name: "body".into(),
            shape,
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            motion: Motion::default(),
            friction: 0.3,
            restitution: 0.0,
            margin: 0.0,
        };
        RigidBody { obstacle, mass: 3.0, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO }
    }

    /// Compared with sums over a fine grid of points.
    #[test]
    fn inertia_is_that_of_the_solid() {
        let shapes = [
            Shape::Sphere { radius: 0.5 },
            Shape::Box { size: Vec3::new(0.4, 0.6, 0.9) },
            Shape::Capsule { radius: 0.25, length: 0.4 },
            Shape::Cylinder { radius: 0.3, height: 0.8 },
        ];
        for shape in shapes {
            let (mut count, mut sums) = (0.0f64, [0.0f64; 3]);
            let n = 100;
            for k in 0..n * n * n {
                let at = |i: i32| (i as f32 + 0.5) / n as f32 - 0.5;
                let p = Vec3::new(at(k % n), at(k / n % n), at(k / n / n));
                if shape.distance(p).0 < 0.0 {
                    let s = (p * p).as_dvec3();
                    count += 1.0;
                    sums[0] += s.y + s.z;
                    sums[1] += s.z + s.x;
                    sums[2] += s.x + s.y;
                }
            }
            let inertia = body(shape).inertia().unwrap();
            for k in 0..3 {
                let found = 3.0 * sums[k] / count;
                assert!(
                    (found / f64::from(inertia[k]) - 1.0).abs() < 0.02,
                    "{shape:?} axis {k}: {found} {inertia}"
                );
            }
        }
    }

    #[test]
    fn free_flight_is_a_parabola_and_keeps_angular_momentum() {
        let mut body = body(Shape::Box { size: Vec3::new(0.2, 0.5, 0.9) });
        (body.velocity, body.angular_velocity) = (Vec3::new(1.0, 4.0, -2.0), Vec3::new(3.0, 0.5, 2.0));
        let gravity = Vec3::new(0.0, -9.81, 0.0);
        let mut state = body.start();
        let momentum = |s: &RigidState| body.inertia_in_space(s.pose.rotation) * s.angular_velocity;
        let energy = |s: &RigidState| s.angular_velocity.dot(momentum(s));
        let (before, energy_before) = (momentum(&state), energy(&state));
        for step in 1..=600 {
            state = body.fly(&state, gravity, 1.0 / 120.0);
            let t = step as f32 / 120.0;
            let exact = body.velocity * t + 0.5 * gravity * t * t;
            let bound = 1e-4 + 1e-5 * exact.length();
            assert!((state.pose.position - exact).length() < bound, "{t}: {} {exact}", state.pose.position);
        }
        assert!((momentum(&state) - before).length() < 1e-3 * before.length());
        assert!((energy(&state) / energy_before - 1.0).abs() < 0.01);
    }

    #[test]
    fn turns_are_found_again() {
        let from = Quat::from_rotation_x(0.7);
        for turn in [Vec3::ZERO, Vec3::new(1e-7, 0.0, 0.0), Vec3::new(0.3, -1.0, 0.5), Vec3::Y * 3.0] {
            let found = turn_between(from, turned(from, turn));
            assert!((found - turn).length() < 1e-6 + 1e-5 * turn.length(), "{turn} {found}");
        }
    }
}
