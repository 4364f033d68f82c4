//! Reads the numbers of a PLY file in sequence, in any encoding.

use super::{
    super::{
        fault::{Fault, fault},
        text,
    },
    header::{Element, Encoding, Header, Kind, Number, Property},
};

/// A place in the values of a file. Every number is given as f64, which holds all types exactly.
pub(super) struct Values<'a> {
    bytes: &'a [u8],
    encoding: Encoding,
    at: usize,
    /// Line of the last word read; of no use in a binary file.
    line: usize,
}

impl<'a> Values<'a> {
    pub fn new(header: &Header, bytes: &'a [u8]) -> Self {
        Self { bytes, encoding: header.encoding, at: header.body, line: header.body_line }
    }

    pub fn is_text(&self) -> bool {
        self.encoding == Encoding::Text
    }

    /// `fault` with the current line, if there are lines.
    pub fn located(&self, fault: Fault) -> Fault {
        if self.is_text() { fault.at_line(self.line) } else { fault }
    }

    fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Refuses an element that cannot fit into what is left of the file, before anything is allocated for it.
    pub fn require(&self, element: &Element) -> Result<(), Fault> {
        let least: u128 = element
            .properties
            .iter()
            .map(|property| match (self.is_text(), property.kind) {
                // A digit and what parts it from the next number.
                (true, _) => 2,
                (false, Kind::Scalar(number)) => number.size() as u128,
                (false, Kind::List { count, .. }) => count.size() as u128,
            })
            .sum();
        let needed = least * u128::from(element.count);
        // The last number of a text needs nothing after it.
        let available = self.remaining() as u128 + u128::from(self.is_text());
        if needed > available {
            let Element { name, count, .. } = element;
            let message = format!(
                "{count} elements {name:?} take at least {needed} bytes: {} are left in the file",
                self.remaining()
            );
            return Err(fault(message).at_line(element.line));
        }
        // Only elements without properties pass at any count; of these, taut needs none.
        if element.properties.is_empty()
            && ["vertex", "face"].contains(&element.name.as_str())
            && element.count > 0
        {
            return Err(fault(format!("element {:?} has no properties", element.name)).at_line(element.line));
        }
        Ok(())
    }

    pub fn scalar(&mut self, number: Number) -> Result<f64, Fault> {
        match self.encoding {
            Encoding::Text => self.word(number),
            Encoding::LittleEndian => self.binary(number, |bytes| bytes),
            Encoding::BigEndian => self.binary(number, |mut bytes| {
                bytes[..number.size()].reverse();
                bytes
            }),
        }
    }

    fn word(&mut self, number: Number) -> Result<f64, Fault> {
        while let Some(&b) = self.bytes.get(self.at)
            && b.is_ascii_whitespace()
        {
            let alone = b == b'\r' && self.bytes.get(self.at + 1) != Some(&b'\n');
            self.line += usize::from(b == b'\n' || alone);
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let word = &rest[..length];
        self.at += length;
        if word.is_empty() {
            return Err(self.located(fault("the file is truncated")));
        }
        let text = std::str::from_utf8(word).ok();
        // Rounded once, to the type that the header names.
        let value = match number {
            Number::F32 => text.and_then(|text| text.parse::<f32>().ok()).map(f64::from),
            _ => text.and_then(|text| text.parse().ok()),
        };
        value.ok_or_else(|| self.located(fault(format!("{}: must be a number", text::shown(word)))))
    }

    fn binary(&mut self, number: Number, order: impl Fn([u8; 8]) -> [u8; 8]) -> Result<f64, Fault> {
        let size = number.size();
        let Some(bytes) = self.bytes.get(self.at..self.at + size) else {
            return Err(fault("the file is truncated"));
        };
        self.at += size;
        let mut all = [0; 8];
        all[..size].copy_from_slice(bytes);
        let all = order(all);
        let [a, b, c, d, ..] = all;
        Ok(match number {
            Number::I8 => f64::from(a as i8),
            Number::U8 => f64::from(a),
            Number::I16 => f64::from(i16::from_le_bytes([a, b])),
            Number::U16 => f64::from(u16::from_le_bytes([a, b])),
            Number::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Number::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Number::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Number::F64 => f64::from_le_bytes(all),
        })
    }

    /// Length of a list that is there in full.
    fn length(&mut self, count: Number, item: Number) -> Result<usize, Fault> {
        let length = self.scalar(count)?;
        let (size, available) =
            if self.is_text() { (2, self.remaining() + 1) } else { (item.size(), self.remaining()) };
        if !(length >= 0.0 && length.fract() == 0.0) {
            return Err(self.located(fault(format!("a list of {length} numbers: must be an integer from 0"))));
        }
        if length * size as f64 > available as f64 {
            return Err(self.located(fault(format!("a list of {length} numbers: the file ends before"))));
        }
        Ok(length as usize)
    }

    /// Reads a list property into `items`; at most `most`.
    pub fn list(&mut self, property: &Property, most: usize, items: &mut Vec<f64>) -> Result<(), Fault> {
        items.clear();
        let Kind::List { count, item } = property.kind else { return Ok(()) };
        let length = self.length(count, item)?;
        if length > most {
            let message = format!("a list {:?} of {length} numbers: at most {most} are read", property.name);
            return Err(self.located(fault(message)));
        }
        for _ in 0..length {
            items.push(self.scalar(item)?);
        }
        Ok(())
    }

    /// Passes over a property.
    pub fn skip(&mut self, property: &Property) -> Result<(), Fault> {
        match property.kind {
            Kind::Scalar(number) => self.scalar(number).map(|_| ()),
            Kind::List { count, item } => {
                let length = self.length(count, item)?;
                if self.is_text() {
                    return (0..length).try_for_each(|_| self.scalar(item).map(|_| ()));
                }
                self.at += length * item.size();
                Ok(())
            }
        }
    }
}
