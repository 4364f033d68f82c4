//! How time is divided: steps a frame, substeps of the explicit forces, iterations and time of a step. All
//! rules are here, each with its reason, and a [`Schedule`] says which of them decided.

mod rules;

use std::time::Duration;

use serde::Serialize;

pub use self::rules::{StepRule, SubstepRule};

use crate::{
    Body, Description, Integrator, MeshObstacle, Scheme,
    body::{BodyTables, Rest, cloths, elements::Elements},
    budget::{Budget, Deadline},
    velocity::update::Forces,
};

/// Substeps of the velocity update after which limits are to act again, where the number of steps is chosen.
/// With 12 a stretched sheet is calm, with 24 it shakes.
const SUBSTEPS_A_STEP: u32 = 12;

/// Steps per frame where bodies touch: what touches is looked for once a step. Cloth with an implicit
/// integrator takes [`STEPS_OF_DRAPES`] where nothing else moves.
const STEPS_WITH_CONTACT: u32 = 4;

/// Steps per frame of a single cloth that touches only what rests, and itself: as exact in BDF2 as four of
/// backward Euler. `sheet-on-sphere` takes two thirds of the time of four. Piles of sheets miss limits.
const STEPS_OF_DRAPES: u32 = 2;

/// The same where something that cloth touches, or is held by, moves fast. Two steps miss the limits of a
/// shirt on a figure that walks, four hold them.
const STEPS_OF_FAST_MOTION: u32 = 8;

/// Part of its radius that an obstacle may go in a step: limits pull loose cloth back across a ball that goes
/// further. And the most steps for its sake.
const PART_OF_OBSTACLE: f32 = 0.5;
const MOST_STEPS_OF_FAST_MOTION: u32 = 64;

/// Ways in a frame up to which what moves counts as at rest, and from which on it is fast, in thicknesses of
/// the cloth.
const SLOW_AND_FAST: [f32; 2] = [0.5, 64.0];

/// Steps per frame where cloth touches nothing but rigid bodies: how far these are from where they should be
/// makes more of a velocity in shorter steps.
const STEPS_WITH_BODIES: u32 = 2;

/// Steps a frame of cloth of the edge model, if it has enough iterations for that. Of a sheet of 1600
/// vertices, hung by two corners within ±10 %, edges at the corners are stretched by up to 12 % then, with 50
/// iterations a frame on each of four levels; by 14 % with 10 steps, which take three quarters of the time.
const STEPS_OF_EDGES: u32 = 15;

/// Least iterations on each level in a step of such cloth: with a single one it trembles.
const ITERATIONS_A_STEP: u32 = 2;

/// Longest step of position-based dynamics \[s\] where the number of steps is chosen: the default of the
/// PositionBasedDynamics library, whose users expect it. 7 steps a frame of 1/30 s.
const LONGEST_POSITION_BASED_STEP: f32 = 0.005;

/// Steps per frame where there is nothing but hair, and it touches strands, bodies with mass, or what moves
/// by more than [`SLOW_HEAD`].
const STEPS_OF_HAIR: u32 = 2;

/// How far an obstacle moves in a frame, over its radius, for hair on it to take one step. With 0.2, tips of
/// shaken strands are 39 mm from those of 16 steps a frame in the mean; in two steps, 34 mm.
const SLOW_HEAD: f32 = 0.3;

/// Steps a frame of curved shells with a lower limit, which a longer step crumples.
const STEPS_OF_SHELLS: u32 = 3;

/// Fewest and most steps a frame that are chosen for explicit forces.
const STEPS_OF_FORCES: [u32; 2] = [4, 32];

/// Most steps a frame that are chosen.
const MOST_STEPS: u32 = 32;

/// Most substeps a step where a frame has fewer steps than [`STEPS_OF_FORCES`]: a step is over before waves
/// have crossed a cloth, and more of them are not worth their time.
const SUBSTEPS_OF_LONG_STEPS: u32 = 6;

/// Most substeps a step otherwise.
const MOST_SUBSTEPS: u32 = 24;

/// Steps a frame, and most substeps of each, while a running simulation has cloth whose limits are off:
/// forces alone hold it together.
const STEPS_WITHOUT_LIMITS: u32 = 4;
const SUBSTEPS_WITHOUT_LIMITS: u32 = 24;

