//! The loop that enforces all limits of a step: iterations of the chosen scheme, boundary conditions inside
//! each of them, until tolerance, iteration cap or time budget (section 3.2 of the paper).

use super::{
    Settings,
    contact::{self, Contacts, LevelGap},
    cycle,
    edge_model::{self, EdgeScratch},
    levels::{self, parts::Holding, tables::LevelTables},
    paper,
    rigid::RigidContacts,
    tuning::levels::{LOOSEN_EVERY, LOOSEN_FROM},
};
use crate::{
    Scheme, World,
    boundary::{grip::Grips, motion::Pose, obstacle_contacts::ObstacleContacts, seam::Sewn},
    contact::{tangle::Tangle, touching::Finder},
    element::set::Residuals,
    kernel::{lanes::Quad, random::Random},
    pbd::{self, PbdScratch, PbdTables},
    schedule::StepBudget,
    solve::nearest::{filter::Filter, step::Filters, tuning::VOLUME_TOLERANCE},
    term::spring::SpringInputs,
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
    /// Elements whose limits have given way.
    pub given_way: u32,
}

impl Enforced {
    /// How both this and `other`, of other bodies, ended.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            iterations: self.iterations.max(other.iterations),
            residual: self.residual.max(other.residual),
            bend: self.bend.max(other.bend),
            converged: self.converged && other.converged,
            given_way: self.given_way + other.given_way,
        }
    }

    /// Takes these residuals for its own.
    pub(super) fn take(&mut self, Residuals { strain, bend }: Residuals) {
        (self.residual, self.bend) = (strain, bend);
    }
}

/// Memory that enforcement needs, kept between steps.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Sums of Jacobi corrections, or positions outside of obstacles.
    pub moves: Vec<Quad>,
    /// Order of elements or colours.
    pub order: Vec<u32>,
    /// Memory of the world's filters, for steps of each length.
    pub filters: Vec<Filters>,
    /// Which of these lengths the steps have, of the world's.
    pub pace: usize,
    /// One for each of the world's cloths with coarse limits.
    pub levels: Vec<(levels::Scratch, Holding)>,
    /// One for each of its solids with such.
    pub solid_levels: Vec<(levels::Scratch, Holding<4>)>,
    /// One for each cloth of the edge model.
    pub edge_model: Vec<EdgeScratch>,
    /// Of position-based dynamics.
    pub pbd: PbdScratch,
    /// What finds parts of cloth that touch, if they are to be kept apart.
    pub finder: Option<Finder>,
    /// Whether it has found them already: those of a motion that was tried in this step.
    pub knows_contacts: bool,
    /// Vertices near rigid bodies, for schemes that sweep.
    pub rigid: RigidContacts,
    /// How far apart seams may be.
    pub sewn: Sewn,
    /// What of it is tangled, and is let pass.
    pub tangle: Tangle,
}

impl Scratch {
    /// Memory for `world`.
    pub fn new(world: &World) -> Self {
        let coarse_count = |level: &LevelTables<4>| level.limited.tetrahedra.len();
        let elements = [
            world.elements.largest(),
            world.bend_triangles.len(),
            world.pbd.as_ref().map_or(0, PbdTables::most_colors),
            // Levels that a caller brings may have any number of elements, and so may those with many pins.
            world.levels.iter().map(|body| body.levels.largest()).max().unwrap_or(0),
            world.solid_levels.iter().flat_map(|b| &b.levels.levels).map(coarse_count).max().unwrap_or(0),
        ];
        let gap = LevelGap::of(world);
        let own = own_gap(world);
        let coarse = world.levels.iter().map(|body| (body.levels.scratch(own), Holding::default()));
        let solids = world.solid_levels.iter().map(|body| (body.levels.scratch(None), Holding::default()));
        Self {
            moves: vec![[0.0; 4]; world.start.len()],
            order: Vec::with_capacity(elements.into_iter().max().unwrap_or(0)),
            filters: (0..world.paces.len()).map(|pace| Filters::new(world, pace)).collect(),
            pace: 0,
            levels: coarse.collect(),
            solid_levels: solids.collect(),
            edge_model: world.edge_model.bodies.iter().map(|body| EdgeScratch::new(body, gap)).collect(),
            pbd: world.pbd.as_ref().map(PbdTables::scratch).unwrap_or_default(),
            sewn: Sewn::new(&world.sewing),
            finder: world.surface.as_ref().map(|surface| Finder::new(surface, &world.start)),
            knows_contacts: false,
            rigid: RigidContacts::with_capacity(world),
            tangle: Tangle::default(),
        }
    }

    /// Takes the limits of `world`, which have changed: matrices for what is held stay, levels are made again
    /// when a step needs them.
    pub fn take_limits(&mut self, world: &World) {
        self.filters.iter_mut().for_each(|filters| filters.take_limits(world));
        self.levels.iter_mut().for_each(|(_, holding)| holding.forget());
        self.solid_levels.iter_mut().for_each(|(_, holding)| holding.forget());
        self.edge_model.iter_mut().for_each(EdgeScratch::forget_levels);
        // Angles beyond a half turn are no limits, so that there may be more of them now.
        self.order.clear();
        self.order.reserve(world.bend_triangles.len());
    }

