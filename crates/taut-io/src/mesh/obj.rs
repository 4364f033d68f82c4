//! Wavefront OBJ.
//!
//! Supported: `v` (with or without w or colours, which are dropped), `vt`, `f` in all its forms, `g` and `o`
//! as vertex groups, lines continued by a backslash. Everything else (normals, materials, smoothing, lines,
//! curves) is irrelevant to cloth and skipped, as are unknown keywords.

use std::collections::BTreeMap;

use glam::{Vec2, Vec3};
use taut::mesh::TriangleMesh;

use super::{
    fault::{Fault, fault},
    polygon::{Corner, NO_UV, Polygons},
    text,
};

/// Maximum names in one `g` line: the vertices of its faces are stored once per name.
const MAX_NAMES: usize = 64;

#[derive(Default)]
struct Reader {
    positions: Vec<Vec3>,
    uvs: Vec<Vec2>,
    polygons: Polygons,
    /// Line of each polygon.
    lines: Vec<usize>,
    /// Indices into `groups` of the object and groups that faces now belong to.
    object: Option<usize>,
    active: Vec<usize>,
    names: BTreeMap<String, usize>,
    groups: Vec<Vec<u32>>,
}

/// Reads the bytes of an OBJ file.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, Fault> {
    let mut reader = Reader::default();
    let mut joined: Vec<u8> = Vec::new();
    let mut joined_from = None;
    for (number, line) in text::lines(text::without_mark(bytes)) {
        let line = line.trim_ascii_end();
        // A comment may end in a backslash by chance, such as a path of a folder.
        if joined_from.is_none() && line.trim_ascii_start().starts_with(b"#") {
            continue;
        }
        if let Some(part) = line.strip_suffix(b"\\") {
            joined_from.get_or_insert(number);
            joined.extend_from_slice(part);
            joined.push(b' ');
            continue;
        }
        match joined_from.take() {
            None => reader.statement(line, number)?,
            Some(first) => {
                joined.extend_from_slice(line);
                reader.statement(&joined, first)?;
                joined.clear();
            }
        }
    }
    // A backslash at the very end joins nothing.
    if let Some(first) = joined_from {
        reader.statement(&joined, first)?;
    }
    reader.finish()
}

impl Reader {
    fn statement(&mut self, line: &[u8], number: usize) -> Result<(), Fault> {
        self.read(line, number).map_err(|fault| fault.at_line(number))
    }

