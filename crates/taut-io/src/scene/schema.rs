//! The JSON Schema of the scene file, generated from the types, and accessors.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json};

use super::format::Scene;

/// The schema, generated once.
pub(crate) fn scene_schema() -> &'static Json {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Scene>();
        let mut schema = schema.to_value();
        without_null(&mut schema);
        plain_text(&mut schema);
        schema
    })
}

/// Removes "or null" from optional keys: TOML has no null, the key is omitted instead.
fn without_null(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(without_null),
        Json::Object(object) => {
            if object.get("default") == Some(&Json::Null) {
                object.remove("default");
            }
            if let Some(Json::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Json::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&Json::from("null")));
                if let [Json::Object(only)] = choices.as_mut_slice() {
                    let only = std::mem::take(only);
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(without_null);
        }
        _ => {}
    }
}

/// Removes rustdoc escapes from descriptions, which editors show verbatim.
fn plain_text(schema: &mut Json) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(plain_text),
        Json::Object(object) => {
            if let Some(Json::String(text)) = object.get_mut("description") {
                *text = text.replace("\\[", "[").replace("\\]", "]");
            }
            object.values_mut().for_each(plain_text);
        }
        _ => {}
    }
}

/// A part of the schema, with references followed.
#[derive(Clone, Copy)]
pub(crate) struct Part(pub &'static Map<String, Json>);

/// The kinds of value that a schema distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Array,
    Table,
}

impl Part {
    /// The whole schema.
    pub fn root() -> Option<Part> {
        Part::of(scene_schema())
    }

    /// A part of the schema; follows references. `None` if it is not an object (`true`, `false`).
    pub fn of(schema: &'static Json) -> Option<Part> {
        let mut object = schema.as_object()?;
        // A chain of references has at most as many links as there are definitions; this bounds cycles.
        for _ in 0..32 {
            let Some(reference) = object.get("$ref").and_then(Json::as_str) else { break };
            object = scene_schema().pointer(reference.strip_prefix('#')?)?.as_object()?;
        }
        Some(Part(object))
    }

    /// Keys that a table may have.
    pub fn properties(self) -> Option<&'static Map<String, Json>> {
        self.0.get("properties")?.as_object()
    }

    /// The schema of `key` of a table.
    pub fn property(self, key: &str) -> Option<Part> {
        Part::of(self.properties()?.get(key)?)
    }

    /// Required keys.
    pub fn required(self) -> impl Iterator<Item = &'static str> {
        self.0.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    }

    /// The schema of the items of an array.
    pub fn items(self) -> Option<Part> {
        Part::of(self.0.get("items")?)
    }

    /// The alternatives, if any.
    pub fn choices(self) -> Option<Vec<Part>> {
        let choices = self.0.get("oneOf").or_else(|| self.0.get("anyOf"))?.as_array()?;
        Some(choices.iter().filter_map(Part::of).collect())
    }

    /// The allowed strings, if they are listed.
    pub fn words(self) -> Option<Vec<&'static str>> {
        if let Some(word) = self.0.get("const") {
            return Some(vec![word.as_str()?]);
        }
        if let Some(words) = self.0.get("enum").and_then(Json::as_array) {
            return Some(words.iter().filter_map(Json::as_str).collect());
        }
        let words: Option<Vec<_>> = self.choices()?.into_iter().map(Part::words).collect();
        Some(words?.concat())
    }

    /// For alternatives distinguished by a single key (`{ grid = … }` or `{ disc = … }`): the keys.
    pub fn tags(self) -> Option<Vec<&'static str>> {
        self.choices()?
            .into_iter()
            .map(|choice| {
                let mut keys = choice.properties()?.keys();
                let only = keys.next()?.as_str();
                (keys.next().is_none() && choice.required().eq([only])).then_some(only)
            })
            .collect()
    }

    /// The kind of value, if it is unique.
    pub fn kind(self) -> Option<Kind> {
        match self.0.get("type").and_then(Json::as_str) {
            Some("string") => Some(Kind::Text),
            Some("integer") => Some(Kind::Integer),
            Some("number") => Some(Kind::Number),
            Some("boolean") => Some(Kind::Boolean),
            Some("array") => Some(Kind::Array),
            Some("object") => Some(Kind::Table),
            _ if self.0.contains_key("properties") => Some(Kind::Table),
            _ if self.words().is_some() => Some(Kind::Text),
            _ if self.tags().is_some() => Some(Kind::Table),
            _ => None,
        }
    }

    /// A bound of numbers or counts: `minimum`, `maximum`, `minItems`, `maxItems`, `minLength`.
    pub fn bound(self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Json::as_f64)
    }
}
