//! The scene file as a tree of values with their origins.
//!
//! Checks and overrides work on this tree rather than on the typed scene, for two reasons: a tree can hold an
//! invalid value, so that all problems of a file are found at once, and every value keeps its line for
//! messages.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value as Json;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Maximum nesting: no key of a scene is deeper than ten. The parser limits brackets and dots separately, but
/// not their combination, and recursion over the tree must not overflow the stack.
const MAX_DEPTH: usize = 80;

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file as a whole.
    File,
    /// A line of the file, from 1.
    Line(usize),
    /// An override of the command line, by its index.
    Override(usize),
}

/// A value and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub origin: Origin,
    pub value: Value,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date(String),
    Array(Vec<Node>),
    Table(BTreeMap<String, Node>),
}

/// A TOML syntax error: line, column (both from 1) and the parser's message.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxError {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl Node {
    /// Parses TOML. Returns all syntax errors at once, at most one per line: further errors on a line are
    /// mostly consequences.
    pub fn parse(text: &str) -> Result<Node, Vec<SyntaxError>> {
        let lines = Lines::new(text);
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return match entries(table.get_ref(), &lines, MAX_DEPTH) {
                Ok(entries) => Ok(Node { origin: Origin::File, value: Value::Table(entries) }),
                Err(TooDeep(offset)) => {
                    let (line, column) = lines.place(text, offset);
                    let message = format!("tables and arrays are nested more than {MAX_DEPTH} deep");
                    Err(vec![SyntaxError { line, column, message }])
                }
            };
        }
        let mut found: Vec<SyntaxError> = errors
            .iter()
            .map(|error| {
                let (line, column) = lines.place(text, error.span().map_or(0, |span| span.start));
                SyntaxError { line, column, message: error.message().trim().replace('\n', ", ") }
            })
            .collect();
        found.sort_by_key(|error| (error.line, error.column));
        found.dedup_by_key(|error| error.line);
        Err(found)
    }

    /// An empty table.
    pub fn table(origin: Origin) -> Node {
        Node { origin, value: Value::Table(BTreeMap::new()) }
    }

    /// The entry `key` of a table.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.get(key),
            _ => None,
        }
    }

    /// The items of an array; none for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Array(items) => items,
            _ => &[],
        }
    }

    /// The entry `key` of a table, if it is an array: its items.
    pub fn items_of(&self, key: &str) -> &[Node] {
        self.get(key).map_or(&[], Node::items)
    }

    /// A string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A finite number, integer or float.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Integer(number) => Some(number as f64),
            Value::Float(number) if number.is_finite() => Some(number),
            _ => None,
        }
    }

    /// An array of three finite numbers.
    pub fn vector(&self) -> Option<[f64; 3]> {
        match self.items() {
            [x, y, z] => Some([x.number()?, y.number()?, z.number()?]),
            _ => None,
        }
    }

    /// Description of the value for messages, with the value itself if it is short.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
            Value::Text(_) => "a string".into(),
            Value::Integer(number) => format!("{number}"),
            Value::Float(number) => show(*number),
            Value::Boolean(value) => format!("{value}"),
            Value::Date(date) => format!("the date {date}"),
            Value::Array(items) => format!("an array of {}", items.len()),
            Value::Table(_) => "a table".into(),
        }
    }

    /// The same value as JSON, for serde; numbers that JSON cannot represent become null.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Text(text) | Value::Date(text) => Json::String(text.clone()),
            Value::Integer(number) => Json::from(*number),
            Value::Float(number) => serde_json::Number::from_f64(*number).map_or(Json::Null, Json::Number),
            Value::Boolean(value) => Json::Bool(*value),
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Table(entries) => {
                Json::Object(entries.iter().map(|(key, node)| (key.clone(), node.to_json())).collect())
            }
        }
    }

    /// Sets the origin of the value and all its descendants.
    pub fn written_by(mut self, origin: Origin) -> Node {
        self.set_origin(origin);
        self
    }

    fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
        match &mut self.value {
            Value::Array(items) => items.iter_mut().for_each(|item| item.set_origin(origin)),
            Value::Table(entries) => entries.values_mut().for_each(|entry| entry.set_origin(origin)),
            _ => {}
        }
    }
}

/// The shortest decimal of a number, in scientific notation if it would have many zeros.
pub(crate) fn show(number: f64) -> String {
    let size = number.abs();
    if number != 0.0 && number.is_finite() && !(1e-4..1e9).contains(&size) {
        format!("{number:e}")
    } else {
        format!("{number}").to_lowercase()
    }
}

/// The byte offset of a value nested deeper than [`MAX_DEPTH`].
struct TooDeep(usize);

fn entries(table: &DeTable<'_>, lines: &Lines, depth: usize) -> Result<BTreeMap<String, Node>, TooDeep> {
    let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let start = key.span().start;
        let value = convert(value.get_ref(), start, lines, depth)?;
        Ok((key.get_ref().to_string(), Node { origin: Origin::Line(lines.line(start)), value }))
    };
    table.iter().map(entry).collect()
}

/// A value that starts at the byte `start`, with `depth` levels left.
fn convert(value: &DeValue<'_>, start: usize, lines: &Lines, depth: usize) -> Result<Value, TooDeep> {
    let depth = depth.checked_sub(1).ok_or(TooDeep(start))?;
    Ok(match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        // An integer too large for 64 bits is beyond every range, and is reported as such.
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).map_or_else(
            |_| Value::Float(if number.as_str().starts_with('-') { -1e300 } else { 1e300 }),
            Value::Integer,
        ),
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => {
            let item = |item: &Spanned<DeValue<'_>>| {
                let start = item.span().start;
                let value = convert(item.get_ref(), start, lines, depth)?;
                Ok(Node { origin: Origin::Line(lines.line(start)), value })
            };
            Value::Array(items.iter().map(item).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Table(entries(table, lines, depth)?),
    })
}

/// Byte offsets of line starts, to map byte offsets to line numbers.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// The line of a byte offset, from 1.
    fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset).max(1)
    }

    /// Line and column of a byte offset, from 1.
    fn place(&self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let before = text.as_bytes().get(self.0[line - 1]..offset).unwrap_or_default();
        // UTF-8 continuation bytes do not start a column.
        (line, 1 + before.iter().filter(|byte| **byte & 0xC0 != 0x80).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let text = "[scene]\nframes = 3\n\n[[cloth]]\nname = \"a\"\npin = [\n  { select = \"all\" },\n]\n[[cloth]]\nstrain.max = 1\n";
        let tree = Node::parse(text).unwrap();
        assert_eq!(tree.get("scene").unwrap().get("frames").unwrap().origin, Origin::Line(2));
        let cloths = tree.items_of("cloth");
        assert_eq!((cloths[0].origin, cloths[1].origin), (Origin::Line(4), Origin::Line(9)));
        assert_eq!(cloths[0].items_of("pin")[0].origin, Origin::Line(7));
        assert_eq!(cloths[1].get("strain").unwrap().get("max").unwrap().origin, Origin::Line(10));
    }

    #[test]
    fn syntax_errors_have_line_and_column() {
        let errors = Node::parse("[scene]\nframes = \n").unwrap_err();
        assert_eq!(errors[0].line, 2);
        assert!(errors[0].column >= 9, "{errors:?}");
    }

    #[test]
    fn integers_beyond_64_bits_are_kept_as_large_numbers() {
        let tree = Node::parse("a = 99999999999999999999\nb = -99999999999999999999").unwrap();
        assert!(tree.get("a").unwrap().number().unwrap() > 1e200);
        assert!(tree.get("b").unwrap().number().unwrap() < -1e200);
    }
}
