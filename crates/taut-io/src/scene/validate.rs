//! Checks a scene against its schema, and finds all problems at once.
//!
//! It walks the tree along the schema that is generated from the types, so that a key, its range and its
//! message are written in one place. It supports what schemars generates for these types: tables with known
//! keys, arrays of one kind of item, numbers with a range, strings from a list, and alternatives
//! distinguished by a single key or by their kind.

use super::{
    nearest::hint,
    report::{Path, Report},
    schema::{Kind, Part},
    tree::{Node, Value, show},
};

/// Adds all violations of the schema `part` by `node` to `report`.
pub(crate) fn validate(node: &Node, part: Part, path: &Path<'_>, report: &mut Report<'_>) {
    if report.is_full() {
        return;
    }
    if let Some(words) = part.words() {
        return validate_word(node, &words, path, report);
    }
    if let Some(tags) = part.tags() {
        return validate_tagged(node, part, &tags, path, report);
    }
    if let Some(choices) = part.choices() {
        let fitting: Vec<Part> = choices.into_iter().filter(|choice| looks_like(node, *choice)).collect();
        return match fitting.first() {
            Some(choice) => validate(node, *choice, path, report),
            None => wrong_kind(node, part, path, report),
        };
    }
    match (part.kind(), &node.value) {
        (Some(Kind::Text), Value::Text(text)) => {
            if (text.len() as f64) < part.bound("minLength").unwrap_or(0.0) {
                report.add(node.origin, path, format!("is an empty string, must be {}", describe(part)));
            }
        }
        (Some(Kind::Boolean), Value::Boolean(_)) => {}
        (Some(Kind::Integer), Value::Integer(number)) => {
            validate_range(node, *number as f64, part, path, report)
        }
        (Some(Kind::Number), Value::Integer(number)) => {
            validate_range(node, *number as f64, part, path, report)
        }
        (Some(Kind::Number), Value::Float(number)) => validate_range(node, *number, part, path, report),
        (Some(Kind::Array), Value::Array(items)) => validate_array(node, items, part, path, report),
        (Some(Kind::Table), Value::Table(_)) => validate_table(node, part, path, report),
        _ => wrong_kind(node, part, path, report),
    }
}

fn wrong_kind(node: &Node, part: Part, path: &Path<'_>, report: &mut Report<'_>) {
    report.add(node.origin, path, format!("is {}, must be {}", node.describe(), describe(part)));
}

