//! Converts `[[obstacle]]` to the engine's shapes, which are centred at the origin along y.

use glam::{DQuat, DVec3, Vec3};
use taut::Shape as Solid;

use super::{
    build::{motion, rotation, vector},
    format::{Obstacle, Shape},
};

/// The engine's obstacle, if it is given by its shape and has no mass.
pub(super) fn fixed(obstacle: &Obstacle) -> Option<taut::Obstacle> {
    self::obstacle(obstacle).filter(|_| obstacle.mass.is_none())
}

/// The engine's rigid body, if it has a mass.
pub(super) fn rigid(obstacle: &Obstacle) -> Option<taut::RigidBody> {
    let start = |velocity: Option<[f64; 3]>| velocity.map_or(DVec3::ZERO, vector);
    let turn = start(obstacle.angular_velocity) * (std::f64::consts::PI / 180.0);
    Some(taut::RigidBody {
        obstacle: self::obstacle(obstacle)?,
        mass: obstacle.mass? as f32,
        velocity: start(obstacle.velocity).as_vec3(),
        angular_velocity: turn.as_vec3(),
    })
}

/// The engine's obstacle, if it is given by its shape.
fn obstacle(obstacle: &Obstacle) -> Option<taut::Obstacle> {
    let scale = obstacle.transform.scale.factors()[0];
    let (shape, place, turn) = solid(obstacle.shape.as_ref()?, scale);
    let outer = rotation(obstacle.transform.rotate);
    let position = outer * (scale * place) + vector(obstacle.transform.translate);
    Some(taut::Obstacle {
        name: obstacle.name.clone().unwrap_or_default(),
        shape,
        position: position.as_vec3(),
        rotation: (outer * turn).normalize().as_quat(),
        motion: motion(&obstacle.motion, obstacle.pivot.map_or(position, vector)),
        friction: obstacle.friction as f32,
        margin: obstacle.margin as f32,
        restitution: obstacle.restitution as f32,
    })
}

/// A scaled shape, with its position before scaling and its rotation.
fn solid(shape: &Shape, scale: f64) -> (Solid, DVec3, DQuat) {
    let length = |length: f64| (scale * length) as f32;
    match shape {
        Shape::Plane(plane) => (Solid::Plane, vector(plane.point), towards(vector(plane.normal))),
        Shape::Sphere(sphere) => {
            (Solid::Sphere { radius: length(sphere.radius) }, vector(sphere.center), DQuat::IDENTITY)
        }
        Shape::Box(cuboid) => {
            let size = Vec3::from_array(cuboid.size.map(length));
            (Solid::Box { size }, vector(cuboid.center), DQuat::IDENTITY)
        }
        Shape::Capsule(rod) => {
            let (from, to) = (vector(rod.from), vector(rod.to));
            let solid = Solid::Capsule { radius: length(rod.radius), length: length(from.distance(to)) };
            (solid, 0.5 * (from + to), towards(to - from))
        }
        Shape::Cylinder(rod) => {
            let (from, to) = (vector(rod.from), vector(rod.to));
            let solid = Solid::Cylinder { radius: length(rod.radius), height: length(from.distance(to)) };
            (solid, 0.5 * (from + to), towards(to - from))
        }
        Shape::Torus(ring) => {
            let solid = Solid::Torus { major: length(ring.major), minor: length(ring.minor) };
            (solid, vector(ring.center), towards(vector(ring.axis)))
        }
    }
}

/// The shortest rotation from y to `direction`.
fn towards(direction: DVec3) -> DQuat {
    // The rules refuse a direction of zero length.
    direction.try_normalize().map_or(DQuat::IDENTITY, |unit| DQuat::from_rotation_arc(DVec3::Y, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y_is_turned_to_every_direction() {
        for direction in [DVec3::X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::new(-3.0, 1.0, 0.2)] {
            let turned = towards(direction) * DVec3::Y;
            assert!((turned - direction.normalize()).length() < 1e-12, "{direction}: {turned}");
        }
    }
}
