//! Terms: the blocks of the splitting that [`Scheme::Nearest`](crate::Scheme::Nearest) solves.
//!
//! A term keeps one thing: strains of triangles in range, vertices outside obstacles, twins of a seam
//! together. It says what it keeps between steps, what it adds to the matrix, how it pulls, and how far it is
//! from being met. The [ADMM loop](crate::solve::nearest::admm) calls the terms of a filter in the order of
//! its list and knows none of them by name. One file a term; ARCHITECTURE.md says how to add one.
//!
//! | term | file | its dual |
//! |---|---|---|
//! | principal stretches of triangles | [`strain`] | a symmetric 2×2 matrix a triangle, turned with it |
//! | principal stretches of tetrahedra | [`tetrahedra`] | a symmetric 3×3 matrix a tetrahedron |
//! | volumes around vertices | [`volume`], solved within [`tetrahedra`] | a pressure a vertex |
//! | bend limits of hinges | [`bend_limit`] | a number a hinge |
//! | bending, implicit | [`curvature`] (flat at rest), [`bending`] | none: an energy, not a limit |
//! | jumps of nonconforming triangles | [`jump`] | a vector an edge |
//! | obstacles | [`obstacle`] | a vector a vertex |
//! | touching parts of surfaces | [`pair`] | a vector a pair, for one step |
//! | open seams | [`seam`] | a vector a stitch |
//! | grips | [`grip`] | none: limits win |
//! | rigid bodies | [`rigid`] | a vector a vertex and body |
//! | pressure inside closed cloth | [`pressure`] | a pressure a bag |
//! | particles and springs | [`spring`] | a multiplier a segment, a vector a spring to cloth |
//!
//! Dispatch is dynamic once a term and call, static inside: a call goes over hundreds of elements in lanes.

pub mod bend_limit;
pub mod bending;
pub mod corners;
pub mod curvature;
pub mod grip;
pub mod jump;
pub mod obstacle;
pub mod pair;
pub mod pressure;
pub mod rigid;
pub mod seam;
pub mod spring;
pub mod strain;
pub mod tetrahedra;
pub mod volume;

use std::{fmt::Debug, ops::Range, sync::Arc};

use glam::Vec3;

use crate::{
    boundary::{
        grip::Grips,
        motion::Pose,
        seam::{Sewing, Sewn},
    },
    contact::touching::Touching,
    hierarchy::multigrid::{Cycle, Stiff},
    kernel::lanes::Quad,
    limit::Settings,
    solve::nearest::{filter::Filter, ramp::Opening, tuning::bends_end_from},
};
use corners::Pulling;
use obstacle::Surroundings;

/// The fixed part of a term: tables that do not change while it runs. Copies of a filter share it.
pub trait Block: Debug + Send + Sync {
    /// Its name, of all terms of a filter.
    fn name(&self) -> &'static str;

    /// Number of floats that its term keeps from one step to the next.
    fn kept(&self) -> usize {
        0
    }

    /// Adds its share of the matrix that does not change.
    fn matrix<'a>(&'a self, _stiff: &mut Stiff<'a>) {}

    /// The part that changes, with memory for all that a step needs.
    fn term(self: Arc<Self>) -> Box<dyn Term>;

    /// How far the filter's vertices `x` are from meeting it, for the certificate, in its own unit. Terms
    /// that a certificate measures in a section of its own say nothing here.
    fn excess(&self, _x: &[Quad]) -> Option<f64> {
        None
    }
}

/// What the scene is like when a step begins. Told to all terms one after the other, before filters run side
/// by side.
#[derive(Debug)]
pub struct Scene<'a> {
    /// Positions of all vertices of the world at the start of the step, and as predicted \[m\].
    pub old: &'a [Quad],
    /// See `old`.
    pub x: &'a [Quad],
    /// Parts of surfaces that may touch in this step.
    pub touching: &'a [Touching],
    /// Vertices of the world that may touch an obstacle in this step, in ascending order.
    pub near_obstacles: &'a [u32],
    /// What springs need to know.
    pub springs: spring::SpringInputs<'a>,
    /// Seams.
    pub sewing: &'a Sewing,
    /// How far apart they may be.
    pub sewn: &'a Sewn,
    /// Points that a pointer pulls at.
    pub grips: &'a Grips,
    /// Rigid bodies at the start of the step, and where they would go.
    pub poses: &'a [[Pose; 2]],
    /// Mean mass of the vertices of all bodies \[kg\].
    pub mean_mass: f32,
    /// Length of the step \[s\].
    pub dt: f32,
    /// When it ends \[s\].
    pub time: f32,
    /// How much further than its predicted way a vertex may be carried \[m\].
    pub reach: f32,
}

/// Where the solve of a step leaves what belongs to the scene. Asked of all terms one after the other.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// Points that a pointer pulls at.
    pub grips: &'a mut Grips,
    /// Rigid bodies at the start of the step, and at its end.
    pub poses: &'a mut [[Pose; 2]],
}

