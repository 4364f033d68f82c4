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
    term::pressure::PRESSURE,
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
    /// What strands of hair keep, hair by hair.
    pub(crate) strands: Vec<f32>,
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
    /// Which springs are broken, in the order of the world's.
    pub(crate) broken: Vec<bool>,
    /// What the integrator keeps of the step before.
    pub(crate) history: History,
    /// Intersections, if they are known; empty once everything is separated.
    pub(crate) piercings: Option<Vec<Piercing>>,
    /// Whether the next frame begins with the steps of cloth that nothing is near, where the world has such.
    /// History and duals are those of such steps then.
    pub(crate) is_alone: bool,
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

impl History {
    /// What stands for no step before, of a single vertex: where it is now, and with the same velocity.
    pub fn anew(x: &Quad, v: &Quad) -> [Quad; 2] {
        [*x, *v]
    }

    /// Whether the next step of a vertex is one of backward Euler.
    pub fn is_anew([past_x, past_v]: &[Quad; 2], x: &Quad, v: &Quad) -> bool {
        past_x[..3] == x[..3] && past_v[..3] == v[..3]
    }

    /// Changes it to that of steps of another length: where vertices that are at `x` with `v` now were
    /// `share` of the time `span` \[s\] ago, if they were at `began` that time ago (`None`: the history says
    /// so), by cubic interpolation. Those that begin anew still do.
    fn resample(&mut self, (x, v): (&[Quad], &[Quad]), began: Option<&[[Quad; 2]]>, [span, share]: [f64; 2]) {
        let t = 1.0 - share;
        for (i, step) in self.steps.iter_mut().enumerate() {
            if Self::is_anew(step, &x[i], &v[i]) {
                continue;
            }
            let began = began.map_or(*step, |began| began[i]);
            for k in 0..3 {
                let [x0, v0, x1, v1] = [began[0][k], began[1][k], x[i][k], v[i][k]].map(f64::from);
                let back = x0 - x1;
                let place = share * share * (1.0 + 2.0 * t) * back
                    + span * (t * share * share * v0 - t * t * share * v1);
                let speed = t * (3.0 * t - 2.0) * v1 - share * (3.0 * t - 1.0) * v0;
                step[0][k] = (x1 + place) as f32;
                step[1][k] = (speed - 6.0 * t * share * back / span) as f32;
            }
        }
    }
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
    /// What the limiter, and behind that strands of hair, keep from one step to the next, in an order of its
    /// own; empty for schemes that keep nothing.
    pub duals: Vec<f32>,
    /// Where pins that have begun since the start caught their vertices, in an order of the world's \[m\].
    pub caught: Vec<Vec3>,
    /// Pin overrides: vertices that the caller holds or keeps free.
    pub pin_overrides: Vec<PinOverride>,
    /// Rigid bodies.
    pub rigid: Vec<RigidState>,
    /// Whether the next frame begins with the steps of cloth that nothing is near.
    pub is_alone: bool,
    /// Springs that are broken, ascending: segments of particles, body by body, then those of the
    /// description.
    pub broken: Vec<u32>,
}

impl State {
    /// The start state (frame 0).
    pub fn new(world: &World) -> Self {
        let mut v = vec![[0.0; 4]; world.start.len()];
        for (described, body) in world.description.bodies.iter().zip(&world.bodies) {
            let [x, y, z] = described.velocity().to_array();
            v[body.vertices.clone()].fill([x, y, z, 0.0]);
        }
        for pin in world.pins_during(0).filter(|&pin| world.pins[pin].spring.is_none()) {
            v[world.pins[pin].vertex as usize] = [0.0; 4];
        }
        let duals = vec![0.0; world.dual_count()];
        let (caught, pin_overrides) = (Caught::new(world), Vec::new());
        let rigid: Vec<_> = world.description.rigid_bodies.iter().map(|body| body.start()).collect();
        let mean_rigid = rigid.iter().map(velocities_of).collect();
        let (x, mean_v) = (world.start.clone(), v.clone());
        let history = History { steps: vec![[[0.0; 4]; 2]; x.len()], is_known: false };
        let mut state = Self {
            frame: 0,
            x,
            mean_v,
            v,
            duals,
            strands: Vec::new(),
            caught,
            pin_overrides,
            grips: Grips::with_springs(world.pins.iter().filter(|pin| pin.spring.is_some()).count()),
            rigid,
            mean_rigid,
            broken: vec![false; world.springs.len()],
            history,
            piercings: None,
            is_alone: world.has_alone(),
        };
        state.begin_strands(&world.hair, None);
        state
    }

    /// Goes on with the steps of cloth that nothing is near, or with the usual ones. `began`: positions and
    /// velocities at the start of the last frame, if that had the usual ones.
    pub(crate) fn set_alone(&mut self, world: &World, is_alone: bool, began: &[[Quad; 2]]) {
        let [from, to] = [self.is_alone, is_alone].map(|alone| f64::from(world.pace(alone).dt));
        let ends = (&self.x[..], &self.v[..]);
        if is_alone {
            let frame = f64::from(world.description.frame_time);
            self.history.resample(ends, Some(began), [frame, to / frame]);
        } else {
            self.history.resample(ends, None, [from, to / from]);
        }
        // Duals are forces times the square of a step.
        let factor = (to / from).powi(2) as f32;
        self.duals.iter_mut().for_each(|dual| *dual *= factor);
        // They are in units of κ, which follows the load of a pressure.
        let loads = [self.is_alone, is_alone].map(|alone| world.pace(alone).filters.iter().map(|f| f.load));
        let [before, after] = loads;
        let mut first = 0;
        for (filter, (before, after)) in world.filters().iter().zip(before.zip(after)) {
            let own = first..first + filter.kept_count();
            if before != after {
                let pressures = filter.kept_by(PRESSURE);
                let others = own.clone().filter(|k| !pressures.contains(&(k - first)));
                others.for_each(|k| self.duals[k] *= before / after);
            }
            first = own.end;
        }
        self.is_alone = is_alone;
    }

