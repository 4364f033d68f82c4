//! What changes while a simulation runs.
use glam::Vec3;

use crate::World;

/// Positions and velocities, and how far the simulation has come.
#[derive(Clone, Debug, Default)]
pub struct State {
    frame: u32,
}

/// All of a [`State`] that must be kept to go on from it to the same bits, in the caller's vertex order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Frames simulated so far.
    pub frame: u32,
    /// Positions of all bodies, one body after the other \[m\].
    pub positions: Vec<Vec3>,
    /// Velocities likewise \[m/s\].
    pub velocities: Vec<Vec3>,
}

impl State {
    /// The start state (frame 0).
    pub fn new(_world: &World) -> Self {
        Self::default()
    }

    /// Frames simulated so far; 0 at the start.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Positions of body `body` in the caller's vertex order \[m\].
    pub fn positions(&self, world: &World, body: usize) -> Vec<Vec3> {
        world.description.cloths[body].start.clone()
    }

    /// What must be kept to go on from here.
    pub fn snapshot(&self, _world: &World) -> Snapshot {
        Snapshot::default()
    }

    /// The state that `snapshot` was taken of, or `None` if it does not fit `world` (count, finiteness).
    pub fn restore(_world: &World, _snapshot: &Snapshot) -> Option<Self> {
        Some(Self::default())
    }
}
