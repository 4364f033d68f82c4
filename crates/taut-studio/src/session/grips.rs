//! Grips: points of bodies that the viewer in control pulls.

use glam::Vec3;
use taut::{Body, Grip};

use super::{Live, live::release};

/// Maximum number of grips.
const MOST_GRIPS: usize = 16;
/// Static displacement of a soft grip under the weight it holds \[m\].
const SAG: f32 = 0.03;
/// Maximum coordinate of a drag target \[m\].
const FURTHEST: f32 = 1e4;

impl Live {
    /// Grips a point of the displayed surface.
    pub(super) fn grab(
        &mut self,
        body: u32,
        triangle: u32,
        weights: [f32; 3],
        hard: bool,
        id: u32,
    ) -> Result<(), String> {
        let shown = self.shown_body(body)?;
        let corners = shown.mesh.triangles.get(triangle as usize);
        let corners = *corners.ok_or_else(|| format!("body {body} has no triangle {triangle}"))?;
        let weights = weights.map(|w| w.max(0.0));
        let sum: f32 = weights.iter().sum();
        if !(sum.is_finite() && sum > 1e-3) {
            return Err("weights of a grip must be three numbers from 0 to 1 with sum 1".into());
        }
        let weights = weights.map(|w| w / sum);
        let mut own = [0; 3];
        for (own, corner) in own.iter_mut().zip(corners) {
            *own = self.vertex(body, corner)?.1;
        }
        if let Some(old) = self.grips.remove(&id) {
            release(&mut self.engine, old);
        }
        if self.grips.len() >= MOST_GRIPS {
            return Err(format!("at most {MOST_GRIPS} grips are supported: release one first"));
        }
        let grip =
            if hard { Grip::Hard } else { Grip::Soft { stiffness: self.soft_stiffness(body as usize) } };
        let grip = self
            .engine
            .grip(self.handles[body as usize], own, weights, grip)
            .map_err(|error| error.to_string())?;
        self.grips.insert(id, grip);
        Ok(())
    }

    /// Stiffness of a soft grip, scaled so that it feels the same for light and heavy bodies \[N/m\].
    fn soft_stiffness(&self, body: usize) -> f32 {
        let mass = match self.engine.description().bodies.get(body) {
            Some(Body::Cloth(cloth)) => {
                let x = |v: u32| cloth.mesh.positions[v as usize];
                let area = |t: &[u32; 3]| 0.5 * (x(t[1]) - x(t[0])).cross(x(t[2]) - x(t[0])).length();
                cloth.material.density * cloth.mesh.triangles.iter().map(area).sum::<f32>()
            }
            Some(Body::Solid(solid)) => {
                let volume: f64 = (0..solid.mesh.tetrahedra.len()).map(|t| solid.mesh.volume(t)).sum();
                solid.material.density * volume as f32
            }
            Some(Body::Particles(particles)) => particles.masses.iter().sum::<f64>() as f32,
            Some(Body::Hair(hair)) => hair.mass() as f32,
            None => 0.0,
        };
        (9.81 * mass / SAG).clamp(1.0, 1e6)
    }

    /// Moves the target of the grip `id`; unknown ids are ignored.
    pub(super) fn drag(&mut self, id: u32, point: [f32; 3], stamp: f64) -> Result<(), String> {
        let Some(&grip) = self.grips.get(&id) else { return Ok(()) };
        let point = Vec3::from_array(point);
        if !(point.is_finite() && point.abs().max_element() <= FURTHEST) {
            return Err(format!("targets must be within {FURTHEST} m"));
        }
        self.engine.move_grip(grip, point).map_err(|error| error.to_string())?;
        if stamp.is_finite() {
            self.echo = self.echo.max(stamp);
        }
        Ok(())
    }
}
