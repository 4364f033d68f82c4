//! HAIR files (`.hair`), as <http://www.cemyuksel.com/research/hairmodels> specifies them.
//!
//! A header of 128 bytes, little-endian: `HAIR`; numbers of strands and points; flags, which arrays follow;
//! then what counts where an array is left out: segments of every strand, thickness, transparency, colour;
//! and 88 bytes of text. Arrays follow in this order: segments of each strand (u16), points (3 f32 each,
//! root to tip), and for each point thickness, transparency (f32) and colour (3 f32). Thickness is a
//! diameter; it has the unit of positions, which the file does not say. Transparency and colour are left to
//! renderers.

use glam::Vec3;
use taut::mesh::groom::{Groom, MAX_POINTS, MAX_SEGMENTS};

use super::super::fault::{Fault, fault};

const HEADER: usize = 128;
const SEGMENTS: u32 = 1;
const POINTS: u32 = 2;
const THICKNESS: u32 = 4;
/// What writers put into the header that know no thickness.
const NO_THICKNESS: f32 = 1.0;

/// Numbers in a file, in sequence.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The bytes of `count` numbers of `size` bytes, which `what` are.
    fn take(&mut self, count: u64, size: u64, what: &str) -> Result<&'a [u8], Fault> {
        let end = count.checked_mul(size).and_then(|length| length.checked_add(self.at as u64));
        let Some(end) = end.filter(|&end| end <= self.bytes.len() as u64) else {
            let message = format!(
                "is truncated: {what} of {count} × {size} bytes begin at byte {}, and the file has {} bytes",
                self.at,
                self.bytes.len()
            );
            return Err(fault(message));
        };
        let taken = &self.bytes[self.at..end as usize];
        self.at = end as usize;
        Ok(taken)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b))
}

/// Reads the bytes of a HAIR file.
pub(super) fn parse(bytes: &[u8]) -> Result<Groom, Fault> {
    if !bytes.starts_with(b"HAIR") {
        return Err(fault("is not a HAIR file: it must begin with \"HAIR\""));
    }
    let mut cursor = Cursor { bytes, at: 0 };
    let header = cursor.take(HEADER as u64, 1, "the header")?;
    let [strands, points, flags, segments] = [4, 8, 12, 16].map(|at| word(header, at));
    let thickness = f32::from_bits(word(header, 20));
    if flags & POINTS == 0 {
        return Err(
            fault(format!("flags are {flags:#x}: bit 1 must be set, a file must have points")).at("header")
        );
    }
    if strands as usize > MAX_POINTS || points as usize > MAX_POINTS {
        let message = format!("has {strands} strands and {points} points: at most {MAX_POINTS} are read");
        return Err(fault(message).at("header"));
    }
    let counts: Vec<u32> = if flags & SEGMENTS != 0 {
        let array = cursor.take(strands.into(), 2, "segments")?;
        array.as_chunks::<2>().0.iter().map(|b| u32::from(u16::from_le_bytes(*b)) + 1).collect()
    } else {
        if segments as usize > MAX_SEGMENTS {
            let message = format!("has {segments} segments in every strand: at most {MAX_SEGMENTS} are read");
            return Err(fault(message).at("header"));
        }
        vec![segments + 1; strands as usize]
    };
    let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if sum != u64::from(points) {
        let message = format!("its {strands} strands have {sum} points together, its header says {points}");
        return Err(fault(message).at("header"));
    }
    let array = cursor.take(points.into(), 12, "points")?;
    let numbers: Vec<f32> = floats(array).collect();
    let positions = numbers.as_chunks::<3>().0.iter().map(|&x| Vec3::from_array(x)).collect();
    let radii = if flags & THICKNESS != 0 {
        floats(cursor.take(points.into(), 4, "thicknesses")?).map(|thickness| 0.5 * thickness).collect()
    } else if thickness > 0.0 && thickness.is_finite() && thickness != NO_THICKNESS {
        vec![0.5 * thickness; points as usize]
    } else {
        Vec::new()
    };
    // Transparencies and colours need not be there: they are not read.
    Ok(Groom { positions, counts, radii })
}

/// The bytes of a HAIR file of `groom`, with thicknesses if it has radii. Reading it back gives the same
/// bits, but for radii below 10⁻³⁸ m.
///
/// # Errors
/// The strand that has more segments than the format can count, or more points than it can.
pub fn write_hair(groom: &Groom) -> Result<Vec<u8>, String> {
    let too_long = |(strand, count): (usize, &u32)| {
        let segments = count.saturating_sub(1);
        u16::try_from(segments).map_err(|_| {
            format!("strand {strand} (from 0) has {segments} segments: HAIR files count up to {MAX_SEGMENTS}")
        })
    };
    let segments: Vec<u16> = groom.counts.iter().enumerate().map(too_long).collect::<Result<_, _>>()?;
    let count = |count: usize, what: &str| {
        u32::try_from(count).map_err(|_| format!("{count} {what}: HAIR files count up to {}", u32::MAX))
    };
    let (strands, points) = (count(segments.len(), "strands")?, count(groom.positions.len(), "points")?);
    let has_radii = !groom.radii.is_empty() && groom.radii.len() == groom.positions.len();
    let flags = SEGMENTS | POINTS | if has_radii { THICKNESS } else { 0 };
    let mut bytes = b"HAIR".to_vec();
    for word in [strands, points, flags, 0] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    // Thickness (unknown), transparency, colour (a dark brown).
    for number in [0.0f32, 0.0, 0.2, 0.13, 0.08] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(b"taut: metres, y up");
    bytes.resize(HEADER, 0);
    segments.iter().for_each(|count| bytes.extend_from_slice(&count.to_le_bytes()));
    let numbers = groom.positions.iter().flat_map(|x| x.to_array());
    let thicknesses = groom.radii.iter().filter(|_| has_radii).map(|radius| 2.0 * radius);
    numbers.chain(thicknesses).for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    Ok(bytes)
}
