//! Hair: strands solved one by one, against all else as it ends the step.
//!
//! | box | where |
//! |---|---|
//! | roots follow what carries them | [`RootTable`](crate::boundary::root::RootTable) |
//! | what points touch | [`StrandContacts`], as planes |
//! | which strands touch | [`StrandPairs`] |
//! | rods: bending, twist, limits on length | [`Strands::solve`](crate::strand::Strands::solve) |
//! | or the lecture's springs | [`SpringModel::advance`](crate::strand_springs::SpringModel::advance) |
//! | what is deep in something goes around it | [`around`] |
//! | what is touched is pushed back | [`StrandBox::push_back`] |
//!
//! Hair weighs little, so that it need not be solved together with cloth: cloth and bodies get the impulse of
//! what they have held up at the end of the step, and answer in the next one.

use glam::{Quat, Vec3};

use super::{FrameReport, Stepper, boxes::Span};
use crate::{
    Body, Hair, Limit, State, World,
    boundary::{rigid::RigidState, root::RootPlace},
    contact::strands::{Around, StrandContacts, Thing, Touch},
    exec::threads::Threads,
    hair_pairs::{NodeBlock, PairLaw, PairState, StrandPairs},
    kernel::lanes::{LaneKind, Quad},
    limit::enforce::Enforced,
    schedule::{StepBudget, square_factor},
    strand::{Solved, StrandScratch, StrandStep},
    strand_springs::{RootTarget, SegmentLimits, SpringScratch, SpringState, SpringStep},
    velocity::predict::drag_factor,
    world::hair::HairTables,
};

mod around;
mod outside;
mod roots;

use outside::{CONTACT, Outside, PackedBlock, Planes, pack};

/// Points below which a loop is not shared between threads.
const GRAIN: usize = 1024;

/// Newton iterations without forces between strands, and between evaluations of these. More evaluations do
/// not converge (see the findings in the book), so that they are frozen after the last.
const PAIR_PASSES: [usize; 4] = [2, 3, 3, StrandStep::<()>::ITERATIONS];

/// Stiffness of contact of strands, in units of inertia. Each strand is solved with others where they were,
/// so that stiffer contact would hold them there.
const PAIR_STIFFNESS: f32 = 50.0;

/// Distance that segments of different strands may approach each other by in a pass \[m\].
const PAIR_MARGIN: f32 = 2.5e-4;

/// Depth at which points may end a step \[m\]: contact with friction does not converge in every step.
const DEEP: f32 = 2e-4;

/// Most substeps of the lecture's springs in a step.
const MOST_SUBSTEPS: u32 = 100_000;

/// Memory of the strands of a world.
#[derive(Debug, Default)]
pub(super) struct StrandBox {
    hair: Vec<OneHair>,
    contacts: StrandContacts,
    pairs: Option<(PairLaw, StrandPairs)>,
    blocks: Vec<NodeBlock>,
    packed: Vec<PackedBlock>,
    /// By point of all strands: where they would go, the factor on their mass, their mass \[kg\], the mean
    /// mass of a point of their strand \[kg\].
    goal: Vec<Quad>,
    inertia: Vec<f32>,
    mass: Vec<f32>,
    mean_mass: Vec<f32>,
    /// The root that it hangs from, of those of its hair; `u32::MAX` if it is of a free piece.
    root: Vec<u32>,
    /// How deep it is in something at the end of the step \[m\], else 0, and in what.
    depth: Vec<f32>,
    met: Vec<Option<Touch>>,
}

/// Memory of one hair.
#[derive(Debug)]
struct OneHair {
    rods: Option<StrandScratch>,
    springs: Option<SpringScratch>,
    /// By strand: the direction m₁ of its first segment at the end of the step, 0 of free pieces.
    frames: Vec<Quad>,
    /// By strand: its root, if it has one.
    rooted: Vec<Option<u32>>,
    /// By root: where it is at the start and the end of the step, and the turn between these.
    roots: Vec<[RootPlace; 2]>,
    turns: Vec<Quat>,
    targets: Vec<RootTarget>,
}

