//! The loop that enforces all limits of a step: iterations of the chosen scheme, boundary conditions inside each of
//! them, until tolerance, iteration cap or time budget (section 3.2 of the paper).

use std::time::Instant;

use super::{
    Settings, cycle, jacobi, levels,
    nearest::{self, contact::Surroundings, rigid::Rigid, tables::Filter},
    paper, serial, sweep,
};
use crate::{
    Scheme, World,
    boundary::{motion::Pose, solids::Solids},
    contact::touching::Finder,
    kernel::{lanes::Quad, random::Random},
};

/// How the enforcement of a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Enforced {
    /// Iterations done.
    pub iterations: u32,
    /// Largest residual past a limit at the end.
    pub residual: f32,
    /// Largest excess past a bend limit at the end: the sine of half that angle.
    pub bend: f32,
    /// Whether both are within the tolerance.
    pub converged: bool,
}

/// Which step it is, and until when.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Number of the step, for the random order.
    pub step: u64,
    /// Most iterations, on the finest level if there are several.
    pub iterations: u32,
    /// When to end with what there is.
    pub deadline: Option<Instant>,
}

/// Memory that enforcement needs, kept between steps.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Sums of Jacobi corrections.
    pub moves: Vec<Quad>,
    /// Order of elements or colours.
    pub order: Vec<u32>,
    /// One for each of the world's filters.
    pub nearest: Vec<nearest::Scratch>,
    /// What takes the place of each of the world's filters while other vertices are held than at the start.
    pub holding: Vec<Option<Filter>>,
    /// One for each of the world's bodies with coarse limits.
    pub levels: Vec<levels::Scratch>,
    /// What finds parts of cloth that touch, if they are to be kept apart.
    pub finder: Option<Finder>,
}

impl Scratch {
    /// Memory for `world`.
    pub fn new(world: &World) -> Self {
        let elements = [
            world.strain_elements.len(),
            world.edge_elements.len(),
            world.bend_elements.len(),
            world.bend_triangles.len(),
        ];
        Self {
            moves: vec![[0.0; 4]; world.start.len()],
            order: Vec::with_capacity(elements.into_iter().max().unwrap_or(0)),
            nearest: world.filters.iter().map(|filter| filter_scratch(world, filter)).collect(),
            holding: vec![None; world.filters.len()],
            levels: world.levels.iter().map(levels::tables::Levels::scratch).collect(),
            finder: world.surface.as_ref().map(|surface| Finder::new(surface, &world.start)),
        }
    }

    /// Makes matrices for the vertices that are held now, those with no inverse mass in `x`. Allocates only where they are others than before.
    pub fn hold(&mut self, world: &World, x: &[Quad]) {
        for (base, own) in world.filters.iter().zip(&mut self.holding) {
            let x = &x[base.vertices.clone()];
            let fits = |filter: &Filter| x.iter().enumerate().all(|(i, x)| filter.holds(i) == (x[3] <= 0.0));
            if fits(base) {
                *own = None;
            } else if !own.as_ref().is_some_and(fits) {
                *own = Some(base.holding(|i| x[i][3] <= 0.0));
            }
        }
    }
}

fn filter_scratch(world: &World, filter: &Filter) -> nearest::Scratch {
    let bodies = &world.description.rigid_bodies;
    let mut scratch = filter.scratch(world.has_obstacles());
    scratch.rigid = Rigid::new(filter.vertices.len(), bodies);
    scratch
}

/// What enforcement changes, and where it came from.
#[derive(Debug)]
pub struct Draft<'a> {
    /// Positions \[m\], and inverse mass as fourth component.
    pub x: &'a mut [Quad],
    /// Positions at the start of the step.
    pub old: &'a [Quad],
    /// What the filters keep from one step to the next.
    pub duals: &'a mut [f32],
    /// Rigid bodies at the start of the step, and where they go.
    pub poses: &'a mut [[Pose; 2]],
}

/// Moves the positions of `draft` until they are within the limits of `world` and outside its obstacles.
pub fn enforce(
    world: &World,
    settings: &Settings,
    draft: Draft,
    solids: &mut Solids,
    scratch: &mut Scratch,
    turn: Turn,
) -> Enforced {
    match world.description.solver.scheme {
        // While cloth that began inside an obstacle is pushed out, the nearest state is none that it should be thrown to.
        Scheme::Nearest if !solids.pushes_out() || !world.description.rigid_bodies.is_empty() => {
            filter(world, settings, draft, solids, scratch, turn)
        }
        Scheme::Cycle => cycle::enforce(world, settings, draft.x, draft.old, solids, scratch, turn),
        Scheme::Paper => paper::enforce(world, settings, draft.x, draft.old, solids, scratch, turn),
        Scheme::Nearest | Scheme::Sweep | Scheme::Serial | Scheme::Jacobi => {
            iterate(world, settings, draft.x, draft.old, solids, scratch, turn)
        }
    }
}