    /// Makes matrices and levels for the vertices that are held now, those with no inverse mass in `x`, and
    /// for grips. Allocates only where they are others than before.
    pub fn hold(&mut self, world: &World, x: &[Quad], grips: &Grips) {
        for (scratch, body) in self.edge_model.iter_mut().zip(&world.edge_model.bodies) {
            scratch.hold(body, x, grips, LevelGap::of(world));
        }
        for ((memory, holding), body) in self.levels.iter_mut().zip(&world.levels) {
            if holding.hold(body, x, grips) {
                let levels = holding.of(body);
                *memory = levels.scratch(own_gap(world));
                self.order.clear();
                self.order.reserve(levels.largest());
            }
        }
        for ((_, holding), body) in self.solid_levels.iter_mut().zip(&world.solid_levels) {
            holding.hold(body, x, grips);
        }
        self.filters[self.pace].hold(world, x);
    }
}

/// How coarse levels collide with themselves, in the scheme in which they do.
fn own_gap(world: &World) -> Option<LevelGap<'_>> {
    LevelGap::of(world).filter(|_| world.description.solver.scheme == Scheme::Paper)
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
    /// Points that are pulled at.
    pub grips: &'a mut Grips,
    /// Factor on stiffness in this step.
    pub stiffening: f32,
    /// Velocities at the start of the step \[m/s\]; empty if they are not known.
    pub old_v: &'a [Quad],
    /// Factor on the mass of each vertex in this step; empty: 1.
    pub inertia: &'a [f32],
    /// What springs need to know.
    pub springs: SpringInputs<'a>,
}

/// Moves the positions of `draft` until they are within the limits of `world` and outside its obstacles.
pub fn enforce(
    world: &World,
    settings: &Settings,
    draft: Draft,
    obstacle_contacts: &mut ObstacleContacts,
    scratch: &mut Scratch,
    budget: StepBudget,
) -> Enforced {
    if let Some(tables) = &world.pbd {
        return pbd::project(world, (tables, settings), draft, obstacle_contacts, scratch, budget);
    }
    let of_edges = world.edge_model.bodies.len();
    if of_edges == 0 {
        return by_scheme(world, settings, draft, obstacle_contacts, scratch, budget);
    }
    let Draft { x, old, duals, poses, grips, stiffening, old_v, inertia, springs } = draft;
    let mut iterations = 0;
    if of_edges < world.bodies.len() {
        let knows_contacts = scratch.knows_contacts;
        let draft = Draft { x, old, duals, poses, grips, stiffening, old_v, inertia, springs };
        iterations = by_scheme(world, settings, draft, obstacle_contacts, scratch, budget).iterations;
        scratch.knows_contacts = knows_contacts;
    }
    let draft = Draft { x, old, duals, poses, grips, stiffening, old_v, inertia, springs };
    let enforced = edge_model::enforce(world, settings, draft, obstacle_contacts, scratch, budget);
    measure(world, settings, x, Enforced { iterations: iterations + enforced.iterations, ..enforced })
}

/// The same for all bodies that are not of the edge model.
fn by_scheme(
    world: &World,
    settings: &Settings,
    draft: Draft,
    obstacle_contacts: &mut ObstacleContacts,
    scratch: &mut Scratch,
    budget: StepBudget,
) -> Enforced {
    match world.description.solver.scheme {
        Scheme::Nearest => filter(world, settings, draft, obstacle_contacts, scratch, budget),
        Scheme::Cycle => cycle::enforce(world, settings, draft, obstacle_contacts, scratch, budget),
        Scheme::Paper => paper::enforce(world, settings, draft, obstacle_contacts, scratch, budget),
        Scheme::Sweep | Scheme::Serial | Scheme::Jacobi => {
            let Draft { x, old, poses, grips, .. } = draft;
            let contacts = Contacts::begin(world, settings, (old, x), (poses, obstacle_contacts), scratch);
            iterate(world, settings, (x, grips), (contacts, obstacle_contacts), scratch, budget)
        }
    }
}

