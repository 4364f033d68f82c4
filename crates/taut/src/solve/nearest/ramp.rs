//! κ, stage by stage: soft first, which finds the right place, then stiffer, until the limits are met. Long
//! steps of an implicit integrator have a fixed sequence of stages in place of that.

use super::tuning::{
    LOCAL_VIOLATION, LONG_STEP, LONG_STEP_WITHOUT_LIMITS, MIN_ITERATIONS_PER_STAGE,
    MIN_ITERATIONS_PER_STAGE_IMPLICIT, MIN_ITERATIONS_PER_STAGE_TOUCHING, MIN_ITERATIONS_STEADY,
    OVER_RELAXATION, RAMP, STAGE_IMPLICIT, STAGE_STEADY, STAGES,
};
use crate::term::{Excess, Stage, Step};

/// What a step begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A stage of the ramp.
    Stage(usize),
    /// The sequence of long steps of an implicit integrator, or one stage where bodies hardly move: others
    /// would keep them trembling.
    Long {
        /// Whether they hardly move.
        is_calm: bool,
        /// Whether triangles have limits.
        is_limited: bool,
    },
}

/// Where the ramp is.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    /// The stage at hand.
    pub stage: Stage,
    stiffness: [f32; STAGES.len()],
    patience: [u32; RAMP.len() - 1],
    /// The sequence of a long step that is still to come, the stage at hand first, and the stage after it.
    sequence: &'static [(usize, u32)],
    steady: usize,
    /// Iterations in this stage.
    since: u32,
    /// Whether the next iteration is to be one of the next stage.
    stiffen: bool,
}

impl Ramp {
    /// What a prediction with this `excess` is best begun with, if no term has another wish. `alone` says
    /// that nothing but strains of triangles is at stake.
    pub fn opening(excess: &Excess, alone: bool) -> Opening {
        Opening::Stage(usize::from(!alone || excess.mean() > LOCAL_VIOLATION * excess.worst))
    }

    /// What a step of an implicit integrator begins with.
    pub fn opening_implicit(step: &Step, is_limited: bool) -> Opening {
        let Step { touching, is_short, is_calm, .. } = *step;
        match (touching, is_short) {
            (false, false) => Opening::Long { is_calm, is_limited },
            (false, true) if is_calm => Opening::Stage(STAGE_IMPLICIT),
            _ => Opening::Stage(STAGE_IMPLICIT - 1),
        }
    }

    /// Begins; `stiffness` is κ of each stage.
    pub fn begin(
        opening: Opening,
        stiffness: [f32; STAGES.len()],
        touching: bool,
        is_implicit: bool,
    ) -> Self {
        let (sequence, steady): (&[(usize, u32)], usize) = match opening {
            Opening::Stage(stage) => (&[], stage),
            Opening::Long { is_calm: true, .. } => (&[], STAGE_IMPLICIT),
            Opening::Long { is_limited: true, .. } => (&LONG_STEP, STAGE_STEADY),
            Opening::Long { .. } => (&LONG_STEP_WITHOUT_LIMITS, STAGE_IMPLICIT),
        };
        let first = sequence.first().map_or(steady, |(stage, _)| *stage);
        let is_limited = matches!(opening, Opening::Long { is_limited: true, .. });
        let over_relaxation = if is_limited { OVER_RELAXATION } else { 1.0 };
        Self {
            stage: Stage { index: first, c: STAGES[first], kappa: stiffness[first], over_relaxation },
            stiffness,
            patience: match (is_implicit, touching) {
                (_, true) => MIN_ITERATIONS_PER_STAGE_TOUCHING,
                (false, false) => MIN_ITERATIONS_PER_STAGE,
                (true, false) => MIN_ITERATIONS_PER_STAGE_IMPLICIT,
            },
            sequence,
            steady,
            since: 0,
            stiffen: false,
        }
    }

    /// Goes to the next stage, if that is due. Gives the factor by which κ has grown then.
    pub fn advance(&mut self) -> Option<f32> {
        let index = match self.sequence {
            [(_, count), rest @ ..] if self.since >= *count => {
                self.sequence = rest;
                rest.first().map_or(self.steady, |(stage, _)| *stage)
            }
            [] if self.stiffen && self.stage.index == STAGE_STEADY => RAMP.len() - 1,
            [] if self.stiffen => self.stage.index + 1,
            _ => return None,
        };
        let growth = STAGES[index] / self.stage.c;
        self.stage = Stage { index, c: STAGES[index], kappa: self.stiffness[index], ..self.stage };
        (self.since, self.stiffen) = (0, false);
        Some(growth)
    }

    /// Whether this stage has had its iterations.
    pub fn is_impatient(&self) -> bool {
        let patience = match self.stage.index {
            _ if !self.sequence.is_empty() => None,
            STAGE_STEADY => Some(MIN_ITERATIONS_STEADY),
            index => self.patience.get(index).copied(),
        };
        patience.is_some_and(|patience| self.since >= patience)
    }

    /// Counts an iteration.
    pub fn count(&mut self) {
        self.since += 1;
    }

    /// Asks for the next stage in the next iteration, or not.
    pub fn ask(&mut self, stiffen: bool) {
        self.stiffen |= stiffen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stages of `count` iterations, none of which meets the limits.
    fn stages(opening: Opening, is_implicit: bool, count: usize) -> Vec<usize> {
        let mut ramp = Ramp::begin(opening, [1.0; STAGES.len()], false, is_implicit);
        (0..count)
            .map(|_| {
                ramp.advance();
                let impatient = ramp.is_impatient();
                ramp.count();
                ramp.ask(impatient);
                ramp.stage.index
            })
            .collect()
    }

    #[test]
    fn long_steps_are_stiff_then_soft_then_steady() {
        let expected = [3, 3, 3, 3, 5, 5, 4, 4, 4, 4, 5, 5];
        assert_eq!(stages(Opening::Long { is_calm: false, is_limited: true }, true, 12), expected);
        assert_eq!(stages(Opening::Long { is_calm: true, is_limited: true }, true, 12), [2; 12]);
        let expected = [1, 1, 1, 1, 1, 1, 2, 2];
        assert_eq!(stages(Opening::Long { is_calm: false, is_limited: false }, true, 8), expected);
    }

    #[test]
    fn limits_that_are_not_met_end_in_the_last_stage_of_the_ramp() {
        for (is_calm, is_limited) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(stages(Opening::Long { is_calm, is_limited }, true, 200)[199], 3);
        }
        assert_eq!(stages(Opening::Stage(0), false, 200)[199], 3);
        assert_eq!(stages(Opening::Stage(1), true, 200)[199], 1);
    }
}
