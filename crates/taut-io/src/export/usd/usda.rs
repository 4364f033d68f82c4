//! Text layers (`.usda`), for reading and editing by hand.
//!
//! In text all samples of an attribute are contiguous, so each frame is read once for every sampled
//! attribute: slow, but nothing is kept in memory. Numbers are the shortest that round-trip to the same
//! `f32`.

use std::{
    io::{self, Write},
    ops::RangeInclusive,
};

use glam::Vec3;

use super::{
    layer::{Attribute, Failure, Fields, Layer, Prim, Source},
    value::Value,
};

/// A text layer being written.
#[derive(Debug)]
pub struct Usda<W> {
    out: W,
    depth: usize,
}

impl<W: Write> Usda<W> {
    /// Begins a layer with metadata.
    ///
    /// # Errors
    /// A write error.
    pub fn new(mut out: W, fields: &Fields) -> io::Result<Self> {
        writeln!(out, "#usda 1.0")?;
        let mut layer = Self { out, depth: 0 };
        layer.fields(fields)?;
        writeln!(layer.out)?;
        Ok(layer)
    }

    fn indent(&mut self) -> io::Result<()> {
        write!(self.out, "{:width$}", "", width = 4 * self.depth)
    }

    /// Metadata in parentheses, each field on its own line.
    fn fields(&mut self, fields: &Fields) -> io::Result<()> {
        writeln!(self.out, "(")?;
        self.depth += 1;
        for (name, value) in fields {
            self.indent()?;
            // A comment is a string without a name.
            if *name != "comment" {
                write!(self.out, "{name} = ")?;
            }
            self.put(value)?;
            writeln!(self.out)?;
        }
        self.depth -= 1;
        self.indent()?;
        writeln!(self.out, ")")
    }

    fn declare(&mut self, attribute: &Attribute) -> io::Result<()> {
        self.indent()?;
        let uniform = if attribute.uniform { "uniform " } else { "" };
        write!(self.out, "{uniform}{} {}", attribute.kind, attribute.name)
    }

    fn end_attribute(&mut self, attribute: &Attribute) -> io::Result<()> {
        match attribute.interpolation {
            Some(interpolation) => {
                write!(self.out, " ")?;
                self.fields(&vec![("interpolation", Value::token(interpolation))])
            }
            None => writeln!(self.out),
        }
    }

    fn put(&mut self, value: &Value) -> io::Result<()> {
        match value {
            Value::Blocked => write!(self.out, "None"),
            Value::Bool(value) => write!(self.out, "{value}"),
            Value::Token(text) => self.quote(text),
            Value::Text(text) => self.quote(text),
            Value::Double(value) => write!(self.out, "{value}"),
            Value::Double3(v) => write!(self.out, "({}, {}, {})", v.x, v.y, v.z),
            Value::Float3(v) => self.triple(*v),
            Value::Quat(q) => write!(self.out, "({}, {}, {}, {})", q.w, q.x, q.y, q.z),
            Value::Dictionary(entries) => {
                write!(self.out, "{{ ")?;
                for (name, text) in entries {
                    write!(self.out, "string {name} = ")?;
                    self.quote(text)?;
                    write!(self.out, "; ")?;
                }
                write!(self.out, "}}")
            }
            Value::Tokens(texts) => self.list(texts, |layer, text| layer.quote(text)),
            Value::Ints(values) => self.list(values, |layer, v| write!(layer.out, "{v}")),
            Value::Floats(values) => self.list(values, |layer, &v| layer.number(v)),
            Value::Vec2s(values) => self.list(values, |layer, v| {
                layer.out.write_all(b"(")?;
                layer.number(v.x)?;
                layer.out.write_all(b", ")?;
                layer.number(v.y)?;
                layer.out.write_all(b")")
            }),
            Value::Vec3s(values) => self.list(values, |layer, &v| layer.triple(v)),
        }
    }

    fn list<T>(&mut self, values: &[T], put: fn(&mut Self, &T) -> io::Result<()>) -> io::Result<()> {
        self.out.write_all(b"[")?;
        for (k, value) in values.iter().enumerate() {
            if k > 0 {
                self.out.write_all(b", ")?;
            }
            put(self, value)?;
        }
        self.out.write_all(b"]")
    }

