//! Constraints in batches of lanes: coloured Gauss–Seidel on all threads, with the same bits on any number of
//! them. The maths is in [`kernel::pbd`](crate::kernel::pbd).

use crate::{
    element::{Element, colored, iterate::shuffled},
    exec::{
        batch::{lanes_of, weights, xyz},
        colored::{Colored, Corners, Exec, Kernel},
    },
    kernel::{
        lanes::{BATCH, Lanes, Quad},
        pbd::{Stiff, project_bend, project_distance, project_volume},
        random::Random,
        real::V3,
    },
};

/// λ of the constraints of a batch: what they have moved by since the step began, if they are compliant.
pub type Multipliers = [f32; BATCH];

/// A constraint on the length of an edge.
#[derive(Clone, Copy, Debug)]
pub struct Distance {
    /// Vertices.
    pub vertices: [u32; 2],
    /// Length at rest \[m\].
    pub rest: f32,
    /// How stiff it is.
    pub stiff: Stiff<f32>,
}

/// A constraint on the angle of a hinge.
#[derive(Clone, Copy, Debug)]
pub struct Bend {
    /// Edge, then wings.
    pub vertices: [u32; 4],
    /// Sine and cosine of half of its angle at rest.
    pub rest: [f32; 2],
    /// How stiff it is.
    pub stiff: Stiff<f32>,
}

/// A constraint on the volume of a tetrahedron.
#[derive(Clone, Copy, Debug)]
pub struct Volume {
    /// Vertices.
    pub vertices: [u32; 4],
    /// Unit \[1/m²\] that makes a length of a volume, and what the volume at rest is in it \[m\].
    pub rest: [f32; 2],
    /// How stiff it is.
    pub stiff: Stiff<f32>,
}

/// How stiff the constraints of a batch are: k' and α̃.
type StiffLanes = [[f32; BATCH]; 2];

fn stiff_lanes(numbers: &[u32], stiff: impl Fn(usize) -> Stiff<f32>) -> StiffLanes {
    [lanes_of(numbers, 0.0, |e| stiff(e).part), lanes_of(numbers, 0.0, |e| stiff(e).compliance)]
}

#[inline(always)]
fn load_stiff<L: Lanes>(lanes: &StiffLanes, at: usize) -> Stiff<L> {
    Stiff { part: L::load(&lanes[0], at), compliance: L::load(&lanes[1], at) }
}

/// What a batch holds of [`Distance`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct DistanceLanes {
    rest: [f32; BATCH],
    stiff: StiffLanes,
}

/// What a batch holds of [`Bend`] and [`Volume`].
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct RestLanes<const IS_BEND: bool> {
    rest: [[f32; BATCH]; 2],
    stiff: StiffLanes,
}

impl Element<2> for Distance {
    type Lanes = DistanceLanes;

    fn vertices(&self) -> [u32; 2] {
        self.vertices
    }

    fn pack(numbers: &[u32], all: &[Self]) -> DistanceLanes {
        DistanceLanes {
            rest: lanes_of(numbers, 1.0, |e| all[e].rest),
            stiff: stiff_lanes(numbers, |e| all[e].stiff),
        }
    }
}

impl Element<4> for Bend {
    type Lanes = RestLanes<true>;

    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn pack(numbers: &[u32], all: &[Self]) -> RestLanes<true> {
        RestLanes {
            rest: [lanes_of(numbers, 0.0, |e| all[e].rest[0]), lanes_of(numbers, 1.0, |e| all[e].rest[1])],
            stiff: stiff_lanes(numbers, |e| all[e].stiff),
        }
    }
}

impl Element<4> for Volume {
    type Lanes = RestLanes<false>;

    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn pack(numbers: &[u32], all: &[Self]) -> RestLanes<false> {
        RestLanes {
            rest: [0, 1].map(|k| lanes_of(numbers, 0.0, |e| all[e].rest[k])),
            stiff: stiff_lanes(numbers, |e| all[e].stiff),
        }
    }
}

