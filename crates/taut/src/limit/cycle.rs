//! Nonlinear cycles over coloured sweeps: `Scheme::Cycle` (W10 made to converge).
//!
//! One cycle: every coarse level of a body reads its positions off level 0; from the coarsest on each is
//! swept within its limits, 4·3ᵏ times on level k, and hands what that changed up to the next; then level 0
//! itself is swept. Cycles follow each other until level 0 is within its limits, so it always has the last
//! word, and errors of the coarse limits cost time only.
//!
//! The paper goes through its levels once ([`paper`](super::paper)). What makes repeated passes converge:
//! positions are sampled, not averaged (averages look compressed, and the level would push them apart again
//! every time); sweeps over-relax by half; the coarsest level is not too coarse (about 8 to 12 vertices a
//! side: less is as bad as a stiff metric).
//!
//! Coarse upper limits are those of level 0. Folds that a coarse triangle takes for stretch can make that too
//! tight, yet anything looser ruins convergence. (Where the rest shape is curved they are looser by how much
//! longer the way over the surface is.) Coarse lower limits are the closed-form bounds: without bend limits
//! there are none. Bends are limited on level 0 alone, without over-relaxation. Solids have the same limits
//! on every level: nothing folds inside them.
//!
//! Good for upper limits on sheets; for limits on both sides, shells and pins inside,
//! [`nearest`](super::nearest) is faster and more robust.

use super::{
    Settings,
    contact::Contacts,
    enforce::{Draft, Enforced, Scratch, bend_bound},
    levels::{self, Descent, tables::Levels},
    tuning::levels::{
        BETWEEN_OBSTACLES, CYCLE_GROWTH, CYCLE_RELAXATION, CYCLE_RELAXATION_MOST, CYCLE_SWEEPS,
        CYCLE_SWEEPS_MOST, LOOSEN_FROM,
    },
};
use crate::{
    World,
    boundary::{grip::Grips, obstacle_contacts::ObstacleContacts},
    element::{iterate::sweep, set::Residuals},
    kernel::{lanes::Quad, random::Random},
    schedule::StepBudget,
    term::obstacle::Surroundings,
};

/// Brings the positions of `draft` within the limits of `world`.
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
    let plain = settings;
    let settings = &Settings {
        relaxation: (CYCLE_RELAXATION * settings.relaxation).min(CYCLE_RELAXATION_MOST),
        ..*settings
    };
    let mut random = Random::new(world.description.seed, budget.step);
    let shallow = 0.01 * world.edge_length;
    let tolerance = world.aim.bound();
    let bend_tolerance = bend_bound(solver.bend_tolerance);
    let late = || budget.is_late();

    let mut contacts = Contacts::begin(world, plain, (old, x), (poses, obstacle_contacts), scratch);
    let mut enforced = Enforced::default();
    let mut passes = 0;
    'cycles: loop {
        for _ in 0..CYCLE_SWEEPS {
            let Residuals { strain, bend } =
                world.elements.sweep([settings, plain], x, &mut random, &mut scratch.order);
            scratch.sewn.project(&world.sewing, x);
            enforced.iterations += 1;
            let is_apart = contacts.meet(settings, scratch, enforced.iterations, x);
            let depth = obstacle_contacts.project(settings.threads, obstacles, old, x);
            let near = strain <= 2.0 * tolerance && bend <= 2.0 * bend_tolerance;
            if near && depth <= shallow && is_apart {
                enforced.take(world.elements.residuals(settings, x));
                enforced.converged = enforced.residual <= tolerance && enforced.bend <= bend_tolerance;
                if enforced.converged {
                    break 'cycles;
                }
            }
            if enforced.iterations >= budget.iterations || late() {
                break 'cycles;
            }
        }
        if enforced.iterations >= LOOSEN_FROM && !grips.is_empty() {
            grips.give_way(world, x);
        }
        if passes == solver.passes && solver.passes > 0 {
            break;
        }
        passes += 1;
        let Scratch { levels, solid_levels, order, .. } = &mut *scratch;
        let mut sweeps = Sweeps { settings, tolerance, grips, random: &mut random, order };
        for (body, (memory, holding)) in world.levels.iter().zip(levels) {
            let body = holding.of(body);
            let around = Surroundings { obstacles, obstacle_contacts, old: &old[body.vertices.clone()] };
            sweeps.pass(body, &mut x[body.vertices.clone()], &around, memory);
        }
        for (body, (memory, holding)) in world.solid_levels.iter().zip(solid_levels) {
            let body = holding.of(body);
            let around = Surroundings { obstacles, obstacle_contacts, old: &old[body.vertices.clone()] };
            sweeps.pass(body, &mut x[body.vertices.clone()], &around, memory);
        }
    }
    let touches = contacts.end(scratch, x);
    obstacle_contacts.expel(settings.threads, obstacles, x);
    if !enforced.converged || !obstacles.is_empty() || touches {
        enforced.take(world.elements.residuals(settings, x));
        enforced.converged = enforced.residual <= world.aim.tolerance && enforced.bend <= bend_tolerance;
    }
    enforced
}

/// Sweeps of coarse levels.
struct Sweeps<'a> {
    settings: &'a Settings<'a>,
    tolerance: f32,
    grips: &'a Grips,
    random: &'a mut Random,
    order: &'a mut Vec<u32>,
}

impl Sweeps<'_> {
    /// One pass over the coarse levels of a body.
    fn pass<const K: usize>(
        &mut self,
        body: &Levels<K>,
        x: &mut [Quad],
        around: &Surroundings,
        memory: &mut levels::Scratch,
    ) {
        let Self { settings, tolerance, grips, random, order } = self;
        let (enough, first) = (0.1 * *tolerance, body.vertices.start);
        body.pass(settings, Descent::Sample, x, around, memory, |level, tables, x, round| {
            let all =
                CYCLE_SWEEPS.saturating_mul(CYCLE_GROWTH.saturating_pow(level as u32)).min(CYCLE_SWEEPS_MOST);
            if round == 0 {
                tables.weigh(grips, first, x);
            }
            let done = round * BETWEEN_OBSTACLES;
            let limited = &tables.limited;
            let mut met = 0.0;
            for _ in done..all.min(done + BETWEEN_OBSTACLES) {
                let strain = sweep(settings, &limited.strain, x, random, order);
                met = strain.max(sweep(settings, &limited.solid, x, random, order));
                if met <= enough {
                    break;
                }
            }
            met > enough && done + BETWEEN_OBSTACLES < all
        });
    }
}