/// One step of one filter, as terms see it.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Threads and lanes.
    pub settings: &'a Settings<'a>,
    /// The filter: masses, lengths, which vertex stands for which.
    pub filter: &'a Filter,
    /// Obstacles, and the filter's vertices at the start of the step.
    pub around: Surroundings<'a>,
    /// Largest residual past a limit at which the step may end.
    pub tolerance: f32,
    /// Largest excess past a bend limit at which it may end: the sine of half that angle.
    pub bend_tolerance: f32,
    /// How deep inside an obstacle a vertex may be at the end \[m\].
    pub shallow: f32,
    /// Whether anything may touch.
    pub touching: bool,
    /// Whether parts of surfaces may touch each other.
    pub between_surfaces: bool,
    /// Whether a body with mass may touch.
    pub is_loaded: bool,
    /// Factor on stiffness inside the limits, of bending too: 1 but for first steps.
    pub stiffening: f32,
    /// Whether bodies hardly move.
    pub is_calm: bool,
    /// Whether it is too short for the usual stages of an implicit integrator.
    pub is_short: bool,
}

/// A stage of the κ ramp.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Its number: of the matrices that go with it.
    pub index: usize,
    /// The ramp's factor c.
    pub c: f32,
    /// κ.
    pub kappa: f32,
    /// Over-relaxation of triangles; 1: none.
    pub over_relaxation: f32,
    /// Whether the next iteration is known to be one of another stage.
    pub is_last: bool,
}

/// Where the iterations of a step are.
#[derive(Clone, Copy, Debug)]
pub struct Iteration {
    /// Its number, from 0.
    pub number: u32,
    /// Whether all is met.
    pub within: bool,
}

/// How far all terms of a filter are from being met. Terms add to it in the order of the list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Excess {
    /// Largest residual past a strain limit.
    pub worst: f32,
    /// Sum of these residuals.
    pub sum: f64,
    /// Number of elements that have one.
    pub count: usize,
    /// Largest excess past a bend limit: the sine of half that angle.
    pub bend: f32,
    /// Largest residual past a strain limit as far as it has given way.
    pub beyond: f32,
    /// The same of bend limits, as `bend`.
    pub bend_beyond: f32,
    /// Whether there are limits that can give way.
    pub can_give_way: bool,
    /// Whether something else is not met.
    pub unmet: bool,
}

impl Excess {
    /// Mean residual past the strain limits.
    pub fn mean(&self) -> f32 {
        (self.sum / self.count.max(1) as f64) as f32
    }

    /// Whether limits are met as far as they have given way, in iteration `number`. Bend limits are not
    /// waited for without end.
    pub fn is_met_after_giving_way(&self, step: &Step, number: u32) -> bool {
        let bends_end = self.bend_beyond <= step.bend_tolerance || number >= bends_end_from(step);
        self.can_give_way && self.beyond <= step.tolerance && bends_end
    }
}

/// Whether the weights of a term have changed since the matrix was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stale {
    /// They have not.
    No,
    /// They have, by little against the rest of the matrix: that can wait.
    Waits,
    /// They have, and the next solve needs them.
    Now,
}

/// The part of a term that changes: duals, weights, scratch. Between steps it holds nothing that is not in
/// what it keeps.
///
/// In a step: [`prepare`](Term::prepare), [`begin`](Term::begin), [`enter`](Term::enter) the first stage; in
/// each iteration [`local`](Term::local), [`measure`](Term::measure) where the loop looks,
/// [`pull`](Term::pull), the multigrid cycle, [`after_cycle`](Term::after_cycle); at last
/// [`end`](Term::end) and [`report`](Term::report).
pub trait Term: Debug + Send {
    /// Learns what concerns it in this step.
    fn prepare(&mut self, _scene: &Scene, _filter: &Filter) {}

    /// Whether it may touch something in this step.
    fn touches(&self) -> bool {
        false
    }

    /// Whether parts of surfaces may touch each other in this step because of it.
    fn is_between_surfaces(&self) -> bool {
        false
    }

    /// Whether it may bring a load to bear on others in this step, which takes many iterations to carry.
    fn is_load(&self) -> bool {
        false
    }

    /// Factor on the tolerance while it is there; the smallest of all counts.
    fn tolerance_factor(&self) -> f32 {
        1.0
    }

    /// Tolerance that is tight enough while it is there.
    fn least_tolerance(&self) -> f32 {
        0.0
    }

    /// Least number of iterations of the step because of it, so that motion is not biased.
    fn least_iterations(&self, _step: &Step) -> u32 {
        0
    }

    /// How deep inside an obstacle a vertex may be at the end of the step so that pushing it out does not
    /// break this term \[m\]; `so_far` is what earlier terms say, `edge` the mean length of an edge \[m\].
    fn depth_allowed(&self, so_far: f32, _edge: f32, _tolerance: f32) -> f32 {
        so_far
    }

    /// Changes the goal of the step: where vertices would be without limits \[m\].
    fn set_goal(&self, _filter: &Filter, _goal: &mut [Quad]) {}

    /// Warm start from what was `kept`, before a stage is chosen.
    fn begin(&mut self, _step: &Step, _x: &mut [Quad], _kept: &mut [f32]) {}

