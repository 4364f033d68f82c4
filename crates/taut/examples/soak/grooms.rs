//! Random grooms: strands of all lengths and numbers of segments, straight and curly, on what shakes, with
//! obstacles, cloth and bodies in their way.

use std::f32::consts::TAU;

use glam::Vec3;
use taut::{
    Cloth, Contact, Description, Hair, HairContact, HairMaterial, HairRest, Integrator, Limit, Material,
    MeshFrames, MeshObstacle, Motion, Obstacle, Pin, RigidBody, Roots, Shape,
    low_level::Keyframe,
    mesh::{
        generate::{Diagonals, Generator},
        groom::{Amount, Clump, Curl, Groom, Growth, Skin, grow},
    },
};

use super::scenes::Dice;

/// Time of a scene that motions are given for \[s\].
const DURATION: f32 = 1.2;

/// Keyframes in a second.
const KEYS: f32 = 120.0;

/// Fewest segments in a turn of a curl that can be grown.
const SEGMENTS_IN_TURN: f32 = 6.0;

impl Dice {
    /// Turns to and fro by up to 1.5 rad, three times a second, about the origin, and moves as well.
    fn shaking(&mut self) -> Motion {
        if self.one_in(4) {
            return Motion::default();
        }
        let axis = self.vector(1.0).try_normalize().unwrap_or(Vec3::Y);
        let (angle, rate) = (self.between(10.0, 86.0), self.between(0.5, 3.0));
        let push = if self.one_in(2) { self.vector(0.1) } else { Vec3::ZERO };
        let key = |k: u32| {
            let time = k as f32 / KEYS;
            let swing = (TAU * rate * time).sin();
            Keyframe { time, rotate: axis * (angle * swing), translate: push * swing }
        };
        Motion { keys: (0..(DURATION * KEYS) as u32).map(key).collect(), ..Motion::default() }
    }

    /// Strands of one kind on `skin`.
    fn strands(&mut self, skin: &Skin) -> Groom {
        let count = 1 + self.0.below(24);
        let any = 1 + self.0.below(60);
        let segments = self.pick(&[1, 2, 3, any, any, any, 60]);
        let length = (self.power(-1.7, -0.5)).max(1.5e-3 * segments as f32);
        let mut growth =
            Growth { segments, seed: self.0.next_u64(), ..Growth::new(Amount::Count(count), length) };
        growth.length_variation = self.pick(&[0.0, 0.3]);
        growth.radius = [self.power(-4.7, -3.5), self.power(-4.7, -3.5)];
        growth.comb = self.vector(1.0);
        growth.droop = self.pick(&[0.0, 0.5, 3.0]);
        growth.noise = self.pick(&[0.0, 0.0, 1e-3]);
        if self.one_in(4) {
            growth.clump = Some(Clump { count: 1 + self.0.below(4), strength: self.between(0.0, 0.9) });
        }
        if self.one_in(2) {
            // As many turns as its segments can show, or fewer.
            let turns = self.between(0.2, 0.95) * segments as f32 / SEGMENTS_IN_TURN;
            let around = self.between(0.1, 0.9) * length / turns;
            let along = ((length / turns).powi(2) - around * around).sqrt();
            growth.curl = Some(Curl { radius: around / TAU, pitch: along });
        }
        grow(skin, &growth).unwrap()
    }

    fn hair_material(&mut self) -> HairMaterial {
        let name = self.pick(&["european", "asian", "coily", "wool", "nylon", "wet"]);
        let mut material = HairMaterial::named(name).unwrap();
        if self.one_in(3) {
            material.density = self.power(1.0, 4.0);
            material.young = self.power(4.0, 11.0);
            material.shear = self.power(4.0, 11.0);
            material.damping = self.pick(&[0.0, 1.0, 30.0]);
        }
        material
    }

    fn hair(&mut self, name: &str, skin: &Skin, roots: Roots) -> Hair {
        let mut groom = self.strands(skin);
        // Strands of different kinds side by side.
        for _ in 0..self.0.below(3) {
            let more = self.strands(skin);
            groom.positions.extend(more.positions);
            groom.counts.extend(more.counts);
            groom.radii.extend(more.radii);
        }
        let mut hair = Hair::new(name, groom, self.hair_material());
        hair.roots = roots;
        hair.rest = self.pick(&[
            HairRest::Groom,
            HairRest::Straight,
            HairRest::SagFree { stiffen: 1.0 },
            HairRest::SagFree { stiffen: 100.0 },
        ]);
        let size = self.power(-2.5, -0.3);
        let (both, high) =
            (Limit { min: Some(-size), max: Some(size) }, Limit { min: None, max: Some(size) });
        let low = Limit { min: Some(-size), max: None };
        hair.stretch = self.pick(&[hair.stretch, hair.stretch, both, both, high, low]);
        if self.one_in(5) {
            hair.bend = Some(self.power(0.0, 2.5));
        }
        if self.one_in(5) {
            hair.twist = Some(self.power(0.0, 2.5));
        }
        if self.one_in(3) {
            hair.contact = HairContact {
                thickness: self.pick(&[5e-4, 1e-3, 3e-3]),
                friction: self.power(-1.0, 0.5),
                cohesion: self.pick(&[0.0, 0.0, 1e-3, 1e-2]),
            };
        }
        hair.air_drag = self.pick(&[0.0, 0.1, 1.0]);
        if roots == Roots::Free {
            hair.velocity = self.vector(3.0);
        }
        hair
    }

