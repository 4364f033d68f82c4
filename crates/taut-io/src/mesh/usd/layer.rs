//! The part of a USD layer that meshes need: prims, and where the values of their attributes are stored.
//!
//! Values stay in the file until they are wanted: samples of points are most of an animated file, and a
//! binary file may refer to the same large array any number of times.

use std::collections::BTreeMap;

use super::{
    super::fault::{Fault, fault},
    binary::Crate,
    text,
};

/// Maximum prims: a prim takes a few bytes in a file, and much more in memory.
const MAX_PRIMS: usize = 1 << 20;
/// Maximum attributes, for the same reason.
const MAX_ATTRIBUTES: usize = 1 << 22;
/// Maximum time samples of all attributes.
pub(super) const MAX_SAMPLES: usize = 1 << 23;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// Bytes of a text file, and the line of the first.
    Text { start: usize, end: usize, line: usize },
    /// A value reference of a binary file.
    Binary(u64),
}

/// A value, or an array of values, flattened.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// No value, explicitly.
    Blocked,
    /// Numbers of any type; vectors, quaternions and matrices component by component, rows first.
    Numbers(Vec<f64>),
    /// Tokens, strings or names of files.
    Words(Vec<String>),
    /// A type that is of no use here.
    Other,
}

/// How a prim is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Specifier {
    /// `def`: it exists.
    #[default]
    Def,
    /// `over`: it changes a prim of another layer.
    Over,
    /// `class`: others inherit from it.
    Class,
}

/// A node of the scene.
#[derive(Debug, Default)]
pub(super) struct Prim {
    pub name: String,
    /// Index of the prim that it is in; lower than its own.
    pub parent: Option<usize>,
    /// Line of a text file.
    pub line: Option<usize>,
    pub specifier: Specifier,
    pub schema: String,
    /// Whether it is switched off, with all that is in it.
    pub is_inactive: bool,
    /// What it takes its contents from, such as `references`: not followed.
    pub refers: Option<&'static str>,
    pub attributes: BTreeMap<String, Attribute>,
}

/// An attribute of a prim.
#[derive(Debug, Default)]
pub(super) struct Attribute {
    /// Its type, such as `point3f[]`.
    pub kind: String,
    pub line: Option<usize>,
    pub default: Option<Stored>,
    /// By rising time code.
    pub samples: Vec<(f64, Stored)>,
    pub interpolation: Option<String>,
}

/// How the file is written.
pub(super) enum Encoding<'a> {
    Text(&'a [u8]),
    Binary(Crate<'a>),
}

/// A layer.
pub(super) struct Layer<'a> {
    pub encoding: Encoding<'a>,
    /// Parents before children, siblings in their order.
    pub prims: Vec<Prim>,
    /// Metadata of the layer that are wanted.
    pub metadata: BTreeMap<&'static str, Stored>,
    counted: [usize; 2],
}

/// Metadata of a layer that are kept.
const METADATA: [&str; 7] = [
    "upAxis",
    "metersPerUnit",
    "timeCodesPerSecond",
    "framesPerSecond",
    "startTimeCode",
    "endTimeCode",
    "subLayers",
];
/// Metadata by which a prim takes its contents from elsewhere.
const COMPOSITION: [&str; 5] = ["references", "payload", "inherits", "specializes", "variantSetNames"];

/// The attributes that are kept, without transforms and texture coordinates.
const ATTRIBUTES: [&str; 18] = [
    "points",
    "faceVertexCounts",
    "faceVertexIndices",
    "holeIndices",
    "orientation",
    "visibility",
    "purpose",
    "indices",
    "elementType",
    "xformOpOrder",
    "primvars:skel:jointIndices",
    "skel:blendShapes",
    "curveVertexCounts",
    "widths",
    "primvars:widths",
    "type",
    "basis",
    "wrap",
];

/// Whether an attribute is of use: others may be larger than all that are.
pub(super) fn is_kept(name: &str, kind: &str) -> bool {
    ATTRIBUTES.contains(&name)
        || name.starts_with("xformOp:")
        || name.starts_with("primvars:") && (kind.starts_with("texCoord2") || name.ends_with(":indices"))
        || name == "primvars:st"
}

impl<'a> Layer<'a> {
    /// A layer without prims.
    pub fn new(encoding: Encoding<'a>) -> Self {
        Self { encoding, prims: Vec::new(), metadata: BTreeMap::new(), counted: [0; 2] }
    }

    /// Keeps a field of the layer's metadata, if it is of use.
    pub fn set_metadata(&mut self, name: &str, value: Stored) {
        if let Some(known) = METADATA.iter().find(|known| **known == name) {
            self.metadata.insert(known, value);
        }
    }

