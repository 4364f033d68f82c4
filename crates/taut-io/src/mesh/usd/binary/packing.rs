//! Packing in crate files: LZ4 blocks, and integers as differences of one to eight bytes.
//!
//! A block can be unpacked to 255 times its size, and integers take a quarter of a byte at least, so a short
//! file may claim large tables. Claims are compared with what the packed bytes can give before anything is
//! allocated.

use super::super::super::fault::{Fault, fault};

/// Most that a byte of LZ4 unpacks to.
const MOST_PER_BYTE: u64 = 255;

/// Unpacks LZ4, in one or several blocks, to at most `most` bytes.
pub(super) fn unpack(packed: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    let broken = || fault("a packed table is broken");
    let Some((&blocks, mut rest)) = packed.split_first() else { return Err(broken()) };
    let mut bytes = Vec::new();
    if blocks == 0 {
        unpack_block(rest, most, &mut bytes).ok_or_else(broken)?;
        return Ok(bytes);
    }
    for _ in 0..blocks {
        let (length, after) = rest.split_at_checked(4).ok_or_else(broken)?;
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let (block, after) = after.split_at_checked(length).ok_or_else(broken)?;
        unpack_block(block, most, &mut bytes).ok_or_else(broken)?;
        rest = after;
    }
    Ok(bytes)
}

/// Appends what a block holds to `bytes`, which stay within `most`; nothing if it is broken.
fn unpack_block(mut packed: &[u8], most: usize, bytes: &mut Vec<u8>) -> Option<()> {
    let first = bytes.len();
    let mut take = |count: usize| {
        let (taken, rest) = packed.split_at_checked(count)?;
        packed = rest;
        Some(taken)
    };
    // A length of 15 goes on in the bytes that follow, up to one below 255.
    fn length<'a>(start: u8, take: &mut impl FnMut(usize) -> Option<&'a [u8]>) -> Option<usize> {
        let mut length = usize::from(start);
        if start == 15 {
            loop {
                let more = take(1)?[0];
                length += usize::from(more);
                if more != 255 {
                    break;
                }
            }
        }
        Some(length)
    }
    loop {
        let Some(token) = take(1) else { return Some(()) };
        let token = token[0];
        let literals = length(token >> 4, &mut take)?;
        let literals = take(literals)?;
        if bytes.len() + literals.len() > most {
            return None;
        }
        bytes.extend_from_slice(literals);
        // The last sequence of a block has no match.
        let Some(back) = take(2) else { return Some(()) };
        let back = usize::from(u16::from_le_bytes([back[0], back[1]]));
        let count = length(token & 15, &mut take)? + 4;
        if back == 0 || back > bytes.len() - first || bytes.len() + count > most {
            return None;
        }
        let start = bytes.len() - back;
        if back >= count {
            bytes.extend_from_within(start..start + count);
        } else {
            // A match may reach into itself, which repeats it.
            for k in 0..count {
                bytes.push(bytes[start + k]);
            }
        }
    }
}

/// Integers of 32 bits, as many as `count`.
pub(super) fn integers(packed: &[u8], count: usize) -> Result<Vec<i32>, Fault> {
    let mut values = Vec::new();
    each_integer(packed, count, 4, |value| values.push(value as i32), true)?;
    Ok(values)
}

/// Integers of `size` bytes, 4 or 8, each given to `put`. Of four bytes they wrap around at 32 bits, which
/// the caller sees by its type.
pub(super) fn each_integer(
    packed: &[u8],
    count: usize,
    size: usize,
    mut put: impl FnMut(i64),
    is_narrow: bool,
) -> Result<(), Fault> {
    if count == 0 {
        return Ok(());
    }
    let codes = count.div_ceil(4);
    if (size + codes) as u64 > MOST_PER_BYTE * packed.len() as u64 {
        return Err(fault(format!("claims {count} integers in {} packed bytes", packed.len())));
    }
    let bytes = unpack(packed, size + codes + count * size)?;
    let short = || fault(format!("holds fewer than {count} integers"));
    let (common, rest) = bytes.split_at_checked(size).ok_or_else(short)?;
    let (codes, mut rest) = rest.split_at_checked(codes).ok_or_else(short)?;
    let common = signed(common);
    let mut value = 0_i64;
    for k in 0..count {
        let length = match codes[k / 4] >> (2 * (k % 4)) & 3 {
            0 => 0,
            1 => size / 4,
            2 => size / 2,
            _ => size,
        };
        let (own, after) = rest.split_at_checked(length).ok_or_else(short)?;
        rest = after;
        value = value.wrapping_add(if length == 0 { common } else { signed(own) });
        if is_narrow {
            value = i64::from(value as i32);
        }
        put(value);
    }
    Ok(())
}

/// Little-endian with sign, of up to eight bytes.
fn signed(bytes: &[u8]) -> i64 {
    let fill = if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
    let mut whole = [fill; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_repeat_what_they_have() {
        // Three literals, a match of 9 that reaches into itself, two literals.
        let packed = [0, 0x35, b'a', b'b', b'c', 3, 0, 0x20, b'x', b'y'];
        assert_eq!(unpack(&packed, 100).unwrap(), b"abcabcabcabcxy");
        assert!(unpack(&packed, 13).is_err(), "longer than allowed");
        // Several blocks.
        let several = [2, 3, 0, 0, 0, 0x20, b'p', b'q', 2, 0, 0, 0, 0x10, b'r'];
        assert_eq!(unpack(&several, 100).unwrap(), b"pqr");
        // A long run of literals has bytes that add to its length.
        let literals: Vec<u8> = (0..300).map(|k| k as u8).collect();
        let long = [vec![0, 0xf0, 255, 30], literals.clone()].concat();
        assert_eq!(unpack(&long, 300).unwrap(), literals);
    }

    #[test]
    fn broken_blocks_are_refused() {
        for packed in [
            &[][..],
            &[0, 0x35, b'a'],
            &[0, 0x35, b'a', b'b', b'c', 4, 0],
            &[0, 0x35, b'a', b'b', b'c', 0, 0],
            &[0, 0xf0],
            &[1, 9, 0, 0, 0, 0x10, b'a'],
            &[3, 2],
        ] {
            assert!(unpack(packed, 1000).is_err(), "{packed:?}");
        }
    }

    #[test]
    fn integers_are_differences() {
        // Common difference 1; 1, then −2 (one byte), then common, then 300 (two bytes), then 70000 (four).
        let plain = [&[1, 0, 0, 0, 0b_1000_0100, 0b11, 0xfe][..], &[44, 1], &[0x70, 0x11, 1, 0]].concat();
        let packed = [vec![0, (plain.len() as u8) << 4], plain.clone()].concat();
        assert_eq!(integers(&packed, 5).unwrap(), [1, -1, 0, 300, 70_300]);
        assert!(integers(&packed, 9).is_err());
        assert!(integers(&packed, 1 << 40).is_err(), "nothing is allocated for a claim");
        assert!(integers(&[], 0).unwrap().is_empty());
        let mut wide = Vec::new();
        let plain =
            [&5_i64.to_le_bytes()[..], &[0b_1101], &(-300_i16).to_le_bytes(), &(1_i64 << 40).to_le_bytes()];
        let plain = plain.concat();
        let packed = [vec![0, 0xf0, plain.len() as u8 - 15], plain].concat();
        each_integer(&packed, 3, 8, |value| wide.push(value), false).unwrap();
        assert_eq!(wide, [-300, (1 << 40) - 300, (1 << 40) - 295]);
    }
}
