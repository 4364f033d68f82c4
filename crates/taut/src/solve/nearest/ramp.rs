//! κ, stage by stage: soft first, which finds the right place, then stiffer, until the limits are met. Long
//! steps of an implicit integrator have a fixed sequence of stages in place of that.

use super::tuning::{
    LOCAL_VIOLATION, LONG_STEP, LONG_STEP_LOOSE, LONG_STEP_MORE, LONG_STEP_WITHOUT_LIMITS,
    MIN_ITERATIONS_PER_STAGE, MIN_ITERATIONS_PER_STAGE_BENDS, MIN_ITERATIONS_PER_STAGE_IMPLICIT,
    MIN_ITERATIONS_PER_STAGE_TOUCHING, MIN_ITERATIONS_STEADY, OVER_RELAXATION, RAMP, STAGE_IMPLICIT,
    STAGE_STEADY, STAGES,
};
use crate::term::{Excess, Stage, Step};

/// What a step begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A stage of the ramp.
    Stage(usize),
    /// The soft stage of steps in which hinges with limits touch something, for long.
    Bends,
    /// The sequence of long steps of an implicit integrator, or one stage where bodies hardly move: others
    /// would keep them trembling.
    Long {
        /// Whether they hardly move.
        is_calm: bool,
        /// What limits triangles have.
        limits: Tightness,
    },
    /// The last stage of the ramp from the first iteration on, or the one before in short steps: triangles of
    /// developable cloth are as stiff as that.
    Nonconforming {
        /// Whether the step is short.
        is_short: bool,
    },
}

/// What limits triangles have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tightness {
    /// None.
    Free,
    /// None that is [tight](super::tuning::TIGHT).
    Loose,
    /// Some that are.
    Tight,
}

/// Where the ramp is.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    /// The stage at hand.
    pub stage: Stage,
    /// Iterations that the step needs beyond the least number of others.
    pub more: u32,
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
    pub fn opening_implicit(step: &Step, limits: Tightness) -> Opening {
        let Step { touching, is_short, is_calm, .. } = *step;
        match (touching, is_short) {
            (false, false) => Opening::Long { is_calm, limits },
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
            Opening::Bends => (&[], STAGE_IMPLICIT - 1),
            Opening::Nonconforming { is_short } => (&[], RAMP.len() - 1 - usize::from(is_short)),
            Opening::Long { is_calm: true, limits: Tightness::Tight } => (&[], STAGE_STEADY),
            Opening::Long { is_calm: true, .. } => (&[], STAGE_IMPLICIT),
            Opening::Long { limits: Tightness::Free, .. } => (&LONG_STEP_WITHOUT_LIMITS, STAGE_IMPLICIT),
            Opening::Long { limits: Tightness::Loose, .. } => (&LONG_STEP_LOOSE, STAGE_STEADY),
            Opening::Long { limits: Tightness::Tight, .. } => (&LONG_STEP, STAGE_STEADY),
        };
        let first = sequence.first().map_or(steady, |(stage, _)| *stage);
        let over_relaxation = match opening {
            Opening::Long { limits: Tightness::Loose | Tightness::Tight, .. } => OVER_RELAXATION,
            Opening::Nonconforming { .. } if !touching => OVER_RELAXATION,
            _ => 1.0,
        };
        let (c, kappa) = (STAGES[first], stiffness[first]);
        Self {
            stage: Stage { index: first, c, kappa, over_relaxation, is_last: false },
            more: match opening {
                Opening::Long { limits: Tightness::Tight, .. } => LONG_STEP_MORE,
                _ => 0,
            },
            stiffness,
            patience: match (opening, is_implicit, touching) {
                (Opening::Bends, ..) => MIN_ITERATIONS_PER_STAGE_BENDS,
                (_, _, true) => MIN_ITERATIONS_PER_STAGE_TOUCHING,
                (_, false, false) => MIN_ITERATIONS_PER_STAGE,
                (_, true, false) => MIN_ITERATIONS_PER_STAGE_IMPLICIT,
            },
            sequence,
            steady,
            since: 0,
            stiffen: false,
        }
    }

    /// Goes to the next stage, if that is due. Gives the factor by which κ has grown then.
    pub fn advance(&mut self) -> Option<f32> {
        let growth = self.enter_next();
        self.stage.is_last = matches!(self.sequence, [(_, count), ..] if self.since + 1 >= *count);
        growth
    }

    fn enter_next(&mut self) -> Option<f32> {
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
        let long = |is_calm, limits| stages(Opening::Long { is_calm, limits }, true, 16);
        assert_eq!(long(false, Tightness::Tight), [3, 3, 3, 3, 3, 3, 3, 3, 5, 5, 4, 4, 4, 4, 5, 5]);
        assert_eq!(long(false, Tightness::Loose), [3, 3, 3, 3, 5, 5, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5]);
        assert_eq!(long(false, Tightness::Free), [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(long(true, Tightness::Tight), [5; 16]);
        assert_eq!(long(true, Tightness::Loose), [2; 16]);
        assert_eq!(long(true, Tightness::Free), [2; 16]);
    }

    #[test]
    fn the_last_iteration_of_a_stage_is_known() {
        let opening = Opening::Long { is_calm: false, limits: Tightness::Loose };
        let mut ramp = Ramp::begin(opening, [1.0; STAGES.len()], false, true);
        let mut last = Vec::new();
        for iteration in 0..12 {
            if ramp.advance().is_some() {
                assert_eq!(last.last(), Some(&(iteration - 1)));
            }
            last.extend(ramp.stage.is_last.then_some(iteration));
            ramp.count();
        }
        assert_eq!(last, [3, 5, 9]);
    }

    #[test]
    fn limits_that_are_not_met_end_in_the_last_stage_of_the_ramp() {
        for limits in [Tightness::Free, Tightness::Loose, Tightness::Tight] {
            for is_calm in [false, true] {
                assert_eq!(stages(Opening::Long { is_calm, limits }, true, 200)[199], 3);
            }
        }
        assert_eq!(stages(Opening::Stage(0), false, 200)[199], 3);
        assert_eq!(stages(Opening::Stage(1), true, 200)[199], 1);
    }
}
