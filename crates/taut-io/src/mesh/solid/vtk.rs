//! VTK's older format: unstructured grids, text or binary, cells as in version 5 or as before.

use glam::Vec3;

use super::{Found, cursor::Cursor};
use crate::mesh::{
    fault::{Fault, fault},
    text,
};

/// VTK's number of a tetrahedron with 4 nodes.
const FOUR: u64 = 10;
/// And with 10, the corners first.
const TEN: u64 = 24;

pub(super) fn parse(bytes: &[u8]) -> Result<Found, Fault> {
    let mut cursor = Cursor::new(bytes, None);
    if !cursor.rest_of_line().to_ascii_lowercase().starts_with(b"# vtk datafile") {
        return Err(fault("is not a VTK file: it must start with \"# vtk DataFile Version\"").at_line(1));
    }
    cursor.rest_of_line();
    let kind = cursor.need("ASCII or BINARY")?;
    let binary = match kind {
        b"ASCII" => false,
        b"BINARY" => true,
        _ => return Err(cursor.fault(format!("{}: expected ASCII or BINARY", text::shown(kind)))),
    };
    cursor.rest_of_line();
    let mut arrays = Arrays { cursor, binary };
    let (mut found, mut cells) = (Found::default(), None);
    while let Some(word) = arrays.cursor.word() {
        match word {
            b"DATASET" => {
                let set = arrays.cursor.need("UNSTRUCTURED_GRID")?;
                if set != b"UNSTRUCTURED_GRID" {
                    let message = format!("{}: must be UNSTRUCTURED_GRID", text::shown(set));
                    return Err(arrays.cursor.fault(message));
                }
            }
            b"POINTS" => {
                let count = arrays.cursor.count("the number of points")?;
                let numbers = arrays.numbers(3 * count, "points")?;
                found.positions = positions(&numbers)?;
            }
            b"CELLS" => cells = Some(arrays.cells()?),
            b"CELL_TYPES" => {
                let count = arrays.cursor.count("the number of cells")?;
                arrays.cursor.rest_of_line();
                let types = arrays.of(b"int", count, "cell types")?;
                let Some(cells) = cells.take() else {
                    return Err(arrays.cursor.fault("CELLS must come before CELL_TYPES"));
                };
                collect(&cells, &types, &mut found)?;
                return Ok(found);
            }
            b"METADATA" => {
                // It ends with an empty line.
                arrays.cursor.rest_of_line();
                while !arrays.cursor.rest_of_line().is_empty() {}
            }
            b"FIELD" => {
                arrays.cursor.need("the name of a field")?;
                for _ in 0..arrays.cursor.count("the number of arrays")? {
                    arrays.cursor.need("the name of an array")?;
                    let components = arrays.cursor.whole("its components")?;
                    let count = arrays.cursor.count("its length")?.saturating_mul(components);
                    arrays.numbers(count, "an array of a field")?;
                }
            }
            _ => return Err(arrays.cursor.fault(format!("{}: unknown keyword", text::shown(word)))),
        }
    }
    Err(fault("the file ends before CELL_TYPES"))
}

/// Coordinates as points.
pub(super) fn positions(numbers: &[f64]) -> Result<Vec<Vec3>, Fault> {
    let point = |(v, x): (usize, &[f64])| {
        let x = Vec3::new(x[0] as f32, x[1] as f32, x[2] as f32);
        let wrong =
            || fault("coordinates must be finite numbers below 3.4e38").at(format!("vertex {v} (from 0)"));
        if x.is_finite() { Ok(x) } else { Err(wrong()) }
    };
    numbers.chunks_exact(3).enumerate().map(point).collect()
}

/// Takes the tetrahedra out of all cells.
pub(super) fn collect(cells: &[Vec<u64>], types: &[f64], found: &mut Found) -> Result<(), Fault> {
    if cells.len() != types.len() {
        return Err(fault(format!(
            "{} cells with {} types: the numbers must be equal",
            cells.len(),
            types.len()
        )));
    }
    for (c, (cell, &kind)) in cells.iter().zip(types).enumerate() {
        let nodes = match kind as u64 {
            FOUR => 4,
            TEN => 10,
            _ => continue,
        };
        let (&[a, b, c, d, ..], true) = (&cell[..], cell.len() == nodes) else {
            let message = format!("has {} nodes: a tetrahedron of this type has {nodes}", cell.len());
            return Err(fault(message).at(format!("cell {c} (from 0)")));
        };
        found.tetrahedra.push([a, b, c, d]);
        found.quadratic += usize::from(nodes == 10);
    }
    Ok(())
}