impl StrandBox {
    /// For `world`, and this many threads.
    pub fn new(world: &World, threads: usize) -> Self {
        if world.hair.is_empty() {
            return Self::default();
        }
        let count = world.strands.len();
        let hairs = || world.description.bodies.iter().filter_map(Body::as_hair);
        let one = |(hair, described): (&HairTables, &Hair)| OneHair {
            rods: hair.springs.is_none().then(|| hair.strands.scratch(threads, CONTACT)),
            springs: hair.springs.as_ref().map(|springs| springs.scratch()),
            frames: Vec::new(),
            rooted: described.rooted(),
            roots: Vec::new(),
            turns: Vec::new(),
            targets: Vec::new(),
        };
        let (mut mass, mut mean_mass) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut root = Vec::with_capacity(count);
        for (hair, tables) in hairs().zip(&world.hair) {
            for (own, of) in hair.groom.strands().zip(hair.rooted()) {
                root.extend(own.clone().map(|_| of.unwrap_or(u32::MAX)));
                let masses = &tables.strands.masses()[own];
                let mean = masses.iter().sum::<f32>() / masses.len() as f32;
                mass.extend_from_slice(masses);
                mean_mass.extend(masses.iter().map(|_| mean));
            }
        }
        let counts: Vec<u32> = hairs().flat_map(|hair| hair.groom.counts.iter().copied()).collect();
        let law = law(world);
        Self {
            hair: world.hair.iter().zip(hairs()).map(one).collect(),
            contacts: StrandContacts::new(world),
            pairs: law.map(|law| (law, StrandPairs::new(&counts))),
            blocks: if law.is_some() { vec![NodeBlock::default(); count] } else { Vec::new() },
            packed: vec![PackedBlock::default(); if law.is_some() { count } else { 0 }],
            goal: vec![[0.0; 4]; count],
            inertia: vec![1.0; count],
            mass,
            mean_mass,
            root,
            depth: vec![0.0; count],
            met: vec![None; count],
        }
    }
}

/// How strands act on each other: the thickest hair decides. `None` if all pass through each other.
fn law(world: &World) -> Option<PairLaw> {
    let contacts = world.description.bodies.iter().filter_map(Body::as_hair).map(|hair| hair.contact);
    let thickest = contacts.max_by(|a, b| a.thickness.total_cmp(&b.thickness))?;
    (thickest.thickness > 0.0).then_some(PairLaw {
        thickness: thickest.thickness,
        friction: thickest.friction,
        cohesion: thickest.cohesion,
        stiffness: PAIR_STIFFNESS,
    })
}

impl Stepper {
    /// Hair: roots go with what carries them, and strands follow. They are solved against what is around as
    /// it ends the step.
    pub(super) fn solve_strands(
        &mut self,
        world: &World,
        state: &mut State,
        span: Span,
        budget: StepBudget,
        (enforced, report): (&mut Enforced, &mut FrameReport),
    ) {
        if world.hair.is_empty() {
            return;
        }
        let range = world.strands.clone();
        let dt = span.dt;
        self.place_roots(world, state, span);
        let Self { strands, old, inertia, predicted, predicted_v, old_v, threads, lanes, poses, .. } = self;
        let first = range.start;
        threads.each_pair(&mut strands.goal, &mut strands.inertia, GRAIN, |from, goal, factors| {
            let begin = first + from;
            goal.copy_from_slice(&state.x[begin..begin + goal.len()]);
            for (v, factor) in (begin..).zip(factors) {
                // A grip makes its corners heavier.
                let own = state.x[v][3];
                let grip = if own > 0.0 { world.inverse_masses[v] / own } else { 1.0 };
                *factor = inertia[v] * grip;
            }
        });
        strands.guess(world, threads, &old[range.clone()], &mut state.x[range.clone()]);
        let around = Around { world, old, x: &state.x };
        strands.contacts.begin(threads, around, span.times, poses);
        let mut solved = Solved::default();
        if world.hair.iter().any(|hair| hair.springs.is_none()) {
            let exec = (&*threads, *lanes);
            let factor = square_factor(world.schedule.integrator) as f32 * self.stiffening;
            solved = strands.solve_rods(world, state, old, (factor * dt * dt, dt), exec);
        }
        for (k, hair) in world.hair.iter().enumerate().filter(|(_, hair)| hair.springs.is_some()) {
            strands.advance_springs(world, state, (old, old_v), (k, hair), span, (threads, *lanes));
            // They have velocities of their own.
            let own = hair.vertices.clone();
            predicted[own.clone()].copy_from_slice(&state.x[own.clone()]);
            predicted_v[own.clone()].copy_from_slice(&state.v[own]);
        }
        strands.meet(world, state, old, threads);
        strands.expel(world, state);
        let iterations = (solved.largest_iterations as u32).min(budget.iterations);
        enforced.iterations = enforced.iterations.max(iterations);
        enforced.converged &= solved.reset == 0;
        report.unsettled += solved.fallbacks as u32;
        report.iterations += iterations;
        report.rescued += solved.reset as u32;
    }
}

