//! Developable cloth: what bends and hardly stretches.

use std::sync::Arc;

use super::{Cloth, Limit, Model};
use crate::{Pin, mesh::midpoints::Midpoints};

/// Settings of [`Model::Developable`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DevelopableModel {
    /// How far the corners of two triangles may be apart at the ends of their edge, over the length of that
    /// edge: 0.02 to 1. Less makes folds smoother and cloth stiffer: with 0 triangles would be conforming and
    /// lock.
    pub jump: f32,
}

impl DevelopableModel {
    /// Limits on strain where none are given: 0.1 % either way.
    pub const STRAIN: f32 = 1e-3;

    /// The tightest limits on strain that can be met: 0.01 %. Single precision measures no less.
    pub const TIGHTEST: f32 = 1e-4;
}

impl DevelopableModel {
    /// What is wrong with these limits on the strain of developable cloth, and what is allowed.
    pub(crate) fn problem(limits: &[Limit]) -> Option<&'static str> {
        let tight = |limit: f32| limit.abs() < 0.999 * Self::TIGHTEST;
        let is_tight = limits.iter().flat_map(|limit| [limit.min, limit.max]).flatten().any(tight);
        is_tight.then_some(
            "model \"developable\" can hold limits on strain of 0.0001 (0.01 %) or more, not of less",
        )
    }
}

impl Default for DevelopableModel {
    fn default() -> Self {
        Self { jump: 0.1 }
    }
}

impl Cloth {
    /// The same cloth as one of [`Model::Developable`]. Its mesh becomes that of the points that are
    /// simulated: midpoints of edges, and vertices at borders and pins; `start` and pins follow, and
    /// [`Cloth::midpoints`] says what is shown. Without limits on strain it gets ±0.1 %.
    ///
    /// ```
    /// use taut::{Cloth, DevelopableModel, Material, Pin, mesh::generate};
    ///
    /// let mesh = generate::grid([0.3, 0.2], [30, 20], generate::Diagonals::Regular, 0);
    /// let mut sheet = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
    /// sheet.pins = vec![Pin { vertices: sheet.mesh.groups["corner:top-left"].clone(), ..Pin::default() }];
    /// let sheet = sheet.developable(DevelopableModel::default())?;
    /// let shown = sheet.midpoints.as_ref().unwrap().to_shown(&sheet.start);
    /// assert_eq!(shown.len(), 31 * 21);
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// If it is so already, has masses, tears or has torn, or has a mesh that is not flat at rest or too
    /// coarse.
    pub fn developable(self, settings: DevelopableModel) -> Result<Self, String> {
        if self.midpoints.is_some() {
            return Err("model \"developable\": it is developable already".into());
        }
        if self.masses.is_some() || self.tear.is_some() || self.torn.is_some() {
            return Err("model \"developable\" supports no masses of vertices and no tear".into());
        }
        let mut named: Vec<u32> = self.pins.iter().flat_map(|pin| pin.vertices.iter().copied()).collect();
        named.sort_unstable();
        named.dedup();
        if let Some(v) = named.last().filter(|v| **v as usize >= self.mesh.positions.len()) {
            return Err(format!("a pin names vertex {v}, which does not exist"));
        }
        let (mesh, midpoints) = Midpoints::new(&self.mesh, &named)?;
        let pins = self.pins.iter().map(|pin| {
            // All of them are points, since they are named.
            let vertices = pin.vertices.iter().filter_map(|&v| midpoints.points[v as usize]).collect();
            Pin { vertices, ..pin.clone() }
        });
        let strain = match self.strain.is_some() || self.weave.is_some() {
            true => self.strain,
            false => Limit { min: Some(-DevelopableModel::STRAIN), max: Some(DevelopableModel::STRAIN) },
        };
        Ok(Self {
            pins: pins.collect(),
            start: midpoints.of_shown(&self.start),
            mesh,
            strain,
            model: Model::Developable(settings),
            midpoints: Some(Arc::new(midpoints)),
            ..self
        })
    }
}
