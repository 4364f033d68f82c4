//! Every tuned number of the solver, and of its terms, with what half or twice of it does.
//!
//! Measured with `taut bench SCENE --frames N --threads 1`: `swinging-sheet`, `star`, `bar` and `trampoline`
//! 20 to 30 frames, `squeeze` 40, `stack` 8, `folding` 20, `bend-tight` and `sheet-on-sphere` 6; 60 of
//! `hanging-sheet`, `flag`, `noisy-sheet` and `weave`. Iterations are means a frame; scenes with contact are
//! chaotic, so that differences of a tenth mean nothing there. What says "no change" changed neither
//! iterations nor residuals.

mod bends;
mod give_way;
mod jumps;
mod pairs;
mod pressure;
mod springs;

pub use bends::{BEND_LEAST_ITERATIONS, BEND_STRETCH, BEND_WEIGHT, MIN_ITERATIONS_PER_STAGE_BENDS};
pub use give_way::{
    BEND_SLACK_GENEROSITY, CLOTH_GIVES_WAY_EVERY, CLOTH_LEAST_SLACK, CLOTH_ON_ITS_WAY,
    CLOTH_SLACK_GENEROSITY, CLOTH_SLACK_GROWTH, CLOTH_SLACK_WARM, bends_end_from, bends_give_way_from,
    cloth_gives_way_from, cloth_stretches_from,
};
pub use jumps::{JUMP_PAST, JUMP_PATIENCE, JUMP_WEIGHT};
pub use pairs::{
    PAIR_BOOST, PAIR_CROWD, PAIR_LACKING, PAIR_NEAR, PAIR_WEIGHT, PAIR_WEIGHT_MOST, PAIR_WEIGHT_SOLID,
};
pub use pressure::{
    MOST_PRESSED, PRESSED_DUAL, PRESSED_STAGE, PRESSURE_COLUMN_EVERY, PRESSURE_PATIENCE, PRESSURE_SETTLED,
    PRESSURE_TOLERANCE,
};
pub use springs::{
    SPRING_LIMIT_WEIGHT, SPRING_LIMIT_WEIGHT_OF_ALL, SPRING_SEEN, SPRING_SETTLED, SPRING_STILL,
    SPRING_TOLERANCE, SPRING_WEIGHT_MOST,
};

// ---- κ ramp -------------------------------------------------------------------------------------------

/// Factors c on the stiffness κ, from soft to stiff.
pub const RAMP: [f32; 4] = [0.003, 0.03, 0.3, 1.0];

/// Factors that there are matrices for: those of the ramp, then those that only long steps of an implicit
/// integrator take ([`LONG_STEP`]).
pub const STAGES: [f32; 6] = [RAMP[0], RAMP[1], RAMP[2], RAMP[3], 0.07, 0.2];

/// Iterations that each stage but the last is given before the next is tried, which happens only if the
/// limits are not met by then.
pub const MIN_ITERATIONS_PER_STAGE: [u32; 3] = [8, 6, 14];

/// The same where something may touch: contacts have to be found meanwhile.
pub const MIN_ITERATIONS_PER_STAGE_TOUCHING: [u32; 3] = [8, 8, 16];

/// Mean residual over the largest one, of the prediction, below which a step starts with the softest stage:
/// what has to be mended is then so small a part of the body that the second would drag along too much.
///
/// `swinging-sheet` 160 iterations a frame with half, 161 with twice as much; `star`, `stack` and `bar` the
/// same.
pub const LOCAL_VIOLATION: f32 = 0.002;

/// The stage that a step starts with where there are tetrahedra. What resists in three directions is dragged
/// along less by stiffness: a clamped bar comes to rest where a converged run does, calmer than with softer
/// stages, which missed one of its frames.
///
/// One less: `bar` ends frames with residuals up to 0.9 % in place of 0.3.
pub const FIRST_STAGE_TETRAHEDRA: usize = 3;

