//! A thousand random scenes: whatever is described ends in finite numbers, and what is free of intersections
//! stays so.
//!
//! `cargo test --release -p taut --lib -- --ignored soak` runs the first scenes; `TAUT_SOAK=1000` in the
//! environment says how many, and `TAUT_SOAK_FROM=123` which is the first.

use glam::{Quat, Vec3};
use taut::{
    Cloth, Contact, Description, Limit, Material, MeshObstacle, Motion, Obstacle, Pin, Scheme, State,
    Stepper, World,
    boundary::{mesh_obstacle::MeshFrames, motion::Keyframe, obstacle::Shape},
    exec::threads::Threads,
    kernel::random::Random,
    measure::{Certifier, Examiner},
    mesh::{TriangleMesh, generate::Generator},
};

/// Scenes without the variable: half a minute's.
const SCENES: u64 = 40;

/// Frames of each scene.
const FRAMES: u32 = 8;

/// A source of choices.
struct Dice(Random);

impl Dice {
    fn one_in(&mut self, n: u32) -> bool {
        self.0.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u32) as usize].clone()
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.0.unit()
    }

    /// Ten to a power between two.
    fn power(&mut self, low: f32, high: f32) -> f32 {
        10f32.powf(self.between(low, high))
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.between(-size, size), self.between(-size, size), self.between(-size, size))
    }

    fn rotation(&mut self) -> Quat {
        let axis = self.vector(1.0).try_normalize().unwrap_or(Vec3::Y);
        Quat::from_axis_angle(axis, self.between(-3.1, 3.1))
    }

    /// A mesh of about a metre, with few triangles.
    fn mesh(&mut self) -> TriangleMesh {
        let cells = [2 + self.0.below(9), 2 + self.0.below(9)];
        let diagonals = self.pick(&[
            taut::mesh::generate::Diagonals::Alternating,
            taut::mesh::generate::Diagonals::Jittered,
            taut::mesh::generate::Diagonals::Delaunay,
        ]);
        let generator = match self.0.below(8) {
            0 => Generator::Disc { radius: 0.5, rings: 1 + self.0.below(5) },
            1 => Generator::Cylinder { radius: 0.3, height: 0.9, segments: [3 + cells[0], cells[1]] },
            2 => Generator::Sphere { radius: 0.5, frequency: 1 + self.0.below(4) },
            3 => Generator::Torus { major: 0.4, minor: 0.15, segments: [3 + cells[0], 3 + cells[1]] },
            4 => Generator::Ell { size: [1.0, 1.0], cells: [8, 8], seed: self.0.next_u64() },
            _ => {
                let size = [1.0, self.power(-0.7, 0.3)];
                Generator::Grid { size, cells, diagonals, seed: self.0.next_u64() }
            }
        };
        generator.generate().unwrap()
    }

    fn motion(&mut self, size: f32) -> Motion {
        if self.one_in(2) {
            return Motion::default();
        }
        let mut key = |time| Keyframe { time, translate: self.vector(size), rotate: self.vector(180.0) };
        Motion { keys: vec![Keyframe::default(), key(0.1), key(0.2)], ..Motion::default() }
    }

    fn limit(&mut self, low: f32, high: f32) -> Limit {
        let size = self.power(low, high);
        let (min, max) =
            (self.pick(&[None, None, Some(-size)]), self.pick(&[None, Some(size), Some(0.1 * size)]));
        Limit { min, max }
    }

    fn cloth(&mut self, number: u32, size: f32) -> Cloth {
        let mut mesh = self.mesh();
        mesh.positions.iter_mut().for_each(|p| *p *= size);
        let material = self.pick(&["denim", "polyester", "paper"]);
        let mut material = Material::named(material).unwrap();
        if self.one_in(2) {
            material.density = self.power(-3.0, 2.0);
            material.stretch = self.power(-3.0, 7.0).into();
            material.bend = self.power(-9.0, 1.0).into();
            material.poisson = self.between(-0.9, 0.49);
            material.damping = self.pick(&[0.0, 1.0, 100.0]);
            material.viscosity = self.pick(&[0.0, 1e-4, 1.0]);
        }
        let mut cloth = Cloth::new(format!("cloth{number}"), mesh, material);
        // Side by side, or wherever they may be.
        let off = if self.one_in(4) { 0.5 } else { 0.05 };
        let (turn, away) = (self.rotation(), self.vector(off));
        let place = (away + Vec3::Y * 2.2 * number as f32) * size;
        cloth.start.iter_mut().for_each(|p| *p = turn * *p + place);
        let speed = size * self.power(-1.0, 2.0);
        cloth.velocity = if self.one_in(3) { self.vector(speed) } else { Vec3::ZERO };
        if !self.one_in(4) {
            cloth.strain = self.limit(-3.0, -0.5);
            cloth.strain.min = cloth.strain.min.map(|min| min.max(-1.0));
        }
        if self.one_in(6) {
            cloth.edge = Limit { min: None, max: Some(self.power(-2.0, -0.5)) };
        }
        if self.one_in(4) {
            cloth.bend = self.limit(-1.0, 2.0);
        }
        for _ in 0..self.0.below(3) {
            let count = cloth.start.len() as u32;
            let held = 1 + self.0.below(4);
            let vertices = (0..held).map(|_| self.0.below(count)).collect();
            let motion = self.motion(size);
            let from = self.pick(&[0.0, 0.0, 0.1]);
            let until = self.pick(&[None, None, Some(0.15)]);
            cloth.pins.push(Pin { vertices, motion, from, until, ..Pin::default() });
        }
        cloth
    }

    fn solid(&mut self, size: f32) -> Obstacle {
        let shape = self.pick(&[
            Shape::Plane,
            Shape::Sphere { radius: 0.4 * size },
            Shape::Box { size: Vec3::new(0.5, 0.3, 0.7) * size },
            Shape::Capsule { radius: 0.1 * size, length: 0.6 * size },
            Shape::Cylinder { radius: 0.3 * size, height: 0.4 * size },
            Shape::Torus { major: 0.4 * size, minor: 0.1 * size },
        ]);
        Obstacle {
            name: "solid".into(),
            shape,
            position: Vec3::NEG_Y * 1.2 * size + self.vector(0.2 * size),
            rotation: if shape == Shape::Plane { Quat::IDENTITY } else { self.rotation() },
            motion: self.motion(0.5 * size),
            friction: self.power(-2.0, 1.0),
            restitution: self.pick(&[0.0, 0.0, 1.0]),
            margin: self.pick(&[0.0, 0.002, 0.02]) * size,
        }
    }

    fn mesh_obstacle(&mut self, size: f32) -> MeshObstacle {
        let mesh = self.mesh();
        let (turn, place) = (self.rotation(), Vec3::NEG_Y * 1.3 + self.vector(0.2));
        let still: Vec<Vec3> = mesh.positions.iter().map(|&p| (turn * p + place) * size).collect();
        let frames = if self.one_in(3) {
            let moved = still.iter().map(|&p| p + self.vector(0.05 * size)).collect();
            MeshFrames::at_rate(vec![still, moved], 5.0, 0.0)
        } else {
            MeshFrames::still(still)
        };
        MeshObstacle {
            name: "mesh".into(),
            triangles: mesh.triangles,
            frames,
            motion: self.motion(0.5 * size),
            friction: self.power(-2.0, 1.0),
            margin: self.pick(&[0.0, 0.001, 0.01]) * size,
        }
    }

    fn scene(&mut self, number: u64) -> Description {
        let size = self.power(-1.5, 1.0);
        let mut description = Description { seed: number, ..Description::default() };
        let [cloths, solids] = [1 + self.0.below(3), self.0.below(3)];
        description.bodies = (0..cloths).map(|k| self.cloth(k, size).into()).collect();
        description.obstacles = (0..solids).map(|_| self.solid(size)).collect();
        description.mesh_obstacles = if self.one_in(2) { Vec::new() } else { vec![self.mesh_obstacle(size)] };
        description.gravity = Vec3::NEG_Y * self.pick(&[0.0, 9.81, 9.81, 1e3]);
        description.air.density = self.pick(&[0.0, 1.2, 100.0]);
        description.air.wind = vec![(0.0, self.vector(20.0))];
        let thickness = self.pick(&[0.0, 0.001, 0.005, 0.02]) * size;
        description.contact = Contact { thickness, friction: self.power(-2.0, 1.0) };
        let solver = &mut description.solver;
        solver.scheme = self.pick(&[
            Scheme::Nearest,
            Scheme::Nearest,
            Scheme::Nearest,
            Scheme::Sweep,
            Scheme::Serial,
            Scheme::Jacobi,
            Scheme::Cycle,
            Scheme::Paper,
        ]);
        solver.steps_per_frame = self.0.below(4);
        solver.iterations = self.pick(&[1, 10, 60]);
        solver.tolerance = self.pick(&[0.0, 0.01, 0.1]);
        description
    }
}