    /// Vertices `range` have no step behind them that could be continued.
    pub(crate) fn begin_anew(&mut self, range: std::ops::Range<usize>) {
        for vertex in range {
            self.history.steps[vertex] = History::anew(&self.x[vertex], &self.v[vertex]);
        }
    }

    /// The last step was cut short after `share` of its iterations, far from its solution: continued, its
    /// error and the forces that limits ended with would grow from step to step. Steps of the edge model,
    /// whose pulls are the last of the duals, have few iterations anyway.
    pub(crate) fn forget_step(&mut self, world: &World, share: f32) {
        self.history.is_known = false;
        let kept = self.duals.len() - world.pull_count();
        self.duals[..kept].iter_mut().for_each(|dual| *dual *= share);
    }

    /// Whether it has as many vertices, duals and rigid bodies as a state of `world`.
    pub fn fits(&self, world: &World) -> bool {
        self.x.len() == world.start.len()
            && self.duals.len() == world.dual_count()
            && self.strands.len() == world.strand_count()
            && self.rigid.len() == world.description.rigid_bodies.len()
            && self.broken.len() == world.springs.len()
    }

    /// Which springs are broken: segments of particles, body by body, then those of the description.
    pub fn broken_springs(&self) -> &[bool] {
        &self.broken
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

    /// Pressures inside closed cloth in the last step, in the order of its cloths \[Pa\]; 0 before the first.
    pub(crate) fn pressures(&self, world: &World) -> Vec<f64> {
        let pace = world.pace(self.is_alone);
        let (mut pressures, mut first) = (Vec::with_capacity(world.bags.len()), 0);
        for filter in &pace.filters {
            let kept = filter.kept_by(PRESSURE).map(|k| first + k);
            // Kept as forces are, times the square of a step.
            pressures.extend(kept.map(|k| f64::from(self.duals[k]) / f64::from(pace.dt).powi(2)));
            first += filter.kept_count();
        }
        pressures
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
            duals: [&self.duals[..], &self.strands].concat(),
            caught: self.caught.places_at(world, self.frame),
            pin_overrides: self.pin_overrides().collect(),
            rigid: self.rigid.clone(),
            is_alone: self.is_alone,
            broken: (0..).zip(&self.broken).filter(|(_, broken)| **broken).map(|(k, _)| k).collect(),
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
        let duals = &snapshot.duals;
        if duals.len() != world.dual_count() + world.strand_count() || duals.iter().any(|d| !d.is_finite()) {
            return None;
        }
        let (duals, strands) = duals.split_at(world.dual_count());
        let rigid = &snapshot.rigid;
        if rigid.len() != world.description.rigid_bodies.len() || !rigid.iter().all(RigidState::is_finite) {
            return None;
        }
        let mut state = Self::new(world);
        state.rigid.clone_from(rigid);
        state.mean_rigid = rigid.iter().map(velocities_of).collect();
        state.duals.copy_from_slice(duals);
        state.strands.copy_from_slice(strands);
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
        if snapshot.is_alone && !world.has_alone() {
            return None;
        }
        state.history.is_known = has_history;
        state.is_alone = snapshot.is_alone;
        for &spring in &snapshot.broken {
            *state.broken.get_mut(spring as usize)? = true;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Constant acceleration: where a vertex is after `time`, and how fast.
    fn flown(time: f32) -> [Quad; 2] {
        [[1.0 + 2.0 * time - 4.9 * time * time, 0.0, 3.0, 1.0], [2.0 - 9.8 * time, 0.0, 0.0, 0.0]]
    }

    #[test]
    fn a_history_of_other_steps_is_where_vertices_were_then() {
        let near = |a: [Quad; 2], b: [Quad; 2]| {
            a.as_flattened().iter().zip(b.as_flattened()).all(|(a, b)| (a - b).abs() < 1e-5)
        };
        let [x, v] = flown(1.0);
        let mut history = History { steps: vec![flown(0.0)], is_known: true };
        history.resample((&[x], &[v]), None, [1.0, 0.25]);
        assert!(near(history.steps[0], flown(0.75)), "{:?}", history.steps);
        history.resample((&[x], &[v]), Some(&[flown(0.0)]), [1.0, 1.0]);
        assert!(near(history.steps[0], flown(0.0)), "{:?}", history.steps);
    }

    #[test]
    fn what_begins_anew_still_does() {
        let [x, v] = flown(1.0);
        let mut history = History { steps: vec![History::anew(&x, &v)], is_known: true };
        history.resample((&[x], &[v]), Some(&[flown(0.0)]), [1.0, 1.0]);
        assert!(History::is_anew(&history.steps[0], &x, &v));
    }
}
