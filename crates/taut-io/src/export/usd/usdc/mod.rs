//! Binary layers, the crate files of USD (`.usdc`), written as a stream.
//!
//! A crate file has values anywhere, and tables at its end that map attributes and times to values. So a
//! frame is written and dropped; only eight bytes for each sample of each attribute stay in memory. Float
//! arrays are never packed, so points take twelve bytes as in the frames of a run.

mod coding;
mod file;
mod tables;

use std::{
    io::{self, Seek, Write},
    ops::RangeInclusive,
};

use file::File;
use tables::{SpecKind, Tables};

use super::{
    layer::{Attribute, Failure, Fields, Layer, Prim, Source},
    value::Value,
};

/// Type codes of the format.
#[derive(Clone, Copy)]
enum Kind {
    Bool = 1,
    Int = 3,
    Float = 8,
    Double = 9,
    Text = 10,
    Token = 11,
    Quat = 17,
    Vec2 = 20,
    Double3 = 23,
    Vec3 = 24,
    Dictionary = 31,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
    Blocked = 51,
}

/// The value is an array.
const ARRAY: u64 = 1 << 63;
/// The value is stored inline, instead of its offset.
const INLINE: u64 = 1 << 62;
/// Floats converted to bytes at a time.
const CHUNK: usize = 3 * 1024;

const fn inline(kind: Kind, payload: u32) -> u64 {
    INLINE | (kind as u64) << 48 | payload as u64
}

const fn at(kind: Kind, place: u64) -> u64 {
    (kind as u64) << 48 | place
}

/// An open prim.
#[derive(Debug)]
struct Open {
    path: usize,
    kind: SpecKind,
    fields: Vec<(u32, u64)>,
    children: Vec<u32>,
    attributes: Vec<u32>,
}

/// A crate file being written.
#[derive(Debug)]
pub struct Usdc<W> {
    file: File<W>,
    tables: Tables,
    open: Vec<Open>,
}

impl<W: Write + Seek> Usdc<W> {
    /// Begins a layer with metadata.
    ///
    /// # Errors
    /// A write error.
    pub fn new(out: W, fields: &Fields) -> io::Result<Self> {
        let mut layer = Self { file: File::begin(out)?, tables: Tables::new(), open: Vec::new() };
        layer.open(0, SpecKind::Root, Vec::new(), fields)?;
        Ok(layer)
    }

    /// Begins a prim, or the root, with fields already written and fields yet to write.
    fn open(
        &mut self,
        path: usize,
        kind: SpecKind,
        mut fields: Vec<(u32, u64)>,
        others: &Fields,
    ) -> io::Result<()> {
        for (name, value) in others {
            fields.push((self.tables.token(name), self.put(value)?));
        }
        self.open.push(Open { path, kind, fields, children: Vec::new(), attributes: Vec::new() });
        Ok(())
    }

    /// Ends the innermost prim, or the root.
    fn close(&mut self) -> io::Result<()> {
        let Some(mut prim) = self.open.pop() else { return Ok(()) };
        for (name, tokens) in [("primChildren", &prim.children), ("properties", &prim.attributes)] {
            if !tokens.is_empty() {
                let place = self.put_array(tokens, |token| token.to_le_bytes())?;
                prim.fields.push((self.tables.token(name), at(Kind::TokenVector, place)));
            }
        }
        self.tables.spec(prim.path, prim.kind, &prim.fields);
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute, field: &'static str, value: u64) {
        let Some(prim) = self.open.last_mut() else { return };
        let tables = &mut self.tables;
        let path = tables.path(prim.path, attribute.name, true);
        prim.attributes.push(tables.token(attribute.name));
        let mut fields = vec![(tables.token("typeName"), inline(Kind::Token, tables.token(attribute.kind)))];
        if attribute.uniform {
            fields.push((tables.token("variability"), inline(Kind::Variability, 1)));
        }
        if let Some(interpolation) = attribute.interpolation {
            let token = tables.token(interpolation);
            fields.push((tables.token("interpolation"), inline(Kind::Token, token)));
        }
        fields.push((tables.token(field), value));
        tables.spec(path, SpecKind::Attribute, &fields);
    }