/// Most substeps a step for the sake of stiffness that was raised while it runs.
const MOST_SUBSTEPS_FOR_STIFFNESS: f32 = 96.0;

/// Least number of iterations of [`Scheme::Nearest`] in a step that is a whole frame, so that motion is not
/// biased. Shorter steps have less to correct.
const MIN_ITERATIONS: u32 = 20;

/// Length of such a frame \[s\].
const USUAL_FRAME: f32 = 1.0 / 30.0;

/// The same where stiff solids, or cloth that carries bodies with mass, are part of the solve: stresses have
/// to find their balance; with less, what rests trembles.
const MIN_ITERATIONS_LOADED: u32 = 36;

/// Least number of iterations of a step of any length.
const MIN_ITERATIONS_SHORT: u32 = 4;

/// The same of a step of cloth with an implicit integrator that is a whole frame or longer. Its mass-metric
/// error is a tenth larger with 20. Tight limits take some more.
const MIN_ITERATIONS_IMPLICIT: u32 = 22;

/// The same for an implicit integrator. With 4 iterations in each of 8 steps a swinging strip gains half of
/// its energy in 5 s; with 8 in each of 4 steps, hanging paper trembles with 7 cm/s, with 12 not.
const MIN_ITERATIONS_SHORT_IMPLICIT: u32 = 12;

/// Iterations that a step with a time budget may take past its deadline: the clock also runs while other
/// programs do, and a step that is cut after a few iterations may be far past its limits.
pub(crate) const MIN_ITERATIONS_PAST_DEADLINE: u32 = 64;

/// How time is divided, and which rules decided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Schedule {
    /// Steps of the whole pipeline per frame.
    pub steps_per_frame: u32,
    /// Which rule decided that.
    pub rule: StepRule,
    /// Maximum number of substeps of the explicit velocity update per step.
    pub max_substeps: u32,
    /// Which rule decided that.
    pub substep_rule: SubstepRule,
    /// How motion is integrated. With an implicit integrator, stretching inside the limits and bending are
    /// part of the solve, and a step has one substep.
    pub integrator: Integrator,
    /// Least iterations of a step of [`Scheme::Nearest`], so that motion is not biased.
    pub min_iterations: u32,
    /// Most iterations of a step, on the finest level if there are several: `solver.iterations`.
    pub max_iterations: u32,
    /// How frames are divided in which no cloth comes near anything, where that is another number of steps.
    pub alone: Option<Alone>,
}

/// How frames are divided in which no cloth comes near an obstacle or another surface: as they would be if
/// there were none, so that cloth moves the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// Steps of the whole pipeline per frame.
    pub steps_per_frame: u32,
    /// Which rule decided that.
    pub rule: StepRule,
    /// Least iterations of a step of [`Scheme::Nearest`], so that motion is not biased.
    pub min_iterations: u32,
}

/// Which step it is, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub struct StepBudget {
    /// Number of the step, for the random order.
    pub step: u64,
    /// Most iterations, on the finest level if there are several.
    pub iterations: u32,
    /// When to end with what there is.
    pub deadline: Option<Deadline>,
    /// Iterations of [`Scheme::Nearest`] that it may take past the deadline, if limits are not met before.
    pub min_iterations_past_deadline: u32,
}

impl StepBudget {
    /// Whether it is time to end.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline.is_past())
    }

    /// Whether it is time to end, and nothing may be done past the deadline: what the guard stops is past
    /// its limits, often far, unless it is solved again.
    pub fn is_over(&self) -> bool {
        self.min_iterations_past_deadline == 0 && self.is_late()
    }
}

impl Schedule {
    /// Applies the rules to a description, its rest tables and elements.
    pub(crate) fn new(description: &Description, bodies: &[BodyTables], elements: &Elements) -> Self {
        let (steps_per_frame, rule) = steps(description, bodies, elements);
        let (max_substeps, substep_rule) = substeps(description, steps_per_frame);
        Self {
            steps_per_frame,
            rule,
            max_substeps,
            substep_rule,
            integrator: integrator(description),
            min_iterations: min_iterations(steps_per_frame, description.frame_time, kind(description)),
            max_iterations: description.solver.iterations,
            alone: alone(description, bodies, (steps_per_frame, rule)),
        }
    }

    /// The same for frames in which no cloth comes near anything, if these are divided in another way.
    pub(crate) fn while_alone(&self) -> Option<Self> {
        let Alone { steps_per_frame, rule, min_iterations } = self.alone?;
        Some(Self { steps_per_frame, rule, min_iterations, alone: None, ..*self })
    }

