//! The second paper's solver, for cloth with the model "edge" (T1, T3, T4, T6; its Algorithms 1 and 2).
//!
//! Edges alone are limited, on three to five levels. Every level reads its positions off the cloth; from the
//! coarsest on each is iterated within its limits, so many times, and hands what that *changed* up to the
//! next: never its positions, so that folds which it cannot see stay. Then the cloth itself is iterated,
//! bends with it, pulls of its edges kept from step to step ([`edge_pull`](super::edge_pull)), vertices the
//! heavier the nearer they are to pins ([`edge_weight`](super::edge_weight)). An iteration is one
//! Gauss–Seidel sweep over edges in random order of their colours; boundary conditions act in each of the
//! cloth's, and in every eighth of coarser levels. A frame has a fixed number of iterations on each level, or
//! fewer where limits hold. They are shared out between short steps: limits that gravity breaks in a tenth of
//! the time are broken by a hundredth as much, and few iterations do.
//!
//! Pins are held at every level ([`levels`](super::levels)), those of the user too, and so are grips: the
//! coarse vertex next to them is moved onto them, or one is inserted.

use super::{
    Settings,
    contact::{Contacts, LevelGap},
    edge_pull::{begin_pulls, sweep_pulls},
    edge_weight::Heavier,
    enforce::{Draft, Enforced, Scratch, bend_bound},
    levels::{
        Descent, Scratch as LevelScratch,
        edges::EdgeLimits,
        parts::{Holding, Leveled},
    },
    tuning::edge_model::{BETWEEN_OBSTACLES, TORN},
};
use crate::{
    World,
    boundary::{grip::Grips, obstacle_contacts::ObstacleContacts},
    element::{
        edge::EdgeLanes,
        hinge::HingeLimitLanes,
        iterate::{residual, sweep},
        set::Residuals,
    },
    exec::colored::Colored,
    kernel::{lanes::Quad, random::Random},
    schedule::StepBudget,
    term::obstacle::Surroundings,
};

/// All cloth of the model.
#[derive(Clone, Debug, Default)]
pub struct EdgeModelTables {
    /// Edges of all such cloth.
    pub edges: Colored<EdgeLanes, 2>,
    /// Hinges with limits.
    pub bends: Colored<HingeLimitLanes, 4>,
    /// One for each such cloth.
    pub bodies: Vec<EdgeBody>,
}

impl EdgeModelTables {
    /// The largest residuals; nothing moves.
    pub(crate) fn residuals(&self, settings: &Settings, x: &[Quad]) -> Residuals {
        Residuals { strain: residual(settings, &self.edges, x), bend: residual(settings, &self.bends, x) }
    }
}

/// One cloth of the model.
#[derive(Clone, Debug)]
pub struct EdgeBody {
    /// Its coarse levels.
    pub leveled: Leveled<EdgeLimits>,
    /// Its triangles, of vertices within it.
    pub triangles: Vec<[u32; 3]>,
    /// Iterations on each level in a frame.
    pub iterations: u32,
}

/// Memory of one such cloth.
#[derive(Debug)]
pub struct EdgeScratch {
    memory: LevelScratch,
    /// Levels for what is held beside the pins of the scene.
    pub(super) holding: Holding,
    /// All that is held, and what weighs more because of it.
    around: Vec<u32>,
    heavier: Heavier,
}

impl EdgeScratch {
    /// For `body`, whose levels collide with themselves if they have a `gap`.
    pub fn new(body: &EdgeBody, gap: Option<LevelGap>) -> Self {
        Self {
            memory: body.leveled.levels.scratch(gap),
            holding: Holding::default(),
            around: Vec::new(),
            heavier: Heavier::default(),
        }
    }

    /// Levels for what is held beside the pins of the scene.
    #[cfg(test)]
    pub(crate) fn holding(&self) -> &Holding {
        &self.holding
    }

    /// Makes levels again when a step needs them: their limits have changed.
    pub(crate) fn forget_levels(&mut self) {
        self.holding.forget();
    }

