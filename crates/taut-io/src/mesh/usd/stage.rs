//! The scene that a layer describes: which meshes it shows, and the values of attributes at a time.
//!
//! Units are converted to those of taut: metres, y upwards. A file that does not say has centimetres, as USD
//! defines it.

use glam::{DMat4, DQuat, DVec3, DVec4};

use super::{
    super::fault::{Fault, fault},
    layer::{self, Attribute, Layer, Specifier, Stored, Value},
};

/// Metres of a unit, if the file does not say.
const DEFAULT_METERS: f64 = 0.01;
/// Time codes in a second, if the file does not say.
const DEFAULT_RATE: f64 = 24.0;

/// When attributes are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum When {
    /// As the file stores them: their default, or where there is none, at its start.
    Still,
    /// At a time code.
    At(f64),
}

/// An open stage.
pub(super) struct Stage<'a> {
    pub layer: Layer<'a>,
    /// From its units and axes to metres, y up.
    pub units: DMat4,
    /// Time codes in a second.
    pub rate: f64,
    /// First and last time code of playback, if the file says.
    pub start: Option<f64>,
    pub end: Option<f64>,
}

impl<'a> Stage<'a> {
    /// Reads the metadata of a layer.
    pub fn new(layer: Layer<'a>) -> Result<Self, Fault> {
        let positive = |name: &str| match layer.number(name)? {
            Some(number) if !(number.is_finite() && number > 0.0) => {
                Err(fault(format!("is {number}: must be positive")).at(name.to_owned()))
            }
            number => Ok(number),
        };
        let meters = positive("metersPerUnit")?.unwrap_or(DEFAULT_METERS);
        let rate = positive("timeCodesPerSecond")?;
        let rate = if rate.is_some() { rate } else { positive("framesPerSecond")? };
        let axes = match layer.word("upAxis")?.as_deref() {
            None | Some("Y") => DMat4::IDENTITY,
            Some("Z") => DMat4::from_cols(DVec4::X, -DVec4::Z, DVec4::Y, DVec4::W),
            Some(other) => return Err(fault(format!("is {other:?}: must be \"Y\" or \"Z\"")).at("upAxis")),
        };
        let (start, end) = (layer.number("startTimeCode")?, layer.number("endTimeCode")?);
        let units = axes * DMat4::from_scale(DVec3::splat(meters));
        let finite = |time: Option<f64>| time.filter(|time| time.is_finite());
        Ok(Self { layer, units, rate: rate.unwrap_or(DEFAULT_RATE), start: finite(start), end: finite(end) })
    }

    /// The prims of a schema, `Mesh` or `BasisCurves`, that are shown, in their order.
    pub fn shown(&self, schema: &str) -> Result<Vec<usize>, Fault> {
        let prims = &self.layer.prims;
        let mut hidden: Vec<Option<&'static str>> = Vec::with_capacity(prims.len());
        let mut purposes: Vec<Option<&'static str>> = Vec::with_capacity(prims.len());
        let (mut meshes, mut left_out) = (Vec::new(), None);
        for (index, prim) in prims.iter().enumerate() {
            let above = prim.parent.and_then(|parent| hidden[parent]);
            let is_instanced = prim.parent.is_some_and(|parent| prims[parent].schema == "PointInstancer");
            let own = match prim.specifier {
                Specifier::Over => Some("is an over, which changes a prim of another file"),
                Specifier::Class => Some("is a class"),
                Specifier::Def if prim.is_inactive => Some("is not active"),
                Specifier::Def if is_instanced => Some("is instanced by a PointInstancer, which is not read"),
                Specifier::Def => match self.word(index, "visibility", When::Still)?.as_deref() {
                    Some("invisible") => Some("is invisible"),
                    _ => None,
                },
            };
            let purpose = match self.word(index, "purpose", When::Still)?.as_deref() {
                Some("guide") => Some("is a guide"),
                Some("proxy") => Some("is a proxy"),
                Some(_) => None,
                None => prim.parent.and_then(|parent| purposes[parent]),
            };
            purposes.push(purpose);
            hidden.push(above.or(own));
            if prim.schema == schema {
                match hidden[index].or(purpose) {
                    None => meshes.push(index),
                    Some(why) => left_out = left_out.or(Some((index, why))),
                }
            }
        }
        if meshes.is_empty() { Err(self.none_shown(schema, left_out)) } else { Ok(meshes) }
    }

    fn none_shown(&self, schema: &str, left_out: Option<(usize, &str)>) -> Fault {
        let what = if schema == "Mesh" { "mesh" } else { "curves" };
        let refers = || {
            let prims = self.layer.prims.iter().enumerate();
            prims.filter_map(|(index, prim)| Some((index, prim.refers?))).next()
        };
        if let Some((index, why)) = left_out {
            return self.at(fault(format!("{why}, and the file shows no other {what}")), index, None);
        }
        if let Some((index, from)) = refers() {
            let message = format!(
                "the file has no {what} of its own: its contents come from elsewhere by {from}, which are not followed; flatten it (usdcat --flatten)"
            );
            return self.at(fault(message), index, None);
        }
        if self.layer.metadata.contains_key("subLayers") {
            return fault(format!(
                "the file has no {what} of its own: it has subLayers, which are not followed; flatten it (usdcat --flatten)"
            ));
        }
        let count = self.layer.prims.len();
        fault(format!("contains no {schema} ({count} prims): at least one is required"))
    }

