//! The front door: a running simulation that bodies and obstacles are put into and taken out of, that is
//! stepped, read and changed.
//!
//! [`Simulation`] owns the [`World`] (tables), its [`State`] and its [`Stepper`]. What depends on a few
//! numbers is changed in place; for the rest the world is built again from the changed description, with the
//! levels of its meshes kept, and the state goes on in it ([`carry`]).

mod bodies;
mod builder;
mod carry;
mod chain;
mod comb;
mod error;
mod event;
mod handle;
mod held;
mod levels;
mod mend;
mod obstacles;
mod open;
mod patch;
mod tear;
mod tune;
mod view;

use glam::Vec3;

use crate::{
    Budget, Description, FrameReport, Solver, State, Stepper, World, WorldError,
    body::BodyTables,
    boundary::rigid::RigidState,
    hierarchy::Hierarchy,
    measure::{BodyCertificate, Certificate, certify, certify_body},
    world::HierarchyCache,
};
use carry::Origins;
use event::SeamWatch;
use handle::Slots;
use tune::Settings;

pub use builder::SimulationBuilder;
pub use error::SimulationError;
pub use event::{BrokenSpring, Element, Event};
pub use handle::{BodyHandle, GripHandle, ObstacleHandle, RigidBodyHandle};
pub use obstacles::AnyObstacle;
pub use tune::Limiter;
pub use view::{VectorIter, Vectors};

/// Longest time step \[s\].
const LONGEST_STEP_S: f32 = 1e3;

/// A running simulation.
///
/// ```
/// use glam::Vec3;
/// use taut::{Budget, Cloth, Material, Obstacle, Pose, Simulation, mesh::generate};
///
/// let mut simulation = Simulation::builder().gravity(Vec3::new(0.0, -9.81, 0.0)).threads(1).build()?;
/// let mesh = generate::grid([1.0, 1.0], [12, 12], generate::Diagonals::Alternating, 0);
/// let top = 0..13;
/// let flag = simulation.insert(Cloth::new("flag", mesh, Material::default()).stretch(..=0.05).pin(top))?;
/// let ball = simulation.insert_obstacle(Obstacle::sphere(Vec3::new(0.5, -0.8, 0.0), 0.1).friction(0.3))?;
///
/// for frame in 0..5 {
///     simulation.set_next_pose(ball, Pose::at(Vec3::new(0.5, -0.8, 0.02 * frame as f32)))?;
///     let report = simulation.step(1.0 / 60.0, Budget::unlimited())?;
///     assert!(report.converged);
///     for event in simulation.drain_events() {
///         println!("{event:?}");
///     }
/// }
/// let lowest = simulation.positions(flag)?.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
/// assert!(lowest < -0.01);
/// simulation.set_stretch_limit(flag, ..=0.01)?;
/// simulation.remove(flag)?;
/// assert!(simulation.positions(flag).is_err(), "the handle is stale");
/// # Ok::<(), taut::SimulationError>(())
/// ```
///
/// # Without bodies
/// A simulation may start, and be stepped, with no body in it: obstacles move, rigid bodies fall, time goes
/// on, and nothing is an error. (A [`World`] of no bodies, one level below, is refused.)
///
/// # What a change costs
/// Gravity, wind, poses, pins and grips are changed in place. A limit (on strain, of edges, on bend, along
/// warp, weft and bias, of tetrahedra) that takes the place of one of the same kind is written into the
/// tables, which are kept: under 1 ms for a sheet of 40 × 40. Everything else (bodies and obstacles inserted
/// or removed, a limit on a side that had none or none where there was one, another direction of the warp,
/// stiffness, materials, another `dt`) builds the tables again, and motion, duals and what BDF2 knows of the
/// last step go on. What depends on the mesh alone is kept: its levels, and the fit of bending to it. For
/// that sheet this takes six tenths of the time of a new world (`benches/times.rs`).
#[derive(Debug)]
pub struct Simulation {
    id: u32,
    world: World,
    state: State,
    stepper: Stepper,
    cache: HierarchyCache,
    bodies: Slots,
    shapes: Slots,
    meshes: Slots,
    rigid: Slots,
    /// By body: where each vertex of the caller is among those of the body.
    places: Vec<Vec<u32>>,
    /// By body.
    settings: Vec<Settings>,
    /// As the solver was given, and the most substeps that it came to.
    solver: Solver,
    substeps: u32,
    /// By cloth: coarser levels, made when they are first asked for.
    levels: Vec<Option<Hierarchy>>,
    poses: obstacles::NextPoses,
    seams: Vec<SeamWatch>,
    events: Vec<Event>,
    /// Cloths that have torn, as they were.
    wholes: Vec<mend::Whole>,
    /// Vertices that a brush made heavier for the frame that comes: their inverse masses without and with it.
    brushed: Vec<(u32, [f32; 2])>,
}

