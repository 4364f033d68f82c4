//! What cloth is made of: stiffness by direction, damping, density. [Named materials](super::fabrics) or any
//! numbers.
//!
//! In the plane cloth is orthotropic: stretched along warp and weft it has the moduli E₁ and E₂, sheared the
//! modulus G, and pulled along the warp by ε it narrows by ν ε. Bending has a rigidity along the warp, along
//! the weft and at 45 degrees to both. Cloth with one number for each is the same in all directions.

use serde::Serialize;

use super::fabrics::{self, FABRICS};
use crate::{kernel::membrane::Woven, term::curvature::Rigidity};

/// Mechanical properties of a sheet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Material {
    /// Name, or `custom`.
    pub name: String,
    /// Mass per area \[kg/m²\].
    pub density: f32,
    /// Stiffness against stretching and shear.
    pub stretch: Stretching,
    /// Poisson's ratio ν: how much it narrows, of what it is stretched along the warp. Above −1 and below 0.5
    /// if it is the same in all directions; otherwise its square below that of warp over weft.
    pub poisson: f32,
    /// Stiffness against bending.
    pub bend: Bending,
    /// Rate at which motion relative to the ground dies away \[1/s\].
    pub damping: f32,
    /// Stiffness-proportional damping: the time by which stress runs ahead of strain \[s\].
    pub viscosity: f32,
    /// Damping of bending: the time by which the moment runs ahead of the curvature \[s\].
    pub bend_damping: f32,
    /// Where the numbers come from.
    pub source: String,
}

/// Stiffness against stretching: Young's modulus times thickness \[N/m\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stretching {
    /// Along the warp.
    pub warp: f32,
    /// Along the weft, at right angles to the warp.
    pub weft: f32,
    /// Shear modulus times thickness \[N/m\]; `None`: that of a sheet which is the same in all directions, or
    /// √(E₁E₂)/2(1 + √(ν₁₂ν₂₁)) between warp and weft that differ.
    pub shear: Option<f32>,
}

/// Stiffness against bending: flexural rigidity \[N m\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bending {
    /// Of a strip along the warp.
    pub warp: f32,
    /// Of a strip along the weft.
    pub weft: f32,
    /// Of a strip at 45 degrees to both; `None`: that of a sheet which twists as one that is the same in all
    /// directions does.
    pub bias: Option<f32>,
}

impl From<f32> for Stretching {
    /// The same in all directions.
    fn from(stretch: f32) -> Self {
        Self { warp: stretch, weft: stretch, shear: None }
    }
}

impl From<f32> for Bending {
    /// The same in all directions.
    fn from(bend: f32) -> Self {
        Self { warp: bend, weft: bend, bias: None }
    }
}

impl Stretching {
    /// `factor` times as stiff.
    #[must_use]
    pub fn scaled(self, factor: f32) -> Self {
        Self { warp: factor * self.warp, weft: factor * self.weft, shear: self.shear.map(|g| factor * g) }
    }

    /// The mean of warp and weft \[N/m\].
    pub fn mean(self) -> f32 {
        0.5 * (self.warp + self.weft)
    }
}

impl Bending {
    /// `factor` times as stiff.
    #[must_use]
    pub fn scaled(self, factor: f32) -> Self {
        Self { warp: factor * self.warp, weft: factor * self.weft, bias: self.bias.map(|b| factor * b) }
    }

    /// The mean over all directions \[N m\].
    pub fn mean(self) -> f32 {
        let [warp, weft] = [self.warp, self.weft].map(f64::from);
        (0.25 * (warp + weft) + 0.5 * self.along_bias()) as f32
    }

    /// Rigidity of a strip at 45 degrees to warp and weft \[N m\].
    fn along_bias(self) -> f64 {
        let [warp, weft] = [self.warp, self.weft].map(f64::from);
        self.bias.map_or_else(|| 0.25 * (warp + weft) + 0.5 * (warp * weft).sqrt(), f64::from)
    }
}

impl Default for Material {
    /// Polyester, the first of the table.
    fn default() -> Self {
        FABRICS[0].material()
    }
}

