//! Positions as NumPy files: `numpy.load("frames/sheet.0042.npy")` gives a float32 array of shape (n, 3).
//! Triangles of bodies with changing connectivity are int32 arrays of shape (m, 3).
//!
//! Written as format version 1.0: a magic, a header that is a Python dictionary padded so that the numbers
//! start at a multiple of 64 bytes, then the numbers, little-endian, row by row. Reading accepts exactly that
//! kind of array, from any writer, and trusts nothing: the shape in the header must match the length of the
//! file before any memory is allocated for it.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use glam::Vec3;

use crate::Problem;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
const ALIGNMENT: usize = 64;
/// Bytes before the dictionary in format 1.0: magic, version, length.
const PREAMBLE: usize = MAGIC.len() + 2 + 2;
const BYTES_PER_ROW: u64 = 12;
const FLOAT: &str = "<f4";
const INTEGER: &str = "<i4";

/// The bytes of a file with `positions` \[m\].
pub fn encode(positions: &[Vec3]) -> Vec<u8> {
    encode_rows(FLOAT, positions.iter().map(|x| x.to_array().map(f32::to_le_bytes)))
}

/// The bytes of a file with the vertex indices of `triangles`.
pub fn encode_triangles(triangles: &[[u32; 3]]) -> Vec<u8> {
    encode_rows(INTEGER, triangles.iter().map(|triangle| triangle.map(u32::to_le_bytes)))
}

/// The header of a file with `rows` rows of three numbers of type `descr`.
pub fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    // Python writes a tuple of one with a comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = sizes.join(", ");
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
    // The header ends with a newline, and numbers start aligned.
    let end = (PREAMBLE + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
    let mut bytes = Vec::with_capacity(end);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&((end - PREAMBLE) as u16).to_le_bytes());
    bytes.extend_from_slice(dictionary.as_bytes());
    bytes.resize(end - 1, b' ');
    bytes.push(b'\n');
    bytes
}

fn encode_rows(descr: &str, rows: impl ExactSizeIterator<Item = [[u8; 4]; 3]>) -> Vec<u8> {
    let mut bytes = header(descr, &[rows.len(), 3]);
    bytes.reserve_exact(rows.len() * BYTES_PER_ROW as usize);
    for row in rows {
        bytes.extend_from_slice(row.as_flattened());
    }
    bytes
}

/// Reads positions \[m\] from a file that must contain exactly `vertices` of them.
///
/// # Errors
/// A problem with the file: unreadable, wrong type, wrong shape, truncated.
pub fn read(path: &Path, vertices: usize) -> Result<Vec<Vec3>, Problem> {
    read_rows(path, FLOAT, Some(vertices), |row| Vec3::from_array(row.map(f32::from_le_bytes)))
}

/// Reads positions \[m\] from a file with any number of them.
///
/// # Errors
/// As [`read`].
pub fn read_any(path: &Path) -> Result<Vec<Vec3>, Problem> {
    read_rows(path, FLOAT, None, |row| Vec3::from_array(row.map(f32::from_le_bytes)))
}

/// Reads non-negative vertex indices of triangles; the caller checks that the vertices exist.
///
/// # Errors
/// As [`read`].
pub fn read_triangles(path: &Path) -> Result<Vec<[u32; 3]>, Problem> {
    let triangles = read_rows(path, INTEGER, None, |row| row.map(i32::from_le_bytes))?;
    if let Some((index, triangle)) = triangles.iter().enumerate().find(|(_, t)| t.iter().any(|v| *v < 0)) {
        let message =
            format!("triangle {index} has vertices {triangle:?}; vertex indices must not be negative");
        return Err(Problem { file: Some(path.into()), message, ..Problem::default() });
    }
    Ok(triangles.into_iter().map(|triangle| triangle.map(i32::cast_unsigned)).collect())
}

fn read_rows<T>(
    path: &Path,
    descr: &str,
    rows: Option<usize>,
    make: impl Fn([[u8; 4]; 3]) -> T,
) -> Result<Vec<T>, Problem> {
    let problem = |message: String| Problem { file: Some(path.into()), message, ..Problem::default() };
    let open = || -> io::Result<(File, u64)> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    };
    let (file, length) = open().map_err(|error| problem(format!("could not be read: {error}")))?;
    let bytes = decode(file, length, descr, rows).map_err(problem)?;
    let (numbers, _) = bytes.as_chunks::<4>();
    let (rows, _) = numbers.as_chunks::<3>();
    Ok(rows.iter().map(|row| make(*row)).collect())
}

