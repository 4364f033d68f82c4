//! Values of a text layer: numbers, strings, and arrays and tuples of them.

use super::{
    super::{super::fault::Fault, layer::Value},
    scan::{Scanner, Token},
};

/// Parses the bytes of a value, which begin in `line`.
pub(in crate::mesh::usd) fn value(bytes: &[u8], line: usize) -> Result<Value, Fault> {
    if bytes.first() == Some(&b'{') {
        return Ok(Value::Other);
    }
    let mut scan = Scanner::new(bytes, line);
    let (mut numbers, mut words) = (Vec::new(), Vec::new());
    loop {
        scan.skip_space();
        let start_line = scan.line;
        match scan.next()? {
            Token::End => break,
            Token::Mark(_) | Token::Path => {}
            Token::Text(text) => words.push(unescaped(text)),
            Token::Asset(name) => words.push(String::from_utf8_lossy(name).into_owned()),
            Token::Word(b"None") => return Ok(Value::Blocked),
            Token::Word(b"true" | b"True") => numbers.push(1.0),
            Token::Word(b"false" | b"False") => numbers.push(0.0),
            Token::Word(word) => match std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()) {
                Some(number) => numbers.push(number),
                None => {
                    let shown = Token::Word(word).shown();
                    return Err(scan.fault(format!("{shown}: must be a number")).at_line(start_line));
                }
            },
        }
    }
    match (numbers.is_empty(), words.is_empty()) {
        (_, true) => Ok(Value::Numbers(numbers)),
        (true, false) => Ok(Value::Words(words)),
        (false, false) => Err(scan.fault("has strings and numbers in one value").at_line(line)),
    }
}

/// A string with its escapes resolved; those that names do not need stay as they are.
fn unescaped(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if !text.contains('\\') {
        return text.into_owned();
    }
    let mut whole = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => whole.extend(characters.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            other => whole.push(other),
        }
    }
    whole
}