impl Simulation {
    /// A simulation with nothing in it, to be set up.
    pub fn builder() -> SimulationBuilder {
        SimulationBuilder::default()
    }

    /// The start of a simulation of `description` with `threads` threads (0: one per core).
    ///
    /// # Errors
    /// If the description cannot be simulated, or threads cannot be started.
    pub fn from_description(description: Description, threads: usize) -> Result<Self, SimulationError> {
        let cache = HierarchyCache::default();
        let world = World::with_cache(description, &cache)?;
        Ok(Self::with(world, None, cache, threads)?)
    }

    /// Goes on from `state` of `world`, or from its start, with `threads` threads (0: one per core).
    ///
    /// # Errors
    /// If the state is one of another world, or threads cannot be started.
    pub fn resume(world: World, state: Option<State>, threads: usize) -> Result<Self, SimulationError> {
        if state.as_ref().is_some_and(|state| !state.fits(&world)) {
            return Err(SimulationError::StateOfAnotherWorld);
        }
        Ok(Self::with(world, state, HierarchyCache::default(), threads)?)
    }

    fn with(
        world: World,
        state: Option<State>,
        cache: HierarchyCache,
        threads: usize,
    ) -> Result<Self, WorldError> {
        let state = state.unwrap_or_else(|| State::new(&world));
        let stepper = Stepper::new(&world, threads)?;
        let id = handle::next_simulation();
        let description = world.description();
        let slots = |what, count| Slots::new(id, what, count);
        let mut simulation = Self {
            id,
            bodies: slots("body", world.bodies.len()),
            shapes: slots("obstacle", description.obstacles.len()),
            meshes: slots("obstacle", description.mesh_obstacles.len()),
            rigid: slots("rigid body", description.rigid_bodies.len()),
            places: Vec::new(),
            settings: tune::settings(description),
            solver: description.solver,
            substeps: world.max_substeps(),
            levels: vec![None; world.bodies.len()],
            poses: Default::default(),
            seams: Vec::new(),
            events: Vec::new(),
            wholes: Vec::new(),
            brushed: Vec::new(),
            cache,
            world,
            state,
            stepper,
        };
        simulation.index();
        Ok(simulation)
    }

    /// Advances by `dt` seconds, in as many steps of the engine as it chooses, within `budget`.
    ///
    /// The tables depend on `dt`: another one than before builds them again, as if a body had been inserted.
    /// A game with a varying frame rate should step by a fixed `dt`, as often as the frame asks for.
    ///
    /// # Errors
    /// If `dt` is not positive and at most 1000 s.
    pub fn step(&mut self, dt: f32, budget: Budget) -> Result<FrameReport, SimulationError> {
        self.set_time_step(dt)?;
        Ok(self.advance(&budget))
    }

    /// Advances by one frame of the scene, within the time budget of its solver: what `taut run` does.
    pub fn step_frame(&mut self) -> FrameReport {
        let budget = self.description().solver.budget_ms;
        self.advance(&budget.map_or_else(Budget::unlimited, Budget::millis).with_min_iterations(0))
    }

    /// Changes the time that [`Simulation::step`] advances by \[s\].
    ///
    /// # Errors
    /// If it is not positive and at most 1000 s.
    pub fn set_time_step(&mut self, dt: f32) -> Result<(), SimulationError> {
        if !(dt > 0.0 && dt <= LONGEST_STEP_S) {
            return Err(SimulationError::InvalidTimeStep(dt));
        }
        if dt == self.description().frame_time {
            return Ok(());
        }
        let mut description = self.description().clone();
        description.frame_time = dt;
        self.rebuild(description, &Origins::all(&self.world))
    }

    /// Time since the start \[s\].
    pub fn time(&self) -> f32 {
        self.world.time_of_frame(self.state.frame)
    }

    /// How often it has been stepped.
    pub fn frame(&self) -> u32 {
        self.state.frame
    }