    /// Makes levels and weights for what is held now: those with no inverse mass in `x`, and grips. Allocates
    /// only where that is something else than before.
    pub(crate) fn hold(&mut self, body: &EdgeBody, x: &[Quad], grips: &Grips, gap: Option<LevelGap>) {
        if self.holding.hold(&body.leveled, x, grips) {
            self.memory = self.holding.of(&body.leveled).scratch(gap);
        }
        if self.holding.held() != self.around {
            self.around.clear();
            self.around.extend(self.holding.held());
            self.heavier = Heavier::new(body.leveled.parts.vertices.len(), &body.triangles, &self.around);
        }
    }
}

/// Brings the positions of all cloth of the model in `draft` nearer to their limits.
pub(crate) fn enforce(
    world: &World,
    settings: &Settings,
    draft: Draft,
    obstacle_contacts: &mut ObstacleContacts,
    scratch: &mut Scratch,
    budget: StepBudget,
) -> Enforced {
    let Draft { x, old, duals, poses, grips, .. } = draft;
    let (solver, tables) = (&world.description.solver, &world.edge_model);
    let obstacles = &world.description.obstacles;
    let mut random = Random::new(world.description.seed, budget.step);
    let tolerance = world.aim.bound();
    let bend_tolerance = bend_bound(solver.bend_tolerance);
    let shallow = 0.01 * world.edge_length;

    let share = |body: &EdgeBody| world.schedule.share_of_iterations(body.iterations, budget.step);
    let kept = duals.len() - world.pull_count();
    let (pulls, _) = duals[kept..].as_chunks_mut();
    for (body, EdgeScratch { heavier, .. }) in tables.bodies.iter().zip(&mut scratch.edge_model) {
        heavier.begin(&mut x[body.leveled.parts.vertices.clone()]);
    }
    begin_pulls(settings, &tables.edges, pulls, x, &mut scratch.moves);
    for (body, EdgeScratch { memory, holding, .. }) in tables.bodies.iter().zip(&mut scratch.edge_model) {
        let levels = holding.of(&body.leveled);
        let vertices = levels.vertices.clone();
        let first = vertices.start;
        let around = Surroundings { obstacles, obstacle_contacts, old: &old[vertices.clone()] };
        let (order, iterations) = (&mut scratch.order, share(body));
        levels.pass(settings, Descent::Sample, &mut x[vertices], &around, memory, |_, level, x, round| {
            if round == 0 {
                level.weigh(grips, first, x);
            }
            let done = round * BETWEEN_OBSTACLES;
            let most = iterations.min(done + BETWEEN_OBSTACLES);
            for _ in done..most {
                let met = sweep(settings, &level.limited.edges, x, &mut random, order);
                if met <= tolerance || budget.is_late() {
                    return false;
                }
            }
            most < iterations
        });
    }

    let mut contacts = Contacts::begin(world, settings, (old, x), (poses, obstacle_contacts), scratch);
    let most = tables.bodies.iter().map(share).max().unwrap_or(0).min(budget.iterations);
    let mut enforced = Enforced::default();
    while enforced.iterations < most {
        let met = sweep_pulls(settings, &tables.edges, pulls, x, &mut random, &mut scratch.order);
        let bent = sweep(settings, &tables.bends, x, &mut random, &mut scratch.order);
        enforced.iterations += 1;
        let is_apart = contacts.meet(settings, scratch, enforced.iterations, x);
        let depth = obstacle_contacts.project(settings.threads, obstacles, old, x);
        let within = met <= tolerance && bent <= bend_tolerance && is_apart;
        if within && depth <= shallow || budget.is_late() {
            break;
        }
        // From the second half on, limits win against grips, but for what a sheet that only hangs leaves of
        // them.
        let torn = met > TORN * tolerance || bent > TORN * bend_tolerance;
        if torn && 2 * enforced.iterations >= most {
            grips.give_way(world, x);
        }
    }
    contacts.end(scratch, x);
    obstacle_contacts.expel(settings.threads, obstacles, x);
    for (body, EdgeScratch { heavier, .. }) in tables.bodies.iter().zip(&scratch.edge_model) {
        heavier.end(&mut x[body.leveled.parts.vertices.clone()]);
    }
    enforced
}
