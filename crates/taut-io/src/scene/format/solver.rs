//! `[solver]`: how limits are enforced, and to which tolerance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decimal;

/// How exactly limits on strain are met (dimensionless).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Tolerance {
    /// How far inside the limits the solver aims. 0 to 10.
    Inside(#[schemars(range(min = 0, max = 10))] f64),
    /// How far past them a converged step may end.
    Past(PastTolerance),
}

/// How far past the limits a converged step may end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PastTolerance {
    /// Strain, dimensionless. 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    pub past: f64,
}

/// How limits are enforced, and to which tolerance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Solver {
    /// Solver over the whole mesh. `"nearest"` by default.
    pub scheme: Scheme,
    /// How motion is integrated. `"bdf2"` and `"euler"` solve stretching, bending and limits together, with
    /// the material's whole stiffness and Poisson's ratio, and support the scheme `"nearest"` only. By
    /// default `"bdf2"` for that scheme, `"euler"` with bodies with mass, and `"leap-frog"`, explicit forces,
    /// for the other schemes and the edge model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrator: Option<Integrator>,
    /// Projection of one violating triangle onto its limits. `"gradient"` by default.
    pub projection: Projection,
    /// How far inside the limits the solver aims, and how far from that a converged step may end (strain,
    /// dimensionless), so that it ends within the limits as given. By default a tenth of the tightest limit
    /// (three tenths where limits differ along warp, weft and bias, half with developable cloth), at most
    /// 0.005. Or `{ past = 0.01 }`: how far past the limits a converged step may end, as in the papers: a
    /// limit of 0.05 may end at 0.06. 0 to 10; 0 uses all iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// Largest excess past a bend limit of a converged step \[°\]. 0 to 180; 0 uses all iterations.
    #[schemars(range(min = 0, max = 180))]
    pub bend_tolerance: f64,
    /// Maximum iterations per step; with the schemes `"cycle"` and `"paper"`, on the finest level. 1 to
    /// 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: u32,
    /// Maximum passes over the coarse levels per step, only for the schemes `"cycle"` and `"paper"`. 0, the
    /// default, lets the scheme choose: `"cycle"` repeats until the tolerance is met, `"paper"` makes one
    /// pass. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub passes: u32,
    /// Maximum number of levels, the finest included, only for the schemes `"cycle"` and `"paper"`. 0, the
    /// default, lets the scheme choose: all that the mesh has for `"cycle"`, 4 for `"paper"`, as in Table 1
    /// of the main paper. 0 to 20.
    #[schemars(range(min = 0, max = 20))]
    pub levels: u32,
    /// Iterations on each level in a pass of the scheme `"paper"`: 128 by default; Table 1 of the main
    /// paper has 128 to 256. 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub level_iterations: u32,
    /// Iterations of the finest level between two detections of contacts of cloth with cloth and mesh
    /// obstacles, for all schemes but `"nearest"`, which detects them once per step, and again where
    /// something would pass through. 64 by default, as in the main paper; 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub detect_every: u32,
    /// Time budget of a frame \[ms\]: each step stops iterating when its share is spent; the result then
    /// depends on the machine. None by default; 0.001 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1_000_000))]
    pub budget_ms: Option<f64>,
    /// Relaxation factor on every correction: 1 is plain Gauss–Seidel, above 1 over-relaxation. 0.1 to 1.95.
    #[schemars(range(min = 0.1, max = 1.95))]
    pub relaxation: f64,
    /// Steps of the whole pipeline per frame. 0, the default, chooses: 1, as in the main paper, for schemes
    /// that use levels (3 for curved shells with a lower limit); 2, 4 or more while cloth is near something,
    /// by how fast that moves (see `contact`); 15 with cloth of the model "edge" (half its iterations, if
    /// that is less); 4 to 32, by the stiffness of the material, for schemes without levels
    /// and for edge limits. 0 to 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub steps_per_frame: u32,
    /// Maximum substeps of the explicit velocity update per step; stiffness that needs more is softened. 0,
    /// the default, chooses 6 for up to three steps per frame and 24 for more. No effect with contact or mesh
    /// obstacles and the scheme `"nearest"`, which needs no substeps there. 0 to 10000.
    #[schemars(range(min = 0, max = 10_000))]
    pub max_substeps: u32,
    /// Method that fits the limits of coarser levels, for the scheme `"paper"` and `taut fit`. `"direct"` by
    /// default.
    pub fit: Fit,
}

/// How motion is integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Integrator {
    /// Second-order backward differentiation formula: implicit, and hardly damps motion.
    Bdf2,
    /// Backward Euler: implicit, and damps motion that is fast for its steps.
    Euler,
    /// Explicit leap-frog in substeps, as in the main paper; stiffness that needs more substeps is softened.
    LeapFrog,
}

/// Method that fits the limits of coarser levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fit {
    /// By a search on the finest mesh for each coarse element: once for each mesh and limits, then from the
    /// cache.
    #[default]
    Direct,
    /// By a search on the next finer level: faster, with looser limits.
    Indirect,
    /// In closed form: immediate, with the loosest limits.
    Bounds,
}

