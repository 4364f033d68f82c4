//! VTK's XML format: unstructured grids whose arrays are text, base64 or raw bytes, compressed by zlib or
//! not.
//!
//! Only tags and attributes of the XML are parsed, which suffices for the format.

use std::{collections::HashMap, io::Read};

use super::{
    Found,
    vtk::{collect, cut, number, positions},
};
use crate::mesh::{
    fault::{Fault, fault},
    text,
};

/// Maximum compression ratio of an array: zlib reaches about 1000.
const MOST_COMPRESSED: usize = 1100;

/// How arrays are written in this file.
struct Layout<'a> {
    big_endian: bool,
    /// Bytes of each number of a header.
    header: usize,
    compressed: bool,
    /// What follows the mark of appended data, and whether it is base64.
    appended: Option<(&'a [u8], bool)>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Found, Fault> {
    let mut layout = Layout { big_endian: false, header: 4, compressed: false, appended: None };
    let (mut arrays, mut place): (HashMap<(String, String), Array>, _) = (HashMap::new(), String::new());
    let (mut at, mut is_grid) = (0, false);
    while let Some(start) = bytes[at..].iter().position(|&b| b == b'<').map(|p| at + p) {
        let Some(end) = bytes[start..].iter().position(|&b| b == b'>').map(|p| start + p) else { break };
        at = end + 1;
        let tag = String::from_utf8_lossy(&bytes[start + 1..end]).into_owned();
        let (name, attributes) = attributes(&tag);
        let of = |key: &str| attributes.get(key).map(String::as_str);
        match name {
            "VTKFile" => {
                layout.big_endian = of("byte_order") == Some("BigEndian");
                layout.header = if of("header_type") == Some("UInt64") { 8 } else { 4 };
                match of("compressor") {
                    None => {}
                    Some("vtkZLibDataCompressor") => layout.compressed = true,
                    Some(other) => {
                        return Err(fault(format!(
                            "compressed by {other:?}: must be by zlib, or not at all"
                        )));
                    }
                }
            }
            "UnstructuredGrid" => is_grid = true,
            "Points" | "Cells" | "PointData" | "CellData" | "FieldData" => place = name.into(),
            "DataArray" => {
                let content = match bytes[at..].iter().position(|&b| b == b'<') {
                    Some(end) if !tag.ends_with('/') => &bytes[at..at + end],
                    _ => &[],
                };
                let array = Array {
                    kind: of("type").unwrap_or_default().into(),
                    format: of("format").unwrap_or("ascii").into(),
                    offset: of("offset").and_then(|text| text.parse().ok()).unwrap_or(0),
                    content,
                };
                // Of several pieces the first is read.
                let name = if place == "Points" { "points" } else { of("Name").unwrap_or_default() };
                arrays.entry((place.clone(), name.into())).or_insert(array);
            }
            "AppendedData" => {
                // Raw bytes may look like tags: nothing behind the mark is one.
                let mark = bytes[at..].iter().position(|&b| b == b'_');
                let data = mark.map_or(&[][..], |mark| &bytes[at + mark + 1..]);
                layout.appended = Some((data, of("encoding") == Some("base64")));
                break;
            }
            _ => {}
        }
    }
    if !is_grid {
        return Err(fault("contains no UnstructuredGrid, which is required"));
    }
    let read = |place: &str, name: &str| {
        let element = format!("array {name:?} of {place}");
        let array = arrays.get(&(place.to_string(), name.to_string()));
        let array = array.ok_or_else(|| fault("is missing").at(element.clone()))?;
        layout.numbers(array).map_err(|message| fault(message).at(element))
    };
    let mut found = Found { positions: positions(&read("Points", "points")?)?, ..Found::default() };
    let cells = cut(&read("Cells", "offsets")?, &read("Cells", "connectivity")?)?;
    collect(&cells, &read("Cells", "types")?, &mut found)?;
    Ok(found)
}

struct Array<'a> {
    kind: String,
    format: String,
    offset: usize,
    content: &'a [u8],
}

