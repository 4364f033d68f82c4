//! Text layers (`.usda`).
//!
//! One pass over the file finds prims, attributes and the places of their values; values are skipped, and
//! parsed when they are wanted ([`value`]). Prims nest by a stack, so that no depth can exhaust memory of
//! calls.

mod scan;
mod value;

use super::{
    super::fault::Fault,
    layer::{Encoding, Layer, Prim, Specifier, Stored, is_kept},
};
use scan::{Scanner, Token};

pub(super) use value::value;

/// Maximum depth of prims.
const MAX_DEPTH: usize = 4096;

/// Reads the prims of a text layer.
pub(super) fn parse(bytes: &[u8]) -> Result<Layer<'_>, Fault> {
    let mut reader =
        Reader { scan: Scanner::new(bytes, 1), layer: Layer::new(Encoding::Text(bytes)), open: Vec::new() };
    // The first line is a comment to the scanner: it was looked at before.
    if reader.scan.peek()? == Token::Mark(b'(') {
        reader.scan.next()?;
        reader.metadata(|layer, name, value| {
            layer.set_metadata(name, value);
            Ok(())
        })?;
    }
    while reader.statement()? {}
    Ok(reader.layer)
}

struct Reader<'a> {
    scan: Scanner<'a>,
    layer: Layer<'a>,
    /// Indices of the prims that are open.
    open: Vec<usize>,
}

impl<'a> Reader<'a> {
    /// One statement; false at the end of the file.
    fn statement(&mut self) -> Result<bool, Fault> {
        self.scan.skip_space();
        let start = self.scan.clone();
        let prim = self.open.last().copied();
        match (self.scan.next()?, prim) {
            (Token::End, None) => return Ok(false),
            (Token::End, Some(prim)) => {
                let found = start.fault("the file ends within this prim: } is missing");
                return Err(found.at(format!("prim {}", self.layer.path(prim))));
            }
            (Token::Mark(b';'), _) => {}
            (Token::Mark(b'}'), Some(_)) => {
                self.open.pop();
            }
            (Token::Word(word @ (b"def" | b"over" | b"class")), _) => self.prim(word, start.line)?,
            (Token::Word(b"reorder"), None) => self.skip_assignment()?,
            (Token::Word(b"variantSet"), Some(prim)) => {
                self.scan.next()?;
                self.expect(b'=')?;
                self.scan.skip_space();
                self.stored()?;
                self.layer.prims[prim].refers = Some("variants");
            }
            (Token::Word(word), Some(prim)) => self.property(word, prim, start.line)?,
            (token, _) => {
                let expected =
                    if prim.is_some() { "a prim, an attribute or }" } else { "def, over or class" };
                return Err(start.fault(format!("{} is not expected: must be {expected}", token.shown())));
            }
        }
        Ok(true)
    }

    fn expect(&mut self, mark: u8) -> Result<(), Fault> {
        self.scan.skip_space();
        let start = self.scan.clone();
        match self.scan.next()? {
            Token::Mark(found) if found == mark => Ok(()),
            other => {
                Err(start.fault(format!("{} is not expected: must be {:?}", other.shown(), char::from(mark))))
            }
        }
    }

    /// A name, `=`, and a value of no use.
    fn skip_assignment(&mut self) -> Result<(), Fault> {
        self.scan.next()?;
        self.expect(b'=')?;
        self.stored().map(|_| ())
    }

