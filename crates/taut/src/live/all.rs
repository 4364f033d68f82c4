//! Changes of all bodies at once, at the cost of one.

use super::{Limiter, Live, Settings, refused};
use crate::{Body, Limit, WorldError};

impl Live {
    /// Limits the strain of all bodies alike. Solids have no edges to limit: [`Limiter::Edge`] limits their
    /// principal strains.
    ///
    /// # Errors
    /// If the limits are out of range. Nothing has changed then.
    pub fn limit_all(&mut self, limiter: Limiter, limit: Limit) -> Result<(), WorldError> {
        self.change_all(|solid, settings| {
            settings.limiter = if solid && limiter == Limiter::Edge { Limiter::Isotropic } else { limiter };
            if limiter != Limiter::Off {
                (settings.strain, settings.weave) = (limit, None);
            }
        })
    }

    /// Changes the limits on the bend of all cloth \[°/cm\], as [`Live::set_bend_limit`] does for one.
    ///
    /// # Errors
    /// If the limits are out of range. Nothing has changed then.
    pub fn limit_all_bends(&mut self, limit: Limit) -> Result<(), WorldError> {
        self.change_all(|solid, settings| {
            if !solid {
                settings.bend = limit;
            }
        })
    }

    /// Changes the stiffness of all bodies, as [`Live::set_stiffness`] does for one.
    ///
    /// # Errors
    /// If the factor is negative or not finite. Nothing has changed then.
    pub fn stiffen_all(&mut self, factor: f32) -> Result<(), WorldError> {
        if !(0.0..=1e6).contains(&factor) {
            return refused("stiffness".into(), "needs a factor between 0 and 1e6".into());
        }
        self.change_all(|_, settings| settings.stiffness = factor)
    }

    /// Changes the settings of all bodies; `change` is told which are solids.
    fn change_all(&mut self, change: impl Fn(bool, &mut Settings)) -> Result<(), WorldError> {
        let mut description = self.description().clone();
        let mut changed = self.bodies.clone();
        for (body, settings) in changed.iter_mut().enumerate() {
            change(matches!(description.bodies[body], Body::Solid(_)), settings);
            settings.apply(body, &mut description);
        }
        self.rebuild(description)?;
        self.bodies = changed;
        Ok(())
    }
}
