//! Values of a crate file.
//!
//! A value reference has 64 bits: whether it is an array (63), whether the value is in the reference itself
//! (62), whether the array is packed (61), the type (48 to 55), and the offset in the file or the value.

use super::{
    super::{
        super::fault::{Fault, fault},
        layer::{Stored, Value},
    },
    packing,
    tables::{Crate, Cursor},
};

const ARRAY: u64 = 1 << 63;
const INLINE: u64 = 1 << 62;
const PACKED: u64 = 1 << 61;
/// Edits to an array of another layer.
const EDIT: u64 = 1 << 60;
const PAYLOAD: u64 = (1 << 48) - 1;

/// Shorter arrays are never packed.
const LEAST_PACKED: u64 = 16;
/// Maximum numbers of one array: 32 million triangles have 96 million indices.
const MAX_NUMBERS: u64 = 1 << 27;

const TEXT: u8 = 10;
const TOKEN: u8 = 11;
const ASSET: u8 = 12;
const TOKEN_VECTOR: u8 = 41;
const SPECIFIER: u8 = 42;
const VARIABILITY: u8 = 44;
const TIME_SAMPLES: u8 = 46;
const DOUBLE_VECTOR: u8 = 48;
const BLOCKED: u8 = 51;

/// A component of a number, vector, quaternion or matrix.
#[derive(Clone, Copy, PartialEq)]
enum Component {
    U8,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Component {
    fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The number in `b`, which has its size.
    fn number(self, b: &[u8]) -> f64 {
        let mut wide = [0; 8];
        wide[..b.len()].copy_from_slice(b);
        let bits = u64::from_le_bytes(wide);
        match self {
            Self::U8 | Self::U32 | Self::U64 => bits as f64,
            Self::I32 => f64::from(bits as u32 as i32),
            Self::I64 => bits as i64 as f64,
            Self::F16 => half(bits as u16),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
        }
    }
}

/// A number of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * (-24_f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * f64::from(exponent - 25).exp2(),
    }
}

/// Component and number of components of a type of numbers; the second is the rank of a matrix.
fn numeric(kind: u8) -> Option<(Component, usize, Option<usize>)> {
    use Component::{F16, F32, F64, I32, I64, U8, U32, U64};
    Some(match kind {
        1 | 2 => (U8, 1, None),
        3 => (I32, 1, None),
        4 => (U32, 1, None),
        5 => (I64, 1, None),
        6 => (U64, 1, None),
        7 => (F16, 1, None),
        8 => (F32, 1, None),
        9 | 56 => (F64, 1, None),
        13..=15 => (F64, usize::from(kind - 11).pow(2), Some(usize::from(kind - 11))),
        16 => (F64, 4, None),
        17 => (F32, 4, None),
        18 => (F16, 4, None),
        // Vectors of two to four components, in four types each.
        19..=30 => ([F64, F32, F16, I32][usize::from(kind - 19) % 4], 2 + usize::from(kind - 19) / 4, None),
        _ => return None,
    })
}