    /// Adds a prim and returns its index.
    pub fn add(&mut self, prim: Prim) -> Result<usize, Fault> {
        if self.prims.len() == MAX_PRIMS {
            return Err(fault(format!("has more than {MAX_PRIMS} prims: save what is needed of it")));
        }
        self.prims.push(prim);
        Ok(self.prims.len() - 1)
    }

    /// Keeps a field of a prim's metadata, if it is of use.
    pub fn set_prim_metadata(&mut self, prim: usize, name: &str, value: Stored) -> Result<(), Fault> {
        // In text, a prim names its sets of variants by another word.
        let name = if name == "variantSets" { "variantSetNames" } else { name };
        if name == "active" {
            let value = self.value(value)?;
            self.prims[prim].is_inactive = value == Value::Numbers(vec![0.0]);
        } else if let Some(known) = COMPOSITION.iter().find(|known| **known == name) {
            self.prims[prim].refers = Some(if *known == "variantSetNames" { "variants" } else { known });
        }
        Ok(())
    }

    /// The attribute `name` of a prim, which may be new.
    pub fn attribute(&mut self, prim: usize, name: &str) -> Result<&mut Attribute, Fault> {
        let attributes = &mut self.prims[prim].attributes;
        if !attributes.contains_key(name) {
            self.counted[0] += 1;
            if self.counted[0] > MAX_ATTRIBUTES {
                return Err(fault(format!("has more than {MAX_ATTRIBUTES} attributes of meshes")));
            }
        }
        Ok(attributes.entry(name.into()).or_default())
    }

    /// Counts time samples that are to be kept.
    pub fn count_samples(&mut self, count: usize) -> Result<(), Fault> {
        self.counted[1] = self.counted[1].saturating_add(count);
        if self.counted[1] > MAX_SAMPLES {
            return Err(fault(format!("has more than {MAX_SAMPLES} time samples: save fewer frames")));
        }
        Ok(())
    }

    /// The path of a prim, for messages.
    pub fn path(&self, prim: usize) -> String {
        let mut names = Vec::new();
        let mut at = Some(prim);
        while let Some(index) = at {
            names.push(shortened(&self.prims[index].name));
            at = self.prims[index].parent;
        }
        // Deeper ones would fill the screen.
        if names.len() > 12 {
            names.drain(4..names.len() - 4);
            names.insert(4, "…".into());
        }
        names.reverse();
        format!("/{}", names.join("/"))
    }

    /// Decodes a value.
    pub fn value(&self, stored: Stored) -> Result<Value, Fault> {
        match (stored, &self.encoding) {
            (Stored::Text { start, end, line }, Encoding::Text(bytes)) => {
                text::value(bytes.get(start..end).unwrap_or_default(), line)
            }
            (Stored::Binary(reference), Encoding::Binary(tables)) => tables.value(reference),
            _ => Ok(Value::Other),
        }
    }

    /// Whether two values are stored with the same bytes, so that they are equal without being decoded.
    pub fn is_same(&self, a: Stored, b: Stored) -> bool {
        match (a, b, &self.encoding) {
            (
                Stored::Text { start, end, .. },
                Stored::Text { start: other, end: other_end, .. },
                Encoding::Text(bytes),
            ) => bytes.get(start..end) == bytes.get(other..other_end),
            _ => a == b,
        }
    }

    /// One number of the layer's metadata.
    pub fn number(&self, name: &str) -> Result<Option<f64>, Fault> {
        let Some(&stored) = self.metadata.get(name) else { return Ok(None) };
        match self.value(stored)? {
            Value::Numbers(numbers) if numbers.len() == 1 => Ok(Some(numbers[0])),
            Value::Blocked => Ok(None),
            _ => Err(at(fault("must be one number").at(name), stored)),
        }
    }

    /// One word of the layer's metadata.
    pub fn word(&self, name: &str) -> Result<Option<String>, Fault> {
        let Some(&stored) = self.metadata.get(name) else { return Ok(None) };
        match self.value(stored)? {
            Value::Words(mut words) if words.len() == 1 => Ok(words.pop()),
            Value::Blocked => Ok(None),
            _ => Err(at(fault("must be one token").at(name), stored)),
        }
    }
}

/// A name that fits a message.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 40;
    let mut characters = name.chars();
    let cut: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() { format!("{cut}…") } else { cut }
}

/// A fault in the line of a value, if it has one.
pub(super) fn at(found: Fault, stored: Stored) -> Fault {
    match stored {
        Stored::Text { line, .. } => found.at_line(line),
        Stored::Binary(_) => found,
    }
}
