//! Position-based dynamics: the lecture's algorithm (S2, S3; Müller 2006), for bodies of
//! [`Model::Pbd`](crate::Model::Pbd).
//!
//! ```text
//!  2  loop                                                     a step
//!  3    vᵢ ← vᵢ + Δt wᵢ f_ext(xᵢ)                              predict: gravity, air
//!  4    DampVelocities(v)                                      predict: damping
//!  5    pᵢ ← xᵢ + Δt vᵢ                                        predict
//!  6    CreateCollisionConstraints(xᵢ → pᵢ)                    contact::detect, ObstacleContacts::begin
//!  7    n_s times: ProjectConstraints(C₁ … C_M+Q, p)           project
//!  8    vᵢ ← (pᵢ − xᵢ)/Δt; xᵢ ← pᵢ                             position update of the step
//!  9    VelocityUpdate(v)                                      restitution: ObstacleContacts::respond
//! ```
//!
//! Lines 3 to 5 take the place of the velocity update of a [step](crate::Stepper), lines 6 and 7 that of
//! limiting; all other boxes are those of every step: pins, attachments and grips, what already intersects,
//! the guard at the end that lets nothing pass through, the certificate. What a projection moves a vertex
//! out of a body with mass by, Δp, gives that body the impulse m Δp / Δt (S4).
//!
//! Constraints are equalities ([`constraint`]: edges, hinges, tetrahedra; [`enclosed`]: the volume in closed
//! cloth; [`spring`]: segments with a stiffness in N/m, and springs between bodies) with a stiffness or a
//! compliance; and inequalities with k = 1: limits, which sweeps of [`element`](crate::element) project,
//! seams, and collisions. Differences from the lecture: friction acts inside
//! the projections, by their depth and Coulomb's law, so that a vertex can stick; angles are signed
//! ([`kernel::pbd`](crate::kernel::pbd)); constraints of a kind are projected colour by colour, in a random
//! order of colours, on all threads.
//!
//! Nothing is kept from step to step but positions and velocities.

pub mod build;
pub mod constraint;
pub mod damping;
pub mod enclosed;
pub mod spring;

use crate::{
    World,
    boundary::obstacle_contacts::ObstacleContacts,
    exec::colored::Exec,
    kernel::random::Random,
    limit::{
        Settings,
        contact::Contacts,
        enforce::{Draft, Enforced, Scratch, measure},
    },
    schedule::StepBudget,
    velocity::update::{Motion, add_drag},
};
use constraint::{Constraints, DistanceLanes, Multipliers, RestLanes};
use enclosed::Enclosed;
use spring::Springs;

/// Vertices below which a loop is not shared between threads.
const VERTEX_GRAIN: usize = 1024;

/// Stretch of an edge (1 = at rest) from which on grips yield, in the second half of the iterations: what is
/// held elsewhere cannot follow a pointer that is out of its reach.
const GRIPS_YIELD_AT: f32 = 1.2;

/// All bodies of a world, if it is one of position-based dynamics: one solver for the whole scene.
#[derive(Clone, Debug)]
pub struct PbdTables {
    /// n_s: iterations of a step.
    pub iterations: u32,
    /// k_d of each body.
    damping: Vec<f32>,
    stretch: Constraints<DistanceLanes, 2>,
    bend: Constraints<RestLanes<true>, 4>,
    volume: Constraints<RestLanes<false>, 4>,
    enclosed: Vec<Enclosed>,
    springs: Springs,
}

/// Memory of a step.
#[derive(Clone, Debug, Default)]
pub struct PbdScratch {
    /// λ of stretch, bend and volume.
    multipliers: [Vec<Multipliers>; 3],
    of_enclosed: Vec<f64>,
    of_springs: Vec<f64>,
}

impl PbdTables {
    /// Memory for its steps.
    pub fn scratch(&self) -> PbdScratch {
        let batches = [self.stretch.counts()[1], self.bend.counts()[1], self.volume.counts()[1]];
        PbdScratch {
            multipliers: batches.map(|count| vec![[0.0; _]; count]),
            of_enclosed: vec![0.0; self.enclosed.len()],
            of_springs: vec![0.0; self.springs.count()],
        }
    }

    /// The most colours that one kind of constraint has.
    pub fn most_colors(&self) -> usize {
        let counts = [self.stretch.counts()[0], self.bend.counts()[0], self.volume.counts()[0]];
        counts.into_iter().max().unwrap_or(0)
    }
}

