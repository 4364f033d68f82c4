//! The multi-resolution solver as published: `Scheme::Paper` (section 4.3 of the paper, W10). The baseline.
//!
//! One pass over four levels, or `solver.levels`. Displacements of the step are downsampled by averaging;
//! the coarsest level is iterated, what that changed is upsampled, and so on to level 0. Each level gets
//! 128 iterations, or `solver.level_iterations` (Table 1: 128 for cloth, up to 256 for larger meshes),
//! fewer if none of its elements is further outside than the tolerance. Elements go one by one in random
//! order on one thread: all triangles or tetrahedra for their strain (Eq. 4), then all for their bend, with
//! the compensation of section 3.1.4. Boundary conditions act in every iteration of level 0 and, since they
//! are formulated on the base mesh, every eighth of coarser ones. Cloth is kept from cloth likewise, on
//! coarser levels by their own meshes ([`contact`](super::contact)).
//!
//! One pass is all that was published. `solver.passes` allows more of them, until the tolerance is met, to
//! tell what the same residual would take.

use super::{
    Settings, bend_paper,
    contact::Contacts,
    enforce::{Draft, Enforced, Scratch, bend_bound},
    levels::{self, Descent, tables::Levels},
    tuning::levels::{BETWEEN_OBSTACLES, LOOSEN_EVERY, LOOSEN_FROM},
};
use crate::{
    Projection, World,
    boundary::{grip::Grips, obstacle_contacts::ObstacleContacts},
    element::iterate::serial,
    kernel::{lanes::Quad, random::Random},
    schedule::StepBudget,
    term::obstacle::Surroundings,
};

/// Brings the positions of `draft` nearer to the limits of `world`.
pub fn enforce(
    world: &World,
    settings: &Settings,
    draft: Draft,
    obstacle_contacts: &mut ObstacleContacts,
    scratch: &mut Scratch,
    budget: StepBudget,
) -> Enforced {
    let Draft { x, old, poses, grips, .. } = draft;
    let solver = &world.description.solver;
    let obstacles = &world.description.obstacles;
    let settings = &Settings { projection: Projection::Paper, ..*settings };
    let mut random = Random::new(world.description.seed, budget.step);
    let tolerance = world.aim.bound();
    let shallow = 0.01 * world.edge_length;
    let bend_tolerance = solver.bend_tolerance.to_radians();
    let late = || budget.is_late();

    let mut contacts = Contacts::begin(world, settings, (old, x), (poses, obstacle_contacts), scratch);
    let mut enforced = Enforced::default();
    for _ in 0..solver.passes.max(1) {
        let Scratch { levels, solid_levels, order, .. } = &mut *scratch;
        let mut coarse = Coarse {
            settings,
            tolerance,
            bend_tolerance,
            most: solver.level_iterations,
            grips,
            budget,
            random: &mut random,
            order,
        };
        for (body, (memory, holding)) in world.levels.iter().zip(levels) {
            let body = holding.of(body);
            let around = Surroundings { obstacles, obstacle_contacts, old: &old[body.vertices.clone()] };
            coarse.pass(body, &mut x[body.vertices.clone()], &around, memory);
        }
        for (body, (memory, holding)) in world.solid_levels.iter().zip(solid_levels) {
            let body = holding.of(body);
            let around = Surroundings { obstacles, obstacle_contacts, old: &old[body.vertices.clone()] };
            coarse.pass(body, &mut x[body.vertices.clone()], &around, memory);
        }
        for _ in 0..solver.level_iterations {
            let order = &mut scratch.order;
            let met = world.elements.serial(settings, false, x, &mut random, order).strain;
            let bent = bend_paper::iterate(&world.bend_triangles, x, settings.relaxation, &mut random, order);
            scratch.sewn.project(&world.sewing, x);
            enforced.iterations += 1;
            let is_apart = contacts.meet(settings, scratch, enforced.iterations, x);
            let depth = obstacle_contacts.project(settings.threads, obstacles, old, x);
            let within = met <= tolerance && bent <= bend_tolerance && depth <= shallow && is_apart;
            if within || enforced.iterations >= budget.iterations || late() {
                break;
            }
            if enforced.iterations >= LOOSEN_FROM
                && enforced.iterations % LOOSEN_EVERY == 0
                && !grips.is_empty()
            {
                grips.give_way(world, x);
            }
        }
        enforced.take(world.elements.residuals(settings, x));
        enforced.converged =
            enforced.residual <= tolerance && enforced.bend <= bend_bound(solver.bend_tolerance);
        if enforced.converged || enforced.iterations >= budget.iterations || late() {
            break;
        }
    }
    let touches = contacts.end(scratch, x);
    obstacle_contacts.expel(settings.threads, obstacles, x);
    if !obstacles.is_empty() || touches {
        enforced.take(world.elements.residuals(settings, x));
        enforced.converged =
            enforced.residual <= world.aim.tolerance && enforced.bend <= bend_bound(solver.bend_tolerance);
    }
    enforced
}

/// Iterations of coarse levels.
struct Coarse<'a> {
    settings: &'a Settings<'a>,
    tolerance: f32,
    /// \[rad\]
    bend_tolerance: f32,
    /// Most iterations on a level.
    most: u32,
    grips: &'a Grips,
    budget: StepBudget,
    random: &'a mut Random,
    order: &'a mut Vec<u32>,
}

impl Coarse<'_> {
    /// One pass over the coarse levels of a body.
    fn pass<const K: usize>(
        &mut self,
        body: &Levels<K>,
        x: &mut [Quad],
        around: &Surroundings,
        memory: &mut levels::Scratch,
    ) {
        let Self { settings, tolerance, bend_tolerance, most, grips, budget, random, order } = self;
        let first = body.vertices.start;
        body.pass(settings, Descent::Average, x, around, memory, |_, tables, x, round| {
            if round == 0 {
                tables.weigh(grips, first, x);
            }
            let limited = &tables.limited;
            let done = round * BETWEEN_OBSTACLES;
            for _ in done..(done + BETWEEN_OBSTACLES).min(*most) {
                let met = serial(settings, &limited.triangles, x, random, order);
                let met = met.max(serial(settings, &limited.tetrahedra, x, random, order));
                let bent = bend_paper::iterate(&limited.bend, x, settings.relaxation, random, order);
                if met <= *tolerance && bent <= *bend_tolerance || budget.is_late() {
                    return false;
                }
            }
            (round + 1) * BETWEEN_OBSTACLES < *most
        });
    }
}