impl Fit {
    /// The engine's method.
    pub fn build(self) -> taut::low_level::fit::Method {
        match self {
            Self::Direct => taut::low_level::fit::Method::Direct,
            Self::Indirect => taut::low_level::fit::Method::Indirect,
            Self::Bounds => taut::low_level::fit::Method::Bounds,
        }
    }
}

/// Solver that enforces the limits over the whole mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scheme {
    /// Gauss–Seidel over colours, lanes and threads; the order of colours is random.
    Sweep,
    /// Gauss–Seidel over elements one by one in random order, on one thread, as in the paper.
    Serial,
    /// Jacobi: all elements at once, with corrections averaged so that momentum is conserved.
    Jacobi,
    /// The state within the strain and bend limits that changes velocities least, by ADMM with multigrid over
    /// the mesh levels. Edge limits are swept afterwards.
    Nearest,
    /// Cycles over coarser levels of the mesh, Gauss–Seidel on each, until the finest is within its limits.
    /// Best for upper limits on sheets.
    Cycle,
    /// The published solver: one pass over at most four levels with fitted limits, 128 iterations on each,
    /// elements one by one in random order on one thread, always with `projection = "paper"`; without
    /// self-collision on coarse levels. For comparison.
    Paper,
}

/// Projection of one violating triangle onto its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Projection {
    /// Along the mass-weighted gradient of the principal stretches; conserves linear and angular momentum.
    Gradient,
    /// About the centre of mass, as in the paper; conserves linear momentum.
    Paper,
}

impl Default for Solver {
    fn default() -> Self {
        let solver = taut::Solver::default();
        Self {
            integrator: solver.integrator.map(|integrator| match integrator {
                taut::Integrator::Bdf2 => Integrator::Bdf2,
                taut::Integrator::Euler => Integrator::Euler,
                taut::Integrator::LeapFrog => Integrator::LeapFrog,
            }),
            scheme: match solver.scheme {
                taut::Scheme::Sweep => Scheme::Sweep,
                taut::Scheme::Serial => Scheme::Serial,
                taut::Scheme::Jacobi => Scheme::Jacobi,
                taut::Scheme::Nearest => Scheme::Nearest,
                taut::Scheme::Cycle => Scheme::Cycle,
                taut::Scheme::Paper => Scheme::Paper,
            },
            projection: match solver.projection {
                taut::Projection::Gradient => Projection::Gradient,
                taut::Projection::Paper => Projection::Paper,
            },
            tolerance: match solver.tolerance {
                taut::Tolerance::Chosen => None,
                taut::Tolerance::Inside(inside) => Some(Tolerance::Inside(decimal(inside))),
                taut::Tolerance::Past(past) => Some(Tolerance::Past(PastTolerance { past: decimal(past) })),
            },
            bend_tolerance: decimal(solver.bend_tolerance),
            iterations: solver.iterations,
            passes: solver.passes,
            levels: solver.levels,
            level_iterations: solver.level_iterations,
            detect_every: solver.detect_every,
            budget_ms: solver.budget_ms.map(decimal),
            relaxation: decimal(solver.relaxation),
            steps_per_frame: solver.steps_per_frame,
            max_substeps: solver.max_substeps,
            fit: Fit::default(),
        }
    }
}

impl Solver {
    /// The engine's settings.
    pub fn build(&self) -> taut::Solver {
        taut::Solver {
            integrator: self.integrator.map(|integrator| match integrator {
                Integrator::Bdf2 => taut::Integrator::Bdf2,
                Integrator::Euler => taut::Integrator::Euler,
                Integrator::LeapFrog => taut::Integrator::LeapFrog,
            }),
            scheme: match self.scheme {
                Scheme::Sweep => taut::Scheme::Sweep,
                Scheme::Serial => taut::Scheme::Serial,
                Scheme::Jacobi => taut::Scheme::Jacobi,
                Scheme::Nearest => taut::Scheme::Nearest,
                Scheme::Cycle => taut::Scheme::Cycle,
                Scheme::Paper => taut::Scheme::Paper,
            },
            projection: match self.projection {
                Projection::Gradient => taut::Projection::Gradient,
                Projection::Paper => taut::Projection::Paper,
            },
            tolerance: match self.tolerance {
                None => taut::Tolerance::Chosen,
                Some(Tolerance::Inside(inside)) => taut::Tolerance::Inside(inside as f32),
                Some(Tolerance::Past(PastTolerance { past })) => taut::Tolerance::Past(past as f32),
            },
            bend_tolerance: self.bend_tolerance as f32,
            iterations: self.iterations,
            passes: self.passes,
            levels: self.levels,
            level_iterations: self.level_iterations,
            detect_every: self.detect_every,
            budget_ms: self.budget_ms.map(|time| time as f32),
            relaxation: self.relaxation as f32,
            steps_per_frame: self.steps_per_frame,
            max_substeps: self.max_substeps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_engines() {
        assert_eq!(Solver::default().build(), taut::Solver::default());
    }
}