fn validate_word(node: &Node, words: &[&'static str], path: &Path<'_>, report: &mut Report<'_>) {
    let list = list(words.iter().map(|word| format!("\"{word}\"")));
    match node.text() {
        Some(text) if words.contains(&text) => {}
        Some(text) => {
            let hint = hint(text, words.iter().copied());
            report.add(node.origin, path, format!("{} is unknown{hint} must be {list}", node.describe()));
        }
        None => report.add(node.origin, path, format!("is {}, must be {list}", node.describe())),
    }
}

/// A table with exactly one of the keys `tags`.
fn validate_tagged(node: &Node, part: Part, tags: &[&'static str], path: &Path<'_>, report: &mut Report<'_>) {
    let Value::Table(entries) = &node.value else { return wrong_kind(node, part, path, report) };
    let choices = part.choices().unwrap_or_default();
    for (key, entry) in entries {
        match tags.iter().position(|tag| tag == key) {
            Some(index) => {
                if let Some(inner) = choices.get(index).and_then(|choice| choice.property(key)) {
                    validate(entry, inner, &Path::Key(path, key), report);
                }
            }
            None => unknown_key(entry, key, tags, path, report),
        }
    }
    let found: Vec<&str> = tags.iter().copied().filter(|tag| entries.contains_key(*tag)).collect();
    match found.len() {
        1 => {}
        // The unknown key is already reported.
        0 if !entries.is_empty() => {}
        0 => report.add(node.origin, path, format!("is empty, must have {}", list(tags.iter().copied()))),
        _ => {
            let found = found.join(" and ");
            report.add(node.origin, path, format!("has {found}, must have only one of {}", tags.join(", ")));
        }
    }
}

fn validate_range(node: &Node, number: f64, part: Part, path: &Path<'_>, report: &mut Report<'_>) {
    let inside = number.is_finite()
        && part.bound("minimum").is_none_or(|min| number >= min)
        && part.bound("maximum").is_none_or(|max| number <= max);
    if !inside {
        report.add(node.origin, path, format!("is {}, must be {}", node.describe(), describe(part)));
    }
}

fn validate_array(node: &Node, items: &[Node], part: Part, path: &Path<'_>, report: &mut Report<'_>) {
    let count = items.len() as f64;
    let (min, max) = (part.bound("minItems").unwrap_or(0.0), part.bound("maxItems").unwrap_or(f64::INFINITY));
    if count < min || count > max {
        report.add(node.origin, path, format!("is an array of {count}, must be {}", describe(part)));
    }
    if let Some(inner) = part.items() {
        for (index, item) in
            items.iter().enumerate().take(if count > max { max as usize } else { items.len() })
        {
            validate(item, inner, &path.item(index, item), report);
        }
    }
}

fn validate_table(node: &Node, part: Part, path: &Path<'_>, report: &mut Report<'_>) {
    let (Value::Table(entries), Some(properties)) = (&node.value, part.properties()) else { return };
    for (key, entry) in entries {
        match part.property(key) {
            Some(inner) => validate(entry, inner, &Path::Key(path, key), report),
            None => {
                let known: Vec<&str> = properties.keys().map(String::as_str).collect();
                unknown_key(entry, key, &known, path, report);
            }
        }
    }
    for key in part.required().filter(|key| !entries.contains_key(*key)) {
        let what = match part.property(key) {
            Some(inner) if is_list_of_tables(inner) => format!("at least one [[{key}]] is required"),
            Some(inner) => format!("must be {}", describe(inner)),
            None => "it is required".into(),
        };
        report.add(node.origin, &Path::Key(path, key), format!("is missing; {what}"));
    }
}

fn unknown_key(entry: &Node, key: &str, known: &[&str], path: &Path<'_>, report: &mut Report<'_>) {
    if report.is_full() {
        return;
    }
    let hint = hint(key, known.iter().copied());
    report.add(
        entry.origin,
        &Path::Key(path, key),
        format!("unknown key{hint} known here: {}", known.join(", ")),
    );
}

fn is_list_of_tables(part: Part) -> bool {
    part.kind() == Some(Kind::Array) && part.items().and_then(Part::kind) == Some(Kind::Table)
}

/// Whether `node` matches the kind of `part`, and for arrays the kind of its first item.
fn looks_like(node: &Node, part: Part) -> bool {
    match (part.kind(), &node.value) {
        (Some(Kind::Text), Value::Text(_)) | (Some(Kind::Boolean), Value::Boolean(_)) => true,
        (Some(Kind::Integer | Kind::Number), Value::Integer(_) | Value::Float(_)) => true,
        (Some(Kind::Table), Value::Table(_)) => true,
        (Some(Kind::Array), Value::Array(items)) => match (items.first(), part.items()) {
            (Some(first), Some(inner)) => looks_like(first, inner),
            _ => true,
        },
        _ => false,
    }
}

/// Description of the allowed values.
pub(crate) fn describe(part: Part) -> String {
    if let Some(words) = part.words() {
        return list(words.iter().map(|word| format!("\"{word}\"")));
    }
    if let Some(tags) = part.tags() {
        return format!("a table with one of {}", tags.join(", "));
    }
    if let Some(choices) = part.choices() {
        return list(choices.into_iter().map(describe));
    }
    let range = match (part.bound("minimum"), part.bound("maximum")) {
        (Some(min), Some(max)) => format!(" from {} to {}", show(min), show(max)),
        _ => String::new(),
    };
    match part.kind() {
        Some(Kind::Text) => "a string".into(),
        Some(Kind::Integer) => format!("an integer{range}"),
        Some(Kind::Number) => format!("a number{range}"),
        Some(Kind::Boolean) => "true or false".into(),
        Some(Kind::Array) => {
            let item = part.items().map_or_else(|| "values".into(), |item| plural(&describe(item)));
            match (part.bound("minItems"), part.bound("maxItems")) {
                (Some(min), Some(max)) if min == max => format!("an array of {min} {item}"),
                (Some(min), Some(max)) => format!("an array of {min} to {max} {item}"),
                (Some(min), None) => format!("an array of at least {min} {item}"),
                (None, Some(max)) => format!("an array of at most {max} {item}"),
                (None, None) => format!("an array of {item}"),
            }
        }
        Some(Kind::Table) => match part.properties() {
            Some(keys) => format!("a table with {}", keys.keys().cloned().collect::<Vec<_>>().join(", ")),
            None => "a table".into(),
        },
        None => "another value".into(),
    }
}

/// `a number from 0 to 1` as `numbers from 0 to 1`.
fn plural(one: &str) -> String {
    let rest = one.strip_prefix("a ").or_else(|| one.strip_prefix("an ")).unwrap_or(one);
    for noun in ["integer", "number", "string", "table", "array"] {
        if let Some(tail) = rest.strip_prefix(noun) {
            return format!("{noun}s{tail}");
        }
    }
    rest.into()
}

/// `a`, `a or b`, `a, b or c`.
fn list(words: impl IntoIterator<Item = impl Into<String>>) -> String {
    let words: Vec<String> = words.into_iter().map(Into::into).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
