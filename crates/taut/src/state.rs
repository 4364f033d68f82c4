//! What changes while a simulation runs.

use glam::Vec3;

use crate::{
    World,
    boundary::{
        grip::Grips,
        hold::{Caught, PinOverride},
        rigid::RigidState,
    },
    contact::intersection::Piercing,
    kernel::lanes::Quad,
};

/// Positions and velocities, and how far the simulation has come.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) frame: u32,
    /// Positions \[m\] and inverse masses, in the engine's order, with a spare vertex after those of cloth,
    /// and those of mesh obstacles after that.
    pub(crate) x: Vec<Quad>,
    /// Velocities \[m/s\].
    pub(crate) v: Vec<Quad>,
    /// Mean velocities over the last step \[m/s\]: what the certificate reports. (`v` runs half a step ahead
    /// of positions under a steady load, as leap-frog's velocities do.)
    pub(crate) mean_v: Vec<Quad>,
    /// What the filters keep from one step to the next.
    pub(crate) duals: Vec<f32>,
    /// Where pins caught their vertices.
    pub(crate) caught: Caught,
    /// Pin overrides of the caller, by the engine's vertex.
    pub(crate) pin_overrides: Vec<(u32, PinOverride)>,
    /// Grips.
    pub(crate) grips: Grips,
    /// Rigid bodies.
    pub(crate) rigid: Vec<RigidState>,
    /// Their mean velocities over the last step \[m/s\], \[rad/s\].
    pub(crate) mean_rigid: Vec<[Vec3; 2]>,
    /// What the integrator keeps of the step before.
    pub(crate) history: History,
    /// Intersections, if they are known; empty once everything is separated.
    pub(crate) piercings: Option<Vec<Piercing>>,
}

/// Positions and velocities at the start of the last step, which
/// [`Integrator::Bdf2`](crate::Integrator::Bdf2) continues.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// Position \[m\] and velocity \[m/s\] of every vertex, in the engine's order.
    pub steps: Vec<[Quad; 2]>,
    /// Whether there was such a step. If not, the next one is of backward Euler.
    pub is_known: bool,
}

/// All of a [`State`] that is needed to resume it bit-identically, in the caller's vertex order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Frames simulated so far.
    pub frame: u32,
    /// Positions of all bodies, one body after the other \[m\].
    pub positions: Vec<Vec3>,
    /// Velocities likewise \[m/s\].
    pub velocities: Vec<Vec3>,
    /// Positions at the start of the last step \[m\], and velocities \[m/s\], likewise; both empty if there
    /// was none, or for integrators that do not use them.
    pub history: [Vec<Vec3>; 2],
    /// What the limiter keeps from one step to the next, in an order of its own; empty for schemes that keep
    /// nothing.
    pub duals: Vec<f32>,
    /// Where pins that have begun since the start caught their vertices, in an order of the world's \[m\].
    pub caught: Vec<Vec3>,
    /// Pin overrides: vertices that the caller holds or keeps free.
    pub pin_overrides: Vec<PinOverride>,
    /// Rigid bodies.
    pub rigid: Vec<RigidState>,
}

impl State {
    /// The start state (frame 0).
    pub fn new(world: &World) -> Self {
        let mut v = vec![[0.0; 4]; world.start.len()];
        for (described, body) in world.description.bodies.iter().zip(&world.bodies) {
            let [x, y, z] = described.velocity().to_array();
            v[body.vertices.clone()].fill([x, y, z, 0.0]);
        }
        for pin in world.pins_during(0) {
            v[world.pins[pin].vertex as usize] = [0.0; 4];
        }
        let duals = vec![0.0; world.dual_count()];
        let (caught, pin_overrides) = (Caught::new(world), Vec::new());
        let rigid: Vec<_> = world.description.rigid_bodies.iter().map(|body| body.start()).collect();
        let mean_rigid = rigid.iter().map(velocities_of).collect();
        let (x, mean_v) = (world.start.clone(), v.clone());
        let history = History { steps: vec![[[0.0; 4]; 2]; x.len()], is_known: false };
        Self {
            frame: 0,
            x,
            mean_v,
            v,
            duals,
            caught,
            pin_overrides,
            grips: Grips::default(),
            rigid,
            mean_rigid,
            history,
            piercings: None,
        }
    }

    /// Whether it has as many vertices, duals and rigid bodies as a state of `world`.
    pub fn fits(&self, world: &World) -> bool {
        self.x.len() == world.start.len()
            && self.duals.len() == world.dual_count()
            && self.rigid.len() == world.description.rigid_bodies.len()
    }

