//! The reference of the scene file, from its JSON Schema, which is generated from the types that read it.
//!
//! Every definition of the schema is a section on one of the pages: its description, its uses, its keys with
//! type, unit, default and range, and an example that a test loads as a scene. A definition without a page,
//! or a page for one that does not exist, is an error, so that the reference always matches the types.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value as Json};

use crate::examples;

/// What stands between a key and the kind of value that it may have, where there are several.
const AS: &str = " as a ";

/// Name under which the whole file goes, beside the definitions of the schema.
pub const WHOLE_FILE: &str = "Scene";

/// The reference: the schema, and where each of its definitions is described.
pub struct Reference {
    schema: Json,
    /// Page of each definition.
    places: BTreeMap<String, PathBuf>,
    /// Keys under which each definition is used, as `cloth.mesh.grid`, the shortest first.
    uses: BTreeMap<String, Vec<String>>,
}

impl Reference {
    /// The reference of `schema`, with the page of each definition, relative to the book's source.
    ///
    /// # Errors
    /// If a definition has no page, or a page is for none.
    pub fn new(schema: Json, places: BTreeMap<String, PathBuf>) -> Result<Self, String> {
        let uses = uses(&schema);
        let missing: Vec<&str> =
            uses.keys().map(String::as_str).filter(|name| !places.contains_key(*name)).collect();
        if !missing.is_empty() {
            return Err(format!("no page describes these parts of the scene file: {}", missing.join(", ")));
        }
        if let Some((name, page)) = places.iter().find(|(name, _)| !uses.contains_key(*name)) {
            return Err(format!("{}: the scene file has no part {name}", page.display()));
        }
        Ok(Self { schema, places, uses })
    }

    /// The section on the definition `name`, for a page at `page`.
    ///
    /// # Errors
    /// If there is no such definition, or no example for it.
    pub fn section(&self, name: &str, page: &Path) -> Result<String, String> {
        let part = self.part(name).ok_or_else(|| format!("the scene file has no part {name}"))?;
        let uses = &self.uses[name];
        let mut text = String::new();
        if let Some(first) = uses.first().filter(|first| !first.is_empty()) {
            let (path, kind) = first.split_once(AS).unwrap_or((first, ""));
            let kind = if kind.is_empty() { String::new() } else { format!("{AS}{kind}") };
            text += &format!("## `{path}`{kind} {{#{}}}\n\n", name.to_lowercase());
        }
        if let Some(description) = description(part) {
            text += &format!("{description}\n\n");
        }
        if uses.len() > 1 {
            let path =
                |path: &String| format!("`{}`", path.split_once(AS).map_or(path.as_str(), |(path, _)| path));
            let others: Vec<String> = uses[1..].iter().map(path).collect();
            text += &format!("Also: {}.\n\n", others.join(", "));
        }
        text += &self.body(part, page);
        let example = examples::of(name).ok_or_else(|| format!("{name} has no example"))?;
        if !example.is_empty() {
            text += &format!("\n```toml\n{example}```\n\n");
        }
        Ok(text)
    }

