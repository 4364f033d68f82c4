//! Sewing patterns, read and meshed: the specification files of GarmentCode and `pygarment` (JSON), and
//! pieces in DXF of AAMA and ASTM (`dxf`), which have neither stitches nor places.
//!
//! A pattern consists of flat panels, each placed in space by a rotation and a translation, and of stitches
//! between their edges. Both sides of a stitch get the same number of segments, at equal fractions of their
//! lengths, so that every vertex has a partner: a longer side gathers. What a file may contain, and which
//! conventions of `pygarment` are followed:
//!
//! - Edges are straight, quadratic or cubic Bézier curves, or circular arcs. Control points are relative to
//!   the edge (1 along it, 1 to its left) or absolute (`curvature_coords`).
//! - The order of a panel's edges says which side is outside: counter-clockwise seen from there.
//! - A stitch joins the start of one edge to the end of the other, which keeps the outside outside. Marked
//!   `right_wrong`, it joins start to start.
//! - The y axis of a panel is the grain: it becomes the texture coordinate v, which is the warp by default.
//!
//! Stages: `json` (text to values, with names in messages), `curve` (one edge), `outline` (a panel's loop),
//! `sew` (numbers of segments, pairs of vertices), `assemble` (triangles, rest shape, start, groups); for
//! `taut dress` also `place` (panels that cannot be sewn where they are placed).

mod assemble;
mod curve;
mod dress;
mod dxf;
mod json;
mod outline;
mod place;
mod sew;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use glam::{DMat3, DVec2, DVec3};
use taut::mesh::generate::Garment;

use self::curve::Curve;
pub use self::dress::{Dressed, DressedGarment, dress};
use crate::{Problem, Problems};

/// Largest pattern file that is read \[bytes\].
const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of panels, of edges of a panel, and of stitches.
pub const MAX_PANELS: usize = 1000;
const MAX_EDGES: usize = 10_000;
const MAX_STITCHES: usize = 100_000;
/// Maximum number of vertices of a meshed pattern.
pub const MAX_VERTICES: f64 = 4e6;
/// Default edge length of triangles \[m\].
pub const DEFAULT_EDGE: f64 = 0.01;
/// Units in a metre where a file does not say: centimetres, as `pygarment` writes.
const DEFAULT_UNITS: f64 = 100.0;

/// A pattern as its file has it, in its own units.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Where it was read from, for messages.
    file: Option<PathBuf>,
    panels: Vec<Panel>,
    stitches: Vec<Stitch>,
    /// Units of the file in a metre.
    units: f64,
    /// What was assumed where the file does not say, for the user.
    notes: Vec<String>,
}

/// One panel.
#[derive(Clone, Debug)]
struct Panel {
    name: String,
    label: Option<String>,
    /// In the order of the file.
    edges: Vec<Edge>,
    /// The order in which the edges form the outline.
    order: Vec<usize>,
    rotation: DMat3,
    translation: DVec3,
}

/// An edge of a panel.
#[derive(Clone, Debug)]
struct Edge {
    /// Vertices that it joins.
    ends: [usize; 2],
    curve: Curve,
    label: Option<String>,
}

/// An edge: panel, and edge in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    panel: usize,
    edge: usize,
}

/// Two edges that are sewn together.
#[derive(Clone, Debug)]
struct Stitch {
    sides: [Side; 2],
    /// Joins start to start: the outside of one panel to the inside of the other.
    is_right_wrong: bool,
}

/// A pattern as cloth.
#[derive(Clone, Debug)]
pub struct SewnPattern {
    /// Flat panels side by side, their positions at the start \[m\], and the sewn vertices.
    pub garment: Garment,
    /// What it contains.
    pub contents: Contents,
    /// What looks odd, but can be sewn.
    pub warnings: Vec<String>,
}

/// What a pattern contains.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Contents {
    /// Number of panels.
    pub panels: usize,
    /// Number of stitches.
    pub stitches: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Largest distance of two vertices that are sewn together, at the start \[m\].
    pub opening: f64,
    /// The stitch whose sides differ most in length, relative to their mean.
    pub worst_stitch: Option<Difference>,
}

/// A stitch and the lengths of its sides.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// Its number in the file, from 0.
    pub stitch: usize,
    /// Its two sides, as `PANEL edge N`.
    pub sides: [String; 2],
    /// Their lengths \[m\].
    pub lengths: [f64; 2],
}