    /// What step `k` of `frame` may take, if the frame began at `begun`: all steps of a frame have the same
    /// share of its time.
    pub(crate) fn step_budget(&self, frame: u32, k: u32, budget: &Budget, begun: Duration) -> StepBudget {
        StepBudget {
            step: u64::from(frame) * u64::from(self.steps_per_frame) + u64::from(k),
            iterations: self.max_iterations,
            deadline: budget.deadline(begun, (k + 1) as f32 / self.steps_per_frame as f32),
            min_iterations_past_deadline: budget.min_iterations(),
        }
    }

    /// Whether stretching and bending are part of the solve.
    pub(crate) fn is_implicit(&self) -> bool {
        self.integrator != Integrator::LeapFrog
    }

    /// How many of the `iterations` that a frame has on each level step number `step` of the run takes, for
    /// cloth of the edge model: all steps about the same, together exactly as many, but each at least one.
    pub(crate) fn share_of_iterations(&self, iterations: u32, step: u64) -> u32 {
        let steps = u64::from(self.steps_per_frame);
        let k = step % steps;
        let until = |step: u64| u64::from(iterations) * step / steps;
        (until(k + 1) - until(k)).max(1) as u32
    }
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = if self.steps_per_frame == 1 { "step" } else { "steps" };
        write!(f, "{} {steps} per frame: {}", self.steps_per_frame, self.rule.reason())?;
        self.alone.map_or(Ok(()), |alone| write!(f, "; {} while nothing is near", alone.steps_per_frame))
    }
}

/// How motion is integrated: as asked, or with BDF2 where that is possible and comes to rest. Bodies with
/// mass exchange momentum with what they touch, all of it within a step, and BDF2 spreads it over several.
pub(crate) fn integrator(description: &Description) -> Integrator {
    let of_edges = || description.cloths().any(|cloth| cloth.model.edge().is_some());
    description.solver.integrator.unwrap_or_else(|| {
        if description.solver.scheme != Scheme::Nearest || of_edges() || description.is_position_based() {
            Integrator::LeapFrog
        } else if description.rigid_bodies.is_empty() {
            Integrator::Bdf2
        } else {
            Integrator::Euler
        }
    })
}

/// Whether stretching inside the limits and bending are part of the solve, in place of explicit forces.
pub(crate) fn is_implicit(description: &Description) -> bool {
    integrator(description) != Integrator::LeapFrog
}

/// What the squared length of a step is multiplied by in an implicit solve: x = x₀ + factor dt² f / m.
pub(crate) fn square_factor(integrator: Integrator) -> f64 {
    match integrator {
        Integrator::Bdf2 => 4.0 / 9.0,
        Integrator::Euler | Integrator::LeapFrog => 1.0,
    }
}

/// Whether bodies keep off each other or off mesh obstacles.
pub(crate) fn touches_meshes(description: &Description) -> bool {
    description.contact.thickness > 0.0 || !description.mesh_obstacles.is_empty()
}

/// Whether limits are enforced over levels, all of them, and with nothing in the way: obstacles need short
/// steps too. With contact the filter is elastic itself, and [`STEPS_WITH_CONTACT`] says how many.
fn over_levels(description: &Description) -> bool {
    let formula = !description.obstacles.is_empty() || !description.rigid_bodies.is_empty();
    if formula || !description.mesh_obstacles.is_empty() {
        return false;
    }
    let levels = matches!(description.solver.scheme, Scheme::Nearest | Scheme::Cycle | Scheme::Paper);
    // Forces alone do not hold cloth without limits together over steps as long as a frame.
    levels && !description.cloths().any(|cloth| cloth.edge.is_some() || !cloth.limits_strain())
}