    /// Names of all definitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.uses.keys().map(String::as_str)
    }

    fn part(&self, name: &str) -> Option<&Map<String, Json>> {
        if name == WHOLE_FILE { self.schema.as_object() } else { self.schema["$defs"][name].as_object() }
    }

    /// Keys of a table, or the alternatives of what is none.
    fn body(&self, part: &Map<String, Json>, page: &Path) -> String {
        if let Some(keys) = part.get("properties").and_then(Json::as_object) {
            return self.keys(part, keys, page);
        }
        if let Some(choices) = choices(part) {
            return self.choices(choices, page);
        }
        format!("One of {}.\n", allowed(part))
    }

    fn keys(&self, part: &Map<String, Json>, keys: &Map<String, Json>, page: &Path) -> String {
        let mut rows = vec![["key", "type", "default", "allowed", ""].map(String::from)];
        for (key, value) in keys {
            let Some(value) = value.as_object() else { continue };
            let text = description(value).unwrap_or_default();
            let unit = unit(&text).map(|unit| format!(" [{unit}]")).unwrap_or_default();
            let must = required(part).any(|name| name == key);
            let default = match value.get("default") {
                _ if must => "required".into(),
                Some(Json::Object(table)) if !table.is_empty() => "its own".into(),
                Some(Json::Object(_)) | None => "–".into(),
                Some(value) => format!("`{}`", toml(value)),
            };
            let kind = format!("{}{unit}", self.kind(value, page));
            let words = reference(value).and_then(|name| words(self.part(name)?));
            let allowed = words.map_or_else(|| allowed(value), |words| list(&words));
            rows.push([format!("`{key}`"), kind, default, allowed, text]);
        }
        table(&rows)
    }

    fn choices(&self, choices: &[Json], page: &Path) -> String {
        let mut rows = vec![["one of", "type", ""].map(String::from)];
        for choice in choices.iter().filter_map(Json::as_object) {
            let text = description(choice).unwrap_or_default();
            let tagged =
                choice.get("properties").and_then(Json::as_object).and_then(|keys| keys.iter().next());
            rows.push(match (choice.get("const"), tagged) {
                (Some(word), _) => [format!("`{}`", toml(word)), "word".into(), text],
                (None, Some((key, value))) => {
                    let kind = value.as_object().map(|value| self.kind(value, page)).unwrap_or_default();
                    [format!("`{{ {key} = … }}`"), kind, text]
                }
                (None, None) => {
                    let kind = self.kind(choice, page);
                    let allowed = allowed(choice);
                    [
                        String::new(),
                        format!("{kind}{}{allowed}", if allowed.is_empty() { "" } else { ", " }),
                        text,
                    ]
                }
            });
        }
        table(&rows)
    }

    /// What kind of value stands here, with a link where that is described.
    fn kind(&self, part: &Map<String, Json>, page: &Path) -> String {
        if let Some(name) = reference(part) {
            let place = self.places.get(name).map_or(page, PathBuf::as_path);
            let there = if place == page { String::new() } else { relative(page, place) };
            return format!("[{}]({there}#{})", self.part(name).map_or("value", noun), name.to_lowercase());
        }
        let items = || part.get("items").and_then(Json::as_object);
        match part.get("type").and_then(Json::as_str) {
            Some("array") => {
                let one = items().map(|items| self.kind(items, page)).unwrap_or_default();
                match (count(part, "minItems"), count(part, "maxItems")) {
                    (Some(least), Some(most)) if least == most => format!("{least} {one}s"),
                    _ => format!("list of {one}"),
                }
            }
            Some("string") => "string".into(),
            Some("integer") => "integer".into(),
            Some("boolean") => "true or false".into(),
            Some("object") => "table".into(),
            Some(other) => other.into(),
            None => "value".into(),
        }
    }
}

/// Every definition, with the keys under which it is used; found breadth first, so that short ones come
/// first.
fn uses(schema: &Json) -> BTreeMap<String, Vec<String>> {
    let mut uses: BTreeMap<String, Vec<String>> = BTreeMap::from([(WHOLE_FILE.into(), vec![String::new()])]);
    let mut open = VecDeque::from([(schema, String::new())]);
    while let Some((part, path)) = open.pop_front() {
        if let Some(name) = part.as_object().and_then(reference) {
            let seen = uses.entry(name.to_owned()).or_default();
            // Tables do not contain themselves; the cap keeps a schema that says so from going on for ever.
            if !seen.contains(&path) && seen.len() < 32 {
                seen.push(path.clone());
                open.push_back((&schema["$defs"][name], path));
            }
            continue;
        }
        if let Some(keys) = part["properties"].as_object() {
            let path = path.split_once(AS).map_or(path.as_str(), |(path, _)| path);
            let dot = if path.is_empty() { "" } else { "." };
            open.extend(keys.iter().map(|(key, value)| (value, format!("{path}{dot}{key}"))));
        }
        for key in ["oneOf", "anyOf"] {
            for choice in part[key].as_array().into_iter().flatten() {
                // A choice between whole definitions: the key alone does not say which.
                let noun_of =
                    |part: &Json| Some(noun(schema["$defs"][reference(part.as_object()?)?].as_object()?));
                let one = noun_of(choice).map(|noun| format!("{AS}{noun}"));
                let several = || noun_of(choice.get("items")?).map(|noun| format!("{AS}list of {noun}s"));
                let kind = one.or_else(several).unwrap_or_default();
                open.push_back((choice, format!("{path}{kind}")));
            }
        }
        if part["items"].is_object() {
            open.push_back((&part["items"], path));
        }
    }
    uses
}

/// What one calls a value of this kind.
fn noun(part: &Map<String, Json>) -> &'static str {
    match () {
        () if part.contains_key("properties") => "table",
        () if words(part).is_some() => "word",
        () => "value",
    }
}

