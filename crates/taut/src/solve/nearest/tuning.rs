//! Every tuned number of the solver, and of its terms.

// ---- κ ramp -------------------------------------------------------------------------------------------

/// Factors c on the stiffness κ, from soft to stiff.
pub const RAMP: [f32; 4] = [0.003, 0.03, 0.3, 1.0];

/// Iterations that each stage but the last is given before the next is tried, which happens only if the
/// limits are not met by then.
pub const MIN_ITERATIONS_PER_STAGE: [u32; 3] = [8, 6, 14];

/// The same where something may touch: contacts have to be found meanwhile.
pub const MIN_ITERATIONS_PER_STAGE_TOUCHING: [u32; 3] = [8, 8, 16];

/// Mean residual over the largest one, of the prediction, below which a step starts with the softest stage:
/// what has to be mended is then so small a part of the body that the second would drag along too much.
pub const LOCAL_VIOLATION: f32 = 0.002;

/// The stage that a step starts with where there are tetrahedra. What resists in three directions is dragged
/// along less by stiffness: a clamped bar comes to rest where a converged run does, calmer than with softer
/// stages, which missed one of its frames.
pub const FIRST_STAGE_TETRAHEDRA: usize = 3;

/// The same where they touch something: with the last, what is hit stops too soon.
pub const FIRST_STAGE_TETRAHEDRA_TOUCHING: usize = 2;

// ---- iterations ---------------------------------------------------------------------------------------

/// Fraction of the tolerance that the mean residual may have at the end.
pub const MEAN_TOLERANCE: f32 = 0.1;

/// Fraction of the last step's duals that a step starts with.
pub const WARM_START: f32 = 0.9;

// ---- the last few triangles ---------------------------------------------------------------------------

/// Iterations after which more triangles may be settled one by one, and only every fourth iteration tries.
pub const FINISH_LONG: u32 = 32;

/// See [`FINISH_LONG`].
pub const FINISH_EVERY: u32 = 4;

/// Fraction of the tolerance that a projection leaves: room for the neighbours' projections.
pub const FINISH_LEAVES: f32 = 0.7;

/// Fraction of all triangles that may be past the tolerance. With more it would work as well, but ends steps
/// whose duals have not settled yet, and motion suffers.
pub const FINISH_FEW: f64 = 0.0003;

/// Projections that a triangle past the tolerance may cause before it is given up.
pub const FINISH_PATIENCE: usize = 100;

/// Most moves of vertices.
pub const FINISH_MOVES: usize = 30_000;

// ---- limits that give way -----------------------------------------------------------------------------

/// Iteration from which on limits of tetrahedra that are not met give way. Where nothing touches it is rare
/// that they cannot be met.
pub const GIVE_WAY_FROM: u32 = 144;

/// The same where something touches.
pub const GIVE_WAY_TOUCHING_FROM: u32 = 48;

/// Iterations between two times that limits give way.
pub const GIVE_WAY_EVERY: u32 = 16;

/// The iteration from which on limits give way.
pub fn give_way_from(touching: bool) -> u32 {
    if touching { GIVE_WAY_TOUCHING_FROM } else { GIVE_WAY_FROM }
}

/// Factor on the mean excess around an element by which its limits give way: a little more than is lost, so
/// that it is enough soon.
pub const SLACK_GENEROSITY: f32 = 1.1;

/// Mean excess up to which limits are met in the end, given time, however tight the tolerance is.
pub const SLACK_LEAST_LOSS: f32 = 0.005;

/// Slack below this is forgotten.
pub const SLACK_FORGOTTEN: f32 = 1e-3;

/// Fraction that a step starts with of how far limits gave way in the last, in parts that touch nothing which
/// would ask for it again.
pub const SLACK_WARM_ALONE: f32 = 0.5;

/// Iteration from which on grips give way to limits that are not met.
pub const GRIP_GIVES_WAY_FROM: u32 = 20;

/// Iterations between two times that grips give way.
pub const GRIP_GIVES_WAY_EVERY: u32 = 4;

// ---- volumes ------------------------------------------------------------------------------------------

/// Sweeps over the pressures in an iteration.
pub const VOLUME_SWEEPS: u32 = 2;

/// Fraction of what would mend a ring whose neighbours stay that a sweep adds to its pressure.
pub const VOLUME_SHARE: f32 = 0.7;

/// Fraction of the tolerance that a ring may be off without any pressure. Errors that change sign from vertex
/// to vertex are hardly felt by pressures, which are means over elements: driven to 0, they come back a
/// little larger with every step.
pub const VOLUME_BAND: f32 = 0.4;

/// Fraction of the tolerance that is used where something touches: pushing vertices out of obstacles at the
/// end changes volumes.
pub const VOLUME_TOUCHING: f32 = 0.8;

