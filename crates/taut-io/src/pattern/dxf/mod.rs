//! Pattern pieces in DXF, as AAMA and ASTM D6673 lay them down and CAD programs for clothing write them.
//!
//! Each piece is a block. On layer 1 is its outline, on layer 2 its corners, on layer 6 the line about which
//! half a piece is mirrored, on layer 7 its grain. Everything else is ignored: notches, internal lines, drill
//! holes, and sew lines, which is said. A drawing without such blocks may have its outlines on layer 1 of its
//! own.
//!
//! Pieces lie flat as they are drawn, seen from above, or side by side if they are drawn on top of each
//! other. DXF has no stitches: a scene names edges of pieces, from corner to corner, that are sewn.
//! [`entity`] reads the file, [`piece`] makes panels.

mod entity;
mod piece;
#[cfg(test)]
mod tests;

use std::path::Path;

use glam::{DVec2, DVec3};

use super::{MAX_PANELS, Pattern};
use crate::{Problem, Problems};
use entity::Drawing;

/// Units in a metre by the header's `$INSUNITS`.
const UNITS: [(i64, f64, &str); 6] = [
    (1, 1000.0 / 25.4, "inches"),
    (2, 1000.0 / 304.8, "feet"),
    (4, 1000.0, "millimetres"),
    (5, 100.0, "centimetres"),
    (6, 1.0, "metres"),
    (14, 10.0, "decimetres"),
];
/// Size of a usual largest piece \[m\], by which units are guessed.
const USUAL_SIZE: f64 = 0.7;
/// Distance of pieces that are laid side by side \[m\].
const GAP: f64 = 0.05;

/// Whether a file is a DXF file, by its name.
pub(super) fn is_dxf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dxf"))
}

/// Reads the pieces of a DXF file.
pub(super) fn parse(bytes: &[u8], path: Option<&Path>) -> Result<Pattern, Problems> {
    let file = path.map(Path::to_owned);
    let named = |problem: Problem| Problem { file: file.clone(), ..problem };
    let drawing = entity::read(bytes).map_err(named)?;
    let mut problems = Vec::new();
    let mut notes = Vec::new();
    let mut panels = Vec::new();
    for block in &drawing.blocks {
        match piece::panel(block) {
            Ok(Some(panel)) => panels.push(panel),
            Ok(None) => {}
            Err(problem) => problems.push(named(problem)),
        }
    }
    if panels.is_empty() && problems.is_empty() {
        problems.push(named(nothing(&drawing)));
    }
    if panels.len() > MAX_PANELS {
        let message = format!("has {} pieces, must have at most {MAX_PANELS}", panels.len());
        problems.push(named(Problem { message, ..Problem::default() }));
    }
    problems.extend(sizes(&drawing).map(named));
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    if drawing.blocks.iter().any(|block| block.layers().any(|layer| layer == "14")) {
        notes.push(
            "sew lines (layer 14) are ignored: panels are cut at layer 1, with their seam allowance".into(),
        );
    }
    let largest = panels.iter().map(extent).map(|[low, high]| (high - low).max_element());
    let units = units(&drawing, largest.fold(0.0, f64::max), &mut notes);
    let mut pattern = Pattern { file, panels, stitches: Vec::new(), units, notes };
    spread(&mut pattern);
    Ok(pattern)
}

/// Why a drawing has no piece.
fn nothing(drawing: &Drawing) -> Problem {
    let mut layers: Vec<&str> = drawing.blocks.iter().flat_map(|block| block.layers()).collect();
    layers.sort_unstable();
    layers.dedup();
    layers.truncate(12);
    let found = if layers.is_empty() {
        "nothing is drawn".into()
    } else {
        format!("found layers {}", layers.join(", "))
    };
    let message = format!("has no outline on layer 1, where AAMA and ASTM put it: {found}");
    Problem { message, ..Problem::default() }
}

/// A file of several sizes has each piece several times.
fn sizes(drawing: &Drawing) -> Option<Problem> {
    let mut sizes: Vec<&str> = drawing.blocks.iter().filter_map(|block| block.note("size")).collect();
    sizes.sort_unstable();
    sizes.dedup();
    (sizes.len() > 1).then(|| {
        let message = format!("contains pieces of the sizes {}: save one size", sizes.join(", "));
        Problem { message, ..Problem::default() }
    })
}

/// Units in a metre: as the file says, or guessed by the size of the largest piece, which is said.
fn units(drawing: &Drawing, largest: f64, notes: &mut Vec<String>) -> f64 {
    let code = |name: &str| drawing.header.get(name).copied();
    if let Some((_, units, _)) = UNITS.iter().find(|unit| code("$INSUNITS") == Some(unit.0)) {
        return *units;
    }
    let inches = UNITS[0].1;
    match drawing.note("units").map(str::to_ascii_uppercase).as_deref() {
        Some("METRIC" | "MM") => return 1000.0,
        Some("ENGLISH" | "IMPERIAL" | "INCH" | "INCHES") => return inches,
        _ => {}
    }
    match code("$MEASUREMENT") {
        Some(0) => return inches,
        Some(1) => return 1000.0,
        _ => {}
    }
    let off = |units: f64| (largest / units / USUAL_SIZE).ln().abs();
    let candidates = UNITS.iter().filter(|unit| [1, 4, 5, 6].contains(&unit.0));
    let guess = candidates.min_by(|a, b| off(a.1).total_cmp(&off(b.1))).unwrap_or(&UNITS[2]);
    notes.push(format!(
        "the file does not say its units: {} are assumed, with which the largest piece measures {:.2} m; set units_in_meter if that is wrong",
        guess.2,
        largest / guess.1
    ));
    guess.1
}

/// Lowest and highest corner of a panel as it is drawn.
fn extent(panel: &super::Panel) -> [DVec2; 2] {
    let points = || panel.edges.iter().flat_map(|edge| edge.curve.points(16));
    let drawn = |p: DVec2| {
        let x = panel.place(p);
        DVec2::new(x.x, -x.z)
    };
    points().map(drawn).fold([DVec2::MAX, DVec2::MIN], |[low, high], p| [low.min(p), high.max(p)])
}

/// Puts panels side by side if any are drawn on top of each other.
fn spread(pattern: &mut Pattern) {
    let boxes: Vec<[DVec2; 2]> = pattern.panels.iter().map(extent).collect();
    let overlap = |a: &[DVec2; 2], b: &[DVec2; 2]| {
        a[0].x < b[1].x && b[0].x < a[1].x && a[0].y < b[1].y && b[0].y < a[1].y
    };
    let is_stacked = (0..boxes.len()).any(|k| boxes[..k].iter().any(|other| overlap(&boxes[k], other)));
    if !is_stacked {
        return;
    }
    let mut at = 0.0;
    for (panel, [low, high]) in pattern.panels.iter_mut().zip(&boxes) {
        panel.translation += DVec3::new(at - low.x, 0.0, low.y);
        at += high.x - low.x + GAP * pattern.units;
    }
    pattern.notes.push("pieces are drawn on top of each other, and are laid out side by side".into());
}