/// Steps a frame, and the rule that decided.
fn steps(description: &Description, bodies: &[BodyTables], elements: &Elements) -> (u32, StepRule) {
    let asked = description.solver.steps_per_frame;
    if asked > 0 {
        return (asked, StepRule::Asked);
    }
    if description.is_position_based() {
        let steps = (description.frame_time / LONGEST_POSITION_BASED_STEP).ceil();
        return (steps.clamp(1.0, MOST_STEPS as f32) as u32, StepRule::PositionBased);
    }
    let of_edges = description.cloths().filter_map(|cloth| cloth.model.edge());
    if let Some(most) = of_edges.map(|edge| edge.iterations).max() {
        return ((most / ITERATIONS_A_STEP).clamp(1, STEPS_OF_EDGES), StepRule::EdgeModel);
    }
    if over_levels(description) || is_implicit(description) {
        return implicit_steps(description, bodies);
    }
    let forces = Forces {
        membrane_frequency: elements.membrane_frequency,
        hinge_frequency: elements.hinge_frequency.max(elements.seam_frequency),
        viscosity: viscosity(description),
        ..Forces::default()
    };
    let needed = forces.plan(f64::from(description.frame_time), 1.0, u32::MAX).substeps;
    let [fewest, most] = STEPS_OF_FORCES;
    (needed.div_ceil(SUBSTEPS_A_STEP).clamp(fewest, most), StepRule::ExplicitForces)
}

/// How frames are divided in which no cloth comes near anything, if not in `steps`: where these are for the
/// sake of what is around. Not for solids and rigid bodies, nor where there is hair, which may touch cloth
/// when nothing else does.
fn alone(description: &Description, bodies: &[BodyTables], (steps, rule): (u32, StepRule)) -> Option<Alone> {
    let for_contact =
        matches!(rule, StepRule::Contact | StepRule::Obstacles | StepRule::Drape | StepRule::FastMotion);
    let has_hair = description.bodies.iter().any(|body| body.as_hair().is_some());
    if !for_contact || has_hair || kind(description) != Kind::Light {
        return None;
    }
    let (steps_per_frame, rule) = at_least(description, bodies, (1, StepRule::Elastic));
    let min_iterations = min_iterations(steps_per_frame, description.frame_time, Kind::Light);
    (steps_per_frame < steps).then_some(Alone { steps_per_frame, rule, min_iterations })
}

/// Steps per frame where a step may be as long as a frame, and the rule that decided.
fn implicit_steps(description: &Description, bodies: &[BodyTables]) -> (u32, StepRule) {
    let has_solids = description.solids().next().is_some();
    if let Some(steps) = steps_of_hair(description) {
        return (steps, StepRule::Hair);
    }
    let least = if !is_implicit(description) {
        (1, StepRule::OverLevels)
    } else if touches_meshes(description) {
        contact_steps(description, bodies)
    } else if !description.obstacles.is_empty() {
        (STEPS_WITH_CONTACT, if has_solids { StepRule::SolidsMeetObstacles } else { StepRule::Obstacles })
    } else if !description.rigid_bodies.is_empty() {
        (STEPS_WITH_BODIES, StepRule::RigidBodies)
    } else {
        (1, StepRule::Elastic)
    };
    at_least(description, bodies, least)
}

/// Steps per frame where there is nothing but hair. What BDF2 throws back where it touches something is less
/// in two.
fn steps_of_hair(description: &Description) -> Option<u32> {
    let mut hairs = description.bodies.iter().map(Body::as_hair);
    if description.bodies.is_empty() || hairs.any(|hair| hair.is_none()) || !is_implicit(description) {
        return None;
    }
    let mut hairs = description.bodies.iter().filter_map(Body::as_hair);
    let by_formula = description.obstacles.iter().map(|o| {
        let radius = o.shape.radius().min(f32::MAX);
        o.motion.speed(radius) / radius
    });
    let meshes = description.mesh_obstacles.iter().map(|mesh| mesh.speed() / mesh.radius());
    let fastest = by_formula.chain(meshes).filter(|times| times.is_finite()).fold(0.0, f32::max);
    let takes_two = hairs.any(|hair| hair.contact.thickness > 0.0)
        || !description.rigid_bodies.is_empty()
        || fastest * description.frame_time > SLOW_HEAD;
    Some(if takes_two { STEPS_OF_HAIR } else { 1 })
}

