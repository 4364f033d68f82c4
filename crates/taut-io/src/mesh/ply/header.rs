//! The header of a PLY file.

use super::super::{
    fault::{Fault, fault},
    text,
};

/// Encoding of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// Type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Number {
    fn parse(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes in a binary file.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn is_whole(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

/// One number, or a list with its length first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar(Number),
    List { count: Number, item: Number },
}

#[derive(Debug)]
pub(super) struct Property {
    pub name: String,
    pub kind: Kind,
    pub line: usize,
}

#[derive(Debug)]
pub(super) struct Element {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
    pub line: usize,
}

pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Where values start.
    pub body: usize,
    /// Line of the first value.
    pub body_line: usize,
}

impl Header {
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let Some(rest) = bytes.strip_prefix(b"ply") else {
            return Err(fault("is not a PLY file: it must start with \"ply\"").at_line(1));
        };
        // The first line shows how lines end. After "end_header" it matters: the next byte may be any value.
        let end: &[u8] = match rest {
            [b'\r', b'\n', ..] => b"\r\n",
            [b'\r', ..] => b"\r",
            _ => b"\n",
        };
        let (mut at, mut line) = (0, 0);
        let (mut encoding, mut elements): (_, Vec<Element>) = (None, Vec::new());
        loop {
            let rest = &bytes[at..];
            let Some(length) = rest.windows(end.len()).position(|window| window == end) else {
                return Err(fault("the header has no \"end_header\"").at_line(line + 1));
            };
            at += length + end.len();
            line += 1;
            let words: Vec<&[u8]> = text::words(&rest[..length]).collect();
            let result = match words.as_slice() {
                [b"ply"] if line == 1 => Ok(()),
                _ if line == 1 => Err(fault("is not a PLY file: its first line must be \"ply\"")),
                [] | [b"comment" | b"obj_info", ..] => Ok(()),
                [b"format", kind, version] => format(kind, version).map(|found| encoding = Some(found)),
                [b"element", name, count] => element(name, count, line).map(|found| elements.push(found)),
                [b"property", words @ ..] => property(words, line, elements.last_mut()),
                [b"end_header"] => break,
                _ => Err(fault(format!(
                    "{}: must be format, element, property, comment, obj_info or end_header with its words",
                    text::shown(rest[..length].trim_ascii())
                ))),
            };
            result.map_err(|fault| fault.at_line(line))?;
        }
        let encoding = encoding.ok_or_else(|| fault("the header has no \"format\"").at_line(line))?;
        Ok(Self { encoding, elements, body: at, body_line: line + 1 })
    }
}

fn format(kind: &[u8], version: &[u8]) -> Result<Encoding, Fault> {
    if version != b"1.0" {
        return Err(fault(format!("format version {}: must be 1.0", text::shown(version))));
    }
    match kind {
        b"ascii" => Ok(Encoding::Text),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        _ => Err(fault(format!(
            "format {}: must be ascii, binary_little_endian or binary_big_endian",
            text::shown(kind)
        ))),
    }
}

fn element(name: &[u8], count: &[u8], line: usize) -> Result<Element, Fault> {
    let number = std::str::from_utf8(count).ok().and_then(|text| text.parse().ok());
    let Some(number) = number else {
        let message = format!("{} elements {}: must be an integer", text::shown(count), text::shown(name));
        return Err(fault(message));
    };
    Ok(Element { name: text::name(name), count: number, properties: Vec::new(), line })
}

fn property(words: &[&[u8]], line: usize, element: Option<&mut Element>) -> Result<(), Fault> {
    let number = |word: &[u8]| {
        Number::parse(word).ok_or_else(|| {
            fault(format!(
                "type {}: must be char, uchar, short, ushort, int, uint, float, double, or int8 to float64",
                text::shown(word)
            ))
        })
    };
    let element = element.ok_or_else(|| fault("a property before any element"))?;
    let (kind, name) = match words {
        [b"list", count, item, name] => {
            let (count, item) = (number(count)?, number(item)?);
            if !count.is_whole() {
                return Err(fault("the length of a list must be of an integer type"));
            }
            (Kind::List { count, item }, name)
        }
        [scalar, name] => (Kind::Scalar(number(scalar)?), name),
        _ => return Err(fault("must be \"property TYPE NAME\" or \"property list TYPE TYPE NAME\"")),
    };
    element.properties.push(Property { name: text::name(name), kind, line });
    Ok(())
}