/// Reads a pattern file.
///
/// # Errors
/// All its problems, each with panel, edge or stitch.
pub fn read(path: &Path) -> Result<Pattern, Problems> {
    let problem = |message: String| Problem { file: Some(path.into()), message, ..Problem::default() };
    let size = std::fs::metadata(path).map_err(|error| problem(format!("cannot be read: {error}")))?.len();
    if size > MAX_BYTES {
        return Err(problem(format!("has {size} bytes, must have at most {MAX_BYTES}")).into());
    }
    let bytes = std::fs::read(path).map_err(|error| problem(format!("cannot be read: {error}")))?;
    parse(&bytes, Some(path))
}

/// Reads a pattern from the contents of a file: DXF if the name of `path` ends in it, JSON otherwise.
///
/// # Errors
/// All its problems, each with panel, edge or stitch.
pub fn parse(bytes: &[u8], path: Option<&Path>) -> Result<Pattern, Problems> {
    if path.is_some_and(dxf::is_dxf) { dxf::parse(bytes, path) } else { json::parse(bytes, path) }
}

impl Pattern {
    /// Units of the file in a metre: 100 for centimetres.
    pub fn units_in_meter(&self) -> f64 {
        self.units
    }

    /// The same pattern with other units in a metre.
    #[must_use]
    pub fn with_units(self, units_in_meter: f64) -> Self {
        // Nothing is assumed of units that are given.
        let notes = self.notes.iter().filter(|note| !note.contains("units_in_meter")).cloned().collect();
        Self { units: units_in_meter, notes, ..self }
    }

    /// Moves a panel by `shift` \[m\] from where it is placed; false if there is none of this name.
    pub fn shift(&mut self, panel: &str, shift: DVec3) -> bool {
        let units = self.units;
        let found = self.panels.iter_mut().find(|own| own.name == panel);
        found.map(|own| own.translation += units * shift).is_some()
    }

    /// Sews two edges, each as `PANEL:EDGE` with its number from 0, the start of one to the end of the other.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn stitch(&mut self, edges: [&str; 2]) -> Result<(), String> {
        let sides = [self.side(edges[0])?, self.side(edges[1])?];
        if sides[0] == sides[1] {
            return Err(format!("{:?} is sewn to itself, must be two edges", edges[0]));
        }
        if self.stitches.len() == MAX_STITCHES {
            return Err(format!("the pattern has more than {MAX_STITCHES} stitches"));
        }
        self.stitches.push(Stitch { sides, is_right_wrong: false });
        Ok(())
    }

    fn side(&self, text: &str) -> Result<Side, String> {
        let known =
            || self.panels.iter().take(20).map(|panel| panel.name.as_str()).collect::<Vec<_>>().join(", ");
        let split = text.rsplit_once(':').and_then(|(name, edge)| Some((name, edge.parse::<usize>().ok()?)));
        let Some((name, edge)) = split else {
            return Err(format!("{text:?} must be PANEL:EDGE, such as \"front:0\"; panels: {}", known()));
        };
        let Some(panel) = self.panels.iter().position(|panel| panel.name == name) else {
            return Err(format!("the pattern has no panel {name:?}; panels: {}", known()));
        };
        let count = self.panels[panel].edges.len();
        if edge >= count {
            return Err(format!("panel {name:?} has no edge {edge}: it has {count}, counted from 0"));
        }
        Ok(Side { panel, edge })
    }

    /// Lowest and highest corner of the placed panels \[m\].
    pub fn bounds(&self) -> [DVec3; 2] {
        let mut bounds = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        for panel in &self.panels {
            for p in panel.edges.iter().flat_map(|edge| edge.curve.points(8)) {
                let x = panel.place(p) / self.units;
                bounds = [bounds[0].min(x), bounds[1].max(x)];
            }
        }
        bounds
    }

    /// Meshes the panels with edges of about `edge` \[m\] and sews them.
    ///
    /// # Errors
    /// All panels that cross themselves, and meshes that would be too large.
    pub fn sew(&self, edge: f64) -> Result<SewnPattern, Problems> {
        assemble::sew(self, edge)
    }

    /// A problem of the file.
    fn problem(&self, key: String, message: String) -> Problem {
        Problem { file: self.file.clone(), line: None, key: Some(key), message }
    }

    fn side_name(&self, side: Side) -> String {
        format!("{} edge {}", self.panels[side.panel].name, side.edge)
    }

    /// Length of an edge \[m\].
    fn length(&self, side: Side) -> f64 {
        self.panels[side.panel].edges[side.edge].curve.length() / self.units
    }
}

impl Panel {
    /// Where a point of the panel is in space, in the file's units.
    fn place(&self, p: DVec2) -> DVec3 {
        self.rotation * p.extend(0.0) + self.translation
    }
}
