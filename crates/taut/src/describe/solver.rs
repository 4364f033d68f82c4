//! How limits are enforced: scheme, tolerances, budgets.

/// How limits are enforced over the whole mesh (W5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Gauss–Seidel over colours, lanes and threads; the order of colours is random.
    Sweep,
    /// Gauss–Seidel over elements one by one in random order, on one thread: the paper's.
    Serial,
    /// All elements at once, corrections averaged with constant weights so that momentum is kept.
    Jacobi,
    /// The nearest state within the limits in the mass metric, on all levels at once. Limits on edges are
    /// swept afterwards.
    #[default]
    Nearest,
    /// Nonlinear cycles over coarser levels of the mesh, coloured sweeps on each, until the finest is within
    /// its limits.
    Cycle,
    /// The published solver (W10), except for self-collision on coarse levels: one pass over at most four
    /// levels with limits of their own, 128 iterations on each, elements one by one in random order, Eq. 4
    /// whatever the projection, on one thread. Here to compare with.
    Paper,
}

/// How motion is integrated in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// The second-order backward differentiation formula: implicit, and hardly damps. Backward Euler in the
    /// first step.
    Bdf2,
    /// Backward Euler: implicit, and damps what a step is too long for.
    Euler,
    /// Explicit leap-frog in substeps, as the paper has it. Stiffness that these cannot carry is softened.
    LeapFrog,
}

/// How one violating triangle is brought back to its limits (W1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// Along the mass-weighted gradient of the principal stretches; keeps linear and angular momentum.
    #[default]
    Gradient,
    /// The paper's Eq. 4: about the centre of mass; keeps linear momentum.
    Paper,
}

/// How exactly limits on strain are met, and on which side of them the rest is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tolerance {
    /// The solver aims inside the limits by a tenth of the tightest one (three tenths where they differ along
    /// warp, weft and bias, half where cloth is developable), at most 0.005, and a step may end that far from
    /// what it aims at: within the limits as they are given.
    #[default]
    Chosen,
    /// The same by this much (strain), or by half of the tightest limit, if that is less. 0: a step aims at
    /// the limits themselves and takes all its iterations.
    Inside(f32),
    /// The solver aims at the limits themselves, and a step may end this far past them (strain): to compare
    /// with results that were published so. 0: it takes all its iterations.
    Past(f32),
}

impl Tolerance {
    /// How far past a limit strains may be at the end of a step (without unit).
    pub fn past(self) -> f32 {
        match self {
            Self::Chosen | Self::Inside(_) => 0.0,
            Self::Past(past) => past,
        }
    }

    /// The number that it was given with, if it was.
    pub fn number(self) -> Option<f32> {
        match self {
            Self::Chosen => None,
            Self::Inside(number) | Self::Past(number) => Some(number),
        }
    }
}

/// Settings of the limiter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solver {
    /// How limits are enforced over the mesh.
    pub scheme: Scheme,
    /// How motion is integrated. `None`: [`Integrator::Bdf2`] for [`Scheme::Nearest`], which alone supports
    /// the implicit ones, [`Integrator::Euler`] for it where there are bodies with mass, and
    /// [`Integrator::LeapFrog`] for the others and for cloth of the edge model.
    pub integrator: Option<Integrator>,
    /// How one element is projected.
    pub projection: Projection,
    /// How exactly limits are met (strain, without unit).
    pub tolerance: Tolerance,
    /// Largest excess past a bend limit at which a step may end \[°\].
    pub bend_tolerance: f32,
    /// Most iterations a step; on the finest level, if there are several.
    pub iterations: u32,
    /// Most passes over the coarse levels a step, for [`Scheme::Cycle`] and [`Scheme::Paper`] only; 0 leaves
    /// it to the scheme: cycles until the limits are met, the paper's once.
    pub passes: u32,
    /// Most levels that limits are enforced on, the finest one included, for [`Scheme::Cycle`] and
    /// [`Scheme::Paper`] only; 0 leaves it to the scheme: all that there are for cycles, four for the
    /// paper's.
    pub levels: u32,
    /// Iterations on each level in a pass of [`Scheme::Paper`]; Table 1 of the paper has 128 to 256.
    pub level_iterations: u32,
    /// Iterations between two detections of contacts, for all schemes but [`Scheme::Nearest`], which detects
    /// them once a step, and again where something would pass through.
    pub detect_every: u32,
    /// Time that a frame may take \[ms\]: its steps stop iterating when their share is spent. The result then
    /// depends on the machine.
    pub budget_ms: Option<f32>,
    /// Factor on every correction; 1 is plain Gauss–Seidel, between 1 and 2 over-relaxation.
    pub relaxation: f32,
    /// Steps of the whole pipeline a frame; 0 chooses: 1, as in the paper, for the schemes that solve over
    /// levels (3 for curved shells with a lower limit, which a long step crumples), 15 where there is cloth
    /// of the [edge model](crate::Model::Edge), or half as many as it has iterations, and 4 to 32 for those
    /// that do not and for limits on edges, so that a step has no more than 12 substeps: limits that are met
    /// only roughly set off waves in stiff cloth.
    pub steps_per_frame: u32,
    /// Most substeps of the explicit velocity update a step; stiffness that needs more is softened. Of no use
    /// where cloth touches ([`Contact`](crate::Contact), mesh obstacles) and the scheme is
    /// [`Scheme::Nearest`], which is implicit there. 0 chooses: 1 for cloth of the edge model alone, 6 where
    /// a frame is one step or three, 24 otherwise.
    pub max_substeps: u32,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            scheme: Scheme::Nearest,
            integrator: None,
            projection: Projection::Gradient,
            tolerance: Tolerance::Chosen,
            bend_tolerance: 2.0,
            iterations: 1000,
            passes: 0,
            levels: 0,
            level_iterations: 128,
            detect_every: 64,
            budget_ms: None,
            relaxation: 1.0,
            steps_per_frame: 0,
            max_substeps: 0,
        }
    }
}
