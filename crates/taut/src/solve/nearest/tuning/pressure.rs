//! Pressure inside closed cloth: see [`term::pressure`](crate::term::pressure).
//!
//! Chosen on spheres of latex (radius 10 cm, 2000 triangles) at 1 to 100 kPa, within 5 % and without
//! limits, and on the mylar balloon (4800 triangles, within 0.1 %); other values were not tried.

/// Dual of a triangle under the largest pressure, as a strain, in the ramp's last stage: κ is made as large.
pub const PRESSED_DUAL: f64 = 0.1;

/// The stage of steps with pressure inside cloth: in softer ones duals would be larger.
pub const PRESSED_STAGE: usize = 3;

/// Largest factor on κ because of pressure.
pub const MOST_PRESSED: f64 = 1e6;

/// Iterations after which the answer of the matrix to a pascal is made anew.
pub const PRESSURE_COLUMN_EVERY: u32 = 4;

/// Iterations for which volumes that do not follow their law, or still change, are waited for.
pub const PRESSURE_PATIENCE: u32 = 200;

/// Relative change of a volume in the last iteration of a step.
pub const PRESSURE_SETTLED: f64 = 1e-4;

/// Relative error of a volume that is kept, or of p V of a gas, at the end of a step.
pub const PRESSURE_TOLERANCE: f64 = 1e-3;