/// Words in a row.
fn list(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn reference(part: &Map<String, Json>) -> Option<&str> {
    part.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn choices(part: &Map<String, Json>) -> Option<&[Json]> {
    part.get("oneOf").or_else(|| part.get("anyOf"))?.as_array().map(Vec::as_slice)
}

/// The words that a text is one of.
fn words(part: &Map<String, Json>) -> Option<Vec<String>> {
    if let Some(list) = part.get("enum").and_then(Json::as_array) {
        return Some(list.iter().map(toml).collect());
    }
    choices(part)?.iter().map(|choice| choice.get("const").map(toml)).collect()
}

fn required(part: &Map<String, Json>) -> impl Iterator<Item = &str> {
    part.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

fn count(part: &Map<String, Json>, key: &str) -> Option<u64> {
    part.get(key).and_then(Json::as_u64)
}

/// The description as one paragraph; line breaks of the source mean nothing.
fn description(part: &Map<String, Json>) -> Option<String> {
    let text = part.get("description")?.as_str()?;
    Some(text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n"))
}

/// The unit that a description names: the first thing in square brackets outside of code.
fn unit(text: &str) -> Option<&str> {
    text.split('`').step_by(2).find_map(|plain| {
        let start = plain.find(" [")? + 2;
        let length = plain[start..].find(']')?;
        Some(&plain[start..start + length])
    })
}

/// What is allowed: a range, words, a number of items.
fn allowed(part: &Map<String, Json>) -> String {
    if let Some(words) = words(part) {
        return list(&words);
    }
    let number = |part: &Map<String, Json>, key: &str| part.get(key).map(toml);
    let range = |part: &Map<String, Json>| match (number(part, "minimum"), number(part, "maximum")) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}")),
        (Some(low), None) => Some(format!("{low} or more")),
        (None, Some(high)) => Some(format!("{high} or less")),
        (None, None) => None,
    };
    if let Some(range) = range(part) {
        return range;
    }
    let each = part.get("items").and_then(Json::as_object).and_then(range);
    let fixed = part.get("minItems") == part.get("maxItems");
    let counts = (count(part, "minItems").unwrap_or(0), count(part, "maxItems"));
    match (each, counts, part.get("pattern")) {
        (Some(each), _, _) => format!("each {each}"),
        (None, (least, Some(most)), _) if !fixed => format!("{least} to {most} of them"),
        (None, _, Some(pattern)) => format!("`{}`", pattern.as_str().unwrap_or_default()),
        _ => String::new(),
    }
}

/// A value as one writes it in TOML.
fn toml(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Json::Number(number) => match number.as_f64() {
            Some(whole)
                if !number.is_u64() && !number.is_i64() && whole.fract() == 0.0 && whole.abs() < 1e15 =>
            {
                format!("{whole:.0}")
            }
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The path from one page to another.
fn relative(from: &Path, to: &Path) -> String {
    let up = from.parent().map_or(0, |folder| folder.components().count());
    format!("{}{}", "../".repeat(up), to.to_string_lossy().replace('\\', "/"))
}

/// A table of Markdown; the first row is the heading.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().map(|cell| cell.replace('|', "\\|").replace("\n\n", "<br>")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
        if index == 0 {
            text += &format!("|{}\n", "---|".repeat(N));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> Reference {
        let schema = taut_io::scene::schema();
        let places = uses(&schema).into_keys().map(|name| (name, "scene.md".into())).collect();
        Reference::new(schema, places).unwrap()
    }

    #[test]
    fn every_part_has_a_section_with_its_keys_and_an_example() {
        let reference = reference();
        for name in reference.names() {
            let text = reference.section(name, Path::new("scene.md")).unwrap();
            let keys = reference.part(name).unwrap().get("properties").and_then(Json::as_object);
            for key in keys.into_iter().flat_map(Map::keys) {
                assert!(text.contains(&format!("| `{key}` |")), "{name}.{key}\n{text}");
            }
        }
    }

    #[test]
    fn units_defaults_and_ranges_come_from_the_schema() {
        let text = reference().section("Air", Path::new("scene.md")).unwrap();
        assert!(text.starts_with("## `air` {#air}"), "{text}");
        assert!(text.contains("| `density` | number [kg/m³] | `1.2` | 0 to 1000 |"), "{text}");
        let text = reference().section("MaterialName", Path::new("scene.md")).unwrap();
        assert!(text.starts_with("## `cloth.material` as a word {#materialname}"), "{text}");
        assert!(
            text.contains("Also: `cloth.material.base`.") && text.contains("One of `\"polyester\"`, "),
            "{text}"
        );
        let text = reference().section("WindKey", Path::new("scene.md")).unwrap();
        assert!(text.starts_with("## `air.wind` as a list of tables {#windkey}"), "{text}");
        let text = reference().section("Solver", Path::new("scene.md")).unwrap();
        assert!(
            text.contains("| `scheme` | [word](#scheme) | `\"nearest\"` | `\"sweep\"`, `\"serial\"`"),
            "{text}"
        );
        let text = reference().section("Cloth", Path::new("scene.md")).unwrap();
        assert!(text.contains("required") && text.contains("3 numbers [m/s]"), "{text}");
    }

    #[test]
    fn a_part_without_a_page_is_an_error() {
        let error = Reference::new(taut_io::scene::schema(), BTreeMap::new()).err().unwrap();
        assert!(error.contains("Cloth") && error.contains("Solver"), "{error}");
    }

    #[test]
    fn links_lead_from_folder_to_folder() {
        assert_eq!(relative(Path::new("scene/air.md"), Path::new("scene/cloth.md")), "../scene/cloth.md");
        assert_eq!(relative(Path::new("index.md"), Path::new("scene/cloth.md")), "scene/cloth.md");
    }
}