/// The same in steps of BDF2 whose prediction is not near any limit ([`LIMITS_NEAR`]), if none is stiffer
/// than κ of this stage (2 μ + λ).
///
/// A swinging bar without limits (6K tetrahedra, 36 iterations): off by 0.2 to 1.4 % of a converged step, in
/// place of 5 to 22 with the last stage; one before: up to 77 %, its κ is below the bar's stiffness.
pub const FIRST_STAGE_TETRAHEDRA_SOFT: usize = 2;

/// Fraction of its limit from which on a strain is near it. Where limits act, the softer stage lets bars
/// tremble: one of 12K tetrahedra within ±1 % with 17 cm/s, if it is used wherever predictions are inside.
pub const LIMITS_NEAR: f32 = 0.5;

/// The same where they touch something: with the last, what is hit stops too soon.
///
/// One less: `squeeze` 215 iterations a frame in place of 148, residual up to 47 % in place of 25.
pub const FIRST_STAGE_TETRAHEDRA_TOUCHING: usize = 2;

// ---- iterations ---------------------------------------------------------------------------------------

/// Fraction of the tolerance that the mean residual may have at the end.
///
/// Half or twice: at most 1 % more or fewer iterations in eight scenes.
pub const MEAN_TOLERANCE: f32 = 0.1;

/// Fraction of the last step's duals that a step starts with.
///
/// Half: `swinging-sheet` 192 iterations a frame in place of 161. Twice, which is more than all of them:
/// 1458.
pub const WARM_START: f32 = 0.9;

/// The same in a short step ([`SHORT_STEP`]) of an implicit integrator, which has fewer iterations to
/// correct them in. With 0.9 a hanging sheet of latex trembles with 0.4 m/s in 4 steps a frame; with 0.8 a
/// stiff patch that slides down a slope is 13 % too fast; half: no change.
pub const WARM_START_SHORT: f32 = 0.5;

// ---- the last few triangles ---------------------------------------------------------------------------

/// Iterations after which more triangles may be settled one by one, and only every fourth iteration tries.
///
/// Half: `weave` 21.1 iterations a frame in place of 22.7, `flag` 20.2 in place of 20.6. Twice: no change.
pub const FINISH_LONG: u32 = 32;

/// See [`FINISH_LONG`].
///
/// Half or twice: no change in eight scenes.
pub const FINISH_EVERY: u32 = 4;

/// Fraction of the tolerance that a projection leaves: room for the neighbours' projections.
///
/// Half: no change. Twice: `weave` 25.9 iterations a frame in place of 22.7.
pub const FINISH_LEAVES: f32 = 0.7;

/// Fraction of all triangles that may be past the tolerance. With more it would work as well, but ends steps
/// whose duals have not settled yet, and motion suffers.
///
/// Twice: `weave` 22.1 iterations a frame in place of 22.7. Half: no change.
pub const FINISH_FEW: f64 = 0.0003;

/// Projections that a triangle past the tolerance may cause before it is given up.
///
/// Half or twice: no change in eight scenes; it is a guard against long chains.
pub const FINISH_PATIENCE: usize = 100;

/// Most moves of vertices.
///
/// Half: no change in eight scenes; it is a guard.
pub const FINISH_MOVES: usize = 30_000;

// ---- limits that give way -----------------------------------------------------------------------------

/// Iteration from which on limits of tetrahedra that are not met give way. Where nothing touches it is rare
/// that they cannot be met.
///
/// No scene of the program needs it; half or twice: no change in `squeeze`.
pub const GIVE_WAY_FROM: u32 = 144;

/// The same where something touches.
///
/// `squeeze`: 105 iterations a frame with half of it, 712 with twice, in place of 148.
pub const GIVE_WAY_TOUCHING_FROM: u32 = 48;

/// Iterations between two times that limits give way.
///
/// `squeeze`: no change with half of it, 192 iterations a frame with twice, in place of 148.
pub const GIVE_WAY_EVERY: u32 = 16;

/// The iteration from which on limits give way.
pub fn give_way_from(touching: bool) -> u32 {
    if touching { GIVE_WAY_TOUCHING_FROM } else { GIVE_WAY_FROM }
}

/// Factor on the mean excess around an element by which its limits give way: a little more than is lost, so
/// that it is enough soon.
///
/// `squeeze`: half never ends (2003 iterations a frame), twice gives way by 44 % in place of 25.
pub const SLACK_GENEROSITY: f32 = 1.1;