impl StrandBox {
    /// Marks the points that touch something, of all vertices.
    pub(super) fn mark_touched(&self, world: &World, touched: &mut [bool]) {
        let own = touched[world.strands.start..].iter_mut();
        own.zip(&self.depth).for_each(|(touched, depth)| *touched |= *depth > 0.0);
    }

    /// What strands touched gets the impulse of what it held up in a step of `dt` \[s\]: cloth, and bodies
    /// with mass. `c_dt2` is that of the step \[s²\].
    pub(super) fn push_back(
        &self,
        world: &World,
        (x, v, rigid): (&[Quad], &mut [Quad], &mut [RigidState]),
        (c_dt2, dt): (f32, f32),
    ) {
        for (k, depth) in self.depth.iter().enumerate().filter(|(_, depth)| **depth > 0.0) {
            let Some(touch) = &self.met[k] else { continue };
            // Points that are deeper are not held up by anything: what they would push with is no force.
            let force = outside::STIFFNESS * self.mean_mass[k] / c_dt2 * depth.min(DEEP);
            let impulse = -force * dt * touch.normal;
            match touch.thing {
                Thing::Fixed | Thing::Closed => {}
                Thing::Face(corners, weights) => {
                    for (corner, weight) in corners.iter().zip(weights) {
                        let corner = *corner as usize;
                        let w = x[corner][3] * world.inverse_mass_unit;
                        (0..3).for_each(|c| v[corner][c] += impulse[c] * weight * w);
                    }
                }
                Thing::Body(body) => {
                    let described = &world.description.rigid_bodies[body as usize];
                    let rigid = &mut rigid[body as usize];
                    let at = Vec3::from_slice(&x[world.strands.start + k][..3]);
                    rigid.velocity += impulse / described.mass;
                    let turn = (at - rigid.pose.position).cross(impulse);
                    let inertia = described.inertia_in_space(rigid.pose.rotation);
                    rigid.angular_velocity += inertia.inverse() * turn;
                }
            }
        }
    }

    /// Solves all strands that are rods, in a step of `dt` \[s\]; in passes where something has to be looked
    /// for where they are by then.
    fn solve_rods(
        &mut self,
        world: &World,
        state: &mut State,
        old: &[Quad],
        (c_dt2, dt): (f32, f32),
        exec: (&Threads, LaneKind),
    ) -> Solved {
        let mut solved = Solved::default();
        let last = PAIR_PASSES.len() - 1;
        let passes: &[usize] = match (&self.pairs, self.contacts.has_faces()) {
            (Some(_), _) => &PAIR_PASSES,
            (None, true) => &PAIR_PASSES[last - 1..],
            (None, false) => &PAIR_PASSES[last..],
        };
        let range = world.strands.clone();
        for (pass, &cap) in passes.iter().enumerate() {
            let is_last = pass + 1 == passes.len();
            self.contacts.detect(exec.0, Around { world, old, x: &state.x });
            if let (Some((law, pairs)), true) = (&mut self.pairs, pass > 0) {
                let x = &state.x[range.clone()];
                if pass == 1 {
                    pairs.search(x, law.reach() + PAIR_MARGIN, exec.0);
                }
                let state = PairState { x, old: &old[range.clone()], mass: &self.mass, c_dt2 };
                pairs.evaluate(law, &state, &mut self.blocks, exec.0);
                let blocks = &self.blocks;
                exec.0.each(&mut self.packed, GRAIN, |first, packed| {
                    for ((packed, block), x) in packed.iter_mut().zip(&blocks[first..]).zip(&x[first..]) {
                        *packed = pack(block, x);
                    }
                });
            }
            // Nothing is known of pairs in the first pass.
            let has_pairs = pass > 0 && self.pairs.is_some();
            let pass = self.solve_pass(world, state, old, (c_dt2, dt, cap, is_last, has_pairs), exec);
            solved = Solved { iterations: solved.iterations + pass.iterations, ..pass };
        }
        solved
    }