/// Steps per frame where surfaces touch, and the rule that decided.
fn contact_steps(description: &Description, bodies: &[BodyTables]) -> (u32, StepRule) {
    // Panels that are sewn together come from far away, and layers carry each other.
    let is_one = description.cloths().count() == 1;
    if kind(description) != Kind::Light || description.sewing > 0.0 || !is_one {
        return (STEPS_WITH_CONTACT, StepRule::Contact);
    }
    let size = bodies.iter().map(BodyTables::size).fold(0.0, f64::max) as f32;
    let way = fastest(description, size) * description.frame_time;
    let [slow, fast] = SLOW_AND_FAST.map(|thicknesses| thicknesses * description.contact.thickness);
    let (steps, rule) = if way <= slow && falls_within_gap(description) {
        (STEPS_OF_DRAPES, StepRule::Drape)
    } else if way <= fast || fast == 0.0 {
        (STEPS_WITH_CONTACT, StepRule::Contact)
    } else {
        (STEPS_OF_FAST_MOTION, StepRule::FastMotion)
    };
    let needed = across(description) * description.frame_time / PART_OF_OBSTACLE;
    let needed = (needed.ceil() as u32).min(MOST_STEPS_OF_FAST_MOTION);
    if needed > steps { (needed, StepRule::FastMotion) } else { (steps, rule) }
}

/// Whether what is at rest falls by less than the distance that it keeps, in each of the steps of a drape: a
/// sheet of 0.5 mm comes as near as 0.1 mm to a ball in two steps of 1/60 s, and 0.37 mm in four.
fn falls_within_gap(description: &Description) -> bool {
    let dt = description.frame_time / STEPS_OF_DRAPES as f32;
    let margins = description.mesh_obstacles.iter().map(|mesh| mesh.margin);
    let thickness = description.contact.thickness;
    let gap = if thickness > 0.0 { thickness } else { margins.fold(f32::INFINITY, f32::min) };
    description.gravity.length() * dt * dt <= gap
}

/// How many times its own radius an obstacle moves in a second, at most.
fn across(description: &Description) -> f32 {
    let by_formula = description.obstacles.iter().map(|o| o.motion.speed(0.0) / o.shape.radius());
    let meshes = description.mesh_obstacles.iter().map(|mesh| mesh.speed() / mesh.radius());
    by_formula.chain(meshes).filter(|times| times.is_finite()).fold(0.0, f32::max)
}

/// The largest speed of obstacles and pins that move by themselves \[m/s\], of bodies of this `size` \[m\].
fn fastest(description: &Description, size: f32) -> f32 {
    let by_formula = description.obstacles.iter().map(|o| o.motion.speed(o.shape.radius().min(size)));
    let pins = description.cloths().flat_map(|cloth| &cloth.pins).map(|pin| pin.motion.speed(size));
    by_formula
        .chain(pins)
        .chain(description.mesh_obstacles.iter().map(MeshObstacle::speed))
        .fold(0.0, f32::max)
}

/// Steps per frame, if what is around asks for `least`, with what bodies themselves ask for.
fn at_least(
    description: &Description,
    bodies: &[BodyTables],
    (mut least, mut rule): (u32, StepRule),
) -> (u32, StepRule) {
    let crumples = cloths(description, bodies).any(|(cloth, body)| {
        let lower =
            cloth.strain.min.is_some() || cloth.weave.as_ref().is_some_and(|weave| weave.warp.min.is_some());
        lower && body.is_curved()
    });
    if crumples && least < STEPS_OF_SHELLS {
        (least, rule) = (STEPS_OF_SHELLS, StepRule::CurvedShell);
    }
    // Cloth should not fall further than its own size in a step.
    let of_surfaces = bodies.iter().filter(|body| !matches!(body.rest, Rest::Particles(_) | Rest::Hair(_)));
    let size = of_surfaces.map(BodyTables::size).fold(f64::INFINITY, f64::min).max(1e-9);
    let fall = f64::from(description.frame_time) * (f64::from(description.gravity.length()) / size).sqrt();
    let fall = fall.ceil() as u32;
    if fall > least {
        (least, rule) = (fall.min(MOST_STEPS), StepRule::Fall);
    }
    (least, rule)
}

/// How many iterations a step needs at least so that motion is not biased, with `steps` of them a frame.
fn min_iterations(steps: u32, frame_time: f32, kind: Kind) -> u32 {
    // What counts for cloth is how long a step is, however frames are divided.
    let shorter = if kind == Kind::Light { (USUAL_FRAME / frame_time).max(1.0) } else { 1.0 };
    let steps = (steps as f32 * shorter).round() as u32;
    if kind == Kind::Light && steps <= 1 {
        return MIN_ITERATIONS_IMPLICIT;
    }
    let (of_frame, least) = match kind {
        Kind::Explicit => (MIN_ITERATIONS, MIN_ITERATIONS_SHORT),
        Kind::Light => (MIN_ITERATIONS, MIN_ITERATIONS_SHORT_IMPLICIT),
        Kind::Loaded => (MIN_ITERATIONS_LOADED, MIN_ITERATIONS_SHORT),
    };
    (2 * of_frame / steps.saturating_add(1)).max(least)
}

