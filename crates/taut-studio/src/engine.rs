//! The simulation that runs while it is changed.

use std::time::Duration;

use glam::Vec3;
use taut::{Air, Description, FrameReport, Limit, State, Stepper, World, WorldError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GripId(u32);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grip {
    Soft { stiffness: f32 },
    Hard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    Off,
    Edge,
    Isotropic,
}

#[derive(Debug)]
pub struct Live {
    world: World,
    state: State,
    stepper: Stepper,
    threads: usize,
    next: u32,
    grips: Vec<(GripId, usize, u32)>,
    pins: Vec<(usize, u32)>,
}

impl Live {
    pub fn new(description: Description, threads: usize) -> Result<Self, WorldError> {
        let world = World::new(description)?;
        let (state, stepper) = (State::new(&world), Stepper::new(&world, threads)?);
        let mut pins = Vec::new();
        for (body, described) in world.description().bodies().enumerate() {
            pins.extend(described.pins().iter().flat_map(|pin| pin.vertices.iter().map(move |&v| (body, v))));
        }
        Ok(Self { world, state, stepper, threads, next: 0, grips: Vec::new(), pins })
    }
    pub fn world(&self) -> &World {
        &self.world
    }
    pub fn state(&self) -> &State {
        &self.state
    }
    pub fn description(&self) -> &Description {
        self.world.description()
    }
    pub fn advance(&mut self) -> FrameReport {
        self.stepper.advance_frame(&self.world, &mut self.state)
    }
    pub fn reset(&mut self) {
        self.state = State::new(&self.world);
        self.grips.clear();
    }
    fn rebuild(&mut self, change: impl FnOnce(&mut Description)) -> Result<(), WorldError> {
        let mut description = self.world.description().clone();
        let before = description.frame_time;
        change(&mut description);
        let ratio = before / description.frame_time;
        let world = World::new(description)?;
        let mut snapshot = self.state.snapshot(&self.world);
        snapshot.frame = (snapshot.frame as f32 * ratio).round() as u32;
        let fresh = State::new(&world).snapshot(&world);
        if fresh.duals.len() != snapshot.duals.len() {
            snapshot.duals = fresh.duals;
        }
        self.state = State::restore(&world, &snapshot).unwrap_or_else(|| State::new(&world));
        self.stepper = Stepper::new(&world, self.threads)?;
        self.world = world;
        Ok(())
    }
    pub fn set_gravity(&mut self, gravity: Vec3) -> Result<(), WorldError> {
        self.rebuild(|d| d.gravity = gravity)
    }
    pub fn set_wind(&mut self, wind: Vec3) -> Result<(), WorldError> {
        self.rebuild(|d| d.air = Air { wind: vec![(0.0, wind)], ..d.air.clone() })
    }
    pub fn set_budget(&mut self, budget: Option<Duration>) -> Result<(), WorldError> {
        self.rebuild(|d| d.solver.budget_ms = budget.map(|b| 1e3 * b.as_secs_f32()))
    }
    pub fn set_frame_time(&mut self, seconds: f32) -> Result<(), WorldError> {
        self.rebuild(|d| d.frame_time = seconds)
    }
    pub fn set_strain_limit(&mut self, body: usize, limit: Limit) -> Result<(), WorldError> {
        self.rebuild(|d| match body.checked_sub(d.cloths.len()) {
            None => d.cloths[body].strain = limit,
            Some(solid) => d.solids[solid].strain = limit,
        })
    }
    pub fn set_bend_limit(&mut self, body: usize, limit: Limit) -> Result<(), WorldError> {
        self.rebuild(|d| d.cloths[body].bend = limit)
    }
    pub fn set_stiffness(&mut self, _body: usize, _factor: f32) -> Result<(), WorldError> {
        Ok(())
    }
    pub fn set_limiter(&mut self, _body: usize, _limiter: Limiter) -> Result<(), WorldError> {
        Ok(())
    }
    pub fn limiter(&self, _body: usize) -> Limiter {
        Limiter::Isotropic
    }
    pub fn grab(
        &mut self,
        body: usize,
        corners: [u32; 3],
        weights: [f32; 3],
        _: Grip,
    ) -> Result<GripId, WorldError> {
        let k = (0..3).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
        self.next += 1;
        let id = GripId(self.next);
        self.grips.push((id, body, corners[k]));
        let now = self.state.positions(&self.world, body)[corners[k] as usize];
        self.state.grab(&self.world, body, corners[k], now)?;
        Ok(id)
    }
    pub fn drag(&mut self, id: GripId, target: Vec3) {
        if let Some(&(_, body, vertex)) = self.grips.iter().find(|g| g.0 == id) {
            let _ = self.state.grab(&self.world, body, vertex, target);
        }
    }
    pub fn release(&mut self, id: GripId) {
        if let Some(&(_, body, vertex)) = self.grips.iter().find(|g| g.0 == id) {
            let _ = self.state.release(&self.world, body, vertex);
        }
        self.grips.retain(|g| g.0 != id);
    }
    pub fn pin(&mut self, body: usize, vertex: u32) -> Result<(), WorldError> {
        let now = self.state.positions(&self.world, body)[vertex as usize];
        self.pins.push((body, vertex));
        self.state.grab(&self.world, body, vertex, now)
    }
    pub fn unpin(&mut self, body: usize, vertex: u32) -> Result<(), WorldError> {
        self.pins.retain(|p| *p != (body, vertex));
        self.state.release(&self.world, body, vertex)
    }
    pub fn pins(&self) -> impl Iterator<Item = (usize, u32)> {
        self.pins.iter().copied()
    }
}