    fn triple(&mut self, v: Vec3) -> io::Result<()> {
        self.out.write_all(b"(")?;
        self.number(v.x)?;
        self.out.write_all(b", ")?;
        self.number(v.y)?;
        self.out.write_all(b", ")?;
        self.number(v.z)?;
        self.out.write_all(b")")
    }

    fn number(&mut self, value: f32) -> io::Result<()> {
        // Very small and large numbers with an exponent, as Debug writes them: 1e-30 would have thirty zeros.
        let plain = value == 0.0 || (1e-4..1e9).contains(&value.abs());
        if plain { write!(self.out, "{value}") } else { write!(self.out, "{value:e}") }
    }

    fn quote(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(b"\"")?;
        for c in text.chars() {
            match c {
                '"' | '\\' => write!(self.out, "\\{c}")?,
                '\n' => self.out.write_all(b"\\n")?,
                c if c.is_ascii_control() => write!(self.out, "\\x{:02x}", c as u32)?,
                c => write!(self.out, "{c}")?,
            }
        }
        self.out.write_all(b"\"")
    }
}

impl<W: Write> Layer for Usda<W> {
    fn begin(&mut self, prim: Prim) -> io::Result<()> {
        self.indent()?;
        write!(self.out, "def {} \"{}\"", prim.schema, prim.name)?;
        if prim.fields.is_empty() {
            writeln!(self.out)?;
        } else {
            write!(self.out, " ")?;
            self.fields(&prim.fields)?;
        }
        self.indent()?;
        writeln!(self.out, "{{")?;
        self.depth += 1;
        Ok(())
    }

    fn value(&mut self, attribute: &Attribute, value: &Value) -> io::Result<()> {
        self.declare(attribute)?;
        write!(self.out, " = ")?;
        self.put(value)?;
        self.end_attribute(attribute)
    }

    fn samples(
        &mut self,
        attributes: &[Attribute],
        frames: RangeInclusive<u32>,
        source: &mut Source<'_>,
    ) -> Result<(), Failure> {
        for (k, attribute) in attributes.iter().enumerate() {
            // Metadata stands with a declaration of its own, apart from the samples.
            if attribute.interpolation.is_some() {
                self.declare(attribute)?;
                self.end_attribute(attribute)?;
            }
            self.declare(attribute)?;
            writeln!(self.out, ".timeSamples = {{")?;
            self.depth += 1;
            for frame in frames.clone() {
                if let Some(value) = source(frame, Some(k))?.into_iter().nth(k).flatten() {
                    self.indent()?;
                    write!(self.out, "{frame}: ")?;
                    self.put(&value)?;
                    writeln!(self.out, ",")?;
                }
            }
            self.depth -= 1;
            self.indent()?;
            writeln!(self.out, "}}")?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.depth -= 1;
        self.indent()?;
        writeln!(self.out, "}}")
    }

    fn finish(&mut self) -> io::Result<()> {
        while self.depth > 0 {
            self.end()?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &Value) -> String {
        let mut layer = Usda { out: Vec::new(), depth: 0 };
        layer.put(value).unwrap();
        String::from_utf8(layer.out).unwrap()
    }

    #[test]
    fn numbers_come_back_to_the_bit() {
        for value in [0.0, -0.0, 1.0, 0.1, -1.0 / 3.0, 1e-30, 123_456.79, f32::MAX, f32::MIN_POSITIVE, 1e-45]
        {
            let text = written(&Value::Floats(vec![value]));
            let read: f64 = text[1..text.len() - 1].parse().unwrap();
            assert_eq!((read as f32).to_bits(), value.to_bits(), "{text}");
            assert!(text.len() < 18, "{text}");
        }
    }

    #[test]
    fn quotes_and_lines_in_names_do_not_end_strings() {
        assert_eq!(written(&Value::Text("a\"b\\c\nd\u{7}é".into())), r#""a\"b\\c\nd\x07é""#);
    }
}
