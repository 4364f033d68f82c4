//! Changes during the simulation: sets parameters, and writes all changes back to the text of the scene,
//! keeping its comments.

use serde_json::Value as Json;
use taut::{Body, Description, Material, Pin, Stretching};
use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value, value};

use super::groom::may_be_cut;
use crate::protocol::{Limiter, Parameters};

/// Sets one of the parameters.
///
/// # Errors
/// If the parameter does not exist or the value is invalid, with what is expected.
pub fn set(parameters: &mut Parameters, key: &str, to: &Json) -> Result<(), String> {
    let wrong = |right: &str| format!("{key} cannot be {to}: expected {right}");
    let number = |low: f32, high: f32| {
        let found = to.as_f64().map(|x| x as f32).filter(|x| (low..=high).contains(x));
        found.ok_or_else(|| wrong(&format!("a number from {low} to {high}")))
    };
    let or_none = |low: f32, high: f32| if to.is_null() { Ok(None) } else { number(low, high).map(Some) };
    match key {
        "limiter" => {
            parameters.limiter = parse(to).ok_or_else(|| wrong("\"off\", \"edge\" or \"isotropic\""))?;
        }
        "stretch_max" => parameters.stretch_max = or_none(0.0, 10.0)?,
        "stretch_min" => parameters.stretch_min = or_none(-0.99, 0.0)?,
        "bend_max" => parameters.bend_max = or_none(0.0, 10_000.0)?,
        "tear" => parameters.tear = or_none(0.001, 1000.0)?,
        "material" => {
            let known = to.as_str().filter(|name| Material::named(name).is_some());
            if known.is_none() && !to.is_null() {
                let names: Vec<_> = Material::names().collect();
                return Err(wrong(&format!("null, or one of {}", names.join(", "))));
            }
            parameters.material = known.map(str::to_owned);
        }
        "stiffness" => parameters.stiffness = number(0.001, 1000.0)?,
        "gravity" => parameters.gravity = number(-100.0, 100.0)?,
        "wind" => {
            let wind: Option<[f32; 3]> = parse(to);
            let fine = |wind: &[f32; 3]| wind.iter().all(|x| x.abs() <= 100.0);
            parameters.wind = wind.filter(fine).ok_or_else(|| wrong("three numbers from -100 to 100"))?;
        }
        "budget_ms" => parameters.budget_ms = number(0.5, 1000.0)?,
        "fps" => {
            let fps = to.as_f64().filter(|fps| [30.0, 60.0].contains(fps));
            parameters.fps = fps.ok_or_else(|| wrong("30 or 60"))? as f32;
        }
        "colouring" => {
            parameters.colouring =
                parse(to).ok_or_else(|| wrong("\"none\", \"strain\", \"residual\" or \"hsv\""))?;
        }
        "levels_shown" => {
            parameters.levels_shown = to.as_bool().ok_or_else(|| wrong("true or false"))?;
        }
        _ => {
            return Err(format!(
                "unknown parameter {key:?}; known: limiter, stretch_max, stretch_min, bend_max, tear, material, stiffness, gravity, wind, budget_ms, fps, colouring and levels_shown"
            ));
        }
    }
    Ok(())
}

fn parse<T: serde::de::DeserializeOwned>(value: &Json) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

/// Differences from the scene's text.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    /// Initial parameters.
    pub from: &'a Parameters,
    /// Current parameters.
    pub to: &'a Parameters,
    /// Current description.
    pub description: &'a Description,
    /// Initially pinned vertices: body and vertex.
    pub held_before: &'a [(usize, u32)],
    /// Currently pinned vertices.
    pub held_now: &'a [(usize, u32)],
}