/// The nearest feasible state of every body with limits on its triangles; then sweeps, if there are limits on
/// edges.
fn filter(
    world: &World,
    settings: &Settings,
    draft: Draft,
    obstacle_contacts: &mut ObstacleContacts,
    scratch: &mut Scratch,
    budget: StepBudget,
) -> Enforced {
    let Draft { x, old, duals, poses, grips, stiffening, old_v, inertia, springs } = draft;
    let obstacles = &world.description.obstacles;
    contact::detect(world, settings, (old, x), obstacle_contacts, scratch);
    // Frames in which cloth may come near something are not those that are taken alone.
    let finder = scratch.finder.as_ref().filter(|_| scratch.pace == 0);
    let touching = finder.map_or(&[][..], |finder| finder.touching());
    let draft = Draft { x, old, duals, poses, grips, stiffening, old_v, inertia, springs };
    let around = (&*obstacle_contacts, touching, &scratch.sewn);
    let filters = &mut scratch.filters[scratch.pace];
    let mut enforced = filters.solve(world, settings, draft, around, budget);
    if filters.has_open_seams(world) {
        scratch.sewn.close(&world.sewing, x);
        enforced = measure(world, settings, x, enforced);
    }
    if world.elements.needs_sweeps() {
        let contacts = Contacts::known(world, (old, x), poses, scratch);
        let swept = iterate(world, settings, (x, grips), (contacts, obstacle_contacts), scratch, budget);
        return Enforced { iterations: enforced.iterations + swept.iterations, ..swept };
    }
    if !obstacle_contacts.candidates().is_empty() || !poses.is_empty() {
        if world.filters().iter().map(Filter::body_count).sum::<usize>()
            < world.description.bodies.len() - world.roots.len()
        {
            obstacle_contacts.project(settings.threads, obstacles, old, x);
        }
        obstacle_contacts.note_contacts(settings.threads, obstacles, x, 0.01 * world.edge_length);
        obstacle_contacts.expel(settings.threads, obstacles, x);
        return measure(world, settings, x, enforced);
    }
    enforced
}

/// `enforced`, with the residuals of `x` measured again after something has moved it.
pub fn measure(world: &World, settings: &Settings, x: &mut [Quad], enforced: Enforced) -> Enforced {
    let solver = &world.description.solver;
    let found = world.elements.residuals(settings, x).max(world.edge_model.residuals(settings, x));
    let Residuals { strain, bend } = found;
    let residual = strain.max(world.segment_residual(x));
    let rings = world.filters().iter().all(|f| f.ring_error(&x[f.vertices.clone()]) <= VOLUME_TOLERANCE);
    let converged = rings && residual <= world.aim.tolerance && bend <= bend_bound(solver.bend_tolerance);
    Enforced { residual, bend, converged, ..enforced }
}

/// Iterations over single elements.
fn iterate(
    world: &World,
    settings: &Settings,
    (x, grips): (&mut [Quad], &mut Grips),
    (mut contacts, obstacle_contacts): (Contacts, &mut ObstacleContacts),
    scratch: &mut Scratch,
    budget: StepBudget,
) -> Enforced {
    let solver = &world.description.solver;
    let obstacles = &world.description.obstacles;
    let elements = &world.elements;
    let limited = !elements.is_empty();
    let mut random = Random::new(world.description.seed, budget.step);
    // What later moves of the same iteration may leave behind; the end of the step puts it right.
    let shallow = 0.01 * world.edge_length;
    let tolerance = world.aim.bound();
    let bend_tolerance = bend_bound(solver.bend_tolerance);

    let mut iterations = 0;
    let mut enforced = Enforced::default();
    while iterations < budget.iterations {
        let order = &mut scratch.order;
        let met = match solver.scheme {
            _ if !limited => Residuals::default(),
            Scheme::Sweep | Scheme::Nearest | Scheme::Cycle | Scheme::Paper => {
                elements.sweep([settings; 2], x, &mut random, order)
            }
            Scheme::Serial => elements.serial(settings, true, x, &mut random, order),
            Scheme::Jacobi => elements.jacobi(settings, x, &mut scratch.moves),
        };
        scratch.sewn.project(&world.sewing, x);
        iterations += 1;
        let is_apart = contacts.meet(settings, scratch, iterations, x);
        let depth = obstacle_contacts.project(settings.threads, obstacles, contacts.old, x);
        // What an iteration meets on its way is close to what it leaves: look twice only when that would do.
        if met.strain <= 2.0 * tolerance && met.bend <= 2.0 * bend_tolerance && depth <= shallow && is_apart {
            let Residuals { strain: residual, bend } = elements.residuals(settings, x);
            if residual <= tolerance && bend <= bend_tolerance {
                enforced = Enforced { iterations, residual, bend, converged: true, ..enforced };
                break;
            }
        }
        if budget.is_late() {
            break;
        }
        if iterations >= LOOSEN_FROM && iterations % LOOSEN_EVERY == 0 && !grips.is_empty() {
            grips.give_way(world, x);
        }
    }
    let touches = contacts.end(scratch, x);
    obstacle_contacts.expel(settings.threads, obstacles, x);
    if !enforced.converged || !obstacles.is_empty() || touches {
        enforced = measure(world, settings, x, Enforced { iterations, ..enforced });
    }
    enforced
}

/// The sine of half an excess of `degrees`, less what single precision may get wrong.
pub(crate) fn bend_bound(degrees: f32) -> f32 {
    (0.5 * (degrees - 1e-3).clamp(0.0, 180.0)).to_radians().sin()
}
