//! What cloth is made of: measured fabrics and films by name, or any numbers.
//!
//! Fabrics: Wang, O'Brien, Ramamoorthi, *Data-driven elastic models for cloth*, 2011, whose tables hold
//! stretching stiffness along warp and weft \[N/m\] and bending stiffness in three directions \[N m\] at
//! small strain. taut's law is isotropic, so the table below has the mean of warp and weft, and the mean of
//! the three directions. Films and paper: thickness h, Young's modulus E and volume density from data sheets;
//! stretch = E h, bend = E h³ / 12 (1 − ν²).
//!
//! Damping is in neither: every material has a little of both kinds, enough to end the ringing of single
//! triangles and far less than real fabric has.

use serde::Serialize;

use crate::{kernel::membrane::Woven, term::curvature::Rigidity};

/// Mechanical properties of a sheet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Material {
    /// Name, or `custom`.
    pub name: String,
    /// Mass per area \[kg/m²\].
    pub density: f32,
    /// Young's modulus times thickness \[N/m\].
    pub stretch: f32,
    /// Poisson's ratio, −1 < ν < 1 (two-dimensional).
    pub poisson: f32,
    /// Flexural rigidity \[N m\].
    pub bend: f32,
    /// Rate at which motion relative to the ground dies away \[1/s\].
    pub damping: f32,
    /// Stiffness-proportional damping: the time by which stress runs ahead of strain \[s\].
    pub viscosity: f32,
    /// Where the numbers come from.
    pub source: String,
}

/// A row of the table of named materials.
struct Row {
    name: &'static str,
    density: f32,
    stretch: f32,
    poisson: f32,
    bend: f32,
    source: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        name: "polyester",
        density: 0.113,
        stretch: 107.2,
        poisson: 0.3,
        bend: 18.9e-6,
        source: "Wang 2011, tango-red-jet-set (jacket, 100 % polyester)",
    },
    Row {
        name: "tablecloth",
        density: 0.128,
        stretch: 2015.0,
        poisson: 0.0,
        bend: 41.2e-6,
        source: "Wang 2011, white-dots-on-blk (tablecloth, 100 % polyester)",
    },
    Row {
        name: "jersey",
        density: 0.187,
        stretch: 25.5,
        poisson: 0.3,
        bend: 20.7e-6,
        source: "Wang 2011, gray-interlock (T-shirt, 60 % cotton, 40 % polyester)",
    },
    Row {
        name: "denim",
        density: 0.324,
        stretch: 609.6,
        poisson: 0.02,
        bend: 78.2e-6,
        source: "Wang 2011, 11oz-black-denim (jeans, 99 % cotton, 1 % spandex)",
    },
    Row {
        name: "rib-knit",
        density: 0.276,
        stretch: 54.0,
        poisson: 0.0,
        bend: 36.2e-6,
        source: "Wang 2011, ivory-rib-knit (underwear, 95 % cotton, 5 % spandex)",
    },
    Row {
        name: "ponte-roma",
        density: 0.284,
        stretch: 37.6,
        poisson: 0.0,
        bend: 35.5e-6,
        source: "Wang 2011, camel-ponte-roma (jacket, 60 % polyester, 40 % rayon)",
    },
    Row {
        name: "twill",
        density: 0.220,
        stretch: 2025.8,
        poisson: 0.0,
        bend: 119.6e-6,
        source: "Wang 2011, royal-target (trousers, 65 % cotton, 35 % polyester)",
    },
    Row {
        name: "fleece",
        density: 0.228,
        stretch: 198.2,
        poisson: 0.3,
        bend: 88.1e-6,
        source: "Wang 2011, pink-ribbon-brown (blanket, 100 % polyester)",
    },
    Row {
        name: "swimwear",
        density: 0.204,
        stretch: 76.3,
        poisson: 0.09,
        bend: 56.7e-6,
        source: "Wang 2011, white-swim-solid (swimsuit, 87 % nylon, 13 % spandex)",
    },
    Row {
        name: "paper",
        density: 0.08,
        stretch: 0.5e6,
        poisson: 0.2,
        bend: 4.3e-4,
        source: "office paper: h = 0.1 mm, E = 5 GPa, 80 g/m²",
    },
    Row {
        name: "mylar",
        density: 0.0348,
        stretch: 1.2e5,
        poisson: 0.38,
        bend: 7.3e-6,
        source: "polyester film: h = 25 µm, E = 4.8 GPa, 1390 kg/m³",
    },
    Row {
        name: "latex",
        density: 0.2375,
        stretch: 400.0,
        poisson: 0.49,
        bend: 2.7e-6,
        source: "natural rubber sheet: h = 0.25 mm, E = 1.6 MPa, 950 kg/m³",
    },
];

impl Default for Material {
    /// Polyester, the first of the table.
    fn default() -> Self {
        Self::of(&TABLE[0])
    }
}

impl Material {
    /// The material of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(Self::of)
    }

    fn of(row: &Row) -> Self {
        Self {
            name: row.name.into(),
            density: row.density,
            stretch: row.stretch,
            poisson: row.poisson,
            bend: row.bend,
            damping: 0.5,
            viscosity: 3e-5,
            source: row.source.into(),
        }
    }

    /// Its resistance to bending.
    pub(crate) fn rigidity(&self) -> Rigidity {
        let bend = f64::from(self.bend);
        Rigidity { along: [bend; 2], torsion: 0.5 * bend }
    }

    /// Its law in the plane \[N/m\], along warp and weft.
    pub(crate) fn law(&self) -> Woven<f64> {
        let [young, poisson] = [self.stretch, self.poisson].map(f64::from);
        let plane = young / (1.0 - poisson * poisson);
        Woven {
            stiffness: [plane; 2],
            coupling: poisson * plane,
            shear: plane * (1.0 - poisson),
            compression: [1.0; 2],
            axis: [1.0, 0.0],
        }
    }

    /// Names of all materials of the table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.name)
    }
}
