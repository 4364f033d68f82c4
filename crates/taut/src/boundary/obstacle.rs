//! Analytic obstacles: signed distance and outward normal.

pub mod surface;

use glam::{Quat, Vec3};

use super::motion::{Motion, Pose};
use crate::kernel::real::{Real, V3, combine, dot, scale, select3, sub};

/// Friction coefficient of an obstacle that specifies none: cloth on wood.
const DEFAULT_FRICTION: f32 = 0.3;

/// A shape about the origin, with y as its axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Everything below y = 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius \[m\].
        radius: f32,
    },
    /// A box.
    Box {
        /// Edge lengths \[m\].
        size: Vec3,
    },
    /// A capsule along y.
    Capsule {
        /// Radius \[m\].
        radius: f32,
        /// Distance between the centres of its two hemispheres \[m\].
        length: f32,
    },
    /// A cylinder along y.
    Cylinder {
        /// Radius \[m\].
        radius: f32,
        /// Height \[m\].
        height: f32,
    },
    /// A ring about y.
    Torus {
        /// Distance from the centre to the centre line of the tube \[m\].
        major: f32,
        /// Radius of the tube \[m\].
        minor: f32,
    },
}

/// An analytic obstacle that cloth may not enter.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// Its name in messages.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Initial position of its origin \[m\].
    pub position: Vec3,
    /// Initial rotation.
    pub rotation: Quat,
    /// How it moves.
    pub motion: Motion,
    /// Coulomb friction coefficient.
    pub friction: f32,
    /// Coefficient of restitution: fraction of the approaching speed that is returned, 0 to 1.
    pub restitution: f32,
    /// Distance from the surface at which vertices are kept \[m\], so that triangles between them stay
    /// outside of round shapes. The certificate measures penetration of the surface itself.
    pub margin: f32,
}

impl Shape {
    /// Signed distance from `p` to the surface \[m\], negative inside, and the outward unit normal at the
    /// nearest point.
    pub fn distance(&self, p: Vec3) -> (f32, Vec3) {
        let (distance, normal) = self.distances(p.to_array());
        (distance, normal.into())
    }

    /// [`Shape::distance`] of one point, or of several side by side.
    #[inline(always)]
    pub(crate) fn distances<R: Real>(&self, p: V3<R>) -> (R, V3<R>) {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        match *self {
            Self::Plane => (p[1], [zero, one, zero]),
            Self::Sphere { radius } => {
                let (length, normal) = length_and_direction(p);
                (length - R::splat(radius), normal)
            }
            Self::Box { size } => {
                let (mut past, mut beyond) = ([zero; 3], [zero; 3]);
                for k in 0..3 {
                    let half = R::splat(0.5 * size[k]);
                    past[k] = p[k].abs() - half;
                    beyond[k] = p[k] - p[k].clamp(-half, half);
                }
                let (length, direction) = length_and_direction(beyond);
                // Inside: out through the nearest face.
                let y_first = past[0].lt(past[1]);
                let most = R::select(y_first, past[1], past[0]);
                let z_first = most.lt(past[2]);
                let most = R::select(z_first, past[2], most);
                let x = [sign_of(p[0]), zero, zero];
                let face = select3::<R>(y_first, [zero, sign_of(p[1]), zero], x);
                let face = select3::<R>(z_first, [zero, zero, sign_of(p[2])], face);
                let is_out = zero.lt(most);
                (R::select(is_out, length, most), select3::<R>(is_out, direction, face))
            }
            Self::Capsule { radius, length } => {
                let half = R::splat(0.5 * length);
                let (distance, normal) = length_and_direction([p[0], p[1] - p[1].clamp(-half, half), p[2]]);
                (distance - R::splat(radius), normal)
            }
            Self::Cylinder { radius, height } => {
                let (rho, out) = radial(p);
                let (side, end) = (rho - R::splat(radius), p[1].abs() - R::splat(0.5 * height));
                let up = [zero, sign_of(p[1]), zero];
                let beyond = (side * side + end * end).sqrt();
                let rim = over(combine(out, side, up, end), beyond);
                let is_side = end.lt(side);
                let (distance, normal) = (R::select(is_side, side, end), select3::<R>(is_side, out, up));
                let is_rim = zero.lt(side) & zero.lt(end);
                (R::select(is_rim, beyond, distance), select3::<R>(is_rim, rim, normal))
            }
            Self::Torus { major, minor } => {
                let (_, out) = radial(p);
                let (distance, normal) = length_and_direction(sub(p, scale(out, R::splat(major))));
                (distance - R::splat(minor), normal)
            }
        }
    }

