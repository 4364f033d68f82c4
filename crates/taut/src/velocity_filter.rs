//! The limiter by itself, for other simulators: positions, velocities, masses and a time step in, filtered
//! velocities and a certificate out.
//!
//! A simulator that moves vertices by x ← x + dt v calls [`VelocityFilter::apply`] between its forces and
//! that line; x + dt v is then within the limits, outside obstacles, and velocities are changed as the
//! [`Scheme`](crate::Scheme) does it: with `nearest` as little as possible in the mass metric. All schemes go
//! through this one function.
//!
//! ```
//! use glam::Vec3;
//! use taut::{FilterSetup, Scheme, VelocityFilter, mesh::generate};
//!
//! // A toy simulator: 81 particles of 1 g that know gravity and nothing of cloth, two of them held.
//! let mesh = generate::grid([1.0, 1.0], [8, 8], generate::Diagonals::Alternating, 0);
//! let mut masses = vec![1e-3; mesh.positions.len()];
//! masses[0] = 0.0;
//! masses[8] = f64::INFINITY;
//! let mut positions = mesh.positions.clone();
//! let mut velocities = vec![Vec3::ZERO; positions.len()];
//!
//! let mut setup = FilterSetup::new(mesh, masses.clone());
//! setup.strain.max = Some(0.05);
//! setup.solver.scheme = Scheme::Nearest;
//! let mut filter = VelocityFilter::new(setup)?;
//!
//! let dt = 1.0 / 120.0;
//! for _ in 0..60 {
//!     for (v, mass) in velocities.iter_mut().zip(&masses) {
//!         if *mass > 0.0 && mass.is_finite() {
//!             v.y -= 9.81 * dt;
//!         }
//!     }
//!     let filtered = filter.apply(&positions, &mut velocities, dt)?;
//!     assert!(filtered.converged && filtered.strain.max_stretch < 1.061);
//!     for (x, v) in positions.iter_mut().zip(&velocities) {
//!         *x += dt * *v;
//!     }
//! }
//! assert!(positions[40].y < -0.1 && positions[0].y == 0.0);
//! # Ok::<(), taut::FilterError>(())
//! ```

use std::time::Duration;

use glam::Vec3;

use crate::{
    Cloth, Description, Integrator, Limit, Material, Obstacle, Solver, World, WorldError,
    boundary::{grip::Grips, obstacle_contacts::ObstacleContacts},
    budget::Deadline,
    exec::threads::Threads,
    hierarchy::fit::CoarseLimits,
    kernel::lanes::{LaneKind, Quad},
    limit::{
        Settings,
        enforce::{Draft, Scratch, enforce},
    },
    measure::{BendMeasure, StrainMeasure},
    mesh::TriangleMesh,
    schedule::StepBudget,
};

/// Furthest that a vertex may be from the origin \[m\].
const REACH: f32 = 1e6;

/// Allowed time steps \[s\].
const STEPS: std::ops::RangeInclusive<f32> = 1e-9..=1e6;

/// What a [`VelocityFilter`] is made from.
#[derive(Clone, Debug)]
pub struct FilterSetup {
    /// Rest shape: positions \[m\] and triangles; it may have several parts.
    pub mesh: TriangleMesh,
    /// Mass of each vertex \[kg\]; one of mass 0 or infinity is held: its velocity is never changed.
    pub masses: Vec<f64>,
    /// Limits on the principal strains of every triangle.
    pub strain: Limit,
    /// Limits on the strain of every edge.
    pub edge: Limit,
    /// Limits on the bend of every hinge \[°/cm\].
    pub bend: Limit,
    /// Limits of coarser levels, for schemes that enforce limits there; `None`: the closed-form bounds.
    pub coarse: Option<CoarseLimits>,
    /// Solids that vertices may not enter, with friction. Their motion runs by the filter's own clock.
    pub obstacles: Vec<Obstacle>,
    /// Scheme, projection, tolerances, iterations; `budget_ms` is that of a call. Steps and substeps are the
    /// caller's affair and mean nothing here.
    pub solver: Solver,
    /// Threads (0: one per core). Results do not depend on it.
    pub threads: usize,
    /// Seed of the order in which some schemes visit elements.
    pub seed: u64,
}