    /// A ring or a ball as a closed mesh.
    fn head_mesh(&mut self, radius: f32) -> MeshObstacle {
        let generator = if self.one_in(3) {
            Generator::Torus { major: radius, minor: 0.3 * radius, segments: [24, 12] }
        } else {
            Generator::Sphere { radius, frequency: 4 + self.0.below(6) }
        };
        let mesh = generator.generate().unwrap();
        let still = mesh.positions;
        let frames = if self.one_in(2) {
            let moved = still.iter().map(|&p| p * Vec3::new(1.1, 0.95, 1.05)).collect();
            MeshFrames::at_rate(vec![still, moved], 5.0, 0.0)
        } else {
            MeshFrames::still(still)
        };
        MeshObstacle {
            name: "head mesh".into(),
            triangles: mesh.triangles,
            frames,
            motion: self.shaking(),
            friction: self.power(-2.0, 0.3),
            margin: self.pick(&[0.0, 0.001]),
        }
    }

    fn ball(&mut self, name: &str, radius: f32) -> Obstacle {
        Obstacle {
            name: name.into(),
            motion: self.shaking(),
            friction: self.power(-2.0, 0.3),
            margin: self.pick(&[0.0, 0.001]),
            ..Obstacle::sphere(Vec3::ZERO, radius)
        }
    }

    /// What hair of a head of this radius falls on: beside it or below, and still.
    fn in_the_way(&mut self, radius: f32) -> Obstacle {
        let (shape, below) = self.pick(&[
            (Shape::Plane, 0.0),
            (Shape::Sphere { radius: 0.08 }, 0.08),
            (Shape::Box { size: Vec3::new(0.4, 0.06, 0.2) }, 0.23),
            (Shape::Capsule { radius: 0.05, length: 0.3 }, 0.2),
            (Shape::Cylinder { radius: 0.08, height: 0.2 }, 0.14),
            (Shape::Torus { major: 0.15, minor: 0.03 }, 0.18),
        ]);
        Obstacle {
            name: "in the way".into(),
            shape,
            position: Vec3::NEG_Y * (1.5 * radius + 0.1 + below + self.between(0.01, 0.1)),
            rotation: if shape == Shape::Plane { glam::Quat::IDENTITY } else { self.rotation() },
            friction: self.power(-2.0, 0.3),
            margin: self.pick(&[0.0, 0.001]),
            ..Obstacle::sphere(Vec3::ZERO, 1.0)
        }
    }

    /// A sheet below a head of this radius, held at two corners.
    fn sheet(&mut self, radius: f32) -> Cloth {
        let cells = 4 + self.0.below(5);
        let generator = Generator::Grid {
            size: [0.5, 0.5],
            cells: [cells, cells],
            diagonals: Diagonals::Alternating,
            seed: 0,
        };
        let mesh = generator.generate().unwrap();
        let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap()).stretch(..=0.03);
        let place = Vec3::new(-0.25, -1.5 * radius - 0.13, -0.25);
        cloth.start.iter_mut().for_each(|p| *p += place);
        let vertices = vec![0, cells, cells * (cells + 1), cells * (cells + 2)];
        cloth.pins = vec![Pin { vertices, ..Pin::default() }];
        cloth
    }

    /// Groom `number`.
    pub fn groom(&mut self, number: u64) -> Description {
        let mut description = Description { seed: number, ..Description::default() };
        let radius = self.between(0.05, 0.12);
        let ball = Skin::sphere(Vec3::ZERO, radius).unwrap();
        let (skin, roots) = match self.0.below(8) {
            0 => (ball, Roots::Free),
            1 => (ball, Roots::Fixed),
            2 => {
                description.rigid_bodies = vec![RigidBody {
                    obstacle: Obstacle {
                        margin: self.pick(&[0.0, 0.001]),
                        ..Obstacle::sphere(Vec3::ZERO, radius)
                    },
                    mass: self.power(-2.0, 1.0),
                    velocity: self.vector(1.0),
                    angular_velocity: self.vector(10.0),
                }];
                (ball, Roots::RigidBody(0))
            }
            3 | 4 => {
                let head = self.head_mesh(radius);
                let skin = Skin::mesh(head.positions_at(0.0), head.triangles.clone());
                description.mesh_obstacles = vec![head];
                (skin, Roots::MeshObstacle(0))
            }
            _ => {
                description.obstacles = vec![self.ball("head", radius)];
                (ball, Roots::Obstacle(0))
            }
        };
        // A body would come to lie on its hair, of which the first segments are held.
        let is_body = !description.rigid_bodies.is_empty();
        if self.one_in(3) && !is_body {
            description.obstacles.push(self.in_the_way(radius));
        }
        if self.one_in(5) && !is_body {
            description.bodies.push(self.sheet(radius).into());
            description.contact = Contact { thickness: 0.003, friction: 0.3 };
        }
        description.bodies.push(self.hair("hair", &skin, roots).into());
        if self.one_in(4) {
            description.bodies.push(self.hair("more hair", &skin, roots).into());
        }
        description.gravity = self.vector(1.0).normalize_or(Vec3::NEG_Y) * self.pick(&[0.0, 9.81, 50.0]);
        if !self.one_in(3) {
            description.gravity = Vec3::NEG_Y * 9.81;
        }
        let wind = self.pick(&[0.0, 3.0, 20.0]);
        description.air.wind = vec![(0.0, self.vector(wind))];
        description.solver.steps_per_frame = self.pick(&[0, 0, 1, 2, 5]);
        description.solver.integrator = self.pick(&[None, None, Some(Integrator::Euler)]);
        description.frame_time = 1.0 / self.pick(&[24.0, 30.0, 60.0]);
        description
    }
}
