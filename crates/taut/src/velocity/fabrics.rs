//! Named materials, with the source of every number.
//!
//! Wang 2011: Wang, O'Brien, Ramamoorthi, *Data-driven elastic models for cloth*. Its tables hold, at small
//! strain, the stress-strain matrix in the plane (c₁₁, c₁₂, c₂₂, c₃₃ \[N/m\]) and bending stiffness at 0, 45
//! and 90 degrees \[N m\]. The warp is taken at 90 degrees: denim with elastane in its weft is soft at 0. G =
//! c₃₃/2, since c₃₃ relates shear stress to the entry of the strain matrix.
//!
//! Films and paper are the same in all directions: thickness h, Young's modulus E and volume density from
//! data sheets; stretch = E h, bend = E h³ / 12 (1 − ν²).
//!
//! Other fabrics: numbers of the textile literature. Stretching is the secant at 98 N/m (FAST E100), which is
//! stiffer than the first per mille and softer than what follows. Bending is of the order that KES (Kawabata)
//! measures; for cotton, silk and leather it was chosen so that they drape as published, which makes their
//! drape no test of the simulation. Ranges of Kawabata and others are quoted from memory of the handbooks.
//! Each source says what was measured and what is typical of the kind.

use super::material::{Bending, Material, Stretching};

/// Damping of bending of all named materials \[s\]. On a bending tester (KES-FB2) the hysteresis of fabrics
/// is 0.2 to 0.5 of their moment at the same curvature, which is what this time makes of a motion of one
/// cycle a second.
const BEND_DAMPING: f32 = 0.05;

/// A named material. Every one has a little of each kind of damping, enough to end the ringing of single
/// triangles and far less than real fabric has.
pub struct Fabric {
    pub name: &'static str,
    density: f32,
    stretch: Stretching,
    poisson: f32,
    bend: Bending,
    source: &'static str,
}

/// Published drape coefficients of fabrics of a kind (Cusick, 30 cm on 18 cm): smallest and largest, and
/// where from.
pub const DRAPES: &[(&str, [f64; 2], &str)] = &[
    ("cotton", [0.60, 0.76], "a band around the 68.4 % of Gan, Ly and Steven 1991, as quoted by others"),
    ("silk", [0.20, 0.40], "a band as quoted by others with Matsudaira and Yang 2003, not seen there"),
    ("denim", [0.70, 0.90], "heavy fabrics; no measurement of denim itself is known"),
    ("wool", [0.40, 0.70], "worsteds; 49.8 % of a lighter one, Matsudaira 2015"),
    ("leather", [0.47, 0.70], "sheep garment leather, Memon 2021"),
];

impl Fabric {
    pub fn material(&self) -> Material {
        Material {
            name: self.name.into(),
            density: self.density,
            stretch: self.stretch,
            poisson: self.poisson,
            bend: self.bend,
            damping: 0.5,
            viscosity: 3e-5,
            bend_damping: BEND_DAMPING,
            source: self.source.into(),
        }
    }
}

/// The material of that name, if there is one.
pub fn named(name: &str) -> Option<&'static Fabric> {
    FABRICS.iter().find(|fabric| fabric.name == name)
}

/// A fabric of Wang 2011: c₁₁, c₁₂, c₂₂, c₃₃ \[N/m\], bending at 0, 45 and 90 degrees \[µN m\].
const fn wang(
    name: &'static str,
    density: f32,
    [c11, c12, c22, c33]: [f32; 4],
    bend: [f32; 3],
    source: &'static str,
) -> Fabric {
    Fabric {
        name,
        density,
        stretch: Stretching {
            warp: c22 - c12 * c12 / c11,
            weft: c11 - c12 * c12 / c22,
            shear: Some(0.5 * c33),
        },
        poisson: c12 / c11,
        bend: Bending { warp: 1e-6 * bend[2], weft: 1e-6 * bend[0], bias: Some(1e-6 * bend[1]) },
        source,
    }
}

/// A sheet that is the same in all directions: density \[kg/m²\], stretch \[N/m\], Poisson's ratio, bend
/// \[N m\].
const fn film(
    name: &'static str,
    density: f32,
    stretch: f32,
    poisson: f32,
    bend: f32,
    source: &'static str,
) -> Fabric {
    Fabric {
        name,
        density,
        stretch: Stretching { warp: stretch, weft: stretch, shear: None },
        poisson,
        bend: Bending { warp: bend, weft: bend, bias: None },
        source,
    }
}

/// A fabric of the textile literature: density \[kg/m²\], warp, weft and shear \[N/m\], Poisson's ratio,
/// bending along warp and weft \[µN m\].
const fn woven(
    name: &'static str,
    density: f32,
    [warp, weft, shear]: [f32; 3],
    poisson: f32,
    bend: [f32; 2],
    source: &'static str,
) -> Fabric {
    Fabric {
        name,
        density,
        stretch: Stretching { warp, weft, shear: Some(shear) },
        poisson,
        bend: Bending { warp: 1e-6 * bend[0], weft: 1e-6 * bend[1], bias: None },
        source,
    }
}