impl FilterSetup {
    /// No limits yet, no obstacles, the default solver, one thread.
    pub fn new(mesh: TriangleMesh, masses: Vec<f64>) -> Self {
        Self {
            mesh,
            masses,
            strain: Limit::default(),
            edge: Limit::default(),
            bend: Limit::default(),
            coarse: None,
            obstacles: Vec::new(),
            solver: Solver::default(),
            threads: 1,
            seed: 0,
        }
    }
}

/// What a call came to: measured, in double precision, where vertices are after x + dt v.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filtered {
    /// Iterations of the limiter.
    pub iterations: u32,
    /// Whether the limiter ended within its tolerances.
    pub converged: bool,
    /// Stretches and residuals.
    pub strain: StrainMeasure,
    /// Bends and excesses.
    pub bend: BendMeasure,
    /// Depth of the deepest vertex inside an obstacle \[m\]; 0 if none is inside.
    pub max_penetration: f64,
    /// Vertices that the limiter lost (not a finite number) and that were stopped instead; 0 unless something
    /// is badly wrong.
    pub rescued: u32,
}

/// Why a call was refused; velocities are as they were.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// The set-up cannot be used.
    #[error(transparent)]
    Setup(#[from] WorldError),
    /// Too few or too many numbers.
    #[error("{got} {what} for {wanted} vertices; each needs one")]
    Length {
        /// Of what.
        what: &'static str,
        /// How many there are.
        got: usize,
        /// How many there should be.
        wanted: usize,
    },
    /// A vertex is, or would get, too far away, or is not a finite number.
    #[error("the {what} of vertex {vertex} is {value}; it must be finite, and keep the vertex within 1e6 m")]
    Vertex {
        /// `position` or `velocity`.
        what: &'static str,
        /// Which.
        vertex: usize,
        /// What it is \[m\] or \[m/s\].
        value: Vec3,
    },
    /// A mass is not usable.
    #[error(
        "the mass of vertex {vertex} is {mass}; it must lie between 1e-12 and 1e12 kg, or be 0 or infinite to hold it"
    )]
    Mass {
        /// Which.
        vertex: usize,
        /// What it is \[kg\].
        mass: f64,
    },
    /// The time step is not usable.
    #[error("the time step is {0}; it must lie between 1e-9 and 1e6 s")]
    Step(f32),
    /// There is no such vertex.
    #[error("there is no vertex {vertex}; there are {count}")]
    NoVertex {
        /// Which.
        vertex: usize,
        /// How many there are.
        count: usize,
    },
    /// A vertex without mass of its own cannot be let go.
    #[error("vertex {0} has no mass to move with; give it one with set_masses")]
    NoMass(usize),
}

/// Filters velocities so that a time step keeps the limits. Nothing is allocated in a call after the first,
/// unless the held vertices have changed.
#[derive(Debug)]
pub struct VelocityFilter {
    world: World,
    masses: Vec<f64>,
    /// In the caller's order.
    held: Vec<bool>,
    threads: Threads,
    lanes: LaneKind,
    obstacle_contacts: ObstacleContacts,
    scratch: Scratch,
    duals: Vec<f32>,
    old: Vec<Quad>,
    predicted: Vec<Quad>,
    x: Vec<Quad>,
    /// Where vertices are after the step, in the caller's order.
    after: Vec<Vec3>,
    time: f64,
    calls: u64,
}

