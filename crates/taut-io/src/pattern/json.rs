//! The JSON text of a pattern, checked: every problem names panel, edge or stitch, and what is allowed.

use std::{collections::BTreeMap, path::Path};

use glam::{DMat3, DQuat, DVec2, DVec3};
use serde_json::{Map, Value};

use super::{
    Curve, DEFAULT_UNITS, Edge, MAX_EDGES, MAX_PANELS, MAX_STITCHES, Panel, Pattern, Side, Stitch, outline,
};
use crate::{Problem, Problems};

/// Problems that are listed; more of them say nothing new.
const MAX_PROBLEMS: usize = 20;
/// Largest coordinate, in the file's units.
const MAX_NUMBER: f64 = 1e7;
/// Shortest edge, relative to the size of its panel.
const MIN_RELATIVE_LENGTH: f64 = 1e-6;

/// See [`super::parse`].
pub(super) fn parse(bytes: &[u8], path: Option<&Path>) -> Result<Pattern, Problems> {
    let mut reader = Reader { problems: Vec::new() };
    let pattern = match serde_json::from_slice::<Value>(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes))
    {
        Ok(value) => reader.pattern(&value),
        Err(error) => {
            // It says line and column itself.
            let message = format!("not valid JSON: {error}");
            reader.problems.push(Problem { line: Some(error.line()), message, ..Problem::default() });
            None
        }
    };
    let file = path.map(Path::to_owned);
    match pattern {
        Some(pattern) if reader.problems.is_empty() => Ok(Pattern { file, ..pattern }),
        _ => {
            let more = reader.problems.len().saturating_sub(MAX_PROBLEMS);
            reader.problems.truncate(MAX_PROBLEMS);
            if more > 0 {
                let message = format!("{more} more problems");
                reader.problems.push(Problem { message, ..Problem::default() });
            }
            Err(Problems(reader.problems.into_iter().map(|p| Problem { file: file.clone(), ..p }).collect()))
        }
    }
}