/// All of them.
pub const FABRICS: &[Fabric] = &[
    wang(
        "polyester",
        0.113,
        [43.068, 54.373, 171.425, 14.315],
        [14.294, 21.952, 20.346],
        "Wang 2011, tango-red-jet-set (jacket, 100 % polyester)",
    ),
    wang(
        "tablecloth",
        0.128,
        [2002.086, 0.346, 2027.486, 19.189],
        [51.714, 40.659, 31.283],
        "Wang 2011, white-dots-on-blk (tablecloth, 100 % polyester)",
    ),
    wang(
        "jersey",
        0.187,
        [16.594, -14.696, 34.477, 36.860],
        [23.192, 24.750, 14.268],
        "Wang 2011, gray-interlock (T-shirt, 60 % cotton, 40 % polyester)",
    ),
    wang(
        "denim",
        0.324,
        [205.352, 10.234, 1013.886, 53.387],
        [64.196, 73.385, 96.952],
        "Wang 2011, 11oz-black-denim (jeans, 99 % cotton, 1 % spandex)",
    ),
    wang(
        "rib-knit",
        0.276,
        [42.871, -0.235, 65.166, 83.176],
        [46.238, 30.016, 32.244],
        "Wang 2011, ivory-rib-knit (underwear, 95 % cotton, 5 % spandex)",
    ),
    wang(
        "ponte-roma",
        0.284,
        [31.146, -12.803, 44.029, 31.896],
        [36.348, 33.013, 37.158],
        "Wang 2011, camel-ponte-roma (jacket, 60 % polyester, 40 % rayon)",
    ),
    wang(
        "twill",
        0.220,
        [2016.555, 9.171, 2034.976, 104.760],
        [125.410, 107.998, 125.410],
        "Wang 2011, royal-target (trousers, 65 % cotton, 35 % polyester)",
    ),
    wang(
        "fleece",
        0.228,
        [151.504, 106.028, 244.831, 30.250],
        [117.070, 87.510, 59.774],
        "Wang 2011, pink-ribbon-brown (blanket, 100 % polyester)",
    ),
    wang(
        "swimwear",
        0.204,
        [47.971, 6.835, 104.615, 60.774],
        [60.238, 58.803, 51.019],
        "Wang 2011, white-swim-solid (swimsuit, 87 % nylon, 13 % spandex)",
    ),
    woven(
        "cotton",
        0.122,
        [7500.0, 5500.0, 68.0],
        0.25,
        [10.0, 7.0],
        "poplin: mass of Matsudaira 2015, ν of Penava 2014, stretch from EMT 2.3 % (Tadesse 2018); shear and \
         the ratio of warp to weft typical of shirtings (Kawabata 1980); bending chosen within B 0.04 to 0.15 \
         gf cm²/cm to drape as published",
    ),
    woven(
        "silk",
        0.065,
        [5000.0, 3000.0, 17.0],
        0.25,
        [1.0, 0.8],
        "habotai, crepe de chine: typical of thin dress fabrics (Kawabata 1980: G 0.2 to 0.4 gf/cm deg, EMT 2 to \
         10 %); bending chosen near the low end of B 0.01 to 0.04 gf cm²/cm to drape as published",
    ),
    woven(
        "wool",
        0.210,
        [4300.0, 2600.0, 50.0],
        0.28,
        [11.0, 8.0],
        "worsted suiting: means of summer suitings (Kawabata 1980: B 0.098 gf cm²/cm, G 0.97 gf/cm deg, \
         EMT 4.7 %), ν of Penava 2014; the ratio of warp to weft typical (SiroFAST, De Boos and Tester 1994)",
    ),
    woven(
        "linen",
        0.185,
        [8000.0, 6500.0, 50.0],
        0.20,
        [28.0, 22.0],
        "plain weave: typical ranges (B 0.15 to 0.5 gf cm²/cm, G 0.5 to 1.5 gf/cm deg, EMT 2 to 4 %)",
    ),
    woven(
        "leather",
        0.55,
        [6000.0, 4500.0, 1800.0],
        0.40,
        [30.0, 25.0],
        "nappa, 0.9 mm: typical moduli of garment leather at small strain (6 MPa along the spine); bending \
         within what drapes as sheep garment leather does (Memon 2021: 47 to 70 %)",
    ),
    woven(
        "ripstop",
        0.050,
        [20000.0, 16000.0, 150.0],
        0.20,
        [3.2, 2.6],
        "nylon: mass of MIL-C-7020H type II (1.6 oz/yd²), stretch from its strength and elongation \
         (50 lb/in, 29 to 40 %); shear and bending typical of calendered ripstop",
    ),
    film("paper", 0.08, 0.5e6, 0.2, 4.3e-4, "office paper: h = 0.1 mm, E = 5 GPa, 80 g/m²"),
    film("mylar", 0.0348, 1.2e5, 0.38, 7.3e-6, "polyester film: h = 25 µm, E = 4.8 GPa, 1390 kg/m³"),
    film("latex", 0.2375, 400.0, 0.49, 2.7e-6, "natural rubber sheet: h = 0.25 mm, E = 1.6 MPa, 950 kg/m³"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fabric_can_be_simulated_and_has_a_source() {
        for fabric in FABRICS {
            assert_eq!(fabric.material().problem(), None, "{}", fabric.name);
            assert!(fabric.source.len() > 20, "{}", fabric.name);
        }
    }

    #[test]
    fn moduli_of_wang_are_those_of_its_matrix() {
        let law = named("denim").unwrap().material().law();
        let ([warp, weft], coupling) = (law.stiffness, law.coupling);
        assert!((warp - 1013.886).abs() < 1e-2 && (weft - 205.352).abs() < 1e-2, "{law:?}");
        assert!((coupling - 10.234).abs() < 1e-2 && (law.shear - 53.387).abs() < 1e-3);
    }
}
