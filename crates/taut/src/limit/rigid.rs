//! Rigid bodies inside the iterations of the schemes that sweep over elements (W6; S4): after every iteration
//! each vertex that is inside a body and the body are moved apart, one vertex after the other, by their
//! inverse masses, with friction by the depth (Eq. 7). A body turns with what is pushed off its middle.
//!
//! A vertex weighs a thousandth of what lies on the cloth, so that a body creeps towards where the cloth can
//! carry it: with few iterations it sinks in and cloth is stretched instead, as the certificate then says.
//! [`term::rigid`](crate::term::rigid) solves for the bodies together with the cloth.

use glam::{DVec3, Mat3, Quat, Vec3};

use crate::{
    World,
    boundary::{
        motion::Pose,
        obstacle::Shape,
        rigid::{RigidBody, turned},
        rigid_side::RigidSide,
    },
    kernel::lanes::Quad,
};

/// A vertex near a body.
#[derive(Clone, Copy, Debug)]
struct RigidContact {
    vertex: u32,
    body: u32,
    side: RigidSide,
}

/// Vertices near rigid bodies in one step.
#[derive(Clone, Debug, Default)]
pub struct RigidContacts {
    list: Vec<RigidContact>,
    /// Inverse moments of inertia of each body where it goes by itself \[1/(kg m²)\].
    turns: Vec<Mat3>,
    /// Where each body would go by itself, and how far vertices have pushed it from there: one of them pushes
    /// a heavy body by less than single precision resolves \[m\].
    pushed: Vec<(Vec3, DVec3)>,
}

impl RigidContacts {
    /// Memory for as many as there may be in `world`.
    pub fn with_capacity(world: &World) -> Self {
        let bodies = world.description.rigid_bodies.len();
        Self {
            list: Vec::with_capacity(bodies * world.fixtures.start),
            turns: Vec::with_capacity(bodies),
            pushed: Vec::with_capacity(bodies),
        }
    }

    /// Finds the vertices that come near bodies in a step from `old` to `x`.
    pub fn begin(&mut self, world: &World, poses: &[[Pose; 2]], (old, x): (&[Quad], &[Quad]), dt: f32) {
        self.list.clear();
        self.turns.clear();
        self.pushed.clear();
        let reach = (2.0 * world.edge_length, dt);
        for (b, (body, &poses)) in world.description.rigid_bodies.iter().zip(poses).enumerate() {
            self.turns.push(body.inertia_in_space(poses[1].rotation).inverse());
            self.pushed.push((poses[1].position, DVec3::ZERO));
            for (i, (old, x)) in old.iter().zip(x).enumerate().take(world.vertex_count) {
                if let Some(side) = RigidSide::of(body, poses, [old, x].map(position), reach) {
                    self.list.push(RigidContact { vertex: i as u32, body: b as u32, side });
                }
            }
        }
    }

    /// Whether no vertex is near a body.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Moves vertices and bodies apart. Gives the deepest penetration that there was \[m\].
    pub fn separate(&mut self, world: &World, poses: &mut [[Pose; 2]], old: &[Quad], x: &mut [Quad]) -> f32 {
        let bodies = &world.description.rigid_bodies;
        let mut deepest = 0.0f32;
        for contact in &self.list {
            let (i, b) = (contact.vertex as usize, contact.body as usize);
            let (body, [start, now]) = (&bodies[b], &mut poses[b]);
            let at = position(&x[i]);
            let Some((depth, apart)) = contact.apart(body, [start, now], [position(&old[i]), at]) else {
                continue;
            };
            deepest = deepest.max(depth);
            // What moves the two apart by 1 m along this direction moves each by its part of the compliance.
            let [out, back] = apart;
            let way = out - back;
            let (length, direction) = (way.length(), way.normalize_or_zero());
            let arm = at - now.position;
            let torque = turning(&body.obstacle.shape, now.rotation, arm.cross(out)) - arm.cross(back);
            let torque = if length > 0.0 { torque / length } else { Vec3::ZERO };
            let turn = self.turns[b] * torque;
            let of_body = 1.0 / body.mass + turn.dot(torque);
            let of_vertex = x[i][3] * world.inverse_mass_unit;
            let impulse = length / (of_body + of_vertex);
            if impulse.is_finite() {
                let moved = at + direction * (impulse * of_vertex);
                x[i][..3].copy_from_slice(&moved.to_array());
                let (alone, pushed) = &mut self.pushed[b];
                *pushed -= direction.as_dvec3() * f64::from(impulse / body.mass);
                now.position = (alone.as_dvec3() + *pushed).as_vec3();
                now.rotation = turned(now.rotation, turn * -impulse);
            }
        }
        deepest
    }

    /// Pushes every vertex out of the bodies, where they are now.
    pub fn expel(&self, world: &World, poses: &[[Pose; 2]], x: &mut [Quad]) {
        for contact in &self.list {
            let (i, b) = (contact.vertex as usize, contact.body as usize);
            let (body, pose) = (&world.description.rigid_bodies[b], &poses[b][1]);
            let local = pose.to_body(position(&x[i]));
            let (distance, normal) = contact.side.gap(body, local);
            let depth = -distance - contact.side.sunk;
            if depth > 0.0 && x[i][3] > 0.0 {
                let out = pose.to_world(local + normal * depth);
                x[i][..3].copy_from_slice(&out.to_array());
            }
        }
    }
}

impl RigidContact {
    /// How deep the vertex is in the body at `now` \[m\], what moves it out, and what friction takes back of
    /// the way that both have gone since the step began; `None` if it is outside.
    fn apart(
        &self,
        body: &RigidBody,
        [start, now]: [&Pose; 2],
        [old, at]: [Vec3; 2],
    ) -> Option<(f32, [Vec3; 2])> {
        let local = now.to_body(at);
        // The plane of its side reaches on beside the body: a vertex that is carried past it would throw it.
        if self.side.is_outside(body, local) {
            return None;
        }
        let (distance, normal) = self.side.gap(body, local);
        let depth = -distance - self.side.sunk;
        if depth <= 0.0 {
            return None;
        }
        let normal = now.rotation * normal;
        let slip = now.rotation * (local - start.to_body(old));
        let slip = slip - normal * slip.dot(normal);
        let (length, hold) = (slip.length(), body.obstacle.friction * depth);
        let back = if length <= hold { slip } else { slip * (hold / length) };
        Some((depth, [normal * depth, back]))
    }
}

/// What turns the body of a `torque` without friction: nothing turns a shape about an axis that it is round
/// about, also where the plane of the [side](RigidSide) stands for its surface.
fn turning(shape: &Shape, rotation: Quat, torque: Vec3) -> Vec3 {
    match shape {
        Shape::Sphere { .. } => Vec3::ZERO,
        Shape::Capsule { .. } | Shape::Cylinder { .. } => torque.reject_from_normalized(rotation * Vec3::Y),
        Shape::Box { .. } | Shape::Plane | Shape::Torus { .. } => torque,
    }
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