/// Mean excess up to which limits are met in the end, given time, however tight the tolerance is.
///
/// `squeeze`: twice 152 iterations a frame in place of 148; half: no change.
pub const SLACK_LEAST_LOSS: f32 = 0.005;

/// Slack below this is forgotten.
///
/// Half or twice: no change in `squeeze`.
pub const SLACK_FORGOTTEN: f32 = 1e-3;

/// Fraction that a step starts with of how far limits gave way in the last, in parts that touch nothing
/// which would ask for it again.
///
/// Half or twice: no change in `squeeze`; chosen on `dragon-roller`, whose spines stay crushed with 0.9.
pub const SLACK_WARM_ALONE: f32 = 0.5;

/// Iteration from which on grips give way to limits that are not met.
///
/// No scene has a grip: not measured.
pub const GRIP_GIVES_WAY_FROM: u32 = 20;

/// Iterations between two times that grips give way.
///
/// Likewise not measured.
pub const GRIP_GIVES_WAY_EVERY: u32 = 4;

// ---- volumes ------------------------------------------------------------------------------------------

/// Largest relative error of the volume around a vertex at the end of a step, however tight limits on strain
/// are: volumes have no side that they must not be on.
pub const VOLUME_TOLERANCE: f32 = 0.01;

/// Sweeps over the pressures in an iteration.
///
/// `bar` with preserved volumes, half and twice: 56.2 and 56.4 iterations a frame in place of 57.8.
pub const VOLUME_SWEEPS: u32 = 2;

/// Fraction of what would mend a ring whose neighbours stay that a sweep adds to its pressure.
///
/// The same: 56.5 and 56.1 in place of 57.8.
pub const VOLUME_SHARE: f32 = 0.7;

/// Fraction of the tolerance that a ring may be off without any pressure. Errors that change sign from
/// vertex to vertex are hardly felt by pressures, which are means over elements: driven to 0, they come back
/// a little larger with every step.
///
/// The same: 58.2 and 60.6 in place of 57.8.
pub const VOLUME_BAND: f32 = 0.4;

/// Fraction of the tolerance that is used where something touches: pushing vertices out of obstacles at the
/// end changes volumes.
///
/// Half or twice: no change where nothing touches.
pub const VOLUME_TOUCHING: f32 = 0.8;

/// Largest relative error of an element that counts: predictions may be wild.
///
/// Half or twice: no change in `bar`; it is a guard.
pub const VOLUME_ERROR_MOST: f32 = 0.5;

/// Slack from which on volume gives way too, and pressure ends.
///
/// Half or twice: no change in `bar`, whose limits do not give way.
pub const VOLUME_YIELDED: f32 = 0.02;

/// Fraction of the error some iterations ago that is left, at least, where volumes cannot be kept.
///
/// Half or twice: no change in `bar`.
pub const VOLUME_STALLED: f32 = 0.95;

/// Poisson's ratio above which most of the resistance to a change of volume acts on rings: tetrahedra by
/// themselves would lock. Of the sag of a slender bar (40 × 4 × 4 cells) at 0.3, 96 % are left at 0.45 with
/// tetrahedra by themselves, 94 at 0.49; with rings 96 at 0.49. An iteration takes half as much time again
/// with them.
pub const RING_POISSON_FROM: f64 = 0.47;

/// Poisson's ratio that tetrahedra have by themselves then.
///
/// With 0.4 the bar of [`RING_POISSON_FROM`] sags by 0.825 of what a beam does, with 0.3 by 0.831, with 0 by
/// 0.838; by 0.810 without rings.
pub const RING_POISSON_OWN: f64 = 0.3;

// ---- obstacles and rigid bodies -----------------------------------------------------------------------

/// Weight of a contact of cloth with an obstacle in units of the vertex's mass, whatever κ is.
///
/// `sheet-on-sphere`: 213 iterations a frame with a third of it and 71 with three times as much, where
/// vertices may end as deep as [`DEPTH_HARD`]; but with three times as much a patch that starts inside a
/// ball is thrown out of it.
pub const OBSTACLE_WEIGHT: f32 = 100.0;

