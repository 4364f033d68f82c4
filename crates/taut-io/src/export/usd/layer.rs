//! What a USD layer is made of, and what a file that holds one must be able to do.
//!
//! A stage is told to a [`Layer`] once, from its root down: prims, their attributes, samples over time. The
//! binary file takes the samples of all attributes of a prim a frame at a time; text needs them an attribute
//! at a time. So samples are asked for with a function, and neither keeps them.

use std::{io, ops::RangeInclusive};

use super::value::Value;
use crate::export::ExportError;

/// Metadata: names of fields with their values.
pub type Fields = Vec<(&'static str, Value)>;

/// A prim that is defined.
#[derive(Debug)]
pub struct Prim {
    /// Its name, an identifier that no sibling has.
    pub name: String,
    /// Its schema, such as `Mesh`.
    pub schema: &'static str,
    /// Its metadata.
    pub fields: Fields,
}

/// An attribute of a prim.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its type as USD spells it, such as `point3f[]`.
    pub kind: &'static str,
    /// Whether it is the same at all times.
    pub uniform: bool,
    /// To what its elements belong (`vertex`, `faceVarying`, `constant`).
    pub interpolation: Option<&'static str>,
}

impl Attribute {
    /// An attribute that may vary over time.
    pub const fn new(name: &'static str, kind: &'static str) -> Self {
        Self { name, kind, uniform: false, interpolation: None }
    }

    /// An attribute that is the same at all times.
    pub const fn uniform(name: &'static str, kind: &'static str) -> Self {
        Self { uniform: true, ..Self::new(name, kind) }
    }

    /// The same with elements that belong to `interpolation`.
    pub const fn per(self, interpolation: &'static str) -> Self {
        Self { interpolation: Some(interpolation), ..self }
    }
}

/// Why a layer was not written.
#[derive(Debug)]
pub enum Failure {
    /// What should be written could not be had, or is no longer wanted.
    Source(ExportError),
    /// The system refused to write.
    Write(io::Error),
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        Self::Source(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Gives the values of attributes at a frame: all of them, or the one with the given place alone (the others
/// may be anything). `None` means that the value is that of the frame before.
pub type Source<'a> = dyn FnMut(u32, Option<usize>) -> Result<Vec<Option<Value>>, Failure> + 'a;

/// A file that takes a stage.
pub trait Layer {
    /// Begins a prim inside of the last one that has not ended.
    ///
    /// # Errors
    /// If the system refuses to write.
    fn begin(&mut self, prim: Prim) -> io::Result<()>;

    /// Gives the prim an attribute with one value for all times.
    ///
    /// # Errors
    /// If the system refuses to write.
    fn value(&mut self, attribute: &Attribute, value: &Value) -> io::Result<()>;

    /// Gives the prim attributes with a sample for each of `frames`, where frame 1 is time 1.
    ///
    /// # Errors
    /// If the system refuses to write, or what `source` returns.
    fn samples(
        &mut self,
        attributes: &[Attribute],
        frames: RangeInclusive<u32>,
        source: &mut Source<'_>,
    ) -> Result<(), Failure>;

    /// Ends the prim.
    ///
    /// # Errors
    /// If the system refuses to write.
    fn end(&mut self) -> io::Result<()>;

    /// Writes what is left. Nothing may follow.
    ///
    /// # Errors
    /// If the system refuses to write.
    fn finish(&mut self) -> io::Result<()>;
}
