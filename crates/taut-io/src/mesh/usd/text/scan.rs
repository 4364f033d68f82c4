//! Tokens of a text layer.

use super::super::super::{
    fault::{Fault, fault},
    text::shown,
};

/// A token; words and strings are slices of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A name, a type, a keyword or a number.
    Word(&'a [u8]),
    /// A string, without its quotes, escapes as they stand.
    Text(&'a [u8]),
    /// `@file@`
    Asset(&'a [u8]),
    /// `</path>`
    Path,
    /// A bracket or another sign.
    Mark(u8),
    End,
}

impl Token<'_> {
    /// As it can be shown in a message.
    pub fn shown(&self) -> String {
        match self {
            Self::Word(word) => shown(word),
            Self::Text(text) => format!("the string {}", shown(text)),
            Self::Asset(name) => format!("the file {}", shown(name)),
            Self::Path => "a path".into(),
            Self::Mark(mark) => shown(&[*mark]),
            Self::End => "the end of the file".into(),
        }
    }
}

/// Maximum depth of brackets in a value.
const MAX_BRACKETS: usize = 4096;

/// A place in a text file.
#[derive(Clone)]
pub(super) struct Scanner<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    /// From 1.
    pub line: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(bytes: &'a [u8], line: usize) -> Self {
        Self { bytes, at: 0, line }
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips white space and comments.
    pub fn skip_space(&mut self) {
        while let Some(byte) = self.byte() {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                b'#' => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.bytes.get(self.at + 1) == Some(&b'/') => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.bytes.get(self.at + 1) == Some(&b'*') => {
                    let rest = &self.bytes[self.at..];
                    let length = rest.windows(2).skip(2).position(|pair| pair == b"*/").map(|k| k + 4);
                    self.pass(length.unwrap_or(rest.len()));
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// Goes on by `length` bytes, and counts their lines.
    fn pass(&mut self, length: usize) -> &'a [u8] {
        let passed = &self.bytes[self.at..self.at + length];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.at += length;
        passed
    }

    /// The next token, which stays the next.
    pub fn peek(&self) -> Result<Token<'a>, Fault> {
        self.clone().next()
    }

    /// Takes the next token.
    pub fn next(&mut self) -> Result<Token<'a>, Fault> {
        self.skip_space();
        let Some(first) = self.byte() else { return Ok(Token::End) };
        match first {
            b'"' | b'\'' => self.text(first).map(Token::Text),
            b'@' => self.asset().map(Token::Asset),
            b'<' => {
                let rest = &self.bytes[self.at..];
                let end = rest.iter().position(|&byte| byte == b'>' || byte == b'\n');
                match end.filter(|&end| rest[end] == b'>') {
                    Some(end) => {
                        self.at += end + 1;
                        Ok(Token::Path)
                    }
                    None => Err(self.fault("a path has no end: > is missing")),
                }
            }
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'=' | b';' | b',' | b':' => {
                self.at += 1;
                Ok(Token::Mark(first))
            }
            _ => self.word(first).map(Token::Word),
        }
    }

    fn word(&mut self, first: u8) -> Result<&'a [u8], Fault> {
        // A number ends before a colon: in samples it is a time.
        let is_number = first.is_ascii_digit() || b"+-.".contains(&first);
        let is_part = |byte: u8| {
            byte.is_ascii_alphanumeric()
                || b"_.".contains(&byte)
                || byte >= 0x80
                || if is_number { b"+-".contains(&byte) } else { byte == b':' }
        };
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&byte| !is_part(byte)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.fault(format!("{} is not expected", shown(&rest[..1]))));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    fn text(&mut self, quote: u8) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.at..];
        let quotes = if rest.starts_with(&[quote; 3]) { 3 } else { 1 };
        let mut at = quotes;
        while at < rest.len() {
            if rest[at..].starts_with(&[quote; 3][..quotes]) {
                let text = &rest[quotes..at];
                self.pass(at + quotes);
                return Ok(text);
            }
            if rest[at] == b'\n' && quotes == 1 {
                break;
            }
            at += if rest[at] == b'\\' { 2 } else { 1 };
        }
        Err(self.fault("a string has no end: its quote is missing"))
    }

    fn asset(&mut self) -> Result<&'a [u8], Fault> {
        let rest = &self.bytes[self.at..];
        let signs = if rest.starts_with(b"@@@") { 3 } else { 1 };
        let end = rest[signs..].windows(signs).position(|sign| sign.iter().all(|&byte| byte == b'@'));
        match end {
            Some(end) => {
                self.pass(signs + end + signs);
                Ok(&rest[signs..signs + end])
            }
            None => Err(self.fault("the name of a file has no end: @ is missing")),
        }
    }

    /// Skips a bracket and all up to its counterpart. Numbers, which are nearly all of a file, are not looked
    /// at.
    pub fn skip_group(&mut self) -> Result<(), Fault> {
        let first = self.clone();
        let mut open = Vec::new();
        while let Some(byte) = self.byte() {
            match byte {
                b'(' | b'[' | b'{' => {
                    if open.len() == MAX_BRACKETS {
                        return Err(self.fault(format!("brackets are nested more than {MAX_BRACKETS} deep")));
                    }
                    open.push(if byte == b'(' { b')' } else { byte + 2 });
                }
                b')' | b']' | b'}' => {
                    // The end of something around it: this one has none.
                    if open.pop() != Some(byte) {
                        break;
                    }
                    if open.is_empty() {
                        self.at += 1;
                        return Ok(());
                    }
                }
                b'"' | b'\'' | b'@' | b'<' => {
                    self.next()?;
                    continue;
                }
                b'#' | b'/' => {
                    let before = self.at;
                    self.skip_space();
                    // A lone stroke is no comment.
                    self.at = self.at.max(before + 1);
                    continue;
                }
                b'\n' => self.line += 1,
                _ => {}
            }
            self.at += 1;
        }
        let bracket = shown(&first.bytes[first.at..first.at + 1]);
        Err(first.fault(format!("{bracket} has no end: its closing bracket is missing")))
    }

    /// A fault in this line.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        fault(message).at_line(self.line)
    }
}