/// The same where there are soft solids, which are stiffer.
///
/// `squeeze`: 201 iterations a frame with a third of it, 148 with all.
pub const OBSTACLE_WEIGHT_SOLID: f32 = 1000.0;

/// The same for rigid bodies, of the ramp's factor 1: what cloth has to stop grows with κ there.
pub const RIGID_WEIGHT: f32 = 1000.0;

/// Factor on the weight of vertices that stay inside.
///
/// Half or twice: no change in `squeeze` and `sheet-on-sphere`.
pub const OBSTACLE_BOOST: f32 = 4.0;

/// Largest weight, as a fraction of the matrix's diagonal.
///
/// Half or twice: no change in `squeeze` and `sheet-on-sphere`; it is a guard.
pub const OBSTACLE_WEIGHT_MOST: f32 = 0.1;

/// Iterations for which an obstacle that a vertex presses on may be the plane that touches it.
///
/// Each takes a third of the time of a look at the shape. Half or twice: times within noise.
pub const OBSTACLE_PLANE_LASTS: u32 = 7;

/// How far from where it touches such a plane stands for the obstacle, in mean edge lengths: round shapes are
/// further away than the plane says by the square of it over their diameter.
pub const OBSTACLE_PLANE_REACHES: f32 = 0.1;

/// How near a surface counts as touched at the start of a step, in mean edge lengths.
///
/// Half or twice: iterations the same, residuals of `squeeze` 25.4 % in place of 25.3.
pub const OBSTACLE_NEAR: f32 = 0.25;

/// Depth from which on a contact gets more weight, in mean edge lengths.
///
/// Half or twice: no change in `squeeze` and `sheet-on-sphere`.
pub const OBSTACLE_SHALLOW: f32 = 0.02;

/// Iteration from which on contacts that are still inside get more weight.
///
/// Half or twice: no change in `stack` and `sheet-on-sphere`.
pub const STRENGTHEN_FROM: u32 = 12;

/// Iterations between two times that they do, and that the matrix is brought up to date with what has begun
/// to touch.
///
/// Half or twice: no change in `stack` and `sheet-on-sphere`.
pub const STRENGTHEN_EVERY: u32 = 4;

/// How deep inside an obstacle a vertex may be at the end, in tolerances of the mean edge length: it is
/// pushed out, which strains the triangles around.
///
/// `squeeze`: 153 iterations a frame with half of it, 148 with twice as without.
pub const DEPTH_HARD: f32 = 0.3;

/// How deep vertices may be that are pushed out so that a step may end, in mean edge lengths, where surfaces
/// do not touch surfaces or have bend limits: their elements and pairs are looked at afterwards.
///
/// `bend-loose`, 14 frames: 323 iterations a frame where pairs rule it out, 166 with it; `bend-tight` 181 and
/// 166.
pub const PUSHED_OUT_DEEPEST: f32 = 0.012;

/// The same of cloth without lower limits and with an implicit integrator, which is seldom at its limits
/// where it touches.
///
/// `sheet-on-sphere`: 67 iterations a frame with two thirds of it, in place of 46.
pub const DEPTH_ELASTIC: f32 = 0.9;

/// The same where volumes are kept. With three times as much, pushing a patch of a torus out changed volumes
/// by 0.4 %.
///
/// Half or twice: no change in `bar`.
pub const DEPTH_VOLUME: f32 = 0.1;

/// The same in gaps, where surfaces touch: what lies on cloth is not pushed out with it.
///
/// `stack`: 62.9 iterations a frame with half of it, 60.0 with twice, in place of 60.1.
pub const DEPTH_IN_GAPS: f32 = 0.1;

/// How far a rigid body may still go in the last iteration, in mean edge lengths.
///
/// `trampoline`: 77.9 and 71.9 iterations a frame in place of 74.9.
pub const RIGID_SETTLED: f32 = 0.001;

