//! What rigid bodies have come to.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::boundary::{
    motion::Pose,
    rigid::{RigidBody, RigidState},
};

/// Where a rigid body is in a frame, and how it moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigidCertificate {
    /// Its name.
    pub name: String,
    /// Where its middle is \[m\].
    pub position: [f64; 3],
    /// How it is turned: a unit quaternion, x, y, z, w.
    pub rotation: [f64; 4],
    /// Mean velocity of its middle over the last step \[m/s\].
    pub velocity: [f64; 3],
    /// Mean angular velocity over the last step \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Kinetic energy, of flight and of turning \[J\].
    pub kinetic: f64,
    /// Potential energy in gravity \[J\].
    pub gravity: f64,
    /// Linear momentum \[kg m/s\].
    pub momentum: [f64; 3],
    /// Angular momentum about the origin \[kg m²/s\].
    pub angular_momentum: [f64; 3],
}

impl RigidCertificate {
    pub(super) fn new(
        body: &RigidBody,
        state: &RigidState,
        [velocity, spin]: [Vec3; 2],
        gravity: Vec3,
    ) -> Self {
        let mass = f64::from(body.mass);
        let (x, v) = (state.pose.position.as_dvec3(), velocity.as_dvec3());
        let own = (body.inertia_in_space(state.pose.rotation) * spin).as_dvec3();
        Self {
            name: body.obstacle.name.clone(),
            position: x.to_array(),
            rotation: state.pose.rotation.to_array().map(f64::from),
            velocity: v.to_array(),
            angular_velocity: spin.as_dvec3().to_array(),
            kinetic: 0.5 * (mass * v.length_squared() + own.dot(spin.as_dvec3())),
            gravity: -mass * x.dot(gravity.as_dvec3()),
            momentum: (mass * v).to_array(),
            angular_momentum: (mass * x.cross(v) + own).to_array(),
        }
    }

    /// Where it is.
    pub fn pose(&self) -> Pose {
        let narrow = |value: f64| value as f32;
        Pose {
            rotation: Quat::from_array(self.rotation.map(narrow)),
            position: Vec3::from_array(self.position.map(narrow)),
        }
    }
}
