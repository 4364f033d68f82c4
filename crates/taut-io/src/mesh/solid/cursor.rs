//! Reads words and lines of a text in sequence, with line numbers.

use glam::Vec3;

use super::super::{
    fault::{Fault, fault},
    text,
};

/// A place in a file.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// From 1.
    pub line: usize,
    /// Starts a comment that ends with its line.
    comment: Option<u8>,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], comment: Option<u8>) -> Self {
        Self { bytes: text::without_mark(bytes), at: 0, line: 1, comment }
    }

    /// The next word.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if byte.is_ascii_whitespace() {
                self.line += usize::from(byte == b'\n');
                self.at += 1;
            } else if Some(byte) == self.comment {
                while self.bytes.get(self.at).is_some_and(|&b| b != b'\n') {
                    self.at += 1;
                }
            } else {
                break;
            }
        }
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|b| b.is_ascii_whitespace() || Some(*b) == self.comment);
        let end = end.unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }

    /// What is left of this line.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n');
        self.at += end.map_or(rest.len(), |end| end + 1);
        self.line += usize::from(end.is_some());
        rest[..end.unwrap_or(rest.len())].trim_ascii()
    }

    /// Whether the remaining text starts with `word`.
    pub fn starts_with(&self, word: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(word)
    }

    /// Goes on behind the next `mark`; whether there is one.
    pub fn skip_past(&mut self, mark: &[u8]) -> bool {
        let rest = &self.bytes[self.at..];
        let found = rest.windows(mark.len().max(1)).position(|window| window == mark);
        let end = found.map_or(rest.len(), |start| start + mark.len());
        self.line += rest[..end].iter().filter(|&&b| b == b'\n').count();
        self.at += end;
        found.is_some()
    }

    /// The next bytes as they are.
    pub fn take(&mut self, count: u64, what: &str) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = usize::try_from(count).ok().and_then(|count| rest.get(..count)) else {
            let message =
                format!("the file ends within {what}: {count} bytes are needed, {} are left", rest.len());
            return Err(fault(message).at_line(self.line));
        };
        self.at += taken.len();
        Ok(taken)
    }

    /// The next word, which must be there.
    pub fn need(&mut self, what: &str) -> Result<&'a [u8], Fault> {
        let line = self.line;
        self.word().ok_or_else(|| fault(format!("the file ends here: expected {what}")).at_line(line))
    }

    /// A whole number that is not negative.
    pub fn whole(&mut self, what: &str) -> Result<u64, Fault> {
        let word = self.need(what)?;
        whole(word).ok_or_else(|| {
            fault(format!("{}: {what} must be an integer", text::shown(word))).at_line(self.line)
        })
    }

    /// How many of something follow. Each takes at least two bytes, so that no more are believed than the
    /// file has room for.
    pub fn count(&mut self, what: &str) -> Result<u64, Fault> {
        let count = self.whole(what)?;
        let room = (self.bytes.len() - self.at) as u64;
        if count > room {
            let message = format!("{what} is {count}, and {room} bytes are left of the file");
            return Err(fault(message).at_line(self.line));
        }
        Ok(count)
    }

    /// Three coordinates.
    pub fn position(&mut self) -> Result<Vec3, Fault> {
        let mut x = [0.0; 3];
        for slot in &mut x {
            let word = self.need("a coordinate")?;
            *slot = text::finite(word).map_err(|f| f.at_line(self.line))?;
        }
        Ok(x.into())
    }

    /// Something wrong in this line.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        fault(message).at_line(self.line)
    }
}

/// A whole number that is not negative.
pub(super) fn whole(word: &[u8]) -> Option<u64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}
