//! Limits of triangles that cannot be met give way, compression before stretch, and come back.
//!
//! Cloth that is squeezed where it cannot buckle, as in an armpit, cannot keep a lower limit whatever it
//! does, and duals that go on growing there would tear at everything around. So lower limits give way first,
//! by about twice what is lost around a triangle: what is let go below frees what is held above. Where that
//! does not help, as between pins that are too far apart, upper limits give way as well, by what is lost.

use super::{Strain, local::BatchState};
use crate::{
    kernel::lanes::BATCH,
    solve::nearest::tuning::{CLOTH_LEAST_SLACK, CLOTH_SLACK_GENEROSITY, CLOTH_SLACK_GROWTH},
};

impl Strain {
    /// Lets limits give way where they cannot be met, by the mean of what is lost around the corners of each
    /// triangle, so that error is spread. `around` is room for two numbers a vertex. `also_upper`: upper
    /// limits as well, and single triangles by what they lost. Says whether any limit has given way.
    pub fn give_way(
        &self,
        states: &mut [BatchState],
        around: &mut [[f32; 2]],
        tolerance: f32,
        also_upper: bool,
    ) -> bool {
        for (i, around) in around.iter_mut().enumerate() {
            let (mut sum, mut count) = ([0.0; 2], 0.0f32);
            for &place in self.corners.of(i) {
                let (batch, lane) = (place as usize / (3 * BATCH), place as usize % BATCH);
                sum = [0, 1].map(|side| sum[side] + states[batch].residuals[side][lane]);
                count += 1.0;
            }
            *around = sum.map(|sum| sum / count.max(1.0));
        }
        let mut any = false;
        for (batch, state) in self.batches.iter().zip(states) {
            for lane in 0..BATCH {
                let corners = batch.vertices(lane);
                let [below, above] = [0, 1].map(|side| {
                    let mean = corners.iter().map(|&v| around[v][side]).sum::<f32>() / 3.0;
                    let own = state.residuals[side][lane];
                    let slack = if mean > 0.5 * tolerance { CLOTH_SLACK_GENEROSITY * mean } else { 0.0 };
                    let alone = also_upper && own > tolerance;
                    (if alone { slack.max(own) } else { slack }).min(1.0)
                });
                // More than is lost at once.
                let below =
                    if below > 0.0 { (CLOTH_SLACK_GROWTH * below).max(CLOTH_LEAST_SLACK) } else { 0.0 };
                let above = if also_upper { above } else { state.slack[1][lane] };
                (state.slack[0][lane], state.slack[1][lane]) = (below, above);
                any |= below > 0.0 || above > 0.0;
            }
        }
        any
    }
}