/// Lines 3 to 5: velocities after external forces and damping, over a step of `dt` from `time` \[s\], and the
/// positions that they lead to.
pub(crate) fn predict(world: &World, tables: &PbdTables, exec: Exec, motion: Motion, time: f32, dt: f32) {
    let Motion { x, v, forces, steady, sewn, .. } = motion;
    steady.fill([0.0; 4]);
    add_drag(world, exec, (x, v), forces, steady, [time, dt]);
    sewn.share_forces(&world.sewing, x, steady);
    let gravity = world.description.gravity_at(time);
    for (body, &damping) in world.bodies.iter().zip(&tables.damping) {
        let range = body.vertices.clone();
        let (x, v, forces) = (&mut x[range.clone()], &mut v[range.clone()], &steady[range]);
        let keep = (-body.damping * dt).exp();
        let places = &*x;
        exec.threads.each(v, VERTEX_GRAIN, |first, v| {
            let around = places[first..].iter().zip(&forces[first..]);
            for (v, (x, f)) in v.iter_mut().zip(around).filter(|(_, (x, _))| x[3] > 0.0) {
                for c in 0..3 {
                    v[c] = v[c] * keep + dt * (f[c] * x[3] * world.inverse_mass_unit + gravity[c]);
                }
            }
        });
        if damping > 0.0 {
            damping::damp(x, v, damping);
        }
        let v = &*v;
        exec.threads.each(x, VERTEX_GRAIN, |first, x| {
            for (x, v) in x.iter_mut().zip(&v[first..]) {
                for c in 0..3 {
                    x[c] += dt * v[c];
                }
            }
        });
    }
}

/// Lines 6 and 7: collision constraints of the way from the start of the step to the prediction in `draft`,
/// generated once, and n_s projections of all constraints.
pub(crate) fn project(
    world: &World,
    (tables, settings): (&PbdTables, &Settings),
    draft: Draft,
    obstacle_contacts: &mut ObstacleContacts,
    scratch: &mut Scratch,
    budget: StepBudget,
) -> Enforced {
    let Draft { x, old, poses, grips, springs, .. } = draft;
    let obstacles = &world.description.obstacles;
    let exec = settings.exec();
    let mut random = Random::new(world.description.seed, budget.step);
    let mut contacts = Contacts::begin(world, settings, (old, x), (poses, obstacle_contacts), scratch);
    scratch.pbd.begin();
    let most = tables.iterations.min(budget.iterations);
    let time = world.time_after(budget.step + 1, world.pace(false).dt);
    let mut enforced = Enforced::default();
    while enforced.iterations < most {
        let Scratch { pbd, order, moves, .. } = &mut *scratch;
        let [stretches, bends, volumes] = &mut pbd.multipliers;
        let stretch = tables.stretch.project(exec, x, stretches, &mut random, order);
        tables.bend.project(exec, x, bends, &mut random, order);
        tables.volume.project(exec, x, volumes, &mut random, order);
        for (enclosed, multiplier) in tables.enclosed.iter().zip(&mut pbd.of_enclosed) {
            enclosed.project(exec, time, x, moves, multiplier);
        }
        let is_backward = enforced.iterations % 2 == 1;
        tables.springs.project((old, x), springs.broken, &mut pbd.of_springs, is_backward);
        if !world.elements.is_empty() {
            world.elements.sweep([settings; 2], x, &mut random, order);
        }
        scratch.sewn.project(&world.sewing, x);
        enforced.iterations += 1;
        contacts.meet(settings, scratch, enforced.iterations, x);
        obstacle_contacts.project(settings.threads, obstacles, old, x);
        if budget.is_late() {
            break;
        }
        if stretch > GRIPS_YIELD_AT && 2 * enforced.iterations >= most && !grips.is_empty() {
            grips.give_way(world, x);
        }
    }
    contacts.end(scratch, x);
    obstacle_contacts.expel(settings.threads, obstacles, x);
    measure(world, settings, x, enforced)
}

impl PbdScratch {
    /// Multipliers are those of one step.
    fn begin(&mut self) {
        self.multipliers.iter_mut().flatten().for_each(|batch| batch.fill(0.0));
        self.of_enclosed.fill(0.0);
        self.of_springs.fill(0.0);
    }
}