/// What a step solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Limits alone.
    Explicit,
    /// Limits and stiffness of cloth.
    Light,
    /// The same, of solids or of cloth that carries bodies with mass.
    Loaded,
}

/// Whether cloth alone, which nothing pulls but what it is made of; or hair, whose steps converge.
fn is_light(body: &Body) -> bool {
    matches!(body, Body::Cloth(_) | Body::Hair(_))
}

fn kind(description: &Description) -> Kind {
    if !is_implicit(description) {
        Kind::Explicit
    } else if description.rigid_bodies.is_empty()
        && description.bodies.iter().all(is_light)
        && description.springs.is_empty()
    {
        Kind::Light
    } else {
        Kind::Loaded
    }
}

/// Most substeps a step, and the rule that decided.
fn substeps(description: &Description, steps_per_frame: u32) -> (u32, SubstepRule) {
    let of_edges = |body: &Body| match body {
        Body::Cloth(cloth) => cloth.model.edge().is_some(),
        Body::Solid(_) | Body::Particles(_) | Body::Hair(_) => false,
    };
    match description.solver.max_substeps {
        0 if description.bodies.iter().all(of_edges) => (1, SubstepRule::EdgeModel),
        0 if steps_per_frame < STEPS_OF_FORCES[0] => (SUBSTEPS_OF_LONG_STEPS, SubstepRule::LongSteps),
        0 => (MOST_SUBSTEPS, SubstepRule::ShortSteps),
        asked => (asked, SubstepRule::Asked),
    }
}

/// The largest viscosity of any material \[s\].
pub(crate) fn viscosity(description: &Description) -> f64 {
    let of = |body: &Body| match body {
        Body::Cloth(cloth) => cloth.material.viscosity,
        Body::Solid(solid) => solid.material.viscosity,
        Body::Particles(_) | Body::Hair(_) => 0.0,
    };
    description.bodies.iter().map(of).fold(0.0, |largest, viscosity| f64::max(largest, viscosity.into()))
}

/// Steps a frame for a running simulation whose scene leaves them open; 0: as the rules above have it.
/// `without_limits`: the limits of some cloth are off, and forces alone hold it together.
pub(crate) fn steps_while_running(without_limits: bool) -> u32 {
    if without_limits { STEPS_WITHOUT_LIMITS } else { 0 }
}