/// A batch of constraints.
pub trait ConstraintLanes<const K: usize>: Sync {
    /// Moves of the vertices, and Δλ of constraints that had `had`. Takes the stretch of edges into `worst`.
    fn project<L: Lanes>(&self, at: usize, corners: &Corners<L, K>, had: L, worst: &mut L)
    -> ([V3<L>; K], L);
}

impl ConstraintLanes<2> for DistanceLanes {
    #[inline(always)]
    fn project<L: Lanes>(
        &self,
        at: usize,
        corners: &Corners<L, 2>,
        had: L,
        worst: &mut L,
    ) -> ([V3<L>; 2], L) {
        let (x, w) = (xyz(&corners.quads), weights(&corners.quads));
        let (rest, stiff) = (L::load(&self.rest, at), load_stiff(&self.stiff, at));
        let (moves, step, stretch) = project_distance(x, w, rest, stiff, had);
        *worst = worst.max(stretch);
        (moves, step)
    }
}

impl<const IS_BEND: bool> ConstraintLanes<4> for RestLanes<IS_BEND> {
    #[inline(always)]
    fn project<L: Lanes>(
        &self,
        at: usize,
        corners: &Corners<L, 4>,
        had: L,
        _worst: &mut L,
    ) -> ([V3<L>; 4], L) {
        let (x, w) = (xyz(&corners.quads), weights(&corners.quads));
        let rest = [L::load(&self.rest[0], at), L::load(&self.rest[1], at)];
        let stiff = load_stiff(&self.stiff, at);
        if IS_BEND {
            project_bend(&x, w, rest, stiff, had)
        } else {
            project_volume(&x, w, rest.into(), stiff, had)
        }
    }
}

/// Projects constraints. Those that are not `COMPLIANT` need no multipliers, and leave them alone.
struct Project<const COMPLIANT: bool>;

impl<D: ConstraintLanes<K>, const K: usize, const COMPLIANT: bool> Kernel<D, K> for Project<COMPLIANT> {
    type Beside = Multipliers;

    #[inline(always)]
    fn apply<L: Lanes>(
        &self,
        data: &D,
        multipliers: &mut Multipliers,
        at: usize,
        corners: &Corners<L, K>,
        worst: &mut L,
    ) -> Option<[V3<L>; K]> {
        let had = if COMPLIANT { L::load(multipliers, at) } else { L::splat(0.0) };
        let (moves, step) = data.project(at, corners, had, worst);
        if COMPLIANT {
            (had + step).store(multipliers, at);
        }
        Some(moves)
    }
}

/// All constraints of one kind.
#[derive(Clone, Debug)]
pub struct Constraints<D, const K: usize> {
    colored: Colored<D, K>,
    is_compliant: bool,
}

impl<D, const K: usize> Constraints<D, K> {
    /// These, of vertices below `spare`; `is_compliant`: some have a compliance.
    pub fn new<E: Element<K, Lanes = D>>(spare: u32, elements: &[E], is_compliant: bool) -> Self {
        Self { colored: colored(spare as usize, spare, elements), is_compliant }
    }

    /// How many colours and batches there are.
    pub fn counts(&self) -> [usize; 2] {
        [self.colored.color_count(), self.colored.batch_count()]
    }
}

impl<D: ConstraintLanes<K>, const K: usize> Constraints<D, K> {
    /// Projects each once, colours in random order, so that a symmetric sheet is not pulled to one side.
    /// `order` is scratch. Gives the largest stretch met on the way.
    pub fn project(
        &self,
        exec: Exec,
        x: &mut [Quad],
        multipliers: &mut [Multipliers],
        random: &mut Random,
        order: &mut Vec<u32>,
    ) -> f32 {
        shuffled(order, self.colored.color_count(), random);
        order.iter().fold(0.0, |worst, &color| {
            let color = color as usize;
            worst.max(if self.is_compliant {
                self.colored.sweep_color(exec, color, x, multipliers, &Project::<true>)
            } else {
                self.colored.sweep_color(exec, color, x, multipliers, &Project::<false>)
            })
        })
    }
}
