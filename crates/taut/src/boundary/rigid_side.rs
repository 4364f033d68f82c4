//! Which side of a rigid body a vertex is on during a step: a body is thin against the way that vertices go
//! in one, and may be left on its far side if the nearest way out counts alone.

use glam::Vec3;

use super::{motion::Pose, obstacle_contacts::PUSH_OUT_SPEED, rigid::RigidBody};

/// Depth from which on a vertex is led back to the side of a body that it came from, in thicknesses of the
/// body.
///
/// `trampoline`: 74.8 iterations a frame with half of it, 74.9 otherwise.
const DEEP: f32 = 0.25;

/// Cosine of the angle between normals past which a vertex is on another side of the body.
///
/// Half or twice: no change in `trampoline`.
const FACING: f32 = 0.25;

/// What a vertex near a body must know of it in one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RigidSide {
    /// How deep the vertex may still be at the end of the step \[m\]: not at all, unless it began inside.
    pub sunk: f32,
    /// The side of the body that it is on, in the body's frame: a point of the surface and the outward normal
    /// there.
    side: [Vec3; 2],
    /// Whether it would go so far that this side alone counts.
    is_fast: bool,
}

impl RigidSide {
    /// For a vertex that goes between these `places` \[m\] in a step of `dt` \[s\] in which the body goes
    /// between these `poses`, if it comes nearer to it than `reach` \[m\].
    pub fn of(
        body: &RigidBody,
        poses: [Pose; 2],
        places: [Vec3; 2],
        (reach, dt): (f32, f32),
    ) -> Option<Self> {
        let [from, to] = [0, 1].map(|k| poses[k].to_body(places[k]));
        let way = (to - from).length();
        let [(begin, normal), (end, _)] = [from, to].map(|p| body.obstacle.gap(p));
        (begin.min(end) < reach + way).then(|| {
            let entry = body.obstacle.entry(from, to);
            Self {
                sunk: (-begin - PUSH_OUT_SPEED * dt).max(0.0),
                side: entry.unwrap_or([from - normal * begin, normal]),
                is_fast: entry.is_some(),
            }
        })
    }

    /// Whether `local` is outside of the body on any side, and has not come through it.
    pub fn is_outside(&self, body: &RigidBody, local: Vec3) -> bool {
        !self.is_fast && body.obstacle.gap(local).0 > 0.0
    }

    /// Distance of `local` from where vertices are held \[m\], and outward normal, in the body's frame. A
    /// vertex that is deep inside, or nearer to another side of the body than it began the step on, is led
    /// back to that side.
    #[inline(always)]
    pub fn gap(&self, body: &RigidBody, local: Vec3) -> (f32, Vec3) {
        let (distance, normal) = body.obstacle.gap(local);
        let [point, side] = self.side;
        let is_beyond = || distance < -DEEP * body.obstacle.shape.thickness() || normal.dot(side) < FACING;
        if self.is_fast || is_beyond() { ((local - point).dot(side), side) } else { (distance, normal) }
    }
}
