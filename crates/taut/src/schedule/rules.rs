//! The rules of a [`Schedule`](super::Schedule): their names and reasons.

use serde::Serialize;

/// Why a frame has its number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepRule {
    /// Set by `solver.steps_per_frame`.
    Asked,
    /// There is cloth of the edge model: as many as leave each step two iterations on every level, at most
    /// 15.
    EdgeModel,
    /// Bodies are of position-based dynamics, whose steps are 5 ms at most.
    PositionBased,
    /// The scheme solves all limits over levels, and nothing requires shorter steps.
    OverLevels,
    /// Stiffness is part of the solve, and nothing requires shorter steps.
    Elastic,
    /// Bodies collide with each other or with mesh obstacles; contacts are detected once per step.
    Contact,
    /// A single cloth touches only itself and what rests or moves slowly, and falls by less than its
    /// thickness in a step.
    Drape,
    /// Something that cloth touches, or is held by, moves by many thicknesses of the cloth in a frame.
    FastMotion,
    /// Soft solids collide with obstacles.
    SolidsMeetObstacles,
    /// Cloth collides with obstacles.
    Obstacles,
    /// Cloth pushes rigid bodies.
    RigidBodies,
    /// A curved shell with a lower limit would crumple in longer steps.
    CurvedShell,
    /// The smallest body would fall further than its own size in a longer step.
    Fall,
    /// There is nothing but hair, whose steps converge; two where it touches something.
    Hair,
    /// Explicit forces need substeps, at most 12 per step.
    ExplicitForces,
}

impl StepRule {
    /// The reason, as a plain sentence without a full stop.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Asked => "set by solver.steps_per_frame",
            Self::EdgeModel => "cloth of the edge model divides its iterations among the steps",
            Self::PositionBased => "steps of position-based dynamics are 5 ms at most",
            Self::OverLevels => "limits are solved over levels, and nothing requires shorter steps",
            Self::Elastic => "stiffness is part of the solve, and nothing requires shorter steps",
            Self::Contact => "cloth touches cloth or a mesh obstacle",
            Self::Drape => "cloth touches only what rests or moves slowly",
            Self::FastMotion => "obstacles or pins move by many thicknesses of the cloth in a frame",
            Self::SolidsMeetObstacles => "soft solids collide with obstacles",
            Self::Obstacles => "cloth collides with obstacles",
            Self::RigidBodies => "cloth pushes rigid bodies",
            Self::CurvedShell => "a curved shell with a lower limit would crumple in longer steps",
            Self::Fall => "the smallest body would fall further than its own size in a longer step",
            Self::Hair => "steps of hair converge, and are shorter only where it touches something",
            Self::ExplicitForces => "explicit forces need substeps, at most 12 per step",
        }
    }
}

/// Why a step has its maximum number of substeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubstepRule {
    /// Set by `solver.max_substeps`.
    Asked,
    /// All bodies are cloth of the edge model, whose steps are short.
    EdgeModel,
    /// A frame has fewer than 4 steps.
    LongSteps,
    /// A frame has 4 steps or more.
    ShortSteps,
}

impl SubstepRule {
    /// The reason, as a plain sentence without a full stop.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Asked => "set by solver.max_substeps",
            Self::EdgeModel => "all bodies are cloth of the edge model",
            Self::LongSteps => "a frame has fewer than 4 steps",
            Self::ShortSteps => "a frame has 4 steps or more",
        }
    }
}