impl Crate<'_> {
    /// Decodes a value.
    pub(in crate::mesh::usd) fn value(&self, reference: u64) -> Result<Value, Fault> {
        let kind = (reference >> 48) as u8;
        let payload = reference & PAYLOAD;
        if reference & EDIT != 0 {
            return Ok(Value::Other);
        }
        if let Some((component, width, rank)) = numeric(kind) {
            let numbers = if reference & ARRAY != 0 {
                self.array(component, width, reference & PACKED != 0, payload)?
            } else if reference & INLINE != 0 {
                inline(component, width, rank, payload as u32)
            } else {
                let bytes = Cursor::new(self.bytes, payload)?.take((component.size() * width) as u64)?;
                bytes.chunks_exact(component.size()).map(|bytes| component.number(bytes)).collect()
            };
            return Ok(Value::Numbers(if (16..=18).contains(&kind) { real_first(numbers) } else { numbers }));
        }
        Ok(match kind {
            BLOCKED => Value::Blocked,
            SPECIFIER | VARIABILITY => Value::Numbers(vec![payload as u32 as f64]),
            TEXT | TOKEN | ASSET => {
                let indices =
                    if reference & ARRAY == 0 { vec![payload as u32] } else { self.indices(payload)? };
                let word = |index: u32| match kind {
                    TEXT => {
                        let token = self.strings.get(index as usize);
                        let count = self.strings.len();
                        let wrong = || format!("refers to string {index} (from 0): the file has {count}");
                        self.token(*token.ok_or_else(|| fault(wrong()))?)
                    }
                    _ => self.token(index),
                };
                let words: Result<Vec<String>, Fault> =
                    indices.into_iter().map(|index| word(index).map(str::to_owned)).collect();
                Value::Words(words?)
            }
            _ => Value::Other,
        })
    }

    /// Tokens of a list of names.
    pub(super) fn token_indices(&self, reference: u64) -> Result<Vec<u32>, Fault> {
        if (reference >> 48) as u8 != TOKEN_VECTOR {
            return Err(fault("a list of names has another type than token vector"));
        }
        let mut cursor = Cursor::new(self.bytes, reference & PAYLOAD)?;
        let count = cursor.u64()?;
        let bytes = cursor.take(count.saturating_mul(4))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    /// The number of elements of an array, which begins there.
    fn count(&self, cursor: &mut Cursor) -> Result<u64, Fault> {
        if self.version < 5 {
            // Number of dimensions, always one.
            cursor.u32()?;
        }
        if self.version < 7 { cursor.u32().map(u64::from) } else { cursor.u64() }
    }

    /// Indices of tokens or strings.
    fn indices(&self, place: u64) -> Result<Vec<u32>, Fault> {
        if place == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = Cursor::new(self.bytes, place)?;
        let count = self.count(&mut cursor)?;
        let bytes = cursor.take(count.saturating_mul(4))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    /// All numbers of an array.
    fn array(
        &self,
        component: Component,
        width: usize,
        is_packed: bool,
        place: u64,
    ) -> Result<Vec<f64>, Fault> {
        // An empty array has no place.
        if place == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = Cursor::new(self.bytes, place)?;
        let count = self.count(&mut cursor)?;
        let numbers = count.saturating_mul(width as u64);
        if numbers > MAX_NUMBERS {
            return Err(fault(format!("an array has {numbers} numbers: at most {MAX_NUMBERS} are read")));
        }
        if is_packed && count >= LEAST_PACKED {
            return packed_array(component, width, count as usize, &mut cursor);
        }
        let bytes = cursor.take(numbers * component.size() as u64)?;
        Ok(bytes.chunks_exact(component.size()).map(|bytes| component.number(bytes)).collect())
    }

    /// Times and values of samples; their number is given to `count` before they are kept.
    pub(super) fn samples(
        &self,
        reference: u64,
        mut count: impl FnMut(usize) -> Result<(), Fault>,
    ) -> Result<Vec<(f64, Stored)>, Fault> {
        if (reference >> 48) as u8 != TIME_SAMPLES {
            return Err(fault("has time samples of another type"));
        }
        let place = reference & PAYLOAD;
        // Both parts are behind offsets relative to their own place.
        let behind = |place: u64| -> Result<u64, Fault> {
            let offset = Cursor::new(self.bytes, place)?.u64()?;
            Ok(place.wrapping_add(offset))
        };
        let times_at = behind(place)?;
        let times = Cursor::new(self.bytes, times_at)?.u64()?;
        let values_at = behind(times_at.wrapping_add(8))?;
        let mut values = Cursor::new(self.bytes, values_at)?;
        let own = values.u64()?;
        let bytes = values.take(own.saturating_mul(8))?;
        count(own as usize)?;
        let times = self.times(times)?;
        if times.len() as u64 != own {
            return Err(fault(format!("has {} times for {own} time samples", times.len())));
        }
        if let Some(k) =
            (0..times.len()).find(|&k| !times[k].is_finite() || k > 0 && times[k] <= times[k - 1])
        {
            return Err(fault(format!(
                "time sample {k} (from 0) is at {}: times must be finite and increasing",
                times[k]
            )));
        }
        let values = bytes.as_chunks::<8>().0.iter();
        Ok(times.into_iter().zip(values.map(|bytes| Stored::Binary(u64::from_le_bytes(*bytes)))).collect())
    }

    fn times(&self, reference: u64) -> Result<Vec<f64>, Fault> {
        if (reference >> 48) as u8 != DOUBLE_VECTOR {
            return match self.value(reference)? {
                Value::Numbers(numbers) => Ok(numbers),
                _ => Err(fault("the times of samples are not numbers")),
            };
        }
        let mut cursor = Cursor::new(self.bytes, reference & PAYLOAD)?;
        let count = cursor.u64()?;
        let bytes = cursor.take(count.saturating_mul(8))?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }
}

/// A value in its reference: of up to four bytes as it is, a double as a float, a large integer as a small
/// one, vectors and diagonals of matrices as bytes with sign.
fn inline(component: Component, width: usize, rank: Option<usize>, bits: u32) -> Vec<f64> {
    let small = |k: usize| f64::from(bits.to_le_bytes().get(k).map_or(0, |&byte| byte as i8));
    match (component, width, rank) {
        (_, _, Some(rank)) => {
            (0..width).map(|k| if k % (rank + 1) == 0 { small(k / (rank + 1)) } else { 0.0 }).collect()
        }
        (Component::F64, 1, _) => vec![f64::from(f32::from_bits(bits))],
        (Component::I64, 1, _) => vec![f64::from(bits as i32)],
        (Component::U64, 1, _) => vec![f64::from(bits)],
        (_, 1, _) => vec![component.number(&bits.to_le_bytes()[..component.size()])],
        _ => (0..width).map(small).collect(),
    }
}

/// Integers as differences; floats as such integers where all are whole, or as a table and indices.
fn packed_array(
    component: Component,
    width: usize,
    count: usize,
    cursor: &mut Cursor,
) -> Result<Vec<f64>, Fault> {
    if width != 1 {
        return Err(fault("an array of vectors is packed, which no version of the format allows"));
    }
    let mut numbers = Vec::new();
    match component {
        Component::I32 => {
            packing::each_integer(cursor.block()?, count, 4, |v| numbers.push(v as f64), true)?;
        }
        Component::U32 => {
            packing::each_integer(cursor.block()?, count, 4, |v| numbers.push(f64::from(v as u32)), true)?;
        }
        Component::I64 => {
            packing::each_integer(cursor.block()?, count, 8, |v| numbers.push(v as f64), false)?;
        }
        Component::U64 => {
            packing::each_integer(cursor.block()?, count, 8, |v| numbers.push(v as u64 as f64), false)?;
        }
        Component::U8 => return Err(fault("an array of bytes is packed")),
        _ => match cursor.take(1)?[0] {
            b'i' => packing::each_integer(cursor.block()?, count, 4, |v| numbers.push(v as f64), true)?,
            b't' => {
                let length = u64::from(cursor.u32()?);
                let table = cursor.take(length * component.size() as u64)?;
                let table: Vec<f64> =
                    table.chunks_exact(component.size()).map(|bytes| component.number(bytes)).collect();
                let mut outside = None;
                packing::each_integer(
                    cursor.block()?,
                    count,
                    4,
                    |v| match table.get(v as u32 as usize) {
                        Some(&number) => numbers.push(number),
                        None => outside = Some(v),
                    },
                    true,
                )?;
                if let Some(index) = outside {
                    return Err(fault(format!(
                        "a packed array refers to entry {index} (from 0): its table has {length}"
                    )));
                }
            }
            code => return Err(fault(format!("a packed array has the unknown code {code}"))),
        },
    }
    Ok(numbers)
}

/// Quaternions as text has them: the real part first.
fn real_first(mut numbers: Vec<f64>) -> Vec<f64> {
    for quaternion in numbers.as_chunks_mut::<4>().0 {
        quaternion.rotate_right(1);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_16_bits() {
        for (bits, number) in [
            (0, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (1, 5.960_464_477_539_063e-8),
        ] {
            assert_eq!(half(bits), number);
        }
        assert_eq!(half(0x7c00), f64::INFINITY);
        assert!(half(0x7e00).is_nan());
    }

    #[test]
    fn values_in_their_references() {
        assert_eq!(inline(Component::F32, 3, None, 0x00_ff_02_01), [1.0, 2.0, -1.0]);
        assert_eq!(inline(Component::F64, 4, Some(2), 0x0305), [5.0, 0.0, 0.0, 3.0]);
        assert_eq!(inline(Component::F64, 1, None, 0.5_f32.to_bits()), [0.5]);
        assert_eq!(inline(Component::I32, 1, None, u32::MAX), [-1.0]);
    }
}
