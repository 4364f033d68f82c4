//! Overrides of the command line: `--set cloth.sheet.strain.max=0.01`.
//!
//! They change the tree before it is checked, so that an override is checked like the file, and its errors
//! are reported together with the file's. The schema is followed to know where one alternative replaces
//! another: `mesh.disc.radius=1` replaces `mesh.grid`.

use super::{
    names,
    nearest::hint,
    report::Report,
    schema::{Kind, Part},
    tree::{Node, Origin, Value},
};

/// Maximum number of components of a key; no key of the schema is deeper.
const MAX_DEPTH: usize = 32;

/// Applies `overrides` in order, and adds their problems to `report`.
pub(crate) fn apply(scene: &mut Node, overrides: &[String], report: &mut Report<'_>) {
    for (index, text) in overrides.iter().enumerate() {
        let origin = Origin::Override(index);
        let Some((key, value)) = text.split_once('=') else {
            report.add_override(text, "must be KEY=VALUE, for example cloth.sheet.strain.max=0.01");
            continue;
        };
        let segments = segments(key);
        if segments.is_empty()
            || segments.len() > MAX_DEPTH
            || segments.iter().any(|segment| segment.is_empty())
        {
            report.add_override(text, "the key must be dotted, for example cloth.sheet.strain.max");
            continue;
        }
        let result = parse_value(value, origin)
            .and_then(|value| set(scene, Part::root(), &segments, value, &mut String::new(), origin));
        if let Err(message) = result {
            report.add_override(text, message);
        }
    }
}

/// The components of a key: `cloth[0].pin` and `cloth.0.pin` are the same.
fn segments(key: &str) -> Vec<String> {
    let key = key.trim().replace('[', ".").replace(']', "");
    key.split('.').map(|segment| segment.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

/// A TOML value; anything else is a string, so that shell users need not quote twice.
fn parse_value(text: &str, origin: Origin) -> Result<Node, String> {
    let text = text.trim();
    let parsed =
        if text.contains(['\n', '\r']) { None } else { Node::parse(&format!("value = {text}")).ok() };
    if let Some(Node { value: Value::Table(mut entries), .. }) = parsed
        && let Some(value) = entries.remove("value")
    {
        return Ok(value.written_by(origin));
    }
    if text.is_empty() {
        return Err("the value is missing".into());
    }
    if text.starts_with(['[', '{', '"', '\'']) || text.contains(['\n', '\r']) {
        let reason =
            Node::parse(&format!("value = {text}")).err().and_then(|errors| errors.into_iter().next());
        let reason = reason.map(|error| format!(": {}", error.message)).unwrap_or_default();
        return Err(format!("the value is not valid TOML{reason}"));
    }
    Ok(Node { origin, value: Value::Text(text.to_owned()) })
}

/// Sets the value at `segments`, from `node` with the schema `part`. `path` is the key so far, for messages.
fn set(
    node: &mut Node,
    part: Option<Part>,
    segments: &[String],
    value: Node,
    path: &mut String,
    origin: Origin,
) -> Result<(), String> {
    let Some((segment, rest)) = segments.split_first() else {
        *node = value;
        return Ok(());
    };
    if let Value::Array(items) = &mut node.value {
        let inner = part.and_then(as_array).and_then(Part::items);
        for index in chosen(items, segment, path)? {
            let mut path = format!("{path}[{index}]");
            set(&mut items[index], inner, rest, value.clone(), &mut path, origin)?;
        }
        return Ok(());
    }
    if !matches!(node.value, Value::Table(_)) {
        make_table(node, part, path, origin)?;
    }
    let Value::Table(entries) = &mut node.value else { return Ok(()) };
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(segment);
    let inner = part.and_then(|part| property(part, segment));
    if part.and_then(Part::tags).is_some_and(|tags| tags.contains(&segment.as_str())) {
        entries.retain(|key, _| key == segment);
    }
    if !entries.contains_key(segment) && !rest.is_empty() {
        if inner.is_some_and(|inner| as_table(inner).is_none() && as_array(inner).is_some()) {
            return Err(format!("the scene has no {path}"));
        }
        entries.insert(segment.clone(), Node::table(origin));
    }
    match entries.get_mut(segment) {
        Some(entry) => {
            // A table that is changed inside keeps its line; a replaced one has the override as its origin.
            set(entry, inner, rest, value, path, origin)
        }
        None => {
            entries.insert(segment.clone(), value);
            Ok(())
        }
    }
}

/// Turns a value into a table where the schema also allows a table. A material's name becomes its `base`.
fn make_table(node: &mut Node, part: Option<Part>, path: &str, origin: Origin) -> Result<(), String> {
    let Some(table) = part.and_then(as_table) else {
        return Err(format!("{path} is {} and has no keys", node.describe()));
    };
    let old = std::mem::replace(node, Node::table(origin));
    if let (Value::Table(entries), Value::Text(_), true) =
        (&mut node.value, &old.value, table.property("base").is_some())
    {
        entries.insert("base".into(), old);
    }
    Ok(())
}

/// The items that `segment` selects: `*` for all, a name, or an index from 0.
fn chosen(items: &[Node], segment: &str, path: &str) -> Result<Vec<usize>, String> {
    if segment == "*" {
        return if items.is_empty() {
            Err(format!("{path} is empty"))
        } else {
            Ok((0..items.len()).collect())
        };
    }
    // Only bodies have names, and only at the root of the scene.
    let names = if path.contains(['.', '[']) { Vec::new() } else { names::effective(path, items) };
    if let Some(index) = names.iter().position(|name| name == segment) {
        return Ok(vec![index]);
    }
    match segment.parse::<usize>() {
        Ok(index) if index < items.len() => Ok(vec![index]),
        Ok(_) => Err(format!("{path} has {} items, counted from 0; {segment} does not exist", items.len())),
        Err(_) if names.is_empty() => {
            Err(format!("{path} has {} items: select one by its index from 0, or all with *", items.len()))
        }
        Err(_) => {
            let hint = hint(segment, names.iter().map(String::as_str));
            Err(format!("no {path} is named {segment:?}{hint} known: {}", names.join(", ")))
        }
    }
}

/// The schema of `key` of a table, in any alternative.
fn property(part: Part, key: &str) -> Option<Part> {
    part.property(key).or_else(|| part.choices()?.into_iter().find_map(|choice| property(choice, key)))
}

/// The alternative that is a table.
fn as_table(part: Part) -> Option<Part> {
    of_kind(part, Kind::Table)
}

/// The alternative that is an array.
fn as_array(part: Part) -> Option<Part> {
    of_kind(part, Kind::Array)
}

fn of_kind(part: Part, kind: Kind) -> Option<Part> {
    if part.kind() == Some(kind) {
        return Some(part);
    }
    part.choices()?.into_iter().find(|choice| choice.kind() == Some(kind))
}
