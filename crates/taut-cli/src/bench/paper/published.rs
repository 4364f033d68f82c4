//! Results published in the main paper: Huamin Wang, James O'Brien and Ravi Ramamoorthi, *Multi-Resolution
//! Isotropic Strain Limiting*, ACM Transactions on Graphics 29(6), 2010. Quoted from its Table 1, section 5.2
//! and the captions of its figures; nothing here was measured by taut.

use serde::Serialize;

use crate::args;

/// Source of the numbers.
pub const SOURCE: &str = "Wang, O'Brien and Ramamoorthi, Multi-Resolution Isotropic Strain Limiting, ACM Transactions on Graphics 29(6), 2010";

/// One row of Table 1.
#[derive(Clone, Copy, Serialize)]
pub struct Example {
    /// Its name on the command line.
    #[serde(skip)]
    pub row: args::Example,
    pub example: &'static str,
    /// The figure that shows it.
    pub figure: u32,
    /// Kind of elements.
    pub mesh: &'static str,
    pub elements: u32,
    pub levels: u32,
    pub iterations_per_level: u32,
    pub seconds_per_frame: f64,
    /// Strain and bend limits, as far as published.
    pub strain: &'static str,
    pub bend: &'static str,
}

/// Table 1, with the limits from the captions.
pub const TABLE_1: [Example; 7] = [
    Example {
        row: args::Example::Bunny,
        example: "Bunny",
        figure: 1,
        mesh: "triangles",
        elements: 58_800,
        levels: 4,
        iterations_per_level: 256,
        seconds_per_frame: 16.56,
        strain: "±5/10 %",
        bend: "±3/6/12 °/cm, none",
    },
    Example {
        row: args::Example::Cloth,
        example: "Cloth",
        figure: 7,
        mesh: "triangles",
        elements: 12_800,
        levels: 4,
        iterations_per_level: 128,
        seconds_per_frame: 1.80,
        strain: "not given",
        bend: "±60/30 °/cm",
    },
    Example {
        row: args::Example::Shirt,
        example: "Shirt",
        figure: 8,
        mesh: "triangles",
        elements: 40_000,
        levels: 4,
        iterations_per_level: 256,
        seconds_per_frame: 10.56,
        strain: "±1 %",
        bend: "±60 °/cm",
    },
    Example {
        row: args::Example::Duck,
        example: "Duck",
        figure: 9,
        mesh: "triangles",
        elements: 4100,
        levels: 2,
        iterations_per_level: 128,
        seconds_per_frame: 0.38,
        strain: "±5 %",
        bend: "±3 °/cm",
    },
    Example {
        row: args::Example::DragonHollow,
        example: "Dragon, hollow",
        figure: 11,
        mesh: "triangles",
        elements: 37_400,
        levels: 4,
        iterations_per_level: 200,
        seconds_per_frame: 8.28,
        strain: "±5 %",
        bend: "±3 °/cm",
    },
    Example {
        row: args::Example::DragonSolid,
        example: "Dragon, solid",
        figure: 11,
        mesh: "tetrahedra",
        elements: 74_100,
        levels: 4,
        iterations_per_level: 256,
        seconds_per_frame: 16.67,
        strain: "±5 %",
        bend: "-",
    },
    Example {
        row: args::Example::Tori,
        example: "Tori",
        figure: 10,
        mesh: "tetrahedra",
        elements: 51_900,
        levels: 3,
        iterations_per_level: 256,
        seconds_per_frame: 13.11,
        strain: "±5 %",
        bend: "-",
    },
];

/// Figure 9: variants of the duck (with iterations), and seconds per frame.
pub const FIGURE_9: [(&str, f64); 4] = [
    ("(a) levels, 128", 0.375),
    ("(b) finest level, 128", 0.359),
    ("(c) finest level, 2048", 5.875),
    ("(d) no limits, 100 substeps", 0.734),
];

/// Figure 14: seconds until the mean residual was 1 %, over levels and on the finest level alone.
pub const FIGURE_14: [(&str, f64); 2] =
    [("levels, 128 iterations on each", 0.510), ("finest level alone, 2000 iterations", 7.680)];
