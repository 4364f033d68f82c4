//! Combing hair: points near a brush take part in its motion.

use glam::Vec3;

use super::{Simulation, SimulationError, finite};

/// Factor on the mass of points that a brush takes along: the rest of their strands follows them.
const HEAVIER: f32 = 100.0;

/// Share of its radius within which a brush takes points along in full.
const FULL: f32 = 0.5;

impl Simulation {
    /// A brush goes from one place to another \[m\] in the next frame, and takes points of hair that are
    /// within `radius` \[m\] of its way along. Limits, contact and what is held come first. Call it before
    /// each frame in which the brush is there, also where it rests. Says how many points it took.
    ///
    /// # Errors
    /// If a place is not finite or beyond 1e6 m, or the radius does not lie between 0 and 1e6 m. Nothing has
    /// changed then.
    pub fn comb(&mut self, [from, to]: [Vec3; 2], radius: f32) -> Result<usize, SimulationError> {
        finite("the way of a brush", from)?;
        finite("the way of a brush", to)?;
        if !(radius > 0.0 && radius <= 1e6) {
            let allowed = "lie between 0 and 1e6 m";
            return Err(SimulationError::OutOfRange {
                what: "the radius of a brush",
                value: radius.to_string(),
                allowed,
            });
        }
        let way = to - from;
        self.lighten_brushed();
        let velocity = way / self.world.description.frame_time;
        let mut taken = 0;
        for k in 0..self.world.hair.len() {
            for v in self.world.hair[k].vertices.clone() {
                if self.state.x[v][3] <= 0.0 {
                    continue;
                }
                let p = Vec3::from_slice(&self.state.x[v][..3]);
                let along =
                    ((p - from).dot(way) / way.length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
                let away = p.distance(from + along * way) / radius;
                let share = ((1.0 - away) / (1.0 - FULL)).clamp(0.0, 1.0);
                if share == 0.0 {
                    continue;
                }
                let own = Vec3::from_slice(&self.state.v[v][..3]);
                let next = own.lerp(velocity, share).to_array();
                self.state.v[v][..3].copy_from_slice(&next);
                self.state.mean_v[v][..3].copy_from_slice(&next);
                // The step before had another velocity, which must not be continued.
                self.state.begin_anew(v..v + 1);
                let light = self.state.x[v][3];
                let heavy = light / (1.0 + share * (HEAVIER - 1.0));
                self.state.x[v][3] = heavy;
                self.brushed.push((v as u32, [light, heavy]));
                taken += 1;
            }
        }
        Ok(taken)
    }

    /// Gives points that a brush took along their masses again, at the end of a frame.
    pub(super) fn lighten_brushed(&mut self) {
        for (v, [light, heavy]) in self.brushed.drain(..) {
            if let Some(x) = self.state.x.get_mut(v as usize).filter(|x| x[3] == heavy) {
                x[3] = light;
            }
        }
    }
}
