//! Handles: names of things in a simulation that go stale when these are removed.
//!
//! A handle is a slot and the generation of that slot, as in other engines, and the simulation that gave it:
//! one that was removed, or that belongs to another simulation, is refused instead of meaning something else.

use std::sync::atomic::{AtomicU32, Ordering};

use super::SimulationError;

/// Names a body of a [`Simulation`](super::Simulation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyHandle(pub(super) Handle);

/// Names an obstacle of a [`Simulation`](super::Simulation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObstacleHandle {
    pub(super) handle: Handle,
    pub(super) kind: ObstacleKind,
}

/// Names a rigid body of a [`Simulation`](super::Simulation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RigidBodyHandle(pub(super) Handle);

/// Names a grip of a [`Simulation`](super::Simulation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GripHandle {
    pub(super) simulation: u32,
    pub(super) id: crate::GripId,
}

/// Which list an obstacle is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ObstacleKind {
    Shape,
    Mesh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Handle {
    simulation: u32,
    slot: u32,
    generation: u32,
}

/// A number for the next simulation.
pub(super) fn next_simulation() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Handles of a list, and where in it each is.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    simulation: u32,
    /// What the list holds, for messages.
    what: &'static str,
    /// By slot.
    generations: Vec<u32>,
    /// By place in the list.
    slots: Vec<u32>,
}

impl Slots {
    /// Handles of `count` things.
    pub fn new(simulation: u32, what: &'static str, count: usize) -> Self {
        let slots = (0..count as u32).collect();
        Self { simulation, what, generations: vec![0; count], slots }
    }

    /// A handle of what is put at the end of the list.
    pub fn push(&mut self) -> Handle {
        self.insert(self.slots.len())
    }

    /// A handle of what is put at `index` of the list; what was there and behind it moves up.
    pub fn insert(&mut self, index: usize) -> Handle {
        let free = (0..self.generations.len() as u32).find(|slot| !self.slots.contains(slot));
        let slot = free.unwrap_or(self.generations.len() as u32);
        if slot as usize == self.generations.len() {
            self.generations.push(0);
        }
        self.slots.insert(index, slot);
        self.handle(index)
    }

    /// The handle of number `index` of the list.
    pub fn handle(&self, index: usize) -> Handle {
        let slot = self.slots[index];
        Handle { simulation: self.simulation, slot, generation: self.generations[slot as usize] }
    }

    /// All handles, in the order of the list.
    pub fn handles(&self) -> impl ExactSizeIterator<Item = Handle> {
        (0..self.slots.len()).map(|index| self.handle(index))
    }

    /// Where in the list it is.
    pub fn index(&self, handle: Handle) -> Result<usize, SimulationError> {
        let current = self.simulation == handle.simulation
            && self.generations.get(handle.slot as usize) == Some(&handle.generation);
        let found = self.slots.iter().position(|&slot| slot == handle.slot).filter(|_| current);
        found.ok_or(SimulationError::StaleHandle { what: self.what })
    }

    /// Takes number `index` out of the list: its handle is stale from now on.
    pub fn remove(&mut self, index: usize) {
        let slot = self.slots.remove(index) as usize;
        self.generations[slot] = self.generations[slot].wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_used_again_with_another_generation() {
        let mut slots = Slots::new(7, "body", 2);
        let [first, second] = [slots.handle(0), slots.handle(1)];
        slots.remove(0);
        assert_eq!(slots.index(second).unwrap(), 0, "what was behind it moves up");
        assert!(matches!(slots.index(first), Err(SimulationError::StaleHandle { what: "body" })));
        let third = slots.push();
        assert_eq!((third.slot, slots.index(third).unwrap()), (first.slot, 1));
        assert!(slots.index(first).is_err());
        assert_eq!(slots.handles().collect::<Vec<_>>(), [second, third]);
        let other = Slots::new(8, "body", 2);
        assert!(other.index(second).is_err(), "of another simulation");
    }
}