impl Changes<'_> {
    /// Writes the changes to `text`, a scene.
    ///
    /// # Errors
    /// If it is not a scene, or a change cannot be expressed in a scene file.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        let mut document: DocumentMut =
            text.parse().map_err(|error| format!("the scene is not TOML: {error}"))?;
        let (from, to) = (self.from, self.to);
        if from.gravity != to.gravity {
            set_key(&mut document, "scene", "gravity", numbers(self.description.gravity.to_array()));
        }
        if from.fps != to.fps {
            set_key(&mut document, "scene", "frame_rate", number(to.fps));
        }
        if from.wind != to.wind {
            set_key(&mut document, "air", "wind", numbers(to.wind));
        }
        if from.budget_ms != to.budget_ms {
            set_key(&mut document, "solver", "budget_ms", number(to.budget_ms));
        }
        let bodies = &self.description.bodies;
        for (body, described) in bodies.iter().enumerate() {
            // Each kind has tables of its own, in the order of the bodies.
            let kind = described.kind();
            let index = bodies[..body].iter().filter(|other| other.kind() == kind).count();
            if let Some(table) = body_table(&mut document, kind, index) {
                self.apply_to_body(table, body, described)?;
            }
        }
        Ok(document.to_string())
    }

    fn apply_to_body(&self, table: &mut dyn TableLike, body: usize, described: &Body) -> Result<(), String> {
        let (from, to) = (self.from, self.to);
        let limits = |p: &Parameters| (p.limiter, p.stretch_max, p.stretch_min);
        if limits(from) != limits(to) {
            let solid = matches!(described, Body::Solid(_));
            let pair = [("min", to.stretch_min), ("max", to.stretch_max)];
            let (strain, edge) = match to.limiter {
                Limiter::Off => (None, None),
                Limiter::Edge | Limiter::Isotropic
                    if described.as_particles().is_some() || described.as_hair().is_some() =>
                {
                    (None, Some(pair))
                }
                Limiter::Edge if !solid => (None, Some(pair)),
                Limiter::Edge | Limiter::Isotropic => (Some(pair), None),
            };
            if described.as_hair().is_some() {
                set_limits(table, "stretch", edge);
            } else {
                set_limits(table, "strain", strain);
                set_limits(table, "edge", edge);
            }
        }
        if let Body::Cloth(_) = described
            && from.bend_max != to.bend_max
        {
            let pair = to.bend_max.map(|max| [("min", Some(-max)), ("max", Some(max))]);
            set_limits(table, "bend", pair);
        }
        let may_tear = match described {
            Body::Cloth(_) => true,
            Body::Hair(hair) => may_be_cut(hair),
            Body::Solid(_) | Body::Particles(_) => false,
        };
        if may_tear && from.tear != to.tear {
            set_tear(table, to.tear);
        }
        if let (Body::Cloth(_), Some(name)) = (described, to.material.as_deref()) {
            if !table.get("material").is_some_and(Item::is_value) {
                table.remove("material");
            }
            put(table, "material", name.into());
        }
        if from.stiffness != to.stiffness {
            let numbers = match described {
                Body::Cloth(cloth) => {
                    let (Stretching { warp, weft, shear }, bend) =
                        (cloth.material.stretch, cloth.material.bend);
                    let stretch = by_direction([warp, weft], ("shear", shear));
                    vec![
                        ("stretch", stretch),
                        ("bend", by_direction([bend.warp, bend.weft], ("bias", bend.bias))),
                    ]
                }
                Body::Solid(solid) => vec![("young", number(solid.material.young))],
                Body::Particles(_) => Vec::new(),
                Body::Hair(hair) => {
                    vec![("young", number(hair.material.young)), ("shear", number(hair.material.shear))]
                }
            };
            if let Body::Particles(particles) = described {
                set_spring(table, particles.springs.stiffness);
            } else {
                set_material(table, described, &numbers);
            }
        }
        self.set_pins(table, body, described)
    }

    /// Vertices that were pinned or unpinned.
    fn set_pins(&self, table: &mut dyn TableLike, body: usize, described: &Body) -> Result<(), String> {
        let of = |held: &[(usize, u32)]| -> Vec<u32> {
            let mut all: Vec<u32> = held.iter().filter(|(b, _)| *b == body).map(|(_, v)| *v).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (before, now) = (of(self.held_before), of(self.held_now));
        let new: Vec<u32> = now.iter().copied().filter(|v| before.binary_search(v).is_err()).collect();
        let gone = before.iter().any(|v| now.binary_search(v).is_err());
        if new.is_empty() && !gone {
            return Ok(());
        }
        let plain = |pin: &Pin| {
            let is_timed = pin.from > 0.0 || pin.until.is_some();
            pin.motion.keys.is_empty() && pin.attach.is_none() && pin.stiffness.is_none() && !is_timed
        };
        if gone && !described.pins().iter().all(plain) {
            return Err(format!(
                "a moving pin of {} was removed, which cannot be saved: pin the vertex again and edit the file manually",
                described.name()
            ));
        }
        if !table.get("pin").is_some_and(|pin| pin.is_array() || pin.is_array_of_tables()) {
            table.insert("pin", value(Array::new()));
        }
        let vertices = if gone { &now } else { &new };
        let vertices = &in_scene(described, vertices)?;
        let mut pin = InlineTable::new();
        let list: Vec<String> = vertices.iter().map(u32::to_string).collect();
        pin.insert("select", format!("index:{}", list.join(",")).into());
        match table.get_mut("pin") {
            Some(Item::Value(Value::Array(pins))) => {
                if gone {
                    pins.clear();
                }
                if !vertices.is_empty() {
                    pins.push(pin);
                }
            }
            Some(Item::ArrayOfTables(pins)) => {
                if gone {
                    pins.clear();
                }
                if !vertices.is_empty() {
                    pins.push(pin.into_table());
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The scene's numbers of `vertices` of a body. Those of developable cloth are points, of which some are
/// midpoints of edges.
fn in_scene(described: &Body, vertices: &[u32]) -> Result<Vec<u32>, String> {
    let Some(midpoints) = described.as_cloth().and_then(|cloth| cloth.midpoints.as_ref()) else {
        return Ok(vertices.to_vec());
    };
    let of = |&point: &u32| match midpoints.between.get(point as usize) {
        Some([a, b]) if a == b => Ok(*a),
        _ => Err(format!(
            "a pin at the midpoint of an edge of {} cannot be saved: release it, and pin a vertex in the file",
            described.name()
        )),
    };
    vertices.iter().map(of).collect()
}

/// The shortest decimal for `number`.
fn number(number: f32) -> Value {
    format!("{number}").parse::<f64>().unwrap_or(f64::from(number)).into()
}

/// One number for all directions, or a table.
fn by_direction([warp, weft]: [f32; 2], (third, value): (&str, Option<f32>)) -> Value {
    if warp == weft && value.is_none() {
        return number(warp);
    }
    let mut table = InlineTable::new();
    table.insert("warp", number(warp));
    table.insert("weft", number(weft));
    if let Some(value) = value {
        table.insert(third, number(value));
    }
    table.into()
}

fn numbers(values: [f32; 3]) -> Value {
    Value::Array(values.into_iter().map(number).collect())
}

/// Sets `[table] key`, which may not exist.
fn set_key(document: &mut DocumentMut, table: &str, key: &str, new: Value) {
    let entry = document.entry(table).or_insert_with(toml_edit::table);
    if let Some(table) = entry.as_table_like_mut() {
        put(table, key, new);
    }
}

/// Sets a key; text around its value, such as a trailing comment, is kept.
fn put(table: &mut dyn TableLike, key: &str, mut new: Value) {
    if let Some(Item::Value(old)) = table.get(key) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(new));
}

/// Table number `index` of `kind`, as `[[kind]]` or in an array.
fn body_table<'a>(document: &'a mut DocumentMut, kind: &str, index: usize) -> Option<&'a mut dyn TableLike> {
    match document.get_mut(kind)? {
        Item::ArrayOfTables(tables) => tables.get_mut(index).map(|table| table as &mut dyn TableLike),
        Item::Value(Value::Array(tables)) => {
            tables.get_mut(index)?.as_inline_table_mut().map(|table| table as &mut dyn TableLike)
        }
        _ => None,
    }
}

/// Sets a pair of limits, or removes it.
fn set_limits(table: &mut dyn TableLike, key: &str, limits: Option<[(&str, Option<f32>); 2]>) {
    let Some(limits) = limits.filter(|limits| limits.iter().any(|(_, limit)| limit.is_some())) else {
        table.remove(key);
        return;
    };
    if !table.get(key).is_some_and(Item::is_table_like) {
        put(table, key, Value::InlineTable(InlineTable::new()));
    }
    let Some(pair) = table.get_mut(key).and_then(Item::as_table_like_mut) else { return };
    // Limits by direction are removed.
    for key in ["warp", "weft", "bias", "direction"] {
        pair.remove(key);
    }
    for (key, limit) in limits {
        match limit {
            Some(limit) => put(pair, key, number(limit)),
            None => {
                pair.remove(key);
            }
        }
    }
    if let Some(inline) = table.get_mut(key).and_then(Item::as_inline_table_mut) {
        inline.fmt();
    }
}

/// Sets the strain beyond which a cloth tears, or that it does not.
fn set_tear(table: &mut dyn TableLike, stretch: Option<f32>) {
    let Some(stretch) = stretch else {
        table.remove("tear");
        return;
    };
    if !table.get("tear").is_some_and(Item::is_table_like) {
        put(table, "tear", Value::InlineTable(InlineTable::new()));
    }
    if let Some(tear) = table.get_mut("tear").and_then(Item::as_table_like_mut) {
        put(tear, "stretch", number(stretch));
    }
    if let Some(inline) = table.get_mut("tear").and_then(Item::as_inline_table_mut) {
        inline.fmt();
    }
}

/// Sets numbers of a material: on top of a named one, or in its table.
/// Writes the stiffness of segments \[N/m\].
fn set_spring(table: &mut dyn TableLike, stiffness: f32) {
    if !table.get("spring").is_some_and(Item::is_table_like) {
        put(table, "spring", Value::InlineTable(InlineTable::new()));
    }
    if let Some(spring) = table.get_mut("spring").and_then(Item::as_table_like_mut) {
        put(spring, "stiffness", number(stiffness));
    }
}

fn set_material(table: &mut dyn TableLike, described: &Body, numbers: &[(&str, Value)]) {
    if !table.get("material").is_some_and(Item::is_table_like) {
        let usual = if matches!(described, Body::Cloth(_)) { "polyester" } else { "silicone" };
        let name = table.get("material").and_then(Item::as_str).unwrap_or(usual).to_owned();
        let mut material = InlineTable::new();
        material.insert("base", name.into());
        put(table, "material", Value::InlineTable(material));
    }
    let Some(material) = table.get_mut("material").and_then(Item::as_table_like_mut) else { return };
    for (key, value) in numbers {
        put(material, key, value.clone());
    }
    if let Some(inline) = table.get_mut("material").and_then(Item::as_inline_table_mut) {
        inline.fmt();
    }
}