    /// Whether the last few elements may be settled one by one, and steps begin with the softest stage, as
    /// far as this term is concerned.
    fn allows_finish(&self) -> bool {
        false
    }

    /// What a step should begin with because of it; the wish of the last term that has one counts.
    fn opening(&self, _step: &Step, _x: &[Quad]) -> Option<Opening> {
        None
    }

    /// Warm start in the first stage.
    fn enter(&mut self, _step: &Step, _x: &[Quad], _kept: &[f32], _stage: &Stage) {}

    /// Marks the vertices that touch something, or nearly do.
    fn mark_touched(&self, _touched: &mut [bool]) {}

    /// Whether limits of it have given way in earlier steps.
    fn has_given_way(&self) -> bool {
        false
    }

    /// Takes back limits that have given way, where no vertex is `touched`.
    fn come_back(&mut self, _touched: &[bool]) {}

    /// The next stage is stiffer: κ has grown by `growth`.
    fn rescale(&mut self, _growth: f32) {}

    /// Adds its weights to the `diagonal` of the matrix: they are no longer stale.
    fn weigh(&mut self, _step: &Step, _stage: &Stage, _diagonal: &mut [f32]) {}

    /// Whether weights have changed since.
    fn stale(&self) -> Stale {
        Stale::No
    }

    /// More weight for what is not met, as far as the `diagonal` of the matrix allows. Says whether that
    /// changed.
    fn strengthen(&mut self, _step: &Step, _stage: &Stage, _diagonal: &[f32]) -> bool {
        false
    }

    /// What every element does by itself: project, update its dual, note its pulls; `look` also measures.
    fn local(&mut self, _step: &Step, _x: &mut [Quad], _stage: &Stage, _look: bool) {}

    /// Pulls that wait at the corners of its elements, or are linear in the positions `x`, to be gathered
    /// vertex by vertex.
    fn pulling<'a>(&'a self, _x: &'a [Quad]) -> Option<Pulling<'a>> {
        None
    }

    /// Adds other pulls to the residual `r`.
    fn pull(&mut self, _step: &Step, _x: &[Quad], _stage: &Stage, _r: &mut [Quad]) {}

    /// Adds how far it is from being met, as it was last measured.
    fn measure(&self, _step: &Step, _x: &[Quad], _iteration: u32, _excess: &mut Excess) {}

    /// Settles the last few elements one by one. Says whether all is met then; leaves `x` as it was if not.
    fn finish(&mut self, _step: &Step, _x: &mut [Quad], _iteration: u32) -> bool {
        false
    }

    /// Gives way to limits that cannot be met, when it is time. Says whether that changed its weights.
    fn give_way(&mut self, _step: &Step, _iteration: Iteration) -> bool {
        false
    }

    /// Number of elements that are past their limits, which have given way.
    fn given_way(&self, _step: &Step) -> u32 {
        0
    }

    /// Whether it would come no nearer to being met.
    fn is_exhausted(&self, _step: &Step) -> bool {
        true
    }

    /// Whether contact is settled enough to end.
    fn is_settled(&self, _step: &Step) -> bool {
        true
    }

    /// Pushes vertices out of obstacles, unless one is deep inside, and notes them in `moved` with where they
    /// were. Says whether contact is settled enough to end then.
    fn push_out(&self, step: &Step, _x: &mut [Quad], _moved: &mut Vec<(u32, Quad)>) -> bool {
        self.is_settled(step)
    }

    /// Whether its elements at the `moved` vertices are within the tolerance at `x`.
    fn is_within(&self, _step: &Step, _x: &[Quad], _moved: &[(u32, Quad)]) -> bool {
        true
    }

    /// Solves for unknowns of its own after a cycle has moved `x`, and moves `x` with them.
    fn after_cycle(&mut self, _step: &Step, _stage: &Stage, _cycle: &mut Cycle, _x: &mut [Quad]) {}

    /// Leaves what the next step is to start from in `kept`.
    fn end(&mut self, _step: &Step, _x: &mut [Quad], _stage: &Stage, _kept: &mut [f32]) {}

    /// The last word: pushes out of obstacles what must not stay inside.
    fn expel(&self, _x: &mut [Quad]) {}

    /// Calls `add` with the vertices of the filter that the step has put at places which single precision
    /// does not resolve, and with what is left out there \[m\].
    fn remainders(&self, _add: &mut dyn FnMut(usize, Vec3)) {}

    /// Tells the scene what has become of what belongs to it.
    fn report(&self, _filter: &Filter, _outcome: &mut Outcome) {}
}

/// Numbers of those of `count` elements that belong to the vertices `vertices` of whole bodies: elements of a
/// body follow each other. `vertex` gives one of each.
fn span(count: usize, vertices: &Range<usize>, vertex: impl Fn(usize) -> usize) -> Range<usize> {
    let own = |e: &usize| vertices.contains(&vertex(*e));
    let start = (0..count).find(own).unwrap_or(count);
    start..start + (start..count).take_while(own).count()
}
