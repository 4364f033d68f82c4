//! How a simulation is set up.

use glam::Vec3;

use super::{Simulation, SimulationError};
use crate::{Air, Contact, Description, Solver};

/// Settings of a [`Simulation`] before it starts: [`Simulation::builder`] makes one.
///
/// By default: gravity 9.81 m/s² downwards (−y), still air, no contact of cloth with cloth, steps of 1/60 s,
/// one thread per core, seed 0.
#[derive(Clone, Debug)]
pub struct SimulationBuilder {
    description: Description,
    threads: usize,
}

impl Default for SimulationBuilder {
    fn default() -> Self {
        Self { description: Description { frame_time: 1.0 / 60.0, ..Description::default() }, threads: 0 }
    }
}

impl SimulationBuilder {
    /// Gravity \[m/s²\].
    pub fn gravity(mut self, gravity: Vec3) -> Self {
        self.description.gravity = gravity;
        self
    }

    /// Air: density, wind, gusts.
    pub fn air(mut self, air: Air) -> Self {
        self.description.air = air;
        self
    }

    /// Contact of cloth with itself and with other cloth.
    pub fn contact(mut self, contact: Contact) -> Self {
        self.description.contact = contact;
        self
    }

    /// Settings of the solver.
    pub fn solver(mut self, solver: Solver) -> Self {
        self.description.solver = solver;
        self
    }

    /// Threads (0: one per core). What is simulated does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The time that [`Simulation::step`] will be called with \[s\]: tables are made for it once, not again
    /// with the first step.
    pub fn time_step(mut self, dt: f32) -> Self {
        self.description.frame_time = dt;
        self
    }

    /// Seed of everything random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.description.seed = seed;
        self
    }

    /// Starts the simulation, with nothing in it.
    ///
    /// # Errors
    /// If a setting is out of range, or threads cannot be started.
    pub fn build(self) -> Result<Simulation, SimulationError> {
        Simulation::from_description(self.description, self.threads)
    }
}
