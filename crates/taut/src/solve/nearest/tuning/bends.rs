//! Tuned numbers of bend limits.

/// Iterations that each stage of the ramp but the last is given where hinges with limits touch something.
/// Their duals settle slowly, and each stage freezes motion more than the one before: with more iterations in
/// the soft stage steps end nearer to the converged one, and need fewer.
///
/// Mean height of `bend-tight`, `bend-loose` and `bunny` (6K triangles), largest difference to steps of 150
/// to 200 iterations, and iterations a frame: 7.3, 6.8 and 3.8 mm, 164, 164 and 144 with the numbers of
/// others and 40 iterations at least; 1.9, 1.1 and 3.0 mm, 114, 100 and 103 with these. `bunny-c` 6.3 and 8.3
/// mm, 150 and 131. Half of it: 2.4 and 2.0 mm in the sheets; ever on: steps of `bend-loose` do not end.
pub const MIN_ITERATIONS_PER_STAGE_BENDS: [u32; 3] = [8, 24, 16];

/// Weight of hinges against triangles: with 1, strain takes half as many iterations again; with 0.1, bend
/// does.
///
/// `bend-tight`: 161 iterations a frame with half of it, 157 with twice, in place of 138.
pub const BEND_WEIGHT: f32 = 0.3;

/// Least number of iterations of a step in which hinges with limits touch something: they carry weight far,
/// and are within their limits long before it has arrived. See also [`MIN_ITERATIONS_PER_STAGE_BENDS`].
///
/// `bunny-c` of 6K triangles, a shell that sinks under its own weight, mean height against steps of 200
/// iterations: off by up to 8.3 mm, 11.0 with 20.
pub const BEND_LEAST_ITERATIONS: u32 = 24;

/// Least and largest mean stretch of a hinge's wings that is believed: beyond, a wing has collapsed or is
/// far from its limits.
pub const BEND_STRETCH: [f32; 2] = [0.25, 4.0];
