//! Words, lines and numbers of text formats.

use super::fault::{Fault, fault};

/// The words of a line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// Lines with their numbers from 1. Ends are LF or CR LF, or CR alone in a file without LF.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let end = if bytes.contains(&b'\n') { b'\n' } else { b'\r' };
    bytes.split(move |&b| b == end).enumerate().map(|(i, line)| (i + 1, line))
}

/// Removes the byte order mark that some editors put first.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// A word as it can be shown in a message: readable, and not too long.
pub(super) fn shown(word: &[u8]) -> String {
    const LONGEST: usize = 40;
    let cut = String::from_utf8_lossy(&word[..word.len().min(LONGEST)]).into_owned();
    format!("{cut:?}{}", if word.len() > LONGEST { " …" } else { "" })
}

/// A finite number.
pub(super) fn finite(word: &[u8]) -> Result<f32, Fault> {
    let number: Option<f32> = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
    match number {
        Some(number) if number.is_finite() => Ok(number),
        Some(_) => Err(fault(format!("{}: must be a finite number below 3.4e38", shown(word)))),
        None => Err(fault(format!("{}: must be a number", shown(word)))),
    }
}

/// A name: what follows the keyword, without space around it. Bytes that are not UTF-8 are replaced.
pub(super) fn name(rest: &[u8]) -> String {
    String::from_utf8_lossy(rest.trim_ascii()).into_owned()
}