    /// Adds prim, attribute and line to a fault.
    pub fn at(&self, found: Fault, prim: usize, attribute: Option<&str>) -> Fault {
        let owner = &self.layer.prims[prim];
        let own = attribute.and_then(|name| owner.attributes.get(name));
        let found = match attribute {
            Some(name) => found.within(name),
            None => found,
        };
        let found = found.at(format!("prim {}", self.layer.path(prim)));
        match own.and_then(|own| own.line).or(owner.line) {
            Some(line) => found.or_line(line),
            None => found,
        }
    }

    /// The attribute `name`, if it is there and has a value.
    pub fn attribute(&self, prim: usize, name: &str) -> Option<&Attribute> {
        self.layer.prims[prim].attributes.get(name)
    }

    /// Whether an attribute changes over time.
    pub fn moves(&self, prim: usize, name: &str) -> bool {
        self.attribute(prim, name).is_some_and(|attribute| attribute.samples.len() > 1)
    }

    /// The numbers of an attribute; nothing if it has no value.
    pub fn numbers(&self, prim: usize, name: &str, when: When) -> Result<Option<Vec<f64>>, Fault> {
        let Some(attribute) = self.attribute(prim, name) else { return Ok(None) };
        self.numbers_of(attribute, when).map_err(|found| self.at(found, prim, Some(name)))
    }

    fn numbers_of(&self, attribute: &Attribute, when: When) -> Result<Option<Vec<f64>>, Fault> {
        let (a, b, share) = match self.stored(attribute, when) {
            None => return Ok(None),
            Some((a, None)) => return self.decode(a),
            Some((a, Some((b, share)))) => (a, b, share),
        };
        let Some(from) = self.decode(a)? else { return Ok(None) };
        let is_held =
            ["int", "uint", "bool", "token", "string"].iter().any(|kind| attribute.kind.starts_with(kind));
        if is_held {
            return Ok(Some(from));
        }
        // A sample without value, or of another length, has nothing between it and this one.
        match self.decode(b)? {
            Some(to) if to.len() == from.len() => Ok(Some(if attribute.kind.starts_with("quat") {
                between_rotations(&from, &to, share)
            } else {
                from.iter().zip(&to).map(|(a, b)| a + (b - a) * share).collect()
            })),
            _ => Ok(Some(from)),
        }
    }

    fn decode(&self, stored: Stored) -> Result<Option<Vec<f64>>, Fault> {
        match self.layer.value(stored).map_err(|found| layer::at(found, stored))? {
            Value::Blocked => Ok(None),
            Value::Numbers(numbers) => Ok(Some(numbers)),
            _ => Err(layer::at(fault("must be numbers"), stored)),
        }
    }

    /// The words of an attribute; none if it has no value.
    pub fn words(&self, prim: usize, name: &str, when: When) -> Result<Vec<String>, Fault> {
        let Some(attribute) = self.attribute(prim, name) else { return Ok(Vec::new()) };
        let Some((stored, _)) = self.stored(attribute, when) else { return Ok(Vec::new()) };
        match self.layer.value(stored) {
            Ok(Value::Words(words)) => Ok(words),
            Ok(Value::Blocked) => Ok(Vec::new()),
            Ok(Value::Numbers(numbers)) if numbers.is_empty() => Ok(Vec::new()),
            Ok(_) => Err(self.at(layer::at(fault("must be tokens"), stored), prim, Some(name))),
            Err(found) => Err(self.at(found, prim, Some(name))),
        }
    }

    /// The first word of an attribute.
    pub fn word(&self, prim: usize, name: &str, when: When) -> Result<Option<String>, Fault> {
        Ok(self.words(prim, name, when)?.into_iter().next())
    }

    /// Where the value is at a time; with the sample after it, and the way to it from 0 to 1, if it is
    /// between.
    fn stored(&self, attribute: &Attribute, when: When) -> Option<(Stored, Option<(Stored, f64)>)> {
        let samples = &attribute.samples;
        let time = match (when, attribute.default) {
            (When::Still, Some(default)) => return Some((default, None)),
            (When::Still, None) => self.start.unwrap_or(f64::NEG_INFINITY),
            (When::At(time), _) => time,
        };
        let Some(&(first, stored)) = samples.first() else {
            return attribute.default.map(|default| (default, None));
        };
        if time <= first {
            return Some((stored, None));
        }
        let next = samples.partition_point(|sample| sample.0 <= time);
        let (from, a) = samples[next - 1];
        let between = samples.get(next).filter(|_| time > from);
        Some((a, between.map(|&(to, b)| (b, (time - from) / (to - from)))))
    }
}

/// Between rotations along the shorter way; the real part is first.
fn between_rotations(from: &[f64], to: &[f64], share: f64) -> Vec<f64> {
    let pairs = from.as_chunks::<4>().0.iter().zip(to.as_chunks::<4>().0);
    let between = |(a, b): (&[f64; 4], &[f64; 4])| {
        let q = rotation(a).slerp(rotation(b), share);
        [q.w, q.x, q.y, q.z]
    };
    pairs.flat_map(between).collect()
}

/// A rotation of four numbers, the real part first. One of length zero turns nothing.
pub(super) fn rotation(q: &[f64]) -> DQuat {
    let q = DQuat::from_xyzw(q[1], q[2], q[3], q[0]);
    if q.length_squared() > 1e-12 { q.normalize() } else { DQuat::IDENTITY }
}