    /// Largest distance of its surface from the origin \[m\].
    pub fn radius(&self) -> f32 {
        match *self {
            Self::Plane => f32::INFINITY,
            Self::Sphere { radius } => radius,
            Self::Box { size } => 0.5 * size.length(),
            Self::Capsule { radius, length } => radius + 0.5 * length,
            Self::Cylinder { radius, height } => radius.hypot(0.5 * height),
            Self::Torus { major, minor } => major + minor,
        }
    }

    /// Its smallest thickness \[m\]: a vertex must not jump across it in one step.
    pub fn thickness(&self) -> f32 {
        match *self {
            Self::Plane => f32::INFINITY,
            Self::Sphere { radius } | Self::Capsule { radius, .. } => 2.0 * radius,
            Self::Box { size } => size.min_element(),
            Self::Cylinder { radius, height } => height.min(2.0 * radius),
            Self::Torus { minor, .. } => 2.0 * minor,
        }
    }
}

/// Length and direction; up if the length is 0.
#[inline(always)]
fn length_and_direction<R: Real>(p: V3<R>) -> (R, V3<R>) {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let length = dot(p, p).sqrt();
    let has_direction = R::splat(1e-20).lt(length);
    (length, select3::<R>(has_direction, over(p, length), [zero, one, zero]))
}

/// v / s.
#[inline(always)]
fn over<R: Real>(v: V3<R>, s: R) -> V3<R> {
    [v[0] / s, v[1] / s, v[2] / s]
}

/// −1 below 0, else 1.
#[inline(always)]
fn sign_of<R: Real>(y: R) -> R {
    R::select(y.lt(R::splat(0.0)), R::splat(-1.0), R::splat(1.0))
}

/// Distance from the y axis and direction away from it.
#[inline(always)]
fn radial<R: Real>(p: V3<R>) -> (R, V3<R>) {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let rho = (p[0] * p[0] + p[2] * p[2]).sqrt();
    let has_direction = R::splat(1e-20).lt(rho);
    (rho, select3::<R>(has_direction, [p[0] / rho, zero, p[2] / rho], [one, zero, zero]))
}

impl Obstacle {
    /// `shape` at `position` \[m\], unrotated, at rest, with a friction coefficient of 0.3, no restitution
    /// and no margin.
    pub fn new(name: impl Into<String>, shape: Shape, position: Vec3) -> Self {
        Self {
            name: name.into(),
            shape,
            position,
            rotation: Quat::IDENTITY,
            motion: Motion::default(),
            friction: DEFAULT_FRICTION,
            restitution: 0.0,
            margin: 0.0,
        }
    }

    /// A ball at `center` \[m\] of `radius` \[m\].
    pub fn sphere(center: Vec3, radius: f32) -> Self {
        Self::new("sphere", Shape::Sphere { radius }, center)
    }

    /// A capsule along y at `center` \[m\] of `radius` \[m\]; `length` \[m\] is the distance between the
    /// centres of its two hemispheres.
    pub fn capsule(center: Vec3, radius: f32, length: f32) -> Self {
        Self::new("capsule", Shape::Capsule { radius, length }, center)
    }

    /// A box at `center` \[m\] with edges of `size` \[m\].
    pub fn cuboid(center: Vec3, size: Vec3) -> Self {
        Self::new("box", Shape::Box { size }, center)
    }

    /// Everything below the height `y` \[m\].
    pub fn floor(y: f32) -> Self {
        Self::new("floor", Shape::Plane, Vec3::new(0.0, y, 0.0))
    }

    /// The same with another name.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The same with another Coulomb friction coefficient.
    pub fn friction(self, friction: f32) -> Self {
        Self { friction, ..self }
    }

    /// The same with another coefficient of restitution, 0 to 1.
    pub fn restitution(self, restitution: f32) -> Self {
        Self { restitution, ..self }
    }