/// Most substeps a step for a running simulation whose scene leaves them open, whose stiffness is now
/// `factor` times what it was; 0: as the rules above have it, which came to `usual`. Stiffness that is
/// softened to what substeps carry would not change with its factor if these did not.
pub(crate) fn substeps_while_running(without_limits: bool, usual: u32, factor: f32) -> u32 {
    let usual = if without_limits { SUBSTEPS_WITHOUT_LIMITS } else { usual };
    let needed = (usual as f32 * factor.sqrt()).round().clamp(1.0, MOST_SUBSTEPS_FOR_STIFFNESS);
    if factor == 1.0 { 0 } else { needed as u32 }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::*;
    use crate::{
        Cloth, EdgeModel, Material, Model, Motion, Obstacle, Pin, RigidBody, Ruler,
        boundary::{motion::Keyframe, obstacle::Shape},
        mesh::generate,
    };

    fn sheet() -> Description {
        let mesh = generate::grid([1.0, 1.0], [6, 6], generate::Diagonals::Alternating, 0);
        let mut sheet = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
        sheet.strain.max = Some(0.05);
        Description { bodies: vec![sheet.into()], ..Description::default() }
    }

    fn schedule(change: impl FnOnce(&mut Description)) -> (u32, StepRule) {
        let mut description = sheet();
        change(&mut description);
        let ruler = Ruler::new(description).unwrap();
        (ruler.schedule().steps_per_frame, ruler.schedule().rule)
    }

    fn ball() -> RigidBody {
        RigidBody {
            obstacle: Obstacle {
                name: "ball".into(),
                shape: Shape::Sphere { radius: 0.1 },
                position: Vec3::Y,
                rotation: Quat::IDENTITY,
                motion: Motion::default(),
                friction: 0.3,
                restitution: 0.0,
                margin: 0.001,
            },
            mass: 1.0,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
        }
    }

    fn cloth(description: &mut Description) -> &mut Cloth {
        description.cloths_mut().next().unwrap()
    }

    #[test]
    fn every_rule_decides_where_it_should() {
        assert_eq!(schedule(|_| {}), (1, StepRule::Elastic));
        assert_eq!(schedule(|d| d.solver.scheme = Scheme::Cycle), (1, StepRule::OverLevels));
        assert_eq!(schedule(|d| d.solver.steps_per_frame = 7), (7, StepRule::Asked));
        assert_eq!(schedule(|d| d.contact.thickness = 0.01), (2, StepRule::Drape));
        assert_eq!(schedule(|d| d.contact.thickness = 0.0005), (4, StepRule::Contact));
        let pulled = |way: f32| {
            schedule(|d| {
                d.contact.thickness = 0.01;
                let keys = [(0.0, 0.0), (1.0, 30.0 * way)].map(|(time, x)| Keyframe {
                    time,
                    translate: Vec3::new(x, 0.0, 0.0),
                    ..Keyframe::default()
                });
                let motion = Motion { keys: keys.to_vec(), ..Motion::default() };
                cloth(d).pins.push(Pin { vertices: vec![0], motion, ..Pin::default() });
            })
        };
        assert_eq!(pulled(0.004), (2, StepRule::Drape));
        assert_eq!(pulled(0.1), (4, StepRule::Contact));
        assert_eq!(pulled(0.7), (8, StepRule::FastMotion));
        assert_eq!(schedule(|d| d.rigid_bodies = vec![ball()]), (2, StepRule::RigidBodies));
        assert_eq!(schedule(|d| d.frame_time = 1.0).1, StepRule::Fall);
        let edges = |d: &mut Description| {
            let cloth = cloth(d);
            (cloth.model, cloth.edge, cloth.strain) =
                (Model::Edge(EdgeModel::default()), cloth.strain, crate::Limit::default());
        };
        assert_eq!(schedule(edges), (15, StepRule::EdgeModel));
        let (steps, rule) = schedule(|d| d.solver.scheme = Scheme::Sweep);
        assert!((4..=32).contains(&steps) && rule == StepRule::ExplicitForces, "{steps}");
    }

    #[test]
    fn a_curved_shell_with_a_lower_limit_takes_three_steps() {
        let bend = |d: &mut Description| {
            let cloth = cloth(d);
            cloth.strain.min = Some(-0.05);
            cloth.mesh.positions.iter_mut().for_each(|p| p.y = 0.2 * p.x * p.x);
            cloth.start = cloth.mesh.positions.clone();
        };
        assert_eq!(schedule(bend), (3, StepRule::CurvedShell));
    }

    #[test]
    fn iterations_of_a_frame_are_shared_out_whole() {
        let mut description = sheet();
        description.solver.steps_per_frame = 7;
        let ruler = Ruler::new(description).unwrap();
        let schedule = ruler.schedule();
        for iterations in [7, 8, 50] {
            let shares: Vec<u32> =
                (14..21).map(|step| schedule.share_of_iterations(iterations, step)).collect();
            assert_eq!(shares.iter().sum::<u32>(), iterations);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1, "{shares:?}");
        }
    }

    #[test]
    fn shorter_steps_need_fewer_iterations() {
        let of = |kind| [1, 2, 4, 32, u32::MAX / 4].map(|steps| min_iterations(steps, USUAL_FRAME, kind));
        assert_eq!(of(Kind::Light), [22, 13, 12, 12, 12]);
        assert_eq!(of(Kind::Loaded), [36, 24, 14, 4, 4]);
        assert_eq!(of(Kind::Explicit), [20, 13, 8, 4, 4]);
        assert_eq!(min_iterations(1, 0.5 * USUAL_FRAME, Kind::Light), 13);
        assert_eq!(min_iterations(1, 2.0 * USUAL_FRAME, Kind::Light), 22);
    }

    #[test]
    fn a_schedule_is_said_in_a_sentence() {
        let mut description = sheet();
        description.contact.thickness = 0.01;
        let ruler = Ruler::new(description).unwrap();
        assert_eq!(
            ruler.schedule().to_string(),
            "2 steps per frame: cloth touches only what rests or moves slowly; 1 while nothing is near"
        );
    }
}