    /// Reads what follows `def`, up to the opening brace.
    fn prim(&mut self, word: &[u8], line: usize) -> Result<(), Fault> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.scan.fault(format!("prims are nested more than {MAX_DEPTH} deep")));
        }
        let mut schema = String::new();
        let mut token = self.scan.next()?;
        if let Token::Word(word) = token {
            schema = String::from_utf8_lossy(word).into_owned();
            token = self.scan.next()?;
        }
        let Token::Text(name) = token else {
            let message = format!("{} is not expected: must be the name of a prim, in quotes", token.shown());
            return Err(self.scan.fault(message));
        };
        let specifier = match word {
            b"over" => Specifier::Over,
            b"class" => Specifier::Class,
            _ => Specifier::Def,
        };
        let index = self.layer.add(Prim {
            name: String::from_utf8_lossy(name).into_owned(),
            parent: self.open.last().copied(),
            line: Some(line),
            specifier,
            schema,
            ..Prim::default()
        })?;
        if self.scan.peek()? == Token::Mark(b'(') {
            self.scan.next()?;
            self.metadata(|layer, name, value| layer.set_prim_metadata(index, name, value))?;
        }
        self.expect(b'{')?;
        self.open.push(index);
        Ok(())
    }

    /// Reads fields up to the closing parenthesis.
    fn metadata(
        &mut self,
        mut keep: impl FnMut(&mut Layer<'a>, &str, Stored) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        loop {
            self.scan.skip_space();
            let start = self.scan.clone();
            match self.scan.next()? {
                Token::Mark(b')') => return Ok(()),
                Token::Mark(b';' | b',') | Token::Text(_) => {}
                Token::Word(b"prepend" | b"append" | b"add" | b"reorder") => {}
                // What is deleted was said in another layer.
                Token::Word(b"delete") => self.skip_assignment()?,
                Token::Word(name) => {
                    self.expect(b'=')?;
                    let value = self.stored()?;
                    if let Ok(name) = std::str::from_utf8(name) {
                        keep(&mut self.layer, name, value)?;
                    }
                }
                token => {
                    let message =
                        format!("{} is not expected: must be the name of a field, or )", token.shown());
                    return Err(start.fault(message));
                }
            }
        }
    }

    /// Passes over a value, and returns its place.
    fn stored(&mut self) -> Result<Stored, Fault> {
        self.scan.skip_space();
        let (start, line) = (self.scan.at, self.scan.line);
        if matches!(self.scan.bytes.get(start), Some(b'[' | b'(' | b'{')) {
            self.scan.skip_group()?;
            return Ok(Stored::Text { start, end: self.scan.at, line });
        }
        let first = self.scan.next()?;
        if matches!(first, Token::Mark(_) | Token::End) {
            let message = format!("{} is not expected: must be a value", first.shown());
            return Err(self.scan.fault(message).at_line(line));
        }
        let end = self.scan.at;
        // A file or a path may be followed by a path in the file, and by an offset in time.
        if matches!(first, Token::Asset(_) | Token::Path) {
            if self.scan.peek()? == Token::Path {
                self.scan.next()?;
            }
            if self.scan.peek()? == Token::Mark(b'(') {
                self.scan.skip_space();
                self.scan.skip_group()?;
            }
        }
        Ok(Stored::Text { start, end, line })
    }

    /// Reads an attribute or a relationship, whose first word is given.
    fn property(&mut self, first: &'a [u8], prim: usize, line: usize) -> Result<(), Fault> {
        let mut word = first;
        loop {
            match word {
                b"custom" | b"uniform" | b"varying" | b"config" | b"prepend" | b"append" | b"add" => {}
                b"delete" | b"reorder" => {}
                _ => break,
            }
            word = self.name()?;
        }
        // `reorder properties = […]` and its like have no type.
        if self.scan.peek()? == Token::Mark(b'=') {
            self.expect(b'=')?;
            return self.stored().map(|_| ());
        }
        let mut kind = String::from_utf8_lossy(word).into_owned();
        if self.scan.peek()? == Token::Mark(b'[') {
            self.scan.next()?;
            self.expect(b']')?;
            kind.push_str("[]");
        }
        let full = String::from_utf8_lossy(self.name()?).into_owned();
        let (name, part) = full.split_once('.').unwrap_or((&full, ""));
        let keep = kind != "rel" && is_kept(name, &kind);
        if keep {
            let attribute = self.layer.attribute(prim, name).map_err(|found| found.at_line(line))?;
            attribute.kind = kind;
            attribute.line = Some(line);
        }
        if self.scan.peek()? == Token::Mark(b'=') {
            self.expect(b'=')?;
            match part {
                "timeSamples" if keep => self.samples(prim, name)?,
                "" | "default" if keep => {
                    let value = self.stored()?;
                    self.layer.attribute(prim, name)?.default = Some(value);
                }
                _ => {
                    self.stored()?;
                }
            }
        }
        if self.scan.peek()? == Token::Mark(b'(') {
            self.scan.next()?;
            let mut interpolation = None;
            self.metadata(|layer, field, value| {
                if field == "interpolation" && keep {
                    interpolation = Some(layer.value(value)?);
                }
                Ok(())
            })?;
            if let Some(super::layer::Value::Words(words)) = interpolation {
                self.layer.attribute(prim, name)?.interpolation = words.into_iter().next();
            }
        }
        Ok(())
    }

    fn name(&mut self) -> Result<&'a [u8], Fault> {
        self.scan.skip_space();
        let start = self.scan.clone();
        match self.scan.next()? {
            Token::Word(word) => Ok(word),
            token => Err(start.fault(format!("{} is not expected: must be a name", token.shown()))),
        }
    }

    /// `{ time: value, … }`
    fn samples(&mut self, prim: usize, name: &str) -> Result<(), Fault> {
        self.expect(b'{')?;
        let mut samples: Vec<(f64, Stored)> = Vec::new();
        loop {
            self.scan.skip_space();
            let start = self.scan.clone();
            match self.scan.next()? {
                Token::Mark(b'}') => break,
                Token::Mark(b',') => {}
                Token::Word(word) => {
                    let time: Option<f64> = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
                    let Some(time) = time.filter(|time| time.is_finite()) else {
                        let shown = Token::Word(word).shown();
                        return Err(start.fault(format!("{shown} is not a time: must be a finite number")));
                    };
                    self.expect(b':')?;
                    self.layer.count_samples(1).map_err(|found| found.at_line(start.line))?;
                    let value = self.stored()?;
                    samples.push((time, value));
                }
                token => {
                    return Err(
                        start.fault(format!("{} is not expected: must be a time, or }}", token.shown()))
                    );
                }
            }
        }
        // In any order in the file; the last of equal times counts.
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        samples.reverse();
        samples.dedup_by(|a, b| a.0 == b.0);
        samples.reverse();
        self.layer.attribute(prim, name)?.samples = samples;
        Ok(())
    }
}