    /// The same with another margin: distance from the surface at which vertices are kept \[m\].
    pub fn margin(self, margin: f32) -> Self {
        Self { margin, ..self }
    }

    /// The same with another initial rotation.
    pub fn turned(self, rotation: Quat) -> Self {
        Self { rotation, ..self }
    }

    /// Its pose at `time` \[s\].
    pub fn pose(&self, time: f32) -> Pose {
        if let Some(driven) = self.motion.driven.filter(|driven| time >= driven.times[0]) {
            return driven.at(time);
        }
        let motion = self.motion.at(time);
        Pose { rotation: motion.rotation * self.rotation, position: motion.to_world(self.position) }
    }

    /// Its initial placement, before any motion.
    pub(crate) fn placement(&self) -> Pose {
        Pose { rotation: self.rotation, position: self.position }
    }

    /// Distance of a point, in the obstacle's own frame, from the surface at which vertices are kept \[m\],
    /// negative inside, and the outward normal.
    pub(crate) fn gap(&self, p: Vec3) -> (f32, Vec3) {
        let (distance, normal) = self.shape.distance(p);
        (distance - self.margin, normal)
    }

    /// Where a point that starts outside and moves straight from `start` to `end`, in the obstacle's own
    /// frame, reaches the surface at which vertices are kept, and the outward normal there. Only for paths
    /// that are long compared to the obstacle: their end may be on the far side.
    pub(crate) fn entry(&self, start: Vec3, end: Vec3) -> Option<[Vec3; 2]> {
        let way = (end - start).length();
        if way < 0.5 * (self.shape.thickness() + 2.0 * self.margin) || self.gap(start).0 <= 0.0 {
            return None;
        }
        // The distance is a safe step length.
        let mut gone = 0.0;
        for _ in 0..64 {
            let p = start.lerp(end, gone / way);
            let (distance, normal) = self.gap(p);
            if distance < 1e-4 * way {
                return Some([p - normal * distance, normal]);
            }
            gone += distance;
            if gone >= way {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn shapes() -> Vec<Shape> {
        vec![
            Shape::Plane,
            Shape::Sphere { radius: 0.7 },
            Shape::Box { size: Vec3::new(1.0, 0.6, 1.4) },
            Shape::Capsule { radius: 0.4, length: 0.8 },
            Shape::Cylinder { radius: 0.6, height: 0.9 },
            Shape::Torus { major: 0.8, minor: 0.3 },
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn going_back_by_the_distance_lands_on_the_surface(p in prop::array::uniform3(-1.5f32..1.5), which in 0..6usize) {
            let shape = shapes()[which];
            let p = Vec3::from(p);
            let (distance, normal) = shape.distance(p);
            prop_assert!((normal.length() - 1.0).abs() < 1e-5);
            let (there, _) = shape.distance(p - normal * distance);
            prop_assert!(there.abs() < 1e-5, "{shape:?} {p} {distance} {there}");
        }

        #[test]
        fn nothing_of_a_shape_is_further_out_than_its_radius(p in prop::array::uniform3(-1.5f32..1.5), which in 0..6usize) {
            let (shape, p) = (shapes()[which], Vec3::from(p));
            prop_assert!(shape.distance(p).0 >= p.length() - shape.radius() - 1e-5);
        }

        #[test]
        fn distance_never_grows_faster_than_the_way(p in prop::array::uniform3(-1.5f32..1.5), q in prop::array::uniform3(-1.5f32..1.5), which in 0..6usize) {
            let shape = shapes()[which];
            let (p, q) = (Vec3::from(p), Vec3::from(q));
            prop_assert!((shape.distance(p).0 - shape.distance(q).0).abs() <= (p - q).length() + 1e-5);
        }
    }

    #[test]
    fn centres_are_inside_and_finite() {
        for shape in shapes() {
            let (distance, normal) = shape.distance(Vec3::ZERO);
            assert!(distance.is_finite() && normal.is_finite(), "{shape:?}");
        }
        assert_eq!(Shape::Sphere { radius: 0.7 }.distance(Vec3::ZERO).0, -0.7);
        assert_eq!(Shape::Torus { major: 0.8, minor: 0.3 }.distance(Vec3::ZERO).0, 0.5);
    }
}
