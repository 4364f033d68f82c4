//! Pins and grips of the caller.

use glam::Vec3;

use super::{BodyHandle, GripHandle, Simulation, SimulationError};
use crate::Grip;

impl Simulation {
    /// Pins vertex `vertex` of a body (in the order of its mesh) where it is, on every level.
    ///
    /// # Errors
    /// If the handle is stale, or there is no such vertex.
    pub fn pin(&mut self, body: BodyHandle, vertex: u32) -> Result<(), SimulationError> {
        let (index, place) = self.vertex(body, vertex)?;
        let [x, y, z, _] = self.state.x[place as usize];
        Ok(self.state.pin(&self.world, index, vertex, Vec3::new(x, y, z))?)
    }

    /// Pins vertex `vertex` of a body, or moves one that is pinned: with the next step it goes to `target`
    /// \[m\] in a straight line, is exactly there at the end of it, and stays until it is sent elsewhere.
    ///
    /// # Errors
    /// If the handle is stale, there is no such vertex, or the target is not finite and within 1e6 m.
    pub fn pin_to(&mut self, body: BodyHandle, vertex: u32, target: Vec3) -> Result<(), SimulationError> {
        let (index, _) = self.vertex(body, vertex)?;
        super::finite("the target of a pin", target)?;
        Ok(self.state.pin(&self.world, index, vertex, target)?)
    }

    /// Lets vertex `vertex` of a body go, whoever pinned it: from the next step on it moves freely, with the
    /// velocity that it has.
    ///
    /// # Errors
    /// If the handle is stale, or there is no such vertex.
    pub fn unpin(&mut self, body: BodyHandle, vertex: u32) -> Result<(), SimulationError> {
        let (index, _) = self.vertex(body, vertex)?;
        Ok(self.state.unpin(&self.world, index, vertex)?)
    }

    /// Bodies and vertices that are pinned now, by their description or by the caller.
    pub fn pins(&self) -> impl Iterator<Item = (BodyHandle, u32)> {
        let held = self.state.held(&self.world);
        held.map(|(body, vertex)| (BodyHandle(self.bodies.handle(body)), vertex))
    }

    /// Takes hold of a point of a body, to pull at it: the point with barycentric `weights` of the vertices
    /// `corners`. It stays where it is until it is [moved](Simulation::move_grip). Limits win against grips.
    ///
    /// # Errors
    /// If the handle is stale, there is no such vertex, weights are negative or all 0, or a stiffness is out
    /// of range.
    pub fn grip(
        &mut self,
        body: BodyHandle,
        corners: [u32; 3],
        weights: [f32; 3],
        grip: Grip,
    ) -> Result<GripHandle, SimulationError> {
        let mut index = 0;
        for corner in corners {
            index = self.vertex(body, corner)?.0;
        }
        let id = self.state.grip(&self.world, index, corners, weights, grip)?;
        Ok(GripHandle { simulation: self.id, id })
    }

    /// Pulls a grip's point towards `target` \[m\] from the next step on.
    ///
    /// # Errors
    /// If the grip has been released, or the target is not finite and within 1e6 m.
    pub fn move_grip(&mut self, grip: GripHandle, target: Vec3) -> Result<(), SimulationError> {
        self.check_grip(grip)?;
        super::finite("the target of a grip", target)?;
        self.state.move_grip(grip.id, target);
        Ok(())
    }

    /// Releases a grip's point, which moves on with the velocity that it has.
    ///
    /// # Errors
    /// If it has been released before, or its body has been removed.
    pub fn release(&mut self, grip: GripHandle) -> Result<(), SimulationError> {
        self.check_grip(grip)?;
        self.state.release(grip.id);
        Ok(())
    }

    /// Where a grip's point is \[m\].
    ///
    /// # Errors
    /// If it has been released.
    pub fn grip_point(&self, grip: GripHandle) -> Result<Vec3, SimulationError> {
        self.check_grip(grip)?;
        self.state.grip_point(grip.id).ok_or(SimulationError::StaleHandle { what: "grip" })
    }

    fn check_grip(&self, grip: GripHandle) -> Result<(), SimulationError> {
        if grip.simulation == self.id && self.state.grips.contains(grip.id) {
            return Ok(());
        }
        Err(SimulationError::StaleHandle { what: "grip" })
    }

    /// The number of a body, and the engine's number of its vertex.
    fn vertex(&self, body: BodyHandle, vertex: u32) -> Result<(usize, u32), SimulationError> {
        let index = self.bodies.index(body.0)?;
        let (tables, places) = (&self.world.bodies[index], &self.places[index]);
        match places.get(vertex as usize) {
            Some(place) => Ok((index, tables.vertices.start as u32 + place)),
            None => {
                let (body, count) = (self.name(index), places.len());
                Err(SimulationError::NoSuchVertex { body, vertex, count })
            }
        }
    }

    /// Kind and name of body `index`, for messages.
    pub(super) fn name(&self, index: usize) -> String {
        let body = &self.description().bodies[index];
        format!("{} \"{}\"", body.kind(), body.name())
    }
}