/// Fraction of the tolerance that is used while a rigid body may touch: taut cloth gives way across itself
/// by far more than it stretches, and a body that is taken back by that much in the next step is thrown.
///
/// `trampoline`: 86.2 and 74.2 iterations a frame in place of 74.9.
pub const RIGID_TOLERANCE: f32 = 0.1;

// ---- seams --------------------------------------------------------------------------------------------

/// Fraction of the tolerance that is used while seams are open: putting twins in one place at the end
/// strains the triangles around.
///
/// Two sheets sewn along an edge: 23.4 iterations a frame with half of it, 23.2 otherwise.
pub const SEAM_TOLERANCE: f32 = 0.8;

/// Tolerance that is tight enough while seams are open: what is sewn is past its limits often, and would not
/// close in time.
///
/// Scene `layers`, whose limit is 3 %: with a tenth of that, seams of its jacket are 8 mm open at the end.
pub const SEAM_LEAST_TOLERANCE: f32 = 0.008;

/// Opening of closed twins with which a step may end, as a fraction of what is put in one place.
///
/// The same scene, half or twice: no change.
pub const SEAM_OPEN: f32 = 0.5;

/// Iterations in which pairs that may close in this step are waited for. Something may be in between.
///
/// The same scene, half or twice: no change; it is a guard.
pub const SEAM_PATIENCE: u32 = 60;

/// Strongest pull of an open seam while a sewing phase begins: the acceleration that it gives to a strip of
/// cloth beside it as wide as the body \[m/s²\].
///
/// A shirt of 3.5K triangles sewn around a scan: without a bound, strains of 700 % after ten frames; with it,
/// 3.5 % at most, for a limit of 3 %. A third of it: shoulders stay 13 cm open.
pub const SEAM_PULL: f32 = 300.0;

// ---- threads ------------------------------------------------------------------------------------------

/// Batches below which a loop is not shared between threads.
///
/// Changes times only, never results.
pub const BATCH_GRAIN: usize = 16;

/// Pairs below which a loop is not shared between threads.
///
/// Changes times only, never results.
pub const PAIR_GRAIN: usize = 400;

/// Vertices below which a loop is not shared between threads.
///
/// Changes times only, never results.
pub const VERTEX_GRAIN: usize = 400;

/// What sharing the loops of a filter between threads costs, as a factor on its time.
///
/// Changes times only, never results.
pub const SHARING_COST: f32 = 1.3;

// ---- steps of an implicit integrator ------------------------------------------------------------------

/// The stage of a step of an implicit integrator where bodies hardly move ([`CALM_SPEED`]), unless it is a
/// long one of cloth with [tight](TIGHT) limits. Short steps of others, and those in which something
/// touches, begin with the one before.
pub const STAGE_IMPLICIT: usize = 2;

/// Stages of the first iterations of a long step of an implicit integrator in which nothing touches, and
/// cloth with [tight](TIGHT) limits moves, and how many each has: stiff, which carries tension across the
/// cloth, then soft, which undoes what stiffness dragged along, as shifts alternate in ADI. [`STAGE_STEADY`]
/// follows.
///
/// Mass-metric error of a hanging sheet of polyester (64×64 cells, upper 1 %, 26 iterations, every 6th of 90
/// frames), mean and worst: 0.108 and 0.16; with 4 stiff ones 0.146 and 0.41 (22 iterations). Without the
/// two in between 0.103 and 0.15 (25 iterations), but finer sheets tremble ([`LONG_STEP_LOOSE`]).
/// Alternating every iteration diverges.
pub const LONG_STEP: [(usize, u32); 3] = [(3, 8), (STAGE_STEADY, 2), (4, 4)];

/// Iterations that such steps have beyond the others, also where bodies hardly move.
pub const LONG_STEP_MORE: u32 = 3;

/// The same stages of cloth with looser limits, which is inside them in most places: there stiffness only
/// drags.
///
/// Error of polyester within ±5 %: 0.085 and 0.25; in frame 6 0.31 with 6 stiff ones, 0.43 with 8. Without
/// the two in between, a sheet of silk of 128×128 cells trembles with 0.5 m/s.
pub const LONG_STEP_LOOSE: [(usize, u32); 3] = [(3, 4), (STAGE_STEADY, 2), (4, 4)];

