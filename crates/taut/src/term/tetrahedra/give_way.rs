//! Limits of tetrahedra that cannot be met give way, and come back.

use super::{Tetrahedra, local::TetrahedronState};
use crate::{
    kernel::lanes::BATCH,
    solve::nearest::tuning::{SLACK_GENEROSITY, SLACK_LEAST_LOSS},
};

impl Tetrahedra {
    /// Lets the limits of elements give way where they cannot be met, as when plates press a solid together
    /// by more than it may be: by the mean of what is lost around each, so that error is spread and nothing
    /// is crushed. `around` is room for a number a vertex. `alone`: so do single elements, by what they lost.
    pub fn give_way(&self, states: &mut [TetrahedronState], around: &mut [f32], tolerance: f32, alone: bool) {
        for (i, around) in around.iter_mut().enumerate() {
            let (mut sum, mut count) = (0.0, 0.0);
            for &place in self.corners.of(i) {
                let (batch, lane) = (place as usize / (4 * BATCH), place as usize % BATCH);
                sum += states[batch].residuals[lane];
                count += 1.0;
            }
            *around = if count > 0.0 { sum / count } else { 0.0 };
        }
        for (batch, state) in self.batches.iter().zip(states) {
            for lane in 0..BATCH {
                let mean = batch.vertices(lane).iter().map(|&v| around[v]).sum::<f32>() * 0.25;
                let (own, mut slack) = (state.residuals[lane], 0.0);
                if mean > (0.5 * tolerance).max(SLACK_LEAST_LOSS) {
                    slack = SLACK_GENEROSITY * mean;
                }
                if alone && own > tolerance {
                    slack = own.max(slack);
                }
                state.slack[lane] = slack.min(1.0);
            }
        }
    }

    /// Takes back limits that gave way, by `factor`, where nothing presses any more: in parts whose limits
    /// gave way and no vertex of which is `touched`. Limits give way by a little more than is lost, so that
    /// without this what was crushed would stay so. `around` is room for a number a vertex.
    pub fn come_back(
        &self,
        states: &mut [TetrahedronState],
        around: &mut [f32],
        factor: f32,
        touched: &[bool],
    ) {
        if states.iter().all(|state| state.slack == [0.0; BATCH]) {
            return;
        }
        for (i, around) in around.iter_mut().enumerate() {
            *around = f32::from(u8::from(touched[i]));
        }
        let mut spreads = true;
        while spreads {
            spreads = false;
            for (batch, state) in self.batches.iter().zip(states.iter()) {
                for lane in (0..BATCH).filter(|&lane| state.slack[lane] > 0.0) {
                    let corners = batch.vertices(lane);
                    let pressed = corners.map(|i| around[i] > 0.0);
                    if pressed.contains(&true) && pressed.contains(&false) {
                        corners.into_iter().for_each(|i| around[i] = 1.0);
                        spreads = true;
                    }
                }
            }
        }
        for (batch, state) in self.batches.iter().zip(states) {
            for lane in 0..BATCH {
                if batch.vertices(lane).iter().all(|&v| around[v] <= 0.0) {
                    state.slack[lane] *= factor;
                }
            }
        }
    }
}
