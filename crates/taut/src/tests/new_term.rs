//! A term that no file of the engine knows: a vertex kept on a rail, a line with an end on either side.
//!
//! ARCHITECTURE.md, "How to add a term", describes these steps.

use std::sync::Arc;

use glam::{Quat, Vec3};
use taut::{
    Body, Cloth, Description, Material, Motion, Obstacle, State, Stepper, World,
    boundary::obstacle::Shape,
    certify,
    kernel::lanes::Quad,
    mesh::generate,
    term::{Block, Excess, Stage, Step, Term},
};

/// Weight of a rail in units of its vertex's mass.
const WEIGHT: f32 = 1000.0;

fn position(x: &Quad) -> Vec3 {
    Vec3::new(x[0], x[1], x[2])
}

/// Vertex `vertex` of a filter stays on the line through `from` along the unit vector `along`, and between 0
/// and `length` \[m\] along it.
#[derive(Clone, Copy, Debug)]
struct Rail {
    vertex: usize,
    from: Vec3,
    along: Vec3,
    length: f32,
}

impl Rail {
    fn nearest(&self, p: Vec3) -> Vec3 {
        self.from + self.along * (p - self.from).dot(self.along).clamp(0.0, self.length)
    }

    fn off(&self, x: &[Quad]) -> f32 {
        let p = position(&x[self.vertex]);
        self.nearest(p).distance(p)
    }
}

impl Block for Rail {
    fn name(&self) -> &'static str {
        "rail"
    }

    fn kept(&self) -> usize {
        3
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(RailTerm(*self, Vec3::ZERO))
    }

    fn excess(&self, x: &[Quad]) -> Option<f64> {
        Some(self.off(x).into())
    }
}

/// A rail and its dual \[m\].
#[derive(Debug)]
struct RailTerm(Rail, Vec3);

impl Term for RailTerm {
    fn enter(&mut self, _step: &Step, _x: &[Quad], kept: &[f32], stage: &Stage) {
        self.1 = Vec3::from_slice(kept) / stage.c;
    }

    fn rescale(&mut self, growth: f32) {
        self.1 /= growth;
    }

    fn weigh(&mut self, step: &Step, stage: &Stage, diagonal: &mut [f32]) {
        diagonal[self.0.vertex] += WEIGHT * stage.c * step.filter.masses[self.0.vertex];
    }

    fn pull(&mut self, step: &Step, x: &[Quad], stage: &Stage, r: &mut [Quad]) {
        let Self(rail, w) = self;
        let f = position(&x[rail.vertex]) + *w;
        let moved = rail.nearest(f) - f;
        let pull = WEIGHT * stage.c * step.filter.masses[rail.vertex] * (2.0 * moved + *w);
        *w = -moved;
        for k in 0..3 {
            r[rail.vertex][k] += pull[k];
        }
    }

    fn measure(&self, step: &Step, x: &[Quad], _iteration: u32, excess: &mut Excess) {
        excess.unmet |= self.0.off(x) > 0.01 * step.filter.edge_length;
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], stage: &Stage, kept: &mut [f32]) {
        (self.1 * stage.c).write_to_slice(kept);
    }
}

fn ground() -> Obstacle {
    Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::new(0.0, -0.9, 0.0),
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.3,
        restitution: 0.0,
        margin: 0.0,
    }
}

/// A sheet whose first corner runs on a rail; `floor` adds an obstacle, whose term comes before it.
fn world(floor: bool) -> (World, Rail) {
    let mesh = generate::grid([1.0, 1.0], [12, 12], generate::Diagonals::Alternating, 0);
    let mut sheet = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    sheet.strain.max = Some(0.05);
    let obstacles = if floor { vec![ground()] } else { Vec::new() };
    let bodies = vec![Body::Cloth(sheet)];
    let mut world = World::new(Description { bodies, obstacles, ..Description::default() }).unwrap();
    let vertex = world.numbered(0, 0).unwrap().1 as usize;
    let rail =
        Rail { vertex, from: position(&world.start[vertex]), along: Vec3::new(0.6, -0.8, 0.0), length: 0.25 };
    world.paces.iter_mut().for_each(|pace| pace.filters[0].blocks.push(Arc::new(rail)));
    (world, rail)
}

#[test]
fn a_term_from_outside_holds_is_certified_and_survives_a_resume() {
    for floor in [false, true] {
        let (world, rail) = world(floor);
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let (mut along, mut resumed) = (0.0f32, None);
        for frame in 0..40 {
            let report = stepper.advance_frame(&world, &mut state);
            assert!(report.converged, "frame {frame}, floor: {floor}");
            let certificate = certify(&world, &state);
            let [term] = &certificate.terms[..] else { panic!("one term has a line of its own") };
            assert_eq!(term.name, "rail");
            assert!(term.excess < 0.02 / 12.0, "frame {frame}: {} m off the rail", term.excess);
            assert!(certificate.bodies[0].strain.max_stretch < 1.061);
            along = along.max((position(&state.x[rail.vertex]) - rail.from).dot(rail.along));
            if frame == 19 {
                resumed = State::restore(&world, &state.snapshot(&world));
            }
        }
        assert!((0.24..0.252).contains(&along), "it slides to the rail's end and no further: {along} m");
        let (mut resumed, mut other) = (resumed.unwrap(), Stepper::new(&world, 1).unwrap());
        while resumed.frame() < state.frame() {
            other.advance_frame(&world, &mut resumed);
        }
        assert_eq!(resumed.x, state.x, "what it keeps goes into the snapshot");
    }
}