/// The name of a tag, and its attributes.
fn attributes(tag: &str) -> (&str, HashMap<String, String>) {
    let (name, mut rest) = tag.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((tag, ""));
    let mut found = HashMap::new();
    while let Some((key, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else { break };
        let Some((value, after)) = after[1..].split_once(quote) else { break };
        found.insert(key.trim().to_string(), value.to_string());
        rest = after;
    }
    (name.trim_end_matches('/'), found)
}

impl Layout<'_> {
    fn numbers(&self, array: &Array) -> Result<Vec<f64>, String> {
        if array.format == "ascii" {
            let parse = |word: &[u8]| {
                let number = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
                number.ok_or_else(|| format!("{}: must be a number", text::shown(word)))
            };
            return text::words(array.content).map(parse).collect();
        }
        let kind = array.kind.as_bytes();
        let (size, read) = number(kind).ok_or_else(|| format!("{}: not a known type", text::shown(kind)))?;
        let bytes = match (array.format.as_str(), self.appended) {
            ("binary", _) => self.data(array.content.trim_ascii(), true)?,
            ("appended", Some((data, base64))) => {
                let data = data.get(array.offset..).ok_or("its offset is behind the end of the file")?;
                self.data(data, base64)?
            }
            ("appended", None) => return Err("is appended, but the file has no AppendedData".into()),
            (other, _) => return Err(format!("format {other:?}: must be ascii, binary or appended")),
        };
        Ok(bytes.chunks_exact(size).map(|chunk| read(self.ordered(chunk))).collect())
    }

    /// The bytes of a number, the least significant first.
    fn ordered(&self, chunk: &[u8]) -> [u8; 8] {
        let mut bytes = [0; 8];
        for (k, slot) in bytes.iter_mut().enumerate().take(chunk.len()) {
            *slot = if self.big_endian { chunk[chunk.len() - 1 - k] } else { chunk[k] };
        }
        bytes
    }

    /// The bytes of an array, without its header.
    fn data(&self, source: &[u8], base64: bool) -> Result<Vec<u8>, String> {
        let ends = || "the file ends within it".to_string();
        // The first `count` bytes, from the beginning of what was encoded at once.
        let first = |source: &[u8], count: usize| -> Result<Vec<u8>, String> {
            if base64 {
                let characters = count.div_ceil(3).checked_mul(4).ok_or_else(ends)?;
                let mut bytes = decode(source.get(..characters.min(source.len())).unwrap_or_default())?;
                if bytes.len() < count {
                    return Err(ends());
                }
                bytes.truncate(count);
                Ok(bytes)
            } else {
                Ok(source.get(..count).ok_or_else(ends)?.to_vec())
            }
        };
        let whole = |bytes: &[u8], k: usize| {
            let number = u64::from_le_bytes(self.ordered(&bytes[k * self.header..(k + 1) * self.header]));
            usize::try_from(number).map_err(|_| ends())
        };
        if !self.compressed {
            let count = whole(&first(source, self.header)?, 0)?;
            let all = first(source, count.checked_add(self.header).ok_or_else(ends)?)?;
            return Ok(all[self.header..].to_vec());
        }
        let blocks = whole(&first(source, self.header)?, 0)?;
        let length = blocks.checked_add(3).and_then(|n| n.checked_mul(self.header)).ok_or_else(ends)?;
        let header = first(source, length)?;
        // The header is encoded apart from what follows.
        let skipped = if base64 { 4 * length.div_ceil(3) } else { length };
        let mut sizes = Vec::new();
        let mut total = 0usize;
        for block in 0..blocks {
            sizes.push(whole(&header, 3 + block)?);
            total = total.checked_add(sizes[block]).ok_or_else(ends)?;
        }
        let packed = first(source.get(skipped..).ok_or_else(ends)?, total)?;
        let (mut data, mut rest) = (Vec::new(), &packed[..]);
        for size in sizes {
            let (block, after) = rest.split_at(size);
            let most = (size.saturating_mul(MOST_COMPRESSED) as u64).saturating_add(64);
            flate2::read::ZlibDecoder::new(block)
                .take(most)
                .read_to_end(&mut data)
                .map_err(|error| format!("cannot be unpacked: {error}"))?;
            rest = after;
        }
        Ok(data)
    }
}

/// Decodes base64, of which parts may be padded.
fn decode(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.chunks(4) {
        let (mut bits, mut count) = (0u32, 0);
        for &character in group {
            let value = match character {
                b'A'..=b'Z' => character - b'A',
                b'a'..=b'z' => character - b'a' + 26,
                b'0'..=b'9' => character - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' => break,
                _ => return Err(format!("{:?} is not a base64 character", char::from(character))),
            };
            bits |= u32::from(value) << (18 - 6 * count);
            count += 1;
        }
        let [_, a, b, c] = bits.to_be_bytes();
        bytes.extend(&[a, b, c][..usize::max(count, 1) - 1]);
    }
    Ok(bytes)
}