    /// Frames simulated so far; 0 at the start.
    pub fn frame(&self) -> u32 {
        self.frame
    }

    /// Positions of body `body` in the caller's vertex order \[m\].
    pub fn positions(&self, world: &World, body: usize) -> Vec<Vec3> {
        in_callers_order(world, body, &self.x)
    }

    /// Mean velocities of body `body` over the last step, in the caller's vertex order \[m/s\].
    pub fn velocities(&self, world: &World, body: usize) -> Vec<Vec3> {
        in_callers_order(world, body, &self.mean_v)
    }

    /// Rigid bodies, in the order of the description.
    pub fn rigid_bodies(&self) -> &[RigidState] {
        &self.rigid
    }

    /// Mean velocity \[m/s\] and angular velocity \[rad/s\] of rigid body `body` over the last step.
    pub fn rigid_velocities(&self, body: usize) -> [Vec3; 2] {
        self.mean_rigid[body]
    }

    /// What must be kept to go on from here.
    pub fn snapshot(&self, world: &World) -> Snapshot {
        let all = |quads: &[Quad]| {
            (0..world.bodies.len()).flat_map(|b| in_callers_order(world, b, quads)).collect()
        };
        Snapshot {
            frame: self.frame,
            positions: all(&self.x),
            velocities: all(&self.v),
            history: if self.history.is_known {
                [0, 1].map(|k| all(&self.history.steps.iter().map(|step| step[k]).collect::<Vec<_>>()))
            } else {
                Default::default()
            },
            duals: self.duals.clone(),
            caught: self.caught.places_at(world, self.frame),
            pin_overrides: self.pin_overrides().collect(),
            rigid: self.rigid.clone(),
        }
    }

    /// The state that `snapshot` was taken of, or `None` if it does not fit `world` (count, finiteness).
    pub fn restore(world: &World, snapshot: &Snapshot) -> Option<Self> {
        let fits =
            |values: &[Vec3]| values.len() == world.vertex_count && values.iter().all(|p| p.is_finite());
        if !fits(&snapshot.positions) || !fits(&snapshot.velocities) {
            return None;
        }
        let [places, speeds] = &snapshot.history;
        let has_history = !places.is_empty() || !speeds.is_empty();
        if has_history && !(fits(places) && fits(speeds)) {
            return None;
        }
        if snapshot.duals.len() != world.dual_count() || snapshot.duals.iter().any(|d| !d.is_finite()) {
            return None;
        }
        let rigid = &snapshot.rigid;
        if rigid.len() != world.description.rigid_bodies.len() || !rigid.iter().all(RigidState::is_finite) {
            return None;
        }
        let mut state = Self::new(world);
        state.rigid.clone_from(rigid);
        state.mean_rigid = rigid.iter().map(velocities_of).collect();
        state.duals.copy_from_slice(&snapshot.duals);
        state.frame = snapshot.frame;
        state.caught = Caught::restored(world, snapshot.frame, &snapshot.caught)?;
        for pin in &snapshot.pin_overrides {
            let place = world.place_of(pin.vertex).filter(|_| pin.target.is_none_or(Vec3::is_finite))?;
            state.override_pin((pin.vertex, place), pin.target);
        }
        for body in &world.bodies {
            for (k, &v) in body.order().iter().enumerate() {
                let (to, from) = (body.vertices.start + k, body.vertices.start + v as usize);
                state.x[to][..3].copy_from_slice(&snapshot.positions[from].to_array());
                state.v[to][..3].copy_from_slice(&snapshot.velocities[from].to_array());
                for (own, values) in state.history.steps[to].iter_mut().zip(&snapshot.history) {
                    if let Some(value) = values.get(from) {
                        own[..3].copy_from_slice(&value.to_array());
                    }
                }
            }
        }
        state.history.is_known = has_history;
        world.place_fixtures(world.time_of_frame(snapshot.frame), &mut state.x);
        state.mean_v.clone_from(&state.v);
        Some(state)
    }
}

fn velocities_of(body: &RigidState) -> [Vec3; 2] {
    [body.velocity, body.angular_velocity]
}

pub(crate) fn in_callers_order(world: &World, body: usize, quads: &[Quad]) -> Vec<Vec3> {
    let body = &world.bodies[body];
    body.embedding.points_of(&quads[body.vertices.clone()])
}