    /// Writes a value, unless it fits inline, and returns its reference.
    fn put(&mut self, value: &Value) -> io::Result<u64> {
        Ok(match value {
            Value::Blocked => inline(Kind::Blocked, 0),
            Value::Bool(value) => inline(Kind::Bool, u32::from(*value)),
            Value::Token(text) => inline(Kind::Token, self.tables.token(text)),
            Value::Text(text) => inline(Kind::Text, self.tables.string(text)),
            Value::Double(value) => at(Kind::Double, self.put_plain(&value.to_le_bytes())?),
            Value::Double3(v) => {
                at(Kind::Double3, self.put_plain(v.to_array().map(f64::to_le_bytes).as_flattened())?)
            }
            Value::Float3(v) => {
                at(Kind::Vec3, self.put_plain(v.to_array().map(f32::to_le_bytes).as_flattened())?)
            }
            Value::Quat(q) => {
                at(Kind::Quat, self.put_plain(q.to_array().map(f32::to_le_bytes).as_flattened())?)
            }
            Value::Dictionary(entries) => at(Kind::Dictionary, self.put_dictionary(entries)?),
            Value::Tokens(texts) => {
                let tokens: Vec<u32> = texts.iter().map(|text| self.tables.token(text)).collect();
                ARRAY | at(Kind::Token, self.put_array(&tokens, |token| token.to_le_bytes())?)
            }
            Value::Ints(values) => ARRAY | at(Kind::Int, self.put_array(values, |v| v.to_le_bytes())?),
            Value::Floats(values) => ARRAY | at(Kind::Float, self.put_array(values, |v| v.to_le_bytes())?),
            Value::Vec2s(values) => ARRAY | at(Kind::Vec2, self.put_array(values, |v| pair(v.x, v.y))?),
            Value::Vec3s(values) => {
                ARRAY | at(Kind::Vec3, self.put_array(values, |v| triple(v.x, v.y, v.z))?)
            }
        })
    }

    fn put_plain(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let place = self.file.align()?;
        self.file.put(bytes)?;
        Ok(place)
    }

    /// Writes a number of elements and the elements.
    fn put_array<T: Copy, const N: usize>(
        &mut self,
        values: &[T],
        bytes: fn(T) -> [u8; N],
    ) -> io::Result<u64> {
        let place = self.put_plain(&(values.len() as u64).to_le_bytes())?;
        let mut buffer = Vec::with_capacity(CHUNK * N);
        for chunk in values.chunks(CHUNK) {
            buffer.clear();
            for &value in chunk {
                buffer.extend_from_slice(&bytes(value));
            }
            self.file.put(&buffer)?;
        }
        Ok(place)
    }

    fn put_dictionary(&mut self, entries: &[(&'static str, String)]) -> io::Result<u64> {
        let place = self.put_plain(&(entries.len() as u64).to_le_bytes())?;
        for (name, text) in entries {
            let (name, text) = (self.tables.string(name), self.tables.string(text));
            self.file.put(&name.to_le_bytes())?;
            // Relative offset of the reference: directly after this number.
            self.file.put(&8_u64.to_le_bytes())?;
            self.file.put(&inline(Kind::Text, text).to_le_bytes())?;
        }
        Ok(place)
    }

    /// Writes the times and values of an attribute.
    fn put_samples(&mut self, samples: &[(f64, u64)]) -> io::Result<u64> {
        let times: Vec<f64> = samples.iter().map(|sample| sample.0).collect();
        let times = at(Kind::DoubleVector, self.put_array(&times, f64::to_le_bytes)?);
        let references: Vec<u64> = samples.iter().map(|sample| sample.1).collect();
        // Each of the two parts is preceded by its relative offset: directly after the number.
        let place = self.put_plain(&8_u64.to_le_bytes())?;
        self.file.put(&times.to_le_bytes())?;
        self.file.put(&8_u64.to_le_bytes())?;
        self.put_array(&references, u64::to_le_bytes)?;
        Ok(at(Kind::TimeSamples, place))
    }
}

fn pair(x: f32, y: f32) -> [u8; 8] {
    let ([a, b, c, d], [e, f, g, h]) = (x.to_le_bytes(), y.to_le_bytes());
    [a, b, c, d, e, f, g, h]
}

fn triple(x: f32, y: f32, z: f32) -> [u8; 12] {
    let ([a, b, c, d, e, f, g, h], [i, j, k, l]) = (pair(x, y), z.to_le_bytes());
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

impl<W: Write + Seek> Layer for Usdc<W> {
    fn begin(&mut self, prim: Prim) -> io::Result<()> {
        let parent = self.open.last_mut().map_or(0, |parent| {
            parent.children.push(self.tables.token(&prim.name));
            parent.path
        });
        let path = self.tables.path(parent, &prim.name, false);
        let fields = vec![
            (self.tables.token("specifier"), inline(Kind::Specifier, 0)),
            (self.tables.token("typeName"), inline(Kind::Token, self.tables.token(prim.schema))),
        ];
        self.open(path, SpecKind::Prim, fields, &prim.fields)
    }

    fn value(&mut self, attribute: &Attribute, value: &Value) -> io::Result<()> {
        let reference = self.put(value)?;
        self.attribute(attribute, "default", reference);
        Ok(())
    }

    fn samples(
        &mut self,
        attributes: &[Attribute],
        frames: RangeInclusive<u32>,
        source: &mut Source<'_>,
    ) -> Result<(), Failure> {
        let mut samples = vec![Vec::new(); attributes.len()];
        for frame in frames {
            for (samples, value) in samples.iter_mut().zip(source(frame, None)?) {
                if let Some(value) = value {
                    samples.push((f64::from(frame), self.put(&value)?));
                }
            }
        }
        for (attribute, samples) in attributes.iter().zip(&samples) {
            let reference = self.put_samples(samples)?;
            self.attribute(attribute, "timeSamples", reference);
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.close()
    }

    fn finish(&mut self) -> io::Result<()> {
        while !self.open.is_empty() {
            self.close()?;
        }
        self.tables.write(&mut self.file)
    }
}