impl Material {
    /// The material of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        fabrics::named(name).map(fabrics::Fabric::material)
    }

    /// Names of all materials of the table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FABRICS.iter().map(|fabric| fabric.name)
    }

    /// Whether it is the same in all directions, both stretched and bent.
    pub fn is_isotropic(&self) -> bool {
        let Rigidity { along: [warp, weft], torsion } = self.rigidity();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * warp.abs();
        self.law().is_isotropic() && near(warp, weft) && near(2.0 * torsion, warp)
    }

    /// What is wrong with it: the key of a scene file's table, and what would be right.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        let at_least_0 = |value: f32| value >= 0.0 && value.is_finite();
        let said = |key, text: &str| Some((key, text.to_owned()));
        if !(self.density.is_finite() && self.density > 0.0) {
            return said("density", "density must be positive");
        }
        let Stretching { warp, weft, shear } = self.stretch;
        if ![warp, weft, shear.unwrap_or(0.0)].into_iter().all(at_least_0) {
            return said("stretch", "stretch stiffness must be at least 0: warp, weft and shear");
        }
        let Bending { warp: along, weft: across, bias } = self.bend;
        if ![along, across, bias.unwrap_or(0.0)].into_iter().all(at_least_0) {
            return said("bend", "bending stiffness must be at least 0: warp, weft and bias");
        }
        // The torsion that is left for a strip along the bias must not be negative.
        let least = 0.25 * (along + across);
        if bias.is_some_and(|bias| bias < least * (1.0 - 1e-5)) {
            let text = format!(
                "bending stiffness along the bias must be at least {least:e}, a quarter of warp and weft"
            );
            return Some(("bend", text));
        }
        if warp == 0.0 && weft == 0.0 {
            if !self.poisson.is_finite() {
                return said("poisson", "Poisson's ratio must be a finite number");
            }
        } else if warp == weft && shear.is_none() {
            if !(self.poisson > -1.0 && self.poisson < 0.5) {
                return said("poisson", "Poisson's ratio must be above -1 and below 0.5");
            }
        } else {
            let bound = if weft > 0.0 { (warp / weft).sqrt() } else { f32::INFINITY };
            if self.poisson.is_nan() || self.poisson.abs() >= bound.min(1e3) {
                let text = format!(
                    "Poisson's ratio must lie between -{0:.3} and {0:.3}, the square root of warp over weft",
                    bound.min(1e3)
                );
                return Some(("poisson", text));
            }
        }
        if ![self.damping, self.viscosity, self.bend_damping].into_iter().all(at_least_0) {
            return said("damping", "damping, viscosity and bend_damping must be at least 0");
        }
        None
    }

    /// Its resistance to bending.
    pub(crate) fn rigidity(&self) -> Rigidity {
        let along = [self.bend.warp, self.bend.weft].map(f64::from);
        let torsion = (self.bend.along_bias() - 0.25 * (along[0] + along[1])).max(0.0);
        Rigidity { along, torsion }
    }

    /// Its law in the plane \[N/m\], along warp and weft.
    pub(crate) fn law(&self) -> Woven<f64> {
        let [e1, e2, poisson] = [self.stretch.warp, self.stretch.weft, self.poisson].map(f64::from);
        // ν₁₂ ν₂₁, with ν₂₁ = ν₁₂ E₂/E₁.
        let product = if e1 > 0.0 { poisson * poisson * e2 / e1 } else { 0.0 };
        let plane = 1.0 / (1.0 - product);
        let alike = || (e1 * e2).sqrt() / (1.0 + product.sqrt().copysign(poisson));
        Woven {
            stiffness: [e1 * plane, e2 * plane],
            coupling: if e1 > 0.0 { poisson * e2 * plane } else { 0.0 },
            shear: self.stretch.shear.map_or_else(alike, |shear| 2.0 * f64::from(shear)),
            compression: [1.0; 2],
            axis: [1.0, 0.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_the_isotropic_law() {
        let material =
            Material { stretch: 40.0.into(), poisson: 0.3, bend: 1e-5.into(), ..Material::default() };
        let law = material.law();
        let plane = 40.0 / (1.0 - 0.09);
        assert!((law.stiffness[0] - plane).abs() < 1e-5 && (law.coupling - 0.3 * plane).abs() < 1e-5);
        assert!((law.shear - 40.0 / 1.3).abs() < 1e-5 && law.is_isotropic() && material.is_isotropic());
        assert!((material.bend.mean() - 1e-5).abs() < 1e-11);
    }

    #[test]
    fn pulled_along_warp_and_weft_it_has_their_moduli_and_narrows_by_poisson() {
        let stretch = Stretching { warp: 1000.0, weft: 200.0, shear: Some(20.0) };
        let law = Material { stretch, poisson: 0.5, ..Material::default() }.law();
        let ([c11, c22], c12) = (law.stiffness, law.coupling);
        assert!(
            (c11 - c12 * c12 / c22 - 1000.0).abs() < 1e-9 && (c22 - c12 * c12 / c11 - 200.0).abs() < 1e-9
        );
        assert!((c12 / c22 - 0.5).abs() < 1e-12 && (law.shear - 40.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_is_named_with_its_bound() {
        let base = || Material::named("denim").unwrap();
        assert_eq!(base().problem(), None);
        let found = |change: &dyn Fn(&mut Material)| {
            let mut material = base();
            change(&mut material);
            material.problem().map(|(key, text)| format!("{key}: {text}")).unwrap_or_default()
        };
        assert!(found(&|m| (m.stretch, m.poisson) = (10.0.into(), 0.5)).contains("below 0.5"));
        assert!(found(&|m| m.stretch.warp = f32::NAN).starts_with("stretch"));
        assert!(found(&|m| m.stretch.shear = Some(-1.0)).starts_with("stretch"));
        assert!(found(&|m| m.bend.bias = Some(1e-6)).contains("quarter of warp and weft"));
        let square = Stretching { warp: 100.0, weft: 400.0, shear: Some(5.0) };
        let found = found(&|m| (m.stretch, m.poisson) = (square, 0.5));
        assert!(found.contains("-0.500 and 0.500, the square root of warp over weft"), "{found}");
    }
}
