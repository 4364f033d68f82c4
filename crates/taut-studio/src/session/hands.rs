//! Grips: points of bodies that the driver holds and pulls.

use glam::Vec3;
use taut::{Body, Grip};

use super::Live;

/// Grips at once.
const MOST_GRIPS: usize = 16;
/// How far a soft grip lets the weight of what it holds sink \[m\].
const SAG: f32 = 0.03;
/// Furthest point that can be dragged to \[m\].
const FURTHEST: f32 = 1e4;

impl Live {
    /// Takes hold of a point of what is shown.
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
            return Err("weights of a grip are three numbers from 0 to 1 with sum 1".into());
        }
        let weights = weights.map(|w| w / sum);
        let mut own = [0; 3];
        for (own, corner) in own.iter_mut().zip(corners) {
            *own = self.vertex(body, corner)?.1;
        }
        if let Some(old) = self.grips.remove(&id) {
            self.engine.release(old);
        }
        if self.grips.len() >= MOST_GRIPS {
            return Err(format!("there are {MOST_GRIPS} grips already: release one first"));
        }
        let grip =
            if hard { Grip::Hard } else { Grip::Soft { stiffness: self.soft_stiffness(body as usize) } };
        let grip = self.engine.grab(body as usize, own, weights, grip).map_err(|error| error.to_string())?;
        self.grips.insert(id, grip);
        Ok(())
    }

    /// A grip that soft feels the same for light and for heavy bodies \[N/m\].
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
            None => 0.0,
        };
        (9.81 * mass / SAG).clamp(1.0, 1e6)
    }

    /// Pulls a grip that the page calls `id`; unknown ones are ignored.
    pub(super) fn drag(&mut self, id: u32, point: [f32; 3], stamp: f64) -> Result<(), String> {
        let Some(&grip) = self.grips.get(&id) else { return Ok(()) };
        let point = Vec3::from_array(point);
        if !(point.is_finite() && point.abs().max_element() <= FURTHEST) {
            return Err(format!("points are within {FURTHEST} m"));
        }
        self.engine.drag(grip, point);
        if stamp.is_finite() {
            self.echo = self.echo.max(stamp);
        }
        Ok(())
    }
}