    fn solve_pass(
        &mut self,
        world: &World,
        state: &mut State,
        old: &[Quad],
        (c_dt2, dt, cap, is_last, has_pairs): (f32, f32, usize, bool, bool),
        (threads, lanes): (&Threads, LaneKind),
    ) -> Solved {
        let Self { hair, contacts, goal, inertia, packed, .. } = self;
        let State { x, strands, .. } = state;
        let mut solved = Solved::default();
        for (tables, one) in world.hair.iter().zip(hair) {
            let Some(scratch) = &mut one.rods else { continue };
            let own = tables.vertices.clone();
            let among = own.start - world.strands.start..own.end - world.strands.start;
            let planes = Planes {
                world,
                contacts,
                first: own.start,
                blocks: if has_pairs { &packed[among.clone()] } else { &[] },
                c_dt2,
            };
            let damping = f64::from(world.bodies[tables.body].damping);
            let formula = if c_dt2 < 0.9 * dt * dt {
                crate::velocity::predict::Formula::Bdf2
            } else {
                crate::velocity::predict::Formula::Euler
            };
            let step = StrandStep {
                goal: &goal[among.clone()],
                old: &old[own.clone()],
                inertia: &inertia[among],
                c_dt2: c_dt2 / drag_factor(formula, damping, dt.into()) as f32,
                root_frames: (!one.frames.is_empty()).then_some(&one.frames[..]),
                forces: &Outside(planes),
                iterations: cap,
                is_last,
            };
            let kept = &mut strands[tables.kept.clone()];
            solved.add(&tables.strands.solve(threads, lanes, &step, (&mut x[own], kept), scratch));
        }
        solved
    }

    /// Takes the lecture's springs through the step.
    fn advance_springs(
        &mut self,
        world: &World,
        state: &mut State,
        (old, old_v): (&[Quad], &[Quad]),
        (k, tables): (usize, &HairTables),
        span: Span,
        exec: (&Threads, LaneKind),
    ) {
        let (Some(springs), Some(hair)) = (&tables.springs, world.description.bodies[tables.body].as_hair())
        else {
            return;
        };
        let one = &mut self.hair[k];
        let Some(scratch) = &mut one.springs else { return };
        let own = tables.vertices.clone();
        let State { x, v, strands, .. } = state;
        // Springs integrate by themselves, from where the step began.
        for i in own.clone() {
            x[i][..3].copy_from_slice(&old[i][..3]);
            v[i][..3].copy_from_slice(&old_v[i][..3]);
        }
        let Limit { min, max } = hair.stretch;
        let step = SpringStep {
            dt: span.dt,
            gravity: world.description.gravity_at(span.times[0]),
            drag: hair.material.damping,
            roots: (!one.targets.is_empty()).then_some(&one.targets[..]),
            max_substeps: MOST_SUBSTEPS,
            limits: SegmentLimits { min, max, break_strain: None },
        };
        let outside = outside::Pushes::new(world, &self.contacts, hair, own.start, old, span.dt);
        let given =
            SpringState { x: &mut x[own.clone()], v: &mut v[own], kept: &mut strands[tables.kept.clone()] };
        springs.advance(exec, given, &step, &outside, scratch);
    }

    /// What points touch at the end of the step.
    fn meet(&mut self, world: &World, state: &State, old: &[Quad], threads: &Threads) {
        let Self { contacts, depth, met, .. } = self;
        let (contacts, first) = (&*contacts, world.strands.start);
        threads.each_pair(depth, met, GRAIN, |from, depth, met| {
            for (k, (depth, met)) in depth.iter_mut().zip(met).enumerate() {
                let v = first + from + k;
                *depth = 0.0;
                if state.x[v][3] <= 0.0 {
                    continue;
                }
                let p = Vec3::from_slice(&state.x[v][..3]);
                let way = p.distance(Vec3::from_slice(&old[v][..3]));
                let Some(touch) = contacts.touch(world, v, p, 1e-6_f32.min(way)) else { continue };
                *depth = (touch.offset - touch.normal.dot(p)).max(0.0);
                *met = Some(touch);
            }
        });
    }
}
