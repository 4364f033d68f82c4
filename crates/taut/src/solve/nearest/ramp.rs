//! κ, stage by stage: soft first, which finds the right place, then stiffer, until the limits are met.

use super::tuning::{
    LOCAL_VIOLATION, MIN_ITERATIONS_PER_STAGE, MIN_ITERATIONS_PER_STAGE_IMPLICIT,
    MIN_ITERATIONS_PER_STAGE_TOUCHING, RAMP, SOFT_ITERATIONS, STAGE_IMPLICIT,
};
use crate::term::{Excess, Stage};

/// Where the ramp is.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    /// The stage at hand.
    pub stage: Stage,
    stiffness: [f32; RAMP.len()],
    patience: [u32; RAMP.len() - 1],
    /// Iterations in the second stage after which the third follows whatever has been met; 0: never.
    soft: u32,
    /// Iterations in this stage.
    since: u32,
    /// Whether the next iteration is to be one of the next stage.
    stiffen: bool,
}

impl Ramp {
    /// The stage that a prediction with this `excess` is best begun with, if no term has another wish.
    /// `alone` says that nothing but strains of triangles is at stake.
    pub fn first_stage(excess: &Excess, alone: bool) -> usize {
        usize::from(!alone || excess.mean() > LOCAL_VIOLATION * excess.worst)
    }

    /// The stage that a step of an implicit integrator begins with. Where bodies hardly move, a soft stage
    /// would keep them trembling.
    pub fn first_stage_implicit(touching: bool, is_calm: bool) -> usize {
        if is_calm && !touching { STAGE_IMPLICIT } else { STAGE_IMPLICIT - 1 }
    }

    /// Begins with stage `first`; `stiffness` is κ of each. `short`: for a step of an implicit
    /// integrator, whether it is a short one.
    pub fn begin(first: usize, stiffness: [f32; RAMP.len()], touching: bool, short: Option<bool>) -> Self {
        let soft = match short {
            Some(false) if !touching => SOFT_ITERATIONS,
            Some(true) if !touching => u32::MAX,
            _ => 0,
        };
        Self {
            stage: Stage { index: first, c: RAMP[first], kappa: stiffness[first] },
            stiffness,
            patience: match (soft, touching) {
                (0, true) => MIN_ITERATIONS_PER_STAGE_TOUCHING,
                (0, false) => MIN_ITERATIONS_PER_STAGE,
                _ => MIN_ITERATIONS_PER_STAGE_IMPLICIT,
            },
            soft,
            since: 0,
            stiffen: false,
        }
    }

    /// Goes to the next stage, if that is due. Gives the factor by which κ has grown then.
    pub fn advance(&mut self) -> Option<f32> {
        if !self.stiffen {
            return None;
        }
        let index = self.stage.index + 1;
        let growth = RAMP[index] / self.stage.c;
        self.stage = Stage { index, c: RAMP[index], kappa: self.stiffness[index] };
        (self.since, self.stiffen) = (0, false);
        Some(growth)
    }

    /// Whether this stage has had its iterations.
    pub fn is_impatient(&self) -> bool {
        self.patience.get(self.stage.index).is_some_and(|&patience| self.since >= patience)
    }

    /// Counts an iteration.
    pub fn count(&mut self) {
        self.since += 1;
        self.stiffen |= self.soft > 0 && self.stage.index + 1 == STAGE_IMPLICIT && self.since == self.soft;
    }

    /// Asks for the next stage in the next iteration, or not.
    pub fn ask(&mut self, stiffen: bool) {
        self.stiffen |= stiffen;
    }
}