/// Largest upper limit (strain) that is tight. Polyester below 3 %: 0.088 and 0.30 as loose, 0.098 and 0.34
/// as tight (without the two stages in between).
pub const TIGHT: f32 = 0.02;

/// Room between a lower and an upper limit (strain) below which the smoother is damped more. A sheet of 24×24
/// cells within ±0.1 % diverges in its second frame without that; one within ±1 % converges either way.
pub const NARROW: f32 = 0.01;

/// The same of cloth without limits, whose tension no limit holds up: soft at first, then
/// [`STAGE_IMPLICIT`]. A strip that swings for 5 s keeps 66 % of its energy without the soft iterations, 74
/// % with 2, between 73 and 81 with 4, 84 with 6 and more. With [`LONG_STEP`] and over-relaxation a strip of
/// paper that starts stretched by 1 % comes to rest with 7 % more stretch energy than it should.
pub const LONG_STEP_WITHOUT_LIMITS: [(usize, u32); 1] = [(STAGE_IMPLICIT - 1, 6)];

/// The stage that long steps of limited bodies that move end in, and that those with tight limits have
/// throughout when they hardly move. With 0.3 in place of 0.2 the error of [`LONG_STEP`] is a fifth larger,
/// with 0.15 two fifths.
pub const STAGE_STEADY: usize = 5;

/// Over-relaxation of triangles in these steps: the splitting sees 1.6 times the gradient less 0.6 times
/// what was asked for before. With 1 the error above is a quarter larger, with 1.3 an eighth; 1.8 diverges,
/// since the linear solve is inexact.
pub const OVER_RELAXATION: f32 = 1.6;

/// Length of a step below which the stage before is enough \[s\]: the stiffer one drags. With it, a strip
/// that swings for 5 s in 8 steps a frame keeps 44 % of its energy, in place of 93.
pub const SHORT_STEP: f32 = 1.0 / 45.0;

/// Iterations that each stage of the ramp but the last is given in a short step: more stiffness makes
/// stresses worse, and is a last resort.
pub const MIN_ITERATIONS_PER_STAGE_IMPLICIT: [u32; 3] = [u32::MAX, u32::MAX, 60];

/// Iterations of [`STAGE_STEADY`] after which a long step goes over to the ramp's last stage, likewise.
pub const MIN_ITERATIONS_STEADY: u32 = 60;

/// Speed of bodies that hardly move (root of the mean square), over √(g ℓ), with ℓ the size of the largest.
/// With a third of it, latex keeps trembling at 8 cm/s; with twice as much, the swinging strip keeps 79 % of
/// its energy in place of 82.
pub const CALM_SPEED: f32 = 0.1;

/// Largest stiffness of cloth over κ of the ramp's factor 1: Y dt² / (ρ ℓ²), with ℓ the size of the cloth.
/// Stiffer sheets tremble: mylar at rest moves with 12 cm/s at 10, with 0.4 cm/s at 4. A cloth of 1 m
/// stretches by its own weight by 0.06 % with it.
pub const STIFFEST: f64 = 4.0;

/// The same of cloth that is compressed. Paper at rest moves with 8 cm/s at 4, with 0.8 cm/s at 0.5.
pub const STIFFEST_COMPRESSED: f64 = 0.5;

/// Largest stiffness of bending on the diagonal of the matrix, with its damping, in units of the mean mass.
/// A sheet of 1 mm in cells of 0.1 mm has 3e10, which is no finite number after a few iterations.
pub const STIFFEST_BENDING: f64 = 1e8;

/// Largest share of bending in the diagonal of the matrix, times the iterations that its pulls stay the same
/// for. Made anew in each, they take a sixth of the time of a hanging sheet of 128×128 cells. Mass-metric
/// errors are the same to three digits. Only of long steps of limited cloth: a clamped strip without limits
/// would sag by 0.05 % more.
pub const BENDING_LAG: f32 = 0.4;

/// Most iterations that pulls of bending stay the same for.
///
/// What is left of their time is then 4 %.
pub const BENDING_LAG_MOST: u32 = 5;
