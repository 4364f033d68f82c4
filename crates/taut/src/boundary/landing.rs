//! Rigid bodies against analytic obstacles: impulses with friction and restitution.
//!
//! Sample points of a body are tested against the obstacle's signed distance: the centres of the balls of a
//! sphere or capsule, and the corners, edge centres and face centres of a box or cylinder. The body is pushed
//! out by the depth of its deepest point, and impulses at all points that were inside cancel their
//! approaching speeds: Gauss–Seidel over the points with clamped accumulated impulses, so that a box comes to
//! rest on its face. Rigid bodies do not collide with each other, nor with mesh obstacles.

use glam::{Mat3, Vec3};

use super::{
    motion::Pose,
    obstacle::{Obstacle, Shape},
    rigid::{RigidBody, RigidState},
};

/// Iterations over all contact points.
const IMPULSE_ITERATIONS: u32 = 24;

/// Iterations of pushing out: leaving one obstacle may enter its neighbour.
const PUSH_ITERATIONS: u32 = 4;

/// Maximum number of contact points; others wait for the next step.
const MAX_CONTACTS: usize = 48;

/// Approaching speed below which nothing bounces, in units of the speed that gravity adds in a step.
const MIN_BOUNCE_SPEED: f32 = 4.0;

/// Maximum number of sample points of a shape.
const MAX_POINTS: usize = 27;

/// Sample points of a shape, in its own frame \[m\], their number, and the radius of the ball around each.
fn feelers(shape: &Shape) -> ([Vec3; MAX_POINTS], usize, f32) {
    let mut points = [Vec3::ZERO; MAX_POINTS];
    match *shape {
        Shape::Sphere { radius } => (points, 1, radius),
        Shape::Capsule { radius, length } => {
            points[0] = Vec3::Y * (0.5 * length);
            points[1] = Vec3::Y * (-0.5 * length);
            (points, 3, radius)
        }
        Shape::Box { size } => {
            for (k, point) in points.iter_mut().enumerate() {
                let at = |k: usize| (k % 3) as f32 * 0.5 - 0.5;
                *point = size * Vec3::new(at(k), at(k / 3), at(k / 9));
            }
            (points, MAX_POINTS, 0.0)
        }
        Shape::Cylinder { radius, height } => {
            for (k, point) in points[..24].iter_mut().enumerate() {
                let (sin, cos) = (std::f32::consts::TAU * (k % 12) as f32 / 12.0).sin_cos();
                let y = if k < 12 { 0.5 * height } else { -0.5 * height };
                *point = Vec3::new(radius * cos, y, radius * sin);
            }
            (points, 24, 0.0)
        }
        Shape::Plane | Shape::Torus { .. } => (points, 0, 0.0),
    }
}

/// A point of a body that touches an obstacle.
#[derive(Clone, Copy, Debug, Default)]
struct Contact {
    normal: Vec3,
    /// Offset from the body's centre \[m\].
    arm: Vec3,
    /// Velocity of the obstacle there \[m/s\].
    surface: Vec3,
    /// Target speed along the normal \[m/s\].
    leaving: f32,
    friction: f32,
    /// Accumulated impulses: along the normal, and along the surface \[kg m/s\].
    push: f32,
    hold: Vec3,
}

impl RigidBody {
    /// Keeps a body that has flown to `state` in a step between two `times` \[s\] out of `obstacles`, under
    /// `gravity` \[m/s²\].
    pub fn meet(&self, state: &mut RigidState, obstacles: &[Obstacle], times: [f32; 2], gravity: Vec3) {
        let dt = times[1] - times[0];
        let (points, count, radius) = feelers(&self.obstacle.shape);
        let (mut contacts, mut found) = ([Contact::default(); MAX_CONTACTS], 0);
        for obstacle in obstacles {
            let poses = times.map(|time| obstacle.pose(time));
            for point in &points[..count] {
                let p = state.pose.to_world(*point);
                let (distance, normal) = obstacle.shape.distance(poses[1].to_body(p));
                if distance < radius && found < MAX_CONTACTS {
                    let normal = poses[1].rotation * normal;
                    let at = p - normal * radius;
                    contacts[found] = self.contact(state, obstacle, &poses, [at, normal], dt);
                    if contacts[found].leaving <= MIN_BOUNCE_SPEED * dt * gravity.length() {
                        contacts[found].leaving = 0.0;
                    }
                    found += 1;
                }
            }
        }
        if found == 0 {
            return;
        }
        self.push_out(state, obstacles, times);
        let inverse = self.inertia_in_space(state.pose.rotation).inverse();
        for _ in 0..IMPULSE_ITERATIONS {
            for contact in &mut contacts[..found] {
                self.exchange(state, contact, inverse);
            }
        }
    }

    fn contact(
        &self,
        state: &RigidState,
        obstacle: &Obstacle,
        poses: &[Pose; 2],
        [at, normal]: [Vec3; 2],
        dt: f32,
    ) -> Contact {
        let arm = at - state.pose.position;
        let surface = (at - poses[0].to_world(poses[1].to_body(at))) / dt;
        let approach = (surface - state.velocity - state.angular_velocity.cross(arm)).dot(normal);
        let bounce = self.obstacle.restitution.max(obstacle.restitution);
        let friction = (self.obstacle.friction * obstacle.friction).sqrt();
        let leaving = bounce * approach.max(0.0);
        Contact { normal, arm, surface, leaving, friction, push: 0.0, hold: Vec3::ZERO }
    }

    /// Pushes it out by the depth of its deepest point.
    fn push_out(&self, state: &mut RigidState, obstacles: &[Obstacle], times: [f32; 2]) {
        let (points, count, radius) = feelers(&self.obstacle.shape);
        for _ in 0..PUSH_ITERATIONS {
            for obstacle in obstacles {
                let pose = obstacle.pose(times[1]);
                let (mut deepest, mut out) = (0.0, Vec3::ZERO);
                for point in &points[..count] {
                    let p = state.pose.to_world(*point);
                    let (distance, normal) = obstacle.shape.distance(pose.to_body(p));
                    if radius - distance > deepest {
                        (deepest, out) = (radius - distance, pose.rotation * normal);
                    }
                }
                state.pose.position += out * deepest;
            }
        }
    }

    /// One impulse at one contact.
    fn exchange(&self, state: &mut RigidState, contact: &mut Contact, inverse: Mat3) {
        let Contact { normal, arm, surface, .. } = *contact;
        let give =
            |direction: Vec3| 1.0 / self.mass + direction.dot((inverse * arm.cross(direction)).cross(arm));
        let apply = |state: &mut RigidState, impulse: Vec3| {
            state.velocity += impulse / self.mass;
            state.angular_velocity += inverse * arm.cross(impulse);
        };
        let relative = |state: &RigidState| state.velocity + state.angular_velocity.cross(arm) - surface;
        let push = contact.push + (contact.leaving - relative(state).dot(normal)) / give(normal);
        let push = push.max(0.0);
        apply(state, normal * (push - contact.push));
        contact.push = push;
        let slip = relative(state);
        let slip = slip - normal * slip.dot(normal);
        let speed = slip.length();
        if speed > 1e-9 {
            let along = slip / speed;
            let hold = contact.hold - along * (speed / give(along));
            let hold = hold.clamp_length_max(contact.friction * push);
            apply(state, hold - contact.hold);
            contact.hold = hold;
        }
    }
}