/// Whether what is free of intersections has to stay so: where limits and contact are one problem, and no
/// obstacle comes to where cloth cannot give way. The other schemes know nothing of contact: what they press
/// together for long comes nearer by half, step by step, until numbers cannot tell it apart.
fn keeps_apart(description: &Description) -> bool {
    description.solver.scheme == Scheme::Nearest
        && !description.mesh_obstacles.iter().any(MeshObstacle::is_moving)
}

fn count(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

#[test]
#[ignore = "full tier: long"]
fn random_scenes_end_in_finite_numbers_and_free_ones_stay_free() {
    let (from, scenes) = (count("TAUT_SOAK_FROM", 0), count("TAUT_SOAK", SCENES));
    let (mut free, mut failures) = (0, Vec::new());
    for number in from..from + scenes {
        let mut dice = Dice(Random::new(number, 0x50AC));
        let world = World::new(dice.scene(number)).unwrap();
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let mut certifier = Certifier::new(&world, 2).unwrap();
        let begins_free = Examiner::new(&world)
            .is_some_and(|mut examiner| examiner.examine_start(&Threads::alone()).intersections == 0);
        let stays_free = begins_free && keeps_apart(world.description());
        free += u32::from(stays_free);
        for _ in 0..FRAMES {
            stepper.advance_frame(&world, &mut state);
            for (body, cloth) in world.description().cloths().enumerate() {
                let wild = state.positions(&world, body).iter().position(|p| !p.is_finite());
                assert_eq!(wild, None, "scene {number}, frame {}, {}", state.frame(), cloth.name);
            }
            let certificate = certifier.certify(&world, &state);
            for body in &certificate.bodies {
                let figures = [body.strain.max_stretch, body.energy.kinetic, body.max_penetration];
                assert!(figures.iter().all(|f| f.is_finite()), "scene {number}: {figures:?}");
            }
            if let Some(first) = certificate.contact.and_then(|contact| contact.first).filter(|_| stays_free)
            {
                failures.push(format!("scene {number}, frame {}: {first}", state.frame()));
                break;
            }
        }
    }
    println!("{scenes} scenes, {free} of which were free of intersections and had to stay so");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(scenes < SCENES || u64::from(free) * 10 > scenes, "few scenes say anything of contact: {free}");
}