/// Largest relative error of an element that counts: predictions may be wild.
pub const VOLUME_ERROR_MOST: f32 = 0.5;

/// Slack from which on volume gives way too, and pressure ends.
pub const VOLUME_YIELDED: f32 = 0.02;

/// Fraction of the error some iterations ago that is left, at least, where volumes cannot be kept.
pub const VOLUME_STALLED: f32 = 0.95;

// ---- bend limits --------------------------------------------------------------------------------------

/// Weight of hinges against triangles: with 1, strain takes half as many iterations again; with 0.1, bend
/// does.
pub const BEND_WEIGHT: f32 = 0.3;

/// Least and largest mean stretch of a hinge's wings that is believed: beyond, a wing has collapsed or is far
/// from its limits.
pub const BEND_STRETCH: [f32; 2] = [0.25, 4.0];

// ---- obstacles and rigid bodies -----------------------------------------------------------------------

/// Weight of a contact in units of the vertex's mass.
pub const OBSTACLE_WEIGHT: f32 = 1000.0;

/// Factor on the weight of vertices that stay inside.
pub const OBSTACLE_BOOST: f32 = 4.0;

/// Largest weight, as a fraction of the matrix's diagonal.
pub const OBSTACLE_WEIGHT_MOST: f32 = 0.1;

/// How near a surface counts as touched at the start of a step, in mean edge lengths.
pub const OBSTACLE_NEAR: f32 = 0.25;

/// Depth from which on a contact gets more weight, in mean edge lengths.
pub const OBSTACLE_SHALLOW: f32 = 0.02;

/// Iteration from which on contacts that are still inside get more weight.
pub const STRENGTHEN_FROM: u32 = 12;

/// Iterations between two times that they do, and that the matrix is brought up to date with what has begun
/// to touch.
pub const STRENGTHEN_EVERY: u32 = 4;

/// How deep inside an obstacle a vertex may be at the end where the solve is elastic, in mean edge lengths:
/// limits are far off then, and it is pushed out.
pub const DEPTH_ELASTIC: f32 = 0.016;

/// The same where it is not, or where there are tetrahedra, in tolerances of such a length.
pub const DEPTH_HARD: f32 = 0.3;

/// The same where volumes are kept. With three times as much, pushing a patch of a torus out changed volumes
/// by 0.4 %.
pub const DEPTH_VOLUME: f32 = 0.1;

/// The same in gaps, where surfaces touch: what lies on cloth is not pushed out with it.
pub const DEPTH_IN_GAPS: f32 = 0.1;

/// Depth from which on a vertex is led back to the side of a rigid body that it came from, in thicknesses of
/// the body.
pub const RIGID_DEEP: f32 = 0.25;

/// Cosine of the angle between normals past which a vertex is on another side of the body.
pub const RIGID_FACING: f32 = 0.25;

/// How far a rigid body may still go in the last iteration, in mean edge lengths.
pub const RIGID_SETTLED: f32 = 0.001;

/// Fraction of the tolerance that is used while a rigid body may touch: taut cloth gives way across itself by
/// far more than it stretches, and a body that is taken back by that much in the next step is thrown.
pub const RIGID_TOLERANCE: f32 = 0.1;

// ---- pairs --------------------------------------------------------------------------------------------

/// Weight of a pair in units of its vertices' mass.
pub const PAIR_WEIGHT: f32 = 300.0;

/// Factor on the weight of pairs that stay too near.
pub const PAIR_BOOST: f32 = 4.0;

/// Largest weight, as a fraction of the matrix's diagonal.
pub const PAIR_WEIGHT_MOST: f32 = 0.3;

/// Fraction of its gap that a pair may lack before it gets more weight.
pub const PAIR_NEAR: f32 = 0.1;

/// Fraction of its gap that a pair may lack at the end.
pub const PAIR_LACKING: f32 = 0.3;

// ---- seams --------------------------------------------------------------------------------------------

/// Fraction of the tolerance that is used while seams are open: putting twins in one place at the end strains
/// the triangles around.
pub const SEAM_TOLERANCE: f32 = 0.8;

/// Opening of closed twins with which a step may end, as a fraction of what is put in one place.
pub const SEAM_OPEN: f32 = 0.5;

/// Iterations in which pairs that may close in this step are waited for. Something may be in between.
pub const SEAM_PATIENCE: u32 = 60;

// ---- threads ------------------------------------------------------------------------------------------

/// Batches below which a loop is not shared between threads.
pub const BATCH_GRAIN: usize = 16;

/// Vertices below which a loop is not shared between threads.
pub const VERTEX_GRAIN: usize = 400;

/// What sharing the loops of a filter between threads costs, as a factor on its time.
pub const SHARING_COST: f32 = 1.3;