/// Reads `length` bytes of `source` as an array of three columns of type `descr`, with `rows` rows if given.
/// Returns the bytes of the numbers, or the problem.
fn decode(mut source: impl Read, length: u64, descr: &str, rows: Option<usize>) -> Result<Vec<u8>, String> {
    let mut take = |bytes: &mut [u8]| match source.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err("is truncated".to_string()),
        result => result.map_err(|error| format!("could not be read: {error}")),
    };
    let mut start = [0; PREAMBLE];
    take(&mut start)?;
    if start[..6] != MAGIC[..] {
        return Err("is not a NumPy file (it does not start with \\x93NUMPY)".into());
    }
    if start[6] != 1 {
        return Err(format!("has NumPy format version {}.{}, expected 1.0", start[6], start[7]));
    }
    let mut header = vec![0; usize::from(u16::from_le_bytes([start[8], start[9]]))];
    take(&mut header)?;
    let header = str::from_utf8(&header).map_err(|_| "has a header that is not text".to_string())?;
    let found = rows_of(header, descr)?;
    if let Some(rows) = rows.filter(|&rows| rows as u64 != found) {
        return Err(format!("has shape ({found}, 3), expected ({rows}, 3)"));
    }
    let expected = found.saturating_mul(BYTES_PER_ROW).saturating_add((PREAMBLE + header.len()) as u64);
    if length != expected {
        let what = if length < expected { "is truncated" } else { "has trailing bytes" };
        return Err(format!("{what}: {length} bytes, expected {expected}"));
    }
    let mut bytes = vec![0; (found * BYTES_PER_ROW) as usize];
    take(&mut bytes)?;
    Ok(bytes)
}

/// The number of rows in the dictionary of a header, if it is an array of three columns of type `descr`.
fn rows_of(header: &str, descr: &str) -> Result<u64, String> {
    let value_of = |key: &str| {
        let (_, rest) = header.split_once(&format!("'{key}':"))?;
        Some(rest.trim_start())
    };
    let found = value_of("descr").ok_or("has a header without 'descr'")?;
    if !found.starts_with(&format!("'{descr}'")) {
        let found = found.split('\'').nth(1).unwrap_or("?");
        let name = if descr == FLOAT { "float32" } else { "int32" };
        return Err(format!("has the data type {found:?}, expected '{descr}' ({name})"));
    }
    let order = value_of("fortran_order").ok_or("has a header without 'fortran_order'")?;
    if !order.starts_with("False") {
        return Err("is in column-major order, expected row-major".into());
    }
    let shape = value_of("shape").ok_or("has a header without 'shape'")?;
    let inside = shape.strip_prefix('(').and_then(|s| s.split_once(')')).map(|(inside, _)| inside);
    let inside = inside.ok_or("has a header with an unreadable shape")?;
    let sizes: Option<Vec<u64>> =
        inside.split(',').map(str::trim).filter(|s| !s.is_empty()).map(|s| s.parse().ok()).collect();
    match sizes.as_deref() {
        Some(&[rows, 3]) => Ok(rows),
        _ => Err(format!("has shape ({inside}), expected three columns")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_bytes(bytes: &[u8], vertices: usize) -> Result<Vec<Vec3>, String> {
        let numbers = decode(bytes, bytes.len() as u64, FLOAT, Some(vertices))?;
        let number = |at: &[u8]| f32::from_le_bytes([at[0], at[1], at[2], at[3]]);
        let vector = |row: &[u8]| Vec3::new(number(row), number(&row[4..]), number(&row[8..]));
        Ok(numbers.chunks_exact(12).map(vector).collect())
    }

    fn with_dictionary(dictionary: &str, data: usize) -> Vec<u8> {
        let mut bytes = [MAGIC.as_slice(), &[1, 0], &(dictionary.len() as u16).to_le_bytes()].concat();
        bytes.extend_from_slice(dictionary.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        bytes
    }

    #[test]
    fn reads_what_it_writes_and_is_aligned() {
        for n in [0, 1, 9, 10, 99_999, 100_000] {
            let positions: Vec<Vec3> = (0..n).map(|i| Vec3::new(i as f32, -0.5, f32::MIN_POSITIVE)).collect();
            let bytes = encode(&positions);
            assert_eq!((bytes.len() - n * 12) % ALIGNMENT, 0);
            assert_eq!(decode_bytes(&bytes, n).unwrap(), positions);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let good = encode(&[Vec3::X; 4]);
        let cases: [(Vec<u8>, &str); 10] = [
            (vec![], "truncated"),
            (good[..40].to_vec(), "truncated"),
            (good[..good.len() - 1].to_vec(), "truncated"),
            ([good.as_slice(), &[0]].concat(), "trailing bytes"),
            (b"GIF89a not an array at all".to_vec(), "not a NumPy file"),
            (with_dictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 3), }", 96), "<f8"),
            (
                with_dictionary("{'descr': '<f4', 'fortran_order': True, 'shape': (4, 3), }", 48),
                "column-major",
            ),
            (with_dictionary("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }", 32), "(4, 2)"),
            (with_dictionary("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }", 60), "(5, 3)"),
            (with_dictionary("{'fortran_order': False}", 48), "without 'descr'"),
        ];
        for (bytes, expected) in cases {
            let error = decode_bytes(&bytes, 4).unwrap_err();
            assert!(error.contains(expected), "{error:?} should contain {expected:?}");
        }
    }

    #[test]
    fn a_header_that_promises_the_moon_takes_no_memory() {
        let moon = "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 3), }";
        assert!(decode_bytes(&with_dictionary(moon, 0), 4).is_err());
        assert!(decode_bytes(&with_dictionary(moon, 0), usize::MAX).unwrap_err().contains("truncated"));
    }

    #[test]
    fn no_mangled_byte_panics() {
        let good = encode(&[Vec3::X; 2]);
        for at in 0..good.len() {
            for value in [0, 0x27, 0x29, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let _ = decode_bytes(&bytes, 2);
            }
        }
    }
}
