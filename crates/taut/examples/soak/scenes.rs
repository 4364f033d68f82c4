//! Random scenes: sheets, shells, sewn panels and layers, obstacles of every kind, rigid bodies, attachments,
//! pins that switch, limits of every kind, and settings that nobody would choose.

use glam::{Quat, Vec3};
use taut::{
    AttachedShape, Cloth, Contact, Description, Limit, Material, MeshFrames, MeshObstacle, Motion, Obstacle,
    Pin, RigidBody, Scheme, Seam, Shape, Tolerance,
    low_level::{Keyframe, Random},
    mesh::{
        TriangleMesh,
        generate::{Diagonals, Generator},
    },
};

/// A source of choices.
pub struct Dice(pub Random);

impl Dice {
    /// The choices of scene `number`.
    pub fn new(number: u64) -> Self {
        Self(Random::new(number, 0x50AC))
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.0.below(n) == 0
    }

    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u32) as usize].clone()
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.0.unit()
    }

    /// Ten to a power between two.
    pub fn power(&mut self, low: f32, high: f32) -> f32 {
        10f32.powf(self.between(low, high))
    }

    pub fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.between(-size, size), self.between(-size, size), self.between(-size, size))
    }

    pub fn rotation(&mut self) -> Quat {
        let axis = self.vector(1.0).try_normalize().unwrap_or(Vec3::Y);
        Quat::from_axis_angle(axis, self.between(-3.1, 3.1))
    }

    /// A mesh of about a metre, with few triangles.
    fn mesh(&mut self) -> TriangleMesh {
        let cells = [2 + self.0.below(9), 2 + self.0.below(9)];
        let diagonals = self.pick(&[Diagonals::Alternating, Diagonals::Jittered, Diagonals::Delaunay]);
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

    fn obstacle(&mut self, size: f32) -> Obstacle {
        let shape = self.pick(&[
            Shape::Plane,
            Shape::Sphere { radius: 0.4 * size },
            Shape::Box { size: Vec3::new(0.5, 0.3, 0.7) * size },
            Shape::Capsule { radius: 0.1 * size, length: 0.6 * size },
            Shape::Cylinder { radius: 0.3 * size, height: 0.4 * size },
            Shape::Torus { major: 0.4 * size, minor: 0.1 * size },
        ]);
        self.obstacle_of(shape, size)
    }

    fn obstacle_of(&mut self, shape: Shape, size: f32) -> Obstacle {
        Obstacle {
            name: "shape".into(),
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

    /// A body with mass above everything else.
    fn rigid_body(&mut self, size: f32) -> RigidBody {
        let shape = self.pick(&[
            Shape::Sphere { radius: 0.15 * size },
            Shape::Box { size: Vec3::splat(0.2 * size) },
            Shape::Capsule { radius: 0.08 * size, length: 0.2 * size },
        ]);
        let position = (Vec3::Y * 1.2 + self.vector(0.2)) * size;
        let rotation = self.rotation();
        RigidBody {
            obstacle: Obstacle {
                name: "rigid".into(),
                position,
                rotation,
                motion: Motion::default(),
                ..self.obstacle_of(shape, size)
            },
            mass: self.power(-2.0, 1.0),
            velocity: self.vector(2.0 * size),
            angular_velocity: self.vector(3.0),
        }
    }

    /// Two panels side by side, sewn along an edge; open by up to a tenth of their size.
    fn panels(&mut self, size: f32, first: u32) -> (Vec<Cloth>, Seam) {
        let cells = 3 + self.0.below(6);
        let generator = Generator::Grid {
            size: [0.5, 0.8],
            cells: [cells, cells],
            diagonals: Diagonals::Alternating,
            seed: 0,
        };
        let mut mesh = generator.generate().unwrap();
        mesh.positions.iter_mut().for_each(|p| *p *= size);
        let [low, high] =
            [f32::min, f32::max].map(|of| mesh.positions.iter().map(|p| p.x).reduce(of).unwrap());
        let column = |x: f32| -> Vec<u32> {
            let is_there = |v: &u32| (mesh.positions[*v as usize].x - x).abs() < 1e-3 * size;
            let mut vertices: Vec<u32> = (0..mesh.positions.len() as u32).filter(is_there).collect();
            vertices.sort_by(|&a, &b| mesh.positions[a as usize].z.total_cmp(&mesh.positions[b as usize].z));
            vertices
        };
        let pairs: Vec<[(usize, u32); 2]> = column(high)
            .into_iter()
            .zip(column(low))
            .map(|(a, b)| [(first as usize, a), (first as usize + 1, b)])
            .collect();
        let open = self.pick(&[0.0, 0.02, 0.1]) * size;
        let above = Vec3::Y * 2.2 * size * first as f32;
        let cloths = (0..2u32).map(|k| {
            let mut cloth = Cloth::new(
                format!("cloth{}", first + k),
                mesh.clone(),
                Material::named("polyester").unwrap(),
            );
            let shift = above + Vec3::X * (k as f32 * (high - low + open));
            cloth.start.iter_mut().for_each(|p| *p += shift);
            cloth.strain = Limit { min: None, max: Some(0.05) };
            cloth
        });
        (cloths.collect(), Seam { pairs, ..Seam::default() })
    }

    /// Sheets close above each other.
    fn layers(&mut self, size: f32, first: u32) -> Vec<Cloth> {
        let (cells, count) = (4 + self.0.below(6), 2 + self.0.below(4));
        let layers = (0..count).map(|k| {
            let generator = Generator::Grid {
                size: [0.8, 0.8],
                cells: [cells, cells],
                diagonals: Diagonals::Alternating,
                seed: 0,
            };
            let mut mesh = generator.generate().unwrap();
            mesh.positions.iter_mut().for_each(|p| *p *= size);
            let material = Material::named("polyester").unwrap();
            let mut cloth = Cloth::new(format!("cloth{}", first + k), mesh, material);
            let turn = Quat::from_rotation_y(self.between(-1.0, 1.0));
            let place = Vec3::Y * size * (2.2 * first as f32 + 0.03 * k as f32);
            cloth.start.iter_mut().for_each(|p| *p = turn * *p + place);
            cloth.strain = Limit { min: None, max: Some(0.05) };
            cloth
        });
        layers.collect()
    }

    /// Lets some vertices of the first cloth follow the mesh obstacle: held, or by springs.
    fn attach(&mut self, description: &mut Description) {
        let Some(cloth) = description.bodies.iter_mut().find_map(|body| body.as_cloth_mut()) else { return };
        let count = cloth.start.len() as u32;
        let vertices = (0..1 + self.0.below(4)).map(|_| self.0.below(count)).collect();
        let shape = self.pick(&[AttachedShape::Rigid, AttachedShape::Skin]);
        let stiffness = self.pick(&[None, Some(1.0), Some(1e4)]);
        let until = self.pick(&[None, Some(0.3)]);
        // Springs fade; what is held does not.
        let fade = match (stiffness, until) {
            (None, _) => [0.0; 2],
            (_, None) => [0.1, 0.0],
            _ => [0.1; 2],
        };
        cloth.pins = vec![Pin { vertices, attach: Some(0), shape, stiffness, until, fade, ..Pin::default() }];
    }

    /// Scene `number`.
    pub fn scene(&mut self, number: u64) -> Description {
        let size = self.power(-1.5, 1.0);
        let mut description = Description { seed: number, ..Description::default() };
        let [cloths, shapes] = [1 + self.0.below(3), self.0.below(3)];
        match self.0.below(5) {
            0 => {
                let (panels, seam) = self.panels(size, 0);
                description.bodies = panels.into_iter().map(Into::into).collect();
                description.seams = vec![seam];
            }
            1 => description.bodies = self.layers(size, 0).into_iter().map(Into::into).collect(),
            _ => description.bodies = (0..cloths).map(|k| self.cloth(k, size).into()).collect(),
        }
        description.obstacles = (0..shapes).map(|_| self.obstacle(size)).collect();
        description.mesh_obstacles = if self.one_in(2) { Vec::new() } else { vec![self.mesh_obstacle(size)] };
        description.gravity = Vec3::NEG_Y * self.pick(&[0.0, 9.81, 9.81, 100.0]);
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
        solver.tolerance = self.pick(&[
            Tolerance::Chosen,
            Tolerance::Inside(0.0),
            Tolerance::Past(0.0),
            Tolerance::Past(0.01),
            Tolerance::Past(0.1),
        ]);
        if solver.scheme == Scheme::Nearest {
            if self.one_in(4) {
                description.rigid_bodies = vec![self.rigid_body(size)];
            }
            if !description.mesh_obstacles.is_empty() && self.one_in(3) {
                self.attach(&mut description);
            }
        }
        description
    }
}