/// The nearest feasible state of every body with limits on its triangles; then sweeps, if there are limits on edges.
fn filter(
    world: &World,
    settings: &Settings,
    draft: Draft,
    solids: &mut Solids,
    scratch: &mut Scratch,
    turn: Turn,
) -> Enforced {
    let Draft { x, old, mut duals, poses } = draft;
    let solver = &world.description.solver;
    let obstacles = &world.description.obstacles;
    let stop = nearest::Stop {
        tolerance: (solver.tolerance - 2e-6).max(0.0),
        bend: bend_bound(solver.bend_tolerance),
        least: nearest::least_iterations(world.steps_per_frame, world.forces.inside),
        iterations: turn.iterations,
        deadline: turn.deadline,
    };
    let mut enforced = Enforced { converged: true, ..Enforced::default() };
    let touching = match (&mut scratch.finder, &world.surface) {
        (Some(finder), Some(surface)) => finder.find(settings.threads, surface, [&world.start, old, x]),
        _ => &[],
    };
    let held = scratch.holding.iter().zip(&mut scratch.nearest);
    for (filter, (holding, scratch)) in world.filters.iter().zip(held) {
        let filter = holding.as_ref().unwrap_or(filter);
        let count = filter.dual_count(!obstacles.is_empty()) + scratch.rigid.dual_count();
        let (own, others) = duals.split_at_mut(count);
        duals = others;
        let vertices = filter.vertices.clone();
        scratch.pairs.begin(touching, &vertices, [old, x], &filter.masses);
        let around = Surroundings { obstacles, solids, old: &old[vertices.clone()] };
        let x = &mut x[vertices];
        let sizes = [world.mean_mass(), world.step_time(), 2.0 * world.edge_length];
        scratch.rigid.begin(poses, [around.old, x], sizes);
        let body = filter.filter(settings, x, &around, own, scratch, stop);
        for (poses, end) in poses.iter_mut().zip(scratch.rigid.poses()) {
            poses[1] = end;
        }
        scratch.rigid.expel(x);
        enforced.iterations = enforced.iterations.max(body.iterations);
        enforced.residual = enforced.residual.max(body.residual);
        enforced.bend = enforced.bend.max(body.bend);
        enforced.converged &= body.converged;
    }
    if !world.edge_elements.is_empty() {
        let swept = iterate(world, settings, x, old, solids, scratch, turn);
        return Enforced { iterations: enforced.iterations + swept.iterations, ..swept };
    }
    if !obstacles.is_empty() || !poses.is_empty() {
        if world.filters.iter().map(Filter::body_count).sum::<usize>() < world.bodies.len() {
            solids.project(settings.threads, obstacles, old, x);
        }
        solids.note_contacts(obstacles, x, 0.01 * world.edge_length);
        solids.expel(obstacles, x);
        return measure(world, settings, x, enforced);
    }
    enforced
}

/// `enforced`, with the residuals of `x` measured again after something has moved it.
pub fn measure(world: &World, settings: &Settings, x: &mut [Quad], enforced: Enforced) -> Enforced {
    let solver = &world.description.solver;
    let residual = sweep::residual(settings, world, x);
    let bend = sweep::bend_excess(settings, &world.bends, x);
    let converged = residual <= solver.tolerance && bend <= bend_bound(solver.bend_tolerance);
    Enforced { residual, bend, converged, ..enforced }
}

/// Iterations over single elements.
fn iterate(
    world: &World,
    settings: &Settings,
    x: &mut [Quad],
    old: &[Quad],
    solids: &mut Solids,
    scratch: &mut Scratch,
    turn: Turn,
) -> Enforced {
    let solver = &world.description.solver;
    let obstacles = &world.description.obstacles;
    let limited = !world.strain_elements.is_empty()
        || !world.edge_elements.is_empty()
        || !world.bend_elements.is_empty();
    let mut random = Random::new(world.description.seed, turn.step);
    // What later moves of the same iteration may leave behind; the end of the step puts it right.
    let shallow = 0.01 * world.edge_length;
    // Lanes measure in single precision; the certificate must find the limit kept in double precision.
    let tolerance = (solver.tolerance - 2e-6).max(0.0);
    let bend_tolerance = bend_bound(solver.bend_tolerance);

    let mut iterations = 0;
    let mut enforced = Enforced::default();
    while iterations < turn.iterations {
        let [met, bend_met] = if limited {
            match solver.scheme {
                Scheme::Sweep | Scheme::Nearest | Scheme::Cycle | Scheme::Paper => {
                    let strain = sweep::sweep_triangles(settings, world, x, &mut random, &mut scratch.order);
                    let edge = sweep::sweep_edges(settings, &world.edges, x, &mut random, &mut scratch.order);
                    let bend = sweep::sweep_bends(settings, &world.bends, x, &mut random, &mut scratch.order);
                    [strain.max(edge), bend]
                }
                Scheme::Serial => serial::iterate(
                    settings,
                    &world.strain_elements,
                    &world.edge_elements,
                    &world.bend_elements,
                    x,
                    &mut random,
                    &mut scratch.order,
                ),
                Scheme::Jacobi => jacobi::iterate(settings, world, x, &mut scratch.moves),
            }
        } else {
            [0.0; 2]
        };
        let depth = solids.project(settings.threads, obstacles, old, x);
        iterations += 1;
        // What an iteration meets on its way is close to what it leaves: look twice only when that would do.
        if met <= 2.0 * tolerance && bend_met <= 2.0 * bend_tolerance && depth <= shallow {
            let residual = sweep::residual(settings, world, x);
            let bend = sweep::bend_excess(settings, &world.bends, x);
            if residual <= tolerance && bend <= bend_tolerance {
                enforced = Enforced { iterations, residual, bend, converged: true };
                break;
            }
        }
        if turn.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break;
        }
    }
    solids.expel(obstacles, x);
    if !enforced.converged || !obstacles.is_empty() {
        enforced = measure(world, settings, x, Enforced { iterations, ..enforced });
    }
    enforced
}

/// The sine of half an excess of `degrees`, less what single precision may get wrong.
pub(super) fn bend_bound(degrees: f32) -> f32 {
    (0.5 * (degrees - 1e-3).clamp(0.0, 180.0)).to_radians().sin()
}