/// Collects problems.
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    /// Reports a problem.
    fn refuse<T>(&mut self, key: &str, message: impl Into<String>) -> Option<T> {
        self.problems.push(Problem { key: Some(key.into()), message: message.into(), ..Problem::default() });
        None
    }

    fn pattern(&mut self, value: &Value) -> Option<Pattern> {
        let Some(pattern) = value.get("pattern").and_then(Value::as_object) else {
            return self.refuse(
                "pattern",
                "is missing; a pattern of GarmentCode is an object with pattern.panels and pattern.stitches",
            );
        };
        let properties = value.get("properties");
        let is_true = |key: &str| properties.and_then(|p| p.get(key)).and_then(Value::as_bool) == Some(true);
        let units = match properties.and_then(|p| p.get("units_in_meter")) {
            None => DEFAULT_UNITS,
            Some(units) => match units.as_f64() {
                Some(units) if (1e-3..=1e6).contains(&units) => units,
                _ => {
                    let message =
                        format!("is {}, must be from 0.001 to 1000000: 100 for centimetres", show(units));
                    return self.refuse("properties.units_in_meter", message);
                }
            },
        };
        let is_absolute = match properties.and_then(|p| p.get("curvature_coords")).map(|v| (v, v.as_str())) {
            None | Some((_, Some("relative"))) => false,
            Some((_, Some("absolute"))) => true,
            Some((other, _)) => {
                let message = format!("is {}, must be \"relative\" or \"absolute\"", show(other));
                return self.refuse("properties.curvature_coords", message);
            }
        };
        let Some(panels) =
            pattern.get("panels").and_then(Value::as_object).filter(|panels| !panels.is_empty())
        else {
            return self.refuse("pattern.panels", "is missing or empty, must be an object of panels by name");
        };
        if panels.len() > MAX_PANELS {
            let message = format!("has {} panels, must have at most {MAX_PANELS}", panels.len());
            return self.refuse("pattern.panels", message);
        }
        // By name: the order of a JSON object means nothing.
        let panels: BTreeMap<&str, &Value> =
            panels.iter().map(|(name, panel)| (name.as_str(), panel)).collect();
        let form = Form { is_absolute, is_centered: is_true("normalize_panel_translation") };
        let read: Vec<Option<Panel>> =
            panels.iter().map(|(name, panel)| self.panel(name, panel, &form)).collect();
        let names: BTreeMap<&str, usize> =
            panels.keys().enumerate().map(|(index, name)| (*name, index)).collect();
        let counts: Vec<usize> =
            panels.values().map(|p| p.get("edges").and_then(Value::as_array).map_or(0, Vec::len)).collect();
        let stitches = self.stitches(pattern, &names, &counts);
        Some(Pattern {
            file: None,
            panels: read.into_iter().collect::<Option<_>>()?,
            stitches: stitches?,
            units,
            notes: Vec::new(),
        })
    }

    fn panel(&mut self, name: &str, value: &Value, form: &Form) -> Option<Panel> {
        let key = format!("panel {}", shorten(name));
        let Some(panel) = value.as_object() else {
            return self.refuse(&key, format!("is {}, must be an object", show(value)));
        };
        let mut vertices = self.vertices(&key, panel)?;
        let edges = match panel.get("edges").and_then(Value::as_array) {
            Some(edges) if (2..=MAX_EDGES).contains(&edges.len()) => edges,
            Some(edges) => {
                let message = format!("has {} edges, must have 2 to {MAX_EDGES}", edges.len());
                return self.refuse(&key, message);
            }
            None => return self.refuse(&key, "edges is missing, must be an array of edges"),
        };
        let vector = |reader: &mut Self, field: &str| match panel.get(field) {
            None => Some(DVec3::ZERO),
            Some(value) => match numbers::<3>(value) {
                Some(v) => Some(DVec3::from_array(v)),
                None => reader.refuse(
                    &key,
                    format!("{field} is {}, must be three numbers within ±{MAX_NUMBER:e}", show(value)),
                ),
            },
        };
        let mut translation = vector(self, "translation")?;
        let angles = vector(self, "rotation")?;
        if form.is_centered {
            let middle = vertices.iter().sum::<DVec2>() / vertices.len() as f64;
            vertices.iter_mut().for_each(|p| *p -= middle);
            translation += middle.extend(0.0);
        }
        let size = vertices.iter().fold(0.0f64, |size, p| size.max((*p - vertices[0]).length()));
        let before = self.problems.len();
        let read: Vec<Edge> = edges
            .iter()
            .enumerate()
            .filter_map(|(number, edge)| {
                self.edge(&format!("{key}, edge {number}"), edge, &vertices, form, MIN_RELATIVE_LENGTH * size)
            })
            .collect();
        if self.problems.len() > before {
            return None;
        }
        let order = match outline::order(&read) {
            Ok(order) => order,
            Err((number, message)) => return self.refuse(&format!("{key}, edge {number}"), message),
        };
        let [x, y, z] = angles.to_array().map(f64::to_radians);
        let turn = DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x);
        let label = label(panel);
        Some(Panel {
            name: name.into(),
            label,
            edges: read,
            order,
            rotation: DMat3::from_quat(turn),
            translation,
        })
    }

    fn vertices(&mut self, key: &str, panel: &Map<String, Value>) -> Option<Vec<DVec2>> {
        let Some(list) = panel.get("vertices").and_then(Value::as_array).filter(|list| !list.is_empty())
        else {
            return self.refuse(key, "vertices is missing or empty, must be an array of points");
        };
        let mut vertices = Vec::with_capacity(list.len());
        for (number, point) in list.iter().enumerate() {
            match numbers::<2>(point) {
                Some(p) => vertices.push(DVec2::from_array(p)),
                None => {
                    let message = format!(
                        "vertex {number} is {}, must be two numbers within ±{MAX_NUMBER:e}",
                        show(point)
                    );
                    return self.refuse(key, message);
                }
            }
        }
        Some(vertices)
    }

    fn edge(
        &mut self,
        key: &str,
        value: &Value,
        vertices: &[DVec2],
        form: &Form,
        least: f64,
    ) -> Option<Edge> {
        let count = vertices.len();
        let ends = value.get("endpoints").and_then(|ends| {
            let ends = ends.as_array()?.iter().map(index).collect::<Option<Vec<usize>>>()?;
            <[usize; 2]>::try_from(ends).ok()
        });
        let Some(ends) = ends else {
            let given = value.get("endpoints").map_or_else(|| "missing".into(), show);
            return self.refuse(
                key,
                format!("endpoints is {given}, must be two vertex numbers, 0 to {}", count - 1),
            );
        };
        if let Some(end) = ends.iter().find(|end| **end >= count) {
            let message = format!(
                "names vertex {end}, which does not exist: the panel has {count}, 0 to {}",
                count - 1
            );
            return self.refuse(key, message);
        }
        let at = ends.map(|v| vertices[v]);
        if at[0].distance(at[1]) <= least {
            let message = format!(
                "has no length: vertices {} and {} are both at ({}, {}); they must differ",
                ends[0], ends[1], at[0].x, at[0].y
            );
            return self.refuse(key, message);
        }
        let curve = match value.get("curvature") {
            None | Some(Value::Null) => Curve::Line(at),
            Some(curvature) => self.curve(key, curvature, at, form)?,
        };
        Some(Edge { ends, curve, label: value.as_object().and_then(label) })
    }

    fn curve(&mut self, key: &str, value: &Value, ends: [DVec2; 2], form: &Form) -> Option<Curve> {
        let [start, end] = ends;
        let control = |[x, y]: [f64; 2]| {
            if form.is_absolute {
                DVec2::new(x, y)
            } else {
                start + x * (end - start) + y * (end - start).perp()
            }
        };
        // Old files have the one control point of a quadratic curve, without a type.
        if let Some(p) = numbers::<2>(value) {
            return Some(Curve::Quadratic([start, control(p), end]));
        }
        let params = value.get("params").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let point = |k: usize| params.get(k).and_then(numbers::<2>).map(control);
        match value.get("type").and_then(Value::as_str) {
            Some("quadratic") => match (point(0), params.len()) {
                (Some(p), 1) => Some(Curve::Quadratic([start, p, end])),
                _ => self.refuse(key, "params of a quadratic curve must be one point: [[x, y]]"),
            },
            Some("cubic") => match (point(0), point(1), params.len()) {
                (Some(p), Some(q), 2) => Some(Curve::Cubic([start, p, q, end])),
                _ => self.refuse(key, "params of a cubic curve must be two points: [[x, y], [x, y]]"),
            },
            Some("circle") => {
                let radius = params.first().and_then(number).filter(|radius| *radius > 0.0);
                match (radius, params.get(1).and_then(flag), params.get(2).and_then(flag), params.len()) {
                    (Some(radius), Some(is_large), Some(to_right), 3) => {
                        Some(Curve::arc(ends, radius, is_large, to_right))
                    }
                    _ => self.refuse(
                        key,
                        "params of a circle must be [radius, large_arc, right]: a positive number and two of 0 or 1",
                    ),
                }
            }
            other => {
                let given = other.map_or_else(|| show(value), |other| format!("{other:?}"));
                self.refuse(
                    key,
                    format!("curvature is {given}, its type must be \"quadratic\", \"cubic\" or \"circle\""),
                )
            }
        }
    }

    fn stitches(
        &mut self,
        pattern: &Map<String, Value>,
        names: &BTreeMap<&str, usize>,
        counts: &[usize],
    ) -> Option<Vec<Stitch>> {
        let list = match pattern.get("stitches") {
            None | Some(Value::Null) => return Some(Vec::new()),
            Some(Value::Array(list)) if list.len() <= MAX_STITCHES => list,
            Some(Value::Array(list)) => {
                let message = format!("has {} stitches, must have at most {MAX_STITCHES}", list.len());
                return self.refuse("pattern.stitches", message);
            }
            Some(other) => {
                return self.refuse("pattern.stitches", format!("is {}, must be an array", show(other)));
            }
        };
        let before = self.problems.len();
        let stitches = list
            .iter()
            .enumerate()
            .filter_map(|(number, stitch)| self.stitch(&format!("stitch {number}"), stitch, names, counts))
            .collect();
        (self.problems.len() == before).then_some(stitches)
    }

    fn stitch(
        &mut self,
        key: &str,
        value: &Value,
        names: &BTreeMap<&str, usize>,
        counts: &[usize],
    ) -> Option<Stitch> {
        let parts = value.as_array().map_or(&[][..], Vec::as_slice);
        let ([first, second] | [first, second, _]) = parts else {
            return self.refuse(
                key,
                format!(
                    "is {}, must be two sides: [{{\"panel\", \"edge\"}}, {{\"panel\", \"edge\"}}]",
                    show(value)
                ),
            );
        };
        let is_right_wrong = match parts.get(2) {
            None => false,
            Some(Value::String(word)) if word == "right_wrong" => true,
            Some(mark) => match mark.get("right_wrong").unwrap_or(mark).as_bool() {
                Some(mark) => mark,
                None => {
                    return self.refuse(key, format!("is marked {}, must be \"right_wrong\"", show(mark)));
                }
            },
        };
        let sides = [self.side(key, first, names, counts), self.side(key, second, names, counts)];
        let [Some(a), Some(b)] = sides else { return None };
        if a == b {
            return self.refuse(key, "sews an edge to itself, must name two edges");
        }
        Some(Stitch { sides: [a, b], is_right_wrong })
    }

    fn side(
        &mut self,
        key: &str,
        value: &Value,
        names: &BTreeMap<&str, usize>,
        counts: &[usize],
    ) -> Option<Side> {
        let (Some(name), Some(edge)) =
            (value.get("panel").and_then(Value::as_str), value.get("edge").and_then(index))
        else {
            return self.refuse(
                key,
                format!("has the side {}, must be {{\"panel\": NAME, \"edge\": NUMBER}}", show(value)),
            );
        };
        let Some(&panel) = names.get(name) else {
            let known: Vec<&str> = names.keys().copied().take(30).collect();
            let hint = crate::scene::nearest::hint(name, names.keys().copied());
            let known = known.join(", ");
            return self.refuse(
                key,
                format!("names panel {}, which does not exist{hint} known: {known}", show_text(name)),
            );
        };
        if edge >= counts[panel] {
            let has = match counts[panel] {
                0 => "none that can be read".into(),
                count => format!("{count} edges, 0 to {}", count - 1),
            };
            return self
                .refuse(key, format!("names edge {edge} of panel {}, which has {has}", shorten(name)));
        }
        Some(Side { panel, edge })
    }
}

/// How a file writes points.
struct Form {
    /// Control points in coordinates of the panel.
    is_absolute: bool,
    /// Panels are to be rotated about the mean of their vertices.
    is_centered: bool,
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.abs() <= MAX_NUMBER)
}

fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let list = value.as_array()?.iter().map(number).collect::<Option<Vec<f64>>>()?;
    list.try_into().ok()
}

/// A number that counts; some writers have 2.0 for 2.
fn index(value: &Value) -> Option<usize> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..=1e9).contains(&number)).then_some(number as usize)
}

fn flag(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| number(value).map(|number| number != 0.0))
}

fn label(table: &Map<String, Value>) -> Option<String> {
    table.get("label").and_then(Value::as_str).filter(|label| !label.is_empty()).map(str::to_owned)
}

/// A value for messages.
fn show(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => shorten(&value.to_string()),
        Value::String(text) => show_text(text),
        other => other.to_string(),
    }
}

fn show_text(text: &str) -> String {
    format!("{:?}", shorten(text))
}

fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    let short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
