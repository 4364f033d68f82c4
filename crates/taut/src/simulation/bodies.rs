//! Bodies come and go while it runs.

use super::{BodyHandle, RigidBodyHandle, Simulation, SimulationError, carry::Origins, tune};
use crate::{Body, Description, RigidBody, SpringEnd, State};

impl Simulation {
    /// Puts a body in: cloth, a soft solid, particles or hair. It starts where it says; the others go on as
    /// they were.
    ///
    /// Keyframes of its pins, if it has such, are in the time of the simulation; pins that should have begun
    /// hold from its start.
    ///
    /// # Errors
    /// If the body cannot be simulated, or not together with the others. Nothing has changed then.
    pub fn insert(&mut self, body: impl Into<Body>) -> Result<BodyHandle, SimulationError> {
        let mut description = self.description().clone();
        let body = body.into();
        // Hair stays behind all others, which seams and springs count.
        let before_hair = description.bodies.len() - self.world.roots.len();
        let index = if body.as_hair().is_some() { description.bodies.len() } else { before_hair };
        description.bodies.insert(index, body);
        let mut origins = Origins::all(&self.world);
        origins.bodies.insert(index, None);
        origins.splits.insert(index, Vec::new());
        self.rebuild(description, &origins)?;
        self.levels.insert(index, None);
        self.settings.insert(index, tune::setting(&self.world.description.bodies[index]));
        Ok(BodyHandle(self.bodies.insert(index)))
    }

    /// Takes a body out, with its pins, grips and seams; its handle is stale from now on. The others go on as
    /// they were.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn remove(&mut self, body: BodyHandle) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        let mut description = self.description().clone();
        description.bodies.remove(index);
        forget_seams(&mut description, index);
        let mut origins = Origins::all(&self.world);
        let is_at = |end: &SpringEnd| matches!(end, SpringEnd::Vertex { body, .. } if *body == index);
        origins.springs = forget_springs(&mut description, is_at);
        for end in description.springs.iter_mut().flat_map(|spring| &mut spring.ends) {
            if let SpringEnd::Vertex { body, .. } = end {
                *body -= usize::from(*body > index);
            }
        }
        origins.bodies.remove(index);
        origins.splits.remove(index);
        self.rebuild(description, &origins)?;
        self.bodies.remove(index);
        self.settings.remove(index);
        self.levels.remove(index);
        Ok(())
    }

    /// Puts a rigid body in: a shape with mass, which falls and is pushed by cloth.
    ///
    /// # Errors
    /// If it cannot be simulated, or not with this solver. Nothing has changed then.
    pub fn insert_rigid_body(&mut self, body: RigidBody) -> Result<RigidBodyHandle, SimulationError> {
        let mut description = self.description().clone();
        description.rigid_bodies.push(body);
        let mut origins = Origins::all(&self.world);
        origins.rigid.push(None);
        self.rebuild(description, &origins)?;
        Ok(RigidBodyHandle(self.rigid.push()))
    }

    /// Takes a rigid body out, with its springs.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn remove_rigid_body(&mut self, body: RigidBodyHandle) -> Result<(), SimulationError> {
        let index = self.rigid.index(body.0)?;
        let mut description = self.description().clone();
        description.rigid_bodies.remove(index);
        let mut origins = Origins::all(&self.world);
        let is_at = |end: &SpringEnd| matches!(end, SpringEnd::RigidBody { body, .. } if *body == index);
        origins.springs = forget_springs(&mut description, is_at);
        for end in description.springs.iter_mut().flat_map(|spring| &mut spring.ends) {
            if let SpringEnd::RigidBody { body, .. } = end {
                *body -= usize::from(*body > index);
            }
        }
        origins.rigid.remove(index);
        self.rebuild(description, &origins)?;
        self.rigid.remove(index);
        Ok(())
    }

    /// Sets the velocity of all vertices of a body that are not held \[m/s\].
    ///
    /// # Errors
    /// If the handle is stale, or the velocity is not finite and at most 1e6.
    pub fn set_velocity(&mut self, body: BodyHandle, velocity: glam::Vec3) -> Result<(), SimulationError> {
        super::finite("velocity", velocity)?;
        let vertices = self.world.bodies[self.bodies.index(body.0)?].vertices.clone();
        let [x, y, z] = velocity.to_array();
        let State { v, mean_v, .. } = &mut self.state;
        v[vertices.clone()].fill([x, y, z, 0.0]);
        mean_v[vertices.clone()].fill([x, y, z, 0.0]);
        // The step before did not end with this velocity.
        self.state.begin_anew(vertices);
        Ok(())
    }
}

/// Takes out the springs with an end that `is_at` what goes. Gives the numbers of those that stay.
fn forget_springs(description: &mut Description, is_at: impl Fn(&SpringEnd) -> bool) -> Vec<usize> {
    let all = description.springs.iter().enumerate();
    let left = all.filter(|(_, spring)| !spring.ends.iter().any(&is_at)).map(|(k, _)| k).collect();
    description.springs.retain(|spring| !spring.ends.iter().any(&is_at));
    left
}

/// Takes out the pairs of seams that sew body `index`, and counts the bodies behind it anew.
fn forget_seams(description: &mut Description, index: usize) {
    for seam in &mut description.seams {
        seam.pairs.retain(|pair| pair.iter().all(|(body, _)| *body != index));
        for (body, _) in seam.pairs.iter_mut().flatten() {
            *body -= usize::from(*body > index);
        }
    }
    description.seams.retain(|seam| !seam.pairs.is_empty());
}