    /// Positions of a body in the order of its mesh \[m\].
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn positions(&self, body: BodyHandle) -> Result<Vectors<'_>, SimulationError> {
        self.vectors(body, &self.state.x)
    }

    /// Mean velocities of a body over the last step of the engine, in the order of its mesh \[m/s\].
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn velocities(&self, body: BodyHandle) -> Result<Vectors<'_>, SimulationError> {
        self.vectors(body, &self.state.mean_v)
    }

    fn vectors<'a>(
        &'a self,
        body: BodyHandle,
        quads: &'a [crate::kernel::lanes::Quad],
    ) -> Result<Vectors<'a>, SimulationError> {
        let index = self.bodies.index(body.0)?;
        Ok(Vectors { quads: &quads[self.world.bodies[index].vertices.clone()], places: &self.places[index] })
    }

    /// Where a rigid body is, and how it moves.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn rigid_body(&self, body: RigidBodyHandle) -> Result<&RigidState, SimulationError> {
        Ok(&self.state.rigid[self.rigid.index(body.0)?])
    }

    /// Measures how far a body is from its limits, in double precision.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn body_certificate(&self, body: BodyHandle) -> Result<BodyCertificate, SimulationError> {
        let index = self.bodies.index(body.0)?;
        Ok(certify_body(&self.world, &self.state, index))
    }

    /// Measures how far all bodies, in the order of [`Simulation::bodies`], are from their limits, and from
    /// each other.
    pub fn certificate(&self) -> Certificate {
        certify(&self.world, &self.state)
    }

    /// All bodies, in the order in which they were inserted.
    pub fn bodies(&self) -> impl ExactSizeIterator<Item = BodyHandle> {
        self.bodies.handles().map(BodyHandle)
    }

    /// All rigid bodies, in the order in which they were inserted.
    pub fn rigid_bodies(&self) -> impl ExactSizeIterator<Item = RigidBodyHandle> {
        self.rigid.handles().map(RigidBodyHandle)
    }

    /// Where a body is in [`Simulation::description`], [`Simulation::certificate`] and
    /// [`Simulation::world`].
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn index_of(&self, body: BodyHandle) -> Result<usize, SimulationError> {
        self.bodies.index(body.0)
    }

    /// Goes back to the start: bodies to where they start, time to 0. Settings stay as they are; what the
    /// caller pinned, unpinned or gripped is forgotten, and obstacles whose pose was set are where they were
    /// placed. Torn cloth is whole again, unless it was torn when it came in, and so are strands that were
    /// cut.
    pub fn reset(&mut self) {
        self.mend();
        self.world.ruler.origin = 0.0;
        let ruler = &mut self.world.ruler;
        let frame_time = ruler.description.frame_time;
        let described: Vec<_> = ruler.description.bodies.iter().flat_map(|body| body.pins()).collect();
        for pin in &mut ruler.pins {
            pin.frames = described[pin.motion as usize].frames(frame_time);
        }
        self.forget_poses();
        let mut start = std::mem::take(&mut self.world.ruler.start);
        self.world.place_fixtures(0.0, &mut start);
        self.world.ruler.start = start;
        self.state = State::new(&self.world);
        self.events.clear();
        self.watch_seams();
    }

    /// Changes the number of threads (0: one per core). What is simulated does not depend on it.
    ///
    /// # Errors
    /// If they cannot be started. Nothing has changed then.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), SimulationError> {
        Ok(self.stepper.set_threads(threads)?)
    }

    /// The description as it has been changed. Pins and grips of the caller are not part of it.
    pub fn description(&self) -> &Description {
        self.world.description()
    }

    /// The tables of the engine, one level below.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The state of the engine, one level below.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Changes gravity \[m/s²\].
    ///
    /// # Errors
    /// If it is not finite and at most 1e6.
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), SimulationError> {
        finite("gravity", gravity)?;
        self.world.ruler.description.gravity = gravity;
        Ok(())
    }

    /// Changes the wind to one that stays the same \[m/s\]; gusts are as strong as before.
    ///
    /// # Errors
    /// If it is not finite and at most 1e6.
    pub fn set_wind(&mut self, wind: Vec3) -> Result<(), SimulationError> {
        finite("wind", wind)?;
        let keys = &mut self.world.ruler.description.air.wind;
        keys.clear();
        keys.push((0.0, wind));
        Ok(())
    }

    /// Goes on with a changed description that has `origins` of the one before.
    fn rebuild(&mut self, description: Description, origins: &Origins) -> Result<(), SimulationError> {
        let mut world = World::with_cache(description, &self.cache)?;
        let time = self.world.origin + f64::from(self.state.frame) * self.world.frame_length();
        world.resume_at(time, self.state.frame, &self.world, origins);
        self.keep_wholes(&world.description, origins);
        self.stepper.adapt(&world);
        self.state = self.state.carried(&self.world, &world, origins);
        self.world = world;
        self.index();
        Ok(())
    }

    /// Makes what is looked up by body.
    fn index(&mut self) {
        let places = |body: &BodyTables| {
            let mut places = vec![0; body.order().len()];
            body.order().iter().zip(0..).for_each(|(&v, place)| places[v as usize] = place);
            places
        };
        self.places = self.world.bodies.iter().map(places).collect();
        self.watch_seams();
    }
}

fn finite(what: &'static str, value: Vec3) -> Result<(), SimulationError> {
    if value.is_finite() && value.abs().max_element() <= 1e6 {
        return Ok(());
    }
    let allowed = "be finite and at most 1e6";
    Err(SimulationError::OutOfRange { what, value: value.to_string(), allowed })
}