impl VelocityFilter {
    /// Builds the tables of all that does not change between calls.
    ///
    /// # Errors
    /// If the mesh, a mass, a limit or a setting cannot be used, or threads cannot be started.
    pub fn new(setup: FilterSetup) -> Result<Self, FilterError> {
        let FilterSetup { mesh, masses, strain, edge, bend, coarse, obstacles, solver, threads, seed } =
            setup;
        let material = Material {
            name: "none".into(),
            density: 1.0,
            stretch: 0.0.into(),
            poisson: 0.0,
            bend: 0.0.into(),
            damping: 0.0,
            viscosity: 0.0,
            bend_damping: 0.0,
            source: String::new(),
        };
        let count = mesh.positions.len();
        let mut cloth = Cloth::new("mesh", mesh, material);
        (cloth.strain, cloth.edge, cloth.bend, cloth.coarse) = (strain, edge, bend, coarse);
        cloth.masses = Some(usable_masses(&masses, count)?);
        cloth.imperfection = Some(0.0);
        // It has no stiffness and no time of its own to integrate.
        let integrator = Some(Integrator::LeapFrog);
        let solver = Solver { steps_per_frame: 1, max_substeps: 1, integrator, ..solver };
        let description =
            Description { bodies: vec![cloth.into()], obstacles, solver, seed, ..Description::default() };
        let world = World::new(description)?;
        let quads = || vec![[0.0; 4]; world.start.len()];
        Ok(Self {
            held: masses.iter().map(|&m| !has_mass(m)).collect(),
            masses,
            threads: Threads::new(threads)?,
            lanes: LaneKind::detect(),
            obstacle_contacts: ObstacleContacts::with_capacity(count, world.description.obstacles.len()),
            scratch: Scratch::new(&world),
            duals: vec![0.0; world.dual_count()],
            old: quads(),
            predicted: quads(),
            x: quads(),
            after: vec![Vec3::ZERO; count],
            time: 0.0,
            calls: 0,
            world,
        })
    }

    /// Changes `velocities` \[m/s\] so that vertices at `positions` \[m\] keep the limits when they have
    /// moved by `dt` \[s\] times their velocity. Those of held vertices stay. The filter's clock goes on by
    /// `dt`.
    ///
    /// # Errors
    /// If lengths do not fit the mesh, a number is not finite, a vertex would leave the reach, or `dt` is not
    /// usable.
    pub fn apply(
        &mut self,
        positions: &[Vec3],
        velocities: &mut [Vec3],
        dt: f32,
    ) -> Result<Filtered, FilterError> {
        self.check(positions, velocities, dt)?;
        let Self { world, threads, lanes, obstacle_contacts, scratch, duals, old, predicted, x, .. } = self;
        let (body, description) = (&world.bodies[0], &world.description);
        for (k, &v) in body.order().iter().enumerate() {
            let v = v as usize;
            let w = if self.held[v] { 0.0 } else { world.inverse_masses[k] };
            let (from, to) = (positions[v], positions[v] + dt * velocities[v]);
            old[k] = [from.x, from.y, from.z, w];
            x[k] = [to.x, to.y, to.z, w];
        }
        scratch.hold(world, x, &Grips::default());
        predicted.copy_from_slice(x);
        let times = [self.time, self.time + f64::from(dt)].map(|t| t as f32);
        obstacle_contacts.begin(threads, &description.obstacles, times, old, x, 2.0 * world.edge_length);
        let solver = &description.solver;
        let settings =
            Settings { threads, lanes: *lanes, projection: solver.projection, relaxation: solver.relaxation };
        let budget = |ms: f32| Deadline::after(Duration::from_secs_f32(1e-3 * ms));
        let turn = StepBudget {
            step: self.calls,
            iterations: solver.iterations,
            deadline: solver.budget_ms.map(budget),
            min_iterations_past_deadline: 0,
        };
        let (poses, grips, old_v): (&mut [_], _, &[_]) = (&mut [], &mut Grips::default(), &[]);
        let draft = Draft {
            x,
            old,
            duals,
            poses,
            grips,
            stiffening: 1.0,
            old_v,
            inertia: &[],
            springs: Default::default(),
        };
        let enforced = enforce(world, &settings, draft, obstacle_contacts, scratch, turn);

        let mut rescued = 0;
        for (k, &v) in body.order().iter().enumerate() {
            let (x, predicted, velocity) = (&x[k], &predicted[k], &mut velocities[v as usize]);
            let change = Vec3::new(x[0] - predicted[0], x[1] - predicted[1], x[2] - predicted[2]) / dt;
            let changed = *velocity + change;
            if !changed.is_finite() {
                *velocity = Vec3::ZERO;
                rescued += 1;
            } else if change != Vec3::ZERO {
                *velocity = changed;
            }
            self.after[v as usize] = positions[v as usize] + dt * *velocity;
        }
        if rescued > 0 || duals.iter().any(|d| !d.is_finite()) {
            duals.fill(0.0);
        }
        self.time += f64::from(dt);
        self.calls += 1;
        let (strain, bend) = body.measure_limits(&description.bodies[0], &self.after);
        let mut max_penetration = 0.0f64;
        for obstacle in &description.obstacles {
            let pose = obstacle.pose(times[1]);
            for x in &self.after {
                let depth = -f64::from(obstacle.shape.distance(pose.to_body(*x)).0);
                max_penetration = max_penetration.max(depth);
            }
        }
        Ok(Filtered {
            iterations: enforced.iterations,
            converged: enforced.converged && rescued == 0,
            strain,
            bend,
            max_penetration,
            rescued,
        })
    }