/// Cells from where each ends in the list of all nodes.
pub(super) fn cut(ends: &[f64], nodes: &[f64]) -> Result<Vec<Vec<u64>>, Fault> {
    let mut start = 0;
    let mut cells = Vec::with_capacity(ends.len());
    for (c, &end) in ends.iter().enumerate() {
        let end = end as usize;
        let Some(cell) = nodes.get(start..end) else {
            let message = format!("ends at node {end} of {}, and begins at {start}", nodes.len());
            return Err(fault(message).at(format!("cell {c} (from 0)")));
        };
        // Negative numbers become ones that no vertex has.
        cells.push(cell.iter().map(|&v| if v < 0.0 { u64::MAX } else { v as u64 }).collect());
        start = end;
    }
    Ok(cells)
}

struct Arrays<'a> {
    cursor: Cursor<'a>,
    binary: bool,
}

impl Arrays<'_> {
    /// Numbers after the name of their type.
    fn numbers(&mut self, count: u64, what: &str) -> Result<Vec<f64>, Fault> {
        let kind = self.cursor.need("the type of numbers")?;
        self.cursor.rest_of_line();
        self.of(kind, count, what)
    }

    fn of(&mut self, kind: &[u8], count: u64, what: &str) -> Result<Vec<f64>, Fault> {
        if self.binary {
            let Some((size, read)) = number(kind) else {
                return Err(self.cursor.fault(format!("{}: not a known type of numbers", text::shown(kind))));
            };
            let bytes = self.cursor.take(count.saturating_mul(size as u64), what)?;
            let most_significant_last = |chunk: &[u8]| {
                let mut bytes = [0; 8];
                bytes.iter_mut().zip(chunk.iter().rev()).for_each(|(slot, &byte)| *slot = byte);
                read(bytes)
            };
            return Ok(bytes.chunks_exact(size).map(most_significant_last).collect());
        }
        let mut numbers = Vec::new();
        for _ in 0..count {
            let word = self.cursor.need(what)?;
            let number = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
            let wrong = || self.cursor.fault(format!("{}: must be a number", text::shown(word)));
            numbers.push(number.ok_or_else(wrong)?);
        }
        Ok(numbers)
    }

    fn cells(&mut self) -> Result<Vec<Vec<u64>>, Fault> {
        let first = self.cursor.count("the number of cells")?;
        let second = self.cursor.count("the size of the list of cells")?;
        self.cursor.rest_of_line();
        // From version 5 on, the first count is that of offsets; the word says which it is, in a binary file
        // too.
        if self.cursor.starts_with(b"OFFSETS") {
            self.cursor.need("OFFSETS")?;
            let offsets = self.numbers(first, "offsets")?;
            let word = self.cursor.need("CONNECTIVITY")?;
            if word != b"CONNECTIVITY" {
                return Err(self.cursor.fault(format!("{}: expected CONNECTIVITY", text::shown(word))));
            }
            let nodes = self.numbers(second, "nodes of cells")?;
            return cut(offsets.get(1..).unwrap_or_default(), &nodes);
        }
        let list = self.of(b"int", second, "nodes of cells")?;
        let (mut cells, mut rest) = (Vec::new(), &list[..]);
        while let [count, after @ ..] = rest {
            let Some((cell, after)) = after.split_at_checked(*count as usize) else {
                let message = format!("has {count} nodes, and {} numbers are left", after.len());
                return Err(fault(message).at(format!("cell {} (from 0)", cells.len())));
            };
            cells.push(cell.iter().map(|&v| if v < 0.0 { u64::MAX } else { v as u64 }).collect());
            rest = after;
        }
        if cells.len() as u64 != first {
            return Err(self
                .cursor
                .fault(format!("{} cells are listed: {first} were declared", cells.len())));
        }
        Ok(cells)
    }
}

/// Reads a number, the least significant byte first.
type ReadNumber = fn([u8; 8]) -> f64;

/// How many bytes a number of this type has, and how they are read.
pub(super) fn number(kind: &[u8]) -> Option<(usize, ReadNumber)> {
    fn four(b: [u8; 8]) -> [u8; 4] {
        [b[0], b[1], b[2], b[3]]
    }
    Some(match kind {
        b"float" | b"Float32" => (4, |b| f64::from(f32::from_le_bytes(four(b)))),
        b"double" | b"Float64" => (8, f64::from_le_bytes),
        b"unsigned_char" | b"UInt8" | b"bit" => (1, |b| f64::from(b[0])),
        b"char" | b"Int8" => (1, |b| f64::from(b[0] as i8)),
        b"unsigned_short" | b"UInt16" => (2, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
        b"short" | b"Int16" => (2, |b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
        b"unsigned_int" | b"UInt32" => (4, |b| f64::from(u32::from_le_bytes(four(b)))),
        b"int" | b"Int32" => (4, |b| f64::from(i32::from_le_bytes(four(b)))),
        b"unsigned_long" | b"vtktypeuint64" | b"UInt64" => (8, |b| u64::from_le_bytes(b) as f64),
        b"long" | b"vtktypeint64" | b"vtkIdType" | b"Int64" => (8, |b| i64::from_le_bytes(b) as f64),
        _ => return None,
    })
}
