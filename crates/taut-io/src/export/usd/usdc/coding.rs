//! Packing of the tables at the end of a crate file: integers as differences of one to four bytes, in LZ4.
//!
//! The LZ4 here stores literals only, which every reader accepts: the tables of a whole run are a few
//! kilobytes, beside positions that the format never packs.

/// Integers in the format's packing, before LZ4: the most common difference, two bits for each integer
/// (common, or one, two or four bytes), then the differences that are not the common one.
pub fn pack_integers(values: &[u32]) -> Vec<u8> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut before = 0_u32;
    let differences: Vec<i32> = values
        .iter()
        .map(|&value| {
            let difference = value.wrapping_sub(before) as i32;
            before = value;
            difference
        })
        .collect();
    let common = most_common(&differences);
    let mut codes = vec![0_u8; values.len().div_ceil(4)];
    let mut rest = Vec::new();
    for (k, &difference) in differences.iter().enumerate() {
        let code = if difference == common {
            0
        } else if let Ok(small) = i8::try_from(difference) {
            rest.extend(small.to_le_bytes());
            1
        } else if let Ok(medium) = i16::try_from(difference) {
            rest.extend(medium.to_le_bytes());
            2
        } else {
            rest.extend(difference.to_le_bytes());
            3
        };
        codes[k / 4] |= code << (2 * (k % 4));
    }
    [common.to_le_bytes().to_vec(), codes, rest].concat()
}

/// The value that occurs most often; the largest of several.
fn most_common(values: &[i32]) -> i32 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// `bytes` as one LZ4 chunk of literals only, with the format's leading count of further chunks.
pub fn store_in_lz4(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(bytes.len() + bytes.len() / 255 + 3);
    packed.push(0);
    // A token whose upper half is the number of literals; 15 means that bytes follow which add to it, up to
    // one below 255.
    let Some(mut more) = bytes.len().checked_sub(15) else {
        packed.push((bytes.len() as u8) << 4);
        packed.extend(bytes);
        return packed;
    };
    packed.push(0xf0);
    while more >= 255 {
        packed.push(255);
        more -= 255;
    }
    packed.push(more as u8);
    packed.extend(bytes);
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(bytes: &[u8], count: usize) -> Vec<u32> {
        let common = i32::from_le_bytes(bytes[..4].try_into().unwrap());
        let codes = &bytes[4..];
        let mut rest = &codes[count.div_ceil(4)..];
        let mut take = |n: usize| {
            let (taken, left) = rest.split_at(n);
            rest = left;
            let sign = if taken[n - 1] & 0x80 != 0 { 0xff } else { 0 };
            let mut whole = [sign; 4];
            whole[..n].copy_from_slice(taken);
            i32::from_le_bytes(whole)
        };
        let mut value = 0_u32;
        let values = (0..count)
            .map(|k| {
                let difference = match codes[k / 4] >> (2 * (k % 4)) & 3 {
                    0 => common,
                    1 => take(1),
                    2 => take(2),
                    _ => take(4),
                };
                value = value.wrapping_add(difference as u32);
                value
            })
            .collect();
        assert!(rest.is_empty());
        values
    }

    #[test]
    fn integers_come_back() {
        let values = [0, 1, 2, 3, 300, 299, 70_000, 69_999, 70_000, u32::MAX, 0, u32::MAX, 5, 6, 7];
        for length in 1..=values.len() {
            assert_eq!(unpack(&pack_integers(&values[..length]), length), values[..length]);
        }
        assert!(pack_integers(&[]).is_empty());
        assert_eq!(pack_integers(&[1, 2, 3, 4, 5, 6, 7, 8]).len(), 4 + 2, "equal differences take two bits");
    }

    #[test]
    fn stored_bytes_have_their_length_before_them() {
        for (length, head) in
            [(0, vec![0, 0]), (14, vec![0, 0xe0]), (15, vec![0, 0xf0, 0]), (270, vec![0, 0xf0, 255, 0])]
        {
            let bytes: Vec<u8> = (0..length).map(|k| k as u8).collect();
            assert_eq!(store_in_lz4(&bytes), [head, bytes].concat());
        }
    }
}