    fn read(&mut self, line: &[u8], number: usize) -> Result<(), Fault> {
        let line = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = text::words(line);
        match words.next() {
            Some(b"v") => self.vertex(words),
            Some(b"vt") => self.texture(words),
            Some(b"f") => self.face(words, number),
            Some(b"g") => {
                self.active.clear();
                for word in words {
                    if self.active.len() == MAX_NAMES {
                        return Err(fault(format!("more than {MAX_NAMES} names in one group line")));
                    }
                    let group = self.group(text::name(word));
                    if !self.active.contains(&group) {
                        self.active.push(group);
                    }
                }
                Ok(())
            }
            Some(b"o") => {
                // Names of objects may contain spaces.
                let name = text::name(line.trim_ascii_start().get(1..).unwrap_or_default());
                self.object = (!name.is_empty()).then(|| self.group(name));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn vertex<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> Result<(), Fault> {
        let mut numbers = [0.0; 3];
        let mut count = 0;
        for word in words {
            let number = text::finite(word).map_err(|f| f.at("vertex"))?;
            if let Some(slot) = numbers.get_mut(count) {
                *slot = number;
            }
            count += 1;
        }
        // x y z; with w; with a colour; with both.
        if ![3, 4, 6, 7].contains(&count) {
            let allowed = "must have 3 coordinates, and may have w, or a colour of 3 numbers";
            return Err(fault(format!("{count} numbers: {allowed}")).at("vertex"));
        }
        self.positions.push(numbers.into());
        Ok(())
    }

    fn texture<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>) -> Result<(), Fault> {
        let mut numbers = [0.0; 3];
        let mut count = 0;
        for word in words {
            let number = text::finite(word).map_err(|f| f.at("texture coordinate"))?;
            if let Some(slot) = numbers.get_mut(count) {
                *slot = number;
            }
            count += 1;
        }
        if !(1..=3).contains(&count) {
            return Err(fault(format!("{count} numbers: must have 1 to 3")).at("texture coordinate"));
        }
        self.uvs.push(Vec2::new(numbers[0], numbers[1]));
        Ok(())
    }

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a [u8]>, number: usize) -> Result<(), Fault> {
        let start = self.polygons.corners.len();
        for word in words {
            let mut parts = word.split(|&b| b == b'/');
            let vertex = index(parts.next().unwrap_or_default(), self.positions.len(), "vertex", word)?;
            let uv = match parts.next() {
                None | Some(b"") => NO_UV,
                Some(part) => index(part, self.uvs.len(), "texture coordinate", word)?,
            };
            // The third part is a normal, which is not needed; a fourth does not exist.
            if parts.nth(1).is_some() {
                let allowed = "must be v, v/vt, v//vn or v/vt/vn";
                return Err(fault(format!("corner {}: {allowed}", text::shown(word))).at("face"));
            }
            self.polygons.corners.push(Corner { vertex, uv });
        }
        self.polygons.close().map_err(|f| f.at("face"))?;
        self.lines.push(number);
        for &group in self.active.iter().chain(&self.object) {
            self.groups[group].extend(self.polygons.corners[start..].iter().map(|corner| corner.vertex));
        }
        Ok(())
    }

    /// The group of this name, which may be new.
    fn group(&mut self, name: String) -> usize {
        let next = self.groups.len();
        let group = *self.names.entry(name).or_insert(next);
        if group == next {
            self.groups.push(Vec::new());
        }
        group
    }

    /// Checks indices, which may point ahead in the file, and cuts polygons.
    fn finish(self) -> Result<TriangleMesh, Fault> {
        let (vertices, uvs) = (self.positions.len(), self.uvs.len());
        for (polygon, &line) in self.polygons.iter().zip(&self.lines) {
            for corner in polygon {
                let outside = |what: &str, index: u32, count: usize| {
                    let message =
                        format!("{what} {}: the file has {count}, counted from 1", u64::from(index) + 1);
                    Err(fault(message).at("face").at_line(line))
                };
                if corner.vertex as usize >= vertices {
                    return outside("vertex", corner.vertex, vertices);
                }
                if corner.uv != NO_UV && corner.uv as usize >= uvs {
                    return outside("texture coordinate", corner.uv, uvs);
                }
            }
        }
        let (triangles, triangle_uvs) = self.polygons.triangulate(&self.positions, &self.uvs);
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut members = self.groups;
        for (name, group) in self.names {
            if !members[group].is_empty() {
                groups.insert(name, std::mem::take(&mut members[group]));
            }
        }
        Ok(TriangleMesh { positions: self.positions, triangles, uvs: triangle_uvs, groups })
    }
}

/// An index from 0: `part` counts from 1, or backwards from the last of the `count` elements so far.
fn index(part: &[u8], count: usize, what: &str, corner: &[u8]) -> Result<u32, Fault> {
    let shown = || text::shown(corner);
    let plural = if what == "vertex" { "vertices" } else { "texture coordinates" };
    let number: Option<i64> = std::str::from_utf8(part).ok().and_then(|text| text.parse().ok());
    let Some(number) = number else {
        return Err(fault(format!("corner {}: the {what} must be an integer", shown())).at("face"));
    };
    let index = match number {
        0 => return Err(fault(format!("corner {}: {plural} count from 1", shown())).at("face")),
        1.. => number - 1,
        _ => number.checked_add(count as i64).unwrap_or(-1),
    };
    // The largest u32 is kept free: it stands for no texture coordinate.
    if (0..i64::from(u32::MAX)).contains(&index) {
        return Ok(index as u32);
    }
    Err(fault(format!("corner {}: there are {count} {plural} before it", shown())).at("face"))
}
