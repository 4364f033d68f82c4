//! Per-vertex maps: one number per vertex, as text (one per line) or as a NumPy file.

use std::{io::Read, path::Path};

/// Largest map that is read \[bytes\]: more than 16 million vertices in double precision.
const MAX_BYTES: u64 = 512 << 20;

/// Reads the numbers of a map.
///
/// # Errors
/// The problem, with file and line or element.
pub(crate) fn read(path: &Path) -> Result<Vec<f64>, String> {
    let name = path.display();
    let failed = |error: std::io::Error| format!("cannot read the map {name}: {error}");
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(format!("cannot read the map {name}: it is a folder"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("the map {name} is larger than {} MB", MAX_BYTES >> 20));
    }
    let numbers = if bytes.starts_with(b"\x93NUMPY") { parse_npy(&bytes) } else { parse_text(&bytes) };
    numbers.map_err(|message| format!("the map {name}: {message}"))
}

fn parse_text(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is neither UTF-8 text nor a NumPy file")?;
    let mut numbers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.parse::<f64>() {
            Ok(number) if number.is_finite() => numbers.push(number),
            _ => {
                let shown: String = line.chars().take(40).collect();
                return Err(format!(
                    "line {}: {shown:?} is not a finite number; write one number per line",
                    index + 1
                ));
            }
        }
    }
    Ok(numbers)
}

/// Reads a one-dimensional little-endian f4 or f8 array (NumPy format 1 to 3).
fn parse_npy(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let cut = "the NumPy header is truncated";
    let version = *bytes.get(6).ok_or(cut)?;
    let (length, start): (usize, usize) = if version == 1 {
        let length = bytes.get(8..10).and_then(|b| b.try_into().ok()).map(u16::from_le_bytes).ok_or(cut)?;
        (usize::from(length), 10)
    } else {
        let length = bytes.get(8..12).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes).ok_or(cut)?;
        (length as usize, 12)
    };
    let header = bytes.get(start..start.saturating_add(length)).ok_or(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "the NumPy header is not text")?;
    let data = &bytes[start + length..];
    let kind = field(header, "descr").unwrap_or_default().trim_matches(['\'', '"']);
    let shape = field(header, "shape").unwrap_or_default();
    let count = one_dimension(shape)
        .ok_or_else(|| format!("has the shape {shape}, must be one-dimensional: one number per vertex"))?;
    let width = match kind {
        "<f4" => 4,
        "<f8" => 8,
        _ => return Err(format!("has the data type {kind:?}, must be <f4 or <f8")),
    };
    if count.checked_mul(width) != Some(data.len()) {
        return Err(format!("declares {count} numbers, but has {}", data.len() / width));
    }
    let numbers: Vec<f64> = match width {
        4 => data.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
        _ => data.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
    };
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(index) => Err(format!("number {index} is not finite")),
        None => Ok(numbers),
    }
}

/// The text of a field of the header, which is a Python dictionary: up to the comma that ends it.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after = header.split_once(key)?.1.split_once(':')?.1.trim_start();
    let end = if after.starts_with('(') { after.find(')')? + 1 } else { after.find([',', '}'])? };
    Some(after[..end].trim())
}

/// The length in a shape such as `(12,)` or `(12, 1)`.
fn one_dimension(shape: &str) -> Option<usize> {
    let inner = shape.strip_prefix('(')?.strip_suffix(')')?;
    let mut lengths = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
    let first = lengths.next()?.parse().ok()?;
    lengths.all(|length| length == "1").then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn reads_text_and_numpy() {
        assert_eq!(parse_text(b"0\n1.5\n# note\n\n -2e-3 \n").unwrap(), [0.0, 1.5, -2e-3]);
        let data: Vec<u8> = [0.25_f32, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(parse_npy(&npy("<f4", "(2,)", &data)).unwrap(), [0.25, 1.0]);
        let data: Vec<u8> = [0.25_f64, 1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(parse_npy(&npy("<f8", "(2, 1)", &data)).unwrap(), [0.25, 1.0]);
    }

    #[test]
    fn bad_maps_say_what_is_wrong() {
        assert!(parse_text(b"1\nx\n").unwrap_err().contains("line 2"));
        assert!(parse_text(b"nan").is_err());
        assert!(parse_npy(&npy("<i4", "(1,)", &[0; 4])).unwrap_err().contains("<f4"));
        assert!(parse_npy(&npy("<f4", "(3,)", &[0; 4])).unwrap_err().contains("3 numbers"));
        assert!(parse_npy(&npy("<f4", "(1, 3)", &[0; 12])).unwrap_err().contains("one-dimensional"));
        let whole = npy("<f8", "(1,)", &1.0_f64.to_le_bytes());
        for length in 6..whole.len() {
            assert!(parse_npy(&whole[..length]).is_err());
        }
    }
}