    /// Holds vertex `vertex`, or lets it go, from the next call on.
    ///
    /// # Errors
    /// If there is no such vertex, or it has no mass to be let go with.
    pub fn set_held(&mut self, vertex: usize, held: bool) -> Result<(), FilterError> {
        let count = self.held.len();
        let mass = *self.masses.get(vertex).ok_or(FilterError::NoVertex { vertex, count })?;
        if !held && !has_mass(mass) {
            return Err(FilterError::NoMass(vertex));
        }
        self.held[vertex] = held;
        Ok(())
    }

    /// Whether vertex `vertex` is held; false if there is no such vertex.
    pub fn is_held(&self, vertex: usize) -> bool {
        self.held.get(vertex) == Some(&true)
    }

    /// Gives all vertices new masses \[kg\]: those of mass 0 or infinity are held from now on, others are let
    /// go. Builds all tables anew, as
    /// [`VelocityFilter::new`] does; what is kept from call to call stays.
    ///
    /// # Errors
    /// If a mass is not usable; the filter is as before then.
    pub fn set_masses(&mut self, masses: &[f64]) -> Result<(), FilterError> {
        let usable = usable_masses(masses, self.held.len())?;
        let mut description = self.world.description.clone();
        description.cloths_mut().for_each(|cloth| cloth.masses = Some(usable.clone()));
        self.world = World::new(description)?;
        self.scratch = Scratch::new(&self.world);
        self.masses = masses.to_vec();
        self.held = masses.iter().map(|&m| !has_mass(m)).collect();
        Ok(())
    }

    /// Forgets the calls so far, and sets the clock to 0: as if made anew. Held vertices and masses stay.
    pub fn reset(&mut self) {
        self.duals.fill(0.0);
        (self.time, self.calls) = (0.0, 0);
    }

    /// The clock that obstacles move by \[s\].
    pub fn time(&self) -> f64 {
        self.time
    }

    fn check(&self, positions: &[Vec3], velocities: &[Vec3], dt: f32) -> Result<(), FilterError> {
        let wanted = self.held.len();
        for (what, got) in [("positions", positions.len()), ("velocities", velocities.len())] {
            if got != wanted {
                return Err(FilterError::Length { what, got, wanted });
            }
        }
        if !STEPS.contains(&dt) {
            return Err(FilterError::Step(dt));
        }
        let fine = |p: Vec3| p.is_finite() && p.abs().max_element() <= REACH;
        for (vertex, (&x, &v)) in positions.iter().zip(velocities).enumerate() {
            if !fine(x) {
                return Err(FilterError::Vertex { what: "position", vertex, value: x });
            }
            if !fine(x + dt * v) || !v.is_finite() {
                return Err(FilterError::Vertex { what: "velocity", vertex, value: v });
            }
        }
        Ok(())
    }
}

fn has_mass(mass: f64) -> bool {
    mass > 0.0 && mass.is_finite()
}

/// Masses that the engine can work with: held vertices get the mean of the others, which nothing depends on
/// while they are held.
fn usable_masses(masses: &[f64], wanted: usize) -> Result<Vec<f64>, FilterError> {
    if masses.len() != wanted {
        return Err(FilterError::Length { what: "masses", got: masses.len(), wanted });
    }
    let usable = |m: f64| (1e-12..=1e12).contains(&m) || m == 0.0 || m == f64::INFINITY;
    if let Some(vertex) = masses.iter().position(|&m| !usable(m)) {
        return Err(FilterError::Mass { vertex, mass: masses[vertex] });
    }
    let (sum, count) =
        masses.iter().filter(|m| has_mass(**m)).fold((0.0, 0.0), |(sum, count), m| (sum + m, count + 1.0));
    let mean = if count > 0.0 { sum / count } else { 1.0 };
    Ok(masses.iter().map(|&m| if has_mass(m) { m } else { mean }).collect())
}
